"""Losses: cross entropies, Poisson, squares."""

from __future__ import annotations

import math as _math
from typing import Any

import jax.numpy as jnp
from jax import lax

from ..core import dtypes
from ..core.avals import Aval
from ..core.op import Op
from ..core.refuse import invalid, not_allowed
from ..values.bounds import refuse_labels
from ..values.convert import convert
from ..values.dispatch import maps_composites
from ..values.record import apply
from ..values.tensor import Tensor
from . import rules
from .arguments import value_if_known
from .arithmetic import divided_no_nan, truediv
from .checks import check_dtypes
from .declare import Number, check_same_dtype, name_ops, op, static
from .reductions import reduce_sum
from .shapes import host_shape


def _wide(x: Any) -> Any:
    """Half precision as float32, where TensorFlow computes losses."""
    return x.astype(jnp.float32) if x.dtype.itemsize == 2 else x


def _softmax_cross_entropy(labels: Any, logits: Any, axis: int) -> Any:
    dtype = logits.dtype
    logits = _wide(logits)
    labels = labels.astype(logits.dtype)
    labels, logits = jnp.moveaxis(labels, axis, -1), jnp.moveaxis(logits, axis, -1)
    classes = logits.shape[-1]
    shape = logits.shape[:-1]
    labels, logits = (
        labels.reshape(_math.prod(labels.shape[:-1]), labels.shape[-1]),
        logits.reshape(_math.prod(shape), classes),
    )
    rows = max(labels.shape[0], logits.shape[0]) if labels.shape[0] and logits.shape[0] else 0
    loss = rules.cross_entropy(
        jnp.broadcast_to(labels, (rows, classes)), jnp.broadcast_to(logits, (rows, classes))
    )
    return loss.astype(dtype).reshape(shape)


def _check_cross_entropy(avals: tuple[Aval, ...], axis: int) -> None:
    kernel = "SoftmaxCrossEntropyWithLogits"
    check_dtypes(kernel, "float")(avals[1:])
    flat = []
    for aval in avals:
        rank = len(aval.shape)
        if not -rank <= axis < rank:
            raise invalid(f"axis {axis} is out of range for shape {aval.tensor_shape}", "Slice")
        classes = aval.shape[axis]
        rest = [d for i, d in enumerate(aval.shape) if i != axis % rank]
        flat.append((_math.prod(rest), classes))
    (rows, columns), (n, classes) = flat
    if columns not in (1, classes) or (rows != n and 1 not in (rows, n)):
        raise invalid(
            f"logits and labels must be broadcastable: logits_size=[{n},{classes}] "
            f"labels_size=[{rows},{columns}]",
            kernel,
        )


_CROSS_ENTROPY = Op(
    _softmax_cross_entropy, "SoftmaxCrossEntropyWithLogits", check=_check_cross_entropy
)
_CROSS_ENTROPY_LAST = _CROSS_ENTROPY.bind(axis=-1)


def _both_given(labels: Any, logits: Any, function: str) -> None:
    if labels is None or logits is None:
        raise ValueError(
            f"Both `labels` and `logits` must be provided for {function}"
            f"Received: labels={labels} and logits={logits}"
        )


def softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, axis: int = -1, name: str | None = None
) -> Tensor:
    """-sum(labels * log_softmax(logits)) along `axis`.

    Args:
      labels: probabilities [..., classes], each row summing to 1: the gradient by the logits,
        softmax - labels, relies on it. They get a gradient too.
      logits: [..., classes].
    Returns: the loss of each row, of the dtype of `logits`.
    Raises: InvalidArgumentError if the shapes do not broadcast or the logits are not floating.

    >>> import tape_compat as tf
    >>> loss = tf.nn.softmax_cross_entropy_with_logits([[0.0, 1.0]], [[0.0, 0.0]])
    >>> loss.numpy().round(4).tolist()
    [0.6930999755859375]
    """
    labels = labels if labels.__class__ is Tensor else convert(labels)
    logits = logits if logits.__class__ is Tensor else convert(logits)
    if axis.__class__ is int and axis == -1:
        return apply(_CROSS_ENTROPY_LAST, (labels, logits))
    return apply(_CROSS_ENTROPY.bind(axis=static(axis)), (labels, logits))


def _sparse_cross_entropy(labels: Any, logits: Any) -> Any:
    return rules.sparse_cross_entropy(labels, _wide(logits)).astype(logits.dtype)


def _check_sparse(avals: tuple[Aval, ...]) -> None:
    labels, logits = avals
    rank = len(logits.shape)
    if rank == 0:
        raise ValueError("`logits` cannot be a scalar.")
    if len(labels.shape) != rank - 1:
        raise ValueError(
            "`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: "
            f"labels.shape={labels.tensor_shape} of rank {len(labels.shape)} and "
            f"logits.shape={logits.tensor_shape} of rank {rank}"
        )
    if labels.shape != logits.shape[:-1]:
        raise ValueError(
            "`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
            f"labels.shape={labels.tensor_shape} and logits.shape={logits.tensor_shape}"
        )
    kernel = "SparseSoftmaxCrossEntropyWithLogits"
    check_dtypes(kernel, "float")(avals[1:])
    if labels.dtype.name not in ("int32", "int64"):
        raise not_allowed(labels.dtype, "int32, int64", kernel, "Tlabels")


_SPARSE_CROSS_ENTROPY = Op(
    _sparse_cross_entropy, "SparseSoftmaxCrossEntropyWithLogits", check=_check_sparse
).bind()


def sparse_softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, name: str | None = None
) -> Tensor:
    """-log_softmax(logits)[label] of each row.

    Args:
      labels: int32 or int64 [...]. One out of range, if it is not known at the call, gives NaN.
      logits: [..., classes].
    Raises: ValueError if the shapes do not match, InvalidArgumentError for other dtypes and for a
      label out of range that is known.

    >>> import tape_compat as tf
    >>> loss = tf.nn.sparse_softmax_cross_entropy_with_logits([1], [[0.0, 0.0]])
    >>> loss.numpy().round(4).tolist()
    [0.6930999755859375]
    """
    _both_given(labels, logits, "sparse_softmax_cross_entropy_with_logits")
    labels = labels if labels.__class__ is Tensor else convert(labels)
    logits = logits if logits.__class__ is Tensor else convert(logits)
    shape = logits._aval.shape
    if shape and labels._aval.shape == shape[:-1]:
        refuse_labels(labels, shape[-1], "SparseSoftmaxCrossEntropyWithLogits")
    return apply(_SPARSE_CROSS_ENTROPY, (labels, logits))


def _sigmoid_cross_entropy(labels: Any, logits: Any) -> Any:
    positive = logits >= 0
    relu_logits = jnp.where(positive, logits, 0)
    minus_abs = jnp.where(positive, -logits, logits)
    return relu_logits - logits * labels + jnp.log1p(jnp.exp(minus_abs))


def _check_same_shape(avals: tuple[Aval, ...]) -> None:
    labels, logits = avals[:2]
    if labels.shape != logits.shape:
        raise ValueError(
            f"`logits` and `labels` must have the same shape, received ({logits.tensor_shape} vs "
            f"{labels.tensor_shape})."
        )
    if labels.dtype is not logits.dtype:
        check_same_dtype((logits, labels), "Mul")
    check_dtypes("Mul", "float")(avals)


_SIGMOID_CROSS_ENTROPY = Op(_sigmoid_cross_entropy, "Mul", check=_check_same_shape).bind()


@maps_composites
def sigmoid_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, name: str | None = None
) -> Tensor:
    """-labels * log(sigmoid(x)) - (1 - labels) * log(1 - sigmoid(x)), elementwise and stable.

    Raises: ValueError if one is missing or the shapes differ.

    >>> import tape_compat as tf
    >>> tf.nn.sigmoid_cross_entropy_with_logits([1.0, 0.0], [100.0, 100.0]).numpy().tolist()
    [0.0, 100.0]
    """
    _both_given(labels, logits, "sigmoid_cross_entropy_with_logits")
    labels = labels if labels.__class__ is Tensor else convert(labels)
    logits = logits if logits.__class__ is Tensor else convert(logits)
    return apply(_SIGMOID_CROSS_ENTROPY, (labels, logits))


def _weighted_cross_entropy(labels: Any, logits: Any, pos_weight: Any) -> Any:
    log_weight = 1 + (pos_weight - 1) * labels
    tail = jnp.log1p(jnp.exp(-rules.abs(logits))) + rules.relu(-logits)
    return (1 - labels) * logits + log_weight * tail


_WEIGHTED_CROSS_ENTROPY = Op(_weighted_cross_entropy, "Mul", check=_check_same_shape).bind()


def weighted_cross_entropy_with_logits(
    labels: Any, logits: Any, pos_weight: Number, name: str | None = None
) -> Tensor:
    """`sigmoid_cross_entropy_with_logits` with the positive term times `pos_weight`.

    Raises: ValueError if the shapes of labels and logits differ.

    >>> import tape_compat as tf
    >>> tf.nn.weighted_cross_entropy_with_logits([1.0], [-100.0], 3.0).numpy().tolist()
    [300.0]
    """
    logits = convert(logits)
    inputs = (convert(labels), logits, convert(pos_weight, hint=logits.dtype))
    return apply(_WEIGHTED_CROSS_ENTROPY, inputs)


def _log_poisson(targets: Any, log_input: Any, full: bool) -> Any:
    loss = jnp.exp(log_input) - log_input * targets
    if full:
        exact = (targets >= 0) & (targets <= 1)
        z = jnp.where(exact, 1, targets)
        stirling = z * jnp.log(z) - z + 0.5 * jnp.log(2 * _math.pi * z)
        loss = loss + jnp.where(exact, 0, stirling)
    return loss


_LOG_POISSON = Op(_log_poisson, "Mul", check=check_dtypes("Exp", "float complex"))


def log_poisson_loss(
    targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None
) -> Tensor:
    """exp(c) - c * z for targets z and log-predictions c, plus Stirling's term of log z! if full.

    Raises: ValueError if the shapes differ.

    >>> import tape_compat as tf
    >>> tf.nn.log_poisson_loss([1.0], [0.0]).numpy().tolist()
    [1.0]
    """
    log_input, targets = convert(log_input), convert(targets)
    if log_input.shape != targets.shape:
        raise ValueError(
            "`log_input` and `targets` must have the same shape, received "
            f"({log_input.shape} vs {targets.shape})."
        )
    return apply(_LOG_POISSON.bind(full=bool(compute_full_loss)), (targets, log_input))


@op(arrays=1, kernel="L2Loss", dtypes="float")
def l2_loss(t, name=None):
    """sum(t**2) / 2.

    >>> import tape_compat as tf
    >>> float(tf.nn.l2_loss([3.0, 4.0]))
    12.5
    """
    return jnp.sum(lax.square(t) / 2)  # the sum of the squares may be too large for a half


def scale_regularization_loss(regularization_loss: Any) -> Tensor:
    """The sum of the losses by how many replicas train, which is one.

    >>> import tape_compat as tf
    >>> float(tf.nn.scale_regularization_loss([3.0, 4.0]))
    7.0
    """
    return truediv(reduce_sum(regularization_loss), 1)


def compute_average_loss(
    per_example_loss: Any, sample_weight: Any = None, global_batch_size: Number = None
) -> Tensor:
    """Weighted sum of the losses over the size of the whole batch (default: how many there are),
    0 of a batch without any.

    Weights of one axis more than the losses, or one less, belong to them without their last one.
    Raises: ValueError for losses without axes, and for a size that is not a scalar; TypeError for
      one that is no integer; InvalidArgumentError for one below 0.

    >>> import tape_compat as tf
    >>> float(tf.nn.compute_average_loss([1.0, 2.0], global_batch_size=4))
    0.75
    """
    losses = convert(per_example_loss)
    if not losses._aval.shape:
        raise ValueError(
            "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1. "
            f"Received per_example_loss={per_example_loss} with rank 0"
        )
    inputs = [losses]
    if sample_weight is not None:
        inputs.append(convert(sample_weight))
    size = global_batch_size
    if size is None:
        size = host_shape(losses._aval.shape[0], dtypes.int32, "Size")
    inputs.append(_batch_size(convert(size)))
    return apply(_AVERAGE_LOSS, tuple(inputs))


def _batch_size(size: Tensor) -> Tensor:
    """The size of a batch, as it must be."""
    if size.shape.rank:
        raise ValueError(
            f"global_batch_size must be scalar..  Expected scalar shape, saw shape: {size.shape}."
        )
    if not size.dtype.is_integer:
        raise TypeError(
            'global_batch_size must be an integer..  Expected "x" to be integer type.  Found: '
            f"tensor of dtype <dtype: '{size.dtype.name}'>"
        )
    known = value_if_known(size)
    if known is not None and known < 0:
        raise invalid(
            "global_batch_size must be non-negative.. Condition x >= 0 did not hold", "Assert"
        )
    return size


def _average_loss(losses: Any, *others: Any) -> Any:
    *weights, size = others
    for weight in weights:
        if weight.ndim == losses.ndim + 1:
            weight = jnp.squeeze(weight, -1)
        elif weight.ndim and weight.ndim == losses.ndim - 1:
            weight = weight[..., None]
        wide = jnp.promote_types(losses.dtype, jnp.float32)
        scaled = losses.astype(wide) * weight.astype(wide)
        losses = scaled.astype(losses.dtype)
    return divided_no_nan(jnp.sum(losses, dtype=losses.dtype), size.astype(losses.dtype))


_AVERAGE_LOSS = Op(_average_loss, "RealDiv").bind()


name_ops(globals())
