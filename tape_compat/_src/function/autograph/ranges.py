"""`tf.range` in a loop: a counter takes the place of the tensor.

`for i in tf.range(n)` never makes the tensor, so `n` may be known to the running function only.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple

from ...core.dtypes import DType, as_dtype
from ...ops import creation
from ...ops.casting import cast
from ...values import operators
from ...values.convert import convert
from ...values.tensor import Tensor
from .staging import is_tensor


class Bounds(NamedTuple):
    """What a range was made of: three scalar tensors of one dtype."""

    start: Tensor
    limit: Tensor
    delta: Tensor


#: Of tensors made by `tf.range` in converted code: what they were made of, by identity.
_MADE: dict[int, tuple[weakref.ref[Any], Bounds]] = {}
_ORDER = ("int32", "int64", "float32", "float64")


def bounds(value: Any) -> Bounds | None:
    """What a value was made of if it is a range, else None."""
    if isinstance(value, Range):
        return value.bounds
    found = _MADE.get(id(value))
    return found[1] if found is not None and found[0]() is value else None


def tensor_range(
    start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range"
) -> Any:
    """`tf.range` in converted code: its tensor, or a `Range` where its length is not known yet."""
    arguments = start, limit, delta
    made = _bounds(*((0, start, delta) if limit is None else arguments), dtype)
    if any(is_tensor(x) and convert(x)._is_symbolic() for x in made):
        return Range(made)
    tensor = creation.range(*arguments, dtype=dtype, name=name)
    key = id(tensor)
    _MADE[key] = (weakref.ref(tensor, lambda _: _MADE.pop(key, None)), made)
    return tensor


def _bounds(start: Any, limit: Any, delta: Any, dtype: Any) -> Bounds:
    hint = None if dtype is None else as_dtype(dtype)
    tensors = [convert(x, hint=hint) for x in (start, limit, delta)]
    if dtype is None:
        names = [x.dtype.name for x in tensors if x.dtype.name in _ORDER]
        dtype = max(names, key=_ORDER.index, default="int32")
    return Bounds(*[cast(x, as_dtype(dtype)) for x in tensors])


class Range(operators.Operators):
    """A range whose length only the running function knows. It can be iterated over."""

    __slots__ = ("__weakref__", "bounds")

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds

    @property
    def dtype(self) -> DType:
        return self.bounds.start.dtype

    def _as_tensor(self) -> Tensor:
        return creation.range(*self.bounds)

    def _other_dtype(self, dtype: DType) -> str:
        return (
            f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype "
            f"{self.dtype.name}: {self!r}"
        )

    def __iter__(self) -> Iterator[Tensor]:  # without it Python would take elements for ever
        return iter(self._as_tensor())

    def __len__(self) -> int:
        return len(self._as_tensor())

    def __repr__(self) -> str:
        return f"<tf.Tensor 'range:0' shape=(None,) dtype={self.dtype.name}>"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._as_tensor(), name)
