"""Places in a shuffled sequence that is never made: each number is enciphered by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core.avals import Aval
from ..core.dimensions import differ
from ..core.dtypes import int32, int64, uint32, uint64
from ..core.op import Op
from ..core.refuse import invalid, shown
from ..values.bounds import present_value
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor
from .joining import pad
from .random_draws import check_attribute

_KERNEL = "RandomIndexShuffle"
_DTYPES = (int32, uint32, int64, uint64)
#: The first of the three numbers of a key; users give the other two.
_FIRST = 498247692
#: Of the cipher Simon: what goes into the key of a round, and the bits that do one after the other.
_CONSTANT, _SEQUENCE = 0xFFFFFFFC, 0x7369F885192C0EF5
#: Bits that are enciphered, at least.
_SHORTEST = 16
_ONE = np.uint64(1)


def _cipher(numpy: Any, seed: Any, width: Any, rounds: int) -> Callable[[Any], Any]:
    """A permutation of the numbers of two words, each of `width` bits, uint64.

    numpy: the module, JAX's or NumPy. seed: [..., 3], integers.
    Source: Beaulieu et al. (2013), "The Simon and Speck families of lightweight block ciphers",
    with words of any number of bits and few rounds, as in TensorFlow's random_index_shuffle.cc.
    """
    mask = (_ONE << width) - _ONE

    def left(x: Any, by: int) -> Any:
        return ((x << np.uint64(by)) | (x >> (width - np.uint64(by)))) & mask

    def mixed(x: Any) -> Any:
        return (left(x, 1) & left(x, 8)) ^ left(x, 2)

    key = numpy.asarray(seed).astype(numpy.uint32).astype(numpy.uint64)
    keys = [key[..., i] & mask for i in range(3)]
    for i in range(3, rounds):
        bit = ((np.uint64(_SEQUENCE) & mask) >> np.uint64(i - 3)) & _ONE
        turned = [(keys[-1] >> np.uint64(n)) | (keys[-1] << (width - np.uint64(n))) for n in (3, 4)]
        keys.append((np.uint64(_CONSTANT) ^ bit ^ keys[-3] ^ turned[0] ^ turned[1]) & mask)

    def enciphered(x: Any) -> Any:
        high, low = (x >> width) & mask, x & mask
        for first, second in zip(keys[::2], keys[1::2], strict=True):
            high = high ^ mixed(low) ^ first
            low = low ^ mixed(high) ^ second
        return (high << width) | low

    return enciphered


def _shuffled(index: Any, seed: Any, most: Any, rounds: int) -> Any:
    """A number is enciphered again and again until it is one up to `most`.

    Source: Black and Rogaway (2002), "Ciphers with arbitrary finite domains".
    """
    end = most.astype(jnp.uint64)
    bits = 64 - lax.clz(jnp.maximum(end, _ONE) - _ONE)  # log2, rounded up
    width = jnp.maximum(bits + bits % np.uint64(2), np.uint64(_SHORTEST)) // np.uint64(2)
    enciphered = _cipher(jnp, seed, width, rounds)
    found = lax.while_loop(
        lambda x: jnp.any(x > end),
        lambda x: jnp.where(x > end, enciphered(x), x),
        enciphered(index.astype(jnp.uint64)),
    )
    return jnp.where(end == 0, np.uint64(0), found).astype(index.dtype)


def _shuffled_on_host(index: Any, seed: Any, most: Any, rounds: int) -> Any:
    """The same by NumPy: walks among few numbers are long, so all of them are taken at once."""
    keys = np.broadcast_to(
        seed, (*np.broadcast_shapes(index.shape, most.shape, seed.shape[:-1]), 3)
    )
    rows = keys.shape[:-1]
    numbers, ends = (np.broadcast_to(x, rows).astype(np.uint64) for x in (index, most))
    found = np.zeros(rows, np.uint64)
    kinds, which = np.unique(
        np.column_stack([keys.reshape(-1, 3).astype(np.uint32), ends.reshape(-1)]),
        axis=0,
        return_inverse=True,
    )
    flat, given = found.reshape(-1), numbers.reshape(-1)
    for i, kind in enumerate(kinds):
        if kind[3]:
            mine = which.reshape(-1) == i
            flat[mine] = _walked(given[mine], kind[:3], int(kind[3]), rounds)
    return flat.reshape(rows).astype(index.dtype)


def _walked(numbers: Any, key: Any, end: int, rounds: int) -> Any:
    bits = (end - 1).bit_length()
    bits = max(bits + bits % 2, _SHORTEST)
    enciphered = _cipher(np, key, np.uint64(bits // 2), rounds)
    if bits > _SHORTEST:
        found = enciphered(numbers)
        while (outside := found > end).any():
            found[outside] = enciphered(found[outside])
        return found
    following = enciphered(np.arange(2**bits, dtype=np.uint64)).astype(np.intp)
    while (following[: end + 1] > end).any():
        following = np.where(following > end, following[following], following)
    return following[(numbers % np.uint64(2**bits)).astype(np.intp)].astype(np.uint64)


def _check(avals: tuple[Aval, ...], rounds: int) -> None:
    index, seed, most = avals
    check_attribute(index.dtype, _DTYPES, _KERNEL)
    check_attribute(seed.dtype, _DTYPES, _KERNEL)
    ranks = ((index, 1), (seed, 2), (most, 1))
    lengths = [aval.shape[0] for aval, rank in ranks if len(aval.shape) == rank]
    whole = next((n for n in lengths if n != 1), 1)

    def fits(aval: Aval, *last: int) -> bool:
        if len(aval.shape) == len(last):
            return not any(map(differ, aval.shape, last))
        whole_shape = (whole, *last)
        return len(aval.shape) == len(whole_shape) and not any(map(differ, aval.shape, whole_shape))

    if not fits(index) or whole == 0:
        raise invalid(f"Index must be a scalar or a vector, got {shown(index.shape)}", _KERNEL)
    if not fits(seed, 3):
        raise invalid(
            f"Seed must be a vector of size [3] or a matrix of size {shown((whole, 3))} but got "
            f"{shown(seed.shape)}.",
            _KERNEL,
        )
    if not fits(most):
        raise invalid(
            "Maxval must be a scalar or a vector of the same size as index but got "
            f"{shown(most.shape)}",
            _KERNEL,
        )
    if rounds < 4 or rounds % 2:
        raise invalid(f"rounds must be even and at least 4, got {rounds}", _KERNEL)


def _check_values(index: Tensor, most: Tensor) -> None:
    known, ends = present_value(index), present_value(most)
    if known is None or ends is None:
        return
    for number, end in zip(*map(np.ravel, np.broadcast_arrays(known, ends)), strict=True):
        if number < 0:
            raise invalid(f"index must be >= 0 but was {number}", _KERNEL)
        if end < 0:
            raise invalid(f"max_index must be >= 0 but was {end}", _KERNEL)
        if end < number:
            raise invalid(f"max_index must be >= index, but {end} < {number}", _KERNEL)


_SHUFFLE = Op(_shuffled, _KERNEL, check=_check, differentiable=False, host=_shuffled_on_host)


def random_index_shuffle(
    index: Any, seed: Any, max_index: Any, rounds: int = 4, name: str | None = None
) -> Tensor:
    """`index_shuffle` by a seed of three integers, [3] or [n, 3].

    rounds: of the cipher, an even number from 4 on.

    >>> import tape_compat as tf
    >>> tf.random_index_shuffle(tf.range(4), seed=[1, 5, 9], max_index=3).numpy().tolist()
    [0, 1, 3, 2]
    """
    index, seed = convert(index), convert(seed)
    most = convert(max_index, index.dtype)
    closure = _SHUFFLE.bind(rounds=int(rounds))
    closure.infer((index._aval, seed._aval, most._aval))  # checks the shapes
    _check_values(index, most)
    return apply(closure, (index, seed, most))


def index_shuffle(index: Any, seed: Any, max_index: Any) -> Tensor:
    """The place of `index` in an order of 0 to `max_index` drawn by `seed`, which is not made.

    index: a scalar or [n], integers from 0 to `max_index`. seed: [2] or [n, 2], integers.
    max_index: a scalar or [n], of the dtype of `index`; so is the result, a scalar or [n].
    Raises: InvalidArgumentError for other shapes, and where values are known for others.

    >>> import tape_compat as tf
    >>> tf.random.experimental.index_shuffle(tf.range(4), seed=[5, 9], max_index=3).numpy().tolist()
    [2, 0, 1, 3]
    """
    seed = convert(seed)
    rank = len(seed._aval.shape)
    whole = pad(seed, [[0, 0]] * (rank - 1) + [[1, 0]], constant_values=_FIRST)
    return random_index_shuffle(index, whole, max_index)
