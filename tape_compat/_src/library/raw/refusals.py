"""Errors for arguments of ops, which TensorFlow words in another way within functions."""

from __future__ import annotations

from ...core.refuse import invalid
from ...values.context import inside_function


def refused(eagerly: str, kernel: str, within: Exception) -> Exception:
    """InvalidArgumentError with the words `eagerly`; within a function, the other error."""
    return within if inside_function() else invalid(eagerly, kernel)
