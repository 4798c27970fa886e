"""Rows of `ops/fractional_pooling.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = dict.fromkeys(
    ("fractional_avg_pool", "fractional_max_pool"), "see tests/parity/cases_windows_nn.py"
)
