"""Steps of a record that Python does, between two parts of it.

JAX has no texts, and files are looked at when a function runs. An op of these that is met while a
function is recorded becomes a `HostStep`: at each call it is done with the values that there are
then, and what it gives goes on into the compiled part behind it. Sizes that are known only then
are unknown ones of the record.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..core.avals import Aval
from ..core.caches import Cache
from ..core.call import Call
from ..core.dimensions import is_symbolic
from ..core.dtypes import DType, int8
from ..core.errors import NotAsRecorded, located, user_location
from ..core.limits import MAX_CONTROL_FLOW
from ..core.op import Closure, Op
from ..core.program import Program
from ..core.state import LOCAL, changed
from . import nest
from .capture import Captured, Sketch, capturing, within
from .composite import CompositeTensor
from .record import apply
from .tensor import Tensor, concrete
from .variable import Variable

_Function = TypeVar("_Function", bound=Callable[..., Any])


class PythonStep(Closure):
    """A step that Python does, between two parts of a record.

    tells_sizes: whether unknown sizes in its avals are what it gives. silent: whether nobody can
    tell when it is done.
    """

    __slots__ = ("avals",)
    by_python = True
    tells_sizes = False
    silent = False
    #: The records that it runs.
    parts: tuple[Call, ...] = ()

    def __init__(self, name: str, avals: tuple[Aval, ...], effect: bool = True):
        super().__init__(Op(self._refused, name, effect=effect, differentiable=False), {})
        self.avals = avals

    def _infer(self, avals: tuple[Aval, ...]) -> tuple[tuple[Aval, ...], bool]:
        return self.avals, False

    def _has_unknown(self) -> bool:
        return False

    def _refused(self, *_: Any) -> Any:
        raise NotImplementedError(
            f"{self.name}: a Python function with results is called between programs, not inside "
            f"one. At {user_location()}."
        )

    def done(self, found: Captured, /, *values: Any) -> list[Any]:
        """What it gives, of values of a run. found: what is being run"""
        raise NotImplementedError

    def followed(
        self, inputs: tuple[Tensor, ...], outputs: tuple[Tensor, ...], behind: tuple[Tensor, ...]
    ) -> bool:
        """Let the tapes that record see that it gave these, and tell whether they follow it.

        behind: the inputs of the step that gave the first of its inputs, if that is one.
        """
        return False

    def taking(self, places: Sequence[int]) -> list[tuple[Call, Sequence[int]]]:
        """The records that it runs, and which of their inputs are its inputs at these places."""
        return [(part, places) for part in self.parts]


#: Stands for an op that takes stacked arguments itself: it is elementwise.
SAME: Any = object()


class HostStep(PythonStep):
    """An op of the host, of tensors that have values when it is done.

    call: takes them. rows: takes them stacked, and gives the results stacked; None if there is no
    such function.
    """

    __slots__ = ("call", "rows", "silent")
    tells_sizes = True

    def __init__(
        self,
        name: str,
        call: Callable[..., Any],
        rows: Callable[..., Any] | None,
        avals: tuple[Aval, ...],
        effect: bool = False,
    ):
        # one that gives sizes is done even where nothing else of it is wanted
        super().__init__(name, avals, effect or any(aval.unknown for aval in avals))
        self.call, self.rows, self.silent = call, rows, not effect

    @property
    def form(self) -> Form | None:
        """What `call` calls, and with which other arguments; None where that is not told."""
        return self.call if isinstance(self.call, Form) else None

    def done(self, _found: Captured | None, /, *values: Any) -> list[Any]:
        return _tensors(self.call(*values))

    def of_rows(self, *values: Any) -> list[Any]:
        """What it gives for stacked values, stacked."""
        assert self.rows is not None
        return _tensors(self.rows(*values))


#: Steps by their functions, other arguments and results: what is recorded again is the same.
_STEPS: Cache[Any, HostStep] = Cache("steps of the host", MAX_CONTROL_FLOW)


def by_host(rows: Any = None, effect: bool = False) -> Callable[[_Function], _Function]:
    """Decorate an op whose values the host works out: it is recorded as a `HostStep`. Of arguments
    without values it gives what stands for its results, by the `sketch` of the record.

    rows: what takes the same arguments with tensors stacked, and gives the results stacked; `SAME`
    if the op does. effect: whether it does something beside, or what it gives may be another thing
    at each call: it is recorded whether or not an argument has a value, and keeps its turn.
    """

    def decorate(function: _Function) -> _Function:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            capture = LOCAL.state.capture
            if capture is None or capture.sketch is None:
                return function(*args, **kwargs)
            return recorded(function, args, kwargs, rows, effect)

        return call  # type: ignore[return-value]

    return decorate


def recorded(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    rows: Any = None,
    effect: bool = False,
) -> Any:
    """Record the call of an op of the host, if an argument of it has no value yet or it has an
    effect. Where that is not possible, the record only tells shapes."""
    if any(isinstance(x, Variable) for x in nest.flatten((args, kwargs))):
        args, kwargs = nest.map_structure(_read, (args, kwargs))
    given = _Given(args, kwargs)
    capture = LOCAL.state.capture
    outline, outlined = _outlined(capture.sketch, function, args, kwargs)
    wanted = outlined and (given.inputs or effect)
    if not wanted or _has_sizes(args) or not capture.take_host_step():
        return function(*args, **kwargs)
    several = nest.flatten(outline, expand_composites=True)
    avals = tuple([x._aval for x in several if isinstance(x, Tensor)])
    key = given.key
    found = _STEPS.get((function, key, avals)) if key is not None else None
    if found is None:
        if rows is SAME:
            rows = function if _same_shapes(given.inputs, avals) else None
        stacked = None if rows is None else given.form(rows)
        found = HostStep(function.__name__, given.form(function), stacked, avals, effect)
        if key is not None:
            _STEPS.put((function, key, avals), found)
    capture.sketch.taken = True
    outputs = iter(apply(found, given.inputs))
    filled = [next(outputs) if isinstance(x, Tensor) else x for x in several]
    return nest.pack_sequence_as(outline, filled, expand_composites=True)


def _read(x: Any) -> Any:
    return x.read_value() if isinstance(x, Variable) else x


def _outlined(sketch: Sketch, function: Any, args: Any, kwargs: Any) -> tuple[Any, bool]:
    """What stands for the results of a function, and whether that is of the sketch."""
    with changed(sketch, used=False, tells=True):
        with capturing():  # it is no part of the record
            outline = function(*args, **kwargs)
        return outline, sketch.used


class SketchOfSteps(Sketch):
    """That of a record that is to be called: sizes that it needs are told at each call, by steps of
    the host. Where such a step is not possible there are none.

    paused: whether it tells none now.
    """

    __slots__ = ("_told", "paused")

    def __init__(self) -> None:
        super().__init__()
        self.tells = self.paused = False
        self._told: dict[tuple[Program, int], np.ndarray] = {}

    def sizes(self, program: Any, slot: int, shape: tuple[int, ...]) -> np.ndarray | None:
        """The sizes in an array of integers; None if no step can tell them."""
        if self.tells:
            return super().sizes(program, slot, shape)
        if self.paused:
            return None
        found = self._told.get((program, slot))
        if found is None and math.prod(shape) and program.take_host_step():
            self.taken = True
            found = self._told[program, slot] = self._new_sizes(shape)
            avals = tuple([Aval.of((size, 0), int8) for size in found.ravel()])
            with within(program):
                tensor = program.tensor_at(slot)
                form = Form(_of_sizes, [_Argument(tensor)], {})
                apply(HostStep(_of_sizes.__name__, form, None, avals), (tensor,))
        return found


def without_steps() -> Any:
    """Context: what needs a step of the host to tell a size does not get it."""
    capture = LOCAL.state.capture
    sketch = None if capture is None else capture.sketch
    return changed(sketch, paused=True) if isinstance(sketch, SketchOfSteps) else nullcontext()


def takes_steps() -> bool:
    """Whether the host may do steps of what is being recorded."""
    capture = LOCAL.state.capture
    return capture is not None and capture.takes_steps and capture.sketch is not None


def _of_sizes(tensor: Tensor) -> list[Tensor]:
    """Empty arrays of the sizes in a tensor."""
    sizes = np.ravel(tensor._value()).tolist()
    if min(sizes) < 0:
        what = f"A size, or where a slice begins or ends, was {min(sizes)}"
        raise located(NotAsRecorded, what)
    return [concrete(np.empty((size, 0), np.int8)) for size in sizes]


def same_text(text: Tensor) -> Tensor:
    """A text as a value of the record that is under way."""
    LOCAL.state.capture.take_host_step()
    form = Form(_itself, [_Argument(text)], {})
    (found,) = apply(HostStep(same_text.__name__, form, form, (text._aval,)), (text,))
    return found


def _itself(x: Tensor) -> Tensor:
    return x


def _has_sizes(args: tuple[Any, ...]) -> bool:
    """Whether an argument is a size that is not known yet, or a function that has one."""
    for x in nest.flatten(args):
        if is_symbolic(x):
            return True
        cells = getattr(x, "__closure__", None) or ()
        if any(is_symbolic(value) for cell in cells for value in nest.flatten(cell.cell_contents)):
            return True
    return False


def _same_shapes(inputs: Sequence[Tensor], outputs: Sequence[Aval]) -> bool:
    """Whether an op may be elementwise, by the shapes of what it takes and gives."""
    shape = inputs[0]._aval.shape
    return all(aval.shape == shape for aval in (*[x._aval for x in inputs], *outputs))


def _tensors(result: Any) -> list[Tensor]:
    if result.__class__ is Tensor:
        return [result]
    return [x for x in nest.flatten(result, expand_composites=True) if isinstance(x, Tensor)]


#: Classes of arguments that a step may be known by.
_PLAIN = frozenset((str, bytes, int, float, bool, type(None), type, DType))


class _Given:
    """The arguments of a call. inputs: those tensors that have no values yet. key: what tells the
    others; None if it would hold an object."""

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]):
        paths = nest.flatten_with_tuple_paths((args, kwargs), expand_composites=True)
        self.inputs = tuple([x for _, x in paths if _is_unknown(x)])
        self._args = [_Argument(x) for x in args]
        self._kwargs = {name: _Argument(x) for name, x in kwargs.items()}
        known = [(path, None if _is_unknown(x) else x) for path, x in paths]
        self.key: Any = None
        plain = all(x.__class__ in _PLAIN for _, x in known)
        if plain and not any(map(_is_composite, nest.flatten((args, kwargs)))):
            kinds = tuple([(path, x.__class__, x) for path, x in known])
            self.key = kinds, tuple([x._aval for x in self.inputs])

    def form(self, function: Callable[..., Any]) -> Form:
        """The call of a function with these arguments."""
        return Form(function, self._args, self._kwargs)


class Form(NamedTuple):
    """A function of the host and its arguments, with room for the inputs among them: called, a
    function of the inputs."""

    function: Callable[..., Any]
    args: list[_Argument]
    kwargs: dict[str, _Argument]

    def __call__(self, *values: Tensor) -> Any:
        left = iter(values)
        args = [x.filled(left) for x in self.args]
        return self.function(*args, **{name: x.filled(left) for name, x in self.kwargs.items()})

    def outlined(self, values: Iterable[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments with what stands for the inputs, which need be no tensors; None for a
        composite that has some of them."""
        left = iter(values)
        args = [x.outlined(left) for x in self.args]
        return args, {name: x.outlined(left) for name, x in self.kwargs.items()}


class _Argument:
    """An argument, with room for the tensors in it that have no values yet."""

    __slots__ = ("_is_room", "_leaves", "_structure")

    def __init__(self, value: Any):
        leaves = nest.flatten(value, expand_composites=True)
        self._is_room = _is_unknown(value)
        self._leaves = [_ROOM if _is_unknown(x) else x for x in leaves]
        #: As it is if it has no room.
        self._structure = None if self._is_room else value
        if not any(x is _ROOM for x in self._leaves):
            self._leaves = []
        elif not any(map(_is_composite, nest.flatten(value))):
            self._structure = nest.pack_sequence_as(value, [None] * len(leaves))

    def filled(self, values: Iterator[Tensor]) -> Any:
        if self._is_room:
            return next(values)
        if not self._leaves:
            return self._structure
        full = [next(values) if x is _ROOM else x for x in self._leaves]
        return nest.pack_sequence_as(self._structure, full, expand_composites=True)

    def outlined(self, values: Iterator[Any]) -> Any:
        """As `filled`, but None for a composite."""
        if not self._leaves or self._is_room or not _is_composite(self._structure):
            return self.filled(values)
        for leaf in self._leaves:
            if leaf is _ROOM:
                next(values)
        return None


class _Room:
    """Stands where a tensor goes."""


_ROOM: Any = _Room()


def _is_composite(x: Any) -> bool:
    return isinstance(x, CompositeTensor)


def _is_unknown(x: Any) -> bool:
    return x.__class__ is Tensor and x._is_symbolic()
