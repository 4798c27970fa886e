"""Rows of `ops/ctc_decoders.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = dict.fromkeys(
    ("ctc_beam_search_decoder", "ctc_greedy_decoder"), "gives SparseTensors; see tests/test_ctc.py"
)
