"""Programs that are ever new: what a user waits for before anything is compiled.

The verified steps run in a fresh process and are timed as a whole: the time from cold.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import RATE, Built, Data, Workload, dense, normal

# -- a notebook: ops on arrays of sizes that did not come before, each looked at


def notebook_data() -> Data:
    rng = np.random.default_rng(0)
    return {"arrays": [normal(rng, n, 4) for n in range(3, 13)]}


def notebook_tf(tf: Any, data: Data) -> Built:
    ops = [
        tf.nn.softmax,
        lambda x: tf.matmul(x, x, transpose_b=True),
        lambda x: tf.reduce_sum(x, axis=0),
        lambda x: tf.exp(x) * 2.0,
        lambda x: tf.concat([x, x], 1),
        lambda x: tf.reshape(x, [-1]),
    ]

    def step(i):
        x = tf.constant(data["arrays"][i % 10])
        return float(tf.reduce_sum(ops[i // 10 % 6](x)))

    return step, [(i,) for i in range(60)]


# -- REINFORCE: a policy is asked at each turn of an episode, of random length


def reinforce_data() -> Data:
    rng = np.random.default_rng(0)
    episodes = []
    for _ in range(120):
        n = int(rng.integers(5, 60))
        episodes.append((normal(rng, n, 1, 4), rng.random(n), rng.random(n).astype("float32")))
    return {"weights": dense(rng, 4, 16, 2), "episodes": episodes}


def reinforce_tf(tf: Any, data: Data) -> Built:
    w1, b1, w2, b2 = weights = [tf.Variable(w) for w in data["weights"]]

    def step(i):
        states, draws, rewards = data["episodes"][i]
        with tf.GradientTape() as tape:
            loss = tf.constant(0.0)
            for state, draw, reward in zip(states, draws, rewards):
                hidden = tf.nn.tanh(tf.matmul(tf.constant(state), w1) + b1)
                chances = tf.nn.softmax(tf.matmul(hidden, w2) + b2)
                action = int(draw > float(chances[0, 0]))
                loss -= reward * tf.math.log(chances[0, action])
        for w, g in zip(weights, tape.gradient(loss, weights)):
            w.assign_sub(RATE * g)
        return loss

    return step, [(i,) for i in range(120)]


# -- batches of random size


def sizes_data() -> Data:
    rng = np.random.default_rng(0)
    return {
        "weights": dense(rng, 16, 32, 1),
        "x": normal(rng, 199, 16),
        "sizes": [(int(n),) for n in rng.integers(1, 200, 400)],
    }


def sizes_tf(tf: Any, data: Data) -> Built:
    w1, b1, w2, b2 = weights = [tf.Variable(w) for w in data["weights"]]

    def step(n):
        x = tf.constant(data["x"][:n])
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.matmul(x, w1) + b1)
            loss = tf.reduce_mean(tf.square(tf.matmul(hidden, w2) + b2 - 1.0))
        for w, g in zip(weights, tape.gradient(loss, weights)):
            w.assign_sub(RATE * g)
        return loss

    return step, data["sizes"]


# -- an LSTM that attends to all its states so far


def attention_data() -> Data:
    rng = np.random.default_rng(0)
    return {
        "weights": [normal(rng, 24, 64, scale=0.2), np.zeros(64, "float32")],
        "x": normal(rng, 60, 4, 8),
    }


def attention_tf(tf: Any, data: Data) -> Built:
    kernel, bias = weights = [tf.Variable(w) for w in data["weights"]]

    def step(length):
        with tf.GradientTape() as tape:
            h = c = tf.zeros([4, 16])
            states: list[Any] = [h]
            for t in range(length):
                gates = tf.matmul(tf.concat([data["x"][t], h], 1), kernel) + bias
                i, f, g, o = tf.split(gates, 4, axis=1)
                c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
                past = tf.stack(states)
                scores = tf.nn.softmax(tf.reduce_sum(past * c, axis=2), axis=0)
                context = tf.reduce_sum(scores[:, :, None] * past, axis=0)
                h = tf.sigmoid(o) * tf.tanh(c) + context
                states.append(h)
            loss = tf.reduce_mean(tf.square(h - 1.0))
        for w, g in zip(weights, tape.gradient(loss, weights)):
            w.assign_sub(RATE * g)
        return loss

    return step, [(1 + i % 30,) for i in range(60)]


# -- an attribute that changes at each step


def attribute_data() -> Data:
    rng = np.random.default_rng(0)
    return {"weights": dense(rng, 8, 16, 1), "x": normal(rng, 32, 8)}


def attribute_tf(tf: Any, data: Data) -> Built:
    w1, b1, w2, b2 = weights = [tf.Variable(w) for w in data["weights"]]
    x = tf.constant(data["x"])

    def step(i):
        with tf.GradientTape() as tape:
            hidden = tf.nn.leaky_relu(tf.matmul(x, w1) + b1, alpha=0.2 + 1e-4 * i)
            hidden = tf.math.l2_normalize(hidden, axis=1, epsilon=1e-6 * (i + 1))
            out = tf.clip_by_value(tf.matmul(hidden, w2) + b2, -1.0 - 1e-3 * i, 1.0 + 1e-3 * i)
            loss = tf.reduce_mean(tf.square(out - 1.0))
        for w, g in zip(weights, tape.gradient(loss, weights)):
            w.assign_sub(RATE * g)
        return loss

    return step, [(i,) for i in range(1000)]


COLD = [
    Workload(name, title, data, tf, verify=verify, cold=True, functions=False, family="cold")
    for name, title, data, tf, verify in (
        ("notebook", "60 pairs of op and size, each looked at", notebook_data, notebook_tf, 60),
        ("reinforce", "REINFORCE, 120 episodes", reinforce_data, reinforce_tf, 120),
        ("sizes", "MLP 16-32-1, 400 batches of random size", sizes_data, sizes_tf, 400),
        ("attention", "LSTM attending to all its states", attention_data, attention_tf, 60),
        ("attribute", "MLP with another slope at each step", attribute_data, attribute_tf, 1000),
    )
]
