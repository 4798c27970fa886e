"""Reductions over segments, given by an id for each row."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core import dtypes
from ..core.avals import Aval
from ..core.dimensions import differ, is_symbolic
from ..core.op import Op
from ..core.refuse import invalid, not_allowed, shown
from ..values.bounds import refuse_segments, scattered
from ..values.convert import convert
from ..values.dispatch import takes_composites
from ..values.host_steps import by_host
from ..values.record import apply
from ..values.tensor import Tensor
from . import rules
from .arguments import INDEX_DTYPES, as_size, dims, known_value, sketched
from .checks import NUMBER, REAL, check_dtypes
from .declare import name_ops


def _check_ids(ids: Aval, names: tuple[str, ...], kernel: str) -> None:
    if ids.dtype.name not in names:
        raise not_allowed(ids.dtype, ", ".join(names), kernel, "Tindices")


def _check_unsorted(kernel: str, kinds: str) -> Callable[..., None]:
    check_data = check_dtypes(kernel, kinds)

    def check(avals: tuple[Aval, ...], **_: Any) -> None:
        check_data(avals[:1])
        _check_ids(avals[1], INDEX_DTYPES, kernel)
        data, ids = (a.shape for a in avals)
        if data[: len(ids)] != ids:
            texts = [shown(s) for s in (data, ids)]
            raise invalid(
                f"data.shape = {texts[0]} does not start with segment_ids.shape = {texts[1]}",
                kernel,
            )

    return check


def _flat(data: Any, ids: Any) -> tuple[Any, Any]:
    """Data [n, ...] and ids [n]."""
    flat = ids.reshape(-1)
    return data.reshape(flat.size, *data.shape[ids.ndim :]), flat


def _inside(data: Any, ids: Any, segments: int) -> tuple[Any, Any]:
    """The same; what has a negative id has the id `segments`, which is left out."""
    data, ids = _flat(data, ids)
    return data, jnp.where(ids < 0, segments, ids)


def _segment_sum(data: Any, ids: Any, segments: int) -> Any:
    data, ids = _flat(data, ids)
    return scattered(jnp.zeros((segments, *data.shape[1:]), data.dtype).at[ids], "add", data)


def _segment_prod(data: Any, ids: Any, segments: int) -> Any:
    data, ids = _inside(data, ids, segments)
    return rules.segment_product(data, ids, segments)


def _segment_extreme(largest: bool, infinite: bool = False) -> Callable[..., Any]:
    """Of each segment; of none the last number of the dtype that is finite, or not."""

    def extreme(data: Any, ids: Any, segments: int) -> Any:
        data, ids = _inside(data, ids, segments)
        floating = jnp.issubdtype(data.dtype, jnp.floating)
        ends = jnp.finfo(data.dtype) if floating else jnp.iinfo(data.dtype)
        start: Any = ends.min if largest else ends.max
        if floating and infinite:
            start = -jnp.inf if largest else jnp.inf
        return rules.segment_extreme(data, ids, segments, largest, start)

    return extreme


def _segment_counts(data: Any, ids: Any, segments: int, inner: int) -> Any:
    count = _segment_sum(jnp.ones(ids.shape, data.dtype), ids, segments)
    return jnp.maximum(count, 1).reshape((segments,) + (1,) * inner)


def _segment_mean(data: Any, ids: Any, segments: int) -> Any:
    """Of integers the quotient of integers is rounded towards 0, as TensorFlow's kernel does."""
    total = _segment_sum(data, ids, segments)
    count = _segment_counts(data, ids, segments, data.ndim - ids.ndim)
    if jnp.issubdtype(data.dtype, jnp.integer):
        return lax.div(*jnp.broadcast_arrays(total, count))
    return total / count


def _unsorted_mean(data: Any, ids: Any, segments: int) -> Any:
    """Of integers the true quotient, of the dtype that TensorFlow's division gives."""
    total = _segment_sum(data, ids, segments)
    count = _segment_counts(data, ids, segments, data.ndim - ids.ndim)
    if jnp.issubdtype(data.dtype, jnp.integer):
        dtype = jnp.float32 if data.dtype.itemsize <= 2 else jnp.float64
        total, count = total.astype(dtype), count.astype(dtype)
    return total / count


def _segment_sqrt_n(data: Any, ids: Any, segments: int) -> Any:
    total = _segment_sum(data, ids, segments)
    return total / jnp.sqrt(_segment_counts(data, ids, segments, data.ndim - ids.ndim))


def _where_present(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, with 0 for segments that have no element."""

    def filled(data: Any, ids: Any, segments: int) -> Any:
        count = scattered(jnp.zeros(segments, jnp.int32).at[ids], "add", 1)
        shape = (segments,) + (1,) * (data.ndim - 1)
        return jnp.where(count.reshape(shape) > 0, function(data, ids, segments), 0)

    return filled


def _with_room(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`; of an unknown number of segments one more is made, so that there is one: JAX
    differentiates what looks up rows only if there certainly are any."""

    @functools.wraps(function)
    def roomy(data: Any, ids: Any, segments: Any) -> Any:
        if is_symbolic(segments):
            return function(data, ids, segments + 1)[:segments]
        return function(data, ids, segments)

    return roomy


def _unsorted(
    function: Callable[..., Any], doc: str, kernel: str, kinds: str = NUMBER
) -> Callable[..., Tensor]:
    declared = Op(_with_room(function), kernel, check=_check_unsorted(kernel, kinds))

    def call(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
        if isinstance(num_segments, (list, tuple)):
            found = shown(np.shape(num_segments))
            raise invalid(f"num_segments should be a scalar, not shape {found}", declared.name)
        (count,) = dims(num_segments, "Tnumsegments", kernel)
        closure = declared.bind(segments=count)
        data, ids = convert(data), convert(segment_ids)
        refuse_segments(ids, closure.attributes["segments"], kernel)
        return apply(closure, (data, ids))

    call.op = declared  # type: ignore[attr-defined]
    call.__doc__ = f"{doc} of the elements of each segment. Negative ids are left out."
    return takes_composites(call)


@by_host()
def how_many_segments(ids: Tensor, kernel: str) -> Tensor:
    """How many segments the ids [n] name.

    Raises: InvalidArgumentError if they decrease.
    """
    sketch = sketched(ids)
    if sketch is not None:
        return sketch.tensor((), dtypes.int64)
    known = known_value(ids)
    if np.any(np.diff(known) < 0):
        raise invalid("segment ids are not increasing", kernel)
    segments = int(known[-1]) + 1 if known.size else 0
    if known.size and segments < 1:
        raise invalid("segment ids must be >= 0", kernel)
    if known.size and known[0] < 0:
        raise invalid(
            f"Segment id {known[0]} out of range [0, {segments}), possibly because 'segment_ids' "
            "input is not sorted.",
            kernel,
        )
    return convert(segments, dtypes.int64)


def _sorted_segments(
    function: Callable[..., Any], doc: str, kernel: str, kinds: str = NUMBER
) -> Callable[..., Tensor]:
    check_data = check_dtypes(kernel, kinds)

    def check(avals: tuple[Aval, ...], segments: int) -> None:
        check_data(avals[:1])
        _check_ids(avals[1], ("int32", "int64"), kernel)
        have, ids = avals[0].shape, avals[1].shape
        if len(ids) != 1:
            raise invalid("segment_ids should be a vector.", kernel)
        if not have or differ(ids[0], have[0]):
            raise invalid("segment_ids should be the same size as dimension 0 of input.", kernel)

    declared = Op(_with_room(function), kernel, check=check)

    def call(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
        data, ids = convert(data), convert(segment_ids)
        check((data._aval, ids._aval), 0)
        return apply(declared.bind(segments=as_size(how_many_segments(ids, kernel))), (data, ids))

    call.op = declared  # type: ignore[attr-defined]
    call.__doc__ = (
        f"{doc} of the elements of each segment. The ids must not decrease; the last one says how "
        "many segments there are."
    )
    return call


unsorted_segment_sum = _unsorted(_segment_sum, "Sum", "UnsortedSegmentSum")
unsorted_segment_prod = _unsorted(_segment_prod, "Product", "UnsortedSegmentProd")
unsorted_segment_max = _unsorted(_segment_extreme(True), "Largest", "UnsortedSegmentMax", REAL)
unsorted_segment_min = _unsorted(_segment_extreme(False), "Smallest", "UnsortedSegmentMin", REAL)
unsorted_segment_mean = _unsorted(_unsorted_mean, "Mean", "UnsortedSegmentSum", REAL)
unsorted_segment_sqrt_n = _unsorted(_segment_sqrt_n, "Sum / sqrt(n)", "UnsortedSegmentSum", "float")
segment_sum = _sorted_segments(_segment_sum, "Sum", "SegmentSum")
segment_prod = _sorted_segments(_segment_prod, "Product", "SegmentProd")
_sorted_max = _where_present(_segment_extreme(True, infinite=True))
_sorted_min = _where_present(_segment_extreme(False, infinite=True))
segment_max = _sorted_segments(_sorted_max, "Largest", "SegmentMax", REAL)
segment_min = _sorted_segments(_sorted_min, "Smallest", "SegmentMin", REAL)
segment_mean = _sorted_segments(_segment_mean, "Mean", "SegmentMean")


name_ops(globals())
