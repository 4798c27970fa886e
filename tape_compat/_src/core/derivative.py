"""Derivatives of closures, themselves closures: pullbacks for reverse mode, JVPs for forward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .avals import Aval
from .dimensions import Sizes
from .op import Arrays, Closure, DynamicForm, Op
from .reverse_only import forward_mode


def pullback(
    closure: Closure, count: int, inputs: tuple[int, ...], outputs: tuple[int, ...]
) -> Closure:
    """From `count` primals and the cotangents of these outputs to those of these inputs."""
    key = (count, inputs, outputs)
    return closure.derived(key, lambda: Pullback(closure, count, inputs, outputs))


def jvp(closure: Closure, count: int, inputs: tuple[int, ...]) -> Closure:
    """From `count` primals and the tangents of these inputs to those of the inexact outputs."""
    return closure.derived((count, inputs), lambda: Jvp(closure, count, inputs))


class Pullback(Closure):
    """The reverse derivative of a closure, itself a closure.

    TensorFlow's gradient of a complex function is conj(f') g, JAX's is f' g. The conjugation is
    made here and nowhere else.
    """

    derivative = True

    __slots__ = ("base", "count", "inputs", "outputs")

    def __init__(
        self, base: Closure, count: int, inputs: tuple[int, ...], outputs: tuple[int, ...]
    ):
        super().__init__(Op(self._standalone, f"{base.name}Grad", kernels=base.kernels), {})
        self.base, self.count, self.inputs, self.outputs = base, count, inputs, outputs

    def _dynamic_form_of(self) -> DynamicForm | None:
        base = self.base.dynamic_form
        if base is None or base.place >= 0:
            return None
        count = self.count + len(base.numbers)
        closure = pullback(base.closure, count, self.inputs, self.outputs)
        return DynamicForm(closure, base.numbers, self.count, base.costs_nothing)

    def _standalone(self, *arrays: Any) -> Arrays:
        primals, given = arrays[: self.count], arrays[self.count :]
        if self.base.op.pull is not None:
            return self.finish(*self.base.vjp(primals, self.inputs), given)
        # An output without a cotangent is left out: zero times what is infinite would be NaN.
        _, pull = self.base.vjp(primals, self.inputs, self.outputs)
        return tuple(map(conj, pull(tuple([conj(jnp.asarray(g)) for g in given]))))

    def finish(self, outputs: Arrays, pull: Callable, given: Arrays) -> Arrays:
        """Apply a `jax.vjp` pullback to the cotangents at hand, zeros for the others."""
        cotangents = [zero_cotangent(out) for out in outputs]
        for i, cotangent in zip(self.outputs, given, strict=True):
            cotangents[i] = conj(jnp.asarray(cotangent))
        return tuple(map(conj, pull(tuple(cotangents))))

    def _infer(self, avals: tuple[Aval, ...]) -> tuple[tuple[Aval, ...], bool]:
        return tuple(avals[i] for i in self.inputs), False

    def _has_unknown(self) -> bool:
        return self.base.unknown

    def _at(self, sizes: Sizes) -> Closure:
        return pullback(self.base.at(sizes), self.count, self.inputs, self.outputs)

    def primal(self, avals: tuple[Aval, ...]) -> tuple[Closure, tuple[Aval, ...]]:
        return self.base.primal(avals[: self.count])


class Jvp(Closure):
    """The forward derivative of a closure, itself a closure."""

    derivative = True

    __slots__ = ("base", "count", "inputs")

    def __init__(self, base: Closure, count: int, inputs: tuple[int, ...]):
        super().__init__(Op(self._push, f"{base.name}Jvp", kernels=base.kernels), {})
        self.base, self.count, self.inputs = base, count, inputs

    def _push(self, *arrays: Any) -> Arrays:
        primals = tuple(jnp.asarray(arrays[i]) for i in self.inputs)

        def function(*chosen: Any) -> Arrays:
            full = list(arrays[: self.count])
            for i, array in zip(self.inputs, chosen, strict=True):
                full[i] = array
            return tuple(o for o in self.base.pure(*full) if inexact(o))

        tangents = tuple(map(jnp.asarray, arrays[self.count :]))
        with forward_mode():
            return jax.jvp(function, primals, tangents)[1]

    def _infer(self, avals: tuple[Aval, ...]) -> tuple[tuple[Aval, ...], bool]:
        if not any(aval.unknown for aval in avals):
            return super()._infer(avals)
        outputs, _ = self.base.infer(avals[: self.count])
        return tuple([a for a in outputs if a.dtype.is_floating or a.dtype.is_complex]), False

    def _has_unknown(self) -> bool:
        return self.base.unknown

    def _at(self, sizes: Sizes) -> Closure:
        return jvp(self.base.at(sizes), self.count, self.inputs)

    def primal(self, avals: tuple[Aval, ...]) -> tuple[Closure, tuple[Aval, ...]]:
        return self.base.primal(avals[: self.count])


def inexact(array: Any) -> bool:
    """Whether a derivative may flow through an array."""
    return jnp.issubdtype(array.dtype, jnp.inexact)


def conj(array: Any) -> Any:
    """The complex conjugate; a real array as it is."""
    return jnp.conj(array) if jnp.issubdtype(array.dtype, jnp.complexfloating) else array


def zero_cotangent(out: Any) -> Any:
    """Zeros as JAX takes them for the cotangent of an array."""
    if inexact(out):
        return jnp.zeros_like(out)
    return np.zeros(out.shape, jax.dtypes.float0)
