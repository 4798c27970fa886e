"""tape_compat of this checkout by the side of another one: `python -m benchmarks --before PATH`.

Both run the workloads of this checkout. Rounds are timed in turn, forth and back; a start (two
fresh processes) gives the median of its ratios. Where memory happens to lie makes a process quicker
or slower for as long as it lives, so the starts are what counts: their mean, and twice its standard
error, with more starts until that tells whether a workload became slower by 3 %.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
from pathlib import Path
from typing import Any

from .clients import Client, calibrate, forth_or_back
from .report import duration, table
from .targets import OURS
from .workloads import Workload

STARTS, MOST_STARTS = 4, 10
ROUNDS = 12  # of a start; each a tenth of a second
SLOWER = 1.03  # what is to be told


@dataclasses.dataclass
class Compared:
    """Of one workload: the ratio after / before of each start, the seconds of all rounds."""

    name: str
    ratios: list[float] = dataclasses.field(default_factory=list)
    after: list[float] = dataclasses.field(default_factory=list)
    before: list[float] = dataclasses.field(default_factory=list)
    error: str = ""

    @property
    def ratio(self) -> float:
        return statistics.geometric_mean(self.ratios)

    @property
    def uncertain(self) -> float:
        """Twice the standard error of the ratio."""
        spread = statistics.stdev(map(math.log, self.ratios))
        return 2.0 * self.ratio * spread / len(self.ratios) ** 0.5

    @property
    def verdict(self) -> str:
        if self.error:
            return f"**{self.error}**"
        if self.ratio - self.uncertain > SLOWER:
            return "**slower**"
        told = self.uncertain < SLOWER - 1.0 and self.ratio + self.uncertain <= SLOWER
        return "" if told else "not told"

    def line(self) -> list[str]:
        if self.error:
            return [f"`{self.name}`", "", "", "", "", "", self.verdict]
        return [
            f"`{self.name}`",
            duration(statistics.median(self.before)),
            duration(statistics.median(self.after)),
            f"{self.ratio:.3f} ± {self.uncertain:.3f}",
            f"{min(self.ratios):.3f} to {max(self.ratios):.3f}",
            str(len(self.ratios)),
            self.verdict,
        ]


def asked(client: Client, **request: Any) -> dict[str, Any]:
    answer = client.ask(**request)
    if "error" in answer:
        raise RuntimeError(answer["error"])
    return answer


def start(workload: Workload, other: Path, turn: int, rounds: int, found: Compared) -> None:
    """One pair of processes, the other way round at every other turn; adds to what was found."""
    pair = {"before": Client(OURS, other), "after": Client(OURS)}
    times: dict[str, list[float]] = {which: [] for which in pair}
    try:
        counts, compiled = [], set()
        for which, client in forth_or_back(turn, pair.items()):
            try:
                client.require()
                compiled.add(client.hello["compiled"])
                asked(client, do="prepare", workload=workload.name)
                counts.append(calibrate(client, workload, short=True))
            except RuntimeError as error:
                raise RuntimeError(f"{which}: {error}") from None
        if len(compiled) > 1:
            raise RuntimeError("one of them runs without its C part")
        for once in range(rounds):
            for which, client in forth_or_back(turn + once, pair.items()):
                answer = asked(client, do="time", steps=max(counts), tidy=True)
                times[which].append(answer["seconds"] / answer["steps"])
    finally:
        for client in pair.values():
            client.close()
    found.ratios.append(statistics.median(a / b for a, b in zip(times["after"], times["before"])))
    found.after += times["after"]
    found.before += times["before"]


def compare(workload: Workload, other: Path, rounds: int) -> Compared:
    found = Compared(workload.name)
    try:
        for turn in range(MOST_STARTS):
            start(workload, other, turn, rounds, found)
            if turn + 1 >= STARTS and found.verdict != "not told":
                break
    except RuntimeError as error:
        found.error = str(error)
    return found


def run(workloads: list[Workload], other: Path, rounds: int) -> int:
    """Compares one after the other and prints the table. Gives 1 if one is slower or failed."""
    lines, wrong = [], []
    for workload in workloads:
        found = compare(workload, other, rounds)
        lines.append(found.line())
        print(" ".join(filter(None, lines[-1])), flush=True)
        if found.verdict.startswith("**"):
            wrong.append(found.name)
    header = ["workload", "before", "after", "after ÷ before", "of the starts", "starts", ""]
    print(f"\n{table(header, lines)}\n")
    print(f"SLOWER OR FAILED: {', '.join(wrong)}" if wrong else "none is slower by 3 %")
    return int(bool(wrong))
