"""What constructors share."""

from __future__ import annotations

from typing import Any


def arguments(found: dict[str, Any]) -> dict[str, Any]:
    """The arguments among the `locals()` with which a constructor begins."""
    return {name: value for name, value in found.items() if name not in ("self", "__class__")}
