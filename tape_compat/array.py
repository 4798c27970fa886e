"""Making, shaping, joining, cutting and indexing tensors.

Shapes, axes and sizes are attributes: they are read when an op is called. Index tensors are inputs:
they may be pending, and their values never enter the structure of a recorded program.
"""

from __future__ import annotations

import builtins
import contextlib
import logging
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .core import convert as _convert
from .core import dispatch, dtypes, errors, operators, policy
from .core.avals import Aval, aval
from .core.bounds import dropped, on_host, refuse_positions, refuse_rows
from .core.convert import convert, to_numpy
from .core.declare import check_same_dtype, invalid, matching, name_ops, tf_dtype_name
from .core.dispatch import apply, apply1
from .core.dtypes import DType, as_dtype
from .core.indexed_slices import IndexedSlices
from .core.op import Op
from .core.shapes import TensorShape
from .core.state import LOCAL
from .core.tensor import Tensor, concrete, mark_slice, next_id, same_value
from .core.updates import unrecorded
from .core.variable import Variable

LOGGER = logging.getLogger("tape_compat")

newaxis = None

_slice, _range = builtins.slice, builtins.range


# ---------------------------------------------------------------------------------------------
# Arguments.


def _tensor(value: Any) -> Tensor:
    return value if value.__class__ is Tensor else convert(value)


def dims(value: Any, attr: str | None = None, kernel: str = "") -> tuple[int, ...]:
    """A shape, or another vector of sizes, as Python ints.

    Takes ints, lists of ints and scalar integer tensors, integer tensors, TensorShapes. A value
    that is not integer is a TypeError, or TensorFlow's error for `attr` of `kernel`.
    """
    kind = value.__class__
    if kind is list or kind is tuple:
        for item in value:
            if item.__class__ is not int:
                return tuple(_dim(x, value, attr, kernel) for x in value)
        return tuple(value)
    if kind is int:
        return (value,)
    if isinstance(value, TensorShape):
        return tuple(value.as_list())  # type: ignore[return-value]
    array = _known(value)
    if array.dtype.kind not in "iu":
        _refuse_dims(value, array.dtype, attr, kernel)
    if array.ndim > 1:
        raise invalid(f"sizes input must be 1-D, not {_dims(array.shape)}", kernel)
    return tuple(array.ravel().tolist())


def _dim(item: Any, whole: Any, attr: str | None, kernel: str) -> int:
    if isinstance(item, (list, tuple)):
        raise invalid(f"sizes input must be 1-D, not {_dims(np.shape(whole))}", kernel)
    if item is None:
        to_numpy(item)
    array = _known(item)
    if array.dtype.kind not in "iu":
        _refuse_dims(whole, array.dtype, attr, kernel)
    return int(array)


def _refuse_dims(value: Any, dtype: np.dtype, attr: str | None, kernel: str) -> None:
    if attr is None:
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype int32")
    raise _bad_attr(attr, dtypes.from_numpy(dtype), "int32, int64", kernel)


def _bad_attr(attr: str, dtype: DType, listed: str, kernel: str) -> errors.InvalidArgumentError:
    return invalid(
        f"Value for attr '{attr}' of {tf_dtype_name(dtype)} is not in the list of allowed values: "
        f"{listed}\n\t; NodeDef: {{{{node {kernel}}}}}",
        kernel,
    )


def _known(value: Any) -> np.ndarray:
    """A value as NumPy; runs what is pending if it must."""
    if isinstance(value, Tensor):
        return np.asarray(value._value())
    if hasattr(value, "_as_tensor"):
        return np.asarray(value._as_tensor()._value())
    return to_numpy(value)


def _integer(value: Any) -> int:
    return value if value.__class__ is int else int(_known(value))


def _dims(shape: Sequence[int]) -> str:
    return "[" + ",".join(map(str, shape)) + "]"


def _untracked(tensor: Tensor) -> Tensor:
    """The same value, known to no tape: for inputs to which TensorFlow gives no gradient."""
    return same_value(tensor, next_id())


def _is_text(tensor: Tensor) -> bool:
    return tensor._aval.dtype is dtypes.string


def _moved(move: Callable[..., Any], *tensors: Tensor) -> Any:
    """A movement of data on strings, which JAX does not have: made on positions, then looked up."""
    arrays = [np.asarray(t._value()) for t in tensors]
    places, start = [], 0
    for array in arrays:
        place = np.arange(start, start + array.size, dtype=np.int32).reshape(array.shape)
        places.append(concrete(place))
        start += array.size
    flat = np.concatenate([array.ravel() for array in arrays])

    def look_up(place: Any) -> Any:
        if isinstance(place, list):
            return [look_up(p) for p in place]
        index = np.asarray(place._value())
        found = flat[index.ravel()].reshape(index.shape)
        return concrete(found, aval(found.shape, dtypes.string))

    return look_up(move(*places))


# ---------------------------------------------------------------------------------------------
# Making tensors of values.


def constant(value: Any, dtype: Any = None, shape: Any = None, name: Any = "Const") -> Tensor:
    """A tensor of `value`: a number, string, array, or nested lists of them.

    Args:
      dtype: default float32 for Python floats, int32 for ints, an array's own.
      shape: a value of one element fills it; otherwise the value is reshaped to it.
    Raises: TypeError if the value does not fit `dtype` or `shape`; ValueError for ragged lists.

    >>> import tape_compat as tf
    >>> tf.constant(1.5, shape=[2])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1.5, 1.5], dtype=float32)>
    """
    dtype = None if dtype is None else as_dtype(dtype)
    if isinstance(value, Tensor):
        if dtype is not None and value.dtype is not dtype:
            raise TypeError(
                f"Expected tensor {value} with dtype {dtype!r}, but got dtype {value.dtype!r}."
            )
        tensor = value
    elif dtype is not None and isinstance(value, Variable):
        tensor = concrete(np.asarray(value.numpy()).astype(dtype.np_dtype))
    else:
        tensor = convert(value, dtype)
    if shape is None:
        return tensor
    wanted = dims(shape)
    size = int(np.prod(wanted, dtype=np.int64))
    if tensor.shape == wanted:
        return tensor
    if tensor._aval.size == size:
        return reshape(tensor, wanted)
    if tensor._aval.size == 1:
        return broadcast_to(reshape(tensor, ()), wanted)
    raise TypeError(
        "Eager execution of tf.constant with unsupported shape. Tensor "
        f"{np.asarray(tensor._value())} (converted from {value}) has {tensor._aval.size} elements, "
        f"but got `shape` {wanted} with {size} elements)."
    )


def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    dtype_hint: Any = None,
    name: str | None = None,
) -> Tensor:
    """`value` as a tensor: itself if it is one, a variable's value, otherwise a constant.

    Args:
      dtype: what it must be. Raises ValueError for a tensor of another dtype.
      dtype_hint: what it had better be; it is left alone if the value does not fit.

    >>> import tape_compat as tf
    >>> tf.convert_to_tensor([1, 2], dtype_hint=tf.float32).dtype
    tf.float32
    """
    if dtype is None and dtype_hint is None:
        return value if value.__class__ is Tensor else convert(value)
    if dtype is not None:
        return convert(value, as_dtype(dtype))
    return convert(value, hint=as_dtype(dtype_hint))


def is_tensor(x: Any) -> bool:
    """Whether `x` is a Tensor, a Variable or IndexedSlices.

    >>> import tape_compat as tf
    >>> tf.is_tensor(tf.Variable(1.0)), tf.is_tensor([1.0])
    (True, False)
    """
    return isinstance(x, (Tensor, Variable, IndexedSlices))


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor as NumPy; None for a variable or a tensor without one; else `tensor`.

    >>> import tape_compat as tf
    >>> tf.get_static_value(tf.constant([1, 2])).tolist()
    [1, 2]
    """
    if isinstance(tensor, Tensor):
        return None if tensor._is_symbolic() else tensor.numpy()
    return None if isinstance(tensor, Variable) else tensor


# ---------------------------------------------------------------------------------------------
# Values filled in.


def _full(shape: tuple[int, ...], dtype: DType, value: Any) -> Any:
    return jnp.full(shape, value, dtype.np_dtype)


_FULL = Op(_full, "Fill")
_FILL = Op(lambda value, shape: jnp.broadcast_to(value, shape), "Fill")


def _filled(shape: tuple[int, ...], dtype: DType, value: Any) -> Tensor:
    size = 1
    for i, n in enumerate(shape):
        if n < 0:
            raise invalid(f"Dimension {shape[i]} must be >= 0", "Fill")
        size *= n
    if dtype is dtypes.string:
        array = np.empty(shape, object)
        array.fill(value)
        return concrete(array, aval(shape, dtype))
    if size <= policy.HOST_SIZE:
        return concrete(np.full(shape, value, dtype.np_dtype), aval(shape, dtype))
    return apply(_FULL.bind(shape=shape, dtype=dtype, value=value), ())


def zeros(
    shape: Any, dtype: Any = dtypes.float32, name: str | None = None, layout: Any = None
) -> Tensor:
    """Zeros (False, empty strings) of `shape`.

    >>> import tape_compat as tf
    >>> tf.zeros([2], tf.int32).numpy().tolist()
    [0, 0]
    """
    dtype = as_dtype(dtype)
    return _filled(dims(shape), dtype, b"" if dtype is dtypes.string else 0)


def ones(
    shape: Any, dtype: Any = dtypes.float32, name: str | None = None, layout: Any = None
) -> Tensor:
    """Ones (True) of `shape`. Raises TypeError for strings.

    >>> import tape_compat as tf
    >>> tf.ones([2]).numpy().tolist()
    [1.0, 1.0]
    """
    dtype = as_dtype(dtype)
    if dtype is dtypes.string:
        raise TypeError("Cannot convert 1 to EagerTensor of dtype string")
    return _filled(dims(shape), dtype, 1)


def fill(dims: Any, value: Any, name: str | None = None, layout: Any = None) -> Tensor:
    """A tensor of shape `dims` that holds the scalar `value` everywhere.

    >>> import tape_compat as tf
    >>> tf.fill([2, 2], 3).numpy().tolist()
    [[3, 3], [3, 3]]
    """
    shape = _sizes(dims)
    value = _tensor(value)
    known = value._aval
    if known.shape:
        raise invalid(f"value must represent a scalar, got shape {_dims(known.shape)}", "Fill")
    for n in shape:
        if n < 0:
            raise invalid(f"Dimension {n} must be >= 0", "Fill")
    if known.dtype is dtypes.string:
        return _filled(shape, known.dtype, value.numpy())
    if not known.trainable and on_host(value) is not None:
        return _filled(shape, known.dtype, value._array[()])
    return apply(_FILL.bind(shape=shape), (value,))


_sizes = dims


def _like(tensor: Any, dtype: Any) -> tuple[tuple[int, ...], DType]:
    known = _tensor(tensor)._aval
    return known.shape, known.dtype if dtype is None else as_dtype(dtype)


def zeros_like(
    input: Any, dtype: Any = None, name: str | None = None, layout: Any = None
) -> Tensor:
    """Zeros of the shape of `input`, of its dtype unless `dtype` is given.

    >>> import tape_compat as tf
    >>> tf.zeros_like([1.0, 2.0]).numpy().tolist()
    [0.0, 0.0]
    """
    shape, dtype = _like(input, dtype)
    return _filled(shape, dtype, b"" if dtype is dtypes.string else 0)


def ones_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Tensor:
    """Ones of the shape of `input`, of its dtype unless `dtype` is given.

    >>> import tape_compat as tf
    >>> tf.ones_like([1.0, 2.0]).numpy().tolist()
    [1.0, 1.0]
    """
    shape, dtype = _like(input, dtype)
    if dtype is dtypes.string:
        raise _bad_attr("T", dtype, "float, half, int32, ...", "OnesLike")
    return _filled(shape, dtype, 1)


def _eye(rows: int, columns: int, batch: tuple[int, ...], dtype: DType) -> Any:
    return jnp.broadcast_to(jnp.eye(rows, columns, dtype=dtype.np_dtype), (*batch, rows, columns))


_EYE = Op(_eye, "MatrixDiag")


def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Identity matrices [*batch_shape, num_rows, num_columns].

    >>> import tape_compat as tf
    >>> tf.eye(2).numpy().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    rows = _integer(num_rows)
    columns = rows if num_columns is None else _integer(num_columns)
    batch = () if batch_shape is None else dims(batch_shape)
    dtype = as_dtype(dtype)
    if rows < 0 or columns < 0:
        raise invalid(f"Dimension {min(rows, columns)} must be >= 0", "Fill")
    if rows * columns * int(np.prod(batch, dtype=np.int64)) <= policy.HOST_SIZE:
        plane = np.eye(rows, columns, dtype=dtype.np_dtype)
        array = np.ascontiguousarray(np.broadcast_to(plane, (*batch, rows, columns)))
        return concrete(array, aval(array.shape, dtype))
    return apply(_EYE.bind(rows=rows, columns=columns, batch=batch, dtype=dtype), ())


_RANGE = Op(
    lambda start, delta, size: start + jnp.arange(size, dtype=start.dtype) * delta,
    "Range",
    differentiable=False,
)
_RANGE_DTYPES = ("int32", "int64", "float32", "float64")


def range(
    start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range"
) -> Tensor:
    """`start`, `start + delta`, ... up to but without `limit`: a vector. `range(n)` starts at 0.

    Raises: InvalidArgumentError if `delta` is 0 or leads away from `limit`.

    >>> import tape_compat as tf
    >>> tf.range(5, 0, -2).numpy().tolist()
    [5, 3, 1]
    """
    if limit is None:
        start, limit = 0, start
    arrays = [_known(x) for x in (start, limit, delta)]
    for array, what in zip(arrays, ("start", "limit", "delta")):
        if array.size != 1:
            raise invalid(f"{what} must be a scalar, not shape {_dims(array.shape)}", "Range")
    if dtype is None:
        names = [dtypes.from_numpy(a.dtype).name for a in arrays]
        if not all(n in _RANGE_DTYPES for n in names):
            raise AssertionError(f"tf.range needs dtypes of {_RANGE_DTYPES}, got {names}")
        np_dtype = np.dtype(max(names, key=_RANGE_DTYPES.index))
    else:
        np_dtype = as_dtype(dtype).np_dtype
    first, last, step = (a.astype(np_dtype).reshape(())[()] for a in arrays)
    if step == 0:
        raise invalid(f"Requires delta != 0: {step}", "Range")
    if (step > 0 and first > last) or (step < 0 and first < last):
        relation, sign = ("<=", ">") if step > 0 else (">=", "<")
        raise invalid(
            f"Requires start {relation} limit when delta {sign} 0: {first}/{last}", "Range"
        )
    if np_dtype.kind in "iu":
        size = len(_range(int(first), int(last), int(step)))
    else:
        size = int(np.ceil(np.abs((last - first) / step)))
    if size <= policy.HOST_SIZE:
        return concrete((first + np.arange(size).astype(np_dtype) * step).astype(np_dtype))
    return apply(_RANGE.bind(size=size), (concrete(np.array(first)), concrete(np.array(step))))


def _linspace(start: Any, stop: Any, num: int, axis: int) -> Any:
    start, stop = jnp.broadcast_arrays(start, stop)
    axis = axis % (start.ndim + 1)
    first, last = jnp.expand_dims(start, axis), jnp.expand_dims(stop, axis)
    delta = (last - first) / max(num - 1, 1)
    steps = jnp.arange(1, max(num - 1, 1), dtype=start.dtype)
    steps = steps.reshape([-1 if i == axis else 1 for i in _range(first.ndim)])
    whole = jnp.concatenate([first, first + delta * steps, last], axis)
    return lax.slice_in_dim(whole, 0, num, axis=axis)


_LINSPACE = Op(_linspace, "LinSpace")


def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0) -> Tensor:
    """`num` values evenly spaced from `start` to `stop`, both included, along a new `axis`.

    Integers give float64, as in TensorFlow.

    >>> import tape_compat as tf
    >>> tf.linspace(0.0, 1.0, 3).numpy().tolist()
    [0.0, 0.5, 1.0]
    """
    start = _tensor(start)
    stop = convert(stop, start.dtype)
    if start.dtype.is_integer:
        start, stop = cast(start, dtypes.float64), cast(stop, dtypes.float64)
    return apply(_LINSPACE.bind(num=_integer(num), axis=_integer(axis)), (start, stop))


def _one_hot(indices: Any, *values: Any, depth: int, axis: int, dtype: DType | None) -> Any:
    axis = indices.ndim if axis == -1 else axis
    hot = jnp.expand_dims(indices, axis) == jnp.arange(depth, dtype=indices.dtype).reshape(
        [-1 if i == axis else 1 for i in _range(indices.ndim + 1)]
    )
    if dtype is not None:
        return hot.astype(dtype.np_dtype)
    return jnp.where(hot, *values)


def _check_one_hot(avals: tuple[Aval, ...], depth: int, axis: int, dtype: DType | None) -> None:
    indices = avals[0]
    if indices.dtype.name not in ("uint8", "int8", "int32", "int64"):
        raise _bad_attr("TI", indices.dtype, "uint8, int8, int32, int64", "OneHot")
    if depth < 0:
        raise invalid(f"depth must be non-negative, got: {depth}", "OneHot")
    if not -1 <= axis <= len(indices.shape):
        raise invalid(
            f"Expected axis to be -1 or between [0, {len(indices.shape) + 1}).  "
            f"But received: {axis}",
            "OneHot",
        )


_ONE_HOT = Op(_one_hot, "OneHot", differentiable=False, check=_check_one_hot)


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """`on_value` (1) where the position along a new axis equals the index, else `off_value` (0).

    Args:
      indices: integer tensor [...]; what lies outside [0, depth) gives `off_value` throughout.
      depth: size of the new axis, which stands at `axis` (default last).
    Raises: TypeError if the dtypes of `on_value`, `off_value` and `dtype` differ.

    >>> import tape_compat as tf
    >>> tf.one_hot([0, 2], 3).numpy().tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    indices = _tensor(indices)
    axis = -1 if axis is None else axis
    options = {"depth": _integer(depth), "axis": _integer(axis)}
    dtype = None if dtype is None else as_dtype(dtype)
    if on_value is None and off_value is None:
        dtype = dtype or dtypes.float32
        if dtype.is_bool:
            raise TypeError("Cannot convert 1 to EagerTensor of dtype bool")
        return apply(_ONE_HOT.bind(**options, dtype=dtype), (indices,))
    on, off = (None if v is None else convert(v, hint=dtype) for v in (on_value, off_value))
    for value, which in ((on, "on_value"), (off, "off_value")):
        if dtype is not None and value is not None and value.dtype is not dtype:
            raise TypeError(
                f"dtype {value.dtype!s} of {which} does not match dtype parameter {dtype!s}"
            )
    if on is not None and off is not None and on.dtype is not off.dtype:
        raise TypeError(
            f"dtype {on.dtype!s} of on_value does not match dtype {off.dtype!s} of off_value"
        )
    kind = (on or off).dtype if on is None or off is None else on.dtype  # type: ignore[union-attr]
    on = convert(1, kind) if on is None else on
    off = convert(0, kind) if off is None else off
    return apply(_ONE_HOT.bind(**options, dtype=None), (indices, on, off))


def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool, name: str | None = None
) -> Tensor:
    """Rows that are true in their first `lengths` places: [*lengths.shape, maxlen].

    `maxlen` defaults to the largest length, which must then be known.

    >>> import tape_compat as tf
    >>> tf.sequence_mask([1, 2]).numpy().tolist()
    [[True, False], [True, True]]
    """
    lengths = _tensor(lengths)
    if maxlen is None:
        known = np.asarray(lengths._value())
        maxlen = int(known.max()) if known.size else 0
    size = max(_integer(maxlen), 0)
    return apply(_SEQUENCE_MASK.bind(size=size, dtype=as_dtype(dtype)), (lengths,))


_SEQUENCE_MASK = Op(
    lambda lengths, size, dtype: (jnp.arange(size) < jnp.expand_dims(lengths, -1)).astype(
        dtype.np_dtype
    ),
    "Less",
    differentiable=False,
)


# ---------------------------------------------------------------------------------------------
# Dtypes.


def _cast(x: Any, dtype: DType) -> Any:
    to = dtype.np_dtype
    if jnp.issubdtype(x.dtype, jnp.complexfloating) and not dtype.is_complex:
        if dtype.is_bool:
            return x != 0
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


_CAST = Op(_cast, "Cast", check=_check_cast)
_CASTS: dict[DType, Any] = {}


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
    closure = _CASTS.get(dtype)
    if closure is None:
        if dtype is dtypes.string:
            _check_cast((x._aval,), dtype)
        closure = _CASTS[dtype] = _CAST.bind(dtype=dtype)
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
    if dtype.is_floating:
        return _cast(x, dtype)
    return _cast(jnp.clip(x, whole_low, whole_high), dtype)


_SATURATE = Op(_saturate, "Cast", check=_check_cast)


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    """`cast`, with what is out of the range of `dtype` moved to its nearest end.

    >>> import tape_compat as tf
    >>> tf.saturate_cast([300.0, -5.0], tf.uint8).numpy().tolist()
    [255, 0]
    """
    value, dtype = _tensor(value), as_dtype(dtype)
    return value if value.dtype is dtype else apply(_SATURATE.bind(dtype=dtype), (value,))


def _check_bitcast(avals: tuple[Aval, ...], dtype: DType) -> None:
    known = avals[0]
    ratio = dtype.np_dtype.itemsize // known.np_dtype.itemsize
    if ratio > 1 and (not known.shape or known.shape[-1] != ratio):
        raise invalid(
            f"Cannot bitcast from {known.dtype.as_datatype_enum} to {dtype.as_datatype_enum}",
            "Bitcast",
        )


_BITCAST = Op(
    lambda x, dtype: lax.bitcast_convert_type(x, dtype.np_dtype),
    "Bitcast",
    differentiable=False,
    check=_check_bitcast,
)


def bitcast(input: Any, type: Any, name: str | None = None) -> Tensor:
    """The bits of `input` read as another dtype. A smaller one adds a last axis, a larger takes it.

    >>> import tape_compat as tf
    >>> hex(int(tf.bitcast(1.0, tf.int32)))
    '0x3f800000'
    """
    return apply(_BITCAST.bind(dtype=as_dtype(type)), (_tensor(input),))


# ---------------------------------------------------------------------------------------------
# Identity and shapes.


def identity(input: Any, name: str | None = None) -> Any:
    """A tensor of its own with the value of `input`, connected to it on tapes.

    IndexedSlices give IndexedSlices.

    >>> import tape_compat as tf
    >>> tf.identity(3.0)
    <tf.Tensor: shape=(), dtype=float32, numpy=3.0>
    """
    if isinstance(input, IndexedSlices):
        return IndexedSlices(identity(input.values), input.indices, input.dense_shape)
    if isinstance(input, IndexedSlices):
        parts = identity(input.values), identity(input.indices)
        return IndexedSlices(*parts, input.dense_shape)
    x = _tensor(input)
    state = LOCAL.state
    if state.recorders or state.capture is not None:
        return dispatch.identity(x) if not _is_text(x) else x
    return same_value(x, next_id())


def identity_n(input: Sequence[Any], name: str | None = None) -> list[Tensor]:
    """`identity` of each tensor of a list.

    >>> import tape_compat as tf
    >>> len(tf.identity_n([1.0, [2.0]]))
    2
    """
    return [identity(x) for x in input]


def _shape_of(value: Any) -> tuple[int, ...]:
    if value.__class__ is Tensor:
        return value._aval.shape
    if isinstance(value, IndexedSlices) and value.dense_shape is not None:
        return dims(value.dense_shape)
    return convert(value)._aval.shape


def _host(value: Any, out_type: Any) -> Tensor:
    return concrete(
        np.array(value, np.int32 if out_type is dtypes.int32 else as_dtype(out_type).np_dtype)
    )


def shape(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """The shape of `input` as a vector; known at once, whatever is pending.

    >>> import tape_compat as tf
    >>> tf.shape([[1.0, 2.0]]).numpy().tolist()
    [1, 2]
    """
    return _host(_shape_of(input), out_type)


def shape_n(
    input: Sequence[Any], out_type: Any = dtypes.int32, name: str | None = None
) -> list[Tensor]:
    """`shape` of each tensor of a list.

    >>> import tape_compat as tf
    >>> [s.numpy().tolist() for s in tf.shape_n([[1.0], 2.0])]
    [[1], []]
    """
    return [shape(x, out_type) for x in input]


def size(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """The number of elements of `input`, a scalar known at once.

    >>> import tape_compat as tf
    >>> int(tf.size([[1.0, 2.0]]))
    2
    """
    return _host(np.prod(_shape_of(input), dtype=np.int64), out_type)


def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of axes of `input`, a scalar known at once.

    >>> import tape_compat as tf
    >>> int(tf.rank([[1.0, 2.0]]))
    2
    """
    return _host(len(_shape_of(input)), dtypes.int32)


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """`x`, after a check that its shape fits `shape`, in which None fits anything.

    Raises: InvalidArgumentError if it does not.

    >>> import tape_compat as tf
    >>> tf.ensure_shape([1.0, 2.0], [None]).shape
    TensorShape([2])
    """
    x, wanted = _tensor(x), TensorShape(shape)
    if not wanted.is_compatible_with(x.shape):
        text = _dims(["?" if n is None else n for n in wanted.as_list()])  # type: ignore[misc]
        raise invalid(
            f"Shape of tensor input {_dims(x._aval.shape)} is not compatible with expected shape "
            f"{text}.",
            "EnsureShape",
        )
    return identity(x)


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """The shape that tensors of two shapes broadcast to, as a vector.

    Raises: InvalidArgumentError if they do not broadcast.

    >>> import tape_compat as tf
    >>> tf.broadcast_dynamic_shape([2, 1], [3]).numpy().tolist()
    [2, 3]
    """
    x, y = _tensor(shape_x), _tensor(shape_y)
    try:
        both = np.broadcast_shapes(dims(x), dims(y))
    except ValueError:
        raise invalid(
            f"Incompatible shapes: {_dims(dims(x))} vs. {_dims(dims(y))}", "BroadcastArgs"
        ) from None
    return _host(both, x.dtype)


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The TensorShape that tensors of two TensorShapes broadcast to; None where unknown.

    Raises: ValueError if they do not broadcast.

    >>> import tape_compat as tf
    >>> tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([3]))
    TensorShape([2, 3])
    """
    x, y = TensorShape(shape_x), TensorShape(shape_y)
    if x.rank is None or y.rank is None:
        return TensorShape(None)
    n = max(x.rank, y.rank)
    left, right = ([1] * (n - len(s)) + s.as_list() for s in (x, y))
    both = []
    for a, b in zip(left, right):
        if a == 1:
            both.append(b)
        elif b == 1 or a == b:
            both.append(a)
        elif a is None or b is None:
            both.append(a if b is None else b)
        else:
            raise ValueError(
                "Incompatible shapes for broadcasting. Two shapes are compatible if for each "
                "dimension pair they are either equal or one of them is 1. "
                f"Received: {x} and {y}."
            )
    return TensorShape(both)


# ---------------------------------------------------------------------------------------------
# Reshaping.


def _reshape(x: Any, shape: tuple[int, ...]) -> Any:
    return lax.reshape(x, _inferred(x.size, shape))


def _inferred(size: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    if -1 not in shape:
        return shape
    rest = 1
    for n in shape:
        rest *= 1 if n == -1 else n
    return tuple(size // rest if n == -1 else n for n in shape)


def _check_reshape(avals: tuple[Aval, ...], shape: tuple[int, ...]) -> None:
    size, unknown, rest = avals[0].size, [], 1
    for i, n in enumerate(shape):
        if n == -1:
            unknown.append(i)
        elif n < 0:
            raise invalid(f"Size {i} must be non-negative, not {n}", "Reshape")
        else:
            rest *= n
    if len(unknown) > 1:
        raise invalid(
            f"Only one input size may be -1, not both {unknown[0]} and {unknown[1]}", "Reshape"
        )
    if unknown:
        if rest == 0:
            raise invalid(
                "reshape cannot infer the missing input size for an empty tensor unless all "
                "specified input sizes are non-zero",
                "Reshape",
            )
        if size % rest:
            raise invalid(
                f"Input to reshape is a tensor with {size} values, but the requested shape "
                f"requires a multiple of {rest}",
                "Reshape",
            )
    elif rest != size:
        raise invalid(
            f"Input to reshape is a tensor with {size} values, but the requested shape has {rest}",
            "Reshape",
        )


_RESHAPE = Op(_reshape, "Reshape", check=_check_reshape)


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """The elements of `tensor`, in order, in another shape. One size may be -1: what is left.

    Raises: InvalidArgumentError if the numbers of elements differ.

    >>> import tape_compat as tf
    >>> tf.reshape([1, 2, 3, 4], [2, -1]).numpy().tolist()
    [[1, 2], [3, 4]]
    """
    x = tensor if tensor.__class__ is Tensor else convert(tensor)
    wanted = dims(shape, "Tshape", "Reshape")
    if x._aval.dtype is dtypes.string:
        return _moved(lambda p: reshape(p, wanted), x)
    if 0 in wanted and x._aval.size == 0:
        wanted = _of_empty(x._aval.shape, wanted)
    return apply(_RESHAPE.bind(shape=wanted), (x,))


def _of_empty(have: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, ...]:
    """An empty tensor's -1 beside a 0: the product of its sizes that are not 0, as in TF."""
    if wanted.count(-1) != 1:
        return wanted
    full = int(np.prod([n for n in have if n], dtype=np.int64))
    rest = int(np.prod([n for n in wanted if n not in (0, -1)], dtype=np.int64))
    return tuple(full // rest if n == -1 else n for n in wanted)


def _check_transpose(
    avals: tuple[Aval, ...], perm: tuple[int, ...] | None, conjugate: bool
) -> None:
    n = len(avals[0].shape)
    if perm is None:
        return
    if len(perm) != n:
        raise invalid(
            f"transpose expects a vector of size {n}. But input(1) is a vector of size {len(perm)}",
            "Transpose",
        )
    for d in perm:
        if not -n <= d < n:
            raise invalid(f"{d} is out of range [0 .. {n})", "Transpose")
    missing = [d for d in _range(n) if d not in [p % n for p in perm]]
    if missing:
        raise invalid(f"{missing[0]} is missing from {{{','.join(map(str, perm))}}}.", "Transpose")


def _transpose(x: Any, perm: tuple[int, ...] | None, conjugate: bool) -> Any:
    order = tuple(reversed(_range(x.ndim))) if perm is None else tuple(p % x.ndim for p in perm)
    x = lax.transpose(x, order)
    return jnp.conj(x) if conjugate else x


_TRANSPOSE = Op(_transpose, "Transpose", check=_check_transpose)


def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str = "transpose") -> Tensor:
    """Axis i of the result is axis `perm[i]` of `a`; all axes in reverse by default.

    `conjugate` takes the complex conjugate too. Raises InvalidArgumentError if `perm` is none.

    >>> import tape_compat as tf
    >>> tf.transpose([[1, 2], [3, 4]]).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    x = _tensor(a)
    order = None if perm is None else dims(perm)
    conjugate = bool(conjugate) and x.dtype.is_complex
    if _is_text(x):
        return _moved(lambda p: transpose(p, order), x)
    return apply(_TRANSPOSE.bind(perm=order, conjugate=conjugate), (x,))


def _check_expand(avals: tuple[Aval, ...], axis: int) -> None:
    n = len(avals[0].shape)
    if not -n - 1 <= axis <= n:
        raise invalid(
            f"Tried to expand dim index {axis} for tensor with {n} dimensions.", "ExpandDims"
        )


_EXPAND = Op(lambda x, axis: jnp.expand_dims(x, axis), "ExpandDims", check=_check_expand)


def expand_dims(input: Any, axis: Any, name: str | None = None) -> Tensor:
    """`input` with a new axis of size 1 at `axis`.

    >>> import tape_compat as tf
    >>> tf.expand_dims([1, 2], -1).numpy().tolist()
    [[1], [2]]
    """
    x = _tensor(input)
    if axis.__class__ is not int:
        axis = dims(_known(axis))
        if len(axis) != 1:
            raise invalid("'dim' must be a tensor with a single value", "ExpandDims")
        axis = axis[0]
    if _is_text(x):
        return _moved(lambda p: expand_dims(p, axis), x)
    return apply(_EXPAND.bind(axis=axis), (x,))


def _check_squeeze(avals: tuple[Aval, ...], axis: tuple[int, ...]) -> None:
    have = avals[0].shape
    for d in axis:
        if not -len(have) <= d < len(have):
            raise invalid(
                f"Tried to squeeze dim index {d} for tensor with {len(have)} dimensions.", "Squeeze"
            )
        if have[d] != 1:
            raise invalid(
                f"Can not squeeze dim[{d % len(have)}], expected a dimension of 1, got {have[d]}",
                "Squeeze",
            )


_SQUEEZE = Op(
    lambda x, axis: lax.squeeze(
        x,
        tuple({d % x.ndim for d in axis})
        if axis
        else tuple(i for i, n in enumerate(x.shape) if n == 1),
    ),
    "Squeeze",
    check=_check_squeeze,
)


def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """`input` without its axes of size 1: those of `axis`, or all.

    Raises: InvalidArgumentError if an axis named is not of size 1.

    >>> import tape_compat as tf
    >>> tf.squeeze([[1, 2]]).numpy().tolist()
    [1, 2]
    """
    x = _tensor(input)
    axes = () if axis is None else dims(axis)
    if _is_text(x):
        return _moved(lambda p: squeeze(p, axes), x)
    return apply(_SQUEEZE.bind(axis=axes), (x,))


def _check_broadcast_to(avals: tuple[Aval, ...], shape: tuple[int, ...]) -> None:
    have = avals[0].shape
    if len(have) > len(shape):
        raise invalid(
            f"Rank of input ({len(have)}) must be no greater than rank of output shape "
            f"({len(shape)}).",
            "BroadcastTo",
        )
    for a, b in zip(reversed(have), reversed(shape)):
        if a not in (1, b):
            raise invalid(f"Incompatible shapes: {_dims(have)} vs. {_dims(shape)}", "BroadcastTo")


_BROADCAST = Op(jnp.broadcast_to, "BroadcastTo", check=_check_broadcast_to)


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """`input` repeated along axes of size 1 and new leading axes, to `shape`.

    >>> import tape_compat as tf
    >>> tf.broadcast_to([1, 2], [2, 2]).numpy().tolist()
    [[1, 2], [1, 2]]
    """
    x, wanted = _tensor(input), dims(shape, "Tidx", "BroadcastTo")
    if _is_text(x):
        return _moved(lambda p: broadcast_to(p, wanted), x)
    return apply(_BROADCAST.bind(shape=wanted), (x,))


def _check_tile(avals: tuple[Aval, ...], multiples: tuple[int, ...]) -> None:
    n = len(avals[0].shape)
    if len(multiples) != n:
        raise invalid(
            f"Expected multiples argument to be a vector of length {n} but got length "
            f"{len(multiples)}",
            "Tile",
        )
    for i, m in enumerate(multiples):
        if m < 0:
            raise invalid(f"Expected multiples[{i}] >= 0, but got {m}", "Tile")


_TILE = Op(lambda x, multiples: jnp.tile(x, multiples), "Tile", check=_check_tile)


def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """`input` laid `multiples[i]` times along each axis i.

    >>> import tape_compat as tf
    >>> tf.tile([1, 2], [2]).numpy().tolist()
    [1, 2, 1, 2]
    """
    x, times = _tensor(input), dims(multiples, "Tmultiples", "Tile")
    if _is_text(x):
        return _moved(lambda p: tile(p, times), x)
    return apply(_TILE.bind(multiples=times), (x,))


def _check_repeat_axis(x: Tensor, axis: int) -> int:
    n = len(x._aval.shape)
    if not -n <= axis < n:
        raise ValueError(f"axis={axis} out of bounds: expected -{n}<=axis<{n}")
    return axis % n


_TAKE = Op(lambda x, places, axis: jnp.take(x, places, axis=axis, mode="clip"), "GatherV2")


def repeat(input: Any, repeats: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """Each element along `axis` (of the flattened input by default) `repeats` times.

    Args:
      repeats: one number, or one for each place along `axis`; its values must be known.

    >>> import tape_compat as tf
    >>> tf.repeat([1, 2], [1, 2]).numpy().tolist()
    [1, 2, 2]
    """
    x = _tensor(input)
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    axis = _check_repeat_axis(x, _integer(axis))
    times = _known(repeats).ravel()
    length = x._aval.shape[axis]
    if times.size not in (1, length):
        raise ValueError(f"Dimensions {length} and {times.size} are not compatible")
    places = np.repeat(np.arange(length, dtype=np.int32), times)
    if _is_text(x):
        return _moved(lambda p: repeat(p, times, axis), x)
    return apply(_TAKE.bind(axis=axis), (x, concrete(places)))


# ---------------------------------------------------------------------------------------------
# Padding, reversing, sorting.


def _pad(
    x: Any, *value: Any, paddings: tuple[tuple[int, int], ...], mode: str, constant: Any
) -> Any:
    if mode == "CONSTANT":
        fill_with = value[0] if value else jnp.asarray(constant, x.dtype)
        return lax.pad(x, fill_with, [(low, high, 0) for low, high in paddings])
    return jnp.pad(x, paddings, mode=mode.lower())


def _check_pad(
    avals: tuple[Aval, ...], paddings: tuple[tuple[int, int], ...], mode: str, constant: Any
) -> None:
    have = avals[0].shape
    kernel = "Pad" if mode == "CONSTANT" else "MirrorPad"
    if len(paddings) != len(have):
        raise invalid(
            f"The first dimension of paddings must be the rank of inputs[{len(paddings)},2] "
            f"{_dims(have)}",
            kernel,
        )
    for (low, high), n in zip(paddings, have):
        if low < 0 or high < 0:
            raise invalid(f"Paddings must be non-negative: {low} {high}", kernel)
        if mode == "REFLECT" and max(low, high) >= n and (low or high or n):
            raise invalid(
                f"paddings must be less than the dimension size: {low}, {high} not less than {n}",
                kernel,
            )
        if mode == "SYMMETRIC" and max(low, high) > n:
            raise invalid(
                f"paddings must be no greater than the dimension size: {low}, {high} "
                f"greater than {n}",
                kernel,
            )


_PAD = Op(_pad, "Pad", check=_check_pad)


def pad(
    tensor: Any,
    paddings: Any,
    mode: str = "CONSTANT",
    constant_values: Any = 0,
    name: str | None = None,
) -> Tensor:
    """`tensor` with `paddings[i]` = (before, after) elements added along each axis i.

    Args:
      mode: "CONSTANT" (filled with `constant_values`), "REFLECT" (the edge not repeated) or
        "SYMMETRIC" (the edge repeated).
    Raises: InvalidArgumentError for paddings that do not fit; ValueError for another mode.

    >>> import tape_compat as tf
    >>> tf.pad([1, 2, 3], [[1, 2]]).numpy().tolist()
    [0, 1, 2, 3, 0, 0]
    """
    x = _tensor(tensor)
    mode = mode.upper()
    if mode not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ValueError(
            'Value of argument `mode` expected to be one of "CONSTANT", "REFLECT", or "SYMMETRIC". '
            f"Received `mode` = {mode}"
        )
    table = _known(paddings)
    if table.ndim == 2 and table.shape[0] == 0:
        table = table.reshape(0, 2)
    if table.ndim != 2 or table.shape[1] != 2:
        kernel = "Pad" if mode == "CONSTANT" else "MirrorPad"
        raise invalid(f"paddings must be a matrix with 2 columns: {_dims(table.shape)}", kernel)
    if table.dtype.kind not in "iu":
        raise _bad_attr("Tpaddings", dtypes.from_numpy(table.dtype), "int32, int64", "Pad")
    pairs = tuple((low, high) for low, high in table.tolist())
    inputs: tuple[Tensor, ...] = (x,)
    if not isinstance(constant_values, (bool, int)) and mode == "CONSTANT":
        inputs = (x, _untracked(convert(constant_values, x.dtype)))
        constant_values = 0
    return apply(_PAD.bind(paddings=pairs, mode=mode, constant=constant_values), inputs)


def _check_reverse(avals: tuple[Aval, ...], axis: tuple[int, ...]) -> None:
    n = len(avals[0].shape)
    seen = set()
    for i, d in enumerate(axis):
        if not -n <= d < n:
            raise invalid(f"'axis'[{i}] = {d} is out of valid range [0, {n - 1}", "ReverseV2")
        if d % n in seen:
            raise invalid(f"axis {d % n} specified more than once.", "ReverseV2")
        seen.add(d % n)


_REVERSE = Op(
    lambda x, axis: lax.rev(x, tuple(d % x.ndim for d in axis)), "ReverseV2", check=_check_reverse
)


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Tensor:
    """`tensor` reversed along the axes of the list `axis`.

    >>> import tape_compat as tf
    >>> tf.reverse([1, 2, 3], [0]).numpy().tolist()
    [3, 2, 1]
    """
    x = _tensor(tensor)
    known = _known(axis)
    if known.ndim != 1:
        raise invalid(f"'dims' must be 1-dimension, not {known.ndim}", "ReverseV2")
    axes = dims(known) if known.size else ()
    if _is_text(x):
        return _moved(lambda p: reverse(p, axes), x)
    return apply(_REVERSE.bind(axis=axes), (x,))


def _reverse_sequence(x: Any, lengths: Any, axis: int, batch_axis: int) -> Any:
    rows, lengths = jnp.moveaxis(x, (batch_axis, axis), (0, 1)), lengths[:, None]
    place = jnp.arange(rows.shape[1], dtype=lengths.dtype)
    place = jnp.where(place < lengths, lengths - 1 - place, place)
    place = place.reshape(*place.shape, *[1] * (rows.ndim - 2))
    return jnp.moveaxis(jnp.take_along_axis(rows, place, 1), (0, 1), (batch_axis, axis))


def _check_reverse_sequence(avals: tuple[Aval, ...], axis: int, batch_axis: int) -> None:
    have, lengths = (known.shape for known in avals)
    kernel = "ReverseSequence"
    if len(lengths) != 1:
        raise invalid(f"seq_lengths must be 1-dim, not {len(lengths)}", kernel)
    if axis % max(len(have), 1) == batch_axis % max(len(have), 1):
        raise invalid(f"batch_dim == seq_dim == {axis}", kernel)
    for which, d in (("seq_dim", axis), ("batch_dim", batch_axis)):
        if not -len(have) <= d < len(have):
            raise invalid(f"{which} must be < input rank ( {d} vs. {len(have)})", kernel)
    if lengths[0] != have[batch_axis]:
        raise invalid(
            f"Length of seq_lengths != input.dims({batch_axis}), ({lengths[0]} vs. "
            f"{have[batch_axis]})",
            kernel,
        )


_REVERSE_SEQUENCE = Op(_reverse_sequence, "ReverseSequence", check=_check_reverse_sequence)


def reverse_sequence(
    input: Any,
    seq_lengths: Any,
    seq_axis: Any = None,
    batch_axis: Any = None,
    name: str | None = None,
) -> Tensor:
    """`input` with the first `seq_lengths[i]` places of `seq_axis` reversed in each batch i.

    Args:
      seq_lengths: integer vector, one for each place along `batch_axis` (default 0).

    >>> from tape_compat import array
    >>> array.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1).numpy().tolist()
    [[2, 1, 3], [6, 5, 4]]
    """
    closure = _REVERSE_SEQUENCE.bind(
        axis=_integer(seq_axis), batch_axis=0 if batch_axis is None else _integer(batch_axis)
    )
    return apply(closure, (_tensor(input), _tensor(seq_lengths)))


def _check_roll(avals: tuple[Aval, ...], axis: tuple[int, ...]) -> None:
    n = len(avals[0].shape)
    if not n:
        raise invalid("input must be 1-D or higher", "Roll")
    for d in axis:
        if not -n <= d < n:
            raise invalid(f"axis {d} is out of range", "Roll")


_ROLL = Op(
    lambda x, shift, axis: jnp.roll(x, tuple(shift[i] for i in _range(len(axis))), axis),
    "Roll",
    check=_check_roll,
)


def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Tensor:
    """`input` moved by `shift` places along `axis`, what leaves at one end coming in at the other.

    Both may be lists of equal length; shifts along one axis add up.

    >>> import tape_compat as tf
    >>> tf.roll([1, 2, 3], 1, 0).numpy().tolist()
    [3, 1, 2]
    """
    x, axes = _tensor(input), dims(axis if axis is not None else to_numpy(axis))
    shifts = _tensor(shift)
    if shifts._aval.shape == ():
        shifts = reshape(shifts, (1,))
    if shifts._aval.size != len(axes):
        raise invalid("shift and axis must have the same size", "Roll")
    if _is_text(x):
        return _moved(lambda p: roll(p, shifts, axes), x)
    return apply(_ROLL.bind(axis=axes), (x, shifts))


def _argsort(x: Any, axis: int, descending: bool) -> Any:
    return jnp.argsort(x, axis=axis, stable=True, descending=descending).astype(jnp.int32)


def _sort(x: Any, axis: int, descending: bool) -> Any:
    return jnp.take_along_axis(x, _argsort(lax.stop_gradient(x), axis, descending), axis=axis)


def _check_sort(avals: tuple[Aval, ...], axis: int, descending: bool) -> None:
    n = len(avals[0].shape)
    if not -n <= axis < n:
        raise invalid(f"slice index {axis} of dimension 0 out of bounds.", "StridedSlice")


_SORT = Op(_sort, "TopKV2", check=_check_sort)
_ARGSORT = Op(_argsort, "TopKV2", differentiable=False, check=_check_sort)


def _descending(direction: str) -> bool:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(
            f"Argument `direction` should be one of ASCENDING, DESCENDING. "
            f"Received: direction={direction}"
        )
    return direction == "DESCENDING"


def sort(
    values: Any, axis: Any = -1, direction: str = "ASCENDING", name: str | None = None
) -> Tensor:
    """`values` sorted along `axis`, "ASCENDING" or "DESCENDING".

    >>> import tape_compat as tf
    >>> tf.sort([3, 1, 2], direction="DESCENDING").numpy().tolist()
    [3, 2, 1]
    """
    options = {"axis": _integer(axis), "descending": _descending(direction)}
    return apply(_SORT.bind(**options), (_tensor(values),))


def argsort(
    values: Any,
    axis: Any = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Tensor:
    """The positions (int32) that sort `values` along `axis`; equal values keep their order.

    >>> import tape_compat as tf
    >>> tf.argsort([3, 1, 2]).numpy().tolist()
    [1, 2, 0]
    """
    options = {"axis": _integer(axis), "descending": _descending(direction)}
    return apply(_ARGSORT.bind(**options), (_tensor(values),))


def _searchsorted(rows: Any, values: Any, side: str, dtype: DType) -> Any:
    flat_rows = rows.reshape(-1, rows.shape[-1])
    flat_values = values.reshape(-1, values.shape[-1])
    found = jax.vmap(lambda r, v: jnp.searchsorted(r, v, side=side))(flat_rows, flat_values)
    return found.reshape(values.shape).astype(dtype.np_dtype)


def _check_searchsorted(avals: tuple[Aval, ...], side: str, dtype: DType) -> None:
    kernel = "LowerBound" if side == "left" else "UpperBound"
    check_same_dtype(avals, kernel)
    rows, values = (a.shape for a in avals)
    if rows[:-1] != values[:-1]:
        raise invalid(
            f"Leading dim_size of both tensors must match: {_dims(rows)} vs. {_dims(values)}",
            kernel,
        )


_SEARCH = Op(_searchsorted, "LowerBound", differentiable=False, check=_check_searchsorted)


def searchsorted(
    sorted_sequence: Any,
    values: Any,
    side: str = "left",
    out_type: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Where each of `values` [..., m] would go in the sorted rows of `sorted_sequence` [..., n].

    `side`: before ("left") or behind ("right") equal values. A single row serves all values.

    >>> import tape_compat as tf
    >>> tf.searchsorted([1, 3, 5], [3, 4]).numpy().tolist()
    [1, 2]
    """
    if side not in ("left", "right"):
        raise ValueError(
            f"Argument `side` must be either 'right' or 'left'. Received: `side` = '{side}'."
        )
    rows, values = _tensor(sorted_sequence), _tensor(values)
    closure = _SEARCH.bind(side=side, dtype=as_dtype(out_type))
    if len(rows._aval.shape) == 1 and len(values._aval.shape) != 1:
        found = apply(closure, (rows, reshape(values, (-1,))))
        return reshape(found, values._aval.shape)
    return apply(closure, (rows, values))


# ---------------------------------------------------------------------------------------------
# Joining and cutting.


def _check_concat(avals: tuple[Aval, ...], axis: int) -> None:
    check_same_dtype(avals, "ConcatV2")
    first = avals[0].shape
    n = len(first)
    if not n:
        raise invalid("ConcatOp : Can't concatenate scalars (use tf.stack instead)", "ConcatV2")
    if not -n <= axis < n:
        raise invalid(
            f"ConcatOp : Expected concatenating dimensions in the range [-{n}, {n}), "
            f"but got {axis}",
            "ConcatV2",
        )
    for i, known in enumerate(avals[1:], 1):
        both = f"shape[0] = {_dims(first)} vs. shape[{i}] = {_dims(known.shape)}"
        if len(known.shape) != n:
            raise invalid(f"ConcatOp : Ranks of all input tensors should match: {both}", "ConcatV2")
        for d in _range(n):
            if d != axis % n and known.shape[d] != first[d]:
                raise invalid(
                    f"ConcatOp : Dimension {d} in both shapes must be equal: {both}", "ConcatV2"
                )


_CONCAT = Op(lambda *xs, axis: jnp.concatenate(xs, axis), "ConcatV2", check=_check_concat)


def concat(values: Any, axis: Any, name: str = "concat") -> Tensor:
    """Tensors of one dtype laid one behind the other along `axis`.

    Raises: InvalidArgumentError if their dtypes, ranks or other sizes differ.

    >>> import tape_compat as tf
    >>> tf.concat([[1, 2], [3]], 0).numpy().tolist()
    [1, 2, 3]
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    axis = _integer(axis)
    if len(values) == 1:
        return identity(values[0])
    if not values:
        raise invalid(
            "OpKernel 'ConcatV2' has constraint on attr 'T': no tensors given", "ConcatV2"
        )
    tensors = matching(values)
    if _is_text(tensors[0]):
        return _moved(lambda *p: concat(p, axis), *tensors)
    return apply(_CONCAT.bind(axis=axis), tuple(tensors))


def _check_stack(avals: tuple[Aval, ...], axis: int) -> None:
    check_same_dtype(avals, "Pack")
    for i, known in enumerate(avals):
        if known.shape != avals[0].shape:
            raise invalid(
                f"Shapes of all inputs must match: values[0].shape = {_dims(avals[0].shape)} != "
                f"values[{i}].shape = {_dims(known.shape)}",
                "Pack",
            )


_STACK = Op(lambda *xs, axis: jnp.stack(xs, axis), "Pack", check=_check_stack)


def _check_axis(axis: int, n: int) -> int:
    if not -n <= axis < n:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-n}, {n})")
    return axis % n


def stack(values: Any, axis: Any = 0, name: str = "stack") -> Tensor:
    """Tensors of one dtype and shape laid side by side along a new `axis`.

    Raises: InvalidArgumentError if their dtypes or shapes differ; ValueError for a bad `axis`.

    >>> import tape_compat as tf
    >>> tf.stack([[1, 2], [3, 4]], axis=1).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    axis = _integer(axis)
    if isinstance(values, (Tensor, Variable, np.ndarray)):
        x = _tensor(values)
        if axis == 0:
            return x
        values = unstack(x)
    if axis == 0 and not any(isinstance(x, (Tensor, Variable)) for x in values):
        with contextlib.suppress(TypeError, ValueError):
            return convert(list(values))
    tensors = matching(list(values))
    axis = _check_axis(axis, len(tensors[0]._aval.shape) + 1)
    if _is_text(tensors[0]):
        return _moved(lambda *p: stack(p, axis), *tensors)
    return apply(_STACK.bind(axis=axis), tuple(tensors))


def _pack(values: Sequence[Tensor]) -> Tensor:
    """Tensors found inside a list, stacked; small integer constants on the host, at once."""
    host = [on_host(x) for x in values]
    known = values[0]._aval
    if (
        all(a is not None for a in host)
        and known.np_dtype.kind in "iub"
        and all(x._aval is known for x in values)
        and known.size * len(host) <= policy.HOST_SIZE
    ):
        return concrete(np.stack(host))  # type: ignore[arg-type]
    return stack(values)


_UNSTACK = Op(
    lambda x, axis: tuple(lax.index_in_dim(x, i, axis, False) for i in _range(x.shape[axis])),
    "Unpack",
)


def unstack(value: Any, num: Any = None, axis: Any = 0, name: str = "unstack") -> list[Tensor]:
    """The list of slices of `value` along `axis`.

    Raises: InvalidArgumentError if there are not `num`; ValueError for a bad `axis`.

    >>> import tape_compat as tf
    >>> [int(x) for x in tf.unstack([1, 2])]
    [1, 2]
    """
    x = _tensor(value)
    have = x._aval.shape
    axis = _check_axis(_integer(axis), len(have))
    if num is not None and _integer(num) != have[axis]:
        raise invalid(
            f"Input shape axis {axis} must equal {num}, got shape {_dims(have)}", "Unpack"
        )
    if not have[axis]:
        return []
    if _is_text(x):
        return _moved(lambda p: unstack(p, axis=axis), x)
    return list(apply(_UNSTACK.bind(axis=axis), (x,)))


def _check_split(avals: tuple[Aval, ...], sizes: Any, axis: int) -> None:
    have = avals[0].shape
    n = len(have)
    kernel = "Split" if isinstance(sizes, int) else "SplitV"
    if not -n <= axis < n:
        raise invalid(f"-input rank(-{n}) <= split_dim < input rank ({n}), but got {axis}", kernel)
    length = have[axis]
    if isinstance(sizes, int):
        if length % sizes:
            raise invalid(
                "Number of ways to split should evenly divide the split dimension, but got "
                f"split_dim {axis % n} (size = {length}) and num_split {sizes}",
                kernel,
            )
        return
    given = sum(s for s in sizes if s != -1)
    if sizes.count(-1) > 1:
        raise invalid("There can only be one -1 in the input.", kernel)
    if any(s < -1 for s in sizes):
        raise invalid(
            f"Split size at index {next(i for i, s in enumerate(sizes) if s < -1)} must be >= 0",
            kernel,
        )
    if given > length or (-1 not in sizes and given != length):
        raise invalid(
            "Determined shape must either match input shape along split_dim exactly if fully "
            "specified, or be less than the size of the input along split_dim if not fully "
            f"specified.  Got: {given}",
            kernel,
        )


def _split(x: Any, sizes: int | tuple[int, ...], axis: int) -> Any:
    axis %= x.ndim
    length = x.shape[axis]
    if isinstance(sizes, int):
        sizes = (length // sizes,) * sizes
    rest = length - sum(s for s in sizes if s != -1)
    stops = np.cumsum([rest if s == -1 else s for s in sizes]).tolist()
    starts = [0, *stops[:-1]]
    return tuple(lax.slice_in_dim(x, a, b, axis=axis) for a, b in zip(starts, stops))


_SPLIT = Op(_split, "Split", check=_check_split)


def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None, name: str = "split"
) -> list[Tensor]:
    """The list of parts of `value` along `axis`: so many equal ones, or of the sizes of a list.

    One size may be -1: what is left. Raises InvalidArgumentError if the sizes do not fit.

    >>> import tape_compat as tf
    >>> [x.numpy().tolist() for x in tf.split([1, 2, 3], [1, -1])]
    [[1], [2, 3]]
    """
    x = _tensor(value)
    known = _known(num_or_size_splits)
    if known.ndim == 0:
        sizes: Any = int(known)
        if sizes < 1:
            raise invalid(
                f"Value for attr 'num_split' of {sizes} must be at least minimum 1\n\t; "
                "NodeDef: {{node Split}}",
                "Split",
            )
    else:
        sizes = tuple(known.tolist())
    axis = _integer(axis)
    if _is_text(x):
        return _moved(lambda p: split(p, sizes, axis), x)
    return list(apply(_SPLIT.bind(sizes=sizes, axis=axis), (x,)))


_MESHGRID = Op(lambda *xs, indexing: tuple(jnp.meshgrid(*xs, indexing=indexing)), "Mul")


def meshgrid(*args: Any, indexing: str = "xy", name: str | None = None) -> list[Tensor]:
    """The vectors `args`, each broadcast along the axes of the others.

    `indexing`: "xy" lays the first along axis 1 and the second along axis 0, "ij" in order.

    >>> import tape_compat as tf
    >>> [x.numpy().tolist() for x in tf.meshgrid([1, 2], [3])]
    [[[1, 2]], [[3, 3]]]
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(
            f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'"
        )
    if not args:
        return []
    tensors = [reshape(x, (-1,)) for x in args]
    avals = tuple(x._aval for x in tensors)
    check_same_dtype(avals, "Mul")
    return list(apply(_MESHGRID.bind(indexing=indexing), tuple(tensors)))


# ---------------------------------------------------------------------------------------------
# Gathering and scattering. An index out of range that the host knows is an error; otherwise it
# reads zeros and writes nothing.

_INDEX_DTYPES = ("int16", "int32", "int64")


def _gather(params: Any, indices: Any, axis: int, batch_dims: int) -> Any:
    if batch_dims:
        return jax.vmap(lambda p, i: _gather(p, i, axis - 1, batch_dims - 1))(params, indices)
    places = dropped(indices, params.shape[axis])
    return jnp.take(params, places, axis=axis, mode="fill", fill_value=0)


def _check_gather(avals: tuple[Aval, ...], axis: int, batch_dims: int) -> None:
    params, indices = avals
    if indices.dtype.name not in _INDEX_DTYPES:
        raise _bad_attr("Tindices", indices.dtype, ", ".join(_INDEX_DTYPES), "GatherV2")
    for i in _range(batch_dims):
        if params.shape[i] != indices.shape[i]:
            raise invalid(
                f"params.shape[{i}]: {params.shape[i]} should be equal to indices.shape[{i}]: "
                f"{indices.shape[i]}",
                "GatherV2",
            )


def _sparse_gather(
    call: Any, inputs: tuple[Tensor, ...], cotangents: list[Any], want: tuple[int, ...]
) -> list[Any] | None:
    """Rows gathered along axis 0 give back IndexedSlices."""
    if call.attributes["axis"] != 0 or call.attributes["batch_dims"] != 0 or want != (0,):
        return None
    params, indices = inputs[0]._aval, inputs[1]
    n = indices._aval.size
    values = reshape(_tensor(cotangents[0]), (n, *params.shape[1:]))
    flat = indices if indices._aval.shape == (n,) else reshape(_untracked(indices), (n,))
    return [IndexedSlices(values, flat, _host(params.shape, dtypes.int32))]


_GATHER = Op(_gather, "GatherV2", check=_check_gather, sparse=_sparse_gather)


def gather(
    params: Any,
    indices: Any,
    validate_indices: bool | None = None,
    axis: Any = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Tensor:
    """The slices of `params` along `axis` at `indices`.

    Args:
      params: tensor [..., n, ...].
      indices: integer tensor, values in [0, n).
      axis: default `batch_dims`.
      batch_dims: this many leading axes are common to `params` and `indices`.
    Returns: `params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:]`. Along
      axis 0 without batches, the gradient with respect to `params` is IndexedSlices.
    Raises: InvalidArgumentError for indices out of range, if they are known at the call;
      otherwise those give zeros.

    >>> import tape_compat as tf
    >>> tf.gather([[1, 2], [3, 4]], [1, 1]).numpy().tolist()
    [[3, 4], [3, 4]]
    """
    params, indices = _tensor(params), _tensor(indices)
    have = params._aval.shape
    batch = _integer(batch_dims)
    if batch < 0:
        batch += len(indices._aval.shape)
    axis = batch if axis is None else _integer(axis)
    if axis < 0:
        axis += len(have)
    if not 0 <= axis < len(have):
        raise invalid(f"Shape must be at least rank {axis + 1} but is rank {len(have)}", "GatherV2")
    if axis < batch:
        raise invalid(
            f"batch_dims ({batch}) must be less than or equal to axis ({axis})", "GatherV2"
        )
    refuse_rows(indices, have[axis], "GatherV2")
    if _is_text(params):
        return _moved(lambda p: gather(p, indices, axis=axis, batch_dims=batch), params)
    return apply(_GATHER.bind(axis=axis, batch_dims=batch), (params, indices))


def _positions(indices: Any, shape: Sequence[int]) -> tuple[Any, ...]:
    return tuple(dropped(indices[..., i], shape[i]) for i in _range(indices.shape[-1]))


def _gather_nd(params: Any, indices: Any, batch_dims: int) -> Any:
    if batch_dims:
        return jax.vmap(lambda p, i: _gather_nd(p, i, batch_dims - 1))(params, indices)
    if not indices.shape[-1]:
        return jnp.broadcast_to(params, (*indices.shape[:-1], *params.shape))
    return params.at[_positions(indices, params.shape)].get(mode="fill", fill_value=0)


def _check_gather_nd(avals: tuple[Aval, ...], batch_dims: int) -> None:
    params, indices = avals
    if indices.dtype.name not in _INDEX_DTYPES:
        raise _bad_attr("Tindices", indices.dtype, ", ".join(_INDEX_DTYPES), "GatherNd")
    if not indices.shape:
        raise invalid("indices must be at least a vector", "GatherNd")
    depth, n = indices.shape[-1], len(params.shape) - batch_dims
    if depth > n:
        raise invalid(
            f"index innermost dimension length must be <= params rank; saw: {depth} vs. {n}",
            "GatherNd",
        )


def _sparse_gather_nd(
    call: Any, inputs: tuple[Tensor, ...], cotangents: list[Any], want: tuple[int, ...]
) -> list[Any] | None:
    """Indices [n, 1] are rows, and give back IndexedSlices."""
    indices = inputs[1]
    at = indices._aval.shape
    if want != (0,) or len(at) != 2 or at[1] != 1 or call.attributes["batch_dims"]:
        return None
    flat = reshape(_untracked(indices), (at[0],))
    shape_of = _host(inputs[0]._aval.shape, indices.dtype)
    return [IndexedSlices(_tensor(cotangents[0]), flat, shape_of)]


_GATHER_ND = Op(_gather_nd, "GatherNd", check=_check_gather_nd, sparse=_sparse_gather_nd)


def gather_nd(
    params: Any,
    indices: Any,
    batch_dims: int = 0,
    name: str | None = None,
    bad_indices_policy: str = "",
) -> Tensor:
    """The elements or slices of `params` at full indices: `indices[..., :]` is one of them.

    Args:
      params: tensor of rank r.
      indices: integer tensor [..., k], k <= r.
      batch_dims: this many leading axes are common to `params` and `indices`.
      bad_indices_policy: "" or "DEFAULT" (an error, if known at the call), or "IGNORE" (zeros).
    Returns: [..., *params.shape[k:]].

    >>> import tape_compat as tf
    >>> tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).numpy().tolist()
    [2, 3]
    """
    if bad_indices_policy not in ("", "DEFAULT", "ERROR", "IGNORE"):
        raise ValueError(f"bad_indices_policy: {bad_indices_policy!r} is none of TensorFlow's")
    params, indices = _tensor(params), _tensor(indices)
    batch = _integer(batch_dims)
    if bad_indices_policy != "IGNORE":
        refuse_positions(indices, params._aval.shape[batch:], "GatherNd", "param ")
    if _is_text(params):
        return _moved(lambda p: gather_nd(p, indices, batch), params)
    return apply(_GATHER_ND.bind(batch_dims=batch), (params, indices))


def _scattered(x: Any, indices: Any, updates: Any, method: str) -> Any:
    where_to = _positions(indices, x.shape)
    if not where_to:
        updates = jnp.sum(updates.reshape(-1, *x.shape), 0) if method == "add" else updates
        return getattr(x.at[...], method)(
            updates.reshape(-1, *x.shape)[-1] if method != "add" else updates
        )
    return getattr(x.at[where_to], method)(updates, mode="drop")


def _scatter_nd(indices: Any, updates: Any, shape: tuple[int, ...]) -> Any:
    return _scattered(jnp.zeros(shape, updates.dtype), indices, updates, "add")


def _check_scatter_nd(avals: tuple[Aval, ...], shape: tuple[int, ...]) -> None:
    indices, updates = avals
    if indices.dtype.name not in _INDEX_DTYPES:
        raise _bad_attr("Tindices", indices.dtype, ", ".join(_INDEX_DTYPES), "ScatterNd")
    depth, outer = indices.shape[-1], indices.shape[:-1]
    n = len(outer)
    if updates.shape[:n] != outer:
        raise invalid(
            f"Dimensions [0,{n}) of indices[shape={_dims(indices.shape)}] must match dimensions "
            f"[0,{n}) of updates[shape={_dims(updates.shape)}]",
            "ScatterNd",
        )
    if depth > len(shape) or updates.shape[n:] != shape[depth:]:
        raise invalid(
            f"Dimensions [{depth},{len(shape)}) of input[shape={_dims(shape)}] must match "
            f"dimensions [{n},{len(updates.shape)}) of updates[shape={_dims(updates.shape)}]",
            "ScatterNd",
        )


_SCATTER_ND = Op(_scatter_nd, "ScatterNd", check=_check_scatter_nd)


def scatter_nd(
    indices: Any, updates: Any, shape: Any, name: str | None = None, bad_indices_policy: str = ""
) -> Tensor:
    """Zeros of `shape` with `updates` added at full `indices` [..., k]; repeated ones add up.

    >>> import tape_compat as tf
    >>> tf.scatter_nd([[0], [2], [0]], [1, 2, 3], [3]).numpy().tolist()
    [4, 0, 2]
    """
    indices, updates, wanted = _tensor(indices), _tensor(updates), dims(shape)
    if bad_indices_policy != "IGNORE":
        refuse_positions(indices, wanted, "ScatterNd")
    return apply(_SCATTER_ND.bind(shape=wanted), (indices, updates))


@jax.custom_jvp
def _put(x: Any, indices: Any, updates: Any) -> Any:
    return _scattered(x, indices, updates, "set")


@_put.defjvp
def _put_jvp(primals: Any, tangents: Any) -> Any:
    """Each of several updates of one place gets the gradient; JAX: the one that won.

    Source: TF array_grad.py, _TensorScatterUpdateGrad.
    """
    x, indices, updates = primals
    dx, _, dy = tangents
    replaced = _scattered(jnp.zeros(x.shape, bool), indices, jnp.ones(updates.shape, bool), "set")
    moved = _scattered(jnp.zeros_like(dx), indices, dy, "add")
    return _put(x, indices, updates), jnp.where(replaced, moved, dx)


def _extreme(method: str) -> Callable[..., Any]:
    @jax.custom_jvp
    def extreme(x: Any, indices: Any, updates: Any) -> Any:
        return _scattered(x, indices, updates, method)

    @extreme.defjvp
    def extreme_jvp(primals: Any, tangents: Any) -> Any:
        """Ties share the gradient evenly; JAX has no rule.

        Source: TF array_grad.py, _TensorScatterMinOrMaxGrad.
        """
        x, indices, updates = primals
        dx, _, dy = tangents
        out = extreme(x, indices, updates)
        from_x = (x == out).astype(dx.dtype)
        from_y = (updates == _gather_nd(out, indices, 0)).astype(dy.dtype)
        shares = from_x + _scattered(jnp.zeros_like(dx), indices, from_y, "add")
        moved = from_x * dx + _scattered(jnp.zeros_like(dx), indices, from_y * dy, "add")
        return out, moved / shares

    return extreme


def _tensor_scatter(kernel: str, fn: Callable[..., Any], doc: str) -> Callable[..., Tensor]:
    def check(avals: tuple[Aval, ...]) -> None:
        x, indices, updates = avals
        if updates.dtype is not x.dtype:
            raise invalid(
                f"cannot compute {kernel} as input #2(zero-based) was expected to be a "
                f"{tf_dtype_name(x.dtype)} tensor but is a {tf_dtype_name(updates.dtype)} tensor",
                kernel,
            )
        if indices.dtype.name not in _INDEX_DTYPES:
            raise _bad_attr("Tindices", indices.dtype, ", ".join(_INDEX_DTYPES), kernel)
        n = len(indices.shape) - 1
        if updates.shape[:n] != indices.shape[:-1]:
            raise invalid(
                "Outer dimensions of indices and update must match. Indices shape: "
                f"{_dims(indices.shape)}, updates shape:{_dims(updates.shape)}",
                kernel,
            )
        if indices.shape[-1] > len(x.shape) or updates.shape[n:] != x.shape[indices.shape[-1] :]:
            raise invalid(
                "Inner dimensions of output shape must match inner dimensions of updates shape. "
                f"Output: {_dims(x.shape)} updates: {_dims(updates.shape)}",
                kernel,
            )

    closure = Op(fn, kernel, check=check).bind()

    def call(
        tensor: Any,
        indices: Any,
        updates: Any,
        name: str | None = None,
        bad_indices_policy: str = "",
    ) -> Tensor:
        x, indices = _tensor(tensor), _tensor(indices)
        if updates.__class__ is not Tensor:
            updates = convert(updates, hint=x.dtype)
        if bad_indices_policy != "IGNORE":
            refuse_positions(indices, x._aval.shape, kernel)
        return apply(closure, (x, indices, updates))

    call.op = closure.op  # type: ignore[attr-defined]
    call.__doc__ = doc
    return call


tensor_scatter_nd_update = _tensor_scatter(
    "TensorScatterUpdate", _put, "`tensor` with `updates` put at full `indices` [..., k]."
)
tensor_scatter_nd_add = _tensor_scatter(
    "TensorScatterAdd",
    lambda x, indices, updates: _scattered(x, indices, updates, "add"),
    "`tensor` with `updates` added at full `indices` [..., k]; repeated ones add up.",
)
tensor_scatter_nd_sub = _tensor_scatter(
    "TensorScatterSub",
    lambda x, indices, updates: _scattered(x, indices, -updates, "add"),
    "`tensor` with `updates` subtracted at full `indices` [..., k]; repeated ones add up.",
)
tensor_scatter_nd_max = _tensor_scatter(
    "TensorScatterMax",
    _extreme("max"),
    "`tensor` with the maximum of itself and `updates` at full `indices` [..., k].",
)
tensor_scatter_nd_min = _tensor_scatter(
    "TensorScatterMin",
    _extreme("min"),
    "`tensor` with the minimum of itself and `updates` at full `indices` [..., k].",
)


# ---------------------------------------------------------------------------------------------
# Choosing.


def _check_where(avals: tuple[Aval, ...]) -> None:
    condition, x, y = avals
    for i, known, wanted in ((0, condition, dtypes.bool), (2, y, x.dtype)):
        if known.dtype is not wanted:
            raise invalid(
                f"cannot compute SelectV2 as input #{i}(zero-based) was expected to be a "
                f"{tf_dtype_name(wanted)} tensor but is a {tf_dtype_name(known.dtype)} tensor",
                "SelectV2",
            )
    try:
        np.broadcast_shapes(condition.shape, x.shape, y.shape)
    except ValueError:
        raise invalid(
            f"condition {_dims(condition.shape)}, then {_dims(x.shape)}, and else {_dims(y.shape)} "
            "must be broadcastable",
            "SelectV2",
        ) from None


_WHERE = Op(jnp.where, "SelectV2", check=_check_where).bind()


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """`x` where `condition` is true, `y` elsewhere, all three broadcast.

    With `condition` alone: the indices [n, rank] (int64) of what is true or not zero in it, whose
    value must then be known.

    >>> import tape_compat as tf
    >>> tf.where([True, False], [1, 2], 0).numpy().tolist()
    [1, 0]
    >>> tf.where([0, 3, 4]).numpy().tolist()
    [[1], [2]]
    """
    if x is None and y is None:
        return concrete(np.argwhere(_known(condition)).astype(np.int64))
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    if condition.__class__ is not Tensor:
        condition = convert(condition, hint=dtypes.bool)
    x, y = matching((x, y))
    if _is_text(x) and _is_text(y):
        return _moved(lambda p, q: where(condition, p, q), x, y)
    return apply(_WHERE, (condition, x, y))


_MASKED = Op(
    lambda x, places, axis, count: jnp.take(
        x.reshape(*x.shape[:axis], -1, *x.shape[axis + count :]), places, axis=axis, mode="clip"
    ),
    "GatherV2",
)


def boolean_mask(tensor: Any, mask: Any, axis: Any = None, name: str = "boolean_mask") -> Tensor:
    """The elements or slices of `tensor` where `mask` is true, whose value must be known.

    The axes of `mask` stand for those of `tensor` from `axis` (default 0), and become one.
    Raises: ValueError if `mask` is a scalar or its shape does not fit.

    >>> import tape_compat as tf
    >>> tf.boolean_mask([1, 2, 3], [True, False, True]).numpy().tolist()
    [1, 3]
    """
    x, known = _tensor(tensor), _known(mask)
    axis = 0 if axis is None else _integer(axis)
    if known.ndim == 0:
        raise ValueError("mask cannot be scalar.")
    have = x._aval.shape
    if axis < 0:
        axis += len(have)
    if have[axis : axis + known.ndim] != known.shape:
        raise ValueError(
            f"Shapes {have[axis : axis + known.ndim]} and {known.shape} are incompatible"
        )
    places = np.flatnonzero(known).astype(np.int32)
    if _is_text(x):
        return _moved(lambda p: boolean_mask(p, known, axis), x)
    if not x._aval.size and not places.size:
        return zeros((*have[:axis], 0, *have[axis + known.ndim :]), x.dtype)
    return apply(_MASKED.bind(axis=axis, count=known.ndim), (x, concrete(places)))


def dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> list[Tensor]:
    """The parts of `data` where `partitions` is 0, 1, ..., in order; its values must be known.

    Args:
      data: tensor [*partitions.shape, ...].
      partitions: integers in [0, num_partitions).
    Raises: InvalidArgumentError for other values or shapes.

    >>> from tape_compat import array
    >>> [t.numpy().tolist() for t in array.dynamic_partition([1, 2, 3], [0, 1, 0], 2)]
    [[1, 3], [2]]
    """
    x, known, kernel = _tensor(data), _known(partitions), "DynamicPartition"
    have = x._aval.shape
    if have[: known.ndim] != known.shape:
        raise invalid(
            f"data.shape must start with partitions.shape, got data.shape = {_dims(have)}, "
            f"partitions.shape = {_dims(known.shape)}",
            kernel,
        )
    bad = np.argwhere((known < 0) | (known >= num_partitions))
    if bad.size:
        at = tuple(bad[0])
        place = f"[{','.join(map(str, at))}]" if at else ""
        raise invalid(f"partitions{place} = {known[at]} is not in [0, {num_partitions})", kernel)
    if not known.ndim:
        x, known = reshape(x, (1, *have)), known.reshape(1)
    return [boolean_mask(x, known == i) for i in _range(num_partitions)]


def dynamic_stitch(indices: Sequence[Any], data: Sequence[Any], name: str | None = None) -> Tensor:
    """Rows put together: `data[m][i]` stands at `indices[m][i]`, the last one where several do.

    Args:
      indices: list of integer tensors, whose values must be known.
      data: list of tensors [*indices[m].shape, ...].
    Returns: [1 + the largest index, ...]; zeros where no index points.

    >>> from tape_compat import array
    >>> array.dynamic_stitch([[0, 2], [1]], [[1, 3], [2]]).numpy().tolist()
    [1, 2, 3]
    """
    known, parts = [_known(i) for i in indices], matching(list(data))
    for m, (places, part) in enumerate(zip(known, parts, strict=True)):
        if part._aval.shape[: places.ndim] != places.shape:
            raise invalid(
                f"data[{m}].shape must start with indices[{m}].shape, got {_dims(part._aval.shape)}"
                f" and {_dims(places.shape)}",
                "DynamicStitch",
            )
    rest = parts[0]._aval.shape[known[0].ndim :]
    flat = np.concatenate([k.ravel() for k in known])
    size = int(flat.max()) + 1 if flat.size else 0
    whole = concat([reshape(p, (k.size, *rest)) for p, k in zip(parts, known)], 0)
    last = np.full(size, -1, np.int32)  # which no row has: zeros
    last[flat] = np.arange(flat.size, dtype=np.int32)
    return gather_nd(whole, last[:, None], bad_indices_policy="IGNORE")


class Unique(NamedTuple):
    """Distinct values, and for each element the place of its value among them."""

    y: Tensor
    idx: Tensor


class UniqueWithCounts(NamedTuple):
    """Distinct values, each element's place among them, and how often each occurs."""

    y: Tensor
    idx: Tensor
    count: Tensor  # type: ignore[assignment]


def unique_with_counts(
    x: Any, out_idx: Any = dtypes.int32, name: str | None = None
) -> UniqueWithCounts:
    """The distinct values of a vector in order of appearance, positions and counts.

    The values of `x` must be known. Raises InvalidArgumentError if it is not a vector.

    >>> import tape_compat as tf
    >>> [t.numpy().tolist() for t in tf.unique_with_counts([3, 1, 3])]
    [[3, 1], [0, 1, 0], [2, 1]]
    """
    known = _known(x)
    if known.ndim != 1:
        raise invalid("unique expects a 1D vector.", "Unique")
    values, first, inverse, counts = np.unique(
        known, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    dtype = as_dtype(out_idx).np_dtype
    values = values[order]
    kind = aval(values.shape, dtypes.string) if known.dtype == object else None
    return UniqueWithCounts(
        concrete(values, kind),
        concrete(place[inverse].astype(dtype)),
        concrete(counts[order].astype(dtype)),
    )


def unique(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Unique:
    """The distinct values of a vector in order of appearance, and each element's place among them.

    The values of `x` must be known. Raises InvalidArgumentError if it is not a vector.

    >>> import tape_compat as tf
    >>> [t.numpy().tolist() for t in tf.unique([3, 1, 3])]
    [[3, 1], [0, 1, 0]]
    """
    return Unique(*unique_with_counts(x, out_idx)[:2])


# ---------------------------------------------------------------------------------------------
# Slicing and indexing.
#
# A spec is a tuple with one entry for each index: an int (takes it, the axis goes), a triple
# (start, stop, step) of a slice, None (a new axis), Ellipsis, or DYNAMIC: a scalar tensor, which is
# an input.

DYNAMIC = "dynamic"
_BAD_INDEX = (
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
    "tf.int32/tf.int64 tensors are valid indices"
)


class _Plan(NamedTuple):
    """How to index an array of one shape: what to cut, then what to reverse, then the shape."""

    cuts: tuple[tuple[int, int, int], ...]  # start, stop, step (positive) of each axis
    reversed: tuple[int, ...]
    dynamic: tuple[int, ...]  # axes indexed by an input
    shape: tuple[int, ...]


def _planned(spec: tuple[Any, ...], shape: tuple[int, ...]) -> _Plan:
    used = sum(1 for s in spec if s is not None and s is not Ellipsis)
    if spec.count(Ellipsis) > 1:
        raise invalid("Multiple ellipses in slice spec not allowed", "StridedSlice")
    if used and not shape:
        raise invalid("Attempting to slice scalar input.", "StridedSlice")
    if used > len(shape):
        raise invalid(
            f"Index out of range using input dim {len(shape)}; input has only {len(shape)} dims",
            "StridedSlice",
        )
    if Ellipsis not in spec:
        spec = (*spec, Ellipsis)
    cuts: list[tuple[int, int, int]] = []
    backwards, dynamic, out = [], [], []
    for i, entry in enumerate(spec):
        axis = len(cuts)
        if entry is None:
            out.append(1)
        elif entry is Ellipsis:
            for n in shape[axis : axis + len(shape) - used]:
                cuts.append((0, n, 1))
                out.append(n)
        elif entry is DYNAMIC:
            cuts.append((0, shape[axis], 1))
            dynamic.append(axis)
        elif entry.__class__ is int:
            n = shape[axis]
            at = entry + n if entry < 0 else entry
            if not 0 <= at < n:
                raise invalid(
                    f"slice index {at} of dimension {axis} out of bounds.", "StridedSlice"
                )
            cuts.append((at, at + 1, 1))
        else:
            if entry[2] == 0:
                raise invalid(f"strides[{i}] must be non-zero", "StridedSlice")
            start, stop, step = _slice(*entry).indices(shape[axis])
            count = len(_range(start, stop, step))
            out.append(count)
            if count == 0:
                cuts.append((0, 0, 1))
            elif step > 0:
                cuts.append((start, start + (count - 1) * step + 1, step))
            else:
                cuts.append((start + (count - 1) * step, start + 1, -step))
                backwards.append(axis)
    return _Plan(tuple(cuts), tuple(backwards), tuple(dynamic), tuple(out))


def _indexed(x: Any, *places: Any, spec: tuple[Any, ...]) -> Any:
    plan = _planned(spec, x.shape)
    if any(cut != (0, n, 1) for cut, n in zip(plan.cuts, x.shape)):
        x = lax.slice(x, *zip(*plan.cuts))
    for axis, place in zip(plan.dynamic, places):
        size = x.shape[axis]
        place = jnp.where(place < 0, place + size, place)
        x = lax.dynamic_slice_in_dim(x, place, 1, axis)
        x = jnp.where((place >= 0) & (place < size), x, jnp.zeros((), x.dtype))
    if plan.reversed:
        x = lax.rev(x, plan.reversed)
    return x if x.shape == plan.shape else lax.reshape(x, plan.shape)


_INDEXED = Op(
    _indexed,
    "StridedSlice",
    check=lambda avals, spec: _planned(spec, avals[0].shape) and None,
)


def getitem(x: Any, index: Any) -> Tensor:
    """`x[index]`, for TensorFlow's indices: ints, slices, `...`, None, scalar tensors, a mask."""
    if x.__class__ is not Tensor:
        x = convert(x)
    if index.__class__ is int:
        return _at(x, (index,), ())
    if _is_mask(index):
        return boolean_mask(x, index)
    return _at(x, *_spec(index if isinstance(index, (list, tuple)) else (index,)))


def variable_getitem(variable: Variable, index: Any) -> Tensor:
    """`variable[index]`, which can be assigned to unless the index is a mask."""
    x = variable._as_tensor()
    if index.__class__ is int:
        spec: tuple[Any, ...] = (index,)
        places: tuple[Tensor, ...] = ()
    else:
        if _is_mask(index):
            return boolean_mask(x, index)
        spec, places = _spec(index if isinstance(index, (list, tuple)) else (index,))
    part = _at(x, spec, places)
    mark_slice(part, variable, spec, places)
    return part


def _at(x: Tensor, spec: tuple[Any, ...], places: tuple[Tensor, ...]) -> Tensor:
    array = x._array
    fixed, plan = spec, None
    if places:
        fixed = _with_known(spec, places)
        if DYNAMIC not in fixed:
            plan = _planned(fixed, x._aval.shape)  # raises for what is out of range
    if array.__class__ is np.ndarray and DYNAMIC not in fixed:
        kind = array.dtype.kind
        if kind == "O" or (kind in "iub" and array.size <= policy.HOST_SIZE):
            return _host_item(x, array, plan or _planned(fixed, x._aval.shape))
    if x._aval.dtype is dtypes.string:
        return _moved(lambda p: _at(p, spec, places), x)
    closure = _INDEXED.bind(spec=spec)
    return apply(closure, (x, *places)) if places else apply1(closure, x)


def _with_known(spec: tuple[Any, ...], places: tuple[Tensor, ...]) -> tuple[Any, ...]:
    """The spec with the numbers of its scalar tensors, if the host knows them all."""
    known = [on_host(p) for p in places]
    if any(k is None for k in known):
        return spec
    values = iter(known)
    return tuple(int(next(values)) if s is DYNAMIC else s for s in spec)  # type: ignore[arg-type]


def _host_item(x: Tensor, array: np.ndarray, plan: _Plan) -> Tensor:
    """Small integers and strings on the host: shapes, labels."""
    part = array[tuple(_slice(*cut) for cut in plan.cuts)]
    if plan.reversed:
        part = np.flip(part, plan.reversed)
    return concrete(np.array(part).reshape(plan.shape), aval(plan.shape, x._aval.dtype))


def _check_assigned(avals: tuple[Aval, ...], spec: tuple[Any, ...]) -> None:
    shape = _planned(spec, avals[0].shape).shape
    given = avals[1].shape
    extra = max(0, len(given) - len(shape))
    kept = given[extra:]
    fits = all(n == 1 for n in given[:extra]) and all(
        n in (1, m) for n, m in zip(reversed(kept), reversed(shape))
    )
    if not fits and 0 not in shape:
        raise invalid(
            f"Cannot broadcast input shape {_dims(given)} into final shape {_dims(shape)}",
            "ResourceStridedSliceAssign",
        )


def _assigned(x: Any, value: Any, *places: Any, spec: tuple[Any, ...]) -> Any:
    """`x` with `value` at the spec: `_indexed` undone step by step. Outside the range: nothing."""
    plan = _planned(spec, x.shape)
    if 0 in plan.shape:
        return x
    value = lax.reshape(value, value.shape[max(0, value.ndim - len(plan.shape)) :])
    value = jnp.broadcast_to(value, plan.shape)
    # A dynamic axis is cut whole in the plan, and one row is taken of it.
    index: list[Any] = [_slice(*cut) for cut in plan.cuts]
    widths = [len(_range(*cut)) for cut in plan.cuts]
    for axis, place in zip(plan.dynamic, places):
        index[axis], widths[axis] = place, 1
    value = lax.rev(lax.reshape(value, widths), plan.reversed)
    if not places and all(step == 1 for _, _, step in plan.cuts):
        return lax.dynamic_update_slice(x, value, [start for start, _, _ in plan.cuts])
    return x.at[tuple(index)].set(lax.squeeze(value, plan.dynamic), mode="drop")


_ASSIGNED = Op(_assigned, "ResourceStridedSliceAssign", check=_check_assigned)


def slice_assigned(
    x: Tensor, value: Tensor, spec: tuple[Any, ...], places: tuple[Tensor, ...]
) -> Tensor:
    """`x` with `value` at `spec`, seen by no tape: an assignment to a slice of a variable."""
    fixed = _with_known(spec, places)
    if DYNAMIC not in fixed:
        _check_assigned((x._aval, value._aval), fixed)  # raises for what is out of range
    if _is_text(x):
        array = np.array(x._value())
        plan = _planned(fixed, array.shape)
        part = array[tuple(_slice(*cut) for cut in plan.cuts)]
        part = np.flip(part, plan.reversed)
        np.copyto(part, np.broadcast_to(np.asarray(value._value()), plan.shape).reshape(part.shape))
        return concrete(array, x._aval)
    return unrecorded(_ASSIGNED.bind(spec=spec), (x, value, *places))


def _is_mask(index: Any) -> bool:
    if index.__class__ is bool:
        return True
    dtype = getattr(index, "dtype", None)
    return dtype is not None and (dtype is dtypes.bool or dtype == np.bool_)


def _spec(index: Sequence[Any]) -> tuple[tuple[Any, ...], tuple[Tensor, ...]]:
    """The spec of an index, and the scalar tensors in it."""
    spec: list[Any] = []
    places: list[Tensor] = []
    for entry in index:
        if entry is None or entry is Ellipsis or entry.__class__ is int:
            spec.append(entry)
        elif entry.__class__ is _slice:
            spec.append((_bound(entry.start), _bound(entry.stop), _bound(entry.step)))
        elif isinstance(entry, (Tensor, Variable)):
            _check_index(entry)
            spec.append(DYNAMIC)
            places.append(reshape(entry, ()) if entry.shape.rank else _tensor(entry))
        else:
            _check_index(entry)
            spec.append(int(entry))
    return tuple(spec), tuple(places)


def _bound(value: Any) -> int | None:
    if value is None or value.__class__ is int:
        return value
    _check_index(value)
    return int(value)


def _check_index(entry: Any) -> None:
    if isinstance(entry, (int, np.integer)):
        return
    dtype = getattr(entry, "dtype", None)
    if isinstance(entry, (Tensor, Variable, np.ndarray, jax.Array)) and len(entry.shape) != 1:
        if as_dtype(dtype).name in _INDEX_DTYPES and not len(entry.shape):
            return
    raise TypeError(f"{_BAD_INDEX}, got {entry!r}")


def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Tensor:
    """`input_[begin[0]:end[0]:strides[0], ...]`; bit i of a mask changes what entry i means.

    Args:
      begin, end, strides: integer vectors of equal length; strides are 1 by default.
      begin_mask, end_mask: the whole range on that side.
      ellipsis_mask, new_axis_mask, shrink_axis_mask: an `...`, a new axis, a single index.
      var: the variable that `input_` is read from; the result's `assign` puts values into it.

    >>> from tape_compat import array
    >>> array.strided_slice([1, 2, 3, 4], [0], [4], [2]).numpy().tolist()
    [1, 3]
    """
    starts, stops = dims(begin), dims(end)
    steps = (1,) * len(starts) if strides is None else dims(strides)
    spec: list[Any] = []
    for i, (start, stop, step) in enumerate(zip(starts, stops, steps, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            spec.append(Ellipsis)
        elif new_axis_mask & bit:
            spec.append(None)
        elif shrink_axis_mask & bit:
            spec.append(0 if begin_mask & bit else start)
        else:
            spec.append(
                (None if begin_mask & bit else start, None if end_mask & bit else stop, step)
            )
    part = _at(_tensor(input_), tuple(spec), ())
    if var is not None:
        mark_slice(part, var, tuple(spec), ())
    return part


def _check_slice(
    avals: tuple[Aval, ...], begin: tuple[int, ...] | None, size: tuple[int, ...]
) -> None:
    have = avals[0].shape
    count = avals[1].shape if begin is None else (len(begin),)
    if count != (len(have),) or len(size) != len(have):
        raise invalid(
            f"Expected begin and size arguments to be 1-D tensors of size {len(have)}, but got "
            f"shapes {_dims(count)} and {_dims((len(size),))} instead.",
            "Slice",
        )
    for i, n in enumerate(have):
        start = 0 if begin is None else begin[i]
        if not 0 <= start <= n:
            raise invalid(f"Expected begin[{i}] in [0, {n}], but got {start}", "Slice")
        if size[i] != -1 and not 0 <= size[i] <= n - start:
            raise invalid(f"Expected size[{i}] in [0, {n - start}], but got {size[i]}", "Slice")


def _sliced(x: Any, *start: Any, begin: tuple[int, ...] | None, size: tuple[int, ...]) -> Any:
    if begin is None:
        return lax.dynamic_slice(x, [start[0][i] for i in _range(x.ndim)], size)
    stops = [n if s == -1 else b + s for b, s, n in zip(begin, size, x.shape)]
    return lax.slice(x, begin, stops)


_SLICE = Op(_sliced, "Slice", check=_check_slice)


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """The part of `input_` that starts at `begin` and has `size`; -1 there: all that is left.

    `begin` may be a tensor that is pending, if no size is -1.
    Raises: InvalidArgumentError if the part does not lie inside.

    >>> import tape_compat as tf
    >>> tf.slice([1, 2, 3, 4], [1], [2]).numpy().tolist()
    [2, 3]
    """
    x, extent = _tensor(input_), dims(size)
    if _is_text(x):
        return _moved(lambda p: slice(p, begin, size), x)
    fixed = not isinstance(begin, (Tensor, Variable)) and not any(
        isinstance(b, (Tensor, Variable)) for b in begin
    )
    if fixed or -1 in extent:
        return apply(_SLICE.bind(begin=dims(begin), size=extent), (x,))
    start = _tensor(begin)
    known = on_host(start)
    if known is not None:
        _check_slice((x._aval,), dims(known), extent)
    return apply(_SLICE.bind(begin=None, size=extent), (x, start))


# ---------------------------------------------------------------------------------------------

_convert.define_packing(_pack)
operators.define(
    getitem=getitem,
    variable_getitem=variable_getitem,
    slice_assigned=slice_assigned,
    gather=gather,
    gather_nd=gather_nd,
    identity=identity,
)
name_ops(globals())
