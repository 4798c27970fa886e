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
