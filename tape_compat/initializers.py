"""`tf.initializers`: those of Keras, loaded when one is first used."""

from ._src.standin.keras import attribute as __getattr__, face as _face

_face(__name__)
