"""Convolutional networks: a plain one, a ResNet block, a small U-Net."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import Built, Data, Workload, dense, descend_jax, descend_tf, descend_torch, normal
from .networks import cross_entropy_jax, cross_entropy_tf

EPSILON = 1e-3


def kernel(rng: np.random.Generator, side: int, before: int, after: int) -> np.ndarray:
    return normal(rng, side, side, before, after, scale=(side * side * before) ** -0.5)


def images(rng: np.random.Generator, batch: int, side: int, channels: int) -> list[Any]:
    """Batches of images and of one of ten classes for each."""
    return [
        (normal(rng, batch, side, side, channels), rng.integers(0, 10, batch).astype("int32"))
        for _ in range(4)
    ]


def conv_jax(x: Any, kernel: Any, stride: int = 1) -> Any:
    from jax import lax

    form = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, kernel, (stride, stride), "SAME", dimension_numbers=form)


def pool_jax(x: Any) -> Any:
    """2x2 max pooling; on CPUs the derivative of this is much quicker than that of
    `lax.reduce_window`."""
    import jax.numpy as jnp

    n, height, width, channels = x.shape
    return jnp.max(x.reshape(n, height // 2, 2, width // 2, 2, channels), axis=(2, 4))


def for_torch(data: Data) -> Data:
    """Images and kernels in PyTorch's order of axes. It serves transposed convolutions too: their
    kernel is [h, w, out, in] here, [in, out, h, w] there."""

    def ordered(a, *axes):
        return np.ascontiguousarray(a.transpose(axes)) if a.ndim == 4 else a.copy()

    return {
        "weights": [ordered(w, 3, 2, 0, 1) for w in data["weights"]],
        "batches": [tuple(ordered(a, 0, 3, 1, 2) for a in batch) for batch in data["batches"]],
    }


# -- two convolutions of 28 x 28 images, a pooling, a dense layer


def conv_net_data(batch: int = 32, side: int = 28, channels: tuple[int, int] = (32, 64)) -> Data:
    rng = np.random.default_rng(0)
    first, second = channels
    return {
        "weights": [
            kernel(rng, 3, 1, first),
            np.zeros(first, "float32"),
            kernel(rng, 3, first, second),
            np.zeros(second, "float32"),
            *dense(rng, (side // 2) ** 2 * second, 10),
        ],
        "batches": images(rng, batch, side, 1),
    }


def conv_net_tf(tf: Any, data: Data) -> Built:
    def loss_of(weights, x, y):
        k0, b0, k1, b1, w, b = weights
        x = tf.nn.relu(tf.nn.conv2d(x, k0, strides=1, padding="SAME") + b0)
        x = tf.nn.relu(tf.nn.conv2d(x, k1, strides=1, padding="SAME") + b1)
        x = tf.nn.max_pool2d(x, ksize=2, strides=2, padding="VALID")
        return cross_entropy_tf(tf, tf.matmul(tf.reshape(x, [x.shape[0], -1]), w) + b, y)

    return descend_tf(tf, loss_of, data)


def conv_net_jax(data: Data) -> Built:
    import jax

    def loss_of(weights, x, y):
        k0, b0, k1, b1, w, b = weights
        x = jax.nn.relu(conv_jax(x, k0) + b0)
        x = jax.nn.relu(conv_jax(x, k1) + b1)
        return cross_entropy_jax(pool_jax(x).reshape(len(x), -1) @ w + b, y)

    return descend_jax(loss_of, data)


def conv_net_torch(data: Data) -> Built:
    from torch.nn import functional as F

    *kernels, last, last_bias = data["weights"]
    side = data["batches"][0][0].shape[1] // 2
    last = last.reshape(side, side, -1, 10).transpose(2, 0, 1, 3).reshape(-1, 10)

    def loss_of(weights, x, y):
        k0, b0, k1, b1, w, b = weights
        x = F.relu(F.conv2d(x, k0, b0, padding=1))
        x = F.max_pool2d(F.relu(F.conv2d(x, k1, b1, padding=1)), 2)
        return F.cross_entropy(x.flatten(1) @ w + b, y)

    return descend_torch(loss_of, for_torch(data | {"weights": [*kernels, last, last_bias]}))


# -- two residual blocks with batch normalization, the second one halving the image


def resnet_data(batch: int = 32, side: int = 16, channels: tuple[int, int] = (32, 64)) -> Data:
    rng = np.random.default_rng(0)
    narrow, wide = channels

    def normalized(side, before, after):
        ones, zeros = np.ones(after, "float32"), np.zeros(after, "float32")
        return [kernel(rng, side, before, after), ones, zeros]

    return {
        "weights": [
            *normalized(3, 3, narrow),
            *normalized(3, narrow, narrow),
            *normalized(3, narrow, narrow),
            *normalized(3, narrow, wide),
            *normalized(3, wide, wide),
            *normalized(1, narrow, wide),
            *dense(rng, wide, 10),
        ],
        "batches": images(rng, batch, side, 3),
    }


def resnet(relu: Any, layer: Any, weights: Any, x: Any) -> Any:
    """`layer(x, kernel, scale, shift, stride)` convolves and normalizes; the same text for every
    library."""
    stem, first, second, third, fourth, across = (weights[i : i + 3] for i in range(0, 18, 3))
    x = relu(layer(x, *stem, 1))
    x = relu(x + layer(relu(layer(x, *first, 1)), *second, 1))
    halved = layer(relu(layer(x, *third, 2)), *fourth, 1)
    return relu(layer(x, *across, 2) + halved)


def resnet_tf(tf: Any, data: Data) -> Built:
    def layer(x, kernel, scale, shift, stride):
        x = tf.nn.conv2d(x, kernel, strides=stride, padding="SAME")
        mean, variance = tf.nn.moments(x, [0, 1, 2])
        return tf.nn.batch_normalization(x, mean, variance, shift, scale, EPSILON)

    def loss_of(weights, x, y):
        x = tf.reduce_mean(resnet(tf.nn.relu, layer, weights, x), axis=[1, 2])
        return cross_entropy_tf(tf, tf.matmul(x, weights[-2]) + weights[-1], y)

    return descend_tf(tf, loss_of, data)


def resnet_jax(data: Data) -> Built:
    import jax
    import jax.numpy as jnp

    def layer(x, kernel, scale, shift, stride):
        x = conv_jax(x, kernel, stride)
        return jax.nn.standardize(x, axis=(0, 1, 2), epsilon=EPSILON) * scale + shift

    def loss_of(weights, x, y):
        x = jnp.mean(resnet(jax.nn.relu, layer, weights, x), axis=(1, 2))
        return cross_entropy_jax(x @ weights[-2] + weights[-1], y)

    return descend_jax(loss_of, data)


def resnet_torch(data: Data) -> Built:
    """With a stride of 2 TensorFlow pads below and to the right, PyTorch on all sides."""
    from torch.nn import functional as F

    def layer(x, kernel, scale, shift, stride):
        if kernel.shape[-1] == 3:
            x = F.pad(x, (2 - stride, 1, 2 - stride, 1))
        x = F.conv2d(x, kernel, stride=stride)
        return F.batch_norm(x, None, None, scale, shift, training=True, eps=EPSILON)

    def loss_of(weights, x, y):
        x = resnet(F.relu, layer, weights, x).mean((2, 3))
        return F.cross_entropy(x @ weights[-2] + weights[-1], y)

    return descend_torch(loss_of, for_torch(data))


# -- a U-Net that marks the pixels of noisy images: two levels down, two up again


def unet_data(batch: int = 8, side: int = 32, width: int = 16) -> Data:
    rng = np.random.default_rng(0)
    convolutions = [
        (3, 1, width),
        (3, width, 2 * width),
        (3, 2 * width, 4 * width),
        (2, 2 * width, 4 * width),  # transposed: [h, w, out, in]
        (3, 4 * width, 2 * width),
        (2, width, 2 * width),  # transposed
        (3, 2 * width, width),
        (1, width, 1),
    ]
    weights, batches = [kernel(rng, *shape) for shape in convolutions], []
    for _ in range(4):
        coarse = rng.integers(0, 2, (batch, 4, 4, 1)).astype("float32")
        mask = coarse.repeat(side // 4, axis=1).repeat(side // 4, axis=2)
        batches.append((mask + normal(rng, batch, side, side, 1), mask))
    return {"weights": weights, "batches": batches}


def unet(conv: Any, up: Any, pool: Any, beside: Any, weights: Any, x: Any) -> Any:
    """Features of each pixel; `conv` ends in a ReLU. The same text for every library."""
    k0, k1, k2, up0, k3, up1, k4 = weights
    fine = conv(x, k0)
    middle = conv(pool(fine), k1)
    coarse = conv(pool(middle), k2)
    middle = conv(beside(up(coarse, up0), middle), k3)
    return conv(beside(up(middle, up1), fine), k4)


def unet_tf(tf: Any, data: Data) -> Built:
    def conv(x, kernel):
        return tf.nn.relu(tf.nn.conv2d(x, kernel, strides=1, padding="SAME"))

    def up(x, kernel):
        n, height, width, _ = x.shape
        shape = [n, 2 * height, 2 * width, kernel.shape[2]]
        return tf.nn.conv2d_transpose(x, kernel, output_shape=shape, strides=2, padding="SAME")

    def pool(x):
        return tf.nn.max_pool2d(x, ksize=2, strides=2, padding="VALID")

    def beside(a, b):
        return tf.concat([a, b], axis=3)

    def loss_of(weights, x, y):
        x = unet(conv, up, pool, beside, weights[:-1], x)
        logits = tf.nn.conv2d(x, weights[-1], strides=1, padding="SAME")
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))

    return descend_tf(tf, loss_of, data)


def unet_jax(data: Data) -> Built:
    import jax
    import jax.numpy as jnp
    from jax import lax

    def conv(x, kernel):
        return jax.nn.relu(conv_jax(x, kernel))

    def up(x, kernel):
        form = ("NHWC", "HWIO", "NHWC")
        return lax.conv_transpose(
            x, kernel, (2, 2), "SAME", dimension_numbers=form, transpose_kernel=True
        )

    def beside(a, b):
        return jnp.concatenate([a, b], axis=3)

    def loss_of(weights, x, y):
        logits = conv_jax(unet(conv, up, pool_jax, beside, weights[:-1], x), weights[-1])
        return jnp.mean(jax.nn.softplus(logits) - y * logits)

    return descend_jax(loss_of, data)


def unet_torch(data: Data) -> Built:
    import torch
    from torch.nn import functional as F

    def conv(x, kernel):
        return F.relu(F.conv2d(x, kernel, padding=1))

    def up(x, kernel):
        return F.conv_transpose2d(x, kernel, stride=2)

    def pool(x):
        return F.max_pool2d(x, 2)

    def beside(a, b):
        return torch.cat([a, b], dim=1)

    def loss_of(weights, x, y):
        logits = F.conv2d(unet(conv, up, pool, beside, weights[:-1], x), weights[-1])
        return F.binary_cross_entropy_with_logits(logits, y)

    return descend_torch(loss_of, for_torch(data))


IMAGES = [
    Workload(
        "conv_net",
        "convolutions 3x3x32, 3x3x64 on 28x28 images, pooling, dense 10, batch 32",
        conv_net_data,
        conv_net_tf,
        conv_net_jax,
        conv_net_torch,
        rounds=2,
    ),
    Workload(
        "resnet",
        "two residual blocks 3x3x32, 3x3x64 on 16x16 images, batch 32",
        resnet_data,
        resnet_tf,
        resnet_jax,
        resnet_torch,
    ),
    Workload(
        "unet",
        "U-Net of 16, 32, 64 channels on 32x32 images, batch 8",
        unet_data,
        unet_tf,
        unet_jax,
        unet_torch,
    ),
]
