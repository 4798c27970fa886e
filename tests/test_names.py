"""TensorFlow's public names, by the ledger `_src/interop/names.tsv`."""

import importlib
import json
import pickle
import subprocess
import sys

import pytest

import tape_compat
from tape_compat._src.interop import names
from tape_compat._src.interop.names import ledger, reason
from tests.ledger import NOT_LISTED, OURS, _is_here, faces, here, module, read, shown

PRESENT = [row for row in ledger().values() if row.where]
MISSING = [row for row in ledger().values() if not row.where]
EVERY = {name: row for row in ledger().values() for name in (row.name, *row.aliases)}
SHOWN = shown()


def test_each_name_has_one_row():
    rows = ledger().values()
    assert len(EVERY) == sum(1 + len(row.aliases) for row in rows)
    assert list(ledger()) == sorted(ledger())
    assert len(PRESENT) >= 450 and MISSING


def test_present_names_are_here_and_aliases_are_the_same():
    for row in PRESENT:
        value = here(row.name)
        for alias in row.aliases:
            assert here(alias) is value, alias


def test_places_are_true():
    """`where` is the module that the face imports from; run `python -m tests.ledger` if not."""
    for name, where in SHOWN.items():
        if name not in OURS:
            assert EVERY[f"tf.{name}"].where == where, name
    for row in PRESENT:
        above = row.where.partition(".")[0]
        if above not in {*NOT_LISTED, *(face.partition(".")[0] for face in faces())}:
            importlib.import_module(f"tape_compat._src.{row.where}")


def test_no_face_shows_what_tensorflow_lacks():
    assert {name for name in SHOWN if f"tf.{name}" not in EVERY} == OURS


def test_the_top_level_shows_namespaces_of_tensorflow_and_engine():
    assert OURS <= set(SHOWN)
    assert tape_compat.as_op is tape_compat.engine.as_op
    assert tape_compat.counters is tape_compat.engine.counters


def test_missing_names_raise_their_reason():
    for row in MISSING:
        for name in (row.name, *row.aliases):
            why = reason(name)
            assert len(why) > 10, name
            assert not _is_here(name)
            space, _, last = name.rpartition(".")
            if space == "tf" or (space in EVERY and space[3:] in faces()):
                face = module(space[3:])
                assert not hasattr(face, last)
                with pytest.raises(AttributeError) as raised:
                    getattr(face, last)
                assert str(raised.value) == (
                    f"module '{face.__name__}' has no attribute '{last}': {name} {why}"
                )
                assert raised.value.name == last


def test_reasons():
    with pytest.raises(AttributeError, match=r"^module 'tape_compat' has no attribute 'lite': tf"):
        tape_compat.lite.experimental
    with pytest.raises(AttributeError, match=r"has no attribute 'exq'$"):
        tape_compat.math.exq
    with pytest.raises(ImportError, match="cannot import name 'lite' from 'tape_compat'"):
        exec("from tape_compat import lite")
    assert reason("tf.lite.Interpreter") == reason("tf.lite") != ""


def test_everything_by_star():
    space = {}
    exec("from tape_compat import *", space)
    assert space["math"] is tape_compat.math and space["exp"] is tape_compat.exp


def test_errors_are_named_as_users_import_them():
    for name in tape_compat.errors.__all__:
        value = getattr(tape_compat.errors, name)
        if isinstance(value, type):
            assert value.__module__ == "tape_compat.errors"
            assert pickle.loads(pickle.dumps(value)) is value


def test_the_ledger_can_be_read_again():
    assert read() == ledger()


def fresh(code):
    """What a new process prints as JSON."""
    command = [sys.executable, "-c", f"import json, sys\n{code}"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def test_import_brings_little():
    """Beyond JAX and malt: the engine and the ops at the top level. Nothing of JAX's but its
    special functions, and no namespace before its first use."""
    loaded = fresh(
        "import jax, jax.numpy, numpy, importlib.util, malt, malt.impl.api\n"
        "before = set(sys.modules)\n"
        "import tape_compat\n"
        "after = set(sys.modules)\n"
        "tape_compat.math, tape_compat.optimizers\n"
        "print(json.dumps([sorted(after - before), sorted(set(sys.modules) - after)]))"
    )
    first, then = loaded
    own = {name for name in first if name.partition(".")[0] == "tape_compat"}
    assert {name for name in own if "._src" not in name} == {"tape_compat"}
    assert len(own) <= 246
    allowed = {"jax.scipy.special", "threadpoolctl"}
    assert not {n for n in first if n not in own | allowed and not n.startswith("jax._src.")}
    assert {"tape_compat.math", "tape_compat.optimizers"} <= set(then)


def test_import_does_not_read_the_ledger():
    assert (
        fresh(
            "import tape_compat.keras, tape_compat.math\n"
            "from tape_compat._src.interop import names\n"
            "print(json.dumps(names.ledger.cache_info().currsize))"
        )
        == 0
    )
    assert names.ledger.cache_info().currsize == 1
