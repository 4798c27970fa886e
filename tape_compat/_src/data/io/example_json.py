"""Examples written as JSON, in the form that Protocol Buffers give it."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.refuse import invalid
from ...ops.arguments import sketches_as
from ...ops.strings import as_strings, each, text_values
from ...values.tensor import Tensor
from .wire import FIXED32, field, fixed_field, number_field

_KERNEL = "DecodeJSONExample"
#: What JSON writes of numbers that it has none for.
_NAMES = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


@sketches_as(dtypes.string)
def decode_json_example(json_examples: Any, name: str | None = None) -> Tensor:
    """The bytes of `tf.train.Example`s that are given as JSON.

    Args:
      json_examples: string tensor [...]. Bytes are in base64; integers of 64 bits may be texts.
    Returns: string tensor [...], for `tf.io.parse_example`.
    Raises: InvalidArgumentError for what is no JSON of an Example.

    >>> import tape_compat as tf
    >>> text = '{"features": {"feature": {"a": {"int64List": {"value": ["7"]}}}}}'
    >>> found = tf.io.decode_json_example(text)
    >>> int(tf.io.parse_single_example(found, {"a": tf.io.FixedLenFeature([], tf.int64)})["a"])
    7
    """
    return as_strings(each(_example, text_values(json_examples, "DecodeJSONExample")))


def _refused(reason: str) -> Exception:
    return invalid(f"Error while parsing JSON: {reason}", _KERNEL)


def _example(text: bytes) -> bytes:
    if not text.strip():
        raise _refused("unexpected EOF")
    try:
        found = json.loads(text, parse_constant=_no_constant)
    except ValueError as error:
        raise _refused(f"invalid JSON in type.googleapis.com/tensorflow.Example: {error}") from None
    return _message(found, "", {"features": (1, _features)})


def _no_constant(word: str) -> Any:
    raise ValueError(f"unexpected {word}, which is a text here")


def _wrong(at: str, reason: str) -> Exception:
    place = f" @ {at[1:]}" if at else ""
    return _refused(f"invalid JSON in type.googleapis.com/tensorflow.Example{place}: {reason}")


_Writer = Callable[[Any, str], bytes]


def _message(value: Any, at: str, known: Mapping[str, tuple[int, _Writer]]) -> bytes:
    """A message of fields that are messages. A field may be null, which is none."""
    if not isinstance(value, dict):
        raise _wrong(at, "a message is an object")
    out = b""
    for key, item in value.items():
        if key not in known:
            raise _wrong(at, f"no such field: '{key}'")
        number, write = known[key]
        if item is not None:
            out += field(number, write(item, f"{at}.{key}"))
    return out


def _features(value: Any, at: str) -> bytes:
    if not isinstance(value, dict) or set(value) - {"feature"}:
        raise _wrong(at, "no such field, where only 'feature' is one")
    entries = value.get("feature")
    if entries is None:
        return b""
    if not isinstance(entries, dict):
        raise _wrong(f"{at}.feature", "a map is an object")
    return b"".join(
        field(1, field(1, key.encode()) + field(2, _feature(item, f"{at}.feature[{i}]")))
        for i, (key, item) in enumerate(entries.items())
    )


def _feature(value: Any, at: str) -> bytes:
    given = [v for v in value.values() if v is not None] if isinstance(value, dict) else []
    if len(given) > 1:
        raise _wrong(at, "a feature holds one list, of one kind")
    return _message(value, at, _LISTS)


def _values(write: _Writer) -> _Writer:
    """The writer of a list: each value a field of its own."""

    def written(value: Any, at: str) -> bytes:
        if not isinstance(value, dict) or set(value) - {"value"}:
            raise _wrong(at, "no such field, where only 'value' is one")
        items = value.get("value")
        items = [] if items is None else items if isinstance(items, list) else [items]
        return b"".join(write(item, f"{at}.value[{i}]") for i, item in enumerate(items))

    return written


def _bytes(item: Any, at: str) -> bytes:
    if not isinstance(item, str):
        raise _wrong(at, "bytes are a text in base64")
    plain = item.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return field(1, base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True))
    except binascii.Error as error:
        raise _wrong(at, f"bytes are a text in base64: {error}") from None


def _number(item: Any, at: str) -> Any:
    """A number, or a text that holds one."""
    if isinstance(item, str) and _NUMBER.fullmatch(item):
        item = json.loads(item)
    if isinstance(item, bool) or not isinstance(item, (int, float)):
        raise _wrong(at, f"{item!r} is no number")
    return item


def _float(item: Any, at: str) -> bytes:
    number = _NAMES.get(item) if isinstance(item, str) else None
    if number is None:
        number = float(_number(item, at))
        if abs(number) > np.finfo(np.float32).max:
            raise _wrong(at, f"{number} is no float of 32 bits")
    return fixed_field(1, FIXED32, np.array(number, "<f4").tobytes())


def _integer(item: Any, at: str) -> bytes:
    number = _number(item, at)
    if not math.isfinite(number) or number != int(number) or not -(2**63) <= number < 2**63:
        raise _wrong(at, f"{number} is no integer of 64 bits")
    return number_field(1, int(number))


_KINDS = (("bytes", 1, _bytes), ("float", 2, _float), ("int64", 3, _integer))
#: The lists of a feature, by both of their names.
_LISTS: dict[str, tuple[int, _Writer]] = {
    f"{kind}{ending}": (number, _values(write))
    for kind, number, write in _KINDS
    for ending in ("List", "_list")
}
