"""Abstract values: the shape and dtype of a tensor, interned so that identity is equality.

Interning makes an aval a cheap dictionary key, which is what recording an op mostly does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from weakref import WeakValueDictionary

import jax
import numpy as np

from . import dtypes, limits
from .caches import keep, register
from .dimensions import Shape, Sizes, is_symbolic, is_unknown, product
from .dtypes import DType
from .native import native
from .shapes import TensorShape

_INTERNED: WeakValueDictionary[tuple, Aval] = WeakValueDictionary()

#: Those of the last arrays, by shape and dtype of NumPy: a table of weak references is asked by
#: Python code, 0.6 us.
_RECENT: dict[tuple, Aval] = {}
register("avals of arrays", _RECENT.clear, _RECENT.__len__)


class Packed:
    """Marks a scalar leaf that travels in the packed vector of its dtype."""

    __slots__ = ("aval",)

    def __init__(self, aval: Aval):
        self.aval = aval


@native
class Aval:
    """Shape and dtype of one array. Make one with `Aval.of`, which interns.

    unknown: whether a size is an expression, see `dimensions.py`; then `size` is one too, and
    `nbytes` is 0.

    plain: whether an array of the host is a leaf like one of the device when it is first used: it
    is no scalar, no text, and too small to be moved at once.
    """

    __slots__ = (
        "__weakref__",
        "_tensor_shape",
        "dtype",
        "floating",
        "nbytes",
        "np_dtype",
        "packed",
        "plain",
        "scalar",
        "shape",
        "size",
        "trainable",
        "unknown",
    )

    def __init__(self, shape: Shape, dtype: DType):
        self.shape = shape
        self.unknown = is_unknown(shape)
        self.dtype = dtype
        self.np_dtype = dtype.np_dtype
        self.size = product(shape)
        self.nbytes = 0 if self.unknown else self.size * self.np_dtype.itemsize
        self.trainable = dtype.trainable
        self.floating = dtype.is_floating
        self.packed = Packed(self) if shape == () else None
        self.plain = (
            bool(shape)
            and not self.unknown
            and self.np_dtype.kind != "O"
            and self.nbytes < limits.MOVE_AT_FIRST_USE_BYTES
        )
        #: The aval of one element.
        self.scalar: Aval = Aval.of((), dtype) if shape else self
        self._tensor_shape: TensorShape | None = None

    @staticmethod
    def of(shape: Shape, dtype: DType) -> Aval:
        """The one `Aval` of this shape and dtype."""
        key = (shape, dtype.name)
        found = _INTERNED.get(key)
        if found is None:
            found = _INTERNED.setdefault(key, Aval(shape, dtype))
        return found

    @staticmethod
    def of_array(array: jax.Array | np.ndarray) -> Aval:
        """The aval of a concrete array."""
        key = array.shape, array.dtype
        found = _RECENT.get(key)
        if found is None:
            aval = Aval.of(array.shape, dtypes.from_numpy(array.dtype))
            found = keep(_RECENT, key, aval, limits.MAX_RECENT_AVALS)
        return found

    @property
    def tensor_shape(self) -> TensorShape:
        if self._tensor_shape is None:
            shape = self.shape
            if self.unknown:
                shape = tuple([None if is_symbolic(size) else size for size in shape])
            self._tensor_shape = TensorShape._from_tuple(shape)
        return self._tensor_shape

    def at(self, sizes: Sizes) -> Aval:
        """It with sizes for the unknown ones."""
        return Aval.of(sizes.shape(self.shape), self.dtype) if self.unknown else self

    @property
    def row(self) -> Aval:
        """The aval of a row of it."""
        return Aval.of(self.shape[1:], self.dtype)

    @property
    def struct(self) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(self.shape, self.np_dtype)

    def __repr__(self) -> str:
        return f"{self.dtype.name}{list(self.shape)}"


def matched(places: Iterable[tuple[int, Aval]], room: Iterable[Aval]) -> tuple[int, ...]:
    """The places, in order, of which each finds one of its aval in `room` that no other has.

    >>> one, two = Aval.of((1,), dtypes.float32), Aval.of((2,), dtypes.float32)
    >>> matched([(0, one), (1, one), (2, two)], [two, one])
    (0, 2)
    """
    left = Counter(room)
    found = []
    for place, aval in places:
        if left[aval]:
            left[aval] -= 1
            found.append(place)
    return tuple(found)
