"""Rows of `ops/ctc_losses.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = {"ctc_loss": "see tests/test_ctc.py"}
