"""JAX's persistent compilation cache works with our programs."""

import json
import os
import subprocess
import sys

import jax

from tests.__main__ import QUICK_SETTINGS, SETTINGS

SCRIPT = """
import json
import jax
import numpy as np

events = []
jax.monitoring.register_event_listener(lambda name, **_: events.append(name))

import tape_compat as tf

w, b = tf.Variable(np.full((3, 2), 0.5, np.float32)), tf.Variable([0.0, 0.0])
x = tf.constant(np.arange(12, dtype=np.float32).reshape(4, 3) / 12)
for _ in range(3):  # compiled as a whole
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(tf.tanh(x @ w + b)))
    for v, g in zip([w, b], tape.gradient(loss, [w, b])):
        v.assign_sub(0.1 * g)
for turns in (20, 27, 25, 32):  # loops; then, as the lengths are in shapes, op by op
    for stacked in (False, True):
        with tf.GradientTape() as tape:
            h, seen = x, []
            for _ in range(turns):
                h = tf.tanh(h @ w + b) @ tf.transpose(w)
                seen.append(h)
            loss = loss + tf.reduce_sum(tf.stack(seen) if stacked else h)
        tape.gradient(loss, w).numpy()
counts = tf.counters.snapshot()
print(json.dumps({
    "loss": float(loss),
    "compiles": counts["compiles"],
    "op_compiles": counts["op_compiles"],
    "hits": sum(e.endswith("/cache_hits") for e in events),
    "misses": sum(e.endswith("/cache_misses") for e in events),
}))
"""


def run(cache):
    settings = {
        "JAX_COMPILATION_CACHE_DIR": str(cache),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        "TAPE_COMPAT_IMMEDIATE": "0",
        "TAPE_COMPAT_INTERPRETS": "0",
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_second_process_compiles_nothing(tmp_path):
    first, second = run(tmp_path), run(tmp_path)
    assert first["misses"] > 0
    assert first["compiles"] > 0 and first["op_compiles"] > 0
    assert second["misses"] == 0
    assert second["hits"] > 0
    assert second["loss"] == first["loss"]


def test_jax_knows_the_settings_of_the_test_runs():
    """It takes no notice of a variable that it does not know."""
    names = [name.lower() for name in (*SETTINGS, *QUICK_SETTINGS)]
    assert [name for name in names if not hasattr(jax.config, name)] == []
    assert not hasattr(jax.config, "jax_traceback_in_location_limit")
