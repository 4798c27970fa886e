"""Ops in functional models of Keras 2, which makes a layer of each, and writes it by its name.

TensorFlow asks Keras at each call of an op; here the public ops ask, once Keras 2 is loaded. The
names are TensorFlow's, so that each library reads the models of the other.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn

from ..core.errors import NeedsValue
from ..interop.dispatch import give_way
from ..interop.names import ledger
from ..ops.comparison import equal, not_equal
from ..values import nest
from ..values.convert import convert
from ..values.dispatch import CompositeOperand
from ..values.operators import function_of
from ..values.spec import type_spec_from_value
from ..values.targets import TARGETS, Target, key_of
from ..values.variable import Variable
from .keras import FOLLOWERS

_PACKAGE = __name__.partition(".")[0]
_ROOT = "tensorflow"

#: By Python's operators what TensorFlow calls for them, of numbers and of booleans.
_BINARY = {
    "add": "__operators__.add",
    "sub": "math.subtract",
    "mul": "math.multiply",
    "truediv": "math.truediv",
    "floordiv": "compat.v1.floor_div",
    "mod": "math.floormod",
    "pow": "math.pow",
    "matmul": "linalg.matmul",
    "and": ("bitwise.bitwise_and", "math.logical_and"),
    "or": ("bitwise.bitwise_or", "math.logical_or"),
    "xor": ("bitwise.bitwise_xor", "math.logical_xor"),
}
_COMPARING = {
    "lt": "math.less",
    "le": "math.less_equal",
    "gt": "math.greater",
    "ge": "math.greater_equal",
}
_EQUAL = {"eq": "__operators__.eq", "ne": "__operators__.ne"}
_UNARY = {
    "neg": "math.negative",
    "abs": "math.abs",
    "invert": ("bitwise.invert", "math.logical_not"),
}
_GETITEM = "__operators__.getitem"
#: Ops that TensorFlow calls with y as a keyword.
_BY_KEYWORD = {
    *("compat.v1.floor_div", "math.floormod", *_COMPARING.values()),
    *(name for both in ("and", "or", "xor") for name in _BINARY[both]),
}
#: Ops whose layers have slices among their arguments.
_SLICING = frozenset({_GETITEM, "__operators__.ragged_getitem", "boolean_mask"})

#: The names of what the faces show, by identity; filled when the first is asked for.
_SHOWN: dict[int, tuple[Any, str]] = {}


def called(name: str) -> Any:
    """What we show by 'nn.relu'; None if nothing, and for names of Keras."""
    value: Any = sys.modules.get(_ROOT)
    parts = name.split(".")
    if parts[0] == "keras":
        return None
    for part in parts:
        value = getattr(value, part, None)
    return value


def shown_by(symbol: Any) -> str | None:
    """The name that a function or class of ours is shown by: 'nn.relu'; None if it is not."""
    if not _SHOWN:
        ours = sys.modules[_PACKAGE]
        for row in ledger().values():
            parts = row.name.split(".")[1:]
            if row.where and row.where != "compat" and parts[0] not in FOLLOWERS:
                value = functools.reduce(getattr, parts, ours)
                _SHOWN.setdefault(id(value), (value, row.name.partition(".")[2]))
        further = ("__operators__.add", "__operators__.ragged_getitem", "compat.v1.floor_div")
        for name in (_GETITEM, "math.truediv", *_EQUAL.values(), *further):
            _SHOWN[id(called(name))] = called(name), name
    for each in (symbol, getattr(symbol, "__wrapped__", None)):
        known, name = _SHOWN.get(id(each), (None, None))
        if known is each and each is not None:
            return name
    return None


def as_layers(layers: ModuleType) -> None:
    """Ops of what stands for tensors in functional models."""
    symbol = layers.keras_tensor.KerasTensor

    def as_layer(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        kind = layers.SlicingOpLambda if shown_by(op) in _SLICING else layers.TFOpLambda
        return kind(op)(*args, **kwargs)

    give_way(symbol, as_layer)
    for operator, name in (_BINARY | _COMPARING | _EQUAL).items():
        setattr(symbol, f"__{operator}__", _binary(layers, name))
        if operator in _BINARY:
            setattr(symbol, f"__r{operator}__", _reflected(layers, name))
        _take_right(symbol, operator, _binary(layers, name))
    for operator, name in _UNARY.items():
        setattr(symbol, f"__{operator}__", _unary(layers, name))
    symbol.__getitem__ = _slicing(layers, _GETITEM)
    symbol.__tf_tensor__ = _refused
    ragged = layers.keras_tensor.RaggedKerasTensor
    for operator in ("__add__", "__radd__", "__mul__", "__rmul__"):
        setattr(ragged, operator, getattr(symbol, operator))
    ragged.__getitem__ = _slicing(layers, "__operators__.ragged_getitem")
    _without_values(symbol)


class _Refused(CompositeOperand, TypeError):
    """What stands for a tensor where a tensor is wanted. An operator then asks for who takes it."""


_Refused.__name__ = TypeError.__name__


def _refused(value: Any, dtype: Any = None, name: Any = None) -> NoReturn:
    try:
        value.__array__()
    except TypeError as error:
        raise _Refused(str(error)) from None
    raise _Refused(f"{value} is no tensor")


def _take_right(symbol: type, operator: str, layer: Callable[[Any, Any], Any]) -> None:
    """Let an operator of a tensor make a layer where what stands for one is its right operand."""
    function = {"eq": equal, "ne": not_equal}.get(operator) or function_of(operator)
    left, right, *_ = inspect.signature(function).parameters
    check = {left: lambda x: not isinstance(x, symbol), right: lambda y: isinstance(y, symbol)}

    def on_layer(x: Any, y: Any, *_: Any, **__: Any) -> Any:
        return layer(x.read_value() if isinstance(x, Variable) else x, y)

    TARGETS.setdefault(key_of(function), []).append(Target(on_layer, (check,)))


def _of(name: Any, x: Any) -> str:
    """The op that is meant for numbers, or for booleans."""
    return name if isinstance(name, str) else name[getattr(x, "dtype", None) == "bool"]


def _layer(layers: ModuleType, name: str, x: Any, y: Any) -> Any:
    made = layers.TFOpLambda(called(name))
    if name in _BY_KEYWORD:
        return made(x, y=y, name=None)
    return made(x, y) if name in _EQUAL.values() else made(x, y, name=None)


def _binary(layers: ModuleType, name: Any) -> Callable[[Any, Any], Any]:
    return lambda x, y: _layer(layers, _of(name, x), x, y)


def _reflected(layers: ModuleType, name: Any) -> Callable[[Any, Any], Any]:
    """A layer is to have tensors before others, so what stands on the left is one, of y's dtype."""
    return lambda y, x: _layer(layers, _of(name, y), convert(x, y.dtype), y)


def _unary(layers: ModuleType, name: Any) -> Callable[[Any], Any]:
    return lambda x: layers.TFOpLambda(called(_of(name, x)))(x, name=None)


def _slicing(layers: ModuleType, name: str) -> Callable[[Any, Any], Any]:
    def getitem(tensor: Any, slice_spec: Any) -> Any:
        spec = nest.map_structure(layers._slice_to_dict, slice_spec)
        return layers.SlicingOpLambda(called(name))(tensor, spec)

    return getitem


def _without_values(symbol: Any) -> None:
    """Integers of which not even the number is known stand for no shape."""
    by_shape = symbol.from_tensor.__func__

    def from_tensor(cls: Any, tensor: Any) -> Any:
        try:
            return by_shape(cls, tensor)
        except NeedsValue:
            return symbol(type_spec_from_value(tensor), name=getattr(tensor, "name", None))

    symbol.from_tensor = classmethod(from_tensor)
