"""Convolutions and overlapping pools: every derivative against plain XLA or a loop over windows."""

import itertools

import jax
import numpy as np
import pytest
from jax import lax

import tape_compat as tf

RNG = np.random.default_rng(0)


# -- overlapping max pools -------------------------------------------------------------------------


def pooled(x, ksize, strides, padding, ct):
    """Largest of each window of x [n, ..., c] and the gradient, to the first of equal ones; to each
    of them in three dimensions, as in TF."""
    spatial = x.shape[1:-1]
    pads = (
        lax.padtype_to_pads(spatial, ksize, strides, padding)
        if isinstance(padding, str)
        else padding[1:-1]
    )
    sizes = [
        (n + sum(pad) - k) // s + 1
        for n, pad, k, s in zip(spatial, pads, ksize, strides, strict=True)
    ]
    y, g = np.zeros((x.shape[0], *sizes, x.shape[-1])), np.zeros_like(x)
    for b, c in itertools.product(range(x.shape[0]), range(x.shape[-1])):
        for place in np.ndindex(*sizes):
            start = [p * s - pad[0] for p, s, pad in zip(place, strides, pads, strict=True)]
            window = [
                at
                for at in itertools.product(*(range(a, a + k) for a, k in zip(start, ksize)))
                if all(0 <= i < n for i, n in zip(at, spatial, strict=True))
            ]
            first = max(window, key=lambda at: x[(b, *at, c)])  # the first of equal ones
            y[(b, *place, c)] = x[(b, *first, c)]
            equal = [at for at in window if x[(b, *at, c)] == x[(b, *first, c)]]
            for at in equal if len(spatial) == 3 else [first]:
                g[(b, *at, c)] += ct[(b, *place, c)] if ct is not None else 1
    return y, g


POOLS = [
    ((7,), (3,), (2,), "SAME"),
    ((7,), (5,), (1,), "VALID"),
    ((6, 5), (3, 3), (2, 2), "SAME"),
    ((6, 5), (2, 3), (1, 2), "VALID"),
    ((6, 5), (2, 2), (3, 3), "VALID"),
    ((6, 5), (1, 3), (1, 1), "SAME"),
    ((6, 5), (2, 2), (2, 2), "SAME"),
    ((6, 5), (3, 3), (2, 1), [[0, 0], [1, 1], [2, 0], [0, 0]]),
    ((4, 3, 5), (2, 3, 2), (1, 2, 1), "SAME"),
    ((4, 3, 5), (2, 2, 2), (2, 2, 2), "VALID"),
]


@pytest.mark.parametrize("spatial, ksize, strides, padding", POOLS)
def test_overlapping_max_pool(spatial, ksize, strides, padding):
    """Few different values: many ties; zeros and the lowest number among them."""
    x = RNG.choice([-np.inf, 0.0, 1.0, 2.0], size=(2, *spatial, 3))

    def pool(value):
        return tf.nn.max_pool(value, ksize, strides, padding)

    ct = RNG.normal(size=pool(tf.constant(x)).shape)
    source = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(source)
        y = pool(source)
    expected, gradient = pooled(x, ksize, strides, padding, ct)
    np.testing.assert_array_equal(y.numpy(), expected)
    np.testing.assert_allclose(tape.gradient(y, source, ct).numpy(), gradient, atol=1e-12)


@pytest.mark.part
@pytest.mark.parametrize("spatial, ksize, strides, padding", POOLS)
def test_overlapping_max_pool_forward_and_second(spatial, ksize, strides, padding):
    x, v = RNG.integers(0, 3, (2, *spatial, 2)) * 1.0, RNG.normal(size=(2, *spatial, 2))
    source, tangent = tf.constant(x), tf.constant(v)
    with tf.autodiff.ForwardAccumulator(source, tangent) as acc:
        y = tf.nn.max_pool(source, ksize, strides, padding)
    ct = RNG.normal(size=y.shape)
    _, gradient = pooled(x, ksize, strides, padding, ct)
    np.testing.assert_allclose(np.sum(acc.jvp(y).numpy() * ct), np.sum(gradient * v))
    with tf.GradientTape() as outer:
        outer.watch(source)
        with tf.GradientTape() as inner:
            inner.watch(source)
            cube = tf.reduce_sum(ct * tf.nn.max_pool(source, ksize, strides, padding) ** 3)
        first = inner.gradient(cube, source)
    second = outer.gradient(first, source, tangent).numpy()
    largest, _ = pooled(x, ksize, strides, padding, None)
    along = acc.jvp(y).numpy()
    expected = pooled(x, ksize, strides, padding, 6 * ct * largest * along)[1]
    np.testing.assert_allclose(second, expected, atol=1e-10)


def test_overlapping_max_pool_jacobians():
    x = RNG.integers(0, 3, (3, 5, 4, 2)) * 1.0
    source = tf.constant(x)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(source)
        y = tf.nn.max_pool(source, 3, 2, "SAME")
        rows = tf.reshape(y, [3, -1])
    by_row = tape.batch_jacobian(rows, source).numpy()
    whole = tape.jacobian(rows, source).numpy()
    for j in range(rows.shape[1]):
        ct = np.zeros(rows.shape)
        ct[:, j] = 1
        expected = pooled(x, (3, 3), (2, 2), "SAME", ct.reshape(y.shape))[1]
        np.testing.assert_array_equal(by_row[:, j], expected)
        np.testing.assert_array_equal(whole[:, j].sum(0), expected)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_overlapping_max_pool_dtypes(dtype):
    x = RNG.integers(0, 3, (1, 5, 5, 1))
    source = tf.cast(x, dtype)
    with tf.GradientTape() as tape:
        tape.watch(source)
        y = tf.nn.max_pool(source, 3, 1, "SAME")
    g = tape.gradient(y, source)
    expected, gradient = pooled(x * 1.0, (3, 3), (1, 1), "SAME", None)
    assert y.dtype == g.dtype == tf.as_dtype(dtype)
    np.testing.assert_array_equal(y.numpy().astype(float), expected)
    np.testing.assert_array_equal(g.numpy().astype(float), gradient)


@pytest.mark.parametrize(
    "shape, y_shape", [((0, 5, 5, 1), (0, 3, 3, 1)), ((1, 2, 2, 1), (1, 0, 0, 1))]
)
def test_overlapping_max_pool_of_nothing(shape, y_shape):
    source = tf.zeros(shape)
    padding = "SAME" if shape[0] == 0 else "VALID"
    with tf.GradientTape() as tape:
        tape.watch(source)
        y = tf.nn.max_pool(source, 3, 2, padding)
    assert y.shape == y_shape
    np.testing.assert_array_equal(tape.gradient(y, source).numpy(), np.zeros(shape))


def test_overlapping_max_pool_does_not_scatter():
    """XLA's scatter of the gradient takes CPUs many times as long as comparisons."""
    from tape_compat._src.ops import pooling

    def step(x):
        return pooling._max_pool(x, (3, 3), (2, 2), "SAME", True).sum()

    text = str(jax.make_jaxpr(jax.grad(step))(np.zeros((1, 8, 8, 2), np.float32)))
    assert "select_and_scatter" not in text and "select_n" in text


# -- convolutions ----------------------------------------------------------------------------------

CONVOLUTIONS = [  # spatial sizes, window, channels, groups, strides, padding, dilations
    ((6,), (1,), 3, 1, 1, "SAME", 1),
    ((6,), (3,), 4, 2, 1, "SAME", 2),
    ((6, 5), (1, 1), 3, 1, 1, "VALID", 1),
    ((6, 5), (1, 1), 3, 1, 2, "SAME", 1),
    ((6, 5), (1, 1), 3, 1, (1, 3), "VALID", 1),
    ((6, 5), (1, 1), 4, 2, 1, "VALID", 1),
    ((6, 5), (1, 1), 3, 1, 1, [[0, 0], [1, 0], [0, 2], [0, 0]], 1),
    ((6, 5), (1, 1), 3, 1, 1, [[0, 0], [0, 0], [0, 0], [0, 0]], 1),
    ((6, 5), (3, 2), 3, 1, 2, "SAME", 1),
    ((6, 5), (3, 2), 4, 4, 1, "VALID", 2),
    ((3, 4, 5), (1, 1, 1), 2, 1, 2, "SAME", 1),
    ((3, 4, 5), (2, 2, 2), 2, 1, 1, "VALID", 1),
]


def plain(spatial, strides, padding, dilations):
    """XLA's own convolution, whose derivatives JAX makes."""
    rank = len(spatial)
    letters = "DHW"[3 - rank :]

    def several(value):
        return (value,) * rank if isinstance(value, int) else value

    def convolve(x, f):
        return lax.conv_general_dilated(
            x,
            f,
            several(strides),
            padding if isinstance(padding, str) else padding[1:-1],
            rhs_dilation=several(dilations),
            dimension_numbers=(f"N{letters}C", f"{letters}IO", f"N{letters}C"),
            feature_group_count=x.shape[-1] // f.shape[-2],
        )

    return convolve


@pytest.mark.part
@pytest.mark.parametrize(
    "spatial, window, channels, groups, strides, padding, dilations", CONVOLUTIONS
)
@pytest.mark.parametrize("batch", [2, 0])
def test_convolution_has_the_derivatives_of_xla(
    batch, spatial, window, channels, groups, strides, padding, dilations
):
    """Value, first and second derivatives, forward mode, in float64."""
    arrays = [
        RNG.normal(size=(batch, *spatial, channels)),
        RNG.normal(size=(*window, channels // groups, 4)),
    ]
    tangents = [RNG.normal(size=a.shape) for a in arrays]

    def ours(x, f):
        op = {1: tf.nn.conv1d, 2: tf.nn.conv2d, 3: tf.nn.conv3d}[len(spatial)]
        return op(x, f, strides, padding, dilations=dilations)

    inputs = [tf.constant(a) for a in arrays]
    with tf.GradientTape() as outer:
        outer.watch(inputs)
        with tf.GradientTape() as inner:
            inner.watch(inputs)
            y = ours(*inputs)
            total = tf.reduce_sum(tf.sin(y))
        first = inner.gradient(total, inputs)
        penalty = tf.add_n([tf.reduce_sum(g**2) for g in first])
    second = outer.gradient(penalty, inputs)
    with tf.autodiff.ForwardAccumulator(inputs, [tf.constant(t) for t in tangents]) as acc:
        out = ours(*inputs)
    with jax.enable_x64(True):
        convolve = plain(spatial, strides, padding, dilations)

        def loss(*args):
            return jax.numpy.sin(convolve(*args)).sum()

        def squares(*args):
            return sum((g**2).sum() for g in jax.grad(loss, (0, 1))(*args))

        def derivatives(*args):
            slopes = [jax.grad(f, (0, 1))(*args) for f in (loss, squares)]
            return *jax.jvp(convolve, args, tuple(tangents)), slopes

        value, tangent, expected = jax.jit(derivatives)(*arrays)
    for a, b in [(y, value), (acc.jvp(out), tangent)]:
        np.testing.assert_allclose(a.numpy(), b, rtol=1e-9, atol=1e-11)
    for a, b in zip((*first, *second), (*expected[0], *expected[1]), strict=True):
        np.testing.assert_allclose(a.numpy(), b, rtol=1e-9, atol=1e-9)


def test_pointwise_convolution_jacobians():
    x, f = RNG.normal(size=(2, 3, 2, 2)), RNG.normal(size=(1, 1, 2, 3))
    inputs = [tf.constant(x), tf.constant(f)]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(inputs)
        y = tf.nn.conv2d(*inputs, 1, "SAME")
    by_image = tape.batch_jacobian(y, inputs[0]).numpy()
    by_filter = tape.jacobian(y, inputs[1]).numpy()
    pixels = np.einsum("hH,wW,io->hwoHWi", np.eye(3), np.eye(2), f[0, 0])
    np.testing.assert_allclose(by_image, np.stack([pixels] * 2), atol=1e-12)
    expected = np.einsum("nhwi,oO->nhwoiO", x, np.eye(3))[:, :, :, :, None, None]
    np.testing.assert_allclose(by_filter, expected, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_pointwise_convolution_dtypes(dtype):
    x, f = RNG.integers(-3, 4, (2, 3, 3, 2)), RNG.integers(-3, 4, (1, 1, 2, 3))
    inputs = [tf.cast(x, dtype), tf.cast(f, dtype)]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        y = tf.nn.conv2d(*inputs, 1, "VALID")
    gx, gf = tape.gradient(y, inputs)
    assert {t.dtype for t in (y, gx, gf)} == {tf.as_dtype(dtype)}
    np.testing.assert_array_equal(y.numpy().astype(float), x @ f[0, 0])
    np.testing.assert_array_equal(
        gx.numpy().astype(float), np.broadcast_to(f[0, 0].sum(1), x.shape)
    )
    expected = np.broadcast_to(x.sum((0, 1, 2))[:, None], (2, 3))
    np.testing.assert_array_equal(gf.numpy().astype(float)[0, 0], expected)


@pytest.mark.parametrize(
    "window, padding, groups, multiplied",
    [
        ((1, 1), "SAME", 1, True),
        ((1, 1), ((0, 0), (0, 0)), 1, True),
        ((1, 1), ((1, 0), (0, 0)), 1, False),
        ((1, 1), "SAME", 2, False),
        ((1, 3), "SAME", 1, False),
    ],
)
def test_which_convolutions_are_matrix_products(window, padding, groups, multiplied):
    from tape_compat._src.ops import convolutions

    x = np.zeros((1, 4, 4, 4), np.float32)
    f = np.zeros((*window, 4 // groups, 2), np.float32)
    text = str(
        jax.make_jaxpr(lambda x, f: convolutions.convolve(x, f, (1, 1), padding, (1, 1), True))(
            x, f
        )
    )
    assert ("conv_general_dilated" not in text) == multiplied == ("dot_general" in text)
