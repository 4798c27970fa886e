"""`tensorflow.python.framework.tensor_spec.BoundedTensorSpec`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtypes import as_dtype
from ..core.shapes import ShapeLike
from ..values.spec import TensorSpec
from ..values.spec_registry import register


@register("tf.BoundedTensorSpec")
class BoundedTensorSpec(TensorSpec):
    """What is known of a tensor beforehand, the least and the largest values too.

    Args:
      minimum, maximum: numbers, or arrays that `shape` broadcasts to; the bounds belong to it.
    Raises: ValueError for a bound that is None or of another shape.

    >>> BoundedTensorSpec([], "int32", 0, 3)
    BoundedTensorSpec(shape=(), dtype=tf.int32, name=None, minimum=array(0, dtype=int32), ...)
    """

    __slots__ = ("_maximum", "_minimum")

    def __init__(
        self, shape: ShapeLike, dtype: Any, minimum: Any, maximum: Any, name: str | None = None
    ) -> None:
        super().__init__(shape, dtype, name)
        self._minimum = self._bound("minimum", minimum)
        self._maximum = self._bound("maximum", maximum)

    def _bound(self, name: str, value: Any) -> np.ndarray:
        if value is None:
            raise ValueError(f"`{name}` can not be None.")
        found = np.array(value, self.dtype.as_numpy_dtype)
        sizes = self.shape.as_list()[::-1] if self.shape.rank is not None else []
        for have, wanted in zip(found.shape[::-1], sizes):
            if wanted is not None and have not in (1, wanted):
                raise ValueError(f"`{name}` {value} is not compatible with shape {self.shape}.")
        found.setflags(write=False)
        return found

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> BoundedTensorSpec:
        """A spec like another one; the bounds are those of its dtype if it has none."""
        dtype = as_dtype(spec.dtype)
        least = getattr(spec, "minimum", dtype.min)
        most = getattr(spec, "maximum", dtype.max)
        return cls(spec.shape, dtype, least, most, name or spec.name)

    @property
    def minimum(self) -> np.ndarray:
        """The least values."""
        return self._minimum

    @property
    def maximum(self) -> np.ndarray:
        """The largest values."""
        return self._maximum

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._minimum, self._maximum, self._name

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, BoundedTensorSpec)
            and super().__eq__(other) is True
            and np.allclose(self._minimum, other._minimum)
            and np.allclose(self._maximum, other._maximum)
        )

    def __hash__(self) -> int:
        return hash((self._shape, self._dtype))

    def __reduce__(self) -> tuple[Any, ...]:
        return BoundedTensorSpec, self._serialize()

    def __repr__(self) -> str:
        return (
            f"BoundedTensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r}, "
            f"minimum={self._minimum!r}, maximum={self._maximum!r})"
        )
