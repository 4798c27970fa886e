"""`tensorflow.python.util.function_utils`: what is known of a function of the user's."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from .utilities import getfullargspec, unwrap


def fn_args(fn: Any) -> tuple[str, ...]:
    """The names of the arguments that a caller gives, of partial functions those that are left."""
    if isinstance(fn, functools.partial):
        left = fn_args(fn.func)[len(fn.args) :]
        return tuple([name for name in left if name not in (fn.keywords or ())])
    fn = _called(fn)
    names = getfullargspec(fn).args
    bound = inspect.ismethod(unwrap(fn)[1])
    return tuple(names[1:] if bound else names)


def has_kwargs(fn: Any) -> bool:
    """Whether a function takes any keyword. Raises TypeError for what cannot be called."""
    if not callable(fn):
        raise TypeError(
            f"Argument `fn` should be a callable. Received: fn={fn} (of type {type(fn)})"
        )
    fn = fn.func if isinstance(fn, functools.partial) else _called(fn)
    return getfullargspec(fn).varkw is not None


def get_func_name(func: Any) -> str:
    """The name of a function, `Class.name` of a method, the class of another callable."""
    func = _callable(unwrap(func)[1])
    if inspect.isfunction(func):
        return func.__name__
    if inspect.ismethod(func):
        return f"{type(func.__self__).__name__}.{func.__func__.__name__}"
    return str(type(func))


def get_func_code(func: Any) -> Any:
    """The code object of a function or of a callable's `__call__`, None if there is none."""
    func = _callable(unwrap(func)[1])
    if inspect.isfunction(func) or inspect.ismethod(func):
        return func.__code__
    return getattr(func.__call__, "__code__", None)


def _called(fn: Any) -> Any:
    """The method that a call of an object calls; a function itself."""
    return fn.__call__ if callable(fn) and inspect.ismethod(fn.__call__) else fn


def _callable(func: Any) -> Any:
    if not callable(func):
        raise ValueError(
            f"Argument `func` must be a callable. Received func={func} (of type {type(func)})"
        )
    return func
