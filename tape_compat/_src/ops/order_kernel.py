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
from ..values.bounds import along

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
    """The k largest along the last axis, of equal ones the first ones first, and their places."""
    places = _places_of_top(lax.stop_gradient(x), k)
    return along(x, places, -1), places


def _places_of_top(x: Any, k: int) -> Any:
    """Where the k largest stand. `jax.lax.top_k` looks for few of float32, in a time that grows
    with k, and sorts all other numbers."""
    if not less(k - 1, x.shape[-1]):  # of unknown sizes JAX refuses what is not certain
        return jnp.take(_by_xla(_in_total_order(x), -1, True), jnp.arange(k), -1, mode="clip")
    quick = isinstance(k, int) and fits(x) and jax.default_backend() == "cpu"
    few = x.dtype == np.float32 and (k <= _FEW or k * _MANY_OF <= x.shape[-1])
    if not quick or few:
        return lax.top_k(_zeros_alike(x), k)[1]
    return order(_in_total_order(x), -1, True)[..., :k]


def _in_total_order(x: Any) -> Any:
    """Integers in the order of floats: -NaN, -inf, ..., -0 and 0, ..., inf, NaN."""
    if x.dtype.kind in "iu":
        return x
    bits = _bits(x)
    return jnp.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


def _zeros_alike(x: Any) -> Any:
    """Without negative zeros, which `jax.lax.top_k` takes for less than the others."""
    return x if x.dtype.kind in "iu" else lax.bitcast_convert_type(_bits(x), x.dtype)


def _bits(x: Any) -> Any:
    """Those of floats as integers, of both zeros 0; numbers so small that XLA takes them for zeros
    keep theirs."""
    signed = np.dtype(f"i{x.dtype.itemsize}")
    bits = lax.bitcast_convert_type(x, signed)
    return jnp.where(bits == np.iinfo(signed).min, np.zeros((), signed), bits)


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
