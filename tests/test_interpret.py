"""Each rule of the interpreter against XLA, and the library's ops as the interpreter runs them."""

import contextlib
import itertools
import math
import warnings
from functools import cache, partial

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax
from jax.ad_checkpoint import checkpoint_name
from jax.extend.core import jaxpr_as_fun, primitives

import tape_compat as tf
from tape_compat._src.core import dtypes
from tape_compat._src.core.avals import Aval
from tape_compat._src.core.host import on_host
from tape_compat._src.core.op import Closure, primitives as names
from tape_compat._src.core.state import LOCAL
from tape_compat._src.core.x64 import in_x64
from tape_compat._src.run import op_by_op, policy
from tape_compat._src.run.interpret import convolutions, cost, decompositions, products, special
from tape_compat._src.run.interpret.plan import RULES, Interpreted
from tests.ops import ROWS, checks

FLOATS = [np.dtype(d) for d in ("float16", "float32", "float64", ml_dtypes.bfloat16)]
COMPLEX = [np.dtype("complex64"), np.dtype("complex128")]
INTEGERS = [np.dtype(d) for d in ("int8", "int16", "int32", "int64", "uint8", "uint32", "uint64")]
BOOL = np.dtype(bool)
ALL = [*FLOATS, *COMPLEX, *INTEGERS, BOOL]
#: One of each kind, where the size matters less.
KINDS = [np.dtype(d) for d in ("float32", "complex64", "int8", "uint32", bool, ml_dtypes.bfloat16)]

#: How far results may be from XLA's, relative to them, and what is near enough to zero: numbers
#: below the least normal one, which XLA takes for zeros.
TOLERANCE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 3e-6, "complex64": 1e-5}
TOLERANCE |= {"float64": 1e-13, "complex128": 1e-12}
LEAST = {"float16": 7e-5, "bfloat16": 2e-38, "float32": 2e-38, "complex64": 2e-38}

#: Functions of complex numbers, each part of which is exact near 0.
NEAR_ZERO = [lax.log1p, lax.sin, lax.tan, lax.tanh, lax.asin, lax.asinh, lax.atanh]

#: For XLA: to compile fast.
ELIMINATE = decompositions._ELIMINATE
SUBSTITUTE = decompositions._SUBSTITUTE
QUICK = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}

#: Primitives that a test has run through their rule.
SEEN: set[str] = set()

#: Checks of the test that runs: their programs and arrays, and what the interpreter gave.
CHECKS: list[tuple] = []

#: Not empty while the tests are run for the primitives that they check.
TRACING: list[bool] = []


def traced(function, *arrays):
    jaxpr = in_x64(jax.make_jaxpr(function), *arrays)
    SEEN.update(names(jaxpr.jaxpr))
    return jaxpr


def plan_of(function, *arrays) -> Interpreted:
    return in_x64(Interpreted, traced(function, *arrays))


def compiled(function, *arrays):
    """XLA's results, of code that is made fast and not fast."""
    return in_x64(jax.jit(function, compiler_options=QUICK), *arrays)


def agree(got, wanted, times=1.0, absolute=0.0):
    assert type(got) is np.ndarray
    assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
    if got.dtype.kind not in "fcV" or got.dtype == jax.dtypes.float0:
        np.testing.assert_array_equal(got, wanted)
        return
    wide, name = np.complex128 if got.dtype.kind == "c" else np.float64, got.dtype.name
    relative = times * TOLERANCE[name]
    least = LEAST.get(name, 1e-300) + absolute * relative
    got, wanted = got.astype(wide), wanted.astype(wide)
    np.testing.assert_allclose(got, wanted, relative, least)


def check(function, *arrays, times=1.0, absolute=0.0, alone=0):
    """The interpreter's results, dtypes and shapes are XLA's, and inputs stay as they are. alone:
    how many primitives have no rule; then nothing is run."""
    arrays = [np.asarray(x) for x in arrays]
    before = [x.tobytes() for x in arrays]
    jaxpr = traced(function, *arrays)
    plan = in_x64(Interpreted, jaxpr)
    if TRACING:
        return
    assert plan.compiled_alone == alone
    assert 0 < plan.seconds < 1
    if alone:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = plan(arrays)
    CHECKS.append((jaxpr, arrays, got, times, absolute))
    assert [x.tobytes() for x in arrays] == before


@pytest.fixture(autouse=True)
def compared():
    CHECKS.clear()
    yield
    compare()


def compare():
    """XLA computes in one program what the interpreter gave in all checks so far: to compile a
    program for each takes longer. At the end of a test."""
    if not CHECKS:
        return
    jaxprs, given, *_ = zip(*CHECKS)
    functions = [jaxpr_as_fun(jaxpr) for jaxpr in jaxprs]
    all_wanted = compiled(lambda given: [f(*xs) for f, xs in zip(functions, given)], given)
    for (jaxpr, _, found, *tolerance), wanted in zip(CHECKS, all_wanted, strict=True):
        try:
            for one, other in zip(found, wanted, strict=True):
                agree(one, np.asarray(other), *tolerance)
        except AssertionError as error:
            error.add_note(f"of {jaxpr}")
            raise
    CHECKS.clear()


def each(functions, *arrays, times=1.0, absolute=0.0):
    """All functions in one program: a call each would be compiled each."""
    check(lambda *xs: [f(*xs) for f in functions], *arrays, times=times, absolute=absolute)


def numbers(dtype, *shape, low=0.3, high=0.9):
    random = np.random.default_rng(sum(shape))
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        return random.integers(0, 100, shape).astype(dtype)
    x = random.uniform(low, high, shape)
    return (x + 1j * random.uniform(low, high, shape) if dtype.kind == "c" else x).astype(dtype)


# -- element by element ----------------------------------------------------------------------------


def edges(dtype):
    """Numbers at which functions are special."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.array([info.min, info.max, 0, 1, 2, 3, 7, info.max - 1, info.max // 3], dtype)
    if dtype.kind == "c":
        parts = [-2.0, -0.5, 0.3, 1.0, 3.0]
        return np.array([complex(a, b) for a in parts for b in parts], dtype)
    many = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.3, 7.0, -7.0, 30.0, 1e4]
    return np.array([*many, np.inf, -np.inf, np.nan], dtype)


def pairs(dtype):
    a, b = np.meshgrid(edges(dtype), edges(dtype))
    return a.ravel(), b.ravel()


OF_FLOATS = [
    *(lax.floor, lax.ceil, lax.sqrt, lax.rsqrt, lax.exp, lax.exp2, lax.log, lax.log1p, lax.expm1),
    *([lax.log2] if hasattr(lax, "log2") else []),  # since JAX 0.12
    *(lax.sin, lax.cos, lax.tan, lax.asin, lax.acos, lax.atan, lax.asinh, lax.acosh, lax.cbrt),
    *(lax.tanh, lax.atanh, lax.logistic, lax.is_finite, lax.round),
    *(lax.square, lax.neg, lax.abs, lax.sign),
    *([lax.one_minus_square] if hasattr(lax, "one_minus_square") else ()),
    partial(lax.round, rounding_method=lax.RoundingMethod.TO_NEAREST_EVEN),
    *[partial(lax.integer_pow, y=y) for y in (0, 1, 2, 3, 5, -1, -2, -3)],
    *([] if special.OF_EACH is None else (lax.erf, lax.erfc, lax.erf_inv)),
]


@pytest.mark.part
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_functions_of_floats(dtype):
    each(OF_FLOATS, edges(dtype), times=6)
    small = edges(dtype)[np.abs(edges(dtype).astype(float)) <= 30]
    of_c = [] if special.OF_EACH is None else [lax.lgamma]
    each([lax.sinh, lax.cosh, *of_c], small, times=20, absolute=1)
    check(lax.digamma, small[small != 0], times=20, absolute=1)  # -inf at 0 since JAX 0.12
    if special.OF_EACH is not None:
        each([lax.bessel_i0e, lax.bessel_i1e], edges(dtype))


@pytest.mark.skipif(special.OF_SETS is None, reason="is of the C code")
def test_special_functions_of_sets():
    """XLA compiles each for a second; tests of the kernel compare more values of float32."""
    a, x = numbers(np.dtype("float64"), 2, 2, 20, high=7)
    each([lax.igamma, lax.igammac, lax.igamma_grad_a], a, x, times=1000)
    each([lambda a, x: lax.zeta(a + 1, x), lambda a, x: lax.betainc(a, a, x / 8)], a, x, times=1000)
    ends = np.array([np.nan, -np.inf, -1.5, -1.0, -0.0, 0.0, 1.0, 2.5, np.inf], np.float32)
    each([lax.igamma, lax.zeta], *(x.ravel() for x in np.meshgrid(ends, ends)), times=50)
    small, wide = a.astype("float16"), a.astype("float32")
    plan = plan_of(lax.igamma, small, small)
    agree(plan([small, small])[0], special.SPECIAL["igamma"](wide, wide).astype("float16"))
    for wrong in ((7, a, a[0]), (-1, a, a[0]), (0, a[0], a[0]), (5, a, a), (0, a, wide[0])):
        with pytest.raises(ValueError, match="not a special function and floats"):
            special.OF_SETS(*wrong)


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_functions_of_complex_numbers(dtype):
    functions = [lax.exp, lax.log, lax.sqrt, lax.sin, lax.cos, lax.tanh, lax.logistic, lax.abs]
    functions += [lax.sign, lax.neg, lax.conj, lax.real, lax.imag, lax.square, lax.log1p, lax.rsqrt]
    functions += [partial(lax.integer_pow, y=y) for y in (3, -2)]
    each(functions, edges(dtype), times=10, absolute=1)
    small = [
        lambda x, f=f, part=part: part(f(x)) for f in NEAR_ZERO for part in (lax.real, lax.imag)
    ]
    each(small, edges(dtype) * dtype.type(1e-9), times=10)
    check(lax.log1p, edges(dtype)[3])
    two = [lax.add, lax.sub, lax.mul, lax.div, lax.eq, lax.ne, lax.pow]
    each(two, *pairs(dtype), times=40, absolute=1)
    real = edges(np.dtype(f"f{dtype.itemsize // 2}"))
    check(lambda x, y: lax.complex(x, y), real, real[::-1])
    check(lambda x: lax.conj(x), real)


@pytest.mark.part
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_floats_in_pairs(dtype):
    functions = [lax.add, lax.sub, lax.mul, lax.div, lax.max, lax.min, lax.rem, lax.atan2]
    functions += [lax.eq, lax.ne, lax.lt, lax.le, lax.gt, lax.ge]
    each(functions, *pairs(dtype), times=4)
    x, y = pairs(dtype)
    check(lambda x, y: lax.nextafter(x, y), x[x != 0], y[x != 0])
    n = np.arange(x.size, dtype=np.int32) % 7 - 3
    check(lambda x, n: lax.pow(x, n), x, n, times=4)
    check(lambda low, x, high: lax.clamp(low, x, high), x, y, x[::-1].copy())
    check(lambda x: lax.clamp(np.array(0, dtype), x, np.array(2, dtype)), x)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_pow(dtype):
    x, y = pairs(dtype)
    moderate = np.abs(np.where(np.isfinite(y), y, 0).astype(float)) <= 30
    check(lax.pow, x[moderate], y[moderate], times=20)


@pytest.mark.part
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integers(dtype):
    x = edges(dtype)
    one = [lax.neg, lax.abs, lax.sign, lax.bitwise_not, lax.population_count, lax.clz, lax.square]
    each([f for f in one if dtype.kind == "i" or f is not lax.abs], x)
    each([partial(lax.integer_pow, y=y) for y in (0, 1, 2, 3, 7)], x)
    two = [lax.add, lax.sub, lax.mul, lax.div, lax.rem, lax.max, lax.min, lax.eq, lax.lt, lax.ge]
    two += [lax.bitwise_and, lax.bitwise_or, lax.bitwise_xor]
    each(two, *pairs(dtype))
    bits = dtype.itemsize * 8
    by = np.array([0, 1, bits - 1, bits, bits + 1, 100], dtype)
    by = np.append(by, -np.ones(2, dtype)) if dtype.kind == "i" else by
    a, b = (g.ravel() for g in np.meshgrid(x, by))
    each([lax.shift_left, lax.shift_right_arithmetic, lax.shift_right_logical], a, b)


def test_booleans():
    each([lax.bitwise_and, lax.bitwise_or, lax.bitwise_xor, lax.max, lax.min, lax.eq], *pairs(BOOL))
    check(lambda x: lax.bitwise_not(x), edges(BOOL))


@pytest.mark.parametrize("name", ["lt_to", "le_to", "eq_to"])
def test_total_order(name):
    primitive = getattr(primitives, f"{name}_p", None)
    if primitive is None:
        pytest.skip("this JAX has no such primitive")
    for dtype in (np.dtype("float32"), np.dtype("int32")):
        check(lambda x, y: primitive.bind(x, y), *pairs(dtype))


@pytest.mark.parametrize("old", [*KINDS, np.dtype("float16"), np.dtype("float64")], ids=str)
def test_conversions(old):
    x = edges(old)
    if old.kind in "fV":
        x = np.append(x, np.array([255.5, 256, 3e4, -129.7, -0.9], old))
    if old == np.float64:
        x = np.append(x, [1e10, -1e20, 9.3e18, 1.8e19, 2e19])
    new = [d for d in ALL if old.kind != "c" or d.kind == "c"]
    each([partial(lax.convert_element_type, new_dtype=d) for d in new], x)


def test_bits_of_floats():
    x = edges(np.dtype("float32"))
    check(lambda x: lax.bitcast_convert_type(x, np.int32), x)
    check(lambda x: lax.bitcast_convert_type(x, np.uint16), edges(FLOATS[-1]))
    check(lambda x: lax.bitcast_convert_type(x, np.uint8), x, alone=1)
    check(lambda x: lax.reduce_precision(x, 5, 10), x)
    check(lambda x: lax.reduce_precision(x, 8, 23), x)
    check(lambda x: lax.reduce_precision(x, 8, 7), x, alone=1)


@pytest.mark.part
@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_select(dtype):
    x = numbers(dtype, 2, 3)
    check(lambda p, x, y: lax.select_n(p, x, y), x > 0.5 if dtype != BOOL else x, x, x[::-1])
    check(lambda p, x, y: lax.select_n(p, x, y), np.True_, x, x[::-1])
    which = np.array([[0, 1, 2], [2, 1, 0]], np.int32)
    check(lambda p, x, y, z: lax.select_n(p, x, y, z), which, x, x[::-1], x[:, ::-1])
    check(lambda p, x: lax.select_n(p, x), np.False_, x)


# -- moving ----------------------------------------------------------------------------------------

MOVES = [
    lambda x: lax.broadcast_in_dim(x, (4, 2, 3), (1, 2)),
    lambda x: lax.broadcast_in_dim(x, (2, 3, 1), (0, 1)),
    lambda x: lax.broadcast_in_dim(x[:1], (5, 3), (0, 1)),
    lambda x: lax.broadcast_in_dim(x.T, (3, 2, 2), (0, 2)),
    lambda x: lax.broadcast_in_dim(x[0, 0], (2, 0), ()),
    lambda x: lax.reshape(x, (3, 2)),
    lambda x: lax.reshape(x, (6,), (1, 0)),
    lambda x: lax.squeeze(x[:1], (0,)),
    lambda x: lax.expand_dims(x, (0, 2)),
    lambda x: lax.transpose(x, (1, 0)),
    lambda x: lax.rev(x, (1,)),
    lambda x: lax.concatenate([x, x[:, :1], x], 1),
    lambda x: lax.split(x, (1, 2), 1),
    lambda x: jnp.unstack(x, axis=1),
    lambda x: jnp.stack([x, x], 1),
    lambda x: jnp.tile(x, (2, 3)),
    lambda x: lax.slice(x, (0, 1), (2, 3)),
    lambda x: lax.slice(x, (0, 0), (2, 3), (1, 2)),
    *[
        lambda x, c=config: lax.pad(x, x[0, 0], c)
        for config in (
            ((1, 2, 0), (0, 0, 0)),
            ((-1, 2, 0), (1, -2, 0)),
            ((1, 0, 2), (-1, -1, 1)),
            ((-2, 0, 0), (0, 1, 0)),
            ((-3, 4, 0), (0, 1, 3)),
            ((3, -4, 1), (-4, 9, 2)),
        )
    ],
    lambda x: lax.optimization_barrier((x, x)),
    lambda x: lax.stop_gradient(x),
    lambda x: jnp.copy(x),
    lambda x: jax.device_put(x),
    lambda x: checkpoint_name(x, "x"),
]


@pytest.mark.part
@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_moves(dtype):
    each(MOVES, numbers(dtype, 2, 3))
    each(MOVES[5:16], numbers(dtype, 2, 3)[:, ::-1].T.copy().T)  # not contiguous


def test_moves_of_nothing():
    each([MOVES[1], MOVES[9], MOVES[10], MOVES[11]], np.zeros((2, 3)))
    check(lambda x: (lax.rev(x, (0,)), lax.pad(x, 1.0, ((2, 1, 1),)), x[:0]), np.zeros(0))


def test_iota():
    dtypes = [*FLOATS, *COMPLEX, *INTEGERS]
    check(lambda: [lax.broadcasted_iota(dtype, (2, 3, 2), 1) for dtype in dtypes])
    check(lambda: [lax.broadcasted_iota(dtype, (100, 100), 0) for dtype in dtypes])


def test_dynamic_slices():
    x = np.arange(20.0).reshape(4, 5)
    for i, j in ((-9, 1), (0, 100), (2, 1), (9, 100)):
        cut = lambda x, i, j: lax.dynamic_slice(x, (i, j), (2, 3))
        update = lambda x, i, j: lax.dynamic_update_slice(x, -x[:2, :3], (i, j))
        each([cut, update], x, np.int32(i), np.int32(j))


def test_values_move_unchanged():
    """Bits of NaNs and the sign of zeros too."""
    bits = np.array([0x7FC00001, 0xFFC00000, 0x80000000, 1], np.uint32)
    plan = plan_of(lambda x: lax.rev(jnp.concatenate([x, x])[None], (0,)), bits.view(np.float32))
    np.testing.assert_array_equal(plan([bits.view(np.float32)])[0].view(np.uint32)[0, :4], bits)


# -- gather and scatter ----------------------------------------------------------------------------

MODES = ["clip", "fill", "promise_in_bounds"]
INDICES = np.array([[0, 3], [2, -1], [9, 1], [-1, 0], [1, 2]], np.int32)


@pytest.mark.part
@pytest.mark.parametrize("dtype", [*KINDS, np.dtype("float64")], ids=str)
def test_gather(dtype):
    x = numbers(dtype, 4, 5, 3)

    def function(x, i, mode):
        at = lambda *index: x.at[index].get(mode=mode)
        inner = jax.vmap(lambda row, j: row.at[j].get(mode=mode))(x, i[:4])
        columns = at(slice(None), i[:, 0]), at(slice(None), slice(None), i)
        return at(i), at(i[:, 0], i[:, 1]), at(i[:, 0], slice(None), i[:, 1]), inner, *columns

    for mode in MODES[:2]:
        check(partial(function, mode=mode), x, INDICES)
    check(partial(function, mode=MODES[2]), x, np.abs(INDICES) % 3)


def dimensions(**kwargs):
    return lax.GatherDimensionNumbers(**kwargs)


@pytest.mark.parametrize("mode", MODES)
def test_gather_of_windows(mode):
    x = np.arange(60.0).reshape(4, 5, 3)
    i = INDICES if mode != "promise_in_bounds" else np.abs(INDICES) % 3
    one = dimensions(offset_dims=(0, 2), collapsed_slice_dims=(1,), start_index_map=(0, 1))
    two = dimensions(offset_dims=(1, 2, 3), collapsed_slice_dims=(), start_index_map=(1, 0))
    check(lambda x, i: lax.gather(x, i, one, (2, 1, 2), mode=mode), x, i)
    check(lambda x, i: lax.gather(x, i, two, (2, 3, 3), mode=mode), x, i)
    check(lambda x, i: lax.gather(x, i, two, (2, 3, 3), mode=mode), x, i.astype(np.uint8))
    check(lambda x, i: lax.gather(x, i, two, (2, 3, 3), mode=mode), x, i.astype(np.int64))
    check(lambda x, i: lax.gather(x, i, two, (2, 3, 0), mode=mode), x, i)


def test_gather_fills():
    fill = lambda x, i: x.at[i].get(mode="fill", fill_value=7)
    check(fill, np.arange(3.0), INDICES)
    check(fill, np.arange(3), INDICES)


@pytest.mark.part
@pytest.mark.parametrize("dtype", [*KINDS, np.dtype("float64")], ids=str)
def test_scatter(dtype):
    x, rows, elements = numbers(dtype, 4, 5), numbers(dtype, 5, 5), numbers(dtype, 5)
    clear = np.array([0, 3, 9, -1, 1], np.int32)  # not one twice: what `set` does then is open
    hows = ["set"] if dtype.kind in "bc" else ["set", "add", "mul", "min", "max"]

    def function(x, rows, elements, i):
        found = []
        for how, mode in itertools.product(hows, ("clip", "drop", "promise_in_bounds")):
            j = i if mode == "drop" else jnp.where(i > 4, 2, i)
            apply = lambda *index, m=mode, how=how: partial(getattr(x.at[index], how), mode=m)
            found += [apply(j)(rows[:, :5]), apply(j, j)(elements)]
            found += [apply(slice(None), j[:3])(rows[:4, :3])]
        return found

    check(function, x, rows, elements, clear, times=4)


def test_scatter_twice_at_one_place():
    x, i = np.zeros((3, 2)), np.array([1, 1, 0, 1, 7])
    u = np.arange(10.0).reshape(5, 2) + 1
    check(lambda x, i, u: [x.at[i].add(u), (x + 1).at[i].mul(u), x.at[i].max(u)], x, i, u)
    check(lambda x, i, u: [x.at[i].subtract(u), x.at[i].set(u)], x, i, u)
    check(lambda x, i, u: x.at[i[:0]].add(u[:0]), x, i, u)


def test_scatter_of_windows_and_batches():
    x, u, i = np.zeros((4, 5, 3)), np.arange(40.0).reshape(5, 2, 4) + 1, INDICES
    numbers = lax.ScatterDimensionNumbers((1, 2), (2,), (0, 1))
    for mode in ("clip", "drop"):
        check(lambda x, i, u, m=mode: lax.scatter_add(x, i, u, numbers, mode=m), x, i, u)
    rows = jax.vmap(lambda row, j, v: row.at[j].add(v))
    check(rows, x, np.abs(INDICES[:4]), np.arange(24.0).reshape(4, 2, 3))


# -- reductions ------------------------------------------------------------------------------------


def reduced(dtype, axes):
    functions = [lax.reduce_max, lax.reduce_min, lax.reduce_sum, lax.reduce_prod]
    if dtype.kind == "c":
        functions = functions[2:]
    if dtype == BOOL:
        functions = [*functions[:2], lax.reduce_and, lax.reduce_or]
    if dtype.kind in "iu":
        functions += [lax.reduce_and, lax.reduce_or, lax.reduce_xor]
    return [partial(function, axes=axes) for function in functions]


@pytest.mark.part
@pytest.mark.parametrize("dtype", [*KINDS, np.dtype("float16"), np.dtype("float64")], ids=str)
def test_reductions(dtype):
    x = numbers(dtype, 3, 4, 2)
    every = [f for axes in ((0,), (1, 2), (0, 1, 2), ()) for f in reduced(dtype, axes)]
    each(every, x, times=4)
    each(reduced(dtype, (0,)), edges(dtype) if dtype.kind in "iub" else x[0])
    each(reduced(dtype, (1,)), np.zeros((2, 0, 3), dtype))


@pytest.mark.part
@pytest.mark.parametrize("dtype", [*KINDS, np.dtype("float64")], ids=str)
@pytest.mark.parametrize("shape", [(40, 13, 9), (5000, 3), (37, 128), (4, 4, 4, 20, 5)], ids=str)
def test_reductions_of_many_short_rows(shape, dtype):
    x = numbers(dtype, *shape)
    axes = tuple(range(len(shape) - 1))
    functions = [f for f in reduced(dtype, axes) if f.func is not lax.reduce_prod]
    each(functions, x, times=1000)
    # The same of arrays whose elements lie in another order.
    turned = np.moveaxis(x, -1, 0)
    each([lambda x, f=f: f(jnp.moveaxis(x, 0, -1)) for f in functions], turned, times=1000)


def test_sums_of_narrow_floats_are_wide():
    """Wider than XLA's, which has 996.5."""
    x = np.full(10_000, 0.1, np.float16)
    assert plan_of(lambda x: lax.reduce_sum(x, (0,)), x)([x])[0] == 1000
    check(lambda x: x @ x, np.full((500, 500), 0.1, ml_dtypes.bfloat16))


def test_reductions_of_not_a_number():
    for x in ([1.0, np.nan, 3.0], [np.nan], [-np.inf, np.inf]):
        each(reduced(np.dtype("float32"), (0,)), np.array(x, np.float32))


@pytest.mark.part
@pytest.mark.parametrize("dtype", [d for d in KINDS if d.kind != "c"], ids=str)
def test_argmax(dtype):
    x = numbers(dtype, 3, 4)
    both = lambda x: [f(x, a, np.int32) for f in (lax.argmax, lax.argmin) for a in (0, 1)]
    check(both, x)
    check(lambda x: (lax.argmax(x, 0, np.int64), lax.argmin(x, 0, np.uint8)), edges(dtype))


@pytest.mark.part
@pytest.mark.parametrize("dtype", [d for d in KINDS if d != BOOL], ids=str)
def test_running(dtype):
    x = numbers(dtype, 3, 4)
    functions = [lax.cumsum, lax.cumprod]
    if dtype.kind != "c":
        functions += [lax.cummax, lax.cummin]
    if dtype.kind == "f":
        functions += [lax.cumlogsumexp]
    turns = itertools.product(functions, (0, 1), (False, True))
    each([partial(f, axis=a, reverse=r) for f, a, r in turns], x, times=8)
    if dtype.kind == "f":
        each(functions[2:], np.array([-np.inf, 1.0, np.nan, 2.0], dtype))
    each([f for f in functions if f is not lax.cumlogsumexp], np.zeros(0, dtype))


@pytest.mark.part
@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_sort(dtype):
    x = np.tile(edges(dtype), 3)[:24]
    place = np.arange(x.size, dtype=np.int32)
    check(lambda x: [lax.sort(x), lax.sort(x.reshape(2, -1)[:, :1], dimension=0)], x)
    check(lambda x, i: lax.sort((x, i), num_keys=1), x, place)
    check(lambda x, y, i: lax.sort((x, y, i), num_keys=2), x, x[::-1].copy(), place)


@pytest.mark.parametrize("dtype", [d for d in KINDS if d.kind != "c" and d != BOOL], ids=str)
def test_top_k(dtype):
    x = np.concatenate([edges(dtype), edges(dtype)[::-1]])
    check(lambda x: [*lax.top_k(x, 1), *lax.top_k(x, 7), *lax.top_k(x, x.size)], x)
    check(lambda x: lax.top_k(x.reshape(2, -1), 3), x)


# -- windows ---------------------------------------------------------------------------------------

WINDOWS = [
    ((2, 2), (2, 2), "VALID", (1, 1), (1, 1)),
    ((3, 2), (1, 2), "SAME", (1, 1), (1, 1)),
    ((2, 3), (2, 1), ((1, 2), (0, 3)), (1, 2), (2, 1)),
    ((1, 1), (1, 1), "VALID", (1, 1), (1, 1)),
    ((2, 2), (1, 1), ((-1, 0), (1, -1)), (1, 1), (1, 1)),
    ((9, 1), (1, 1), "VALID", (1, 1), (1, 1)),
]


@pytest.mark.parametrize("dtype", [np.dtype("float32"), np.dtype("int32"), FLOATS[-1]], ids=str)
def test_windows(dtype):
    x = numbers(dtype, 5, 6)
    low, high = (-np.inf, np.inf) if dtype.kind != "i" else (-(2**31), 2**31 - 1)
    triples = ((lax.add, 0), (lax.max, low), (lax.min, high))

    def function(x):
        return [
            lax.reduce_window(x, np.asarray(start, dtype), reducer, *window)
            for window in WINDOWS
            for reducer, start in triples
        ]

    check(function, x)


# -- products --------------------------------------------------------------------------------------

PRODUCTS = [
    ((3, 4), (4, 5), (((1,), (0,)), ((), ()))),
    ((4, 3), (4, 5), (((0,), (0,)), ((), ()))),
    ((3, 4), (5, 4), (((1,), (1,)), ((), ()))),
    ((4, 3), (5, 4), (((0,), (1,)), ((), ()))),
    ((3, 4), (3, 4), (((0, 1), (0, 1)), ((), ()))),
    ((3, 4), (4, 3), (((0, 1), (1, 0)), ((), ()))),
    ((3,), (4,), (((), ()), ((), ()))),
    ((3,), (3,), (((0,), (0,)), ((), ()))),
    ((), (2, 3), (((), ()), ((), ()))),
    ((2, 3, 4), (2, 4, 5), (((2,), (1,)), ((0,), (0,)))),
    ((3, 2, 4), (4, 5, 2), (((2,), (0,)), ((1,), (2,)))),
    ((2, 3), (2, 3), (((), ()), ((0, 1), (0, 1)))),
    ((2, 3, 4), (4, 3, 5), (((1, 2), (1, 0)), ((), ()))),
    ((3, 0), (0, 5), (((1,), (0,)), ((), ()))),
    ((0, 3), (3, 5), (((1,), (0,)), ((), ()))),
]


@pytest.mark.part
@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_products(dtype):
    for left, right, dimension_numbers in PRODUCTS if dtype == np.float64 else PRODUCTS[:11:2]:
        product = partial(lax.dot_general, dimension_numbers=dimension_numbers)
        check(product, numbers(dtype, *left), numbers(dtype, *right), times=4)


@pytest.mark.part
@pytest.mark.parametrize("signed", ["u", ""])
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_products_of_integers_wrap(bits, signed):
    """Of small ones, of those whose products are not exact in float64, and at the ends."""
    dtype = np.dtype(f"{signed}int{bits}")
    ends, random = np.iinfo(dtype), np.random.default_rng(bits)
    for most in (100, 2**20, ends.max):
        low, high = max(ends.min, -most), min(ends.max, most)
        x, y = [
            random.integers(low, high, (2, n, m), dtype, endpoint=True)
            for n, m in ((9, 60), (60, 40))
        ]
        x[0, 0], y[0, :, 0] = ends.max, ends.min
        x[1, 1], y[1, :, 1] = ends.min, ends.min
        check(lambda x, y: lax.dot_general(x, y, PRODUCTS[0][2]), x[0], y[0])
        check(lambda x, y: lax.dot_general(x.T, y.T, PRODUCTS[0][2]), y[1], x[1])
        check(lambda x, y: lax.dot_general(x, y, (((2,), (1,)), ((0,), (0,)))), x, y)


def test_deep_products_of_integers():
    """No sum of halves is inexact: the upper ones have a sign, the lower ones are all ones."""
    depth = products.DEEPEST
    for dtype in (np.int32, np.uint32):
        for number in (np.iinfo(dtype).min, np.iinfo(dtype).max, -1 & 0x7FFFFFFF):
            x = np.full((1, depth), number, dtype)
            wanted = np.array(int(number) ** 2 * depth % 2**32, np.uint32).astype(dtype)
            assert products.integer_product(x, x.T) == wanted
    x = np.full((1, 2 * depth), 0x7FFFFFFF, np.int32)
    assert products.integer_product(x, x.T) == np.matmul(x, x.T)


@pytest.mark.parametrize(
    ("dtype", "wide"), [("int8", "int32"), ("bfloat16", "float32"), ("float32", "float64")]
)
def test_products_of_a_wider_dtype(dtype, wide):
    x = numbers(np.dtype(dtype), 4, 4)
    check(lambda x: lax.dot_general(x, x, PRODUCTS[0][2], preferred_element_type=wide), x)


NHWC = ("NHWC", "HWIO", "NHWC")
CONVOLUTIONS = [
    ((2, 5, 6, 3), (3, 2, 3, 4), {"padding": "SAME", "dimension_numbers": NHWC}),
    ((2, 3, 5, 6), (4, 3, 3, 2), {"padding": "VALID", "window_strides": (2, 1)}),
    ((2, 3, 5, 6), (4, 3, 2, 2), {"padding": ((1, 2), (-1, 0)), "rhs_dilation": (2, 1)}),
    ((2, 3, 5, 6), (4, 3, 2, 2), {"padding": ((1, 1), (2, 0)), "lhs_dilation": (2, 3)}),
    ((2, 4, 5, 6), (6, 2, 2, 2), {"padding": "VALID", "feature_group_count": 2}),
    ((2, 4, 5, 6), (4, 1, 2, 2), {"padding": "VALID", "feature_group_count": 4}),
    ((4, 3, 5, 6), (6, 3, 2, 2), {"padding": "VALID", "batch_group_count": 2}),
    ((2, 3, 7), (4, 3, 3), {"padding": "SAME", "window_strides": (2,)}),
    ((1, 2, 3, 4, 5), (2, 2, 2, 2, 2), {"padding": "SAME", "window_strides": (1, 2, 1)}),
    ((2, 3), (4, 3), {"padding": (), "window_strides": ()}),
    ((2, 3, 2), (4, 3, 5), {"padding": "VALID", "window_strides": (1,)}),
]


@pytest.mark.part
@pytest.mark.parametrize("block", [convolutions.BLOCK, 1])
@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
def test_convolutions(case, block):
    left, right, options = case
    options = {"window_strides": (1,) * (len(left) - 2)} | options
    x, w = numbers(np.dtype("float64"), *left), numbers(np.dtype("float64"), *right)
    convolve = partial(lax.conv_general_dilated, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(convolutions, "BLOCK", block)
        check(convolve, x, w, times=4)
        if len(left) == 4:
            check(jax.grad(lambda x, w: jnp.sum(convolve(x, w) ** 2), (0, 1)), x, w, times=4)


HWIO = ("NHWC", "HWIO", "NHWC")

#: How many kernels do the convolution, and that with its two derivatives.
KERNEL_CALLS = [
    *[(*case, 1, 3) for case in CONVOLUTIONS[:3]],
    (*CONVOLUTIONS[3], 1, 2),  # the derivative by the kernel is of images that lie apart
    (*CONVOLUTIONS[4], 1, 3),
    (*CONVOLUTIONS[5], 1, 3),
    (*CONVOLUTIONS[6], 1, 3),
    *[(*case, 1, 3) for case in CONVOLUTIONS[7:9]],
    ((3, 9, 8, 5), (3, 3, 5, 8), {"padding": "SAME", "dimension_numbers": HWIO}, 1, 3),
    (
        (3, 9, 8, 5),
        (3, 2, 5, 8),
        {"padding": "SAME", "dimension_numbers": HWIO, "window_strides": (3, 2)},
        1,
        3,
    ),
    (
        (2, 9, 8, 37),
        (3, 3, 1, 37),
        {"padding": "SAME", "dimension_numbers": HWIO, "feature_group_count": 37},
        1,
        3,
    ),
    (
        (2, 7, 8, 9),
        (3, 2, 1, 27),
        {
            "padding": ((2, 0), (0, -1)),
            "dimension_numbers": HWIO,
            "feature_group_count": 9,
            "window_strides": (2, 2),
        },
        1,
        3,
    ),
    (  # the derivative by the kernels of as many images, as `vmap` makes it
        (6, 6, 7, 4),
        (1, 6, 7, 24),
        {
            "padding": ((1, 1), (1, 1)),
            "dimension_numbers": ("CHWN", "IHWO", "HWNC"),
            "feature_group_count": 6,
        },
        1,
        3,
    ),
]


@pytest.mark.part
@pytest.mark.skipif(not convolutions.WIDTH, reason="no kernels for this processor")
@pytest.mark.parametrize("case", KERNEL_CALLS, ids=str)
def test_convolutions_by_kernels(case):
    left, right, options, forward, all_three = case
    options = {"window_strides": (1,) * (len(left) - 2)} | options
    x, w = numbers(np.dtype("float32"), *left), numbers(np.dtype("float32"), *right)
    convolve = partial(lax.conv_general_dilated, **options)
    kernels, called = convolutions.KERNELS, []

    class Counting:
        @staticmethod
        def compute(*arguments):
            called.append(arguments[0])
            return kernels.compute(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(convolutions, "KERNELS", Counting)
        check(convolve, x, w, times=64)
        assert len(called) == forward
        compare()  # beside it, XLA's gradient is wrong where padding is below 0 (jaxlib 0.10)
        called.clear()
        check(jax.grad(lambda x, w: jnp.sum(convolve(x, w) ** 2), (0, 1)), x, w, times=64)
        assert len(called) == all_three


def test_convolutions_of_other_dtypes():
    for dtype in (np.dtype("float32"), FLOATS[-1], np.dtype("int32"), np.dtype("complex64")):
        x, w = numbers(dtype, 2, 3, 7), numbers(dtype, 4, 3, 3)
        check(lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME"), x, w, times=4)


# -- matrices --------------------------------------------------------------------------------------


@pytest.mark.part
@pytest.mark.skipif(SUBSTITUTE is None, reason="is of the C code")
@pytest.mark.parametrize("dtype", [np.dtype("float64"), np.dtype("complex128")], ids=str)
@pytest.mark.parametrize("n", [1, 3, 21])
def test_triangular_systems(n, dtype):
    a = numbers(dtype, 2, n, n) + 3 * n * np.eye(n)
    b = numbers(dtype, 2, n, n + 1)

    def function(a, b):
        solve = jax.lax.linalg.triangular_solve
        flags = itertools.product((True, False), repeat=5)
        names = "left_side", "lower", "transpose_a", "conjugate_a", "unit_diagonal"
        found = []
        for values in flags:
            options = dict(zip(names, values))
            found.append(solve(a, b if options["left_side"] else b.swapaxes(1, 2), **options))
        return found[:: 1 if n == 3 else 5]

    check(function, a / (3 * n), b, times=100)


def test_triangular_systems_without_an_answer():
    a, b = np.array([[0.0, 0.0], [1.0, 2.0]]), np.ones((2, 1))
    solve = partial(lax.linalg.triangular_solve, left_side=True, lower=True)
    check(solve, a, b, alone=int(SUBSTITUTE is None))
    check(solve, a, b[:, :0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decompositions, "_MOST_ROWS", 1)
        check(solve, a, b, alone=1)


def test_cholesky():
    x = numbers(np.dtype("float64"), 2, 4, 4)
    x = x @ x.swapaxes(1, 2) + np.eye(4)
    x[1, 0, 0] = -1
    check(lambda x: lax.linalg.cholesky(x), x, times=10)
    check(lambda x: lax.linalg.cholesky(x), x[0].astype(np.complex64), times=10)


def test_lu_and_qr():
    for dtype, shape in itertools.product(("float64", "complex128"), ((4, 4), (2, 3, 5), (5, 3))):
        x = numbers(np.dtype(dtype), *shape)
        reduced = partial(lax.linalg.qr, full_matrices=False)
        each([lax.linalg.qr, reduced], x, times=100, absolute=1)
        check(lax.linalg.lu, x, times=100, absolute=1, alone=int(ELIMINATE is None))
    check(lambda x: lax.linalg.lu(x), np.zeros((2, 2)), alone=int(ELIMINATE is None))
    solve = jax.grad(lambda a, b: jnp.sum(jnp.linalg.solve(a, b) ** 2), (0, 1))
    x = numbers(np.dtype("float64"), 3, 3)
    alone = 5 if ELIMINATE is None else 0
    check(solve, x + 3 * np.eye(3), x[0], times=100, alone=alone)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_eigenvectors_and_singular_vectors(dtype):
    """They are XLA's to the last bit, and so have its signs: LAPACK is the same."""
    x = np.stack([numbers(np.dtype(dtype), 5, 5, low=-1, high=1) for _ in range(3)])
    x[1, 0, 2] = np.nan
    x[2] = np.eye(5)
    for function in (
        partial(lax.linalg.eigh, symmetrize_input=False),
        partial(lax.linalg.eigh, symmetrize_input=False, lower=False),
        lambda x: jnp.linalg.svd(x[:, :3]),
        lambda x: jnp.linalg.svd(x[..., :2], full_matrices=False),
        lambda x: jnp.linalg.svd(x, compute_uv=False),
        jnp.linalg.eig,
        jnp.linalg.eigvals,
    ):
        check(function, x, times=0.0)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_schur_and_tridiagonal_systems(dtype):
    """To the last bit."""
    x = np.stack([numbers(np.dtype(dtype), 5, 5, low=-1, high=1) for _ in range(3)])
    lines = [x[..., i].copy() for i in range(3)]
    for line in lines:
        line[1, 0] = 0  # no solution
    one_row = [line[:, :1] for line in lines]
    odd = x.copy()
    odd[1, 0, 2], odd[2] = np.nan, np.eye(5)
    solve = lambda rows, b: lax.linalg.tridiagonal_solve(*rows, b)
    schur = lambda x, vectors: lax.linalg.schur(x, compute_schur_vectors=vectors)
    one = lambda odd, x, rows, first: (
        *(schur(odd, True), schur(odd, False)),
        *(solve(rows, x), solve(first, x[:, :1])),
    )
    plan = in_x64(Interpreted, in_x64(jax.make_jaxpr(one), odd, x, lines, one_row))
    SEEN.update(("schur", "tridiagonal_solve"))
    assert plan.compiled_alone == 0
    if not TRACING:
        arrays = jax.tree.leaves((odd, x, lines, one_row))
        wanted = jax.tree.leaves(compiled(one, odd, x, lines, one_row))
        for got, other in zip(plan(arrays), wanted, strict=True):
            np.testing.assert_array_equal(got, other)


def test_parts_of_decompositions_are_left_to_xla():
    x = np.eye(3)
    check(lambda x: jnp.linalg.svd(x, False, True, subset_by_index=(0, 3)), x, alone=1)
    check(lambda x: lax.linalg.eig(x), x, alone=1)
    check(lambda x: lax.linalg.eigh(x), x[:0, :0], alone=1)
    check(lambda x: lax.linalg.schur(x), x[:0, :0], alone=1)
    check(lambda x: lax.linalg.tridiagonal_solve(x[0], x[0], x[0], x[:, :0]), x, alone=1)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_fourier_transforms(dtype):
    x = numbers(np.dtype(dtype), 2, 3, 4)
    real = np.stack([x.real, -x.imag])
    each([jnp.fft.fft, jnp.fft.ifft2, jnp.fft.irfftn, partial(jnp.fft.irfft, n=5)], x, absolute=4)
    each([jnp.fft.rfft, jnp.fft.rfft2, partial(jnp.fft.rfft, n=3)], real, absolute=4)
    check(jnp.fft.irfft, x[..., :1], alone=1)


def eliminated(a):
    """Of matrices [b, m, n]: L and U in one, which row each row was changed for, and the order of
    rows."""
    a, (batch, m, n) = np.array(a), a.shape
    pivots, order = np.empty((batch, min(m, n)), int), np.tile(np.arange(m), (batch, 1))
    each = np.arange(batch)
    for i in range(min(m, n)):
        column = a[:, i:, i]
        pivots[:, i] = j = i + np.argmax(np.abs(column.real) + np.abs(column.imag), 1)
        for rows in (a, order):
            row = rows[:, i].copy()
            rows[:, i] = rows[each, j]
            rows[each, j] = row
        pivot = a[:, i, i, None]
        a[:, i + 1 :, i] /= np.where(pivot == 0, 1, pivot)
        a[:, i + 1 :, i + 1 :] -= a[:, i + 1 :, i, None] * a[:, i, None, i + 1 :]
    return a, pivots, order


@pytest.mark.skipif(ELIMINATE is None, reason="is of the C code")
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_the_kernel_decomposes_as_numpy_does(dtype):
    random = np.random.default_rng(3)
    for shape in ((5, 5), (3, 4, 2), (2, 1, 2, 5)):
        x = random.normal(size=shape) + 1j * random.normal(size=shape)
        x = (x if np.dtype(dtype).kind == "c" else x.real).astype(dtype)
        x[..., 0, 0] = 0.0  # rows change
        x[(1,) * x.ndim if min(x.shape) > 1 else (-1,) * x.ndim] = np.nan
        *lead, rows, columns = shape
        shapes = [shape, (*lead, min(rows, columns)), (*lead, rows)]
        found = decompositions._by_kernel(x, shapes)
        with np.errstate(invalid="ignore"):
            wanted = eliminated(x.reshape(-1, rows, columns))
        for got, known, full in zip(found, wanted, shapes, strict=True):
            np.testing.assert_allclose(got, known.reshape(full), rtol=1e-4, atol=1e-5)


@pytest.mark.skipif(ELIMINATE is None, reason="is of the C code")
def test_the_kernel_takes_matrices_with_room_for_rows():
    x, pivots, order = np.ones((2, 3, 4)), np.empty((2, 3), np.int32), np.empty((2, 3), np.int32)
    ELIMINATE(x, pivots, order)
    for wrong in (
        (x[0], pivots, order),
        (x.astype(np.int64), pivots, order),
        (x.astype(np.float16), pivots, order),
        (x, pivots[:1], order),
        (x, pivots, order[:, :2].copy()),
        (x, pivots.astype(np.int64), order),
        (x, pivots.astype(np.float32), order),
        (x.swapaxes(1, 2), pivots, order),
    ):
        with pytest.raises(ValueError):
            ELIMINATE(*wrong)


def substituted(a, b, lower, unit):
    """The x of a @ x = b, row by row."""
    x = np.zeros_like(b)
    for i in range(len(b[0, 0]))[:: 1 if lower else -1]:
        row = b[..., i, :] - (a[..., i, None, :] @ x)[..., 0, :]
        x[..., i, :] = row if unit else row / a[..., i, i, None]
    return x


@pytest.mark.skipif(SUBSTITUTE is None, reason="is of the C code")
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_the_kernel_solves_as_numpy_does(dtype):
    random = np.random.default_rng(4)
    for n, columns in ((1, 1), (5, 2), (20, 3)):
        a, b = random.normal(size=(2, 3, n, n)), random.normal(size=(2, 3, n, columns))
        if np.dtype(dtype).kind == "c":
            a, b = a + 1j * random.normal(size=a.shape), b + 1j * random.normal(size=b.shape)
        a, b = (a / n + 2 * np.eye(n)).astype(dtype), b.astype(dtype)
        a[0, 0, 0, 0] = 0.0
        for lower, unit in itertools.product((True, False), repeat=2):
            with np.errstate(all="ignore"):
                found = decompositions._solve(a, b, lower, unit)
                wanted = substituted(a, b, lower, unit)
            np.testing.assert_allclose(found[0, 1:], wanted[0, 1:], rtol=1e-4, atol=1e-5)
            finite = np.isfinite(wanted)
            np.testing.assert_array_equal(np.isfinite(found), finite)
            assert finite.all() == unit


@pytest.mark.skipif(SUBSTITUTE is None, reason="is of the C code")
def test_the_kernel_takes_square_matrices_and_rows():
    a, x = np.ones((2, 3, 3)), np.ones((2, 3, 4))
    SUBSTITUTE(a, x, True, True)
    for wrong in (
        (a[:, :2].copy(), x),
        (a[:1], x),
        (a, x[:, :2].copy()),
        (a.astype(np.float32), x),
        (a.astype(np.int64), x.astype(np.int64)),
        (a[0], x[0]),
    ):
        with pytest.raises(ValueError):
            SUBSTITUTE(*wrong, True, True)
    with pytest.raises(ValueError):
        SUBSTITUTE(a, x.swapaxes(1, 2), True, True)


def test_small_systems_are_solved_without_blas():
    """So no threads are held back for them, whatever the first size was that was traced."""
    closure = tf.linalg.inv.op.bind(adjoint=False)
    contexts = [
        op_by_op.OpRunner(closure, (Aval.of((n, n), dtypes.float32),)).context for n in (3, 7, 600)
    ]
    limited = op_by_op.in_one_thread
    small = limited if SUBSTITUTE is None else op_by_op.on_host
    assert contexts == [small, small, limited]


def log_gamma(x):
    """Infinite at the poles and out of range."""
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


@pytest.mark.skipif(special.OF_EACH is None, reason="is of the C code")
def test_functions_of_one_number_by_the_kernel():
    """Those of Python's `math`, of any layout."""
    by_python = {"erf": math.erf, "erfc": math.erfc, "lgamma": log_gamma}
    for name, function in by_python.items():
        for dtype in map(np.dtype, ("float32", "float64")):
            x = np.append(numbers(dtype, 30, low=-9.5, high=30), edges(dtype)[:-3])
            for array in (x, x[::2], x[:0], x[3], x[:30].reshape(5, 6).T):
                got = special.SPECIAL[name](array)
                with np.errstate(over="ignore"):
                    wanted = list(map(function, array.ravel().tolist()))
                    agree(np.asarray(got), np.array(wanted).astype(dtype).reshape(array.shape))


@pytest.mark.skipif(special.OF_EACH is None, reason="is of the C code")
def test_the_kernel_of_functions_of_one_number_refuses_what_does_not_fit():
    x = np.ones(3, np.float32)
    for wrong in ((5, x, x), (-1, x, x), (0, x, x[:2].copy()), (0, x, x.astype(np.float64))):
        with pytest.raises(ValueError, match="not a function and floats of 32 or 64 bits"):
            special.OF_EACH(*wrong)
    with pytest.raises(ValueError, match="not a function"):
        special.OF_EACH(0, x.astype(np.int32), x.astype(np.int32))
    with pytest.raises(TypeError, match="3 arguments"):
        special.OF_EACH(0, x)


# -- control flow ----------------------------------------------------------------------------------


def test_conditions():
    x = np.arange(3.0)
    branches = [jnp.sin, lambda x: x * 2, lambda x: -x]
    for i in (-3, 0, 1, 2, 9):
        check(lambda i, x: lax.switch(i, branches, x), np.int32(i), x)
    for p in (True, False):
        check(lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x), np.bool_(p), x)
    check(lambda x: lax.platform_dependent(x, cpu=jnp.sin, default=jnp.cos), x)
    check(lambda x: lax.cond(True, jnp.sin, jnp.cos, x), x)


def test_loops():
    x, y = np.arange(6.0).reshape(3, 2), np.ones(2)

    def scan(x, y, reverse=False):
        c = jnp.sum(y)
        body = lambda carry, row: ((carry[0] * c + row, carry[1] + 1), (row * 2, carry[0]))
        return lax.scan(body, (y, 0), x, reverse=reverse)

    check(scan, x, y)
    check(partial(scan, reverse=True), x, y)
    check(scan, x[:0], y)
    check(jax.grad(lambda x, y: jnp.sum(scan(x, y)[0][0])), x, y)
    check(lambda y: lax.scan(lambda c, _: (c * 2, None), y, None, length=5), y)
    bent = lambda c, row: lax.cond(c[0] > 2, lambda c: jnp.sin(c) * row, lambda c: c + row, c)
    branch = lambda c, row: (bent(c, row), c)
    check(jax.grad(lambda y, x: jnp.sum(lax.scan(branch, y, x)[0])), y, x)
    halves = lambda x, y: lax.while_loop(
        lambda s: s[0].sum() > y[0], lambda s: (s[0] / 2, s[1] + y[1]), (x, 0.0)
    )
    check(halves, x, y)
    check(lambda x: lax.fori_loop(0, 4, lambda i, s: s + i, x), x)


def test_calls():
    @jax.custom_jvp
    def f(x):
        return x * 2

    f.defjvp(lambda primals, tangents: (f(*primals), tangents[0] * 5))

    @jax.custom_vjp
    def g(x):
        return x * 3

    g.defvjp(lambda x: (g(x), x), lambda x, ct: (ct * x * 7,))
    many = lambda x: jax.checkpoint(lambda x: jnp.sin(f(x)))(g(x)) + jax.jit(lambda x: x + 1)(x)
    check(many, np.arange(3.0))
    check(jax.grad(lambda x: jnp.sum(many(x))), np.arange(3.0))


# -- plans -----------------------------------------------------------------------------------------


def test_inputs_of_jax_and_scalars():
    plan = plan_of(lambda x, y: (x + y, x, y), np.float32(1), np.ones(2, np.float32))
    for out in plan([jnp.float32(1), jnp.ones(2)]):  # type: ignore[list-item]
        assert type(out) is np.ndarray and out.dtype == np.float32


def test_what_is_not_needed_is_not_done():
    def function(x):
        jnp.linalg.eigh(x)
        return x + 1

    plan = plan_of(function, np.eye(2))
    assert plan.compiled_alone == 0
    assert plan.seconds < 1e-5


def test_compiled_alone():
    check(lambda x: jnp.sin(lax.polygamma(x, x)), np.arange(3.0), alone=1)
    check(lambda x: lax.reduce(x, 0.0, lambda a, b: a + b * 2, (0,)), np.arange(3.0), alone=1)
    int4 = lambda x: lax.convert_element_type(lax.convert_element_type(x, jnp.int4), np.int8)
    check(int4, np.arange(3), alone=2)


def _keys(words):
    return jax.random.wrap_key_data(words, impl="threefry2x32")


@pytest.mark.part
@pytest.mark.parametrize(
    "draw",
    {
        "floats": lambda key: jax.random.uniform(jax.random.fold_in(key, 3), (4, 5)),
        "no numbers": lambda key: jax.random.uniform(key, (0, 2)),
        "one": lambda key: jax.random.uniform(key),
        "of 8 bits": lambda key: jax.random.bits(key, (7,), np.uint8),
        "of 16 bits": lambda key: jax.random.bits(key, (7,), np.uint16),
        "of 64 bits": lambda key: jax.random.bits(key, (2, 3), np.uint64),
        "integers": lambda key: jax.random.randint(key, (9,), -5, 70000),
        "one of other keys": lambda key: jax.random.bits(jax.random.split(key, 5)[1:4][1], (3,)),
        "other keys": lambda key: jax.random.key_data(jax.random.split(key, (2, 3))),
        "keys of rows": lambda key: jax.vmap(lambda k: jax.random.uniform(k, (3,)))(
            jax.random.split(key, 4)
        ),
        "keys of numbers": lambda key: jax.random.key_data(
            jax.vmap(jax.random.fold_in, (None, 0))(key, jnp.arange(3))
        ),
    }.items(),
    ids=lambda pair: pair[0],
)
def test_numbers_of_keys(draw):
    check(lambda words: draw[1](_keys(words)), np.array([7, 2**32 - 3], np.uint32), alone=0)


def test_keys_in_conditions_and_loops():
    def walk(words):
        def turn(key, _):
            key, other = jax.random.split(key)
            return key, (other, jax.random.bits(other, (2,)))

        key, (others, drawn) = lax.scan(turn, _keys(words), None, 3)
        return jax.random.key_data(key), jax.random.key_data(others), drawn

    def until(key, least):
        """Draws from further keys until a number is as large."""
        state = lax.while_loop(
            lambda state: state[1] < least,
            lambda state: (
                jax.random.fold_in(state[0], 1),
                jax.random.uniform(state[0], (), np.float32),
            ),
            (key, jnp.float32(0)),
        )
        key = lax.cond(state[1] > 0.9, lambda k: jax.random.fold_in(k, 2), lambda k: k, state[0])
        return jax.random.key_data(key), state[1]

    words = np.array([5, 6], np.uint32)
    check(walk, words)
    check(lambda words: until(_keys(words), 0.8), words)
    several = jax.vmap(until, (0, 0))
    least = np.array([0.3, 0.8, 0.95], np.float32)
    check(lambda words, least: several(jax.random.split(_keys(words), 3), least), words, least)


def test_keys_that_jax_computes_with():
    words = np.array([5, 6], np.uint32)
    taken = lambda words: jax.random.key_data(jnp.stack([_keys(words), _keys(words + 1)])[::-1])
    assert plan_of(taken, words).compiled_alone
    check(lambda words: jax.random.gamma(_keys(words), 2.0, (3,)), words, alone=1)


def test_keys_of_other_generators():
    def draw(words):
        return jax.random.bits(jax.random.wrap_key_data(words, impl="rbg"), (4,))

    check(draw, np.arange(4, dtype=np.uint32), alone=2)


def test_seeds():
    random = lambda seed: jax.random.uniform(jax.random.fold_in(jax.random.key(seed), 3), (4,))
    check(random, np.uint32(1), alone=1)


def test_threefry():
    key, counts = np.array([5, 9], np.uint32), np.arange(20, dtype=np.uint32)
    hashed = lambda key, x: primitives.threefry2x32_p.bind(
        jnp.broadcast_to(key[0], x.shape), jnp.broadcast_to(key[1], x.shape), x, x[::-1]
    )
    check(hashed, key, counts)


def test_effects_are_left_to_jax():
    """They are not forgotten, though nobody needs what they give."""

    def function(x):
        jax.debug.callback(lambda x: None, x)
        jax.debug.callback(lambda x: None, x * 2)
        return x + 1

    check(function, np.float32(3), alone=2)


# -- large arrays are gone over in other ways ------------------------------------------------------


@pytest.mark.parametrize("dtype", [*KINDS, np.dtype("float64")], ids=str)
def test_choices_of_large_arrays(dtype):
    x, y = numbers(dtype, 70, 80), numbers(dtype, 80, 70).T
    if dtype.kind == "f":
        x[0], y[1] = np.nan, -np.inf
    which = np.arange(70 * 80).reshape(70, 80) % 3 == 0
    choices = [
        lambda w, x, y: lax.select(w, x, y),
        lambda w, x, y: lax.select_n(w[0, 0], x, y),
        lambda w, x, y: lax.select_n(w.astype(np.int32), x, y),
        lambda w, x, y: jnp.where(w[:, :1], x, np.zeros((), dtype)),
    ]
    each(choices, which, x, y)


@pytest.mark.part
@pytest.mark.parametrize("dtype", [*FLOATS, np.dtype("int8"), np.dtype("uint32")], ids=str)
def test_short_axes_of_large_arrays(dtype):
    """As pooling has them: the last two axes as one, the first extreme of it as a vector."""
    x = (np.arange(2 * 40 * 40 * 3).reshape(2, 20, 2, 20, 2, 3) * 7919 % 11).astype(dtype)
    if dtype.kind in "fV":
        x[0, 0, 1, 0, 1], x[1, 1] = np.nan, -np.inf

    def functions(x):
        flat = jnp.transpose(x, (0, 1, 3, 5, 2, 4)).reshape(2, 20, 20, 3, 4)
        largest, smallest = jnp.argmax(flat, -1), jnp.argmin(flat, -1)
        hot = lax.broadcasted_iota(largest.dtype, flat.shape, 4) == largest[..., None]
        pooled = jnp.where(hot, flat, 0)
        back = jnp.transpose(pooled.reshape(2, 20, 20, 3, 2, 2), (0, 1, 4, 2, 5, 3))
        return largest, smallest, hot, back.reshape(2, 40, 40, 3), flat.reshape(-1)

    check(functions, x)
    check(lambda x: jnp.argmax(x.reshape(6, -1), 0), x)


def test_products_are_told_from_other_work():
    x = np.zeros((1, 8, 8, 2))
    convolve = lambda x: jax.lax.conv(x, x, (1, 1), "VALID")
    assert plan_of(lambda x: jnp.sin(x), x).products == 0.0
    for function, given in ((lambda x: x @ x.mT, x), (convolve, x.astype("float16"))):
        plan = plan_of(function, given)
        assert 0.0 < plan.products < plan.seconds and plan.kernels == 0.0
    for dtype in ("float32", "float64") if convolutions.WIDTH else ():
        plan = plan_of(convolve, x.astype(dtype))
        assert 0.0 < plan.kernels < plan.seconds and plan.products == 0.0
        assert plan.kernel_calls == 1


def test_seconds_grow_with_the_work():
    def seconds(function, *shape):
        return plan_of(function, np.zeros(shape, np.float32)).seconds

    assert seconds(jnp.sin, 100) < seconds(jnp.sin, 10_000) < seconds(lax.digamma, 10_000)
    assert 3e-6 < seconds(lambda x: -x, 3) < 1e-5
    small, large = [seconds(lambda x: x + 1, n << 18) for n in (32, 64)]
    assert large > small + (32 << 20) * cost.FRESH_BYTE_SECONDS
    assert seconds(lambda x: x @ x, 300, 300) > 4 * seconds(lambda x: x @ x, 100, 100)
    loop = lambda n: lambda x: lax.scan(lambda c, _: (jnp.sin(c), None), x, None, length=n)[0]
    assert seconds(loop(100), 3) > 50 * 1e-6
    assert seconds(loop(100), 3) > 5 * seconds(loop(10), 3)


def test_a_dense_layer():
    def loss(w, b, x):
        return jnp.sum(jax.nn.relu(x @ w + b) ** 2)

    random = np.random.default_rng(0)
    w, b, x = random.normal(size=(5, 3)), random.normal(size=3), random.normal(size=(4, 5))
    check(jax.value_and_grad(loss, (0, 1, 2)), w, b, x, times=10)


# -- the library's ops -----------------------------------------------------------------------------

#: One row in so many is recorded, and one closure in so many of theirs is run.
PART = 8


@cache
def closures():
    """What rows record: ops, their pullbacks and JVPs, each with the avals of its inputs."""
    found, infer = {}, Closure.infer

    def seen(self, avals):
        found[self, avals] = None
        return infer(self, avals)

    Closure.infer = seen
    try:
        for row in ROWS[::PART]:
            with tf.GradientTape():
                checks.record(tf, row)
                LOCAL.state.program = None  # nothing of it is to run
    finally:
        Closure.infer = infer
    return list(found)


def sample(aval):
    if aval.np_dtype.kind in "iu":
        return np.arange(aval.size).reshape(aval.shape).astype(aval.np_dtype) % 3
    return numbers(aval.np_dtype, *aval.shape)


@pytest.mark.skipif(SUBSTITUTE is None, reason="is of the C code")
def test_the_librarys_ops_have_plans():
    """Of what the rows record, few primitives are left to JAX."""
    plans = [plan_of(closure.fn, *[a.struct for a in avals]) for closure, avals in closures()]
    assert sum(plan.compiled_alone == 0 for plan in plans) > 0.9 * len(plans)


def test_the_librarys_ops():
    for closure, avals in closures()[::PART]:
        arrays = [sample(aval) for aval in avals]
        plan = plan_of(closure.fn, *arrays)
        if plan.compiled_alone:
            continue
        got = plan(arrays)
        wanted = compiled(closure.fn, *arrays)
        for one, other in zip(got, wanted, strict=True):
            agree(one, np.asarray(other), times=1e4, absolute=1)


#: Rules of primitives that this JAX does not have, or that nothing here binds.
OTHER_VERSIONS = {
    *("scatter_add", "scatter_sub", "scatter_mul", "scatter_min", "scatter_max", "scatter-sub"),
    *(
        "copy_p",
        "stop_gradient",
        "expand_dims",
        "log2",
        "empty",
        "empty2",
        "sharding_constraint",
        "eq_to",
        "le_to",
    ),
    *("stack", "tile", "unstack", "one_minus_square"),
}


def calls(test):
    """The arguments of each case of a test that is parametrized; none of one that is skipped."""
    every = getattr(test, "pytestmark", ())
    if any(mark.name == "skipif" and mark.args[0] for mark in every):
        return
    marks = [mark for mark in every if mark.name == "parametrize"]
    for values in itertools.product(*(mark.args[1] for mark in marks)):
        found = {}
        for mark, value in zip(marks, values, strict=True):
            several = isinstance(mark.args[0], tuple)
            found |= (
                dict(zip(mark.args[0], value, strict=True)) if several else {mark.args[0]: value}
            )
        yield found


def test_every_rule_is_tested():
    """The other tests are run up to the jaxpr: other processes may be running them."""
    TRACING.append(True)
    try:
        for name, test in list(globals().items()):
            library = name.startswith("test_the_library")
            if name.startswith("test_") and test is not test_every_rule_is_tested and not library:
                for case in calls(test):
                    with contextlib.suppress(AssertionError):
                        test(**case)
    finally:
        TRACING.clear()
    assert set(RULES) - SEEN <= OTHER_VERSIONS


def test_equations_of_parts_count_once():
    """What a compiler has to do does not grow with the iterations, as interpreting does."""

    def body(x, _):
        return jnp.tanh(x) * 2.0, None

    def repeated(length):
        jaxpr = jax.make_jaxpr(lambda x: lax.scan(body, x, None, length)[0] + 1.0)(np.float32(0))
        return Interpreted(jaxpr)

    few, many = repeated(3), repeated(300)
    assert few.steps == many.steps == 2
    assert few.equations == many.equations == 4
    assert many.seconds > 10 * few.seconds


def one_number_each(dtype):
    """Ends and special ones, as 0-d arrays."""
    if dtype.kind == "b":
        found = [False, True]
    elif dtype.kind in "iu":
        found = [0, 1, 3, np.iinfo(dtype).max, np.iinfo(dtype).min]
    else:
        found = [0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan]
    return [np.array(x, dtype) for x in found]


@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_arithmetic_of_single_numbers(dtype):
    """By Python's operators, of 0-d arrays as of NumPy's scalars: the bits that XLA gives."""
    of_two = [lax.add, lax.sub, lax.mul, lax.eq, lax.ne, lax.lt, lax.le, lax.gt, lax.ge]
    if dtype.kind == "c":
        of_two = [lax.add, lax.sub, lax.eq, lax.ne]
    elif dtype.kind == "b":
        of_two = [lax.eq, lax.ne, lax.bitwise_and, lax.bitwise_or, lax.bitwise_xor]
    elif dtype.kind in "iu":
        of_two += [lax.bitwise_and, lax.bitwise_or, lax.bitwise_xor]
    numbers = one_number_each(dtype)
    for op in of_two:
        plan = Interpreted(jax.make_jaxpr(op)(numbers[0], numbers[0]))
        for x in numbers:
            for y in numbers:
                wanted = np.asarray(op(jnp.asarray(x), jnp.asarray(y)))
                for given in ([x, y], [x[()], y[()]]):
                    (found,) = on_host(plan.run, given)
                    assert found.dtype == wanted.dtype and np.shape(found) == ()
                    kind = np.float32 if found.dtype.kind == "V" else found.dtype
                    np.testing.assert_array_equal(found.astype(kind), wanted.astype(kind))
    for op in (lax.neg, lax.bitwise_not):
        if (op is lax.neg) == (dtype.kind != "b") and (op is lax.neg or dtype.kind in "biu"):
            check(op, numbers[-1])


def test_a_choice_between_single_numbers_serves_arrays_too():
    plan = Interpreted(jax.make_jaxpr(lax.select)(np.bool_(True), np.float32(1), np.float32(2)))
    one, two = np.float32(1), np.float32(2)
    for which in (True, False):
        for taken in (np.bool_(which), np.array(which)):
            assert on_host(plan.run, [taken, one, two]) == [one if which else two]
    arrays = np.array([True, False]), np.ones(2, np.float32), np.zeros(2, np.float32)
    assert on_host(plan.run, list(arrays))[0].tolist() == [1.0, 0.0]


def test_what_xla_would_hand_to_another_thread_is_known_by_its_operations():
    x, w = np.ones((4, 16), np.float32), np.ones((16, 50), np.float32)
    plan = Interpreted(jax.make_jaxpr(lambda x, w: (x[:, ::-1] @ w).T * 2)(x, w))
    assert plan.operations == 2 * 4 * 16 * 50 + 4 * 50
    loop = jax.make_jaxpr(lambda x: lax.fori_loop(0, 9, lambda _, x: x.T.T + x, x))(x)
    assert 64 <= Interpreted(loop).operations < 80
    few, many = policy.LIKELY_ELSEWHERE - 1, policy.LIKELY_ELSEWHERE
    assert policy.part_seconds(50e-6, few) == policy.PART_CALL_SECONDS < 50e-6
    assert policy.part_seconds(50e-6, many) > 50e-6 > policy.compiled_seconds(50e-6)


@pytest.mark.part
@pytest.mark.parametrize("mode", ["clip", "fill"])
@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "uint32"])
def test_rows_before_and_behind_the_array(kind, mode):
    x, ends = np.arange(12, dtype=np.float32).reshape(4, 3), np.iinfo(kind)
    for places in ([0, 3], [-1, 4], [ends.min, ends.max], [2, -128]):
        indices = np.array(places).astype(kind)[:, None]
        for axis in (0, 1):
            dims = lax.GatherDimensionNumbers((1 - axis,), (axis,), (axis,))
            sizes = tuple([1 if i == axis else n for i, n in enumerate(x.shape)])
            check(lambda x, i: lax.gather(x, i, dims, sizes, mode=mode), x, indices)


def test_windows_that_are_whole_along_some_axes():
    x, update = np.arange(24, dtype=np.int32).reshape(4, 2, 3), -np.ones((2, 2, 3), np.int32)
    for first in (-3, 0, 1, 2, 9):
        starts = np.int32(first), np.int32(5), np.int32(-1)
        check(lambda x, *i: lax.dynamic_slice(x, i, (2, 2, 3)), x, *starts)
        check(lambda x, *i: lax.dynamic_slice(x, i, (2, 1, 3)), x, *starts)
        check(lambda x, u, *i: lax.dynamic_update_slice(x, u, i), x, update, *starts)


def test_single_numbers_stay_scalars_and_cost_little():
    plan = Interpreted(jax.make_jaxpr(lambda i: jnp.where(i < 0, i + 5, i) * 2)(np.int32(0)))
    (found,) = plan.run([np.int32(-2)])
    assert type(found) is np.int32 and found == 6
    assert plan.seconds < cost.CALL_SECONDS + 2 * cost.NUMPY_SECONDS


@pytest.mark.part
@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "uint8", "uint32"])
def test_quotients_and_shifts_of_the_ends(kind):
    """Quotients next to whole numbers, by zero, beyond the range; shifts by all bits and more."""
    ends, rng = np.iinfo(kind), np.random.default_rng(0)
    parts = (0, 1, 2, 3, ends.max, ends.max - 1, ends.min, ends.max // 3, ends.bits, ends.bits - 1)
    some = np.array(parts, kind)
    few = rng.integers(ends.min, ends.max, 5000, kind, endpoint=True) >> some[-1] // 2
    wide = rng.integers(0, 1000, few.size).astype(kind) * few - np.ones((), kind)
    pairs = [x.ravel().copy() for x in np.meshgrid(some, some)], [wide, few]
    for op in (lax.div, lax.rem, lax.shift_left, lax.shift_right_arithmetic):
        for x, y in pairs:
            check(op, x, y)
        check(lambda x, op=op: op(x, np.full((), 3, kind)), some)
    check(lax.shift_right_logical, *pairs[0])
