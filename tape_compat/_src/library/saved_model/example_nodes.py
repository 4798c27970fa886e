"""Steps of the host that take serialized examples apart, as kernels of TensorFlow's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...core.avals import Aval
from ...core.dtypes import DType, as_dtype, int64, string
from ...core.shapes import TensorShape, as_shape
from ...data.io.composite_features import RaggedFeature, SparseFeature
from ...data.io.parsing import FixedLenSequenceFeature, VarLenFeature
from ...values.convert import convert
from .body import Body
from .step_nodes import Given, Table, computed, unsupported

WRITERS = Table()


class _Features:
    """The features of examples by how the kernel takes them: their keys with their dtypes, and of
    dense ones their shapes and defaults."""

    def __init__(self, features: dict[str, Any], body: Body):
        self.body = body
        self.sparse: dict[str, DType] = {}
        self.ragged: dict[str, tuple[DType, DType]] = {}
        self.dense: dict[str, tuple[DType, TensorShape, str]] = {}
        for key, feature in features.items():
            self._add(key, feature, as_dtype(feature.dtype))

    def _add(self, key: str, feature: Any, dtype: DType) -> None:
        if isinstance(feature, VarLenFeature):
            self.sparse[key] = dtype
        elif isinstance(feature, SparseFeature):
            self.sparse |= dict.fromkeys(index_keys(feature), int64)
            self.sparse[feature.value_key] = dtype
        elif isinstance(feature, RaggedFeature):
            if feature.partitions:
                raise unsupported("a RaggedFeature with partitions")
            self.ragged[feature.value_key or key] = dtype, feature.row_splits_dtype
        else:
            self.dense[key] = dtype, *self._dense(feature, dtype)

    def _dense(self, feature: Any, dtype: DType) -> tuple[TensorShape, str]:
        """The shape of a dense feature, and its default: an empty one if it must be there."""
        given = feature.default_value
        sizes: list[Any] = [*as_shape(feature.shape)]
        if isinstance(feature, FixedLenSequenceFeature):
            if given is None:
                given = b"" if dtype is string else 0
            return TensorShape([None, *sizes]), self.body.constant(given, dtype)
        if given is None:
            return TensorShape(sizes), self.body.constant(np.zeros(0, dtype.np_dtype), dtype)
        value = np.asarray(convert(given, dtype)._value())
        value = value.reshape(sizes) if value.size > 1 else np.broadcast_to(value, sizes)
        return TensorShape(sizes), self.body.constant(value, dtype)

    def node(self, serialized: str, names: str) -> str:
        """Add the node that takes examples apart. Gives its name."""
        body = self.body
        keys = [self._keys([*kind]) for kind in (self.sparse, self.dense, self.ragged)]
        defaults = [default for _, _, default in self.dense.values()]
        attr = {
            "Tdense": [dtype for dtype, _, _ in self.dense.values()],
            "num_sparse": len(self.sparse),
            "sparse_types": [*self.sparse.values()],
            "ragged_value_types": [dtype for dtype, _ in self.ragged.values()],
            "ragged_split_types": [splits for _, splits in self.ragged.values()],
            "dense_shapes": [shape for _, shape, _ in self.dense.values()],
        }
        inputs = [serialized, names, *keys, *defaults]
        return body.node("parse_example", "ParseExampleV2", inputs, attr).name

    def _keys(self, keys: list[str]) -> str:
        array = np.empty(len(keys), object)
        array[:] = [key.encode() for key in keys]
        return self.body.constant(array, string)


def index_keys(feature: SparseFeature) -> list[str]:
    """The keys of the places of a sparse feature."""
    keys = feature.index_key
    return [*keys] if isinstance(keys, (list, tuple)) else [keys]


@WRITERS.row("parse_example", "parse_single_example")
def _parse_example(given: Given) -> list[str]:
    body, features = given.body, given.option(1, "features", None)
    serialized, names = given.option(0, "serialized", None), given.option(2, "example_names", None)
    if serialized.aval.shape == () or names is None:
        names = np.zeros(0, object)
    kinds = _Features(features, body)
    node = kinds.node(serialized.name, given.reference(names))
    avals, found = iter(given.outputs), []
    for key in sorted(features):
        found += _values(kinds, node, key, features[key], bool(serialized.aval.shape), avals)
    return found


def _values(
    kinds: _Features, node: str, key: str, feature: Any, batch: bool, avals: Any
) -> list[str]:
    """What the node gives of a feature, in the order of its components, of these avals."""
    aval = next(avals)
    if isinstance(feature, RaggedFeature):
        place = [*kinds.ragged].index(feature.value_key or key)
        values = f"{node}:ragged_values:{place}"
        if not batch:
            return [values]
        next(avals)
        return [values, f"{node}:ragged_row_splits:{place}"]
    if isinstance(feature, (VarLenFeature, SparseFeature)):
        kind, _ = next(avals).dtype, next(avals)
        if isinstance(feature, VarLenFeature):
            return _sparse(kinds, node, key)
        return _of_keys(kinds, node, feature, aval, kind, batch)
    return [f"{node}:dense_values:{[*kinds.dense].index(key)}"]


def _sparse(kinds: _Features, node: str, key: str) -> list[str]:
    place = [*kinds.sparse].index(key)
    return [f"{node}:sparse_{part}:{place}" for part in ("indices", "values", "shapes")]


def _of_keys(
    kinds: _Features, node: str, feature: SparseFeature, places: Aval, dtype: DType, batch: bool
) -> list[str]:
    """A sparse tensor of the values of several keys."""
    body = kinds.body
    indices, values, shape = _sparse(kinds, node, feature.value_key)
    columns = [_sparse(kinds, node, key)[1] for key in index_keys(feature)]
    sizes = feature.size if isinstance(feature.size, (list, tuple)) else [feature.size]
    count, rank = places.shape[0], 1 + int(batch)
    avals = [Aval.of((count, rank), int64), Aval.of((rank,), int64)]
    avals += [Aval.of((count,), int64)] * len(columns)
    found = computed(body, _joined(sizes, batch), avals, [indices, shape, *columns])
    if not feature.already_sorted:
        inputs = [found[0], values, found[1]]
        name = body.node("sorted", "SparseReorder", inputs, {"T": dtype}).name
        return [f"{name}:output_indices:0", f"{name}:output_values:0", found[1]]
    return [found[0], values, found[1]]


def _joined(sizes: Sequence[int], batch: bool) -> Callable[..., Any]:
    def joined(indices: Any, shape: Any, *columns: Any) -> Any:
        """The places by these columns, and the shape of all."""
        rows = [indices[:, 0]] if batch else []
        whole = jnp.concatenate([shape[: len(rows)], jnp.array(sizes, jnp.int64)])
        return jnp.stack([*rows, *columns], 1), whole

    return joined
