"""Functions that move elements and change shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...values.tensor import Tensor
from .. import shapes as _of
from ..arguments import as_int, dims
from ..ordering import reverse, roll as _roll
from ..repeating import broadcast_to
from .arrays import as_array


def reshape(a: Any, newshape: Any, order: str = "C") -> Tensor:
    """The elements of `a` in another shape, read and laid by rows ("C") or by columns ("F").

    Raises: ValueError for another `order`.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.reshape([1, 2, 3, 4], (2, -1), order="F").numpy().tolist()
    [[1, 3], [2, 4]]
    """
    if order not in ("C", "F"):
        raise ValueError(f"Unsupported order argument {order}")
    a, wanted = as_array(a), dims(newshape)
    if order == "C":
        return _of.reshape(a, wanted)
    return _of.transpose(_of.reshape(_of.transpose(a), wanted[::-1]))


def ravel(a: Any) -> Tensor:
    """`a` as a vector, by rows.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.ravel([[1, 2], [3, 4]]).numpy().tolist()
    [1, 2, 3, 4]
    """
    return _of.reshape(as_array(a), [-1])


def flatten(a: Any, order: str = "C") -> Tensor:
    """`a` as a vector, by rows ("C", "A", "K") or by columns ("F").

    Raises: ValueError for another `order`.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.flatten([[1, 2], [3, 4]], "F").numpy().tolist()
    [1, 3, 2, 4]
    """
    if order in ("C", "A", "K"):
        return ravel(a)
    if order != "F":
        raise ValueError("order can only be C, A, K (all row major) or F (column major).")
    return _of.reshape(_of.transpose(as_array(a)), [-1])


def expand_dims(a: Any, axis: Any) -> Tensor:
    """`a` with an axis of size 1 before `axis`.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.expand_dims([1, 2], -1).numpy().tolist()
    [[1], [2]]
    """
    return _of.expand_dims(as_array(a), axis)


def squeeze(a: Any, axis: Any = None) -> Tensor:
    """`a` without the axes of size 1, or those of them that `axis` names.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.squeeze([[1, 2]]).numpy().tolist()
    [1, 2]
    """
    return _of.squeeze(as_array(a), axis)


def transpose(a: Any, axes: Any = None) -> Tensor:
    """`a` with its axes reversed, or in the order of `axes`.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.transpose([[1, 2]]).numpy().tolist()
    [[1], [2]]
    """
    return _of.transpose(as_array(a), axes)


def swapaxes(a: Any, axis1: Any, axis2: Any) -> Tensor:
    """`a` with two axes in each other's place.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.swapaxes([[1, 2]], 0, 1).numpy().tolist()
    [[1], [2]]
    """
    a = as_array(a)
    order = list(range(a.ndim))
    one, other = as_int(axis1), as_int(axis2)
    order[one], order[other] = order[other], order[one]
    return _of.transpose(a, order)


def moveaxis(a: Any, source: Any, destination: Any) -> Tensor:
    """`a` with the axes `source`, one or several, at the places `destination`.

    Raises: ValueError if they are not as many.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.moveaxis([[1, 2]], 0, 1).numpy().tolist()
    [[1], [2]]
    """
    a = as_array(a)
    sources, places = dims(source), dims(destination)
    if len(sources) != len(places):
        raise ValueError("The lengths of source and destination must equal")
    n = a.ndim
    sources = [axis + n if axis < 0 else axis for axis in sources]
    order = [axis for axis in range(n) if axis not in sources]
    for place, axis in sorted((d + n if d < 0 else d, s) for d, s in zip(places, sources)):
        order.insert(place, axis)
    return a if order == list(range(n)) else _of.transpose(a, order)


def _at_least(n: int, arrays: Sequence[Any], widened: Callable[[list[Any]], list[Any]]) -> Any:
    found = []
    for value in arrays:
        x = as_array(value)
        shape = list(x._aval.shape)
        found.append(x if len(shape) >= n else _of.reshape(x, widened(shape)))
    return found[0] if len(found) == 1 else found


def atleast_1d(*arys: Any) -> Any:
    """Arrays of at least one axis; a list if several are given.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.atleast_1d(3).numpy().tolist()
    [3]
    """
    return _at_least(1, arys, lambda shape: [1])


def atleast_2d(*arys: Any) -> Any:
    """Arrays of at least two axes, new ones in front; a list if several are given.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.atleast_2d([3, 4]).numpy().tolist()
    [[3, 4]]
    """
    return _at_least(2, arys, lambda shape: [1] * (2 - len(shape)) + shape)


def atleast_3d(*arys: Any) -> Any:
    """Arrays of at least three axes, [1, n, 1] of vectors; a list if several are given.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.atleast_3d([[1, 2]]).shape
    TensorShape([1, 2, 1])
    """
    ways = ([1, 1, 1], [1, None, 1], [None, None, 1])

    def widened(shape: list[Any]) -> list[Any]:
        sizes = iter(shape)
        return [next(sizes) if n is None else n for n in ways[len(shape)]]

    return _at_least(3, arys, widened)


def broadcast_arrays(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Arrays, each broadcast to the shape that they have in common.

    Raises: ValueError for `subok=True` and for other options.

    >>> import tape_compat as tf
    >>> [x.numpy().tolist() for x in tf.experimental.numpy.broadcast_arrays([1, 2], [3])]
    [[1, 2], [3, 3]]
    """
    if kwargs.pop("subok", False):
        raise ValueError("subok=True is not supported.")
    if kwargs:
        raise ValueError(f"Received unsupported arguments {kwargs.keys()}")
    arrays = [as_array(arg) for arg in args]
    if len(arrays) < 2:
        return arrays
    common = _of.shape(arrays[0])
    for x in arrays[1:]:
        common = _of.broadcast_dynamic_shape(common, _of.shape(x))
    return [broadcast_to(x, common) for x in arrays]


def flip(m: Any, axis: Any = None) -> Tensor:
    """`m` backwards along `axis`, or along all axes.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.flip([[1, 2], [3, 4]]).numpy().tolist()
    [[4, 3], [2, 1]]
    """
    m = as_array(m)
    return reverse(m, list(range(m.ndim)) if axis is None else [as_int(axis)])


def flipud(m: Any) -> Tensor:
    """`m` backwards along axis 0.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.flipud([[1, 2], [3, 4]]).numpy().tolist()
    [[3, 4], [1, 2]]
    """
    return flip(m, 0)


def fliplr(m: Any) -> Tensor:
    """`m` backwards along axis 1.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.fliplr([[1, 2], [3, 4]]).numpy().tolist()
    [[2, 1], [4, 3]]
    """
    return flip(m, 1)


def roll(a: Any, shift: Any, axis: Any = None) -> Tensor:
    """`a` moved by `shift` places along `axis`, or as a vector; what leaves comes in again.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.roll([[1, 2], [3, 4]], 1).numpy().tolist()
    [[4, 1], [2, 3]]
    """
    a = as_array(a)
    if axis is not None:
        return _roll(a, shift, axis)
    return _of.reshape(_roll(_of.reshape(a, [-1]), shift, 0), a._aval.shape)


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Tensor:
    """`m` turned by k times 90 degrees in the plane of two axes, from the first to the second.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.rot90([[1, 2], [3, 4]]).numpy().tolist()
    [[2, 4], [1, 3]]
    """
    m, (one, other), turns = as_array(m), dims(axes), as_int(k) % 4
    if turns == 0:
        return m
    if turns == 2:
        return reverse(m, [one, other])
    if turns == 1:
        return swapaxes(flip(m, other), one, other)
    return flip(swapaxes(m, one, other), other)
