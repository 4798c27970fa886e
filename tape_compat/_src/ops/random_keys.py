"""Keys of random draws, from the global seed, op seeds and stateless seeds.

The rules of seeding are TensorFlow's; the numbers are those of JAX's ThreeFry generator, but for
what `philox.py` gives of stateless seeds. The key of a draw is an input of its op, one integer
worked out on the host, so draws that differ only in their seed are one structure: they compile once
and wait on a tape like any other op.
"""

from __future__ import annotations

import enum
import hashlib
import itertools
import operator
import secrets
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core import dtypes
from ..core.avals import Aval
from ..core.refuse import invalid, not_allowed, shown
from ..core.state import LOCAL
from ..values.convert import convert
from ..values.tensor import Tensor, concrete
from ..values.variable import Variable

MASK = (1 << 64) - 1

#: Steps and multipliers of SplitMix64 (Steele, Lea, Flood 2014), a bijection of 64-bit words.
STEP = 0x9E3779B97F4A7C15
_WORD = Aval.of((), dtypes.uint64)


def mix(word: int) -> int:
    """A bijection of 64-bit words that looks random."""
    word &= MASK
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
    return word ^ (word >> 31)


def _digest(*parts: Any) -> int:
    """A 64-bit word that stands for the texts of `parts`."""
    text = "/".join(map(repr, parts)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


def plain_seed(seed: Any) -> Any:
    """A seed as a Python value: equal integers are one seed, of whatever type."""
    if isinstance(seed, (Tensor, Variable)):
        seed = seed.numpy()
    try:
        return operator.index(seed)
    except TypeError:
        return seed.item() if isinstance(seed, (np.generic, np.ndarray)) else seed


class _Streams:
    """The streams of keys under one global seed: one for each op seed, one for ops without."""

    def __init__(self, seed: Any):
        self.seed = seed
        self.streams: dict[tuple, tuple[int, Callable[[], int]]] = {}

    def next_key(self, kernel: str, seed: Any) -> Tensor:
        name = ("", None) if seed is None else (kernel, seed)
        stream = self.streams.get(name)
        if stream is None:
            stream = self.streams.setdefault(
                name, (self._start(*name), itertools.count(1).__next__)
            )
        start, count = stream
        return key_of(mix(start + count() * STEP))

    def _start(self, kernel: str, seed: Any) -> int:
        if self.seed is None and seed is None:
            return secrets.randbits(64)
        return _digest(self.seed, kernel, seed)


_streams = _Streams(None)


def key_of(word: int) -> Tensor:
    """The key of a draw as a tensor on the host."""
    return concrete(np.array(word, np.uint64), _WORD)


def next_key(kernel: str, seed: Any) -> Tensor:
    """The key of the next draw: an integer on the host. In a function that is being recorded it
    stands for another one at each call."""
    if seed is not None and seed.__class__ is not int:
        seed = plain_seed(seed)
    capture = LOCAL.state.capture
    if capture is not None:
        return _Site(kernel, seed, capture.next_draw()).key()
    return _streams.next_key(kernel, seed)


def seed_word(kernel: str, seed: Any) -> int:
    """A word for what draws by itself: of the global seed and its own, or another one each time."""
    if seed is None:
        return int(_streams.next_key(kernel, None)._value())
    return _streams._start(kernel, plain_seed(seed))


class _Site:
    """A draw in a function. It has a stream of its own, of the op's seed or else of its number, so
    that functions of one kind draw the same after `set_seed`, as in TensorFlow."""

    def __init__(self, kernel: str, seed: Any, number: int):
        self._name = (kernel, seed) if seed is not None else ("", number)
        self._seeded = seed is not None
        self._streams: _Streams | None = None
        self._start = self._count = 0

    def key(self) -> Tensor:
        """The key of the next draw; in a function that is recorded it stands for that of each."""
        capture = LOCAL.state.capture
        if capture is not None:
            return capture.drawn(key_of(0), self.key)
        if self._streams is not _streams:
            self._streams, self._count = _streams, 0
            unseeded = _streams.seed is None and not self._seeded
            start = secrets.randbits(64) if unseeded else _digest(_streams.seed, *self._name)
            self._start = start
        self._count += 1
        return key_of(mix(self._start + self._count * STEP))


def set_seed(seed: Any) -> None:
    """Start all seeded random ops anew from `seed`; None makes them unpredictable again.

    A draw depends on this seed, on its op's `seed` if it has one, and on how many draws were made
    before it: of ops of the same kind with that seed, or of all ops without. An op's seed alone
    makes a program repeatable, too.

    >>> import tape_compat as tf
    >>> tf.random.set_seed(3)
    >>> a, b = tf.random.normal([2]), tf.random.normal([2])
    >>> tf.random.set_seed(3)
    >>> bool(tf.reduce_all(tf.random.normal([2]) == a)), bool(tf.reduce_all(a == b))
    (True, False)
    """
    global _streams
    _streams = _Streams(plain_seed(seed))


def seed_tensor(seed: Any) -> Tensor:
    """The seed of a stateless op."""
    kernel = "StatelessRandomGetKeyCounter"
    tensor = convert(seed)
    aval = tensor._aval
    if aval.dtype not in (dtypes.int32, dtypes.int64):
        raise not_allowed(aval.dtype, "int32, int64", kernel, "Tseed")
    if aval.shape != (2,):
        raise invalid(f"seed must have shape [2], not {shown(aval.shape)}", kernel)
    return tensor


def typed_key(word: Any) -> Any:
    """JAX's key of a drawn word, uint64 [], or of a stateless seed, int32 or int64 [2]."""
    if word.ndim == 0:
        return _wrap(jnp.stack([word >> 32, word]).astype(np.uint32))
    word = word.astype(np.int64)
    high = (word >> 32).astype(np.uint32)
    return jax.random.fold_in(jax.random.fold_in(_wrap(word.astype(np.uint32)), high[0]), high[1])


def _wrap(words: Any) -> Any:
    return jax.random.wrap_key_data(words, impl="threefry2x32")


class Algorithm(enum.Enum):
    """The generators that TensorFlow names. Here they lay out a state; JAX draws the numbers."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


def algorithm_number(alg: Any) -> int:
    """The number of an algorithm given as such, as its name, or as an `Algorithm`."""
    if alg.__class__ is str:
        found = Algorithm.__members__.get(alg.upper())
        if found is None or alg.upper() == alg:
            raise ValueError(
                f"Argument `alg` got unsupported value {alg}. Supported values are philox for the "
                "Philox algorithm, threefry for the ThreeFry algorithm, and auto_select for "
                "auto-selection."
            )
        return found.value
    if isinstance(alg, Algorithm):
        return alg.value
    number = int(plain_seed(alg))
    if number not in (1, 2, 3):
        raise ValueError(f"Argument `alg` got unsupported value {alg}.")
    return number
