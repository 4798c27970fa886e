"""Steps that move values between rows, as TensorFlow's kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...core.avals import Aval
from ...core.dtypes import int32, int64, string
from ...ops.ragged_places import clipped, rows_of_values
from .program import one_batch
from .step_nodes import Given, Reference, Table, as_reference, computed, unsupported

WRITERS = Table()


@WRITERS.row("_places_of_slice")
def _slice(given: Given) -> list[str]:
    _, start, stop, step = given.args
    key = slice(start, stop, step)

    def bounds(splits: Any) -> Any:
        starts, lengths, by = clipped(key, splits.astype(jnp.int64), jnp)
        return starts, starts + lengths * by

    return _places(given, bounds, given.values, 1 if step is None else step)


@WRITERS.row("_places_of_rows")
def _rows(given: Given) -> list[str]:
    """Row after row, each of its parts in several tensors, which stand one behind the other."""

    def bounds(*splits: Any) -> Any:
        parts = [each.astype(jnp.int64) for each in splits]
        offsets = [sum([each[-1] for each in parts[:i]], jnp.int64(0)) for i in range(len(parts))]
        starts = jnp.stack([each[:-1] + k for each, k in zip(parts, offsets)], 1)
        limits = jnp.stack([each[1:] + k for each, k in zip(parts, offsets)], 1)
        return starts.ravel(), limits.ravel(), sum(splits)

    return _places(given, bounds, [as_reference(given.body, x) for x in given.args[0]], 1)


def _places(
    given: Given, bounds: Callable[..., Any], splits: Sequence[Reference], step: int
) -> list[str]:
    """Places in spans one after the other, and where the rows end that they make. bounds: gives
    where spans begin and end, and where rows do unless each is a span."""
    body, kind = given.body, given.outputs[1].dtype
    avals, names = [x.aval for x in splits], [x.name for x in splits]
    avals = [aval.at(one_batch(avals)) for aval in avals]  # of as many rows
    starts, limits, *ends = computed(body, bounds, avals, names)
    attr = {"T": int64, "Tsplits": kind}
    inputs = [starts, limits, body.constant(step, int64)]
    node = body.node("places", "RaggedRange", inputs, attr).name
    return [f"{node}:rt_dense_values:0", *(ends or [f"{node}:rt_nested_splits:0"])]


@WRITERS.row("reduce_join")
def _reduce_join(given: Given) -> list[str]:
    body, text = given.body, given.args[0]
    attr: dict[str, Any] = {"separator": given.option(3, "separator", "")}
    if isinstance(text, Reference):
        axis = given.option(1, "axis", None)
        rank = len(text.aval.shape)
        axes = np.arange(rank)[::-1] if axis is None else np.atleast_1d(axis)
        attr["keep_dims"] = bool(given.option(2, "keepdims", False))
        inputs = [text.name, body.constant(axes, int32)]
        return [body.value("ReduceJoin", "output", inputs, attr)]
    if len(given.values) != 2:
        raise unsupported("tf.strings.reduce_join of known texts")
    words, splits = given.values
    lengths = body.value("StringLength", "output", [words.name])
    avals = [Aval.of(words.aval.shape, int32), splits.aval]
    ids, count = computed(body, _row_numbers, avals, [lengths, splits.name])
    attr |= {"Tindices": int64, "Tnumsegments": int64}
    return [body.value("UnsortedSegmentJoin", "output", [words.name, ids, count], attr)]


def _row_numbers(values: Any, splits: Any) -> Any:
    """The row of each value, and how many rows there are."""
    count = jnp.asarray(splits.shape[0] - 1, jnp.int64)
    return rows_of_values(splits[1:], values.shape[0]), count


@WRITERS.row("_filled_with_text")
def _filled_with_text(given: Given) -> list[str]:
    shape, text = [as_reference(given.body, x) for x in given.args]
    attr = {"T": string, "index_type": shape.aval.dtype}
    return [given.body.value("Fill", "output", [shape.name, text.name], attr)]
