"""Functions of `tf.compat.v1` whose parameters are not those of `tf`, and variables in scopes."""

import os
import tempfile

import numpy as np

from .harness import attempt, attempts

NEEDS = ("compat.v1.to_float",)


def case_reductions(tf):
    v1 = tf.compat.v1
    x, truths = [[1.0, 2.0], [3.0, 4.0]], [[True, False], [True, True]]
    names = "reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_logsumexp".split()
    functions = [getattr(v1, name) for name in names]
    functions += [getattr(v1.math, name) for name in names]
    return {
        "axes": [
            [
                f(x),
                f(x, 0),
                f(x, [1], True),
                f(x, reduction_indices=1),
                f(x, axis=1, keep_dims=True),
            ]
            for f in functions
        ],
        "truths": [
            f(truths, axis=0, keepdims=True)
            for f in (v1.reduce_all, v1.reduce_any, v1.math.reduce_all, v1.math.reduce_any)
        ],
        "errors": [attempt(lambda f=f: f(x, 1, reduction_indices=1), words=6) for f in functions]
        + [attempt(lambda: v1.reduce_sum(x, 0, False, keep_dims=True), words=6)],
        **attempts(
            tf,
            {
                "argmax": lambda tf: [v1.argmax(x), v1.argmin(x, 1), v1.argmax(x, dimension=1)],
                "arg_max": lambda tf: [v1.arg_max(x, 0), v1.arg_min(x, 1, tf.int32)],
                "argmax both": lambda tf: v1.argmax(x, 1, dimension=1),
                "argmax type": lambda tf: v1.math.argmax(x, 1, output_type=tf.int32),
                "count": lambda tf: [
                    v1.count_nonzero([[0, 1], [2, 3]], axis=1),
                    v1.count_nonzero(input=[0, 1], keepdims=True),
                    v1.math.count_nonzero([[0, 1]], reduction_indices=1, dtype=tf.int32),
                ],
                "norm": lambda tf: [
                    v1.norm(x),
                    v1.norm(x, 1, 0),
                    v1.norm(x, axis=1, keep_dims=True),
                    v1.linalg.norm(x, keepdims=True),
                ],
                "bincount": lambda tf: [v1.bincount([1, 1, 3]), v1.math.bincount([1], minlength=3)],
                "confusion": lambda tf: v1.confusion_matrix([0, 1], [1, 1], weights=[2, 3]),
            },
        ),
    }


def case_arrays(tf):
    v1 = tf.compat.v1
    x = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
    return attempts(
        tf,
        {
            "expand_dims": lambda tf: [v1.expand_dims([1], 0), v1.expand_dims([1], dim=-1)],
            "expand_dims none": lambda tf: v1.expand_dims([1]),
            "expand_dims both": lambda tf: v1.expand_dims([1], 0, dim=0),
            "squeeze": lambda tf: [v1.squeeze([[1]]), v1.squeeze([[1]], squeeze_dims=[0])],
            "squeeze one": lambda tf: v1.squeeze([[1]], 0),
            "squeeze both": lambda tf: v1.squeeze([[1]], 0, squeeze_dims=0),
            "ones": lambda tf: [
                v1.ones_like([1, 2]),
                v1.ones_like([1], tf.float32, optimize=False),
            ],
            "zeros": lambda tf: v1.zeros_like(tensor=[1.0, 2.0]),
            "shape": lambda tf: [
                v1.shape([[1]]),
                v1.shape([1], out_type=tf.int64),
                v1.size([1, 2]),
            ],
            "shape name": lambda tf: v1.shape([1], "name", tf.int64),
            "transpose": lambda tf: v1.transpose([[1, 2], [3, 4]], [1, 0], "name", False),
            "constant": lambda tf: [v1.constant(1, shape=[2]), v1.constant([1, 2], tf.float32)],
            "convert": lambda tf: v1.convert_to_tensor(1, preferred_dtype=tf.float32),
            "sequence": lambda tf: v1.reverse_sequence([[1, 2, 3]], [2], seq_dim=1, batch_dim=0),
            "space": lambda tf: [
                v1.space_to_depth(x, 2),
                v1.space_to_batch(x, [[0, 0], [0, 0]], 2),
                v1.nn.space_to_batch(x, [[0, 0], [0, 0]], block_shape=2),
                v1.batch_to_space(tf.ones([4, 1, 1, 1]), [[0, 0], [0, 0]], 2),
                v1.depth_to_space(tf.ones([1, 1, 1, 4]), 2),
                v1.batch_to_space_nd(tf.ones([4, 1, 1, 1]), [2, 2], [[0, 0], [0, 0]]),
            ],
            "gather": lambda tf: v1.batch_gather([[1, 2], [3, 4]], [[0], [1]]),
            "difference": lambda tf: list(v1.setdiff1d([3, 1, 2, 1], [2])),
            "difference type": lambda tf: v1.setdiff1d([1], [2], tf.int64).idx,
            "dense": lambda tf: [
                v1.sparse_to_dense([1], [3], [5]),
                v1.sparse_to_dense([[0, 1], [1, 0]], [2, 2], [1.0, 2.0], -1.0),
                v1.sparse_to_dense([0, 2], [4], 7, default_value=1),
                v1.sparse_to_dense(1, [3], 2),
                v1.sparse_to_dense([1, 0], [3], [1, 2], validate_indices=False),
            ],
            "dense in disorder": lambda tf: v1.sparse_to_dense([1, 0], [3], [1, 2]),
            "dense twice": lambda tf: v1.sparse_to_dense([1, 1], [3], [1, 2]),
            "dense outside": lambda tf: v1.sparse_to_dense([5], [3], [1]),
            "tuple": lambda tf: v1.tuple([tf.constant(1)], "name", []),
            "slices": lambda tf: v1.convert_to_tensor_or_indexed_slices([1], tf.float32),
            "sparse": lambda tf: v1.convert_to_tensor_or_sparse_tensor([1]),
            "case": lambda tf: v1.case([(tf.constant(True), lambda: 1)], lambda: 2),
            "unknown": lambda tf: attempt(lambda: v1.squeeze([1], axes=1), words=0),
        },
    )


def case_numbers(tf):
    v1 = tf.compat.v1
    names = "to_float to_double to_int32 to_int64 to_bfloat16 to_complex64 to_complex128".split()
    return attempts(
        tf,
        {
            "casts": lambda tf: [getattr(v1, name)([1.7, -1.7]) for name in names],
            "cast sparse": lambda tf: v1.to_int32(tf.sparse.from_dense([1.5])).values,
            "div": lambda tf: [v1.div(7, 2), v1.div(-7, 2), v1.div(7.0, 2.0), v1.div([4, 5], 2)],
            "div zero": lambda tf: v1.div(1, 0),
            "floor_div": lambda tf: [v1.floor_div(-7, 2), v1.floor_div(-7.0, 2.0)],
            "clip": lambda tf: [v1.clip_by_average_norm([3.0, 4.0], c) for c in (1.0, 100.0)],
            "finite": lambda tf: v1.verify_tensor_all_finite([1.0], "message"),
            "not finite": lambda tf: v1.verify_tensor_all_finite(x=[np.nan], message="message"),
            "py_func": lambda tf: v1.py_func(lambda x: x + 1, [tf.constant(1.0)], tf.float32),
            "py_func two": lambda tf: v1.py_func(lambda x: (x, -x), [1], [tf.int64, tf.int64]),
            "print": lambda tf: v1.Print(tf.constant(1.0), [tf.constant(2.0)], "message"),
            "hessians": lambda tf: tf.function(lambda x: v1.hessians(x * x * x, x))(
                tf.constant(2.0)
            ),
        },
    )


def case_seeds(tf):
    v1 = tf.compat.v1
    v1.set_random_seed(7)
    return [
        v1.random_uniform([2]),
        v1.random_normal([2], seed=3),
        v1.truncated_normal([2], seed=4),
        v1.multinomial([[1.0, 2.0]], 5, seed=5),
        v1.random_poisson([1.0, 3.0], [2], seed=6),
        v1.random.poisson(2.0, [3], seed=8),
        v1.random.multinomial([[1.0, 2.0]], 2, 5, output_dtype=tf.int32),
        v1.random.stateless_multinomial([[1.0, 2.0]], 4, [1, 2]),
        v1.random_shuffle([1, 2, 3, 4], seed=1),
    ]


def case_nn(tf):
    nn = tf.compat.v1.nn
    tf.random.set_seed(1)
    x = [[1.0, 2.0, 0.5], [0.1, -1.0, 3.0]]
    labels = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    unit = tf.ones([4])

    def gradients(loss):
        y, t = tf.constant(x), tf.constant(labels)
        with tf.GradientTape() as tape:
            tape.watch([y, t])
            found = loss(labels=t, logits=y)
        return found, tape.gradient(found, [y, t])

    return attempts(
        tf,
        {
            "softmax": lambda tf: [nn.softmax(x), nn.softmax(x, dim=0), nn.log_softmax(x, 0)],
            "softmax both": lambda tf: nn.softmax(x, 0, dim=0),
            "cross": lambda tf: gradients(nn.softmax_cross_entropy_with_logits),
            "cross axis": lambda tf: nn.softmax_cross_entropy_with_logits(labels, x, dim=0),
            "cross none": lambda tf: nn.softmax_cross_entropy_with_logits(logits=x),
            "cross 2": lambda tf: gradients(nn.softmax_cross_entropy_with_logits_v2),
            "sigmoid": lambda tf: gradients(nn.sigmoid_cross_entropy_with_logits),
            "sparse": lambda tf: nn.sparse_softmax_cross_entropy_with_logits(
                labels=[1, 0], logits=x
            ),
            "weighted": lambda tf: [
                nn.weighted_cross_entropy_with_logits(labels, x, 2.0),
                nn.weighted_cross_entropy_with_logits(targets=labels, logits=x, pos_weight=2.0),
            ],
            "dropout": lambda tf: [
                nn.dropout(unit, 1.0),
                nn.dropout(unit, rate=0.0),
                nn.dropout(unit, 0.5, seed=3),
            ],
            "dropout both": lambda tf: nn.dropout(unit, 0.5, rate=0.5),
            "dropout none": lambda tf: nn.dropout(unit),
            "moments": lambda tf: [
                nn.moments(tf.constant(x), [0]),
                nn.moments(tf.constant(x), [0], keep_dims=True),
                nn.weighted_moments(tf.constant(x), [1], tf.constant(2.0), keepdims=True),
                nn.sufficient_statistics(tf.constant(x), [0], keep_dims=True),
            ],
            "layers": lambda tf: [
                f(x, tf.ones([3, 2]), [-2.0, 1.0]) for f in (nn.xw_plus_b, nn.relu_layer)
            ],
            "crelu": lambda tf: nn.crelu(x, "name"),
            "global": lambda tf: nn.batch_norm_with_global_normalization(
                tf.ones([1, 1, 1, 2]),
                *map(tf.constant, ([0.0, 1.0], [1.0, 2.0], [0.5, 0.0], [1.0, 2.0])),
                0.1,
                True,
            ),
        },
    )


def case_convolutions(tf):
    nn = tf.compat.v1.nn
    image = tf.reshape(tf.range(32.0), [1, 4, 4, 2])
    filters = tf.reshape(tf.range(24.0) / 10.0, [2, 2, 2, 3])
    depth = tf.reshape(tf.range(8.0), [2, 2, 2, 1])
    steps, block = [1, 1, 1, 1], [1, 2, 2, 1]
    line = tf.reshape(tf.range(8.0), [1, 4, 2])
    return attempts(
        tf,
        {
            "conv2d": lambda tf: [
                nn.conv2d(image, filters, steps, "SAME"),
                nn.conv2d(image, filter=filters, strides=[1, 2, 2, 1], padding="VALID"),
                nn.conv2d(
                    image, filters=filters, strides=1, padding="SAME", dilations=[1, 2, 2, 1]
                ),
            ],
            "conv2d both": lambda tf: nn.conv2d(image, filters, steps, "SAME", filters=filters),
            "conv1d": lambda tf: [
                nn.conv1d(line, tf.ones([2, 2, 3]), 1, "SAME"),
                nn.conv1d(value=line, filters=tf.ones([2, 2, 3]), stride=2, padding="VALID"),
            ],
            "conv3d": lambda tf: nn.conv3d(
                tf.ones([1, 2, 2, 2, 1]), tf.ones([2, 2, 2, 1, 2]), [1] * 5, "SAME"
            ),
            "depthwise": lambda tf: [
                nn.depthwise_conv2d(image, depth, steps, "SAME", rate=[2, 2]),
                nn.depthwise_conv2d_native(image, depth, steps, "VALID"),
                nn.separable_conv2d(image, depth, tf.ones([1, 1, 2, 3]), steps, "SAME"),
            ],
            "backward": lambda tf: nn.conv2d_backprop_input(
                [1, 4, 4, 2], filters, tf.ones([1, 4, 4, 3]), steps, "SAME"
            ),
            "pool": lambda tf: [
                nn.pool(image, [2, 2], "MAX", "SAME", dilation_rate=[1, 1]),
                nn.max_pool(image, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"),
                list(nn.max_pool_with_argmax(image, block, block, "SAME", Targmax=tf.int64)),
            ],
            "morphology": lambda tf: [
                nn.dilation2d(image, depth[..., 0], steps, steps, "SAME"),
                nn.erosion2d(image, depth[..., 0], steps, steps, "SAME"),
            ],
        },
    )


def case_fused_batch_norm(tf):
    norm = tf.compat.v1.nn.fused_batch_norm
    x = tf.constant(np.arange(16.0, dtype=np.float32).reshape(2, 2, 2, 2) ** 2)
    scale, offset, mean, variance = [
        tf.constant(v) for v in ([1.0, 2.0], [0.5, 0.0], [3.0, 1.0], [2.0, 4.0])
    ]

    def gradients(**options):
        with tf.GradientTape() as tape:
            tape.watch([x, scale, offset])
            y = norm(x, scale, offset, **options)[0]
            loss = tf.reduce_sum(y * y * tf.range(16.0)[:2][None, None, None])
        return tape.gradient(loss, [x, scale, offset])

    def second():
        with tf.GradientTape() as outer:
            outer.watch([x, scale])
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = norm(x / 64.0, scale, offset)[0]
                loss = tf.reduce_sum(y * tf.math.sin(tf.reshape(tf.range(16.0), x.shape)))
            penalty = tf.reduce_sum(tf.math.tanh(tape.gradient(loss, x)))
        return outer.gradient(penalty, [x, scale])

    def of_moments():
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.add_n([tf.reduce_sum(each) for each in norm(x, scale, offset)[1:]])
        return tape.gradient(loss, x)

    return attempts(
        tf,
        {
            "second gradients": lambda tf: second(),
            "gradients of moments": lambda tf: of_moments(),
            "float64": lambda tf: norm(tf.cast(x, tf.float64), scale, offset),
            "training": lambda tf: list(norm(x, scale, offset)),
            "epsilon": lambda tf: norm(x, scale, offset, epsilon=0.5)[0],
            "moving": lambda tf: list(
                norm(x, scale, offset, mean, variance, exponential_avg_factor=0.25)
            ),
            "inference": lambda tf: list(norm(x, scale, offset, mean, variance, is_training=False)),
            "half": lambda tf: list(norm(tf.cast(x / 100.0, tf.float16), scale, offset)),
            "gradients": lambda tf: gradients(),
            "gradients of inference": lambda tf: gradients(
                mean=mean, variance=variance, is_training=False
            ),
            "missing": lambda tf: norm(x, scale, offset, is_training=False),
        },
    )


def case_embeddings(tf):
    nn = tf.compat.v1.nn
    parts = [tf.constant([[1.0], [2.0]]), tf.constant([[3.0], [4.0]]), tf.constant([[5.0]])]
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0, 3, 4], [2, 2])
    weights, biases = [tf.ones([2, 3]), 2.0 * tf.ones([2, 3])], [tf.zeros([2]), tf.ones([2])]
    sampled = [tf.constant(v) for v in ([[0.5], [0.5]], [0.5, 0.5])]
    loss = {
        "weights": weights,
        "biases": biases,
        "labels": tf.constant([[0], [3]], tf.int64),
        "inputs": tf.ones([2, 3]),
        "num_sampled": 2,
        "num_classes": 4,
        "sampled_values": [tf.constant([1, 2], tf.int64), *sampled],
    }
    return attempts(
        tf,
        {
            "mod": lambda tf: nn.embedding_lookup(parts, [[0, 1, 2], [3, 4, 0]]),
            "div": lambda tf: nn.embedding_lookup(parts[:2], [0, 1, 2, 3], "div"),
            "one": lambda tf: nn.embedding_lookup(parts[0], [0, 1], max_norm=1.0),
            "other": lambda tf: nn.embedding_lookup(parts, [0], "other"),
            "sparse": lambda tf: nn.embedding_lookup_sparse(parts, ids, None, combiner="sum"),
            "safe": lambda tf: nn.safe_embedding_lookup_sparse(
                parts[:1], tf.SparseTensor([[0, 0]], [1], [2, 1])
            ),
            "nce": lambda tf: nn.nce_loss(**loss),
            "sampled": lambda tf: nn.sampled_softmax_loss(**loss, partition_strategy="div"),
        },
    )


def case_texts(tf):
    v1 = tf.compat.v1

    def parts(sparse):
        return sparse.indices, sparse.values, sparse.dense_shape

    return attempts(
        tf,
        {
            "split": lambda tf: parts(v1.strings.split(["a b", "c"])),
            "split sep": lambda tf: parts(v1.strings.split(source=["a-b-c"], sep="-", maxsplit=1)),
            "split scalar": lambda tf: parts(v1.strings.split("a b")),
            "split ragged": lambda tf: v1.strings.split(["a b"], result_type="RaggedTensor").values,
            "string_split": lambda tf: [
                parts(v1.string_split(["a b-c", ""], " -")),
                parts(v1.string_split(["a  b"], skip_empty=False)),
                parts(v1.string_split(["abc"], delimiter="")),
            ],
            "substr": lambda tf: v1.substr(["hello"], 1, 3, "name", "BYTE"),
            "length": lambda tf: v1.strings.length(["é"], "name", "UTF8_CHAR"),
            "hash": lambda tf: [
                v1.string_to_hash_bucket(["a"], 10),
                v1.strings.to_hash_bucket(input=["a"], num_buckets=10),
            ],
            "number": lambda tf: [
                v1.string_to_number(["1.5"]),
                v1.strings.to_number(["2"], tf.int32),
            ],
            "join": lambda tf: [
                v1.reduce_join([["a", "b"], ["c", "d"]], 1),
                v1.reduce_join([["a", "b"]], reduction_indices=0, keep_dims=True, separator="-"),
            ],
            "csv": lambda tf: v1.decode_csv(["1,a"], [[0], [""]], ",", True, "name", "a"),
            "raw": lambda tf: v1.decode_raw(bytes=[b"ab"], out_type=tf.uint8),
            "example": lambda tf: v1.parse_single_example(
                b"", {"a": v1.FixedLenFeature([], tf.int64, 3)}
            ),
            "sparse": lambda tf: v1.serialize_sparse(tf.sparse.from_dense([1]), "name").shape,
        },
    )


def case_sparse(tf):
    v1 = tf.compat.v1
    a, b = (
        tf.sparse.from_dense([[1.0, 0.0], [2.0, 3.0]]),
        tf.sparse.from_dense([[1.0, 1.0], [0.0, 0.0]]),
    )

    def dense(x):
        return tf.sparse.to_dense(x)

    return attempts(
        tf,
        {
            "add": lambda tf: dense(v1.sparse_add(a, b, thresh=0.1)),
            "concat": lambda tf: [
                dense(v1.sparse_concat(0, [a, b])),
                dense(v1.sparse.concat(axis=1, sp_inputs=[a, b], expand_nonconcat_dim=True)),
            ],
            "sum": lambda tf: [
                v1.sparse_reduce_sum(a),
                v1.sparse_reduce_sum(a, reduction_axes=1, keep_dims=True),
                v1.sparse.reduce_max(a, 0),
                dense(v1.sparse_reduce_sum_sparse(a, 1)),
                dense(v1.sparse_reduce_max_sparse(a, axis=0)),
            ],
            "split": lambda tf: [
                dense(x) for x in v1.sparse_split(sp_input=a, num_split=2, axis=1)
            ],
            "segments": lambda tf: [
                f([[1.0], [2.0]], [0, 1, 1], [0, 0, 2], num_segments=4)
                for f in (v1.sparse_segment_sum, v1.sparse_segment_mean, v1.sparse_segment_sqrt_n)
            ],
        },
    )


def case_assertions(tf):
    v1 = tf.compat.v1
    pairs = "equal none_equal less less_equal greater greater_equal near".split()
    ones = "positive negative non_negative non_positive".split()
    return {
        "pairs": [
            [
                attempt(getattr(v1, f"assert_{name}"), a, b, words=0)
                for a, b in ((1.0, 1.0), (1.0, 2.0), (2.0, 1.0))
            ]
            for name in pairs
        ],
        "ones": [
            [attempt(getattr(v1, f"assert_{name}"), x, words=0) for x in (-1, 0, 1)]
            for name in ones
        ],
        **attempts(
            tf,
            {
                "message": lambda tf: v1.assert_equal(1, 2, message="said"),
                "rank": lambda tf: v1.assert_rank([1], 2, message="said"),
                "rank ok": lambda tf: v1.debugging.assert_rank_at_least([1], 1),
                "ranks": lambda tf: v1.assert_rank_in([1], (0, 2)),
                "integer": lambda tf: v1.assert_integer(1.0),
                "type": lambda tf: v1.assert_type(1.0, tf.int32),
                "scalar": lambda tf: v1.assert_scalar([1], "name"),
                "shapes": lambda tf: v1.debugging.assert_shapes([(tf.ones([2]), (3,))]),
            },
            words=1,
        ),
    }


def case_switches(tf):
    v1 = tf.compat.v1
    v = tf.Variable(1.0)
    for name in "eager_execution v2_behavior resource_variables v2_tensorshape".split():
        getattr(v1, f"enable_{name}")()
    inside = []
    tf.function(lambda: inside.append(v1.global_variables_initializer() is not None))()
    return [
        v1.executing_eagerly(),
        v1.executing_eagerly_outside_functions(),
        v1.resource_variables_enabled(),
        v1.control_flow_v2_enabled(),
        v1.get_default_session(),
        v1.global_variables_initializer(),
        v1.local_variables_initializer(),
        v1.tables_initializer(),
        v1.variables_initializer([v]),
        v1.is_variable_initialized(v),
        v1.report_uninitialized_variables(),
        inside,
        attempt(v1.placeholder, tf.float32, [1]),
        [attempt(getattr(v1.metrics, name), [1.0], [1.0]) for name in ("mean", "accuracy", "auc")],
        attempt(v1.data.make_initializable_iterator, tf.data.Dataset.range(2)),
        v1.data.make_one_shot_iterator(tf.data.Dataset.range(2)).get_next(),
        v1.data.get_output_types(tf.data.Dataset.range(2)),
        v1.data.get_output_shapes(tf.data.Dataset.range(2).batch(2)),
    ]


def case_variables(tf):
    v1 = tf.compat.v1
    made = v1.Variable([1.0, 2.0], trainable=False, name="mine", dtype=tf.float64)
    v = tf.Variable([1.0, 2.0, 3.0])
    found = [made, made.name, made.trainable, isinstance(made, tf.Variable), v1.Variable(1).name]
    for name in "add sub mul div max min update".split():
        found.append(getattr(v1, f"scatter_{name}")(v, [0, 2], [2.0, 2.5]).numpy())
    found.append(v1.scatter_update(v, 1, 7.0).numpy())
    for name in "add sub update".split():
        found.append(getattr(v1, f"scatter_nd_{name}")(v, [[1]], [2.0]).numpy())
    return found


def case_get_variable(tf):
    v1 = tf.compat.v1
    v1.reset_default_graph()
    made, found = [], []

    def getter(getter, name, **options):
        made.append((name, options["trainable"]))
        return getter(name=name, **options)

    with v1.variable_scope("s", initializer=v1.ones_initializer(), dtype=tf.float64) as s:
        found += [
            v1.get_variable("a", [2]),
            v1.get_variable("a", [2]),
            s.name,
            s.original_name_scope,
        ]
        found.append(tf.Variable(1.0, name="q").name)
        with v1.variable_scope("t", custom_getter=getter):
            found.append(v1.get_variable("b", initializer=3.0))
            found.append(v1.get_variable("c", [1], trainable=False).name)
    with v1.variable_scope(s, reuse=True):
        found.append(v1.get_variable("a", [1]))
    for _ in range(2):
        with v1.variable_scope(None, default_name="d") as d:
            found += [d.name, v1.get_variable("x", [1], tf.int32).name]
    found.append(v1.get_variable_scope().name)
    names = [x.name if isinstance(x, tf.Variable) else x for x in found]
    values = [x for x in found if isinstance(x, tf.Variable)]
    zeros = [v1.get_variable("z", [2], dtype) for dtype in (tf.int32, tf.bool)]
    return (
        names,
        values,
        zeros,
        made,
        attempts(
            tf,
            {
                "no shape": lambda tf: v1.get_variable("x"),
                "value and shape": lambda tf: v1.get_variable(
                    "x", [1], initializer=tf.constant([1.0])
                ),
                "unknown": lambda tf: v1.get_variable("x", [None]),
                "class": lambda tf: v1.get_variable("x", [2], initializer=v1.zeros_initializer),
                "no name": lambda tf: v1.variable_scope(None).__enter__(),
                "lists": lambda tf: [v1.trainable_variables(), v1.global_variables()],
                "regularizer": lambda tf: [
                    v1.get_variable("x", initializer=2.0, regularizer=lambda x: x * x) * 0.0,
                    v1.losses.get_regularization_loss(),
                ],
            },
        ),
    )


def case_templates(tf):
    v1 = tf.compat.v1
    v1.reset_default_graph()

    def linear(x):
        w = v1.get_variable("w", [2], initializer=v1.ones_initializer())
        with v1.variable_scope("inner"):
            b = v1.get_variable("b", [2], initializer=v1.zeros_initializer(), trainable=False)
        return x * w + b

    first, second = v1.make_template("line", linear), v1.make_template("line", linear)
    results = [first(1.0), first(2.0), tf.function(first)(tf.constant(3.0)), second(1.0)]
    first.trainable_variables[0].assign([5.0, 6.0])
    sized = v1.make_template("sized", lambda n: v1.get_variable("w", [n]))
    sized(2)
    found = [
        *results,
        first(1.0),
        [[v.name for v in t.variables] for t in (first, second)],
        [v.name for v in first.trainable_variables],
        [v.name for v in first.non_trainable_variables],
        first.name,
        first.variable_scope.name,
        [v.name for v in v1.trainable_variables()],
        sorted(v.name for v in v1.global_variables()),
        attempt(sized, 3, words=8),
        attempt(v1.make_template, "x", linear, unique_name_="y"),
        v1.make_template("kw", lambda a, b: a + b, b=3)(2),
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = tf.train.Checkpoint(t=first).write(os.path.join(folder, "a"))
        found.append(sorted(name for name, _ in tf.train.list_variables(path)))
    v1.reset_default_graph()
    return found


def case_files(tf):
    gfile = tf.compat.v1.gfile
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a", "b")
        gfile.MakeDirs(path)
        gfile.MkDir(os.path.join(folder, "c"))
        name = os.path.join(path, "text")
        with gfile.GFile(name, "w") as file:
            file.write("text")
        gfile.Copy(name, f"{name}2")
        gfile.Rename(f"{name}2", f"{name}3", overwrite=True)
        found = [
            gfile.Exists(name),
            gfile.IsDirectory(path),
            sorted(gfile.ListDirectory(path)),
            [os.path.basename(each) for each in sorted(gfile.Glob(f"{path}/*"))],
            gfile.Stat(name).length,
            [(folders, sorted(files)) for _, folders, files in gfile.Walk(path)],
            attempt(gfile.Copy, name, f"{name}3", words=0),
        ]
        gfile.Remove(name)
        gfile.DeleteRecursively(os.path.join(folder, "a"))
        return [*found, gfile.Exists(name), sorted(gfile.ListDirectory(folder))]


def case_sizes_of_images(tf):
    image = tf.compat.v1.image
    x = tf.constant(np.sin(np.arange(2 * 4 * 5 * 2)).reshape(2, 4, 5, 2), tf.float32)
    functions = (
        image.resize_bilinear,
        image.resize_nearest_neighbor,
        image.resize_bicubic,
        image.resize_area,
    )
    sizes = ([7, 3], [2, 9], [4, 5], [1, 1], [8, 10])

    def gradient(function, align):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x, [6, 3], align_corners=align)
            loss = tf.reduce_sum(y * y)
        return tape.gradient(loss, x)

    return {
        "kernels": [
            [f(x, size, align) for size in sizes for align in (False, True)] for f in functions
        ],
        "centers": [f(x, [7, 3], half_pixel_centers=True) for f in functions[:3]],
        "gradients": [gradient(f, align) for f in functions[:3] for align in (False, True)],
        "numbers": [f(tf.cast(x * 9.0, tf.int32), [3, 3]) for f in functions],
        "images": [
            image.resize_images(x, [3, 7], method, align)
            for method in range(4)
            for align in (False, True)
        ],
        **attempts(
            tf,
            {
                "one": lambda tf: image.resize(x[0], [3, 3], image.ResizeMethod.BICUBIC),
                "same": lambda tf: image.resize_images(tf.ones([2, 2, 1], tf.uint8), [2, 2]),
                "ratio": lambda tf: image.resize_images(x, [8, 8], preserve_aspect_ratio=True),
                "pad": lambda tf: image.resize_image_with_pad(x[0], 8, 6),
                "recorded": lambda tf: tf.function(lambda x: image.resize_images(x, [3, 3]))(x),
                "unknown": lambda tf: [
                    tf.function(
                        lambda x, method=method: image.resize_images(x, [3, 3], method),
                        input_signature=[tf.TensorSpec([None, None, None, 2])],
                    )(x[:, :n])
                    for method in range(4)
                    for n in (2, 4)
                ],
                "rank": lambda tf: image.resize_images(tf.ones([2]), [2, 2]),
                "method": lambda tf: image.resize_images(x, [2, 2], 9),
                "name": lambda tf: image.resize_images(x, [2, 2], tf.image.ResizeMethod.AREA),
                "empty": lambda tf: image.resize_bilinear(x, [0, 2]),
                "rank of a kernel": lambda tf: image.resize_bilinear(x[0], [2, 2]),
                "boxes": lambda tf: [
                    image.crop_and_resize(x, [[0.0, 0.0, 1.0, 1.0]], box_ind=[1], crop_size=[2, 2]),
                    image.extract_image_patches(
                        x, ksizes=[1, 2, 2, 1], strides=[1, 2, 2, 1], rates=[1] * 4, padding="VALID"
                    ),
                    image.draw_bounding_boxes(
                        x[..., :1], tf.ones([2, 1, 4]) * [0.0, 0.0, 1.0, 1.0]
                    ),
                ],
            },
            words=3,
        ),
    }


def case_initializers(tf):
    v1, made = tf.compat.v1, tf.compat.v1.initializers
    tf.random.set_seed(2)
    names = "he_normal he_uniform lecun_normal lecun_uniform uniform_unit_scaling".split()
    found = [getattr(made, name)(seed=1) for name in names]
    return {
        "values": [[f(shape) for shape in ([2, 3], [2, 2, 3, 4])] for f in found],
        "options": [f.get_config() for f in found],
        "unit": [
            v1.uniform_unit_scaling_initializer(2.0, seed=3)([4]).shape,
            v1.uniform_unit_scaling_initializer(dtype=tf.float64)([2, 2]).dtype,
        ],
        "error": attempt(v1.uniform_unit_scaling_initializer, 1.0, None, tf.int32, words=4),
    }


def case_others(tf):
    v1 = tf.compat.v1
    value = v1.SparseTensorValue([[0]], [1], [2])
    kinds = (tf.errors.NotFoundError, tf.errors.OutOfRangeError, tf.errors.UnimplementedError)
    with tempfile.TemporaryDirectory() as folder:
        path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(os.path.join(folder, "a"))
        reader = v1.train.NewCheckpointReader(path)
        exists = [v1.train.checkpoint_exists(path), v1.train.checkpoint_exists(f"{path}b")]
        saved = reader.get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE")
    return [
        value.indices,
        value._fields,
        len(value),
        [v1.io.TFRecordCompressionType.GZIP, v1.python_io.TFRecordCompressionType.ZLIB],
        v1.sparse_matmul([[1.0, 2.0]], [[1.0], [2.0]]),
        v1.sparse_matmul([[1.0], [2.0]], [[1.0], [2.0]], transpose_a=True, a_is_sparse=True),
        [v1.errors.error_code_from_exception_type(kind) for kind in kinds],
        [v1.errors.exception_type_from_error_code(code) for code in range(1, 17)],
        v1.placeholder_with_default(1.0, None),
        attempt(v1.sparse_placeholder, tf.float32),
        attempt(v1.sparse.placeholder, tf.float32),
        v1.nn.avg_pool2d(tf.ones([1, 2, 2, 1]), 2, 2, "SAME"),
        [exists, saved],
    ]


def case_op_seeds(tf):
    v1 = tf.compat.v1
    v1.set_random_seed(5)
    found = [v1.get_seed(None), v1.get_seed(None), v1.get_seed(3), v1.random.get_seed(0)]
    v1.set_random_seed(0)
    found += [v1.get_seed(0), v1.get_seed(None)]
    tf.random.set_seed(None)
    return [*found, v1.get_seed(None), v1.get_seed(4)]


def case_datasets(tf):
    data = tf.compat.v1.data

    def values(dataset):
        return [x.numpy() for x in dataset]

    whole = data.Dataset.range(5)
    pairs = data.Dataset.zip((whole, data.Dataset.from_tensor_slices([1.0, 2.0])))
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "text")
        with open(name, "w") as file:
            file.write("a\nb\n")
        lines = data.TextLineDataset(name).map(tf.strings.upper)
        texts = values(lines), lines.make_one_shot_iterator().get_next()
    return {
        "values": values(whole.map(lambda x: x * 2).filter(lambda x: x > 2).batch(2)),
        "next": whole.skip(2).make_one_shot_iterator().get_next(),
        "types": [pairs.output_types, pairs.output_shapes, whole.batch(2).output_shapes],
        "classes": whole.output_classes,
        "legacy": values(whole.map_with_legacy_function(lambda x: x + 1)),
        "legacy filter": values(whole.filter_with_legacy_function(lambda x: x > 2)),
        "texts": texts,
        "kinds": [
            isinstance(whole, tf.data.Dataset),
            isinstance(whole.map(lambda x: x), data.Dataset),
            isinstance(tf.data.Dataset.range(2), data.Dataset),
            isinstance(data.experimental.choose_from_datasets([whole], whole), data.Dataset),
        ],
        "others": [
            values(data.experimental.Counter(3).take(2)),
            values(data.Dataset.from_tensors(1).concatenate(data.Dataset.from_tensors(2))),
            values(whole.apply(tf.data.experimental.ignore_errors())),
        ],
        "initializable": attempt(whole.make_initializable_iterator),
        "iterated": [x.numpy() for x in iter(whole.take(1))],
    }


def case_filters_back(tf):
    nn = tf.compat.v1.nn
    x = tf.reshape(tf.range(32.0), [1, 4, 4, 2])
    sizes, dy = [2, 2, 2, 3], tf.ones([1, 3, 3, 3])
    pads = [[0, 0], [1, 1], [1, 1], [0, 0]]
    in_3d = [x[None], [1, 2, 2, 2, 3], dy[None], [1] * 5, "VALID"]
    return (
        nn.conv2d_backprop_filter(x, sizes, dy, [1, 1, 1, 1], "VALID"),
        nn.conv2d_backprop_filter(x, sizes, tf.ones([1, 2, 2, 3]), [1, 2, 2, 1], "SAME"),
        nn.conv2d_backprop_filter(x, sizes, tf.ones([1, 5, 5, 3]), [1, 1, 1, 1], pads),
        nn.conv3d_backprop_filter(*in_3d),
        nn.conv3d_backprop_filter_v2(*in_3d),
        tf.compat.v1.image.extract_glimpse(x, [2, 2], [[1.0, 2.0]], False, False),
    )


def case_sparse_merge(tf):
    v1 = tf.compat.v1
    places = [[0, 0], [0, 1], [1, 0]]
    ids = tf.SparseTensor(places, [2, 0, 1], [2, 2])
    values = tf.SparseTensor(places, [1.0, 2.0, 3.0], [2, 2])

    def parts(found):
        return found.indices, found.values, found.dense_shape

    programs = {
        "one": lambda tf: parts(v1.sparse_merge(ids, values, 4)),
        "sorted": lambda tf: parts(v1.sparse.merge(ids, values, 4, already_sorted=True)),
        "two": lambda tf: parts(v1.sparse_merge([ids, ids], values, [4, 5])),
        "size in a list": lambda tf: v1.sparse_merge(ids, values, [4]),
        "lists of other lengths": lambda tf: v1.sparse_merge([ids], values, [4, 5]),
        "no list of sizes": lambda tf: v1.sparse_merge([ids], values, 4),
        "no ids": lambda tf: v1.sparse_merge(3, values, [4]),
    }
    return attempts(tf, programs)


def case_structures(tf):
    made = tf.compat.v1.data.experimental
    return (
        made.TensorStructure(tf.int32, [2]),
        str(made.SparseTensorStructure(tf.int32, [2])),
        str(made.RaggedTensorStructure(tf.int32, [2, None], 1)),
        made.TensorArrayStructure(tf.int32, [2], True, True)
        == tf.TensorArraySpec([2], tf.int32, True, True),
    )


def case_settings_of_sessions(tf):
    """Messages that programs write for sessions, also where their code is eager."""
    v1 = tf.compat.v1
    config = v1.ConfigProto(
        device_count={"GPU": 0, "CPU": 2},
        gpu_options=v1.GPUOptions(per_process_gpu_memory_fraction=0.3),
        intra_op_parallelism_threads=1,
    )
    config.gpu_options.allow_growth = True
    config.gpu_options.visible_device_list = "0,1"
    config.log_device_placement, config.allow_soft_placement = False, True
    jit = config.graph_options.optimizer_options
    jit.global_jit_level = v1.OptimizerOptions.ON_1
    config.graph_options.rewrite_options.auto_mixed_precision = 1
    config.gpu_options.experimental.virtual_devices.add(memory_limit_mb=[128])
    again = v1.ConfigProto.FromString(config.SerializeToString())
    return {
        "bytes": list(config.SerializeToString(deterministic=True)),
        "text": repr(config),
        "again": again == config,
        "counts": sorted(again.device_count.items()),
        "level": jit.global_jit_level,
        "options": repr(v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE, timeout_in_ms=5)),
        **attempts(
            tf,
            {
                "no field": lambda tf: v1.ConfigProto(nothing=1),
                "another kind": lambda tf: v1.GPUOptions(visible_device_list=0),
            },
        ),
    }


def case_sessions_of_eager_programs(tf):
    v1 = tf.compat.v1
    config = v1.ConfigProto()
    config.gpu_options.allow_growth = True
    session, default = v1.Session(config=config), v1.get_default_session
    with session.as_default():
        seen = [default() is session, tf.executing_eagerly(), float(tf.constant(2.0) + 1)]
    interactive = v1.InteractiveSession(config=config)
    seen += [default() is interactive, float(tf.constant(2.0) + 1)]
    interactive.close()
    return {
        "seen": [*seen, default() is None, session.sess_str, session.graph is not None],
        "reset": v1.reset_default_graph(),
        **attempts(
            tf,
            {
                "run": lambda tf: session.run(tf.constant(1.0)),
                "closed": lambda tf: (session.close(), session.run(tf.constant(1.0))),
            },
        ),
    }
