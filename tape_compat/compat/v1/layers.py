"""`tf.compat.v1.layers`: those of Keras 2, where the environment asks for it."""

from ..._src.standin.keras import version1_face as _face, version1_layer as __getattr__

_face(__name__)
