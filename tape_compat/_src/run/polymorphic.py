"""Straight-line programs whose sizes are others at each call, such as of images as they come from
files: NumPy does them op by op, and nothing is made for the sizes if an op needs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.avals import Aval
from ..core.caches import Cache, keep
from ..core.counters import COUNTERS
from ..core.dimensions import Sizes
from ..core.dtypes import from_numpy
from ..core.host import on_host
from ..core.op import Closure, primitives
from ..core.steps import Steps, last_uses
from ..core.x64 import in_x64
from . import policy
from .interpret.elementwise import TABLE as ELEMENTWISE
from .interpret.plan import Interpreted
from .op_by_op import op_runner, result

#: By a closure and the dtypes of its inputs, the plan that serves arrays of all shapes, or False.
_PLANS: Cache[tuple[Closure, tuple[Any, ...]], Interpreted | bool]
_PLANS = Cache("plans of any sizes", 4096)


class Polymorphic:
    """A program that serves all sizes.

    >>> from tape_compat._src.core.steps import Step, Steps
    >>> import tape_compat as tf
    >>> steps = Steps(1, (Step(tf.tanh.op.bind(), (0,), 1, 2),), (1,))
    >>> program = Polymorphic(steps)
    >>> [program.run(Sizes(), [np.zeros(n, np.float32)])[0].shape for n in (2, 3)]
    [(2,), (3,)]
    """

    __slots__ = ("_counts", "_done", "_steps")

    def __init__(self, steps: Steps):
        used = [(*step.inputs, *range(step.first, step.end)) for step in steps.steps]
        self._steps, self._done = steps, last_uses(used, steps.outputs)
        self._counts: dict[tuple, int] = {}

    def is_new(self, *sizes: Any) -> bool:
        """Whether these sizes have come a few times only; to be asked once at each call."""
        count = self._counts.get(sizes, 0)
        if count >= policy.NEW_SIZES:
            return False
        keep(self._counts, sizes, count + 1, policy.SIZES_COUNTED)
        return True

    def run(self, sizes: Sizes, arrays: Sequence[Any]) -> list[Any]:
        """The results, as tensors hold them. Raises whatever NumPy does of arrays that do not fit.

        sizes: what the unknown ones in the program are.
        """
        return list(map(result, in_x64(on_host, self._run, sizes, arrays)))

    def _run(self, sizes: Sizes, arrays: Sequence[Any]) -> list[Any]:
        env: dict[int, Any] = dict(enumerate(map(np.asarray, arrays)))
        for step, done in zip(self._steps.steps, self._done, strict=True):
            found = _called(step.closure, sizes, [env[i] for i in step.inputs])
            env.update(zip(range(step.first, step.end), found))
            for i in done:
                del env[i]
        return [env[i] for i in self._steps.outputs]


def _called(closure: Closure, sizes: Sizes, given: list[Any]) -> Sequence[Any]:
    """What a closure gives."""
    if closure.op.broadcasts:
        plan = _plan(closure, tuple([array.dtype for array in given]))
        if isinstance(plan, Interpreted):
            COUNTERS.interpreted += 1
            return plan.run(given)
    at, avals = closure.at(sizes), tuple([Aval.of_array(np.asarray(array)) for array in given])
    at.infer(avals)  # raises for what is wrong
    by_hand = at.by_hand
    if by_hand is None:
        runner = op_runner(at, avals)
        return runner.context(runner.run, *given)
    COUNTERS.interpreted += 1
    found = by_hand(*given)
    return found if isinstance(found, (tuple, list)) else [found]


def _plan(closure: Closure, dtypes: tuple[Any, ...]) -> Interpreted | bool:
    """What does an elementwise op on arrays of all shapes: NumPy's calls for scalars broadcast."""

    def make() -> Interpreted | bool:
        jaxpr, sizes, *_ = closure.trace([Aval.of((), from_numpy(dtype)) for dtype in dtypes])
        if jaxpr.effects or not _SERVING.issuperset(primitives(jaxpr.jaxpr)):
            return False
        plan = Interpreted(jaxpr, sizes)
        return not plan.compiled_alone and _broadcasts(plan, dtypes) and plan

    return _PLANS.find((closure, dtypes), make)


def _broadcasts(plan: Interpreted, dtypes: tuple[Any, ...]) -> bool:
    """Whether what it gives has the shape of any of its inputs: zeros alone have none."""
    for place in range(len(dtypes)):
        arrays = [np.zeros((2,) if i == place else (), kind) for i, kind in enumerate(dtypes)]
        if any(np.shape(found) != (2,) for found in on_host(plan.run, arrays)):
            return False
    return True


#: Primitives whose rules for scalars serve arrays; that of powers looks at shapes.
_SERVING = (frozenset(ELEMENTWISE) | {"pjit", "jit", "custom_jvp_call"}) - {"pow"}
