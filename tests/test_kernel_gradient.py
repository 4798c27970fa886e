"""The derivative of convolutions by their kernels, as it is taken on processors."""

import jax
import numpy as np
import pytest
from jax import lax

import tape_compat as tf
from tape_compat._src.ops import convolutions, kernel_gradient

#: Sizes of images, of kernels, strides, dilations, padding.
CASES = {
    "same": ((6, 9, 8, 3), (3, 2, 3, 4), (1, 1), (1, 1), "SAME"),
    "valid": ((4, 9, 8, 3), (3, 3, 3, 4), (1, 1), (1, 1), "VALID"),
    "strides": ((4, 11, 8, 2), (3, 5, 2, 4), (3, 2), (1, 1), "SAME"),
    "dilated": ((4, 11, 12, 2), (3, 2, 2, 4), (1, 1), (2, 3), "SAME"),
    "explicit": ((4, 6, 5, 2), (3, 3, 2, 4), (2, 1), (1, 1), ((2, 0), (1, 3))),
    "one row": ((3, 10, 8, 3), (1, 3, 3, 4), (3, 2), (1, 1), "VALID"),
    "1d": ((5, 13, 3), (4, 3, 2), (2,), (1,), "SAME"),
    "3d": ((2, 5, 6, 7, 2), (2, 3, 2, 2, 3), (1, 2, 1), (1, 1, 1), "VALID"),
}


@pytest.fixture(params=["by rows", "by windows"])
def always(request, monkeypatch):
    """No case is too small, and blocks are of few examples."""
    least = 0 if request.param == "by rows" else 1 << 30
    monkeypatch.setattr(kernel_gradient, "LEAST_CHANNELS_BY_ROWS", least)
    for name in ("LEAST_PLACES", "LEAST_FEATURES", "LEAST_MULTIPLICATIONS"):
        monkeypatch.setattr(kernel_gradient, name, 0)
    monkeypatch.setattr(kernel_gradient, "BLOCK", 1 << 11)


@pytest.fixture
def arrays(request):
    shape, kernel, strides, dilations, padding = CASES[request.param]
    rng = np.random.default_rng(0)
    x, filters = rng.normal(size=shape), rng.normal(size=kernel)
    attributes = {"strides": strides, "padding": padding, "dilations": dilations, "last": True}

    def convolve(x, filters):
        return convolutions.convolve(x, filters, **attributes)

    dy = rng.normal(size=jax.eval_shape(convolve, x, filters).shape)
    return convolve, x, filters, dy, attributes


@pytest.mark.modeless
@pytest.mark.part
@pytest.mark.parametrize("arrays", CASES, indirect=True)
def test_is_that_of_jax(always, arrays):
    convolve, x, filters, dy, attributes = arrays
    given = x.astype("float32"), dy.astype("float32")

    def ours(x, dy):
        return kernel_gradient.kernel_gradient(convolve, x, dy, filters.shape, **attributes)

    def theirs(x, dy):
        return jax.linear_transpose(lambda f: convolve(x, f), filters.astype("float32"))(dy)[0]

    assert "scan" in str(jax.make_jaxpr(ours)(*given))

    @jax.jit
    def both(given, tangents):
        """The gradient, how it changes along the tangents, and what it gives back."""
        return [
            (*jax.jvp(f, given, tangents), *jax.vjp(f, *given)[1](theirs(*given)))
            for f in (ours, theirs)
        ]

    results = both(given, (given[0] * 0.5, given[1][::-1].copy()))
    for one, other, near in zip(*results, (1e-4, 1e-4, 1e-3, 1e-3), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=near)


@pytest.mark.part
@pytest.mark.parametrize("mode", ["function", "loop"])
def test_reaches_the_program(always, mode):
    """Of a convolution and of a transposed one, compiled and interpreted alike."""
    rng = np.random.default_rng(1)
    x = tf.constant(rng.normal(size=(4, 6, 6, 3)), tf.float32)
    k = tf.Variable(rng.normal(size=(3, 3, 3, 5)), dtype=tf.float32)
    up = tf.Variable(rng.normal(size=(2, 2, 2, 5)), dtype=tf.float32)

    def step(x):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as tape:
                y = tf.nn.conv2d(x, k, 1, "SAME")
                z = tf.nn.conv2d_transpose(y, up, [4, 12, 12, 2], 2)
                loss = tf.reduce_sum(tf.tanh(z))
            gradients = tape.gradient(loss, [k, up])
            penalty = tf.add_n([tf.reduce_sum(g**2) for g in gradients])
        return [*gradients, *outer.gradient(penalty, [k, up])]

    def reference(k, up):
        form = ("NHWC", "HWIO", "NHWC")

        def conv(x, k, stride=1):
            return lax.conv_general_dilated(x, k, (stride, stride), "SAME", dimension_numbers=form)

        def loss(k, up):
            y = conv(np.asarray(x), k)
            shape = jax.ShapeDtypeStruct((4, 12, 12, 2), y.dtype)
            return jax.numpy.sum(
                jax.numpy.tanh(jax.linear_transpose(lambda z: conv(z, up, 2), shape)(y)[0])
            )

        def penalty(k, up):
            gradients = jax.grad(loss, (0, 1))(k, up)
            return sum((g**2).sum() for g in gradients)

        return [*jax.grad(loss, (0, 1))(k, up), *jax.grad(penalty, (0, 1))(k, up)]

    run = tf.function(step, jit_compile=True) if mode == "function" else step
    wanted = jax.jit(reference)(k.numpy(), up.numpy())
    for _ in range(3):
        for found, right in zip(run(x), wanted, strict=True):
            np.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-5 * np.max(np.abs(right)))


def test_where_it_does_not_pay():
    def taken(shape, kernel, dtype="float32"):
        x = jax.ShapeDtypeStruct(shape, dtype)
        dy = jax.ShapeDtypeStruct((*shape[:-1], kernel[-1]), dtype)
        return kernel_gradient._pays(x, dy, kernel)

    assert taken((32, 28, 28, 32), (3, 3, 32, 64))
    assert taken((128, 28, 28, 1), (3, 3, 1, 32))  # many images
    assert taken((64, 28, 28, 1), (3, 3, 1, 16)) and not taken((64, 28, 28, 2), (3, 3, 2, 16))
    assert not taken((128, 28, 28, 1), (5, 5, 1, 32))
    assert not taken((128, 64, 64, 1), (3, 3, 1, 8))
    assert not taken((32, 7, 7, 256), (3, 3, 256, 256))  # small images
    assert not taken((8, 32, 32, 16), (3, 3, 16, 16))  # little work
    assert not taken((32, 28, 28, 32), (3, 3, 16, 64))  # groups
    assert not taken((32, 28, 28, 32), (3, 3, 32, 64), "bfloat16")
