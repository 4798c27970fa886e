"""Draws the times of all libraries over those of JAX by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

LOOK = {
    "tf_eager": ("TF eager", "#d95f02", "s"),
    "tf_function": ("TF function", "#e6ab02", "^"),
    "tf_xla": ("TF function, XLA", "#a6761d", "v"),
    "torch": ("PyTorch eager", "#7570b3", "D"),
    "tape_compat": ("tape_compat", "#1b9e77", "o"),
    "tape_compat_function": ("tape_compat function", "#66c2a5", "X"),
}


def draw(report: dict[str, Any], path: Path) -> bool:
    """Writes the chart, as SVG or PNG by the name's ending. False if there is nothing to draw.

    Raises: ImportError without matplotlib.
    """
    rows = [
        row
        for row in reversed(report["rows"])
        if row["runners"].get("jax", {}).get("seconds") and len(row["runners"]) > 1
    ]
    if not rows:
        return False
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with matplotlib.rc_context({"svg.hashsalt": "tape_compat", "font.size": 9}):
        figure, axes = plt.subplots(figsize=(8, 1.2 + 0.28 * len(rows)), layout="constrained")
        for runner, (label, colour, marker) in LOOK.items():
            points = [
                (result["seconds"] / row["runners"]["jax"]["seconds"], place)
                for place, row in enumerate(rows)
                if (result := row["runners"].get(runner, {})).get("seconds")
            ]
            if points:
                x, y = zip(*points)
                front = 3 if runner.startswith("tape_compat") else 2
                axes.scatter(x, y, s=34, c=colour, marker=marker, label=label, zorder=front)
        axes.axvline(1.0, color="black", linewidth=1, label="JAX by hand")
        axes.set_xscale("log")
        axes.set_yticks(range(len(rows)), [row["name"] for row in rows])
        axes.set_xlabel("time of a step ÷ hand-written jax.jit (less is better)")
        axes.grid(axis="both", color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
        figure.legend(loc="outside upper center", ncols=4, frameon=False)
        metadata = {"Date": None} if path.suffix == ".svg" else None
        figure.savefig(path, metadata=metadata, dpi=150)
        plt.close(figure)
    return True
