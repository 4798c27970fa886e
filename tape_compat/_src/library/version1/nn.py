"""`tf.compat.v1.nn`: one row a function, where only parameters differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...autodiff.custom import stop_gradient
from ...ops import (
    activations,
    convolutions,
    depthwise,
    elementwise,
    embedding,
    fractional_pooling,
    fused_normalization,
    losses,
    morphology,
    normalization,
    pooling,
    products,
    sampled_losses,
    sparse_embedding,
)
from ...ops.casting import cast
from ...ops.gather_scatter import gather
from ...ops.joining import concat
from ...values.convert import convert
from ...values.tensor import Tensor
from ..raw.calls import raw_op
from .renamed import renamed

# -- activations and losses ----------------------------------------------------------------------

softmax = renamed(elementwise.softmax, "logits axis=None name=None dim:axis")
log_softmax = renamed(elementwise.log_softmax, "logits axis=None name=None dim:axis")
crelu = renamed(activations.crelu, "features name=None axis=-1")
weighted_cross_entropy_with_logits = renamed(
    losses.weighted_cross_entropy_with_logits,
    "labels=None logits=None pos_weight=None name=None targets:labels",
)
softmax_cross_entropy_with_logits_v2 = renamed(
    losses.softmax_cross_entropy_with_logits, "labels logits axis=None name=None dim:axis"
)


def softmax_cross_entropy_with_logits(
    labels: Any = None,
    logits: Any = None,
    dim: Any = -1,
    name: str | None = None,
    axis: Any = None,
) -> Tensor:
    """See `tf.nn.softmax_cross_entropy_with_logits`; labels have no gradient."""
    if labels is None or logits is None:
        raise ValueError(
            "Both `labels` and `logits` must be provided. Received: "
            f"labels={labels}, logits={logits}"
        )
    axis = dim if axis is None else axis
    return losses.softmax_cross_entropy_with_logits(stop_gradient(labels), logits, axis)


def dropout(
    x: Any,
    keep_prob: Any = None,
    noise_shape: Any = None,
    seed: Any = None,
    name: str | None = None,
    rate: Any = None,
) -> Tensor:
    """See `tf.nn.dropout`; `keep_prob` is 1 - rate.

    Raises: ValueError for none of the two, or both.

    >>> import tape_compat as tf
    >>> tf.compat.v1.nn.dropout([1.0, 2.0], keep_prob=1.0).numpy().tolist()
    [1.0, 2.0]
    """
    if keep_prob is not None and rate is not None:
        raise ValueError("Cannot specify both 'keep_prob' and 'rate'.")
    if keep_prob is not None:
        rate = 1.0 - keep_prob
    if rate is None:
        raise ValueError(f"`rate` must be provided. Received: rate={rate}")
    return embedding.dropout(x, rate, noise_shape, seed)


def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """x @ weights + biases."""
    return normalization.bias_add(products.matmul(x, weights), biases)


def relu_layer(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """relu(x @ weights + biases)."""
    return activations.relu(xw_plus_b(x, weights, biases))


# -- convolutions and pools ----------------------------------------------------------------------

conv1d = renamed(
    convolutions.conv1d,
    "value:input filters=None stride=None padding=None ~use_cudnn_on_gpu=None data_format=None "
    "name=None input=None dilations=None",
)
conv2d = renamed(
    convolutions.conv2d,
    "input filter:filters strides=None padding=None ~use_cudnn_on_gpu=True data_format='NHWC' "
    "dilations=[1,1,1,1] name=None filters=None",
)
conv3d = renamed(
    convolutions.conv3d,
    "input filter:filters strides=None padding=None data_format='NDHWC' "
    "dilations=[1,1,1,1,1] name=None filters=None",
)
conv3d_transpose = renamed(
    convolutions.conv3d_transpose,
    "value:input filter:filters output_shape=None strides=None padding='SAME' "
    "data_format='NDHWC' name=None input=None filters=None dilations=None",
)
depthwise_conv2d = renamed(
    depthwise.depthwise_conv2d,
    "input filter strides padding rate:dilations name=None data_format=None dilations=None",
)
depthwise_conv2d_native = renamed(
    depthwise.depthwise_conv2d,
    "input filter strides padding data_format='NHWC' ~dilations=[1,1,1,1] name=None",
    "depthwise_conv2d_native",
)
separable_conv2d = renamed(
    depthwise.separable_conv2d,
    "input depthwise_filter pointwise_filter strides padding rate:dilations name=None "
    "data_format=None dilations=None",
)
conv2d_backprop_input = renamed(
    convolutions.conv2d_transpose,
    "input_sizes>output_shape filter:filters out_backprop>input=None strides=None padding=None "
    "~use_cudnn_on_gpu=True data_format='NHWC' dilations=[1,1,1,1] name=None filters=None",
    "conv2d_backprop_input",
)


def conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of `conv2d` by its filters, of shape `filter_sizes`, by that of its result.

    >>> import tape_compat as tf
    >>> x, dy = tf.ones([1, 3, 3, 1]), tf.ones([1, 2, 2, 1])
    >>> back = tf.compat.v1.nn.conv2d_backprop_filter
    >>> back(x, [2, 2, 1, 1], dy, [1, 1, 1, 1], "VALID").numpy().ravel().tolist()
    [4.0, 4.0, 4.0, 4.0]
    """
    ends: list[Any] = []
    if not isinstance(padding, str):
        padding, ends = "EXPLICIT", [end for pair in padding for end in pair]
    return raw_op("Conv2DBackpropFilter")(
        input=input,
        filter_sizes=filter_sizes,
        out_backprop=out_backprop,
        strides=list(strides),
        padding=padding,
        explicit_paddings=ends,
        data_format=data_format,
        dilations=list(dilations),
    )


def conv3d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: str,
    data_format: str = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The same of `conv3d`."""
    return raw_op("Conv3DBackpropFilterV2")(
        input=input,
        filter_sizes=filter_sizes,
        out_backprop=out_backprop,
        strides=list(strides),
        padding=padding,
        data_format=data_format,
        dilations=list(dilations),
    )


pool = renamed(
    pooling.pool,
    "input window_shape pooling_type padding dilation_rate:dilations strides=None name=None "
    "data_format=None dilations=None",
)
max_pool_with_argmax = renamed(
    pooling.max_pool_with_argmax,
    "input ksize strides padding data_format='NHWC' Targmax:output_dtype name=None "
    "output_dtype=None include_batch_in_index=False",
)
_FRACTIONAL = (
    "value pooling_ratio pseudo_random=False overlapping=False ~deterministic=False seed=0 "
    "~seed2=0 name=None"
)
fractional_avg_pool = renamed(fractional_pooling.fractional_avg_pool, _FRACTIONAL)
fractional_max_pool = renamed(fractional_pooling.fractional_max_pool, _FRACTIONAL)
_dilation2d = renamed(
    morphology.dilation2d,
    "input filter:filters strides=None rates:dilations padding=None name=None filters=None "
    "dilations=None data_format='NHWC'",
)


def dilation2d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    rates: Any = None,
    padding: Any = None,
    name: str | None = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """See `tf.nn.dilation2d`."""
    return _dilation2d(input, filter, strides, rates, padding, None, filters, dilations)


def erosion2d(
    value: Any, kernel: Any, strides: Any, rates: Any, padding: Any, name: str | None = None
) -> Tensor:
    """See `tf.nn.erosion2d`."""
    return morphology.erosion2d(value, kernel, strides, padding, "NHWC", rates)


# -- normalization -------------------------------------------------------------------------------

moments = renamed(
    normalization.moments, "x axes shift=None name=None keep_dims:keepdims keepdims=None"
)
weighted_moments = renamed(
    normalization.weighted_moments,
    "x axes frequency_weights name=None keep_dims:keepdims keepdims=None",
)
sufficient_statistics = renamed(
    normalization.sufficient_statistics,
    "x axes shift=None keep_dims:keepdims name=None keepdims=None",
)
batch_norm_with_global_normalization = renamed(
    normalization.batch_norm_with_global_normalization,
    "t:input m:mean v:variance beta=None gamma=None variance_epsilon=None "
    "scale_after_normalization=None name=None input=None mean=None variance=None",
)

#: The least number that is added to a variance.
_LEAST_EPSILON = 1.001e-5


def fused_batch_norm(
    x: Any,
    scale: Any,
    offset: Any,
    mean: Any = None,
    variance: Any = None,
    epsilon: Any = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
    exponential_avg_factor: Any = 1.0,
) -> tuple[Tensor, Tensor, Tensor]:
    """`x` normalized over all axes but that of the channels, then times `scale` plus `offset`.

    Args:
      mean, variance: of the channels; in training what the means move from.
      exponential_avg_factor: how far they move, 1 for all of the way.
    Returns: the result; the mean, and the variance as of a sample, of the batch in training.
    Raises: ValueError without `mean` or `variance` where they are used.

    >>> import tape_compat as tf
    >>> x = tf.constant([1.0, 3.0], shape=[2, 1, 1, 1])
    >>> y, mean, variance = tf.compat.v1.nn.fused_batch_norm(x, [1.0], [0.0])
    >>> y.numpy().ravel().round(2).tolist(), mean.numpy().tolist(), variance.numpy().tolist()
    ([-1.0, 1.0], [2.0], [2.0])
    """
    if (not is_training or exponential_avg_factor != 1.0) and (mean is None or variance is None):
        raise ValueError(
            "Both `mean` and `variance` must be a 1D tensor when `is_training` is False or "
            f"`exponential_avg_factor` != 1.0. Received: `mean` {mean!r} and `variance` "
            f"{variance!r}"
        )
    y, mean, variance, *_ = fused_normalization.fused_batch_norm(
        x,
        scale,
        offset,
        [] if mean is None else mean,
        [] if variance is None else variance,
        max(epsilon, _LEAST_EPSILON),
        exponential_avg_factor,
        data_format,
        is_training,
    )
    return y, mean, variance


# -- embeddings ----------------------------------------------------------------------------------


def _of_parts(params: Any) -> Sequence[Any] | None:
    """The parts of a table that is given as several, None for one that is whole."""
    if not isinstance(params, list) or len(params) < 2:
        return None
    return [part if hasattr(part, "shape") else convert(part) for part in params]


def _places(parts: Sequence[Any], ids: Any) -> Tensor:
    """Where rows of a table stand after its parts are joined, if they were dealt out in turn."""
    ids, sizes = convert(ids), [int(part.shape[0]) for part in parts]
    begins = [sum(sizes[:at]) for at in range(len(sizes))]
    part = ids % len(parts)
    return gather(cast(begins, ids.dtype), part) + ids // len(parts)


def _whole(params: Any, partition_strategy: str) -> Any:
    """A table whose rows were dealt out to parts in turn ('mod'), else what is given.

    Raises: ValueError for another strategy than 'mod' and 'div'.
    """
    if partition_strategy not in ("mod", "div"):
        raise ValueError(
            f"Unrecognized partition strategy: {partition_strategy}.Must be one of either `mod` or "
            "`div`."
        )
    parts = _of_parts(params)
    if parts is None or partition_strategy == "div":
        return params
    count = sum(int(part.shape[0]) for part in parts)
    return gather(concat(parts, 0), _places(parts, range(count)))


def embedding_lookup(
    params: Any,
    ids: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: Any = None,
) -> Any:
    """See `tf.nn.embedding_lookup`; rows of a list of tables are dealt out in turn, or with the
    strategy 'div' one part after the other.

    >>> import tape_compat as tf
    >>> parts = [tf.constant([1, 2]), tf.constant([3, 4])]
    >>> tf.compat.v1.nn.embedding_lookup(parts, [0, 1, 2]).numpy().tolist()
    [1, 3, 2]
    """
    parts = _of_parts(params)
    if parts is not None and partition_strategy == "mod":
        return embedding.embedding_lookup(concat(parts, 0), _places(parts, ids), max_norm)
    return embedding.embedding_lookup(_whole(params, partition_strategy), ids, max_norm)


def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: Any = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """See `tf.nn.embedding_lookup_sparse`."""
    return sparse_embedding.embedding_lookup_sparse(
        _whole(params, partition_strategy), sp_ids, sp_weights, combiner, max_norm
    )


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str | None = "mean",
    default_id: Any = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: Any = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """See `tf.nn.safe_embedding_lookup_sparse`."""
    weights = _whole(embedding_weights, partition_strategy)
    return sparse_embedding.safe_embedding_lookup_sparse(
        weights, sparse_ids, sparse_weights, combiner, default_id, max_norm
    )


def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str = "nce_loss",
) -> Tensor:
    """See `tf.nn.nce_loss`."""
    return sampled_losses.nce_loss(
        _whole(weights, partition_strategy),
        _whole(biases, partition_strategy),
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
    )


def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_softmax_loss",
    seed: Any = None,
) -> Tensor:
    """See `tf.nn.sampled_softmax_loss`."""
    return sampled_losses.sampled_softmax_loss(
        _whole(weights, partition_strategy),
        _whole(biases, partition_strategy),
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
        seed,
    )
