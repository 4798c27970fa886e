"""Runs a program op by op: each op interpreted, or compiled by itself.

A closure on arrays of some shapes is interpreted by NumPy until that has cost what a compile of it
costs; where the interpreter is no gain (an accelerator, a large decomposition) it is compiled at
once.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

import jax
import numpy as np

from ..core import limits
from ..core.avals import Aval
from ..core.caches import keep
from ..core.call import Call, flattened
from ..core.counters import COUNTERS
from ..core.host import in_one_thread, keep_freed_memory, on_host, one_thread
from ..core.op import Closure, equations
from ..core.program import Node, Runner
from ..core.state import LOCAL, MODE
from ..core.steps import Steps, last_uses, leaf_layout, needed, slot_avals
from ..core.traces import with_sizes
from ..core.x64 import in_x64
from . import memory, policy
from .donation import ONLY_OURS, Care
from .interpret import convolutions, decompositions, products
from .interpret.control import CONTROL, ITERATIONS, loop_layout
from .interpret.cost import WHILE_ITERATIONS
from .interpret.plan import ByHand, Interpreted, any_sizes
from .interpret.randomness import HASHES, is_key
from .large_pages import Room

#: Primitives that NumPy computes by BLAS.
_BY_BLAS = frozenset((*products.TABLE, *convolutions.TABLE, *decompositions.TABLE))

#: Where these are, what products take by themselves does not tell what BLAS takes.
_NO_SINGLE_PRODUCT = _BY_BLAS.difference(products.TABLE).union(CONTROL)

#: Primitives that XLA computes by LAPACK, in the threads of OpenBLAS.
_BY_LAPACK = frozenset(
    "cholesky eig eigh geqrf hessenberg householder_product lu qr schur svd".split()
    + ["triangular_solve"]
)


@cache
def _on_host() -> bool:
    """With several devices, arrays may be spread over them."""
    return jax.default_backend() == "cpu" and jax.device_count() == 1


def interprets() -> bool:
    """Whether ops may be interpreted: they run where NumPy does."""
    return policy.INTERPRETS and _on_host()


def unrecorded() -> bool:
    """Whether nobody records what is done, and it may be interpreted: what needs no plan and no
    program is then done at once."""
    state = LOCAL.state
    return not state.deferring and not state.recorders and runs_at_once()


def runs_at_once() -> bool:
    """Whether nothing is recorded before it is run, and it may be interpreted; tapes may follow
    what is done."""
    state = LOCAL.state
    if state.capture is not None or state.program is not None or state.device is not None:
        return False
    return MODE.checks is None and interprets()


def _side(aval: Any) -> float:
    """Of the matrices that an array may hold, that of a square one which takes as long."""
    if len(aval.shape) < 2:
        return 0.0
    rows, columns = aval.shape[-2:]
    return (rows * columns * min(rows, columns)) ** (1 / 3)


def _multiplies(eqn: Any) -> bool:
    """Whether LAPACK multiplies whole matrices for it, as vectors of an SVD, or a triangular one
    by as many right sides: for that OpenBLAS has several threads earlier."""
    if eqn.primitive.name == "svd":
        return eqn.params["compute_uv"]
    if eqn.primitive.name != "triangular_solve":
        return False
    sizes = eqn.invars[1].aval.shape[-2:]
    known = all(isinstance(n, int) for n in sizes)
    return not known or min(sizes) >= policy.SEVERAL_SIDE


class Change(NamedTuple):
    """A change of some elements of an array that nobody else holds: a function in C, and what it
    takes, the flat array first."""

    put: Callable[..., None]
    arguments: tuple[Any, Any, Any]


class OpRunner:
    """How one closure runs by itself on arrays of some shapes.

    work: about how many seconds it takes when it is interpreted; products: those of products of
    arrays; kernels: those of convolutions by kernels of this library, which it takes compiled, too.
    dry: whether to run it on zeros does no harm: it calls nothing outside and is sure to end.
    outputs: the avals of its results. compiled: whether it was. price: about what its compile
    takes. equations: how many a compiler has to do something about. idle: whether it gives what it
    takes, of which XLA makes nothing. context: what calls `run` on the host. side: rows of a square
    matrix that takes as long as the largest that LAPACK decomposes in several threads, 0 if it has
    none. moves: whether it hardly does more than to move elements, which no compiler does faster.
    large: whether there may be no memory for the results. stacks: the bytes of what loops in it
    give, which it may hold beside its results.
    """

    def __init__(self, closure: Closure, avals: tuple[Aval, ...]):
        self._closure = closure
        self.outputs = closure.infer(avals)[0]
        self.large = memory.may_lack(sum([aval.nbytes for aval in self.outputs]))
        self._made = made = _planned(closure, avals)
        plan, names, blas, self.stacks = made.plan, made.names, made.blas, made.stacks
        self.dry = not made.effects and "while" not in names
        self._plan: Interpreted | ByHand | None = None if plan.compiled_alone else plan
        self.idle = plan.steps == 0
        self.equations = plan.equations
        hashes = sum([names[name] for name in HASHES])
        dear = names["conv_general_dilated"] - plan.kernel_calls
        inside = plan.equations - plan.steps
        products = names["dot_general"] if inside else 0
        self.price = policy.op_compile_seconds(dear, hashes, inside, products, made.stacked)
        part = isinstance(closure, Call)
        if part:
            least, steps = policy.op_compile_seconds(), len(closure.flat.steps)
            self.price += policy.compile_seconds(steps, equations=plan.equations) - least
        self._left = self.price
        self.compiled = False
        self.work = plan.seconds
        by_blas = not blas.isdisjoint(_BY_BLAS)
        if by_blas and blas.isdisjoint(_NO_SINGLE_PRODUCT):
            by_blas = plan.products > policy.THREADS_MATTER_SECONDS
        decomposes = _on_host() and not _BY_LAPACK.isdisjoint(names)
        side = max(map(_side, avals), default=0.0) if decomposes else 0.0
        self.side = side if policy.in_several_threads(side, made.multiplies) else 0.0
        threads = by_blas and self.work > policy.THREADS_MATTER_SECONDS
        if not names.keys().isdisjoint(decompositions.BY_LAPACK):
            threads = threads or policy.in_one_thread(self.side)
        self.context: Callable[..., Any] = in_one_thread if threads else on_host
        few = plan.arithmetic <= policy.WITH_MOVES_SECONDS
        self.moves = self._plan is not None and few
        self.products, self.kernels = plan.products, plan.kernels
        if part:
            compiled = policy.part_seconds(self.work, plan.operations, plan.products, plan.kernels)
        else:
            compiled = policy.compiled_seconds(self.work, plan.products, plan.kernels)
        self._loss = 0.0 if self.moves else self.work - compiled
        if self._plan is not None and any(aval.nbytes >= policy.LARGE_BYTES for aval in avals):
            keep_freed_memory()

    @property
    def seconds(self) -> float:
        """About how many seconds it takes as it is run now."""
        return self.work if self._plan is not None else self.work - self._loss

    def run(self, *arrays: Any) -> Sequence[Any]:
        """The results, of NumPy while it is interpreted. Call it by `on_host` and `in_x64`."""
        return self._run(arrays, self._loss)

    def run_in_program(self, *arrays: Any) -> Sequence[Any]:
        """The same where the program may be compiled as a whole before that is worth it."""
        return self._run(arrays, policy.SHARE_IN_PROGRAMS * self._loss)

    @property
    def by_numpy(self) -> bool:
        """Whether `interpret` calls nothing of JAX."""
        return self._plan.__class__ is Interpreted

    @property
    def scattered(self) -> int | None:
        """The input of which it only changes some elements, while it is interpreted."""
        return self._plan.scattered if self._plan is not None else None

    def changes(self, *arrays: Any) -> Change:
        """What it changes of the input `scattered`. That costs so little that it is not counted."""
        assert isinstance(self._plan, Interpreted) and self._plan.scattered is not None
        COUNTERS.interpreted += 1
        given = [np.asarray(array) for array in arrays]
        put, places, updates = self._plan.changes(given)
        return Change(put, (given[self._plan.scattered].reshape(-1), places, updates))

    @property
    def compiles_next(self) -> bool:
        """Whether the next run in a program is to compile it."""
        left = self._left - policy.SHARE_IN_PROGRAMS * self._loss
        return not self.compiled and (self._plan is None or left <= 0.0)

    def _run(self, arrays: Sequence[Any], loss: float) -> Sequence[Any]:
        if self._plan is not None and interprets():
            self._left -= loss
            if self._left > 0.0:
                before = ITERATIONS.taken
                results = self.interpret(arrays)
                self._left -= loss * max(0.0, (ITERATIONS.taken - before) / WHILE_ITERATIONS - 1.0)
                return results
            self._plan = None
        self.compiled = True
        if policy.in_one_thread(self.side):
            with one_thread():
                return jax.block_until_ready(self._closure.run(*arrays))
        results = self._closure.run(*arrays)
        return jax.block_until_ready(results) if self.large else results

    def now(self, *arrays: Any) -> list[Any]:
        """`run` by itself."""
        try:
            return list(map(result, on_host(self.inside, arrays)))
        except (MemoryError, jax.errors.JaxRuntimeError) as error:
            if not memory.lacks(error):
                raise
            raise memory.exhausted(error, self._closure.name, self.outputs) from error

    def inside(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """`now`, for who has called `on_host`. Plans need no dtypes of JAX; what one wrote by hand
        may, if it computes."""
        plan, loss = self._plan, self._loss
        by_numpy = plan.__class__ is Interpreted or self.moves
        if plan is None or not by_numpy or self._left <= loss or not interprets():
            return in_x64(self.context, self.run, *arrays)
        if self.context is not on_host:
            return self.context(self._run, arrays, loss)
        if loss > 0.0:
            return self._run(arrays, loss)
        COUNTERS.interpreted += 1
        return plan.run([x if x.__class__ in AS_HERE else as_here(x) for x in arrays])

    def interpret(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """The results by NumPy, where there is a rule for every primitive."""
        if self._plan is None:
            return self._closure.run(*arrays)
        COUNTERS.interpreted += 1
        return self._plan.run(list(map(np.asarray, arrays)))


class _Planned(NamedTuple):
    """How a closure is interpreted, and what is in it.

    names: the primitives; blas: those of them that no kernel of this library does. effects: whether
    it does more than compute. multiplies: whether LAPACK multiplies matrices for it. stacks: the
    bytes of what loops in it give; stacked: how many arrays have a row for each of their
    iterations.
    """

    plan: Interpreted | ByHand
    names: Counter[str]
    blas: set[str]
    effects: bool = False
    multiplies: bool = False
    stacks: int = 0
    stacked: int = 0


def _planned(closure: Closure, avals: tuple[Aval, ...]) -> _Planned:
    """The plan of a closure for arrays of these shapes."""
    by_hand = closure.by_hand
    if by_hand is not None:
        outputs, single = closure.infer(avals)
        plan = ByHand(by_hand, single, sum([aval.size for aval in outputs]))
        return _Planned(plan, Counter(HASHES[:1]), set())
    if closure.op.broadcasts and len(closure.runners) >= policy.NEW_SIZES:
        found = _as_others(closure, avals)
        if found is not None:
            return found
    jaxpr, sizes, _, _, noted = closure.trace(avals)
    if _Inside not in noted:
        noted[_Inside] = _Inside.of(jaxpr)
    names, multiplies, loops, stacked = noted[_Inside]
    stacks = sum([_nbytes(x.aval) for eqn in loops for x in with_sizes(eqn, sizes, {}).outvars])
    plan = Interpreted(jaxpr, sizes)
    blas = set(names) if plan.compiled_alone else set(names) - decompositions.BY_KERNEL
    return _Planned(plan, names, blas, bool(jaxpr.effects), multiplies, stacks, stacked)


class _Inside(NamedTuple):
    """What is in a jaxpr: the primitives, whether LAPACK multiplies matrices for it, the loops, and
    how many arrays have a row for each of their iterations."""

    names: Counter[str]
    multiplies: bool
    loops: list[Any]
    stacked: int

    @staticmethod
    def of(jaxpr: Any) -> _Inside:
        inside = list(equations(jaxpr.jaxpr))
        names = Counter([eqn.primitive.name for eqn in inside])
        loops = [eqn for eqn in inside if eqn.primitive.name in ("scan", "while")]
        stacked = sum([_stacked(eqn) for eqn in loops if eqn.primitive.name == "scan"])
        return _Inside(names, any(map(_multiplies, inside)), loops, stacked)


def _as_others(closure: Closure, avals: tuple[Aval, ...]) -> _Planned | None:
    """That of an elementwise op for one more set of shapes, by its plan that serves all of them."""
    if max([aval.nbytes for aval in avals]) > policy.LARGE_BYTES:
        return None
    dtypes = tuple([aval.np_dtype for aval in avals])
    served = any_sizes(closure, dtypes)
    if served is None:
        return None
    for others, runner in list(closure.runners.items()):
        if tuple([aval.np_dtype for aval in others]) == dtypes:
            elements = sum([aval.size for aval in closure.infer(avals)[0]])
            return runner._made._replace(plan=served.at(elements))
    return None


def _stacked(scan: Any) -> int:
    """How many arrays have a row for each iteration of it."""
    constants, carried = loop_layout(scan.params)
    return len(scan.invars) + len(scan.outvars) - constants - 2 * carried


def _nbytes(aval: Any) -> int:
    return 0 if is_key(aval) else aval.size * aval.dtype.itemsize


def op_runner(closure: Closure, avals: tuple[Aval, ...]) -> OpRunner:
    """The one runner of a closure on arrays of these shapes."""
    found = closure.runners.get(avals)
    if found is None:
        runner, bound = OpRunner(closure, avals), limits.MAX_SHAPES_PER_CLOSURE
        found = keep(closure.runners, avals, runner, bound)
    return found


class Instruction(NamedTuple):
    """One op: the numbers of what it reads and gives, and of what is not read again."""

    run: Callable[..., Sequence[Any]]
    inputs: tuple[int, ...]
    first: int
    end: int
    drops: tuple[int, ...]


class OpByOpProgram(Runner):
    """How one program runs op by op. Made once for a program and its live outputs.

    dry: whether to run it on zeros does no harm. due: at which run it is to be compiled, if a
    function that it calls says so. care: of what is compiled of it; one that is large is given no
    buffers. price: about how long it takes to compile it as a whole, beyond what its length says.
    to_compile: how many of its instructions a compiler has to do something about; equations: how
    many these are.
    """

    def __init__(self, node: Node, live: tuple[int, ...]):
        super().__init__(node, (live, ()))
        path = node.path()
        arrays, scalars = leaf_layout(path)
        self._arrays = arrays
        self._dtypes = list(scalars)
        leaves = [*arrays, *[slot for slots in scalars.values() for slot in slots]]
        called = Steps.numbered(needed(path, live), leaves, live)
        dues = [s.closure.due for s in called.steps if isinstance(s.closure, Call)]
        self.due = min(filter(None, dues), default=0)
        inputs, steps, self._live = flattened(called)
        known = slot_avals(path)
        avals = [known[slot] for slot in leaves]
        self._runners = []
        for step in steps:
            given = tuple([avals[i] for i in step.inputs])
            self._runners.append(op_runner(step.closure, given))
            avals += step.closure.infer(given)[0]
        self._more = [None] * (len(avals) - inputs)
        drops = last_uses([(*s.inputs, *range(s.first, s.end)) for s in steps], self._live)
        self._calls = [
            Instruction(runner.run_in_program, step.inputs, step.first, step.end, dropped)
            for runner, step, dropped in zip(self._runners, steps, drops, strict=True)
        ]
        sizes = [aval.nbytes for aval in avals]
        most = self._most_held(sizes, inputs)
        large = memory.may_lack(most) and memory.may_copy(sum(sizes[:inputs]))
        self.room = self._find_room(sizes, inputs, most)
        #: The slots given away last, and the instructions that change arrays in them in place.
        self._given_away: tuple[int, ...] | None = None
        self._free: frozenset[int] = frozenset()
        self._fixed_loss = 0.0
        self._scatters = self._find_scatters(sizes[: len(arrays)])
        threads = any(runner.context is in_one_thread for runner in self._runners)
        self._context = in_one_thread if threads else on_host
        side = max([runner.side for runner in self._runners], default=0)
        self.care = Care(policy.in_one_thread(side), large)
        self.dry = all(runner.dry for runner in self._runners)
        least = policy.op_compile_seconds()
        self.price = sum([runner.price - least for runner in self._runners])
        self.equations = sum([runner.equations for runner in self._runners])
        self.to_compile = len(self._runners) - sum([runner.idle for runner in self._runners])

    @property
    def instructions(self) -> int:
        """How many there are, those of calls included."""
        return len(self._calls)

    @property
    def compile_seconds(self) -> float:
        """About how long it takes to compile what ops the next run is to compile by themselves."""
        return sum([runner.price for runner in self._runners if runner.compiles_next])

    @property
    def seconds(self) -> float:
        """About how many seconds a run takes."""
        alone = sum([runner.seconds for runner in self._runners])
        return alone + policy.OP_SECONDS * len(self._runners)

    def loss(self, donatable: Sequence[int]) -> float:
        """About how many seconds longer a run takes than one of the compiled program, where the
        arrays in these slots are given away."""
        free = self._in_place(donatable)
        seconds = sum([runner.seconds for runner in self._runners])
        return seconds - sum([self._runners[i].seconds for i in free]) + self._fixed_loss

    def _in_place(self, donatable: Sequence[int]) -> frozenset[int]:
        """The instructions that only change elements of an array in one of these slots, as the last
        to read it, and whose result no other reads."""
        key = tuple(donatable)
        if key != self._given_away:
            self._given_away = key
            given = {i for i, slot in enumerate(self._arrays) if slot in key}
            self._free = frozenset(
                [i for i in self._scatters if self._calls[i].inputs[self._scatters[i]] in given]
            )
            runners = [runner for i, runner in enumerate(self._runners) if i not in self._free]
            work = sum([runner.work for runner in runners])
            products = sum([runner.products for runner in runners])
            kernels = sum([runner.kernels for runner in runners])
            fused = policy.fused_seconds(work, products, kernels)
            self._fixed_loss = policy.OP_SECONDS * len(self._runners) - fused
        return self._free

    def _find_scatters(self, sizes: Sequence[int]) -> dict[int, int]:
        """The instructions that change elements of a large array leaf which nobody reads after
        them, with the input that it is; `sizes`: of the array leaves, in bytes."""
        found = {}
        read: Counter[int] = Counter(i for call in self._calls for i in call.inputs)
        for i, (runner, call) in enumerate(zip(self._runners, self._calls, strict=True)):
            place = runner.scattered
            if place is not None and call.end == call.first + 1:
                source = call.inputs[place]
                large = source < len(sizes) and sizes[source] >= policy.IN_PLACE_BYTES
                if (
                    large
                    and source in call.drops
                    and not read[call.first]
                    and self._live.count(call.first) == 1
                ):
                    found[i] = place
        return found

    def _most_held(self, sizes: Sequence[int], inputs: int) -> int:
        """How many bytes it holds at most, beside its inputs. sizes: of all values, in bytes; the
        inputs are the first."""
        most = held = 0
        for call, runner in zip(self._calls, self._runners, strict=True):
            held += sum(sizes[call.first : call.end])
            most = max(most, held + runner.stacks)
            held -= sum([sizes[i] for i in call.drops if i >= inputs])
        return most

    def _find_room(self, sizes: Sequence[int], inputs: int, most: int) -> Room | None:
        """About how much memory it takes compiled, if that is much. sizes, inputs: as above; most:
        what it holds."""
        if most < policy.LARGE_PROGRAM_BYTES:
            return None
        read: dict[int, set[int]] = {i: {i} for i in range(inputs)}
        for call, runner in zip(self._calls, self._runners, strict=True):
            leaves = set().union(*[read[i] for i in call.inputs])
            made = sum(sizes[call.first : call.end]) + runner.stacks
            arrays = [i for i in leaves if i < len(self._arrays)]
            if arrays and made >= policy.SHARE_OF_ROOM * most:
                return Room(int(policy.ROOM * most), min(arrays, key=sizes.__getitem__))
            read.update(dict.fromkeys(range(call.first, call.end), leaves))
        return None

    def run(self, arrays: Iterable[Any], scalars: dict[np.dtype, list[Any]]) -> list[Any]:
        """Run on the leaves; gives the live outputs. Arrays go after their last use."""
        env = self._given(arrays, scalars)
        return in_x64(self._context, self._run, env, frozenset(), [])

    def run_in_place(
        self,
        arrays: list[Any],
        scalars: dict[np.dtype, list[Any]],
        donatable: Sequence[int],
    ) -> tuple[list[Any], list[Change]]:
        """`run`, and the changes that make the results what they are: of arrays in the slots
        `donatable` that nobody holds but the leaves and `arrays`. Nothing is changed yet."""
        changing = self._in_place(donatable)
        if changing:
            changing = frozenset(
                [i for i in changing if _is_ours(arrays, self._calls[i].inputs[self._scatters[i]])]
            )
        changes: list[Change] = []
        env = self._given(arrays, scalars)
        results = in_x64(self._context, self._run, env, changing, changes)
        return _apart(results, changes) if changes else (results, changes)

    def _given(self, arrays: Iterable[Any], scalars: dict[np.dtype, list[Any]]) -> list[Any]:
        numbers = [np.array(value, dtype) for dtype in self._dtypes for value in scalars[dtype]]
        return [*arrays, *numbers, *self._more]

    def _run(self, env: list[Any], changing: frozenset[int], changes: list[Change]) -> list[Any]:
        for i, (run, inputs, first, end, drops) in enumerate(self._calls):
            if i in changing and self._runners[i].scattered is not None:
                changes.append(self._runners[i].changes(*[env[slot] for slot in inputs]))
                env[first] = env[inputs[self._scatters[i]]]
            else:
                env[first:end] = run(*[env[slot] for slot in inputs])
            for slot in drops:
                env[slot] = None
        return [result(env[slot]) for slot in self._live]


def _apart(results: list[Any], changes: list[Change]) -> tuple[list[Any], list[Change]]:
    """The same, where nothing else is in the memory of the arrays to be changed, and nothing still
    reads it, as ops that JAX compiled may do in threads of their own."""
    jax.block_until_ready(results)
    changed = [change.arguments[0] for change in changes]

    def own(array: Any) -> Any:
        if array.__class__ is not np.ndarray and not isinstance(array, HostResult):
            return array
        return array.copy() if any(np.may_share_memory(array, x) for x in changed) else array

    whole = {x.__array_interface__["data"][0] for x in changed}
    results = [
        x if x.__class__ is np.ndarray and x.flags.owndata and x.ctypes.data in whole else own(x)
        for x in results
    ]
    return results, [
        Change(put, (flat, own(places), own(updates))) for put, (flat, places, updates) in changes
    ]


def _is_ours(arrays: list[Any], i: int) -> bool:
    """Whether an array of the host is held by the leaves of a program and this list alone."""
    if arrays[i].__class__ is not np.ndarray or sys.getrefcount(arrays[i]) > ONLY_OURS:
        return False
    flags = arrays[i].flags
    return flags.owndata and flags.writeable and flags.c_contiguous


#: Classes of what plans read and give as it is.
AS_HERE = frozenset((np.ndarray, *[np.dtype(kind).type for kind in "?bhilqBHILQefdgFDG"]))


def as_here(array: Any) -> Any:
    """An array as plans of NumPy read it: one number is a scalar, of which arithmetic takes a tenth
    of the time."""
    array = np.asarray(array)
    return array if array.ndim else array[()]


class HostResult(np.ndarray):
    """A small array that was computed on the host. It is no constant: what reads it takes it as it
    takes what a compiled program computed, so that a program is the same either way. A larger one
    is moved to the device like a constant."""

    __slots__ = ()


def result(array: Any) -> Any:
    """What a tensor holds of what an op gave."""
    if isinstance(array, jax.Array):
        return array
    array = np.asarray(array)
    return array.view(HostResult) if array.size <= policy.HOST_SIZE else array
