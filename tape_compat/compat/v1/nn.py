"""`tf.compat.v1.nn`: names whose arguments differ from those of `tf.nn`."""

from ..._src.interop.version1 import face as _face
from ..._src.library.version1.arrays import (
    depth_to_space as depth_to_space,
    space_to_batch as space_to_batch,
    space_to_depth as space_to_depth,
)
from ..._src.library.version1.calls import (
    avg_pool as avg_pool,
    avg_pool as avg_pool2d,
    conv2d_transpose as conv2d_transpose,
    convolution as convolution,
    in_top_k as in_top_k,
    max_pool as max_pool,
)
from ..._src.library.version1.nn import (
    batch_norm_with_global_normalization as batch_norm_with_global_normalization,
    conv1d as conv1d,
    conv2d as conv2d,
    conv2d_backprop_filter as conv2d_backprop_filter,
    conv2d_backprop_input as conv2d_backprop_input,
    conv3d as conv3d,
    conv3d_backprop_filter as conv3d_backprop_filter,
    conv3d_backprop_filter as conv3d_backprop_filter_v2,
    conv3d_transpose as conv3d_transpose,
    crelu as crelu,
    depthwise_conv2d as depthwise_conv2d,
    depthwise_conv2d_native as depthwise_conv2d_native,
    dilation2d as dilation2d,
    dropout as dropout,
    embedding_lookup as embedding_lookup,
    embedding_lookup_sparse as embedding_lookup_sparse,
    erosion2d as erosion2d,
    fractional_avg_pool as fractional_avg_pool,
    fractional_max_pool as fractional_max_pool,
    fused_batch_norm as fused_batch_norm,
    log_softmax as log_softmax,
    max_pool_with_argmax as max_pool_with_argmax,
    moments as moments,
    nce_loss as nce_loss,
    pool as pool,
    relu_layer as relu_layer,
    safe_embedding_lookup_sparse as safe_embedding_lookup_sparse,
    sampled_softmax_loss as sampled_softmax_loss,
    separable_conv2d as separable_conv2d,
    softmax as softmax,
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2 as softmax_cross_entropy_with_logits_v2,
    sufficient_statistics as sufficient_statistics,
    weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
    weighted_moments as weighted_moments,
    xw_plus_b as xw_plus_b,
)
from ..._src.ops.ctc_decoders import ctc_beam_search_decoder_v1 as ctc_beam_search_decoder
from ..._src.ops.ctc_losses import (
    ctc_loss as ctc_loss_v2,
    ctc_loss_v1 as ctc_loss,
)
from ..._src.ops.losses import (
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
)

_face(__name__)
