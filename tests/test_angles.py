"""Sine and its like by a kernel in C: how exact, derivatives of every order, where it is called."""

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special as scipy
from jax import lax

import tape_compat as tf
from tape_compat._src.core.kernels import tracing
from tape_compat._src.core.x64 import in_x64
from tape_compat._src.ops import angles

TARGET = "tape_compat_angles"
pytestmark = pytest.mark.skipif(
    not angles.available(), reason="not built, or for another processor"
)

RNG = np.random.default_rng(0)
NAMES = ("sin", "cos", "tan", "asin", "acos", "atan", "atan2")
NUMPY = dict(zip(NAMES, "sin cos tan arcsin arccos arctan arctan2".split(), strict=True))
SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 0.41421357, np.inf, -np.inf, np.nan]
    + [1e-41, -1e-41, 1.2e-38, 2**-12, 2.45e-4, 3.9e8, 4.1e8, -4.1e8, 3.4e38, -3.4e38, 1.0000001],
    np.float32,
)
#: One that comes nearest to a multiple of pi / 2 among float32.
NEAREST = np.float32(16367173 * 2.0**72)


def inputs(name, kind):
    """Of all sizes, of that of the domain of inverses, and special ones; two for atan2."""
    if kind == "special":
        one = np.append(SPECIAL, NEAREST)
        found = [np.tile(x.ravel(), 2) for x in np.meshgrid(one, one)]
    elif kind == "bits":
        found = [RNG.integers(0, 2**32, 70_001, np.uint32).view(np.float32) for _ in range(2)]
    else:
        found = [RNG.uniform(-1, 1, 70_001).astype(np.float32) for _ in range(2)]
    return found if name == "atan2" else found[:1]


def by_kernel(name):
    return jax.jit(tracing(True, getattr(angles, name)))


@pytest.mark.modeless
@pytest.mark.part
@pytest.mark.parametrize("kind", ["special", "bits", "near"])
@pytest.mark.parametrize("name", NAMES)
def test_it_is_the_nearest_number(name, kind):
    """Beyond 4e8 it is the C library's, which may err by another half of the last bit."""
    arrays = inputs(name, kind)
    with np.errstate(all="ignore"):
        wanted = getattr(np, NUMPY[name])(*[x.astype(np.float64) for x in arrays])
        nearest = wanted.astype(np.float32)
    found = np.asarray(by_kernel(name)(*arrays))
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    np.testing.assert_array_equal(np.isinf(found), np.isinf(nearest))
    finite = np.isfinite(found)
    np.testing.assert_array_equal(np.signbit(found)[finite], np.signbit(nearest)[finite])
    last = np.spacing(np.abs(nearest[finite])).astype(np.float64)
    errors = np.abs(found[finite] - wanted[finite]) / last
    far = np.abs(arrays[0][finite]) >= 4e8
    assert np.max(errors, where=~far, initial=0.0) < 0.51
    assert np.max(errors, initial=0.0) < (1.1 if name in NAMES[:3] else 0.51)


def wide_inputs(name):
    """Of all sizes, near multiples of pi / 2, in the domain of inverses and beside its ends."""
    near = RNG.uniform(-1, 1, 20_001)
    sizes = RNG.choice([-1, 1], 20_001) * 10.0 ** RNG.uniform(-322, 308, 20_001)
    bits = RNG.integers(0, 2**64, 20_001, np.uint64).view(np.float64)
    if name == "atan2":
        close = sizes * RNG.uniform(0.2, 1, sizes.size)
        return [np.concatenate(a) for a in ((near, sizes, bits, sizes), (sizes, near, near, close))]
    if name in ("asin", "acos"):
        return [np.concatenate([near, np.sign(near) * (1 - 10.0 ** -abs(near * 16)), bits])]
    quarters = np.round(near * 1e7) * (np.pi / 2)
    return [np.concatenate([near, 9 * near, 1e8 * near, quarters, sizes, bits])]


@pytest.mark.modeless
@pytest.mark.part
@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="no longer numbers to compare with")
@pytest.mark.parametrize("name", NAMES)
def test_doubles_err_by_little_more_than_their_rounding(name):
    """Of all that NumPy's longer numbers can tell; subnormal results and special ones too."""
    special = SPECIAL.astype(np.float64)
    pairs = [x.ravel() for x in np.meshgrid(special, special)]
    groups = [wide_inputs(name), pairs if name == "atan2" else [np.tile(special, 40)]]
    for arrays in groups:
        found = np.asarray(in_x64(by_kernel(name), *arrays))
        with np.errstate(all="ignore"):
            wanted = getattr(np, NUMPY[name])(*[x.astype(np.longdouble) for x in arrays])
            nearest = wanted.astype(np.float64)
        assert found.dtype == np.float64
        np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
        finite = np.isfinite(nearest)
        np.testing.assert_array_equal(np.isfinite(found), finite)
        np.testing.assert_array_equal(np.signbit(found)[finite], np.signbit(nearest)[finite])
        last = np.spacing(np.abs(nearest[finite])).astype(np.longdouble)
        errors = np.abs(found[finite] - wanted[finite]) / last
        assert np.max(errors) < 0.85


@pytest.mark.modeless
@pytest.mark.parametrize("shape", [(513,), (7, 300), (4096,), (4097,), (3, 5, 1000)])
def test_sizes(shape):
    x = RNG.normal(size=shape).astype(np.float32)
    for name in ("sin", "atan"):
        wanted = getattr(np, NUMPY[name])(x.astype(np.float64))
        np.testing.assert_allclose(by_kernel(name)(x), wanted, rtol=1e-6)
    y = RNG.normal(size=shape[-1:]).astype(np.float32)
    wanted = np.arctan2(x.astype(np.float64), y)
    np.testing.assert_allclose(by_kernel("atan2")(x, y), wanted, rtol=1e-6)


@pytest.mark.modeless
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_short_floats(dtype):
    x = jnp.asarray(RNG.uniform(-1, 1, 600), dtype)
    for name in NAMES[:6]:
        found = by_kernel(name)(x)
        wanted = np.asarray(getattr(np, NUMPY[name])(np.asarray(x, np.float64)))
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, jnp.asarray(wanted, np.float32).astype(dtype))


def _others(name):
    arrays = [jnp.full(600, 0.5, np.float32)] * (2 if name == "atan2" else 1)
    few = [x[:100] for x in arrays]
    turned = [x + 0j for x in arrays] if name in NAMES[:6] else few
    return few, turned


@pytest.mark.modeless
@pytest.mark.parametrize("name", NAMES)
def test_what_is_left_to_xla(name):
    """Few numbers, complex ones."""
    for arrays in _others(name):
        text = in_x64(lambda *a: by_kernel(name).lower(*a).as_text(), *arrays)
        assert TARGET not in text


@pytest.mark.modeless
@pytest.mark.part
@pytest.mark.parametrize("name", NAMES)
def test_derivatives_are_those_of_xla(name):
    ours = tracing(True, getattr(angles, name))
    xla = {"atan": lax.atan, "atan2": jnp.arctan2}.get(name, getattr(lax, name))
    arrays = [RNG.uniform(-0.9, 0.9, (3, 300)).astype(np.float32) for _ in range(2)]
    arrays = arrays if name == "atan2" else arrays[:1]
    weights = RNG.normal(size=(3, 300)).astype(np.float32)
    every = tuple(range(len(arrays)))

    def derivatives(f, *arrays):
        def total(*a):
            return jnp.sum(weights * f(*a))

        def penalty(*a):
            return sum(jnp.sum(g**2) for g in jax.grad(total, every)(*a))

        first, second = jax.grad(total, every), jax.grad(penalty, every)
        third = jax.grad(lambda *a: sum(jnp.sum(g) for g in second(*a)), every)
        forward = jax.jvp(f, arrays, (weights,) * len(arrays))[1]
        rows = jax.vmap(f, (0,) * len(arrays))(*arrays)
        partly = jax.grad(total)(*arrays)
        return first(*arrays), second(*arrays), third(*arrays), forward, rows, partly

    found = jax.jit(tracing(True, lambda *a: derivatives(ours, *a)))(*arrays)
    wanted = jax.jit(lambda *a: derivatives(xla, *a))(*arrays)
    for a, b in zip(*map(jax.tree.leaves, (found, wanted)), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-4)


@pytest.mark.modeless
def test_batches_of_pairs():
    x, y = RNG.normal(size=(2, 600, 5)).astype(np.float32)
    found = jax.jit(tracing(True, jax.vmap(angles.atan2, (1, None), 1)))(x, y[:, 0])
    np.testing.assert_allclose(found, np.arctan2(x, y[:, :1]), rtol=1e-6)


@pytest.mark.modeless
def test_wrong_arrays_are_refused():
    def call(numbers, *arrays, dtype=np.float32):
        made = jax.ShapeDtypeStruct((4,), dtype)
        return jax.ffi.ffi_call(TARGET, made)(*arrays, numbers=np.array(numbers, "int64"))

    x = jnp.ones(4)
    assert call([0], x).shape == (4,)
    for numbers, arrays in (
        ([7], [x]),
        ([-1], [x]),
        ([0, 0], [x]),
        ([6], [x]),
        ([0], [x, x]),
        ([0], [x[:3]]),
        ([6], [x, x[:3]]),
        ([0], [x.astype(np.int32)]),
        ([6], [x, x.astype(np.int32)]),
        ([6], [x, x, x]),
    ):
        with pytest.raises(Exception, match="of one array or of two"):
            jax.block_until_ready(call(numbers, *arrays))


def _wave(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sin(x) * tf.atan2(x, 2.0) + tf.math.angle(tf.complex(x, tf.acos(x)))
    return tape.gradient(y, x)


def test_programs_call_it_and_exports_do_not(monkeypatch, deferred):
    noted = []
    call = angles._call

    def noting(number, *arrays):
        noted.append(number)
        return call(number, *arrays)

    monkeypatch.setattr(angles, "_call", noting)
    x = RNG.uniform(-0.9, 0.9, (3, 701)).astype(np.float32)  # no other test has compiled it
    step = tf.function(_wave, jit_compile=True)
    found = [step(tf.constant(x)) for _ in range(3)][-1]
    assert set(noted) >= {0, 1, 4, 6}
    pure = tf.engine.functional(_wave)
    state = pure.init(x)
    exported = jax.export.export(jax.jit(pure))(state, x)
    text = step.experimental_get_compiler_ir(tf.constant(x))(stage="stablehlo")
    assert TARGET not in exported.mlir_module() + text and "sine" in text
    np.testing.assert_allclose(exported.call(state, x)[0], found, rtol=1e-5, atol=1e-6)


@pytest.mark.part
@pytest.mark.compiled
@pytest.mark.parametrize("columns", [711, 712, 713, 714])  # no other test has traced those
def test_bessel_functions_call_it(monkeypatch, deferred, columns):
    name = ("bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1")[columns - 711]
    noted, call = [], angles._call
    monkeypatch.setattr(angles, "_call", lambda n, *x: (noted.append(n), call(n, *x))[1])
    function = tf.function(getattr(tf.math.special, name), jit_compile=True)
    x = RNG.uniform(0.1, 20, (3, columns)).astype(np.float32)
    found = [function(tf.constant(x)) for _ in range(3)][-1]
    assert set(noted) == {0, 1}
    wanted = getattr(scipy, name.replace("bessel_", ""))(x.astype(np.float64))
    np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-6)
