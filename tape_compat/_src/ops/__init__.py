"""The ops, one row each, by what they do. `tf.math`, `tf.nn`, ... are lists of their names."""
