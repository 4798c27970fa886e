"""Turns the figures of a run into Markdown tables."""

from __future__ import annotations

from typing import Any

COLUMNS = {
    "tf_eager": "TF eager",
    "tf_function": "TF function",
    "tf_xla": "TF function, XLA",
    "torch": "PyTorch eager",
    "jax": "JAX by hand",
    "tape_compat": "**tape_compat**",
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


def cell(result: dict[str, Any] | None, per: int) -> str:
    if result is None:
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


def per_step(result: dict[str, Any], counter: str) -> float:
    return result["counters_round"].get(counter, 0) / result["steps_per_round"]


def markdown(report: dict[str, Any]) -> str:
    used = [name for name in COLUMNS if any(name in row["runners"] for row in report["rows"])]
    machine = report["machine"]
    parts = [
        f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}, Python "
        f"{machine['python']}; "
        + ", ".join(f"{k} {v}" for k, v in report.get("versions", {}).items())
        + f"; {report['date']}. Medians of interleaved rounds.",
        "Time of one step (of one op in the rows that say `per op`):",
        table(
            ["workload", *(COLUMNS[name] for name in used), "÷ JAX by hand", "TF eager ÷ it"],
            [
                [
                    row["title"] + (", per op" if row["per"] > 1 else ""),
                    *(cell(row["runners"].get(name), row["per"]) for name in used),
                    ratio(row, "jax"),
                    ratio(row, "tf_eager", inverse=True),
                ]
                for row in report["rows"]
            ],
        ),
        "First call (build, trace, compile, run):",
        table(
            ["workload", *(COLUMNS[name] for name in used)],
            [
                [
                    row["title"],
                    *(duration(row["runners"].get(name, {}).get("first_seconds")) for name in used),
                ]
                for row in report["rows"]
            ],
        ),
    ]
    cold = [
        row for row in report["rows"] if any("cold_seconds" in r for r in row["runners"].values())
    ]
    if cold:
        parts += [
            "From cold, in a fresh process (imports not counted), the steps that are verified:",
            table(
                ["workload", "steps", *(COLUMNS[name] for name in used)],
                [
                    [
                        row["title"],
                        str(max(len(r.get("losses", ())) for r in row["runners"].values())),
                        *(
                            duration(row["runners"].get(name, {}).get("cold_seconds"))
                            for name in used
                        ),
                    ]
                    for row in cold
                ],
            ),
        ]
    parts += [
        "Peak memory above what the process held before the workload, MB:",
        table(
            ["workload", *(COLUMNS[name] for name in used)],
            [
                [
                    row["title"],
                    *(
                        f"{row['runners'][name]['peak_megabytes']:.0f}"
                        if "peak_megabytes" in row["runners"].get(name, {})
                        else ""
                        for name in used
                    ),
                ]
                for row in report["rows"]
            ],
        ),
    ]
    counted = [
        (row, result)
        for row in report["rows"]
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
    return "\n\n".join(parts) + "\n"
