"""Conditionals and loops that the host does, between the programs of a function.

A branch that gives another shape than the other, a loop variable that grows, a mask or a text in
the body: XLA has none of these. What was recorded of the branches or of the body is then run part
by part, and Python's `if` or `while` stands between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..autodiff.dependence import used_by
from ..core import errors
from ..core.avals import Aval
from ..core.caches import Cache
from ..core.call import Call
from ..core.dimensions import Size, Sizes, is_symbolic, variables
from ..core.dtypes import from_numpy
from ..core.limits import MAX_CONTROL_FLOW
from ..core.op import Op
from ..core.shapes import TensorShape
from ..core.state import LOCAL
from ..run.op_by_op import unrecorded
from ..values.capture import Captured, Sketch
from ..values.record import apply, notify
from ..values.tensor import Tensor
from .part_runs import SizesOf, Turns
from .program_parts import parts_of
from .python_steps import Rule, TapedStep, is_silent, run_parts
from .untaken import REFUSALS


class ControlStep(TapedStep):
    """A conditional, a loop or a call. parts: its branches, its predicate and body, or what is
    called."""

    __slots__ = ("parts", "silent")
    tells_sizes = True

    def __init__(self, name: str, parts: Sequence[Call], results: Sequence[Aval]):
        silent = all(map(is_silent, parts))
        effect = not silent or any(aval.unknown for aval in results)
        super().__init__(name, results, {}, effect)
        self.parts, self.silent = tuple(parts), silent

    @property
    def repeatable(self) -> bool:
        return self.silent

    def function(self, found: Captured) -> Callable[..., list[Tensor]]:
        return partial(self.give, found)

    def give(self, found: Captured, /, *values: Tensor) -> list[Tensor]:
        """What it gives, of values of a run."""
        raise NotImplementedError

    def _has_unknown(self) -> bool:
        return any(part.unknown for part in self.parts) or any(a.unknown for a in self.avals)

    def _at(self, sizes: Sizes) -> ControlStep:
        made = self._with(sizes)
        made.taped = self.taped
        return made

    def _with(self, sizes: Sizes) -> ControlStep:
        raise NotImplementedError

    def _parts_with(self, sizes: Sizes) -> list[Any]:
        """The parts with sizes for the unknown ones."""
        return [part.at(sizes) for part in self.parts]

    def _results(self, sizes: Sizes) -> list[Aval]:
        """The avals of what it gives, with sizes for the unknown ones."""
        return [aval.at(sizes) for aval in self.avals[:-1]]


#: The first of its inputs. The others only count as what it depends on.
_FIRST = Op(lambda y, *_: y, "Identity")


def _connected(
    outputs: Sequence[Tensor], parts: Sequence[Call], inputs: Sequence[Tensor], avals: Any
) -> list[Tensor]:
    """Results by which all has a gradient that they depend on in one of the parts, also where it
    was not run: zeros."""
    used = zip(*[_used_by(part, avals) for part in parts], strict=True)
    found = []
    for y, places in zip(outputs, used, strict=True):
        behind = [inputs[i] for i in sorted(frozenset().union(*places))]
        connect = behind and y._aval.trainable
        found.append(apply(_FIRST.bind(), (y, *behind)) if connect else y)
    return found


def _used_by(part: Call, avals: Any) -> Sequence[frozenset[int]]:
    """Nothing is used by a part that does not take these sizes."""
    try:
        return used_by(part, avals)
    except REFUSALS:
        return [frozenset()] * len(part.flat.outputs)


class Branches(ControlStep):
    """One of several branches, by a number or a bool. Inputs: that, then the operands of all."""

    __slots__ = ()

    def taking(self, places: Sequence[int]) -> list[tuple[Call, Sequence[int]]]:
        return super().taking([i - 1 for i in places if i])

    def give(self, found: Captured, /, *values: Tensor) -> list[Tensor]:
        index, *operands = values
        number, last = int(index._value()), len(self.parts) - 1
        taken = number if 0 <= number <= last else last
        branch, avals = self.parts[taken], tuple([x._aval for x in operands])
        parts = parts_of(branch, avals)
        outputs = run_parts(found, parts, branch.flat.outputs, operands, Sizes())
        if not LOCAL.state.recorders:
            return outputs
        return _connected(outputs, self.parts, operands, avals)

    def _with(self, sizes: Sizes) -> Branches:
        return Branches(self.name, self._parts_with(sizes), self._results(sizes))


class FunctionCall(ControlStep):
    """A function that the host does steps of, called inside another. Inputs: its arguments, then
    what it takes beside. Unknown sizes in its part are its own, not those of the record around.

    takes: the avals of its inputs, with its own sizes. fitted: gives the part for what it takes in
    a call.
    """

    __slots__ = ("fitted", "takes")

    def __init__(
        self,
        name: str,
        part: Call,
        results: Sequence[Aval],
        takes: Sequence[Aval],
        fitted: Callable[[Sequence[Tensor]], Call],
    ):
        super().__init__(name, (part,), results)
        self.takes, self.fitted = tuple(takes), fitted

    def give(self, found: Captured, /, *values: Tensor) -> list[Tensor]:
        part = self.fitted(values)
        parts = parts_of(part, tuple([x._aval for x in values]))
        return run_parts(found, parts, part.flat.outputs, values, Sizes())

    def _has_unknown(self) -> bool:
        return any(aval.unknown for aval in self.avals)

    def _with(self, sizes: Sizes) -> FunctionCall:
        made = self._results(sizes)
        return FunctionCall(self.name, self.parts[0], made, self.takes, self.fitted)


#: Loops that nobody follows, by the avals of what they take.
_TURNS: Cache[tuple, Turns] = Cache("turns of loops of the host", MAX_CONTROL_FLOW)


class Loop(ControlStep):
    """A body while a predicate is true. Inputs: what is carried, then what stays the same.

    carried: the avals of what is carried, with unknown sizes where iterations may change them.
    """

    __slots__ = ("carried",)

    def __init__(
        self, name: str, parts: Sequence[Call], results: Sequence[Aval], carried: Sequence[Aval]
    ):
        super().__init__(name, parts, results)
        self.carried = tuple(carried)

    def give(self, found: Captured, /, *values: Tensor) -> list[Tensor]:
        count = len(self.carried)
        carried, same = list(values[:count]), values[count:]
        avals = (*self.carried, *[x._aval for x in same])
        predicate, body = [(parts_of(part, avals), part.flat.outputs) for part in self.parts]
        arrays = all(from_numpy(x._aval.np_dtype) is x._aval.dtype for x in values)
        if unrecorded() and arrays:
            turns = _TURNS.find(
                (self, avals), lambda: Turns(predicate, body, len(avals), self.carried)
            )
            return turns.run(found, values)
        sizes_of = SizesOf(self.carried)
        first = bool(LOCAL.state.recorders)
        while True:
            sizes = sizes_of.of([x._aval for x in carried])
            given = [*carried, *same]
            (goes_on,) = run_parts(found, *predicate, given, sizes)
            if not goes_on._value():
                if first:
                    return _connected(carried, self.parts[1:], given, avals)
                return carried
            first = False
            carried = run_parts(found, *body, given, sizes)

    def _with(self, sizes: Sizes) -> Loop:
        carried = [aval.at(sizes) for aval in self.carried]
        return Loop(self.name, self._parts_with(sizes), self._results(sizes), carried)


# ---------------------------------------------------------------------------------------------
# Recording.


def record_control(step: ControlStep, inputs: Sequence[Tensor]) -> list[Tensor]:
    """Record a conditional, a loop or a call that the host does: what it gives. Tapes follow it."""
    state = LOCAL.state
    state.capture.take_host_step()
    state.capture.sketch.taken = True
    given = tuple(inputs)
    *outputs, number = apply(step, given)
    notify(state.recorders, Rule(step, number, range(len(given))), given, tuple(outputs), None)
    return outputs


class Inside:
    """The sizes that come to be known inside of parts that are recorded from now on."""

    def __init__(self) -> None:
        self._sketch: Sketch = LOCAL.state.capture.sketch
        self._before = self._sketch.count

    def _has(self, shape: tuple[Size, ...]) -> bool:
        """Whether one of them is in a shape."""
        return not self._sketch.since(self._before).isdisjoint(variables(shape))

    def outside(self, size: Size, *others: Size) -> Size:
        """What a size of results is outside of the parts: itself if it is one outside and the
        others agree, else one that a call tells."""
        known = not self._has((size,))
        return size if known and all(size == other for other in others) else self._sketch.size()

    def may_become(self, before: Aval, after: Aval) -> bool:
        """Whether the sizes that differ are such ones."""
        names = self._sketch.since(self._before)
        pairs = zip(before.shape, after.shape)
        return len(before.shape) == len(after.shape) and all(
            one == other or (is_symbolic(one) and str(one) in names) for one, other in pairs
        )

    def invariant(self, aval: Aval) -> TensorShape | None:
        """A shape with None for such sizes; None if there are none in it."""
        if not self._has(aval.shape):
            return None
        return TensorShape([None if self._has((n,)) else n for n in aval.shape])

    def told(self, aval: Aval, what: str) -> Aval:
        """What is carried, where such sizes after its first axis are needed outside: with others in
        their place if the record tells shapes only. Raises: NeedsValue if it is to be called."""
        length, *sizes = aval.shape
        if not self._has(tuple(sizes)):
            return aval
        if not self._sketch.tells:
            raise errors.NeedsValue(
                f"{what} is known only inside of a loop (at {errors.user_location()})."
            )
        return Aval.of((length, *[self.outside(size) for size in sizes]), aval.dtype)

    def joined(self, avals: Sequence[Aval]) -> Aval:
        """The aval of what several branches of one rank give."""
        shapes = zip(*[aval.shape for aval in avals], strict=True)
        return Aval.of(tuple([self.outside(*sizes) for sizes in shapes]), avals[0].dtype)
