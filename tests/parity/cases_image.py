"""`tf.image`, and the ops of `tf.nn` that rearrange pixels."""

from typing import Any

import numpy as np

from .derivatives import derivatives
from .harness import attempts, options

RNG = np.random.default_rng(11)
IMAGE = RNG.normal(size=(2, 4, 6, 4)).astype(np.float32)
SQUARE = RNG.normal(size=(1, 4, 4, 2)).astype(np.float32)
NEEDS = ("image.extract_patches",)


def each(programs: dict[str, Any], order: int = 1) -> Any:
    """A case: value and derivatives of each of `programs`, (function of tf and inputs, inputs)."""
    return lambda tf: {
        name: derivatives(tf, program, values, order, words=3)
        for name, (program, *values) in programs.items()
    }


SPACE = {
    "depth_to_space": (lambda tf, x: tf.nn.depth_to_space(x, 2), IMAGE),
    "space_to_depth": (lambda tf, x: tf.nn.space_to_depth(x, 2), IMAGE),
    "space_to_batch": (
        lambda tf, x: tf.space_to_batch(x, [2, 3], paddings=[[1, 1], [0, 3]]),
        IMAGE,
    ),
    "space_to_batch_nd": (lambda tf, x: tf.space_to_batch_nd(x, [2], [[2, 0]]), IMAGE),
    "batch_to_space": (lambda tf, x: tf.batch_to_space(x, [2, 1], crops=[[1, 0], [0, 2]]), IMAGE),
    "batch_to_space number": (lambda tf, x: tf.batch_to_space(x, 1, [[1, 0]]), IMAGE),
    "patches": (
        lambda tf, x: tf.image.extract_patches(
            x, [1, 3, 2, 1], [1, 2, 3, 1], [1, 1, 2, 1], padding="SAME"
        ),
        IMAGE,
    ),
    "patches valid": (
        lambda tf, x: tf.image.extract_patches(
            x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 2, 1, 1], padding="VALID"
        ),
        IMAGE,
    ),
    "patches too large": (
        lambda tf, x: tf.image.extract_patches(x, [1, 5, 5, 1], [1] * 4, [1] * 4, "VALID"),
        np.arange(16).reshape(1, 4, 4, 1),
    ),
}
CONVOLUTIONS = {
    "conv_transpose": (
        lambda tf, x, f: tf.nn.conv_transpose(x, f, [2, 7, 12, 3], [2, 2]),
        IMAGE,
        np.linspace(-1, 1, 108, dtype=np.float32).reshape(3, 3, 3, 4),
    ),
    "conv1d_transpose": (
        lambda tf, x, f: tf.nn.conv1d_transpose(x, f, [4, 10, 3], 2, "VALID"),
        SQUARE[0],
        np.linspace(-1, 1, 24, dtype=np.float32).reshape(4, 3, 2),
    ),
    "conv3d_transpose": (
        lambda tf, x, f: tf.nn.conv3d_transpose(x, f, [1, 1, 8, 8, 3], [1, 2, 2]),
        SQUARE[:, None],
        np.linspace(-1, 1, 48, dtype=np.float32).reshape(2, 2, 2, 3, 2),
    ),
    "pool": (lambda tf, x: tf.nn.pool(x, [2, 3], "AVG", [1, 2], "SAME"), IMAGE),
    "pool holes": (lambda tf, x: tf.nn.pool(x, [2, 2], "MAX", dilations=[3, 2]), IMAGE),
    "pool holes mean": (lambda tf, x: tf.nn.pool(x, [2, 2], "AVG", dilations=[1, 2]), IMAGE),
}


@options(words=3)
def case_space(tf):
    return each(SPACE, 2)(tf)


@options(words=3)
def case_transposed_convolutions(tf):
    return each(CONVOLUTIONS)(tf)


def case_atrous_transpose(tf):
    f = tf.reshape(tf.linspace(-1.0, 1.0, 24), [2, 2, 3, 2])
    transposed = tf.nn.atrous_conv2d_transpose
    return (
        transposed(SQUARE, f, [1, 4, 4, 3], 2, "SAME"),
        transposed(SQUARE, f, [1, 6, 6, 3], 2, "VALID"),
        tf.nn.atrous_conv2d(SQUARE, tf.transpose(f, [0, 1, 3, 2]), 2, "SAME"),
    )


def case_space_errors(tf):
    x, y = tf.ones([1, 4, 4, 8]), tf.ones([8, 2, 2, 3])
    ones = [1, 1, 1, 1]
    small, f = tf.ones([1, 4, 4, 2]), tf.ones([2, 2, 3, 2])
    return attempts(
        tf,
        {
            "block of 1": lambda tf: tf.nn.depth_to_space(x, 1),
            "depth": lambda tf: tf.nn.depth_to_space(x, 3),
            "rank": lambda tf: tf.nn.depth_to_space(x[0], 2),
            "space": lambda tf: tf.nn.space_to_depth(x, 3),
            "format": lambda tf: tf.nn.space_to_depth(x, 2, "X"),
            "to batch": lambda tf: tf.space_to_batch(x, [3, 2], [[0, 0], [0, 0]]),
            "paddings": lambda tf: tf.space_to_batch(x, [2, 2], [[0, 0]]),
            "block of 0": lambda tf: tf.space_to_batch(x, [2, 0], [[0, 0], [0, 0]]),
            "negative": lambda tf: tf.space_to_batch(x, [2, 2], [[0, -1], [0, 0]]),
            "from batch": lambda tf: tf.batch_to_space(y, [3, 2], [[0, 0], [0, 0]]),
            "crops": lambda tf: tf.batch_to_space(y, [2, 2], [[5, 0], [0, 0]]),
            "pool": lambda tf: tf.nn.pool(x, [2, 2], "X"),
            "pool both": lambda tf: tf.nn.pool(x, [2, 2], "AVG", strides=[2, 2], dilations=[2, 2]),
            "pool same": lambda tf: tf.nn.pool(x, [2, 2], "AVG", padding="SAME", dilations=[2, 2]),
            "pool rank": lambda tf: tf.nn.pool(x, [2], "AVG"),
            "transpose": lambda tf: tf.nn.conv_transpose(x, f, [1, 4], 2),
            "depths": lambda tf: tf.nn.conv_transpose(small, f, [1, 8, 8, 5], 2),
            "atrous rate": lambda tf: tf.nn.atrous_conv2d_transpose(
                small, f, [1, 5, 5, 3], 0, "SAME"
            ),
            "atrous padding": lambda tf: tf.nn.atrous_conv2d_transpose(
                small, f, [1, 5, 5, 3], 2, "X"
            ),
            "atrous depth": lambda tf: tf.nn.atrous_conv2d_transpose(x, f, [1, 5, 5, 3], 2, "SAME"),
            "patches": lambda tf: tf.image.extract_patches(x, [2, 2, 2, 1], ones, ones, "SAME"),
            "patches few": lambda tf: tf.image.extract_patches(x, [2, 2], ones, ones, "SAME"),
            "patches padding": lambda tf: tf.image.extract_patches(x, ones, ones, ones, "X"),
            "patches rank": lambda tf: tf.image.extract_patches(x[0], ones, ones, ones, "SAME"),
            "rate": lambda tf: tf.nn.experimental.stateless_dropout(x, 1.5, [1, 2]),
            "integers": lambda tf: tf.nn.experimental.stateless_dropout([1], 0.5, [1, 2]),
            "generator": lambda tf: tf.nn.experimental.stateless_dropout(
                x, 0.5, [1, 2], rng_alg="x"
            ),
            "seed": lambda tf: tf.nn.experimental.stateless_dropout(x, 0.5, [1, 2, 3]),
        },
        words=3,
    )


def case_stateless_dropout(tf):
    y = tf.nn.experimental.stateless_dropout(tf.ones([40, 8]), 0.5, [1, 2], noise_shape=[1, 8])
    values = sorted(set(y.numpy().ravel().tolist()))
    return y.shape, values, bool((y.numpy() == y.numpy()[:1]).all())
