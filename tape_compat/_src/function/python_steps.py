"""Calls of Python functions with results, in functions that are recorded.

Their shapes are those that the calls gave when the function ran as Python, for inputs of the same
shapes. The record is run in parts, from one such call to the next; where a call gives another shape
the Python of the whole function runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from ..autodiff.custom import VariableWatcher
from ..autodiff.tape import GradientTape
from ..core import errors
from ..core.avals import Aval
from ..core.caches import Cache
from ..core.call import Call
from ..core.dimensions import Sizes, fit
from ..core.dtypes import DType, int32, string
from ..core.state import LOCAL
from ..ops.creation import zeros_like
from ..run.op_by_op import runs_at_once
from ..values.capture import Captured, Sketch, value_of
from ..values.convert import convert
from ..values.effects import once
from ..values.host_steps import PythonStep
from ..values.record import apply, flush, identity, notify
from ..values.tensor import Tensor
from ..values.variable import Handle, put_into
from .part_runs import other_results, run_step_or_part
from .program_parts import ProgramPart, has_effect, parts_of

#: How many shapes of results are remembered.
_MAX_LEARNT = 4096


class Called:
    """A call of a Python function that was done: its inputs, what it gave, and the tape around it,
    if a gradient will be asked for."""

    def __init__(self, call: Callable[..., list[Tensor]], inputs: Sequence[Tensor], taped: bool):
        self.inputs = list(inputs)
        self.tape = GradientTape(persistent=True, watch_accessed_variables=False) if taped else None
        if self.tape is None:
            self.outputs = call(*self.inputs)
            return
        with self.tape as tape:
            for x in self.inputs:
                if x._aval.trainable:
                    tape.watch(x)
            self.outputs = call(*self.inputs)

    def gradients(self, cotangents: Sequence[Tensor | None]) -> list[Tensor]:
        """The gradient of each input; zeros where there is none."""
        assert self.tape is not None
        pairs = [(y, c) for y, c in zip(self.outputs, cotangents, strict=True) if c is not None]
        found = self.tape.gradient([y for y, _ in pairs], self.inputs, [c for _, c in pairs])
        return [zeros_like(x) if g is None else convert(g) for x, g in zip(self.inputs, found)]

    def gradients_of(self, want: Sequence[int], have: Sequence[int], given: Any) -> list[Tensor]:
        """Those of the inputs `want`, by the cotangents that are given of the outputs `have`."""
        cotangents: list[Any] = [None] * len(self.outputs)
        for i, cotangent in zip(have, given, strict=True):
            cotangents[i] = cotangent
        found = self.gradients(cotangents)
        return [found[i] for i in want]


# ---------------------------------------------------------------------------------------------
# What results are like.


class Results(NamedTuple):
    """What a call gives: shapes, with None for sizes that differ from call to call, and dtypes.
    single: whether that is one tensor, not a list."""

    kinds: tuple[tuple[tuple[int | None, ...], DType], ...]
    single: bool

    def joined(self, other: Results) -> Results | None:
        """What is like both; None if they differ in more than sizes."""
        kinds = []
        for (one, dtype), (two, second) in zip(self.kinds, other.kinds):
            if dtype is not second or len(one) != len(two):
                return None
            kinds.append((tuple([a if a == b else None for a, b in zip(one, two)]), dtype))
        same = len(kinds) == len(self.kinds) == len(other.kinds) and self.single == other.single
        return Results(tuple(kinds), self.single) if same else None

    def avals(self, sketch: Sketch | None, any_size: bool) -> list[Aval]:
        """Those of its results. any_size: whether only their ranks count, where something gives
        sizes. Raises: NeedsValue if sizes differ and nothing gives any."""
        if sketch is None:
            if any(None in shape for shape, _ in self.kinds):
                raise errors.NeedsValue("sizes that differ from call to call are not known here")
            return [Aval.of(shape, dtype) for shape, dtype in self.kinds]
        shapes = [[None if any_size else n for n in shape] for shape, _ in self.kinds]
        sizes = [[sketch.size() if n is None else n for n in shape] for shape in shapes]
        return [Aval.of(tuple(shape), dtype) for shape, (_, dtype) in zip(sizes, self.kinds)]


#: By where a call stands, its function and the avals of its inputs: what it gave; why that is not
#: known.
_LEARNT: Cache[tuple, Results | str] = Cache("results of Python functions", _MAX_LEARNT)


def _key(api: str, title: str, inputs: Sequence[Tensor]) -> tuple:
    return errors.user_location(), api, title, tuple([x._aval for x in inputs])


def learn(
    api: str, title: str, inputs: Sequence[Tensor], outputs: Sequence[Tensor], single: bool
) -> None:
    """Note what a call has given."""
    key = _key(api, title, inputs)
    kinds = tuple([(tuple(y._aval.shape), y._aval.dtype) for y in outputs])
    found: Results | str | None = Results(kinds, single) if outputs else "it gave nothing"
    before = _LEARNT.get(key)
    if isinstance(before, Results) and isinstance(found, Results):
        found = before.joined(found)
    elif before is not None:
        found = before
    _LEARNT.put(key, found or "the ranks or dtypes of what it gives differ from call to call")


def expected(api: str, title: str, inputs: Sequence[Tensor]) -> Results:
    """What a call that is being recorded will give.

    Raises: NeedsRun if that is not known yet, NeedsValue if it cannot be recorded.
    """
    found = _LEARNT.get(_key(api, title, inputs))
    if isinstance(found, Results):
        return found
    if any(x._aval.unknown for x in inputs):
        found = "what it gives is known for known sizes only"
    where = f"what tf.{api} gives is known when {title} has run (at {errors.user_location()})"
    if found is None:
        raise errors.NeedsRun(f"{where}.")
    raise errors.NeedsValue(f"{where}: {found}. A JAX function may be recorded: tape_compat.as_op.")


# ---------------------------------------------------------------------------------------------
# Recording.


#: In a record a `Called` is a number.
NUMBER = Aval.of((), int32)


class TapedStep(PythonStep):
    """A step that tapes in a record follow. Its last output is a `Called`, for its gradient.

    taped: whether its gradient is a step too. texts: those of its arguments that are no inputs.
    repeatable: whether it may be done again, for a gradient of its gradient.
    """

    __slots__ = ("taped", "texts")
    repeatable = False

    def __init__(self, name: str, results: Sequence[Aval], texts: dict[int, Any], effect: bool):
        super().__init__(name, (*results, NUMBER), effect)
        self.texts, self.taped = texts, False

    def done(self, found: Captured, /, *values: Any) -> list[Any]:
        called = Called(self.function(found), values, self.taped)
        return [*called.outputs, called]

    def followed(
        self, inputs: tuple[Tensor, ...], outputs: tuple[Tensor, ...], behind: tuple[Tensor, ...]
    ) -> bool:
        if self.name == "PyFunc":
            return False
        *results, number = outputs
        every = range(len(inputs) + len(self.texts))
        rule = Rule(self, number, [i for i in every if i not in self.texts])
        notify(LOCAL.state.recorders, rule, inputs, tuple(results), None)
        return True

    def function(self, found: Captured) -> Callable[..., list[Tensor]]:
        """What it does of values of a run: a function of its inputs."""
        raise NotImplementedError


class _Forward(TapedStep):
    """The call of a Python function. pure: whether it does nothing but give its results."""

    __slots__ = ("call", "silent", "title")
    tells_sizes = True

    def __init__(
        self,
        name: str,
        title: str,
        call: Any,
        results: Sequence[Aval],
        texts: dict[int, Any],
        pure: bool,
    ):
        super().__init__(name, results, texts, not pure or any(x.unknown for x in results))
        self.call, self.title, self.silent = call, title, pure

    def done(self, found: Captured, /, *values: Any) -> list[Any]:
        called = once(self._called, found, _merged(self.texts, values))
        given = tuple([y._aval for y in called.outputs])
        wanted = self.avals[:-1]
        as_before = len(given) == len(wanted) and all(
            x.dtype is y.dtype and fit(x.shape, y.shape) for x, y in zip(given, wanted)
        )
        if not as_before:
            error = other_results(self.title, given, wanted)
            error.anew = True  # what it gave now is learnt when the Python of the function runs
            raise error
        return [*called.outputs, called]

    def _called(self, found: Captured, inputs: list[Any]) -> Called:
        before = [(s, s.tensor) for s in found.sources if isinstance(s, Handle)]
        watcher = VariableWatcher()
        called = watcher.during(Called, self.call, inputs, self.taped)
        if any(variable._handle in found.cells for variable in watcher.variables.values()):
            raise _of_variables("read")  # what it read may be too old
        if any(handle.tensor is not held for handle, held in before):
            for handle, held in before:
                handle.tensor = held
            raise _of_variables("assigned to")
        return called


class _Backward(PythonStep):
    """The gradients of the inputs `want` by those of the outputs `have`."""

    __slots__ = ("forward", "have", "want")

    def __init__(self, forward: TapedStep, avals: tuple[Aval, ...], want: Any, have: Any):
        super().__init__(f"{forward.name}Grad", avals)
        self.forward, self.want, self.have = forward, want, have

    def followed(
        self, inputs: tuple[Tensor, ...], outputs: tuple[Tensor, ...], behind: tuple[Tensor, ...]
    ) -> bool:
        twice = _Twice(self.forward, self.avals, self.want, self.have)
        notify(LOCAL.state.recorders, twice, (*behind, *inputs[1:]), outputs, None)
        return True

    def done(self, found: Captured, /, *values: Any) -> list[Any]:
        called, *given = values
        return called.gradients_of(self.want, self.have, given)


class _Again(TapedStep):
    """A step done again under a tape, and the gradients of its inputs, which tapes follow.

    Inputs: those of the step, then cotangents of the outputs `have`.
    """

    __slots__ = ("forward", "have", "want")
    tells_sizes = False
    silent = repeatable = True

    def __init__(self, forward: TapedStep, avals: Sequence[Aval], want: Any, have: Any):
        super().__init__(f"{forward.name}Grad", avals, {}, effect=False)
        self.forward, self.want, self.have = forward, want, have

    def function(self, found: Captured) -> Callable[..., list[Tensor]]:
        def gradients(*values: Tensor) -> list[Tensor]:
            inputs = len(values) - len(self.have)
            called = Called(self.forward.function(found), values[:inputs], True)
            return called.gradients_of(self.want, self.have, values[inputs:])

        return gradients

    def _has_unknown(self) -> bool:
        return self.forward.unknown

    def _at(self, sizes: Sizes) -> _Again:
        forward: Any = self.forward.at(sizes)
        avals = [aval.at(sizes) for aval in self.avals[:-1]]
        made = _Again(forward, avals, self.want, self.have)
        made.taped = self.taped
        return made


class Rule:
    """How tapes in a record see a call. number: what stands for its `Called`."""

    differentiable = True

    def __init__(self, forward: TapedStep, number: Tensor, places: Sequence[int]):
        self.name = forward.name
        self._forward, self._number, self._places = forward, number, places

    def pull(
        self, inputs: tuple[Tensor, ...], cotangents: list[Any], want: tuple[int, ...]
    ) -> list[Any]:
        """The gradients of the inputs `want`, worked out by the tape around the call."""
        self._forward.taped = True
        have = tuple([i for i, c in enumerate(cotangents) if c is not None])
        given = tuple([cotangents[i] for i in have])
        places = tuple([self._places[i] for i in want])
        avals = tuple([inputs[i]._aval for i in want])
        outputs = apply(_Backward(self._forward, avals, places, have), (self._number, *given))
        twice = _Twice(self._forward, avals, places, have)
        notify(LOCAL.state.recorders, twice, (*inputs, *given), outputs, None)
        return list(outputs)

    def as_closure(self, inputs: tuple[Tensor, ...]) -> Any:
        """Refused: it is not for JAX to differentiate."""
        raise errors.NeedsValue(
            f"Of {self.name} a tape gives gradients, no Jacobians (at {errors.user_location()})."
        )


class _Twice(Rule):
    """How tapes see a gradient."""

    def __init__(self, forward: TapedStep, avals: Sequence[Aval], want: Any, have: Any):
        self.name = forward.name
        self._forward, self._avals, self._want, self._have = forward, avals, want, have

    def pull(self, inputs: Any, cotangents: Any, want: Any) -> list[Any]:
        """The gradients of the gradient: of a step that is done again.

        Raises: NeedsValue if it may not be; the Python of the whole function gives them.
        """
        if not self._forward.repeatable:
            raise errors.NeedsValue(
                f"A second gradient through {self.name} (at {errors.user_location()})."
            )
        step = _Again(self._forward, self._avals, self._want, self._have)
        *_, number = apply(step, tuple(inputs))
        return Rule(step, number, range(len(inputs))).pull(inputs, cotangents, want)


class _Replayed(Rule):
    """How tapes see a call that was done before the record was given up."""

    def __init__(self, called: Called):
        self.name = "EagerPyFunc"
        self._called = called

    def pull(
        self, inputs: tuple[Tensor, ...], cotangents: list[Any], want: tuple[int, ...]
    ) -> list[Any]:
        """The gradients of the inputs `want`."""
        found = self._called.gradients(cotangents)
        return [found[i] for i in want]


def _merged(texts: dict[int, Any], values: Sequence[Any]) -> list[Any]:
    """The inputs of a call: texts, which are known when it is recorded, and values."""
    left = iter(values)
    return [texts[i] if i in texts else next(left) for i in range(len(texts) + len(values))]


def record_call(
    api: str,
    name: str,
    title: str,
    call: Callable[..., list[Tensor]],
    inputs: list[Tensor],
    pure: bool = False,
) -> tuple[list[Tensor], bool]:
    """Record a call: its results, and whether that is one tensor, not a list. Tapes follow
    `EagerPyFunc`. pure: whether it does nothing but give results, which are of any size then."""
    state = LOCAL.state
    sketch, whole = state.capture.sketch, _outermost(state.capture).sketch
    if sketch is not None:
        sketch.calls = True
    results = expected(api, title, inputs)
    state.capture.call_python(f"What {title} gives")
    if whole is not None and whole.any_size and whole is not sketch:
        raise errors.NeedsValue("a function in a function is recorded for sizes of its own")
    avals = results.avals(sketch, pure or (sketch is not None and sketch.any_size))
    texts = {i: x for i, x in enumerate(inputs) if x.dtype is string and not x._is_symbolic()}
    places = [i for i in range(len(inputs)) if i not in texts]
    given = tuple([inputs[i] for i in places])
    step = _Forward(name, title, call, avals, texts, pure)
    *outputs, number = apply(step, given)
    if name == "EagerPyFunc":
        rule = Rule(step, number, places)
        notify(state.recorders, rule, given, tuple(outputs), None)
    return outputs, results.single


def _outermost(program: Any) -> Any:
    """The record that this one is in, and is in no other."""
    return program if program.outer is None else _outermost(program.outer)


def call_now(call: Callable[..., list[Tensor]], inputs: list[Tensor]) -> list[Tensor]:
    """What a call gives where values are at hand, or has given in a record that was given up."""
    called = once(Called, call, inputs, False)
    if called is None:  # it was recorded without results
        return []
    if called.tape is not None:
        notify(LOCAL.state.recorders, _Replayed(called), tuple(inputs), tuple(called.outputs), None)
    return called.outputs


# ---------------------------------------------------------------------------------------------
# Running.


def is_silent(call: Call) -> bool:
    """Whether nobody can tell when it is called."""
    if not call.effect:
        return True
    return not any(has_effect(step.closure) for step in call.flat.steps)


def computes_with_texts(call: Call, texts: Iterable[int]) -> bool:
    """Whether a step that Python does not do takes a text. texts: the numbers of those inputs."""
    found = set(texts)
    for step in call.flat.steps:
        if isinstance(step.closure, PythonStep):
            taken = [i for i, number in enumerate(step.inputs) if number in found]
            if any(computes_with_texts(part, own) for part, own in step.closure.taking(taken)):
                return True
            places = range(step.first, step.end)
            found |= {i for i, aval in zip(places, step.closure.avals) if aval.dtype is string}
        elif not found.isdisjoint(step.inputs):
            return True
    return False


def call_in_parts(found: Captured, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Call what was recorded, with the steps that Python does: the tensors of the result. Variables
    are assigned to at its end."""
    found.note_variables()
    values = [*tensors, *map(value_of, found.sources)]
    parts = parts_of(found.closure, tuple([x._aval for x in values]))
    results = run_parts(found, parts, found.closure.flat.outputs, values, Sizes())
    count = len(results) - len(found.cells)
    for handle, tensor in zip(found.cells, results[count:], strict=True):
        put_into(handle, identity(tensor))
    return tuple(results[:count])


def run_parts(
    found: Captured,
    parts: Sequence[ProgramPart],
    wanted: Sequence[int],
    given: Sequence[Any],
    sizes: Sizes,
) -> list[Any]:
    """What the parts of a record give, with the steps that Python does.

    found: the function that is called. wanted: the numbers of the results. given: the inputs.
    sizes: what is known of the unknown ones.
    """
    values: dict[int, Any] = dict(enumerate(given))
    at_once = runs_at_once()
    for part in parts:
        inputs = tuple([values[i] for i in part.inputs])
        by_host = isinstance(part.closure, PythonStep)
        if by_host:
            flush()
        kind = part.closure, part.sized
        outputs, sizes = run_step_or_part(found, kind, inputs, sizes, at_once)
        if by_host:
            at_once = runs_at_once()
        values.update(zip(part.outputs, outputs, strict=True))
    return [values[i] for i in wanted]


def _of_variables(what: str) -> errors.NotAsRecorded:
    message = f"A variable of the function was {what} by a Python function that it calls"
    error = errors.located(errors.NotAsRecorded, message)
    error.always = True
    return error
