"""Programs and what they are made of: no tensors, no policy."""
