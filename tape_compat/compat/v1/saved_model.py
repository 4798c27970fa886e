"""`tf.compat.v1.saved_model`: SavedModels."""

from ..._src.interop.version1 import face as _face
from ..._src.library.saved_model.load import (
    contains_saved_model as contains_saved_model,
)

_face(__name__)
