"""Programs without the primitives that TensorFlow's StableHLO does not know yet.

JAX writes the error function, some trigonometric and hyperbolic functions and `top_k` as composites
of CHLO, which came to StableHLO after the TensorFlow of that time, and decompositions of matrices
as calls of LAPACK's functions by names of its own. Here formulas stand for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ...core.dimensions import is_symbolic
from ...core.op import Arrays, primitives
from ...run.interpret.control import loop_layout
from .plain_decompositions import DECOMPOSITIONS, decomposed

_LOG2 = float(np.log(2.0))
#: The rational function of x**2 that erf(x) / x is near, for |x| < 4 (as Eigen and XLA have it).
_ERF_OVER = (
    *(-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05),
    *(-7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02),
)
_ERF_UNDER = (
    *(-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03),
    *(-7.37332916720468e-03, -1.42647390514189e-02),
)


def _polynomial(x: Any, coefficients: Sequence[float]) -> Any:
    found = jnp.zeros_like(x)
    for coefficient in coefficients:
        found = found * x + np.asarray(coefficient, x.dtype)
    return found


def _erf(x: Any) -> Any:
    if x.dtype == np.float64:
        return jnp.sign(x) * lax.igamma(jnp.full_like(x, 0.5), x * x)
    wide = jnp.clip(x.astype(np.float32), -4.0, 4.0)
    square = wide * wide
    found = wide * _polynomial(square, _ERF_OVER) / _polynomial(square, _ERF_UNDER)
    return found.astype(x.dtype)


def _asin(x: Any) -> Any:
    return 2 * jnp.arctan2(x, 1 + jnp.sqrt((1 - x) * (1 + x)))


def _acos(x: Any) -> Any:
    return 2 * jnp.arctan2(jnp.sqrt(1 - x), jnp.sqrt(1 + x))


def _sinh(x: Any) -> Any:
    size = jnp.abs(x)
    less = jnp.expm1(size)
    small = (less + less / (less + 1)) / 2
    return jnp.sign(x) * jnp.where(size < 1, small, jnp.exp(size - _LOG2) - jnp.exp(-size - _LOG2))


def _cosh(x: Any) -> Any:
    return jnp.exp(x - _LOG2) + jnp.exp(-x - _LOG2)


def _asinh(x: Any) -> Any:
    size = jnp.abs(x)
    large = size > 1e4
    a = jnp.where(large, 1, size)
    small = jnp.log1p(a + a * a / (1 + jnp.sqrt(a * a + 1)))
    return jnp.sign(x) * jnp.where(large, jnp.log(size) + _LOG2, small)


def _acosh(x: Any) -> Any:
    large = x > 1e4
    a = jnp.where(large, 2, x)
    small = jnp.log1p((a - 1) + jnp.sqrt((a - 1) * (a + 1)))
    return jnp.where(large, jnp.log(x) + _LOG2, small)


def _atanh(x: Any) -> Any:
    return (jnp.log1p(x) - jnp.log1p(-x)) / 2


def _erfc(x: Any) -> Any:
    far = lax.igammac(jnp.full_like(x, 0.5), x * x)
    return jnp.where(x < 0, 2 - far, far)


def _top_k(x: Any, k: Any, axis: int = -1) -> Arrays:
    """The largest along an axis and their places, of equal ones the first."""
    x = jnp.moveaxis(x, axis, -1)
    places = lax.broadcasted_iota(np.int32, x.shape, x.ndim - 1)
    # in rising order from the last to the first, so that of equal ones the first stands last
    sorted_, order = lax.sort((x[..., ::-1], places[..., ::-1]), num_keys=1)
    found = sorted_[..., ::-1][..., :k], order[..., ::-1][..., :k]
    return tuple([jnp.moveaxis(y, -1, axis) for y in found])


#: What stands for the primitives, of real numbers.
FORMULAS: dict[str, Callable[..., Any]] = {
    "acos": _acos,
    "acosh": _acosh,
    "asin": _asin,
    "asinh": _asinh,
    "atanh": _atanh,
    "cosh": _cosh,
    "erf": _erf,
    "erfc": _erfc,
    "sinh": _sinh,
    "top_k": _top_k,
}

_REPLACED = FORMULAS.keys() | DECOMPOSITIONS.keys()

#: Primitives that call a jaxpr once, by the parameter that has it.
_CALLS = {
    **dict.fromkeys(("jit", "pjit", "checkpoint", "remat", "remat2", "closed_call"), "jaxpr"),
    **dict.fromkeys(("custom_jvp_call", "custom_vjp_call", "core_call"), "call_jaxpr"),
}


def is_plain(closed: Any) -> bool:
    """Whether a closed jaxpr has no primitive that there is a formula for."""
    return not any(name in _REPLACED for name in primitives(closed.jaxpr))


def by_formulas(closed: Any) -> Callable[..., list[Any]]:
    """A closed jaxpr as a function that does the same by formulas, where it has primitives that
    they are for.

    >>> import jax
    >>> x = jnp.float32(0.5)
    >>> float(by_formulas(jax.make_jaxpr(jax.lax.erf)(x))(x)[0])
    0.520...
    """
    jaxpr, consts = (closed.jaxpr, closed.consts) if hasattr(closed, "consts") else (closed, ())
    return lambda *arrays: _evaluated(jaxpr, consts, arrays)


def _evaluated(jaxpr: Any, consts: Sequence[Any], arrays: Sequence[Any]) -> list[Any]:
    env: dict[Any, Any] = {}
    env.update(zip(jaxpr.constvars, consts, strict=True))
    env.update(zip(jaxpr.invars, arrays, strict=True))

    def value(atom: Any) -> Any:
        return atom.val if hasattr(atom, "val") else env[atom]

    for eqn in jaxpr.eqns:
        outputs = _done(eqn, list(map(value, eqn.invars)))
        env.update(zip(eqn.outvars, outputs, strict=True))
    return list(map(value, jaxpr.outvars))


def _done(eqn: Any, inputs: list[Any]) -> Sequence[Any]:
    """What an equation gives."""
    name, params = eqn.primitive.name, eqn.params
    if name in FORMULAS and not jnp.issubdtype(inputs[0].dtype, jnp.complexfloating):
        if name != "top_k":
            return [FORMULAS[name](inputs[0])]
        return _top_k(inputs[0], params["k"], params.get("axis", params.get("dimension", -1)))
    if name in DECOMPOSITIONS:
        found = decomposed(name, inputs, params)
        if found is not None:
            return found
    if name in ("custom_linear_solve", "linear_solve"):
        return _linear_solve(inputs, **params)
    if name in _CALLS:
        return by_formulas(params[_CALLS[name]])(*inputs)
    if name == "while":
        return _while(inputs, **params)
    if name == "cond":
        index, *given = inputs
        return lax.switch(index, list(map(by_formulas, params["branches"])), *given)
    if name == "scan":
        return _scan(inputs, **params)
    bound = eqn.primitive.get_bind_params(params)
    functions, bound = bound if isinstance(bound, tuple) else ((), bound)  # as older JAX has it
    found = eqn.primitive.bind(*functions, *inputs, **bound)
    several: Sequence[Any] = found if eqn.primitive.multiple_results else [found]
    return several


def _linear_solve(inputs: list[Any], const_lengths: Any, jaxprs: Any, **_: Any) -> Sequence[Any]:
    """By the solver that is given with it; the rest serves derivatives."""
    counts = const_lengths
    first = counts.matvec + counts.vecmat
    end, last = first + counts.solve, first + counts.solve + counts.transpose_solve
    return by_formulas(jaxprs.solve)(*inputs[first:end], *inputs[last:])


def _while(
    inputs: list[Any],
    cond_jaxpr: Any,
    body_jaxpr: Any,
    cond_nconsts: int,
    body_nconsts: int,
    **_: Any,
) -> Sequence[Any]:
    held = inputs[:cond_nconsts]
    kept = inputs[cond_nconsts : cond_nconsts + body_nconsts]
    test, iteration = by_formulas(cond_jaxpr), by_formulas(body_jaxpr)
    return lax.while_loop(
        lambda state: test(*held, *state)[0],
        lambda state: iteration(*kept, *state),
        inputs[cond_nconsts + body_nconsts :],
    )


def _scan(inputs: list[Any], jaxpr: Any, **params: Any) -> Sequence[Any]:
    held, carried = loop_layout(params)
    consts, carry, rows = inputs[:held], inputs[held : held + carried], inputs[held + carried :]
    step = by_formulas(jaxpr)

    def iteration(state: Any, row: Any) -> Any:
        found = step(*consts, *state, *row[0])
        return found[:carried], found[carried:]

    options = {name: params[name] for name in ("length", "reverse", "unroll")}
    count = None
    if is_symbolic(options["length"]):  # only rows may tell it
        count = jnp.arange(options.pop("length"))
    state, made = lax.scan(iteration, carry, (rows, count), **options)
    return [*state, *made]
