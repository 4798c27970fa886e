"""Rows of `ops/raw.py`."""

#: Public ops without a row, and why.
WITHOUT_ROW = dict.fromkeys(
    (
        *("BatchToSpaceND", "DepthToSpace", "SpaceToBatchND", "SpaceToDepth"),
        *("Bucketize", "ImageProjectiveTransformV3", "UniqueV2", "UniqueWithCountsV2"),
    ),
    "by keywords only; see tests/parity/cases_raw.py",
)
