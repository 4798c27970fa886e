"""`tf.function`: a Python function recorded once for each kind of arguments, then run compiled."""

from __future__ import annotations

import functools
import importlib
import logging
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from math import inf
from types import SimpleNamespace
from typing import Any

from ..core import errors, limits
from ..core.caches import keep
from ..core.dimensions import INCONCLUSIVE, are_free
from ..core.dtypes import string
from ..core.forwards import forwards
from ..core.native import native_calls
from ..core.state import LOCAL, MODE
from ..ops.random_keys import PythonDraws
from ..run import policy
from ..run.executor import left_pending
from ..values.composite import Opaque
from ..values.context import inside_function
from ..values.effects import done_so_far, not_again
from ..values.host_steps import SketchOfSteps, takes_steps
from ..values.tensor import Tensor
from ..values.trackable import Recorded
from .any_rank import ConcreteFunctionOfAnyRank, of_any_rank, without_covered
from .autograph import converted
from .compiler_ir import compiler_ir
from .concrete import ConcreteFunction
from .elements import taking
from .function_spec import FunctionSpec
from .function_type import FunctionType, Parameter, type_of, untyped
from .graph import FuncGraph
from .methods import as_method
from .retracing import (
    General,
    Quick,
    add_tensors,
    key_of,
    retracing_of,
    shapes_of,
    widened,
    with_specs,
    with_zeros,
)
from .signature import LITERALS, Arguments, Bound, Signature, serves, spec_names, texts_in
from .trace import AssumingTrace, BySizes, Trace, Unlearned, as_tensors, traced
from .tracebacks import filter_traceback

LOGGER = logging.getLogger("tape_compat")
_AS_PYTHON = "%s cannot be recorded, and its Python runs at each call: %s"


class Function(Recorded):
    """What `tf.function` makes of a Python function. Called, it records it or runs a record."""

    def __init__(
        self,
        python_function: Callable[..., Any],
        name: str,
        input_signature: Any = None,
        autograph: bool = True,
        jit_compile: bool | None = None,
        reduce_retracing: bool = False,
        autograph_options: Any = None,
    ):
        functools.update_wrapper(self, python_function, updated=())
        self._python_function = python_function
        #: What is recorded.
        self._converted = python_function
        if autograph:
            self._converted = converted(python_function, options=autograph_options)
        self._name = name
        self._signature = Signature(python_function, input_signature)
        self._autograph = autograph
        self._jit_compile = jit_compile
        self._reduce_retracing = reduce_retracing
        self._lock = threading.RLock()
        #: A trace by the arguments; or several; or why there is none.
        self._traces: dict[tuple, Trace | BySizes | str] = {}
        #: Those for each set of sizes that are made inside other functions.
        self._inner: dict[tuple, BySizes] = {}
        #: The arguments for which the host does steps of it there.
        self._by_steps: dict[tuple, None] = {}
        #: There, for arguments of known sizes: see `trace_of_own_sizes`.
        self._own_sizes: dict[tuple, Trace | None] = {}
        self._given: dict[tuple, tuple[Bound, Trace]] = {}
        self._concrete: dict[tuple, ConcreteFunction] = {}
        #: The keys of traces for texts, the oldest first.
        self._by_text: deque[tuple[tuple, ...]] = deque()
        #: Whether it can be recorded only where texts are known.
        self._needs_texts = False
        #: For arguments with texts, whatever these are: why it cannot be recorded.
        self._never: dict[tuple, str] = {}
        #: Those of one program where others are in parts, by their arguments.
        self._whole: dict[tuple, Trace] = {}
        #: Those whose inputs have other names than those of the same arguments, by these.
        self._named: dict[tuple, Trace] = {}
        self._count = self._unlearned = 0
        self._retracing = retracing_of(python_function)
        self._quick = Quick(self._signature.plain, self._traces, self._retracing)
        #: The iterator or the like that it takes by itself and cannot be recorded for.
        self._alone: weakref.ref[Any] | None = None
        #: Its draws where it runs as Python.
        self._draws = PythonDraws()
        self._general = General()
        self._options = input_signature, autograph, jit_compile, reduce_retracing, autograph_options
        self._bound: weakref.WeakKeyDictionary[Any, Function] = weakref.WeakKeyDictionary()
        #: Whether variables were made at the first call; none may be from then on.
        self._may_create = True

    def _decorate(self, decorator: Callable[[Any], Any]) -> None:
        """Record what `decorator` makes of the Python function, in its place.

        Raises: ValueError after it was recorded.
        """
        if self._count:
            raise ValueError("Functions cannot be decorated after they have been traced.")
        Function.__init__(self, decorator(self._python_function), self._name, *self._options)

    python_function: Callable[..., Any] = forwards("_python_function", "The Python function.")
    _descriptor_cache: weakref.WeakKeyDictionary[Any, Function] = forwards(
        "_bound", "The methods that it is, by their instances; zfit clears them."
    )
    name: str = forwards("_name", "Its name.")
    input_signature: Any = forwards(
        "_signature.specs", "The specs of its arguments, None if none were given."
    )

    def experimental_get_tracing_count(self) -> int:
        """How often the Python function was recorded."""
        return self._count

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        try:
            found = self._bound.get(instance)
        except TypeError:  # it cannot be held weakly, or hashed
            return self._bind(instance)
        if found is None:
            found = self._bound[instance] = self._bind(instance)
        return found

    def _bind(self, instance: Any) -> Function:
        """The function as the method of an instance."""
        method = as_method(self._python_function, instance)
        bound = Function(method, self._name, *self._options)
        if self._autograph:
            bound._converted = as_method(self._converted, instance)
        bound._retracing = bound._quick.retracing = self._retracing
        return bound

    @native_calls("traced")
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if MODE.python:
            return self._python_function(*args, **kwargs)
        self._retracing.calls += 1
        least, most = self._signature.plain
        if not kwargs and least <= len(args) <= most:
            parts: list[Any] = []
            tensors: list[Tensor] = []
            for value in args:
                cls = value.__class__
                if cls is Tensor and value._aval.dtype is not string:
                    parts.append(value._aval)
                    tensors.append(value)
                elif cls in LITERALS:
                    parts.append(value)
                elif cls is not tuple or not add_tensors(value, parts, tensors):
                    break
            else:
                trace = self._traces.get(tuple(parts))
                if trace.__class__ is Trace:
                    return trace.call(tensors, ())  # type: ignore[union-attr]
            if len(args) == 1 and self._alone is not None and self._alone() is args[0]:
                return self._as_python(args, kwargs)
        bound = self._signature.bind(args, kwargs)
        arguments = bound.taken_apart()
        if arguments.has_texts:
            if any(x._aval.dtype is string and x._is_symbolic() for x in arguments.tensors):
                return self._inside(args, kwargs)
            bound = self._of_texts(bound, arguments)
            if bound.known_texts:
                arguments = bound.taken_apart()
        key = key_of(self._signature, bound, arguments)
        trace = self._traces.get(key)
        if trace is None and key in self._by_steps and takes_steps():
            return self._inside(args, kwargs)
        try:
            if trace is None:
                trace = self._trace(key, bound)
            if isinstance(trace, BySizes):
                trace = self._trace_of_sizes(trace, bound)
        except Exception as error:
            if not takes_steps():
                raise
            if isinstance(error, errors.NeedsValue):
                keep(self._by_steps, key, None, limits.MAX_CLOSURES_PER_OP)
            return self._inside(args, kwargs, error)
        if isinstance(trace, str):
            alone = not kwargs and len(args) == 1 and isinstance(args[0], Opaque)
            if alone and key in self._traces:
                self._alone = weakref.ref(args[0])
            return self._as_python(args, kwargs)
        if isinstance(trace, AssumingTrace):
            return self._tried(trace, arguments, args, kwargs)
        return trace.call(arguments.tensors, arguments.variables)

    def _of_texts(self, bound: Bound, arguments: Arguments) -> Bound:
        """Arguments with tensors of texts. These are inputs of what is recorded, which the host
        does steps of; where that cannot be, their values are parts of it."""
        known = bound._replace(known_texts=True)
        if self._needs_texts or LOCAL.state.capture is not None:
            return known
        key = key_of(self._signature, bound, arguments)
        try:
            trace = self._traces.get(key) or self._trace(key, bound)
            if isinstance(trace, BySizes):
                self._trace_of_sizes(trace, bound)
        except _NeedsTexts:
            self._needs_texts = True
            return known
        return bound

    def _inside(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception | None = None
    ) -> Any:
        """What it gives in another function, which takes its steps one by one; as one step, if it
        is possible for unknown sizes only. error: what recording it gave."""
        bound = self._signature.bind(args, kwargs)
        nested = importlib.import_module(f"{__package__}.nested")  # which most programs need not
        own = nested.trace_of_own_sizes(self, bound)
        if own is not None:
            return nested.call_inside(own, bound.taken_apart())
        if error is not None and not isinstance(error, errors.NeedsValue):
            raise error
        args, kwargs = self._signature.taken(args, kwargs)
        return as_tensors(self._converted(*args, **kwargs), self._python_function)

    def _as_python(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the Python function gives."""
        args, kwargs = self._signature.taken(args, kwargs)
        with taking(), self._draws.running():
            result = self._python_function(*args, **kwargs)
        left_pending(LOCAL.state.program)
        return as_tensors(result, self._python_function)

    def _tried(
        self, trace: Trace, arguments: Arguments, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Call a trace that assumes something. Where that does not hold the Python runs, at each
        call if it happens often; what the call had done already is not done again."""
        chances = trace.graph.chances
        state = LOCAL.state
        if chances.used_up:
            if state.capture is not None:
                raise errors.NeedsValue(f"{self._name} runs its Python at each call.")
            return self._as_python(args, kwargs)
        chances.calls += 1
        if state.capture is not None:
            if trace.graph.in_parts:
                return self._inside(args, kwargs)
            return trace.call(arguments.tensors, arguments.variables)
        with done_so_far() as done:
            try:
                return trace.call(arguments.tensors, arguments.variables)
            except errors.NotAsRecorded as error:
                chances.refuted = inf if error.always else chances.refuted + 1
                if error.anew:
                    self._forget(trace)
                elif chances.used_up:
                    LOGGER.warning(_AS_PYTHON, self._name, error)
        with not_again(done):
            return self._as_python(args, kwargs)

    def _forget(self, trace: Trace) -> None:
        """Let the next call record it anew."""
        with self._lock:
            for kept in (self._traces, *self._traces.values(), *self._inner.values()):
                if isinstance(kept, dict):
                    for key in [key for key, found in kept.items() if found is trace]:
                        del kept[key]
            for key in [key for key, (_, found) in self._given.items() if found is trace]:
                del self._given[key]

    def _trace(self, key: tuple, bound: Bound) -> Trace | BySizes | str:
        """The trace for these arguments, made by one thread; those for each set of sizes, if it
        takes them to record it; why there is none, if Python must run at each call."""
        with self._lock:
            found = self._traces.get(key)
            if found is None and bound.known_texts and self._never:
                found = self._never.get(
                    self._signature.general(bound)._replace(known_texts=False).key
                )
            if found is None:
                given = widened(self._signature.general(bound))
                if self._reduce_retracing:
                    given = self._general.of(given)
                by_sizes = given.has_unknown and not bound.has_unknown
                shared = self._reduce_retracing or by_sizes
                inside = LOCAL.state.capture is not None
                if shared:
                    found = self._traces.get(given.key)
                if found is None and by_sizes and inside and given.key in self._inner:
                    return self._inner[given.key]
                if found is None:
                    found = self._serving(key) or self._record(given, by_sizes)
                if isinstance(found, str) and by_sizes:
                    found = BySizes()
                    if inside:  # by itself it may be possible, with steps of the host
                        return self._inner.setdefault(given.key, found)
                elif isinstance(found, Unlearned):
                    return found
                elif isinstance(found, str) and bound.has_unknown:
                    return found  # it may be possible where the sizes are known
                if shared:
                    self._traces[given.key] = found
                if by_sizes and isinstance(found, Trace):
                    taken = bound.taken_apart  # of specs there is nothing to take
                    found = self._of_zeros(found, given, shapes_of(bound), lambda: taken().tensors)
                self._traces[key] = found
                if self._reduce_retracing:
                    self._general.came(given)
                if texts_in(key):
                    self._forget_texts(key, given.key)
            return found

    def _of_zeros(
        self,
        found: Trace,
        given: Bound,
        shapes: Sequence[Any],
        tensors: Callable[[], Sequence[Tensor]],
    ) -> Trace:
        """The trace for arguments of which sizes are 0 that are unknown in `given`: one of its own
        where sizes were computed that do not hold for them, if the function can be recorded so."""
        known = with_zeros(given, shapes)
        if known is None or found.holds_for(tensors()):
            return found
        try:
            return self._recorded(known, False, settled=True)
        except Exception as error:  # what stands behind `if tf.size(x) > 0:` need not fit
            LOGGER.debug("%s is not recorded for sizes of 0: %s", self._name, error)
            return found

    def _forget_texts(self, *keys: tuple) -> None:
        """Let go of the trace for the texts that came first, if there are many."""
        self._by_text.append(keys)
        if len(self._by_text) > limits.MAX_TRACES_BY_TEXT:
            for key in self._by_text.popleft():
                for kept in (self._traces, self._given, self._concrete):
                    kept.pop(key, None)

    def _trace_of_sizes(self, traces: BySizes, bound: Bound) -> Trace | str:
        """The trace for arguments of known sizes."""
        with self._lock:
            found = traces.get(bound.key)
            if found is None:
                found = self._record(bound, settled=True)
                if not isinstance(found, Unlearned):
                    traces[bound.key] = found
            return found

    def _serving(self, key: tuple) -> Trace | None:
        """The last trace for unknown sizes that is right for these arguments."""
        for general, (_, trace) in reversed(self._given.items()):
            if trace.shapes is not None and serves(general, key) and are_free(trace.shapes):
                return trace
        return None

    def _record(self, bound: Bound, by_sizes: bool = False, settled: bool = False) -> Trace | str:
        """Record the Python function; a second time if it made variables at the first. by_sizes: if
        that is not possible, it will be recorded for each set of sizes; settled: it is now."""
        # texts are part of what is recorded here, not in TensorFlow
        outer = LOCAL.state.capture is not None
        why = None if outer or texts_in(bound.key) else self._retracing.traced()
        if why is not None:
            LOGGER.warning("%s", why)
        count = self._count
        try:
            found = self._recorded(bound, self._may_create, settled)
            if found.created:
                self._may_create = False
                found = self._recorded(bound, False, settled)
        except (errors.NeedsValue, INCONCLUSIVE) as error:
            learns = isinstance(error, errors.NeedsRun)  # texts may be inputs when it has run
            if _with_texts(bound) and not by_sizes and not learns:
                self._count = count
                raise _NeedsTexts from error
            if inside_function() and not by_sizes:
                raise
            if learns and self._unlearned < policy.UNLEARNED_CALLS:
                self._unlearned += not by_sizes
                return Unlearned(error)
            if bound.known_texts and not by_sizes:
                key = bound._replace(known_texts=False).key
                keep(self._never, key, str(error), limits.MAX_TRACES_BY_TEXT)
            if not by_sizes and not isinstance(error, errors.NeedsPython):
                LOGGER.warning(_AS_PYTHON, self._name, error)
            return str(error)
        except Exception as error:
            if _with_texts(bound):  # with their values it will be told what is wrong
                self._count = count
                raise _NeedsTexts from error
            filter_traceback(error)
            raise
        self._may_create = False
        given = with_specs(bound)[1]  # which holds no tensors
        self._given[given.key] = given, found
        return found

    def _recorded(
        self, bound: Bound, creates: bool, settled: bool, steps: bool = True, again: bool = True
    ) -> Trace:
        """steps: whether the host may do some. again: whether it is tried without if it fails."""
        self._count += 1
        sketch = SketchOfSteps() if steps else None
        try:
            found = traced(self._converted, bound, self._name, creates, settled, True, sketch)
        except (errors.NeedsValue, INCONCLUSIVE):
            raise
        except Exception:
            if sketch is None or not sketch.taken or not again or _with_texts(bound):
                raise
            # what Python asked of an unknown size or a text may be all that is wrong
            return self._recorded(bound, creates, settled, steps=False)
        found.refuse_unfed()
        if found.computes_with_texts():
            raise errors.NeedsValue(f"{self._name} takes texts (at {errors.user_location()})")
        due = policy.JIT_COMPILE_DUE if self._jit_compile else policy.FUNCTION_DUE
        found.captured.closure.due = due
        found.spec_names = spec_names(bound)
        return found

    def trace_for(self, bound: Bound) -> Trace:
        """The trace for bound arguments. Raises NeedsValue if Python must run at each call."""
        if self._needs_texts and _with_texts(bound):
            bound = bound._replace(known_texts=True)
        key = self._signature.general(bound).key
        try:
            found = self._traces.get(key) or self._trace(key, bound)
        except _NeedsTexts:
            self._needs_texts = True
            return self.trace_for(bound)
        if isinstance(found, BySizes):
            found = self._trace_of_sizes(found, bound)
        if isinstance(found, str):
            raise errors.NeedsValue(f"{self._name} has no concrete function: {found}")
        return found

    def whole_trace_for(self, bound: Bound) -> Trace:
        """As `trace_for`; one without steps of the host if there is one for these sizes."""
        found = self.trace_for(bound)
        if not found.graph.in_parts or found.shapes is None or bound.has_unknown:
            return found
        with self._lock:
            whole = self._whole.get(bound.key)
            if whole is None:
                try:
                    whole = self._recorded(bound, False, settled=True, steps=False)
                except (errors.NeedsValue, INCONCLUSIVE):
                    return found
                self._whole[bound.key] = whole
            return whole

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for these arguments, TensorSpecs or values, as an object of its own.

        Raises: TypeError for arguments that do not fit the function.

        >>> import tape_compat as tf
        >>> double = tf.function(lambda x: x * 2)
        >>> concrete = double.get_concrete_function(tf.TensorSpec([2], tf.float32))
        >>> concrete(tf.constant([1.0, 2.0])).numpy().tolist()
        [2.0, 4.0]
        """
        signature = self._signature
        if signature.specs is not None and not args and not kwargs:
            args = signature.specs
        bound = signature.general(signature.bind(args, kwargs))
        if of_any_rank(bound):
            made = ConcreteFunctionOfAnyRank(self, signature, bound, self._name)
            return self._concrete.setdefault((bound.key, spec_names(bound)), made)
        return self._concrete_for(bound)

    def _concrete_for(self, bound: Bound) -> ConcreteFunction:
        """The one for arguments. Raises NeedsValue if Python must run at each call."""
        with self._lock:
            key, names = bound.key, spec_names(bound)
            trace = self.trace_for(bound)
            if any(names) and names != trace.spec_names:
                trace = self._named.get((key, names)) or self._recorded(bound, False, settled=True)
                self._named[key, names] = trace
                key = *key, names
            found = self._concrete.get(key)
            if found is None:
                bound = bound._replace(known_texts=self._needs_texts)
                found = self._concrete[key] = self._concrete_of(trace, bound)
            return found

    def _concrete_of(self, trace: Trace, bound: Bound) -> ConcreteFunction:
        def of_zeros(tensors: Sequence[Tensor]) -> Trace:
            with self._lock:
                return self._of_zeros(trace, bound, [x.shape for x in tensors], lambda: tensors)

        return ConcreteFunction(trace, self._signature, bound, self._name, of_zeros)

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """The signatures of its concrete functions, as text."""
        parts = [c.pretty_printed_signature(verbose) for c in self._concretes()]
        return "\n\n".join(parts)

    def _concretes(self) -> list[ConcreteFunction]:
        for key, (bound, trace) in self._given.items():
            if key not in self._concrete:
                self._concrete[key] = self._concrete_of(trace, bound)
        return list(self._concrete.values())

    @property
    def _concrete_variable_creation_fn(self) -> Any:
        """What Keras 2 writes the graph of: the first one recorded, nothing where Python runs."""
        found = self._concretes()
        if found:
            return found[0]
        return SimpleNamespace(graph=FuncGraph(LOCAL.state, self._name, creates=False))

    @_concrete_variable_creation_fn.setter
    def _concrete_variable_creation_fn(self, _: None) -> None:
        """Begin anew with the next call; zfit sets None."""
        Function.__init__(self, self._python_function, self._name, *self._options)

    def _list_all_concrete_functions(self) -> list[ConcreteFunction]:
        """Those that were recorded, and the one for `input_signature` if there is one. A function
        without parameters has an empty one."""
        specs = self._signature.specs
        if specs is None and not self._signature.python.parameters:
            specs = ()
        if specs is not None and (not self._given or of_any_rank(self._signature.bound(specs, {}))):
            self.get_concrete_function(*specs)
        return without_covered(self._concretes())

    def _trackable_children(self, save_type: str = "checkpoint", **_: Any) -> dict[str, Any]:
        """The parts that a SavedModel keeps: its concrete functions."""
        if save_type == "checkpoint":
            return {}
        return {f"trace_{i}": c for i, c in enumerate(self._list_all_concrete_functions())}

    def experimental_get_compiler_ir(self, *args: Any, **kwargs: Any) -> Callable[..., str | bytes]:
        """What XLA makes of the function for arguments like these, tensors or TensorSpecs.

        Returns: a function of `stage`: "hlo" (default), "stablehlo", "optimized_hlo" give text,
          "stablehlo_serialized" and "hlo_serialized" bytes; `platform_name` is that of another
          platform to lower for.
        Raises: ValueError if a shape has a None, or for another stage.

        >>> import tape_compat as tf
        >>> f = tf.function(lambda x: tf.exp(x))
        >>> ir = f.experimental_get_compiler_ir(tf.TensorSpec([2], tf.float32))
        >>> "stablehlo.exponential" in ir(stage="stablehlo"), ir(stage="hlo").split()[0]
        (True, 'HloModule')
        """
        bound = self._signature.bind(args, kwargs)
        return compiler_ir(self.whole_trace_for(bound), bound)

    @property
    def function_spec(self) -> FunctionSpec:
        """Its parameters."""
        return FunctionSpec(self._signature, self._jit_compile)

    @property
    def function_type(self) -> FunctionType:
        """The parameters by name and kind, with the types that the `input_signature` gives them."""
        found, specs = untyped(self._signature.python), self._signature.specs or ()
        parameters = list(found.parameters.values())
        for i, spec in enumerate(specs[: len(parameters)]):
            p = parameters[i]
            parameters[i] = Parameter(p.name, p.kind, p.default is not p.empty, type_of(spec))
        return FunctionType(parameters)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy has records of its own."""
        return Function, (self._python_function, self._name, *self._options)

    def __repr__(self) -> str:
        return f"<tape_compat.Function {self._name}>"


class _NeedsTexts(Exception):
    """A function cannot be recorded without the values of the texts that it is given."""


def _with_texts(bound: Bound) -> bool:
    """Whether there are tensors of texts among arguments that are inputs of what is recorded."""
    return not bound.known_texts and bound.taken_apart(specs=True).has_texts


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: Any = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: Any = None,
    experimental_compile: Any = None,
    experimental_follow_type_hints: Any = None,
) -> Any:
    """A function that is recorded once for each kind of arguments, and then runs compiled.

    A decorator, with arguments or without; of functions, methods, lambdas and other callables. The
    first call with arguments of a kind runs the Python function on symbolic tensors, which have
    shapes and dtypes and no values, and records the ops; the record then runs as one XLA program
    without Python. Tensors are of a kind by dtype and shape, Variables by these and by which of
    them are the same, numbers and strings by value, structures by their
    classes and keys, other objects by equality, or identity where they define none.

    Variables are read and assigned to in the order of the program, and so are prints, checks and
    random draws; they may be made at the first call only. Under a tape a call is one op. Where
    something cannot be recorded, such as an axis that depends on values, the Python runs at each
    call, and the logger `tape_compat` says why, once.

    Args:
      func: the Python function; without it this is a decorator.
      input_signature: a sequence of nests of TensorSpecs, for the first parameters. It is then
        recorded for these, once, and other arguments are refused. Sizes that are None may differ
        from call to call without a run of Python; XLA compiles for each set of sizes.
      autograph: whether `if`, `while`, `for`, `and`, ... of tensors become ops; without it they
        raise.
      jit_compile: XLA compiles every function that is called again with the same shapes and where
        that is likely to pay: by its second call if True, else by its fourth.
      reduce_retracing: record with None for sizes that differ between calls.
      experimental_autograph_options: a `tf.autograph.experimental.Feature`, or several.
      experimental_relax_shapes: the old name of `reduce_retracing`.
      experimental_compile: the old name of `jit_compile`.
      experimental_implements, experimental_attributes, experimental_follow_type_hints: without
        effect: names and hints for TensorFlow's own graph passes.
    Returns: a Function, or a decorator that makes one. It has `get_concrete_function`,
      `python_function`, `input_signature`, `function_spec`, `experimental_get_tracing_count`,
      `experimental_get_compiler_ir` and `pretty_printed_concrete_signatures`.
    Raises: TypeError if `func` cannot be called or `input_signature` does not fit it. A call raises
      TypeError for arguments that do not fit, and for results that are no tensors; ValueError where
      Variables are made at a later call; what the Python function raises; and what the program
      does, as an assertion that fails.

    >>> import tape_compat as tf
    >>> @tf.function
    ... def square_sum(x):
    ...     print("recording")
    ...     return tf.reduce_sum(x * x)
    >>> square_sum(tf.constant([1.0, 2.0])).numpy().item()
    recording
    5.0
    >>> square_sum(tf.constant([3.0, 4.0])).numpy().item()
    25.0

    With sizes that are not known beforehand, and a branch by value:

    >>> @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    ... def clipped_mean(x):
    ...     mean = tf.reduce_mean(x)
    ...     return tf.cond(mean > 1.0, lambda: tf.constant(1.0), lambda: mean)
    >>> clipped_mean([5.0]).numpy().item(), clipped_mean([0.0, 1.0, 0.5]).numpy().item()
    (1.0, 0.5)
    >>> clipped_mean.experimental_get_tracing_count()
    1
    """

    def decorated(inner: Callable[..., Any]) -> Function:
        if not callable(inner):
            raise TypeError(f"{inner!r} is not a callable object")
        name = getattr(inner, "__name__", type(inner).__name__)
        made = Function(
            inner,
            name,
            input_signature,
            autograph,
            jit_compile if experimental_compile is None else experimental_compile,
            bool(reduce_retracing or experimental_relax_shapes),
            experimental_autograph_options,
        )
        held = vars(made)
        held.update({k: v for k, v in getattr(inner, "__dict__", {}).items() if k not in held})
        return made

    return decorated if func is None else decorated(func)
