"""Rows of `ops/random_stateless.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = dict.fromkeys(
    (
        "stateless_normal",
        "stateless_truncated_normal",
        "stateless_parameterized_truncated_normal",
        "stateless_uniform",
        "stateless_gamma",
        "stateless_poisson",
        "stateless_binomial",
        "stateless_categorical",
        "split",
        "fold_in",
    ),
    "random; see test_random.py and tests/parity/cases_random.py",
)
