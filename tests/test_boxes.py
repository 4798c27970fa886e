"""Parts of images and windows drawn at random are as they must be, whatever the draws."""

import numpy as np
import pytest

import tape_compat as tf

BOX = np.float32([[[0.1, 0.2, 0.6, 0.7], [0.5, 0.5, 0.9, 0.6]]])


@pytest.mark.parametrize(
    ("covered", "ratios", "areas"),
    [
        (0.1, (0.75, 1.33), (0.05, 1.0)),
        (0.9, (0.5, 2.0), (0.3, 0.6)),
        (0.0, (1.5, 1.6), (0.1, 0.2)),
    ],
)
def test_sampled_parts_are_as_wanted(covered, ratios, areas):
    height, width = 200, 300
    sample = tf.function(tf.image.stateless_sample_distorted_bounding_box)
    parts = set()
    for seed in range(12):
        begin, size, box = sample(
            tf.constant([height, width, 3]), BOX, tf.constant([seed, 7]), covered, ratios, areas
        )
        (y, x, first), (h, w, every) = begin.numpy().tolist(), size.numpy().tolist()
        assert (first, every) == (0, -1)
        np.testing.assert_allclose(
            box.numpy().ravel(),
            [y / height, x / width, (y + h) / height, (x + w) / width],
            rtol=1e-6,
        )
        parts.add((y, x, h, w))
        if (h, w) == (height, width):
            continue
        assert 0 <= y and y + h <= height and 0 <= x and x + w <= width
        assert ratios[0] * h - 1 <= w <= ratios[1] * h + 1
        assert areas[0] - 0.01 <= h * w / (height * width) <= areas[1] + 0.01
        shares = []
        for y1, x1, y2, x2 in BOX[0]:
            y1, x1, y2, x2 = (int(v) for v in (y1 * height, x1 * width, y2 * height, x2 * width))
            rows = max(min(y + h, y2) - max(y, y1), 0)
            columns = max(min(x + w, x2) - max(x, x1), 0)
            shares.append(rows * columns / ((y2 - y1) * (x2 - x1)))
        assert max(shares) >= covered - 1e-6
    assert len(parts) > 6


def test_sampled_parts_differ_from_call_to_call():
    tf.random.set_seed(2)
    draw = tf.function(lambda: tf.image.sample_distorted_bounding_box([90, 90, 3], BOX)[0])
    assert len({tuple(draw().numpy().tolist()) for _ in range(6)}) > 3


def test_boxes_and_glimpses_of_any_batch():
    images = np.random.default_rng(0).uniform(size=(2, 5, 6, 3)).astype(np.float32)
    boxes, at = np.tile(BOX, (2, 1, 1)), np.float32([[0.5, -0.5], [3.0, 0.0]])

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, 5, 6, 3]),
            tf.TensorSpec([None, None, 4]),
            tf.TensorSpec([None, 2]),
        ]
    )
    def program(images, boxes, at):
        return (
            tf.image.draw_bounding_boxes(images, boxes, [[0.5, 0.25, 1.0]]),
            tf.image.extract_glimpse(images, [2, 3], at, noise="zero"),
        )

    drawn, seen = program(images, boxes, at)
    shapes = [x.as_list() for x in program.get_concrete_function().output_shapes]
    assert shapes == [[None, 5, 6, 3], [None, 2, 3, 3]]
    np.testing.assert_array_equal(
        drawn, tf.image.draw_bounding_boxes(images, boxes, [[0.5, 0.25, 1.0]])
    )
    np.testing.assert_array_equal(seen, tf.image.extract_glimpse(images, [2, 3], at, noise="zero"))
    with tf.GradientTape() as tape:
        x = tf.constant(images)
        tape.watch(x)
        y = tf.image.extract_glimpse(x, [2, 3], at)
    assert tape.gradient(y, x) is None


def test_jpeg_in_datasets():
    pictures = np.full([2, 8, 8, 3], 0.5, np.float32)
    data = tf.data.Dataset.from_tensor_slices(pictures)
    found = data.map(lambda x: tf.image.random_jpeg_quality(x, 50, 60))
    assert found.element_spec.shape.as_list() == [8, 8, 3]
    for x in found:
        np.testing.assert_allclose(x, pictures[0], atol=0.02)


def test_fractional_windows_differ_by_at_most_one():
    x = tf.ones([1, 23, 17, 1])
    starts = set()
    for pseudo in (True, False):
        for _ in range(6):
            found = tf.nn.fractional_max_pool(x, 1.7, pseudo)
            assert found.output.shape == [1, 13, 10, 1]
            for ends, size in ((found[1], 23), (found[2], 17)):
                steps = np.diff(ends.numpy())
                assert ends[0] == 0 and ends[-1] == size
                assert set(steps.tolist()) <= {1, 2}
                starts.add(tuple(steps.tolist()))
    assert len(starts) > 6


def test_fractional_means_of_their_windows():
    x = np.random.default_rng(2).normal(size=(1, 7, 9, 2)).astype(np.float32)
    for overlapping in (False, True):
        found = tf.nn.fractional_avg_pool(x, [1.0, 1.6, 1.4, 1.0], True, overlapping, seed=4)
        rows, columns = (found[i].numpy() for i in (1, 2))
        for i, (top, bottom) in enumerate(zip(rows, rows[1:], strict=False)):
            for j, (left, right) in enumerate(zip(columns, columns[1:], strict=False)):
                window = x[:, top : bottom + overlapping, left : right + overlapping]
                np.testing.assert_allclose(found[0][:, i, j], window.mean((1, 2)), rtol=1e-5)


def test_quantized_by_axis():
    x = tf.constant([[0.3, -2.0], [0.3, -2.0]])
    found = tf.quantization.quantize_and_dequantize_v2(
        x, [-1.0, -2.0], [1.0, 2.0], num_bits=3, range_given=True, narrow_range=True, axis=0
    )
    np.testing.assert_allclose(found, [[1 / 3, -1.0], [0.0, -2.0]], rtol=1e-6)


def test_padded_suppression_without_a_threshold():
    """Boxes that share an area suppress each other, others do not."""
    boxes = tf.constant([[[0.0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3], [0.5, 0, 2, 1]]])
    places, count = tf.image.non_max_suppression_padded(
        boxes, tf.constant([[0.9, 0.8, 0.7, 0.6]]), 4, 0.0, pad_to_max_output_size=True
    )
    assert (places.numpy().tolist(), count.numpy().tolist()) == ([[0, 2, 0, 0]], [2])
