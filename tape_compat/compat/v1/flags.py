"""`tf.compat.v1.flags`: what `absl.flags` has."""

from ..._src.library.version1.app import face as _face, flag as __getattr__

_face(__name__)
