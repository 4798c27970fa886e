"""tf.test: what is not the same on TensorFlow, or needs a process of its own."""

import unittest

import numpy as np
import pytest

import tape_compat as tf
from tests.processes import run


class Sums(tf.test.TestCase):
    test_session = None  # the context, which is no test

    def test_sum(self):
        self.assertAllEqual(tf.reduce_sum([1, 2]), 3)

    def test_threads(self):
        def fails():
            raise ValueError("in the thread")

        thread = self.checkedThread(fails)
        thread.start()
        with self.assertRaisesRegex(AssertionError, "in the thread"):
            thread.join()
        assert not thread.is_alive()

    def test_folders(self):
        assert self.get_temp_dir() == self.get_temp_dir() != Sums().get_temp_dir()


def test_main_ends_the_process():
    program = """
import tape_compat as tf
class T(tf.test.TestCase):
    def test_a(self): self.assertAllEqual(1, 1)
    def test_b(self): self.assertAllClose(1.0, {})
tf.test.main()
"""
    code = ["-c", program.replace("{}", "1.0")]
    assert "Ran 3 tests" in run(*code, after="tape_compat").stderr  # one is skipped: `test_session`
    failed = run("-c", program.replace("{}", "2.0"), after="tape_compat", check=False)
    assert failed.returncode == 1 and "FAILED (failures=1, skipped=1)" in failed.stderr


def test_composites_are_compared():
    case = tf.test.TestCase()
    sparse, ragged = tf.sparse.from_dense([1.0, 0.0]), tf.ragged.constant([[1.0], [2.0, 3.0]])
    case.assertAllClose(sparse, sparse)
    case.assertAllClose(tf.Variable([1.0]), tf.ones([1], tf.bfloat16))
    case.assertAllClose(ragged, [[1.0], [2.0, 3.0000001]])
    with pytest.raises(AssertionError):
        case.assertAllClose(ragged, [[1.0], [2.0, 4.0]])


def test_absl_assertions():
    case = tf.test.TestCase()
    case.assertEmpty([])
    case.assertNotEmpty([1])
    case.assertEndsWith("abc", "bc")
    case.assertBetween(2, 1, 3)
    case.assertContainsSubset([1], [1, 2])
    case.assertSameElements([1, 1, 2], [2, 1])
    case.assertItemsEqual([1, 2], [2, 1])
    case.assertSequenceAlmostEqual([1.0], [1.01], delta=0.1)
    for name, arguments in {
        "assertEmpty": ([1],),
        "assertNotEmpty": ([],),
        "assertEndsWith": ("abc", "b"),
        "assertBetween": (4, 1, 3),
        "assertContainsSubset": ([3], [1, 2]),
        "assertSameElements": ([1], [2]),
        "assertItemsEqual": ([1, 1], [1]),
        "assertSequenceAlmostEqual": ([1.0], [1.2]),
    }.items():
        with pytest.raises(AssertionError):
            getattr(case, name)(*arguments)


def test_what_is_not_built_is_named():
    with pytest.raises(NotImplementedError, match=r"tf\.test\.create_local_cluster"):
        tf.test.create_local_cluster(1, 1)
    with pytest.raises(NotImplementedError, match="not with texts"):
        tf.test.TestCase().assertProtoEquals("", None)


def test_messages_that_differ_are_not_equal():
    one, two = (tf.train.Int64List(value=[number]) for number in (1, 2))
    with pytest.raises(AssertionError, match="value: 1"):
        tf.test.TestCase().assertProtoEquals(one, two)


def test_seeds_are_set_for_each_test():
    case, draws = tf.test.TestCase(), []
    for _ in range(2):
        case.setUp()
        draws.append((float(tf.random.normal([])), np.random.rand()))
    assert draws[0] == draws[1]
    assert isinstance(case, unittest.TestCase)
