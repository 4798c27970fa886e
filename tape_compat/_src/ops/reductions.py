"""Reductions over axes, and cumulative sums and products along one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core import dtypes
from ..core.avals import Aval
from ..core.dimensions import is_symbolic, maximum, minimum, product
from ..core.dtypes import DType
from ..core.op import Op
from ..core.refuse import invalid, not_allowed, shown
from ..values import nest, operators
from ..values.bounds import not_empty
from ..values.convert import convert
from ..values.dispatch import takes_composites
from ..values.record import apply
from ..values.tensor import Tensor
from . import rules, running_logsumexp
from .arguments import cast_as_default, no_float
from .checks import NUMBER, REAL, check_axes, check_bool, check_scan
from .comparison import not_equal
from .declare import allowed, name_ops, op, static


def _taken_axis(axis: Any) -> Any:
    """An axis as an attribute. TensorFlow casts NumPy's floats to integers, no others."""
    return static(no_float(cast_as_default(axis)))


def _taken_axes(axis: Any) -> Any:
    """Axes as an attribute, whatever the shape of what holds them."""
    axis = _taken_axis(axis)
    return tuple(map(no_float, nest.flatten(axis))) if isinstance(axis, tuple) else axis


def _sizes_reduced(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axis, keepdims: function(x, axis=axis, keepdims=bool(keepdims))


#: Elements of what is large to be worked out by a compiler.
LARGE = 1 << 16


def folded_no_further(x: Any) -> Any:
    """The same, of whose derivative XLA does not know the value. It works out what depends on no
    argument, element by element, when it compiles: from the 1 that a gradient begins with, that of
    the sum of a running sum of a million numbers. That took 12 s, 0.3 s with this."""
    return lax.optimization_barrier(x)


def _total(total: Any, x: Any) -> Any:
    """A sum or mean of `x`."""
    sizes = [n for n in x.shape if isinstance(n, int)]
    large = total.size == 1 and math.prod(sizes) >= LARGE
    return folded_no_further(total) if large else total


@op(
    arrays=1,
    kernel="Sum",
    dtypes=NUMBER,
    check=check_axes("Sum"),
    of_sizes=_sizes_reduced(np.sum),
    axis=_taken_axes,
)
def reduce_sum(input_tensor, axis=None, keepdims=False, name=None):
    """Sum over `axis` (an int or several), all axes if None. Integers keep their dtype.

    Raises: InvalidArgumentError if an axis is out of range or named twice.

    >>> import tape_compat as tf
    >>> tf.reduce_sum([[1.0, 2.0], [3.0, 4.0]], axis=0).numpy().tolist()
    [4.0, 6.0]
    """
    # JAX adds bfloat16 as float32; XLA rounds each sum on CPUs, and took ten times as long.
    dtype = None if input_tensor.dtype == jnp.bfloat16 else input_tensor.dtype
    total = jnp.sum(input_tensor, axis=axis, keepdims=bool(keepdims), dtype=dtype)
    return _total(total, input_tensor)


@op(arrays=1, kernel="Mean", dtypes=NUMBER, check=check_axes("Mean"), axis=_taken_axes)
def reduce_mean(input_tensor, axis=None, keepdims=False, name=None):
    """Mean over `axis`, all axes if None. Integers give integers.

    >>> import tape_compat as tf
    >>> float(tf.reduce_mean([1.0, 2.0, 6.0])), int(tf.reduce_mean([1, 2]))
    (3.0, 1)
    """
    return _mean(input_tensor, axis, bool(keepdims))


def _mean(x: Any, axis: Any, keepdims: bool) -> Any:
    if jnp.issubdtype(x.dtype, jnp.floating):
        return _total(jnp.mean(x, axis=axis, keepdims=keepdims), x)
    count = product(x.shape[i] for i in _axes(axis, x.ndim))
    if jnp.issubdtype(x.dtype, jnp.complexfloating):  # 0 of none, as integers have it
        return _total(jnp.sum(x, axis=axis, keepdims=keepdims) / maximum(count, 1), x)
    wide = jnp.sum(x, axis=axis, keepdims=keepdims, dtype=_wide(x.dtype))
    return lax.div(wide, jnp.full_like(wide, maximum(count, 1))).astype(x.dtype)


def _wide(dtype: Any) -> Any:
    return jnp.uint64 if jnp.issubdtype(dtype, jnp.unsignedinteger) else jnp.int64


def _axes(axis: Any, rank: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(rank))
    return tuple(i % rank for i in (axis if isinstance(axis, tuple) else (axis,)))


@op(
    arrays=1,
    kernel="Max",
    dtypes=REAL,
    check=check_axes("Max"),
    of_sizes=_sizes_reduced(np.frompyfunc(maximum, 2, 1, identity=None).reduce),
    axis=_taken_axes,
)
def reduce_max(input_tensor, axis=None, keepdims=False, name=None):
    """Largest over `axis`, all axes if None. Ties share the gradient."""
    return rules.extreme(input_tensor, axis, bool(keepdims), largest=True)


@op(
    arrays=1,
    kernel="Min",
    dtypes=REAL,
    check=check_axes("Min"),
    of_sizes=_sizes_reduced(np.frompyfunc(minimum, 2, 1, identity=None).reduce),
    axis=_taken_axes,
)
def reduce_min(input_tensor, axis=None, keepdims=False, name=None):
    """Smallest over `axis`, all axes if None. Ties share the gradient."""
    return rules.extreme(input_tensor, axis, bool(keepdims), largest=False)


@op(
    arrays=1,
    kernel="Prod",
    dtypes=NUMBER,
    check=check_axes("Prod"),
    of_sizes=_sizes_reduced(np.prod),
    axis=_taken_axes,
)
def reduce_prod(input_tensor, axis=None, keepdims=False, name=None):
    """Product over `axis`, all axes if None."""
    x, axes = input_tensor, _axes(axis, input_tensor.ndim)
    for i in axes:
        if is_symbolic(x.shape[i]):
            x = rules.product_of_unknown(x, i)
    return jnp.prod(x, axis=axes, keepdims=bool(keepdims), dtype=x.dtype)


def _check_both(*checks: Callable[..., None]) -> Callable[..., None]:
    def check(avals: tuple[Aval, ...], **attributes: Any) -> None:
        for each in checks:
            each(avals, **attributes)

    return check


@op(
    arrays=1,
    kernel="Any",
    differentiable=False,
    check=_check_both(check_bool("Any"), check_axes("Any")),
    only=dtypes.bool,
    axis=_taken_axes,
)
def reduce_any(input_tensor, axis=None, keepdims=False, name=None):
    """Whether one is true over `axis`, all axes if None."""
    return jnp.any(input_tensor, axis=axis, keepdims=bool(keepdims))


@op(
    arrays=1,
    kernel="All",
    differentiable=False,
    check=_check_both(check_bool("All"), check_axes("All")),
    only=dtypes.bool,
    axis=_taken_axes,
)
def reduce_all(input_tensor, axis=None, keepdims=False, name=None):
    """Whether all are true over `axis`, all axes if None."""
    return jnp.all(input_tensor, axis=axis, keepdims=bool(keepdims))


operators.define(all=reduce_all)


def _log_sum_exp(x: Any, axis: Any, keepdims: bool) -> Any:
    top = jnp.max(x, axis=axis, keepdims=True, initial=-jnp.inf)
    top = lax.stop_gradient(jnp.where(jnp.isfinite(top), top, 0))
    result = jnp.log(jnp.sum(jnp.exp(x - top), axis=axis, keepdims=True)) + top
    return result if keepdims else jnp.squeeze(result, _axes(axis, x.ndim))


@op(arrays=1, kernel="IsFinite", dtypes="float", check=check_axes("Max"), axis=_taken_axes)
def reduce_logsumexp(input_tensor, axis=None, keepdims=False, name=None):
    """log(sum(exp(x))) over `axis`, all axes if None, without overflow."""
    return _log_sum_exp(input_tensor, axis, bool(keepdims))


def _variance(x: Any, axis: Any, keepdims: bool) -> Any:
    centred = x - jnp.mean(x, axis=axis, keepdims=True)
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        return jnp.mean(jnp.real(centred * jnp.conj(centred)), axis=axis, keepdims=keepdims)
    return jnp.mean(lax.square(centred), axis=axis, keepdims=keepdims)


_VARIANCE = Op(_variance, "Mean", check=check_axes("Mean"))
_STD = Op(
    lambda x, axis, keepdims: rules.sqrt(_variance(x, axis, keepdims)),
    "Mean",
    check=check_axes("Mean"),
)


def _spread(of: Op, x: Any, axis: Any, keepdims: Any) -> Tensor:
    x = convert(x)
    if not x.dtype.trainable:
        raise TypeError(f"Input must be either real or complex. Received integer type {x.dtype!s}.")
    return apply(of.bind(axis=_taken_axes(axis), keepdims=bool(keepdims)), (x,))


@takes_composites
def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Mean squared distance from the mean over `axis`, all axes if None; real.

    Raises: TypeError for integers.

    >>> import tape_compat as tf
    >>> float(tf.math.reduce_variance([1.0, 3.0]))
    1.0
    """
    return _spread(_VARIANCE, input_tensor, axis, keepdims)


@takes_composites
def reduce_std(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Square root of `reduce_variance`.

    Raises: TypeError for integers.

    >>> import tape_compat as tf
    >>> float(tf.math.reduce_std([1.0, 3.0]))
    1.0
    """
    return _spread(_STD, input_tensor, axis, keepdims)


@op(
    arrays=1,
    kernel="EuclideanNorm",
    dtypes=NUMBER,
    check=check_axes("EuclideanNorm"),
    axis=_taken_axes,
)
def reduce_euclidean_norm(input_tensor, axis=None, keepdims=False, name=None):
    """sqrt(sum(|x|**2)) over `axis`, all axes if None, of the dtype of x. NaN gradient at 0."""
    x, keepdims = input_tensor, bool(keepdims)
    if jnp.issubdtype(x.dtype, jnp.integer):
        # The sum wraps around, as TensorFlow's does. A negative one has the root NaN, which
        # TensorFlow casts to the lowest integer, and that in turn to 8 and 16 bits.
        total = jnp.sum(lax.square(x), axis=axis, keepdims=keepdims, dtype=x.dtype)
        of_nan = jnp.iinfo(x.dtype).min if x.dtype.itemsize >= 4 else 0
        return jnp.where(total < 0, of_nan, jnp.sqrt(total.astype(jnp.float64)).astype(x.dtype))
    return jnp.sqrt(jnp.sum(x * jnp.conj(x), axis=axis, keepdims=keepdims))


def _check_arg(kernel: str) -> Callable[..., None]:
    names = allowed("float integer bool")

    def check(avals: tuple[Aval, ...], axis: int, output_type: DType) -> None:
        shape = avals[0].shape
        rank = len(shape)
        if avals[0].dtype.name not in names:
            raise not_allowed(avals[0].dtype, names, kernel)
        if output_type.name not in ("int16", "uint16", "int32", "int64"):
            listed = "int16, uint16, int32, int64"
            raise not_allowed(output_type, listed, kernel, "output_type")
        if not -rank <= axis < rank:
            raise invalid(
                f"Expected dimension in the range [{-rank}, {rank}), but got {axis}", kernel
            )
        if shape[axis] == 0:
            listed = shown(shape)
            raise invalid(f"Reduction axis {axis} is empty in shape {listed}", kernel)

    return check


#: On processors XLA compares one number after the other and keeps a place with each: along 30,000
#: it took twice as long as to look for the largest first and then for where it is, and along the
#: first of two axes 6 times; along 20 a quarter of that.
_LONG_AXIS = 256


def _where_extreme(largest: bool, x: Any, axis: int, output_type: DType) -> Any:
    if jnp.issubdtype(x.dtype, jnp.floating):  # NaN is never chosen
        x = jnp.where(jnp.isnan(x), -jnp.inf if largest else jnp.inf, x)
    function = jnp.argmax if largest else jnp.argmin

    def found(x: Any) -> Any:
        return function(x, axis=axis).astype(output_type.np_dtype)

    def searched(x: Any) -> Any:
        extreme = (jnp.max if largest else jnp.min)(x, axis, keepdims=True)
        places = lax.broadcasted_iota(np.int32, x.shape, axis % x.ndim)
        first = jnp.min(jnp.where(x == extreme, places, x.shape[axis]), axis)
        return first.astype(output_type.np_dtype)

    length = x.shape[axis]
    if not isinstance(length, int) or length < _LONG_AXIS:
        return found(x)
    return lax.platform_dependent(x, cpu=searched, default=found)


_ARGMAX = Op(
    lambda x, axis, output_type: _where_extreme(True, x, axis, output_type),
    "ArgMax",
    differentiable=False,
    check=_check_arg("ArgMax"),
)
_ARGMIN = Op(
    lambda x, axis, output_type: _where_extreme(False, x, axis, output_type),
    "ArgMin",
    differentiable=False,
    check=_check_arg("ArgMin"),
)


def _arg(of: Op, x: Any, axis: Any, output_type: Any) -> Tensor:
    if axis.__class__ is not int:
        axis = 0 if axis is None else static(axis)
        if not isinstance(axis, int):
            raise TypeError("axis must be int or Tensor with integer datatype")
    if output_type.__class__ is not DType:
        output_type = dtypes.as_dtype(output_type)
    closure = of.bind(axis=axis, output_type=output_type)
    return apply(closure, (x if x.__class__ is Tensor else convert(x),))


def argmax(
    input: Any, axis: Any = None, output_type: Any = dtypes.int64, name: str | None = None
) -> Tensor:
    """Index of the largest along `axis` (0 if None), the first of equal ones.

    Raises: InvalidArgumentError if `axis` is out of range or empty.

    >>> import tape_compat as tf
    >>> tf.argmax([[1, 5, 2], [7, 0, 7]], axis=1).numpy().tolist()
    [1, 0]
    """
    return _arg(_ARGMAX, input, axis, output_type)


def argmin(
    input: Any, axis: Any = None, output_type: Any = dtypes.int64, name: str | None = None
) -> Tensor:
    """Index of the smallest along `axis` (0 if None), the first of equal ones.

    Raises: InvalidArgumentError if `axis` is out of range or empty.

    >>> import tape_compat as tf
    >>> int(tf.argmin([3, 1, 2]))
    1
    """
    return _arg(_ARGMIN, input, axis, output_type)


def count_nonzero(
    input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    dtype: Any = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """How many are not zero (not empty, for strings) over `axis`, all axes if None.

    >>> import tape_compat as tf
    >>> int(tf.math.count_nonzero([1.0, 0.0, 2.0]))
    2
    """
    x = convert(input)
    if x.dtype is dtypes.string:
        x = not_equal(x, "")
    closure = _COUNT_NONZERO.bind(
        axis=_taken_axes(axis),
        keepdims=bool(keepdims),
        dtype=dtypes.as_dtype(dtype),
    )
    return apply(closure, (x,))


_COUNT_NONZERO = Op(
    lambda x, axis, keepdims, dtype: jnp.sum(
        x != 0, axis=axis, keepdims=keepdims, dtype=dtype.np_dtype
    ),
    "Sum",
    differentiable=False,
    check=check_axes("Sum"),
)


def _scanned(
    function: Callable[..., Any], x: Any, axis: int, exclusive: bool, reverse: bool, identity: Any
) -> Any:
    """`function` along `axis`; exclusive: without the element itself; reverse: from the end."""
    if reverse:
        x = jnp.flip(x, axis)
    given, x = x, not_empty(x, (axis,))
    if exclusive and x.shape[axis]:
        first = jnp.full_like(lax.slice_in_dim(x, 0, 1, axis=axis), identity)
        x = jnp.concatenate([first, lax.slice_in_dim(x, 0, x.shape[axis] - 1, axis=axis)], axis)
    out = function(x, axis=axis)
    if x is not given:
        out = lax.slice_in_dim(out, 0, given.shape[axis], axis=axis)
    return jnp.flip(out, axis) if reverse else out


@op(arrays=1, kernel="Cumsum", dtypes=NUMBER, check=check_scan("Cumsum"), axis=_taken_axis)
def cumsum(x, axis=0, exclusive=False, reverse=False, name=None):
    """Running sum along `axis`; exclusive: of those before; reverse: from the end.

    >>> import tape_compat as tf
    >>> tf.cumsum([1, 2, 3], exclusive=True).numpy().tolist()
    [0, 1, 3]
    """
    return _scanned(
        lambda x, axis: jnp.cumsum(x, axis, dtype=x.dtype), x, axis, exclusive, reverse, 0
    )


@op(arrays=1, kernel="Cumprod", dtypes=NUMBER, check=check_scan("Cumprod"), axis=_taken_axis)
def cumprod(x, axis=0, exclusive=False, reverse=False, name=None):
    """Running product along `axis`; exclusive: of those before; reverse: from the end.

    >>> import tape_compat as tf
    >>> tf.math.cumprod([1, 2, 3]).numpy().tolist()
    [1, 2, 6]
    """
    return _scanned(
        lambda x, axis: jnp.cumprod(x, axis, dtype=x.dtype), x, axis, exclusive, reverse, 1
    )


@op(
    arrays=1,
    kernel="CumulativeLogsumexp",
    dtypes="float",
    check=check_scan("CumulativeLogsumexp"),
    kernels=True,
    axis=_taken_axis,
)
def cumulative_logsumexp(x, axis=0, exclusive=False, reverse=False, name=None):
    """Running log(sum(exp(x))) along `axis`; of nothing it is -inf."""
    return _scanned(running_logsumexp.cumulative_logsumexp, x, axis, exclusive, reverse, -jnp.inf)


name_ops(globals())
