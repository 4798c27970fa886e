"""TensorShape, TensorSpec and broadcasting. Expected values are TensorFlow 2.21's."""

import copy
import pickle

import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core.shapes import Dimension

S = tf.TensorShape
UNKNOWN = S(None)


@pytest.mark.parametrize(
    "dims, text, long",
    [
        (None, "<unknown>", "TensorShape(None)"),
        ([], "()", "TensorShape([])"),
        (3, "(3,)", "TensorShape([3])"),
        ([2, None], "(2, None)", "TensorShape([2, None])"),
        ((2, 3), "(2, 3)", "TensorShape([2, 3])"),
        ([np.int64(3)], "(3,)", "TensorShape([3])"),
        (np.array([1, 2]), "(1, 2)", "TensorShape([1, 2])"),
        (S([1, 2]), "(1, 2)", "TensorShape([1, 2])"),
        ({}, "()", "TensorShape([])"),
    ],
    ids=repr,
)
def test_text(dims, text, long):
    assert (str(S(dims)), repr(S(dims))) == (text, long)


def test_from_tensors():
    assert S(tf.constant([1, 2])) == [1, 2]
    assert S([tf.constant(3), None]) == [3, None]


@pytest.mark.parametrize(
    "dims, error, message",
    [
        ([-1, 2], ValueError, "Dimension -1 must be >= 0"),
        ("ab", TypeError, "Failed to convert ''ab'' to a shape"),
        ([2.5], TypeError, "Dimension value must be integer or None or have an __index__ method"),
        ([2, "a"], TypeError, "got value ''a'' with type '<class 'str'>'"),
        ([[1, 2]], TypeError, "Dimension value must be integer"),
    ],
)
def test_invalid(dims, error, message):
    with pytest.raises(error, match=message):
        S(dims)


def test_rank_and_sizes():
    assert (S([1, None]).rank, S([1]).ndims, UNKNOWN.rank) == (2, 1, None)
    assert S([1, None]).as_list() == [1, None]
    assert (S([2, 3]).num_elements(), S([]).num_elements()) == (6, 1)
    assert S([2, None]).num_elements() is UNKNOWN.num_elements() is None
    assert S([1]).is_fully_defined() and S([]).is_fully_defined()
    assert not S([None]).is_fully_defined() and not UNKNOWN.is_fully_defined()
    with pytest.raises(ValueError, match=r"as_list\(\) is not defined on an unknown TensorShape"):
        UNKNOWN.as_list()


def test_as_a_sequence():
    shape = S([1, None, 3])
    assert list(shape) == [1, None, 3]
    assert (len(shape), shape[0], shape[1], shape[-1]) == (3, 1, None, 3)
    assert 3 in shape and 2 not in shape
    assert shape[1:] == S([None, 3]) and isinstance(shape[1:], S)
    assert (shape[::2], shape[::-1]) == (S([1, 3]), S([3, None, 1]))
    assert np.zeros(S([2, 3])).shape == (2, 3)
    assert (bool(UNKNOWN), bool(S([])), bool(S([0]))) == (False, True, True)
    with pytest.raises(IndexError, match="tuple index out of range"):
        shape[5]
    with pytest.raises(TypeError, match="indices must be integers or slices"):
        shape["a"]


@pytest.mark.parametrize(
    "key, expected",
    [
        (slice(1, None), UNKNOWN),
        (slice(None, 2), S([None, None])),
        (slice(1, 3), S([None, None])),
        (slice(1, -1), UNKNOWN),
        (slice(-2, None), UNKNOWN),
        (slice(2, 1), S([])),
    ],
)
def test_slices_of_an_unknown_rank(key, expected):
    assert UNKNOWN[key] == expected


def test_unknown_rank_as_a_sequence():
    assert UNKNOWN[0] is None
    with pytest.raises(ValueError, match="Cannot iterate over a shape with unknown rank"):
        list(UNKNOWN)
    with pytest.raises(ValueError, match="Cannot take the length of shape with unknown rank"):
        len(UNKNOWN)
    with pytest.raises(ValueError, match="Steps are not yet handled"):
        UNKNOWN[::2]


def test_equality_and_hash():
    assert S([1, None]) == S([1, None]) == [1, None]
    assert S([1, 2]) == (1, 2) and S([1]) == 1
    assert UNKNOWN == S(None) and UNKNOWN == None  # noqa: E711
    assert S([1]) != UNKNOWN and S([1]) != [2] and S([1]) != None  # noqa: E711
    assert S([1]) != "a" and S([1, 2]) != object() and S([1]) != [-1]
    assert hash(S([1, 2])) == hash((1, 2)) == hash(S([1, 2]))
    assert len({S([1]), S([1]), S([2]), UNKNOWN, UNKNOWN}) == 3


def test_copies():
    for shape in (UNKNOWN, S([]), S([1, None])):
        for same in (pickle.loads(pickle.dumps(shape)), copy.deepcopy(shape), S(shape)):
            assert same == shape
            assert repr(same) == repr(shape)


def test_from_tuple_checks_nothing():
    assert S._from_tuple((2, 3)) == S([2, 3])
    assert S._from_tuple(None) == UNKNOWN


def test_merge():
    assert S([1, None]).merge_with([None, 2]) == S([1, 2])
    assert UNKNOWN.merge_with([2]) == S([2]).merge_with(None) == S([2])
    for other in ([2, 2], [1, 2, 3]):
        with pytest.raises(ValueError, match=r"Shapes \(1, None\) and .* are not compatible"):
            S([1, None]).merge_with(other)


def test_concatenate():
    assert S([1, None]).concatenate([3]) == S([1, None, 3])
    assert S([1]).concatenate(4) == S([1]) + 4 == S([1, 4])
    assert S([1]).concatenate(None) == UNKNOWN.concatenate([3]) == UNKNOWN
    assert S([1]) + [3] == S([1]) + S([3]) == S([1, 3])
    assert [3] + S([1]) == (3,) + S([1]) == S([3, 1])
    with pytest.raises(TypeError, match="unsupported operand"):
        S([1]) * 2


def test_with_rank():
    shape = S([1])
    assert shape.with_rank(1) is shape
    assert shape.with_rank_at_least(1) is shape.with_rank_at_most(1) is shape
    assert UNKNOWN.with_rank(2) == S([None, None])
    assert UNKNOWN.with_rank_at_least(2) == UNKNOWN.with_rank_at_most(2) == UNKNOWN
    for method, rank, words in (
        ("with_rank", 2, "rank 2"),
        ("with_rank_at_least", 2, "rank at least 2"),
        ("with_rank_at_most", 0, "rank at most 0"),
        ("assert_has_rank", 2, "rank 2"),
    ):
        with pytest.raises(ValueError, match=rf"Shape \(1,\) must have {words}$"):
            getattr(shape, method)(rank)


def test_compatibility():
    assert S([1, None]).is_compatible_with([1, 4])
    assert S([1]).is_compatible_with(None) and UNKNOWN.is_compatible_with([1])
    assert not S([1]).is_compatible_with([1, 2])
    assert not S([1]).is_compatible_with([2])
    S([1]).assert_is_compatible_with([None])
    S([1]).assert_same_rank(None)
    S([1]).assert_same_rank([5])
    S([1]).assert_is_fully_defined()
    UNKNOWN.assert_has_rank(3)
    with pytest.raises(ValueError, match=r"Shapes \(1,\) and .*2.* are incompatible"):
        S([1]).assert_is_compatible_with([2])
    with pytest.raises(ValueError, match=r"Shapes \(1,\) and \(1, 2\) must have the same rank"):
        S([1]).assert_same_rank([1, 2])
    with pytest.raises(ValueError, match=r"Shape \(None,\) is not fully defined"):
        S([None]).assert_is_fully_defined()


def test_what_is_true_of_both():
    assert S([1, 2]).most_specific_compatible_shape([1, 3]) == S([1, None])
    assert S([None, 2]).most_specific_compatible_shape([None, 2]) == S([None, 2])
    assert S([1, 2]).most_specific_compatible_shape([1, 2, 3]) == UNKNOWN
    assert S([1, 2]).most_specific_compatible_shape(None) == UNKNOWN
    assert S([1, 2]).most_specific_common_supertype([S([1, 3]), S([4, 2])]) == S([None, None])
    assert S([1, 2]).most_specific_common_supertype(["a"]) is None
    assert S([1, 2]).is_subtype_of(S([1, None])) and S([1, 2]).is_subtype_of(UNKNOWN)
    assert not S([1, None]).is_subtype_of(S([1, 2]))
    assert not UNKNOWN.is_subtype_of(S([1]))


def test_dimensions():
    assert UNKNOWN.dims is None
    two, unknown = S([2, None]).dims
    assert (two.value, unknown.value, repr(two), str(unknown)) == (2, None, "Dimension(2)", "?")
    assert two == 2 and two == Dimension(2) and (two == unknown) is None
    assert (int(two), [10, 20, 30][two]) == (2, 30)
    assert S([two, unknown]) == [2, None]
    with pytest.raises(TypeError, match="non-int"):
        int(unknown)


@pytest.mark.parametrize(
    "x, y, expected",
    [
        (S([1, 2]), S([3, 1]), S([3, 2])),
        (S([2]), S([3, 1]), S([3, 2])),
        (S([]), S([4]), S([4])),
        (S([None, 2]), S([3, 1]), S([3, 2])),
        (S([None, 2]), S([1, 2]), S([None, 2])),
        (S([None]), S([None]), S([None])),
        (UNKNOWN, S([3]), UNKNOWN),
    ],
    ids=repr,
)
def test_broadcast_static_shape(x, y, expected):
    assert tf.broadcast_static_shape(x, y) == tf.broadcast_static_shape(y, x) == expected


def test_shapes_that_do_not_broadcast():
    with pytest.raises(ValueError, match=r"Incompatible shapes for broadcasting.*\(2,\) and \(3,"):
        tf.broadcast_static_shape(S([2]), S([3]))


def test_spec():
    spec = tf.TensorSpec([1, None], "int32", name="x")
    assert repr(spec) == "TensorSpec(shape=(1, None), dtype=tf.int32, name='x')"
    assert (spec.shape, spec.dtype, spec.name) == (S([1, None]), tf.int32, "x")
    assert repr(tf.TensorSpec(None)) == "TensorSpec(shape=<unknown>, dtype=tf.float32, name=None)"
    assert spec == copy.deepcopy(spec) == pickle.loads(pickle.dumps(spec))
    assert hash(spec) == hash(copy.deepcopy(spec))
    assert tf.TensorSpec([1], name="a") != tf.TensorSpec([1], name="b")
    assert tf.TensorSpec([1]) != tf.TensorSpec([2]) != 1
    assert spec.value_type is tf.Tensor
    with pytest.raises(TypeError, match="Cannot convert the argument `type_value`"):
        tf.TensorSpec([1], "foo")


def test_spec_from_others():
    x = tf.constant([1, 2])
    assert tf.TensorSpec.from_tensor(x) == tf.TensorSpec([2], tf.int32)
    assert tf.TensorSpec.from_tensor(x, name="q").name == "q"
    spec = tf.TensorSpec([1], name="a")
    assert tf.TensorSpec.from_spec(spec) == spec
    assert tf.TensorSpec.from_spec(spec, name="b") == tf.TensorSpec([1], name="b")
    assert tf.TensorSpec.from_spec(tf.Variable(1.0)).name == "Variable:0"
    for value in (np.ones(2), tf.Variable(1.0)):
        with pytest.raises(ValueError, match=r"`tensor` should be a tf.Tensor, but got type"):
            tf.TensorSpec.from_tensor(value)
    with pytest.raises(AttributeError, match="shape"):
        tf.TensorSpec.from_spec(1)


def test_spec_compatibility():
    spec = tf.TensorSpec([None, 2])
    assert spec.is_compatible_with(tf.ones((3, 2)))
    assert not spec.is_compatible_with(tf.ones((3, 3)))
    assert not spec.is_compatible_with(tf.ones((3, 2), tf.float64))
    assert not spec.is_compatible_with(np.ones((3, 2), np.float32))
    assert not spec.is_compatible_with("a")
    assert spec.is_compatible_with(tf.TensorSpec([3, 2]))
    assert tf.TensorSpec([3, 2]).is_compatible_with(spec)
    assert tf.TensorSpec([3, 2]).is_subtype_of(spec)
    assert not spec.is_subtype_of(tf.TensorSpec([3, 2]))


def test_spec_supertypes():
    spec = tf.TensorSpec([3, 2])
    assert spec.most_specific_compatible_type(tf.TensorSpec([4, 2])) == tf.TensorSpec([None, 2])
    assert spec.most_specific_compatible_type(tf.TensorSpec([4])) == tf.TensorSpec(None)
    named = [tf.TensorSpec([4, 2], name=name) for name in "ab"]
    assert named[0].most_specific_common_supertype([named[0]]) == named[0]
    assert named[0].most_specific_common_supertype([named[1]]) is None
    for other in (tf.TensorSpec([4, 2], tf.int32), named[0], 1):
        with pytest.raises(ValueError, match="No TypeSpec is compatible with both TensorSpec"):
            spec.most_specific_compatible_type(other)
