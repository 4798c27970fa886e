"""Tables as TensorFlow's kernels: what makes them, and what functions do with those that change."""

from __future__ import annotations

from typing import Any

from ...values.tensor import Tensor
from ..lookup.mutable import DenseHashTable, MutableHashTable
from ..lookup.static import StaticHashTable
from .step_nodes import Given, Table

WRITERS = Table()
#: The tables that functions take handles of.
TABLES = (StaticHashTable, MutableHashTable)
AnyTable = StaticHashTable | MutableHashTable


def maker(table: AnyTable) -> tuple[str, dict[str, Any], tuple[Tensor, ...]]:
    """The kernel that makes a table, with its attributes and what it takes."""
    attr: dict[str, Any] = {"key_dtype": table.key_dtype, "value_dtype": table.value_dtype}
    if isinstance(table, StaticHashTable):
        return "HashTableV2", attr, ()
    shape = table.default_value.shape
    if isinstance(table, DenseHashTable):
        attr["value_shape"] = shape
        return "MutableDenseHashTableV2", attr, table.reserved_keys
    if shape.rank:
        return "MutableHashTableOfTensorsV2", {**attr, "value_shape": shape}, ()
    return "MutableHashTableV2", attr, ()


def filler(table: AnyTable) -> str:
    """The kernel that fills a table with keys and values. Of one that keeps two keys for itself an
    import takes the buckets, and TensorFlow ends the process at anything else."""
    return "LookupTableInsertV2" if isinstance(table, DenseHashTable) else "LookupTableImportV2"


def _node(given: Given, op: str, inputs: list[str], attr: dict[str, Any]) -> str:
    """Add a node in the order of what is done with tables."""
    body = given.body
    body.effect(op, [body.resource(given.args[0]), *inputs], attr)
    return body.effects[-1]


def _kinds(table: MutableHashTable) -> dict[str, Any]:
    return {"Tin": table.key_dtype, "Tout": table.value_dtype}


@WRITERS.row("_looked_up")
def _find(given: Given) -> list[str]:
    table, keys, others = given.args
    default = table.default_value if others is None else others
    inputs = [given.reference(keys, table.key_dtype), given.reference(default, table.value_dtype)]
    return [f"{_node(given, 'LookupTableFindV2', inputs, _kinds(table))}:values:0"]


@WRITERS.row("_put")
def _insert(given: Given) -> list[str]:
    table, keys, values = given.args
    inputs = [given.reference(keys, table.key_dtype), given.reference(values, table.value_dtype)]
    _node(given, "LookupTableInsertV2", inputs, _kinds(table))
    return []


@WRITERS.row("_taken_out")
def _remove(given: Given) -> list[str]:
    table, keys = given.args
    inputs = [given.reference(keys, table.key_dtype)]
    _node(given, "LookupTableRemoveV2", inputs, {"Tin": table.key_dtype})
    return []


@WRITERS.row("_counted")
def _size(given: Given) -> list[str]:
    return [f"{_node(given, 'LookupTableSizeV2', [], {})}:size:0"]


@WRITERS.row("_exported")
def _export(given: Given) -> list[str]:
    (table,) = given.args
    attr = {"Tkeys": table.key_dtype, "Tvalues": table.value_dtype}
    node = _node(given, "LookupTableExportV2", [], attr)
    return [f"{node}:keys:0", f"{node}:values:0"]
