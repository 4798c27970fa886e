"""Rows of `ops/embedding.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = {
    "dropout": "random; see test_nn.py",
    "embedding_lookup": "its gradient is IndexedSlices; see test_nn.py",
}
