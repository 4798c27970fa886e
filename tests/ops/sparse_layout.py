"""Rows of `ops/sparse_layout.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = dict.fromkeys(
    (
        "concat",
        "expand_dims",
        "eye",
        "fill_empty_rows",
        "from_dense",
        "map_values",
        "mask",
        "reorder",
        "reset_shape",
        "reshape",
        "retain",
        "slice",
        "split",
        "to_dense",
        "to_indicator",
        "transpose",
    ),
    "takes or gives what is no plain tensor; see tests/test_sparse.py",
)
