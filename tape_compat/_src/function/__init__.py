"""`tf.function` and what it is made of: signatures, traces, control flow, AutoGraph."""
