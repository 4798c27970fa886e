"""Steps with ops around their tapes: an optimizer written by hand, noise drawn before, targets cut
from one tensor."""

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
from .networks import mlp_data, mlp_loss_jax, mlp_loss_tf, mlp_loss_torch

# -- Adam, as one writes it by hand after the tape

B1, B2, EPSILON, ADAM_RATE = 0.9, 0.999, 1e-7, 1e-3


def adam_tf(tf: Any, data: Data) -> Built:
    loss_of = mlp_loss_tf(tf, data["classes"])
    weights = [tf.Variable(w) for w in data["weights"]]
    means = [tf.Variable(tf.zeros_like(w)) for w in weights]
    squares = [tf.Variable(tf.zeros_like(w)) for w in weights]
    t = tf.Variable(0.0)

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(weights, x, y)
        gradients = tape.gradient(loss, weights)
        t.assign_add(1.0)
        for w, m, v, g in zip(weights, means, squares, gradients):
            m.assign(B1 * m + (1.0 - B1) * g)
            v.assign(B2 * v + (1.0 - B2) * g * g)
            mean = m / (1.0 - tf.pow(B1, t))
            square = v / (1.0 - tf.pow(B2, t))
            w.assign_sub(ADAM_RATE * mean / (tf.sqrt(square) + EPSILON))
        return loss

    return step, batches_tf(tf, data)


def adam_jax(data: Data) -> Built:
    import jax
    import jax.numpy as jnp

    loss_of = mlp_loss_jax(data["classes"])

    @functools.partial(jax.jit, donate_argnums=0)
    def update(state, x, y):
        weights, means, squares, t = state
        loss, gradients = jax.value_and_grad(loss_of)(weights, x, y)
        t += 1.0
        means = [B1 * m + (1.0 - B1) * g for m, g in zip(means, gradients)]
        squares = [B2 * v + (1.0 - B2) * g * g for v, g in zip(squares, gradients)]
        for_means, for_squares = 1.0 - B1**t, 1.0 - B2**t
        weights = [
            w - ADAM_RATE * (m / for_means) / (jnp.sqrt(v / for_squares) + EPSILON)
            for w, m, v in zip(weights, means, squares)
        ]
        return (weights, means, squares, t), loss

    weights = [jnp.array(w) for w in data["weights"]]
    means, squares = ([jnp.zeros_like(w) for w in weights] for _ in range(2))
    return carried(update, (weights, means, squares, jnp.float32(0.0) + 0)), batches_jax(data)


def adam_torch(data: Data) -> Built:
    import torch

    loss_of = mlp_loss_torch(data["classes"])
    weights = [torch.tensor(w, requires_grad=True) for w in data["weights"]]
    means, squares = ([torch.zeros(w.shape) for w in data["weights"]] for _ in range(2))
    t = 0

    def step(x, y):
        nonlocal t
        loss = loss_of(weights, x, y)
        gradients = torch.autograd.grad(loss, weights)
        t += 1
        with torch.no_grad():
            for w, m, v, g in zip(weights, means, squares, gradients):
                m.mul_(B1).add_(g, alpha=1.0 - B1)
                v.mul_(B2).addcmul_(g, g, value=1.0 - B2)
                root = torch.sqrt(v / (1.0 - B2**t)) + EPSILON
                w.addcdiv_(m, root, value=-ADAM_RATE / (1.0 - B1**t))
        return loss

    return step, batches_torch(data)


# -- a GAN: two tapes, and noise that is drawn before them

NOISE, PIXELS, GAN_BATCH = 16, 32, 128


def gan_data(batch: int = GAN_BATCH) -> Data:
    rng = np.random.default_rng(0)
    mixing = normal(rng, 8, PIXELS, scale=8**-0.5)
    return {
        "generator": dense(rng, NOISE, 64, 64, PIXELS),
        "discriminator": dense(rng, PIXELS, 64, 64, 1),
        "batches": [(np.tanh(normal(rng, batch, 8) @ mixing),) for _ in range(4)],
    }


def gan_tf(tf: Any, data: Data) -> Built:
    generator, discriminator = (
        [tf.Variable(w) for w in data[name]] for name in ("generator", "discriminator")
    )

    def network(weights, x):
        for i in range(0, 4, 2):
            x = tf.nn.leaky_relu(tf.matmul(x, weights[i]) + weights[i + 1])
        return tf.matmul(x, weights[4]) + weights[5]

    def surprise(logits, wanted):
        labels = tf.fill(logits.shape, wanted)
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))

    def step(real):
        noise = tf.random.normal([real.shape[0], NOISE])
        with tf.GradientTape() as for_generator, tf.GradientTape() as for_discriminator:
            fake = network(discriminator, tf.tanh(network(generator, noise)))
            generator_loss = surprise(fake, 1.0)
            loss = surprise(network(discriminator, real), 1.0) + surprise(fake, 0.0)
        by_generator = for_generator.gradient(generator_loss, generator)
        by_discriminator = for_discriminator.gradient(loss, discriminator)
        for w, g in zip(generator + discriminator, by_generator + by_discriminator):
            w.assign_sub(RATE * g)
        return loss

    return step, batches_tf(tf, data)


def gan_jax(data: Data) -> Built:
    """The discriminator sees the noise once; both gradients come from that one pass."""
    import jax
    import jax.numpy as jnp

    def network(weights, x):
        for i in range(0, 4, 2):
            x = jax.nn.leaky_relu(x @ weights[i] + weights[i + 1], 0.2)
        return x @ weights[4] + weights[5]

    def losses_of(generator, discriminator, noise, real):
        fake = network(discriminator, jnp.tanh(network(generator, noise)))
        as_real = jnp.mean(jax.nn.softplus(-fake))
        return as_real, jnp.mean(jax.nn.softplus(-network(discriminator, real))) + jnp.mean(
            jax.nn.softplus(fake)
        )

    @functools.partial(jax.jit, donate_argnums=0)
    def update(state, real):
        generator, discriminator, key = state
        key, drawn = jax.random.split(key)
        noise = jax.random.normal(drawn, (len(real), NOISE))
        (_, loss), pull = jax.vjp(
            lambda g, d: losses_of(g, d, noise, real), generator, discriminator
        )
        by_generator, _ = pull((jnp.float32(1.0), jnp.float32(0.0)))
        _, by_discriminator = pull((jnp.float32(0.0), jnp.float32(1.0)))
        generator = [w - RATE * g for w, g in zip(generator, by_generator)]
        discriminator = [w - RATE * g for w, g in zip(discriminator, by_discriminator)]
        return (generator, discriminator, key), loss

    generator, discriminator = (
        [jnp.array(w) for w in data[name]] for name in ("generator", "discriminator")
    )
    state = (generator, discriminator, jax.random.key(0))
    return carried(update, state), batches_jax(data)


def gan_torch(data: Data) -> Built:
    import torch
    from torch.nn.functional import leaky_relu, softplus

    generator, discriminator = (
        [torch.tensor(w, requires_grad=True) for w in data[name]]
        for name in ("generator", "discriminator")
    )

    def network(weights, x):
        for i in range(0, 4, 2):
            x = leaky_relu(torch.addmm(weights[i + 1], x, weights[i]), 0.2)
        return torch.addmm(weights[5], x, weights[4])

    def step(real):
        noise = torch.randn(len(real), NOISE)
        fake = network(discriminator, torch.tanh(network(generator, noise)))
        loss = softplus(-network(discriminator, real)).mean() + softplus(fake).mean()
        by_generator = torch.autograd.grad(softplus(-fake).mean(), generator, retain_graph=True)
        by_discriminator = torch.autograd.grad(loss, discriminator)
        with torch.no_grad():
            for w, g in zip(generator + discriminator, by_generator + by_discriminator):
                w.sub_(g, alpha=RATE)
        return loss

    return step, batches_torch(data)


# -- many small variables, each with a target of its own: the rows of one tensor


def unstacked_data(count: int) -> Data:
    rng = np.random.default_rng(0)
    weights = [normal(rng, 8) for _ in range(count)]
    return {"weights": weights, "batches": [(normal(rng, count, 8),) for _ in range(4)]}


def unstacked_tf(tf: Any, data: Data) -> Built:
    def loss_of(weights, *targets):
        return tf.add_n([tf.reduce_sum(tf.square(w - t)) for w, t in zip(weights, targets)])

    step, batches = descend_tf(tf, loss_of, data)
    return (lambda x: step(*tf.unstack(x))), batches


def unstacked_jax(data: Data) -> Built:
    import jax.numpy as jnp

    def loss_of(weights, x):
        return sum(jnp.sum(jnp.square(w - t)) for w, t in zip(weights, x))

    return descend_jax(loss_of, data)


def unstacked_torch(data: Data) -> Built:
    import torch

    def loss_of(weights, x):
        return sum(torch.sum(torch.square(w - t)) for w, t in zip(weights, x.unbind()))

    return descend_torch(loss_of, data)


def unstacked(count: int, **options: Any) -> Workload:
    return Workload(
        f"unstacked_{count}",
        f"{count} variables of 8 numbers, targets by `unstack` before the tape",
        lambda: unstacked_data(count),
        unstacked_tf,
        unstacked_jax,
        unstacked_torch,
        verify=4,
        per=count,
        family="unstacked",
        size=count,
        **options,
    )


MNIST = (784, 256, 128, 10)
AROUND = [
    Workload(
        "adam_mnist",
        "MLP 784-256-128-10, batch 64, Adam written by hand after the tape",
        lambda: mlp_data(MNIST, 64),
        adam_tf,
        adam_jax,
        adam_torch,
        short=True,
        relative=2e-3,  # Adam divides by gradients, small ones too
        rounds=3,
    ),
    Workload(
        "gan",
        f"GAN {NOISE}-64-64-{PIXELS}-64-64-1, batch {GAN_BATCH}, noise drawn before the tapes",
        gan_data,
        gan_tf,
        gan_jax,
        gan_torch,
        short=True,
        relative=5e-2,  # each library draws its own noise
    ),
    unstacked(200),
    unstacked(1000),
    unstacked(2000),
]
