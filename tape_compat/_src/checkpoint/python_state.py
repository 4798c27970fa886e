"""`tf.train.experimental.PythonState`: what is no Variable, in a checkpoint."""

from __future__ import annotations

import abc
from typing import Any

from ..core import dtypes
from ..values.convert import convert
from ..values.trackable import Trackable

_NAME = "py_state"


class PythonState(Trackable, abc.ABC):
    """A base class for objects that a checkpoint keeps as bytes.

    >>> import tempfile
    >>> import tape_compat as tf
    >>> class Names(tf.train.experimental.PythonState):
    ...     names = "a"
    ...
    ...     def serialize(self):
    ...         return self.names
    ...
    ...     def deserialize(self, string_value):
    ...         self.names = string_value.decode()
    >>> state = Names()
    >>> checkpoint = tf.train.Checkpoint(state=state)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = checkpoint.save(folder + "/a")
    ...     state.names = "b"
    ...     _ = checkpoint.restore(path)
    >>> state.names
    'a'
    """

    @abc.abstractmethod
    def serialize(self) -> str | bytes:
        """The state, as a text or bytes."""

    @abc.abstractmethod
    def deserialize(self, string_value: bytes) -> None:
        """Take a state that was saved."""

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return {_NAME: convert(self.serialize(), dtypes.string)}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        self.deserialize(restored_tensors[_NAME].numpy())
