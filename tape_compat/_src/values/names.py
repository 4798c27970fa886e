"""Name scopes: the prefix that Variables created inside take. One stack a thread."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from ..core.forwards import forwards

__all__ = ["current_name_scope", "get_current_name_scope", "name_scope"]


class _Stack(threading.local):
    def __init__(self) -> None:
        self.scopes = [""]


_STACK = _Stack()


def current_name_scope() -> str:
    """The prefix in force: '' outside any scope, else ending in a slash.

    >>> from tape_compat._src.values.names import current_name_scope, name_scope
    >>> with name_scope("outer"), name_scope("inner"):
    ...     current_name_scope()
    'outer/inner/'
    """
    return _STACK.scopes[-1]


def get_current_name_scope() -> str:
    """The names of the scopes in force, joined by slashes: '' outside any.

    >>> import tape_compat as tf
    >>> with tf.name_scope("outer"), tf.name_scope("inner"):
    ...     tf.get_current_name_scope()
    'outer/inner'
    """
    return current_name_scope().rstrip("/")


@contextlib.contextmanager
def outside_scopes() -> Iterator[None]:
    """A context outside of all scopes, as that of a function which is recorded."""
    scopes = _STACK.scopes
    scopes.append("")
    try:
        yield
    finally:
        scopes.pop()


class name_scope:
    """Context manager: names of Variables created inside begin with `name/`.

    Scopes nest. A name that ends in a slash is absolute, and '' leaves all scopes; so the
    string that `with ... as` gives can be used to come back to the same scope.

    Args:
      name: str. Read it back as `.name`.
    Raises: ValueError if `name` is not a string.
    Source: TF ops.py, name_scope_v2.

    >>> import tape_compat as tf
    >>> with tf.name_scope("encoder") as scope:
    ...     print(scope, tf.Variable(1.0, name="w").name)
    encoder/ encoder/w:0
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError(f"name for name_scope must be a string. Got {type(name).__name__}.")
        self._name = name

    name: str = forwards("_name", "The name as it was given.")

    def __enter__(self) -> str:
        scopes = _STACK.scopes
        if not self._name or self._name.endswith("/"):
            scope = self._name
        else:
            scope = f"{scopes[-1]}{self._name}/"
        scopes.append(scope)
        return scope

    def __exit__(self, *exc_info: object) -> None:
        _STACK.scopes.pop()
