"""Checkpoints of TensorFlow read here, and ours read by TensorFlow."""

from importlib.util import find_spec

import numpy as np
import pytest

import tape_compat
from tests.oracle import tensorflow
from tests.parity import store

pytestmark = pytest.mark.skipif(
    not store.installed(), reason="tensorflow, the oracle, is not installed (extra `parity`)"
)

DTYPES = (
    "bfloat16 float16 float32 float64 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool "
    "complex64 complex128"
).split()
WORDS = ["one", "two", "a longer one", "", "more than eight bytes", "ä"]


@pytest.fixture(params=["from TensorFlow", "to TensorFlow"])
def ways(request):
    """The module that writes, and that which reads."""
    ways = tensorflow(), tape_compat
    return ways if request.param == "from TensorFlow" else ways[::-1]


def variables(tf, factor):
    found = {}
    for dtype in DTYPES:
        array = np.arange(6).reshape(2, 3) % 2 + factor
        found[dtype] = tf.Variable(array.astype(tf.as_dtype(dtype).as_numpy_dtype))
    found["text"] = tf.Variable([["a", "b\0c", "x" * 300]] if factor else [["", "", ""]])
    found["empty"] = tf.Variable(np.zeros((0, 3), "float32"))
    found["large"] = tf.Variable(np.full((300, 300), float(factor)))
    return found


def same(one, other):
    np.testing.assert_array_equal(np.asarray(one.numpy()), np.asarray(other.numpy()))


def test_values_of_every_dtype(ways, tmp_path):
    (writer, reader), path = ways, str(tmp_path / "a")
    written, read = variables(writer, 1), variables(reader, 0)
    writer.train.Checkpoint(**written).save(path)
    checkpoint = reader.train.Checkpoint(**read)
    checkpoint.restore(reader.train.latest_checkpoint(str(tmp_path))).assert_consumed()
    for name, variable in written.items():
        same(read[name], variable)
    assert int(checkpoint.save_counter) == 1
    one, other = (tf.train.load_checkpoint(str(tmp_path)) for tf in ways)
    assert one.debug_string().splitlines() == other.debug_string().splitlines()


def objects(tf):
    """Modules in lists, dicts and tuples, a generator and tables."""
    inner, outer = tf.Module(), tf.Module()
    inner.w = tf.Variable([0.0, 0.0])
    outer.parts = [inner, (tf.Variable(0.0), {"a/b.c": tf.Variable(0.0)}), []]
    outer.same = inner
    lookup = tf.lookup.experimental
    table = lookup.MutableHashTable(tf.string, tf.int64, [-1, -1])
    dense = lookup.DenseHashTable(
        tf.string, tf.int64, default_value=-1, empty_key="?", deleted_key="$"
    )
    number = lookup.DenseHashTable(
        tf.int64, tf.float32, default_value=-1, empty_key=0, deleted_key=-1
    )
    pairs = lookup.DenseHashTable(tf.int64, tf.int64, -1, empty_key=[0, 0], deleted_key=[0, -1])
    generator = tf.random.Generator.from_seed(1)
    return tf.train.Checkpoint(
        m=outer, t=table, d=dense, n=number, p=pairs, g=generator, step=tf.Variable(0)
    )


def test_objects(ways, tmp_path):
    writer, reader = ways
    written, read = objects(writer), objects(reader)
    written.step.assign(3)
    written.m.same.w.assign([1.0, 2.0])
    written.m.parts[1][1]["a/b.c"].assign(5.0)
    written.g.skip(4)
    keys = np.arange(5, 105, 7)
    written.t.insert(WORDS, np.arange(12).reshape(6, 2))
    written.d.insert(WORDS, np.arange(6))
    written.n.insert(keys, keys.astype("float32"))
    written.p.insert(np.stack([keys, -keys], 1), keys)
    read.t.insert(["gone"], [[1, 1]])
    read.restore(written.save(str(tmp_path / "a"))).assert_consumed()
    assert int(read.step) == 3
    assert read.m.parts[0].w.numpy().tolist() == [1.0, 2.0]
    assert float(read.m.parts[1][1]["a/b.c"]) == 5.0
    same(read.g.state, written.g.state)
    assert int(read.t.size()) == 6
    same(read.t.lookup(writer.constant(WORDS).numpy()), written.t.lookup(WORDS))
    same(read.d.lookup(WORDS), written.d.lookup(WORDS))
    same(read.n.lookup(keys), written.n.lookup(keys))
    both = np.stack([keys, -keys], 1)
    same(read.p.lookup(both), written.p.lookup(both))
    assert int(read.d.size()) == 6 and int(read.n.size()) == int(read.p.size()) == len(keys)
    one, other = (tf.train.CheckpointView(str(tmp_path / "a-1")) for tf in ways)
    assert one.children(0) == other.children(0) and one.descendants() == other.descendants()


def test_objects_made_later(ways, tmp_path):
    writer, reader = ways
    written = objects(writer)
    written.m.same.w.assign([1.0, 2.0])
    late = reader.train.Checkpoint(m=reader.Module())
    status = late.restore(written.save(str(tmp_path / "a"))).expect_partial()
    late.m.parts = []
    late.m.parts.append(reader.Module())
    late.m.parts[0].w = reader.Variable([0.0, 0.0])
    assert late.m.parts[0].w.numpy().tolist() == [1.0, 2.0] and status is not None


OPTIMIZERS = {
    "SGD": {"momentum": 0.9},
    "Adam": {"amsgrad": True},
    "RMSprop": {"momentum": 0.1, "centered": True},
    "Adagrad": {},
}


@pytest.mark.skipif(find_spec("keras") is None, reason="Keras is not installed")
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_our_optimizers_and_those_of_keras(ways, name, tmp_path):
    def made(tf):
        v = [tf.Variable([1.0, 2.0]), tf.Variable([[3.0]])]
        return tf.train.Checkpoint(v=v, o=getattr(tf.optimizers, name)(0.1, **OPTIMIZERS[name]))

    def step(checkpoint):
        gradients = [np.ones(v.shape, "float32") for v in checkpoint.v]
        tf = tape_compat if isinstance(checkpoint, tape_compat.train.Checkpoint) else tensorflow()
        checkpoint.o.apply([tf.constant(g) for g in gradients], list(checkpoint.v))

    written, read = map(made, ways)
    for _ in range(3):
        step(written)
    status = read.restore(written.save(str(tmp_path / "a")))
    for _ in range(2):
        step(written)
        step(read)
    status.assert_consumed()
    for one, other in zip(read.v, written.v):
        np.testing.assert_allclose(one.numpy(), other.numpy(), 1e-5)


def test_checkpoints_of_tensorflow_1(tmp_path):
    """Names, and values saved in parts; no graph of objects."""
    tf, path = tensorflow(), str(tmp_path / "a")
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        whole = v1.get_variable("scope/whole", [3])
        parts = v1.get_variable("parts", [4, 2], partitioner=v1.fixed_size_partitioner(2))
        session.run(v1.global_variables_initializer())
        expected = session.run([whole, parts.as_tensor()])
        v1.train.Saver().save(session, path)
    ours = tape_compat.train
    assert ours.list_variables(path) == tf.train.list_variables(path)
    found = [ours.load_variable(path, name) for name in ("scope/whole", "parts:0")]
    for one, other in zip(found, expected):
        np.testing.assert_array_equal(one, other)
    variable = tape_compat.Variable([0.0, 0.0, 0.0], name="scope/whole")
    ours.Checkpoint(v=variable).restore(path).assert_consumed()
    np.testing.assert_array_equal(variable.numpy(), expected[0])
    with pytest.raises(AssertionError, match="Some objects had attributes which were not"):
        ours.Checkpoint(v=tape_compat.Variable(0.0, name="x")).restore(path).assert_consumed()
    with pytest.raises(ValueError, match="does not appear to be object-based"):
        ours.CheckpointView(path)


def test_positions_of_iterators_stay_with_whom_they_are_of(ways, tmp_path):
    """Each reads what else is in the checkpoint."""
    writer, reader = ways

    def made(tf, **more):
        return tf.train.Checkpoint(v=tf.Variable(more.pop("value", 0)), **more)

    iterator = iter(writer.data.Dataset.range(3))
    path = made(writer, value=3, i=iterator).save(str(tmp_path / "a"))
    plain = made(reader)
    plain.restore(path).expect_partial()
    assert int(plain.v) == 3
    other = made(reader, i=iter(reader.data.Dataset.range(3)))
    if reader is tape_compat:
        with pytest.raises(NotImplementedError, match="Leave the iterator out"):
            other.restore(path)
        assert int(other.v) == 0
    else:
        with pytest.raises(reader.errors.NotFoundError, match=r"Key i/.*STATE not found"):
            other.restore(path)
