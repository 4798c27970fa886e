"""Rows of `ops/sparse_arithmetic.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = dict.fromkeys(
    (
        "add",
        "bincount",
        "maximum",
        "minimum",
        "reduce_max",
        "reduce_sum",
        "softmax",
        "sparse_dense_matmul",
    ),
    "takes or gives what is no plain tensor; see tests/test_sparse.py",
)
