"""Making tensors: of values, filled, counted, and one-hot."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..composites.ragged import RaggedTensor
from ..composites.sparse import SparseTensor
from ..core import dtypes
from ..core.avals import Aval
from ..core.dimensions import Shape, Size, is_symbolic, less, maximum, product
from ..core.dtypes import DType, as_dtype
from ..core.errors import NeedsValue
from ..core.op import Op
from ..core.refuse import invalid, not_allowed, shown
from ..core.shapes import TensorShape
from ..core.state import LOCAL
from ..run import policy
from ..values.bounds import host_value
from ..values.composite import CompositeTensor, TensorType
from ..values.convert import convert
from ..values.dispatch import takes_composites
from ..values.host_steps import by_host
from ..values.indexed_slices import IndexedSlices
from ..values.record import apply
from ..values.sizes import folded
from ..values.tensor import Tensor, concrete, next_id, same_value
from ..values.variable import Variable, read
from .arguments import (
    as_int,
    as_own_tensor,
    as_scalar,
    as_size,
    as_tensor,
    cast_as_default,
    dims,
    int_attribute,
    is_text,
    known_sizes,
    known_value,
    move_text,
    no_float,
    sketched,
    value_if_known,
)
from .casting import cast
from .declare import Number
from .dynamic_shape import DynamicRaggedShape
from .repeating import broadcast_to
from .shapes import host_shape, reshape


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
    elif isinstance(value, Variable):
        tensor = same_value(read(value), next_id())
    else:
        tensor = convert(value.as_list() if isinstance(value, TensorShape) else value, dtype)
    if shape is None:
        return tensor
    wanted = dims(shape)
    size = product(wanted)
    if tensor._aval.shape == wanted:
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
        return as_own_tensor(value)
    if value.__class__ is Variable and dtype is not None and as_dtype(dtype) is value.dtype:
        return value.read_value()
    hint = None if dtype is not None else as_dtype(dtype_hint)
    tensor = convert(value, None if dtype is None else as_dtype(dtype), hint)
    return as_own_tensor(value) if isinstance(value, Variable) else tensor


def is_tensor(x: Any) -> bool:
    """Whether `x` is a Tensor, sparse or ragged or not, a Variable, or IndexedSlices.

    A variable of Keras is one too, and so is what has an attribute `is_tensor_like`, as libraries
    give it to classes; an ExtensionType or a LinearOperator is not.

    >>> import tape_compat as tf
    >>> tf.is_tensor(tf.Variable(1.0)), tf.is_tensor([1.0])
    (True, False)
    """
    kind = x.__class__
    if kind is Tensor or kind in _OF_PYTHON:
        return kind is Tensor
    return isinstance(x, _TENSORS) or hasattr(x, "is_tensor_like")


_TENSORS = (TensorType, Variable, RaggedTensor, SparseTensor, IndexedSlices)
_OF_PYTHON = frozenset((type(None), bool, int, float, str, list, tuple, dict, np.ndarray))


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor as NumPy; None for a variable or a tensor without one; else `tensor`.

    In a function that is recorded these are known: constants, known sizes, and what is cast,
    packed, joined, split, filled or compared for equality of what is known.

    `partial` has no effect: what is known is known whole.

    >>> import tape_compat as tf
    >>> tf.get_static_value(tf.constant([1, 2])).tolist()
    [1, 2]
    """
    if isinstance(tensor, Tensor):
        return _followed(tensor) if tensor._is_symbolic() else tensor.numpy()
    if isinstance(tensor, Variable):
        return None
    as_tensor = None if isinstance(tensor, CompositeTensor) else getattr(tensor, "_as_tensor", None)
    return tensor if as_tensor is None else get_static_value(as_tensor())


#: Kinds of the ops that TensorFlow follows back to constants, and of those that ask for sizes.
_FOLLOWED = frozenset(
    "Cast ConcatV2 Equal Fill Identity NotEqual Pack Range Split StopGradient Unpack".split()
)
_OF_SIZES = frozenset("Rank Shape Size".split())


def _followed(tensor: Tensor) -> Any:
    kind = tensor.op.type
    if kind not in _OF_SIZES and (
        kind not in _FOLLOWED or any(get_static_value(x) is None for x in tensor.op.inputs)
    ):
        return None
    return folded(tensor)


def _full(shape: Shape, dtype: DType, value: Any) -> Any:
    return jnp.full(shape, value, dtype.np_dtype)


_FULL = Op(_full, "Fill", of_sizes=lambda shape, dtype, value: np.full(shape, int(value), object))
_FILL = Op(
    lambda value, shape: jnp.broadcast_to(value, shape),
    "Fill",
    host_foldable=False,
    of_sizes=np.broadcast_to,
)


def _few(shape: Shape) -> bool:
    """Whether an array of this shape is small enough to be kept on the host. Refuses a shape that
    is none."""
    size, known = 1, True
    for n in shape:
        if n.__class__ is not int and is_symbolic(n):
            known = False
        if less(n, 0) if not known else n < 0:
            raise invalid(f"Dimension {n} must be >= 0", "Fill")
        size *= n
    return known and size <= policy.HOST_SIZE


def _filled(shape: Shape, dtype: DType, value: Any) -> Tensor:
    few = _few(shape)
    if dtype is dtypes.string:
        return _filled_with_text(host_shape(shape, dtypes.int32), convert(value))
    if few:
        return concrete(np.full(shape, value, dtype.np_dtype), Aval.of(shape, dtype))
    return apply(_FULL.bind(shape=shape, dtype=dtype, value=value), ())


@by_host()
def _filled_with_text(shape: Tensor, text: Tensor) -> Tensor:
    sketch, sizes = sketched(shape, text), dims(shape)
    if sketch is not None:
        return sketch.tensor(sizes, dtypes.string)
    array = np.empty(sizes, object)
    array.fill(known_value(text)[()])
    return concrete(array, Aval.of(sizes, dtypes.string))


def _refuse_layout(layout: Any, function: str) -> None:
    if layout is not None:
        raise NotImplementedError(
            f"{function}: `layout` places the parts of a DTensor, and there are none here; got "
            f"{layout!r}."
        )


def zeros(
    shape: Any, dtype: Any = dtypes.float32, name: str | None = None, layout: Any = None
) -> Tensor:
    """Zeros (False, empty strings) of `shape`.

    >>> import tape_compat as tf
    >>> tf.zeros([2], tf.int32).numpy().tolist()
    [0, 0]
    """
    _refuse_layout(layout, "zeros")
    dtype = as_dtype(dtype)
    if shape.__class__ is DynamicRaggedShape:
        return shape.around(zeros(shape.inner_shape, dtype))
    return _filled(dims(shape), dtype, b"" if dtype is dtypes.string else 0)


def ones(
    shape: Any, dtype: Any = dtypes.float32, name: str | None = None, layout: Any = None
) -> Tensor:
    """Ones (True) of `shape`. Raises TypeError for strings.

    >>> import tape_compat as tf
    >>> tf.ones([2]).numpy().tolist()
    [1.0, 1.0]
    """
    _refuse_layout(layout, "ones")
    dtype = as_dtype(dtype)
    if shape.__class__ is DynamicRaggedShape:
        return shape.around(ones(shape.inner_shape, dtype))
    if dtype is dtypes.string:
        raise TypeError("Cannot convert 1 to EagerTensor of dtype string")
    return _filled(dims(shape), dtype, 1)


def fill(dims: Any, value: Number, name: str | None = None, layout: Any = None) -> Tensor:
    """A tensor of shape `dims` that holds the scalar `value` everywhere.

    >>> import tape_compat as tf
    >>> tf.fill([2, 2], 3).numpy().tolist()
    [[3, 3], [3, 3]]
    """
    _refuse_layout(layout, "fill")
    if dims.__class__ is DynamicRaggedShape:
        return dims.around(fill(dims.inner_shape, value))
    shape = _sizes(dims, "index_type", "Fill")
    value = as_tensor(value)
    aval = value._aval
    if aval.shape == (1,) and LOCAL.state.capture is None:
        value = reshape(value, ())  # as TensorFlow's kernel does, not its graphs
    elif aval.shape:
        raise invalid(f"value must represent a scalar, got shape {shown(aval.shape)}", "Fill")
    few = _few(shape)
    if aval.dtype is dtypes.string:
        return _filled_with_text(host_shape(shape, dtypes.int32), value)
    if not aval.trainable and few and host_value(value) is not None:
        return _filled(shape, aval.dtype, value._array[()])
    return apply(_FILL.bind(shape=shape), (value,))


_sizes = dims


def _like(tensor: Any, dtype: Any) -> tuple[Shape, DType]:
    aval = as_tensor(tensor)._aval
    return aval.shape, aval.dtype if dtype is None else as_dtype(dtype)


@takes_composites
def zeros_like(
    input: Any, dtype: Any = None, name: str | None = None, layout: Any = None
) -> Tensor:
    """Zeros of the shape of `input`, of its dtype unless `dtype` is given.

    >>> import tape_compat as tf
    >>> tf.zeros_like([1.0, 2.0]).numpy().tolist()
    [0.0, 0.0]
    """
    _refuse_layout(layout, "zeros_like")
    shape, dtype = _like(input, dtype)
    return _filled(shape, dtype, b"" if dtype is dtypes.string else 0)


@takes_composites
def ones_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Tensor:
    """Ones of the shape of `input`, of its dtype unless `dtype` is given.

    >>> import tape_compat as tf
    >>> tf.ones_like([1.0, 2.0]).numpy().tolist()
    [1.0, 1.0]
    """
    _refuse_layout(layout, "ones_like")
    shape, dtype = _like(input, dtype)
    if dtype is dtypes.string:
        raise not_allowed(dtype, "float, half, int32, ...", "OnesLike", "T")
    return _filled(shape, dtype, 1)


def _eye(rows: int, columns: int, batch: Shape, dtype: DType) -> Any:
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
    rows = as_size(no_float(num_rows))
    columns = rows if num_columns is None else as_size(no_float(num_columns))
    batch = () if batch_shape is None else dims(batch_shape)
    dtype = as_dtype(dtype)
    if _few((rows, columns, *batch)):
        plane = np.eye(rows, columns, dtype=dtype.np_dtype)
        array = np.ascontiguousarray(np.broadcast_to(plane, (*batch, rows, columns)))
        return concrete(array, Aval.of(array.shape, dtype))
    return apply(_EYE.bind(rows=rows, columns=columns, batch=batch, dtype=dtype), ())


_RANGE = Op(
    lambda start, delta, size: start + jnp.arange(size, dtype=start.dtype) * delta,
    "Range",
    differentiable=False,
    check=lambda avals, size: _check_range(size),
)
_RANGE_DTYPES = ("int32", "int64", "float32", "float64")


def range(
    start: Number, limit: Number = None, delta: Number = 1, dtype: Any = None, name: str = "range"
) -> Tensor:
    """`start`, `start + delta`, ... up to but without `limit`: a vector. `range(n)` starts at 0.

    Raises: InvalidArgumentError if `delta` is 0 or leads away from `limit`.

    >>> import tape_compat as tf
    >>> tf.range(5, 0, -2).numpy().tolist()
    [5, 3, 1]
    """
    if limit is None:
        start, limit = 0, start
    if dtype is None and _are_whole(start, limit, delta):
        counted = builtins.range(start, limit, delta)
        if counted or start == limit:  # what leads nowhere is refused below
            return _counted(np.int32(start), np.int32(delta), len(counted))
    if dtype is not None:
        start, limit, delta = (
            x if isinstance(x, Tensor) else convert(x, dtype) for x in (start, limit, delta)
        )
    try:
        arrays = [known_sizes(x) for x in (start, limit, delta)]
    except NeedsValue:
        return _range_at_call(start, limit, delta, dtype)
    for array, what in zip(arrays, ("start", "limit", "delta")):
        if array.size != 1:
            raise invalid(f"{what} must be a scalar, not shape {shown(array.shape)}", "Range")
    if any(array.dtype == object for array in arrays):
        return _range_of_sizes((start, limit, delta), dtype)
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
    if not (first <= last if step > 0 else first >= last):  # NaN is on no side
        relation, sign = ("<=", ">") if step > 0 else (">=", "<")
        raise invalid(
            f"Requires start {relation} limit when delta {sign} 0: {first}/{last}", "Range"
        )
    if np_dtype.kind in "iu":
        size = len(builtins.range(int(first), int(last), int(step)))
    else:
        with np.errstate(all="ignore"):
            count = float(np.ceil(np.abs((last - first) / step)))
        most = np.iinfo(np.int64).max
        if not count <= most:
            raise invalid(f"Requires ((limit - start) / delta) <= {most}", "Range")
        size = int(count)
    return _counted(first, step, size)


def _are_whole(start: Any, limit: Any, delta: Any) -> bool:
    """Whether a range is one of Python's own integers, which int32 holds, in steps of some size."""
    return (
        start.__class__ is int
        and limit.__class__ is int
        and delta.__class__ is int
        and -(2**30) < start < 2**30
        and -(2**30) < limit < 2**30
        and -(2**30) < delta < 2**30
        and delta != 0
    )


def _counted(first: Any, step: Any, size: int) -> Tensor:
    """So many numbers, of the dtype of the first."""
    if size <= policy.HOST_SIZE:
        return concrete((first + np.arange(size).astype(first.dtype) * step).astype(first.dtype))
    return apply(_RANGE.bind(size=size), (concrete(np.array(first)), concrete(np.array(step))))


def _range_of_sizes(values: Sequence[Any], dtype: Any) -> Tensor:
    """`range` of integers of which the sizes of something unknown are some."""
    tensors = [as_tensor(x) for x in values]
    kinds = [x.dtype for x in tensors]
    kind = as_dtype(dtype) if dtype is not None else dtypes.int32
    if dtype is None and dtypes.int64 in kinds:
        kind = dtypes.int64
    first, last, step = map(as_size, values)
    if less(0, step):
        size = (last - first + step - 1) // step
    elif less(step, 0):
        size = (first - last - step - 1) // -step
    else:
        raise NeedsValue("tf.range() needs to know whether `delta` is above or below 0")
    start, _, delta = (cast(x, kind) for x in tensors)
    return apply(_RANGE.bind(size=size), (start, delta))


@by_host()
def _range_at_call(start: Any, limit: Any, delta: Any, dtype: Any) -> Tensor:
    """`range` of numbers that are no sizes."""
    sketch = sketched(start, limit, delta)
    if sketch is None:
        known = [known_value(x) for x in (start, limit, delta)]
        return range(*known, dtype)  # type: ignore[arg-type]
    names = [as_tensor(x).dtype.name for x in (start, limit, delta)]
    return sketch.tensor([None], as_dtype(dtype or max(names, key=_RANGE_DTYPES.index)))


def _check_range(size: Size) -> None:
    if less(size, 0):
        raise invalid("Requires start <= limit when delta > 0, and >= when delta < 0", "Range")


def _linspace(start: Any, stop: Any, num: int, axis: int) -> Any:
    start, stop = jnp.broadcast_arrays(start, stop)
    axis = axis % (start.ndim + 1)
    first, last = jnp.expand_dims(start, axis), jnp.expand_dims(stop, axis)
    inner = maximum(num - 1, 1)
    delta = (last - first) / inner
    steps = jnp.arange(1, inner, dtype=start.dtype)
    steps = steps.reshape([-1 if i == axis else 1 for i in builtins.range(first.ndim)])
    whole = jnp.concatenate([first, first + delta * steps, last], axis)
    return lax.slice_in_dim(whole, 0, num, axis=axis)


def _check_linspace(avals: tuple[Aval, ...], num: Size, axis: int) -> None:
    _check_range(num)
    rank = max(len(aval.shape) for aval in avals)
    if not -rank - 1 <= axis <= rank:
        raise invalid(
            f"Tried to expand dim index {axis} for tensor with {rank} dimensions.", "ExpandDims"
        )


_LINSPACE = Op(_linspace, "LinSpace", check=_check_linspace)


def linspace(
    start: Number, stop: Number, num: Any, name: str | None = None, axis: int = 0
) -> Tensor:
    """`num` values evenly spaced from `start` to `stop`, both included, along a new `axis`.

    Integers give float64, those of 8 and 16 bits float32, as in TensorFlow.

    >>> import tape_compat as tf
    >>> tf.linspace(0.0, 1.0, 3).numpy().tolist()
    [0.0, 0.5, 1.0]
    """
    start = as_tensor(start)
    stop = convert(stop, start.dtype)
    if start.dtype.is_integer:
        kind = dtypes.float32 if start.dtype.size <= 2 else dtypes.float64
        start, stop = cast(start, kind), cast(stop, kind)
    return apply(_LINSPACE.bind(num=as_size(no_float(num)), axis=as_int(axis)), (start, stop))


def _one_hot(indices: Any, *values: Any, depth: int, axis: int, dtype: DType | None) -> Any:
    axis = indices.ndim if axis == -1 else axis
    hot = jnp.expand_dims(indices, axis) == jnp.arange(depth, dtype=indices.dtype).reshape(
        [-1 if i == axis else 1 for i in builtins.range(indices.ndim + 1)]
    )
    if dtype is not None:
        return hot.astype(dtype.np_dtype)
    return jnp.where(hot, *values)


def _check_one_hot(avals: tuple[Aval, ...], depth: int, axis: int, dtype: DType | None) -> None:
    indices = avals[0]
    if indices.dtype.name not in ("uint8", "int8", "int32", "int64"):
        raise not_allowed(indices.dtype, "uint8, int8, int32, int64", "OneHot", "TI")
    if less(depth, 0):
        raise invalid(f"depth must be non-negative, got: {depth}", "OneHot")
    if not -1 <= axis <= len(indices.shape):
        raise invalid(
            f"Expected axis to be -1 or between [0, {len(indices.shape) + 1}).  "
            f"But received: {axis}",
            "OneHot",
        )


_ONE_HOT = Op(_one_hot, "OneHot", differentiable=False, check=_check_one_hot)


@takes_composites
def one_hot(
    indices: Any,
    depth: Any,
    on_value: Number = None,
    off_value: Number = None,
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
    indices = as_tensor(cast_as_default(indices, np.int64))
    axis = -1 if axis is None else axis
    depth = as_scalar(depth, "OneHot", "depth must be a scalar, but got: ")
    axis = int_attribute(as_int(axis) if isinstance(axis, Tensor) else axis, "axis")
    options = {"depth": as_size(depth), "axis": axis}
    dtype = None if dtype is None else as_dtype(dtype)
    if on_value is None and off_value is None:
        dtype = dtype or dtypes.float32
        if dtype.is_bool:
            raise TypeError("Cannot convert 1 to EagerTensor of dtype bool")
        return apply(_ONE_HOT.bind(**options, dtype=dtype), (indices,))
    on, off = (None if v is None else convert(v, hint=dtype) for v in (on_value, off_value))
    for value, which in ((on, "on_value"), (off, "off_value")):
        if value is not None:
            as_scalar(value, "OneHot", f"{which} must be a scalar, but got: ")
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
    if is_text(on):
        return move_text(lambda a, b, i: one_hot(i, depth, a, b, axis), on, off, by=(indices,))
    return apply(_ONE_HOT.bind(**options, dtype=None), (indices, on, off))


def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool, name: str | None = None
) -> Tensor:
    """Rows that are true in their first `lengths` places: [*lengths.shape, maxlen].

    `maxlen` defaults to the largest length.

    >>> import tape_compat as tf
    >>> tf.sequence_mask([1, 2]).numpy().tolist()
    [[True, False], [True, True]]
    """
    lengths = as_tensor(lengths)
    if maxlen is None:
        known = value_if_known(lengths)
        size = maximum(as_size(_largest(lengths) if known is None else _largest_of(known)), 0)
    else:
        size = _mask_size(maxlen)
        if not lengths.dtype.is_integer:  # TensorFlow compares in the dtype of `maxlen`
            lengths = cast(lengths, dtypes.int32)
    return apply(_SEQUENCE_MASK.bind(size=size, dtype=as_dtype(dtype)), (lengths,))


def _mask_size(maxlen: Any) -> Size:
    """The length of rows that is given. Raises ValueError if it is not one number."""
    if not is_symbolic(maxlen):
        maxlen = as_tensor(maxlen)
        if maxlen._aval.shape:
            raise ValueError(
                "Argument `maxlen` must be scalar for sequence_mask, received `maxlen` = "
                f"{maxlen} with shape '{maxlen.shape}' instead"
            )
    size = as_size(maxlen)
    if less(size, 0):
        raise invalid(f"Requires start <= limit when delta > 0: 0/{size}", "Range")
    return size


def _largest_of(known: np.ndarray) -> int:
    return math.ceil(known.max()) if known.size else 0


@by_host()
def _largest(numbers: Tensor) -> Tensor:
    """The largest of integers, 0 if there are none."""
    sketch = sketched(numbers)
    if sketch is not None:
        return sketch.tensor((), numbers.dtype)
    return convert(_largest_of(known_value(numbers)), numbers.dtype)


_SEQUENCE_MASK = Op(
    lambda lengths, size, dtype: (jnp.arange(size) < jnp.expand_dims(lengths, -1)).astype(
        dtype.np_dtype
    ),
    "Less",
    differentiable=False,
)
