"""Shapes that the user states of tensors with values, by `set_shape`, while someone listens."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from ..core.shapes import TensorShape
from ..core.state import changed

#: By the identity of a tensor, which is held meanwhile: what is known of its shape.
Shapes = dict[int, tuple[Any, TensorShape]]


class _Listening(threading.local):
    shapes: Shapes | None = None


LISTENING = _Listening()


@contextlib.contextmanager
def listening() -> Iterator[Shapes]:
    """The shapes that are stated inside."""
    shapes: Shapes = {}
    with changed(LISTENING, shapes=shapes):
        yield shapes


def state_shape(tensor: Any, shape: Any) -> None:
    """Tell who listens that a tensor is of this shape."""
    if LISTENING.shapes is not None:
        LISTENING.shapes[id(tensor)] = (tensor, TensorShape(shape))
