"""Linear operators: what every method of each gives, hints and classes of products, errors."""

import numpy as np

from .harness import attempt, attempts, options

NEEDS = ("linalg.LinearOperator",)

M = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -0.5], [0.5, -0.5, 2.0]])
B = np.stack([M, M.T @ M + np.eye(3)])
Z = np.array([[2 + 1j, 0.5, 0.1], [0.3j, 1 - 1j, 0.0], [1.0, 0.5j, 3.0]])
WIDE = np.array([[1.0, 2.0, 3.0], [-1.0, 0.5, 2.0]])
D = np.array([1.0, -2.0, 3.0])
DZ = np.array([1.0 + 1j, -2.0, 3j])
THREE = np.array([[3.0, 4.0, 9.0], [5.0, -6.0, 7.0], [8.0, 1.0, 2.0]])
PD = {"is_self_adjoint": True, "is_positive_definite": True}


def _full(tf, x, **hints):
    return tf.linalg.LinearOperatorFullMatrix(tf.constant(x), **hints)


def _diag(tf, x, **hints):
    return tf.linalg.LinearOperatorDiag(tf.constant(x), **hints)


OPERATORS = {
    "full": lambda tf: _full(tf, M),
    "full_batch": lambda tf: _full(tf, B),
    "full_positive": lambda tf: _full(tf, M, **PD),
    "full_complex": lambda tf: _full(tf, Z),
    "full_wide": lambda tf: _full(tf, WIDE),
    "full_not_square": lambda tf: _full(tf, WIDE, is_square=False),
    "triangular": lambda tf: tf.linalg.LinearOperatorLowerTriangular(tf.constant(B)),
    "triangular_complex": lambda tf: tf.linalg.LinearOperatorLowerTriangular(tf.constant(Z)),
    "diag": lambda tf: _diag(tf, D),
    "diag_positive": lambda tf: _diag(tf, np.abs(D), is_positive_definite=True),
    "diag_complex": lambda tf: _diag(tf, DZ),
    "identity": lambda tf: tf.linalg.LinearOperatorIdentity(3, dtype=tf.float64),
    "identity_batch": lambda tf: tf.linalg.LinearOperatorIdentity(3, [2], dtype=tf.float64),
    "scaled": lambda tf: tf.linalg.LinearOperatorScaledIdentity(3, tf.constant(D[1:])),
    "scaled_complex": lambda tf: tf.linalg.LinearOperatorScaledIdentity(3, tf.constant(1 + 2j)),
    "zeros": lambda tf: tf.linalg.LinearOperatorZeros(3, dtype=tf.float64),
    "zeros_wide": lambda tf: tf.linalg.LinearOperatorZeros(
        2, 3, dtype=tf.float64, is_square=False, is_self_adjoint=False
    ),
    "householder": lambda tf: tf.linalg.LinearOperatorHouseholder(tf.constant(D)),
    "permutation": lambda tf: tf.linalg.LinearOperatorPermutation([1, 2, 0], dtype=tf.float64),
    "circulant": lambda tf: tf.linalg.LinearOperatorCirculant(tf.constant(DZ), tf.complex128),
    "circulant_real": lambda tf: tf.linalg.LinearOperatorCirculant(tf.constant(D), tf.complex128),
    "circulant_2d": lambda tf: tf.linalg.LinearOperatorCirculant2D(
        tf.constant(DZ[:, None]), tf.complex128
    ),
    "circulant_3d": lambda tf: tf.linalg.LinearOperatorCirculant3D(
        tf.constant(DZ[:, None, None]), tf.complex128
    ),
    "toeplitz": lambda tf: tf.linalg.LinearOperatorToeplitz(tf.constant(D), tf.constant(D + 1)),
    "tridiag": lambda tf: tf.linalg.LinearOperatorTridiag(tf.constant(THREE)),
    "tridiag_sequence": lambda tf: tf.linalg.LinearOperatorTridiag(
        [tf.constant(d) for d in THREE], diagonals_format="sequence"
    ),
    "tridiag_matrix": lambda tf: tf.linalg.LinearOperatorTridiag(
        tf.linalg.band_part(tf.constant(M), 1, 1), diagonals_format="matrix"
    ),
    "kronecker": lambda tf: tf.linalg.LinearOperatorKronecker(
        [_diag(tf, np.array([2.0])), _full(tf, M)]
    ),
    "kronecker_complex": lambda tf: tf.linalg.LinearOperatorKronecker([_full(tf, Z)]),
    "block_diag": lambda tf: tf.linalg.LinearOperatorBlockDiag(
        [_full(tf, M[:2, :2], **PD), _diag(tf, np.array([2.0]), is_positive_definite=True)]
    ),
    "block_triangular": lambda tf: tf.linalg.LinearOperatorBlockLowerTriangular(
        [[_full(tf, M[:2, :2])], [_full(tf, M[2:, :2]), _diag(tf, D[2:])]]
    ),
    "composition": lambda tf: tf.linalg.LinearOperatorComposition([_full(tf, M), _diag(tf, D)]),
    "composition_wide": lambda tf: tf.linalg.LinearOperatorComposition(
        [_full(tf, WIDE), _diag(tf, D)]
    ),
    "adjoint": lambda tf: tf.linalg.LinearOperatorAdjoint(_full(tf, Z)),
    "inversion": lambda tf: tf.linalg.LinearOperatorInversion(_full(tf, M)),
    "low_rank": lambda tf: tf.linalg.LinearOperatorLowRankUpdate(
        _diag(tf, D), tf.constant(WIDE.T), tf.constant([2.0, -1.0], tf.float64)
    ),
    "low_rank_positive": lambda tf: tf.linalg.LinearOperatorLowRankUpdate(
        _diag(tf, np.abs(D), is_positive_definite=True), tf.constant(WIDE.T)
    ),
    "low_rank_complex": lambda tf: tf.linalg.LinearOperatorLowRankUpdate(
        _diag(tf, DZ), tf.constant(Z[:, :1]), v=tf.constant(Z[:, 1:2])
    ),
}

#: How an operator made by a method is looked at: by class, hints and matrix.
HINTS = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")


def _seen(operator):
    hints = [getattr(operator, hint) for hint in HINTS]
    return type(operator).__name__, operator.name, hints, operator.to_dense()


def _vectors(tf, operator, rows=False):
    n = operator.shape[-2 if rows else -1]
    return tf.cast(tf.reshape(tf.range(2.0 * n), [n, 2]), operator.dtype)


METHODS = {
    "what": lambda tf, o: [
        o.name,
        o.dtype,
        *[getattr(o, hint) for hint in HINTS],
        sorted(o.parameters),
    ],
    "shapes": lambda tf, o: [
        o.shape,
        o.batch_shape,
        o.tensor_rank,
        o.shape_tensor(),
        o.batch_shape_tensor(),
        o.domain_dimension_tensor(),
        o.range_dimension_tensor(),
        str(o.domain_dimension),
    ],
    "to_dense": lambda tf, o: o.to_dense(),
    "matmul": lambda tf, o: o.matmul(_vectors(tf, o)),
    "matmul adjoint": lambda tf, o: o.matmul(_vectors(tf, o, True), adjoint=True),
    "matvec": lambda tf, o: o.matvec(_vectors(tf, o)[:, 1]),
    "solve": lambda tf, o: o.solve(_vectors(tf, o)),
    "solve adjoint": lambda tf, o: o.solve(_vectors(tf, o), adjoint=True),
    "solvevec": lambda tf, o: o.solvevec(_vectors(tf, o)[:, 1]),
    "diag_part": lambda tf, o: o.diag_part(),
    "trace": lambda tf, o: o.trace(),
    "determinant": lambda tf, o: o.determinant(),
    "log_abs_determinant": lambda tf, o: o.log_abs_determinant(),
    "add_to_tensor": lambda tf, o: o.add_to_tensor(tf.ones(o.shape, o.dtype)),
    "eigvals": lambda tf, o: tf.sort(tf.math.real(o.eigvals())),
    "cond": lambda tf, o: o.cond(),
    "adjoint": lambda tf, o: _seen(o.adjoint()),
    "inverse": lambda tf, o: _seen(o.inverse()),
    "cholesky": lambda tf, o: _seen(o.cholesky()),
    "itself": lambda tf, o: _seen(o @ o),
    "wrong sizes": lambda tf, o: o.matmul(tf.ones([5, 1], o.dtype)),
    "wrong dtype": lambda tf, o: o.matmul(tf.ones([3, 1], tf.float16)),
}


#: What fails in TensorFlow by a mistake of its own, or gives a hint that is not true.
WRONG_THERE = {
    "full_complex": ("non_singular",),
    "kronecker_complex": ("non_singular",),
    "adjoint": ("non_singular",),
    "low_rank": ("self_adjoint",),
    "low_rank_complex": ("non_singular", "self_adjoint"),
    "scaled_complex": ("inverse",),
}


def _case(name, make):
    def case(tf):
        operator = make(tf)
        methods = {k: v for k, v in METHODS.items() if k not in WRONG_THERE.get(name, ())}
        return {key: attempt(lambda: method(tf, operator)) for key, method in methods.items()}

    return options(words=4, rtol=1e-5, atol=1e-6)(case)


CASES = {f"every_method_{name}": _case(name, make) for name, make in OPERATORS.items()}


def case_assertions(tf):
    found = {}
    for name, make in OPERATORS.items():
        operator = make(tf)
        for what in ("non_singular", "self_adjoint", "positive_definite"):
            if what not in WRONG_THERE.get(name, ()):
                check = getattr(operator, f"assert_{what}")
                found[f"{name} {what}"] = attempt(lambda: check() and None, words=4)
    return found


def case_products(tf):
    """The class and the hints of each product and solution of two operators."""
    names = [
        *("full", "full_positive", "triangular", "diag", "diag_positive", "identity", "scaled"),
        *("zeros", "householder", "permutation", "inversion", "composition", "block_diag"),
    ]
    operators = {name: OPERATORS[name](tf) for name in names}
    operators["scaled"] = tf.linalg.LinearOperatorScaledIdentity(3, tf.constant(2.0, tf.float64))

    def seen(operator):
        return type(operator).__name__, [getattr(operator, hint) for hint in HINTS]

    return {
        f"{a} {b}": (
            attempt(lambda: seen(operators[a] @ operators[b])),
            attempt(lambda: seen(operators[a].solve(operators[b]))),
        )
        for a in names
        for b in names
    }


def case_refused(tf):
    lin = tf.linalg
    x, small, wide = (_full(tf, value) for value in (M, M[:2, :2], WIDE))
    programs = {
        "positive and singular": lambda tf: _full(
            tf, M, is_positive_definite=True, is_non_singular=False
        ),
        "non-singular": lambda tf: _full(tf, M, is_non_singular=True, is_square=False),
        "self-adjoint": lambda tf: _full(tf, M, is_self_adjoint=True, is_square=False),
        "square": lambda tf: _full(tf, M, is_square=False).is_square,
        "ints": lambda tf: _full(tf, [[1]]),
        "vector": lambda tf: _full(tf, [1.0]),
        "diag hint": lambda tf: _diag(tf, D, is_self_adjoint=False),
        "diag square": lambda tf: _diag(tf, D, is_square=False),
        "diag scalar": lambda tf: _diag(tf, 1.0),
        "tril square": lambda tf: lin.LinearOperatorLowerTriangular(M, is_square=False),
        "tril vector": lambda tf: lin.LinearOperatorLowerTriangular(D),
        "identity": lambda tf: lin.LinearOperatorIdentity(2, is_non_singular=False),
        "identity negative": lambda tf: lin.LinearOperatorIdentity(-2),
        "identity float": lambda tf: lin.LinearOperatorIdentity(2.0),
        "identity vector": lambda tf: lin.LinearOperatorIdentity([2]),
        "identity batch": lambda tf: lin.LinearOperatorIdentity(2, batch_shape=2),
        "identity variable": lambda tf: lin.LinearOperatorIdentity(tf.Variable(2)),
        "scaled": lambda tf: lin.LinearOperatorScaledIdentity(2, 1.0, is_square=False),
        "zeros": lambda tf: lin.LinearOperatorZeros(2, is_non_singular=True),
        "zeros sizes": lambda tf: lin.LinearOperatorZeros(2, 3),
        "householder": lambda tf: lin.LinearOperatorHouseholder(D, is_positive_definite=True),
        "permutation": lambda tf: lin.LinearOperatorPermutation([0, 0]),
        "permutation float": lambda tf: lin.LinearOperatorPermutation([0.0, 1.0]),
        "permutation hint": lambda tf: lin.LinearOperatorPermutation([0], is_square=False),
        "circulant": lambda tf: lin.LinearOperatorCirculant(1.0),
        "circulant hint": lambda tf: lin.LinearOperatorCirculant(D, is_self_adjoint=False),
        "circulant 2D": lambda tf: lin.LinearOperatorCirculant2D(D),
        "toeplitz": lambda tf: lin.LinearOperatorToeplitz(D, D[:2]),
        "tridiag": lambda tf: lin.LinearOperatorTridiag(THREE, "rows"),
        "kronecker": lambda tf: lin.LinearOperatorKronecker([]),
        "block diag": lambda tf: lin.LinearOperatorBlockDiag([]),
        "block diag dtypes": lambda tf: lin.LinearOperatorBlockDiag(
            [x, lin.LinearOperatorIdentity(2)]
        ),
        "composition": lambda tf: lin.LinearOperatorComposition([]),
        "composition no list": lambda tf: lin.LinearOperatorComposition(x),
        "composition sizes": lambda tf: lin.LinearOperatorComposition([x, small]).shape,
        "block triangular": lambda tf: lin.LinearOperatorBlockLowerTriangular([[x], [x]]),
        "block triangular sizes": lambda tf: lin.LinearOperatorBlockLowerTriangular(
            [[x], [small, small]]
        ),
        "block triangular wide": lambda tf: lin.LinearOperatorBlockLowerTriangular([[wide]]),
        "adjoint": lambda tf: lin.LinearOperatorAdjoint(x, is_square=False),
        "inversion": lambda tf: lin.LinearOperatorInversion(wide),
        "low rank": lambda tf: lin.LinearOperatorLowRankUpdate(x, WIDE),
        "low rank hint": lambda tf: lin.LinearOperatorLowRankUpdate(
            x, WIDE.T, is_diag_update_positive=False
        ),
        "sizes of operators": lambda tf: x @ small,
        "cholesky": lambda tf: x.cholesky(),
        "eigvals": lambda tf: x.eigvals(),
        "logdet": lambda tf: lin.logdet(x),
        "transposed": lambda tf: lin.matmul(x, M, transpose_a=True),
        "abstract": lambda tf: lin.LinearOperator(tf.float32),
    }
    return attempts(tf, programs, words=5)


def case_tapes_and_variables(tf):
    v, w = tf.Variable(D), tf.Variable(M)
    operator = tf.linalg.LinearOperatorComposition(
        [tf.linalg.LinearOperatorDiag(v), tf.linalg.LinearOperatorFullMatrix(w)]
    )
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(operator.solve(tf.constant(M)) ** 2) + operator.log_abs_determinant()
    gradients = tape.gradient(y, [v, w])
    v.assign(D + 1)
    names = [x.shape for x in operator.trainable_variables]
    return y, gradients, operator.matvec(tf.constant(D)), names


def case_functions(tf):
    """Operators are arguments and results of functions."""

    @tf.function
    def squared(operator):
        return operator @ operator, operator.trace()

    v = tf.Variable(D)
    found = []
    for operator in (
        _diag(tf, D),
        tf.linalg.LinearOperatorDiag(v),
        tf.linalg.LinearOperatorBlockDiag([_full(tf, M), _diag(tf, D)]),
        tf.linalg.LinearOperatorIdentity(2),
    ):
        product, trace = squared(operator)
        found += [_seen(product)[::3], trace]
    return found


def case_slices(tf):
    operator = tf.linalg.LinearOperatorLowRankUpdate(
        _full(tf, B[:, None]), tf.constant(np.ones([4, 3, 1])), tf.constant(D[:1])
    )
    return {
        str(part): attempt(lambda: operator[part].to_dense())
        for part in (0, slice(1, None), (Ellipsis, 1), (0, slice(1, 3)), (0, None, 1), (0, 0))
    }


def case_blockwise(tf):
    found = []
    for name in ("block_diag", "block_triangular"):
        operator = OPERATORS[name](tf)
        parts = [tf.constant(M[:2]), tf.constant(M[2:])]
        found += [operator.matmul(list(parts)), operator.solve(list(parts))]
        found.append(operator.matvec([part[:, 0] for part in parts]))
        found.append(operator.solvevec([part[:, 0] for part in parts]))
        found.append(attempt(lambda: operator.matmul([tf.constant(M), tf.constant(M)])))
    return found


def case_conjugate_gradient(tf):
    found = []
    for matrix, hints in ((M, PD), (B, PD), (M, {})):
        operator = _full(tf, matrix, **hints)
        for given in (
            {},
            {"max_iter": 2},
            {"x": tf.constant(D)},
            {"preconditioner": _diag(tf, 1 / np.diagonal(M), is_positive_definite=True)},
        ):
            if matrix is B and "x" in given:
                continue
            solve = tf.linalg.experimental.conjugate_gradient
            found.append(attempt(lambda: tuple(solve(operator, tf.constant(D), **given))))
    return found


def case_gradients_by_operators(tf):
    operator = tf.linalg.LinearOperatorKronecker([_full(tf, M), _diag(tf, D)])
    other = _full(tf, M)
    with tf.GradientTape() as tape:
        tape.watch([operator, other])
        y = tf.reduce_sum(operator.trace() * other.matmul(tf.constant(M)))
    found = tape.gradient(y, [operator, {"x": other}, _diag(tf, D)])
    return _seen(found[0])[::3], _seen(found[1]["x"])[::3], found[2]


def case_slices_beyond_the_batch(tf):
    matrix = tf.linalg.LinearOperatorFullMatrix([[2.0, 1.0], [1.0, 3.0]])
    batch = tf.linalg.LinearOperatorDiag([[1.0, 2.0], [3.0, 4.0]])
    return attempts(
        tf,
        {
            "none": lambda tf: matrix[0],
            "last": lambda tf: matrix[..., 0],
            "all": lambda tf: matrix[:, :],
            "two of one": lambda tf: batch[0, 0],
            "rows and columns": lambda tf: batch[..., :, :],
            "batch": lambda tf: batch[..., 0].to_dense(),
        },
    )


def case_logdet_of_complex_operators_is_real(tf):
    hints = {"is_self_adjoint": True, "is_positive_definite": True}
    matrix = tf.linalg.LinearOperatorFullMatrix(tf.constant([[2, 1j], [-1j, 3]]), **hints)
    circulant = tf.linalg.LinearOperatorCirculant([1.0, 2.0, 3.0], **hints)
    return [tf.linalg.logdet(x) for x in (matrix, circulant)], circulant.log_abs_determinant()
