"""Straight-line programs whose sizes are others at each call, such as of images as they come from
files: NumPy does them op by op, and nothing is made for the sizes if an op needs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.avals import Aval
from ..core.caches import keep
from ..core.counters import COUNTERS
from ..core.dimensions import Sizes
from ..core.host import on_host
from ..core.op import Closure
from ..core.steps import Steps, last_uses
from ..core.x64 import in_x64
from . import policy
from .interpret.plan import any_sizes
from .op_by_op import op_runner, result


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
        served = any_sizes(closure, tuple([array.dtype for array in given]))
        if served is not None:
            COUNTERS.interpreted += 1
            return served.plan.run(given)
    at, avals = closure.at(sizes), tuple([Aval.of_array(np.asarray(array)) for array in given])
    at.infer(avals)  # raises for what is wrong
    by_hand = at.by_hand
    if by_hand is None:
        runner = op_runner(at, avals)
        return runner.context(runner.run, *given)
    COUNTERS.interpreted += 1
    found = by_hand(*given)
    return found if isinstance(found, (tuple, list)) else [found]
