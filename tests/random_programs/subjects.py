"""What chains of one subject begin with and go on by: texts, ragged and sparse tensors, NumPy's
functions, slices of changing bounds, numbers at the ends of dtypes. `chains.py` writes them.

A chain has a value `a`, its argument `x` and a number `n`; each step gives `a` another value or
looks at it.
"""

import dataclasses
import re


def lines(text: str) -> list[str]:
    """Expressions for `a`, a line or two spaces apart."""
    return [f"a = {part}" for part in re.split(r"\s{2,}|\n", text.strip())]


@dataclasses.dataclass
class Subject:
    """starts: pairs of what is given as `x`, and what `a` is made of it. `steps`: statements.
    wild: whether it goes to the ends of dtypes, so that roundings go far."""

    starts: list[tuple[str, str]]
    steps: list[str]
    wild: bool = False


TEXTS = Subject(
    [
        ("tf.constant(['ab', '', 'Straße', 'a b  c', 'x,y'])", "x"),
        ("tf.constant([['k', 'lm'], ['N', '12']])", "x"),
        ("tf.constant(' Ünïcode 日本 ')", "x"),
        ("tf.constant(['3', '-7', '1e3', 'nan'])", "x"),
        ("tf.constant([5, -3, 120])", "tf.strings.as_string(x)"),
        ("tf.constant([0.5, -3.25, 1e9])", "tf.strings.as_string(x, precision=2)"),
        ("tf.constant([], tf.string)", "x"),
    ],
    lines(r"""
tf.strings.upper(a)  tf.strings.lower(a, encoding='utf-8')  tf.strings.strip(a)
tf.strings.join([a, a], separator='-')  a + '!'  tf.strings.substr(a, n % 2, 2)
tf.strings.substr(a, -1, 1)  tf.strings.substr(a, 0, n + 1, unit='UTF8_CHAR')
tf.strings.regex_replace(a, '[aeiou]', '<\\0>')  tf.strings.regex_replace(a, 'b', '', False)
tf.strings.reduce_join(a, axis=-1, separator='|')  tf.strings.reduce_join(a, keepdims=True)
tf.reshape(a, [-1])  tf.reverse(tf.reshape(a, [-1]), [0])  tf.sort(tf.reshape(a, [-1]), 0)
tf.gather(tf.reshape(a, [-1]), [0, 0])  tf.expand_dims(a, -1)  tf.tile(tf.reshape(a, [-1]), [2])
tf.where(tf.strings.length(a) > 2, a, 'short')  tf.where(a == '', a, a + a)
tf.strings.format('<{}>', [tf.strings.length(a)])  tf.strings.split(a).to_tensor('-')
tf.strings.split(tf.reshape(a, [-1]), ',').flat_values
tf.strings.split(tf.reshape(a, [-1]), 'a', maxsplit=1).to_tensor()
tf.strings.bytes_split(tf.reshape(a, [-1])).values
tf.strings.unicode_split(tf.reshape(a, [-1]), 'UTF-8', errors='replace').to_tensor('_')
tf.strings.unicode_encode(tf.strings.unicode_decode(tf.reshape(a, [-1]), 'UTF-8'), 'UTF-8')
tf.strings.unicode_transcode(a, 'UTF-8', 'UTF-16-BE')
tf.strings.ngrams(tf.reshape(a, [-1]), 2, separator='+')
tf.io.encode_base64(a, pad=True)  tf.io.decode_base64(tf.io.encode_base64(a))
tf.unique(tf.reshape(a, [-1])).y  tf.boolean_mask(a, tf.strings.length(a) > 1)
tf.concat([tf.reshape(a, [-1]), ['z']], 0)  tf.pad(tf.reshape(a, [-1]), [[1, 0]])
tf.strings.as_string(tf.strings.length(a, unit='UTF8_CHAR'))
tf.strings.as_string(tf.strings.to_hash_bucket_fast(a, 10), width=3, fill='0')
tf.strings.as_string(tf.strings.regex_full_match(a, '.*a.*'))
tf.map_fn(lambda s: s + '.', tf.reshape(a, [-1]))
tf.tensor_scatter_nd_update(tf.reshape(a, [-1]), [[0]], ['new'])
tf.dynamic_partition(tf.reshape(a, [-1]), tf.strings.length(tf.reshape(a, [-1])) % 2, 2)[1]
"""),
)

RAGGED = Subject(
    [
        (
            "tf.constant([0.5, -1.0, 2.0, 0.3, 1.5, -0.7])",
            f"tf.RaggedTensor.from_row_lengths(x, {rows})",
        )
        for rows in ("[2, 0, 4]", "[1, 2, 3]", "[0, 6]", "[3, 3]", "[0, 0, 6, 0]")
    ]
    + [
        (
            "tf.reshape(tf.range(12, dtype=tf.float32), [6, 2]) * 0.1",
            "tf.RaggedTensor.from_row_splits(x, [0, 2, 2, 6])",
        ),
        (
            "tf.constant([1.0, 2.0, 3.0, 4.0, 5.0])",
            "tf.RaggedTensor.from_nested_row_lengths(x, [[1, 0, 2], [2, 0, 3]])",
        ),
        ("tf.constant([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]])", "tf.RaggedTensor.from_tensor(x)"),
        (
            "tf.constant([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])",
            "tf.RaggedTensor.from_tensor(x, padding=0.0)",
        ),
        ("tf.constant([1, 2, 3, 4])", "tf.RaggedTensor.from_value_rowids(x, [0, 0, 2, 3])"),
    ],
    lines("""
a * 2  a + a  -a  tf.abs(a)  tf.square(a)  tf.concat([a, a], 0)  tf.concat([a, a], 1)
tf.stack([a, a])  a[1:]  a[:, 1:]  a[:, :-1]  a[::2]  a[..., :1]  a[n]  a[:, n:]  a[-1:]
tf.reverse(a, [1])  tf.reverse(a, [0])  tf.gather(a, [1, 0, 1])  tf.tile(a, [2, 1])
tf.tile(a, [1, 2])  tf.expand_dims(a, 1)  tf.expand_dims(a, 0)  tf.squeeze(a[:1], 0)
tf.reduce_sum(a, 1)  tf.reduce_max(a, 0)  tf.reduce_mean(a)  tf.reduce_prod(a, -1)
tf.reduce_sum(a, 1, keepdims=True)  tf.reduce_any(a > 1, 1)  tf.math.reduce_std(a, 1)
tf.where(a > 1, a, a * 0)  tf.where(a > 0)  tf.boolean_mask(a, a > 0)  tf.cast(a, tf.int32)
tf.cast(a, tf.float64)  a.to_tensor()  a.to_tensor(7)  a.to_tensor(shape=[None, 3])
tf.RaggedTensor.from_tensor(a.to_tensor())  a.to_sparse()  a.with_values(a.values * 2)
tf.ragged.map_flat_values(lambda v: v + 1, a)  a.with_flat_values(tf.cumsum(a.flat_values))
tf.map_fn(lambda r: r * 2, a)  tf.map_fn(lambda r: tf.reduce_sum(r), a, fn_output_signature=a.dtype)
tf.sort(a, 1)  tf.argsort(a, 1)  tf.math.top_k(a, 1).values  tf.one_hot(tf.cast(a, tf.int32), 3)
tf.ragged.stack_dynamic_partitions(a.flat_values, tf.cast(a.flat_values, tf.int32) % 2, 2)
tf.math.segment_sum(a, tf.range(a.nrows()) // 2)  tf.nn.dropout(a, 0.0)  tf.strings.as_string(a)
a.merge_dims(0, 1)  tf.ragged.range(a.row_lengths())  tf.ragged.segment_ids_to_row_splits([0, 2])
tf.matmul(a, a.to_tensor(), transpose_b=True)  tf.split(a, [1, -1])[1]  tf.unstack(a)[0]
a.bounding_shape()  a.row_lengths(-1)  a.value_rowids()  a.row_starts()  tf.shape(a).static_lengths
tf.ragged.cross([a, a])  tf.reduce_logsumexp(a, 1)  tf.clip_by_value(a, -1, 1)  tf.zeros_like(a)
tf.ones_like(a)  a ** 2  a / (a * a + 1)  tf.maximum(a, 0)  tf.round(a)  tf.transpose(a.to_tensor())
tf.RaggedTensor.from_row_lengths(a.flat_values, [tf.size(a.flat_values)])  tf.size(a)  tf.rank(a)
tf.nn.embedding_lookup(tf.eye(4), tf.cast(tf.abs(a), tf.int32) % 4)  tf.identity(a)
tf.broadcast_to(a, tf.shape(a))  tf.gather_nd(a, [[0], [1]])  tf.batch_gather(a, [[0], [0]])
tf.bitcast(a, tf.int32)  tf.stop_gradient(a) * a  tf.nn.softmax(a)  tf.nn.relu(a)
tf.unique(a.values)
"""),
)

SPARSE = Subject(
    [
        ("tf.constant([[0.0, 1.5, 0.0], [2.0, 0.0, -1.0]])", "tf.sparse.from_dense(x)"),
        ("tf.constant([1.0, 2.0, -3.0])", "tf.SparseTensor([[0, 0], [1, 2], [3, 1]], x, [4, 3])"),
        ("tf.constant([1, 2, 3])", "tf.SparseTensor([[0, 1], [0, 2], [1, 0]], x, [2, 3])"),
        ("tf.constant([0.5, 2.0])", "tf.SparseTensor([[0, 0, 1], [1, 1, 0]], x, [2, 2, 2])"),
        (
            "tf.zeros([0])",
            "tf.SparseTensor(tf.zeros([0, 2], tf.int64), x, tf.constant([2, 3], tf.int64))",
        ),
    ],
    lines("""
a * 2  -a  a / 2  tf.abs(a)  tf.sparse.add(a, a)  tf.sparse.to_dense(a)  tf.sparse.reorder(a)
tf.sparse.concat(0, [a, a])  tf.sparse.concat(-1, [a, a])  tf.sparse.transpose(a)
tf.sparse.reshape(a, [-1])  tf.sparse.reshape(a, [3, -1])  tf.sparse.slice(a, [0, 0], [2, 2])
tf.sparse.split(a, 2, 0)[0]  tf.sparse.reduce_sum(a, 0)  tf.sparse.reduce_sum(a, 1, keepdims=True)
tf.sparse.reduce_max(a, -1)  tf.sparse.retain(a, a.values > 1)  tf.cast(a, tf.float64)
tf.sparse.fill_empty_rows(a, 9)[0]  tf.sparse.reset_shape(a)  tf.sparse.reset_shape(a, [5, 5])
tf.sparse.maximum(a, a)  tf.sparse.minimum(a, a * 2)  tf.sparse.map_values(tf.square, a)
tf.sparse.expand_dims(a, 0)  tf.sparse.expand_dims(a, -1)  tf.sparse.softmax(a)
tf.sparse.mask(a, [0])
tf.sparse.sparse_dense_matmul(a, tf.ones([a.shape[-1], 2], a.dtype))  tf.sparse.to_indicator(a, 5)
tf.sparse.sparse_dense_matmul(a, tf.sparse.to_dense(a), adjoint_b=True)  a.indices  a.values
a.dense_shape  tf.sparse.add(a, tf.sparse.to_dense(a))  a * tf.sparse.to_dense(a)  tf.shape(a)
tf.RaggedTensor.from_sparse(a)  tf.sparse.from_dense(tf.sparse.to_dense(a) + 1)  tf.size(a)
tf.sparse.segment_sum(tf.sparse.to_dense(a), [0, 1], [0, 0])  tf.identity(a)  tf.sparse.eye(3)
tf.sparse.bincount(tf.cast(a, tf.int32), binary_output=True)  tf.sparse.cross_hashed([a, a])
tf.nn.embedding_lookup_sparse(tf.eye(5), tf.cast(a, tf.int64), None)
a.with_values(a.values * 3)  tf.sparse.to_dense(a, default_value=-1)  tf.nest.map_structure(abs, a)
"""),
)

NUMPY = Subject(
    [
        ("tf.constant([[0.5, -1.0, 2.0], [1.5, 0.3, -0.7]])", "tf.experimental.numpy.asarray(x)"),
        ("tf.range(6)", "tf.experimental.numpy.reshape(x, [2, 3])"),
        ("tf.constant([1.0, -2.0, 3.0, 0.5], tf.float64)", "x"),
        ("tf.constant([True, False, True])", "x"),
        ("tf.constant([1.0 + 2.0j, -0.5j])", "x"),
        ("tf.constant(2.5)", "x"),
    ],
    [
        re.sub(r"\bnp\.", "tf.experimental.numpy.", step)
        for step in lines("""
np.sum(a, axis=0)  np.mean(a)  np.std(a)  np.var(a, axis=-1)  np.prod(a)  np.cumsum(a, 0)
np.cumprod(a)  np.max(a, axis=-1)  np.min(a)  np.argmax(a)  np.argmin(a, axis=0)  np.sort(a)
np.argsort(a)  np.transpose(a)  np.flip(a, 0)  np.fliplr(a)  np.flipud(a)  np.roll(a, 1)
np.roll(a, 1, axis=-1)  np.rot90(a)  np.reshape(a, -1)  np.ravel(a)  np.expand_dims(a, 0)
np.squeeze(a)  np.stack([a, a])  np.concatenate([a, a])  np.vstack([a, a])  np.hstack([a, a])
np.dstack([a, a])  np.column_stack([a, a])  np.tile(a, 2)  np.repeat(a, 2)  np.repeat(a, 2, axis=0)
np.pad(a, 1)  np.where(a > 0, a, 0)  np.maximum(a, 0.5)  np.minimum(a, 1)  np.clip(a, 0, 1)
np.abs(a)  np.sign(a)  np.exp(a)  np.log1p(np.abs(a))  np.sqrt(np.abs(a))  np.square(a)
np.power(a, 2)  np.add(a, 1)  np.add(a, 1.5)  np.subtract(a, True)  np.multiply(a, 2)
np.divide(a, 2)  np.floor_divide(a, 2)  np.mod(a, 2)  np.remainder(a, 3)  np.hypot(a, a)
np.arctan2(a, 1)  np.logaddexp(a, a)  np.heaviside(a, 0.5)  np.dot(a, np.transpose(a))
np.matmul(a, np.transpose(a))  np.inner(a, a)  np.outer(a, a)  np.tensordot(a, a, 1)  np.vdot(a, a)
np.kron(a, a)  np.trace(a)  np.diag(a)  np.diagonal(a)  np.tril(a)  np.triu(a, 1)  np.cross(a, a)
np.take(a, [0, 0])  np.take(a, [1, 0], axis=0)  np.take_along_axis(a, np.argsort(a), -1)
np.broadcast_to(a, (2,) + tuple(a.shape))  np.atleast_2d(a)  np.atleast_3d(a)  np.swapaxes(a, 0, -1)
np.moveaxis(a, 0, -1)  np.split(a, 1)[0]  np.array_split(a, 2)[0]  np.nonzero(a)[0]
np.count_nonzero(a)  np.isnan(a)  np.isfinite(a)  np.isclose(a, a + 1e-9)  np.allclose(a, a)
np.array_equal(a, a)  np.all(a)  np.any(a)  np.logical_not(a)  np.around(a, 1)  np.floor(a)
np.rint(a)
np.trunc(a)  np.fix(a)  np.real(a)  np.imag(a)  np.conj(a)  np.angle(a)  np.iscomplex(a)
np.nanmean(a)  np.nansum(a)  np.average(a)  np.average(a, weights=np.ones_like(a))  np.median(a)
np.ptp(a)  np.diff(a)  np.ones_like(a)  np.zeros_like(a, dtype=int)  np.full_like(a, 3)
np.eye(3)[0] * np.sum(a)  np.linspace(0, 1, 3) + np.sum(a)  np.arange(3) * np.mean(a)
np.array([a, a])  np.array([1, 2.5])  np.asarray(a, dtype=float)  np.bincount(np.ravel(a))
np.einsum('...i->...', a)  np.meshgrid(a, a)[0]  np.vander(np.ravel(a), 3)  np.identity(2)
np.interp(a, [0, 1], [0, 2])  np.polyval([1, 2], a)  np.select([a > 0], [a])  np.bitwise_and(a, 1)
np.left_shift(a, 1)  np.gcd(a, 4)  np.float_power(a, 2)  np.true_divide(a, 3)  np.cbrt(a)
np.sinc(a)
np.deg2rad(a)  np.signbit(a)  np.result_type(a, 1.0)  np.promote_types(a.dtype, 'int8')  np.size(a)
np.shape(a)  np.ndim(a)  np.logspace(0, 1, 3) * np.sum(a)  np.geomspace(1, 8, 4)  np.tri(2)
np.append(a, a)  np.isin(a, [1])  np.nextafter(a, 1)  np.positive(a)  np.reciprocal(a)  np.exp2(a)
a[0]  a[..., -1]  a[::-1]  a[np.newaxis]  a + 1  a * 2.5  a ** 2  -a  a > 0  a == a[..., :1]
""")
    ],
)

SLICES = Subject(
    [
        ("tf.reshape(tf.range(24, dtype=tf.float32), [2, 3, 4]) * 0.1", "x"),
        ("tf.constant([0.5, -1.0, 2.0, 0.3, 1.5])", "x"),
        ("tf.reshape(tf.range(12), [4, 3])", "x"),
        ("tf.zeros([0, 3])", "x"),
    ],
    lines("""
a[n:]  a[:n]  a[-n:]  a[n]  a[..., n]  a[..., :-n]  a[::-1]  a[::-2]  a[n::2]  a[:, None]  a[None]
a[:, n - 2:]  a[:tf.shape(a)[0] - n]  a[tf.shape(a)[0] // 2:]  a[tf.size(a) % 2:]  a[-1:0:-1]
a[n:n - 1:-1]  a[5:]  a[-9:2]  a[9:-9:-1]  a[tf.constant(1):]  a[:tf.constant(-1)]  a[..., None, :1]
a[tf.minimum(n, 1)]  a[n - 1, n - 1:]  a[:, ::-1, n:]  a[tf.argmax(tf.reshape(a, [-1])) % 2]
tf.slice(a, tf.zeros_like(tf.shape(a)), tf.shape(a) - 1)
tf.slice(a, tf.shape(a) - 1, tf.shape(a) * 0 - 1)
tf.gather(a, tf.range(n))  tf.gather(a, n - 1, axis=-1)
tf.boolean_mask(a, tf.shape(a)[0] > tf.range(tf.shape(a)[0]))
tf.concat([a[n:], a[:n]], 0)  tf.roll(a, n, 0)  tf.reverse(a, [-1])
tf.pad(a[n:], [[n, 0]] + [[0, 0]] * (len(a.shape) - 1))
tf.tensor_scatter_nd_update(a, [[n - 1]], a[:1])
tf.tensor_scatter_nd_add(a, [[0], [0]], tf.stack([a[0], a[-1]]))
tf.tensor_scatter_nd_max(a, [[0]], a[-1:])
tf.tensor_scatter_nd_sub(a, tf.reshape(tf.range(n), [n, 1]), a[:n])
tf.where(a > a[:1], a, a[:1])  tf.split(a, [1, -1], axis=0)[1]  tf.unstack(a, axis=-1)[0]
tf.repeat(a, n, axis=0)  tf.reshape(a, [-1, n])  tf.transpose(a)  a * a[..., :1]
tf.reduce_sum(a, 0)
tf.strided_slice(a, [n - 1], [9], [2])  tf.strided_slice(a, [0, -1], [2, -9], [1, -1])
tf.linalg.band_part(a, n - 1, n)  tf.cumsum(a[::-1])[::-1]  tf.math.top_k(a, 1).values
tf.sequence_mask(tf.range(n), 3)  tf.one_hot(tf.range(n), tf.shape(a)[0])
tf.tile(a[:1], [n] + [1] * (len(a.shape) - 1))
tf.meshgrid(tf.reshape(a, [-1])[:n], tf.range(2))[0]  tf.expand_dims(a[n:], n - 1)
"""),
)

#: Ends of dtypes: `{0}` and what it may be given.
EDGES = {
    "float": "[float('nan'), float('inf'), -float('inf'), -0.0, 0.0, 1e-40, 6e-8, 65504.0, -1.0]",
    "complex": "[complex('nan+1j'), complex('inf'), 0j, -0j, 1j, 1e-30, 1e15 + 1e15j, -1 + 0j]",
    "int": "[0, 1, 2, 7, 100, 127, 3, 5]",
}

WILD = Subject(
    [
        (f"tf.constant({EDGES['float']}, tf.{dtype})", "x")
        for dtype in ("float16", "bfloat16", "float32", "float64")
    ]
    + [
        (f"tf.constant({EDGES['complex']}, tf.{dtype})", "x")
        for dtype in ("complex64", "complex128")
    ]
    + [
        (
            f"tf.constant({EDGES['int'][:-1]}, tf.{dtype}.min, tf.{dtype}.max], tf.{dtype})",
            "x",
        )
        for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
    ]
    + [(f"tf.zeros([0, 2], tf.{dtype})", "x") for dtype in ("bfloat16", "complex128", "int64")],
    lines("""
a + a  a - x  a * a  a * x  -a  a / (x + 1)  a / a  a // 3  a % 5  a ** 2  abs(a)  tf.square(a)
tf.sqrt(a)  tf.math.rsqrt(a)  tf.exp(a)  tf.math.log(a)  tf.math.log1p(a)  tf.math.expm1(a)
tf.tanh(a)
tf.sin(a)  tf.sigmoid(a)  tf.sign(a)  tf.maximum(a, x)  tf.minimum(a, x[::-1])  tf.reduce_sum(a, 0)
tf.reduce_max(a)  tf.reduce_min(a, 0)  tf.reduce_prod(a)  tf.reduce_mean(a)  tf.cumsum(a)
tf.sort(a)
tf.cumsum(a, exclusive=True, reverse=True)  tf.math.cumprod(a)  tf.where(a > 0, a, x)  tf.argmax(a)
tf.where(a == a, a, tf.zeros_like(a))  tf.math.divide_no_nan(a, x)  tf.math.multiply_no_nan(a, x)
tf.math.xlogy(a, x)  tf.math.reduce_std(a)  tf.math.reduce_logsumexp(a)  tf.nn.softmax(a)
tf.nn.log_softmax(a)  tf.nn.relu(a)  tf.nn.elu(a)  tf.nn.softplus(a)  tf.clip_by_value(a, x, x)
tf.math.is_nan(a)  tf.math.is_finite(a)  tf.round(a)  tf.floor(a)  tf.math.real(a)  tf.math.conj(a)
tf.math.angle(a)  tf.cast(a, tf.float64)  tf.cast(a, tf.bfloat16)  tf.cast(a, tf.float16)
tf.cast(a, tf.complex128)  tf.cast(a, tf.int64)  tf.cast(a, tf.uint8)  tf.cast(a, tf.bool)
tf.saturate_cast(a, tf.int8)  tf.saturate_cast(a, tf.uint32)  tf.bitwise.invert(a)
tf.bitwise.left_shift(a, x % 3)  tf.bitwise.bitwise_xor(a, x)  tf.reverse(a, [0])
tf.concat([a, x], 0)
tf.gather(a, [0, 1, 1])  tf.unique(a).y  tf.math.unsorted_segment_max(a, [0] * len(x), 2)
tf.linalg.norm(a)  tf.tensordot(a, a, 1)  tf.einsum('i,j->ij', a, a)  tf.linalg.matvec(a[None], a)
tf.math.pow(a, x)  tf.math.floormod(a, x)  tf.math.truncatediv(a, x + 1)  tf.atan2(a, x)
tf.nn.l2_normalize(a)  tf.clip_by_norm(a, 1)  tf.math.squared_difference(a, x)  tf.math.erf(a)
tf.reduce_any(tf.cast(a, tf.bool))  tf.math.nextafter(a, x)  tf.math.top_k(a, 2).values
tf.stack([a, x])
"""),
    wild=True,
)

SUBJECTS = {
    "texts": TEXTS,
    "ragged": RAGGED,
    "sparse": SPARSE,
    "numpy": NUMPY,
    "slices": SLICES,
    "wild": WILD,
}
