"""Each rule of the interpreter against XLA, and the library's ops as the interpreter runs them."""

from functools import partial

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax

from tape_compat._src.core.x64 import in_x64
from tape_compat._src.run.interpret.plan import Interpreted, interpreted

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOAT8 = np.dtype(ml_dtypes.float8_e4m3fn)
FLOATS = [np.dtype(d) for d in ("float16", "float32", "float64")] + [BFLOAT16]
COMPLEX = [np.dtype("complex64"), np.dtype("complex128")]
INTEGERS = [np.dtype(d) for d in ("int8", "int16", "int32", "int64", "uint8", "uint32", "uint64")]
BOOL = [np.dtype(bool)]

#: How far results may be from XLA's, relative to them.
TOLERANCE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float8_e4m3fn": 0.13}
TOLERANCE |= {"float32": 4e-6, "complex64": 1e-5, "float64": 1e-13, "complex128": 1e-12}
#: Numbers below the least normal one, which XLA takes for zeros.
LEAST = {"float16": 1e-7, "bfloat16": 2e-38, "float8_e4m3fn": 4e-3, "float32": 2e-38}

#: Primitives that a test has run through their rule.
SEEN: set[str] = set()


def plan_of(function, *arrays) -> Interpreted:
    jaxpr = in_x64(jax.make_jaxpr(function), *arrays)
    SEEN.update(names(jaxpr.jaxpr))
    return in_x64(interpreted, jaxpr)


def names(jaxpr):
    for eqn in jaxpr.eqns:
        yield eqn.primitive.name
        for value in eqn.params.values():
            for inner in value if isinstance(value, tuple) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    yield from names(inner)


def agree(got, wanted, times=1.0):
    assert type(got) is np.ndarray
    assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
    if got.dtype.kind not in "fcV":
        np.testing.assert_array_equal(got, wanted)
        return
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    name = got.dtype.name
    np.testing.assert_allclose(
        got.astype(wide),
        wanted.astype(wide),
        rtol=times * TOLERANCE[name],
        atol=LEAST.get(name, 1e-300) + (times > 1) * TOLERANCE[name],
    )


def check(function, *arrays, times=1.0, alone=0):
    """The interpreter's results, dtypes and shapes are XLA's, and inputs stay as they are."""
    arrays = [np.asarray(x) for x in arrays]
    before = [x.copy() for x in arrays]
    plan = plan_of(function, *arrays)
    assert plan.compiled_alone == alone
    assert plan.seconds > 0
    got = plan(arrays)
    wanted = jax.tree.leaves(in_x64(jax.jit(function), *arrays))
    assert len(got) == len(wanted)
    for one, other in zip(got, wanted, strict=True):
        agree(one, np.asarray(other), times)
    for x, y in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(
            x.view(np.uint8) if x.ndim else x, y.view(np.uint8) if y.ndim else y
        )


# -- element by element ----------------------------------------------------------------------------


def edges(dtype):
    """Numbers at which functions are special."""
    if dtype.kind == "b":
        return np.array([False, True, True, False])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.array([info.min, info.max, 0, 1, 2, 3, 7, 5, info.max - 1, info.max // 3], dtype)
    if dtype.kind == "c":
        parts = [-2.0, -0.5, 0.0, 0.3, 1.0, 3.0]
        return np.array([complex(a, b) for a in parts for b in parts], dtype)
    many = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.3, 7.0, -7.0, 30.0]
    return np.array([*many, np.inf, -np.inf, np.nan], dtype)


def pairs(dtype):
    x = edges(dtype)
    a, b = np.meshgrid(x, x)
    return a.ravel(), b.ravel()


FLOAT_UNARY = [
    *(lax.floor, lax.ceil, lax.sqrt, lax.rsqrt, lax.cbrt, lax.exp, lax.exp2, lax.log, lax.log1p),
    *(lax.expm1, lax.sin, lax.cos, lax.tan, lax.asin, lax.acos, lax.atan, lax.sinh, lax.cosh),
    *(lax.tanh, lax.asinh, lax.acosh, lax.atanh, lax.logistic, lax.is_finite, lax.erf, lax.erfc),
    *(lax.erf_inv, lax.lgamma, lax.digamma, lax.round),
    partial(lax.round, rounding_method=lax.RoundingMethod.TO_NEAREST_EVEN),
]


def named(function):
    inner = getattr(function, "func", function)
    return inner.__name__


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_functions_of_floats(dtype):
    for function in FLOAT_UNARY:
        try:
            check(function, edges(dtype), times=4)
        except AssertionError as error:
            raise AssertionError(named(function)) from error


# -- whole programs --------------------------------------------------------------------------------


def test_a_dense_layer():
    def loss(w, b, x):
        return jnp.sum(jax.nn.relu(x @ w + b) ** 2)

    random = np.random.default_rng(0)
    w, b, x = random.normal(size=(5, 3)), random.normal(size=3), random.normal(size=(4, 5))
    check(jax.value_and_grad(loss, (0, 1, 2)), w, b, x)
