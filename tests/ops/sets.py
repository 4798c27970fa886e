"""Rows of `ops/sets.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = dict.fromkeys(
    (
        "difference",
        "intersection",
        "size",
        "union",
    ),
    "takes or gives what is no plain tensor; see tests/test_sparse.py",
)
