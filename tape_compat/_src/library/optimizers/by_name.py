"""Optimizers by their names, and as dicts in Keras' format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import methods, more_methods
from .base import Optimizer

#: Classes by their names in small letters.
_KNOWN: dict[str, Any] = {
    found.__name__.lower(): found
    for table in (methods, more_methods)
    for name, found in vars(table).items()
    if isinstance(found, type) and issubclass(found, Optimizer) and hasattr(found, "_updates")
}


def serialize(optimizer: Optimizer) -> dict[str, Any]:
    """An optimizer as a dict that `deserialize` reads, without its state.

    >>> import tape_compat as tf
    >>> saved = tf.optimizers.serialize(tf.optimizers.SGD(0.5))
    >>> saved["class_name"], tf.optimizers.deserialize(saved).learning_rate.numpy().item()
    ('SGD', 0.5)
    """
    return {
        "module": "keras.optimizers",
        "class_name": type(optimizer).__name__,
        "config": optimizer.get_config(),
        "registered_name": None,
    }


def deserialize(
    config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None
) -> Optimizer:
    """The optimizer that `serialize` wrote; `custom_objects` has classes of your own by name.

    Raises: ValueError if the class is not known.
    """
    name = config["class_name"]
    found = (custom_objects or {}).get(name) or _KNOWN.get(name.lower())
    if found is None:
        known = ", ".join(sorted(each.__name__ for each in _KNOWN.values()))
        raise ValueError(
            f"Unknown optimizer: {name!r}. Known: {known}; give classes of your own as "
            "`custom_objects={name: class}`."
        )
    made: Optimizer = found.from_config(config.get("config") or {}, custom_objects)
    return made


def get(identifier: Any) -> Optimizer | None:
    """An optimizer by its name ("adam"), or by the dict of `serialize`; one is given as it is, and
    so is None.

    Raises: ValueError for anything else.

    >>> import tape_compat as tf
    >>> tf.optimizers.get("rmsprop").name
    'rm_sprop'
    """
    if identifier is None or isinstance(identifier, Optimizer):
        return identifier
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str) and identifier.lower() in _KNOWN:
        made: Optimizer = _KNOWN[identifier.lower()]()
        return made
    raise ValueError(f"Could not interpret optimizer identifier: {identifier}")
