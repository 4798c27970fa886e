"""tf.errors: classes, codes, text; and the line of the user's that a message names."""

import copy
import inspect
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core.errors import user_location

CODES = {
    "CancelledError": 1,
    "UnknownError": 2,
    "InvalidArgumentError": 3,
    "DeadlineExceededError": 4,
    "NotFoundError": 5,
    "AlreadyExistsError": 6,
    "PermissionDeniedError": 7,
    "ResourceExhaustedError": 8,
    "FailedPreconditionError": 9,
    "AbortedError": 10,
    "OutOfRangeError": 11,
    "UnimplementedError": 12,
    "InternalError": 13,
    "UnavailableError": 14,
    "DataLossError": 15,
    "UnauthenticatedError": 16,
}


@pytest.mark.parametrize("name", CODES)
def test_class_and_code(name):
    cls = getattr(tf.errors, name)
    constant = "".join(f"_{c}" if c.isupper() else c for c in name.removesuffix("Error"))
    assert getattr(tf.errors, constant.strip("_").upper()) == CODES[name]
    error = cls("node", "op", "message")
    assert isinstance(error, tf.errors.OpError) and isinstance(error, Exception)
    assert (str(error), error.message, error.error_code) == ("message", "message", CODES[name])
    assert (error.node_def, error.op, error.experimental_payloads) == ("node", "op", {})


@pytest.mark.parametrize("name", CODES)
def test_copies(name):
    error = getattr(tf.errors, name)(None, None, "message", {b"key": b"value"})
    for same in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(same) is type(error)
        assert (same.message, same.error_code) == ("message", CODES[name])
        assert same.experimental_payloads == {b"key": b"value"}


def test_op_error_takes_its_code():
    error = tf.errors.OpError(None, None, "message", tf.errors.ABORTED)
    assert pickle.loads(pickle.dumps(error)).error_code == error.error_code == 10
    assert tf.errors.OK == 0


def test_symbolic_tensors_raise_a_type_error():
    assert issubclass(tf.errors.OperatorNotAllowedInGraphError, TypeError)


def test_user_location():
    line = inspect.currentframe().f_lineno + 1
    assert user_location() == f"test_errors.py:{line}"


def test_an_op_names_the_line_that_called_it():
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        line = inspect.currentframe().f_lineno + 1
        tf.ones((2, 3)) + tf.ones((2, 4))
    assert f"test_errors.py:{line}" in str(caught.value)


def test_user_location_behind_a_context():
    """Whose errors are raised where it is left."""
    content = tf.io.encode_png(np.zeros((3, 4, 3), np.uint16)).numpy()
    line = inspect.currentframe().f_lineno + 2
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"\(at test_errors.py:{line}\)"):
        tf.io.decode_png(content[:25] + b"\x03" + content[26:])


def test_user_location_in_a_thread_of_the_library():
    """Where no code of the user's runs, it is not that of the thread's module."""
    found = []
    thread = threading.Thread(target=lambda: found.append(user_location()))
    thread.start()
    thread.join()
    assert found[0].startswith("test_errors.py:")
    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            pool.submit(tf.reshape, [1.0], [2]).result()
    assert "thread" not in str(raised.value)


@pytest.mark.parametrize(
    ("function", "kind"),
    [(lambda x: x * tf.constant(1), TypeError), (lambda x: x + tf.ones([3]), ValueError)],
)
def test_what_is_refused_while_recorded_is_pickled(function, kind):
    """With the class of Python's that TensorFlow has; tracebacks name the one of both."""
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        tf.function(function, autograph=False)(tf.ones([2]))
    for error in (raised.value, pickle.loads(pickle.dumps(raised.value))):
        assert isinstance(error, kind) and isinstance(error, tf.errors.InvalidArgumentError)
        assert str(error) == str(raised.value)
        assert type(error).__qualname__ == "InvalidArgumentError"
