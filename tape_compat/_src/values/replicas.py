"""How variables of several replicas would be kept alike. There is one."""

from __future__ import annotations

from enum import Enum
from typing import Any


class VariableSynchronization(Enum):
    """When a distributed variable is synchronized. One replica: no effect."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(Enum):
    """How a distributed variable is aggregated. One replica: no effect."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


def mode_of(value: Any, kind: Any, name: str | None) -> Any:
    """A value as one of an enumeration's, None for its first."""
    if value.__class__ is kind:
        return value
    try:
        return kind(0) if value is None else kind(value)
    except ValueError:
        word = kind.__name__.removeprefix("Variable").lower()
        raise ValueError(f"Invalid variable {word} mode: {value} for variable: {name}") from None
