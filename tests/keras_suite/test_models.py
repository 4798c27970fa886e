"""Keras models on us: the numbers of TensorFlow.

`models.py` trains some by a loop, a decorated loop and `fit`, `guides.py` does what Keras' guides
do, `seeded.py` trains some from a seed. `models.json` and its kind are what they print on the real
TensorFlow.
"""

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from tests.processes import run

HERE = Path(__file__).parent
pytestmark = pytest.mark.skipif(find_spec("keras") is None, reason="Keras is not installed")


@pytest.mark.parametrize("program", ["models", "guides", "seeded"])
def test_numbers_are_those_of_tensorflow(program):
    # one of them imports `tensorflow`, then Keras, in a new process, as users have it
    after = "keras" if program == "models" else ""
    command = ["-m", "tape_compat", "run", HERE / f"{program}.py"]
    done = run(*command, after=after, KERAS_BACKEND="tensorflow")
    assert "cannot be recorded" not in done.stderr
    found = json.loads(done.stdout)
    expected = json.loads((HERE / f"{program}.json").read_text())
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-3, atol=1e-5, err_msg=name)


def test_logs_are_read_beside_the_next_step():
    program = """
import threading
import tape_compat as tf
import keras
import numpy as np
from keras.src.utils import python_utils
threads = []
plain = python_utils.pythonify_logs
def noted(logs):
    if logs:
        threads.append(threading.current_thread() is threading.main_thread())
    return plain(logs)
python_utils.pythonify_logs = noted
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
x = np.ones((64, 3), "float32")
model.fit(x, x[:, :1], batch_size=8, verbose=0)
assert threads.count(False) == 8, threads  # of the batches
class Stops(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        self.model.stop_training = batch == 2
        self.last = batch, logs["loss"]
stops = Stops()
model.fit(x, x[:, :1], batch_size=8, verbose=0, callbacks=[stops])
assert stops.last[0] == 2 and stops.last[1] >= 0
"""
    run("-c", "import tape_compat; tape_compat.install_as_tensorflow()" + program, after="keras")


def test_a_step_that_finds_no_element_changes_nothing():
    program = """
import tape_compat as tf
import keras
import numpy as np
dropout = keras.layers.Dropout(0.5, seed=1)
model = keras.Sequential([keras.Input((3,)), dropout, keras.layers.Dense(1)])
model.compile("sgd", "mse")
element = np.ones((2, 3), "float32"), np.ones((2, 1), "float32")
specs = tf.TensorSpec((None, 3)), tf.TensorSpec((None, 1))
dataset = tf.data.Dataset.from_generator(lambda: iter([element] * 5), output_signature=specs)
model.fit(dataset, epochs=2, verbose=0)
assert int(model.optimizer.iterations) == 10  # with TensorFlow 12
assert np.asarray(dropout.seed_generator.state)[1] == 10  # so here
"""
    run("-c", "import tape_compat; tape_compat.install_as_tensorflow()" + program, after="keras")
