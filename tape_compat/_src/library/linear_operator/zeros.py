"""The operator of a matrix of zeros."""

from __future__ import annotations

from typing import Any

from ...core import errors
from ...core.dtypes import as_dtype
from ...core.shapes import TensorShape
from ...ops.arithmetic import minimum
from ...ops.creation import ones, zeros
from ...ops.joining import concat, stack
from ...ops.shapes import shape
from ...values.convert import convert
from ..constructors import arguments
from . import hints
from .base import LinearOperator, public
from .support import (
    adjoint_if,
    assert_fits,
    check_size,
    known_batch,
    known_value,
    refuse_reference,
    sizes,
    with_batch,
)


@public
class LinearOperatorZeros(LinearOperator):
    """The operator that makes zeros of everything.

    Args:
      num_rows, num_columns: int, or integer tensors that are no Variables; as many columns as rows
        by default.
      batch_shape: a vector of sizes; what the operator is applied to is broadcast.
      dtype: default float32.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square, name: see `LinearOperator`.
      assert_proper_shapes: whether to check sizes that are not known beforehand.
    Raises: ValueError for a hint that is not true or a size that is none, TypeError for another
      dtype of sizes.

    >>> import tape_compat as tf
    >>> operator = tf.linalg.LinearOperatorZeros(2, 3, is_square=False, is_self_adjoint=False)
    >>> operator.matvec([1.0, 2.0, 3.0]).numpy().tolist()
    [0.0, 0.0]
    """

    _composite_tensor_fields = (
        "num_rows",
        "num_columns",
        "batch_shape",
        "dtype",
        "assert_proper_shapes",
    )
    _composite_tensor_prefer_static_fields = ("num_rows", "num_columns", "batch_shape")

    def __init__(
        self,
        num_rows: Any,
        num_columns: Any = None,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: bool | None = False,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = False,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorZeros",
    ) -> None:
        parameters = arguments(locals())
        self._assert_proper_shapes = assert_proper_shapes
        if not is_self_adjoint and is_square:
            raise ValueError("A zero operator is always self adjoint.")
        if is_non_singular:
            raise ValueError("A zero operator is always singular.")
        if is_positive_definite:
            raise ValueError("A zero operator is always not positive-definite.")
        super().__init__(
            dtype=as_dtype(dtype or "float32"),
            **hints.named(is_non_singular, is_self_adjoint, is_positive_definite, is_square),
            parameters=parameters,
            name=name,
        )
        self._set_sizes(num_rows, num_columns, batch_shape)

    def _set_sizes(self, num_rows: Any, num_columns: Any, batch_shape: Any) -> None:
        for name, value in (
            ("num_rows", num_rows),
            ("num_columns", num_columns),
            ("batch_shape", batch_shape),
        ):
            refuse_reference(value, name)
        self._num_rows = sizes(num_rows)
        self._num_columns = sizes(num_rows if num_columns is None else num_columns)
        check_size(self._num_rows, "num_rows")
        check_size(self._num_columns, "num_columns")
        rows, columns = (known_value(n) for n in (self._num_rows, self._num_columns))
        self._static = [None if n is None else int(n) for n in (rows, columns)]
        hint = self._is_square_set_or_implied_by_hints
        if hint and None not in self._static and rows != columns:
            raise ValueError(
                f"LinearOperatorZeros initialized as is_square=True, but got num_rows({rows}) != "
                f"num_columns({columns})"
            )
        self._batch_shape_arg = None
        if batch_shape is not None:
            self._batch_shape_arg = sizes(batch_shape)
            check_size(self._batch_shape_arg, "batch_shape", rank=1)

    def _shape(self) -> TensorShape:
        if self._batch_shape_arg is None:
            return TensorShape(self._static)
        known = known_value(self._batch_shape_arg)
        batch = TensorShape([None] * self._batch_shape_arg.shape[0] if known is None else known)
        return batch.concatenate(self._static)

    def _shape_tensor(self) -> Any:
        matrix = stack([self._num_rows, self._num_columns])
        if self._batch_shape_arg is None:
            return matrix
        return concat([self._batch_shape_arg, matrix], 0)

    def _assert_non_singular(self) -> Any:
        raise errors.InvalidArgumentError(None, None, "Zero operators are always non-invertible.")

    def _assert_positive_definite(self) -> Any:
        raise errors.InvalidArgumentError(
            None, None, "Zero operators are always non-positive definite."
        )

    def _assert_self_adjoint(self) -> Any:
        return None

    def _broadcast(self, x: Any) -> Any:
        return x if self._batch_shape_arg is None else with_batch(x, self)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_if(x, adjoint_arg)
        if self._assert_proper_shapes:
            assert_fits(self.H if adjoint else self, x)
        found = shape(x)
        rows = self._num_columns if adjoint else self._num_rows
        return self._broadcast(zeros(concat([found[:-2], [rows, found[-1]]], 0), x.dtype))

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        if not left_operator.is_square or not right_operator.is_square:
            raise ValueError(
                "Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` not "
                "supported at this time."
            )
        return left_operator

    def _determinant(self) -> Any:
        return zeros(known_batch(self), self.dtype)

    def _trace(self) -> Any:
        return zeros(known_batch(self), self.dtype)

    def _diag_part(self) -> Any:
        if self.shape.is_fully_defined():
            least = min(self.shape[-2:].as_list())  # type: ignore[type-var]
            return zeros(self.batch_shape.concatenate([least]), self.dtype)
        least = minimum(self._num_rows, self._num_columns)
        return zeros(concat([self.batch_shape_tensor(), [least]], 0), self.dtype)

    def add_to_tensor(  # type: ignore[override]  # as TensorFlow names it
        self, mat: Any, name: str = "add_to_tensor"
    ) -> Any:
        """`mat` [..., m, n] with the batch axes of the operator."""
        return self._broadcast(convert(mat))

    def _eigvals(self) -> Any:
        return self._diag_part()

    def __getitem__(self, slices: Any) -> LinearOperator:
        batch = shape(ones(known_batch(self))[slices])
        return LinearOperatorZeros(**{**self.parameters, "batch_shape": batch})
