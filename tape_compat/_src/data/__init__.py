"""`tf.data`: pipelines of elements, streamed through NumPy until a function needs more."""
