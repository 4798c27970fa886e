"""When a function is recorded again and again: what is said of it, and what is done about it."""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from ..composites.extension_type import ExtensionTypeSpec
from ..composites.ragged import RaggedTensor, RaggedTensorSpec
from ..composites.sparse import SparseTensor, SparseTensorSpec
from ..core.avals import Aval
from ..core.dtypes import string
from ..core.native import native
from ..values import nest
from ..values.composite import TypeSpec
from ..values.convert import convert
from ..values.indexed_slices import IndexedSlices, IndexedSlicesSpec
from ..values.spec import TensorSpec
from ..values.tensor import Tensor
from ..values.variable import Variable
from .elements import TAKEN
from .signature import Arguments, Bound, Signature, rebuilt

#: TensorFlow warns, at most so many times, once that many of the last calls were recorded.
_MOST_WARNINGS = 2
_LAST_CALLS = 10
_TRACES = 5


@native
class Retracing:
    """Notes which calls of a function were recorded. calls: how many there were, of all functions
    made of the same Python code."""

    __slots__ = ("_function", "_last", "_traced", "_warnings", "calls")

    def __init__(self, function: Any):
        self._function = function
        self._traced: deque[int] = deque()
        self._warnings = self._last = self.calls = 0

    def traced(self) -> str | None:
        """Note that the last call is recorded, but not what is recorded without a call. Gives
        TensorFlow's warning when due."""
        call, traced = self.calls, self._traced
        if call == self._last:
            return None
        self._last = call
        traced.append(call)
        while call - traced[0] >= _LAST_CALLS:
            traced.popleft()
        if len(traced) < _TRACES or self._warnings == _MOST_WARNINGS:
            return None
        self._warnings += 1
        return (
            f"{len(traced)} out of the last {call - traced[0] + 1} calls to {self._function!r} "
            "triggered tf.function retracing. Tracing is expensive and the excessive number of "
            "tracings could be due to (1) creating @tf.function repeatedly in a loop, (2) passing "
            "tensors with different shapes, (3) passing Python objects instead of tensors. For "
            "(1), please define your @tf.function outside of the loop. For (2), @tf.function has "
            "reduce_retracing=True option that can avoid unnecessary retracing. For (3), please "
            "refer to https://www.tensorflow.org/guide/function#controlling_retracing."
        )


_BY_CODE: weakref.WeakKeyDictionary[Any, Retracing] = weakref.WeakKeyDictionary()


def retracing_of(function: Any) -> Retracing:
    """What notes it for a Python function: one for all that are made of its code, since functions
    are made anew in loops."""
    inner = function
    while hasattr(inner, "__wrapped__"):
        inner = inner.__wrapped__
    inner = getattr(inner, "__func__", inner)
    code = getattr(inner, "__code__", None)
    if code is None:
        return Retracing(function)
    found = _BY_CODE.get(code)
    return _BY_CODE.setdefault(code, Retracing(function)) if found is None else found


class General:
    """The shapes that came where arguments differ in nothing else: sizes that differ are None."""

    def __init__(self) -> None:
        self._seen: dict[tuple, tuple[list[TensorSpec], list[TypeSpec]]] = {}

    def of(self, bound: Bound) -> Bound:
        """Arguments with specs for the tensors in them that serve all that came so far."""
        key, specs, given = _specs(bound)
        before = self._seen.get(key)
        if before is None:
            return given
        left = iter(
            [
                TensorSpec(new.shape.most_specific_common_supertype([old.shape]), new.dtype)
                for old, new in zip(before[0], specs, strict=True)
            ]
        )
        composites = iter(before[1])
        general = _with_composites(
            bound, lambda new: new.most_specific_common_supertype([next(composites)])
        )
        return mapped(general, lambda _: next(left))

    def came(self, given: Bound) -> None:
        """Note arguments that the function was recorded for, as `of` gave them."""
        key, specs, _ = _specs(given)
        composites: list[TypeSpec] = []
        _with_composites(given, lambda spec: composites.append(spec) or spec)
        self._seen[key] = specs, composites


def _with_composites(bound: Bound, function: Callable[[TypeSpec], Any]) -> Bound:
    """Arguments with what a function makes of the specs of ragged and sparse tensors and slices."""

    def replaced(value: Any) -> Any:
        if isinstance(value, _COMPOSITES):
            return function(value._type_spec)
        children = None if isinstance(value, (Tensor, Variable)) else nest.children_of(value)
        return value if children is None else nest.rebuilt(value, list(map(replaced, children)))

    return bound._replace(
        args=tuple(map(replaced, bound.args)),
        kwargs=tuple([(name, replaced(value)) for name, value in bound.kwargs]),
    )


_COMPOSITES = RaggedTensor, SparseTensor, IndexedSlices
_COMPOSITE_SPECS = RaggedTensorSpec, SparseTensorSpec, IndexedSlicesSpec, ExtensionTypeSpec


def _specs(bound: Bound) -> tuple[tuple, list[TensorSpec], Bound]:
    """What arguments are known by but for sizes, specs of their tensors, and the arguments with
    these in their place."""
    specs, given = with_specs(bound)
    return tuple(map(_without_sizes, given.key)), specs, given


def with_specs(bound: Bound) -> tuple[list[Any], Bound]:
    """Specs of the tensors among arguments, and the arguments with these in their place."""
    specs: list[Any] = []

    def note(value: Any) -> Any:
        specs.append(spec_like(value, bound.known_texts))
        return specs[-1]

    return specs, mapped(bound, note)


def _without_sizes(part: Any) -> Any:
    """A part of a key as it is for tensors of all sizes."""
    if isinstance(part, Aval):
        return part.dtype, len(part.shape)
    if isinstance(part, tuple) and part[:1] == (TensorSpec,):
        return part[2], part[1].rank
    return part._with_tensor_ranks_only() if isinstance(part, _COMPOSITE_SPECS) else part


def add_tensors(value: tuple[Any, ...], parts: list[Any], tensors: list[Tensor]) -> bool:
    """Take apart a tuple of tensors, as `Arguments` does; False if it has anything else."""
    parts += (tuple, len(value))
    for child in value:
        if child.__class__ is not Tensor or child._aval.dtype is string:
            return False
        parts.append(child._aval)
        tensors.append(child)
    return True


def of_any_count(bound: Bound) -> Bound:
    """Arguments with specs in the place of the tensors that ragged and sparse ones consist of: how
    many elements they have is no part of what they are, as in TensorFlow."""
    found: dict[int, TensorSpec] = {}
    for value in (*bound.args, *[value for _, value in bound.kwargs]):
        _note_counts(value, found)
    return mapped(bound, lambda x: found.get(id(x), x)) if found else bound


def _note_counts(value: Any, found: dict[int, TensorSpec]) -> None:
    """Note the specs of what it consists of, by the identities of the tensors."""
    if isinstance(value, (RaggedTensor, SparseTensor)):
        spec = value._type_spec
        parts = spec._to_components(value)
        if all(x.dtype is not string for x in parts):
            found.update(zip(map(id, parts), spec._component_specs, strict=True))
        return
    for child in nest.children_of(value) or ():
        _note_counts(child, found)


def spec_like(value: Any, known_texts: bool = False) -> Any:
    """A spec in the place of a tensor; one of texts stays where its value counts."""
    if isinstance(value, TensorSpec):
        return value
    x = convert(value)
    return x if known_texts and x.dtype is string else TensorSpec(x.shape, x.dtype)


def mapped(bound: Bound, function: Any) -> Bound:
    """Arguments with what a function makes of the tensors in them."""
    return bound._replace(
        args=tuple([rebuilt(value, function) for value in bound.args]),
        kwargs=tuple([(name, rebuilt(value, function)) for name, value in bound.kwargs]),
    )


def key_of(signature: Signature, bound: Bound, arguments: Arguments) -> tuple:
    """What a trace for arguments is known by, which are taken apart."""
    if signature.specs is None:
        return tuple(arguments.parts)
    given = signature.general(bound)
    if any(0 in x._aval.shape for x in arguments.tensors):
        given = with_zeros(given, shapes_of(bound)) or given
    return given.key


def shapes_of(bound: Bound) -> list[Any]:
    """The shapes of the tensors among arguments."""
    return [spec.shape for spec in with_specs(bound)[0]]


def with_zeros(given: Bound, shapes: Sequence[Sequence[int | None]]) -> Bound | None:
    """Specs of arguments, those sizes known that are 0 in tensors of these shapes; None if no
    unknown one is: JAX takes it that an unknown size is not 0."""
    general = with_specs(given)[0]
    if len(general) != len(shapes):  # there are specs of ragged or sparse tensors
        return None
    specs = iter(map(zeros_in, general, shapes))
    found = mapped(given, lambda _: next(specs))
    return None if found.key == given.key else found


def zeros_in(general: Any, known: Sequence[int | None]) -> Any:
    """A spec with the sizes that are 0 in a shape."""
    if not isinstance(general, TensorSpec) or general.shape.rank is None or 0 not in known:
        return general
    pairs = zip(general.shape, known, strict=True)
    return TensorSpec([0 if m == 0 else n for n, m in pairs], general.dtype, general.name)


def unsized(bound: Bound) -> Bound:
    """Arguments with specs in the place of tensors that are parts of noted elements, where the
    dataset's spec has None for the first size. The others are taken as they are: specs of ours may
    have None where TensorFlow's have a number."""
    unknown = {}
    for element, spec in TAKEN.elements or ():
        for value, part in zip(nest.flatten(element), nest.flatten(spec)):
            if isinstance(value, Tensor) and isinstance(part, TensorSpec) and _any_first(part):
                unknown[id(value)] = TensorSpec([None, *value.shape[1:]], value.dtype)
    return mapped(bound, lambda value: unknown.get(id(value), value)) if unknown else bound


def widened(bound: Bound) -> Bound:
    """Arguments with specs in the place of tensors whose sizes are no part of what they are."""
    return of_any_count(unsized(bound))


def _any_first(spec: TensorSpec) -> bool:
    return bool(spec.shape.rank) and spec.shape[0] is None


@native
class Quick:
    """What most calls need of a function: how many arguments they have, at `least` and at `most`,
    its traces, and what notes the calls."""

    __slots__ = ("least", "most", "retracing", "traces")

    def __init__(self, plain: tuple[float, float], traces: dict[tuple, Any], retracing: Retracing):
        self.least, self.most = [int(max(-1, min(count, sys.maxsize))) for count in plain]
        self.traces, self.retracing = traces, retracing
