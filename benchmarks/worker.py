"""One library in a process of its own: `python -m benchmarks.worker tape_compat`.

Reads requests from standard input, one JSON object a line, and answers each with one on standard
output. The parent asks several workers in turn, so that their rounds are interleaved while none
disturbs another's threads, caches or memory.

    {"do": "prepare", "workload": "mlp_tiny"}   builds it, runs the steps to verify
    {"do": "time", "steps": 100}                times that many steps
    {"do": "quit"}
"""

from __future__ import annotations

import gc
import importlib
import json
import math
import os
import platform
import re
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .workloads import WORKLOADS, Workload

TENSORFLOWS = ("tf_eager", "tf_function", "tf_xla")


def load(runner: str) -> tuple[Any, dict[str, str]]:
    """Imports the library of a runner. Gives the module and the versions to print."""
    if runner in TENSORFLOWS:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        names = ["tensorflow"]
    elif runner == "tape_compat":
        names = ["tape_compat", "jax", "jaxlib"]
    elif runner == "jax":
        names = ["jax", "jaxlib"]
    else:
        names = ["torch"]
    modules = [importlib.import_module(name) for name in names]
    return modules[0], {
        name: str(getattr(module, "__version__", "?")) for name, module in zip(names, modules)
    }


def build(runner: str, module: Any, workload: Workload) -> tuple[Callable[..., Any], Any] | None:
    """The step of a workload and its batches, or None where it does not apply."""
    if runner == "jax":
        return workload.jax(workload.data()) if workload.jax else None
    if runner == "torch":
        return workload.torch(workload.data()) if workload.torch else None
    if runner in ("tf_function", "tf_xla") and not workload.functions:
        return None
    step, batches = workload.tf(module, workload.data())
    if runner == "tf_function":
        step = module.function(step)
    elif runner == "tf_xla":
        step = module.function(step, jit_compile=True)
    return step, batches


def number(handle: Any) -> float | None:
    """The loss behind a handle; waits for it. None for a step that gives none."""
    if handle is None:
        return None
    return float(handle.detach() if hasattr(handle, "detach") else handle)


def counted(module: Any) -> dict[str, int] | None:
    """tape_compat's counters as a plain dict of numbers."""
    read = getattr(module, "counters", None)
    if read is None:
        return None
    counters = read() if callable(read) else read
    names = ("traces", "compiles", "op_compiles", "dispatches", "cache_hits", "op_by_op")
    return {name: int(getattr(counters, name)) for name in names}


def megabytes(field: str) -> float:
    """VmHWM (peak) or VmRSS (now) of this process; NaN where the system does not tell."""
    try:
        with open("/proc/self/status") as file:
            found = re.search(rf"{field}:\s+(\d+) kB", file.read())
    except OSError:
        return math.nan
    return int(found[1]) / 1024 if found else math.nan


def forget_peak() -> None:
    """Starts the peak of this process's memory from where it is now (Linux)."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


class Worker:
    """Keeps one prepared workload between requests."""

    def __init__(self, runner: str) -> None:
        self.runner = runner
        started = time.perf_counter()
        self.module, self.versions = load(runner)
        self.import_seconds = time.perf_counter() - started
        self.step: Callable[..., Any] | None = None
        self.batches: Any = ()
        self.next = 0
        self.before_memory = math.nan

    def hello(self) -> dict[str, Any]:
        return {
            "versions": self.versions,
            "python": platform.python_version(),
            "import_seconds": self.import_seconds,
        }

    def steps(self, count: int) -> list[Any]:
        """Runs `count` steps and keeps their losses, unread."""
        assert self.step is not None
        step, batches, first = self.step, self.batches, self.next
        self.next += count
        return [step(*batches[i % len(batches)]) for i in range(first, first + count)]

    def prepare(self, workload: Workload) -> dict[str, Any]:
        self.step, self.batches, self.next = None, (), 0
        gc.collect()
        forget_peak()
        self.before_memory = megabytes("VmRSS")
        built = build(self.runner, self.module, workload)
        if built is None:
            return {"applies": False}
        self.step, self.batches = built
        before = counted(self.module)
        started = time.perf_counter()
        losses = [number(handle) for handle in self.steps(1)]
        first = time.perf_counter() - started
        losses += [number(handle) for handle in self.steps(workload.verify - 1)]
        return {
            "applies": True,
            "losses": losses,
            "first_seconds": first,
            "verify_seconds": time.perf_counter() - started,
            "counters": difference(before, counted(self.module)),
        }

    def time(self, steps: int) -> dict[str, Any]:
        before = counted(self.module)
        assert self.step is not None
        step, batches, first = self.step, self.batches, self.next
        self.next += steps
        loss = None
        gc.collect()
        started = time.perf_counter()
        for i in range(first, first + steps):
            loss = step(*batches[i % len(batches)])
        value = number(loss)
        seconds = time.perf_counter() - started
        return {
            "seconds": seconds,
            "steps": steps,
            "loss": value,
            "counters": difference(before, counted(self.module)),
            "peak_megabytes": megabytes("VmHWM") - self.before_memory,
        }


def difference(before: dict[str, int] | None, after: dict[str, int] | None) -> Any:
    if before is None or after is None:
        return None
    return {name: after[name] - before[name] for name in after}


def main(runner: str) -> None:
    # What the libraries print must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    np.seterr(all="raise")
    workloads = {workload.name: workload for workload in WORKLOADS}

    def answer(content: dict[str, Any]) -> None:
        answers.write(json.dumps(content) + "\n")
        answers.flush()

    try:
        worker = Worker(runner)
    except ImportError as error:
        answer({"missing": str(error)})
        return
    answer(worker.hello())
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["do"] == "prepare":
                answer(worker.prepare(workloads[request["workload"]]))
            elif request["do"] == "time":
                answer(worker.time(request["steps"]))
            else:
                return
        except Exception as error:
            answer({"error": f"{type(error).__name__}: {str(error)[:300]}"})


if __name__ == "__main__":
    main(sys.argv[1])
