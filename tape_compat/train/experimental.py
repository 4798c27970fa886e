"""`tf.train.experimental`: what is no Variable, in checkpoints."""

from .._src.checkpoint.python_state import PythonState as PythonState
from .._src.interop.names import face as _face

_face(__name__)
