"""`tf.linalg`'s functions of operators: `tf.linalg.trace(operator)` is `operator.trace()`."""

from __future__ import annotations

from typing import Any

from ...ops.elementwise import real
from ...ops.products import adjoint as adjoint_of
from ...values.dispatch import define
from .base import LinearOperator


def _adjoint(matrix: Any, name: str | None = None) -> Any:
    return matrix.adjoint()


def _cholesky(input: Any, name: str | None = None) -> Any:
    return input.cholesky()


def _diag_part(
    input: Any,
    name: str = "diag_part",
    k: Any = 0,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Any:
    if k.__class__ is not int or k != 0:
        raise NotImplementedError("tf.linalg.diag_part of an operator with k")
    return input.diag_part()


def _det(input: Any, name: str | None = None) -> Any:
    return input.determinant()


def _inverse(input: Any, adjoint: bool = False, name: str | None = None) -> Any:
    return input.inverse().adjoint() if adjoint else input.inverse()


def _logdet(matrix: Any, name: str | None = None) -> Any:
    if matrix.is_positive_definite and matrix.is_self_adjoint:
        return real(matrix.log_abs_determinant())
    raise ValueError("Expected matrix to be self-adjoint positive definite.")


def _matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Any:
    if transpose_a or transpose_b:
        raise ValueError("Transposing not supported at this time.")
    if a_is_sparse or b_is_sparse:
        raise ValueError("Sparse methods not supported at this time.")
    if isinstance(a, LinearOperator):
        return a.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b)
    # A B is the adjoint of B^H A^H.
    return adjoint_of(b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a))


def _matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    if not isinstance(a, LinearOperator):
        raise ValueError("Passing a LinearOperator as the vector `b` is not supported.")
    if transpose_a:
        raise ValueError("Transposing not supported at this time.")
    if a_is_sparse or b_is_sparse:
        raise ValueError("Sparse methods not supported at this time.")
    return a.matvec(b, adjoint=adjoint_a)


def _solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Any:
    if not isinstance(matrix, LinearOperator):
        raise ValueError(
            "Passing in `matrix` as a Tensor and `rhs` as a LinearOperator is not supported."
        )
    return matrix.solve(rhs, adjoint=adjoint)


def _trace(x: Any, name: str | None = None) -> Any:
    return x.trace()


define(
    LinearOperator,
    adjoint=_adjoint,
    cholesky=_cholesky,
    det=_det,
    diag_part=_diag_part,
    inv=_inverse,
    logdet=_logdet,
    matmul=_matmul,
    matvec=_matvec,
    solve=_solve,
    trace=_trace,
)
