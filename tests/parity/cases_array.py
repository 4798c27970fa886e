"""Shapes and layout: reshape, join, take apart, gather, scatter, pad, sort, build."""

import numpy as np

from .derivatives import points
from .harness import attempt, attempts

INF, NAN = np.inf, np.nan
V = [3.0, -1.0, 2.0, 0.5]
M = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
N = [[-1.0, 0.5, 2.5], [0.0, 7.0, -3.0]]
CUBE = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
INTS = np.int32([[1, 2, 3], [4, 5, 6]])

PROGRAMS = {
    "reshape": (lambda tf, x: tf.reshape(x, [3, 2]), M),
    "reshape infer": (lambda tf, x: tf.reshape(x, [-1]), M),
    "reshape infer middle": (lambda tf, x: tf.reshape(x, [2, -1, 2]), CUBE),
    "reshape tensor": (lambda tf, x: tf.reshape(x, tf.constant([6, 1])), M),
    "reshape shape": (lambda tf, x: tf.reshape(x, tf.shape(x)[::-1]), M),
    "reshape tensorshape": (lambda tf, x: tf.reshape(x, tf.TensorShape([6])), M),
    "reshape list of tensors": (lambda tf, x: tf.reshape(x, [tf.shape(x)[1], -1]), M),
    "reshape scalar": (lambda tf, x: tf.reshape(x, []), [5.0]),
    "reshape empty": (lambda tf, x: tf.reshape(x, [0, 7]), np.zeros([0, 3], np.float32)),
    "reshape wrong": (lambda tf, x: tf.reshape(x, [4, 2]), M),
    "reshape two unknown": (lambda tf, x: tf.reshape(x, [-1, -1]), M),
    "reshape indivisible": (lambda tf, x: tf.reshape(x, [4, -1]), M),
    "reshape float": (lambda tf, x: tf.reshape(x, [2.0, 3.0]), M),
    "transpose": (lambda tf, x: tf.transpose(x), M),
    "transpose perm": (lambda tf, x: tf.transpose(x, [2, 0, 1]), CUBE),
    "transpose default cube": (lambda tf, x: tf.transpose(x), CUBE),
    "transpose vector": (lambda tf, x: tf.transpose(x), V),
    "transpose conjugate": (
        lambda tf, x: tf.transpose(x, conjugate=True),
        np.complex64([[1 + 2j, 3]]),
    ),
    "transpose wrong": (lambda tf, x: tf.transpose(x, [0]), M),
    "transpose repeated": (lambda tf, x: tf.transpose(x, [0, 0]), M),
    "matrix_transpose": (lambda tf, x: tf.linalg.matrix_transpose(x), CUBE),
    "adjoint": (lambda tf, x: tf.linalg.adjoint(x), np.complex64([[1 + 2j, 3j]])),
    "squeeze": (lambda tf, x: tf.squeeze(x), [[[1.0], [2.0]]]),
    "squeeze axis": (lambda tf, x: tf.squeeze(x, axis=0), [[[1.0], [2.0]]]),
    "squeeze axes": (lambda tf, x: tf.squeeze(x, axis=[0, -1]), [[[1.0], [2.0]]]),
    "squeeze wrong": (lambda tf, x: tf.squeeze(x, axis=1), M),
    "squeeze out of range": (lambda tf, x: tf.squeeze(x, axis=7), M),
    "expand_dims": (lambda tf, x: tf.expand_dims(x, 1), M),
    "expand_dims last": (lambda tf, x: tf.expand_dims(x, -1), M),
    "expand_dims wrong": (lambda tf, x: tf.expand_dims(x, 5), M),
    "expand_dims missing": (lambda tf, x: tf.expand_dims(x), M),
    "concat": (lambda tf, x, y: tf.concat([x, y], 0), M, N),
    "concat last": (lambda tf, x, y: tf.concat([x, y, x], axis=-1), M, N),
    "concat one": (lambda tf, x: tf.concat([x], 0), M),
    "concat ranks": (lambda tf, x, y: tf.concat([x, y], 0), M, V),
    "concat sizes": (lambda tf, x, y: tf.concat([x, y], 1), M, [[1.0]]),
    "concat axis": (lambda tf, x, y: tf.concat([x, y], 4), M, N),
    "concat dtypes": (lambda tf, x, y: tf.concat([x, y], 0), M, INTS),
    "concat scalars": (lambda tf, x: tf.concat([x, x], 0), 1.0),
    "concat with empty": (lambda tf, x: tf.concat([x, tf.zeros([0, 3])], 0), M),
    "concat no axis": (lambda tf, x: tf.concat([x, x]), M),
    "concat python": (lambda tf, x: tf.concat([x, [[9.0, 9.0, 9.0]]], 0), M),
    "stack": (lambda tf, x, y: tf.stack([x, y]), M, N),
    "stack axis": (lambda tf, x, y: tf.stack([x, y], axis=1), M, N),
    "stack last": (lambda tf, x, y: tf.stack([x, y], axis=-1), M, N),
    "stack scalars": (lambda tf, x: tf.stack([x, 2.0, x]), 1.0),
    "stack shapes": (lambda tf, x, y: tf.stack([x, y]), M, V),
    "stack axis wrong": (lambda tf, x, y: tf.stack([x, y], axis=9), M, N),
    "stack tensor": (lambda tf, x: tf.stack(x), M),
    "unstack": (lambda tf, x: tf.unstack(x), M),
    "unstack axis": (lambda tf, x: tf.unstack(x, axis=1), M),
    "unstack some": (lambda tf, x: tf.unstack(x, axis=-1)[1] * 2.0, M),
    "unstack num wrong": (lambda tf, x: tf.unstack(x, num=5), M),
    "unstack scalar": (lambda tf, x: tf.unstack(x), 1.0),
    "split": (lambda tf, x: tf.split(x, 3, axis=1), M),
    "split sizes": (lambda tf, x: tf.split(x, [1, 2], axis=1), M),
    "split unknown size": (lambda tf, x: tf.split(x, [1, -1], axis=1), M),
    "split indivisible": (lambda tf, x: tf.split(x, 2, axis=1), M),
    "split sizes wrong": (lambda tf, x: tf.split(x, [1, 1], axis=1), M),
    "split default axis": (lambda tf, x: tf.split(x, 2), M),
    "split unused part": (lambda tf, x: tf.split(x, 3, axis=1)[0] ** 2, M),
    "gather": (lambda tf, x: tf.gather(x, [1, 0, 1], axis=1), M),
    "gather batch": (lambda tf, x: tf.gather(x, [[0, 2], [1, 1]], batch_dims=1), M),
    "gather axis batch": (lambda tf, x: tf.gather(x, [[0, 2], [1, 1]], axis=2, batch_dims=1), CUBE),
    "gather scalar": (lambda tf, x: tf.gather(x, 1, axis=1), M),
    "gather axis wrong": (lambda tf, x: tf.gather(x, [0], axis=4), M),
    "gather range": (lambda tf, x: tf.gather(x, [5], axis=1), M),
    "gather_nd": (lambda tf, x: tf.gather_nd(x, [[0, 1], [1, 2]]) * 2.0, M),
    "gather_nd rows": (lambda tf, x: tf.gather_nd(x, [[1]]), M),
    "gather_nd batch": (lambda tf, x: tf.gather_nd(x, [[0], [2]], batch_dims=1), M),
    "gather_nd empty": (lambda tf, x: tf.gather_nd(x, np.zeros([0, 2], np.int32)), M),
    "gather_nd range": (lambda tf, x: tf.gather_nd(x, [[0, 9]]), M),
    "gather_nd deep": (lambda tf, x: tf.gather_nd(x, [[0, 0, 0]]), M),
    "slice": (lambda tf, x: tf.slice(x, [0, 1], [2, 2]), M),
    "slice rest": (lambda tf, x: tf.slice(x, [1, 0], [-1, 2]), M),
    "slice range": (lambda tf, x: tf.slice(x, [0, 2], [1, 5]), M),
    "slice rank": (lambda tf, x: tf.slice(x, [0], [1]), M),
    "strided_slice": (lambda tf, x: tf.strided_slice(x, [0, 0], [2, 3], [1, 2]), M),
    "strided_slice negative": (lambda tf, x: tf.strided_slice(x, [1, 2], [0, 0], [-1, -1]), M),
    "strided_slice mask": (
        lambda tf, x: tf.strided_slice(x, [0, 0], [1, 1], begin_mask=1, end_mask=3),
        M,
    ),
    "strided_slice shrink": (lambda tf, x: tf.strided_slice(x, [1], [2], shrink_axis_mask=1), M),
    "where": (lambda tf, x, y: tf.where(x > 2.5, x, y), M, N),
    "where broadcast": (lambda tf, x: tf.where([[True], [False]], x, 0.0), M),
    "where broadcast branch": (lambda tf, x, y: tf.where(x > 2.5, y, x), M, [1.0, 2.0, 3.0]),
    "where nan": (lambda tf, x: tf.where(x > 0.0, x, NAN), V),
    "where scalar": (lambda tf, x: tf.where(True, x, x * 2.0), V),
    "where one argument": (lambda tf, x: tf.where(x > 2.0), M),
    "where one argument floats": (lambda tf, x: tf.where(x), N),
    "where none found": (lambda tf, x: tf.where(x > 100.0), M),
    "where missing": (lambda tf, x: tf.where(x > 0.0, x), M),
    "where shapes": (lambda tf, x: tf.where([True, False], x, x), M),
    "where dtypes": (lambda tf, x: tf.where(True, x, tf.constant(1)), M),
    "where python branches": (lambda tf, x: tf.where(x > 2.0, 1.0, 0.0), M),
    "where ints": (lambda tf, x: tf.where(x > 2.0, 1, 0), M),
    "where float condition": (lambda tf, x: tf.where(x, x, x), M),
    "tile": (lambda tf, x: tf.tile(x, [2, 1]), M),
    "tile both": (lambda tf, x: tf.tile(x, [2, 3]), M),
    "tile zero": (lambda tf, x: tf.tile(x, [0, 1]), M),
    "tile vector": (lambda tf, x: tf.tile(x, [3]), V),
    "tile rank": (lambda tf, x: tf.tile(x, [2]), M),
    "pad": (lambda tf, x: tf.pad(x, [[1, 0], [0, 2]]), M),
    "pad value": (lambda tf, x: tf.pad(x, [[1, 1], [0, 0]], constant_values=7.0), M),
    "pad constant": (lambda tf, x: tf.pad(x, [[1, 0], [0, 1]], "CONSTANT"), M),
    "pad reflect": (lambda tf, x: tf.pad(x, [[1, 1], [2, 1]], "REFLECT"), M),
    "pad symmetric": (lambda tf, x: tf.pad(x, [[1, 1], [2, 1]], "SYMMETRIC"), M),
    "pad lower case": (lambda tf, x: tf.pad(x, [[1, 1], [1, 1]], "reflect"), M),
    "pad mode": (lambda tf, x: tf.pad(x, [[1, 1], [1, 1]], "CIRCULAR"), M),
    "pad rank": (lambda tf, x: tf.pad(x, [[1, 1]]), M),
    "pad reflect too far": (lambda tf, x: tf.pad(x, [[2, 0], [0, 0]], "REFLECT"), M),
    "pad negative": (lambda tf, x: tf.pad(x, [[-1, 0], [0, 0]]), M),
    "broadcast_to": (lambda tf, x: tf.broadcast_to(x, [2, 3]), [1.0, 2.0, 3.0]),
    "broadcast_to scalar": (lambda tf, x: tf.broadcast_to(x, [2, 2]), 3.0),
    "broadcast_to column": (lambda tf, x: tf.broadcast_to(x, [2, 3]), [[1.0], [2.0]]),
    "broadcast_to wrong": (lambda tf, x: tf.broadcast_to(x, [2, 2]), M),
    "reverse": (lambda tf, x: tf.reverse(x, [0]), M),
    "reverse both": (lambda tf, x: tf.reverse(x, axis=[0, -1]), M),
    "reverse wrong": (lambda tf, x: tf.reverse(x, [3]), M),
    "reverse_sequence": (lambda tf, x: tf.reverse_sequence(x, [2, 3], seq_axis=1), M),
    "roll": (lambda tf, x: tf.roll(x, 1, axis=1), M),
    "roll several": (lambda tf, x: tf.roll(x, [1, -2], axis=[0, 1]), M),
    "roll large": (lambda tf, x: tf.roll(x, 7, axis=0), V),
    "sort": (lambda tf, x: tf.sort(x), V),
    "sort descending": (lambda tf, x: tf.sort(x, direction="DESCENDING"), N),
    "sort axis": (lambda tf, x: tf.sort(x, axis=0), N),
    "sort ints": (lambda tf, x: tf.sort(x, axis=-1), np.int32([[3, 1, 2]])),
    "sort nan": (lambda tf, x: tf.sort(x), [INF, 1.0, -INF]),
    "sort direction wrong": (lambda tf, x: tf.sort(x, direction="UP"), V),
    "argsort": (lambda tf, x: tf.argsort(x), V),
    "argsort descending": (lambda tf, x: tf.argsort(x, direction="DESCENDING"), N),
    "argsort axis": (lambda tf, x: tf.argsort(x, axis=0), N),
    "argsort ties": (lambda tf, x: tf.argsort(x, stable=True), [1.0, 0.0, 1.0, 0.0]),
    "boolean_mask": (lambda tf, x: tf.boolean_mask(x, [True, False]), M),
    "boolean_mask full": (lambda tf, x: tf.boolean_mask(x, x > 2.5), M),
    "boolean_mask axis": (lambda tf, x: tf.boolean_mask(x, [True, False, True], axis=1), M),
    "boolean_mask shape": (lambda tf, x: tf.boolean_mask(x, [True, False, True]), M),
    "boolean_mask scalar": (lambda tf, x: tf.boolean_mask(x, True), M),
    "meshgrid": (lambda tf, x, y: tf.meshgrid(x, y), V, [1.0, 2.0]),
    "meshgrid ij": (lambda tf, x, y: tf.meshgrid(x, y, indexing="ij"), V, [1.0, 2.0]),
    "meshgrid wrong": (lambda tf, x, y: tf.meshgrid(x, y, indexing="ab"), V, [1.0, 2.0]),
    "repeat": (lambda tf, x: tf.repeat(x, 2), V),
    "repeat never": (lambda tf, x: tf.repeat(x, 0), V),
    "repeat below 0": (lambda tf, x: tf.repeat(x, -1), V),
    "repeat some below 0": (lambda tf, x: tf.repeat(x, [1, -1, 2, 0]), V),
    "repeat by floats": (lambda tf, x: tf.repeat(x, 2.5), V),
    "repeat each by floats": (lambda tf, x: tf.repeat(x, [1.0, 2.0, 1.0, 1.0]), V),
    "repeat rows": (lambda tf, x: tf.repeat(x, [3], axis=1), M),
    "repeat each": (lambda tf, x: tf.repeat(x, [1, 0, 2, 1]), V),
    "repeat axis": (lambda tf, x: tf.repeat(x, [2, 1], axis=0), M),
    "repeat flat": (lambda tf, x: tf.repeat(x, 2), M),
    "scatter_nd": (lambda tf, x: tf.scatter_nd([[4], [1], [0], [4]], x, [5]), V),
    "scatter_nd rows": (lambda tf, x: tf.scatter_nd([[2], [0]], x, [3, 3]), M),
    "scatter_nd range": (lambda tf, x: tf.scatter_nd([[9], [1], [0], [3]], x, [5]), V),
    "scatter_nd shape": (lambda tf, x: tf.scatter_nd([[1]], x, [5]), V),
    "tensor_scatter_nd_update": (
        lambda tf, x, y: tf.tensor_scatter_nd_update(x, [[0], [2]], y),
        V,
        [10.0, 20.0],
    ),
    "tensor_scatter_nd_add": (
        lambda tf, x, y: tf.tensor_scatter_nd_add(x, [[0], [0]], y),
        V,
        [10.0, 20.0],
    ),
    "tensor_scatter_nd_sub": (
        lambda tf, x, y: tf.tensor_scatter_nd_sub(x, [[3], [2]], y),
        V,
        [10.0, 20.0],
    ),
    "tensor_scatter_nd_max": (
        lambda tf, x, y: tf.tensor_scatter_nd_max(x, [[0], [1]], y),
        V,
        [1.0, 20.0],
    ),
    "tensor_scatter_nd_min": (
        lambda tf, x, y: tf.tensor_scatter_nd_min(x, [[0], [1]], y),
        V,
        [1.0, 20.0],
    ),
    "tensor_scatter_nd rows": (
        lambda tf, x, y: tf.tensor_scatter_nd_update(x, [[1]], y),
        M,
        [[9.0, 8.0, 7.0]],
    ),
    "zeros_like": (lambda tf, x: tf.zeros_like(x), M),
    "ones_like": (lambda tf, x: tf.ones_like(x) * x, M),
    "ones_like dtype": (lambda tf, x: tf.ones_like(x, dtype=tf.int32), M),
    "fill": (lambda tf, x: tf.fill([2, 2], x), 3.0),
    "fill vector": (lambda tf, x: tf.fill([2, 2], x), V),
    "linspace": (lambda tf, x, y: tf.linspace(x, y, 4), 1.0, 3.0),
    "linspace vectors": (lambda tf, x, y: tf.linspace(x, y, 3, axis=-1), [1.0, 2.0], [3.0, 5.0]),
    "linspace one": (lambda tf, x, y: tf.linspace(x, y, 1), 1.0, 3.0),
    "range of tensor": (lambda tf, x: tf.range(0.0, x), 3.0),
    "one_hot values": (lambda tf, x, y: tf.one_hot([0, 2], 3, on_value=x, off_value=y), 5.0, -1.0),
    "shape": (lambda tf, x: tf.shape(x), CUBE),
    "shape int64": (lambda tf, x: tf.shape(x, out_type=tf.int64), CUBE),
    "size": (lambda tf, x: tf.size(x), CUBE),
    "rank": (lambda tf, x: tf.rank(x), CUBE),
    "identity": (lambda tf, x: tf.identity(x), M),
    "ensure_shape": (lambda tf, x: tf.ensure_shape(x, [None, 3]), M),
    "ensure_shape wrong": (lambda tf, x: tf.ensure_shape(x, [3, 3]), M),
    "searchsorted": (lambda tf, x: tf.searchsorted(x, [0.0, 2.0, 9.0]), [1.0, 2.0, 3.0]),
    "searchsorted in nothing": (lambda tf, x: tf.searchsorted(x[:0], [0.0, 2.0]), [1.0]),
    "searchsorted nothing": (lambda tf, x: tf.searchsorted(x, x[:0]), [1.0]),
    "searchsorted in no columns": (
        lambda tf, x: tf.searchsorted(tf.zeros([2, 0]), tf.zeros([2, 3])),
        [1.0],
    ),
    "searchsorted right": (lambda tf, x: tf.searchsorted(x, [2.0], side="right"), [1.0, 2.0, 3.0]),
    "unique": (lambda tf, x: tuple(tf.unique(x)), [3.0, 1.0, 3.0]),
    "unique_with_counts": (lambda tf, x: tuple(tf.unique_with_counts(x)), [3.0, 1.0, 3.0]),
    "dynamic_partition": (lambda tf, x: tf.dynamic_partition(x, [0, 1, 0, 1], 2), V),
    "dynamic_stitch": (lambda tf, x: tf.dynamic_stitch([[0, 2], [1, 3]], [x[:2], x[2:]]), V),
    "clip_by_value": (lambda tf, x: tf.clip_by_value(x, 0.0, 2.0), V),
    "clip_by_value bounds": (lambda tf, x: tf.clip_by_value(x, 1.0, 2.0), [1.0, 2.0, 0.0, 3.0]),
    "clip_by_value tensors": (
        lambda tf, x, a, b: tf.clip_by_value(x, a, b),
        V,
        [0.0] * 4,
        [1.0, 2.0, 3.0, 4.0],
    ),
    "clip_by_value nan": (lambda tf, x: tf.clip_by_value(x, 0.0, 1.0), [NAN, INF, -INF]),
    "clip_by_value int": (lambda tf, x: tf.clip_by_value(x, 2, 4), INTS),
    "clip_by_value shapes": (lambda tf, x: tf.clip_by_value(x, [0.0, 0.0], 1.0), V),
    "clip_by_norm": (lambda tf, x: tf.clip_by_norm(x, 1.0), V),
    "clip_by_norm small": (lambda tf, x: tf.clip_by_norm(x, 100.0), V),
    "clip_by_norm zero": (lambda tf, x: tf.clip_by_norm(x, 1.0), [0.0, 0.0]),
    "clip_by_norm axes": (lambda tf, x: tf.clip_by_norm(x, 3.0, axes=[1]), M),
    "clip_by_global_norm": (lambda tf, x, y: tf.clip_by_global_norm([x, y], 2.0)[0], V, M),
    "clip_by_global_norm small": (lambda tf, x: tf.clip_by_global_norm([x], 100.0)[0], V),
    "clip_by_global_norm given": (
        lambda tf, x: tf.clip_by_global_norm([x], 1.0, use_norm=tf.constant(4.0))[0],
        V,
    ),
    "global_norm": (lambda tf, x, y: tf.linalg.global_norm([x, y]), V, M),
}
CLASS_ONLY = {"expand_dims missing", "concat no axis"}
NO_GRADIENT = {"unique", "unique_with_counts"}
FIRST_ORDER = {"clip_by_norm zero", "tensor_scatter_nd_max", "tensor_scatter_nd_min"}

CASES = {
    name: points(
        program,
        *values,
        order=0 if name in NO_GRADIENT else 1 if name in FIRST_ORDER else 2,
        words=0 if name in CLASS_ONLY else 3,
    )
    for name, (program, *values) in PROGRAMS.items()
}


def _table(programs, words=3):
    return lambda tf: attempts(tf, programs, words)


CASES |= {
    "zeros and ones": _table(
        {
            "zeros": lambda tf: tf.zeros([2, 3]),
            "zeros int": lambda tf: tf.zeros([2], tf.int32),
            "zeros bool": lambda tf: tf.zeros([2], tf.bool),
            "zeros string": lambda tf: tf.zeros([2], tf.string),
            "zeros scalar": lambda tf: tf.zeros([]),
            "zeros int shape": lambda tf: tf.zeros(3),
            "zeros tuple": lambda tf: tf.zeros((1, 2)),
            "zeros tensor shape": lambda tf: tf.zeros(tf.constant([2, 1])),
            "zeros tensorshape": lambda tf: tf.zeros(tf.TensorShape([2])),
            "zeros numpy shape": lambda tf: tf.zeros(np.array([2, 1])),
            "zeros dtype name": lambda tf: tf.zeros([1], "float64"),
            "zeros negative": lambda tf: tf.zeros([-1]),
            "zeros bfloat16": lambda tf: tf.zeros([2], tf.bfloat16),
            "ones": lambda tf: tf.ones([2, 1]),
            "ones complex": lambda tf: tf.ones([1], tf.complex64),
            "ones bool": lambda tf: tf.ones([1], tf.bool),
            "ones keyword": lambda tf: tf.ones(shape=[1], dtype=tf.int64),
            "zeros_like list": lambda tf: tf.zeros_like([1, 2]),
            "zeros_like string": lambda tf: tf.zeros_like(tf.constant(["a"])),
            "ones_like variable": lambda tf: tf.ones_like(tf.Variable([1.0, 2.0])),
            "fill int": lambda tf: tf.fill([2], 7),
            "fill bool": lambda tf: tf.fill([2], True),
            "fill string": lambda tf: tf.fill([2], "a"),
            "fill numpy": lambda tf: tf.fill([1], np.float64(2.0)),
            "fill negative": lambda tf: tf.fill([-2], 1.0),
        }
    ),
    "eye": _table(
        {
            "square": lambda tf: tf.eye(2),
            "wide": lambda tf: tf.eye(2, 3),
            "batch": lambda tf: tf.eye(2, batch_shape=[2]),
            "int": lambda tf: tf.eye(2, dtype=tf.int32),
            "empty": lambda tf: tf.eye(0),
        }
    ),
    "range": _table(
        {
            "stop": lambda tf: tf.range(4),
            "start": lambda tf: tf.range(2, 5),
            "delta": lambda tf: tf.range(1, 10, 3),
            "negative": lambda tf: tf.range(5, 0, -2),
            "float": lambda tf: tf.range(1.0),
            "float delta": lambda tf: tf.range(0.0, 1.0, 0.25),
            "mixed": lambda tf: tf.range(0, 2.5),
            "dtype": lambda tf: tf.range(3, dtype=tf.float64),
            "int64": lambda tf: tf.range(tf.constant(3, tf.int64)),
            "tensor": lambda tf: tf.range(tf.constant(3)),
            "empty": lambda tf: tf.range(0),
            "backwards": lambda tf: tf.range(3, 0),
            "zero delta": lambda tf: tf.range(0, 3, 0),
            "endless": lambda tf: tf.range(0.0, np.inf),
            "half overflows": lambda tf: tf.range(0, 1e5, 5e4, tf.float16),
            "limit is NaN": lambda tf: tf.range(np.nan),
            "delta is NaN": lambda tf: tf.range(0.0, 1.0, np.nan),
            "delta is infinite": lambda tf: tf.range(0.0, 1.0, np.inf),
            "too many": lambda tf: tf.range(0.0, 1e30, 1e-30),
            "vector": lambda tf: tf.range([1, 2]),
            "numpy": lambda tf: tf.range(np.int64(3)),
            "limit and delta": lambda tf: tf.range(6, delta=2),
        }
    ),
    "linspace": _table(
        {
            "ints": lambda tf: tf.linspace(0, 10, 3),
            "int8": lambda tf: tf.linspace(tf.constant(-3, tf.int8), 7, 4),
            "uint16": lambda tf: tf.linspace(tf.constant(3, tf.uint16), 900, 4),
            "double": lambda tf: tf.linspace(np.float64(0.0), np.float64(1.0), 3),
            "zero points": lambda tf: tf.linspace(0.0, 1.0, 0),
            "axis 0": lambda tf: tf.linspace([0.0, 10.0], [1.0, 20.0], 3),
        }
    ),
    "one_hot": _table(
        {
            "plain": lambda tf: tf.one_hot([0, 2], 3),
            "none": lambda tf: tf.one_hot([], 3),
            "scalar": lambda tf: tf.one_hot(1, 3),
            "outside": lambda tf: tf.one_hot([-1, 3], 3),
            "int": lambda tf: tf.one_hot([0, 1], 2, dtype=tf.int32),
            "bool": lambda tf: tf.one_hot([0, 1], 2, on_value=True, off_value=False),
            "axis 0": lambda tf: tf.one_hot([0, 2], 3, axis=0),
            "matrix": lambda tf: tf.one_hot([[0], [1]], 2),
            "values": lambda tf: tf.one_hot([0], 2, 5, -1),
            "float index": lambda tf: tf.one_hot([0.5], 2),
            "uint8": lambda tf: tf.one_hot(tf.constant([1], tf.uint8), 2),
            "depth tensor": lambda tf: tf.one_hot([1], tf.constant(2)),
            "dtype conflict": lambda tf: tf.one_hot([1], 2, on_value=1, dtype=tf.float32),
        },
        words=2,
    ),
    "shapes of broadcasts": _table(
        {
            "static": lambda tf: tf.broadcast_static_shape(
                tf.TensorShape([2, 1]), tf.TensorShape([3])
            ),
            "static wrong": lambda tf: tf.broadcast_static_shape(
                tf.TensorShape([2]), tf.TensorShape([3])
            ),
            "dynamic": lambda tf: tf.broadcast_dynamic_shape([2, 1], [3]),
            "dynamic, arrays": lambda tf: tf.broadcast_dynamic_shape(
                np.array([2, 1]), np.array([3])
            ),
            "dynamic, a tensor": lambda tf: tf.broadcast_dynamic_shape(
                np.array([3]), tf.constant([2, 1], tf.int64)
            ),
            "sequence_mask": lambda tf: tf.sequence_mask([1, 3], 4),
            "sequence_mask default": lambda tf: tf.sequence_mask([1, 2]),
            "sequence_mask dtype": lambda tf: tf.sequence_mask([1, 2], dtype=tf.float32),
        }
    ),
    "ints pass": _table(
        {
            "reshape": lambda tf: tf.reshape(tf.range(4), [2, 2]),
            "concat": lambda tf: tf.concat([[1, 2], [3]], 0),
            "stack": lambda tf: tf.stack([1, 2]),
            "gather": lambda tf: tf.gather([10, 20, 30], [2, 0]),
            "pad": lambda tf: tf.pad(tf.constant([1]), [[1, 1]]),
            "tile": lambda tf: tf.tile([True, False], [2]),
            "where": lambda tf: tf.where([True, False], [1, 2], [3, 4]),
            "reverse": lambda tf: tf.reverse([1, 2, 3], [0]),
            "cumsum": lambda tf: tf.cumsum([1, 2, 3]),
            "top_k": lambda tf: tf.math.top_k([1, 3, 2], k=2).values,
            "scatter_nd": lambda tf: tf.scatter_nd([[1]], [7], [3]),
            "transpose": lambda tf: tf.transpose([[1, 2]]),
            "string gather": lambda tf: tf.gather(tf.constant(["a", "b"]), [1]),
            "bitcast": lambda tf: tf.bitcast(tf.constant(1.0), tf.int32),
        }
    ),
}


def case_split_types(tf):
    parts = tf.split(tf.ones([2, 4]), 2, axis=1)
    return type(parts), type(tf.unstack(tf.ones([2]))), type(tf.meshgrid([1.0], [2.0]))


def case_clip_by_global_norm_types(tf):
    clipped, norm = tf.clip_by_global_norm((tf.constant([3.0]), tf.constant([4.0])), 1.0)
    return type(clipped), clipped, norm


def case_clip_by_global_norm_bad(tf):
    return attempts(
        tf,
        {
            "tensor": lambda tf: tf.clip_by_global_norm(tf.constant([3.0]), 1.0),
            "inf": lambda tf: tf.clip_by_global_norm([tf.constant([INF, 1.0])], 1.0),
            "empty": lambda tf: tf.clip_by_global_norm([], 1.0),
            "all none": lambda tf: tf.clip_by_global_norm([None], 1.0),
        },
        words=2,
    )


def case_arguments_that_check(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    sizes = [1, 2]
    return {
        "num": tf.split(x, sizes, num=2),
        "number of equal parts": tf.split(x, 3, num=2),
        "wrong num": attempt(lambda: tf.split(x, sizes, num=3), words=5),
        "pinv": attempt(lambda: tf.linalg.pinv(x, validate_args=True)),
        "matrix_rank": attempt(lambda: tf.linalg.matrix_rank(x)),
        "stable": tf.argsort([1.0, 0.0, 1.0, 0.0], stable=True),
        "hints": tf.matmul([[1.0, 2.0]], [[3.0], [4.0]], a_is_sparse=True, grad_b=True),
        "none": tf.zeros([2], layout=None),
    }


def case_searchsorted_of_no_dtype(tf):
    found = tf.searchsorted([1.0, 3.0], [2.0, 4.0], out_type=None)
    return found, found.dtype == tf.int32


def case_stack_of_what_is_no_list(tf):
    return attempts(
        tf,
        {
            "number": lambda tf: tf.stack(1.5),
            "text": lambda tf: tf.stack("ab"),
            "range": lambda tf: tf.stack(range(3)),
            "array": lambda tf: tf.stack(np.ones([2])),
            "numbers": lambda tf: tf.stack((1, 2.5)),
            "number along 1": lambda tf: tf.stack(3, axis=1),
        },
        words=0,
    )


def case_gather_along_the_first_axis_of_batches(tf):
    """`batch_dims` has no effect then."""
    x, at = tf.range(12), tf.constant([[0, 1], [2, 0], [1, 1]])
    rows = tf.reshape(x, [3, 4])
    cube = tf.reshape(tf.range(24), [2, 3, 4])
    return [
        tf.gather(rows, at, axis=0, batch_dims=1),
        tf.gather(rows, at, axis=1, batch_dims=1),
        tf.gather(cube, at[:2], batch_dims=-1),
    ]


def case_masks_of_nothing(tf):
    found = []
    for shape, mask, axis in (
        ([0, 1, 3, 5], np.ones([1, 3, 5], bool), 1),
        ([3, 1, 0], np.ones([3, 1, 0], bool), 0),
        ([0, 3], np.zeros([0], bool), 0),
        ([3, 0], np.array([True, False, True]), 0),
        ([2, 3, 0], np.array([True, False, True]), 1),
    ):
        x = tf.ones(shape)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.boolean_mask(x, mask, axis=axis)
        found.append((y, tape.gradient(y, x)))
    return found, tf.dynamic_partition(tf.zeros([0, 2]), tf.zeros([0], tf.int32), 2)


def case_diagonals_of_nothing(tf):
    return [
        tf.linalg.diag(tf.zeros([2, 0]), k=k, padding_value=value)
        for k in (0, 1, -2)
        for value in (0, 3)
    ] + [tf.linalg.eigh_tridiagonal(tf.constant([2.0]), tf.zeros([0]))]


def case_tensor_scatter_of_lists(tf):
    """The list has the dtype of the tensor beside it, whichever it is."""
    wide = tf.constant([[1.0, 2.0]], tf.float64)
    return [
        tf.tensor_scatter_nd_update([[0.0, 0.0], [1.0, 1.0]], [[0]], wide),
        tf.tensor_scatter_nd_add([1, 2, 3], [[0]], tf.constant([5], tf.int64)),
        tf.tensor_scatter_nd_add(tf.constant([1.0, 2.0]), [[0]], [5]),
        tf.tensor_scatter_nd_update(["a", "b", "c"], [[2], [0]], ["d", "e"]),
        tf.tensor_scatter_nd_update(tf.constant([["a", "b"], ["c", "d"]]), [[1]], [["e", "f"]]),
    ]


def case_texts_among_sizes(tf):
    x = tf.ones([6])
    return attempts(
        tf,
        {
            "mixed": lambda _: tf.reshape(x, [7, "a"]),
            "mixed_first": lambda _: tf.reshape(x, ["a", -1]),
            "all": lambda _: tf.reshape(x, ["a", "b"]),
            "one": lambda _: tf.reshape(x, "ab"),
            "zeros": lambda _: tf.zeros([2, "a"]),
            "scalar": lambda _: tf.zeros("a"),
            "tile": lambda _: tf.tile(x, ["a"]),
        },
    )


def case_shapes_that_do_not_stitch(tf):
    calls = (
        lambda: tf.dynamic_stitch([[0, 2], [1]], [tf.ones([2, 1]), tf.ones([1])]),
        lambda: tf.dynamic_stitch([[0, 2], 1], [tf.ones([2, 3]), tf.ones([2])]),
        lambda: tf.dynamic_stitch([[0, 2], [1]], [tf.ones([3, 1]), tf.ones([1, 1])]),
        lambda: tf.dynamic_stitch([[0, 2], 1], [tf.ones([2, 3]), tf.ones([3])]),
    )
    return [attempt(call) for call in calls]


def case_rows_that_cannot_be_placed(tf):
    calls = (
        lambda: tf.dynamic_stitch([[0, -1]], [[1, 2]]),
        lambda: tf.dynamic_stitch([[0, 1], [2]], [[1, 2]]),
        lambda: tf.dynamic_partition([1.0], [0], 0),
        lambda: tf.dynamic_partition([1.0], [0.0], 1),
    )
    return [attempt(call) for call in calls]


def case_lengths_of_sequences_that_do_not_fit(tf):
    calls = (
        lambda: tf.reverse_sequence(tf.ones([2, 3]), [4, 1], seq_axis=1),
        lambda: tf.reverse_sequence(tf.ones([2, 3]), [-1, 1], seq_axis=1),
        lambda: tf.reverse_sequence(tf.constant([[1, 2, 3]]), [3], seq_axis=1),
    )
    return [attempt(call, words=3) for call in calls]


def case_texts_scattered_and_hot(tf):
    marks = tf.constant("+"), tf.constant("")

    @tf.function
    def spread(indices, updates):
        return tf.scatter_nd(indices, updates, [3]), tf.one_hot(indices, 3, *marks)

    calls = (
        lambda: tf.scatter_nd([[1], [3]], ["a", "b"], [5]),
        lambda: tf.scatter_nd([[1], [1], [0]], ["a", "b", "c"], [2]),
        lambda: tf.scatter_nd([[1]], [["a", "b"]], [2, 2]),
        lambda: tf.scatter_nd([[1], [4]], ["a", "b"], [4]),
        lambda: tf.scatter_nd([[1], [2]], ["a", "b", "c"], [4]),
        lambda: tf.one_hot([0, 2], 3, on_value="a", off_value="b"),
        lambda: tf.one_hot([[0], [2]], 3, "a", "b", axis=0),
        lambda: tf.one_hot([0, 2], 3, on_value="a"),
        lambda: spread(tf.constant([[2], [0]]), tf.constant(["a", "b"])),
    )
    return [attempt(call) for call in calls]


def case_batch_axes_of_gather_nd(tf):
    x, at = tf.ones([2, 3]), tf.constant([[0], [1]])
    calls = (
        lambda: tf.gather_nd(x, at, batch_dims=1),
        lambda: tf.gather_nd(x, at, batch_dims=-1),
        lambda: tf.gather_nd(x, at, batch_dims=2),
        lambda: tf.gather_nd(tf.ones([2, 3, 4]), at, batch_dims=2),
        lambda: tf.gather_nd(x, at[None], batch_dims=2),
    )
    return [attempt(call) for call in calls]


def case_sequence_masks(tf):
    lengths = [1.5, 3.0, 0.2]
    calls = (
        lambda: tf.sequence_mask(lengths, 4),
        lambda: tf.sequence_mask(lengths),
        lambda: tf.sequence_mask([1.5, 2.5]),
        lambda: tf.sequence_mask([1, 2], -1),
        lambda: tf.sequence_mask([-1, -2]),
        lambda: tf.sequence_mask([10, 20], [10, 20]),
        lambda: tf.sequence_mask(tf.constant([10, 2], tf.int8), 12, tf.int32),
        lambda: tf.function(tf.sequence_mask)(tf.constant([1, 2]), tf.constant(3)),
    )
    return [attempt(call) for call in calls]


def case_no_permutations(tf):
    invert = tf.math.invert_permutation
    numbers = (
        *([3, 4, 0, 2, 1], [1, 1, 0], [2, 0, 1, 0, 2], [0, 3, 1], [0, -1]),
        *([[0, 1]], 0, np.int8([0, 1]), [0.0, 1.0], np.int64([1, 0]), np.int32([])),
    )
    return [attempt(invert, tf.constant(x)) for x in numbers]


def case_searches_for_nan(tf):
    rows = tf.constant([[0.0, 1.0, 2.0, NAN]])
    values = tf.constant([[NAN, 1.0, INF, -INF]])
    return tf.searchsorted(rows, values), tf.searchsorted(rows[:, :3], values, side="right")


def case_numbers_that_are_no_scalar_integers(tf):
    x = tf.reshape(tf.range(6.0), [2, 3])
    calls = (
        lambda: tf.concat([x, x], [1]),
        lambda: tf.concat([x, x], [1, 0]),
        lambda: tf.concat([x, x], 1.0),
        lambda: tf.split(x, 3.0, axis=1),
        lambda: tf.math.top_k(x, 1.0),
        lambda: tf.math.top_k(x, [1]),
        lambda: tf.one_hot([0, 1], 2.0),
        lambda: tf.one_hot([0, 1], [2]),
        lambda: tf.repeat(x, [[1, 2]], axis=0),
    )
    return [attempt(call) for call in calls]


def case_strided_slices_that_are_refused(tf):
    x = tf.reshape(tf.range(6.0), [2, 3])
    calls = (
        lambda: tf.strided_slice(x, [0], [2, 2]),
        lambda: tf.strided_slice(x, [0, 0], [2, 2], [1]),
        lambda: tf.strided_slice(x, [1], [2], [-1], shrink_axis_mask=1),
        lambda: tf.strided_slice(x, [1], [2], [2], shrink_axis_mask=1),
        lambda: x[[True, False]],
        lambda: x[[1, 2]],
    )
    return [attempt(call) for call in calls]


def case_bitcast_of_complex_numbers(tf):
    one = np.complex64([1 - 2j, 3 + 0.5j])
    two = np.complex128([[1 - 2j], [3 + 0.5j]])
    targets = ("float32", "uint8", "int32", "int64", "float64", "complex64", "complex128", "int16")
    given = (one, two, one[0], one.view(np.float32).reshape(2, 2), two.view(np.float64)[:, 0])
    given += (two.view(np.uint8), np.ones(2, np.complex64), np.ones([2, 3], np.float32))
    return [
        [attempt(lambda: tf.bitcast(tf.constant(x), target), words=4) for target in targets]
        for x in given
    ]


def case_bitcast_of_booleans(tf):
    return [
        attempt(lambda: tf.bitcast([True], tf.uint8)),
        attempt(lambda: tf.bitcast(tf.constant([1], tf.uint8), tf.bool)),
    ]


def case_no_numbers_are_integers(tf):
    """An empty list has the dtype that the op wants."""
    x, rows = tf.zeros([0]), tf.zeros([0, 3])
    return attempts(
        tf,
        {
            "repeat": lambda tf: tf.repeat(x, [], axis=0),
            "repeat rows": lambda tf: tf.repeat(rows, np.array([]), axis=0),
            "repeat by floats": lambda tf: tf.repeat(x, tf.zeros([0]), axis=0),
            "repeat nothing": lambda tf: tf.repeat([], []),
            "reverse_sequence": lambda tf: tf.reverse_sequence(rows, [], 1),
            "dynamic_stitch": lambda tf: tf.dynamic_stitch([[]], [x]),
            "dynamic_stitch of two": lambda tf: tf.dynamic_stitch([[], [1]], [rows, [[1.0] * 3]]),
            "segment_sum": lambda tf: tf.math.segment_sum(x, []),
            "gather": lambda tf: tf.gather(rows, [[]]),
        },
        words=0,
    )


def case_computed_places_out_of_range(tf):
    """An error in eager code, as for those that are written down."""
    x, v = tf.reshape(tf.range(15.0), [5, 3]), tf.Variable(tf.ones([5, 3]))

    def computed(*numbers):
        ones = tf.constant(np.ones(400, np.int32))
        places = tf.constant(numbers) + tf.reduce_sum(ones * 2) - 800
        places.numpy()
        return places

    row = tf.ones([1, 3])
    calls = {
        "row": lambda tf: x[computed(5)[0]],
        "from the end": lambda tf: x[computed(-6)[0]],
        "last row": lambda tf: x[computed(-5)[0]],
        "column": lambda tf: x[:, computed(3)[0]],
        "slice": lambda tf: tf.slice(x, computed(4, 0), [2, 1]),
        "assigned": lambda tf: v[computed(7)[0]].assign(row[0]),
        "gather": lambda tf: tf.gather(x, computed(9)),
        "gather_nd": lambda tf: tf.gather_nd(x, computed(4, 3)),
        "lookup": lambda tf: tf.nn.embedding_lookup(v, computed(-1)),
        "scatter": lambda tf: tf.scatter_nd(computed(7)[None], [1.0], [5]),
        "update": lambda tf: tf.tensor_scatter_nd_update(x, computed(9)[None], row),
        "segments": lambda tf: tf.math.unsorted_segment_sum(x, computed(0, 7, 1, 1, -1), 3),
        "slices": lambda tf: v.scatter_add(tf.IndexedSlices(row, computed(9))),
        "labels": lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits(computed(5), row),
        "lengths": lambda tf: tf.reverse_sequence(x, computed(9, 1, 1, 1, 1), seq_axis=1),
        "images": lambda tf: tf.image.crop_and_resize(
            tf.ones([1, 4, 4, 1]), [[0.0, 0.0, 1.0, 1.0]], computed(3), [2, 2]
        ),
    }
    return attempts(tf, calls, words=3), v


def case_arguments_that_are_no_numbers(tf):
    x, image, filters = tf.constant([3.0, 4.0]), tf.ones([1, 4, 4, 1]), tf.ones([3, 3, 1, 1])
    segments = tf.math.unsorted_segment_sum
    programs = {
        "an axis of a fraction": lambda tf: tf.expand_dims(x, 1.5),
        "no begin": lambda tf: tf.slice(x, None, [1]),
        "begin of no axes": lambda tf: tf.slice(x, 0, [1]),
        "size of no axes": lambda tf: tf.slice(x, [0], 1),
        "begin of a fraction": lambda tf: tf.slice(x, 1.5, [1]),
        "no rows": lambda tf: tf.map_fn(lambda y: y, None),
        "no rows in a nest": lambda tf: tf.map_fn(lambda y: y[0], (x, None)),
        "no rows to fold": lambda tf: tf.foldl(lambda y, z: y + z, None),
        "no rows to scan": lambda tf: tf.scan(lambda y, z: y + z, None),
        "no rows at once": lambda tf: tf.vectorized_map(lambda y: y, None),
        "no segments": lambda tf: segments(x, [0, 1], None),
        "segments as text": lambda tf: segments(x, [0, 1], "a"),
        "segments as a float": lambda tf: segments(x, [0, 1], 2.0),
        "segments as NumPy's": lambda tf: segments(x, [0, 1], np.float32(2.0)),
        "no message": lambda tf: tf.debugging.check_numerics(x, None),
        "strides": lambda tf: tf.nn.conv2d(image, filters, "a", "SAME"),
        "a window": lambda tf: tf.nn.max_pool2d(image, "a", 1, "SAME"),
        "blocks": lambda tf: tf.nn.space_to_depth(image, "a"),
        "no k": lambda tf: tf.math.in_top_k([1], [[1.0, 2.0]], None),
        "k as text": lambda tf: tf.math.in_top_k([1], [[1.0, 2.0]], "a"),
        "no partitions": lambda tf: tf.dynamic_partition(x, [0, 1], None),
        "partitions as a float": lambda tf: tf.dynamic_partition(x, [0, 1], 2.0),
        "an axis as text": lambda tf: tf.one_hot([1], 2, axis="a"),
        "axes": lambda tf: tf.one_hot([1], 2, axis=[0]),
        "diagonals": lambda tf: tf.linalg.band_part([[1.0]], [1], 0),
    }
    return attempts(tf, programs, words=4)
