"""Kernels that take serialized examples apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...composites.ragged import RaggedTensor
from ...core.dtypes import DType
from ...core.shapes import TensorShape
from ...data.io.composite_features import RaggedFeature
from ...data.io.parsing import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    VarLenFeature,
    parse_example,
)
from ...ops.arguments import known_value
from ...ops.creation import zeros
from ...values.convert import convert
from .registry import kernel


def _keys(keys: Any) -> list[str]:
    return [key.decode() for key in np.ravel(known_value(keys)).tolist()]


def _dense(shape: TensorShape, dtype: DType, default: Any) -> Any:
    """A feature of a shape, whose first size may be unknown. An empty default stands for none."""
    value = known_value(convert(default))
    sizes: list[Any] = shape.as_list()
    if sizes and sizes[0] is None:
        given = value.ravel()[0] if value.size else None
        return FixedLenSequenceFeature(sizes[1:], dtype, True, given)
    known = value.size or 0 in sizes
    return FixedLenFeature(sizes, dtype, np.broadcast_to(value, sizes) if known else None)


@kernel("ParseExampleV2")
def _parse_example(
    serialized: Any,
    names: Any,
    sparse_keys: Any,
    dense_keys: Any,
    ragged_keys: Any,
    *defaults: Any,
    sparse_types: Sequence[DType],
    ragged_value_types: Sequence[DType],
    ragged_split_types: Sequence[DType],
    dense_shapes: Sequence[TensorShape],
    Tdense: Sequence[DType] = (),
) -> list[Any]:
    """Of sparse features the places, then the values, then the shapes; the dense ones; of ragged
    ones the values, then where rows end."""
    sparse, dense, ragged = map(_keys, (sparse_keys, dense_keys, ragged_keys))
    features: dict[str, Any] = dict(zip(sparse, map(VarLenFeature, sparse_types), strict=True))
    for key, shape, dtype, default in zip(dense, dense_shapes, Tdense, defaults, strict=True):
        features[key] = _dense(shape, dtype, default)
    for key, value, splits in zip(ragged, ragged_value_types, ragged_split_types, strict=True):
        features[key] = RaggedFeature(value, row_splits_dtype=splits)
    given = known_value(names) if np.prod(names.shape) else None
    found = parse_example(serialized, features, given) if features else {}
    rows = [found[key] for key in ragged]
    splits = [
        row.row_splits if isinstance(row, RaggedTensor) else zeros([0], dtype)
        for row, dtype in zip(rows, ragged_split_types)
    ]
    return [
        *[found[key].indices for key in sparse],
        *[found[key].values for key in sparse],
        *[found[key].dense_shape for key in sparse],
        *[found[key] for key in dense],
        *[row.flat_values if isinstance(row, RaggedTensor) else row for row in rows],
        *splits,
    ]
