"""Functions of users that are called in an op's stead for arguments of their classes.

`tf.experimental.dispatch_for_api` and its kin, in `interop/dispatch.py`, fill the table. An op
looks here when an argument of it is a composite, before it looks up a form of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..core.op import Op

Checks = dict[str, Callable[[Any], bool]]


class Target(NamedTuple):
    """A function for calls whose arguments pass the checks of one of its signatures."""

    function: Callable[..., Any]
    signatures: tuple[Checks, ...]

    def matches(self, given: dict[str, Any]) -> bool:
        """Whether it is for arguments, by their names."""
        return any(
            all(name in given and check(given[name]) for name, check in checks.items())
            for checks in self.signatures
        )


#: By what `key_of` gives of an op.
TARGETS: dict[Any, list[Target]] = {}


def key_of(api: Callable[..., Any]) -> Any:
    """What an op is known by, however it is wrapped."""
    declared = getattr(api, "op", None)
    return declared if isinstance(declared, Op) else inspect.unwrap(api)


def called(api: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """What the target for these arguments gives. NotImplemented if there is none.

    Raises: ValueError if there are several.
    """
    known = TARGETS and TARGETS.get(key_of(api))
    if not known:
        return NotImplemented
    try:
        bound = inspect.signature(api).bind(*args, **kwargs)
    except TypeError:
        return NotImplemented
    bound.apply_defaults()
    found = [target for target in known if target.matches(bound.arguments)]
    if len(found) > 1:
        functions = " and ".join(str(target.function) for target in found)
        raise ValueError(
            f"Multiple dispatch targets that were registered with tf.dispatch_for ({functions}) "
            f"match the arguments to {api.__name__}"
        )
    return found[0].function(*args, **kwargs) if found else NotImplemented
