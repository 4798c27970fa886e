"""Rows of `ops/morphology.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = dict.fromkeys(("dilation2d", "erosion2d"), "see tests/parity/cases_windows_nn.py")
