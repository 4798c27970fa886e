"""`x[i : i + 3]` in a function that is being recorded, where `i` is known only when it is called.

How many elements there are must be known: it is, if the ends of the slice differ by a number. That
holds only where the slice lies inside the axis (TensorFlow gives what is there), so the record is
for such calls; in others the function runs its Python. A slice whose length depends on values, as
`x[:i]`, cannot be recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core.dimensions import is_symbolic, less
from ..core.errors import NeedsValue, user_location
from ..values.capture import Sketch
from ..values.effects import assume
from ..values.host_steps import without_steps
from ..values.sizes import distance
from ..values.tensor import Tensor
from .arguments import as_tensor, dims
from .casting import cast
from .comparison import equal, greater_equal, less_equal, logical_and
from .shapes import reshape


class Moving(NamedTuple):
    """A slice that begins and stops at tensors: how far apart they are, and its step."""

    start: Tensor
    stop: Tensor
    width: int
    step: int


def moving(entry: slice) -> Moving:
    """What a slice of which an end is not known is.

    Raises: NeedsValue if its length is not known either, or it does not go forward.
    """
    with without_steps():
        step = 1 if entry.step is None else dims(entry.step)[0]
    if step < 1 or entry.start is None or entry.stop is None:
        raise _length_unknown()
    start, stop = as_tensor(entry.start), as_tensor(entry.stop)
    width = distance(start, stop, Sketch())
    if width is None or width < 1:
        raise _length_unknown()
    start, stop = (reshape(cast(x, "int32"), ()) for x in (start, stop))
    return Moving(start, stop, width, step)


def _length_unknown() -> NeedsValue:
    return NeedsValue(
        "How many elements a slice has is known only when the function that is being recorded is "
        f"called (at {user_location()}). It would be, if its ends differed by a number, as in "
        "x[i : i + 3]."
    )


def assume_inside(slices: Sequence[tuple[int, Moving]], sizes: Sequence[Any]) -> None:
    """Let the record be for calls in which these slices, after their axes, lie inside an array of
    these sizes."""
    for axis, (start, stop, width, _) in slices:
        size = sizes[axis]
        if less(size, width):
            raise _length_unknown()
        inside = logical_and(greater_equal(start, 0), less_equal(stop, _as_number(size)))
        as_wide = equal(stop - start, width)  # what unknown sizes may be is not what numbers may
        assume(
            logical_and(inside, as_wide),
            "Whether a slice lies inside what it is taken of",
            f"A slice of {width} places does not lie inside an axis of size {size} (at "
            f"{user_location()}), so how many elements it has depends on values.",
        )


def _as_number(size: Any) -> Any:
    return as_tensor(size) if is_symbolic(size) else size
