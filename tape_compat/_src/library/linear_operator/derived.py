"""Operators made of one or several others: adjoints, inverses and products."""

from __future__ import annotations

from typing import Any

from ...core.shapes import TensorShape
from ...ops.elementwise import conj, sign
from ...ops.joining import concat
from ...ops.products import adjoint as adjoint_of
from ...ops.shapes import expand_dims
from ..constructors import arguments
from . import hints
from .base import LinearOperator, public
from .dense import LinearOperatorLowerTriangular
from .support import (
    batch_of,
    batch_tensor_of,
    check_dim,
    check_iterable,
    check_same_dtypes,
    static_dim,
)


class _OfOne(LinearOperator):
    """What is made of one operator."""

    _operator: Any

    _composite_tensor_fields = ("operator",)
    _experimental_parameter_ndims_to_matrix_ndims = {"operator": 0}

    def _start(self, operator: Any, kind: str, suffix: str, parameters: dict[str, Any]) -> None:
        self._operator = operator
        names = ("is_square", "is_non_singular", "is_self_adjoint", "is_positive_definite")
        given = {name: parameters[name] for name in names}
        LinearOperator.__init__(
            self,
            dtype=operator.dtype,
            parameters=parameters,
            name=parameters["name"] or operator.name + suffix,
            **hints.combined_as(operator, kind, given),
        )

    @property
    def operator(self) -> Any:
        """The operator that this one is made of."""
        return self._operator

    def _assert_non_singular(self) -> Any:
        return self.operator.assert_non_singular()

    def _assert_positive_definite(self) -> Any:
        return self.operator.assert_positive_definite()

    def _assert_self_adjoint(self) -> Any:
        return self.operator.assert_self_adjoint()

    def _cond(self) -> Any:
        return self.operator.cond()


@public
class LinearOperatorAdjoint(_OfOne):
    """The conjugate transpose of an operator.

    Args:
      operator: any LinearOperator.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square, name: see `LinearOperator`;
        by default those of the operator.
    Raises: ValueError if a hint contradicts the operator's.

    >>> import tape_compat as tf
    >>> operator = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> tf.linalg.LinearOperatorAdjoint(operator).to_dense().numpy().tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    """

    def __init__(
        self,
        operator: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        given = hints.named(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        parameters = {"operator": operator, **given, "name": name}
        self._start(operator, "adjoint", "_adjoint", parameters)

    def _linop_adjoint(self) -> LinearOperator:
        return self.operator

    def _shape(self) -> TensorShape:
        found = self.operator.shape
        if found.rank is None:
            return found
        return found[:-2].concatenate([found[-1], found[-2]])

    def _shape_tensor(self) -> Any:
        found = self.operator.shape_tensor()
        return concat([found[:-2], [found[-1], found[-2]]], 0)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return self.operator.matvec(x, adjoint=not adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs: Any, adjoint: bool = False) -> Any:
        return self.operator.solvevec(rhs, adjoint=not adjoint)

    def _conjugate(self, x: Any) -> Any:
        return x if self.is_self_adjoint else conj(x)

    def _determinant(self) -> Any:
        return self._conjugate(self.operator.determinant())

    def _log_abs_determinant(self) -> Any:
        return self.operator.log_abs_determinant()

    def _trace(self) -> Any:
        return self._conjugate(self.operator.trace())

    def _to_dense(self) -> Any:
        dense = self.operator.to_dense()
        return dense if self.is_self_adjoint else adjoint_of(dense)

    def _eigvals(self) -> Any:
        return self._conjugate(self.operator.eigvals())


@public
class LinearOperatorInversion(_OfOne):
    """The inverse of an operator: a product with it is a solution of the operator's.

    Args:
      operator: a LinearOperator that is square.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square, name: see `LinearOperator`;
        by default those of the operator.
    Raises: ValueError if the operator is known to have no inverse, or a hint contradicts its.

    >>> import tape_compat as tf
    >>> operator = tf.linalg.LinearOperatorFullMatrix([[2.0, 0.0], [0.0, 4.0]])
    >>> tf.linalg.LinearOperatorInversion(operator).matvec([2.0, 2.0]).numpy().tolist()
    [1.0, 0.5]
    """

    def __init__(
        self,
        operator: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        given = hints.named(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        parameters = {"operator": operator, **given, "name": name}
        for hint in ("is_non_singular", "is_square"):
            own, given = getattr(operator, hint), parameters[hint]
            if own is False or given is False:
                raise ValueError(
                    f"Argument `{hint}` or argument `operator` must have supplied hint `{hint}` "
                    f"equal to `True` or `None`. Found `operator.{hint}`: {own}, `{hint}`: {given}."
                )
        self._start(operator, "inverse", "_inv", parameters)

    def _linop_inverse(self) -> LinearOperator:
        return self.operator

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> Any:
        return left_operator.operator.matmul(right_operator)

    def _shape(self) -> TensorShape:
        return self.operator.shape

    def _shape_tensor(self) -> Any:
        return self.operator.shape_tensor()

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Any:
        return 1.0 / self.operator.determinant()

    def _log_abs_determinant(self) -> Any:
        return -1.0 * self.operator.log_abs_determinant()

    def _eigvals(self) -> Any:
        return 1.0 / self.operator.eigvals()


@public
class LinearOperatorComposition(LinearOperator):
    """The product of operators: the last is applied first.

    Args:
      operators: a list of LinearOperators of one dtype, whose sizes fit.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square, name: see `LinearOperator`.
    Raises: ValueError for an empty list, sizes that do not fit, or hints that contradict what
      follows from the operators; TypeError for several dtypes.

    >>> import tape_compat as tf
    >>> a = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> product = tf.linalg.LinearOperatorComposition([a, a])
    >>> product.to_dense().numpy().tolist()
    [[7.0, 10.0], [15.0, 22.0]]
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
        parameters = arguments(locals())
        check_iterable(operators)
        operators = list(operators)
        if not operators:
            raise ValueError(f"Expected a non-empty list of operators. Found: {operators}")
        self._operators = operators
        dtype = check_same_dtypes(operators)
        is_non_singular = hints.implied(
            operators,
            "is_non_singular",
            is_non_singular,
            "The composition of non-singular operators is always non-singular.",
        )
        if hints.is_aat_form(operators):
            wrong = "The user provided an incorrect `False` hint."
            form = "have the form A @ A.H, hence it must be"
            if is_square is False:
                raise ValueError(f"The composition was determined {form} square. {wrong}")
            is_square = True
            if is_non_singular and is_positive_definite is False:
                raise ValueError(
                    f"The composition was determined to be non-singular and {form} "
                    f"positive-definite. {wrong}"
                )
            is_positive_definite = True if is_non_singular else is_positive_definite
            is_self_adjoint = _self_adjoint(is_self_adjoint)
        elif len(operators) == 1 and operators[0].is_self_adjoint:
            is_self_adjoint = _self_adjoint(is_self_adjoint)
        super().__init__(
            dtype=dtype,
            **hints.named(is_non_singular, is_self_adjoint, is_positive_definite, is_square),
            parameters=parameters,
            name=name or "_o_".join(operator.name for operator in operators),
        )

    @property
    def operators(self) -> list[Any]:
        """The operators of the product, in its order."""
        return self._operators

    def _shape(self) -> TensorShape:
        for left, right in zip(self.operators, self.operators[1:]):
            check_dim(left.domain_dimension, static_dim(right.shape, -2))
        ends = self.operators[0].shape, self.operators[-1].shape
        return batch_of(self.operators).concatenate(
            [static_dim(ends[0], -2), static_dim(ends[1], -1)]
        )

    def _shape_tensor(self) -> Any:
        matrix = [
            self.operators[0].range_dimension_tensor(),
            self.operators[-1].domain_dimension_tensor(),
        ]
        return concat([batch_tensor_of(self.operators), matrix], 0)

    def _linop_cholesky(self) -> LinearOperator:
        """L itself for a product L L^H of a lower triangular operator, with a positive diagonal."""
        first = self.operators[0]
        if (
            len(self.operators) != 2
            or not hints.is_aat_form(self.operators)
            or not isinstance(first, LinearOperatorLowerTriangular)
        ):
            return super()._linop_cholesky()
        if first.is_positive_definite:
            return first
        signs = expand_dims(sign(first.diag_part()), axis=-2)
        return LinearOperatorLowerTriangular(
            first.tril / signs,
            is_non_singular=first.is_non_singular,
            is_self_adjoint=first.is_self_adjoint,
            is_square=True,
        )

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        first, *others = self.operators if adjoint else reversed(self.operators)
        found = first.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for operator in others:
            found = operator.matmul(found, adjoint=adjoint)
        return found

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        first, *others = reversed(self.operators) if adjoint else self.operators
        found = first.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for operator in others:
            found = operator.solve(found, adjoint=adjoint)
        return found

    def _determinant(self) -> Any:
        found = self.operators[0].determinant()
        for operator in self.operators[1:]:
            found = found * operator.determinant()
        return found

    def _log_abs_determinant(self) -> Any:
        found = self.operators[0].log_abs_determinant()
        for operator in self.operators[1:]:
            found = found + operator.log_abs_determinant()
        return found

    def _assert_non_singular(self) -> Any:
        if not all(operator.is_square for operator in self.operators):
            return super()._assert_non_singular()
        for operator in self.operators:
            operator.assert_non_singular()
        return None

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> dict[str, Any]:
        return {"operators": [0] * len(self.operators)}


def _self_adjoint(hint: bool | None) -> bool:
    if hint is False:
        raise ValueError(
            "The composition was determined to be self-adjoint but user provided incorrect `False` "
            "hint."
        )
    return True
