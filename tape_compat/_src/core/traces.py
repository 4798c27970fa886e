"""What JAX has traced of a function: for each set of shapes, or once for arrays of many sizes.

Where the same axes came in several sizes (batches, sequences that grow) the function is traced with
dimension variables in their place, `jax.export.symbolic_shape`; such a trace serves every size that
fits. A function that such a trace is not possible of, because it asks how large an axis is, is
traced for each size. Functions that differ by numbers, as ops do whose attributes are sizes, share
such traces: the numbers have variables, too.
"""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from types import NoneType
from typing import Any, NamedTuple

import jax
import jax.export
import numpy as np

from . import dtypes, limits
from .avals import Aval
from .dimensions import Sizes, is_symbolic
from .x64 import in_x64

Shapes = tuple[tuple[int, ...], ...]


def with_sizes(eqn: Any, sizes: Sizes, known: dict[int, Any]) -> Any:
    """An equation of a jaxpr with sizes for dimensions, but in the jaxprs that it holds. known: by
    their identities, what was made of atoms of that jaxpr."""
    if not sizes:
        return eqn
    params = {
        name: value if value.__class__ in _PLAIN else _parameter(value, sizes)
        for name, value in eqn.params.items()
    }
    invars = [known.get(id(x)) or _atom(x, sizes, known) for x in eqn.invars]
    outvars = [_atom(x, sizes, known) for x in eqn.outvars]
    return _Equation(eqn.primitive, params, invars, outvars, eqn.effects)


#: Classes of parameters in which no dimension is.
_PLAIN = (NoneType, bool, int, float, str)


def _parameter(value: Any, sizes: Sizes) -> Any:
    if type(value) in (tuple, list):
        return type(value)([_parameter(item, sizes) for item in value])
    return sizes.of(value) if is_symbolic(value) else value


def _atom(atom: Any, sizes: Sizes, known: dict[int, Any]) -> Any:
    aval = atom.aval
    found = atom
    if hasattr(aval, "shape") and not all(type(size) is int for size in aval.shape):
        found = _Atom(_Known(sizes.shape(aval.shape), aval.dtype))
    known[id(atom)] = found
    return found


class _Known(NamedTuple):
    """What rules ask of an aval; to make one takes a tenth of a `jax.ShapeDtypeStruct`."""

    shape: tuple[int, ...]
    dtype: Any

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)


class _Atom(NamedTuple):
    aval: Any


class _Equation(NamedTuple):
    primitive: Any
    params: dict[str, Any]
    invars: list[Any]
    outvars: list[Any]
    effects: Any


class Trace(NamedTuple):
    """A trace, for arrays of certain shapes.

    jaxpr: closed; of the dimension variables that `sizes` has. outputs: what it gives for these
    shapes. single: whether the function gives one array, not a tuple of them. noted: what somebody
    found out of the jaxpr, whatever the sizes.
    """

    jaxpr: Any
    sizes: Sizes
    outputs: tuple[Aval, ...]
    single: bool
    noted: dict[Any, Any]


class _Line(NamedTuple):
    """An axis of an input: `times` a variable and `plus`; no variable: `plus`."""

    variable: str
    times: int
    plus: int


class _General:
    """A trace with dimension variables. lines: for each axis of each input what it is."""

    def __init__(self, traced: Any, lines: list[list[_Line]]):
        self._jaxpr, self._out, self._lines = traced.jaxpr, traced.out_info, lines
        self._noted: dict[Any, Any] = {}

    def trace(self, shapes: Shapes) -> Trace | None:
        """It for these shapes, or None if it does not fit."""
        values: dict[str, int] = {}
        for lines, shape in zip(self._lines, shapes, strict=True):
            for (name, times, plus), size in zip(lines, shape, strict=True):
                if name and name not in values:
                    values[name] = (size - plus) // times
                if times * values.get(name, 0) + plus != size:
                    return None
        if min(values.values()) < 2:
            return None
        return _finished(self._jaxpr, self._out, Sizes(**values), self._noted)


class _Kind:
    """What was traced for inputs of certain ranks and dtypes.

    generals: for many sizes. others: shapes that none of these fits. failures: how often a trace
    for many sizes was not possible.
    """

    __slots__ = ("failures", "generals", "others")

    def __init__(self) -> None:
        self.generals: list[_General] = []
        self.others: dict[Shapes, None] = {}
        self.failures = 0

    def trace(self, shapes: Shapes) -> Trace | None:
        for general in self.generals:
            found = general.trace(shapes)
            if found is not None:
                return found
        return None

    def partner(self, shapes: Shapes, patient: bool = False) -> Shapes | None:
        """Shapes that came before of which these are a variation: the fewest variables. patient:
        only when many came."""
        if shapes in self.others or len(self.generals) >= limits.MAX_GENERAL_TRACES:
            return None
        if self.failures >= limits.MAX_GENERAL_TRACES:
            return None
        many = len(self.others) >= limits.SHAPES_BEFORE_VARIABLES
        if patient and not many:
            return None
        others = list(self.others)  # other threads note theirs
        found = [(len(_lines((other, shapes))[0]), other) for other in others]
        variables, other = min([x for x in found if x[0]], default=(0, None))
        return other if variables == 1 or many else None

    def general(self, made: _General | None, shapes: Shapes) -> Trace | None:
        """Keep a trace for many sizes, if it was possible and fits these."""
        found = made and made.trace(shapes)
        if made is None or found is None:
            self.failures += 1
            return None
        self.generals.append(made)
        return found

    def note(self, shapes: Shapes) -> None:
        self.others[shapes] = None
        for first in list(self.others)[: -limits.MAX_TRIED_SHAPES]:
            self.others.pop(first, None)


class Family(NamedTuple):
    """Functions of arrays that differ by numbers. numbers: those of one of them; function: gives
    the one of others; kinds: what was traced of any of them."""

    numbers: tuple[int, ...]
    function: Callable[[Sequence[Any]], Callable[..., Any]]
    kinds: dict[tuple, _Kind]


class Traces:
    """The traces of one function of arrays. family: gives that of the function, if it has one."""

    def __init__(
        self, function: Callable[..., Any], family: Callable[[], Family | None] | None = None
    ):
        self._function = function
        self._family_of = family
        self._kinds: dict[tuple, _Kind] = {}
        #: It is asked for twice: what it gives, then how it is run.
        self._last: tuple[Sequence[Aval], Trace] | None = None

    @cached_property
    def jitted(self) -> Any:
        """`jax.jit` of the function, made when it is first traced: there are 177 at import."""
        return jax.jit(self._function)

    @cached_property
    def _family(self) -> Family | None:
        return self._family_of and self._family_of()

    def of(self, avals: Sequence[Aval]) -> Trace:
        """The trace for these inputs. Raises what the function raises."""
        last = self._last
        if last is not None and last[0] == avals:
            return last[1]
        found = self._of(avals)
        self._last = avals, found
        return found

    def _of(self, avals: Sequence[Aval]) -> Trace:
        if any(aval.unknown for aval in avals):
            return self.alone(avals)
        shapes = tuple([aval.shape for aval in avals])
        dtypes = tuple([aval.np_dtype for aval in avals])
        key = tuple(map(len, shapes)), dtypes
        kind = self._kinds.setdefault(key, _Kind())
        found = kind.trace(shapes)
        if found is None and self._family is not None and not kind.others:
            found = self._of_family(self._family, shapes, key, avals)
        if found is not None:
            return found
        partner = kind.partner(shapes)
        kind.note(shapes)
        if partner is not None:
            found = kind.general(_general(self.jitted, (partner, shapes), dtypes), shapes)
        return found or self.alone(avals)

    def _of_family(
        self, family: Family, shapes: Shapes, key: tuple, avals: Sequence[Aval]
    ) -> Trace | None:
        """The trace that serves functions of other numbers as well. It has to give what that of
        this function alone gives: numbers may have made other dtypes."""
        kind, rows = family.kinds.setdefault(key, _Kind()), (*shapes, family.numbers)
        found = kind.trace(rows)
        if found is not None:
            return found
        partner = kind.partner(rows, patient=True)
        kind.note(rows)
        if partner is None:
            return None
        made = _general(family.function, (partner, rows), key[1])
        alone = self.alone(avals)
        at = made and made.trace(rows)
        fits = at is not None and (at.outputs, at.single) == (alone.outputs, alone.single)
        return kind.general(made if fits else None, rows)

    def alone(self, avals: Sequence[Aval]) -> Trace:
        """A trace for these inputs and no others."""
        traced = in_x64(self.jitted.trace, *[a.struct for a in avals])
        return _finished(traced.jaxpr, traced.out_info, Sizes(), {})


def _finished(jaxpr: Any, out: Any, sizes: Sizes, noted: dict[Any, Any]) -> Trace:
    """A trace, of the jaxpr and of what it gives, as JAX describes that."""
    single = not isinstance(out, (tuple, list))
    outputs = [
        Aval.of(sizes.shape(o.shape), dtypes.from_numpy(o.dtype))
        for o in ([out] if single else out)
    ]
    return Trace(jaxpr, sizes, tuple(outputs), single, noted)


def _lines(
    samples: tuple[Shapes, Shapes],
) -> tuple[dict[str, tuple[int, ...]], list[list[_Line]]]:
    """The variables by which two sets of shapes differ, with their values, and what each axis of
    each input is. No variables: a trace does not serve both."""
    variables: dict[str, tuple[int, ...]] = {}
    lines = [
        [_line(sizes, variables) for sizes in zip(*shapes, strict=True)]
        for shapes in zip(*samples, strict=True)
    ]
    if any(min(values) < 2 for values in variables.values()):
        return {}, []  # a trace takes it that a variable is neither 0 nor 1
    return variables, lines


def _general(
    jitted: Any, samples: tuple[Shapes, Shapes], kinds: Sequence[np.dtype]
) -> _General | None:
    """A trace that serves both sets of shapes, and others; None if there is none. If there is a row
    more than inputs, it is the numbers of a function that `jitted` gives."""
    variables, lines = _lines(samples)
    names = list(variables)
    dims = dict(zip(names, jax.export.symbolic_shape(", ".join(names)), strict=True))
    rows = [[k * dims[name] + c if name else c for name, k, c in axes] for axes in lines]
    structs = list(map(jax.ShapeDtypeStruct, rows, kinds))
    traced = _traced_apart(jitted, structs, rows[len(kinds) :])
    return None if traced is None else _General(traced, lines)


def _traced_apart(jitted: Any, structs: Sequence[Any], numbers: Sequence[Any]) -> Any:
    """A trace made in another thread, or None. JAX keeps errors that it has met on the way in
    cycles, and what stands in the callers' frames would stay alive with them."""
    found = []

    def trace() -> None:
        # A function may do anything that needs a number where there is none.
        with contextlib.suppress(Exception):
            function = jax.jit(jitted(*numbers)) if numbers else jitted
            found.append(in_x64(function.trace, *structs))

    thread = threading.Thread(target=trace, name="tape_compat trace")
    thread.start()
    thread.join()
    return found[0] if found else None


def _line(sizes: tuple[int, ...], variables: dict[str, tuple[int, ...]]) -> _Line:
    """An axis that had these sizes, by a variable that there is or by a new one."""
    if len(set(sizes)) == 1:
        return _Line("", 0, sizes[0])
    for name, values in variables.items():
        i = next(i for i, value in enumerate(values) if value != values[0])
        times, rest = divmod(sizes[i] - sizes[0], values[i] - values[0])
        plus = sizes[0] - times * values[0]
        line = all(times * v + plus == size for v, size in zip(values, sizes, strict=True))
        likely = times == 1 or abs(plus) <= times  # two sizes lie on a line always
        if line and likely and not rest and times > 0:
            return _Line(name, times, plus)
    name = f"n{len(variables)}"
    variables[name] = sizes
    return _Line(name, 1, 0)
