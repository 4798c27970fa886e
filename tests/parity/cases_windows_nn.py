"""Ops of `tf.nn` on windows of images, and others of its rarer names."""

from typing import Any

import numpy as np

from .derivatives import derivatives
from .harness import attempt, attempts, options

RNG = np.random.default_rng(6)
IMAGE = RNG.permutation(2 * 5 * 4 * 2).reshape(2, 5, 4, 2).astype(np.float32) / 8
FILTER = RNG.normal(size=(2, 3, 2)).astype(np.float32)
DEPTHWISE = RNG.normal(size=(2, 2, 2, 3)).astype(np.float32)
VOLUME = RNG.normal(size=(2, 4, 4, 3, 2)).astype(np.float32)
EVEN = RNG.normal(size=(2, 8, 6, 3)).astype(np.float32)
ONES, FIVE = [1, 1, 1, 1], [1, 1, 1, 1, 1]


def each(programs: dict[str, Any], order: int = 1) -> Any:
    """Value and derivatives of each of `programs`, (function of tf and inputs, inputs)."""
    return lambda tf: {
        name: derivatives(tf, program, values, order, words=3)
        for name, (program, *values) in programs.items()
    }


MORPHOLOGY = {
    "dilation": (
        lambda tf, x, f: tf.nn.dilation2d(x, f, ONES, "SAME", "NHWC", ONES),
        IMAGE,
        FILTER,
    ),
    "dilation holes": (
        lambda tf, x, f: tf.nn.dilation2d(x, f, [1, 2, 1, 1], "SAME", "NHWC", [1, 2, 3, 1]),
        IMAGE,
        FILTER,
    ),
    "dilation ties": (
        lambda tf, x, f: tf.nn.dilation2d(x, f, [1, 1, 2, 1], "VALID", "NHWC", ONES),
        np.ones_like(IMAGE),
        np.zeros_like(FILTER),
    ),
    "erosion": (lambda tf, x, f: tf.nn.erosion2d(x, f, ONES, "VALID", "NHWC", ONES), IMAGE, FILTER),
    "erosion same": (
        lambda tf, x, f: tf.nn.erosion2d(x, f, [1, 2, 2, 1], "SAME", "NHWC", [1, 1, 2, 1]),
        IMAGE,
        FILTER,
    ),
    "dilation integers": (
        lambda tf, x, f: tf.nn.dilation2d(x, f, ONES, "SAME", "NHWC", ONES),
        np.int32(IMAGE * 8),
        np.int32(FILTER * 4),
    ),
}
WINDOWS = {
    "argmax": (lambda tf, x: tf.nn.max_pool_with_argmax(x, 2, 2, "SAME"), IMAGE),
    "argmax of all": (
        lambda tf, x: tf.nn.max_pool_with_argmax(
            x, [1, 3, 2, 1], [1, 1, 2, 1], "VALID", include_batch_in_index=True
        ),
        IMAGE,
    ),
    "argmax ties": (
        lambda tf, x: tf.nn.max_pool_with_argmax(x, [3, 2], 1, "SAME"),
        np.ones_like(IMAGE),
    ),
    "argmax lowest": (
        lambda tf, x: tf.nn.max_pool_with_argmax(x, 3, 1, "SAME")[1],
        np.full([1, 2, 2, 1], -np.inf, np.float32),
    ),
    "argmax integers": (
        lambda tf, x: tf.nn.max_pool_with_argmax(x, 2, 2, "SAME"),
        np.int64(IMAGE * 8),
    ),
    "volumes": (
        lambda tf, x: tf.extract_volume_patches(x, [1, 2, 2, 2, 1], [1, 2, 1, 2, 1], "SAME"),
        VOLUME,
    ),
    "volumes valid": (
        lambda tf, x: tf.extract_volume_patches(x, [1, 3, 2, 3, 1], FIVE, "VALID"),
        VOLUME,
    ),
    "to input": (
        lambda tf, f, y: tf.nn.depthwise_conv2d_backprop_input([2, 5, 4, 2], f, y, ONES, "VALID"),
        DEPTHWISE,
        RNG.normal(size=(2, 4, 3, 6)).astype(np.float32),
    ),
    "to filter": (
        lambda tf, x, y: tf.nn.depthwise_conv2d_backprop_filter(
            x, [2, 2, 2, 3], y, [1, 2, 2, 1], "SAME"
        ),
        IMAGE,
        RNG.normal(size=(2, 3, 2, 6)).astype(np.float32),
    ),
    "holes": (
        lambda tf, x: tf.nn.with_space_to_batch(
            x, [2, 3], "SAME", lambda x, n, p: tf.nn.avg_pool(x, 2, 1, p), filter_shape=[2, 2]
        ),
        IMAGE,
    ),
    "holes of one": (
        lambda tf, x: tf.nn.with_space_to_batch(
            x, [3], "VALID", lambda x, n, p: tf.nn.max_pool(x, 2, 1, p), spatial_dims=[2]
        ),
        np.tile(IMAGE, (1, 1, 2, 1)),
    ),
    "no holes": (
        lambda tf, x: tf.nn.with_space_to_batch(
            x, [1, 1], "SAME", lambda x, n, p: tf.nn.max_pool(x, n, 1, p)
        ),
        IMAGE,
    ),
    "global": (
        lambda tf, x, *more: tf.nn.batch_norm_with_global_normalization(x, *more, 1e-3, True),
        IMAGE,
        *np.float32([[1, 2], [3, 4], [0.1, 0.2], [5, 6]]),
    ),
    "global, not scaled": (
        lambda tf, x, *more: tf.nn.batch_norm_with_global_normalization(x, *more, 1e-3, False),
        IMAGE,
        *np.float32([[1, 2], [3, 4], [0.1, 0.2], [5, 6]]),
    ),
    "losses": (lambda tf, x: tf.nn.scale_regularization_loss(x), np.float32([3, 4])),
}
ROW = np.float32([[3, 1, 2, 5, 5, 0], [1, 1, 2, 2, 0, -1]])
MONOTONE = {
    "falls": (lambda tf, x: tf.nn.isotonic_regression(x), ROW),
    "rises": (lambda tf, x: tf.nn.isotonic_regression(x, decreasing=False), ROW),
    "first axis": (lambda tf, x: tf.nn.isotonic_regression(x, axis=0), RNG.normal(size=(5, 3))),
    "integers": (lambda tf, x: tf.nn.isotonic_regression(x), np.int32(ROW)),
    "bytes": (lambda tf, x: tf.nn.isotonic_regression(x), np.int8(ROW)),
}


@options(words=3)
def case_morphology(tf):
    return each(MORPHOLOGY)(tf)


@options(words=3, atol=2e-5)
def case_windows(tf):
    return each(WINDOWS)(tf)


@options(words=3, rtol=1e-3)
def case_isotonic_regression(tf):
    solve = tf.nn.isotonic_regression  # TensorFlow's gradient of a vector has another shape
    plain = [solve(np.float32(3)), solve(ROW[:, :0]), solve(np.float16([1, 3, 2, 4, 0]))]
    return each(MONOTONE)(tf), plain, solve(EVEN, axis=1)


def case_of_unknown_sizes(tf):
    """Sizes that are not known until the call."""
    spec = tf.TensorSpec([None, None, None, 2])
    programs = [
        lambda x: tf.nn.max_pool_with_argmax(x, 2, 2, "SAME"),
        lambda x: tf.nn.dilation2d(x, FILTER, ONES, "VALID", "NHWC", ONES),
        lambda x: tf.nn.isotonic_regression(x, axis=1),
        lambda x: tf.extract_volume_patches(x[..., None], [1, 1, 2, 2, 1], FIVE, "VALID"),
        lambda x: tf.nn.ctc_unique_labels(tf.cast(x[0, :, :, 0], tf.int32)),
    ]
    return [tf.function(program, input_signature=[spec])(IMAGE) for program in programs]


def case_labels(tf):
    collapse, unique = tf.nn.collapse_repeated, tf.nn.ctc_unique_labels
    labels = [[1, 1, 2, 2, 0], [3, 3, 3, 4, 4]]
    return {
        "collapsed": collapse(labels, [5, 4]),
        "short": collapse(np.int64(labels), [2, 0]),
        "long": collapse(labels, np.int64([9, 9])),
        "unique": unique([[1, 2, 2, 0], [3, 3, 4, 1]]),
        "unique wide": unique(np.int64([[1, -1, 2, -1]])),
    }


def case_fractional_pools(tf):
    """What does not depend on the numbers drawn, and the pools of the windows drawn."""
    x, largest, mean = EVEN, tf.nn.fractional_max_pool, tf.nn.fractional_avg_pool
    found = [largest(x, 1.4, seed=1), mean(x, [1.0, 1.5, 1.3, 1.0], True, True, seed=3)]

    def of(pool, *options):
        """Where all windows have one size, the whole is known."""
        return derivatives(tf, lambda tf, x: pool(x, *options)[0], [x], 1)

    wide = [1.0, 4.0, 2.0, 1.0]
    return {
        "shapes": [[(y.dtype, y.shape) for y in part] for part in found],
        "names": [(type(part).__name__, part._fields) for part in found],
        "ends": [[part[i][0] for part in found] for i in (1, 2)],
        "last": [[part[i][-1] for part in found] for i in (1, 2)],
        "even": [of(largest, wide), of(mean, wide), of(largest, wide, True, True)],
        "even, overlapping": of(mean, wide, False, True),
        "integers": mean(np.int32(x * 9), wide)[0],
        "again": tf.reduce_all(largest(x, 1.4, seed=1)[1] == found[0][1]),
    }


QUANTIZED = np.float32([[-1.3, -0.5, 0.0, 0.3, 0.77, 2.2, -3.0], [0.1, 2.0, 0, 0, 0, 1.0, -1.0]])


@options(words=3)
def case_quantized_and_back(tf):
    found = {}
    for version in ("quantize_and_dequantize", "quantize_and_dequantize_v2"):
        function = getattr(tf.quantization, version)
        settings = {
            "plain": (-1.0, 1.0),
            "given": (-1.0, 1.0, True, 8, True),
            "unsigned": (0.0, 1.0, False, 8, True),
            "unsigned, not given": (0.0, 1.0, False, 4),
            "narrow": (-1.0, 2.0, True, 4, True, "HALF_TO_EVEN", None, True),
            "half up": (-1.0, 2.0, True, 3, True, "HALF_UP"),
            "negative": (-3.0, 1.0, False, 8, True),
            "one bit": (-3.0, 1.0, True, 1, True),
            "axis": (*[[-1.0, -1.0]] * 2, True, 4, False, "HALF_TO_EVEN", None, False, 0),
            "last axis": (*[[-1.0] * 7] * 2, True, 4, False, "HALF_TO_EVEN", None, False, -1),
            "mode": (-1.0, 1.0, True, 8, True, "X"),
            "bits": (-1.0, 1.0, True, 0),
            "order": (1.0, -1.0, True, 8, True),
            "vector": ([-1.0], [1.0], True, 8, True),
            "no axis": (-1.0, 1.0, True, 8, False, "HALF_TO_EVEN", None, False, 5),
        }
        for name, options_ in settings.items():
            found[version, name] = derivatives(
                tf, lambda tf, x, f=function, o=options_: f(x, *o), [QUANTIZED], 1, words=3
            )
        ends = [np.float32(-1), np.float32(1)]
        found[version, "ends"] = derivatives(
            tf, lambda tf, x, a, b, f=function: f(x, a, b, range_given=True), [QUANTIZED, *ends], 1
        )
        found[version, "zeros"] = function(QUANTIZED * 0, 0.0, 0.0)
    return found


@options(words=3)
def case_errors(tf):
    nn, x = tf.nn, tf.constant(IMAGE)
    dilate, argmax, volumes = nn.dilation2d, nn.max_pool_with_argmax, tf.extract_volume_patches
    ratio, holes, pool = nn.fractional_max_pool, nn.with_space_to_batch, nn.max_pool
    volume = tf.constant(VOLUME)
    return attempts(
        tf,
        {
            "format": lambda tf: dilate(x, FILTER, ONES, "SAME", "NCHW", ONES),
            "erosion": lambda tf: nn.erosion2d(x, FILTER, ONES, "SAME", "NCHW", ONES),
            "padding": lambda tf: dilate(x, FILTER, ONES, "X", "NHWC", ONES),
            "depth": lambda tf: dilate(x, FILTER[..., :1], ONES, "SAME", "NHWC", ONES),
            "rank": lambda tf: dilate(x[0], FILTER, ONES, "SAME", "NHWC", ONES),
            "filter": lambda tf: dilate(x, FILTER[0], ONES, "SAME", "NHWC", ONES),
            "strides": lambda tf: dilate(x, FILTER, [1, 1], "SAME", "NHWC", ONES),
            "stride": lambda tf: dilate(x, FILTER, 1, "SAME", "NHWC", ONES),
            "batch": lambda tf: dilate(x, FILTER, [2, 1, 1, 1], "SAME", "NHWC", ONES),
            "large": lambda tf: dilate(x, tf.ones([9, 9, 2]), ONES, "VALID", "NHWC", ONES),
            "argmax format": lambda tf: argmax(x, 2, 2, "SAME", "NCHW"),
            "argmax padding": lambda tf: argmax(x, 2, 2, "X"),
            "argmax pairs": lambda tf: argmax(x, 2, 2, [[0, 0]] * 4),
            "argmax rank": lambda tf: argmax(x[0], 2, 2, "SAME"),
            "argmax dtype": lambda tf: argmax(x, 2, 2, "SAME", output_dtype=tf.float32),
            "argmax sizes": lambda tf: argmax(x, [2, 2, 2], 2, "VALID"),
            "argmax bool": lambda tf: argmax(x > 3, 2, 2, "VALID"),
            "ratios": lambda tf: ratio(x, [1.5, 1.3]),
            "ratios batch": lambda tf: ratio(x, [2.0, 1.5, 1.3, 1.0]),
            "ratio": lambda tf: ratio(x, 0.5),
            "ratio rank": lambda tf: ratio(x[0], 1.5),
            "ratio large": lambda tf: ratio(x, 8.0),
            "ratio half": lambda tf: ratio(tf.cast(x, tf.float16), 1.5),
            "mean ratio": lambda tf: nn.fractional_avg_pool(x, 1.5),
            "mean ratios": lambda tf: nn.fractional_avg_pool(x, [1.5, 1.5]),
            "mean batch": lambda tf: nn.fractional_avg_pool(x, [2.0, 1.5, 1.3, 1.0]),
            "axis": lambda tf: nn.isotonic_regression(x, axis=5),
            "bool": lambda tf: nn.isotonic_regression([True, False]),
            "labels": lambda tf: nn.collapse_repeated([1, 1], [2]),
            "lengths": lambda tf: nn.collapse_repeated([[1, 1, 2]], [2, 2]),
            "unique": lambda tf: nn.ctc_unique_labels([1, 2]),
            "rates": lambda tf: holes(x, [2, 0], "VALID", pool),
            "rates rank": lambda tf: holes(x, 2, "VALID", pool),
            "no filter": lambda tf: holes(x, [2, 2], "SAME", pool),
            "holes padding": lambda tf: holes(x, [2, 2], "X", pool),
            "dimensions": lambda tf: holes(x, [2, 2], "VALID", pool, spatial_dims=[2, 1]),
            "holes rank": lambda tf: holes(x[0, 0], [2, 2], "VALID", pool),
            "sizes": lambda tf: volumes(volume, ONES, FIVE, "VALID"),
            "volume strides": lambda tf: volumes(volume, FIVE, [2, 1, 1, 1, 1], "VALID"),
            "volume rank": lambda tf: volumes(volume[0], FIVE, FIVE, "VALID"),
            "volume padding": lambda tf: volumes(volume, FIVE, FIVE, "X"),
            "volume large": lambda tf: volumes(volume, [1, 9, 2, 2, 1], FIVE, "VALID"),
            "volume bool": lambda tf: volumes(volume > 0, FIVE, FIVE, "VALID"),
            "quantized": lambda tf: tf.quantization.quantize_and_dequantize([1, 2], -1, 1),
        },
    )


def case_windows_of_floats(tf):
    x = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    three, one = np.float64(3.0), np.float32(1.0)
    window, steps = [1, three, three, 1], [1, one, 2.0, 1]
    return (
        tf.nn.avg_pool(x, window, [1, 1, 1, 1], "SAME"),
        tf.nn.avg_pool(x, 3.7, 2.0, "SAME"),
        tf.nn.max_pool(x, window, steps, "VALID"),
        tf.nn.conv2d(x, tf.ones([2, 2, 1, 1]), steps, "SAME"),
        tf.nn.dilation2d(x, tf.zeros([2, 2, 1]), steps, "SAME", "NHWC", [1, 1, 1, 1]),
        tf.image.extract_patches(x, window, steps, [1, 1, 1, 1], "SAME"),
    )


def small_images(tf):
    """Ops on images that are smaller than their windows."""
    nn, x = tf.nn, tf.ones([1, 4, 4, 2])
    row, volume = tf.ones([1, 4, 2]), tf.ones([1, 3, 3, 3, 2])
    filters = {n: tf.ones([n, n, 2, 1]) for n in (3, 5, 6, 9)}
    padding = [[0, 0], [1, 1], [1, 1], [0, 0]]
    return {
        "max": lambda: nn.max_pool2d(x, 6, 1, "VALID"),
        "max, by one": lambda: nn.max_pool2d(x, 5, 1, "VALID"),
        "max, steps": lambda: nn.max_pool2d(x, 7, 3, "VALID"),
        "max, none": lambda: nn.max_pool2d(x, 9, 2, "VALID"),
        "max, channels": lambda: nn.max_pool2d(x, [4, 6], 1, "VALID"),
        "max, same": lambda: nn.max_pool2d(x, 6, 1, "SAME"),
        "max, row": lambda: nn.max_pool1d(row, 7, 1, "VALID"),
        "max, volume": lambda: nn.max_pool3d(volume, 5, 1, "VALID"),
        "places": lambda: nn.max_pool_with_argmax(x, 6, 1, "VALID").output,
        "average": lambda: nn.avg_pool2d(x, 6, 1, "VALID"),
        "average, volume": lambda: nn.avg_pool3d(volume, 5, 1, "VALID"),
        "filter": lambda: nn.conv2d(x, filters[6], 1, "VALID"),
        "filter, by one": lambda: nn.conv2d(x, filters[5], 1, "VALID"),
        "filter, holes": lambda: nn.conv2d(x, filters[3], 1, "VALID", dilations=3),
        "filter, pairs": lambda: nn.conv2d(x, filters[9], 1, padding),
        "filter, pairs that do": lambda: nn.conv2d(x, filters[6], 1, padding),
        "filter, row": lambda: nn.conv1d(row, tf.ones([7, 2, 1]), 1, "VALID"),
        "filter, volume": lambda: nn.conv3d(volume, tf.ones([5, 5, 5, 2, 1]), FIVE, "VALID"),
        "depthwise": lambda: nn.depthwise_conv2d(x, filters[6], ONES, "VALID"),
        "depthwise, deep": lambda: nn.depthwise_conv2d(x, tf.ones([6, 6, 3, 1]), ONES, "VALID"),
        "patches": lambda: tf.image.extract_patches(x, [1, 6, 6, 1], ONES, ONES, "VALID"),
        "patches, by one": lambda: tf.image.extract_patches(x, [1, 5, 5, 1], ONES, ONES, "VALID"),
    }


def case_images_smaller_than_windows(tf):
    programs = small_images(tf)
    return attempts(tf, {name: lambda tf, f=f: f() for name, f in programs.items()}, words=8)


def case_images_smaller_than_windows_in_functions(tf):
    found = {}
    for name, program in small_images(tf).items():
        try:
            found[name] = tf.function(program)().shape
        except ValueError as error:
            found[name] = [
                [word for word in text.split()[:9] if not word.endswith("Error:")][:8]
                for text in str(error).splitlines()
                if "Negative dimension" in text or "Computed output" in text
            ][:1]
    return found


def case_windows_larger_than_images(tf):
    """The kernels' counts of windows round towards zero."""

    def shapes(size, window, stride):
        x, volume = tf.ones([1, size, 9, 1]), tf.ones([1, size, 9, 9, 1])
        strides = [1, stride, 1, 1]
        calls = {
            "dilation": lambda tf: tf.nn.dilation2d(
                x, tf.ones([window, 1, 1]), strides, "VALID", "NHWC", ONES
            ),
            "erosion": lambda tf: tf.nn.erosion2d(
                x, tf.ones([window, 1, 1]), strides, "VALID", "NHWC", ONES
            ),
            "patches": lambda tf: tf.image.extract_patches(
                x, [1, window, 1, 1], strides, ONES, "VALID"
            ),
            "volumes": lambda tf: tf.extract_volume_patches(
                volume, [1, window, 1, 1, 1], [*strides, 1], "VALID"
            ),
        }
        return attempts(tf, calls)

    given = ((1, 3, 2), (0, 3, 2), (1, 4, 2), (1, 5, 2), (1, 5, 3), (0, 1, 1), (1, 3, 1), (1, 9, 2))
    return [shapes(*sizes) for sizes in given]


def case_dilation_of_windows_outside(tf):
    x = tf.reshape(tf.range(4.0), [2, 1, 1, 2])
    return tf.nn.dilation2d(x, tf.ones([2, 2, 2]), [1, 2, 3, 1], "SAME", "NHWC", [1, 2, 2, 1])


def case_pool_with_holes_of_unknown_sizes(tf):
    @tf.function(input_signature=[tf.TensorSpec([None] * 4)])
    def pooled(x):
        y = tf.nn.pool(x, [1, 2], "AVG", dilations=[2, 2])
        return y, tf.shape(y), tf.zeros_like(y)

    return [pooled(tf.ones(shape)) for shape in ([1, 9, 4, 3], [2, 8, 5, 3], [1, 3, 3, 1])]


def case_patches_of_small_images_of_unknown_sizes(tf):
    @tf.function(input_signature=[tf.TensorSpec([None] * 4)])
    def patches(x):
        return tf.image.extract_patches(x, [1, 4, 4, 1], [1, 1, 1, 1], [1, 1, 2, 1], "VALID")

    small = attempt(lambda: patches(tf.ones([2, 7, 2, 1])), words=0)
    return patches(tf.ones([1, 7, 9, 1])), small
