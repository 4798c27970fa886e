"""Every cache is bounded, registered, and emptied by one call."""

import pytest

import tape_compat as tf
from tape_compat._src.core import caches
from tape_compat._src.core.caches import Cache


def step(w):
    with tf.GradientTape(persistent=True) as tape:
        y = tf.stack([tf.sin(w[i]) * tf.cast(i, tf.float32) for i in range(3)])
        loss = tf.reduce_sum(tf.nn.leaky_relu(y, alpha=0.3))
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return tape.jacobian(y, w), loss


def test_one_call_empties_all():
    w = tf.Variable([1.0, 2.0, 3.0])
    for _ in range(3):
        jacobian, loss = step(w)
        expected = jacobian.numpy().tolist(), float(loss)
    value = w.numpy()
    assert caches.held()["structures"] > 0 or tf.config.functions_run_eagerly()
    tf.engine.clear_caches()
    declared = caches.held().pop("closures")  # those without attributes are the ops themselves
    assert {name: n for name, n in caches.held().items() if n} == {"closures": declared}
    w.assign([1.0, 2.0, 3.0])
    for _ in range(3):
        jacobian, loss = step(w)
        found = jacobian.numpy().tolist(), float(loss)
    assert found == expected and w.numpy().tolist() == value.tolist()


def test_pending_work_is_run_before():
    w = tf.Variable([1.0, 2.0, 3.0])
    _, loss = step(w)
    tf.engine.clear_caches()
    assert tf.counters.pending == 0 and float(loss) > 0


def test_tapes_under_way_go_on():
    w = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(w * w)
        tf.engine.clear_caches()
        y = y + tf.reduce_sum(w)
    assert tape.gradient(y, w).numpy().tolist() == [3.0, 5.0, 7.0]


def test_a_cache_drops_what_was_used_longest_ago():
    cache = Cache(None, 2)
    made = []

    def make(key):
        made.append(key)
        return key.upper()

    for key in "abacab":
        assert cache.find(key, lambda key=key: make(key)) == key.upper()
    assert made == ["a", "b", "c", "b"] and len(cache) == 2
    assert cache.get("c") is None and cache.get("a") == "A"


def test_a_name_is_registered_once():
    with pytest.raises(ValueError, match="registered already"):
        caches.register("structures", lambda: None, lambda: 0)
