"""Runs the benchmarks: `python -m benchmarks`, or `--short` for two minutes.

For each workload every library first computes the same losses, which are compared; then rounds of
equal length are timed in turn, one library after the other, forth and back, and medians are taken
over the rounds.
Prints a table and writes it, all figures and a chart to benchmarks/results/.

    python -m benchmarks --only mlp_tiny,mlp_wide --runners tape_compat,jax
    python -m benchmarks --out docs/benchmarks
    python -m benchmarks --before ../old     # the same of another checkout, and the ratio
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import math
import os
import platform
import statistics
import sys
from pathlib import Path
from typing import Any

import numpy as np

from .before import ROUNDS, run
from .chart import draw
from .clients import Client, calibrate, forth_or_back
from .report import markdown
from .targets import OURS, judged
from .workloads import WORKLOADS, Workload

RESULTS = Path(__file__).resolve().parent / "results"
RUNNERS = (
    "tf_eager",
    "tf_function",
    "tf_xla",
    "tape_compat",
    "tape_compat_function",
    "jax",
    "torch",
)
NOT_IN_SHORT = ("tf_xla", "tape_compat_function")

# Losses near zero may part by this much; others by the workload's `relative`.
ABSOLUTE = 2e-5


class Clients:
    """The workers in use: one a library, started anew for each workload if `fresh`."""

    def __init__(self, runners: list[str], fresh: bool) -> None:
        self.runners = runners
        self.fresh = fresh
        self.open: dict[str, Client] = {}
        self.used = False
        self.versions: dict[str, str] = {}
        self.devices: set[str] = set()

    def get(self, workload: Workload) -> dict[str, Client]:
        if self.used and (self.fresh or workload.cold):
            self.close()
        self.used = True
        new = {name: Client(name) for name in self.runners if name not in self.open}
        for runner, client in new.items():  # all of them are importing by now
            if "missing" in client.hello:
                print(f"left out: {runner} ({client.hello['missing']})", flush=True)
                self.runners = [name for name in self.runners if name != runner]
                continue
            self.versions.update(client.hello.get("versions", {}))
            self.devices.update(filter(None, [client.hello.get("device")]))
            self.open[runner] = client
        return dict(self.open)

    def close(self) -> None:
        for client in self.open.values():
            client.close()
        self.open = {}


def same(losses: list[float | None], expected: list[float | None], relative: float) -> bool:
    """Whether two runs gave the same losses; None, of a step that gives none, is like None."""
    a = np.array([math.nan if x is None else x for x in losses])
    b = np.array([math.nan if x is None else x for x in expected])
    return a.shape == b.shape and bool(
        np.allclose(a, b, rtol=relative, atol=ABSOLUTE, equal_nan=True)
    )


def measure(
    workload: Workload, clients: dict[str, Client], short: bool, rounds: int
) -> dict[str, Any]:
    """One row: what each library answered, verified and timed."""
    row: dict[str, Any] = {"name": workload.name, "title": workload.title, "per": workload.per}
    row |= {"family": workload.family or workload.name, "size": workload.size}
    row["runners"] = results = {}
    reference: list[float | None] = []
    taking_part = {}
    # The hand-written program is the reference; it answers first.
    for runner in sorted(clients, key=lambda name: name != "jax"):
        answer = clients[runner].ask(do="prepare", workload=workload.name)
        if "error" in answer:
            results[runner] = {"error": answer["error"]}
            continue
        if not answer["applies"]:
            continue
        reference = reference or answer["losses"]
        result = results[runner] = {
            "first_seconds": answer["first_seconds"],
            "first_megabytes": answer["first_megabytes"],
            "counters_first": answer["counters"],
            "losses": answer["losses"],
            "verified": same(answer["losses"], reference, workload.relative),
            "verify_seconds": answer["verify_seconds"],
            "compiles_first": answer["compiles"],
        }
        if workload.cold:
            result["cold_seconds"] = answer["verify_seconds"]
        taking_part[runner] = clients[runner]

    counts = {}
    for runner, client in list(taking_part.items()):
        try:
            counts[runner] = calibrate(client, workload, short)
        except RuntimeError as error:
            results[runner]["error"] = str(error)
            del taking_part[runner]
    times: dict[str, list[float]] = {runner: [] for runner in taking_part}
    for turn in range(rounds * workload.rounds):
        for runner, client in forth_or_back(turn, taking_part.items()):
            answer = client.ask(do="time", steps=counts[runner], tidy=not short)
            if "error" in answer:
                results[runner]["error"] = answer["error"]
                del taking_part[runner]
                continue
            times[runner].append(answer["seconds"] / answer["steps"])
            results[runner]["counters_round"] = answer["counters"]
            results[runner]["compiles_round"] = answer["compiles"]
            results[runner]["steps_per_round"] = answer["steps"]
            for kind in ("peak_megabytes", "round_megabytes", "device_megabytes"):
                results[runner][kind] = answer[kind]
    for runner in taking_part:
        result, mine = results[runner], times[runner]
        result["seconds"] = statistics.median(mine)
        result["spread"] = [min(mine), max(mine)]
        for other in taking_part:
            if other != runner:
                ratios = [b / a for a, b in zip(mine, times[other])]
                result.setdefault("faster_than", {})[other] = statistics.median(ratios)
    return row


def grow(family: list[Workload], rows: list[dict[str, Any]], short: bool, rounds: int) -> None:
    """Times the sizes of a family in turn, each in a process of its own, and adds to their rows the
    times of all rounds: how time grows is seen within rounds, whatever the machine did between the
    rows. Of tape_compat alone."""
    own = {row["name"]: row["runners"].get(OURS, {}) for row in rows}
    family = [w for w in family if "seconds" in own.get(w.name, {})]
    if len(family) < 2:
        return
    clients = [Client(OURS) for _ in family]
    try:
        ready = "missing" not in clients[0].hello and all(
            client.hello and client.ask(do="prepare", workload=workload.name).get("applies")
            for client, workload in zip(clients, family)
        )
        if not ready:
            return
        counts = [calibrate(c, w, short) for c, w in zip(clients, family)]
        times: list[list[float]] = [[] for _ in family]
        for turn in range(rounds):
            for mine, client, count in forth_or_back(turn, zip(times, clients, counts)):
                answer = client.ask(do="time", steps=count, tidy=not short)
                mine.append(answer["seconds"] / answer["steps"])
        for workload, mine in zip(family, times):
            own[workload.name]["in_turn"] = mine
    finally:
        for client in clients:
            client.close()


def machine() -> dict[str, Any]:
    name = platform.processor() or platform.machine()
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                name = line.split(":", 1)[1].strip()
                break
    return {
        "cpu": name,
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "load_before": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--short", action="store_true", help="fewer workloads and rounds")
    parser.add_argument(
        "--only", default="", help="names of workloads, separated by commas; or all"
    )
    parser.add_argument(
        "--rounds",
        type=int,
        help=f"default 9, with --short 3, with --before {ROUNDS} a start",
    )
    parser.add_argument("--runners", default="", help=f"some of {','.join(RUNNERS)}")
    parser.add_argument("--out", default="", help="where to write, without the file's ending")
    parser.add_argument(
        "--before", default="", help="a checkout to compare with: tape_compat's column only"
    )
    parser.add_argument("--list", action="store_true", help="print the workloads and stop")
    options = parser.parse_args()
    names = [name for name in options.only.split(",") if name]
    if names == ["all"]:
        names = [w.name for w in WORKLOADS if not w.extra]
    unknown = set(names) - {w.name for w in WORKLOADS}
    runners = [name for name in options.runners.split(",") if name] or list(RUNNERS)
    if options.short and not options.runners:
        runners = [name for name in runners if name not in NOT_IN_SHORT]
    unknown |= set(runners) - set(RUNNERS)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    if options.list:
        for workload in WORKLOADS:
            print(f"{workload.name:26} {workload.title}")
        return 0
    chosen = [w for w in WORKLOADS if (w.name in names if names else usual(w, options.short))]

    if options.before:
        return run(chosen, Path(options.before), options.rounds or ROUNDS)

    report: dict[str, Any] = {"machine": machine(), "short": options.short, "rows": []}
    report["date"] = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    clients = Clients(runners, fresh=not options.short)
    rounds = options.rounds or (3 if options.short else 9)
    selected = names or options.runners
    kind = "selected" if selected else "short" if options.short else "full"
    base = Path(options.out) if options.out else RESULTS / kind
    base.parent.mkdir(parents=True, exist_ok=True)
    try:
        for workload in chosen:
            print(f"{workload.name} ...", end=" ", flush=True)
            row = measure(workload, clients.get(workload), options.short, rounds)
            report["rows"].append(row)
            family = [w for w in chosen if w.family == workload.family and w.size]
            if family and workload is family[-1]:
                grow(family, report["rows"], options.short, rounds)
            report["versions"] = dict(sorted(clients.versions.items()))
            report["devices"] = sorted(clients.devices)
            report["targets"] = judged(report["rows"])
            print(", ".join(brief(name, result) for name, result in row["runners"].items()))
            base.with_suffix(".json").write_text(json.dumps(report, indent=1) + "\n")
    finally:
        clients.close()
    text = markdown(report)
    base.with_suffix(".md").write_text(text)
    with contextlib.suppress(ImportError):
        draw(report, base.with_suffix(".svg"))
    print(f"\n{text}\nwritten to {base}.json, .md and, where matplotlib is installed, .svg")
    wrong = [
        f"{row['name']}/{name}: {result.get('error', 'other losses than the reference')}"
        for row in report["rows"]
        for name, result in row["runners"].items()
        if "error" in result or not result["verified"]
    ]
    print("\n".join(["NOT AS EXPECTED", *wrong]) if wrong else "all losses agree")
    return int(bool(wrong))


def usual(workload: Workload, short: bool) -> bool:
    return workload.short if short else not workload.extra


def brief(name: str, result: dict[str, Any]) -> str:
    if "error" in result:
        return f"{name} failed"
    mark = "" if result["verified"] else " (OTHER LOSSES)"
    return f"{name} {1e6 * result['seconds']:.0f} us{mark}"


if __name__ == "__main__":
    sys.exit(main())
