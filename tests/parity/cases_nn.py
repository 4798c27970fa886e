"""`tf.nn`: activations, losses, normalisation."""

import numpy as np

from .derivatives import points
from .harness import attempt, attempts

INF, NAN = np.inf, np.nan
ORDINARY = [-3.0, -1.2, -0.4, 0.3, 1.7, 5.0, 6.5]
SPECIAL = [0.0, -0.0, 6.0, INF, -INF, NAN, 100.0, -100.0]
LOGITS = [[1.0, 2.0, 0.5], [-1.0, 3.0, 0.0]]
SOFT = [[0.2, 0.5, 0.3], [0.0, 1.0, 0.0]]

ACTIVATIONS = {
    "relu": lambda tf, x: tf.nn.relu(x),
    "relu6": lambda tf, x: tf.nn.relu6(x),
    "leaky_relu": lambda tf, x: tf.nn.leaky_relu(x),
    "leaky_relu alpha": lambda tf, x: tf.nn.leaky_relu(x, alpha=0.01),
    "elu": lambda tf, x: tf.nn.elu(x),
    "selu": lambda tf, x: tf.nn.selu(x),
    "gelu": lambda tf, x: tf.nn.gelu(x),
    "gelu approximate": lambda tf, x: tf.nn.gelu(x, approximate=True),
    "softplus": lambda tf, x: tf.nn.softplus(x),
    "softsign": lambda tf, x: tf.nn.softsign(x),
    "sigmoid": lambda tf, x: tf.nn.sigmoid(x),
    "tanh": lambda tf, x: tf.nn.tanh(x),
    "silu": lambda tf, x: tf.nn.silu(x),
    "swish": lambda tf, x: tf.nn.swish(x),
    "swish beta": lambda tf, x: tf.nn.silu(x, beta=2.0),
    "log_sigmoid": lambda tf, x: tf.math.log_sigmoid(x),
    "crelu": lambda tf, x: tf.nn.crelu(x),
}

CASES = {}
for _name, _f in ACTIVATIONS.items():
    _order = 1 if _name == "softsign" else 2
    CASES[_name] = points(_f, ORDINARY, order=_order)
    CASES[f"{_name} special"] = points(_f, SPECIAL, order=1)
    CASES[f"{_name} at zero"] = points(_f, [0.0, 6.0], order=_order)
    CASES[f"{_name} at zero"].parity = {"atol": 5e-6}  # 1 - tanh(6)**2 has two digits in float32
    CASES[f"{_name} empty"] = points(_f, np.zeros([0, 2], np.float32), order=1)

    def _dtypes(tf, f=_f):
        found = {}
        for dtype in ("float16", "bfloat16", "float64"):
            x = tf.cast([-1.5, 0.25, 2.0], dtype)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(tf, x)
            found[dtype] = (y, tape.gradient(y, x))
        return found

    CASES[f"{_name} dtypes"] = _dtypes
    CASES[f"{_name} int"] = points(_f, np.int32([-1, 2]), words=0)

CASES["gelu approximate"].parity = {"atol": 5e-5}  # 1 - tanh(y)**2, times the cube of 6.5

PROGRAMS = {
    "softmax": (lambda tf, x: tf.nn.softmax(x), LOGITS),
    "softmax axis 0": (lambda tf, x: tf.nn.softmax(x, axis=0), LOGITS),
    "softmax large": (lambda tf, x: tf.nn.softmax(x), [[1000.0, 1001.0], [-1000.0, 0.0]]),
    "softmax infinite": (lambda tf, x: tf.nn.softmax(x), [[-INF, 0.0], [-INF, -INF]]),
    "softmax vector": (lambda tf, x: tf.nn.softmax(x), [1.0, 2.0]),
    "softmax scalar": (lambda tf, x: tf.nn.softmax(x), 1.0),
    "softmax axis wrong": (lambda tf, x: tf.nn.softmax(x, axis=5), LOGITS),
    "softmax double": (lambda tf, x: tf.nn.softmax(x), np.float64(LOGITS)),
    "softmax int": (lambda tf, x: tf.nn.softmax(x), np.int32([[1, 2]])),
    "log_softmax": (lambda tf, x: tf.nn.log_softmax(x), LOGITS),
    "log_softmax axis 0": (lambda tf, x: tf.nn.log_softmax(x, axis=0), LOGITS),
    "log_softmax large": (lambda tf, x: tf.nn.log_softmax(x), [[1000.0, 1001.0]]),
    "cross entropy": (
        lambda tf, x, y: tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x),
        LOGITS,
        SOFT,
    ),
    "cross entropy stopped labels": (
        lambda tf, x, y: tf.nn.softmax_cross_entropy_with_logits(tf.stop_gradient(y), x),
        LOGITS,
        SOFT,
    ),
    "cross entropy axis 0": (
        lambda tf, x, y: tf.nn.softmax_cross_entropy_with_logits(y, x, axis=0),
        LOGITS,
        SOFT,
    ),
    "cross entropy large": (
        lambda tf, x: tf.nn.softmax_cross_entropy_with_logits([[0.0, 1.0]], x),
        [[1000.0, -1000.0]],
    ),
    "cross entropy shapes": (
        lambda tf, x: tf.nn.softmax_cross_entropy_with_logits(tf.ones([2, 4]), x),
        LOGITS,
    ),
    "cross entropy int labels": (
        lambda tf, x: tf.nn.softmax_cross_entropy_with_logits([[0, 1, 0], [1, 0, 0]], x),
        LOGITS,
    ),
    "cross entropy rank three": (
        lambda tf, x: tf.nn.softmax_cross_entropy_with_logits(tf.ones([1, 2, 3]) / 3.0, x[None]),
        LOGITS,
    ),
    "sparse cross entropy": (
        lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits([2, 1], x),
        LOGITS,
    ),
    "sparse cross entropy int64": (
        lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.constant([2, 1], tf.int64), logits=x
        ),
        LOGITS,
    ),
    "sparse cross entropy cube": (
        lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits([[2, 1]], x[None]),
        LOGITS,
    ),
    "sparse cross entropy vector": (
        lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits(1, x),
        [1.0, 2.0],
    ),
    "sparse cross entropy float labels": (
        lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits([2.0, 1.0], x),
        LOGITS,
    ),
    "sparse cross entropy label out of range": (
        lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits([1, 3], x),
        LOGITS,
    ),
    "sparse cross entropy negative label": (
        lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits([[-1, 1]], x[None]),
        LOGITS,
    ),
    "sparse cross entropy shapes": (
        lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits([2, 1, 0], x),
        LOGITS,
    ),
    "sparse cross entropy ranks": (
        lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits([[2, 1]], x),
        LOGITS,
    ),
    "sigmoid cross entropy": (
        lambda tf, x, y: tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x),
        LOGITS,
        SOFT,
    ),
    "sigmoid cross entropy large": (
        lambda tf, x: tf.nn.sigmoid_cross_entropy_with_logits([0.0, 1.0, 1.0], x),
        [100.0, -100.0, 0.0],
    ),
    "sigmoid cross entropy shapes": (
        lambda tf, x: tf.nn.sigmoid_cross_entropy_with_logits(tf.ones([3]), x),
        LOGITS,
    ),
    "weighted cross entropy": (
        lambda tf, x, y: tf.nn.weighted_cross_entropy_with_logits(y, x, pos_weight=3.0),
        LOGITS,
        SOFT,
    ),
    "log_poisson_loss": (lambda tf, x: tf.nn.log_poisson_loss([1.0, 2.0], x), [0.5, 1.5]),
    "l2_loss": (lambda tf, x: tf.nn.l2_loss(x), LOGITS),
    "l2_loss empty": (lambda tf, x: tf.nn.l2_loss(x), np.zeros([0], np.float32)),
    "l2_normalize": (lambda tf, x: tf.nn.l2_normalize(x, axis=1), LOGITS),
    "l2_normalize all": (lambda tf, x: tf.nn.l2_normalize(x), LOGITS),
    "moments": (lambda tf, x: tf.nn.moments(x, axes=[0]), LOGITS),
    "moments all": (lambda tf, x: tf.nn.moments(x, [0, 1], keepdims=True), LOGITS),
    "moments half": (lambda tf, x: tf.nn.moments(x, [0]), np.float16(LOGITS)),
    "weighted_moments": (lambda tf, x: tf.nn.weighted_moments(x, [0], [[1.0], [3.0]]), LOGITS),
    "batch_normalization": (
        lambda tf, x, m, v, s: tf.nn.batch_normalization(x, m, v, 0.5, s, 1e-3),
        LOGITS,
        [0.1, 0.2, 0.3],
        [1.0, 2.0, 0.5],
        [1.0, 2.0, 3.0],
    ),
    "bias_add": (lambda tf, x, b: tf.nn.bias_add(x, b), LOGITS, [1.0, 2.0, 3.0]),
    "bias_add NCHW": (
        lambda tf, x, b: tf.nn.bias_add(x[None, None], b, data_format="NCHW"),
        LOGITS,
        [1.0],
    ),
    "bias_add shapes": (lambda tf, x, b: tf.nn.bias_add(x, b), LOGITS, [1.0, 2.0]),
    "bias_add rank": (lambda tf, x, b: tf.nn.bias_add(x, b), LOGITS, [[1.0]]),
    "embedding_lookup": (lambda tf, x: tf.nn.embedding_lookup(x, [1, 0, 1]) * 1.0, LOGITS),
    "dropout zero": (lambda tf, x: tf.nn.dropout(x, 0.0), LOGITS),
    "dropout rate": (lambda tf, x: tf.nn.dropout(x, 1.5), LOGITS),
    "dropout int": (lambda tf, x: tf.nn.dropout(x, 0.5), np.int32([1, 2])),
    "cosine of normalised": (
        lambda tf, x, y: tf.reduce_sum(
            tf.nn.l2_normalize(x, -1) * tf.nn.l2_normalize(y, -1), axis=-1
        ),
        LOGITS,
        [[0.5, -1.0, 2.0], [1.0, 1.0, 1.0]],
    ),
    "zero_fraction": (lambda tf, x: tf.nn.zero_fraction(x), [0.0, 1.0]),
    "softmax top_k": (lambda tf, x: tuple(tf.nn.top_k(tf.nn.softmax(x), 2)), LOGITS),
    "normalize": (lambda tf, x: tf.linalg.normalize(x, axis=1)[0], LOGITS),
    "layer norm by hand": (
        lambda tf, x: (
            (x - tf.reduce_mean(x, -1, keepdims=True))
            * tf.math.rsqrt(tf.math.reduce_variance(x, -1, keepdims=True) + 1e-5)
        ),
        LOGITS,
    ),
    "attention by hand": (
        lambda tf, q, k: tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / 2.0) @ k,
        LOGITS,
        [[0.5, -1.0, 2.0], [1.0, 0.0, 1.0]],
    ),
    "mean squared error": (lambda tf, x, y: tf.reduce_mean((x - y) ** 2), LOGITS, SOFT),
    "huber by hand": (
        lambda tf, x: tf.where(tf.abs(x) <= 1.0, 0.5 * x * x, tf.abs(x) - 0.5),
        [-2.0, 0.5, 1.0],
    ),
}
FIRST_ORDER = {"weighted_moments", "softmax infinite", "l2_loss empty"}
CASES |= {
    name: points(program, *values, order=1 if name in FIRST_ORDER else 2, words=2)
    for name, (program, *values) in PROGRAMS.items()
}


def case_dropout_shape(tf):
    x = tf.ones([4, 50])
    y = tf.nn.dropout(x, 0.5, seed=1)
    values = sorted(set(y.numpy().ravel().tolist()))
    return y.shape, y.dtype, values


def case_dropout_gradient_matches_mask(tf):
    x = tf.ones([100])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.dropout(x, 0.25, seed=3)
    g = tape.gradient(y, x)
    return tf.reduce_all(tf.equal(g, y)), sorted(set(np.round(g.numpy(), 4).tolist()))


def case_dropout_noise_shape(tf):
    y = tf.nn.dropout(tf.ones([5, 20]), 0.5, noise_shape=[5, 1], seed=1).numpy()
    return bool((y == y[:, :1]).all())


def case_errors(tf):
    return attempts(
        tf,
        {
            "cross entropy no labels": lambda tf: tf.nn.softmax_cross_entropy_with_logits(
                labels=None, logits=tf.ones([2, 2])
            ),
            "sigmoid no logits": lambda tf: tf.nn.sigmoid_cross_entropy_with_logits(
                labels=tf.ones([2]), logits=None
            ),
            "sparse out of range": lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=[0], logits=None
            ),
            "relu of string": lambda tf: tf.nn.relu("a"),
            "softmax of none": lambda tf: tf.nn.softmax(None),
            "bias_add format": lambda tf: tf.nn.bias_add(
                tf.ones([1, 2]), tf.ones([2]), data_format="X"
            ),
            "dropout negative": lambda tf: tf.nn.dropout(tf.ones([2]), -0.1),
            "moments axis": lambda tf: tf.nn.moments(tf.ones([2]), [3]),
        },
        words=3,
    )


def case_shapes_that_do_not_fit(tf):
    x, two, three = tf.ones([2, 3]), tf.ones([2]), tf.ones([3])
    normalized = tf.nn.batch_normalization
    return attempts(
        tf,
        {
            "mean and variance": lambda tf: normalized(x, two, three, None, None, 0.1),
            "offset": lambda tf: normalized(x, three, three, two, None, 0.1),
            "poisson": lambda tf: tf.nn.log_poisson_loss(two, three),
        },
    )


def case_local_response_normalization(tf):
    x = tf.reshape(tf.sin(tf.range(24.0)), [1, 2, 2, 6])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.local_response_normalization(x, 2, bias=1.5, alpha=0.7, beta=0.75)
        loss = tf.reduce_sum(y * tf.range(6.0))
    return (
        y,
        tape.gradient(loss, x),
        tf.nn.lrn(x),
        tf.nn.lrn(tf.cast(x, tf.float16)).dtype,
        attempts(
            tf,
            {
                "rank": lambda tf: tf.nn.lrn(tf.ones([1, 2, 3])),
                "float64": lambda tf: tf.nn.lrn(tf.ones([1, 1, 1, 2], tf.float64)),
            },
        ),
    )


def case_sufficient_statistics(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 5.0]])
    whole = tf.nn.sufficient_statistics(x, [0, 1])
    shifted = tf.nn.sufficient_statistics(x, [0], shift=1.0, keepdims=True)
    return whole, shifted, tf.nn.normalize_moments(*whole), tf.nn.normalize_moments(*shifted)


def case_transposes_of_integers(tf):
    rng = np.random.default_rng(0)

    def integers(*shape):
        return tf.constant(rng.integers(-9, 9, shape), tf.int32)

    x, f = integers(1, 3, 4, 4), integers(2, 3, 5, 4)
    large = tf.constant(2**30 - 1, tf.int32)
    return {
        "2d": tf.nn.conv2d_transpose(x, f, [1, 6, 8, 5], 2),
        "valid": tf.nn.conv2d_transpose(x, f, [1, 4, 6, 5], 1, "VALID"),
        "valid of more": tf.nn.conv2d_transpose(x, f, [1, 7, 9, 5], 2, "VALID"),
        "same of less": tf.nn.conv2d_transpose(x, f, [1, 5, 7, 5], 2, "SAME"),
        "padded": tf.nn.conv2d_transpose(x, f, [1, 3, 4, 5], 1, [[0, 0], [1, 0], [2, 0], [0, 0]]),
        "1d": tf.nn.conv1d_transpose(x[0], f[0], [3, 8, 5], 2),
        "that wrap": tf.nn.conv2d_transpose(x * large, f, [1, 6, 8, 5], 2),
    }


def case_squares_of_complex_differences(tf):
    x = tf.constant([1 + 2j, 3 - 1j, 0.5j], tf.complex64)
    y = tf.constant([2 - 1j, 1j, 1.0], tf.complex64)

    def both(program):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = program()
        return z, tape.gradient(z, [x, y])

    return {
        "squared_difference": both(lambda: tf.math.squared_difference(x, y)),
        "weighted": both(lambda: tf.math.squared_difference(x, y) * y),
        "mean": both(lambda: tf.nn.moments(x, [0])[0]),
        "variance": both(lambda: tf.nn.moments(x, [0])[1]),
        "keepdims": tf.nn.moments(tf.stack([x, y]), [0, 1], keepdims=True),
        "weighted_moments": both(lambda: tf.nn.weighted_moments(x, [0], y)[1]),
    }


def case_tables_of_embeddings(tf):
    """A list is one of tables, a tuple is one table."""
    ragged = tf.ragged.constant([[0], [1, 0]])
    pairs, rest = [[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]]
    look, v1 = tf.nn.embedding_lookup, tf.compat.v1.nn
    programs = {
        "list": lambda tf: look(pairs, [1, 0, 3]),
        "list of one": lambda tf: look([pairs], [1, 0]),
        "list of two": lambda tf: look([pairs, rest], [1, 0, 2]),
        "tuple": lambda tf: look(tuple(pairs), [1, 0]),
        "tuple of tensors": lambda tf: look(tuple(map(tf.constant, pairs)), [1, 0]),
        "norm": lambda tf: look([pairs, rest], [1, 0, 2], max_norm=1.0),
        "texts": lambda tf: look([["a", "b"], ["c"]], [1, 0, 2]),
        "arrays": lambda tf: look([np.ones((2, 2)), np.zeros((1, 2))], [1, 2]),
        "variables": lambda tf: look([tf.Variable(pairs), tf.Variable(rest)], [1, 2]),
        "empty": lambda tf: look([], [0]),
        "empty tuple": lambda tf: look((), [0]),
        "in turn": lambda tf: v1.embedding_lookup(pairs, [1, 0, 3]),
        "not in turn": lambda tf: v1.embedding_lookup(pairs, [1, 0, 3], partition_strategy="div"),
        "one in turn": lambda tf: v1.embedding_lookup(tuple(pairs), [1, 0]),
        "sparse": lambda tf: tf.nn.embedding_lookup_sparse([pairs], ragged, None, combiner="sum"),
        "sparse of two": lambda tf: tf.nn.embedding_lookup_sparse(
            [pairs[:1], pairs[1:]], ragged, None, combiner="sum"
        ),
    }
    return attempts(tf, programs)


def case_arrays_of_other_dtypes(tf):
    """What no kernel takes as it is."""
    x = np.linspace(0.1, 1.0, 12).reshape(1, 2, 2, 3)
    waves = np.arange(4.0)
    programs = {
        "lrn": lambda tf: tf.nn.local_response_normalization(x),
        "lrn integers": lambda tf: tf.nn.local_response_normalization((9 * x).astype(int)),
        "lrn tensor": lambda tf: tf.nn.local_response_normalization(tf.constant(x)),
        "hsv integers": lambda tf: tf.image.hsv_to_rgb(np.ones((1, 3), int)),
        "rfft": lambda tf: tf.signal.rfft(waves),
        "rfft tensor": lambda tf: tf.signal.rfft(tf.constant(waves)),
        "rfft integers": lambda tf: tf.signal.rfft(np.arange(4)),
        "rfft halves": lambda tf: tf.signal.rfft(waves.astype("float16")),
        "rfft tensor of integers": lambda tf: tf.signal.rfft(tf.range(4)),
        "rfft2d": lambda tf: tf.signal.rfft2d(x[0]),
        "irfft": lambda tf: tf.signal.irfft(waves + 0j),
        "irfft tensor": lambda tf: tf.signal.irfft(tf.constant(waves + 0j)),
        "irfft real": lambda tf: tf.signal.irfft(waves),
        "irfft tensor of real": lambda tf: tf.signal.irfft(tf.constant(waves)),
    }
    return attempts(tf, programs)


def case_ranks_of_transposed_convolutions(tf):
    ones = tf.ones
    calls = (
        lambda: tf.nn.conv2d_transpose(ones([1, 2, 2, 3, 1]), ones([3, 3, 1, 3]), [1, 4, 4, 1], 2),
        lambda: tf.nn.conv2d_transpose(ones([1, 2, 2, 3]), ones([3, 3, 1]), [1, 4, 4, 1], 2),
        lambda: tf.nn.conv3d_transpose(ones([1, 2, 2, 2]), ones([2] * 5), [1, 4, 4, 4, 2], 2),
        lambda: tf.nn.conv1d_transpose(ones([1, 2]), ones([2, 1, 1]), [1, 4, 1], 2),
        lambda: tf.nn.conv1d_transpose(ones([1, 4, 3]), ones([2, 5, 4]), [1, 8, 5], 2),
        lambda: tf.nn.conv2d_transpose(ones([1, 2, 2, 3]), ones([2, 2, 5, 4]), [1, 4, 4, 5], 2),
        lambda: tf.nn.conv3d_transpose(ones([1, 2, 2, 2, 3]), ones([2] * 5), [1, 4, 4, 4, 2], 2),
    )
    return [attempt(call) for call in calls]


def case_windows_of_no_elements(tf):
    calls = (
        lambda: tf.nn.conv2d(tf.ones([1, 5, 5, 2]), tf.ones([0, 3, 2, 3]), 1, "SAME"),
        lambda: tf.nn.conv1d(tf.ones([1, 5, 2]), tf.ones([0, 2, 3]), 1, "SAME"),
        lambda: tf.nn.conv3d(tf.ones([1, 5, 5, 5, 2]), tf.ones([3, 0, 3, 2, 3]), [1] * 5, "SAME"),
        lambda: tf.nn.conv2d_transpose(
            tf.ones([1, 2, 2, 3]), tf.ones([0, 3, 1, 3]), [1, 4, 4, 1], 2
        ),
    )
    return [attempt(call) for call in calls]


def case_filters_of_shapes_that_do_not_fit(tf):
    x, deep = tf.ones([1, 5, 5, 2]), tf.ones([3, 3, 2, 1])
    calls = (
        lambda: tf.nn.separable_conv2d(x, deep, tf.ones([1, 1, 2]), [1] * 4, "SAME"),
        lambda: tf.nn.separable_conv2d(x, deep, tf.ones([2, 1, 2, 3]), [1] * 4, "SAME"),
        lambda: tf.nn.atrous_conv2d(x, tf.ones([3, 2, 3, 3]), 2, "SAME"),
        lambda: tf.nn.atrous_conv2d(tf.ones([5, 4, 2]), tf.ones([3, 2, 2, 3]), 2, "SAME"),
    )
    return [attempt(call) for call in calls]


def case_moments_weighted_by_zeros(tf):
    x, weights = tf.constant([[1.0, 2.0], [3.0, 5.0]]), tf.constant([[0.0, 1.0], [0.0, 2.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, weights])
        found = tf.nn.weighted_moments(x, [0], weights)
    none = tf.nn.weighted_moments(tf.cast(x, tf.float16), [0, 1], 0.0, keepdims=True)
    return found, none, [tape.gradient(y, [x, weights]) for y in found]


def case_gradient_of_moments_of_infinities(tf):
    """The mean alone has no NaN of the variance."""
    found = []
    for last in (np.inf, np.nan, 2.0):
        x = tf.constant([1.0, last])
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            both = tf.nn.moments(x, [0])
        found.append([tape.gradient(y, x) for y in (both[0], both[1], both)])
    return found


def case_moments_weighted_by_what_has_another_dtype(tf):
    x = tf.constant([1, 4])
    calls = (
        lambda: tf.nn.weighted_moments(x, [0], tf.constant([2.0, 1.0])),
        lambda: tf.nn.weighted_moments(x, [0], tf.constant([2, 1])),
        lambda: tf.nn.weighted_moments(
            tf.constant([1.0, 4.0], tf.float64), [0], tf.constant([0.1, 0.3])
        ),
    )
    return [attempt(call) for call in calls]


def case_average_loss_of_a_scalar(tf):
    return tf.nn.compute_average_loss(tf.constant(1.0))


def case_average_loss_by_weights(tf):
    """Of one axis more than the losses, or one less; rounded to float32."""
    shapes = ([3], [3, 1]), ([3, 2], [3]), ([3, 2], []), ([3, 2], [1, 2]), ([3, 2, 4], [3, 2])
    found = []
    for dtype in ("float16", "float32", "int32", "uint8"):
        for have, wanted in shapes:
            losses = tf.reshape(tf.cast(tf.range(np.prod(have)), dtype), have)
            weights = tf.reshape(tf.range(np.prod(wanted)) + 1, wanted)
            found.append(tf.nn.compute_average_loss(losses, weights))
    x, weights = tf.constant([3.0, 4.0]), tf.constant([[1.0], [2.0]])
    with tf.GradientTape() as tape:
        tape.watch([x, weights])
        y = tf.nn.compute_average_loss(x, weights, 4)
    refused = {
        "float": lambda tf: tf.nn.compute_average_loss(x, global_batch_size=2.0),
        "bool": lambda tf: tf.nn.compute_average_loss(x, global_batch_size=True),
        "vector": lambda tf: tf.nn.compute_average_loss(x, global_batch_size=[2]),
        "negative": lambda tf: tf.nn.compute_average_loss(x, global_batch_size=-1),
    }
    return found, tape.gradient(y, [x, weights]), attempts(tf, refused, words=4)


def case_average_loss_of_none(tf):
    x, none = tf.constant([1.0, NAN]), tf.zeros([0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.compute_average_loss(x, global_batch_size=0)
    return y, tape.gradient(y, x), tf.nn.compute_average_loss(none), tf.nn.leaky_relu(-x, None)


def case_strides_and_windows_that_are_not_positive(tf):
    x, k = tf.ones([1, 5, 5, 2]), tf.ones([3, 3, 2, 4])
    calls = (
        lambda: tf.nn.conv2d(x, k, 0, "SAME"),
        lambda: tf.nn.conv2d(x, k, -1, "SAME"),
        lambda: tf.nn.conv2d(x, k, 1, "SAME", dilations=0),
        lambda: tf.nn.conv3d(x[None], k[None], [1, 1, 0, 1, 1], "SAME"),
        lambda: tf.nn.depthwise_conv2d(x, k, [1, 0, 0, 1], "SAME"),
        lambda: tf.nn.conv2d_transpose(x, tf.ones([3, 3, 4, 2]), [1, 5, 5, 4], 0),
        lambda: tf.nn.max_pool2d(x, 2, 0, "SAME"),
        lambda: tf.nn.max_pool2d(x, 2, -1, "SAME"),
        lambda: tf.nn.max_pool2d(x, 0, 1, "SAME"),
        lambda: tf.nn.avg_pool2d(x, 2, 0, "SAME"),
        lambda: tf.nn.pool(x, [2, 2], "MAX", strides=[0, 0]),
        lambda: tf.nn.pool(x, [2, 2], "MAX", dilations=[0, 0]),
    )
    return [attempt(call) for call in calls]


def case_formats_of_other_ranks(tf):
    x, k = tf.ones([1, 5, 5, 2]), tf.ones([3, 3, 2, 4])
    calls = (
        lambda: tf.nn.conv1d(x[0], k[0], 1, "SAME", data_format="x"),
        lambda: tf.nn.conv1d(x[0], k[0], 1, "SAME", data_format="NHWC"),
        lambda: tf.nn.conv2d(x, k, 1, "SAME", data_format="NWC"),
        lambda: tf.nn.conv2d(x, k, 1, "SAME", data_format="channels_last"),
        lambda: tf.nn.conv3d(x[None], k[None], [1] * 5, "SAME", data_format="NHWC"),
        lambda: tf.nn.depthwise_conv2d(x, k, [1] * 4, "SAME", data_format="x"),
        lambda: tf.nn.max_pool3d(x[None], 1, 1, "SAME", data_format="x"),
    )
    return [attempt(call) for call in calls]


def case_pools_of_channels(tf):
    x = tf.reshape(tf.range(48.0) % 7, (2, 2, 3, 4))
    windows = {
        "two": ((1, 1, 1, 2), (1, 1, 1, 2)),
        "all": ((1, 1, 1, 4), (1, 1, 1, 4)),
        "uneven": ((1, 1, 1, 3), (1, 1, 1, 3)),
        "other steps": ((1, 1, 1, 2), (1, 1, 1, 1)),
        "both": ((1, 2, 1, 2), (1, 1, 1, 2)),
    }
    return {
        (name, padding): [
            attempt(pool, x, *window, padding, words=0)
            for pool in (tf.nn.max_pool, tf.nn.max_pool2d, tf.function(tf.nn.max_pool))
        ]
        for name, window in windows.items()
        for padding in ("VALID", "SAME")
    }


def case_pools_of_strides_longer_than_windows(tf):
    x = tf.reshape(tf.range(48.0), [1, 3, 8, 2])
    pool, version1 = tf.nn.pool, tf.compat.v1.nn.pool
    return attempts(
        tf,
        {
            "along both": lambda tf: pool(x, [1, 1], "MAX", [2, 2]),
            "along one": lambda tf: pool(x, [2, 2], "AVG", [1, 3], "SAME"),
            "with dilations": lambda tf: pool(x, [1, 1], "MAX", [2, 2], dilations=[1, 2]),
            "version 1": lambda tf: version1(x, [2, 2], "MAX", "VALID", strides=[1, 3]),
            "as long": lambda tf: pool(x, [2, 3], "MAX", [2, 3]),
            "by its own name": lambda tf: tf.nn.max_pool2d(x, 1, 2, "VALID"),
        },
    )


def case_silu_by_a_beta_of_another_dtype(tf):
    x, beta = tf.constant(ORDINARY, tf.float64), tf.constant(0.7)
    with tf.GradientTape() as tape:
        tape.watch((x, beta))
        y = tf.nn.silu(x, beta)
    half = tf.nn.silu(tf.constant(ORDINARY), np.float64(0.5))
    held = tf.nn.silu(x, tf.Variable(0.7, dtype=tf.float64)), tf.nn.silu(x, tf.Variable(0.7))
    return y, tape.gradient(y, (x, beta)), half, held, tf.nn.silu(ORDINARY, 2)


def case_embeddings_of_half_precision(tf):
    """Are combined in float32, and come back in their dtype."""
    ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([1, 3, 2], tf.int64), [3, 2])
    weights = tf.SparseTensor(ids.indices, [1.0, 0.5, 2.0], ids.dense_shape)
    found = []
    for dtype in (tf.float16, tf.bfloat16):
        table = tf.cast(tf.reshape(tf.range(12.0) / 7.0, [4, 3]), dtype)
        for combiner in ("sum", "mean", "sqrtn"):
            with tf.GradientTape() as tape:
                tape.watch(table)
                y = tf.nn.embedding_lookup_sparse(table, ids, weights, combiner)
            gradient = tf.convert_to_tensor(tape.gradient(y, table))
            found.append((y, gradient))
            found.append(tf.nn.safe_embedding_lookup_sparse(table, ids, None, combiner))
    return found


def case_dropout_of_nothing_is_the_tensor(tf):
    x = tf.constant([1.0, 2.0])
    drop, seed = tf.nn.experimental.stateless_dropout, [1, 2]
    with tf.GradientTape(persistent=True) as tape:
        kept = [tf.nn.dropout(x, 0.0), tf.nn.dropout(x, 0), drop(x, 0.0, seed)]
        tensor_rate = tf.nn.dropout(x, tf.constant(0.0))
    same = [y is x for y in [*kept, tensor_rate]]
    return kept, same, [tape.gradient(y, x) for y in kept]


def case_dtypes_beside_that_of_the_tensor(tf):
    f, g = tf.constant([3.0, 4.0]), tf.constant([3.0, 4.0], tf.float64)
    h = tf.constant([3.0, 4.0], tf.float16)
    normalize = tf.nn.batch_normalization
    programs = {
        "norm of another": lambda tf: tf.clip_by_norm(g, tf.constant(1.0)),
        "norm of integers": lambda tf: tf.clip_by_norm(f, tf.constant(1)),
        "global norm": lambda tf: tf.clip_by_global_norm([f], tf.constant(1.0, tf.float64)),
        "global norm of text": lambda tf: tf.clip_by_global_norm([f], "a"),
        "half": lambda tf: normalize(h, f, f, f, f, 1e-3),
        "numbers": lambda tf: normalize(g, 1.0, 2.0, 0.5, None, 1e-3),
        "integers": lambda tf: normalize(tf.constant([1, 2]), f, f, f, None, 1e-3),
        "mean": lambda tf: normalize(f, g, f, f, f, 1e-3),
        "variance": lambda tf: normalize(f, f, g, f, f, 1e-3),
        "offset": lambda tf: normalize(f, f, f, g, f, 1e-3),
        "scale": lambda tf: normalize(f, f, f, f, g, 1e-3),
        "all others": lambda tf: normalize(f, g, g, g, g, 1e-3),
    }
    return attempts(tf, programs, words=0)


def case_repeated_scalars(tf):
    programs = {
        "once": lambda tf: (tf.repeat(3.0, 2, axis=0), tf.repeat("a", [2], axis=-1)),
        "beyond": lambda tf: tf.repeat(3.0, 2, axis=1),
        "as numpy": lambda tf: tf.experimental.numpy.repeat(3, 2, axis=0),
        "in a function": lambda tf: tf.function(lambda x: tf.repeat(x, 2, axis=0))(tf.constant(1)),
    }
    return attempts(tf, programs, words=0)
