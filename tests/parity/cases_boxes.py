"""`tf.image`: boxes chosen, drawn and sampled, glimpses, and images as JPEG leaves them."""

import numpy as np

from .harness import attempts, options

BOXES = np.float32([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11],
                    [0, 10.1, 1, 11.1], [0, 100, 1, 101], [1, 101, 0, 100]])  # fmt: skip
SCORES = np.float32([0.9, 0.75, 0.6, 0.95, 0.5, 0.3, 0.3])
RNG = np.random.default_rng(3)
OVERLAPS = RNG.uniform(size=(7, 7)).astype(np.float32)
OF_CLASSES = RNG.uniform(0, 1.4, size=(2, 6, 1, 4)).astype(np.float32)
BY_CLASS = RNG.uniform(size=(2, 6, 3)).astype(np.float32)
PIXELS = RNG.uniform(size=(2, 5, 6, 3)).astype(np.float32)
GLIMPSES = ([0.0, 0.0], [0.3, -0.4], [0.5, 0.5], [2.0, 3.0], [1.0, 1.0], [-1.0, 0.2])


def case_suppression(tf):
    chosen, overlaps = (
        tf.image.non_max_suppression_with_scores,
        tf.image.non_max_suppression_overlaps,
    )
    small = [np.float16(x) for x in (BOXES, SCORES, 0.5, 0.2, 0.0)]
    return {
        "hard": chosen(BOXES, SCORES, 7),
        "least": chosen(BOXES, SCORES, 7, 0.9, 0.4),
        "soft": chosen(BOXES, SCORES, 7, 0.5, 0.0, soft_nms_sigma=0.5),
        "soft, least": chosen(BOXES, SCORES, 7, 1.0, 0.2, 0.3),
        "soft, few": chosen(BOXES, SCORES, 3, 1.0, 0.2, 0.3),
        "half": chosen(*small[:2], 7, *small[2:]),
        "overlaps": [overlaps(OVERLAPS, SCORES, 5, limit) for limit in (0.3, 0.6, 2.0)],
        "overlaps, least": overlaps(OVERLAPS, SCORES, 5, 0.9, 0.55),
    }


@options(words=4)
def case_suppression_of_many(tf):
    """More than are held against each other at once, and scores that are equal."""
    found = []
    for seed, dtype, spread in ((0, "float32", 4.0), (1, "float16", 12.0), (2, "float32", 0.5)):
        rng = np.random.default_rng(seed)
        middle, size = spread * rng.random((300, 2)), rng.random((300, 2))
        boxes = np.concatenate([middle + size / 2, middle - size / 2], 1).astype(dtype)
        scores = np.round(rng.random(300), 1).astype(dtype)
        for most, limit, least in ((300, 0.3, 0.3), (20, 0.7, 0.0), (0, 0.5, 0.0)):
            arguments = boxes, scores, most, limit, least
            found.append(tf.image.non_max_suppression(*arguments))
            if dtype == "float32":
                found += tf.image.non_max_suppression_with_scores(*arguments)
    return found


def case_suppression_errors(tf):
    chosen, overlaps = (
        tf.image.non_max_suppression_with_scores,
        tf.image.non_max_suppression_overlaps,
    )
    combined = tf.image.combined_non_max_suppression
    return attempts(
        tf,
        {
            "sigma": lambda tf: chosen(BOXES, SCORES, 7, soft_nms_sigma=-1.0),
            "overlap": lambda tf: chosen(BOXES, SCORES, 7, 1.5),
            "size": lambda tf: chosen(BOXES, SCORES, -1),
            "sizes": lambda tf: chosen(BOXES, SCORES, [1]),
            "columns": lambda tf: chosen(BOXES[:, :3], SCORES, 1),
            "rank": lambda tf: chosen(BOXES[0], SCORES, 1),
            "scores": lambda tf: chosen(BOXES, SCORES[None], 1),
            "length": lambda tf: chosen(BOXES, SCORES[1:], 1),
            "square": lambda tf: overlaps(OVERLAPS[1:], SCORES, 1),
            "overlaps": lambda tf: overlaps(OVERLAPS[0], SCORES, 1),
            "overlaps, length": lambda tf: overlaps(OVERLAPS, SCORES[1:], 1),
            "batch": lambda tf: tf.image.non_max_suppression_padded(
                tf.constant([BOXES]), [SCORES], 3
            ),
            "q": lambda tf: combined(OF_CLASSES[:, :, [0, 0]], BY_CLASS, 1, 1),
            "images": lambda tf: combined(OF_CLASSES, BY_CLASS[:1], 1, 1),
            "boxes": lambda tf: combined(OF_CLASSES, BY_CLASS[:, 1:], 1, 1),
            "each": lambda tf: combined(OF_CLASSES, BY_CLASS, 0, 1),
            "total": lambda tf: combined(OF_CLASSES, BY_CLASS, 1, 0),
            "limit": lambda tf: combined(OF_CLASSES, BY_CLASS, 1, 1, 1.5),
            "long": lambda tf: combined(OF_CLASSES, BY_CLASS, 1, 2**33),
        },
    )


def case_padded_suppression(tf):
    chosen = tf.image.non_max_suppression_padded
    one, two = tf.constant(BOXES), tf.constant([BOXES, BOXES + 0.5])
    both = np.stack([SCORES, SCORES[::-1]])
    full = {"pad_to_max_output_size": True}

    @tf.function(input_signature=[tf.TensorSpec([None, 4]), tf.TensorSpec([None])])
    def of_any(boxes, scores):
        return chosen(boxes, scores, 4, **full)

    return {
        "one": chosen(one, SCORES, 4, **full),
        "more": chosen(one, SCORES, 9, score_threshold=0.4, **full),
        "cut": chosen(one, SCORES, 9, score_threshold=0.4),
        "several": chosen(two, both, 4, 0.3, **full),
        "in order": chosen(one, SCORES, 9, sorted_input=True, canonicalized_coordinates=True,
                           **full),
        "not shown": chosen(one - 1, SCORES, 9, 0.3, **full),
        "turned": chosen(one[:, ::-1], SCORES, 3, tile_size=4, **full),
        "any": of_any(BOXES, SCORES),
    }  # fmt: skip


def case_combined_suppression(tf):
    chosen = tf.image.combined_non_max_suppression

    @tf.function(
        input_signature=[tf.TensorSpec([None, None, 1, 4]), tf.TensorSpec([None, None, 3])]
    )
    def of_any(boxes, scores):
        return chosen(boxes, scores, 2, 5, 0.3, 0.2)

    found = of_any(OF_CLASSES, BY_CLASS)
    return {
        "shared": found,
        "names": (type(found).__name__, found._fields),
        "few": chosen(OF_CLASSES, BY_CLASS, 1, 5, 0.3, 0.2, pad_per_class=True, clip_boxes=False),
        "of classes": chosen(np.tile(OF_CLASSES, (1, 1, 3, 1)), BY_CLASS, 3, 20, 0.3, 0.5),
        "none": chosen(OF_CLASSES, BY_CLASS, 3, 2, 0.3, 2.0),
    }


def case_drawing(tf):
    draw = tf.image.draw_bounding_boxes
    boxes = np.float32([[[0.3, 0.2, 0.9, 0.7], [-0.2, 0.5, 1.5, 0.8], [0.5, 0.5, 0.2, 0.2],
                         [1.4, 0, 1.6, 1], [0, -2, 1, -1]]] * 2)  # fmt: skip
    clear = np.zeros([2, 6, 7, 4], np.float32)
    return {
        "given": draw(PIXELS, boxes, [[0.5, 0.6, 0.7], [0.1, 0.2, 0.3]]),
        "default": draw(PIXELS, boxes, None),
        "clear": draw(clear, boxes[:, ::-1], np.zeros([0, 4], np.float32)),
        "gray": draw(PIXELS[..., :1], boxes, None),
        "gray given": draw(PIXELS[..., :1], boxes, [[0.5, 0.6]]),
        "half": draw(np.float16(PIXELS), boxes, None),
        "no boxes": draw(PIXELS, boxes[:, :0], None),
    }


def case_glimpses(tf):
    glimpse = tf.image.extract_glimpse
    found = {}
    x = np.tile(PIXELS, (3, 1, 1, 1))
    for centered in (True, False):
        for normalized in (True, False):
            found[centered, normalized] = glimpse(x, [3, 2], GLIMPSES, centered, normalized, "zero")
    wide = [glimpse(PIXELS, [30, 40], [[0.0, 0.0]] * 2, noise=n) for n in ("uniform", "gaussian")]
    between = [bool(tf.reduce_all((w >= PIXELS.min()) & (w <= PIXELS.max()))) for w in wide]
    return found, between, [w.shape for w in wide]


SIZE, BOX = [20, 30, 3], np.float32([[[0.1, 0.2, 0.6, 0.7]]])


def case_sampled_boxes(tf):
    """What does not depend on the numbers drawn."""
    sample, less = (
        tf.image.sample_distorted_bounding_box,
        tf.image.stateless_sample_distorted_bounding_box,
    )
    tf.random.set_seed(5)
    found = sample(SIZE, BOX, 1, 0.5)
    seeded = less(np.int64(SIZE), BOX, [1, 2], 0.5)
    whole = sample(SIZE, BOX, 1, 1.0, area_range=[0.01, 0.02])
    none = sample(SIZE, np.zeros([0, 0, 4], np.float32), 1, use_image_if_no_bounding_boxes=True)
    full = less(SIZE, BOX, [1, 2], 0.1, [1.5, 1.5], [1.0, 1.0])
    return {
        "shapes": [(x.dtype, x.shape) for part in (found, seeded, none) for x in part],
        "names": [(type(x).__name__, x._fields) for x in (found, seeded)],
        "whole": (whole, full, less(SIZE, BOX[..., ::-1], [1, 2])),
        "ends": (found.begin[2], found.size[2]),
    }


@options(words=4)
def case_boxes_errors(tf):
    draw, glimpse = tf.image.draw_bounding_boxes, tf.image.extract_glimpse
    sample = tf.image.sample_distorted_bounding_box
    box = [[[0.3, 0.2, 0.9, 0.7]]] * 2
    at = [[0.0, 0.0]] * 2
    return attempts(
        tf,
        {
            "images": lambda tf: draw(PIXELS[0], box, None),
            "boxes": lambda tf: draw(PIXELS, box[0], None),
            "batch": lambda tf: draw(PIXELS, box[:1], None),
            "depth": lambda tf: draw(PIXELS[..., :2], box, None),
            "color": lambda tf: draw(PIXELS, box, [[1.0, 2.0]]),
            "colors": lambda tf: draw(PIXELS, box, [1.0, 2.0, 3.0]),
            "noise": lambda tf: glimpse(PIXELS, [3, 2], at, noise="x"),
            "glimpse": lambda tf: glimpse(PIXELS[0], [3, 2], at),
            "glimpse size": lambda tf: glimpse(PIXELS, [3], at),
            "offsets": lambda tf: glimpse(PIXELS, [3, 2], at[:1]),
            "none": lambda tf: sample(SIZE, np.zeros([0, 0, 4], np.float32), 1),
            "ratio": lambda tf: sample(SIZE, BOX, 1, 0.1, [0.0, 1.0]),
            "ratios": lambda tf: sample(SIZE, BOX, 1, 0.1, [1.0]),
            "area": lambda tf: sample(SIZE, BOX, 1, 0.1, area_range=[0.1, 2.0]),
            "attempts": lambda tf: sample(SIZE, BOX, 1, 0.1, max_attempts=0),
            "covered": lambda tf: sample(SIZE, BOX, 1, -0.1),
            "size": lambda tf: sample(SIZE[1:], BOX, 1),
            "size rank": lambda tf: sample([SIZE], BOX, 1),
            "size dtype": lambda tf: sample([20.0, 30.0, 3.0], BOX, 1),
            "box": lambda tf: sample(SIZE, BOX[0], 1),
            "box values": lambda tf: sample(SIZE, BOX * 3, 1),
            "seed": lambda tf: tf.image.stateless_sample_distorted_bounding_box(
                SIZE, BOX, [1, 2, 3]
            ),
        },
    )


@options(words=4)
def case_jpeg(tf):
    image, pixels = tf.image, np.full([16, 24, 3], 90, np.uint8)
    file, gray = image.encode_jpeg(pixels), image.encode_jpeg(pixels[..., :1])
    crop, shape, adjust = (
        image.decode_and_crop_jpeg,
        image.extract_jpeg_shape,
        image.adjust_jpeg_quality,
    )
    tf.random.set_seed(1)
    changed = [
        adjust(pixels, 50),
        adjust(pixels[..., :1] / 255, tf.constant(30)),
        image.random_jpeg_quality(pixels, 20, 30, seed=2),
        image.stateless_random_jpeg_quality(pixels, 20, 30, [1, 2]),
    ]
    found = {
        "shape": (shape(file), shape(gray, tf.int64)),
        "crop": crop(file, [3, 5, 7, 9]),
        "gray": crop(file, [3, 5, 7, 9], channels=1).shape,
        "adjusted": [(x.dtype, x.shape) for x in changed],
    }
    errors = {
        "dtype": lambda tf: shape(file, tf.float32),
        "data": lambda tf: shape(b"abc"),
        "png": lambda tf: shape(image.encode_png(pixels)),
        "files": lambda tf: shape([file]),
        "outside": lambda tf: crop(file, [3, 5, 70, 9]),
        "nothing": lambda tf: crop(file, [3, 5, 0, 9]),
        "window": lambda tf: crop(file, [3, 5, 1]),
        "windows": lambda tf: crop(file, [[3, 5, 1, 1]]),
        "crop png": lambda tf: crop(image.encode_png(pixels), [1, 1, 1, 1]),
        "channels": lambda tf: crop(file, [1, 1, 1, 1], channels=2),
        "quality": lambda tf: adjust(pixels, 150),
        "quality float": lambda tf: adjust(pixels, tf.constant(50.5)),
        "rank": lambda tf: adjust(pixels[None], 50),
        "depth": lambda tf: adjust(pixels[..., :2], 50),
        "method": lambda tf: adjust(pixels, 50, "x"),
        "range": lambda tf: image.random_jpeg_quality(pixels, 0, 101),
        "order": lambda tf: image.stateless_random_jpeg_quality(pixels, 50, 50, [1, 2]),
    }
    return {**found, **attempts(tf, errors)}


@options(words=8, atol=4.0)
def case_jpeg_of_a_ratio(tf):
    """The decoder makes images smaller; pixels differ by little."""
    steps = np.stack([np.add.outer(np.arange(33), np.arange(47))] * 3, -1)
    file = tf.io.encode_jpeg(steps.astype(np.uint8))
    found = [
        (
            tf.cast(tf.io.decode_jpeg(file, ratio=ratio), tf.float32),
            tf.cast(tf.io.decode_and_crop_jpeg(file, [1, 0, 2, 3], 1, ratio), tf.float32),
        )
        for ratio in (1, 2, 4, 8)
    ]
    traced = tf.function(lambda x: tf.io.decode_jpeg(x, ratio=4))(file).shape
    refused = attempts(tf, {"ratio": lambda tf: tf.io.decode_jpeg(file, ratio=3)})
    return found, traced, refused
