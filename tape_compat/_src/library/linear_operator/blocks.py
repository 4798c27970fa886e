"""Operators made of blocks: what they are applied to may be a tensor, or a list of one a block."""

from __future__ import annotations

from typing import Any

from ...ops.elementwise import exp
from ...ops.joining import concat
from ...ops.shapes import expand_dims, squeeze
from ..version1.dimension import Dimension
from .base import LinearOperator
from .support import in_blocks, is_blockwise, same_batch, static_dim, summed


class Blocks(LinearOperator):
    """What operators with square or other blocks on their diagonal share."""

    _diagonal_operators: list[Any]
    _operators: list[Any]

    _composite_tensor_fields = ("operators",)

    @property
    def operators(self) -> list[Any]:
        """The blocks as they were given."""
        return self._operators

    def _sizes(self, rows: bool) -> list[int | None]:
        """How many rows or columns each block of the diagonal has."""
        axis = -2 if rows else -1
        return [static_dim(operator.shape, axis) for operator in self._diagonal_operators]

    def _size_tensors(self, rows: bool) -> list[Any]:
        return [
            operator.range_dimension_tensor() if rows else operator.domain_dimension_tensor()
            for operator in self._diagonal_operators
        ]

    def _in_blocks(self, arg: Any, rows: bool, axis: int) -> tuple[list[Any], bool]:
        """An argument in blocks, and whether it was given so.

        rows: whether its sizes are those of the matrix's rows. axis: where they are.
        """
        dims = self._sizes(rows)
        if is_blockwise(dims, arg, axis):
            given = [
                block
                if isinstance(block, LinearOperator)
                else self._argument(block, Dimension(size), axis)
                for block, size in zip(arg, dims)
            ]
            return given, True
        x = self._argument(arg, Dimension(summed(dims)), axis)
        return in_blocks(dims, lambda: self._size_tensors(rows), x, axis), False

    def _joined(self, blocks: list[Any], blockwise: bool) -> Any:
        return blocks if blockwise else concat(same_batch(blocks), -2)

    def matmul(
        self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul"
    ) -> Any:
        """The product of the operator and `x`: a tensor, an operator, or a list of one a block.

        Arguments and errors as in `LinearOperator.matmul`. Returns: a list if `x` is one.
        """
        if isinstance(x, LinearOperator):
            return self._linop_matmul(*self._operands(x, adjoint, adjoint_arg, "x"))
        return self._matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        blocks, blockwise = self._in_blocks(x, adjoint, -1 if adjoint_arg else -2)
        return self._joined(self._multiplied(blocks, adjoint, adjoint_arg), blockwise)

    def _multiplied(self, blocks: list[Any], adjoint: bool, adjoint_arg: bool) -> list[Any]:
        raise NotImplementedError(f"{type(self).__name__}._multiplied")

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        """The product of the operator and vectors: a tensor, or a list of one a block."""
        blocks, blockwise = self._in_blocks(x, adjoint, -1)
        columns = [expand_dims(block, -1) for block in blocks]
        found = self._joined(self._multiplied(columns, adjoint, False), blockwise)
        return [squeeze(y, -1) for y in found] if blockwise else squeeze(found, -1)

    def solve(
        self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve"
    ) -> Any:
        """X with A X = `rhs`: a tensor, an operator, or a list of one a block.

        Arguments and errors as in `LinearOperator.solve`. Returns: a list if `rhs` is one.
        """
        self._check_solvable()
        if isinstance(rhs, LinearOperator):
            return self._linop_solve(*self._operands(rhs, adjoint, adjoint_arg, "rhs"))
        return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        blocks, blockwise = self._in_blocks(rhs, not adjoint, -1 if adjoint_arg else -2)
        return self._joined(self._solved(blocks, adjoint, adjoint_arg), blockwise)

    def _solved(self, blocks: list[Any], adjoint: bool, adjoint_arg: bool) -> list[Any]:
        raise NotImplementedError(f"{type(self).__name__}._solved")

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Any:
        """The vectors x with A x = `rhs`: a tensor, or a list of one a block."""
        blocks, blockwise = self._in_blocks(rhs, not adjoint, -1)
        self._check_solvable()
        columns = [expand_dims(block, -1) for block in blocks]
        found = self._joined(self._solved(columns, adjoint, False), blockwise)
        return [squeeze(y, -1) for y in found] if blockwise else squeeze(found, -1)

    def _of_diagonal(self, method: str) -> list[Any]:
        return [getattr(operator, method)() for operator in self._diagonal_operators]

    def _vectors(self, method: str) -> Any:
        """What a method gives for the blocks of the diagonal, [..., n_i], one after the other."""
        columns = [expand_dims(vector, -1) for vector in self._of_diagonal(method)]
        return squeeze(concat(same_batch(columns), -2), -1)

    def _determinant(self) -> Any:
        found, *others = self._of_diagonal("determinant")
        for other in others:
            found = found * other
        return found

    def _sum(self, method: str) -> Any:
        found, *others = self._of_diagonal(method)
        for other in others:
            found = found + other
        return found

    def _log_abs_determinant(self) -> Any:
        return self._sum("log_abs_determinant")

    def _trace(self) -> Any:
        return self._sum("trace")

    def _diag_part(self) -> Any:
        return self._vectors("diag_part")

    def _eigvals(self) -> Any:
        return self._vectors("eigvals")

    def _assert_non_singular(self) -> Any:
        self._of_diagonal("assert_non_singular")

    def _exp_determinant(self) -> Any:
        return exp(self._log_abs_determinant())
