"""`tf.function` with a None for each size of each argument: one trace for all, however they fit."""

import numpy as np

from .harness import attempt

NEEDS = ("function",)

_RANDOM = np.random.default_rng(5)
_IDS = np.int32([0, 0, 2])
_AT = np.int32([[0], [3]])
_ROWS = np.float32([[1, 2, 3], [4, 5, 6]])


def _floats(*shape):
    return _RANDOM.normal(size=shape).astype("float32")


def _matrices(*shape):
    return _floats(*shape) + 3 * np.eye(shape[-1], dtype="float32")


def _normalized(tf, x, mean, variance):
    y = tf.nn.batch_normalization(x, mean, variance**2, mean, None, 0.1)
    return tf.reshape(y, tf.reverse(tf.shape(y), [0]))


#: Functions of `tf` and arrays, and lists of the arrays that they are called with.
BODIES = {
    "scatter_nd": (lambda tf, i, u: tf.scatter_nd(i, u, [5, 3]), [(_AT, _ROWS)]),
    "tensor_scatter_nd_update": (
        lambda tf, x, i, u: tf.tensor_scatter_nd_update(x, i, u),
        [(_floats(4, 3), _AT, _ROWS), (_floats(5, 1), _AT, _ROWS[:, :1])],
    ),
    "tensor_scatter_nd_add": (
        lambda tf, x, i, u: tf.tensor_scatter_nd_add(x, i, u),
        [(_floats(4, 2, 3), np.int32([[0, 1], [3, 0]]), _ROWS)],
    ),
    "tensor_scatter_nd_max": (
        lambda tf, x, i, u: tf.tensor_scatter_nd_max(x, i, u),
        [(_floats(4), _AT, _floats(2))],
    ),
    "solve": (
        lambda tf, a, b: tf.linalg.solve(a, b),
        [(_matrices(4, 2, 2), _floats(4, 2, 3)), (_matrices(1, 3, 3), _floats(1, 3, 1))],
    ),
    "triangular_solve": (
        lambda tf, a, b: tf.linalg.triangular_solve(a, b),
        [(_matrices(4, 2, 2), _floats(4, 2, 3)), (_matrices(1, 2, 2), _floats(4, 2, 3))],
    ),
    "cholesky_solve": (
        lambda tf, a, b: tf.linalg.cholesky_solve(a, b),
        [(_matrices(4, 2, 2), _floats(4, 2, 3)), (_matrices(1, 3, 3), _floats(1, 3, 1))],
    ),
    "roll": (lambda tf, x, n: tf.roll(x, n[:2], [0, 1]), [(_ROWS, np.int32([1, 2]))]),
    "mfccs": (
        lambda tf, x: tf.signal.mfccs_from_log_mel_spectrograms(x),
        [(_floats(2, 5),), (_floats(3, 1),)],
    ),
    "batch_normalization": (
        _normalized,
        [
            (_floats(4, 3), _floats(1, 3), _floats(1, 3)),
            (_floats(4, 3), _floats(4, 1), _floats(1, 1)),
            (_floats(1, 3), _floats(4, 3), _floats(1, 1)),
        ],
    ),
}


def _unknown(body, calls):
    def case(tf):
        traces = []

        def f(*args):
            traces.append(1)
            return body(tf, *args)

        specs = [tf.TensorSpec([None] * a.ndim, a.dtype.name) for a in calls[0]]
        recorded = tf.function(f, input_signature=specs)
        return [_with_gradients(tf, recorded, args) for args in calls], len(traces)

    return case


def _with_gradients(tf, function, arrays):
    args = [tf.constant(array) for array in arrays]
    sources = [x for x in args if x.dtype.is_floating]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        found = attempt(function, *args)
        total = tf.reduce_sum(tf.sin(found))
    return found, attempt(lambda: tape.gradient(total, sources))


CASES = {name: _unknown(*row) for name, row in BODIES.items()}


def case_depthwise_conv2d(tf):
    """Filters of unknown sizes: how often it is traced is another matter."""
    pads = [[0, 0], [1, 1], [1, 0], [0, 0]]
    specs = [tf.TensorSpec([None] * 4)] * 2
    f = tf.function(
        lambda x, k: tf.nn.depthwise_conv2d(x, k, [1, 2, 2, 1], pads), input_signature=specs
    )
    calls = [((1, 3, 5, 1), (2, 2, 1, 1)), ((2, 4, 4, 2), (1, 2, 2, 3))]
    return [f(*[tf.reshape(tf.range(float(np.prod(s))), s) for s in shapes]) for shapes in calls]


def case_numpy_decides_by_sizes(tf):
    """Whether there is such a diagonal, and what a product is, depends on sizes."""
    tnp = tf.experimental.numpy

    def f(x, y):
        diagonals = [tnp.diagonal(x, k) for k in (-1, 0, 2)]
        return diagonals, tnp.trace(x, offset=1), tnp.cross(x, y)

    recorded = tf.function(f, input_signature=[tf.TensorSpec([None, None])] * 2)
    shapes = [(2, 3), (3, 2), (1, 3), (4, 3)]
    return [
        recorded(
            _ROWS[:1, :1] + tf.range(n * 1.0) ** 2 + tf.range(m * 1.0)[:, None], tf.ones([m, n])
        )
        for m, n in shapes
    ]


def case_central_crop(tf):
    crop = tf.function(
        lambda x, part: (tf.image.central_crop(x, 0.4), tf.image.central_crop(x, part)),
        input_signature=[tf.TensorSpec([None, None, None]), tf.TensorSpec([])],
    )
    images = [tf.reshape(tf.range(float(h * w)), [h, w, 1]) for h, w in ((4, 6), (5, 3), (7, 7))]
    parts = (0.5, 0.9, 0.3)
    whole = tf.function(lambda x: tf.image.central_crop(x, 1.0))
    return [crop(x, part) for x, part in zip(images, parts)], [whole(x) for x in images]


def case_resize_in_proportion(tf):
    def resized(x):
        return [
            tf.image.resize(x, [8, 5], method, preserve_aspect_ratio=True)
            for method in ("bilinear", "nearest", "area")
        ]

    f = tf.function(resized, input_signature=[tf.TensorSpec([None, None, 3])])
    images = [tf.reshape(tf.range(h * w * 3.0), [h, w, 3]) for h, w in ((4, 6), (5, 3), (16, 2))]
    return [f(x) for x in images]


def case_images_of_a_dataset(tf):
    sizes = tf.data.Dataset.from_tensor_slices([[4, 6], [5, 3], [16, 2], [4, 6]])
    images = sizes.map(lambda n: tf.ones([n[0], n[1], 3]))
    cropped = images.map(lambda x: tf.image.central_crop(x, 0.6))
    resized = cropped.map(lambda x: tf.image.resize(x, [8, 8], preserve_aspect_ratio=True))
    return list(resized), str(resized.element_spec), str(cropped.element_spec)


def case_sets(tf):
    f = tf.function(
        lambda a, b: tf.sparse.to_dense(tf.sets.intersection(a, b)),
        input_signature=[tf.TensorSpec([None, None], tf.int32)] * 2,
    )
    return [
        f(tf.constant(a), tf.constant(b)) for a, b in (([[1, 2]], [[2]]), ([[1], [2]], [[1], [1]]))
    ]


def case_texts_of_unknown_shapes(tf):
    f = tf.function(
        lambda x: (
            tf.zeros_like(x),
            tf.fill(tf.shape(x), x[0, 0]),
            tf.zeros([tf.size(x)], tf.string),
        ),
        input_signature=[tf.TensorSpec([None, None], tf.string)],
    )
    return [f(tf.constant(x)) for x in ([["a", "b"]], [["c"], ["d"]])]


def case_turns_that_the_call_tells(tf):
    """Of square images Python runs once; and derivatives."""
    runs = []

    @tf.function
    def turned(x, k):
        runs.append(1)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.image.rot90(x, k) * tf.reshape(tf.range(12.0), [2, 2, 3])
        return y, tape.gradient(y, x)

    x = tf.constant(np.arange(12, dtype=np.float32).reshape(2, 2, 3))
    found = [turned(x, tf.constant(k)) for k in (0, 1, 2, 3, 4, 7, -1)]
    images = tf.data.Dataset.from_tensor_slices(tf.stack([x, x, x]))
    turns = tf.data.Dataset.from_tensor_slices([1, 3, 2])
    pairs = tf.data.Dataset.zip((images, turns)).map(tf.image.rot90).batch(3)
    return found, list(pairs), len(runs)


def case_loops_over_no_rows(tf):
    spec = [tf.TensorSpec([None, 2], tf.float32)]

    def summed(x):
        total = tf.zeros([2])
        for row in x:
            total += row * row
        return total

    functions = [
        lambda x: tf.map_fn(lambda row: row * row, x),
        lambda x: tf.scan(lambda total, row: total + row * row, x, tf.ones([2])),
        lambda x: tf.map_fn(lambda row: row[0], tf.boolean_mask(x, x[:, 0] > 1.0)),
        summed,
    ]
    found = []
    for function in functions:
        recorded = tf.function(function, input_signature=spec)
        for count in (0, 2, 0):
            x = tf.ones([count, 2])
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = recorded(x)
            found += [y, tape.gradient(y, x)]
    return found


def case_rows_of_several_tensors(tf):
    product = lambda pair: pair[0] * pair[1]
    added = lambda total, pair: total + pair[0] * pair[1]
    functions = [
        lambda a, b: tf.add_n([a, b, a]),
        lambda a, b: tf.map_fn(product, (a, b), fn_output_signature=tf.float32),
        lambda a, b: tf.scan(added, (a, b), tf.zeros([3])),
        lambda a, b: tf.scan(added, (a, b), tf.zeros([3]), reverse=True),
        lambda a, b: tf.foldl(added, (a, b), tf.zeros([3])),
        lambda a, b: tf.foldr(added, (a, b), tf.zeros([3])),
    ]
    specs = [([None, 3], [None, 3]), ([None, 3], [2, 3]), ([None, None], [2, None])]
    found = []
    for function in functions:
        for shapes in specs:
            recorded = tf.function(
                function, input_signature=[tf.TensorSpec(s, tf.float32) for s in shapes]
            )
            a, b = tf.constant(_ROWS), tf.constant(_ROWS + 1)
            with tf.GradientTape() as tape:
                tape.watch([a, b])
                y = recorded(a, b)
            found += [y, tape.gradient(y, [a, b]), attempt(recorded, tf.zeros([3, 3]), b, words=0)]
    return found


def case_rows_of_numbers_and_texts(tf):
    @tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([None], tf.string)])
    def marked(x, texts):
        say = lambda pair: (pair[0] * 2.0, tf.strings.join([pair[1], "!"]))
        return tf.map_fn(say, (x, texts), fn_output_signature=(tf.float32, tf.string))

    return marked([1.0, 2.0], ["a", "b"]), marked([3.0], ["c"])


def case_sums_of_many_unknown_images(tf):
    specs = [tf.TensorSpec([None, None, None, 2])] * 4 + [tf.TensorSpec([None, 3, None, 2])]
    inputs = [tf.ones([1, 3, 4, 2]) * i for i in range(5)]

    @tf.function(input_signature=specs)
    def added(*images):
        with tf.GradientTape() as tape:
            tape.watch(images)
            total = tf.add_n(images) ** 2
        return total, tape.gradient(total, images)

    wrong = [*inputs[:3], tf.ones([1, 5, 4, 2]), inputs[4]]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        total = added(*inputs)[0]
    return added(*inputs), tape.gradient(total, inputs), attempt(added, *wrong, words=0)


def case_slices_of_variables_take_unknown_sizes(tf):
    v = tf.Variable(tf.ones([1, 4, 4, 2]))

    @tf.function(input_signature=[tf.TensorSpec([None, None, 4, 2])])
    def assigned(x):
        v[0].assign(x[0])
        v[:, 1].assign(x[:, 0] + 1.0)
        v[0, 0].assign(x[0, 0:1, 0])
        return v * 2.0

    fit = [assigned(tf.fill(shape, 3.0)) for shape in ([1, 4, 4, 2], [1, 1, 4, 2])]
    return fit, attempt(assigned, tf.zeros([1, 3, 4, 2]), words=0)


def case_functions_called_by_functions_with_computed_sizes(tf):
    """What is recorded for [n + 1] and for [n], [n] serves no other sizes."""
    sized = tf.function(lambda a, b: (tf.shape(a), tf.zeros(tf.shape(a)), tf.range(tf.shape(b)[0])))

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def longer(x):
        return sized(tf.concat([x, x[:1]], 0), x), sized(x, x * 2.0)

    @tf.function(input_signature=[tf.TensorSpec([None, 2]), tf.TensorSpec([None])])
    def second(other, x):
        return sized(tf.concat([x, x[:1]], 0), x)

    two, three = tf.ones([2]), tf.ones([3])
    found = [longer(two), sized(two, three), sized(three, two), second(tf.ones([5, 2]), two)]
    return found, longer(three), sized(three, three)


def case_unknown_sizes_that_are_0(tf):
    """JAX takes it that an unknown size is not 0: `x[1:]` had the size -1, `x[:1]` the size 1."""

    def sizes(x):
        parts = x[1:], x[:-1], x[1:2], x[:1], tf.concat([x, x[:1]], 0)
        found = [(part, tf.shape(part)) for part in parts]
        return found, tf.reshape(x[1:], [tf.shape(x[1:])[0], 2])

    by_signature = tf.function(sizes, input_signature=[tf.TensorSpec([None, 2])])
    relaxed = tf.function(sizes, reduce_retracing=True)

    @tf.function(input_signature=[{"a": tf.TensorSpec([None, None]), "b": [tf.TensorSpec([None])]}])
    def nested(x):
        return tf.shape(x["a"][:, 1:]), tf.shape(x["b"][0][:1]), tf.reduce_sum(x["a"], 0)

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def guarded(x):
        if tf.shape(x)[0] > 0:
            found = x[0] + tf.reduce_max(x, 0)
        else:
            found = tf.zeros([2])
        return found, sizes(x)

    counts = (2, 0, 1, 3, 0)
    found = [[f(tf.ones([n, 2])) for n in counts] for f in (by_signature, relaxed, guarded)]
    shapes = ([2, 3], [1]), ([2, 0], [1]), ([0, 2], [0]), ([0, 0], [2])
    return found, [nested({"a": tf.ones(a), "b": [tf.ones(b)]}) for a, b in shapes]
