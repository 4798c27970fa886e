"""The engine: tensors, variables, recorded programs and what runs them."""
