"""Runs programs: finds what was prepared for one or prepares it, calls it, fills its tensors."""

from __future__ import annotations

import functools
import operator
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from itertools import starmap
from typing import Any

import jax
import numpy as np

from ..core.avals import Aval
from ..core.caches import register
from ..core.counters import COUNTERS
from ..core.errors import JAX_FOLDER, user_location
from ..core.host import on_host, one_thread, return_freed_memory
from ..core.native import native, provide
from ..core.op import Closure
from ..core.program import NOWHERE, Entry, Node, Program, References, Runner
from ..core.state import LOCAL
from ..core.x64 import in_x64
from . import kept, policy
from .choose import Choice, Facts, History, choose, layers_settled
from .donation import ONLY_OURS, Care, arranged, copied, copy_all
from .loops.write import LoopProgram
from .memory import lacks
from .op_by_op import OpByOpProgram, interprets, op_runner
from .reasons import notice, reason, reason_of_loops
from .repair import FOR_GOOD, leaf_values, put_back, run_what_can
from .whole import WholeProgram, donations

#: What calls out of programs have raised, until the call of the program raises it.
FAILURES: list[Exception] = []

#: What was seen from each place in the user's program.
_HISTORIES: OrderedDict[Any, History] = OrderedDict()


def _history(origin: Any) -> History:
    found = _HISTORIES.get(origin)
    if found is None:
        found = _HISTORIES[origin] = History(origin)
        forget_histories(policy.MAX_HISTORIES)
    return found


def left_pending(program: Program | None) -> None:
    """Note the place of a program that a function whose Python ran has left pending."""
    if program is not None:
        _history(program.origin).of_function = True


#: Of a place where nothing was seen.
_NOTHING = History()


def joins(origin: Any) -> bool:
    """Whether ops whose inputs have values join a program that begins there."""
    return _HISTORIES.get(origin, _NOTHING).joins


def leads_to_tape(origin: Any) -> bool:
    """Whether ops that follow a program that began there are likely to lead to a tape."""
    found = _HISTORIES.get(origin, _NOTHING)
    return bool(found.leads or found.step) and found.joins


def led_to_tape(origin: Any, ops: int) -> None:
    """Note that so many did."""
    found = _HISTORIES.get(origin)
    if found is not None:
        found.led(ops)


def split_of(origin: Any, begun: int) -> int:
    """How long the log of a program that begins there is when what prepares the next step is likely
    to come, 0 if that is not known; `begun`: how long it is when its own step begins."""
    step = _HISTORIES.get(origin, _NOTHING).step
    return begun + step if step else 0


def note_tail(program: Program) -> None:
    """Note, when a tape is entered, how much of what is pending belongs to the step before it."""
    found = _HISTORIES.get(program.origin)
    tail = program.node.tail(tuple(program.donatable))
    step = len(program.log) - tail - program.begun
    if found is not None and tail and step > 0:
        found.prepared(step)


def forget_histories(left: int = 0) -> None:
    """Forget what was seen from all places in the user's program but the last that were new."""
    while len(_HISTORIES) > left:
        _, oldest = _HISTORIES.popitem(last=False)
        oldest.settled = False


register("histories", forget_histories, lambda: len(_HISTORIES))


@native
def run(program: Program) -> None:
    """Run a pending program, whatever thread asks; fill its live outputs. Does nothing twice.

    The order of the steps is what keeps everything usable after an exception at any of them: the
    program leaves its thread first; its log stays until the results are in their tensors; and
    results land in `program.results` inside one C call.
    """
    with program.lock:
        if program.ran:
            return
        effects = program.node.effects
        owner = program.owner
        if owner is not None and owner.program is program:
            owner.program = None
            program.log = program.log.copy()  # what its thread may still append is not ours
        slots, tensors = _live(program)
        if slots or effects:
            results = program.results
            if program.calling and not results:
                _fill(_run_apart(program, slots), None, slots, slots, tensors)
                _finish(program)
                return
            if not results:
                if program.failure is not None:
                    _repair(program, slots, tensors)
                    return
                program.launched = slots
                try:
                    _launch(program, slots)
                except Exception as error:
                    if not program.ran:
                        program.failure = error
                        lack = lacks(error)
                        if (lack or isinstance(error, FOR_GOOD)) and not program.results:
                            _repair(program, slots, tensors)
                        if not lack or not program.ran:
                            raise
                        if program.failure is not None:
                            raise program.failure from error
            launched, unpack_results = program.launched, program.unpack_results
            if program.ran or not results:
                return  # a signal handler or a finalizer has wanted a value meanwhile
            _fill(results[0], unpack_results, slots, launched, tensors)
        _finish(program)
    if effects:
        finish_effects()


def finish_effects() -> None:
    """Wait for what a program does beside what it gives, and raise what that raised."""
    jax.effects_barrier()
    if FAILURES:
        error = FAILURES[0]
        FAILURES.clear()
        raise error


def _finish(program: Program) -> None:
    """A program that has run keeps nothing."""
    program.ran = True
    program.log = [program.tree.root]
    program.refs, program.aliases = References(), []
    program.results, program.changed = [], []


def _repair(program: Program, slots: Sequence[int], tensors: Sequence[Any]) -> None:
    """Run what can be run of a program that has failed."""
    leaves = leaf_values(program, *gather(program.log))
    env, failed = run_what_can(program, slots, leaves)
    if failed is not None:
        put_back(program, leaves, env, failed.slot)
    found = [tensor for tensor in tensors if tensor._at[1] in env]
    values = [env[tensor._at[1]] for tensor in found]
    places = tuple([tensor._at[1] for tensor in found])
    _fill(values, None, places, places, found)
    program.failure = None if failed is None else failed.error
    _finish(program)


def give_up(program: Program) -> None:
    """Let a program that has failed be as if it had not been recorded, unless it ran after all: its
    variables hold what they did."""
    with program.lock:
        if program.failure is not None and not program.ran and not program.results:
            first = program.node.path()[0].first
            put_back(program, leaf_values(program, *gather(program.log)), {}, first)
            _finish(program)


def failure(program: Program) -> Exception:
    """What a tensor raises that has no value since its program failed."""
    error = program.failure
    return RuntimeError("a program gave no value") if error is None else error.with_traceback(None)


def _run_apart(program: Program, live: tuple[int, ...]) -> list[Any]:
    """The results of a program that this thread is running already: a finalizer or a signal handler
    wants a value, or an interrupt came as the call ended. It runs op by op, beside what JAX may be
    tracing."""
    message = (
        "A value was asked for, by a finalizer or a signal handler, while JAX {} "
        f"(at {user_location()}). Ask for it later."
    )
    if _inside_jax(program):
        raise RuntimeError(message.format("ran the program that computes it"))
    plan = kept.op_by_op(program.node, live)
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


@native
def waiting(references: list[Any]) -> tuple[tuple[int, ...], list[Any]]:
    """Of the tensors referred to: those alive that have no value, after their slots."""
    tensors = [t for ref in references if (t := ref()) is not None and t._array is None]
    return tuple([t._at[1] for t in tensors]), tensors


def _launch(program: Program, live: tuple[int, ...]) -> None:
    node = program.node
    if program.ran:
        return
    COUNTERS.instructions += node.depth
    history = _history(program.origin)
    history.instructions = node.depth
    if program.joined_new:
        history.joined_new()
    if program.prepares:
        history.not_led()
    key, runner = _find(program, node, live)
    live = key[0]
    if runner is not None:
        _run_compiled(program, history, runner)
        return
    loops = kept.as_loops(node, key)
    if loops is not None and kept.bind(loops):
        _run_compiled(program, history, loops)
        loops.recent = False  # it has come once
        return
    seen = history.miss((id(node), live) if loops is None else (loops.template,))
    apart = kept.op_by_op(node, live)
    size = apart.to_compile if loops is None else loops.template.instructions
    history.of_function |= LOCAL.run is not None
    # of the iterations of a loop one is compiled
    once = 1.0 if loops is None else min(1.0, size / max(1, apart.instructions))
    facts = Facts(
        instructions=size,
        outputs=len(live),
        as_loops=loops is not None,
        interpreted=interprets(),
        dry=apart.dry,
        loss=apart.loss(program.donatable),
        op_compiles=apart.compile_seconds,
        price=once * apart.price,
        due=apart.due or (policy.FUNCTION_DUE if history.of_function else 0),
        equations=once * apart.equations,
        seconds=apart.seconds,
    )
    choice = choose(facts, seen)
    if choice is Choice.COMPILED:
        _compile(program, history, key, apart, loops)
        return
    if choice is Choice.BESIDE:
        _begin(program, key, apart, loops, seen.runs)
    COUNTERS.op_by_op += 1
    program.unpack_results = None
    results, changes = apart.run_in_place(*gather(program.log), program.donatable)
    # One C call makes the changes and stores the results: an interrupt between the two would have
    # them made again, or never.
    made = [starmap(put, (arguments,)) for put, arguments in changes]
    program.results.extend(map(operator.itemgetter(0), zip((results,), *made)))


def _begin(
    program: Program, key: tuple, apart: OpByOpProgram, loops: LoopProgram | None, runs: int
) -> None:
    """Let another thread compile a program that has come so often, if none is to yet."""
    if loops is not None:
        kept.begin(kept.template_of(loops), lambda: kept.with_new_loops(loops, apart), runs)
    else:
        kept.begin((program.node, key), lambda: _whole(program, key, apart), runs)


def _compile(
    program: Program,
    history: History,
    key: tuple,
    apart: OpByOpProgram,
    loops: LoopProgram | None,
) -> None:
    """Compile a program and run it; if another thread has begun to, wait for that."""
    node, live = program.node, key[0]
    start = time.perf_counter()
    why = None if loops is None else reason_of_loops(loops)
    COUNTERS.reason(why or reason(history, program.origin is not None, node, live))
    if loops is not None:
        found = kept.begun(kept.template_of(loops))
        if found is not None and found.compiled.serves(loops.counts):
            loops.compiled = found.compiled
        else:
            kept.with_new_loops(loops, apart)
        _call(program, loops)
        kept.compiled_loops(loops).append(loops.compiled)
        kept.bind(loops)
        size = loops.template.instructions
    else:
        whole = kept.begun((node, key)) or _whole(program, key, apart)
        _call(program, whole)
        kept.keep(whole)
        size = apart.instructions
    COUNTERS.compiles += 1
    if size >= policy.LARGE_COMPILE:
        return_freed_memory()
    notice(time.perf_counter() - start, size)


def _whole(program: Program, key: tuple, apart: OpByOpProgram) -> WholeProgram:
    node, reused = program.node, donations(program, program.node, key[0])
    return WholeProgram(node, key, reused, apart.care, apart.room)


def _find(
    program: Program, node: Node, live: tuple[int, ...]
) -> tuple[tuple, WholeProgram | LoopProgram | None]:
    """The key of a program, and what was compiled for it."""
    key = (live, tuple(program.donatable))
    compiled = {} if node.runners is None else node.runners.compiled
    found = compiled.get(key)
    if found is None and (ordered := tuple(sorted(live))) != live:
        # A remembered gradient gives its answers in another order than one worked out.
        program.launched = ordered
        key = (ordered, key[1])
        found = compiled.get(key)
    return key, found


def _run_compiled(program: Program, history: History, runner: WholeProgram | LoopProgram) -> None:
    history.hit()
    runner.recent = True
    COUNTERS.cache_hits += 1
    if isinstance(runner, LoopProgram) and runner.better_whole:
        runner = _switched(program, runner)
    else:
        by_python = program.node.effects or any(runner.care)
        runner.origin = history if history.settled and not by_python else None
    _call(program, runner)


def _switched(program: Program, loops: LoopProgram) -> WholeProgram | LoopProgram:
    """What runs a program whose iterations have large variables of their own, compiled as a whole
    in another thread once it has come often enough."""
    loops.runs += 1
    begin, node, key = layers_settled(loops.node.depth), loops.node, loops.key
    if loops.runs == begin:
        _begin(program, key, kept.op_by_op(node, key[0]), None, loops.runs)
        COUNTERS.reason(f"a step of {node.depth} instructions, loops until now, as a whole")
    if loops.runs == 2 * begin and (whole := kept.begun((node, key))) is not None:
        COUNTERS.compiles += 1
        kept.keep(whole)
        return whole
    return loops


@native
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


def _call(program: Program, runner: WholeProgram | LoopProgram) -> None:
    log = program.log  # it holds what is counted below, if a finalizer runs the program meanwhile
    arguments = runner.arguments(*gather(log))
    if program.ran:
        return
    count = sys.getrefcount
    for i in runner.donate:
        if runner.care.large or count(arguments[i]) > ONLY_OURS:
            # Somebody else holds this buffer and may still read it: give a copy away.
            arguments[i] = copied(arguments[i])
    arguments = arranged(arguments, runner.donate)
    COUNTERS.dispatches += 1
    COUNTERS.fused += 1
    program.unpack_results = runner.unpack_results
    # One C call runs the program and stores its results: an interrupt between the two would lose
    # the buffers of donated variables.
    limit = one_thread() if runner.care.one_thread else nullcontext()
    try:
        program.calling = _BY_PYTHON
        with limit:
            in_x64(program.results.extend, starmap(runner.call, (arguments,)))
            if any(runner.care):
                _wait(program, runner.care)
    except BaseException as error:
        discard(runner, error)
        raise
    finally:
        program.calling = False


def _wait(program: Program, care: Care) -> None:
    """Wait for the results of a program. What it raises is raised where somebody reads them, but
    where it may have had too little memory."""
    try:
        jax.block_until_ready(program.results[0])
    except jax.errors.JaxRuntimeError:
        if care.large:
            program.results.clear()
            raise


def discard(runner: Runner, error: BaseException) -> bool:
    """Forget a compiled program that was left by an exception, unless the program raised it: JAX
    may have been interrupted while it traced it, and would take it for recursive from then on.
    Gives whether the exception says that memory was lacking."""
    if not isinstance(error, jax.errors.JaxRuntimeError):
        kept.discard(runner)
    return lacks(error)


def _fill(
    results: Any,
    unpack_results: Callable[[Any], list[Any]] | None,
    slots: tuple[int, ...],
    launched: tuple[int, ...],
    tensors: list[Any],
) -> None:
    if unpack_results is not None:
        results = unpack_results(results)
    if slots is launched and len(slots) == len(tensors):
        for tensor, array in zip(tensors, results, strict=True):
            tensor._array = array
    else:  # aliases, or fewer tensors alive than at an interrupted first time
        by_slot = dict(zip(launched, results, strict=True))
        for tensor in tensors:
            tensor._array = by_slot[tensor._at[1]]
    for tensor in tensors:
        if tensor._array.__class__ is np.ndarray:
            tensor._at = NOWHERE  # it moves to the device when it is used a second time


def run_on_host(closure: Closure, avals: tuple[Aval, ...], arrays: Sequence[Any]) -> list[Any]:
    """Run one closure on small constants of the host, whatever the backend."""
    runner = op_runner(closure, avals)
    if runner.by_numpy:
        return list(on_host(runner.interpret, arrays))
    with jax.default_device(_host_device()):
        return list(in_x64(on_host, runner.interpret, arrays))


@functools.cache
def _host_device() -> Any:
    return jax.local_devices(backend="cpu")[0]


provide(copy_all=copy_all, discard=discard, enable_x64=jax.enable_x64, histories=_HISTORIES)
