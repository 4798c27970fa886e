"""What one tape has seen."""

from __future__ import annotations

from typing import Any

from ..core.native import native
from ..values.tensor import next_id, same_value
from ..values.variable import Variable
from . import reverse


@native
class Record:
    """What one tape has seen.

    calls: those that depend on what is tracked; see `reverse.Calls`. program: that of the first
    call; if it is still pending, it is that of all calls. variables: those watched, by identity;
    `reassigned` if one was read with several values.
    """

    __slots__ = ("calls", "escapes", "program", "reassigned", "variables")

    def __init__(self) -> None:
        self.calls: reverse.Calls = []
        self.program: Any = None
        self.variables: dict[int, Variable] = {}
        self.reassigned = False
        self.escapes: list[tuple[int, str]] = []

    def forget(self, identity: int) -> None:
        """Let the calls so far no longer be known to read the variable of this identity: what it
        gave them before it was watched counts as constants."""
        for i in range(1, len(self.calls), 4):
            inputs = reverse.as_tuple(self.calls[i])
            if any(x._id == identity for x in inputs):
                self.calls[i] = tuple(
                    same_value(x, next_id()) if x._id == identity else x for x in inputs
                )
                self.reassigned = True
