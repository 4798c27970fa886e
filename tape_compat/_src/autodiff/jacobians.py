"""Jacobians: one closure that differentiates a slice of what a tape has recorded."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Container, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..core.avals import Aval
from ..core.caches import Cache
from ..core.derivative import conj
from ..core.dimensions import Sizes
from ..core.op import Closure, Op
from ..core.steps import Step, Steps
from ..run import policy
from ..values.record import apply
from ..values.tensor import Tensor
from . import reverse
from .dependence import base_of

_CLOSURES: Cache[tuple, Closure] = Cache("jacobians", policy.MAX_EXECUTABLES)


class _Slice:
    """The recorded calls between sources and target, as steps.

    externals: the tensors read, those that the calls made among them, as they were recorded: what
    depends on the Jacobian is differentiated by them, once with all that depends on them elsewhere.
    They are the first inputs. The others are what is added to the sources in `used` (their places,
    in order) where they are read. avals: of the sources.
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
        steps: list[Step] = []
        # Numbers of values: of what calls make, by identity; of tensors as they were recorded, by
        # id; of what is added, by the place of its source; of what is read, by what it consists of.
        numbers = itertools.count()
        made: dict[int, int] = {}
        external: dict[int, int] = {}
        added: dict[int, int] = {}
        reads: dict[tuple, int] = {}

        def step(closure: Closure, inputs: Sequence[int], outputs: int) -> int:
            """Add an instruction; gives the number of its first output."""
            given = list(itertools.islice(numbers, outputs))
            steps.append(Step(closure, tuple(inputs), given[0], given[-1] + 1))
            return given[0]

        def read(x: Tensor, counts: bool, given: Tensor) -> int:
            """The number of an input, through which derivatives go if it counts."""
            if id(given) not in external:
                external[id(given)] = next(numbers)
                self.externals.append(given)
            number = external[id(given)]
            counts = counts and x._aval.trainable
            parts = [made[x._id]] if counts and x._id in made else []
            place = place_of.get(x._id) if counts else None
            if place is not None:
                if place not in added:
                    added[place] = next(numbers)
                    self.avals[place] = x._aval
                parts.append(added[place])
            if not parts:
                return number
            key = (number, *parts)
            if key not in reads:
                through = parts[0] if len(parts) == 1 else step(_SUM, parts, 1)
                reads[key] = step(_AS_RECORDED, (number, through), 1)
            return reads[key]

        for (call, inputs, outputs, _), want in recorded:
            if isinstance(call, Closure):
                counts = [i in want for i in range(len(inputs))]
            else:
                call, inputs = call.as_closure(inputs)
                counts = [True] * len(inputs)
            given = inputs if shown is None else shown(inputs, outputs)
            first = step(call, list(map(read, inputs, counts, given)), len(outputs))
            made.update(zip(outputs, itertools.count(first)))
        last = read(target, True, target)
        self.used = sorted(self.avals)
        known = [*external.values(), *(added[place] for place in self.used)]
        self.steps = Steps.numbered(steps, known, [last])


@jax.custom_jvp
def _as_recorded(value: Any, through: Any) -> Any:
    """The value, with the derivatives of what it would be again."""
    return value


@_as_recorded.defjvp
def _(primals: Any, tangents: Any) -> Any:
    return primals[0], tangents[1]


_SUM = Op(lambda x, added: x + added, "AddV2").bind()
_AS_RECORDED = Op(_as_recorded, "Identity").bind()


class _Jacobian(Closure):
    """The Jacobians of what steps give by what is added to their last inputs. TensorFlow's of
    several sources are the outputs of one function.

    added: the avals of those inputs. target: that of the output. paired: whether the rows of the
    sources belong to those of the target.
    """

    __slots__ = ("parts",)
    derivative = True
    as_one = True

    def __init__(
        self,
        steps: Steps,
        added: tuple[Aval, ...],
        target: Aval,
        paired: bool,
        at_a_time: int | None,
    ):
        self.parts = (steps, added, target, paired, at_a_time)
        masks = any(base_of(step.closure).op.masks for step in steps.steps)
        name = "BatchJacobian" if paired else "Jacobian"
        super().__init__(Op(self._compute, name, masks=masks), {})

    def _compute(self, *externals: Any) -> tuple[Any, ...]:
        steps, added, target, paired, at_a_time = self.parts
        shape = target.shape
        rows, row = (shape[:1], shape[1:]) if paired else ((), shape)

        def function(*added: Any) -> Any:
            call = lambda closure, arrays: closure.pure(*arrays)  # noqa: E731
            return steps.interpret(call, (*externals, *added))[0]

        def arranged(pulled: Any, aval: Aval) -> Any:
            pulled = jnp.moveaxis(pulled, 0, len(rows))
            return conj(pulled).reshape((*shape, *aval.shape[len(rows) :]))

        out, pull = jax.vjp(function, *[jnp.zeros(a.shape, a.np_dtype) for a in added])
        size = math.prod(row)
        basis = jnp.eye(size, dtype=out.dtype).reshape((size, *[1] * len(rows), *row))
        pulled = _rows(pull, jnp.broadcast_to(basis, (size, *shape)), at_a_time)
        return tuple(map(arranged, pulled, added))

    def _infer(self, avals: tuple[Aval, ...]) -> tuple[tuple[Aval, ...], bool]:
        _, added, target, paired, _ = self.parts
        if not (self.unknown or any(aval.unknown for aval in avals)):
            return super()._infer(avals)
        outputs = [Aval.of((*target.shape, *a.shape[paired:]), a.dtype) for a in added]
        return tuple(outputs), False

    def _has_unknown(self) -> bool:
        steps, added, target, *_ = self.parts
        inner = any(step.closure.unknown for step in steps.steps)
        return inner or any(aval.unknown for aval in (*added, target))

    def _at(self, sizes: Sizes) -> Closure:
        steps, added, target, *others = self.parts
        return _interned(
            steps.at(sizes), tuple([a.at(sizes) for a in added]), target.at(sizes), *others
        )


def _interned(*parts: Any) -> Closure:
    return _CLOSURES.find(parts, lambda: _Jacobian(*parts))


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
    paired: bool = False,
) -> list[Tensor | None]:
    """Jacobians [target..., source...], None for sources not connected; if their rows are paired
    with the target's, [b, target..., source...]."""
    answers: list[Tensor | None] = [None] * len(sources)
    steps, reached = reverse.connected(calls, sources, tracked)
    if target._id not in reached or not target._aval.trainable:
        return answers
    part = _Slice(_leading_to(steps, target._id), target, sources, tracked, shown)
    if not part.used:
        return answers
    avals = tuple([part.avals[i] for i in part.used])
    closure = _interned(part.steps, avals, target._aval, paired, at_a_time)
    for i, result in zip(part.used, apply(closure, tuple(part.externals)), strict=True):
        answers[i] = result
    # A source given twice is wired under its last position: both get the answer.
    last = {s: answers[i] for i, s in enumerate(sources) if answers[i] is not None}
    return [last.get(s) for s in sources]


def zeros(target: Tensor, source: Any, paired: bool = False) -> Tensor:
    """Zeros of the shape and dtype of the Jacobian of what is not connected."""
    own = source._aval.shape if isinstance(source, Tensor) else source.shape.as_list()
    shape = (*target._aval.shape, *own[paired:])
    return reverse.filled(Aval.of(shape, target.dtype if paired else source.dtype), 0)
