"""`tf.compat.v1.strings`: names whose arguments differ from those of `tf.strings`."""

from ..._src.interop.version1 import face as _face
from ..._src.library.version1.texts_and_sparse import (
    length as length,
    reduce_join as reduce_join,
    split as split,
    substr as substr,
    to_hash_bucket as to_hash_bucket,
    to_number as to_number,
)

_face(__name__)
