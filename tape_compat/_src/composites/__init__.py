"""Values that are made of several tensors: ragged and sparse ones, and those of users' classes."""
