"""What is measured. Each workload is one source for everything that is called `tf`, one for
`jax.jit` with donated buffers as one would write it by hand, and one for PyTorch.

A workload is built from NumPy data that are the same everywhere. `tf(tf, data)`, `jax(data)` and
`torch(data)` give `(step, batches)`: `step(*batches[i])` does one training step and gives its loss,
a handle that may still be computing. What only the Python value of an argument decides (the number
of cells of an episode) is written in the shape of the batch, as in a program for TensorFlow.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

RATE = 0.01
Built = tuple[Callable[..., Any], Sequence[tuple[Any, ...]]]


@dataclasses.dataclass(frozen=True)
class Workload:
    """One row of the table. A builder that is None does not apply to that library."""

    name: str
    title: str
    data: Callable[[], dict[str, Any]]
    tf: Callable[[Any, dict[str, Any]], Built]
    jax: Callable[[dict[str, Any]], Built] | None = None
    torch: Callable[[dict[str, Any]], Built] | None = None
    verify: int = 10  # steps whose losses are compared before anything is timed
    per: int = 1  # what stands inside a step (ops), for the time of one
    short: bool = True  # part of the short run
    cold: bool = False  # the first `verify` steps are timed in a fresh process
    functions: bool = True  # can be a `tf.function`


def normal(rng: np.random.Generator, *shape: int, scale: float = 1.0) -> np.ndarray:
    return (scale * rng.normal(size=shape)).astype("float32")


# -- multilayer perceptrons, SGD written with assign_sub


def mlp_data(sizes: tuple[int, ...], batch: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    weights = []
    for fan_in, fan_out in zip(sizes, sizes[1:]):
        weights += [normal(rng, fan_in, fan_out, scale=fan_in**-0.5), np.zeros(fan_out, "float32")]
    batches = []
    for _ in range(8):
        x = normal(rng, batch, sizes[0])
        if sizes[-1] == 1:
            batches.append((x, np.sin(x.sum(1, keepdims=True))))
        else:
            batches.append((x, rng.integers(0, sizes[-1], batch).astype("int32")))
    return {"weights": weights, "batches": batches, "classes": sizes[-1]}


def mlp_tf(tf: Any, data: dict[str, Any]) -> Built:
    weights = [tf.Variable(w) for w in data["weights"]]
    regression = data["classes"] == 1

    def step(x, y):
        with tf.GradientTape() as tape:
            for i in range(0, len(weights), 2):
                x = tf.matmul(x, weights[i]) + weights[i + 1]
                if i + 2 < len(weights):
                    x = tf.nn.relu(x)
            if regression:
                loss = tf.reduce_mean(tf.square(x - y))
            else:
                loss = tf.reduce_mean(
                    tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x)
                )
        for w, g in zip(weights, tape.gradient(loss, weights)):
            w.assign_sub(RATE * g)
        return loss

    return step, [tuple(map(tf.constant, batch)) for batch in data["batches"]]


def mlp_jax(data: dict[str, Any]) -> Built:
    import jax
    import jax.numpy as jnp

    regression = data["classes"] == 1

    def loss_of(weights, x, y):
        for i in range(0, len(weights), 2):
            x = x @ weights[i] + weights[i + 1]
            if i + 2 < len(weights):
                x = jax.nn.relu(x)
        if regression:
            return jnp.mean(jnp.square(x - y))
        picked = jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], axis=1)
        return -jnp.mean(picked)

    @functools.partial(jax.jit, donate_argnums=0)
    def update(weights, x, y):
        loss, gradients = jax.value_and_grad(loss_of)(weights, x, y)
        return [w - RATE * g for w, g in zip(weights, gradients)], loss

    return carried(update, [jnp.array(w) for w in data["weights"]]), [
        tuple(map(jnp.asarray, batch)) for batch in data["batches"]
    ]


def carried(update: Callable[..., Any], state: Any) -> Callable[..., Any]:
    """A step that keeps its state: `update(state, *batch)` gives the next state and the loss."""

    def step(*batch):
        nonlocal state
        state, loss = update(state, *batch)
        return loss

    return step


def mlp_torch(data: dict[str, Any]) -> Built:
    import torch

    weights = [torch.tensor(w, requires_grad=True) for w in data["weights"]]
    regression = data["classes"] == 1

    def step(x, y):
        for i in range(0, len(weights), 2):
            x = torch.addmm(weights[i + 1], x, weights[i])
            if i + 2 < len(weights):
                x = torch.relu(x)
        if regression:
            loss = torch.mean(torch.square(x - y))
        else:
            loss = torch.nn.functional.cross_entropy(x, y)
        gradients = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            for w, g in zip(weights, gradients):
                w.sub_(g, alpha=RATE)
        return loss

    return step, [
        (torch.tensor(x), torch.tensor(y if regression else y.astype("int64")))
        for x, y in data["batches"]
    ]


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


def mlp_read_tf(tf: Any, data: dict[str, Any]) -> Built:
    step, batches = mlp_tf(tf, data)
    return (lambda x, y: float(step(x, y))), batches


def mlp_read_jax(data: dict[str, Any]) -> Built:
    step, batches = mlp_jax(data)
    return (lambda x, y: float(step(x, y))), batches


def mlp_read_torch(data: dict[str, Any]) -> Built:
    step, batches = mlp_torch(data)
    return (lambda x, y: float(step(x, y))), batches


# -- a chain of cheap ops on eight numbers: the cost of an op in a tape, and how it grows


def chain_data(ops: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {"start": normal(rng, 8), "ops": ops, "batches": [(normal(rng, 8),) for _ in range(4)]}


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


def chain_tf(tf: Any, data: dict[str, Any]) -> Built:
    start = tf.Variable(data["start"])

    def step(shift):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(chain(tf.tanh, start, shift, data["ops"]))
        start.assign_sub(RATE * tape.gradient(loss, start))
        return loss

    return step, [tuple(map(tf.constant, batch)) for batch in data["batches"]]


def chain_jax(data: dict[str, Any]) -> Built:
    import jax
    import jax.numpy as jnp

    def loss_of(start, shift):
        return jnp.sum(chain(jnp.tanh, start, shift, data["ops"]))

    @functools.partial(jax.jit, donate_argnums=0)
    def update(start, shift):
        loss, gradient = jax.value_and_grad(loss_of)(start, shift)
        return start - RATE * gradient, loss

    return carried(update, jnp.array(data["start"])), [
        tuple(map(jnp.asarray, batch)) for batch in data["batches"]
    ]


def chain_torch(data: dict[str, Any]) -> Built:
    import torch

    start = torch.tensor(data["start"], requires_grad=True)

    def step(shift):
        loss = torch.sum(chain(torch.tanh, start, shift, data["ops"]))
        (gradient,) = torch.autograd.grad(loss, [start])
        with torch.no_grad():
            start.sub_(gradient, alpha=RATE)
        return loss

    return step, [tuple(map(torch.tensor, batch)) for batch in data["batches"]]


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
        **options,
    )


# -- episodes of random length: a Python loop over 10 to 40 recurrent cells

WIDTH, INPUTS, EPISODES = 32, 8, 240


def episodes_data() -> dict[str, Any]:
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


def episodes_tf(tf: Any, data: dict[str, Any]) -> Built:
    into, across, bias, out = weights = [tf.Variable(w) for w in data["weights"]]

    def step(*xs_and_y):
        *xs, y = xs_and_y
        with tf.GradientTape() as tape:
            h = tf.zeros([16, WIDTH])
            for x in xs:
                h = tf.tanh(tf.matmul(x, into) + tf.matmul(h, across) + bias)
            loss = tf.reduce_mean(tf.square(tf.matmul(h, out) - y))
        for w, g in zip(weights, tape.gradient(loss, weights)):
            w.assign_sub(RATE * g)
        return loss

    return step, [(*map(tf.constant, x), tf.constant(y)) for x, y in data["batches"]]


def episodes_jax(data: dict[str, Any]) -> Built:
    """By hand one writes `lax.scan`: it compiles once for each length."""
    import jax
    import jax.numpy as jnp

    def loss_of(weights, x, y):
        into, across, bias, out = weights
        cell = lambda h, x: (jnp.tanh(x @ into + h @ across + bias), None)  # noqa: E731
        h, _ = jax.lax.scan(cell, jnp.zeros((16, WIDTH)), x)
        return jnp.mean(jnp.square(h @ out - y))

    @functools.partial(jax.jit, donate_argnums=0)
    def update(weights, x, y):
        loss, gradients = jax.value_and_grad(loss_of)(weights, x, y)
        return [w - RATE * g for w, g in zip(weights, gradients)], loss

    return carried(update, [jnp.array(w) for w in data["weights"]]), [
        tuple(map(jnp.asarray, batch)) for batch in data["batches"]
    ]


def episodes_torch(data: dict[str, Any]) -> Built:
    import torch

    weights = [torch.tensor(w, requires_grad=True) for w in data["weights"]]

    def step(*xs_and_y):
        *xs, y = xs_and_y
        into, across, bias, out = weights
        h = torch.zeros(16, WIDTH)
        for x in xs:
            h = torch.tanh(x @ into + h @ across + bias)
        loss = torch.mean(torch.square(h @ out - y))
        gradients = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            for w, g in zip(weights, gradients):
                w.sub_(g, alpha=RATE)
        return loss

    return step, [(*map(torch.tensor, x), torch.tensor(y)) for x, y in data["batches"]]


# -- an embedding table: the step should cost what the batch costs

COLUMNS, LOOKUPS = 64, 256


def embedding_data(rows: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    batches = [
        (rng.integers(0, rows, LOOKUPS).astype("int32"), normal(rng, LOOKUPS, COLUMNS))
        for _ in range(8)
    ]
    return {"table": normal(rng, rows, COLUMNS), "batches": batches}


def embedding_tf(tf: Any, data: dict[str, Any]) -> Built:
    table = tf.Variable(data["table"])

    def step(ids, wanted):
        with tf.GradientTape() as tape:
            rows = tf.nn.embedding_lookup(table, ids)
            loss = tf.reduce_mean(tf.square(rows - wanted))
        gradient = tape.gradient(loss, table)
        table.scatter_sub(tf.IndexedSlices(RATE * gradient.values, gradient.indices))
        return loss

    return step, [tuple(map(tf.constant, batch)) for batch in data["batches"]]


def embedding_jax(data: dict[str, Any]) -> Built:
    import jax
    import jax.numpy as jnp

    def loss_of(rows, wanted):
        return jnp.mean(jnp.square(rows - wanted))

    @functools.partial(jax.jit, donate_argnums=0)
    def update(table, ids, wanted):
        loss, gradient = jax.value_and_grad(loss_of)(table[ids], wanted)
        return table.at[ids].add(-RATE * gradient), loss

    return carried(update, jnp.array(data["table"])), [
        tuple(map(jnp.asarray, batch)) for batch in data["batches"]
    ]


def embedding_torch(data: dict[str, Any]) -> Built:
    import torch

    table = torch.tensor(data["table"])

    def step(ids, wanted):
        rows = table[ids].requires_grad_()
        loss = torch.mean(torch.square(rows - wanted))
        (gradient,) = torch.autograd.grad(loss, [rows])
        table.index_add_(0, ids, gradient, alpha=-RATE)
        return loss

    return step, [tuple(map(torch.tensor, batch)) for batch in data["batches"]]


def embedding(rows: int, **options: Any) -> Workload:
    return Workload(
        f"embedding_{rows}",
        f"embedding table {rows} x {COLUMNS}, {LOOKUPS} look-ups",
        lambda: embedding_data(rows),
        embedding_tf,
        embedding_jax,
        embedding_torch,
        **options,
    )


# -- one op, one read, one assign, one gradient

REPEATS = 100


def one_data() -> dict[str, Any]:
    return {"x": np.linspace(0.0, 1.0, 4).astype("float32"), "batches": [()]}


def op_tape_tf(tf: Any, data: dict[str, Any]) -> Built:
    x, shift = tf.constant(data["x"]), tf.constant(data["x"])

    def step():
        with tf.GradientTape() as tape:
            tape.watch(x)
            for _ in range(REPEATS):
                tf.add(x, shift)

    return step, [()]


def op_tf(tf: Any, data: dict[str, Any]) -> Built:
    x, shift = tf.constant(data["x"]), tf.constant(data["x"])

    def step():
        for _ in range(REPEATS):
            tf.add(x, shift)

    return step, [()]


def op_jax(data: dict[str, Any]) -> Built:
    import jax.numpy as jnp

    x, shift = jnp.asarray(data["x"]), jnp.asarray(data["x"])

    def step():
        for _ in range(REPEATS):
            jnp.add(x, shift)

    return step, [()]


def op_torch(data: dict[str, Any]) -> Built:
    import torch

    x, shift = torch.tensor(data["x"], requires_grad=True), torch.tensor(data["x"])

    def step():
        for _ in range(REPEATS):
            torch.add(x, shift)

    return step, [()]


def read_tf(tf: Any, data: dict[str, Any]) -> Built:
    v = tf.Variable(2.0)
    return (lambda: float(v)), [()]


def read_jax(data: dict[str, Any]) -> Built:
    import jax.numpy as jnp

    v = jnp.float32(2.0) + 0
    return (lambda: float(v)), [()]


def read_torch(data: dict[str, Any]) -> Built:
    import torch

    v = torch.tensor(2.0)
    return (lambda: float(v)), [()]


def assign_tf(tf: Any, data: dict[str, Any]) -> Built:
    v, x = tf.Variable(data["x"]), tf.constant(data["x"])

    def step():
        v.assign(x)

    return step, [()]


def assign_torch(data: dict[str, Any]) -> Built:
    import torch

    v, x = torch.tensor(data["x"]), torch.tensor(data["x"])

    def step():
        v.copy_(x)

    return step, [()]


def square_tf(tf: Any, data: dict[str, Any]) -> Built:
    v = tf.Variable(3.0)

    def step():
        with tf.GradientTape() as tape:
            y = v * v
        return float(tape.gradient(y, v))

    return step, [()]


def square_jax(data: dict[str, Any]) -> Built:
    import jax
    import jax.numpy as jnp

    gradient = jax.jit(jax.grad(lambda v: v * v))
    v = jnp.float32(3.0) + 0
    return (lambda: float(gradient(v))), [()]


def square_torch(data: dict[str, Any]) -> Built:
    import torch

    v = torch.tensor(3.0, requires_grad=True)
    return (lambda: float(torch.autograd.grad(v * v, [v])[0])), [()]


def one(name: str, title: str, tf: Any, jax: Any, torch: Any, per: int = 1) -> Workload:
    return Workload(name, title, one_data, tf, jax, torch, verify=2, per=per, functions=False)


WORKLOADS = [
    Workload(
        "episodes",
        "10 to 40 recurrent cells, another number at each step",
        episodes_data,
        episodes_tf,
        episodes_jax,
        episodes_torch,
        verify=60,
        short=False,
        cold=True,
        functions=False,
    ),
    mlp("mlp_tiny", (10, 32, 32, 1), 32),
    dataclasses.replace(
        mlp("mlp_tiny_read", (10, 32, 32, 1), 32),
        title="the same, the loss read at each step",
        tf=mlp_read_tf,
        jax=mlp_read_jax,
        torch=mlp_read_torch,
        functions=False,
    ),
    mlp("mlp_mnist", (784, 256, 128, 10), 64),
    mlp("mlp_wide", (784, 1024, 1024, 10), 256),
    chain_of(500),
    chain_of(2000, short=False),
    chain_of(5000, short=False),
    embedding(10_000, short=False),
    embedding(100_000),
    embedding(1_000_000, short=False),
    one("op_in_tape", "one `add` in a tape, result dropped", op_tape_tf, None, op_torch, REPEATS),
    one("op", "one `add` without a tape", op_tf, op_jax, None, REPEATS),
    one("read", "`float` of a Variable", read_tf, read_jax, read_torch),
    one("assign", "one `assign`", assign_tf, None, assign_torch),
    one("square", "gradient of `v * v`, read", square_tf, square_jax, square_torch),
]
