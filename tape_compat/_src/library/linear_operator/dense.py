"""Operators that hold their matrix: any one, and a lower triangular one."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import complex64, complex128, float16, float32, float64
from ...core.shapes import TensorShape
from ...ops.diagonals import band_part, diag_part
from ...ops.elementwise import abs as absolute, log
from ...ops.products import matmul
from ...ops.reductions import reduce_prod, reduce_sum
from ...ops.shapes import shape
from ...ops.solvers import triangular_solve
from ...values.convert import convert
from ..constructors import arguments
from . import hints
from .base import LinearOperator, is_a, public
from .support import adjoint_if, assert_no_zeros, kept

_DTYPES = [float16, float32, float64, complex64, complex128]


@public
class LinearOperatorFullMatrix(LinearOperator):
    """The operator of a matrix that is given as it is.

    Args:
      matrix: [..., m, n], floating or complex.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square, name: see `LinearOperator`.
    Raises: TypeError for another dtype, ValueError for a rank below 2.

    >>> import tape_compat as tf
    >>> operator = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> operator.matvec([1.0, 1.0]).numpy().tolist()
    [3.0, 7.0]
    """

    _composite_tensor_fields = ("matrix",)
    _experimental_parameter_ndims_to_matrix_ndims = {"matrix": 2}

    def __init__(
        self,
        matrix: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorFullMatrix",
    ) -> None:
        parameters = arguments(locals())
        self._matrix = kept(matrix)
        if self._matrix.dtype not in _DTYPES:
            raise TypeError(
                f"Argument `matrix` must have dtype in {_DTYPES}. Received: {self._matrix.dtype!r}."
            )
        if self._matrix.shape.rank is not None and self._matrix.shape.rank < 2:
            raise ValueError(
                f"Argument `matrix` must have at least 2 dimensions. Received: {self._matrix}."
            )
        super().__init__(
            dtype=self._matrix.dtype,
            **hints.named(is_non_singular, is_self_adjoint, is_positive_definite, is_square),
            parameters=parameters,
            name=name,
        )

    @property
    def matrix(self) -> Any:
        """The matrix as it was given."""
        return self._matrix

    def _shape(self) -> TensorShape:
        return self._matrix.shape

    def _shape_tensor(self) -> Any:
        return shape(self._matrix)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return matmul(self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._dense_solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _to_dense(self) -> Any:
        return convert(self._matrix)


@public
class LinearOperatorLowerTriangular(LinearOperator):
    """The operator of the lower triangle of a matrix; what stands above it is not read.

    Args:
      tril: [..., n, n].
      is_non_singular, is_self_adjoint, is_positive_definite, is_square, name: see `LinearOperator`.
    Raises: ValueError for a rank below 2, or a hint that it is not square.

    >>> import tape_compat as tf
    >>> operator = tf.linalg.LinearOperatorLowerTriangular([[2.0, 9.0], [1.0, 4.0]])
    >>> operator.solvevec([2.0, 5.0]).numpy().tolist(), float(operator.determinant())
    ([1.0, 1.0], 8.0)
    """

    _composite_tensor_fields = ("tril",)
    _experimental_parameter_ndims_to_matrix_ndims = {"tril": 2}

    def __init__(
        self,
        tril: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowerTriangular",
    ) -> None:
        parameters = arguments(locals())
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        self._tril = kept(tril)
        if self._tril.shape.rank is not None and self._tril.shape.rank < 2:
            raise ValueError(f"Argument tril must have at least 2 dimensions.  Found: {self._tril}")
        super().__init__(
            dtype=self._tril.dtype,
            **hints.named(is_non_singular, is_self_adjoint, is_positive_definite, True),
            parameters=parameters,
            name=name,
        )

    @property
    def tril(self) -> Any:
        """The matrix as it was given."""
        return self._tril

    def _shape(self) -> TensorShape:
        return self._tril.shape

    def _shape_tensor(self) -> Any:
        return shape(self._tril)

    def _assert_non_singular(self) -> Any:
        assert_no_zeros(self._eigvals(), "Singular operator:  Diagonal contained zero values.")

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return matmul(self._to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        if not is_a(right_operator, "LinearOperatorDiag"):
            return super()._linop_matmul(left_operator, right_operator)
        return LinearOperatorLowerTriangular(
            left_operator.to_dense() * right_operator.diag[..., None, :],
            is_non_singular=hints.non_singular(right_operator, left_operator),
            is_self_adjoint=hints.commuting_self_adjoint(right_operator, left_operator),
            is_square=True,
        )

    def _determinant(self) -> Any:
        return reduce_prod(self._eigvals(), axis=[-1])

    def _log_abs_determinant(self) -> Any:
        return reduce_sum(log(absolute(self._eigvals())), axis=[-1])

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = adjoint_if(rhs, adjoint_arg)
        return triangular_solve(self._to_dense(), rhs, lower=True, adjoint=adjoint)

    def _to_dense(self) -> Any:
        return band_part(self._tril, -1, 0)

    def _eigvals(self) -> Any:
        return diag_part(self._tril)
