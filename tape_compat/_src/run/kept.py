"""What was prepared to run programs, and how much of it is kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..core.caches import Cache, register
from ..core.program import Node, Runner, Runners
from . import policy
from .loops.template import CompiledLoops, compile_for
from .loops.write import LoopProgram, loop_program
from .op_by_op import OpByOpProgram
from .whole import Compiling


class _Kept:
    """The runners of all nodes. Beyond `policy.MAX_EXECUTABLES`, and `policy.MAX_NODES`
    instructions in all, the first that was not used since it was last spared is dropped (eviction
    by second chance): each use sets its `recent`, which is cheaper than to keep them in order.

    once: of those that are made in little time, the ones that were not used again when looked at
    last. Of them some go much sooner: most programs of a loop that is ever new never come again.
    lock: guards all of this."""

    def __init__(self) -> None:
        self.order: OrderedDict[Runner, None] = OrderedDict()
        self.once: OrderedDict[Runner, None] = OrderedDict()
        self.instructions = self.once_instructions = 0
        self.lock = threading.RLock()

    def add(self, runner: Runner, quickly_made: bool = False) -> None:
        with self.lock:
            self._add(runner, quickly_made)

    def _add(self, runner: Runner, quickly_made: bool) -> None:
        self.instructions += runner.node.depth
        while self.order and (
            len(self.order) >= policy.MAX_EXECUTABLES or self.instructions > policy.MAX_NODES
        ):
            oldest, _ = self.order.popitem(last=False)
            if oldest.recent:
                oldest.recent = False
                self.order[oldest] = None
                continue
            self._forget(oldest)
        self.order[runner] = None
        if quickly_made:
            self.once[runner] = None
            self.once_instructions += runner.node.depth
            self._forget_some()

    def _forget_some(self) -> None:
        while (
            len(self.once) > policy.FEW_ONCE and self.once_instructions > policy.ONCE_INSTRUCTIONS
        ):
            oldest = next(iter(self.once))
            self._not_once(oldest)
            if not oldest.recent:
                self.drop(oldest)

    def _not_once(self, runner: Runner) -> None:
        if runner in self.once:
            del self.once[runner]
            self.once_instructions -= runner.node.depth

    def drop(self, runner: Runner) -> None:
        with self.lock:
            if runner in self.order:
                del self.order[runner]
                self._forget(runner)

    def _forget(self, runner: Runner) -> None:
        runner.origin = None
        runners = runner.node.runners
        if runners is not None and runners.remove(runner):
            runner.node.runners = None
        self.instructions -= runner.node.depth
        self._not_once(runner)

    def clear(self) -> None:
        with self.lock:
            for runner in self.order:
                runner.node.runners = runner.origin = None
            self.order.clear()
            self.once.clear()
            self.instructions = self.once_instructions = 0
        _TEMPLATES.clear()


KEPT = _Kept()
register("runners", KEPT.clear, lambda: len(KEPT.order))

#: By a template and what is donated: what was compiled, for small and for larger capacities.
_TEMPLATES: Cache[tuple, list[CompiledLoops]] = Cache("templates", policy.MAX_EXECUTABLES)


def runners_of(node: Node) -> Runners:
    if node.runners is None:
        node.runners = Runners()
    return node.runners


def keep(runner: Runner) -> None:
    """Keep what was compiled for the program that ends at its node, to be found by its key."""
    runners_of(runner.node).compiled[runner.key] = runner
    KEPT.add(runner)


def as_loops(node: Node, key: tuple) -> LoopProgram | None:
    """The program with its loops as loops, or None. Found out once."""
    runners = node.runners
    if runners is not None and key in runners.loops:
        return runners.loops[key]
    live, donatable = key
    found = loop_program(node, key, live, donatable)
    if found is not None:
        KEPT.add(found, quickly_made=True)
    runners_of(node).loops[key] = found
    return found


def template_of(program: LoopProgram) -> tuple:
    """What programs have in common that one compiled template may serve."""
    return program.template, program.donate


def compiled_loops(program: LoopProgram) -> list[CompiledLoops]:
    """What was compiled of the template of a program."""
    return _TEMPLATES.find(template_of(program), list)


def with_new_loops(program: LoopProgram, apart: OpByOpProgram) -> LoopProgram:
    """A program with its template, to be compiled for its loops."""
    first, (template, donate) = not compiled_loops(program), template_of(program)
    program.compiled = compile_for(template, program.counts, donate, first, apart.care)
    return program


#: What another thread compiles: programs by their nodes and keys, loops by their templates.
_BEGUN: Cache[tuple, Compiling[Any]] = Cache("programs begun", policy.MAX_BEGUN)


def begin(key: tuple, make: Callable[[], Any], runs: int) -> None:
    """Let another thread compile a program that has come so often, if none is to yet."""
    _BEGUN.find(key, lambda: Compiling(make())).runs = runs


def begun(key: tuple) -> Any:
    """What another thread has compiled; None if none was to, or that failed."""
    found = _BEGUN.pop(key)
    return None if found is None else found.result()


def bind(program: LoopProgram) -> bool:
    """Let a program run by what was compiled of its template, if that serves its loops."""
    for compiled in compiled_loops(program):
        if compiled.serves(program.counts):
            program.compiled = compiled
            runners_of(program.node).compiled[program.key] = program
            return True
    return False


def op_by_op(node: Node, live: tuple[int, ...]) -> OpByOpProgram:
    """How to run a program op by op."""
    found = None if node.runners is None else node.runners.op_by_op.get(live)
    if found is None:
        found = runners_of(node).op_by_op[live] = OpByOpProgram(node, live)
        KEPT.add(found, quickly_made=True)
    else:
        found.recent = True
    return found


def discard(runner: Runner) -> None:
    """Forget a runner, and what was compiled of its template."""
    KEPT.drop(runner)
    if isinstance(runner, LoopProgram):
        for found in _TEMPLATES.values():
            if runner.compiled in found:
                found.remove(runner.compiled)
