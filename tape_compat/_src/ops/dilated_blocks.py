"""An op with holes, made of the op without: every n-th pixel is an image of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dimensions import Size
from ..values.convert import convert
from ..values.tensor import Tensor
from .arguments import dims
from .blocks import batch_to_space, space_to_batch


def with_space_to_batch(
    input: Any,
    dilation_rate: Any,
    padding: Any,
    op: Callable[[Tensor, int, str], Any],
    filter_shape: Any = None,
    spatial_dims: Any = None,
    data_format: str | None = None,
) -> Any:
    """What `op(input, how many spatial dimensions, padding)` gives with holes in its windows.

    Args:
      dilation_rate: int32 [n], of each spatial dimension.
      padding: "VALID", "SAME", or pairs for all dimensions.
      op: is called with padding "VALID" unless all rates are 1.
      filter_shape: the sizes of windows begin with it; must be given for "SAME".
      spatial_dims: which dimensions are, in ascending order; by default those behind the batch, or
        with a `data_format` that begins with NC behind the channels.
    Raises: ValueError if the arguments do not fit each other.

    >>> import tape_compat as tf
    >>> x = tf.reshape(tf.range(5.0), [1, 5, 1])
    >>> op = lambda x, rank, padding: tf.nn.max_pool1d(x, 2, 1, padding)
    >>> tf.nn.with_space_to_batch(x, [2], "VALID", op).numpy().ravel().tolist()
    [2.0, 3.0, 4.0]
    """
    x, rates = convert(input), convert(dilation_rate, dtypes.int32)
    if len(rates._aval.shape) != 1:
        raise ValueError(
            f"`dilation_rate.shape.rank` must be 1. Received: dilation_rate={dilation_rate} of "
            f"rank {len(rates._aval.shape)}"
        )
    holes = dims(rates)
    places = _places(x, len(holes), spatial_dims, data_format)
    if min(holes) < 1:
        raise ValueError(
            f"`dilation_rate` must be positive. Received: dilation_rate={np.array(holes)}"
        )
    if set(holes) == {1}:
        return op(x, len(holes), padding)
    base = _base(padding, holes, filter_shape, data_format)
    # Dimensions before and between those with holes have blocks of 1.
    blocks, paddings, crops = [], [], []
    for axis in range(1, places[-1] + 1):
        i = places.index(axis) if axis in places else None
        hole, pair = (1, (0, 0)) if i is None else (holes[i], base[i])
        more: Size = -(x._aval.shape[axis] + pair[0] + pair[1]) % hole
        blocks.append(hole)
        paddings.append((pair[0], pair[1] + more))
        crops.append((0, more))
    found = op(space_to_batch(x, blocks, paddings), len(holes), "VALID")
    return batch_to_space(found, blocks, crops)


def _places(x: Tensor, count: int, spatial_dims: Any, data_format: str | None) -> list[int]:
    first = data_format is not None and data_format.startswith("NC")
    start = 2 if first else 1
    given = list(range(start, start + count)) if spatial_dims is None else list(spatial_dims)
    places = sorted({int(axis) for axis in given})
    if places != given or min(places) < 1:
        raise ValueError(
            "`spatial_dims` must be a monotonically increasing sequence of positive integers. "
            f"Received: spatial_dims={given}"
        )
    least, rank = places[-1] + (not first), len(x._aval.shape)
    if rank < least:
        raise ValueError(
            f"`input.shape.rank` must be at least {least}. "
            f"Received: input.shape={x.shape} with rank {rank}"
        )
    return places


def _base(
    padding: Any, holes: tuple[int, ...], filter_shape: Any, data_format: str | None
) -> list[tuple[int, int]]:
    """The paddings that make what is "VALID" what was asked for."""
    if not isinstance(padding, str):
        pairs = [tuple(pair) for pair in padding]
        first = data_format is not None and data_format.startswith("NC")
        return pairs[2:] if first else pairs[1:-1]
    if padding.upper() == "VALID":
        return [(0, 0)] * len(holes)
    if padding.upper() != "SAME":
        raise ValueError(f"`padding` must be one of 'SAME' or 'VALID'. Received: padding={padding}")
    if filter_shape is None:
        raise ValueError(
            "`filter_shape` must be specified for `padding='SAME'`. "
            f"Received: filter_shape={filter_shape} and padding={padding}"
        )
    extra = [(n - 1) * hole for n, hole in zip(dims(filter_shape), holes, strict=False)]
    return [(n // 2, n - n // 2) for n in extra]
