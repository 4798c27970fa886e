"""Kernels of tables and of texts that are cut into words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...composites.ragged import RaggedTensor
from ...core.dtypes import DType, string
from ...data.io import contents
from ...data.io.csv_text import decode_csv
from ...ops import (
    casting,
    fingerprints,
    histograms,
    shapes,
    string_splits,
    strings,
    unicode_scripts,
)
from ...ops.arguments import known_value, sketched
from ...ops.string_splits import split
from ...values.convert import convert
from ...values.host_steps import by_host
from ...values.tensor import Tensor, concrete
from .nodes import Node, node_kernel
from .registry import KERNELS, calling, kernel

KERNELS |= {
    "AsString": calling(strings.as_string, "precision scientific shortest width fill"),
    "Bucketize": calling(histograms.bucketize, "boundaries"),
    "DecodeBase64": calling(strings.decode_base64),
    "DecodeCompressed": calling(contents.decode_compressed, "compression_type"),
    "DecodeRaw": calling(contents.decode_raw, "out_type little_endian"),
    "EncodeBase64": calling(strings.encode_base64, "pad"),
    "Fingerprint": calling(fingerprints.fingerprint),
    "MatchingFiles": calling(contents.matching_files),
    "ParseTensor": calling(contents.parse_tensor, "out_type"),
    "ReadFile": calling(contents.read_file),
    "RegexFullMatch": calling(strings.regex_full_match),
    "RegexReplace": calling(strings.regex_replace, "replace_global"),
    "SerializeTensor": calling(contents.serialize_tensor),
    "StaticRegexFullMatch": calling(strings.regex_full_match, "pattern"),
    "StaticRegexReplace": calling(strings.regex_replace, "pattern rewrite replace_global"),
    "StringLength": calling(strings.length, "unit"),
    "StringLower": calling(strings.lower, "encoding"),
    "StringStrip": calling(strings.strip),
    "StringToHashBucket": calling(strings.to_hash_bucket, "num_buckets"),
    "StringToHashBucketFast": calling(strings.to_hash_bucket_fast, "num_buckets"),
    "StringToHashBucketStrong": calling(strings.to_hash_bucket_strong, "num_buckets key"),
    "StringToNumber": calling(strings.to_number, "out_type"),
    "StringUpper": calling(strings.upper, "encoding"),
    "Substr": calling(strings.substr, "unit"),
    "UnicodeScript": calling(unicode_scripts.unicode_script),
    "UnicodeTranscode": calling(
        string_splits.unicode_transcode,
        "input_encoding output_encoding errors replacement_char replace_control_characters",
    ),
    "UnsortedSegmentJoin": calling(strings.unsorted_segment_join, "separator"),
    "WriteFile": calling(contents.write_file),
}


@by_host()
def _split_to_sparse(input: Tensor, sep: Any, maxsplit: int) -> tuple[Tensor, Tensor, Tensor]:
    """The words of texts with their places, and the shape of all."""
    sketch = sketched(input)
    if sketch is not None:
        return sketch.sparse_parts(string)
    rows: RaggedTensor = split(input, sep, maxsplit)
    splits = np.asarray(rows.row_splits._value())
    lengths = np.diff(splits)
    row = np.repeat(np.arange(lengths.size), lengths)
    places = np.stack([row, np.arange(splits[-1]) - splits[row]], 1) if row.size else row[:, None]
    if not row.size:
        places = np.zeros((0, 2), np.int64)
    shape = np.array([lengths.size, lengths.max(initial=0)], np.int64)
    return concrete(places.astype(np.int64)), rows.flat_values, concrete(shape)


@kernel("StringSplitV2")
def _string_split(input: Any, sep: Any, *, maxsplit: int) -> Any:
    return _split_to_sparse(convert(input), known_value(sep).item(), maxsplit)


@kernel("StringSplit")
def _split_at_any(input: Any, delimiters: Any, *, skip_empty: bool) -> Any:
    between = known_value(delimiters).item()
    found = string_splits.split_at_any(input, between, skip_empty).to_sparse()
    return found.indices, found.values, found.dense_shape


@kernel("ShardedFilename")
def _of_shard(name: Any, shard: Any, count: Any) -> Tensor:
    return strings.join([name, "-", _five_digits(shard), "-of-", _five_digits(count)])


@kernel("ShardedFilespec")
def _of_shards(name: Any, count: Any) -> Tensor:
    return strings.join([name, "-?????-of-", _five_digits(count)])


def _five_digits(number: Any) -> Tensor:
    return strings.as_string(number, width=5, fill="0")


@kernel("RaggedTensorToTensor")
def _ragged_to_tensor(
    shape: Any, values: Any, default: Any, *partitions: Any, row_partition_types: Sequence[str]
) -> Any:
    """Rows of values, by tensors that say where they end, filled up to a shape."""
    sizes = known_value(shape).tolist()
    wanted = tuple([None if n < 0 else n for n in sizes]) if isinstance(sizes, list) else None
    kinds = tuple(row_partition_types)
    return _filled(values, known_value(default), list(partitions), kinds, wanted)


@by_host()
def _filled(
    values: Any, default: Any, partitions: list[Any], kinds: tuple[str, ...], wanted: Any
) -> Tensor:
    """`wanted`: the sizes of the result, None where they are those of the rows."""
    sketch = sketched(values, *partitions)
    if sketch is not None:
        levels = len([kind for kind in kinds if kind != "FIRST_DIM_SIZE"])
        inner = values._aval.shape[1:]
        return sketch.tensor(wanted or (*[None] * (levels + 1), *inner), values.dtype)
    found: Any = values
    left = list(zip(kinds, partitions, strict=True))
    while left:
        kind, tensor = left.pop()
        if kind == "ROW_SPLITS":
            found = RaggedTensor.from_row_splits(found, tensor, validate=False)
        elif kind == "VALUE_ROWIDS" and [k for k, _ in left] == ["FIRST_DIM_SIZE"]:
            count = left.pop()[1]
            found = RaggedTensor.from_value_rowids(found, tensor, count, validate=False)
        else:
            raise NotImplementedError(f"rows of the kinds {kinds}")
    return found.to_tensor(default, shape=wanted)


@node_kernel("DisableCopyOnRead")
def _nothing(node: Node) -> None:
    return None


# -- texts ----------------------------------------------------------------------------------------


@kernel("StringJoin")
def _join(*inputs: Any, separator: str) -> Any:
    return strings.join(list(inputs), separator)


@kernel("DecodePaddedRaw")
def _decode_padded(x: Any, length: Any, *, out_type: DType, little_endian: bool) -> Tensor:
    return contents.decode_raw(x, out_type, little_endian, int(known_value(length)))


@kernel("DecodeCSV")
def _decode_csv(
    records: Any,
    *defaults: Any,
    field_delim: str,
    use_quote_delim: bool,
    na_value: str,
    select_cols: Sequence[int],
) -> list[Tensor]:
    chosen = list(select_cols) or None
    found: list[Tensor] = decode_csv(
        records, list(defaults), field_delim, use_quote_delim, na_value, chosen
    )
    return found


@kernel("ReduceJoin")
def _reduce_join(x: Any, axes: Any, *, keep_dims: bool, separator: str) -> Tensor:
    found: Tensor = strings.reduce_join(x, known_value(axes).tolist(), keep_dims, separator)
    return found


@kernel("StringFormat")
def _format(*inputs: Any, template: str, placeholder: str, summarize: int) -> Tensor:
    return strings.format(template, list(inputs), placeholder, summarize)


@kernel("StringNGrams")
def _ngrams(
    data: Any,
    splits: Any,
    *,
    separator: str,
    ngram_widths: Sequence[int],
    left_pad: str,
    right_pad: str,
    pad_width: int,
    preserve_short_sequences: bool,
) -> Sequence[Tensor]:
    rows = RaggedTensor.from_row_splits(data, splits, validate=False)
    pads = (left_pad, right_pad) if left_pad or right_pad or pad_width else None
    found = string_splits.ngrams(
        *(rows, list(ngram_widths), separator, pads),
        None if pad_width < 1 else pad_width,
        preserve_short_sequences,
    )
    return found.values, found.row_splits


# -- characters -----------------------------------------------------------------------------------


def _decode(x: Any, *given: Any) -> Sequence[Tensor]:
    *rest, kind = given
    found = string_splits.unicode_decode(shapes.reshape(x, [-1]), *rest)
    return casting.cast(found.row_splits, kind), found.values


def _decode_with_places(x: Any, *given: Any) -> Sequence[Tensor]:
    *rest, kind = given
    found, places = string_splits.unicode_decode_with_offsets(shapes.reshape(x, [-1]), *rest)
    return casting.cast(found.row_splits, kind), found.values, places.values


#: The attributes of texts whose characters are numbers.
_DECODED = "input_encoding errors replacement_char replace_control_characters Tsplits"

KERNELS |= {
    "UnicodeDecode": calling(_decode, _DECODED),
    "UnicodeDecodeWithOffsets": calling(_decode_with_places, _DECODED),
}


@kernel("UnicodeEncode")
def _encode(
    values: Any,
    splits: Any,
    *,
    output_encoding: str,
    errors: str,
    replacement_char: int,
) -> Tensor:
    rows = RaggedTensor.from_row_splits(values, splits, validate=False)
    found: Tensor = string_splits.unicode_encode(rows, output_encoding, errors, replacement_char)
    return found
