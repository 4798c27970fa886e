"""`tf.nn`: activations, losses, normalization, dropout, convolution and pooling."""

from __future__ import annotations

import math as _math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .autodiff import rules
from .core.avals import Aval
from .core.convert import convert
from .core.declare import (
    allowed,
    check_same_dtype,
    invalid,
    matching,
    name_ops,
    op,
    static,
    tf_dtype_name,
)
from .core.dispatch import apply, apply1, apply2
from .core.op import Op
from .core.tensor import Tensor
from .math import in_top_k as in_top_k
from .math import l2_normalize as l2_normalize
from .math import log_softmax as log_softmax
from .math import sigmoid as sigmoid
from .math import softmax as softmax
from .math import softplus as softplus
from .math import softsign as softsign
from .math import tanh as tanh
from .math import top_k as top_k
from .math import zero_fraction as zero_fraction

_REAL = "float integer"


def _check_dtypes(kernel: str, kinds: str) -> Callable[..., None]:
    names = allowed(kinds)

    def check(avals: tuple[Aval, ...], **_: Any) -> None:
        for known in avals:
            if known.dtype.name not in names:
                raise invalid(
                    f"Value for attr 'T' of {tf_dtype_name(known.dtype)} is not in the list of "
                    f"allowed values: {', '.join(sorted(names))}\n\t; NodeDef: "
                    f"{{{{node {kernel}}}}}",
                    kernel,
                )
        check_same_dtype(avals, kernel)

    return check


# -- activations -----------------------------------------------------------------------------------


@op(arrays=1, kernel="Relu", dtypes=_REAL)
def relu(features, name=None):
    """Larger of x and 0. The gradient at 0 is 0.

    >>> import tape_compat as tf
    >>> tf.nn.relu([-1.0, 2.0]).numpy().tolist()
    [0.0, 2.0]
    """
    return rules.relu(features)


@op(arrays=1, kernel="Relu6", dtypes=_REAL)
def relu6(features, name=None):
    """x held between 0 and 6.

    >>> import tape_compat as tf
    >>> tf.nn.relu6([-1.0, 2.0, 8.0]).numpy().tolist()
    [0.0, 2.0, 6.0]
    """
    return rules.relu6(features)


_LEAKY_RELU = Op(rules.leaky_relu, "LeakyRelu", check=_check_dtypes("LeakyRelu", "float"))
_LEAKY_RELU_USUAL = _LEAKY_RELU.bind(alpha=float(np.float32(0.2)))


def leaky_relu(features: Any, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """x where it is positive, alpha * x elsewhere. Integers give float32.

    >>> import tape_compat as tf
    >>> tf.nn.leaky_relu([-1.0, 2.0]).numpy().round(6).tolist()
    [-0.20000000298023224, 2.0]
    """
    if features.__class__ is not Tensor:
        features = convert(features)
    if features._aval.dtype.is_integer:
        features = apply(_TO_FLOAT, (features,))
    if alpha == 0.2:
        return apply1(_LEAKY_RELU_USUAL, features)
    return apply1(_LEAKY_RELU.bind(alpha=float(np.float32(static(alpha)))), features)


_TO_FLOAT = Op(lambda x: x.astype(jnp.float32), "Cast").bind()


@op(arrays=1, kernel="Elu", dtypes="float")
def elu(features, name=None):
    """x where it is positive, exp(x) - 1 elsewhere.

    >>> import tape_compat as tf
    >>> tf.nn.elu([-100.0, 2.0]).numpy().tolist()
    [-1.0, 2.0]
    """
    return rules.elu(features)


@op(arrays=1, kernel="Selu", dtypes="float")
def selu(features, name=None):
    """The scaled `elu` that keeps mean 0 and variance 1 from layer to layer.

    >>> import tape_compat as tf
    >>> float(tf.nn.selu(0.0))
    0.0
    """
    return rules.selu(features)


#: TensorFlow's constants are float32 in every dtype.
_CUBE = float(np.float32(0.044715))
_ROOT_HALF = float(np.float32(_math.sqrt(0.5)))


def _gelu(x: Any, approximate: bool) -> Any:
    if approximate:
        inner = _math.sqrt(2.0 / _math.pi) * (x + _CUBE * x * x * x)
        return 0.5 * x * (1 + jnp.tanh(inner))
    return 0.5 * x * (1 + lax.erf(x * jnp.asarray(_ROOT_HALF, x.dtype)))


def _check_gelu(avals: tuple[Aval, ...], **_: Any) -> None:
    if not avals[0].dtype.is_floating:
        raise ValueError(
            "`features.dtype` must be a floating point tensor."
            f"Received:features.dtype={avals[0].dtype!s}"
        )


_GELU_OP = Op(_gelu, "Gelu", check=_check_gelu)
_GELU = _GELU_OP.bind(approximate=False)
_GELU_BY_TANH = _GELU_OP.bind(approximate=True)


def gelu(features: Any, approximate: bool = False, name: str | None = None) -> Tensor:
    """x times the normal distribution function of x; with tanh if `approximate`.

    Raises: ValueError unless `features` is of a floating dtype.

    >>> import tape_compat as tf
    >>> float(tf.nn.gelu(0.0))
    0.0
    """
    if features.__class__ is not Tensor:
        features = convert(features)
    return apply1(_GELU_BY_TANH if approximate else _GELU, features)


def _silu(x: Any, *beta: Any) -> Any:
    return x * lax.logistic(x * beta[0] if beta else x)


_SILU = Op(_silu, "Sigmoid", check=_check_dtypes("Sigmoid", "float complex")).bind()


def silu(features: Any, beta: Any = 1.0) -> Tensor:
    """x * sigmoid(beta * x); `beta` may be a tensor.

    >>> import tape_compat as tf
    >>> float(tf.nn.silu(0.0))
    0.0
    """
    if features.__class__ is not Tensor:
        features = convert(features)
    if (beta.__class__ is float and beta == 1.0) or not features._aval.trainable:
        return apply1(_SILU, features)
    return apply(_SILU, (features, convert(beta, features.dtype)))


swish = silu


@op(arrays=1, kernel="Relu", dtypes=_REAL)
def crelu(features, axis=-1, name=None):
    """relu of x and relu of -x, joined along `axis`.

    >>> import tape_compat as tf
    >>> tf.nn.crelu([-1.0, 2.0]).numpy().tolist()
    [0.0, 2.0, 1.0, 0.0]
    """
    return rules.relu(jnp.concatenate([features, -features], axis))


# -- losses ----------------------------------------------------------------------------------------


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
        labels.reshape(-1, labels.shape[-1]),
        logits.reshape(_math.prod(shape), classes),
    )
    rows = max(labels.shape[0], logits.shape[0]) if labels.shape[0] and logits.shape[0] else 0
    loss = rules.cross_entropy(
        jnp.broadcast_to(labels, (rows, classes)), jnp.broadcast_to(logits, (rows, classes))
    )
    return loss.astype(dtype).reshape(shape)


def _check_cross_entropy(avals: tuple[Aval, ...], axis: int) -> None:
    kernel = "SoftmaxCrossEntropyWithLogits"
    _check_dtypes(kernel, "float")(avals[1:])
    flat = []
    for known in avals:
        rank = len(known.shape)
        if not -rank <= axis < rank:
            raise invalid(f"axis {axis} is out of range for shape {known.shape}", "Slice")
        classes = known.shape[axis]
        rest = [d for i, d in enumerate(known.shape) if i != axis % rank]
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
        return apply2(_CROSS_ENTROPY_LAST, labels, logits)
    return apply2(_CROSS_ENTROPY.bind(axis=static(axis)), labels, logits)


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
            f"labels.shape={labels.shape} of rank {len(labels.shape)} and "
            f"logits.shape={logits.shape} of rank {rank}"
        )
    if labels.shape != logits.shape[:-1]:
        raise ValueError(
            "`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
            f"labels.shape={labels.shape} and logits.shape={logits.shape}"
        )
    kernel = "SparseSoftmaxCrossEntropyWithLogits"
    _check_dtypes(kernel, "float")(avals[1:])
    if labels.dtype.name not in ("int32", "int64"):
        raise invalid(
            f"Value for attr 'Tlabels' of {tf_dtype_name(labels.dtype)} is not in the list of "
            f"allowed values: int32, int64\n\t; NodeDef: {{{{node {kernel}}}}}",
            kernel,
        )


_SPARSE_CROSS_ENTROPY = Op(
    _sparse_cross_entropy, "SparseSoftmaxCrossEntropyWithLogits", check=_check_sparse
).bind()


def sparse_softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, name: str | None = None
) -> Tensor:
    """-log_softmax(logits)[label] of each row.

    Args:
      labels: int32 or int64 [...]. One out of range gives NaN.
      logits: [..., classes].
    Raises: ValueError if the shapes do not match, InvalidArgumentError for other dtypes.

    >>> import tape_compat as tf
    >>> loss = tf.nn.sparse_softmax_cross_entropy_with_logits([1], [[0.0, 0.0]])
    >>> loss.numpy().round(4).tolist()
    [0.6930999755859375]
    """
    _both_given(labels, logits, "sparse_softmax_cross_entropy_with_logits")
    labels = labels if labels.__class__ is Tensor else convert(labels)
    logits = logits if logits.__class__ is Tensor else convert(logits)
    return apply2(_SPARSE_CROSS_ENTROPY, labels, logits)


def _sigmoid_cross_entropy(labels: Any, logits: Any) -> Any:
    positive = logits >= 0
    relu_logits = jnp.where(positive, logits, 0)
    minus_abs = jnp.where(positive, -logits, logits)
    return relu_logits - logits * labels + jnp.log1p(jnp.exp(minus_abs))


def _check_same_shape(avals: tuple[Aval, ...]) -> None:
    labels, logits = avals[:2]
    if labels.shape != logits.shape:
        raise ValueError(
            f"`logits` and `labels` must have the same shape, received ({logits.shape} vs "
            f"{labels.shape})."
        )
    if labels.dtype is not logits.dtype:
        check_same_dtype((logits, labels), "Mul")
    _check_dtypes("Mul", "float")(avals)


_SIGMOID_CROSS_ENTROPY = Op(_sigmoid_cross_entropy, "Mul", check=_check_same_shape).bind()


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
    return apply2(_SIGMOID_CROSS_ENTROPY, labels, logits)


def _weighted_cross_entropy(labels: Any, logits: Any, pos_weight: Any) -> Any:
    log_weight = 1 + (pos_weight - 1) * labels
    tail = jnp.log1p(jnp.exp(-rules.abs(logits))) + rules.relu(-logits)
    return (1 - labels) * logits + log_weight * tail


_WEIGHTED_CROSS_ENTROPY = Op(_weighted_cross_entropy, "Mul", check=_check_same_shape).bind()


def weighted_cross_entropy_with_logits(
    labels: Any, logits: Any, pos_weight: Any, name: str | None = None
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
        positive = jnp.where(targets > 0, targets, 1)
        stirling = targets * jnp.log(positive) - targets + 0.5 * jnp.log(2 * _math.pi * positive)
        loss = loss + jnp.where((targets >= 0) & (targets <= 1), 0, stirling)
    return loss


_LOG_POISSON = Op(_log_poisson, "Mul")


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
    return jnp.sum(lax.square(t)) / 2


def compute_average_loss(
    per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None
) -> Tensor:
    """Weighted sum of the losses over the size of the whole batch (default: how many there are).

    >>> import tape_compat as tf
    >>> float(tf.nn.compute_average_loss([1.0, 2.0], global_batch_size=4))
    0.75
    """
    losses = convert(per_example_loss)
    if not losses.shape:
        raise ValueError(
            "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1."
        )
    inputs = [losses]
    if sample_weight is not None:
        inputs.append(convert(sample_weight, losses.dtype))
    size = losses._aval.shape[0] if global_batch_size is None else global_batch_size
    inputs.append(convert(size))
    return apply(_AVERAGE_LOSS, tuple(inputs))


def _average_loss(losses: Any, *others: Any) -> Any:
    *weights, size = others
    for weight in weights:
        losses = losses * weight.reshape(weight.shape + (1,) * (losses.ndim - weight.ndim))
    return jnp.sum(losses) / size.astype(losses.dtype)


_AVERAGE_LOSS = Op(_average_loss, "RealDiv").bind()


# -- normalization ---------------------------------------------------------------------------------


def _channels_last(data_format: Any) -> bool:
    if data_format is None or (data_format.startswith("N") and data_format.endswith("C")):
        return True
    if data_format.startswith("NC"):
        return False
    raise ValueError(
        f"`data_format` must be of the form `N...C` or `NC...`. Received: data_format={data_format}"
    )


def _bias_add(value: Any, bias: Any, last: bool) -> Any:
    if not last:
        bias = bias.reshape(bias.shape + (1,) * (value.ndim - 2))
    return value + bias


def _check_bias(avals: tuple[Aval, ...], last: bool) -> None:
    check_same_dtype(avals, "BiasAdd")
    _check_dtypes("BiasAdd", "float integer complex")(avals)
    shown = ["[" + ",".join(map(str, a.shape)) + "]" for a in avals]
    value, bias = (a.shape for a in avals)
    if len(value) < 2:
        raise invalid(f"Input tensor must be at least 2D: {shown[0]}", "BiasAdd")
    if len(bias) != 1:
        raise invalid(f"Biases must be 1D: {shown[1]}", "BiasAdd")
    if value[-1 if last else 1] != bias[0]:
        which = "last" if last else "channel"
        raise invalid(
            f"Must provide as many biases as the {which} dimension of the input tensor: "
            f"{shown[1]} vs. {shown[0]}",
            "BiasAdd",
        )


_BIAS_ADD = Op(_bias_add, "BiasAdd", check=_check_bias)
_BIAS_ADD_LAST = _BIAS_ADD.bind(last=True)


def bias_add(
    value: Any, bias: Any, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """`value` [batch, ..., channels] plus `bias` [channels]; channels second for "NC...".

    Raises: InvalidArgumentError if the ranks or the number of channels do not fit.

    >>> import tape_compat as tf
    >>> tf.nn.bias_add([[1.0, 2.0]], [10.0, 20.0]).numpy().tolist()
    [[11.0, 22.0]]
    """
    if value.__class__ is not Tensor or bias.__class__ is not Tensor:
        value, bias = matching((value, bias))
    if data_format is None:
        return apply2(_BIAS_ADD_LAST, value, bias)
    return apply(_BIAS_ADD.bind(last=_channels_last(data_format)), (value, bias))


def _check_moments(avals: tuple[Aval, ...], axes: Any, **_: Any) -> None:
    rank = len(avals[0].shape)
    for i in axes if isinstance(axes, tuple) else (axes,):
        if not -rank <= i < rank:
            raise invalid(
                f"Invalid reduction dimension ({i} for input with {rank} dimension(s)", "Mean"
            )


def _integer_mean(x: Any, axes: Any) -> Any:
    total = jnp.sum(x, axis=axes, keepdims=True, dtype=jnp.int64)
    count = x.size // max(total.size, 1)
    return lax.div(total, jnp.full_like(total, max(count, 1))).astype(x.dtype)


def _moments(x: Any, axes: Any, keepdims: bool) -> tuple[Any, Any]:
    dtype = x.dtype
    y = x.astype(jnp.float32) if dtype == jnp.float16 else x
    if jnp.issubdtype(dtype, jnp.integer):
        mean = _integer_mean(y, axes)
        variance = _integer_mean(lax.square(y - mean), axes)
    else:
        mean = jnp.mean(y, axis=axes, keepdims=True)
        # The mean inside is held, as in TF: its part of the first derivative is 0.
        deviation = y - lax.stop_gradient(mean)
        variance = jnp.mean(lax.square(deviation), axis=axes, keepdims=True)
    if not keepdims:
        mean, variance = jnp.squeeze(mean, axes), jnp.squeeze(variance, axes)
    return mean.astype(dtype), variance.astype(dtype)


_MOMENTS = Op(_moments, "Mean", check=_check_moments)


def _static_axes(axes: Any) -> Any:
    return tuple(axes) if isinstance(axes, range) else static(axes)


def moments(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance of `x` over `axes`. `shift` has no effect, as in TensorFlow.

    >>> import tape_compat as tf
    >>> mean, variance = tf.nn.moments([1.0, 3.0], axes=[0])
    >>> float(mean), float(variance)
    (2.0, 1.0)
    """
    closure = _MOMENTS.bind(axes=_static_axes(axes), keepdims=bool(keepdims))
    return apply(closure, (convert(x),))


def _weighted_moments(x: Any, weights: Any, axes: Any, keepdims: bool) -> tuple[Any, Any]:
    dtype = x.dtype
    if dtype == jnp.float16:
        x, weights = x.astype(jnp.float32), weights.astype(jnp.float32)
    total = jnp.sum(jnp.broadcast_to(weights, jnp.broadcast_shapes(weights.shape, x.shape)),
                    axis=axes, keepdims=True)  # fmt: skip
    scale = 1 / total
    mean = jnp.sum(weights * x, axis=axes, keepdims=True) * scale
    deviation = x - mean
    variance = jnp.sum(weights * lax.square(deviation), axis=axes, keepdims=True) * scale
    if not keepdims:
        mean, variance = jnp.squeeze(mean, axes), jnp.squeeze(variance, axes)
    return mean.astype(dtype), variance.astype(dtype)


_WEIGHTED_MOMENTS = Op(_weighted_moments, "Sum", check=_check_moments)


def weighted_moments(
    x: Any, axes: Any, frequency_weights: Any, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance of `x` over `axes`, each element counted `frequency_weights` times.

    >>> import tape_compat as tf
    >>> mean, _ = tf.nn.weighted_moments([1.0, 4.0], [0], [2.0, 1.0])
    >>> float(mean)
    2.0
    """
    x = convert(x)
    weights = convert(frequency_weights, hint=x.dtype)
    closure = _WEIGHTED_MOMENTS.bind(axes=_static_axes(axes), keepdims=bool(keepdims))
    return apply(closure, (x, weights))


def _batch_normalization(
    x: Any, mean: Any, variance: Any, epsilon: Any, *others: Any, has_offset: bool, has_scale: bool
) -> Any:
    rest = iter(others)
    offset = next(rest) if has_offset else None
    inverse = rules.rsqrt(variance + epsilon)
    if has_scale:
        inverse = inverse * next(rest)
    shift = -mean * inverse if offset is None else offset - mean * inverse
    return x * inverse.astype(x.dtype) + shift.astype(x.dtype)


_BATCH_NORMALIZATION = Op(_batch_normalization, "Mul")


def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    offset: Any,
    scale: Any,
    variance_epsilon: Any,
    name: str | None = None,
) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset; `scale`, `offset` may be None.

    >>> import tape_compat as tf
    >>> y = tf.nn.batch_normalization([1.0, 3.0], 2.0, 4.0, 0.5, None, 0.0)
    >>> y.numpy().tolist()
    [0.0, 1.0]
    """
    inputs = [x, mean, variance, variance_epsilon]
    inputs += [t for t in (offset, scale) if t is not None]
    closure = _BATCH_NORMALIZATION.bind(has_offset=offset is not None, has_scale=scale is not None)
    return apply(closure, tuple(matching(inputs)))


# -- dropout and embeddings ------------------------------------------------------------------------


def _dropout(x: Any, uniform: Any, rate: Any) -> Any:
    return jnp.where(uniform >= rate, x / (1 - rate), 0)


def _check_dropout(avals: tuple[Aval, ...]) -> None:
    x, uniform, _ = avals
    try:
        fits = np.broadcast_shapes(x.shape, uniform.shape) == x.shape
    except ValueError:
        fits = False
    if not fits:
        shown = ["[" + ",".join(map(str, a.shape)) + "]" for a in (uniform, x)]
        raise invalid(
            f"condition {shown[0]}, then {shown[1]}, and else [] must be broadcastable", "SelectV2"
        )


_DROPOUT = Op(_dropout, "SelectV2", check=_check_dropout).bind()
_SAME = Op(lambda x: x, "Identity").bind()


def _rate_tensor(rate: Any, x: Tensor) -> Tensor:
    if isinstance(rate, (int, float)) and not isinstance(rate, bool):
        if not 0 <= rate < 1:
            raise ValueError(
                "`rate` must be a scalar tensor or a float in the range [0, 1). "
                f"Received: rate={rate}"
            )
        return convert(float(rate), x.dtype)
    if isinstance(rate, (str, bytes, list, tuple)) or rate is None:
        raise ValueError(f"`rate` must be a scalar or scalar tensor. Received: rate={rate}")
    rate = convert(rate)
    if rate._aval.shape != ():
        raise ValueError(f"Shape {rate._aval.shape} must have rank 0")
    if rate.dtype is not x.dtype:
        raise ValueError(
            "`x.dtype` must be compatible with `rate.dtype`. "
            f"Received: x.dtype={x.dtype!s} and rate.dtype={rate.dtype!s}"
        )
    return rate


def dropout(
    x: Any, rate: Any, noise_shape: Any = None, seed: int | None = None, name: str | None = None
) -> Tensor:
    """`x` with a share `rate` of its elements set to 0 at random, the others divided by 1 - rate.

    Args:
      rate: in [0, 1): a number or a scalar tensor of the dtype of `x`.
      noise_shape: shape of the random choice, which broadcasts to that of `x`; None in it stands
        for the size of `x`.
      seed: of the op; see `tf.random.set_seed`.
    Raises: ValueError for a `rate` outside, or an `x` that is not floating.

    >>> import tape_compat as tf
    >>> sorted(set(tf.nn.dropout(tf.ones([100]), 0.5, seed=1).numpy().tolist()))
    [0.0, 2.0]
    """
    x = convert(x)
    if not x.dtype.is_floating:
        raise ValueError(
            "`x.dtype` must be a floating point tensor as `x` will be scaled. "
            f"Received: x_dtype={x.dtype!s}"
        )
    rate_tensor = _rate_tensor(rate, x)
    if rate.__class__ in (int, float) and rate == 0:
        return apply(_SAME, (x,))
    shape = x._aval.shape
    if noise_shape is not None:
        given = static(noise_shape)
        shape = tuple(shape[i] if d is None and i < len(shape) else d for i, d in enumerate(given))
    from .random import uniform

    noise = uniform(shape, seed=seed, dtype=x.dtype)
    return apply(_DROPOUT, (x, noise, rate_tensor))


def _clip_rows(rows: Any, max_norm: Any, ids_rank: int) -> Any:
    axes = tuple(range(ids_rank, rows.ndim))
    total = jnp.sum(lax.square(rows), axis=axes, keepdims=True)
    positive = total > 0
    norm = jnp.where(positive, rules.sqrt(jnp.where(positive, total, 1)), total)
    return rows * max_norm / rules.maximum(norm, max_norm)


_CLIP_ROWS = Op(_clip_rows, "RealDiv")


def embedding_lookup(
    params: Any, ids: Any, max_norm: Any = None, name: str | None = None
) -> Tensor:
    """Rows `ids` of the table `params`. The gradient by the table is IndexedSlices.

    Args:
      params: table [rows, ...]; a list of tables is taken as one, end to end.
      ids: int Tensor of any shape.
      max_norm: if given, rows of a larger 2-norm are scaled down to it.
    Raises: ValueError if `params` is missing.

    >>> import tape_compat as tf
    >>> tf.nn.embedding_lookup([[1.0, 2.0], [3.0, 4.0]], [1, 1]).numpy().tolist()
    [[3.0, 4.0], [3.0, 4.0]]
    """
    from .array import concat, gather

    if params is None:
        raise ValueError("params must be specified")
    if isinstance(params, (list, tuple)) and any(_is_table(p) for p in params):
        if len(params) == 0:
            raise ValueError("Length of params is currently 0. Need at least one param.")
        params = params[0] if len(params) == 1 else concat(list(params), 0)
    rows = gather(params, ids)
    if max_norm is None:
        return rows
    ids_rank = len(rows.shape) - len(getattr(params, "shape", convert(params).shape)) + 1
    return apply(_CLIP_ROWS.bind(ids_rank=ids_rank), (rows, convert(max_norm, rows.dtype)))


def _is_table(value: Any) -> bool:
    return isinstance(value, (Tensor, np.ndarray)) or hasattr(value, "_as_tensor")


# -- convolution -----------------------------------------------------------------------------------


def _spread(
    value: Any, rank: int, what: str, last: bool, kernel: str, default: int = 1
) -> tuple[int, ...]:
    """Strides, dilations or window sizes for `rank` spatial dimensions."""
    if value is None:
        return (default,) * rank
    value = static(value)
    given = value if isinstance(value, tuple) else (value,)
    if len(given) == 1:
        return given * rank
    if len(given) == rank:
        return given
    if len(given) != rank + 2:
        raise ValueError(
            f"{what} should be of length 1, {rank} or {rank + 2}. Received: {what}={list(given)} "
            f"of length {len(given)}"
        )
    spatial, others = (given[1:-1], (given[0], given[-1])) if last else (given[2:], given[:2])
    if others != (1, 1):
        from .core import errors

        raise errors.UnimplementedError(
            None,
            None,
            f"Current implementation does not yet support {what} in the batch and depth "
            f"dimensions. [Op:{kernel}] (at {errors.user_location()})",
        )
    return spatial


def _padding(padding: Any, rank: int, last: bool, kernel: str) -> Any:
    """SAME, VALID, or pairs for the spatial dimensions."""
    if isinstance(padding, str):
        if padding.upper() in ("SAME", "VALID"):
            return padding.upper()
        raise invalid(
            f"Value for attr 'padding' of \"{padding}\" is not in the list of allowed values: "
            f'"SAME", "VALID", "EXPLICIT"\n\t; NodeDef: {{{{node {kernel}}}}}',
            kernel,
        )
    pairs = static(padding)
    if len(pairs) == rank:
        return pairs
    if len(pairs) != rank + 2 or any(len(pair) != 2 for pair in pairs):
        raise ValueError(
            f"padding must be a string or a list of {rank + 2} pairs. Received: padding={padding}"
        )
    spatial, others = (pairs[1:-1], (pairs[0], pairs[-1])) if last else (pairs[2:], pairs[:2])
    if any(pair != (0, 0) for pair in others):
        raise ValueError(
            "Explicit padding of the batch and channel dimensions must be zero. "
            f"Received: padding={padding}"
        )
    return spatial


def _dimension_numbers(rank: int, last: bool) -> tuple[str, str, str]:
    spatial = "DHW"[3 - rank :]
    data = f"N{spatial}C" if last else f"NC{spatial}"
    return data, f"{spatial}IO", data


def _convolve(
    x: Any,
    filters: Any,
    strides: tuple[int, ...],
    padding: Any,
    dilations: tuple[int, ...],
    last: bool,
    depthwise: bool = False,
) -> Any:
    rank = len(strides)
    channels = x.shape[-1 if last else 1]
    if depthwise:
        *window, inputs, multiplier = filters.shape
        filters = filters.reshape(*window, 1, inputs * multiplier)
    groups = channels // filters.shape[-2] if channels else 1
    return lax.conv_general_dilated(
        x,
        filters,
        strides,
        padding,
        rhs_dilation=dilations,
        dimension_numbers=_dimension_numbers(rank, last),
        feature_group_count=groups,
    )


def _shown(shape: Sequence[int]) -> str:
    return "[" + ",".join(map(str, shape)) + "]"


def _check_convolution(kernel: str, batch_rank: int = 1) -> Callable[..., None]:
    def check(
        avals: tuple[Aval, ...],
        strides: tuple[int, ...],
        last: bool,
        depthwise: bool = False,
        **_: Any,
    ) -> None:
        x, filters = avals
        check_same_dtype(avals, kernel)
        _check_dtypes(kernel, "float integer")(avals)
        rank = len(strides) + 2
        for known, what in ((x, "input"), (filters, "filter")):
            if len(known.shape) != rank:
                raise invalid(
                    f"convolution {what} must be {rank}-dimensional: {_shown(known.shape)}", kernel
                )
        channels, depth = x.shape[-1 if last else 1], filters.shape[-2]
        if depth == 0 or channels % depth or (depthwise and channels != depth):
            raise invalid(
                f"input depth must be evenly divisible by filter depth: {channels} vs {depth}",
                kernel,
            )

    return check


_CONVOLUTIONS = {
    rank: Op(_convolve, kernel, check=_check_convolution(kernel))
    for rank, kernel in {1: "Conv2D", 2: "Conv2D", 3: "Conv3D"}.items()
}
_DEPTHWISE = Op(
    _convolve, "DepthwiseConv2dNative", check=_check_convolution("DepthwiseConv2dNative")
)


def _convolution(
    rank: int,
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: Any,
    dilations: Any,
) -> Tensor:
    declared = _CONVOLUTIONS[rank]
    last = _channels_last(data_format)
    closure = declared.bind(
        strides=_spread(strides, rank, "strides", last, declared.name),
        padding=_padding(padding, rank, last, declared.name),
        dilations=_spread(dilations, rank, "dilations", last, declared.name),
        last=last,
    )
    x, filters = matching((input, filters))
    extra = len(x._aval.shape) - rank - 2
    if extra <= 0:
        return apply(closure, (x, filters))
    from .array import reshape

    shape = x._aval.shape
    flat = apply(closure, (reshape(x, (-1, *shape[extra + 1 :])), filters))
    return reshape(flat, (*shape[: extra + 1], *flat._aval.shape[1:]))


def conv1d(
    input: Any,
    filters: Any,
    stride: Any,
    padding: Any,
    data_format: str = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """Convolution of `input` [..., width, in] with `filters` [window, in / groups, out].

    >>> import tape_compat as tf
    >>> x = tf.reshape(tf.range(4.0), [1, 4, 1])
    >>> tf.nn.conv1d(x, tf.ones([2, 1, 1]), 1, "VALID").numpy().ravel().tolist()
    [1.0, 3.0, 5.0]
    """
    return _convolution(1, input, filters, stride, padding, data_format, dilations)


def conv2d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """Convolution of `input` [..., height, width, in] with `filters` [h, w, in / groups, out].

    Args:
      strides, dilations: an int, two, or four with ones for batch and channels.
      padding: "SAME", "VALID", or four pairs, those of batch and channels (0, 0).
      data_format: "NHWC" or "NCHW".
    Raises: InvalidArgumentError if ranks, channels or dtypes do not fit.

    >>> import tape_compat as tf
    >>> tf.nn.conv2d(tf.ones([1, 4, 4, 3]), tf.ones([3, 3, 3, 8]), 2, "SAME").shape
    TensorShape([1, 2, 2, 8])
    """
    return _convolution(2, input, filters, strides, padding, data_format, dilations)


def conv3d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """Convolution of `input` [..., depth, height, width, in] with `filters` [d, h, w, in, out].

    >>> import tape_compat as tf
    >>> tf.nn.conv3d(tf.ones([1, 4, 4, 4, 1]), tf.ones([2, 2, 2, 1, 3]), 1, "VALID").shape
    TensorShape([1, 3, 3, 3, 3])
    """
    return _convolution(3, input, filters, strides, padding, data_format, dilations)


def convolution(
    input: Any,
    filters: Any,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """conv1d, conv2d or conv3d, by the rank of `filters`.

    >>> import tape_compat as tf
    >>> tf.nn.convolution(tf.ones([1, 4, 2]), tf.ones([2, 2, 5])).shape
    TensorShape([1, 3, 5])
    """
    rank = len(convert(filters).shape) - 2
    if rank not in (1, 2, 3):
        raise ValueError(f"`filters` must have rank 3, 4 or 5. Received: rank {rank + 2}")
    return _convolution(rank, input, filters, strides, padding, data_format, dilations)


def _convolve_back(
    y: Any,
    filters: Any,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    padding: Any,
    dilations: tuple[int, ...],
    last: bool,
) -> Any:
    """The transpose of a convolution whose input has `shape`."""

    def forward(x: Any) -> Any:
        return _convolve(x, filters, strides, padding, dilations, last)

    (out,) = jax.linear_transpose(forward, jax.ShapeDtypeStruct(shape, y.dtype))(y)
    return out


_CONV2D_TRANSPOSE = Op(_convolve_back, "Conv2DBackpropInput")


def conv2d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of `conv2d`: from its output to its input, of `output_shape`.

    `filters` [h, w, out, in] as of the convolution that it transposes.

    >>> import tape_compat as tf
    >>> y = tf.nn.conv2d_transpose(tf.ones([1, 2, 2, 3]), tf.ones([3, 3, 1, 3]), [1, 4, 4, 1], 2)
    >>> y.shape
    TensorShape([1, 4, 4, 1])
    """
    last = _channels_last(data_format)
    kernel = _CONV2D_TRANSPOSE.name
    closure = _CONV2D_TRANSPOSE.bind(
        shape=static(output_shape),
        strides=_spread(strides, 2, "strides", last, kernel),
        padding=_padding(padding, 2, last, kernel),
        dilations=_spread(dilations, 2, "dilations", last, kernel),
        last=last,
    )
    return apply(closure, tuple(matching((input, filters))))


def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """Each channel of `input` convolved by itself with `filter` [h, w, in, multiplier].

    >>> import tape_compat as tf
    >>> x = tf.ones([1, 4, 4, 3])
    >>> tf.nn.depthwise_conv2d(x, tf.ones([3, 3, 3, 2]), [1, 1, 1, 1], "SAME").shape
    TensorShape([1, 4, 4, 6])
    """
    last = _channels_last(data_format)
    closure = _DEPTHWISE.bind(
        strides=_spread(strides, 2, "strides", last, _DEPTHWISE.name),
        padding=_padding(padding, 2, last, _DEPTHWISE.name),
        dilations=_spread(dilations, 2, "dilations", last, _DEPTHWISE.name),
        last=last,
        depthwise=True,
    )
    return apply(closure, tuple(matching((input, filter))))


def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """`depthwise_conv2d`, then a convolution with `pointwise_filter` [1, 1, channels, out].

    >>> import tape_compat as tf
    >>> x, d, p = tf.ones([1, 4, 4, 3]), tf.ones([3, 3, 3, 2]), tf.ones([1, 1, 6, 5])
    >>> tf.nn.separable_conv2d(x, d, p, [1, 1, 1, 1], "VALID").shape
    TensorShape([1, 2, 2, 5])
    """
    deep = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return conv2d(deep, pointwise_filter, 1, "VALID", data_format or "NHWC")


# -- pooling ---------------------------------------------------------------------------------------


def _whole(window: tuple[int, ...], last: bool) -> tuple[int, ...]:
    return (1, *window, 1) if last else (1, 1, *window)


def _pairs(x: Any, window: tuple[int, ...], strides: tuple[int, ...], padding: Any) -> Any:
    if isinstance(padding, str):
        return lax.padtype_to_pads(x.shape, window, strides, padding)
    return padding


def _tiles(x: Any, window: tuple[int, ...], strides: tuple[int, ...], pairs: Any) -> Any:
    """`x` cut into windows that do not overlap: a view and the axes of the windows, or None."""
    if window != strides or any(pair != (0, 0) for pair in pairs):
        return None
    counts = [n // w for n, w in zip(x.shape, window, strict=True)]
    cut = lax.slice(x, (0,) * x.ndim, [c * w for c, w in zip(counts, window, strict=True)])
    shape, axes = [], []
    for count, size in zip(counts, window, strict=True):
        shape.append(count)
        if size > 1:
            axes.append(len(shape))
            shape.append(size)
    return cut.reshape(shape), tuple(axes)


def _max_pool(
    x: Any, window: tuple[int, ...], strides: tuple[int, ...], padding: Any, last: bool
) -> Any:
    window, strides = _whole(window, last), _whole(strides, last)
    if not isinstance(padding, str):
        padding = _whole_pairs(padding, last)
    pairs = [(int(a), int(b)) for a, b in _pairs(x, window, strides, padding)]
    tiles = _tiles(x, window, strides, pairs)
    if tiles is not None and tiles[1]:
        return rules.max_of_windows(*tiles)
    floating = jnp.issubdtype(x.dtype, jnp.floating)
    lowest = -np.inf if floating else np.iinfo(x.dtype).min
    return lax.reduce_window(x, np.asarray(lowest, x.dtype), lax.max, window, strides, pairs)


def _whole_pairs(pairs: Any, last: bool) -> Any:
    none = (0, 0)
    return (none, *pairs, none) if last else (none, none, *pairs)


def _avg_pool(
    x: Any, window: tuple[int, ...], strides: tuple[int, ...], padding: Any, last: bool
) -> Any:
    window, strides = _whole(window, last), _whole(strides, last)
    if not isinstance(padding, str):
        padding = _whole_pairs(padding, last)
    pairs = [(int(a), int(b)) for a, b in _pairs(x, window, strides, padding)]
    tiles = _tiles(x, window, strides, pairs)
    if tiles is not None:
        return jnp.mean(tiles[0], axis=tiles[1])

    def total(array: Any) -> Any:
        return lax.reduce_window(array, np.zeros((), x.dtype), lax.add, window, strides, pairs)

    if all(pair == (0, 0) for pair in pairs):
        return total(x) / _math.prod(window)
    return total(x) / total(jnp.ones_like(x))


def _check_pool(kernel: str, kinds: str) -> Callable[..., None]:
    def check(avals: tuple[Aval, ...], window: tuple[int, ...], **_: Any) -> None:
        _check_dtypes(kernel, kinds)(avals)
        rank = len(window)
        if len(avals[0].shape) != rank + 2:
            raise invalid(
                f"tensor_in_shape must have {rank} spatial dimensions. "
                f"Got shape {_shown(avals[0].shape)}",
                kernel,
            )

    return check


_POOLS = {
    ("max", 1): Op(_max_pool, "MaxPool", check=_check_pool("MaxPool", _REAL)),
    ("max", 2): Op(_max_pool, "MaxPool", check=_check_pool("MaxPool", _REAL)),
    ("max", 3): Op(_max_pool, "MaxPool3D", check=_check_pool("MaxPool3D", "float")),
    ("avg", 1): Op(_avg_pool, "AvgPool", check=_check_pool("AvgPool", "float")),
    ("avg", 2): Op(_avg_pool, "AvgPool", check=_check_pool("AvgPool", "float")),
    ("avg", 3): Op(_avg_pool, "AvgPool3D", check=_check_pool("AvgPool3D", "float")),
}


def _pool(
    kind: str, rank: int, x: Any, ksize: Any, strides: Any, padding: Any, data_format: Any
) -> Tensor:
    declared = _POOLS[kind, rank]
    last = _channels_last(data_format)
    closure = declared.bind(
        window=_spread(ksize, rank, "ksize", last, declared.name),
        strides=_spread(strides, rank, "strides", last, declared.name),
        padding=_padding(padding, rank, last, declared.name),
        last=last,
    )
    return apply(closure, (convert(x),))


def _spatial_rank(x: Any, data_format: str | None) -> int:
    rank = len(data_format) if data_format is not None else len(x.shape)
    if rank not in (3, 4, 5):
        raise ValueError(
            f"`input.shape.rank` must be 3, 4 or 5. Received: input.shape={x._aval.shape} of rank "
            f"{rank}."
        )
    return rank - 2


def max_pool(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Largest of each window; 1, 2 or 3 spatial dimensions by the rank of `input`.

    >>> import tape_compat as tf
    >>> tf.nn.max_pool(tf.reshape(tf.range(4.0), [1, 2, 2, 1]), 2, 2, "VALID").numpy().item()
    3.0
    """
    x = convert(input)
    return _pool("max", _spatial_rank(x, data_format), x, ksize, strides, padding, data_format)


def avg_pool(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Mean of each window, padding not counted; 1 to 3 spatial dimensions by the rank of `input`.

    >>> import tape_compat as tf
    >>> tf.nn.avg_pool(tf.reshape(tf.range(4.0), [1, 2, 2, 1]), 2, 2, "VALID").numpy().item()
    1.5
    """
    x = convert(input)
    return _pool("avg", _spatial_rank(x, data_format), x, ksize, strides, padding, data_format)


def _pooling(kind: str, rank: int, default: str) -> Callable[..., Tensor]:
    def pool(
        input: Any,
        ksize: Any,
        strides: Any,
        padding: Any,
        data_format: str = default,
        name: str | None = None,
    ) -> Tensor:
        return _pool(kind, rank, input, ksize, strides, padding, data_format)

    what = "Largest" if kind == "max" else "Mean"
    pool.__name__ = pool.__qualname__ = f"{kind}_pool{rank}d"
    pool.__doc__ = f"{what} of each window over {rank} spatial dimensions; see `{kind}_pool`."
    return pool


max_pool1d = _pooling("max", 1, "NWC")
max_pool2d = _pooling("max", 2, "NHWC")
max_pool3d = _pooling("max", 3, "NDHWC")
avg_pool1d = _pooling("avg", 1, "NWC")
avg_pool2d = _pooling("avg", 2, "NHWC")
avg_pool3d = _pooling("avg", 3, "NDHWC")

name_ops(globals())
