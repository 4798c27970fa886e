"""Functions that JAX differentiates in reverse mode only, and when another form is wanted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from .state import changed


class _Forward(threading.local):
    """Whether this thread traces something for forward mode: what JAX differentiates in reverse
    only must then be given in another form."""

    mode = False


FORWARD = _Forward()


def forward_mode() -> Any:
    """Trace something for forward mode. Called with a function it gives one that is traced so."""
    return changed(FORWARD, mode=True)


def with_pullback(function: Callable[..., Any], pull: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays, with a pullback of its own: `pull(arrays, cotangents, wrt)` gives the
    cotangents of the inputs at `wrt`."""

    @jax.custom_vjp
    def pulled(*arrays: Any) -> Any:
        return function(*arrays)

    def save(*given: Any) -> Any:
        arrays = tuple([x.value for x in given])
        return pulled(*arrays), (arrays, [() if moves(x) else None for x in given])

    def back(saved: Any, cotangents: Any) -> Any:
        arrays, marks = saved
        wrt = tuple([i for i, mark in enumerate(marks) if mark is not None])
        found = pull(arrays, tuple(map(materialized, cotangents)), wrt)
        answers = dict(zip(wrt, found, strict=True))
        return tuple([answers.get(i) for i in range(len(arrays))])

    pulled.defvjp(save, back, symbolic_zeros=True)
    return pulled


def moves(x: Any) -> bool:
    """Whether an input of what `jax.custom_vjp` saves is differentiated by; not if it is None."""
    return x is not None and x.perturbed and jnp.issubdtype(x.value.dtype, jnp.inexact)


def materialized(x: Any) -> Any:
    """A tangent or cotangent as an array."""
    if isinstance(x, jax.custom_derivatives.SymbolicZero):
        aval: Any = x
        return jnp.zeros(aval.shape, aval.dtype)
    return x
