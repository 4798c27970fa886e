"""The graph of a SavedModel itself, by which programs without Python serve it.

It has the variables, a placeholder for each argument of a signature and a call of its function, and
the nodes that save and restore the variables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...core.dtypes import string
from ...core.shapes import TensorShape
from ...data.io.tensors import make_tensor_proto
from ...values.composite import TypeSpec
from ...values.spec import TensorSpec
from ...values.tensor import Tensor
from ...values.variable import Handle, Variable
from .assets import Asset
from .body import type_of_resource
from .definitions import Definition
from .make_nodes import CALL, make_node, unique
from .messages import MetaGraphDef, NameAttrList
from .structured import components, decoded, encoded, shape_proto
from .table_nodes import AnyTable, filler, maker

#: The versions of graphs that TensorFlow 2 writes, and that it asks of those who read them.
_PRODUCER, _MIN_CONSUMER = 1882, 12
_METHOD = "tensorflow/serving/predict"


class MainGraph:
    """The graph that is being written."""

    def __init__(self, graph: MetaGraphDef):
        self._graph = graph
        graph.graph_def.versions.producer = _PRODUCER
        graph.graph_def.versions.min_consumer = _MIN_CONSUMER
        self._taken: set[str] = set()
        self._handles: dict[Any, str] = {}
        self._filled: list[str] = []
        self._shared: set[str] = set()

    def _node(
        self, name: str, op: str, inputs: Sequence[str] = (), attr: dict[str, Any] | None = None
    ) -> str:
        name = unique(name, self._taken)
        self._graph.graph_def.node.append(make_node(name, op, inputs, attr))
        return name

    def add_variable(self, handle: Handle, variable: Variable) -> None:
        """Add a variable."""
        shared = unique(variable._shared_name, self._shared)
        attr = {"shared_name": shared, "shape": handle.shape, "dtype": handle.dtype}
        self._handles[handle] = self._node("variable", "VarHandleOp", (), attr)

    def add_table(self, table: AnyTable) -> None:
        """Add a table, and what fills it when the graph is initialized."""
        kernel, kinds, given = maker(table)
        shared = unique("table", self._shared)
        own = list(map(self._constant, given))
        node = self._node("table", kernel, own, {**kinds, "shared_name": shared})
        self._handles[table] = node
        inputs = [node, *[self._constant(part) for part in table.export()]]
        attr = {"Tin": table.key_dtype, "Tout": table.value_dtype}
        self._filled.append(f"^{self._node('table_filled', filler(table), inputs, attr)}")

    def add_initializer(self) -> None:
        """Add the node that fills the tables, by the name that servers ask for."""
        if self._filled:
            node = self._node("initialized", "NoOp", self._filled)
            info = self._graph.signature_def[_INITIALIZER].outputs[_INITIALIZER]
            info.name = node
            info.tensor_shape.unknown_rank = 1

    def _constant(self, value: Tensor) -> str:
        attr = {"value": make_tensor_proto(value), "dtype": value.dtype}
        return self._node("constant", "Const", (), attr)

    def add_asset(self, asset: Asset, name: str) -> int:
        """Add a file, with the name that it gets. Gives its number."""
        node = self._handles[asset] = self._node("asset_path", "Placeholder", (), _of_text())
        made = self._graph.asset_file_def.add(filename=name)
        made.tensor_info.name = f"{node}:0"
        return len(self._graph.asset_file_def) - 1

    def add_signature(self, name: str, function: str, definition: Definition) -> None:
        """Add a function that is served by a name."""
        made = self._graph.signature_def[name]
        made.method_name = _METHOD
        inputs = []
        for spec in definition.inputs:
            attr = {"dtype": spec.dtype, "shape": spec.shape}
            inputs.append(self._node(f"{name}_{spec.name}", "Placeholder", (), attr))
            _tell(made.inputs[spec.name], f"{inputs[-1]}:0", spec)
        called = NameAttrList(name=function)
        given = [spec.dtype for spec in definition.inputs]
        attr = {"Tout": [spec.dtype for spec in definition.outputs], "f": called}
        inputs += [self._handles[handle] for handle in definition.resources]
        node = make_node(unique(f"call_{name}", self._taken), CALL, inputs, attr)
        types = node.attr["Tin"].list
        types.SetInParent()
        types.type.extend([dtype.as_datatype_enum for dtype in given])
        types.type.extend(map(type_of_resource, definition.resources))
        self._graph.graph_def.node.append(node)
        gives = decoded(definition.saved.output_signature)
        place = 0
        for label, kind in sorted(gives.items()):
            parts = definition.outputs[place : place + len(components(kind))]
            places = [(f"{node.name}:{place + i}", spec) for i, spec in enumerate(parts)]
            _tell_result(made.outputs[label], kind, places)
            place += len(parts)

    def add_saver(self, keys: Mapping[Handle, str]) -> None:
        """Add the nodes that save the variables, and restore them, by the keys of their values."""
        saver = self._graph.saver_def
        path = self._node("saver_filename", "Placeholder", (), _of_text())
        names = self._texts("saver_names", list(keys.values()))
        slices = self._texts("saver_slices", [""] * len(keys))
        dtypes = [handle.dtype for handle in keys]
        reads = [
            self._node("saver_read", "ReadVariableOp", [self._handles[handle]], {"dtype": dtype})
            for handle, dtype in zip(keys, dtypes)
        ]
        done, assigned = [], []
        if keys:
            inputs = [path, names, slices, *reads]
            done.append(f"^{self._node('saver_write', 'SaveV2', inputs, {'dtypes': dtypes})}")
            attr = {"dtypes": dtypes}
            restored = self._node("saver_restore", "RestoreV2", [path, names, slices], attr)
            for place, handle in enumerate(keys):
                inputs = [self._handles[handle], f"{restored}:{place}" if place else restored]
                attr = {"dtype": handle.dtype}
                assigned.append(f"^{self._node('saver_assign', 'AssignVariableOp', inputs, attr)}")
        written = self._node("saver_saved", "Identity", [path, *done], {"T": string})
        saver.filename_tensor_name = f"{path}:0"
        saver.save_tensor_name = f"{written}:0"
        saver.restore_op_name = self._node("saver_restored", "NoOp", assigned)
        saver.version = 2

    def _texts(self, name: str, values: list[str]) -> str:
        array = np.empty(len(values), object)
        array[:] = [value.encode() for value in values]
        attr = {"value": make_tensor_proto(array, string), "dtype": string}
        return self._node(name, "Const", (), attr)


_INITIALIZER = "__saved_model_init_op"


def _of_text() -> dict[str, Any]:
    return {"dtype": string, "shape": TensorShape([])}


def _tell_result(info: Any, kind: TypeSpec, places: list[tuple[str, TensorSpec]]) -> None:
    """Say where a result is: a tensor, or a composite by its tensors."""
    if isinstance(kind, TensorSpec):
        _tell(info, *places[0])
        return
    held = info.composite_tensor
    held.type_spec.CopyFrom(encoded(kind).type_spec_value)
    for name, spec in places:
        _tell(held.components.add(), name, spec)


def _tell(info: Any, name: str, spec: TensorSpec) -> None:
    info.name = name
    info.dtype = spec.dtype.as_datatype_enum
    info.tensor_shape.CopyFrom(shape_proto(spec.shape))
    info.tensor_shape.SetInParent()
