"""Derivatives of closures, themselves closures: pullbacks for reverse mode, JVPs for forward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .avals import Aval
from .op import Arrays, Closure, DynamicForm, Op


def pullback(closure: Closure, n: int, want: tuple[int, ...], have: tuple[int, ...]) -> Closure:
    """From `n` primals and the cotangents of outputs `have` to those of inputs `want`."""
    return closure.derived((n, want, have), lambda: Pullback(closure, n, want, have))


def jvp(closure: Closure, n: int, have: tuple[int, ...]) -> Closure:
    """From `n` primals and the tangents of inputs `have` to those of the inexact outputs."""
    return closure.derived((n, have), lambda: (closure.jvp_class or Jvp)(closure, n, have))


class Pullback(Closure):
    """The reverse derivative of a closure, itself a closure.

    TensorFlow's gradient of a complex function is conj(f') g, JAX's is f' g. The conjugation is
    made here and nowhere else.
    """

    derivative = True

    __slots__ = ("base", "have", "n", "want")

    def __init__(self, base: Closure, n: int, want: tuple[int, ...], have: tuple[int, ...]):
        super().__init__(Op(self._standalone, f"{base.name}Grad"), {})
        self.base, self.n, self.want, self.have = base, n, want, have

    def _dynamic_form_of(self) -> DynamicForm | None:
        base = self.base.dynamic_form
        if base is None or base.place >= 0:
            return None
        count = self.n + len(base.numbers)
        closure = pullback(base.closure, count, self.want, self.have)
        return DynamicForm(closure, base.numbers, self.n, base.costs_nothing)

    def _standalone(self, *arrays: Any) -> Arrays:
        outputs, pull = self.base.vjp(arrays[: self.n], self.want)
        return self.finish(outputs, pull, arrays[self.n :])

    def finish(self, outputs: Arrays, pull: Callable, given: Arrays) -> Arrays:
        """Apply a `jax.vjp` pullback to the cotangents at hand, zeros for the others."""
        cotangents = [zero_cotangent(out) for out in outputs]
        for i, cotangent in zip(self.have, given, strict=True):
            cotangents[i] = conj(jnp.asarray(cotangent))
        return tuple(map(conj, pull(tuple(cotangents))))

    def _infer(self, avals: tuple[Aval, ...]) -> tuple[tuple[Aval, ...], bool]:
        return tuple(avals[i] for i in self.want), False


class Jvp(Closure):
    """The forward derivative of a closure, itself a closure."""

    derivative = True

    __slots__ = ("base", "have", "n")

    def __init__(self, base: Closure, n: int, have: tuple[int, ...]):
        super().__init__(Op(self._push, f"{base.name}Jvp"), {})
        self.base, self.n, self.have = base, n, have

    def _push(self, *arrays: Any) -> Arrays:
        primals = tuple(jnp.asarray(arrays[i]) for i in self.have)

        def function(*chosen: Any) -> Arrays:
            full = list(arrays[: self.n])
            for i, array in zip(self.have, chosen, strict=True):
                full[i] = array
            return tuple(o for o in self.base.fn(*full) if _inexact(o))

        return jax.jvp(function, primals, tuple(map(jnp.asarray, arrays[self.n :])))[1]


def _inexact(array: Any) -> bool:
    return jnp.issubdtype(array.dtype, jnp.inexact)


def conj(array: Any) -> Any:
    """The complex conjugate; a real array as it is."""
    return jnp.conj(array) if jnp.issubdtype(array.dtype, jnp.complexfloating) else array


def zero_cotangent(out: Any) -> Any:
    """Zeros as JAX takes them for the cotangent of an array."""
    if _inexact(out):
        return jnp.zeros_like(out)
    return np.zeros(out.shape, jax.dtypes.float0)
