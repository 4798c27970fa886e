"""What the faces import from: the engine, the ops, and what is built on them."""
