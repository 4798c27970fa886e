"""Sums of operators, as simple as their terms are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ops.creation import ones
from .base import LinearOperator
from .dense import LinearOperatorFullMatrix, LinearOperatorLowerTriangular
from .diagonal import LinearOperatorDiag
from .identity import LinearOperatorIdentity, LinearOperatorScaledIdentity
from .support import known_batch

_IDENTITIES = (LinearOperatorIdentity, LinearOperatorScaledIdentity)
_DIAGONAL = (*_IDENTITIES, LinearOperatorDiag)
_TRIANGULAR = (*_DIAGONAL, LinearOperatorLowerTriangular)


def added(operators: Sequence[Any]) -> LinearOperator:
    """The sum of operators: a multiple of the identity, diagonal or triangular if all terms are."""
    found, *others = operators
    for other in others:
        found = _add(found, other)
    return found


def _add(a: Any, b: Any) -> LinearOperator:
    known = {
        "is_self_adjoint": a.is_self_adjoint and b.is_self_adjoint,
        "is_positive_definite": a.is_positive_definite and b.is_positive_definite,
    }
    known["is_non_singular"] = True if known["is_positive_definite"] else None
    if _both(a, b, _IDENTITIES):
        scale = _multiplier(a) + _multiplier(b)
        return LinearOperatorScaledIdentity(a.range_dimension_tensor(), scale, **known)
    if _both(a, b, _DIAGONAL):
        return LinearOperatorDiag(a.diag_part() + b.diag_part(), **known)
    simple, other = (a, b) if isinstance(a, _DIAGONAL) else (b, a)
    dense = simple.to_dense() + other.to_dense()
    if _both(a, b, _TRIANGULAR):
        return LinearOperatorLowerTriangular(dense, **known)
    return LinearOperatorFullMatrix(dense, **known)


def _both(a: Any, b: Any, classes: tuple[type, ...]) -> bool:
    return isinstance(a, classes) and isinstance(b, classes)


def _multiplier(operator: Any) -> Any:
    if isinstance(operator, LinearOperatorScaledIdentity):
        return operator.multiplier
    return ones(known_batch(operator), operator.dtype)
