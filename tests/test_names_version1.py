"""`tf.compat.v1`: the names that are those of `tf`, by the table `_src/interop/version1.tsv`."""

import importlib
import json
from types import ModuleType
from typing import Any

import pytest

import tape_compat
from tape_compat._src.interop import names, version1
from tests import ledger
from tests.processes import run

V1: Any = tape_compat.compat.v1
LISTED = [
    (space, name, place)
    for space, found in version1.table().items()
    for name, place in found.items()
    if name != "*"
]


def module(space):
    return importlib.import_module(f"tape_compat.compat.v1.{space}".rstrip("."))


def test_names_are_those_of_tf():
    for space, name, place in LISTED:
        assert getattr(module(space), name) is ledger.here(f"tf.{place}"), (space, name)
        assert name in dir(module(space)) and name in module(space).__all__
    assert len(LISTED) > 700
    for space, found in version1.table().items():
        if "*" in found:
            theirs = importlib.import_module(f"tape_compat.{space}")
            for name in theirs.__all__:
                value = getattr(theirs, name)
                assert getattr(module(space), name) is value or name in dir(module(space))


def test_no_name_is_written_down_twice():
    """What a file imports comes before the table, and would hide it."""
    for space, name, _ in LISTED:
        assert name not in vars(module(space)), (space, name)


def test_namespaces_are_modules():
    assert V1.types.experimental.TensorLike is tape_compat.types.experimental.TensorLike
    assert V1.math.special is module("math.special") and V1.io.gfile is module("io.gfile")
    assert V1.math.special.dawsn is tape_compat.math.special.dawsn
    assert {"math", "linalg", "cholesky", "losses", "types", "compat"} <= set(dir(V1))
    assert V1.compat.as_text is tape_compat.compat.as_text
    space = {}
    exec("from tape_compat.compat.v1 import *\nfrom tape_compat.compat.v1.linalg import *", space)
    assert space["cholesky"] is tape_compat.linalg.cholesky is V1.cholesky
    assert space["det"] is tape_compat.linalg.det and space["math"] is V1.math


def test_they_are_imported_as_tensorflow():
    found = run(
        "-c",
        """
import tape_compat, json
tape_compat.install_as_tensorflow()
import tensorflow.compat.v1 as tf
import tensorflow.compat.v1.linalg as linalg
from tensorflow.compat.v1.math import special
from tensorflow.compat.v1 import gfile, losses
print(json.dumps([
    tf.linalg is linalg, tf.math.special is special, gfile.GFile is tf.gfile.GFile,
    linalg.det is tf.matrix_determinant, tf.losses is losses,
]))
""",
        after="tape_compat",
    )
    assert json.loads(found.stdout) == [True] * 5


def test_private_modules_lead_to_them():
    found = run(
        "-c",
        """
import tape_compat, json
tape_compat.install_as_tensorflow()
from tensorflow.python.ops.losses import losses_impl
from tensorflow.python.ops.losses.losses import Reduction
from tensorflow.python.ops.template import make_template
from tensorflow.python.training import adam, optimizer, training_util
from tensorflow.python.training.learning_rate_decay import exponential_decay
import tensorflow.compat.v1 as tf
print(json.dumps([
    adam.AdamOptimizer is tf.train.AdamOptimizer, optimizer.Optimizer is tf.train.Optimizer,
    training_util.get_or_create_global_step is tf.train.get_or_create_global_step,
    losses_impl.Reduction is Reduction is tf.losses.Reduction,
    make_template is tf.make_template, exponential_decay is tf.train.exponential_decay,
]))
""",
        after="tape_compat",
    )
    assert json.loads(found.stdout) == [True] * 6


def test_missing_names_say_why():
    for name in ("sysconfig", "lite"):
        why = names.reason(f"tf.compat.v1.{name}")
        assert why
        with pytest.raises(AttributeError, match=f"tf.compat.v1.{name} "):
            getattr(V1, name)
    with pytest.raises(AttributeError, match=r"has no attribute 'exq'$"):
        V1.exq
    with pytest.raises(AttributeError, match=r"has no attribute 'exq'$"):
        V1.linalg.exq


MISSING = [
    row.name
    for row in names.ledger().values()
    if row.name.startswith("tf.compat.v1.") and not row.where
]


def test_missing_names_raise_their_reason():
    assert MISSING
    for name in MISSING:
        why = names.reason(name)
        space, _, last = name.removeprefix("tf.compat.v1.").rpartition(".")
        assert len(why) > 10, name
        with pytest.raises(LookupError):
            ledger.here(name)
        try:
            face = module(space)
        except ImportError:  # what it is in is missing too
            continue
        if isinstance(face, ModuleType):
            with pytest.raises(AttributeError) as raised:
                getattr(face, last)
            assert str(raised.value).endswith(f"has no attribute '{last}': {name} {why}")
