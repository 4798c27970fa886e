"""Event files: what TensorBoard finds in them, and when."""

import base64
import gc
import json
import os

import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.diagnostics.summary import writers
from tests.goldens.make_summaries import CALLS, FILE, written
from tests.processes import run

GOLDEN = json.loads(FILE.read_text())


def events(folder):
    """The events of the only file of a folder, but for the first."""
    (name,) = os.listdir(folder)
    first, *others = tf.compat.v1.train.summary_iterator(os.path.join(folder, name))
    assert first.file_version == "brain.Event:2"
    return others


def values(folder):
    """Step, tag and value of each summary."""
    return [
        (event.step, value.tag, tf.make_ndarray(value.tensor).tolist())
        for event in events(folder)
        for value in event.summary.value
    ]


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    assert writers.STATE.writer is None and writers.STATE.step is None
    assert writers.STATE.recording is None


def test_goldens_are_complete():
    assert list(GOLDEN) == list(CALLS)


@pytest.mark.parametrize("name", [name for name in CALLS if "image" not in name])
def test_as_tensorboard_writes_it(name):
    assert written(tf, name) == base64.b64decode(GOLDEN[name])


@pytest.mark.parametrize("name", [name for name in CALLS if "image" in name])
def test_images_are_the_same_in_files_of_other_writers(name):
    pytest.importorskip("PIL")
    expected, found = (
        tf.compat.v1.Event.FromString(event).summary.value[0]
        for event in (base64.b64decode(GOLDEN[name]), written(tf, name))
    )
    assert found.tag == expected.tag and found.metadata == expected.metadata
    texts, ours = tf.make_ndarray(expected.tensor), tf.make_ndarray(found.tensor)
    assert ours.shape == texts.shape and ours[:2].tolist() == texts[:2].tolist()
    for mine, theirs in zip(ours[2:], texts[2:], strict=True):
        assert np.array_equal(tf.io.decode_png(mine), tf.io.decode_png(theirs))


def test_kinds_in_a_function(tmp_path):
    pytest.importorskip("PIL")
    writer = tf.summary.create_file_writer(str(tmp_path))
    traces = []

    @tf.function
    def step(x, count):
        traces.append(1)
        tf.summary.scalar("mean", tf.reduce_mean(x), step=count)
        tf.summary.histogram("all", x, step=count, buckets=2)
        tf.summary.image("pixels", tf.reshape(x, [1, 2, 2, 1]), step=count)
        tf.summary.audio("sound", tf.reshape(x, [1, 4, 1]), 8000, step=count)
        tf.summary.text("note", "a", step=count)

    with writer.as_default():
        for count in range(2):
            step(tf.constant([0.0, 0.25, 0.5, 1.0]) * count, tf.constant(count, tf.int64))
    assert traces == [1]
    found = events(tmp_path)
    assert [event.step for event in found] == [0] * 5 + [1] * 5
    tags = [event.summary.value[0].tag for event in found]
    assert tags == ["mean", "all", "pixels", "sound", "note"] * 2
    mean, histogram, image, sound, _ = (
        tf.make_ndarray(event.summary.value[0].tensor) for event in found[5:]
    )
    assert mean == np.float32(0.4375)
    assert histogram.tolist() == [[0.0, 0.5, 2.0], [0.5, 1.0, 2.0]]
    assert tf.io.decode_png(image[2]).numpy().ravel().tolist() == [0, 63, 127, 255]
    assert tf.audio.decode_wav(sound[0, 0]).audio.numpy().ravel().tolist()[:3] == [0.0, 0.25, 0.5]


def test_in_order_with_prints_and_other_functions(tmp_path, capfd):
    writer = tf.summary.create_file_writer(str(tmp_path))
    count = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def inner(x):
        tf.summary.scalar("inner", x, step=count)
        tf.print("inner")
        return x + 1.0

    @tf.function
    def outer(x):
        for _ in tf.range(2):
            x = inner(x)
            count.assign_add(1)
        tf.summary.scalar("outer", x, step=count)
        return x

    with writer.as_default():
        tf.summary.scalar("before", 0, step=count)
        assert outer(tf.constant(1.0)).numpy() == 3.0
        tf.summary.scalar("after", 9, step=count)
    assert values(tmp_path) == [
        (0, "before", 0.0),
        (0, "inner", 1.0),
        (1, "inner", 2.0),
        (2, "outer", 3.0),
        (2, "after", 9.0),
    ]


def test_a_condition_of_a_variable_decides_at_each_call(tmp_path):
    count = tf.Variable(0, dtype=tf.int64)
    costly = []

    @tf.function
    def step():
        count.assign_add(1)
        with tf.summary.record_if(lambda: count % 3 == 0):
            tf.summary.write("x", lambda: costly.append(1) or tf.cast(count, tf.float32), count)

    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        for _ in range(7):
            step()
    assert [step for step, _, _ in values(tmp_path)] == [3, 6]
    assert costly == [1]


def test_an_error_in_a_function_is_raised_by_its_call(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))

    @tf.function
    def step(x):
        tf.summary.scalar("x", x, step=0)

    with writer.as_default():
        step(tf.constant(1.0))
    writer.close()
    with pytest.raises(tf.errors.NotFoundError, match="does not exist"):
        step(tf.constant(1.0))


def test_what_is_kept_is_written_when_the_writer_is_gone(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    context = writer.as_default()
    context.__enter__()
    tf.summary.scalar("x", 1, step=0)
    writers.STATE.writer = None
    assert values(tmp_path) == []
    del writer, context
    gc.collect()
    assert values(tmp_path) == [(0, "x", 1.0)]


_EXITS = """
import os, sys
import tape_compat as tf
tf.summary.create_file_writer(sys.argv[1]).set_as_default(step=1)
tf.summary.scalar("x", 1)
if os.fork() == 0:
    tf.summary.text("child", "a")
    tf.summary.flush()
    os._exit(0)
os.wait()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_is_kept_is_written_once_at_the_end_of_processes(tmp_path):
    run("-W", "ignore", "-c", _EXITS, tmp_path, after="tape_compat")
    assert sorted(event.summary.value[0].tag for event in events(tmp_path)) == ["child", "x"]


def test_an_image_with_five_channels_is_refused(tmp_path):
    pytest.importorskip("PIL")
    with tf.summary.create_file_writer(str(tmp_path)).as_default(step=0):
        with pytest.raises(tf.errors.InvalidArgumentError, match="got 5"):
            tf.summary.image("x", tf.zeros([1, 2, 2, 5]))
        with pytest.raises(ValueError, match="rank 4"):
            tf.summary.image("x", tf.zeros([2, 2, 5]))


def nodes(graph_def):
    """Names and kinds of the nodes of a GraphDef, and what they read."""
    from tape_compat._src.data.io import wire

    found = {}
    for number, _, node in wire.fields(graph_def):
        if number == 1:
            parts = {}
            for key, _, value in wire.fields(node):
                if key in (1, 2, 3):
                    parts.setdefault(key, []).append(bytes(value).decode())
            found[parts[1][0]] = (parts[2][0], parts.get(3, []))
    return found


def test_graph(tmp_path):
    w = tf.Variable(2.0)
    f = tf.function(lambda x: tf.exp(x) * w + 1.0)
    concrete = f.get_concrete_function(tf.TensorSpec([None], tf.float32, name="x"))
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        assert tf.summary.graph(concrete.graph)
        with pytest.raises(ValueError, match="is not tf"):
            tf.summary.graph(3)
    (event,) = events(tmp_path)
    assert event.step == 0 and event.WhichOneof("what") == "graph_def"
    found = nodes(event.graph_def)
    assert found["x"] == ("Placeholder", []) and found["Exp"] == ("Exp", ["x"])
    assert found["mul"] == ("Mul", ["Exp", "ReadVariableOp"])
    assert found["ReadVariableOp"] == ("ReadVariableOp", [])
    assert all(name in found for _, inputs in found.values() for name in inputs)


def test_traces_hold_the_graphs_of_functions_that_were_called(tmp_path, caplog):
    f, g = tf.function(lambda x: tf.sin(x)), tf.function(lambda x: tf.cos(x))
    f(tf.constant(1.0))
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.trace_on()
        tf.summary.trace_on()
        assert "already enabled" in caplog.text
        f(tf.constant(2.0))
        f(tf.constant(3.0))
        tf.summary.trace_export("graphs", step=4)
        g(tf.constant(1.0))
        with pytest.raises(ValueError, match="Must enable trace"):
            tf.summary.trace_export("graphs", step=4)
    (event,) = events(tmp_path)
    (value,) = event.summary.value
    assert (event.step, value.tag) == (4, "graphs")
    assert value.metadata.plugin_data.plugin_name == "graph_run_metadata_graph"
    data = tf.make_ndarray(value.tensor).item()
    assert data.count(b"Sin") and not data.count(b"Cos")


def test_profile(tmp_path):
    profiler = tf.profiler.experimental
    with profiler.Profile(str(tmp_path)):
        with pytest.raises(tf.errors.AlreadyExistsError, match="Another profiler"):
            profiler.start(str(tmp_path))
        with profiler.Trace("step", step_num=1) as trace:
            trace.set_metadata(size=3)
            tf.exp(tf.ones([3])).numpy()
    assert list(tmp_path.glob("plugins/profile/*/*.xplane.pb"))
    profiler.start("")
    profiler.stop(save=False)
    with pytest.raises(tf.errors.UnavailableError, match="No profiler"):
        profiler.stop()
    with pytest.raises(NotImplementedError, match="delay_ms"):
        profiler.start("", profiler.ProfilerOptions(delay_ms=3))


def test_summaries_hold_one_kind_of_value():
    value = tf.compat.v1.Summary.Value(tag="a", simple_value=0.0)
    assert value.WhichOneof("value") == "simple_value" and value.HasField("simple_value")
    value.tensor.CopyFrom(tf.make_tensor_proto(1.0))
    again = tf.compat.v1.Summary.Value.FromString(value.SerializeToString())
    assert again == value and repr(again).startswith('tag: "a"')
    value.simple_value = 2.5
    assert value.WhichOneof("value") == "simple_value" and not value.HasField("tensor")
    with pytest.raises(ValueError, match="no such field"):
        value.HasField("tag")
    with pytest.raises(TypeError):
        value.tag = 3
    with pytest.raises(AttributeError, match="no field"):
        value.other = 3
