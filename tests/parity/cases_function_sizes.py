"""`tf.function` where sizes depend on values: recorded once, as TensorFlow does it."""

import numpy as np

from .harness import attempt, traced

NEEDS = ("function",)


#: Functions of `tf`, a vector of 20 and an int32 scalar; the numbers that they are called with.
BY_NUMBER = {
    "zeros": (lambda tf, x, n: tf.zeros([n, 2]), (3, 0, 5, 3)),
    "fill": (lambda tf, x, n: tf.fill([n], n), (3, 0)),
    "eye": (lambda tf, x, n: tf.eye(n), (2, 1)),
    "one_hot": (lambda tf, x, n: tf.one_hot([0, 1], n), (2, 4)),
    "linspace": (lambda tf, x, n: tf.linspace(0.0, 1.0, n), (3, 5)),
    "range": (lambda tf, x, n: tf.range(n) * 2, (3, 0, 7)),
    "range from": (lambda tf, x, n: tf.range(n, 9), (3, 9)),
    "range in steps": (lambda tf, x, n: tf.range(0, 20, n), (3, 7)),
    "reshape": (lambda tf, x, n: tf.reshape(x, [n, -1]), (4, 5)),
    "tile": (lambda tf, x, n: tf.tile(x[:2], [n]), (2, 0)),
    "repeat": (lambda tf, x, n: tf.repeat(x[:2], n), (2, 0)),
    "pad": (lambda tf, x, n: tf.pad(x[:2], [[n, 0]]), (2, 0)),
    "pad to a size": (lambda tf, x, n: tf.pad(x[:n], [[0, 20 - n]]), (2, 20)),
    "pad a part to another": (lambda tf, x, n: tf.pad(x[: n - 1], [[1, 19 - n]]), (2, 10)),
    "pad repeated": (
        lambda tf, x, n: tf.pad(tf.repeat(x[:3], [n, 1, n]), [[0, 12 - (n + 1 + n)]]),
        (2, 1),
    ),
    "split": (lambda tf, x, n: tf.split(x, [n, 20 - n]), (2, 20)),
    "top_k": (lambda tf, x, n: tf.math.top_k(x, n), (2, 5)),
    "from": (lambda tf, x, n: x[n:], (3, 0, 20, 30)),
    "to": (lambda tf, x, n: x[:n] * 2, (3, 0, 20, 30)),
    "from the end": (lambda tf, x, n: x[-n:], (3, 20, 30)),
    "its shape": (lambda tf, x, n: tf.shape(x[:n])[0], (3, 30)),
    "sorted": (lambda tf, x, n: tf.sort(x[:n], direction="DESCENDING"), (3, 5)),
    "mean": (lambda tf, x, n: tf.reduce_mean(x[:n]), (3, 5)),
    "stacked": (lambda tf, x, n: tf.stack([x[:n], x[n : n + n]]), (3, 5)),
    "computed": (lambda tf, x, n: x[: tf.cast(tf.cast(n, tf.float32) * 0.5, tf.int32)], (4, 9)),
    "random": (lambda tf, x, n: tf.shape(tf.random.normal([n, 2])), (3, 5)),
    "map_fn": (lambda tf, x, n: tf.map_fn(lambda t: t * 2, x[:n]), (3, 5)),
}


def _by_number(body, numbers):
    return lambda tf: traced(
        tf,
        lambda x, n: body(tf, x, n),
        *[(tf.range(20.0), tf.constant(n)) for n in numbers],
    )


CASES = {f"number {name}": _by_number(*row) for name, row in BY_NUMBER.items()}

#: Functions of `tf` and a vector.
BY_VALUES = {
    "boolean_mask": lambda tf, x: tf.boolean_mask(x, x > 3),
    "product of masked": lambda tf, x: tf.boolean_mask(x, x > 3) * tf.boolean_mask(-x, x > 3),
    "rows": lambda tf, x: tf.boolean_mask(tf.reshape(x, [4, 2]), tf.reshape(x, [4, 2])[:, 0] > 3),
    "columns": lambda tf, x: tf.boolean_mask(tf.reshape(x, [4, 2]), x[:2] > 3, axis=1),
    "empty product": lambda tf, x: tf.matmul(tf.boolean_mask(x[:, None], x > 3), tf.ones([1, 3])),
    "mean": lambda tf, x: tf.reduce_mean(tf.boolean_mask(x, x > 3)),
    "where": lambda tf, x: tf.where(x > 3),
    "gather_nd": lambda tf, x: tf.gather_nd(x, tf.where(x > 3)) * 2,
    "unique": lambda tf, x: tf.unique(tf.cast(x, tf.int32) // 3),
    "unique_with_counts": lambda tf, x: tf.unique_with_counts(tf.cast(x, tf.int32) // 3),
    "sums by unique": lambda tf, x: tf.math.unsorted_segment_sum(
        x, tf.unique(tf.cast(x, tf.int32) // 3)[1], tf.size(tf.unique(tf.cast(x, tf.int32) // 3)[0])
    ),
    "segment_sum": lambda tf, x: tf.math.segment_sum(x, tf.cast(x, tf.int32) // 2),
    "segments": lambda tf, x: [
        getattr(tf.math, f"segment_{name}")(x, tf.cast(x, tf.int32) // 3)
        for name in ("mean", "max", "min", "prod")
    ],
    "sparse.segment_sum": lambda tf, x: tf.sparse.segment_sum(
        x, tf.cast(x, tf.int32) // 4, tf.cast(x, tf.int32) // 3
    ),
    "sparse segments": lambda tf, x: [
        tf.sparse.segment_mean(x, [0, 1], tf.cast(x[:2], tf.int32)),
        tf.sparse.segment_sqrt_n(x, [1, 2], tf.cast(x[:2], tf.int32), num_segments=3),
    ],
    "dynamic_partition": lambda tf, x: tf.dynamic_partition(x, tf.cast(x > 3, tf.int32), 2),
    "dynamic_stitch": lambda tf, x: tf.dynamic_stitch(
        [tf.cast(x, tf.int32), tf.cast(x, tf.int32) + 2], [x, -x]
    ),
    "repeat": lambda tf, x: tf.repeat(x, tf.cast(x, tf.int32) % 3),
    "sequence_mask": lambda tf, x: tf.sequence_mask(tf.cast(x, tf.int32)),
    "bincount": lambda tf, x: tf.math.bincount(tf.cast(x, tf.int32)),
    "confusion_matrix": lambda tf, x: tf.math.confusion_matrix(
        tf.cast(x, tf.int32) % 2, tf.cast(x, tf.int32) % 3
    ),
    "range of floats": lambda tf, x: tf.range(x[0], x[0] + 2.0, 0.5),
    "joined": lambda tf, x: tf.concat([tf.boolean_mask(x, x > 3), x], 0),
    "suppression": lambda tf, x: tf.image.non_max_suppression(
        tf.stack([x, x, x + 2, x + 2], 1), x, 3
    ),
    "printed": lambda tf, x: tf.boolean_mask(x, tf.debugging.check_numerics(x, "x") > 3),
}


def _by_values(body):
    def case(tf):
        x = tf.range(8.0)
        return traced(tf, lambda x: body(tf, x), (x,), (x + 1,), (x * 0,), (x,))

    return case


CASES |= {f"values {name}": _by_values(body) for name, body in BY_VALUES.items()}


def case_gradients(tf):
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.boolean_mask(x * x, x > 2)) + tf.reduce_sum(x[: tf.size(x) // 2])
        return tape.gradient(y, x)

    x = tf.range(6.0)
    inner = traced(tf, slope, (x,), (x + 1,), (x,))
    masked = tf.function(lambda x: tf.boolean_mask(x**3, x > 2))
    found = []
    for shift in (0.0, 1.0, 0.0):
        y = x + shift
        with tf.GradientTape() as outer, tf.GradientTape() as tape:
            tape.watch(y)
            outer.watch(y)
            z = tf.reduce_sum(masked(y))
            first = tape.gradient(z, y)
        found.append((z, first, outer.gradient(first, y)))
    return inner, found


def case_gradients_of_segments(tf):
    def slope(x, ids):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.math.segment_mean(x * x, ids) ** 2)
        return tape.gradient(y, x)

    x = tf.range(4.0)
    return traced(tf, slope, *[(x, tf.constant(ids)) for ids in ([0, 0, 1, 3], [1, 1, 1, 1])])


def case_gradients_of_the_users_that_ask_for_a_told_size(tf):
    @tf.custom_gradient
    def rows(x, ids):
        def grad(dy):
            return tf.scatter_nd(ids[:, None], dy, tf.shape(x)), None

        return tf.gather(x, ids), grad

    specs = tf.TensorSpec([None, 2]), tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.int32)

    @tf.function(input_signature=specs)
    def of_segments(x, ids, n):
        return rows(tf.math.unsorted_segment_sum(x, ids, n), ids)

    def slope(n):
        x = tf.reshape(tf.range(10.0), [5, 2])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(of_segments(x * x, tf.constant([0, 0, 1, 2, 2]), n) ** 2)
        return tape.gradient(y, x)

    return [slope(tf.constant(n)) for n in (3, 4, 3)]


def case_segments_that_decrease(tf):
    f = tf.function(lambda x, ids: tf.math.segment_sum(x, ids))
    x = tf.range(3.0)
    return f(x, tf.constant([0, 1, 1])), attempt(f, x, tf.constant([1, 0, 2]), words=0)


def case_variables(tf):
    v, n = tf.Variable(0.0), tf.Variable(2)

    def f(x):
        v.assign_add(1.0)
        kept = tf.boolean_mask(x, x > 1)
        v.assign_add(tf.reduce_sum(kept))
        n.assign(tf.size(kept))
        return v + 0.0, tf.zeros([n])

    x = tf.range(4.0)
    return traced(tf, f, (x,), (x * 0,), (x + 3,)), v.numpy(), n.numpy()


def case_functions_called_by_others(tf):
    inner = tf.function(lambda x: tf.boolean_mask(x, x > 3))
    first = traced(tf, lambda x: inner(x) * 2, (tf.range(8.0),), (tf.range(8.0) + 1,))
    alone = inner(tf.range(6.0))
    return first, alone, traced(tf, lambda x: inner(x) * 2, (tf.range(6.0),), (-tf.range(6.0),))


def case_a_size_of_a_loop(tf):
    def f(x, n):
        total = 0.0
        for i in tf.range(3):
            total += tf.reduce_sum(x[:n]) * tf.cast(i, tf.float32)
        return total

    return traced(tf, f, (tf.range(8.0), tf.constant(3)), (tf.range(8.0), tf.constant(5)))


def case_concrete_functions(tf):
    f = tf.function(lambda x, n: (tf.boolean_mask(x, x > 3), x[:n]))
    concrete = f.get_concrete_function(
        tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.int32)
    )
    shapes = [x.shape.as_list() for x in concrete.structured_outputs]
    return shapes, [concrete(tf.range(float(k)), tf.constant(k - 2)) for k in (4, 8, 2)]


def case_unknown_batches(tf):
    runs = []

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def f(x):
        runs.append(1)
        kept = tf.boolean_mask(x, x[:, 0] > 0)
        return kept, tf.shape(kept)[0], kept.shape.as_list()[1] * tf.ones([])

    rng = np.random.default_rng(0)
    found = [f(rng.normal(size=(k, 2)).astype("float32")) for k in (4, 3, 7, 4)]
    return found, len(runs)


def case_refused(tf):
    f = tf.function(lambda x: tf.dynamic_partition(x, tf.cast(x, tf.int32), 2))
    with_error = []
    for x in (tf.constant([0.0, 1.0]), tf.constant([0.0, 5.0]), tf.constant([1.0, 1.0])):
        try:
            with_error.append(f(x))
        except tf.errors.InvalidArgumentError as error:
            with_error.append("partitions[1] = 5 is not in [0, 2)" in str(error))
    return with_error


def case_zeros_of_a_size_told_after_another(tf):
    def f(x):
        kept = tf.boolean_mask(x, x > 1)
        squares = kept * kept
        few = tf.boolean_mask(squares, squares > 10)
        return kept, tf.zeros([tf.shape(few)[0], 2]) + few[:, None], tf.ones([tf.size(few)])

    return traced(tf, f, (tf.range(8.0),), (tf.range(6.0),), (tf.range(5.0) - 2,))


def case_sizes_made_of_many_numbers(tf):
    def f(x, places):
        count = tf.reduce_max(places) + 1
        sums = tf.math.unsorted_segment_sum(x, places, count)
        return sums, tf.zeros([tf.reduce_sum(places), places[7]]), tf.zeros([places[3] * count])

    x = tf.range(30.0)
    return traced(tf, f, (x, tf.range(30) // 4), (x, tf.range(30) % 5), (x, tf.range(30) // 3))


def case_sizes_reduced_along_several_axes(tf):
    def f(x):
        sizes = tf.stack([tf.shape(x), tf.shape(x) * 2])
        ends = tf.reduce_max(sizes, [0, 1]), tf.reduce_min(sizes)
        return tf.zeros(ends), tf.zeros(tf.reduce_max(sizes, 0)), tf.zeros(tf.reduce_min(sizes, 1))

    f = tf.function(f, input_signature=[tf.TensorSpec([None, None])])
    return [f(tf.zeros(shape)) for shape in ([2, 3], [4, 1])]


def case_embeddings_of_sparse_ids(tf):
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    places = [[0, 0], [0, 1], [2, 0], [2, 1]]
    ids = tf.SparseTensor(places, tf.constant([1, -1, 2, 0], tf.int64), [4, 2])
    weights = tf.SparseTensor(places, [1.0, 2.0, -3.0, 4.0], [4, 2])
    found, traces = {}, []
    for combiner in ("sum", "mean", "sqrtn"):
        for given in (None, weights):

            @tf.function
            def f(ids, given):
                traces.append(1)
                lookup = tf.nn.safe_embedding_lookup_sparse
                return lookup(table, ids, given, combiner=combiner, max_norm=6.0)

            with tf.GradientTape() as tape:
                y = f(ids, given)
                loss = tf.reduce_sum(y * y)
            gradient = tf.convert_to_tensor(tape.gradient(loss, table))
            found[combiner, given is None] = y, gradient, f(ids, given)
    return list(found.items()), len(traces)


def case_embeddings_of_rows_of_sparse_ids(tf):
    """As many rows as the last id's, of any number of ids, in one record."""
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    traces = []

    def sparse(rows, values):
        places = tf.stack([tf.constant(rows, tf.int64), tf.range(len(rows), dtype=tf.int64)], 1)
        return tf.SparseTensor(places, values, [9, 9])

    kinds = [tf.SparseTensorSpec([None, None], kind) for kind in (tf.int64, tf.float32)]

    @tf.function(input_signature=kinds)
    def f(ids, weights):
        traces.append(1)
        lookup = tf.nn.embedding_lookup_sparse
        one, other = lookup(table, ids, None, "sum"), lookup(table, ids, weights, "sqrtn")
        return one + lookup(table, ids, weights), tf.shape(other)

    def gradients(ids, weights):
        with tf.GradientTape() as tape:
            y, shape = f(ids, weights)
        return y, shape, tf.convert_to_tensor(tape.gradient(y, table))

    found = []
    for rows in ([0, 0, 2], [1, 1, 3, 4], [0], []):
        ids = sparse(rows, tf.range(len(rows), dtype=tf.int64) % 3)
        weights = sparse(rows, tf.range(1.0, len(rows) + 1.0))
        found.append(gradients(ids, weights))
    return found, len(traces)


def case_masks_that_do_not_fit(tf):
    spec = [tf.TensorSpec([None, 2]), tf.TensorSpec([None], tf.bool)]
    mask = tf.function(lambda x, m: tf.boolean_mask(x, m), input_signature=spec)
    marks = tf.constant([True, False, True])
    return [attempt(mask, tf.ones([n, 2]), marks, words=0) for n in (3, 2, 4, 3, 3, 3, 3, 2)]


def case_branches_that_do_not_take_the_sizes(tf):
    """They are not run, or raise."""
    one_axis = [tf.TensorSpec([None])]
    held = tf.Variable([1.0, 2.0, 3.0])
    moving = tf.Variable([1.0, 2.0], shape=[None])

    def four(x):
        return tf.reduce_sum(x[:4] * tf.ones(4))

    @tf.function(input_signature=one_axis)
    def by_size(x):
        return four(x) if tf.size(x) > 3 else tf.reduce_sum(x)

    @tf.function(input_signature=one_axis)
    def by_value(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = four(x) if tf.reduce_sum(x) > 3.5 else tf.reduce_sum(x * x)
        return y, tape.gradient(y, x)

    @tf.function(input_signature=one_axis)
    def assigned(x):
        if tf.reduce_sum(x) > 0.0:
            held.assign(x)
        return tf.reduce_sum(held)

    @tf.function(input_signature=one_axis)
    def looped(x):
        y = tf.constant(0.0)
        while tf.reduce_sum(x) < 0.0:
            y = four(x)
            x = -x
        return y

    @tf.function(input_signature=one_axis)
    def grown(x):
        for _ in tf.range(2):
            x = x[:4] * tf.ones(4) if tf.size(x) > 3 else tf.concat([x, x], 0)
        return x

    @tf.function(input_signature=one_axis)
    def masked(x):
        x = tf.boolean_mask(x, x > 0.0)
        return four(x) if tf.size(x) > 3 else tf.reduce_sum(x)

    @tf.function
    def of_variable():
        return four(moving) if tf.size(moving) > 3 else tf.reduce_sum(moving)

    def second(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = by_size(x * x)
            gradient = tape.gradient(y, x)
        return outer.gradient(gradient, x)

    given = [tf.ones(5), tf.ones(2), 4.0 * tf.ones(2), -tf.ones(3), tf.ones(3), -tf.ones(4)]
    found = [
        [attempt(f, x, words=0) for x in given]
        for f in (by_size, by_value, assigned, looped, grown, masked, second)
    ]
    before = of_variable()
    moving.assign(tf.ones(5))
    return found, held.numpy(), before, of_variable()


def case_slices_of_one_row(tf):
    """A size that is told may be 0, also where what it is compared with is 1."""
    signature = [tf.TensorSpec([None], tf.float32), *[tf.TensorSpec([], tf.int32)] * 2]

    @tf.function(input_signature=signature)
    def f(x, start, stop):
        part = x[start:stop]
        most = tf.maximum(tf.size(x[:stop]), tf.shape(x[:1])[0])
        return part, tf.size(part), tf.size(x[:stop]), most, tf.zeros([tf.size(part) + 1])

    @tf.function(input_signature=[tf.TensorSpec([1], tf.float32), tf.TensorSpec([], tf.int32)])
    def of_one(x, stop):
        return x[:stop], tf.size(x[:stop])

    found = [f(tf.ones([n]), i, j) for n, i, j in ((3, 1, 2), (1, 0, 1), (1, 0, 0), (1, 1, 1))]
    return found, [of_one(tf.ones([1]), stop) for stop in (0, 1, 2)]
