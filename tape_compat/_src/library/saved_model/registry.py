"""What the nodes of a graph compute: TensorFlow's kernels by their names.

A row is a function of the inputs of a node. The parameters that it takes by name only are the
attributes that it wants; those that a graph leaves out have TensorFlow's defaults.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Kernel = Callable[..., Any]

KERNELS: dict[str, Kernel] = {}


def kernel(*names: str) -> Callable[[Kernel], Kernel]:
    """A decorator: the function is the row of these names."""

    def noted(function: Kernel) -> Kernel:
        KERNELS.update(dict.fromkeys(names, function))
        return function

    return noted
