"""Rows of `ops/random_keys.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = dict.fromkeys(
    ("set_seed",),
    "random; see test_random.py and tests/parity/cases_random.py",
)
