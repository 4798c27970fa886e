"""TensorFlow's outcomes, kept on disk: by its version and by all that the outcome follows from.

They are in `.tensorflow_outcomes`, which git ignores. What a file of cases gives is kept under a
hash of its source and of the files that every case uses, so that a changed one is run anew. Where
everything is kept already TensorFlow is not even imported.
"""

import hashlib
import importlib.metadata
import importlib.util
import os
import pickle
import shutil
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent.parent
FOLDER = TESTS.parent / ".tensorflow_outcomes"


def _files(name: str) -> list[Path]:
    return sorted((TESTS / "parity").glob(f"{name}.py"))


#: What cases use beside their own file.
_HELPERS = ("harness", "derivatives", "store", "kernel_inputs", "*_calls")
_COMMON = ("oracle.py", *(f"parity/{p.name}" for name in _HELPERS for p in _files(name)))


@cache
def folder(name: str, sources: tuple[str, ...]) -> Path:
    """Where the outcomes of the cases in these files are, and nothing of their older versions."""
    text = hashlib.sha256()
    for version in (sys.version, _version("numpy"), tensorflow_version()):
        text.update(version.encode())
    for source in (*_COMMON, *sources):
        text.update((TESTS / source).read_bytes())
    found = FOLDER / f"{name}-{text.hexdigest()[:16]}"
    if not found.exists():
        for older in FOLDER.glob(f"{name}-*"):
            shutil.rmtree(older, ignore_errors=True)
        found.mkdir(parents=True, exist_ok=True)
    return found


def kept(
    name: str, sources: Sequence[str], key: str, compute: Callable[[], Any], place: Any = folder
) -> Any:
    """What `compute()` gave when it was first asked for in this file of cases."""
    file = place(name, tuple(sources)) / hashlib.sha256(key.encode()).hexdigest()[:32]
    if file.exists():
        return pickle.loads(file.read_bytes())
    outcome = compute()
    part = file.with_suffix(f".{os.getpid()}")
    part.write_bytes(pickle.dumps(outcome))
    part.replace(file)
    return outcome


def _version(package: str) -> str:
    return f"{package} {importlib.metadata.version(package)}"


@cache
def tensorflow_version() -> str:
    """Version of the package that is installed, without importing it."""
    found = importlib.metadata.packages_distributions()["tensorflow"]
    return " ".join(sorted({_version(name) for name in found}))


def installed() -> bool:
    return importlib.util.find_spec("tensorflow") is not None
