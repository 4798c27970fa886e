"""Rows of `ops/index_shuffle.py`."""

WITHOUT_ROW = {"random_index_shuffle": "random; tests/parity/cases_random.py"}
