"""`tf.config.optimizer`: wishes about how graphs are compiled, which XLA does here."""

from .._src.interop.names import face as _face
from .._src.library.config import (
    get_experimental_options as get_experimental_options,
    get_jit as get_jit,
    set_experimental_options as set_experimental_options,
    set_jit as set_jit,
)

_face(__name__)
