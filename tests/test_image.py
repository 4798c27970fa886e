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


def check_gradients(module, dtype, **ways):
    """Those of images that become larger, smaller, of another shape, and so much larger that most
    new pixels are of few old ones, against sums of what each pixel gives to each new one."""
    rng, sizes = np.random.default_rng(0), [((2, 6, 5, 3), size) for size in SIZES_OF_RESIZE]
    if module is resize:
        sizes[2] = (6, 5, 3), sizes[2][1]
    kind = jax.numpy.dtype(dtype if ways["method"] == "nearest" else "float32")
    images = [np.zeros(shape, jax.numpy.dtype(dtype)) for shape, _ in sizes]
    slopes = [rng.integers(-4, 5, (*x[:-3], *size, 3)).astype(kind) for x, size in sizes]

    @jax.jit
    def pulled(images, slopes):
        return [
            module._pull((x,), (dy,), (0,), size=size, **ways)[0]
            for x, dy, (_, size) in zip(images, slopes, sizes, strict=True)
        ]

    pixels = np.eye(30, dtype=np.float32).reshape(30, 6, 5, 1)
    with jax.enable_x64(True):
        found = pulled(images, slopes)
    for one, dy, (shape, size) in zip(found, slopes, sizes, strict=True):
        given = module._resize(pixels, size=size, xp=np, **ways)[..., 0]
        wanted = np.einsum("pij,...ijc->...pc", given, dy.astype(float)).reshape(shape)
        assert one.dtype == dtype and one.shape == shape
        rtol = 5e-3 if dtype == "bfloat16" else 2e-7
        np.testing.assert_allclose(np.asarray(one, float), wanted, rtol, atol=2e-5)


SIZES_OF_RESIZE = (12, 10), (3, 2), (5, 9), (1, 40), (6, 5)


@pytest.mark.modeless
@pytest.mark.part
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("method", ["bilinear", "nearest", "bicubic", "area", "lanczos3"])
def test_gradients_of_resize_are_sums(method, antialias, dtype):
    antialias = resize._antialias(method, antialias)
    check_gradients(resize, dtype, method=method, antialias=antialias)


@pytest.mark.modeless
@pytest.mark.part
@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("method", ["bilinear", "nearest", "bicubic", "area"])
def test_gradients_by_corners_are_sums(method, align):
    check_gradients(resize_corners, "float32", method=method, align=align)


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
