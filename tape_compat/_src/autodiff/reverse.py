"""Reverse mode: from what a tape has recorded to pullback instructions."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp

from ..core import limits
from ..core.avals import Aval
from ..core.caches import Cache
from ..core.call import Call
from ..core.derivative import pullback
from ..core.dtypes import DType, string
from ..core.op import Closure, Op
from ..core.program import Node
from ..core.state import LOCAL, Recorder, changed, seen_by
from ..core.steps import slot_avals
from ..ops.casting import cast
from ..ops.creation import zeros_like as zeros_of
from ..ops.joining import concat
from ..ops.reductions import folded_no_further
from ..ops.sums import ADD_N
from ..values.capture import (
    SymbolicProgram,
    anchor,
    capturing,
    close,
    leaves_of,
    symbolic_input,
)
from ..values.convert import convert
from ..values.indexed_slices import IndexedSlices
from ..values.record import apply
from ..values.tensor import Tensor
from ..values.variable import current
from .dependence import counted, flowing, used_by, used_inputs, varied_by

Cotangent = Tensor | IndexedSlices


#: What a tape holds of one call: a closure, or a rule of `custom.py`; input tensors; identities of
#: the outputs; and the node of the structure tree if it was recorded rather than run.
Entry = tuple[Any, tuple[Tensor, ...], tuple[int, ...], Any]

#: What a tape has seen: the parts of each call, one after the other. A list of tuples would be that
#: much more for garbage collections to look at. The identity of a single output stands by itself,
#: and a single input may.
Calls = list[Any]


def as_tuple(part: Any) -> tuple:
    """The inputs or identities of a call, if a single one stands by itself too."""
    return part if part.__class__ is tuple else (part,)


def entries(calls: Calls) -> Iterator[Entry]:
    """The calls that a tape has seen."""
    parts = iter(calls)
    for call, inputs, outputs, node in zip(parts, parts, parts, parts, strict=True):
        yield call, as_tuple(inputs), as_tuple(outputs), node


#: An entry that lies between the sources and something, and the inputs that matter.
Step = tuple[Entry, tuple[int, ...]]


def connected(
    calls: Calls, sources: Iterable[int], tracked: Container[int]
) -> tuple[list[Step], set[int]]:
    """The calls that depend on those of `sources` that were tracked, and the identities of all
    that does."""
    reached = {s for s in sources if s in tracked}
    steps: list[Step] = []
    for entry in entries(calls):
        inputs = entry[1]
        want = tuple([i for i, x in enumerate(inputs) if x._id in reached and x._aval.trainable])
        if not want or not entry[0].differentiable:
            continue
        outputs = depending(entry[0], inputs, want, entry[2])
        if outputs:
            steps.append((entry, want))
            reached.update(outputs)
    return steps, reached


def depending(
    call: Any, inputs: tuple[Tensor, ...], want: tuple[int, ...], outputs: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Of what stands for the outputs of a call, that of those that depend on the inputs `want`."""
    if not getattr(call, "derivative", False):
        return outputs
    used = counted(call, tuple([x._aval for x in inputs]))
    return tuple([o for o, parts in zip(outputs, used) if not parts.isdisjoint(want)])


def leading_to(
    call: Any, inputs: tuple[Tensor, ...], want: tuple[int, ...], outputs: Sequence[bool]
) -> tuple[int, ...]:
    """Of the inputs `want` of a call, those that the outputs in question depend on."""
    if not getattr(call, "derivative", False):
        return want
    used = [u for u, asked in zip(used_inputs(call, inputs), outputs, strict=True) if asked]
    return tuple([i for i in want if any(i in u for u in used)])


class _Zeros(NamedTuple):
    """A cotangent that is zero whatever the numbers are. TensorFlow makes such zeros and multiplies
    them; here they are made where somebody asks for them."""

    aval: Aval


def _makes_something_of_zeros(call: Any) -> bool:
    """Whether its pullback may, as one of the user's."""
    return not isinstance(call, Closure) or call.op.affine


def _varying(
    call: Any, inputs: tuple[Tensor, ...], want: tuple[int, ...], cotangents: list[Any]
) -> tuple[int, ...]:
    """Of the inputs `want` of a call, those whose cotangents are not zero everywhere."""
    if _makes_something_of_zeros(call):
        return want
    varying = [c is not None and c.__class__ is not _Zeros for c in cotangents]
    if not any(varying):
        return ()
    if not call.derivative:
        return want
    used = [u for u, does in zip(varied_by(call, inputs), varying, strict=True) if does]
    return tuple([i for i in want if any(i in u for u in used)])


def gradients(
    calls: Calls,
    targets: Sequence[Tensor],
    sources: Sequence[int],
    seeds: Sequence[Cotangent | None],
    tracked: Container[int],
    shown: Callable[..., tuple[Tensor, ...]] | None = None,
) -> list[Cotangent | None]:
    """Cotangents of `sources` (identities), None for those not connected to a target. shown: see
    `missed`."""
    steps, reached = connected(calls, sources, tracked)
    reached.update(sources)
    sums: dict[int, Cotangent | list[IndexedSlices] | _Zeros] = {}
    for target, seed in zip(targets, seeds, strict=True):
        if target._id in reached and target._aval.np_dtype.kind != "O":
            _add(sums, target._id, filled(target._aval, 1) if seed is None else seed)
    kept = set(sources)
    for (call, inputs, outputs, _), want in reversed(steps):
        cotangents = [
            total(sums[o] if o in kept else sums.pop(o)) if o in sums else None for o in outputs
        ]
        if all(c is None for c in cotangents):
            continue
        asked = leading_to(call, inputs, want, [c is not None for c in cotangents])
        if asked != want and isinstance(call, Call):
            # where a result depends on it TensorFlow gives zeros, not None, for those that do not
            matters = frozenset().union(*used_inputs(call, inputs)[: call.results])
            for i in want:
                if i not in asked and i in matters:
                    sums.setdefault(inputs[i]._id, _Zeros(inputs[i]._aval))
        want = asked
        if not want:
            continue
        varying = _varying(call, inputs, want, cotangents)
        for i in want:
            if i not in varying:
                sums.setdefault(inputs[i]._id, _Zeros(inputs[i]._aval))
        if not varying:
            continue
        if _makes_something_of_zeros(call):
            cotangents = [filled(c.aval, 0) if isinstance(c, _Zeros) else c for c in cotangents]
        else:
            cotangents = [None if isinstance(c, _Zeros) else c for c in cotangents]
        given = inputs if shown is None else shown(inputs, outputs)
        for i, cotangent in zip(varying, pull(call, given, cotangents, varying), strict=True):
            if cotangent is not None:
                _add(sums, inputs[i]._id, cotangent)
            elif isinstance(call, Call) and i in call.joined:
                sums.setdefault(inputs[i]._id, _Zeros(inputs[i]._aval))
    found = [total(sums[s]) if s in sums else None for s in sources]
    return [filled(c.aval, 0) if isinstance(c, _Zeros) else c for c in found]


def pull(
    call: Any, inputs: tuple[Tensor, ...], cotangents: list[Any], want: tuple[int, ...]
) -> Sequence[Cotangent | None]:
    """Cotangents of the inputs `want` of one call, recorded as one instruction."""
    if isinstance(call, Call):
        return _pull_call(call, inputs, cotangents, want)
    if not isinstance(call, Closure):
        return call.pull(inputs, [None if c is None else dense(c) for c in cotangents], want)
    sparse = call.op.sparse
    if sparse is not None:
        answer = sparse(call, inputs, cotangents, want)
        if answer is not None:
            return answer
    call.prepare_pullback()
    answered = call.answered(want)
    if answered != want:  # gradients that are None
        some = dict(zip(answered, pull(call, inputs, cotangents, answered) if answered else ()))
        return [some.get(i) for i in want]
    have = tuple([i for i, c in enumerate(cotangents) if c is not None])
    given = tuple([dense(cotangents[i]) for i in have])
    return apply(pullback(call, len(inputs), want, have), inputs + given)


class _Noted(Recorder):
    """A recorder that keeps the calls that depend on some tensors."""

    def __init__(self, ids: Iterable[int]):
        self.ids = set(ids)
        self.calls: Calls = []

    def record(self, call: Any, inputs: tuple, outputs: tuple[Tensor, ...], node: Any) -> None:
        """Keep a call."""
        if call.differentiable:
            self.ids.update([out._id for out in outputs if out._aval.trainable])
            self.calls += (call, inputs, tuple([out._id for out in outputs]), node)


class _Backward(NamedTuple):
    """What a gradient through a call does. answers: for each input its gradient as the number of an
    output; of two, of rows, and how many rows there are; None if there is none. constants: what it
    reads beside the inputs and cotangents."""

    closure: Closure
    constants: tuple[Tensor, ...]
    answers: tuple[Any, ...]


#: By a call, the avals of its inputs, its outputs that have cotangents and the inputs in question.
_BACKWARD: Cache[tuple, _Backward] = Cache("gradients of calls", limits.MAX_DEPENDENCES)


def _pull_call(
    call: Call, inputs: tuple[Tensor, ...], cotangents: list[Any], want: tuple[int, ...]
) -> Sequence[Cotangent | None]:
    """What a tape would give of what is called: its gradient is a call, too."""
    have = tuple([i for i, c in enumerate(cotangents) if c is not None])
    avals = tuple([x._aval for x in inputs])
    key = (call, avals, have, want)
    found = _BACKWARD.get(key)
    if found is None:
        found = _BACKWARD.put(key, _backward(call, avals, have, want))
    given = [dense(cotangents[i]) for i in have]
    made = as_tuple(apply(found.closure, (*inputs, *given, *found.constants)))

    def answer(part: Any) -> Cotangent | None:
        if part is None or isinstance(part, int):
            return None if part is None else made[part]
        values, indices, shape = part
        shape = made[shape] if isinstance(shape, int) else shape
        return IndexedSlices(made[values], made[indices], shape)

    return [answer(part) for part in found.answers]


def _backward(
    call: Call, avals: tuple[Aval, ...], have: tuple[int, ...], want: tuple[int, ...]
) -> _Backward:
    name = f"{call.name}Grad"
    with capturing(lambda state: SymbolicProgram(state, name)) as program:
        inputs = [symbolic_input(aval) for aval in avals]
        noted = _Noted([inputs[i]._id for i in want])
        outputs = seen_by((noted,), call.steps.interpret, _apply_pure, inputs)
        forward = program.node
        targets = [outputs[i] for i in have]
        seeds = [symbolic_input(x._aval) for x in targets]
        sources = [inputs[i]._id for i in want]
        found = gradients(noted.calls, targets, sources, seeds, noted.ids)
        flat: list[Tensor] = []
        answers = tuple([_flat_answer(cotangent, flat) for cotangent in found])
        closure = close(program, [*inputs, *seeds], [anchor(program, x) for x in flat], name)
        if _reads(program.node.path(), forward.end, {x._at[1] for x in flat}):
            used = used_by(call, avals)[: call.results]
            closure = closure.joining(frozenset().union(*used))
        constants = leaves_of(program)
    return _Backward(closure, constants, answers)


def _reads(path: list[Node], end: int, answers: set[int]) -> bool:
    """Whether answers depend on what was recorded in the slots before `end`: a function of
    TensorFlow gives that to its gradient as further results."""
    avals = slot_avals(path)
    reading = {slot for slot, aval in avals.items() if slot < end and aval.trainable}
    for node in path:
        if node.first >= end:
            given = tuple([avals[slot] for slot in node.inputs])
            parts = flowing(node.closure, given, node.outputs)
            for slot, part in enumerate(parts, node.first):
                if any(node.inputs[i] in reading for i in part):
                    reading.add(slot)
    return not reading.isdisjoint(answers)


def _apply_pure(closure: Closure, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """What a closure gives; what else it does is not done again."""
    return as_tuple(apply(closure.without_effect(), inputs))


def _flat_answer(cotangent: Cotangent | None, flat: list[Tensor]) -> Any:
    if cotangent is None:
        return None
    place = len(flat)
    if isinstance(cotangent, IndexedSlices):
        shape = cotangent.dense_shape
        flat += [cotangent.values, cotangent.indices]
        if not isinstance(shape, Tensor) or not shape._is_symbolic():
            return place, place + 1, shape
        flat.append(shape)
        return place, place + 1, place + 2
    flat.append(cotangent)
    return place


def dense(cotangent: Any) -> Tensor:
    return cotangent if cotangent.__class__ is Tensor else convert(cotangent)


def _add(sums: dict[int, Any], key: int, cotangent: Cotangent) -> None:
    """Add a cotangent to a sum: at once, so that only the sum stays alive and a loop's iterations
    are alike, but sparse ones are collected until the sum is wanted."""
    before = sums.get(key)
    if before is None or before.__class__ is _Zeros:
        sums[key] = cotangent
    elif isinstance(cotangent, Tensor):
        sums[key] = apply(ADD_N, (dense(total(before)), cotangent))
    elif before.__class__ is Tensor:
        sums[key] = apply(ADD_N, (before, dense(cotangent)))
    elif before.__class__ is list:
        before.append(cotangent)
    else:
        sums[key] = [before, cotangent]


def total(part: Any) -> Cotangent:
    """A sum of cotangents: dense, or sparse with the parts in the order of the forward calls."""
    return _joined(part[::-1]) if part.__class__ is list else part


def _joined(parts: list[IndexedSlices]) -> IndexedSlices:
    dtype = max((p.indices.dtype for p in parts), key=lambda d: d.size)
    indices = concat([cast(p.indices, dtype) for p in parts], 0)
    return IndexedSlices(concat([p.values for p in parts], 0), indices, parts[0].dense_shape)


def _fill(shape: Any, dtype: DType, number: int) -> Any:
    value = jnp.full((), number, dtype.np_dtype)
    return jnp.broadcast_to(folded_no_further(value) if number and shape else value, shape)


_FILL = Op(_fill, "Fill")


def filled(aval: Aval, number: int) -> Tensor:
    """A number everywhere, connected to nothing. It is recorded, not a leaf: what reads no leaves
    can be remembered."""
    return apply(_FILL.bind(shape=aval.shape, dtype=aval.dtype, number=number), ())


def zeros_like(value: Any) -> Tensor:
    """Zeros of the shape and dtype of a tensor or variable, connected to nothing."""
    tensor = value if value.__class__ is Tensor else current(value.handle)
    if tensor._aval.dtype is string:
        return zeros_of(tensor)
    return filled(tensor._aval, 0)


def deferring() -> Any:
    """Context: ops are recorded even if no tape is, so that a whole gradient is one program."""
    return changed(LOCAL.state, deferring=True)
