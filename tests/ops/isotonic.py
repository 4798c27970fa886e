"""Rows of `ops/isotonic.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = {"isotonic_regression": "see tests/parity/cases_windows_nn.py"}
