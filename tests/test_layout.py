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


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_only_public_jax(path):
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            assert not name.startswith("jax._src")
            assert not name.startswith("tensorflow")


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
