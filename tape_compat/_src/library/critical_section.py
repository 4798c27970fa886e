"""`tf.CriticalSection`: what one thread does at a time."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable
from typing import Any

from ..core.errors import user_location
from ..values import nest
from ..values.convert import convert

_NUMBERS = itertools.count(1)


class _Lock:
    """A lock, and the thread that holds it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.owner: int | None = None


#: Those of sections that share a name.
_SHARED: weakref.WeakValueDictionary[str, _Lock] = weakref.WeakValueDictionary()


class CriticalSection:
    """Runs functions of which one is done at a time, in whatever thread.

    In a `tf.function` what it runs is a part of the program, in its order; a call of a program sees
    variables as they are when it begins.

    Args:
      name: its name. shared_name: sections of one such name are one.
      critical_section_def, import_scope: refused.

    >>> import tape_compat as tf
    >>> section, count = tf.CriticalSection(), tf.Variable(0)
    >>> section.execute(lambda: count.assign_add(1)).numpy().item()
    1
    """

    def __init__(
        self,
        name: str | None = None,
        shared_name: str | None = None,
        critical_section_def: Any = None,
        import_scope: str | None = None,
    ):
        if critical_section_def is not None or import_scope is not None:
            raise NotImplementedError(
                "tf.CriticalSection: critical_section_def and import_scope are graph-mode."
            )
        self._name = shared_name or name or f"critical_section_{next(_NUMBERS)}"
        self._held = _Lock() if shared_name is None else _SHARED.setdefault(shared_name, _Lock())

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    def execute(
        self,
        fn: Callable[[], Any],
        exclusive_resource_access: bool = True,
        name: str | None = None,
    ) -> Any:
        """What `fn()` gives, as tensors, while no other thread runs something here.

        Args:
          exclusive_resource_access: whether no other section uses what `fn` does; that is not
            looked at.
        Raises: ValueError inside of itself, where it would wait for ever.
        """
        thread = threading.get_ident()
        if self._held.owner == thread:
            raise ValueError(
                f"Attempting to lock a CriticalSection ({self._name}) in which we are already "
                f"running. This is illegal and may cause deadlocks. At {user_location()}."
            )
        with self._held.lock:
            self._held.owner = thread
            try:
                return nest.map_structure(
                    lambda x: None if x is None else convert(x), fn(), expand_composites=True
                )
            finally:
                self._held.owner = None
