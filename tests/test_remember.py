"""Derivatives asked for again, within other tapes and without: as they were the first time."""

import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.autodiff import reverse

pytestmark = [pytest.mark.compiled, pytest.mark.usefixtures("deferred")]


@pytest.fixture
def worked_out(monkeypatch):
    """How many gradients were worked out, not remembered."""
    calls = []
    original = reverse.gradients
    monkeypatch.setattr(reverse, "gradients", lambda *a: calls.append(1) or original(*a))
    return calls


def values(seed, n=3):
    return np.random.default_rng(seed).uniform(0.2, 1.0, n).astype(np.float32)


def f(lib, x, y):
    return lib.tanh(x * y) * x + lib.exp(0.5 * y)


def second(x, y):
    """Gradients of the squares of the first gradients."""
    with tf.GradientTape() as outer:
        outer.watch([x, y])
        with tf.GradientTape() as inner:
            inner.watch([x, y])
            z = tf.reduce_sum(f(tf, x, y))
        dx, dy = inner.gradient(z, [x, y])
        total = tf.reduce_sum(dx * dx) + tf.reduce_sum(dy * x)
    return outer.gradient(total, [x, y])


def expected_second(x, y):
    def total(x, y):
        dx, dy = jax.grad(lambda x, y: jnp.sum(f(jnp, x, y)), (0, 1))(x, y)
        return jnp.sum(dx * dx) + jnp.sum(dy * x)

    return jax.grad(total, (0, 1))(x, y)


def test_a_gradient_within_a_tape_is_remembered(worked_out):
    for seed in range(4):
        x, y = values(seed), values(seed + 10)
        got = second(tf.constant(x) * 1.0, tf.constant(y) * 1.0)
        for a, b in zip(got, expected_second(x, y)):
            np.testing.assert_allclose(a, b, rtol=1e-4)
        if seed == 1:
            worked_out.clear()
    assert worked_out == []


def test_three_deep(worked_out):
    def third(x):
        with tf.GradientTape() as a:
            a.watch(x)
            with tf.GradientTape() as b:
                b.watch(x)
                with tf.GradientTape() as c:
                    c.watch(x)
                    y = tf.sin(x) * tf.exp(x)
                dy = c.gradient(y, x)
            ddy = b.gradient(dy, x)
        return a.gradient(ddy, x)

    def expected(x):
        return jax.vmap(jax.grad(jax.grad(jax.grad(lambda x: jnp.sin(x) * jnp.exp(x)))))(x)

    for seed in range(4):
        x = values(seed)
        np.testing.assert_allclose(third(tf.constant(x) * 1.0), expected(x), rtol=1e-4)
        if seed == 1:
            worked_out.clear()
    assert worked_out == []


def test_sources_are_told_apart():
    """The same calls, other sources, watched or not."""
    for seed in range(9):
        x, y = tf.constant(values(seed)) * 1.0, tf.constant(values(seed + 10)) * 1.0
        kind = seed % 3
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch([x, y])
                z = x * x * y
            source = (x, y, [y, x])[kind]
            d = inner.gradient(z, source)
            total = d if kind < 2 else d[0] + d[1]
        want = ((2 * y), 2 * x, 2 * x + 2 * y)[kind]
        np.testing.assert_allclose(outer.gradient(total, x), want, rtol=1e-6)


def test_a_tape_asked_while_it_records():
    for seed in range(4):
        x = tf.constant(values(seed)) * 1.0
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x**3.0
            dy = tape.gradient(y, x)
            ddy = tape.gradient(dy, x)
        np.testing.assert_allclose(dy, 3 * x * x, rtol=1e-5)
        np.testing.assert_allclose(ddy, 6 * x, rtol=1e-5)
        np.testing.assert_allclose(tape.gradient(ddy, x), np.full(3, 6.0), rtol=1e-5)


def test_not_connected_and_untracked():
    for seed in range(3):
        x, y = tf.constant(values(seed)) * 1.0, tf.constant(values(seed)) * 2.0
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                z = x * y
            dx, dy = inner.gradient(z, [x, y])
            assert dy is None
            total = dx * x
        np.testing.assert_allclose(outer.gradient(total, x), y)


def partly_read(w, x, z, third, read):
    """A gradient of w, and what it should be. What of a tape's calls has run reads its inputs anew;
    where the pending program has another tensor of their kind in the same place, as when `third`
    is not `x`, that is none of them."""
    with tf.GradientTape() as tape:
        tape.watch([w, x, z])
        y = x * w
        if read:
            y.numpy()
        y = y * (w * 2.0) * (third * 3.0)
    expected = 12.0 * x * w * third if third is not w else 18.0 * x * w * w
    return tape.gradient(y, w), expected


def three():
    return (tf.constant(v) * 1.0 for v in ([1.0, 2.0], [3.0, 5.0], [7.0, 11.0]))


@pytest.mark.parametrize("read", [True, False])
def test_what_was_read_is_not_mixed_up(read):
    w, x, z = three()
    for third in (x, x, x, z, x, z, w):
        np.testing.assert_allclose(*partly_read(w, x, z, third, read))


@pytest.mark.parametrize("read", [True, False])
def test_what_was_read_is_not_mixed_up_within_a_tape(read):
    w, x, z = three()
    for third in (x, x, z, x, z, w):
        with tf.GradientTape() as outer:
            outer.watch(x)
            d, expected = partly_read(w, x, z, third, read)
        np.testing.assert_allclose(d, expected)
        factor = 2.0 if third is x else 1.0
        np.testing.assert_allclose(outer.gradient(d, x), factor * d.numpy() / x.numpy(), rtol=1e-5)


def test_several_outputs_and_unused_ones():
    for seed in range(4):
        x = tf.constant(values(seed, 6)) * 1.0
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                a, _, c = tf.split(x, 3)
                y = tf.reduce_sum(a * a * c)
            d = inner.gradient(y, x)
            total = tf.reduce_sum(d * d)

        def by_hand(x):
            d = jax.grad(lambda x: jnp.sum(x[:2] * x[:2] * x[4:]))(x)
            return jnp.sum(d * d)

        np.testing.assert_allclose(
            outer.gradient(total, x), jax.grad(by_hand)(x.numpy()), rtol=1e-5
        )


def test_within_an_accumulator(worked_out):
    """It adds instructions of its own to each: nothing is remembered."""
    for seed in range(3):
        x = tf.constant(values(seed)) * 1.0
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x**3.0
            d = tape.gradient(y, x)
        np.testing.assert_allclose(accumulator.jvp(d), 6 * x, rtol=1e-5)
    assert len(worked_out) == 3


def test_a_custom_gradient_is_asked_each_time():
    asked = []

    @tf.custom_gradient
    def double(x):
        def grad(upstream):
            asked.append(1)
            return upstream * 2.0

        return x * 2.0, grad

    for _ in range(3):
        x = tf.constant([1.0, 2.0]) * 1.0
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = double(x) * x
            d = inner.gradient(y, x)
        np.testing.assert_allclose(d, 4 * x)
        np.testing.assert_allclose(outer.gradient(d, x), [4.0, 4.0])
    assert len(asked) >= 3


def test_with_variables_and_updates(worked_out):
    """A gradient penalty that is trained: as plain JAX trains it."""
    w, b = tf.Variable(values(1)), tf.Variable(values(2))
    x = values(3)

    def step():
        with tf.GradientTape() as outer:
            xs = tf.constant(x)
            with tf.GradientTape() as inner:
                inner.watch(xs)
                score = tf.reduce_sum(tf.tanh(xs * w + b))
            slope = inner.gradient(score, xs)
            loss = score + tf.reduce_sum(tf.square(slope) - 1.0)
        for v, d in zip((w, b), outer.gradient(loss, [w, b])):
            v.assign_sub(0.1 * d)
        return loss

    def loss_of(weights):
        def score(xs):
            return jnp.sum(jnp.tanh(xs * weights[0] + weights[1]))

        return score(x) + jnp.sum(jnp.square(jax.grad(score)(x)) - 1.0)

    weights = [values(1), values(2)]
    for i in range(12):
        loss, slopes = jax.value_and_grad(loss_of)(weights)
        weights = [a - 0.1 * d for a, d in zip(weights, slopes)]
        np.testing.assert_allclose(step(), loss, rtol=1e-4)
        if i == 1:
            worked_out.clear()
    assert worked_out == []
    np.testing.assert_allclose(w, weights[0], rtol=1e-4)


@pytest.mark.parametrize("kind", ["a source twice", "an identity of a source"])
def test_the_same_answer_is_the_same_tensor(kind):
    for _ in range(4):
        x = tf.constant([1.0, 2.0]) * 1.0
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.identity(x)
            z = tf.reduce_sum(y * y)
        g, h = tape.gradient(z, [x, x] if kind == "a source twice" else [x, y])
        assert g is h
        with tf.GradientTape() as again:
            again.watch(g)
            square = g * h
        np.testing.assert_allclose(again.gradient(square, g), [4.0, 8.0])
        np.testing.assert_allclose(square, [4.0, 16.0])


def test_another_thread_uses_the_same_variable():
    """Its next use here is another leaf of this program, as one of another variable would be."""
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 2.0])

    def elsewhere():
        with tf.GradientTape():
            v * 5.0

    def step(second, shared, source):
        with tf.GradientTape() as tape:
            p = tf.sin(v)
            if shared:
                thread = threading.Thread(target=elsewhere)
                thread.start()
                thread.join()
            y = p * tf.cos(second)
        return tape.gradient(y, source).numpy()

    x = np.float32([1.0, 2.0])
    for _ in range(2):
        np.testing.assert_allclose(step(v, True, v), np.cos(2 * x), rtol=1e-5)
        np.testing.assert_allclose(step(w, False, w), -(np.sin(x) ** 2), rtol=1e-5)


def test_what_is_remembered_is_bounded():
    from tape_compat._src.core.program import TREE
    from tape_compat._src.run import policy

    x = tf.constant([1.0]) * 1.0
    for n in range(2 * policy.MAX_SPLICES):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        assert tape.gradient(y, [x] * (n + 1))[0].numpy() == 2.0
    nodes = [TREE.root]
    for node in nodes:
        nodes.extend(node.children.values())
        assert len(node.splices) <= policy.MAX_SPLICES


def _rows(looked_up, dense, wanted):
    """A sparse and a dense gradient, of one step over two tables."""
    table, weights = tf.Variable(np.ones((5, 2), np.float32)), tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        rows = looked_up(table)
        loss = tf.reduce_sum(tf.square(rows * weights - wanted) + dense * weights)
    return tape.gradient(loss, [table, weights])


@pytest.mark.parametrize(
    "looked_up",
    [
        lambda table, ids: tf.nn.embedding_lookup(table, tf.constant(ids)),
        lambda table, ids: tf.gather(table, ids),
        lambda table, ids: tf.gather(table, tf.reverse(tf.constant(ids), [0])),
        lambda table, ids: tf.reshape(
            tf.gather(table, tf.reshape(tf.constant(ids), [3, 1])), [3, -1]
        ),
        lambda table, ids: tf.concat([tf.gather(table, ids[:2]), tf.gather(table, ids[1:2])], 0),
        lambda table, ids: tf.gather(table, ids) + tf.gather(table, [ids[1], ids[2], ids[0]]),
    ],
    ids=["leaf", "list", "computed", "reshaped", "shorter", "joined"],
)
def test_sparse_gradients_are_remembered(worked_out, looked_up):
    """Rows are those of the indices of this step, whatever remembered the ones before."""
    for seed in range(5):
        ids = np.random.default_rng(seed).integers(0, 5, 3).tolist()
        dense, wanted = values(seed, 2), values(seed + 10, 2)

        got, by_weights = _rows(lambda table: looked_up(table, ids), dense, wanted)
        assert isinstance(got, tf.IndexedSlices)
        assert got.dense_shape.numpy().tolist() == [5, 2]

        one_hot = looked_up(tf.Variable(np.eye(5, dtype=np.float32)), ids).numpy()

        def expected(table, weights):
            rows = one_hot @ table
            return jnp.sum((rows * weights - wanted) ** 2 + dense * weights)

        want = jax.grad(expected, (0, 1))(jnp.ones((5, 2)), jnp.array([1.0, 2.0]))
        np.testing.assert_allclose(tf.convert_to_tensor(got), want[0], rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(by_weights, want[1], rtol=1e-5)
        if seed == 1:
            worked_out.clear()
    assert worked_out == []
