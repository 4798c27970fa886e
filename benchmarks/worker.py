"""One library in a process of its own: `python -m benchmarks.worker tape_compat .`.

Reads requests from standard input, one JSON object a line, and answers each with one on standard
output. The parent asks several workers in turn, so that their rounds are interleaved while none
disturbs another's threads, caches or memory.

    {"do": "prepare", "workload": "mlp_tiny"}   builds it, runs the steps to verify
    {"do": "time", "steps": 100, "tidy": true}  times that many steps, after collecting garbage
    {"do": "quit"}
"""

from __future__ import annotations

import gc
import importlib
import json
import math
import operator
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
OURS = ("tape_compat", "tape_compat_function")
SETTLE_SECONDS = 20.0
COMPILED = "/jax/core/compile/backend_compile_duration"


def load(runner: str) -> tuple[Any, dict[str, str]]:
    """Imports the library of a runner. Gives the module and the versions to print."""
    if runner in TENSORFLOWS:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        names = ["tensorflow"]
    elif runner in OURS:
        names = ["tape_compat", "jax", "jaxlib"]
    elif runner == "jax":
        names = ["jax", "jaxlib"]
    else:
        # Threads that wait for others sleep; spinning takes 30 times as long on a busy machine.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
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
    if runner in ("tf_eager", "tape_compat"):
        return workload.tf(module, workload.data())
    if not workload.functions or not hasattr(module, "function"):
        return None
    step, batches = workload.tf(module, workload.data())
    return module.function(step, **({"jit_compile": True} if runner == "tf_xla" else {})), batches


def number(handle: Any) -> float | None:
    """The loss behind a handle; waits for it. None for a step that gives none."""
    if handle is None:
        return None
    return float(handle.detach() if hasattr(handle, "detach") else handle)


def reading(runner: str, step: Callable[..., Any]) -> Callable[..., Any]:
    """The step, and the loss it gave as a number."""
    read = operator.methodcaller("item") if runner == "torch" else float
    return lambda *batch: read(step(*batch))


class Compiles:
    """Counts what a library compiles: XLA programs of JAX, traces of a TensorFlow function."""

    def __init__(self, runner: str) -> None:
        self.known = runner in ("jax", *OURS)
        self.programs = 0
        if self.known:
            import jax

            jax.monitoring.register_event_duration_secs_listener(self.listen)

    def listen(self, event: str, duration_secs: float, **_: Any) -> None:
        self.programs += event == COMPILED

    def count(self, step: Any) -> int | None:
        """Compiles so far; None where nothing is compiled or nobody tells."""
        if self.known:
            return self.programs
        traces = getattr(step, "experimental_get_tracing_count", None)
        return traces() if traces else None


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


def device_megabytes() -> float | None:
    """The peak of the memory of an accelerator that JAX uses; None if there is none."""
    if "jax" not in sys.modules:
        return None
    stats = sys.modules["jax"].local_devices()[0].memory_stats() or {}
    return stats["peak_bytes_in_use"] / 2**20 if "peak_bytes_in_use" in stats else None


class Worker:
    """Keeps one prepared workload between requests."""

    def __init__(self, runner: str) -> None:
        self.runner = runner
        started = time.perf_counter()
        self.module, self.versions = load(runner)
        self.import_seconds = time.perf_counter() - started
        self.built: Callable[..., Any] | None = None
        self.step: Callable[..., Any] | None = None  # what is built, read at once if asked
        self.batches: Any = ()
        self.next = 0
        self.compiles = Compiles(runner)
        self.before_memory = self.peak_memory = math.nan

    def hello(self) -> dict[str, Any]:
        return {
            "versions": self.versions,
            "python": platform.python_version(),
            "device": device(self.runner),
            "file": self.module.__file__,
            "compiled": compiled(self.module),
            "import_seconds": self.import_seconds,
        }

    def steps(self, count: int) -> list[Any]:
        """Runs `count` steps and keeps their losses, unread."""
        assert self.step is not None
        step, batches, first = self.step, self.batches, self.next
        self.next += count
        return [step(*batches[i % len(batches)]) for i in range(first, first + count)]

    def prepare(self, workload: Workload) -> dict[str, Any]:
        self.built, self.step, self.batches, self.next = None, None, (), 0
        gc.collect()
        forget_peak()
        self.before_memory = self.peak_memory = megabytes("VmRSS")
        built = build(self.runner, self.module, workload)
        if built is None:
            return {"applies": False}
        self.built, self.batches = built
        self.step = reading(self.runner, self.built) if workload.read else self.built
        before, compiles = counted(self.module), self.compiles.count(self.built)
        started = time.perf_counter()
        losses = [number(handle) for handle in self.steps(1)]
        first = time.perf_counter() - started
        first_peak = megabytes("VmHWM")
        losses += [number(handle) for handle in self.steps(workload.verify - 1)]
        verify_seconds = time.perf_counter() - started
        if self.runner in OURS:
            self.settle()
        return {
            "applies": True,
            "losses": losses,
            "first_seconds": first,
            "first_megabytes": first_peak - self.before_memory,
            "verify_seconds": verify_seconds,
            "compiles": subtract(self.compiles.count(self.built), compiles),
            "counters": difference(before, counted(self.module)),
        }

    def settle(self) -> None:
        """Runs steps until none is interpreted any more, for at most SETTLE_SECONDS."""
        started = time.perf_counter()
        while time.perf_counter() - started < SETTLE_SECONDS:
            before = counted(self.module)
            self.time(max(8, len(self.batches)))
            done = difference(before, counted(self.module))
            if not done or not done["op_by_op"]:
                break

    def time(self, steps: int, tidy: bool = False) -> dict[str, Any]:
        before, compiles = counted(self.module), self.compiles.count(self.built)
        assert self.step is not None
        step, batches, first = self.step, self.batches, self.next
        self.next += steps
        loss = None
        if tidy:
            gc.collect()
        self.peak_memory = max(self.peak_memory, megabytes("VmHWM"))
        forget_peak()
        started = time.perf_counter()
        for i in range(first, first + steps):
            loss = step(*batches[i % len(batches)])
        value = number(loss)
        seconds = time.perf_counter() - started
        peak = megabytes("VmHWM")
        self.peak_memory = max(self.peak_memory, peak)
        return {
            "seconds": seconds,
            "steps": steps,
            "loss": value,
            "counters": difference(before, counted(self.module)),
            "compiles": subtract(self.compiles.count(self.built), compiles),
            "peak_megabytes": self.peak_memory - self.before_memory,
            "round_megabytes": peak - self.before_memory,
            "device_megabytes": device_megabytes(),
        }


def compiled(module: Any) -> bool:
    """Whether a part of the library itself is in C."""
    folder = os.path.dirname(module.__file__) + os.sep
    files = [getattr(loaded, "__file__", None) or "" for loaded in list(sys.modules.values())]
    return any(f.startswith(folder) and f.endswith((".so", ".pyd")) for f in files)


def device(runner: str) -> str | None:
    """The accelerator that JAX uses, in words."""
    if runner != "jax" and runner not in OURS:
        return None
    used = sys.modules["jax"].local_devices()[0]
    return None if used.platform == "cpu" else used.device_kind


def subtract(after: int | None, before: int | None) -> int | None:
    return None if after is None else after - (before or 0)


def difference(before: dict[str, int] | None, after: dict[str, int] | None) -> Any:
    if before is None or after is None:
        return None
    return {name: after[name] - before[name] for name in after}


def main(runner: str, checkout: str) -> None:
    """Takes tape_compat from a checkout, the workloads from where this file is."""
    sys.path.insert(0, checkout)
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
                answer(worker.time(request["steps"], request.get("tidy", False)))
            else:
                return
        except Exception as error:
            answer({"error": f"{type(error).__name__}: {str(error)[:300]}"})


if __name__ == "__main__":
    main(*sys.argv[1:])
