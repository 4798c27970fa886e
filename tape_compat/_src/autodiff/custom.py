"""What gives gradients of the user's own making: custom_gradient, stop_gradient."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import jax

from ..composites.ragged import RaggedTensor
from ..core.op import Op
from ..core.state import LOCAL, Recorder, changed, paused
from ..ops.arguments import is_text
from ..ops.shapes import identity as copied
from ..values import nest
from ..values.capture import capturing, leaves_of, symbolic_input
from ..values.composite import CompositeTensor, TensorType
from ..values.convert import convert
from ..values.dispatch import define, takes_composites
from ..values.record import apply, identity, notify
from ..values.tensor import Tensor
from ..values.variable import Variable, current, read
from .custom_rules import CustomRule
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
