"""What linear operators share: parameters kept as they are, shapes, checks, dense solutions."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtypes import DType, as_dtype, complex64, complex128, float64, int32
from ...core.shapes import TensorShape
from ...diagnostics.assertions import assert_equal, assert_less
from ...ops.casting import cast
from ...ops.creation import get_static_value, zeros
from ...ops.elementwise import abs as absolute, imag
from ...ops.joining import concat, split
from ...ops.products import adjoint
from ...ops.repeating import broadcast_to
from ...ops.shapes import broadcast_dynamic_shape, broadcast_static_shape, reshape, shape, transpose
from ...ops.solvers import solve
from ...values.convert import convert
from ...values.nest import is_nested
from ...values.tensor import Tensor
from ...values.variable import Variable
from ..module import Module
from ..version1.dimension import Dimension

LOGGER = logging.getLogger("tape_compat")


def warn_slow(what: str, why: str = "Requires conversion to a dense matrix and O(N^3) operations."):
    """Say that an operator has no way of its own to do something."""
    LOGGER.warning("Using (possibly slow) default implementation of %s.  %s", what, why)


# Parameters.


def is_reference(value: Any) -> bool:
    """Whether a value is read at each use: a Variable, or a Module that stands for a tensor."""
    return isinstance(value, Variable) or (
        isinstance(value, Module) and hasattr(value, "dtype") and hasattr(value, "shape")
    )


def kept(value: Any, dtype: Any = None) -> Any:
    """A parameter as an operator keeps it: references as they are, others as tensors."""
    if value is None:
        return None
    if not is_reference(value):
        return convert(value, None if dtype is None else as_dtype(dtype))
    if dtype is not None and value.dtype != as_dtype(dtype):
        raise TypeError(
            f"Argument `value` must be of dtype `{as_dtype(dtype).name}` Received: "
            f"`{value.dtype.name}`."
        )
    return value


def refuse_reference(value: Any, name: str) -> None:
    """Raises: TypeError for a Variable as a size."""
    if is_reference(value):
        raise TypeError(f"Argument {name} cannot be reference type. Found: {type(value)}.")


def sizes(value: Any) -> Tensor:
    """A size or a shape as a tensor of integers."""
    if isinstance(value, TensorShape):
        value = value.as_list()
    empty = isinstance(value, (tuple, list)) and not value
    return convert(value, int32 if empty else None)


def known_value(value: Any) -> np.ndarray | None:
    """The value of a tensor as NumPy, None if it is not known or is a Variable's."""
    found = get_static_value(value)
    return None if found is None else np.asarray(found)


def check_size(value: Tensor, name: str, rank: int = 0) -> None:
    """Raises: TypeError or ValueError for what is no size, or with `rank` 1 no shape."""
    if not value.dtype.is_integer:
        raise TypeError(f"Argument {name} must be integer type.  Found: {value}")
    known = known_value(value)
    if known is None:
        return
    if known.ndim != rank:
        raise ValueError(f"Argument {name} must be a {rank}-D Tensor.  Found: {known}")
    if np.any(known < 0):
        raise ValueError(f"Argument {name} must be non-negative.  Found: {known}")


# Shapes.


def static_dim(dims: TensorShape, index: int) -> int | None:
    """The size at a place of a shape, None if it is unknown."""
    return None if dims.rank is None else dims[index]


def check_dim(size: Any, other: int | None) -> None:
    """Raises: ValueError unless both may be the same size."""
    Dimension(size).assert_is_compatible_with(other)


def summed(dims: Sequence[int | None]) -> int | None:
    """The sum of sizes, None if one is unknown."""
    return None if None in dims else sum(dims)  # type: ignore[arg-type]


def multiplied(dims: Sequence[int | None]) -> int | None:
    """The product of sizes, None if one is unknown."""
    return None if None in dims else int(np.prod(dims, dtype=int))  # type: ignore[arg-type]


def batch_of(operators: Sequence[Any]) -> TensorShape:
    """The batch shape to which those of operators broadcast."""
    found = operators[0].batch_shape
    for operator in operators[1:]:
        found = broadcast_static_shape(found, operator.batch_shape)
    return found


def batch_tensor_of(operators: Sequence[Any]) -> Tensor:
    """The batch shape to which those of operators broadcast, as a tensor."""
    found = operators[0].batch_shape_tensor()
    for operator in operators[1:]:
        found = broadcast_dynamic_shape(found, operator.batch_shape_tensor())
    return found


def known_batch(operator: Any) -> Any:
    """The batch shape of an operator, as a tensor if sizes in it are unknown."""
    known = operator.batch_shape
    return known if known.is_fully_defined() else operator.batch_shape_tensor()


def square_shape(vector: TensorShape) -> TensorShape:
    """The shape [..., n, n] of the matrices that belong to vectors [..., n]."""
    return vector.concatenate(vector[-1:])


def square_shape_tensor(vector: Any) -> Tensor:
    """`square_shape` of the shape of a tensor, as a tensor."""
    found = shape(vector)
    return concat([found, found[-1:]], 0)


def same_batch(matrices: Sequence[Any]) -> list[Tensor]:
    """Matrices with their batch axes broadcast together.

    Raises: ValueError for a rank below 2, or batch axes that do not broadcast.
    """
    tensors = [convert(matrix) for matrix in matrices]
    for x in tensors:
        if x.shape.rank is not None and x.shape.rank < 2:
            raise ValueError(
                f"Expected [batch] matrix to have at least two dimensions. Found: {x}."
            )
    if len(tensors) < 2:
        return tensors
    static = tensors[0].shape[:-2]
    for x in tensors[1:]:
        static = broadcast_static_shape(static, x.shape[:-2])
    if static.is_fully_defined():
        batch: Any = convert(static.as_list(), int32)
        same = [x.shape[:-2] == static for x in tensors]
    else:
        batch = shape(tensors[0])[:-2]
        for x in tensors[1:]:
            batch = broadcast_dynamic_shape(batch, shape(x)[:-2])
        same = [False] * len(tensors)
    return [
        x if kept else broadcast_to(x, concat([batch, shape(x)[-2:]], 0))
        for x, kept in zip(tensors, same)
    ]


def with_batch(x: Tensor, operator: Any) -> Tensor:
    """A matrix with its batch axes broadcast to those of an operator."""
    ones = operator.batch_shape.concatenate([1, 1])
    if ones.is_fully_defined():
        if x.shape.rank is not None and broadcast_static_shape(x.shape, ones) == x.shape:
            return x
        return x + zeros(ones, x.dtype)
    return x + zeros(concat([operator.batch_shape_tensor(), [1, 1]], 0), x.dtype)


# Checks.


def assert_no_zeros(x: Any, message: str) -> None:
    """Raises: InvalidArgumentError if an entry is 0."""
    x = convert(x)
    assert_less(cast(0, x.dtype.real_dtype), absolute(x), message=message)


def assert_real(x: Any, message: str) -> None:
    """Raises: InvalidArgumentError if an imaginary part is not 0."""
    x = convert(x)
    if not x.dtype.is_floating:
        assert_equal(cast(0, x.dtype.real_dtype), imag(x), message=message)


def assert_fits(operator: Any, x: Any) -> None:
    """Raises: InvalidArgumentError unless an operator can be applied to the matrix `x`."""
    assert_equal(
        shape(x)[-2],
        operator.domain_dimension_tensor(),
        message="Dimensions are not compatible.  shape[-2] of argument to be the same as this "
        "operator",
    )


def check_same_dtypes(operators: Sequence[Any]) -> DType:
    """The dtype of operators. Raises: TypeError if they have several."""
    dtype = operators[0].dtype
    if any(operator.dtype != dtype for operator in operators):
        listed = "   ".join(str((operator.name, operator.dtype)) for operator in operators)
        raise TypeError(f"Expected all operators to have the same dtype.  Found {listed}")
    return dtype


def check_iterable(values: Any) -> None:
    """Raises: TypeError for what is no list of operators."""
    if isinstance(values, (Tensor, Variable, np.ndarray, str, bytes)) or not hasattr(
        values, "__iter__"
    ):
        raise TypeError(
            f'Expected argument "values" to be a "proper" iterable. Found: {type(values)}'
        )


# Solutions and complex numbers.


def solve_broadcast(matrix: Any, rhs: Any, adjoint: bool = False) -> Tensor:
    """`tf.linalg.solve` with batch axes broadcast; a single matrix is decomposed once."""
    matrix, rhs = convert(matrix), convert(rhs)
    if matrix.shape.rank == 2 and rhs.shape.rank is not None and rhs.shape.rank > 2:
        axes = rhs.shape.rank
        moved = transpose(rhs, [axes - 2, *range(axes - 2), axes - 1])
        columns = reshape(moved, concat([shape(moved)[:1], [-1]], 0))
        found = reshape(solve(matrix, columns, adjoint=adjoint), shape(moved))
        return transpose(found, [*range(1, axes - 1), 0, axes - 1])
    matrix, rhs = same_batch([matrix, rhs])
    return solve(matrix, rhs, adjoint=adjoint)


def adjoint_if(x: Any, wanted: bool) -> Any:
    """A matrix, or its adjoint if that is wanted."""
    return adjoint(x) if wanted else x


def as_complex(x: Any) -> Any:
    """Numbers as complex ones of the same precision."""
    if x.dtype.is_complex:
        return x
    return cast(x, complex128 if x.dtype == float64 else complex64)


# Blocks.


def is_blockwise(dims: Sequence[int | None], arg: Any, axis: int) -> bool:
    """Whether an argument is a list of one tensor a block, rather than one tensor.

    Raises: ValueError if its sizes fit neither, or both.
    """
    if not isinstance(arg, (tuple, list)) or len(arg) != len(dims):
        return False
    if not any(is_nested(part) for part in arg):
        return True
    found = [convert(part).shape[axis] for part in arg]
    if all(size is None for size in dims):
        if len(found) == 1:
            return False
        if any(size != found[0] for size in found):
            return True
        raise ValueError(
            "Parsing of the input structure is ambiguous. Please input a blockwise iterable of "
            "`Tensor`s or a single `Tensor`."
        )
    if all(size is None or size == other for size, other in zip(dims, found)):
        return True
    least = sum(size for size in dims if size is not None)
    if all(size == found[0] for size in found) and found[0] >= least:
        return False
    raise ValueError("Input dimension does not match operator dimension.")


def in_blocks(dims: Sequence[int | None], tensors: Any, arg: Any, axis: int) -> list[Tensor]:
    """One tensor taken apart into blocks of the sizes `dims`, which `tensors()` has as tensors."""
    return split(arg, tensors() if None in dims else list(dims), axis=axis)  # type: ignore[arg-type]
