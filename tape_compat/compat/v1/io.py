"""`tf.compat.v1.io`: the records of files."""

from ..._src.data.io.records import tf_record_iterator as tf_record_iterator
from ..._src.interop.version1 import face as _face
from ..._src.library.version1.others import (
    TFRecordCompressionType as TFRecordCompressionType,
)
from ..._src.library.version1.texts_and_sparse import (
    decode_csv as decode_csv,
    decode_raw as decode_raw,
    parse_example as parse_example,
    parse_single_example as parse_single_example,
    serialize_many_sparse as serialize_many_sparse,
    serialize_sparse as serialize_sparse,
)

_face(__name__)
