"""Runs programs: fused into one compiled call, or in pieces. Owns the compiled programs."""

from __future__ import annotations

import logging
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from itertools import starmap
from typing import Any

import jax
import numpy as np

from ..core.avals import Packed, matched
from ..core.caches import Cache, register
from ..core.counters import COUNTERS
from ..core.errors import JAX_FOLDER, user_location
from ..core.native import FASTPATH
from ..core.op import Closure
from ..core.program import NOWHERE, Entry, Node, Prepared, Program, References
from ..core.steps import Steps, leaf_layout, needed, slot_avals
from ..core.x64 import in_x64
from . import policy
from .donation import arranged, copied, copy_all, donating
from .loops.template import Compiled, Template, compile_for
from .loops.write import Rolled, rolled
from .pieces import Plan

LOGGER = logging.getLogger("tape_compat")


class Executable(Prepared):
    """A fused program, compiled when first called.

    It takes the array leaves, then one vector of scalars for each dtype in `packs`.
    """

    __slots__ = ("_packed", "call", "packs")

    #: Its results are the live outputs.
    spread = None

    def __init__(self, node: Node, key: tuple, donate: tuple[int, ...]):
        super().__init__(node, key)
        live = key[0]
        path = node.path()
        arrays, scalars = leaf_layout(path)
        self.packs = list(scalars)
        #: For each dtype: the bytes, the numbers, and from the second time on the vector.
        self._packed: list[tuple[bytes, list[Any], jax.Array | None] | None]
        self._packed = [None] * len(self.packs)
        position = {slot: i for i, slot in enumerate(arrays)}
        self.donate = tuple(position[slot] for slot in donate)
        packed = [slot for slots in scalars.values() for slot in slots]
        steps = Steps.numbered(needed(path, live), [*arrays, *packed], live)
        lengths = [len(slots) for slots in scalars.values()]

        def program(*leaves: Any) -> tuple[Any, ...]:
            COUNTERS.traces += 1
            vectors = leaves[len(arrays) :]
            numbers = [v[i] for v, n in zip(vectors, lengths, strict=True) for i in range(n)]
            return steps.replay(*leaves[: len(arrays)], *numbers)

        self.call: Callable[..., tuple[Any, ...]] = donating(program, self.donate)

    def arguments(self, arrays: list[Any], scalars: dict[np.dtype, list[Any]]) -> list[Any]:
        """What the compiled program takes, of the leaves of the record: `arrays`, longer."""
        for i, dtype in enumerate(self.packs):
            arrays.append(self._pack(i, dtype, scalars[dtype]))
        return arrays

    def _pack(self, i: int, dtype: np.dtype, values: list[Any]) -> Any:
        """The scalars of one dtype as a vector, kept on the device while they do not change."""
        vector = np.array(values, dtype)
        content = vector.tobytes()
        before = self._packed[i]
        if before is None or before[0] != content:
            self._packed[i] = (content, values, None)
            return vector
        on_device = before[2]
        if on_device is None:
            on_device = in_x64(jax.device_put, vector)
        self._packed[i] = (content, values, on_device)
        return on_device


class _Executables:
    """The compiled programs and the plans. Beyond `policy.MAX_EXECUTABLES`, and
    `policy.MAX_NODES` instructions in all, the first that was not used since it was last spared is
    dropped: each use sets its `recent`, which is cheaper than to keep them in order."""

    def __init__(self) -> None:
        self.order: OrderedDict[Prepared, None] = OrderedDict()
        self.instructions = 0

    def add(self, executable: Prepared) -> None:
        self.instructions += executable.node.depth
        while self.order and (
            len(self.order) >= policy.MAX_EXECUTABLES or self.instructions > policy.MAX_NODES
        ):
            oldest, _ = self.order.popitem(last=False)
            if oldest.recent:
                oldest.recent = False
                self.order[oldest] = None
                continue
            self._forget(oldest)
        self.order[executable] = None
        executable.node.executables[executable.key] = executable

    def drop(self, executable: Prepared) -> None:
        if executable in self.order:
            del self.order[executable]
            self._forget(executable)

    def _forget(self, executable: Prepared) -> None:
        if executable.node.executables.get(executable.key) is executable:
            del executable.node.executables[executable.key]
        self.instructions -= executable.node.depth

    def clear(self) -> None:
        for executable in self.order:
            executable.node.executables.clear()
        self.order.clear()
        self.instructions = 0


EXECUTABLES = _Executables()
register("compiled programs and plans", EXECUTABLES.clear, lambda: len(EXECUTABLES.order))

#: By a template and what is donated: what was compiled, for small and for larger capacities.
_TEMPLATES: Cache[tuple, list[Compiled]] = Cache("templates", policy.MAX_EXECUTABLES)


def _compiled(program: Rolled) -> list[Compiled]:
    """What was compiled of the template of a program."""
    return _TEMPLATES.find((program.template, program.donate), list)


def _roll(node: Node, key: tuple) -> Rolled | None:
    """The program as loops, or None. Found out once."""
    live, donatable = key
    kept = ("rolled", key)
    found = node.executables.get(kept)
    if found is None and ("pieces", live) not in node.executables:
        found = rolled(node, kept, live, donatable)
        if found is not None:
            EXECUTABLES.add(found)
    return found


class _Origin:
    """What was seen from one place in the user's program: for the policy and for the reasons.

    misses: programs not found compiled, until `policy.HITS_TO_SETTLE` in a row were: then it is
    settled. runs: how often each of these ran in pieces. previous: the last program, which ran
    `in_a_row` times. joins: whether ops of concrete inputs join what is pending; new_joins: how
    many programs were given new ones.
    """

    __slots__ = (
        "hits_in_a_row",
        "in_a_row",
        "joins",
        "key",
        "last",
        "misses",
        "new_joins",
        "previous",
        "runs",
        "settled",
    )

    def __init__(self, key: Any) -> None:
        self.key = key
        self.settled = False
        self.misses = 0
        self.hits_in_a_row = 0
        self.in_a_row = 0
        self.joins = True
        self.new_joins = 0
        self.last: tuple[Node, tuple] | None = None
        self.previous: tuple | None = None
        self.runs: OrderedDict[tuple, int] = OrderedDict()

    def hit(self) -> None:
        self.previous = None
        self.hits_in_a_row += 1
        if self.hits_in_a_row >= policy.HITS_TO_SETTLE:
            self.misses = self.new_joins = 0
            self.settled = True

    def _seen(self, key: tuple) -> int:
        """Note a program that was not found compiled: how often it came before."""
        self.in_a_row = self.in_a_row + 1 if key == self.previous else 1
        self.previous = key
        self.hits_in_a_row = 0
        self.settled = False
        runs = self.runs.pop(key, 0)
        self.runs[key] = runs + 1
        while len(self.runs) > policy.MAX_EXECUTABLES:
            self.runs.popitem(last=False)
        if not runs:
            self.misses += 1
        return runs

    def plan(self, node: Node, live: tuple[int, ...]) -> Plan:
        """How to run a program in pieces."""
        found = node.executables.get(("pieces", live))
        if found is None:
            found = Plan(node, live, self.misses <= policy.NEW_STRUCTURES_BEFORE_PIECES)
            EXECUTABLES.add(found)
        else:
            found.recent = True
        return found

    def rolls(self, template: Template) -> bool:
        """The same of a program that is to run as loops."""
        runs = self._seen((template,))
        return self.misses <= policy.NEW_STRUCTURES_BEFORE_PIECES or runs + 1 >= policy.SIGHTS

    def fuses(self, node: Node, live: tuple[int, ...]) -> bool:
        """Whether to compile this program, which is not, or to run it in pieces; see `policy`."""
        runs = self._seen((id(node), live))
        if len(live) > policy.MANY_OUTPUTS or node.depth > policy.MAX_WHOLE:
            return False
        if node.depth <= policy.SHORT_PROGRAM:
            return runs > 0
        plan = self.plan(node, live)
        few = len(self.runs) <= policy.FEW_STRUCTURES
        times = policy.LOOP_SIGHTS if plan.loops else policy.SIGHTS
        if self.in_a_row >= times or (few and runs + 1 >= times):
            return True
        if not (plan.loops or runs) and self.misses <= policy.NEW_STRUCTURES_BEFORE_PIECES:
            return True
        return runs * len(plan.parts) * policy.PART_SECONDS > policy.compile_seconds(node.depth)


_ORIGINS: OrderedDict[Any, _Origin] = OrderedDict()
_MAX_ORIGINS = 512


def _origin(key: Any) -> _Origin:
    found = _ORIGINS.get(key)
    if found is None:
        found = _ORIGINS[key] = _Origin(key)
        forget_origins(_MAX_ORIGINS)
    return found


def joins(key: Any) -> bool:
    """Whether ops whose inputs have values join a program that begins there."""
    found = _ORIGINS.get(key)
    return found is None or found.joins


def forget_origins(kept: int = 0) -> None:
    """Forget what was seen from all places in the user's program but the last that were new."""
    while len(_ORIGINS) > kept:
        _, oldest = _ORIGINS.popitem(last=False)
        oldest.settled = False


register("origins", forget_origins, lambda: len(_ORIGINS))


# ---------------------------------------------------------------------------------------------
# Running.


def run(program: Program) -> None:
    """Run a pending program, whatever thread asks; fill its live outputs. Does nothing twice.

    The order of the steps is what keeps everything usable after an exception at any of them: the
    program leaves its thread first; its log stays until the results are in their tensors; and
    results land in `program.results` inside one C call.
    """
    with program.lock:
        if program.ran:
            return
        owner = program.owner
        if owner is not None and owner.program is program:
            owner.program = None
            program.log = program.log.copy()  # what its thread may still append is not ours
        slots, tensors = _live(program)
        if slots:
            results = program.results
            if program.calling and not results:
                _fill(_run_apart(program, slots), None, slots, slots, tensors)
                _finish(program)
                return
            if not results:
                program.launched = slots
                try:
                    _launch(program, slots)
                except Exception:
                    if not program.ran:
                        raise
            launched, spread = program.launched, program.spread
            if program.ran or not results:
                return  # a signal handler or a finalizer has wanted a value meanwhile
            _fill(results[0], spread, slots, launched, tensors)
        _finish(program)


def _finish(program: Program) -> None:
    """A program that has run keeps nothing."""
    program.ran = True
    program.log = [program.tree.root]
    program.refs, program.aliases = References(), []
    program.results = []


def _run_apart(program: Program, live: tuple[int, ...]) -> list[Any]:
    """The results of a program that this thread is running already: a finalizer or a signal handler
    wants a value, or an interrupt came as the call ended. It runs in pieces, beside what JAX may be
    tracing."""
    message = (
        "A value was asked for, by a finalizer or a signal handler, while JAX {} "
        f"(at {user_location()}). Ask for it later."
    )
    if _inside_jax(program):
        raise RuntimeError(message.format("ran the program that computes it"))
    plan = _origin(program.origin).plan(program.node, live)
    try:
        with jax.ensure_compile_time_eval():
            return plan.run(*gather(program.log))
    except RecursionError as error:
        raise RuntimeError(message.format("traced an op that it needs")) from error


def _inside_jax(program: Program) -> bool:
    """Whether the C++ code of JAX is running a program, and not its Python code: Python before 3.12
    may collect garbage in it, when the variables are given away and JAX must not be called."""
    if sys.version_info >= (3, 12):
        return False
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename.startswith(JAX_FOLDER):
            return False
        if frame.f_code is _call.__code__:
            return True
        frame = frame.f_back
    return program.calling is True


def _live(program: Program) -> tuple[tuple[int, ...], list[Any]]:
    """Slots whose tensors are alive, and those tensors, aliases included."""
    slots, tensors = waiting(program.refs)
    if program.aliases:
        more, others = waiting(program.aliases)
        return tuple(dict.fromkeys(slots + more)), tensors + others
    return slots, tensors


def waiting(references: list[Any]) -> tuple[tuple[int, ...], list[Any]]:
    """Of the tensors referred to: those alive that have no value, after their slots."""
    tensors = [t for ref in references if (t := ref()) is not None and t._array is None]
    return tuple([t._at[1] for t in tensors]), tensors


def _launch(program: Program, live: tuple[int, ...]) -> None:
    node = program.node
    if program.ran:
        return
    key = (live, tuple(program.donatable))
    COUNTERS.instructions += node.depth
    origin = _origin(program.origin)
    if program.joined_new:
        origin.new_joins += 1
        origin.joins = origin.new_joins <= policy.NEW_JOINS
    executable = node.executables.get(key)
    if executable is None and (ordered := tuple(sorted(live))) != live:
        # A remembered gradient gives its answers in another order than one worked out.
        live = program.launched = ordered
        key = (live, key[1])
        executable = node.executables.get(key)
    if executable is not None:
        _run_compiled(program, origin, executable)
        return
    loops = _roll(node, key)
    if loops is not None:
        if _bind(loops, key):
            _run_compiled(program, origin, loops)
            return
        compiles = origin.rolls(loops.template)
    else:
        compiles = origin.fuses(node, live)
    if not compiles:
        COUNTERS.op_by_op += 1
        program.spread = None
        program.results.append(origin.plan(node, live).run(*gather(program.log)))
        return
    start = time.perf_counter()
    if loops is not None:
        COUNTERS.reason(_reason_of_loops(loops) or _reason(origin, node, live))
        known = _compiled(loops)
        loops.program = compile_for(loops.template, loops.counts, loops.donate, not known)
        _call(program, loops)
        known.append(loops.program)
        _bind(loops, key)
        size = loops.template.instructions
    else:
        COUNTERS.reason(_reason(origin, node, live))
        executable = Executable(node, key, _donations(program, node, live))
        _call(program, executable)
        EXECUTABLES.add(executable)
        size = node.depth
    COUNTERS.compiles += 1
    _notice(time.perf_counter() - start, size)


def _run_compiled(program: Program, origin: _Origin, executable: Executable | Rolled) -> None:
    origin.hit()
    executable.recent = True
    executable.origin = origin if origin.settled else None
    COUNTERS.cache_hits += 1
    _call(program, executable)


def _bind(loops: Rolled, key: tuple) -> bool:
    """Find what was compiled for a program as loops, and keep it at its place in the tree."""
    for compiled in _compiled(loops):
        if compiled.serves(loops.counts):
            node = loops.node
            node.executables.pop(loops.key, None)
            loops.program, loops.key = compiled, key
            node.executables[key] = loops
            return True
    return False


def gather(log: list[Entry]) -> tuple[list[Any], dict[np.dtype, list[Any]]]:
    """The leaves that a program was given: arrays, and scalars by dtype."""
    arrays: list[Any] = []
    scalars: dict[np.dtype, list[Any]] = {}
    for entry in log:
        if isinstance(entry, Node):
            continue
        node, new, packed = entry
        arrays += new
        for dtype, value in zip(node.scalars, packed):
            if dtype in scalars:
                scalars[dtype].append(value)
            else:
                scalars[dtype] = [value]
    return arrays, scalars


#: What is calling a program: C code never leaves it so, Python code does if it is interrupted.
_BY_PYTHON = 1


def _call(program: Program, executable: Executable | Rolled) -> None:
    arguments = executable.arguments(*gather(program.log))
    count = sys.getrefcount
    for i in executable.donate:
        if count(arguments[i]) > _ONLY_OURS:
            # Somebody else holds this buffer and may still read it: give a copy away.
            arguments[i] = copied(arguments[i])
    arguments = arranged(arguments, executable.donate)
    COUNTERS.dispatches += 1
    COUNTERS.fused += 1
    program.spread = executable.spread
    # One C call runs the program and stores its results: an interrupt between the two would lose
    # the buffers of donated variables.
    try:
        program.calling = _BY_PYTHON
        in_x64(program.results.extend, starmap(executable.call, (arguments,)))
    except BaseException as error:
        discard(executable, error)
        raise
    finally:
        program.calling = False


def discard(executable: Executable | Rolled, error: BaseException) -> None:
    """Forget a compiled program that was left by an exception, unless the program raised it: JAX
    may have been interrupted while it traced it, and would take it for recursive from then on."""
    if isinstance(error, jax.errors.JaxRuntimeError):
        return
    EXECUTABLES.drop(executable)
    if isinstance(executable, Rolled):
        for found in _TEMPLATES.values():
            if executable.program in found:
                found.remove(executable.program)


def _fill(
    results: Any,
    spread: Callable[[Any], list[Any]] | None,
    slots: tuple[int, ...],
    launched: tuple[int, ...],
    tensors: list[Any],
) -> None:
    if spread is not None:
        results = spread(results)
    if slots is launched and len(slots) == len(tensors):
        for tensor, array in zip(tensors, results, strict=True):
            tensor._array = array
    else:  # aliases, or fewer tensors alive than at an interrupted first time
        by_slot = dict(zip(launched, results, strict=True))
        for tensor in tensors:
            tensor._array = by_slot[tensor._at[1]]
    if spread is not None:
        for tensor in tensors:
            if tensor._array.__class__ is np.ndarray:
                tensor._at = NOWHERE  # a constant of the host that was not used yet


def _notice(seconds: float, instructions: int) -> None:
    if seconds > policy.SLOW_COMPILE_SECONDS:
        LOGGER.warning(
            "Compiling a step of %d instructions took %.1f s. (Silence: "
            "logging.getLogger('tape_compat').setLevel('ERROR').)",
            instructions,
            seconds,
        )


# ---------------------------------------------------------------------------------------------
# Donation.


def _donations(program: Program, node: Node, live: tuple[int, ...]) -> tuple[int, ...]:
    """Leaves of overwritten variables, each matched with a live output of its shape and dtype."""
    path = node.path()
    avals = slot_avals(path)
    arrays, _ = leaf_layout(path)
    overwritten = set(program.donatable).intersection(arrays)
    room = [avals[slot] for slot in set(live)]
    return matched([(slot, avals[slot]) for slot in sorted(overwritten)], room)


def _baseline() -> int:
    """References counted for an array that only a leaf tuple and a list of arguments hold."""
    leaves = (np.zeros(1),)
    arrays = [leaves[0]]
    return sys.getrefcount(arrays[0])


_ONLY_OURS = _baseline()


# ---------------------------------------------------------------------------------------------
# Why a new compile.


def _reason(origin: _Origin, node: Node, live: tuple[int, ...]) -> str:
    """What distinguishes this program from the last one compiled for the same place."""
    before, origin.last = origin.last, (node, live)
    where = "" if origin is _ORIGINS.get(None) else " of this step"
    if before is None:
        return f"first program{where}: {node.depth} instructions"
    if before[0] is node:
        if before[1] != live:
            return f"other outputs are alive: {len(live)} instead of {len(before[1])}"
        return "other variable buffers are overwritten, or the program had been dropped"
    old, new = before[0].path(), node.path()
    for k, (a, b) in enumerate(zip(old, new, strict=False)):
        if a is not b:
            return _difference(k, a, b)
    return f"{len(new)} instructions instead of {len(old)}"


def _reason_of_loops(loops: Rolled) -> str | None:
    compiled = _compiled(loops)
    if not compiled:
        return None
    n = loops.loops
    return (
        f"the same loops, of {list(loops.counts[:n])} turns: "
        f"compiled for at most {list(compiled[-1].capacities[:n])} before"
    )


def _difference(k: int, old: Node, new: Node) -> str:
    if old.closure is not new.closure:
        return f"instruction {k} is {new.closure!r}, was {old.closure!r}"
    if old.leaves != new.leaves:
        return f"instruction {k} ({new.closure.name}): inputs {_leaves(new)}, were {_leaves(old)}"
    return f"instruction {k} ({new.closure.name}) reads other values"


def _leaves(node: Node) -> str:
    return (
        ", ".join(
            f"scalar {leaf.aval.dtype.name}" if isinstance(leaf, Packed) else repr(leaf)
            for leaf in node.leaves
        )
        or "none new"
    )


def run_now(closure: Closure, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """Run one closure on concrete arrays at once."""
    return in_x64(closure.run, *arrays)


# ---------------------------------------------------------------------------------------------
# The same in C, where it was built: `run` for programs that are compiled, `gather` and `waiting`.

if FASTPATH is not None:
    FASTPATH.setup_run(
        Prepared, Executable, _Origin, copy_all, discard, COUNTERS, run, jax.enable_x64
    )
    waiting, gather, run = FASTPATH.waiting, FASTPATH.gather, FASTPATH.run
