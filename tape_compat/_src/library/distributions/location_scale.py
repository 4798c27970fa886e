"""Distributions with a location and a scale: normal, Laplace's, Student's t, uniform."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import jax.scipy.special
import numpy as np

from ...core.shapes import TensorShape
from ...diagnostics.assertions import assert_less, assert_positive, assert_same_float_dtype
from ...ops.creation import convert_to_tensor, ones, zeros_like
from ...ops.declare import unary
from ...ops.elementwise import (
    abs,
    digamma,
    exp,
    is_nan,
    lgamma,
    log,
    log1p,
    ndtri,
    rsqrt,
    sign,
    square,
)
from ...ops.joining import concat
from ...ops.random_stateful import (
    gamma as random_gamma,
    normal as random_normal,
    uniform as random_uniform,
)
from ...ops.selection import where
from ...ops.special import betainc
from ...values.tensor import Tensor
from .distribution import (
    FULLY_REPARAMETERIZED,
    OfNumbers,
    another_seed,
    defined,
    of_batches,
    shape_tensor,
)
from .divergences import RegisterKL
from .positive import log_beta

ndtr = unary(jax.scipy.special.ndtr, "P(X <= x) of a standard normal X.", kernel="Ndtr")
log_ndtr = unary(jax.scipy.special.log_ndtr, "log P(X <= x).", kernel="LogNdtr")


class _Located(OfNumbers):
    """One with `loc` and `scale`, whose batch has their shapes broadcast."""

    _batch_parameters: ClassVar[tuple[str, ...]] = ("loc", "scale")

    _loc: Tensor
    _scale: Tensor

    def _locate(self, loc: Any, scale: Any) -> None:
        self._loc, self._scale = convert_to_tensor(loc), convert_to_tensor(scale)
        if self._validate_args:
            assert_positive(self._scale)
        assert_same_float_dtype([self._loc, self._scale])
        self._dtype = self._loc.dtype

    @property
    def loc(self) -> Tensor:
        """The location."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The scale."""
        return self._scale

    def _batch_shape(self) -> TensorShape:
        return of_batches(self._loc, self._scale)

    def _batch_shape_tensor(self) -> Tensor:
        return shape_tensor(self._loc, self._scale)

    def _z(self, x: Any) -> Tensor:
        return (x - self._loc) / self._scale

    def _many(self, n: Any) -> Tensor:
        """The shape of n draws."""
        return concat([[n], self.batch_shape_tensor()], 0)

    def _everywhere(self, x: Tensor) -> Tensor:
        """x, of the shape of the batch."""
        return x * ones(self.batch_shape_tensor(), self.dtype)


class Normal(_Located):
    """The normal distribution: density exp(-(x - loc)^2 / (2 scale^2)) / (scale sqrt(2 pi)).

    Args:
      loc: means. scale: standard deviations; the two broadcast, and are of one float dtype.
      validate_args: whether it is checked that `scale` is positive.

    >>> import tape_compat as tf
    >>> normal = tf.compat.v1.distributions.Normal(loc=0.0, scale=2.0)
    >>> normal.cdf(0.0).numpy().item()
    0.5
    """

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Normal",
    ) -> None:
        self._begin(FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name, locals())
        self._locate(loc, scale)

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        return random_normal(self._many(n), dtype=self.dtype, seed=seed) * self._scale + self._loc

    def _log_prob(self, value: Any) -> Tensor:
        return -0.5 * square(self._z(value)) - (0.5 * math.log(2.0 * math.pi) + log(self._scale))

    def _log_cdf(self, value: Any) -> Tensor:
        return log_ndtr(self._z(value))

    def _cdf(self, value: Any) -> Tensor:
        return ndtr(self._z(value))

    def _log_survival_function(self, value: Any) -> Tensor:
        return log_ndtr(-self._z(value))

    def _survival_function(self, value: Any) -> Tensor:
        return ndtr(-self._z(value))

    def _quantile(self, value: Any) -> Tensor:
        return ndtri(value) * self._scale + self._loc

    def _entropy(self) -> Tensor:
        return 0.5 * math.log(2.0 * math.pi * math.e) + log(self._everywhere(self._scale))

    def _mean(self) -> Tensor:
        return self._everywhere(self._loc)

    _mode = _mean

    def _stddev(self) -> Tensor:
        return self._everywhere(self._scale)


@RegisterKL(Normal, Normal)
def _normal_from_normal(a: Normal, b: Normal, name: str | None = None) -> Tensor:
    ratio = square(a.scale / b.scale)
    return square(a.loc - b.loc) / (2.0 * square(b.scale)) + 0.5 * (ratio - 1.0 - log(ratio))


class Laplace(_Located):
    """Laplace's distribution: density exp(-|x - loc| / scale) / (2 scale).

    Args:
      loc: means. scale: positive; the two broadcast, and are of one float dtype.

    >>> import tape_compat as tf
    >>> tf.compat.v1.distributions.Laplace(0.0, 3.0).mode().numpy().item()
    0.0
    """

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Laplace",
    ) -> None:
        self._begin(FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name, locals())
        self._locate(loc, scale)

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        dtype = self.dtype.as_numpy_dtype
        lowest = np.nextafter(dtype(-1.0), dtype(0.0))  # -1 would give an infinite number
        drawn = random_uniform(self._many(n), lowest, 1.0, self.dtype, seed)
        return self._loc - self._scale * sign(drawn) * log1p(-abs(drawn))

    def _log_prob(self, value: Any) -> Tensor:
        return -abs(self._z(value)) - math.log(2.0) - log(self._scale)

    def _log_cdf(self, value: Any) -> Tensor:
        return _log_cdf_of_laplace(self._z(value))

    def _cdf(self, value: Any) -> Tensor:
        z = self._z(value)
        return 0.5 + 0.5 * sign(z) * (1.0 - exp(-abs(z)))

    def _log_survival_function(self, value: Any) -> Tensor:
        return _log_cdf_of_laplace(-self._z(value))

    def _entropy(self) -> Tensor:
        return math.log(2.0) + 1.0 + log(self._everywhere(self._scale))

    def _mean(self) -> Tensor:
        return self._everywhere(self._loc)

    _mode = _mean

    def _stddev(self) -> Tensor:
        return math.sqrt(2.0) * self._everywhere(self._scale)


def _log_cdf_of_laplace(z: Tensor) -> Tensor:
    below = -math.log(2.0) + z
    return where(z < 0.0, below, log1p(-0.5 * exp(-abs(z))))


class StudentT(_Located):
    """Student's t: density (1 + z^2 / df)^(-(df + 1) / 2) / (scale sqrt(df pi) B) for
    z = (x - loc) / scale and B = gamma(df / 2) / gamma((df + 1) / 2).

    Args:
      df: degrees of freedom, positive. loc, scale: the three broadcast, and are of one float dtype.

    >>> import tape_compat as tf
    >>> tf.compat.v1.distributions.StudentT(4.0, 0.0, 1.0).variance().numpy().item()
    2.0
    """

    _batch_parameters: ClassVar[tuple[str, ...]] = ("df", "loc", "scale")

    def __init__(
        self,
        df: Any,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentT",
    ) -> None:
        self._begin(FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name, locals())
        self._df = convert_to_tensor(df)
        if validate_args:
            assert_positive(self._df)
        self._locate(loc, scale)
        assert_same_float_dtype([self._df, self._loc, self._scale])

    @property
    def df(self) -> Tensor:
        """Degrees of freedom."""
        return self._df

    def _batch_shape(self) -> TensorShape:
        return of_batches(self._df, self._loc, self._scale)

    def _batch_shape_tensor(self) -> Tensor:
        return shape_tensor(self._df, self._loc, self._scale)

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        normal = random_normal(self._many(n), dtype=self.dtype, seed=seed)
        df = self._everywhere(self._df)
        squares = random_gamma([n], 0.5 * df, 0.5, self.dtype, another_seed(seed, "student_t"))
        return normal * rsqrt(squares / df) * self._scale + self._loc

    def _log_prob(self, value: Any) -> Tensor:
        df, scale = self._df, abs(self._scale)
        normalization = log(scale) + 0.5 * log(df) + 0.5 * math.log(math.pi)
        normalization += lgamma(0.5 * df) - lgamma(0.5 * (df + 1.0))
        return -0.5 * (df + 1.0) * log1p(square(self._z(value)) / df) - normalization

    def _cdf(self, value: Any) -> Tensor:
        z = (value - self._loc) / abs(self._scale)
        tail = 0.5 * betainc(0.5 * self._df, 0.5, self._df / (square(z) + self._df))
        return where(z < 0.0, tail, 1.0 - tail)

    def _entropy(self) -> Tensor:
        df = self._everywhere(self._df)
        found = (
            log(abs(self._scale))
            + 0.5 * log(df)
            + log_beta(0.5 * df, convert_to_tensor(0.5, self.dtype))
        )
        return found + 0.5 * (df + 1.0) * (digamma(0.5 * (df + 1.0)) - digamma(0.5 * df))

    def _mean(self) -> Tensor:
        message = None if self._allow_nan_stats else "mean not defined for components of df <= 1"
        return defined(self._everywhere(self._loc), self._everywhere(self._df), 1.0, message)

    def _variance(self) -> Tensor:
        df = self._everywhere(self._df)
        some = where(df > 2.0, df - 2.0, 1.0)
        finite = square(self._everywhere(self._scale)) * df / some
        found = where(df > 2.0, finite, convert_to_tensor(np.inf, self.dtype))
        text = "variance not defined for components of df <= 1"
        return defined(found, df, 1.0, None if self._allow_nan_stats else text)

    def _mode(self) -> Tensor:
        return self._loc


class Uniform(OfNumbers):
    """The uniform distribution from `low` to `high`.

    Args:
      low, high: float tensors that broadcast, `low` smaller.

    >>> import tape_compat as tf
    >>> tf.compat.v1.distributions.Uniform(1.0, [2.0, 3.0]).mean().numpy().tolist()
    [1.5, 2.0]
    """

    _batch_parameters: ClassVar[tuple[str, ...]] = ("low", "high")

    def __init__(
        self,
        low: Any = 0.0,
        high: Any = 1.0,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Uniform",
    ) -> None:
        self._begin(FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name, locals())
        self._low, self._high = convert_to_tensor(low), convert_to_tensor(high)
        if validate_args:
            text = "uniform not defined when low >= high."
            assert_less(self._low, self._high, message=text)
        assert_same_float_dtype([self._low, self._high])
        self._dtype = self._low.dtype

    @property
    def low(self) -> Tensor:
        """Where it begins."""
        return self._low

    @property
    def high(self) -> Tensor:
        """Where it ends."""
        return self._high

    def range(self, name: str = "range") -> Tensor:
        """high - low."""
        return self._high - self._low

    def _batch_shape(self) -> TensorShape:
        return of_batches(self._low, self._high)

    def _batch_shape_tensor(self) -> Tensor:
        return shape_tensor(self._low, self._high)

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        shape = concat([[n], self.batch_shape_tensor()], 0)
        return self._low + self.range() * random_uniform(shape, dtype=self.dtype, seed=seed)

    def _prob(self, value: Any) -> Tensor:
        inside = (value >= self._low) & (value < self._high)
        density = 1.0 / self.range()
        x = value * convert_to_tensor(1.0, density.dtype)
        return where(is_nan(x), x, where(inside, density, zeros_like(density)))

    def _cdf(self, value: Any) -> Tensor:
        above = where(value >= self._high, ones([], self.dtype), (value - self._low) / self.range())
        return where(value < self._low, zeros_like(above), above)

    def _entropy(self) -> Tensor:
        return log(self.range())

    def _mean(self) -> Tensor:
        return (self._low + self._high) / 2.0

    def _variance(self) -> Tensor:
        return square(self.range()) / 12.0

    def _stddev(self) -> Tensor:
        return self.range() / math.sqrt(12.0)
