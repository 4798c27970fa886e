"""Initializers of TensorFlow 1: functions from a shape to the first value of a variable."""

from __future__ import annotations

from typing import Any

from ...core import dtypes
from ...core.dtypes import as_dtype
from ...ops.random_stateful import normal, uniform
from ...values.tensor import Tensor


class _Initializer:
    """Remembers its options, which `from_config` takes."""

    def __init__(self, **options: Any) -> None:
        self._options = options

    def get_config(self) -> dict[str, Any]:
        """The options, with the dtype by its name."""
        return {**self._options, "dtype": self._options["dtype"].name}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The initializer with these options."""
        return cls(**{name: value for name, value in config.items() if name != "_dtype"})

    def _dtype(self, dtype: Any) -> Any:
        return self._options["dtype"] if dtype is None else as_dtype(dtype)


class RandomNormal(_Initializer):
    """Normally distributed numbers of `mean` and `stddev`.

    Raises: ValueError for a dtype that is not floating.
    """

    def __init__(
        self, mean: Any = 0.0, stddev: Any = 1.0, seed: Any = None, dtype: Any = dtypes.float32
    ) -> None:
        kind = as_dtype(dtype)
        if not kind.is_floating:
            raise ValueError(
                f"Argument `dtype` is expected to be floating point. Received: {kind!r}."
            )
        super().__init__(mean=mean, stddev=stddev, seed=seed, dtype=kind)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        options = self._options
        return normal(
            shape, options["mean"], options["stddev"], self._dtype(dtype), options["seed"]
        )


class RandomUniform(_Initializer):
    """Numbers of [minval, maxval), up to 1 by default; of integers `maxval` must be given."""

    def __init__(
        self,
        minval: Any = 0.0,
        maxval: Any = None,
        seed: Any = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__(minval=minval, maxval=maxval, seed=seed, dtype=as_dtype(dtype))

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        options = self._options
        return uniform(
            shape, options["minval"], options["maxval"], self._dtype(dtype), options["seed"]
        )
