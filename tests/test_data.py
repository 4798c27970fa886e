"""`tf.data`: streams, threads, seeds, errors with their places, and functions that run compiled."""

import gc
import logging
import threading
import time
import weakref

import jax
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.data import parallel, prefetching
from tape_compat._src.run import policy

Dataset = tf.data.Dataset


def numbers(dataset):
    return [int(x) for x in dataset]


# --- streams


def test_nothing_runs_before_it_is_asked_for():
    made = []

    def generate():
        for i in range(100):
            made.append(i)
            yield i

    dataset = Dataset.from_generator(generate, output_signature=tf.TensorSpec([], tf.int32))
    iterator = iter(dataset.map(lambda x: x + 1).batch(2))
    assert made == []
    next(iterator)
    assert made == [0, 1]


def test_an_endless_dataset_is_no_problem():
    dataset = Dataset.range(3).repeat().shuffle(2).map(lambda x: x + 1).batch(4).prefetch(1)
    assert [len(x) for x in dataset.take(3)] == [4, 4, 4]


def test_changing_the_array_afterwards_changes_nothing():
    array = np.arange(4)
    dataset = Dataset.from_tensor_slices(array)
    array[:] = 7
    assert numbers(dataset) == [0, 1, 2, 3]


def test_a_generator_may_use_one_buffer():
    def generate():
        buffer = np.zeros(2, np.float32)
        for i in range(3):
            buffer[:] = i
            yield buffer

    dataset = Dataset.from_generator(generate, output_signature=tf.TensorSpec([2], tf.float32))
    assert [x[0] for x in list(dataset.as_numpy_iterator())] == [0, 1, 2]


def test_batches_of_a_shuffle_hold_matching_rows():
    x = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    dataset = Dataset.from_tensor_slices((x, np.arange(50))).shuffle(50).repeat(2).batch(8)
    seen = []
    for rows, places in dataset.prefetch(2):
        np.testing.assert_array_equal(rows, x[places.numpy()])
        seen += places.numpy().tolist()
    assert sorted(seen) == sorted([*range(50)] * 2)


def test_a_shuffle_is_uniform():
    tf.random.set_seed(5)
    dataset = Dataset.range(4).shuffle(4)
    counts = np.zeros((4, 4))
    for _ in range(800):
        counts[numbers(dataset), range(4)] += 1
    assert np.abs(counts / 800 - 0.25).max() < 0.08


def test_a_shuffle_of_elements_is_uniform():
    tf.random.set_seed(5)
    dataset = Dataset.range(4).filter(lambda x: x >= 0).cache().shuffle(4)
    counts = np.zeros((4, 4))
    for _ in range(800):
        counts[numbers(dataset), range(4)] += 1
    assert np.abs(counts / 800 - 0.25).max() < 0.08


def test_seeds_make_shuffles_repeatable():
    def orders():
        tf.random.set_seed(7)
        dataset = Dataset.range(20).shuffle(20)
        return numbers(dataset), numbers(dataset)

    assert orders() == orders()
    first, second = orders()
    assert first != second
    assert numbers(Dataset.range(20).shuffle(5, seed=1)) == numbers(
        Dataset.range(20).shuffle(5, seed=1)
    )


# --- threads


def test_prefetch_runs_ahead_as_far_as_it_may():
    made = []

    def generate():
        for i in range(100):
            made.append(i)
            yield i

    spec = tf.TensorSpec([], tf.int32)
    iterator = iter(Dataset.from_generator(generate, output_signature=spec).prefetch(3))
    next(iterator)
    wait_until(lambda: len(made) >= 4)
    time.sleep(0.02)
    assert 4 <= len(made) <= 6


@pytest.mark.parametrize(("size", "ahead"), [(1, 8), (1 << 19, 4)])
def test_how_far_prefetch_runs_ahead_by_itself_depends_on_the_size_of_elements(size, ahead):
    made, before = [], set(prefetching_threads())

    def generate():
        for i in range(20):
            made.append(i)
            time.sleep(0.01 * (i in (1, 2)))
            yield np.zeros(size, np.float32)

    spec = tf.TensorSpec([size], tf.float32)
    dataset = Dataset.from_generator(generate, output_signature=spec).prefetch(tf.data.AUTOTUNE)
    iterator = iter(dataset)
    for _ in range(4):  # of which two take long; the last one comes from a thread
        next(iterator)
    wait_until(lambda: len(made) == 3 + ahead)
    for _ in range(ahead):
        next(iterator)
    wait_until(lambda: 3 + ahead < len(made) <= 3 + 2 * ahead)
    del iterator
    gc.collect()
    wait_until(lambda: set(prefetching_threads()) <= before)  # none is still to add to `made`
    made.clear()
    iterator = iter(dataset)
    next(iterator)  # which is known to take long now
    wait_until(lambda: len(made) == ahead)


def test_quick_elements_are_made_as_they_are_asked_for(monkeypatch):
    monkeypatch.setattr(prefetching, "QUICK_SECONDS", 60.0)
    made, before = [], prefetching_threads()
    dataset = Dataset.range(10).map(lambda x: [tf.py_function(made.append, [x], []), x][1])
    iterator = iter(dataset.prefetch(tf.data.AUTOTUNE))
    for i in range(5):
        assert next(iterator).numpy() == i
        assert len(made) == i + 1
    assert set(prefetching_threads()) <= set(before)


def wait_until(true, seconds=60.0):
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.005)
    assert true()


@pytest.mark.parametrize("size", [0, 1])
def test_a_dataset_of_one_element_is_prefetched_without_a_thread(size):
    before = prefetching_threads()
    iterator = iter(Dataset.range(size).map(lambda x: x + 1).prefetch(1))
    assert [int(x) for x in iterator] == [1] * size
    assert set(prefetching_threads()) <= set(before)


def prefetching_threads():
    return [t for t in threading.enumerate() if t.name.startswith("tape_compat")]


def test_threads_end_with_their_iterators():
    dataset = Dataset.range(100).filter(lambda x: x >= 0).prefetch(2)
    for _ in range(1000):
        iterator = iter(dataset)
        next(iterator)
    assert len(prefetching_threads()) < 50
    del iterator
    gc.collect()
    wait_until(lambda: not prefetching_threads())


def test_an_error_comes_through_prefetch_and_the_next_element_after_it():
    dataset = Dataset.from_tensor_slices([1.0, 0.0, 2.0])
    dataset = dataset.map(lambda x: tf.debugging.check_numerics(1.0 / x, "no number")).prefetch(2)
    iterator = iter(dataset)
    assert float(iterator.get_next()) == 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="no number"):
        iterator.get_next()
    assert float(iterator.get_next()) == 0.5
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        iterator.get_next()


def mapped_slowly(count, seconds, threads):
    """A dataset of doubled numbers, each made by slow Python; how many calls of it ran when each
    ended; and the threads that there were before."""
    running, most, before = set(), [], set(threading.enumerate())

    def slow(x):
        running.add(int(x))
        time.sleep(seconds)
        most.append(len(running))
        running.remove(int(x))
        return x * 2

    dataset = Dataset.range(count).map(
        lambda x: tf.numpy_function(slow, [x], tf.int64), num_parallel_calls=threads
    )
    return dataset, most, before


def test_slow_python_runs_in_threads_and_in_order():
    dataset, most, before = mapped_slowly(30, 0.003, 8)
    iterator = iter(dataset)
    assert [int(x) for x in iterator] == list(range(0, 60, 2))
    assert 1 < max(most) <= 8
    wait_until(lambda: not set(threading.enumerate()) - before)  # the iterator is still there
    assert next(iterator, None) is None


def test_threads_that_make_elements_no_sooner_end(monkeypatch):
    monkeypatch.setattr(parallel, "GAIN", 1e6)
    dataset, most, before = mapped_slowly(80, 0.001, 4)
    assert numbers(dataset) == list(range(0, 160, 2))
    assert max(most) > 1 and most[-30:] == [1] * 30
    wait_until(lambda: not set(threading.enumerate()) - before)


# --- functions


def test_a_function_is_recorded_once_and_knows_its_specs():
    recorded = []

    def scaled(x):
        recorded.append(1)
        return tf.cast(x, tf.float32) * tf.ones([3])

    dataset = Dataset.range(5).map(scaled)
    assert dataset.element_spec == tf.TensorSpec([3], tf.float32)
    assert len(list(dataset)) == 5 and len(list(dataset)) == 5
    assert len(recorded) == 1


def test_a_map_runs_for_a_whole_batch():
    dataset = Dataset.range(64).map(lambda x: (x * 2, tf.one_hot(x % 4, 4))).batch(16)
    list(dataset)
    before = tf.counters.dispatches
    assert np.concatenate([x for x, _ in dataset]).tolist() == list(range(0, 128, 2))
    assert tf.counters.dispatches - before <= 8


def test_what_has_no_rule_for_rows_runs_one_by_one():
    def no_rule(x):
        return jax.pure_callback(lambda v: v * 2, jax.ShapeDtypeStruct((), np.int64), x)

    doubled = tf.as_op(no_rule)
    dataset = Dataset.range(5).map(doubled).batch(2)
    assert [x.numpy().tolist() for x in dataset] == [[0, 2], [4, 6], [8]]


def test_elements_of_a_long_map_are_made_several_at_once():
    dataset = Dataset.range(2000).map(lambda x: (x * 2, None))
    assert [int(x) for x, _ in dataset] == list(range(0, 4000, 2))
    before = tf.counters.dispatches
    assert sorted(int(x) for x, _ in dataset.shuffle(100)) == list(range(0, 4000, 2))
    assert tf.counters.dispatches - before < 100


@pytest.mark.parametrize("first", [0, 30])
def test_rows_taken_by_their_numbers_need_no_program(first):
    """The numbers are in bounds, or some are not: zeros, as TensorFlow gives on a GPU."""
    table = np.arange(64.0, dtype="float32").reshape(32, 2)

    def taken(i):
        return {"rows": tf.gather(table, i), "last": tf.gather(table[:, 1], i)}

    batches = tf.data.Dataset.range(first, first + 9).batch(4).map(taken)
    list(batches)
    before = tf.engine.counters.snapshot()
    elements = list(batches.as_numpy_iterator())
    after = tf.engine.counters.snapshot()
    counted = [name for name in after if after[name] != before[name]]
    assert counted == ["interpreted"] or not policy.INTERPRETS, counted
    inside = np.vstack([table, np.zeros((9, 2), "float32")])
    rows = inside[first : first + 9]
    np.testing.assert_array_equal(np.concatenate([e["rows"] for e in elements]), rows)
    np.testing.assert_array_equal(np.concatenate([e["last"] for e in elements]), rows[:, 1])


def test_elements_of_any_structure_are_put_together():
    rows = np.arange(6.0).reshape(3, 2)
    structures = [
        ((rows, rows[:, 0]), rows[:, 1]),
        ({"b": rows, "a": (rows[:, 0], rows)}, (rows,)),
        (((rows[:, 0],),), {"z": rows, "y": rows[:, 1]}),
    ]
    for structure in structures:
        for i, element in enumerate(tf.data.Dataset.from_tensor_slices(structure)):
            tf.nest.assert_same_structure(element, structure)
            expected = tf.nest.map_structure(lambda x: x[i], structure)
            for found, wanted in zip(tf.nest.flatten(element), tf.nest.flatten(expected)):
                np.testing.assert_array_equal(found, wanted)
            if isinstance(element[0], dict):
                assert list(element[0]) == ["b", "a"]


def test_a_variable_that_changes_is_seen_by_the_next_element():
    v = tf.Variable(0, dtype=tf.int64)
    iterator = iter(Dataset.range(400).map(lambda x: x * 0 + v))
    for i in range(400):
        v.assign(i)
        assert int(next(iterator)) == i


def test_random_numbers_differ_between_elements():
    tf.random.set_seed(None)
    for batch in (1, 4):
        dataset = Dataset.range(8).map(lambda x: tf.random.uniform([])).batch(batch)
        drawn = np.concatenate([x.numpy() for x in dataset])
        again = np.concatenate([x.numpy() for x in dataset])
        assert len(set(drawn.tolist() + again.tolist())) == 16


def test_what_cannot_be_recorded_runs_as_python(caplog):
    seen = []

    def look(x):
        seen.append(x)
        return tf.numpy_function(lambda v: v + 1, [x], tf.int64), "text"

    dataset = Dataset.range(3).map(look)
    assert len(seen) == 1  # which was symbolic
    assert list(dataset.as_numpy_iterator()) == [(1, b"text"), (2, b"text"), (3, b"text")]
    assert len(seen) == 5  # for each element, and for the specs once ranks were known
    assert dataset.element_spec[0].dtype is tf.int64
    assert list(Dataset.range(0).map(look)) == []
    assert not caplog.records


def test_texts_go_through():
    dataset = Dataset.from_tensor_slices(["a", "b"]).map(lambda s: (s, 1)).batch(2)
    ((texts, ones),) = dataset.as_numpy_iterator()
    assert texts.tolist() == [b"a", b"b"] and ones.tolist() == [1, 1]


def test_a_function_that_needs_sizes_is_recorded_for_each():
    spec = tf.TensorSpec([None], tf.int32)
    dataset = Dataset.from_generator(lambda: iter([[1, 2], [1] * 4, [3, 4]]), output_signature=spec)

    def first_half(x):
        size = tf.cast(tf.shape(x)[0], tf.float32)
        return x[: tf.cast(0.5 * size, tf.int32)]

    dataset = dataset.map(first_half)
    assert [x.shape[0] for x in dataset] == [1, 2, 1]
    looked = Dataset.from_generator(lambda: iter([[1, 2], [1] * 4]), output_signature=spec).map(
        lambda x: tf.numpy_function(lambda v: v[:1], [x], tf.int32)
    )
    assert [x.shape[0] for x in looked] == [1, 1]


def test_errors_tell_the_element_and_the_line():
    dataset = Dataset.range(4).map(
        lambda x: tf.debugging.check_numerics(1.0 / tf.cast(x - 2, tf.float32), "no")
    )
    iterator = iter(dataset)
    next(iterator), next(iterator)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"element 2 of .*test_data\.py:\d+"):
        next(iterator)


def test_errors_of_python_have_a_note():
    def refuse(x):
        tf.numpy_function(lambda v: v, [x], tf.int64)
        raise KeyError("never")

    dataset = Dataset.from_tensor_slices(["a"]).map(refuse)
    with pytest.raises(KeyError) as raised:
        next(iter(dataset))
    assert "element 0 of Dataset.map() at test_data.py" in raised.value.__notes__[0]


def test_variables_are_read_when_elements_are_made():
    v = tf.Variable(1)
    dataset = Dataset.from_tensor_slices([1, 2]).map(lambda x: x + v)
    assert numbers(dataset) == [2, 3]
    v.assign(10)
    assert numbers(dataset) == [11, 12]


def test_sparse_tensors_are_batched():
    sparse = tf.SparseTensor([[0, 1]], [3.0], [2, 2])
    batch = next(iter(Dataset.from_tensors(sparse).repeat(2).batch(2)))
    assert tf.sparse.to_dense(batch).numpy().tolist() == [[[0, 3], [0, 0]]] * 2


def test_fields_on_the_wire_that_a_message_does_not_have():
    """One of another kind is left out as one of another number is, as in TensorFlow; of those of
    which one is set the last counts."""
    train = tf.train
    for kind in (train.Features, train.Example, train.FeatureList, train.BytesList):
        assert kind.FromString(b"\x08\x05") == kind()
    assert train.FloatList.FromString(b"\x08\x05\x0d\0\0\x80?").value == [1.0]
    floats = train.Feature(float_list=train.FloatList(value=[1.5])).SerializeToString()
    words = train.Feature(bytes_list=train.BytesList(value=[b"a"])).SerializeToString()
    found = train.Feature.FromString(floats + words)
    assert found.WhichOneof("kind") == "bytes_list" and not found.HasField("float_list")
    assert found.SerializeToString() == words


def test_examples_go_from_a_file_into_batches(tmp_path):
    path = str(tmp_path / "examples")
    with tf.io.TFRecordWriter(path, "GZIP") as writer:
        for i in range(5):
            values = tf.train.Feature(float_list=tf.train.FloatList(value=[i, i / 2]))
            features = tf.train.Features(feature={"x": values})
            writer.write(tf.train.Example(features=features).SerializeToString())
    spec = {"x": tf.io.FixedLenFeature([2], tf.float32)}
    dataset = tf.data.TFRecordDataset(path, "GZIP").map(
        lambda text: tf.io.parse_single_example(text, spec)["x"]
    )
    batches = [x.numpy().tolist() for x in dataset.batch(2)]
    assert batches == [[[0, 0], [1, 0.5]], [[2, 1], [3, 1.5]], [[4, 2]]]


def test_a_damaged_record_is_told(tmp_path):
    path = tmp_path / "records"
    with tf.io.TFRecordWriter(str(path)) as writer:
        writer.write(b"a" * 100)
    data = bytearray(path.read_bytes())
    data[50] ^= 1
    path.write_bytes(data)
    with pytest.raises(tf.errors.DataLossError, match="corrupted record at 0"):
        list(tf.data.TFRecordDataset(str(path)))
    path.write_bytes(data[:60])
    with pytest.raises(tf.errors.DataLossError, match="truncated record at 0"):
        list(tf.data.TFRecordDataset(str(path)))


# --- functions of datasets and iterators


def test_loops_over_datasets_in_functions_run_without_a_warning(caplog):
    @tf.function
    def total(dataset, scale):
        found = tf.constant(0, tf.int64)
        for x in dataset:
            found += x * scale
        return found

    assert int(total(Dataset.range(5), 2)) == 20
    assert int(total(Dataset.range(3), 2)) == 6
    assert not [r for r in caplog.records if r.levelno >= logging.WARNING]


def test_steps_over_an_iterator_as_keras_takes_them(caplog):
    """Several steps in one function, whose results are optional."""
    steps = 3

    @tf.function(reduce_retracing=True)
    def one_step(data):
        return tf.reduce_sum(data)

    @tf.function(reduce_retracing=True)
    def several(iterator):
        empty = tf.experimental.Optional.empty(None)

        def cond(step, outputs, inputs):
            return tf.logical_and(tf.less(step, steps), inputs.has_value())

        def body(step, outputs, inputs):
            def has_next():
                return tf.experimental.Optional.from_value(one_step(inputs.get_value()))

            found = tf.cond(inputs.has_value(), has_next, lambda: outputs)
            more = tf.cond(tf.less(step + 1, steps), iterator.get_next_as_optional, lambda: inputs)
            return step + 1, found, more

        start = [tf.constant(0), empty, iterator.get_next_as_optional()]
        return tf.while_loop(cond, body, start)[1]

    iterator = iter(Dataset.range(14).batch(2))
    sums = [several(iterator) for _ in range(4)]
    assert [bool(x.has_value()) for x in sums] == [True, True, True, False]
    assert [int(x.get_value()) for x in sums[:3]] == [9, 21, 25]
    assert not [r for r in caplog.records if r.levelno >= logging.WARNING]


def test_batches_chosen_by_shuffled_numbers_as_keras_does():
    x, y = np.arange(20.0).reshape(10, 2), np.arange(10)

    def batches_of(places):
        first = tf.reshape(places[:8], [2, 4])
        return Dataset.from_tensor_slices(first).concatenate(Dataset.from_tensors(places[8:]))

    places = Dataset.range(1).map(lambda _: tf.random.shuffle(tf.range(10))).prefetch(1)
    places = places.flat_map(batches_of)
    dataset = Dataset.zip((places, Dataset.from_tensors((x, y)).repeat())).map(
        lambda i, data: tf.nest.map_structure(lambda v: tf.gather(v, i), data),
        num_parallel_calls=tf.data.AUTOTUNE,
    )
    assert dataset.element_spec[0].shape.as_list() == [None, 2]
    batches = list(dataset.prefetch(tf.data.AUTOTUNE))
    assert [len(b) for _, b in batches] == [4, 4, 2]
    assert sorted(np.concatenate([b for _, b in batches]).tolist()) == list(range(10))
    for a, b in batches:
        np.testing.assert_array_equal(a, x[b.numpy()])


def test_a_function_called_with_elements_is_recorded_for_any_batch_size():
    shapes = []

    @tf.function
    def one(x):
        shapes.append(x.shape.as_list())
        return tf.reduce_sum(x)

    @tf.function
    def step(iterator):
        return one(iterator.get_next())

    data = Dataset.range(10).map(lambda i: tf.ones([2]) * tf.cast(i, tf.float32)).batch(4)
    iterator = iter(data)
    assert [float(step(iterator)) for _ in range(3)] == [12.0, 44.0, 34.0]
    assert float(one(next(iter(data)))) == 12.0  # served by the same trace
    assert shapes == [[None, 2]]
    assert float(one(tf.ones([4, 3]))) == 12.0  # no element: of its own shape
    assert shapes == [[None, 2], [4, 3]]


def test_shapes_that_python_states():
    def load(name, label):
        x = tf.numpy_function(
            lambda text: np.array(text.split(b","), np.float32), [name], tf.float32
        )
        stated = tf.reverse(x, [0])
        stated.set_shape([2])
        return x, stated, label, tf.one_hot(label, 3)

    labels = Dataset.from_tensor_slices([[0, 1], [1, 2]])
    data = Dataset.zip((Dataset.from_tensor_slices(["1,2", "3,4"]), labels)).map(load)
    assert [spec.shape.as_list() for spec in data.element_spec] == [[None], [2], [2], [2, 3]]
    assert [spec.shape.as_list() for spec in data.batch(2).element_spec][1] == [None, 2]


def test_a_dataset_in_a_tape():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        loss = sum(x * v for x in Dataset.from_tensor_slices([1.0, 2.0]).map(lambda x: x + 1.0))
    assert float(tape.gradient(loss, v)) == 5.0


def test_options_are_refused_by_name():
    with pytest.raises(AttributeError, match="no_such"):
        tf.data.Options().threading.no_such = 1


def more(x):
    return x + 1


def negative(x):
    return tf.numpy_function(np.negative, [x], tf.int64)


def positive(x):
    return x > 0


def counted(state, x):
    return state + 1, x


def batched(x):
    return x.batch(2)


@pytest.mark.parametrize(
    "made_from",
    [
        lambda x: x,
        lambda x: x.map(more).batch(2),
        lambda x: x.map(more).batch(2).prefetch(tf.data.AUTOTUNE),
        lambda x: x.map(more).prefetch(2),
        lambda x: x.map(negative, num_parallel_calls=2),
        lambda x: x.filter(positive).shuffle(4).repeat(2),
        lambda x: x.flat_map(Dataset.range),
        lambda x: x.interleave(Dataset.range, cycle_length=2),
        lambda x: x.padded_batch(2).unbatch().enumerate(),
        lambda x: Dataset.zip((x, x)).take(3).cache(),
        lambda x: x.window(2).flat_map(batched),
        lambda x: x.scan(0, counted),
    ],
)
def test_what_an_iterator_reads_is_let_go_with_it(made_from, caplog):
    caplog.set_level("ERROR", "tape_compat")  # a message of an error holds its frames

    def let_go():
        iterator = iter(made_from(Dataset.from_tensor_slices(np.arange(1, 9))))
        for _ in range(3):
            next(iterator)
        return weakref.ref(iterator._stream), weakref.ref(iterator._pipeline)

    let_go()
    gc.collect()
    gc.disable()
    try:
        held = let_go()
        wait_until(lambda: [each() for each in held] == [None, None])
    finally:
        gc.enable()
