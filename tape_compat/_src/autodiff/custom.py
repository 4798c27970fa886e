"""Gradients of the user's own making: custom_gradient, stop_gradient."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..composites.ragged import RaggedTensor
from ..core.avals import Aval
from ..core.derivative import conj, inexact, zero_cotangent
from ..core.dimensions import Sizes, product
from ..core.errors import (
    InvalidArgumentError,
    NeedsValue,
    located,
    user_location,
)
from ..core.op import Closure, Op
from ..core.reverse_only import FORWARD
from ..core.state import LOCAL, Recorder, changed, paused
from ..ops.arguments import is_text
from ..ops.shapes import identity as copied
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
from ..values.composite import CompositeTensor, TensorType
from ..values.convert import convert
from ..values.dispatch import define, takes_composites
from ..values.indexed_slices import IndexedSlices
from ..values.record import apply, identity, notify
from ..values.tensor import Tensor
from ..values.variable import Handle, Variable, current, read
from . import reverse
from .forward import ForwardAccumulator


class VariableWatcher(Recorder):
    """A recorder that only notes which variables are read."""

    def __init__(self) -> None:
        self.variables: dict[int, Variable] = {}

    def during(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """What a function gives, of which the reads are noted."""
        with changed(LOCAL.state, recorders=(*LOCAL.state.recorders, self)):
            return function(*args, **kwargs)

    def beside(self, args: Any, kwargs: Any) -> list[Variable]:
        """The trainable variables that are not among the arguments."""
        given = [*nest.flatten(args), *nest.flatten(kwargs)]
        read = [v for v in self.variables.values() if v.trainable]
        return [v for v in read if all(v is not x for x in given)]

    def variable_accessed(self, variable: Variable) -> None:
        self.variables.setdefault(variable._id, variable)


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


def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """Decorator: a function that gives its result and the function of its gradient.

    `f(*args, **kwargs)` returns `(result, grad_fn)`; `grad_fn(*upstream)` returns one gradient for
    each tensor of `args`. If `f` reads variables, `grad_fn` must take `variables=` and return
    `(gradients of args, gradients of variables)`. Gradients of `grad_fn` give the second order.

    Raises: TypeError if variables are read and `grad_fn` does not take `variables`; ValueError when
      the numbers of gradients do not match.
    Source: TF custom_gradient.py.

    >>> import tape_compat as tf
    >>> @tf.custom_gradient
    ... def log1pexp(x):
    ...     e = tf.exp(x)
    ...     return tf.math.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))
    >>> x = tf.constant(100.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = log1pexp(x)
    >>> tape.gradient(y, x)
    <tf.Tensor: shape=(), dtype=float32, numpy=1.0>
    """
    if f is None:
        return custom_gradient

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if any(map(_foreign, args)):
            args = tuple([convert(x) if _foreign(x) else x for x in args])
        if LOCAL.state.capture is not None:
            return _recorded_call(f, args, kwargs)
        watcher = VariableWatcher()
        result, grad_fn = watcher.during(f, *args, **kwargs)
        variables = watcher.beside(args, kwargs)
        _check_takes_variables(grad_fn, variables)
        flat_args = nest.flatten(args)
        arity = len(flat_args)
        recorded = tuple(as_recorded(x) for x in [*flat_args, *variables])

        def function(symbols: list[Tensor]) -> tuple[list[Tensor], Callable[..., Any]]:
            again = nest.pack_sequence_as(args, symbols)
            result, grad_fn = f(*again, **kwargs)
            return [convert(r) for r in nest.flatten(result)], grad_fn

        flat = [convert(r) for r in nest.flatten(result)]
        rule = CustomRule(
            getattr(f, "__name__", "custom_gradient"),
            function,
            grad_fn,
            arity,
            variables,
            [r._aval for r in flat],
        )
        # As in TensorFlow, accumulators see what `f` did, and have the rule if they saw nothing.
        state = LOCAL.state
        forward = tuple(r for r in state.recorders if isinstance(r, ForwardAccumulator))
        tapes = tuple(r for r in state.recorders if not isinstance(r, ForwardAccumulator))
        with paused(forward):
            state.deferring = state.deferring or bool(tapes)
            outputs = tuple(identity(r) for r in flat)
        for accumulator in forward:
            accumulator.push_by_gradient(rule, recorded, outputs)
        notify(tapes, rule, recorded, outputs, None)
        return nest.pack_sequence_as(result, list(outputs))

    return _Decorated(decorated, f)


def _recorded_call(f: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Any:
    """A call of a function under `custom_gradient` in a record: it is one instruction there."""
    flat_args = nest.flatten(args)
    given = tuple([as_recorded(x) for x in flat_args])
    with capturing() as program:
        symbols = [symbolic_input(x._aval) for x in given]
        watcher = VariableWatcher()
        result, grad_fn = watcher.during(f, *nest.pack_sequence_as(args, symbols), **kwargs)
        variables = watcher.beside(args, kwargs)
        _check_takes_variables(grad_fn, variables)
        flat = [convert(r) for r in nest.flatten(result)]
        name = getattr(f, "__name__", "custom_gradient")
        avals = [r._aval for r in flat]
        rule = CustomRule(name, _replayed, grad_fn, len(flat_args), variables, avals)
        closure = rule.closed(program, symbols, flat, grad_fn)
    for variable in program.reads.values():
        read(variable)
    if program.cells:  # what it assigns is done where it is called
        f(*args, **kwargs)
    outputs = apply(closure, (*given, *leaves_of(program)))
    return nest.pack_sequence_as(result, list(outputs))


def _replayed(symbols: list[Tensor]) -> Any:
    raise AssertionError("a call in a record is a closure already")


class _Decorated:
    """A function under `custom_gradient`. As a method, it takes the gradients by its arguments
    without `self`."""

    def __init__(self, call: Callable[..., Any], function: Any):
        functools.update_wrapper(self, function)
        #: By which libraries find the function again, as TensorFlow's decorators leave it.
        self.__original_wrapped__ = function
        self._call, self._function = call, function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        bind = getattr(self._function, "__get__", None)
        if instance is None or bind is None:
            return self
        return custom_gradient(bind(instance, owner))

    def __getattr__(self, name: str) -> Any:
        if name == "__signature__":
            return inspect.signature(self._function)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __reduce__(self) -> Any:
        method = self._function
        if inspect.ismethod(method):
            return getattr, (method.__self__, method.__name__)
        return method.__qualname__

    def __repr__(self) -> str:
        return repr(self._function)


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that computes `f`, but whose gradient is that of the identity.

    `f` must give one tensor of the shape of its one argument.

    >>> import tape_compat as tf
    >>> x = tf.Variable(1.7)
    >>> with tf.GradientTape() as tape:
    ...     y = tf.grad_pass_through(tf.round)(x)
    >>> y.numpy().item(), tape.gradient(y, x).numpy().item()
    (2.0, 1.0)
    """

    @functools.wraps(f)
    def pass_through(*args: Any, **kwargs: Any) -> Any:
        def grad(*upstream: Any, **variables: Any) -> Any:
            if variables.get("variables"):
                return upstream, [None] * len(variables["variables"])
            return upstream

        return f(*args, **kwargs), grad

    return custom_gradient(pass_through)


def _foreign(value: Any) -> bool:
    """Whether it is a variable of another library, as Keras has them."""
    return isinstance(value, TensorType) and not isinstance(value, Tensor)


def as_recorded(value: Any) -> Tensor:
    """An argument as a tensor; a variable is one that was read."""
    if isinstance(value, Variable):
        for recorder in LOCAL.state.recorders:
            recorder.variable_accessed(value)
        return current(value._handle)
    return convert(value)


def _check_takes_variables(grad_fn: Any, variables: list[Variable]) -> None:
    if not variables:
        return
    spec = inspect.getfullargspec(getattr(grad_fn, "python_function", grad_fn))
    if "variables" not in spec.args and "variables" not in spec.kwonlyargs and not spec.varkw:
        raise TypeError(
            "@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function "
            f"uses variables: {variables}"
        )


_STOP = Op(jax.lax.stop_gradient, "StopGradient", differentiable=False).bind()


@takes_composites
def stop_gradient(input: Any, name: str | None = None) -> Tensor:
    """The value of `input`, a constant to every derivative.

    >>> import tape_compat as tf
    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x * tf.stop_gradient(x)
    >>> tape.gradient(y, x).numpy().item()
    3.0
    """
    x = convert(input)
    return x if is_text(x) else apply(_STOP, (x,))


def _of_parts(function: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda input, name=None: nest.map_structure(function, input, expand_composites=True)


define(CompositeTensor, stop_gradient=_of_parts(stop_gradient), identity=_of_parts(copied))
define(
    RaggedTensor,
    stop_gradient=lambda input, name=None: input.with_flat_values(stop_gradient(input.flat_values)),
)
