"""`tf.image` beyond what tests/parity compares: unknown sizes, gradients, files without Pillow."""

import importlib

import jax
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.ops.images import resize, resize_corners

RNG = np.random.default_rng(5)
IMAGES = RNG.uniform(size=(2, 6, 8, 3)).astype(np.float32)


def of_any_batch(program, *sizes):
    """The same program on images of unknown sizes, and its static shape."""
    spec = tf.TensorSpec([None, *sizes], tf.float32)
    function = tf.function(program, input_signature=[spec], autograph=False)
    return function(IMAGES), function.get_concrete_function().output_shapes


ONES = [1, 1, 1, 1]
PROGRAMS = {
    "resize": lambda x: tf.image.resize(x, [3, 5]),
    "resize bicubic": lambda x: tf.image.resize(x, [9, 5], "bicubic", antialias=True),
    "nearest": lambda x: tf.image.resize(x, [3, 5], "nearest"),
    "crop or pad": lambda x: tf.image.resize_with_crop_or_pad(x, 4, 9),
    "with pad": lambda x: tf.image.resize_with_pad(x, 9, 9),
    "central": lambda x: tf.image.central_crop(x, 0.5),
    "crop": lambda x: tf.image.crop_to_bounding_box(x, 1, 2, 3, 4),
    "turn": lambda x: tf.image.rot90(x),
    "flip": lambda x: tf.image.stateless_random_flip_left_right(x, [1, 2]),
    "hue": lambda x: tf.image.adjust_hue(x, 0.1),
    "contrast": lambda x: tf.image.stateless_random_contrast(x, 0.5, 1.5, [1, 2]),
    "gray": lambda x: tf.image.rgb_to_grayscale(x),
    "standard": lambda x: tf.image.per_image_standardization(x),
    "sobel": lambda x: tf.image.sobel_edges(x),
    "gradients": lambda x: tf.image.image_gradients(x)[1],
    "variation": lambda x: tf.image.total_variation(x),
    "psnr": lambda x: tf.image.psnr(x, x * x, 1.0),
    "ssim": lambda x: tf.image.ssim(x, x * x, 1.0, filter_size=3),
    "scales": lambda x: tf.image.ssim_multiscale(x, x * x, 1.0, (0.5, 0.5), filter_size=3),
    "patches": lambda x: tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], ONES, "SAME"),
    "part": lambda x: tf.image.stateless_random_crop(x, [2, 3, 4, 3], [1, 2]),
    "boxes": lambda x: tf.image.crop_and_resize(x, [[0.0, 0.0, 0.5, 1.0]], [1], [2, 2]),
}


@pytest.mark.part
@pytest.mark.parametrize("name", PROGRAMS)
def test_any_batch(name):
    program = PROGRAMS[name]
    expected = program(tf.constant(IMAGES))
    found, shape = of_any_batch(program, *IMAGES.shape[1:])
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    batch = [] if name in ("boxes", "part") else [None]
    assert shape.as_list() == batch + expected.shape.as_list()[len(batch) :]


SIZES = "resize|crop or pad|with pad|part|patches|hue|sobel|turn|central".split("|")


@pytest.mark.parametrize("name", SIZES)
def test_any_size(name):
    program = PROGRAMS[name]
    found, shape = of_any_batch(program, None, None, 3)
    np.testing.assert_allclose(found, program(tf.constant(IMAGES)), rtol=1e-5, atol=1e-5)
    assert shape.rank == 4 + (name == "sobel") and shape[0] in (None, 2)


@pytest.mark.modeless
@pytest.mark.part
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("method", ["bilinear", "nearest", "bicubic", "area", "lanczos3"])
def test_gradients_of_resize_are_those_of_jax(method, antialias, dtype):
    """Larger, smaller, of another shape, and by so much that most pixels give nothing."""
    sizes = ((4, (12, 10)), (4, (3, 2)), (3, (5, 9)), (4, (1, 40)), (4, (6, 5)))
    antialias = resize._antialias(method, antialias)

    def both(random):
        """Of all sizes in one program."""
        for rank, size in sizes:
            given = {"size": size, "method": method, "antialias": antialias}
            x = random((2, 6, 5, 3)[4 - rank :], dtype)
            y, pull = jax.vjp(lambda x: resize._resize(x, **given), x)
            dy = random(y.shape, y.dtype)
            yield resize._pull((x,), (dy,), (0,), **given), pull(dy)

    with jax.enable_x64(True):
        for (found,), (wanted,) in of_random_arrays(both):
            assert found.dtype == wanted.dtype == dtype
            loose = 0.3 if dtype == "bfloat16" else 2e-5  # JAX rounds after each sum
            np.testing.assert_allclose(
                np.asarray(found, float), np.asarray(wanted, float), rtol=1e-2 * loose, atol=loose
            )


def of_random_arrays(program):
    """What a program gives, compiled as one, that makes its arguments: small whole numbers."""
    draws = np.random.default_rng(0).integers(-4, 5, 10_000)

    def traced(numbers):
        used = 0

        def random(shape, dtype):
            nonlocal used
            first, used = used, used + int(np.prod(shape))
            return numbers[first:used].reshape(shape).astype(dtype)

        return list(program(random))

    return jax.jit(traced)(draws)


@pytest.mark.modeless
@pytest.mark.part
@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("method", ["bilinear", "nearest", "bicubic", "area"])
def test_gradients_by_corners_are_those_of_jax(method, align):
    def both(random):
        for size in ((12, 10), (3, 2), (5, 9), (1, 40), (6, 5)):
            given = {"size": size, "method": method, "align": align}
            x = random((2, 6, 5, 3), np.float32)
            y, pull = jax.vjp(lambda x: resize_corners._resize(x, **given), x)
            dy = random(y.shape, np.float32)
            yield resize_corners._pull((x,), (dy,), (0,), **given), pull(dy)

    for (found,), (wanted,) in of_random_arrays(both):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=2e-5)


def test_gradients_of_resize_do_not_scatter():
    x = tf.ones([1, 8, 8, 2])

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.image.resize(x, [16, 12])
        return tape.gradient(y, x)

    assert "scatter" not in step.experimental_get_compiler_ir(x)(stage="stablehlo")


def test_weights_of_a_resize_sum_to_one():
    for method in "bilinear nearest bicubic area lanczos3 lanczos5 gaussian mitchellcubic".split():
        for size in ([4, 15], [6, 8]):
            found = tf.image.resize(np.ones([7, 9, 1], np.float32), size, method)
            np.testing.assert_allclose(found, np.ones([*size, 1]), rtol=1e-5)


def test_resize_back_and_forth():
    double = tf.image.resize(IMAGES, [12, 16], "nearest")
    np.testing.assert_array_equal(double[:, ::2, 1::2], IMAGES)
    np.testing.assert_allclose(tf.image.resize(double, [6, 8], "area"), IMAGES, rtol=1e-6)


def test_crop_at_a_place_that_is_computed():
    @tf.function
    def crop(x, top):
        return tf.image.crop_to_bounding_box(x, top, 2 * top, 3, 4)

    np.testing.assert_array_equal(crop(IMAGES, tf.constant(2)), IMAGES[:, 2:5, 4:8])


def test_hsv_and_back():
    back = tf.image.hsv_to_rgb(tf.image.rgb_to_hsv(IMAGES))
    np.testing.assert_allclose(back, IMAGES, atol=1e-6)


def test_random_flips_are_of_whole_images():
    x = tf.constant(IMAGES)
    flipped = tf.image.stateless_random_flip_up_down(tf.tile(x, [8, 1, 1, 1]), [3, 4]).numpy()
    kinds = {(f == i).all() + 2 * (f == i[::-1]).all() for f, i in zip(flipped, [*IMAGES] * 8)}
    assert kinds == {1, 2}


def test_random_crop_is_a_part():
    part = tf.image.random_crop(tf.reshape(tf.range(48), [6, 8, 1]), [3, 2, 1], seed=3).numpy()
    top, left = divmod(int(part[0, 0, 0]), 8)
    np.testing.assert_array_equal(part[..., 0], np.arange(48).reshape(6, 8)[top:, left:][:3, :2])


def test_files_without_pillow(monkeypatch):
    file = tf.image.encode_png(tf.ones([1, 1, 1], tf.uint8))

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ImportError, match="pip install pillow"):
        tf.image.decode_png(file)


@pytest.mark.modeless
@pytest.mark.parametrize("place, byte", [(25, b"\x03"), (11, b"\x0c"), (19, b"\x09"), (45, b"z")])
def test_damaged_files_of_16_bits(place, byte):
    """The type of color, the size of the header, the width, the data."""
    content = tf.io.encode_png(np.zeros((3, 4, 3), np.uint16)).numpy()
    assert tf.io.decode_png(content, dtype=tf.uint16).shape == (3, 4, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid PNG data"):
        tf.io.decode_png(content[:place] + byte + content[place + 1 :], dtype=tf.uint16)
