"""Linear operators: every method of each against the dense matrix, gradients, functions, errors."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_compat as tf

lin = tf.linalg
RNG = np.random.default_rng(5)


def real(*shape):
    return RNG.normal(size=shape)


def imaginary(*shape):
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


def regular(*batch, n=3, of=real):
    return of(*batch, n, n) + 3 * np.eye(n)


def positive(*batch, n=3, of=real):
    x = of(*batch, n, n)
    return x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(n)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def diagonal(x):
    return x[..., None] * np.eye(x.shape[-1])


def householder(v):
    v = v / np.linalg.norm(v, axis=-1, keepdims=True)
    return np.eye(v.shape[-1]) - 2 * v[..., :, None] * np.conj(v)[..., None, :]


def permutation(p):
    return np.eye(len(p))[p]


def toeplitz(col, row):
    n = col.shape[-1]
    i = np.arange(n)[:, None] - np.arange(n)
    return np.where(i >= 0, col[..., np.abs(i)], row[..., np.abs(i)])


def circulant(spectrum):
    """By its columns: the transform back of the spectrum times the transform of a unit vector."""
    n = spectrum.size
    units = np.eye(n).reshape(n, *spectrum.shape)
    axes = tuple(range(1, units.ndim))
    columns = np.fft.ifftn(spectrum * np.fft.fftn(units, axes=axes), axes=axes)
    return columns.reshape(n, n).T


def kron(a, b):
    product = a[..., :, None, :, None] * b[..., None, :, None, :]
    rows, columns = a.shape[-2] * b.shape[-2], a.shape[-1] * b.shape[-1]
    return product.reshape(*product.shape[:-4], rows, columns)


def blocks(rows):
    """Rows of blocks, None for zeros, batch axes broadcast."""
    flat = [block for row in rows for block in row if block is not None]
    batch = np.broadcast_shapes(*(block.shape[:-2] for block in flat))
    heights = [next(b.shape[-2] for b in row if b is not None) for row in rows]
    widths = [next(b.shape[-1] for b in column if b is not None) for column in zip(*rows)]
    return np.concatenate(
        [
            np.concatenate(
                [
                    np.broadcast_to(np.zeros((1, 1)) if b is None else b, (*batch, h, w))
                    for b, w in zip(row, widths)
                ],
                -1,
            )
            for row, h in zip(rows, heights)
        ],
        -2,
    )


def tridiagonal(upper, main, lower):
    n = main.shape[-1]
    return (
        diagonal(main)
        + np.pad(diagonal(upper), [(0, 0)] * (main.ndim - 1) + [(0, 0), (1, 0)])[..., :n]
        + np.pad(diagonal(lower)[..., 1:], [(0, 0)] * main.ndim + [(0, 1)])
    )


@dataclasses.dataclass(frozen=True)
class Row:
    """An operator: made of parameters by `make`, and of arrays by `dense` what its matrix is."""

    id: str
    make: Callable[..., Any]
    parameters: list[Any]
    dense: Callable[..., Any]
    singular: bool = False


def full(x, **hints):
    return lin.LinearOperatorFullMatrix(x, **hints)


def spd(x):
    return full(x, is_self_adjoint=True, is_positive_definite=True)


def sequence(*diagonals):
    return lin.LinearOperatorTridiag(diagonals, diagonals_format="sequence")


UPPER, MAIN, LOWER = real(4), real(4) + 5, real(4)
THREE = real(2, 3, 4) + np.array([0, 6, 0])[:, None]
HERMITIAN = np.fft.fft(real(4) + np.array([5, 0, 0, 0]))

ROWS = [
    Row("full", full, [regular()], lambda x: x),
    Row("full batch", full, [regular(2)], lambda x: x),
    Row("full complex", full, [regular(of=imaginary)], lambda x: x),
    Row("full wide", full, [real(2, 3)], lambda x: x),
    Row("full positive", spd, [positive(2)], lambda x: x),
    Row("full positive complex", spd, [positive(of=imaginary)], lambda x: x),
    Row("triangular", lin.LinearOperatorLowerTriangular, [regular(2)], np.tril),
    Row("triangular complex", lin.LinearOperatorLowerTriangular, [regular(of=imaginary)], np.tril),
    Row("diag", lin.LinearOperatorDiag, [real(3)], diagonal),
    Row("diag batch", lin.LinearOperatorDiag, [real(2, 3)], diagonal),
    Row("diag complex", lin.LinearOperatorDiag, [imaginary(3)], diagonal),
    Row("identity", lambda: lin.LinearOperatorIdentity(3, dtype="float64"), [], lambda: np.eye(3)),
    Row(
        "identity batch",
        lambda: lin.LinearOperatorIdentity(3, [2], dtype="float64"),
        [],
        lambda: np.broadcast_to(np.eye(3), (2, 3, 3)),
    ),
    Row(
        "scaled",
        lambda x: lin.LinearOperatorScaledIdentity(3, x),
        [real(2)],
        lambda x: x[:, None, None] * np.eye(3),
    ),
    Row(
        "scaled complex",
        lambda x: lin.LinearOperatorScaledIdentity(2, x),
        [imaginary()],
        lambda x: x * np.eye(2),
    ),
    Row(
        "zeros",
        lambda: lin.LinearOperatorZeros(3, batch_shape=[2], dtype="float64"),
        [],
        lambda: np.zeros((2, 3, 3)),
        singular=True,
    ),
    Row(
        "zeros wide",
        lambda: lin.LinearOperatorZeros(
            2, 3, dtype="float64", is_square=False, is_self_adjoint=False
        ),
        [],
        lambda: np.zeros((2, 3)),
    ),
    Row("householder", lin.LinearOperatorHouseholder, [real(2, 3)], householder),
    Row("householder complex", lin.LinearOperatorHouseholder, [imaginary(3)], householder),
    Row(
        "permutation",
        lambda: lin.LinearOperatorPermutation([1, 2, 0], dtype="float64"),
        [],
        lambda: permutation([1, 2, 0]),
    ),
    Row(
        "circulant",
        lambda x: lin.LinearOperatorCirculant(x, "complex128"),
        [imaginary(4)],
        circulant,
    ),
    Row(
        "circulant real",
        lambda: lin.LinearOperatorCirculant(HERMITIAN, "float64"),
        [],
        lambda: circulant(HERMITIAN).real,
    ),
    Row(
        "circulant 2D",
        lambda x: lin.LinearOperatorCirculant2D(x, "complex128"),
        [imaginary(2, 3)],
        circulant,
    ),
    Row(
        "circulant 3D",
        lambda x: lin.LinearOperatorCirculant3D(x, "complex128"),
        [real(2, 1, 2) + 4],
        circulant,
    ),
    Row("toeplitz", lin.LinearOperatorToeplitz, [real(4) + 3, real(2, 4) + 3], toeplitz),
    Row("toeplitz complex", lin.LinearOperatorToeplitz, [imaginary(3), imaginary(3)], toeplitz),
    Row(
        "tridiag",
        lin.LinearOperatorTridiag,
        [THREE],
        lambda x: tridiagonal(x[..., 0, :], x[..., 1, :], x[..., 2, :]),
    ),
    Row(
        "tridiag complex",
        lin.LinearOperatorTridiag,
        [imaginary(3, 4)],
        lambda x: tridiagonal(*x),
    ),
    Row("tridiag sequence", sequence, [UPPER, MAIN, LOWER], tridiagonal),
    Row(
        "tridiag matrix",
        lambda x: lin.LinearOperatorTridiag(x, diagonals_format="matrix"),
        [tridiagonal(UPPER, MAIN, LOWER)],
        lambda x: np.triu(np.tril(x, 1), -1),
    ),
    Row(
        "kronecker",
        lambda x, y: lin.LinearOperatorKronecker([full(x), full(y)]),
        [regular(2, n=2), regular()],
        kron,
    ),
    Row(
        "kronecker complex",
        lambda x, y: lin.LinearOperatorKronecker([full(x), lin.LinearOperatorDiag(y)]),
        [regular(of=imaginary, n=2), imaginary(2)],
        lambda x, y: kron(x, diagonal(y)),
    ),
    Row(
        "kronecker wide",
        lambda x, y: lin.LinearOperatorKronecker([full(x), full(y)]),
        [real(1, 2), real(2, 3)],
        kron,
    ),
    Row(
        "block diag",
        lambda x, y: lin.LinearOperatorBlockDiag([full(x), lin.LinearOperatorDiag(y)]),
        [regular(2, n=2), real(3)],
        lambda x, y: blocks([[x, None], [None, diagonal(y)]]),
    ),
    Row(
        "block triangular",
        lambda x, y, z: lin.LinearOperatorBlockLowerTriangular([[full(x)], [full(y), full(z)]]),
        [regular(n=2), real(3, 2), regular(2)],
        lambda x, y, z: blocks([[x, None], [y, z]]),
    ),
    Row(
        "composition",
        lambda x, y: lin.LinearOperatorComposition([full(x), lin.LinearOperatorDiag(y)]),
        [regular(of=imaginary), imaginary(2, 3)],
        lambda x, y: x @ diagonal(y),
    ),
    Row(
        "composition wide",
        lambda x, y: lin.LinearOperatorComposition([full(x), full(y)]),
        [real(2, 3), real(3, 4)],
        lambda x, y: x @ y,
    ),
    Row("adjoint", lambda x: full(x).H, [regular(of=imaginary)], adjoint),
    Row("adjoint wide", lambda x: full(x).H, [real(2, 3)], adjoint),
    Row("inverse", lambda x: full(x).inverse(), [regular(of=imaginary)], np.linalg.inv),
    Row(
        "low rank",
        lambda x, u, d, v: lin.LinearOperatorLowRankUpdate(full(x), u, d, v),
        [regular(), real(2, 3, 1), real(1), real(3, 1)],
        lambda x, u, d, v: x + (u * d) @ adjoint(v),
    ),
    Row(
        "low rank complex",
        lambda x, u, d, v: lin.LinearOperatorLowRankUpdate(full(x), u, d, v),
        [regular(of=imaginary), imaginary(3, 2), imaginary(2), imaginary(3, 2)],
        lambda x, u, d, v: x + (u * d) @ adjoint(v),
    ),
    Row(
        "low rank positive",
        lambda x, u: lin.LinearOperatorLowRankUpdate(
            lin.LinearOperatorDiag(x, is_positive_definite=True), u
        ),
        [np.abs(real(3)) + 1, real(3, 2)],
        lambda x, u: diagonal(x) + u @ adjoint(u),
    ),
]
BY_ID = {row.id: row for row in ROWS}
EVERY = pytest.mark.parametrize(
    "row", [pytest.param(row, id=row.id, marks=pytest.mark.part(row.id)) for row in ROWS]
)


def made(row):
    return row.make(*map(tf.constant, row.parameters)), row.dense(*row.parameters)


def close(found, expected):
    assert tuple(found.shape) == np.shape(expected)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9, atol=1e-9)


def close_as(operator, expected):
    """As the dtype of the operator allows: the adjoint of a circulant one is of complex64."""
    tolerance = 1e-5 if operator.dtype == tf.complex64 else 1e-9
    found = operator.to_dense().numpy()
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def is_square(dense):
    return dense.shape[-1] == dense.shape[-2]


def numbers(like, *shape):
    return (imaginary if np.iscomplexobj(like) else real)(*shape)


@EVERY
def test_shapes(row):
    operator, dense = made(row)
    assert operator.shape == tf.TensorShape(dense.shape)
    assert operator.shape_tensor().numpy().tolist() == list(dense.shape)
    assert operator._shape_tensor().numpy().tolist() == list(dense.shape)
    assert operator.batch_shape == tf.TensorShape(dense.shape[:-2])
    assert operator.batch_shape_tensor().numpy().tolist() == list(dense.shape[:-2])
    assert operator.domain_dimension == dense.shape[-1] == operator.domain_dimension_tensor()
    assert operator.range_dimension == dense.shape[-2] == operator.range_dimension_tensor()
    assert operator.tensor_rank == dense.ndim == operator.tensor_rank_tensor()
    assert operator.is_square == is_square(dense)
    assert operator.dtype.name == dense.dtype.name


@EVERY
def test_products(row):
    operator, dense = made(row)
    m, n = dense.shape[-2:]
    x, y = numbers(dense, n, 2), numbers(dense, m, 2)
    close(operator.to_dense(), dense)
    close(operator.matmul(x), dense @ x)
    close(operator.matmul(adjoint(x), adjoint_arg=True), dense @ x)
    close(operator.matmul(y, adjoint=True), adjoint(dense) @ y)
    close(operator.matmul(adjoint(y), adjoint=True, adjoint_arg=True), adjoint(dense) @ y)
    close(operator @ tf.constant(x), dense @ x)
    close(tf.constant(adjoint(y)) @ operator, adjoint(y) @ dense)
    close(operator.matvec(x[:, 0]), dense @ x[:, 0])
    close(operator.matvec(y[:, 0], adjoint=True), adjoint(dense) @ y[:, 0])
    close_as(operator.H, adjoint(dense))
    whole = numbers(dense, *dense.shape)
    close(operator.add_to_tensor(whole), dense + whole)
    batch = numbers(dense, 2, 2, n, 1)
    close(operator.matmul(batch), dense @ batch)
    close(operator.matmul(adjoint(batch), adjoint_arg=True), dense @ batch)


@EVERY
def test_numbers(row):
    operator, dense = made(row)
    close(operator.diag_part(), np.diagonal(dense, axis1=-2, axis2=-1))
    close(operator.trace(), np.trace(dense, axis1=-2, axis2=-1))
    if not is_square(dense):
        with pytest.raises(NotImplementedError, match="expected to not be square"):
            operator.determinant()
        return
    close(operator.determinant(), np.linalg.det(dense))
    if operator.is_self_adjoint:
        found = operator.eigvals().numpy()
        np.testing.assert_allclose(
            np.sort(found.real, -1), np.linalg.eigvalsh(dense), rtol=1e-9, atol=1e-9
        )
    if not row.singular:
        logarithm = np.log(np.abs(np.linalg.det(dense)))
        np.testing.assert_allclose(operator.log_abs_determinant().numpy(), logarithm, 1e-7, 1e-12)
    if not row.singular and not row.id.startswith(("triangular", "scaled")):
        condition = np.broadcast_to(np.linalg.cond(dense), dense.shape[:-2])
        np.testing.assert_allclose(
            np.broadcast_to(operator.cond().numpy(), condition.shape), condition, rtol=1e-6
        )


@EVERY
def test_solutions(row):
    operator, dense = made(row)
    n = dense.shape[-1]
    x = numbers(dense, n, 2)
    if row.singular or not is_square(dense):
        with pytest.raises(NotImplementedError, match="Exact solve not implemented"):
            operator.solve(numbers(dense, dense.shape[-2], 2))
        with pytest.raises(ValueError, match="Cannot take the Inverse"):
            operator.inverse()
        return
    inverse = np.linalg.inv(dense)
    close(operator.solve(x), inverse @ x)
    close(operator.solve(adjoint(x), adjoint_arg=True), inverse @ x)
    close(operator.solve(x, adjoint=True), adjoint(inverse) @ x)
    close(operator.solve(adjoint(x), adjoint=True, adjoint_arg=True), adjoint(inverse) @ x)
    close(operator.solvevec(x[:, 0]), inverse @ x[:, 0])
    close(operator.solvevec(x[:, 0], adjoint=True), adjoint(inverse) @ x[:, 0])
    close(operator.inverse().to_dense(), inverse)
    batch = numbers(dense, 2, 2, n, 1)
    close(operator.solve(batch), inverse @ batch)
    if operator.is_self_adjoint and operator.is_positive_definite:
        factor = operator.cholesky().to_dense().numpy()
        np.testing.assert_allclose(factor @ adjoint(factor), dense, rtol=1e-9, atol=1e-9)


@pytest.mark.part
@pytest.mark.parametrize(
    "row",
    [r for r in ROWS if not r.id.startswith(("circulant", "zeros", "identity batch"))],
    ids=lambda row: row.id,
)
def test_operators_of_operators(row):
    operator, dense = made(row)
    n = dense.shape[-1]
    other = numbers(dense, n, 2)
    close((operator @ full(other)).to_dense(), dense @ other)
    close((full(adjoint(other)) @ operator.H).to_dense(), adjoint(other) @ adjoint(dense))
    if is_square(dense):
        close((operator @ operator).to_dense(), dense @ dense)
        close(operator.solve(operator).to_dense(), np.broadcast_to(np.eye(n), dense.shape))
        scale = lin.LinearOperatorScaledIdentity(n, tf.constant(2.0, operator.dtype))
        for product in (operator @ scale, scale @ operator):
            close(product.to_dense(), 2 * dense)
        diag = numbers(dense, 2, n)
        close((operator @ lin.LinearOperatorDiag(diag)).to_dense(), dense * diag[:, None, :])
        close((lin.LinearOperatorDiag(diag) @ operator).to_dense(), diag[..., None] * dense)


@EVERY
def test_gradients_and_functions(row):
    """Variables are read at each use; an operator made in a function, or passed to it, agrees."""
    if not row.parameters:
        return
    variables = [tf.Variable(value) for value in row.parameters]
    operator, dense = row.make(*variables), row.dense(*row.parameters)
    x = numbers(dense, dense.shape[-1], 2)
    weights = numbers(dense, *(dense @ x).shape)

    def value(operator):
        return tf.reduce_sum(tf.math.real(operator.matmul(x) * weights))

    def of_dense(*values):
        return np.sum(np.real(row.dense(*values) @ x * weights))

    with tf.GradientTape() as tape:
        y = value(operator)
    gradients = tape.gradient(y, variables)
    for i, gradient in enumerate(gradients):
        step = 1e-6 * numbers(row.parameters[i], *np.shape(row.parameters[i]))
        moved = [p + step if k == i else p for k, p in enumerate(row.parameters)]
        back = [p - step if k == i else p for k, p in enumerate(row.parameters)]
        slope = (of_dense(*moved) - of_dense(*back)) / 2e-6
        found = np.sum(np.real(np.conj(gradient.numpy()) * step)) / 1e-6
        np.testing.assert_allclose(found, slope, rtol=1e-4, atol=1e-6)
    variables[0].assign_add(np.ones_like(row.parameters[0]))
    changed = row.dense(row.parameters[0] + 1, *row.parameters[1:])
    close(operator.matmul(x), changed @ x)

    function = tf.function(lambda operator: (operator.matmul(x), operator.H))
    product, other = function(row.make(*map(tf.constant, row.parameters)))
    close(product, dense @ x)
    close_as(other, adjoint(dense))
    close(function(operator)[0], changed @ x)


@pytest.mark.parametrize("name", ["full batch", "diag batch", "tridiag", "kronecker", "toeplitz"])
def test_unknown_sizes(name):
    row = BY_ID[name]
    dense = row.dense(*row.parameters)
    specs = [tf.TensorSpec([None] * np.ndim(p), tf.float64) for p in row.parameters]

    @tf.function(input_signature=specs)
    def function(*parameters):
        operator = row.make(*parameters)
        x = tf.ones([operator.domain_dimension_tensor(), 2], tf.float64)
        return operator.matmul(x), operator.to_dense(), operator.shape_tensor(), operator.trace()

    product, matrix, shape, trace = function(*row.parameters)
    close(product, dense @ np.ones((dense.shape[-1], 2)))
    close(matrix, dense)
    assert shape.numpy().tolist() == list(dense.shape)
    close(trace, np.trace(dense, axis1=-2, axis2=-1))


@pytest.mark.part
@pytest.mark.parametrize(
    "row", [r for r in ROWS if r.dense(*r.parameters).ndim == 3], ids=lambda r: r.id
)
def test_slices(row):
    operator, dense = made(row)
    for slices, matrices in (
        (0, dense[0]),
        (slice(1, None), dense[1:]),
        ((Ellipsis, 1), dense[1]),
        ((slice(None), tf.newaxis), dense[:, None]),
        (Ellipsis, dense),
    ):
        close(operator[slices].to_dense(), matrices)


def kinds(operator):
    return type(operator).__name__.removeprefix("LinearOperator")


def test_products_keep_their_structure():
    diag = lin.LinearOperatorDiag([1.0, 2.0])
    scaled = lin.LinearOperatorScaledIdentity(2, 3.0)
    identity, zeros = lin.LinearOperatorIdentity(2), lin.LinearOperatorZeros(2)
    tril = lin.LinearOperatorLowerTriangular([[1.0, 0.0], [2.0, 3.0]])
    matrix = lin.LinearOperatorFullMatrix([[1.0, 5.0], [2.0, 3.0]])
    circulant = lin.LinearOperatorCirculant(tf.constant([1.0, 2.0]))
    block = lin.LinearOperatorBlockDiag([scaled, diag])
    assert kinds(diag @ diag) == kinds(diag @ scaled) == kinds(scaled @ diag) == "Diag"
    assert kinds(diag @ tril) == kinds(tril @ diag) == kinds(diag.solve(tril)) == "LowerTriangular"
    assert kinds(scaled @ scaled) == kinds(scaled.inverse()) == "ScaledIdentity"
    assert identity @ matrix is matrix and matrix @ identity is matrix
    assert matrix @ zeros is zeros and zeros @ matrix is zeros
    assert kinds(circulant @ circulant) == kinds(circulant.inverse()) == "Circulant"
    assert [kinds(part) for part in (block @ block).operators] == ["ScaledIdentity", "Diag"]
    assert kinds(matrix @ diag) == kinds(matrix.solve(diag)) == "Composition"
    assert matrix.inverse().solve(diag).operators[0] is matrix
    assert matrix.inverse().inverse() is matrix and matrix.H.H is matrix
    assert kinds(block.inverse()) == kinds(block.H) == "BlockDiag"
    assert kinds(lin.LinearOperatorKronecker([tril, matrix]).inverse()) == "Kronecker"
    assert kinds(lin.LinearOperatorBlockLowerTriangular([[diag], [tril, tril]]).inverse()) == (
        "BlockLowerTriangular"
    )
    product = tril @ tril.H
    square = lin.LinearOperatorComposition([tril, lin.LinearOperatorAdjoint(tril)])
    assert kinds(product) == kinds(square) == "Composition"


def test_functions_of_tf_linalg():
    matrix = np.array([[4.0, 1.0], [1.0, 3.0]])
    operator = spd(matrix)
    x = np.array([[1.0], [2.0]])
    close(lin.matmul(operator, x), matrix @ x)
    close(lin.matmul(x, operator, adjoint_a=True), x.T @ matrix)
    close(lin.matvec(operator, x[:, 0]), matrix @ x[:, 0])
    close(lin.solve(operator, x), np.linalg.solve(matrix, x))
    close(lin.cholesky(operator).to_dense(), np.linalg.cholesky(matrix))
    close(lin.inv(operator).to_dense(), np.linalg.inv(matrix))
    close(lin.diag_part(operator), np.diagonal(matrix))
    close(lin.trace(operator), np.trace(matrix))
    close(lin.det(operator), np.linalg.det(matrix))
    close(lin.logdet(operator), np.log(np.linalg.det(matrix)))
    assert lin.adjoint(operator) is operator
    with pytest.raises(ValueError, match="Transposing not supported"):
        lin.matmul(operator, x, transpose_a=True)
    with pytest.raises(ValueError, match="Expected matrix to be self-adjoint"):
        lin.logdet(full(matrix))
    with pytest.raises(ValueError, match="Attempt to convert a value"):
        tf.add(operator, operator)


class Doubling(lin.LinearOperator):
    """As users write them: what is not defined goes by the dense matrix."""

    def __init__(self, n, **hints):
        self.n = n
        super().__init__(dtype=tf.float64, parameters={"n": n, **hints}, **hints)

    def _shape(self):
        return tf.TensorShape([self.n, self.n])

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return 2 * (lin.adjoint(x) if adjoint_arg else x)


def test_a_class_of_the_user():
    operator = Doubling(2)
    close(operator.to_dense(), 2 * np.eye(2))
    close(operator.solve(np.ones((2, 1))), np.full((2, 1), 0.5))
    close(operator.determinant(), 4.0)
    close((operator @ operator).trace(), 8.0)
    close(lin.trace(operator), 4.0)
    close(Doubling(2, is_self_adjoint=True, is_positive_definite=True).cond(), 1.0)
    assert operator.name == "Doubling" and operator.parameters == {"n": 2}
    assert operator.is_square and operator.is_non_singular is None
    operator.assert_non_singular()
    operator.assert_self_adjoint()
    with pytest.raises(TypeError, match="abstract method"):
        lin.LinearOperator(tf.float32)  # type: ignore[abstract]
    with pytest.raises(NotImplementedError, match="_composite_tensor_fields"):
        tf.function(lambda x: x.to_dense())(operator)


def test_an_operator_is_a_module():
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([[1.0, 0.0], [0.0, 1.0]], trainable=False)
    operator = lin.LinearOperatorComposition([lin.LinearOperatorDiag(v), full(w)])
    assert issubclass(lin.LinearOperator, tf.Module)
    assert [x.ref() for x in operator.variables] == [v.ref(), w.ref()]
    assert [x.ref() for x in operator.trainable_variables] == [v.ref()]
    assert operator.operators[0].diag is v


REFUSED = {
    "A positive definite matrix is always non-singular": lambda: full(
        np.eye(2), is_positive_definite=True, is_non_singular=False
    ),
    "A non-singular matrix is always square": lambda: full(
        np.eye(2), is_non_singular=True, is_square=False
    ),
    "A self-adjoint matrix is always square": lambda: full(
        np.eye(2), is_self_adjoint=True, is_square=False
    ),
    "User set is_square hint to False": lambda: full(np.eye(2), is_square=False).is_square,
    "must have at least 2 dimensions": lambda: full(np.ones(2)),
    "A real diagonal operator is always self": lambda: lin.LinearOperatorDiag(
        [1.0], is_self_adjoint=False
    ),
    "An identity operator is always square": lambda: lin.LinearOperatorIdentity(2, is_square=False),
    "num_rows must be non-negative": lambda: lin.LinearOperatorIdentity(-1),
    "A zero operator is always singular": lambda: lin.LinearOperatorZeros(2, is_non_singular=True),
    "A Householder operator is always": lambda: lin.LinearOperatorHouseholder(
        [1.0], is_positive_definite=True
    ),
    "vector of unique integers from 0 to 2": lambda: lin.LinearOperatorPermutation([0, 0, 1]),
    "Expected square matrix, got row and col": lambda: lin.LinearOperatorToeplitz(
        [1.0], [1.0, 2.0]
    ),
    "`diagonals_format` must be one of": lambda: lin.LinearOperatorTridiag(np.ones((3, 2)), "rows"),
    "Expected a non-empty list of operators": lambda: lin.LinearOperatorComposition([]),
    "Dimensions 2 and 3 are not compatible": lambda: full(np.eye(2)).matmul(np.ones((3, 1))),
    "Operators are incompatible. Expected `x`": lambda: full(np.eye(2)) @ full(np.eye(3)),
    "Cannot take the Cholesky decomposition": lambda: full(np.eye(2)).cholesky(),
    "An operator is square if and only if its adjoint": lambda: lin.LinearOperatorAdjoint(
        full(np.eye(2)), is_square=False
    ),
    "Default diagonal is the identity": lambda: lin.LinearOperatorLowRankUpdate(
        full(np.eye(2)), np.ones((2, 1)), is_diag_update_positive=False
    ),
    "must contain `2` blocks": lambda: lin.LinearOperatorBlockLowerTriangular(
        [[full(np.eye(2))], [full(np.eye(2))]]
    ),
}


@pytest.mark.parametrize("words", REFUSED)
def test_refusals(words):
    with pytest.raises(ValueError, match=words):
        REFUSED[words]()


def test_wrong_dtypes():
    with pytest.raises(TypeError, match="Argument `matrix` must have dtype in"):
        full([[1, 2], [3, 4]])
    with pytest.raises(TypeError, match="Expected argument to have dtype"):
        full(np.eye(2)).matmul(np.ones((2, 1), np.float32))
    with pytest.raises(TypeError, match="Expected all operators to have the same dtype"):
        lin.LinearOperatorComposition([full(np.eye(2)), lin.LinearOperatorIdentity(2)])
    with pytest.raises(TypeError, match="num_rows cannot be reference type"):
        lin.LinearOperatorIdentity(tf.Variable(2))
    with pytest.raises(NotImplementedError, match="Only self-adjoint matrices are supported"):
        full(np.eye(2)).eigvals()


ASSERTED = {
    "Diagonal contained zero values": lin.LinearOperatorDiag([0.0, 1.0]).assert_non_singular,
    "non-positive diagonal entries": lin.LinearOperatorDiag([-1.0, 1.0]).assert_positive_definite,
    "non-zero imaginary values": lin.LinearOperatorDiag([1j, 1 + 0j]).assert_self_adjoint,
    "Singular matrix up to precision": full(np.ones((2, 2))).assert_non_singular,
    "Matrix was not equal to its adjoint": full([[1.0, 2.0], [3.0, 4.0]]).assert_self_adjoint,
    "LinearOperator was singular": lin.LinearOperatorScaledIdentity(2, 0.0).assert_non_singular,
    "always non-invertible": lin.LinearOperatorZeros(2).assert_non_singular,
    "always non-positive definite": lin.LinearOperatorHouseholder([1.0]).assert_positive_definite,
    "Spectrum contained zero": lin.LinearOperatorCirculant([0.0, 1.0]).assert_non_singular,
    "Spectrum was not Hermitian": lin.LinearOperatorCirculant(
        np.array([1.0, 1.0 + 1j])
    ).assert_hermitian_spectrum,
    "non-conjugate subdiagonal": lin.LinearOperatorTridiag(real(3, 4)).assert_self_adjoint,
    "row and col are not the same": lin.LinearOperatorToeplitz(
        [1.0, 2.0], [1.0, 3.0]
    ).assert_self_adjoint,
}


@pytest.mark.parametrize("words", ASSERTED)
def test_assertions(words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        ASSERTED[words]()


def test_assertions_that_hold():
    lin.LinearOperatorDiag([1.0, 2.0]).assert_positive_definite()
    spd(positive()).assert_positive_definite()
    spd(positive()).assert_non_singular()
    lin.LinearOperatorPermutation([1, 0]).assert_non_singular()
    block = lin.LinearOperatorBlockDiag(
        [spd(positive()), lin.LinearOperatorIdentity(2, dtype="float64")]
    )
    for check in (
        block.assert_positive_definite,
        block.assert_self_adjoint,
        block.assert_non_singular,
    ):
        check()


@pytest.mark.parametrize("name", ["block diag", "block triangular"])
def test_blockwise_arguments(name):
    operator, dense = made(BY_ID[name])
    x = real(5, 2)
    parts = [x[:2], x[2:]]
    for found, expected in (
        (operator.matmul(parts), dense @ x),
        (operator.matmul(parts, adjoint=True), adjoint(dense) @ x),
        (operator.solve(parts), np.linalg.solve(dense, x)),
        (operator.solve([adjoint(p) for p in parts], adjoint_arg=True), np.linalg.solve(dense, x)),
    ):
        assert isinstance(found, list)
        close(tf.concat([tf.broadcast_to(f, [2, *f.shape[-2:]]) for f in found], -2), expected)
    vectors = operator.matvec([part[:, 0] for part in parts])
    assert [v.shape[-1] for v in vectors] == [2, 3]
    assert [v.shape[-1] for v in operator.solvevec([part[:, 0] for part in parts])] == [2, 3]


def test_conjugate_gradient():
    matrix = positive(2, n=4) + 4 * np.eye(4)
    operator, rhs = spd(matrix), real(4)
    inverse = lin.LinearOperatorDiag(
        1 / np.diagonal(matrix, axis1=-2, axis2=-1), is_positive_definite=True
    )
    expected = np.linalg.solve(matrix, np.broadcast_to(rhs[:, None], (2, 4, 1)))[..., 0]
    options: dict[str, Any]
    for options in ({}, {"preconditioner": inverse}, {"x": np.ones((2, 4))}):
        state = lin.experimental.conjugate_gradient(operator, rhs, tol=1e-12, **options)
        np.testing.assert_allclose(state.x.numpy(), expected, rtol=1e-8)
        assert state.i.dtype == tf.int32 and int(state.i) <= 6
    stopped = lin.experimental.conjugate_gradient(operator, rhs, max_iter=1)
    assert int(stopped.i) == 1

    @tf.function
    def function(matrix, rhs):
        return lin.experimental.conjugate_gradient(spd(matrix), rhs, tol=1e-12).x

    np.testing.assert_allclose(function(matrix, rhs).numpy(), expected, rtol=1e-8)
    with pytest.raises(ValueError, match="Expected a self-adjoint, positive definite operator"):
        lin.experimental.conjugate_gradient(full(matrix), rhs)


def test_gradients_by_operators():
    """A tape watches the parameters of an operator, and gives an operator of their gradients."""
    v = tf.Variable([1.0, 3.0])
    diag, other = lin.LinearOperatorDiag(v), full([[1.0, 2.0], [3.0, 4.0]])
    product = lin.LinearOperatorComposition([diag, other])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([product, diag])
        y = tf.reduce_sum(product.matmul([[1.0], [2.0]]))
    gradient = tape.gradient(y, product)
    assert kinds(gradient) == "Composition"
    assert gradient.operators[0].diag.numpy().tolist() == [5.0, 11.0]
    assert gradient.operators[1].matrix.numpy().tolist() == [[1.0, 2.0], [3.0, 6.0]]
    found = tape.gradient(y, {"a": diag, "b": [v, other]})
    assert found["a"].diag.numpy().tolist() == found["b"][0].numpy().tolist() == [5.0, 11.0]
    assert kinds(found["b"][1]) == "FullMatrix"
    assert tape.gradient(tf.constant(1.0), diag) is None
    assert tape.gradient(y, lin.LinearOperatorIdentity(2)) is None
