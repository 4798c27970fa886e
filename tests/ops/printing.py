"""Rows of `ops/printing.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = {"print": "gives no tensor; see test_debugging.py"}
