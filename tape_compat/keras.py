"""The part of `tf.keras` that is here: `tf.keras.optimizers`, the same as `tf.optimizers`."""

from . import optimizers as optimizers
