"""Decompositions of matrices, and functions of matrices made from them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core import dtypes
from ..core.avals import Aval
from ..core.dtypes import as_dtype
from ..core.op import Op
from ..core.refuse import invalid, not_allowed
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor
from . import host_decompositions, systems
from .arguments import as_tensor, untracked
from .declare import Number, name_ops, op
from .exponentials import exponential
from .matrices import adjoint_of, check_square


def _safe_reciprocal(x: Any) -> Any:
    """1 / x, and 0 at 0. Source: TF linalg_grad.py, _SafeReciprocal."""
    return jnp.conj(x) / (x * jnp.conj(x) + 1e-20)


def _gaps(x: Any, squared: bool = False) -> Any:
    """1 / (x[j] - x[i]), or of their squares, and 0 on the diagonal and where they are equal."""
    row, column = x[..., None, :], x[..., :, None]
    gaps = (row - column) * (row + column) if squared else row - column
    same = np.eye(x.shape[-1], dtype=bool)
    return jnp.where(same, 0, _safe_reciprocal(jnp.where(same, 1, gaps)))


class Qr(NamedTuple):
    """Q and R of a QR decomposition."""

    q: Tensor
    r: Tensor


def _qr(x: Any, full: bool) -> Any:
    rows, columns = x.shape[-2:]
    if rows >= columns:
        return tuple(jnp.linalg.qr(x, mode="complete" if full else "reduced"))
    # A wide matrix: JAX has no derivative for it, but has one for its square part.
    q, r = jnp.linalg.qr(x[..., :rows])
    return q, jnp.concatenate([r, jnp.matmul(adjoint_of(q), x[..., rows:])], -1)


def _check_decomposed(kernel: str) -> Any:
    def check(avals: tuple[Aval, ...], **_: Any) -> None:
        if not avals[0].trainable:
            listed = "double, float, half, complex64, complex128"
            raise not_allowed(avals[0].dtype, listed, kernel)
        if len(avals[0].shape) < 2:
            raise invalid(f"Input tensor 0 must have rank >= 2, got {len(avals[0].shape)}", kernel)

    return check


_QR = Op(_qr, "Qr", check=_check_decomposed("Qr"))


def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Qr:
    """`input` [..., m, n] as Q R, with orthonormal columns in Q and upper triangular R.

    With p = min(m, n): Q is [..., m, p] and R is [..., p, n]; `full_matrices`: m in place of p.

    >>> import tape_compat as tf
    >>> q, r = tf.linalg.qr([[3.0], [4.0]])
    >>> round(abs(float(r[0, 0])), 4)
    5.0
    """
    return Qr(*apply(_QR.bind(full=bool(full_matrices)), (as_tensor(input),)))


class Lu(NamedTuple):
    """L and U in one matrix, and the permutation of rows."""

    lu: Tensor
    p: Tensor


def _lu(a: Any, dtype: str) -> Any:
    factors, _, permutation = systems.lu(a)
    return factors, permutation.astype(dtype)


_LU = Op(_lu, "Lu", check=check_square("Lu"), kernels=True)


def lu(input: Any, output_idx_type: Any = dtypes.int32, name: str | None = None) -> Lu:
    """Square matrices [..., n, n], rows permuted by `p`, as L U in one matrix (L has ones there).

    >>> import tape_compat as tf
    >>> tf.linalg.lu([[2.0, 1.0], [4.0, 3.0]]).p.numpy().tolist()
    [1, 0]
    """
    return Lu(*apply(_LU.bind(dtype=as_dtype(output_idx_type).name), (as_tensor(input),)))


def _without_infinities(a: Any) -> Any:
    """Matrices of NaN for those that have an infinity: LAPACK may look for their singular values
    for ever. Their gradient is NaN, too."""
    return a * jnp.where(jnp.isfinite(a).all((-2, -1), keepdims=True), 1, jnp.nan).astype(a.dtype)


def _svd_of(a: Any, **options: Any) -> Any:
    return jnp.linalg.svd(_without_infinities(a), **options)


@jax.custom_jvp
def singular_values(a: Any) -> Any:
    """Singular values, largest first."""
    return _svd_of(a, compute_uv=False)


@singular_values.defjvp
def _singular_values_jvp(primals: Any, tangents: Any) -> Any:
    u, s, v = _decomposed(primals[0], False)
    return s, _diagonal_of(adjoint_of(u) @ tangents[0] @ v)


def _diagonal_of(x: Any) -> Any:
    return jnp.real(jnp.diagonal(x, axis1=-2, axis2=-1))


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def _decomposed(a: Any, full: bool) -> Any:
    u, s, vh = _svd_of(a, full_matrices=full)
    return u, s, adjoint_of(vh)


@_decomposed.defjvp
def _decomposed_jvp(full: bool, primals: Any, tangents: Any) -> Any:
    """The vectors without a singular value move only as far as they must to stay orthogonal."""
    u, s, v = _decomposed(primals[0], full)
    if not full:
        return (u, s, v), _thin_tangents(u, s, v, tangents[0])
    count = s.shape[-1]
    du, ds, dv = _thin_tangents(u[..., :count], s, v[..., :count], tangents[0])
    return (u, s, v), (_with_others(u, du), ds, _with_others(v, dv))


def _thin_tangents(u: Any, s: Any, v: Any, da: Any) -> Any:
    """Equal singular values give a finite gradient; JAX divides by their difference.

    Source: TF linalg_grad.py, _SvdGrad, with its safe reciprocal.
    """
    core = adjoint_of(u) @ da @ v
    row, column = s[..., None, :], s[..., :, None]
    gaps = _gaps(s, squared=True).astype(da.dtype)
    du = u @ (gaps * (core * row + column * adjoint_of(core)))
    dv = v @ (gaps * (column * core + adjoint_of(core) * row))
    inverse = _safe_reciprocal(row).astype(da.dtype)
    if jnp.issubdtype(da.dtype, jnp.complexfloating):
        # The phase that a real decomposition does not have goes to u.
        n = s.shape[-1]
        phase = jnp.imag(core) * np.eye(n, dtype=s.dtype) * 1j
        du = du + u @ (phase * inverse)
    m, n = da.shape[-2:]
    if m > n:
        turned = da @ v * inverse
        du = du + turned - u @ (adjoint_of(u) @ turned)
    if n > m:
        turned = adjoint_of(da) @ u * inverse
        dv = dv + turned - v @ (adjoint_of(v) @ turned)
    return du, _diagonal_of(core), dv


def _with_others(vectors: Any, moved: Any) -> Any:
    """`moved`, tangents of the first columns of `vectors` [..., m, m], with those of the rest."""
    first, others = jnp.split(vectors, [moved.shape[-1]], axis=-1)
    return jnp.concatenate([moved, -first @ (adjoint_of(moved) @ others)], -1)


def _svd(a: Any, full: bool, vectors: bool) -> Any:
    if not vectors:
        return singular_values(a)
    u, s, v = _decomposed(a, full and a.shape[-1] != a.shape[-2])
    return s, u, v


_SVD = Op(_svd, "Svd", check=_check_decomposed("Svd"))


def svd(
    tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> Any:
    """Singular values and vectors of `tensor` [..., m, n] = U diag(s) V^H.

    Returns: s, U, V in this order, with p = min(m, n): [..., p] descending, [..., m, p] and
      [..., n, p]; `full_matrices`: [..., m, m] and [..., n, n]. Without `compute_uv`: s alone. The
      gradient of the vectors is finite where values are equal, as TensorFlow's is; that of vectors
      without a singular value holds for what does not depend on their choice.

    >>> import tape_compat as tf
    >>> s, u, v = tf.linalg.svd([[3.0, 0.0], [0.0, 4.0]])
    >>> s.numpy().tolist()
    [4.0, 3.0]
    """
    closure = _SVD.bind(full=bool(full_matrices), vectors=bool(compute_uv))
    return apply(closure, (as_tensor(tensor),))


@jax.custom_jvp
def _hermitian_eigen(a: Any) -> Any:
    v, w = lax.linalg.eigh(a, symmetrize_input=False)
    return w, v


@_hermitian_eigen.defjvp
def _hermitian_eigen_jvp(primals: Any, tangents: Any) -> Any:
    """Equal eigenvalues give a finite gradient; JAX divides by their difference.

    Source: TF linalg_grad.py, _SelfAdjointEigV2Grad.
    """
    w, v = _hermitian_eigen(primals[0])
    turned = adjoint_of(v) @ tangents[0] @ v
    return (w, v), (_diagonal_of(turned), v @ (_gaps(w).astype(v.dtype) * turned))


def _eigh(a: Any, vectors: bool) -> Any:
    """Of the lower triangle, mirrored: TensorFlow's gradient is in the lower triangle, too."""
    lower = jnp.tril(a, -1)
    diagonal = jnp.tril(jnp.triu(a))
    w, v = _hermitian_eigen(lower + adjoint_of(lower) + (diagonal + adjoint_of(diagonal)) / 2)
    w = w.astype(a.dtype)
    return (w, v) if vectors else w


def _check_eigen(kernel: str) -> Any:
    decomposed, square = _check_decomposed(kernel), check_square(kernel)

    def check(avals: tuple[Aval, ...], **_: Any) -> None:
        decomposed(avals)
        square(avals)

    return check


_EIGH = Op(_eigh, "SelfAdjointEigV2", check=_check_eigen("SelfAdjointEigV2"))


def eigh(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues [..., n], ascending, and eigenvectors (columns of [..., n, n]) of `tensor`.

    It is Hermitian: its lower triangle is read. The eigenvalues have the dtype of `tensor`.

    >>> import tape_compat as tf
    >>> tf.linalg.eigh([[2.0, 0.0], [0.0, 1.0]])[0].numpy().tolist()
    [1.0, 2.0]
    """
    return apply(_EIGH.bind(vectors=True), (as_tensor(tensor),))


def eigvalsh(tensor: Any, name: str | None = None) -> Tensor:
    """Eigenvalues [..., n] (ascending) of Hermitian matrices [..., n, n].

    >>> import tape_compat as tf
    >>> tf.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]]).numpy().tolist()
    [1.0, 2.0]
    """
    return apply(_EIGH.bind(vectors=False), (as_tensor(tensor),))


@jax.custom_jvp
def _eigen(a: Any) -> Any:
    return host_decompositions.eig(a)


@_eigen.defjvp
def _eigen_jvp(primals: Any, tangents: Any) -> Any:
    """Vectors stay of unit length; equal eigenvalues give a finite gradient.

    Source: TF linalg_grad.py, _EigGrad. JAX refuses the derivative of the vectors.
    """
    w, v = _eigen(primals[0])
    turned = jnp.linalg.solve(v, tangents[0].astype(v.dtype) @ v)
    dv = v @ (_gaps(w) * turned)
    stretch = jnp.real(jnp.sum(jnp.conj(v) * dv, -2, keepdims=True))
    return (w, v), (jnp.diagonal(turned, axis1=-2, axis2=-1), dv - v * stretch)


@jax.custom_jvp
def _eigenvalues(a: Any) -> Any:
    return host_decompositions.eigvals(a)


@_eigenvalues.defjvp
def _eigenvalues_jvp(primals: Any, tangents: Any) -> Any:
    w, v = _eigen(primals[0])
    turned = jnp.linalg.solve(v, tangents[0].astype(v.dtype) @ v)
    return w, jnp.diagonal(turned, axis1=-2, axis2=-1)


_EIG = Op(
    lambda a, vectors: _eigen(a) if vectors else _eigenvalues(a), "Eig", check=_check_eigen("Eig")
)


def eig(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues [..., n] and eigenvectors [..., n, n], complex, of square matrices; the host
    computes them.

    >>> import tape_compat as tf
    >>> tf.linalg.eig([[2.0, 0.0], [0.0, 1.0]])[0].dtype
    tf.complex64
    """
    return apply(_EIG.bind(vectors=True), (as_tensor(tensor),))


def eigvals(tensor: Any, name: str | None = None) -> Tensor:
    """Eigenvalues [..., n], complex, of square matrices [..., n, n]; the host computes them.

    >>> import tape_compat as tf
    >>> tf.linalg.eigvals([[2.0]]).numpy().tolist()
    [(2+0j)]
    """
    return apply(_EIG.bind(vectors=False), (as_tensor(tensor),))


def pseudo_inverse(a: Any, rcond: Any = None) -> Any:
    """Pseudo-inverse; singular values below `rcond` times the largest count as 0."""
    a = _without_infinities(a)
    return jnp.linalg.pinv(a) if rcond is None else _cut_off(a, rcond)


@jax.custom_jvp
def _cut_off(a: Any, rcond: Any) -> Any:
    """The pseudo-inverse of the part of `a` that large singular values make."""
    return jnp.linalg.pinv(a, rtol=rcond)


@_cut_off.defjvp
def _cut_off_jvp(primals: Any, tangents: Any) -> Any:
    """JAX's derivative takes what is cut off for 0; it turns into what is kept, though.

    With a = u s vh and f the inverses of what is kept, the derivative of u f vh.
    """
    (a, rcond), (da, _) = primals, tangents
    u, s, vh = _svd_of(a, full_matrices=False)
    kept = s > rcond[..., None] * jnp.max(s, -1, keepdims=True, initial=0)
    f = jnp.where(kept, 1 / jnp.where(kept, s, 1), 0)
    (si, sj), (fi, fj) = [(x[..., :, None], x[..., None, :]) for x in (s, f)]
    one = kept[..., :, None] != kept[..., None, :]
    between = jnp.where(one, sj**2 - si**2, 1)
    straight = jnp.where(one, (sj * fj - si * fi) / between, 0).astype(a.dtype)
    turned = jnp.where(one, (si * fj - sj * fi) / between, -fi * fj).astype(a.dtype)
    uh, v, squares = adjoint_of(u), adjoint_of(vh), (f**2).astype(a.dtype)
    inner = uh @ da @ v
    left, right = da @ v - u @ inner, uh @ da - inner @ vh
    dp = u @ (straight * inner + turned * adjoint_of(inner)) @ vh
    dp += left * squares[..., None, :] @ vh + u @ (squares[..., :, None] * right)
    return _cut_off(a, rcond), adjoint_of(dp)


_PINV = Op(pseudo_inverse, "Pinv", check=_check_decomposed("Pinv")).bind()


def pinv(
    a: Any, rcond: Number = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The pseudo-inverse [..., n, m] of `a` [..., m, n].

    `rcond`: singular values up to this part of the largest count as 0; default 10 max(m, n) times
    the dtype's epsilon. `validate_args` has no effect: the rank is always checked.
    Raises: ValueError for a rank below 2, TypeError for integers.

    >>> import tape_compat as tf
    >>> tf.linalg.pinv([[2.0], [0.0]]).numpy().tolist()
    [[0.5, 0.0]]
    """
    return apply(_PINV, _with_bound(_matrices(a), rcond))


def _with_bound(matrices: Tensor, bound: Any) -> tuple[Tensor, ...]:
    """The inputs of an op of matrices that compares singular values with a bound, if any."""
    if bound is None or not matrices._aval.trainable:
        return (matrices,)
    return matrices, untracked(convert(bound, matrices.dtype.real_dtype))


def _matrices(a: Any) -> Tensor:
    tensor = as_tensor(a)
    if not tensor._aval.trainable:
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {tensor.dtype.name}).")
    rank = len(tensor._aval.shape)
    if rank < 2:
        raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {rank}).")
    return tensor


def _matrix_rank(a: Any, tol: Any = None) -> Any:
    s = _svd_of(a, compute_uv=False)
    if tol is None:
        tol = max(a.shape[-2:]) * jnp.max(s, -1, keepdims=True, initial=0) * jnp.finfo(s.dtype).eps
    return jnp.sum(s > tol, -1, dtype=jnp.int32)


_MATRIX_RANK = Op(_matrix_rank, "Sum", differentiable=False, check=_check_decomposed("Svd")).bind()


def matrix_rank(
    a: Any, tol: Number = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """How many singular values of `a` [..., m, n] exceed `tol`: int32 [...].

    `validate_args` has no effect: the rank is always checked.
    Raises: ValueError for a rank below 2, TypeError for integers.

    >>> import tape_compat as tf
    >>> int(tf.linalg.matrix_rank([[1.0, 1.0], [1.0, 1.0]]))
    1
    """
    return apply(_MATRIX_RANK, _with_bound(_matrices(a), tol))


_EXPM = Op(exponential, "MatrixExponential", check=check_square("MatrixExponential")).bind()


def expm(input: Any, name: str | None = None) -> Tensor:
    """The exponential of square matrices [..., n, n].

    Raises: ValueError for integers.

    >>> import tape_compat as tf
    >>> tf.linalg.expm([[0.0, 1.0], [0.0, 0.0]]).numpy().tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    x = as_tensor(input)
    if not x._aval.trainable:
        raise ValueError(f"tf.linalg.expm does not support matrices of type {x.dtype!r}")
    return apply(_EXPM, (x,))


@jax.custom_jvp
def _root(a: Any) -> Any:
    if not a.size:
        return a
    flat = a.reshape(-1, *a.shape[-2:])
    roots = _of_each(host_decompositions.root, flat).reshape(a.shape)
    if not jnp.issubdtype(a.dtype, jnp.complexfloating):
        roots = jnp.where(_are_real(roots), jnp.real(roots), jnp.nan)
    return roots.astype(a.dtype)


def _of_each(function: Callable[[Any], Any], matrices: Any) -> Any:
    """A loop, of more than one: 200 roots written out took 25 s to compile."""
    return function(matrices[0])[None] if len(matrices) == 1 else jax.lax.map(function, matrices)


def _are_real(roots: Any) -> Any:
    """Which matrices are real but for rounding: the Schur form behind a real root is complex where
    eigenvalues are."""
    largest, rest = (jnp.max(abs(x), (-2, -1), keepdims=True) for x in (roots, jnp.imag(roots)))
    return rest <= np.sqrt(jnp.finfo(roots.dtype).eps) * largest


@_root.defjvp
def _root_jvp(primals: Any, tangents: Any) -> Any:
    """X dX + dX X = dA, solved as n^2 equations. JAX has no rule for the Schur form behind it."""
    x = _root(primals[0])
    n = x.shape[-1]
    unit = jnp.eye(n, dtype=x.dtype)
    both = jnp.einsum("...ik,jl->...ijkl", x, unit) + jnp.einsum("ik,...lj->...ijkl", unit, x)
    both = both.reshape(*x.shape[:-2], n * n, n * n)
    change = tangents[0].reshape(*x.shape[:-2], n * n, 1)
    return x, jnp.linalg.solve(both, change).reshape(x.shape)


@op(kernel="MatrixSquareRoot", dtypes="float complex", check=check_square("MatrixSquareRoot"))
def sqrtm(input, name=None):
    """The principal square root of square matrices [..., n, n]; the host computes it.

    NaN where a real matrix has none that is real.

    >>> import tape_compat as tf
    >>> tf.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]]).numpy().tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    return _root(input)


@jax.custom_jvp
def _logarithm(a: Any) -> Any:
    if not a.size:
        return a
    flat = a.reshape(-1, *a.shape[-2:])
    return _of_each(_one_logarithm, flat).reshape(a.shape)


@_logarithm.defjvp
def _logarithm_jvp(primals: Any, tangents: Any) -> Any:
    raise NotImplementedError("the derivative of tf.linalg.logm; TensorFlow has none either")


def _one_logarithm(a: Any) -> Any:
    """Square roots until the matrix is near the identity, where log(I + X) is the integral over t
    of X (I + t X)^-1. Source: Higham, Functions of Matrices, section 11."""
    unit = jnp.eye(a.shape[-1], dtype=a.dtype)

    def is_far(state: Any) -> Any:
        x, count = state
        return (jnp.linalg.norm(x - unit, 1) > 0.25) & (count < 64)

    def halved(state: Any) -> Any:
        x, count = state
        return host_decompositions.root(x), count + 1

    x, count = lax.while_loop(is_far, halved, (a, 0))
    x = x - unit
    points, weights = np.polynomial.legendre.leggauss(8)  # on [-1, 1]
    parts = [
        weight / 2 * jnp.linalg.solve(unit + (point + 1) / 2 * x, x)
        for point, weight in zip(points.tolist(), weights.tolist())
    ]
    return jnp.sum(jnp.stack(parts), 0) * (2.0**count).astype(a.dtype)


@op(kernel="MatrixLogarithm", dtypes="complex", check=check_square("MatrixLogarithm"))
def logm(input, name=None):
    """The principal logarithm of complex square matrices [..., n, n], by square roots of the host.

    It has no derivative.

    >>> import tape_compat as tf
    >>> x = tf.constant([[1.0, 1.0], [0.0, 1.0]], tf.complex64)
    >>> tf.math.real(tf.linalg.logm(x)).numpy().round(4).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    return _logarithm(input)


name_ops(globals())
