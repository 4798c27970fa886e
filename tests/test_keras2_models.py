"""SavedModels of Keras 2: what it asks of the functions that write and read them."""

import pytest

import tape_compat as tf
from tape_compat._src.checkpoint.tracking import AutoTrackable
from tape_compat._src.library.lookup.initializers import KeyValueTensorInitializer
from tape_compat._src.standin.keras2 import wrap
from tape_compat._src.standin.keras2_models import (
    LookupInterface,
    RestoredResource,
    load_partial,
    of_known_rank,
    parse_saved_model,
    registered_identifiers,
    save_and_return_nodes,
)
from tape_compat._src.values.trackable import Trackable


class Layer(AutoTrackable):
    """As Keras 2 has it: its functions and lists are parts of a SavedModel only."""

    _object_identifier = "_layer"
    caches: list = []

    def __init__(self, value, below=None):
        super().__init__()
        self.kernel = tf.Variable(value)
        if below is not None:
            self.below = below

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        found = super()._trackable_children(save_type, **kwargs)
        if save_type == "savedmodel":
            cache = kwargs["cache"]
            self.caches.append(cache)
            if self not in cache:
                spec = [tf.TensorSpec([2], tf.float32)]
                cache[self] = tf.function(lambda x: x * self.kernel, input_signature=spec)
            found |= {"_default_save_signature": cache[self], "variables": wrap([self.kernel])}
        return found


def test_objects_are_written_with_their_paths(tmp_path):
    Layer.caches.clear()
    model = Layer(3.0, Layer(2.0))
    nodes, paths = save_and_return_nodes(model, tmp_path / "m")
    assert nodes[0] is model and paths[model] == ()
    assert [step.name for step in paths[model.below.kernel]] == ["below", "kernel"]
    assert paths[model.below.kernel][0].ref is model.below
    assert all(cache is Layer.caches[0] for cache in Layer.caches) and len(Layer.caches) > 2
    saved = parse_saved_model(tmp_path / "m").meta_graphs[0].object_graph_def.nodes
    assert saved[0].user_object.identifier == "_layer"
    assert [n.WhichOneof("kind") for n in saved].count("variable") == 2
    loaded = tf.saved_model.load(tmp_path / "m")
    serve = loaded.signatures["serving_default"]
    assert serve(tf.constant([1.0, 2.0]))["output_0"].numpy().tolist() == [3.0, 6.0]
    assert loaded.variables[0] is loaded.kernel
    with pytest.raises(OSError, match="does not exist"):
        parse_saved_model(tmp_path)


def test_known_objects_take_values_and_parts(tmp_path):
    save_and_return_nodes(Layer(3.0, Layer(2.0)), tmp_path / "m")
    model = Layer(0.0, Layer(0.0))
    given = []

    def put(owner, name, part):
        given.append((owner, name, [*part] if isinstance(part, list) else part))

    found = load_partial(
        tmp_path / "m",
        {
            "root": (model, put),
            "root.kernel": (model.kernel, setattr),
            "root.below": None,
        },
    )
    assert model.kernel.numpy() == 3.0 and found["root"] is model
    assert found["root.below"].kernel.numpy() == 2.0
    assert {name for owner, name, _ in given if owner is model} == {
        *("kernel", "below", "variables", "_default_save_signature", "signatures")
    }
    variables = next(part for _, name, part in given if name == "variables")
    assert variables[0] is model.kernel  # lists are filled before
    with pytest.raises(ValueError, match=r"no object at 'root\.nothing'"):
        load_partial(tmp_path / "m", {"root.nothing": (model, setattr)})
    assert registered_identifiers() == []


def test_parts_can_be_none_any_more():
    model, part = Layer(1.0), Layer(2.0)
    model._track_trackable(part, "extra")
    assert model._lookup_dependency("extra") is part
    assert [*model._self_unconditional_dependency_names] == ["extra"]
    model._delete_tracking("extra")
    model._delete_tracking("nothing")
    assert model._lookup_dependency("extra") is None


def test_structures_are_trackable():
    kernel = tf.Variable(1.0)
    for value, name in ((wrap([kernel]), "0"), (wrap({"a": kernel}), "a"), (wrap((kernel,)), "0")):
        assert isinstance(value, Trackable)
        assert value._trackable_children() == {name: kernel}
        assert value.variables == [kernel]


def test_tables_are_known_by_their_class():
    table = tf.lookup.StaticHashTable(KeyValueTensorInitializer(["a"], [1]), -1)
    assert isinstance(table, LookupInterface) and not isinstance(1, LookupInterface)
    assert not isinstance(table, RestoredResource)


def test_known_tables_are_filled_and_found_in(tmp_path):
    """An empty one, as of a layer that learns its vocabulary, and one that has its keys."""

    def words(*keys):
        made = AutoTrackable()
        values = tf.range(len(keys), dtype=tf.int64)
        entries = KeyValueTensorInitializer(tf.constant(keys, tf.string), values)
        made.table = tf.lookup.StaticHashTable(entries, -1)
        return made

    saved = words("a", "b")
    spec = [tf.TensorSpec([None], tf.string)]
    saved.find = tf.function(lambda x: saved.table.lookup(x), input_signature=spec)
    save_and_return_nodes(saved, tmp_path / "m", signatures=saved.find)
    asked = tf.constant(["b", "z", "a"])
    for known in (words(), words("a", "b")):
        table = known.table
        given = {}
        put = lambda owner, name, part: given.setdefault(name, part)
        ignore = lambda owner, name, part: None
        load_partial(tmp_path / "m", {"root": (known, put), "root.table": (table, ignore)})
        assert given["table"] is table
        assert table.lookup(asked).numpy().tolist() == [1, -1, 0]
        assert given["find"](asked).numpy().tolist() == [1, -1, 0]
        assert given["signatures"]["serving_default"](x=asked)["output_0"].numpy()[0] == 1


def test_regularizers_of_layers_are_recorded_for_a_known_rank():
    class Regularized:
        _activity_regularizer = staticmethod(lambda x: tf.reduce_sum(x))
        output_shape = (None, 3)

    class Module:
        @staticmethod
        def _wrap_activity_regularizer(layer):
            spec = [tf.TensorSpec(None, tf.float32)]
            return tf.function(layer._activity_regularizer, input_signature=spec)

    of_known_rank(Module)
    made = Module._wrap_activity_regularizer(Regularized())
    assert made.input_signature == (tf.TensorSpec([None, None], tf.float32),)
    assert made.get_concrete_function()(tf.ones([2, 3])).numpy() == 6.0
    Regularized.output_shape = None
    assert Module._wrap_activity_regularizer(Regularized()).input_signature[0].shape.rank is None


def test_placeholders_have_as_many_rows():
    def step(time, array, state):
        kept = tf.where(mask[:, time, None], x[:, time] + state, state)
        return time + 1, array.write(time, kept), kept

    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None, 3, 2])
        mask = tf.compat.v1.placeholder(tf.bool, [None, 3])
        arrays = tf.TensorArray(tf.float32, 3)
        start = (0, arrays, tf.zeros_like(x[:, 0]))
        _, found, last = tf.while_loop(lambda time, *_: time < 3, step, start)
        assert found.stack().shape.as_list() == [3, None, 2] and last.shape.as_list() == [None, 2]


def test_views_pass_functions_by():
    module = tf.Module()
    module.f = tf.function(lambda x: x)
    module.v = tf.Variable(1.0)
    found = tf.train.TrackableView(module).descendants()
    assert module.v in [x for x in found if isinstance(x, tf.Variable)]


def test_specs_without_names():
    assert tf.TensorSpec([2], tf.float32, "x")._without_tensor_names().name is None
    spec = tf.RaggedTensorSpec([None, None])
    assert spec._without_tensor_names() == spec
