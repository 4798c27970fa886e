"""Names of TensorFlow 1 whose arguments differ from those of TensorFlow 2."""
