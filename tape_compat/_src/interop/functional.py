"""Steps in TensorFlow's style as pure functions for JAX."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ..core import dtypes
from ..core.call import Call
from ..core.control import Structured, structured
from ..core.dimensions import Shape, Sizes, is_symbolic
from ..core.errors import user_location
from ..core.loops import While, WhileInScans
from ..core.op import Closure, Op
from ..core.steps import Steps
from ..core.x64 import in_x64
from ..function.function import Function, function
from ..function.signature import rebuilt
from ..function.trace import Trace
from ..ops.random_keys import next_key, typed_key
from ..run.executor import finish_effects
from ..values.capture import Drawn
from ..values.convert import convert
from ..values.spec import TensorSpec
from ..values.tensor import Tensor
from ..values.updates import ASSIGN
from ..values.variable import Handle, Variable

#: The state of a functional: arrays by the names of variables, and a key.
State = dict[str, Any]


def functional(step: Callable[..., Any]) -> Functional:
    """A pure JAX function of a step that reads and assigns to Variables.

    Args:
      step: a Python function or a `tf.function` of tensors and other arguments. It may use tapes,
        Variables, optimizers and random ops.
    Returns: a Functional, `pure`: `pure.init(*args)` gives the state, a pytree of what the
      Variables hold, and `out, state = pure(state, *args)` does the step on arrays and touches no
      Variable. JAX's transformations work on it: `jax.jit`, `jax.vmap`, `jax.lax.scan`,
      `jax.grad`, `jax.export`, of symbolic sizes too. `pure.restore(state)` assigns a state to the
      Variables.

    >>> import jax, tape_compat as tf
    >>> count = tf.Variable(0.0, name="count")
    >>> def add(x):
    ...     return count.assign_add(x) * 10.0
    >>> pure = tf.engine.functional(add)
    >>> state = pure.init(1.0)
    >>> state, out = jax.lax.scan(lambda s, x: pure(s, x)[::-1], state, jax.numpy.arange(3.0))
    >>> out.tolist(), float(state["non_trainable"].get("count", state["trainable"]["count"]))
    ([0.0, 10.0, 30.0], 3.0)
    """
    return Functional(step)


class Functional:
    """A step as a pure function `(state, *args) -> (out, state)`; made by `functional`.

    A state is a dict: "trainable" and "non_trainable" have the values of the Variables by their
    names (`w`, `w_1` where two are named so), "key" has the key of random draws, uint32 [2], None
    where nothing is drawn. Values of Variables that the step does not use are handed on, so that
    one state may serve several steps whose Variables have names of their own.

    Arguments are arrays and nests of them; other Python values are constants, as in a
    `tf.function`, and like it the step is recorded once for each kind of arguments. Arrays have
    JAX's dtypes: with `jax_enable_x64` off an int64 Variable is int32 in the state. Derivatives by
    JAX go through assignments. Draws are by the state's key alone, whatever the seeds of the ops.
    Prints and checks are ordered calls out of the program: `jax.vmap` refuses them, and under
    `jax.jit` what a check raises comes with the next function that prints or checks.
    """

    def __init__(self, step: Callable[..., Any]):
        self._function: Function = step if isinstance(step, Function) else function(step)
        functools.update_wrapper(self, self._function.python_function, updated=())
        self._names: dict[Handle, str] = {}
        self._variables: dict[str, Variable] = {}

    @property
    def variables(self) -> dict[str, Variable]:
        """The Variables met so far, by their names in the state."""
        return dict(self._variables)

    def init(self, *args: Any, **kwargs: Any) -> State:
        """The state for calls with arguments like these: what the Variables hold now, and a key
        drawn by the global seed.

        Arguments may be tensors, arrays, or `TensorSpec` and `jax.ShapeDtypeStruct`.
        """
        trace, _ = self._traced(args, kwargs)
        state: State = {"trainable": {}, "non_trainable": {}, "key": None}
        for variable in trace.captured.variables:
            array = _narrow(variable._held._value())  # a copy, which may be donated
            state[_part(variable)][self._names[variable._handle]] = jnp.array(array)
        if _draws(trace):
            state["key"] = in_x64(_state_key, next_key("Functional", None)._value())
        return state

    def __call__(self, state: State, *args: Any, **kwargs: Any) -> tuple[Any, State]:
        """The step on arrays: what it returns, of arrays, and the state after it.

        Raises: ValueError if the state lacks a Variable that the step uses for such arguments, or a
          key.
        """
        trace, arrays = self._traced(args, kwargs)
        values = {name: state[_part(v)].get(name) for name, v in self._variables.items()}
        key = state["key"]
        if _draws(trace) and key is None:
            raise ValueError(f"{self._missing('a key')} At {user_location()}.")
        sources = [self._value(s, values) for s in trace.captured.sources]
        results, held, key = _run(trace, arrays, sources, key)
        after = {part: dict(state[part]) for part in _PARTS}
        for handle, array in zip(trace.captured.cells, held, strict=True):
            name = self._names[handle]
            after[_part(self._variables[name])][name] = array
        return trace.results.packed(results), {**state, **after, "key": key}

    def restore(self, state: State) -> None:
        """Assign what a state holds to the Variables.

        >>> import tape_compat as tf
        >>> v = tf.Variable(1.0, name="v")
        >>> pure = tf.engine.functional(lambda: v.assign_add(1.0))
        >>> _, state = pure(pure.init())
        >>> pure.restore(state)
        >>> v.numpy().item()
        2.0
        """
        for name, variable in self._variables.items():
            array = state[_part(variable)].get(name)
            if array is not None:
                variable.assign(np.asarray(array).astype(variable.dtype.np_dtype))

    def _traced(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Trace, list[Any]]:
        """The record for such arguments, and the arrays in them, in its order."""
        given: dict[int, Any] = {}

        def spec(x: Any) -> TensorSpec:
            if isinstance(x, TensorSpec):
                return x
            array = _narrow(convert(x)._value() if not hasattr(x, "dtype") else _array(x))
            found = _spec(array.shape, dtypes.as_dtype(array.dtype))
            given[id(found)] = found, array
            return found

        signature = self._function._signature
        args, kwargs = jax.tree.map(_without_value, (args, kwargs), is_leaf=_is_leaf)
        bound = signature.bind(
            tuple([rebuilt(x, spec) for x in args]),
            {name: rebuilt(x, spec) for name, x in kwargs.items()},
        )
        arrays: list[Any] = []

        def note(x: Any) -> Any:
            arrays.append(given[id(x)][1] if id(x) in given else _array(x))
            return x

        for value in [*bound.args, *[value for _, value in bound.kwargs]]:
            rebuilt(value, note)
        if bound.taken_apart(specs=True).variables:
            raise TypeError(
                f"{self._function.name}: Variables are part of the state, not arguments of a pure "
                f"function; give their values. At {user_location()}."
            )
        with jax.ensure_compile_time_eval():  # whatever JAX is tracing
            trace = self._function.whole_trace_for(bound)
        trace.require_one_program("A pure function")
        for variable in trace.captured.variables:
            self._name(variable)
        return trace, arrays

    def _name(self, variable: Variable) -> None:
        if variable._handle in self._names:
            return
        base = variable._shared_name
        name, number = base, 0
        while name in self._variables:
            number += 1
            name = f"{base}_{number}"
        self._names[variable._handle] = name
        self._variables[name] = variable

    def _value(self, source: Any, values: dict[str, Any]) -> Any:
        """What a source of the record is in a call; a draw is itself."""
        if isinstance(source, Tensor):
            return source._value()
        if isinstance(source, Drawn):
            return source
        name = self._names[source]
        if values[name] is None:
            raise ValueError(f"{self._missing(f'the Variable {name!r}')} At {user_location()}.")
        return values[name]

    def _missing(self, what: str) -> str:
        return (
            f"{self._function.name}: the state lacks {what}, which the step uses for these "
            "arguments. Make it by `init` with arguments like these."
        )

    def __repr__(self) -> str:
        return f"<tape_compat.Functional {self._function.name}>"


_PARTS = ("trainable", "non_trainable")

#: 64-bit dtypes and what JAX has for them where they are off.
_NARROWER = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}


def _part(variable: Variable) -> str:
    return _PARTS[not variable.trainable]


def _is_leaf(value: Any) -> bool:
    return isinstance(value, (Tensor, Variable))


def _without_value(x: Any) -> Any:
    return _spec(x.shape, x.dtype) if isinstance(x, jax.ShapeDtypeStruct) else x


def _spec(shape: Shape, dtype: Any) -> TensorSpec:
    """What arrays of a shape are recorded as: sizes that JAX does not know are None."""
    return TensorSpec([None if is_symbolic(size) else size for size in shape], dtype)


def _array(x: Any) -> Any:
    if isinstance(x, TensorSpec):
        return x
    return x._value() if isinstance(x, Tensor) else x


def _narrow(array: Any) -> Any:
    """An array in the dtype that JAX has for it as it is configured."""
    name = _NARROWER.get(array.dtype.name)
    if name is None or jax.config.read("jax_enable_x64"):
        return array
    return jax.lax.convert_element_type(array, np.dtype(name))


def _draws(trace: Trace) -> bool:
    return any(isinstance(source, Drawn) for source in trace.captured.sources)


def _run(
    trace: Trace, arrays: list[Any], sources: list[Any], key: Any
) -> tuple[list[Any], list[Any], Any]:
    """What a record gives of arrays: its results, what its variables hold then, and the next
    key."""
    closure: Closure = trace.captured.closure
    if trace.shapes is not None:
        shapes = trace.shapes_with([x.shape for x in arrays], sources)
        sizes = Sizes.between(trace.shapes, shapes)
        if sizes is None:
            raise ValueError(
                f"{trace.graph.name} was recorded for shapes {trace.shapes}, and does not take "
                f"{shapes}. At {user_location()}."
            )
        closure = trace.closure_at(sizes)
    closure = closure.derived(("functional",), functools.partial(_plain, closure))
    draws = sum(isinstance(source, Drawn) for source in sources)
    if draws:
        words, key = in_x64(_split, key, draws)
        given = iter(words)
        sources = [next(given) if isinstance(s, Drawn) else s for s in sources]
    kinds = [s.dtype.np_dtype if isinstance(s, Handle) else None for s in trace.captured.sources]
    outputs = [_narrow(x) for x in in_x64(_replay, closure, arrays, sources, kinds)]
    if closure.effect and not any(isinstance(x, Tracer) for x in outputs):
        finish_effects()
    results = len(outputs) - len(trace.captured.cells)
    return outputs[:results], outputs[results:], key


#: What `ASSIGN` gives, without its derivative.
_NEW = Op(lambda old, new: new, "AssignVariableOp").bind()


def _plain(closure: Closure) -> Closure:
    """A record in which derivatives go through assignments: an array after a step is what the step
    has made of the arrays before."""
    if closure is ASSIGN:
        return _NEW
    if isinstance(closure, Call):
        return Call(_plain_steps(closure.flat), closure.name, results=closure.results)
    if isinstance(closure, Structured):
        parts = tuple([_plain_steps(part.steps) for part in closure.parts])
        kind = WhileInScans if type(closure) is While else type(closure)
        return structured(kind, closure.name, parts, *closure.settings)
    return closure


def _plain_steps(steps: Steps) -> Steps:
    return steps._replace(
        steps=tuple([s._replace(closure=_plain(s.closure)) for s in steps.steps]),
    )


def _replay(closure: Any, arrays: list[Any], sources: list[Any], dtypes: list[Any]) -> Any:
    wide = [
        x if dtype is None else jax.lax.convert_element_type(x, dtype)
        for x, dtype in zip(sources, dtypes, strict=True)
    ]
    return closure.traced(*arrays, *wide)


def _state_key(key: Any) -> Any:
    return jax.random.key_data(typed_key(jnp.asarray(key)))


def _split(key: Any, draws: int) -> tuple[list[Any], Any]:
    """Keys of so many draws, uint64 [4], and the key after them."""
    split = jax.random.split(jax.random.wrap_key_data(key, impl="threefry2x32"), draws + 1)
    data = jax.random.key_data(split)
    wide = data.astype(np.uint64)
    zero = np.uint64(0)
    words = [(wide[i, 0] << 32) | wide[i, 1] for i in range(draws)]
    return [jnp.stack([zero, zero, word, zero]) for word in words], data[draws]
