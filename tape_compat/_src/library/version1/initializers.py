"""Initializers of TensorFlow 1: functions from a shape to the first value of a variable."""

from __future__ import annotations

import math
from typing import Any

from ...core import dtypes
from ...core.dtypes import DType, as_dtype
from ...core.shapes import as_shape
from ...ops.creation import constant, eye, ones, zeros
from ...ops.decompositions import qr
from ...ops.diagonals import diag_part
from ...ops.elementwise import sign
from ...ops.random_stateful import normal, truncated_normal, uniform
from ...ops.shapes import reshape, transpose
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


def _floating(dtype: Any) -> DType:
    kind = as_dtype(dtype)
    if not kind.is_floating:
        raise ValueError(f"Argument `dtype` is expected to be floating point. Received: {kind!r}.")
    return kind


class Zeros(_Initializer):
    """Zeros of a dtype."""

    def __init__(self, dtype: Any = dtypes.float32) -> None:
        super().__init__(dtype=as_dtype(dtype))

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return zeros(shape, self._dtype(dtype))


class Ones(_Initializer):
    """Ones of a dtype."""

    def __init__(self, dtype: Any = dtypes.float32) -> None:
        super().__init__(dtype=as_dtype(dtype))

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return ones(shape, self._dtype(dtype))


class Constant(_Initializer):
    """One number, or the numbers of a list in order.

    Raises: TypeError for a value that is no number, list or array; where `verify_shape` is given,
      for one of another shape.
    """

    def __init__(
        self, value: Any = 0, dtype: Any = dtypes.float32, verify_shape: bool = False
    ) -> None:
        super().__init__(value=value, dtype=as_dtype(dtype))
        self._verify_shape = verify_shape

    def __call__(
        self,
        shape: Any,
        dtype: Any = None,
        partition_info: Any = None,
        verify_shape: bool | None = None,
    ) -> Tensor:
        verify = self._verify_shape if verify_shape is None else verify_shape
        value, kind = self._options["value"], self._dtype(dtype)
        if verify and (found := constant(value, kind)).shape != as_shape(shape):
            raise TypeError(
                f"Expected Tensor {found.numpy()} (converted from {value}) with shape "
                f"{as_shape(shape)}, but got shape {found.shape}."
            )
        return constant(value, kind, shape)


class RandomNormal(_Initializer):
    """Normally distributed numbers of `mean` and `stddev`.

    Raises: ValueError for a dtype that is not floating.
    """

    def __init__(
        self, mean: Any = 0.0, stddev: Any = 1.0, seed: Any = None, dtype: Any = dtypes.float32
    ) -> None:
        super().__init__(mean=mean, stddev=stddev, seed=seed, dtype=_floating(dtype))

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


class TruncatedNormal(_Initializer):
    """Normally distributed numbers, drawn anew where they are two `stddev` from `mean` or more.

    Raises: ValueError for a dtype that is not floating.
    """

    def __init__(
        self, mean: Any = 0.0, stddev: Any = 1.0, seed: Any = None, dtype: Any = dtypes.float32
    ) -> None:
        super().__init__(mean=mean, stddev=stddev, seed=seed, dtype=_floating(dtype))

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        options = self._options
        return truncated_normal(
            shape, options["mean"], options["stddev"], self._dtype(dtype), options["seed"]
        )


def _sizes(shape: Any) -> list[int]:
    return [int(size or 0) for size in as_shape(shape).as_list()]


def fans(shape: list[int]) -> tuple[int, int]:
    """How many inputs, and how many outputs, a value of weights of this shape joins."""
    if not shape:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    window = math.prod(shape[:-2])
    return window * shape[-2], window * shape[-1]


#: The standard deviation of normal numbers without those that are two from zero or more.
_TRUNCATED = 0.87962566103423978


class VarianceScaling(_Initializer):
    """Random numbers whose variance is `scale` over the number of inputs, outputs, or their mean.

    Args:
      mode: 'fan_in', 'fan_out' or 'fan_avg'.
      distribution: 'truncated_normal' or 'normal', 'untruncated_normal', 'uniform'.
    Raises: ValueError for another mode or distribution, a scale that is not positive, or a dtype
      that is not floating.
    """

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: Any = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        if scale <= 0.0:
            raise ValueError(f"Argument `scale` must be a positive float. Received: {scale}")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(
                "Argument `mode` should be one of ('fan_in', 'fan_out', 'fan_avg'). "
                f"Received: {mode}"
            )
        name = distribution.lower()
        if name not in ("normal", "uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError(
                "Argument `distribution` should be one of ('normal', uniform', 'truncated_normal', "
                f"'untruncated_normal'). Received: {distribution}"
            )
        super().__init__(
            scale=scale, mode=mode, distribution=name, seed=seed, dtype=_floating(dtype)
        )

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        options, kind = self._options, self._dtype(dtype)
        of = shape if partition_info is None else partition_info.full_shape
        fan_in, fan_out = fans(_sizes(of))
        counts = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}
        variance = options["scale"] / max(1.0, counts[options["mode"]])
        if options["distribution"] == "uniform":
            limit = math.sqrt(3.0 * variance)
            return uniform(shape, -limit, limit, kind, options["seed"])
        if options["distribution"] == "untruncated_normal":
            return normal(shape, 0.0, math.sqrt(variance), kind, options["seed"])
        stddev = math.sqrt(variance) / _TRUNCATED
        return truncated_normal(shape, 0.0, stddev, kind, options["seed"])


class _Glorot(VarianceScaling):
    def get_config(self) -> dict[str, Any]:
        """The seed and the dtype."""
        return {"seed": self._options["seed"], "dtype": self._options["dtype"].name}


class GlorotUniform(_Glorot):
    """Uniform numbers up to sqrt(6 / (inputs + outputs)). Source: Glorot and Bengio, 2010."""

    def __init__(self, seed: Any = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)


class GlorotNormal(_Glorot):
    """Truncated normal numbers of variance 2 / (inputs + outputs). Source: as GlorotUniform."""

    def __init__(self, seed: Any = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, dtype)


def he_normal(seed: Any = None) -> VarianceScaling:
    """Truncated normal numbers of variance 2 / inputs. Source: He et al., 2015."""
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed: Any = None) -> VarianceScaling:
    """Uniform numbers of variance 2 / inputs. Source: as he_normal."""
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


def lecun_normal(seed: Any = None) -> VarianceScaling:
    """Truncated normal numbers of variance 1 / inputs. Source: LeCun et al., 1998."""
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed: Any = None) -> VarianceScaling:
    """Uniform numbers of variance 1 / inputs. Source: as lecun_normal."""
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


class UniformUnitScaling(_Initializer):
    """Uniform numbers up to `factor` sqrt(3 / inputs): outputs are as large as inputs.

    Source: Sussillo and Abbott, 2014.
    """

    def __init__(self, factor: float = 1.0, seed: Any = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(factor=factor, seed=seed, dtype=_floating(dtype))

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        of = shape if partition_info is None else partition_info.full_shape
        inputs = max(1.0, math.prod(_sizes(of)[:-1]))
        limit = math.sqrt(3 / inputs) * self._options["factor"]
        return uniform(shape, -limit, limit, self._dtype(dtype), self._options["seed"])


class Orthogonal(_Initializer):
    """A matrix with orthogonal rows or columns times `gain`, of all axes but the last as one.

    Source: Saxe et al., 2014. Raises: ValueError for less than two axes, or a dtype that is not
    floating.
    """

    def __init__(self, gain: float = 1.0, seed: Any = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(gain=gain, seed=seed, dtype=_floating(dtype))

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        sizes = _sizes(shape)
        if len(sizes) < 2:
            raise ValueError(
                "The tensor to initialize, specified by argument `shape` must be at least two-"
                f"dimensional. Received shape={shape}"
            )
        rows, columns = math.prod(sizes[:-1]), sizes[-1]
        flat = (max(rows, columns), min(rows, columns))
        numbers = normal(flat, 0.0, 1.0, self._dtype(dtype), self._options["seed"])
        q, r = qr(numbers, full_matrices=False)
        q = q * sign(diag_part(r))  # uniform among orthogonal matrices
        if rows < columns:
            q = transpose(q)
        return self._options["gain"] * reshape(q, sizes)


class Identity(_Initializer):
    """`gain` on the diagonal of a matrix, zeros elsewhere.

    Raises: ValueError for a shape that is none of a matrix, or a dtype that is not floating.
    """

    def __init__(self, gain: float = 1.0, dtype: Any = dtypes.float32) -> None:
        super().__init__(gain=gain, dtype=_floating(dtype))

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        sizes = partition_info.full_shape if partition_info is not None else shape
        if len(sizes) != 2:
            raise ValueError(
                "The tensor to initialize, specified by argument `shape` must be at least two-"
                f"dimensional. Received shape={shape}"
            )
        return self._options["gain"] * eye(*sizes, dtype=self._dtype(dtype))
