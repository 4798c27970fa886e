"""Runs through graphs, whose nodes name each other and share variables, in the style of TensorFlow
1: with references to variables, and with conditionals and loops made of nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...core.dtypes import int32
from ...core.shapes import TensorShape
from ...function.control_flow import cond, while_loop
from ...ops.arguments import value_if_known
from ...ops.casting import cast
from ...values.tensor import Tensor
from .classic_control import ENTERS, SWITCHES, Conditional, Control, Loop, Place, place
from .graph_state import REFERRING, Reference, read, refer
from .messages import NodeDef
from .node_kernels import invariant
from .nodes import Library, Run, attribute


class GraphRun(Run):
    """A run through the nodes of a graph.

    mapped: tensors that stand for some of it. control: its conditionals and loops. sides: the
    predicates of the conditionals that it is a branch of. stops: nodes of the loop whose iteration
    it is that are done before it.
    """

    def __init__(
        self,
        nodes: dict[str, NodeDef],
        mapped: Mapping[Place, Any],
        library: Library,
        control: Control,
        sides: frozenset[Place] = frozenset(),
        stops: frozenset[str] = frozenset(),
    ):
        super().__init__(nodes, {}, library, "graph")
        self._mapped, self._control = mapped, control
        self._sides, self._stops = sides, stops
        self._wanted: set[str] = set()

    def value(self, reference: str) -> Any:
        return self._at(place(reference))

    def at(self, found: Place) -> Any:
        """The value at a place; of a variable what it holds."""
        self.want([found[0]])
        return read(self._at(found))

    def do(self, names: Iterable[str]) -> None:
        names = list(names)
        self.want(names)
        super().do(names)

    def _at(self, found: Place) -> Any:
        return self._mapped[found] if found in self._mapped else self.node(found[0])[found[1]]

    def want(self, names: Iterable[str]) -> None:
        """Say which nodes will be asked for: conditionals are done once for all of them."""
        ahead = [name for name in names if name not in self._wanted]
        while ahead:
            name = ahead.pop()
            if name not in self._wanted:
                self._wanted.add(name)
                ahead += self._inputs(self._nodes[name])

    def _inputs(self, node: NodeDef) -> Iterator[str]:
        for reference in node.input:
            name, index = place(reference.lstrip("^"))
            given = name in self._stops if reference[0] == "^" else (name, index) in self._mapped
            if not given:
                yield name

    def _before(self, node: NodeDef) -> Iterator[str]:
        if node.name in self._control.exits:
            yield from self._control.exits[node.name].entries
        elif self._control.is_conditional(node.name):
            for name in self._control.border(self._conditional(node)):
                if (name, 0) not in self._mapped:
                    yield name
        else:
            yield from self._inputs(node)

    def _outputs(self, node: NodeDef) -> list[Any]:
        if node.name in self._control.exits:
            return self._loop(self._control.exits[node.name], node.name)
        if self._control.is_conditional(node.name):
            return self._branches(self._conditional(node))
        if node.op in SWITCHES:
            return self._switch(node)
        if node.op in ENTERS:
            return [self.value(node.input[0])]
        inputs = [self.value(x) for x in node.input if not x.startswith("^")]
        if node.op in REFERRING and isinstance(inputs[0], Reference):
            return refer(node, inputs)
        return self._kernel(node, list(map(read, inputs)))

    # -- conditionals ---------------------------------------------------------------------------

    def _conditional(self, node: NodeDef) -> Conditional:
        wanted = [name for name in self._wanted if name not in self._done]
        return self._control.conditional(node.name, sorted(wanted))

    def _switch(self, node: NodeDef) -> list[Any]:
        """What a branch reads; only its side is asked for."""
        if self._control.predicate(node) not in self._sides:
            raise NotImplementedError(
                f"the kernel 'Switch' of the node {node.name!r}, of which one side is wanted by "
                "itself, outside of a conditional"
            )
        return [self.value(node.input[0])] * 2

    def _branches(self, conditional: Conditional) -> list[Any]:
        pred = read(self._at(conditional.pred))

        def branch(side: int) -> Callable[[], list[Any]]:
            def run() -> list[Any]:
                part = GraphRun(
                    self._nodes,
                    self._mapped,
                    self._library,
                    self._control,
                    self._sides | {conditional.pred},
                    self._stops,
                )
                part._done, part._wanted = dict(self._done), self._wanted
                return [read(part.value(pair[side])) for pair in conditional.inputs]

            return run

        known = value_if_known(pred)
        found = cond(pred, branch(1), branch(0)) if known is None else branch(int(known))()
        which = cast(pred, int32)
        for name, pair, value in zip(conditional.merges, conditional.inputs, found, strict=True):
            true_first = self._nodes[name].input[0] == pair[1]
            self._done[name] = [value, 1 - which if true_first else which]
        return self._done[conditional.merges[0]]

    # -- loops ----------------------------------------------------------------------------------

    def _loop(self, loop: Loop, name: str) -> list[Any]:
        held = {(x, 0): self._at((x, 0)) for x in loop.constants}
        first = [read(self._at((each.enter, 0))) for each in loop.turning]
        stops = frozenset([*loop.entries, *[x for each in loop.turning for x in each[1:3]]])

        def run(values: Sequence[Any]) -> GraphRun:
            mapped = {**self._mapped, **held}
            for each, value in zip(loop.turning, values, strict=True):
                mapped[each.merge, 0] = mapped[each.switch, 1] = value
            return GraphRun(self._nodes, mapped, self._library, self._control, stops=stops)

        def iteration(*values: Any) -> list[Any]:
            one = run(values)
            one.want([name for name, i in map(place, afters) if (name, i) not in one._mapped])
            return [read(one.value(x)) for x in afters]

        test, afters = self._nodes[loop.test].input[0], [each.after for each in loop.turning]
        invariants = [self._invariant(x.merge, v) for x, v in zip(loop.turning, first, strict=True)]
        last = while_loop(
            lambda *values: read(run(values).value(test)), iteration, first, invariants
        )
        ends = {each.switch: value for each, value in zip(loop.turning, last, strict=True)}
        for other, owner in self._control.exits.items():
            if owner is loop:
                self._done[other] = [ends[place(self._nodes[other].input[0])[0]]]
        return self._done[name]

    def _invariant(self, merge: str, first: Any) -> TensorShape:
        """The shape that a variable of a loop keeps, as far as the graph says it."""
        node = self._nodes[merge]
        if not isinstance(first, Tensor):
            return TensorShape(None)
        if "_output_shapes" not in node.attr:
            return first.shape
        return invariant(first.shape, attribute(node.attr["_output_shapes"])[0], first)
