"""`tf.graph_util`: graphs of GraphDefs."""

from ._src.interop.names import face as _face
from ._src.library.saved_model.import_graph import import_graph_def as import_graph_def

_face(__name__)
