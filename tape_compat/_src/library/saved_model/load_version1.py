"""SavedModels of TensorFlow 1: a graph with collections, and no objects."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from ...composites.sparse import SparseTensor, SparseTensorSpec
from ...core.dtypes import as_dtype
from ...values import nest
from ...values.convert import convert
from ...values.spec import TensorSpec
from ...values.variable import Variable
from ..version1.wrapped import WrappedFunction, wrap_function
from .assets import Asset
from .classic_control import Place, place
from .graph_state import State
from .import_graph import Imported, placeholder_spec, put_graph
from .messages import AssetFileDef, MetaGraphDef, TensorInfo, VariableDef
from .restored import RestoredConcrete, RestoredObject, Signatures, by_keyword
from .structured import decoded_spec, shape_of

#: The collections that may name what is to be run first, and the signature that may.
_INITIALIZERS = ("saved_model_main_op", "legacy_init_op")
_INITIALIZER = "__saved_model_init_op"
_ASSETS = "saved_model_assets"


def load_version1(graph: MetaGraphDef, folder: str, skip_checkpoint: bool) -> RestoredObject:
    """What `tf.saved_model.load` gives for a SavedModel without objects: its `signatures` and
    `variables`, its `graph`, and `prune`, which gives other parts of that."""
    loading = _Loading(graph, folder)
    found: Any = RestoredObject()
    if graph.saver_def.restore_op_name:
        found.restore = loading.restore
        if not skip_checkpoint:
            loading.restore(os.path.join(folder, "variables", "variables"))
    loading.initialize()
    found.initializer = loading.shared()
    found.asset_paths = loading.assets
    found.signatures = loading.signatures()
    found.variables = loading.variables()
    found.graph, found.prune = loading.wrapped.graph, loading.wrapped.prune
    return found


class _Loading:
    """A graph that is being loaded. assets: its files. wrapped: the function that it is in."""

    def __init__(self, graph: MetaGraphDef, folder: str):
        self._graph = graph
        names = dict.fromkeys((*_COLLECTIONS, *graph.collection_def))
        self._described = {
            place(variable.variable_name)[0]: variable
            for name in names
            for variable in _variables(graph, name)
        }
        self._state = State(self._described, self._value)
        self.wrapped: WrappedFunction = wrap_function(self._put, [])
        self._imported: Imported = self.wrapped.graph.imports[0]
        files = _files(graph)
        self.assets = [Asset(os.path.join(folder, "assets", file.filename)) for file in files]
        places = [place(file.tensor_info.name) for file in files]
        paths = [asset.asset_path for asset in self.assets]
        self._files: dict[Place, Any] = dict(zip(places, paths, strict=True))

    def _put(self) -> None:
        put_graph(self._graph.graph_def, {}, "", self._state)

    def _value(self, name: str) -> Any:
        """The value of a tensor, now."""
        return self._imported.run(self._files).at(place(name))

    # -- state ----------------------------------------------------------------------------------

    def restore(self, path: Any) -> None:
        """Give the variables the values of a checkpoint, by its path without `.index`."""
        saver = self._graph.saver_def
        run = self._imported.run({place(saver.filename_tensor_name): convert(path)})
        run.do([saver.restore_op_name])

    def initialize(self) -> None:
        """Fill the tables, and give variables that are in no checkpoint their initial values."""
        self._imported.run(self._files).do(self._initializers())
        self._imported.run({}).do(name for name in self._described)
        for cell in self._state.cells.values():
            cell.fill()

    def _initializers(self) -> list[str]:
        signature = self._graph.signature_def.get(_INITIALIZER)
        if signature is not None:
            return [place(info.name)[0] for info in signature.outputs.values()]
        for name in _INITIALIZERS:
            if name in self._graph.collection_def:
                return self._named(name)[:1]
        local = [x.initializer_name for x in _variables(self._graph, "local_variables")]
        return [*self._named("table_initializer"), *[place(name)[0] for name in local]]

    def _named(self, collection: str) -> list[str]:
        """The nodes of a collection."""
        if collection not in self._graph.collection_def:
            return []
        found = self._graph.collection_def[collection].node_list.value
        return [place(name)[0] for name in found]

    def shared(self) -> RestoredObject:
        """An object that has all that the graph's functions share, to be saved with them."""
        found: Any = RestoredObject()
        found.variables = [x.made for x in self._state.cells.values() if x.made is not None]
        found.tables = self._state.resources()
        return found

    def variables(self) -> list[Variable]:
        """The variables of the graph; as in TensorFlow, not those that are not resources."""
        names = [name for name, found in self._described.items() if found.is_resource]
        return [self._state.cells[name].variable for name in names]

    # -- signatures -----------------------------------------------------------------------------

    def signatures(self) -> Signatures:
        """The functions for serving, which are recorded when they are asked for."""
        found = Signatures()
        for name, saved in self._graph.signature_def.items():
            if name != _INITIALIZER:
                inputs = {key: _parts(key, saved.inputs[key]) for key in sorted(saved.inputs)}
                given = {key: info for parts in inputs.values() for key, info in parts.items()}
                case = _Case(self._imported, given, dict(saved.outputs), self.variables())
                found.put(name, RestoredConcrete(name, by_keyword(list(given)), case))
        return found


#: Those whose variables come first.
_COLLECTIONS = ("variables", "local_variables")


def _variables(graph: MetaGraphDef, collection: str) -> Iterable[VariableDef]:
    """The variables that a collection holds: messages that name one each."""
    if collection in graph.collection_def and (
        collection.endswith("variables") or collection == "global_step"
    ):
        for data in graph.collection_def[collection].bytes_list.value:
            yield VariableDef.FromString(data)


def _files(graph: MetaGraphDef) -> list[AssetFileDef]:
    """The files of a graph, which older ones have in a collection."""
    if graph.asset_file_def or _ASSETS not in graph.collection_def:
        return list(graph.asset_file_def)
    found = graph.collection_def[_ASSETS].any_list.value
    return [AssetFileDef.FromString(each.value) for each in found]


def _parts(key: str, info: TensorInfo) -> dict[str, TensorInfo]:
    """The tensors of an argument by the names that they are given by."""
    kind = info.WhichOneof("encoding")
    if kind == "coo_sparse":
        return {f"{key}_{name}": TensorInfo(name=part) for name, part in _sparse(info).items()}
    if kind == "composite_tensor":
        parts = enumerate(info.composite_tensor.components)
        return {f"{key}_component_{i}": part for i, part in parts}
    return {key: info}


def _sparse(info: TensorInfo) -> dict[str, str]:
    names = info.coo_sparse
    return {
        "indices": names.indices_tensor_name,
        "values": names.values_tensor_name,
        "dense_shape": names.dense_shape_tensor_name,
    }


class _Case:
    """A signature: a function of tensors by name, in the place of a `Case`.

    given: what is fed. wanted: what it gives. variables: those of the graph.
    """

    args: tuple[Any, ...] = ()

    def __init__(
        self,
        imported: Imported,
        given: dict[str, TensorInfo],
        wanted: dict[str, TensorInfo],
        variables: Iterable[Variable],
    ):
        self._imported, self._given, self._wanted = imported, given, wanted
        self.variables = tuple(variables)
        self.kwargs = {key: self._spec(key, info) for key, info in given.items()}
        self.output = {key: _told(info, key) for key, info in wanted.items()}

    def _spec(self, key: str, info: TensorInfo) -> TensorSpec:
        node = self._imported.node(place(info.name)[0])
        if node.op in ("Placeholder", "PlaceholderWithDefault"):
            spec = placeholder_spec(node)
            return TensorSpec(spec.shape, spec.dtype, key)
        return _told(info, key)

    def call(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """What it gives, by name."""
        values = {**dict(zip(self._given, args, strict=False)), **kwargs}
        fed = {
            place(self._given[key].name): convert(value, self.kwargs[key].dtype)
            for key, value in values.items()
        }
        run = self._imported.run(fed)
        run.want([place(x)[0] for info in self._wanted.values() for x in _names(info)])
        return {key: _result(run, info) for key, info in self._wanted.items()}


def _told(info: TensorInfo, key: str) -> Any:
    """The spec of a tensor or a composite by what is said of it."""
    kind, shape = info.WhichOneof("encoding"), shape_of(info.tensor_shape)
    if kind == "composite_tensor":
        return decoded_spec(info.composite_tensor.type_spec)
    if kind == "coo_sparse":
        return SparseTensorSpec(shape, as_dtype(info.dtype))
    return TensorSpec(shape, as_dtype(info.dtype), key)


def _names(info: TensorInfo) -> list[str]:
    """The tensors of what is wanted."""
    kind = info.WhichOneof("encoding")
    if kind == "coo_sparse":
        return list(_sparse(info).values())
    if kind == "composite_tensor":
        return [part.name for part in info.composite_tensor.components]
    return [info.name]


def _result(run: Any, info: TensorInfo) -> Any:
    found = [convert(run.at(place(name))) for name in _names(info)]
    kind = info.WhichOneof("encoding")
    if kind == "coo_sparse":
        return SparseTensor(*found)
    if kind == "composite_tensor":
        spec = decoded_spec(info.composite_tensor.type_spec)
        return nest.pack_sequence_as(spec, found, expand_composites=True)
    return found[0]
