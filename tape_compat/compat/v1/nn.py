"""`tf.compat.v1.nn`: the names of TensorFlow 1 whose arguments differ."""

from ..._src.interop.names import face as _face
from ..._src.ops.ctc_decoders import ctc_beam_search_decoder_v1 as ctc_beam_search_decoder
from ..._src.ops.ctc_losses import ctc_loss_v1 as ctc_loss

_face(__name__)
