"""The operator with blocks on its diagonal and below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.shapes import TensorShape
from ...ops.casting import cast
from ...ops.creation import zeros
from ...ops.joining import concat
from ...ops.shapes import shape
from ..constructors import arguments
from . import hints
from .addition import added
from .base import LinearOperator, public
from .blocks import Blocks
from .identity import LinearOperatorScaledIdentity
from .support import adjoint_if, batch_of, batch_tensor_of, check_iterable, same_batch, summed


@public
class LinearOperatorBlockLowerTriangular(Blocks):
    """The operator with blocks on its diagonal and below it, and zeros above.

    Args:
      operators: a list of rows, the first of one LinearOperator, the second of two, and so on, all
        of one dtype; the last of each row is square.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square, name: see `LinearOperator`.
    Raises: ValueError for an empty list, rows or blocks of the wrong size, or hints that contradict
      what follows from the operators; TypeError for several dtypes.

    >>> import tape_compat as tf
    >>> one, two = tf.linalg.LinearOperatorIdentity(1), tf.linalg.LinearOperatorFullMatrix([[2.0]])
    >>> operator = tf.linalg.LinearOperatorBlockLowerTriangular([[one], [two, one]])
    >>> operator.to_dense().numpy().tolist(), operator.trace().numpy().tolist()
    ([[1.0, 0.0], [2.0, 1.0]], 2.0)
    """

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorBlockLowerTriangular",
    ) -> None:
        parameters = arguments(locals())
        check_iterable(operators)
        for row in operators:
            check_iterable(row)
        operators = [list(row) for row in operators]
        if not operators:
            raise ValueError(
                f"Argument `operators` must be a list of >=1 operators. Received: {operators}."
            )
        self._operators = operators
        self._diagonal_operators = [row[-1] for row in operators]
        dtype = operators[0][0].dtype
        _check_dtypes(operators, dtype)
        is_non_singular = self._non_singular_hint(is_non_singular)
        _check_counts(operators)
        _check_sizes(operators)
        self._check_square(is_square)
        super().__init__(
            dtype=dtype,
            **hints.named(is_non_singular, is_self_adjoint, is_positive_definite, True),
            parameters=parameters,
            name=name,
        )

    def _non_singular_hint(self, hint: bool | None) -> bool | None:
        own = [operator.is_non_singular for operator in self._diagonal_operators]
        start = "A blockwise lower-triangular operator with"
        end = f"Expected argument `is_non_singular` to be True. Received: {hint}."
        if all(own):
            if hint is False:
                raise ValueError(
                    f"{start} non-singular operators on the main diagonal is always non-singular. "
                    f"{end}"
                )
            return True
        if False in own:
            if hint is True:
                raise ValueError(
                    f"{start} a singular operator on the main diagonal is always singular. {end}"
                )
            return False
        return None

    def _check_square(self, hint: bool | None) -> None:
        if hint is False:
            raise ValueError(
                "`LinearOperatorBlockLowerTriangular` must be square. Expected argument "
                f"`is_square` to be True. Received: {hint}."
            )
        for i, operator in enumerate(self._diagonal_operators):
            if operator.is_square is False:
                raise ValueError(
                    "Matrices on the diagonal (the final elements of each row-partition in the "
                    "`operators` list) must be square. Expected argument "
                    f"`operators[{i}][-1].is_square` to be True. Received: {operator.is_square}."
                )

    def _flat(self) -> list[Any]:
        return [operator for row in self.operators for operator in row]

    def _shape(self) -> TensorShape:
        matrix = [summed(self._sizes(False)), summed(self._sizes(True))]
        return batch_of(self._flat()).concatenate(matrix)

    def _shape_tensor(self) -> Any:
        matrix = [sum(self._size_tensors(False)), sum(self._size_tensors(True))]
        return concat([batch_tensor_of(self._flat()), matrix], 0)

    def _linop_inverse(self) -> LinearOperator:
        """By rows: the last row of the inverse is -D^-1 C A^-1 and D^-1, where A is what stands
        above, C the last row without its last block D."""
        *above, last = self.operators
        if not above:
            inverse = [last[0].inverse()]
            return LinearOperatorBlockLowerTriangular([inverse], **hints.square_hints(self))
        upper = LinearOperatorBlockLowerTriangular(above).inverse()
        corner = last[-1].inverse()
        minus = LinearOperatorScaledIdentity(
            corner.domain_dimension_tensor(), multiplier=cast(-1, self.dtype)
        )
        row = []
        for i in range(len(above)):
            parts = [
                last[j].matmul(upper.operators[j][i])  # type: ignore[attr-defined]
                for j in range(i, len(above))
            ]
            row.append(minus.matmul(corner.matmul(added(parts))))
        rows = [*upper.operators, [*row, corner]]  # type: ignore[attr-defined]
        return LinearOperatorBlockLowerTriangular(rows, **hints.square_hints(self))

    def _multiplied(self, blocks: list[Any], adjoint: bool, adjoint_arg: bool) -> list[Any]:
        count = len(self.operators)
        found = []
        for i in range(count):
            # Row i of the matrix, or of its adjoint, which are columns of it.
            places = range(i, count) if adjoint else range(i + 1)
            row = [self.operators[j][i] if adjoint else self.operators[i][j] for j in places]
            parts = [
                operator.matmul(blocks[j], adjoint=adjoint, adjoint_arg=adjoint_arg)
                for j, operator in zip(places, row)
            ]
            total = parts[0]
            for part in parts[1:]:
                total = total + part
            found.append(total)
        return found

    def _solved(self, blocks: list[Any], adjoint: bool, adjoint_arg: bool) -> list[Any]:
        blocks = [adjoint_if(block, adjoint_arg) for block in blocks]
        count = len(self.operators)
        found: dict[int, Any] = {}
        for i in reversed(range(count)) if adjoint else range(count):
            rest = blocks[i]
            for j in found:
                operator = self.operators[j][i] if adjoint else self.operators[i][j]
                rest = rest - operator.matmul(found[j], adjoint=adjoint)
            found[i] = self._diagonal_operators[i].solve(rest, adjoint=adjoint)
        return [found[i] for i in range(count)]

    def _determinant(self) -> Any:
        if all(operator.is_positive_definite for operator in self._diagonal_operators):
            return self._exp_determinant()
        return super()._determinant()

    def _to_dense(self) -> Any:
        flat = iter(same_batch([operator.to_dense() for operator in self._flat()]))
        columns = self.domain_dimension_tensor()
        rows, before = [], 0
        for row in self.operators:
            blocks = [next(flat) for _ in row]
            before = before + shape(blocks[-1])[-1]
            missing = concat([shape(blocks[0])[:-1], [columns - before]], 0)
            rows.append(concat([*blocks, zeros(missing, self.dtype)], -1))
        return concat(rows, -2)

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> dict[str, Any]:
        return {"operators": [[0] * len(row) for row in self.operators]}


def _check_dtypes(operators: Sequence[Sequence[Any]], dtype: Any) -> None:
    for i, row in enumerate(operators):
        if any(operator.dtype != dtype for operator in row):
            listed = [str((operator.name, operator.dtype)) for operator in row]
            raise TypeError(
                f"Expected all operators to have the same dtype.  Found {listed} in row {i} and "
                f"{dtype} in row 0."
            )


def _check_counts(operators: Sequence[Sequence[Any]]) -> None:
    for i, row in enumerate(operators):
        if len(row) != i + 1:
            raise ValueError(
                f"Argument `operators[{i}]` must contain `{i + 1}` blocks. Received: {len(row)} "
                "blocks."
            )


def _check_sizes(operators: Sequence[Sequence[Any]]) -> None:
    """Blocks in a column have as many columns, blocks in a row as many rows."""
    for i in range(1, len(operators)):
        for j in range(i):
            for k, m, which in ((i - 1, j, "domain_dimension"), (i, j + 1, "range_dimension")):
                own = getattr(operators[i][j], which)
                other = getattr(operators[k][m], which)
                if None not in (own.value, other.value) and own != other:
                    raise ValueError(
                        f"Argument `operators[{i}][{j}].{which}` ({own}) must be the same as "
                        f"`operators[{k}][{m}].{which}` ({other})."
                    )
