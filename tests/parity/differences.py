"""Cases where we part from TensorFlow on purpose: id to reason. Each is expected to differ."""

DIFFERENCES: dict[str, str] = {}
