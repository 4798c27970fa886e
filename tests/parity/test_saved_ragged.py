"""Functions that move values between rows, and of empty batches, saved and loaded."""

import numpy as np

import tape_compat
from tests.parity import test_saved_functions

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
