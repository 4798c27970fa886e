"""Rows of `ops/edit_distances.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = {"edit_distance": "takes sparse tensors; see tests/parity/cases_sparse.py"}
