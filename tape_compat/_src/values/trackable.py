"""The base classes of what has Variables in its attributes, as libraries derive theirs from them.

Nothing is kept here about attributes: whoever saves an object looks at them then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_Method = TypeVar("_Method", bound=Callable[..., Any])


class Trackable:
    """What a checkpoint can hold."""

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Nothing needs to be noted: attributes are found when they are looked for."""
        return trackable

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The attributes that are Trackable themselves, by their names."""
        return {name: value for name, value in vars(self).items() if isinstance(value, Trackable)}


class AutoTrackable(Trackable):
    """A Trackable whose attributes belong to it."""


class ListWrapper(list):
    """The class of lists in attributes of TensorFlow's Modules. Here they stay lists."""


class _DictWrapper(dict):
    """The class of dicts in attributes of TensorFlow's Modules. Here they stay dicts."""


def untracked(method: _Method) -> _Method:
    """A decorator of methods whose assignments to attributes are not to be tracked: none are."""
    return method
