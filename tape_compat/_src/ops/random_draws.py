"""Random draws as ops of tensors: `key` is that of a draw, or a stateless seed. The numbers are
TensorFlow's where they are simple."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core import dtypes
from ..core.avals import Aval
from ..core.dimensions import Size, broadcast, is_symbolic, less
from ..core.dtypes import DType, as_dtype
from ..core.op import Op
from ..core.refuse import invalid, not_allowed, shown, tf_dtype_name
from ..core.shapes import TensorShape
from ..values.convert import convert
from ..values.record import apply, identity
from ..values.tensor import Tensor, concrete
from . import philox, philox_host
from .arguments import as_scalar, as_size, dims
from .declare import check_broadcast, is_number
from .gather_scatter import gather
from .random_keys import RESERVED, typed_key
from .special_pairs import random_gamma_grad


def draw_shape(shape: Any, kernel: str) -> tuple[int, ...]:
    """The shape of a draw. TensorFlow takes vectors only."""
    sizes = dims(shape, "T", kernel)
    if not isinstance(shape, (list, tuple, TensorShape)):
        if len(getattr(shape, "shape", ())) != 1:
            raise invalid("shape must be a vector of {int32,int64}, got shape []", kernel)
    size = 1
    for n in sizes:
        if less(n, 0):
            raise invalid(f"Dimension {n} must be >= 0", kernel)
        size *= n
    if less((1 << 63) - 1, size):
        raise invalid(f"Shape {shown(sizes)} would have more than 2**63 - 1 elements", kernel)
    return sizes


def check_one_of(dtype: DType, accepted: Sequence[DType]) -> None:
    """Refuse a dtype as the Python layer of TensorFlow does."""
    if dtype not in accepted:
        listed = ", ".join(map(repr, accepted))
        raise ValueError(
            f"Argument `dtype` got invalid value {dtype}. Accepted dtypes are ({listed})."
        )


def check_attribute(dtype: DType, accepted: Sequence[DType], kernel: str) -> None:
    """Refuse a dtype as a kernel of TensorFlow does."""
    if dtype not in accepted:
        raise not_allowed(dtype, ", ".join(map(tf_dtype_name, accepted)), kernel, "dtype")


FLOATING = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)
SIGNED = (dtypes.int32, dtypes.int64)
UNSIGNED = (dtypes.uint32, dtypes.uint64)
COUNTS = (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)


def _broadcasts(avals: tuple[Aval, ...], shape: tuple[int, ...], dtype: DType) -> None:
    whole = Aval.of(shape, dtype)
    for aval in reversed(avals[1:]):
        check_broadcast(whole, aval, "AddV2")


def _ends(kernel: str) -> Callable[..., None]:
    """A check that the shape of a draw ends with that of its parameters."""

    def check(avals: tuple[Aval, ...], shape: tuple[int, ...], dtype: DType) -> None:
        end = broadcast_shape(avals[1:], kernel)
        if len(end) > len(shape) or shape[len(shape) - len(end) :] != end:
            raise invalid("Shape passed in must end with broadcasted shape.", kernel)

    return check


def broadcast_shape(avals: Sequence[Aval], kernel: str) -> tuple[int, ...]:
    """The shape that parameters broadcast to."""
    found = broadcast([aval.shape for aval in avals] or [()])
    if found is None:
        shapes = " vs. ".join(shown(aval.shape) for aval in avals)
        raise invalid(f"Incompatible shapes: {shapes}", kernel)
    return found


def _drawn(avals: tuple[Aval, ...], shape: tuple[Any, ...], dtype: DType) -> Aval:
    """What is drawn, where a size is unknown."""
    return Aval.of(broadcast_shape([Aval.of(shape, dtype), *avals[1:]], "AddV2"), dtype)


def _draw_normal(key: Any, *moments: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    return _located(philox.normal(key, shape, dtype), moments)


def _draw_truncated(key: Any, *moments: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    return _located(philox.truncated_normal(key, shape, dtype), moments)


def _located(noise: Any, moments: tuple[Any, ...]) -> Any:
    return noise * moments[1] + moments[0] if moments else noise


def _draw_between(
    key: Any, mean: Any, deviation: Any, low: Any, high: Any, shape: tuple[int, ...], dtype: DType
) -> Any:
    # As in TensorFlow, the gradient by the mean and the deviation holds the bounds of the noise.
    center, scale = lax.stop_gradient(mean), lax.stop_gradient(deviation)
    noise = jax.random.truncated_normal(
        typed_key(key), (low - center) / scale, (high - center) / scale, shape, dtype.np_dtype
    )
    return noise * deviation + mean


def _draw_uniform(key: Any, *bounds: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    return _between(philox.uniform(key, shape, dtype), bounds)


def _between(share: Any, bounds: tuple[Any, ...]) -> Any:
    return share * (bounds[1] - bounds[0]) + bounds[0] if bounds else share


def _draw_integers(key: Any, low: Any, high: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    return philox.integers(key, shape, low, high, dtype)


def _draw_bits(key: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    unsigned = np.uint32 if dtype.size == 4 else np.uint64
    return lax.bitcast_convert_type(philox.bits(key, shape, unsigned), dtype.np_dtype)


@jax.custom_jvp
def _sample_of(alpha: Any, sample: Any) -> Any:
    """A gamma distributed sample, with its derivative by alpha."""
    return sample


@_sample_of.defjvp
def _sample_jvp(primals: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[Any, Any]:
    alpha, sample = primals
    return sample, random_gamma_grad(alpha, sample) * tangents[0]


def _gamma(key: Any, alpha: Any, beta: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    every = jnp.broadcast_to(alpha, jnp.broadcast_shapes(alpha.shape, beta.shape))
    drawn = philox.gamma(key, lax.stop_gradient(every), shape).astype(dtype.np_dtype)
    least = jnp.asarray(jnp.finfo(dtype.np_dtype).tiny, dtype.np_dtype)
    sample = _sample_of(jnp.broadcast_to(every, shape), drawn) / beta
    return jnp.where(sample < least, least, sample)


def _host_gamma(key: Any, alpha: Any, beta: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    every = np.broadcast_to(alpha, np.broadcast_shapes(alpha.shape, beta.shape))
    sample = philox_host.gamma(key, every, shape).astype(dtype.np_dtype) / beta
    least = np.asarray(jnp.finfo(dtype.np_dtype).tiny, dtype.np_dtype)
    return np.where(sample < least, least, sample)


def _draw_poisson(key: Any, rate: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    return philox.poisson(key, rate, shape, float(dtype.max)).astype(dtype.np_dtype)


def _host_poisson(key: Any, rate: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    return philox_host.poisson(key, rate, shape, float(dtype.max)).astype(dtype.np_dtype)


def _whole(avals: tuple[Aval, ...], shape: tuple[Any, ...], dtype: DType) -> Aval:
    return Aval.of(shape, dtype)


def _binomial(key: Any, counts: Any, probs: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    kind = np.float64 if np.float64 in (counts.dtype, probs.dtype) else np.float32
    count = jax.random.binomial(
        typed_key(key),
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
    shape = logits.shape[0], count
    reserved = RESERVED * class_numbers(*shape)
    share = philox.uniform(key, shape, dtypes.float64, reserved) * total
    share = jnp.minimum(share, jnp.nextafter(total, 0.0))  # the product may round up
    find = jax.vmap(lambda row, wanted: jnp.searchsorted(row, wanted, side="right"))
    return find(upto, share).astype(dtype.np_dtype)


def _check_categories(avals: tuple[Aval, ...], count: int, dtype: DType) -> None:
    shape = avals[1].shape
    if len(shape) != 2:
        raise invalid(f"logits should be a matrix, got shape {shown(shape)}", "Multinomial")
    if less(count, 0):
        raise invalid(f"num_samples should be non-negative, got {count}", "Multinomial")
    if shape[1] <= 0:
        raise invalid(f"num_classes should be positive, got {shape[1]}", "Multinomial")


def _draw_order(key: Any, value: Any) -> Any:
    if not value.ndim:
        return value

    def sorted_by_bits(key: Any) -> Any:
        # By 64 random bits once; `jax.random.permutation` sorts twice by 32.
        return jnp.argsort(jax.random.bits(typed_key(key), value.shape[:1], np.uint64))

    if is_symbolic(value.shape[0]):  # in a program of a SavedModel
        return jnp.take(value, sorted_by_bits(key), axis=0)
    # One element after the other, which accelerators are slow at.
    swapped = functools.partial(philox.order, count=operator.index(value.shape[0]))
    order = lax.platform_dependent(key, cpu=swapped, default=sorted_by_bits)
    return jnp.take(value, order, axis=0)


def class_numbers(rows: int, count: int) -> int:
    """How many numbers a draw of classes takes."""
    return 2 * rows * -(-count // 4) * 4


def _fold(seed: Any, data: Any) -> Any:
    first = _draw_bits(seed, (), dtypes.from_numpy(data.dtype))
    return jnp.stack([first, data])


def _host_normal(key: Any, *moments: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    return _located(philox_host.normal(key, shape, dtype), moments)


def _host_truncated(key: Any, *moments: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    return _located(philox_host.truncated_normal(key, shape, dtype), moments)


def _host_uniform(key: Any, *bounds: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    return _between(philox_host.uniform(key, shape, dtype), bounds)


def _host_integers(key: Any, low: Any, high: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    return philox_host.integers(key, low, high, shape, dtype)


def _host_bits(key: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    unsigned = np.uint32 if dtype.size == 4 else np.uint64
    return philox_host.bits(key, shape, unsigned).view(dtype.np_dtype)


def _host_categories(key: Any, logits: Any, count: int, dtype: DType) -> Any:
    logits = logits.astype(np.float64)
    usable = np.isfinite(logits)
    largest = np.max(logits, axis=1, keepdims=True, initial=-np.inf, where=usable)
    largest[np.isinf(largest)] = 0
    upto = np.cumsum(np.exp(logits - largest, out=np.zeros_like(logits), where=usable), axis=1)
    total = upto[:, -1:]
    shape = logits.shape[0], count
    reserved = RESERVED * class_numbers(*shape)
    share = philox_host.uniform(key, shape, dtypes.float64, reserved) * total
    share = np.minimum(share, np.nextafter(total, 0.0))
    found = np.empty(shape, dtype.np_dtype)
    for out, row, wanted in zip(found, upto, share, strict=True):
        out[:] = np.searchsorted(row, wanted, side="right")
    return found


def _host_order(key: Any, value: Any) -> Any:
    if not value.ndim:
        return value
    return np.take(value, philox_host.order(key, len(value)), axis=0)


def _random(draw: Callable[..., Any], kernel: str, **more: Any) -> Op:
    kept = {"differentiable": False, "kernels": True, **more}
    return Op(draw, kernel, host_foldable=False, **kept)


def _located_op(draw: Callable[..., Any], kernel: str, host: Callable[..., Any]) -> Op:
    return _random(draw, kernel, differentiable=True, check=_broadcasts, shapes=_drawn, host=host)


NORMAL = _located_op(_draw_normal, "RandomStandardNormal", _host_normal)
TRUNCATED = _located_op(_draw_truncated, "TruncatedNormal", _host_truncated)
_UNIFORM = _located_op(_draw_uniform, "RandomUniform", _host_uniform)
BETWEEN = _random(
    _draw_between,
    "StatelessParameterizedTruncatedNormal",
    differentiable=True,
    check=_ends("StatelessParameterizedTruncatedNormal"),
)
_INTEGERS = _random(_draw_integers, "RandomUniformInt", shapes=_drawn, host=_host_integers)
BITS = _random(_draw_bits, "StatelessRandomUniformFullIntV2", shapes=_drawn, host=_host_bits)
_GAMMA = _random(
    _gamma,
    "RandomGamma",
    differentiable=True,
    check=_ends("StatelessRandomGammaV3"),
    shapes=_whole,
    host=_host_gamma,
)
POISSON = _random(
    _draw_poisson,
    "RandomPoissonV2",
    check=_ends("StatelessRandomPoisson"),
    shapes=_whole,
    host=_host_poisson,
)
BINOMIAL = _random(_binomial, "StatelessRandomBinomial", check=_ends("StatelessRandomBinomial"))
_CATEGORIES = _random(
    _draw_categories,
    "Multinomial",
    check=_check_categories,
    shapes=lambda avals, count, dtype: Aval.of((avals[1].shape[0], count), dtype),
    host=_host_categories,
)
_ORDER = _random(_draw_order, "RandomShuffle", shapes=lambda avals: avals[1], host=_host_order)
FOLD = _random(_fold, "StatelessRandomUniformFullIntV2")


def draw_bell(
    op: Op, key: Tensor, shape: tuple[int, ...], mean: Any, stddev: Any, dtype: Any
) -> Tensor:
    """A draw of `op`, times stddev, plus mean."""
    dtype = as_dtype(dtype)
    if dtype.is_floating and is_number(mean, 0.0) and is_number(stddev, 1.0):
        return apply(op.bind(shape=shape, dtype=dtype), (key,))
    moments = convert(mean, dtype), convert(stddev, dtype)
    check_attribute(dtype, FLOATING, op.name)
    return apply(op.bind(shape=shape, dtype=dtype), (key, *moments))


def draw_flat(
    key: Tensor, shape: tuple[int, ...], minval: Any, maxval: Any, dtype: DType, kernel: str
) -> Tensor:
    """Uniform numbers or integers of [minval, maxval)."""
    if not dtype.is_integer:
        if maxval is None:
            maxval = 1
        if is_number(minval, 0) and is_number(maxval, 1):
            return apply(_UNIFORM.bind(shape=shape, dtype=dtype), (key,))
        bounds = convert(minval, dtype), convert(maxval, dtype)
        return apply(_UNIFORM.bind(shape=shape, dtype=dtype), (key, *bounds))
    low, high = convert(minval, dtype), convert(maxval, dtype)
    for name, bound in (("minval", low), ("maxval", high)):
        if bound._aval.shape:
            raise invalid(f"{name} must be 0-D, got shape {shown(bound._aval.shape)}", kernel)
    a, b = low._array, high._array
    if a.__class__ is np.ndarray and b.__class__ is np.ndarray and a >= b and 0 not in shape:
        raise invalid(f"Need minval < maxval, got {a} >= {b}", kernel)
    return apply(_INTEGERS.bind(shape=shape, dtype=dtype), (key, low, high))


def draw_gamma(key: Tensor, shape: tuple[int, ...], alpha: Tensor, beta: Tensor) -> Tensor:
    """Gamma distributed numbers."""
    return apply(_GAMMA.bind(shape=shape, dtype=alpha.dtype), (key, alpha, beta))


def gamma_parameters(alpha: Any, beta: Any, dtype: Any) -> tuple[Tensor, Tensor]:
    """alpha and beta as tensors of one floating dtype."""
    dtype = as_dtype(dtype)
    if not dtype.is_floating or dtype is dtypes.bfloat16:
        raise ValueError(f"tf.random.gamma: dtype {dtype.name} is not float16, float32 or float64")
    return convert(alpha, dtype), convert(1 if beta is None else beta, dtype)


def class_count(value: Any, kernel: str) -> Size:
    """How many classes are drawn for each row."""
    return as_size(as_scalar(value, kernel, "num_samples should be a scalar, got shape "))


def draw_classes(key: Tensor, logits: Any, count: Size, dtype: Any) -> Tensor:
    """Class numbers [rows, count] by the logits of each row."""
    dtype = dtypes.int64 if dtype is None else as_dtype(dtype)
    check_one_of(dtype, SIGNED)
    return apply(_CATEGORIES.bind(count=count, dtype=dtype), (key, convert(logits)))


def shuffled(key: Tensor, value: Any) -> Tensor:
    """The rows of a tensor in random order."""
    value = convert(value)
    aval = value._aval
    if aval.dtype is not dtypes.string:
        return apply(_ORDER.bind(), (key, value))
    if not aval.shape:
        return identity(value)
    places = concrete(np.arange(aval.shape[0], dtype=np.int32))
    return gather(value, apply(_ORDER.bind(), (key, places)))
