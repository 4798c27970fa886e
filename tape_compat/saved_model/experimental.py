"""`tf.saved_model.experimental`."""

from .._src.interop.names import face as _face
from .._src.library.lookup.resources import TrackableResource as TrackableResource
from .._src.library.saved_model.options import VariablePolicy as VariablePolicy

_face(__name__)
