"""Sparse tensors: what they are made of, moved to, added up and multiplied."""

import numpy as np

from .harness import attempt, attempts

A = ([[0, 1], [1, 0], [1, 2]], [3.0, -4.0, 2.0], [2, 3])
B = ([[0, 0], [0, 1], [1, 2]], [-5.0, 9.0, 1.0], [2, 3])
TWICE = ([[0, 1], [0, 1], [0, 1], [1, 0]], [1.0, 2.0, 4.0, 8.0], [2, 3])
EMPTY = (np.zeros([0, 2], np.int64), np.zeros([0], np.float32), [2, 3])
UNSORTED = ([[1, 0], [0, 1]], [3.0, 4.0], [2, 2])
IDS = ([[0, 0], [0, 1], [2, 0]], np.int64([1, 3, 0]), [4, 2])
WORDS = ([[0, 0], [1, 1]], ["b", "c"], [2, 2])
DENSE = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
TABLE = np.arange(8, dtype=np.float32).reshape(4, 2)


def parts(x):
    if isinstance(x, (list, tuple)):
        return [parts(y) for y in x]
    return (x.indices, x.values, x.dense_shape) if hasattr(x, "dense_shape") else x


PROGRAMS = {
    "wrong count": lambda tf, S: S([[0, 1]], [1.0, 2.0], [2, 2]),
    "wrong rank": lambda tf, S: S([0, 1], [1.0, 2.0], [2, 2]),
    "wrong depth": lambda tf, S: S([[0, 1]], [1.0], [2]),
    "repr": lambda tf, S: repr(S(*A)),
    "shape": lambda tf, S: (S(*A).shape, S(*A).get_shape(), S(*A).dtype),
    "from_value": lambda tf, S: tf.SparseTensor.from_value([1]),
    "with_values": lambda tf, S: S(*A).with_values([1, 2, 3]),
    "convert": lambda tf, S: tf.convert_to_tensor(S(*A)),
    "is_tensor": lambda tf, S: tf.is_tensor(S(*A)),
    "plus": lambda tf, S: S(*A) + S(*B),
    "times": lambda tf, S: S(*A) * 2.0,
    "times row": lambda tf, S: S(*A) * [1.0, 2.0, 3.0],
    "times wrong": lambda tf, S: S(*A) * [1.0, 2.0],
    "divided": lambda tf, S: S(*A) / 2.0,
    "abs": lambda tf, S: tf.abs(S(*A)),
    "square": lambda tf, S: tf.square(S(*A)),
    "exp": lambda tf, S: tf.exp(S(*A)),
    "cast": lambda tf, S: tf.cast(S(*A), tf.int32),
    "tf shape": lambda tf, S: (tf.shape(S(*A)), tf.size(S(*A)), tf.rank(S(*A))),
    "identity": lambda tf, S: tf.identity(S(*A)),
    "tf add": lambda tf, S: tf.add(S(*A), S(*B)),
    "tf concat": lambda tf, S: tf.concat([S(*A), S(*B)], 0),
    "to_dense": lambda tf, S: tf.sparse.to_dense(S(*A)),
    "to_dense default": lambda tf, S: tf.sparse.to_dense(S(*A), default_value=7.0),
    "to_dense empty": lambda tf, S: tf.sparse.to_dense(S(*EMPTY)),
    "to_dense text": lambda tf, S: tf.sparse.to_dense(S(*WORDS)),
    "to_dense text default": lambda tf, S: tf.sparse.to_dense(S(*WORDS), default_value="x"),
    "to_dense order": lambda tf, S: tf.sparse.to_dense(S(*UNSORTED)),
    "to_dense any order": lambda tf, S: tf.sparse.to_dense(S(*UNSORTED), validate_indices=False),
    "to_dense repeated": lambda tf, S: tf.sparse.to_dense(S([[0], [0]], [1, 2], [2])),
    "to_dense outside": lambda tf, S: tf.sparse.to_dense(S([[0], [5]], [1, 2], [2])),
    "to_dense bool": lambda tf, S: tf.sparse.to_dense(S([[1]], [True], [3])),
    "add": lambda tf, S: tf.sparse.add(S(*A), S(*B)),
    "add repeated": lambda tf, S: [
        tf.sparse.add(S(*one), S(*other))
        for one, other in ((TWICE, A), (A, TWICE), (TWICE, TWICE), (TWICE, EMPTY))
    ],
    "maximum repeated": lambda tf, S: tf.sparse.maximum(S(*TWICE), S(*A)),
    "add dense": lambda tf, S: tf.sparse.add(S(*A), tf.ones([2, 3])),
    "add dense first": lambda tf, S: tf.sparse.add(tf.ones([2, 3]), S(*A)),
    "add dense wrong": lambda tf, S: tf.sparse.add(tf.ones([2, 2]), S(*A)),
    "add threshold": lambda tf, S: tf.sparse.add(S(*A), S(*B), threshold=5.0),
    "add shapes": lambda tf, S: tf.sparse.add(S(*A), S(*UNSORTED)),
    "add no sparse": lambda tf, S: tf.sparse.add(tf.ones([2]), tf.ones([2])),
    "bincount": lambda tf, S: tf.sparse.bincount([1, 1, 2]),
    "bincount rows": lambda tf, S: tf.sparse.bincount([[1, 1, 2], [0, 0, 0]], axis=-1, minlength=4),
    "bincount binary": lambda tf, S: tf.sparse.bincount(
        [[1, 1, 2], [0, 0, 0]], axis=-1, binary_output=True, maxlength=2
    ),
    "bincount sparse": lambda tf, S: tf.sparse.bincount(
        S([[0, 0], [0, 2], [1, 1]], [1, 1, 2], [2, 3]), axis=-1
    ),
    "bincount int64": lambda tf, S: tf.sparse.bincount(np.int64([1, 1, 2]), axis=None),
    "bincount int64 rows": lambda tf, S: tf.sparse.bincount(
        np.int64([[1, 1, 2]]), axis=-1, binary_output=True
    ),
    "set size of a vector": lambda tf, S: attempt(
        lambda: tf.sets.size(S([[0], [2]], [1, 2], [4])), words=3
    ),
    "bincount nothing": lambda tf, S: tf.sparse.bincount(np.int32([])),
    "bincount nothing in rows": lambda tf, S: tf.sparse.bincount(np.ones([2, 0], int), axis=-1),
    "bincount weights and binary": lambda tf, S: tf.sparse.bincount(
        [1, 1, 2], weights=[0.5, 0.5, 1.0], binary_output=True
    ),
    "bincount weights": lambda tf, S: tf.sparse.bincount([1, 1, 2], weights=[0.5, 0.5, 1.0]),
    "concat": lambda tf, S: tf.sparse.concat(0, [S(*A), S(*B)]),
    "concat last": lambda tf, S: tf.sparse.concat(-1, [S(*A), S(*UNSORTED)]),
    "concat differ": lambda tf, S: tf.sparse.concat(0, [S(*A), S(*UNSORTED)]),
    "concat expand": lambda tf, S: tf.sparse.concat(0, [S(*A), S(*UNSORTED)], True),
    "concat axis": lambda tf, S: tf.sparse.concat(5, [S(*A), S(*A)]),
    "concat no list": lambda tf, S: tf.sparse.concat(0, S(*A)),
    "expand_dims": lambda tf, S: tf.sparse.expand_dims(S(*A)),
    "expand_dims 0": lambda tf, S: tf.sparse.expand_dims(S(*A), 0),
    "expand_dims -2": lambda tf, S: tf.sparse.expand_dims(S(*A), -2),
    "fill_empty_rows": lambda tf, S: tf.sparse.fill_empty_rows(S(*IDS), 9),
    "fill_empty_rows outside": lambda tf, S: tf.sparse.fill_empty_rows(S([[5, 1]], [1], [2, 2]), 9),
    "fill_empty_rows before": lambda tf, S: tf.sparse.fill_empty_rows(S([[-1, 1]], [1], [2, 2]), 9),
    "from_dense": lambda tf, S: tf.sparse.from_dense([[1, 0], [0, 2]]),
    "from_dense text": lambda tf, S: tf.sparse.from_dense([["a", ""], ["", "b"]]),
    "maximum": lambda tf, S: tf.sparse.maximum(S(*A), S(*B)),
    "minimum": lambda tf, S: tf.sparse.minimum(S(*A), S(*B)),
    "reset_shape": lambda tf, S: tf.sparse.reset_shape(S(A[0], A[1], [5, 5])),
    "reset_shape larger": lambda tf, S: tf.sparse.reset_shape(S(*A), [3, 4]),
    "reset_shape smaller": lambda tf, S: tf.sparse.reset_shape(S(*A), [1, 4]),
    "reshape": lambda tf, S: tf.sparse.reshape(S(*A), [3, 2]),
    "reshape infer": lambda tf, S: tf.sparse.reshape(S(*A), [-1]),
    "reshape wrong": lambda tf, S: tf.sparse.reshape(S(*A), [5]),
    "reshape two": lambda tf, S: tf.sparse.reshape(S(*A), [-1, -1]),
    "reorder": lambda tf, S: tf.sparse.reorder(S(*UNSORTED)),
    "retain": lambda tf, S: tf.sparse.retain(S(*A), [True, False, True]),
    "retain wrong": lambda tf, S: tf.sparse.retain(S(*A), [True]),
    "slice": lambda tf, S: tf.sparse.slice(S(*A), [0, 1], [2, 5]),
    "softmax": lambda tf, S: tf.sparse.softmax(S(*A)),
    "matmul": lambda tf, S: tf.sparse.sparse_dense_matmul(S(*A), DENSE),
    "matmul right": lambda tf, S: tf.sparse.sparse_dense_matmul(DENSE, S(*UNSORTED)),
    "matmul adjoint": lambda tf, S: tf.sparse.sparse_dense_matmul(S(*A), DENSE[:2], adjoint_a=True),
    "matmul adjoint b": lambda tf, S: tf.sparse.sparse_dense_matmul(
        S(*A), [[1.0, 2.0, 3.0]], adjoint_b=True
    ),
    "matmul wrong": lambda tf, S: tf.sparse.sparse_dense_matmul(S(*A), DENSE[:2]),
    "split": lambda tf, S: tf.sparse.split(S(*A), 2, 1),
    "split many": lambda tf, S: tf.sparse.split(S(*A), 4, 1),
    "to_indicator": lambda tf, S: tf.sparse.to_indicator(S(*IDS), 5),
    "transpose": lambda tf, S: tf.sparse.transpose(S(*A)),
    "transpose perm": lambda tf, S: tf.sparse.transpose(S(*A), [0, 1]),
    "eye": lambda tf, S: tf.sparse.eye(2, 3),
    "map_values": lambda tf, S: tf.sparse.map_values(tf.add, S(*A), S(*B)),
    "map_values none": lambda tf, S: tf.sparse.map_values(tf.add, 1, 1),
    "intersection": lambda tf, S: tf.sets.intersection([[1, 2, 3], [4, 4, 5]], [[3, 1], [4, 4]]),
    "union": lambda tf, S: tf.sets.union([[1, 2], [2, 3]], [[3, 1], [5, 5]]),
    "difference": lambda tf, S: tf.sets.difference([[1, 2], [2, 3]], [[3, 1], [3, 5]]),
    "difference b": lambda tf, S: tf.sets.difference([[1, 2]], [[3, 1]], aminusb=False),
    "sets text": lambda tf, S: tf.sets.union([["a", "b"]], [["c", "a"]]),
    "sets sparse": lambda tf, S: tf.sets.union(S(*IDS), S(*IDS)),
    "sets size": lambda tf, S: tf.sets.size(S(*IDS)),
    "sets groups": lambda tf, S: tf.sets.union([[1]], [[1], [2]]),
    "spec": lambda tf, S: repr(tf.SparseTensorSpec([None, 3], tf.int32)),
    "spec compatible": lambda tf, S: tf.SparseTensorSpec([None, 3]).is_compatible_with(S(*A)),
}
for _name in ("reduce_max", "reduce_sum"):
    for _axis in (None, 0, 1, [0, 1], -1, 3):
        for _keep in (None, True):
            PROGRAMS[f"{_name} {_axis} {_keep}"] = lambda tf, S, n=_name, a=_axis, k=_keep: getattr(
                tf.sparse, n
            )(S(*A), a, k)
    PROGRAMS[f"{_name} sparse"] = lambda tf, S, n=_name: getattr(tf.sparse, n)(
        S(*A), 1, output_is_sparse=True
    )
    PROGRAMS[f"{_name} empty"] = lambda tf, S, n=_name: getattr(tf.sparse, n)(S(*EMPTY), 1)
for _combiner in ("sum", "mean", "sqrtn", None, "other"):
    PROGRAMS[f"embedding {_combiner}"] = lambda tf, S, c=_combiner: tf.nn.embedding_lookup_sparse(
        TABLE, S(*IDS), None, c
    )
    PROGRAMS[f"embedding weights {_combiner}"] = lambda tf, S, c=_combiner: (
        tf.nn.embedding_lookup_sparse(TABLE, S(*IDS), S(IDS[0], [1.0, 2.0, 0.5], IDS[2]), c)
    )
    PROGRAMS[f"safe embedding {_combiner}"] = lambda tf, S, c=_combiner: (
        tf.nn.safe_embedding_lookup_sparse(tf.constant(TABLE), S(*IDS), combiner=c)
    )


def _case(program):
    return lambda tf: attempt(lambda: parts(program(tf, tf.SparseTensor)))


CASES = {name: _case(program) for name, program in PROGRAMS.items()}


def case_gradients(tf):
    values, dense = tf.constant(A[1]), tf.constant(DENSE)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([values, dense])
        s = tf.SparseTensor(A[0], values, A[2])
        results = [
            tf.sparse.sparse_dense_matmul(s, dense),
            tf.sparse.to_dense(s),
            tf.sparse.reduce_sum(s, 1),
            tf.sparse.softmax(s).values,
            tf.sparse.add(s, tf.SparseTensor(*B)).values,
            tf.sparse.transpose(s).values,
            (s * [1.0, 2.0, 3.0]).values,
        ]
        results = [tf.reduce_sum(r * r) for r in results]
    return [tape.gradient(r, [values, dense]) for r in results]


def case_embedding_gradient(tf):
    table = tf.Variable(TABLE)
    with tf.GradientTape() as tape:
        y = tf.nn.embedding_lookup_sparse(table, tf.SparseTensor(*IDS), None, "mean")
    return tf.convert_to_tensor(tape.gradient(y, table))


def case_function(tf):
    @tf.function
    def double(s, dense):
        t = tf.sparse.map_values(tf.multiply, s, 2.0)
        return t, tf.sparse.sparse_dense_matmul(t, dense), tf.sparse.to_dense(s)

    t, product, whole = double(tf.SparseTensor(*A), tf.constant(DENSE))
    return parts(t), product, whole


def case_segments(tf):
    data = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    results = []
    for name in ("segment_sum", "segment_mean", "segment_sqrt_n"):
        op = getattr(tf.sparse, name)
        with tf.GradientTape() as tape:
            tape.watch(data)
            y = op(data, [0, 2, 1], [0, 0, 2])
            loss = tf.reduce_sum(y * y)
        results += [y, tape.gradient(loss, data), op(data, [0, 2], [0, 1], num_segments=4)]
        results += [attempt(op, data, [0, 2], [1, 0]), attempt(op, data, [0, 9], [0, 1])]
    return results


def case_edit_distance(tf):
    a = tf.sparse.from_dense([[1, 2, 3], [4, 0, 0]])
    b = tf.sparse.from_dense([[1, 3, 3], [0, 0, 0]])
    texts = tf.sparse.from_dense([["a", "b"]]), tf.sparse.from_dense([["b", ""], ["c", "d"]])
    cube = tf.SparseTensor([[0, 0, 0], [0, 1, 0]], [1, 2], [1, 2, 1])
    other = tf.SparseTensor([[0, 0, 0], [0, 1, 0], [0, 1, 1]], [1, 3, 4], [1, 2, 2])
    return (
        tf.edit_distance(a, b),
        tf.edit_distance(b, a),
        tf.edit_distance(a, b, normalize=False),
        tf.edit_distance(*texts),
        tf.edit_distance(cube, other),
        attempt(tf.edit_distance, a, tf.sparse.from_dense([1, 2])),
        attempt(tf.edit_distance, a, texts[0]),
        attempt(tf.edit_distance, [1], [2]),
    )


def case_dense_times_sparse(tf):
    sparse = tf.sparse.from_dense([[0.0, 1.0], [2.0, 3.0]])
    row = tf.constant([[2.0, 5.0]])

    def product(dense):
        return tf.sparse.to_dense(dense * sparse)

    with tf.GradientTape() as tape:
        tape.watch([row, sparse.values])
        y = tf.reduce_sum((row * sparse).values ** 2)
    return (
        [product(tf.constant(d)) for d in ([[2.0, 3.0], [4.0, 5.0]], [[2.0], [3.0]], 3.0)],
        product(tf.Variable([[2.0, 5.0]])),
        tf.function(lambda x: (x * sparse).values)(row),
        tape.gradient(y, [row, sparse.values]),
        attempts(
            tf,
            {
                "larger": lambda _: product(tf.ones([2, 2, 2])),
                "dtype": lambda _: product(tf.constant([[1, 2]])),
                "multiply": lambda _: tf.multiply(row, sparse),
                "sum": lambda _: row + sparse,
                "quotient": lambda _: row / sparse,
                "number": lambda _: 3.0 * sparse,
            },
        ),
    )


def case_sampled_addmm(tf):
    a, b = tf.reshape(tf.range(6.0), [2, 3]), tf.reshape(tf.range(6.0), [3, 2])
    places, values = [[0, 1], [1, 0]], tf.constant([3.0, 5.0])
    batch = [[[0, 0, 1], [0, 1, 0]], [[1, 0, 0], [1, 1, 0]]]
    product = tf.sparse.sampled_addmm
    with tf.GradientTape() as tape:
        tape.watch([a, values])
        found = product(places, values, [2, 2], a, b, alpha=0.5, beta=2.0)
    return {
        "matrices": found,
        "gradients": tape.gradient(found[1], [a, values]),
        "batches": product(batch, [[3.0, 5.0], [2.0, 7.0]], [2, 2], [a, a], [b, b]),
        "shape": attempt(lambda: product(places, values, [2, 3], a, b)),
    }


def case_dense_counts(tf):
    x = tf.SparseTensor([[0, 0], [0, 2], [1, 1], [1, 2]], [1, 3, 0, 3], [3, 3])
    weights = x.with_values(tf.constant([1.0, 2.0, 3.0, 0.5]))
    options = [
        *({}, {"axis": 0}, {"axis": -1}, {"axis": -1, "dtype": tf.float32}, {"weights": weights}),
        *({"axis": -1, "weights": weights}, {"axis": -1, "binary_output": True}),
        *({"minlength": 6}, {"axis": -1, "minlength": 6}, {"axis": -1, "maxlength": 2}),
    ]
    counted = tf.function(lambda: tf.math.bincount(x, axis=-1))
    return [*(tf.math.bincount(x, **given) for given in options), counted()]


def case_products_of_other_ranks(tf):
    s, v, c = (tf.SparseTensor([[0] * n], [1.0], [1] * n) for n in (2, 1, 3))
    product = tf.sparse.sparse_dense_matmul
    calls = (
        lambda: product(s, tf.ones([1])),
        lambda: product(s, tf.ones([1, 1, 1])),
        lambda: product(tf.ones([1]), s),
        lambda: product(v, tf.ones([1, 1])),
        lambda: product(c, tf.ones([1, 1])),
    )
    return [attempt(call) for call in calls]


def case_products_in_loops(tf):
    weights, x = tf.Variable([1.0, 2.0, 3.0]), tf.constant([[1.0, 2.0], [3.0, 4.0]])
    places = tf.constant([[0, 1], [1, 0], [2, 1]], tf.int64)

    @tf.function
    def rolled(n):
        with tf.GradientTape() as tape:
            state = x
            for _ in tf.range(n):
                sparse = tf.SparseTensor(places, weights, [3, 2])
                state = tf.sparse.sparse_dense_matmul(sparse, state, adjoint_b=True)[:2]
            value = tf.reduce_sum(state * state)
        return state, tape.gradient(value, weights)

    return rolled(tf.constant(3))


def case_sums_of_a_signature(tf):
    s, spec = tf.SparseTensor(*TWICE), tf.SparseTensorSpec([None, None], tf.float32)

    def summed(axis, keepdims):
        sums = tf.function(
            lambda s: tf.sparse.reduce_sum(s, axis, keepdims), input_signature=[spec]
        )
        sums = sums.get_concrete_function()
        with tf.GradientTape() as tape:
            tape.watch(s.values)
            y = sums(s)
            loss = tf.reduce_sum(y * y)
        return y, tape.gradient(loss, s.values)

    return [summed(axis, keep) for axis in (None, 0, -1, [0, 1], []) for keep in (False, True)]


#: Of a matrix of unknown sizes, as a sparse one.
MOVED = {
    "concat": lambda tf, s, x: tf.sparse.concat(1, [s, tf.sparse.map_values(tf.abs, s)]),
    "expanded": lambda tf, s, x: tf.sparse.concat(
        -2, [s, tf.sparse.from_dense(x[:, 1:]), s], expand_nonconcat_dims=True
    ),
    "slice": lambda tf, s, x: tf.sparse.slice(s, [0, 1], [5, 2]),
    "slice to": lambda tf, s, x: tf.sparse.slice(s, [1, 0], tf.shape(x, tf.int64) - 1),
    "reshape": lambda tf, s, x: tf.sparse.reshape(s, [2, -1, 1]),
    "reshape to": lambda tf, s, x: tf.sparse.reshape(s, tf.reverse(tf.shape(x), [0])),
    "retain": lambda tf, s, x: tf.sparse.retain(s, s.values > 0.0),
    "softmax": lambda tf, s, x: tf.sparse.softmax(s),
}


def case_elements_moved_in_functions(tf):
    """Where they stand is known at a call only."""
    given = [
        tf.constant(np.where(np.cos(n) > 0.3, np.sin(n), 0.0).reshape(2, -1), tf.float32)
        for n in (np.arange(6) * 2.0, np.arange(10) * 3.0, np.full(4, 3.0))
    ]

    def results(moved):
        traces = []

        @tf.function(input_signature=[tf.TensorSpec([None, None])])
        def function(x):
            traces.append(0)
            return parts(moved(tf, tf.sparse.from_dense(x), x))

        return [function(x) for x in given], len(traces)

    return {name: results(moved) for name, moved in MOVED.items()}


def case_rows_of_words_as_sparse(tf):
    specs = [tf.TensorSpec([None], tf.string)]
    words = tf.function(lambda x: parts(tf.strings.split(x).to_sparse()), input_signature=specs)

    @tf.function(input_signature=specs)
    def pairs(x):
        return parts(tf.strings.split(tf.strings.split(x, ","), " ").to_sparse())

    given = ["b ba  d", "", "c,e f g"], ["a"], []
    return [[f(tf.constant(x, tf.string)) for x in given] for f in (words, pairs)]
