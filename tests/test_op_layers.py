"""Ops on what stands for tensors in functional models of Keras 2: layers, and their names."""

import tape_compat as tf
from tape_compat._src.standin.op_layers import called, shown_by
from tape_compat._src.standin.runtime import getitem
from tests.test_standin import printed

#: What `as_layers` asks of Keras 2: layers that note what they are called with.
LAYERS = """
import tape_compat, types
tape_compat.install_as_tensorflow()
import tensorflow as tf
from tensorflow.python.util.tf_export import get_canonical_name_for_symbol, get_symbol_from_name
from tape_compat._src.core.errors import NeedsValue
from tape_compat._src.standin.op_layers import as_layers

class KerasTensor:
    dtype = tf.float32
    def __array__(self, dtype=None):
        raise TypeError("a symbol has no value")
    @classmethod
    def from_tensor(cls, tensor):
        return cls().of(tf.ones(shape=tensor).shape)
    def __init__(self, spec=None, name=None):
        self.spec = spec
    def of(self, spec):
        self.spec = spec
        return self

class RaggedKerasTensor(KerasTensor):
    pass

class TFOpLambda:
    def __init__(self, op):
        self.op = op
    def __call__(self, *args, **kwargs):
        shown = [a if isinstance(a, (int, float, list, tuple, dict)) else
                 a.dtype.name if isinstance(a, tf.Tensor) else type(a).__name__ for a in args]
        keywords = {k: type(v).__name__ for k, v in kwargs.items()}
        name = get_canonical_name_for_symbol(self.op)
        assert get_symbol_from_name(name) is not None, name
        return [type(self).__name__, name, shown, keywords]

class SlicingOpLambda(TFOpLambda):
    pass

as_layers(types.SimpleNamespace(
    keras_tensor=types.SimpleNamespace(
        KerasTensor=KerasTensor, RaggedKerasTensor=RaggedKerasTensor),
    TFOpLambda=TFOpLambda, SlicingOpLambda=SlicingOpLambda,
    _slice_to_dict=lambda x: {"start": x.start, "stop": x.stop} if isinstance(x, slice) else x,
))
x, b, r = KerasTensor(), KerasTensor(), RaggedKerasTensor()
b.dtype = tf.bool
"""


def test_operators_are_layers_by_the_names_of_tensorflow():
    found = printed(
        LAYERS
        + """
c, v = tf.constant([1.0, 2.0]), tf.Variable(3.0)
print(json.dumps([x + 2.0, 2 - x, x // x, x < 1.0, x == x, -x, b & b, x & 1, ~b, 1.0 / x, r + r,
                  x[:, 1:3], r[0], c + x, c @ x, c < x, c == x, v * x]))
"""
    )
    assert [line[1] for line in found] == [
        *("__operators__.add", "math.subtract", "compat.v1.floor_div", "math.less"),
        *("__operators__.eq", "math.negative", "math.logical_and", "bitwise.bitwise_and"),
        *("math.logical_not", "math.truediv", "__operators__.add", "__operators__.getitem"),
        *("__operators__.ragged_getitem", "__operators__.add", "linalg.matmul", "math.less"),
        *("__operators__.eq", "math.multiply"),
    ]
    assert found[0] == [
        "TFOpLambda",
        "__operators__.add",
        ["KerasTensor", 2.0],
        {"name": "NoneType"},
    ]
    assert found[1][2] == ["float32", "KerasTensor"]
    assert found[3][2:] == [["KerasTensor"], {"y": "float", "name": "NoneType"}]
    assert found[11] == [
        "SlicingOpLambda",
        "__operators__.getitem",
        ["KerasTensor", [{"start": None, "stop": None}, {"start": 1, "stop": 3}]],
        {},
    ]
    assert found[13][2] == found[17][2] == ["float32", "KerasTensor"]


def test_functions_are_layers_by_their_names():
    assert printed(
        LAYERS
        + """
tape_compat.optimizers = tape_compat.initializers = None  # Keras has others
layers = [tf.nn.relu(x), tf.add(x, 1), tf.divide(x, 2), tf.concat([x, x], 0), tf.reduce_sum(x),
          tf.boolean_mask(x, b), tf.image.resize(x, [2, 2])]
print(json.dumps([layer[:2] for layer in layers]))
"""
    ) == [
        ["TFOpLambda", "nn.relu"],
        ["TFOpLambda", "math.add"],
        ["TFOpLambda", "math.truediv"],
        ["TFOpLambda", "concat"],
        ["TFOpLambda", "math.reduce_sum"],
        ["SlicingOpLambda", "boolean_mask"],
        ["TFOpLambda", "image.resize"],
    ]


def test_symbols_are_refused_and_stand_for_no_shape_of_values():
    assert printed(
        LAYERS
        + """
try:
    tf.cond(x, lambda: 1, lambda: 2)
except TypeError as error:
    said = str(error)
with tf.Graph().as_default():
    numbers = tf.compat.v1.placeholder(tf.int32, [None])
    shape = tf.shape(tf.compat.v1.placeholder(tf.string, [None, 2]))
    found = [KerasTensor.from_tensor(n).spec for n in (shape, numbers)]
print(json.dumps([said, found[0].as_list(), str(found[1])]))
"""
    ) == [
        "a symbol has no value",
        [None, 2],
        "TensorSpec(shape=(None,), dtype=tf.int32, name=None)",
    ]


def test_names_of_functions():
    assert shown_by(tf.nn.relu) == "nn.relu" and shown_by(tf.add) == "math.add"
    assert shown_by(tf.RaggedTensor) == "RaggedTensor" and shown_by(len) is None
    assert called("keras.layers.Dense") is None and called("nn.nothing") is None


def test_slices_may_be_in_a_list():
    x = tf.constant([[1, 2], [3, 4]])
    assert getitem(x, [slice(None), 0]).numpy().tolist() == [1, 3]
