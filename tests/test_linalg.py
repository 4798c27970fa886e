"""Linear algebra: values against NumPy, derivatives against differences, TensorFlow's errors."""

import numpy as np
import pytest
import scipy.linalg

import tape_compat as tf
from tape_compat import linalg
from tests import test_rules as checks
from tests.tables import Row

RNG = np.random.default_rng(11)
A = RNG.normal(size=(2, 3))
B = RNG.normal(size=(3, 4))
S = RNG.normal(size=(3, 3)) + 2 * np.eye(3)
BATCH = RNG.normal(size=(2, 3, 3)) + 2 * np.eye(3)
V = RNG.normal(size=3)
P = S @ S.T + np.eye(3)
T = np.swapaxes


def positive(x):
    """A positive definite matrix of any matrix, so that central differences stay inside."""
    return tf.matmul(x, x, transpose_b=True) + tf.eye(x.shape[-1], dtype=x.dtype)


def np_positive(x):
    return x @ T(x, -1, -2) + np.eye(x.shape[-1])


def hermitian(x):
    return x + tf.linalg.matrix_transpose(x)


def row(label, op, args, reference, **more):
    return Row(op, args, reference, label=label, **more)


def np_norm(order, axis=None, keepdims=False):
    return lambda x: np.linalg.norm(x, order, axis, keepdims)


def banded(x, k, shape):
    out = np.zeros(shape)
    for i, value in enumerate(x):
        out[i - min(k, 0), i + max(k, 0)] = value
    return out


ROWS = [
    row("matmul", tf.matmul, [A, B], np.matmul),
    row("matmul transposed", lambda a, b: tf.matmul(a, b, transpose_a=True, transpose_b=True),
        [A.T.copy(), B.T.copy()], lambda a, b: a.T @ b.T),
    row("matmul batch", tf.matmul, [BATCH, B], np.matmul),
    row("matmul adjoint", lambda a, b: tf.matmul(a, b, adjoint_a=True), [S + 1j * P, S - 2j * P],
        lambda a, b: a.conj().T @ b, orders=0),
    row("matvec", tf.linalg.matvec, [A, V], np.matmul),
    row("matvec transposed", lambda a, x: tf.linalg.matvec(a, x, transpose_a=True), [A, V[:2]],
        lambda a, x: a.T @ x),
    row("tensordot", lambda a, b: tf.tensordot(a, b, [[0, 2], [1, 0]]),
        [BATCH, BATCH[:, :2].T.copy()], lambda a, b: np.tensordot(a, b, [[0, 2], [1, 0]])),
    row("tensordot outer", lambda a, b: tf.tensordot(a, b, 0), [A, V], lambda a, b:
        np.tensordot(a, b, 0)),
    row("einsum", lambda a, b: tf.einsum("bij, jk -> bki", a, b), [BATCH, B], lambda a, b:
        np.einsum("bij,jk->bki", a, b)),
    row("einsum ellipsis", lambda a, b: tf.einsum("...ij,...j->...i", a, b), [BATCH, V],
        lambda a, b: np.einsum("...ij,...j->...i", a, b)),
    row("einsum diagonal", lambda a: tf.einsum("ii->i", a), [S], np.diag),
    row("einsum implicit", lambda a, b: tf.einsum("ij,jk", a, b), [A, B], np.matmul),
    row("cross", tf.linalg.cross, [V, S[0]], np.cross),
    row("matrix_transpose", tf.linalg.matrix_transpose, [BATCH], lambda x: T(x, -1, -2)),
    row("norm", tf.norm, [A], np_norm(None)),
    row("norm axis", lambda x: tf.norm(x, axis=1, keepdims=True), [A], np_norm(None, 1, True)),
    row("norm 1", lambda x: tf.norm(x, 1, axis=1), [A], np_norm(1, 1)),
    row("norm 3", lambda x: tf.norm(x, 3, axis=0), [A], np_norm(3, 0)),
    row("norm inf", lambda x: tf.norm(x, np.inf, axis=1), [A], np_norm(np.inf, 1), orders=1),
    row("norm fro", lambda x: tf.norm(x, "fro", axis=[0, 1]), [A], np_norm("fro", (0, 1))),
    row("norm matrix 1", lambda x: tf.norm(x, 1, axis=[0, 1]), [A], np_norm(1, (0, 1)), orders=1),
    row("norm matrix inf", lambda x: tf.norm(x, np.inf, axis=[-2, -1]), [A],
        np_norm(np.inf, (-2, -1)), orders=1),
    row("norm spectral", lambda x: tf.norm(x, 2, axis=[0, 1]), [A], np_norm(2, (0, 1))),
    row("normalize", lambda x: tf.linalg.normalize(x, axis=1), [A], lambda x:
        [x / np.linalg.norm(x, axis=1, keepdims=True), np.linalg.norm(x, axis=1, keepdims=True)]),
    row("diag", tf.linalg.diag, [A], lambda x: np.stack([np.diag(r) for r in x])),
    row("diag below", lambda x: tf.linalg.diag(x, k=-1), [V], lambda x: np.diag(x, -1)),
    row("diag rectangle", lambda x: tf.linalg.diag(x, k=1, num_rows=3, num_cols=5), [V],
        lambda x: banded(x, 1, (3, 5))),
    row("diag band", lambda x: tf.linalg.diag(x, k=(0, 1)), [A], lambda x:
        np.diag(x[1]) + np.diag(x[0, 1:], 1)),
    row("diag_part", tf.linalg.diag_part, [BATCH], lambda x: np.diagonal(x, axis1=1, axis2=2)),
    row("diag_part above", lambda x: tf.linalg.diag_part(x, k=1), [A], lambda x: np.diag(x, 1)),
    row("diag_part band", lambda x: tf.linalg.diag_part(x, k=(-1, 1)), [S], lambda x: np.stack(
        [[0, *np.diag(x, 1)], np.diag(x), [*np.diag(x, -1), 0]])),
    row("diag_part aligned", lambda x: tf.linalg.diag_part(
        x, k=(-1, 1), padding_value=7, align="LEFT_RIGHT"), [S], lambda x: np.stack(
        [[*np.diag(x, 1), 7], np.diag(x), [7, *np.diag(x, -1)]])),
    row("set_diag", tf.linalg.set_diag, [S, V], lambda x, d: x - np.diag(np.diag(x)) + np.diag(d)),
    row("set_diag above", lambda x, d: tf.linalg.set_diag(x, d, k=1), [S, V[:2]], lambda x, d:
        x - np.diag(np.diag(x, 1), 1) + np.diag(d, 1)),
    row("band_part", lambda x: tf.linalg.band_part(x, 1, 0), [S], lambda x:
        np.tril(np.triu(x, -1))),
    row("band_part upper", lambda x: tf.linalg.band_part(x, 0, -1), [BATCH], np.triu),
    row("trace", tf.linalg.trace, [BATCH], lambda x: np.trace(x, axis1=1, axis2=2)),
    row("tensor_diag", tf.linalg.tensor_diag, [A], lambda x:
        np.diag(x.ravel()).reshape(2, 3, 2, 3)),
    row("tensor_diag_part", tf.linalg.tensor_diag_part, [S], np.diag),
    row("inv", tf.linalg.inv, [BATCH], np.linalg.inv),
    row("inv adjoint", lambda x: tf.linalg.inv(x, adjoint=True), [S], lambda x: np.linalg.inv(x.T)),
    row("det", tf.linalg.det, [BATCH], np.linalg.det),
    row("slogdet", lambda x: list(tf.linalg.slogdet(x)), [S], lambda x: list(np.linalg.slogdet(x))),
    row("logdet", lambda x: tf.linalg.logdet(positive(x)), [S], lambda x:
        np.log(np.linalg.det(np_positive(x)))),
    row("cholesky", lambda x: tf.linalg.cholesky(positive(x)), [BATCH], lambda x:
        np.linalg.cholesky(np_positive(x))),
    row("cholesky_solve", lambda x, b: tf.linalg.cholesky_solve(tf.linalg.cholesky(positive(x)), b),
        [S, B], lambda x, b: np.linalg.solve(np_positive(x), b)),
    row("solve", tf.linalg.solve, [S, B], np.linalg.solve),
    row("solve adjoint", lambda a, b: tf.linalg.solve(a, b, adjoint=True), [S, B], lambda a, b:
        np.linalg.solve(a.T, b)),
    row("triangular_solve", tf.linalg.triangular_solve, [S, B], lambda a, b:
        np.linalg.solve(np.tril(a), b)),
    row("triangular_solve upper", lambda a, b: tf.linalg.triangular_solve(a, b, False, True),
        [S, B], lambda a, b: np.linalg.solve(np.triu(a).T, b)),
    row("triangular_solve batch", tf.linalg.triangular_solve, [BATCH, B], lambda a, b:
        np.linalg.solve(np.tril(a), np.broadcast_to(b, (2, 3, 4)))),
    row("lstsq tall", tf.linalg.lstsq, [A.T.copy(), B], lambda a, b: np.linalg.lstsq(a, b)[0]),
    row("lstsq wide", tf.linalg.lstsq, [A, B[:2]], lambda a, b: np.linalg.lstsq(a, b)[0]),
    row("lstsq ridge", lambda a, b: tf.linalg.lstsq(a, b, 0.5), [A.T.copy(), B], lambda a, b:
        np.linalg.solve(a.T @ a + 0.5 * np.eye(2), a.T @ b)),
    row("lstsq slow", lambda a, b: tf.linalg.lstsq(a, b, fast=False), [A.T.copy(), B], lambda a, b:
        np.linalg.lstsq(a, b)[0], orders=1),
    row("qr", lambda x: list(tf.linalg.qr(x)), [S], lambda x: list(np.linalg.qr(x))),
    row("qr tall", lambda x: list(tf.linalg.qr(x)), [A.T.copy()], lambda x: list(np.linalg.qr(x))),
    row("qr wide", lambda x: list(tf.linalg.qr(x)), [A], lambda x: list(np.linalg.qr(x))),
    row("singular values", lambda x: tf.linalg.svd(x, compute_uv=False), [A], lambda x:
        np.linalg.svd(x, compute_uv=False)),
    # Squares of the vectors, whose signs are free.
    row("svd tall", lambda x: [t**2 for t in tf.linalg.svd(x)], [A.T.copy()], lambda x:
        (lambda u, s, vh: [s**2, u**2, vh.T**2])(*np.linalg.svd(x, False))),
    row("svd wide", lambda x: [t**2 for t in tf.linalg.svd(x)], [A], lambda x:
        (lambda u, s, vh: [s**2, u**2, vh.T**2])(*np.linalg.svd(x, False))),
    row("svd full", lambda x: [t**2 for t in tf.linalg.svd(x, full_matrices=True)], [S], lambda x:
        (lambda u, s, vh: [s**2, u**2, vh.T**2])(*np.linalg.svd(x))),
    row("eigh", lambda x: [t**2 for t in tf.linalg.eigh(hermitian(x))], [S], lambda x:
        [t**2 for t in np.linalg.eigh(x + x.T)]),
    row("eigvalsh", lambda x: tf.linalg.eigvalsh(hermitian(x)), [BATCH], lambda x:
        np.linalg.eigvalsh(x + T(x, -1, -2))),
    row("pinv", tf.linalg.pinv, [A], np.linalg.pinv, orders=1),
    row("expm", tf.linalg.expm, [np.diag(V) + np.eye(3, k=1)], scipy.linalg.expm),
    row("sqrtm", lambda x: tf.linalg.sqrtm(positive(x)), [S], lambda x:
        scipy.linalg.sqrtm(np_positive(x))),
    row("eye", lambda: linalg.eye(2), [], lambda: np.eye(2)),
    row("matrix_rank", tf.linalg.matrix_rank, [np.outer(V, V)], lambda x: 1, gradient=False),
]  # fmt: skip

CHECKS = [
    checks.test_value,
    checks.test_gradient_is_the_slope,
    checks.test_second_derivative_is_the_slope_of_the_gradient,
    checks.test_forward_and_reverse_agree,
]


def runs(check, row):
    if check is checks.test_value:
        return True
    second = check is checks.test_second_derivative_is_the_slope_of_the_gradient
    return bool(checks.sources_of(row)) and row.gradient and row.orders > int(second)


CASES = [(check, r) for check in CHECKS for r in ROWS if runs(check, r)]


@pytest.mark.parametrize(
    ("check", "row"), CASES, ids=[f"{r.label}-{check.__name__[5:]}" for check, r in CASES]
)
def test_rows(check, row):
    check(row)


# -- what factors must satisfy ---------------------------------------------------------------------

COMPLEX = S + 1j * RNG.normal(size=(3, 3))
MATRICES = {"square": S, "tall": A.T, "wide": A, "batch": BATCH, "complex": COMPLEX, "empty": A[:0]}


def adjoint(x):
    return np.conj(T(x, -1, -2))


@pytest.mark.parametrize("name", [n for n in MATRICES if n != "empty"])
@pytest.mark.parametrize("full", [False, True])
def test_factors_multiply_to_the_matrix(name, full):
    x = MATRICES[name]
    s, u, v = (t.numpy() for t in tf.linalg.svd(x, full_matrices=full))
    p = s.shape[-1]
    np.testing.assert_allclose(u[..., :p] * s[..., None, :] @ adjoint(v[..., :p]), x, atol=1e-12)
    assert (np.diff(s) <= 0).all()
    if not full or name != "wide":
        q, r = (t.numpy() for t in tf.linalg.qr(x, full_matrices=full))
        np.testing.assert_allclose(q @ r, x, atol=1e-12)
        np.testing.assert_allclose(
            adjoint(q) @ q, np.eye(q.shape[-1]) + 0 * adjoint(q) @ q, atol=1e-12
        )


def test_eigenvectors():
    w, v = (t.numpy() for t in tf.linalg.eigh(P))
    np.testing.assert_allclose(P @ v, v * w, atol=1e-12)
    w, v = (t.numpy() for t in tf.linalg.eig(S))
    np.testing.assert_allclose(S @ v, v * w, atol=1e-12)
    np.testing.assert_allclose(
        np.sort_complex(tf.linalg.eigvals(S).numpy()), np.sort_complex(w), atol=1e-12
    )
    factors, p = (t.numpy() for t in tf.linalg.lu(S))
    lower = np.tril(factors, -1) + np.eye(3)
    np.testing.assert_allclose(lower @ np.triu(factors), S[p], atol=1e-12)


def test_only_the_lower_triangle_is_read():
    spoiled = P + np.triu(np.full((3, 3), 9.0), 1)
    for op in (tf.linalg.cholesky, tf.linalg.eigvalsh):
        np.testing.assert_allclose(op(spoiled).numpy(), op(P).numpy())


@pytest.mark.parametrize(
    ("op", "dtype"),
    [
        (lambda x: tf.matmul(x, x), tf.float32),
        (lambda x: tf.linalg.eig(x)[0], tf.complex64),
        (lambda x: tf.linalg.eigvalsh(x), tf.float32),
        (lambda x: tf.linalg.slogdet(x).sign, tf.float32),
        (lambda x: tf.linalg.matrix_rank(x), tf.int32),
        (lambda x: tf.matmul(tf.cast(x, tf.int32), tf.cast(x, tf.int32)), tf.int32),
        (lambda x: tf.norm(tf.cast(x, tf.complex64)), tf.complex64),
        (lambda x: tf.norm(tf.cast(x, tf.complex64), 1), tf.float32),
        (lambda x: tf.linalg.trace(tf.cast(x, tf.int32)), tf.int32),
    ],
)
def test_dtype(op, dtype):
    assert op(tf.eye(2)).dtype is dtype


def test_empty():
    assert tf.matmul(tf.ones([2, 0]), tf.ones([0, 3])).numpy().tolist() == [[0.0] * 3] * 2
    assert tf.matmul(tf.ones([0, 3]), tf.ones([3, 2])).shape == (0, 2)
    assert tf.linalg.inv(tf.zeros([0, 0])).shape == (0, 0)
    assert float(tf.linalg.det(tf.zeros([0, 0]))) == 1.0
    assert tf.einsum("ij,jk->ik", tf.ones([2, 0]), tf.ones([0, 1])).numpy().tolist() == [[0], [0]]


def test_small_integers_multiply_to_int32():
    a = tf.constant([[100, 100]], tf.int8)
    assert tf.matmul(a, a, transpose_b=True, output_type=tf.int32).numpy().tolist() == [[20000]]


# -- special gradients: numbers written down from TensorFlow 2.21 ----------------------------------


def gradient(function, x):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x).numpy()


def test_norm_at_zero():
    assert np.isnan(gradient(tf.norm, [0.0, 0.0])).all()
    assert gradient(lambda x: tf.norm(x, 1), [0.0, 2.0]).tolist() == [0.0, 1.0]
    assert gradient(lambda x: tf.norm(x, np.inf), [2.0, 2.0]).tolist() == [0.5, 0.5]


def test_cholesky_has_a_symmetric_gradient():
    g = gradient(lambda x: tf.linalg.cholesky(x), P)
    np.testing.assert_allclose(g, g.T)


def test_eigh_has_a_lower_triangular_gradient():
    g = gradient(lambda x: tf.linalg.eigvalsh(x)[0], P)
    np.testing.assert_array_equal(g, np.tril(g))
    vector = np.linalg.eigh(P)[1][:, 0]
    full = np.outer(vector, vector)
    np.testing.assert_allclose(g, np.tril(full) + np.tril(full, -1), atol=1e-12)


EQUAL = np.diag([1.0, 1.0, 2.0])


@pytest.mark.parametrize(
    "op",
    [
        lambda x: tf.linalg.eigh(x)[1] ** 2,
        lambda x: tf.linalg.svd(x)[1] ** 2,
        lambda x: tf.linalg.svd(x)[2] ** 2,
        lambda x: tf.linalg.svd(x)[0],
        lambda x: tf.linalg.svd(x, compute_uv=False),
    ],
)
def test_equal_values_give_finite_gradients(op):
    assert np.isfinite(gradient(op, EQUAL)).all()
    with tf.GradientTape() as tape:
        x = tf.Variable(EQUAL)
        tape.watch(x)
        with tf.GradientTape() as inner:
            y = op(x)
        g = inner.gradient(y, x)
    assert np.isfinite(tape.gradient(g, x, unconnected_gradients="zero").numpy()).all()


def test_values_alone_of_equal_singular_values():
    np.testing.assert_allclose(
        gradient(lambda x: tf.linalg.svd(x)[0], EQUAL), np.eye(3), atol=1e-12
    )


def test_complex_products_are_conjugated():
    z = np.array([[1 + 2j]])
    g = gradient(lambda x: tf.math.real(tf.matmul(x, x)), z)
    assert g.tolist() == [[2 - 4j]]


def test_eigenvectors_of_any_matrix_have_a_gradient():
    """Against central differences, on lengths, which do not depend on the free phase."""
    weight = np.cos(np.arange(9.0)).reshape(3, 3)

    def value(x):
        w, v = tf.linalg.eig(x)
        return tf.reduce_sum(tf.abs(v) ** 2 * weight) + tf.reduce_sum(tf.abs(w) ** 2)

    (slope,) = checks.central(lambda arrays: float(value(tf.constant(arrays[0]))), [P + 0.1 * S])
    np.testing.assert_allclose(gradient(value, P + 0.1 * S), slope, rtol=1e-5, atol=1e-7)


def test_singular_matrices_do_not_raise():
    assert not np.isfinite(tf.linalg.inv(tf.zeros([2, 2])).numpy()).all()
    assert np.isnan(tf.linalg.cholesky([[-1.0, 0.0], [0.0, 1.0]]).numpy()).any()
    assert np.isnan(tf.linalg.sqrtm([[-1.0, 0.0], [0.0, -2.0]]).numpy()).any()


# -- operators and recording -----------------------------------------------------------------------


def test_operator():
    a, b = tf.constant(A), tf.Variable(B)
    np.testing.assert_allclose((a @ b).numpy(), A @ B)
    np.testing.assert_allclose((a @ B).numpy(), A @ B)
    np.testing.assert_allclose((A @ tf.constant(B)).numpy(), A @ B)


def test_a_layer_is_one_program(deferred, counted):
    w = tf.Variable(RNG.normal(size=(3, 3)))

    def step():
        with tf.GradientTape() as tape:
            loss = tf.linalg.trace(tf.linalg.inv(w @ w + tf.eye(3, dtype=tf.float64)))
        return tape.gradient(loss, w).numpy()

    step(), step()
    before = counted()
    step()
    after = counted()
    assert after["dispatches"] - before["dispatches"] == 1
    assert after["compiles"] == before["compiles"]


# -- errors ----------------------------------------------------------------------------------------

Invalid = tf.errors.InvalidArgumentError
x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
v = tf.constant([1.0, 2.0, 3.0])
square = tf.constant([[2.0, 1.0], [1.0, 3.0]])
ERRORS = [
    (lambda: x @ x, Invalid, "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]"),
    (lambda: x @ v, Invalid, "In[0] and In[1] has different ndims: [2,3] vs. [3]"),
    (lambda: v @ v, Invalid, "In[0] and In[1] ndims must be == 2: 1"),
    (lambda: tf.matmul(x, tf.constant([[1]])), Invalid, "cannot compute MatMul as input #1(zero"),
    (lambda: tf.matmul([[True]], [[True]]), Invalid, "Value for attr 'T' of bool is not in the"),
    (
        lambda: tf.matmul(tf.ones([2, 2, 3]), tf.ones([3, 3, 2])),
        Invalid,
        "In[0] and In[1] must have",
    ),
    (
        lambda: tf.matmul(x, x, True, adjoint_a=True),
        ValueError,
        "Only one of `transpose_a` and `adj",
    ),
    (
        lambda: tf.linalg.matvec(x, [1.0, 2.0]),
        Invalid,
        "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,1]",
    ),
    (
        lambda: tf.tensordot(x, x, 1),
        Invalid,
        "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]",
    ),
    (lambda: tf.tensordot(x, v, [[0, 1], [0]]), ValueError, "Different number of contraction axes"),
    (lambda: tf.tensordot(x, v, [[5], [0]]), IndexError, "list index out of range"),
    (lambda: tf.einsum("ij,jk->ik", x, x), Invalid, "Expected dimension 3 at axis 0 of the input"),
    (lambda: tf.einsum("ij->ijk", x), ValueError, "Output subscripts contain the label k not"),
    (
        lambda: tf.einsum("ij,jk->ik", x),
        ValueError,
        'Got 1 inputs for equation "ij,jk->ik", expecting 2',
    ),
    (lambda: tf.einsum("ij->i", x, rubbish=1), TypeError, "Invalid keyword arguments for einsum"),
    (lambda: tf.norm(x, "foo"), ValueError, "'ord' must be a supported vector norm, got foo"),
    (lambda: tf.norm(x, 0), ValueError, "'ord' must be a supported vector norm, got 0"),
    (lambda: tf.norm(x, 3, [0, 1]), ValueError, "'ord' must be a supported matrix norm in"),
    (lambda: tf.norm(x, axis=[0, 1, 2]), ValueError, "'axis' must be None, an integer, or a tuple"),
    (lambda: tf.norm([3, 4]), Invalid, "Value for attr 'T' of int32 is not in the list of allowed"),
    (lambda: tf.linalg.trace(v), Invalid, "input must be at least 2-dim, received shape: [3]"),
    (
        lambda: tf.linalg.diag_part(x, k=5),
        Invalid,
        "lower_diag_index is out of bound: 5. It must be",
    ),
    (lambda: tf.linalg.set_diag(x, v), Invalid, "Either first dimensions of diagonal don't match"),
    (lambda: tf.linalg.band_part(x, 5, 0), Invalid, "num_lower must be negative or less or equal"),
    (lambda: tf.linalg.inv(x), Invalid, "Input matrix must be square."),
    (lambda: tf.linalg.det(x), Invalid, "Input matrix must be square."),
    (lambda: tf.linalg.inv(v), Invalid, "Input tensor 0 must have rank >= 2, got 1"),
    (lambda: tf.linalg.solve(square, [1.0, 2.0]), Invalid, "All input tensors must have the same"),
    (lambda: tf.linalg.adjoint(v), ValueError, "Argument `a` should be a (batch) matrix with rank"),
    (
        lambda: tf.linalg.cross([1.0], [1.0]),
        tf.errors.FailedPreconditionError,
        "Cross-products are",
    ),
    (lambda: tf.linalg.cross(x, v), Invalid, "Both inputs must be of same shape: [2,3] vs. [3]"),
]


@pytest.mark.parametrize(("call", "error", "words"), ERRORS, ids=range(len(ERRORS)))
def test_error(call, error, words):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value).startswith(words)
