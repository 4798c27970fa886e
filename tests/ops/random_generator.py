"""Rows of `ops/random_generator.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = dict.fromkeys(
    (
        "create_rng_state",
        "get_global_generator",
        "set_global_generator",
    ),
    "random; see test_random.py and tests/parity/cases_random.py",
)
