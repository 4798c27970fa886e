"""Gradients of the user's own making: custom_gradient, recompute_grad, stop_gradient."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from ..core.avals import Aval
from ..core.derivative import FORWARD, Jvp, conj, zero_cotangent
from ..core.dimensions import Sizes
from ..core.op import Closure, Op
from ..core.state import LOCAL, paused
from ..ops.shapes import identity as copied
from ..values import nest
from ..values.capture import anchor, capture, capturing, close, leaves_of, symbolic_input
from ..values.composite import CompositeTensor, TensorType
from ..values.convert import convert
from ..values.dispatch import define, takes_composites
from ..values.indexed_slices import IndexedSlices
from ..values.ragged import RaggedTensor
from ..values.record import apply, identity, notify
from ..values.tensor import Tensor
from ..values.variable import Variable, current
from . import reverse
from .forward import ForwardAccumulator


class VariableWatcher:
    """A recorder that only notes which variables are read."""

    #: Tracks nothing, so that no op is told.
    ids: frozenset[int] = frozenset()

    def __init__(self) -> None:
        self.variables: dict[int, Variable] = {}

    def __enter__(self) -> VariableWatcher:
        state = LOCAL.state
        state.recorders = (*state.recorders, self)
        return self

    def __exit__(self, *_: object) -> None:
        state = LOCAL.state
        state.recorders = tuple(r for r in state.recorders if r is not self)

    def record(self, call: Any, inputs: tuple, outputs: tuple, node: Any) -> None:
        """Nothing to do."""

    def variables_since(self) -> dict[int, int]:
        """It tracks none."""
        return {}

    def escaped(self, tensor: Tensor) -> None:
        """Nothing to do."""

    def variable_accessed(self, variable: Variable) -> None:
        """Note a trainable variable."""
        if variable.trainable:
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
            results = [anchor(program, r) for r in results]
            given = [symbolic_input(r._aval) for r in results]
            answers = self._call(grad_fn, given)
            where = [i for i, a in enumerate(answers) if a is not None]
            grads = [anchor(program, reverse.dense(_tensor(answers[i]))) for i in where]
        captured = leaves_of(program)
        forward = close(program, symbols, results, self.name)
        backward = close(program, [*symbols, *given], grads, f"{self.name}Grad")
        position = {x._id: len(arguments) + k for k, x in enumerate(captured)}
        place = [
            i if i < self.arity else position.get(self.variables[i - self.arity]._id, -1)
            for i in where
        ]
        key = ("custom", backward, tuple(place), len(arguments))
        closure = forward.derived(
            key, lambda: CustomClosure(self.name, forward, backward, tuple(place), len(arguments))
        )
        return closure, (*arguments, *captured)


class _Transposed(Jvp):
    """Forward mode from the pullback alone: it is linear, and its transpose is the JVP."""

    __slots__ = ()

    def _push(self, *arrays: Any) -> tuple[Any, ...]:
        outputs, pull = self.base.vjp(arrays[: self.count], self.inputs)
        zeros = tuple(zero_cotangent(out) for out in outputs)
        inexact = [i for i, out in enumerate(outputs) if jnp.issubdtype(out.dtype, jnp.inexact)]

        def linear(*cotangents: Any) -> Any:
            full = list(zeros)
            for i, c in zip(inexact, cotangents, strict=True):
                full[i] = c
            return pull(tuple(full))

        _, transpose = jax.vjp(linear, *(zeros[i] for i in inexact))
        return transpose(tuple(map(jnp.asarray, arrays[self.count :])))


def _forward_form(forward: Closure, pull: Callable[..., Any]) -> Callable[..., Any]:
    """A function with a pullback of its own as forward mode takes it: the transpose of that."""

    @jax.custom_jvp
    def function(*arrays: Any) -> tuple[Any, ...]:
        return forward.pure(*arrays)

    @function.defjvp
    def push(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
        outputs = forward.pure(*primals)
        zeros = tuple(zero_cotangent(out) for out in outputs)
        inexact = [i for i, out in enumerate(outputs) if jnp.issubdtype(out.dtype, jnp.inexact)]
        moving = [i for i, x in enumerate(primals) if jnp.issubdtype(x.dtype, jnp.inexact)]

        def linear(*cotangents: Any) -> Any:
            full = list(zeros)
            for i, c in zip(inexact, cotangents, strict=True):
                full[i] = c
            answers = pull(primals, tuple(full))
            return tuple(answers[i] for i in moving)

        _, transpose = jax.vjp(linear, *(zeros[i] for i in inexact))
        given = iter(transpose(tuple(jnp.asarray(tangents[i]) for i in moving)))
        pushed = [next(given) if i in inexact else zero for i, zero in enumerate(zeros)]
        return outputs, tuple(pushed)

    return function


class CustomClosure(Closure):
    """A pure function with a pullback of its own, conjugated as TensorFlow's gradients are."""

    jvp_class = _Transposed

    __slots__ = ("_forward", "parts")

    def __init__(
        self, name: str, forward: Closure, backward: Closure, place: tuple[int, ...], arity: int
    ):
        @jax.custom_vjp
        def function(*arrays: Any) -> tuple[Any, ...]:
            return forward.fn(*arrays)

        def save(*arrays: Any) -> tuple[Any, Any]:
            return forward.pure(*arrays), arrays

        def pull(arrays: Any, cotangents: Any) -> tuple[Any, ...]:
            given = [conj(_materialized(c)) for c in cotangents]
            answers = backward.pure(*arrays[:arity], *given, *arrays[arity:])
            full: list[Any] = [zero_cotangent(x) for x in arrays]
            for i, answer in zip(place, answers, strict=True):
                if i >= 0 and jnp.issubdtype(arrays[i].dtype, jnp.inexact):
                    full[i] = conj(answer).astype(arrays[i].dtype).reshape(arrays[i].shape)
            return tuple(full)

        function.defvjp(save, pull)
        super().__init__(Op(function, name), {})
        self.parts = (forward, backward, place, arity)
        self._forward = _forward_form(forward, pull)

    def traced_pure(self, *arrays: Any) -> tuple[Any, ...]:
        return self._forward(*arrays) if FORWARD.mode else super().traced_pure(*arrays)

    def _has_unknown(self) -> bool:
        return self.parts[0].unknown or self.parts[1].unknown

    def _at(self, sizes: Sizes) -> Closure:
        forward, backward, place, arity = self.parts
        return CustomClosure(self.name, forward.at(sizes), backward.at(sizes), place, arity)


class Recomputed(Closure):
    """A closure that keeps no intermediate result for its pullback."""

    __slots__ = ("base",)

    def __init__(self, base: Closure, name: str):
        super().__init__(Op(jax.checkpoint(base.pure), name), {})
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
        with VariableWatcher() as watcher:
            result, grad_fn = f(*args, **kwargs)
        inputs = [*nest.flatten(args), *nest.flatten(kwargs)]
        variables = [
            v for v in watcher.variables.values() if all(v is not given for given in inputs)
        ]
        _check_takes_variables(grad_fn, variables)
        flat_args = nest.flatten(args)
        arity = len(flat_args)
        recorded = tuple(_recorded(x) for x in [*flat_args, *variables])

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
        state = LOCAL.state
        if state.capture is not None:
            closure, full = rule.as_closure(recorded)
            outputs = apply(closure, full)
        else:
            # As in TensorFlow, the rule is for reverse mode: accumulators see what `f` did.
            forward = tuple(r for r in state.recorders if isinstance(r, ForwardAccumulator))
            tapes = tuple(r for r in state.recorders if not isinstance(r, ForwardAccumulator))
            with paused(forward):
                state.deferring = state.deferring or bool(tapes)
                outputs = tuple(identity(r) for r in flat)
            if any(x._id in r.ids for r in forward for x in recorded):
                rule.try_out()
            notify(tapes, rule, recorded, outputs, None)
        return nest.pack_sequence_as(result, list(outputs))

    return _Decorated(decorated, f)


class _Decorated:
    """A function under `custom_gradient`. As a method, it takes the gradients by its arguments
    without `self`."""

    def __init__(self, call: Callable[..., Any], function: Any):
        functools.update_wrapper(self, function)
        self._call, self._function = call, function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        bind = getattr(self._function, "__get__", None)
        if instance is None or bind is None:
            return self
        return custom_gradient(bind(instance, owner))

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


def _recorded(value: Any) -> Tensor:
    if isinstance(value, Variable):
        for recorder in LOCAL.state.recorders:
            recorder.variable_accessed(value)
        return current(value._handle)
    return convert(value)


def _check_takes_variables(grad_fn: Any, variables: list[Variable]) -> None:
    if not variables:
        return
    spec = inspect.getfullargspec(grad_fn)
    if "variables" not in spec.args and "variables" not in spec.kwonlyargs and not spec.varkw:
        raise TypeError(
            "@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function "
            f"uses variables: {variables}"
        )


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that keeps no intermediate result for its gradient, but computes them again.

    `f` is recorded with symbolic inputs, so it must not look at values. Uses `jax.checkpoint`.

    >>> import tape_compat as tf
    >>> g = tf.recompute_grad(lambda x: tf.sin(tf.sin(x)))
    >>> x = tf.constant(0.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = g(x)
    >>> tape.gradient(y, x).numpy().item()
    1.0
    """

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        leaves = nest.flatten((args, kwargs))
        moving = [isinstance(x, (Tensor, Variable, IndexedSlices)) for x in leaves]
        inputs = tuple(_recorded(x) for x, moves in zip(leaves, moving, strict=True) if moves)

        def function(*symbols: Tensor) -> Any:
            given = iter(symbols)
            full = [next(given) if moves else x for x, moves in zip(leaves, moving, strict=True)]
            again_args, again_kwargs = nest.pack_sequence_as((args, kwargs), full)
            return f(*again_args, **again_kwargs)

        def flatten(result: Any) -> list[Tensor]:
            return [convert(r) for r in nest.flatten(result)]

        name = f"Recompute_{getattr(f, '__name__', 'function')}"
        found = capture(function, [x._aval for x in inputs], flatten, name)
        closure = recomputed(found.closure, name)
        return nest.pack_sequence_as(found.result, list(found.call(inputs, closure)))

    return decorated


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
    return apply(_STOP, (convert(input),))


def _of_parts(function: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda input, name=None: nest.map_structure(function, input, expand_composites=True)


define(CompositeTensor, stop_gradient=_of_parts(stop_gradient), identity=_of_parts(copied))
define(
    RaggedTensor,
    stop_gradient=lambda input, name=None: input.with_flat_values(stop_gradient(input.flat_values)),
)
