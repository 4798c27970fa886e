"""`tf.raw_ops`: the kernels of TensorFlow that are here, by keyword arguments."""

from ._src.interop.raw_ops import face as _face

_face(__name__)
