"""Data formats, strides and paddings, which convolutions and pools share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jax import lax

from ..core import errors
from ..core.dimensions import Size, less
from ..core.refuse import invalid, not_allowed
from ..core.state import LOCAL
from .arguments import int_attribute
from .declare import static

#: Of images of so many axes.
_FORMATS = {1: ("NWC", "NCW", "NHWC", "NCHW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}
#: What is said of numbers that are not above 0, by what they are.
_NOT_POSITIVE = {
    "strides": "Stride must be > 0, but got {}",
    "dilations": "Dilated rates should be larger than 0.",
    "ksize": "Sliding window ksize must be positive, but is {}",
}
#: Of strides, by kernel.
_STRIDES = {
    "Conv2D": "Row and column strides should be larger than 0.",
    "Conv2DBackpropInput": "Row and column strides should be larger than 0.",
    "Conv3D": "Spatial strides should be larger than 0.",
}


def channels_last(data_format: Any, rank: int | None = None, kernel: str = "") -> bool:
    """Whether the channels are the last axis, as they are by default. rank: of the images."""
    if data_format is None:
        return True
    names = _FORMATS.get(rank or 0, ())
    if isinstance(data_format, str):
        if data_format in names or not names:
            if data_format.startswith("N") and data_format.endswith("C"):
                return True
            if data_format.startswith("NC"):
                return False
        if rank in (2, 3):
            listed = ", ".join(f'"{name}"' for name in names)
            raise not_allowed(f'"{data_format}"', listed, kernel, "data_format")
    forms = "'NWC' or 'NCW'" if rank == 1 else "of the form `N...C` or `NC...`"
    raise ValueError(f"`data_format` must be {forms}. Received: data_format={data_format}")


def whole(value: Any, argument: str) -> tuple[Any, ...]:
    """One size or several as ints. Raises TypeError, naming the argument, for what is no number."""
    given = value if isinstance(value, tuple) else (value,)
    return tuple([int_attribute(x, argument) for x in given])


def per_dimension(
    value: Any, rank: int, what: str, last: bool, kernel: str, default: int = 1
) -> tuple[int, ...]:
    """Strides, dilations or window sizes for `rank` spatial dimensions."""
    if value is None:
        return (default,) * rank
    given = whole(static(value), what)
    refused = next((n for n in given if less(n, 1)), None)
    if refused is not None:
        words = _STRIDES.get(kernel) if what == "strides" else None
        raise invalid((words or _NOT_POSITIVE[what]).format(refused), kernel)
    if len(given) == 1:
        return given * rank
    if len(given) == rank:
        return given
    if len(given) != rank + 2:
        raise ValueError(
            f"{what} should be of length 1, {rank} or {rank + 2}. Received: {what}={list(given)} "
            f"of length {len(given)}"
        )
    spatial, others = (given[1:-1], (given[0], given[-1])) if last else (given[2:], given[:2])
    if others != (1, 1):
        raise errors.UnimplementedError(
            None,
            None,
            f"Current implementation does not yet support {what} in the batch and depth "
            f"dimensions. [Op:{kernel}] (at {errors.user_location()})",
        )
    return spatial


def explicit_padding(padding: Any, rank: int, last: bool, kernel: str) -> Any:
    """SAME, VALID, or pairs for the spatial dimensions."""
    if isinstance(padding, str):
        if padding.upper() in ("SAME", "VALID"):
            return padding.upper()
        raise not_allowed(f'"{padding}"', '"SAME", "VALID", "EXPLICIT"', kernel, "padding")
    pairs = static(padding)
    if len(pairs) == rank:
        return pairs
    if len(pairs) != rank + 2 or any(len(pair) != 2 for pair in pairs):
        raise ValueError(
            f"padding must be a string or a list of {rank + 2} pairs. Received: padding={padding}"
        )
    spatial, others = (pairs[1:-1], (pairs[0], pairs[-1])) if last else (pairs[2:], pairs[:2])
    if any(pair != (0, 0) for pair in others):
        raise ValueError(
            "Explicit padding of the batch and channel dimensions must be zero. "
            f"Received: padding={padding}"
        )
    return spatial


def extents(window: Sequence[int], dilations: Sequence[int]) -> list[int]:
    """From the first to the last element of a window with holes, both counted."""
    return [(size - 1) * step + 1 for size, step in zip(window, dilations, strict=True)]


def check_size(
    sizes: Sequence[Size],
    reaches: Sequence[int],
    strides: Sequence[int],
    padding: Any,
    kernel: str,
    by_kernel: bool = False,
) -> None:
    """Refuse images that are too small for windows: in a function all that are smaller than one,
    elsewhere those of which TensorFlow's kernels count less than no window.

    sizes: of the images; reaches: of the windows with their holes. by_kernel: whether the kernel's
    count is all that matters in a function too.
    Raises: InvalidArgumentError, which in a function is a ValueError too.
    """
    if padding == "SAME":
        return
    recorded = LOCAL.state.capture is not None
    pads = [(0, 0)] * len(sizes) if padding == "VALID" else padding
    for size, reach, step, pair in zip(sizes, reaches, strides, pads):
        over = size + sum(pair)
        message = None
        if less(over, reach - 2 * step + 1):
            message = (
                f"Computed output size would be negative: {-((reach - step - over) // step)} "
                f"[input_size: {size}, effective_filter_size: {reach}, stride: {step}]"
            )
        if recorded and not by_kernel and less(over, reach):
            message = f"Negative dimension size caused by subtracting {reach} from {over}"
        if message is not None:
            raise invalid(message, kernel)


def padding_pairs(
    sizes: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    padding: Any,
    dilations: Sequence[int],
) -> Sequence[tuple[int, int]]:
    """The padding of images of such sizes, before and after."""
    if not isinstance(padding, str):
        return padding
    return lax.padtype_to_pads(sizes, extents(window, dilations), strides, padding)
