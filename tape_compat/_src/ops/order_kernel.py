"""The order of numbers on processors by a kernel of this library's own, `native/order.c`.

XLA's sort on processors calls a comparison for each pair; the kernel counts digits.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core import kernels
from ..core.dimensions import less
from ..core.kernels import PROGRAMS

_TARGET = "tape_compat_order"
#: XLA takes so many of a row, or one in so many, as quickly: of 512 x 512 numbers 10 in 0.9 ms and
#: 50 in 4.0, the kernel any number in 1.4; of 10,000 numbers 200 in 56 us and 1,000 in 225, in 83.
_FEW, _MANY_OF = 8, 32

#: What the kernel orders numbers as.
_KINDS = {
    **dict.fromkeys(("int32", "int64", "float32", "float64")),
    **dict.fromkeys(("int8", "uint8", "int16", "uint16"), "int32"),
    "uint32": "int64",
    **dict.fromkeys(("float16", "bfloat16"), "float32"),
}


def available() -> bool:
    """Whether there is such a kernel, and XLA as it is installed takes it."""
    return kernels.available("Numbers are sorted by XLA", **{_TARGET: "ORDER"})


def fits(x: Any) -> bool:
    """Whether such an array is for the kernel, in the program that is traced."""
    known = x.dtype.name in _KINDS and all(isinstance(n, int) for n in x.shape)
    return PROGRAMS.own and known and available()


def order(x: Any, axis: int, descending: bool) -> Any:
    """The places (int32) along an axis that sort numbers; equal ones keep their order, NaN is more
    than all others."""
    return _order(axis, descending, x) if fits(x) else _by_xla(x, axis, descending)


def top(x: Any, k: int) -> tuple[Any, Any]:
    """The k largest along the last axis in the order of their bits, as `jax.lax.top_k`, which looks
    for few of float32, in a time that grows with k, and sorts all other numbers."""
    if not less(k - 1, x.shape[-1]):  # of unknown sizes JAX refuses what is not certain
        order_of = _by_xla(_in_total_order(lax.stop_gradient(x)), -1, True)
        places = jnp.take(order_of, jnp.arange(k), -1, mode="clip")
        return jnp.take_along_axis(x, places, -1), places
    if not (isinstance(k, int) and fits(x) and jax.default_backend() == "cpu"):
        return lax.top_k(x, k)
    if x.dtype == np.float32 and (k <= _FEW or k * _MANY_OF <= x.shape[-1]):
        return lax.top_k(x, k)
    places = order(_in_total_order(lax.stop_gradient(x)), -1, True)[..., :k]
    return jnp.take_along_axis(x, places, -1), places


def _in_total_order(x: Any) -> Any:
    """Integers in the order of the bits of floats: -NaN, -inf, ..., -0, 0, ..., inf, NaN."""
    if x.dtype.kind in "iu":
        return x
    signed = np.dtype(f"i{x.dtype.itemsize}")
    bits = lax.bitcast_convert_type(x, signed)
    return jnp.where(bits < 0, bits ^ np.iinfo(signed).max, bits)


def _by_xla(x: Any, axis: int, descending: bool) -> Any:
    return jnp.argsort(x, axis=axis, stable=True, descending=descending).astype(np.int32)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _order(axis: int, descending: bool, x: Any) -> Any:
    def by_kernel(x: Any) -> Any:
        kind = _KINDS[x.dtype.name]
        rows = jnp.moveaxis(x if kind is None else x.astype(kind), axis, -1)
        places = jax.ffi.ffi_call(
            _TARGET, jax.ShapeDtypeStruct(rows.shape, np.int32), vmap_method="broadcast_all"
        )(rows, numbers=np.array([descending], "int64"))
        return jnp.moveaxis(places, -1, axis)

    def by_xla(x: Any) -> Any:
        return _by_xla(x, axis, descending)

    return lax.platform_dependent(x, cpu=by_kernel, default=by_xla)


@_order.defjvp
def _order_jvp(axis: int, descending: bool, primals: Any, tangents: Any) -> Any:
    """Places do not change with the numbers."""
    places = _order(axis, descending, *primals)
    return places, np.zeros(places.shape, jax.dtypes.float0)
