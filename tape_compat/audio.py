"""`tf.audio`: sound in files."""

from ._src.interop.names import face as _face
from ._src.ops.signals.sound import decode_wav as decode_wav, encode_wav as encode_wav

_face(__name__)
