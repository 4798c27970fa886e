"""A forked process: JAX does not run there if it ran before; an op says so instead of hanging."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")

PROGRAM = """
import os, signal, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
import jax
import tape_compat as tf

v, host = tf.Variable([1.0, 2.0]), tf.constant([1.0, 2.0])

def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v)
    v.assign_sub(0.25 * tape.gradient(loss, v))
    return loss

def in_child(attempts):
    child = os.fork()
    if child:
        status = os.waitpid(child, 0)[1]
        assert status == 0, f"the child hung or died: {status}"
        return
    signal.alarm(30)  # ends a child that hangs
    for name, attempt in attempts.items():
        try:
            print(name, np.asarray(attempt()).tolist())
        except RuntimeError as error:
            print(name, "spawn" if "'spawn'" in str(error) else error)
    sys.stdout.flush()
    os._exit(0)
"""

STARTED = """
from tape_compat._src.values.context import set_immediate

for immediate in (False, True):
    set_immediate(immediate)
    for _ in range(12):
        step().numpy()
    x = host * 2.0
    pending = None
    with tf.GradientTape() as tape:
        pending = v * 3.0
    in_child({
        f"{immediate}-op": lambda: host + host,
        f"{immediate}-known": lambda: host * 2.0,
        f"{immediate}-computed": x.numpy,
        f"{immediate}-variable": v.numpy,
        f"{immediate}-pending": pending.numpy,
        f"{immediate}-step": lambda: step().numpy(),
        f"{immediate}-assigned": lambda: v.assign_add([1.0, 1.0]).numpy(),
        f"{immediate}-initialized": lambda: tf.Variable(x).numpy(),
        f"{immediate}-random": lambda: tf.random.normal([3]),
        f"{immediate}-infer": lambda: tf.linalg.inv(tf.constant([[2.0]])),
        f"{immediate}-jax": lambda: host.__jax_array__(),
        f"{immediate}-host": host.numpy,
    })
    print(f"{immediate}-parent", v.numpy().tolist() == (pending / 3.0).numpy().tolist())
"""


def run(program, **variables):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + program],
        capture_output=True,
        text=True,
        timeout=90,
        env={**os.environ, "TAPE_COMPAT_INTERPRETS": "0", **variables},
    )
    assert done.returncode == 0, done.stderr
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


@pytest.mark.parametrize("pure", "01")
def test_ops_raise_where_jax_had_started(pure):
    """In deferred mode, then in immediate mode."""
    seen = run(STARTED, TAPE_COMPAT_IMMEDIATE="0", TAPE_COMPAT_PURE_PYTHON=pure)
    for immediate in (False, True):
        assert seen.pop(f"{immediate}-host") == "[1.0, 2.0]"
        assert seen.pop(f"{immediate}-parent") == "True"
    assert len(seen) == 22 and set(seen.values()) == {"spawn"}, seen


def test_all_works_where_jax_had_not_started():
    seen = run('in_child({"op": lambda: host + host, "step": lambda: step().numpy()})')
    assert seen == {"op": "[2.0, 4.0]", "step": "5.0"}
