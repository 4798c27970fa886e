"""Rows of `ops/sobol.py`."""

WITHOUT_ROW = {"sobol_sample": "made by SciPy; tests/parity/cases_random.py compares it"}
