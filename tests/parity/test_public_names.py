"""The names that the faces show, and the ledger's, are TensorFlow's."""

import inspect
from types import ModuleType

import pytest

import tape_compat
from tape_compat._src.interop import names
from tests import ledger
from tests.ledger import OURS, faces, module
from tests.oracle import tensorflow
from tests.parity import store

pytestmark = pytest.mark.skipif(
    not store.installed(), reason="tensorflow, the oracle, is not installed (extra `parity`)"
)


def value_of(tf, name):
    """The object of the name 'tf.math.exp'."""
    for part in name.split(".")[1:]:
        tf = getattr(tf, part)
    return tf


def test_tensorflow_has_every_name():
    for face in faces():
        if face == "engine":
            continue
        space = value_of(tensorflow(), f"tf.{face}".rstrip("."))
        ours = {name for name in module(face).__all__ if face or name not in OURS}
        assert not [name for name in ours if not hasattr(space, name)], face
    for row in names.ledger().values():
        if row.where:
            for name in (row.name, *row.aliases):
                value_of(tensorflow(), name)


#: Whose parameters stand otherwise, or have other names, on purpose.
OTHER_PARAMETERS = {
    "tf.graph_util.import_graph_def": "`op_dict` has had no effect since TensorFlow 1",
    "tf.tensor_scatter_nd_update": "has a policy for indices, as its like",
}


def parameters(function):
    """The names of those that a call may give by position; None if it says nothing of them."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in found):
        return None
    return [p.name for p in found if p.kind is p.POSITIONAL_OR_KEYWORD]


def test_parameters_have_the_names_and_places_of_tensorflow():
    wrong, compared = {}, 0
    for row in names.ledger().values():
        if not row.where or row.name in OTHER_PARAMETERS:
            continue
        ours, theirs = value_of(tape_compat, row.name), value_of(tensorflow(), row.name)
        if isinstance(theirs, type) or isinstance(ours, type) or not callable(theirs):
            continue
        found, expected = parameters(ours), parameters(theirs)
        if found is not None and expected is not None:
            compared += 1
            if found[: len(expected)] != expected:
                wrong[row.name] = (found, expected)
    assert not wrong
    assert compared > 1000
    for name in OTHER_PARAMETERS:
        found, expected = [parameters(value_of(tf, name)) for tf in (tape_compat, tensorflow())]
        assert found[: len(expected)] != expected, name


def test_the_table_of_version_1_is_that_of_tensorflow(tmp_path, monkeypatch):
    """Run `python -m tests.ledger` if not."""
    before = ledger.VERSION1.read_text()
    monkeypatch.setattr(ledger, "VERSION1", tmp_path / "version1.tsv")
    ledger.write_version1(ledger.version1_names(tensorflow()))
    assert ledger.VERSION1.read_text() == before


def test_every_name_of_version_1_is_here_or_has_a_reason():
    """Run `python -m tests.ledger` if not."""
    missing = ledger.missing_version1(tensorflow())
    assert not [name for name in missing if not names.reason(name)]


def test_no_module_of_version_1_shows_what_tensorflow_lacks():
    checked = 0
    for space, found in ledger.walked(tensorflow().compat.v1).items():
        name = ".".join(filter(None, ("compat.v1", space)))
        if space == "raw_ops" or not _is_module(name):
            continue
        shown = {each for each in module(name).__all__ if not _is_module(f"{name}.{each}")}
        assert not shown - set(found), space
        checked += 1
    assert checked > 50


def _is_module(name):
    """Whether there is a module of this name below `tape_compat`."""
    try:
        return isinstance(value_of(tape_compat, f"tf.{name}"), ModuleType)
    except AttributeError:
        return False
