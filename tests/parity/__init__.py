"""Parity suite: the same small programs on TensorFlow and on tape_compat, outcome by outcome."""
