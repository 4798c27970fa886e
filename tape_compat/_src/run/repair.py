"""What becomes of a program that fails for good.

It is run instruction by instruction, and what does not depend on one that fails gets its value.
Variables hold what they did before the first that fails, as if it had raised where it was called.
So is one that has too little memory: op by op it may take less.
An interrupt or a fault of the system may be over when somebody asks again:
these leave a program pending until then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import jax
import numpy as np

from ..core.errors import OpError
from ..core.program import Program
from ..core.steps import last_uses, leaf_layout, needed, slot_avals
from .op_by_op import op_runner

#: What says that a program is wrong, and not the moment: mistakes, and what JAX cannot do.
FOR_GOOD = (
    TypeError,
    ValueError,
    LookupError,
    ArithmeticError,
    AttributeError,
    AssertionError,
    NotImplementedError,
    OpError,
)

#: The cells of variables, by their identities.
CELLS: WeakValueDictionary[int, Any] = WeakValueDictionary()


def leaf_values(
    program: Program, arrays: Sequence[Any], scalars: dict[np.dtype, list[Any]]
) -> dict[int, Any]:
    """The leaves of a program by their slots, as they were gathered."""
    places, numbers = leaf_layout(program.node.path())
    env = dict(zip(places, arrays, strict=True))
    for dtype, slots in numbers.items():
        env.update(zip(slots, [np.array(value, dtype) for value in scalars[dtype]], strict=True))
    return env


class Failed(NamedTuple):
    """What an instruction raised, and its first slot."""

    error: Exception
    slot: int


def run_what_can(
    program: Program, live: Sequence[int], leaves: dict[int, Any]
) -> tuple[dict[int, Any], Failed | None]:
    """Of these slots, and those that variables held, the values of what does not fail; and the
    first instruction that fails. leaves: values by their slots."""
    env = dict(leaves)
    path = program.node.path()
    avals = slot_avals(path)
    kept = {*live, *[old for old in program.changed[1::2] if isinstance(old, int)]}
    steps = needed(path, kept)
    drops = last_uses([(*s.inputs, *_slots(s)) for s in steps], kept)
    first = None
    for step, dropped in zip(steps, drops, strict=True):
        if all(slot in env for slot in step.inputs):
            try:
                results = op_runner(step.closure, tuple([avals[i] for i in step.inputs])).now(
                    *[env[i] for i in step.inputs]
                )
                env.update(zip(_slots(step), jax.block_until_ready(results), strict=True))
            except Exception as error:
                first = first or Failed(error, step.first)
        for slot in dropped:
            env.pop(slot, None)
    return env, first


def _slots(step: Any) -> range:
    return range(step.first, step.end)


def put_back(program: Program, leaves: dict[int, Any], env: dict[int, Any], end: int) -> None:
    """Let each variable that holds what an instruction gives, from the slot `end` on, hold the last
    value before that. leaves, env: values by their slots."""
    changed = list(zip(program.changed[::2], program.changed[1::2], strict=True))
    for identity in dict.fromkeys(identity for identity, _ in changed):
        cell = CELLS.get(identity)
        if cell is None or cell.tensor._at[0] is not program or cell.tensor._at[1] < end:
            continue
        for old in reversed([old for known, old in changed if known == identity]):
            if not isinstance(old, int):
                cell.tensor = old
                break
            array = leaves.get(old, env.get(old) if old < end else None)
            gone = isinstance(array, jax.Array) and array.is_deleted()
            if array is not None and not gone:
                cell.restore(array)
                break
