"""Dropout and embedding look-ups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

from ..composites.ragged import RaggedTensor
from ..core.avals import Aval
from ..core.dimensions import broadcast, fit
from ..core.op import Op
from ..core.refuse import invalid, shown
from ..values.convert import convert
from ..values.dispatch import maps_composites, maps_first
from ..values.record import apply, identity
from ..values.tensor import Tensor
from . import rules
from .declare import Number, is_number, static
from .gather_scatter import gather
from .joining import concat
from .random_stateful import uniform
from .random_stateless import stateless_uniform


def _dropout(x: Any, uniform: Any, rate: Any) -> Any:
    return jnp.where(uniform >= rate, x / (1 - rate), 0)


def _check_dropout(avals: tuple[Aval, ...]) -> None:
    x, uniform, _ = avals
    together = broadcast((x.shape, uniform.shape))
    if together is None or not fit(together, x.shape):
        texts = [shown(a.shape) for a in (uniform, x)]
        raise invalid(
            f"condition {texts[0]}, then {texts[1]}, and else [] must be broadcastable", "SelectV2"
        )


_DROPOUT = Op(_dropout, "SelectV2", check=_check_dropout).bind()


def _rate_tensor(rate: Any, x: Tensor) -> Tensor:
    if isinstance(rate, (int, float)) and not isinstance(rate, bool):
        if not 0 <= rate < 1:
            raise ValueError(
                "`rate` must be a scalar tensor or a float in the range [0, 1). "
                f"Received: rate={rate}"
            )
        return convert(float(rate), x.dtype)
    if isinstance(rate, (str, bytes, list, tuple)) or rate is None:
        raise ValueError(f"`rate` must be a scalar or scalar tensor. Received: rate={rate}")
    rate = convert(rate)
    if rate._aval.shape != ():
        raise ValueError(f"Shape {rate._aval.shape} must have rank 0")
    if rate.dtype is not x.dtype:
        raise ValueError(
            "`x.dtype` must be compatible with `rate.dtype`. "
            f"Received: x.dtype={x.dtype!s} and rate.dtype={rate.dtype!s}"
        )
    return rate


@maps_composites
def dropout(
    x: Any, rate: Number, noise_shape: Any = None, seed: int | None = None, name: str | None = None
) -> Tensor:
    """`x` with a share `rate` of its elements set to 0 at random, the others divided by 1 - rate.

    Args:
      rate: in [0, 1): a number or a scalar tensor of the dtype of `x`.
      noise_shape: shape of the random choice, which broadcasts to that of `x`; None in it stands
        for the size of `x`.
      seed: of the op; see `tf.random.set_seed`.
    Raises: ValueError for a `rate` outside, an `x` that is not floating, or a `noise_shape` of a
      ragged tensor.

    >>> import tape_compat as tf
    >>> sorted(set(tf.nn.dropout(tf.ones([100]), 0.5, seed=1).numpy().tolist()))
    [0.0, 2.0]
    """
    return _dropped(
        x, rate, noise_shape, lambda shape, dtype: uniform(shape, seed=seed, dtype=dtype)
    )


@maps_first
def stateless_dropout(
    x: Any,
    rate: Number,
    seed: Any,
    rng_alg: Any = None,
    noise_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """`dropout`, the same for the same `seed` [2].

    Raises: ValueError for a `rate` outside of [0, 1), or an `x` that is not floating.

    >>> import tape_compat as tf
    >>> drop = tf.nn.experimental.stateless_dropout
    >>> bool(tf.reduce_all(drop(tf.ones([9]), 0.5, [1, 2]) == drop(tf.ones([9]), 0.5, [1, 2])))
    True
    """
    alg = "auto_select" if rng_alg is None else rng_alg

    def draw(shape: Any, dtype: Any) -> Tensor:
        return stateless_uniform(shape, seed, dtype=dtype, alg=alg)

    return _dropped(x, rate, noise_shape, draw)


def general_dropout(
    x: Any,
    rate: Number,
    uniform_sampler: Callable[..., Any],
    noise_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """`dropout` by the numbers in [0, 1) that `uniform_sampler(shape=, dtype=)` gives.

    >>> import tape_compat as tf
    >>> sample = lambda shape, dtype: tf.linspace(0.0, 0.75, shape[0])
    >>> tf.nn.experimental.general_dropout(tf.ones([4]), 0.5, sample).numpy().tolist()
    [0.0, 0.0, 2.0, 2.0]
    """
    return _dropped(
        x, rate, noise_shape, lambda shape, dtype: uniform_sampler(shape=shape, dtype=dtype)
    )


def _dropped(x: Any, rate: Any, noise_shape: Any, draw: Callable[[Any, Any], Any]) -> Tensor:
    if noise_shape is not None and isinstance(x, RaggedTensor):
        raise ValueError("noise_shape is not supported yet for RaggedTensor x")
    original, x = x, convert(x)
    if not x.dtype.is_floating:
        raise ValueError(
            "`x.dtype` must be a floating point tensor as `x` will be scaled. "
            f"Received: x_dtype={x.dtype!s}"
        )
    rate_tensor = _rate_tensor(rate, x)
    if is_number(rate, 0):
        return x if x is original else identity(x)  # what a variable held is read by others
    shape = x._aval.shape
    if noise_shape is not None:
        given = static(noise_shape)
        shape = tuple(shape[i] if d is None and i < len(shape) else d for i, d in enumerate(given))
    return apply(_DROPOUT, (x, convert(draw(shape, x.dtype)), rate_tensor))


def _clip_rows(rows: Any, max_norm: Any, ids_rank: int) -> Any:
    axes = tuple(range(ids_rank, rows.ndim))
    total = jnp.sum(lax.square(rows), axis=axes, keepdims=True)
    positive = total > 0
    norm = jnp.where(positive, rules.sqrt(jnp.where(positive, total, 1)), total)
    return rows * max_norm / rules.maximum(norm, max_norm)


_CLIP_ROWS = Op(_clip_rows, "RealDiv")


def embedding_lookup(
    params: Any, ids: Any, max_norm: Number = None, name: str | None = None
) -> Tensor:
    """Rows `ids` of the table `params`. The gradient by the table is IndexedSlices.

    Args:
      params: table [rows, ...]. A list is one of tables, which are taken as one, end to end; a
        tuple of rows is a table.
      ids: int Tensor of any shape.
      max_norm: if given, rows of a larger 2-norm are scaled down to it.
    Raises: ValueError if `params` is missing or empty.

    >>> import tape_compat as tf
    >>> tf.nn.embedding_lookup(tf.constant([[1.0, 2.0], [3.0, 4.0]]), [1, 1]).numpy().tolist()
    [[3.0, 4.0], [3.0, 4.0]]
    """
    if params is None:
        raise ValueError("params must be specified")
    if isinstance(params, (list, tuple)) and not params:
        raise ValueError("Length of params is currently 0. Need at least one param.")
    if isinstance(params, list):
        params = params[0] if len(params) == 1 else concat(params, 0)
    rows = gather(params, ids)
    if max_norm is None:
        return rows
    ids_rank = len(rows.shape) - len(getattr(params, "shape", convert(params).shape)) + 1
    return apply(_CLIP_ROWS.bind(ids_rank=ids_rank), (rows, convert(max_norm, rows.dtype)))
