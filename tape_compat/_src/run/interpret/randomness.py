"""Rules of JAX's random numbers: keys, and the hash that they come from.

A key of the Threefry generator is held as its two words, uint32 [..., 2]; one of another generator
as JAX holds it, and what reads it is compiled by JAX. The hash makes as many numbers as there are
elements, from how far each is from the first, as JAX does where `jax_threefry_partitionable` is on.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .movement import TABLE as MOVES
from .rule import Avals, Function, Params, Rule, direct, same

#: Elements that are told apart by the lower word alone.
_LOWER_WORD = 1 << 32

#: By how much the second word is rotated, four rounds at a time.
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)


def _threefry(key0: Any, key1: Any, x0: Any, x1: Any) -> tuple[Any, Any]:
    """Threefry-2x32 in 20 rounds; Salmon et al., Parallel random numbers: as easy as 1, 2, 3."""
    keys = key0, key1, key0 ^ key1 ^ _PARITY
    x0, x1 = x0 + key0, x1 + key1
    for i in range(5):
        for by in _ROTATIONS[i % 2]:
            x0 = x0 + x1
            x1 = x0 ^ (x1 << np.uint32(by) | x1 >> np.uint32(32 - by))
        x0 = x0 + keys[(i + 1) % 3]
        x1 = x1 + keys[(i + 2) % 3] + np.uint32(i + 1)
    return x0, x1


#: Primitives that hash.
HASHES = "threefry2x32", "random_bits", "random_fold_in", "random_split"

TABLE: dict[str, Rule] = {"threefry2x32": direct(_threefry)}


def is_key(aval: Any) -> bool:
    """Whether it is one of keys."""
    dtype = getattr(aval, "dtype", None)
    if dtype is None or isinstance(dtype, np.dtype):
        return False
    return jnp.issubdtype(dtype, jax.dtypes.prng_key)


def as_words(aval: Any) -> bool:
    """Whether it is one of keys that are held as their words."""
    return (
        is_key(aval)
        and str(aval.dtype) == "key<fry>"
        and bool(jax.config.jax_threefry_partitionable)  # type: ignore[attr-defined]
    )


def stack_of(aval: Any) -> tuple[tuple[int, ...], Any]:
    """The shape and dtype of what holds such arrays."""
    return ((*aval.shape, 2), np.uint32) if is_key(aval) else (aval.shape, aval.dtype)


def words_of(key: Any) -> np.ndarray:
    """The words of a key."""
    return np.asarray(jax.random.key_data(key))


def _hashed(keys: Any, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Two words for each element of each key."""
    count = np.arange(math.prod(shape), dtype=np.uint32).reshape(shape)
    keys = keys.reshape(*keys.shape[:-1], *[1] * len(shape), 2)
    return _threefry(keys[..., 0], keys[..., 1], np.uint32(0), count)


def _bits(params: Params, ins: Avals, outs: Avals) -> Function | None:
    width, shape, dtype = params["bit_width"], tuple(params["shape"]), outs[0].dtype
    if math.prod(shape) >= _LOWER_WORD:
        return None

    def bits(keys: Any) -> Any:
        high, low = _hashed(keys, shape)
        if width == 64:
            return high.astype(np.uint64) << np.uint64(32) | low
        return (high ^ low).astype(dtype)

    return bits


def _split(params: Params, ins: Avals, outs: Avals) -> Function:
    shape = tuple(params["shape"])
    return lambda keys: np.stack(_hashed(keys, shape), axis=-1)


def _fold_in(params: Params, ins: Avals, outs: Avals) -> Function:
    def folded(keys: Any, data: Any) -> Any:
        return np.stack(_threefry(keys[..., 0], keys[..., 1], np.uint32(0), data), axis=-1)

    return folded


def _select_n(params: Params, ins: Avals, outs: Avals) -> Function:
    return lambda which, *keys: np.choose(np.asarray(which, np.intp)[..., None], keys)


def _reshaped(params: Params, ins: Avals, outs: Avals) -> Function:
    shape = (*outs[0].shape, 2)
    return lambda keys: np.reshape(keys, shape)


_OF_KEYS: dict[str, Callable[[Params, Avals, Avals], Function | None]] = {
    "random_wrap": lambda *_: same,
    "random_unwrap": lambda *_: same,
    "random_bits": _bits,
    "random_split": _split,
    "random_fold_in": _fold_in,
    "reshape": _reshaped,
    "select_n": _select_n,
    "slice": MOVES["slice"].build,
    "squeeze": _reshaped,
    "unstack": MOVES["unstack"].build,
}


def of_keys(name: str, params: Params, ins: Avals, outs: Avals) -> Function | None:
    """What does an equation that takes or gives keys; None where JAX is to compile it."""
    build = _OF_KEYS.get(name)
    if build is None or not all(as_words(aval) for aval in (*ins, *outs) if is_key(aval)):
        return None
    return build(params, ins, outs)
