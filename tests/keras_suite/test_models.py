"""Keras models trained by a loop, a decorated loop and `fit`: the numbers of TensorFlow.

`models.json` is what `python tests/keras_suite/models.py` prints on the real TensorFlow.
"""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
pytestmark = pytest.mark.skipif(find_spec("keras") is None, reason="Keras is not installed")


def test_models_train_as_on_tensorflow():
    command = [sys.executable, "-m", "tape_compat", "run", str(HERE / "models.py")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "KERAS_BACKEND": "tensorflow"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    expected = json.loads((HERE / "models.json").read_text())
    assert found.keys() == expected.keys() and len(found) == 15
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-3, atol=1e-5, err_msg=name)
