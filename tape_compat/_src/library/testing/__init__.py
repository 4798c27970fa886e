"""`tf.test`: test cases of unittest that compare tensors."""
