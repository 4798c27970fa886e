"""Elements chosen at random so that their classes have given frequencies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..values.spec import TensorSpec
from .functions import ElementFunction
from .mapping import Applied
from .pipeline import INFINITE, UNKNOWN, Draws, Pipeline, Stream, StreamOf
from .selecting import Seeds
from .structure import Element, array_of


class RejectionResample(Pipeline):
    """Pairs of class and element."""

    name = "DirectedInterleaveDataset"

    def __init__(
        self,
        source: Pipeline,
        class_func: Callable[..., Any],
        target: np.ndarray,
        initial: np.ndarray | None,
        seeds: Seeds,
    ):
        super().__init__(source)
        self._class = ElementFunction(class_func, source, "Dataset.rejection_resample()")
        self._target, self._initial, self._seeds = target, initial, seeds

    def _spec(self) -> Any:
        return (TensorSpec((), self._class.output_spec().dtype), self.inputs[0].spec)

    def size(self) -> int:
        return INFINITE if self.inputs[0].size() == INFINITE else UNKNOWN

    def _open(self, draws: Draws) -> Stream:
        source, class_of = self.inputs[0].open(draws.of(0)), Applied(self._class, draws)
        random, counts = self._seeds.generator(), np.ones(len(self._target))

        def step() -> Element:
            while True:
                element = source.step()
                found = array_of(class_of(element)[0])
                kind = int(found)
                counts[kind] += 1
                now = counts / counts.sum() if self._initial is None else self._initial
                if random.random() < acceptance(now, self._target)[kind]:
                    return (found, *element)

        return StreamOf(step)


def acceptance(now: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """How often to take an element of each class."""
    ratio = np.divide(wanted, now, out=np.zeros(len(now)), where=now > 0)
    return ratio / ratio.max()


def rejection_resampled(
    source: Pipeline, class_func: Callable[..., Any], target: Any, initial: Any, seeds: Seeds
) -> RejectionResample:
    """The pipeline, from what the user gave."""
    wanted = np.asarray(target, np.float64)
    given = None if initial is None else np.asarray(initial, np.float64)
    if given is not None and given.shape != wanted.shape:
        raise ValueError(f"`initial_dist` has {given.shape} and `target_dist` {wanted.shape}.")
    return RejectionResample(source, class_func, wanted, given, seeds)
