"""Kernels of tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import DType, string
from ...core.shapes import TensorShape
from ...ops.arguments import known_value
from ...ops.creation import zeros
from ...values.convert import convert
from ...values.trackable import Trackable
from ..lookup.initializers import KeyValueTensorInitializer, TextFileInitializer
from ..lookup.mutable import DenseHashTable, MutableHashTable
from ..lookup.static import StaticHashTable
from .nodes import Node, node_kernel


class RestoredTable(Trackable):
    """A table of a graph, which is filled by another node than the one that makes it."""

    def __init__(self, key_dtype: DType, value_dtype: DType):
        self.key_dtype, self.value_dtype = key_dtype, value_dtype
        self._initializer: Any = None
        self._tables: dict[Any, StaticHashTable] = {}

    def fill(self, initializer: Any) -> None:
        """Take the keys and values that an initializer gives."""
        self._initializer = initializer
        self._tables.clear()

    def fill_with(self, keys: Any, values: Any) -> None:
        """Take keys and values."""
        self.fill(KeyValueTensorInitializer(keys, values, self.key_dtype, self.value_dtype))

    def put_in(self, table: StaticHashTable) -> None:
        """Put the keys and values into an empty table."""
        self._initializer.initialize(table)

    def with_default(self, default: Any) -> StaticHashTable:
        """The table with a value for keys that it does not have."""
        value = np.ravel(known_value(default)).item()
        found = self._tables.get(value)
        if found is None:
            if self._initializer is None:
                raise ValueError("Table not initialized.")
            found = self._tables[value] = StaticHashTable(self._initializer, value)
            found.origin = next(iter(self._tables.values()))
        return found

    def any(self) -> StaticHashTable:
        """The table with the first default value that was asked for."""
        for table in self._tables.values():
            return table
        return self.with_default(convert("" if self.value_dtype is string else 0, self.value_dtype))

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return {"table": self.any()} if save_type == "savedmodel" and self._initializer else {}


def _shared(node: Node, made: Any) -> Any:
    """A table, or that which a node of the name has made."""
    state = node.library.state
    return made if state is None else state.resource(node.name, lambda: made)


@node_kernel("HashTableV2", "HashTable", "MutableHashTableV2")
def _table(node: Node) -> Any:
    """A table that no node changes is what it was when it was saved."""
    kinds = node.attribute("key_dtype"), node.attribute("value_dtype")
    if node.op == "MutableHashTableV2" and node.library.tables_change:
        return _shared(node, MutableHashTable(*kinds, zeros([], kinds[1])))
    return _shared(node, RestoredTable(*kinds))


@node_kernel("MutableHashTableOfTensorsV2", "MutableDenseHashTableV2")
def _table_of_tensors(node: Node) -> Any:
    kinds = node.attribute("key_dtype"), node.attribute("value_dtype")
    none = zeros(node.attribute("value_shape", TensorShape([])), kinds[1])
    if not node.inputs:
        return _shared(node, MutableHashTable(*kinds, none))
    return _shared(node, DenseHashTable(*kinds, none, *node.inputs))


@node_kernel("LookupTableImportV2", "InitializeTableV2", "InitializeTable")
def _import(node: Node) -> None:
    table, keys, values = node.inputs
    table.fill_with(keys, values)


@node_kernel("InitializeTableFromTextFileV2", "InitializeTableFromTextFile")
def _import_file(node: Node) -> None:
    table, path = node.inputs
    size = node.attribute("vocab_size", -1)
    table.fill(
        TextFileInitializer(
            known_value(path).item().decode(),
            table.key_dtype,
            node.attribute("key_index"),
            table.value_dtype,
            node.attribute("value_index"),
            None if size < 0 else size,
            node.attribute("delimiter", "\t"),
            value_index_offset=node.attribute("offset", 0),
        )
    )


@node_kernel("LookupTableFindV2", "LookupTableFind")
def _find(node: Node) -> Any:
    table, keys, default = node.inputs
    if isinstance(table, MutableHashTable):
        return table.lookup(keys, default)
    return table.with_default(default).lookup(convert(keys))


@node_kernel("LookupTableInsertV2")
def _insert(node: Node) -> None:
    table, keys, values = node.inputs
    table.insert(keys, values)


@node_kernel("LookupTableRemoveV2")
def _remove(node: Node) -> None:
    table, keys = node.inputs
    table.remove(keys)


@node_kernel("LookupTableExportV2")
def _export(node: Node) -> Any:
    return _whole(node).export()


@node_kernel("LookupTableSizeV2", "LookupTableSize")
def _size(node: Node) -> Any:
    return _whole(node).size()


def _whole(node: Node) -> Any:
    (table,) = node.inputs
    return table if isinstance(table, MutableHashTable) else table.any()
