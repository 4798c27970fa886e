"""Checkpoints: objects and their values in files, in the format of TensorFlow."""
