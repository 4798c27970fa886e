"""`python -m tests.random_programs`: see the package."""

import argparse
import logging
import re
import sys
from collections.abc import Sequence
from typing import Any

from tests.oracle import tensorflow

from . import run
from .compare import differences, kind
from .generate import chains_of, program_of
from .program import Program
from .shrink import shrunk
from .subjects import SUBJECTS


def found(program: Program, tf: Any, modes: Sequence[str], known: dict) -> dict[str, list[str]]:
    """The differences of a program by mode."""
    lines = {}
    for mode in modes:
        recorded = mode.startswith("function")
        if recorded and program.eager:
            continue
        if recorded not in known:
            known[recorded] = run.outcome(program, tf, "function" if recorded else "plain")
        lines[mode] = differences(known[recorded], run.ours(program, mode), program.dtype, mode)
    return {mode: line for mode, line in lines.items() if line}


def smaller(program: Program, tf: Any, mode: str, line: str) -> Program:
    """A short program that differs in a mode, and that runs on one of the two modules."""

    wanted = kind(line)

    def differs(candidate: Program) -> bool:
        known: dict = {}
        lines = found(candidate, tf, [mode], known)
        alike = [line for line in lines.get(mode, []) if kind(line) == wanted]
        return bool(alike) and not _misses_a_name(known, lines)

    names = re.findall(r"'(\w+)'\]: got", line)
    return shrunk(program, differs, f'"{names[0]}"' if names else "")


def _misses_a_name(known: dict, lines: dict) -> bool:
    text = str(known) + str(lines)
    return any(w in text for w in ("NameError", "UnboundLocalError", "SyntaxError", "Indentation"))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.random_programs", description=__doc__)
    parser.add_argument("--seeds", default="0:100", help="the first, and the one after the last")
    parser.add_argument("--modes", default="plain,function", help=", ".join(run.MODES))
    parser.add_argument("--subject", choices=list(SUBJECTS), help="chains of one subject instead")
    parser.add_argument("--whole", action="store_true", help="do not shrink what differs")
    parser.add_argument("--show", action="store_true", help="print every program")
    given = parser.parse_args(arguments)
    first, last = map(int, given.seeds.split(":"))
    logging.getLogger("tensorflow").setLevel(logging.CRITICAL)
    logging.getLogger("tape_compat").setLevel(logging.CRITICAL)
    tf, differing = tensorflow(), 0
    for seed in range(first, last):
        print(f"\rseed {seed}", end="", file=sys.stderr, flush=True)
        program = chains_of(seed, tf, given.subject) if given.subject else program_of(seed, tf)
        if given.show:
            print(program.standalone(), flush=True)
        lines = found(program, tf, given.modes.split(","), {})
        differing += bool(lines)
        if lines:
            print(f"-- seed {seed} differs in {', '.join(lines)}", flush=True)
        for mode in list(lines)[:1]:
            if not given.whole:
                program = smaller(program, tf, mode, lines[mode][0])
            lines_now = found(program, tf, [mode], {}).get(mode, ["not again"])
            print(f"in {mode}:", *lines_now[:4], sep="\n")
            print(program.standalone(), flush=True)
    print(f"{last - first} programs, {differing} differ")
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main())
