"""TensorFlow's outcomes, kept on disk: by its version and by all that the outcome follows from.

They are in `tests/goldens/outcomes`, which `python -m tests.goldens.make_outcomes` writes, and
those that are not there in `.tensorflow_outcomes`, which git ignores. What a file of cases gives is
kept under a hash of its source and of the files that every case uses, so that a changed one is run
anew. Where everything is kept already TensorFlow is not even imported.
"""

import hashlib
import importlib.metadata
import importlib.util
import os
import pickle
import re
import shutil
import sys
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent.parent
FOLDER = TESTS.parent / ".tensorflow_outcomes"
GOLDENS = TESTS / "goldens" / "outcomes"


#: What all cases use beside their own file and what it imports of this folder.
_COMMON = ("oracle.py", "parity/harness.py")
_IMPORTS = re.compile(r"^from (?:\.|tests\.parity)[^(\n]*(?:\([^)]*\))?", re.MULTILINE)


@cache
def _imported(source: str) -> frozenset[str]:
    """The files of this folder that one of `tests` imports, and those that they import."""
    words = re.findall(r"\w+", " ".join(_IMPORTS.findall((TESTS / source).read_text())))
    files = {f"parity/{word}.py" for word in words if (TESTS / f"parity/{word}.py").exists()}
    found = frozenset(files - {source, *_COMMON})
    return found.union(*map(_imported, found))


def _digest(versions: Sequence[str], sources: Sequence[str]) -> str:
    """A hash of these versions, and of all that the cases in these files use."""
    text = hashlib.sha256()
    for version in versions:
        text.update(version.encode())
    for source in sorted({*_COMMON, *sources}.union(*map(_imported, sources))):
        text.update((TESTS / source).read_bytes())
    return text.hexdigest()[:16]


@cache
def folder(name: str, sources: tuple[str, ...]) -> Path:
    """Where the outcomes of the cases in these files are, and nothing of their older versions."""
    digest = _digest([sys.version, _version("numpy"), tensorflow_version()], sources)
    found = FOLDER / f"{name}-{digest}"
    if not found.exists():
        for older in FOLDER.glob(f"{name}-*"):
            shutil.rmtree(older, ignore_errors=True)
        found.mkdir(parents=True, exist_ok=True)
    return found


@cache
def basis(sources: tuple[str, ...]) -> str:
    """What the outcomes in the repository follow from, as a hash. Of Python and NumPy the first two
    numbers of the version count."""
    versions = (f"{sys.version_info[:2]}", *_version("numpy").split(".")[:2], tensorflow_version())
    return _digest(versions, sources)


def golden_file(name: str) -> Path:
    return GOLDENS / f"{name}.zlib"


@cache
def goldens(name: str, sources: tuple[str, ...]) -> dict[str, bytes]:
    """The outcomes in the repository, pickled, by their keys. Empty if they are of other sources or
    versions."""
    file = golden_file(name)
    if not file.exists():
        return {}
    of, outcomes = pickle.loads(zlib.decompress(file.read_bytes()))
    return outcomes if of == basis(sources) else {}


def write_goldens(name: str, sources: tuple[str, ...], outcomes: dict[str, Any]) -> None:
    pickled = {key: pickle.dumps(outcome) for key, outcome in outcomes.items()}
    GOLDENS.mkdir(exist_ok=True)
    data = zlib.compress(pickle.dumps((basis(sources), pickled)), 9)
    golden_file(name).write_bytes(data)


def kept(
    name: str,
    sources: Sequence[str],
    key: str,
    compute: Callable[[], Any],
    place: Any = folder,
    golden: bool = True,
) -> Any:
    """What `compute()` gave when it was first asked for in this file of cases.

    golden: whether what is in the repository will do.
    """
    found = goldens(name, tuple(sources)).get(key) if golden else None
    if found is not None:
        return pickle.loads(found)
    file = place(name, tuple(sources)) / hashlib.sha256(key.encode()).hexdigest()[:32]
    if file.exists():
        return pickle.loads(file.read_bytes())
    outcome = compute()
    part = file.with_suffix(f".{os.getpid()}")
    part.write_bytes(pickle.dumps(outcome))
    part.replace(file)
    return outcome


def departures(
    asked: tuple[Any, ...], compare: Callable[[Any], list[str]], known: bool = False
) -> list[str]:
    """What `compare` finds wrong, given TensorFlow's outcome. One in the repository may be of
    another processor, or have paths of another machine: where it differs TensorFlow is asked.

    asked: the arguments of `kept`. known: whether they differ on purpose.
    """
    lines = compare(kept(*asked))
    return lines if known or not lines else compare(kept(*asked, golden=False))


def _version(package: str) -> str:
    return f"{package} {importlib.metadata.version(package)}"


@cache
def tensorflow_version() -> str:
    """Version of the package that is installed, without importing it."""
    found = importlib.metadata.packages_distributions()["tensorflow"]
    return " ".join(sorted({_version(name) for name in found}))


@cache
def installed() -> bool:
    return importlib.util.find_spec("tensorflow") is not None
