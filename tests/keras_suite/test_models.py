"""Keras models on us: the numbers of TensorFlow.

`models.py` trains some by a loop, a decorated loop and `fit`, `guides.py` does what Keras' guides
do. `models.json` and `guides.json` are what they print on the real TensorFlow.
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


@pytest.mark.parametrize("program", ["models", "guides"])
def test_numbers_are_those_of_tensorflow(program):
    command = [sys.executable, "-m", "tape_compat", "run", str(HERE / f"{program}.py")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "KERAS_BACKEND": "tensorflow"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "cannot be recorded" not in done.stderr
    found = json.loads(done.stdout)
    expected = json.loads((HERE / f"{program}.json").read_text())
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-3, atol=1e-5, err_msg=name)
