"""`tf.io`: files, records, images in files, and tensors as bytes."""

from .._src.data.io.contents import (
    decode_raw as decode_raw,
    matching_files as matching_files,
    parse_tensor as parse_tensor,
    read_file as read_file,
    serialize_tensor as serialize_tensor,
    write_file as write_file,
)
from .._src.data.io.csv_text import decode_csv as decode_csv
from .._src.data.io.parsing import (
    FixedLenFeature as FixedLenFeature,
    FixedLenSequenceFeature as FixedLenSequenceFeature,
    VarLenFeature as VarLenFeature,
    parse_example as parse_example,
    parse_single_example as parse_single_example,
)
from .._src.data.io.records import (
    TFRecordOptions as TFRecordOptions,
    TFRecordWriter as TFRecordWriter,
)
from .._src.interop.names import face as _face
from .._src.ops.images.files import (
    decode_bmp as decode_bmp,
    decode_gif as decode_gif,
    decode_image as decode_image,
    decode_jpeg as decode_jpeg,
    decode_png as decode_png,
    encode_jpeg as encode_jpeg,
    encode_png as encode_png,
    is_jpeg as is_jpeg,
)
from .._src.ops.strings import decode_base64 as decode_base64, encode_base64 as encode_base64
from . import gfile as gfile

_face(__name__)
