"""What tests of SavedModels share: who writes and who reads, and that both give the same."""

import numpy as np
import pytest

import tape_compat
from tests.oracle import tensorflow


@pytest.fixture(params=["from TensorFlow", "to TensorFlow", "ours alone"])
def ways(request):
    """The module that writes, and that which reads."""
    if request.param == "ours alone":
        return tape_compat, tape_compat
    ways = tensorflow(), tape_compat
    return ways if request.param == "from TensorFlow" else ways[::-1]


@pytest.fixture(params=["from TensorFlow", "from us"])
def exchange(request):
    """The module that writes, once, and those which read that."""
    if request.param == "from us":
        return tape_compat, (tensorflow(), tape_compat)
    return tensorflow(), (tape_compat,)


def numbers(value):
    """What a function gave, as arrays in the structure that it has."""
    if isinstance(value, dict):
        return {key: numbers(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(numbers, value)]
    if value is None or isinstance(value, (int, float, str)):
        return value
    array = np.asarray(value.numpy())
    return array.dtype.name, array.tolist()


def assert_near(one, other):
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_near(one[key], other[key])
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(other)
        for a, b in zip(one, other):
            assert_near(a, b)
    elif isinstance(one, (float, complex)):
        assert one == pytest.approx(other, rel=1e-5, abs=1e-6, nan_ok=True)
    else:
        assert one == other


def told(tf, value):
    """What a function gave, with the parts of ragged and sparse tensors."""
    if isinstance(value, dict):
        return {key: told(tf, part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [told(tf, part) for part in value]
    if isinstance(value, tf.RaggedTensor):
        return ["ragged", value.to_list(), numbers(value.row_splits), numbers(value.flat_values)]
    if isinstance(value, tf.IndexedSlices):
        return [numbers(value.values), numbers(value.indices), numbers(value.dense_shape)]
    if isinstance(value, tf.SparseTensor):
        return numbers([value.indices, value.values, value.dense_shape])
    return numbers(value)


def compare(exchange, path, made, calls):
    """Load what was saved by each reader, and compare what functions give.
    calls: lists of arguments by the names of functions."""
    writer, readers = exchange
    expected = {
        name: [told(writer, getattr(made, name)(*map(writer.constant, given))) for given in several]
        for name, several in calls.items()
    }
    for reader in readers:
        loaded = reader.saved_model.load(str(path))
        for name, several in calls.items():
            for given, wanted in zip(several, expected[name], strict=True):
                found = getattr(loaded, name)(*map(reader.constant, given))
                assert_near(told(reader, found), wanted)
