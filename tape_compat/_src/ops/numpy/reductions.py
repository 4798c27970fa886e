"""Functions that take axes away, and running sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import DType, as_dtype
from ...core.refuse import invalid, shown
from ...values.tensor import Tensor
from .. import reductions as _of
from ..arithmetic import subtract, truediv
from ..casting import cast
from ..diagonals import trace as _trace
from ..elementwise import is_nan
from ..products import tensordot
from ..repeating import broadcast_to
from ..selection import where
from ..shapes import reshape, shape, size
from .arrays import as_array, converted, is_inexact
from .comparison import logical_not
from .dtypes import result_type
from .matrices import diagonal


def _prepared(a: Any, dtype: Any, ints: Any) -> Tensor:
    """`a` of a dtype; if none is given, integers and bools as `ints`: "wide", or a dtype."""
    if dtype:
        return converted(a, result_type(dtype))
    a = as_array(a)
    if is_inexact(a) or a.dtype is dtypes.string or ints is None:
        return a
    return cast(a, result_type(float) if ints is float else _wide(a.dtype))


def _wide(dtype: DType) -> DType:
    """An integer dtype, or bool, as one of 64 bits at least."""
    if dtype.is_bool or dtype.name in ("int8", "int16", "int32"):
        return as_dtype(np.int_)
    return as_dtype(np.uint) if dtype.name in ("uint8", "uint16", "uint32") else dtype


def _reduced(
    function: Callable[..., Tensor],
    a: Any,
    axis: Any,
    keepdims: Any,
    dtype: Any = None,
    ints: Any = "wide",
    of_bools: Callable[..., Tensor] | None = None,
) -> Tensor:
    x = _prepared(a, dtype, ints)
    if of_bools is not None and x.dtype.is_bool:
        function = of_bools
    return function(x, axis=axis, keepdims=bool(keepdims))


def _refuse_out(out: Any) -> None:
    if out is not None:
        raise ValueError("Setting out is not supported.")


def sum(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Tensor:
    """Sum over `axis`, all axes if None; of small integers and bools, an int64.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.sum([[1, 2], [3, 4]], axis=0).numpy().tolist()
    [4, 6]
    """
    return _reduced(_of.reduce_sum, a, axis, keepdims, dtype, of_bools=_of.reduce_any)


def prod(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Tensor:
    """Product over `axis`, all axes if None; of small integers and bools, an int64.

    >>> import tape_compat as tf
    >>> int(tf.experimental.numpy.prod([2, 3]))
    6
    """
    return _reduced(_of.reduce_prod, a, axis, keepdims, dtype, of_bools=_of.reduce_all)


def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = None
) -> Tensor:
    """Mean over `axis`, all axes if None; of integers, a float. Raises ValueError for `out`.

    >>> import tape_compat as tf
    >>> float(tf.experimental.numpy.mean([1, 2]))
    1.5
    """
    _refuse_out(out)
    return _reduced(_of.reduce_mean, a, axis, keepdims, dtype, float)


def amax(a: Any, axis: Any = None, out: Any = None, keepdims: Any = None) -> Tensor:
    """Largest over `axis`, all axes if None; of bools, any. Raises ValueError for `out`.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.amax([[1, 5], [3, 4]], axis=1).numpy().tolist()
    [5, 4]
    """
    _refuse_out(out)
    return _reduced(_of.reduce_max, a, axis, keepdims, ints=None, of_bools=_of.reduce_any)


def amin(a: Any, axis: Any = None, out: Any = None, keepdims: Any = None) -> Tensor:
    """Smallest over `axis`, all axes if None; of bools, all. Raises ValueError for `out`.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.amin([[1, 5], [3, 4]], axis=1).numpy().tolist()
    [1, 3]
    """
    _refuse_out(out)
    return _reduced(_of.reduce_min, a, axis, keepdims, ints=None, of_bools=_of.reduce_all)


def max(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """The same as `amax`."""
    return amax(a, axis=axis, keepdims=keepdims)


def min(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """The same as `amin`."""
    return amin(a, axis=axis, keepdims=keepdims)


def ptp(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """Largest less smallest over `axis`, all axes if None.

    >>> import tape_compat as tf
    >>> int(tf.experimental.numpy.ptp([4, 1, 9]))
    8
    """
    a = as_array(a)
    return subtract(amax(a, axis, None, keepdims), amin(a, axis, None, keepdims))


def all(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """Whether all are true, that is not 0, over `axis`, all axes if None.

    >>> import tape_compat as tf
    >>> bool(tf.experimental.numpy.all([1, 0]))
    False
    """
    return _reduced(_of.reduce_all, a, axis, keepdims, bool)


def any(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """Whether one is true, that is not 0, over `axis`, all axes if None.

    >>> import tape_compat as tf
    >>> bool(tf.experimental.numpy.any([1, 0]))
    True
    """
    return _reduced(_of.reduce_any, a, axis, keepdims, bool)


def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: int = 0,
    keepdims: Any = None,
) -> Tensor:
    """Mean squared distance from the mean over `axis`, all axes if None.

    ddof: what is taken from the number of elements, by which the sum of squares is divided.
    Raises: ValueError for `out`.

    >>> import tape_compat as tf
    >>> (
    ...     float(tf.experimental.numpy.var([1.0, 3.0])),
    ...     float(tf.experimental.numpy.var([1, 3], ddof=1)),
    ... )
    (1.0, 2.0)
    """
    _refuse_out(out)
    x = _prepared(a, result_type(a, dtype) if dtype else None, float)
    found = _of.reduce_variance(x, axis=axis, keepdims=bool(keepdims))
    if ddof:
        of_each = truediv(cast(size(x), found.dtype), cast(size(found), found.dtype))
        found = truediv(found * of_each, of_each - cast(ddof, found.dtype))
    return cast(found, dtype) if dtype else found


def std(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """Square root of `var`.

    >>> import tape_compat as tf
    >>> float(tf.experimental.numpy.std([1.0, 3.0]))
    1.0
    """
    return _reduced(_of.reduce_std, a, axis, keepdims, ints=float)


def _without_nan(name: str, function: Callable[..., Tensor], filler: int) -> Callable[..., Tensor]:
    def call(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Tensor:
        a = as_array(a)
        if is_inexact(a):
            a = where(is_nan(a), cast(filler, a.dtype), a)
        return function(a, axis=axis, dtype=dtype, keepdims=keepdims)

    call.__doc__ = f"`{function.__name__}` with {filler} in the place of NaN."
    call.__name__ = call.__qualname__ = name
    return call


nansum = _without_nan("nansum", sum, 0)
nanprod = _without_nan("nanprod", prod, 1)


def nanmean(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Tensor:
    """Mean over `axis`, all axes if None, of what is not NaN.

    >>> import tape_compat as tf
    >>> float(tf.experimental.numpy.nanmean([1.0, float("nan"), 3.0]))
    2.0
    """
    a = as_array(a)
    if not is_inexact(a):
        return mean(a, axis=axis, dtype=dtype, keepdims=keepdims)
    dtype = dtype or a.dtype
    count = sum(logical_not(is_nan(a)), axis=axis, dtype=dtype, keepdims=keepdims)
    return truediv(nansum(a, axis=axis, dtype=dtype, keepdims=keepdims), count)


def count_nonzero(a: Any, axis: Any = None) -> Tensor:
    """How many are not 0 over `axis`, all axes if None.

    >>> import tape_compat as tf
    >>> int(tf.experimental.numpy.count_nonzero([1, 0, 2]))
    2
    """
    return _of.count_nonzero(as_array(a), axis)


def _flat(a: Any, axis: Any) -> tuple[Tensor, Any]:
    """`a` flattened and axis 0 if there is none."""
    a = as_array(a)
    if axis is None or not a._aval.shape:
        return reshape(a, [-1]), 0 if axis is None else axis
    return a, axis


def argmax(a: Any, axis: Any = None) -> Tensor:
    """Index of the largest along `axis`, or in the flattened array; int64.

    >>> import tape_compat as tf
    >>> int(tf.experimental.numpy.argmax([[1, 5], [9, 2]]))
    2
    """
    return _of.argmax(*_flat(a, axis))


def argmin(a: Any, axis: Any = None) -> Tensor:
    """Index of the smallest along `axis`, or in the flattened array; int64.

    >>> import tape_compat as tf
    >>> int(tf.experimental.numpy.argmin([[7, 5], [1, 2]]))
    2
    """
    return _of.argmin(*_flat(a, axis))


def cumsum(a: Any, axis: Any = None, dtype: Any = None) -> Tensor:
    """Running sum along `axis`, or of the flattened array.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.cumsum([[1, 2], [3, 4]]).numpy().tolist()
    [1, 3, 6, 10]
    """
    return _of.cumsum(*_flat(_scannable(a, dtype), axis))


def cumprod(a: Any, axis: Any = None, dtype: Any = None) -> Tensor:
    """Running product along `axis`, or of the flattened array.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.cumprod([[1, 2], [3, 4]], axis=1).numpy().tolist()
    [[1, 2], [3, 12]]
    """
    return _of.cumprod(*_flat(_scannable(a, dtype), axis))


def _scannable(a: Any, dtype: Any) -> Tensor:
    if dtype:
        return converted(a, result_type(dtype))
    a = as_array(a)
    return cast(a, as_dtype(np.promote_types(a.dtype.np_dtype, int))) if a.dtype.is_integer else a


def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False) -> Any:
    """Mean over `axis`, all axes if None, each element counting by its weight.

    Args:
      weights: of the shape of `a`, or a vector along `axis`.
      returned: whether to give the sums of the weights too.
    Raises: ValueError for an `axis` that is no int, InvalidArgumentError for weights that do not
      fit.

    >>> import tape_compat as tf
    >>> float(tf.experimental.numpy.average([1, 2, 6], weights=[1, 1, 2]))
    3.75
    """
    if axis is not None and not isinstance(axis, int):
        raise ValueError(
            f"Argument `axis` must be an integer. Received axis={axis} (of type {type(axis)})"
        )
    a = as_array(a)
    if weights is None:
        x = a if is_inexact(a) else cast(a, result_type(a, result_type(float)))
        found = _of.reduce_mean(x, axis=axis)
        total = truediv(cast(size(x), x.dtype), cast(size(found), x.dtype))
    else:
        found, total = _weighted(a, axis, weights)
    return (found, broadcast_to(total, shape(found))) if returned else found


def _unfit(a: Tensor, weights: Tensor) -> Exception:
    shapes = f"{shown(weights._aval.shape)}, those of the array: {shown(a._aval.shape)}"
    return invalid(f"Expected 'False' to be true. Sizes of the weights: {shapes}", "Assert")


def _weighted(a: Tensor, axis: int | None, weights: Any) -> tuple[Tensor, Tensor]:
    kinds = [a.dtype, weights] if is_inexact(a) else [a.dtype, weights, result_type(float)]
    dtype = result_type(*kinds)
    a, weights = cast(a, dtype), cast(as_array(weights), dtype)
    if axis is None or a.ndim == weights.ndim:
        if not a.shape.is_compatible_with(weights.shape):
            raise _unfit(a, weights)
        total = _of.reduce_sum(weights, axis=axis)
        return truediv(_of.reduce_sum(a * weights, axis=axis), total), total
    if weights.ndim != 1:
        raise _unfit(a, weights)
    total = _of.reduce_sum(weights)
    return truediv(tensordot(a, weights, [[axis], [0]]), total), total


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    """The sum of a diagonal: see `diagonal`.

    >>> import tape_compat as tf
    >>> int(tf.experimental.numpy.trace([[1, 2], [3, 4]]))
    5
    """
    a = converted(a, result_type(dtype)) if dtype else as_array(a)
    if offset == 0 and axis1 in (-2, a.ndim - 2) and axis2 in (-1, a.ndim - 1):
        return _trace(a)
    return sum(diagonal(a, offset, axis1, axis2), -1, dtype)
