"""RaggedTensor and `tf.ragged`: values, gradients, and inside `tf.function`."""

import numpy as np
import pytest

import tape_compat as tf

ROWS = [[1, 2], [], [3]]


def ragged():
    return tf.ragged.constant(ROWS)


def test_it_is_what_it_is_made_of():
    r = ragged()
    assert r.shape.as_list() == [3, None] and r.ragged_rank == 1 and r.to_list() == ROWS
    assert r.row_splits.numpy().tolist() == [0, 2, 2, 3]
    assert repr(r) == "<tf.RaggedTensor [[1, 2], [], [3]]>"
    assert len(tf.nest.flatten(r, expand_composites=True)) == 2
    assert r._type_spec == tf.RaggedTensorSpec([3, None], tf.int32)


@pytest.mark.parametrize(
    "make",
    [
        lambda R: R.from_row_lengths([1, 2, 3], [2, 0, 1]),
        lambda R: R.from_row_splits([1, 2, 3], [0, 2, 2, 3]),
        lambda R: R.from_value_rowids([1, 2, 3], [0, 0, 2]),
        lambda R: R.from_row_starts([1, 2, 3], [0, 2, 2]),
        lambda R: R.from_row_limits([1, 2, 3], [2, 2, 3]),
        lambda R: R.from_tensor([[1, 2], [0, 0], [3, 0]], padding=0),
        lambda R: R.from_sparse(tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 2, 3], [3, 2])),
    ],
)
def test_ways_to_make_one(make):
    assert make(tf.RaggedTensor).to_list() == ROWS


def test_wrong_parts():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 1, 3])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, 2])
    with pytest.raises(TypeError, match="boolean"):
        bool(ragged())


@pytest.mark.parametrize(
    "key, want",
    [
        (0, [1, 2]),
        (-1, [3]),
        ((0, 1), 2),
        (slice(1, None), [[], [3]]),
        ((slice(None), slice(None, 1)), [[1], [], [3]]),
        ((slice(None), slice(None, None, -1)), [[2, 1], [], [3]]),
        ((Ellipsis, slice(1, None)), [[2], [], []]),
    ],
)
def test_indexing(key, want):
    found = ragged()[key]
    assert (found.to_list() if hasattr(found, "to_list") else found.numpy().tolist()) == want


def test_operators_and_broadcasting():
    r = ragged()
    assert (r + 1).to_list() == [[2, 3], [], [4]]
    assert (10 - r).to_list() == [[9, 8], [], [7]]
    assert (r * [[1], [2], [3]]).to_list() == [[1, 2], [], [9]]
    assert (r == r).to_list() == [[True, True], [], [True]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        r + tf.ragged.constant([[1], [2], [3]])


def test_joins():
    r = ragged()
    assert tf.concat([r, r], 1).to_list() == [[1, 2, 1, 2], [], [3, 3]]
    assert tf.stack([r, r]).to_list() == [ROWS, ROWS]
    assert tf.tile(r, [1, 2]).to_list() == [[1, 2, 1, 2], [], [3, 3]]
    assert tf.gather(r, [2, 0]).to_list() == [[3], [1, 2]]
    assert tf.expand_dims(r, 1).to_list() == [[[1, 2]], [[]], [[3]]]


def test_reductions():
    r = ragged()
    assert tf.reduce_sum(r, 1).numpy().tolist() == [3, 0, 3]
    assert tf.reduce_sum(r, 0).numpy().tolist() == [4, 2]
    assert int(tf.reduce_max(r)) == 3
    deep = tf.ragged.constant([[[1.0, 2.0], [5.0]], [], [[3.0], []]])
    assert tf.reduce_sum(deep, 1).to_list() == [[6.0, 2.0], [], [3.0]]
    assert tf.reduce_sum(deep, 2).to_list() == [[3.0, 5.0], [], [3.0, 0.0]]


def test_to_others():
    r = ragged()
    assert r.to_tensor(9).numpy().tolist() == [[1, 2], [9, 9], [3, 9]]
    assert tf.sparse.to_dense(r.to_sparse()).numpy().tolist() == [[1, 2], [0, 0], [3, 0]]
    assert r.bounding_shape().numpy().tolist() == [3, 2]
    assert [row.tolist() for row in r.numpy()] == ROWS


def test_gradients():
    values = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(values)
        r = tf.RaggedTensor.from_row_lengths(values, [2, 0, 1])
        y = tf.reduce_sum(tf.reduce_mean(r[:2] * r[:2] + 1.0, 1)[0])
    assert tf.convert_to_tensor(tape.gradient(y, values)).numpy().tolist() == [1.0, 2.0, 0.0]


def test_in_a_function():
    traces = []

    @tf.function
    def double(r):
        traces.append(r.shape)
        return tf.ragged.map_flat_values(lambda v: v * 2, r)

    for rows in ([[1, 2], [3]], [[4], [5, 6]]):
        assert (
            double(tf.ragged.constant(rows)).to_list()
            == np.array([[2 * x for x in row] for row in rows], object).tolist()
        )
    assert len(traces) == 1
    total = tf.function(lambda r: tf.reduce_sum(r, 1))
    assert total(ragged()).numpy().tolist() == [3, 0, 3]


def test_rows_of_unknown_sizes_are_made_for_those_of_a_call():
    signature = [tf.TensorSpec([None, 1])]
    lengths = tf.function(lambda x: tf.RaggedTensor.from_tensor(x).row_lengths(), signature)
    assert [lengths(tf.ones([n, 1])).numpy().tolist() for n in (2, 3)] == [[1, 1], [1, 1, 1]]
    data = tf.data.Dataset.range(2, 4).map(lambda n: tf.ones([n, 1]))
    rows = [x.to_list() for x in data.map(tf.RaggedTensor.from_tensor)]
    assert rows == [[[1.0]] * 2, [[1.0]] * 3]


def test_partitions_and_shapes():
    partition = tf.experimental.RowPartition.from_value_rowids([0, 0, 2], nrows=4)
    assert partition.row_lengths().numpy().tolist() == [2, 0, 1, 0]
    assert repr(tf.shape(ragged())) == (
        "<DynamicRaggedShape lengths=[3, (2, 0, 1)] num_row_partitions=1>"
    )


def test_as_an_input_signature():
    traces = []

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)])
    def double(r):
        traces.append(r.shape.as_list())
        return r * 2

    assert double(tf.ragged.constant([[1], [2, 3]])).to_list() == [[2], [4, 6]]
    assert double(tf.ragged.constant([[1], [2, 3], []])).to_list() == [[2], [4, 6], []]
    assert traces == [[None, None]]


@pytest.mark.parametrize("shape", [None, [None, 2], [5, 4], [3, None], [2, 3]])
@pytest.mark.parametrize("kind", ["int32", "string", "float32", "bool"])
def test_to_tensor_cuts_and_fills_alike_for_all_dtypes(shape, kind):
    """What is on the host takes another way than what has derivatives."""
    rows = [[1, 2, 3], [], [4]]
    values = {"int32": int, "string": lambda n: str(n).encode(), "float32": float, "bool": bool}
    ragged = tf.ragged.constant([[values[kind](n) for n in row] for row in rows], kind)
    default = values[kind](7)
    height, width = [n or m for n, m in zip(shape or (None, None), (3, 3))]
    expected = [[default] * width for _ in range(height)]
    for i, row in enumerate(rows[:height]):
        for k, n in enumerate(row[:width]):
            expected[i][k] = values[kind](n)
    found = ragged.to_tensor(default, shape=shape)
    assert found.dtype == kind and found.numpy().tolist() == expected
