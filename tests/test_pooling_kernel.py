"""Pools by a kernel in C: as XLA's form, derivatives of every order, and where it is not called."""

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core.kernels import tracing
from tape_compat._src.core.x64 import in_x64
from tape_compat._src.ops import pooling, pooling_kernel

TARGET = "tape_compat_pool"
pytestmark = pytest.mark.skipif(
    not pooling_kernel.available(), reason="not built, or for another processor"
)

#: Sizes and channels; window; strides; padding.
CASES = {
    "same": ((3, 9, 8, 16), (3, 3), (2, 2), "SAME"),
    "valid": ((2, 9, 8, 8), (3, 2), (2, 2), "VALID"),
    "each place": ((2, 6, 5, 17), (3, 3), (1, 1), "SAME"),
    "some again": ((2, 7, 6, 25), (2, 3), (1, 2), "SAME"),
    "fewer than lanes": ((2, 7, 6, 9), (2, 2), (2, 1), "VALID"),
    "strides beyond the window": ((2, 9, 11, 8), (2, 2), (3, 4), "VALID"),
    "explicit": ((2, 6, 5, 8), (3, 3), (2, 1), ((1, 1), (2, 0))),
    "nothing but padding": ((2, 6, 5, 8), (3, 2), (2, 2), ((4, 5), (0, 7))),
    "pieces of an image": ((1, 130, 40, 16), (3, 3), (2, 2), "SAME"),
    "many images": ((70, 4, 3, 8), (3, 3), (2, 2), "SAME"),
    "one axis": ((3, 11, 8), (3,), (2,), "SAME"),
    "one axis, in pieces": ((1, 5000, 16), (5,), (2,), ((2, 3),)),
    "three axes": ((2, 5, 4, 6, 8), (2, 3, 2), (1, 2, 2), "SAME"),
    "three axes, tiles": ((2, 4, 4, 6, 8), (2, 2, 2), (2, 2, 2), "VALID"),
    "rows of one": ((2, 1, 9, 8), (1, 3), (1, 2), "SAME"),
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


def both(case):
    """The pool and its pullback, each by the kernel, and by XLA."""
    windows = dict(zip(("window", "strides", "padding"), case[1:], strict=True), last=True)

    def pool(x):
        return pooling._max_pool(x, **windows)

    def back(x, dy):
        return pooling._pull_max((x,), (dy,), (0,), **windows)[0]

    return [[jax.jit(tracing(own, f)) for f in (pool, back)] for own in (True, False)]


def images(shape, dtype, kind):
    """Ties, with those of padding too, or NaN among them as well."""
    values = [-np.inf, 0.0, -0.0, 1.0, 2.0, np.inf] + [np.nan] * kind
    return np.random.default_rng(kind).choice(np.array(values, dtype), shape)


@pytest.mark.modeless
@pytest.mark.part
@pytest.mark.parametrize("dtype", [np.float32, np.float64, jnp.bfloat16])
def test_it_is_that_of_xla(case, dtype):
    (pool, back), (wanted, wanted_back) = both(case)

    @jax.jit
    def all_of_them(x, dy):
        return (pool(x), wanted(x)), (back(x, dy), wanted_back(x, dy))

    shape = in_x64(jax.eval_shape, wanted, jax.ShapeDtypeStruct(case[0], dtype)).shape
    dy = np.random.default_rng(2).integers(-9, 9, shape).astype(dtype)
    for kind in range(2):
        for pair in in_x64(all_of_them, images(case[0], dtype, kind), dy):
            ours, theirs = map(np.asarray, pair)
            assert ours.dtype == theirs.dtype == dtype
            np.testing.assert_array_equal(ours.astype(float), theirs.astype(float))


@pytest.mark.modeless
def test_the_sum_of_windows_is_taken_in_their_order():
    """As TensorFlow does, however it is cut into tasks."""
    x = np.zeros((1, 130, 40, 16), np.float32)
    x[:, ::2] = 1.0
    _, back = both(CASES["pieces of an image"])[0]
    dy = np.random.default_rng(0).normal(size=(1, 65, 20, 16)).astype(np.float32)
    wanted = np.zeros_like(x)
    for i, j in np.ndindex(65, 20):
        wanted[:, 2 * i, 2 * j] += dy[:, i, j]
    np.testing.assert_array_equal(back(x, dy), wanted)


@pytest.mark.modeless
def test_batches():
    (_, back), (_, wanted) = both(CASES["same"])
    x = np.stack([images((3, 9, 8, 16), "float32", kind) for kind in (0, 1)])
    dy = np.random.default_rng(0).integers(0, 9, (2, 3, 5, 4, 16)).astype(np.float32)
    for axes in ((0, 0), (None, 0)):
        given = (x if axes[0] == 0 else x[0]), dy
        found = [np.asarray(jax.jit(jax.vmap(f, axes))(*given)) for f in (back, wanted)]
        np.testing.assert_array_equal(*found)


@pytest.mark.modeless
def test_integers_are_left_to_xla():
    pool = both(CASES["same"])[0][0]
    assert TARGET not in pool.lower(jnp.ones((3, 9, 8, 16), "int32")).as_text()


@pytest.mark.modeless
def test_few_channels_and_tiles_are_left_to_xla():
    for of in (((3, 9, 8, 7), *CASES["same"][1:]), ((3, 8, 8, 16), (2, 2), (2, 2), "VALID")):
        pool, back = both(of)[0]
        x = jnp.ones(of[0])
        assert TARGET not in pool.lower(x).as_text() + back.lower(x, pool(x)).as_text()


@pytest.mark.modeless
def test_wrong_arrays_are_refused():
    def call(x, y, numbers, *more):
        made = jax.ShapeDtypeStruct(y, np.float32)
        return jax.ffi.ffi_call(TARGET, made)(x, *more, numbers=np.array(numbers, "int64"))

    x, y = jnp.ones((2, 1, 6, 6, 8)), (2, 1, 3, 3, 8)
    numbers = [1, 2, 2, 1, 2, 2, 0, 0, 0, 1]
    assert call(x, y, numbers).shape == y
    for arguments in (
        (x[0], y, numbers),
        (x, y[1:], numbers),
        (x, (1, *y[1:]), numbers),
        (x, (*y[:-1], 9), numbers),
        (x, y, numbers[1:]),
        (x, y, [0, *numbers[1:]]),
        (x, y, [*numbers[:6], -1, 0, 0, 1]),
        (x[..., :2], (*y[:-1], 2), numbers),
        (x.astype("int32"), y, numbers),
        (x, y, numbers, jnp.ones(y)),
    ):
        with pytest.raises(Exception, match="give a pool"):
            jax.block_until_ready(call(*arguments))


@tf.function(jit_compile=True)
def _derivatives(x, weights, along):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(weights * tf.nn.max_pool2d(x, 3, 2, "SAME") ** 3)
        slope = tape.gradient(loss, x)
        total = tf.reduce_sum(slope * slope)
    with tf.autodiff.ForwardAccumulator(x, along) as forward:
        y = tf.nn.max_pool2d(x, 3, 2, "SAME")
    rows = tf.vectorized_map(lambda row: tf.nn.max_pool2d(row[None], 3, 2, "SAME")[0], x)
    return loss, slope, outer.gradient(total, x), forward.jvp(y), rows


def test_derivatives_of_every_order():
    rng = np.random.default_rng(0)
    x = rng.integers(-3, 4, (2, 6, 6, 8)).astype(np.float32)
    weights = rng.normal(size=(2, 3, 3, 8)).astype(np.float32)
    along = rng.normal(size=x.shape).astype(np.float32)
    pool = both(((2, 6, 6, 8), (3, 3), (2, 2), "SAME"))[1][0]

    def loss(x):
        return jnp.sum(weights * pool(x) ** 3)

    slope = jax.grad(loss)
    second = jax.grad(lambda x: jnp.sum(slope(x) ** 2))
    wanted = loss(x), slope(x), second(x), jax.jvp(pool, (x,), (along,))[1], pool(x)
    for _ in range(3):
        found = _derivatives(*map(tf.constant, (x, weights, along)))
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-4)


def _slope(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.max_pool2d(x, 3, 2, "SAME")
    return tape.gradient(y, x)


def test_programs_call_it_and_exports_do_not(monkeypatch, deferred):
    noted = []
    call = pooling_kernel.Pool._call

    def noting(pool, *given):
        noted.append(len(given))
        return call(pool, *given)

    monkeypatch.setattr(pooling_kernel.Pool, "_call", noting)
    x = images((2, 7, 6, 24), "float32", 0)  # no other test has compiled it
    step = tf.function(lambda x: (tf.nn.max_pool2d(x, 3, 2, "SAME"), _slope(x)), jit_compile=True)
    found = [step(tf.constant(x)) for _ in range(3)][-1]
    assert sorted(set(noted)) == [2, 3]  # of images, and of cotangents too
    pure = tf.engine.functional(_slope)
    state = pure.init(x)
    exported = jax.export.export(jax.jit(pure))(state, x)
    assert TARGET not in exported.mlir_module()
    assert TARGET not in step.experimental_get_compiler_ir(tf.constant(x))(stage="stablehlo")
    np.testing.assert_array_equal(exported.call(state, x)[0], found[1])
