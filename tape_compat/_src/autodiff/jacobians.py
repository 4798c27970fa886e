"""Jacobians: one closure that differentiates a slice of what a tape has recorded."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Container, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..core.avals import Aval
from ..core.derivative import conj
from ..core.op import Closure, Op
from ..run import policy
from ..values.record import apply
from ..values.tensor import Tensor
from . import reverse

_CLOSURES: OrderedDict[tuple, Closure] = OrderedDict()
_LOCK = threading.Lock()


class _Slice:
    """The recorded calls between sources and target, as a pure function.

    `calls`: closure, wiring of its inputs and number of outputs. Wiring: a number for a value
    (inputs from outside first, then outputs in order), and the index of the source it is, or -1.
    """

    __slots__ = ("avals", "calls", "externals", "target")

    def __init__(
        self,
        steps: list[reverse.Step],
        target: Tensor,
        sources: Sequence[int],
        tracked: Container[int],
    ):
        index = {s: i for i, s in enumerate(sources) if s in tracked}
        produced: dict[int, int] = {}
        seen: dict[int, int] = {}
        self.externals: list[Tensor] = []
        self.avals: dict[int, Aval] = {}
        calls: list[tuple[Closure, list[tuple[bool, int, int]], int]] = []
        count = 0

        def external(x: Tensor) -> int:
            key = id(x)
            if key not in seen:
                seen[key] = len(self.externals)
                self.externals.append(x)
            return seen[key]

        def wire(x: Tensor, counts: bool = True) -> tuple[bool, int, int]:
            source = index.get(x._id, -1) if counts and x._aval.trainable else -1
            if source >= 0:
                self.avals[source] = x._aval
            if x._id in produced:
                return True, produced[x._id], source
            return False, external(x), source

        for (call, inputs, outputs, _), want in steps:
            if isinstance(call, Closure):
                wires = [wire(x, i in want) for i, x in enumerate(inputs)]
            else:
                call, inputs = call.as_closure(inputs)
                wires = [wire(x) for x in inputs]
            calls.append((call, wires, len(outputs)))
            for o in outputs:
                produced[o] = count
                count += 1
        last = wire(target)
        base = len(self.externals)

        def flat(w: tuple[bool, int, int]) -> tuple[int, int]:
            return (base + w[1] if w[0] else w[1]), w[2]

        self.calls = tuple((c, tuple(map(flat, wires)), n) for c, wires, n in calls)
        self.target = flat(last)

    def key(self) -> tuple:
        return (self.calls, self.target, len(self.externals))


class _Jacobian(Closure):
    """TensorFlow's Jacobians of several sources are the outputs of one function."""

    __slots__ = ()
    derivative = True
    as_one = True


def _function(
    calls: tuple, target: tuple[int, int], externals: tuple[Any, ...]
) -> Callable[..., Any]:
    """The target as a function of what is added to each source where it is read."""

    def function(*added: Any) -> Any:
        env = list(externals)

        def read(wire: tuple[int, int]) -> Any:
            value, source = wire
            return env[value] if source < 0 else env[value] + added[source]

        for closure, wires, _ in calls:
            env.extend(closure.fn(*map(read, wires)))
        return read(target)

    return function


def _slice(
    calls: reverse.Calls,
    target: Tensor,
    sources: Sequence[int],
    tracked: Container[int],
) -> tuple[_Slice, list[int]] | None:
    """The slice that leads to `target`, and the sources it is connected to."""
    steps, reached = reverse.connected(calls, sources, tracked)
    if target._id not in reached or not target._aval.trainable:
        return None
    steps = _leading_to(steps, target._id)
    part = _Slice(steps, target, sources, tracked)
    return part, sorted(part.avals)


def _leading_to(steps: list[reverse.Step], target: int) -> list[reverse.Step]:
    wanted = {target}
    kept = []
    for step in reversed(steps):
        (call, inputs, outputs, _), want = step
        want = reverse.leading_to(call, inputs, want, [o in wanted for o in outputs])
        if want and wanted.intersection(outputs):
            wanted.update(inputs[i]._id for i in want)
            kept.append((step[0], want))
    kept.reverse()
    return kept


def _closure(key: tuple, make: Callable[[], Closure]) -> Closure:
    with _LOCK:
        found = _CLOSURES.get(key)
        if found is None:
            found = _CLOSURES[key] = make()
            while len(_CLOSURES) > policy.MAX_EXECUTABLES:
                _CLOSURES.popitem(last=False)
        else:
            _CLOSURES.move_to_end(key)
    return found


def _rows(pull: Callable[[Any], Any], cotangents: Any, at_a_time: int | None) -> Any:
    """`pull` over the leading axis, `at_a_time` rows in flight."""
    if at_a_time is None or at_a_time >= cotangents.shape[0]:
        return jax.vmap(pull)(cotangents)
    return jax.lax.map(pull, cotangents, batch_size=max(1, int(at_a_time)))


def jacobian(
    calls: reverse.Calls,
    target: Tensor,
    sources: Sequence[int],
    tracked: Container[int],
    at_a_time: int | None,
) -> list[Tensor | None]:
    """Jacobians [target..., source...], None for sources not connected."""
    found = _slice(calls, target, sources, tracked)
    if found is None:
        return [None] * len(sources)
    part, used = found
    avals = [part.avals[i] for i in used]
    key = ("jacobian", part.key(), tuple(used), tuple(avals), target._aval, at_a_time)

    def make() -> Closure:
        calls, wire, size = part.calls, part.target, target._aval.size
        shape = target._aval.shape

        def compute(*externals: Any) -> tuple[Any, ...]:
            function = _function(_renumbered(calls, used), _wire(wire, used), externals)
            zeros = [jnp.zeros(a.shape, a.np_dtype) for a in avals]
            out, pull = jax.vjp(function, *zeros)
            basis = jnp.eye(size, dtype=out.dtype).reshape((size, *shape))
            rows = _rows(pull, basis, at_a_time)
            return tuple(
                conj(r).reshape((*shape, *a.shape)) for r, a in zip(rows, avals, strict=True)
            )

        return _Jacobian(Op(compute, "Jacobian"), {})

    answers: list[Tensor | None] = [None] * len(sources)
    results = apply(_closure(key, make), tuple(part.externals))
    for i, result in zip(used, results, strict=True):
        answers[i] = result
    # A source given twice is wired under its last position: both get the answer.
    for i, s in enumerate(sources):
        for j, t in enumerate(sources):
            if answers[i] is None and s == t and answers[j] is not None:
                answers[i] = answers[j]
    return answers


def batch_jacobian(
    calls: reverse.Calls,
    target: Tensor,
    source: int,
    tracked: Container[int],
    at_a_time: int | None,
) -> Tensor | None:
    """Jacobian [b, target..., source...] of paired rows, or None if not connected."""
    found = _slice(calls, target, [source], tracked)
    if found is None or not found[1]:
        return None
    part, _ = found
    aval = part.avals[0]
    key = ("batch", part.key(), aval, target._aval, at_a_time)

    def make() -> Closure:
        calls, wire, shape = part.calls, part.target, target._aval.shape
        columns = math.prod(shape[1:])

        def compute(*externals: Any) -> Any:
            function = _function(calls, wire, externals)
            out, pull = jax.vjp(function, jnp.zeros(aval.shape, aval.np_dtype))
            basis = jnp.eye(columns, dtype=out.dtype).reshape((columns, 1, *shape[1:]))
            basis = jnp.broadcast_to(basis, (columns, *shape))
            rows = conj(_rows(lambda c: pull(c)[0], basis, at_a_time))
            return jnp.moveaxis(rows, 0, 1).reshape((*shape, *aval.shape[1:]))

        return _Jacobian(Op(compute, "BatchJacobian"), {})

    return apply(_closure(key, make), tuple(part.externals))


def _wire(wire: tuple[int, int], used: list[int]) -> tuple[int, int]:
    return wire[0], (used.index(wire[1]) if wire[1] >= 0 else -1)


def _renumbered(calls: tuple, used: list[int]) -> tuple:
    return tuple((c, tuple(_wire(w, used) for w in wires), n) for c, wires, n in calls)


def zeros(target: Tensor, source: Any) -> Tensor:
    """Zeros [target..., source...]."""
    return _zeros((*target._aval.shape, *_shape(source)), source.dtype)


def batch_zeros(target: Tensor, source: Any) -> Tensor:
    """Zeros [b, target..., source...]."""
    return _zeros((*target._aval.shape, *_shape(source)[1:]), source.dtype)


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(value.shape.as_list())


def _zeros(shape: tuple[int, ...], dtype: Any) -> Tensor:
    return apply(reverse.ZEROS.bind(shape=shape, dtype=dtype), ())
