"""Turns the figures of a run into Markdown tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .targets import GROWING, exponent, growth_in_turn, series

COLUMNS = {
    "tf_eager": "TF eager",
    "tf_function": "TF function",
    "tf_xla": "TF function, XLA",
    "torch": "PyTorch eager",
    "jax": "JAX by hand",
    "tape_compat": "**tape_compat**",
    "tape_compat_function": "tape_compat function",
}


def duration(seconds: float | None) -> str:
    """Three digits in the unit that fits: 12.3 us, 4.56 ms, 7.89 s."""
    if seconds is None:
        return ""
    unit, factor = ("s", 1.0) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("µs", 1e6)
    value = seconds * factor
    return f"{value:.{max(0, 3 - len(str(int(value))))}f} {unit}"


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def cell(result: dict[str, Any], per: int) -> str:
    if not result:
        return ""
    if "error" in result:
        return "failed"
    mark = "" if result["verified"] else " (other losses)"
    return duration(result["seconds"] / per) + mark


def ratio(row: dict[str, Any], other: str, inverse: bool = False) -> str:
    """How many times as long as `other` tape_compat takes, or how many times faster it is."""
    found = row["runners"].get("tape_compat", {}).get("faster_than", {}).get(other)
    if found is None:
        return ""
    return f"{found:.1f}" if inverse else f"{1 / found:.2f}"


def megabytes(result: dict[str, Any]) -> str:
    """Peak of the process; after a stroke the peak of an accelerator, where one is used."""
    if "round_megabytes" not in result:
        return ""
    text = f"{result['peak_megabytes']:.0f} ({result['round_megabytes']:.0f})"
    device = result.get("device_megabytes")
    return text if device is None else f"{text}, GPU {device:.0f}"


def compiles(result: dict[str, Any]) -> str:
    first, last = result.get("compiles_first"), result.get("compiles_round")
    return "" if first is None or last is None else f"{first}, then {last}"


def per_step(result: dict[str, Any], counter: str) -> float:
    return result["counters_round"].get(counter, 0) / result["steps_per_round"]


def growths(by_name: dict[str, dict[str, Any]], used: list[str]) -> list[list[str]]:
    """Exponent of the time of a step and of the first call in each family that grows."""
    lines = []
    for family in GROWING:
        for key, what in (
            ("seconds", "a step"),
            ("first_seconds", "the first call"),
            ("verify_seconds", "the verified steps"),
        ):
            cells, all_sizes = [], []
            for runner in used:
                sizes, values = series(by_name, family, runner, key)
                several = len(sizes) > 1
                times = f"{values[-1] / values[0]:.1f} x" if several else ""
                cells.append(f"{exponent(sizes, values):.2f} ({times})" if several else "")
                all_sizes = sizes if len(sizes) > len(all_sizes) else all_sizes
            if any(cells):
                lines.append([f"{family} {', '.join(map(str, all_sizes))}: {what}", *cells])
    return lines


def verdict(target: dict[str, Any]) -> list[str]:
    value = "" if target["value"] is None else f"{target['value']:.2f}"
    met = {True: "met", False: "**missed**", None: "not run"}[target["met"]]
    return [target["text"], target["asked"], value, met]


def targets(judged: list[dict[str, Any]]) -> str:
    """The table of what was asked; targets that were not run are only counted."""
    run = [target for target in judged if target["met"] is not None]
    met = sum(target["met"] for target in run)
    summary = f"Targets: {met} of {len(run)} met, {len(judged) - len(run)} not run."
    if not run:
        return summary
    return f"{summary}\n\n" + table(
        ["target", "asked", "found", ""], [verdict(target) for target in run]
    )


def markdown(report: dict[str, Any]) -> str:
    rows, machine = report["rows"], report["machine"]
    used = [name for name in COLUMNS if any(name in row["runners"] for row in rows)]
    names = [COLUMNS[name] for name in used]

    def of_each(show: Callable[[dict[str, Any]], str]) -> str:
        lines = [[row["title"], *(show(row["runners"].get(n, {})) for n in used)] for row in rows]
        return table(["workload", *names], lines)

    steps = [
        [
            row["title"] + (", per op" if row["per"] > 1 else ""),
            *(cell(row["runners"].get(name, {}), row["per"]) for name in used),
            ratio(row, "jax"),
            ratio(row, "tf_eager", inverse=True),
            ratio(row, "tf_function", inverse=True),
        ]
        for row in rows
    ]
    parts = [
        f"{machine['cpu']}, {machine['cores']} cores"
        + "".join(f", {name}" for name in report.get("devices", ()))
        + f", {machine['system']}, Python {machine['python']}; "
        + ", ".join(f"{k} {v}" for k, v in report.get("versions", {}).items())
        + f"; {report['date']}. Medians of interleaved rounds.",
        "Time of one step (of one op in the rows that say `per op`); then tape_compat's time over "
        "that of JAX by hand, and how many times faster than TensorFlow it is:",
        table(["workload", *names, "÷ JAX by hand", "TF eager ÷ it", "TF function ÷ it"], steps),
        "First call (build, trace, compile, run):",
        of_each(lambda result: duration(result.get("first_seconds"))),
    ]
    cold = [row for row in rows if any("cold_seconds" in r for r in row["runners"].values())]
    if cold:
        parts += [
            "From cold, in a fresh process (imports not counted), the steps that are verified:",
            table(
                ["workload", "steps", *names],
                [
                    [
                        row["title"],
                        str(max(len(r.get("losses", ())) for r in row["runners"].values())),
                        *(duration(row["runners"].get(n, {}).get("cold_seconds")) for n in used),
                    ]
                    for row in cold
                ],
            ),
        ]
    by_name = {row["name"]: row for row in rows}
    if grown := growths(by_name, used):
        parts += [
            "Growth: the exponent by which time grows with size (and largest over smallest):",
            table(["family", *names], grown),
        ]
    in_turn = {family: growth_in_turn(by_name, family) for family in GROWING}
    if any(found is not None for found in in_turn.values()):
        parts.append(
            "The same of tape_compat's steps, the sizes timed in turn, median over rounds: "
            + ", ".join(f"{k} {v:.2f}" for k, v in in_turn.items() if v is not None)
            + "."
        )
    parts += [
        "Programs compiled in the verified steps, then in the last round (XLA programs of JAX and "
        "tape_compat, traces of a TensorFlow function):",
        of_each(compiles),
        "Peak memory above what the process held before the workload, MB (in brackets: within the "
        "last round, when nothing is built any more):",
        of_each(megabytes),
    ]
    counted = [
        (row, result)
        for row in rows
        if (result := row["runners"].get("tape_compat", {})).get("counters_round")
    ]
    if counted:
        parts += [
            "tape_compat's counters, over the verified steps and then a step of the last round:",
            table(
                [
                    "workload",
                    "traces",
                    "compiles",
                    "compiles of single ops",
                    "dispatches a step",
                    "compiles in the last round",
                ],
                [
                    [
                        row["title"],
                        str(result["counters_first"].get("traces", "")),
                        str(result["counters_first"].get("compiles", "")),
                        str(result["counters_first"].get("op_compiles", "")),
                        f"{per_step(result, 'dispatches'):.2f}",
                        str(result["counters_round"].get("compiles", "")),
                    ]
                    for row, result in counted
                ],
            ),
        ]
    return "\n\n".join([*parts, targets(report["targets"])]) + "\n"
