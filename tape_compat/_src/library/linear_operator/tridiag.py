"""The operator of a tridiagonal matrix."""

from __future__ import annotations

from typing import Any

from ...core.shapes import TensorShape
from ...diagnostics.assertions import assert_equal
from ...ops.diagonals import diag as diag_of, diag_part
from ...ops.elementwise import conj
from ...ops.joining import concat, stack
from ...ops.ordering import roll
from ...ops.products import adjoint as adjoint_of
from ...ops.repeating import broadcast_to
from ...ops.shapes import broadcast_dynamic_shape, broadcast_static_shape, shape
from ...ops.tridiagonal import tridiagonal_matmul, tridiagonal_solve
from ...values.convert import convert
from ..constructors import arguments
from . import hints
from .base import LinearOperator, public
from .support import adjoint_if, assert_real, kept, square_shape, square_shape_tensor

_FORMATS = ("compact", "matrix", "sequence")


@public
class LinearOperatorTridiag(LinearOperator):
    """The operator of a matrix with a diagonal, one above it and one below it.

    Args:
      diagonals: as `diagonals_format` says. "compact": [..., 3, n], the upper, main and lower
        diagonal; the last entry of the upper and the first of the lower are not read. "sequence":
        these as a list of three [..., n]. "matrix": [..., n, n], of which only the diagonals are
        read.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square, name: see `LinearOperator`.
    Raises: ValueError for another format.

    >>> import tape_compat as tf
    >>> diagonals = [[3.0, 4.0, 0.0], [1.0, -1.0, 2.0], [0.0, 6.0, 7.0]]
    >>> operator = tf.linalg.LinearOperatorTridiag(diagonals)
    >>> operator.to_dense().numpy().tolist()
    [[1.0, 3.0, 0.0], [6.0, -1.0, 4.0], [0.0, 7.0, 2.0]]
    """

    _composite_tensor_fields = ("diagonals", "diagonals_format")

    def __init__(
        self,
        diagonals: Any,
        diagonals_format: str = "compact",
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorTridiag",
    ) -> None:
        parameters = arguments(locals())
        if diagonals_format not in _FORMATS:
            raise ValueError(
                "Argument `diagonals_format` must be one of compact, matrix, or sequence. Received "
                f": {diagonals_format}."
            )
        self._diagonals_format = diagonals_format
        if diagonals_format == "sequence":
            self._diagonals: Any = [kept(diagonal) for diagonal in diagonals]
            dtype = self._diagonals[0].dtype
        else:
            self._diagonals = kept(diagonals)
            dtype = self._diagonals.dtype
        super().__init__(
            dtype=dtype,
            **hints.named(is_non_singular, is_self_adjoint, is_positive_definite, is_square),
            parameters=parameters,
            name=name,
        )

    @property
    def diagonals(self) -> Any:
        """The diagonals as they were given."""
        return self._diagonals

    @property
    def diagonals_format(self) -> str:
        """How `diagonals` is to be read."""
        return self._diagonals_format

    def _shape(self) -> TensorShape:
        if self.diagonals_format == "matrix":
            return self.diagonals.shape
        if self.diagonals_format == "compact":
            found = self.diagonals.shape
            return square_shape(found[:-2].concatenate(found[-1:]))
        upper, main, lower = (diagonal.shape for diagonal in self.diagonals)
        batch = broadcast_static_shape(upper[:-1], main[:-1])
        return square_shape(broadcast_static_shape(batch, lower[:-1]).concatenate(main[-1:]))

    def _shape_tensor(self) -> Any:
        if self.diagonals_format == "matrix":
            return shape(self.diagonals)
        if self.diagonals_format == "compact":
            return square_shape_tensor(convert(self.diagonals)[..., 0, :])
        upper, main, lower = (shape(diagonal) for diagonal in self.diagonals)
        batch = broadcast_dynamic_shape(upper[:-1], main[:-1])
        batch = broadcast_dynamic_shape(batch, lower[:-1])
        return concat([batch, main[-1:], main[-1:]], 0)

    def _three(self) -> tuple[Any, Any, Any]:
        """The upper, main and lower diagonal, each [..., n]."""
        if self.diagonals_format == "sequence":
            upper, main, lower = self.diagonals
            return upper, main, lower
        found = convert(self.diagonals)
        return found[..., 0, :], found[..., 1, :], found[..., 2, :]

    def _assert_self_adjoint(self) -> Any:
        if self.diagonals_format == "matrix":
            message = "Matrix was not equal to its adjoint."
            return assert_equal(self.diagonals, adjoint_of(self.diagonals), message=message)
        upper, main, lower = self._three()
        assert_real(
            main,
            "This tridiagonal operator contained non-zero imaginary values on the diagonal.",
        )
        return assert_equal(
            conj(roll(lower, shift=-1, axis=-1)[..., :-1]),
            upper[..., :-1],
            message="This tridiagonal operator has non-conjugate subdiagonal and superdiagonal.",
        )

    def _read(self, adjoint: bool) -> Any:
        """The diagonals of the matrix or of its adjoint, in the operator's format."""
        if not adjoint:
            return self.diagonals
        if self.diagonals_format == "matrix":
            return adjoint_of(self.diagonals)
        upper, main, lower = (conj(diagonal) for diagonal in self._three())
        three = [roll(lower, shift=-1, axis=-1), main, roll(upper, shift=1, axis=-1)]
        return three if self.diagonals_format == "sequence" else stack(three, axis=-2)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_if(x, adjoint_arg)
        return tridiagonal_matmul(self._read(adjoint), x, diagonals_format=self.diagonals_format)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = adjoint_if(rhs, adjoint_arg)
        diagonals = self._read(adjoint)
        whole = self.shape_tensor()
        batch = broadcast_dynamic_shape(whole[:-2], shape(rhs)[:-2])
        rhs = broadcast_to(rhs, concat([batch, shape(rhs)[-2:]], 0))
        if self.diagonals_format == "sequence":
            vectors = concat([batch, whole[-1:]], 0)
            diagonals = [broadcast_to(diagonal, vectors) for diagonal in diagonals]
        else:
            diagonals = broadcast_to(diagonals, concat([batch, shape(diagonals)[-2:]], 0))
        return tridiagonal_solve(diagonals, rhs, diagonals_format=self.diagonals_format)

    def _diag_part(self) -> Any:
        if self.diagonals_format == "matrix":
            return diag_part(self.diagonals)
        return broadcast_to(self._three()[1], self.shape_tensor()[:-1])

    def _to_dense(self) -> Any:
        if self.diagonals_format == "matrix":
            return convert(self.diagonals)
        vectors = self.shape_tensor()[:-1]
        packed = stack([broadcast_to(diagonal, vectors) for diagonal in self._three()], axis=-2)
        return diag_of(packed, k=(-1, 1), align="LEFT_RIGHT")

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> dict[str, Any]:
        return {"diagonals": [1, 1, 1] if self.diagonals_format == "sequence" else 2}
