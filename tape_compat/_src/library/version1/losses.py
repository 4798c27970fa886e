"""`tf.compat.v1.losses`: losses that are weighted and reduced to one number, as float32."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...autodiff.custom import stop_gradient
from ...core.dimensions import differ
from ...core.dtypes import float32
from ...ops import losses as losses_v2
from ...ops.activations import relu
from ...ops.arithmetic import divide_no_nan, maximum, minimum, squared_difference
from ...ops.casting import cast
from ...ops.creation import ones_like, zeros_like
from ...ops.elementwise import abs, log, square
from ...ops.reductions import reduce_sum
from ...ops.selection import where
from ...ops.shapes import shape, size, squeeze
from ...ops.sums import add_n
from ...values.context import executing_eagerly
from ...values.convert import constant, convert
from ...values.tensor import Tensor
from .collections import GraphKeys, add_to_collection, get_collection


class Reduction:
    """How the losses of examples become one.

    NONE: not at all; SUM: their sum; SUM_OVER_BATCH_SIZE: divided by their number, MEAN: by the sum
    of the weights, SUM_BY_NONZERO_WEIGHTS and SUM_OVER_NONZERO_WEIGHTS: by the number of those
    whose weight is not 0.
    """

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """Every one."""
        nonzero = cls.SUM_BY_NONZERO_WEIGHTS
        return (cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, nonzero, nonzero)

    @classmethod
    def validate(cls, key: str) -> None:
        """Nothing. Raises: ValueError for what is none."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}. Key should be one of {cls.all()}.")


_DEFAULT = Reduction.SUM_BY_NONZERO_WEIGHTS


def check_weights(weights: Tensor, values: Tensor) -> None:
    """Raises ValueError for weights that are neither one number nor of the size, or 1, of each
    axis."""
    have, wanted = weights._aval.shape, values._aval.shape
    if not have:
        return
    opening = "weights can not be broadcast to values."
    if len(have) != len(wanted):
        raise ValueError(
            f"{opening} values.rank={len(wanted)}. weights.rank={len(have)}. "
            f"values.shape={values.shape}. weights.shape={weights.shape}. "
            f"Received weights={weights}, values={values}"
        )
    for axis, (one, other) in enumerate(zip(have, wanted, strict=True)):
        if differ(one, 1) and differ(one, other):
            raise ValueError(
                f"{opening} Mismatch at dim {axis}. values.shape={values.shape}, "
                f"weights.shape={weights.shape}. Received weights={weights}, values={values}"
            )


def broadcast_weights(weights: Any, values: Any) -> Tensor:
    """Weights, one for each value. Raises: as `check_weights`."""
    values = convert(values)
    weights = convert(weights, values.dtype)
    check_weights(weights, values)
    return weights * ones_like(values)


def _present(weights: Tensor, values: Tensor) -> Tensor:
    """A 1 for each value whose weight is not 0, else a 0."""
    return cast(weights != 0.0, float32) * ones_like(values)


def compute_weighted_loss(
    losses: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """Losses times weights, reduced; of the dtype of the losses, computed as float32.

    Args:
      weights: one number, or of the rank of `losses` with each size that of `losses` or 1.
      loss_collection: in a `tf.function`, the collection that the loss is added to.
      reduction: a `tf.compat.v1.losses.Reduction`.
    Raises: ValueError for weights of another shape, or another reduction.

    >>> import tape_compat as tf
    >>> float(tf.compat.v1.losses.compute_weighted_loss([1.0, 2.0, 6.0], [1.0, 0.0, 1.0]))
    3.5
    """
    Reduction.validate(reduction)
    given = convert(losses)
    weights = cast(weights, float32)
    check_weights(weights, given)
    losses = cast(given, float32)
    loss = losses * weights
    if reduction != Reduction.NONE:
        loss = reduce_sum(loss)
    if reduction == Reduction.MEAN:
        loss = divide_no_nan(loss, reduce_sum(ones_like(losses) * weights))
    elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
        loss = divide_no_nan(loss, reduce_sum(_present(weights, losses)))
    elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
        loss = divide_no_nan(loss, cast(size(losses), float32))
    loss = cast(loss, given.dtype)
    add_loss(loss, loss_collection)
    return loss


def _required(**arguments: Any) -> None:
    for name, value in arguments.items():
        if value is None:
            raise ValueError(f"Argument `{name}` must not be None.")


def _pair(labels: Any, predictions: Any, name: str = "predictions") -> tuple[Tensor, Tensor]:
    """Both as float32. Raises: ValueError if one is None, or their shapes differ."""
    _required(labels=labels, **{name: predictions})
    predictions, labels = cast(predictions, float32), cast(labels, float32)
    predictions.shape.assert_is_compatible_with(labels.shape)
    return labels, predictions


def absolute_difference(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """|predictions - labels|, weighted and reduced as `compute_weighted_loss` does.

    >>> import tape_compat as tf
    >>> float(tf.compat.v1.losses.absolute_difference([1.0, 2.0], [2.0, 5.0]))
    2.0
    """
    labels, predictions = _pair(labels, predictions)
    losses = abs(predictions - labels)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def cosine_distance(
    labels: Any,
    predictions: Any,
    axis: int | None = None,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
    dim: int | None = None,
) -> Tensor:
    """1 - the products' sum along `axis`, which is kept, of what should have the length 1.

    Raises: ValueError without an axis.
    """
    if axis is not None and dim is not None:
        raise ValueError("Cannot specify both 'dim' and 'axis'.")
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify argument `axis`.")
    labels, predictions = _pair(labels, predictions)
    losses = 1.0 - reduce_sum(predictions * labels, axis=(axis,), keepdims=True)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def hinge_loss(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """max(0, 1 - labels * logits), of labels 0 and 1 that count as -1 and 1."""
    labels, logits = _pair(labels, logits, "logits")
    losses = relu(1.0 - (2.0 * labels - 1.0) * logits)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def huber_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    delta: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """Half the square of the error up to `delta`, and linear beyond."""
    labels, predictions = _pair(labels, predictions)
    error = abs(predictions - labels)
    quadratic = minimum(error, delta)
    losses = 0.5 * (quadratic * quadratic) + delta * (error - quadratic)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def log_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    epsilon: Any = 1e-7,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """Cross entropy of probabilities; `epsilon` is added in the logarithms."""
    labels, predictions = _pair(labels, predictions)
    positive = labels * log(predictions + epsilon)
    losses = -positive - (1.0 - labels) * log(1.0 - predictions + epsilon)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """(predictions - labels)^2, weighted and reduced as `compute_weighted_loss` does.

    >>> import tape_compat as tf
    >>> float(tf.compat.v1.losses.mean_squared_error([1.0, 2.0], [2.0, 5.0], weights=2.0))
    10.0
    """
    labels, predictions = _pair(labels, predictions)
    losses = squared_difference(predictions, labels)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def _present_of_each(weights: Tensor, values: Tensor, axes: Sequence[int]) -> Tensor:
    """How many values of each example have a weight that is not 0. In eager code TensorFlow counts
    those of all examples where the weight is one number."""
    of_all = executing_eagerly() and not weights._aval.shape
    axis = None if of_all else axes
    return reduce_sum(_present(weights, values), axis=axis, keepdims=not of_all)


def mean_pairwise_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
) -> Tensor:
    """Mean square of how differences between two elements of an example differ, summed over all
    examples: 2 / (n - 1) * sum(d^2) - 2 / (n (n - 1)) * sum(d)^2 of d = predictions - labels.

    Args:
      weights: as in `compute_weighted_loss`; elements whose weight is 0 do not count in n.
    """
    _required(labels=labels, predictions=predictions)
    weights, labels = cast(weights, float32), cast(labels, float32)
    check_weights(weights, labels)
    labels, predictions = _pair(labels, predictions)
    difference = predictions - labels
    axes = list(range(1, len(difference.shape)))
    squares = reduce_sum(square(difference), axis=axes, keepdims=True)
    sums = reduce_sum(difference, axis=axes, keepdims=True)
    count = _present_of_each(weights, difference, axes)
    first = 2.0 * divide_no_nan(squares, maximum(count - 1.0, 0.0))
    second = 2.0 * divide_no_nan(square(sums), maximum(count * (count - 1.0), 0.0))
    total = reduce_sum((first - second) * weights)
    loss = where(reduce_sum(count) > 0.0, total, zeros_like(total))
    add_loss(loss, loss_collection)
    return loss


def sigmoid_cross_entropy(
    multi_class_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: Any = 0,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """See `tf.nn.sigmoid_cross_entropy_with_logits`; labels are moved to 1/2 by `label_smoothing`,
    a share."""
    _required(multi_class_labels=multi_class_labels, logits=logits)
    logits = convert(logits)
    labels = cast(multi_class_labels, logits.dtype)
    logits.shape.assert_is_compatible_with(labels.shape)
    if label_smoothing > 0:
        labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
    losses = losses_v2.sigmoid_cross_entropy_with_logits(labels, logits)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def softmax_cross_entropy(
    onehot_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: Any = 0,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """See `tf.nn.softmax_cross_entropy_with_logits`, without a gradient for labels; these are moved
    to 1 / classes by `label_smoothing`, a share.

    >>> import tape_compat as tf
    >>> loss = tf.compat.v1.losses.softmax_cross_entropy([[0, 1]], [[0.0, 0.0]])
    >>> round(float(loss), 4)
    0.6931
    """
    _required(onehot_labels=onehot_labels, logits=logits)
    logits = convert(logits)
    labels = cast(onehot_labels, logits.dtype)
    logits.shape.assert_is_compatible_with(labels.shape)
    if label_smoothing > 0:
        classes = cast(shape(labels)[-1], logits.dtype)
        labels = labels * (1.0 - label_smoothing) + label_smoothing / classes
    losses = losses_v2.softmax_cross_entropy_with_logits(stop_gradient(labels), logits)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def _may_be_one(x: Tensor) -> bool:
    return not differ(x._aval.shape[-1], 1)


def sparse_softmax_cross_entropy(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Tensor:
    """See `tf.nn.sparse_softmax_cross_entropy_with_logits`; a last axis of size 1 that labels or
    weights have too many does not count.

    >>> import tape_compat as tf
    >>> loss = tf.compat.v1.losses.sparse_softmax_cross_entropy([[1]], [[0.0, 0.0]])
    >>> round(float(loss), 4)
    0.6931
    """
    _required(labels=labels, logits=logits)
    logits, labels, weights = convert(logits), convert(labels), convert(weights)
    more = len(logits.shape) - len(labels.shape)
    if more == 2 and _may_be_one(logits):
        logits = squeeze(logits, [-1])
    elif more == 0 and len(labels.shape) and _may_be_one(labels):
        labels = squeeze(labels, [-1])
    if len(weights.shape) - len(labels.shape) == 1:
        weights = squeeze(weights, [-1])
    losses = losses_v2.sparse_softmax_cross_entropy_with_logits(labels, logits)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def add_loss(loss: Any, loss_collection: Any = GraphKeys.LOSSES) -> None:
    """In a `tf.function`, add a loss to a collection of the function."""
    if loss_collection and not executing_eagerly():
        add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES) -> list[Any]:
    """The losses that were added; those of eager code are not."""
    return get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """What is in the collection of losses of the regularization."""
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(
    scope: str | None = None, name: str = "total_regularization_loss"
) -> Tensor:
    """The sum of the losses of the regularization, 0 if there are none."""
    losses = get_regularization_losses(scope)
    return add_n(losses) if losses else constant(0.0)


def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None
) -> Tensor:
    """The sum of the losses that were added. Raises: ValueError if there are none.

    >>> import tape_compat as tf
    >>> @tf.function
    ... def total(x):
    ...     tf.compat.v1.losses.mean_squared_error([1.0], x)
    ...     tf.compat.v1.losses.absolute_difference([1.0], x)
    ...     return tf.compat.v1.losses.get_total_loss()
    >>> float(total(tf.constant([3.0])))
    6.0
    """
    more = get_regularization_losses(scope) if add_regularization_losses else []
    return add_n([*get_losses(scope), *more])
