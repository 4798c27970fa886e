"""`tf.compat.v1.layers`: those of Keras 2, where the environment asks for it."""

from ..._src.standin.keras import version1_layer as __getattr__

__all__: list[str] = []
