"""Programs that were written, which are kept: a function and the signature that serves it do the
same, and so do the functions of a model that is saved again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...core.avals import Aval
from ...core.caches import Cache
from ...core.call import Call
from ...core.steps import Steps
from .broadcasts import broadcasting
from .program import (
    Derivative,
    Program,
    at,
    derivative_of,
    one_batch,
    program_of,
    sizes_met,
    sizes_stated,
    slices_inside,
    within,
)


class Written:
    """The program of a closure, for the sizes that it can be written for."""

    def __init__(self, closure: Call, program: Program):
        self._closure = closure
        self.program = program
        self._derivative: Derivative | None = None

    def derivative(self, name: str) -> Derivative:
        """Its derivative, which gets this name.

        Raises: NotImplementedError if it cannot be written.
        """
        if self._derivative is None:
            self._derivative = derivative_of(self._closure, self.program, name)
        return self._derivative


_WRITTEN: Cache[tuple[Steps, tuple[Aval, ...], bool], Written] = Cache("programs written", 256)


def written(closure: Call, avals: Sequence[Aval], name: str, one: bool) -> Written:
    """What a closure does with values of these avals, as a program, which gets this name. Where it
    cannot be one for all sizes it is for those that broadcast and for slices that lie inside of
    their arrays, for the sizes that ops can do with, and then, if `one`, for batches of one size.

    Raises: NotImplementedError if it cannot be written.
    """
    key = closure.flat, tuple(avals), one
    return _WRITTEN.get(key) or _WRITTEN.put(key, _new(closure, avals, name, one))


def _new(closure: Call, avals: Sequence[Aval], name: str, one: bool) -> Written:
    stated = sizes_stated(closure, avals)
    if stated:
        closure, avals = at(stated, closure, avals)
    try:
        return Written(closure, program_of(closure, avals, name))
    except NotImplementedError as error:
        first = error
    for call, kinds, bounds in _assumptions(closure, avals, one):
        try:
            found = program_of(call, kinds, name)
        except NotImplementedError:
            continue
        return Written(call, found._replace(bounds=bounds))
    raise first


def _assumptions(
    closure: Call, avals: Sequence[Aval], one: bool
) -> Iterator[tuple[Call, Sequence[Aval], tuple[str, ...]]]:
    """A closure for less and less sizes, with its avals and the bounds of these."""
    bounds = slices_inside(closure, avals)
    broadcasts, further = broadcasting(closure, avals)
    if further:
        together = (*further, *bounds)  # equations first: bounds may make them shorter
        yield *at(within(together, avals), broadcasts, avals), together
    if bounds:
        closure, avals = at(within(bounds, avals), closure, avals)
        yield closure, avals, bounds
    if one:
        for met in sizes_met(closure, avals):
            closure, avals = at(met, closure, avals)
        yield closure, avals, bounds
        yield *at(one_batch(avals), closure, avals), bounds
