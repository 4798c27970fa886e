"""Steps whose weights are mostly tables, of which a batch reads and changes a few rows."""

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
    normal,
)


def ids(rng: np.random.Generator, words: int, *shape: int) -> np.ndarray:
    return rng.integers(0, words, shape).astype("int32")


# -- skip-gram with negative sampling: two tables, rows that are changed by hand


def skip_gram_data(words: int = 20_000, columns: int = 64, pairs: int = 128) -> Data:
    rng = np.random.default_rng(0)
    others = 5  # words that do not stand beside the one in the middle
    batches = [
        (ids(rng, words, pairs), ids(rng, words, pairs), ids(rng, words, pairs, others))
        for _ in range(8)
    ]
    tables = [normal(rng, words, columns, scale=columns**-0.5) for _ in range(2)]
    return {"weights": tables, "batches": batches}


def skip_gram_tf(tf: Any, data: Data) -> Built:
    tables = [tf.Variable(table) for table in data["weights"]]

    def step(middle, beside, others):
        with tf.GradientTape() as tape:
            word = tf.nn.embedding_lookup(tables[0], middle)
            near = tf.nn.embedding_lookup(tables[1], beside)
            far = tf.nn.embedding_lookup(tables[1], others)
            hits = tf.reduce_sum(word * near, axis=-1)
            misses = tf.reduce_sum(word[:, tf.newaxis] * far, axis=-1)
            loss = tf.reduce_mean(tf.nn.softplus(-hits))
            loss += tf.reduce_mean(tf.reduce_sum(tf.nn.softplus(misses), axis=-1))
        for table, gradient in zip(tables, tape.gradient(loss, tables)):
            table.scatter_sub(tf.IndexedSlices(RATE * gradient.values, gradient.indices))
        return loss

    return step, batches_tf(tf, data)


def skip_gram_jax(data: Data) -> Built:
    import jax
    import jax.numpy as jnp

    def loss_of(word, near, far):
        hits = jnp.sum(word * near, axis=-1)
        misses = jnp.sum(word[:, None] * far, axis=-1)
        missed = jnp.sum(jax.nn.softplus(misses), axis=-1)
        return jnp.mean(jax.nn.softplus(-hits)) + jnp.mean(missed)

    @functools.partial(jax.jit, donate_argnums=0)
    def update(tables, middle, beside, others):
        words, contexts = tables
        rows = words[middle], contexts[beside], contexts[others]
        loss, (word, near, far) = jax.value_and_grad(loss_of, (0, 1, 2))(*rows)
        words = words.at[middle].add(-RATE * word)
        contexts = contexts.at[beside].add(-RATE * near).at[others].add(-RATE * far)
        return (words, contexts), loss

    return carried(update, tuple(map(jnp.array, data["weights"]))), batches_jax(data)


def skip_gram_torch(data: Data) -> Built:
    import torch

    softplus = torch.nn.functional.softplus
    words, contexts = map(torch.tensor, data["weights"])

    def step(middle, beside, others):
        rows = [words[middle], contexts[beside], contexts[others]]
        word, near, far = [row.requires_grad_() for row in rows]
        hits, misses = (word * near).sum(-1), (word[:, None] * far).sum(-1)
        loss = softplus(-hits).mean() + softplus(misses).sum(-1).mean()
        word, near, far = torch.autograd.grad(loss, rows)
        words.index_add_(0, middle, word, alpha=-RATE)
        contexts.index_add_(0, beside, near, alpha=-RATE)
        contexts.index_add_(0, others.flatten(), far.flatten(0, 1), alpha=-RATE)
        return loss

    return step, batches_torch(data)


# -- texts of two kinds: the mean of their words, two layers, an optimizer


def texts_data(words: int = 10_000, columns: int = 32, texts: int = 32, length: int = 40) -> Data:
    rng = np.random.default_rng(0)
    batches = [(ids(rng, words, texts, length), ids(rng, 2, texts)) for _ in range(8)]
    weights = [normal(rng, words, columns), *dense(rng, columns, 16, 2)]
    return {"weights": weights, "batches": batches}


def texts_tf(tf: Any, data: Data) -> Built:
    weights = [tf.Variable(w) for w in data["weights"]]
    optimizer = tf.optimizers.SGD(RATE)
    optimizer.build(weights)

    def step(texts, kinds):
        with tf.GradientTape() as tape:
            table, w1, b1, w2, b2 = weights
            mean = tf.reduce_mean(tf.nn.embedding_lookup(table, texts), axis=1)
            logits = tf.nn.relu(mean @ w1 + b1) @ w2 + b2
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=kinds, logits=logits)
            )
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return loss

    return step, batches_tf(tf, data)


def texts_jax(data: Data) -> Built:
    import jax
    import jax.numpy as jnp

    def loss_of(rows, layers, kinds):
        w1, b1, w2, b2 = layers
        logits = jax.nn.relu(jnp.mean(rows, axis=1) @ w1 + b1) @ w2 + b2
        logits = jax.nn.log_softmax(logits)
        return -jnp.mean(jnp.take_along_axis(logits, kinds[:, None], axis=1))

    @functools.partial(jax.jit, donate_argnums=0)
    def update(weights, texts, kinds):
        table, layers = weights
        loss, (rows, of_layers) = jax.value_and_grad(loss_of, (0, 1))(table[texts], layers, kinds)
        layers = [w - RATE * g for w, g in zip(layers, of_layers)]
        return (table.at[texts].add(-RATE * rows), layers), loss

    table, *layers = map(jnp.array, data["weights"])
    return carried(update, (table, layers)), batches_jax(data)


def texts_torch(data: Data) -> Built:
    import torch

    weights = [torch.tensor(w, requires_grad=True) for w in data["weights"]]
    optimizer = torch.optim.SGD(weights, RATE)

    def step(texts, kinds):
        table, w1, b1, w2, b2 = weights
        mean = torch.nn.functional.embedding(texts, table, sparse=True).mean(1)
        logits = torch.relu(mean @ w1 + b1) @ w2 + b2
        loss = torch.nn.functional.cross_entropy(logits, kinds)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step, batches_torch(data)


EMBEDDINGS = [
    Workload(
        "skip_gram",
        "skip-gram, two tables 20000 x 64, 128 pairs, 5 negatives",
        skip_gram_data,
        skip_gram_tf,
        skip_gram_jax,
        skip_gram_torch,
        short=True,
    ),
    Workload(
        "texts",
        "table 10000 x 32, mean of 40 words, MLP 32-16-2, 32 texts, SGD as an optimizer",
        texts_data,
        texts_tf,
        texts_jax,
        texts_torch,
    ),
]
