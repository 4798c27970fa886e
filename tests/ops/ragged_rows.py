"""Rows of `ops/ragged_rows.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = dict.fromkeys(
    ("stack",),
    "takes or gives what is no plain tensor; see tests/test_ragged.py",
)
