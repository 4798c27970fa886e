"""Rows of `ops/ragged_creation.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = dict.fromkeys(
    (
        "boolean_mask",
        "constant",
        "map_flat_values",
        "ragged_range",
        "row_splits_to_segment_ids",
        "segment_ids_to_row_splits",
        "stack_dynamic_partitions",
    ),
    "takes or gives what is no plain tensor; see tests/test_ragged.py",
)
