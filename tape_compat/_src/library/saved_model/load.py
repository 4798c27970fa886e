"""`tf.saved_model.load`."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...checkpoint.graph import GRAPH_KEY, Graph, parsed
from ...checkpoint.reader import CheckpointReader
from ...checkpoint.variables import is_variable
from ...core.dtypes import as_dtype
from ...core.errors import user_location
from ...core.paths import local_path
from ...data.io.messages import DecodeError
from ...ops.creation import zeros
from ...values.convert import convert
from ...values.tensor import Tensor
from ...values.variable import VALUE_KEY, Variable
from ..lookup.static import StaticHashTable
from .assets import Asset
from .constants import SAVED_MODEL_FILENAME_PB
from .every_kernel import TABLES
from .load_version1 import load_version1
from .messages import MetaGraphDef, SavedModel, SavedObject
from .nodes import Library, Run, attribute
from .options import LoadOptions
from .restored import (
    Case,
    RestoredCallable,
    RestoredConcrete,
    RestoredFunction,
    RestoredObject,
    Signatures,
    by_keyword,
)
from .saved_gradients import GradientFunction
from .structured import shape_of, signature_of

#: Imported for the kernels that nodes are done by.
KERNEL_TABLES = TABLES


def contains_saved_model(export_dir: Any) -> bool:
    """Whether a folder holds a SavedModel.

    >>> import tape_compat as tf
    >>> tf.saved_model.contains_saved_model("/there/is/none")
    False
    """
    return os.path.exists(os.path.join(local_path(os.fspath(export_dir)), SAVED_MODEL_FILENAME_PB))


def load(export_dir: Any, tags: Any = None, options: LoadOptions | None = None) -> Any:
    """The object that a SavedModel holds, one of TensorFlow's or of ours.

    Its parts are attributes: Variables with their values, lists, dicts, and `tf.function`s, which
    take the kinds of arguments that they were recorded for and have derivatives. `signatures` has
    the functions for serving, by their names; they take tensors by name and give a dict.

    A function's graph is read node by node and recorded anew, for XLA. What TensorFlow 1 wrote has
    a graph alone: it gives `signatures`, `variables`, and `prune`, for other parts of the graph.

    Args:
      export_dir: the folder.
      tags: those of the graph that is wanted, if the SavedModel has several.
    Raises: OSError if there is no SavedModel; ValueError for other tags; NotImplementedError when a
      function is recorded whose graph has a kernel that is not here, naming it.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> class Scale(tf.Module):
    ...     def __init__(self):
    ...         self.factor = tf.Variable(3.0)
    ...
    ...     @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    ...     def __call__(self, x):
    ...         return self.factor * x
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tf.saved_model.save(Scale(), folder)
    ...     loaded = tf.saved_model.load(folder)
    >>> loaded(tf.constant([1.0, 2.0])).numpy().tolist()
    [3.0, 6.0]
    >>> loaded.signatures["serving_default"](x=tf.constant([1.0]))["output_0"].numpy().tolist()
    [3.0]
    """
    options = options or LoadOptions()
    folder, graph = _read(export_dir, tags)
    if graph.object_graph_def.nodes:
        loading = Loading(graph, folder, options, {})
        found = loading.root()
        if options.experimental_load_function_aliases:
            found.function_aliases = loading.aliases
    else:
        found = load_version1(graph, folder, options.experimental_skip_checkpoint)
    info = graph.meta_info_def
    found.tensorflow_version = info.tensorflow_version
    found.tensorflow_git_version = info.tensorflow_git_version
    return found


def opened(
    export_dir: Any,
    tags: Any = None,
    options: LoadOptions | None = None,
    known: Mapping[str, Any] | None = None,
) -> Loading:
    """A SavedModel of which nothing is loaded yet.

    Args: `known`: objects that stand for some of it, by their paths, as `Loading` takes them.
    """
    folder, graph = _read(export_dir, tags)
    if not graph.object_graph_def.nodes:
        raise NotImplementedError(
            f"The SavedModel at {folder} was written by TensorFlow 1: it has a graph, and no "
            f"objects that others stand for. At {user_location()}."
        )
    return Loading(graph, folder, options or LoadOptions(), known or {})


def _read(export_dir: Any, tags: Any) -> tuple[str, MetaGraphDef]:
    """The folder of a SavedModel, and its graph."""
    folder = local_path(os.fspath(export_dir))
    return folder, _chosen(parsed_model(folder).meta_graphs, tags, folder)


def parsed_model(folder: str) -> SavedModel:
    """The message in a folder.

    Raises: OSError if there is none, or something else.
    """
    path = os.path.join(folder, SAVED_MODEL_FILENAME_PB)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        raise OSError(
            f"SavedModel file does not exist at: {folder}{os.sep}"
            "{saved_model.pbtxt|saved_model.pb}"
        ) from None
    try:
        found: SavedModel = SavedModel.FromString(data)
    except DecodeError as error:
        raise OSError(f"Cannot parse file {path}: {error}") from None
    return found


def _chosen(graphs: Iterable[MetaGraphDef], tags: Any, folder: str) -> MetaGraphDef:
    """The graph with the tags that are asked for."""
    wanted = None if tags is None else set([tags] if isinstance(tags, str) else tags)
    graphs = list(graphs)
    if len(graphs) == 1:
        have = list(graphs[0].meta_info_def.tags)
        if wanted is not None and wanted != set(have):
            raise ValueError(
                f"Got an incompatible argument to `tags`: {sorted(wanted)}. The SavedModel at "
                f"{folder} has one MetaGraph with tags {have}. You may omit the argument, pass "
                "'None', or pass matching tags."
            )
        return graphs[0]
    for graph in graphs:
        if wanted == set(graph.meta_info_def.tags):
            return graph
    have = [list(graph.meta_info_def.tags) for graph in graphs]
    raise ValueError(
        f"The SavedModel at {folder} has {len(graphs)} MetaGraphs, with tags {have}. Pass the tags "
        f"of one as `tags`; got {tags!r}."
    )


#: What a checkpoint calls a table, and the ends of the names of its parts.
_TABLE, _KEYS, _VALUES = "table", "-keys", "-values"


class Loading:
    """A SavedModel that is being loaded: its objects by their numbers, as far as they are made.

    known: by the paths of objects, 'root.layer.kernel', what stands for them and a function that
    gives it its parts: `put(owner, name, part)`. Variables among them take their values.
    """

    def __init__(
        self,
        graph: MetaGraphDef,
        folder: str,
        options: LoadOptions,
        known: Mapping[str, tuple[Any, Callable[[Any, str, Any], None]]],
    ):
        self._saved = graph.object_graph_def
        self._nodes = list(self._saved.nodes)
        self._folder, self._options = folder, options
        self._assets = [asset.filename for asset in graph.asset_file_def]
        self._constants = {n.name: n for n in graph.graph_def.node if n.op == "Const"}
        functions = graph.graph_def.library
        self._library = Library(functions.function)
        self._library.gradients = {
            each.registered_op_type: functools.partial(self._gradient, each.gradient_func)
            for each in functions.registered_gradients
        }
        #: By the number of an object what the checkpoint has of it, by the names there.
        self._kept = self._kept_values()
        self._values = {n: kept[VALUE_KEY] for n, kept in self._kept.items() if VALUE_KEY in kept}
        self._numbers = {path: self._number_at(path) for path in known}
        self._made: dict[int, Any] = {
            self._numbers[path]: made for path, (made, _) in known.items()
        }
        #: What functions take for tables among them.
        self._tables: dict[int, Any] = {}
        self._putting = {self._numbers[path]: put for path, (_, put) in known.items()}
        #: Functions by the names that the user gave them when they were saved.
        self.aliases: dict[str, Any] = {}
        self._aliases = {x.key: x.value for x in graph.meta_info_def.function_aliases}
        self._makers: dict[str, Callable[[int, Any], Any]] = {
            "user_object": self._object,
            "variable": self._variable,
            "function": self._function,
            "bare_concrete_function": self._concrete,
            "constant": self._constant,
            "asset": self._asset,
            "resource": self._resource,
        }

    def root(self) -> Any:
        """The object that was saved."""
        found = self.object(0)
        for number in list(self._made):
            self._put_parts(number)
        if not hasattr(found, "signatures"):
            found.signatures = Signatures()
        return found

    def parts(self) -> dict[str, Any]:
        """The objects that were known, by their paths, with their values and parts."""
        for number, made in list(self._made.items()):
            if is_variable(made) and number in self._values:
                made.assign(self._values[number])
            elif isinstance(made, StaticHashTable):
                self._table_of(number, made)
            self._make_parts(number)
        plain = [number for number, made in self._made.items() if isinstance(made, (list, dict))]
        for number in dict.fromkeys((*plain, *self._made)):  # known objects may copy structures
            self._put_parts(number)
        return {path: self._made[number] for path, number in self._numbers.items()}

    def at(self, path: str) -> Any:
        """The object at a path."""
        return self.object(self._number_at(path))

    def _number_at(self, path: str) -> int:
        number = 0
        for name in path.split(".")[1:]:
            below = {part.local_name: part.node_id for part in self._nodes[number].children}
            if name not in below:
                raise ValueError(f"The SavedModel at {self._folder} has no object at {path!r}.")
            number = below[name]
        return number

    def _make_parts(self, number: int) -> None:
        for part in self._nodes[number].children:
            self.object(part.node_id)

    def object(self, number: int) -> Any:
        """The object of a number, and those below it."""
        if number not in self._made:
            node = self._nodes[number]
            kind = node.WhichOneof("kind")
            make = self._makers.get(kind or "")
            if make is None:
                raise NotImplementedError(
                    f"an object of the kind {kind!r} in the SavedModel at {self._folder}"
                )
            self._made[number] = make(number, getattr(node, kind))
            if kind in ("user_object", "resource"):
                self._make_parts(number)
        return self._made[number]

    # -- kinds of objects -----------------------------------------------------------------------

    def _object(self, number: int, saved: Any) -> Any:
        if saved.identifier == "signature_map":
            return Signatures()
        if saved.identifier in ("trackable_list_wrapper", "trackable_tuple_wrapper"):
            return []
        if saved.identifier == "trackable_dict_wrapper":
            return {}
        names = [part.local_name for part in self._nodes[number].children]
        made = RestoredCallable() if "__call__" in names else RestoredObject()
        object.__setattr__(made, "_identifier", saved.identifier)
        return made

    def _variable(self, number: int, saved: Any) -> Any:
        shape, dtype = shape_of(saved.shape), as_dtype(saved.dtype)
        value: Any = self._values.get(number)
        options = self._options
        if value is None:
            if not (options.experimental_skip_checkpoint or options.allow_partial_checkpoint):
                raise ValueError(
                    f"The SavedModel at {self._folder} has no value of the Variable {saved.name!r}."
                )
            sizes = [size or 0 for size in shape.as_list()] if shape.rank is not None else []
            value = zeros(sizes, dtype)
        return Variable(
            convert(value, dtype),
            trainable=saved.trainable,
            name=saved.name,
            shape=shape,
            synchronization=saved.synchronization,
            aggregation=saved.aggregation,
        )

    def _function(self, number: int, saved: Any) -> Any:
        cases = list(map(self._case, saved.concrete_functions))
        name = saved.concrete_functions[0] if saved.concrete_functions else "function"
        made = RestoredFunction(_plain_name(name), saved.function_spec, cases)
        if name in self._aliases:
            self.aliases[self._aliases[name]] = made
        return made

    def _concrete(self, number: int, saved: Any) -> Any:
        name = saved.concrete_function_name
        names = saved.argument_keywords
        case = self._case(name)
        told = saved.function_spec.fullargspec.WhichOneof("kind")
        signature = signature_of(saved.function_spec) if told else by_keyword(names)
        return RestoredConcrete(_plain_name(name), signature, case)

    def _case(self, name: str) -> Case:
        saved = self._saved.concrete_functions[name]
        captured = list(map(self._handle, saved.bound_inputs))
        return Case(self._library[name], saved, captured)

    def _gradient(self, name: str, run: Run) -> tuple[GradientFunction, list[Any]]:
        """A gradient function by its name, and what it captured of the run of a function."""
        saved = self._saved.concrete_functions[name]
        captured = [self._captured(number, run) for number in saved.bound_inputs]
        return Case(self._library[name], saved, []).results, captured

    def _captured(self, number: int, run: Run) -> Any:
        """What a gradient function takes for what it captured."""
        tensor = self._nodes[number].captured_tensor
        if self._nodes[number].WhichOneof("kind") != "captured_tensor":
            return self._handle(number)
        if tensor.concrete_function != run.name:
            raise NotImplementedError(
                f"the gradient of a node of {run.name!r} by the tensor {tensor.name!r} of "
                f"{tensor.concrete_function!r}, in the SavedModel at {self._folder}"
            )
        return run.named(tensor.name)

    def _handle(self, number: int) -> Any:
        """What a function takes for an object that it captured."""
        value = self.object(number)
        if isinstance(value, StaticHashTable):
            return self._table_of(number, value)
        return value.asset_path if isinstance(value, Asset) else value

    def _table_of(self, number: int, known: StaticHashTable) -> Any:
        """What functions find in a table that was known. One that is empty is filled."""
        if number not in self._tables:
            made = self._tables[number] = self._resource(number, None)
            if not known.size():
                made.put_in(known)
        return self._tables[number]

    def _constant(self, number: int, saved: Any) -> Tensor:
        found: Tensor = attribute(self._constants[saved.operation].attr["value"])
        return found

    def _asset(self, number: int, saved: Any) -> Asset:
        name = self._assets[saved.asset_file_def_index]
        return Asset(os.path.join(self._folder, "assets", name))

    def _resource(self, number: int, saved: Any) -> Any:
        """A table: the function that makes it is run, and the one that fills it."""
        parts = {part.local_name: part.node_id for part in self._nodes[number].children}
        if "_create_resource" not in parts:
            raise NotImplementedError(
                f"a resource that no function makes, in the SavedModel at {self._folder}"
            )
        found = self._run(parts["_create_resource"])
        made: Any = (
            found[0] if found else RestoredObject()
        )  # a vocabulary without known keys has none
        places = self._tables if number in self._made else self._made
        places[number] = made
        if "_initialize" in parts:
            self._run(parts["_initialize"])
        kept = self._kept.get(number, {})
        if _KEYS in kept:
            made.fill_with(kept[_KEYS], kept[_VALUES])
        return made

    def _run(self, number: int) -> list[Any]:
        """What a function without arguments gives."""
        node: SavedObject = self._nodes[number]
        kind = node.WhichOneof("kind")
        if kind == "function":
            name = node.function.concrete_functions[0]
        else:
            name = node.bare_concrete_function.concrete_function_name
        bound = self._saved.concrete_functions[name].bound_inputs
        return self._library[name](*map(self._handle, bound))

    # -- parts ----------------------------------------------------------------------------------

    def _put_parts(self, number: int) -> None:
        """Give an object its parts."""
        owner, node = self._made[number], self._nodes[number]
        put = self._putting.get(number)
        if put is not None:
            for part in node.children:
                put(owner, part.local_name, self._part(part.node_id))
        elif isinstance(owner, Signatures):
            for part in node.children:
                owner.put(part.local_name, self._made[part.node_id])
        elif isinstance(owner, (list, dict, RestoredObject)):
            parts = [(part.local_name, self._part(part.node_id)) for part in node.children]
            if isinstance(owner, list):
                owner.extend(_in_order(parts))
            elif isinstance(owner, dict):
                owner.update(parts)
            else:
                for name, part in parts:
                    setattr(owner, name, part)

    def _part(self, number: int) -> Any:
        found = self.object(number)
        return found.concrete if isinstance(found, RestoredConcrete) else found

    # -- values ---------------------------------------------------------------------------------

    def _kept_values(self) -> dict[int, dict[str, Any]]:
        """The values of variables and tables by their numbers and names. The checkpoint has a graph
        of its own, in which the same names lead to the same objects."""
        prefix = os.path.join(self._folder, "variables", "variables")
        skip = self._options.experimental_skip_checkpoint
        holders = "variable", "resource"
        if skip or not any(node.WhichOneof("kind") in holders for node in self._nodes):
            return {}
        reader = CheckpointReader(prefix)
        graph: Graph = parsed(reader.get_tensor(GRAPH_KEY))
        places = {0: 0}
        ahead = [0]
        keys: dict[tuple[int, str], str] = {}
        while ahead:
            number = ahead.pop()
            there = graph.nodes[places[number]]
            for value in there.values:
                if value.name == VALUE_KEY:
                    keys[number, VALUE_KEY] = value.key
                elif value.name == _TABLE:
                    keys |= {(number, part): value.key + part for part in (_KEYS, _VALUES)}
            for part in self._nodes[number].children:
                place = there.children.get(part.local_name)
                if place is not None and part.node_id not in places:
                    places[part.node_id] = place
                    ahead.append(part.node_id)
            slots = {slot.name: slot for slot in there.slots}
            for slot in self._nodes[number].slot_variables:
                found = slots.get(slot.slot_name)
                if found is not None and slot.slot_variable_node_id not in places:
                    places[slot.slot_variable_node_id] = found.slot
                    ahead.append(slot.slot_variable_node_id)
        values = reader.get_tensors(list(keys.values()))
        kept: dict[int, dict[str, Any]] = {}
        for (number, name), key in keys.items():
            kept.setdefault(number, {})[name] = values[key]
        return kept


def _plain_name(name: str) -> str:
    """The name of a function without what TensorFlow puts around it.

    >>> _plain_name("__inference_call_12"), _plain_name("other")
    ('call', 'other')
    """
    if not name.startswith("__inference_"):
        return name
    return name.removeprefix("__inference_").rpartition("_")[0]


def _in_order(parts: Iterable[tuple[str, Any]]) -> list[Any]:
    """The items of a list, by their places, None where it had what is not saved; not its other
    attributes.

    >>> _in_order([("2", "b"), ("0", "a"), ("name", "c")])
    ['a', None, 'b']
    """
    found = {int(name): part for name, part in parts if name.isdecimal()}
    return [found.get(place) for place in range(max(found, default=-1) + 1)]
