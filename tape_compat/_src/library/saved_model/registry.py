"""What the nodes of a graph compute: TensorFlow's kernels by their names.

A row is a function of the inputs of a node. The parameters that it takes by name only are the
attributes that it wants; those that a graph leaves out have TensorFlow's defaults.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...ops.arguments import is_text, move_text

Kernel = Callable[..., Any]

KERNELS: dict[str, Kernel] = {}


def kernel(*names: str) -> Callable[[Kernel], Kernel]:
    """A decorator: the function is the row of these names."""

    def noted(function: Kernel) -> Kernel:
        KERNELS.update(dict.fromkeys(names, function))
        return function

    return noted


def moving(*places: int) -> Callable[[Kernel], Kernel]:
    """A decorator: the kernel only moves the elements of its inputs at these places, so that texts
    are moved as numbers of theirs."""

    def wrapped(function: Kernel) -> Kernel:
        @functools.wraps(function)
        def call(*inputs: Any, **attributes: Any) -> Any:
            if not is_text(inputs[places[0]]):
                return function(*inputs, **attributes)

            def move(*given: Any) -> Any:
                values = dict(zip([*places, *others], given, strict=True))
                return function(*[values[i] for i in range(len(inputs))], **attributes)

            others = [i for i in range(len(inputs)) if i not in places]
            texts = [inputs[i] for i in places]
            return move_text(move, *texts, by=[inputs[i] for i in others])

        return call

    return wrapped
