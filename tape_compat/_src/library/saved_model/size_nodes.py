"""Steps that tell sizes and places of elements, which depend on values, as TensorFlow's kernels."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ...core.avals import Aval
from ...core.dtypes import as_dtype, bool, int8, int32, int64
from ...values.tensor import Tensor
from .body import Body
from .step_nodes import Given, Reference, Table, as_reference, computed, unsupported

WRITERS = Table()


@WRITERS.row("_of_sizes")
def _sizes(given: Given) -> list[str]:
    """Empty arrays, which have them."""
    (sizes,) = given.args
    body, count = given.body, len(given.outputs)
    vector = _reshaped(body, sizes, [-1])
    vector = body.cast(vector, sizes.aval.dtype, int32)
    node = body.node("sizes", "Unpack", [vector], {"T": int32, "num": count, "axis": 0})
    none, filler = body.constant(0, int32), body.constant(0, int8)
    found = []
    for i in range(count):
        inputs = [f"{node.name}:output:{i}", none]
        shape = body.value("Pack", "output", inputs, {"N": 2, "T": int32, "axis": 0})
        attr = {"T": int8, "index_type": int32}
        found.append(body.value("Fill", "output", [shape, filler], attr))
    return found


@WRITERS.row("_true_places")
def _true_places(given: Given) -> list[str]:
    (condition,) = given.args
    return [_where(given.body, condition.name, condition)]


@WRITERS.row("_flat_places")
def _flat_places(given: Given) -> list[str]:
    mask = given.args[0]
    body = given.body
    places = _where(body, _reshaped(body, mask, [-1]), mask)
    flat = body.constant([-1], int32)
    places = body.value("Reshape", "output", [places, flat], {"T": int64, "Tshape": int32})
    return [body.cast(places, int64, int32)]


@WRITERS.row("_last_places")
def _last_places(given: Given) -> list[str]:
    """For each number the last place where it stands, or -1."""
    body, (numbers,) = given.body, given.values
    count = _one_more(body, numbers)
    shape = body.value("Pack", "output", [count], {"N": 1, "T": int64, "axis": 0})
    none = body.constant(-1, int32)
    start = body.value("Fill", "output", [shape, none], {"T": int32, "index_type": int64})
    column, places = computed(body, _numbered, (numbers.aval,), [numbers.name])
    attr = {"T": int32, "Tindices": int32}
    return [body.value("TensorScatterUpdate", "output", [start, column, places], attr)]


def _numbered(numbers: Any) -> Any:
    places = jnp.arange(numbers.shape[0], dtype=jnp.int32)
    return numbers[:, None].astype(jnp.int32), places


@WRITERS.row("_repeated_places")
def _repeated_places(given: Given) -> list[str]:
    """Where a mask is true that has a row for each place: the number of the row."""
    repeats, _ = given.args
    if not isinstance(repeats, Reference):
        raise unsupported("tf.repeat of an unknown number of elements")
    body = given.body
    zero = body.constant(0, int32)
    times = body.cast(repeats.name, repeats.aval.dtype, int32)
    axis = body.constant([0], int32)
    most = body.value("Max", "output", [times, axis], {"T": int32, "Tidx": int32})
    most = body.value("Maximum", "z", [most, zero], {"T": int32})
    one = body.constant(1, int32)
    numbers = body.value("Range", "output", [zero, most, one], {"Tidx": int32})
    column = body.value(
        "ExpandDims", "output", [times, body.constant(1, int32)], {"T": int32, "Tdim": int32}
    )
    mask = body.value("Less", "z", [numbers, column], {"T": int32})
    places = body.value("Where", "index", [mask], {"T": bool})
    kinds = (Aval.of((given.outputs[0].shape[0], 2), int64),)
    return computed(body, _first_column, kinds, [places])


def _first_column(places: Any) -> Any:
    return places[:, 0].astype(jnp.int32)


@WRITERS.row("_largest")
def _largest(given: Given) -> list[str]:
    """The largest of integers, at least 0."""
    (numbers,) = given.values
    return [_most(given.body, numbers, 0)]


@WRITERS.row("_how_many_counts")
def _how_many_counts(given: Given) -> list[str]:
    """One more than the largest of all these integers."""
    body = given.body
    found = [_one_more(body, as_reference(body, x)) for x in given.args]
    while len(found) > 1:
        found = [body.value("Maximum", "z", found[:2], {"T": int64}), *found[2:]]
    return found


@WRITERS.row("how_many_segments")
def _how_many_segments(given: Given) -> list[str]:
    return [_one_more(given.body, as_reference(given.body, given.args[0]))]


@WRITERS.row("_how_many_picked_segments")
def _how_many_picked_segments(given: Given) -> list[str]:
    return [_one_more(given.body, as_reference(given.body, given.args[1]))]


@WRITERS.row("unique_with_counts")
def _unique(given: Given) -> list[str]:
    (x,) = given.values
    kind = as_dtype(given.option(1, "out_idx", int32))
    attr = {"T": x.aval.dtype, "out_idx": kind}
    name = given.body.node("unique", "UniqueWithCounts", [x.name], attr).name
    return [f"{name}:y:0", f"{name}:idx:0", f"{name}:count:0"]


@WRITERS.row("_range_at_call")
def _range(given: Given) -> list[str]:
    dtype = given.outputs[0].dtype
    inputs = []
    for value in given.args[:3]:
        if isinstance(value, Reference):
            inputs.append(given.body.cast(value.name, value.aval.dtype, dtype))
        else:
            known = value._value() if isinstance(value, Tensor) else value
            inputs.append(given.body.constant(known, dtype))
    return [given.body.value("Range", "output", inputs, {"Tidx": dtype})]


@WRITERS.row("non_max_suppression")
def _non_max_suppression(given: Given) -> list[str]:
    body = given.body
    boxes, scores, most = (given.option(i, n, None) for i, n in enumerate(_NAMES[:3]))
    if not isinstance(boxes, Reference) or not isinstance(scores, Reference):
        raise unsupported("tf.image.non_max_suppression of known boxes or scores")
    kind = boxes.aval.dtype
    limits = [
        given.reference(given.option(i, _NAMES[i], default), kind)
        for i, default in ((3, 0.5), (4, float("-inf")))
    ]
    inputs = [boxes.name, scores.name, given.reference(most, int32), *limits]
    attr = {"T": kind, "T_threshold": kind}
    return [body.value("NonMaxSuppressionV3", "selected_indices", inputs, attr)]


_NAMES = ("boxes", "scores", "max_output_size", "iou_threshold", "score_threshold")


def _most(body: Body, numbers: Reference, least: int) -> str:
    """The largest of integers, at least `least`, which there is of none."""
    kind = numbers.aval.dtype
    flat = _reshaped(body, numbers, [-1])
    axis = body.constant([0], int32)
    most = body.value("Max", "output", [flat, axis], {"T": kind, "Tidx": int32})
    return body.value("Maximum", "z", [most, body.constant(least, kind)], {"T": kind})


def _one_more(body: Body, numbers: Reference) -> str:
    """One more than the largest of integers, 0 of none, int64."""
    wide = body.cast(numbers.name, numbers.aval.dtype, int64)
    most = _most(body, Reference(wide, Aval.of(numbers.aval.shape, int64)), -1)
    return body.value("AddV2", "z", [most, body.constant(1, int64)], {"T": int64})


def _where(body: Body, name: str, like: Reference) -> str:
    return body.value("Where", "index", [name], {"T": like.aval.dtype})


def _reshaped(body: Body, x: Reference, shape: list[int]) -> str:
    wanted = body.constant(shape, int32)
    attr = {"T": x.aval.dtype, "Tshape": int32}
    return body.value("Reshape", "output", [x.name, wanted], attr)
