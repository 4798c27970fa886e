"""Conditionals in functions that are being recorded."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..core import errors
from ..core.avals import Aval
from ..core.call import Call
from ..core.control import Cond, calling, structured
from ..core.dtypes import bool as bool_, int64, string
from ..core.refuse import shown, tf_dtype_name
from ..core.steps import Steps
from ..ops.casting import cast
from ..ops.shapes import squeeze
from ..values import nest
from ..values.capture import value_of
from ..values.convert import convert
from ..values.host_steps import takes_steps
from ..values.indexed_slices import IndexedSlices
from ..values.operation import Operation
from ..values.record import apply
from ..values.sizes import number_of
from ..values.tensor import Tensor
from ..values.variable import Handle, put_into
from .host_control import Branches, Inside, record_control
from .recording import (
    Operands,
    Part,
    assigned,
    buffer_or_tensor,
    flat,
    note_variables,
    packed,
    record,
    refuse_growth,
)
from .tensor_array import TensorArray


def truth(pred: Any) -> Tensor:
    """A predicate as a bool scalar. Raises InvalidArgumentError if it is none."""
    pred = convert(pred)
    if pred._aval.shape:
        pred = squeeze(pred)
    refuse_axes(pred)
    if pred.dtype is not bool_:
        what = f"Input 'pred' passed {tf_dtype_name(pred.dtype)} expected bool: a predicate"
        raise errors.located(errors.InvalidArgumentError, what)
    return pred


def refuse_axes(x: Tensor) -> None:
    """Refuse what branches cannot be chosen by. Raises: InvalidArgumentError."""
    if x._aval.shape:
        what = f"The second input must be a scalar, but it has shape {shown(x._aval.shape)}"
        raise errors.located(errors.InvalidArgumentError, what)


def choose(
    index: Tensor, functions: Sequence[Callable[[], Any]], names: Sequence[str], name: str
) -> Any:
    """What one of the functions gives: `functions[index]`, the last one if there is none. With a
    bool, the first function is that of False."""
    inside = Inside() if takes_steps() else None
    functions = [lambda f=f: _of_tensors(f(), index) for f in functions]
    parts = _recorded(functions, names, name, texts=False)
    if _indices_differ(parts):
        functions = [lambda f=f: _with_long_indices(f()) for f in functions]
        parts = _recorded(functions, names, name, texts=False)
    try:
        of_one_shape = _check(parts, names, name)
    except _TextsDiffer:
        if inside is None:
            raise
        parts = _recorded(functions, names, name, texts=True)
        of_one_shape = _check(parts, names, name)
    operands = Operands()
    taken = None if of_one_shape else decided(index)
    if taken is not None:  # its shapes are those of the result, whatever the others give
        index, parts, of_one_shape = convert(0), [parts[taken]], True
    cells = assigned(parts)
    wiring = [_wired(part, _avals(parts), cells, operands) for part in parts]
    count = len(operands.sources)
    branches = []
    for part, (given, chosen) in zip(parts, wiring, strict=True):
        numbers = [place + (0 if outside else count) for outside, place in chosen]
        branches.append(calling(part.captured.closure, part.outputs, count, given, numbers))
    note_variables(parts)
    title = "If" if name == "cond" else "Case"
    inputs = (index, *map(value_of, operands.sources))
    outputs: Sequence[Tensor]
    if of_one_shape and not any(part.in_parts for part in parts):
        outputs = apply(structured(Cond, title, tuple(branches)), inputs)
    else:
        results = [_joined(inside, avals) for avals in _given(branches, inputs[1:])]
        calls = [Call(steps, title) for steps in branches]
        outputs = record_control(Branches(title, calls, results), inputs)
    first = len(outputs) - len(cells)
    for handle, tensor in zip(cells, outputs[first:], strict=True):
        put_into(handle, tensor)
    return _packed(_leading(parts, name), _avals(parts), iter(outputs[:first]))


def decided(index: Any) -> int | None:
    """The number of the branch, if it depends on sizes only: the others need not be possible for
    them, and TensorFlow, which knows fewer sizes, may not see that."""
    if not isinstance(index, Tensor):
        return None
    try:
        return int(number_of(index))
    except errors.NeedsValue:
        return None


def _of_tensors(structure: Any, index: Tensor) -> Any:
    """A structure with what the branches are chosen by in the place of its operations."""
    if not any(isinstance(x, Operation) for x in flat(structure)):
        return structure
    return packed(structure, [index if isinstance(x, Operation) else x for x in flat(structure)])


def _indices_differ(parts: Sequence[Part]) -> bool:
    """Whether the branches give IndexedSlices with indices of two dtypes."""
    found = [
        [x.indices.dtype for x in nest.flatten(part.structure) if isinstance(x, IndexedSlices)]
        for part in parts
    ]
    return any(len(dtypes) == len(found[0]) and dtypes != found[0] for dtypes in found)


def _with_long_indices(structure: Any) -> Any:
    """A structure with indices of int64, which takes all, in its IndexedSlices."""

    def leaf(x: Any) -> Any:
        if not isinstance(x, IndexedSlices):
            return x
        return IndexedSlices(x.values, cast(x.indices, int64), x.dense_shape)

    return nest.map_structure(leaf, structure)


class _TextsDiffer(errors.NeedsValue):
    """The branches give texts, which only the host has."""


def _recorded(
    functions: Sequence[Callable[[], Any]], names: Sequence[str], name: str, texts: bool
) -> list[Part]:
    """The branches."""
    parts = []
    for f, n in list(zip(functions, names))[:: -1 if name == "cond" else 1]:  # that of True first
        parts.append(record(lambda _, f=f: f(), (), f"{name}_{n}", texts=texts))
    return parts[::-1] if name == "cond" else parts


def _given(branches: Sequence[Steps], operands: Sequence[Tensor]) -> Iterator[tuple[Aval, ...]]:
    """For each output its avals in the branches."""
    avals = tuple([x._aval for x in operands])
    return zip(*[Call(steps, "branch").infer(avals)[0] for steps in branches], strict=True)


def _joined(inside: Inside | None, avals: Sequence[Aval]) -> Aval:
    """The aval of what the branches give in one place."""
    other = next((aval for aval in avals if aval is not avals[0]), avals[0])
    if inside is None or len(other.shape) != len(avals[0].shape):
        raise errors.NeedsValue(
            f"The branches give tensors of different shapes, {avals[0].shape} and {other.shape}, "
            "so the shape of the result is not known before the function is called (at "
            f"{errors.user_location()})."
        )
    return inside.joined(avals)


#: Where an output of a branch comes from: whether from outside, and its number there or among what
#: the branch gives.
_Place = tuple[bool, int]


def _wired(
    part: Part, avals: Sequence[Aval | None], cells: Sequence[Handle], operands: Operands
) -> tuple[list[int], list[_Place]]:
    """The places of the operands that a branch takes, and where its outputs come from: its own, or
    what is there without it."""
    given = [operands.place(source) for source in part.captured.sources]
    chosen: list[_Place] = []
    made = itertools.count()
    for leaf, aval in zip(part.leaves, avals, strict=True):
        if part.tensor(leaf) is not None:
            chosen.append((False, next(made)))
        elif aval is not None:  # a TensorArray that only another branch has written to
            array = leaf._recorded()
            own = Aval.of((array.length, *aval.shape[1:]), aval.dtype)
            chosen.append((True, operands.place(array.buffer_of(own))))
    cell = {handle: next(made) for handle in part.captured.cells}
    for handle in cells:
        outside = handle not in cell
        chosen.append((outside, operands.place(handle) if outside else cell[handle]))
    return given, chosen


def _avals(parts: Sequence[Part]) -> list[Aval | None]:
    """The avals of the leaves, None for those that are no tensor in any part."""
    avals: list[Aval | None] = []
    for leaves in zip(*[part.leaves for part in parts], strict=True):
        tensors = [x for x in map(parts[0].tensor, leaves) if x is not None]
        avals.append(tensors[0]._aval if tensors else None)
    return avals


def _leading(parts: Sequence[Part], name: str) -> Part:
    """The branch that the results are structured like: the first one, or that of True."""
    return parts[-1] if name == "cond" else parts[0]


def _packed(part: Part, avals: Sequence[Aval | None], outputs: Iterator[Tensor]) -> Any:
    leaves = []
    for leaf, aval in zip(part.leaves, avals, strict=True):
        if isinstance(leaf, TensorArray) and aval is not None:
            leaf = leaf._with(leaf._recorded().with_buffer(next(outputs)))
        elif aval is not None:
            leaf = next(outputs)
        leaves.append(leaf)
    return packed(part.structure, leaves)


def _check(parts: Sequence[Part], names: Sequence[str], name: str) -> bool:
    """Refuse branches whose results differ in structure or dtype. Whether those of all have the
    same shapes."""
    same = True
    first = _leading(parts, name)
    label = names[parts.index(first)]
    for part, other in zip(parts, names, strict=True):
        if part is first:
            continue
        try:
            nest.assert_same_structure(first.structure, part.structure, expand_composites=True)
        except (TypeError, ValueError) as error:
            raise _differ(first, part, label, other, name, str(error)) from None
        for x, y in zip(first.leaves, part.leaves, strict=True):
            same &= _check_leaves(
                x,
                y,
                part.texts,
                lambda text, p=part, o=other: _differ(first, p, label, o, name, text),
            )
    return same


def _check_leaves(x: Any, y: Any, texts: bool, error: Callable[[str], TypeError]) -> bool:
    """Whether the leaves of two branches have the same shape."""
    if (x is None) != (y is None):
        raise ValueError(f"Lengths of branch outputs of cond must match: {x!s} and {y!s}.")
    if isinstance(x, TensorArray) != isinstance(y, TensorArray):
        raise error(f"{x!s} and {y!s} have different types")
    if x is None:
        return True
    if x.dtype is not y.dtype:
        raise error(f"{x!s} and {y!s} have different types")
    if isinstance(x, TensorArray):
        if takes_steps():
            if x.dtype is string or x._recorded().length != y._recorded().length:
                return False
        else:
            refuse_growth(x, y, "branches of a conditional")
    if x.dtype is string and x is not y and not texts:
        raise _TextsDiffer(f"A branch cannot give a text (at {errors.user_location()}).")
    one, two = buffer_or_tensor(x, texts), buffer_or_tensor(y, texts)
    return one is None or two is None or one._aval is two._aval


def _differ(
    first: Part, other: Part, first_name: str, other_name: str, name: str, detail: str
) -> TypeError:
    return TypeError(
        f"{first_name} and {other_name} arguments to tf.{name} must have the same number, type, "
        f"and overall structure of return values.\n\n{first_name} output: {first.structure}\n"
        f"{other_name} output: {other.structure}\n\nError details:\n{detail}"
    )
