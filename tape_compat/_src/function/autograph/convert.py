"""Calls in converted code.

Source: TF autograph/impl/api.py.
"""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable
from typing import Any

from malt.core import ag_ctx
from malt.core.converter import ConversionOptions
from malt.operators import py_builtins
from malt.pyct import inspect_utils
from malt.pyct.errors import InaccessibleSourceCodeError, UnsupportedLanguageElementError

from ...core.errors import is_users
from ...ops import creation
from . import failures, rules
from .builtins import overload_of
from .entry import is_artifact
from .ranges import tensor_range
from .staging import tracing
from .transpile import OPERATORS, Transpiler

LOGGER = logging.getLogger("tape_compat")

_TRANSPILER = Transpiler()
_Options = ConversionOptions


def run_converted(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    recursive: bool,
    user_requested: bool,
    features: Any,
) -> Any:
    """Call the converted form of a function: what `converted` gives does that. What is around the
    call forbids nothing: a `tf.function` is converted wherever it is called first."""
    asked = _Options(recursive, user_requested, optional_features=features)
    try:
        with ag_ctx.ControlStatusCtx(status=ag_ctx.Status.UNSPECIFIED):
            return converted_call(function, args, kwargs, options=asked)
    except Exception as error:
        made = failures.reraised(error)
        if made is None:
            raise
        try:
            raise made from error.__cause__
        finally:
            del made  # or this frame and the error would hold each other


def is_disabled() -> bool:
    """Whether something around forbids conversion."""
    return ag_ctx.control_status_ctx().status == ag_ctx.Status.DISABLED


def disabled() -> Any:
    """A context in which nothing is converted."""
    return ag_ctx.ControlStatusCtx(status=ag_ctx.Status.DISABLED)


def convert_function(function: Any, options: _Options) -> Any:
    """The converted form of a Python function, from the cache if its code was met before."""
    if not hasattr(function, "__code__"):
        raise ValueError(
            "Cannot apply autograph to a function that doesn't expose a __code__ object. If this "
            "is a @tf.function, try passing f.python_function instead."
        )
    return _TRANSPILER.converted(function, options)


# ---------------------------------------------------------------------------------------------
# Calls.


def converted_call(
    f: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None,
    caller_fn_scope: Any = None,
    options: Any = None,
) -> Any:
    """Call a function from converted code: its converted form, or itself if it has none.

    Args:
      caller_fn_scope: the scope of the caller; it gives the options if there are none.
    """
    options = options or caller_fn_scope.callopts
    kwargs = kwargs or {}
    if f is creation.range and tracing():
        return tensor_range(*args, **kwargs)
    if rules.is_cached(f, options):
        return f(*args, **kwargs)
    if is_disabled():
        return f(*args, **kwargs)
    if is_artifact(f):
        return _as_it_is(f, args, kwargs, options)
    if isinstance(f, functools.partial):
        given = {**f.keywords, **kwargs}
        return converted_call(f.func, f.args + args, given, caller_fn_scope, options)
    if inspect_utils.isbuiltin(f):
        return _call_builtin(f, args, kwargs, caller_fn_scope)
    if rules.is_unsupported(f):
        return _as_it_is(f, args, kwargs, options)
    if not options.user_requested and rules.runs_as_it_is(f):
        return _as_it_is(f, args, kwargs, options)
    if not options.internal_convert_user_code:
        return _as_it_is(f, args, kwargs, options)
    return _call_converted(f, args, kwargs, options)


def _as_it_is(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], options: _Options) -> Any:
    rules.remember(f, options)
    return f(*args, **kwargs)


#: Builtin functions that look at the frame they are called from.
_IN_CONTEXT: dict[Any, Callable[..., Any]] = {
    eval: lambda args, scope: py_builtins.eval_in_original_context(eval, args, scope),
    globals: lambda args, scope: py_builtins.globals_in_original_context(scope),
    locals: lambda args, scope: py_builtins.locals_in_original_context(scope),
    super: lambda args, scope: py_builtins.super_in_original_context(super, args, scope),
}


def _call_builtin(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], scope: Any) -> Any:
    for known, call in _IN_CONTEXT.items():
        if f is known:
            return call(args, scope)
    return overload_of(f)(*args, **kwargs)


def _call_converted(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], options: _Options
) -> Any:
    function, given = _target(f, args)
    code = getattr(function, "__code__", None)
    if code is None or code.co_filename == "<string>" or not _may_convert(function, code):
        return _as_it_is(f, args, kwargs, options)
    try:
        made = convert_function(function, options)
    except Exception as error:
        _warn(f, options, error)
        return _as_it_is(f, args, kwargs, options)
    try:
        return made(*given, **kwargs)
    except Exception as error:
        failures.attach(error, made, __file__)
        raise


def _may_convert(function: Any, code: Any) -> bool:
    """Whether a function is the user's, or calls one that is to be converted."""
    return is_users(code.co_filename) or getattr(function, "_calls_users_function", False)


def _target(f: Any, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """The function behind a callable, and its arguments."""
    if inspect.ismethod(f):
        return f, (f.__self__, *args)
    if inspect.isfunction(f):
        return f, args
    return type(f).__call__, (f, *args)


def _warn(f: Any, options: _Options, error: Exception) -> None:
    if isinstance(error, InaccessibleSourceCodeError) and not ag_ctx.INSPECT_SOURCE_SUPPORTED:
        return
    if isinstance(error, UnsupportedLanguageElementError) and rules.is_cached(f, options):
        return
    LOGGER.warning(
        "AutoGraph could not transform %s and will run it as-is.\nCause: %s\nTo silence this "
        "warning, decorate the function with @tf.autograph.experimental.do_not_convert",
        f,
        error,
    )


OPERATORS.converted_call = converted_call
