"""`tf.compat.v1.python_io`: the records of files."""

from ..._src.data.io.records import (
    tf_record_iterator as tf_record_iterator,
)
from ..._src.interop.version1 import face as _face
from ..._src.library.version1.others import (
    TFRecordCompressionType as TFRecordCompressionType,
)

_face(__name__)
