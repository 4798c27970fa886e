"""Jacobians: one closure that differentiates a slice of what a tape has recorded."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Container, Hashable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..core.avals import Aval
from ..core.caches import Cache
from ..core.derivative import conj
from ..core.op import Closure, Op
from ..core.steps import Step, Steps
from ..run import policy
from ..values.record import apply
from ..values.tensor import Tensor
from . import reverse

_CLOSURES: Cache[tuple, Closure] = Cache("jacobians", policy.MAX_EXECUTABLES)


class _Slice:
    """The recorded calls between sources and target, as steps.

    externals: the tensors read from outside; the first inputs. The others are what is added to the
    sources in `used` (their places, in order) where they are read. avals: of the sources.
    """

    __slots__ = ("avals", "externals", "steps", "used")

    def __init__(
        self,
        recorded: list[reverse.Step],
        target: Tensor,
        sources: Sequence[int],
        tracked: Container[int],
        shown: Callable[..., tuple[Tensor, ...]] | None,
    ):
        place_of = {s: i for i, s in enumerate(sources) if s in tracked}
        self.externals: list[Tensor] = []
        self.avals: dict[int, Aval] = {}
        # Names of values: (identity,) of what a call made, an identity of a tensor from outside,
        # ("added", place) of what is added, (name, place) of a sum.
        external: dict[int, Hashable] = {}
        made: set[int] = set()
        sums: dict[Hashable, Hashable] = {}
        calls: list[tuple[Closure, list[Hashable], list[Hashable]]] = []

        def read(x: Tensor, counts: bool = True, given: Tensor | None = None) -> Hashable:
            name: Hashable = (x._id,)
            if x._id not in made:
                given = x if given is None else given
                name = external.get(id(given))
                if name is None:
                    name = external[id(given)] = len(external)
                    self.externals.append(given)
            place = place_of.get(x._id) if counts and x._aval.trainable else None
            if place is None:
                return name
            self.avals[place] = x._aval
            if name not in sums:
                sums[name] = (name, place)
                calls.append((_SUM, [name, ("added", place)], [(name, place)]))
            return sums[name]

        for (call, inputs, outputs, _), want in recorded:
            if isinstance(call, Closure):
                counts = [i in want for i in range(len(inputs))]
            else:
                call, inputs = call.as_closure(inputs)
                counts = [True] * len(inputs)
            given = inputs if shown is None else shown(inputs, outputs)
            names = list(map(read, inputs, counts, given))
            calls.append((call, names, [(o,) for o in outputs]))
            made.update(outputs)
        last = read(target)
        self.used = sorted(self.avals)
        number: dict[Hashable, int] = {}
        for name in (*range(len(external)), *(("added", place) for place in self.used)):
            number[name] = len(number)
        count = len(number)
        steps = []
        for closure, names, given in calls:
            first = len(number)
            number.update((name, i) for i, name in enumerate(given, first))
            steps.append(Step(closure, tuple([number[n] for n in names]), first, len(number)))
        self.steps = Steps(count, tuple(steps), (number[last],))

    def function(self, externals: tuple[Any, ...]) -> Callable[..., Any]:
        """The target as a function of what is added to each source where it is read."""
        return lambda *added: self.steps.interpret(_called, (*externals, *added))[0]


def _called(closure: Closure, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    return closure.fn(*arrays)


_SUM = Op(lambda x, added: x + added, "AddV2").bind()


class _Jacobian(Closure):
    """TensorFlow's Jacobians of several sources are the outputs of one function."""

    __slots__ = ()
    derivative = True
    as_one = True


def _slice(
    calls: reverse.Calls,
    target: Tensor,
    sources: Sequence[int],
    tracked: Container[int],
    shown: Callable[..., tuple[Tensor, ...]] | None,
) -> _Slice | None:
    """The slice that leads to `target`, if it is connected to a source."""
    steps, reached = reverse.connected(calls, sources, tracked)
    if target._id not in reached or not target._aval.trainable:
        return None
    steps = _leading_to(steps, target._id)
    return _Slice(steps, target, sources, tracked, shown)


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


def _rows(pull: Callable[[Any], Any], cotangents: Any, at_a_time: int | None) -> Any:
    """`pull` over the leading axis, `at_a_time` rows in flight."""
    count = cotangents.shape[0]
    if at_a_time is None or at_a_time >= count:
        return jax.vmap(pull)(cotangents)
    leaves, tree = jax.tree.flatten(jax.eval_shape(pull, cotangents[0]))
    filled = [i for i, leaf in enumerate(leaves) if leaf.size]  # `map` trips over empty ones

    def pull_filled(cotangent: Any) -> list[Any]:
        results = jax.tree.leaves(pull(cotangent))
        return [results[i] for i in filled]

    rows = [jnp.zeros((count, *leaf.shape), leaf.dtype) for leaf in leaves]
    mapped = jax.lax.map(pull_filled, cotangents, batch_size=max(1, int(at_a_time)))
    for i, result in zip(filled, mapped, strict=True):
        rows[i] = result
    return jax.tree.unflatten(tree, rows)


def jacobian(
    calls: reverse.Calls,
    target: Tensor,
    sources: Sequence[int],
    tracked: Container[int],
    at_a_time: int | None,
    shown: Callable[..., tuple[Tensor, ...]] | None,
) -> list[Tensor | None]:
    """Jacobians [target..., source...], None for sources not connected."""
    part = _slice(calls, target, sources, tracked, shown)
    if part is None:
        return [None] * len(sources)
    avals = [part.avals[i] for i in part.used]
    key = ("jacobian", part.steps, tuple(avals), target._aval, at_a_time)

    def make() -> Closure:
        size, shape = target._aval.size, target._aval.shape

        def compute(*externals: Any) -> tuple[Any, ...]:
            function = part.function(externals)
            zeros = [jnp.zeros(a.shape, a.np_dtype) for a in avals]
            out, pull = jax.vjp(function, *zeros)
            basis = jnp.eye(size, dtype=out.dtype).reshape((size, *shape))
            rows = _rows(pull, basis, at_a_time)
            return tuple(
                conj(r).reshape((*shape, *a.shape)) for r, a in zip(rows, avals, strict=True)
            )

        return _Jacobian(Op(compute, "Jacobian"), {})

    answers: list[Tensor | None] = [None] * len(sources)
    results = apply(_CLOSURES.find(key, make), tuple(part.externals))
    for i, result in zip(part.used, results, strict=True):
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
    shown: Callable[..., tuple[Tensor, ...]] | None,
) -> Tensor | None:
    """Jacobian [b, target..., source...] of paired rows, or None if not connected."""
    part = _slice(calls, target, [source], tracked, shown)
    if part is None or not part.used:
        return None
    aval = part.avals[0]
    key = ("batch", part.steps, aval, target._aval, at_a_time)

    def make() -> Closure:
        shape = target._aval.shape
        columns = math.prod(shape[1:])

        def compute(*externals: Any) -> Any:
            function = part.function(externals)
            out, pull = jax.vjp(function, jnp.zeros(aval.shape, aval.np_dtype))
            basis = jnp.eye(columns, dtype=out.dtype).reshape((columns, 1, *shape[1:]))
            basis = jnp.broadcast_to(basis, (columns, *shape))
            rows = conj(_rows(lambda c: pull(c)[0], basis, at_a_time))
            return jnp.moveaxis(rows, 0, 1).reshape((*shape, *aval.shape[1:]))

        return _Jacobian(Op(compute, "BatchJacobian"), {})

    return apply(_CLOSURES.find(key, make), tuple(part.externals))


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
