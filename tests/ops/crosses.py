"""Rows of `ops/crosses.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = dict.fromkeys(
    (
        "ragged_cross",
        "ragged_cross_hashed",
        "sparse_cross",
        "sparse_cross_hashed",
    ),
    "takes or gives what is no plain tensor; see tests/test_ragged.py",
)
