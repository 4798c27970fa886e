"""TensorShape, a shape that may be partly unknown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias, overload

from .dimension import Dimension, size_of

__all__ = ["Dimension", "TensorShape", "as_shape", "broadcast_static_shape"]

Dims: TypeAlias = "tuple[int | None, ...]"
ShapeLike: TypeAlias = "TensorShape | Iterable[Any] | int | None"


def _as_dims(dims: Any) -> Dims | None:
    """The sizes that `dims` names, None for an unknown rank."""
    if dims is None:
        return None
    if isinstance(dims, TensorShape):
        return dims._dims
    if isinstance(dims, (str, bytes)):
        raise TypeError(
            f"Failed to convert '{dims!r}' to a shape: a shape is a single size (such as 10) or "
            "an iterable of sizes (such as [1, 10, None])."
        )
    try:
        sizes = iter(dims)
    except TypeError:
        return (size_of(dims),)
    return tuple([size_of(size) for size in sizes])


def _compatible(x: Dims | None, y: Dims | None) -> bool:
    if x is None or y is None:
        return True
    return len(x) == len(y) and all(a is None or b is None or a == b for a, b in zip(x, y))


class TensorShape:
    """The shape of a Tensor: sizes that may be None, unknown, or an unknown rank altogether.

    Args:
      dims: None (nothing known), an iterable of sizes, each an int or None, or one size.
    Raises: TypeError if a size is no integer, ValueError if it is negative.

    It behaves like a tuple of its sizes where the rank is known. Slices and sums are shapes.

    >>> import tape_compat as tf
    >>> shape = tf.TensorShape([2, None])
    >>> shape, str(shape), shape.rank, shape[0], shape + [3]
    (TensorShape([2, None]), '(2, None)', 2, 2, TensorShape([2, None, 3]))
    >>> shape.is_compatible_with([2, 5]), shape.is_fully_defined()
    (True, False)
    """

    __slots__ = ("_dims",)

    _dims: Dims | None

    def __init__(self, dims: ShapeLike) -> None:
        self._dims = _as_dims(dims)

    @classmethod
    def _from_tuple(cls, dims: Dims | None) -> TensorShape:
        """The shape with these sizes, which must be valid: nothing is checked."""
        shape = object.__new__(cls)
        shape._dims = dims
        return shape

    @property
    def rank(self) -> int | None:
        """The number of axes, None if unknown."""
        return None if self._dims is None else len(self._dims)

    ndims = rank

    @property
    def dims(self) -> list[Dimension] | None:
        """The sizes as `Dimension` objects, None if the rank is unknown."""
        return None if self._dims is None else [Dimension(size) for size in self._dims]

    def as_list(self) -> list[int | None]:
        """The sizes as a list. Raises ValueError if the rank is unknown."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def num_elements(self) -> int | None:
        """The product of the sizes, None if one is unknown."""
        if self._dims is None or None in self._dims:
            return None
        return math.prod(size for size in self._dims if size is not None)

    def is_fully_defined(self) -> bool:
        """Whether every size is known."""
        return self._dims is not None and None not in self._dims

    def is_compatible_with(self, other: ShapeLike) -> bool:
        """Whether a Tensor could have both shapes."""
        return _compatible(self._dims, _as_dims(other))

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every Tensor of this shape has the shape `other` too."""
        if not isinstance(other, TensorShape):
            return False
        if other._dims is None:
            return True
        if self._dims is None or len(self._dims) != len(other._dims):
            return False
        return all(b is None or a == b for a, b in zip(self._dims, other._dims))

    def most_specific_compatible_shape(self, other: ShapeLike) -> TensorShape:
        """The most that is true of both shapes: sizes that differ become None."""
        x, y = self._dims, _as_dims(other)
        if x is None or y is None or len(x) != len(y):
            return TensorShape(None)
        return TensorShape._from_tuple(tuple(a if a == b else None for a, b in zip(x, y)))

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TensorShape | None:
        """The most that is true of this shape and all `others`; None if one is no TensorShape."""
        if not all(isinstance(other, TensorShape) for other in others):
            return None
        shape = self
        for other in others:
            shape = shape.most_specific_compatible_shape(other)
        return shape

    def merge_with(self, other: ShapeLike) -> TensorShape:
        """What both shapes say together. Raises ValueError if they contradict each other."""
        other = as_shape(other)
        x, y = self._dims, other._dims
        if not _compatible(x, y):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        if x is None or y is None:
            return other if x is None else self
        return TensorShape._from_tuple(tuple(b if a is None else a for a, b in zip(x, y)))

    def concatenate(self, other: ShapeLike) -> TensorShape:
        """The sizes of this shape, then those of `other`; unknown if a rank is."""
        tail = _as_dims(other)
        if self._dims is None or tail is None:
            return TensorShape(None)
        return TensorShape._from_tuple(self._dims + tail)

    def with_rank(self, rank: int) -> TensorShape:
        """This shape if it has, or may have, that rank. Raises ValueError if not."""
        if self._dims is None:
            return TensorShape._from_tuple((None,) * rank)
        if len(self._dims) != rank:
            raise ValueError(f"Shape {self} must have rank {rank}")
        return self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape if its rank may be `rank` or more. Raises ValueError if not."""
        if self._dims is not None and len(self._dims) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """This shape if its rank may be `rank` or less. Raises ValueError if not."""
        if self._dims is not None and len(self._dims) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def assert_has_rank(self, rank: int) -> None:
        """Raises ValueError if the rank is known and is another."""
        self.with_rank(rank)

    def assert_same_rank(self, other: ShapeLike) -> None:
        """Raises ValueError if both ranks are known and differ."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return
        if len(self._dims) != len(other._dims):
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_is_compatible_with(self, other: ShapeLike) -> None:
        """Raises ValueError if no Tensor could have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def assert_is_fully_defined(self) -> None:
        """Raises ValueError if a size is unknown."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __bool__(self) -> bool:
        """Whether the rank is known."""
        return self._dims is not None

    def __iter__(self) -> Iterator[int | None]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims)

    @overload
    def __getitem__(self, key: int) -> Any: ...
    @overload
    def __getitem__(self, key: slice) -> TensorShape: ...
    def __getitem__(self, key: int | slice) -> Any:
        if self._dims is not None:
            found = self._dims[key]
            return TensorShape._from_tuple(found) if isinstance(found, tuple) else found
        if not isinstance(key, slice):
            return None
        if key.step is not None:
            raise ValueError("Steps are not yet handled")
        start = key.start or 0
        if key.stop is None or start < 0 or key.stop < 0:
            return TensorShape(None)
        return TensorShape._from_tuple((None,) * (key.stop - start))

    def __add__(self, other: ShapeLike) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: ShapeLike) -> TensorShape:
        return as_shape(other).concatenate(self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TensorShape):
            return self._dims == other._dims
        try:
            return self._dims == _as_dims(other)
        except (TypeError, ValueError):
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorShape, (None if self._dims is None else list(self._dims),)

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else list(self._dims)})"

    def __str__(self) -> str:
        return "<unknown>" if self._dims is None else str(self._dims)


def as_shape(shape: ShapeLike) -> TensorShape:
    """`shape` as a TensorShape; itself if it is one."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def broadcast_static_shape(shape_x: TensorShape, shape_y: TensorShape) -> TensorShape:
    """The shape to which Tensors of the two shapes broadcast together.

    Args:
      shape_x, shape_y: TensorShapes, or sequences of sizes.
    Raises: ValueError if the shapes do not broadcast.

    >>> import tape_compat as tf
    >>> tf.broadcast_static_shape(tf.TensorShape([1, 2]), tf.TensorShape([3, 1]))
    TensorShape([3, 2])
    """
    shape_x, shape_y = as_shape(shape_x), as_shape(shape_y)
    x, y = shape_x._dims, shape_y._dims
    if x is None or y is None:
        return TensorShape(None)
    rank = max(len(x), len(y))
    x = (1,) * (rank - len(x)) + x
    y = (1,) * (rank - len(y)) + y
    dims: list[int | None] = []
    for a, b in zip(x, y):
        if a == b or b == 1:
            dims.append(a)
        elif a == 1:
            dims.append(b)
        elif a is None or b is None:
            dims.append(b if a is None else a)  # the unknown size is 1 or the known one
        else:
            raise ValueError(
                "Incompatible shapes for broadcasting. Two shapes are compatible if for each "
                "dimension pair they are either equal or one of them is 1. "
                f"Received: {shape_x} and {shape_y}."
            )
    return TensorShape._from_tuple(tuple(dims))
