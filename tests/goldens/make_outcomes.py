"""Writes `outcomes/`: what TensorFlow gives for the cases of parity and the rows of `tests/ops`.

    python -m tests.goldens.make_outcomes

Those of a file of cases are asked for anew where it has changed, or what its cases use. It can
wait: until then its cases are run on TensorFlow.
"""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import Any

from tests.ops import ROWS
from tests.parity import rows, store, test_parity


@cache
def asked() -> dict[tuple[str, tuple[str, ...]], dict[str, Any]]:
    """By file of outcomes and its sources: what computes each outcome, by its key."""
    found: dict[tuple[str, tuple[str, ...]], dict[str, Any]] = {}
    every = [*map(rows.asked, ROWS), *map(test_parity.asked, test_parity.CASES)]
    for name, sources, key, compute in every:
        found.setdefault((name, tuple(sources)), {})[key] = compute
    return found


def write(name: str, sources: tuple[str, ...]) -> int:
    """Write a file of outcomes, if it has others than are asked for. Gives how many are new."""
    computes = asked()[name, sources]
    if store.goldens(name, sources).keys() == computes.keys():
        return 0
    outcomes = {key: store.kept(name, sources, key, f, golden=False) for key, f in computes.items()}
    store.write_goldens(name, sources, outcomes)
    return len(outcomes)


def main() -> None:
    names = asked().keys()
    for file in set(store.GOLDENS.glob("*")) - {store.golden_file(name) for name, _ in names}:
        file.unlink()
    context = multiprocessing.get_context("spawn")  # TensorFlow has threads
    with ProcessPoolExecutor(os.cpu_count(), context) as pool:
        written = sum(pool.map(write, *zip(*names)))
    size = sum(file.stat().st_size for file in store.GOLDENS.glob("*"))
    print(f"{written} outcomes written; all are {size} bytes")


if __name__ == "__main__":
    main()
