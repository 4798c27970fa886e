"""Rows of `ops/dilated_blocks.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = {"with_space_to_batch": "see tests/parity/cases_windows_nn.py"}
