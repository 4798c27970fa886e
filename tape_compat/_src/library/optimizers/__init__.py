"""Optimizers that step as Keras 3's do."""
