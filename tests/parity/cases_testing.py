"""tf.test: what its assertions accept and refuse, and Jacobians by tape and by differences."""

import contextlib
import os
import sys
import tempfile
import unittest

import numpy as np


def refused(tf, *calls):
    """Names of what the assertions raise; None where they hold."""

    class Case(tf.test.TestCase):
        def runTest(self):
            pass

    found = []
    for name, *arguments in calls:
        try:
            getattr(Case(), name)(*arguments)
            found.append(None)
        except Exception as error:
            found.append(type(error).__name__)
    return found


def texts_of_all_kinds(tf):
    objects = [np.array([text], object) for text in ("é", "é".encode())]
    return [*objects, np.array(["é"]), np.array(["é".encode()]), ["é"], tf.constant(["é"])]


def case_equal(tf):
    ragged = tf.ragged.constant([[1], [2, 3]])
    return refused(
        tf,
        ("assertAllEqual", [1, 2], [1, 3]),
        ("assertAllEqual", [1, 2], [1, 2, 3]),
        ("assertAllEqual", [np.nan, 2.0], tf.constant([np.nan, 2.0])),
        ("assertAllEqual", tf.constant(["a"]), [b"a"]),
        ("assertAllEqual", tf.constant(["a"]), ["b"]),
        *[
            ("assertAllEqual", one, other)
            for one in texts_of_all_kinds(tf)
            for other in texts_of_all_kinds(tf)
        ],
        ("assertAllEqual", tf.ones([2], tf.bfloat16), [1.0, 1.0]),
        ("assertAllEqual", [tf.ones(2), tf.ones(2)], np.ones((2, 2))),
        ("assertAllEqual", ragged, [[1], [2, 3]]),
        ("assertAllEqual", ragged, [[1], [2, 4]]),
        ("assertNotAllEqual", [1.0], [1.0]),
        ("assertNotAllEqual", [1.0], [1.0, 2.0]),
    )


def case_equal_dtypes(tf):
    return refused(
        tf,
        ("assertAllEqual", tf.float32, "float32"),
        ("assertAllEqual", "int32", tf.constant([1]).dtype),
        ("assertAllEqual", [tf.float32, tf.int32], ["float32", "int32"]),
        ("assertAllEqual", tf.float32, "int32"),
        ("assertNotAllEqual", tf.float32, "float32"),
        ("assertAllEqual", ["a", b"b"], tf.constant(["a", "b"])),
    )


def case_close(tf):
    half, b16 = tf.constant([1.0], tf.float16), tf.constant([1.0], tf.bfloat16)
    return refused(
        tf,
        ("assertAllClose", [1.0, 2.0], [1.0, 3.0]),
        ("assertAllClose", {"a": 1.0}, {"a": tf.constant(1.0)}),
        ("assertAllClose", {"a": 1.0}, {"b": 1.0}),
        ("assertAllClose", {"a": 1.0}, [1.0]),
        ("assertAllClose", [np.nan], [np.nan]),
        ("assertAllClose", (tf.ones(2), {"a": [tf.ones(3)]}), (tf.ones(2), {"a": [tf.ones(3)]})),
        ("assertAllClose", (tf.ones(2), tf.ones(3)), (tf.ones(2), tf.zeros(3))),
        ("assertAllClose", tf.ones(2), tf.ones([1, 2])),
        ("assertAllClose", [1.0], b16),
        ("assertNotAllClose", [1.0], [1.0]),
        ("assertAllCloseAccordingToType", half, tf.constant([1.0005], tf.float16)),
        ("assertAllCloseAccordingToType", b16, tf.constant([1.005], tf.bfloat16)),
        ("assertAllCloseAccordingToType", tf.ones(1), [1.005]),
        ("assertNear", 1.0, 2.0, 0.1),
        ("assertArrayNear", [1.0], [1.05], 0.1),
        ("assertNDArrayNear", np.ones(2), np.zeros(2), 0.1),
    )


def case_shapes_and_ranges(tf):
    return refused(
        tf,
        ("assertShapeEqual", np.ones(3), tf.ones(3)),
        ("assertShapeEqual", np.ones(2), tf.ones(3)),
        ("assertShapeEqual", [1], tf.ones(3)),
        ("assertDTypeEqual", tf.ones(3), np.float64),
        ("assertDTypeEqual", tf.ones(3), tf.float32),
        ("assertAllInRange", [1, 2, 5], 1, 3),
        ("assertAllInRange", [1, 2, 3], 1, 3),
        ("assertAllInRange", [1, 2, 3], 1, 3, False, True),
        ("assertAllInRange", ["a"], 1, 3),
        ("assertAllInRange", [np.nan], 1, 3),
        ("assertAllInSet", [1, 2, 5], [1, 2]),
        ("assertAllInSet", tf.constant([True]), [1, 2]),
        ("assertAllGreater", [1, 2], 1),
        ("assertAllGreaterEqual", [1, 2], 1),
        ("assertAllLess", [1, 2], 2),
        ("assertAllLessEqual", [1, 2], 2),
        ("assertDeviceEqual", "/cpu:0", "/device:CPU:0"),
        ("assertLen", [1], 2),
        ("assertStartsWith", "abc", "b"),
    )


def case_errors(tf):
    case, found = tf.test.TestCase(), []
    shape = tf.errors.InvalidArgumentError(None, None, "Incompatible shapes: 2 and 3")
    for context, error in (
        (case.assertRaisesWithPredicateMatch(ValueError, "b.d"), ValueError("abcde")),
        (case.assertRaisesWithPredicateMatch(ValueError, "b.e"), ValueError("abcde")),
        (case.assertRaisesWithPredicateMatch(ValueError, lambda e: False), ValueError("abcde")),
        (case.assertRaisesWithPredicateMatch(ValueError, "b.d"), TypeError("abcde")),
        (case.assertRaisesWithPredicateMatch(ValueError, "b.d"), None),
        (case.assertRaisesOpError("shapes"), shape),
        (case.assertRaisesIncompatibleShapesError(), shape),
        (case.assertRaisesWithLiteralMatch(ValueError, "a.c"), ValueError("a.c")),
        (case.assertRaisesWithLiteralMatch(ValueError, "a.c"), ValueError("abc")),
    ):
        try:
            with context:
                if error is not None:
                    raise error
            found.append(None)
        except AssertionError as failed:
            found.append(type(failed).__name__)
    return found


def case_evaluate(tf):
    case = tf.test.TestCase()
    parts = case.evaluate([tf.sparse.from_dense([0, 1]), tf.ragged.constant([[1], []])])
    nest = case.evaluate({"a": tf.ones(2), "v": [tf.Variable(1.0), None, lambda: tf.zeros(1)]})
    with case.cached_session() as session:
        run = session.run(tf.ones(2))
    return nest, list(parts[0]), parts[1].values, parts[1].row_splits, run


def case_evaluate_a_number(tf):
    return tf.test.TestCase().evaluate([1.0])


def case_a_session_is_not_used(tf):
    with tf.test.TestCase().session() as session, tf.test.TestCase().test_session():
        try:
            session.run(tf.ones(2))
        except AttributeError as error:
            return str(error)[:60]


def case_a_run_of_tests(tf):
    class Draws(tf.test.TestCase):
        drawn = []

        def test_a(self):
            self.drawn.append(np.random.rand())

        @tf.test.disable_with_predicate(lambda: True, "why")
        def test_b(self):
            raise ValueError

        def test_c(self):
            self.drawn.append(np.random.rand())
            self.assertAllClose(1.0, 2.0)

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Draws).run(result)
    counts = result.testsRun, len(result.failures), len(result.errors)
    return counts, Draws.drawn, sorted(why for _, why in result.skipped)


def case_compute_gradient(tf):
    square, column = np.arange(4.0).reshape(2, 2), np.ones((2, 1))
    return (
        tf.test.compute_gradient(tf.matmul, [square, column]),
        tf.test.compute_gradient(lambda x: x[:2] * 3.0, [np.ones(3)], delta=0.25),
        tf.test.compute_gradient(lambda x: x * (1 + 2j), [np.ones(1) + 0j]),
        tf.test.compute_gradient(tf.stop_gradient, [np.ones(1)]),
    )


def case_compute_gradient_of_integers(tf):
    return tf.test.compute_gradient(lambda x: x, [np.ones(1, np.int32)])


def case_a_tolerance_for_each_element(tf):
    test = tf.test.TestCase("assertAllClose")
    test.assertAllClose([1.0, 2.0], [1.0, 2.1], atol=np.array([0.0, 0.2]))
    test.assertAllClose([1.0, 2.0], [1.0, 2.3], rtol=tf.constant([0.0, 0.2]))
    try:
        test.assertAllClose([1.0, 2.0], [1.1, 2.1], atol=np.array([0.0, 0.2]))
    except (AssertionError, TypeError):  # TensorFlow's message fails with NumPy 2
        return "refused"
    return "accepted"


def case_files_and_streams(tf):
    flags = sys.modules.get("absl.flags")
    if flags is not None:  # TensorFlow asks a flag for its folder
        flags.FLAGS.mark_as_parsed()
    found = []

    class Writes(tf.test.TestCase):
        def test_files(self):
            folder = self.create_tempdir("a/b")
            texts = self.create_tempfile("c/d.txt", "text")
            data = folder.create_file(content=b"\x00\xff")
            left = self.create_tempfile()
            found.extend(os.path.basename(os.fspath(each)) for each in (folder, texts))
            found.extend([texts.read_text(), data.read_bytes(), left.read_text()])
            left.write_text("other")
            found.append(left.read_text())
            found.append(os.path.dirname(data.full_path) == folder.full_path)
            found.append(os.path.isdir(folder.mkdir().full_path))
            found.append(os.path.dirname(texts.full_path) != self.create_tempdir().full_path)

        def test_later(self):
            self.addCleanup(lambda: found.append("cleaned"))
            found.append(self.enter_context(left()))
            with tempfile.TemporaryFile("w+") as stream:
                print("before", file=stream)
                with self.captureWritesToStream(stream) as captured:
                    print("within", file=stream, flush=True)
                    inside = captured.contents()
                print("after", file=stream, flush=True)
                stream.seek(0)
                found.append([inside, captured.contents(), stream.read()])

    @contextlib.contextmanager
    def left():
        yield "entered"
        found.append("left")

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Writes).run(result)
    return found, result.testsRun, [text for _, text in [*result.failures, *result.errors]]


def case_lists_of_several_lengths_and_arrays_of_one_number(tf):
    ragged, infinite = [[[2]], [[2], [3]]], float("inf")
    return refused(
        tf,
        ("assertAllEqual", ragged, [[[2]], [[2], [3]]]),
        ("assertAllEqual", ragged, [[[2]], [[2], [2]]]),
        ("assertAllEqual", ragged, [[[2]], [[2], [3]], [[1]]]),
        ("assertNear", np.ones([1, 1]), tf.ones([1]), 1e-6),
        ("assertNear", np.ones([1, 1]), 2 * tf.ones([1]), 1e-6),
        ("assertNear", np.ones(2), np.ones(2), 1e-6),
        ("assertNear", infinite, infinite, 1.0),
        ("assertNear", infinite, -infinite, 1.0),
        ("assertNear", float("nan"), float("nan"), 1.0),
        ("assertNear", tf.constant(1.0), float("nan"), 1.0, "why"),
    )


def case_collections_begin_anew(tf):
    v1 = tf.compat.v1
    v1.train.get_or_create_global_step().assign(3)
    v1.add_to_collection("some", 1)
    before = len(v1.global_variables()), v1.get_collection("some")
    tf.test.TestCase("assertNear").setUp()
    after = v1.train.get_global_step(), v1.get_collection("some")
    step = v1.train.get_or_create_global_step()
    v1.reset_default_graph()
    return before, after, step, len(v1.global_variables())


def case_equal_messages(tf):
    def message(number):
        feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[number]))
        return tf.train.Features(feature={"a": feature, "b": tf.train.Feature()})

    return refused(
        tf,
        ("assertProtoEquals", message(1), message(1)),
        ("assertProtoEquals", message(1), message(1).feature["a"]),
        ("assertProtoEquals", None, message(1)),
    )


def case_folders_for_tests(tf):
    folder = tf.compat.v1.test.get_temp_dir()
    inner = os.path.dirname(tf.test.TestCase("assertNear").get_temp_dir())
    return os.path.isdir(folder), folder == tf.compat.v1.test.get_temp_dir() == inner
