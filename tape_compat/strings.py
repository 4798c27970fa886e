"""`tf.strings`: tensors of strings."""

from ._src.interop.names import face as _face
from ._src.ops.string_splits import (
    bytes_split as bytes_split,
    ngrams as ngrams,
    split as split,
    unicode_decode as unicode_decode,
    unicode_decode_with_offsets as unicode_decode_with_offsets,
    unicode_encode as unicode_encode,
    unicode_split as unicode_split,
    unicode_split_with_offsets as unicode_split_with_offsets,
    unicode_transcode as unicode_transcode,
)
from ._src.ops.strings import (
    as_string as as_string,
    format as format,
    join as join,
    length as length,
    lower as lower,
    reduce_join as reduce_join,
    regex_full_match as regex_full_match,
    regex_replace as regex_replace,
    strip as strip,
    substr as substr,
    to_hash_bucket as to_hash_bucket,
    to_hash_bucket_fast as to_hash_bucket_fast,
    to_hash_bucket_strong as to_hash_bucket_strong,
    to_number as to_number,
    unsorted_segment_join as unsorted_segment_join,
    upper as upper,
)
from ._src.ops.unicode_scripts import unicode_script as unicode_script

_face(__name__)
