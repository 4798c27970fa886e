"""Loops in functions that are being recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import is_
from typing import Any

from ..core import errors
from ..core.avals import Aval
from ..core.call import Call
from ..core.control import calling
from ..core.dimensions import INCONCLUSIVE, Size, Sizes, maximum, minimum
from ..core.dtypes import string
from ..core.shapes import TensorShape
from ..core.state import LOCAL
from ..core.steps import Step, Steps
from ..ops.arguments import as_size
from ..ops.random_keys import NEXT_KEY, UNKNOWN_ITERATIONS
from ..values import nest
from ..values.capture import Drawn, Source, value_of
from ..values.host_steps import takes_steps
from ..values.record import apply
from ..values.sizes import integer
from ..values.tensor import Tensor
from ..values.variable import put_into
from .branches import truth
from .host_control import Inside, Loop, record_control
from .invariants import invariants
from .iterations import UNKNOWN, Count, Flow, guessed, iterations
from .recorded_array import UNBOUNDED, RecordedArray, UnknownLength
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
from .tensor_array import TensorArray


def repeat(
    goes_on: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any,
) -> Any:
    """`tf.while_loop` while a function is recorded."""
    given = [tensor_of(leaf) for leaf in flat(loop_vars)]
    loose = invariants(loop_vars, shape_invariants, given)
    attempt = partial(_attempt, goes_on, body, loop_vars, given, loose)
    try:
        return _tried(attempt, given, loose)
    except _Acts:
        return _acting(goes_on, body, loop_vars, shape_invariants)


#: Records a loop for leaves like these, and gives what it gives; the second says whether shapes may
#: change in it.
_Attempt = Callable[[Sequence[Any], "Inside | None"], Any]


def _tried(attempt: _Attempt, given: Sequence[Any], loose: Sequence[TensorShape]) -> Any:
    """What a loop gives. Shapes that it may change are unknown sizes in its record: those that the
    user says, at once; others where an iteration gives another shape than it was given."""
    inside = Inside() if takes_steps() else None
    said = given if inside is None else _loosened(given, loose)
    if said is not given:
        try:
            return attempt(said, inside)
        except (errors.NeedsValue, INCONCLUSIVE):
            pass
    try:
        return attempt(given, None)
    except (_Varies, UnknownLength) as error:
        if inside is None:
            raise
        varies = isinstance(error, _Varies)
    return attempt(_loosened(given, loose, unknown=True) if varies else said, inside)


def _attempt(
    goes_on: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    given: Sequence[Any],
    loose: Sequence[TensorShape],
    formal: Sequence[Any],
    inside: Inside | None,
) -> Any:
    """What a loop gives, recorded for leaves like the `formal` ones."""
    made = inside or (Inside() if takes_steps() else None)
    if inside is None and any(isinstance(x, TensorArray) and x.dtype is string for x in formal):
        raise _Varies(f"A loop has a TensorArray of texts (at {errors.user_location()}).")

    def checked(leaves: list[Any]) -> Any:
        result = body(*packed(loop_vars, leaves))
        return _like(result, loop_vars)

    def finish(recording: Recording, leaves: list[Any]) -> None:
        _finish(recording, leaves, given, loose, inside)

    condition = record(
        lambda leaves: truth(goes_on(*packed(loop_vars, leaves))),
        formal,
        "while_cond",
        room=None if inside is None else UNBOUNDED,
        texts=inside is not None,
    )
    if condition.captured.cells or condition.captured.closure.effect:
        raise _Acts
    room = _guess(condition, given) if inside is None else UNBOUNDED
    iteration = record(checked, formal, "while_body", finish, room, inside is not None)
    return _Loop(given, condition, iteration, inside, made).call(loop_vars)


def _loosened(
    given: Sequence[Any], loose: Sequence[TensorShape], unknown: bool = False
) -> Sequence[Any]:
    """The leaves, avals with unknown sizes where sizes may change that are known, and unknown ones
    if asked for; as they are if none may."""
    sketch = LOCAL.state.capture.sketch
    found = list(given)
    for i, (x, shape) in enumerate(zip(given, loose, strict=True)):
        if not isinstance(x, Tensor) or shape.rank is None:
            continue
        sizes = [
            sketch.size() if wanted is None and (unknown or type(size) is int) else size
            for size, wanted in zip(x._aval.shape, shape.as_list())
        ]
        if not all(map(is_, sizes, x._aval.shape)):
            found[i] = Aval.of(tuple(sizes), x.dtype)
    return given if all(map(is_, found, given)) else found


class _Acts(Exception):
    """The condition of a loop assigns to variables, prints or checks."""


class _Varies(errors.NeedsValue):
    """An iteration gives another shape than it was given."""


def _acting(
    goes_on: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, shape_invariants: Any
) -> Any:
    """A loop whose condition does more than to say whether it goes on: it is asked before the loop,
    and at the end of each iteration."""

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


def _finish(
    recording: Recording,
    leaves: list[Any],
    given: Sequence[Any],
    loose: Sequence[TensorShape],
    inside: Inside | None,
) -> None:
    """Check what an iteration gives against what it was given. inside: if the host may do it."""
    for i in range(len(leaves)):
        x: Any = given[i]
        new: Any = leaves[i]
        if isinstance(x, TensorArray):
            if inside is None:
                refuse_growth(recording.arguments[i], new, "iterations of a loop")
            before, leaves[i], new = _same_buffer(recording, i, new)
        else:
            before = recording.arguments[i]
        if before is None or new is None:
            continue
        if before.dtype is string and new.dtype is string and inside is None:
            if new is not x:
                raise _Varies(f"A loop changes a text, {x!s} (at {errors.user_location()}).")
            continue
        if before._aval is new._aval:
            continue
        if not isinstance(x, TensorArray) and not new.shape.is_subtype_of(loose[i]):
            raise ValueError(
                f"Input tensor `{_name(x)}` enters the loop with shape {loose[i]}, but has shape "
                f"{new.shape} after one iteration. To allow the shape to vary across iterations, "
                "use the `shape_invariants` argument of tf.while_loop to specify a less-specific "
                "shape."
            )
        if before.dtype is not new.dtype:
            raise TypeError(
                f"Loop var {_name(x)} enters the loop with type {x.dtype!s} but has type "
                f"{new.dtype!s} after 1 iteration. {_name(x)} type should remain constant."
            )
        if inside is None or not inside.may_become(before._aval, new._aval):
            raise _Varies(
                f"A loop variable has shape {before.shape} before and {new.shape} after an "
                "iteration, so its shape at the end is not known before the function is called (at "
                f"{errors.user_location()})."
            )


def _same_buffer(
    recording: Recording, index: int, new: TensorArray
) -> tuple[Tensor | None, TensorArray, Tensor | None]:
    """A TensorArray after an iteration, with the buffer that it had before and has now: both or
    none."""
    buffer = buffer_or_tensor(new)
    if buffer is not None:
        before = recording.arguments[index]._recorded().buffer_like(buffer)
        return before, new, buffer
    place = recording.places[index]
    if place is None:
        return None, new, None
    before = recording.inputs[place]
    new = new._with(new._recorded().with_buffer(before))
    return before, new, before


def _name(x: Any) -> str:
    return x.name if x._is_symbolic() else "Const:0"


class _Loop:
    """A recorded loop: what it carries, and what is the same in all iterations.

    First the leaves of the loop variables are carried, then the keys of draws, then what variables
    hold that the body assigns to. made: the sizes that came to be known in its parts.
    """

    def __init__(
        self,
        given: Sequence[Any],
        condition: Part,
        iteration: Part,
        inside: Inside | None,
        made: Inside | None,
    ):
        self.given, self.iteration, self._inside, self._made = given, iteration, inside, made
        self.parts = condition, iteration
        #: The leaves that are carried, and what they are like in an iteration.
        self.live = [i for i, place in enumerate(iteration.places) if place is not None]
        self._avals = [iteration.avals[iteration.places[i]] for i in self.live]  # type: ignore[index]
        self.by_host = condition.in_parts or iteration.in_parts or self._varies()
        self.first = [self._initial(i, aval) for i, aval in zip(self.live, self._avals)]
        if inside is not None and not self.by_host:
            self._settle()
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

    def _refuse_room(self) -> None:
        """Refuse arrays that grow in room that was made for XLA. Raises: UnknownLength."""
        for leaf in self.given:
            if isinstance(leaf, TensorArray) and leaf._recorded().dynamic_size:
                raise leaf._recorded().unknown_length()

    def _varies(self) -> bool:
        """Whether shapes change from iteration to iteration."""
        after = [self.iteration.tensor(self.iteration.leaves[i]) for i in self.live]
        return any(x is None or x._aval is not aval for x, aval in zip(after, self._avals))

    def _initial(self, index: int, aval: Aval) -> Tensor:
        leaf = self.given[index]
        if not isinstance(leaf, TensorArray):
            return leaf
        array = leaf._recorded()
        if self._made is not None and array.buffer is None:
            aval = self._made.told(aval, "The shape of the elements of a TensorArray")
        if self._inside is not None and array.buffer is None:
            aval = Aval.of((array.length, *aval.shape[1:]), aval.dtype)
        return array.buffer_of(aval)

    def _settle(self) -> None:
        """Put the sizes that there are before the loop in the place of those that it does not
        change."""
        pairs = [(aval.shape, x._aval.shape) for aval, x in zip(self._avals, self.first)]
        sizes = Sizes.between(*zip(*pairs, strict=True)) if pairs else Sizes()
        assert sizes is not None
        condition, self.iteration = [part.at(sizes) for part in self.parts]
        self.parts = condition, self.iteration

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
        if self.by_host:
            if self._inside is None:
                self._refuse_room()
            return self._call_by_host(loop_vars)
        goes_on, body = self.steps()
        count = iterations(goes_on, body, self.inputs, self.carried)
        flows = [Flow(steps, self.inputs, self.carried) for steps in (goes_on, body)]
        rolled = Rolled(flows[0], flows[1], count)
        lengths = {
            i: self._length(leaf._recorded(), rolled, place)
            for place, i in enumerate(self.live)
            if isinstance(leaf := self.given[i], TensorArray)
        }
        values = [_begin(source, count) for source in self.inputs]
        note_variables(self.parts)
        outputs = rolled.results(values, apply(rolled.closure(), rolled.arguments(values)))
        told = {i: length(outputs) for i, length in lengths.items()}
        return self._ended(loop_vars, outputs, told)

    def _call_by_host(self, loop_vars: Any) -> Any:
        """Record it as a step that the host does."""
        parts = [Call(steps, "while") for steps in self.steps()]
        values = [_begin(source, UNKNOWN) for source in self.inputs]
        kept = [x._aval for x in values[len(self.first) : self.carried]]
        avals = [*self._avals, *kept]
        inputs = (*avals, *[x._aval for x in values[self.carried :]])
        if list(parts[1].infer(inputs)[0][len(self._avals) :]) != kept:
            raise errors.NeedsValue(
                "A loop assigns a tensor of another shape to a variable (at "
                f"{errors.user_location()})."
            )
        inside = self._inside
        results = avals if inside is None else [inside.joined([aval]) for aval in avals]
        note_variables(self.parts)
        outputs = record_control(Loop("While", parts, results, avals), values)
        return self._ended(loop_vars, outputs, {})

    def _ended(self, loop_vars: Any, outputs: Sequence[Tensor], lengths: Mapping[int, Size]) -> Any:
        """The loop variables at its end. lengths: those of arrays that have room for more."""
        for handle, tensor in zip(self.cells, outputs[self.carried - len(self.cells) :]):
            put_into(handle, tensor)
        leaves = list(self.given)
        for i, output in zip(self.live, outputs):
            leaf = self.given[i]
            if isinstance(leaf, TensorArray):
                array = leaf._recorded().with_buffer(output)
                leaves[i] = leaf._with(array.first_rows(lengths.get(i, array.length)))
            else:
                leaves[i] = output
        return packed(loop_vars, leaves)

    def _length(
        self, array: RecordedArray, rolled: Rolled, place: int
    ) -> Callable[[Sequence[Tensor]], Size]:
        """How many elements an array has after the loop, which carried it, by what that gives.

        Raises: UnknownLength if that cannot be told.
        """
        if array.buffer is not None or not array.dynamic_size or place in rolled.fixed:
            return lambda _: array.length
        if place not in rolled.written:
            raise array.unknown_length()
        where, most = rolled.written[place][0], rolled.most
        assert most is not None
        if rolled.goes_on is None:
            last = where.first + where.by * (most - 1) if where.by > 0 else where.first
            return lambda _: maximum(last + 1, array.length)
        number = rolled.number_of(place)
        first = integer(self.inputs[number])
        begins = type(where.first) is int and where.first == array.length
        if where.by != 1 or not begins or first is None:
            raise array.unknown_length()
        # The loop may end early: what counts its iterations tells how many there were.
        return lambda outputs: minimum(
            where.first + as_size(outputs[number]) - first, where.first + most
        )


def _begin(source: Source, count: Count) -> Tensor:
    """What a loop of so many iterations begins with."""
    if not isinstance(source, Drawn):
        return value_of(source)
    return source.draw(
        count.most if count.exact and isinstance(count.most, int) else UNKNOWN_ITERATIONS
    )
