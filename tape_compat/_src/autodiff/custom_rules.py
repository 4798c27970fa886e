"""The rules of `custom_gradient`: calls whose pullback is the user's, for tapes and as closures."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.avals import Aval
from ..core.derivative import conj, inexact, zero_cotangent
from ..core.dimensions import Sizes, product
from ..core.errors import InvalidArgumentError, NeedsValue, located, user_location
from ..core.op import Closure, Op
from ..core.reverse_only import FORWARD
from ..core.state import changed, paused
from ..values import nest
from ..values.capture import (
    Drawn,
    Source,
    SymbolicProgram,
    anchor,
    capturing,
    close,
    leaves_of,
    symbolic_input,
    within,
)
from ..values.convert import convert
from ..values.indexed_slices import IndexedSlices
from ..values.tensor import Tensor
from ..values.variable import Handle, Variable
from . import reverse


@dataclass(eq=False)
class CustomRule:
    """A recorded call whose pullback is the user's Python function.

    `function` maps the input tensors to (results, grad_fn), both flat. The inputs are the
    arguments, then the variables that the function reads.
    """

    differentiable = True

    name: str
    function: Callable[..., tuple[list[Tensor], Callable[..., Any]]]
    grad_fn: Callable[..., Any]
    arity: int
    variables: list[Variable]
    results: list[Aval]

    def pull(
        self, inputs: tuple[Tensor, ...], cotangents: list[Any], want: tuple[int, ...]
    ) -> list[Any]:
        """The user's gradients of the inputs `want`; zeros stand for missing cotangents."""
        given = [
            reverse.filled(aval, 0) if c is None else c
            for c, aval in zip(cotangents, self.results, strict=True)
        ]
        answers = self._call(self.grad_fn, given)
        return [None if answers[i] is None else _tensor(answers[i]) for i in want]

    def gradients(self, given: list[Tensor]) -> list[Any]:
        """The user's gradients of all inputs by those of the results."""
        return [None if x is None else _tensor(x) for x in self._call(self.grad_fn, given)]

    def try_out(self) -> None:
        """Call the gradient function for its errors alone: in forward mode nothing else would."""
        with paused(), reverse.deferring():
            self._call(self.grad_fn, [reverse.filled(aval, 1) for aval in self.results])

    def _call(self, grad_fn: Callable[..., Any], given: list[Any]) -> list[Any]:
        of_variables: Any = []
        if self.variables:
            answer = grad_fn(*given, variables=self.variables)
            of_arguments, of_variables = answer
            if len(of_variables) != len(self.variables):
                raise ValueError(
                    "Must return gradient for each variable from @custom_gradient grad_fn."
                )
        else:
            of_arguments = grad_fn(*given)
        flat = nest.flatten(of_arguments)
        if len(flat) != self.arity:
            raise ValueError(
                f"custom_gradient function expected to return {self.arity} gradients, but "
                f"returned {len(flat)} instead."
            )
        return [*flat, *of_variables]

    def as_closure(self, inputs: tuple[Tensor, ...]) -> tuple[Closure, tuple[Tensor, ...]]:
        """This call as a pure closure, and its inputs, for where Python cannot be called."""
        arguments = inputs[: self.arity]
        with capturing() as program:
            symbols = [symbolic_input(x._aval) for x in arguments]
            results, grad_fn = self.function(symbols)
            closure = self.closed(program, symbols, results, grad_fn)
        return closure, (*arguments, *leaves_of(program))

    def closed(
        self,
        program: SymbolicProgram,
        symbols: list[Tensor],
        results: list[Tensor],
        grad_fn: Callable[..., Any],
    ) -> Closure:
        """What was recorded of a call, while it is under way, as a closure.

        Its gradient is recorded as well, but for one that is met in the gradient of another, or
        that cannot be: that is recorded when somebody asks for it. Else a gradient that calls its
        own function would have no end.
        """
        results = [anchor(program, r) for r in results]
        backward = _Backward(self, program, symbols, results, grad_fn)
        last = program.node
        if not _RECORDING.gradients and backward.is_recorded_now():
            closure, places, _ = made = backward.recorded
            forward = close(program, symbols, results, self.name, until=last)
            key = ("custom", closure, places, self.arity)
            return forward.derived(
                key,
                lambda: CustomClosure(self.name, forward, lambda: made, self.arity, (closure,)),
            )
        forward = close(program, symbols, results, self.name, until=last)
        backward.sources = program.sources()
        avals = tuple([x._aval for x in symbols])
        return CustomClosure(self.name, forward, backward.made, self.arity, avals)


class _Recording(threading.local):
    """Whether this thread is recording a gradient function."""

    gradients = False


_RECORDING = _Recording()

#: A pullback as a closure of the arguments, the cotangents and what else is read; for each of its
#: outputs the input that it is the gradient of, -1 for none; and for each of what else it reads
#: which input of the call that is, or its value. None: these are those of the call, in order.
Recorded = tuple[Closure, tuple[int, ...], tuple[Any, ...] | None]


@dataclass(eq=False)
class _Backward:
    """The pullback of a call that was recorded, which may be recorded later.

    sources: what the call reads beside its arguments.
    """

    rule: CustomRule
    program: SymbolicProgram
    symbols: list[Tensor]
    results: list[Tensor]
    grad_fn: Callable[..., Any]
    sources: tuple[Source, ...] | None = None
    recorded: Recorded = field(init=False)

    def is_recorded_now(self) -> bool:
        """Whether it could be recorded: its errors come when it is asked for."""
        try:
            self.recorded = self._record()
        except NeedsValue:
            raise
        except Exception:
            return False
        return True

    def made(self) -> Recorded:
        """The pullback, recorded where that has not been done."""
        if not hasattr(self, "recorded"):
            with within(self.program), reverse.deferring():
                self.recorded = self._record()
        return self.recorded

    def _record(self) -> Recorded:
        rule, program = self.rule, self.program
        with changed(_RECORDING, gradients=True):
            given = [symbolic_input(r._aval) for r in self.results]
            answers = rule._call(self.grad_fn, given)
        where = [i for i, a in enumerate(answers) if a is not None]
        grads = [anchor(program, reverse.dense(_tensor(answers[i]))) for i in where]
        for i, gradient in zip(where, grads):
            if i < rule.arity and not _fits(gradient._aval, self.symbols[i]._aval):
                raise located(
                    InvalidArgumentError,
                    f"Incompatible shapes: the grad_fn of {rule.name} gave a gradient of shape "
                    f"{gradient.shape} for an argument of shape {self.symbols[i].shape}",
                )
        closure = close(program, [*self.symbols, *given], grads, f"{rule.name}Grad")
        found = program.sources()
        sources = found if self.sources is None else self.sources
        position = {_identity(s): rule.arity + k for k, s in enumerate(sources)}
        places = tuple(
            i if i < rule.arity else position.get(rule.variables[i - rule.arity]._id, -1)
            for i in where
        )
        if self.sources is None:
            return closure, places, None
        return closure, places, tuple(_wired(s, position) for s in found)


def _identity(source: Source) -> Any:
    """What tells a source of a record from others: of a variable, the identity of its handle."""
    if isinstance(source, Drawn):
        return id(source.generator), source.times
    return source.id if isinstance(source, Handle) else source._id


def _wired(source: Source, position: dict[Any, int]) -> Any:
    """The position of a source among the inputs of a call, or its value if it is a constant."""
    place = position.get(_identity(source))
    if place is not None:
        return place
    if isinstance(source, Tensor) and source._array is not None:
        return np.asarray(source._array)
    raise NotImplementedError(
        f"A gradient function of tf.custom_gradient reads {source!r}, which its function does not, "
        f"inside the gradient of another one. At {user_location()}."
    )


def _transposed(outputs: Any, pull: Callable[..., Any], tangents: Sequence[Any]) -> list[Any]:
    """The tangents of outputs by a pullback to what has these tangents."""
    full = [zero_cotangent(out) for out in outputs]
    places = [i for i, out in enumerate(outputs) if inexact(out)]

    def linear(*cotangents: Any) -> Any:
        given = list(full)
        for i, c in zip(places, cotangents, strict=True):
            given[i] = c
        return pull(tuple(given))

    _, transpose = jax.vjp(linear, *[full[i] for i in places])
    for i, pushed in zip(places, transpose(tuple(map(jnp.asarray, tangents))), strict=True):
        full[i] = pushed
    return full


def _forward_form(forward: Closure, pull: Callable[..., Any]) -> Callable[..., Any]:
    """A function with a pullback of its own as forward mode takes it: the transpose of that."""

    @jax.custom_jvp
    def function(*arrays: Any) -> tuple[Any, ...]:
        return forward.pure(*arrays)

    @function.defjvp
    def push(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
        outputs = forward.pure(*primals)
        moving = [i for i, x in enumerate(primals) if inexact(x)]

        def answers(cotangents: tuple[Any, ...]) -> tuple[Any, ...]:
            found = pull(primals, cotangents)
            return tuple([found[i] for i in moving])

        return outputs, tuple(_transposed(outputs, answers, [tangents[i] for i in moving]))

    return function


class CustomClosure(Closure):
    """A pure function with a pullback of its own, conjugated as TensorFlow's gradients are.

    sized: what has the unknown sizes of the pullback: its closure, or the avals of the arguments.
    """

    __slots__ = ("_forward", "parts")

    def __init__(
        self,
        name: str,
        forward: Closure,
        backward: Callable[[], Recorded],
        arity: int,
        sized: tuple[Closure | Aval, ...],
    ):
        @jax.custom_vjp
        def function(*arrays: Any) -> tuple[Any, ...]:
            return forward.fn(*arrays)

        def save(*arrays: Any) -> tuple[Any, Any]:
            return forward.pure(*arrays), arrays

        def pull(arrays: Any, cotangents: Any) -> tuple[Any, ...]:
            closure, places, wiring = backward()
            more = arrays[arity:]
            if wiring is not None:
                more = [arrays[w] if isinstance(w, int) else jnp.asarray(w) for w in wiring]
            given = [conj(_materialized(c)) for c in cotangents]
            answers = closure.pure(*arrays[:arity], *given, *more)
            full: list[Any] = [zero_cotangent(x) for x in arrays]
            for i, answer in zip(places, answers, strict=True):
                if i >= 0 and inexact(arrays[i]):
                    full[i] = _shaped(conj(answer).astype(arrays[i].dtype), arrays[i].shape)
            return tuple(full)

        function.defvjp(save, pull)
        super().__init__(Op(function, name, kernels=forward.kernels, affine=True), {})
        self.parts = (forward, backward, arity, sized)
        self._forward = _forward_form(forward, pull)

    def prepare_pullback(self) -> None:
        """Record the gradient: its errors are raised where it is asked for."""
        self.parts[1]()

    def answered(self, want: tuple[int, ...]) -> tuple[int, ...]:
        """Those that the user's function gives, and not None."""
        places = self.parts[1]()[1]
        return tuple([i for i in want if i in places])

    def pure(self, *arrays: Any) -> tuple[Any, ...]:
        return self._forward(*arrays) if FORWARD.mode else super().pure(*arrays)

    def traced_pure(self, *arrays: Any) -> tuple[Any, ...]:
        return self._forward(*arrays) if FORWARD.mode else super().traced_pure(*arrays)

    def _has_unknown(self) -> bool:
        return any(x.unknown for x in (self.parts[0], *self.parts[3]))

    def _at(self, sizes: Sizes) -> Closure:
        forward, backward, arity, sized = self.parts

        def known() -> Recorded:
            closure, places, wiring = backward()
            return closure.at(sizes), places, wiring

        left = tuple([x.at(sizes) for x in sized])
        return CustomClosure(self.name, forward.at(sizes), known, arity, left)


def _shaped(gradient: Any, shape: tuple[int, ...]) -> Any:
    """A gradient in the shape of what it is the gradient of: with its elements, or broadcast."""
    same = gradient.size == product(shape)
    return gradient.reshape(shape) if same else jnp.broadcast_to(gradient, shape)


def _fits(gradient: Aval, x: Aval) -> bool:
    """Whether `_shaped` takes it, as far as sizes are known."""
    if gradient.unknown or x.unknown or gradient.size == x.size:
        return True
    try:
        return np.broadcast_shapes(gradient.shape, x.shape) == x.shape
    except ValueError:
        return False


def _materialized(cotangent: Any) -> Any:
    if cotangent.dtype == jax.dtypes.float0:
        return jnp.zeros(cotangent.shape, jnp.int32)
    return cotangent


def _tensor(value: Any) -> Any:
    return value if isinstance(value, (Tensor, IndexedSlices)) else convert(value)
