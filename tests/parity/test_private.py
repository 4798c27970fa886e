"""Private modules of TensorFlow that libraries use, beside TensorFlow's own."""

import collections
import functools
import importlib
import inspect
import sys
import types

import jax
import numpy as np
import pytest

import tape_compat
from tape_compat._src.core.state import LOCAL
from tape_compat._src.data.batch_sizes import compute_batch_size
from tape_compat._src.function import grouping
from tape_compat._src.library import moving_average
from tape_compat._src.library.feature_columns import base as feature_columns
from tape_compat._src.library.version1 import initializers
from tape_compat._src.ops import random_keys
from tape_compat._src.standin import (
    bounded_spec,
    devices,
    file_io,
    framework,
    function_utils,
    keras2,
    legacy_keras,
    monitoring,
    nests,
    object_identity,
    runtime,
    tpu,
    utilities,
)
from tape_compat._src.values import spec, spec_registry
from tape_compat._src.values.composite import TensorType
from tape_compat._src.values.nest import flatten_with_tuple_paths
from tests.oracle import tensorflow
from tests.parity import store

pytestmark = pytest.mark.skipif(
    not store.installed(), reason="tensorflow, the oracle, is not installed (extra `parity`)"
)

Point = collections.namedtuple("Point", "x y")


def theirs(name):
    tensorflow()
    return importlib.import_module(f"tensorflow.python.{name}")


def said(function, *args, **kwargs):
    """What a call gives, or the class of its error and the opening of what it says."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return type(error).__name__, str(error)[:40]


NESTS = [
    ([1, (2, {"b": 3, "a": 4})], [None, None]),
    ((1, [2, 3]), (None, None)),
    ({"a": (1, 2), "b": [3]}, {"b": None, "a": None}),
    (Point(1, [2, 3]), Point(None, None)),
    (Point(1, [2, 3]), Point(None, [None, None])),
    (1, 2),
    ([], []),
    ([1, 2], [None]),
    ([1, 2], 3),
    (3, [None]),
    ((1, 2), [None, None]),
    ({"a": 1}, {"b": None}),
    ([[1, 2], [3]], [[None, None], None]),
]


@pytest.mark.parametrize(("structure", "shallow"), NESTS)
def test_shallow_structures(structure, shallow):
    real = theirs("util.nest")
    for name in ("flatten_up_to", "assert_shallow_structure", "flatten_with_tuple_paths_up_to"):
        ours, other = getattr(nests, name), getattr(real, name)
        assert said(ours, shallow, structure) == said(other, shallow, structure), name
        assert said(ours, shallow, structure, check_types=False) == said(
            other, shallow, structure, check_types=False
        ), name
    for name in ("map_structure_up_to", "map_structure_with_tuple_paths_up_to"):
        function = lambda *args: repr(args)
        ours, other = getattr(nests, name), getattr(real, name)
        wanted = said(other, shallow, function, structure, structure)
        assert said(ours, shallow, function, structure, structure) == wanted, name


@pytest.mark.parametrize("structure", [structure for structure, _ in NESTS])
def test_paths(structure):
    real = theirs("util.nest")
    assert list(nests.yield_flat_paths(structure)) == list(real.yield_flat_paths(structure))
    assert flatten_with_tuple_paths(structure) == real.flatten_with_tuple_paths(structure)
    for name in ("flatten_with_joined_string_paths", "list_to_tuple"):
        assert getattr(nests, name)(structure) == getattr(real, name)(structure)
    for name in ("map_structure_with_paths", "map_structure_with_tuple_paths"):
        shown = lambda path, leaf: f"{path}: {leaf}"
        assert getattr(nests, name)(shown, structure) == getattr(real, name)(shown, structure)


@pytest.mark.parametrize(
    "go",
    [
        lambda s: True,
        lambda s: not isinstance(s, list),
        lambda s: isinstance(s, (list, tuple, dict)),
        lambda s: [True, False] if isinstance(s, list) and len(s) == 2 else True,
        lambda s: "no",
    ],
)
@pytest.mark.parametrize("structure", [structure for structure, _ in NESTS])
def test_parts_to_go_into(go, structure):
    ours, real = nests.get_traverse_shallow_structure, theirs("util.nest")
    assert said(ours, go, structure) == said(real.get_traverse_shallow_structure, go, structure)


def test_kinds_of_nests():
    real = theirs("util.nest")
    for value in ([], (), {}, Point(1, 2), 3, "a", np.zeros(2), None):
        assert nests.is_mapping(value) == real.is_mapping(value)
        if isinstance(value, (list, tuple, dict)):
            made = [each._sequence_like(value, range(len(value))) for each in (nests, real)]
            assert made[0] == made[1] == nests.sequence_like(value, range(len(value)))
        assert nests.is_namedtuple(value) == bool(real.is_namedtuple(value))
    keys = [{("a", "b"): (1, 2), "c": 3}, {("a", "a"): (1, 2)}, {("a", "b"): 1}]
    for each in keys:
        ours, other = (said(module.flatten_dict_items, each) for module in (nests, real))
        assert ours == other or ours[0] == other[0] == "ValueError"


def test_shapes():
    real = theirs("framework.tensor_shape")
    for value in (3, None, 0, -1):
        assert repr(said(framework.as_dimension, value)) == repr(said(real.as_dimension, value))
        assert framework.dimension_value(value) == real.dimension_value(value)
    shape, other = tape_compat.TensorShape([2, None]), real.TensorShape([2, None])
    for i in (0, 1, -1):
        assert (
            framework.dimension_at_index(shape, i).value == real.dimension_at_index(other, i).value
        )
    assert framework.unknown_shape(2).as_list() == real.unknown_shape(2).as_list()
    assert framework.unknown_shape().rank is real.unknown_shape().rank
    util = theirs("framework.tensor_util")
    for value in ([2, -1], (3,), np.array([2, 3])):
        ours = framework.constant_value_as_shape(tape_compat.constant(value))
        assert (
            ours.as_list() == util.constant_value_as_shape(tensorflow().constant(value)).as_list()
        )
    common = theirs("framework.common_shapes")
    for pair in (([2, 1], [3]), ([2, 2], [3]), ([None], [3]), (None, [2])):
        ours, other = ([of(x) for x in pair] for of in (tape_compat.TensorShape, real.TensorShape))
        found = framework.is_broadcast_compatible(*ours)
        assert found is common.is_broadcast_compatible(*other), pair


def test_specs():
    real = theirs("framework.tensor_spec")
    ours, other = bounded_spec.BoundedTensorSpec, real.BoundedTensorSpec
    arguments = [
        ([], "int32", 0, 3),
        ([2], "float32", 0, [1, 2], "n"),
        ([2], "float32", None, 1),
        ([2], "float32", 0, None),
        ([2], "float32", [1, 2, 3], 1),
        ([2], "float32", 1, [1, 2, 3]),
    ]
    for each in arguments:
        assert repr(said(ours, *each)) == repr(said(other, *each))
    bounded = ours([2], "float32", 0, 1)
    assert bounded == ours.from_spec(bounded) != tape_compat.TensorSpec([2])
    assert bounded != ours([2], "float32", 0, 2)
    assert repr(ours.from_spec(tape_compat.TensorSpec([1]))) == repr(
        other.from_spec(tensorflow().TensorSpec([1]))
    )
    array = types.SimpleNamespace(shape=(2,), dtype=np.dtype("int8"), name="n")
    assert repr(ours.from_spec(array)) == repr(other.from_spec(array))
    variables = theirs("ops.resource_variable_ops")
    assert repr(spec.VariableSpec([None])) == repr(variables.VariableSpec([None]))
    for tf, kind in ((tape_compat, spec.VariableSpec), (tensorflow(), variables.VariableSpec)):
        v = tf.Variable([1.0])
        assert kind.from_value(v) == kind([1]) == tf.type_spec_from_value(v)
        assert kind([None]).is_compatible_with(v) and not kind([1]).is_compatible_with(tf.ones([1]))


def test_names_of_specs():
    real = theirs("framework.type_spec_registry")
    found = []
    for registry, tf in ((spec_registry, tape_compat), (real, tensorflow())):
        register = registry.register

        class Own(tf.TypeSpec):
            value_type = property(lambda self: int)
            _component_specs = ()
            _serialize = _to_components = _from_components = lambda self, *_: ()

        kept = register("private.Own")(Own)

        class Masked(tf.experimental.ExtensionType):
            __name__ = "private.Masked"
            values: tf.Tensor
            mask: tf.Tensor

        specs = [
            tf.TensorSpec((1, None)),
            tf.RaggedTensorSpec((2, None), tf.int32),
            tf.SparseTensorSpec((2, 3)),
            tf.TensorArraySpec((2,)),
            tf.data.Dataset.from_tensors((1, None)).element_spec[1],
            tf.type_spec_from_value(Masked([1], [True])),
        ]
        found.append(
            [
                kept is Own,
                registry.get_name(Own),
                registry.lookup("private.Own") is Own,
                said(register("private.Own"), type("Other", (Own,), {}))[0],
                said(register("private.Other"), Own)[0],
                said(register, "plain"),
                said(register, 3),
                said(register("private.No"), int)[0],
                said(registry.lookup, "private.Missing"),
                said(registry.get_name, type("Unknown", (tf.TypeSpec,), {}))[0],
                [registry.get_name(type(spec)) for spec in specs],
                [
                    registry.lookup(registry.get_name(type(spec)))._deserialize(spec._serialize())
                    == spec
                    for spec in specs
                ],
            ]
        )
    assert found[0] == found[1]


#: Datasets whose batches have one size, if that is known.
BATCHED = {
    "batch": lambda d: d.batch(8),
    "dropped": lambda d: d.batch(8, drop_remainder=True),
    "twice": lambda d: d.batch(8).batch(2),
    "kept": lambda d: d.batch(8).shuffle(3).repeat().skip(1).take(2).shard(2, 0).prefetch(1),
    "cached": lambda d: d.batch(8).cache().with_options(type(d.options())()),
    "filtered": lambda d: d.batch(8).filter(lambda x: True),
    "mapped": lambda d: d.batch(8).map(lambda x: x + 1),
    "scanned": lambda d: d.batch(8).scan(0, lambda state, x: (state, x)),
    "zipped": lambda d: d.batch(8).zip(d.batch(8)),
    "zipped sizes": lambda d: d.batch(8).zip(d.batch(4)),
    "added": lambda d: d.batch(8).concatenate(d.batch(8)),
    "added sizes": lambda d: d.batch(8).concatenate(d.batch(4)),
    "rebatched": lambda d: d.batch(8).rebatch(4),
    "ragged": lambda d: d.ragged_batch(4),
    "sparse": lambda d: d.map(lambda x: x[None]).sparse_batch(4, [3]),
    "padded": lambda d: d.map(lambda x: x[None]).padded_batch(4, [3]),
    "windows": lambda d: d.window(4),
    "flat": lambda d: d.flat_map(lambda x: d.batch(4)),
    "tensors": lambda d: d.from_tensors([1, 2, 3]),
    "slices": lambda d: d.from_tensor_slices(([[1, 2, 3]] * 4, [[1, 2]] * 4)),
    "scalars": lambda d: d,
}


@pytest.mark.parametrize("name", BATCHED)
def test_sizes_of_batches(name):
    make = BATCHED[name]
    real = theirs("data.experimental.ops.distribute").compute_batch_size
    found = [
        said(lambda function, tf: int(function(make(tf.data.Dataset.range(16)))), *each)
        for each in ((compute_batch_size, tape_compat), (real, tensorflow()))
    ]
    assert found[0] == found[1]


def function(a, b=2, *args, c, d=4, **kwargs):
    return a


def test_inspecting_and_decorating():
    inspecting, decorating = theirs("util.tf_inspect"), theirs("util.tf_decorator")
    assert utilities.getfullargspec(function) == inspecting.getfullargspec(function)
    found = []
    for module, of in ((utilities, utilities), (decorating, inspecting)):

        def wrapper(*args, **kwargs):
            return "wrapped", function(*args, **kwargs)

        made = module.make_decorator(function, wrapper, "name")
        decorators, target = module.unwrap(made)
        found.append(
            [
                made.__name__,
                made.__original_wrapped__ is function,
                made(1, c=3),
                [each.decorator_name for each in decorators],
                target is function,
                of.getfullargspec(made),
            ]
        )
    assert found[0] == found[1]


class Weights(tape_compat.Module):
    """A layer, as far as feature columns ask it for variables."""

    def __init__(self):
        self.made = []

    def add_weight(self, **options):
        options.pop("initializer")
        options.pop("getter", None)
        self.made.append(options)
        return options["name"]

    def _track_trackable(self, value, name):
        self.made.append(name)


def test_feature_columns_keep_values_and_variables():
    found = []
    for of, tf in (
        (theirs("feature_column.feature_column_v2"), tensorflow()),
        (feature_columns, tape_compat),
    ):
        column, layer = tf.feature_column.numeric_column("a"), Weights()
        word = tf.feature_column.categorical_column_with_identity("b", 3)
        embedding = tf.feature_column.embedding_column(word, 2)
        cache = of.FeatureTransformationCache({"a": [1.0, 2.0], "c": 3.0})
        kind = getattr(of, "_StateManagerImpl", None) or of.StateManager
        manager = kind(layer, True)
        embedding.create_state(manager)
        manager.add_resource(word, "table", 3)
        found.append(
            [
                cache.get("a", manager).numpy().tolist(),
                cache.get(column, manager) is cache.get(column, manager),
                said(cache.get, "b", manager),
                said(cache.get, "c", manager),
                said(cache.get, 3, manager),
                said(cache.get, word, manager),
                [str({**m, "dtype": m["dtype"].name}) for m in layer.made if isinstance(m, dict)],
                manager.get_variable(embedding, "embedding_weights"),
                said(manager.get_variable, embedding, "other"),
                said(embedding.create_state, manager),
                manager.get_resource(word, "table"),
                manager.has_resource(word, "other"),
                said(manager.get_resource, word, "other"),
            ]
        )
    assert found[0] == found[1]


def test_sizes_of_convolutions():
    both = theirs("keras.utils.conv_utils"), legacy_keras
    found = []
    for of in both:
        rows = []
        for padding in ("valid", "same", "full"):
            for size, stride, dilation in ((3, 1, 1), (4, 2, 1), (3, 2, 2), (1, 3, 1)):
                sizes = (size, padding, stride)
                rows.append([of.conv_output_length(n, *sizes, dilation) for n in (7, 10, None)])
                rows.append([of.conv_input_length(n, *sizes) for n in (7, None)])
                for more in (None, 1):
                    given = (size, padding, more, stride, dilation)
                    rows.append([of.deconv_output_length(n, *given) for n in (7, None)])
        layouts = ("channels_last", "channels_first", "other")
        rows.append([said(of.convert_data_format, x, n) for x in layouts for n in (3, 4, 5, 6)])
        rows.append([said(of.normalize_data_format, x) for x in (*layouts, "Channels_Last", None)])
        rows.append([said(of.normalize_padding, x) for x in ("SAME", "causal", (1, 2), "x")])
        given = (3, [1, 2], (1, 2, 3), None, ["a", 1], [None, 1])
        rows.append([said(of.normalize_tuple, x, 2, "strides") for x in given])
        found.append(rows)
    assert found[0] == found[1]


def test_batches_as_losses_take_them():
    found = []
    for of in (None, legacy_keras):
        tf = tensorflow() if of is None else tape_compat
        adapts, compiles = of or theirs("keras.engine.data_adapter"), of
        compiles = compiles or theirs("keras.engine.compile_utils")
        row, column = tf.constant([1, 2]), tf.constant([[0.5], [1.5]])
        data = adapts.expand_1d((row, {"a": column, "b": row, "c": None}, tf.constant(3), "x"))
        rows = [data[0].shape, [data[1][k] if k == "c" else data[1][k].shape for k in "abc"]]
        rows += [data[2].shape, data[3]]
        for labels in (row, tf.cast(row, tf.float64), tf.cast(column, tf.float16)):
            for predicted in (column, tf.constant([[3], [4]], tf.int64), tf.constant([1.0, 2.0])):
                for weights in (None, row, column):
                    given = compiles.match_dtype_and_rank(labels, predicted, weights)
                    rows.append([None if x is None else (x.dtype.name, x.shape) for x in given])
        found.append(str(rows))
    assert found[0] == found[1]


def test_fans_of_weights():
    real = theirs("ops.init_ops_v2")
    for shape in ((), (3,), (3, 4), (2, 3, 4), (2, 2, 3, 4)):
        assert initializers.fans(shape) == real._compute_fans(shape)
    assert initializers.fans(tape_compat.TensorShape([2, 3, 4])) == (6, 8)


def test_moving_averages_are_assigned():
    found = []
    both = (theirs("training.moving_averages"), tensorflow()), (moving_average, tape_compat)
    for of, tf in both:
        v = tf.Variable([1.0, 2.0])
        gave = of.assign_moving_average(v, [3.0, 4.0], 0.75, zero_debias=False)
        recorded = tf.function(lambda x, of=of, v=v: of.assign_moving_average(v, x, 0.5, False))
        found.append([gave.numpy().tolist(), recorded([0.0, 1.0]).numpy().tolist(), *v.numpy()])
    assert found[0] == found[1]


def _of_a_parameter(tf, base):
    tnp = tf.experimental.numpy

    class Parameter(base):
        dtype, shape = "float32", tf.TensorShape([4])

        def __tf_tensor__(self, dtype=None, name=None):
            return tf.convert_to_tensor([1.0, 2.0, 3.0, 4.0], dtype)

        def __array__(self, dtype=None, copy=None):
            return np.array([1.0, 2.0, 3.0, 4.0], dtype or "float32")

    class WithoutDtype(Parameter):
        dtype = None

    x = Parameter()
    found = [tnp.reshape(WithoutDtype(), [2, 2])]
    found += [tnp.reshape(x, [2, 2]), tnp.add(x, 1), tnp.sum(x), tnp.stack([x, x])]
    found += [tnp.concatenate([x, tf.ones(2)]), tnp.maximum(tf.ones(4), x), tnp.dot(x, x)]
    return [tnp.result_type(x) == np.float32, [(y.dtype.name, y.numpy().tolist()) for y in found]]


def test_numpys_functions_of_what_passes_for_a_tensor():
    real = tensorflow()
    expected = _of_a_parameter(real, real.__internal__.types.Tensor)
    assert _of_a_parameter(tape_compat, TensorType) == expected


def test_undocumented_names_are_removed():
    found = []
    for of in (theirs("util.all_util"), utilities):
        module = types.ModuleType("of_a_test", None)
        module.a = module.b = module._c = 1
        sys.modules["of_a_test"] = module
        try:
            of.remove_undocumented("of_a_test", ["a"])
        finally:
            del sys.modules["of_a_test"]
        found.append([hasattr(module, name) for name in ("a", "b", "_c")])
    assert found[0] == found[1] == [True, False, True]


def test_feature_columns_are_written():
    found = []
    for of, tf in (
        (theirs("feature_column.serialization"), tensorflow()),
        (feature_columns, tape_compat),
    ):
        make = tf.feature_column
        word = make.categorical_column_with_vocabulary_list("w", ["a"])
        hashed = make.categorical_column_with_hash_bucket("w", 3)
        column = make.numeric_column("n", normalizer_fn=abs)
        made = [make.embedding_column(word, 2), make.indicator_column(hashed), column]
        written = [of.serialize_feature_column(c) for c in made]
        known, names = {}, {"abs": abs}
        again = [of.deserialize_feature_column(c, names, known) for c in written]
        found.append(
            [
                written,
                of.serialize_feature_column("x"),
                of.deserialize_feature_column("x"),
                said(of.serialize_feature_column, 3)[0],
                said(of.deserialize_feature_column, {"class_name": "X", "config": {}})[0],
                said(type(column).from_config, {"key": "a"})[0],
                [c.name for c in again],
                again[1:] == made[1:],
                again[0].initializer.get_config(),
                of.deserialize_feature_column(written[1], names, known) is again[1],
            ]
        )
    assert found[0] == found[1]


def test_decorators_of_methods():
    class Layer:
        def call(self, inputs, training=False):
            return inputs

    found = []
    for module in (theirs("util.tf_decorator"), utilities):
        layer = Layer()
        spec = inspect.getfullargspec(layer.call)
        inner = module.make_decorator(layer.call, lambda *a, **k: a, decorator_argspec=spec)
        outer = module.make_decorator(inner, lambda *a, **k: inner(*a, **k))
        found.append(
            [
                *(str(inspect.signature(each)) for each in (inner, outer)),
                outer.__self__ is layer,
                hasattr(inner, "__self__"),
            ]
        )
    assert found[0] == found[1]


def test_arguments_of_calls():
    class Layer:
        def call(self, inputs, training=False, *, mask=None, **kwargs):
            """Nothing."""

    layer, inspecting = Layer(), theirs("util.tf_inspect")
    calls = [
        ((function, 1), {"c": 3}),
        ((function, 1, 5), {"c": 3, "e": 6}),
        ((layer.call, 1), {"training": True, "state": 2}),
        ((layer.call,), {"inputs": 1, "mask": 4}),
        ((Layer.call, layer, 1), {}),
    ]
    for given, named in calls:
        found = [each.getcallargs(*given, **named) for each in (utilities, inspecting)]
        assert found[0] == found[1]


def test_shallow_structures_of_other_classes():
    real = theirs("util.nest").assert_shallow_structure
    for shallow, structure in [
        ((0, 0), Point(1, [2])),
        (Point(0, 0), (1, [2])),
        ({"a": 0}, collections.OrderedDict(a=[1])),
        ([0], collections.UserList([1])),
    ]:
        found = said(nests.assert_shallow_structure, shallow, structure)
        assert found == said(real, shallow, structure)


def test_tuples_in_attributes_of_keras_2():
    held = keras2.wrap((tape_compat.Variable(1.0), [2, (3,)]))
    assert type(held) is not tuple
    for one, other in ((held, (0, [0, (0,)])), ((0, [0, (0,)]), held)):
        tape_compat.nest.assert_same_structure(one, other)
        assert len(nests.flatten_up_to(one, other)) == 3
    for check in (tape_compat.nest.assert_same_structure, nests.assert_shallow_structure):
        with pytest.raises(TypeError):
            check(held, [0, [0, (0,)]])


def _put_in(wrap):
    """A list and a dict that lists and dicts were put into."""
    held, keyed = wrap([0]), wrap({"b": [1]})
    held.append([2])
    held.extend([[3], {"a": [4]}])
    held += [[5]]
    held[0] = [6]
    held[1:2] = [[7], 8]
    held[4]["c"] = [9]
    held.insert(0, [10])
    held[-1].append([11])
    keyed["a"] = [12]
    keyed.update(d=[13])
    keyed.setdefault("c", [14])
    return held, keyed


def test_lists_that_are_put_into_lists_of_layers():
    real = theirs("trackable.data_structures")
    kinds = []
    for wrap, kind in (
        (real.wrap_or_unwrap, real.TrackableDataStructure),
        (keras2.wrap, keras2.TrackableDataStructure),
    ):

        def tracked(x, kind=kind):
            parts = x._values if isinstance(x, kind) else x if isinstance(x, list) else ()
            return isinstance(x, kind), [tracked(part) for part in parts]

        kinds.append([tracked(x) for x in _put_in(wrap)])
    assert kinds[0][0][1] == kinds[1][0][1] and kinds[0][1][1] == kinds[1][1][1]


def _changed(wrap):
    """A list and a dict after the structures that were made of them were changed."""
    inner, numbers = [0], [3, 1, 2]
    given = {"inner": inner, "gone": 1, "left": 2, "last": 3}
    held, copied = wrap(given), wrap(numbers)
    held["inner"].append(5)
    held["new"] = 6
    held.update(other=7)
    del held["gone"]
    found = [held.pop("left"), held.setdefault("more", 8), held.popitem()]
    copied.extend(iter([4, 5]))
    copied.insert(0, 9)
    copied.sort()
    copied.reverse()
    copied.remove(1)
    copied[0] = 10
    del copied[1]
    copied += [11]
    found.append(copied.pop(0))
    plain = [[*inner], {key: value for key, value in given.items() if key != "inner"}, numbers[:]]
    copied.clear()
    held.clear()
    return found, plain, numbers, given


def test_structures_of_keras_2_share_what_they_hold():
    real = theirs("trackable.data_structures")
    assert _changed(keras2.wrap) == _changed(real.wrap_or_unwrap)


class _Caller:
    def __call__(self, a, b=1, **more):
        pass

    def method(self, a):
        pass


def test_what_is_known_of_functions():
    partly = functools.partial(function, 1, d=2)
    given = function, partly, _Caller(), _Caller().method, _Caller, len, 3
    names = "fn_args", "has_kwargs", "get_func_name", "get_func_code"
    module = theirs("util.function_utils")
    for name in names:
        ours, expected = getattr(function_utils, name), getattr(module, name)
        for what in given:
            assert said(ours, what) == said(expected, what), (name, what)


def test_strides_and_dilations():
    for given in (
        (2, None, None),
        (2, (2, 1), None),
        (1, None, [3]),
        (2, [1], None),
        (2, None, [1, 0]),
        (1, [0], None),
        (1, [2], [2]),
    ):
        ours = said(framework.steps_of_windows, *given)
        expected = said(theirs("ops.nn_ops")._get_strides_and_dilation_rate, *given)
        assert str(ours) == str(expected)


def _files(module, folder):
    """What functions of files give, one after the other, without the folder's name and, where
    they raise, what stands behind a colon."""
    path, other = f"{folder}/a", f"{folder}/b"
    calls = {
        "write": lambda: module.write_string_to_file(path, "one"),
        "read": lambda: module.read_file_to_string(path),
        "bytes": lambda: module.read_file_to_string(path, binary_mode=True),
        "exists": lambda: (module.file_exists(filename=path), module.file_exists_v2(path=path)),
        "copy": lambda: module.copy(oldpath=path, newpath=other),
        "copy again": lambda: module.copy_v2(path, other),
        "compared": lambda: module.filecmp(path, other),
        "crc": lambda: module.file_crc32(path, block_size=2),
        "atomic": lambda: module.atomic_write_string_to_file(path, "two"),
        "not over": lambda: module.atomic_write_string_to_file(path, "x", overwrite=False),
        "now": lambda: (module.read_file_to_string(path), module.filecmp(path, other)),
        "folders": lambda: module.recursive_create_dir(f"{folder}/x/y"),
        "matching": lambda: sorted(module.get_matching_files(f"{folder}/*")),
        "listed": lambda: sorted(module.list_directory(folder)),
        "walked": lambda: [list(map(str, found)) for found in module.walk(f"{folder}/x")],
        "length": lambda: (module.stat(other).length, module.is_directory(folder)),
        "moved": lambda: module.rename(other, path, overwrite=True),
        "deleted": lambda: module.delete_file(path),
        "gone": lambda: module.delete_file_v2(path),
        "mode": lambda: module.FileIO(path, "z"),
        "all": lambda: (module.delete_recursively(folder), module.file_exists(folder)),
    }
    found = {name: str(said(call)).replace(str(folder), "") for name, call in calls.items()}
    return {name: text.partition(":")[0].rstrip("')") for name, text in found.items()}


def test_files(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    ours = _files(file_io, tmp_path / "a")
    assert ours == _files(theirs("lib.io.file_io"), tmp_path / "b")
    assert ours["now"] == "('two', False"


def test_deprecations(caplog):
    real = theirs("util.deprecation")
    found = []
    for module, logger in ((utilities, "tape_compat"), (real, "tensorflow")):
        old = module.deprecated("2030-01-01", "Use new.")(lambda x: x + 1)
        part = module.deprecated_args(None, "Use new.", "b")(lambda a, b=None: (a, b))
        value = module.deprecated_arg_values(None, "Use new.", b=3)(lambda a, b=None: (a, b))
        alias = module.deprecated_alias("old.f", "new.f", old)
        caplog.clear()
        results = [old(1), old(1), part(1), part(1, b=2), value(1, b=2), value(1, b=3), alias(2)]
        with module.silence():
            module.deprecated(None, "Use new.")(lambda: None)()
        told = [r.getMessage() for r in caplog.records if r.name == logger]
        found.append((results, len(told), sum("Use new." in text for text in told)))
        lookup = module.deprecated_argument_lookup
        found[-1] += (
            lookup("a", 1, "b", None),
            lookup("a", None, "b", 2),
            said(lookup, "a", 1, "b", 2),
        )
    assert found[0][0] == found[1][0] and found[0][3:] == found[1][3:]
    assert found[0][1:3] == (4, 3)


def test_cases_and_conditions():
    for tf, module in (
        (tape_compat, framework),
        (tensorflow(), theirs("ops.control_flow_case")),
    ):
        pairs = [(tf.constant(False), lambda: 1), (tf.constant(True), lambda: 2)]
        chosen = module._case_helper(tf.cond, pairs, lambda: 3, False, "case")
        assert int(chosen) == 2
    for module in (framework, theirs("ops.parallel_for.control_flow_ops")):
        squares = module.pfor(lambda i: i * i, 3)
        assert squares.numpy().tolist() == [0, 1, 4]


def test_gradients_that_are_refused():
    for tf, module in ((tape_compat, framework), (tensorflow(), theirs("ops.array_ops"))):
        x = tf.constant(1.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = module.prevent_gradient(x, "no way")
        with pytest.raises(LookupError, match="no way"):
            tape.gradient(y, x)


def test_variables_made_in_a_scratch_graph():
    """Keras builds models in such graphs: what cannot be made there is made in eager code."""

    def made(tf, graph):
        def outside():
            with tf.init_scope():
                return tf.Variable(tf.random.normal([2]))

        tf.random.set_seed(5)
        ways = (
            lambda: tf.Variable(lambda: tf.random.normal([2])),
            lambda: tf.Variable(tf.random.normal([2])),
            lambda: tf.Variable(2.0 * tf.random.uniform([2])),
            lambda: tf.Variable([1.0, 2.0]),
            outside,
        )
        found = []
        for way in ways:
            try:
                with graph("scratch").as_default():
                    variable = way()
                found.append(variable.numpy())
            except ValueError as error:
                found.append(str(error)[:25])
        return [*found, tf.random.normal([2]).numpy()]

    tf = tensorflow()
    expected = made(tf, tf.__internal__.FuncGraph)
    for a, b in zip(made(tape_compat, tape_compat.Graph), expected, strict=True):
        if isinstance(b, str):
            assert a == b
        else:
            np.testing.assert_allclose(a, b, rtol=1e-5)


def test_convolution():
    """The class of `nn_ops`, which layers keep."""

    def made(tf, convolution):
        x, k = tf.ones([1, 8, 2]), tf.ones([3, 2, 4])
        given = [x.shape, k.shape]
        return [
            convolution(*given, "VALID")(x, k),
            convolution(*given, padding="SAME", strides=[2], data_format="NWC")(x, k),
            convolution(*given, padding="SAME", dilation_rate=[2])(x, k),
        ]

    expected = made(tensorflow(), theirs("ops.nn_ops").Convolution)
    for a, b in zip(made(tape_compat, framework.Convolution), expected, strict=True):
        np.testing.assert_allclose(a, b)


def test_graphs_of_functions():
    """What is inside of which graph, and tensors that one takes from another."""

    def said_of(tf, graph):
        outside = tf.compat.v1.get_default_graph()
        found = [isinstance(outside, graph), isinstance(graph("g").outer_graph, graph)]
        with graph("first").as_default() as first:
            x = tf.ones([2, 3]) * 2.0
            found += [isinstance(first, graph), isinstance(first.outer_graph, graph)]
            with graph("inner").as_default() as inner:
                found.append(inner.outer_graph is first)
        with graph("second").as_default():
            y = tf.matmul(x, tf.ones([3, 4]))
            z = tf.cond(tf.reduce_all(y > 0), lambda: x + 1.0, lambda: x)
        with graph("third").as_default():
            unknown = tf.compat.v1.placeholder(tf.float32, [None, None]) * 2.0
        with graph("fourth").as_default() as fourth:
            tf.exp(unknown)
            found.append([op.type for op in fourth.get_operations()])
        return [*found, y.shape.as_list(), z.shape.as_list()]

    tf = tensorflow()
    expected = said_of(tf, tf.__internal__.FuncGraph)
    assert said_of(tape_compat, grouping.FunctionGraph) == expected


class Odd:
    """What is equal to everything, and cannot be hashed."""

    __hash__ = None

    def __eq__(self, other):
        return True


def _sets(module):
    a, b, gone = Odd(), Odd(), Odd()
    held, weak = module.ObjectIdentitySet([a, a]), module.ObjectIdentityWeakSet([a, gone])
    found = [len(held), a in held, b in held, len(weak), gone in weak]
    held.add(b)
    held.discard(a)
    held.update([a, b])
    held.discard(Odd())
    del gone
    found += [len(held), len(list(weak)), b in held, len(held.intersection([b]))]
    found += [len(held.difference([b])), a in held.difference([b]), len(held | {1, 2})]
    held.clear()
    return [*found, len(held), module.ObjectIdentitySet() == set()]


def _dictionaries(module):
    a, b, gone = Odd(), Odd(), Odd()
    held, weak = module.ObjectIdentityDictionary(), module.ObjectIdentityWeakKeyDictionary()
    held[a], held[b], held[a] = 1, 2, 3
    found = [held[a], held[b], len(held), [each is a for each in held], held.get(gone, 9)]
    del held[b]
    weak[a], weak[gone] = 4, 5
    found += [b in held, weak[gone], len(weak), said(lambda: held[b])[0]]
    return [*found, repr(module.ObjectIdentityDictionary())]


def test_sets_of_objects():
    real = theirs("util.object_identity")
    assert _sets(object_identity) == _sets(real)
    assert _dictionaries(object_identity) == _dictionaries(real)


def test_devices_of_this_process():
    (real, *_), (ours, *_) = (
        theirs("client.device_lib").list_local_devices(),
        (devices.list_local_devices()),
    )
    for name in ("name", "device_type", "memory_limit", "physical_device_desc"):
        assert getattr(ours, name) == getattr(real, name), name
    assert ours.incarnation == devices.list_local_devices()[0].incarnation
    with pytest.raises(NotImplementedError, match="sessions"):
        devices.list_local_devices(session_config={})


def test_what_libraries_ask_of_tpus_and_of_graphs():
    context = theirs("tpu.tpu_function").get_tpu_context()
    assert tpu.get_tpu_context().number_of_shards is context.number_of_shards is None
    for tf, module in ((tape_compat, runtime), (tensorflow(), theirs("eager.context"))):
        with module.graph_mode():
            x = tf.ones([2, 3]) + 1.0
            assert not tf.executing_eagerly()
        assert x.shape == [2, 3]
    for module in (tpu, theirs("tpu.embedding_context_utils")):
        with module.SequentialEmbeddingContext() as entered:
            assert entered is None


def test_what_is_counted_can_be_read():
    def counted(module):
        found = []
        for name, value in (("BoolGauge", True), ("IntGauge", 3), ("StringGauge", "s")):
            gauge = getattr(module, name)(f"/tests/{name}", "about", "label")
            gauge.get_cell("a").set(value)
            found += [gauge.get_cell(label).value() for label in "ab"]
            found.append(said(gauge.get_cell))
        counter = module.Counter("/tests/Counter", "about")
        counter.get_cell().increase_by(2)
        buckets = module.ExponentialBuckets(1.0, 2.0, 3)
        module.Sampler("/tests/Sampler", buckets, "about").get_cell().add(1.0)
        return found, counter.get_cell().value()

    assert counted(monitoring) == counted(theirs("eager.monitoring"))


def test_global_seeds():
    real = theirs("eager.context")
    for set_seed, seed in (
        (random_keys.set_seed, random_keys.global_seed),
        (real.set_global_seed, real.global_seed),
    ):
        set_seed(5)
        assert seed() == 5
        set_seed(None)
        assert seed() is None


def test_parts_with_their_names():
    for tf in (tape_compat, tensorflow()):
        module = tf.Module()
        module.w, module.below, module.number = tf.Variable(1.0), tf.Module(), 3
        parts = module._unconditional_checkpoint_dependencies
        assert [(part.name, part.ref) for part in parts] == [
            ("w", module.w),
            ("below", module.below),
        ]


def test_what_ops_of_graphs_cost_is_noted():
    given = [
        ("NobodysOp", "flops"),
        (3, "flops"),
        ("a,b", "flops"),
        ("NobodysOp", 3),
        ("NobodysOp", "a,b"),
    ]
    for op_type, statistic in given:
        outcomes = []
        for module in (framework, theirs("framework.ops")):
            note = said(module.RegisterStatistics, op_type, statistic)
            outcomes.append(note if isinstance(note, tuple) else note(said) is said)
        assert outcomes[0] == outcomes[1], (op_type, statistic)


def test_gradients_of_ops_of_tensorflow_are_not_changed():
    for note in (tape_compat.no_gradient, lambda name: tape_compat.RegisterGradient(name)(said)):
        with pytest.raises(NotImplementedError, match="'Sin' is not changed"):
            note("Sin")


@pytest.mark.parametrize("start", [[1, 1], [2, 3], [-1, -5]])
def test_slices_at_places_that_are_computed(start):
    tensorflow()
    real = importlib.import_module("tensorflow.compiler.tf2xla.python.xla")
    x, update = np.arange(12.0).reshape(3, 4), np.full((2, 2), 100.0)
    assert np.array_equal(
        runtime.dynamic_slice(x, start, [2, 2]), real.dynamic_slice(x, start, [2, 2])
    )
    assert np.array_equal(
        runtime.dynamic_update_slice(x, update, start), real.dynamic_update_slice(x, update, start)
    )
    for starts, sizes in ([0], [1, 1]), ([0, 0], [1]), ([0, 0], [4, 1]), ([0, 0], [-1, 1]):
        for module in (runtime, real):
            kind, _ = said(module.dynamic_slice, x, starts, sizes)
            assert kind == "InvalidArgumentError"


def test_graphs_around_a_graph():
    """Keras 2 looks for the contexts of control flow of each of them."""
    for tf in (tape_compat, tensorflow()):
        found = []
        tf.function(lambda: found.append(tf.compat.v1.get_default_graph()))()
        outside = found[0].outer_graph
        assert outside is tf.compat.v1.get_default_graph()
        assert outside._get_control_flow_context() is found[0]._get_control_flow_context() is None
        assert not hasattr(outside, "outer_graph") and not outside.building_function


def test_devices_that_graphs_tell():
    class Op:
        device = None

        def _set_device_from_string(self, name):
            self.device = name

    for tf in (tape_compat, tensorflow()):
        op = Op()
        with tf.Graph().as_default() as graph:
            graph._apply_device_functions(op)
        assert tf.DeviceSpec.from_string(op.device) == tf.DeviceSpec()
    with tape_compat.Graph().as_default() as graph:
        LOCAL.state.device = jax.devices()[0]
        try:
            graph._apply_device_functions(op)
        finally:
            LOCAL.state.device = None
    assert tape_compat.DeviceSpec.from_string(op.device).device_type == "CPU"
