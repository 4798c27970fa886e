"""Rows of `ops/sampled_losses.py`."""

WITHOUT_ROW = dict.fromkeys(
    ("nce_loss", "sampled_softmax_loss"), "see tests/parity/cases_candidates.py"
)
