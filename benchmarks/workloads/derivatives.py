"""Derivatives beyond one gradient: nested and persistent tapes, Hessians, Jacobians."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .base import (
    RATE,
    Built,
    Data,
    Workload,
    batches_jax,
    batches_tf,
    batches_torch,
    carried,
    dense,
    descend_jax,
    descend_tf,
    descend_torch,
    normal,
)

# -- the critic of a WGAN: its loss holds the gradient by its input


def penalty_data(batch: int = 64, width: int = 256) -> Data:
    rng = np.random.default_rng(0)
    batches = [
        (normal(rng, batch, 64), 0.5 * normal(rng, batch, 64), rng.random((batch, 1), "float32"))
        for _ in range(4)
    ]
    return {"weights": dense(rng, 64, width, width, 1), "batches": batches}


def penalty_tf(tf: Any, data: Data) -> Built:
    def critic(weights, x):
        w0, b0, w1, b1, w2, b2 = weights
        x = tf.nn.leaky_relu(tf.matmul(x, w0) + b0)
        x = tf.nn.leaky_relu(tf.matmul(x, w1) + b1)
        return tf.matmul(x, w2) + b2

    def loss_of(weights, real, fake, mix):
        between = mix * real + (1.0 - mix) * fake
        with tf.GradientTape() as tape:
            tape.watch(between)
            scores = critic(weights, between)
        slope = tf.sqrt(tf.reduce_sum(tf.square(tape.gradient(scores, between)), axis=1) + 1e-12)
        distance = tf.reduce_mean(critic(weights, fake)) - tf.reduce_mean(critic(weights, real))
        return distance + 10.0 * tf.reduce_mean(tf.square(slope - 1.0))

    return descend_tf(tf, loss_of, data)


def penalty_jax(data: Data) -> Built:
    import jax
    import jax.numpy as jnp

    def critic(weights, x):
        w0, b0, w1, b1, w2, b2 = weights
        x = jax.nn.leaky_relu(x @ w0 + b0, 0.2)
        x = jax.nn.leaky_relu(x @ w1 + b1, 0.2)
        return x @ w2 + b2

    def loss_of(weights, real, fake, mix):
        between = mix * real + (1.0 - mix) * fake
        gradient = jax.grad(lambda x: jnp.sum(critic(weights, x)))(between)
        slope = jnp.sqrt(jnp.sum(jnp.square(gradient), axis=1) + 1e-12)
        distance = jnp.mean(critic(weights, fake)) - jnp.mean(critic(weights, real))
        return distance + 10.0 * jnp.mean(jnp.square(slope - 1.0))

    return descend_jax(loss_of, data)


def penalty_torch(data: Data) -> Built:
    import torch
    from torch.nn.functional import leaky_relu

    def critic(weights, x):
        w0, b0, w1, b1, w2, b2 = weights
        x = leaky_relu(torch.addmm(b0, x, w0), 0.2)
        x = leaky_relu(torch.addmm(b1, x, w1), 0.2)
        return torch.addmm(b2, x, w2)

    def loss_of(weights, real, fake, mix):
        between = (mix * real + (1.0 - mix) * fake).requires_grad_()
        scores = critic(weights, between)
        (gradient,) = torch.autograd.grad(scores.sum(), [between], create_graph=True)
        slope = torch.sqrt(torch.sum(torch.square(gradient), dim=1) + 1e-12)
        distance = torch.mean(critic(weights, fake)) - torch.mean(critic(weights, real))
        return distance + 10.0 * torch.mean(torch.square(slope - 1.0))

    return descend_torch(loss_of, data)


# -- Newton's method on a logistic regression: the Hessian as the Jacobian of a gradient


def hessian_data(features: int = 64, batch: int = 256) -> Data:
    rng = np.random.default_rng(0)
    truth, batches = normal(rng, features), []
    for _ in range(4):
        x = normal(rng, batch, features)
        noisy = x @ truth + normal(rng, batch, scale=4.0)
        batches.append((x, np.where(noisy > 0, 1.0, -1.0).astype("float32")))
    return {"weights": np.zeros(features, "float32"), "batches": batches}


def hessian_tf(tf: Any, data: Data) -> Built:
    w = tf.Variable(data["weights"])

    def step(x, y):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                loss = tf.reduce_mean(tf.nn.softplus(-y * tf.linalg.matvec(x, w)))
                loss += 0.05 * tf.reduce_sum(tf.square(w))
            gradient = inner.gradient(loss, w)
        hessian = outer.jacobian(gradient, w)
        w.assign_sub(tf.linalg.solve(hessian, gradient[:, None])[:, 0])
        return loss

    return step, batches_tf(tf, data)


def hessian_jax(data: Data) -> Built:
    import jax
    import jax.numpy as jnp

    def loss_of(w, x, y):
        return jnp.mean(jax.nn.softplus(-y * (x @ w))) + 0.05 * jnp.sum(jnp.square(w))

    @functools.partial(jax.jit, donate_argnums=0)
    def update(w, x, y):
        loss, gradient = jax.value_and_grad(loss_of)(w, x, y)
        return w - jnp.linalg.solve(jax.hessian(loss_of)(w, x, y), gradient), loss

    return carried(update, jnp.array(data["weights"])), batches_jax(data)


def hessian_torch(data: Data) -> Built:
    import torch

    w = torch.tensor(data["weights"])

    def loss_of(w, x, y):
        loss = torch.mean(torch.nn.functional.softplus(-y * (x @ w)))
        return loss + 0.05 * torch.sum(torch.square(w))

    def step(x, y):
        gradient, loss = torch.func.grad_and_value(loss_of)(w, x, y)
        w.sub_(torch.linalg.solve(torch.func.hessian(loss_of)(w, x, y), gradient))
        return loss

    return step, batches_torch(data)


# -- Gauss-Newton: 64 residuals of a network by its 129 parameters


def jacobian_data(residuals: int = 64) -> Data:
    rng = np.random.default_rng(0)
    weights, batches = dense(rng, 6, 16, 1), []
    for _ in range(4):
        x = normal(rng, residuals, 6)
        batches.append((x, np.sin(x.sum(1))))
    return {"weights": weights, "batches": batches}


def jacobian_tf(tf: Any, data: Data) -> Built:
    w0, b0, w1, b1 = weights = [tf.Variable(w) for w in data["weights"]]
    sizes = [w.size for w in data["weights"]]

    def step(x, y):
        with tf.GradientTape() as tape:
            hidden = tf.tanh(tf.matmul(x, w0) + b0)
            residual = tf.reshape(tf.matmul(hidden, w1) + b1, [-1]) - y
        blocks = tape.jacobian(residual, weights)
        rows = tf.concat([tf.reshape(b, [b.shape[0], -1]) for b in blocks], axis=1)
        damped = tf.matmul(rows, rows, transpose_b=True) + tf.eye(rows.shape[0])
        change = tf.matmul(rows, tf.linalg.solve(damped, residual[:, None]), transpose_a=True)
        for w, part in zip(weights, tf.split(change, sizes)):
            w.assign_sub(tf.reshape(part, w.shape))
        return tf.reduce_mean(tf.square(residual))

    return step, batches_tf(tf, data)


def jacobian_jax(data: Data) -> Built:
    import jax
    import jax.numpy as jnp
    from jax.flatten_util import ravel_pytree

    flat, unravel = ravel_pytree([jnp.array(w) for w in data["weights"]])

    def residual_of(flat, x, y):
        w0, b0, w1, b1 = unravel(flat)
        residual = (jnp.tanh(x @ w0 + b0) @ w1 + b1)[:, 0] - y
        return residual, residual

    @functools.partial(jax.jit, donate_argnums=0)
    def update(flat, x, y):
        rows, residual = jax.jacrev(residual_of, has_aux=True)(flat, x, y)
        solved = jnp.linalg.solve(rows @ rows.T + jnp.eye(len(rows)), residual)
        return flat - rows.T @ solved, jnp.mean(jnp.square(residual))

    return carried(update, flat), batches_jax(data)


def jacobian_torch(data: Data) -> Built:
    import torch

    weights = [torch.tensor(w) for w in data["weights"]]

    def residual_of(weights, x, y):
        w0, b0, w1, b1 = weights
        residual = (torch.tanh(torch.addmm(b0, x, w0)) @ w1 + b1)[:, 0] - y
        return residual, residual

    def step(x, y):
        blocks, residual = torch.func.jacrev(residual_of, has_aux=True)(weights, x, y)
        rows = torch.cat([b.flatten(1) for b in blocks], dim=1)
        solved = torch.linalg.solve(rows @ rows.T + torch.eye(len(rows)), residual)
        for w, part in zip(weights, torch.split(rows.T @ solved, [w.numel() for w in weights])):
            w.sub_(part.view_as(w))
        return torch.mean(torch.square(residual))

    return step, batches_torch(data)


# -- a contractive autoencoder: the Jacobian of each code by its input is part of the loss


def batch_jacobian_data(batch: int = 64, inputs: int = 32, codes: int = 16) -> Data:
    rng = np.random.default_rng(0)
    weights = [*dense(rng, inputs, codes), np.zeros(inputs, "float32")]
    return {"weights": weights, "batches": [(normal(rng, batch, inputs),) for _ in range(4)]}


def batch_jacobian_tf(tf: Any, data: Data) -> Built:
    def loss_of(weights, x):
        w, code_bias, bias = weights
        with tf.GradientTape() as tape:
            tape.watch(x)
            code = tf.sigmoid(tf.matmul(x, w) + code_bias)
        contraction = tf.reduce_sum(tf.square(tape.batch_jacobian(code, x)), axis=[1, 2])
        back = tf.matmul(code, w, transpose_b=True) + bias
        return tf.reduce_mean(tf.square(back - x)) + 0.1 * tf.reduce_mean(contraction)

    return descend_tf(tf, loss_of, data)


def batch_jacobian_jax(data: Data) -> Built:
    import jax
    import jax.numpy as jnp

    def loss_of(weights, x):
        w, code_bias, bias = weights

        def encode(x):
            code = jax.nn.sigmoid(x @ w + code_bias)
            return code, code

        jacobian, code = jax.vmap(jax.jacrev(encode, has_aux=True))(x)
        contraction = jnp.sum(jnp.square(jacobian), axis=(1, 2))
        back = code @ w.T + bias
        return jnp.mean(jnp.square(back - x)) + 0.1 * jnp.mean(contraction)

    return descend_jax(loss_of, data)


def batch_jacobian_torch(data: Data) -> Built:
    import torch

    def loss_of(weights, x):
        w, code_bias, bias = weights

        def encode(x):
            code = torch.sigmoid(x @ w + code_bias)
            return code, code

        jacobian, code = torch.func.vmap(torch.func.jacrev(encode, has_aux=True))(x)
        contraction = torch.sum(torch.square(jacobian), dim=(1, 2))
        back = code @ w.T + bias
        return torch.mean(torch.square(back - x)) + 0.1 * torch.mean(contraction)

    return descend_torch(loss_of, data)


# -- a network whose outputs shall not depend much on its inputs: two layers between them, so that
# the outer tape differentiates more than the squares of the weights


def smooth_data(sizes: tuple[int, ...] = (8, 64, 64, 4), batch: int = 64) -> Data:
    rng, batches = np.random.default_rng(0), []
    weights = dense(rng, *sizes)
    for _ in range(4):
        x = normal(rng, batch, sizes[0])
        batches.append((x, np.sin(x[:, : sizes[-1]])))
    return {"weights": weights, "batches": batches}


def smooth_tf(tf: Any, data: Data) -> Built:
    def loss_of(weights, x, wanted):
        w0, b0, w1, b1, w2, b2 = weights
        with tf.GradientTape() as tape:
            tape.watch(x)
            h = tf.tanh(tf.matmul(x, w0) + b0)
            h = tf.tanh(tf.matmul(h, w1) + b1)
            y = tf.matmul(h, w2) + b2
        slopes = tf.reduce_sum(tf.square(tape.batch_jacobian(y, x)), axis=[1, 2])
        return tf.reduce_mean(tf.square(y - wanted)) + 0.1 * tf.reduce_mean(slopes)

    return descend_tf(tf, loss_of, data)


def smooth_jax(data: Data) -> Built:
    import jax
    import jax.numpy as jnp

    def loss_of(weights, x, wanted):
        w0, b0, w1, b1, w2, b2 = weights

        def network(x):
            y = jnp.tanh(jnp.tanh(x @ w0 + b0) @ w1 + b1) @ w2 + b2
            return y, y

        jacobian, y = jax.vmap(jax.jacrev(network, has_aux=True))(x)
        slopes = jnp.sum(jnp.square(jacobian), axis=(1, 2))
        return jnp.mean(jnp.square(y - wanted)) + 0.1 * jnp.mean(slopes)

    return descend_jax(loss_of, data)


def smooth_torch(data: Data) -> Built:
    import torch

    def loss_of(weights, x, wanted):
        w0, b0, w1, b1, w2, b2 = weights

        def network(x):
            y = torch.tanh(torch.tanh(x @ w0 + b0) @ w1 + b1) @ w2 + b2
            return y, y

        jacobian, y = torch.func.vmap(torch.func.jacrev(network, has_aux=True))(x)
        slopes = torch.sum(torch.square(jacobian), dim=(1, 2))
        return torch.mean(torch.square(y - wanted)) + 0.1 * torch.mean(slopes)

    return descend_torch(loss_of, data)


# -- a network that solves Burgers' equation u_t + u u_x = v u_xx

VISCOSITY = 0.01 / np.pi


def pinn_data(points: int = 256) -> Data:
    rng = np.random.default_rng(0)
    weights, batches = dense(rng, 2, 20, 20, 20, 20, 1), []
    for _ in range(4):
        t, x, x0 = rng.random((3, points, 1), "float32")
        x, x0 = 2.0 * x - 1.0, 2.0 * x0 - 1.0
        batches.append((t, x, x0, -np.sin(np.pi * x0)))
    return {"weights": weights, "batches": batches}


def pinn_tf(tf: Any, data: Data) -> Built:
    def network(weights, t, x):
        h = tf.concat([t, x], axis=1)
        for i in range(0, 8, 2):
            h = tf.tanh(tf.matmul(h, weights[i]) + weights[i + 1])
        return tf.matmul(h, weights[8]) + weights[9]

    def loss_of(weights, t, x, x0, u0):
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape() as first:
                first.watch([t, x])
                u = network(weights, t, x)
            u_t, u_x = first.gradient(u, [t, x])
        u_xx = second.gradient(u_x, x)
        equation = u_t + u * u_x - VISCOSITY * u_xx
        start = network(weights, tf.zeros_like(x0), x0) - u0
        return tf.reduce_mean(tf.square(equation)) + tf.reduce_mean(tf.square(start))

    return descend_tf(tf, loss_of, data)


def pinn_jax(data: Data) -> Built:
    import jax
    import jax.numpy as jnp

    def network(weights, t, x):
        h = jnp.concatenate([t, x], axis=1)
        for i in range(0, 8, 2):
            h = jnp.tanh(h @ weights[i] + weights[i + 1])
        return h @ weights[8] + weights[9]

    def loss_of(weights, t, x, x0, u0):
        def total(t, x):
            u = network(weights, t, x)
            return jnp.sum(u), u

        def first(x):
            (u_t, u_x), u = jax.grad(total, argnums=(0, 1), has_aux=True)(t, x)
            return u_x, (u_t, u)

        # One directional derivative for all points: each u_x depends on its own x only.
        u_x, u_xx, (u_t, u) = jax.jvp(first, (x,), (jnp.ones_like(x),), has_aux=True)
        equation = u_t + u * u_x - VISCOSITY * u_xx
        start = network(weights, jnp.zeros_like(x0), x0) - u0
        return jnp.mean(jnp.square(equation)) + jnp.mean(jnp.square(start))

    return descend_jax(loss_of, data)


def pinn_torch(data: Data) -> Built:
    import torch

    def network(weights, t, x):
        h = torch.cat([t, x], dim=1)
        for i in range(0, 8, 2):
            h = torch.tanh(torch.addmm(weights[i + 1], h, weights[i]))
        return torch.addmm(weights[9], h, weights[8])

    def loss_of(weights, t, x, x0, u0):
        t, x = t.requires_grad_(), x.requires_grad_()
        u = network(weights, t, x)
        u_t, u_x = torch.autograd.grad(u.sum(), [t, x], create_graph=True)
        (u_xx,) = torch.autograd.grad(u_x.sum(), [x], create_graph=True)
        equation = u_t + u * u_x - VISCOSITY * u_xx
        start = network(weights, torch.zeros_like(x0), x0) - u0
        return torch.mean(torch.square(equation)) + torch.mean(torch.square(start))

    return descend_torch(loss_of, data)


# -- two tasks on one trunk: a persistent tape gives three gradients, and where the two gradients of
# the trunk point against each other, the first loses that part


def persistent_data(batch: int = 64) -> Data:
    rng = np.random.default_rng(0)
    weights = [*dense(rng, 32, 64, 64), *dense(rng, 64, 1), *dense(rng, 64, 1)]
    batches = []
    for _ in range(4):
        x = normal(rng, batch, 32)
        batches.append((x, np.sin(x[:, :4].sum(1, keepdims=True)), x[:, 4:8].sum(1, keepdims=True)))
    return {"weights": weights, "batches": batches}


def persistent_tf(tf: Any, data: Data) -> Built:
    weights = [tf.Variable(w) for w in data["weights"]]
    trunk, heads = weights[:4], weights[4:]

    def step(x, y, z):
        with tf.GradientTape(persistent=True) as tape:
            h = tf.nn.relu(tf.matmul(x, trunk[0]) + trunk[1])
            h = tf.nn.relu(tf.matmul(h, trunk[2]) + trunk[3])
            first = tf.reduce_mean(tf.square(tf.matmul(h, heads[0]) + heads[1] - y))
            second = tf.reduce_mean(tf.square(tf.matmul(h, heads[2]) + heads[3] - z))
            loss = first + second
        by_first, by_second = tape.gradient(first, trunk), tape.gradient(second, trunk)
        by_loss = tape.gradient(loss, heads)
        dot = tf.add_n([tf.reduce_sum(a * b) for a, b in zip(by_first, by_second)])
        square = tf.add_n([tf.reduce_sum(tf.square(b)) for b in by_second])
        part = tf.minimum(dot, 0.0) / square
        for w, a, b in zip(trunk, by_first, by_second):
            w.assign_sub(RATE * (a - part * b + b))
        for w, g in zip(heads, by_loss):
            w.assign_sub(RATE * g)
        return loss

    return step, batches_tf(tf, data)


def persistent_jax(data: Data) -> Built:
    """The heads need no third pass: each hears of its own loss only."""
    import jax
    import jax.numpy as jnp

    def losses_of(trunk, heads, x, y, z):
        h = jax.nn.relu(x @ trunk[0] + trunk[1])
        h = jax.nn.relu(h @ trunk[2] + trunk[3])
        first = jnp.mean(jnp.square(h @ heads[0] + heads[1] - y))
        return first, jnp.mean(jnp.square(h @ heads[2] + heads[3] - z))

    @functools.partial(jax.jit, donate_argnums=0)
    def update(weights, x, y, z):
        trunk, heads = weights[:4], weights[4:]
        (first, second), pull = jax.vjp(lambda t, h: losses_of(t, h, x, y, z), trunk, heads)
        by_first, heads_first = pull((jnp.float32(1.0), jnp.float32(0.0)))
        by_second, heads_second = pull((jnp.float32(0.0), jnp.float32(1.0)))
        dot = sum(jnp.sum(a * b) for a, b in zip(by_first, by_second))
        square = sum(jnp.sum(jnp.square(b)) for b in by_second)
        part = jnp.minimum(dot, 0.0) / square
        by_trunk = [a - part * b + b for a, b in zip(by_first, by_second)]
        gradients = [*by_trunk, *heads_first[:2], *heads_second[2:]]
        return [w - RATE * g for w, g in zip(weights, gradients)], first + second

    return carried(update, [jnp.array(w) for w in data["weights"]]), batches_jax(data)


def persistent_torch(data: Data) -> Built:
    import torch
    from torch.nn.functional import mse_loss

    weights = [torch.tensor(w, requires_grad=True) for w in data["weights"]]
    trunk, heads = weights[:4], weights[4:]

    def step(x, y, z):
        h = torch.relu(torch.addmm(trunk[1], x, trunk[0]))
        h = torch.relu(torch.addmm(trunk[3], h, trunk[2]))
        first = mse_loss(torch.addmm(heads[1], h, heads[0]), y)
        second = mse_loss(torch.addmm(heads[3], h, heads[2]), z)
        by_first = torch.autograd.grad(first, [*trunk, *heads[:2]], retain_graph=True)
        by_second = torch.autograd.grad(second, [*trunk, *heads[2:]])
        with torch.no_grad():
            dots = [torch.sum(a * b) for a, b in zip(by_first[:4], by_second[:4])]
            squares = [torch.sum(torch.square(b)) for b in by_second[:4]]
            part = torch.clamp(torch.stack(dots).sum(), max=0.0) / torch.stack(squares).sum()
            by_trunk = [a - part * b + b for a, b in zip(by_first[:4], by_second[:4])]
            for w, g in zip(weights, [*by_trunk, *by_first[4:], *by_second[4:]]):
                w.sub_(g, alpha=RATE)
            return first + second

    return step, batches_torch(data)


DERIVATIVES = [
    Workload(
        "gradient_penalty",
        "WGAN critic with gradient penalty, 64-256-256-1, batch 64",
        penalty_data,
        penalty_tf,
        penalty_jax,
        penalty_torch,
    ),
    Workload(
        "hessian",
        "Newton, Hessian 64 x 64 by jacobian of gradient",
        hessian_data,
        hessian_tf,
        hessian_jax,
        hessian_torch,
    ),
    Workload(
        "jacobian",
        "Gauss-Newton, Jacobian of 64 residuals by 129 parameters",
        jacobian_data,
        jacobian_tf,
        jacobian_jax,
        jacobian_torch,
    ),
    Workload(
        "batch_jacobian",
        "contractive autoencoder, batch_jacobian 64 x 16 x 32 in the loss",
        batch_jacobian_data,
        batch_jacobian_tf,
        batch_jacobian_jax,
        batch_jacobian_torch,
        family="jacobian",
    ),
    Workload(
        "batch_jacobian_deep",
        "MLP 8-64-64-4, batch 64, batch_jacobian 64 x 4 x 8 in the loss",
        smooth_data,
        smooth_tf,
        smooth_jax,
        smooth_torch,
        family="jacobian",
        rounds=2,
    ),
    Workload(
        "pinn",
        "Burgers PINN 2-20-20-20-20-1, 256 points, u_t, u_x, u_xx",
        pinn_data,
        pinn_tf,
        pinn_jax,
        pinn_torch,
        short=True,
    ),
    Workload(
        "persistent",
        "two tasks on one trunk, three gradients of a persistent tape",
        persistent_data,
        persistent_tf,
        persistent_jax,
        persistent_torch,
    ),
]
