"""The functions that a SavedModel is served by."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ...checkpoint.tracking import functions_of
from ...core.dtypes import string
from ...function.concrete import ConcreteFunction
from ...function.function import Function
from ...function.signature import parameter_name
from ...values import nest
from ...values.composite import CompositeTensor, TypeSpec
from ...values.spec import TensorSpec
from ...values.tensor import Tensor
from .assets import Asset
from .body import Body
from .definitions import Definition, as_written, result_specs, saved_specs
from .make_nodes import CALL, RESOURCE_TYPE, function_named, unique
from .messages import FunctionSpec
from .structured import components, function_spec

DEFAULT = "serving_default"


class Served(NamedTuple):
    """A function that is served: it takes its tensors by name, and gives a dict. given: the specs
    of its tensors by its parameters, in the order of those of the function that it calls."""

    called: ConcreteFunction
    given: dict[str, TensorSpec]

    def spec(self) -> FunctionSpec:
        """The message of its parameters."""
        kind = inspect.Parameter.KEYWORD_ONLY
        return function_spec(inspect.Signature([inspect.Parameter(x, kind) for x in self.given]))

    def defined(self, name: str, called: str, definition: Definition) -> Definition:
        """It as a function of a graph, with this name. called: the name of the function that it
        calls, which is defined so."""
        body = Body(name, "signature_wrapper", False)
        given = dict(sorted(self.given.items()))
        own = {key: body.argument(x.name or "x", x.dtype, x.shape) for key, x in given.items()}
        resources, tensors = definition.resources, [own[key] for key in self.given]
        types: list[Any] = [spec.dtype for spec in self.given.values()]
        types += [string if isinstance(x, Asset) else RESOURCE_TYPE for x in resources]
        attr = {
            "Tin": types,
            "Tout": [spec.dtype for spec in definition.outputs],
            "_output_shapes": [spec.shape for spec in definition.outputs],
            "f": function_named(called),
        }
        stateful = definition.function.signature.is_stateful
        kernel = CALL if stateful else "PartitionedCall"
        node = body.node("call", kernel, [*tensors, *map(body.resource, resources)], attr)
        body.finish_arguments()
        body.finish_effects([node.name] if stateful else [])
        results, places = _results(definition.results)
        outputs = []
        for place in places:
            spec = definition.outputs[place]
            outputs.append(TensorSpec(spec.shape, spec.dtype, f"output_{len(outputs)}"))
            body.result(outputs[-1].name or "", f"{node.name}:output:{place}", spec.dtype, ())
        inputs = as_written(given.values())
        saved = saved_specs(((), given), results)
        return Definition(body.function, (), resources, saved, inputs, tuple(outputs), results)


def _results(gives: Any) -> tuple[dict[str, TypeSpec], list[int]]:
    """The specs of what a function gives by their names, and which of its tensors these are made
    of, as one that gives a dict has them in order."""
    specs = nest.flatten(gives)
    ends = list(itertools.accumulate([len(components(spec)) for spec in specs]))
    tensors = [range(end - len(components(x)), end) for x, end in zip(specs, ends, strict=True)]
    places = _by_label(nest.pack_sequence_as(gives, tensors))
    return result_specs(_by_label(gives)), [i for _, each in sorted(places.items()) for i in each]


def signature_functions(
    obj: Any, signatures: Any, parts_of: Callable[[Any], dict[str, Any]]
) -> dict[str, Served]:
    """What the user asks to serve: functions of tensors by name, which give dicts, by their names.

    Args: `parts_of`: gives the parts of the object, of which one may be a function to serve.
    Raises: ValueError for what is no signature.
    """
    if signatures is None:
        found = _only(obj, parts_of)
        return {} if found is None else {DEFAULT: _served(DEFAULT, found)}
    if not isinstance(signatures, Mapping):
        signatures = {DEFAULT: signatures}
    return {name: _served(name, _concrete(function)) for name, function in signatures.items()}


def _only(obj: Any, parts_of: Callable[[Any], dict[str, Any]]) -> ConcreteFunction | None:
    """The function to serve if the user named none: the model's own, or the one that there is."""
    try:
        own = getattr(obj, "_default_save_signature", None)
    except Exception:  # as TensorFlow does: Keras makes it of what the model was called with
        own = None
    if own is None or not isinstance(own, (Function, ConcreteFunction)):
        own = parts_of(obj).get("_default_save_signature")
    if own is not None:
        return _concrete(own)
    found = []
    for function in functions_of(obj).values():
        if isinstance(function, Function) and function.input_signature is not None:
            function = function.get_concrete_function()
        if isinstance(function, ConcreteFunction) and _is_valid(function):
            found.append(function)
    return found[0] if len(found) == 1 else None


def _is_valid(concrete: ConcreteFunction) -> bool:
    try:
        _named(DEFAULT, concrete, concrete.recorded_outputs)
    except ValueError:
        return False
    return True


def _concrete(function: Any) -> ConcreteFunction:
    if isinstance(function, Function) and function.input_signature is not None:
        return function.get_concrete_function()
    if not isinstance(function, ConcreteFunction):
        raise ValueError(
            "Expected a TensorFlow function for which to generate a signature, but got "
            f"{function}. Only `tf.functions` with an input signature or concrete functions can be "
            "used as a signature."
        )
    return function


def _served(name: str, concrete: ConcreteFunction) -> Served:
    """A function as it is served.

    Raises: ValueError if it gives anything but tensors and composites.
    """
    _named(name, concrete, concrete.recorded_outputs)
    taken: set[str] = set()
    called: set[str] = set()
    given = {}
    for spec in concrete._input_specs:
        key = unique(spec.name or "x", taken)
        named = TensorSpec(spec.shape, spec.dtype, key)
        given[unique(parameter_name(key), called)] = named
    return Served(concrete, given)


def _named(key: str, concrete: ConcreteFunction, outputs: Any) -> dict[str, Any]:
    """What a function gives as a dict.

    Raises: ValueError if it gives anything but tensors and composites.
    """
    name = concrete.name.decode()
    if isinstance(outputs, Mapping):
        for label in outputs:
            if not isinstance(label, str):
                raise ValueError(
                    f"Got a dictionary with a non-string key {label!r} in the output of the "
                    f"function {name} used to generate the SavedModel signature {key!r}."
                )
    found = _by_label(outputs)
    for label, value in found.items():
        if not isinstance(value, (Tensor, CompositeTensor)):
            raise ValueError(
                f"Got a non-Tensor value {value!r} for key {label!r} in the output of the function "
                f"{name} used to generate the SavedModel signature {key!r}. Outputs for functions "
                "used as signatures must be a single Tensor, a sequence of Tensors, or a "
                "dictionary from string to Tensor."
            )
    return found


def _by_label(outputs: Any) -> dict[str, Any]:
    """The parts of what a function gives by the names that a signature gives them."""
    if isinstance(outputs, Mapping):
        return dict(outputs)
    if hasattr(outputs, "_asdict"):
        named: dict[str, Any] = outputs._asdict()
        return named
    if isinstance(outputs, (list, tuple)):
        return {f"output_{i}": value for i, value in enumerate(outputs)}
    return {"output_0": outputs}
