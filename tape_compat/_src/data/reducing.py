"""Elements of one key folded into one: group_by_reducer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes
from ..values.spec import TensorSpec
from .folding import check_state
from .functions import ElementFunction, Given
from .mapping import Applied
from .pipeline import UNKNOWN, Draws, Pipeline, Stream, StreamOf
from .structure import Element, array_of

_KEY = TensorSpec((), dtypes.int64)
_TITLE = "group_by_reducer()"


class Reducer:
    """What `group_by_reducer` does with the elements of one key.

    Args:
      init_func: gives the first state for a key.
      reduce_func: gives the next state for a state and an element.
      finalize_func: gives the result for the last state.

    >>> import tape_compat as tf
    >>> reducer = tf.data.experimental.Reducer(lambda key: 0, lambda s, x: s + 1, lambda s: s)
    >>> reducer.init_func(3)
    0
    """

    def __init__(
        self,
        init_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        finalize_func: Callable[..., Any],
    ):
        self._functions = init_func, reduce_func, finalize_func

    @property
    def init_func(self) -> Callable[..., Any]:
        """Gives the first state for a key."""
        return self._functions[0]

    @property
    def reduce_func(self) -> Callable[..., Any]:
        """Gives the next state."""
        return self._functions[1]

    @property
    def finalize_func(self) -> Callable[..., Any]:
        """Gives the result."""
        return self._functions[2]


class GroupByReducer(Pipeline):
    """For each key what a reducer makes of its elements, by ascending keys."""

    name = "GroupByReducerDataset"

    def __init__(self, source: Pipeline, key_func: Callable[..., Any], reducer: Reducer):
        super().__init__(source)
        self._key = ElementFunction(key_func, source, _TITLE)
        self._key.check(_check_key)
        self._init = ElementFunction(reducer.init_func, Given(_KEY), _TITLE)
        state = self._init.output_spec()
        self._reduce = ElementFunction(reducer.reduce_func, Given((state, source.spec)), _TITLE)
        found = self._reduce.record().spec
        if found is not None:
            check_state(state, found)
        self._finalize = ElementFunction(reducer.finalize_func, Given(state), _TITLE)

    def spec_is_known(self) -> bool:
        return self._finalize.record().spec is not None

    def _spec(self) -> Any:
        found = self._finalize.record().spec
        if found is None:
            raise NotImplementedError(
                f"A `finalize_func` of {_TITLE} that cannot be recorded: what it gives is not "
                "known."
            )
        return found

    def size(self) -> int:
        return UNKNOWN

    def _open(self, draws: Draws) -> Stream:
        results: list[Any] = []

        def step() -> Element:
            if not results:
                results.append(iter(self._results(draws)))
            return next(results[0])

        return StreamOf(step)

    def _results(self, draws: Draws) -> list[Element]:
        key_of = Applied(self._key, draws.of("key"))
        reduce = Applied(self._reduce, draws.of("reduce"))
        states: dict[int, Element] = {}
        initial = Applied(self._init, draws.of("init"))
        for element in self.inputs[0].open(draws.of(0)):
            key = int(array_of(key_of(element)[0]))
            if key not in states:
                states[key] = initial((np.array(key, np.int64),))
            states[key] = reduce((*states[key], *element))
        finalize = Applied(self._finalize, draws.of("finalize"))
        return [finalize(states[key]) for key in sorted(states)]


def _check_key(spec: Any) -> None:
    if not (isinstance(spec, TensorSpec) and _KEY.is_compatible_with(spec)):
        kind, shape = getattr(spec, "dtype", spec), getattr(spec, "shape", None)
        raise ValueError(
            "Invalid `key_func`. Expected `key_func` to return a scalar tf.int64 tensor, but "
            f"instead `key_func` has output types={kind!r} and shapes={shape}."
        )
