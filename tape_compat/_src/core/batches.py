"""A function of rows, done for all rows at once, as a closure that holds Steps."""

from __future__ import annotations

from collections.abc import Sequence

import jax

from .avals import Aval
from .control import Dependence, DependenceOf, Part, Structured
from .dimensions import Size
from .op import Arrays


class Batched(Structured):
    """`jax.vmap` of its part. The settings are how many rows there are, and for each input whether
    it is given row by row or is the same for all."""

    __slots__ = ()

    def run_parts(self, parts: Sequence[Part], arrays: Arrays) -> Arrays:
        count, by_rows = self.settings
        axes = [0 if rows else None for rows in by_rows]
        return jax.vmap(parts[0], axes, axis_size=count)(*arrays)

    def _rows(self, avals: tuple[Aval, ...]) -> tuple[Aval, ...]:
        pairs = zip(avals, self.settings[1], strict=True)
        return tuple([Aval.of(a.shape[1:], a.dtype) if rows else a for a, rows in pairs])

    def _infer(self, avals: tuple[Aval, ...]) -> tuple[tuple[Aval, ...], bool]:
        count: Size = self.settings[0]
        found = self.parts[0].infer(self._rows(avals))[0]
        return tuple([Aval.of((count, *a.shape), a.dtype) for a in found]), False

    def dependence(self, avals: tuple[Aval, ...], of: DependenceOf) -> Dependence:
        return of(self.parts[0].flat, self._rows(avals))
