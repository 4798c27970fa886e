"""`tf.experimental.extension_type`: what helps with classes made of tensors."""

from .._src.composites.extension_type import as_dict as as_dict
from .._src.interop.names import face as _face

_face(__name__)
