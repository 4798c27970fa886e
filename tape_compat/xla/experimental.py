"""`tf.xla.experimental`: what is to be compiled by XLA."""

from .._src.function.compiled import compile as compile, jit_scope as jit_scope
from .._src.interop.names import face as _face

_face(__name__)
