"""Loops in functions that are being recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core import errors
from ..core.control import calling
from ..core.dimensions import Size, maximum
from ..core.dtypes import string
from ..core.shapes import TensorShape
from ..core.steps import Step, Steps
from ..values import nest
from ..values.capture import Drawn, Source, value_of
from ..values.record import apply
from ..values.spec import TensorSpec
from ..values.tensor import Tensor
from ..values.variable import put_into
from .branches import truth
from .iterations import Count, Flow, guessed, iterations
from .keys import NEXT_KEY, UNKNOWN_ITERATIONS
from .recorded_array import RecordedArray
from .recording import (
    Operands,
    Part,
    Recording,
    assigned,
    buffer_or_tensor,
    flat,
    note_variables,
    packed,
    record,
    refuse_growth,
    tensor_of,
)
from .rows import Rolled
from .tensor_array import TensorArray, TensorArraySpec


def repeat(
    goes_on: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any,
) -> Any:
    """`tf.while_loop` while a function is recorded."""
    given = [tensor_of(leaf) for leaf in flat(loop_vars)]
    loose = _invariants(loop_vars, shape_invariants, given)
    condition = record(
        lambda leaves: truth(goes_on(*packed(loop_vars, leaves))), given, "while_cond"
    )
    if condition.captured.cells:
        return _assigning(goes_on, body, loop_vars, shape_invariants)

    def checked(leaves: list[Any]) -> Any:
        result = body(*packed(loop_vars, leaves))
        return _like(result, loop_vars)

    iteration = record(
        checked,
        given,
        "while_body",
        lambda r, leaves: _finish(r, leaves, given, loose),
        _guess(condition, given),
    )
    return _Loop(given, condition, iteration).call(loop_vars)


def _assigning(
    goes_on: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, shape_invariants: Any
) -> Any:
    """A loop whose condition assigns to variables: it is asked before the loop, and at the end of
    each iteration."""

    def iteration(_: Any, variables: Any) -> Any:
        result = _like(body(*variables), loop_vars)
        after = packed(loop_vars, [tensor_of(leaf) for leaf in flat(result)])
        return truth(goes_on(*after)), after

    first = truth(goes_on(*loop_vars))
    invariants = None if shape_invariants is None else (first.shape, shape_invariants)
    return repeat(lambda more, _: more, iteration, (first, loop_vars), invariants)[1]


def _guess(condition: Part, given: Sequence[Any]) -> Size | None:
    """How many iterations there may be, by the condition alone."""
    taken = [(place, x) for place, x in zip(condition.places, given) if place is not None]
    inputs = [x for _, x in sorted(taken, key=lambda pair: pair[0])]
    inputs += condition.captured.sources
    count = len(inputs)
    steps = calling(condition.captured.closure, 1, count, range(count), (count,))
    return guessed(steps, inputs, len(taken))


def _like(result: Any, loop_vars: Any) -> Any:
    """What a body returned, checked to be of the structure of the loop variables."""
    if not nest.is_nested(result) or isinstance(result, dict) != isinstance(loop_vars, dict):
        result = [result]
    nest.assert_same_structure(
        list(result) if isinstance(result, (list, tuple)) else result,
        list(loop_vars),
        check_types=False,
        expand_composites=True,
    )
    return result


def _invariants(loop_vars: Any, shape_invariants: Any, given: Sequence[Any]) -> list[TensorShape]:
    """The shape that each leaf may have."""
    if shape_invariants is None:
        return [
            TensorShape(None) if x is None or isinstance(x, TensorArray) else x.shape for x in given
        ]
    nest.assert_same_structure(
        nest.map_structure(lambda _: 0, list(loop_vars)),
        nest.map_structure(lambda _: 0, _taken_apart(shape_invariants)),
        check_types=False,
    )
    return [_invariant(x, s) for x, s in zip(given, nest.flatten(_taken_apart(shape_invariants)))]


def _taken_apart(shape_invariants: Any) -> Any:
    return list(shape_invariants)


def _invariant(x: Any, shape: Any) -> TensorShape:
    if isinstance(shape, TensorSpec):
        shape = shape.shape
    elif shape is not None and not isinstance(shape, TensorShape):
        if isinstance(shape, TensorArraySpec) and isinstance(x, TensorArray):
            return TensorShape(None)
        raise TypeError(
            f"'shape' must be one of TypeSpec, TensorShape or None. Received: {type(shape)}"
        )
    if x is None or isinstance(x, TensorArray):
        return TensorShape(None)
    if shape is None:
        return x.shape
    if not shape.is_compatible_with(x.shape):
        raise ValueError(
            f"The shape invariant specified for {x} is not compatible with the initial shape of "
            f"the loop variable. It enters the loop with shape {x.shape}, but the specified shape "
            f"invariant is {shape}."
        )
    return shape


def _finish(
    recording: Recording, leaves: list[Any], given: Sequence[Any], loose: Sequence[TensorShape]
) -> None:
    """Check what an iteration gives against what it was given."""
    for i, (x, new) in enumerate(zip(given, leaves, strict=True)):
        if isinstance(x, TensorArray):
            refuse_growth(recording.arguments[i], new, "iterations of a loop")
            x, leaves[i], new = _same_buffer(recording, i, new)
        if x is None or new is None:
            continue
        if x.dtype is string and new.dtype is string:
            _refuse_other_text(x, new)
            continue
        if x.dtype is not new.dtype:
            raise TypeError(
                f"Loop var {_name(x)} enters the loop with type {x.dtype!r} but has type "
                f"{new.dtype!r} after 1 iteration. {_name(x)} type should remain constant."
            )
        if x._aval is new._aval:
            continue
        if not isinstance(given[i], TensorArray) and not _fits(new.shape, loose[i]):
            raise ValueError(
                f"Input tensor `{_name(x)}` enters the loop with shape {loose[i]}, but has shape "
                f"{new.shape} after one iteration. To allow the shape to vary across iterations, "
                "use the `shape_invariants` argument of tf.while_loop to specify a less-specific "
                "shape."
            )
        raise errors.NeedsValue(
            f"A loop variable has shape {x.shape} before and {new.shape} after an iteration, so "
            "its shape at the end is not known before the function is called (at "
            f"{errors.user_location()})."
        )


def _same_buffer(
    recording: Recording, index: int, new: TensorArray
) -> tuple[Tensor | None, TensorArray, Tensor | None]:
    """A TensorArray after an iteration, with the buffer that it had before and has now: both or
    none."""
    buffer = buffer_or_tensor(new)
    if buffer is not None:
        before = recording.arguments[index]._recorded().buffer_of(buffer._aval)
        return before, new, buffer
    place = recording.places[index]
    if place is None:
        return None, new, None
    before = recording.inputs[place]
    new = new._with(new._recorded().with_buffer(before))
    return before, new, before


def _refuse_other_text(x: Tensor, new: Tensor) -> None:
    if new is not x:
        raise errors.NeedsValue(
            f"A loop cannot change a text, {x!s} (at {errors.user_location()})."
        )


def _fits(shape: TensorShape, invariant: TensorShape) -> bool:
    return invariant.rank is None or shape.is_subtype_of(invariant)


def _name(x: Tensor) -> str:
    return x.name if x._is_symbolic() else "Const:0"


class _Loop:
    """A recorded loop: what it carries, and what is the same in all iterations.

    First the leaves of the loop variables are carried, then the keys of draws, then what variables
    hold that the body assigns to.
    """

    def __init__(self, given: Sequence[Any], condition: Part, iteration: Part):
        self.given, self.iteration = given, iteration
        self.parts = condition, iteration
        #: The leaves that are carried.
        self.live = [i for i, place in enumerate(iteration.places) if place is not None]
        self.first = [self._initial(i) for i in self.live]
        self.cells = assigned(self.parts)
        sources = [s for part in self.parts for s in part.captured.sources]
        self.keys = list({id(s): s for s in sources if isinstance(s, Drawn)}.values())
        self.operands = Operands()
        for source in (*self.keys, *self.cells):
            self.operands.place(source)
        self.carried = len(self.first) + len(self.operands.sources)
        for source in sources:
            self.operands.place(source)
        #: The inputs of both parts.
        self.inputs = (*self.first, *self.operands.sources)

    def _initial(self, index: int) -> Tensor:
        leaf = self.given[index]
        if not isinstance(leaf, TensorArray):
            return leaf
        new = buffer_or_tensor(self.iteration.leaves[index])
        assert new is not None
        return leaf._recorded().buffer_of(new._aval)

    def _arguments(self, part: Part) -> list[int]:
        """The places of the inputs that a part takes."""
        pairs = [(place, i) for i, place in enumerate(part.places) if place is not None]
        leaves = [self.live.index(i) for _, i in sorted(pairs)]
        first = len(self.first)
        return leaves + [first + self.operands.place(s) for s in part.captured.sources]

    def steps(self) -> tuple[Steps, Steps]:
        """The condition and the body, of all inputs."""
        count = len(self.inputs)
        condition, iteration = self.parts
        given = self._arguments(condition)
        goes_on = calling(condition.captured.closure, 1, count, given, (count,))
        end = count + iteration.outputs
        steps = [Step(iteration.captured.closure, tuple(self._arguments(iteration)), count, end)]
        first = len(self.first)
        for place, drawn in enumerate(self.keys, first):
            last = steps[-1].end
            steps.append(Step(NEXT_KEY.bind(times=drawn.times), (place,), last, last + 1))
        numbers = list(range(count, steps[-1].end))
        leaves, cells, keys = (
            numbers[:first],
            numbers[first : iteration.outputs],
            numbers[iteration.outputs :],
        )
        return goes_on, Steps(count, tuple(steps), (*leaves, *keys, *cells))

    def call(self, loop_vars: Any) -> Any:
        """Record the loop: the loop variables at its end."""
        goes_on, body = self.steps()
        count = iterations(goes_on, body, self.inputs, self.carried)
        note_variables(self.parts)
        values = [_begin(source, count) for source in self.inputs]
        flows = [Flow(steps, self.inputs, self.carried) for steps in (goes_on, body)]
        rolled = Rolled(flows[0], flows[1], count)
        outputs = rolled.results(values, apply(rolled.closure(), rolled.arguments(values)))
        for handle, tensor in zip(self.cells, outputs[self.carried - len(self.cells) :]):
            put_into(handle, tensor)
        leaves = list(self.given)
        for i, output in zip(self.live, outputs):
            leaf = self.given[i]
            if isinstance(leaf, TensorArray):
                array = leaf._recorded()
                length = _length(array, rolled, self.live.index(i))
                leaves[i] = leaf._with(array.with_buffer(output).first_rows(length))
            else:
                leaves[i] = output
        return packed(loop_vars, leaves)


def _length(array: RecordedArray, rolled: Rolled, place: int) -> Size:
    """How many elements an array has after a loop that carried it."""
    if array.buffer is not None or not array.dynamic_size or place in rolled.fixed:
        return array.length
    if place not in rolled.written or rolled.goes_on is not None:
        raise array.unknown_length()
    where = rolled.written[place][0]
    assert rolled.most is not None
    last = where.first + where.by * (rolled.most - 1) if where.by > 0 else where.first
    return maximum(last + 1, array.length)


def _begin(source: Source, count: Count) -> Tensor:
    """What a loop of so many iterations begins with."""
    if not isinstance(source, Drawn):
        return value_of(source)
    return source.draw(
        count.most if count.exact and isinstance(count.most, int) else UNKNOWN_ITERATIONS
    )
