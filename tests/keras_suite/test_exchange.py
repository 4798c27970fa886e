"""Files of Keras models: those that were saved on TensorFlow are loaded, and ours are like them.

`exchange.zip` holds the files and what TensorFlow made of the models. That TensorFlow loads ours is
tested in `tests/parity/test_keras_files.py`.
"""

import json
import zipfile
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from tests.processes import run

HERE = Path(__file__).parent
MODELS = ("functional", "recurrent", "subclassed", "mixed")
pytestmark = pytest.mark.skipif(find_spec("keras") is None, reason="Keras is not installed")


def said(actions, on_tensorflow=False):
    """What `exchange.py` prints, run on us or on TensorFlow, line by line."""
    ours = [] if on_tensorflow else ["-m", "tape_compat", "run"]
    after = "" if on_tensorflow else "keras"
    done = run(*ours, HERE / "exchange.py", *actions, after=after, KERAS_BACKEND="tensorflow")
    return [json.loads(line) for line in done.stdout.splitlines()]


def relative(model, exact=False):
    """How near numbers are: of float16 not so near, unless they were only read."""
    return 2e-3 if model == "mixed" and not exact else 1e-5


def assert_same(found, expected, read=True):
    """The same predictions, optimizer states, and losses and predictions after training on. read:
    whether the states were read from a file, not made by training."""
    assert found.keys() == expected.keys()
    for model, parts in expected.items():
        assert found[model].keys() == parts.keys()
        for part, arrays in parts.items():
            ours = found[model][part]
            assert list(map(len, ours)) == list(map(len, arrays)), (model, part)
            near = relative(model, read and part.endswith("optimizer"))
            for one, other in zip(ours, arrays):
                np.testing.assert_allclose(one, other, near, 2e-6, err_msg=f"{model} {part}")


def arrays_in(file):
    """The arrays of an HDF5 file by their paths."""
    h5py = pytest.importorskip("h5py")
    found = {}
    with h5py.File(file) as opened:
        opened.visititems(
            lambda name, x: found.update({name: x[()]}) if isinstance(x, h5py.Dataset) else None
        )
    return found


def test_files_of_tensorflow_are_loaded_and_ours_are_like_them(tmp_path):
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    with zipfile.ZipFile(HERE / "exchange.zip") as archive:
        archive.extractall(theirs)
    ours.mkdir()
    expected = json.loads((theirs / "outcomes.json").read_text())
    loaded, saved = said(["load", str(theirs), "save", str(ours)])
    assert_same(loaded, expected)
    assert_same(saved, expected, read=False)
    for model in MODELS:
        one, other = (zipfile.ZipFile(folder / f"{model}.keras") for folder in (ours, theirs))
        assert set(one.namelist()) == set(other.namelist())
        pairs = [[BytesIO(file.read("model.weights.h5")) for file in (one, other)]]
        pairs.append([folder / f"{model}.weights.h5" for folder in (ours, theirs)])
        near = relative(model)
        for pair in pairs:
            a, b = map(arrays_in, pair)
            assert a.keys() == b.keys()
            for name, value in b.items():
                assert a[name].dtype == value.dtype
                np.testing.assert_allclose(a[name], value, near, 2e-6, err_msg=f"{model} {name}")
