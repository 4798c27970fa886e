"""The values of a checkpoint on their way into objects.

Objects are matched from the root on, by the names of their parts. Values of parts that are not
there yet wait, at the object that is to have them. All values are read and checked before one is
assigned.
"""

from __future__ import annotations

import itertools
import logging
from collections import deque
from collections.abc import Mapping
from typing import Any

from ..core.shapes import TensorShape
from ..values.context import init_scope
from ..values.convert import convert
from ..values.tensor import Tensor
from ..values.variable import VALUE_KEY
from .graph import Graph
from .keys import escaped
from .reader import CheckpointReader
from .saving import values_of
from .tracking import children
from .variables import check_dtype, check_shape, is_variable, put_value
from .waiting import Containers

_LOG = logging.getLogger("tape_compat")
_COUNT = itertools.count()
_AGE = "_self_update_uid"


def next_age() -> int:
    """A number for a checkpoint that is being restored, greater than those before."""
    return next(_COUNT)


def last_restored(value: Any) -> int:
    """The age of the checkpoint that an object has its values from; -1 for none."""
    return getattr(value, "__dict__", {}).get(_AGE, -1)


class Restoration:
    """A checkpoint that is being restored.

    Attributes:
      age: greater than that of those restored before.
      objects: the object of each node that has been matched.
      unused: names of values that their objects do not have, by node.
      slots: by the node of a variable, what optimizers keep for it: node of the optimizer, node of
        the slot, its name. They stay until the variable is there.
      unrestored: what warns of values that were not taken, once it is set.
      late_slots: the same by the node of an optimizer that is not there: variable, slot, name.
    """

    def __init__(self, graph: Graph, reader: CheckpointReader, skip_slots: bool = False):
        self.graph, self.reader, self.age = graph, reader, next_age()
        self.objects: dict[int, Any] = {}
        self.unused: dict[int, list[str]] = {}
        self.slots: dict[int, list[tuple[int, int, str]]] = {}
        self.late_slots: dict[int, list[tuple[Any, int, str]]] = {}
        self.unrestored: Any = None
        if not skip_slots:
            for number, node in enumerate(graph.nodes):
                for slot in node.slots:
                    found = self.slots.setdefault(slot.original, [])
                    found.append((number, slot.slot, slot.name))

    def restore(
        self,
        number: int,
        value: Any,
        owner: Any = None,
        name: str = "",
        attached: Mapping[str, Any] | None = None,
    ) -> None:
        """Give an object, and its parts, the values of a node.

        Args:
          owner, name: what the object is a part of, and its name there.
          attached: parts of the object besides its own.
        """
        bound = self.objects.get(number)
        if bound is None:
            with init_scope():
                _Walk(self, value, attached or {}).go(number, value, owner, name)
        elif bound is not value:
            _LOG.warning(
                "Inconsistent references when loading the checkpoint into this object graph. For "
                "example, in the saved checkpoint object, `model.layer.weight` and "
                "`model.layer_copy.weight` reference the same variable, while in the current "
                "object these are two different variables. The referenced variables are:(%s and "
                "%s).",
                bound,
                value,
            )


class SlotPosition:
    """The value of a slot in a checkpoint, for optimizers that make the slot's variable or keep
    this until they do."""

    def __init__(self, restoration: Restoration, number: int):
        self._restoration, self._number = restoration, number

    @property
    def restore_uid(self) -> int:
        """Greater than that of checkpoints restored before."""
        return self._restoration.age

    def _keys(self) -> dict[str, str]:
        return {each.name: each.key for each in self._restoration.graph.nodes[self._number].values}

    def is_simple_variable(self) -> bool:
        """Whether it is the value of a variable, and nothing else."""
        return list(self._keys()) == [VALUE_KEY]

    def value_shape(self) -> TensorShape:
        """The shape of the value."""
        shapes = self._restoration.reader.get_variable_to_shape_map()
        return TensorShape(shapes[self._keys()[VALUE_KEY]])

    def value_tensors(self) -> dict[str, Tensor]:
        """The values by their names."""
        reader = self._restoration.reader
        return {name: convert(reader.get_tensor(key)) for name, key in self._keys().items()}

    def restore(self, trackable: Any) -> None:
        """Give the value to the variable of the slot."""
        self._restoration.restore(self._number, trackable)


class _Walk:
    """One way through the objects that a checkpoint can be matched with, nearest first."""

    def __init__(self, restoration: Restoration, root: Any, attached: Mapping[str, Any]):
        self._restoration, self._root, self._attached = restoration, root, attached
        self._nodes = restoration.graph.nodes
        self._objects = dict(restoration.objects)
        self._wanted: list[tuple[Any, dict[str, str]]] = []
        self._taken: set[int] = set()
        self._unused: dict[int, list[str]] = {}
        self._missing: list[tuple[Any, str, int]] = []
        self._ahead: deque[tuple[int, Any]] = deque()
        self._containers = Containers()

    def go(self, number: int, value: Any, owner: Any, name: str) -> None:
        self._match(number, value, owner, name)
        while self._ahead:
            number, value = self._ahead.popleft()
            self._take_values(number, value)
            self._take_parts(number, value)
            self._take_slots(number, value)
        restoration = self._restoration
        assign_values(restoration.reader, self._wanted)
        for value, _ in self._wanted:
            vars(value)[_AGE] = restoration.age
        restoration.objects.update(self._objects)
        restoration.unused.update(self._unused)
        for value, name, child in self._missing:
            self._defer(value, name, child)

    def _match(self, number: int, value: Any, owner: Any = None, name: str = "") -> None:
        self._objects[number] = value
        self._containers.note(value, owner, name)
        self._ahead.append((number, value))

    def _take_values(self, number: int, value: Any) -> None:
        node, restoration = self._nodes[number], self._restoration
        if node.saver:
            raise NotImplementedError(
                f"{restoration.graph.names[number]} was written by the registered saver "
                f"{node.saver!r}, which only TensorFlow has"
            )
        known = id(value) in self._taken  # by another name
        if not node.values or known or restoration.age <= last_restored(value):
            return
        self._taken.add(id(value))
        keys = {each.name: each.key for each in node.values}
        common = getattr(value, "_saveable_name", "")
        if common in keys:
            found = restoration.reader.keys_with(keys[common])
            self._wanted.append((value, found))
            return
        names = _value_names(value)
        used = {names[name]: key for name, key in keys.items() if name in names}
        if used:
            self._wanted.append((value, used))
        if len(used) < len(keys):
            if hasattr(value, "_refuse_values"):
                value._refuse_values(keys)
            self._unused[number] = [name for name in keys if name not in names]

    def _take_parts(self, number: int, value: Any) -> None:
        parts = children(value)
        if value is self._root:
            parts = {**parts, **self._attached}
        for name, child in self._nodes[number].children.items():
            if child in self._objects:
                continue
            if name in parts:
                self._match(child, parts[name], value, name)
            elif self._nodes[child].may_have_values():
                self._missing.append((value, name, child))

    def _take_slots(self, number: int, value: Any) -> None:
        late = self._restoration.late_slots
        for variable, slot, name in late.pop(number, ()):
            self._take_slot(value, variable, slot, name)
        for optimizer, slot, name in self._restoration.slots.pop(number, ()):
            if optimizer in self._objects:
                self._take_slot(self._objects[optimizer], value, slot, name)
            else:
                late.setdefault(optimizer, []).append((value, slot, name))

    def _take_slot(self, optimizer: Any, variable: Any, number: int, name: str) -> None:
        if not hasattr(optimizer, "_create_or_restore_slot_variable"):
            return
        slot = optimizer._create_or_restore_slot_variable(
            slot_variable_position=SlotPosition(self._restoration, number),
            slot_name=name,
            variable=variable,
        )
        if slot is not None and number not in self._objects:
            self._match(number, slot)

    def _defer(self, value: Any, name: str, child: int) -> None:
        restoration = self._restoration
        waiting = self._containers.waiting_of(value)

        def give(part: Any, owner: Any, name: str) -> None:
            restoration.restore(child, part, owner, name)

        waiting.pending.setdefault(name, []).append((restoration.age, give))


def _value_names(value: Any) -> dict[str, str]:
    """The names of the values of an object, as in a checkpoint and as it knows them."""
    if is_variable(value):
        return {VALUE_KEY: VALUE_KEY}
    return {escaped(name): name for name in values_of(value) or ()}


def assign_values(reader: CheckpointReader, wanted: list[tuple[Any, dict[str, str]]]) -> None:
    """Give objects their values, once all have been read and checked; variables come last.

    Args: `wanted`: objects, and the keys of their values by name.
    Raises: InvalidArgumentError for another dtype than a variable's, ValueError for a shape that it
      cannot have; DataLossError or OutOfRangeError if the files are damaged.
    """
    variables = [(v, keys[VALUE_KEY]) for v, keys in wanted if is_variable(v)]
    found = reader.get_variable_to_dtype_map()
    for value, key in variables:
        check_dtype(value, found.get(key), key)
    arrays = reader.get_tensors([key for _, keys in wanted for key in keys.values()])
    for value, key in variables:
        check_shape(value, arrays[key])
    for value, keys in wanted:
        if not is_variable(value):
            tensors = {name: convert(arrays[key]) for name, key in keys.items()}
            value._restore_from_tensors(tensors)
    for value, key in variables:
        put_value(value, arrays[key])
