"""What a workload is, and the plain SGD step around a loss for each library."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

RATE = 0.01
Data = dict[str, Any]
Built = tuple[Callable[..., Any], Sequence[tuple[Any, ...]]]


@dataclasses.dataclass(frozen=True)
class Workload:
    """One row of the table. A builder that is None does not apply to that library."""

    name: str
    title: str
    data: Callable[[], Data]
    tf: Callable[[Any, Data], Built]
    jax: Callable[[Data], Built] | None = None
    torch: Callable[[Data], Built] | None = None
    verify: int = 10  # steps whose losses are compared before anything is timed
    per: int = 1  # what stands inside a step (ops), for the time of one
    short: bool = False  # part of the short run
    read: bool = False  # the loss of each step is read before the next
    cold: bool = False  # the first `verify` steps are timed in a fresh process
    functions: bool = True  # can be a `tf.function`
    family: str = ""  # what it shares with its variants; its own name if empty
    size: int = 0  # by which the variants of a family differ
    relative: float = 2e-4  # by how much losses may part: sums are ordered in other ways
    extra: bool = False  # run only when asked for by name
    rounds: int = 1  # times as many rounds: for a ratio that is judged to a few per cent


def normal(rng: np.random.Generator, *shape: int, scale: float = 1.0) -> np.ndarray:
    return (scale * rng.normal(size=shape)).astype("float32")


def dense(rng: np.random.Generator, *sizes: int) -> list[np.ndarray]:
    """Weights and biases of the layers from the first size to the last, in turn."""
    weights = []
    for fan_in, fan_out in zip(sizes, sizes[1:]):
        weights += [normal(rng, fan_in, fan_out, scale=fan_in**-0.5), np.zeros(fan_out, "float32")]
    return weights


def cast(data: Data, dtype: str) -> Data:
    """The same data with all floats of another dtype, such as bfloat16."""
    kind = getattr(ml_dtypes, dtype, dtype)

    def converted(a: np.ndarray) -> np.ndarray:
        return a.astype(kind) if a.dtype.kind == "f" else a

    return data | {
        "weights": [converted(w) for w in data["weights"]],
        "batches": [tuple(map(converted, batch)) for batch in data["batches"]],
    }


def batches_tf(tf: Any, data: Data) -> list[tuple[Any, ...]]:
    return [tuple(map(tf.constant, batch)) for batch in data["batches"]]


def batches_jax(data: Data) -> list[tuple[Any, ...]]:
    import jax.numpy as jnp

    return [tuple(map(jnp.asarray, batch)) for batch in data["batches"]]


def batches_torch(data: Data) -> list[tuple[Any, ...]]:
    """Integers become int64, which PyTorch wants of labels and of indices."""
    import torch

    return [
        tuple(torch.tensor(a.astype("int64") if a.dtype.kind == "i" else a) for a in batch)
        for batch in data["batches"]
    ]


def carried(update: Callable[..., Any], state: Any) -> Callable[..., Any]:
    """A step that keeps its state: `update(state, *batch)` gives the next state and the loss."""

    def step(*batch):
        nonlocal state
        state, loss = update(state, *batch)
        return loss

    return step


def descend_tf(tf: Any, loss_of: Callable[..., Any], data: Data) -> Built:
    """SGD on `loss_of(weights, *batch)`, written with a tape and `assign_sub`."""
    weights = [tf.Variable(w) for w in data["weights"]]

    def step(*batch):
        with tf.GradientTape() as tape:
            loss = loss_of(weights, *batch)
        for w, g in zip(weights, tape.gradient(loss, weights)):
            w.assign_sub(RATE * g)
        return loss

    return step, batches_tf(tf, data)


def descend_jax(loss_of: Callable[..., Any], data: Data) -> Built:
    import jax
    import jax.numpy as jnp

    @functools.partial(jax.jit, donate_argnums=0)
    def update(weights, *batch):
        loss, gradients = jax.value_and_grad(loss_of)(weights, *batch)
        return [w - RATE * g for w, g in zip(weights, gradients)], loss

    return carried(update, [jnp.array(w) for w in data["weights"]]), batches_jax(data)


def descend_torch(loss_of: Callable[..., Any], data: Data) -> Built:
    import torch

    weights = [torch.tensor(w, requires_grad=True) for w in data["weights"]]

    def step(*batch):
        loss = loss_of(weights, *batch)
        gradients = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            for w, g in zip(weights, gradients):
                w.sub_(g, alpha=RATE)
        return loss

    return step, batches_torch(data)
