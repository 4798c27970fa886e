"""Dirichlet's distribution, and that of counts whose probabilities follow it."""

from __future__ import annotations

from typing import Any

from ...core import dtypes
from ...core.shapes import TensorShape
from ...diagnostics.assertions import (
    assert_less,
    assert_near,
    assert_positive,
    assert_rank_at_least,
)
from ...ops.arithmetic import xlogy
from ...ops.casting import cast
from ...ops.creation import convert_to_tensor, one_hot, ones_like
from ...ops.diagonals import set_diag
from ...ops.elementwise import digamma, lbeta, log
from ...ops.joining import concat
from ...ops.random_stateful import categorical, gamma as random_gamma
from ...ops.reductions import reduce_min, reduce_sum
from ...ops.shapes import reshape, shape as sizes_of
from ...values.tensor import Tensor
from .classes import check_counts, check_total, log_combinations
from .distribution import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
    another_seed,
    defined,
)
from .divergences import RegisterKL


class _Concentrated(Distribution):
    """One with a `concentration` [..., classes]."""

    _concentration: Tensor
    _total_concentration: Tensor

    def _concentrate(self, concentration: Any) -> None:
        found = convert_to_tensor(concentration)
        if self._validate_args:
            assert_positive(found, message="Concentration parameter must be positive.")
            text = "Concentration parameter must have >=1 dimensions."
            assert_rank_at_least(found, 1, message=text)
            text = "Concentration parameter must have event_size >= 2."
            assert_less(1, sizes_of(found)[-1], message=text)
        self._concentration, self._dtype = found, found.dtype
        self._total_concentration = reduce_sum(found, -1)

    @property
    def concentration(self) -> Tensor:
        """That of each class."""
        return self._concentration

    @property
    def total_concentration(self) -> Tensor:
        """The sum over classes."""
        return self._total_concentration


class Dirichlet(_Concentrated):
    """Dirichlet's distribution: density prod(x_i^(c_i - 1)) / B(c) of probabilities x.

    Args:
      concentration: c, a positive float tensor [..., classes].

    >>> import tape_compat as tf
    >>> tf.compat.v1.distributions.Dirichlet([1.0, 3.0]).mean().numpy().tolist()
    [0.25, 0.75]
    """

    def __init__(
        self,
        concentration: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Dirichlet",
    ) -> None:
        self._begin(FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name, locals())
        self._concentrate(concentration)

    def _batch_shape(self) -> TensorShape:
        return self._total_concentration.shape

    def _batch_shape_tensor(self) -> Tensor:
        return sizes_of(self._total_concentration)

    def _event_shape(self) -> TensorShape:
        return self._concentration.shape[-1:]

    def _event_shape_tensor(self) -> Tensor:
        return sizes_of(self._concentration)[-1:]

    def _classes(self) -> Tensor:
        return cast(self._event_shape_tensor()[0], self.dtype)

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        drawn = random_gamma([n], self._concentration, dtype=self.dtype, seed=seed)
        return drawn / reduce_sum(drawn, -1, keepdims=True)

    def _log_prob(self, value: Any) -> Tensor:
        if self._validate_args:
            assert_positive(value, message="samples must be positive")
            total = reduce_sum(value, -1)
            text = "sample last-dimension must sum to `1`"
            assert_near(total, ones_like(total), message=text)
        return reduce_sum(xlogy(self._concentration - 1.0, value), -1) - lbeta(self._concentration)

    def _entropy(self) -> Tensor:
        total = self._total_concentration
        each = reduce_sum((self._concentration - 1.0) * digamma(self._concentration), -1)
        return lbeta(self._concentration) + (total - self._classes()) * digamma(total) - each

    def _mean(self) -> Tensor:
        return self._concentration / self._total_concentration[..., None]

    def _covariance(self) -> Tensor:
        mean = self._mean()
        scaled = mean / (1.0 + self._total_concentration[..., None])
        return set_diag(-(scaled[..., None] * mean[..., None, :]), self._variance())

    def _variance(self) -> Tensor:
        mean = self._mean()
        return mean * (1.0 - mean) / (1.0 + self._total_concentration[..., None])

    def _mode(self) -> Tensor:
        found = self._concentration - 1.0
        found = found / (self._total_concentration[..., None] - self._classes())
        text = "Mode undefined when any concentration <= 1"
        least = reduce_min(self._concentration, -1, keepdims=True)
        return defined(found, least, 1.0, None if self._allow_nan_stats else text)


@RegisterKL(Dirichlet, Dirichlet)
def _dirichlet_from_dirichlet(a: Dirichlet, b: Dirichlet, name: str | None = None) -> Tensor:
    more = digamma(a.concentration) - digamma(a.total_concentration)[..., None]
    difference = reduce_sum((a.concentration - b.concentration) * more, -1)
    return difference - lbeta(a.concentration) + lbeta(b.concentration)


class DirichletMultinomial(_Concentrated):
    """How often each class comes in `total_count` draws, whose probabilities are drawn once by
    Dirichlet's distribution.

    Args:
      total_count: a whole number, as a float, or one for each of the batch. Draws need a scalar.
      concentration: a positive float tensor [..., classes].

    >>> import tape_compat as tf
    >>> distribution = tf.compat.v1.distributions.DirichletMultinomial(4.0, [1.0, 3.0])
    >>> distribution.mean().numpy().tolist()
    [1.0, 3.0]
    """

    def __init__(
        self,
        total_count: Any,
        concentration: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "DirichletMultinomial",
    ) -> None:
        self._begin(NOT_REPARAMETERIZED, validate_args, allow_nan_stats, name, locals())
        self._total_count = convert_to_tensor(total_count)
        if validate_args:
            check_total(self._total_count)
        self._concentrate(concentration)

    @property
    def total_count(self) -> Tensor:
        """How many are drawn."""
        return self._total_count

    def _batch_shape(self) -> TensorShape:
        return self._total_concentration.shape

    def _batch_shape_tensor(self) -> Tensor:
        return sizes_of(self._total_concentration)

    def _event_shape(self) -> TensorShape:
        return self._concentration.shape[-1:]

    def _event_shape_tensor(self) -> Tensor:
        return sizes_of(self._concentration)[-1:]

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        classes = self._event_shape_tensor()[0]
        weights = log(random_gamma([n], self._concentration, dtype=self.dtype, seed=seed))
        count = cast(self._total_count, dtypes.int32)
        another = another_seed(seed, "dirichlet_multinomial")
        drawn = categorical(reshape(weights, [-1, classes]), count, seed=another)
        found = reduce_sum(one_hot(drawn, classes, dtype=self.dtype), -2)
        return reshape(found, concat([[n], self.batch_shape_tensor(), [classes]], 0))

    def _log_prob(self, value: Any) -> Tensor:
        if self._validate_args:
            check_counts(value, self._total_count)
        likelihood = lbeta(self._concentration + value) - lbeta(self._concentration)
        return likelihood + log_combinations(self._total_count, value)

    def _mean(self) -> Tensor:
        share = self._concentration / self._total_concentration[..., None]
        return self._total_count[..., None] * share

    def _spread(self) -> Tensor:
        """By what covariances of multinomial counts are multiplied."""
        total = self._total_concentration
        return (total + self._total_count) / (1.0 + total)

    def _covariance(self) -> Tensor:
        share = self._concentration / self._total_concentration[..., None]
        outer = self._mean()[..., None] * share[..., None, :]
        return set_diag(-outer * self._spread()[..., None, None], self._variance())

    def _variance(self) -> Tensor:
        share = self._concentration / self._total_concentration[..., None]
        return self._mean() * (1.0 - share) * self._spread()[..., None]
