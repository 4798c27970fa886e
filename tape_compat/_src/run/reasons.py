"""Why a program is compiled, in words, and the notice of a slow compile."""

from __future__ import annotations

import logging

from ..core.avals import Packed
from ..core.program import Node
from . import policy
from .choose import History
from .kept import compiled_loops
from .loops.write import LoopProgram

LOGGER = logging.getLogger("tape_compat")


def reason(history: History, in_tape: bool, node: Node, live: tuple[int, ...]) -> str:
    """What distinguishes this program from the last one compiled for the same place."""
    before, history.last = history.last, (node, live)
    if before is None:
        return f"first program{' of this step' if in_tape else ''}: {node.depth} instructions"
    if before[0] is node:
        if before[1] != live:
            return f"other outputs are alive: {len(live)} instead of {len(before[1])}"
        return "other variable buffers are overwritten, or the program had been dropped"
    old, new = before[0].path(), node.path()
    for k, (a, b) in enumerate(zip(old, new, strict=False)):
        if a is not b:
            return _difference(k, a, b)
    return f"{len(new)} instructions instead of {len(old)}"


def reason_of_loops(program: LoopProgram) -> str | None:
    """What distinguishes loops from those compiled of the same template, if there are any."""
    compiled = compiled_loops(program)
    if not compiled:
        return None
    n = program.loops
    return (
        f"the same loops, of {list(program.counts[:n])} iterations: "
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


def notice(seconds: float, instructions: int) -> None:
    """Say that a compile was slow."""
    if seconds > policy.SLOW_COMPILE_SECONDS:
        LOGGER.warning(
            "Compiling a step of %d instructions took %.1f s. (Silence: "
            "logging.getLogger('tape_compat').setLevel('ERROR').)",
            instructions,
            seconds,
        )
