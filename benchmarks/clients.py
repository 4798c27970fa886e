"""The worker processes, and the rounds that are timed in them."""

from __future__ import annotations

import contextlib
import functools
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .workloads import Workload

ROOT = Path(__file__).resolve().parent.parent


class Client:
    """A worker process and the pipe to it."""

    def __init__(self, runner: str, checkout: Path = ROOT) -> None:
        self.runner = runner
        self.checkout = checkout.resolve()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", runner, str(self.checkout)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    @functools.cached_property
    def hello(self) -> dict[str, Any]:
        """What the worker says of itself once its library is imported."""
        return self.read()

    def require(self) -> None:
        """Raises RuntimeError where the library is missing, or is another checkout's."""
        if problem := self.hello.get("missing") or self.hello.get("error"):
            raise RuntimeError(problem)
        if self.checkout not in Path(self.hello["file"]).parents:
            raise RuntimeError(f"{self.hello['file']} is not of {self.checkout}")

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": "the process ended"}

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        return self.read()

    def close(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self.process.communicate('{"do": "quit"}\n', timeout=20)


def calibrate(client: Client, workload: Workload, short: bool) -> int:
    """Steps that a round is to take, about half a second's: found by running more and more."""
    seconds = 0.1 if short else 0.5
    steps = least = workload.verify if workload.cold else 3
    while True:
        answer = client.ask(do="time", steps=steps)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        if answer["seconds"] > seconds / 3 or steps >= 20_000:
            wanted = steps * seconds / max(answer["seconds"], 1e-9)
            return max(least, min(20_000, round(wanted)))
        steps *= 3


def forth_or_back(turn: int, items: Iterable[Any]) -> list[Any]:
    """Every other time the other way round, so that nobody always runs after the same one."""
    return list(items)[:: -1 if turn % 2 else 1]
