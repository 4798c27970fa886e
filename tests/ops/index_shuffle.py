"""Rows of `ops/index_shuffle.py`."""

WITHOUT_ROW = dict.fromkeys(
    ("index_shuffle", "random_index_shuffle"), "random; tests/parity/cases_random.py"
)
