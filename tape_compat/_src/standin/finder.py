"""Imports of `tensorflow` and what is below it, which are given our modules."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ..interop import names
from .table import ADAPTED, GIT_VERSION, MODULES, NAMES, VERSION

_PACKAGE = __name__.partition(".")[0]
_ROOT = "tensorflow"
#: A module of JAX's that imports more of TensorFlow than stands in the table.
_JAX2TF = "jax.experimental.jax2tf"


def entry(place: str) -> Any:
    """'values.tensor:Tensor' is that class."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(f"{_PACKAGE}._src.{module}"), name)


class Private(ModuleType):
    """A module of the table: `tensorflow` itself, or one that is private in TensorFlow."""

    def __init__(self, name: str):
        super().__init__(name, f"Names of {name} that libraries use.")
        self.__path__ = []
        self._below = name.partition(".")[2]

    def __getattr__(self, name: str) -> Any:
        path = f"{self._below}.{name}".lstrip(".")
        place = NAMES.get(path)
        if place is not None:
            value = entry(place)
        elif is_private(path):
            value = importlib.import_module(f"{_ROOT}.{path}")
        elif self._below in MODULES:
            value = self._from(MODULES[self._below], name)
        else:
            value = self._public(name)
        setattr(self, name, value)
        return value

    def _from(self, modules: tuple[str, ...], name: str) -> Any:
        """A name of the modules that stand in the table for this one, by that or, without its
        ending, as it is called in public."""
        plain = name.removesuffix("_v2").removesuffix("V2")
        if name.endswith(("_v1", "V1")):
            modules, plain = (".compat.v1", *modules), name[:-2].removesuffix("_")
        for each in modules:
            module = importlib.import_module(
                each if each[:1] not in ("", ".") else f"{_PACKAGE}{each}"
            )
            for known in dict.fromkeys((name, plain)):
                if not known.startswith("__") and hasattr(module, known):
                    return getattr(module, known)
        raise self._missing(name)

    def _public(self, name: str) -> Any:
        """One of our public names, where the module is one of ours."""
        here = ".".join(filter(None, (_PACKAGE, self._below)))
        if not self._below and name == "optimizers":  # Keras' where it is installed
            return getattr(importlib.import_module(f"{_PACKAGE}.keras"), name)
        if not self._below and name == "__file__":
            return sys.modules[_PACKAGE].__file__
        if not name.startswith("__") and _exists(here):
            return getattr(importlib.import_module(here), name)
        raise self._missing(name)

    def _missing(self, name: str) -> AttributeError:
        return AttributeError(
            f"module {self.__name__!r} has no attribute {name!r}: {_PACKAGE} stands in for "
            "TensorFlow, and of its private names has only those that libraries are known to use",
            name=name,
        )

    def __dir__(self) -> list[str]:
        start = f"{self._below}." if self._below else ""
        below = {path[len(start) :].partition(".")[0] for path in NAMES if path.startswith(start)}
        ours = dir(sys.modules[_PACKAGE]) if not self._below else ()
        return sorted({*super().__dir__(), *below, *ours})


def is_private(path: str) -> bool:
    """Whether a module stands in the table: 'python.eager' does with 'python.eager.context'."""
    below = f"{path}."
    return (
        not path
        or path in MODULES
        or any(name.startswith(below) for table in (NAMES, MODULES) for name in table)
    )


class _Known:
    """Gives a module that is there already, and leaves what it says of itself as it is."""

    def __init__(self, module: ModuleType):
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        if self._spec is not None:
            module.__spec__ = self._spec


def _spec(name: str, module: ModuleType, is_package: bool) -> ModuleSpec:
    loader: Any = _Known(module)  # of no base class: importing those would take longer than this
    return ModuleSpec(name, loader, is_package=is_package)


class _Adapting:
    """The loader of a module of a library, which then calls what the table has for it."""

    def __init__(self, loader: Any):
        self._loader = loader

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        entry(ADAPTED[module.__name__])(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


def _adapting_spec(fullname: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """Where a module is found, with a loader that adapts it; None if it is not there."""
    spec = importlib.machinery.PathFinder.find_spec(fullname, path)
    if spec is not None and spec.loader is not None:
        loader: Any = _Adapting(spec.loader)
        spec.loader = loader
    return spec


class Finder:
    """Finds `tensorflow.nn` in our module of that name, `tensorflow.keras.layers` in Keras.

    installed: whether `tensorflow` is ours; if not, it finds `tape_compat.keras.layers` only.
    """

    installed = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        root, _, below = fullname.partition(".")
        if self.installed and fullname in ADAPTED:
            return _adapting_spec(fullname, path)
        below_keras = fullname.startswith(f"{_PACKAGE}.keras.")
        if not below_keras and not (self.installed and (root == _ROOT or fullname == _JAX2TF)):
            return None
        if fullname == _JAX2TF:
            found = importlib.import_module(f"{_PACKAGE}._src.standin.jax2tf")
            return _spec(fullname, found, False)
        if root == _ROOT and is_private(below):
            module: ModuleType = Private(fullname)
            if not below:
                versions = {"__version__": VERSION, "__git_version__": GIT_VERSION}
                vars(module).update(versions, __doc__=_doc())
            return _spec(fullname, module, True)
        second = below.removeprefix("compat.v2.")
        if second != below and is_private(second):
            found = importlib.import_module(f"{_ROOT}.{second}")
        else:
            found = _ours(below)
        if found is None:
            if root == _ROOT and below:
                why = names.reason(f"tf.{below}")
                because = f": tf.{below} {why}" if why else f": {_PACKAGE} stands in for TensorFlow"
                raise ModuleNotFoundError(
                    f"No module named {fullname!r}{because}", name=fullname, path=None
                )
            return None
        return _spec(fullname, found, hasattr(found, "__path__"))


def _doc() -> str | None:
    return sys.modules[_PACKAGE].__doc__


def _ours(below: str) -> ModuleType | None:
    """Our module of this name, or a part of Keras: 'keras.layers'."""
    below = below.removeprefix("compat.v2.")
    above, _, name = below.rpartition(".")
    if above == "keras" or above.startswith("keras."):
        importlib.import_module(f"{_PACKAGE}._src.standin.keras").keras()  # or the reason
        parent = importlib.import_module(f"{_PACKAGE}.{above}")
        found = getattr(parent, name, None)
        return found if isinstance(found, ModuleType) else _unlisted(below)
    if not _exists(f"{_PACKAGE}.{below}"):
        return None
    return importlib.import_module(f"{_PACKAGE}.{below}")


def _unlisted(below: str) -> ModuleType | None:
    """A module that Keras has for `tf.keras`, but not among its names: 'keras.saving'."""
    keras = importlib.import_module(f"{_PACKAGE}._src.standin.keras")
    name = keras.whole(below)
    return importlib.import_module(name) if _exists(name) else None


def _exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # what it would be in does not
        return False
