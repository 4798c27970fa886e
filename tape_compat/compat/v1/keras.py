"""`tf.compat.v1.keras`: what `tf.keras` is, as in TensorFlow with Keras 3."""

from ..._src.standin.keras import attribute as __getattr__, face as _face

_face(__name__)
