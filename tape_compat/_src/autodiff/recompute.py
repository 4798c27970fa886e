"""Functions that keep no intermediate result for their gradients: recompute_grad."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax

from ..core.dimensions import Sizes
from ..core.errors import NeedsValue, OperatorNotAllowedInGraphError
from ..core.kernels import Apart
from ..core.op import Closure, Op
from ..core.reverse_only import FORWARD
from ..values import nest
from ..values.capture import capture
from ..values.convert import convert
from ..values.indexed_slices import IndexedSlices
from ..values.tensor import Tensor
from ..values.variable import Variable
from .custom import as_recorded
from .tape import LOGGER


class Recomputed(Closure):
    """A closure that keeps no intermediate result for its pullback."""

    __slots__ = ("base",)

    def __init__(self, base: Closure, name: str):
        fn = Apart(jax.checkpoint, base.pure)
        op = Op(fn, name, kernels=base.kernels, affine=base.op.affine)
        super().__init__(op, {})
        self.base = base

    def traced_pure(self, *arrays: Any) -> tuple[Any, ...]:
        """Forward mode keeps nothing anyway."""
        return self.base.pure(*arrays) if FORWARD.mode else super().traced_pure(*arrays)

    def _has_unknown(self) -> bool:
        return self.base.unknown

    def _at(self, sizes: Sizes) -> Closure:
        return recomputed(self.base.at(sizes), self.name)


def recomputed(base: Closure, name: str) -> Closure:
    """The one closure that does the same and recomputes."""
    return base.derived(("checkpoint",), lambda: Recomputed(base, name))


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that keeps no intermediate result for its gradient, but computes them again.

    `f` is recorded with symbolic inputs, by `jax.checkpoint`. One that looks at values, prints or
    checks runs as it is and keeps its results; the logger `tape_compat` says so.

    >>> import tape_compat as tf
    >>> g = tf.recompute_grad(lambda x: tf.sin(tf.sin(x)))
    >>> x = tf.constant(0.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = g(x)
    >>> tape.gradient(y, x).numpy().item()
    1.0
    """

    looks = False

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        nonlocal looks
        if looks:
            return f(*args, **kwargs)
        leaves = nest.flatten((args, kwargs))
        moving = [isinstance(x, (Tensor, Variable, IndexedSlices)) for x in leaves]
        inputs = tuple(as_recorded(x) for x, moves in zip(leaves, moving, strict=True) if moves)

        def function(*symbols: Tensor) -> Any:
            given = iter(symbols)
            full = [next(given) if moves else x for x, moves in zip(leaves, moving, strict=True)]
            again_args, again_kwargs = nest.pack_sequence_as((args, kwargs), full)
            return f(*again_args, **again_kwargs)

        def flatten(result: Any) -> list[Tensor]:
            return [convert(r) for r in nest.flatten(result)]

        name = f"Recompute_{getattr(f, '__name__', 'function')}"
        reason: Any = "it prints or checks"
        try:
            found = capture(function, [x._aval for x in inputs], flatten, name)
        except (NeedsValue, OperatorNotAllowedInGraphError) as error:
            found, reason = None, error
        if found is None or found.closure.effect:
            looks = True
            LOGGER.warning("%s keeps its intermediate results: %s", name, reason)
            return f(*args, **kwargs)
        closure = recomputed(found.closure, name)
        return nest.pack_sequence_as(found.result, list(found.call(inputs, closure)))

    return decorated
