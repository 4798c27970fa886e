"""Sums of lists of tensors, polynomials, and vectors of length 1."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from ..core import dtypes
from ..core.avals import Aval
from ..core.dimensions import fit, is_symbolic
from ..core.op import Op
from ..core.refuse import invalid, shown
from ..values.convert import convert
from ..values.dispatch import maps_composites, takes_composites
from ..values.indexed_slices import IndexedSlices
from ..values.record import apply, identity
from ..values.tensor import Tensor
from . import rules
from .arithmetic import multiply
from .checks import INEXACT, check_axes, check_dtypes
from .declare import Number, check_same_dtype, is_number, matching, name_ops, op, static


def _check_add_n(avals: tuple[Aval, ...]) -> None:
    check_same_dtype(avals, "AddN")
    for i, aval in enumerate(avals):
        if not fit(aval.shape, avals[0].shape):
            first, other = shown(avals[0].shape), shown(aval.shape)
            raise invalid(
                "Inputs to operation AddN of type AddN must have the same size and shape.  "
                f"Input 0: {first} != input {i}: {other}",
                "AddN",
            )


def _shape_of_sum(avals: tuple[Aval, ...]) -> Aval:
    """The shape that all terms have: of unknown sizes, a number where one is known."""
    sizes = zip(*[aval.shape for aval in avals], strict=True)
    known = [next((n for n in axis if not is_symbolic(n)), axis[0]) for axis in sizes]
    return Aval.of(tuple(known), avals[0].dtype)


def _sum_of(*arrays: Any) -> Any:
    total = arrays[0]
    for array in arrays[1:]:
        total = total + array
    return total


def _slices_to_each(
    call: Any, inputs: tuple[Tensor, ...], cotangents: list[Any], want: tuple[int, ...]
) -> list[Any] | None:
    """IndexedSlices go to all terms as they are."""
    slices = cotangents[0]
    return [slices] * len(want) if isinstance(slices, IndexedSlices) else None


ADD_N = Op(_sum_of, "AddN", check=_check_add_n, shapes=_shape_of_sum, sparse=_slices_to_each).bind()


@takes_composites
def add_n(inputs: Sequence[Any], name: str | None = None) -> Tensor:
    """Sum of tensors of one shape; IndexedSlices are taken as dense tensors.

    Raises: ValueError if there are none; InvalidArgumentError if shapes or dtypes differ.

    >>> import tape_compat as tf
    >>> tf.add_n([[1, 2], [3, 4], [5, 6]]).numpy().tolist()
    [9, 12]
    """
    message = (
        "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and "
        "shape."
    )
    if not hasattr(inputs, "__iter__"):
        raise ValueError(message)
    tensors = [x if x.__class__ is Tensor else convert(x) for x in inputs]
    if not tensors:
        raise ValueError(message)
    if len(tensors) == 1:
        return identity(tensors[0])
    return apply(ADD_N, tuple(tensors))


def accumulate_n(
    inputs: Sequence[Any], shape: Any = None, tensor_dtype: Any = None, name: str | None = None
) -> Tensor:
    """The same as `add_n`, with a shape and a dtype to check against.

    Raises: ValueError if shapes or dtypes differ.

    >>> import tape_compat as tf
    >>> float(tf.math.accumulate_n([1.0, 2.0, 3.0]))
    6.0
    """
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError("inputs must be a list of at least one Tensor/IndexedSlices")
    tensors = matching(inputs)
    dtype = dtypes.as_dtype(tensor_dtype) if tensor_dtype is not None else tensors[0].dtype
    wanted = tensors[0].shape if shape is None else shape
    for x in tensors:
        if x.dtype is not dtype or not x.shape.is_compatible_with(wanted):
            raise ValueError("inputs must be a list of Tensors with the same dtype and shape")
    return add_n(tensors)


@maps_composites
def scalar_mul(scalar: Number, x: Any, name: str | None = None) -> Any:
    """`x` times a scalar; IndexedSlices give IndexedSlices.

    Raises: ValueError if `scalar` has a shape other than ().

    >>> import tape_compat as tf
    >>> tf.math.scalar_mul(2.0, tf.constant([1.0, 2.0])).numpy().tolist()
    [2.0, 4.0]
    """
    sparse = isinstance(x, IndexedSlices)
    if not sparse:
        scalar, x = matching((scalar, x))
    scalar = convert(scalar, hint=x.dtype)
    if scalar._aval.shape != ():
        raise ValueError(
            f"The input scalar must be a 0-D value. Received shape {scalar._aval.shape}."
        )
    if sparse:
        return IndexedSlices(multiply(scalar, x.values), x.indices, x.dense_shape)
    return multiply(scalar, x)


def _polynomial(*arrays: Any) -> Any:
    *coefficients, x = arrays
    value = coefficients[0]
    for coefficient in coefficients[1:]:
        value = coefficient + value * x
    return value


_POLYVAL = Op(_polynomial, "Polyval", check=lambda avals: check_same_dtype(avals, "Mul")).bind()


def polyval(coeffs: Sequence[Any], x: Any, name: str | None = None) -> Tensor:
    """Polynomial at x; coefficients from the highest power down, by Horner's rule.

    Raises: ValueError if `coeffs` is not a list.

    >>> import tape_compat as tf
    >>> float(tf.math.polyval([1.0, 2.0, 3.0], 2.0))
    11.0
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    x = convert(x)
    if not coeffs:
        return multiply(x, 0)
    return apply(_POLYVAL, (*(convert(c, x.dtype) for c in coeffs), x))


def _unit(x: Any, epsilon: Any, axis: Any) -> Any:
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        total = jnp.sum(jnp.real(x) ** 2 + jnp.imag(x) ** 2, axis=axis, keepdims=True)
    else:
        total = jnp.sum(lax.square(x), axis=axis, keepdims=True)
    floor_ = jnp.asarray(epsilon, total.dtype)
    return x * rules.rsqrt(rules.maximum(total, floor_)).astype(x.dtype)


@op(arrays=1, kernel="Mul", dtypes=INEXACT, check=check_axes("Sum"))
def _l2_normalize(x, axis=None):
    return _unit(x, 1e-12, axis)


def _check_unit(avals: tuple[Aval, ...], axis: Any) -> None:
    check_dtypes("Mul", INEXACT)(avals[:1])
    check_axes("Sum")(avals, axis)


_UNIT = Op(_unit, "Mul", check=_check_unit)


def l2_normalize(
    x: Any, axis: Any = None, epsilon: Number = 1e-12, name: str | None = None, dim: Any = None
) -> Tensor:
    """x / sqrt(max(sum(x**2), epsilon)), the sum over `axis`, all axes if None.

    Raises: ValueError if both `axis` and its old name `dim` are given.

    >>> import tape_compat as tf
    >>> tf.math.l2_normalize([3.0, 4.0]).numpy().round(6).tolist()
    [0.6000000238418579, 0.800000011920929]
    """
    if dim is not None:
        if axis is not None:
            raise ValueError("Cannot specify both 'axis' and 'dim'.")
        axis = dim
    if is_number(epsilon, 1e-12):
        return _l2_normalize(x, axis=axis)
    x = convert(x)
    epsilon = convert(epsilon, x.dtype.real_dtype)
    return apply(_UNIT.bind(axis=static(axis)), (x, epsilon))


TopKV2 = namedtuple("TopKV2", ["values", "indices"])


name_ops(globals())
