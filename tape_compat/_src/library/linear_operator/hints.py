"""What is promised of operators: how hints go together, and what they say of products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

#: The names that constructors give to hints, in the order of `named`.
NAMES = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")


def named(*given: bool | None) -> dict[str, bool | None]:
    """Four hints by their names."""
    return dict(zip(NAMES, given, strict=True))


def hints_of(operator: Any) -> dict[str, bool | None]:
    """The hints of an operator, by the names that constructors give them."""
    return {name: getattr(operator, name) for name in NAMES}


def square_hints(operator: Any) -> dict[str, bool | None]:
    """The hints of an operator that is square."""
    return {**hints_of(operator), "is_square": True}


def combined(operator: Any, name: str, provided: bool | None, message: str) -> bool | None:
    """A hint that an operator and the user both may give. Raises: ValueError if they disagree."""
    own = getattr(operator, name)
    if (own is False and provided) or (own and provided is False):
        raise ValueError(message)
    if own or provided:
        return True
    return False if own is False or provided is False else None


def combined_as(operator: Any, kind: str, given: dict[str, bool | None]) -> dict[str, bool | None]:
    """The hints of an operator's `kind`, "adjoint" or "inverse": they are the operator's."""
    words = {
        "is_square": "square",
        "is_non_singular": "non-singular",
        "is_self_adjoint": "self-adjoint",
        "is_positive_definite": "positive-definite",
    }
    return {
        name: combined(
            operator,
            name,
            given[name],
            f"An operator is {word} if and only if its {kind} is {word}.",
        )
        for name, word in words.items()
    }


def implied(operators: Sequence[Any], name: str, given: bool | None, message: str) -> bool | None:
    """True if all operators have a hint, which then cannot be False; else what is given."""
    if all(getattr(operator, name) for operator in operators):
        if given is False:
            raise ValueError(message)
        return True
    return given


def non_singular(a: Any, b: Any) -> bool | None:
    """Whether a product of square operators is non-singular."""
    if a.is_non_singular is False or b.is_non_singular is False:
        return False
    return a.is_non_singular and b.is_non_singular


def commuting_self_adjoint(a: Any, b: Any) -> bool | None:
    """Whether a product of operators that commute is self-adjoint."""
    if a.is_self_adjoint and b.is_self_adjoint:
        return True
    return False if {a.is_self_adjoint, b.is_self_adjoint} == {True, False} else None


def commuting_positive_definite(a: Any, b: Any) -> bool | None:
    """Whether a product of operators that commute is positive definite."""
    known = all(
        hint is True for x in (a, b) for hint in (x.is_positive_definite, x.is_self_adjoint)
    )
    return True if known else None


def commuting(a: Any, b: Any) -> dict[str, bool | None]:
    """The hints of a product of square operators that commute."""
    return named(
        non_singular(a, b), commuting_self_adjoint(a, b), commuting_positive_definite(a, b), True
    )


def square(a: Any, b: Any) -> bool | None:
    """Whether a product is square."""
    if a.is_square and b.is_square:
        return True
    if a.is_square is False and b.is_square is False:
        return a.range_dimension == b.domain_dimension
    if a.is_square is not None and b.is_square is not None:
        return False
    return None


def of_product(a: Any, b: Any) -> dict[str, bool | None]:
    """The hints of any product."""
    is_square = square(a, b)
    if is_square is False:
        return named(False, False, False, False)
    return named(non_singular(a, b) if is_square else None, None, None, is_square)


def is_adjoint_pair(x: Any, y: Any) -> bool:
    """Whether one operator is known to be the adjoint of the other."""
    if x is y and x.is_self_adjoint is not None:
        return bool(x.is_self_adjoint)
    return x.H is y or y.H is x


def is_aat_form(operators: Sequence[Any]) -> bool:
    """Whether a product is known to have the form A A^H."""
    count = len(operators)
    return count % 2 == 0 and all(
        is_adjoint_pair(operators[i], operators[-1 - i]) for i in range(count // 2)
    )
