"""Gathering and scattering by index tensors.

An index out of range that the host knows is an error; otherwise it reads zeros and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core import dtypes
from ..core.avals import Aval
from ..core.dimensions import Shape, Size, fit, is_symbolic, is_unknown
from ..core.native import native_calls
from ..core.op import Op
from ..core.refuse import check_dtype_of, invalid, not_allowed, shown
from ..values import operators
from ..values.bounds import not_empty, of_rows, refuse_positions, refuse_rows, scattered
from ..values.dispatch import takes_composites
from ..values.host_steps import by_host
from ..values.indexed_slices import IndexedSlices
from ..values.record import apply
from ..values.tensor import Tensor, concrete
from . import rules
from .arguments import (
    INDEX_DTYPES,
    as_axis,
    as_int,
    as_tensor,
    dims,
    is_text,
    known_value,
    move_text,
    sketched,
)
from .declare import matching, name_ops
from .repeating import broadcast_to
from .shapes import host_shape, reshape


def _gather(params: Any, indices: Any, axis: int, batch_dims: int) -> Any:
    if batch_dims:
        row = jax.vmap(lambda p, i: _gather(p, i, axis - 1, batch_dims - 1))
        return of_rows(row, params, indices, (0,))
    if not params.shape[axis]:  # every index is outside, and JAX takes nothing from nothing
        return jnp.zeros(
            (*params.shape[:axis], *indices.shape, *params.shape[axis + 1 :]), params.dtype
        )
    if 0 < axis == params.ndim - 1 and isinstance(params.shape[axis], int):
        return _gather_last(params, indices)
    return _gathered(params, indices, axis)


def _gathered(params: Any, indices: Any, axis: int) -> Any:
    params = not_empty(params, (axis,))
    after, last = axis + indices.ndim, params.ndim - 1 + indices.ndim
    numbers = lax.GatherDimensionNumbers(
        offset_dims=(*range(axis), *range(after, last)),
        collapsed_slice_dims=(axis,),
        start_index_map=(axis,),
    )
    sizes = (*params.shape[:axis], 1, *params.shape[axis + 1 :])
    return lax.gather(params, indices[..., None], numbers, sizes, mode="fill", fill_value=0)


def _from_rows(params: Any, indices: Any) -> Any:
    """The same along the last axis, by gathering rows of the transposed matrix."""
    found = _gathered(jnp.moveaxis(params, -1, 0), indices, 0)
    return jnp.moveaxis(found, range(indices.ndim), range(-indices.ndim, 0))


#: Along the last axis. The transpose of its derivative adds rows, which XLA takes as vectors, where
#: it takes the columns of 512 x 512 float32 number by number: 0.34 ms instead of 2.2 (JAX 0.10).
_gather_last = rules.rule(
    lambda params, indices: _gathered(params, indices, params.ndim - 1),
    lambda dx, y, params, indices: _from_rows(dx, indices),
    None,
)


def _check_gather(avals: tuple[Aval, ...], axis: int, batch_dims: int) -> None:
    params, indices = avals
    if indices.dtype.name not in INDEX_DTYPES:
        raise not_allowed(indices.dtype, ", ".join(INDEX_DTYPES), "GatherV2", "Tindices")
    for i in range(batch_dims):
        if params.shape[i] != indices.shape[i]:
            raise invalid(
                f"params.shape[{i}]: {params.shape[i]} should be equal to indices.shape[{i}]: "
                f"{indices.shape[i]}",
                "GatherV2",
            )


def _sparse_gather(
    call: Any, inputs: tuple[Tensor, ...], cotangents: list[Any], want: tuple[int, ...]
) -> list[Any] | None:
    """Rows gathered along axis 0 give back IndexedSlices."""
    if call.attributes["axis"] != 0 or call.attributes["batch_dims"] != 0 or want != (0,):
        return None
    params, indices = inputs[0]._aval, inputs[1]
    n = indices._aval.size
    values = reshape(as_tensor(cotangents[0]), (n, *params.shape[1:]))
    flat = indices if indices._aval.shape == (n,) else reshape(indices, (n,))
    return [IndexedSlices(values, flat, host_shape(params.shape, dtypes.int32))]


def _gathered_sizes(x: Any, indices: Any, axis: int, batch_dims: int) -> Any:
    return np.take(x, indices.astype(np.int64), axis)


_GATHER = Op(
    _gather,
    "GatherV2",
    check=_check_gather,
    sparse=_sparse_gather,
    of_sizes=_gathered_sizes,
)

#: Along an axis that is counted from the end: TensorFlow does not see that it is the first one.
_GATHER_FROM_END = Op(_gather, "GatherV2", check=_check_gather, of_sizes=_gathered_sizes)
GATHERS = _GATHER, _GATHER_FROM_END

#: The commonest one.
_ROWS = _GATHER.bind(axis=0, batch_dims=0)


@native_calls("rows", _ROWS)
@takes_composites
def gather(
    params: Any,
    indices: Any,
    validate_indices: bool | None = None,
    axis: Any = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Tensor:
    """The slices of `params` along `axis` at `indices`.

    Args:
      params: tensor [..., n, ...].
      indices: integer tensor, values in [0, n).
      validate_indices: has no effect, as in TensorFlow.
      axis: default `batch_dims`.
      batch_dims: this many leading axes are common to `params` and `indices`.
    Returns: `params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:]`. Along
      axis 0, given as 0, without batches the gradient with respect to `params` is IndexedSlices.
    Raises: InvalidArgumentError for indices out of range, if they are known at the call;
      otherwise those give zeros.

    >>> import tape_compat as tf
    >>> tf.gather([[1, 2], [3, 4]], [1, 1]).numpy().tolist()
    [[3, 4], [3, 4]]
    """
    params, indices = as_tensor(params), as_tensor(indices)
    have = params._aval.shape
    batch = as_int(batch_dims)
    if axis.__class__ in (bool, float):
        axis = as_tensor(axis)
    axis = batch if axis is None else as_axis(axis, "GatherV2", "Taxis", "axis must be scalar")
    rank = len(indices._aval.shape)
    if axis == 0:  # TensorFlow does not look at `batch_dims` then
        batch = 0
    if not -rank <= batch <= rank:
        raise invalid(
            f"Expected batch_dims in the range [{-rank}, {rank}], but got {batch}", "GatherV2"
        )
    if batch < 0:
        batch += rank
    op = _GATHER
    if axis < 0:
        op, axis = _GATHER_FROM_END, axis + len(have)
    if not 0 <= axis < len(have):
        raise invalid(f"Shape must be at least rank {axis + 1} but is rank {len(have)}", "GatherV2")
    if axis < batch:
        raise invalid(
            f"batch_dims ({batch}) must be less than or equal to axis ({axis})", "GatherV2"
        )
    refuse_rows(indices, have[axis], "GatherV2")
    if is_text(params):
        settings = {"axis": axis, "batch_dims": batch}
        return move_text(lambda p, i: gather(p, i, **settings), params, by=(indices,))
    rows = axis == 0 and op is _GATHER
    return apply(_ROWS if rows else op.bind(axis=axis, batch_dims=batch), (params, indices))


def _positions(indices: Any) -> tuple[Any, ...]:
    return tuple(indices[..., i] for i in range(indices.shape[-1]))


def _gather_nd(params: Any, indices: Any, batch_dims: int) -> Any:
    if batch_dims:
        return jax.vmap(lambda p, i: _gather_nd(p, i, batch_dims - 1))(params, indices)
    if not indices.shape[-1]:
        return jnp.broadcast_to(params, (*indices.shape[:-1], *params.shape))
    at = not_empty(params, range(indices.shape[-1])).at[_positions(indices)]
    return at.get(mode="fill", fill_value=0, wrap_negative_indices=False)


def _check_gather_nd(avals: tuple[Aval, ...], batch_dims: int) -> None:
    params, indices = avals
    if indices.dtype.name not in INDEX_DTYPES:
        raise not_allowed(indices.dtype, ", ".join(INDEX_DTYPES), "GatherNd", "Tindices")
    if not indices.shape:
        raise invalid("indices must be at least a vector", "GatherNd")
    depth, n = indices.shape[-1], len(params.shape) - batch_dims
    if depth > n:
        raise invalid(
            f"index innermost dimension length must be <= params rank; saw: {depth} vs. {n}",
            "GatherNd",
        )


def _sparse_gather_nd(
    call: Any, inputs: tuple[Tensor, ...], cotangents: list[Any], want: tuple[int, ...]
) -> list[Any] | None:
    """Indices [n, 1] are rows, and give back IndexedSlices."""
    indices = inputs[1]
    at = indices._aval.shape
    if want != (0,) or len(at) != 2 or at[1] != 1 or call.attributes["batch_dims"]:
        return None
    flat = reshape(indices, (at[0],))
    shape_of = host_shape(inputs[0]._aval.shape, indices.dtype)
    return [IndexedSlices(as_tensor(cotangents[0]), flat, shape_of)]


_GATHER_ND = Op(_gather_nd, "GatherNd", check=_check_gather_nd, sparse=_sparse_gather_nd)


def _are_refused(policy: str, kernel: str) -> bool:
    """Whether indices out of range are, by `bad_indices_policy`."""
    if policy not in ("", "DEFAULT", "ERROR", "IGNORE"):
        raise invalid(f"Unknown bad indices handling attribute: {policy}", kernel)
    return policy != "IGNORE"


@takes_composites
def gather_nd(
    params: Any,
    indices: Any,
    batch_dims: int = 0,
    name: str | None = None,
    bad_indices_policy: str = "",
) -> Tensor:
    """The elements or slices of `params` at full indices: `indices[..., :]` is one of them.

    Args:
      params: tensor of rank r.
      indices: integer tensor [..., k], k <= r.
      batch_dims: this many leading axes are common to `params` and `indices`.
      bad_indices_policy: "" or "DEFAULT" (an error, if known at the call), or "IGNORE" (zeros).
    Returns: [..., *params.shape[k:]].
    Raises: ValueError for `batch_dims` below 0, or that leave no axis.

    >>> import tape_compat as tf
    >>> tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).numpy().tolist()
    [2, 3]
    """
    refused = _are_refused(bad_indices_policy, "GatherNd")
    params, indices = as_tensor(params), as_tensor(indices)
    batch = as_int(batch_dims)
    if batch < 0:
        raise ValueError(f"tf.gather_nd does not allow negative batch_dims. It is {batch}.")
    for tensor, what in ((params, "params"), (indices, "indices")):
        rank = len(tensor._aval.shape)
        if batch and batch >= rank:
            raise ValueError(
                f"Argument `batch_dims` = {batch} must be less than rank(`{what}`) = {rank}"
            )
    if refused:
        refuse_positions(indices, params._aval.shape[batch:], "GatherNd", "param ")
    if is_text(params):
        return move_text(lambda p, i: gather_nd(p, i, batch), params, by=(indices,))
    return apply(_GATHER_ND.bind(batch_dims=batch), (params, indices))


def _scattered(x: Any, indices: Any, updates: Any, method: str) -> Any:
    where_to = _positions(indices)
    if not where_to:
        updates = jnp.sum(updates.reshape(-1, *x.shape), 0) if method == "add" else updates
        return getattr(x.at[...], method)(
            updates.reshape(-1, *x.shape)[-1] if method != "add" else updates
        )
    return scattered(x.at[where_to], method, updates)


def _scatter_nd(indices: Any, updates: Any, shape: tuple[int, ...]) -> Any:
    if updates.dtype == bool:
        return _scattered(jnp.zeros(shape, bool), indices, updates, "max")
    if not is_unknown(shape):
        return _scattered(jnp.zeros(shape, updates.dtype), indices, updates, "add")
    # the derivative is a gather, which JAX does not trace of what may be empty
    more = [n + 1 if is_symbolic(n) else n for n in shape]
    whole = _scattered(jnp.zeros(more, updates.dtype), indices, updates, "add")
    return whole[tuple([slice(n) for n in shape])]


def _slices_fit(shape: Shape, depth: Size, slices: Shape) -> bool:
    """Whether slices of this shape may lie at indices of this depth; at unknown depth any may."""
    if is_symbolic(depth):
        return len(slices) <= len(shape)
    return depth <= len(shape) and fit(slices, shape[depth:])


def _check_scatter_nd(avals: tuple[Aval, ...], shape: tuple[int, ...]) -> None:
    indices, updates = avals
    if indices.dtype.name not in INDEX_DTYPES:
        raise not_allowed(indices.dtype, ", ".join(INDEX_DTYPES), "ScatterNd", "Tindices")
    depth, outer = indices.shape[-1], indices.shape[:-1]
    n = len(outer)
    if not fit(updates.shape[:n], outer):
        raise invalid(
            f"Dimensions [0,{n}) of indices[shape={shown(indices.shape)}] must match dimensions "
            f"[0,{n}) of updates[shape={shown(updates.shape)}]",
            "ScatterNd",
        )
    if not _slices_fit(shape, depth, updates.shape[n:]):
        raise invalid(
            f"Dimensions [{depth},{len(shape)}) of input[shape={shown(shape)}] must match "
            f"dimensions [{n},{len(updates.shape)}) of updates[shape={shown(updates.shape)}]",
            "ScatterNd",
        )


def _scatter_nd_shape(avals: tuple[Aval, ...], shape: tuple[int, ...]) -> Aval:
    return Aval.of(shape, avals[1].dtype)


_SCATTER_ND = Op(_scatter_nd, "ScatterNd", check=_check_scatter_nd, shapes=_scatter_nd_shape)


@by_host()
def _scatter_texts(indices: Tensor, updates: Tensor, shape: tuple[int, ...]) -> Tensor:
    _check_scatter_nd((indices._aval, updates._aval), shape)
    sketch = sketched(indices, updates)
    if sketch is not None:
        return sketch.tensor(shape, dtypes.string)
    texts = np.full(shape, b"", object)
    refuse_positions(concrete(known_value(indices)), shape, "ScatterNd")
    np.add.at(texts, tuple(np.moveaxis(known_value(indices), -1, 0)), known_value(updates))
    return concrete(texts, Aval.of(texts.shape, dtypes.string))


def scatter_nd(
    indices: Any, updates: Any, shape: Any, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """Zeros of `shape` with `updates` added at full `indices` [..., k]; repeated ones add up.

    Strings stand among empty ones, and repeated ones end to end.

    >>> import tape_compat as tf
    >>> tf.scatter_nd([[0], [2], [0]], [1, 2, 3], [3]).numpy().tolist()
    [4, 0, 2]
    """
    indices, updates, wanted = as_tensor(indices), as_tensor(updates), dims(shape)
    if not indices._aval.shape:
        raise invalid("Indices shape must have rank at least one. Found:[]", "ScatterNd")
    if _are_refused(bad_indices_policy, "ScatterNd"):
        refuse_positions(indices, wanted, "ScatterNd")
    if is_text(updates):
        return _scatter_texts(indices, updates, wanted)
    return apply(_SCATTER_ND.bind(shape=wanted), (indices, updates))


@jax.custom_jvp
def _put(x: Any, indices: Any, updates: Any) -> Any:
    return _scattered(x, indices, updates, "set")


@_put.defjvp
def _put_jvp(primals: Any, tangents: Any) -> Any:
    """Each of several updates of one place gets the gradient; JAX: the one that won.

    Source: TF array_grad.py, _TensorScatterUpdateGrad.
    """
    x, indices, updates = primals
    dx, _, dy = tangents
    replaced = _scattered(jnp.zeros(x.shape, bool), indices, jnp.ones(updates.shape, bool), "set")
    moved = _scattered(jnp.zeros_like(dx), indices, dy, "add")
    return _put(x, indices, updates), jnp.where(replaced, moved, dx)


def _extreme(method: str) -> Callable[..., Any]:
    @jax.custom_jvp
    def extreme(x: Any, indices: Any, updates: Any) -> Any:
        return _scattered(x, indices, updates, method)

    @extreme.defjvp
    def extreme_jvp(primals: Any, tangents: Any) -> Any:
        """Ties share the gradient evenly; JAX has no rule.

        Source: TF array_grad.py, _TensorScatterMinOrMaxGrad.
        """
        x, indices, updates = primals
        dx, _, dy = tangents
        out = extreme(x, indices, updates)
        from_x = (x == out).astype(dx.dtype)
        from_y = (updates == _gather_nd(out, indices, 0)).astype(dy.dtype)
        shares = from_x + _scattered(jnp.zeros_like(dx), indices, from_y, "add")
        moved = from_x * dx + _scattered(jnp.zeros_like(dx), indices, from_y * dy, "add")
        return out, moved / shares

    return extreme


def _tensor_scatter(kernel: str, fn: Callable[..., Any], doc: str) -> Callable[..., Tensor]:
    def check(avals: tuple[Aval, ...]) -> None:
        x, indices, updates = avals
        check_dtype_of(updates, 2, x.dtype, kernel)
        if indices.dtype.name not in INDEX_DTYPES:
            raise not_allowed(indices.dtype, ", ".join(INDEX_DTYPES), kernel, "Tindices")
        n = len(indices.shape) - 1
        if not fit(updates.shape[:n], indices.shape[:-1]):
            raise invalid(
                "Outer dimensions of indices and update must match. Indices shape: "
                f"{shown(indices.shape)}, updates shape:{shown(updates.shape)}",
                kernel,
            )
        if not _slices_fit(x.shape, indices.shape[-1], updates.shape[n:]):
            raise invalid(
                "Inner dimensions of output shape must match inner dimensions of updates shape. "
                f"Output: {shown(x.shape)} updates: {shown(updates.shape)}",
                kernel,
            )

    closure = Op(fn, kernel, check=check, shapes=lambda avals: avals[0]).bind()

    def call(
        tensor: Any,
        indices: Any,
        updates: Any,
        bad_indices_policy: str = "",
        name: str | None = None,
    ) -> Tensor:
        (x, updates), indices = matching((tensor, updates)), as_tensor(indices)
        if _are_refused(bad_indices_policy, kernel):
            refuse_positions(indices, x._aval.shape, kernel)
        if fn is _put and is_text(x) and is_text(updates):
            return move_text(lambda p, q, at: call(p, at, q), x, updates, by=(indices,))
        return apply(closure, (x, indices, updates))

    call.op = closure.op  # type: ignore[attr-defined]
    call.__doc__ = doc
    return call


tensor_scatter_nd_update = _tensor_scatter(
    "TensorScatterUpdate", _put, "`tensor` with `updates` put at full `indices` [..., k]."
)
tensor_scatter_nd_add = _tensor_scatter(
    "TensorScatterAdd",
    lambda x, indices, updates: _scattered(x, indices, updates, "add"),
    "`tensor` with `updates` added at full `indices` [..., k]; repeated ones add up.",
)
tensor_scatter_nd_sub = _tensor_scatter(
    "TensorScatterSub",
    lambda x, indices, updates: _scattered(x, indices, -updates, "add"),
    "`tensor` with `updates` subtracted at full `indices` [..., k]; repeated ones add up.",
)
tensor_scatter_nd_max = _tensor_scatter(
    "TensorScatterMax",
    _extreme("max"),
    "`tensor` with the maximum of itself and `updates` at full `indices` [..., k].",
)
tensor_scatter_nd_min = _tensor_scatter(
    "TensorScatterMin",
    _extreme("min"),
    "`tensor` with the minimum of itself and `updates` at full `indices` [..., k].",
)


def _rows_put(x: Tensor, indices: Tensor, updates: Tensor, shape: tuple[Size, ...]) -> Tensor:
    """A tensor with rows replaced by updates, which are broadcast to a shape."""
    if not fit(updates._aval.shape, shape):
        updates = broadcast_to(updates, shape)
    return tensor_scatter_nd_update(x, indices[..., None], updates)


operators.define(
    gather=gather,
    gather_nd=gather_nd,
    texts_put=tensor_scatter_nd_update,
    rows_of_texts_put=_rows_put,
)
name_ops(globals())
