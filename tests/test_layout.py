"""Imports point one way, nothing of JAX's is private, and the public names are only names."""

import ast
import dataclasses
import functools
import graphlib
import importlib
import json
import pathlib
import types

import pytest

import tape_compat
from tape_compat._src.interop import version1
from tape_compat._src.interop.later import LATER
from tests import processes

ROOT = pathlib.Path(tape_compat.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

#: Lower layers first: a file of `_src` imports only from its own layer and those before.
LAYERS = (
    "native core run values composites ops autodiff function data checkpoint diagnostics library "
    "interop standin faces"
).split()
RANK = {name: rank for rank, name in enumerate(LAYERS)}


def module_name(path):
    """'_src.core.op', '_src.core' for its `__init__.py`, '' for that of the package."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in FILES}


def layer(module):
    parts = module.split(".")
    return parts[1] if parts[0] == "_src" and len(parts) > 1 else "faces"


@dataclasses.dataclass(frozen=True)
class Facts:
    """What the tests ask of the source of one module.

    Attributes:
      imports: the modules of the package that it imports, wherever it does, and the lines.
      inside: the lines of the imports that stand in functions.
      foreign: dotted names of what it takes from other packages.
      lines: how many it has.
    """

    imports: list[tuple[str, int]]
    inside: list[int]
    foreign: list[str]
    lines: int


@functools.cache
def facts(module):
    path = MODULES[module]
    parts = module.split(".") if module else []
    package = parts if path.name == "__init__.py" else parts[:-1]
    source = path.read_text()
    nodes = list(ast.walk(ast.parse(source)))
    return Facts(
        list(imports_of(nodes, package)),
        list(imports_inside(nodes)),
        list(foreign(nodes)),
        len(source.splitlines()),
    )


def imports_of(nodes, package):
    for node in nodes:
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        above = package[: len(package) - node.level + 1]
        base = ".".join([*above, *([node.module] if node.module else [])])
        for alias in node.names:
            name = f"{base}.{alias.name}".strip(".")
            yield (name if name in MODULES else base), node.lineno


def imports_inside(nodes):
    for function in nodes:
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    yield node.lineno


def test_imports_point_one_way():
    found = [
        f"{MODULES[module]}, line {line} imports {name}"
        for module in MODULES
        for name, line in facts(module).imports
        if RANK[layer(name)] > RANK[layer(module)]
    ]
    assert not found


def test_no_import_circle():
    """Each file can be read after those that it imports, for types too."""
    graph = {m: {name for name, _ in facts(m).imports if name != m} for m in MODULES}
    sorter = graphlib.TopologicalSorter(graph)
    try:
        assert len(list(sorter.static_order())) == len(graph)
    except graphlib.CycleError as error:
        raise AssertionError(" <- ".join(error.args[1])) from None


def test_no_import_inside_a_function():
    found = [f"{MODULES[m]}, line {line}" for m in MODULES for line in facts(m).inside]
    assert not found


def foreign(nodes):
    """Dotted names of what a source takes from other packages: imports, and attributes of what they
    bind."""
    bound = {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                bound[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                yield f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.name if alias.asname else alias.name.split(".")[0]
                bound[alias.asname or name] = name
                yield alias.name
    for node in nodes:
        if isinstance(node, ast.Attribute):
            first, *attributes = dotted(node)
            if first in bound:
                yield ".".join([bound[first], *attributes])


def dotted(node):
    """The names of a chain of attributes, through calls and indices: `a`, `b`, `c` of `a.b(x).c`;
    None in the place of what begins as no name does."""
    names = []
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        if isinstance(node, ast.Attribute):
            names.append(node.attr)
        node = node.func if isinstance(node, ast.Call) else node.value
    return [node.id if isinstance(node, ast.Name) else None, *reversed(names)]


def not_allowed(names):
    """Of TensorFlow anything, of JAX what is private, which the next version may not have."""
    for name in names:
        package, *parts = name.split(".")
        private = any(p.startswith("_") and not p.endswith("__") for p in parts)
        if package == "tensorflow" or (package in ("jax", "jaxlib") and private):
            yield name


def test_only_public_jax():
    found = [f"{MODULES[m]}: {name}" for m in MODULES for name in not_allowed(facts(m).foreign)]
    assert not found


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
        "import jax.numpy as jnp\njnp.zeros(3)._value",
        "import jax\njax.devices()[0]._client.name",
        "from jaxlib import _jax",
        "def f():\n    import tensorflow as tf",
        "from tensorflow.python import eager",
    ],
)
def test_private_jax_is_seen(source):
    assert list(not_allowed(foreign(list(ast.walk(ast.parse(source))))))


FACES = [m for m in MODULES if layer(m) == "faces" and m not in ("_src", "__main__")]
#: Faces whose names are Keras'.
OF_KERAS = ("initializers", "keras", "losses", "metrics")
#: Those whose names are not written down in them.
OF_OTHERS = (
    *OF_KERAS,
    "compat.v1.app",
    "compat.v1.flags",
    "compat.v1.keras",
    "compat.v1.layers",
    "compat.v2",
    "raw_ops",
)


def is_face_statement(node):
    """An import, or the call that makes the module a face."""
    if isinstance(node, ast.ImportFrom):
        return node.level > 0
    return ast.unparse(node) in ("_face(__name__)", "_face(__name__, _LATER)")


@pytest.mark.parametrize("module", FACES)
def test_faces_hold_names_only(module):
    docstring, *body = ast.parse(MODULES[module].read_text()).body
    assert isinstance(docstring, ast.Expr) and isinstance(docstring.value, ast.Constant)
    if module == "":  # also its version, and for type checkers the faces imported when first used
        typing, *body = body
        assert ast.unparse(typing) == "import typing as _typing"
        *body, only_types, version, last = body
        assert ast.unparse(only_types.test) == "_typing.TYPE_CHECKING" and not only_types.orelse
        assert ast.unparse(version.targets[0]) == "__version__"
        body += [*only_types.body, last]
    assert all(map(is_face_statement, body))
    assert ast.unparse(body[-1]) == ("_face(__name__)" if module else "_face(__name__, _LATER)")
    for name, line in facts(module).imports:
        assert name.startswith("_src.") or layer(name) == "faces", f"line {line} imports {name}"


def test_names_imported_later():
    """The table has what the package's face imports for type checkers, and nothing of a module that
    its import needs; a program that uses few ops imports neither those nor malt."""
    written = {
        alias.asname: (node.module.removeprefix("_src."), alias.name)
        for condition in ast.parse(MODULES[""].read_text()).body
        if isinstance(condition, ast.If)
        for node in condition.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    assert written == LATER
    program = """
import json, sys
import tape_compat as tf
function = tf.function(lambda x: x * x)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.square(tf.Variable([1.0, 2.0])))
before = sorted(sys.modules)
assert tf.while_loop is tf.while_loop and function(2) == 4 and "norm" in dir(tf)
print(json.dumps([before, sorted(sys.modules), tf.__all__]))
"""
    before, after, names = json.loads(processes.run("-c", program).stdout)
    modules = {f"tape_compat._src.{module}" for module, _ in LATER.values()}
    assert modules.isdisjoint(before) and "tape_compat._src.function.while_loops" in after
    assert "malt" not in before and "malt" in after and "while_loop" in names
    assert len([name for name in before if name.startswith("tape_compat")]) <= 199


def below(module):
    """The faces in the folder of a face."""
    inside = [f for f in FACES if f and f.rpartition(".")[0] == module]
    return {name.rpartition(".")[2] for name in inside}


@pytest.mark.parametrize("module", [m for m in FACES if m not in OF_OTHERS])
def test_faces_show_their_names_only(module):
    """What is public in `tf.math` is there for the user: what it imports by name, and the faces
    below it. No helper, and of modules faces only."""
    face = importlib.import_module(f"tape_compat.{module}".strip("."))
    names = {
        alias.asname
        for node in ast.walk(ast.parse(MODULES[module].read_text()))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    names = {name for name in names if name[0] != "_"}
    others = version1.names_of(face.__name__) if module.startswith("compat.v1") else set()
    assert {n for n in dir(face) if not n.startswith("_")} == names | others
    assert below(module) <= names
    assert set(face.__all__) == names | others
    for key in names:
        if isinstance(value := getattr(face, key), types.ModuleType):
            assert value.__name__ == f"{face.__name__}.{key}"


def test_files_are_short():
    assert [str(MODULES[m]) for m in MODULES if facts(m).lines > 700] == []


class Alike:
    """What `conftest.py` asks of a test, for one of a hundred that are alike."""

    callspec = None  # what a test of several cases has

    def __init__(self, number, marked):
        self.name = f"test_alike[{number}]"
        self.nodeid = f"tests/test_layout.py::{self.name}"
        self._marker = pytest.mark.part.mark if marked else None

    def get_closest_marker(self, name):
        return self._marker


@pytest.mark.parametrize("marked", [True, False], ids=["marked", "cases"])
def test_parts_are_apart_and_all_together(request, marked):
    conftest = pathlib.Path(__file__).with_name("conftest.py")
    plugin = request.config.pluginmanager.get_plugin(str(conftest))
    items = [Alike(number, marked) for number in range(100)]
    assert marked or not plugin._beyond(items, 8, 0, cases=False)
    parts = [set(items) - plugin._beyond(items, 8, which, cases=not marked) for which in range(8)]
    assert all(parts) and set().union(*parts) == set(items)
    assert sum(map(len, parts)) == len(items)
