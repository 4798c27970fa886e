"""Counts of what the engine has done."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from . import limits
from .native import native, provide
from .state import LOCAL


@native
@dataclass(slots=True)
class Counters:
    """What the engine has done since the start of the process.

    traces: Python replays of a program by `jax.jit`. compiles: whole programs compiled.
    op_compiles: single ops compiled. dispatches: compiled programs and single ops launched.
    cache_hits: programs found compiled. fused: programs run by one call. op_by_op: programs run op
    by op. interpreted: single ops run by NumPy. instructions: ops recorded. reasons: the last
    reasons for a compile, newest last.
    """

    traces: int = 0
    compiles: int = 0
    op_compiles: int = 0
    dispatches: int = 0
    cache_hits: int = 0
    fused: int = 0
    op_by_op: int = 0
    interpreted: int = 0
    instructions: int = 0
    reasons: list[str] = field(default_factory=list)

    @property
    def pending(self) -> int:
        """Instructions recorded by this thread and not yet run."""
        program = LOCAL.state.program
        return 0 if program is None else len(program)

    def snapshot(self) -> dict[str, int]:
        """The counts as a plain dict, to subtract from a later one."""
        counts = asdict(self) | {"pending": self.pending}
        del counts["reasons"]
        return counts

    def reason(self, text: str) -> None:
        self.reasons.append(text)
        del self.reasons[: -limits.REASONS_KEPT]


COUNTERS = Counters()
provide(counters=COUNTERS)
