"""Rows of `ops/string_splits.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = dict.fromkeys(
    (
        "bytes_split",
        "ngrams",
        "split",
        "unicode_decode",
        "unicode_decode_with_offsets",
        "unicode_encode",
        "unicode_split",
        "unicode_split_with_offsets",
        "unicode_transcode",
    ),
    "takes or gives what is no plain tensor; see tests/test_strings.py",
)
