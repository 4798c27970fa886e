"""`tf.data`: functions of texts, recorded with steps of the host."""

import io

import numpy as np
import pytest

import tape_compat as tf
from tape_compat import counters
from tests.threads import in_threads


def texts(count):
    return tf.data.Dataset.from_tensor_slices([f"{i} b" for i in range(count)])


def calls_counted(function, dataset):
    """The results, and how often the function's Python ran."""
    calls = 0

    def counted(*args):
        nonlocal calls
        calls += 1
        return function(*args)

    found = list(dataset.map(counted))
    return found, calls


FUNCTIONS = {
    "number": lambda s: tf.strings.to_number(tf.strings.split(s)[0]) * 2.0,
    "equal": lambda s: tf.equal(s, "1 b"),
    "joined": lambda s: tf.strings.join([s, s]),
    "csv": lambda s: tf.io.decode_csv(s, [0, ""], field_delim=" "),
    "raw": lambda s: tf.io.decode_raw(s, tf.uint8),
    "stacked": lambda s: tf.stack([s, s]),
    "branch": lambda s: 1.0 if tf.strings.length(s) > 3 else 2.0,
    "as_string": lambda s: tf.strings.as_string(tf.strings.length(s)),
    "text_alone": lambda s: (s, 1),
    "text_of_a_branch": lambda s: tf.cond(tf.strings.length(s) > 3, lambda: s, lambda: "a"),
    "map_fn": lambda s: tf.map_fn(lambda t: t + "x", tf.stack([s, s])),
    "size_alone": lambda s: tf.size(tf.strings.split(s)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_python_runs_once(name):
    found, calls = calls_counted(FUNCTIONS[name], texts(300))
    assert len(found) == 300
    assert calls == 1


def test_many_texts_are_done_at_once(monkeypatch):
    from tape_compat._src.ops import strings

    sizes = []
    number = strings.text_values

    def counted(value, op):
        sizes.append(np.size(value))
        return number(value, op)

    monkeypatch.setattr(strings, "text_values", counted)
    dataset = texts(1000).map(lambda s: tf.strings.to_number(tf.strings.substr(s, 0, 1)) + 1.0)
    assert [float(x) for x in dataset] == [float(str(i)[0]) + 1.0 for i in range(1000)]
    assert max(sizes) > 8
    assert len(sizes) < 1000


def test_results_of_different_sizes_go_one_by_one():
    dataset = texts(600).map(lambda s: tf.cast(tf.io.decode_raw(s, tf.uint8), tf.int32) + 1)
    for i, x in enumerate(dataset):
        assert x.numpy().tolist() == [byte + 1 for byte in f"{i} b".encode()]


def test_a_dataset_made_again_compiles_nothing_anew():
    weights = tf.ones([32, 32])
    content = [np.full([32 * 32], i / 100, np.float32).tobytes() for i in range(200)]

    def total():
        def function(s):
            x = tf.reshape(tf.io.decode_raw(s, tf.float32, fixed_length=32 * 32 * 4), [32, 32])
            return tf.reduce_sum(tf.matmul(x, weights))

        dataset = tf.data.Dataset.from_tensor_slices(content).map(function).batch(50)
        return sum(float(tf.reduce_sum(x)) for x in dataset)

    first = total()
    before = counters.compiles
    for _ in range(40):
        assert total() == pytest.approx(first)
    assert counters.compiles - before <= 1


def test_the_elements_around_one_that_fails_come():
    dataset = tf.data.Dataset.from_tensor_slices([*map(str, range(500)), "x", *"12345"])
    for made in (dataset.map(tf.strings.to_number), dataset.filter(
            lambda s: tf.strings.to_number(s) >= 0.0).map(tf.strings.to_number)):  # fmt: skip
        iterator, found, errors = iter(made), [], []
        while True:
            try:
                found.append(float(next(iterator)))
            except tf.errors.InvalidArgumentError as error:
                errors.append(str(error))
            except StopIteration:
                break
        assert found == [*map(float, range(500)), 1.0, 2.0, 3.0, 4.0, 5.0]
        (message,) = errors
        assert "element 500" in message
        assert "convert string: x" in message
        assert "test_data_texts.py" in message


def test_a_batch_with_an_element_that_fails_is_left_out():
    dataset = tf.data.Dataset.from_tensor_slices([*map(str, range(500)), "x", *"1234567"])
    iterator, found, errors = iter(dataset.map(tf.strings.to_number).batch(4)), 0, 0
    while True:
        try:
            found += len(next(iterator))
        except tf.errors.InvalidArgumentError:
            errors += 1
        except StopIteration:
            break
    assert (found, errors) == (504, 1)


def test_a_table_that_is_filled_later_is_read_at_each_element():
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, default_value=-1)
    dataset = tf.data.Dataset.from_tensor_slices(["a", "b"]).map(table.lookup)
    assert [int(x) for x in dataset] == [-1, -1]
    table.insert(tf.constant(["b"]), tf.constant([5], tf.int64))
    assert [int(x) for x in dataset] == [-1, 5]


def test_a_variable_that_changes_is_seen():
    v = tf.Variable(1.0)
    iterator = iter(texts(400).map(lambda s: tf.strings.to_number(tf.strings.split(s)[0]) * v))
    assert float(next(iterator)) == 0.0
    v.assign(10.0)
    assert float(next(iterator)) == 10.0
    found = [float(next(iterator)) for _ in range(300)]
    v.assign(100.0)
    assert found[-1] == 3010.0
    assert float(next(iterator)) == 30200.0


def test_random_numbers_differ_between_texts():
    tf.random.set_seed(3)
    dataset = texts(50).map(
        lambda s: tf.random.uniform([]) + tf.cast(tf.strings.length(s), tf.float32)
    )
    once, again = ([float(x) for x in dataset] for _ in range(2))
    assert len(set(once)) == 50
    assert once == again


def test_threads_take_turns():
    dataset = texts(400).map(FUNCTIONS["number"])
    wrong = []

    def run():
        if [float(x) for x in dataset] != [2.0 * i for i in range(400)]:
            wrong.append(1)

    in_threads(4, run)
    assert not wrong
    parallel = texts(400).map(FUNCTIONS["raw"], num_parallel_calls=4)
    assert [len(x) for x in parallel] == [len(f"{i} b") for i in range(400)]


def test_what_is_several_programs_is_no_pure_function():
    count = tf.function(lambda s: tf.strings.length(s) * 2)
    with pytest.raises(NotImplementedError, match="several programs"):
        tf.engine.functional(count).init(tf.TensorSpec([], tf.string))
    with pytest.raises(NotImplementedError, match="several programs"):
        count.experimental_get_compiler_ir(tf.constant("abc"))
    with pytest.raises(NotImplementedError, match="map_fn"):
        tf.vectorized_map(count, tf.constant(["a", "bc"]), fallback_to_while_loop=False)
    graph = count.get_concrete_function(tf.constant("a")).graph
    assert [op.type for op in graph.get_operations()] == [
        "Placeholder", "length", "Const", "Mul", "Identity"]  # fmt: skip


def test_an_image_of_another_shape_than_the_op_says():
    from PIL import Image

    files = [tf.io.encode_png(tf.zeros([4, 4, 3], tf.uint8)).numpy()]
    with io.BytesIO() as out:
        Image.new("RGB", (3, 2)).save(out, "GIF")
        files.append(out.getvalue())
    dataset = tf.data.Dataset.from_tensor_slices([files[0], files[1], files[0]])
    shapes = [x.shape for x in dataset.map(lambda s: tf.io.decode_png(s, channels=1) // 2)]
    assert shapes == [(4, 4, 1), (2, 3, 3), (4, 4, 1)]


def test_a_map_in_a_function_and_in_a_tape():
    @tf.function
    def total(limit):
        found = 0.0
        for x in texts(5).map(lambda s: tf.strings.to_number(tf.strings.split(s)[0])):
            if x < limit:
                found += x
        return found

    assert float(total(tf.constant(4.0))) == 6.0
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        loss = 0.0
        for x in texts(4).map(FUNCTIONS["number"]):
            loss += v * x
    assert float(tape.gradient(loss, v)) == 12.0


def test_a_nested_dataset_of_texts():
    def lines(s):
        return tf.data.Dataset.from_tensors(s).map(lambda t: tf.strings.length(t) * 2)

    assert [int(x) for x in texts(12).flat_map(lines)] == [6] * 10 + [8] * 2
