"""Functions as methods of instances that may go."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable
from typing import Any


def as_method(function: Callable[..., Any], instance: Any) -> Callable[..., Any]:
    """A function as the method of an instance, which it holds weakly where that is possible."""
    try:
        held = weakref.ref(instance)
    except TypeError:
        held = lambda: instance  # noqa: E731

    def method(*args: Any, **kwargs: Any) -> Any:
        owner = held()
        if owner is not None:
            return function.__get__(owner)(*args, **kwargs)
        try:
            return function(None, *args, **kwargs)
        except AttributeError as error:
            error.add_note(
                f"{function.__qualname__} was called when the object that it is a method of was "
                "gone, as in `M().f(x)`: keep the object in a variable."
            )
            raise

    bound = function.__get__(instance)
    functools.update_wrapper(method, function, updated=())
    method.__signature__ = inspect.signature(bound)  # type: ignore[attr-defined]
    del method.__wrapped__  # type: ignore[attr-defined]
    return method
