"""Functions that ask for conversion. What converts, malt above all, is imported when one is called.

Source: TF autograph/impl/api.py.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable
from typing import Any

from ...core.state import LOCAL


@functools.cache
def _conversion() -> Any:
    """The module that converts: a tenth of what the package takes to import, and many programs
    trace nothing."""
    return importlib.import_module(f"{__package__}.convert")


def artifact(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function as one that is never converted, as malt does."""
    function.autograph_info__ = None  # type: ignore[attr-defined]
    return function


def is_artifact(function: Any) -> bool:
    """Whether a function has this mark."""
    return hasattr(function, "autograph_info__")


def converted(
    function: Callable[..., Any],
    recursive: bool = True,
    options: Any = None,
    user_requested: bool = True,
) -> Callable[..., Any]:
    """A function that runs the converted form of `function`.

    It is converted when it is first called. Errors in it are raised again with the lines of the
    user's code that led to them.

    Args:
      recursive: whether what it calls is converted too.
      options: `None`, a `tf.autograph.experimental.Feature` or several of them.
      user_requested: whether to convert what would be left as it is because of where it is from.
    """

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        run = _conversion().run_converted
        return run(function, args, kwargs, recursive, user_requested, options)

    return _in_place_of(function, wrapper)


def _in_place_of(function: Any, wrapper: Callable[..., Any]) -> Callable[..., Any]:
    """What is called in the place of a function, as one that is never converted itself."""
    if inspect.isfunction(function) or inspect.ismethod(function):
        functools.update_wrapper(wrapper, function)
    return artifact(wrapper)


def convert_in_context(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, converted while a function is being recorded and nothing forbids it: for
    functions of ours that call those they are given, such as `tf.map_fn`."""
    if LOCAL.state.capture is None or is_artifact(function) or _conversion().is_disabled():
        return function
    return converted(function, user_requested=False)


def do_not_convert(func: Any = None) -> Any:
    """Decorator: the function, and what it calls, is not converted by AutoGraph.

    >>> import tape_compat as tf
    >>> @tf.autograph.experimental.do_not_convert
    ... def twice(x):
    ...     return x + x
    >>> twice(2)
    4
    """
    if func is None:
        return do_not_convert

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with _conversion().disabled():
            return func(*args, **kwargs)

    return _in_place_of(func, wrapper)
