"""Benchmarks of tape_compat beside TensorFlow, JAX by hand and PyTorch: `python -m benchmarks`."""
