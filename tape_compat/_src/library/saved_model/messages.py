"""The messages of a SavedModel: its graphs, their functions, and the objects that hold them.

Source: TensorFlow, saved_model.proto, meta_graph.proto, saved_object_graph.proto, struct.proto,
graph.proto, function.proto, node_def.proto, attr_value.proto and op_def.proto. Fields that are of
no use here are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from ...data.io import wire
from ...data.io.fields import DATA, DOUBLE, FLOAT, INT, TEXT, Floats, Ints, Texts, Values
from ...data.io.messages import Map, Message, Messages
from ...data.io.tensors import TensorProto, TensorShapeProto

FLAG = INT._replace(
    default=False, checked=lambda value: bool(value), read=lambda kind, value: bool(value)
)


class Strings(Values):
    """A field of several texts."""

    def serialized(self, number: int, deterministic: bool) -> bytes:
        return b"".join([wire.field(number, text.encode()) for text in self])

    def read(self, kind: int, value: Any) -> None:
        super().append(bytes(value).decode())

    def shown(self) -> Iterator[str]:
        return map(repr, self)


def several(kind: type[Message]) -> type[Messages]:
    """A field of several messages of a class."""
    return type(f"{kind.__name__}s", (Messages,), {"KIND": kind})


def by_name(kind: type[Message]) -> type[Map]:
    """A field of messages of a class by their names."""
    return type(f"{kind.__name__}Map", (Map,), {"KIND": kind})


def _zigzag(number: int, value: int) -> bytes:
    return wire.number_field(number, value << 1 if value >= 0 else (-value << 1) - 1)


#: An integer whose sign is its lowest bit.
SIGNED = INT._replace(
    serialized=_zigzag, read=lambda kind, value: value >> 1 if not value & 1 else -(value + 1 >> 1)
)


class Empty(Message):
    """A message without fields."""


class TextEntry(Message):
    """A text by its name."""

    FIELDS: ClassVar = {"key": (1, TEXT), "value": (2, TEXT)}


class VersionDef(Message):
    FIELDS: ClassVar = {"producer": (1, INT), "min_consumer": (2, INT)}


# -- graphs and functions -------------------------------------------------------------------------


class AttrValue(Message):
    """What an attribute of a node is: one of these."""

    FIELDS: ClassVar[dict[str, tuple[int, Any]]] = {
        "s": (2, DATA),
        "i": (3, INT),
        "f": (4, FLOAT),
        "b": (5, FLAG),
        "type": (6, INT),
        "shape": (7, TensorShapeProto),
        "tensor": (8, TensorProto),
        "placeholder": (9, TEXT),
    }
    ONE_OF: ClassVar = "value"


class NameAttrList(Message):
    """A function by its name."""

    FIELDS: ClassVar = {"name": (1, TEXT), "attr": (2, by_name(AttrValue))}


class AttrList(Message):
    """An attribute of several values."""

    FIELDS: ClassVar = {
        "s": (2, Texts),
        "i": (3, Ints),
        "f": (4, Floats),
        "b": (5, Ints),
        "type": (6, Ints),
        "shape": (7, several(TensorShapeProto)),
        "tensor": (8, several(TensorProto)),
        "func": (9, several(NameAttrList)),
    }


AttrValue.FIELDS |= {"list": (1, AttrList), "func": (10, NameAttrList)}


class NodeDef(Message):
    FIELDS: ClassVar = {
        "name": (1, TEXT),
        "op": (2, TEXT),
        "input": (3, Strings),
        "device": (4, TEXT),
        "attr": (5, by_name(AttrValue)),
    }


class ArgDef(Message):
    FIELDS: ClassVar = {"name": (1, TEXT), "description": (2, TEXT), "type": (3, INT)}


class OpDef(Message):
    FIELDS: ClassVar = {
        "name": (1, TEXT),
        "input_arg": (2, several(ArgDef)),
        "output_arg": (3, several(ArgDef)),
        "is_stateful": (17, FLAG),
        "control_output": (20, Strings),
    }


class ArgAttrs(Message):
    FIELDS: ClassVar = {"attr": (1, by_name(AttrValue))}


class ArgAttrEntry(Message):
    FIELDS: ClassVar = {"key": (1, INT), "value": (2, ArgAttrs)}


class FunctionDef(Message):
    FIELDS: ClassVar = {
        "signature": (1, OpDef),
        "node_def": (3, several(NodeDef)),
        "ret": (4, several(TextEntry)),
        "attr": (5, by_name(AttrValue)),
        "control_ret": (6, several(TextEntry)),
        "arg_attr": (7, several(ArgAttrEntry)),
    }


class RegisteredGradient(Message):
    FIELDS: ClassVar = {"gradient_func": (1, TEXT), "registered_op_type": (2, TEXT)}


class FunctionDefLibrary(Message):
    FIELDS: ClassVar = {
        "function": (1, several(FunctionDef)),
        "registered_gradients": (3, several(RegisteredGradient)),
    }


class GraphDef(Message):
    FIELDS: ClassVar = {
        "node": (1, several(NodeDef)),
        "library": (2, FunctionDefLibrary),
        "versions": (4, VersionDef),
    }


# -- Python values --------------------------------------------------------------------------------


class TensorSpecProto(Message):
    FIELDS: ClassVar = {"name": (1, TEXT), "shape": (2, TensorShapeProto), "dtype": (3, INT)}


class StructuredValue(Message):
    """A Python value, a nest of others, or the spec of a tensor."""

    FIELDS: ClassVar[dict[str, tuple[int, Any]]] = {
        "none_value": (1, Empty),
        "float64_value": (11, DOUBLE),
        "int64_value": (12, SIGNED),
        "string_value": (13, TEXT),
        "bool_value": (14, FLAG),
        "tensor_shape_value": (31, TensorShapeProto),
        "tensor_dtype_value": (32, INT),
        "tensor_spec_value": (33, TensorSpecProto),
    }
    ONE_OF: ClassVar = "kind"


class StructuredValues(Message):
    FIELDS: ClassVar = {"values": (1, several(StructuredValue))}


class StructuredFields(Message):
    FIELDS: ClassVar = {"fields": (1, by_name(StructuredValue))}


class StructuredPair(Message):
    FIELDS: ClassVar = {"key": (1, TEXT), "value": (2, StructuredValue)}


class NamedTupleValue(Message):
    FIELDS: ClassVar = {"name": (1, TEXT), "values": (2, several(StructuredPair))}


class TypeSpecProto(Message):
    """The spec of a composite: the number of its class, and what the class says of itself."""

    FIELDS: ClassVar = {
        "type_spec_class": (1, INT),
        "type_state": (2, StructuredValue),
        "type_spec_class_name": (3, TEXT),
        "num_flat_components": (4, INT),
    }


class BoundedTensorSpecProto(Message):
    FIELDS: ClassVar = {
        **TensorSpecProto.FIELDS,
        "minimum": (4, TensorProto),
        "maximum": (5, TensorProto),
    }


StructuredValue.FIELDS |= {
    "type_spec_value": (34, TypeSpecProto),
    "bounded_tensor_spec_value": (35, BoundedTensorSpecProto),
    "list_value": (51, StructuredValues),
    "tuple_value": (52, StructuredValues),
    "dict_value": (53, StructuredFields),
    "named_tuple_value": (54, NamedTupleValue),
    "tensor_value": (55, TensorProto),
    "numpy_value": (56, TensorProto),
}


# -- objects --------------------------------------------------------------------------------------


class ObjectReference(Message):
    FIELDS: ClassVar = {"node_id": (1, INT), "local_name": (2, TEXT)}


class SlotVariableReference(Message):
    FIELDS: ClassVar = {
        "original_variable_node_id": (1, INT),
        "slot_name": (2, TEXT),
        "slot_variable_node_id": (3, INT),
    }


class SavedUserObject(Message):
    FIELDS: ClassVar = {"identifier": (1, TEXT), "version": (2, VersionDef), "metadata": (3, TEXT)}


class SavedAsset(Message):
    FIELDS: ClassVar = {"asset_file_def_index": (1, INT)}


class FunctionSpec(Message):
    FIELDS: ClassVar = {
        "fullargspec": (1, StructuredValue),
        "is_method": (2, FLAG),
        "input_signature": (5, StructuredValue),
        "jit_compile": (6, INT),
    }


class SavedFunction(Message):
    FIELDS: ClassVar = {"concrete_functions": (1, Strings), "function_spec": (2, FunctionSpec)}


class SavedBareConcreteFunction(Message):
    FIELDS: ClassVar = {
        "concrete_function_name": (1, TEXT),
        "argument_keywords": (2, Strings),
        "allowed_positional_arguments": (3, INT),
        "function_spec": (4, FunctionSpec),
    }


class SavedConcreteFunction(Message):
    FIELDS: ClassVar = {
        "bound_inputs": (2, Ints),
        "canonicalized_input_signature": (3, StructuredValue),
        "output_signature": (4, StructuredValue),
    }


class SavedVariable(Message):
    FIELDS: ClassVar = {
        "dtype": (1, INT),
        "shape": (2, TensorShapeProto),
        "trainable": (3, FLAG),
        "synchronization": (4, INT),
        "aggregation": (5, INT),
        "name": (6, TEXT),
        "device": (7, TEXT),
    }


class SavedConstant(Message):
    FIELDS: ClassVar = {"operation": (1, TEXT)}


class SavedResource(Message):
    FIELDS: ClassVar = {"device": (1, TEXT)}


class CapturedTensor(Message):
    FIELDS: ClassVar = {"name": (1, TEXT), "concrete_function": (2, TEXT)}


class SavedObject(Message):
    """An object: the numbers of its parts, and one of the other fields for what it is."""

    FIELDS: ClassVar = {
        "children": (1, several(ObjectReference)),
        "slot_variables": (3, several(SlotVariableReference)),
        "user_object": (4, SavedUserObject),
        "asset": (5, SavedAsset),
        "function": (6, SavedFunction),
        "variable": (7, SavedVariable),
        "bare_concrete_function": (8, SavedBareConcreteFunction),
        "constant": (9, SavedConstant),
        "resource": (10, SavedResource),
        "captured_tensor": (12, CapturedTensor),
        "registered_name": (13, TEXT),
        "dependencies": (15, several(ObjectReference)),
    }
    ONE_OF: ClassVar = "kind"
    GROUP: ClassVar = (
        *("user_object", "asset", "function", "variable", "bare_concrete_function", "constant"),
        *("resource", "captured_tensor"),
    )


class SavedObjectGraph(Message):
    FIELDS: ClassVar = {
        "nodes": (1, several(SavedObject)),
        "concrete_functions": (2, by_name(SavedConcreteFunction)),
    }


# -- the whole ------------------------------------------------------------------------------------


class TensorInfo(Message):
    """A tensor of the graph, or a composite by its spec and its tensors."""

    FIELDS: ClassVar[dict[str, tuple[int, Any]]] = {
        "name": (1, TEXT),
        "dtype": (2, INT),
        "tensor_shape": (3, TensorShapeProto),
    }
    ONE_OF: ClassVar = "encoding"
    GROUP: ClassVar = ("name", "coo_sparse", "composite_tensor")


class CompositeInfo(Message):
    FIELDS: ClassVar = {"type_spec": (1, TypeSpecProto), "components": (2, several(TensorInfo))}


class SparseInfo(Message):
    """The names of the tensors of a SparseTensor."""

    FIELDS: ClassVar = {
        "values_tensor_name": (1, TEXT),
        "indices_tensor_name": (2, TEXT),
        "dense_shape_tensor_name": (3, TEXT),
    }


TensorInfo.FIELDS |= {"coo_sparse": (4, SparseInfo), "composite_tensor": (5, CompositeInfo)}


class SignatureDef(Message):
    FIELDS: ClassVar = {
        "inputs": (1, by_name(TensorInfo)),
        "outputs": (2, by_name(TensorInfo)),
        "method_name": (3, TEXT),
        "defaults": (4, by_name(TensorProto)),
    }


class SaverDef(Message):
    FIELDS: ClassVar = {
        "filename_tensor_name": (1, TEXT),
        "save_tensor_name": (2, TEXT),
        "restore_op_name": (3, TEXT),
        "version": (7, INT),
    }


class AssetFileDef(Message):
    FIELDS: ClassVar = {"tensor_info": (1, TensorInfo), "filename": (2, TEXT)}


class MetaInfoDef(Message):
    FIELDS: ClassVar = {
        "tags": (4, Strings),
        "tensorflow_version": (5, TEXT),
        "tensorflow_git_version": (6, TEXT),
        "stripped_default_attrs": (7, FLAG),
        "function_aliases": (8, several(TextEntry)),
    }


class NodeList(Message):
    FIELDS: ClassVar = {"value": (1, Strings)}


class BytesList(Message):
    FIELDS: ClassVar = {"value": (1, Texts)}


class AnyMessage(Message):
    FIELDS: ClassVar = {"type_url": (1, TEXT), "value": (2, DATA)}


class AnyList(Message):
    FIELDS: ClassVar = {"value": (1, several(AnyMessage))}


class CollectionDef(Message):
    """A collection of a graph of TensorFlow 1: names of its nodes, or messages."""

    FIELDS: ClassVar = {
        "node_list": (1, NodeList),
        "bytes_list": (2, BytesList),
        "any_list": (5, AnyList),
    }
    ONE_OF: ClassVar = "kind"


class VariableDef(Message):
    """A variable of a graph of TensorFlow 1."""

    FIELDS: ClassVar = {
        "variable_name": (1, TEXT),
        "initializer_name": (2, TEXT),
        "is_resource": (5, FLAG),
        "initial_value_name": (6, TEXT),
        "trainable": (7, FLAG),
    }


class MetaGraphDef(Message):
    FIELDS: ClassVar = {
        "meta_info_def": (1, MetaInfoDef),
        "graph_def": (2, GraphDef),
        "saver_def": (3, SaverDef),
        "collection_def": (4, by_name(CollectionDef)),
        "signature_def": (5, by_name(SignatureDef)),
        "asset_file_def": (6, several(AssetFileDef)),
        "object_graph_def": (7, SavedObjectGraph),
    }


class SavedModel(Message):
    FIELDS: ClassVar = {
        "saved_model_schema_version": (1, INT),
        "meta_graphs": (2, several(MetaGraphDef)),
    }
