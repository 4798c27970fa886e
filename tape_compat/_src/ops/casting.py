"""From one dtype to another."""

from __future__ import annotations

import logging
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core import dtypes, errors
from ..core.avals import Aval
from ..core.caches import Cache
from ..core.dtypes import DType, as_dtype
from ..core.op import Op
from ..core.refuse import invalid, not_allowed, tf_dtype_name
from ..values import operators
from ..values.composite import CompositeTensor
from ..values.convert import convert
from ..values.dispatch import called, takes_composites
from ..values.indexed_slices import IndexedSlices
from ..values.record import apply
from ..values.tensor import Tensor
from ..values.variable import Variable
from .arguments import as_own_tensor, as_tensor

LOGGER = logging.getLogger("tape_compat")


def _cast(x: Any, dtype: DType) -> Any:
    to = dtype.np_dtype
    if jnp.issubdtype(x.dtype, jnp.complexfloating) and not dtype.is_complex:
        x = lax.real(x)
    return lax.convert_element_type(x, to)


def _check_cast(avals: tuple[Aval, ...], dtype: DType) -> None:
    source = avals[0].dtype
    if source is dtypes.string or dtype is dtypes.string:
        raise errors.UnimplementedError(
            None,
            None,
            f"Cast {tf_dtype_name(source)} to {tf_dtype_name(dtype)} is not supported [Op:Cast] "
            f"(at {errors.user_location()})",
        )


def _cast_slices(
    call: Any, inputs: tuple[Tensor, ...], cotangents: list[Any], want: tuple[int, ...]
) -> list[Any] | None:
    """IndexedSlices stay such: those of a table that mixed precision casts before it is read."""
    slices = cotangents[0]
    return [cast(slices, inputs[0].dtype)] if isinstance(slices, IndexedSlices) else None


_CAST = Op(
    _cast,
    "Cast",
    check=_check_cast,
    sparse=_cast_slices,
    broadcasts=True,
    of_sizes=lambda x, dtype: x,
)
_CASTS: Cache[str, Any] = Cache("casts", 64)


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """`x` in another dtype. Floats are cut towards zero; a complex number loses its imaginary part.

    A float that an integer dtype cannot hold becomes the nearest integer it holds, NaN becomes 0.
    Python numbers, arrays, variables and IndexedSlices will do, too. The gradient is cast back.

    >>> import tape_compat as tf
    >>> tf.cast(1.9, tf.int32)
    <tf.Tensor: shape=(), dtype=int32, numpy=1>
    """
    if dtype.__class__ is not DType:
        dtype = as_dtype(dtype)
    if x.__class__ is not Tensor:
        if isinstance(x, IndexedSlices):
            return IndexedSlices(cast(x.values, dtype), x.indices, x.dense_shape)
        if isinstance(x, CompositeTensor):
            found = called(cast, (x, dtype), {})
            if found is not NotImplemented:
                return found
        if isinstance(x, Variable) and x.dtype is dtype:
            return x
        x = convert(x)
    source = x._aval.dtype
    if source is dtype:
        return x
    if source.is_complex and not dtype.is_complex and not dtype.is_bool:
        LOGGER.warning(
            "You are casting an input of type %s to an incompatible dtype %s.  This will discard "
            "the imaginary part and may not be what you intended.",
            source.name,
            dtype.name,
        )
    closure = _CASTS.get(dtype.name)
    if closure is None:
        if dtype is dtypes.string:
            _check_cast((x._aval,), dtype)
        closure = _CASTS.put(dtype.name, _CAST.bind(dtype=dtype))
    return apply(closure, (x,))


def _saturate(x: Any, dtype: DType) -> Any:
    if dtype.is_bool or not jnp.issubdtype(x.dtype, jnp.number):
        return _cast(x, dtype)
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        if dtype.is_complex:
            return _cast(x, dtype)
        x = lax.real(x)
    if dtype.is_complex:
        return _cast(x, dtype)
    low, high = np.array(dtype.min), np.array(dtype.max)
    own = jnp.finfo(x.dtype) if jnp.issubdtype(x.dtype, jnp.floating) else jnp.iinfo(x.dtype)
    low, high = max(float(own.min), float(low)), min(float(own.max), float(high))
    if jnp.issubdtype(x.dtype, jnp.floating):
        # The nearest values inside the range, so that what is clipped is not rounded out of it.
        inner_low, inner_high = np.array(low).astype(x.dtype), np.array(high).astype(x.dtype)
        zero = np.zeros((), x.dtype)
        if float(inner_low) < low:
            inner_low = np.nextafter(inner_low, zero)
        if float(inner_high) > high:
            inner_high = np.nextafter(inner_high, zero)
        return _cast(jnp.maximum(jnp.minimum(x, inner_high), inner_low), dtype)
    whole_low, whole_high = max(int(own.min), int(dtype.min)), min(int(own.max), int(dtype.max))
    if dtype.is_floating:  # float16 has infinities for what is large
        return jnp.clip(_cast(x, dtype), float(dtype.min), float(dtype.max))
    return _cast(jnp.clip(x, whole_low, whole_high), dtype)


_SATURATE = Op(_saturate, "Cast", check=_check_cast)


@takes_composites
def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    """`cast`, with what is out of the range of `dtype` moved to its nearest end, infinities too.

    >>> import tape_compat as tf
    >>> tf.saturate_cast([300.0, -5.0], tf.uint8).numpy().tolist()
    [255, 0]
    """
    value, dtype = as_own_tensor(value), as_dtype(dtype)
    if value.dtype is dtype and not dtype.is_floating:
        return value
    return apply(_SATURATE.bind(dtype=dtype), (value,))


#: The dtypes whose bits can be read as others.
_OF_BITS = (
    "bfloat16, half, float, double, int64, int32, uint8, uint16, uint32, uint64, int8, int16, "
    "complex64, complex128, qint8, quint8, qint16, quint16, qint32"
)


def _check_bitcast(avals: tuple[Aval, ...], dtype: DType) -> None:
    aval = avals[0]
    for attr, given in (("T", aval.dtype), ("type", dtype)):
        if given.is_bool:
            raise not_allowed(given, _OF_BITS, "Bitcast", attr)
    ratio = dtype.np_dtype.itemsize // aval.np_dtype.itemsize
    if ratio > 1 and (not aval.shape or aval.shape[-1] != ratio):
        raise invalid(
            f"Cannot bitcast from {aval.dtype.as_datatype_enum} to {dtype.as_datatype_enum}",
            "Bitcast",
        )


def _bitcast(x: Any, dtype: DType) -> Any:
    kind = np.dtype(dtype.np_dtype)
    if "c" not in (x.dtype.kind, kind.kind):
        return lax.bitcast_convert_type(x, kind)
    whole = x.dtype.itemsize // kind.itemsize  # of the results that one number gives
    outer = x.shape if whole else x.shape[:-1]
    if x.dtype.kind == "c":
        x = jnp.stack([lax.real(x), lax.imag(x)], -1)
    units = np.dtype(f"f{kind.itemsize // 2}") if kind.kind == "c" else kind
    ratio = units.itemsize // x.dtype.itemsize
    x = x.reshape(*outer, -1, ratio) if ratio > 1 else x.reshape(*outer, -1)
    x = lax.bitcast_convert_type(x, units).reshape(*outer, -1)
    x = lax.complex(x[..., ::2], x[..., 1::2]) if kind.kind == "c" else x
    return x if whole > 1 else x.reshape(outer)


_BITCAST = Op(
    _bitcast,
    "Bitcast",
    differentiable=False,
    check=_check_bitcast,
)


@takes_composites
def bitcast(input: Any, type: Any, name: str | None = None) -> Tensor:
    """The bits of `input` read as another dtype. A smaller one adds a last axis, a larger takes it.

    >>> import tape_compat as tf
    >>> hex(int(tf.bitcast(1.0, tf.int32)))
    '0x3f800000'
    """
    return apply(_BITCAST.bind(dtype=as_dtype(type)), (as_tensor(input),))


operators.define(cast=cast)
