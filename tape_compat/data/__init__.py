"""`tf.data`: datasets of elements, streamed."""

from .._src.data.dataset import Dataset as Dataset
from .._src.data.io.files import (
    FixedLengthRecordDataset as FixedLengthRecordDataset,
    TextLineDataset as TextLineDataset,
    TFRecordDataset as TFRecordDataset,
)
from .._src.data.iterator import Iterator as Iterator, NumpyIterator as NumpyIterator
from .._src.data.options import Options as Options, ThreadingOptions as ThreadingOptions
from .._src.data.pipeline import (
    AUTOTUNE as AUTOTUNE,
    INFINITE as INFINITE_CARDINALITY,
    UNKNOWN as UNKNOWN_CARDINALITY,
)
from .._src.data.specs import DatasetSpec as DatasetSpec, IteratorSpec as IteratorSpec
from .._src.interop.names import face as _face
from . import experimental as experimental

_face(__name__)
