"""`tf.nest`: functions over nested structures."""

from ._src.interop.names import face as _face
from ._src.values.nest import (
    assert_same_structure as assert_same_structure,
    flatten as flatten,
    is_nested as is_nested,
    map_structure as map_structure,
    pack_sequence_as as pack_sequence_as,
)

_face(__name__)
