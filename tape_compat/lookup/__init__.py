"""`tf.lookup`: tables."""

from .._src.interop.names import face as _face
from .._src.library.lookup.initializers import (
    KeyValueTensorInitializer as KeyValueTensorInitializer,
    TextFileIndex as TextFileIndex,
    TextFileInitializer as TextFileInitializer,
)
from .._src.library.lookup.static import (
    StaticHashTable as StaticHashTable,
    StaticVocabularyTable as StaticVocabularyTable,
)
from . import experimental as experimental

_face(__name__)
