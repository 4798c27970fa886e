"""What a checkpoint keeps of an optimizer, by the names and in the order that Keras has for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ...values.trackable import Trackable
from ...values.variable import Variable


class Kept(Trackable):
    """The base of optimizers: their variables as parts of an object in a checkpoint."""

    #: Slots that Keras makes together, variable by variable; others it makes one after the other.
    _together: ClassVar[tuple[str, ...]] = ()
    #: What Keras' names of lists of slots begin with.
    _prefix: ClassVar[str] = "_"

    _iterations: Variable
    _learning_rate: Any
    _trainable: list[Variable]

    def __init__(self) -> None:
        #: The slots by their names, and by the places of their variables.
        self._slots_by_name: dict[str, dict[str, Variable]] = {}
        #: All variables by their positions in Keras' list of them.
        self._by_position: dict[str, Variable] = {}

    def _slot_values(self) -> Mapping[str, float]:
        """Name and initial value of each slot."""
        return {}

    def _note_slot(self, name: str, place: int, slot: Variable) -> None:
        self._slots_by_name.setdefault(name, {})[str(place)] = slot

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        rate = self._learning_rate
        rates = {"_learning_rate": rate} if isinstance(rate, Variable) else {}
        first = [self._iterations, *rates.values()]
        self._by_position.update({str(i): variable for i, variable in enumerate(first)})
        start = len(first)
        for group in self._groups():
            for at, name in enumerate(group):
                for place, slot in self._slots_by_name.get(name, {}).items():
                    self._by_position[str(start + int(place) * len(group) + at)] = slot
            start += len(group) * len(self._trainable)
        return {
            "_variables": self._by_position,
            "_trainable_variables": self._trainable,
            "_iterations": self._iterations,
            **rates,
            **{self._prefix + _plural(name): slots for name, slots in self._slots_by_name.items()},
        }

    def _groups(self) -> list[tuple[str, ...]]:
        names = tuple(self._slot_values())
        alone = [(name,) for name in names if name not in self._together]
        return [self._together, *alone] if self._together else alone

    def _take_waiting(self) -> None:
        """Take the values of a checkpoint that waited for new variables."""
        waiting = vars(self).get("_self_waiting")
        if waiting is not None:
            waiting.look_again(self)


def _plural(name: str) -> str:
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
