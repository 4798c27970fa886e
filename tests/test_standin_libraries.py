"""What the stand-in gives libraries of TensorFlow's private modules, where no oracle is needed."""

import importlib
import types

import pytest

import tape_compat as tf
from tape_compat._src.checkpoint.tracking import AutoTrackable, NoDependency, children
from tape_compat._src.standin import adapted, keras2, table, utilities
from tape_compat._src.standin.finder import entry
from tests.processes import run
from tests.test_standin import printed, said


def test_each_place_of_the_tables_is_there():
    for path, place in table.NAMES.items():
        assert entry(place) is not None, path
    for path, modules in table.MODULES.items():
        for module in modules:
            if module.startswith(".keras."):  # `test_private_modules_of_keras`
                continue
            name = f"tape_compat{module}" if module[:1] in ("", ".") else module
            assert importlib.import_module(name), path


def test_private_modules_of_keras():
    assert (
        printed(
            """
import tape_compat
tape_compat.install_as_tensorflow()
import tensorflow as tf
from tensorflow.python import keras as private
from tensorflow.python.keras import backend, backend_config
from tensorflow.python.keras.callbacks import Callback
from tensorflow.python.keras.engine import compile_utils, data_adapter
from tensorflow.python.keras.layers import Dense, LSTM
from tensorflow.python.keras.layers.core import Dropout, TFOpLambda
from tensorflow.python.keras.models import Sequential
from tensorflow.python.keras.optimizer_v2.adam import Adam
from tensorflow.python.keras.utils.np_utils import to_categorical
found = [Callback, Dense, LSTM, Dropout, Sequential, Adam, to_categorical]
keras = tf.keras
expected = [keras.callbacks.Callback, *(getattr(keras.layers, x.__name__) for x in found[1:4])]
expected += [keras.models.Sequential, keras.optimizers.Adam, keras.utils.to_categorical]
same = [backend.is_keras_tensor is keras.backend.is_keras_tensor]
same += [data_adapter.unpack_x_y_sample_weight is keras.utils.unpack_x_y_sample_weight]
same += [data_adapter.expand_1d(3) == 3, callable(compile_utils.match_dtype_and_rank)]
same += [private.Model is keras.Model, private.layers.Dense is Dense]
same += [backend_config.epsilon() == keras.backend.epsilon(), Dropout is not TFOpLambda]
print(json.dumps([*map(lambda x, y: x is y, found, expected), *same]))
"""
        )
        == [True] * 15
    )


def test_private_modules_lead_to_public_names():
    assert (
        printed(
            """
import tape_compat
tape_compat.install_as_tensorflow()
import tensorflow as tf
from tensorflow.python.ops import array_ops, math_ops, control_flow_ops
from tensorflow.python.eager import context
from tensorflow.python.framework import dtypes, ops, tensor_shape, tensor_util
from tensorflow.python.ops import standard_ops, state_ops, variable_scope
from tensorflow.python.util import nest, tf_inspect, deprecation
from tensorflow.python.util.tf_export import keras_export, get_symbol_from_name
from tensorflow.compat.v2.experimental import dtensor
from tensorflow.python.distribute import input_ops
from tensorflow.python.layers.utils import smart_cond
from tensorflow.python.feature_column.feature_column_v2 import DenseColumn, EmbeddingColumn
from tensorflow.python.feature_column import feature_column, feature_column_v2, utils
from tensorflow.python.tpu import tensor_tracer
from tensorflow.python.saved_model import signature_constants, tag_constants
from tensorflow.core.framework import graph_pb2, node_def_pb2
from tensorflow.core.protobuf import config_pb2, saved_model_pb2
import inspect
found = [
    smart_cond(True, lambda: 1, lambda: 2) == 1, issubclass(EmbeddingColumn, DenseColumn),
    tf.compat.v2.enable_v2_behavior() is None,
    array_ops.zeros is tf.zeros, math_ops.reduce_sum is tf.reduce_sum, dtypes.float32 is tf.float32,
    array_ops.where_v2 is tf.where, ops.name_scope_v1 is tf.compat.v1.name_scope,
    nest.flatten is tf.nest.flatten, tf_inspect.Parameter is inspect.Parameter,
    tensor_shape.TensorShape is tf.TensorShape, control_flow_ops.group is tf.group,
    dtensor is tf.experimental.dtensor, state_ops.assign is tf.compat.v1.assign,
    variable_scope.get_variable is tf.compat.v1.get_variable, standard_ops.matmul is tf.matmul,
    tensor_util.MakeNdarray is tf.make_ndarray, math_ops.to_int32 is tf.compat.v1.to_int32,
    context.num_gpus() == 0, context.ensure_initialized() is None,
    tag_constants.SERVING == tf.saved_model.SERVING, config_pb2.ConfigProto().IsInitialized(),
    signature_constants.PREDICT_METHOD_NAME == tf.saved_model.PREDICT_METHOD_NAME,
    graph_pb2.GraphDef(node=[node_def_pb2.NodeDef(name="a")]).node[0].name == "a",
    not saved_model_pb2.SavedModel().meta_graphs,
]
@keras_export("keras.layers.Own")
class Own: pass
found.append(get_symbol_from_name("keras.layers.Own") is Own)
try:
    input_ops.auto_shard_dataset
except AttributeError as error:
    found.append("auto_shard_dataset" in str(error))
print(json.dumps(found))
"""
        )
        == [True] * 27
    )


def test_keras_2_is_asked_for_by_name():
    found = said(
        "-c",
        "import tape_compat as tf; tf.keras.layers",
        check=False,
        TF_USE_LEGACY_KERAS="1",
    )
    if importlib.util.find_spec("tf_keras") is None:
        assert "TF_USE_LEGACY_KERAS" in found and "tf_keras" in found
    else:
        assert not found
    assert run("-c", "import tape_compat as tf; tf.keras", TF_USE_LEGACY_KERAS="1").returncode == 0


def test_keras_2_has_names_of_its_own_for_tensorflow_1(tmp_path):
    for version in ("_v1", "_v2"):
        folder = tmp_path / "tf_keras" / "api" / version / "keras"
        folder.mkdir(parents=True)
        lines = ["initializers = losses = metrics = optimizers = None", f"VERSION = {version!r}"]
        (folder / "__init__.py").write_text("\n".join(lines))
    (tmp_path / "tf_keras" / "__init__.py").write_text("")
    code = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import tape_compat as tf
print(tf.compat.v1.keras.VERSION, tf.keras.VERSION, tf.compat.v2.keras.VERSION)
"""
    done = run("-c", code, TF_USE_LEGACY_KERAS="1")
    assert done.stdout.split() == ["_v1", "_v2", "_v2"]


class Part(AutoTrackable):
    """A layer as Keras 2 has them: what is assigned is looked at by TensorFlow's function."""

    def __init__(self, *weights):
        self.weights = list(weights)

    def __setattr__(self, name, value):
        value = keras2.sticky_attribute_assignment(self, name, value)
        object.__setattr__(self, name, value)

    @property
    def trainable_weights(self):
        return [v for v in self.weights if v.trainable]

    @property
    def non_trainable_weights(self):
        return [v for v in self.weights if not v.trainable]


def test_lists_of_layers_have_their_weights():
    v, w, u = tf.Variable(1.0), tf.Variable(2.0, trainable=False), tf.Variable(3.0)
    layer = Part()
    layer.parts = [Part(v), {"a": (Part(w), u)}]
    assert isinstance(layer.parts, (keras2.TrackableDataStructure, list))
    assert [x is y for x, y in zip(layer.parts.trainable_weights, (v, u))] == [True, True]
    assert layer.parts.non_trainable_weights[0] is w and len(layer.parts.weights) == 3
    layer.parts.append(Part(tf.Variable(4.0)))
    assert len(layer.parts.trainable_variables) == 3
    layer.hidden = NoDependency([Part(v)])
    assert type(layer.hidden) is list
    vars(layer)["unseen"] = [Part(u)]
    assert set(children(layer)) == {"weights", "parts"}


def test_lists_of_layers_are_saved(tmp_path):
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    layer = Part()
    layer.parts = [Part(v), (Part(w),)]
    path = tf.train.Checkpoint(layer=layer).write(str(tmp_path / "saved"))
    for variable in (v, w):
        variable.assign(0.0)
    tf.train.Checkpoint(layer=layer).read(path).assert_consumed()
    assert (float(v), float(w)) == (1.0, 2.0)


def test_variables_by_a_getter():
    layer, made = Part(), []

    def getter(name, shape, dtype, initializer, trainable):
        made.append((name, shape, trainable))
        return tf.Variable(initializer(shape, dtype), trainable=trainable, name=name)

    v = layer._add_variable_with_custom_getter(
        "kernel", [2], tf.float32, tf.ones, getter, trainable=False
    )
    assert made == [("kernel", [2], False)] and v.numpy().tolist() == [1.0, 1.0]
    assert layer._lookup_dependency("kernel") is v and layer._lookup_dependency("other") is None
    with pytest.raises(ValueError, match="already declared"):
        layer._add_variable_with_custom_getter(
            "kernel", [2], tf.float32, tf.ones, getter, trainable=1
        )


def test_random_numbers_are_those_of_processors():
    selection = types.ModuleType("selection")
    selection._RUNTIME_CPU = 2
    adapted.of_cpus(selection)
    chosen = selection.implementation_selecting("f", lambda x: x, lambda x: -x)(x=3)
    assert (chosen[0], float(chosen[1])) == (-3, 2.0)


def test_functions_that_other_functions_take_the_place_of():
    class Other:
        pass

    @utilities.add_dispatch_support
    def twice(x):
        return 2.0 * tf.convert_to_tensor(x)

    @utilities.dispatch_for_types(twice, Other)
    def _(x):
        return "other"

    assert float(twice(3.0)) == 6.0 and twice(Other()) == twice(x=Other()) == "other"
    with pytest.raises(AssertionError, match="not enabled"):
        utilities.dispatch_for_types(lambda x: x, Other)(lambda x: x)
    with pytest.raises((TypeError, ValueError)):
        twice(object())


def test_public_ops_give_way():
    """In a process of its own: the faces show other functions from then on."""
    assert printed(
        """
import tape_compat
tape_compat.install_as_tensorflow()
import tensorflow as tf
from tape_compat._src.interop.dispatch import give_way
class Symbol:
    def __array__(self, *_, **__): raise TypeError("no array")
give_way(Symbol, lambda op, args, kwargs: [op.__name__, len(args), sorted(kwargs)])
s = Symbol()
print(json.dumps([
    tf.nn.relu(s), tf.concat([[1.0], s], axis=0), tf.reduce_sum(s, axis=1),
    tf.image.flip_up_down(s), tf.math.add(1.0, s), float(tf.reduce_sum([1.0, 2.0])),
    tf.nn.relu is tf.nn.relu,
    tf.math.reduce_sum is tf.reduce_sum, tf.is_tensor(s),
]))
"""
    ) == [
        ["relu", 1, []],
        ["concat", 1, ["axis"]],
        ["reduce_sum", 1, ["axis"]],
        ["flip_up_down", 1, []],
        ["add", 2, []],
        3.0,
        True,
        True,
        False,
    ]


def test_what_is_for_several_devices_is_refused_when_it_is_made():
    servers = table.NAMES["distribute.ParameterServerStrategy"]
    for cls in (entry(servers), entry("standin.tpu:OfTPU")):
        assert not isinstance(tf.distribute.get_strategy(), cls)
        with pytest.raises(NotImplementedError, match="at test_standin_libraries"):
            cls()
    with (
        pytest.raises(NotImplementedError, match=r"no graphs of TensorFlow 1.*test_standin"),
        tf.compat.v1.Session(),
    ):
        pass
    for name, kind in (("config", "tf.ConfigProto"), ("graph", "tf.Graph"), ("target", "string")):
        with pytest.raises(TypeError, match=f"Argument `{name}` must be a {kind}"):
            tf.compat.v1.Session(**{name: 3})


def test_strategies_of_servers_can_be_asked_for_in_tensorflow_1():
    code = """
import tape_compat
tape_compat.install_as_tensorflow()
import tensorflow as tf
servers = tf.compat.v1.distribute.experimental.ParameterServerStrategy
print(json.dumps(isinstance(tf.distribute.get_strategy(), servers)))
"""
    assert printed(code) is False


def test_what_keras_2_writes_the_graph_of():
    recorded = tf.function(lambda x: tf.exp(x))
    recorded(tf.constant(1.0))
    graph = recorded._concrete_variable_creation_fn.graph
    assert "Exp" in {op.type for op in graph.get_operations()}
    python = tf.function(lambda: [int(x) for x in tf.data.Dataset.range(2)][1])
    assert int(python()) == 1
    assert python._concrete_variable_creation_fn.graph.get_operations() == []


class Assigned(AutoTrackable):
    """Sets attributes as layers of Keras 2 do, past what Trackables do."""

    def __setattr__(self, name, value):
        object.__setattr__(self, name, keras2.sticky_attribute_assignment(self, name, value))

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        return {name: getattr(self, name) for name in vars(self).get("_self_noted", ())}


def test_parts_of_keras_2_layers_that_are_made_after_restoring(tmp_path):
    saved = Assigned()
    saved.part, saved.parts = Assigned(), [Assigned()]
    saved.part.kernel, saved.parts[0].kernel = tf.Variable([1.0, 2.0]), tf.Variable([3.0])
    path = tf.train.Checkpoint(saved=saved).save(tmp_path / "checkpoint")
    restored = Assigned()
    restored.parts = [Assigned()]
    tf.train.Checkpoint(saved=restored).restore(path)
    restored.part = Assigned()
    restored.part.kernel, restored.parts[0].kernel = tf.Variable([0.0, 0.0]), tf.Variable([0.0])
    assert restored.part.kernel.numpy().tolist() == [1.0, 2.0]
    assert restored.parts[0].kernel.numpy().tolist() == [3.0]
