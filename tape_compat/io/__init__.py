"""`tf.io`: files, records, images in files, and tensors as bytes."""

from .._src.data.io.composite_features import (
    RaggedFeature as RaggedFeature,
    SparseFeature as SparseFeature,
)
from .._src.data.io.contents import (
    decode_compressed as decode_compressed,
    decode_raw as decode_raw,
    match_filenames_once as match_filenames_once,
    matching_files as matching_files,
    parse_tensor as parse_tensor,
    read_file as read_file,
    serialize_tensor as serialize_tensor,
    write_file as write_file,
)
from .._src.data.io.csv_text import decode_csv as decode_csv
from .._src.data.io.example_json import decode_json_example as decode_json_example
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
from .._src.data.io.sequences import (
    parse_sequence_example as parse_sequence_example,
    parse_single_sequence_example as parse_single_sequence_example,
)
from .._src.data.io.serialized_sparse import (
    deserialize_many_sparse as deserialize_many_sparse,
    serialize_many_sparse as serialize_many_sparse,
    serialize_sparse as serialize_sparse,
)
from .._src.interop.names import face as _face
from .._src.ops.images.files import (
    decode_bmp as decode_bmp,
    decode_gif as decode_gif,
    decode_image as decode_image,
    decode_jpeg as decode_jpeg,
    decode_png as decode_png,
    decode_webp as decode_webp,
    encode_jpeg as encode_jpeg,
    encode_png as encode_png,
    is_jpeg as is_jpeg,
)
from .._src.ops.images.jpeg import (
    decode_and_crop_jpeg as decode_and_crop_jpeg,
    extract_jpeg_shape as extract_jpeg_shape,
)
from .._src.ops.strings import decode_base64 as decode_base64, encode_base64 as encode_base64
from . import gfile as gfile

_face(__name__)
