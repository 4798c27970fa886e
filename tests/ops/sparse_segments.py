"""Rows of `ops/sparse_segments.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = dict.fromkeys(
    (
        "segment_mean",
        "segment_sqrt_n",
        "segment_sum",
    ),
    "takes or gives what is no plain tensor; see tests/test_sparse.py",
)
