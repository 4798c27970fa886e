"""A number that tells what a pipeline does from what others do."""

from __future__ import annotations

import functools
import hashlib
import types
from typing import Any

import numpy as np

from ..core.dtypes import DType
from ..core.shapes import TensorShape
from ..values.composite import CompositeTensor, TypeSpec
from ..values.tensor import Tensor
from ..values.variable import Variable
from .functions import ElementFunction
from .pipeline import Pipeline
from .selecting import Seeds
from .structure import array_of

#: What pipelines hold only while they are used.
_KEPT = {"spec", "layout", "selection", "_ragged_specs", "_elements", "_chunks", "_kept_from"}
_PLAIN = (type(None), bool, int, float, complex, str, bytes, range, DType, TensorShape, TypeSpec)


def fingerprint(pipeline: Pipeline) -> int:
    """A number of 64 bits: of the steps, their settings, arrays, and the code of their functions
    with what they enclose. Seeds and what functions read from modules do not count."""
    digest = hashlib.blake2b(digest_size=8)
    _Walk(digest).add(pipeline)
    return int.from_bytes(digest.digest(), "little")


class _Walk:
    """Adds values to a digest, each object once."""

    def __init__(self, digest: Any):
        self._digest = digest
        self._seen: dict[int, int] = {}
        self._held: list[Any] = []  # so that no other object gets the same id

    def _put(self, text: str) -> None:
        self._digest.update(text.encode() + b"\0")

    def add(self, value: Any) -> None:
        """Add a value of any kind."""
        if isinstance(value, _PLAIN):
            self._put(f"{type(value).__name__} {value!r}")
            return
        if id(value) in self._seen:
            self._put(f"again {self._seen[id(value)]}")
            return
        self._seen[id(value)] = len(self._held)
        self._held.append(value)
        self._put(type(value).__qualname__)
        self._add_object(value)

    def _add_object(self, value: Any) -> None:
        if isinstance(value, Tensor) and not value._is_symbolic():
            self._add_array(array_of(value))
        elif isinstance(value, np.ndarray):
            self._add_array(value)
        elif isinstance(value, Variable):
            self._put(f"{value.shape} {value.dtype}")
        elif isinstance(value, CompositeTensor):
            self.add(value._type_spec)
            self.add(value._type_spec._to_components(value))
        elif isinstance(value, ElementFunction):
            self.add(value.function)
        elif isinstance(value, (types.FunctionType, types.MethodType, types.CodeType)):
            self._add_code(value)
        elif isinstance(value, (type, types.ModuleType, types.BuiltinFunctionType)):
            self._put(f"{getattr(value, '__module__', '')} {value.__name__}")
        elif isinstance(value, functools.partial):
            self.add((value.func, value.args, value.keywords))
        elif isinstance(value, dict):
            self.add([(key, value[key]) for key in sorted(value, key=repr)])
        elif isinstance(value, (list, tuple, set, frozenset)):
            for each in sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value:
                self.add(each)
        elif not isinstance(value, Seeds):
            self._add_attributes(value)

    def _add_array(self, array: np.ndarray) -> None:
        self._put(f"{array.dtype} {array.shape}")
        if array.dtype == object:
            self.add(array.ravel().tolist())
        else:
            self._digest.update(np.ascontiguousarray(array).tobytes())

    def _add_code(self, value: Any) -> None:
        if isinstance(value, types.CodeType):
            self._digest.update(value.co_code)
            self.add((value.co_consts, value.co_names))
            return
        if isinstance(value, types.MethodType):
            self.add((value.__func__, value.__self__))
            return
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        self.add((value.__code__, cells, value.__defaults__, value.__kwdefaults__))

    def _add_attributes(self, value: Any) -> None:
        if isinstance(value, Pipeline):
            self.add([(k, v) for k, v in sorted(vars(value).items()) if k not in _KEPT])
        elif hasattr(value, "__dict__"):
            self.add(vars(value))
