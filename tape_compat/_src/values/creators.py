"""`tf.variable_creator_scope`: functions that have a say in how variables are made."""

from __future__ import annotations

import abc
import contextlib
import functools
import inspect
import threading
from collections.abc import Callable, Iterator
from typing import Any

from ..core.state import changed


class _Creators(threading.local):
    """Those of this thread, the innermost last."""

    stack: tuple[Callable[..., Any], ...] = ()


_CREATORS = _Creators()


def creators() -> tuple[Callable[..., Any], ...]:
    """The functions that have a say here, the innermost last."""
    return _CREATORS.stack


@contextlib.contextmanager
def variable_creator_scope(variable_creator: Callable[..., Any]) -> Iterator[None]:
    """Let a function make the variables that are made inside.

    Args:
      variable_creator: is called as `variable_creator(next_creator, **kwargs)`, with what
        `tf.Variable` takes by name; what it gives is the variable. `next_creator(**kwargs)` makes
        one, by the scope around or as usual. The innermost scope is asked first.

    >>> import tape_compat as tf
    >>> def frozen(next_creator, **kwargs):
    ...     return next_creator(**{**kwargs, "trainable": False})
    >>> with tf.variable_creator_scope(frozen):
    ...     v = tf.Variable(1.0)
    >>> v.trainable
    False
    """
    with changed(_CREATORS, stack=(*_CREATORS.stack, variable_creator)):
        yield


class Created(abc.ABCMeta):
    """The class of a class whose instances creators may make. Those of its subclasses are made as
    usual.

    It is one of abstract classes, as TensorFlow's: libraries derive from both. No class is
    registered, so that asking for an instance costs what it does for others.
    """

    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        make = super().__call__
        if not _CREATORS.stack or not cls.__dict__.get("_by_creators"):
            return make(*args, **kwargs)
        names = list(inspect.signature(cls.__init__).parameters)[1:]
        defaults = {
            name: parameter.default
            for name, parameter in inspect.signature(cls.__init__).parameters.items()
            if parameter.default is not parameter.empty
        }
        if len(args) > len(names):
            return make(*args, **kwargs)  # which is refused
        creator: Callable[..., Any] = make
        for outer in _CREATORS.stack:
            creator = functools.partial(outer, creator)
        return creator(**{**defaults, **dict(zip(names, args)), **kwargs})
