"""Rows of `ops/sparse_embedding.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = dict.fromkeys(
    (
        "embedding_lookup_sparse",
        "safe_embedding_lookup_sparse",
    ),
    "takes or gives what is no plain tensor; see tests/test_sparse.py",
)
