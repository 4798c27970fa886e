"""Ragged tensors of texts, and ragged and sparse ones as text."""

import pathlib
import tempfile

from .harness import attempt


def parts(x):
    return (parts(x.values), x.row_splits, x.shape) if hasattr(x, "row_splits") else x


def case_settings_after_the_texts(tf):
    rows = tf.ragged.constant([["1", "23"], [], ["456"]])
    encoded = tf.io.encode_base64(rows, True)
    found = [
        tf.strings.to_hash_bucket_strong(rows, 1000, [1231, 12512]),
        tf.strings.to_hash_bucket_strong(input=rows, num_buckets=10, key=[1, 2]),
        tf.strings.unicode_transcode(rows, "UTF-8", "UTF-16-BE"),
        tf.strings.to_number(rows, tf.int64),
        tf.io.encode_base64(rows),
        encoded,
        tf.io.decode_base64(encoded),
        tf.io.decode_compressed(rows),
        tf.io.decode_compressed(rows, ""),
    ]
    return [parts(each) for each in found]


def case_joined_along_axes(tf):
    deep = tf.ragged.constant([[["a", "b"], ["c"]], [[]], []])
    pairs = tf.ragged.constant([[["a", "b"], ["c", "d"]], [["e", "f"]]], ragged_rank=1)
    axes = (0, 1, 2, -1, -2, [0, 1], [1, 2], [2, 1], [2, 0], [0, 1, 2], None)
    joined = [
        parts(tf.strings.reduce_join(rows, axis, keepdims, "-"))
        for rows in (deep, pairs)
        for axis in axes
        for keepdims in ((False, True) if isinstance(axis, int) else (False,))
    ]
    two = tf.ragged.constant([["a", "b"], ["c"]])
    return joined, tf.strings.reduce_join(two, 0), attempt(tf.strings.reduce_join, two, 2)


def case_as_text(tf):
    c = tf.ragged.constant
    values = [
        c([[1, 2], [], [3]]),
        c([[1.5, 2.0], [3.25]]),
        c([["a", 'b"c'], ["it's", "\\"]]),
        c([[True], [False, True]]),
        c([[[1, 2], [3]], [], [[4, 5, 6]]]),
        c([list(range(10))] * 8),
        c([]),
    ]
    sparse = tf.SparseTensor([[0, 0], [1, 1]], [1, 2], [2, 2])
    with tempfile.TemporaryDirectory() as folder:
        stream = f"file://{folder}/printed"
        for value in (*values, sparse):
            tf.print(value, output_stream=stream)
            tf.print("x", value, 1, summarize=1, output_stream=stream)
            tf.print({"a": [value]}, output_stream=stream)

        @tf.function
        def written(rows, other):
            tf.print(rows, other, output_stream=stream)

        written(values[0], sparse)
        written(values[5], sparse)
        printed = pathlib.Path(folder, "printed").read_text()
    formatted = [tf.strings.format("{}", x, summarize=n) for x in values for n in (-1, 2, 3)]
    return printed, formatted, tf.strings.format("{}: {}", [values[0], values[2]])
