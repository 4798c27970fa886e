"""Rows of `ops/ctc_labels.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = dict.fromkeys(
    ("collapse_repeated", "ctc_unique_labels"), "see tests/parity/cases_windows_nn.py"
)
