"""Python functions called in the middle of a program: `tf.py_function`, `tf.numpy_function`."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import errors
from ..core.dtypes import DType, as_dtype
from ..core.state import LOCAL
from ..ops.random_keys import outside_of_functions
from ..values import nest
from ..values.composite import CompositeTensor, Opaque, TypeSpec
from ..values.convert import convert
from ..values.effects import record_effect
from ..values.operation import done
from ..values.spec import TensorSpec
from ..values.tensor import Tensor, concrete
from .autograph.entry import do_not_convert
from .elements import runs_as_python
from .python_steps import call_now, learn, record_call


def py_function(
    func: Callable[..., Any] | None = None,
    inp: Sequence[Any] | None = None,
    Tout: Any = None,
    name: str | None = None,
) -> Any:
    """Call a Python function of tensors with values, in a `tf.function` too.

    Args:
      func: gets a Tensor for each input, and gives what becomes tensors of `Tout`. Tapes follow the
        ops it calls. Without it this is a decorator, to which `Tout` is given by name.
      inp: tensors, composites, and what becomes tensors.
      Tout: a dtype or the spec of a tensor or composite, or a list of them, one for each result; an
        empty list for none.
    Returns: a Tensor, or a list of them if `Tout` is one.
    Raises: what TensorFlow makes of an error of `func`: InvalidArgumentError of a TypeError or a
      ValueError, UnknownError of most others.

    In a `tf.function` a call is recorded, and done in the order of the program. One with results is
    so once the function has run as Python, which shows their shapes. `tape_compat.as_op` records a
    JAX function.

    >>> import tape_compat as tf
    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = tf.py_function(lambda x: x * x if float(x) > 0 else x, [x], tf.float32)
    >>> y.numpy().item(), tape.gradient(y, x).numpy().item()
    (9.0, 6.0)
    """
    _check_tout(Tout, "py_function")
    if func is None:
        return lambda func: functools.wraps(func)(
            lambda *args: py_function(func, args, Tout, name=name)
        )
    _check_callable(func)
    single = not isinstance(Tout, (list, tuple))
    specs = [Tout] if single else list(Tout)
    given = [] if inp is None else list(inp)
    title = getattr(func, "__name__", "py_function")
    if any(isinstance(x, Opaque) for x in given):
        return _beside_opaque(func, given, Tout)
    if any(isinstance(x, CompositeTensor) for x in given) or any(map(_is_composite, specs)):
        parts = nest.flatten(given, expand_composites=True)
        kinds = nest.flatten(specs, expand_composites=True)
        of_parts = functools.wraps(func)(functools.partial(_of_parts, func, given, specs))
        found = py_function(of_parts, parts, kinds)
        values = nest.pack_sequence_as(specs, found, expand_composites=True)
        return values[0] if single else values
    dtypes = [x.dtype if isinstance(x, TensorSpec) else as_dtype(x) for x in specs]
    tensors = list(map(convert, given))
    if LOCAL.state.capture is not None:
        if dtypes:

            def again(*values: Any) -> list[Tensor]:
                return _call(func, dtypes, title, *values)

            results, _ = record_call("py_function", "EagerPyFunc", title, again, tensors)
            return results[0] if single else results
        _record(lambda *arrays: func(*map(concrete, arrays)), tensors, title, "EagerPyFunc")
        return done("EagerPyFunc")
    results = call_now(lambda *values: _call(func, dtypes, title, *values), tensors)
    if runs_as_python():
        learn("py_function", title, tensors, results, single)
    return results[0] if single else results


def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Sequence[Any] | None = None,
    Tout: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Call a Python function of NumPy arrays, in a `tf.function` too; tapes do not follow.

    Args:
      func: gets an array for each input, in functions and maps of datasets a scalar of NumPy or
        bytes for one without axes, and gives what becomes tensors. Without it this is a decorator,
        to which `Tout` is given by name.
      inp: tensors, and what becomes them.
      Tout: a dtype, or a list of them, one for each result; an empty list for none.
    Returns: Tensors in the structure that `func` gives, None if it gives None; in a `tf.function`
      and in maps of datasets a Tensor, or a list of them if `Tout` is one.

    In a `tf.function` it is as `py_function`.

    >>> import numpy as np
    >>> import tape_compat as tf
    >>> tf.numpy_function(np.cumsum, [[1.0, 2.0]], tf.float32).numpy().tolist()
    [1.0, 3.0]
    """
    _check_tout(Tout, "numpy_function")
    if func is None:
        return lambda func: functools.wraps(func)(
            lambda *args: numpy_function(func, args, Tout, stateful, name)
        )
    given = [] if inp is None else list(inp)
    title = getattr(func, "__name__", "numpy_function")
    if LOCAL.state.capture is None and not runs_as_python():
        results = _tensors(do_not_convert(func)(*map(np.asarray, given)))
        return results[0] if len(results) == 1 else results or None
    _check_callable(func)
    single = not isinstance(Tout, (list, tuple))
    count = 1 if single else len(Tout)
    inputs = list(map(convert, given))
    call = functools.partial(_of_arrays, func, count)
    if LOCAL.state.capture is None:  # inputs are tensors, and a scalar is none of NumPy's arrays
        results = call_now(call, inputs)
        learn("numpy_function", title, inputs, results, single)
    elif count:
        results, _ = record_call("numpy_function", "PyFunc", title, call, inputs)
    else:
        _record(func, inputs, title, "PyFunc")
        return done("PyFunc")
    return results[0] if single else results or None


def _of_arrays(func: Callable[..., Any], count: int, *values: Any) -> list[Tensor]:
    """What a function of arrays gives in a function: so many tensors."""
    try:
        results = _tensors(do_not_convert(func)(*[np.asarray(value)[()] for value in values]))
    except errors.OpError:
        raise
    except Exception as error:
        raise _as_tensorflow(error, "PyFunc") from error
    if len(results) != count:
        title = getattr(func, "__name__", "numpy_function")
        raise _wrong_number(title, len(results), count, "PyFunc")
    return results


def _tensors(found: Any) -> list[Tensor]:
    """What a function of arrays gave."""
    if found is None:
        return []
    return list(map(convert, found)) if isinstance(found, (list, tuple)) else [convert(found)]


def _is_composite(spec: Any) -> bool:
    if not isinstance(spec, TypeSpec) or isinstance(spec, TensorSpec):
        return False
    if issubclass(spec.value_type, Opaque):
        raise NotImplementedError(
            f"tf.py_function gives tensors and composites of them, not values of {spec!r} (at "
            f"{errors.user_location()})"
        )
    return True


def _beside_opaque(func: Callable[..., Any], given: Sequence[Any], tout: Any) -> Any:
    """A call with values that are handed on as they are, such as Optionals, beside tensors."""
    if LOCAL.state.capture is not None:
        raise errors.NeedsPython("py_function of a value that is known when Python runs")

    def merged(*tensors: Any) -> Any:
        left = iter(tensors)
        return func(*(x if isinstance(x, Opaque) else next(left) for x in given))

    tensors = [x for x in given if not isinstance(x, Opaque)]
    return py_function(functools.wraps(func)(merged), tensors, tout)


def _of_parts(func: Callable[..., Any], given: Any, specs: Sequence[Any], *parts: Any) -> Any:
    """The parts of what a function of composites gives. given: what its arguments are like."""
    found = func(*nest.pack_sequence_as(given, parts, expand_composites=True))
    values = list(found) if len(specs) > 1 or isinstance(found, (list, tuple)) else [found]
    return nest.flatten(values, expand_composites=True)


def _check_callable(func: Any) -> None:
    if not callable(func):
        raise ValueError(
            f"Expected func to be callable. Received func={func} of type {type(func)}."
        )


def _check_tout(tout: Any, name: str) -> None:
    if tout is None:
        raise TypeError(
            "Missing required argument: 'Tout'\n"
            f"  If using tf.{name} as a decorator, set `Tout`\n"
            "  **by name** above the function:\n"
            f"  `@tf.{name}(Tout=tout)`"
        )


def _record(func: Callable[..., Any], tensors: list[Tensor], title: str, name: str) -> None:
    """Record a call without results."""

    def call(*arrays: Any) -> None:
        _call(func, [], title, *arrays)

    record_effect(call, tensors, name)


def _call(func: Callable[..., Any], dtypes: list[DType], title: str, *values: Any) -> list[Tensor]:
    """The results of a function, as tensors of these dtypes."""
    try:
        with outside_of_functions():
            found = do_not_convert(func)(*values)
        if found is None or not dtypes:
            given: list[Any] = []
        else:
            given = list(found) if isinstance(found, (list, tuple)) else [found]
        results = [convert(value, dtype) for value, dtype in zip(given, dtypes)]
    except errors.OpError:
        raise
    except Exception as error:
        raise _as_tensorflow(error, "EagerPyFunc") from error
    if len(given) != len(dtypes):
        raise _wrong_number(title, len(given), len(dtypes), "EagerPyFunc")
    return results


def _wrong_number(title: str, count: int, wanted: int, name: str) -> errors.InvalidArgumentError:
    what = f"{title} returns {count} values, but expects to see {wanted} values."
    return errors.refusal(f"{what} [Op:{name}] (at {errors.user_location()})")


_CLASSES: tuple[tuple[tuple[type[Exception], ...], Any], ...] = (
    ((ValueError, TypeError), errors.InvalidArgumentError),
    ((StopIteration,), errors.OutOfRangeError),
    ((MemoryError,), errors.ResourceExhaustedError),
    ((NotImplementedError,), errors.UnimplementedError),
)


def _as_tensorflow(error: Exception, name: str) -> Exception:
    """TensorFlow's error for one of Python's."""
    found = (made for classes, made in _CLASSES if isinstance(error, classes))
    text = "".join(traceback.format_exception(error))
    message = f"{type(error).__name__}: {error}\n{text}\n [Op:{name}]"
    return next(found, errors.UnknownError)(None, None, message)
