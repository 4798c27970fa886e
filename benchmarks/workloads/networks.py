"""Feed-forward networks: MLPs of three sizes, a small CNN, two transformer blocks."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from .base import Built, Data, Workload, cast, dense, descend_jax, descend_tf, descend_torch, normal

# -- multilayer perceptrons


def mlp_data(sizes: tuple[int, ...], batch: int) -> Data:
    rng = np.random.default_rng(0)
    weights, batches = dense(rng, *sizes), []
    for _ in range(8):
        x = normal(rng, batch, sizes[0])
        if sizes[-1] == 1:
            batches.append((x, np.sin(x.sum(1, keepdims=True))))
        else:
            batches.append((x, rng.integers(0, sizes[-1], batch).astype("int32")))
    return {"weights": weights, "batches": batches, "classes": sizes[-1]}


def cross_entropy_tf(tf: Any, logits: Any, labels: Any) -> Any:
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )


def mlp_loss_tf(tf: Any, classes: int) -> Any:
    def loss_of(weights, x, y):
        for i in range(0, len(weights), 2):
            x = tf.matmul(x, weights[i]) + weights[i + 1]
            if i + 2 < len(weights):
                x = tf.nn.relu(x)
        return tf.reduce_mean(tf.square(x - y)) if classes == 1 else cross_entropy_tf(tf, x, y)

    return loss_of


def mlp_tf(tf: Any, data: Data) -> Built:
    return descend_tf(tf, mlp_loss_tf(tf, data["classes"]), data)


def cross_entropy_jax(logits: Any, labels: Any) -> Any:
    import jax
    import jax.numpy as jnp

    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1))


def mlp_loss_jax(classes: int) -> Any:
    import jax
    import jax.numpy as jnp

    def loss_of(weights, x, y):
        for i in range(0, len(weights), 2):
            x = x @ weights[i] + weights[i + 1]
            if i + 2 < len(weights):
                x = jax.nn.relu(x)
        return jnp.mean(jnp.square(x - y)) if classes == 1 else cross_entropy_jax(x, y)

    return loss_of


def mlp_jax(data: Data) -> Built:
    return descend_jax(mlp_loss_jax(data["classes"]), data)


def mlp_loss_torch(classes: int) -> Any:
    import torch
    from torch.nn import functional as F

    def loss_of(weights, x, y):
        for i in range(0, len(weights), 2):
            x = torch.addmm(weights[i + 1], x, weights[i])
            if i + 2 < len(weights):
                x = torch.relu(x)
        return F.mse_loss(x, y) if classes == 1 else F.cross_entropy(x, y)

    return loss_of


def mlp_torch(data: Data) -> Built:
    return descend_torch(mlp_loss_torch(data["classes"]), data)


def mlp(name: str, sizes: tuple[int, ...], batch: int, **options: Any) -> Workload:
    return Workload(
        name,
        f"MLP {'-'.join(map(str, sizes))}, batch {batch}",
        lambda: mlp_data(sizes, batch),
        mlp_tf,
        mlp_jax,
        mlp_torch,
        **options,
    )


# -- the same on batches that are cut from one tensor, another one at each step

BATCH, BATCHES = 64, 100


def sliced_data(sizes: tuple[int, ...]) -> Data:
    data = mlp_data(sizes, BATCH * BATCHES)
    return data | {"table": data["batches"][0], "batches": []}


def sliced(step: Any, table: tuple[Any, ...]) -> Built:
    def sliced_step(i):
        return step(*(t[BATCH * i : BATCH * (i + 1)] for t in table))

    return sliced_step, [(i,) for i in range(BATCHES)]


def sliced_tf(tf: Any, data: Data) -> Built:
    return sliced(mlp_tf(tf, data)[0], tuple(map(tf.constant, data["table"])))


def sliced_jax(data: Data) -> Built:
    import jax.numpy as jnp
    from jax import lax

    table, loss_of = tuple(map(jnp.asarray, data["table"])), mlp_loss_jax(data["classes"])

    def loss_at(weights, i):
        return loss_of(weights, *(lax.dynamic_slice_in_dim(t, BATCH * i, BATCH) for t in table))

    return descend_jax(loss_at, data | {"batches": [(np.int32(i),) for i in range(BATCHES)]})


def sliced_torch(data: Data) -> Built:
    import torch

    x, labels = data["table"]
    table = torch.tensor(x), torch.tensor(labels.astype("int64"))
    return sliced(mlp_torch(data)[0], table)


# -- a CNN: two convolutions, each with a ReLU and a pooling, and a dense layer


def cnn_data(batch: int, channels: tuple[int, int] = (16, 32)) -> Data:
    rng = np.random.default_rng(0)
    weights, before = [], 1
    for after in channels:
        weights += [
            normal(rng, 3, 3, before, after, scale=(9 * before) ** -0.5),
            np.zeros(after, "float32"),
        ]
        before = after
    weights += dense(rng, 7 * 7 * before, 10)
    batches = [
        (normal(rng, batch, 28, 28, 1), rng.integers(0, 10, batch).astype("int32"))
        for _ in range(4)
    ]
    return {"weights": weights, "batches": batches}


def cnn_tf(tf: Any, data: Data) -> Built:
    def loss_of(weights, x, y):
        for kernel, bias in zip(weights[0:4:2], weights[1:4:2]):
            x = tf.nn.relu(tf.nn.conv2d(x, kernel, strides=1, padding="SAME") + bias)
            x = tf.nn.max_pool2d(x, ksize=2, strides=2, padding="VALID")
        logits = tf.matmul(tf.reshape(x, [x.shape[0], -1]), weights[4]) + weights[5]
        return cross_entropy_tf(tf, logits, y)

    return descend_tf(tf, loss_of, data)


def cnn_jax(data: Data) -> Built:
    import jax
    import jax.numpy as jnp
    from jax import lax

    def loss_of(weights, x, y):
        for kernel, bias in zip(weights[0:4:2], weights[1:4:2]):
            x = lax.conv_general_dilated(
                x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            x = jax.nn.relu(x + bias)
            # On CPUs the derivative of this is much quicker than that of `lax.reduce_window`.
            n, height, width, channels = x.shape
            x = jnp.max(x.reshape(n, height // 2, 2, width // 2, 2, channels), axis=(2, 4))
        return cross_entropy_jax(x.reshape(len(x), -1) @ weights[4] + weights[5], y)

    return descend_jax(loss_of, data)


def cnn_torch(data: Data) -> Built:
    """The same numbers in PyTorch's order of axes: images and kernels by channel first."""
    from torch.nn import functional as F

    first, first_bias, second, second_bias, last, last_bias = data["weights"]
    last = last.reshape(7, 7, -1, 10).transpose(2, 0, 1, 3).reshape(-1, 10)
    ours = [first.transpose(3, 2, 0, 1), first_bias, second.transpose(3, 2, 0, 1), second_bias]
    batches = [(x.transpose(0, 3, 1, 2).copy(), y) for x, y in data["batches"]]

    def loss_of(weights, x, y):
        for kernel, bias in zip(weights[0:4:2], weights[1:4:2]):
            x = F.max_pool2d(F.relu(F.conv2d(x, kernel, bias, padding=1)), 2)
        return F.cross_entropy(x.flatten(1) @ weights[4] + weights[5], y)

    weights = [w.copy() for w in (*ours, last, last_bias)]
    return descend_torch(loss_of, {"weights": weights, "batches": batches})


def cnn(name: str, batch: int, **options: Any) -> Workload:
    title = f"CNN 3x3x16, 3x3x32, dense 10 on 28x28 images, batch {batch}"
    return Workload(name, title, lambda: cnn_data(batch), cnn_tf, cnn_jax, cnn_torch, **options)


# -- two transformer blocks, then the mean over places and ten classes

BLOCKS, PER_BLOCK = 2, 10


def transformer_data(batch: int, length: int, width: int, heads: int) -> Data:
    rng = np.random.default_rng(0)
    weights: list[np.ndarray] = []
    for _ in range(BLOCKS):
        weights += [np.ones(width, "float32"), np.zeros(width, "float32")]
        weights += [
            normal(rng, width, 3 * width, scale=width**-0.5),
            normal(rng, width, width, scale=width**-0.5),
            np.ones(width, "float32"),
            np.zeros(width, "float32"),
            *dense(rng, width, 4 * width, width),
        ]
    weights += dense(rng, width, 10)
    batches = [
        (normal(rng, batch, length, width), rng.integers(0, 10, batch).astype("int32"))
        for _ in range(4)
    ]
    return {"weights": weights, "batches": batches, "heads": heads}


def transformer_tf(tf: Any, data: Data) -> Built:
    heads = data["heads"]

    def normalized(x, scale, shift):
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-5) * scale + shift

    def attention(x, shape, into, out):
        batch, length, width = shape
        qkv = tf.reshape(tf.matmul(x, into), [batch, length, 3, heads, width // heads])
        q, k, v = tf.unstack(tf.transpose(qkv, [2, 0, 3, 1, 4]))
        scores = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * (width // heads) ** -0.5)
        mixed = tf.transpose(tf.matmul(scores, v), [0, 2, 1, 3])
        return tf.matmul(tf.reshape(mixed, [batch * length, width]), out)

    def loss_of(weights, x, y):
        shape = x.shape
        x = tf.reshape(x, [-1, shape[2]])
        for i in range(0, BLOCKS * PER_BLOCK, PER_BLOCK):
            s1, b1, into, out, s2, b2, up, up_bias, down, down_bias = weights[i : i + PER_BLOCK]
            x += attention(normalized(x, s1, b1), shape, into, out)
            hidden = tf.nn.gelu(tf.matmul(normalized(x, s2, b2), up) + up_bias, approximate=True)
            x += tf.matmul(hidden, down) + down_bias
        pooled = tf.reduce_mean(tf.reshape(x, shape), axis=1)
        return cross_entropy_tf(tf, tf.matmul(pooled, weights[-2]) + weights[-1], y)

    return descend_tf(tf, loss_of, data)


def transformer_jax(data: Data) -> Built:
    import jax
    import jax.numpy as jnp

    heads = data["heads"]

    def normalized(x, scale, shift):
        return jax.nn.standardize(x, axis=-1, epsilon=1e-5) * scale + shift

    def attention(x, into, out):
        batch, length, width = x.shape
        qkv = (x @ into).reshape(batch, length, 3, heads, width // heads)
        q, k, v = qkv.transpose(2, 0, 3, 1, 4)
        scores = jax.nn.softmax(q @ k.mT * (width // heads) ** -0.5)
        return (scores @ v).transpose(0, 2, 1, 3).reshape(x.shape) @ out

    def loss_of(weights, x, y):
        for i in range(0, BLOCKS * PER_BLOCK, PER_BLOCK):
            s1, b1, into, out, s2, b2, up, up_bias, down, down_bias = weights[i : i + PER_BLOCK]
            x += attention(normalized(x, s1, b1), into, out)
            x += jax.nn.gelu(normalized(x, s2, b2) @ up + up_bias) @ down + down_bias
        return cross_entropy_jax(jnp.mean(x, axis=1) @ weights[-2] + weights[-1], y)

    return descend_jax(loss_of, data)


def transformer_torch(data: Data) -> Built:
    from torch.nn import functional as F

    def attention(x, into, out):
        batch, length = x.shape[:2]
        qkv = (x @ into).view(batch, length, 3, data["heads"], -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v)
        return mixed.transpose(1, 2).reshape(x.shape) @ out

    def loss_of(weights, x, y):
        width = x.shape[-1:]
        for i in range(0, BLOCKS * PER_BLOCK, PER_BLOCK):
            s1, b1, into, out, s2, b2, up, up_bias, down, down_bias = weights[i : i + PER_BLOCK]
            x = x + attention(F.layer_norm(x, width, s1, b1), into, out)
            hidden = F.layer_norm(x, width, s2, b2) @ up + up_bias
            x = x + F.gelu(hidden, approximate="tanh") @ down + down_bias
        return F.cross_entropy(x.mean(1) @ weights[-2] + weights[-1], y)

    return descend_torch(loss_of, data)


def transformer(
    name: str, batch: int, length: int, width: int, heads: int = 4, **options: Any
) -> Workload:
    return Workload(
        name,
        f"{BLOCKS} transformer blocks, width {width}, {batch} x {length} places",
        lambda: transformer_data(batch, length, width, heads),
        transformer_tf,
        transformer_jax,
        transformer_torch,
        **options,
    )


def on_gpu(workload: Workload, dtype: str) -> Workload:
    """A workload that fills a GPU, where JAX and tape_compat are compared."""
    return dataclasses.replace(
        workload,
        name=f"{workload.name}_{dtype}",
        title=f"{workload.title}, {dtype}",
        data=lambda: cast(workload.data(), dtype),
        torch=None,
        verify=5,
        relative=2e-3 if dtype == "float32" else 2e-2,
        extra=True,
    )


TINY = mlp("mlp_tiny", (10, 32, 32, 1), 32, short=True)
NETWORKS = [
    TINY,
    dataclasses.replace(
        TINY,
        name="mlp_tiny_read",
        title="the same, the loss read at each step",
        family="mlp_tiny",
        read=True,
    ),
    mlp("mlp_mnist", (784, 256, 128, 10), 64, short=True),
    mlp("mlp_wide", (784, 1024, 1024, 10), 256, rounds=3),
    Workload(
        "batches",
        f"MLP 32-64-10, batches cut from a tensor of {BATCH * BATCHES:,} rows",
        lambda: sliced_data((32, 64, 10)),
        sliced_tf,
        sliced_jax,
        sliced_torch,
        verify=BATCHES,
        cold=True,
        functions=False,  # TensorFlow would trace one for each number
    ),
    cnn("cnn", 64, short=True),
    cnn("cnn_large", 512, family="cnn"),
    transformer("transformer", 8, 64, 128, rounds=3),
    *(
        on_gpu(workload, dtype)
        for dtype in ("float32", "bfloat16")
        for workload in (
            mlp("mlp_8192", (8192, 8192, 8192, 10), 4096),
            transformer("transformer_2048", 16, 512, 2048, heads=16),
        )
    ),
]
