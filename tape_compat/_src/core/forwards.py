"""Properties that show what something within says."""

from __future__ import annotations

from operator import attrgetter
from typing import Any


def forwards(path: str, doc: str | None = None) -> Any:
    """A property that gives what stands at a path of attributes.

    >>> class Name:
    ...     def __init__(self, parts):
    ...         self._parts = parts
    ...
    ...     doc: str = forwards("_parts.__class__.__name__", "What it is made of.")
    >>> Name((1, 2)).doc
    'tuple'
    """
    return property(attrgetter(path), doc=doc)
