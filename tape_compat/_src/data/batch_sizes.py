"""How many rows the batches of a dataset have, the last one apart."""

from __future__ import annotations

from typing import Any

from ..core.dtypes import int64
from ..values.convert import constant
from ..values.tensor import Tensor
from .base import DatasetBase
from .batching import Batch
from .combining import Concatenate, Zip
from .keeping import AssertCardinality, Cache
from .mapping import Filter
from .pipeline import Pipeline
from .prefetching import Prefetch
from .ragged import SparseBatch
from .selecting import Repeat, Shard, Shuffle, Skip, Take

_UNKNOWN = -1
#: What gives elements of its input as they are. After a `map` the rows may be others.
_KEEPS = (AssertCardinality, Cache, Filter, Prefetch, Repeat, Shard, Shuffle, Skip, Take)


def compute_batch_size(dataset: DatasetBase) -> Tensor:
    """The size of batches, an int64 scalar; -1 if the specs and the transformations do not say.

    Raises: IndexError if an element has a scalar.

    >>> import tape_compat as tf
    >>> compute_batch_size(tf.data.Dataset.range(10).batch(4).repeat()).numpy().item()
    4
    """
    sizes = {_rows(spec) for spec in dataset._pipeline.layout.specs}
    known = len(sizes) == 1 and None not in sizes
    return constant(sizes.pop() if known else _size(dataset._pipeline), int64)


def _rows(spec: Any) -> int | None:
    """How many rows a value of a spec has, where that is known."""
    shape = getattr(spec, "shape", None)
    return None if shape is None or shape.rank is None else shape.as_list()[0]


def _size(pipeline: Pipeline) -> int:
    """The size that transformations say, of the last one of batches; -1 if they do not say it."""
    if isinstance(pipeline, Batch) and not isinstance(pipeline, SparseBatch):
        return pipeline.batch_size
    if isinstance(pipeline, (*_KEEPS, Concatenate, Zip)):
        sizes = set(map(_size, pipeline.inputs))
        return sizes.pop() if len(sizes) == 1 else _UNKNOWN
    return _UNKNOWN
