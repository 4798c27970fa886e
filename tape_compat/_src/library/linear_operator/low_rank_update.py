"""An operator and a correction to it of low rank."""

from __future__ import annotations

from typing import Any

from ...core.shapes import TensorShape
from ...ops.casting import cast
from ...ops.diagonals import diag_part
from ...ops.elementwise import abs as absolute, conj, exp, log
from ...ops.joining import concat
from ...ops.products import matmul
from ...ops.reductions import reduce_sum
from ...ops.shapes import broadcast_dynamic_shape, broadcast_static_shape, expand_dims, shape
from ...ops.solvers import cholesky, cholesky_solve, det
from ...values.convert import convert
from ..constructors import arguments
from . import hints
from .base import LinearOperator, public
from .diagonal import LinearOperatorDiag
from .identity import LinearOperatorIdentity
from .support import LOGGER, check_dim, kept, same_batch, solve_broadcast, static_dim


@public
class LinearOperatorLowRankUpdate(LinearOperator):
    """The operator L + U D V^H of an operator L, with U and V of few columns and D diagonal.

    Args:
      base_operator: L, [..., m, n].
      u: [..., m, k].
      diag_update: [..., k], the diagonal of D; default ones.
      v: [..., n, k]; default `u`.
      is_diag_update_positive: whether D is promised to be positive.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square, name: see `LinearOperator`.
    Raises: ValueError for shapes that do not fit, or hints that contradict each other.

    Solutions and determinants cost as much as those of L and of a matrix [k, k], by the identity of
    Woodbury. If L is promised to be self-adjoint and positive definite, D positive, and there is no
    `v`, then so is the sum.

    >>> import tape_compat as tf
    >>> base = tf.linalg.LinearOperatorDiag([1.0, 2.0], is_positive_definite=True)
    >>> operator = tf.linalg.LinearOperatorLowRankUpdate(base, [[1.0], [1.0]])
    >>> operator.to_dense().numpy().tolist(), operator.is_positive_definite
    ([[2.0, 1.0], [1.0, 3.0]], True)
    """

    _composite_tensor_fields = ("base_operator", "u", "diag_update", "v", "is_diag_update_positive")
    _experimental_parameter_ndims_to_matrix_ndims = {
        "base_operator": 0,
        "u": 2,
        "diag_update": 1,
        "v": 2,
    }

    def __init__(
        self,
        base_operator: Any,
        u: Any,
        diag_update: Any = None,
        v: Any = None,
        is_diag_update_positive: bool | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowRankUpdate",
    ) -> None:
        parameters = arguments(locals())
        dtype = base_operator.dtype
        if diag_update is None:
            if is_diag_update_positive is False:
                raise ValueError(
                    "Default diagonal is the identity, which is positive.  However, user set "
                    "'is_diag_update_positive' to False."
                )
            is_diag_update_positive = True
        elif is_diag_update_positive and dtype.is_complex:
            LOGGER.warning(
                "Note: setting is_diag_update_positive with a complex dtype means that diagonal is "
                "real and positive."
            )
        self._use_cholesky = bool(
            base_operator.is_positive_definite
            and base_operator.is_self_adjoint
            and is_diag_update_positive
            and v is None
        )
        if base_operator.is_self_adjoint and v is None and not dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError(
                    "A = L + UDU^H, with L self-adjoint and D real diagonal.  Since UDU^H is "
                    "self-adjoint, this must be a self-adjoint operator."
                )
            is_self_adjoint = True
        if self._use_cholesky:
            if False in (is_positive_definite, is_self_adjoint, is_non_singular):
                raise ValueError("Arguments imply this is self-adjoint positive-definite operator.")
            is_positive_definite = is_self_adjoint = True
        self._u = kept(u)
        self._v = self._u if v is None else kept(v)
        self._diag_update = kept(diag_update)
        self._base_operator = base_operator
        self._is_diag_update_positive = is_diag_update_positive
        super().__init__(
            dtype=dtype,
            **hints.named(is_non_singular, is_self_adjoint, is_positive_definite, is_square),
            parameters=parameters,
            name=name,
        )
        if diag_update is None:
            columns = static_dim(self._u.shape, -1)
            columns = shape(self._u)[-1] if columns is None else columns
            self._diag_operator: Any = LinearOperatorIdentity(columns, dtype=dtype)
        else:
            self._diag_operator = LinearOperatorDiag(
                self._diag_update, is_positive_definite=is_diag_update_positive
            )
        self._check_shapes()

    def _check_shapes(self) -> None:
        both = broadcast_static_shape(self.u.shape, self.v.shape)
        batch = broadcast_static_shape(self.base_operator.batch_shape, both[:-2])
        check_dim(self.base_operator.domain_dimension, static_dim(both, -2))
        if self._diag_update is not None:
            check_dim(static_dim(both, -1), static_dim(self._diag_update.shape, -1))
            broadcast_static_shape(batch, self._diag_update.shape[:-1])

    @property
    def u(self) -> Any:
        """U as it was given."""
        return self._u

    @property
    def v(self) -> Any:
        """V as it was given."""
        return self._v

    @property
    def is_diag_update_positive(self) -> bool | None:
        """Whether D is promised to be positive."""
        return self._is_diag_update_positive

    @property
    def diag_update(self) -> Any:
        """The diagonal of D as it was given, None for the default."""
        return self._diag_update

    @property
    def diag_operator(self) -> Any:
        """D as an operator."""
        return self._diag_operator

    @property
    def base_operator(self) -> Any:
        """L."""
        return self._base_operator

    def _assert_self_adjoint(self) -> Any:
        if self.u is self.v and self.diag_update is None:
            return self.base_operator.assert_self_adjoint()
        return super()._assert_self_adjoint()

    def _shape(self) -> TensorShape:
        batch = self.base_operator.batch_shape
        for other in (self.diag_operator.batch_shape, self.u.shape[:-2], self.v.shape[:-2]):
            batch = broadcast_static_shape(batch, other)
        return batch.concatenate(self.base_operator.shape[-2:])

    def _shape_tensor(self) -> Any:
        batch = self.base_operator.batch_shape_tensor()
        others = self.diag_operator.batch_shape_tensor(), shape(self.u)[:-2], shape(self.v)[:-2]
        for other in others:
            batch = broadcast_dynamic_shape(batch, other)
        return concat([batch, self.base_operator.shape_tensor()[-2:]], 0)

    def _uv(self) -> tuple[Any, Any]:
        u = convert(self.u)
        return u, u if self.v is self.u else convert(self.v)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        left, right = self._uv()
        if adjoint:
            left, right = right, left
        inner = matmul(right, x, adjoint_a=True, adjoint_b=adjoint_arg)
        found = self.base_operator.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        return found + matmul(left, self.diag_operator.matmul(inner, adjoint=adjoint))

    def _capacitance(self, u: Any, v: Any, adjoint: bool = False) -> Any:
        """D^-1 + V^H L^-1 U, with the adjoints of D and L if these are used."""
        found = matmul(v, self.base_operator.solve(u, adjoint=adjoint), adjoint_a=True)
        inverse = self.diag_operator.inverse()
        inverse = inverse.adjoint() if adjoint else inverse
        if self.diag_operator.batch_shape.rank:
            found, _ = same_batch([found, inverse.to_dense()])
        return inverse.add_to_tensor(found)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        """(L + U D V^H)^-1 = L^-1 - L^-1 U (D^-1 + V^H L^-1 U)^-1 V^H L^-1."""
        if self.base_operator.is_non_singular is False:
            raise ValueError(
                "Solve not implemented unless this is a perturbation of a non-singular "
                "LinearOperator."
            )
        u, v = self._uv()
        if adjoint:
            u, v = v, u
        capacitance = self._capacitance(u, v, adjoint)
        found = self.base_operator.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        inner = matmul(v, found, adjoint_a=True)
        if self._use_cholesky:
            inner = cholesky_solve(cholesky(capacitance), inner)
        else:
            inner = solve_broadcast(capacitance, inner)
        return found - self.base_operator.solve(matmul(u, inner), adjoint=adjoint)

    def _determinant(self) -> Any:
        if self.is_positive_definite:
            return exp(self.log_abs_determinant())
        found = det(self._capacitance(*self._uv()))
        return found * self.diag_operator.determinant() * self.base_operator.determinant()

    def _log_abs_determinant(self) -> Any:
        capacitance = self._capacitance(*self._uv())
        if self._use_cholesky:
            found = 2 * reduce_sum(log(diag_part(cholesky(capacitance))), axis=[-1])
        else:
            found = log(absolute(det(capacitance)))
            if self.dtype.is_complex:
                found = cast(found, self.dtype)
        inner = self.diag_operator.log_abs_determinant()
        return found + inner + self.base_operator.log_abs_determinant()

    def _diag_part(self) -> Any:
        u, v = self._uv()
        product = u * conj(v)
        if self.diag_update is not None:
            product = product * expand_dims(self.diag_update, axis=-2)
        return reduce_sum(product, axis=-1) + self.base_operator.diag_part()
