"""`tf.compat.v1.lookup`: tables."""

from ..._src.interop.version1 import face as _face
from ..._src.library.lookup.static import (
    StaticHashTable as StaticHashTable,
    StaticVocabularyTable as StaticVocabularyTable,
)

_face(__name__)
