"""Joining, cutting and padding tensors."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core import dtypes
from ..core.avals import Aval
from ..core.dimensions import Shape, Size, differ, divides, fit, is_symbolic, less, maximum
from ..core.op import Op
from ..core.refuse import invalid, not_allowed, shown
from ..run import policy
from ..values import operators
from ..values.bounds import host_value
from ..values.convert import convert
from ..values.dispatch import takes_composites
from ..values.record import apply
from ..values.tensor import Tensor, concrete
from ..values.variable import Variable
from .arguments import (
    as_axis,
    as_int,
    as_own_tensor,
    as_scalar,
    as_tensor,
    cast_as_default,
    is_text,
    known_sizes,
    move_text,
    untracked,
)
from .declare import Number, check_same_dtype, matching
from .shapes import identity, reshape, set_sizes


def _pad(x: Any, *value: Any, paddings: tuple[tuple[int, int], ...], mode: str) -> Any:
    if mode == "CONSTANT":
        fill_with = value[0] if value else jnp.zeros((), x.dtype)
        return lax.pad(x, fill_with, list(map(_certain, paddings, x.shape)))
    for axis, (low, high) in enumerate(paddings):
        if low or high:  # `jnp.pad` compares the sizes of the other axes too, which may be unknown
            x = _mirrored(x, axis, low, high, 1 if mode == "REFLECT" else 0)
    return x


def _certain(padding: tuple[Size, Size], n: Size) -> tuple[Size, Size, int]:
    """The configuration of a padding as JAX takes it, for which the size is to be none below 0
    whatever the unknown ones are."""
    low, high = padding
    return low, maximum(low + n + high, 0) - low - n, 0


def _mirrored(x: Any, axis: int, low: int, high: int, edge: int) -> Any:
    """With so many elements before and after it; `edge`: how many at the edge are not repeated."""
    end = x.shape[axis] - edge
    before = lax.slice_in_dim(x, edge, edge + low, axis=axis)
    after = lax.slice_in_dim(x, end - high, end, axis=axis)
    return lax.concatenate([lax.rev(before, (axis,)), x, lax.rev(after, (axis,))], axis)


def _check_pad(avals: tuple[Aval, ...], paddings: tuple[tuple[int, int], ...], mode: str) -> None:
    have = avals[0].shape
    kernel = "Pad" if mode == "CONSTANT" else "MirrorPad"
    if len(paddings) != len(have):
        raise invalid(
            f"The first dimension of paddings must be the rank of inputs[{len(paddings)},2] "
            f"{shown(have)}",
            kernel,
        )
    for (low, high), n in zip(paddings, have):
        if less(low, 0) or less(high, 0):
            what = "Paddings" if mode == "CONSTANT" else "paddings"
            raise invalid(f"{what} must be non-negative: {low} {high}", kernel)
        if mode == "REFLECT" and less(n - 1, maximum(low, high)):
            raise invalid(
                f"paddings must be less than the dimension size: {low}, {high} not less than {n}",
                kernel,
            )
        if mode == "SYMMETRIC" and less(n, maximum(low, high)):
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
    constant_values: Number = 0,
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
    x = as_tensor(tensor)
    mode = mode.upper()
    if mode not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ValueError(
            'Value of argument `mode` expected to be one of "CONSTANT", "REFLECT", or "SYMMETRIC". '
            f"Received `mode` = {mode}"
        )
    table = known_sizes(cast_as_default(paddings))
    if table.ndim == 2 and table.shape[0] == 0:
        table = table.reshape(0, 2)
    if table.ndim != 2 or table.shape[1] != 2:
        kernel = "Pad" if mode == "CONSTANT" else "MirrorPad"
        raise invalid(f"paddings must be a matrix with 2 columns: {shown(table.shape)}", kernel)
    if table.dtype.kind not in "iuO":
        raise not_allowed(dtypes.from_numpy(table.dtype), "int32, int64", "Pad", "Tpaddings")
    pairs = tuple((low, high) for low, high in table.tolist())
    inputs: tuple[Tensor, ...] = (x,)
    if is_text(x):
        filler = convert(b"" if constant_values == 0 else constant_values, x.dtype)
        given = (x, filler) if mode == "CONSTANT" else (x,)
        closure = _PAD.bind(paddings=pairs, mode=mode)
        return move_text(lambda *places: apply(closure, places), *given)
    if mode == "CONSTANT" and not (constant_values.__class__ is int and constant_values == 0):
        inputs = (x, untracked(convert(constant_values, x.dtype)))
    return apply(_PAD.bind(paddings=pairs, mode=mode), inputs)


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
    for i, aval in enumerate(avals[1:], 1):
        both = f"shape[0] = {shown(first)} vs. shape[{i}] = {shown(aval.shape)}"
        if len(aval.shape) != n:
            raise invalid(f"ConcatOp : Ranks of all input tensors should match: {both}", "ConcatV2")
        for d in range(n):
            if d != axis % n and differ(aval.shape[d], first[d]):
                raise invalid(
                    f"ConcatOp : Dimension {d} in both shapes must be equal: {both}", "ConcatV2"
                )


def _concat_shapes(avals: tuple[Aval, ...], axis: int) -> Aval:
    """Where unknown sizes have to be equal the first known one counts, else the first."""
    places = list(zip(*[aval.shape for aval in avals], strict=True))
    shape = [next((n for n in sizes if not is_symbolic(n)), sizes[0]) for sizes in places]
    shape[axis] = sum(places[axis][1:], places[axis][0])
    return Aval.of(tuple(shape), avals[0].dtype)


_CONCAT = Op(
    lambda *xs, axis: jnp.concatenate(xs, axis),
    "ConcatV2",
    check=_check_concat,
    shapes=_concat_shapes,
    of_sizes=lambda *xs, axis: np.concatenate(xs, axis),
)


@takes_composites
def concat(values: Any, axis: Any, name: str = "concat") -> Tensor:
    """Tensors of one dtype laid one behind the other along `axis`.

    Raises: InvalidArgumentError if their dtypes, ranks or other sizes differ.

    >>> import tape_compat as tf
    >>> tf.concat([[1, 2], [3]], 0).numpy().tolist()
    [1, 2, 3]
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    # TensorFlow's kernel takes an axis in a vector.
    if isinstance(axis, (list, tuple, np.ndarray)) and np.shape(axis) == (1,):
        (axis,) = axis
    refusal = "axis tensor should be a scalar integer, but got shape "
    axis = as_int(as_scalar(axis, "ConcatV2", refusal))
    if len(values) == 1:
        return identity(values[0])
    if not values:
        raise invalid(
            "OpKernel 'ConcatV2' has constraint on attr 'T': no tensors given", "ConcatV2"
        )
    tensors = matching(values)
    if is_text(tensors[0]):
        return move_text(lambda *p: concat(p, axis), *tensors)
    return apply(_CONCAT.bind(axis=axis), tuple(tensors))


def _check_stack(avals: tuple[Aval, ...], axis: int) -> None:
    check_same_dtype(avals, "Pack")
    for i, aval in enumerate(avals):
        if not fit(aval.shape, avals[0].shape):
            raise invalid(
                f"Shapes of all inputs must match: values[0].shape = {shown(avals[0].shape)} != "
                f"values[{i}].shape = {shown(aval.shape)}",
                "Pack",
            )


_STACK = Op(
    lambda *xs, axis: jnp.stack(xs, axis),
    "Pack",
    check=_check_stack,
    of_sizes=lambda *xs, axis: np.stack(xs, axis),
)


def _axis(value: Any) -> Any:
    """An axis that is looked at in Python: the number in a tensor, anything else as it is."""
    return as_int(value) if isinstance(value, (Tensor, Variable, np.ndarray)) else value


def _check_axis(axis: Any, n: int) -> int:
    if axis < -n or axis >= n:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-n}, {n})")
    return int(axis) % n


@takes_composites
def stack(values: Any, axis: Any = 0, name: str = "stack") -> Tensor:
    """Tensors of one dtype and shape laid side by side along a new `axis`.

    Raises: InvalidArgumentError if their dtypes or shapes differ; ValueError for a bad `axis`.

    >>> import tape_compat as tf
    >>> tf.stack([[1, 2], [3, 4]], axis=1).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    axis = _axis(axis)
    if isinstance(values, (Tensor, Variable, np.ndarray)):
        if axis == 0:
            return as_own_tensor(values)
        values = unstack(values)
    held = values if isinstance(values, (list, tuple)) else ()
    if axis == 0 and not any(isinstance(x, (Tensor, Variable)) for x in held):
        with contextlib.suppress(TypeError, ValueError):
            return convert(values)
    tensors = matching(list(values))
    axis = _check_axis(axis, len(tensors[0]._aval.shape) + 1)
    if is_text(tensors[0]):
        return move_text(lambda *p: stack(p, axis), *tensors)
    return apply(_STACK.bind(axis=axis), tuple(tensors))


def _pack(values: Sequence[Tensor]) -> Tensor:
    """Tensors found inside a list, stacked; small integer constants on the host, at once."""
    host = [host_value(x) for x in values]
    aval = values[0]._aval
    if (
        all(a is not None for a in host)
        and aval.np_dtype.kind in "iub"
        and all(x._aval is aval for x in values)
        and aval.size * len(host) <= policy.HOST_SIZE
    ):
        return concrete(np.stack(host))  # type: ignore[arg-type]
    return stack(values)


def _unstack(x: Any, axis: int) -> tuple[Any, ...]:
    return tuple(lax.squeeze(part, (axis,)) for part in _split(x, x.shape[axis], axis))


_UNSTACK = Op(
    _unstack,
    "Unpack",
    rows=lambda shape, axis: (axis, range(shape[axis])),
    of_sizes=lambda x, axis: list(np.moveaxis(x, axis, 0)),
)


@takes_composites
def unstack(value: Any, num: Any = None, axis: Any = 0, name: str = "unstack") -> list[Tensor]:
    """The list of slices of `value` along `axis`.

    Raises: InvalidArgumentError if there are not `num`; ValueError for a bad `axis`.

    >>> import tape_compat as tf
    >>> [int(x) for x in tf.unstack([1, 2])]
    [1, 2]
    """
    if isinstance(axis, (float, np.floating)):
        kind = "float" if axis.__class__ is float else f"numpy.{axis.__class__.__name__}"
        raise TypeError(f"list indices must be integers or slices, not {kind}")
    x = as_tensor(value)
    have = x._aval.shape
    axis = _check_axis(_axis(axis), len(have))
    if num is not None and differ(as_int(num), have[axis]):
        raise invalid(
            f"Input shape axis {axis} must equal {num}, got shape {shown(have)}", "Unpack"
        )
    if num is not None and is_symbolic(have[axis]):
        x = set_sizes(x, (*have[:axis], as_int(num), *have[axis + 1 :]))
    elif is_symbolic(have[axis]):
        raise ValueError(f"Cannot infer argument `num` from shape {x.shape}")
    if have[axis] == 0:
        return []
    if is_text(x):
        return move_text(lambda p: unstack(p, axis=axis), x)
    return list(apply(_UNSTACK.bind(axis=axis), (x,)))


def _check_split(avals: tuple[Aval, ...], sizes: Any, axis: int) -> None:
    have = avals[0].shape
    n = len(have)
    kernel = "SplitV" if isinstance(sizes, tuple) else "Split"
    if not -n <= axis < n:
        raise invalid(f"-input rank(-{n}) <= split_dim < input rank ({n}), but got {axis}", kernel)
    length = have[axis]
    if not isinstance(sizes, tuple):
        if not divides(sizes, length):
            raise invalid(
                "Number of ways to split should evenly divide the split dimension, but got "
                f"split_dim {axis % n} (size = {length}) and num_split {sizes}",
                kernel,
            )
        return
    given = sum(s for s in sizes if s != -1)
    if sizes.count(-1) > 1:
        raise invalid("There can only be one -1 in the input.", kernel)
    if any(less(s, -1) for s in sizes):
        bad = next(i for i, s in enumerate(sizes) if less(s, -1))
        raise invalid(f"Split size at index {bad} must be >= 0", kernel)
    if less(length, given) or (-1 not in sizes and differ(given, length)):
        raise invalid(
            "Determined shape must either match input shape along split_dim exactly if fully "
            "specified, or be less than the size of the input along split_dim if not fully "
            f"specified.  Got: {given}",
            kernel,
        )


def _parts(length: Size, sizes: int | Shape) -> Shape:
    """How large the parts are that an axis is split into."""
    if isinstance(sizes, int):
        return (length // sizes,) * sizes
    rest = length - sum(s for s in sizes if s != -1)
    return tuple(rest if s == -1 else s for s in sizes)


def _split(x: Any, sizes: int | Shape, axis: int) -> Any:
    axis %= x.ndim
    # One primitive: its pullback is one concatenation, not a sum of padded parts.
    return tuple(lax.split(x, _parts(x.shape[axis], sizes), axis))


def _split_avals(avals: tuple[Aval, ...], sizes: int | Shape, axis: int) -> tuple[Aval, ...]:
    have, dtype = avals[0].shape, avals[0].dtype
    axis %= len(have)
    parts = _parts(have[axis], sizes)
    return tuple([Aval.of((*have[:axis], n, *have[axis + 1 :]), dtype) for n in parts])


_SPLIT = Op(
    _split,
    "Split",
    check=_check_split,
    shapes=_split_avals,
    of_sizes=lambda x, sizes, axis: np.split(
        x, np.cumsum(_parts(x.shape[axis], sizes))[:-1].tolist(), axis
    ),
)


@takes_composites
def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None, name: str = "split"
) -> list[Tensor]:
    """The list of parts of `value` along `axis`: so many equal ones, or of the sizes of a list.

    One size may be -1: what is left. `num` is how many sizes there are, for a check. Raises
    InvalidArgumentError if the sizes do not fit.

    >>> import tape_compat as tf
    >>> [x.numpy().tolist() for x in tf.split([1, 2, 3], [1, -1])]
    [[1], [2, 3]]
    """
    x = as_tensor(value)
    known = known_sizes(num_or_size_splits)
    if known.ndim == 0 and known.dtype.kind == "f":
        raise ValueError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split. "
            f"Argument provided: {num_or_size_splits}"
        )
    if known.ndim == 0:
        sizes: Any = int(known)
        if sizes < 1:
            raise invalid(
                f"Value for attr 'num_split' of {sizes} must be at least minimum 1\n\t; "
                "NodeDef: {{node Split}}",
                "Split",
            )
    else:
        if known.size and known.dtype.kind == "f":
            raise not_allowed(dtypes.float32, "int8, int32, int64", "SplitV", "Tlen")
        sizes = tuple(known.tolist())
        if known.ndim > 1 or (num is not None and as_int(num) != len(sizes)):
            raise invalid(
                "size of the split_tensor must be 1-D and have the same elements as outputs got "
                f"{known.ndim} -D and {len(sizes)} elements",
                "SplitV",
            )
    axis = as_axis(axis, "Split", "T", "split_dim must be a scalar but has rank {rank}")
    if is_text(x):
        return move_text(lambda p: split(p, sizes, axis), x)
    return list(apply(_SPLIT.bind(sizes=sizes, axis=axis), (x,)))


def _laid(x: Any, shape: Shape, axis: int) -> Any:
    return jnp.broadcast_to(x.reshape(x.shape + (1,) * (len(shape) - axis - 1)), shape)


_MESHGRID = Op(_laid, "Mul", shapes=lambda avals, shape, axis: Aval.of(shape, avals[0].dtype))


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
    check_same_dtype([avals[0], *(aval for aval in avals if aval.dtype is not dtypes.bool)], "Mul")
    axes = list(range(len(avals)))
    if indexing == "xy":
        axes[:2] = reversed(axes[:2])
    shape = tuple([avals[i].shape[0] for i in axes])
    return [apply(_MESHGRID.bind(shape=shape, axis=axes[i]), (x,)) for i, x in enumerate(tensors)]


operators.define(pack=_pack)
