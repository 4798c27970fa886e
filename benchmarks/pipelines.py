"""Examples a second that `tf.data` gives, here and in TensorFlow: `python -m benchmarks.pipelines`.

Each library runs in a process of its own; rounds are timed in turn, so that a slow moment of the
machine meets both. A figure is the median over the rounds, a ratio the median of the ratios within
rounds.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

ROWS = 20_000
FEW = 4_000


def _arrays() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    return generator.normal(size=(ROWS, 28, 28)).astype(np.float32), np.arange(ROWS)


def slices(tf: Any) -> tuple[Any, int]:
    """Rows of arrays, shuffled and batched."""
    dataset = tf.data.Dataset.from_tensor_slices(_arrays())
    return dataset.shuffle(ROWS).batch(64).prefetch(tf.data.AUTOTUNE), ROWS


def tensor_map(tf: Any) -> tuple[Any, int]:
    """A map of tensor functions before a batch."""

    def scaled(image: Any, label: Any) -> Any:
        image = (image - tf.reduce_mean(image)) / (tf.math.reduce_std(image) + 1e-6)
        return tf.expand_dims(image, -1), tf.one_hot(label % 10, 10)

    dataset = tf.data.Dataset.from_tensor_slices(_arrays())
    dataset = dataset.map(scaled, num_parallel_calls=tf.data.AUTOTUNE).batch(64)
    return dataset.prefetch(tf.data.AUTOTUNE), ROWS


def python_map(tf: Any) -> tuple[Any, int]:
    """A map of a Python function before a batch."""

    def call(image: Any, label: Any) -> Any:
        return tf.numpy_function(lambda x: x[::-1] * 2.0, [image], tf.float32), label

    dataset = tf.data.Dataset.from_tensor_slices(_arrays()).take(FEW)
    dataset = dataset.map(call, num_parallel_calls=tf.data.AUTOTUNE).batch(64)
    return dataset.prefetch(tf.data.AUTOTUNE), FEW


def generator(tf: Any) -> tuple[Any, int]:
    """A Python generator, batched."""
    images, labels = _arrays()
    signature = (tf.TensorSpec([28, 28], tf.float32), tf.TensorSpec([], tf.int64))

    def examples() -> Any:
        for i in range(FEW):
            yield images[i], labels[i]

    dataset = tf.data.Dataset.from_generator(examples, output_signature=signature)
    return dataset.batch(64).prefetch(tf.data.AUTOTUNE), FEW


def examples(tf: Any) -> tuple[Any, int]:
    """Serialized examples, parsed one by one before a batch."""
    train, io = tf.train, tf.io

    def serialized(i: int) -> bytes:
        floats = train.Feature(float_list=train.FloatList(value=[i / 2] * 8))
        number = train.Feature(int64_list=train.Int64List(value=[i]))
        text = train.Feature(bytes_list=train.BytesList(value=[b"text"]))
        features = train.Features(feature={"x": floats, "y": number, "s": text})
        return train.Example(features=features).SerializeToString()

    def parsed(text: Any) -> Any:
        kinds = {
            "x": io.FixedLenFeature([8], tf.float32),
            "y": io.FixedLenFeature([], tf.int64),
            "s": io.FixedLenFeature([], tf.string),
        }
        found = io.parse_single_example(text, kinds)
        return found["x"] * 2.0, found["y"], tf.strings.length(found["s"])

    dataset = tf.data.Dataset.from_tensor_slices([serialized(i) for i in range(FEW)])
    dataset = dataset.map(parsed, num_parallel_calls=tf.data.AUTOTUNE).batch(64)
    return dataset.prefetch(tf.data.AUTOTUNE), FEW


def csv(tf: Any) -> tuple[Any, int]:
    """Lines of comma-separated values, taken apart one by one before a batch."""

    def columns(line: Any) -> Any:
        number, share, _ = tf.io.decode_csv(line, [0, 0.0, ""])
        return tf.stack([tf.cast(number, tf.float32), share])

    dataset = tf.data.Dataset.from_tensor_slices([f"{i},{i / 2},n{i}" for i in range(FEW)])
    dataset = dataset.map(columns, num_parallel_calls=tf.data.AUTOTUNE).batch(64)
    return dataset.prefetch(tf.data.AUTOTUNE), FEW


def texts(tf: Any) -> tuple[Any, int]:
    """Texts cleaned and looked up one by one before a batch."""
    words = tf.constant([f"w{i}" for i in range(100)])
    numbers = tf.lookup.KeyValueTensorInitializer(words, tf.range(100, dtype=tf.int64))
    table = tf.lookup.StaticHashTable(numbers, -1)

    def number(text: Any) -> Any:
        return table.lookup(tf.strings.regex_replace(tf.strings.lower(text), "[^a-z0-9]", ""))

    dataset = tf.data.Dataset.from_tensor_slices([f"W-{i % 120}!" for i in range(FEW)])
    dataset = dataset.map(number, num_parallel_calls=tf.data.AUTOTUNE).batch(64)
    return dataset.prefetch(tf.data.AUTOTUNE), FEW


def words(tf: Any) -> tuple[Any, int]:
    """Texts cut into words, of which those of a batch are filled up."""

    def lengths(text: Any) -> Any:
        return tf.strings.length(tf.strings.split(text))

    lines = [" ".join(["word"] * (1 + i % 9)) for i in range(FEW)]
    dataset = tf.data.Dataset.from_tensor_slices(lines)
    dataset = dataset.map(lengths, num_parallel_calls=tf.data.AUTOTUNE).padded_batch(64)
    return dataset.prefetch(tf.data.AUTOTUNE), FEW


def images(tf: Any) -> tuple[Any, int]:
    """JPEG files of 160 x 160 pixels, decoded, resized and scaled before a batch."""
    generator = np.random.default_rng(0)
    small = generator.integers(0, 255, (FEW // 8, 10, 10, 3)).astype(np.uint8)
    files = [tf.io.encode_jpeg(x.repeat(16, 0).repeat(16, 1)).numpy() for x in small]

    def decoded(content: Any) -> Any:
        image = tf.io.decode_jpeg(content, channels=3)
        return tf.image.resize(tf.cast(image, tf.float32) / 255.0, [64, 64])

    dataset = tf.data.Dataset.from_tensor_slices(files)
    dataset = dataset.map(decoded, num_parallel_calls=tf.data.AUTOTUNE).batch(32)
    return dataset.prefetch(tf.data.AUTOTUNE), len(files)


def photos(tf: Any) -> tuple[Any, int]:
    """JPEG files of about 350 x 350 pixels, each of another size, scaled to one for a batch."""
    generator = np.random.default_rng(0)
    files = []
    for _ in range(FEW // 8):
        height, width = generator.integers(10, 25, 2)
        small = generator.integers(0, 255, (height, width, 3)).astype(np.uint8)
        large = small.repeat(20, 0).repeat(20, 1)[: -generator.integers(1, 20)]
        files.append(tf.io.encode_jpeg(large[:, : -generator.integers(1, 20)]).numpy())

    def decoded(content: Any) -> Any:
        image = tf.cast(tf.io.decode_jpeg(content, channels=3), tf.float32) / 255.0
        return tf.image.resize(image, [224, 224])

    dataset = tf.data.Dataset.from_tensor_slices(files)
    dataset = dataset.map(decoded, num_parallel_calls=tf.data.AUTOTUNE).batch(32)
    return dataset.prefetch(tf.data.AUTOTUNE), len(files)


PIPELINES: dict[str, Callable[[Any], tuple[Any, int]]] = {
    "slices": slices,
    "tensor_map": tensor_map,
    "python_map": python_map,
    "generator": generator,
    "examples": examples,
    "csv": csv,
    "texts": texts,
    "words": words,
    "images": images,
    "photos": photos,
}
LIBRARIES = ("tensorflow", "tape_compat")


def work(library: str) -> None:
    """What a process does: for each name on the standard input it goes through that pipeline once,
    and tells the examples a second."""
    tf = importlib.import_module(library)
    made = {name: make(tf) for name, make in PIPELINES.items()}
    for line in sys.stdin:
        dataset, count = made[line.strip()]
        began = time.perf_counter()
        for _ in dataset:
            pass
        print(count / (time.perf_counter() - began), flush=True)


class _Process:
    """A library in a process of its own."""

    def __init__(self, library: str):
        command = [sys.executable, "-m", "benchmarks.pipelines", "--work", library]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
        )

    def speed(self, name: str) -> float:
        """Examples a second of one run."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{name}\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def measure(rounds: int) -> dict[str, list[tuple[float, ...]]]:
    """For each pipeline the speeds in each round, of the libraries in order."""
    processes = [_Process(library) for library in LIBRARIES]
    try:
        found: dict[str, list[tuple[float, ...]]] = {name: [] for name in PIPELINES}
        for turn in range(-1, rounds):  # the first one warms up
            for name, speeds in found.items():
                each = tuple([process.speed(name) for process in processes])
                if turn >= 0:
                    speeds.append(each)
        return found
    finally:
        for process in processes:
            process.close()


def report(found: dict[str, list[tuple[float, ...]]]) -> str:
    """The table.

    >>> print(report({"slices": [(100.0, 300.0), (200.0, 400.0)]}))
    pipeline      tensorflow  tape_compat  ratio
    slices               150          350    2.5
    """
    lines = [f"{'pipeline':12} {LIBRARIES[0]:>11} {LIBRARIES[1]:>12}  ratio"]
    for name, speeds in found.items():
        theirs, ours = (statistics.median(column) for column in zip(*speeds))
        ratio = statistics.median(b / a for a, b in speeds)
        lines.append(f"{name:12} {theirs:11.0f} {ours:12.0f} {ratio:6.1f}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--work", help="run as the process of a library")
    arguments = parser.parse_args()
    if arguments.work:
        work(arguments.work)
    else:
        print(report(measure(arguments.rounds)))


if __name__ == "__main__":
    main()
