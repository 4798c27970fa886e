"""What is the same in all steps of an optimizer over the same variables with the same settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...core.op import Closure
from ...values.bounds import refuse_rows
from ...values.convert import convert
from ...values.indexed_slices import IndexedSlices
from ...values.tensor import Tensor
from ...values.variable import Handle, Variable, current


class Row(NamedTuple):
    """How one variable is updated.

    gradient: the class of its gradient. closure: from the variable, its gradient, numbers that all
    have and its slots to the new variable and the new slots. cells: those of the variable and of
    its slots. group: the place of its numbers among those of all kinds of variables.
    """

    gradient: type
    closure: Closure
    variables: tuple[Variable, ...]
    cells: tuple[Handle, ...]
    slots: tuple[Handle, ...]
    group: int

    def inputs(self, gradient: Any) -> tuple[Tensor, ...]:
        """A gradient as the closure takes it."""
        cell = self.cells[0]
        if not issubclass(self.gradient, IndexedSlices):
            return (convert(gradient, hint=cell.dtype),)
        indices = convert(gradient.indices)
        refuse_rows(indices, current(cell)._aval.shape[0], self.closure.name)
        return convert(gradient.values), indices


class Plan(NamedTuple):
    """The rows of a step and, for each group of them, the numbers of the update rule.

    places: the identities of the variables, which the rows hold. common_norm: what all gradients
    are scaled down to together.
    """

    places: list[int]
    gradients: list[type]
    settings: tuple[Any, ...]
    common_norm: float | None
    rows: list[Row]
    numbers: list[tuple[Tensor, ...]]
    constrained: list[Variable]

    def fits(
        self, variables: Sequence[Variable], gradients: Sequence[Any], settings: tuple[Any, ...]
    ) -> bool:
        """Whether a step with these is as the one that the plan was made for."""
        return (
            self.places == list(map(id, variables))
            and self.gradients == list(map(type, gradients))
            and self.settings == settings
        )


#: Classes of settings that are what they were if they are equal.
_PLAIN = frozenset((float, int, bool, str, type(None)))


def are_plain(settings: tuple[Any, ...]) -> bool:
    """Whether equal settings are the same: not so of a variable, or of an array."""
    return _PLAIN.issuperset(map(type, settings))
