"""How values that programs still compute are waited for: by looking for them, then asleep."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.run import policy, waiting

LOOKS = 5


class Slow:
    """An array that is there once it has been asked so many times."""

    def __init__(self, questions):
        self.questions, self.asked = questions, 0

    def is_ready(self):
        self.asked += 1
        return self.asked > self.questions

    def __array__(self, dtype=None, copy=None):
        return np.ones(2, np.float32)


@pytest.fixture(autouse=True)
def awake(monkeypatch):
    monkeypatch.setattr(waiting, "_LOOKS", LOOKS)
    monkeypatch.setattr(waiting, "_asleep", 0)


def asked(questions):
    array: Any = Slow(questions)
    np.testing.assert_array_equal(waiting.copied(array), [1.0, 1.0])
    return array.asked


def test_value_is_looked_for_until_it_is_there():
    assert [asked(0), asked(3), asked(LOOKS - 1)] == [1, 4, LOOKS]


def test_values_that_take_long_are_waited_for_asleep():
    assert asked(1000) == LOOKS
    assert [asked(0) for _ in range(policy.SLEEPS)] == [0] * policy.SLEEPS
    assert asked(0) == 1


def test_arrays_of_the_device_are_looked_for(monkeypatch):
    seen = []
    monkeypatch.setattr(waiting, "_look_for", seen.append)
    there = jnp.ones(2)
    np.testing.assert_array_equal(tf.constant(there).numpy(), np.ones(2))
    assert float(tf.constant(3.0)) == 3.0
    assert len(seen) == 1 and seen[0] is there
