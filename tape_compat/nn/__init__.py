"""`tf.nn`: activations, losses, normalization, embeddings, convolutions, pooling."""

from .._src.interop.names import face as _face
from .._src.ops.activations import (
    crelu as crelu,
    elu as elu,
    gelu as gelu,
    leaky_relu as leaky_relu,
    relu as relu,
    relu6 as relu6,
    selu as selu,
    silu as silu,
    swish as swish,
)
from .._src.ops.blocks import (
    depth_to_space as depth_to_space,
    space_to_batch as space_to_batch,
    space_to_depth as space_to_depth,
)
from .._src.ops.candidates import (
    all_candidate_sampler as all_candidate_sampler,
    compute_accidental_hits as compute_accidental_hits,
    fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler as learned_unigram_candidate_sampler,
)
from .._src.ops.convolutions import (
    atrous_conv2d as atrous_conv2d,
    atrous_conv2d_transpose as atrous_conv2d_transpose,
    conv1d as conv1d,
    conv1d_transpose as conv1d_transpose,
    conv2d as conv2d,
    conv2d_transpose as conv2d_transpose,
    conv3d as conv3d,
    conv3d_transpose as conv3d_transpose,
    conv_transpose as conv_transpose,
    convolution as convolution,
)
from .._src.ops.counting import (
    approx_max_k as approx_max_k,
    approx_min_k as approx_min_k,
    in_top_k as in_top_k,
    top_k as top_k,
    zero_fraction as zero_fraction,
)
from .._src.ops.ctc_decoders import (
    ctc_beam_search_decoder as ctc_beam_search_decoder,
    ctc_greedy_decoder as ctc_greedy_decoder,
)
from .._src.ops.ctc_labels import (
    collapse_repeated as collapse_repeated,
    ctc_unique_labels as ctc_unique_labels,
)
from .._src.ops.ctc_losses import ctc_loss as ctc_loss
from .._src.ops.depthwise import (
    depthwise_conv2d as depthwise_conv2d,
    depthwise_conv2d_backprop_filter as depthwise_conv2d_backprop_filter,
    depthwise_conv2d_backprop_input as depthwise_conv2d_backprop_input,
    separable_conv2d as separable_conv2d,
)
from .._src.ops.dilated_blocks import with_space_to_batch as with_space_to_batch
from .._src.ops.elementwise import (
    log_softmax as log_softmax,
    sigmoid as sigmoid,
    softmax as softmax,
    softplus as softplus,
    softsign as softsign,
    tanh as tanh,
)
from .._src.ops.embedding import dropout as dropout, embedding_lookup as embedding_lookup
from .._src.ops.fractional_pooling import (
    fractional_avg_pool as fractional_avg_pool,
    fractional_max_pool as fractional_max_pool,
)
from .._src.ops.isotonic import isotonic_regression as isotonic_regression
from .._src.ops.losses import (
    compute_average_loss as compute_average_loss,
    l2_loss as l2_loss,
    log_poisson_loss as log_poisson_loss,
    scale_regularization_loss as scale_regularization_loss,
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
)
from .._src.ops.morphology import dilation2d as dilation2d, erosion2d as erosion2d
from .._src.ops.normalization import (
    batch_norm_with_global_normalization as batch_norm_with_global_normalization,
    batch_normalization as batch_normalization,
    bias_add as bias_add,
    local_response_normalization as local_response_normalization,
    local_response_normalization as lrn,
    moments as moments,
    normalize_moments as normalize_moments,
    sufficient_statistics as sufficient_statistics,
    weighted_moments as weighted_moments,
)
from .._src.ops.pooling import (
    avg_pool as avg_pool,
    avg_pool1d as avg_pool1d,
    avg_pool2d as avg_pool2d,
    avg_pool3d as avg_pool3d,
    max_pool as max_pool,
    max_pool1d as max_pool1d,
    max_pool2d as max_pool2d,
    max_pool3d as max_pool3d,
    max_pool_with_argmax as max_pool_with_argmax,
    pool as pool,
)
from .._src.ops.sampled_losses import (
    nce_loss as nce_loss,
    sampled_softmax_loss as sampled_softmax_loss,
)
from .._src.ops.sparse_embedding import (
    embedding_lookup_sparse as embedding_lookup_sparse,
    safe_embedding_lookup_sparse as safe_embedding_lookup_sparse,
)
from .._src.ops.sums import l2_normalize as l2_normalize
from . import experimental as experimental

_face(__name__)
