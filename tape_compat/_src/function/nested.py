"""A function that is recorded for unknown sizes, called inside another that knows them.

Where an array grows in a loop, that the host does, TensorFlow runs what was recorded for unknown
sizes; recorded for those of the call the loop would be refused. So the call is a step of the host,
in which the function has its own sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import errors
from ..core.avals import Aval
from ..core.dimensions import Size, Sizes, variables as names_in
from ..core.state import LOCAL
from ..values.capture import leaving, value_of
from ..values.host_steps import takes_steps
from ..values.variable import current, put_into
from .host_control import FunctionCall, record_control
from .retracing import widened, with_specs
from .signature import Arguments, Bound
from .trace import CALLED, Trace


def trace_of_own_sizes(function: Any, bound: Bound) -> Trace | None:
    """The trace of a `Function` to be called inside another with arguments of known sizes, where it
    was to be recorded for unknown ones: one for these sizes if the host does nothing of it; the one
    for unknown sizes if these are not possible. None if the host can take its steps one by one."""
    general = widened(function._signature.general(bound))
    if bound.has_unknown or not general.has_unknown or not takes_steps():
        return None
    known = with_specs(bound)[1]
    kept = function._own_sizes
    with function._lock:
        if known.key not in kept:
            with leaving():
                kept[known.key] = _of_own_sizes(function, known)
        return kept[known.key]


def _of_own_sizes(function: Any, known: Bound) -> Trace | None:
    try:
        found: Trace = function._recorded(known, False, settled=True, again=False)
        return None if found.graph.in_parts else found
    except errors.NeedsValue:
        return None
    except Exception:  # such as a loop that makes an array grow
        try:
            found = function.trace_for(known)
        except Exception:
            return None
        return found if found.graph.in_parts and found.shapes is not None else None


def call_inside(trace: Trace, arguments: Arguments) -> Any:
    """Call a trace inside another function; one that the host does steps of as one step."""
    tensors, variables = arguments.tensors, arguments.variables
    if not trace.graph.in_parts:
        return trace.call(tensors, variables)
    found, handles = trace.of_variables(variables)
    if CALLED.graphs is not None:
        CALLED.graphs[id(trace.graph)] = trace.graph
    found.note_variables()
    held = [current(handles.get(h, h)) for h in trace.graph.variable_avals]
    results = _results(trace, trace.sizes([*tensors, *held]), LOCAL.state.capture.sketch.size)
    closure, takes = trace.captured.closure, trace.takes()
    step = FunctionCall(trace.graph.name, closure, results, takes, trace.at_values)
    outputs = record_control(step, (*tensors, *map(value_of, found.sources)))
    count = len(outputs) - len(found.cells)
    for handle, tensor in zip(found.cells, outputs[count:], strict=True):
        put_into(handle, tensor)
    return trace.results.packed(outputs[:count])


def _results(trace: Trace, sizes: Sizes, unknown: Callable[[], Any]) -> list[Aval]:
    """The avals of what it gives, with these sizes for those of its arguments, and others, each
    made by `unknown`, for those that a call tells."""
    graph = trace.graph
    told = graph.sketch.since(0) if graph.sketch is not None else frozenset()
    made: dict[str, Any] = {}

    def outside(size: Size) -> Size:
        if told.isdisjoint(names_in(size)):
            return sizes.of(size)
        if str(size) not in made:
            made[str(size)] = unknown()
        return made[str(size)]

    given = [*graph.outputs, *[graph.values[handle] for handle in trace.captured.cells]]
    avals = [x._aval for x in given]
    return [Aval.of(tuple(map(outside, aval.shape)), aval.dtype) for aval in avals]
