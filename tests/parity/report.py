"""Prints the parity cases that differ, compactly.

    python -m tests.parity.report [--oracle] [--times] [part of an id ...]

`--oracle` runs TensorFlow against itself, to find cases whose outcome is not stable; `-v` prints
the outcomes, `--times` lists the slowest cases.
"""

import argparse
import importlib
import sys
import time

from tests.oracle import tensorflow

from .differences import DIFFERENCES
from .harness import Raised, collect, differences, outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help="run only ids that contain one of these")
    parser.add_argument("--oracle", action="store_true", help="TensorFlow against itself")
    parser.add_argument("--times", action="store_true", help="list the slowest cases")
    parser.add_argument("-v", "--verbose", action="store_true", help="print TensorFlow's outcomes")
    arguments = parser.parse_args()

    oracle = tensorflow()
    subject = oracle if arguments.oracle else importlib.import_module("tape_compat")
    chosen = [
        c for c in collect() if not arguments.parts or any(p in c.id for p in arguments.parts)
    ]
    chosen = [case for case in chosen if not case.lacks(subject)]
    failing, seconds = 0, []
    for case in chosen:
        start = time.perf_counter()
        expected = outcome(case, oracle)
        middle = time.perf_counter()
        lines = differences(expected, outcome(case, subject), case)
        seconds.append((middle - start, time.perf_counter() - middle, case.id))
        if arguments.verbose:
            print(f"{case.id}: {_show(expected)}")
        if lines:
            failing += case.id not in DIFFERENCES
            known = " (known difference)" if case.id in DIFFERENCES else ""
            print(f"FAIL {case.id}{known}")
            print("\n".join(f"    {line[:500]}" for line in lines[:6]), flush=True)
    if arguments.times:
        for first, second, name in sorted(seconds, reverse=True)[:20]:
            print(f"{first:8.3f} s {second:8.3f} s  {name}")
    total = [sum(s[i] for s in seconds) for i in (0, 1)]
    print(
        f"{len(chosen)} cases, {failing} failing; {total[0]:.1f} s oracle, {total[1]:.1f} s subject"
    )
    return 1 if failing else 0


def _show(value: object, indent: int = 1) -> str:
    if not isinstance(value, dict):
        return f"!! {value}" if isinstance(value, Raised) else str(value)
    return "".join(f"\n{'    ' * indent}{k}: {_show(v, indent + 1)}" for k, v in value.items())


if __name__ == "__main__":
    sys.exit(main())
