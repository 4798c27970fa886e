"""The largest elements, counts, permutations and orders."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core import dtypes
from ..core.avals import Aval
from ..core.dimensions import Size, differ, fit, less, maximum, minimum
from ..core.dtypes import DType, float32
from ..core.op import Op
from ..core.refuse import invalid, not_allowed, shown
from ..values.bounds import refuse_no_permutation, scattered
from ..values.convert import convert
from ..values.dispatch import takes_composites
from ..values.host_steps import by_host
from ..values.record import apply
from ..values.tensor import Tensor
from .arguments import (
    as_int,
    as_scalar,
    as_size,
    as_tensor,
    cast_as_default,
    known_value,
    no_float,
    sketched,
    value_if_known,
)
from .casting import cast
from .checks import REAL, check_dtypes
from .declare import name_ops, op, static
from .order_kernel import top
from .sums import TopKV2

_CHECK_ORDERED = check_dtypes("TopKV2", REAL)


def _check_top_k(avals: tuple[Aval, ...], k: int, index_type: DType) -> None:
    _CHECK_ORDERED(avals)
    if index_type.name not in ("int16", "int32", "int64"):
        raise not_allowed(index_type, "int16, int32, int64", "TopKV2", "index_type")
    shape = avals[0].shape
    if not shape:
        raise invalid("input must be >= 1-D, got shape []", "TopKV2")
    if less(k, 0):
        raise invalid(f"Need k >= 0, got {k}", "TopKV2")
    if less(shape[-1], k):
        raise invalid(f"input must have at least k columns. Had {shape[-1]}, needed {k}", "TopKV2")


def _top_k(x: Any, k: int, index_type: DType) -> tuple[Any, Any]:
    values, indices = top(x, k)
    return values, indices.astype(index_type.np_dtype)


_TOP_K = Op(_top_k, "TopKV2", check=_check_top_k, kernels=True)


def top_k(
    input: Any,
    k: Any = 1,
    sorted: bool = True,
    index_type: Any = dtypes.int32,
    name: str | None = None,
) -> TopKV2:
    """The `k` largest along the last axis, largest first, and where they stand.

    `sorted=False` promises no order; ours are sorted then too.
    Raises: InvalidArgumentError if the last axis has fewer than `k`.

    >>> import tape_compat as tf
    >>> values, indices = tf.math.top_k([1.0, 3.0, 2.0], k=2)
    >>> values.numpy().tolist(), indices.numpy().tolist()
    ([3.0, 2.0], [1, 2])
    """
    k = as_size(as_scalar(k, "TopKV2", "k must be scalar, got shape "))
    closure = _TOP_K.bind(k=k, index_type=dtypes.as_dtype(index_type))
    return TopKV2(*apply(closure, (convert(input),)))


class ApproxTopK(NamedTuple):
    """What `approx_max_k` and `approx_min_k` give."""

    values: Tensor
    indices: Tensor


def _approximate(function: Callable[..., Any], kernel: str, which: str, example: str) -> Any:
    declared = Op(function, kernel)

    def approx(
        operand: Any,
        k: Any,
        reduction_dimension: int = -1,
        recall_target: float = 0.95,
        reduction_input_size_override: int = -1,
        aggregate_to_topk: bool = True,
        name: str | None = None,
    ) -> ApproxTopK:
        closure = declared.bind(
            k=static(k),
            reduction_dimension=static(reduction_dimension),
            recall_target=float(recall_target),
            reduction_input_size_override=static(reduction_input_size_override),
            aggregate_to_topk=bool(aggregate_to_topk),
        )
        return ApproxTopK(*apply(closure, (convert(operand),)))

    approx.__name__ = approx.__qualname__ = function.__name__
    approx.__doc__ = f"""The `k` {which} along an axis, and where they stand (int32).

    On TPUs each is found with probability `recall_target`; on CPUs and GPUs all are.
    Source: Chern et al. 2022, TPU-KNN, by `jax.lax.{function.__name__}`.

    >>> import tape_compat as tf
    >>> tf.math.{function.__name__}([1.0, 3.0, 2.0], k=2).indices.numpy().tolist()
    {example}
    """
    return approx


approx_max_k = _approximate(lax.approx_max_k, "ApproxMaxK", "largest", "[1, 2]")
approx_min_k = _approximate(lax.approx_min_k, "ApproxMinK", "smallest", "[0, 2]")


def _check_in_top_k(avals: tuple[Aval, ...], k: Any) -> None:
    targets, predictions = avals
    if targets.dtype.name not in ("int32", "int64"):
        raise not_allowed(targets.dtype, "int32, int64", "InTopKV2")
    if len(predictions.shape) != 2:
        raise invalid("predictions must be 2-dimensional", "InTopKV2")
    if len(targets.shape) != 1:
        raise invalid("targets must be 1-dimensional", "InTopKV2")
    if differ(predictions.shape[0], targets.shape[0]):
        raise invalid(
            f"First dimension of predictions {predictions.shape[0]} must match length of targets "
            f"{targets.shape[0]}",
            "InTopKV2",
        )


@op(
    arrays=2,
    kernel="InTopKV2",
    same_dtype=False,
    differentiable=False,
    check=_check_in_top_k,
)
def _in_top_k(targets, predictions, k=1):
    classes = predictions.shape[1]
    inside = (targets >= 0) & (targets < classes)
    at = jnp.clip(targets, 0, max(classes - 1, 0))[:, None]
    target = jnp.take_along_axis(predictions, at, axis=1)
    larger = jnp.sum(predictions > target, axis=1)
    # TensorFlow's kernel says no where any class is not finite, smaller ones too
    return inside & jnp.all(jnp.isfinite(predictions), axis=1) & (larger < k)


def in_top_k(targets: Any, predictions: Any, k: Any, name: str | None = None) -> Tensor:
    """Whether `targets` [n] are among the `k` largest of each row of `predictions` [n, classes].

    Classes as large as the k-th count as well. Targets out of range are not.
    Raises: ValueError for `predictions` that are no float32.

    >>> import tape_compat as tf
    >>> tf.math.in_top_k([0, 1], [[1.0, 2.0], [3.0, 4.0]], k=1).numpy().tolist()
    [False, True]
    """
    if k is None:
        as_tensor(k)  # TensorFlow's error
    k = as_scalar(k, "InTopKV2", "k must be 0-D, got shape ")
    return _in_top_k(as_tensor(cast_as_default(targets)), convert(predictions, float32), k=k)


def _counts(values: Any, *weights: Any, size: int, dtype: Any, binary: bool) -> Any:
    """Counts of each row of values [rows, n]."""
    rows = jnp.arange(values.shape[0])[:, None]
    zeros = jnp.zeros((values.shape[0], size), dtype)
    if binary:
        return scattered(zeros.at[rows, values], "set", jnp.ones((), dtype))
    given = weights[0] if weights else jnp.ones((), dtype)
    return scattered(zeros.at[rows, values], "add", given)


def _in_rows(arrays: Sequence[Any], by_row: bool) -> list[Any]:
    """Arrays as matrices, of one row unless the rows of matrices are counted."""
    if by_row and arrays[0].ndim == 2:
        return list(arrays)
    return [a.reshape(1, math.prod(a.shape)) for a in arrays]


def _bincount(*arrays: Any, size: int, dtype: DType, binary: bool, by_row: bool) -> Any:
    out = _counts(*_in_rows(arrays, by_row), size=size, dtype=dtype.np_dtype, binary=binary)
    return out if by_row and arrays[0].ndim == 2 else out[0]


def _bincount_on_host(
    *arrays: np.ndarray, size: int, dtype: DType, binary: bool, by_row: bool
) -> np.ndarray:
    """`_bincount` by NumPy, which counts in one pass; integers are added as integers."""
    values, *weights = _in_rows(arrays, by_row)
    rows = len(values)
    inside = (values >= 0) & (values < size)
    places = (values.astype(np.int64) + size * np.arange(rows)[:, None])[inside]
    if weights and not binary and dtype.is_integer:
        found = np.zeros(rows * size, dtype.np_dtype)
        np.add.at(found, places, weights[0][inside])
    else:
        shares = weights[0][inside] if weights and not binary else None
        found = np.bincount(places, shares, minlength=rows * size)
    found = found > 0 if binary else found
    counts = (rows, size) if by_row and arrays[0].ndim == 2 else (size,)
    return found.astype(dtype.np_dtype).reshape(counts)


def _check_bincount(avals: tuple[Aval, ...], by_row: bool, **_: Any) -> None:
    rank = len(avals[0].shape)
    if by_row and rank > 2:
        raise invalid(f"Shape must be at most rank 2 but is rank {rank}", "DenseBincount")
    if len(avals) == 2 and not fit(avals[0].shape, avals[1].shape):
        raise invalid(
            "`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case it "
            f"acts as all weights equal to 1. Received {shown(avals[1].shape)} for "
            f"{shown(avals[0].shape)}",
            "DenseBincount",
        )


def _counts_aval(
    avals: tuple[Aval, ...], size: Size, dtype: DType, binary: bool, by_row: bool
) -> Aval:
    shape = avals[0].shape
    return Aval.of((*shape[: by_row and len(shape) == 2], size), dtype)


_BINCOUNT = Op(
    _bincount,
    "DenseBincount",
    check=_check_bincount,
    shapes=_counts_aval,
    host=_bincount_on_host,
)


def _length(values: np.ndarray, least: Size | None, most: Size | None) -> Size:
    """How many counts there are of these values."""
    if values.size and values.min() < 0:
        raise invalid("Input arr must be non-negative!", "DenseBincount")
    return _limited(int(values.max()) + 1 if values.size else 0, least, most)


def _limited(size: Size, least: Size | None, most: Size | None) -> Size:
    size = size if least is None else maximum(size, least)
    return size if most is None else minimum(size, most)


@by_host()
def _how_many_counts(*values: Tensor) -> Tensor:
    """How many counts there are of all these values."""
    sketch = sketched(*values)
    if sketch is not None:
        return sketch.tensor((), dtypes.int64)
    sizes = [_length(known_value(x), None, None) for x in values]
    return convert(max(sizes), dtypes.int64)


@takes_composites
def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
    axis: int | None = None,
    binary_output: bool = False,
) -> Tensor:
    """How often each of 0, 1, ... occurs in `arr`, or the sum of its weights.

    The length of the result is the largest value plus one, at least `minlength` and at most
    `maxlength`; it depends on values, so they are computed now. axis=-1 counts each row.
    Raises: InvalidArgumentError for negative values.

    >>> import tape_compat as tf
    >>> tf.math.bincount([1, 1, 3]).numpy().tolist()
    [0, 2, 0, 1]
    """
    axis = None if axis is None else as_int(axis)
    if axis not in (None, 0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently "
                         "supported.")  # fmt: skip
    if binary_output and weights is not None:
        raise ValueError("Arguments `binary_output` and `weights` are mutually exclusive. Please "
                         "specify only one.")  # fmt: skip
    arr = convert(arr)
    if not arr.dtype.is_integer:  # as TensorFlow takes 2.9 for a 2
        arr = cast(arr, dtypes.int32)
    least, most = (None if n is None else as_size(no_float(n)) for n in (minlength, maxlength))
    if least is not None and least == most and arr._is_symbolic():
        size = least
    elif (known := value_if_known(arr)) is not None:
        size = _length(known, least, most)
    else:
        size = _limited(as_size(_how_many_counts(arr)), least, most)
    inputs = (arr,)
    if weights is not None:
        weights = convert(weights)
        dtype = weights.dtype
        if 0 not in weights._aval.shape:
            inputs = (arr, weights)
    closure = _BINCOUNT.bind(
        size=size,
        dtype=dtypes.as_dtype(dtype or dtypes.int32),
        binary=bool(binary_output),
        by_row=axis == -1,
    )
    return apply(closure, inputs)


def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    weights: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Counts [classes, classes]: row = label, column = prediction.

    Args:
      labels, predictions: classes [n], of any real dtype; one of them may be [n, 1].
      num_classes: how many there are (default: as many as the largest says).
      weights: [n], what each pair counts (default 1).
      dtype: dtype of the result.
    Raises: InvalidArgumentError for a negative class, one that is too large, or for numbers of
      labels and predictions that differ; ValueError for weights of another shape.

    >>> import tape_compat as tf
    >>> tf.math.confusion_matrix([0, 1, 1], [0, 1, 0]).numpy().tolist()
    [[1, 0], [1, 1]]
    """
    labels, predictions = [cast(convert(x), dtypes.int64) for x in (labels, predictions)]
    classes = None if num_classes is None else as_size(num_classes)
    known = [value_if_known(x) for x in (labels, predictions)]
    if all(x is not None for x in known):
        classes = _classes(*known, classes)  # type: ignore[arg-type]
    elif classes is None:
        classes = as_size(_how_many_counts(labels, predictions))
    inputs = [labels, predictions]
    if weights is not None:
        inputs.append(cast(convert(weights), dtype))
    closure = _CONFUSION.bind(classes=classes, dtype=dtypes.as_dtype(dtype))
    return apply(closure, tuple(inputs))


def _classes(labels: np.ndarray, predictions: np.ndarray, classes: Size | None) -> Size:
    """How many classes there are: so many if `classes` is not None."""
    for what, values in (("labels", labels), ("predictions", predictions)):
        if values.size and values.min() < 0:
            raise invalid(f"`{what}` contains negative values.", "Assert")
    if classes is None:
        classes = max((int(v.max()) + 1 for v in (labels, predictions) if v.size), default=0)
    for what, values in (("labels", labels), ("predictions", predictions)):
        if values.size and less(classes, int(values.max()) + 1):
            raise invalid(f"`{what}` out of bound", "Assert")
    return classes


def _confusion(labels: Any, predictions: Any, *weights: Any, classes: int, dtype: DType) -> Any:
    given = weights[0].reshape(-1) if weights else jnp.ones((), dtype.np_dtype)
    zeros = jnp.zeros((classes, classes), dtype.np_dtype)
    return scattered(zeros.at[labels.reshape(-1), predictions.reshape(-1)], "add", given)


def _check_confusion(avals: tuple[Aval, ...], **_: Any) -> None:
    labels, predictions = avals[:2]
    fewer, more = sorted((labels, predictions), key=lambda aval: len(aval.shape))
    squeezed = len(more.shape) == len(fewer.shape) + 1 and not differ(more.shape[-1], 1)
    if not fit(more.shape[:-1] if squeezed else more.shape, fewer.shape):
        raise invalid(
            f"Shapes of all inputs must match: values[0].shape = {shown(labels.shape)} != "
            f"values[1].shape = {shown(predictions.shape)}",
            "Pack",
        )
    if not fewer.shape:
        raise ValueError("Argument `axis` = 1 not in range [-1, 1)")
    for weights in avals[2:]:
        if not fit(weights.shape, fewer.shape):
            raise ValueError(
                f"Shapes {fewer.tensor_shape} and {weights.tensor_shape} are incompatible"
            )


_CONFUSION = Op(_confusion, "ScatterNd", check=_check_confusion)


def _check_permutation(avals: tuple[Aval, ...]) -> None:
    (x,) = avals
    if x.dtype.name not in ("int32", "int64"):
        raise not_allowed(x.dtype, "int32, int64", "InvertPermutation")
    if len(x.shape) != 1:
        raise invalid("invert_permutation expects a 1D vector.", "InvertPermutation")


_INVERT = Op(
    lambda x: jnp.zeros_like(x).at[x].set(jnp.arange(x.shape[0], dtype=x.dtype)),
    "InvertPermutation",
    differentiable=False,
    check=_check_permutation,
).bind()


def invert_permutation(x: Any, name: str | None = None) -> Tensor:
    """y with y[x[i]] = i, of a permutation x [n], int32 or int64.

    Raises: InvalidArgumentError for numbers that are none, if they are known at the call.

    >>> import tape_compat as tf
    >>> tf.math.invert_permutation([2, 0, 1]).numpy().tolist()
    [1, 2, 0]
    """
    x = as_tensor(cast_as_default(x))
    refuse_no_permutation(x, "InvertPermutation")
    return apply(_INVERT, (x,))


@op(arrays=1, kernel="Mean", differentiable=False)
def zero_fraction(value, name=None):
    """Share of zeros, a float32; NaN of nothing.

    >>> import tape_compat as tf
    >>> float(tf.math.zero_fraction([0, 1, 0, 0]))
    0.75
    """
    return jnp.mean((value == 0).astype(jnp.float32))


@op(arrays=1, kernel="All", dtypes=REAL, differentiable=False)
def is_non_decreasing(x, name=None):
    """Whether no element of the flattened x is smaller than the one before."""
    x = x.reshape(-1)
    return jnp.all(x[1:] >= x[:-1])


@op(arrays=1, kernel="All", dtypes=REAL, differentiable=False)
def is_strictly_increasing(x, name=None):
    """Whether each element of the flattened x is larger than the one before."""
    x = x.reshape(-1)
    return jnp.all(x[1:] > x[:-1])


name_ops(globals())
