"""The operator of a diagonal matrix."""

from __future__ import annotations

from typing import Any

from ...core.shapes import TensorShape
from ...diagnostics.assertions import assert_positive
from ...ops.casting import cast
from ...ops.diagonals import diag as diag_of, diag_part, set_diag
from ...ops.elementwise import abs as absolute, conj, log, real, sqrt
from ...ops.reductions import reduce_max, reduce_min, reduce_prod, reduce_sum
from ...ops.shapes import expand_dims
from ...values.convert import convert
from ..constructors import arguments
from . import hints
from .base import LinearOperator, is_a, public
from .dense import LinearOperatorLowerTriangular
from .support import (
    adjoint_if,
    assert_no_zeros,
    assert_real,
    kept,
    square_shape,
    square_shape_tensor,
)


@public
class LinearOperatorDiag(LinearOperator):
    """The operator of a diagonal matrix.

    Args:
      diag: [..., n], the diagonal.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square, name: see `LinearOperator`.
    Raises: ValueError for a rank of 0, or hints that no diagonal matrix fulfils.

    Products with diagonal and triangular operators are diagonal and triangular operators.

    >>> import tape_compat as tf
    >>> operator = tf.linalg.LinearOperatorDiag([2.0, 4.0])
    >>> operator.solvevec([2.0, 2.0]).numpy().tolist()
    [1.0, 0.5]
    >>> (operator @ operator).diag.numpy().tolist()
    [4.0, 16.0]
    """

    _composite_tensor_fields = ("diag",)
    _experimental_parameter_ndims_to_matrix_ndims = {"diag": 1}

    def __init__(
        self,
        diag: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorDiag",
    ) -> None:
        parameters = arguments(locals())
        self._diag = kept(diag)
        if self._diag.shape.rank is not None and self._diag.shape.rank < 1:
            raise ValueError(f"Argument diag must have at least 1 dimension.  Found: {self._diag}")
        if not self._diag.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        if is_square is False:
            raise ValueError("Only square diagonal operators currently supported.")
        super().__init__(
            dtype=self._diag.dtype,
            **hints.named(is_non_singular, is_self_adjoint, is_positive_definite, True),
            parameters=parameters,
            name=name,
        )

    @property
    def diag(self) -> Any:
        """The diagonal as it was given."""
        return self._diag

    def _shape(self) -> TensorShape:
        return square_shape(self._diag.shape)

    def _shape_tensor(self) -> Any:
        return square_shape_tensor(self._diag)

    def _linop_inverse(self) -> LinearOperator:
        return LinearOperatorDiag(1.0 / self.diag, **hints.square_hints(self))

    def _linop_adjoint(self) -> LinearOperator:
        diag = conj(self.diag) if self.dtype.is_complex else self.diag
        return LinearOperatorDiag(diag, **hints.square_hints(self))

    def _linop_cholesky(self) -> LinearOperator:
        return LinearOperatorDiag(
            sqrt(self.diag),
            is_non_singular=True,
            is_self_adjoint=True,
            is_positive_definite=True,
            is_square=True,
        )

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        known = hints.commuting(left_operator, right_operator)
        if isinstance(right_operator, LinearOperatorDiag):
            return LinearOperatorDiag(left_operator.diag * right_operator.diag, **known)
        if is_a(right_operator, "LinearOperatorScaledIdentity"):
            scale = expand_dims(right_operator.multiplier, -1)
            return LinearOperatorDiag(left_operator.diag * scale, **known)
        if isinstance(right_operator, LinearOperatorLowerTriangular):
            known["is_positive_definite"] = None
            rows = left_operator.diag[..., None] * right_operator.to_dense()
            return LinearOperatorLowerTriangular(rows, **known)
        return super()._linop_matmul(left_operator, right_operator)

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        known = hints.commuting(left_operator, right_operator)
        if isinstance(right_operator, LinearOperatorDiag):
            return LinearOperatorDiag(right_operator.diag / left_operator.diag, **known)
        if is_a(right_operator, "LinearOperatorScaledIdentity"):
            scale = expand_dims(right_operator.multiplier, -1)
            return LinearOperatorDiag(scale / left_operator.diag, **known)
        if isinstance(right_operator, LinearOperatorLowerTriangular):
            known["is_positive_definite"] = None
            rows = right_operator.to_dense() / left_operator.diag[..., None]
            return LinearOperatorLowerTriangular(rows, **known)
        return super()._linop_solve(left_operator, right_operator)

    def _assert_non_singular(self) -> Any:
        assert_no_zeros(self._diag, "Singular operator:  Diagonal contained zero values.")

    def _assert_positive_definite(self) -> Any:
        if self.dtype.is_complex:
            message = (
                "Diagonal operator had diagonal entries with non-positive real part, thus was not "
                "positive definite."
            )
        else:
            message = (
                "Real diagonal operator had non-positive diagonal entries, thus was not positive "
                "definite."
            )
        return assert_positive(real(self._diag), message=message)

    def _assert_self_adjoint(self) -> Any:
        assert_real(
            self._diag,
            "This diagonal operator contained non-zero imaginary values.   Thus it was not "
            "self-adjoint.",
        )

    def _factors(self, adjoint: bool) -> Any:
        return conj(self._diag) if adjoint else self._diag

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return expand_dims(self._factors(adjoint), -1) * adjoint_if(x, adjoint_arg)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return self._factors(adjoint) * x

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return adjoint_if(rhs, adjoint_arg) * expand_dims(1.0 / self._factors(adjoint), -1)

    def _determinant(self) -> Any:
        return reduce_prod(self._diag, axis=[-1])

    def _log_abs_determinant(self) -> Any:
        found = reduce_sum(log(absolute(self._diag)), axis=[-1])
        return cast(found, self.dtype) if self.dtype.is_complex else found

    def _to_dense(self) -> Any:
        return diag_of(self._diag)

    def _diag_part(self) -> Any:
        return convert(self.diag)

    def _add_to_tensor(self, x: Any) -> Any:
        return set_diag(x, self._diag + diag_part(x))

    def _eigvals(self) -> Any:
        return convert(self.diag)

    def _cond(self) -> Any:
        values = absolute(self.diag)
        return reduce_max(values, axis=-1) / reduce_min(values, axis=-1)
