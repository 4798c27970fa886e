"""Loops in functions that are being recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import errors
from ..core.control import calling, structured
from ..core.loops import Scan, While
from ..core.op import Op
from ..core.shapes import TensorShape
from ..core.steps import Step, Steps
from ..ops.random_keys import STEP
from ..values import nest
from ..values.capture import Drawn, Source, value_of
from ..values.record import apply
from ..values.spec import TensorSpec
from ..values.tensor import Tensor
from ..values.variable import put_into, read
from .branches import truth
from .recording import (
    Operands,
    Part,
    Recording,
    assigned,
    buffer_or_tensor,
    flat,
    packed,
    record,
    tensor_of,
    variables_read,
)
from .tensor_array import TensorArray
from .turns import turns


def _mixed(word: Any) -> Any:
    """SplitMix64's bijection, which `random_keys.mix` does with Python's integers."""
    u = np.uint64
    word = (word ^ (word >> u(30))) * u(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> u(27))) * u(0x94D049BB133111EB)
    return word ^ (word >> u(31))


#: The key that a loop begins with, of the one it is given; and that of the next turn. A loop in a
#: loop begins with a mixed key of the turn, so no two draws have the same one.
_FIRST_KEY = Op(_mixed, "LoopKey", differentiable=False, host_foldable=False).bind()
_NEXT_KEY = Op(
    lambda word: word + np.uint64(STEP), "NextKey", differentiable=False, host_foldable=False
).bind()


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
        raise NotImplementedError(
            "The condition of a while loop cannot assign to variables; let the body do so. At "
            f"{errors.user_location()}."
        )

    def checked(leaves: list[Any]) -> Any:
        result = body(*packed(loop_vars, leaves))
        return _like(result, loop_vars)

    turn = record(checked, given, "while_body", lambda r, leaves: _finish(r, leaves, given, loose))
    return _Loop(given, condition, turn).call(loop_vars)


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
        if hasattr(shape, "dtype"):  # the spec of a TensorArray
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
    """Check what a turn gives against what it was given."""
    for i, (x, new) in enumerate(zip(given, leaves, strict=True)):
        if isinstance(x, TensorArray):
            x, leaves[i], new = _same_buffer(recording, i, new)
        if x is None or new is None:
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
            f"A loop variable has shape {x.shape} before and {new.shape} after a turn, so its "
            "shape at the end is not known before the function is called (at "
            f"{errors.user_location()})."
        )


def _same_buffer(
    recording: Recording, index: int, new: TensorArray
) -> tuple[Tensor | None, TensorArray, Tensor | None]:
    """A TensorArray after a turn, with the buffer that it had before and has now: both or none."""
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


def _fits(shape: TensorShape, invariant: TensorShape) -> bool:
    return invariant.rank is None or shape.is_subtype_of(invariant)


def _name(x: Tensor) -> str:
    return x.name if x._is_symbolic() else "Const:0"


class _Loop:
    """A recorded loop: what it carries, and what is the same in all turns.

    First the leaves of the loop variables are carried, then what variables hold that the body
    assigns to, then the keys of draws.
    """

    def __init__(self, given: Sequence[Any], condition: Part, turn: Part):
        self.given, self.turn = given, turn
        self.parts = condition, turn
        #: The leaves that are carried.
        self.live = [i for i, place in enumerate(turn.places) if place is not None]
        first = [self._initial(i) for i in self.live]
        self.cells = assigned(self.parts)
        sources = [s for part in self.parts for s in part.captured.sources]
        self.keys = list({id(s): s for s in sources if isinstance(s, Drawn)}.values())
        self.operands = Operands(first)
        for source in (*self.cells, *self.keys):
            self.operands.place(source)
        self.carried = len(self.operands.tensors)
        self.places = [[self.operands.place(s) for s in p.captured.sources] for p in self.parts]

    def _initial(self, index: int) -> Tensor:
        leaf = self.given[index]
        if not isinstance(leaf, TensorArray):
            return leaf
        new = buffer_or_tensor(self.turn.leaves[index])
        assert new is not None
        return leaf._recorded().buffer_of(new._aval)

    def steps(self) -> tuple[Steps, Steps]:
        """The condition and the body, of what is carried and of what stays the same."""
        count = len(self.operands.tensors)
        given = [
            [*self._arguments(part), *places]
            for part, places in zip(self.parts, self.places, strict=True)
        ]
        condition, turn = self.parts
        goes_on = calling(condition.captured.closure, 1, count, given[0], (count,))
        end = count + turn.outputs
        steps = [Step(turn.captured.closure, tuple(given[1]), count, end)]
        first = self.carried - len(self.keys)
        for place in range(first, self.carried):
            last = steps[-1].end
            steps.append(Step(_NEXT_KEY, (place,), last, last + 1))
        return goes_on, Steps(count, tuple(steps), tuple(range(count, steps[-1].end)))

    def _arguments(self, part: Part) -> list[int]:
        """For each input of a part, in their order, its place among the operands."""
        found = [
            (place, self.live.index(i)) for i, place in enumerate(part.places) if place is not None
        ]
        return [operand for _, operand in sorted(found)]

    def call(self, loop_vars: Any) -> Any:
        """Record the loop: the loop variables at its end."""
        for variable in variables_read(self.parts):
            read(variable)
        tensors = [self._value(x) for x in self.operands.tensors]
        goes_on, body = self.steps()
        count = turns(goes_on, body, tensors, self.carried)
        if count.exact:
            closure = structured(Scan, "While", body, self.carried, 0, count.most)
        else:
            closure = structured(While, "While", goes_on, body, self.carried, count.most)
        outputs = iter(apply(closure, tuple(tensors)))
        leaves = list(self.given)
        for i in self.live:
            leaf, output = self.turn.leaves[i], next(outputs)
            leaves[i] = (
                leaf._with(leaf._recorded().with_buffer(output))
                if isinstance(leaf, TensorArray)
                else output
            )
        for handle in self.cells:
            put_into(handle, next(outputs))
        return packed(loop_vars, leaves)

    @staticmethod
    def _value(source: Source) -> Tensor:
        value = value_of(source)
        return apply(_FIRST_KEY, (value,)) if isinstance(source, Drawn) else value
