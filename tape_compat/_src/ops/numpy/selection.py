"""Taking elements: by their places, by conditions, in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...core import dtypes
from ...core.dimensions import is_symbolic
from ...core.op import Op
from ...core.refuse import invalid
from ...values.bounds import host_value, refuse_rows
from ...values.record import apply
from ...values.tensor import Tensor, concrete
from .. import ordering as _of, selection as _selection
from ..arguments import as_int
from ..arithmetic import add, floormod, maximum, minimum, subtract
from ..casting import cast
from ..comparison import less, not_equal
from ..creation import fill
from ..gather_scatter import gather
from ..indexing import at
from ..joining import concat, unstack
from ..shapes import reshape, shape
from .arrays import as_array, promoted
from .shapes import atleast_1d, ravel


def _as_bools(condition: Any) -> Tensor:
    return cast(as_array(condition), dtypes.bool)


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """`x` where `condition` is true, `y` elsewhere, brought to one dtype.

    With `condition` alone: the same as `nonzero`.
    Raises: ValueError if only one of `x` and `y` is given.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.where([True, False], 1, 2.5).numpy().tolist()
    [1.0, 2.5]
    """
    condition = _as_bools(condition)
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("Both x and y must be ndarrays, or both must be None.")
    x, y = promoted(x, y)
    return _selection.where(condition, x, y)


def nonzero(a: Any) -> list[Tensor]:
    """Where `a`, whose value must be known, is not 0: for each axis the places along it.

    >>> import tape_compat as tf
    >>> [x.numpy().tolist() for x in tf.experimental.numpy.nonzero([[0, 1], [1, 0]])]
    [[0, 1], [1, 0]]
    """
    a = atleast_1d(a)
    return unstack(_selection.where(cast(a, dtypes.bool)), a.ndim, axis=1)


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Tensor:
    """Of `choicelist` each time the element whose condition is the first that holds.

    Args:
      condlist: bool arrays, which broadcast with the choices.
      default: where none of the conditions holds.
    Raises: ValueError if the lists differ in length or are empty.

    >>> import tape_compat as tf
    >>> x = tf.range(5)
    >>> tf.experimental.numpy.select([x < 2, x > 3], [x, x * 10], -1).numpy().tolist()
    [0, 1, -1, -1, 40]
    """
    if len(condlist) != len(choicelist):
        raise ValueError(
            f"condlist must have length equal to choicelist ({len(condlist)} vs {len(choicelist)})"
        )
    if not condlist:
        raise ValueError("condlist must be non-empty")
    found, *choices = promoted(default, *choicelist)
    for condition, choice in reversed(list(zip(condlist, choices, strict=True))):
        found = _selection.where(_as_bools(condition), choice, found)
    return found


def compress(condition: Any, a: Any, axis: int | None = None) -> Tensor:
    """The slices of `a` along `axis`, or its elements, where `condition` is true.

    Args:
      condition: a vector, whose value must be known; what it lacks is false.
    Raises: ValueError if it is no vector, or longer than the axis.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.compress([False, True], [[1, 2], [3, 4]], axis=1).numpy().tolist()
    [[2], [4]]
    """
    condition, a = _as_bools(condition), as_array(a)
    if condition.ndim != 1:
        raise ValueError("condition must be a 1-d array.")
    if axis is None or a.ndim == 0:
        a = ravel(a)
    axis = 0 if axis is None else axis % a.ndim
    missing = a._aval.shape[axis] - condition._aval.shape[0]
    if missing > 0:
        condition = concat([condition, fill([missing], False)], 0)
    return _selection.boolean_mask(a, condition, axis=axis)


def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "clip") -> Tensor:
    """The slices of `a` along `axis`, or its elements, at `indices`.

    Args:
      mode: "clip" (what is outside is the nearest inside, and negative ones are 0) or "wrap".
    Raises: ValueError for `out` and for other modes, "raise" too.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.take([1, 2, 3], [0, 5, -1], mode="wrap").numpy().tolist()
    [1, 3, 3]
    """
    if out is not None:
        raise ValueError("out argument is not supported in take.")
    if mode not in ("raise", "clip", "wrap"):
        raise ValueError(f"Invalid mode '{mode}' for take")
    if mode == "raise":
        raise ValueError("The 'raise' mode to take is not supported.")
    a, indices = as_array(a), as_array(indices)
    if axis is None:
        a, axis = reshape(a, [-1]), 0
    axis = as_int(axis)
    length = _length(a, axis, indices)
    if mode == "clip":
        one, zero = cast(1, indices.dtype), cast(0, indices.dtype)
        indices = maximum(minimum(indices, subtract(length, one)), zero)
    else:
        indices = floormod(indices, length)
    return gather(a, indices, axis=axis)


def from_start(places: Tensor, x: Tensor, axis: int) -> Tensor:
    """Places along an axis of `x`; those counted from the end as such from the start."""
    known, length = host_value(places), x._aval.shape[axis]
    if known is not None and not is_symbolic(length):
        return concrete(np.where(known < 0, known + length, known).astype(known.dtype))
    below = less(places, cast(0, places.dtype))
    return _selection.where(below, add(places, _length(x, axis, places)), places)


def _length(x: Tensor, axis: int, like: Tensor) -> Tensor:
    """The size of an axis, in the dtype of places along it."""
    return at(shape(x, like.dtype), (axis,), ())


_TAKE_ALONG = Op(
    lambda x, places, axis: jnp.take_along_axis(x, places, axis, mode="fill", fill_value=0),
    "GatherV2",
)


def take_along_axis(arr: Any, indices: Any, axis: Any) -> Tensor:
    """For each place the element of `arr` that lies at `indices` along `axis`.

    The other axes broadcast. axis: None for flattened arrays.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.take_along_axis([[3, 1, 2]], [[1, 2, 0]], 1).numpy().tolist()
    [[1, 2, 3]]
    """
    x, indices = as_array(arr), as_array(indices)
    if axis is None:
        x, axis = ravel(x), 0
    axis = as_int(axis)
    if not -x.ndim <= axis < x.ndim:
        raise invalid(f"axis {axis} is out of bounds for an array of {x.ndim} axes", "GatherV2")
    axis %= x.ndim
    indices = from_start(indices, x, axis)
    refuse_rows(indices, x._aval.shape[axis], "GatherV2")
    return apply(_TAKE_ALONG.bind(axis=axis), (x, indices))


def ix_(*args: Any) -> list[Tensor]:
    """Vectors, each along an axis of its own: the index of a grid. Of bools, where they are true.

    Raises: ValueError for what is no vector, or neither of integers nor of bools.

    >>> import tape_compat as tf
    >>> [x.numpy().tolist() for x in tf.experimental.numpy.ix_([0, 2], [True, True])]
    [[[0], [2]], [[0, 1]]]
    """
    found = []
    for i, arg in enumerate(args):
        x = as_array(arg)
        if x.ndim != 1:
            raise ValueError(f"Arguments must be 1-d, got arg {i} of rank {x.ndim}")
        if not x.dtype.is_bool and not x.dtype.is_integer:
            raise ValueError(f"Only integer and bool dtypes are supported, got {x.dtype}")
        places = nonzero(x)[0] if x.dtype.is_bool else x
        found.append(reshape(places, [-1 if k == i else 1 for k in range(len(args))]))
    return found


def _refuse_order(order: Any) -> None:
    if order is not None:
        raise ValueError("The `order` argument is not supported. Pass order=None")


def sort(a: Any, axis: Any = -1, kind: str = "quicksort", order: Any = None) -> Tensor:
    """`a` sorted along `axis`, flattened if None.

    Raises: ValueError for another `kind`, and for `order`.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.sort([3, 1, 2]).numpy().tolist()
    [1, 2, 3]
    """
    if kind != "quicksort":
        raise ValueError(
            "Invalid value for argument `kind`. "
            f'Only kind="quicksort" is supported. Received: kind={kind}'
        )
    _refuse_order(order)
    return _of.sort(ravel(a), 0) if axis is None else _of.sort(as_array(a), axis)


def argsort(a: Any, axis: Any = -1, kind: str = "quicksort", order: Any = None) -> Tensor:
    """The places (int64) that sort `a` along `axis`, flattened if None.

    Raises: ValueError for a `kind` that is neither "quicksort" nor "stable", and for `order`;
      TypeError for complex numbers.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.argsort([3, 1, 2]).numpy().tolist()
    [1, 2, 0]
    """
    if kind not in ("quicksort", "stable"):
        raise ValueError(
            "Invalid value for argument `kind`. Only kind="
            f'"quicksort" and kind="stable" are supported. Received: kind={kind}'
        )
    _refuse_order(order)
    a = as_array(a)
    if a.dtype.is_complex:
        raise TypeError(
            f"argsort does not support complex64/complex128 dtypes. Received dtype: {a.dtype}"
        )
    if axis is None or a.ndim == 0:
        a, axis = ravel(a), 0
    return cast(_of.argsort(a, axis), np.intp)


def diff(a: Any, n: int = 1, axis: int = -1) -> Tensor:
    """The n-th differences of neighbours along `axis`; of bools, whether they differ.

    Raises: ValueError for an `axis` that is not there and for a negative `n`.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.diff([1, 4, 9]).numpy().tolist()
    [3, 5]
    """
    a = as_array(a)
    rank = a.ndim
    if (axis + rank if axis < 0 else axis) >= rank:
        raise ValueError(
            f"Argument `axis` (received axis={axis}) is out of bounds for input {a} of rank {rank}."
        )
    if n < 0:
        raise ValueError(f"Argument `order` must be a non-negative integer. Received: axis={n}")
    before: list[Any] = [(None, None, None)] * rank
    after = list(before)
    before[axis], after[axis] = (None, -1, None), (1, None, None)
    differ = not_equal if a.dtype.is_bool else subtract
    for _ in range(n):
        a = differ(at(a, tuple(after), ()), at(a, tuple(before), ()))
    return a
