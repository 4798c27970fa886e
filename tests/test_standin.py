"""tape_compat in the place of TensorFlow: each in a process of its own, as users have it."""

import json
import re
import subprocess
import sys
import unittest
from importlib.util import find_spec

import pytest

import tape_compat as tf
from tape_compat._src.standin import testing
from tape_compat._src.standin.framework import smart_constant_value, try_evaluate_constant
from tape_compat._src.standin.runtime import smart_cond
from tests.processes import ROOT, run

needs_keras = pytest.mark.skipif(find_spec("keras") is None, reason="Keras is not installed")


def said(*arguments, **options):
    """What a program prints; its errors too where it may fail."""
    done = run(*arguments, **{"after": "tape_compat", **options})
    return done.stdout if options.get("check", True) else done.stdout + done.stderr


def printed(code, **options):
    return json.loads(said("-c", f"import json\n{code}", **options))


def test_imports_are_ours():
    assert printed(
        """
import tape_compat, importlib.util
tape_compat.install_as_tensorflow()
tape_compat.install_as_tensorflow()
import tensorflow as tf
import tensorflow.compat.v1 as v1
import tensorflow.compat.v2 as v2, tensorflow.compat.v2.nn
from tensorflow.compat.v2 import constant
from tensorflow import nn
from tensorflow.math import special
from tensorflow.python.eager import context
from tensorflow.python.trackable.data_structures import ListWrapper, NoDependency, _DictWrapper
from tensorflow.__internal__ import tracking
print(json.dumps([
    tf.square is tape_compat.square, nn is tape_compat.nn, v1 is tape_compat.compat.v1,
    v2.nn is nn and constant is v2.constant is tf.constant,
    v1.__version__ == v2.__version__ == tf.__version__ == v2.compat.v1.__version__,
    tf.__git_version__ == tf.version.GIT_VERSION != "",
    special is tape_compat.math.special, context.context().executing_eagerly(),
    isinstance(tf.constant(1.0), tf.__internal__.types.Tensor), tf.__version__,
    importlib.util.find_spec("tensorflow").name, tf.__spec__.name, tf.__path__,
    tape_compat.nn.__spec__.name, tf.nn.__name__, "GradientTape" in dir(tf),
    type(tf.Module).__name__, tape_compat.__name__, tf.__file__ == tape_compat.__file__,
]))
"""
    ) == [True] * 9 + ["2.21.0", "tensorflow", "tensorflow", []] + [
        "tape_compat.nn",
        "tape_compat.nn",
        True,
        "type",
        "tape_compat",
        True,
    ]


def test_missing_names_are_named():
    found = printed(
        """
import tape_compat
tape_compat.install_as_tensorflow()
found = []
for line in (
    "import tensorflow.python.foo",
    "import tensorflow.mlir",
    "from tensorflow.python.eager import nothing",
    "import tensorflow; tensorflow.mlir",
    "import tensorflow; tensorflow.python.eager.nothing",
    "import tensorflow; tensorflow.sqare",
):
    try:
        exec(line)
    except (ImportError, AttributeError) as error:
        found.append([type(error).__name__, str(error)])
print(json.dumps(found))
"""
    )
    kinds, texts = zip(*found)
    assert kinds == ("ModuleNotFoundError",) * 2 + ("ImportError",) + ("AttributeError",) * 3
    assert "No module named 'tensorflow.python.foo': tape_compat stands in" in texts[0]
    assert "tensorflow.mlir" in texts[1] and "runtime" in texts[1]
    assert "'nothing' from 'tensorflow.python.eager'" in texts[2]
    assert "'tensorflow.python.eager' has no attribute 'nothing'" in texts[4]
    assert "sqare" in texts[5]


def test_modules_of_ops_by_their_definitions():
    """`gen_math_ops` has kernels by their names in Python; what it has not, by the public name."""
    assert printed(
        """
import tape_compat
tape_compat.install_as_tensorflow()
from tensorflow.python.framework import common_shapes
from tensorflow.python.ops import gen_array_ops, gen_math_ops, gen_nn_ops, gen_training_ops
shape, v = tape_compat.TensorShape([2, 1]), tape_compat.Variable([3.0, 4.0])
gen_training_ops.resource_apply_gradient_descent(v.handle, 0.5, [2.0, 4.0])
def said(call):
    try:
        return call()
    except TypeError as error:
        return str(error)
print(json.dumps([
    gen_math_ops.mat_mul([[3.0]], [[2.0]], False, transpose_b=True).numpy().tolist(),
    gen_math_ops._sum([[1.0, 2.0]], [1], keep_dims=True).numpy().tolist(),
    gen_nn_ops.relu_grad([1.0, 2.0], [0.0, 1.0]).numpy().tolist(),
    gen_array_ops.unique_v2([3, 3], [0]).idx.numpy().tolist(),
    gen_math_ops.reduce_sum is tape_compat.reduce_sum,
    v.numpy().tolist(),
    common_shapes.broadcast_shape(shape, tape_compat.TensorShape([3])).as_list(),
    said(lambda: gen_math_ops.mat_mul([[1.0]])),
    said(lambda: gen_math_ops.mat_mul(1, 2, a=3)),
]))
"""
    ) == [
        *([[6.0]], [[3.0]], [0.0, 2.0], [0, 0], True, [2.0, 2.0], [2, 3]),
        "mat_mul() missing 1 required positional argument: 'b'",
        "mat_mul() got multiple values for argument 'a'",
    ]


def test_decorators_of_tests_for_graphs():
    @testing.run_deprecated_v1
    class Tests:
        def test_mode(self, x=2.0):
            return tf.executing_eagerly(), x

    assert Tests().test_mode(x=3.0) == (False, 3.0)
    assert tf.executing_eagerly()
    with pytest.raises(unittest.SkipTest, match="of old"):
        testing.run_v1_only("of old")(lambda: None)()


def test_conditions_on_sizes_are_decided_at_once():
    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def classes(x):
        def of_one():
            return tf.squeeze(x, -1)  # which is not possible

        return smart_cond(tf.shape(x)[-1] > 1, lambda: tf.argmax(x, -1), of_one)

    assert classes(tf.constant([[0.0, 2.0, 1.0]])).numpy().tolist() == [1]
    assert smart_cond(True, lambda: 1, lambda: 2) == 1
    chosen = tf.function(lambda x: smart_cond(x > 0.0, lambda: x, lambda: -x))
    assert [chosen(tf.constant(x)).numpy() for x in (-2.0, 3.0)] == [2.0, 3.0]


def test_it_does_not_come_after_the_real_one():
    found = said(
        "-c",
        "import sys, types; sys.modules['tensorflow'] = types.ModuleType('tensorflow')\n"
        "import tape_compat; tape_compat.install_as_tensorflow()",
        check=False,
    )
    assert "RuntimeError: The real TensorFlow has been imported already" in found


def test_nothing_is_shadowed_before_it_is_asked_for():
    assert (
        printed(
            "import sys, tape_compat as tf; tf.ones(2); tf.optimizers\n"
            "print(json.dumps([n for n in sys.modules if n.startswith(('tensorflow', 'keras'))]))"
        )
        == []
    )


def test_the_real_one_stays_where_it_is_not_asked_for(tmp_path):
    (tmp_path / "tensorflow.py").write_text("mine = True\n")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import tape_compat.keras, tensorflow; assert tensorflow.mine\n"
        "tape_compat.keras.optimizers.Adam\n"
        "try: tape_compat.keras.layers\n"
        "except AttributeError as error: print(error)"
    )
    assert "The real TensorFlow has been imported already" in said("-c", code, str(tmp_path))


def test_run_a_script_and_a_module(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(
        "import sys, tensorflow as tf\n"
        "print(tf.square.__module__.split('.')[0], __name__, sys.argv[1:], sys.path[0])\n"
    )
    expected = f"tape_compat __main__ ['--flag', '2'] {tmp_path}\n"
    assert said("-m", "tape_compat", "run", str(script), "--flag", "2", after="") == expected
    found = said("-m", "tape_compat", "run", "-m", "program", "--flag", "2", cwd=tmp_path)
    assert found.startswith("tape_compat __main__ ['--flag', '2']")
    (tmp_path / "tensorflow.py").write_text("def square(x): pass\n")
    found = said("-m", "tape_compat", "run", str(script), TAPE_COMPAT_AS_TENSORFLOW="0")
    assert found.startswith("tensorflow __main__ []")
    assert "usage: python -m tape_compat" in said("-m", "tape_compat", check=False)


def test_run_what_a_pipe_gives():
    program = b"""
import sys, tensorflow as tf
@tf.function
def half(x):
    while x > 10:
        x = x // 2
    return x
print(__name__, half(tf.constant(90)).numpy(), sys.argv[1:])
"""
    command = [sys.executable, "-m", "tape_compat", "run", "/dev/stdin", "2"]
    done = subprocess.run(command, input=program, stdout=subprocess.PIPE, check=True, timeout=300)
    assert done.stdout == b"__main__ 5 ['2']\n"


# ---------------------------------------------------------------------------------------------
# Keras.


def test_without_keras_the_optimizers_are_ours():
    found = printed(
        """
import sys
sys.modules["keras"] = None
import importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *a: None if name == "keras" else real(name, *a)
del sys.modules["keras"]
import tape_compat as tf
found = [tf.keras.optimizers.Adam.__module__, tf.keras.Optimizer is tf.optimizers.Optimizer]
for line in ("tf.keras.layers", "tf.losses.Huber", "from tape_compat.keras import Model"):
    try:
        exec(line)
    except (AttributeError, ImportError) as error:
        found.append([type(error).__name__, str(error)])
print(json.dumps(found))
"""
    )
    assert found[0].startswith("tape_compat.") and found[1]
    kinds, texts = zip(*found[2:])
    assert kinds == ("AttributeError", "AttributeError", "ImportError")
    reason = "tf.keras is Keras 3, which is not installed: pip install 'tape_compat[keras]'"
    assert all(text.endswith(reason) for text in texts)


def test_private_classes_that_libraries_name():
    assert printed(
        """
import tape_compat
tape_compat.install_as_tensorflow()
import tensorflow as tf
from tensorflow.python.data.ops.iterator_ops import OwnedIterator
from tensorflow.python.util.object_identity import Reference
own = isinstance(iter(tf.data.Dataset.range(2)), OwnedIterator)
print(json.dumps([own, isinstance(tf.constant(1).ref(), Reference)]))
"""
    ) == [True, True]


def test_classes_are_known_by_their_modules():
    """Libraries for several frameworks ask for the module of a class, and pickles name it."""
    assert printed(
        """
import pickle
import tape_compat as tf
tf.install_as_tensorflow()
values = [tf.constant([1.0]), tf.Variable([2.0])]
kinds = [f"{type(x).__module__}.{type(x).__name__}" for x in values]
again = [pickle.loads(pickle.dumps(type(x))) is type(x) for x in values]
print(json.dumps([kinds, again, pickle.loads(pickle.dumps(values[0])).numpy().tolist()]))
"""
    ) == [
        [
            "tensorflow.python.framework.ops.Tensor",
            "tensorflow.python.ops.resource_variable_ops.ResourceVariable",
        ],
        [True, True],
        [1.0],
    ]


def test_what_is_eager_and_what_a_tape_tracks():
    assert printed(
        """
import tape_compat as tf
tf.install_as_tensorflow()
from tensorflow.python.eager.record import should_record_backprop
from tensorflow.python.framework.ops import EagerTensor
x, v = tf.constant(2.0), tf.Variable(1.0)
eager = [isinstance(x, EagerTensor), isinstance(v, EagerTensor), issubclass(type(x), EagerTensor)]
tf.function(lambda y: eager.append(isinstance(y, EagerTensor)))(x)
read = tf.convert_to_tensor
tracked = [should_record_backprop([x])]
with tf.GradientTape() as tape:
    tape.watch(x)
    for y in (x, x * 2.0, read(v), tf.stop_gradient(x), tf.cast(x, tf.int32), tf.constant(1.0)):
        tracked.append(should_record_backprop([y]))
print(json.dumps([eager, tracked]))
"""
    ) == [[True, False, True, False], [False, True, True, True, False, False, False]]


@needs_keras
def test_loading_keras_leaves_the_seed_of_python_as_it_is():
    assert printed(
        """
import random
import tape_compat as tf
random.seed(3)
tf.keras.layers
first = random.random()
random.seed(3)
print(json.dumps(first == random.random()))
"""
    )


@needs_keras
def test_another_backend_is_refused():
    for code, after in (
        ("import tape_compat as tf; tf.keras.layers", "tape_compat"),
        ("import keras, tape_compat as tf; tf.keras.layers", ""),
    ):
        found = said("-c", code, check=False, after=after, KERAS_BACKEND="jax")
        assert "AttributeError" in found and "'jax'" in found and "KERAS_BACKEND" in found


@needs_keras
def test_a_model_under_a_tape():
    """Names of Keras, masks on tensors, gradients of and by Keras' variables, and `fit`."""
    found = printed(
        """
import tape_compat as tf
from tape_compat.keras import layers
import tape_compat.keras.layers as same
import tensorflow.keras.layers as also
from tensorflow.keras.saving import load_model
import keras, numpy as np
model = tf.keras.Sequential([tf.keras.Input((3,)), layers.Dense(2, use_bias=False)])
(w,) = model.trainable_variables
x = tf.constant([[1.0, 2.0, 3.0]])
with tf.GradientTape(persistent=True) as tape:
    y = tf.reduce_sum(model(x))
    squares = tf.reduce_sum(w * w)
by_kernel = tape.gradient(y, w)
version1 = tf.compat.v1.keras
found = [layers is same is also is version1.layers and load_model is keras.saving.load_model]
found[0] &= tf.keras.__version__ == version1.__version__ == keras.__version__
found += [by_kernel.numpy().tolist(), tf.is_tensor(w)]
found.append(bool(np.allclose(tape.gradient(squares, [w])[0], 2 * w.numpy())))
found.append(tape.jacobian(model(x), w) is None)  # nothing of it was recorded
with tf.GradientTape(watch_accessed_variables=False) as tape:
    tape.watch(w)
    y = model(x)
found.append(tape.jacobian(y, w).shape.as_list())
model.compile(tf.keras.optimizers.SGD(0.0), "mse")
history = model.fit(np.ones((10, 3)), np.zeros((10, 2)), batch_size=4, epochs=2, verbose=0)
loss = history.history["loss"]
found.append(bool(np.isclose(loss[0], loss[1], rtol=1e-5)))
found.append([tf.optimizers.SGD.__module__, tf.losses.MeanSquaredError.__module__])
found.append([tf.metrics.Mean.__module__, tf.initializers.Zeros.__module__])
found.append(layers.Embedding(4, 2, mask_zero=True)(tf.constant([[1, 0]]))._keras_mask.numpy()
             .tolist())
print(json.dumps(found))
""",
        after="",
        KERAS_BACKEND="tensorflow",
    )
    assert found[:7] == [
        True,
        [[1.0] * 2, [2.0] * 2, [3.0] * 2],
        True,
        True,
        True,
        [1, 2, 3, 2],
        True,
    ]
    modules = [name.partition(".")[0] for pair in found[7:9] for name in pair]
    assert modules == ["keras"] * 4 and found[9] == [[True, False]]


@pytest.mark.part
@needs_keras
def test_the_page_about_keras():
    """Each block of Python in it runs, in a process of its own."""
    page = (ROOT / "docs" / "keras.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        run("-c", block, after="keras")


@needs_keras
def test_float_operations_of_keras_models():
    """By TensorFlow's private modules, as programs count them: the numbers are TensorFlow's."""
    found = printed(
        """
import tape_compat
tape_compat.install_as_tensorflow()
import keras, tensorflow as tf
from tensorflow.python.profiler.model_analyzer import profile
from tensorflow.python.profiler.option_builder import ProfileOptionBuilder

layers = keras.layers
images = [
    layers.Conv2D(8, 3, activation="relu"),
    layers.BatchNormalization(),
    layers.MaxPooling2D(2),
    layers.DepthwiseConv2D(3, padding="same"),
    layers.SeparableConv2D(12, 3, strides=2),
    layers.AveragePooling2D(2),
    layers.GlobalAveragePooling2D(),
    layers.Dense(5, activation="softmax"),
]
others = [layers.LayerNormalization(), layers.Activation("gelu"), layers.UpSampling1D(2)]
models = [
    keras.Sequential([keras.Input((16, 16, 3)), *images]),
    keras.Sequential([keras.Input((7, 4)), layers.LSTM(8), layers.Dense(1)]),
    keras.Sequential([keras.Input((7, 4)), *others]),
]
options = ProfileOptionBuilder(ProfileOptionBuilder.float_operation()).with_empty_output().build()
totals = []
for model in models:
    spec = tf.TensorSpec([1, *model.input_shape[1:]])
    graph = tf.function(model).get_concrete_function(spec).graph
    totals.append(profile(graph, options=options).total_float_ops)
print(json.dumps(totals))
""",
        after="keras",
    )
    assert found == [101782, 881, 393]


def test_constants_that_are_worked_out():
    found = []

    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def f(x):
        place = tf.where(tf.constant(-2) < 0, tf.rank(x) - 2, -2)
        found.append([try_evaluate_constant(v) for v in (place, place < 1, tf.shape(x)[0], x)])
        found.append([smart_constant_value(v) for v in (place < 1, tf.shape(x)[0] < 1)])
        return x

    f(tf.ones([2, 3]))
    assert found == [[0, True, None, None], [True, None]]
