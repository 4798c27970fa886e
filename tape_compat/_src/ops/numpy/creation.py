"""Tensors of numbers that are known beforehand: zeros, ranges, grids."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtypes import as_dtype
from ...values.convert import convert
from ...values.tensor import Tensor
from .. import creation as _of
from ..arguments import as_int, dims
from ..casting import cast
from ..elementwise import floor, real, sign
from ..repeating import broadcast_to
from ..shapes import reshape
from .arithmetic import power
from .arrays import as_array, converted, default_dtype, is_inexact
from .dtypes import result_type, result_type_of
from .elementwise import log10
from .shapes import moveaxis


def zeros(shape: Any, dtype: Any = float) -> Tensor:
    """Zeros of `shape`, float64 unless `dtype` says else.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.zeros(2)
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([0., 0.])>
    """
    return _of.zeros(shape, default_dtype(dtype))


def ones(shape: Any, dtype: Any = float) -> Tensor:
    """Ones of `shape`, float64 unless `dtype` says else.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.ones((1, 2), int).numpy().tolist()
    [[1, 1]]
    """
    return _of.ones(shape, default_dtype(dtype))


def empty(shape: Any, dtype: Any = float) -> Tensor:
    """The same as `zeros`."""
    return zeros(shape, dtype)


def zeros_like(a: Any, dtype: Any = None) -> Tensor:
    """Zeros of the shape of `a`, of its dtype unless `dtype` is given.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.zeros_like([1, 2]).numpy().tolist()
    [0, 0]
    """
    return _of.zeros_like(as_array(a), result_type_of(a, dtype or None))


def ones_like(a: Any, dtype: Any = None) -> Tensor:
    """Ones of the shape of `a`, of its dtype unless `dtype` is given.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.ones_like([1, 2], float).numpy().tolist()
    [1.0, 1.0]
    """
    return _of.ones_like(as_array(a), result_type_of(a, dtype or None))


def empty_like(a: Any, dtype: Any = None) -> Tensor:
    """The same as `zeros_like`."""
    return zeros_like(a, dtype)


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """`fill_value` broadcast to `shape`.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.full((2, 2), [1, 2]).numpy().tolist()
    [[1, 2], [1, 2]]
    """
    return broadcast_to(_filler(fill_value, dtype), dims(shape))


def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
) -> Tensor:
    """`fill_value` broadcast to the shape of `a`, of its dtype unless `dtype` is given.

    Raises: ValueError if `order`, `subok` or `shape` is changed.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.full_like([1, 2], 7).numpy().tolist()
    [7, 7]
    """
    if order != "K":
        raise ValueError("Non-standard orders are not supported.")
    if not subok:
        raise ValueError("subok being False is not supported.")
    if shape:
        raise ValueError("Overriding the shape is not supported.")
    a = as_array(a)
    return broadcast_to(_filler(fill_value, dtype or a.dtype), a._aval.shape)


def _filler(value: Any, dtype: Any) -> Tensor:
    return converted(value, result_type(dtype)) if dtype else as_array(value)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Tensor:
    """`start`, `start + step`, ... up to but without `stop`; `arange(n)` starts at 0.

    The numbers are those of `tf.range`, then of the dtype that the arguments have in common.
    Raises: ValueError if `step` is 0.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.arange(5, 0, -2).numpy().tolist()
    [5, 3, 1]
    """
    if not step:
        raise ValueError("step must be non-zero.")
    bounds = [start, step] if stop is None else [start, step, stop]
    found = result_type(dtype) if dtype else result_type(*bounds)
    first, last = (0, start) if stop is None else (start, stop)
    if (step > 0 and first > last) or (step < 0 and first < last):
        return _of.zeros([0], found)
    return cast(_of.range(start, stop, step), found)


def _with_float(value: Any) -> Any:
    """What a value times 1.0 has its say with in the dtype of a result."""
    if isinstance(value, (int, float, complex)):
        return value * 1.0
    if isinstance(value, (np.ndarray, np.generic)):
        return np.multiply(value, 1.0)
    x = as_array(value)
    return x.dtype if is_inexact(x) else result_type(x, 1.0)


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = float,
    axis: int = 0,
) -> Any:
    """`num` numbers evenly spaced from `start` to `stop`, along a new `axis`.

    Args:
      endpoint: whether the last one is `stop`.
      retstep: whether to give the distance between them too.
      dtype: has no effect, as in TensorFlow: it is that of `start` and `stop`, as floats.
    Raises: ValueError if `num` is negative.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.linspace(0, 1, 5).numpy().tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    num = as_int(num)
    kind = result_type(_with_float(start), _with_float(stop)) if dtype else None
    first, last = (as_array(x) if kind is None else converted(x, kind) for x in (start, stop))
    if num < 0:
        raise ValueError(
            "Argument `num` (number of samples) must be a non-negative integer. "
            f"Received: num={num}"
        )
    found, step = _spaced(first, last, num, endpoint, axis)
    return (found, step) if retstep else found


def _spaced(
    first: Tensor, last: Tensor, num: int, endpoint: bool, axis: int
) -> tuple[Tensor, Tensor]:
    """Evenly spaced numbers, and the distance between them: NaN (float32) if there is none."""
    steps = num - 1 if endpoint else num
    step = (last - first) / steps if steps > 0 else convert(np.float32(np.nan))
    if not endpoint and num > 1:
        last = cast(last, step.dtype) - step
        first = cast(first, step.dtype)
    return _of.linspace(first, last, num, axis=axis), step


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Tensor:
    """`base` to the powers of `linspace`. `dtype` has no effect, as in TensorFlow.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.logspace(0, 2, 3).numpy().tolist()
    [1.0, 10.0, 100.0]
    """
    powers = linspace(start, stop, num, endpoint, dtype=dtype or float, axis=axis)
    return power(converted(base, powers.dtype), powers)


def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> Tensor:
    """`num` numbers from `start` to `stop` with equal quotients, along a new `axis`.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.geomspace(1, 100, 3).numpy().tolist()
    [1.0, 10.0, 100.0]
    """
    kind = as_dtype(dtype) if dtype else result_type(start, stop, float(num), default_dtype(None))
    inside = as_dtype(np.promote_types(kind.np_dtype, np.float32))
    first, last = converted(start, inside), converted(stop, inside)
    flip = _flip(first, last)
    found = flip * logspace(log10(flip * first), log10(flip * last), num, endpoint=endpoint)
    return cast(moveaxis(found, 0, axis) if axis else found, kind)


def _flip(first: Tensor, last: Tensor) -> Tensor:
    """-1 if both are negative, else 1."""
    one = cast(1, real(first).dtype)
    below = (one - sign(real(first))) * (one - sign(real(last)))
    return cast(one - floor(below / cast(2, one.dtype)), first.dtype)


def meshgrid(*xi: Any, **kwargs: Any) -> list[Tensor]:
    """Of vectors, each broadcast to the grid that they span.

    Keyword arguments: `indexing`, "xy" (the first two axes swapped) or "ij".
    Raises: ValueError for another `indexing`, `sparse=True` or `copy=False`.

    >>> import tape_compat as tf
    >>> [x.numpy().tolist() for x in tf.experimental.numpy.meshgrid([1, 2], [5, 6, 7])]
    [[[1, 2], [1, 2], [1, 2]], [[5, 5], [6, 6], [7, 7]]]
    """
    sparse, copy = kwargs.pop("sparse", False), kwargs.pop("copy", True)
    indexing = kwargs.pop("indexing", "xy")
    if sparse:
        raise ValueError(
            "Function `meshgrid` does not support returning sparse arrays yet. "
            f"Received: sparse={sparse}"
        )
    if not copy:
        raise ValueError(f"Function `meshgrid` only supports copy=True. Received: copy={copy}")
    if kwargs:
        raise TypeError(f"meshgrid() got an unexpected keyword argument {min(kwargs)!r}")
    if indexing not in ("xy", "ij"):
        raise ValueError(
            f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'"
        )
    return _grid([reshape(as_array(x), [-1]) for x in xi], indexing == "xy")


def _grid(vectors: Sequence[Tensor], swapped: bool) -> list[Tensor]:
    places = list(builtins.range(len(vectors)))
    if swapped and len(vectors) > 1:
        places[:2] = 1, 0
    sizes: list[Any] = [None] * len(vectors)
    for place, x in zip(places, vectors):
        sizes[place] = x._aval.shape[0]
    return [
        broadcast_to(reshape(x, [-1 if i == place else 1 for i in range(len(sizes))]), sizes)
        for place, x in zip(places, vectors)
    ]


def diag_indices(n: int, ndim: int = 2) -> tuple[Tensor, ...]:
    """`ndim` times the numbers up to `n`: the index of a diagonal.

    Raises: ValueError if either is negative.

    >>> import tape_compat as tf
    >>> [x.numpy().tolist() for x in tf.experimental.numpy.diag_indices(2)]
    [[0, 1], [0, 1]]
    """
    for name, value in (("n", n), ("ndim", ndim)):
        if value < 0:
            raise ValueError(f"{name} argument to diag_indices must be nonnegative, got {value}")
    return (_of.range(n),) * ndim
