"""The distinct slices of an array along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import Aval
from ..core.dtypes import as_dtype
from ..core.refuse import invalid
from ..values.convert import convert
from ..values.tensor import Tensor, concrete
from .arguments import known_value, sketched


def unique_slices(x: Any, axis: Any, out_idx: Any, kernel: str) -> tuple[Tensor, Tensor, Tensor]:
    """The distinct slices in order of appearance, where each slice stands among them, and how
    often each occurs.

    axis: [] for a vector, or one axis. Raises: InvalidArgumentError for no axis of what is not a
    vector.
    """
    axes = known_value(axis).ravel().tolist()
    if len(axes) > 1:
        raise invalid("axis does not support input dimensions larger than 1", kernel)
    tensor = convert(x)
    shape, kind = tensor._aval.shape, as_dtype(out_idx)
    if not axes and len(shape) != 1:
        raise invalid("unique expects a 1D vector.", kernel)
    place = int(axes[0]) if axes else 0
    if not -len(shape) <= place < len(shape):
        raise invalid(f"axis has to be between [0, {len(shape)})", kernel)
    place %= len(shape)
    sketch = sketched(tensor)
    if sketch is not None:
        size = sketch.size()
        distinct = (*shape[:place], size, *shape[place + 1 :])
        return (
            sketch.tensor(distinct, tensor.dtype),
            sketch.tensor(shape[place : place + 1], kind),
            sketch.tensor((size,), kind),
        )
    known = known_value(tensor)
    count = known.shape[place]
    flat = np.moveaxis(known, place, 0).reshape(count, known.size // max(count, 1))
    keys = list(map(tuple, flat.tolist()))
    order = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    index = np.array([order[key] for key in keys], kind.np_dtype)
    _, first = np.unique(index, return_index=True)
    values = np.take(known, first, axis=place)
    text = Aval.of(values.shape, dtypes.string) if known.dtype == object else None
    counts = np.bincount(index, minlength=len(order)).astype(index.dtype)
    return concrete(values, text), concrete(index), concrete(counts)
