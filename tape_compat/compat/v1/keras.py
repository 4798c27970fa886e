"""`tf.compat.v1.keras`: what `tf.keras` is, as in TensorFlow with Keras 3; Keras 2 has its own."""

from ..._src.standin.keras import face as _face, version1_attribute as __getattr__

_face(__name__)
