"""Candidate samplers and the losses over sampled classes."""

import numpy as np

from .harness import attempt

NEEDS = ("random.uniform_candidate_sampler", "nn.sampled_softmax_loss")

TRUE = np.array([[1], [5]])
FIXED = {"unigrams": [1.0, 2.0, 3.0, 4.0, 0.0, 10.0]}


def refused(call):
    """What a call raises; TensorFlow's texts begin with names of its kernels."""
    return attempt(call, words=0)


def case_expected_counts(tf):
    r, given = tf.random, (TRUE, 1, 4, False)
    return (
        r.uniform_candidate_sampler(*given, 10)[1:],
        r.log_uniform_candidate_sampler(*given, 10)[1],
        r.fixed_unigram_candidate_sampler(*given, 6, **FIXED)[1],
        r.fixed_unigram_candidate_sampler(*given, 6, distortion=0.5, **FIXED)[1],
        r.fixed_unigram_candidate_sampler(*given, 6, num_reserved_ids=2, unigrams=[1.0] * 4)[1],
        r.fixed_unigram_candidate_sampler(
            [[1], [2]], 1, 4, False, 3, num_shards=2, shard=1, **FIXED
        )[1],
        r.all_candidate_sampler(TRUE, 1, 6, True),
    )


def case_all_of_a_range(tf):
    """Unique candidates that are all that there are."""
    r, given = tf.random, (TRUE, 1, 10, True, 10)
    found = [
        r.uniform_candidate_sampler(*given)[0],
        r.log_uniform_candidate_sampler(*given)[0],
        r.learned_unigram_candidate_sampler(*given)[0],
        r.fixed_unigram_candidate_sampler(*given, unigrams=[1.0] * 10)[0],
    ]
    return [tf.sort(x) for x in found]


def case_refused(tf):
    r = tf.random
    return [
        refused(lambda: r.uniform_candidate_sampler(TRUE, 1, 11, True, 10)),
        refused(lambda: r.uniform_candidate_sampler(tf.constant([[1]]), 1, 4, False, 10)),
        refused(lambda: r.uniform_candidate_sampler(TRUE, 2, 4, False, 10)),
        refused(lambda: r.uniform_candidate_sampler(TRUE[0], 1, 4, False, 10)),
        refused(lambda: r.log_uniform_candidate_sampler(TRUE, 1, 4, False, 3)),
        refused(lambda: r.fixed_unigram_candidate_sampler(TRUE, 1, 4, False, 9, **FIXED)),
        refused(lambda: r.fixed_unigram_candidate_sampler(TRUE, 1, 4, False, 9)),
        refused(lambda: r.all_candidate_sampler(TRUE, 1, 4, True)),
    ]


def case_accidental_hits(tf):
    find = tf.nn.compute_accidental_hits
    true, sampled = tf.constant([[1, 2], [5, 1]], tf.int64), tf.constant([5, 1, 7, 1], tf.int64)
    return (
        find(true, sampled, 2),
        find(true, tf.constant([3], tf.int64), 2),
        refused(lambda: find(true, sampled, 1)),
    )


def _model(tf):
    r = np.random.RandomState(0)
    given = [tf.constant(r.randn(*s).astype("f")) for s in ((10, 3), (10,), (2, 3))]
    often = tf.constant([0.1, 0.2, 0.3, 0.4])
    sampled = tf.constant([5, 1, 7, 1], tf.int64)
    one = sampled, tf.constant([[0.5], [0.3]]), often
    two = sampled, tf.constant([[0.5, 0.1], [0.3, 0.2]]), often
    return *given, one, two


def case_losses(tf):
    w, b, x, one, two = _model(tf)
    softmax, nce = tf.nn.sampled_softmax_loss, tf.nn.nce_loss
    several, twice = tf.constant([[1, 2], [5, 1]]), tf.constant([[7, 7], [5, 1]])

    @tf.function
    def recorded(x):
        return softmax(w, b, TRUE, x, 4, 10, sampled_values=one)

    return (
        softmax(w, b, TRUE, x, 4, 10, sampled_values=one),
        softmax(w, b, TRUE, x, 4, 10, sampled_values=one, remove_accidental_hits=False),
        softmax(w, b, several, x, 4, 10, 2, sampled_values=two),
        nce(w, b, TRUE, x, 4, 10, sampled_values=one),
        nce(w, b, several, x, 4, 10, 2, sampled_values=two, remove_accidental_hits=True),
        softmax(w, b, twice, x, 4, 10, 2, sampled_values=two),
        nce(w, b, twice, x, 4, 10, 2, sampled_values=two, remove_accidental_hits=True),
        nce([w[:5], w[5:]], b, TRUE, x, 4, 10, sampled_values=one),
        recorded(x),
        softmax(w, b, TRUE, x, 4, 10).shape,
        nce(w, b, TRUE, x, 10, 10).shape,
        refused(lambda: softmax(w, b, TRUE[:, 0], x, 4, 10, sampled_values=one)),
    )


def case_gradients(tf):
    w, b, x, one, _ = _model(tf)
    found = []
    for loss in (tf.nn.sampled_softmax_loss, tf.nn.nce_loss):
        with tf.GradientTape() as tape:
            tape.watch([w, b, x])
            y = loss(w, b, TRUE, x, 4, 10, sampled_values=one)
        found.append([tf.convert_to_tensor(g) for g in tape.gradient(y, [w, b, x])])
    return found
