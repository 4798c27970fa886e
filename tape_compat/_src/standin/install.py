"""`tape_compat.install_as_tensorflow()`."""

from __future__ import annotations

import importlib
import sys

from ..interop import version1
from .finder import Finder, Private, entry
from .table import RECOGNIZED

FINDER = Finder()


def real_tensorflow() -> bool:
    """Whether the real TensorFlow has been imported."""
    return not isinstance(sys.modules.get("tensorflow", FINDER), (Private, Finder))


def find_below_keras() -> None:
    """Let `import tape_compat.keras.layers` find Keras' module."""
    if FINDER not in sys.meta_path:
        sys.meta_path.insert(0, FINDER)


def install_as_tensorflow() -> None:
    """Let `import tensorflow`, and imports of what is below it, give tape_compat from now on.

    A second call does nothing. An installed TensorFlow stays as it is, and is not seen by this
    process; `tensorflow.__version__` is that of the TensorFlow whose names and behaviour are ours.
    A name that is not here raises ImportError or AttributeError with the reason.

    Raises: RuntimeError if the real TensorFlow has been imported already.

    >>> import tape_compat
    >>> tape_compat.install_as_tensorflow()  # doctest: +SKIP
    >>> import tensorflow as tf  # doctest: +SKIP
    >>> tf.square is tape_compat.square  # doctest: +SKIP
    True

    `tests/test_standin.py` runs the example in a process of its own.
    """
    if real_tensorflow():
        raise RuntimeError(
            "The real TensorFlow has been imported already (from "
            f"{getattr(sys.modules['tensorflow'], '__file__', None)}), and what imported it keeps "
            "it. Call tape_compat.install_as_tensorflow() before the first `import tensorflow`, "
            "also that of a library, or start the program by `python -m tape_compat run`."
        )
    if "tensorflow" in sys.modules:
        return
    find_below_keras()
    FINDER.installed = True
    importlib.import_module("tensorflow")
    version1.package = "tensorflow"
    for path, place in RECOGNIZED.items():
        cls = entry(place)
        module, _, name = path.rpartition(".")
        cls.__module__, cls.__name__, cls.__qualname__ = f"tensorflow.{module}", name, name
