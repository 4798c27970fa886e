"""The order of numbers by a kernel in C: as XLA's, derivatives, and where it is not called."""

import functools

import jax
import jax.export
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax

import tape_compat as tf
from tape_compat._src.core.kernels import tracing
from tape_compat._src.core.native import KERNELS
from tape_compat._src.core.x64 import in_x64
from tape_compat._src.ops import order_kernel
from tape_compat._src.run.interpret.plan import Interpreted
from tape_compat._src.run.interpret.sorting import places_in_order
from tests.threads import in_threads

TARGET = "tape_compat_order"
pytestmark = pytest.mark.skipif(not order_kernel.available(), reason="not built")
DTYPES = "int8 uint8 int16 uint16 int32 uint32 int64 float16 bfloat16 float32 float64".split()
#: Shapes and an axis: few numbers, many, none, rows for several threads.
SHAPES = [((0,), 0), ((1,), 0), ((7,), -1), ((40,), 0), ((41,), 0), ((3000,), 0)]
SHAPES += [((3, 0), 1), ((33, 257), 0), ((2, 60, 5), 1), ((40, 2000), -1)]


def numbers(dtype, shape, kind):
    """Many equal ones, ones of all sizes, or of the special ones."""
    rng = np.random.default_rng(kind)
    if "int" in dtype:
        ends = np.iinfo(dtype)
        if kind == 0:
            return rng.integers(0, 5, shape).astype(dtype)
        if kind == 1:
            return rng.integers(ends.min, ends.max, shape, dtype, endpoint=True)
        return rng.choice(np.array([ends.min, 0, ends.max, ends.max - 1], dtype), shape)
    kept = np.dtype(getattr(ml_dtypes, dtype, dtype))
    if kind == 0:
        return np.round(rng.normal(size=shape)).astype(kept)
    if kind == 1:
        return (rng.normal(size=shape) * 10.0 ** rng.integers(-4, 4, shape)).astype(kept)
    special = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e-41, -1e-41, 5e-324]
    with np.errstate(over="ignore"):
        return rng.choice(np.array(special).astype(kept), shape)


@jax.jit
def orders(arrays):
    """The orders of arrays of `SHAPES`, ascending and descending: by the kernel, and by XLA."""
    by_kernel = tracing(True, order_kernel.order)
    return [
        [(f(x, axis, False), f(x, axis, True)) for f in (by_kernel, order_kernel._by_xla)]
        for x, (_, axis) in zip(arrays, SHAPES)
    ]


@pytest.mark.part
@pytest.mark.parametrize("dtype", DTYPES)
def test_it_is_that_of_xla(dtype):
    for kind in range(3):
        arrays = [numbers(dtype, shape, kind) for shape, _ in SHAPES]
        for (shape, axis), both in zip(SHAPES, in_x64(orders, arrays), strict=True):
            for descending, (ours, wanted) in enumerate(zip(*both, strict=True)):
                assert ours.dtype == np.int32 and ours.shape == shape
                np.testing.assert_array_equal(ours, wanted, str((shape, axis, kind, descending)))


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_it_is_that_of_numpy_in_threads(dtype):
    x = [numbers(dtype, (4, 70_000), kind) for kind in (0, 1)]
    wanted = [np.argsort(a, 1, kind="stable") for a in x]

    equal = []

    def work():
        for _ in range(3):
            for a, places in zip(x, wanted, strict=True):
                equal.append(np.array_equal(places_in_order(a, 1), places))

    in_threads(4, work)
    assert equal == [True] * 24
    if dtype.startswith("int"):
        found = places_in_order(x[1].T, 0, descending=True)
        np.testing.assert_array_equal(found, np.argsort(~x[1].T, 0, kind="stable"))


def test_wrong_arrays_are_refused():
    x, places = np.zeros(4, np.float32), np.zeros(4, np.int32)
    for a, b in ((x.astype("f2"), places), (x, places.astype("i8")), (x, places[:3])):
        with pytest.raises(ValueError, match="not numbers of 32 or 64 bits"):
            KERNELS.order(a, b, False)
    with pytest.raises(ValueError, match="contiguous"):
        KERNELS.order(x[::2], places, False)
    with pytest.raises(TypeError, match="3 arguments"):
        KERNELS.order(x)


@pytest.mark.part
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8", "bfloat16"])
def test_the_largest_are_those_of_xla(dtype):
    @jax.jit
    def largest(x, positive):
        top = tracing(True, order_kernel.top)
        return [(*top(x, k), lax.top_k(positive, k)[1]) for k in (1, 8, 9, 40, 64)]

    for kind in range(3):
        x = numbers(dtype, (5, 64), kind)
        positive = np.where(x == 0, np.zeros_like(x), x)  # XLA takes -0 for less than 0
        for values, places, wanted in in_x64(largest, x, positive):
            assert values.dtype == x.dtype and places.dtype == wanted.dtype
            np.testing.assert_array_equal(places, wanted)
            expected = np.take_along_axis(np.asarray(x, float), np.asarray(wanted), -1)
            np.testing.assert_array_equal(np.asarray(values, float), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8", "bfloat16"])
def test_few_are_left_to_xla_if_it_looks_for_them(dtype):
    """It does so for float32, and sorts other numbers."""
    programs = [jax.jit(tracing(True, functools.partial(order_kernel.top, k=k))) for k in (3, 40)]
    x = numbers(dtype, (5, 64), 0)
    few, many = (in_x64(program.lower, x).as_text() for program in programs)
    assert (order_kernel._TARGET in few) == (dtype != "float32")
    assert order_kernel._TARGET in many


@tf.function(jit_compile=True)
def _derivatives(x, weights):
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            largest = tf.math.top_k(x, 20)
            y = tf.sort(x, direction="DESCENDING") ** 3 * weights
            loss = tf.reduce_sum(y) + tf.reduce_sum(largest.values[:, 3] ** 2)
        slope = tape.gradient(loss, x)
        total, first = tf.reduce_sum(slope * slope), slope[0]
    by_rows = tf.vectorized_map(lambda row: tf.argsort(row), x)
    return loss, slope, outer.gradient(total, x), outer.jacobian(first, x)[0, :, 0], by_rows


@pytest.mark.part
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("k", [1, 5, 64])
def test_the_largest_that_are_interpreted_are_those_of_xla(dtype, k):
    for kind in range(3):
        for shape in ((64,), (3, 65), (2, 2, 200)):
            x = numbers(dtype, shape, kind)
            plan = in_x64(lambda x: Interpreted(jax.make_jaxpr(lambda x: lax.top_k(x, k))(x)), x)
            for found, wanted in zip(plan([x]), in_x64(lax.top_k, x, k), strict=True):
                assert found.tobytes() == np.asarray(wanted).tobytes()


def test_wrong_rows_have_no_largest():
    x, values, places = np.ones((2, 70)), np.empty((2, 3)), np.empty((2, 3), np.int32)
    KERNELS.largest(x, values, places)
    wide = np.empty((2, 65)), np.empty((2, 65), np.int32)
    for wrong in (
        (x, values, places.astype(np.int64)),
        (x, values.astype(np.float32), places),
        (x[0], values, places),
        (x[:1], values, places),
        (x, values, places[:1]),
        (x[:, :2].copy(), values, places),
        (x, *wide),
        (x.astype(np.int8), values, places),
    ):
        with pytest.raises(ValueError):
            KERNELS.largest(*wrong)


def test_derivatives_of_every_order_and_batches():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, 50)).astype(np.float32)
    weights = rng.normal(size=50).astype(np.float32)

    def loss(x):
        largest = lax.top_k(x, 20)[0]
        return jnp.sum((-jnp.sort(-x)) ** 3 * weights) + jnp.sum(largest[:, 3] ** 2)

    def wanted(x):
        slope = jax.grad(loss)
        return (
            *(loss(x), slope(x), jax.grad(lambda x: jnp.sum(slope(x) ** 2))(x)),
            *(jax.jacrev(lambda x: slope(x)[0])(x)[0, :, 0], jnp.argsort(x)),
        )

    for _ in range(3):
        found = _derivatives(tf.constant(x), tf.constant(weights))
    for a, b in zip(found, jax.jit(wanted)(x), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
    primal = tf.constant(x)
    with tf.autodiff.ForwardAccumulator(primal, tf.ones((3, 50))) as forward:
        y = tf.sort(primal * 2.0)
    np.testing.assert_array_equal(forward.jvp(y), np.full((3, 50), 2.0))


def _ranked(x):
    return tf.sort(x) + tf.cast(tf.argsort(x), tf.float32) + tf.math.top_k(x, 50).values


def test_programs_call_it_and_exports_do_not():
    x = np.random.default_rng(0).normal(size=(3, 50)).astype(np.float32)
    step = tf.function(_ranked, jit_compile=True)
    text = step.experimental_get_compiler_ir(tf.constant(x))(stage="stablehlo")
    pure = tf.engine.functional(_ranked)
    state = pure.init(x)
    exported = jax.export.export(jax.jit(pure))(state, x).mlir_module()
    assert TARGET not in exported and "sort" in exported
    assert TARGET not in text  # it is text to take elsewhere
    own = jax.jit(tracing(True, lambda x: order_kernel.order(x, -1, False)))
    assert TARGET in own.lower(x).as_text()
