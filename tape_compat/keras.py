"""`tf.keras`: Keras 3 on its TensorFlow backend on top of us, loaded when it is first used.

Where Keras is not installed, or the real TensorFlow has been imported, it has our own optimizers.
"""

from ._src.standin.keras import attribute as __getattr__, face as _face

_face(__name__)
