"""The conditionals and loops of graphs of TensorFlow 1: which nodes are a branch, or a loop.

A conditional is a Merge of what lies behind the two outputs of Switches with one predicate. A loop
is a frame: Enter gives it values, a Merge of each with what NextIteration gives is the value at the
begin of an iteration, a Switch by LoopCond leads to the body and to Exit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from .messages import NodeDef
from .nodes import attribute

#: A tensor of a graph: the name of its node, and which of the outputs it is.
Place = tuple[str, int]

ENTERS = ("Enter", "RefEnter")
MERGES = ("Merge", "RefMerge")
SWITCHES = ("Switch", "RefSwitch")


def place(reference: str) -> Place:
    """The place that 'name' or 'name:1' names.

    >>> place("a"), place("a:1")
    (('a', 0), ('a', 1))
    """
    name, _, index = reference.partition(":")
    return name, int(index or 0)


class Turning(NamedTuple):
    """A variable of a loop: the nodes that it goes through, by name."""

    enter: str
    merge: str
    switch: str
    after: str


class Loop:
    """A loop. turning: its variables. constants: the Enters of what stays. test: the LoopCond."""

    def __init__(self) -> None:
        self.turning: list[Turning] = []
        self.constants: list[str] = []
        self.test = ""

    @property
    def entries(self) -> Iterator[str]:
        """The nodes that give it values."""
        yield from (each.enter for each in self.turning)
        yield from self.constants


class Conditional(NamedTuple):
    """Merges with one predicate. inputs: for each what comes if it is false, and if it is true."""

    pred: Place
    merges: tuple[str, ...]
    inputs: tuple[tuple[str, str], ...]


class Way(NamedTuple):
    """What a node lies behind. sides: of Switches, by their predicates; both if it is both. depths:
    how many Merges of a predicate are before it."""

    sides: Mapping[Place, frozenset[int]]
    depths: Mapping[Place, int]


class Control:
    """The conditionals and loops of a graph. exits: the loops by the names of their Exits."""

    def __init__(self, nodes: Mapping[str, NodeDef]):
        self._nodes = nodes
        self.exits: dict[str, Loop] = {}
        self._loop_merges: dict[str, str] = {}
        self._ways: dict[str, Way] = {}
        self._predicates: dict[str, Place] = {}
        self._merges = [name for name, node in nodes.items() if node.op in MERGES]
        if self._merges:
            self._find_loops()

    # -- loops ----------------------------------------------------------------------------------

    def _find_loops(self) -> None:
        nodes = self._nodes
        loops: dict[str, Loop] = {}
        for name in self._merges:
            before = [self._node(x) for x in nodes[name].input]
            enters = [node for node in before if node.op in ENTERS]
            following = [node for node in before if node.op == "NextIteration"]
            if enters and following:
                self._loop_merges[name] = enters[0].name
                loop = loops.setdefault(self._frame(enters[0]), Loop())
                loop.turning.append(Turning(enters[0].name, name, "", following[0].input[0]))
        by_merge = {each.merge: loop for loop in loops.values() for each in loop.turning}
        turned = {each.enter for loop in loops.values() for each in loop.turning}
        switches: dict[str, str] = {}
        for name, node in nodes.items():
            if node.op in SWITCHES and self._node(node.input[1]).op == "LoopCond":
                merge = place(node.input[0])[0]
                switches[merge] = name
                by_merge[merge].test = place(node.input[1])[0]
            elif node.op in ENTERS and name not in turned and self._frame(node) in loops:
                loops[self._frame(node)].constants.append(name)
        for loop in loops.values():
            loop.turning = [x._replace(switch=switches.get(x.merge, "")) for x in loop.turning]
        owners = {switch: by_merge[merge] for merge, switch in switches.items()}
        for name, node in nodes.items():
            if node.op in ("Exit", "RefExit"):
                self.exits[name] = owners[place(node.input[0])[0]]

    def _node(self, reference: str) -> NodeDef:
        return self._nodes[place(reference)[0]]

    def _frame(self, enter: NodeDef) -> str:
        return str(attribute(enter.attr["frame_name"]))

    # -- conditionals ---------------------------------------------------------------------------

    def is_conditional(self, name: str) -> bool:
        """Whether a node is the Merge of a conditional."""
        return self._nodes[name].op in MERGES and name not in self._loop_merges

    def conditional(self, name: str, wanted: Iterable[str]) -> Conditional:
        """The conditional of a Merge, with those among `wanted` that are of the same one."""
        mine, pred = self._way(name), self._predicate(name)
        merges = [name]
        for other in wanted:
            if other != name and self.is_conditional(other):
                way = self._way(other)
                if self._predicate(other) == pred and way == mine:
                    merges.append(other)
        return Conditional(pred, tuple(merges), tuple([self._sides(x, pred) for x in merges]))

    def _predicate(self, name: str) -> Place:
        self._way(name)
        return self._predicates[name]

    def _sides(self, name: str, pred: Place) -> tuple[str, str]:
        """The inputs of a Merge if its predicate is false, and if it is true."""
        found = {}
        for reference in self._data(name):
            for side in self._way_of(reference).sides[pred]:
                found[side] = reference
        return found[0], found[1]

    def border(self, conditional: Conditional) -> list[str]:
        """The nodes that the branches of a conditional read and that are of neither."""
        pred = conditional.pred
        found, seen = {pred[0]: None}, set()
        ahead = [x for pair in conditional.inputs for x in pair]
        while ahead:
            name = place(ahead.pop().lstrip("^"))[0]
            if name in seen:
                continue
            seen.add(name)
            node = self._nodes[name]
            if node.op in SWITCHES and self.predicate(node) == pred:
                found[place(node.input[0])[0]] = None
            elif pred in self._way(name).sides:
                ahead += node.input
            else:
                found[name] = None
        return list(found)

    def predicate(self, switch: NodeDef) -> Place:
        """What decides which way a Switch goes: others of its conditional may read a copy."""
        name, index = place(switch.input[1])
        while self._nodes[name].op == "Identity":
            name, index = place(self._nodes[name].input[0])
        return name, index

    def _data(self, name: str) -> list[str]:
        return [x for x in self._nodes[name].input if not x.startswith("^")]

    def _before(self, name: str) -> list[str]:
        enter = self._loop_merges.get(name)
        return list(self._nodes[name].input) if enter is None else [enter]

    def _way(self, name: str) -> Way:
        """What a node lies behind, worked out for those before it first."""
        ahead = [name]
        while ahead:
            top = ahead[-1]
            before = [place(x.lstrip("^"))[0] for x in self._before(top)]
            missing = [x for x in before if x not in self._ways]
            if missing and top not in self._ways:
                ahead += missing
                continue
            if top not in self._ways:
                self._ways[top] = self._joined(top)
            ahead.pop()
        return self._ways[name]

    def _joined(self, name: str) -> Way:
        sides: dict[Place, frozenset[int]] = {}
        depths: dict[Place, int] = {}
        for reference in self._before(name):
            way = self._way_of(reference)
            for pred, found in way.sides.items():
                sides[pred] = sides.get(pred, frozenset()) | found
            for pred, count in way.depths.items():
                depths[pred] = max(depths.get(pred, 0), count)
        if self.is_conditional(name):
            pred = self._decided(name)
            self._predicates[name] = pred
            del sides[pred]
            depths[pred] = depths.get(pred, 0) + 1
        return Way(sides, depths)

    def _way_of(self, reference: str) -> Way:
        """What a tensor lies behind: an output of a Switch on one side of its predicate."""
        name, index = place(reference.lstrip("^"))
        way, node = self._ways[name], self._nodes[name]
        if node.op not in SWITCHES or self._node(node.input[1]).op == "LoopCond":
            return way
        if reference.startswith("^"):
            return way
        return way._replace(sides={**way.sides, self.predicate(node): frozenset([index])})

    def _decided(self, name: str) -> Place:
        """The predicate that decides which input a Merge gives."""
        data = self._data(name)
        ways = [self._way_of(x).sides for x in data]
        if len(data) == 2:
            for pred, side in ways[0].items():
                other = ways[1].get(pred)
                if other is not None and len(side) == len(other) == 1 and side != other:
                    return pred
        raise NotImplementedError(
            f"the Merge {name!r} of a graph, which is neither of a conditional nor of a loop"
        )
