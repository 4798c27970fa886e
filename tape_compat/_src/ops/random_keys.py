"""Keys of random draws, from the global seed, op seeds and stateless seeds.

The rules of seeding and the numbers are TensorFlow's, but for what `philox.py` does not give: these
come from JAX's ThreeFry generator, by the same keys. The key of a draw is an input of its op, four
words worked out on the host, so draws that differ only in their seed are one structure: they
compile once and wait on a tape like any other op.
"""

from __future__ import annotations

import enum
import operator
import os
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..core import dtypes, limits
from ..core.avals import Aval
from ..core.errors import user_location
from ..core.op import Op
from ..core.refuse import invalid, not_allowed, shown
from ..core.state import LOCAL
from ..values.capture import Drawn
from ..values.convert import convert
from ..values.tensor import Tensor, concrete
from ..values.variable import Variable

MASK = (1 << 64) - 1

#: Steps and multipliers of SplitMix64 (Steele, Lea, Flood 2014), a bijection of 64-bit words.
STEP = 0x9E3779B97F4A7C15

#: Of a draw: where the counter of its generator begins (two words), the key of the generator, and
#: how many draws of as many numbers came before this one.
KEY = Aval.of((4,), dtypes.uint64)

#: Blocks of four words that belong to a number; a draw moves the counter by so many for each.
RESERVED = 256

#: The global seed of ops that have one of their own where none was set.
_DEFAULT_SEED = 87654321
#: Seeds are taken modulo this.
_SEEDS = (1 << 31) - 1
_LOCK = threading.Lock()


def mixed(word: Any) -> Any:
    """A bijection of 64-bit words that looks random, of an array of uint64."""
    word = (word ^ (word >> 30)) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> 27)) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> 31)


def plain_seed(seed: Any) -> Any:
    """A seed as a Python value: equal integers are one seed, of whatever type."""
    if isinstance(seed, (Tensor, Variable)):
        seed = seed.numpy()
    try:
        return operator.index(seed)
    except TypeError:
        return seed.item() if isinstance(seed, (np.generic, np.ndarray)) else seed


class SeedPair(NamedTuple):
    """What a kernel is given for a seed, in the place of an op's own and the global one."""

    key: int
    upper: int


def _pair(seed: Any, own: Any) -> tuple[int, int] | None:
    """The key and the upper counter of a generator, of the global seed and an op's own; None where
    there is neither."""
    if isinstance(own, SeedPair):
        return own
    if seed is None and own is None:
        return None
    pair = _number(_DEFAULT_SEED if seed is None else seed), _number(own)
    return pair if any(pair) else (0, _SEEDS)


def _number(seed: Any) -> int:
    if not isinstance(seed, (int, float)):
        raise TypeError(f"A seed must be an integer, not {seed!r} (at {user_location()}).")
    return int(seed % _SEEDS)


class _Streams:
    """The generators of ops under one global seed. Those with a seed of their own go on where the
    last of their kind stopped; each other one takes the next seed there is."""

    def __init__(self, seed: Any):
        self.seed = seed
        self._own_seeds = random.Random(seed)
        self._blocks: dict[tuple, int] = {}

    def next_key(self, kernel: str, seed: Any, blocks: int) -> Tensor:
        with _LOCK:
            pair = self.next_pair(seed)
            if seed is None:
                return key_of(*_unpredictable(pair))
            start = self._blocks.get((kernel, pair), 0)
            self._blocks[kernel, pair] = start + blocks
        assert pair is not None
        return key_of(*pair, start)

    def next_pair(self, seed: Any) -> tuple[int, int] | None:
        if seed is None and self.seed is not None:
            seed = self._own_seeds.randint(0, _SEEDS)
        return _pair(self.seed, seed)


_streams = _Streams(None)


#: Seeded by the system, in each process.
_UNSEEDED = random.Random()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_UNSEEDED.seed)


def _unpredictable(pair: tuple[int, int] | None) -> tuple[int, int]:
    if pair is not None:
        return pair
    return _UNSEEDED.getrandbits(64), _UNSEEDED.getrandbits(64)


def key_of(key: int, upper: int = 0, lower: int = 0, before: int = 0) -> Tensor:
    """The key of a draw as a tensor on the host; see `KEY`."""
    words = [lower & MASK, upper & MASK, key & MASK, before]
    return concrete(np.array(words, np.uint64), KEY)


def next_key(kernel: str, seed: Any, blocks: int = RESERVED) -> Tensor:
    """The key of the next draw, which takes so many blocks of words. In a function that is being
    recorded it stands for another one at each call."""
    if seed is not None and seed.__class__ is not int:
        seed = plain_seed(seed)
    capture = LOCAL.state.capture
    if capture is None:
        if LOCAL.run is not None:
            return LOCAL.run.next_key(kernel, seed, blocks)
        return _streams.next_key(kernel, seed, blocks)
    if seed is None and _streams.seed is not None:
        seed = capture.next_draw()
    return capture.drawn(key_of(0), Drawn(_Site(_pair(_streams.seed, seed)), 1))


def next_pair(seed: Any) -> tuple[int, int]:
    """Two seeds for what draws by itself, of the global seed and its own, if there is one."""
    with _LOCK:
        return _unpredictable(_streams.next_pair(plain_seed(seed)))


def get_seed(op_seed: Any) -> tuple[int | None, int | None]:
    """The seeds of an op: the global one and its own, each None where neither is given.

    >>> import tape_compat as tf
    >>> from tape_compat._src.ops.random_keys import get_seed
    >>> tf.random.set_seed(5)
    >>> get_seed(3)
    (5, 3)
    """
    with _LOCK:
        return _streams.next_pair(plain_seed(op_seed)) or (None, None)


class _Site:
    """A draw in a function. It has a generator of its own, which begins anew after `set_seed`.

    origin: the draw itself, if this one is made by calling the function that it is in.
    """

    def __init__(self, pair: tuple[int, int] | None, origin: _Site | None = None):
        self._pair, self.origin = pair, origin or self
        self._words = _unpredictable(pair)
        self._streams: _Streams | None = None
        self._count = 0

    def key(self, count: int = 1) -> Tensor:
        """The key of the next of so many draws; in a function that is recorded it stands for that
        of each call, of a generator of its own."""
        capture = LOCAL.state.capture
        if capture is not None:
            return capture.drawn(key_of(0), Drawn(_Site(self._pair, self.origin), count))
        if LOCAL.run is not None:
            return LOCAL.run.called(self)._next(count)
        return self._next(count)

    def _next(self, count: int) -> Tensor:
        counts = _RUNNING.counts
        with _LOCK:
            if counts is not None and self._pair is not None:
                before = counts.get(self, 0)
                counts[self] = before + count
                return key_of(*self._words, 0, before)
            if self._streams is not _streams:
                self._streams, self._count = _streams, 0
            before, self._count = self._count, self._count + count
        return key_of(*self._words, 0, before)

    def give_back(self, count: int) -> None:
        """Take so many draws for not made."""
        counts = _RUNNING.counts
        with _LOCK:
            if counts is not None and self._pair is not None:
                counts[self] -= count
            else:
                self._count -= count


class _Running(threading.local):
    """counts: how many draws those with a seed have made, where they are counted apart."""

    counts: dict[_Site, int] | None = None


_RUNNING = _Running()


class counted:
    """Context: draws of functions that have a seed go on from these counts."""

    __slots__ = ("_before", "_counts")

    def __init__(self, counts: dict[Any, int]):
        self._counts = counts

    def __enter__(self) -> None:
        self._before, _RUNNING.counts = _RUNNING.counts, self._counts

    def __exit__(self, *_: object) -> None:
        _RUNNING.counts = self._before


class PythonDraws:
    """The draws of a function that Python runs at each call: those that it would make if it was
    recorded, each in its place with a generator of its own."""

    def __init__(self) -> None:
        self._sites: dict[Any, _Site] = {}

    def running(self) -> _InRun:
        """The context in which the function runs."""
        return _InRun(_Run(self._sites))


class _InRun:
    """Context: the random numbers are those of a run, or of eager code."""

    __slots__ = ("_before", "_run")

    def __init__(self, run: _Run | None):
        self._run = run

    def __enter__(self) -> None:
        self._before, LOCAL.run = LOCAL.run, self._run

    def __exit__(self, *_: object) -> None:
        LOCAL.run = self._before


class _Run:
    """One run of such a function."""

    def __init__(self, sites: dict[Any, _Site]):
        self._sites = sites
        self._draws = self._unseeded = 0
        self._calls: Counter[_Site] = Counter()

    def next_key(self, kernel: str, seed: Any, blocks: int) -> Tensor:
        own = seed
        if seed is None and _streams.seed is not None:
            own, self._unseeded = self._unseeded, self._unseeded + 1
        self._draws += 1
        pair = _pair(_streams.seed, own)
        site = self._site((self._draws, pair), pair)
        return _streams.next_key(kernel, seed, blocks) if site is None else site._next(1)

    def turns(self, elements: Iterable[Any]) -> Iterator[Any]:
        """The elements that a loop goes through. If the function was recorded, the loop would be a
        graph of its own, and the same ops would draw in all turns."""
        begin, unseeded = self._draws, self._unseeded
        calls, most = self._calls.copy(), self._draws
        try:
            for element in elements:
                most = max(most, self._draws)
                self._draws, self._unseeded, self._calls = begin, 0, calls.copy()
                yield element
        finally:
            self._draws, self._unseeded = max(most, self._draws), unseeded

    def called(self, site: _Site) -> _Site:
        """The generator of a draw in a function that it calls, in each call another one."""
        self._calls[site] += 1
        return self._site((site, self._calls[site]), site._pair) or site

    def _site(self, place: Any, pair: tuple[int, int] | None) -> _Site | None:
        found = self._sites.get(place)
        if found is None and len(self._sites) < limits.MAX_PYTHON_DRAWS:
            found = self._sites.setdefault(place, _Site(pair))
        return found


class _InitialRun(_Run):
    """The computation of a variable's initial value, whose draws are among those of a function."""

    def __init__(self, next_draw: Callable[[], int]):
        super().__init__({})
        self._next_draw = next_draw

    def next_key(self, kernel: str, seed: Any, blocks: int) -> Tensor:
        if seed is None and _streams.seed is not None:
            seed = self._next_draw()
        return key_of(*_unpredictable(_pair(_streams.seed, seed)))


def initial_draws(next_draw: Callable[[], int]) -> _InRun:
    """The context in which draws without a seed of their own are those of a function, by these
    numbers."""
    return _InRun(_InitialRun(next_draw))


def outside_of_functions() -> _InRun:
    """The context in which draws are those of eager code."""
    return _InRun(None)


class LoopDraws:
    """The draws of a loop over a dataset in a function that Python runs. Its turns are runs of a
    function of their own, which begins anew with each loop; enter it to make an element, which is
    outside of functions."""

    def __init__(self) -> None:
        self._outer, self._turn, self._before = LOCAL.run, LOCAL.run, LOCAL.run
        self._sites: dict[Any, _Site] = {}

    def __enter__(self) -> None:
        self._before, LOCAL.run = LOCAL.run, None

    def __exit__(self, kind: Any, *_: Any) -> None:
        before, self._before = self._before, None
        if before is None or (before is not self._outer and before is not self._turn):
            LOCAL.run = before
        elif kind is None:
            LOCAL.run = self._turn = _Run(self._sites)
        else:
            LOCAL.run = self._turn = self._outer


def set_seed(seed: Any) -> None:
    """Start all seeded random ops anew from `seed`; None makes them unpredictable again.

    A draw depends on this seed, on its op's `seed` if it has one, and on how many draws were made
    before it: of ops of the same kind with that seed, or of all ops without. An op's seed alone
    makes a program repeatable, too. Functions have the seed that there was when they were recorded.

    >>> import tape_compat as tf
    >>> tf.random.set_seed(3)
    >>> a, b = tf.random.normal([2]), tf.random.normal([2])
    >>> tf.random.set_seed(3)
    >>> bool(tf.reduce_all(tf.random.normal([2]) == a)), bool(tf.reduce_all(a == b))
    (True, False)

    Raises: TypeError for a seed that is no number.
    """
    global _streams
    seed = plain_seed(seed)
    if seed is not None:
        _number(seed)
    _streams = _Streams(seed)


def global_seed() -> Any:
    """What `set_seed` set, None for nothing."""
    return _streams.seed


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


def typed_key(key: Any) -> Any:
    """JAX's key of a draw's, uint64 [4], or of a stateless seed, int32 or int64 [2]."""
    if key.shape == KEY.shape:
        word = np.uint64(0)
        for i in range(4):
            word = mixed((word ^ key[i]) + np.uint64(STEP))
        return _wrap(jnp.stack([word >> 32, word]).astype(np.uint32))
    word = key.astype(np.int64)
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


# ---------------------------------------------------------------------------------------------
# In loops: another key in each iteration.

#: How many iterations a loop is taken to have at most where that is not known.
UNKNOWN_ITERATIONS = 1 << 32

#: In a key the number of draws before it.
_BEFORE = np.array([0, 0, 0, 1], np.uint64)


def _next(key: Any, times: int) -> Any:
    return key + _BEFORE * np.uint64(times)


def _rows(key: Any, rows: int, times: int) -> Any:
    return key + np.arange(rows, dtype=np.uint64)[:, None] * np.uint64(times) * _BEFORE


#: The key of the next iteration, where each has so many draws.
NEXT_KEY = Op(_next, "NextKey", differentiable=False, host_foldable=False)
#: The keys of all iterations at once.
ROW_KEYS = Op(_rows, "RowKeys", differentiable=False, host_foldable=False)
