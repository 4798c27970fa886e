"""Shapes, asked for and changed: reshape, transpose, squeeze."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..composites.ragged import RaggedTensor
from ..core import dtypes
from ..core.avals import Aval
from ..core.dimensions import (
    Shape,
    Size,
    broadcast,
    differ,
    divides,
    is_symbolic,
    is_unknown,
    less,
    maximum,
    product,
)
from ..core.dtypes import as_dtype
from ..core.errors import NeedsValue, user_location
from ..core.op import Op
from ..core.refuse import invalid, not_allowed, shown
from ..core.shapes import TensorShape
from ..core.state import LOCAL
from ..values import operators, record as dispatch
from ..values.convert import convert
from ..values.dispatch import refusal, takes_composites
from ..values.indexed_slices import IndexedSlices
from ..values.record import apply
from ..values.tensor import Tensor, concrete, next_id, same_value
from ..values.variable import Variable
from .arguments import as_tensor, dims, is_scalar, is_text, known_value, move_text, no_float
from .dynamic_shape import DynamicRaggedShape


@takes_composites
def identity(input: Any, name: str | None = None) -> Any:
    """A tensor of its own with the value of `input`, connected to it on tapes.

    IndexedSlices give IndexedSlices.

    >>> import tape_compat as tf
    >>> tf.identity(3.0)
    <tf.Tensor: shape=(), dtype=float32, numpy=3.0>
    """
    if isinstance(input, IndexedSlices):
        return IndexedSlices(identity(input.values), input.indices, input.dense_shape)
    x = as_tensor(input)
    state = LOCAL.state
    if state.recorders or state.capture is not None:
        return dispatch.identity(x) if not is_text(x) else x
    return same_value(x, next_id())


def guarantee_const(input: Any, name: str | None = None) -> Any:
    """`identity`: TensorFlow's runtime may take the value for a constant.

    >>> import tape_compat as tf
    >>> tf.guarantee_const([1, 2]).numpy().tolist()
    [1, 2]
    """
    return identity(input)


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


def host_shape(value: Any, out_type: Any, kernel: str = "Shape") -> Tensor:
    """A number or a shape: as a constant on the host, but if a size is unknown."""
    dtype = out_type if out_type is dtypes.int32 else as_dtype(out_type)
    if is_unknown(value if value.__class__ is tuple else (value,)):
        op = _SHAPE if kernel == "Shape" else _SIZE
        return apply(op.bind(dims=value, dtype=dtype), ())
    return concrete(np.array(value, dtype.np_dtype))


def _sizes(dims: Any, dtype: dtypes.DType) -> Any:
    return jnp.array(dims, dtype.np_dtype)


def _sizes_aval(avals: tuple[Aval, ...], dims: Any, dtype: dtypes.DType) -> Aval:
    return Aval.of((len(dims),) if dims.__class__ is tuple else (), dtype)


#: The sizes of a shape, and one number made of them, where they are unknown.
_SHAPE, _SIZE = (
    Op(
        _sizes,
        kernel,
        differentiable=False,
        shapes=_sizes_aval,
        of_sizes=lambda dims, dtype: np.array(dims, object),
    )
    for kernel in ("Shape", "Size")
)


@takes_composites
def shape(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """The shape of `input` as a vector; known at once, whatever is pending.

    >>> import tape_compat as tf
    >>> tf.shape([[1.0, 2.0]]).numpy().tolist()
    [1, 2]
    """
    if LOCAL.state.capture is None and as_dtype(out_type).name not in ("int32", "int64"):
        raise not_allowed(as_dtype(out_type), "int32, int64", "Shape", "out_type")
    return host_shape(_shape_of(input), out_type)


def shape_n(
    input: Sequence[Any], out_type: Any = dtypes.int32, name: str | None = None
) -> list[Tensor]:
    """`shape` of each tensor of a list.

    >>> import tape_compat as tf
    >>> [s.numpy().tolist() for s in tf.shape_n([[1.0], 2.0])]
    [[1], []]
    """
    return [shape(x, out_type) for x in input]


@takes_composites
def size(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """The number of elements of `input`, a scalar known at once.

    >>> import tape_compat as tf
    >>> int(tf.size([[1.0, 2.0]]))
    2
    """
    return host_shape(product(_shape_of(input)), out_type, "Size")


@takes_composites
def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of axes of `input`, a scalar known at once.

    >>> import tape_compat as tf
    >>> int(tf.rank([[1.0, 2.0]]))
    2
    """
    return host_shape(len(_shape_of(input)), dtypes.int32)


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """`x`, after a check that its shape fits `shape`, in which None fits anything.

    Raises: InvalidArgumentError if it does not.

    >>> import tape_compat as tf
    >>> tf.ensure_shape([1.0, 2.0], [None]).shape
    TensorShape([2])
    """
    x, wanted = as_tensor(x), TensorShape(shape)
    if wanted.rank is None:
        return identity(x)
    sizes = tuple(wanted.as_list())
    if x._aval.unknown and not is_text(x):
        return set_sizes(x, sizes)
    _check_sizes((x._aval,), sizes)
    return identity(x)


def _check_sizes(avals: tuple[Aval, ...], sizes: tuple[Any, ...]) -> None:
    have = avals[0].shape
    if len(have) != len(sizes) or any(
        n is not None and differ(m, n) for m, n in zip(have, sizes, strict=True)
    ):
        text = shown(["?" if n is None else n for n in sizes])
        raise invalid(
            f"Shape of tensor input {shown(have)} is not compatible with expected shape {text}.",
            "EnsureShape",
        )


def _with_sizes(avals: tuple[Aval, ...], sizes: tuple[Any, ...]) -> Aval:
    pairs = zip(avals[0].shape, sizes, strict=True)
    return Aval.of(tuple([m if n is None else n for m, n in pairs]), avals[0].dtype)


_ENSURE = Op(
    lambda x, sizes: x,
    "EnsureShape",
    check=_check_sizes,
    shapes=_with_sizes,
    of_sizes=lambda x, sizes: x,
)


def set_sizes(x: Tensor, sizes: tuple[Any, ...]) -> Tensor:
    """`x` with what is known of its shape beside: sizes, or None for those of which nothing is."""
    return apply(_ENSURE.bind(sizes=sizes), (x,))


def _set_shape(x: Tensor, shape: Any) -> None:
    """Let a symbolic tensor have the sizes that `shape` says."""
    sizes = TensorShape(shape)
    if sizes.rank is not None:
        known = set_sizes(x, tuple(sizes.as_list()))
        x._aval, x._at = known._aval, known._at


@takes_composites
def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """The shape that tensors of two shapes broadcast to, as a vector of int32, or of the dtype of
    the shapes if they are tensors.

    Raises: InvalidArgumentError if they do not broadcast.

    >>> import tape_compat as tf
    >>> tf.broadcast_dynamic_shape([2, 1], [3]).numpy().tolist()
    [2, 3]
    """
    for shape in (shape_x, shape_y):
        if isinstance(shape, DynamicRaggedShape):
            raise refusal(shape)
    dtypes_given = [s.dtype for s in (shape_x, shape_y) if isinstance(s, (Tensor, Variable))]
    dtype = dtypes_given[0] if dtypes_given else dtypes.int32
    x, y = convert(shape_x, dtype), convert(shape_y, dtype)
    both = broadcast((dims(x), dims(y)))
    if both is None:
        raise invalid(
            f"Incompatible shapes: {shown(dims(x))} vs. {shown(dims(y))}", "BroadcastArgs"
        )
    return host_shape(both, x.dtype)


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


def _reshape(x: Any, shape: Shape) -> Any:
    if 0 in shape and x.size == 0:
        shape = _of_empty(x.shape, shape)
    return lax.reshape(x, _inferred(x.size, shape))


def _inferred(size: Size, shape: Shape) -> Shape:
    if -1 not in shape:
        return shape
    rest = product(n for n in shape if n != -1)
    if is_symbolic(rest):  # JAX divides by what is certain not to be 0
        rest = maximum(rest, 1)
    return tuple(size // rest if n == -1 else n for n in shape)


def _reshaped(avals: tuple[Aval, ...], shape: Shape) -> Aval:
    return Aval.of(_inferred(avals[0].size, shape), avals[0].dtype)


def _check_reshape(avals: tuple[Aval, ...], shape: tuple[int, ...]) -> None:
    size, unknown, rest = avals[0].size, [], 1
    for i, n in enumerate(shape):
        if n == -1:
            unknown.append(i)
        elif less(n, 0):
            raise invalid(f"Size {i} must be non-negative, not {n}", "Reshape")
        else:
            rest *= n
    if len(unknown) > 1:
        raise invalid(
            f"Only one input size may be -1, not both {unknown[0]} and {unknown[1]}", "Reshape"
        )
    if unknown:
        if rest == 0 and size != 0:
            raise invalid(
                "reshape cannot infer the missing input size for an empty tensor unless all "
                "specified input sizes are non-zero",
                "Reshape",
            )
        if rest != 0 and not divides(rest, size):
            raise invalid(
                f"Input to reshape is a tensor with {size} values, but the requested shape "
                f"requires a multiple of {rest}",
                "Reshape",
            )
    elif differ(rest, size):
        raise invalid(
            f"Input to reshape is a tensor with {size} values, but the requested shape has {rest}",
            "Reshape",
        )


_RESHAPE = Op(
    _reshape,
    "Reshape",
    check=_check_reshape,
    shapes=_reshaped,
    of_sizes=lambda x, shape: x.reshape(shape),
)


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """The elements of `tensor`, in order, in another shape. One size may be -1: what is left.

    Raises: InvalidArgumentError if the numbers of elements differ.

    >>> import tape_compat as tf
    >>> tf.reshape([1, 2, 3, 4], [2, -1]).numpy().tolist()
    [[1, 2], [3, 4]]
    """
    if tensor.__class__ is Tensor:
        x = tensor
    elif isinstance(tensor, RaggedTensor):
        x = tensor.flat_values
    else:
        x = convert(tensor)
    if shape.__class__ is DynamicRaggedShape:
        return shape.around(reshape(x, shape.inner_shape))
    wanted = dims(shape, "Tshape", "Reshape")
    if x._aval.dtype is dtypes.string:
        return move_text(lambda p: reshape(p, wanted), x)
    if 0 in wanted and not x._aval.unknown and x._aval.size == 0:
        wanted = _of_empty(x._aval.shape, wanted)
    return apply(_RESHAPE.bind(shape=wanted), (x,))


def _of_empty(have: Shape, wanted: Shape) -> tuple[int, ...]:
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
    missing = [d for d in range(n) if d not in [p % n for p in perm]]
    if missing:
        raise invalid(f"{missing[0]} is missing from {{{','.join(map(str, perm))}}}.", "Transpose")


def _transpose(x: Any, perm: tuple[int, ...] | None, conjugate: bool) -> Any:
    order = tuple(reversed(range(x.ndim))) if perm is None else tuple(p % x.ndim for p in perm)
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
    x = as_tensor(a)
    if is_scalar(perm):
        raise invalid("perm must be rank 1, got shape []", "Transpose")
    order = None if perm is None else dims(perm)
    conjugate = bool(conjugate) and x.dtype.is_complex
    if is_text(x):
        return move_text(lambda p: transpose(p, order), x)
    return apply(_TRANSPOSE.bind(perm=order, conjugate=conjugate), (x,))


def _check_expand(avals: tuple[Aval, ...], axis: int) -> None:
    n = len(avals[0].shape)
    if not -n - 1 <= axis <= n:
        raise invalid(
            f"Tried to expand dim index {axis} for tensor with {n} dimensions.", "ExpandDims"
        )


_EXPAND = Op(
    lambda x, axis: jnp.expand_dims(x, axis),
    "ExpandDims",
    check=_check_expand,
    of_sizes=np.expand_dims,
)


@takes_composites
def expand_dims(input: Any, axis: Any, name: str | None = None) -> Tensor:
    """`input` with a new axis of size 1 at `axis`.

    >>> import tape_compat as tf
    >>> tf.expand_dims([1, 2], -1).numpy().tolist()
    [[1], [2]]
    """
    x = as_tensor(input)
    if axis.__class__ is not int:
        if isinstance(axis, (bool, np.bool_, np.floating)):
            axis = int(axis)
        axis = dims(known_value(no_float(axis)), "Tdim", "ExpandDims")
        if len(axis) != 1:
            raise invalid("'dim' must be a tensor with a single value", "ExpandDims")
        axis = axis[0]
    if is_text(x):
        return move_text(lambda p: expand_dims(p, axis), x)
    return apply(_EXPAND.bind(axis=axis), (x,))


def _squeezed(avals: tuple[Aval, ...], axis: tuple[int, ...]) -> Aval:
    shape = avals[0].shape
    if not axis and is_unknown(shape):
        raise NeedsValue(
            f"The rank of tf.squeeze(x) is not known for a shape of {shown(shape)} (at "
            f"{user_location()}): give `axis`."
        )
    gone = [d % len(shape) for d in axis] or [i for i, n in enumerate(shape) if n == 1]
    return Aval.of(tuple([n for i, n in enumerate(shape) if i not in gone]), avals[0].dtype)


def _check_squeeze(avals: tuple[Aval, ...], axis: tuple[int, ...]) -> None:
    have = avals[0].shape
    for d in axis:
        if not -len(have) <= d < len(have):
            raise invalid(
                f"Tried to squeeze dim index {d} for tensor with {len(have)} dimensions.", "Squeeze"
            )
        if differ(have[d], 1):
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
    shapes=_squeezed,
    of_sizes=lambda x, axis: np.squeeze(x, axis or None),
)


@takes_composites
def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """`input` without its axes of size 1: those of `axis`, or all.

    Raises: InvalidArgumentError if an axis named is not of size 1.

    >>> import tape_compat as tf
    >>> tf.squeeze([[1, 2]]).numpy().tolist()
    [1, 2]
    """
    x = as_tensor(input)
    if isinstance(axis, (int, float, np.floating)):
        axis = int(axis)
    axes = () if axis is None else dims(axis)
    if is_text(x):
        return move_text(lambda p: squeeze(p, axes), x)
    return apply(_SQUEEZE.bind(axis=axes), (x,))


operators.define(
    ensure_shape=ensure_shape,
    identity=identity,
    moved=dispatch.moved,
    set_shape=_set_shape,
    size=lambda size, dtype: host_shape(size, dtype, "Size"),
)
