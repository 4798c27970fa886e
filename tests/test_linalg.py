"""Linear algebra: what factors satisfy, special gradients, dtypes, TensorFlow's errors."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.ops import diagonals
from tape_compat._src.ops.decompositions import _logarithm, _root

RNG = np.random.default_rng(11)
A = RNG.normal(size=(2, 3))
B = RNG.normal(size=(3, 4))
S = RNG.normal(size=(3, 3)) + 2 * np.eye(3)
BATCH = RNG.normal(size=(2, 3, 3)) + 2 * np.eye(3)
V = RNG.normal(size=3)
P = S @ S.T + np.eye(3)
T = np.swapaxes


# -- what factors must satisfy ---------------------------------------------------------------------

COMPLEX = S + 1j * RNG.normal(size=(3, 3))
MATRICES = {"square": S, "tall": A.T, "wide": A, "batch": BATCH, "complex": COMPLEX, "empty": A[:0]}


def adjoint(x):
    return np.conj(T(x, -1, -2))


@pytest.mark.part
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


def test_gradient_of_what_the_further_vectors_span():
    """The projection on the vectors without a singular value does not depend on their choice."""
    x = np.random.default_rng(0).normal(size=(5, 2))
    moved = np.random.default_rng(1).normal(size=(5, 2))

    def projection(x):
        others = tf.linalg.svd(x, full_matrices=True)[1][:, 2:]
        return (others @ tf.transpose(others))[0, 1]

    ahead, behind = (float(projection(tf.constant(x + h * moved))) for h in (1e-6, -1e-6))
    along = np.sum(gradient(projection, x) * moved)
    np.testing.assert_allclose(along, (ahead - behind) / 2e-6, rtol=1e-6)


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

    x, step = P + 0.1 * S, 1e-5
    slope = np.zeros((3, 3))
    for at in np.ndindex(3, 3):
        moved = np.zeros((3, 3))
        moved[at] = step
        slope[at] = float(value(tf.constant(x + moved)) - value(tf.constant(x - moved))) / (
            2 * step
        )
    np.testing.assert_allclose(gradient(value, x), slope, rtol=1e-5, atol=1e-7)


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


@pytest.mark.part
@pytest.mark.parametrize("align", ["RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"])
@pytest.mark.parametrize("k", [(0, 0), (2, 2), (-1, -1), (-1, 1), (-2, 0), (1, 3), (-3, 5)])
@pytest.mark.parametrize("rows, columns", [(6, 6), (4, 7), (7, 6)])
def test_bands_of_diagonals(rows, columns, k, align):
    """Those of few diagonals are broadcast, of many looked up: what was set is what is there."""
    x = RNG.normal(size=(2, rows, columns))
    distances = np.arange(columns) - np.arange(rows)[:, None]
    inside = (k[0] <= distances) & (distances <= k[1])
    packed = tf.linalg.diag_part(x, k=k, align=align)
    found = tf.linalg.set_diag(np.zeros_like(x), packed, k=k, align=align)
    np.testing.assert_array_equal(found, np.where(inside, x, 0))
    if k[0] <= 0 <= k[1] and (k[0] < 0 or rows <= columns) and (k[1] > 0 or columns <= rows):
        full = tf.linalg.diag(packed, k=k, num_rows=rows, num_cols=columns, align=align)
        np.testing.assert_array_equal(full, np.where(inside, x, 0))


@pytest.mark.parametrize("k", [(0, 0), (-1, 1)])
def test_gradients_of_diagonals_scatter_nothing(k):
    settings = {"k": k, "align": "RIGHT_LEFT"}
    packed, matrices = jnp.ones((4, *((3,) if k[0] < k[1] else ()), 8)), jnp.ones((4, 8, 8))

    def made(x, y):
        y = diagonals._set_diag(y, x, **settings)
        return y + diagonals._diag(x, jnp.zeros(()), rows=8, columns=8, **settings)

    slope = jax.grad(lambda *a: jnp.sum(made(*a) ** 2), (0, 1))
    text = str(jax.make_jaxpr(slope)(packed, matrices))
    assert "scatter" not in text and "gather" not in text


def test_roots_and_logarithms_of_many_matrices_are_a_loop():
    """Written out, each matrix would be a program of its own within the program."""
    sizes = []
    for count in (2, 40):
        x = jnp.eye(3, dtype="complex64")[None] * jnp.arange(1.0, count + 1)[:, None, None]
        for function in (_root, _logarithm):
            sizes.append(len(str(jax.make_jaxpr(function)(x)).splitlines()))
    assert sizes[:2] == sizes[2:]
