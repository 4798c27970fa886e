"""Why a gradient is None: what is missing on the way from a source to the target, in words.

A tape keeps the calls that depend on what it tracks. What it does not keep is still in the record
of the program, as long as that has not run: there the way can be followed further, through ops that
have no gradient, through integers, and through what was computed while the tape did not record.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..core import limits
from ..core.avals import Aval, Packed
from ..core.caches import Cache
from ..core.call import Call
from ..core.errors import user_location
from ..core.program import Node
from ..values.tensor import Tensor
from ..values.variable import Variable, current
from . import reverse
from .dependence import flowing

#: The places whose gradients were all None, which are told of once.
_TOLD: Cache[str, bool] = Cache("places without gradients", limits.MAX_PLACES_TOLD)

_FLOATING = "only floating and complex tensors have gradients"


def told(place: str) -> bool:
    """Whether this place was told of before. It is from now on."""
    known = _TOLD.get(place) is not None
    _TOLD.put(place, True)
    return known


def report(tape: Any, what: str, targets: Sequence[Tensor], sources: Sequence[Any]) -> str | None:
    """What to say of derivatives that are all None; nothing at a place that was told of."""
    place = user_location()
    if told(place):
        return None
    by_reason: dict[str, list[str]] = {}
    for source in sources[: limits.SOURCES_TOLD]:
        by_reason.setdefault(reason(tape, targets, source), []).append(named(source))
    lines = [f"  {', '.join(names)}: {why}" for why, names in by_reason.items()]
    if len(sources) > limits.SOURCES_TOLD:
        lines.append(f"  and {len(sources) - limits.SOURCES_TOLD} more; see `tape.why_none`")
    several = "every source" if len(sources) > 1 else "the source"
    return "\n".join([f"GradientTape.{what} at {place} gives None for {several}:", *lines])


def named(source: Any) -> str:
    """A source in a few words."""
    if isinstance(source, Variable):
        return f"variable '{source.name}'"
    return f"the tensor of shape {source.shape} and {source.dtype.name}"


def reason(tape: Any, targets: Sequence[Tensor], source: Any) -> str:
    """Why the derivative of `targets` with respect to a source is None."""
    if not targets:
        return "there is no target"
    if not any(t.dtype.trainable for t in targets):
        return f"the target is of {targets[0].dtype.name}, and {_FLOATING}"
    if not source.dtype.trainable:
        return f"it is of {source.dtype.name}, and {_FLOATING}"
    steps, reached = reverse.connected(tape._record.calls, [source._id], tape.ids)
    if any(t._id in reached for t in targets):
        return _stopped_by(steps, {t._id for t in targets})
    start, found = _start(tape, source), None
    same = [t for t in targets if start._at[0] is not None and t._at[0] is start._at[0]]
    for target in same:
        found = found or _cuts(start._at[0].node.path(), start._at[1], target._at[1])
    if source._id not in tape.ids:
        return _untracked(tape, source, found)
    if found is not None:
        return _cut(found)
    known = "no op with a gradient that the tape recorded leads from it to the target"
    return known + _taken(tape, reached) + _run(targets)


def _untracked(tape: Any, source: Any, found: list[str] | None) -> str:
    if not isinstance(source, Variable):
        return (
            "the tape does not track it: call `tape.watch` on it inside the `with` block, before "
            "it is used, and compute the target from that very tensor"
        )
    if not source._trainable:
        return "it has trainable=False: call `tape.watch` on it inside the `with` block"
    if not tape._watch_accessed_variables:
        return "the tape has watch_accessed_variables=False: call `tape.watch` on it"
    if found is None:
        return (
            "no op read it while the tape recorded (`.numpy()` is none): compute the target from "
            "it inside the `with` block"
        )
    return "it was read before the tape recorded: compute the target inside the `with` block"


def _cut(found: list[str]) -> str:
    if found:
        return f"every way from it to the target goes through {', '.join(found)}"
    return (
        "what leads from it to the target was computed where the tape did not record: before it "
        "was watched, behind the `with` block, or inside `stop_recording()`"
    )


def _taken(tape: Any, reached: set[int]) -> str:
    """Where Python took values of what depends on the source."""
    places = dict.fromkeys(where for i, where in tape._record.escapes if i in reached)
    if not places:
        return ""
    return (
        f"; values of it were taken at {', '.join(list(places)[-limits.PLACES_TOLD :])}: what "
        "Python, NumPy or JAX make of them are constants to the tape"
    )


def _run(targets: Sequence[Tensor]) -> str:
    if not any(t._array is not None and t._at[0] is not None for t in targets):
        return ""
    return (
        "; its value was looked at, since when ops without a gradient are known no more: ask "
        "`tape.why_none` before"
    )


def _stopped_by(steps: Iterable[reverse.Step], targets: set[int]) -> str:
    """Which ops between give None, where the tape knows a way."""
    leading, through, stops = set(targets), [], []
    for (call, inputs, outputs, _), want in reversed(list(steps)):
        if leading.isdisjoint(outputs):
            continue
        through.append(call.name)
        answered = getattr(call, "answered", None)
        if answered is None or answered(want) != want:
            stops.append(call.name)
        leading.update(inputs[i]._id for i in want)
    names = list(dict.fromkeys(stops or through))[: limits.PLACES_TOLD]
    return f"the gradient of {', '.join(f'`{name}`' for name in names)} gives None for it"


def _start(tape: Any, source: Any) -> Tensor:
    """The tensor from which the way to a target begins."""
    if isinstance(source, Tensor):
        return source
    read = tape.reads.get(source._id)
    return current(source._handle) if read is None else read


def _cuts(path: list[Node], start: int, target: int) -> list[str] | None:
    """What is said of the ops that cut the way from one slot to another: none if no op does, None
    if there is no way. An op cuts where a gradient would come to it and not through it."""
    avals: dict[int, Aval] = {}
    depends, flows = {start}, {start}
    edges: list[tuple[Node, str]] = []
    for node in path:
        leaves = [leaf.aval if isinstance(leaf, Packed) else leaf for leaf in node.leaves]
        avals.update(enumerate(leaves, node.first_leaf))
        avals.update(enumerate(node.outputs, node.first))
        if depends.isdisjoint(node.inputs):
            continue
        outputs = range(node.first, node.end)
        depends.update(outputs)
        if flows.isdisjoint(node.inputs):
            continue
        given = tuple([avals[slot] for slot in node.inputs])
        parts = zip(outputs, flowing(node.closure, given, node.outputs), strict=True)
        through = [out for out, part in parts if any(node.inputs[i] in flows for i in part)]
        flows.update(through)
        if len(through) < len(outputs):
            edges.append((node, _said(node, avals)))
    if target not in depends:
        return None
    if target in flows:
        return []
    leading = {target}
    for node in reversed(path):
        if not leading.isdisjoint(range(node.first, node.end)):
            leading.update(node.inputs)
    cutting = [
        said
        for node, said in edges
        if any(out in leading and out not in flows for out in range(node.first, node.end))
    ]
    return list(dict.fromkeys(cutting))[: limits.PLACES_TOLD]


def _said(node: Node, avals: dict[int, Aval]) -> str:
    closure = node.closure
    name, out = f"`{closure.name}`", avals[node.first]
    if isinstance(closure, Call):
        return f"the function {name}, which gives no gradient by it"
    if closure.derivative:
        return f"{name}, which does not depend on it (the derivative of what is linear in it)"
    if closure.differentiable and not out.trainable:
        return f"{name}, which gives {out.dtype.name}, and {_FLOATING}"
    return f"{name}, which has no gradient"
