"""Convolutions of float64 as products and sums of what lies under their windows."""

import jax
import numpy as np
import pytest
from jax import lax

import tape_compat as tf
from tape_compat._src.core.x64 import in_x64
from tape_compat._src.ops import convolution_windows, convolutions, kernel_gradient

#: Sizes of images, of kernels, strides, dilations, padding.
CASES = {
    "1d": ((6, 13, 3), (4, 3, 2), (2,), (1,), "SAME"),
    "1d dilated": ((4, 16, 1), (3, 1, 5), (1,), (3,), "VALID"),
    "strides": ((4, 11, 8, 2), (3, 5, 2, 4), (3, 2), (1, 1), "SAME"),
    "explicit": ((4, 6, 5, 2), (3, 3, 2, 4), (2, 1), (1, 1), ((2, 0), (1, 3))),
    "3d": ((2, 5, 6, 7, 2), (2, 3, 2, 2, 3), (1, 2, 1), (1, 1, 1), "VALID"),
    "depthwise": ((4, 9, 8, 3), (3, 2, 1, 3), (1, 1), (1, 1), "SAME"),
    "multiplied": ((4, 9, 8, 3), (3, 2, 1, 6), (2, 2), (1, 1), "SAME"),
    "depthwise dilated": ((4, 9, 8, 3), (3, 2, 1, 3), (1, 1), (2, 3), "VALID"),
}


@pytest.mark.modeless
@pytest.mark.part
@pytest.mark.parametrize("blocks", [1 << 8, 1 << 20])
@pytest.mark.parametrize("name", CASES)
def test_they_are_those_of_xla(name, blocks, monkeypatch):
    """And their derivatives, of second order and in forward mode too."""
    monkeypatch.setattr(convolution_windows, "BLOCK", blocks)
    shape, kernel, strides, dilations, padding = CASES[name]
    rng = np.random.default_rng(0)
    x, filters = rng.normal(size=shape), rng.normal(size=kernel)
    given = {"strides": strides, "padding": padding, "dilations": dilations, "last": True}

    def by_xla(x, filters):
        return convolutions.xla_convolution(x, filters, **given)

    dy = rng.normal(size=jax.eval_shape(by_xla, x, filters).shape)

    def ours(x, filters, dy):
        back = convolutions.convolve_back(dy, filters, x.shape, **given)
        by_kernel = kernel_gradient.kernel_gradient(by_xla, x, dy, kernel, **given)
        return convolutions.convolve(x, filters, **given), back, by_kernel

    def theirs(x, filters, dy):
        found, pull = jax.vjp(by_xla, x, filters)
        return found, *pull(dy)

    def more(function):
        def run(*arrays):
            found, pull = jax.vjp(function, *arrays)
            return found, pull(found), jax.jvp(function, arrays, arrays)[1]

        return in_x64(jax.jit(run), x, filters, dy)

    text = in_x64(lambda *a: jax.jit(ours).lower(*a).compile().as_text(), x, filters, dy)
    assert "convolution(" not in text
    for one, other in zip(*map(jax.tree.leaves, (more(ours), more(theirs))), strict=True):
        assert one.dtype == np.float64
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)


@pytest.mark.modeless
@pytest.mark.parametrize("name", ["1d", "depthwise"])
def test_batches_of_them(name):
    shape, kernel, strides, dilations, padding = CASES[name]
    rng = np.random.default_rng(0)
    given = {"strides": strides, "padding": padding, "dilations": dilations, "last": True}
    x, filters = rng.normal(size=(5, *shape)), rng.normal(size=(5, *kernel))
    found, wanted = [
        in_x64(jax.jit(jax.vmap(lambda *a, f=f: f(*a, **given))), x, filters)
        for f in (convolutions.convolve, convolutions.xla_convolution)
    ]
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.modeless
def test_where_they_do_not_pay():
    def taken(shape, kernel, strides=(1, 1), dtype="float64"):
        return convolution_windows.pay(shape, np.dtype(dtype), kernel, strides)

    assert taken((4, 8, 3), (3, 3, 5), (1,)) and taken((4, 8, 8, 8, 3), (3, 3, 3, 3, 5), (1, 1, 1))
    assert taken((4, 8, 8, 3), (3, 3, 1, 3)) and taken((4, 8, 8, 3), (3, 3, 3, 5), (2, 2))
    assert not taken((4, 8, 8, 3), (3, 3, 3, 5))  # Eigen
    assert not taken((4, 8, 8, 3), (3, 3, 1, 3), dtype="float32")
    assert not taken((4, 8, 8, 4), (3, 3, 2, 4), (2, 2))  # groups of several channels
    assert not taken((4, 8, 3), (1, 3, 5), (1,))  # a product of matrices
    assert not taken((0, 8, 3), (3, 3, 5), (1,)) and not taken((4, 8, 0), (3, 0, 5), (1,))


@pytest.mark.parametrize("mode", ["function", "loop"])
def test_reaches_the_program(mode):
    """Of a depthwise convolution and one of rank 1."""
    rng = np.random.default_rng(1)
    x = tf.constant(rng.normal(size=(2, 6, 6, 3)))
    k, v = tf.Variable(rng.normal(size=(3, 3, 3, 2))), tf.Variable(rng.normal(size=(3, 6, 2)))

    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.depthwise_conv2d(x, k, [1, 1, 1, 1], "SAME")
            z = tf.nn.conv1d(tf.reshape(y, [2, 36, 6]), v, 1, "SAME")
            loss = tf.reduce_sum(tf.tanh(z))
        return tape.gradient(loss, [x, k, v])

    def loss(x, k, v):
        form = ("NHWC", "HWIO", "NHWC")
        k = k.reshape(3, 3, 1, 6)
        y = lax.conv_general_dilated(
            x, k, (1, 1), "SAME", dimension_numbers=form, feature_group_count=3
        )
        form = ("NWC", "WIO", "NWC")
        z = lax.conv_general_dilated(y.reshape(2, 36, 6), v, (1,), "SAME", dimension_numbers=form)
        return jax.numpy.sum(jax.numpy.tanh(z))

    wanted = in_x64(jax.grad(loss, (0, 1, 2)), x.numpy(), k.numpy(), v.numpy())
    run = tf.function(step, jit_compile=True) if mode == "function" else step
    for _ in range(3):
        for found, right in zip(run(x), wanted, strict=True):
            np.testing.assert_allclose(found, right, rtol=1e-10, atol=1e-12)
