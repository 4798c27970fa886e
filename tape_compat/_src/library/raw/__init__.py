"""`tf.raw_ops`: kernels as ops, by TensorFlow's definitions of them."""
