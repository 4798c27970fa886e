"""Decompositions of matrices for programs that run where there is no LAPACK of JAX's.

`cholesky` and `triangular_solve` are ops of StableHLO, which XLA expands by itself; the others are
loops over columns, or over rounds of rotations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.extend
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.mlir.dialects import stablehlo
from jax.interpreters import mlir

from ...core.dimensions import is_symbolic

#: How many columns are eliminated one by one, before all others are changed by a product.
_BLOCK = 64
#: How often all pairs of columns are rotated at most.
_MAX_SWEEPS = 30


def _op(name: str, lowered: Callable[..., Any], result: int) -> jax.extend.core.Primitive:
    """An op of StableHLO whose result is like its argument number `result`."""
    made = jax.extend.core.Primitive(name)
    made.def_abstract_eval(lambda *avals, **_: avals[result])
    mlir.register_lowering(made, lambda ctx, *args, **params: lowered(*args, **params).results)
    return made


def _solve_op(a: Any, b: Any, *, left: bool, lower: bool, unit: bool, transpose: str) -> Any:
    how = stablehlo.TransposeAttr.get(transpose)
    return stablehlo.TriangularSolveOp(a, b, left, lower, unit, how)


_CHOLESKY = _op("cholesky_of_xla", lambda a: stablehlo.CholeskyOp(a, lower=True), 0)
_SOLVE = _op("triangular_solve_of_xla", _solve_op, 1)


def _solve(a: Any, b: Any, left: bool, lower: bool, unit: bool, transpose: str) -> Any:
    """The solution of triangular equations."""
    return _SOLVE.bind(a, b, left=left, lower=lower, unit=unit, transpose=transpose)


def _cholesky(inputs: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    return [jnp.tril(_CHOLESKY.bind(inputs[0]))]


def _triangular_solve(inputs: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    a, b = inputs
    transpose = "NO_TRANSPOSE"
    if params["transpose_a"]:
        transpose = "ADJOINT" if params["conjugate_a"] else "TRANSPOSE"
    elif params["conjugate_a"]:
        a = jnp.conj(a)
    left, lower, unit = params["left_side"], params["lower"], params["unit_diagonal"]
    return [_solve(a, b, left, lower, unit, transpose)]


# -- by columns -----------------------------------------------------------------------------------


def _size(x: Any) -> Any:
    """By what pivots are chosen: of complex numbers as LAPACK does it."""
    return jnp.abs(x.real) + jnp.abs(x.imag) if jnp.iscomplexobj(x) else jnp.abs(x)


def _swapped(x: Any, i: Any, j: Any) -> Any:
    return x.at[i].set(x[j]).at[j].set(x[i])


def _lu_by_columns(a: Any) -> tuple[Any, Any, Any]:
    """The factors of a matrix in one, the row that each one was exchanged with, and the order of
    the rows."""
    m, n = a.shape
    rows, columns = jnp.arange(m), jnp.arange(n)

    def step(k: Any, state: Any) -> Any:
        a, pivots, order = state
        pivot = jnp.argmax(jnp.where(rows >= k, _size(a[:, k]), -1)).astype(np.int32)
        a, order = _swapped(a, k, pivot), _swapped(order, k, pivot)
        below = rows > k
        column = jnp.where(below & (a[k, k] != 0), a[:, k] / a[k, k], a[:, k])
        a = a.at[:, k].set(column)
        product = jnp.where(below, column, 0)[:, None] * jnp.where(columns > k, a[k], 0)
        return a - product, pivots.at[k].set(pivot), order

    state = a, jnp.zeros(min(m, n), np.int32), jnp.arange(m, dtype=np.int32)
    return lax.fori_loop(0, min(m, n), step, state)


@jax.jit  # traced once for all functions with matrices of one size
def _lu_one(a: Any) -> tuple[Any, Any, Any]:
    m, n = a.shape
    order, pivots = jnp.arange(m, dtype=np.int32), []
    for k in range(0, min(m, n), _BLOCK):
        end = min(k + _BLOCK, m, n)
        panel, exchanged, moved = _lu_by_columns(a[k:, k:end])
        # Set in place, JAX 0.12 reads of `order` what it has written already.
        a = jnp.concatenate([a[:k], a[k:][moved]]).at[k:, k:end].set(panel)
        order = jnp.concatenate([order[:k], order[k:][moved]])
        pivots.append(exchanged + k)
        if end < n:
            right = _solve(a[k:end, k:end], a[k:end, end:], True, True, True, "NO_TRANSPOSE")
            rest = a[end:, end:] - _product(a[end:, k:end], right)
            a = a.at[k:end, end:].set(right).at[end:, end:].set(rest)
    return a, jnp.concatenate(pivots), order


def _product(a: Any, b: Any) -> Any:
    return jnp.matmul(a, b, precision="highest")


def _lu(inputs: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    return list(_by_matrix(_lu_one, inputs[0]))


def _qr_one(a: Any, columns: int) -> tuple[Any, Any]:
    """An orthogonal matrix of so many columns, and the triangular one."""
    m, n = a.shape
    rows, count = jnp.arange(m), min(m, n)

    def reflect(k: Any, state: Any) -> Any:
        a, mirrors, factors = state
        alpha, x = a[k, k], jnp.where(rows > k, a[:, k], 0)
        rest = jnp.linalg.norm(x)
        length = jnp.sqrt(jnp.abs(alpha) ** 2 + rest**2)
        none = (rest == 0) & (alpha.imag == 0)
        beta = jnp.where(none, 1, jnp.where(alpha.real > 0, -length, length))
        factor = jnp.where(none, 0, (beta - alpha) / beta).astype(a.dtype)
        mirror = jnp.where(none, 0, x / jnp.where(none, 1, alpha - beta)).at[k].set(1)
        a = a - jnp.conj(factor) * mirror[:, None] * _product(jnp.conj(mirror), a)
        return a, mirrors.at[:, k].set(mirror), factors.at[k].set(factor)

    def back(i: Any, q: Any) -> Any:
        mirror, factor = mirrors[:, count - 1 - i], factors[count - 1 - i]
        return q - factor * mirror[:, None] * _product(jnp.conj(mirror), q)

    state = a, jnp.zeros((m, count), a.dtype), jnp.zeros(count, a.dtype)
    a, mirrors, factors = lax.fori_loop(0, count, reflect, state)
    q = lax.fori_loop(0, count, back, jnp.eye(m, columns, dtype=a.dtype))
    return q, jnp.triu(a)[:columns]


def _qr(inputs: Sequence[Any], params: dict[str, Any]) -> list[Any] | None:
    m, n = inputs[0].shape[-2:]
    if params.get("pivoting"):
        return None
    columns = m if params["full_matrices"] else min(m, n)
    return list(_by_matrix(partial(_qr_one, columns=columns), inputs[0]))


# -- by rotations ---------------------------------------------------------------------------------


def _rotation(p: Any, q: Any, between: Any) -> tuple[Any, Any, Any]:
    """Cosines, sines and phases that make columns orthogonal, by their squares and products."""
    size = jnp.abs(between)
    none = size == 0
    phase = jnp.where(none, 1, between / jnp.where(none, 1, size))
    ratio = (q - p) / jnp.where(none, 1, 2 * size)
    tangent = jnp.where(ratio < 0, -1, 1) / (jnp.abs(ratio) + jnp.sqrt(1 + ratio**2))
    tangent = jnp.where(none, 0, tangent)
    cosine = 1 / jnp.sqrt(1 + tangent**2)
    return cosine, tangent * cosine, jnp.conj(phase)


def _rotated(x: Any, cosine: Any, sine: Any, phase: Any) -> Any:
    """The columns of the first half rotated with those of the second."""
    p, q = jnp.split(x, 2, axis=1)
    q = q * phase
    return jnp.concatenate([cosine * p - sine * q, sine * p + cosine * q], axis=1)


def _next_round(count: int) -> np.ndarray:
    """The order in which each column comes beside another one, as in a tournament."""
    p, q = np.split(np.arange(count), 2)
    if count == 2:
        return np.arange(2)
    return np.concatenate([p[:1], q[:1], p[1:-1], q[1:], p[-1:]])


def _sweeps(step: Callable[..., Any], state: Any, count: int, near: Any) -> Any:
    """Rounds in which all pairs of columns are rotated, until all were near to being orthogonal.
    step: gives the state after a round and how far columns were from it."""

    def sweep(counted: Any) -> Any:
        done, state, _ = counted

        def a_round(_: Any, held: Any) -> Any:
            state, far = step(held[0])
            return state, jnp.maximum(held[1], far)

        zero = jnp.zeros_like(counted[2])
        return done + 1, *lax.fori_loop(0, count - 1, a_round, (state, zero))

    def goes_on(counted: Any) -> Any:
        return (counted[0] < _MAX_SWEEPS) & (counted[2] > near)

    return lax.while_loop(goes_on, sweep, (0, state, near + 1))[1]


def _scale(a: Any) -> Any:
    """The largest absolute value, 1 if that is no number to divide by."""
    largest = jnp.max(jnp.abs(a))
    return jnp.where((largest > 0) & jnp.isfinite(largest), largest, 1)


def _places(keys: Sequence[Any], v: Any, n: int) -> Any:
    """Where the n columns stand, in the order of keys, without the one that was added to make
    pairs: only that has a part in the last row."""
    count = v.shape[1]
    added = jnp.abs(v[n]) > 0.5 if count > n else jnp.zeros(count, bool)
    operands = (added.astype(np.int32), *keys, jnp.arange(count))
    return lax.sort(operands, num_keys=len(operands) - 1)[-1][:n]


def _eigh_one(a: Any, lower: bool, sort: bool) -> tuple[Any, Any]:
    n = a.shape[0]
    half = jnp.tril(a, -1) if lower else jnp.conj(jnp.triu(a, 1)).T
    diagonal = jnp.diag(a).real.astype(a.dtype)
    a = half + jnp.conj(half).T + jnp.diag(diagonal)
    count = n + n % 2
    a = jnp.pad(a, [(0, count - n)] * 2)
    order = _next_round(count)
    scale = _scale(a)

    def step(state: Any) -> Any:
        a, v = state
        p, q = jnp.split(jnp.diag(a).real, 2)
        between = jnp.diag(a[: count // 2, count // 2 :])
        how = _rotation(p, q, between)
        a = jnp.conj(_rotated(jnp.conj(_rotated(a, *how)).T, *how)).T
        return (a[order][:, order], _rotated(v, *how)[:, order]), jnp.max(jnp.abs(between))

    state = a / scale, jnp.eye(count, dtype=a.dtype)
    a, v = _sweeps(step, state, count, jnp.finfo(a.dtype).eps)
    values = jnp.diag(a).real * scale
    places = _places([values] if sort else [], v, n)
    return v[:n, places], values[places]


def _eigh(inputs: Sequence[Any], params: dict[str, Any]) -> list[Any] | None:
    if params.get("subset_by_index") not in (None, (0, inputs[0].shape[-1])):
        return None
    one = partial(_eigh_one, lower=params["lower"], sort=params.get("sort_eigenvalues", True))
    return list(_by_matrix(one, inputs[0]))


def _svd_one(a: Any, full: bool) -> tuple[Any, Any, Any]:
    """Singular values, and both matrices, of one with at least as many rows as columns."""
    m, n = a.shape
    count = n + n % 2
    order = _next_round(count)
    scale = _scale(a)

    def step(state: Any) -> Any:
        a, v = state
        p, q = jnp.split(a, 2, axis=1)
        between = jnp.sum(jnp.conj(p) * q, axis=0)
        squares = jnp.split(jnp.sum(jnp.abs(a) ** 2, axis=0), 2)
        how = _rotation(squares[0], squares[1], between)
        size = jnp.sqrt(squares[0]) * jnp.sqrt(squares[1])
        cosines = jnp.where(size > 0, jnp.abs(between) / jnp.where(size > 0, size, 1), 0)
        return (_rotated(a, *how)[:, order], _rotated(v, *how)[:, order]), jnp.max(cosines)

    state = jnp.pad(a / scale, [(0, 0), (0, count - n)]), jnp.eye(count, dtype=a.dtype)
    a, v = _sweeps(step, state, count, m * jnp.finfo(a.dtype).eps)
    lengths = jnp.linalg.norm(a, axis=0)
    places = _places([-lengths], v, n)
    q, r = _qr_one(a[:, places], m if full else n)
    signs = jnp.diag(r)
    none = signs == 0
    signs = jnp.where(none, 1, signs / jnp.where(none, 1, jnp.abs(signs)))
    return lengths[places] * scale, q.at[:, :n].multiply(signs), jnp.conj(v[:n, places]).T


def _svd_of_any(a: Any, full: bool) -> tuple[Any, Any, Any]:
    if a.shape[0] >= a.shape[1]:
        return _svd_one(a, full)
    s, u, vh = _svd_one(jnp.conj(a).T, full)
    return s, jnp.conj(vh).T, jnp.conj(u).T


def _svd(inputs: Sequence[Any], params: dict[str, Any]) -> list[Any] | None:
    if params.get("subset_by_index") not in (None, (0, min(inputs[0].shape[-2:]))):
        return None
    full = params["compute_uv"] and params["full_matrices"]
    found = _by_matrix(partial(_svd_of_any, full=full), inputs[0])
    return list(found) if params["compute_uv"] else [found[0]]


def _by_matrix(function: Callable[[Any], Any], a: Any) -> Any:
    """What a function gives of each matrix."""
    for _ in a.shape[:-2]:
        function = jax.vmap(function)
    return function(a)


#: What stands for the primitives, by what they are given and their parameters; None where it is
#: not there for these.
DECOMPOSITIONS: dict[str, Callable[[Sequence[Any], dict[str, Any]], list[Any] | None]] = {
    "cholesky": _cholesky,
    "eigh": _eigh,
    "lu": _lu,
    "qr": _qr,
    "svd": _svd,
    "triangular_solve": _triangular_solve,
}


def decomposed(name: str, inputs: Sequence[Any], params: dict[str, Any]) -> list[Any] | None:
    """What a decomposition gives; None where the primitive itself is to be called, as for matrices
    of unknown sizes."""
    sizes = inputs[0].shape[-2:]
    if name not in ("cholesky", "triangular_solve"):
        if any(map(is_symbolic, sizes)) or not all(sizes):
            return None
    return DECOMPOSITIONS[name]([jnp.asarray(x) for x in inputs], params)
