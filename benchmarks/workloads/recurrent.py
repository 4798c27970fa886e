"""Recurrent networks written as Python loops: one of fixed length, one of another at each step."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import (
    Built,
    Data,
    Workload,
    dense,
    descend_jax,
    descend_tf,
    descend_torch,
    normal,
)

# -- a GRU over 50 steps; by hand in JAX one writes `lax.scan`

STEPS, UNITS, FEATURES, SEQUENCES = 50, 64, 16, 32


def gru_data(steps: int = STEPS) -> Data:
    rng = np.random.default_rng(0)
    weights = [
        normal(rng, FEATURES, 3 * UNITS, scale=FEATURES**-0.5),
        normal(rng, UNITS, 3 * UNITS, scale=UNITS**-0.5),
        np.zeros(3 * UNITS, "float32"),
        *dense(rng, UNITS, 1),
    ]
    batches = []
    for _ in range(4):
        x = normal(rng, steps, SEQUENCES, FEATURES)
        batches.append((x, x[-5:].mean(axis=(0, 2))[:, None]))
    return {"weights": weights, "batches": batches}


def gru_tf(tf: Any, data: Data) -> Built:
    def loss_of(weights, xs, y):
        into, across, bias, out, out_bias = weights
        h = tf.zeros([SEQUENCES, UNITS])
        for x in tf.unstack(xs):
            from_x = tf.split(tf.matmul(x, into) + bias, 3, axis=1)
            from_h = tf.split(tf.matmul(h, across), 3, axis=1)
            update = tf.sigmoid(from_x[0] + from_h[0])
            reset = tf.sigmoid(from_x[1] + from_h[1])
            h = update * h + (1.0 - update) * tf.tanh(from_x[2] + reset * from_h[2])
        return tf.reduce_mean(tf.square(tf.matmul(h, out) + out_bias - y))

    return descend_tf(tf, loss_of, data)


def gru_jax(data: Data) -> Built:
    import jax
    import jax.numpy as jnp

    def loss_of(weights, xs, y):
        into, across, bias, out, out_bias = weights

        def cell(h, from_x):
            x0, x1, x2 = jnp.split(from_x, 3, axis=1)
            h0, h1, h2 = jnp.split(h @ across, 3, axis=1)
            update, reset = jax.nn.sigmoid(x0 + h0), jax.nn.sigmoid(x1 + h1)
            return update * h + (1.0 - update) * jnp.tanh(x2 + reset * h2), None

        h, _ = jax.lax.scan(cell, jnp.zeros((SEQUENCES, UNITS)), xs @ into + bias)
        return jnp.mean(jnp.square(h @ out + out_bias - y))

    return descend_jax(loss_of, data)


def gru_torch(data: Data) -> Built:
    import torch

    def loss_of(weights, xs, y):
        into, across, bias, out, out_bias = weights
        h = torch.zeros(SEQUENCES, UNITS)
        for from_x in xs @ into + bias:
            x0, x1, x2 = from_x.chunk(3, dim=1)
            h0, h1, h2 = (h @ across).chunk(3, dim=1)
            update, reset = torch.sigmoid(x0 + h0), torch.sigmoid(x1 + h1)
            h = update * h + (1.0 - update) * torch.tanh(x2 + reset * h2)
        return torch.nn.functional.mse_loss(h @ out + out_bias, y)

    return descend_torch(loss_of, data)


# -- the same cell in `tf.while_loop`, its states in a TensorArray; by hand `lax.scan` stacks them


def gru_array_tf(tf: Any, data: Data) -> Built:
    def loss_of(weights, xs, y):
        into, across, bias, out, out_bias = weights
        inputs = tf.TensorArray(tf.float32, size=STEPS).unstack(xs)

        def turn(i, h, states):
            from_x = tf.split(tf.matmul(inputs.read(i), into) + bias, 3, axis=1)
            from_h = tf.split(tf.matmul(h, across), 3, axis=1)
            update = tf.sigmoid(from_x[0] + from_h[0])
            reset = tf.sigmoid(from_x[1] + from_h[1])
            h = update * h + (1.0 - update) * tf.tanh(from_x[2] + reset * from_h[2])
            return i + 1, h, states.write(i, h)

        states = tf.TensorArray(tf.float32, size=STEPS)
        first = (tf.constant(0), tf.zeros([SEQUENCES, UNITS]), states)
        states = tf.while_loop(lambda i, *_: i < STEPS, turn, first)[2].stack()
        rows = tf.reshape(states, [STEPS * SEQUENCES, UNITS])
        errors = tf.reshape(tf.matmul(rows, out) + out_bias, [STEPS, SEQUENCES, 1]) - y
        return tf.reduce_mean(tf.square(errors))

    return descend_tf(tf, loss_of, data)


def gru_array_jax(data: Data) -> Built:
    import jax
    import jax.numpy as jnp

    def loss_of(weights, xs, y):
        into, across, bias, out, out_bias = weights

        def cell(h, x):
            x0, x1, x2 = jnp.split(x @ into + bias, 3, axis=1)
            h0, h1, h2 = jnp.split(h @ across, 3, axis=1)
            update, reset = jax.nn.sigmoid(x0 + h0), jax.nn.sigmoid(x1 + h1)
            h = update * h + (1.0 - update) * jnp.tanh(x2 + reset * h2)
            return h, h

        _, states = jax.lax.scan(cell, jnp.zeros((SEQUENCES, UNITS)), xs)
        return jnp.mean(jnp.square(states @ out + out_bias - y))

    return descend_jax(loss_of, data)


# -- episodes of random length: a Python loop over 10 to 40 recurrent cells

WIDTH, INPUTS, EPISODES = 32, 8, 240


def episodes_data() -> Data:
    rng = np.random.default_rng(0)
    weights = [
        normal(rng, INPUTS, WIDTH, scale=INPUTS**-0.5),
        normal(rng, WIDTH, WIDTH, scale=WIDTH**-0.5),
        np.zeros(WIDTH, "float32"),
        normal(rng, WIDTH, 1, scale=WIDTH**-0.5),
    ]
    batches = []
    for length in rng.integers(10, 41, EPISODES):
        x = normal(rng, length, 16, INPUTS)
        batches.append((x, x.mean(axis=(0, 2))[:, None]))
    return {"weights": weights, "batches": batches}


def episodes_tf(tf: Any, data: Data) -> Built:
    def loss_of(weights, *xs_and_y):
        *xs, y = xs_and_y
        into, across, bias, out = weights
        h = tf.zeros([16, WIDTH])
        for x in xs:
            h = tf.tanh(tf.matmul(x, into) + tf.matmul(h, across) + bias)
        return tf.reduce_mean(tf.square(tf.matmul(h, out) - y))

    # One array for each cell: the length is in the shape of the call, not in a value.
    return descend_tf(tf, loss_of, {**data, "batches": [(*x, y) for x, y in data["batches"]]})


def episodes_jax(data: Data) -> Built:
    """By hand one writes `lax.scan`: it compiles once for each length."""
    import jax
    import jax.numpy as jnp

    def loss_of(weights, xs, y):
        into, across, bias, out = weights

        def cell(h, from_x):
            return jnp.tanh(from_x + h @ across), None

        h, _ = jax.lax.scan(cell, jnp.zeros((16, WIDTH)), xs @ into + bias)
        return jnp.mean(jnp.square(h @ out - y))

    return descend_jax(loss_of, data)


def episodes_torch(data: Data) -> Built:
    import torch

    def loss_of(weights, xs, y):
        into, across, bias, out = weights
        h = torch.zeros(16, WIDTH)
        for from_x in xs @ into + bias:
            h = torch.tanh(from_x + h @ across)
        return torch.nn.functional.mse_loss(h @ out, y)

    return descend_torch(loss_of, data)


RECURRENT = [
    Workload(
        "episodes",
        "10 to 40 recurrent cells, another number at each step",
        episodes_data,
        episodes_tf,
        episodes_jax,
        episodes_torch,
        verify=60,
        cold=True,
    ),
    Workload(
        "gru",
        f"GRU of {UNITS} units, a Python loop over {STEPS} steps, batch {SEQUENCES}",
        gru_data,
        gru_tf,
        gru_jax,
        gru_torch,
        short=True,
    ),
    Workload(
        "gru_array",
        f"the same GRU in `tf.while_loop`, its {STEPS} states in a TensorArray",
        gru_data,
        gru_array_tf,
        gru_array_jax,
        extra=True,
    ),
]
