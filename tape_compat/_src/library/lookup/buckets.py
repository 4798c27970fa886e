"""The form of a `DenseHashTable` in checkpoints: buckets, each with a key or the empty key.

A key stands in the bucket that its hash says, or as many further as there were taken before, by
one, two, three steps. Source: TensorFlow, lookup_table_op.cc and hash.cc (MurmurHash64A).
"""

from __future__ import annotations

from typing import Any

_MASK = (1 << 64) - 1
_FACTOR, _SHIFT, _SEED = 0xC6A4A7935BD1E995, 47, 0xDECAFCAFFE
#: What the hashes of the parts of a vector are combined with.
_GOLDEN = 0x9E3779B97F4A7800
#: The greatest share of buckets with keys.
_LOAD = 0.8


def _hash64(data: bytes) -> int:
    found = _SEED ^ (len(data) * _FACTOR & _MASK)
    whole = len(data) - len(data) % 8
    for at in range(0, whole, 8):
        word = int.from_bytes(data[at : at + 8], "little") * _FACTOR & _MASK
        word = (word ^ word >> _SHIFT) * _FACTOR & _MASK
        found = (found ^ word) * _FACTOR & _MASK
    if whole < len(data):
        found = (found ^ int.from_bytes(data[whole:], "little")) * _FACTOR & _MASK
    found = (found ^ found >> _SHIFT) * _FACTOR & _MASK
    return found ^ found >> _SHIFT


def _hash(key: Any) -> int:
    if isinstance(key, bytes):
        return _hash64(key)
    if not isinstance(key, tuple):
        return key & _MASK
    found = 0
    for each in key:
        more = _hash(each) + _GOLDEN + (found << 10) + (found >> 4)
        found ^= more & _MASK
    return found


def in_buckets(keys: list[Any], empty: Any) -> list[tuple[Any, int | None]]:
    """The keys of the buckets, each with its position among `keys`, or None where it is empty.

    >>> in_buckets([5, 9], 0)
    [(0, None), (5, 0), (9, 1), (0, None)]
    """
    size = 4
    while len(keys) > size * _LOAD:
        size *= 2
    found: list[tuple[Any, int | None]] = [(empty, None)] * size
    for position, key in enumerate(keys):
        at, step = _hash(key) % size, 0
        while found[at][1] is not None:
            step += 1
            at = (at + step) % size
        found[at] = key, position
    return found
