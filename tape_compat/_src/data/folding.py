"""Functions that carry a state from element to element: reduce, scan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import errors
from ..values.composite import TypeSpec
from ..values.spec import TensorSpec
from .functions import ElementFunction, Given
from .mapping import Applied
from .pipeline import Draws, Pipeline, Stream, StreamOf
from .structure import Element, Layout, children_of, flatten_up_to, pack, spec_of, taken_apart


class Folding:
    """A function of a state and an element, with the state of any shape that comes of it.

    state: the specs of the state. leaves: those of the first one.
    """

    def __init__(
        self,
        source: Pipeline,
        initial: Any,
        function: Callable[..., Any],
        title: str,
        new_state: Callable[[Any], Any],
    ):
        self.state, leaves = taken_apart(initial)
        self.first: Element = tuple(leaves)
        while True:
            self.function = ElementFunction(function, Given((self.state, source.spec)), title)
            found = self.function.record().spec
            if found is None:
                break
            common = check_state(self.state, new_state(found))
            if common == self.state:
                break
            self.state = common


def check_state(state: Any, new: Any) -> Any:
    """What is known of the state before and after an iteration. Raises TypeError if they do not
    fit."""
    ours = Layout(state).specs
    try:
        theirs = flatten_up_to(state, new)
    except (TypeError, ValueError):
        theirs = []
    if len(ours) != len(theirs) or children_of(state) is None is not children_of(new):
        raise TypeError(
            "The element types for the new state must match the initial state. Expected "
            f"{_types(state)} but got {_types(new)}."
        )
    return pack(state, [_common(a, b, state, new) for a, b in zip(ours, theirs)])


def _common(ours: TypeSpec, theirs: Any, state: Any, new: Any) -> TypeSpec:
    if isinstance(ours, TensorSpec) and isinstance(theirs, TensorSpec):
        ours, theirs = TensorSpec(ours.shape, ours.dtype), TensorSpec(theirs.shape, theirs.dtype)
    found = ours.most_specific_common_supertype([theirs]) if isinstance(theirs, TypeSpec) else None
    if found is None:
        raise TypeError(
            "The element types for the new state must match the initial state. Expected "
            f"{_types(state)} but got {_types(new)}."
        )
    return found


def _types(spec: Any) -> Any:
    return pack(spec, [getattr(s, "dtype", s) for s in Layout(spec).specs])


def reduced(source: Pipeline, initial: Any, function: Callable[..., Any]) -> Any:
    """The state after all elements."""
    folding = Folding(source, initial, function, "Dataset.reduce()", lambda spec: spec)
    applied, state = Applied(folding.function, Draws()), folding.first
    for element in source.open(Draws()):
        new = applied((*state, *element))
        _check_kept(folding, new)
        state = new
    return Layout(folding.state).value(state)


def _check_kept(folding: Folding, leaves: Element) -> None:
    """Refuse a state of another kind, where that is not known before it runs."""
    specs = Layout(folding.state).specs
    kept = len(specs) == len(leaves) and all(
        getattr(spec, "dtype", None) is getattr(spec_of(leaf), "dtype", None)
        for spec, leaf in zip(specs, leaves)
    )
    if not kept:
        raise TypeError(
            "The element types for the new state must match the initial state. Expected "
            f"{_types(folding.state)} but got {[spec_of(leaf) for leaf in leaves]}."
        )


class Scan(Pipeline):
    """What a function gives for a state and each element, beside the new state."""

    name = "ScanDataset"

    def __init__(self, source: Pipeline, initial: Any, function: Callable[..., Any]):
        super().__init__(source)
        self._folding = Folding(source, initial, function, "Dataset.scan()", _pair_state)
        self._count = len(Layout(self._folding.state).specs)

    def _spec(self) -> Any:
        function = self._folding.function
        record = function.record()
        if record.spec is None:
            record.spec = function.spec_by_first(self.inputs[0], self._folding.first)
            check_state(self._folding.state, _pair_state(record.spec))
        return record.spec[1]

    def _open(self, draws: Draws) -> Stream:
        source, applied = self.inputs[0].open(draws.of(0)), Applied(self._folding.function, draws)
        state, count = self._folding.first, self._count

        def step() -> Element:
            nonlocal state
            found = applied((*state, *source.step()))
            state = found[:count]
            return found[count:]

        return StreamOf(step)


def _pair_state(spec: Any) -> Any:
    if not isinstance(spec, tuple) or len(spec) != 2:
        raise TypeError(
            "Invalid `scan_func`. `scan_func` should return a pair consisting of new state and "
            f"the output value but its return type is {spec}."
        )
    return spec[0]


def single(source: Pipeline) -> Any:
    """The one element of a pipeline."""
    stream = source.open(Draws())
    found = next(stream, None)
    if found is None or next(stream, None) is not None:
        problem = "was empty" if found is None else "had more than one element"
        raise errors.InvalidArgumentError(
            None, None, f"Dataset {problem}. [Op:DatasetToSingleElement]"
        )
    return source.layout.value(found)
