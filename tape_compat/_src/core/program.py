"""Programs: linear records of closures, and the tree of all structures seen.

A `Program` is a log. Each entry is one instruction: a node of the structure tree, with the concrete
arrays that it brought in as leaves, if any. An entry is appended by one `list.append`, so that an
exception at any point leaves a program whole. `References` tell which outputs somebody still has.

The structure tree is a trie. A node stands for "these instructions, wired like this, from inputs of
these shapes": its parent's instructions and one more. So the key of a program is the node it has
reached, known without hashing the program, and the shapes of a step seen before are read, not
worked out.
"""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Any, Union

from . import limits
from .avals import Aval, Packed
from .caches import register
from .native import native, provide
from .op import Closure, Op

if TYPE_CHECKING:
    from .state import ThreadState


#: Entry of a log: a node, or node, array leaves and scalar leaves.
Entry = Union["Node", tuple["Node", tuple, tuple]]


def node_of(entry: Entry) -> Node:
    return entry if entry.__class__ is Node else entry[0]  # type: ignore[index, return-value]


@native
class References(list):
    """How a program refers to its outputs, as long as somebody else has them."""

    __slots__ = ()


@native
def refer(x: Any) -> Any:
    """What is appended to References for a tensor."""
    return weakref.ref(x)


#: Where a tensor is that no program has made or read: its program and slot.
NOWHERE: tuple[Any, int] = (None, -1)


class _LastEdge:
    """First slot, so it shares the object's cache line: C reads it for every op."""

    __slots__ = ("last_edge",)


@native
class Node(_LastEdge):
    """One instruction at one place in the structure tree. Slots number leaves and outputs.

    children: what may follow. splices: sequences that are appended as one, such as a whole
    gradient: where they end, and the slots of their answers; or scripts, see
    `autodiff/remember.py`.

    inputs: the slots the instruction reads. leaves: what it brings in, an `Aval` for an array and a
    `Packed` for a scalar, in the slots from `first_leaf`. outputs: avals, in those from `first`.

    joined: whether something here was recorded though its inputs had values. effects: whether
    something here has an effect.

    one_output: whether it gives a tensor, not a tuple of them; aval: of that. differentiable:
    whether tapes record it. must_flush: whether a program that has come here is to be run, whatever
    follows. last_edge: how the log went on from here last, for C.
    """

    __slots__ = (
        "__weakref__",
        "_tail",
        "aval",
        "captures",
        "children",
        "closure",
        "depth",
        "differentiable",
        "effects",
        "end",
        "first",
        "first_leaf",
        "inputs",
        "joined",
        "leaves",
        "must_flush",
        "nbytes",
        "one_output",
        "outputs",
        "parent",
        "runners",
        "scalars",
        "splices",
    )

    def __init__(
        self,
        parent: Node | None,
        closure: Closure,
        inputs: tuple[int, ...],
        leaves: tuple[Aval | Packed, ...],
        outputs: tuple[Aval, ...],
        one_output: bool,
    ):
        self.parent = parent
        self.closure = closure
        self.inputs = inputs
        self.leaves = leaves
        self.scalars = tuple(x.aval.np_dtype for x in leaves if isinstance(x, Packed))
        self.outputs = outputs
        self.one_output = one_output
        self.aval = outputs[0] if one_output else None
        self.first_leaf = parent.end if parent else 0
        self.first = self.first_leaf + len(leaves)
        self.end = self.first + len(outputs)
        self.depth = parent.depth + 1 if parent else 0
        new = sum(leaf.nbytes for leaf in leaves if isinstance(leaf, Aval))
        self.nbytes = new + (parent.nbytes if parent else 0)
        self.joined = parent is not None and parent.joined
        self.children: dict[tuple, Node] = {}
        self.runners: Runners | None = None
        self.captures: dict[tuple, Closure] = {}
        self.splices: dict[tuple, Any] = {}
        self.effects = closure.effect or (parent is not None and parent.effects)
        self.must_flush = (
            closure.effect
            or self.depth >= limits.MAX_PENDING_INSTRUCTIONS
            or self.nbytes > limits.MAX_PENDING_BYTES
        )
        self.differentiable = closure.differentiable is not False and any(
            aval.trainable for aval in outputs
        )
        self._tail: tuple[tuple[int, ...], int] | None = None

    def tail(self, overwritten: tuple[int, ...]) -> int:
        """How many of the last instructions, not all, read nothing but leaves and each other, and
        none of the leaves of variables that were overwritten."""
        known = self._tail
        if known is None or known[0] != overwritten:
            known = self._tail = overwritten, _tail(self.path(), overwritten)
        return known[1]

    def path(self) -> list[Node]:
        """The instructions from the first to this one."""
        nodes: list[Node] = []
        node = self
        while node.parent is not None:
            nodes.append(node)
            node = node.parent
        nodes.reverse()
        return nodes


def _tail(path: list[Node], overwritten: tuple[int, ...]) -> int:
    made = {slot for node in path for slot in range(node.first, node.end)}
    updated = set(overwritten)
    found, earliest = 0, path[-1].end
    for count, node in enumerate(reversed(path[-limits.MOST_BEFORE_TAPE :]), 1):
        if not updated.isdisjoint(node.inputs):
            break  # the update of a variable belongs to the step
        earliest = min([earliest, *(slot for slot in node.inputs if slot in made)])
        if earliest >= node.first and count < len(path):
            found = count
    return found


_NOTHING = Op(lambda: (), "NoOp").bind()


@native
class Runner:
    """What was prepared to run the program that ends at a node: compiled, or op by op.

    key: the slots that are alive, and those whose buffers may be reused. donate: places of the
    arguments that are buffers to reuse. recent: whether it was used since it was last looked at.
    origin: the settled history that it ran from last, if it was settled; see `executor.py`.
    """

    __slots__ = ("donate", "key", "node", "origin", "recent")

    def __init__(self, node: Node, key: tuple, donate: tuple[int, ...] = ()):
        self.node, self.key, self.donate = node, key, donate
        self.recent = False
        self.origin: Any = None


@native
class Runners:
    """What was prepared to run the program that ends at one node.

    compiled: by key, what can run at once. loops: by key, the program as loops,
    or None where it was found to have none. op_by_op: by
    the slots that are alive, the program op by op.
    """

    __slots__ = ("compiled", "loops", "op_by_op")

    def __init__(self) -> None:
        self.compiled: dict[tuple, Any] = {}
        self.loops: dict[tuple, Any] = {}
        self.op_by_op: dict[tuple, Any] = {}

    def remove(self, runner: Runner) -> bool:
        """Whether nothing is left then."""
        for table in (self.compiled, self.loops, self.op_by_op):
            for key in [key for key, found in list(table.items()) if found is runner]:
                table.pop(key, None)
        return not (self.compiled or any(self.loops.values()) or self.op_by_op)


def new_root() -> Node:
    return Node(None, _NOTHING, (), (), (), False)


@native
class Tree:
    """A structure tree with its node count. kept: how many nodes `prune` left the last time."""

    __slots__ = ("count", "kept", "root")

    def __init__(self) -> None:
        self.root = new_root()
        self.count = self.kept = 0

    def extend(self, node: Node, key: tuple, child: Node) -> Node:
        self.count += 1
        return node.children.setdefault(key, child)

    @property
    def overgrown(self) -> bool:
        """Whether it is time to prune it."""
        return self.count > 2 * self.kept + limits.SPARE_NODES

    def prune(self) -> None:
        """Cut every branch that leads to no compiled program."""
        order = [self.root]
        for node in order:
            order.extend(node.children.values())
        useful: set[int] = set()
        for node in reversed(order):
            if node.runners is not None or node.captures or id(node) in useful:
                useful.add(id(node))
                useful.add(id(node.parent))
        for node in order:
            node.children = {k: c for k, c in list(node.children.items()) if id(c) in useful}
            node.splices.clear()
            node.last_edge = None
        self.count = self.kept = len(useful)

    def clear(self) -> None:
        """Forget every structure. Programs under way keep the nodes that they stand on."""
        self.root, self.count, self.kept = new_root(), 0, 0


TREE = Tree()
CAPTURED = Tree()
provide(tree=TREE, new_lock=type(threading.RLock()))
register("structures", TREE.clear, lambda: TREE.count)
register("captured structures", CAPTURED.clear, lambda: CAPTURED.count)


@native
class Program:
    """A record under way, or one that has run. `lock` guards appending against running."""

    __slots__ = (
        "__weakref__",
        "aliases",
        "begun",
        "calling",
        "changed",
        "donatable",
        "failure",
        "joined_new",
        "joins",
        "launched",
        "lock",
        "log",
        "moved",
        "origin",
        "owner",
        "prepares",
        "ran",
        "refs",
        "results",
        "split",
        "tree",
        "unpack_results",
    )

    #: A symbolic program (see `capture.py`) has inputs without values and never runs.
    symbolic = False

    def __init__(self, owner: ThreadState | None, tree: Tree = TREE):
        self.tree = tree
        self.owner = owner
        self.lock = threading.RLock()
        self.log: list[Entry] = [tree.root]
        self.ran = False
        #: Whether it is being run by JAX; or an interrupt came just as that ended.
        self.calling: bool | int = False
        #: Whether ops whose inputs have values are recorded here as well, and whether one of those
        #: was not known at its place.
        self.joins = self.joined_new = False
        #: Whether it holds nothing but what is likely to prepare a step that has not begun. begun:
        #: how long the log was when it did. split: how long it is when what prepares the next one
        #: is likely to come, 0 if that is not known.
        self.prepares = False
        self.begun, self.split = 1, 0
        #: Whether a tensor that was a leaf here became one of another thread's program meanwhile.
        self.moved = False
        #: To the outputs, and to further handles on them. A reference whose entry was never
        #: appended is to a tensor that nobody got.
        self.refs = References()
        self.aliases: list[weakref.ref] = []
        self.donatable: list[int] = []
        #: By turns the identity of a variable that was assigned what is pending here, and what it
        #: held before: a slot, or a tensor that is none of this program.
        self.changed: list[Any] = []
        #: What the first run raised, if it failed; see `run/repair.py`.
        self.failure: Exception | None = None
        #: Filled when run: the arrays of the slots in `launched`.
        self.results: list[Any] = []
        self.launched: tuple[int, ...] = ()
        #: Makes the arrays of these slots of the results, if they are not that already.
        self.unpack_results: Any = None
        self.origin: Any = None

    def __len__(self) -> int:
        return node_of(self.log[-1]).depth

    @property
    def node(self) -> Node:
        return node_of(self.log[-1])

    def slot_of(self, x: Any) -> int | None:
        """The slot of a tensor that was made or read here."""
        program, slot = x._at
        return slot if program is self else None

    def put_leaf(self, x: Any, slot: int) -> None:
        """Remember where a leaf stands: its next use is not a new one."""
        owner = x._at[0]
        if owner is not None and owner is not self and not owner.ran:
            owner.moved = True
        x._at = (self, slot)
