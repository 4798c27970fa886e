"""The speeds asked for, each read from the figures of one run: met, missed or not run.

A figure compares medians of ratios within rounds, so a slow machine does not matter; a busy one
does.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Rows = dict[str, dict[str, Any]]
Measured = float | None

OURS = "tape_compat"


@dataclasses.dataclass(frozen=True)
class Target:
    """`measure` gives a figure from the rows by name, None if what it needs was not run."""

    text: str
    workloads: tuple[str, ...]  # what must be run for it
    measure: Callable[[Rows], Measured]
    limit: float
    at_least: bool = False  # whether the figure is to be above the limit, not below

    def judge(self, rows: Rows) -> dict[str, Any]:
        value = self.measure(rows)
        met = None
        if value is not None:
            met = bool(value >= self.limit if self.at_least else value <= self.limit)
        sign = "≥" if self.at_least else "≤"
        return {"text": self.text, "asked": f"{sign} {self.limit:g}", "value": value, "met": met}


def figure(rows: Rows, name: str, runner: str, key: str) -> Any:
    return rows.get(name, {}).get("runners", {}).get(runner, {}).get(key)


def faster(row: dict[str, Any], other: str) -> Measured:
    """How many times the time of tape_compat another library takes."""
    return row["runners"].get(OURS, {}).get("faster_than", {}).get(other)


def over_jax(name: str, limit: float) -> Target:
    def measure(rows: Rows) -> Measured:
        found = faster(rows[name], "jax") if name in rows else None
        return None if found is None else 1.0 / found

    return Target(f"`{name}`: time ÷ JAX by hand", (name,), measure, limit)


def over(name: str, other: str, limit: float) -> Target:
    """Times faster than another library."""

    def measure(rows: Rows) -> Measured:
        return faster(rows[name], other) if name in rows else None

    text = f"`{name}`: times faster than {SHOWN[other]}"
    return Target(text, (name,), measure, limit, at_least=True)


def over_tensorflow(name: str, limit: float) -> Target:
    return over(name, "tf_eager", limit)


def over_function(name: str, limit: float) -> Target:
    """Time by that of TensorFlow's `tf.function`."""

    def measure(rows: Rows) -> Measured:
        found = faster(rows[name], "tf_function") if name in rows else None
        return None if found is None else 1.0 / found

    return Target(f"`{name}`: time ÷ `tf.function`", (name,), measure, limit)


def first_call(name: str, key: str, what: str, limit: float) -> Target:
    def measure(rows: Rows) -> Measured:
        return figure(rows, name, OURS, key)

    return Target(f"`{name}`: first call, {what}", (name,), measure, limit)


def slowest_against_eager(rows: Rows) -> Measured:
    timed = [row for name, row in rows.items() if name not in FOR_MEMORY]
    found = [f for row in timed if (f := faster(row, "tf_eager")) is not None]
    return min(found, default=None)


def families_faster_than_functions(rows: Rows) -> Measured:
    """Families of which every workload timed is faster than TF's own `tf.function`."""
    families: dict[str, list[bool]] = {}
    for row in rows.values():
        if (found := faster(row, "tf_function")) is not None:
            families.setdefault(row["family"], []).append(found > 1.0)
    enough = len(families) >= FAMILIES_FASTER
    return float(sum(map(all, families.values()))) if enough else None


def from_cold(name: str, limit: float) -> Target:
    """Time of the verified steps in a fresh process by TensorFlow's eager mode."""

    def measure(rows: Rows) -> Measured:
        ours = figure(rows, name, OURS, "cold_seconds")
        eager = figure(rows, name, "tf_eager", "cold_seconds")
        return ours / eager if ours and eager else None

    return Target(f"`{name}`: time from cold ÷ TF eager", (name,), measure, limit)


def episode_compiles(rows: Rows) -> Measured:
    counters = figure(rows, "episodes", OURS, "counters_round")
    return None if counters is None else float(counters["compiles"])


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The power of size by which values grow: the slope of the line through their logarithms.

    Raises: ValueError unless there are two sizes that differ and all numbers are positive.

    >>> round(exponent([500, 2000, 5000], [1.0, 4.0, 10.0]), 6)
    1.0
    """
    if len(set(sizes)) < 2 or min(*sizes, *values) <= 0:
        raise ValueError(f"No growth to see: {list(values)} at sizes {list(sizes)}.")
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def series(rows: Rows, family: str, runner: str, key: str) -> tuple[list[int], list[Any]]:
    """Sizes of a family, in order, and a figure of a runner at each size that has one."""
    found = [
        (row["size"], value)
        for row in rows.values()
        if row["family"] == family
        and row["size"]
        and (value := row["runners"].get(runner, {}).get(key))
    ]
    found.sort()
    return [size for size, _ in found], [value for _, value in found]


def growth_in_turn(rows: Rows, family: str) -> Measured:
    """The median over rounds in which the sizes of a family were timed in turn; None without."""
    sizes, times = series(rows, family, OURS, "in_turn")
    if len(sizes) < 2:
        return None
    return float(np.median([exponent(sizes, once) for once in zip(*times, strict=True)]))


def growth(family: str, key: str, what: str, limit: float) -> Target:
    def measure(rows: Rows) -> Measured:
        if key == "seconds" and (found := growth_in_turn(rows, family)) is not None:
            return found
        sizes, values = series(rows, family, OURS, key)
        return exponent(sizes, values) if len(sizes) > 1 else None

    return Target(f"{family}: exponent of {what}", GROWING[family], measure, limit)


def embedding_ratio(rows: Rows) -> Measured:
    """Of the sizes timed in turn, if they were: the machine may be another between their rows."""
    _, in_turn = series(rows, "embedding", OURS, "in_turn")
    values = [float(np.median(times)) for times in in_turn]
    if len(values) < 2:
        _, values = series(rows, "embedding", OURS, "seconds")
    return max(values) / min(values) if len(values) > 1 else None


def cnn_memory(rows: Rows) -> Measured:
    ours = figure(rows, "cnn_large", OURS, "round_megabytes")
    by_hand = figure(rows, "cnn_large", "jax", "round_megabytes")
    return ours / by_hand if ours and by_hand else None


SHOWN = {"tf_eager": "TF eager", "tf_function": "`tf.function`", "torch": "PyTorch"}
FAMILIES_FASTER = 10
#: Run for the peak of their memory; what they take of time is in the table, but not judged: the
#: convolutions of XLA on the CPU lose to TensorFlow's there, whoever writes the program.
FOR_MEMORY = ("cnn_large",)
UNSTACKED = ("unstacked_200", "unstacked_1000", "unstacked_2000")
GROWING = {
    "chain": ("chain_500", "chain_2000", "chain_5000"),
    "variables": ("variables_200", "variables_1000", "variables_2000"),
    "unstacked": UNSTACKED,
    "embedding": ("embedding_10000", "embedding_100000", "embedding_1000000"),
}
TARGETS = [
    over_jax("mlp_tiny", 2.2),
    over_jax("mlp_tiny_read", 1.5),
    over_jax("mlp_mnist", 1.25),
    over_jax("adam_mnist", 1.15),
    over_jax("batches", 1.5),
    over_jax("cnn", 1.25),
    over_jax("mlp_wide", 1.1),
    over_jax("transformer", 1.1),
    over_jax("gru", 2.0),
    over_jax("pinn", 1.5),
    over_jax("gradient_penalty", 1.5),
    over_jax("hessian", 1.3),
    over_jax("jacobian", 1.3),
    over_jax("batch_jacobian", 1.3),
    over_jax("batch_jacobian_deep", 1.3),
    over_jax("gan", 1.3),
    *(over_jax(name, 2.0) for name in UNSTACKED),
    *(over(name, "tf_function", 1.0) for name in UNSTACKED),
    first_call("unstacked_2000", "first_seconds", "seconds", 5.0),
    first_call("unstacked_2000", "first_megabytes", "MB above what was held", 500.0),
    over_function("conv_net", 1.25),
    over("conv_net", "tf_eager", 1.0),
    over("conv_net", "torch", 1.0),
    over_tensorflow("mlp_tiny", 8.0),
    over_tensorflow("gru", 3.0),
    over_tensorflow("pinn", 3.0),
    Target(
        "times faster than TF eager, the slowest of the workloads but `cnn_large`",
        (),
        slowest_against_eager,
        1.0,
        at_least=True,
    ),
    Target(
        "families of workloads that are faster than `tf.function`",
        (),
        families_faster_than_functions,
        FAMILIES_FASTER,
        at_least=True,
    ),
    from_cold("episodes", 1.0),
    from_cold("notebook", 1.5),
    *(from_cold(name, 1.2) for name in ("reinforce", "sizes", "attention", "attribute")),
    over_tensorflow("episodes", 1.0),
    Target("`episodes`: compiles in the last round", ("episodes",), episode_compiles, 5.0),
    growth("chain", "seconds", "time of a step", 1.1),
    growth("variables", "seconds", "time of a step", 1.1),
    growth("chain", "verify_seconds", "time of the first steps, compiles included", 1.1),
    growth("variables", "verify_seconds", "time of the first steps, compiles included", 1.1),
    Target("embedding: slowest ÷ quickest table", GROWING["embedding"], embedding_ratio, 1.3),
    Target("`cnn_large`: peak memory ÷ JAX by hand", ("cnn_large",), cnn_memory, 1.2),
    *(
        over_jax(f"{name}_{dtype}", 1.05)
        for name in ("mlp_8192", "transformer_2048")
        for dtype in ("float32", "bfloat16")
    ),
]


def judged(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every target against the rows of a run: text, what is asked, value, met (None: not run)."""
    by_name = {row["name"]: row for row in rows}
    return [target.judge(by_name) for target in TARGETS]
