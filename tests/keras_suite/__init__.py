"""Keras' own tests, which its wheel ships, run on us: `python -m tests keras`."""
