"""`tf.compat.v1.data`: datasets that give iterators, and functions on them."""

from ...._src.data.iterator import Iterator as Iterator
from ...._src.interop.version1 import face as _face
from ...._src.library.version1.data import (
    Dataset as Dataset,
    FixedLengthRecordDataset as FixedLengthRecordDataset,
    TextLineDataset as TextLineDataset,
    TFRecordDataset as TFRecordDataset,
    get_output_classes as get_output_classes,
    get_output_shapes as get_output_shapes,
    get_output_types as get_output_types,
    make_initializable_iterator as make_initializable_iterator,
    make_one_shot_iterator as make_one_shot_iterator,
)
from . import experimental as experimental

_face(__name__)
