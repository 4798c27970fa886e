"""`tf.random`: random tensors, by global seed, op seed, stateless seed or generator.

The rules of seeding are TensorFlow's; the numbers are those of JAX's ThreeFry generator. The key of
a draw is an input of its op, one integer worked out on the host, so draws that differ only in their
seed are one structure: they compile once and wait on a tape like any other op.
"""

from __future__ import annotations

import enum
import hashlib
import itertools
import operator
import secrets
import threading
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .array import dims, gather
from .core import dtypes
from .core.avals import Aval, aval
from .core.convert import convert
from .core.declare import check_broadcast, invalid, tf_dtype_name
from .core.dispatch import apply, identity
from .core.dtypes import DType, as_dtype
from .core.op import Op
from .core.shapes import TensorShape
from .core.tensor import Tensor, concrete
from .core.variable import Variable

_MASK = (1 << 64) - 1
#: Steps and multipliers of SplitMix64 (Steele, Lea, Flood 2014), a bijection of 64-bit words.
_STEP = 0x9E3779B97F4A7C15
_WORD = aval((), dtypes.uint64)


# ---------------------------------------------------------------------------------------------
# Keys.


def _mix(word: int) -> int:
    word &= _MASK
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _MASK
    return word ^ (word >> 31)


def _digest(*parts: Any) -> int:
    """A 64-bit word that stands for the texts of `parts`."""
    text = "/".join(map(repr, parts)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


def _plain_seed(seed: Any) -> Any:
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
        return _key_of(_mix(start + count() * _STEP))

    def _start(self, kernel: str, seed: Any) -> int:
        if self.seed is None and seed is None:
            return secrets.randbits(64)
        return _digest(self.seed, kernel, seed)


_streams = _Streams(None)


def _key_of(word: int) -> Tensor:
    return concrete(np.array(word, np.uint64), _WORD)


def _next_key(kernel: str, seed: Any) -> Tensor:
    """The key of the next draw: an integer on the host."""
    if seed is not None and seed.__class__ is not int:
        seed = _plain_seed(seed)
    return _streams.next_key(kernel, seed)


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
    _streams = _Streams(_plain_seed(seed))


def _seed_tensor(seed: Any) -> Tensor:
    """The seed of a stateless op."""
    kernel = "StatelessRandomGetKeyCounter"
    tensor = convert(seed)
    known = tensor._aval
    if known.dtype not in (dtypes.int32, dtypes.int64):
        raise invalid(
            f"Value for attr 'Tseed' of {tf_dtype_name(known.dtype)} is not in the list of allowed "
            f"values: int32, int64\n\t; NodeDef: {{{{node {kernel}}}}}",
            kernel,
        )
    if known.shape != (2,):
        raise invalid(f"seed must have shape [2], not {_text(known.shape)}", kernel)
    return tensor


def _key(word: Any) -> Any:
    """JAX's key of a drawn word, uint64 [], or of a stateless seed, int32 or int64 [2]."""
    if word.ndim == 0:
        return _wrap(jnp.stack([word >> 32, word]).astype(np.uint32))
    word = word.astype(np.int64)
    high = (word >> 32).astype(np.uint32)
    return jax.random.fold_in(jax.random.fold_in(_wrap(word.astype(np.uint32)), high[0]), high[1])


def _wrap(words: Any) -> Any:
    return jax.random.wrap_key_data(words, impl="threefry2x32")


def _text(shape: Sequence[int]) -> str:
    return "[" + ",".join(map(str, shape)) + "]"


# ---------------------------------------------------------------------------------------------
# Arguments.


def _sizes(shape: Any, kernel: str) -> tuple[int, ...]:
    """The shape of a draw. TensorFlow takes vectors only."""
    sizes = dims(shape, "T", kernel)
    kind = shape.__class__
    if kind is not list and kind is not tuple and not isinstance(shape, TensorShape):
        if len(getattr(shape, "shape", ())) != 1:
            raise invalid("shape must be a vector of {int32,int64}, got shape []", kernel)
    size = 1
    for n in sizes:
        if n < 0:
            raise invalid(f"Dimension {n} must be >= 0", kernel)
        size *= n
    if size >= 1 << 63:
        raise invalid(f"Shape {_text(sizes)} would have more than 2**63 - 1 elements", kernel)
    return sizes


def _one_of(dtype: DType, accepted: Sequence[DType]) -> None:
    if dtype not in accepted:
        listed = ", ".join(map(repr, accepted))
        raise ValueError(
            f"Argument `dtype` got invalid value {dtype}. Accepted dtypes are ({listed})."
        )


def _attribute(dtype: DType, accepted: Sequence[DType], kernel: str) -> None:
    if dtype not in accepted:
        listed = ", ".join(map(tf_dtype_name, accepted))
        raise invalid(
            f"Value for attr 'dtype' of {tf_dtype_name(dtype)} is not in the list of allowed "
            f"values: {listed}\n\t; NodeDef: {{{{node {kernel}}}}}",
            kernel,
        )


_FLOATING = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)
_SIGNED = (dtypes.int32, dtypes.int64)
_UNSIGNED = (dtypes.uint32, dtypes.uint64)
_COUNTS = (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)


def _is_number(value: Any, number: float) -> bool:
    return (value.__class__ is float or value.__class__ is int) and value == number


def _broadcasts(avals: tuple[Aval, ...], shape: tuple[int, ...], dtype: DType) -> None:
    whole = aval(shape, dtype)
    for known in reversed(avals[1:]):
        check_broadcast(whole, known, "AddV2")


def _ends(kernel: str) -> Callable[..., None]:
    """A check that the shape of a draw ends with that of its parameters."""

    def check(avals: tuple[Aval, ...], shape: tuple[int, ...], dtype: DType) -> None:
        end = _broadcast(avals[1:], kernel)
        if len(end) > len(shape) or shape[len(shape) - len(end) :] != end:
            raise invalid("Shape passed in must end with broadcasted shape.", kernel)

    return check


def _broadcast(avals: Sequence[Aval], kernel: str) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*(known.shape for known in avals))
    except ValueError:
        shapes = " vs. ".join(_text(known.shape) for known in avals)
        raise invalid(f"Incompatible shapes: {shapes}", kernel) from None


# ---------------------------------------------------------------------------------------------
# The draws, as JAX functions of a key and of parameters.


def _draw_normal(key: Any, *moments: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    return _located(jax.random.normal(_key(key), shape, dtype.np_dtype), moments)


def _draw_truncated(key: Any, *moments: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    two = jnp.asarray(2, dtype.np_dtype)
    return _located(
        jax.random.truncated_normal(_key(key), -two, two, shape, dtype.np_dtype), moments
    )


def _located(noise: Any, moments: tuple[Any, ...]) -> Any:
    return noise * moments[1] + moments[0] if moments else noise


def _draw_between(
    key: Any, mean: Any, deviation: Any, low: Any, high: Any, shape: tuple[int, ...], dtype: DType
) -> Any:
    # As in TensorFlow, the gradient by the mean and the deviation holds the bounds of the noise.
    center, scale = lax.stop_gradient(mean), lax.stop_gradient(deviation)
    noise = jax.random.truncated_normal(
        _key(key), (low - center) / scale, (high - center) / scale, shape, dtype.np_dtype
    )
    return noise * deviation + mean


def _draw_uniform(key: Any, *bounds: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    share = jax.random.uniform(_key(key), shape, dtype.np_dtype)
    return share * (bounds[1] - bounds[0]) + bounds[0] if bounds else share


def _draw_integers(key: Any, low: Any, high: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    return jax.random.randint(_key(key), shape, low, high, dtype.np_dtype)


def _draw_bits(key: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    unsigned = np.uint32 if dtype.size == 4 else np.uint64
    bits = jax.random.bits(_key(key), shape, unsigned)
    return lax.bitcast_convert_type(bits, dtype.np_dtype)


def _draw_gamma(key: Any, alpha: Any, beta: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    sample = jax.random.gamma(_key(key), jnp.broadcast_to(alpha, shape), shape, dtype.np_dtype)
    least = jnp.asarray(jnp.finfo(dtype.np_dtype).tiny, dtype.np_dtype)
    sample = sample / beta
    return jnp.where(sample < least, least, sample)


def _draw_poisson(key: Any, rate: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    count = jax.random.poisson(_key(key), jnp.broadcast_to(rate, shape), shape, np.int64)
    return jnp.maximum(count, 0).astype(dtype.np_dtype)


def _draw_binomial(key: Any, counts: Any, probs: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    kind = np.float64 if np.float64 in (counts.dtype, probs.dtype) else np.float32
    count = jax.random.binomial(
        _key(key),
        jnp.broadcast_to(jnp.maximum(counts, 0), shape).astype(kind),
        jnp.broadcast_to(jnp.clip(probs, 0, 1), shape).astype(kind),
        shape,
        kind,
    )
    return jnp.nan_to_num(count).astype(dtype.np_dtype)


def _draw_categories(key: Any, logits: Any, count: int, dtype: DType) -> Any:
    logits = logits.astype(np.float64)
    usable = jnp.isfinite(logits)
    largest = jnp.max(jnp.where(usable, logits, -jnp.inf), axis=1, keepdims=True)
    odds = jnp.where(usable, jnp.exp(logits - jnp.where(jnp.isfinite(largest), largest, 0)), 0)
    upto = jnp.cumsum(odds, axis=1)
    total = upto[:, -1:]
    share = jax.random.uniform(_key(key), (logits.shape[0], count), np.float64) * total
    share = jnp.minimum(share, jnp.nextafter(total, 0.0))  # the product may round up
    find = jax.vmap(lambda row, wanted: jnp.searchsorted(row, wanted, side="right"))
    return find(upto, share).astype(dtype.np_dtype)


def _check_categories(avals: tuple[Aval, ...], count: int, dtype: DType) -> None:
    shape = avals[1].shape
    if len(shape) != 2:
        raise invalid(f"logits should be a matrix, got shape {_text(shape)}", "Multinomial")
    if count < 0:
        raise invalid(f"num_samples should be non-negative, got {count}", "Multinomial")
    if shape[1] <= 0:
        raise invalid(f"num_classes should be positive, got {shape[1]}", "Multinomial")


def _draw_order(key: Any, value: Any) -> Any:
    if not value.ndim:
        return value
    # Sorted by 64 random bits once; `jax.random.permutation` sorts twice by 32.
    bits = jax.random.bits(_key(key), value.shape[:1], np.uint64)
    return jnp.take(value, jnp.argsort(bits), axis=0)


def _fold(seed: Any, data: Any) -> Any:
    first = _draw_bits(seed, (), dtypes.from_numpy(data.dtype))
    return jnp.stack([first, data])


def _random(
    draw: Callable[..., Any], kernel: str, differentiable: bool = False, check: Any = None
) -> Op:
    return Op(draw, kernel, differentiable=differentiable, check=check, on_host=False)


_NORMAL = _random(_draw_normal, "RandomStandardNormal", True, _broadcasts)
_TRUNCATED = _random(_draw_truncated, "TruncatedNormal", True, _broadcasts)
_BETWEEN = _random(
    _draw_between,
    "StatelessParameterizedTruncatedNormal",
    True,
    _ends("StatelessParameterizedTruncatedNormal"),
)
_UNIFORM = _random(_draw_uniform, "RandomUniform", True, _broadcasts)
_INTEGERS = _random(_draw_integers, "RandomUniformInt")
_BITS = _random(_draw_bits, "StatelessRandomUniformFullIntV2")
_GAMMA = _random(_draw_gamma, "RandomGamma", True, _ends("StatelessRandomGammaV3"))
_POISSON = _random(_draw_poisson, "RandomPoissonV2", False, _ends("StatelessRandomPoisson"))
_BINOMIAL = _random(
    _draw_binomial, "StatelessRandomBinomial", False, _ends("StatelessRandomBinomial")
)
_CATEGORIES = _random(_draw_categories, "Multinomial", False, _check_categories)
_ORDER = _random(_draw_order, "RandomShuffle")
_FOLD = _random(_fold, "StatelessRandomUniformFullIntV2")


# ---------------------------------------------------------------------------------------------
# The draws, as ops of tensors. `key` is a drawn word or a stateless seed.


def _bell(
    op: Op, key: Tensor, shape: tuple[int, ...], mean: Any, stddev: Any, dtype: Any
) -> Tensor:
    dtype = as_dtype(dtype)
    if dtype.is_floating and _is_number(mean, 0.0) and _is_number(stddev, 1.0):
        return apply(op.bind(shape=shape, dtype=dtype), (key,))
    moments = convert(mean, dtype), convert(stddev, dtype)
    _attribute(dtype, _FLOATING, op.name)
    return apply(op.bind(shape=shape, dtype=dtype), (key, *moments))


def _uniform(
    key: Tensor, shape: tuple[int, ...], minval: Any, maxval: Any, dtype: DType, kernel: str
) -> Tensor:
    if not dtype.is_integer:
        if maxval is None:
            maxval = 1
        if _is_number(minval, 0) and _is_number(maxval, 1):
            return apply(_UNIFORM.bind(shape=shape, dtype=dtype), (key,))
        bounds = convert(minval, dtype), convert(maxval, dtype)
        return apply(_UNIFORM.bind(shape=shape, dtype=dtype), (key, *bounds))
    low, high = convert(minval, dtype), convert(maxval, dtype)
    for name, bound in (("minval", low), ("maxval", high)):
        if bound._aval.shape:
            raise invalid(f"{name} must be 0-D, got shape {_text(bound._aval.shape)}", kernel)
    a, b = low._array, high._array
    if a.__class__ is np.ndarray and b.__class__ is np.ndarray and a >= b and 0 not in shape:
        raise invalid(f"Need minval < maxval, got {a} >= {b}", kernel)
    return apply(_INTEGERS.bind(shape=shape, dtype=dtype), (key, low, high))


def _gamma(key: Tensor, shape: tuple[int, ...], alpha: Tensor, beta: Tensor) -> Tensor:
    return apply(_GAMMA.bind(shape=shape, dtype=alpha.dtype), (key, alpha, beta))


def _gamma_parameters(alpha: Any, beta: Any, dtype: Any) -> tuple[Tensor, Tensor]:
    dtype = as_dtype(dtype)
    if not dtype.is_floating or dtype is dtypes.bfloat16:
        raise ValueError(f"tf.random.gamma: dtype {dtype.name} is not float16, float32 or float64")
    return convert(alpha, dtype), convert(1 if beta is None else beta, dtype)


def _categories(key: Tensor, logits: Any, count: Any, dtype: Any) -> Tensor:
    dtype = dtypes.int64 if dtype is None else as_dtype(dtype)
    _one_of(dtype, _SIGNED)
    count = int(_plain_seed(count))
    return apply(_CATEGORIES.bind(count=count, dtype=dtype), (key, convert(logits)))


def _shuffled(key: Tensor, value: Any) -> Tensor:
    value = convert(value)
    known = value._aval
    if known.dtype is not dtypes.string:
        return apply(_ORDER.bind(), (key, value))
    if not known.shape:
        return identity(value)
    places = concrete(np.arange(known.shape[0], dtype=np.int32))
    return gather(value, apply(_ORDER.bind(), (key, places)))


# ---------------------------------------------------------------------------------------------
# Stateful ops.


def normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Normal random numbers, differentiable by `mean` and `stddev`.

    Args:
      shape: of the noise; the result broadcasts it with `mean` and `stddev`.
      seed: of the op; see `tf.random.set_seed`.
    Raises: InvalidArgumentError for a bad shape; TypeError for a dtype that is not floating.

    >>> import tape_compat as tf
    >>> tf.random.normal([3, 2], mean=[5.0, 6.0], seed=1).shape
    TensorShape([3, 2])
    """
    kernel = "RandomStandardNormal"
    sizes = _sizes(shape, kernel)
    return _bell(_NORMAL, _next_key(kernel, seed), sizes, mean, stddev, dtype)


def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Normal random numbers at most two deviations from the mean; otherwise as `normal`.

    >>> import tape_compat as tf
    >>> bool(tf.reduce_all(tf.abs(tf.random.truncated_normal([1000])) <= 2.0))
    True
    """
    kernel = "TruncatedNormal"
    sizes = _sizes(shape, kernel)
    return _bell(_TRUNCATED, _next_key(kernel, seed), sizes, mean, stddev, dtype)


def uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Random numbers from `minval` up to, but without, `maxval`.

    Args:
      minval, maxval: tensors of `dtype`, scalars for integers; floats are differentiable by them.
        `maxval` is 1 by default for floats and must be given for integers.
      dtype: floating, int32 or int64.
      seed: of the op; see `tf.random.set_seed`.
    Raises: ValueError for another dtype or a missing `maxval`; InvalidArgumentError for an empty
      range of integers or a bad shape.

    >>> import tape_compat as tf
    >>> sorted(set(tf.random.uniform([200], 2, 5, tf.int32, seed=1).numpy().tolist()))
    [2, 3, 4]
    """
    dtype = as_dtype(dtype)
    _one_of(dtype, (*_FLOATING, *_SIGNED))
    if maxval is None and dtype.is_integer:
        raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
    kernel = "RandomUniformInt" if dtype.is_integer else "RandomUniform"
    sizes = _sizes(shape, kernel)
    return _uniform(_next_key(kernel, seed), sizes, minval, maxval, dtype, kernel)


def gamma(
    shape: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """`shape` draws from each of the Gamma distributions `alpha`, `beta` (the inverse scale).

    The result, of shape `shape` + that of `alpha` and `beta` broadcast, is differentiable by both.

    >>> import tape_compat as tf
    >>> tf.random.gamma([4], [0.5, 1.5]).shape
    TensorShape([4, 2])
    """
    kernel = "RandomGamma"
    sizes = _sizes(shape, kernel)
    alpha, beta = _gamma_parameters(alpha, beta, dtype)
    end = _broadcast((alpha._aval, beta._aval), "BroadcastArgs")
    return _gamma(_next_key(kernel, seed), (*sizes, *end), alpha, beta)


def poisson(
    shape: Any,
    lam: Any,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """`shape` draws from each of the Poisson distributions of rates `lam`, not differentiable.

    >>> import tape_compat as tf
    >>> tf.random.poisson([4], [0.5, 1.5]).shape
    TensorShape([4, 2])
    """
    kernel = "RandomPoissonV2"
    sizes, lam, dtype = _sizes(shape, kernel), convert(lam), as_dtype(dtype)
    _attribute(dtype, _COUNTS, kernel)
    closure = _POISSON.bind(shape=(*sizes, *lam._aval.shape), dtype=dtype)
    return apply(closure, (_next_key(kernel, seed), lam))


def categorical(
    logits: Any,
    num_samples: Any,
    dtype: Any = None,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Classes drawn by the unnormalized log-probabilities `logits` [batch, classes].

    Returns: int64 (or `dtype`: int32) Tensor [batch, num_samples].

    >>> import tape_compat as tf
    >>> tf.random.categorical([[0.0, -1e9]], 3).numpy().tolist()
    [[0, 0, 0]]
    """
    return _categories(_next_key("Multinomial", seed), logits, num_samples, dtype)


def shuffle(value: Any, seed: Any = None, name: str | None = None) -> Tensor:
    """`value` with its rows (along axis 0) in random order. Its gradient is None.

    >>> import tape_compat as tf
    >>> sorted(tf.random.shuffle([3, 1, 2]).numpy().tolist())
    [1, 2, 3]
    """
    return _shuffled(_next_key("RandomShuffle", seed), value)


# ---------------------------------------------------------------------------------------------
# Stateless ops: the seed says it all.


def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """`normal`, the same for the same `seed`: two integers, int32 or int64.

    >>> import tape_compat as tf
    >>> a, b = (tf.random.stateless_normal([2], seed=[1, 2]) for _ in range(2))
    >>> bool(tf.reduce_all(a == b))
    True
    """
    _algorithm(alg)
    sizes = _sizes(shape, "StatelessRandomNormalV2")
    return _bell(_NORMAL, _seed_tensor(seed), sizes, mean, stddev, dtype)


def stateless_truncated_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """`truncated_normal`, the same for the same `seed` [2].

    >>> import tape_compat as tf
    >>> tf.random.stateless_truncated_normal([3], seed=[1, 2]).shape
    TensorShape([3])
    """
    _algorithm(alg)
    sizes = _sizes(shape, "StatelessTruncatedNormalV2")
    return _bell(_TRUNCATED, _seed_tensor(seed), sizes, mean, stddev, dtype)


def stateless_parameterized_truncated_normal(
    shape: Any,
    seed: Any,
    means: Any = 0.0,
    stddevs: Any = 1.0,
    minvals: Any = -2.0,
    maxvals: Any = 2.0,
    name: str | None = None,
) -> Tensor:
    """Normal random numbers between `minvals` and `maxvals`, the same for the same `seed` [2].

    `shape` must end with the shape of the parameters broadcast; differentiable by all four.

    >>> import tape_compat as tf
    >>> x = tf.random.stateless_parameterized_truncated_normal([9], [1, 2], minvals=0.0)
    >>> bool(tf.reduce_all(x >= 0.0))
    True
    """
    sizes = _sizes(shape, _BETWEEN.name)
    key = _seed_tensor(seed)
    first = convert(means)
    dtype = first._aval.dtype
    _attribute(dtype, _FLOATING, _BETWEEN.name)
    others = (convert(x, dtype) for x in (stddevs, minvals, maxvals))
    return apply(_BETWEEN.bind(shape=sizes, dtype=dtype), (key, first, *others))


def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """`uniform`, the same for the same `seed` [2].

    Integers without `minval` and `maxval` (None, None) are drawn from all that the dtype has,
    which uint32 and uint64 must be.

    >>> import tape_compat as tf
    >>> x = tf.random.stateless_uniform([100], [1, 2], 0, 10, tf.int32)
    >>> 0 <= int(tf.reduce_min(x)) and int(tf.reduce_max(x)) < 10
    True
    """
    _algorithm(alg)
    dtype = as_dtype(dtype)
    _one_of(dtype, (*_FLOATING, *_SIGNED, *_UNSIGNED))
    if dtype.is_integer and (minval is None) != (maxval is None):
        raise ValueError(
            f"For integer `dtype` argument {dtype}, argument `minval` and `maxval` must be both "
            f"None or not None. Got `minval`={minval} and `maxval`={maxval}."
        )
    kernel = "StatelessRandomUniformIntV2" if dtype.is_integer else "StatelessRandomUniformV2"
    sizes = _sizes(shape, kernel)
    if dtype.is_integer and minval is None:
        return apply(_BITS.bind(shape=sizes, dtype=dtype), (_seed_tensor(seed),))
    if dtype in _UNSIGNED:
        raise ValueError(
            f"Argument `dtype` got invalid value {dtype} when argument `minval` is not None. "
            "Please don't use unsigned integers in this case."
        )
    return _uniform(_seed_tensor(seed), sizes, minval, maxval, dtype, kernel)


def stateless_gamma(
    shape: Any,
    seed: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Gamma random numbers, the same for the same `seed` [2], differentiable by `alpha`, `beta`.

    `shape` is that of the result and must end with the shape of the parameters broadcast.

    >>> import tape_compat as tf
    >>> tf.random.stateless_gamma([4, 2], [1, 2], [0.5, 1.5]).shape
    TensorShape([4, 2])
    """
    sizes = _sizes(shape, "StatelessRandomGammaV3")
    return _gamma(_seed_tensor(seed), sizes, *_gamma_parameters(alpha, beta, dtype))


def stateless_poisson(
    shape: Any,
    seed: Any,
    lam: Any,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Poisson random numbers, the same for the same `seed` [2].

    `shape` is that of the result and must end with that of `lam`.

    >>> import tape_compat as tf
    >>> tf.random.stateless_poisson([4, 2], [1, 2], [0.5, 1.5]).dtype
    tf.int32
    """
    kernel = "StatelessRandomPoisson"
    sizes, dtype = _sizes(shape, kernel), as_dtype(dtype)
    _attribute(dtype, _COUNTS, kernel)
    return apply(_POISSON.bind(shape=sizes, dtype=dtype), (_seed_tensor(seed), convert(lam)))


def stateless_binomial(
    shape: Any,
    seed: Any,
    counts: Any,
    probs: Any,
    output_dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Successes in `counts` trials of probability `probs`, the same for the same `seed` [2].

    `shape` is that of the result and must end with the shape of the parameters broadcast.

    >>> import tape_compat as tf
    >>> tf.random.stateless_binomial([3], [1, 2], counts=7.0, probs=[0.0, 1.0, 0.0])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([0, 7, 0], dtype=int32)>
    """
    return _binomial(_seed_tensor(seed), shape, counts, probs, output_dtype)


def _binomial(key: Tensor, shape: Any, counts: Any, probs: Any, dtype: Any) -> Tensor:
    sizes, dtype = _sizes(shape, _BINOMIAL.name), as_dtype(dtype)
    _attribute(dtype, _COUNTS, _BINOMIAL.name)
    probs = convert(probs)
    counts = convert(counts, hint=probs.dtype)
    return apply(_BINOMIAL.bind(shape=sizes, dtype=dtype), (key, counts, probs))


def stateless_categorical(
    logits: Any,
    num_samples: Any,
    seed: Any,
    dtype: Any = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """`categorical`, the same for the same `seed` [2].

    >>> import tape_compat as tf
    >>> tf.random.stateless_categorical([[0.0, -1e9]], 3, [1, 2]).numpy().tolist()
    [[0, 0, 0]]
    """
    return _categories(_seed_tensor(seed), logits, num_samples, dtype)


def _stateless_shuffle(
    value: Any, seed: Any, alg: Any = "auto_select", name: str | None = None
) -> Tensor:
    """`shuffle`, the same for the same `seed` [2]."""
    _algorithm(alg)
    return _shuffled(_seed_tensor(seed), value)


def split(seed: Any, num: Any = 2, alg: Any = "auto_select") -> Tensor:
    """`num` new seeds made from one: [num, 2], of the dtype of `seed` [2].

    >>> import tape_compat as tf
    >>> tf.random.split([1, 2], 3).shape
    TensorShape([3, 2])
    """
    _algorithm(alg)
    key = _seed_tensor(seed)
    sizes = _sizes([num, 2], _BITS.name)
    return apply(_BITS.bind(shape=sizes, dtype=key.dtype), (key,))


def fold_in(seed: Any, data: Any, alg: Any = "auto_select") -> Tensor:
    """A new seed [2] made from `seed` [2] and a scalar `data`, of the dtype of `data`.

    >>> import tape_compat as tf
    >>> tf.random.fold_in([1, 2], 5).shape
    TensorShape([2])
    """
    _algorithm(alg)
    key, data = _seed_tensor(seed), convert(data)
    _one_of(data.dtype, (*_SIGNED, *_UNSIGNED))
    return apply(_FOLD.bind(), (key, data))


# ---------------------------------------------------------------------------------------------
# Generators.


class Algorithm(enum.Enum):
    """The generators that TensorFlow names. Here they lay out a state; JAX draws the numbers."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


#: Words of a state: a counter, then one word of key.
_STATE_SIZE = {1: 3, 2: 2}
#: How far a draw moves the counter for each number drawn.
_PER_NUMBER = 256
_STATE_LOCK = threading.Lock()


def _algorithm(alg: Any) -> int:
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
    number = int(_plain_seed(alg))
    if number not in (1, 2, 3):
        raise ValueError(f"Argument `alg` got unsupported value {alg}.")
    return number


def _layout(alg: Any) -> int:
    """The algorithm of a generator: Philox, unless it says otherwise."""
    number = 1 if alg is None else _algorithm(alg)
    return 1 if number == Algorithm.AUTO_SELECT.value else number


def _signed(words: Sequence[int]) -> np.ndarray:
    return np.array([w & _MASK for w in words], np.uint64).view(np.int64)


def _state_array(state: Any, alg: int) -> np.ndarray:
    array = np.array(convert(state)._value())
    if array.dtype.kind not in "iu":
        raise TypeError(f"The state of a generator must be integers, not {array.dtype.name}")
    if array.shape != (_STATE_SIZE[alg],):
        raise ValueError(f"Shapes {array.shape} and [{_STATE_SIZE[alg]}] are incompatible")
    return array.astype(np.int64)


def create_rng_state(seed: Any, alg: Any) -> Tensor:
    """The state, int64 [3] ([2] for ThreeFry), that a generator made from `seed` has.

    >>> import tape_compat as tf
    >>> tf.random.create_rng_state(7, "philox").numpy().tolist()
    [7, 0, 0]
    """
    size = _STATE_SIZE[_layout(alg)]
    seed = _plain_seed(seed)
    if seed.__class__ is int:
        return concrete(_signed([seed >> (64 * i) for i in range(size)]))
    words = np.atleast_1d(np.asarray(seed)).astype(np.int64).ravel()[:size]
    return concrete(np.concatenate([np.zeros(size - len(words), np.int64), words]))


class Generator:
    """A generator of random numbers with a state of its own, a variable.

    Args:
      copy_from: a generator to start from, or else both of
      state: integers [3] ([2] for ThreeFry), and
      alg: "philox", "threefry" or "auto_select".

    The state moves as TensorFlow's does; the numbers are JAX's.

    >>> import tape_compat as tf
    >>> one, two = tf.random.Generator.from_seed(1), tf.random.Generator.from_seed(1)
    >>> bool(tf.reduce_all(one.normal([3]) == two.normal([3])))
    True
    """

    def __init__(self, copy_from: Generator | None = None, state: Any = None, alg: Any = None):
        if copy_from is not None:
            if state is not None or alg is not None:
                raise ValueError("Generator: copy_from stands alone, without state and alg")
            self._alg = copy_from._alg
            array = copy_from._state.numpy()
        else:
            if state is None or alg is None:
                raise ValueError("Generator: copy_from, or state and alg, must be given")
            self._alg = _layout(alg)
            array = _state_array(state, self._alg)
        self._state = Variable(array, trainable=False, name="StateVar", dtype=dtypes.int64)

    @classmethod
    def from_state(cls, state: Any, alg: Any) -> Generator:
        """A generator with this state."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """A generator from an integer, of any size, or a vector of them."""
        alg = _layout(alg)
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """A generator that nobody can predict."""
        alg = _layout(alg)
        return cls(state=_signed([secrets.randbits(64) for _ in range(_STATE_SIZE[alg])]), alg=alg)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any) -> Generator:
        """A generator with this key (a scalar) and counter ([2]; a scalar for ThreeFry)."""
        alg = _layout(alg)
        return cls(state=_joined(key, counter), alg=alg)

    @property
    def algorithm(self) -> int:
        """1 for Philox, 2 for ThreeFry."""
        return self._alg

    @property
    def state(self) -> Variable:
        """The state, a variable: save it, restore it, assign to it."""
        return self._state

    @property
    def key(self) -> Tensor:
        """The word of the state that is not the counter."""
        return concrete(self._state.numpy()[-1:].reshape(()))

    def reset(self, state: Any) -> None:
        """Set the state. Raises ValueError for a wrong shape."""
        self._state.assign(_state_array(state, self._alg))

    def reset_from_seed(self, seed: Any) -> None:
        """Set the state to what `from_seed` starts with."""
        self.reset(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Set the state to what `from_key_counter` starts with."""
        self.reset(_joined(key, counter))

    def skip(self, delta: Any) -> Tensor:
        """Move on as if `delta` numbers had been drawn. Returns the state before."""
        return concrete(self._advance(int(_plain_seed(delta)))[0])

    def _advance(self, numbers: int) -> tuple[np.ndarray, list[int]]:
        """Move the counter. The state before, signed, and as words."""
        with _STATE_LOCK:
            before = self._state.numpy()
            words = [int(w) & _MASK for w in before]
            counter = sum(w << (64 * i) for i, w in enumerate(words[:-1])) + numbers * _PER_NUMBER
            moved = [counter >> (64 * i) for i in range(len(words) - 1)]
            self._state.assign(concrete(_signed([*moved, words[-1]])))
        return before, words

    def _word(self, numbers: int) -> int:
        """The key of the next draw, of so many numbers, as a word."""
        word = 0
        for part in reversed(self._advance(numbers)[1]):
            word = _mix((word ^ part) + _STEP)
        return word

    def _key(self, sizes: tuple[int, ...]) -> Tensor:
        numbers = 1
        for n in sizes:
            numbers *= n
        return _key_of(self._word(numbers))

    def _words(self, count: Any) -> np.ndarray:
        count = _sizes([count], _BITS.name)[0]
        start = self._word(count)
        return _signed([_mix(start + (i + 1) * _STEP) for i in range(count)])

    def make_seeds(self, count: int = 1) -> Tensor:
        """Seeds for `count` stateless ops, int64 [2, count]."""
        words = self._words(count)
        return concrete(np.stack([words, np.zeros_like(words)]))

    def split(self, count: int = 1) -> list[Generator]:
        """`count` new generators, independent of each other and of this one."""
        counter = [0] * (_STATE_SIZE[self._alg] - 1)
        return [
            Generator(state=np.array([*counter, word], np.int64), alg=self._alg)
            for word in self._words(count).tolist()
        ]

    def normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """As `tf.random.normal`."""
        sizes = _sizes(shape, "StatelessRandomNormalV2")
        return _bell(_NORMAL, self._key(sizes), sizes, mean, stddev, dtype)

    def truncated_normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """As `tf.random.truncated_normal`."""
        sizes = _sizes(shape, "StatelessTruncatedNormalV2")
        return _bell(_TRUNCATED, self._key(sizes), sizes, mean, stddev, dtype)

    def uniform(
        self,
        shape: Any,
        minval: Any = 0,
        maxval: Any = None,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """As `tf.random.stateless_uniform`, without the seed."""
        dtype = as_dtype(dtype)
        if dtype.is_integer and (minval is None) != (maxval is None):
            raise ValueError(
                f"For integer dtype {dtype}, minval and maxval must be both `None` or both "
                f"non-`None`; got minval={minval} and maxval={maxval}"
            )
        if dtype.is_integer and minval is None:
            return self.uniform_full_int(shape, dtype)
        kernel = "StatelessRandomUniformIntV2" if dtype.is_integer else "StatelessRandomUniformV2"
        _attribute(dtype, (*_FLOATING, *_SIGNED), kernel)
        sizes = _sizes(shape, kernel)
        return _uniform(self._key(sizes), sizes, minval, maxval, dtype, kernel)

    def uniform_full_int(
        self, shape: Any, dtype: Any = dtypes.uint64, name: str | None = None
    ) -> Tensor:
        """Integers from all that `dtype` (int32, int64, uint32, uint64) has."""
        dtype = as_dtype(dtype)
        _attribute(dtype, (*_SIGNED, *_UNSIGNED), _BITS.name)
        sizes = _sizes(shape, _BITS.name)
        return apply(_BITS.bind(shape=sizes, dtype=dtype), (self._key(sizes),))

    def binomial(
        self,
        shape: Any,
        counts: Any,
        probs: Any,
        dtype: Any = dtypes.int32,
        name: str | None = None,
    ) -> Tensor:
        """As `tf.random.stateless_binomial`, without the seed."""
        key = self._key(_sizes(shape, _BINOMIAL.name))
        return _binomial(key, shape, counts, probs, dtype)


def _joined(key: Any, counter: Any) -> np.ndarray:
    parts = [np.atleast_1d(np.array(convert(x)._value())).ravel() for x in (counter, key)]
    return np.concatenate([part.astype(np.int64) for part in parts])


_global_generator: Generator | None = None


def get_global_generator() -> Generator:
    """The generator shared by the process; unpredictable until `set_global_generator`.

    >>> import tape_compat as tf
    >>> tf.random.get_global_generator() is tf.random.get_global_generator()
    True
    """
    global _global_generator
    if _global_generator is None:
        with _STATE_LOCK:
            if _global_generator is None:
                _global_generator = Generator.from_non_deterministic_state()
    return _global_generator


def set_global_generator(generator: Generator) -> None:
    """Put another generator in the place of the shared one.

    >>> import tape_compat as tf
    >>> tf.random.set_global_generator(tf.random.Generator.from_seed(1))
    >>> tf.random.get_global_generator().state.numpy().tolist()
    [1, 0, 0]
    """
    global _global_generator
    _global_generator = generator


#: `tf.random.experimental`.
experimental = SimpleNamespace(
    Algorithm=Algorithm,
    Generator=Generator,
    create_rng_state=create_rng_state,
    get_global_generator=get_global_generator,
    set_global_generator=set_global_generator,
    stateless_fold_in=fold_in,
    stateless_shuffle=_stateless_shuffle,
    stateless_split=split,
)
