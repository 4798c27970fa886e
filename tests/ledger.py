"""Brings the ledger of TensorFlow's names up to date: `python -m tests.ledger`.

Run it after a name was added to a face, or a module of `_src` was renamed: `where` is read from the
faces' imports. With TensorFlow installed, names that it has in the namespaces we have are added,
with "is not built yet" as the reason; write a better one into the file where there is one.
"""

import ast
import csv
import importlib
import inspect
import types
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import tape_compat
from tape_compat._src.interop.names import Name, reason
from tests.oracle import tensorflow

ROOT = Path(tape_compat.__file__).parent
FILE = ROOT / "_src" / "interop" / "names.tsv"
VERSION1 = FILE.with_name("version1.tsv")
NOT_BUILT = "is not built yet"

#: Public names that TensorFlow has not, below `tape_compat`.
OURS = {
    *("as_op", "counters", "engine", "functional", "install_as_tensorflow"),
    *("engine.as_op", "engine.clear_caches", "engine.counters", "engine.functional"),
}

#: Where the names of a face are from that does not import them.
TABLES = {"raw_ops": "library.raw.calls"}
#: Why ops of handles, of functions and of devices in data centres are missing.
OF_RUNTIME = "belongs to TensorFlow's runtime, which is not here"


#: Faces whose names are Keras', which are not listed.
OF_KERAS = ("initializers", "keras", "losses", "metrics")
#: Names of other versions of TensorFlow, of which libraries use few: not listed either.
NOT_LISTED = (*OF_KERAS, "compat")


def of_keras(name: str) -> bool:
    """Whether 'tf.keras.layers' is below one of them."""
    parts = name.split(".")
    return len(parts) > 2 and parts[1] in OF_KERAS


@cache
def faces() -> tuple[str, ...]:
    """'', 'math', 'math.special', ..."""
    files = [
        path for path in ROOT.rglob("*.py") if "_src" not in path.parts and path.stem != "__main__"
    ]
    parts = [path.relative_to(ROOT).with_suffix("").parts for path in files]
    names = sorted(".".join(p[:-1] if p[-1] == "__init__" else p) for p in parts)
    return tuple(name for name in names if name.partition(".")[0] not in NOT_LISTED)


def module(face: str) -> types.ModuleType:
    return importlib.import_module(".".join(filter(None, ("tape_compat", face))))


def shown() -> dict[str, str]:
    """Every public name of the faces, 'math.exp', and the module below `_src` that it is from."""
    found = {}
    for face in faces():
        for name in module(face).__all__:
            path = ".".join(filter(None, (face, name)))
            found[path] = TABLES.get(face, path)
        found.update({f"{face}.{n}".lstrip("."): w for n, w in _imports(face).items()})
    return found


def _imports(face: str) -> dict[str, str]:
    """What a face imports, and from where; from another face, where that one has it from."""
    file = module(face).__file__
    assert file is not None
    found = {}
    for node in ast.walk(ast.parse(Path(file).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            _, inside, where = node.module.partition("_src.")
            for alias in node.names:
                name = alias.asname or alias.name
                if not name.startswith("_"):
                    found[name] = where if inside else _imports(node.module)[alias.name]
    return found


def here(name: str) -> Any:
    """The object of the name 'tf.math.exp'; LookupError if it is missing."""
    value: Any = tape_compat
    for part in name.split(".")[1:]:
        try:
            value = getattr(value, part)
        except AttributeError:
            raise LookupError(name) from None
    return value


#: Nothing is quoted: the package splits lines at tabs.
PLAIN: Any = {
    "delimiter": "\t",
    "lineterminator": "\n",
    "quoting": csv.QUOTE_NONE,
    "quotechar": None,
}


def read() -> dict[str, Name]:
    with FILE.open(newline="") as file:
        rows = csv.DictReader(file, **PLAIN)
        return {
            row["name"]: Name(**{**row, "aliases": tuple(row["aliases"].split())}) for row in rows
        }


def write(rows: dict[str, Name]) -> None:
    with FILE.open("w", newline="") as file:
        writer = csv.writer(file, **PLAIN)
        writer.writerow(Name._fields)
        for row in sorted(rows.values(), key=lambda row: row.name):
            writer.writerow(row._replace(aliases=" ".join(row.aliases)))


def tensorflow_names(tf: Any) -> list[tuple[str, ...]]:
    """TensorFlow's names in the namespaces that we have; those of one object together."""
    groups: dict[Any, list[str]] = {}
    for face in faces():
        space = tf
        if face and not hasattr(tape_compat, face.partition(".")[0]):
            continue
        if face == "engine":
            continue
        for part in filter(None, face.split(".")):
            space = getattr(space, part)
        for name in dir(space):
            if not name.startswith("_"):
                value, path = getattr(space, name), ".".join(filter(None, ("tf", face, name)))
                plain = isinstance(value, (int, str, types.ModuleType)) or value is None
                groups.setdefault(path if plain else id(value), []).append(path)
    return [tuple(group) for group in groups.values()]


def _merged(rows: dict[str, Name], names: tuple[str, ...]) -> dict[str, Name]:
    """The rows with one of several names of one object: that of the row there was, if any."""
    old = [row for row in rows.values() if {row.name, *row.aliases} & set(names)]
    first = old[0] if old else Name(min(names, key=_rank), (), "", "", "")
    every = {name for row in old for name in (row.name, *row.aliases)} | set(names)
    aliases = tuple(sorted(every - {first.name}))
    rows = {name: row for name, row in rows.items() if row not in old}
    return {**rows, first.name: first._replace(aliases=aliases)}


def _rank(name: str) -> tuple[bool, int, str]:
    """Sorts 'tf.math.exp' before 'tf.exp', and both before names of experimental namespaces."""
    return "experimental" in name or "special" in name, -name.count("."), name


def _is_here(name: str) -> bool:
    try:
        here(name)
    except LookupError:
        return False
    return True


def _above(name: str) -> list[str]:
    """'tf.data.Dataset' and 'tf.data' for 'tf.data.Dataset.map'."""
    parts = name.split(".")
    return [".".join(parts[:i]) for i in range(2, len(parts))]


def _where(name: str, places: dict[str, str]) -> str:
    """The place of a name, or of the class that it is an attribute of."""
    while name and name not in places:
        name = name.rpartition(".")[0]
    return places.get(name, "the package")


#: Names of `tf.compat.v1` that are texts and numbers of `tf.version`.
OF_VERSION = (
    "COMPILER_VERSION GIT_VERSION GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER "
    "GRAPH_DEF_VERSION_MIN_PRODUCER VERSION".split()
)
#: Namespaces that are not looked into: Keras', those of other versions, and private ones.
NOT_WALKED = {"keras", "compat", "estimator", "lite", "python", "core"}
#: What stands for a namespace itself.
PLAIN_VALUES = (int, str, float, types.NoneType)


def _is_public(module: str) -> bool:
    return module.startswith("tensorflow.") and "tensorflow.python" not in module


def walked(space: Any, path: str = "") -> dict[str, dict[str, Any]]:
    """The names of a module of TensorFlow and of those below it, by namespace."""
    found: dict[str, dict[str, Any]] = {path: {}}
    for name in dir(space):
        if name.startswith("_") or name in NOT_WALKED:
            continue
        value = getattr(space, name)
        if not isinstance(value, types.ModuleType):
            found[path][name] = value
        elif _is_public(vars(value).get("__name__", "")):
            found |= walked(value, f"{path}.{name}".lstrip("."))
    return found


def _unwrapped(value: Any) -> list[Any]:
    """A value, and what it wraps."""
    found = [value]
    while hasattr(found[-1], "__wrapped__"):
        found.append(found[-1].__wrapped__)
    return found


def _same(one: Any, other: Any) -> bool:
    """Whether two are one object, or wrap one and are called alike."""
    if isinstance(one, PLAIN_VALUES):
        return one == other and type(one) is type(other)
    if one is other or not callable(one) or isinstance(one, type):
        return one is other
    inside = {id(each) for each in _unwrapped(one)} & {id(each) for each in _unwrapped(other)}
    return bool(inside) and inspect.signature(one) == inspect.signature(other)


def version1_names(tf: Any) -> dict[str, dict[str, str]]:
    """The names of `tf.compat.v1` that are here because they are what they are, or what is called
    otherwise, in `tf`: of each namespace, by name the place below `tf`."""
    public = {space: names for space, names in walked(tf).items() if not of_keras(f"tf.{space}.x")}
    everywhere: dict[int, list[tuple[str, Any]]] = {}
    for space, names in public.items():
        for name, value in names.items():
            for each in _unwrapped(value):
                everywhere.setdefault(id(each), []).append((f"{space}.{name}".lstrip("."), value))
    found: dict[str, dict[str, str]] = {}
    for space, names in walked(tf.compat.v1).items():
        theirs, places = public.get(space, {}), {}
        above = space.rpartition(".")[0]
        for name, value in names.items():
            of_tf = [path for path, other in everywhere.get(id(value), ()) if _same(value, other)]
            if name in theirs and _same(value, theirs[name]):
                places[name] = f"{space}.{name}".lstrip(".")
            elif not isinstance(value, PLAIN_VALUES) and of_tf:
                places[name] = min(of_tf, key=_rank)
            elif _same(value, public.get(above, {}).get(name)):  # constants of tf.saved_model
                places[name] = f"{above}.{name}"
        if not space:
            places |= {name: f"version.{name}" for name in OF_VERSION} | {"compat": "compat"}
        places = {name: place for name, place in places.items() if _is_here(f"tf.{place}")}
        if places:
            found[space] = places
    return found


def write_version1(found: dict[str, dict[str, str]]) -> None:
    lines = []
    for space, names in sorted(found.items()):
        above = f"{space}." if space else ""
        whole = space in faces() and set(module(space).__all__) - set(faces_below(space)) == set(
            names
        )
        plain = [n if place == above + n else f"{n}={place}" for n, place in sorted(names.items())]
        listed = ["*"] if whole and not any("=" in each for each in plain) else plain
        lines.append(f"{space}\t{' '.join(listed)}\n")
    VERSION1.write_text("".join(lines))


def missing_version1(tf: Any) -> list[str]:
    """What `tf.compat.v1` has here not, and `tf` gives no reason for: names, of a namespace that is
    not here itself no more than that."""
    found = {}
    for space, names in walked(tf.compat.v1).items():
        if space == "raw_ops":
            continue
        for name in names:
            path = ".".join(filter(None, ("tf.compat.v1", space, name)))
            gone = [above for above in [*_above(path)[2:], path] if not _is_here(above)]
            if gone and not reason(gone[0].replace("compat.v1.", "", 1)):
                found[gone[0]] = None
    return list(found)


def faces_below(space: str) -> list[str]:
    """'special' of 'math'."""
    start = f"{space}."
    return [face[len(start) :].partition(".")[0] for face in faces() if face.startswith(start)]


def _reason(name: str) -> str:
    """Why a name is missing that nothing has been written of."""
    space, _, op = name.rpartition(".")
    if space != "tf.raw_ops" or find_spec("tensorflow") is None:
        return NOT_BUILT
    registry = importlib.import_module("tensorflow.python.framework.op_def_registry")
    definition = registry.get(op)
    if definition is None:
        return NOT_BUILT
    arguments = [*definition.input_arg, *definition.output_arg]
    handles = {tensorflow().resource.as_datatype_enum, tensorflow().variant.as_datatype_enum}
    if (
        any(word in op for word in ("TPU", "Cudnn", "Nccl", "SparseCore", "Collective"))
        or any(x.type in handles or x.is_ref for x in arguments)
        or any(x.type == "func" for x in definition.attr)
    ):
        return OF_RUNTIME
    return NOT_BUILT


def main() -> None:
    rows, places = read(), shown()
    groups = [(f"tf.{name}",) for name in places if name not in OURS]
    if find_spec("tensorflow") is not None:
        groups += tensorflow_names(tensorflow())
        write_version1(version1_names(tensorflow()))
        groups += [(name,) for name in missing_version1(tensorflow())]
    for names in groups:
        rows = _merged(rows, names)
    for name, row in list(rows.items()):
        rows[name] = row._replace(aliases=tuple(a for a in row.aliases if not of_keras(a)))
        if of_keras(name):
            del rows[name]
    every = {n: row for row in rows.values() for n in (row.name, *row.aliases)}
    for name, row in rows.items():
        if _is_here(name):
            rows[name] = row._replace(where=_where(name[3:], places), reason="")
        else:
            missing = any(above in every and not _is_here(above) for above in _above(name))
            reason = row.reason or ("" if missing else _reason(name))
            rows[name] = row._replace(where="", reason=reason)
    write(rows)
    present = sum(bool(row.where) for row in rows.values())
    print(f"{len(rows)} names: {present} present, {len(rows) - present} missing")


if __name__ == "__main__":
    main()
