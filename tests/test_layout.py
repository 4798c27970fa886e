"""Imports point one way, nothing of JAX's is private, and the public names are only names."""

import ast
import importlib
import pathlib
import types

import pytest

import tape_compat

ROOT = pathlib.Path(tape_compat.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

#: Lower layers first; a file imports only from its own layer and those before.
LAYERS = (
    ("core",),
    ("nest",),
    ("autodiff",),
    ("ops", "clip_ops"),
    ("array", "math", "linalg", "random", "nn", "bitwise"),
    ("module", "debugging", "config", "context", "logging_ops", "interop", "dtypes"),
    ("optimizers",),
    ("keras",),
    ("__init__",),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}


def top(path):
    relative = path.relative_to(ROOT)
    return relative.parts[0].removesuffix(".py")


def imported(path):
    """Top-level parts of the package that a file imports when it is imported."""
    tree = ast.parse(path.read_text())
    depth = len(path.relative_to(ROOT).parts)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level == depth:
            names = [node.module.split(".")[0]] if node.module else [a.name for a in node.names]
            yield from names


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_one_way(path):
    here = RANK[top(path)]
    for name in imported(path):
        assert RANK[name] <= here, f"{path.name} imports {name}, which stands above it"


def foreign(source):
    """Dotted names of what a source takes from other packages: imports, and attributes of what they
    bind."""
    tree = ast.parse(source)
    bound = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                bound[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                yield f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.name if alias.asname else alias.name.split(".")[0]
                bound[alias.asname or name] = name
                yield alias.name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            first, *attributes = ast.unparse(node).split(".")
            if first in bound:
                yield ".".join([bound[first], *attributes])


def not_allowed(source):
    """Of TensorFlow anything, of JAX what is private, which the next version may not have."""
    for name in foreign(source):
        package, *parts = name.split(".")
        private = any(p.startswith("_") and not p.endswith("__") for p in parts)
        if package == "tensorflow" or (package in ("jax", "jaxlib") and private):
            yield name


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_only_public_jax(path):
    assert list(not_allowed(path.read_text())) == []


@pytest.mark.parametrize(
    "source",
    [
        "import jax._src.core",
        "import jax._src as j",
        "from jax._src import core",
        "from jax._src.lax import lax",
        "from jax import _src",
        "from jax.numpy import _reductions",
        "import jax\njax._src.core.Tracer",
        "import jax.numpy as jnp\njnp._reductions",
        "from jax import lax\nlax._convolve()",
        "from jaxlib import _jax",
        "def f():\n    import tensorflow as tf",
        "from tensorflow.python import eager",
    ],
)
def test_private_jax_is_seen(source):
    assert list(not_allowed(source))


def test_the_core_knows_no_tape():
    for path in (ROOT / "core").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level == 2:
                assert node.module is None or not node.module.startswith("autodiff"), path.name


@pytest.mark.parametrize("name", ["__init__", *LAYERS[RANK["math"]]])
def test_namespaces_hold_names_only(name):
    tree = ast.parse((ROOT / f"{name}.py").read_text())
    kinds = {type(node).__name__ for node in tree.body}
    assert kinds <= {"Expr", "ImportFrom", "Import", "Assign"}


@pytest.mark.parametrize("name", LAYERS[RANK["math"]])
def test_namespaces_leak_nothing(name):
    """What is public in `tf.math` is there for the user: no helper, no imported module."""
    for key, value in vars(importlib.import_module(f"tape_compat.{name}")).items():
        assert key.startswith("_") or not isinstance(value, types.ModuleType), key


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_are_short(path):
    assert len(path.read_text().splitlines()) <= 700
