"""The class of all distributions: its public methods, in terms of those that a kind has."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

import numpy as np

from ...core import dtypes
from ...core.dimensions import is_symbolic
from ...core.dtypes import DType, as_dtype
from ...core.shapes import TensorShape
from ...diagnostics.assertions import assert_less
from ...ops.creation import convert_to_tensor
from ...ops.elementwise import exp, log, log1p, sqrt, square
from ...ops.joining import concat
from ...ops.reductions import reduce_prod
from ...ops.selection import where
from ...ops.shapes import broadcast_static_shape, reshape, shape as sizes_of
from ...values.bounds import host_value
from ...values.tensor import Tensor
from ..constructors import arguments
from . import divergences


class ReparameterizationType:
    """Whether what is drawn is differentiable by the parameters.

    >>> import tape_compat as tf
    >>> tf.compat.v1.distributions.FULLY_REPARAMETERIZED
    <Reparameterization Type: FULLY_REPARAMETERIZED>
    """

    def __init__(self, rep_type: str) -> None:
        self._rep_type = rep_type

    def __repr__(self) -> str:
        return f"<Reparameterization Type: {self._rep_type}>"


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")


def another_seed(seed: int | None, salt: str) -> int | None:
    """A second seed, made of the first; None for None."""
    if seed is None:
        return None
    return int(hashlib.md5(f"{seed}{salt}".encode()).hexdigest()[:8], 16) & 0x7FFFFFFF


def of_batches(*parameters: Tensor) -> TensorShape:
    """The shape that parameters have broadcast."""
    found = parameters[0].shape
    for each in parameters[1:]:
        found = broadcast_static_shape(found, each.shape)
    return found


def shape_tensor(*parameters: Tensor) -> Tensor:
    """The same as an int32 tensor, which may be known when the program runs only."""
    total = parameters[0]
    for each in parameters[1:]:
        total = total + each
    return sizes_of(total)


def defined(statistic: Tensor, where_more: Tensor, limit: float, message: str | None) -> Tensor:
    """`statistic` where `where_more` exceeds `limit`. Elsewhere NaN, or with a message an error."""
    if message is not None:
        assert_less(convert_to_tensor(limit, where_more.dtype), where_more, message=message)
        return statistic
    nan = convert_to_tensor(np.array(np.nan, statistic.dtype.as_numpy_dtype))
    return where(where_more > limit, statistic, nan)


class Distribution:
    """A probability distribution: a batch of independent ones, each of events of one shape.

    A kind of its own has some of `_batch_shape`, `_event_shape`, `_sample_n(n, seed)`,
    `_log_prob(x)` or `_prob(x)`, `_cdf(x)` or `_log_cdf(x)`, `_quantile(p)`, `_entropy()`,
    `_mean()`, `_mode()`, `_variance()` or `_stddev()` and `_covariance()`. TensorFlow Probability
    has a later form of the same, and many more of them.

    Args:
      dtype: of what is drawn.
      reparameterization_type: whether that is differentiable by the parameters.
      validate_args: whether parameters and values are checked, which costs time.
      allow_nan_stats: whether a mean, mode or variance that does not exist is NaN; an error if not.
      parameters: the arguments that it was made with, for `copy`.

    >>> import tape_compat as tf
    >>> normal = tf.compat.v1.distributions.Normal([0.0, 1.0], 2.0)
    >>> normal
    <tfp.distributions.Normal 'Normal' batch_shape=(2,) event_shape=() dtype=float32>
    >>> normal.sample(3).shape, normal.stddev().numpy().tolist()
    (TensorShape([3, 2]), [2.0, 2.0])
    """

    #: The names of the parameters that have the shape of the batch, where all have.
    _batch_parameters: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        dtype: Any,
        reparameterization_type: ReparameterizationType,
        validate_args: bool,
        allow_nan_stats: bool,
        parameters: dict[str, Any] | None = None,
        graph_parents: Any = None,
        name: str | None = None,
    ) -> None:
        self._dtype = as_dtype(dtype)
        self._reparameterization_type = reparameterization_type
        self._validate_args = validate_args
        self._allow_nan_stats = allow_nan_stats
        self._parameters = dict(parameters or {})
        self._name = name or type(self).__name__

    def _begin(
        self,
        kind: ReparameterizationType,
        checks: bool,
        allow_nan: bool,
        name: str,
        found: dict[str, Any],
        dtype: Any = dtypes.float32,
    ) -> None:
        """Begin one whose constructor has these `locals()`."""
        Distribution.__init__(self, dtype, kind, checks, allow_nan, arguments(found), name=name)

    def _missing(self, name: str) -> NoReturn:
        raise NotImplementedError(f"{name} is not implemented: {type(self).__name__}")

    def _first(self, name: str, *ways: Callable[[], Any]) -> Any:
        """What the first of `ways` gives that this kind has."""
        for way in ways:
            with contextlib.suppress(NotImplementedError):
                return way()
        self._missing(name)

    # -- what a kind has

    def _batch_shape(self) -> TensorShape:
        return TensorShape(None)

    def _batch_shape_tensor(self) -> Tensor:
        return convert_to_tensor(self.batch_shape.as_list(), dtypes.int32)

    def _event_shape(self) -> TensorShape:
        return TensorShape(None)

    def _event_shape_tensor(self) -> Tensor:
        return convert_to_tensor(self.event_shape.as_list(), dtypes.int32)

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        self._missing("sample_n")

    def _log_prob(self, value: Any) -> Tensor:
        self._missing("log_prob")

    def _prob(self, value: Any) -> Tensor:
        self._missing("prob")

    def _log_cdf(self, value: Any) -> Tensor:
        self._missing("log_cdf")

    def _cdf(self, value: Any) -> Tensor:
        self._missing("cdf")

    def _log_survival_function(self, value: Any) -> Tensor:
        self._missing("log_survival_function")

    def _survival_function(self, value: Any) -> Tensor:
        self._missing("survival_function")

    def _quantile(self, value: Any) -> Tensor:
        self._missing("quantile")

    def _entropy(self) -> Tensor:
        self._missing("entropy")

    def _mean(self) -> Tensor:
        self._missing("mean")

    def _mode(self) -> Tensor:
        self._missing("mode")

    def _variance(self) -> Tensor:
        self._missing("variance")

    def _stddev(self) -> Tensor:
        self._missing("stddev")

    def _covariance(self) -> Tensor:
        self._missing("covariance")

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Tensor]:
        if not cls._batch_parameters:
            raise NotImplementedError("_param_shapes not implemented")
        found = convert_to_tensor(sample_shape, dtypes.int32)
        return dict.fromkeys(cls._batch_parameters, found)

    # -- what it is

    @property
    def name(self) -> str:
        """The name that it was given."""
        return self._name

    @property
    def dtype(self) -> DType:
        """Of what is drawn."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments that it was made with."""
        return dict(self._parameters)

    @property
    def reparameterization_type(self) -> ReparameterizationType:
        """Whether what is drawn is differentiable by the parameters."""
        return self._reparameterization_type

    @property
    def allow_nan_stats(self) -> bool:
        """Whether a statistic that does not exist is NaN."""
        return self._allow_nan_stats

    @property
    def validate_args(self) -> bool:
        """Whether parameters and values are checked."""
        return self._validate_args

    @property
    def batch_shape(self) -> TensorShape:
        """How many distributions there are, along each axis."""
        return self._batch_shape()

    @property
    def event_shape(self) -> TensorShape:
        """The shape of what one of them draws."""
        return self._event_shape()

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """`batch_shape` as an int32 vector."""
        return self._batch_shape_tensor()

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Tensor:
        """`event_shape` as an int32 vector."""
        return self._event_shape_tensor()

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> Tensor:
        """Whether there is one distribution, of shape []."""
        return convert_to_tensor(self.batch_shape.rank == 0)

    def is_scalar_event(self, name: str = "is_scalar_event") -> Tensor:
        """Whether what is drawn are numbers."""
        return convert_to_tensor(self.event_shape.rank == 0)

    @classmethod
    def param_shapes(
        cls, sample_shape: Any, name: str = "DistributionParamShapes"
    ) -> dict[str, Tensor]:
        """The shape of each parameter for which `sample()` has `sample_shape`, as int32 vectors.

        Raises: NotImplementedError if the kind does not tell.
        """
        return cls._param_shapes(sample_shape)

    @classmethod
    def param_static_shapes(cls, sample_shape: Any) -> dict[str, TensorShape]:
        """The same as `TensorShape`s."""
        if isinstance(sample_shape, TensorShape):
            sample_shape = sample_shape.as_list()
        found = cls._param_shapes(sample_shape)
        return {name: TensorShape(host_value(each)) for name, each in found.items()}

    def copy(self, **override_parameters_kwargs: Any) -> Any:
        """Another of this kind, with some parameters replaced."""
        return type(self)(**{**self._parameters, **override_parameters_kwargs})

    # -- what it gives

    def sample(self, sample_shape: Any = (), seed: Any = None, name: str = "sample") -> Tensor:
        """Draw from it.

        Args:
          sample_shape: how often, a whole number or a vector of them.
          seed: of the op; see `tf.random.set_seed`.
        Returns: a Tensor of shape `sample_shape` + `batch_shape` + `event_shape`.
        """
        asked = convert_to_tensor(sample_shape, dtypes.int32)
        if asked.shape.rank not in (0, 1):
            raise ValueError("Input is neither scalar nor vector.")
        asked = reshape(asked, [-1])
        found = self._sample_n(reduce_prod(asked), seed)
        rest = sizes_of(found)[1:]
        known = [None if is_symbolic(n) else n for n in found._aval.shape[1:]]
        total = reshape(found, concat([asked, rest], 0))
        first = host_value(asked)
        if first is not None:
            total.set_shape([*first.tolist(), *known])
        return total

    def _value(self, value: Any) -> Tensor:
        return convert_to_tensor(value, dtype_hint=self.dtype)

    def log_prob(self, value: Any, name: str = "log_prob") -> Tensor:
        """The logarithm of the density at `value`, or of its probability.

        Args:
          value: of a shape that broadcasts with that of what is drawn.
        Returns: a Tensor of the shape of `value` and the batch broadcast, without the event's.
        """
        x = self._value(value)
        return self._first("log_prob", lambda: self._log_prob(x), lambda: log(self._prob(x)))

    def prob(self, value: Any, name: str = "prob") -> Tensor:
        """The density at `value`, or its probability. See `log_prob`."""
        x = self._value(value)
        return self._first("prob", lambda: self._prob(x), lambda: exp(self._log_prob(x)))

    def log_cdf(self, value: Any, name: str = "log_cdf") -> Tensor:
        """The logarithm of the probability of what is at most `value`."""
        x = self._value(value)
        return self._first("log_cdf", lambda: self._log_cdf(x), lambda: log(self._cdf(x)))

    def cdf(self, value: Any, name: str = "cdf") -> Tensor:
        """The probability of what is at most `value`."""
        x = self._value(value)
        return self._first("cdf", lambda: self._cdf(x), lambda: exp(self._log_cdf(x)))

    def log_survival_function(self, value: Any, name: str = "log_survival_function") -> Tensor:
        """The logarithm of the probability of what is larger than `value`."""
        x = self._value(value)
        return self._first(
            "log_survival_function",
            lambda: self._log_survival_function(x),
            lambda: log1p(-self.cdf(x)),
        )

    def survival_function(self, value: Any, name: str = "survival_function") -> Tensor:
        """The probability of what is larger than `value`."""
        x = self._value(value)
        return self._first(
            "survival_function", lambda: self._survival_function(x), lambda: 1.0 - self.cdf(x)
        )

    def quantile(self, value: Any, name: str = "quantile") -> Tensor:
        """The inverse of `cdf`: what is exceeded with the probability 1 - `value`."""
        return self._quantile(self._value(value))

    def entropy(self, name: str = "entropy") -> Tensor:
        """-E[log p(X)], in nats."""
        return self._entropy()

    def mean(self, name: str = "mean") -> Tensor:
        """E[X]."""
        return self._mean()

    def mode(self, name: str = "mode") -> Tensor:
        """The value that is likeliest."""
        return self._mode()

    def variance(self, name: str = "variance") -> Tensor:
        """E[(X - E[X])^2], of each element of events by itself."""
        return self._first("variance", self._variance, lambda: square(self._stddev()))

    def stddev(self, name: str = "stddev") -> Tensor:
        """The square root of the variance."""
        return self._first("stddev", self._stddev, lambda: sqrt(self._variance()))

    def covariance(self, name: str = "covariance") -> Tensor:
        """E[(X - E[X]) (X - E[X])^T] of events that are vectors."""
        return self._covariance()

    def kl_divergence(self, other: Distribution, name: str = "kl_divergence") -> Tensor:
        """The Kullback-Leibler divergence from `other`. See `kl_divergence`."""
        return divergences.kl_divergence(self, other, self._allow_nan_stats)

    def cross_entropy(self, other: Distribution, name: str = "cross_entropy") -> Tensor:
        """-E[log q(X)] for the density q of `other`."""
        return self.entropy() + self.kl_divergence(other)

    def __str__(self) -> str:
        shapes = "".join(f", {name}={shape}" for name, shape in self._shapes())
        return f'tfp.distributions.{type(self).__name__}("{self.name}"{shapes}, {self._of()})'

    def __repr__(self) -> str:
        shapes = "".join(f" {name}={shape}" for name, shape in self._shapes())
        return f"<tfp.distributions.{type(self).__name__} '{self.name}'{shapes} {self._of()}>"

    def _of(self) -> str:
        return f"dtype={self.dtype.name}"

    def _shapes(self) -> list[tuple[str, TensorShape]]:
        named = ("batch_shape", self.batch_shape), ("event_shape", self.event_shape)
        return [(name, shape) for name, shape in named if shape.rank is not None]


class OfNumbers(Distribution):
    """One whose events are numbers."""

    def _event_shape(self) -> TensorShape:
        return TensorShape([])
