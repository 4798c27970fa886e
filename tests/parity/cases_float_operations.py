"""Float operations of functions: `tf.compat.v1.profiler`."""

import contextlib
import io

import numpy as np

from tests.parity.harness import attempt

NEEDS = ("compat.v1.profiler.profile",)


def options(tf, **changes):
    found = tf.compat.v1.profiler.ProfileOptionBuilder.float_operation()
    return {**found, "output": "none", **changes}


def graph_of(tf, program, *shapes):
    specs = [tf.TensorSpec(shape) for shape in shapes]
    return tf.function(program, autograph=False).get_concrete_function(*specs).graph


def profiled(tf, graph, **given):
    """What is counted, and what is said of shapes."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        found = tf.compat.v1.profiler.profile(graph, **{"options": options(tf), **given})
    return found, "incomplete" in said.getvalue()


def total(tf, program, *shapes):
    return profiled(tf, graph_of(tf, program, *shapes))[0].total_float_ops


def case_models(tf):
    v = [
        tf.Variable(np.ones(shape, np.float32))
        for shape in ([3, 3, 2, 4], [4], [4, 5], [3, 3, 4, 1])
    ]

    def images(x):
        x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, v[0], 2, "SAME"), v[1]))
        x = tf.nn.batch_normalization(x, v[1], v[1], v[1], v[1], 1e-3)
        x = tf.nn.depthwise_conv2d(x, v[3], [1] * 4, "SAME", dilations=[2, 2])
        x = tf.nn.avg_pool2d(tf.nn.max_pool2d(x, 2, 1, "VALID"), 2, 2, "SAME")
        return tf.nn.softmax(tf.reduce_mean(x, [1, 2]) @ v[2])

    def texts(x):
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        x = tf.nn.gelu((x - mean) * tf.math.rsqrt(variance + 1e-3))
        scores = tf.nn.softmax(tf.matmul(x, x, transpose_b=True) / 8.0)
        return tf.nn.silu(tf.tensordot(tf.matmul(scores, x), v[2], 1)), tf.nn.gelu(x, True)

    def recurrent(x):
        state, step = x[:, 0], tf.constant(0)
        _, state = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s @ s), (step, state))
        return tf.cond(tf.reduce_sum(state) > 0.0, lambda: state * 2.0, lambda: state)

    inner = tf.function(lambda x: x * 2.0)
    return [
        total(tf, images, [2, 9, 9, 2]),
        total(tf, texts, [2, 3, 4]),
        total(tf, recurrent, [2, 3, 2]),
        total(tf, lambda x: inner(x) + x, [3]),
        total(tf, lambda x: tf.matmul(x, x, transpose_a=True), [2, 3, 3]),
        total(tf, lambda x: tf.nn.conv2d_transpose(x, v[0], [1, 8, 8, 2], 2, "SAME"), [1, 4, 4, 4]),
        total(tf, lambda x: tf.nn.convolution(x, v[0], dilations=2), [1, 8, 8, 2]),
        [
            total(tf, lambda x, axis=axis: f(x, axis=axis), [2, 3, 4])
            for f in (tf.nn.softmax, tf.nn.log_softmax)
            for axis in (0, 1, 2, -1, -2)
        ],
    ]


def case_views(tf):
    def program(x):
        return tf.nn.softmax(tf.matmul(x * 3.0, tf.ones([4, 3])) + 1.0)

    def shown(**changes):
        found, _ = profiled(tf, graph_of(tf, program, [2, 4]), options=options(tf, **changes))
        return found.total_float_ops, [
            (n.name, n.float_ops, n.total_float_ops) for n in found.children
        ]

    def kernels(**changes):
        graph, lines = graph_of(tf, program, [2, 4]), []
        found, _ = profiled(tf, graph, cmd="op", options=options(tf, **changes))
        lines.append((found.name, found.total_float_ops))
        while found.children:
            (found,) = found.children
            nodes = [(n.name, n.float_ops) for n in found.graph_nodes]
            lines.append((found.name, found.float_ops, found.total_float_ops, nodes))
        return lines

    all_counted = {"account_displayed_op_only": False}
    return (
        shown(),
        shown(order_by="name"),
        shown(min_float_ops=20),
        shown(min_float_ops=20, **all_counted),
        shown(hide_name_regexes=["Mat.*"]),
        shown(hide_name_regexes=["Mat.*"], **all_counted),
        shown(show_name_regexes=["mul"]),
        shown(account_type_regexes=["Mul|AddV2"]),
        kernels(),
        kernels(account_type_regexes=["Mul|AddV2"]),
    )


def case_options(tf):
    builder = tf.compat.v1.profiler.ProfileOptionBuilder
    plain = builder().build()
    changed = (
        builder(builder.float_operation())
        .with_empty_output()
        .with_max_depth(3)
        .with_min_float_operations(5)
        .with_accounted_types(["a"])
        .with_node_names(["b"], ["c"], ["d"], ["e"])
        .account_displayed_op_only(False)
        .order_by("name")
        .select(["params"])
        .with_step(2)
        .build()
    )
    return plain, builder.float_operation(), changed, builder().with_file_output("f").build()


def case_what_is_not_known(tf):
    unknown = graph_of(tf, lambda x: tf.exp(x) * 2.0, [None, 3])
    channels = "NCHW"
    first = graph_of(tf, lambda x: tf.nn.max_pool2d(x, 2, 1, "VALID", channels) * 2.0, [1, 2, 2, 2])
    numbers = [profiled(tf, graph) for graph in (unknown, first, None)]
    graph, meta = graph_of(tf, lambda x: x * 2.0, [2]), tf.compat.v1.RunMetadata()
    return (
        [(found.total_float_ops, said) for found, said in numbers],
        profiled(tf, graph, run_meta=meta)[0].total_float_ops,
        attempt(lambda: profiled(tf, graph, cmd="x")),
    )
