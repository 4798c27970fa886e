"""TensorFlow's random numbers on the host: what `philox.py` gives, without a compile.

What is uniform, an integer or an order is the same; normal numbers are to the last bits.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import DType
from ..core.native import native
from .philox import LEAST, ROUNDS, SCRAMBLE, TRIED, TWO, halves, mixed_round, shuffled_blocks
from .random_keys import KEY, MASK, RESERVED

#: How many blocks are made at once at first where words are asked for one by one, and 16 times as
#: many later.
_AT_ONCE = 16

#: Groups of truncated normal numbers that are drawn at once, with what they take in the cache.
_GROUPS = 1 << 12


@native
def fill(out: np.ndarray, lower: int, upper: int, key: int, length: int, apart: int) -> None:
    """Fill an array, uint32 [4 n], with the words of a generator: of `length` blocks at a time,
    which begin `apart` blocks after each other."""
    count = np.arange(len(out) // 4, dtype=np.uint64)
    starts, within = np.divmod(count, np.uint64(length))
    with np.errstate(over="ignore"):
        low = np.uint64(lower) + starts * np.uint64(apart) + within
        high = np.uint64(upper) + (low < np.uint64(lower))
    words = (*halves(low), *halves(high), *halves(np.full(1, key, np.uint64)))
    found = functools.reduce(lambda words, i: mixed_round(i, words), range(ROUNDS), words)
    out.reshape(-1, 4)[:] = np.stack(np.broadcast_arrays(*found[:4]), axis=-1)


@native
def swap(order: np.ndarray, words: np.ndarray) -> None:
    """Let each number of an array, int64, change places with one after it, or with none."""
    found, left = order.tolist(), len(order)
    for i, word in enumerate(words.tolist()):
        place = i + word % (left - i)
        found[i], found[place] = found[place], found[i]
    order[:] = found


class _Numbers:
    """Uniform numbers of [0, 1) and normal ones: two of a block, the second first."""

    def __init__(self, lower: int, upper: int, key: int):
        self._words = Words(key, upper + (lower >> 64) & MASK, lower & MASK)
        self._uniform: list[float] = []
        self._normal: list[float] = []

    def uniform(self) -> float:
        if not self._uniform:
            self._uniform = _double_shares(self._words.take(1)).tolist()
        return self._uniform.pop()

    def normal(self) -> float:
        if not self._normal:
            self._normal = _bell(self._words.take(1), True).tolist()
        return self._normal.pop()


@native
def look_for(
    out: np.ndarray, parameters: np.ndarray, lower: int, upper: int, key: int, most: float | None
) -> None:
    """Fill an array, float64 [samples, n], with gamma distributed numbers of `parameters`, float64
    [n]; with those of Poisson's distribution if there is a largest one, `most`."""
    samples = len(out)
    for i in range(out.size):
        numbers = _Numbers(lower + RESERVED * i, upper, key)
        parameter = float(parameters[i // samples])
        if most is None:
            found = _gamma_number(numbers, parameter)
        else:
            found = _poisson_number(numbers, parameter, most)
        out[i % samples, i // samples] = found


def _gamma_number(numbers: _Numbers, alpha: float) -> float:
    """By Marsaglia and Tsang, A simple method for generating gamma variables (2000)."""
    if alpha == 1.0:
        return -math.log1p(-numbers.uniform())
    d = alpha + (2.0 / 3.0 if alpha < 1.0 else -1.0 / 3.0)
    c = 1.0 / 3.0 / math.sqrt(d) if d > 0.0 else math.nan
    while True:
        x = numbers.normal()
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v, u = v**3, numbers.uniform()
        quick = u < 1.0 - 0.0331 * (x * x) * (x * x)
        if quick or (v == v and math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v))):
            if not 0.0 <= alpha < 1.0:
                return d * v
            return d * v * (numbers.uniform() ** (1.0 / alpha) if alpha else 0.0)


def _poisson_number(numbers: _Numbers, rate: float, most: float) -> float:
    """By Knuth, The art of computer programming 2, 3.4.1, and for rates of 10 and more by Hörmann,
    The transformed rejection method for generating Poisson random variables (1993)."""
    if not rate < most:
        return most if rate >= most else rate
    if rate < 10.0:
        count, product, least = 0, numbers.uniform(), math.exp(-rate)
        while product > least:
            count, product = count + 1, product * numbers.uniform()
        return count
    b = 0.931 + 2.53 * math.sqrt(rate)
    a, inverse = -0.059 + 0.02483 * b, 1.1239 + 1.1328 / (b - 3.4)
    while True:
        u, v = numbers.uniform() - 0.5, numbers.uniform()
        left = 0.5 - abs(u)
        count = math.floor((2.0 * a / left + b) * u + rate + 0.43)
        if count > most:
            continue
        if left >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2.0):
            return count
        if count < 0 or (left < 0.013 and v > left):
            continue
        likely = -rate + count * math.log(rate) - math.lgamma(count + 1.0)
        if math.log(v * inverse / (a / (left * left) + b)) <= likely:
            return count


class Words:
    """The words of a generator one after the other."""

    def __init__(self, key: int, upper: int, place: int = 0):
        self._key, self._upper, self._place = key, upper, place

    def take(self, blocks: int) -> np.ndarray:
        """So many more blocks of four words, uint32."""
        out = np.empty(4 * blocks, np.uint32)
        fill(out, self._place, self._upper, self._key, 1, 1)
        self._place += blocks
        return out

    def each(self) -> Iterator[int]:
        """All of them."""
        for i in itertools.count():
            yield from self.take(_AT_ONCE << min(i, 4)).tolist()


def _state(key: np.ndarray, reserved: int) -> tuple[int, int, int]:
    """The two words of the counter that a draw of so many blocks begins with, and the key."""
    if key.shape == KEY.shape:
        lower, upper, found, before = key.tolist()
        lower += before * reserved
        return lower & MASK, upper + (lower >> 64) & MASK, found
    first, second = key.astype(np.int64).astype(np.uint64).tolist()
    out = np.empty(4, np.uint32)
    fill(out, first, second, SCRAMBLE[0] | SCRAMBLE[1] << 32, 1, 1)
    words = out.tolist()
    return 0, words[2] | words[3] << 32, words[0] | words[1] << 32


def key_and_counter(seed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The key [1] and the counter [2] of a stateless seed [2], uint64."""
    lower, upper, key = _state(seed, 0)
    return np.array([key], np.uint64), np.array([lower, upper], np.uint64)


def _words(key: np.ndarray, count: int, reserved: int) -> np.ndarray:
    """The first words, rounded up to whole blocks."""
    out = np.empty(-(-count // 4) * 4, np.uint32)
    fill(out, *_state(key, reserved), 1, 1)
    return out


def stateless_shares(seeds: np.ndarray) -> np.ndarray:
    """The first number of [0, 1), float64, for each stateless seed [n, 2]."""
    return np.concatenate([_double_shares(_words(seed, 2, 0))[:1] for seed in seeds])


def bits(key: np.ndarray, shape: tuple[int, ...], kind: Any) -> np.ndarray:
    count = math.prod(shape)
    wide = np.dtype(kind).itemsize // 4
    words = _words(key, wide * count, RESERVED * count)[: wide * count]
    if wide == 2:
        words = words.astype("<u4", copy=False).view("<u8")
    return words.astype(kind, copy=False).reshape(shape)


def integers(key: np.ndarray, low: Any, high: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    unsigned = np.uint32 if dtype.size == 4 else np.uint64
    low, high = (np.asarray(x).astype(unsigned) for x in (low, high))
    found = bits(key, shape, unsigned)
    return (low + found % (high - low)).astype(dtype.np_dtype)


def _shares(words: np.ndarray) -> np.ndarray:
    words = words & np.uint32(0x7FFFFF)
    words |= np.uint32(0x3F800000)
    shares = words.view(np.float32)
    shares -= 1
    return shares


def _double_shares(words: np.ndarray) -> np.ndarray:
    found = (words[0::2] & np.uint32(0xFFFFF)).astype(np.uint64)
    found <<= np.uint64(32)
    found |= words[1::2]
    found |= np.uint64(1023 << 52)
    shares = found.view(np.float64)
    shares -= 1
    return shares


def uniform(
    key: np.ndarray, shape: tuple[int, ...], dtype: DType, reserved: int | None = None
) -> np.ndarray:
    count = math.prod(shape)
    if reserved is None:
        reserved = RESERVED * count
    if dtype is dtypes.float64:
        return _double_shares(_words(key, 2 * count, reserved))[:count].reshape(shape)
    words = _words(key, count, reserved)[:count]
    if dtype is dtypes.float32:
        return _shares(words).reshape(shape)
    kept, ones = (0x3FF, 15 << 10) if dtype is dtypes.float16 else (0x7F, 127 << 7)
    short = (words & np.uint32(kept) | np.uint32(ones)).astype(np.uint16)
    return (short.view(dtype.np_dtype) - dtype.np_dtype.type(1)).reshape(shape)


def _bell(words: np.ndarray, double: bool) -> np.ndarray:
    """Normal numbers of words in pairs (Box and Muller 1958)."""
    shares = _double_shares(words) if double else _shares(words)
    kind = shares.dtype.type
    radius = np.maximum(shares[0::2], kind(LEAST))
    np.log(radius, out=radius)
    radius *= -2
    np.sqrt(radius, out=radius)
    angle = kind(2 * math.pi) * shares[1::2]
    np.multiply(np.sin(angle), radius, out=shares[0::2])
    np.multiply(np.cos(angle), radius, out=shares[1::2])
    return shares


def normal(key: np.ndarray, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    count = math.prod(shape)
    double = dtype is dtypes.float64
    words = _words(key, (1 + double) * count, RESERVED * count)
    return _bell(words, double)[:count].astype(dtype.np_dtype, copy=False).reshape(shape)


def truncated_normal(key: np.ndarray, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    count = math.prod(shape)
    double = dtype is dtypes.float64
    a_group, blocks = (2, 2 * TRIED) if double else (4, TRIED)
    apart = RESERVED * a_group // 4
    lower, upper, found = _state(key, RESERVED * count)
    groups = -(-count // a_group)
    numbers = np.empty((groups, a_group), np.float64 if double else np.float32)
    words = np.empty(4 * blocks * min(groups, _GROUPS), np.uint32)
    for first in range(0, groups, _GROUPS):
        chunk = numbers[first : first + _GROUPS]
        start = lower + first * apart
        tried = words[: 4 * blocks * len(chunk)]
        fill(tried, start & MASK, upper + (start >> 64) & MASK, found, blocks, apart)
        tried = tried.reshape(len(chunk), -1)
        chunk[:] = _bell(tried[:, :4].reshape(-1), double).reshape(chunk.shape)
        # Most groups find theirs in the first block.
        others = (np.abs(chunk) >= TWO).any(axis=1)
        more = _bell(tried[others].reshape(-1), double).reshape(-1, blocks * a_group)
        small = np.abs(more) < TWO
        small &= np.cumsum(small, axis=1) <= a_group
        chunk[others] = more[small].reshape(-1, a_group)
    return numbers.reshape(-1)[:count].astype(dtype.np_dtype, copy=False).reshape(shape)


def gamma(key: np.ndarray, alpha: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Gamma distributed numbers, float64, of a shape that ends with that of alpha."""
    return _looked_for(key, alpha, shape, None)


def poisson(key: np.ndarray, rate: np.ndarray, shape: tuple[int, ...], most: float) -> np.ndarray:
    """Numbers of Poisson's distribution, float64, of a shape that ends with that of the rate."""
    return _looked_for(key, rate, shape, most)


def _looked_for(
    key: np.ndarray, parameters: np.ndarray, shape: tuple[int, ...], most: float | None
) -> np.ndarray:
    flat = np.ascontiguousarray(parameters, np.float64).reshape(-1)
    out = np.empty((math.prod(shape) // max(len(flat), 1), len(flat)), np.float64)
    look_for(out, flat, *_state(key, RESERVED * out.size), most)
    return out.reshape(shape)


def order(key: np.ndarray, count: int) -> np.ndarray:
    """The numbers below `count` in random order, int64."""
    found = np.arange(count, dtype=np.int64)
    if count > 1:
        swap(found, _words(key, count - 1, shuffled_blocks(count))[: count - 1])
    return found
