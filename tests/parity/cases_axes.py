"""Axes as programs write them: floats, lists, texts, None, beyond the rank."""

import numpy as np

from .harness import attempt, attempts, options

X = np.arange(6, dtype=np.float32).reshape(2, 3)

AXES = {
    "float": 1.0,
    "fraction": 1.5,
    "text": "a",
    "none": None,
    "list": [1],
    "lists": [0, 1],
    "beyond": 5,
    "before": -3,
}

OPS = {
    "softmax": lambda tf, axis: tf.nn.softmax(X, axis=axis),
    "log_softmax": lambda tf, axis: tf.nn.log_softmax(X, axis=axis),
    "unstack": lambda tf, axis: tf.unstack(X, axis=axis),
    "stack": lambda tf, axis: tf.stack([X, X], axis=axis),
    "cumsum": lambda tf, axis: tf.cumsum(X, axis=axis),
    "cumprod": lambda tf, axis: tf.math.cumprod(X, axis=axis),
    "cumulative_logsumexp": lambda tf, axis: tf.math.cumulative_logsumexp(X, axis=axis),
    "argmax": lambda tf, axis: tf.argmax(X, axis=axis),
    "gather": lambda tf, axis: tf.gather(X, [0, 1], axis=axis),
    "sort": lambda tf, axis: tf.sort(X, axis=axis),
    "norm": lambda tf, axis: tf.norm(X, axis=axis),
    "roll": lambda tf, axis: tf.roll(X, shift=1, axis=axis),
    "moments": lambda tf, axis: tf.nn.moments(X, axis),
    "repeat": lambda tf, axis: tf.repeat(X, 2, axis=axis),
    "reverse": lambda tf, axis: tf.reverse(X, [axis]),
}


def _tried(tf, op, axes):
    return {name: attempt(op, tf, axis, words=4) for name, axis in axes.items()}


def _of(name):
    def case(tf):
        return _tried(tf, OPS[name], AXES)

    return case


CASES = {f"axes of {name}": _of(name) for name in OPS}
CASES["axes of squeeze"] = lambda tf: _tried(
    tf, lambda tf, axis: tf.squeeze(X[:, :1], axis), {"float": 1.0, "fraction": 1.5, "bool": True}
)
CASES["axes of expand_dims"] = lambda tf: _tried(
    tf, lambda tf, axis: tf.expand_dims(X, axis), {"float32": np.float32(1), "bool": True}
)
CASES["axes of split"] = lambda tf: _tried(
    tf, lambda tf, axis: tf.split(X, 1, axis), {"float": 1.0, "list": [1], "lists": [0, 1]}
)


def case_reverse_of_a_scalar(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.reverse(x, [0]) * 2.0
    return (
        y,
        tape.gradient(y, x),
        tf.reverse(tf.constant("a"), [-1]),
        tf.experimental.numpy.fliplr(np.float32(3.0)),
    )


def case_reverse_by_bools(tf):
    return tf.reverse(X, [True]), tf.reverse(X, [False])


@options(words=3)
def case_mirrored_empty_tensors(tf):
    def pad(shape, paddings, mode):
        return attempt(tf.pad, tf.zeros(shape), paddings, mode)

    return [
        [
            pad([0], [[0, 0]], mode),
            pad([0, 3], [[0, 0], [1, 1]], mode),
            pad([0, 3], [[0, 0], [0, 0]], mode),
            pad([2, 0], [[1, 1], [0, 0]], mode),
            pad([2, 0], [[0, 0], [1, 0]], mode),
            pad([3], [[-1, 0]], mode),
        ]
        for mode in ("REFLECT", "SYMMETRIC", "CONSTANT")
    ]


def case_floats_for_whole_numbers(tf):
    image = np.zeros((4, 5, 3), np.uint8)
    return attempts(
        tf,
        {
            "roll": lambda tf: tf.roll(X, 1.0, 0),
            "rolls": lambda tf: tf.roll(X, [1.5], [0]),
            "sizes of parts": lambda tf: tf.split(X, [1.0, 2.0], 1),
            "steps": lambda tf: tf.linspace(0.0, 1.0, 2.0),
            "identity": lambda tf: tf.eye(2.0),
            "turns": lambda tf: tf.image.rot90(image, 1.5),
            "target": lambda tf: tf.image.resize_with_crop_or_pad(image, 2.0, 3),
        },
        words=0,
    )


def case_linspace_outside(tf):
    return attempts(
        tf,
        {
            "axis": lambda tf: tf.linspace(0.0, 1.0, 2, axis=1),
            "axis before": lambda tf: tf.linspace(0.0, 1.0, 2, axis=-2),
            "second axis": lambda tf: tf.linspace([0.0, 1.0], 2.0, 2, axis=2),
            "last": lambda tf: tf.linspace([0.0, 1.0], 2.0, 2, axis=-1),
            "number": lambda tf: tf.linspace(0.0, 1.0, -1),
            "nested sizes of parts": lambda tf: tf.split(X, [[1, 2]], 1),
        },
        words=0,
    )


FLOATS = {
    "one": np.array([1.0]),
    "cut": np.array(1.7),
    "negative": np.float32(-1.5),
    "two": np.array([0.0, 1.0], np.float32),
    "a row": np.array([[0, 1]]),
    "bool": np.array([True]),
    "rows": [[0], [1]],
    "of Python": 1.0,
}


def case_axes_that_are_floats(tf):
    ops = {
        "sum": lambda axis: tf.reduce_sum(X, axis),
        "all": lambda axis: tf.reduce_all(X > 2.0, axis),
        "std": lambda axis: tf.math.reduce_std(X, axis),
        "nonzero": lambda axis: tf.math.count_nonzero(X, axis),
        "running": lambda axis: tf.cumsum(X, axis),
        "running product": lambda axis: tf.math.cumprod(X, axis, reverse=True),
    }

    def each(op):
        return {name: attempt(op, axis, words=3) for name, axis in FLOATS.items()}

    found = {name: each(op) for name, op in ops.items()}
    tf.reduce_sum(X, [1])
    image = tf.ones([1, 2, 2, 1])
    blocks = {
        "after the integer": lambda tf: tf.reduce_sum(X, 1.0),
        "joined": lambda tf: (tf.concat([X, X], np.array([1.0])), tf.concat([X, X], np.array([1]))),
        "blocks": lambda tf: tf.space_to_batch(image, np.float32([2, 2]), np.zeros([2, 2])),
        "back": lambda tf: tf.batch_to_space(
            tf.ones([4, 1, 1, 1]), np.float64([2, 2]), np.zeros([2, 2])
        ),
        "blocks of floats": lambda tf: tf.space_to_batch(image, [2.0, 2.0], [[0, 0], [0, 0]]),
    }
    return found, attempts(tf, blocks, words=3)


def case_scalars_where_vectors_are_wanted(tf):
    x = tf.constant([1, 2])
    return attempts(
        tf,
        {
            "tile": lambda tf: tf.tile(x, 2),
            "tile_by_a_tensor": lambda tf: tf.tile(x, tf.constant(2)),
            "broadcast": lambda tf: tf.broadcast_to(x, 2),
            "slice": lambda tf: tf.slice(x, 0, 1),
            "strided": lambda tf: tf.strided_slice(x, 0, 1),
            "transpose": lambda tf: tf.transpose([[1, 2]], 0),
            "scattered": lambda tf: tf.scatter_nd(0, 1, [2]),
        },
    )


def case_vectors_where_scalars_are_wanted(tf):
    return attempts(
        tf,
        {
            "segments": lambda tf: tf.math.unsorted_segment_sum([1, 2], [0, 1], [2]),
            "partitions": lambda tf: tf.dynamic_partition([1, 2], [0, 1], [2]),
            "top": lambda tf: tf.math.in_top_k([0], [[1.0, 2.0]], [1]),
        },
    )


def case_index_dtypes_refused(tf):
    return attempts(
        tf,
        {
            "unique": lambda tf: tf.unique([1, 1], tf.int16),
            "counts": lambda tf: tf.unique_with_counts([1, 1], tf.float32),
        },
    )


def case_pads_as_long_as_windows(tf):
    x = tf.reshape(tf.range(16.0), [1, 4, 4, 1])

    def padded(*sides):
        return lambda tf: tf.nn.max_pool2d(x, 2, 2, [[0, 0], *sides, [0, 0]])

    pads = [[0, 0], [0, 2], [0, 0], [0, 0]]
    return attempts(
        tf,
        {
            "top": padded([2, 0], [0, 0]),
            "bottom": padded([0, 2], [0, 0]),
            "left": padded([0, 0], [2, 2]),
            "right": padded([0, 0], [0, 3]),
            "shorter": padded([1, 1], [0, 1]),
            "one_axis": lambda tf: tf.nn.max_pool1d(x[0], 2, 2, [[0, 0], [0, 2], [0, 0]]),
            "mean": lambda tf: tf.nn.avg_pool2d(x, 2, 2, pads),
        },
    )
