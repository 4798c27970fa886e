"""Which functions are converted.

Source: TF autograph/impl/conversion.py and core/config.py.
"""

from __future__ import annotations

import functools
import inspect
import sys
import unittest
from typing import Any

from malt.impl import conversion
from malt.pyct import cache, inspect_utils

#: Packages whose functions run as they are; the standard library too.
_AS_THEY_ARE = frozenset(
    [
        *sys.stdlib_module_names,
        *("PIL", "ipdb", "jax", "jaxlib", "keras", "malt", "matplotlib", "mock", "numpy", "pandas"),
        *("scipy", "tape_compat", "tensorflow", "tensorflow_probability", "tf_keras"),
    ]
)
_MODULES = ("absl.logging", "tensorflow_datasets.core")

_CACHE = cache.UnboundInstanceCache()


def is_cached(function: Any, options: Any) -> bool:
    """Whether a function is known to run as it is."""
    try:
        return _CACHE.has(function, options)
    except TypeError:  # it has no hash, or takes no weak reference
        return False


def remember(function: Any, options: Any) -> None:
    """Note that a function runs as it is."""
    try:
        _CACHE[function][options] = True
    except TypeError:
        pass


#: Whether a callable is never converted: constructors, what `wrapt` and `lru_cache` made.
is_unsupported = conversion.is_unsupported


def runs_as_it_is(
    function: Any, check_call_override: bool = True, allow_namedtuple_subclass: bool = False
) -> bool:
    """Whether a callable is left as it is because of where it is from or of what it is."""
    is_partial = isinstance(function, functools.partial)
    module = functools if is_partial else inspect.getmodule(function)
    if _is_module_left(getattr(module, "__name__", "")):
        return True
    if hasattr(function, "__code__") and inspect.isgeneratorfunction(function):
        return True
    if check_call_override and not inspect.isclass(function) and callable(function):
        call = function.__call__
        if type(function) is not type(call) and runs_as_it_is(call):
            return True
    if inspect.ismethod(function) and _is_of_class_left(function):
        return True
    if inspect.isclass(function) and inspect_utils.isnamedtuple(function):
        bases = function.__bases__
        return not allow_namedtuple_subclass or not any(map(inspect_utils.isnamedtuple, bases))
    return False


def _is_module_left(name: str) -> bool:
    if name == "__main__":
        return False
    package = name.partition(".")[0]
    return package in _AS_THEY_ARE or any(f"{name}.".startswith(f"{m}.") for m in _MODULES)


def _is_of_class_left(method: Any) -> bool:
    """Whether a method is of a class that is left as it is, be it called on a subclass."""
    owner = inspect_utils.getmethodclass(method)
    if owner is None:
        return False
    if issubclass(owner, unittest.TestCase):
        return True
    owner = inspect_utils.getdefiningclass(method, owner)
    return runs_as_it_is(owner, check_call_override=False, allow_namedtuple_subclass=True)
