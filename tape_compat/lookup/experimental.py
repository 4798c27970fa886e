"""`tf.lookup.experimental`: tables that change."""

from .._src.interop.names import face as _face
from .._src.library.lookup.mutable import (
    DenseHashTable as DenseHashTable,
    MutableHashTable as MutableHashTable,
)

_face(__name__)
