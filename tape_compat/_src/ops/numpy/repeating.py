"""Functions that repeat arrays, and lay several together or one apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...values.tensor import Tensor
from .. import joining as _of, repeating as _repeating
from ..arguments import as_int, dims, known_value
from ..shapes import reshape
from .arrays import as_array, converted, promoted
from .creation import full
from .shapes import atleast_1d, atleast_2d, atleast_3d, moveaxis, ravel


def broadcast_to(array: Any, shape: Any) -> Tensor:
    """`array` broadcast to `shape`.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.broadcast_to([1, 2], (2, 2)).numpy().tolist()
    [[1, 2], [1, 2]]
    """
    return full(shape, array)


def tile(a: Any, reps: Any) -> Tensor:
    """`a` laid so many times along each axis; axes that either lacks are added in front.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.tile([1, 2], (2, 2)).numpy().tolist()
    [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    a, times = as_array(a), list(dims(reps))
    shape = list(a._aval.shape)
    n = max(len(shape), len(times))
    if len(shape) < n:
        a = reshape(a, [1] * (n - len(shape)) + shape)
    return _repeating.tile(a, [1] * (n - len(times)) + times)


def repeat(a: Any, repeats: Any, axis: Any = None) -> Tensor:
    """Each element along `axis` (of the flattened array if None) `repeats` times.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.repeat([1, 2], [1, 2]).numpy().tolist()
    [1, 2, 2]
    """
    return _repeating.repeat(as_array(a), repeats, axis)


def pad(array: Any, pad_width: Any, mode: str, **kwargs: Any) -> Tensor:
    """`array` with `pad_width[i]` = (before, after) elements added along each axis i.

    Args:
      mode: "constant" (filled with `constant_values`, 0 if not given), "reflect" or "symmetric".
    Raises: ValueError for another mode, TypeError for other options of NumPy's.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.pad([1, 2], [(1, 2)], "constant").numpy().tolist()
    [0, 1, 2, 0, 0]
    """
    filler = kwargs.pop("constant_values", 0)
    if kwargs:
        raise TypeError(f"pad() got an unexpected keyword argument {min(kwargs)!r}")
    if mode not in ("constant", "reflect", "symmetric"):
        raise ValueError("Unsupported padding mode: " + mode)
    array = as_array(array)
    if mode == "constant" and not (filler.__class__ is int and filler == 0):
        filler = converted(filler, array.dtype)
    return _of.pad(array, pad_width, mode, filler)


def concatenate(arys: Any, axis: Any = 0) -> Tensor:
    """Arrays laid one behind the other along `axis`, brought to one dtype.

    Raises: ValueError if there are none.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.concatenate([[1, 2], [3.5]]).numpy().tolist()
    [1.0, 2.0, 3.5]
    """
    if not isinstance(arys, (list, tuple)):
        arys = [arys]
    if not arys:
        raise ValueError(
            f"Need at least one array to concatenate. Received empty input: arys={arys}"
        )
    return _of.concat(list(promoted(*arys)), axis)


def append(arr: Any, values: Any, axis: Any = None) -> Tensor:
    """`values` behind `arr` along `axis`, or both flattened.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.append([[1, 2]], 3).numpy().tolist()
    [1, 2, 3]
    """
    if axis is None:
        return concatenate([ravel(arr), ravel(values)], 0)
    return concatenate([arr, values], axis)


def stack(arrays: Any, axis: Any = 0) -> Tensor:
    """Arrays of one shape side by side along a new `axis`, brought to one dtype.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.stack([[1, 2], [3, 4]], 1).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    if isinstance(arrays, Tensor):
        return moveaxis(arrays, 0, axis)
    return _of.stack(list(promoted(*arrays)), axis)


def _stacked(at_least: Callable[[Any], Tensor], tup: Any) -> Sequence[Tensor]:
    arrays = promoted(*[at_least(x) for x in tup])
    if not arrays:
        raise ValueError("Need at least one array to stack.")
    return arrays


def hstack(tup: Any) -> Tensor:
    """Arrays one behind the other along axis 1, vectors along axis 0.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.hstack([[1, 2], 3]).numpy().tolist()
    [1, 2, 3]
    """
    arrays = _stacked(atleast_1d, tup)
    return _of.concat(list(arrays), 0 if arrays[0].ndim == 1 else 1)


def vstack(tup: Any) -> Tensor:
    """Arrays one below the other along axis 0, vectors as rows.

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.vstack([[1, 2], [3, 4]]).numpy().tolist()
    [[1, 2], [3, 4]]
    """
    return _of.concat(list(_stacked(atleast_2d, tup)), 0)


def dstack(tup: Any) -> Tensor:
    """Arrays one behind the other along axis 2, vectors as [1, n, 1].

    >>> import tape_compat as tf
    >>> tf.experimental.numpy.dstack([[1, 2], [3, 4]]).numpy().tolist()
    [[[1, 3], [2, 4]]]
    """
    return _of.concat(list(_stacked(atleast_3d, tup)), 2)


def split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[Tensor]:
    """`ary` cut along `axis` into so many equal parts, or at these places.

    Raises: ValueError for an axis that is not there, and for places that go back.

    >>> import tape_compat as tf
    >>> [x.numpy().tolist() for x in tf.experimental.numpy.split([1, 2, 3, 4], [1, 3])]
    [[1], [2, 3], [4]]
    """
    a, axis = as_array(ary), as_int(axis)
    if isinstance(indices_or_sections, int):
        return _of.split(a, indices_or_sections, axis)
    return _of.split(a, _sizes(a, indices_or_sections, axis), axis)


def _sizes(a: Tensor, places: Any, axis: int) -> list[Any]:
    """The sizes of the parts between these places."""
    if axis >= a.ndim:
        raise ValueError(f"axis {axis} is out of bound for shape {a.shape}")
    length, sizes, before = a._aval.shape[axis], [], 0
    for i, place in enumerate(known_value(places).tolist()):
        if place < before:
            raise ValueError(
                f"The {i}-th boundary {place} is smaller than the previous boundary {before}"
            )
        sizes.append(min(place, length) - min(before, length))
        before = place
    return [*sizes, length - min(before, length)]


def _split_along(name: str, axis: int) -> Callable[[Any, Any], list[Tensor]]:
    def call(ary: Any, indices_or_sections: Any) -> list[Tensor]:
        a = as_array(ary)
        along = 0 if axis == 1 and a.ndim == 1 else axis
        if isinstance(indices_or_sections, int) and along < a.ndim:
            if a._aval.shape[along] % indices_or_sections:
                raise ValueError("array split does not result in an equal division")
        return split(a, indices_or_sections, along)

    call.__doc__ = f"`split` along axis {axis}{', of vectors along axis 0' if axis == 1 else ''}."
    call.__name__ = call.__qualname__ = name
    return call


vsplit = _split_along("vsplit", 0)
hsplit = _split_along("hsplit", 1)
dsplit = _split_along("dsplit", 2)
