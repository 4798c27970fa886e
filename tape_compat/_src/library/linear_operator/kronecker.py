"""The Kronecker product of operators."""

from __future__ import annotations

from typing import Any

from ...core import errors
from ...core.shapes import TensorShape
from ...ops.casting import cast
from ...ops.elementwise import conj
from ...ops.joining import concat
from ...ops.products import matrix_transpose
from ...ops.shapes import reshape, shape
from . import hints
from .base import LinearOperator, public
from .support import batch_of, batch_tensor_of, check_iterable, multiplied, static_dim


@public
class LinearOperatorKronecker(LinearOperator):
    """The Kronecker product of operators: each entry of the first times the second, and so on.

    Args:
      operators: a list of LinearOperators of one dtype.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square, name: see `LinearOperator`.
    Raises: ValueError for an empty list, or hints that contradict what follows from the operators;
      TypeError for several dtypes.

    >>> import tape_compat as tf
    >>> a = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> product = tf.linalg.LinearOperatorKronecker([a, tf.linalg.LinearOperatorIdentity(2)])
    >>> product.to_dense().numpy().tolist()[0]
    [1.0, 0.0, 2.0, 0.0]
    """

    _composite_tensor_fields = ("operators",)

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        given = hints.named(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        parameters = {"operators": operators, **given, "name": name}
        check_iterable(operators)
        operators = list(operators)
        if not operators:
            raise ValueError(
                f"Argument `operators` must be a list of >=1 operators. Received: {operators}."
            )
        self._operators = operators
        if any(operator.dtype != operators[0].dtype for operator in operators):
            listed = [str((operator.name, operator.dtype)) for operator in operators]
            raise TypeError(
                "Expected every operation in argument `operators` to have the same dtype. Received "
                f"{listed}."
            )
        known = {
            name: hints.implied(
                operators,
                name,
                parameters[name],
                f"The Kronecker product of {word} operators is always {word}. Expected argument "
                f"`{name}` to be True. Received: {parameters[name]}.",
            )
            for name, word in (
                ("is_non_singular", "non-singular"),
                ("is_self_adjoint", "self-adjoint"),
                ("is_positive_definite", "positive-definite"),
            )
        }
        super().__init__(
            dtype=operators[0].dtype,
            is_square=is_square,
            parameters=parameters,
            name=name or "_x_".join(operator.name for operator in operators),
            **known,
        )

    @property
    def operators(self) -> list[Any]:
        """The factors, in their order."""
        return self._operators

    def _shape(self) -> TensorShape:
        rows, columns = (
            multiplied([static_dim(operator.shape, axis) for operator in self.operators])
            for axis in (-2, -1)
        )
        return batch_of(self.operators).concatenate([rows, columns])

    def _shape_tensor(self) -> Any:
        rows = self.operators[0].range_dimension_tensor()
        columns = self.operators[0].domain_dimension_tensor()
        for operator in self.operators[1:]:
            rows = rows * operator.range_dimension_tensor()
            columns = columns * operator.domain_dimension_tensor()
        return concat([batch_tensor_of(self.operators), [rows, columns]], 0)

    def _of_each(self, method: str) -> list[Any]:
        return [getattr(operator, method)() for operator in self.operators]

    def _linop_adjoint(self) -> LinearOperator:
        return LinearOperatorKronecker(self._of_each("adjoint"), **hints.square_hints(self))

    def _linop_cholesky(self) -> LinearOperator:
        return LinearOperatorKronecker(
            self._of_each("cholesky"), is_non_singular=True, is_square=True
        )

    def _linop_inverse(self) -> LinearOperator:
        return LinearOperatorKronecker(self._of_each("inverse"), **hints.square_hints(self))

    def _applied(self, x: Any, apply: Any, out: Any, adjoint_arg: bool, given: Any) -> Any:
        """Each factor applied to the axis of `x` [..., n, r] that it belongs to.

        apply: called with a factor, and a matrix whose adjoint it is to be applied to. out: how
        many rows come of it. given: how many each factor takes.

        Columns are rows here, in which the last factor's axis is the last. A factor takes that axis
        away, and its result is put in front of the others.
        """
        is_complex = self.dtype.is_complex
        if not adjoint_arg:
            rows = matrix_transpose(x)
        else:
            rows = conj(x) if is_complex else x
        columns = shape(rows)[-2]
        for operator in reversed(self.operators):
            rows = reshape(rows, concat([shape(rows)[:-2], [-1, given(operator)]], 0))
            rows = apply(operator, conj(rows) if is_complex else rows)
        return reshape(rows, concat([shape(rows)[:-2], [out, columns]], 0))

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._applied(
            x,
            lambda operator, rows: operator.matmul(rows, adjoint=adjoint, adjoint_arg=True),
            self.domain_dimension_tensor() if adjoint else self.range_dimension_tensor(),
            adjoint_arg,
            lambda operator: (
                operator.range_dimension_tensor() if adjoint else operator.domain_dimension_tensor()
            ),
        )

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._applied(
            rhs,
            lambda operator, rows: operator.solve(rows, adjoint=adjoint, adjoint_arg=True),
            self.range_dimension_tensor(),
            adjoint_arg,
            lambda operator: operator.range_dimension_tensor(),
        )

    def _others(self, operator: Any) -> Any:
        """How many rows the other factors have together."""
        return self.domain_dimension_tensor() // operator.domain_dimension_tensor()

    def _determinant(self) -> Any:
        found = 1.0
        for operator in self.operators:
            found = found * operator.determinant() ** cast(self._others(operator), self.dtype)
        return found

    def _log_abs_determinant(self) -> Any:
        found = 0.0
        for operator in self.operators:
            part = operator.log_abs_determinant()
            found = part * cast(self._others(operator), part.dtype) + found
        return found

    def _trace(self) -> Any:
        found = 1.0
        for operator in self.operators:
            found = found * operator.trace()
        return found

    def _outer(self, vectors: list[Any]) -> Any:
        """All products of entries of vectors, the last vector's changing fastest."""
        found = vectors[0]
        for vector in vectors[1:]:
            found = found[..., :, None] * vector[..., None, :]
            found = reshape(found, concat([shape(found)[:-2], [-1]], 0))
        return found

    def _diag_part(self) -> Any:
        if not all(operator.is_square for operator in self.operators):
            return super()._diag_part()
        return self._outer(self._of_each("diag_part"))

    def _to_dense(self) -> Any:
        found, *others = self._of_each("to_dense")
        for other in others:
            product = found[..., :, None, :, None] * other[..., None, :, None, :]
            rows = shape(found)[-2] * shape(other)[-2]
            columns = shape(found)[-1] * shape(other)[-1]
            found = reshape(product, concat([shape(product)[:-4], [rows, columns]], 0))
        return found

    def _eigvals(self) -> Any:
        return self._outer(self._of_each("eigvals"))

    def _assert_each(self, method: str) -> None:
        if not all(operator.is_square for operator in self.operators):
            raise errors.InvalidArgumentError(
                None,
                None,
                "All Kronecker factors must be square for the product to be invertible. Expected "
                "hint `is_square` to be True for every operator in argument `operators`.",
            )
        self._of_each(method)

    def _assert_non_singular(self) -> Any:
        self._assert_each("assert_non_singular")

    def _assert_self_adjoint(self) -> Any:
        self._assert_each("assert_self_adjoint")

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> dict[str, Any]:
        return {"operators": [0] * len(self.operators)}
