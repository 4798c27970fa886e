"""Connectionist temporal classification against all paths, fake quantization, sound."""

import itertools

import numpy as np
import pytest

import tape_compat as tf

LOGITS = np.random.default_rng(2).normal(size=(4, 2, 3)).astype(np.float32)
LABELS, LENGTHS, TIMES = np.int32([[1, 2], [1, 0]]), np.int32([2, 1]), np.int32([4, 3])


def merged(path, blank=0):
    return tuple(k for k, _ in itertools.groupby(path) if k != blank)


def paths(row, blank=0):
    """The probability of each sequence of labels, by all paths through `row` [time, classes]."""
    shares = np.exp(row) / np.exp(row).sum(1, keepdims=True)
    found = {}
    for path in itertools.product(range(row.shape[1]), repeat=len(row)):
        labels = merged(path, blank)
        share = np.prod([s[k] for s, k in zip(shares, path, strict=True)])
        found[labels] = found.get(labels, 0) + share
    return found


def test_loss_is_that_of_all_paths():
    loss = tf.nn.ctc_loss(LABELS, LOGITS, LENGTHS, TIMES)
    expected = [paths(LOGITS[:, 0])[1, 2], paths(LOGITS[:3, 1])[(1,)]]
    np.testing.assert_allclose(loss, -np.log(expected), rtol=1e-5)


def test_gradient_is_that_of_differences():
    x = tf.Variable(LOGITS)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.nn.ctc_loss(LABELS, x, LENGTHS, TIMES) * [1.0, 2.0])
    gradient = tape.gradient(loss, x).numpy()
    way = np.random.default_rng(3).normal(size=LOGITS.shape).astype(np.float32)
    ends = [
        float(tf.reduce_sum(tf.nn.ctc_loss(LABELS, x, LENGTHS, TIMES) * [1.0, 2.0]))
        for x in (LOGITS + 0.01 * way, LOGITS - 0.01 * way)
    ]
    np.testing.assert_allclose((gradient * way).sum(), (ends[0] - ends[1]) / 0.02, rtol=2e-3)
    assert (gradient[3, 1] == 0).all()


def test_loss_of_any_batch():
    @tf.function(
        input_signature=[
            tf.TensorSpec([None, None, 3], tf.float32),
            tf.TensorSpec([None, None], tf.int32),
            tf.TensorSpec([None], tf.int32),
            tf.TensorSpec([None], tf.int32),
        ]
    )
    def loss(logits, labels, lengths, times):
        return tf.nn.ctc_loss(labels, logits, lengths, times, False, blank_index=-1)

    args = np.swapaxes(LOGITS, 0, 1), LABELS % 2, LENGTHS, TIMES
    expected = tf.nn.ctc_loss(args[1], args[0], LENGTHS, TIMES, False, blank_index=2)
    np.testing.assert_allclose(loss(*args), expected, rtol=1e-5)


def test_too_little_time_for_sparse_labels():
    """Dense labels have a large loss instead, as has a function, which cannot raise."""
    labels = tf.sparse.from_dense(LABELS)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Not enough time for target"):
        tf.nn.ctc_loss(labels, LOGITS, None, [1, 3], blank_index=0)
    assert float(tf.nn.ctc_loss(LABELS, LOGITS, LENGTHS, [1, 3])[0]) > 700


def test_a_wide_beam_finds_the_best_labels():
    for time in (2, 4):
        decoded, scores = tf.nn.ctc_beam_search_decoder(LOGITS, [time, 3], 50, top_paths=3)
        expected = sorted(paths(LOGITS[:time, 0], blank=2).items(), key=lambda item: -item[1])
        for k in range(3):
            labels = tuple(tf.sparse.to_dense(decoded[k], -1).numpy()[0].tolist())
            assert tuple(x for x in labels if x >= 0) == expected[k][0]
            np.testing.assert_allclose(scores[0, k], np.log(expected[k][1]), rtol=1e-4)


def test_greedy_labels():
    (decoded,), costs = tf.nn.ctc_greedy_decoder(LOGITS, TIMES, blank_index=0)
    for i, time in enumerate(TIMES):
        best = merged(LOGITS[:time, i].argmax(1))
        row = [v for (r, _), v in zip(decoded.indices.numpy(), decoded.values.numpy()) if r == i]
        assert tuple(row) == best
        np.testing.assert_allclose(costs[i, 0], -LOGITS[:time, i].max(1).sum(), rtol=1e-6)


def test_decoders_in_a_function():
    """The host does them; the function is recorded once."""
    runs = []

    @tf.function
    def decode(x):
        runs.append(1)
        (labels,), costs = tf.nn.ctc_greedy_decoder(2.0 * x, TIMES)
        return tf.sparse.to_dense(labels, default_value=-1), costs

    for factor in (1, -2, 3):
        (labels,), costs = tf.nn.ctc_greedy_decoder(2.0 * factor * LOGITS, TIMES)
        found = decode(tf.constant(factor * LOGITS))
        np.testing.assert_array_equal(found[0], tf.sparse.to_dense(labels, default_value=-1))
        np.testing.assert_array_equal(found[1], costs)
    assert len(runs) == 1


def test_fake_quantization():
    x = tf.Variable([-9.0, -0.3, 0.26, 2.0])
    with tf.GradientTape() as tape:
        y = tf.quantization.fake_quant_with_min_max_vars(x, -0.75, 1.0, num_bits=3)
    np.testing.assert_allclose(y, [-0.75, -0.25, 0.25, 1.0])
    assert tape.gradient(y, x).numpy().tolist() == [0.0, 1.0, 1.0, 0.0]
    low, high = tf.Variable(-0.75), tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = tf.quantization.fake_quant_with_min_max_vars(x, low, high, num_bits=3)
    assert [float(g) for g in tape.gradient(y, [low, high])] == [1.0, 1.0]


def test_sound_there_and_back():
    wave = np.float32([[0.5, -0.25], [-1.0, 0.0]])
    found = tf.audio.decode_wav(tf.audio.encode_wav(wave, 44100))
    np.testing.assert_array_equal(found.audio, wave)
    assert int(found.sample_rate) == 44100 and found.sample_rate.dtype is tf.int32
