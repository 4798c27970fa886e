"""Ops that TensorFlow names in `tf` itself, as their kernels take arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..composites.sparse import SparseTensor
from ..core.dimensions import differ
from ..core.dtypes import int64
from ..core.refuse import invalid
from ..values.context import inside_function
from ..values.convert import convert
from ..values.tensor import Tensor, concrete
from . import arithmetic, convolutions, counting, gather_scatter, joining, sparse_layout
from .arguments import known_value
from .reductions import reduce_sum


def realdiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x` / `y`, both of one dtype.

    >>> import tape_compat as tf
    >>> tf.realdiv(3.0, 2.0).numpy().item()
    1.5
    """
    return arithmetic.divide(x, y)


def parallel_stack(values: Any, name: str = "parallel_stack") -> Tensor:
    """`tf.stack` along the first axis, in a `tf.function`.

    Raises: RuntimeError outside of one.

    >>> import tape_compat as tf
    >>> tf.function(lambda x: tf.parallel_stack([x, x]))(1.0).numpy().tolist()
    [1.0, 1.0]
    """
    if not inside_function():
        raise RuntimeError("tf.parallel_stack() is not compatible with eager execution.")
    return joining.stack(values)


def approx_top_k(
    input: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    is_max_k: bool = True,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> Any:
    """The `k` largest values along an axis, or the smallest, and where they are: `values` and
    `indices`. See `tf.math.approx_max_k`, `tf.math.approx_min_k`.

    >>> import tape_compat as tf
    >>> tf.approx_top_k([1.0, 3.0, 2.0], 2).indices.numpy().tolist()
    [1, 2]
    """
    find = counting.approx_max_k if is_max_k else counting.approx_min_k
    rest = (recall_target, reduction_input_size_override, aggregate_to_topk)
    return find(input, k, reduction_dimension, *rest)


def conv(
    input: Any,
    filter: Any,
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "CHANNELS_LAST",
    dilations: Sequence[int] = (),
    batch_dims: int = 1,
    groups: int = 1,
    name: str | None = None,
) -> Tensor:
    """A convolution over two or three axes, as `tf.nn.conv2d` and `tf.nn.conv3d`.

    Args:
      explicit_paddings: numbers before and after each axis, with padding="EXPLICIT".
      data_format: "CHANNELS_LAST" or "CHANNELS_FIRST".
      groups: how many times the channels are those of the filter.
    Raises: NotImplementedError for several batch axes; InvalidArgumentError for other channels.

    >>> import tape_compat as tf
    >>> tf.conv(tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1, 1]), [1, 1, 1, 1], "VALID").shape
    TensorShape([1, 2, 2, 1])
    """
    if batch_dims != 1:
        raise NotImplementedError(f"Conv with batch_dims={batch_dims}")
    x = convert(input)
    rank = len(x._aval.shape)
    last = data_format == "CHANNELS_LAST"
    kernels = convert(filter, x.dtype)
    depth, inner = x._aval.shape[-1 if last else 1], kernels._aval.shape[-2]
    if differ(depth, inner * groups):
        text = "Input depth must be equal to filter depth"
        raise invalid(f"{text}{' times groups' * (groups > 1)}: {depth} vs {inner}", "Conv")
    layout = {4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}[rank][last]
    convolve = convolutions.conv2d if rank == 4 else convolutions.conv3d
    pads: Any = padding
    if padding == "EXPLICIT":
        pads = [list(explicit_paddings[i : i + 2]) for i in range(0, 2 * rank, 2)]
    return convolve(x, kernels, list(strides), pads, layout, list(dilations) or [1] * rank)


class RaggedFillEmptyRows(NamedTuple):
    """What `ragged_fill_empty_rows` gives."""

    output_value_rowids: Tensor
    output_values: Tensor
    empty_row_indicator: Tensor
    reverse_index_map: Tensor


class RaggedFillEmptyRowsGrad(NamedTuple):
    """The gradients by the values and by the default."""

    d_values: Tensor
    d_default_value: Tensor


def ragged_fill_empty_rows(
    value_rowids: Any, values: Any, nrows: Any, default_value: Any, name: str | None = None
) -> RaggedFillEmptyRows:
    """Rows of a ragged tensor with `default_value` in those that are empty.

    Args:
      value_rowids: int64 [n], the row of each of `values` [n].
      nrows: int64, how many rows there are.
    Returns: the rows of values and the values, bool [nrows] which rows were empty, and int64 [n]
      where each value stands now.

    >>> import tape_compat as tf
    >>> tf.ragged_fill_empty_rows([0, 2], [1.0, 2.0], 3, 9.0).output_values.numpy().tolist()
    [1.0, 9.0, 2.0]
    """
    rows, count = known_value(convert(value_rowids, int64)), known_value(convert(nrows, int64))
    places = np.stack([rows, np.zeros_like(rows)], 1)
    sparse = SparseTensor(places, convert(values), np.stack([count, np.int64(1)]))
    found, empty = sparse_layout.fill_empty_rows(sparse, default_value)
    filled = known_value(found.indices)[:, 0]
    back = np.empty(len(rows), np.int64)
    back[np.argsort(rows, kind="stable")] = np.flatnonzero(~known_value(empty)[filled])
    return RaggedFillEmptyRows(concrete(filled), found.values, empty, concrete(back))


def ragged_fill_empty_rows_grad(
    reverse_index_map: Any, grad_values: Any, name: str | None = None
) -> RaggedFillEmptyRowsGrad:
    """The gradients by what `ragged_fill_empty_rows` was given, of one by its values.

    >>> import tape_compat as tf
    >>> tf.ragged_fill_empty_rows_grad([0, 2], [1.0, 5.0, 2.0]).d_default_value.numpy().item()
    5.0
    """
    gradient = convert(grad_values)
    kept = gather_scatter.gather(gradient, convert(reverse_index_map, int64))
    return RaggedFillEmptyRowsGrad(kept, reduce_sum(gradient) - reduce_sum(kept))
