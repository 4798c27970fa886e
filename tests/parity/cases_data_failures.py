"""Datasets of which elements cannot be made: what comes after them, and what is refused."""

import collections

from .harness import raised


def elements(dataset, count=12):
    """The elements of a dataset; the class of its error for one that cannot be made."""
    found, iterator = [], iter(dataset)
    while len(found) < count:
        try:
            found.append(next(iterator))
        except StopIteration:
            break
        except Exception as error:
            found.append(raised(error, words=0))
    return found


def _checked(tf, numbers):
    """Numbers of which NaN cannot be made."""
    dataset = tf.data.Dataset.from_tensor_slices(numbers)
    return dataset.map(lambda x: tf.debugging.check_numerics(x, "not a number"))


NUMBERS = [1.0, 2.0, float("nan"), 4.0, 5.0, 6.0, 7.0]


def case_zip_goes_on_with_all(tf):
    checked, count = _checked(tf, NUMBERS), tf.data.Dataset.range
    ragged = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[i] * i for i in range(7)]))
    zipped = [
        tf.data.Dataset.zip(checked, count(7)),
        tf.data.Dataset.zip(count(7), checked),
        tf.data.Dataset.zip(checked, checked),
        tf.data.Dataset.zip(checked, count(3)),
        tf.data.Dataset.zip(count(7), checked, count(7, 14)),
    ]
    batches = [each.batch(2) for each in zipped]
    with_rows = tf.data.Dataset.zip(ragged, checked).batch(2)
    return (
        [elements(each) for each in zipped],
        [elements(each) for each in batches],
        [elements(each.ignore_errors()) for each in (*zipped, *batches)],
        [(rows.to_list(), x) for rows, x in with_rows.ignore_errors()],
    )


def case_batches_over_a_map_are_lost_whole(tf):
    def refused():
        yield from (1.0, "a", 3.0, 4.0, 5.0)

    checked = _checked(tf, NUMBERS)
    generated = tf.data.Dataset.from_generator(refused, tf.float32, [])
    datasets = [
        checked.batch(2),
        checked.batch(4),
        checked.batch(2, drop_remainder=True),
        checked.ragged_batch(2),
        checked.padded_batch(2),
        checked.filter(lambda x: True).batch(2),
        checked.prefetch(2).batch(2),
        checked.map(lambda x: x + 1.0).batch(4),
        checked.batch(2).ignore_errors(),
        generated.batch(3),
        generated.map(lambda x: x + 1.0).batch(3),
    ]
    return [elements(each) for each in datasets]


Pair = collections.namedtuple("Pair", "a b")


def case_generators_of_other_kinds(tf):
    def given(value, *args, **keywords):
        return elements(tf.data.Dataset.from_generator(lambda: iter([value]), *args, **keywords))

    pair = (tf.int32, tf.int32)
    number = tf.TensorSpec([], tf.int32)
    return [
        [given(value, tf.int32) for value in (1.5, 2.0, [1.5, 2], 1j, True, tf.constant(1.0))],
        [given(value, tf.bool) for value in (1, True)],
        [given(value, tf.float32) for value in (1, 1j, True, tf.constant(1))],
        [given(value, tf.int32, []) for value in (1.5, True, tf.constant(1.0))],
        [given(value, output_signature=number) for value in (1.5, True, tf.constant(2.5))],
        [given(value, pair) for value in ([1, 2], (1, 2), [1, [2, 3]], Pair(1, 2))],
        [given(value, pair, ([], [])) for value in ([1, 2], (1, 2))],
        [given(value, Pair(*pair)) for value in ((1, 2), Pair(1, 2))],
        given([1], (tf.int32,)),
        given([[1, 2], {"a": 3}], (tf.int32, {"a": tf.int32})),
        given(([1, 2], {"a": 3}), (tf.int32, {"a": tf.int32})),
    ]
