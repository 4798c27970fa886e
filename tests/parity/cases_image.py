"""`tf.image`, and the ops of `tf.nn` that rearrange pixels."""

from typing import Any

import numpy as np

from .derivatives import derivatives
from .harness import attempt, attempts, options

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


@options(words=3, atol=1e-5)  # of sums whose terms, of 10 and less, cancel on some processors
def case_transposed_convolutions(tf):
    return each(CONVOLUTIONS)(tf)


def case_paddings_for_blocks(tf):
    paddings = tf.required_space_to_batch_paddings

    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def of_unknown_sizes(x):
        return paddings(tf.shape(x), [2, 3])

    programs = {
        "plain": lambda tf: paddings([5, 7], [2, 3]),
        "from others": lambda tf: paddings([5, 7], tf.constant([2, 3]), [[1, 0], [0, 2]]),
        "none": lambda tf: paddings([], []),
        "unknown sizes": lambda tf: of_unknown_sizes(tf.ones([3, 4])),
        "lengths": lambda tf: paddings([5, 7], [2]),
        "base": lambda tf: paddings([5, 7], [2, 3], [[1, 0]]),
        "rank": lambda tf: paddings(5, 2),
    }
    return attempts(tf, programs)


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
            "convolution": lambda tf: tf.nn.convolution(
                x, tf.ones([2, 2, 8, 1]), 2, "VALID", dilations=2
            ),
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


COLORS = RNG.uniform(0.05, 0.95, size=(2, 3, 5, 3)).astype(np.float32)
GRAY = np.float32([[[0.5, 0.5, 0.5], [0.0, 0.0, 0.0], [1.0, 1.0, 0.2], [0.2, 0.7, 0.7]]])
BYTES = RNG.integers(0, 256, size=(1, 5, 4, 3)).astype(np.uint8)
METHODS = "bilinear nearest bicubic area lanczos3 lanczos5 gaussian mitchellcubic".split()


@options(atol=2e-5)
def case_resize(tf):
    found = {}
    for method in METHODS:
        for size in ([5, 13], [2, 3], [4, 6]):
            order = 0 if method == "area" else 1
            found[f"{method} {size}"] = derivatives(
                tf, lambda tf, x, s=size, m=method: tf.image.resize(x, s, m), [IMAGE], order
            )
        found[f"{method} antialias"] = tf.image.resize(IMAGE, [3, 2], method, antialias=True)
        found[f"{method} bytes"] = tf.image.resize(BYTES[0], [3, 7], method)
    found["proportions"] = tf.image.resize(IMAGE, [7, 7], preserve_aspect_ratio=True)
    found["double"] = tf.image.resize(np.float64(IMAGE), [2, 2])
    found["pad"] = tf.image.resize_with_pad(IMAGE, 7, 7)
    found["pad 3"] = tf.image.resize_with_pad(BYTES[0], 4, 9, "nearest")
    found["method"] = tf.image.ResizeMethod.LANCZOS3
    return found


GEOMETRY = {
    "flip_left_right": lambda tf, x: tf.image.flip_left_right(x),
    "flip_up_down": lambda tf, x: tf.image.flip_up_down(x),
    "transpose": lambda tf, x: tf.image.transpose(x),
    "rot90": lambda tf, x: [tf.image.rot90(x, k) for k in (0, 1, 2, 3, -1)],
    "central_crop": lambda tf, x: [tf.image.central_crop(x, f) for f in (0.3, 0.5, 1.0)],
    "crop": lambda tf, x: tf.image.crop_to_bounding_box(x, 1, 0, 2, 3),
    "pad": lambda tf, x: tf.image.pad_to_bounding_box(x, 1, 2, 6, 9),
    "crop or pad": lambda tf, x: [
        tf.image.resize_with_crop_or_pad(x, h, w) for h, w in ((2, 9), (7, 3), (4, 6), (1, 1))
    ],
    "random crop of all": lambda tf, x: tf.image.random_crop(x, x.shape),
}


def case_geometry(tf):
    return {
        f"{name} {x.ndim}": derivatives(tf, program, [x], 1)
        for name, program in GEOMETRY.items()
        for x in (IMAGE, IMAGE[1])
    }


COLORED = {
    "rgb_to_hsv": lambda tf, x: tf.image.rgb_to_hsv(x),
    "rgb_to_yiq": lambda tf, x: tf.image.rgb_to_yiq(x),
    "yiq_to_rgb": lambda tf, x: tf.image.yiq_to_rgb(x),
    "rgb_to_yuv": lambda tf, x: tf.image.rgb_to_yuv(x),
    "yuv_to_rgb": lambda tf, x: tf.image.yuv_to_rgb(x),
    "rgb_to_grayscale": lambda tf, x: tf.image.rgb_to_grayscale(x),
    "grayscale_to_rgb": lambda tf, x: tf.image.grayscale_to_rgb(x[..., :1]),
    "hsv_to_rgb": lambda tf, x: tf.image.hsv_to_rgb(x),
    "adjust_brightness": lambda tf, x: tf.image.adjust_brightness(x, 0.3),
    "adjust_gamma": lambda tf, x: tf.image.adjust_gamma(x, 0.7, 1.5),
    "standardization": lambda tf, x: tf.image.per_image_standardization(x),
    "gradients": lambda tf, x: tf.image.image_gradients(x[None] if len(x.shape) == 3 else x),
    "variation": lambda tf, x: tf.image.total_variation(x),
    "psnr": lambda tf, x: tf.image.psnr(x, x * x, 1.0),
}
ADJUSTED = {
    "contrast": lambda tf, x: tf.image.adjust_contrast(x, 1.7),
    "saturation": lambda tf, x: [tf.image.adjust_saturation(x, f) for f in (0.4, 3.0)],
    "hue": lambda tf, x: [tf.image.adjust_hue(x, d) for d in (0.3, -0.9)],
    "hsv_to_rgb": lambda tf, x: tf.image.hsv_to_rgb(x),
    "rgb_to_grayscale": lambda tf, x: tf.image.rgb_to_grayscale(x),
}


@options(atol=1e-5, rtol=1e-4)
def case_colors(tf):
    found = {
        f"{name} {label}": derivatives(tf, program, [x], 1)
        for name, program in COLORED.items()
        for label, x in (("colors", COLORS), ("gray", GRAY))
        if (name, label) not in (("psnr", "gray"),)
    }
    for name, program in ADJUSTED.items():
        found[f"{name} adjusted"] = program(tf, COLORS)
    return found


def case_adjusted_bytes(tf):
    found = [program(tf, BYTES) for name, program in ADJUSTED.items() if name != "hsv_to_rgb"]
    found += [tf.image.adjust_brightness(BYTES, 0.5), tf.image.adjust_gamma(BYTES, 2.0)]
    return found


def case_convert_image_dtype(tf):
    convert = tf.image.convert_image_dtype
    return {
        **{f"{d} of floats": convert(COLORS, d) for d in ("uint8", "int16", "uint16", "float64")},
        **{f"{d} of bytes": convert(BYTES, d) for d in ("int8", "uint16", "int32", "float16")},
        "saturate": convert(COLORS * 3 - 1, tf.uint8, saturate=True),
        "narrow": convert(np.int32([2**31 - 1, 2**20, -5]), tf.uint8, saturate=True),
    }


@options(atol=2e-5, rtol=1e-4)
def case_measures(tf):
    big = np.random.default_rng(1).uniform(size=(2, 24, 27, 2)).astype(np.float32)
    other = np.clip(big + 0.1 * np.sin(np.arange(27))[:, None], 0, 1).astype(np.float32)
    two = (0.6, 0.4)
    return {
        "sobel": derivatives(tf, lambda tf, x: tf.image.sobel_edges(x), [COLORS], 1),
        "ssim": derivatives(tf, lambda tf, x, y: tf.image.ssim(x, y, 1.0), [big, other], 1),
        "map": tf.image.ssim(big, other, 1.0, filter_size=7, return_index_map=True),
        "bytes": tf.image.ssim(np.uint8(big * 255), np.uint8(other * 255), 255),
        "multiscale": derivatives(
            tf,
            lambda tf, x, y: tf.image.ssim_multiscale(x, y, 1.0, two, filter_size=5),
            [big, other],
            1,
        ),
        "psnr bytes": tf.image.psnr(BYTES, BYTES // 2, 255),
    }


@options(atol=2e-5)
def case_crop_and_resize(tf):
    boxes = np.float32([[0.1, 0.2, 0.9, 0.8], [0.5, -0.3, 1.4, 0.6], [1, 1, 0, 0]])
    crop = tf.image.crop_and_resize
    return (
        derivatives(
            tf, lambda tf, x, b: crop(x, b, [0, 1, 0], [3, 5], extrapolation_value=7.0),
            [IMAGE, boxes], 1,
        ),
        crop(IMAGE, boxes, [1, 1, 0], [1, 2], method="nearest"),
        crop(BYTES, boxes[:1], [0], [4, 4]),
    )  # fmt: skip


def case_non_max_suppression(tf):
    boxes = np.float32([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11],
                        [0, 10.1, 1, 11.1], [0, 100, 1, 101], [1, 101, 0, 100]])  # fmt: skip
    scores = np.float32([0.9, 0.75, 0.6, 0.95, 0.5, 0.3, 0.3])
    chosen = tf.image.non_max_suppression
    return (
        chosen(boxes, scores, 3),
        chosen(boxes, scores, 10, 0.9),
        chosen(boxes, scores, 10, iou_threshold=0.3, score_threshold=0.4),
    )


def case_files(tf):
    image = tf.image
    rgb, gray = BYTES[0], BYTES[0, :, :, :1]
    clear = np.concatenate([rgb, gray], -1)
    found = {
        str(x.shape): image.decode_png(image.encode_png(x))
        for x in (rgb, gray, clear, clear[..., 2:])
    }
    wide = (gray.astype(np.uint16) << 8) + 3
    file = image.encode_png(rgb)
    return {
        **found,
        "wide": image.decode_png(image.encode_png(wide), dtype=tf.uint16),
        "narrow": image.decode_png(image.encode_png(wide)),
        "widened": image.decode_image(file, dtype=tf.uint16),
        "floats": image.decode_image(file, dtype=tf.float32),
        "to gray": image.decode_png(file, channels=1),
        "to clear": image.decode_png(file, channels=4),
        "from gray": image.decode_png(image.encode_png(gray), channels=3),
        "jpeg": image.decode_jpeg(image.encode_jpeg(np.full([8, 8, 3], 90, np.uint8))).shape,
        "is jpeg": image.is_jpeg(image.encode_jpeg(gray)),
        "is not": image.is_jpeg(file),
        "gif": image.decode_gif(GIF),
        "gif image": image.decode_image(GIF, expand_animations=False),
        "several": image.encode_png(BYTES).shape,
    }


#: Two frames of 2 x 2 pixels.
GIF = bytes.fromhex(
    "47494638376102000200810000ff00000000000000000000002c00000000020002000008060001080410100021"
    "f90401000002002c00000000020002008100ff000000ff000000000000080700030400102020003b"
)


def case_random(tf):
    """What does not depend on the numbers drawn."""
    image, x = tf.image, tf.constant(COLORS)
    tf.random.set_seed(3)
    both = tf.stack([x, tf.image.flip_left_right(x)])
    flipped = image.random_flip_left_right(x)
    one = image.stateless_random_flip_up_down(x[0], [1, 2])
    crop = image.stateless_random_crop(x, [1, 2, 2, 3], [4, 5])
    return (
        tf.reduce_all(tf.reduce_any(tf.reduce_all(both == flipped, [2, 3, 4]), 0)),
        tf.reduce_all(one == x[0]) | tf.reduce_all(one == tf.image.flip_up_down(x[0])),
        crop.shape,
        image.stateless_random_brightness(x, 0.0, [1, 2]),
        image.stateless_random_hue(x, 0.2, [1, 2]).shape,
        image.random_contrast(x, 0.5, 1.5).shape,
        image.stateless_random_saturation(x, 0.5, 1.5, [1, 2]).dtype,
        image.random_crop(x, [2, 2, 2, 3], seed=1).shape,
    )


def case_errors(tf):
    image, x, boxes = tf.image, tf.ones([1, 4, 4, 3]), [[0.0, 0.0, 1.0, 1.0]]
    crop, bytes_ = image.crop_and_resize, tf.ones([2, 2, 1], tf.uint8)
    return attempts(
        tf,
        {
            "empty": lambda tf: image.resize(x, [0, 2]),
            "rank": lambda tf: image.resize(x[0, 0], [2, 2]),
            "method": lambda tf: image.resize(x, [2, 2], "bil"),
            "size of 3": lambda tf: image.resize(x, [2, 2, 2]),
            "size": lambda tf: image.resize(x, [2.5, 2]),
            "one size": lambda tf: image.resize(x, 3),
            "bool": lambda tf: image.resize(tf.cast(x, tf.bool), [2, 2]),
            "of nothing": lambda tf: image.resize(tf.zeros([1, 0, 4, 3]), [2, 2]),
            "channels": lambda tf: image.rgb_to_hsv(x[..., :2]),
            "scalar": lambda tf: image.rgb_to_hsv(tf.ones([])),
            "integers": lambda tf: image.rgb_to_hsv(tf.constant([1, 2, 3])),
            "not gray": lambda tf: image.grayscale_to_rgb(x),
            "gray vector": lambda tf: image.grayscale_to_rgb(tf.ones([1])),
            "flip": lambda tf: image.flip_left_right(x[0, 0]),
            "flip 5": lambda tf: image.flip_left_right(x[None]),
            "flip empty": lambda tf: image.flip_left_right(tf.ones([0, 2, 2])),
            "central": lambda tf: image.central_crop(x, 2.0),
            "crop offset": lambda tf: image.crop_to_bounding_box(x, -1, 0, 1, 1),
            "crop size": lambda tf: image.crop_to_bounding_box(x, 0, 0, 5, 1),
            "crop empty": lambda tf: image.crop_to_bounding_box(x, 0, 0, 0, 1),
            "pad offset": lambda tf: image.pad_to_bounding_box(x, -1, 0, 6, 6),
            "pad size": lambda tf: image.pad_to_bounding_box(x, 0, 0, 1, 6),
            "crop or pad": lambda tf: image.resize_with_crop_or_pad(x, 0, 3),
            "with pad": lambda tf: image.resize_with_pad(x, 0, 3),
            "gamma": lambda tf: image.adjust_gamma(x, -1.0),
            "hue": lambda tf: image.adjust_hue(x, 2.0),
            "to bool": lambda tf: image.convert_image_dtype(x, tf.bool),
            "delta": lambda tf: image.random_brightness(x, -1),
            "contrast": lambda tf: image.random_contrast(x, 1, 0.5),
            "random hue": lambda tf: image.random_hue(x, 0.6),
            "saturation": lambda tf: image.random_saturation(x, -1, 1),
            "random crop": lambda tf: image.random_crop(x, [1, 5, 4, 3]),
            "gradients": lambda tf: image.image_gradients(x[0]),
            "variation": lambda tf: image.total_variation(x[0, 0]),
            "ssim": lambda tf: image.ssim(x, x, 1.0),
            "hue channels": lambda tf: image.adjust_hue(x[..., :2], 0.2),
            "contrast rank": lambda tf: image.adjust_contrast(x[0, 0, 0], 0.2),
            "box of none": lambda tf: crop(x, boxes, [1], [2, 2]),
            "box of 3": lambda tf: crop(x, [[0.0, 0.0, 1.0]], [0], [2, 2]),
            "boxes": lambda tf: crop(x, boxes, [0, 0], [2, 2]),
            "crop of 1": lambda tf: crop(x, boxes, [0], [2]),
            "crop of 0": lambda tf: crop(x, boxes, [0], [2, 0]),
            "crop method": lambda tf: crop(x, boxes, [0], [2, 2], "x"),
            "crop rank": lambda tf: crop(x[0], boxes, [0], [2, 2]),
            "no image": lambda tf: image.decode_png(b"abc"),
            "nothing": lambda tf: image.decode_image(b""),
            "two channels": lambda tf: image.decode_png(image.encode_png(bytes_), channels=2),
            "png channels": lambda tf: image.encode_png(tf.ones([2, 2, 5], tf.uint8)),
            "jpeg channels": lambda tf: image.encode_jpeg(tf.ones([2, 2, 2], tf.uint8)),
            "overlap": lambda tf: image.non_max_suppression(boxes, [1.0], 1, iou_threshold=2.0),
            "fewer than none": lambda tf: image.non_max_suppression(boxes, [1.0], -1),
            "several numbers": lambda tf: image.non_max_suppression(boxes, [1.0], [1]),
        },
        words=3,
    )


def case_combined_non_max_suppression(tf):
    random = np.random.RandomState(3)
    corners = random.uniform(-0.2, 1.2, [2, 9, 1, 4]).astype(np.float32)
    several = random.uniform(0, 1, [2, 9, 3, 4]).astype(np.float32)
    scores = (random.permutation(54).reshape(2, 9, 3) / 54).astype(np.float32)
    chosen = tf.image.combined_non_max_suppression
    return [
        tuple(chosen(corners, scores, 4, 6)),
        tuple(chosen(corners, scores, 4, 20, iou_threshold=0.2, clip_boxes=False)),
        tuple(chosen(several, scores, 2, 20, 0.1, 0.5, pad_per_class=True)),
        tuple(chosen(several, scores, 20, 5, 0.9, pad_per_class=True)),
        attempt(lambda: chosen(corners, scores, 4, 6, iou_threshold=2.0), words=0),
        attempt(lambda: chosen(corners[0], scores, 4, 6), words=0),
        attempt(lambda: chosen(several[:, :, :2], scores, 4, 6), words=0),
        attempt(lambda: chosen(corners, scores, 4, 0), words=0),
    ]


def case_resize_to_a_vector_of_unknown_length(tf):
    spec = [tf.TensorSpec([None, None, 2]), tf.TensorSpec([None], tf.int32)]
    resize = tf.function(tf.image.resize, input_signature=spec)
    sizes = ([2, 3], [5, 4], [2, 3], [2])
    return [attempt(resize, SQUARE[0], tf.constant(size), words=0) for size in sizes]


def case_resize_in_a_function_in_a_function(tf):
    """The size has no value in the inner one, which is first recorded within the outer one."""
    spec = [tf.TensorSpec([None, None, 2]), tf.TensorSpec([None], tf.int32)]
    resize = tf.function(tf.image.resize, input_signature=spec)
    outer = tf.function(lambda x, size: 2.0 * resize(x, size))
    return [outer(SQUARE[0], tf.constant(size)) for size in ([2, 3], [5, 4])]


def case_colors_of_integers(tf):
    pixels = np.array([[[10, 200, 30], [0, 0, 0]]], np.uint8)
    tried = [
        attempt(function, pixels, words=2)
        for name in ("rgb_to_yiq", "yiq_to_rgb", "rgb_to_yuv", "yuv_to_rgb")
        for function in (getattr(tf.image, name),)
    ]
    return tried, tf.image.rgb_to_hsv(pixels)


def case_boxes_in_half_images(tf):
    image = np.zeros((1, 3, 4, 3), np.float16)
    return tf.image.draw_bounding_boxes(image, [[[0.0, 0.0, 1.0, 0.6]]], [[1.0, 0.5, 0.25]])
