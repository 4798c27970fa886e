"""`tf.experimental.extension_type`: what helps with classes made of tensors."""

from .._src.interop.names import face as _face
from .._src.values.extension_type import as_dict as as_dict

_face(__name__)
