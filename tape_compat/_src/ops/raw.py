"""Ops under the names of their kernels, which take keyword arguments only."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import numpy as np

from ..core import dtypes
from ..core.avals import Aval
from ..core.dtypes import as_dtype
from ..core.refuse import invalid
from ..values.tensor import Tensor, concrete
from .arguments import known_value
from .blocks import batch_to_space, depth_to_space, space_to_batch, space_to_depth
from .histograms import bucketize
from .images.projective import project


def _raw(function: Callable[..., Any]) -> Callable[..., Any]:
    """The op that takes no positional arguments, with TensorFlow's error for them."""
    name = "".join("_" + c.lower() if c.isupper() else c for c in function.__name__).strip("_")
    keys = list(inspect.signature(function).parameters)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise TypeError(
                f"{name} only takes keyword args (possible keys: {keys}). "
                "Please pass these args as kwargs instead."
            )
        for key in kwargs:
            if key not in keys:
                raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
        return function(**kwargs)

    return call


class RawUnique(NamedTuple):
    """What `UniqueV2` gives: the distinct slices, and each slice's place among them."""

    y: Tensor
    idx: Tensor


class RawUniqueWithCounts(NamedTuple):
    """What `UniqueWithCountsV2` gives: also how often each occurs."""

    y: Tensor
    idx: Tensor
    count: Tensor  # type: ignore[assignment]


RawUnique.__name__, RawUniqueWithCounts.__name__ = "UniqueV2", "UniqueWithCountsV2"


def _unique(x: Any, axis: Any, out_idx: Any, kernel: str) -> tuple[Tensor, Tensor, Tensor]:
    known, axes = known_value(x), known_value(axis).ravel().tolist()
    if len(axes) > 1:
        raise invalid("axis does not support input dimensions larger than 1", kernel)
    if not axes and known.ndim != 1:
        raise invalid("unique expects a 1D vector.", kernel)
    place = int(axes[0]) if axes else 0
    if not -known.ndim <= place < known.ndim:
        raise invalid(f"axis has to be between [0, {known.ndim})", kernel)
    count = known.shape[place]
    flat = np.moveaxis(known, place, 0).reshape(count, known.size // max(count, 1))
    keys = list(map(tuple, flat.tolist()))
    order = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    index = np.array([order[key] for key in keys], as_dtype(out_idx).np_dtype)
    _, first = np.unique(index, return_index=True)
    values = np.take(known, first, axis=place)
    kind = Aval.of(values.shape, dtypes.string) if known.dtype == object else None
    counts = np.bincount(index, minlength=len(order)).astype(index.dtype)
    return concrete(values, kind), concrete(index), concrete(counts)


@_raw
def UniqueV2(x: Any, axis: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> RawUnique:
    """The distinct slices of `x` along an axis in order of appearance, and where they stand.

    Args:
      axis: [] for a vector, or one axis. The values of `x` must be known.
    Raises: InvalidArgumentError for no axis of what is not a vector.

    >>> import tape_compat as tf
    >>> [t.numpy().tolist() for t in tf.raw_ops.UniqueV2(x=[[3, 1], [0, 1], [3, 1]], axis=[0])]
    [[[3, 1], [0, 1]], [0, 1, 0]]
    """
    return RawUnique(*_unique(x, axis, out_idx, "UniqueV2")[:2])


@_raw
def UniqueWithCountsV2(
    x: Any, axis: Any, out_idx: Any = dtypes.int32, name: str | None = None
) -> RawUniqueWithCounts:
    """As `UniqueV2`, with how often each slice occurs."""
    return RawUniqueWithCounts(*_unique(x, axis, out_idx, "UniqueWithCountsV2"))


@_raw
def Bucketize(input: Any, boundaries: Any, name: str | None = None) -> Tensor:
    """The bucket of each element: how many of `boundaries`, which ascend, are at most it; int32.

    Raises: InvalidArgumentError if `boundaries` do not ascend.

    >>> import tape_compat as tf
    >>> tf.raw_ops.Bucketize(input=[-1.0, 0.0, 7.0], boundaries=[0.0, 5.0]).numpy().tolist()
    [0, 1, 2]
    """
    return bucketize(input, boundaries)


@_raw
def ImageProjectiveTransformV3(
    images: Any,
    transforms: Any,
    output_shape: Any,
    fill_value: Any,
    interpolation: str,
    fill_mode: str = "CONSTANT",
    name: str | None = None,
) -> Tensor:
    """Images [n, h, w, c] seen through projective transforms [n, 8] or [1, 8].

    The pixel (x, y) is that of `images` at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k), with
    k = c0 x + c1 y + 1; a transform is a0, a1, a2, b0, b1, b2, c0, c1.

    Args:
      interpolation: "NEAREST" or "BILINEAR".
      fill_mode: what lies outside: "CONSTANT" (`fill_value`), "REFLECT", "WRAP" or "NEAREST".
    Raises: InvalidArgumentError if the shapes do not fit.

    >>> import tape_compat as tf
    >>> moved = tf.raw_ops.ImageProjectiveTransformV3(
    ...     images=tf.reshape(tf.range(3.0), [1, 1, 3, 1]),
    ...     transforms=[[1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0]],
    ...     output_shape=[1, 3],
    ...     fill_value=9.0,
    ...     interpolation="NEAREST",
    ... )
    >>> moved.numpy().ravel().tolist()
    [1.0, 2.0, 9.0]
    """
    return project(images, transforms, output_shape, fill_value, interpolation, fill_mode)


@_raw
def DepthToSpace(
    input: Any, block_size: Any, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """See `tf.nn.depth_to_space`."""
    return depth_to_space(input, block_size, data_format)


@_raw
def SpaceToDepth(
    input: Any, block_size: Any, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """See `tf.nn.space_to_depth`."""
    return space_to_depth(input, block_size, data_format)


@_raw
def SpaceToBatchND(input: Any, block_shape: Any, paddings: Any, name: str | None = None) -> Tensor:
    """See `tf.space_to_batch`."""
    return space_to_batch(input, block_shape, paddings)


@_raw
def BatchToSpaceND(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Tensor:
    """See `tf.batch_to_space`."""
    return batch_to_space(input, block_shape, crops)
