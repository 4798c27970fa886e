"""All checks in one command: `python -m tests`.

Lint, format and types, then the tests and the doctests: in deferred mode, where what is new is
interpreted; with every program compiled; and in immediate mode, where every op runs at its call. In
the last two one in eight of the rows of `tests/ops` and of what else is alike is enough, others in
each, and what has no modes is left out; in immediate mode, and on other versions of JAX, one in
eight of the cases of any test is. Of the tests without cases, but for those that ask most of JAX,
the oldest JAX runs one half and the newest the other. Each step runs even if another one failed,
and the last lines name the tests that did. What XLA compiled is kept in `.jax_cache`, what
TensorFlow gave in `.tensorflow_outcomes`, which makes the next run faster.

Two steps run side by side, each with half of the workers: a step is imported and collected once
less, and none waits for the last test of one. Each line says then which step it is from.
`--workers 1` takes one processor, and runs one step after the other.

    python -m tests             everything
    python -m tests checks      lint, format, types
    python -m tests deferred    the tests in deferred mode
    python -m tests compiled    the tests in deferred mode, with every program compiled
    python -m tests immediate   the tests in immediate mode
    python -m tests parity      cases of parity with TensorFlow in deferred mode, and one in two of
                                them in immediate mode, in one process
    python -m tests keras-sample  some of every file of Keras' own tests, on us
    python -m tests traced      one in three of the cases of parity and of the groups of rows, each
                                inside a `tf.function`; and what else tests/parity has: models that
                                one library saves and the other reads, and the like

and, beside these, `parity-deferred` and `parity-immediate`, one mode each; `part`, the tests in
deferred mode with one in eight of the rows, but for those that only read files; `part-quick` and
`part-as-users`, the two halves of it with another eighth, of which the second is compiled as users
do; `accelerators`, whether every op has a form for GPUs and TPUs, of which `part` asks one in
eight; `pure-python`, those of the engine without its C; `keras`, those that Keras' wheel ships
(half an hour).

XLA is told to compile quickly rather than well, which halves a first run; not for cases of parity,
where the last digits count (the second derivative of `gelu` far out), and not where XLA_FLAGS is
set, if to nothing: `XLA_FLAGS= python -m tests deferred`.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
#: Steps that run side by side.
AT_ONCE = 2

PYTEST = ["pytest", "-q", "--dist", "worksteal"]
OWN, PARITY = [*PYTEST, "--ignore=tests/parity"], [*PYTEST, "tests/parity"]
CASES = "tests/parity/test_parity.py"
DEFERRED, IMMEDIATE = {"TAPE_COMPAT_IMMEDIATE": "0"}, {"TAPE_COMPAT_IMMEDIATE": "1"}
PART = "--part=4"
#: Of what is alike, each of these takes an eighth that no other one takes.
COMPILED = "--part=8:2"
#: And an eighth of the cases of every other test, at least one.
OLDEST, NEWEST, IMMEDIATE_PART = ([f"--part=8:{which}", "--cases"] for which in (0, 4, 6))
#: Of the tests without cases, the oldest JAX takes one half and the newest the other.
OLDEST, NEWEST = [*OLDEST, "--singles=2:0"], [*NEWEST, "--singles=2:1"]
ENGINE = [
    f"tests/test_{name}.py"
    for name in (
        "engine run tape program find op_by_op remember rolled native interrupts threads".split()
    )
]
#: Files of which each version of JAX runs every test: they ask most of it.
ASKING = frozenset(ENGINE) | {
    f"tests/test_{name}.py"
    for name in "compiler_ir functional interpret jax_settings kernels polymorphic traces".split()
}
#: Tests of what has no modes.
MODELESS = [
    f"--ignore=tests/test_{name}.py"
    for name in (
        "accelerators adapted benchmarks cache caches choose data_csv data_files docs dtypes "
        "dtypes_exact find fork in_place interpret kernels large_pages layout names names_version1 "
        "native memory order program saved_model shapes standin standin_libraries summary traces "
        "types words".split()
    )
]
MODELESS.append("--ignore=tests/keras_suite")
#: That every op has a form for GPUs and TPUs, which other versions of JAX may not have.
LOWERED = "--ignore=tests/test_accelerators.py"
#: Tests of files, of tables, of the benchmarks and of where memory lies: no JAX has a part in them.
STATIC = [
    f"--ignore=tests/test_{name}.py"
    for name in (
        "benchmarks benchmarks_host_loops choose large_pages layout names_version1 types".split()
    )
]
#: Tests of values and of compiled programs, where it may matter how XLA compiles.
VALUES = sorted({*ENGINE, *(f"tests/test_{name}.py" for name in "examples kernels ops".split())})
STEPS = {
    "lint": (["ruff", "check", "."], {}),
    "format": (["ruff", "format", "--check", "."], {}),
    "types": (["pyright", "--pythonpath", sys.executable], {}),
    "deferred": ([*OWN, LOWERED], DEFERRED),
    "immediate": ([*OWN, *IMMEDIATE_PART, *MODELESS], IMMEDIATE),
    "parity": ([*PYTEST, CASES, "--part=2"], DEFERRED),
    "parity-deferred": ([*PARITY, "--modes=deferred"], DEFERRED),
    "parity-immediate": ([*PARITY, "--modes=immediate"], DEFERRED),
    "traced": ([*PARITY, "tests/test_traced.py", "--modes=traced", "--part=3"], DEFERRED),
    "part": ([*OWN, *OLDEST, *STATIC], DEFERRED),
    "part-quick": (
        [*OWN, *NEWEST, *STATIC, *(f"--ignore={file}" for file in VALUES)],
        DEFERRED,
    ),
    "part-as-users": ([*PYTEST, *NEWEST, *VALUES], DEFERRED),
    "compiled": ([*OWN, COMPILED, *MODELESS], {**DEFERRED, "TAPE_COMPAT_INTERPRETS": "0"}),
    "accelerators": ([*PYTEST, "tests/test_accelerators.py"], DEFERRED),
    "keras": (["tests.keras_suite"], DEFERRED),
    "keras-sample": (["tests.keras_suite", "--sample"], DEFERRED),
    "pure-python": ([*PYTEST, PART, *ENGINE], {**DEFERRED, "TAPE_COMPAT_PURE_PYTHON": "1"}),
}
#: The longest first and a short one last, so that both processors have work to the end.
EVERYTHING = (
    *("lint", "format", "deferred", "traced", "compiled", "parity", "immediate", "keras-sample"),
    "types",
)
QUICK = (
    *("deferred", "compiled", "immediate", "traced", "part", "part-quick", "pure-python"),
    *("keras", "keras-sample"),
)
#: The last one for programs of one module each: XLA splits them for threads.
QUICK_FLAGS = (
    "--xla_backend_optimization_level=0",
    "--xla_cpu_use_fusion_emitters=false",
    "--xla_cpu_parallel_codegen_split_count=1",
)
#: Settings of JAX's for those steps: it takes no frames out of tracebacks, for which it asks the
#: disk about each of them. That is a tenth of the time of tests/test_dimensions.py.
QUICK_SETTINGS = {"JAX_TRACEBACK_FILTERING": "off"}
#: Settings of JAX's: its persistent compilation cache, for everything however small, and no
#: tracebacks in what is compiled, into which a fifth of the time of lowering goes.
SETTINGS = {
    "JAX_COMPILATION_CACHE_DIR": str(ROOT / ".jax_cache"),
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    "JAX_TRACEBACK_IN_LOCATIONS_LIMIT": "0",
}
#: One line for each test that failed, however long its message is.
PLAIN = {"TF_CPP_MIN_LOG_LEVEL": "3", "COLUMNS": "400"}
#: Modules whose last line counts tests.
TESTS = ("pytest", "tests.keras_suite")
GROUPS = {"checks": ["lint", "format", "types"]}


@cache
def quick_flags() -> str:
    """Those of the flags that this XLA knows: it ends the process where it does not know one."""

    def known(flags: str) -> bool:
        command = [sys.executable, "-c", "import jax; jax.numpy.zeros(1)"]
        environment = {**os.environ, "XLA_FLAGS": flags}
        return not subprocess.run(command, env=environment, capture_output=True).returncode

    every = " ".join(QUICK_FLAGS)
    return every if known(every) else " ".join(filter(known, QUICK_FLAGS))


class Result(NamedTuple):
    """What became of a step: its exit status, its last line, and pytest's of what failed."""

    status: int
    last: str
    failures: list[str]


def run(name: str, workers: int, label: str = "") -> Result:
    """Runs one step, and shows what it prints.

    workers: its processes that run tests. label: what each line begins with.
    """

    def say(line: str) -> None:
        print(label + line, end="", flush=True)

    module, *arguments = STEPS[name][0]
    if module in TESTS:
        arguments += ["-n", str(workers)]
    command = [sys.executable, "-m", module, *arguments]
    say(f"== {name}: python -m {' '.join([module, *arguments])}\n")
    started = time.monotonic()
    quick = {}
    if name in QUICK and "XLA_FLAGS" not in os.environ:
        quick = {"XLA_FLAGS": quick_flags(), **QUICK_SETTINGS}
    last = ""
    failures = []
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env={**PLAIN, **SETTINGS, **quick, **os.environ, **STEPS[name][1]},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            say(line)
            last = line.strip() or last
            if line.startswith(("FAILED ", "ERROR ")):
                failures.append(f"{name}: {line.strip()}")
    say(f"== {name}: exit {process.returncode}, {time.monotonic() - started:.0f} s\n")
    return Result(process.returncode, last, failures)


def run_all(steps: list[str], workers: int) -> dict[str, Result]:
    """What `run` gives of each step. They begin in this order, as many at once as may be."""
    lanes = max(1, min(AT_ONCE, workers, len(steps)))
    width = max(map(len, steps)) if lanes > 1 else 0

    def one(step: str) -> Result:
        return run(step, max(1, workers // lanes), f"{step:{width}} | " if width else "")

    with ThreadPoolExecutor(lanes) as pool:
        return dict(zip(steps, pool.map(one, steps)))


def count(word: str, lines: list[str]) -> int:
    """Sum of the numbers that stand before `word` in pytest's closing lines."""
    return sum(int(n) for line in lines for n in re.findall(rf"(\d+) {word}", line))


def main() -> int:
    parser = argparse.ArgumentParser("python -m tests", epilog="See tests/__main__.py.")
    parser.add_argument("steps", nargs="*", help=f"of {', '.join([*GROUPS, *STEPS])}")
    parser.add_argument("--workers", type=int, default=min(os.cpu_count() or 1, 4))
    given = parser.parse_args()
    steps = [step for name in given.steps or EVERYTHING for step in GROUPS.get(name, [name])]
    unknown = [step for step in steps if step not in STEPS]
    if unknown:
        print(f"unknown step {unknown[0]!r}; the steps are {', '.join([*GROUPS, *STEPS])}")
        return 2
    results = run_all(steps, given.workers)
    failed = [step for step, result in results.items() if result.status]
    tests = [result.last for step, result in results.items() if STEPS[step][0][0] in TESTS]
    for result in results.values():
        print(*result.failures, sep="\n", end="\n" * bool(result.failures))
    print(f"failed: {', '.join(failed)}" if failed else "every step passed")
    broken = count("failed", tests) + count("errors?", tests)
    # A step that failed without a failed test (lint, types, no test collected) counts as one.
    if failed and not broken:
        broken = len(failed)
    print(f"{count('passed', tests)} passed, {broken} failed")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
