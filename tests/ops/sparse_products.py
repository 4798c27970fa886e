"""Rows of `ops/sparse_products.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = {
    "sampled_addmm": "takes the parts of a sparse matrix; see tests/parity/cases_sparse.py"
}
