"""What `tf.function`s hold beside Variables: tables and the like."""

from __future__ import annotations

from typing import Any

from ...values.trackable import Trackable


class TrackableResource(Trackable):
    """The base of objects that hold something which is made when it is first asked for.

    Subclasses define `_create_resource`, which makes it, and may define `_initialize`.

    >>> import tape_compat as tf
    >>> class Table(tf.saved_model.experimental.TrackableResource):
    ...     def _create_resource(self):
    ...         return {"a": 1}
    >>> Table().resource_handle
    {'a': 1}
    """

    def __init__(self, device: str = ""):
        self._resource_device = device
        self._resource_handle: Any = None

    def _create_resource(self) -> Any:
        raise NotImplementedError("TrackableResource._create_resource not implemented.")

    def _initialize(self) -> None:
        """Nothing is to be done after it was made."""

    @property
    def resource_handle(self) -> Any:
        """What it holds."""
        if self._resource_handle is None:
            self._resource_handle = self._create_resource()
            self._initialize()
        return self._resource_handle
