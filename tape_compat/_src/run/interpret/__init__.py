"""Jaxprs run by NumPy, one call a primitive, where compiling them does not pay."""
