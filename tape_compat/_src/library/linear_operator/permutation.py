"""Reflections and permutations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import errors
from ...core.dtypes import float32
from ...core.shapes import TensorShape
from ...ops.casting import cast
from ...ops.comparison import equal
from ...ops.creation import ones, range as numbers, zeros
from ...ops.diagonals import diag_part, set_diag
from ...ops.elementwise import conj
from ...ops.gather_scatter import gather
from ...ops.joining import concat
from ...ops.ordering import argsort
from ...ops.products import matmul
from ...ops.repeating import broadcast_to
from ...ops.shapes import broadcast_dynamic_shape, expand_dims, reshape, shape
from ...ops.sums import l2_normalize
from ...values.convert import convert
from ..constructors import arguments
from . import hints
from .base import LinearOperator, public
from .support import (
    adjoint_if,
    kept,
    known_batch,
    known_value,
    square_shape,
    square_shape_tensor,
)


@public
class LinearOperatorHouseholder(LinearOperator):
    """The reflection at the plane through 0 to which an axis is normal: I - 2 v v^H, |v| = 1.

    Args:
      reflection_axis: [..., n], of any length but 0.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square, name: see `LinearOperator`.
    Raises: ValueError for a rank of 0, or hints that no reflection fulfils.

    >>> import tape_compat as tf
    >>> operator = tf.linalg.LinearOperatorHouseholder([0.0, 2.0])
    >>> operator.matvec([1.0, 3.0]).numpy().tolist()
    [1.0, -3.0]
    """

    _composite_tensor_fields = ("reflection_axis",)
    _experimental_parameter_ndims_to_matrix_ndims = {"reflection_axis": 1}

    def __init__(
        self,
        reflection_axis: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorHouseholder",
    ) -> None:
        parameters = arguments(locals())
        self._reflection_axis = kept(reflection_axis)
        rank = self._reflection_axis.shape.rank
        if rank is not None and rank < 1:
            raise ValueError(
                "Argument reflection_axis must have at least 1 dimension.  Found: "
                f"{self._reflection_axis}"
            )
        if is_self_adjoint is False:
            raise ValueError("A Householder operator is always self adjoint.")
        if is_positive_definite is True:
            raise ValueError("A Householder operator is always non-positive definite.")
        if is_square is False:
            raise ValueError("A Householder operator is always square.")
        super().__init__(
            dtype=self._reflection_axis.dtype,
            **hints.named(is_non_singular, True, False, True),
            parameters=parameters,
            name=name,
        )

    @property
    def reflection_axis(self) -> Any:
        """The axis as it was given."""
        return self._reflection_axis

    def _shape(self) -> TensorShape:
        return square_shape(self._reflection_axis.shape)

    def _shape_tensor(self) -> Any:
        return square_shape_tensor(self._reflection_axis)

    def _assert_non_singular(self) -> Any:
        return None

    def _assert_positive_definite(self) -> Any:
        raise errors.InvalidArgumentError(
            None, None, "Householder operators are always non-positive definite."
        )

    def _assert_self_adjoint(self) -> Any:
        return None

    def _linop_adjoint(self) -> LinearOperator:
        return self

    def _linop_inverse(self) -> LinearOperator:
        return self

    def _axis(self) -> Any:
        return l2_normalize(convert(self._reflection_axis), axis=-1)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_if(x, adjoint_arg)
        column = expand_dims(self._axis(), -1)
        return x - 2 * column * matmul(column, x, adjoint_a=True)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _trace(self) -> Any:
        count = cast(self.domain_dimension_tensor() - 2, self.dtype)
        return count * ones(known_batch(self), self.dtype)

    def _determinant(self) -> Any:
        return -ones(known_batch(self), self.dtype)

    def _log_abs_determinant(self) -> Any:
        return zeros(known_batch(self), self.dtype)

    def _to_dense(self) -> Any:
        column = expand_dims(self._axis(), -1)
        product = -2 * matmul(column, column, adjoint_b=True)
        return set_diag(product, 1.0 + diag_part(product))

    def _diag_part(self) -> Any:
        axis = self._axis()
        return 1.0 - 2 * axis * conj(axis)

    def _eigvals(self) -> Any:
        found = shape(self._reflection_axis)
        batch = found[:-1]
        minus = -ones(concat([batch, [1]], 0), self.dtype)
        return concat([minus, ones(concat([batch, [found[-1] - 1]], 0), self.dtype)], -1)

    def _cond(self) -> Any:
        return ones(known_batch(self), self.dtype)


@public
class LinearOperatorPermutation(LinearOperator):
    """The operator that puts entry `perm[i]` at place i.

    Args:
      perm: [..., n] of integers, each of 0 to n - 1 once.
      dtype: of the matrix.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square, name: see `LinearOperator`.
    Raises: ValueError for what is known not to be a permutation, a rank of 0, or hints that no
      permutation fulfils; TypeError for another dtype of `perm`.

    >>> import tape_compat as tf
    >>> operator = tf.linalg.LinearOperatorPermutation([2, 0, 1])
    >>> operator.matvec([10.0, 20.0, 30.0]).numpy().tolist()
    [30.0, 10.0, 20.0]
    """

    _composite_tensor_fields = ("perm", "dtype")
    _experimental_parameter_ndims_to_matrix_ndims = {"perm": 1}

    def __init__(
        self,
        perm: Any,
        dtype: Any = float32,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorPermutation",
    ) -> None:
        parameters = arguments(locals())
        self._perm = kept(perm)
        self._check_perm(self._perm)
        for hint, value, word in (
            ("is_non_singular", is_non_singular, "non-singular"),
            ("is_square", is_square, "square"),
        ):
            if value is False:
                raise ValueError(
                    f"A Permutation operator is always {word}. Expected argument `{hint}` to be "
                    f"True. Received: {value}."
                )
        super().__init__(
            dtype=dtype,
            **hints.named(is_non_singular, is_self_adjoint, is_positive_definite, True),
            parameters=parameters,
            name=name,
        )

    def _check_perm(self, perm: Any) -> None:
        if perm.shape.rank is not None and perm.shape.rank < 1:
            raise ValueError(f"Argument `perm` must have at least 1 dimension. Received: {perm}.")
        if not perm.dtype.is_integer:
            raise TypeError(f"Argument `perm` must be integer dtype. Received: {perm}.")
        known = known_value(perm)
        if known is not None and np.any(np.sort(known, axis=-1) != np.arange(known.shape[-1])):
            raise ValueError(
                "Argument `perm` must be a vector of unique integers from 0 to "
                f"{known.shape[-1] - 1}."
            )

    @property
    def perm(self) -> Any:
        """The permutation as it was given."""
        return self._perm

    def _shape(self) -> TensorShape:
        return square_shape(self._perm.shape)

    def _shape_tensor(self) -> Any:
        return square_shape_tensor(self._perm)

    def _assert_non_singular(self) -> Any:
        return None

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        perm = convert(self._perm)
        if adjoint and not self.is_self_adjoint:
            perm = argsort(perm, axis=-1)
        x = adjoint_if(x, adjoint_arg)
        rows = broadcast_dynamic_shape(shape(x)[:-1], shape(perm))
        whole = concat([rows, shape(x)[-1:]], 0)
        flat = reshape(broadcast_to(x, whole), concat([[-1], whole[-2:]], 0))
        places = reshape(broadcast_to(perm, rows), concat([[-1], rows[-1:]], 0))
        return reshape(gather(flat, places, axis=1, batch_dims=1), whole)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _log_abs_determinant(self) -> Any:
        return zeros(known_batch(self), self.dtype)

    def _places(self) -> Any:
        return numbers(0, shape(self._perm)[-1], dtype=self._perm.dtype)

    def _to_dense(self) -> Any:
        return cast(equal(self._places(), expand_dims(self._perm, -1)), self.dtype)

    def _diag_part(self) -> Any:
        return cast(equal(self._places(), self._perm), self.dtype)

    def _cond(self) -> Any:
        return ones(known_batch(self), self.dtype)
