"""`tf.compat.v1.nn`: names whose arguments differ from those of `tf.nn`."""

from ..._src.interop.version1 import face as _face
from ..._src.library.version1.calls import (
    avg_pool as avg_pool,
    conv2d_transpose as conv2d_transpose,
    convolution as convolution,
    in_top_k as in_top_k,
    max_pool as max_pool,
)
from ..._src.ops.ctc_decoders import ctc_beam_search_decoder_v1 as ctc_beam_search_decoder
from ..._src.ops.ctc_losses import ctc_loss_v1 as ctc_loss

_face(__name__)
