"""SavedModels of functions that can do with some unknown sizes only."""

import functools

import numpy as np
import pytest

from tests.parity import saved_exchange, store
from tests.parity.saved_exchange import compare

pytestmark = pytest.mark.skipif(
    not store.installed(), reason="tensorflow, the oracle, is not installed"
)
exchange = saved_exchange.exchange


def _halved(tf, x):
    """What is made smaller twice and larger again, joined with what it was."""
    whole = x[..., None, None]
    half = tf.nn.max_pool2d(whole, [2, 1], [2, 1], "VALID")
    quarter = tf.nn.max_pool2d(half, [2, 1], [2, 1], "VALID")
    half = tf.concat([half, tf.repeat(quarter, 2, 1)], -1)
    return tf.concat([whole, tf.repeat(half, 2, 1)], -1)


def _odd(tf, x):
    half = tf.nn.max_pool1d(x[..., None], 2, 2, "VALID")
    return tf.pad(tf.repeat(half[..., 0], 2, 1), [[0, 0], [1, 0]]) + x


def test_multiples_of_unknown_sizes(exchange, tmp_path):
    writer, readers = exchange
    made = writer.Module()
    spec = writer.TensorSpec([None, None])
    for name, function in {"halved": _halved, "odd": _odd}.items():
        recorded = functools.partial(function, writer)
        setattr(made, name, writer.function(recorded, input_signature=[spec]))
    writer.saved_model.save(made, str(tmp_path))
    given = {size: np.arange(2.0 * size, dtype=np.float32).reshape(2, size) for size in range(9)}
    calls = {"halved": [[given[4]], [given[8]], [given[0]]], "odd": [[given[3]], [given[5]]]}
    compare(exchange, tmp_path, made, calls)
    for reader in readers:
        loaded = reader.saved_model.load(str(tmp_path))

        @reader.function(input_signature=[reader.TensorSpec([None, None])])
        def size(x, reader=reader, loaded=loaded):
            return reader.shape(loaded.halved(x))[1]

        assert int(size(reader.constant(given[8]))) == 8
        for function, x in ((loaded.halved, given[6]), (loaded.odd, given[4])):
            with pytest.raises(reader.errors.InvalidArgumentError):
                function(reader.constant(x))


def _scaled(tf, x, factors, offset):
    return tf.where(offset > 0.0, x * factors + offset, factors) - tf.reduce_mean(x * factors)


def test_unknown_sizes_that_broadcast(exchange, tmp_path):
    writer, readers = exchange
    made = writer.Module()
    specs = [writer.TensorSpec([None, None]), writer.TensorSpec([None, None])]
    specs.append(writer.TensorSpec([None]))
    recorded = functools.partial(_scaled, writer)
    made.scaled = writer.function(recorded, input_signature=specs)
    writer.saved_model.save(made, str(tmp_path))
    shapes = [[(3, 4), (3, 4), 4], [(3, 1), (1, 4), 4], [(3, 4), (1, 1), 1], [(0, 4), (0, 1), 4]]
    calls = [
        [np.cos(np.arange(np.prod(s), dtype=np.float32).reshape(s)) for s in three]
        for three in shapes
    ]
    compare(exchange, tmp_path, made, {"scaled": calls})
    for reader in readers:
        loaded = reader.saved_model.load(str(tmp_path))
        with pytest.raises(reader.errors.InvalidArgumentError):
            loaded.scaled(reader.ones([2, 4]), reader.ones([4, 4]), reader.ones([4]))


_OF_SOME_SIZES = {
    "stacked": lambda tf, x, y: tf.stack([x, y]),
    "loss": lambda tf, x, y: tf.nn.softmax_cross_entropy_with_logits(x, y),
    "parts": lambda tf, x, y: tf.add_n(tf.split(x, 2, 1)),
    "mirrored": lambda tf, x, y: tf.pad(
        tf.pad(x, [[0, 0], [2, 1]], "REFLECT"), [[1, 1]] * 2, "SYMMETRIC"
    ),
    "sliced": lambda tf, x, y: tf.slice(x, [1, 1], [-1, 2]) + tf.slice(y, [0, 2], [1, 2]),
    "diagonals": lambda tf, x, y: (tf.linalg.diag_part(x), tf.linalg.diag_part(x, k=-1)),
    "columns": lambda tf, x, y: x[:, 1] * y[1, -2],
    "squeezed": lambda tf, x, y: tf.squeeze(tf.boolean_mask(x, x[:, 1] < -0.1), 0),
    "solved": lambda tf, x, y: tf.linalg.triangular_solve(x, y),
    "spread": lambda tf, x, y: tf.broadcast_to(x, tf.concat([[2], tf.shape(y)], 0)),
    "spread_to_known": lambda tf, x, y: tf.broadcast_to(x[:1, :1], [3, 4]),
    "counts": lambda tf, x, y: tf.histogram_fixed_width(x, y[0, :2], 4),
}


def test_what_ops_can_do_with_some_sizes_only(exchange, tmp_path):
    writer, readers = exchange
    made = writer.Module()
    specs = [writer.TensorSpec([None, None])] * 2
    for name, function in _OF_SOME_SIZES.items():
        recorded = functools.partial(function, writer)
        setattr(made, name, writer.function(recorded, input_signature=specs))
    writer.saved_model.save(made, str(tmp_path))
    shapes = [(2, 4), (3, 6)]
    x, y = (
        [np.linspace(low, 1.0, n * m, dtype=np.float32).reshape(n, m) for n, m in shapes]
        for low in (-0.5, -1.0)
    )
    calls = {name: list(zip(x, y)) for name in _OF_SOME_SIZES}
    calls["solved"] = [(np.float32([[2.0]]), np.float32([[3.0]])), (x[1][:, :3] + 1.0, y[1][:, :3])]
    compare(exchange, tmp_path, made, calls)
    narrow = [np.ones([2, 2], np.float32)] * 2
    for reader in readers:
        loaded = reader.saved_model.load(str(tmp_path))
        with pytest.raises(reader.errors.InvalidArgumentError):
            loaded.mirrored(*map(reader.constant, narrow))


def _of_matrices(tf, x):
    square = tf.matmul(x, x, transpose_a=True)
    values, vectors = tf.linalg.eigh(square)
    return {
        "inverse": tf.linalg.inv(square) * tf.linalg.det(square),
        "values": values + tf.linalg.svd(square, compute_uv=False),
        "vectors": tf.abs(vectors),
        "pivots": tf.linalg.lu(square).p,
        "least": tf.linalg.lstsq(x, x[:, :1], 0.1),
        "complex": tf.sort(tf.math.real(tf.linalg.eigvals(square))),
    }


_BY_KERNELS = {
    "spectrum": lambda tf, x: (tf.abs(tf.signal.rfft(x)), tf.signal.irfft2d(tf.signal.rfft2d(x))),
    "transformed": lambda tf, x: tf.signal.fft(tf.complex(x, 2.0 * x)) / tf.complex(2.0, 1.0),
    "running": lambda tf, x: (
        tf.math.cumprod(x, 1, exclusive=True) + tf.math.cumulative_logsumexp(x, 0, reverse=True)
    ),
    "products": lambda tf, x: (tf.reduce_prod(x), tf.reduce_prod(x * 2.0, [1], keepdims=True)),
    "matrices": _of_matrices,
}


def test_kernels_where_programs_need_known_sizes(exchange, tmp_path):
    writer, _ = exchange
    made, specs = writer.Module(), [writer.TensorSpec([None] * 2)]
    for name, function in _BY_KERNELS.items():
        recorded = functools.partial(function, writer)
        setattr(made, name, writer.function(recorded, input_signature=specs))
    writer.saved_model.save(made, str(tmp_path))
    shapes = (4, 2), (5, 4)
    given = [[np.cos(np.arange(n * m, dtype=np.float32) ** 2).reshape(n, m)] for n, m in shapes]
    empty = [np.ones([0, 3], np.float32)]
    calls = dict.fromkeys(_BY_KERNELS, given)
    compare(exchange, tmp_path, made, calls | {"products": [*given, empty], "running": given[:1]})


def test_words_beside_numbers_of_one_batch(exchange, tmp_path):
    """How many rows of words there are a step tells, and the batch of codes is in no array."""
    writer, _ = exchange
    made, string = writer.Module(), writer.string
    specs = [writer.TensorSpec([None, 1]), writer.TensorSpec([None], string)]

    @writer.function(input_signature=[*specs, writer.TensorSpec([None], writer.int32)])
    def features(x, words, codes):
        rows = writer.strings.split(words).to_tensor("")
        return writer.concat([x, writer.cast(rows == "a", x.dtype), writer.one_hot(codes, 3)], 1)

    made.features = features
    writer.saved_model.save(made, str(tmp_path))
    given = np.ones([3, 1], np.float32), ["a b", "c", ""], np.int32([0, 2, 1])
    compare(exchange, tmp_path, made, {"features": [given, [x[1:] for x in given]]})
