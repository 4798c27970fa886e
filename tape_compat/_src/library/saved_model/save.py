"""`tf.saved_model.save`."""

from __future__ import annotations

import inspect
import logging
import os
import shutil
from collections.abc import Iterable, Mapping
from typing import Any

from ...checkpoint.bundle import write_bundle
from ...checkpoint.keys import path_of, value_key
from ...checkpoint.saving import View, values_in, view_of
from ...checkpoint.tracking import children_of_structure
from ...checkpoint.variables import is_variable, variable_of
from ...core.errors import NeedsValue, user_location
from ...core.paths import local_path
from ...core.state import LOCAL
from ...function.any_rank import ConcreteFunctionOfAnyRank
from ...function.concrete import ConcreteFunction
from ...function.function import Function
from ...values.trackable import Trackable
from ...values.variable import VALUE_KEY, Handle, Variable
from .assets import Asset
from .definitions import Definition, defined
from .main_graph import MainGraph
from .make_nodes import unique
from .messages import FunctionSpec, SavedModel, SavedObject
from .options import SaveOptions
from .ranks import defined_of_any_rank
from .restored import RestoredObject, Signatures
from .signatures import Served, signature_functions
from .structured import function_spec, shape_proto
from .table_functions import table_functions
from .table_nodes import TABLES, AnyTable

LOGGER = logging.getLogger("tape_compat")


def save(obj: Any, export_dir: Any, signatures: Any = None, options: Any = None) -> None:
    """Write an object with its Variables and its `tf.function`s, as a SavedModel.

    Functions are written as programs of StableHLO, for each kind of arguments that they were
    recorded for: call them before, or give them an `input_signature`. `tf.saved_model.load` reads
    them here, with their derivatives; TensorFlow, and what serves its models, runs them by XLA.

    Args:
      obj: a `tf.Module`, a Keras model, or another object that a checkpoint holds.
      export_dir: the folder, which is made.
      signatures: what to serve: a `tf.function` with an `input_signature`, a concrete function, or
        several by their names. They get tensors by name, and give a dict. Without it, the one
        function of `obj` that has an `input_signature`, as "serving_default".
      options: a `SaveOptions`.
    Raises: ValueError for an object that no checkpoint holds, or what is no signature;
      AssertionError if a function uses a Variable that is no part of `obj`; NotImplementedError if
      a signature cannot be written as one program, as one that prints, or that texts go through.
      Other functions that cannot be written are left out, and the logger `tape_compat` says so.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> module = tf.Module()
    >>> module.w = tf.Variable([1.0, 2.0])
    >>> module.f = tf.function(lambda x: x * module.w)
    >>> _ = module.f(tf.ones([2]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tf.saved_model.save(module, folder)
    ...     sorted(os.listdir(folder))
    ['assets', 'saved_model.pb', 'variables']
    """
    saved(obj, export_dir, signatures, options)


def saved(obj: Any, export_dir: Any, signatures: Any, options: Any) -> View:
    """Write a SavedModel, as `save` does: the view of what was written."""
    if LOCAL.state.capture is not None:
        raise AssertionError(
            "tf.saved_model.save is not supported inside a traced @tf.function. Move the call to "
            "the outer eagerly-executed context."
        )
    if not isinstance(obj, Trackable):
        raise ValueError(
            "Expected an object of type `Trackable`, such as `tf.Module` or a subclass of the "
            f"`Trackable` class, for export. Got {obj} with type {type(obj)}."
        )
    folder = local_path(os.fspath(export_dir))
    saving = _Saving(obj, signatures, options or SaveOptions())
    model = saving.model()
    os.makedirs(os.path.join(folder, "variables"), exist_ok=True)
    os.makedirs(os.path.join(folder, "assets"), exist_ok=True)
    write_bundle(os.path.join(folder, "variables", "variables"), values_in(saving.view))
    for name, path in saving.assets.items():
        shutil.copyfile(local_path(path), os.path.join(folder, "assets", name))
    with open(os.path.join(folder, "saved_model.pb"), "wb") as file:
        file.write(model.SerializeToString(deterministic=True))
    return saving.view


#: How a message says whether XLA is to compile a function.
_JIT_COMPILE = {None: 0, True: 1, False: 2}


class _Saving:
    """An object that is being saved: the view of its parts, and what is written of them."""

    def __init__(self, root: Any, signatures: Any, options: SaveOptions):
        self._options = options
        self._map = Signatures()
        #: What objects keep while they are saved, for each other.
        self._cache: dict[Any, Any] = {}
        try:
            self._signatures = signature_functions(root, signatures, self._parts_of)
        except NeedsValue as error:
            what = f"a signature cannot be written to a SavedModel: {error}"
            raise NotImplementedError(what) from None
        self.view: View = view_of(root, {"signatures": self._map}, self._parts_of)
        #: The files of assets by the names that they get.
        self.assets: dict[str, str] = {}
        #: The numbers of what functions take handles of: variables and tables.
        self._numbers: dict[Any, int] = {}
        for number, value in enumerate(self.view.objects):
            variable = variable_of(value)
            if variable is not None:
                self._numbers.setdefault(variable._handle, number)
            elif isinstance(value, (*TABLES, Asset)):
                self._numbers[value] = number
        self._definitions: dict[Any, tuple[str, Definition]] = {}
        self._model = SavedModel(saved_model_schema_version=1)
        self._graph = self._model.meta_graphs.add()
        self._objects = self._graph.object_graph_def
        self._main = MainGraph(self._graph)

    def model(self) -> SavedModel:
        """The message of the whole."""
        info = self._graph.meta_info_def
        info.tags.extend(["serve", *(self._options.extra_tags or ())])
        info.stripped_default_attrs = True
        for resource, number in self._numbers.items():
            variable = variable_of(self.view.objects[number])
            if variable is not None:
                self._main.add_variable(resource, variable)
            elif isinstance(resource, TABLES):
                self._main.add_table(resource)
        for value, parts in zip(self.view.objects, self.view.parts, strict=True):
            node = self._objects.nodes.add()
            for name, part in parts.items():
                node.children.add(node_id=self.view.numbers[id(part)], local_name=name)
            self._describe(node, value)
        for resource, number in self._numbers.items():
            if isinstance(resource, TABLES):
                self._add_table_functions(resource, number)
        self._add_signatures()
        self._main.add_saver(self._keys())
        self._main.add_initializer()
        for alias, function in self._options.function_aliases.items():
            for concrete in _concretes(function):
                name, _ = self._defined(concrete)
                info.function_aliases.add(key=name, value=alias)
        return self._model

    def _keys(self) -> dict[Handle, str]:
        """The names of the variables' values in the checkpoint."""
        paths = self.view.paths
        return {
            handle: value_key(path_of(paths[number]), VALUE_KEY)
            for handle, number in self._numbers.items()
            if isinstance(handle, Handle)
        }

    def _parts_of(self, value: Any) -> dict[str, Any]:
        """The parts of an object that a SavedModel keeps."""
        if isinstance(value, (Function, ConcreteFunction)):
            return {}
        if not isinstance(value, Trackable):
            return children_of_structure(value, functions=True)
        found = value._trackable_children("savedmodel", cache=self._cache)
        return {name: part for name, part in found.items() if not isinstance(part, Signatures)}

    # -- objects --------------------------------------------------------------------------------

    def _describe(self, node: SavedObject, value: Any) -> None:
        """Say in the message of an object what it is."""
        variable = variable_of(value) if is_variable(value) else None
        if variable is not None:
            self._variable(node, variable)
        elif isinstance(value, Function):
            self._function(node, value)
        elif isinstance(value, ConcreteFunction):
            self._concrete(node, value)
        elif isinstance(value, TABLES):
            node.resource.SetInParent()
        elif isinstance(value, Asset):
            node.asset.asset_file_def_index = self._asset(value)
            node.asset.SetInParent()
        else:
            node.user_object.identifier = _identifier(value)
            node.user_object.version.producer = node.user_object.version.min_consumer = 1

    def _variable(self, node: SavedObject, variable: Variable) -> None:
        made = node.variable
        made.dtype = variable.dtype.as_datatype_enum
        made.shape.CopyFrom(shape_proto(variable._handle.shape))
        made.shape.SetInParent()
        made.trainable = variable.trainable
        made.synchronization = variable.synchronization.value
        made.aggregation = variable.aggregation.value
        made.name = variable._shared_name

    def _asset(self, asset: Asset) -> int:
        path = asset.asset_path.numpy().decode()
        name = unique(os.path.basename(path), set(self.assets))
        self.assets[name] = path
        return self._main.add_asset(asset, name)

    def _function(self, node: SavedObject, function: Function) -> None:
        made = node.function
        made.SetInParent()
        signature = function._signature
        made.function_spec.CopyFrom(function_spec(signature.python, signature.specs))
        made.function_spec.jit_compile = _JIT_COMPILE[function._jit_compile]
        try:
            recorded = function._list_all_concrete_functions()
        except (NeedsValue, NotImplementedError) as error:
            LOGGER.warning("%s is left out of the SavedModel: %s", function.name, error)
            return
        for concrete in recorded:
            try:
                name, _ = self._defined(concrete)
            except NotImplementedError as error:
                LOGGER.warning("%s is left out of the SavedModel: %s", function.name, error)
                continue
            made.concrete_functions.append(name)

    def _concrete(self, node: SavedObject, concrete: ConcreteFunction) -> None:
        name, definition = self._defined(concrete)
        self._bare(node, name, definition, function_spec(concrete._signature.python))

    def _bare(
        self, node: SavedObject, name: str, definition: Definition, spec: FunctionSpec
    ) -> None:
        """Say in the message of an object that it is the function of this name."""
        made = node.bare_concrete_function
        made.concrete_function_name = name
        names = [spec.name or "" for spec in definition.inputs]
        made.argument_keywords.extend(names)
        made.allowed_positional_arguments = len(names)
        made.function_spec.CopyFrom(spec)

    def _defined(self, concrete: ConcreteFunction) -> tuple[str, Definition]:
        """The name of a concrete function in the graph, which it is written to."""
        found = self._definitions.get(concrete.record_id)
        if found is None:
            name = self._name(concrete._function_name)
            differentiable = self._options.experimental_custom_gradients
            if isinstance(concrete, ConcreteFunctionOfAnyRank):
                definition = defined_of_any_rank(concrete, name, differentiable)
            else:
                definition = defined(concrete, name, differentiable)
            self._refuse_untracked(concrete, definition)
            self._add(name, definition)
            found = self._definitions[concrete.record_id] = name, definition
        return found

    def _name(self, function_name: str) -> str:
        """A name in the graph, of a function of this name."""
        number = len(self._objects.concrete_functions) + 1
        return f"__inference_{function_name}_{number}".replace("<lambda>", "lambda")

    def _add(self, name: str, definition: Definition) -> None:
        """Write a function to the graph."""
        functions = (*definition.functions, definition.function)
        self._graph.graph_def.library.function.extend(functions)
        for resource in definition.resources:
            definition.saved.bound_inputs.append(self._numbers[resource])
        self._objects.concrete_functions[name].CopyFrom(definition.saved)

    def _refuse_untracked(self, concrete: ConcreteFunction, definition: Definition) -> None:
        for resource in definition.resources:
            if resource not in self._numbers:
                used = concrete.variables
                variable = next((v for v in used if v._handle is resource), resource)
                raise AssertionError(
                    "Tried to export a function which references an 'untracked' resource. "
                    "TensorFlow objects (e.g. tf.Variable) captured by functions must be 'tracked' "
                    "by assigning them to an attribute of a tracked object or assigned to an "
                    "attribute of the main object directly. See the information below:\n"
                    f"\tFunction name = {concrete.name!r}\n"
                    f"\tTrackable referencing this tensor = {variable!r}\n"
                    f"\tAt {user_location()}"
                )

    def _add_table_functions(self, table: AnyTable, number: int) -> None:
        """Add the functions that make and fill a table."""
        names = ("_create_resource", "_initialize")
        for label, definition in zip(names, table_functions(table, number), strict=True):
            name = definition.function.signature.name
            self._graph.graph_def.library.function.append(definition.function)
            definition.saved.bound_inputs.extend([number] * len(definition.resources))
            self._objects.concrete_functions[name].CopyFrom(definition.saved)
            node = self._objects.nodes.add()
            node.function.concrete_functions.append(name)
            node.function.function_spec.CopyFrom(function_spec(inspect.Signature()))
            holder = self._objects.nodes[number]
            holder.children.add(node_id=len(self._objects.nodes) - 1, local_name=label)

    # -- what is served -------------------------------------------------------------------------

    def _add_signatures(self) -> None:
        holder = self._objects.nodes[self.view.numbers[id(self._map)]]
        for name, served in self._signatures.items():
            function_name, definition = self._served(served)
            node = self._objects.nodes.add()
            holder.children.add(node_id=len(self._objects.nodes) - 1, local_name=name)
            self._bare(node, function_name, definition, served.spec())
            self._main.add_signature(name, function_name, definition)

    def _served(self, served: Served) -> tuple[str, Definition]:
        """The name of a function that is served in the graph, which it is written to."""
        called, definition = self._defined(served.called)
        name = self._name("signature_wrapper")
        definition = served.defined(name, called, definition)
        self._add(name, definition)
        return name, definition


def _concretes(function: Any) -> list[ConcreteFunction]:
    """The concrete functions of what the user gives another name."""
    if isinstance(function, Function):
        found: list[ConcreteFunction] = function._list_all_concrete_functions()
        return found
    several = list(function) if isinstance(function, Iterable) else [function]
    if not all(isinstance(each, ConcreteFunction) for each in several):
        raise TypeError(
            f"Unsupported type f{type(function)}. Functions in `function_aliases` should be "
            "created by tf.function, or concrete functions, or collections of concrete functions."
        )
    return several


def _identifier(value: Any) -> str:
    """How TensorFlow names the class of an object."""
    if isinstance(value, Signatures):
        return "signature_map"
    if isinstance(value, RestoredObject) and value._identifier:
        return value._identifier
    if isinstance(value, list):
        return "trackable_list_wrapper"
    if isinstance(value, Mapping):
        return "trackable_dict_wrapper"
    if isinstance(value, tuple):
        return "trackable_tuple_wrapper"
    return value._object_identifier
