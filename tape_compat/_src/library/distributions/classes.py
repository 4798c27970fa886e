"""Distributions of classes: Bernoulli's, categorical, multinomial."""

from __future__ import annotations

from typing import Any, ClassVar

from ...core import dtypes
from ...core.shapes import TensorShape
from ...diagnostics.assertions import (
    assert_equal,
    assert_less_equal,
    assert_near,
    assert_non_negative,
)
from ...function.functional_ops import map_fn
from ...ops.casting import cast
from ...ops.creation import convert_to_tensor, one_hot, ones, ones_like, sequence_mask
from ...ops.diagonals import set_diag
from ...ops.elementwise import floor, lgamma, log, log1p, log_softmax, sigmoid, softmax, softplus
from ...ops.joining import concat
from ...ops.losses import (
    sigmoid_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from ...ops.random_stateful import categorical, uniform as random_uniform
from ...ops.reductions import argmax, reduce_sum
from ...ops.repeating import broadcast_to
from ...ops.shapes import reshape, shape as sizes_of, transpose
from ...values.tensor import Tensor
from .distribution import NOT_REPARAMETERIZED, Distribution, OfNumbers, shape_tensor
from .divergences import RegisterKL


class _Classes(Distribution):
    """One that is given by `logits` or `probs`, one of which follows from the other."""

    _logits: Tensor
    _probs: Tensor

    def _weigh(self, logits: Any, probs: Any, several: bool) -> None:
        """several: whether the last axis is of classes, whose probabilities sum to 1."""
        if (logits is None) == (probs is None):
            raise ValueError("Must pass probs or logits, but not both.")
        if probs is None:
            self._logits = convert_to_tensor(logits)
            self._probs = softmax(self._logits) if several else sigmoid(self._logits)
            return
        self._probs = convert_to_tensor(probs)
        if self._validate_args:
            assert_non_negative(self._probs, message="probs has components less than 0.")
            if several:
                total = reduce_sum(self._probs, -1)
                assert_near(total, ones_like(total), message="probs does not sum to 1.")
            else:
                one = ones([], self._probs.dtype)
                text = "probs has components greater than 1."
                assert_less_equal(self._probs, one, message=text)
        self._logits = log(self._probs) - (0.0 if several else log1p(-self._probs))

    @property
    def logits(self) -> Tensor:
        """Logarithms of odds of one class, of probabilities of several, which need not sum to 1."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """Probabilities."""
        return self._probs


class Bernoulli(_Classes, OfNumbers):
    """Bernoulli's distribution: 1 with the probability `probs`, else 0.

    Args:
      logits: the logarithm of the odds of 1. probs: the probability of 1; one of the two.
      dtype: of what is drawn, int32 by default.

    >>> import tape_compat as tf
    >>> tf.compat.v1.distributions.Bernoulli(probs=[0.25, 0.75]).mode().numpy().tolist()
    [0, 1]
    """

    _batch_parameters: ClassVar[tuple[str, ...]] = ("logits",)

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = dtypes.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Bernoulli",
    ) -> None:
        self._begin(NOT_REPARAMETERIZED, validate_args, allow_nan_stats, name, locals(), dtype)
        self._weigh(logits, probs, several=False)

    def _batch_shape(self) -> TensorShape:
        return self._logits.shape

    def _batch_shape_tensor(self) -> Tensor:
        return shape_tensor(self._logits)

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        shape = concat([[n], self.batch_shape_tensor()], 0)
        drawn = random_uniform(shape, dtype=self._probs.dtype, seed=seed)
        return cast(drawn < self._probs, self.dtype)

    def _log_prob(self, value: Any) -> Tensor:
        if self._validate_args:
            text = "Elements must be bool-equivalent."
            assert_equal(value, floor(cast(value, self._logits.dtype)), message=text)
            assert_less_equal(value, 1, message=text)
        x = cast(value, self._logits.dtype)
        everywhere = x * ones_like(self._logits)
        logits = self._logits * ones_like(x)
        return -sigmoid_cross_entropy_with_logits(labels=everywhere, logits=logits)

    def _entropy(self) -> Tensor:
        return -self._logits * (sigmoid(self._logits) - 1.0) + softplus(-self._logits)

    def _mean(self) -> Tensor:
        return self._probs

    def _variance(self) -> Tensor:
        return self._probs * (1.0 - self._probs)

    def _mode(self) -> Tensor:
        return cast(self._probs > 0.5, self.dtype)


@RegisterKL(Bernoulli, Bernoulli)
def _bernoulli_from_bernoulli(a: Bernoulli, b: Bernoulli, name: str | None = None) -> Tensor:
    of_one = sigmoid(a.logits) * (softplus(-b.logits) - softplus(-a.logits))
    return of_one + sigmoid(-a.logits) * (softplus(b.logits) - softplus(a.logits))


class Categorical(_Classes, OfNumbers):
    """The number of a class, which are drawn with given probabilities.

    Args:
      logits: logarithms of probabilities [..., classes], up to a constant. probs: one of the two.
      dtype: of what is drawn, int32 by default.

    >>> import tape_compat as tf
    >>> distribution = tf.compat.v1.distributions.Categorical(probs=[0.25, 0.5, 0.25])
    >>> distribution.prob([0, 1]).numpy().tolist()
    [0.25, 0.5]
    """

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = dtypes.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Categorical",
    ) -> None:
        self._begin(NOT_REPARAMETERIZED, validate_args, allow_nan_stats, name, locals(), dtype)
        self._weigh(logits, probs, several=True)

    @property
    def event_size(self) -> Tensor:
        """How many classes there are."""
        return sizes_of(self._logits)[-1]

    def _batch_shape(self) -> TensorShape:
        return self._logits.shape[:-1]

    def _batch_shape_tensor(self) -> Tensor:
        return sizes_of(self._logits)[:-1]

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        rows = reshape(self._logits, [-1, self.event_size])
        kind = dtypes.int64 if self.dtype.size > 4 else dtypes.int32
        drawn = transpose(categorical(rows, n, kind, seed))
        return cast(reshape(drawn, concat([[n], self.batch_shape_tensor()], 0)), self.dtype)

    def _of_each(self, k: Any, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Classes and rows of one batch."""
        shape = sizes_of(k + reduce_sum(cast(rows, k.dtype) * 0, -1))
        classes = sizes_of(rows)[-1:]
        return broadcast_to(k, shape), broadcast_to(rows, concat([shape, classes], 0))

    def _log_prob(self, value: Any) -> Tensor:
        k, logits = self._of_each(self._whole(value), self._logits)
        return -sparse_softmax_cross_entropy_with_logits(labels=k, logits=logits)

    def _cdf(self, value: Any) -> Tensor:
        k, probs = self._of_each(self._whole(value), self._probs)
        before = sequence_mask(k, self.event_size, dtype=self._probs.dtype)
        return reduce_sum(probs * before, -1)

    def _whole(self, value: Any) -> Tensor:
        if self._validate_args:
            text = "Elements must be whole numbers of classes."
            assert_non_negative(value, message=text)
            if value.dtype.is_floating:
                assert_equal(value, floor(value), message=text)
            assert_less_equal(value, cast(self.event_size - 1, value.dtype), message=text)
        return value if value.dtype.is_integer else cast(value, dtypes.int32)

    def _entropy(self) -> Tensor:
        return -reduce_sum(log_softmax(self._logits) * self._probs, -1)

    def _mode(self) -> Tensor:
        return cast(argmax(self._logits, -1), self.dtype)


@RegisterKL(Categorical, Categorical)
def _categorical_from_categorical(
    a: Categorical, b: Categorical, name: str | None = None
) -> Tensor:
    logs = log_softmax(a.logits) - log_softmax(b.logits)
    return reduce_sum(softmax(a.logits) * logs, -1)


def log_combinations(n: Any, counts: Tensor) -> Tensor:
    """log(n! / (counts[..., 0]! counts[..., 1]! ...))."""
    return lgamma(n + 1.0) - reduce_sum(lgamma(counts + 1.0), -1)


def check_counts(counts: Tensor, total: Tensor) -> None:
    """Checks that counts are whole numbers that sum to the total."""
    assert_non_negative(counts, message="counts must be non-negative.")
    assert_equal(total, reduce_sum(counts, -1), message="counts must sum to `self.total_count`")
    assert_equal(counts, floor(counts), message="counts cannot contain fractional components.")


def check_total(total: Tensor) -> None:
    """Checks that the number of draws is a whole number."""
    assert_non_negative(total, message="total_count must be non-negative.")
    if total.dtype.is_floating:
        text = "total_count cannot contain fractional values."
        assert_equal(total, floor(total), message=text)


class Multinomial(_Classes):
    """How often each class comes in `total_count` draws of given probabilities.

    Args:
      total_count: a whole number, as a float, or one for each of the batch.
      logits: logarithms of probabilities [..., classes], up to a constant. probs: one of the two.

    >>> import tape_compat as tf
    >>> tf.compat.v1.distributions.Multinomial(4.0, probs=[0.25, 0.75]).mean().numpy().tolist()
    [1.0, 3.0]
    """

    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Multinomial",
    ) -> None:
        self._begin(NOT_REPARAMETERIZED, validate_args, allow_nan_stats, name, locals())
        self._total_count = convert_to_tensor(total_count)
        if validate_args:
            check_total(self._total_count)
        self._weigh(logits, probs, several=True)
        self._mean_val = self._total_count[..., None] * self._probs
        self._dtype = self._probs.dtype

    @property
    def total_count(self) -> Tensor:
        """How many are drawn."""
        return self._total_count

    def _batch_shape(self) -> TensorShape:
        return self._mean_val.shape[:-1]

    def _batch_shape_tensor(self) -> Tensor:
        return sizes_of(self._mean_val)[:-1]

    def _event_shape(self) -> TensorShape:
        return self._mean_val.shape[-1:]

    def _event_shape_tensor(self) -> Tensor:
        return sizes_of(self._mean_val)[-1:]

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        classes = self._event_shape_tensor()[0]
        draws = cast(self._total_count, dtypes.int32)
        draws = reshape(draws * ones(self.batch_shape_tensor(), dtypes.int32), [-1])
        everywhere = ones_like(self._total_count[..., None], dtype=self._logits.dtype)
        rows = reshape(self._logits * everywhere, [-1, classes])

        def of_one(given: Any) -> Tensor:
            row, count = given
            drawn = reshape(categorical(row[None], n * count, seed=seed), [n, -1])
            return reduce_sum(one_hot(drawn, classes, dtype=self.dtype), -2)

        found = map_fn(of_one, [rows, draws], fn_output_signature=self.dtype)
        shape = concat([[n], self.batch_shape_tensor(), [classes]], 0)
        return reshape(transpose(found, [1, 0, 2]), shape)

    def _log_prob(self, value: Any) -> Tensor:
        if self._validate_args:
            check_counts(value, self._total_count)
        logs = reduce_sum(value * log_softmax(self._logits), -1)
        return logs + log_combinations(self._total_count, value)

    def _mean(self) -> Tensor:
        return self._mean_val

    def _covariance(self) -> Tensor:
        probs = self._probs * ones_like(self._total_count[..., None])
        outer = -(self._mean_val[..., None] * probs[..., None, :])
        return set_diag(outer, self._variance())

    def _variance(self) -> Tensor:
        return self._mean_val * (1.0 - self._probs)
