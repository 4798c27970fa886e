"""`x[...]`: slicing, indexing, and assigning to slices of variables.

A spec is a tuple with one entry for each index: an int (takes it, the axis goes), a triple (start,
stop, step) of a slice, None (a new axis), Ellipsis, or DYNAMIC: a scalar tensor, which is an input.
So are the numbers of a spec in its dynamic form, which many specs share: there a WINDOW stands for
an int and for a slice, with the width, the step, and whether the axis stays.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core import dtypes, limits
from ..core.avals import Aval
from ..core.caches import Cache
from ..core.dimension import Dimension
from ..core.dimensions import (
    Shape,
    Size,
    differ,
    is_symbolic,
    is_unknown,
    less,
    maximum,
    minimum,
    told_minimum,
)
from ..core.dtypes import as_dtype
from ..core.errors import NeedsValue, OutOfRangeError, user_location
from ..core.op import Closure, DynamicForm, Op
from ..core.refuse import invalid, not_allowed, shown
from ..core.state import LOCAL, seen_by
from ..run import policy
from ..run.op_by_op import unrecorded
from ..values import operators
from ..values.bounds import host_value, refuse_at, refuse_place
from ..values.convert import convert
from ..values.effects import require
from ..values.host_steps import without_steps
from ..values.record import apply
from ..values.tensor import Tensor, concrete, mark_slice
from ..values.updates import apply_off_tape
from ..values.variable import Variable, read
from .arguments import INDEX_DTYPES, as_size, as_tensor, is_text, move_text
from .moving_slices import Moving, assume_inside, moving
from .selection import boolean_mask
from .shapes import reshape

newaxis = None
DYNAMIC = "dynamic"
WINDOW = "window"
_WHOLE = (None, None, None)
_BAD_INDEX = (
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
    "tf.int32/tf.int64 tensors are valid indices"
)


class _Plan(NamedTuple):
    """How to index an array of one shape: what to cut, then what to reverse, then the shape."""

    cuts: tuple[tuple[int, int, int], ...]  # start, stop, step (positive) of each axis
    reversed: tuple[int, ...]
    dynamic: tuple[int, ...]  # axes indexed by an input
    windows: tuple[tuple[int, int, int], ...]  # axis, width, step of what begins at an input
    shape: tuple[int, ...]


def _planned(spec: tuple[Any, ...], shape: tuple[int, ...]) -> _Plan:
    used = sum(1 for s in spec if s is not None and s is not Ellipsis)
    if spec.count(Ellipsis) > 1:
        raise invalid("Multiple ellipses in slice spec not allowed", "StridedSlice")
    if used and not shape:
        raise invalid("Attempting to slice scalar input.", "StridedSlice")
    if used > len(shape):
        raise invalid(
            f"Index out of range using input dim {len(shape)}; input has only {len(shape)} dims",
            "StridedSlice",
        )
    if Ellipsis not in spec:
        spec = (*spec, Ellipsis)
    cuts: list[tuple[int, int, int]] = []
    backwards, dynamic, windows, out = [], [], [], []
    for i, entry in enumerate(spec):
        axis = len(cuts)
        if entry is None:
            out.append(1)
        elif entry is Ellipsis:
            for n in shape[axis : axis + len(shape) - used]:
                cuts.append((0, n, 1))
                out.append(n)
        elif entry is DYNAMIC:
            cuts.append((0, shape[axis], 1))
            dynamic.append(axis)
        elif entry.__class__ is tuple and entry[0] == WINDOW:
            cuts.append((0, shape[axis], 1))
            windows.append((axis, *entry[1:3]))
            if entry[3]:
                out.append(len(range(0, *entry[1:3])))
        elif entry.__class__ is int or is_symbolic(entry):
            at = entry + shape[axis] if entry < 0 else entry
            refuse_at(at, shape[axis], axis)
            cuts.append((at, at + 1, 1))
        else:
            if entry[2] == 0:
                raise invalid(f"strides[{i}] must be non-zero", "StridedSlice")
            start, count, step = _cut(entry, shape[axis])
            out.append(count)
            if count == 0:
                cuts.append((0, 0, 1))
            elif step > 0:
                cuts.append((start, start + (count - 1) * step + 1, step))
            else:
                cuts.append((start + (count - 1) * step, start + 1, -step))
                backwards.append(axis)
    return _Plan(tuple(cuts), tuple(backwards), tuple(dynamic), tuple(windows), tuple(out))


def _cut(entry: tuple[Any, Any, Any], n: Size) -> tuple[Size, Size, int]:
    """Where a slice of `n` places starts, how many it takes, and its step."""
    if not is_unknown((n, *(x for x in entry if x is not None))):
        start, stop, step = builtins.slice(*entry).indices(n)
        return start, len(range(start, stop, step)), step
    step = 1 if entry[2] is None else entry[2]
    low, high = (0, n) if step > 0 else (-1, n - 1)
    start, stop = (low, high) if step > 0 else (high, low)
    if entry[0] is not None:
        start = _inside(entry[0], n, low, high)
    if entry[1] is not None:
        stop = _inside(entry[1], n, low, high)
    length = stop - start if step > 0 else start - stop
    return start, maximum((length + builtins.abs(step) - 1) // builtins.abs(step), 0), step


def _inside(bound: Size, n: Size, low: Size, high: Size) -> Size:
    """A bound of a slice, counted from the end if it is negative, within what there is."""
    if less(bound, 0):
        return maximum(bound + n, low)
    if not less(-1, bound):
        raise NeedsValue(f"Whether the bound {bound} of a slice is negative is not known")
    return told_minimum(bound, high) if type(high) is int else minimum(bound, high)


def _clipped(spec: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[Any, ...]:
    """A spec that fits the shape, without Ellipsis and with its numbers counted from 0 and inside
    the shape, so that its dynamic form holds for it. Backward slices stay as they are."""
    at = spec.index(Ellipsis) if Ellipsis in spec else len(spec)
    used = sum(1 for s in spec if s is not None and s is not Ellipsis)
    sizes = iter(shape)
    out: list[Any] = []
    entry: Any
    for entry in (*spec[:at], *[_WHOLE] * (len(shape) - used), *spec[at + 1 :]):
        if entry is not None:
            n = next(sizes)
            if is_unknown((n,)):
                pass
            elif entry.__class__ is int:
                entry %= n
            else:
                cut = builtins.slice(*entry).indices(n)
                if cut == (0, n, 1):
                    entry = _WHOLE
                elif not range(*cut):
                    entry = 0, 0, 1
                elif cut[2] > 0:
                    entry = cut
        out.append(entry)
    return tuple(out)


def _by_axis(plan: _Plan, places: Sequence[Any]) -> dict[int, Any]:
    """The places that are inputs, by their axes."""
    axes = sorted([*plan.dynamic, *[axis for axis, _, _ in plan.windows]])
    return dict(zip(axes, places, strict=True))


def _indexed(x: Any, *places: Any, spec: tuple[Any, ...]) -> Any:
    plan = _planned(spec, x.shape)
    if any(cut != (0, n, 1) for cut, n in zip(plan.cuts, x.shape)):
        x = lax.slice(x, *zip(*plan.cuts))
    given = _by_axis(plan, places)
    if plan.windows:
        starts, sizes, steps = [np.int32(0)] * x.ndim, list(x.shape), [1] * x.ndim
        for axis, width, step in plan.windows:
            starts[axis], sizes[axis], steps[axis] = given[axis], width, step
        x = lax.slice(lax.dynamic_slice(x, starts, sizes), [0] * x.ndim, sizes, steps)
    for axis in plan.dynamic:
        place, size = given[axis], x.shape[axis]
        if size == 0:  # nothing can be taken, but nothing may have to be
            x = jnp.zeros((*x.shape[:axis], 1, *x.shape[axis + 1 :]), x.dtype)
            continue
        place = jnp.where(place < 0, place + size, place)
        x = lax.dynamic_slice_in_dim(x, place, 1, axis)
        x = jnp.where((place >= 0) & (place < size), x, jnp.zeros((), x.dtype))
    if plan.reversed:
        x = lax.rev(x, plan.reversed)
    return x if x.shape == plan.shape else lax.reshape(x, plan.shape)


def _dynamic_form(spec: tuple[Any, ...]) -> tuple[dict[str, Any], tuple[int, ...], bool] | None:
    """The dynamic form of a clipped spec, and the numbers it leaves out: see `Op`. Rows taken by
    number cost the same in either form; a slice that begins at an input cannot be fused as well."""
    if DYNAMIC in spec:
        return None
    numbers: list[int] = []
    dynamic: list[Any] = []
    rows = True
    for entry in spec:
        if entry.__class__ is int:
            numbers.append(entry)
            entry = WINDOW, 1, 1, False
        elif entry.__class__ is tuple and entry != _WHOLE:
            if WINDOW in entry or None in entry or entry[0] >= entry[1] or entry[2] < 1:
                return None  # it is dynamic already, or empty, or goes backwards
            start, stop, step = entry
            numbers.append(start)
            entry = WINDOW, stop - start, step, True
            rows = False
        dynamic.append(entry)
    return ({"spec": tuple(dynamic)}, tuple(numbers), rows) if numbers else None


def _of_sizes(x: Any, *places: Any, spec: tuple[Any, ...]) -> Any:
    """The elements of a vector of sizes."""
    given = iter(places)
    index = []
    for entry in spec:
        if entry.__class__ is tuple and entry[0] == WINDOW:
            at = int(next(given))
            entry = builtins.slice(at, at + entry[1], entry[2]) if entry[3] else at
        elif entry.__class__ is tuple:
            entry = builtins.slice(*entry)
        elif entry is DYNAMIC:
            entry = int(next(given))
        index.append(entry)
    return x[tuple(index)]


def _one_row(shape: tuple[int, ...], spec: tuple[Any, ...]) -> tuple[int, tuple[int]] | None:
    """The axis and the number of a clipped spec that takes one row and nothing else."""
    parts = [(axis, entry) for axis, entry in enumerate(spec) if entry != _WHOLE]
    if len(parts) != 1 or parts[0][1].__class__ is not int:
        return None
    axis, number = parts[0]
    return axis, (number,)


#: Where the numbers of a spec cannot be counted from 0.
_INDEXED_UNKNOWN = Op(
    _indexed,
    "StridedSlice",
    check=lambda avals, spec: _planned(spec, avals[0].shape) and None,
    shapes=lambda avals, spec: Aval.of(_planned(spec, avals[0].shape).shape, avals[0].dtype),
    of_sizes=_of_sizes,
)
_INDEXED = Op(
    _indexed,
    "StridedSlice",
    dynamic_form=_dynamic_form,
    rows=_one_row,
    check=lambda avals, spec: _planned(spec, avals[0].shape) and None,
    shapes=lambda avals, spec: Aval.of(_planned(spec, avals[0].shape).shape, avals[0].dtype),
    of_sizes=_of_sizes,
)


def getitem(x: Any, index: Any) -> Tensor:
    """`x[index]`, for TensorFlow's indices: ints, slices, `...`, None, scalar tensors, a mask."""
    if x.__class__ is not Tensor:
        x = convert(x)
    if index.__class__ is int:
        return at(x, (index,), ())
    if _is_mask(index):
        return boolean_mask(x, index)
    return at(x, *spec_of(index, x))


def variable_getitem(variable: Variable, index: Any) -> Tensor:
    """`variable[index]`, which can be assigned to unless the index is a mask."""
    x = read(variable)
    if index.__class__ is int:
        spec: tuple[Any, ...] = (index,)
        places: tuple[Tensor, ...] = ()
    else:
        if _is_mask(index):
            return boolean_mask(x, index)
        spec, places = spec_of(index, x)
    part = at(x, spec, places)
    mark_slice(part, variable, spec, places)
    return part


def at(x: Tensor, spec: tuple[Any, ...], places: tuple[Tensor, ...]) -> Tensor:
    array = x._array
    fixed, plan, known = spec, None, True
    if places:
        fixed = _with_known(spec, places)
        known = fixed is not spec
        if known:
            plan = _planned(fixed, x._aval.shape)  # raises for what is out of range
        else:
            _refuse_places(spec, x._aval.shape, places)
    if array.__class__ is np.ndarray and known:
        kind = array.dtype.kind
        if kind == "O" or (kind in "iub" and array.size <= policy.HOST_SIZE):
            return _host_item(x, array, plan or _planned(fixed, x._aval.shape))
    if x._aval.dtype is dtypes.string:
        return move_text(lambda p, *by: at(p, spec, by), x, by=places)
    if places:
        return apply(_INDEXED.bind(spec=spec), (x, *places))
    if array.__class__ is np.ndarray and unrecorded():
        return _host_item(x, array, _planned(spec, x._aval.shape))
    found = _PLACES.get((spec, x._aval.shape))
    if found is None:
        if _is_open(spec, x._aval):
            return apply(_INDEXED_UNKNOWN.bind(spec=spec), (x,))
        found = _remember(spec, x._aval.shape)
    clipped, dynamic = found
    if array is None:
        return apply(_INDEXED.bind(spec=clipped), (x,))
    return apply(*_called(_INDEXED, clipped, dynamic, (x,)))


def _is_open(spec: tuple[Any, ...], aval: Aval) -> bool:
    """Whether a spec cannot be clipped: it cuts an axis of unknown size, or at an unknown place."""
    if is_unknown(n for entry in spec if entry.__class__ is tuple for n in entry if n is not None):
        return True
    if any(is_symbolic(entry) for entry in spec):
        return True
    if not aval.unknown:
        return False
    clipped = _clipped(spec, aval.shape)
    entries = (entry for entry in clipped if entry is not None)
    return any(is_symbolic(n) and e != _WHOLE for e, n in zip(entries, aval.shape))


#: Of specs on shapes: clipped, and the dynamic form.
_PLACES: Cache[
    tuple[tuple[Any, ...], tuple[int, ...]], tuple[tuple[Any, ...], DynamicForm | None]
] = Cache("clipped specs", limits.MAX_CLOSURES_PER_OP)


def _remember(
    spec: tuple[Any, ...], shape: tuple[int, ...]
) -> tuple[tuple[Any, ...], DynamicForm | None]:
    _planned(spec, shape)  # raises for what is out of range
    clipped = _clipped(spec, shape)
    return _PLACES.put((spec, shape), (clipped, _INDEXED.dynamic_form_of({"spec": clipped})))


_INT32 = Aval.of((), dtypes.int32)


def _called(
    op: Op, spec: tuple[Any, ...], dynamic: DynamicForm | None, inputs: tuple[Tensor, ...]
) -> tuple[Closure, tuple[Tensor, ...]]:
    """What to call: the dynamic form where one op runs alone, and where others of its kind came."""
    if dynamic is not None:
        closure, numbers, _, costs_nothing = dynamic
        state = LOCAL.state
        if not state.deferring or (
            not costs_nothing and closure.prefer_dynamic(numbers, state.program_number)
        ):
            given = [concrete(np.array(n, np.int32), _INT32) for n in numbers]
            return closure, (*inputs, *given)
    return op.bind(spec=spec), inputs


def _has_windows(spec: tuple[Any, ...]) -> bool:
    return any(entry.__class__ is tuple and entry[0] == WINDOW for entry in spec)


def _with_known(spec: tuple[Any, ...], places: tuple[Tensor, ...]) -> tuple[Any, ...]:
    """The spec with the numbers of its scalar tensors, if the host knows them all."""
    known = [host_value(p) for p in places]
    if any(k is None for k in known) or _has_windows(spec):
        return spec
    values = iter(known)
    return tuple(int(next(values)) if s is DYNAMIC else s for s in spec)  # type: ignore[arg-type]


def _refuse_places(spec: tuple[Any, ...], shape: tuple[int, ...], places: Sequence[Tensor]) -> None:
    """TensorFlow's error for a computed place that is out of range."""
    plan = _planned(spec, shape)
    for axis, place in _by_axis(plan, places).items():
        if axis in plan.dynamic:
            refuse_place(place, shape[axis], axis)


def _host_item(x: Tensor, array: np.ndarray, plan: _Plan) -> Tensor:
    """Done on the host; a view of a large array."""
    part = array[(*[builtins.slice(*cut) for cut in plan.cuts], ...)]  # a text stays an array
    if plan.reversed:
        part = np.flip(part, plan.reversed)
    if part.size <= policy.HOST_SIZE:
        part = np.array(part)
    if part.shape != plan.shape:
        part = part.reshape(plan.shape)
    return concrete(part, Aval.of(plan.shape, x._aval.dtype))


def _check_assigned(avals: tuple[Aval, ...], spec: tuple[Any, ...]) -> None:
    shape = _planned(spec, avals[0].shape).shape
    given = avals[1].shape
    extra = max(0, len(given) - len(shape))
    kept = given[extra:]
    fits = not any(differ(n, 1) for n in given[:extra]) and not any(
        differ(n, 1) and differ(n, m) for n, m in zip(reversed(kept), reversed(shape))
    )
    if not fits and 0 not in shape:
        raise invalid(
            f"Cannot broadcast input shape {shown(given)} into final shape {shown(shape)}",
            "ResourceStridedSliceAssign",
        )


def _assigned(x: Any, value: Any, *places: Any, spec: tuple[Any, ...]) -> Any:
    """`x` with `value` at the spec: `_indexed` undone step by step. Outside the range: nothing."""
    plan = _planned(spec, x.shape)
    if 0 in plan.shape:
        return x
    value = lax.reshape(value, value.shape[max(0, value.ndim - len(plan.shape)) :])
    value = jnp.broadcast_to(value, plan.shape)
    # What begins at an input is cut whole in the plan.
    index: list[Any] = [builtins.slice(*cut) for cut in plan.cuts]
    widths = [len(range(*cut)) for cut in plan.cuts]
    starts: list[Any] = [np.int32(start) if plan.windows else start for start, _, _ in plan.cuts]
    given = _by_axis(plan, places)
    for axis in plan.dynamic:
        index[axis], widths[axis] = given[axis], 1
    for axis, width, _ in plan.windows:
        starts[axis], widths[axis] = given[axis], width
    value = lax.rev(lax.reshape(value, widths), plan.reversed)
    if not plan.dynamic and all(step == 1 for _, _, step in plan.cuts):
        return lax.dynamic_update_slice(x, value, starts)
    return x.at[tuple(index)].set(lax.squeeze(value, plan.dynamic), mode="drop")


def _general_assigned(
    spec: tuple[Any, ...],
) -> tuple[dict[str, Any], tuple[int, ...], bool] | None:
    """As of an index; but a replay buffer takes another row at each step, not in a loop. None for a
    slice in steps."""
    if any(entry.__class__ is tuple and entry != _WHOLE and entry[2] != 1 for entry in spec):
        return None
    found = _dynamic_form(spec)
    return found and (*found[:2], False)


_ASSIGNED = Op(
    _assigned,
    "ResourceStridedSliceAssign",
    check=_check_assigned,
    shapes=lambda avals, spec: avals[0],
    dynamic_form=_general_assigned,
)


def _moves_plainly(spec: tuple[Any, ...]) -> bool:
    """Whether a spec takes rows one after the other on each axis."""
    parts = [entry for entry in spec if entry.__class__ is tuple and entry != _WHOLE]
    return DYNAMIC not in spec and all(part[2] in (None, 1) for part in parts)


def slice_assigned(
    x: Tensor, value: Tensor, spec: tuple[Any, ...], places: tuple[Tensor, ...]
) -> Tensor:
    """`x` with `value` at `spec`, seen by no tape: an assignment to a slice of a variable."""
    fixed = _with_known(spec, places)
    if _has_windows(spec) and not _moves_plainly(spec):
        raise NeedsValue("Where to assign is known only when the function is called")
    if DYNAMIC not in fixed:
        _check_assigned((x._aval, value._aval), fixed)  # raises for what is out of range
    else:
        _refuse_places(spec, x._aval.shape, places)
    if is_text(x):
        array = np.array(x._value())
        plan = _planned(fixed, array.shape)
        part = array[tuple(builtins.slice(*cut) for cut in plan.cuts)]
        part = np.flip(part, plan.reversed)
        np.copyto(part, np.broadcast_to(np.asarray(value._value()), plan.shape).reshape(part.shape))
        return concrete(array, x._aval)
    if places:
        return apply_off_tape(_ASSIGNED.bind(spec=spec), (x, value, *places))
    clipped = _clipped(spec, x._aval.shape)
    dynamic = _ASSIGNED.dynamic_form_of({"spec": clipped})
    return apply_off_tape(*_called(_ASSIGNED, clipped, dynamic, (x, value)))


def _is_mask(index: Any) -> bool:
    if index.__class__ is bool:
        return True
    dtype = getattr(index, "dtype", None)
    return dtype is not None and (dtype is dtypes.bool or dtype == np.bool_)


def spec_of(index: Any, x: Tensor) -> tuple[tuple[Any, ...], tuple[Tensor, ...]]:
    """The spec of an index of `x`, and the scalar tensors in it."""
    spec: list[Any] = []
    places: list[Tensor] = []
    slices: list[tuple[int, Moving]] = []
    entries = index if isinstance(index, (list, tuple)) else (index,)
    if len(entries) > 1 and all(entry.__class__ is bool for entry in entries):
        raise not_allowed(dtypes.bool, "int16, int32, int64", "StridedSlice", "Index")
    for entry in entries:
        if entry is None or entry is Ellipsis or entry.__class__ is int:
            spec.append(entry)
        elif entry.__class__ is builtins.slice:
            found = _ends(entry)
            if isinstance(found, Moving):
                places.append(found.start)
                slices.append((len(spec), found))
                found = (WINDOW, found.width, found.step, True)
            spec.append(found)
        elif isinstance(entry, (Tensor, Variable)):
            _check_index(entry)
            spec.append(DYNAMIC)
            places.append(reshape(entry, ()) if entry.shape.rank else as_tensor(entry))
        else:
            _check_index(entry)
            spec.append(int(entry))
    if slices:
        _assume_inside(x._aval.shape, spec, slices)
    return tuple(spec), tuple(places)


def _assume_inside(shape: Shape, spec: list[Any], slices: list[tuple[int, Moving]]) -> None:
    """Let the record be for calls in which these entries of a spec lie inside the shape."""
    taken = [entry for entry in spec if entry is not None and entry is not Ellipsis]
    if len(taken) > len(shape):
        return  # which is refused
    axes = []
    for place, part in slices:
        before = [entry for entry in spec[:place] if entry is not None]
        hidden = len(shape) - len(taken) - 1 if Ellipsis in before else 0
        axes.append((len(before) + hidden, part))
    assume_inside(axes, shape)


def _ends(entry: slice) -> tuple[Size | None, ...] | Moving:
    """Where a slice begins and ends, and its step. Where only a call shows it, but not how many
    places that are, it is moving."""
    bounds = entry.start, entry.stop, entry.step
    if LOCAL.state.capture is None:
        return tuple(map(_bound, bounds))
    try:
        with without_steps():
            return tuple(map(_bound, bounds))
    except NeedsValue:
        pass
    try:
        return moving(entry)
    except NeedsValue as error:
        try:
            with without_steps():
                step = _bound(entry.step)
            return _bound(entry.start), _bound(entry.stop), step
        except NeedsValue:
            raise error from None


def _bound(value: Any) -> Size | None:
    if value is None or value.__class__ is int:
        return value
    if is_symbolic(value):
        return value
    _check_index(value)
    return as_size(value)


def _check_index(entry: Any) -> None:
    if isinstance(entry, (int, np.integer, Dimension)):
        return
    dtype = getattr(entry, "dtype", None)
    if isinstance(entry, (Tensor, Variable, np.ndarray, jax.Array)) and len(entry.shape) != 1:
        if as_dtype(dtype).name in INDEX_DTYPES and not len(entry.shape):
            return
    raise TypeError(f"{_BAD_INDEX}, got {entry!r}")


def count_up_to(variable: Variable, limit: int) -> Tensor:
    """See `Variable.count_up_to`."""
    if variable.dtype.name not in ("int32", "int64"):
        raise not_allowed(variable.dtype, "int32, int64", "ResourceCountUpTo")
    return seen_by((), _counted, variable, int(limit))


def _counted(variable: Variable, limit: int) -> Tensor:
    count, where = variable._held, f"'{variable.name}' at {user_location()}"
    require(
        count < convert(limit, count.dtype),
        (),
        lambda _: f"Reached limit of {limit} [Op:ResourceCountUpTo] ({where})",
        when_called=True,
        error=OutOfRangeError,
    )
    variable.assign_add(1)
    return count


operators.define(
    getitem=getitem,
    variable_getitem=variable_getitem,
    slice_assigned=slice_assigned,
    count_up_to=count_up_to,
)
