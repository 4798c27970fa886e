"""What the kernels are compared on."""

import numpy as np

X = [[0.3, -0.7, 1.2], [2.0, -1.5, 0.0]]
Y = [[0.5, 2.0, -1.0], [1.0, 3.0, 2.5]]
POSITIVE = [[0.3, 0.7, 1.2], [2.0, 1.5, 0.9]]
SMALL = [[0.3, -0.7, 0.2], [0.9, -0.5, 0.0]]
INTS = [[5, -3, 7], [2, 9, -8]]
SQUARE = [[2.0, 0.5, 0.1], [0.5, 3.0, 0.2], [0.1, 0.2, 1.5]]
WORDS = [b"a b", b"", b"Cde  f"]


def IMAGES(c):
    return c(np.sin(np.arange(64.0)).reshape(2, 4, 4, 2))


def FILTERS(c):
    return c(np.cos(np.arange(24.0)).reshape(2, 2, 2, 3))


def VOLUMES(c):
    return c(np.sin(np.arange(64.0)).reshape(1, 4, 4, 4, 1))


def LIKE(c, *shape):
    """Numbers of a shape."""
    return c(np.cos(1.7 * np.arange(float(np.prod(shape)))).reshape(shape))
