"""`tf.autograph.experimental`: what is converted, and options of loops."""

from .._src.function.autograph.entry import do_not_convert as do_not_convert
from .._src.function.autograph.inspect_code import Feature as Feature
from .._src.function.autograph.transpile import set_loop_options as set_loop_options
from .._src.interop.names import face as _face

_face(__name__)
