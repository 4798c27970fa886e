"""Where iterators over datasets stand: kept as a text, and gone back to."""

import numpy as np
import pytest

import tape_compat as tf

Dataset = tf.data.Dataset


def pipelines():
    """Functions that make a dataset as a program does when it starts."""
    numbers = Dataset.range(23)
    made = []

    def count():
        made.append(1)
        yield from range(30)

    spec = tf.TensorSpec([], tf.int32)
    datasets = {
        "shuffled": lambda: Dataset.range(23).shuffle(7).repeat(3).batch(4),
        "shuffled elements": lambda: (
            Dataset.range(23).filter(lambda x: x != 3).shuffle(7).repeat(3).prefetch(2)
        ),
        "mapped": lambda: Dataset.range(40).map(lambda x: x * 2).skip(2).take(30).batch(3),
        "zipped": lambda: Dataset.zip(numbers.repeat(), Dataset.range(9).repeat(4)).prefetch(3),
        "generated": lambda: Dataset.from_generator(count, output_signature=spec).repeat(2),
        "interleaved": lambda: Dataset.range(6).interleave(
            lambda x: Dataset.range(x, x + 4), cycle_length=3
        ),
        "drawn": lambda: Dataset.sample_from_datasets([numbers, numbers.repeat(2)], [0.3, 0.7]),
        "kept": lambda: Dataset.range(9).shuffle(9).cache().repeat(3),
        "kept elements": lambda: (
            Dataset.range(9).filter(lambda x: x > 1).shuffle(9).cache().repeat(3)
        ),
        "padded": lambda: Dataset.range(1, 30).map(lambda n: tf.fill([n], n)).padded_batch(4),
        "dropped": lambda: Dataset.range(31).batch(4, drop_remainder=True).unbatch(),
    }
    return datasets.items()


@pytest.mark.parametrize("make", [pytest.param(x, id=name) for name, x in pipelines()])
@pytest.mark.parametrize("taken", [0, 5, 100])
def test_an_iterator_goes_on_in_another_process(make, taken):
    iterator = make().as_numpy_iterator()
    for _ in range(taken):
        next(iterator, None)
    state = iterator.save().numpy()
    rest = list(iterator)
    again = make().as_numpy_iterator()  # with seeds of its own
    next(again)
    again.restore(tf.constant(state))
    for one, other in zip(again, rest, strict=True):
        np.testing.assert_equal(one, other)


def test_the_state_of_an_iterator_of_the_second_epoch():
    dataset = Dataset.range(20).shuffle(20)
    list(dataset)
    second = dataset.as_numpy_iterator()
    for _ in range(6):
        next(second)
    state = second.save()
    rest = list(second)
    list(dataset)
    second.restore(state)
    assert list(second) == rest


def test_elements_that_fail_count():
    def dataset():
        numbers = Dataset.from_tensor_slices([1.0, 0.0, 2.0, 4.0])
        return numbers.map(lambda x: tf.debugging.check_numerics(1.0 / x, "no number"))

    iterator = iter(dataset())
    next(iterator)
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(iterator)
    again = iter(dataset())
    again._restore_from_tensors(iterator._serialize_to_tensors())
    assert [float(x) for x in again] == [0.5, 0.25]


def test_what_nobody_sees_is_not_made_again():
    calls = tf.Variable(0)

    def counted(x):
        calls.assign_add(1)
        return x

    quiet = Dataset.range(1000).map(lambda x: x + 1).as_numpy_iterator()
    [next(quiet) for _ in range(900)]
    state = quiet.save()
    before = tf.counters.dispatches
    quiet.restore(state)
    assert tf.counters.dispatches == before and next(quiet) == 901
    loud = Dataset.range(10).map(counted).as_numpy_iterator()
    next(loud)
    loud.restore(loud.save())
    assert int(calls) == 2


def test_the_state_of_another_dataset_is_refused():
    state = Dataset.range(3).shuffle(3).as_numpy_iterator().save()
    with pytest.raises(tf.errors.InvalidArgumentError, match="elements of"):
        Dataset.range(3).batch(2).as_numpy_iterator().restore(state)
    with pytest.raises(tf.errors.InvalidArgumentError, match="1 random steps"):
        Dataset.range(3).as_numpy_iterator().restore(state)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no state"):
        Dataset.range(3).as_numpy_iterator().restore("abc")
