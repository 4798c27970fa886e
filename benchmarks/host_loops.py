"""CPU time a turn of loops that the host does, here and in TensorFlow's `tf.function`.

`python -m benchmarks.host_loops` times a vector that grows, a beam search, a decoder with a
`TensorArray`, a `for` over a dataset, a loop with a `py_function` and one with a mask. Each library
runs in a process of its own; `--rounds` times, in turn. The figures are the least of the rounds, in
microseconds of all threads; `--calls` of 64 turns come before what is timed.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

LIBRARIES = ("tensorflow", "tape_compat")
TURNS = 64


def loops(tf: Any) -> dict[str, Callable[..., Any]]:
    """Functions of the number of turns, by name."""
    rng = np.random.default_rng(0)
    table = tf.constant(rng.normal(size=(50, 16)).astype("float32"))
    weights = tf.constant(rng.normal(size=(16, 50)).astype("float32"))
    rows = np.arange(512, dtype="float32").reshape(TURNS, 8)
    dataset = tf.data.Dataset.from_tensor_slices(rows).batch(1)

    def growing(n):
        def body(i, x):
            return i + 1, tf.concat([x, [tf.cast(i, tf.float32)]], 0)

        shapes = tf.TensorShape([]), tf.TensorShape([None])
        first = 0, tf.zeros([0])
        return tf.while_loop(lambda i, _: i < n, body, first, shape_invariants=shapes)[1]

    def beam(n):
        def body(i, tokens, score):
            logits = tf.nn.log_softmax(tf.matmul(tf.gather(table, tokens[:, -1]), weights))
            score, places = tf.math.top_k(tf.reshape(score[:, None] + logits, [-1]), 4)
            tokens = tf.concat([tf.gather(tokens, places // 50), (places % 50)[:, None]], 1)
            return i + 1, tokens, score

        shapes = tuple([tf.TensorShape(shape) for shape in ([], [4, None], [4])])
        first = 0, tf.zeros([4, 1], tf.int32), tf.zeros([4])
        return tf.while_loop(lambda i, *_: i < n, body, first, shape_invariants=shapes)[1]

    def decoder(n):
        array = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        token, state, i = tf.constant(1), tf.zeros([16]), tf.constant(0)
        while i < n and token >= 0:
            state = tf.tanh(state * 0.5 + table[token])
            found = tf.linalg.matvec(weights, state, transpose_a=True)
            token = tf.argmax(found, output_type=tf.int32)
            array = array.write(i, token)
            i += 1
        return array.stack()

    def over_dataset(n):
        total = tf.zeros([8])
        for row in dataset:
            total = total * 0.9 + tf.reduce_sum(row, 0)
        return total * tf.cast(n, tf.float32)

    def python(n):
        def body(i, y):
            y = tf.py_function(lambda x: x * 0.5 + 1.0, [y], tf.float32)
            y.set_shape([])
            return i + 1, y

        return tf.while_loop(lambda i, _: i < n, body, (0, tf.constant(3.0)))[1]

    def masked(n):
        def body(i, total):
            x = table[i % 50]
            return i + 1, total + tf.reduce_sum(tf.boolean_mask(x, x > 0))

        return tf.while_loop(lambda i, _: i < n, body, (0, 0.0))[1]

    return {f.__name__: f for f in (growing, beam, decoder, over_dataset, python, masked)}


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _measure(library: str, calls: int) -> dict[str, float]:
    tf = importlib.import_module(library)
    figures = {}
    for name, loop in loops(tf).items():
        function, turns = tf.function(loop), tf.constant(TURNS)
        for _ in range(calls):
            function(turns).numpy()
        times = []
        for _ in range(6):
            before = _cpu()
            for _ in range(4):
                function(turns).numpy()
            times.append((_cpu() - before) / (4 * TURNS))
        figures[name] = min(times) * 1e6
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", choices=LIBRARIES, help="in this process")
    parser.add_argument("--calls", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if options.library:
        print(json.dumps(_measure(options.library, options.calls)))
        return
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    found: dict[str, list[dict[str, float]]] = {library: [] for library in LIBRARIES}
    for _ in range(options.rounds):
        for library in LIBRARIES:
            command = [sys.executable, "-m", "benchmarks.host_loops", "--library", library]
            command += ["--calls", str(options.calls)]
            done = subprocess.run(
                command, env=environment, check=True, stdout=subprocess.PIPE, text=True
            )
            found[library].append(json.loads(done.stdout.splitlines()[-1]))
    for name in found[LIBRARIES[0]][0]:
        least = [min(figures[name] for figures in found[library]) for library in LIBRARIES]
        print(f"{name:14}{least[0]:8.1f}{least[1]:8.1f}{least[1] / least[0]:8.2f}")


if __name__ == "__main__":
    main()
