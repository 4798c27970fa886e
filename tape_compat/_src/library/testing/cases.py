"""`tf.test.TestCase`."""

from __future__ import annotations

import random
import re
import threading
import unittest
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NoReturn

import numpy as np

from ...core.errors import InvalidArgumentError, OpError
from ...ops.random_keys import set_seed
from ...values.tensor import Tensor
from ..version1.collections import reset_default_graph
from .arrays import ArrayAssertions
from .files import Files
from .values import evaluated

#: What a test begins with, so that it draws the same numbers whichever tests ran before.
_SEED = 87654321


class _Session:
    """What `cached_session` gives: `run` evaluates."""

    def run(self, fetches: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("feed_dict", args[0] if args else None) is not None:
            raise RuntimeError(
                "feed_dict is not supported when eager execution is enabled (in this case, "
                "sess.run(t) is shorthand for t.numpy()"
            )
        return evaluated(fetches)


class _NoSession:
    """What `session` gives, which may not be used."""

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            "Trying to access properties or call methods on the result of self.session(), "
            "self.cached_session(), etc while eager execution is enabled. Call the ops as they "
            f"are, without `.{name}`, and read values by self.evaluate()."
        )


class _CheckedThread:
    """A thread whose failure fails the test when it is joined."""

    def __init__(
        self,
        case: unittest.TestCase,
        target: Callable[..., Any],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        self._case, self._target = case, target
        self._args, self._kwargs = args or (), kwargs or {}
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        try:
            self._target(*self._args, **self._kwargs)
        except BaseException as error:
            self._error = error

    def start(self) -> None:
        self._thread.start()

    def join(self) -> None:
        self._thread.join()
        if self._error is not None:
            self._case.fail(f"Error in checkedThread: {self._error}")

    def is_alive(self) -> bool:
        return self._thread.is_alive()


def _parts(device: str) -> tuple[str, ...]:
    """The parts of a device's name, in any spelling: '/cpu:0' is '/device:CPU:0'."""
    found = [part.lower() for part in device.split("/") if part]
    return tuple(part.removeprefix("device:") for part in found)


class TestCase(Files, ArrayAssertions):
    """A `unittest.TestCase` that compares tensors, and begins each test with the same seeds, and
    with no collections.

    >>> import tape_compat as tf
    >>> class Squares(tf.test.TestCase):
    ...     def test_of_two(self):
    ...         self.assertAllClose(tf.square([2.0, 3.0]), [4.0, 9.0])
    >>> import unittest
    >>> Squares("test_of_two").run(unittest.TestResult()).wasSuccessful()
    True
    """

    __test__ = False  # pytest collects what is derived from it, not itself

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__test__ = cls.__dict__.get("__test__", True)

    def setUp(self) -> None:
        super().setUp()
        reset_default_graph()
        random.seed(_SEED)
        np.random.seed(_SEED)
        set_seed(_SEED)

    def evaluate(self, tensors: Any) -> Any:
        """A nest of tensors as NumPy arrays. Raises: ValueError for leaves of other types."""
        return evaluated(tensors)

    def evaluate_if_both_tensors(self, a: Any, b: Any) -> tuple[Any, Any]:
        """`a` and `b` as they are: tensors have values."""
        return a, b

    def assertDeviceEqual(
        self, device1: str | Tensor, device2: str | Tensor, msg: str | None = None
    ) -> None:
        """Two names, or the places of two tensors, are of one device."""
        first, second = (x.device if isinstance(x, Tensor) else x for x in (device1, device2))
        said = f"Devices {first} and {second} are not equal. {msg or ''}"
        self.assertEqual(_parts(first), _parts(second), said)

    # -- Sessions, of which there are none.

    @contextmanager
    def session(
        self,
        graph: Any = None,
        config: Any = None,
        use_gpu: bool = True,
        force_gpu: bool = False,
    ) -> Iterator[Any]:
        """A context that does nothing; what it gives may not be used."""
        yield _NoSession()

    @contextmanager
    def cached_session(
        self,
        graph: Any = None,
        config: Any = None,
        use_gpu: bool = True,
        force_gpu: bool = False,
    ) -> Iterator[Any]:
        """A context that does nothing; `run` of what it gives evaluates tensors."""
        yield _Session()

    def test_session(
        self,
        graph: Any = None,
        config: Any = None,
        use_gpu: bool = True,
        force_gpu: bool = False,
    ) -> Any:
        """A context that does nothing. It is no test, though named like one."""
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")
        return nullcontext()

    def checkedThread(
        self,
        target: Callable[..., Any],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """A thread with `start` and `join`, which fails the test if the thread raised."""
        return _CheckedThread(self, target, args, kwargs)

    # -- Errors.

    @contextmanager
    def assertRaisesWithPredicateMatch(
        self, exception_type: Any, expected_err_re_or_predicate: Any
    ) -> Iterator[None]:
        """The block raises an exception of a type, whose text a pattern is found in, or that a
        function of it accepts."""
        wanted = expected_err_re_or_predicate
        try:
            yield
        except Exception as error:
            accepts = wanted if callable(wanted) else re.compile(wanted).search
            text = error.message if isinstance(error, OpError) else str(error)
            given = error if callable(wanted) else text
            if not isinstance(error, exception_type) or not accepts(given):
                raise AssertionError(f"Exception of type {type(error)}: {error}") from error
        else:
            self.fail(f"{getattr(exception_type, '__name__', exception_type)} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """The block raises an error of `tf.errors`, as `assertRaisesWithPredicateMatch` does."""
        return self.assertRaisesWithPredicateMatch(OpError, expected_err_re_or_predicate)

    def assertRaisesIncompatibleShapesError(
        self, exception_type: Any = InvalidArgumentError
    ) -> Any:
        """The block raises the error of shapes that do not go together."""
        text = r"Incompatible shapes|Dimensions must be equal|required broadcastable shapes"
        return self.assertRaisesWithPredicateMatch(exception_type, text)

    def assertRaisesWithLiteralMatch(
        self,
        expected_exception: Any,
        expected_exception_message: str,
        callable_obj: Callable[..., Any] | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """The block, or the call, raises an exception with just this text."""
        pattern = re.escape(expected_exception_message) + r"\Z"
        if callable_obj is None:
            return self.assertRaisesRegex(expected_exception, r"\A" + pattern)
        call = self.assertRaisesRegex
        return call(expected_exception, r"\A" + pattern, callable_obj, *args, **kwargs)

    def assertProtoEquals(
        self,
        expected_message_maybe_ascii: Any,
        validate_message: Any,
        msg: str | None = None,
        relative_tolerance: float | None = None,
    ) -> None:
        """Two messages are equal. Raises: NotImplementedError for a text, or a tolerance."""
        if isinstance(expected_message_maybe_ascii, (str, bytes)) or relative_tolerance is not None:
            raise NotImplementedError(
                "tf.test.TestCase.assertProtoEquals: messages are compared as they are, not with "
                "texts nor with a relative_tolerance"
            )
        kinds = type(expected_message_maybe_ascii), type(validate_message)
        if not issubclass(*kinds):
            self.fail("Can't compare protos of type {} and {}.".format(*kinds))
        self.assertEqual(expected_message_maybe_ascii, validate_message, msg)

    # -- Of absl's test case, what tests use most.

    def assertLen(self, container: Any, expected_len: int, msg: str | None = None) -> None:
        """The container has so many elements."""
        if len(container) != expected_len:
            self.fail(
                self._formatMessage(
                    msg, f"{container!r} has length of {len(container)}, expected {expected_len}."
                )
            )

    def assertEmpty(self, container: Any, msg: str | None = None) -> None:
        """The container has no element."""
        if len(container):
            self.fail(self._formatMessage(msg, f"{container!r} has length of {len(container)}."))

    def assertNotEmpty(self, container: Any, msg: str | None = None) -> None:
        """The container has an element."""
        if not len(container):
            self.fail(self._formatMessage(msg, f"{container!r} has length of 0."))

    def assertStartsWith(self, actual: Any, expected_start: Any, msg: str | None = None) -> None:
        """A text begins with another."""
        if not actual.startswith(expected_start):
            said = f"{actual!r} does not start with {expected_start!r}"
            self.fail(self._formatMessage(msg, said))

    def assertEndsWith(self, actual: Any, expected_end: Any, msg: str | None = None) -> None:
        """A text ends with another."""
        if not actual.endswith(expected_end):
            self.fail(self._formatMessage(msg, f"{actual!r} does not end with {expected_end!r}"))

    def assertBetween(self, value: Any, minv: Any, maxv: Any, msg: str | None = None) -> None:
        """minv <= value <= maxv."""
        if not minv <= value <= maxv:
            said = f'"{value!r}" unexpectedly not between "{minv!r}" and "{maxv!r}"'
            self.fail(self._formatMessage(msg, said))

    def assertContainsSubset(
        self, expected_subset: Any, actual_set: Any, msg: str | None = None
    ) -> None:
        """All of one collection is in another."""
        missing = set(expected_subset) - set(actual_set)
        if missing:
            self.fail(self._formatMessage(msg, f"Missing elements {missing}"))

    def assertSameElements(
        self, expected_seq: Any, actual_seq: Any, msg: str | None = None
    ) -> None:
        """Two collections have the same elements, however often."""
        self.assertSetEqual(set(expected_seq), set(actual_seq), msg)

    def assertItemsEqual(self, first: Any, second: Any, msg: str | None = None) -> None:
        """Two collections have the same elements, each as often."""
        self.assertCountEqual(first, second, msg)

    def assertSequenceAlmostEqual(
        self,
        expected_seq: Any,
        actual_seq: Any,
        places: int | None = None,
        msg: str | None = None,
        delta: float | None = None,
    ) -> None:
        """As many numbers, each pair almost equal."""
        self.assertLen(actual_seq, len(expected_seq), msg)
        for one, other in zip(expected_seq, actual_seq):
            how: Any = {"places": places, "delta": delta}
            self.assertAlmostEqual(one, other, msg=msg, **how)
