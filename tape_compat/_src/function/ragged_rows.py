"""`tf.map_fn` over the rows of ragged tensors, which differ in shape: a loop of Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.dtypes import as_dtype
from ..core.refuse import invalid
from ..ops import joining, ragged_rows
from ..ops.creation import zeros
from ..ops.ragged_creation import constant
from ..values import nest
from ..values.convert import convert
from ..values.ragged import RaggedTensor, RaggedTensorSpec
from ..values.spec import TensorSpec


def ragged_leaves(structure: Any) -> bool:
    """Whether a ragged tensor, or a spec of one, is in a structure."""
    return any(isinstance(x, (RaggedTensor, RaggedTensorSpec)) for x in nest.flatten(structure))


def map_ragged(fn: Callable[[Any], Any], elems: Any, signature: Any) -> Any:
    """`fn` of each row of a nest, stacked as `signature` says, by default as `elems` is.

    Raises: ValueError if the numbers of rows differ; InvalidArgumentError for results that are no
      rows of a ragged tensor where one is to be made.
    """
    leaves = [x if isinstance(x, RaggedTensor) else convert(x) for x in nest.flatten(elems)]
    counts = [int(x.nrows()) if isinstance(x, RaggedTensor) else len(x) for x in leaves]
    for count in counts[1:]:
        if count != counts[0]:
            raise ValueError(f"Dimensions {counts[0]} and {count} are not compatible")
    like = elems if signature is None else signature
    results: list[list[Any]] = []
    for i in range(counts[0]):
        found = fn(nest.pack_sequence_as(elems, [x[i] for x in leaves]))
        nest.assert_same_structure(like, found)
        results.append(nest.flatten(found))
    specs = leaves if signature is None else nest.flatten(signature)
    stacked = [_stacked([row[k] for row in results], spec) for k, spec in enumerate(specs)]
    return nest.pack_sequence_as(like, stacked)


def _stacked(rows: list[Any], spec: Any) -> Any:
    if not isinstance(spec, (RaggedTensor, RaggedTensorSpec)):
        dtype = spec.dtype if hasattr(spec, "dtype") else as_dtype(spec)
        if rows:
            return joining.stack([convert(row, dtype) for row in rows])
        sizes = spec.shape.as_list() if isinstance(spec, TensorSpec) else []
        return zeros([0, *sizes], dtype)
    if not rows:
        return constant([[]], spec.dtype)[:0]
    for row in rows:
        if not len(row.shape):
            raise invalid(
                "Ragged values must have rank >= 1; encoded scalar element at index 0 has values "
                f"{row}",
                "RaggedTensorFromVariant",
            )
    return ragged_rows.stack(rows).with_row_splits_dtype("int64")
