"""`tf.nn`: activations, losses, normalization, embeddings, convolutions, pooling."""

from .ops.activations import crelu as crelu
from .ops.activations import elu as elu
from .ops.activations import gelu as gelu
from .ops.activations import leaky_relu as leaky_relu
from .ops.activations import relu as relu
from .ops.activations import relu6 as relu6
from .ops.activations import selu as selu
from .ops.activations import silu as silu
from .ops.activations import swish as swish
from .ops.convolutions import conv1d as conv1d
from .ops.convolutions import conv2d as conv2d
from .ops.convolutions import conv2d_transpose as conv2d_transpose
from .ops.convolutions import conv3d as conv3d
from .ops.convolutions import convolution as convolution
from .ops.convolutions import depthwise_conv2d as depthwise_conv2d
from .ops.convolutions import separable_conv2d as separable_conv2d
from .ops.counting import in_top_k as in_top_k
from .ops.counting import top_k as top_k
from .ops.counting import zero_fraction as zero_fraction
from .ops.elementwise import log_softmax as log_softmax
from .ops.elementwise import sigmoid as sigmoid
from .ops.elementwise import softmax as softmax
from .ops.elementwise import softplus as softplus
from .ops.elementwise import softsign as softsign
from .ops.elementwise import tanh as tanh
from .ops.embedding import dropout as dropout
from .ops.embedding import embedding_lookup as embedding_lookup
from .ops.losses import compute_average_loss as compute_average_loss
from .ops.losses import l2_loss as l2_loss
from .ops.losses import log_poisson_loss as log_poisson_loss
from .ops.losses import sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits
from .ops.losses import softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits
from .ops.losses import (
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
)
from .ops.losses import weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits
from .ops.normalization import batch_normalization as batch_normalization
from .ops.normalization import bias_add as bias_add
from .ops.normalization import moments as moments
from .ops.normalization import weighted_moments as weighted_moments
from .ops.pooling import avg_pool as avg_pool
from .ops.pooling import avg_pool1d as avg_pool1d
from .ops.pooling import avg_pool2d as avg_pool2d
from .ops.pooling import avg_pool3d as avg_pool3d
from .ops.pooling import max_pool as max_pool
from .ops.pooling import max_pool1d as max_pool1d
from .ops.pooling import max_pool2d as max_pool2d
from .ops.pooling import max_pool3d as max_pool3d
from .ops.sums import l2_normalize as l2_normalize
