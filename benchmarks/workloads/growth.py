"""Steps whose parts grow in number: ops in a chain, variables, rows of an embedding table."""

from __future__ import annotations

import functools
from collections.abc import Callable
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
    descend_jax,
    descend_tf,
    descend_torch,
    normal,
)

# -- a chain of cheap ops on eight numbers: the cost of an op in a tape, and how it grows


def chain_data(ops: int) -> Data:
    rng = np.random.default_rng(0)
    batches = [(normal(rng, 8),) for _ in range(4)]
    return {"weights": [normal(rng, 8)], "ops": ops, "batches": batches}


def chain(tanh: Callable[[Any], Any], x: Any, shift: Any, ops: int) -> Any:
    """`ops` ops one after the other; the same text for every library."""
    for i in range(ops):
        kind = i % 5
        if kind == 4:
            x = tanh(x)
        elif kind % 2:
            x = x + shift
        else:
            x = x * 0.99
    return x


def chain_tf(tf: Any, data: Data) -> Built:
    def loss_of(weights, shift):
        return tf.reduce_sum(chain(tf.tanh, weights[0], shift, data["ops"]))

    return descend_tf(tf, loss_of, data)


def chain_jax(data: Data) -> Built:
    import jax.numpy as jnp

    def loss_of(weights, shift):
        return jnp.sum(chain(jnp.tanh, weights[0], shift, data["ops"]))

    return descend_jax(loss_of, data)


def chain_torch(data: Data) -> Built:
    import torch

    def loss_of(weights, shift):
        return torch.sum(chain(torch.tanh, weights[0], shift, data["ops"]))

    return descend_torch(loss_of, data)


def chain_of(ops: int, **options: Any) -> Workload:
    return Workload(
        f"chain_{ops}",
        f"{ops} ops one after the other",
        lambda: chain_data(ops),
        chain_tf,
        chain_jax,
        chain_torch,
        verify=4,
        per=ops,
        family="chain",
        size=ops,
        **options,
    )


# -- many small variables, each in one term of the loss


def variables_data(count: int) -> Data:
    rng = np.random.default_rng(0)
    weights = [normal(rng, 8) for _ in range(count)]
    return {"weights": weights, "batches": [(normal(rng, 8),) for _ in range(4)]}


def variables_tf(tf: Any, data: Data) -> Built:
    def loss_of(weights, x):
        return tf.add_n([tf.reduce_sum(tf.square(w - x)) for w in weights])

    return descend_tf(tf, loss_of, data)


def variables_jax(data: Data) -> Built:
    import jax.numpy as jnp

    def loss_of(weights, x):
        return sum(jnp.sum(jnp.square(w - x)) for w in weights)

    return descend_jax(loss_of, data)


def variables_torch(data: Data) -> Built:
    import torch

    def loss_of(weights, x):
        return sum(torch.sum(torch.square(w - x)) for w in weights)

    return descend_torch(loss_of, data)


def variables(count: int, **options: Any) -> Workload:
    return Workload(
        f"variables_{count}",
        f"{count} variables of 8 numbers",
        lambda: variables_data(count),
        variables_tf,
        variables_jax,
        variables_torch,
        verify=4,
        per=count,
        family="variables",
        size=count,
        **options,
    )


# -- an embedding table: the step should cost what the batch costs

COLUMNS, LOOKUPS = 64, 256


def embedding_data(rows: int) -> Data:
    rng = np.random.default_rng(0)
    batches = [
        (rng.integers(0, rows, LOOKUPS).astype("int32"), normal(rng, LOOKUPS, COLUMNS))
        for _ in range(8)
    ]
    return {"table": normal(rng, rows, COLUMNS), "batches": batches}


def embedding_tf(tf: Any, data: Data) -> Built:
    table = tf.Variable(data["table"])

    def step(ids, wanted):
        with tf.GradientTape() as tape:
            rows = tf.nn.embedding_lookup(table, ids)
            loss = tf.reduce_mean(tf.square(rows - wanted))
        gradient = tape.gradient(loss, table)
        table.scatter_sub(tf.IndexedSlices(RATE * gradient.values, gradient.indices))
        return loss

    return step, batches_tf(tf, data)


def embedding_jax(data: Data) -> Built:
    import jax
    import jax.numpy as jnp

    def loss_of(rows, wanted):
        return jnp.mean(jnp.square(rows - wanted))

    @functools.partial(jax.jit, donate_argnums=0)
    def update(table, ids, wanted):
        loss, gradient = jax.value_and_grad(loss_of)(table[ids], wanted)
        return table.at[ids].add(-RATE * gradient), loss

    return carried(update, jnp.array(data["table"])), batches_jax(data)


def embedding_torch(data: Data) -> Built:
    import torch

    table = torch.tensor(data["table"])

    def step(ids, wanted):
        rows = table[ids].requires_grad_()
        loss = torch.mean(torch.square(rows - wanted))
        (gradient,) = torch.autograd.grad(loss, [rows])
        table.index_add_(0, ids, gradient, alpha=-RATE)
        return loss

    return step, batches_torch(data)


def embedding(rows: int, **options: Any) -> Workload:
    return Workload(
        f"embedding_{rows}",
        f"embedding table {rows} x {COLUMNS}, {LOOKUPS} look-ups",
        lambda: embedding_data(rows),
        embedding_tf,
        embedding_jax,
        embedding_torch,
        family="embedding",
        size=rows,
        **options,
    )


GROWTH = [
    chain_of(500, short=True),
    chain_of(2000),
    chain_of(5000),
    variables(200),
    variables(1000),
    variables(2000),
    embedding(10_000),
    embedding(100_000, short=True),
    embedding(1_000_000),
]
