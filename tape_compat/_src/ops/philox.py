"""TensorFlow's random numbers.

The key of a draw (see `random_keys.KEY`), or a stateless seed [2], gives the key and the counter of
a Philox generator; blocks of four words, counted from there, give the numbers. Source: Salmon et
al., Parallel random numbers: as easy as 1, 2, 3 (2011), Philox-4x32 of ten rounds; and what
`tf.random.uniform`, `tf.random.stateless_uniform` and their kind give.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core import dtypes
from ..core.dimensions import Shape, Size, is_symbolic, product
from ..core.dtypes import DType
from ..core.kernels import PROGRAMS, available
from . import angles
from .random_keys import KEY, RESERVED

_TARGET = "tape_compat_words"
_SEARCH = "tape_compat_search"
_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
_STEPS = 0x9E3779B9, 0xBB67AE85
ROUNDS = 10

#: The key under which a seed is hashed.
SCRAMBLE = 0x3EC8F720, 0x02461E29

#: Of the blocks that belong to four truncated normal numbers those that they are looked for in,
#: twice as many for doubles: of 16 numbers 4 are almost surely (but for 1 in 10**15) below 2.
TRIED = 4

#: Groups of truncated normal numbers that are made at a time: what they are looked for in stays in
#: the cache. A million float64 at once took 240 ms.
GROUPS = 1 << 12

#: Numbers below it have no logarithm in a Box-Muller transform.
LEAST = 1e-7

TWO = 2.0


def _words(*words: Any) -> tuple[Any, ...]:
    return tuple([jnp.asarray(word).astype(np.uint32) for word in words])


def _product(a: int, b: Any) -> tuple[Any, Any]:
    """The high and the low word of a product."""
    whole = b.astype(np.uint64) * np.uint64(a)
    return (whole >> np.uint64(32)).astype(np.uint32), whole.astype(np.uint32)


def mixed_round(_: Any, words: tuple[Any, ...]) -> tuple[Any, ...]:
    """A round: the next counter, of four words, and the next key, of two."""
    counter, key = words[:4], words[4:]
    high0, low0 = _product(_MULTIPLIERS[0], counter[0])
    high1, low1 = _product(_MULTIPLIERS[1], counter[2])
    mixed = high1 ^ counter[1] ^ key[0], low1, high0 ^ counter[3] ^ key[1], low0
    stepped = [word + np.uint32(step) for word, step in zip(key, _STEPS, strict=True)]
    return *mixed, *stepped


def _hashed(counter: tuple[Any, ...], key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Four random words for a counter of four words and a key of two."""
    # A loop, for side by side XLA makes the words of a round anew for each that reads them: a
    # million numbers took 300 ms, and take 10.
    return lax.fori_loop(0, ROUNDS, mixed_round, (*counter, *key))[:4]


def halves(word: Any) -> tuple[Any, Any]:
    """The lower and the upper half of 64 bits."""
    return word.astype(np.uint32), (word >> 32).astype(np.uint32)


def _word(size: Size) -> Any:
    """A size as a word of 64 bits."""
    return jnp.asarray(size).astype(np.uint64) if is_symbolic(size) else np.uint64(size)


def _generator(key: Any, reserved: Size) -> tuple[Any, Any, Any]:
    """The lower and the upper half of the counter and the key of a draw that has so many blocks
    reserved, in 64 bits."""
    if key.shape == KEY.shape:
        first = key[0] + key[3] * _word(reserved)
        return first, key[1] + (first < key[0]), key[2]
    seed = key.astype(np.int64)
    words = _hashed((*halves(seed[0]), *halves(seed[1])), _words(*SCRAMBLE))
    low, third, high, fourth = [word.astype(np.uint64) for word in (*words[::2], *words[1::2])]
    wide = np.uint64(32)
    return jnp.zeros((), np.uint64), third | fourth << wide, low | high << wide


def _blocks(key: Any, places: Any, reserved: Size) -> Any:
    """Words [..., 4] of the blocks at places; a draw has so many reserved."""
    first, upper, word = _generator(key, reserved)
    lower = first + places.astype(np.uint64)
    counter = *halves(lower), *halves(upper + (lower < first))
    return jnp.stack(_hashed(counter, halves(word)), axis=-1)


def _runs(
    key: Any, parts: Size, reserved: Size, length: int = 1, apart: int = 1, begin: Any = 0
) -> Any:
    """Words [parts, length, 4] of `length` blocks at a time, which begin `apart` after each
    other; without the first `begin` parts."""

    def by_xla(key: Any, begin: Any) -> Any:
        starts = (begin + jnp.arange(parts)) * apart
        return _blocks(key, starts[:, None] + jnp.arange(length), reserved)

    def by_kernel(key: Any, begin: Any) -> Any:
        first, upper, word = _generator(key, reserved)
        lower = first + jnp.asarray(begin * apart).astype(np.uint64)
        generator = jnp.stack(jnp.broadcast_arrays(lower, upper + (lower < first), word))
        kind = jax.ShapeDtypeStruct((parts, length, 4), np.uint32)
        call = jax.ffi.ffi_call(_TARGET, kind, vmap_method="broadcast_all")
        return call(generator, numbers=np.array([length, apart], "int64"))

    if is_symbolic(parts) or is_symbolic(reserved) or not PROGRAMS.own or not by_kernels():
        return by_xla(key, begin)
    return lax.platform_dependent(key, begin, cpu=by_kernel, default=by_xla)


def by_kernels() -> bool:
    """Whether a kernel makes words on processors (`native/words.c`): XLA has no products of 32 bits
    by 32 bits in vectors."""
    return available("Random words are made by XLA", **{_TARGET: "WORDS"})


def _searched(
    key: Any,
    parameters: Any,
    shape: tuple[int, ...],
    most: float | None,
    by_xla: Callable[..., Any],
) -> Any:
    """Numbers of `shape` that are looked for among others, gamma distributed ones or Poisson's: on
    processors by a kernel (`native/searched.c`), one after the other. XLA takes those of all until
    the last is found: 100,000 took 50 ms, and take 11."""
    handlers = {_SEARCH: "SEARCH"}
    if not PROGRAMS.own or not available("Random numbers are looked for by XLA", **handlers):
        return by_xla(key, parameters)
    kinds, count = count_of(parameters.shape), count_of(shape)
    largest = np.array([0.0 if most is None else most]).view(np.int64)

    def by_kernel(key: Any, parameters: Any) -> Any:
        generator = jnp.stack(jnp.broadcast_arrays(*_generator(key, RESERVED * count)))
        kind = jax.ShapeDtypeStruct((count // max(kinds, 1), kinds), np.float64)
        call = jax.ffi.ffi_call(_SEARCH, kind, vmap_method="broadcast_all")
        numbers = np.array([most is not None, *largest], np.int64)
        found = call(generator, parameters.reshape(-1).astype(np.float64), numbers=numbers)
        return found.reshape(shape)

    return lax.platform_dependent(key, parameters, cpu=by_kernel, default=by_xla)


def _parts(count: Size, size: int) -> Size:
    """How many parts of a size hold so many; one for none."""
    parts = -(-count // size)
    return parts if is_symbolic(parts) else max(1, parts)


def _first(numbers: Any, count: Size) -> Any:
    """The first `count` of all."""
    numbers = numbers.reshape(-1)
    return numbers[jnp.arange(count)] if is_symbolic(count) else numbers[:count]


def _numbered(key: Any, count: Size, reserved: Size) -> Any:
    """The first `count` words."""
    return _first(_runs(key, _parts(count, 4), reserved), count)


def _doubled(words: Any) -> tuple[Any, Any]:
    """The first and the second word of each two, in 64 bits."""
    pairs = words.reshape(*words.shape[:-1], words.shape[-1] // 2, 2).astype(np.uint64)
    return pairs[..., 0], pairs[..., 1]


def count_of(shape: tuple[int, ...]) -> int:
    """How many elements there are. Raises for unknown sizes: nothing is drawn for these."""
    return math.prod(map(operator.index, shape))


def bits(key: Any, shape: Shape, kind: Any) -> Any:
    """Unsigned integers of 32 or 64 bits, all of which are random."""
    count = product(shape)
    reserved = RESERVED * count
    if np.dtype(kind).itemsize == 4:
        return _numbered(key, count, reserved).reshape(shape)
    low, high = _doubled(_numbered(key, 2 * count, reserved))
    return (low | high << np.uint64(32)).reshape(shape)


def integers(key: Any, shape: Shape, low: Any, high: Any, dtype: DType) -> Any:
    """Integers of [low, high)."""
    unsigned = np.uint32 if dtype.size == 4 else np.uint64
    low, high = [lax.bitcast_convert_type(x, unsigned) for x in (low, high)]
    found = bits(key, shape, unsigned)
    return lax.bitcast_convert_type(low + found % (high - low), dtype.np_dtype)


def _shares(words: Any) -> Any:
    """Words as float32 of [0, 1): of their lower 23 bits."""
    ones = np.uint32(0x3F800000)
    return lax.bitcast_convert_type(words & np.uint32(0x7FFFFF) | ones, np.float32) - 1


def _double_shares(words: Any) -> Any:
    """Pairs of words as float64 of [0, 1)."""
    first, second = _doubled(words)
    mantissa = (first & np.uint64(0xFFFFF)) << np.uint64(32) | second
    return lax.bitcast_convert_type(mantissa | np.uint64(1023 << 52), np.float64) - 1


def uniform(key: Any, shape: Shape, dtype: DType, reserved: int | None = None) -> Any:
    """Numbers of [0, 1), of as many random bits as the mantissa has. reserved: how many blocks the
    draw takes, if that does not follow from the shape."""
    count = product(shape)
    if reserved is None:
        reserved = RESERVED * count
    if dtype is dtypes.float64:
        return _double_shares(_numbered(key, 2 * count, reserved)).reshape(shape)
    words = _numbered(key, count, reserved)
    if dtype is dtypes.float32:
        return _shares(words).reshape(shape)
    kept, ones = (0x3FF, 15 << 10) if dtype is dtypes.float16 else (0x7F, 127 << 7)
    short = (words & np.uint32(kept) | np.uint32(ones)).astype(np.uint16)
    return (lax.bitcast_convert_type(short, dtype.np_dtype) - 1).reshape(shape)


def _bell(words: Any, double: bool) -> Any:
    """Normal numbers of words [..., n], n of them, or half as many of 64 bits, in the order of the
    words (Box and Muller 1958)."""
    shares = _double_shares(words) if double else _shares(words)
    pairs = shares.reshape(*shares.shape[:-1], shares.shape[-1] // 2, 2)
    radius = jnp.sqrt(-2 * jnp.log(jnp.maximum(pairs[..., 0], shares.dtype.type(LEAST))))
    angle = shares.dtype.type(2 * math.pi) * pairs[..., 1]
    found = jnp.stack([angles.sin(angle) * radius, angles.cos(angle) * radius], -1)
    return found.reshape(shares.shape)


def normal(key: Any, shape: Shape, dtype: DType) -> Any:
    """Standard normal numbers."""
    double = dtype is dtypes.float64
    a_block = 2 if double else 4
    count = product(shape)
    words = _runs(key, _parts(count, a_block), RESERVED * count)
    return _first(_bell(words, double), count).astype(dtype.np_dtype).reshape(shape)


def truncated_normal(key: Any, shape: Shape, dtype: DType) -> Any:
    """Standard normal numbers, without those of 2 and more: each few from blocks of their own, of
    which they are the first that are smaller."""
    double = dtype is dtypes.float64
    a_group, apart, blocks = (2, RESERVED // 2, 2 * TRIED) if double else (4, RESERVED, TRIED)
    count = product(shape)
    groups = _parts(count, a_group)

    def of_groups(begin: Any, groups: Size) -> Any:
        words = _runs(key, groups, RESERVED * count, blocks, apart, begin)
        # All of them made before: XLA would make them anew for each that asks.
        tried = lax.optimization_barrier(_bell(words.reshape(groups, -1), double).T)
        found, number = [jnp.zeros_like(tried[0])] * a_group, jnp.zeros((groups,), np.int32)
        for row in tried:
            small = jnp.abs(row) < TWO
            found = [jnp.where(small & (number == k), row, x) for k, x in enumerate(found)]
            number += small
        return jnp.stack(lax.optimization_barrier(found), -1)

    if is_symbolic(groups) or groups <= 8 * GROUPS:
        found = of_groups(0, groups)
    else:
        begins = np.arange(-(-groups // GROUPS)) * GROUPS
        found = lax.map(lambda begin: of_groups(begin, GROUPS), begins)
    return _first(found, count).astype(dtype.np_dtype).reshape(shape)


def order(key: Any, count: int) -> Any:
    """The numbers below `count` in random order (Fisher and Yates), int64."""
    numbers = np.arange(count)
    if count < 2:
        return jnp.asarray(numbers)
    left = (count - numbers).astype(np.uint32)
    places = numbers + (_numbered(key, count, shuffled_blocks(count)) % left).astype(np.int64)

    def swap(i: Any, found: Any) -> Any:
        # Both at once: XLA changes the array in place. One after the other copies it at each step,
        # 1.2 s for 60,000 numbers; so 5 ms.
        two = jnp.stack([i, places[i]])
        return found.at[two].set(found[two[::-1]], mode="promise_in_bounds")

    return lax.fori_loop(0, count - 1, swap, jnp.asarray(numbers))


def shuffled_blocks(count: int) -> int:
    """The blocks that a shuffle of so many takes: a word for each but the last."""
    return max(0, -(-(count - 1) // 4))


class _Numbers(NamedTuple):
    """Of generators side by side, the blocks of which each gives two uniform numbers of [0, 1) or
    two normal ones: how many were taken, and the two last of each kind with how many are left."""

    taken: Any
    uniform: tuple[Any, Any, Any]
    normal: tuple[Any, Any, Any]

    @staticmethod
    def none(shape: tuple[int, ...]) -> _Numbers:
        none, zero = jnp.zeros(shape, np.int64), jnp.zeros(shape)
        return _Numbers(none, (zero, zero, none), (zero, zero, none))


class _Generators:
    """A generator for each number of an array that is looked for among others."""

    def __init__(self, key: Any, parameters: Any, shape: tuple[int, ...]):
        kinds = count_of(parameters.shape)
        self.shape = count_of(shape) // max(kinds, 1), kinds
        self.parameters = jnp.broadcast_to(parameters.reshape(-1).astype(np.float64), self.shape)
        samples = self.shape[0]
        self._first = RESERVED * (np.arange(kinds) * samples + np.arange(samples)[:, None])
        self._key, self._reserved = key, RESERVED * math.prod(self.shape)

    def _next(self, numbers: _Numbers, pair: Any, made: Any, wanted: Any) -> tuple[Any, Any, Any]:
        """The next number where it is wanted, the pairs then, and the blocks taken."""
        second, first, left = pair
        new = wanted & (left == 0)
        words = _blocks(self._key, self._first + numbers.taken, self._reserved)
        found = made(words)
        second = jnp.where(new, found[..., 1], second)
        first = jnp.where(new, found[..., 0], first)
        left = jnp.where(new, 2, left) - wanted
        return jnp.where(left == 1, second, first), (second, first, left), numbers.taken + new

    def uniform(self, numbers: _Numbers, wanted: Any) -> tuple[Any, _Numbers]:
        found, pair, taken = self._next(numbers, numbers.uniform, _double_shares, wanted)
        return found, numbers._replace(uniform=pair, taken=taken)

    def normal(self, numbers: _Numbers, wanted: Any) -> tuple[Any, _Numbers]:
        made = functools.partial(_bell, double=True)
        found, pair, taken = self._next(numbers, numbers.normal, made, wanted)
        return found, numbers._replace(normal=pair, taken=taken)

    def look(self, wanted: Any, attempt: Callable[..., tuple[Any, Any, _Numbers]]) -> Any:
        """The numbers of attempts, `attempt(wanted, numbers)`: what was found, where that will do,
        and the numbers after it. Goes on until each that is wanted will do."""

        def once(state: tuple[Any, Any, _Numbers]) -> tuple[Any, Any, _Numbers]:
            wanted, found, numbers = state
            new, good, numbers = attempt(wanted, numbers)
            return wanted & ~good, jnp.where(wanted & good, new, found), numbers

        start = wanted, jnp.zeros(self.shape), _Numbers.none(self.shape)
        return lax.while_loop(lambda state: jnp.any(state[0]), once, start)[1]


def gamma(key: Any, alpha: Any, shape: tuple[int, ...]) -> Any:
    """Gamma distributed numbers, float64, of a shape that ends with that of alpha (Marsaglia and
    Tsang, A simple method for generating gamma variables, 2000)."""
    return _searched(key, alpha, shape, None, functools.partial(_gamma, shape=shape))


def _gamma(key: Any, alpha: Any, shape: tuple[int, ...]) -> Any:
    generators = _Generators(key, alpha, shape)
    alpha = generators.parameters
    below = alpha < 1
    d = alpha + jnp.where(below, 2 / 3, -1 / 3)
    c = 1 / 3 / jnp.sqrt(d)

    def attempt(wanted: Any, numbers: _Numbers) -> tuple[Any, Any, _Numbers]:
        x, numbers = generators.normal(numbers, wanted)
        v = 1 + c * x
        wanted &= ~(v <= 0)
        v = v * v * v
        u, numbers = generators.uniform(numbers, wanted)
        good = u < 1 - 0.0331 * (x * x) * (x * x)
        good |= jnp.log(u) < 0.5 * x * x + d * (1 - v + jnp.log(v))
        wanted &= good
        power, numbers = generators.uniform(numbers, wanted & below)
        return d * v * jnp.where(below, power ** (1 / alpha), 1), wanted, numbers

    found = generators.look(alpha != 1, attempt)
    share, _ = generators.uniform(_Numbers.none(generators.shape), alpha == 1)
    return jnp.where(alpha == 1, -jnp.log1p(-share), found).reshape(shape)


def poisson(key: Any, rate: Any, shape: tuple[int, ...], most: float) -> Any:
    """Numbers of Poisson's distribution, float64, of a shape that ends with that of the rate: by
    Knuth (The art of computer programming 2, 3.4.1), and of rates from 10 on by Hörmann, The
    transformed rejection method for generating Poisson random variables (1993)."""
    by_xla = functools.partial(_poisson, shape=shape, most=most)
    return _searched(key, rate, shape, most, by_xla)


def _poisson(key: Any, rate: Any, shape: tuple[int, ...], most: float) -> Any:
    generators = _Generators(key, rate, shape)
    rate = generators.parameters
    few, beyond = rate < 10, ~(rate < most)
    least = jnp.exp(-rate)

    def multiply(state: tuple[Any, ...]) -> tuple[Any, ...]:
        wanted, count, product, numbers = state
        share, numbers = generators.uniform(numbers, wanted)
        product *= jnp.where(wanted, share, 1)
        wanted &= product > least
        return wanted, count + wanted, product, numbers

    zero = jnp.zeros(generators.shape)
    start = few, zero, zero + 1, _Numbers.none(generators.shape)
    counted = lax.while_loop(lambda state: jnp.any(state[0]), multiply, start)[1]
    b = 0.931 + 2.53 * jnp.sqrt(rate)
    a, inverse = -0.059 + 0.02483 * b, 1.1239 + 1.1328 / (b - 3.4)

    def attempt(wanted: Any, numbers: _Numbers) -> tuple[Any, Any, _Numbers]:
        u, numbers = generators.uniform(numbers, wanted)
        v, numbers = generators.uniform(numbers, wanted)
        u -= 0.5
        left = 0.5 - jnp.abs(u)
        count = jnp.floor((2 * a / left + b) * u + rate + 0.43)
        quick = (left >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))
        bad = (count < 0) | ((left < 0.013) & (v > left))
        likely = -rate + count * jnp.log(rate) - lax.lgamma(count + 1)
        slow = jnp.log(v * inverse / (a / (left * left) + b)) <= likely
        return count, (count <= most) & (quick | ~bad & slow), numbers

    found = generators.look(~few & ~beyond, attempt)
    return jnp.where(few, counted, jnp.where(beyond, jnp.minimum(rate, most), found)).reshape(shape)
