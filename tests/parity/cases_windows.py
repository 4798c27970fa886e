"""`tf.nn`: convolutions and pools, the first of equal values, strides, padding, transposes."""

import numpy as np

from .derivatives import points

TIED = np.array([0, 2, 2, 1, 0, 2, 1, 1, 0, 0, 2, 2, 1, 0, 0, 1, 1, 2, 2, 0], np.float32)
IMAGE = TIED.reshape(1, 5, 4, 1)
LOW = np.full([1, 3, 3, 1], np.finfo(np.float32).min, np.float32)


def numbers(*shape):
    return np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)


CASES = {
    f"max_pool {ksize} {strides} {padding}": points(
        lambda tf, x, k=ksize, s=strides, p=padding: tf.nn.max_pool2d(x, k, s, p), IMAGE
    )
    for ksize, strides in [(2, 1), (3, 2), (3, 1), ([1, 3], 1), (2, 3), ([3, 2], [2, 2]), (4, 2)]
    for padding in ("SAME", "VALID")
}
CASES |= {
    "max_pool explicit": points(
        lambda tf, x: tf.nn.max_pool2d(x, 3, 2, [[0, 0], [1, 1], [1, 0], [0, 0]]),
        IMAGE,
        order=1,
    ),
    "max_pool 3d tiles": points(
        lambda tf, x: tf.nn.max_pool3d(x, 2, 2, "VALID"), TIED[:16].reshape(1, 2, 4, 2, 1)
    ),
    "max_pool 1d": points(lambda tf, x: tf.nn.max_pool1d(x, 3, 2, "SAME"), TIED.reshape(2, 10, 1)),
    "max_pool 3d": points(
        lambda tf, x: tf.nn.max_pool3d(x, 2, 1, "VALID"), TIED[:18].reshape(1, 3, 3, 2, 1)
    ),
    "max_pool of the lowest": points(lambda tf, x: tf.nn.max_pool2d(x, 3, 2, "SAME"), LOW, order=1),
    "max_pool empty": points(
        lambda tf, x: tf.nn.max_pool2d(x, 3, 2, "SAME"), np.zeros([0, 4, 4, 1], np.float32), order=1
    ),
}


def _of_many_channels(pool, size, channels):
    """Called until it is compiled, where kernels of our own do it."""
    values = np.random.default_rng(channels).choice(TIED, (2, *size, channels))

    def case(tf):
        @tf.function
        def step(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = pool(tf, x)
                weights = tf.reshape(tf.range(float(np.prod(y.shape))), y.shape)
            return y, tape.gradient(y, x, weights)

        return [step(tf.constant(values)) for _ in range(5)][-1]

    return case


CASES |= {
    f"max_pool of {channels} channels, {ksize} {strides} {padding}": _of_many_channels(
        lambda tf, x, of=(ksize, strides, padding): tf.nn.max_pool2d(x, *of), (7, 6), channels
    )
    for ksize, strides, padding, channels in [
        (3, 2, "SAME", 16),
        (3, 1, "SAME", 9),
        ([2, 3], [1, 2], "VALID", 24),
        (3, 2, [[0, 0], [2, 1], [0, 2], [0, 0]], 8),
    ]
}
CASES |= {
    "max_pool of many channels, 1d": _of_many_channels(
        lambda tf, x: tf.nn.max_pool1d(x, 3, 2, "SAME"), (13,), 8
    ),
    "max_pool of many channels, 3d": _of_many_channels(
        lambda tf, x: tf.nn.max_pool3d(x, [2, 3, 2], [1, 2, 2], "SAME"), (4, 5, 3), 8
    ),
}
CASES |= {
    f"pointwise {strides} {padding}": points(
        lambda tf, x, f, s=strides, p=padding: tf.nn.conv2d(x, f, s, p),
        numbers(2, 3, 4, 2),
        numbers(1, 1, 2, 3),
    )
    for strides in (1, 2, 3)
    for padding in ("SAME", "VALID")
}
CASES |= {
    "pointwise 1d": points(
        lambda tf, x, f: tf.nn.conv1d(x, f, 2, "SAME"), numbers(2, 5, 2), numbers(1, 2, 3)
    ),
    "pointwise 3d": points(
        lambda tf, x, f: tf.nn.conv3d(x, f, [1, 1, 2, 1, 1], "SAME"),
        numbers(1, 2, 3, 2, 2),
        numbers(1, 1, 1, 2, 3),
    ),
    "pointwise transposed": points(
        lambda tf, x, f: tf.nn.conv2d_transpose(x, f, [1, 4, 5, 3], 2, "SAME"),
        numbers(1, 2, 3, 2),
        numbers(1, 1, 3, 2),
    ),
    "convolution transposed": points(
        lambda tf, x, f: tf.nn.conv2d_transpose(x, f, [1, 4, 5, 2], 2, "SAME"),
        numbers(1, 2, 3, 2),
        numbers(3, 3, 2, 2),
    ),
}
