"""Cases where we part from TensorFlow on purpose: id to reason. Each must differ, and is expected to fail."""

DIFFERENCES: dict[str, str] = {}
