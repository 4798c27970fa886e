"""Norms of vectors and matrices."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.avals import Aval
from ..core.op import Op
from ..core.refuse import invalid, not_allowed
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor
from . import rules
from .arguments import as_tensor
from .arithmetic import CONSTANT_EXPONENTS
from .declare import Number
from .decompositions import singular_values


def _size(x: Any) -> Any:
    """The absolute value, real, with derivative 0 at 0."""
    return rules.abs(x)


def _largest(sizes: Any, **axes: Any) -> Any:
    """The largest number, -inf of none."""
    return jnp.max(sizes, initial=-jnp.inf, **axes)


def _norm(x: Any, *powers: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    if ord in ("fro", "euclidean") or (ord == 2 and not isinstance(axis, tuple)):
        # TensorFlow keeps the complex dtype, and its gradient at 0 is NaN: inf times 0.
        return rules.sqrt(jnp.sum(x * jnp.conj(x), axis=axis, keepdims=keepdims))
    if isinstance(axis, tuple):
        if ord == 2:
            first, second = (i % x.ndim for i in axis)
            s = singular_values(jnp.moveaxis(x, (first, second), (-2, -1)))
            largest = _largest(s, axis=-1)
            return jnp.expand_dims(largest, (first, second)) if keepdims else largest
        summed, maximal = axis if ord == 1 else axis[::-1]
        sums = jnp.sum(_size(x), axis=summed, keepdims=True)
        largest = _largest(sums, axis=maximal, keepdims=True)
        return largest if keepdims else jnp.squeeze(largest, axis)
    if ord == np.inf:
        return _largest(_size(x), axis=axis, keepdims=keepdims)
    if ord == 1:
        return jnp.sum(_size(x), axis=axis, keepdims=keepdims)
    power, root = powers or (ord, 1.0 / ord)
    total = jnp.sum(jnp.power(_size(x), power), axis=axis, keepdims=keepdims)
    return jnp.power(total, root)


def _norm_arguments(ord: Any, axis: Any) -> tuple[Any, Any]:
    if isinstance(axis, (list, tuple)):
        axis = tuple(int(a) for a in axis)
        if len(axis) != 2 or axis[0] == axis[1]:
            raise ValueError(
                "'axis' must be None, an integer, or a tuple of 2 unique integers, got "
                f"{list(axis)}"
            )
        if ord not in ("euclidean", "fro", 1, 2, np.inf):
            raise ValueError(
                "'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], "
                f"got {ord}"
            )
    else:
        if not (axis is None or isinstance(axis, (int, np.integer, Tensor))):
            raise ValueError(
                f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}"
            )
        axis = None if axis is None else int(axis)
        if ord != "euclidean" and (isinstance(ord, str) or not np.isreal(ord) or ord <= 0):
            raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    return ord if isinstance(ord, str) else float(ord), axis


def _check_norm(avals: tuple[Aval, ...], ord: Any, axis: Any, keepdims: bool) -> None:
    if not avals[0].trainable:
        listed = "bfloat16, half, float, double, complex64, complex128"
        raise not_allowed(avals[0].dtype, listed, "Sqrt")
    n = len(avals[0].shape)
    for i in axis if isinstance(axis, tuple) else () if axis is None else (axis,):
        if not -n <= i < n:
            raise invalid(
                f"Invalid reduction dimension ({i} for input with {n} dimension(s)", "Sum"
            )


_NORM = Op(_norm, "Norm", check=_check_norm)


#: Orders with a formula of their own, or a power that XLA has other code for: attributes. At 3 and
#: 300 x 300 elements a gradient took 0.2 ms, with the order as an input 1.0 ms.
_FIXED_ORDERS = frozenset(("euclidean", "fro", np.inf, *CONSTANT_EXPONENTS))


def _bound(op: Op, x: Tensor, ord: Any, axis: Any, keepdims: bool) -> Any:
    ord, axis = _norm_arguments(ord, axis)
    inputs = (x,)
    if x._aval.trainable and ord not in _FIXED_ORDERS:
        dtype = x.dtype.real_dtype
        inputs, ord = (x, convert(ord, dtype), convert(1.0 / ord, dtype)), None
    return apply(op.bind(ord=ord, axis=axis, keepdims=keepdims), inputs)


def norm(
    tensor: Any,
    ord: Number | str = "euclidean",
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """Norm of vectors along `axis` (of all elements by default), or of matrices along two axes.

    Args:
      ord: "euclidean"; for vectors a positive number or inf; for matrices "fro", 1, 2 or inf.
      keepdims: leave the axes, with size 1.
    The gradient of the Euclidean norm at 0 is NaN, as in TensorFlow.
    Raises: ValueError for an `ord` or `axis` that is none.

    >>> import tape_compat as tf
    >>> float(tf.norm([3.0, 4.0]))
    5.0
    """
    return _bound(_NORM, as_tensor(tensor), ord, axis, bool(keepdims))


def _normalized(x: Any, *powers: Any, **attributes: Any) -> Any:
    length = _norm(x, *powers, **attributes)
    return x / length, length


_NORMALIZE = Op(_normalized, "RealDiv", check=_check_norm)


def normalize(
    tensor: Any, ord: Number | str = "euclidean", axis: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """`tensor` divided by its norm along `axis`, and that norm with its axes left at size 1.

    >>> import tape_compat as tf
    >>> unit, length = tf.linalg.normalize([3.0, 4.0])
    >>> float(length[0])
    5.0
    """
    return _bound(_NORMALIZE, as_tensor(tensor), ord, axis, True)
