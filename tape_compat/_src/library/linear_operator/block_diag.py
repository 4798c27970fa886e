"""The operator with blocks on its diagonal and nothing else."""

from __future__ import annotations

from typing import Any

from ...core.shapes import TensorShape
from ...ops.creation import zeros
from ...ops.joining import concat
from ...ops.shapes import shape
from . import hints
from .base import LinearOperator, public
from .blocks import Blocks
from .support import (
    batch_of,
    batch_tensor_of,
    check_iterable,
    check_same_dtypes,
    same_batch,
    summed,
)


@public
class LinearOperatorBlockDiag(Blocks):
    """The operator with blocks on its diagonal and zeros elsewhere: each acts on a part of its own.

    Args:
      operators: a list of LinearOperators of one dtype.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square, name: see `LinearOperator`.
    Raises: ValueError for an empty list, or hints that contradict what follows from the operators;
      TypeError for several dtypes.

    Products, solutions, adjoints, inverses and Cholesky factors are block diagonal operators.

    >>> import tape_compat as tf
    >>> parts = [tf.linalg.LinearOperatorIdentity(1), tf.linalg.LinearOperatorDiag([2.0, 3.0])]
    >>> operator = tf.linalg.LinearOperatorBlockDiag(parts)
    >>> operator.matvec([1.0, 1.0, 1.0]).numpy().tolist()
    [1.0, 2.0, 3.0]
    >>> [x.numpy().tolist() for x in operator.matvec([[5.0], [1.0, 1.0]])]
    [[5.0], [2.0, 3.0]]
    """

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ) -> None:
        given = hints.named(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        parameters = {"operators": operators, **given, "name": name}
        check_iterable(operators)
        operators = list(operators)
        if not operators:
            raise ValueError(f"Expected a non-empty list of operators. Found: {operators}")
        self._operators = operators
        self._diagonal_operators = operators
        dtype = check_same_dtypes(operators)
        known = {
            name: hints.implied(
                operators,
                name,
                parameters[name],
                f"The direct sum of {word} operators is always {word}.",
            )
            for name, word in (
                ("is_non_singular", "non-singular"),
                ("is_self_adjoint", "self-adjoint"),
                ("is_positive_definite", "positive definite"),
            )
        }
        super().__init__(
            dtype=dtype,
            is_square=is_square,
            parameters=parameters,
            name=name or "_ds_".join(operator.name for operator in operators),
            **known,
        )

    def _shape(self) -> TensorShape:
        matrix = [summed(self._sizes(True)), summed(self._sizes(False))]
        return batch_of(self.operators).concatenate(matrix)

    def _shape_tensor(self) -> Any:
        matrix = [sum(self._size_tensors(True)), sum(self._size_tensors(False))]
        return concat([batch_tensor_of(self.operators), matrix], 0)

    # Other operators.

    def _operands(self, other: Any, adjoint: bool, adjoint_arg: bool, name: str) -> tuple[Any, Any]:
        left, right = super()._operands(other, adjoint, adjoint_arg, "x")
        if isinstance(right, LinearOperatorBlockDiag):
            if len(left.operators) != len(right.operators):
                what = "multiply two `LinearOperatorBlockDiag`s together"
                what = what if name == "x" else "solve `LinearOperatorBlockDiag`"
                raise ValueError(f"Can not efficiently {what} when number of blocks differ.")
            for a, b in zip(left.operators, right.operators):
                sizes = a.domain_dimension, b.range_dimension
                if None not in (sizes[0].value, sizes[1].value) and sizes[0] != sizes[1]:
                    raise ValueError(
                        f"Blocks are incompatible. Expected `x` to have dimension {sizes[0]} but "
                        f"got {sizes[1]}."
                    )
        return left, right

    def _linop_adjoint(self) -> LinearOperator:
        blocks = self._of_diagonal("adjoint")
        return LinearOperatorBlockDiag(
            blocks, **{**hints.hints_of(self), "is_square": self.is_square}
        )

    def _linop_cholesky(self) -> LinearOperator:
        blocks = self._of_diagonal("cholesky")
        return LinearOperatorBlockDiag(blocks, is_non_singular=True, is_square=True)

    def _linop_inverse(self) -> LinearOperator:
        return LinearOperatorBlockDiag(self._of_diagonal("inverse"), **hints.square_hints(self))

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        if not isinstance(right_operator, LinearOperatorBlockDiag):
            return super()._linop_matmul(left_operator, right_operator)
        return LinearOperatorBlockDiag(
            [a.matmul(b) for a, b in zip(left_operator.operators, right_operator.operators)],
            is_non_singular=hints.non_singular(left_operator, right_operator),
            is_square=True,
        )

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        if not isinstance(right_operator, LinearOperatorBlockDiag):
            return super()._linop_solve(left_operator, right_operator)
        return LinearOperatorBlockDiag(
            [a.solve(b) for a, b in zip(left_operator.operators, right_operator.operators)],
            is_non_singular=hints.non_singular(left_operator, right_operator),
            is_square=True,
        )

    # Products and solutions.

    def _multiplied(self, blocks: list[Any], adjoint: bool, adjoint_arg: bool) -> list[Any]:
        return [
            operator.matmul(block, adjoint=adjoint, adjoint_arg=adjoint_arg)
            for operator, block in zip(self.operators, blocks)
        ]

    def _solved(self, blocks: list[Any], adjoint: bool, adjoint_arg: bool) -> list[Any]:
        return [
            operator.solve(block, adjoint=adjoint, adjoint_arg=adjoint_arg)
            for operator, block in zip(self.operators, blocks)
        ]

    # Numbers.

    def _check_blocks(self, what: str) -> None:
        if not all(operator.is_square for operator in self.operators):
            raise NotImplementedError(
                f"`{what}` not implemented for an operator whose blocks are not square."
            )

    def _diag_part(self) -> Any:
        self._check_blocks("diag_part")
        return super()._diag_part()

    def _trace(self) -> Any:
        self._check_blocks("trace")
        return super()._trace()

    def _eigvals(self) -> Any:
        self._check_blocks("eigvals")
        return super()._eigvals()

    def _to_dense(self) -> Any:
        rows, before = [], 0
        columns = self.domain_dimension_tensor()
        for block in same_batch(self._of_diagonal("to_dense")):
            edge, width = shape(block)[:-1], shape(block)[-1]
            left = zeros(concat([edge, [before]], 0), self.dtype)
            before = before + width
            right = zeros(concat([edge, [columns - before]], 0), self.dtype)
            rows.append(concat([left, block, right], -1))
        return concat(rows, -2)

    def _assert_self_adjoint(self) -> Any:
        self._of_diagonal("assert_self_adjoint")

    def _assert_positive_definite(self) -> Any:
        self._of_diagonal("assert_positive_definite")

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> dict[str, Any]:
        return {"operators": [0] * len(self.operators)}
