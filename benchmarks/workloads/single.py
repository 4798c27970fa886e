"""One op, one read, one assign, one gradient: what each costs by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import Built, Data, Workload

REPEATS = 100


def one_data() -> Data:
    return {"x": np.linspace(0.0, 1.0, 4).astype("float32"), "batches": [()]}


def op_tape_tf(tf: Any, data: Data) -> Built:
    x, shift = tf.constant(data["x"]), tf.constant(data["x"])

    def step():
        with tf.GradientTape() as tape:
            tape.watch(x)
            for _ in range(REPEATS):
                tf.add(x, shift)

    return step, [()]


def op_tf(tf: Any, data: Data) -> Built:
    x, shift = tf.constant(data["x"]), tf.constant(data["x"])

    def step():
        for _ in range(REPEATS):
            tf.add(x, shift)

    return step, [()]


def op_jax(data: Data) -> Built:
    import jax.numpy as jnp

    x, shift = jnp.asarray(data["x"]), jnp.asarray(data["x"])

    def step():
        for _ in range(REPEATS):
            jnp.add(x, shift)

    return step, [()]


def op_torch(data: Data) -> Built:
    import torch

    x, shift = torch.tensor(data["x"], requires_grad=True), torch.tensor(data["x"])

    def step():
        for _ in range(REPEATS):
            torch.add(x, shift)

    return step, [()]


def read_tf(tf: Any, data: Data) -> Built:
    v = tf.Variable(2.0)
    return (lambda: float(v)), [()]


def read_jax(data: Data) -> Built:
    import jax.numpy as jnp

    v = jnp.float32(2.0) + 0
    return (lambda: float(v)), [()]


def read_torch(data: Data) -> Built:
    import torch

    v = torch.tensor(2.0)
    return (lambda: float(v)), [()]


def assign_tf(tf: Any, data: Data) -> Built:
    v, x = tf.Variable(data["x"]), tf.constant(data["x"])

    def step():
        v.assign(x)

    return step, [()]


def assign_torch(data: Data) -> Built:
    import torch

    v, x = torch.tensor(data["x"]), torch.tensor(data["x"])

    def step():
        v.copy_(x)

    return step, [()]


def square_tf(tf: Any, data: Data) -> Built:
    v = tf.Variable(3.0)

    def step():
        with tf.GradientTape() as tape:
            y = v * v
        return float(tape.gradient(y, v))

    return step, [()]


def square_jax(data: Data) -> Built:
    import jax
    import jax.numpy as jnp

    gradient = jax.jit(jax.grad(lambda v: v * v))
    v = jnp.float32(3.0) + 0
    return (lambda: float(gradient(v))), [()]


def square_torch(data: Data) -> Built:
    import torch

    v = torch.tensor(3.0, requires_grad=True)
    return (lambda: float(torch.autograd.grad(v * v, [v])[0])), [()]


def one(name: str, title: str, tf: Any, jax: Any, torch: Any, per: int = 1) -> Workload:
    return Workload(
        name,
        title,
        one_data,
        tf,
        jax,
        torch,
        verify=2,
        per=per,
        short=True,
        functions=False,
        family="single",
    )


SINGLE = [
    one("op_in_tape", "one `add` in a tape, result dropped", op_tape_tf, None, op_torch, REPEATS),
    one("op", "one `add` without a tape", op_tf, op_jax, None, REPEATS),
    one("read", "`float` of a Variable", read_tf, read_jax, read_torch),
    one("assign", "one `assign`", assign_tf, None, assign_torch),
    one("square", "gradient of `v * v`, read", square_tf, square_jax, square_torch),
]
