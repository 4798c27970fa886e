"""Distributions of positive numbers, and of numbers between 0 and 1: gamma, exponential, beta."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...core.shapes import TensorShape
from ...diagnostics.assertions import assert_less, assert_positive, assert_same_float_dtype
from ...ops.arithmetic import xlogy
from ...ops.creation import convert_to_tensor, ones, ones_like
from ...ops.elementwise import digamma, igamma, lgamma, log, log1p, square
from ...ops.joining import concat
from ...ops.random_stateful import gamma as random_gamma, uniform as random_uniform
from ...ops.special import betainc
from ...values.tensor import Tensor
from .distribution import (
    FULLY_REPARAMETERIZED,
    OfNumbers,
    another_seed,
    arguments,
    defined,
    of_batches,
    shape_tensor,
)
from .divergences import RegisterKL


def log_beta(a: Tensor, b: Tensor) -> Tensor:
    """log(gamma(a) gamma(b) / gamma(a + b))."""
    return lgamma(a) + lgamma(b) - lgamma(a + b)


class Gamma(OfNumbers):
    """The gamma distribution: density rate^k x^(k - 1) exp(-rate x) / gamma(k).

    Args:
      concentration: k, a positive float tensor. rate: likewise; the two broadcast.

    >>> import tape_compat as tf
    >>> tf.compat.v1.distributions.Gamma(3.0, 2.0).mean().numpy().item()
    1.5
    """

    _batch_parameters: ClassVar[tuple[str, ...]] = ("concentration", "rate")

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Gamma",
    ) -> None:
        self._begin(FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name, locals())
        self._rate = convert_to_tensor(rate)
        self._concentration = convert_to_tensor(concentration)
        if validate_args:
            assert_positive(self._concentration)
            assert_positive(self._rate)
        assert_same_float_dtype([self._concentration, self._rate])
        self._dtype = self._concentration.dtype

    @property
    def concentration(self) -> Tensor:
        """The shape parameter."""
        return self._concentration

    @property
    def rate(self) -> Tensor:
        """The inverse scale."""
        return self._rate

    def _batch_shape(self) -> TensorShape:
        return of_batches(self._concentration, self._rate)

    def _batch_shape_tensor(self) -> Tensor:
        return shape_tensor(self._concentration, self._rate)

    def _value(self, value: Any) -> Tensor:
        x = super()._value(value)
        if self._validate_args:
            assert_positive(x)
        return x

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        return random_gamma([n], self._concentration, self._rate, self.dtype, seed)

    def _log_prob(self, value: Any) -> Tensor:
        k, rate = self._concentration, self._rate
        return xlogy(k - 1.0, value) - rate * value - (lgamma(k) - k * log(rate))

    def _cdf(self, value: Any) -> Tensor:
        return igamma(self._concentration, self._rate * value)

    def _entropy(self) -> Tensor:
        k = self._concentration
        return k - log(self._rate) + lgamma(k) + (1.0 - k) * digamma(k)

    def _mean(self) -> Tensor:
        return self._concentration / self._rate

    def _variance(self) -> Tensor:
        return self._concentration / square(self._rate)

    def _mode(self) -> Tensor:
        text = "mode not defined when any concentration <= 1"
        k = self._concentration
        found = (k - 1.0) / self._rate
        return defined(found, k, 1.0, None if self._allow_nan_stats else text)


@RegisterKL(Gamma, Gamma)
def _gamma_from_gamma(a: Gamma, b: Gamma, name: str | None = None) -> Tensor:
    one, other = a.concentration, b.concentration
    return (
        (one - other) * digamma(one)
        + lgamma(other)
        - lgamma(one)
        + other * log(a.rate)
        - other * log(b.rate)
        + one * (b.rate / a.rate - 1.0)
    )


class Exponential(Gamma):
    """The exponential distribution: density rate exp(-rate x).

    Args:
      rate: a positive float tensor.

    >>> import tape_compat as tf
    >>> tf.compat.v1.distributions.Exponential(4.0).mean().numpy().item()
    0.25
    """

    _batch_parameters: ClassVar[tuple[str, ...]] = ("rate",)

    def __init__(
        self,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Exponential",
    ) -> None:
        given = arguments(locals())
        rate_tensor = convert_to_tensor(rate)
        one = ones([], rate_tensor.dtype)
        super().__init__(one, rate_tensor, validate_args, allow_nan_stats, name)
        self._parameters = given

    def _log_survival_function(self, value: Any) -> Tensor:
        return -self._rate * value

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        shape = concat([[n], self.batch_shape_tensor()], 0)
        least = np.finfo(self.dtype.as_numpy_dtype).tiny  # 0 would give an infinite number
        return -log(random_uniform(shape, least, 1.0, self.dtype, seed)) / self._rate


class Beta(OfNumbers):
    """The beta distribution: density x^(a - 1) (1 - x)^(b - 1) / B(a, b) between 0 and 1.

    Args:
      concentration1: a, positive; 1 by default. concentration0: b likewise; the two broadcast.

    >>> import tape_compat as tf
    >>> tf.compat.v1.distributions.Beta(1.0, 3.0).mean().numpy().item()
    0.25
    """

    _batch_parameters: ClassVar[tuple[str, ...]] = ("concentration1", "concentration0")

    def __init__(
        self,
        concentration1: Any = None,
        concentration0: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Beta",
    ) -> None:
        self._begin(FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name, locals())
        self._concentration1 = self._positive(concentration1)
        self._concentration0 = self._positive(concentration0)
        assert_same_float_dtype([self._concentration1, self._concentration0])
        self._total_concentration = self._concentration1 + self._concentration0
        self._dtype = self._total_concentration.dtype

    def _positive(self, concentration: Any) -> Tensor:
        found = convert_to_tensor(1.0 if concentration is None else concentration)
        if self._validate_args:
            assert_positive(found, message="Concentration parameter must be positive.")
        return found

    @property
    def concentration1(self) -> Tensor:
        """That of x = 1."""
        return self._concentration1

    @property
    def concentration0(self) -> Tensor:
        """That of x = 0."""
        return self._concentration0

    @property
    def total_concentration(self) -> Tensor:
        """The sum of the two."""
        return self._total_concentration

    def _batch_shape(self) -> TensorShape:
        return self._total_concentration.shape

    def _batch_shape_tensor(self) -> Tensor:
        return shape_tensor(self._total_concentration)

    def _value(self, value: Any) -> Tensor:
        x = super()._value(value)
        if self._validate_args:
            assert_positive(x, message="sample must be positive")
            assert_less(x, ones([], self.dtype), message="sample must be less than `1`.")
        return x

    def _both(self) -> tuple[Tensor, Tensor]:
        everywhere = ones_like(self._total_concentration)
        return self._concentration1 * everywhere, self._concentration0 * everywhere

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        of_one, of_zero = self._both()
        one = random_gamma([n], of_one, dtype=self.dtype, seed=seed)
        zero = random_gamma([n], of_zero, dtype=self.dtype, seed=another_seed(seed, "beta"))
        return one / (one + zero)

    def _log_prob(self, value: Any) -> Tensor:
        a, b = self._concentration1, self._concentration0
        return xlogy(a - 1.0, value) + (b - 1.0) * log1p(-value) - log_beta(a, b)

    def _cdf(self, value: Any) -> Tensor:
        return betainc(self._concentration1, self._concentration0, value)

    def _entropy(self) -> Tensor:
        a, b, total = self._concentration1, self._concentration0, self._total_concentration
        of_each = (a - 1.0) * digamma(a) + (b - 1.0) * digamma(b)
        return log_beta(a, b) - of_each + (total - 2.0) * digamma(total)

    def _mean(self) -> Tensor:
        return self._concentration1 / self._total_concentration

    def _variance(self) -> Tensor:
        mean = self._mean()
        return mean * (1.0 - mean) / (1.0 + self._total_concentration)

    def _mode(self) -> Tensor:
        a, b = self._both()
        found = (a - 1.0) / (self._total_concentration - 2.0)
        for name, each in (("concentration1", a), ("concentration0", b)):
            text = None if self._allow_nan_stats else f"Mode undefined for {name} <= 1."
            found = defined(found, each, 1.0, text)
        return found


@RegisterKL(Beta, Beta)
def _beta_from_beta(a: Beta, b: Beta, name: str | None = None) -> Tensor:
    def part(concentration: str) -> Tensor:
        one, other = getattr(a, concentration), getattr(b, concentration)
        return (one - other) * digamma(one)

    totals = (b.total_concentration - a.total_concentration) * digamma(a.total_concentration)
    return (
        log_beta(b.concentration1, b.concentration0)
        - log_beta(a.concentration1, a.concentration0)
        + part("concentration1")
        + part("concentration0")
        + totals
    )
