"""What is to be written of an object and its parts: the graph, and the values by their keys."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..values.convert import convert
from ..values.trackable import Trackable
from .graph import GRAPH_KEY, Graph, Node, Slot, Value
from .keys import escaped, path_of, slot_path, value_key
from .tracking import children
from .variables import full_name, is_variable, variable_of


class View(NamedTuple):
    """The objects that are reached from one, nearest first, and the ways to them."""

    objects: list[Any]
    paths: list[tuple[str, ...]]
    numbers: dict[int, int]
    parts: list[dict[str, Any]]


def view_of(
    root: Any,
    attached: Mapping[str, Any] | None = None,
    parts_of: Callable[[Any], dict[str, Any]] = children,
) -> View:
    """Go through an object and its parts.

    Args: `attached`: parts of `root` besides its own. `parts_of`: gives the parts of an object.
    """
    view = View([root], [()], {id(root): 0}, [])
    ahead = deque([root])
    while ahead:
        value = ahead.popleft()
        path = view.paths[view.numbers[id(value)]]
        parts = parts_of(value)
        if value is root and attached:
            parts = {**parts, **attached}
        view.parts.append(parts)
        for name, part in parts.items():
            if id(part) not in view.numbers:
                view.numbers[id(part)] = len(view.objects)
                view.objects.append(part)
                view.paths.append((*path, name))
                ahead.append(part)
    return view


def values_of(value: Any) -> dict[str, Any] | None:
    """The values of an object itself; None if it has none."""
    if is_variable(value):
        variable = variable_of(value)
        return None if variable is None else variable._serialize_to_tensors()
    if not isinstance(value, Trackable):
        return None
    try:
        return value._serialize_to_tensors()
    except NotImplementedError:
        return None


def has_values(value: Any) -> bool:
    """Whether an object has values itself. Asked of its class, since they may cost."""
    return is_variable(value) or (
        isinstance(value, Trackable)
        and type(value)._serialize_to_tensors is not Trackable._serialize_to_tensors
    )


def slots_of(view: View) -> list[tuple[int, int, str, Any]]:
    """The variables that optimizers keep for others: optimizer, variable, name, and the slot.

    Raises: NotImplementedError for one that is also a part of an object.
    """
    found = []
    for number, optimizer in enumerate(list(view.objects)):
        if "get_slot_names" not in dir(type(optimizer)):
            continue
        for name in optimizer.get_slot_names():
            for at, variable in enumerate(view.objects):
                try:
                    slot = optimizer.get_slot(variable, name)
                except (AttributeError, KeyError):
                    slot = None
                if slot is None:
                    continue
                if id(slot) in view.numbers:
                    raise NotImplementedError(
                        "A slot variable was re-used as a dependency of a Trackable object: "
                        f"{slot}. This is not currently allowed. File a feature request if this "
                        "limitation bothers you."
                    )
                found.append((number, at, name, slot))
    return found


def gather(
    root: Any, attached: Mapping[str, Any] | None = None, copy: bool = False
) -> dict[str, np.ndarray]:
    """The values of an object and its parts as they are now, by their keys, with the graph.

    Args: `copy`: whether values are copied, so that they stay what they are.
    """
    return values_in(view_of(root, attached), copy)


def values_in(view: View, copy: bool = False) -> dict[str, np.ndarray]:
    """The values of the objects of a view, by their keys, with the graph."""
    nodes = [
        Node({name: view.numbers[id(part)] for name, part in parts.items()}) for parts in view.parts
    ]
    objects = list(zip(nodes, view.objects, map(path_of, view.paths)))
    for optimizer, at, name, slot in slots_of(view):
        nodes[optimizer].slots.append(Slot(at, name, len(nodes)))
        nodes.append(Node())
        path = slot_path(objects[at][2], objects[optimizer][2], name)
        objects.append((nodes[-1], slot, path))
    found: dict[str, Any] = {}
    for node, value, path in objects:
        found.update(_noted(node, value, path))
    graph = Graph(nodes)
    graph.mark_values()
    read = np.array if copy else np.asarray
    arrays = {key: read(convert(value)._value()) for key, value in found.items()}
    return {**arrays, GRAPH_KEY: np.array(graph.serialized(), object)}


def _noted(node: Node, value: Any, path: str) -> dict[str, Any]:
    """The values of an object by their keys, which its node notes."""
    values = values_of(value)
    if not values:
        return {}
    # Several values of some classes stand under one name, which their keys begin with.
    common = getattr(value, "_saveable_name", "")
    names = [common] if common else [escaped(name) for name in values]
    keys = {f"{common}{name}" if common else escaped(name): found for name, found in values.items()}
    for name in names:
        node.values.append(Value(name, full_name(value), value_key(path, name)))
    return {value_key(path, name): found for name, found in keys.items()}
