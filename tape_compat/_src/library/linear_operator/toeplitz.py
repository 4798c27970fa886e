"""The operator of a Toeplitz matrix."""

from __future__ import annotations

from typing import Any

from ...core.shapes import TensorShape
from ...diagnostics.assertions import assert_equal
from ...ops.casting import cast
from ...ops.creation import ones, range as numbers, zeros_like
from ...ops.gather_scatter import gather
from ...ops.joining import concat
from ...ops.ordering import reverse
from ...ops.repeating import broadcast_to
from ...ops.shapes import broadcast_dynamic_shape, broadcast_static_shape, shape
from ...ops.signals.fourier import fft
from ...values.convert import convert
from ..constructors import arguments
from . import hints
from .base import LinearOperator, public
from .circulant import LinearOperatorCirculant
from .support import adjoint_if, as_complex, kept, square_shape, static_dim


@public
class LinearOperatorToeplitz(LinearOperator):
    """The operator of a matrix that is constant along each diagonal.

    Args:
      col: [..., n], the first column.
      row: [..., n], the first row; its first entry is not read.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square, name: see `LinearOperator`.
    Raises: ValueError for a rank of 0, sizes that differ, or a hint that it is not square.

    Products are made by Fourier transforms.

    >>> import tape_compat as tf
    >>> operator = tf.linalg.LinearOperatorToeplitz([1.0, 2.0, 3.0], [1.0, -4.0, -6.0])
    >>> operator.to_dense().numpy().tolist()
    [[1.0, -4.0, -6.0], [2.0, 1.0, -4.0], [3.0, 2.0, 1.0]]
    """

    _composite_tensor_fields = ("col", "row")
    _experimental_parameter_ndims_to_matrix_ndims = {"col": 1, "row": 1}

    def __init__(
        self,
        col: Any,
        row: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorToeplitz",
    ) -> None:
        parameters = arguments(locals())
        self._row = kept(row)
        self._col = kept(col)
        for which, x in (("row", self._row), ("col", self._col)):
            if x.shape.rank is not None and x.shape.rank < 1:
                raise ValueError(f"Argument {which} must have at least 1 dimension.  Found: {x}")
        rows, columns = static_dim(self._row.shape, -1), static_dim(self._col.shape, -1)
        if None not in (rows, columns) and rows != columns:
            raise ValueError("Expected square matrix, got row and col with mismatched dimensions.")
        if is_square is False:
            raise ValueError("Only square Toeplitz operators currently supported.")
        super().__init__(
            dtype=self._row.dtype,
            **hints.named(is_non_singular, is_self_adjoint, is_positive_definite, True),
            parameters=parameters,
            name=name,
        )

    @property
    def col(self) -> Any:
        """The first column as it was given."""
        return self._col

    @property
    def row(self) -> Any:
        """The first row as it was given."""
        return self._row

    def _shape(self) -> TensorShape:
        return square_shape(broadcast_static_shape(self.row.shape, self.col.shape))

    def _vector_shape(self) -> Any:
        return broadcast_dynamic_shape(shape(self.row), shape(self.col))

    def _shape_tensor(self) -> Any:
        found = self._vector_shape()
        return concat([found, found[-1:]], 0)

    def _assert_self_adjoint(self) -> Any:
        message = "row and col are not the same, and so this operator is not self-adjoint."
        return assert_equal(self.row, self.col, message=message)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        """The matrix is a corner of a circulant one of twice its size."""
        x = adjoint_if(x, adjoint_arg)
        whole = self._vector_shape()
        col = broadcast_to(convert(self.col), whole)
        row = broadcast_to(convert(self.row), whole)
        column = concat([col, zeros_like(col[..., :1]), reverse(row[..., 1:], axis=[-1])], -1)
        circulant = LinearOperatorCirculant(fft(as_complex(column)), input_output_dtype=self.dtype)
        found = circulant.matmul(concat([x, zeros_like(x)], -2), adjoint=adjoint)
        return found[..., : whole[-1], :]

    def _trace(self) -> Any:
        return cast(self.domain_dimension_tensor(), self.dtype) * self._entry()[..., 0]

    def _entry(self) -> Any:
        return broadcast_to(convert(self.col), self._vector_shape())[..., :1]

    def _diag_part(self) -> Any:
        return self._entry() * ones([self.domain_dimension_tensor()], self.dtype)

    def _to_dense(self) -> Any:
        whole = self._vector_shape()
        row, col = broadcast_to(convert(self.row), whole), broadcast_to(convert(self.col), whole)
        entries = concat([reverse(col, axis=[-1]), row[..., 1:]], -1)
        n = whole[-1]
        return gather(entries, numbers(n) + numbers(n - 1, -1, -1)[..., None], axis=-1)
