"""Rows of `ops/random_stateful.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = dict.fromkeys(
    (
        "normal",
        "truncated_normal",
        "uniform",
        "gamma",
        "poisson",
        "categorical",
        "shuffle",
    ),
    "random; see test_random.py and tests/parity/cases_random.py",
)
