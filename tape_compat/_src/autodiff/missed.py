"""Reads of variables that a tape has missed.

Tapes know every tensor that a variable held by the variable's identity. So one that tracks the
variable would take for its own what another tape read before, or while it was stopped, when a
gradient of the other uses that value again. There the value goes by an identity that only those
know who were told of the read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..core.state import LOCAL
from ..values.record import IDENTITY
from ..values.tensor import Tensor, next_id, same_value
from . import reverse

#: From the inputs and outputs of a call to the inputs for its derivative.
Shown = Callable[[tuple[Tensor, ...], tuple[int, ...]], tuple[Tensor, ...]]


def missed(tape: Any, calls: reverse.Calls) -> Shown | None:
    """How the inputs of a tape's calls are to be shown to the recorders of this thread; None if
    they have seen all that they would take them for."""
    hidden: dict[tuple[int, int], list[Any]] = {}
    for recorder in LOCAL.state.recorders:
        if recorder is not tape:
            for outputs, identity in _missed(calls, recorder):
                hidden.setdefault((outputs[0], identity), []).append(recorder)
    if not hidden:
        return None
    handles: dict[tuple, tuple[Tensor, Tensor]] = {}

    def handle(x: Tensor, recorders: list[Any] | None) -> Tensor:
        if recorders is None:
            return x
        key = (id(x), *map(id, recorders))
        if key not in handles:
            handles[key] = (x, _handle(x, recorders))
        return handles[key][1]

    def shown(inputs: tuple[Tensor, ...], outputs: tuple[int, ...]) -> tuple[Tensor, ...]:
        return tuple([handle(x, hidden.get((outputs[0], x._id))) for x in inputs])

    return shown


def _missed(calls: reverse.Calls, recorder: Any) -> Iterator[tuple[tuple[int, ...], int]]:
    """Outputs of the calls that read a variable which a recorder tracks without its seeing it,
    and the variable's identity."""
    variables, ids = recorder.variables_since(), recorder.ids
    if not variables:
        return
    late = max(variables.values())
    for place, out in enumerate(calls[2::4]):
        if out in ids and not late:
            continue
        outputs = reverse.as_tuple(out)
        seen = any(o in ids for o in outputs)
        for x in reverse.as_tuple(calls[4 * place + 1]):
            since = variables.get(x._id)
            if since is not None and (not seen or outputs[0] < since):
                yield outputs, x._id


def _handle(x: Tensor, recorders: list[Any]) -> Tensor:
    """Another handle on `x`, which all but these recorders know to be connected to it."""
    handle = same_value(x, next_id())
    for recorder in LOCAL.state.recorders:
        if x._id in recorder.ids and all(recorder is not r for r in recorders):
            recorder.record(IDENTITY, (x,), (handle,), None)
    return handle
