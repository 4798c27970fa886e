"""`tf.nn` and clipping: what the table of ops does not say."""

import numpy as np
import pytest

import tape_compat as tf

INVALID = tf.errors.InvalidArgumentError
INF, NAN = np.inf, np.nan


def gradient(function, *values):
    inputs = [tf.constant(np.asarray(v, np.float32)) for v in values]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        result = function(*inputs)
    found = tape.gradient(result, inputs)
    return [None if g is None else g.numpy().tolist() for g in found]


# -- activations -----------------------------------------------------------------------------------


def test_swish_has_a_gradient_by_beta():
    x, beta = tf.constant([1.0, -2.0]), tf.Variable(1.5)
    with tf.GradientTape() as tape:
        y = tf.nn.silu(x, beta)
    s = 1 / (1 + np.exp(-1.5 * x.numpy()))
    expected = np.sum(x.numpy() ** 2 * s * (1 - s))
    np.testing.assert_allclose(tape.gradient(y, beta).numpy(), expected, rtol=1e-5)


def test_leaky_relu_of_integers():
    y = tf.nn.leaky_relu([-1, 2])
    assert y.dtype is tf.float32 and y.numpy().tolist() == [-np.float32(0.2), 2.0]


@pytest.mark.parametrize("function", [tf.nn.relu, tf.nn.relu6])
def test_an_infinite_gradient_ends_at_a_relu_that_is_zero(function):
    """As with TensorFlow's `jit_compile=True`; its kernels multiply, which is NaN."""
    x = tf.constant([0.0, -1.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sqrt(function(x))
    assert tape.gradient(y, x).numpy().tolist() == [0.0, 0.0, 0.25]


def test_crelu_axis():
    assert tf.nn.crelu(tf.ones([2, 3]), axis=0).shape == (4, 3)


# -- losses ----------------------------------------------------------------------------------------


def test_cross_entropy_is_stable():
    loss = tf.nn.softmax_cross_entropy_with_logits([[0.0, 1.0]], [[1000.0, -1000.0]])
    assert loss.numpy().tolist() == [2000.0]
    sparse = tf.nn.sparse_softmax_cross_entropy_with_logits([1], [[1000.0, -1000.0]])
    assert sparse.numpy().tolist() == [2000.0]


def test_cross_entropy_takes_integer_labels_and_axes():
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])
    whole = tf.nn.softmax_cross_entropy_with_logits([[1, 0, 0]], x)
    np.testing.assert_allclose(whole.numpy(), [2.407606, 3.169846], rtol=1e-5)
    across = tf.nn.softmax_cross_entropy_with_logits([[1.0, 0, 0], [0, 1, 0]], x, axis=0)
    np.testing.assert_allclose(across.numpy(), [3.0485873, 0.0485873, 0.0], rtol=1e-5)


def test_cross_entropy_gradient_of_labels_that_do_not_sum_to_one():
    """TF's gradient by the logits is softmax - labels whatever the labels."""
    found = gradient(
        lambda x: tf.nn.softmax_cross_entropy_with_logits([[2.0, 0.0]], x), [[0.0, 0.0]]
    )
    assert found == [[[-1.5, 0.5]]]


def test_cross_entropy_in_half_precision():
    for name in ("float16", "bfloat16"):
        x = tf.constant([[1.0, 2.0, 3.0]], tf.as_dtype(name))
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits([0], x)
        assert loss.dtype.name == name
        np.testing.assert_allclose(np.float32(loss.numpy()), [2.4076], rtol=1e-2)


def test_label_out_of_range_that_is_computed_is_nan():
    def losses(labels):
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, tf.zeros([3, 3]))

    found = tf.function(losses)(tf.constant([0, 3, -1]))
    np.testing.assert_array_equal(np.isnan(found.numpy()), [False, True, True])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Received a label value of 3 which"):
        losses([0, 3, -1])


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: tf.nn.softmax(1.0), INVALID, "logits must have >= 1 dimension"),
        (lambda: tf.nn.softmax([1.0], axis=3), INVALID, "`dim` must be in the range"),
        (lambda: tf.nn.softmax([1]), INVALID, "Value for attr 'T' of int32"),
        (lambda: tf.nn.softmax_cross_entropy_with_logits(tf.ones([2, 4]), tf.ones([2, 3])),
         INVALID, r"logits and labels must be broadcastable: logits_size=\[2,3\] labels_size="),
        (lambda: tf.nn.sparse_softmax_cross_entropy_with_logits([[0]], tf.ones([1, 3])),
         ValueError, r"`labels.shape.rank` must equal `logits.shape.rank - 1`"),
        (lambda: tf.nn.sparse_softmax_cross_entropy_with_logits([0, 1], tf.ones([1, 3])),
         ValueError, r"`labels.shape` must equal `logits.shape` except"),
        (lambda: tf.nn.sparse_softmax_cross_entropy_with_logits([0.0], tf.ones([1, 3])),
         INVALID, "Value for attr 'Tlabels' of float"),
        (lambda: tf.nn.sigmoid_cross_entropy_with_logits([1.0], [1.0, 2.0]),
         ValueError, "`logits` and `labels` must have the same shape, received"),
        (lambda: tf.nn.sigmoid_cross_entropy_with_logits(None, [1.0]),
         ValueError, "Both `labels` and `logits` must be provided"),
        (lambda: tf.nn.bias_add(tf.ones([2, 3]), tf.ones([2])),
         INVALID, "Must provide as many biases as the last dimension"),
        (lambda: tf.nn.bias_add(tf.ones([2, 3]), tf.ones([3]), data_format="X"),
         ValueError, "`data_format` must be of the form"),
        (lambda: tf.nn.moments(tf.ones([2]), [3]), INVALID, r"Invalid reduction dimension \(3"),
        (lambda: tf.nn.gelu(1), ValueError, "`features.dtype` must be a floating point tensor"),
        (lambda: tf.nn.dropout(tf.ones([2]), 1.0), ValueError, "`rate` must be a scalar tensor or"),
        (lambda: tf.nn.dropout([1, 2], 0.5), ValueError, "`x.dtype` must be a floating point"),
        (lambda: tf.nn.dropout(tf.ones([2]), "a"), ValueError, "`rate` must be a scalar or scalar"),
        (lambda: tf.nn.embedding_lookup(None, [0]), ValueError, "params must be specified"),
        (lambda: tf.nn.conv2d(tf.ones([1, 4, 4, 2]), tf.ones([3, 3, 3, 1]), 1, "SAME"),
         INVALID, "input depth must be evenly divisible by filter depth: 2 vs 3"),
        (lambda: tf.nn.conv2d(tf.ones([1, 4, 4, 2]), tf.ones([3, 3]), 1, "SAME"),
         INVALID, "convolution filter must be 4-dimensional"),
        (lambda: tf.nn.conv2d(tf.ones([1, 4, 4, 2]), tf.ones([3, 3, 2, 1]), 1, "FOO"),
         INVALID, "Value for attr 'padding' of \"FOO\""),
        (lambda: tf.nn.conv2d(tf.ones([1, 4, 4, 2]), tf.ones([3, 3, 2, 1]), [1, 2, 3], "SAME"),
         ValueError, "strides should be of length 1, 2 or 4"),
        (lambda: tf.nn.conv2d(tf.ones([1, 4, 4, 2]), tf.ones([3, 3, 2, 1]), [2, 1, 1, 1], "SAME"),
         tf.errors.UnimplementedError, "Current implementation does not yet support strides"),
        (lambda: tf.nn.max_pool(tf.ones([2, 3]), 2, 2, "VALID"),
         ValueError, "`input.shape.rank` must be 3, 4 or 5"),
        (lambda: tf.clip_by_value(tf.ones([2]), tf.ones([3]), 2.0), INVALID, "Incompatible shapes"),
        (lambda: tf.clip_by_global_norm(tf.ones([2]), 2.0), TypeError, "`t_list` should be a seq"),
        (lambda: tf.clip_by_global_norm([tf.constant(1)], 2.0), INVALID, "Value for attr 'T' of"),
    ],
)  # fmt: skip
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()


# -- normalization ---------------------------------------------------------------------------------


def test_moments_keepdims_and_dtypes():
    x = tf.constant([[1.0, 2.0], [3.0, 6.0]])
    mean, variance = tf.nn.moments(x, [0, 1], keepdims=True)
    assert mean.numpy().tolist() == [[3.0]] and variance.numpy().tolist() == [[3.5]]
    assert [int(m) for m in tf.nn.moments(tf.constant([1, 2, 4]), [0])] == [2, 1]
    assert {m.dtype for m in tf.nn.moments(tf.cast(x, tf.float16), [0])} == {tf.float16}


def test_batch_normalization_without_scale_or_offset():
    x = tf.constant([[1.0, 3.0]])
    y = tf.nn.batch_normalization(x, tf.constant([0.0, 1.0]), tf.ones([2]), None, None, 0.0)
    assert y.numpy().tolist() == [[1.0, 2.0]]


def test_bias_add_channels_first():
    y = tf.nn.bias_add(tf.zeros([1, 2, 3]), [1.0, 2.0], data_format="NCW")
    assert y.numpy().tolist() == [[[1.0] * 3, [2.0] * 3]]


# -- dropout and embeddings ------------------------------------------------------------------------


def test_dropout_scales_what_it_keeps():
    x = tf.ones([1000])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.dropout(x, 0.25, seed=3)
    kept = y.numpy()
    np.testing.assert_allclose(np.unique(kept), [0.0, 4 / 3], rtol=1e-6)
    assert 650 < np.count_nonzero(kept) < 850
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), kept)


def test_dropout_noise_shape():
    y = tf.nn.dropout(tf.ones([5, 20]), 0.5, noise_shape=[None, 1], seed=1).numpy()
    assert (y == y[:, :1]).all()
    with pytest.raises(INVALID, match="must be broadcastable"):
        tf.nn.dropout(tf.ones([2]), 0.5, noise_shape=[3])


def test_dropout_of_nothing():
    x = tf.ones([3])
    assert tf.nn.dropout(x, 0).numpy().tolist() == [1.0] * 3
    assert gradient(lambda x: tf.nn.dropout(x, 0.0), [1.0, 2.0]) == [[1.0, 1.0]]


def test_embedding_gradient_is_sparse():
    table = tf.Variable(tf.ones([1000, 4]))
    with tf.GradientTape() as tape:
        rows = tf.nn.embedding_lookup(table, [[3, 5], [3, 7]])
        loss = tf.reduce_sum(rows)
    found = tape.gradient(loss, table)
    assert isinstance(found, tf.IndexedSlices)
    assert found.indices.numpy().ravel().tolist() == [3, 5, 3, 7]
    assert found.values.shape == (4, 4)


def test_embedding_of_several_tables_and_max_norm():
    x = tf.constant([[3.0, 4.0], [0.3, 0.4]])
    assert tf.nn.embedding_lookup([x, x + 1.0], [2]).numpy().tolist() == [[4.0, 5.0]]
    clipped = tf.nn.embedding_lookup(x, [[0], [1]], max_norm=1.0)
    np.testing.assert_allclose(clipped.numpy(), [[[0.6, 0.8]], [[0.3, 0.4]]], rtol=1e-6)


# -- convolution and pooling -----------------------------------------------------------------------


def test_convolution_formats_agree():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 6, 5, 4)).astype(np.float32)
    f = rng.normal(size=(3, 2, 2, 6)).astype(np.float32)  # two groups
    last = tf.nn.conv2d(x, f, [1, 2, 1, 1], "SAME").numpy()
    first = tf.nn.conv2d(x.transpose(0, 3, 1, 2), f, [1, 1, 2, 1], "SAME", data_format="NCHW")
    np.testing.assert_allclose(last, first.numpy().transpose(0, 2, 3, 1), rtol=1e-5, atol=1e-5)


def test_convolution_with_explicit_padding():
    x, f = tf.ones([1, 5, 5, 1]), tf.ones([3, 3, 1, 1])
    padded = tf.nn.conv2d(x, f, 1, [[0, 0], [1, 1], [2, 2], [0, 0]])
    assert padded.shape == (1, 5, 7, 1)
    same = tf.nn.conv2d(x, f, 1, [[0, 0], [1, 1], [1, 1], [0, 0]])
    np.testing.assert_array_equal(same.numpy(), tf.nn.conv2d(x, f, 1, "SAME").numpy())


def test_convolution_with_more_batch_dimensions():
    assert tf.nn.conv2d(tf.ones([2, 3, 4, 4, 1]), tf.ones([2, 2, 1, 5]), 2, "SAME").shape == (
        2, 3, 2, 2, 5,
    )  # fmt: skip


def test_convolution_smaller_than_its_window():
    assert tf.nn.conv2d(tf.ones([1, 2, 2, 1]), tf.ones([3, 3, 1, 1]), 1, "VALID").shape == (
        1, 0, 0, 1,
    )  # fmt: skip


def test_max_pool_sends_a_tie_to_the_first():
    x = np.zeros((1, 2, 2, 1))
    found = gradient(lambda x: tf.nn.max_pool(x, 2, 2, "VALID"), x)[0]
    assert np.ravel(found).tolist() == [1.0, 0.0, 0.0, 0.0]


def test_pools_leave_out_the_rest():
    x = tf.reshape(tf.range(25.0), [1, 5, 5, 1])
    assert tf.nn.max_pool(x, 2, 2, "VALID").numpy().ravel().tolist() == [6.0, 8.0, 16.0, 18.0]
    assert tf.nn.avg_pool(x, 2, 2, "VALID").numpy().ravel().tolist() == [3.0, 5.0, 13.0, 15.0]
    assert tf.nn.avg_pool(x, 2, 2, "SAME").numpy()[0, 2, 2, 0] == 24.0
    assert tf.nn.max_pool(tf.ones([1, 4, 4, 1], tf.int32), 2, 2, "VALID").dtype is tf.int32


# -- clipping --------------------------------------------------------------------------------------


def test_clip_by_value_gradients():
    values = [-1.0, 0.0, 0.5, 1.0, 2.0]
    assert gradient(lambda x: tf.clip_by_value(x, 0.0, 1.0), values) == [[0.0, 1.0, 1.0, 1.0, 0.0]]
    assert gradient(lambda a, b: tf.clip_by_value([-1.0, 2.0], a, b), 0.0, 1.0) == [1.0, 1.0]
    assert tf.clip_by_value([1.0, 5.0], 3.0, 2.0).numpy().tolist() == [3.0, 3.0]


def test_clip_by_norm():
    assert tf.clip_by_norm([0.0, 0.0], 1.0).numpy().tolist() == [0.0, 0.0]
    assert gradient(lambda x: tf.clip_by_norm(x, 1.0), [0.0, 0.0]) == [[1.0, 1.0]]


def test_clip_by_global_norm():
    tensors = [tf.constant([3.0, 4.0]), None, tf.constant(12.0)]
    clipped, norm = tf.clip_by_global_norm(tensors, 6.5)
    assert [None if c is None else c.numpy().tolist() for c in clipped] == [[1.5, 2.0], None, 6.0]
    assert float(norm) == 13.0
    kept, _ = tf.clip_by_global_norm([tf.constant([3.0, 4.0])], 10.0)
    np.testing.assert_allclose(kept[0].numpy(), [3.0, 4.0], rtol=1e-6)
    given, norm = tf.clip_by_global_norm([tf.constant([3.0])], 1.0, use_norm=tf.constant(10.0))
    np.testing.assert_allclose(given[0].numpy(), [0.3], rtol=1e-6)
    assert float(norm) == 10.0
    assert np.isnan(tf.clip_by_global_norm([tf.constant([INF])], 1.0)[0][0].numpy()).all()
    assert tf.clip_by_global_norm([None], 1.0)[0] == [None]


def test_clipping_keeps_slices_sparse():
    slices = tf.IndexedSlices(tf.constant([[3.0, 4.0]]), tf.constant([1]), tf.constant([5, 2]))
    (whole,), norm = tf.clip_by_global_norm([slices], 1.0)
    assert isinstance(whole, tf.IndexedSlices) and float(norm) == 5.0
    for clipped in (tf.clip_by_norm(slices, 1.0), whole):
        np.testing.assert_allclose(clipped.values.numpy(), [[0.6, 0.8]], rtol=1e-6)
    assert tf.clip_by_value(slices, 0.0, 3.5).values.numpy().tolist() == [[3.0, 3.5]]
