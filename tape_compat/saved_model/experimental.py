"""`tf.saved_model.experimental`."""

from .._src.interop.names import face as _face
from .._src.library.saved_model.options import VariablePolicy as VariablePolicy
from .._src.library.saved_model.resources import TrackableResource as TrackableResource

_face(__name__)
