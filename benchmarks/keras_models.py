"""Steps of Keras models here, on TensorFlow and on Keras' JAX backend.

`python -m benchmarks.keras_models` takes each model by a plain loop with a tape, by a decorated
step and by `fit`; `--models unet,mobilenet,resnet --kinds fit` larger ones, which take minutes.
Each library runs in a process of its own; rounds are timed in turn, so that a slow moment of the
machine meets all. What takes long to compile is interpreted meanwhile, some hundred steps of small
models: 600 come before what is timed. A figure is the median over the rounds, a ratio the median of
the ratios within rounds. Keras on JAX has no tape: its step is `jax.value_and_grad` of
`stateless_call` under `jax.jit`, which gives its buffers away.
"""

from __future__ import annotations

import argparse
import importlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

BATCH = 32
LIBRARIES = ("tensorflow", "tape_compat", "jax")
KINDS = ("loop", "function", "fit")


def _mlp(keras: Any) -> tuple[Any, tuple[int, ...]]:
    dense = keras.layers.Dense
    layers = [dense(128, activation="relu"), dense(128, activation="relu"), dense(10)]
    return keras.Sequential([keras.Input((784,)), *layers]), (784,)


def _cnn(keras: Any) -> tuple[Any, tuple[int, ...]]:
    layers = [
        keras.Input((28, 28, 1)),
        keras.layers.Conv2D(8, 3, activation="relu"),
        keras.layers.BatchNormalization(),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(16, 3, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(10),
    ]
    return keras.Sequential(layers), (28, 28, 1)


def _recurrent(keras: Any) -> tuple[Any, tuple[int, ...]]:
    layers = [
        keras.Input((20, 16)),
        keras.layers.LSTM(32, return_sequences=True),
        keras.layers.GRU(32),
        keras.layers.Dense(10),
    ]
    return keras.Sequential(layers), (20, 16)


def _attention(keras: Any) -> tuple[Any, tuple[int, ...]]:
    x = keras.Input((20, 16))
    y = keras.layers.MultiHeadAttention(4, 8)(x, x)
    y = keras.layers.LayerNormalization()(x + y)
    y = keras.layers.LayerNormalization()(y + keras.layers.Dense(16, activation="gelu")(y))
    y = keras.layers.Dense(10)(keras.layers.GlobalAveragePooling1D()(y))
    return keras.Model(x, y), (20, 16)


def _unet(keras: Any) -> tuple[Any, tuple[int, ...]]:
    layers = keras.layers
    x = y = keras.Input((32, 32, 3))
    skipped = []
    for filters in (16, 32, 64):
        y = layers.Conv2D(filters, 3, padding="same", activation="relu")(y)
        y = layers.BatchNormalization()(y)
        skipped.append(y)
        y = layers.MaxPooling2D()(y)
    for filters in (64, 32, 16):
        y = layers.Conv2DTranspose(filters, 2, strides=2)(y)
        y = layers.Concatenate()([y, skipped.pop()])
        y = layers.Conv2D(filters, 3, padding="same", activation="relu")(y)
        y = layers.BatchNormalization()(y)
    return keras.Model(x, layers.Dense(10)(layers.GlobalAveragePooling2D()(y))), (32, 32, 3)


def _application(name: str, size: int) -> Callable[[Any], tuple[Any, tuple[int, ...]]]:
    def made(keras: Any) -> tuple[Any, tuple[int, ...]]:
        shape = (size, size, 3)
        options = {"weights": None, "classifier_activation": None, "classes": 10}
        return getattr(keras.applications, name)(input_shape=shape, **options), shape

    return made


MODELS: dict[str, Callable[[Any], tuple[Any, tuple[int, ...]]]] = {
    "mlp": _mlp,
    "cnn": _cnn,
    "recurrent": _recurrent,
    "attention": _attention,
}

#: Those that take minutes.
LARGE = {
    "unet": _unet,
    "mobilenet": _application("MobileNetV2", 64),
    "resnet": _application("ResNet50", 32),
}


class Training:
    """One model trained in one way: `run(steps)`."""

    def __init__(self, keras: Any, model: str, kind: str):
        keras.utils.set_random_seed(0)
        self.model, shape = (MODELS | LARGE)[model](keras)
        generator = np.random.default_rng(0)
        self.x = generator.normal(size=(8 * BATCH, *shape)).astype(np.float32)
        self.y = generator.integers(0, 10, 8 * BATCH)
        self.loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.optimizer = keras.optimizers.Adam(1e-3)
        if kind == "fit":
            self.model.compile(self.optimizer, self.loss, metrics=["accuracy"])

    def prepare(self, steps: int) -> None:
        """What is not timed."""

    def batch(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        rows = slice(i % 8 * BATCH, (i % 8 + 1) * BATCH)
        return self.x[rows], self.y[rows]


#: Epochs of a call of `fit`, at most.
EPOCHS = 4


class Fit(Training):
    """`fit` of Keras: epochs over data that is there before."""

    def __init__(self, keras: Any, model: str, kind: str):
        super().__init__(keras, model, kind)
        #: The data of an epoch and the number of epochs, by the steps that they are together.
        self._data: dict[int, tuple[np.ndarray, np.ndarray, int]] = {}

    def prepare(self, steps: int) -> None:
        if steps not in self._data:
            epochs = next(n for n in range(EPOCHS, 0, -1) if steps % n == 0)
            batches = steps // epochs
            x, y = (np.concatenate([part] * -(-batches // 8)) for part in (self.x, self.y))
            self._data[steps] = x[: batches * BATCH], y[: batches * BATCH], epochs

    def run(self, steps: int) -> None:
        x, y, epochs = self._data[steps]
        self.model.fit(x, y, batch_size=BATCH, epochs=epochs, verbose=0, shuffle=False)


class Loop(Training):
    """A loop with a tape; its step decorated or not."""

    def __init__(self, keras: Any, tf: Any, model: str, kind: str):
        super().__init__(keras, model, kind)

        def step(x: Any, y: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = self.loss(y, self.model(x, training=True))
            gradients = tape.gradient(loss, self.model.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))
            return loss

        self.step = tf.function(step) if kind == "function" else step
        self.batches = [tuple(map(tf.constant, self.batch(i))) for i in range(8)]

    def run(self, steps: int) -> None:
        losses = [self.step(*self.batches[i % 8]) for i in range(steps)]
        float(losses[-1])


class Jitted(Training):
    """A step of Keras on JAX."""

    def __init__(self, keras: Any, model: str, kind: str):
        super().__init__(keras, model, kind)
        import jax

        self.optimizer.build(self.model.trainable_variables)
        self.state = [
            [v.value for v in variables]
            for variables in (
                self.model.trainable_variables,
                self.model.non_trainable_variables,
                self.optimizer.variables,
            )
        ]

        def loss_of(trainable: Any, others: Any, x: Any, y: Any) -> Any:
            out, others = self.model.stateless_call(trainable, others, x, training=True)
            return self.loss(y, out), others

        def step(state: Any, x: Any, y: Any) -> Any:
            trainable, others, slots = state
            (loss, others), gradients = jax.value_and_grad(loss_of, has_aux=True)(
                trainable, others, x, y
            )
            trainable, slots = self.optimizer.stateless_apply(slots, gradients, trainable)
            return loss, (trainable, others, slots)

        self.step = jax.jit(step, donate_argnums=0)
        self.batches = [tuple(map(jax.numpy.asarray, self.batch(i))) for i in range(8)]

    def run(self, steps: int) -> None:
        losses = []
        for i in range(steps):
            loss, self.state = self.step(self.state, *self.batches[i % 8])
            losses.append(loss)
        float(losses[-1])


def work(library: str) -> None:
    """What a process does: for each line "model kind steps" it trains so many steps, and tells the
    seconds. The first time the model is made before."""
    os.environ["KERAS_BACKEND"] = "jax" if library == "jax" else "tensorflow"
    if library == "tape_compat":
        importlib.import_module("tape_compat").install_as_tensorflow()
    import keras

    made: dict[tuple[str, str], Any] = {}
    for line in sys.stdin:
        model, kind, steps = line.split()
        training = made.get((model, kind))
        if training is None:
            if kind == "fit":
                training = Fit(keras, model, kind)
            elif library == "jax":
                training = Jitted(keras, model, kind)
            else:
                training = Loop(keras, importlib.import_module("tensorflow"), model, kind)
            made[model, kind] = training
        training.prepare(int(steps))
        began = time.perf_counter()
        training.run(int(steps))
        print(time.perf_counter() - began, flush=True)


class _Process:
    """A library in a process of its own."""

    def __init__(self, library: str):
        command = [sys.executable, "-m", "benchmarks.keras_models", "--work", library]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
        )

    def seconds(self, model: str, kind: str, steps: int) -> float:
        """Of so many steps."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{model} {kind} {steps}\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


class Row:
    """One model trained in one way: by library the seconds of the first step, of the next ones that
    warm up, and the milliseconds a step in each round."""

    def __init__(self) -> None:
        self.first: dict[str, float] = {}
        self.warm: dict[str, float] = {}
        self.rounds: dict[str, list[float]] = {}

    def ratio(self, other: str) -> float | None:
        """Ours to another's."""
        if other not in self.rounds:
            return None
        pairs = zip(self.rounds["tape_compat"], self.rounds[other])
        return statistics.median(a / b for a, b in pairs)


def measure(
    models: list[str], kinds: list[str], rounds: int, warm: int, steps: int
) -> dict[tuple[str, str], Row]:
    """The rows."""
    processes = {library: _Process(library) for library in LIBRARIES}
    try:
        found = {(model, kind): Row() for model in models for kind in kinds}
        for (model, kind), row in found.items():
            asked = [n for n in LIBRARIES if (n, kind) != ("jax", "loop")]
            for library in asked:
                row.first[library] = processes[library].seconds(model, kind, 1)
                before = warm // 20 if kind == "loop" else warm
                row.warm[library] = processes[library].seconds(model, kind, before)
                row.rounds[library] = []
            for turn in range(rounds):
                for library in asked[:: -1 if turn % 2 else 1]:
                    seconds = processes[library].seconds(model, kind, steps)
                    row.rounds[library].append(seconds / steps * 1e3)
        return found
    finally:
        for process in processes.values():
            process.close()


def report(found: dict[tuple[str, str], Row]) -> str:
    """The table.

    >>> row = Row()
    >>> row.first = row.warm = {"tensorflow": 0.5, "tape_compat": 0.1}
    >>> row.rounds = {"tensorflow": [2.0, 3.0], "tape_compat": [1.0, 1.5]}
    >>> print(report({("mlp", "loop"): row}))  # doctest: +NORMALIZE_WHITESPACE
    model      step      first s (tensorflow, tape_compat, jax)  warm s   ms a step   ours to each
    mlp        loop      0.50  0.10     -    0.50   0.10     -   2.50   1.25     -   0.50        -
    """
    head = f"{'model':10} {'step':9} first s ({', '.join(LIBRARIES)})  "
    head += f"{'warm s':22}  {'ms a step':22}  ours to each"
    lines = [head]
    for (model, kind), row in found.items():
        cells = [f"{model:10} {kind:9}"]
        cells += [_cell(row.first.get(n)) for n in LIBRARIES]
        cells += [_cell(row.warm.get(n)) for n in LIBRARIES]
        medians = {n: statistics.median(ms) for n, ms in row.rounds.items()}
        cells += [_cell(medians.get(n)) for n in LIBRARIES]
        cells += [_cell(row.ratio("tensorflow")), _cell(row.ratio("jax"))]
        lines.append("  ".join(cells))
    return "\n".join(lines)


def _cell(value: float | None) -> str:
    return f"{'-':>6}" if value is None else f"{value:6.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--warm", type=int, default=600, help="steps before what is timed; of a loop a twentieth"
    )
    parser.add_argument("--steps", type=int, default=48, help="of a round")
    parser.add_argument("--work", help="run as the process of a library")
    given = parser.parse_args()
    if given.work:
        work(given.work)
        return
    models, kinds = given.models.split(","), given.kinds.split(",")
    print(report(measure(models, kinds, given.rounds, given.warm, given.steps)))


if __name__ == "__main__":
    main()
