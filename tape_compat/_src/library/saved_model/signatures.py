"""The functions that a SavedModel is served by."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ...checkpoint.tracking import functions_of
from ...function.concrete import ConcreteFunction
from ...function.function import Function
from ...function.signature import parameter_name
from ...values.composite import CompositeTensor
from ...values.spec import TensorSpec
from ...values.tensor import Tensor
from .make_nodes import unique

DEFAULT = "serving_default"


def signature_functions(
    obj: Any, signatures: Any, parts_of: Callable[[Any], dict[str, Any]]
) -> dict[str, ConcreteFunction]:
    """What the user asks to serve: functions of tensors by name, which give dicts, by their names.

    Args: `parts_of`: gives the parts of the object, of which one may be a function to serve.
    Raises: ValueError for what is no signature.
    """
    if signatures is None:
        found = _only(obj, parts_of)
        return {} if found is None else {DEFAULT: _wrapped(DEFAULT, found)}
    if not isinstance(signatures, Mapping):
        signatures = {DEFAULT: signatures}
    return {name: _wrapped(name, _concrete(function)) for name, function in signatures.items()}


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


def _wrapped(name: str, concrete: ConcreteFunction) -> ConcreteFunction:
    """A concrete function that takes its tensors by name and gives a dict."""
    taken: set[str] = set()
    specs = {unique(spec.name or "x", taken): spec for spec in concrete._input_specs}

    called: set[str] = set()
    names = {key: unique(parameter_name(key), called) for key in specs}

    def signature_wrapper(**kwargs: Any) -> Any:
        return _named(name, concrete, concrete._called([kwargs[names[key]] for key in specs]))

    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(names[key], kind) for key in specs]
    signature_wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    function = Function(signature_wrapper, "signature_wrapper", autograph=False)
    given = {names[key]: TensorSpec(spec.shape, spec.dtype, key) for key, spec in specs.items()}
    return function.get_concrete_function(**given)


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
        found = dict(outputs)
    elif hasattr(outputs, "_asdict"):
        found = outputs._asdict()
    elif isinstance(outputs, (list, tuple)):
        found = {f"output_{i}": value for i, value in enumerate(outputs)}
    else:
        found = {"output_0": outputs}
    for label, value in found.items():
        if not isinstance(value, (Tensor, CompositeTensor)):
            raise ValueError(
                f"Got a non-Tensor value {value!r} for key {label!r} in the output of the function "
                f"{name} used to generate the SavedModel signature {key!r}. Outputs for functions "
                "used as signatures must be a single Tensor, a sequence of Tensors, or a "
                "dictionary from string to Tensor."
            )
    return found
