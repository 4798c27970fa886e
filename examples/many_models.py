"""A hundred models trained at once: a TensorFlow-style step under `jax.vmap`.

The step below is ordinary tape code for one small network: Variables, a tape, Adam, noise on the
inputs. `tape_compat.functional` makes a pure function of it, `(state, x, y) -> (loss, state)`, so
that JAX trains a hundred of them, from different weights, in one compiled loop. Where they agree,
the data say something; where they do not, there were none.

    python examples/many_models.py
"""

import time

import jax
import jax.numpy as jnp
import numpy as np

import tape_compat as tf

MODELS, STEPS, HIDDEN = 100, 400, 24

tf.random.set_seed(0)
w1 = tf.Variable(tf.zeros([1, HIDDEN]), name="w1")
b1 = tf.Variable(tf.zeros([HIDDEN]), name="b1")
w2 = tf.Variable(tf.zeros([HIDDEN, 1]), name="w2")
b2 = tf.Variable(tf.zeros([1]), name="b2")
weights = [w1, b1, w2, b2]
optimizer = tf.optimizers.Adam(learning_rate=0.02)


def initialize():
    """Draw the weights of one network."""
    w1.assign(tf.random.normal(w1.shape, stddev=2.0))
    b1.assign(tf.random.normal(b1.shape, stddev=2.0))
    w2.assign(tf.random.normal(w2.shape, stddev=1.0 / HIDDEN**0.5))


def predict(x):
    return tf.tanh(x @ w1 + b1) @ w2 + b2


def step(x, y):
    """Train one network on one batch."""
    x = x + tf.random.normal(tf.shape(x), stddev=0.01)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(predict(x) - y))
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss


def main():
    rng = np.random.default_rng(0)
    x = rng.uniform(-2.0, 2.0, (64, 1)).astype("float32")
    y = np.sin(2.0 * x) + rng.normal(0, 0.05, x.shape).astype("float32")

    train, start, answer = map(tf.functional, (step, initialize, predict))
    one = {**train.init(x, y), "key": start.init()["key"]}  # the state of one model ...
    many = jax.tree.map(lambda a: jnp.stack([a] * MODELS), one)  # ... and of a hundred
    many["key"] = jax.random.split(one["key"], MODELS)

    @jax.jit
    @jax.vmap
    def fit(state):
        def turn(state, _):
            loss, state = train(state, x, y)
            return state, loss

        _, state = start(state)
        state, losses = jax.lax.scan(turn, state, length=STEPS)
        return losses, state

    began = time.perf_counter()
    losses, many = jax.block_until_ready(fit(many))
    print(f"{MODELS} models, {STEPS} steps: {time.perf_counter() - began:.1f} s with compiling")
    began = time.perf_counter()
    jax.block_until_ready(fit(many))
    print(f"again: {time.perf_counter() - began:.1f} s")
    print(f"mean loss {losses[:, 0].mean():.3f} -> {losses[:, -1].mean():.5f}")

    # Inside the data they agree, beyond them they do not.
    there = np.linspace(-4.0, 4.0, 81, dtype="float32")[:, None]
    answers = np.asarray(jax.vmap(lambda state: answer(state, there)[0])(many))[..., 0]
    inside = np.abs(there[:, 0]) < 1.8
    spread = np.std(answers, axis=0)
    error = np.abs(np.mean(answers, axis=0) - np.sin(2.0 * there[:, 0]))[inside].max()
    print(f"error of the mean inside {error:.3f}; deviation inside {spread[inside].max():.3f},")
    print(f"at the ends {spread[[0, -1]].min():.3f}")
    assert losses[:, -1].mean() < 0.02 and error < 0.2
    assert spread[[0, -1]].min() > 3.0 * spread[inside].max()

    # One of them, back in the Variables, goes on as TensorFlow code.
    train.restore(jax.tree.map(lambda a: a[7], many))
    np.testing.assert_allclose(predict(there).numpy()[:, 0], answers[7], atol=1e-4)
    assert int(optimizer.iterations) == STEPS
    print(f"model 7 goes on with loss {float(step(tf.constant(x), tf.constant(y))):.5f}")


if __name__ == "__main__":
    main()
