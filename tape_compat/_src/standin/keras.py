"""`tf.keras`: Keras 3 on its TensorFlow backend on top of us, loaded when it is first used.

With the environment variable TF_USE_LEGACY_KERAS, as TensorFlow has it, it is Keras 2: `tf_keras`.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from .install import find_below_keras, install_as_tensorflow, real_tensorflow

#: The modules of Keras 3 and of Keras 2 that have all names of `tf.keras`; for TensorFlow 1.
_KERAS = "keras._tf_keras.keras"
_KERAS2 = "tf_keras.api._v2.keras"
_KERAS1 = "tf_keras.api._v1.keras"
_LAYERS1 = "tf_keras.api._v1.keras.__internal__.legacy.layers"
_PACKAGE = __name__.partition(".")[0]
_OLDEST = (3, 10)

#: `tf.losses` is `tf.keras.losses` from when Keras is loaded, and so on.
FOLLOWERS = ("initializers", "losses", "metrics", "optimizers")
_INSTALL = "pip install 'tape_compat[keras]'"


def available() -> bool:
    """Whether Keras can be loaded: it is installed, and the real TensorFlow has not come first."""
    package = "tf_keras" if legacy() else "keras"
    return not real_tensorflow() and importlib.util.find_spec(package) is not None


def legacy() -> bool:
    """Whether `tf.keras` is to be Keras 2."""
    return os.environ.get("TF_USE_LEGACY_KERAS") in ("true", "True", "1")


def whole(below: str) -> str:
    """The module of Keras for `tf.BELOW`: 'keras.saving'."""
    return (_KERAS2 if legacy() else _KERAS) + below.removeprefix("keras")


def keras() -> ModuleType:
    """Keras, imported when it was not.

    Raises: ImportError if it is not installed, too old or on another backend; RuntimeError if the
      real TensorFlow has been imported.
    """
    install_as_tensorflow()
    if legacy():
        if importlib.util.find_spec("tf_keras") is None:
            raise ImportError(
                "tf.keras is Keras 2 where the environment variable TF_USE_LEGACY_KERAS says so, "
                "and it is not installed: pip install --no-deps tf_keras"
            )
        return _followed(importlib.import_module(_KERAS2))
    already = sys.modules.get("keras")
    if already is None:
        if importlib.util.find_spec("keras") is None:
            raise ImportError(f"tf.keras is Keras 3, which is not installed: {_INSTALL}")
        backend = os.environ.setdefault("KERAS_BACKEND", "tensorflow")
        if backend != "tensorflow":
            raise ImportError(
                f"tf.keras is Keras on its backend 'tensorflow', but the environment variable "
                f"KERAS_BACKEND is {backend!r}: unset it, or set it to 'tensorflow'"
            )
        with _seeds_kept():
            already = importlib.import_module("keras")
    version = tuple(int(part) for part in already.__version__.split(".")[:2])
    if version < _OLDEST:
        raise ImportError(
            f"tf.keras needs Keras {'.'.join(map(str, _OLDEST))} or newer, and Keras "
            f"{already.__version__} is installed: {_INSTALL}"
        )
    backend = already.config.backend()
    if backend != "tensorflow":
        raise ImportError(
            f"Keras was imported before with the backend {backend!r}; tf.keras needs 'tensorflow': "
            "set the environment variable KERAS_BACKEND to 'tensorflow', or import tape_compat and "
            "use tf.keras first"
        )
    return _followed(importlib.import_module(_KERAS))


def _followed(found: ModuleType) -> ModuleType:
    """Keras, and the namespaces that follow it."""
    for name in FOLLOWERS:
        setattr(sys.modules[_PACKAGE], name, getattr(found, name))
    return found


@contextmanager
def _seeds_kept() -> Iterator[None]:
    """Within it, Python's random numbers that are drawn do not count: Keras draws one when it is
    loaded, which on TensorFlow is before a program can set a seed."""
    before = random.getstate()
    try:
        yield
    finally:
        random.setstate(before)


def attribute(name: str) -> Any:
    """`tf.keras.NAME`. Where Keras cannot be loaded, the optimizers are our own.

    Raises: AttributeError for a name that Keras has not, or with the reason why there is no Keras.
    """
    if name.startswith("__") and name not in ("__version__", "__internal__"):
        raise AttributeError(f"module '{_PACKAGE}.keras' has no attribute {name!r}")
    if not available():
        own = importlib.import_module(f"{_PACKAGE}.optimizers")
        if name == "optimizers":
            return own
        if name == "Optimizer":
            return own.Optimizer
    try:
        module = keras()
    except (ImportError, RuntimeError) as error:
        raise AttributeError(
            f"module '{_PACKAGE}.keras' has no attribute {name!r}: {error}"
        ) from error
    return getattr(module, name)


def version1_attribute(name: str) -> Any:
    """`tf.compat.v1.keras.NAME`, of Keras 2 for TensorFlow 1; with Keras 3 that of `tf.keras`.

    Raises: as `attribute`.
    """
    plain = name.startswith("__") and name not in ("__version__", "__internal__")
    if plain or not (legacy() and available()):
        return attribute(name)
    keras()
    return getattr(importlib.import_module(_KERAS1), name)


def version1_layer(name: str) -> Any:
    """`tf.compat.v1.layers.NAME`, of Keras 2.

    Raises: AttributeError if `tf.keras` is not Keras 2, as in TensorFlow with Keras 3.
    """
    if name.startswith("__") or not legacy():
        raise AttributeError(
            f"module '{_PACKAGE}.compat.v1.layers' has no attribute {name!r}: it is Keras 2's, "
            "which tf.keras is with the environment variable TF_USE_LEGACY_KERAS=1"
        )
    keras()
    return getattr(importlib.import_module(_LAYERS1), name)


def version1_face(module_name: str) -> None:
    """Make a module `tf.compat.v1.layers`."""

    def names() -> list[str]:
        if not (legacy() and available()):
            return []
        keras()
        return dir(importlib.import_module(_LAYERS1))

    vars(sys.modules[module_name]).update(__all__=[], __dir__=names)


def face(module_name: str) -> None:
    """Make a module `tf.keras`, that of `tf.compat.v1`, or a part of Keras: `tf.losses`."""
    part = module_name.rpartition(".")[2]
    found = version1_attribute if ".v1." in module_name else attribute

    def of_keras(name: str) -> Any:
        return public() if name == "__all__" else found(name)

    def of_part(name: str) -> Any:
        return public() if name == "__all__" else getattr(attribute(part), name)

    def public() -> list[str]:
        return [name for name in names() if not name.startswith("_")]

    def names() -> list[str]:
        if not available():
            return ["optimizers"] if part == "keras" else []
        return dir(keras() if part == "keras" else attribute(part))

    is_keras = part == "keras"
    if is_keras:
        find_below_keras()
        vars(sys.modules[module_name])["__path__"] = []
    vars(sys.modules[module_name]).update(
        __getattr__=of_keras if is_keras else of_part, __dir__=names
    )
