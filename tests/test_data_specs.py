"""What is known of the results of a map whose shapes depend on values."""

import numpy as np
import pytest

import tape_compat as tf

Dataset = tf.data.Dataset

NUMBERS = Dataset.range(1, 4)
ROWS = Dataset.from_tensor_slices(np.arange(12, dtype=np.float32).reshape(2, 3, 2))


@pytest.mark.parametrize(
    ("dataset", "function", "shape"),
    [
        (NUMBERS, lambda n: tf.fill([n, 2], n), [None, 2]),
        (NUMBERS, lambda n: tf.zeros([3, n + 1]), [3, None]),
        (NUMBERS, lambda n: tf.range(n), [None]),
        (NUMBERS, lambda n: tf.range(n)[:, None] * tf.ones([1, 4], tf.int64), [None, 4]),
        (NUMBERS, lambda n: tf.reduce_sum(tf.zeros([n, 5]), axis=0), [5]),
        (NUMBERS, lambda n: tf.stack([tf.range(n)] * 2), [2, None]),
        (NUMBERS, lambda n: tf.ones([4, 3])[:n], [None, 3]),
        (NUMBERS, lambda n: tf.reshape(tf.range(2 * n), [n, 2]), [None, 2]),
        (NUMBERS, lambda n: tf.random.uniform([n, 2]), [None, 2]),
        (NUMBERS, lambda n: tf.one_hot([0, 1], tf.cast(n, tf.int32)), [2, None]),
        (
            NUMBERS,
            lambda n: tf.zeros([tf.cast(tf.cast(n, tf.float32) * 1.5, tf.int32), 2]),
            [None, 2],
        ),
        (ROWS, lambda x: tf.boolean_mask(x, x[:, 0] > 2), [None, 2]),
        (ROWS, lambda x: x[x > 2], [None]),
        (ROWS, lambda x: tf.where(x > 2), [None, 2]),
        (ROWS, lambda x: tf.gather_nd(x, tf.where(x > 2)), [None]),
        (ROWS, lambda x: tf.math.bincount(tf.cast(x[0], tf.int32), minlength=2), [None]),
        (ROWS, lambda x: tf.range(0.0, x[0, 0]), [None]),
        (ROWS, lambda x: tf.repeat(x, tf.cast(x[:, 0], tf.int32), 0), [None, 2]),
        (ROWS, lambda x: tf.unique(x[:, 0]).y, [None]),
        (ROWS, lambda x: tf.unique_with_counts(x[:, 0]).idx, [3]),
    ],
)
def test_sizes_that_do_not_depend_on_values_are_known(dataset, function, shape):
    calls = []

    def counted(x):
        calls.append(1)
        return function(x)

    mapped = dataset.map(counted)
    assert mapped.element_spec.shape.as_list() == shape
    assert len(calls) == 1
    for element in mapped:
        assert mapped.element_spec.shape.is_compatible_with(element.shape)


def test_specs_go_on_through_padding():
    batches = NUMBERS.map(lambda n: tf.fill([n, 2], n)).padded_batch(2)
    assert batches.element_spec.shape.as_list() == [None, None, 2]
    assert [x.shape.as_list() for x in batches] == [[2, 2, 2], [1, 3, 2]]


def test_loops_in_maps_stay_recorded():
    def total(n):
        (found,) = tf.while_loop(lambda i: i < n, lambda i: [i + 2], [tf.constant(0, tf.int64)])
        return found

    mapped = NUMBERS.map(total)
    assert [int(x) for x in mapped] == [2, 2, 4]
    assert mapped._pipeline.function.is_recorded()


def test_an_error_of_such_a_map_comes_when_it_runs():
    mapped = NUMBERS.map(lambda n: tf.reshape(tf.range(n), [n, 2]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="element 0 of Dataset"):
        next(iter(mapped))


def test_datasets_in_input_signatures():
    number = tf.TensorSpec([], tf.int64)

    @tf.function(input_signature=[tf.data.DatasetSpec(number)])
    def total(dataset):
        found = tf.constant(0, tf.int64)
        for x in dataset:
            found += x
        return found

    @tf.function(input_signature=[tf.data.IteratorSpec(number)])
    def following(iterator):
        return next(iterator) + next(iterator)

    assert int(total(NUMBERS)) == 6 and int(following(iter(NUMBERS))) == 3
    for wrong in (NUMBERS.batch(2), iter(NUMBERS), 3):
        with pytest.raises(TypeError, match="Can not cast"):
            total(wrong)


def test_functions_called_in_maps_keep_nothing_of_unknown_sizes():
    @tf.function
    def zeros(n):
        return tf.zeros([n, 2])

    @tf.function
    def lower(text):
        return tf.strings.lower(text)

    def branches(n):
        return tf.cond(n > 1, lambda: tf.zeros([n, 2]), lambda: tf.ones([n, 2]))

    mapped = NUMBERS.map(lambda n: zeros(n))
    assert mapped.element_spec.shape.as_list()[-1] in (2, None)
    assert zeros(tf.constant(3, tf.int64)).shape == [3, 2]
    assert [x.shape[0] for x in mapped] == [1, 2, 3]
    assert [x.numpy() for x in TEXTS.map(lambda s: lower(s))] == [b"a b", b"c"]
    assert lower(tf.constant("B")).numpy() == b"b"
    assert [x.shape[0] for x in NUMBERS.map(branches)] == [1, 2, 3]


# --- texts


def _image(contents):
    return tf.io.decode_image(contents, channels=3, expand_animations=False)


TEXTS = Dataset.from_tensor_slices(["a b", "c"])


@pytest.mark.parametrize(
    ("dataset", "function", "shape", "dtype"),
    [
        (TEXTS.batch(2, drop_remainder=True), tf.strings.lower, [2], tf.string),
        (TEXTS.batch(2), tf.strings.length, [None], tf.int32),
        (TEXTS, tf.strings.split, [None], tf.string),
        (TEXTS, lambda s: tf.stack([s, s]), [2], tf.string),
        (TEXTS, lambda s: tf.one_hot(tf.strings.to_hash_bucket_fast(s, 5), 5), [5], tf.float32),
        (NUMBERS, lambda n: tf.strings.as_string(tf.range(n)), [None], tf.string),
        (TEXTS, tf.io.read_file, [], tf.string),
        (TEXTS, lambda s: tf.io.decode_csv(s, [0, 0.5])[1], [], tf.float32),
        (TEXTS, lambda s: tf.io.decode_jpeg(tf.io.read_file(s), 3), [None, None, 3], tf.uint8),
        (TEXTS, tf.io.decode_gif, [None, None, None, 3], tf.uint8),
        (TEXTS, lambda s: tf.image.resize(_image(s), [4, 5]), [4, 5, 3], tf.float32),
        (TEXTS, lambda s: tf.audio.decode_wav(s, 1).audio, [None, 1], tf.float32),
    ],
)
def test_maps_of_texts_know_their_specs_without_being_run(dataset, function, shape, dtype):
    spec = dataset.take(0).map(function).element_spec
    assert (spec.shape.as_list(), spec.dtype) == (shape, dtype)


def test_what_goes_beside_texts_keeps_its_sizes():
    mapped = TEXTS.map(lambda s: {"text": s, "more": tf.ones([2, 3])})
    assert mapped.element_spec["more"].shape == [2, 3]
    assert [x["text"].numpy() for x in mapped] == [b"a b", b"c"]


def test_examples_know_their_specs_without_being_parsed():
    features = {
        "a": tf.io.FixedLenFeature([2], tf.float32),
        "b": tf.io.VarLenFeature(tf.int64),
        "c": tf.io.FixedLenSequenceFeature([3], tf.string, allow_missing=True),
    }
    one = TEXTS.map(lambda s: tf.io.parse_single_example(s, features)).element_spec
    assert one["a"].shape == [2] and one["b"] == tf.SparseTensorSpec([None], tf.int64)
    assert one["c"].shape.as_list() == [None, 3]
    several = TEXTS.batch(2).map(lambda s: tf.io.parse_example(s, features)).element_spec
    assert several["a"].shape.as_list() == [None, 2]
    assert several["b"] == tf.SparseTensorSpec([None, None], tf.int64)


def test_files_by_turns_know_what_they_give():
    dataset = TEXTS.interleave(tf.data.TextLineDataset)
    assert dataset.element_spec == tf.TensorSpec([], tf.string)
