"""What the nodes of a graph compute: TensorFlow's kernels by their names.

A row is a function of the inputs of a node. The parameters that it takes by name only are the
attributes that it wants. Those that a node leaves out have the defaults of TensorFlow's definition.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
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


def calling(function: Callable[..., Any], attributes: str = "") -> Kernel:
    """The kernel that gives a function its inputs and, behind them, attributes in this order.

    >>> from tape_compat._src.library.saved_model.registry import attributes_of, calling
    >>> clipped = calling(lambda x, low, high: min(max(x, low), high), "low high")
    >>> clipped(7, high=5, low=1), attributes_of(clipped)
    (5, ('low', 'high'))
    """
    names = attributes.split()

    def call(*inputs: Any, **given: Any) -> Any:
        return function(*inputs, *[given[name] for name in names])

    return _with_attributes(call, names)


def _with_attributes(kernel: Kernel, names: Iterable[str]) -> Kernel:
    parameters = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in names]
    kernel.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return kernel


@functools.cache
def attributes_of(function: Kernel) -> tuple[str, ...]:
    """The attributes that a kernel takes."""
    parameters = inspect.signature(function).parameters.values()
    return tuple([p.name for p in parameters if p.kind is p.KEYWORD_ONLY])


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


def explicit(function: Kernel) -> Kernel:
    """The kernel that takes `explicit_paddings` too, where `padding` says so: a pair an axis."""

    def call(
        *inputs: Any, padding: str, explicit_paddings: Sequence[int] = (), **given: Any
    ) -> Any:
        pads: Any = padding
        if padding == "EXPLICIT":
            ends = iter(explicit_paddings)
            pads = [list(pair) for pair in zip(ends, ends)]
        return function(*inputs, padding=pads, **given)

    return _with_attributes(call, (*attributes_of(function), "explicit_paddings"))


#: The attributes of slices.
MASKS = "begin_mask end_mask ellipsis_mask new_axis_mask shrink_axis_mask"
