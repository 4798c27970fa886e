"""The hot paths in C."""
