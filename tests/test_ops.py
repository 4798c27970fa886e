"""Every row of `tests/ops` through every check: values, derivatives, special points, TensorFlow."""

import importlib
import json
import pkgutil
from functools import cache
from pathlib import Path
from types import ModuleType

import jax.numpy as jnp
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src import ops
from tape_compat._src.ops.declare import unary
from tape_compat._src.ops.rules import rule
from tests.ops import ROWS, TABLES, checks
from tests.ops.row import Row, find
from tests.parity import store
from tests.parity.rows import check_tensorflow

GOLDENS = Path(__file__).parent / "goldens" / "special.json"


@cache
def goldens():
    return json.loads(GOLDENS.read_text())["rows"]


def check_special(row: Row) -> None:
    """Values and gradients at special points, as TensorFlow wrote them down."""
    golden = goldens()[row.id]
    found = checks.found(row).special
    assert found is not None
    for got, wanted in zip(found, [golden["value"], *golden["gradients"]], strict=True):
        if wanted is None:
            assert got is None
        else:
            expected = np.array([float(x) for x in wanted])
            np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)


def checks_of(row):
    yield from checks.checks_of(row)
    if row.special:
        yield "special", check_special
    if store.installed():
        yield "tensorflow", check_tensorflow


def _parameter(row, name, check):
    marks = [pytest.mark.part(row.id)]
    if name == "tensorflow" and row.differs:
        marks.append(pytest.mark.xfail(reason=row.differs, strict=True))
    return pytest.param(row, check, id=f"{row.id}-{name}", marks=marks)


CASES = [_parameter(row, name, check) for row in ROWS for name, check in checks_of(row)]


@pytest.mark.parametrize(("row", "check"), CASES)
def test_row(row, check):
    check(row)


# -- the tables themselves -------------------------------------------------------------------------


def namespaces() -> list[ModuleType]:
    """The modules that users see, `tf` first."""
    found = (getattr(tf, name) for name in dir(tf))
    spaces = [tf, *(v for v in found if isinstance(v, ModuleType)), tf.math.special]
    return [m for m in spaces if m.__name__.startswith("tape_compat") and "._src" not in m.__name__]


def itself(op):
    """An op, where a test before let the faces show a function that first looks for handlers."""
    return getattr(op, "__wrapped__", op) if hasattr(op, "takes_composites") else op


def public() -> dict[int, str]:
    """Where users find each function, by its id."""
    return {
        id(itself(value)): name
        for space in namespaces()
        for name, value in vars(space).items()
        if not name.startswith("_") and callable(value) and not isinstance(value, type)
    }


def tables_of_ops() -> dict[str, dict[str, object]]:
    """The public ops of each module of `ops`; an alias belongs to the module that defines it."""
    shown = public()
    found: dict[str, dict[str, object]] = {}
    seen: set[int] = set()
    for info in pkgutil.iter_modules(ops.__path__):
        module = importlib.import_module(f"{ops.__name__}.{info.name}")
        for name, value in vars(module).items():
            mine = getattr(value, "__module__", None) == module.__name__
            key = id(itself(value))
            if key in shown and mine and key not in seen:
                seen.add(key)
                found.setdefault(info.name, {})[name] = value
    return found


@pytest.mark.parametrize("table", sorted(tables_of_ops()))
def test_every_op_has_a_row_in_the_table_beside_it(table):
    file = f"tests/ops/{table}.py"
    assert table in TABLES, f"write {file}"
    rows, reasons = getattr(TABLES[table], "ROWS", []), getattr(TABLES[table], "WITHOUT_ROW", {})
    tested = {id(itself(find(tf, row.path))): row.path for row in rows}
    ops_here = {name: id(itself(op)) for name, op in tables_of_ops()[table].items()}
    missing = [name for name, op in ops_here.items() if op not in tested and name not in reasons]
    assert not missing, f"add a row to {file}, or a reason to its WITHOUT_ROW: {missing}"
    both = [name for name in reasons if name not in ops_here or ops_here[name] in tested]
    assert not both, f"{file} gives a reason for what has a row or is no op: {both}"
    elsewhere = [path for op, path in tested.items() if op not in ops_here.values()]
    assert not elsewhere, f"rows of another table: {elsewhere}"


def test_names_of_rows_differ():
    ids = [row.id for row in ROWS]
    assert len(set(ids)) == len(ids), sorted({i for i in ids if ids.count(i) > 1})


def test_goldens_and_rows_match():
    special = {row.id for row in ROWS if row.special}
    assert set(goldens()) == special, "run python -m tests.goldens.make"


# -- the checks find mistakes ----------------------------------------------------------------------


def wrong_row(*, first=1.0, second=1.0, tangent=1.0) -> Row:
    """A sine whose derivatives are wrong by factors."""
    cosine = unary(rule(jnp.cos, lambda dx, y, x: -second * dx * jnp.sin(x)), "", kernel="Cos")
    sine = unary(rule(jnp.sin, lambda dx, y, x: first * dx * jnp.cos(x)), "", kernel="Sin")

    @tf.custom_gradient
    def op(x):
        return sine(x), lambda upstream: upstream * cosine(x)

    x = np.array([0.3, 0.4])
    program = (lambda tf, x: op(x)) if second != 1.0 else (lambda tf, x: sine(x))
    return Row("math.sin", [x], np.sin, program=program, label=f"wrong {first} {second}")


def test_a_wrong_rule_is_found():
    """A derivative wrong by 0.1 % does not pass, nor a second one, nor a value."""
    checks.check_gradient(wrong_row(first=1 + 1e-12))
    with pytest.raises(AssertionError):
        checks.check_gradient(wrong_row(first=1.001))
    checks.check_second(wrong_row(second=1 + 1e-12))
    with pytest.raises(AssertionError):
        checks.check_second(wrong_row(second=1.001))
    row = Row("math.sin", [np.array([0.3])], lambda x: np.sin(x) * 1.001, label="wrong value")
    with pytest.raises(AssertionError):
        checks.check_value(row)


def test_a_row_that_raises_is_named_and_the_others_of_its_group_are_found():
    def fail(tf, x):
        raise ValueError("this one")

    right = Row("math.sin", [np.array([0.3])], np.sin)
    broken = Row("math.sin", [np.array([0.3])], np.sin, program=fail, label="broken")
    first, error, last = checks.together([right, broken, right])
    assert isinstance(error, ValueError) and str(error) == "this one"
    for one in (first, last):
        assert isinstance(one, checks.Found)
        np.testing.assert_allclose(one.values[0], np.sin(0.3), rtol=1e-12)


def test_a_group_is_one_program(deferred, counted):
    rows = [Row("math.sin", [np.array([0.1 * i])], np.sin, label=str(i)) for i in range(3)]
    checks.together(rows)
    counts = counted()
    assert counts["fused"] == 1 and counts["op_by_op"] == 0


def test_a_group_has_the_rows_that_the_run_asks_for_and_no_others(request):
    asked = frozenset(row.id for row in ROWS[::3])
    groups = checks.groups(asked)
    assert {row.id for rows in groups.values() for row in rows} == groups.keys() == asked
    assert max(map(len, groups.values())) == checks.GROUP
    here = [item for item in request.session.items if item.path == request.path]
    rows = {item.callspec.params["row"].id for item in here if item.originalname == "test_row"}
    assert rows <= checks.ASKED
    assert len(checks.ASKED) < len(ROWS) or request.config.getoption("--part") == "1"
