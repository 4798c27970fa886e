"""A record that the host does steps of, done for several rows at once.

Each part of it takes all rows: a step of the host stacked texts, a program what `jax.vmap` makes of
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.avals import Aval
from ..core.control import Batched, calling, structured
from ..values.capture import Drawn, value_of
from ..values.host_steps import HostStep, PythonStep
from ..values.record import flush
from ..values.tensor import Tensor, concrete
from .part_runs import as_program
from .program_parts import ProgramPart, parts_of
from .trace import Trace


class RowParts:
    """The parts of a trace, of stacked inputs."""

    def __init__(self, trace: Trace):
        self._results = trace.results
        self._found = trace.captured
        self._inputs = len(trace.inputs)
        self._parts = parts_of(trace.captured.closure)

    def possible(self) -> bool:
        """Whether all its parts can take rows, and rows are all that it needs to know."""
        found = self._found
        if found.cells or found.closure.effect:
            return False
        if any(isinstance(source, Drawn) for source in found.sources):
            return False
        if not all(isinstance(leaf, int) or leaf == (None,) for leaf in self._results.leaves):
            return False
        return all(map(_takes_rows, self._parts))

    def __call__(self, count: int, columns: Sequence[Tensor]) -> Any:
        """The results for so many rows, stacked."""
        values: dict[int, Tensor] = dict(enumerate(columns))
        by_rows = dict.fromkeys(values, True)
        for i, source in enumerate(self._found.sources, self._inputs):
            values[i], by_rows[i] = value_of(source), False
        for part in self._parts:
            given = tuple([values[i] for i in part.inputs])
            rows = tuple([by_rows[i] for i in part.inputs])
            values.update(zip(part.outputs, _done(part, count, given, rows), strict=True))
            by_rows.update(dict.fromkeys(part.outputs, any(rows)))
        outputs = [(values[i], by_rows[i]) for i in self._found.closure.flat.outputs]
        return self._results.packed([x if rows else _repeated(x, count) for x, rows in outputs])


def _takes_rows(part: ProgramPart) -> bool:
    closure = part.closure
    if isinstance(closure, PythonStep):
        if any(aval.unknown for aval in closure.avals):
            return False
        return isinstance(closure, HostStep) and closure.rows is not None
    return not closure.unknown


def _done(
    part: ProgramPart, count: int, given: tuple[Tensor, ...], rows: tuple[bool, ...]
) -> Sequence[Tensor]:
    """What a part gives. rows: which of what it takes is stacked; if any is, all that it gives
    is."""
    closure = part.closure
    if not isinstance(closure, HostStep):
        if any(rows):
            inputs, outputs = len(given), len(part.outputs)
            places = range(inputs, inputs + outputs)
            steps = calling(closure, outputs, inputs, range(inputs), places)
            closure = structured(Batched, "Map", (steps,), count, rows)
        return as_program(closure, given)
    flush()
    if not any(rows):
        return closure.done(None, *given)
    if any(x._aval.shape for x, stacked in zip(given, rows) if not stacked):
        raise NotImplementedError(f"{closure.name} of rows and of what is the same for all")
    found = closure.of_rows(*given)
    wanted = [((count, *aval.shape), aval.dtype) for aval in closure.avals]
    if [(x._aval.shape, x._aval.dtype) for x in found] != wanted:
        raise ValueError(f"{closure.name} does not give rows for rows")
    return found


def _repeated(x: Tensor, count: int) -> Tensor:
    shape = (count, *x._aval.shape)
    return concrete(np.broadcast_to(np.asarray(x._value()), shape), Aval.of(shape, x.dtype))
