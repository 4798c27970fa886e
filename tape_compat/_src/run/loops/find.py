"""Where a sequence of instructions repeats itself: the Python loops that recorded it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from .. import policy


class Repeat(NamedTuple):
    """From `start` on, `iterations` equal stretches of `period` instructions."""

    start: int
    period: int
    iterations: int

    @property
    def stop(self) -> int:
        return self.start + self.period * self.iterations


def find_loops(tokens: Sequence[Hashable], longest: int, least: int = 2) -> list[Repeat]:
    """The loops in a sequence, in order, none inside another, of `least` iterations and more, with
    iterations of at most `longest`.

    A loop is where the sequence equals itself one period further on. Periods are tried from the one
    whose loops cover most, so that a loop wins over a smaller one inside its iterations.
    """
    numbers: dict[Hashable, int] = {}
    known = np.array([numbers.setdefault(token, len(numbers)) for token in tokens], np.int64)
    found: list[Repeat] = []
    free = [(0, len(known))]
    periods = _periods(known, longest)
    equal = {p: known[:-p] == known[p:] for p in periods}
    while periods:
        ways = {
            p: [run for a, b in free for run in _runs(equal[p], a, b, p, least)] for p in periods
        }
        covered = {p: sum(run.stop - run.start for run in runs) for p, runs in ways.items()}
        best = max(periods, key=lambda p: (covered[p], -p))
        if not covered[best]:
            break
        runs: list[Repeat] = []
        for i, run in enumerate(ways[best]):
            first, limit = next((a, b) for a, b in free if a <= run.start < b)
            first = max(first, runs[-1].stop) if runs else first
            limit = min(limit, ways[best][i + 1].start) if i + 1 < len(ways[best]) else limit
            runs.append(_whole(known, run, first, limit))
        found += runs
        free = _outside(free, runs)
        periods = [p for p in periods if p != best and covered[p]]
    return sorted(found)


def _whole(known: np.ndarray, loop: Repeat, first: int, limit: int) -> Repeat:
    """The loop with the shortest period that it has, and within these bounds as far as it goes."""
    start, period, _ = loop
    for p in range(1, period // 2 + 1):
        if period % p == 0 and (known[start : loop.stop - p] == known[start + p : loop.stop]).all():
            period = p
            break
    while start > first and known[start - 1] == known[start - 1 + period]:
        start -= 1
    stop = loop.stop
    while stop < limit and known[stop] == known[stop - period]:
        stop += 1
    return Repeat(start, period, (stop - start) // period)


def _outside(free: list[tuple[int, int]], runs: list[Repeat]) -> list[tuple[int, int]]:
    """What the runs, in order, leave of the free stretches."""
    left: list[tuple[int, int]] = []
    rest = iter(runs)
    run = next(rest, None)
    for a, b in free:
        while run is not None and run.start < b:
            if a < run.start:
                left.append((a, run.start))
            a = run.stop
            run = next(rest, None)
        if a < b:
            left.append((a, b))
    return left


def _periods(known: np.ndarray, longest: int) -> list[int]:
    """The likeliest periods: the commonest distances between equal runs of four, from one to the
    next and to the one after that."""
    if len(known) <= policy.LOOP_GRAM:
        return []
    base = int(known.max()) + 1
    grams = np.zeros(len(known) - policy.LOOP_GRAM + 1, np.int64)
    for i in range(policy.LOOP_GRAM):
        grams = np.unique(grams * base + known[i : len(grams) + i], return_inverse=True)[1]
    order = np.argsort(grams, kind="stable")
    sorted_grams = grams[order]
    distances = np.concatenate(
        [(order[lag:] - order[:-lag])[sorted_grams[lag:] == sorted_grams[:-lag]] for lag in (1, 2)]
    )
    counts = np.bincount(distances[distances <= longest])
    likely = np.argsort(-counts, kind="stable")[: policy.LIKELIEST_PERIODS]
    return [int(p) for p in likely if counts[p]]


def _runs(equal: np.ndarray, start: int, stop: int, period: int, least: int) -> list[Repeat]:
    """The loops of this period in [start, stop), of `least` iterations and more. `equal` tells
    whether an instruction is the same as the one a period later."""
    if stop - start <= period:
        return []
    here = np.concatenate([[False], equal[start : stop - period], [False]])
    edges = np.flatnonzero(here[1:] != here[:-1])
    runs: list[Repeat] = []
    after = start
    for a, b in zip(edges[::2] + start, edges[1::2] + start, strict=True):
        a = max(int(a), after)
        iterations = (int(b) - a + period) // period if b > a else 0
        if iterations >= least and iterations * period >= policy.LOOP_GRAM:
            runs.append(Repeat(a, period, iterations))
            after = a + iterations * period
    return runs
