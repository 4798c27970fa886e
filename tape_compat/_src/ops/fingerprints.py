"""`tf.fingerprint`: hashes of rows of bytes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.refuse import invalid
from ..values.convert import convert
from ..values.host_steps import by_host
from ..values.tensor import Tensor, concrete
from .arguments import known_value, sketched
from .hashing import fingerprint64

#: How many bytes a fingerprint has.
_SIZE = 8


@by_host()
def fingerprint(data: Any, method: Any = "farmhash64", name: str | None = None) -> Tensor:
    """A fingerprint of each row of `data`, uint8 [rows, 8].

    Args:
      data: numbers or texts [rows, ...]. Of numbers the bytes count as they are in memory.
      method: "farmhash64", the only one there is.
    Raises: InvalidArgumentError for another method, or for a number alone.

    >>> import tape_compat as tf
    >>> tf.fingerprint(tf.constant(["a", "b"])).shape
    TensorShape([2, 8])
    """
    x = convert(data)
    sketch = sketched(x)
    if sketch is not None:
        return sketch.tensor((x._aval.shape[0], _SIZE), dtypes.uint8)
    wanted = known_value(convert(method)).item()
    if wanted != b"farmhash64":
        raise invalid(f"Unsupported fingerprint method: {wanted.decode()}", "Fingerprint")
    values = known_value(x)
    if not values.ndim:
        raise invalid("`data` should have at least one dimension: []", "Fingerprint")
    return concrete(_rows(values))


def _rows(values: np.ndarray) -> np.ndarray:
    count, columns = len(values), math.prod(values.shape[1:])
    if values.dtype == object:
        words = [fingerprint64(text) for text in values.ravel().tolist()]
        found = _bytes(words).reshape(count, columns * _SIZE)
        return found if values.ndim == 1 else _rows(found)
    flat = np.ascontiguousarray(values).reshape(count, columns)
    return _bytes([fingerprint64(row.tobytes()) for row in flat])


def _bytes(numbers: list[int]) -> np.ndarray:
    return np.array(numbers, "<u8").view(np.uint8).reshape(len(numbers), _SIZE)
