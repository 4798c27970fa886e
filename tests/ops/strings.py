"""Rows of `ops/strings.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = dict.fromkeys(
    (
        "as_string",
        "decode_base64",
        "encode_base64",
        "format",
        "join",
        "length",
        "lower",
        "reduce_join",
        "regex_full_match",
        "regex_replace",
        "strip",
        "substr",
        "to_hash_bucket",
        "to_hash_bucket_fast",
        "to_hash_bucket_strong",
        "to_number",
        "unsorted_segment_join",
        "upper",
    ),
    "takes or gives what is no plain tensor; see tests/test_strings.py",
)
