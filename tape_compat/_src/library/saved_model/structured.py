"""Python values in a SavedModel: arguments, results and the parameters of functions."""

from __future__ import annotations

import inspect
from collections import OrderedDict, namedtuple
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ...composites.extension_type import ExtensionTypeSpec
from ...composites.ragged import RaggedTensorSpec
from ...composites.sparse import SparseTensorSpec
from ...core.dtypes import DType, as_dtype
from ...core.shapes import TensorShape
from ...data.dataset import DatasetSpec
from ...data.io.tensors import TensorShapeProto, make_ndarray, make_tensor_proto
from ...data.iterator import IteratorSpec
from ...values import nest
from ...values.composite import TypeSpec
from ...values.convert import convert
from ...values.indexed_slices import IndexedSlicesSpec
from ...values.spec import TensorSpec
from ...values.spec_registry import NAME_TO_SPEC, SPEC_TO_NAME
from ...values.tensor import Tensor
from .messages import FunctionSpec, StructuredValue


def shape_proto(shape: TensorShape) -> TensorShapeProto:
    """The message of a shape."""
    made = TensorShapeProto()
    if shape.rank is None:
        made.unknown_rank = 1
        return made
    for size in shape.as_list():
        made.dim.add(size=-1 if size is None else size)
    return made


def shape_of(proto: Any) -> TensorShape:
    """The shape that a message holds.

    >>> shape_of(shape_proto(TensorShape([None, 3])))
    TensorShape([None, 3])
    """
    if proto.unknown_rank:
        return TensorShape(None)
    return TensorShape([None if dim.size < 0 else dim.size for dim in proto.dim])


def encoded(value: Any) -> StructuredValue:
    """The message of a Python value: of None, a number, a text, a dtype, a shape, a tensor, a spec
    of one or of a composite, or a list, tuple or dict of such.

    Raises: TypeError for another; NotImplementedError for an ExtensionType without a name.
    """
    made = StructuredValue()
    if value is None:
        made.none_value.SetInParent()
    elif isinstance(value, (bool, np.bool_)):
        made.bool_value = bool(value)
    elif isinstance(value, (int, np.integer)):
        made.int64_value = int(value)
    elif isinstance(value, (float, np.floating)):
        made.float64_value = float(value)
    elif isinstance(value, str):
        made.string_value = value
    elif isinstance(value, TensorSpec):
        made.tensor_spec_value.CopyFrom(_spec_proto(made, value))
        made.tensor_spec_value.SetInParent()
    elif isinstance(value, TypeSpec):
        _encode_type_spec(made, value)
    elif isinstance(value, TensorShape):
        made.tensor_shape_value.CopyFrom(shape_proto(value))
        made.tensor_shape_value.SetInParent()
    elif isinstance(value, DType):
        made.tensor_dtype_value = value.as_datatype_enum
    elif isinstance(value, (Tensor, np.ndarray)):
        made.tensor_value.CopyFrom(make_tensor_proto(convert(value)))
    else:
        _encode_nest(made, value)
    return made


def _spec_proto(made: StructuredValue, spec: TensorSpec) -> Any:
    kind: Any = type(made.tensor_spec_value)
    return kind(
        name=spec.name or "", shape=shape_proto(spec.shape), dtype=spec.dtype.as_datatype_enum
    )


#: The specs that TensorFlow's files number, by these numbers.
_SPECS: dict[int, Any] = {
    **{1: SparseTensorSpec, 2: IndexedSlicesSpec, 3: RaggedTensorSpec},
    **{5: DatasetSpec, 6: IteratorSpec},
}
#: Those that are found by a name.
_REGISTERED, _EXTENSION_TYPE = 12, 13


def _encode_type_spec(made: StructuredValue, spec: TypeSpec) -> None:
    number = next((number for number, kind in _SPECS.items() if type(spec) is kind), None)
    name = type(spec).__name__
    if isinstance(spec, ExtensionTypeSpec):
        number, name = _EXTENSION_TYPE, SPEC_TO_NAME.get(type(spec))
    elif number is None and type(spec) in SPEC_TO_NAME:
        number, name = _REGISTERED, SPEC_TO_NAME[type(spec)]
    if name is None:
        raise NotImplementedError(
            f"No encoder for object {spec!r}: an ExtensionType needs a `__name__` to be saved, by "
            "which it is found when it is loaded"
        )
    if number is None:
        raise TypeError(f"No encoder for object {spec!r} of type {type(spec)}.")
    held = made.type_spec_value
    held.type_spec_class, held.type_spec_class_name = number, name
    held.type_state.CopyFrom(encoded(spec._serialize()))
    handle = isinstance(spec, (DatasetSpec, IteratorSpec))  # those are one tensor there
    held.num_flat_components = 1 if handle else len(components(spec))


def decoded_spec(held: Any) -> TypeSpec:
    """The spec that a message holds.

    Raises: NotImplementedError for that of a class that is not here.
    """
    kind = _SPECS.get(held.type_spec_class)
    if held.type_spec_class in (_REGISTERED, _EXTENSION_TYPE):
        kind = NAME_TO_SPEC.get(held.type_spec_class_name)
        if kind is None:
            raise NotImplementedError(
                f"a SavedModel takes or gives {held.type_spec_class_name!r}: import what "
                "registers it, or define the ExtensionType of this `__name__`, before you load it"
            )
    if kind is None:
        raise NotImplementedError(
            f"a SavedModel with a {held.type_spec_class_name} among the arguments or results of a "
            "function is not read"
        )
    return kind._deserialize(decoded(held.type_state))


def components(spec: TypeSpec) -> list[TensorSpec]:
    """The specs of the tensors that values of a spec are made of."""
    if isinstance(spec, TensorSpec):
        return [spec]
    return [part for inner in nest.flatten(spec._component_specs) for part in components(inner)]


def _encode_nest(made: StructuredValue, value: Any) -> None:
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        made.named_tuple_value.name = type(value).__name__
        fields: tuple[str, ...] = value._fields  # type: ignore[attr-defined]
        for name in fields:
            made.named_tuple_value.values.add(key=name, value=encoded(getattr(value, name)))
    elif isinstance(value, (list, tuple)):
        name = "list_value" if isinstance(value, list) else "tuple_value"
        held = getattr(made, name)
        held.SetInParent()
        held.values.extend(map(encoded, value))
    elif isinstance(value, Mapping):
        made.dict_value.SetInParent()
        made.dict_value.fields.update({str(key): encoded(part) for key, part in value.items()})
    else:
        raise TypeError(f"No encoder for object {value!r} of type {type(value)}.")


@lru_cache
def _named_tuple(name: str, fields: tuple[str, ...]) -> Any:
    return namedtuple(name, fields)  # type: ignore[misc]


def decoded(value: StructuredValue) -> Any:
    """The Python value of a message.

    >>> decoded(encoded({"a": (1, -2.5), "b": [TensorSpec([None]), None, "text"]}))
    {'a': (1, -2.5), 'b': [TensorSpec(shape=(None,), dtype=tf.float32, name=None), None, 'text']}
    """
    kind = value.WhichOneof("kind")
    held = getattr(value, kind or "none_value")
    if kind in (None, "none_value"):
        return None
    if kind in ("float64_value", "int64_value", "string_value", "bool_value"):
        return held
    if kind in ("tensor_spec_value", "bounded_tensor_spec_value"):
        return TensorSpec(shape_of(held.shape), as_dtype(held.dtype), held.name or None)
    if kind == "type_spec_value":
        return decoded_spec(held)
    if kind == "tensor_shape_value":
        return shape_of(held)
    if kind == "tensor_dtype_value":
        return as_dtype(held)
    if kind == "tensor_value":
        return convert(make_ndarray(held))
    if kind == "numpy_value":
        return make_ndarray(held)
    if kind == "list_value":
        return list(map(decoded, held.values))
    if kind == "tuple_value":
        return tuple(map(decoded, held.values))
    if kind == "dict_value":
        return {key: decoded(part) for key, part in held.fields.items()}
    if kind == "named_tuple_value":
        fields = tuple([pair.key for pair in held.values])
        return _named_tuple(held.name, fields)(*[decoded(pair.value) for pair in held.values])
    raise NotImplementedError(
        f"a SavedModel with a {kind} among the arguments or results of a function is not read"
    )


# -- the parameters of functions ------------------------------------------------------------------


def function_spec(signature: inspect.Signature, input_signature: Any = None) -> FunctionSpec:
    """The message of a function's parameters."""
    kinds = inspect.Parameter
    plain: list[str] = []
    by_name: list[str] = []
    defaults: list[Any] = []
    named_defaults: dict[str, Any] = {}
    extra: dict[Any, str] = {}
    for p in signature.parameters.values():
        if p.kind in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD):
            extra[p.kind] = p.name
        elif p.kind is kinds.KEYWORD_ONLY:
            by_name.append(p.name)
            if p.default is not p.empty:
                named_defaults[p.name] = p.default
        else:
            plain.append(p.name)
            if p.default is not p.empty:
                defaults.append(p.default)
    made = FunctionSpec()
    parts = OrderedDict(
        args=plain,
        varargs=extra.get(kinds.VAR_POSITIONAL),
        varkw=extra.get(kinds.VAR_KEYWORD),
        defaults=tuple(defaults) or None,
        kwonlyargs=by_name,
        kwonlydefaults=named_defaults or None,
        annotations={},
    )
    made.fullargspec.CopyFrom(_full_arguments(parts))
    made.input_signature.CopyFrom(encoded(input_signature))
    return made


def _full_arguments(parts: Mapping[str, Any]) -> StructuredValue:
    made = StructuredValue()
    made.named_tuple_value.name = "FullArgSpec"
    for name, part in parts.items():
        made.named_tuple_value.values.add(key=name, value=_or_nothing(part))
    return made


def _or_nothing(value: Any) -> StructuredValue:
    """A default, or None in the place of what cannot be written."""
    try:
        return encoded(value)
    except TypeError:
        if isinstance(value, tuple):
            return encoded(tuple([x if _is_written(x) else None for x in value]))
        return encoded({k: x if _is_written(x) else None for k, x in value.items()})


def _is_written(value: Any) -> bool:
    try:
        encoded(value)
    except TypeError:
        return False
    return True


def signature_of(spec: FunctionSpec) -> inspect.Signature:
    """The parameters that a message tells of."""
    full = decoded(spec.fullargspec)
    kinds = inspect.Parameter
    args: Sequence[str] = full.args
    defaults = [kinds.empty] * (len(args) - len(full.defaults or ())) + list(full.defaults or ())
    parameters = [
        kinds(name, kinds.POSITIONAL_OR_KEYWORD, default=default)
        for name, default in zip(args, defaults, strict=True)
    ]
    if full.varargs:
        parameters.append(kinds(full.varargs, kinds.VAR_POSITIONAL))
    given = full.kwonlydefaults or {}
    parameters += [
        kinds(name, kinds.KEYWORD_ONLY, default=given.get(name, kinds.empty))
        for name in full.kwonlyargs
    ]
    if full.varkw:
        parameters.append(kinds(full.varkw, kinds.VAR_KEYWORD))
    if spec.is_method and parameters[:1]:
        parameters = parameters[1:]
    return inspect.Signature(parameters)
