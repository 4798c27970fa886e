"""Checkpoints: what is saved comes back, what is not there yet waits, and damage is seen."""

import collections
import copy
import gc
import logging
import os
import pickle
import types

import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.checkpoint import slices, snappy, table
from tape_compat._src.data.io import records
from tape_compat._src.standin.keras2 import CheckpointInitialValueCallable

Variable = tf.Variable
Checkpoint = tf.train.Checkpoint


class Net(tf.Module):
    """A module whose parts are made by `build`, in a list, a dict, a tuple and nests of them."""

    def __init__(self):
        super().__init__()
        self.layers, self.named, self.nested = [], {}, [[], {"inside": []}]

    def build(self):
        for i in range(3):
            self.layers.append(Variable([float(i)] * 2))
        self.named["a"] = Variable(1.0)
        self.named.update(b=Variable(2.0))
        self.late = [Variable(1.0), {"z": Variable(5.0)}]
        self.pair = (Variable(3.0), [Variable(4.0)])
        self.nested[0].append(Variable(1.0))
        self.nested[1]["inside"].append(Variable(2.0))
        self.nested[1]["inside"] += [Variable(3.0)]
        return self


def values(module):
    return [v.numpy().tolist() for v in module.variables]


@pytest.fixture
def trained(tmp_path):
    """A module with values of its own, and its checkpoint."""
    net = Net().build()
    for i, variable in enumerate(net.variables):
        variable.assign(tf.zeros_like(variable) + 10.0 * i + 1.0)
    return net, Checkpoint(net=net, step=Variable(7)).save(tmp_path / "a")


# -- values and names ----------------------------------------------------------------------------

DTYPES = (
    "bfloat16 float16 float32 float64 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool "
    "complex64 complex128"
).split()


def test_every_dtype_comes_back(tmp_path):
    def made(factor):
        kept = {d: np.arange(4).reshape(2, 2).astype(tf.as_dtype(d).np_dtype) for d in DTYPES}
        return {d: Variable(x if factor else np.zeros_like(x)) for d, x in kept.items()}

    before = made(1)
    path = Checkpoint(**before, text=Variable([["a", "b\0c"]])).write(tmp_path / "a")
    after = made(0)
    status = Checkpoint(**after, text=Variable([["", ""]])).read(path)
    status.assert_consumed()
    for dtype in DTYPES:
        assert after[dtype].dtype.name == dtype
        np.testing.assert_array_equal(after[dtype].numpy(), before[dtype].numpy())
    text = tf.train.load_variable(path, "text/.ATTRIBUTES/VARIABLE_VALUE")
    assert text.tolist() == [[b"a", b"b\0c"]]


def test_keys_are_those_of_tensorflow(tmp_path):
    pair = collections.namedtuple("pair", "x y")(Variable(1.0), Variable(2.0))
    shared = Variable(3.0)
    parts = {"l": [Variable(1.0), [shared]], "d": {"a/b.c": Variable(1.0)}, "p": pair, "s": shared}
    path = Checkpoint(**parts).save(tmp_path / "a")
    found = {name.removesuffix("/.ATTRIBUTES/VARIABLE_VALUE") for name, _ in list_of(path)}
    assert found == {
        *("l/0", "s", "d/a.Sb..c", "p/x", "p/y", "save_counter", "_CHECKPOINTABLE_OBJECT_GRAPH"),
    }


def list_of(path):
    return tf.train.list_variables(path)


def test_a_root_is_saved_with_what_is_attached(tmp_path):
    net = Net().build()
    path = Checkpoint(net, step=Variable(3)).save(tmp_path / "a")
    other = Net().build()
    checkpoint = Checkpoint(other, step=Variable(0))
    other.layers[1].assign([9.0, 9.0])
    checkpoint.restore(path).assert_consumed()
    assert int(checkpoint.step) == 3 and int(checkpoint.save_counter) == 1
    assert values(other) == values(net)


@pytest.mark.parametrize("shape", [[None], None])
def test_a_variable_of_unknown_size_takes_another_one(tmp_path, shape):
    path = Checkpoint(v=Variable([1.0, 2.0])).write(tmp_path / "a")
    v = Variable([0.0], shape=tf.TensorShape(shape))
    Checkpoint(v=v).read(path).assert_consumed()
    assert v.numpy().tolist() == [1.0, 2.0]


def test_objects_of_other_kinds(tmp_path):
    def made():
        iterator = iter(tf.data.Dataset.range(20).shuffle(20, seed=1))
        table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        dense = tf.lookup.experimental.DenseHashTable(
            tf.string, tf.int64, default_value=-1, empty_key="", deleted_key="$"
        )
        return Checkpoint(i=iterator, g=tf.random.Generator.from_seed(3), t=table, d=dense)

    first = made()
    for _ in range(5):
        next(first.i)
    first.g.normal([2])
    first.t.insert(["a"], tf.constant([1], tf.int64))
    words = ["one", "two", "a longer one", "of many", "words"]
    first.d.insert(words, tf.range(5, dtype=tf.int64))
    path = first.save(tmp_path / "a")
    second = made()
    second.t.insert(["b"], tf.constant([1], tf.int64))
    second.restore(path).assert_consumed()
    assert int(next(second.i)) == int(next(first.i))
    assert second.g.normal([2]).numpy().tolist() == first.g.normal([2]).numpy().tolist()
    assert second.t.export()[0].numpy().tolist() == [b"a"]
    assert second.d.lookup(words).numpy().tolist() == list(range(5))


def test_what_cannot_be_saved_is_refused():
    net = tf.Module()
    net.v = Variable(1.0)
    for given in (3, "x", None, tf.constant(1.0), (1, 2)):
        with pytest.raises(ValueError, match="was expecting a to be a trackable object"):
            Checkpoint(a=given)
    with pytest.raises(ValueError, match="Cannot create a Checkpoint with keyword argument v"):
        Checkpoint(net, v=Variable(2.0))
    with pytest.raises(ValueError, match="non-string key"):
        Checkpoint(a={1: Variable(1.0)}).write("never")
    with pytest.raises(NotImplementedError, match="from a function is not supported"):
        tf.function(lambda: Checkpoint(net).save("never"))()


def test_attributes_without_tracking_are_left_out(tmp_path):
    net = tf.Module()
    net.kept, net.out = Variable(1.0), net._no_dependency(Variable(2.0))
    assert list(tf.train.TrackableView(net).children(net)) == ["kept"]
    net.out = Variable(3.0)
    del net.kept
    net._track_trackable(Variable(4.0), "by_name")
    assert list(tf.train.TrackableView(net).children(net)) == ["out", "by_name"]


# -- what is not there yet -----------------------------------------------------------------------


def test_parts_made_later_take_their_values(trained):
    net, path = trained
    other = Net()
    checkpoint = Checkpoint(net=other, step=Variable(0))
    status = checkpoint.restore(path)
    status.assert_existing_objects_matched().assert_nontrivial_match()
    with pytest.raises(AssertionError, match=r"Unresolved object in checkpoint \(root\).net"):
        status.assert_consumed()
    other.build()
    assert values(other) == values(net)
    status.assert_consumed()
    assert "_self_waiting" not in vars(other)


def test_lists_that_are_referred_to_a_second_time_take_their_values(tmp_path):
    """Optimizers of Keras make their variables in a list that they put into a store before, and set
    no attribute then."""

    class Tracked(tf.Module):
        def __init__(self):
            super().__init__()
            self.slots = []
            stores = {"variables": (lambda x: isinstance(x, Variable), self.slots)}
            self._tracker = types.SimpleNamespace(config=stores)

        def build(self, value):
            self._tracker.config["variables"][1].append(Variable(value))
            return self

    path = Checkpoint(made=Tracked().build(3.0)).write(tmp_path / "a")
    late = Checkpoint(made=Tracked())
    status = late.read(path)
    assert float(late.made.build(0.0).slots[0]) == 3.0
    status.assert_consumed()
    assert late.made._tracker.config["variables"][1] is late.made.slots


def test_an_object_added_later_takes_its_values(trained):
    net, path = trained
    checkpoint = Checkpoint(step=Variable(0))
    status = checkpoint.restore(path)
    checkpoint.net = Net().build()
    assert values(checkpoint.net) == values(net)
    status.assert_consumed()


def test_the_last_restored_wins_and_others_fill_in(tmp_path):
    one = Checkpoint(x=Variable(1.0)).write(tmp_path / "one")
    two = Checkpoint(x=Variable(2.0), y=Variable(3.0)).write(tmp_path / "two")
    late = Checkpoint()
    statuses = [late.read(two), late.read(one)]
    late.x, late.y = Variable(0.0), Variable(0.0)
    assert (float(late.x), float(late.y)) == (1.0, 3.0)
    statuses[1].expect_partial()


def test_a_list_that_is_changed_behind_what_waits_for_it_is_refused(tmp_path):
    path = Checkpoint(parts=[Variable(1.0)]).write(tmp_path / "a")
    parts = []
    checkpoint = Checkpoint(parts=parts)
    checkpoint.read(path).expect_partial()
    checkpoint.write(tmp_path / "b")
    parts.append(Variable(2.0))
    with pytest.raises(ValueError, match="modified outside the wrapper"):
        checkpoint.write(tmp_path / "b")
    checkpoint = Checkpoint(parts=[])
    checkpoint.read(path)
    checkpoint.parts.append(Variable(0.0))
    assert float(checkpoint.parts[0]) == 1.0
    assert [float(x) for x in tf.nest.flatten(checkpoint.parts)] == [1.0]
    assert float(tf.add_n(tf.nest.map_structure(lambda x: x + 1.0, checkpoint.parts))) == 2.0


def test_copies_do_not_wait(trained):
    net = Net()
    status = Checkpoint(net=net).restore(trained[1]).expect_partial()
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert other.build().layers[1].numpy().tolist() == [1.0, 1.0]
    assert values(net.build()) == values(trained[0])
    assert status is not None


def test_a_variable_made_in_a_function(tmp_path):
    class Lazy(tf.Module):
        @tf.function
        def __call__(self, x):
            if not hasattr(self, "w"):
                self.w = Variable(3.0)
            return self.w * x

    first, second = Lazy(), Lazy()
    first(tf.constant(1.0))
    first.w.assign(8.0)
    path = Checkpoint(m=first).write(tmp_path / "a")
    status = Checkpoint(m=second).read(path)
    assert float(second(tf.constant(2.0))) == 16.0
    status.assert_consumed()


def test_an_optimizer_goes_on_where_it_was(tmp_path):
    def step(optimizer, variables):
        optimizer.apply([tf.ones_like(v) for v in variables], variables)

    def made():
        variables = [Variable([1.0, 2.0]), Variable(3.0)]
        return Checkpoint(v=variables, o=tf.optimizers.Adam(0.1, amsgrad=True))

    first, second = made(), made()
    for _ in range(3):
        step(first.o, first.v)
    path = first.save(tmp_path / "a")
    status = second.restore(path)
    for _ in range(2):
        step(first.o, first.v)
        step(second.o, second.v)
    status.assert_consumed()
    assert int(second.o.iterations) == 5
    for one, other in zip(first.v, second.v):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    names = {name.split("/.A")[0] for name, _ in list_of(path)}
    assert {f"o/_variables/{i}" for i in range(2, 8)} | {"o/_iterations"} <= names
    parts = set(tf.train.TrackableView(first).children(first.o))
    assert {"_momentums", "_velocities", "_velocity_hats", "_learning_rate"} <= parts


class Slots(tf.Module):
    """An optimizer as those of TensorFlow 2.10: its variables are slots of others."""

    def __init__(self):
        super().__init__()
        self._slots = self._no_dependency({})

    def get_slot_names(self):
        return ["m"]

    def get_slot(self, variable, name):
        return self._slots.get(id(variable))

    def make(self, variable, value):
        self._slots[id(variable)] = Variable(value)

    def _create_or_restore_slot_variable(self, slot_variable_position, slot_name, variable):
        return self._slots.setdefault(id(variable), Variable(0.0))


def test_slots_of_optimizers(tmp_path):
    v, optimizer = Variable(1.0), Slots()
    optimizer.make(v, 5.0)
    path = Checkpoint(v=v, o=optimizer).write(tmp_path / "a")
    assert list_of(path)[1][0] == "v/.ATTRIBUTES/VARIABLE_VALUE"
    assert list_of(path)[2][0] == "v/.OPTIMIZER_SLOT/o/m/.ATTRIBUTES/VARIABLE_VALUE"
    for early in (True, False):
        w, other = Variable(0.0), Slots()
        checkpoint = Checkpoint(v=w, o=other) if early else Checkpoint(v=w)
        status = checkpoint.read(path)
        checkpoint.o = other
        status.assert_consumed()
        assert float(other.get_slot(w, "m")) == 5.0
    options = tf.train.CheckpointOptions(experimental_skip_slot_variables=True)
    w, other = Variable(0.0), Slots()
    Checkpoint(v=w, o=other).read(path, options).assert_consumed()
    assert other.get_slot(w, "m") is None


# -- what does not fit ---------------------------------------------------------------------------


def test_nothing_is_half_restored(tmp_path):
    path = Checkpoint(a=Variable(1.0), b=Variable([1.0, 2.0])).write(tmp_path / "a")
    for other, error, message in (
        (Variable([0.0, 0.0, 0.0]), ValueError, r"with shape \(2,\) when attempting to restore"),
        (Variable([0, 0]), tf.errors.InvalidArgumentError, "expected dtype int32 does not equal"),
    ):
        checkpoint = Checkpoint(a=Variable(9.0), b=other)
        with pytest.raises(error, match=message):
            checkpoint.read(path)
        assert float(checkpoint.a) == 9.0
        assert "_self_waiting" not in vars(checkpoint)


def test_what_is_missing_is_said(tmp_path, caplog):
    path = Checkpoint(a=Variable(1.0), b=Variable(2.0)).write(tmp_path / "a")
    checkpoint = Checkpoint(a=Variable(0.0), c=Variable(3.0))
    status = checkpoint.read(path)
    with pytest.raises(AssertionError, match="Found 1 Python objects that were not bound"):
        status.assert_existing_objects_matched()
    status.assert_nontrivial_match()
    with pytest.raises(AssertionError, match="Nothing except the root object matched"):
        Checkpoint(q=Variable(1.0)).read(path).expect_partial().assert_nontrivial_match()
    with caplog.at_level(logging.WARNING, logger="tape_compat"):
        del status, checkpoint
        gc.collect()
    assert "Value in checkpoint could not be found in the restored object: (root).b" in caplog.text


def test_a_restored_none_says_so():
    status = Checkpoint(v=Variable(1.0)).restore(None)
    with pytest.raises(AssertionError, match="No checkpoint specified"):
        status.assert_consumed()
    assert status.initialize_or_restore() is None


def test_an_iterator_of_tensorflow_is_refused(tmp_path):
    iterator = iter(tf.data.Dataset.range(3))
    with pytest.raises(NotImplementedError, match="Leave the iterator out"):
        iterator._refuse_values(["ITERATOR"])


# -- files ---------------------------------------------------------------------------------------


@pytest.fixture
def written(tmp_path):
    v = Variable(np.arange(100.0))
    return v, Checkpoint(v=v), Checkpoint(v=v, text=Variable("x")).write(tmp_path / "a")


@pytest.mark.parametrize("end", ["index", "data-00000-of-00001"])
@pytest.mark.parametrize("harm", ["cut", "changed", "empty", "gone"])
def test_damage_is_seen_and_changes_nothing(written, end, harm):
    v, checkpoint, path = written
    file = f"{path}.{end}"
    with open(file, "rb") as opened:
        data = opened.read()
    changed = data[:20] + bytes([data[20] ^ 255]) + data[21:]
    harmed = {"cut": data[: len(data) // 2], "changed": changed, "empty": b""}
    os.remove(file)
    if harm != "gone":
        with open(file, "wb") as opened:
            opened.write(harmed[harm])
    v.assign(tf.zeros([100], tf.float64))
    with pytest.raises(tf.errors.OpError) as raised:
        checkpoint.read(path)
    kinds = {"gone": tf.errors.NotFoundError, "changed": tf.errors.DataLossError}
    short = tf.errors.DataLossError if end == "index" else tf.errors.OutOfRangeError
    assert isinstance(raised.value, kinds.get(harm, short))
    assert not v.numpy().any()


def test_a_failed_write_leaves_what_was_there(written, monkeypatch):
    v, checkpoint, path = written
    before = sorted(os.listdir(os.path.dirname(path)))
    v.assign(v + 1.0)

    def fails(rows):
        raise OSError("no space")

    monkeypatch.setattr("tape_compat._src.checkpoint.bundle.table_of", fails)
    with pytest.raises(tf.errors.OpError):
        checkpoint.write(path)
    monkeypatch.undo()
    assert sorted(os.listdir(os.path.dirname(path))) == before
    checkpoint.read(path).expect_partial()
    assert v.numpy().tolist() == list(range(100))


def test_no_checkpoint_is_found(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching files for"):
        tf.train.load_checkpoint(tmp_path / "a")
    with pytest.raises(tf.errors.NotFoundError, match="You may be missing the checkpoint suffix"):
        Checkpoint().restore(str(tmp_path / "a"))
    with pytest.raises(ValueError, match="Couldn't find 'checkpoint' file"):
        tf.train.load_checkpoint(tmp_path)
    (tmp_path / "old").write_bytes(b"version 1")
    with pytest.raises(NotImplementedError, match="version 1"):
        tf.train.load_checkpoint(tmp_path / "old")


def test_written_aside_are_the_values_of_the_call(tmp_path):
    v = Variable(np.ones(1000))
    checkpoint, called = Checkpoint(v=v), []
    options = tf.train.CheckpointOptions(
        enable_async=True, experimental_write_callbacks=[called.append]
    )
    path = checkpoint.save(tmp_path / "a", options)
    v.assign(v * 2.0)
    checkpoint.sync()
    assert called == [path] and tf.train.latest_checkpoint(tmp_path) == path
    checkpoint.restore(path).assert_consumed()
    assert v.numpy().sum() == 1000.0
    (tmp_path / "file").write_text("")
    checkpoint.write(tmp_path / "file" / "a", options)
    with pytest.raises(tf.errors.OpError):
        checkpoint.sync()


def test_tables_with_many_keys_and_blocks(monkeypatch):
    monkeypatch.setattr(table, "_BLOCK", 1 << 10)
    rows = {f"layer/{i // 7}/{i}".encode(): str(i).encode() * (i % 9) for i in range(2000)}
    assert table.read_table(table.table_of(rows), "f") == dict(sorted(rows.items()))
    assert table.read_table(table.table_of({}), "f") == {}


def test_keys_of_parts_and_old_blocks():
    key = slices.slice_key("b", ((0, 2), (300, -70), (0, None)))
    assert key == b"\0b\0\1\1\3\x80\x82\xc1\x2c\x3f\xba\x80\x7f"
    text = b"\x0c" + bytes([3 << 2]) + b"abcd" + bytes([1 | 4 << 2, 4])
    assert snappy.decompressed(text) == b"abcdabcdabcd"
    with pytest.raises(ValueError, match="before the beginning"):
        snappy.decompressed(b"\x04" + bytes([1, 4]))


def test_checksums_of_large_values(monkeypatch):
    data = np.random.default_rng(0).integers(0, 256, 70_001, np.uint8).tobytes()
    expected = records.crc32c(data)
    monkeypatch.setattr(records, "_LARGE", 1 << 10)
    assert records.crc32c(data) == expected


# -- folders -------------------------------------------------------------------------------------


def test_a_manager_keeps_the_latest(tmp_path):
    step = Variable(0)
    checkpoint = Checkpoint(step=step)
    options = {"max_to_keep": 2, "step_counter": step, "checkpoint_interval": 2}
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, **options)
    assert manager.restore_or_initialize() is None
    saved = []
    for _ in range(7):
        step.assign_add(1)
        saved.append(manager.save())
    assert [path is None for path in saved] == [False, True] * 3 + [False]
    names = {os.path.basename(path) for path in saved if path}
    assert names == {f"ckpt-{i}" for i in range(1, 5)}
    assert [os.path.basename(path) for path in manager.checkpoints] == ["ckpt-3", "ckpt-4"]
    assert len(os.listdir(tmp_path)) == 5
    step.assign(0)
    again = tf.train.CheckpointManager(checkpoint, tmp_path, **options)
    assert again.checkpoints == manager.checkpoints
    assert again.restore_or_initialize() == manager.latest_checkpoint and int(step) == 7
    assert again.save() is None  # of the same step
    assert again.save(check_interval=False) is None
    step.assign_add(1)
    assert again.save(checkpoint_number=77, check_interval=False).endswith("ckpt-77")


def test_a_manager_keeps_one_for_good(tmp_path):
    manager = tf.train.CheckpointManager(
        Checkpoint(), tmp_path, max_to_keep=1, keep_checkpoint_every_n_hours=1e-12
    )
    paths = [manager.save() for _ in range(3)]
    assert manager.checkpoints == paths[2:]
    assert all(os.path.exists(f"{path}.index") for path in paths)
    state = tf.train.get_checkpoint_state(tmp_path)
    assert state.last_preserved_timestamp > 0 and len(state.all_model_checkpoint_paths) == 1


def test_a_manager_begins_with_init_fn(tmp_path):
    called = []
    manager = tf.train.CheckpointManager(
        Checkpoint(), tmp_path, max_to_keep=1, init_fn=lambda: called.append(1)
    )
    assert manager.restore_or_initialize() is None and called == [1]
    for wrong in ({"max_to_keep": 0}, {"max_to_keep": 1, "checkpoint_interval": 3}):
        with pytest.raises(ValueError):
            tf.train.CheckpointManager(Checkpoint(), tmp_path, **wrong)


def test_the_state_of_a_folder(tmp_path, caplog):
    file = tmp_path / "checkpoint"
    assert tf.train.get_checkpoint_state(tmp_path) is None
    file.write_text('# a comment\nmodel_checkpoint_path: "a\\"b-\\303\\244"\n')
    state = tf.train.get_checkpoint_state(tmp_path)
    assert state.model_checkpoint_path == f'{tmp_path}/a"b-ä'
    assert tf.train.latest_checkpoint(tmp_path) is None
    file.write_text(str(state))
    assert str(tf.train.get_checkpoint_state(tmp_path)) == str(state)
    file.write_text("garbage")
    assert tf.train.get_checkpoint_state(tmp_path) is None
    assert "Checkpoint ignored" in caplog.text
    file.write_text("")
    with pytest.raises(ValueError, match="Invalid checkpoint state loaded from"):
        tf.train.get_checkpoint_state(tmp_path)


def test_views(trained):
    net, path = trained
    view = tf.train.CheckpointView(path)
    assert set(view.children(0)) == {"net", "step", "save_counter"}
    checkpoint = Checkpoint(net=net)
    matched, only_there, only_here = view.diff(checkpoint)
    assert matched[view.children(0)["net"]] is net
    assert set(only_there) == {view.children(0)[name] for name in ("step", "save_counter")}
    assert only_here == []
    with pytest.raises(ValueError, match="Expected a Trackable"):
        view.match(3)


class OfKeras2(tf.Module):
    """What an optimizer of Keras 2 does with the positions of its slots."""

    def __init__(self, eager):
        super().__init__()
        self.eager, self.slots, self.later = eager, {}, []

    def _create_or_restore_slot_variable(self, slot_variable_position, slot_name, variable):
        position = slot_variable_position
        assert position.is_simple_variable() and position.restore_uid >= 0
        if not self.eager:
            self.later.append((slot_name, position))
            return None
        initial = CheckpointInitialValueCallable(checkpoint_position=position)
        made = initial(shape=position.value_shape(), dtype=variable.dtype)
        self.slots[slot_name] = tf.Variable(made)
        return self.slots[slot_name]


@pytest.mark.parametrize("eager", [True, False])
def test_positions_of_slots(tmp_path, eager):
    variable = tf.Variable([1.0, 2.0])
    optimizer = tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)
    optimizer.minimize(lambda: tf.reduce_sum(variable * variable), var_list=[variable])
    path = tf.train.Checkpoint(optimizer=optimizer, variable=variable).save(str(tmp_path / "c"))
    other, again = OfKeras2(eager), tf.Variable([0.0, 0.0])
    tf.train.Checkpoint(optimizer=other, variable=again).restore(path)
    assert again.numpy().tolist() == variable.numpy().tolist()
    for name, position in other.later:
        other.slots[name] = tf.Variable(tf.zeros(position.value_shape()))
        position.restore(other.slots[name])
    assert other.slots["momentum"].numpy().tolist() == [2.0, 4.0]
