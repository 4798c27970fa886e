"""Elements of datasets that the Python of a function takes while it runs, with their specs.

TensorFlow records such a function, where the elements have the sizes of the dataset's spec, None
for the last batch may be smaller; and so has a function inside that is called with them. Here the
Python of the one outside runs, and the one inside is recorded for these sizes all the same.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

from ..core.state import changed

#: How many of the last elements are kept, and found again.
_LAST = 4


class _Taken(threading.local):
    """The last elements with their specs; None where no function runs its Python."""

    elements: deque[tuple[Any, Any]] | None = None


TAKEN = _Taken()


def taking() -> Any:
    """Context around the Python of a function: the elements that it takes are noted."""
    return changed(TAKEN, elements=deque(maxlen=_LAST))


def runs_as_python() -> bool:
    """Whether the Python of a function that could not be recorded is running."""
    return TAKEN.elements is not None


def took(element: Any, spec: Any) -> None:
    """Note an element of a dataset, if the Python of a function takes it."""
    if TAKEN.elements is not None:
        TAKEN.elements.append((element, spec))
