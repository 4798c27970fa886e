"""Functions that move values between rows, and of empty batches, saved and loaded."""

import functools

import numpy as np

import tape_compat
from tests.parity import test_saved_functions
from tests.parity.cases_sparse import MOVED
from tests.parity.saved_exchange import compare

pytestmark, exchange = test_saved_functions.pytestmark, test_saved_functions.exchange


def words(tf):
    split, ends = tf.strings.split, lambda s, text: tf.fill([tf.shape(s)[0], 1], text)
    return {
        "sums": lambda s: tf.reduce_sum(tf.strings.length(split(s)), 1),
        "joined": lambda s: tf.strings.reduce_join(split(s), axis=-1, separator="-"),
        "whole": lambda s: tf.strings.reduce_join(s, separator="."),
        "cut": lambda s: (split(s)[:, :2], split(s)[:, -2::-2]),
        "framed": lambda s: tf.concat([ends(s, "<"), split(s)[:, :2], ends(s, ">")], 1),
        "twice": lambda s: tf.concat([split(s), tf.strings.upper(split(s))], axis=1),
    }


def test_rows_of_words(exchange, tmp_path):
    """Those of ours are recorded when they are loaded."""
    given = [["a bcd e", "", "fg h"], ["x y z u"]]
    spec = lambda tf: tf.TensorSpec([None], tf.string)
    test_saved_functions.check(exchange, tmp_path, words, given, spec)
    if exchange[0] is tape_compat:
        loaded = tape_compat.saved_model.load(str(tmp_path))
        for name in ("sums", "cut", "framed", "twice"):
            getattr(loaded, name).get_concrete_function()


def beside(tf):
    split = lambda s: tf.cast(tf.strings.length(tf.strings.split(s)), tf.float32)
    three = lambda s: split(s).with_values(split(s).values[:, None] * tf.ones([3]))
    return {
        "one": lambda s: split(s) * tf.constant([2.0]) + tf.constant([[1.0]]),
        "inner": lambda s: three(s) + tf.constant([[[1.0, 2.0, 3.0]]]),
    }


def test_tensors_that_all_rows_meet(exchange, tmp_path):
    given = [["a bcd e", "", "fg h"], ["x y z u"]]
    test_saved_functions.check(
        exchange, tmp_path, beside, given, lambda tf: tf.TensorSpec([None], tf.string)
    )


def compared(tf):
    other = lambda s: tf.concat([s[:, 1:], s[:, :1] + "x"], 1)
    sparse = lambda s: tf.sparse.from_dense(s)
    parts = lambda found: (found.indices, found.values, found.dense_shape)
    sets, flat = tf.sets, lambda s: tf.reshape(s, [-1])
    return {
        "union": lambda s: parts(sets.union(s, other(s))),
        "both": lambda s: parts(sets.intersection(sparse(s), other(s))),
        "difference": lambda s: parts(sets.difference(sparse(other(s)), sparse(s))),
        "less": lambda s: parts(sets.difference(s, sparse(other(s)), aminusb=False)),
        "sizes": lambda s: sets.size(sets.union(s, other(s))),
        "left": lambda s: tuple(tf.raw_ops.ListDiff(x=flat(s), y=flat(other(s)), out_idx=tf.int64)),
    }


def test_sets_of_texts(exchange, tmp_path):
    given = [[["a", "b", "a"], ["c", "d", "bx"]], [["a", "b"], ["a", "b"]]]
    test_saved_functions.check(
        exchange, tmp_path, compared, given, lambda tf: tf.TensorSpec([None, None], tf.string)
    )
    if exchange[0] is tape_compat:
        loaded = tape_compat.saved_model.load(str(tmp_path))
        for name in compared(tape_compat):
            getattr(loaded, name).get_concrete_function()


def numbers(tf):
    def stitched(x):
        sign = tf.cast(x[:, 0] > 0.0, tf.int32)
        places = tf.dynamic_partition(tf.range(tf.shape(x)[0]), sign, 2)
        low, high = tf.dynamic_partition(x, sign, 2)
        return tf.dynamic_stitch(places, [low * 2.0, high + 1.0])

    zeros = lambda x: tf.zeros([tf.shape(x)[0], 1], tf.int32)
    return {
        "stitched": stitched,
        "masked": lambda x: tf.ragged.boolean_mask(x, x > 0.5),
        "padding": lambda x: tf.RaggedTensor.from_tensor(x, padding=0.0),
        "gathered": lambda x: tf.gather(x, zeros(x)[:, 0]),
        "positions": lambda x: tf.gather_nd(x, zeros(x)),
    }


def test_rows_of_tensors(exchange, tmp_path):
    """Of none too."""
    given = [[[1.0, 2.0], [0.0, -4.0], [-3.0, 1.0]], np.zeros([0, 2], np.float32)]
    spec = lambda tf: tf.TensorSpec([None, 2], tf.float32)
    test_saved_functions.check(exchange, tmp_path, numbers, given, spec)


def _of_elements(tf, name, x):
    return MOVED[name](tf, tf.sparse.from_dense(x), x)


def test_elements_of_sparse_tensors_that_are_moved(exchange, tmp_path):
    writer, _ = exchange
    made, matrix = writer.Module(), writer.TensorSpec([None, None])
    for name in ("concat", "slice", "reshape", "softmax"):
        function = functools.partial(_of_elements, writer, name)
        setattr(made, name, writer.function(function, input_signature=[matrix]))
    words = lambda x: writer.strings.split(writer.strings.split(x, ","), " ").to_sparse()
    text = writer.TensorSpec([None], writer.string)
    made.words = writer.function(words, input_signature=[text])
    writer.saved_model.save(made, str(tmp_path))
    given = [[np.float32([[0, 1, 2], [3, 0, 0]])], [np.zeros([2, 4], np.float32)]]
    calls = dict.fromkeys(("concat", "slice", "reshape", "softmax"), given)
    compare(exchange, tmp_path, made, calls | {"words": [[["b ba", "", "c,e f"]]]})
