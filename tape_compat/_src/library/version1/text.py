"""Text as str or bytes, and the kinds of Python's numbers."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)
bytes_or_text_types = (bytes, str)


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Text, or bytes that encode it, as str.

    Raises: TypeError for anything else.

    >>> import tape_compat as tf
    >>> tf.compat.as_text(b"a"), tf.compat.as_text("b")
    ('a', 'b')
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Text, or bytes that encode it, as bytes.

    Raises: TypeError for anything else.

    >>> import tape_compat as tf
    >>> tf.compat.as_bytes("a"), tf.compat.as_bytes(b"b")
    (b'a', b'b')
    """
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_str(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """The same as `as_text`."""
    return as_text(bytes_or_text, encoding)


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """`as_text` of bytes, `str` of anything else.

    >>> import tape_compat as tf
    >>> tf.compat.as_str_any(b"a"), tf.compat.as_str_any(1)
    ('a', '1')
    """
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """A path as str; what is no path as it is.

    >>> import pathlib, tape_compat as tf
    >>> tf.compat.path_to_str(pathlib.PurePosixPath("a") / "b")
    'a/b'
    """
    return as_str_any(path.__fspath__()) if hasattr(path, "__fspath__") else path
