"""Training steps recorded once for every batch size, against the same steps recorded for each."""

import numpy as np
import pytest

import tape_compat as tf


class Weights:
    """Variables by name, made when first asked for, the same ones each time."""

    def __init__(self):
        self.made = {}

    def __call__(self, name, *shape):
        if name not in self.made:
            seed = sum(map(ord, name))
            value = np.random.default_rng(seed).normal(size=shape).astype(np.float32) * 0.3
            self.made[name] = tf.Variable(value)
        return self.made[name]


def gradient_step(weights, loss, tape, rate=0.1):
    variables = list(weights.made.values())
    for v, g in zip(variables, tape.gradient(loss, variables), strict=True):
        if g is not None:
            v.assign_sub(rate * g)
    return loss


def dense(w, x, y):
    with tf.GradientTape() as tape:
        hidden = tf.nn.relu(x @ w("a", 4, 8) + w("b", 8))
        logits = hidden @ w("c", 8, 3)
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(tf.one_hot(y, 3), logits))
    return gradient_step(w, loss, tape)


def sparse_loss(w, x, y):
    with tf.GradientTape() as tape:
        logits = x @ w("a", 4, 3)
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits)
        loss = tf.reduce_sum(each) / tf.cast(tf.shape(x)[0], tf.float32)
    right = tf.equal(tf.argmax(logits, 1, tf.int32), y)
    accuracy = tf.reduce_mean(tf.cast(right, tf.float32))
    return gradient_step(w, loss, tape), accuracy


def averaged(w, x, y):
    with tf.GradientTape() as tape:
        each = tf.reduce_sum((x @ w("a", 4, 2)) ** 2, 1)
        loss = tf.nn.compute_average_loss(each)
        loss += 0.01 * tf.nn.l2_loss(w("a", 4, 2))
    return gradient_step(w, loss, tape)


def convolution(w, x, y):
    image = tf.reshape(tf.tile(x, [1, 16]), [-1, 8, 8, 1])
    with tf.GradientTape() as tape:
        hidden = tf.nn.relu(tf.nn.conv2d(image, w("k", 3, 3, 1, 4), 1, "SAME") + w("b", 4))
        hidden = tf.nn.max_pool2d(hidden, 2, 2, "VALID")
        hidden = tf.nn.avg_pool2d(hidden, 2, 2, "SAME")
        flat = tf.reshape(hidden, [tf.shape(hidden)[0], -1])
        logits = flat @ w("c", 16, 3)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
    return gradient_step(w, loss, tape), logits


def batch_norm(w, x, y):
    with tf.GradientTape() as tape:
        hidden = x @ w("a", 4, 5)
        mean, variance = tf.nn.moments(hidden, [0])
        hidden = tf.nn.batch_normalization(hidden, mean, variance, w("o", 5), w("s", 5), 1e-3)
        centred = hidden - tf.reduce_mean(hidden, 0, keepdims=True)
        loss = tf.reduce_sum(centred**2) / tf.cast(tf.size(centred), tf.float32)
    moving = w("moving", 5)
    moving.assign(0.9 * moving + 0.1 * mean)
    return gradient_step(w, loss, tape)


def attention(w, x, y):
    n = tf.shape(x)[0]
    with tf.GradientTape() as tape:
        steps = tf.reshape(tf.repeat(x, 6, axis=0), [n, 6, 4]) + w("p", 6, 4)
        q, k, v = (
            tf.transpose(tf.reshape(steps @ w(name, 4, 4), [n, 6, 2, 2]), [0, 2, 1, 3])
            for name in "qkv"
        )
        scores = tf.matmul(q, k, transpose_b=True) / tf.sqrt(2.0)
        lengths = tf.minimum(y + 2, 6)
        mask = tf.sequence_mask(lengths, 6)[:, None, None, :]
        scores = tf.where(mask, scores, -1e9)
        mixed = tf.nn.softmax(scores) @ v
        out = tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [-1, 6, 4])
        causal = tf.linalg.band_part(tf.ones([n, n]), -1, 0)
        loss = tf.reduce_mean(out**2) + tf.reduce_sum(causal @ x) * 1e-3
    return gradient_step(w, loss, tape), out


def recurrent(w, x, y):
    with tf.GradientTape() as tape:
        state = tf.zeros([tf.shape(x)[0], 5])
        outputs = []
        for t in range(4):
            both = tf.concat([x * float(t + 1), state], 1)
            z, r = tf.split(tf.sigmoid(both @ w("zr", 9, 10)), 2, 1)
            new = tf.tanh(tf.concat([x, r * state], -1) @ w("h", 9, 5))
            state = (1 - z) * state + z * new
            outputs.append(state)
        whole = tf.stack(outputs, 1)
        last = tf.gather(whole, tf.minimum(y, 3), axis=1, batch_dims=1)
        loss = tf.reduce_mean(tf.square(last)) + tf.reduce_mean(whole[:, ::-1, :2])
    return gradient_step(w, loss, tape), last


def embedding(w, x, y):
    table = w("e", 7, 3)
    with tf.GradientTape() as tape:
        rows = tf.nn.embedding_lookup(table, y)
        pairs = tf.einsum("ni,nj->nij", rows, x)
        loss = tf.reduce_sum(pairs**2) / tf.cast(tf.shape(rows)[0], tf.float32)
    gradient = tape.gradient(loss, table)
    table.assign_sub(0.1 * tf.convert_to_tensor(gradient))
    return loss


def clipped(w, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_logsumexp(tf.matmul(x, w("a", 4, 4)) @ tf.transpose(x))
        loss += tf.norm(x @ w("b", 4, 2))
    variables = list(w.made.values())
    gradients, norm = tf.clip_by_global_norm(tape.gradient(loss, variables), 0.5)
    for v, g in zip(variables, gradients, strict=True):
        v.assign_sub(g)
    return loss, norm


def penalty(w, x, y):
    """A gradient of a gradient, and by the input."""
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            score = tf.nn.tanh(x @ w("a", 4, 6)) @ w("b", 6, 1)
        slope = inner.gradient(score, x)
        norm = tf.sqrt(tf.reduce_sum(slope**2, 1) + 1e-12)
        loss = tf.reduce_mean((norm - 1.0) ** 2) - tf.reduce_mean(score)
    return gradient_step(w, loss, outer), slope


def contrastive(w, x, y):
    n = tf.shape(x)[0]
    with tf.GradientTape() as tape:
        z = tf.math.l2_normalize(x @ w("a", 4, 3), 1)
        both = tf.concat([z, -z], 0)
        logits = tf.matmul(both, both, transpose_b=True) - 1e9 * tf.eye(2 * n)
        labels = tf.concat([tf.range(n, 2 * n), tf.range(n)], 0)
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        loss = tf.reduce_mean(each)
    return gradient_step(w, loss, tape), tf.math.top_k(logits, 1).indices


def random(w, x, y):
    n = tf.shape(x)[0]
    noise = tf.random.stateless_normal(tf.shape(x), seed=[1, 2])
    keep = tf.random.stateless_uniform([n, 1], seed=[3, 4]) < 0.5
    with tf.GradientTape() as tape:
        hidden = tf.where(keep, x + noise, 0.0) @ w("a", 4, 2)
        loss = tf.reduce_mean(hidden**2)
    return gradient_step(w, loss, tape), noise, keep


def jacobians(w, x, y):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        out = tf.sin(x @ w("a", 4, 3))
    return tape.batch_jacobian(out, x), tape.jacobian(out, w("a", 4, 3))


def forward_mode(w, x, y):
    a = w("a", 4, 3)
    with tf.autodiff.ForwardAccumulator(a, tf.ones_like(a)) as accumulator:
        out = tf.nn.softmax(x @ a)
    return out, accumulator.jvp(out)


def custom(w, x, y):
    @tf.custom_gradient
    def clipped_gradient(z):
        return tf.identity(z), lambda upstream: tf.clip_by_value(upstream, -0.1, 0.1)

    layer = tf.recompute_grad(lambda z: tf.nn.elu(z @ w("a", 4, 4)) + tf.ones(tf.shape(z)))
    w("a", 4, 4)
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(clipped_gradient(layer(x)) ** 2)
    gradients = tape.gradient(loss, [x, w("a", 4, 4)])
    return gradients


def windows(w, x, y):
    """Axes that are cut, padded, shifted and sorted."""
    padded = tf.pad(x, [[1, 1], [0, 0]])
    moved = padded[2:] - padded[:-2]
    with tf.GradientTape() as tape:
        out = tf.cumsum(moved @ w("a", 4, 2), axis=0)
        ordered = tf.sort(out, axis=0)
        median = ordered[tf.shape(x)[0] // 2]
        loss = tf.reduce_sum(median) + tf.reduce_sum(tf.roll(out, 1, 0) * out)
    return gradient_step(w, loss, tape), ordered, tf.reverse(x, [0])


def adam(w, x, y):
    if not hasattr(w, "optimizer"):
        w.optimizer = tf.optimizers.Adam(0.01)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w("a", 4, 2) + w("b", 2)) ** 2)
    variables = list(w.made.values())
    w.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    return loss


STEPS = [
    *(dense, sparse_loss, averaged, convolution, batch_norm, attention, recurrent, embedding),
    *(clipped, penalty, contrastive, random, jacobians, forward_mode, custom, windows, adam),
]


def run(step, sizes, signature):
    """What a step gives for batches of these sizes, and the weights afterwards."""
    weights, traces = Weights(), []

    @tf.function(input_signature=signature)
    def function(x, y):
        traces.append(x.shape)
        return step(weights, x, y)

    rng = np.random.default_rng(1)
    results = []
    for n in sizes:
        x = tf.constant(rng.normal(size=(n, 4)).astype(np.float32))
        y = tf.constant(rng.integers(0, 3, n).astype(np.int32))
        results.append(tf.nest.map_structure(lambda t: t.numpy(), function(x, y)))
    return results, [v.numpy() for v in weights.made.values()], traces


@pytest.mark.part
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_step(step):
    sizes = [5, 2, 1, 5]
    specs = [tf.TensorSpec([None, 4], tf.float32), tf.TensorSpec([None], tf.int32)]
    general, weights, traces = run(step, sizes, specs)
    known, wanted, _ = run(step, sizes, None)
    assert all(shape.as_list() == [None, 4] for shape in traces)
    assert len(traces) <= 2  # the first makes the variables
    for got, expected in zip([*general, weights], [*known, wanted], strict=True):
        tf.nest.assert_same_structure(got, expected)
        for a, b in zip(tf.nest.flatten(got), tf.nest.flatten(expected), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_a_number_that_is_no_size_is_told_by_a_step():
    traces = []

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)], autograph=False)
    def function(x):
        traces.append(x.shape[0])
        n = tf.cast(tf.shape(x)[0], tf.float32)
        return tf.zeros([tf.cast(n * 0.7, tf.int32), 2])

    for n in (10, 5, 10, 5):
        assert function(tf.ones([n, 3])).shape == (7 * n // 10, 2)
    assert traces == [None]


def test_a_tensor_of_any_rank_is_recorded_for_each_shape():
    traces = []

    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
    def function(x):
        traces.append(x.shape)
        return x + 1.0

    for shape in ([2], [2, 3], [2]):
        assert function(tf.zeros(shape)).shape == shape
    assert traces == [(2,), (2, 3)]


def test_what_depends_on_data_runs_in_python():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)], autograph=False)
    def function(x):
        return tf.boolean_mask(x, x > 0)

    assert function(tf.constant([1.0, -1.0, 2.0])).numpy().tolist() == [1.0, 2.0]
    assert function(tf.constant([1.0])).numpy().tolist() == [1.0]


def test_an_empty_batch_is_reshaped():
    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def function(x):
        return tf.reshape(x, [tf.shape(x)[0], -1]), tf.reshape(x, [-1]), tf.zeros([tf.shape(x)[0]])

    for n in (2, 0, 1):
        assert [y.shape for y in function(tf.ones([n, 3]))] == [(n, 3), (3 * n,), (n,)]


def test_functions_that_the_host_does_steps_of_are_tried_once_inside_others():
    """A function is recorded with the steps of the one around it; what was tried in vain before is
    not tried at each call."""
    runs = []

    @tf.function
    def positive(x):
        runs.append(x.shape)
        return tf.boolean_mask(x, x > 0)

    @tf.function
    def both(x):
        return tf.reduce_sum(positive(x)) - tf.reduce_sum(positive(-x))

    x = tf.constant([1.0, -2.0, 4.0])
    assert [both(x).numpy() for _ in range(2)] == [3.0, 3.0]
    assert len(runs) == 3
    assert positive(x).numpy().tolist() == [1.0, 4.0] and len(runs) == 4
