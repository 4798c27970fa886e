"""`tf.vectorized_map`: a function of rows, done for all rows at once."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from ..core.control import Batched, calling, structured
from ..core.dimensions import Size, differ
from ..core.dtypes import string
from ..core.errors import NeedsRun, NeedsValue, user_location
from ..core.refuse import invalid
from ..core.state import LOCAL
from ..ops.joining import stack
from ..ops.random_keys import ROW_KEYS, UNKNOWN_ITERATIONS
from ..values import nest
from ..values.capture import Drawn, SymbolicProgram, value_of
from ..values.indexed_slices import IndexedSlices
from ..values.record import apply
from ..values.tensor import Tensor
from .extension_rows import has_encodings, over_encodings
from .functional_ops import map_fn, row_tensor
from .recording import Part, flat, note_variables, packed, record, tensor_of

LOGGER = logging.getLogger("tape_compat")


def vectorized_map(
    fn: Callable[[Any], Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True
) -> Any:
    """`fn` of each row of `elems`, stacked: worked out for all rows at once, by `jax.vmap`.

    Args:
      fn: takes a nest of rows like `elems`, gives a nest of tensors. It is recorded once. Of
        IndexedSlices it gives the dense tensors are taken.
      elems: nest of tensors [n, ...]; a tensor [1, ...] serves for all rows.
      fallback_to_while_loop: whether what has effects, such as `tf.print` or an assignment, is done
        row by row; outside of functions also what depends on values, as the size of a mask.
      warn: whether to warn of that.
    Raises: ValueError for scalars, and where rows cannot be worked out at once.

    >>> import tape_compat as tf
    >>> tf.vectorized_map(lambda x: tf.reduce_sum(x * x), tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([ 5., 25.], dtype=float32)>
    """
    if has_encodings(elems):
        return over_encodings(
            lambda of_rows, rows, _: vectorized_map(of_rows, rows, fallback_to_while_loop, warn),
            fn,
            elems,
        )
    fn = _dense(fn)
    tensors = [row_tensor(x) for x in flat(elems)]
    if not tensors or any(not x._aval.shape for x in tensors):
        raise ValueError(
            f"vectorized_map maps over the first axis of tensors, which {elems} does not have (at "
            f"{user_location()})."
        )
    count = _rows(tensors)
    by_python = (
        fallback_to_while_loop
        and LOCAL.state.capture is None
        and not (type(count) is int and count == 0)
    )
    if any(x.dtype is string for x in tensors):
        if by_python:
            return _by_python(fn, elems, tensors, warn)
        raise NotImplementedError(
            f"vectorized_map of texts, which the host computes with: take tf.map_fn (at "
            f"{user_location()})."
        )
    by_rows = [not _is_one(x._aval.shape[0]) or _is_one(count) for x in tensors]
    rows = [x._aval.row for x in tensors]
    try:
        part = record(
            lambda leaves: fn(packed(elems, leaves)), rows, "vectorized_map", make=SymbolicProgram
        )
    except NeedsValue as error:
        if by_python:
            return _by_python(fn, elems, tensors, warn)
        if fallback_to_while_loop or not isinstance(error, NeedsRun):
            raise
        raise ValueError(f"vectorized_map cannot do it for all rows at once: {error}") from error
    if part.captured.cells or part.captured.closure.effect:
        return _one_by_one(fn, elems, part, fallback_to_while_loop, warn)
    by_rows += [isinstance(source, Drawn) for source in part.captured.sources]
    inputs = len(by_rows)
    outputs = range(inputs, inputs + part.outputs)
    steps = calling(part.captured.closure, part.outputs, inputs, range(inputs), outputs)
    closure = structured(Batched, "Map", (steps,), count, tuple(by_rows))
    given = [x if rows else x[0] for x, rows in zip(tensors, by_rows)]
    note_variables([part])
    values = [
        _keys(s, count) if isinstance(s, Drawn) else value_of(s) for s in part.captured.sources
    ]
    found = iter(apply(closure, (*given, *values)))
    return packed(part.structure, [None if x is None else next(found) for x in part.leaves])


def _dense(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`fn` with tensors in place of IndexedSlices: gradients of rows of a table."""

    def dense(x: Any) -> Any:
        return x._as_tensor() if isinstance(x, IndexedSlices) else x

    return lambda row: nest.map_structure(dense, fn(row))


def _rows(tensors: list[Any]) -> Size:
    """How many rows there are."""
    sizes = [x._aval.shape[0] for x in tensors]
    several = [size for size in sizes if not _is_one(size)]
    for size in several:
        if differ(size, several[0]):
            raise invalid(f"The tensors have different numbers of rows, {sizes}", "GatherV2")
    return several[0] if several else 1


def _is_one(size: Size) -> bool:
    return type(size) is int and size == 1


def _keys(source: Drawn, count: Size) -> Tensor:
    """The keys of a draw, one for each row."""
    key = source.draw(count if isinstance(count, int) else UNKNOWN_ITERATIONS)
    return apply(ROW_KEYS.bind(rows=count, times=source.times), (key,))


def _one_by_one(
    fn: Callable[[Any], Any], elems: Any, part: Part, fallback: bool, warn: bool
) -> Any:
    if not fallback:
        raise ValueError(
            "vectorized_map cannot do what has effects for all rows at once (at "
            f"{user_location()})."
        )
    if warn:
        LOGGER.warning("Using a while_loop for converting a function that has effects")
    like = packed(part.structure, [x.dtype for x in part.leaves])
    return map_fn(fn, elems, fn_output_signature=like)


def _by_python(fn: Callable[[Any], Any], elems: Any, tensors: list[Tensor], warn: bool) -> Any:
    """The results of rows one after the other, with values at hand."""
    if warn:
        LOGGER.warning("Using a while_loop for converting a function that depends on values")
    count = _rows(tensors)
    results = []
    for i in range(int(count)):
        rows = [x[0 if _is_one(x._aval.shape[0]) else i] for x in tensors]
        results.append(fn(packed(elems, rows)))
    leaves = zip(*map(nest.flatten, results), strict=True)
    stacked = [None if rows[0] is None else stack(list(map(tensor_of, rows))) for rows in leaves]
    return nest.pack_sequence_as(results[0], stacked)
