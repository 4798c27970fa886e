"""`tf.compat` and `tf.compat.v1`."""

import operator
import pathlib

import numpy as np

from .harness import attempt, attempts

NEEDS = ("compat.v1.Dimension",)


def case_dimension(tf):
    dimension = tf.compat.v1.Dimension
    pairs = [(dimension(7), 2), (dimension(None), 2), (7, dimension(2)), (dimension(7), None)]
    names = "add sub mul floordiv mod eq ne lt ge".split()
    return {
        **{
            f"{name} {a} {b}": repr(getattr(operator, name)(a, b))
            for name in names
            for a, b in pairs
        },
        "index": range(5)[dimension(2)],
        "int": int(dimension(3)),
        "text": f"{dimension(3)} {dimension(None)} {dimension(dimension(4))!r}",
        "compatible": [dimension(3).is_compatible_with(x) for x in (3, 4, None)],
        "merged": repr(dimension(None).merge_with(3)),
        "value": [tf.compat.dimension_value(x) for x in (dimension(3), None, 4)],
        "at": repr(tf.compat.dimension_at_index(tf.TensorShape([2, None]), 0)),
        **attempts(
            tf,
            {
                "negative": lambda tf: dimension(-1),
                "text": lambda tf: dimension("a"),
                "float": lambda tf: dimension(2.0),
                "merge": lambda tf: dimension(3).merge_with(4),
                "divide": lambda tf: dimension(3) / 2,
                "add text": lambda tf: dimension(3) + "a",
                "hash": lambda tf: hash(dimension(3)),
            },
        ),
    }


def case_text(tf):
    compat = tf.compat
    return attempts(
        tf,
        {
            "text": lambda tf: [compat.as_text(b"a"), compat.as_text("b"), compat.as_str(b"c")],
            "bytes": lambda tf: [compat.as_bytes(x) for x in ("\u00e9", b"x", bytearray(b"y"))],
            "any": lambda tf: [compat.as_str_any(x) for x in (1, b"x", np.array(2), "z")],
            "path": lambda tf: [
                compat.path_to_str(x) for x in ("a", pathlib.PurePosixPath("a/b"), 3)
            ],
            "kinds": lambda tf: [isinstance(np.int32(1), compat.integral_types)],
            "of a number": lambda tf: compat.as_text(1),
            "bytes of a number": lambda tf: compat.as_bytes(1),
            "not text": lambda tf: compat.as_text(b"\xff"),
        },
    )


def case_calls(tf):
    v1 = tf.compat.v1
    image, filters = tf.ones([1, 4, 4, 2]), tf.reshape(tf.range(24.0), [2, 2, 2, 3])
    rows = [[1, 2], [3, 4]]
    small, back = tf.Variable([1.0, 2.0]), tf.ones([2, 2, 3, 2])
    return attempts(
        tf,
        {
            "where": lambda tf: v1.where([True, False]),
            "where rows": lambda tf: v1.where([True, False], [[1], [2]], [[3], [4]]),
            "where scalar": lambda tf: v1.where(True, [1, 2], [3, 4]),
            "where number": lambda tf: v1.where([True, False], 1, 2),
            "where one": lambda tf: v1.where([True], [1]),
            "where batches": lambda tf: v1.where([True, False], [[1]] * 3, [[2]] * 3),
            "gather": lambda tf: v1.gather(rows, [0], axis=1),
            "gather_nd": lambda tf: v1.gather_nd(rows, [[0, 1]]),
            "pad": lambda tf: v1.pad([1], [[1, 1]], constant_values=4),
            "mask": lambda tf: v1.boolean_mask([1, 2, 3], [True, False, True]),
            "cond": lambda tf: v1.cond(tf.constant(True), fn1=lambda: [1], fn2=lambda: [2]),
            "cond strict": lambda tf: v1.cond(False, lambda: [1], lambda: [2], strict=True),
            "cond half": lambda tf: v1.cond(tf.constant(True), lambda: 1),
            "while": lambda tf: v1.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)]),
            "scan": lambda tf: v1.scan(operator.add, tf.range(4)),
            "fold": lambda tf: [f(operator.add, tf.range(4)) for f in (v1.foldl, v1.foldr)],
            "map": lambda tf: v1.map_fn(lambda x: x * 2, tf.range(4)),
            "assign": lambda tf: v1.assign(small, [3.0, 4.0]).numpy(),
            "assign_add": lambda tf: v1.assign_add(small, [1.0, 1.0]).numpy(),
            "assign_sub": lambda tf: v1.assign_sub(small, [2.0, 1.0]).numpy(),
            "gradients": lambda tf: v1.gradients(small, small),
            "convolution": lambda tf: v1.nn.convolution(image, filters, "SAME"),
            "dilated": lambda tf: v1.nn.convolution(
                image, filters, padding="VALID", dilation_rate=[2, 2]
            ),
            "both": lambda tf: v1.nn.convolution(image, filters, "SAME", filters=filters),
            "transpose": lambda tf: v1.nn.conv2d_transpose(image, back, [1, 8, 8, 3], 2),
            "max": lambda tf: v1.nn.max_pool(image, 2, 2, "SAME"),
            "max both": lambda tf: v1.nn.max_pool(image, 2, 2, "SAME", input=image),
            "mean": lambda tf: v1.nn.avg_pool(image, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"),
            "top": lambda tf: [v1.math.in_top_k([[1.0, 2.0]], [i], 1) for i in (0, 1)],
            "top of nn": lambda tf: v1.nn.in_top_k([[1.0, 2.0]], [1], 1),
        },
        words=4,
    )


def case_initializers(tf):
    v1 = tf.compat.v1
    normal, uniform = v1.random_normal_initializer(1.0, 0.1, 3), v1.random_uniform_initializer()
    return attempts(
        tf,
        {
            "normal": lambda tf: (normal([2, 2]).shape, normal([2], tf.float64).dtype),
            "uniform": lambda tf: (uniform([3]).shape, uniform([3]).dtype),
            "options": lambda tf: (normal.get_config(), uniform.get_config()),
            "again": lambda tf: type(normal).from_config(normal.get_config()).get_config(),
            "partition": lambda tf: normal([2], partition_info=None).shape,
            "of integers": lambda tf: (
                v1.random_uniform_initializer(0, 5, dtype=tf.int32)([2]).dtype
            ),
            "no end": lambda tf: v1.random_uniform_initializer(dtype=tf.int32)([2]),
            "no floats": lambda tf: v1.random_normal_initializer(dtype=tf.int32),
        },
        words=4,
    )


def case_dimensions_as_numbers(tf):
    size = tf.compat.v1.Dimension
    x = tf.reshape(tf.range(4.0), [2, 2])
    return (
        tf.constant(size(3)),
        tf.convert_to_tensor(size(2), tf.int64),
        tf.constant([[size(1), 2], [3, size(4)]]),
        tf.constant([size(1), 2], tf.float32),
        tf.stack([size(1), tf.constant(2)]),
        tf.tile(x, [size(1), 2]),
        tf.reshape(x, (size(4), -1)),
        tf.reshape(x, [tf.constant(2), size(2)]),
        [tf.zeros([size(2), 1]), tf.fill([size(2)], 1.0), tf.one_hot([1], size(3))],
        tf.broadcast_to(x[0], [size(3), 2]),
        tf.cast(x, tf.int32) * size(2),
        [x[size(1)], x[size(1), : size(1)], x[:: size(2)]],
        attempt(lambda: tf.convert_to_tensor(size(None))),
        attempt(lambda: tf.convert_to_tensor(size(2), tf.float32)),
        attempt(lambda: x + size(2), words=0),
    )


def case_ragged_values(tf):
    value = tf.compat.v1.ragged.constant_value

    def told(found):
        return found.nested_row_splits, found.flat_values, found.to_list(), found.row_splits.dtype

    return [
        told(value([[1, 2], [], [3]])),
        told(value([[[1.5], [2, 3]], []])),
        told(value([[1], [2]], dtype=np.float32, row_splits_dtype="int32")),
        told(value([[[1, 2]], []], ragged_rank=1)),
        value(3),
        value([1, 2]),
        attempt(lambda _: value([[1], 2]), tf),
    ]


def case_graphs_of_eager_code_and_of_functions(tf):
    v1, inner = tf.compat.v1, []

    @tf.function
    def below(x):
        inner.append(v1.get_default_graph())
        inner[-1].noted = "by the program"
        return x

    @tf.function
    def above(x):
        inner.append(v1.get_default_graph())
        return below(x)

    above(tf.constant(1.0))
    first = v1.get_default_graph()
    same = v1.get_default_graph() is first
    v1.reset_default_graph()
    noted = below.get_concrete_function(1.0).graph.noted
    return same, v1.get_default_graph() is first, inner[1].outer_graph is inner[0], noted


def case_horizons_of_compatibility(tf):
    def known(*years):
        return [tf.compat.forward_compatible(year, 6, 15) for year in years]

    with tf.compat.forward_compatibility_horizon(2100, 6, 15):
        inside = known(2099, 2100, 2101)
    wrong = attempt(tf.compat.forward_compatibility_horizon(2100, 13, 1).__enter__)
    return known(2020, 2099, 2200), inside, tf.compat.forward_compatible(2020, 13, 1), wrong
