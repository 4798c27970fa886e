"""The identity, and multiples of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import as_dtype
from ...core.shapes import TensorShape
from ...diagnostics.assertions import assert_equal, assert_positive
from ...ops.casting import cast
from ...ops.comparison import equal
from ...ops.creation import ones, zeros, zeros_like
from ...ops.diagonals import diag_part, set_diag
from ...ops.elementwise import abs as absolute, conj, imag, log, real, sqrt
from ...ops.joining import concat, stack
from ...ops.selection import where
from ...ops.shapes import expand_dims, shape
from ...values.convert import convert
from ..constructors import arguments
from . import hints
from .base import LinearOperator, public
from .diagonal import LinearOperatorDiag
from .support import (
    adjoint_if,
    assert_fits,
    check_size,
    kept,
    known_batch,
    known_value,
    refuse_reference,
    sizes,
    with_batch,
)


class _Square(LinearOperator):
    """What the identity and its multiples share: a number of rows."""

    _num_rows: Any
    _assert_proper_shapes: bool

    def _set_num_rows(self, num_rows: Any) -> None:
        self._num_rows = sizes(num_rows)
        check_size(self._num_rows, "num_rows")
        known = known_value(self._num_rows)
        self._num_rows_static = None if known is None else int(known)

    def _matrix_shape(self) -> TensorShape:
        return TensorShape([self._num_rows_static, self._num_rows_static])

    def _matrix_shape_tensor(self) -> Any:
        return stack([self._num_rows, self._num_rows])

    def _count(self) -> Any:
        return cast(self._num_rows, self.dtype)

    def _ones_diag(self) -> Any:
        if self.shape.is_fully_defined():
            return ones(self.shape[:-1], self.dtype)
        return ones(self.shape_tensor()[:-1], self.dtype)

    def _prepared(self, x: Any, adjoint_arg: bool) -> Any:
        x = adjoint_if(x, adjoint_arg)
        if self._assert_proper_shapes:
            assert_fits(self, x)
        return x


@public
class LinearOperatorIdentity(_Square):
    """The operator that leaves everything as it is.

    Args:
      num_rows: int, or an integer tensor that is no Variable.
      batch_shape: a vector of sizes, so many identities; what they are applied to is broadcast.
      dtype: default float32.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square, name: see `LinearOperator`;
        all are true.
      assert_proper_shapes: whether to check sizes that are not known beforehand.
    Raises: ValueError for a hint that is not true or a size that is none, TypeError for another
      dtype of sizes.

    >>> import tape_compat as tf
    >>> operator = tf.linalg.LinearOperatorIdentity(2)
    >>> operator.add_to_tensor(tf.zeros([2, 2])).numpy().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    _composite_tensor_fields = ("num_rows", "batch_shape", "dtype", "assert_proper_shapes")
    _composite_tensor_prefer_static_fields = ("num_rows", "batch_shape")

    def __init__(
        self,
        num_rows: Any,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: bool | None = True,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = True,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorIdentity",
    ) -> None:
        parameters = arguments(locals())
        self._assert_proper_shapes = assert_proper_shapes
        for hint, word in (
            (is_self_adjoint, "self adjoint"),
            (is_non_singular, "non-singular"),
            (is_positive_definite, "positive-definite"),
            (is_square, "square"),
        ):
            if not hint:
                raise ValueError(f"An identity operator is always {word}.")
        super().__init__(
            dtype=as_dtype(dtype or "float32"),
            **hints.named(is_non_singular, is_self_adjoint, is_positive_definite, is_square),
            parameters=parameters,
            name=name,
        )
        refuse_reference(num_rows, "num_rows")
        refuse_reference(batch_shape, "batch_shape")
        self._set_num_rows(num_rows)
        self._batch_shape_arg = None
        if batch_shape is not None:
            self._batch_shape_arg = sizes(batch_shape)
            check_size(self._batch_shape_arg, "batch_shape", rank=1)

    def _shape(self) -> TensorShape:
        if self._batch_shape_arg is None:
            return self._matrix_shape()
        known = known_value(self._batch_shape_arg)
        batch = TensorShape([None] * self._batch_shape_arg.shape[0] if known is None else known)
        return batch.concatenate(self._matrix_shape())

    def _shape_tensor(self) -> Any:
        if self._batch_shape_arg is None:
            return self._matrix_shape_tensor()
        return concat([self._batch_shape_arg, self._matrix_shape_tensor()], 0)

    def _linop_adjoint(self) -> LinearOperator:
        return self

    def _linop_inverse(self) -> LinearOperator:
        return self

    def _linop_cholesky(self) -> LinearOperator:
        batch = self._batch_shape_arg
        return LinearOperatorIdentity(self._num_rows, batch_shape=batch, dtype=self.dtype)

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        return right_operator

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        return right_operator

    def _assert_non_singular(self) -> Any:
        return None

    def _assert_positive_definite(self) -> Any:
        return None

    def _assert_self_adjoint(self) -> Any:
        return None

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = self._prepared(x, adjoint_arg)
        return x if self._batch_shape_arg is None else with_batch(x, self)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Any:
        return ones(known_batch(self), self.dtype)

    def _log_abs_determinant(self) -> Any:
        return zeros(known_batch(self), self.dtype)

    def _trace(self) -> Any:
        return self._count() * ones(known_batch(self), self.dtype)

    def _diag_part(self) -> Any:
        return self._ones_diag()

    def add_to_tensor(  # type: ignore[override]  # as TensorFlow names it
        self, mat: Any, name: str = "add_to_tensor"
    ) -> Any:
        """The sum of the identity and `mat` [..., n, n]."""
        mat = convert(mat)
        return set_diag(mat, 1 + diag_part(mat))

    def _eigvals(self) -> Any:
        return self._ones_diag()

    def _cond(self) -> Any:
        return ones(known_batch(self), self.dtype)

    def __getitem__(self, slices: Any) -> LinearOperator:
        batch = shape(ones(known_batch(self))[slices])
        return LinearOperatorIdentity(**{**self.parameters, "batch_shape": batch})


@public
class LinearOperatorScaledIdentity(_Square):
    """The identity times a number.

    Args:
      num_rows: int, or an integer tensor that is no Variable.
      multiplier: [...], a number a matrix.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square, name: see `LinearOperator`.
      assert_proper_shapes: whether to check sizes that are not known beforehand.
    Raises: ValueError for hints that cannot be true or a size that is none, TypeError for another
      dtype of sizes.

    >>> import tape_compat as tf
    >>> operator = tf.linalg.LinearOperatorScaledIdentity(2, multiplier=3.0)
    >>> float(operator.determinant()), operator.matvec([1.0, 2.0]).numpy().tolist()
    (9.0, [3.0, 6.0])
    """

    _composite_tensor_fields = ("num_rows", "multiplier", "assert_proper_shapes")
    _composite_tensor_prefer_static_fields = ("num_rows",)
    _experimental_parameter_ndims_to_matrix_ndims = {"multiplier": 0}

    def __init__(
        self,
        num_rows: Any,
        multiplier: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorScaledIdentity",
    ) -> None:
        parameters = arguments(locals())
        self._assert_proper_shapes = assert_proper_shapes
        self._multiplier = kept(multiplier)
        if not self._multiplier.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        if not is_square:
            raise ValueError("A ScaledIdentity operator is always square.")
        refuse_reference(num_rows, "num_rows")
        super().__init__(
            dtype=self._multiplier.dtype,
            **hints.named(is_non_singular, is_self_adjoint, is_positive_definite, is_square),
            parameters=parameters,
            name=name,
        )
        self._set_num_rows(num_rows)

    @property
    def multiplier(self) -> Any:
        """The number a matrix, as it was given."""
        return self._multiplier

    def _shape(self) -> TensorShape:
        return self.multiplier.shape.concatenate(self._matrix_shape())

    def _shape_tensor(self) -> Any:
        return concat([shape(self.multiplier), self._matrix_shape_tensor()], 0)

    def _assert_non_singular(self) -> Any:
        return assert_positive(absolute(self.multiplier), message="LinearOperator was singular")

    def _assert_positive_definite(self) -> Any:
        message = "LinearOperator was not positive definite."
        return assert_positive(real(self.multiplier), message=message)

    def _assert_self_adjoint(self) -> Any:
        part = imag(self.multiplier)
        message = "LinearOperator was not self-adjoint"
        return assert_equal(zeros_like(part), part, message=message)

    def _of(self, multiplier: Any, known: dict[str, bool | None]) -> LinearOperator:
        return LinearOperatorScaledIdentity(self._num_rows, multiplier, **known)

    def _linop_adjoint(self) -> LinearOperator:
        multiplier = conj(self.multiplier) if self.dtype.is_complex else self.multiplier
        return self._of(multiplier, hints.square_hints(self))

    def _linop_inverse(self) -> LinearOperator:
        return self._of(1.0 / self.multiplier, hints.square_hints(self))

    def _linop_cholesky(self) -> LinearOperator:
        return self._of(sqrt(self.multiplier), dict.fromkeys(hints.hints_of(self), True))

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        known = hints.commuting(left_operator, right_operator)
        if isinstance(right_operator, LinearOperatorScaledIdentity):
            return left_operator._of(left_operator.multiplier * right_operator.multiplier, known)
        if isinstance(right_operator, LinearOperatorDiag):
            scale = expand_dims(left_operator.multiplier, -1)
            return LinearOperatorDiag(right_operator.diag * scale, **known)
        return super()._linop_matmul(left_operator, right_operator)

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        known = hints.commuting(left_operator, right_operator)
        if isinstance(right_operator, LinearOperatorScaledIdentity):
            return left_operator._of(right_operator.multiplier / left_operator.multiplier, known)
        if isinstance(right_operator, LinearOperatorDiag):
            scale = expand_dims(left_operator.multiplier, -1)
            return LinearOperatorDiag(right_operator.diag / scale, **known)
        return super()._linop_solve(left_operator, right_operator)

    def _matrix_of_multiplier(self, adjoint: bool) -> Any:
        found = expand_dims(expand_dims(self.multiplier, -1), -1)
        return conj(found) if adjoint else found

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._prepared(x, adjoint_arg) * self._matrix_of_multiplier(adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._prepared(rhs, adjoint_arg) / self._matrix_of_multiplier(adjoint)

    def _determinant(self) -> Any:
        return self.multiplier ** self._count()

    def _log_abs_determinant(self) -> Any:
        return cast(self._num_rows, self.dtype.real_dtype) * log(absolute(self.multiplier))

    def _trace(self) -> Any:
        return self.multiplier * self._count()

    def _diag_part(self) -> Any:
        return self._ones_diag() * expand_dims(self.multiplier, -1)

    def add_to_tensor(  # type: ignore[override]  # as TensorFlow names it
        self, mat: Any, name: str = "add_to_tensor"
    ) -> Any:
        """The sum of the operator's matrix and `mat` [..., n, n]."""
        mat = convert(mat)
        return set_diag(mat, expand_dims(self.multiplier, -1) + diag_part(mat))

    def _eigvals(self) -> Any:
        return self._diag_part()

    def _cond(self) -> Any:
        nan, one = (cast(x, self.dtype) for x in (np.nan, 1.0))
        return where(equal(self._multiplier, cast(0.0, self.dtype)), nan, one)
