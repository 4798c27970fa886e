"""SparseTensor and `tf.sparse`: values, gradients, and inside `tf.function`."""

import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.ops.sparse_products import sparse_matrix_sparse_mat_mul


def sparse(values=(3.0, 4.0, 5.0)):
    return tf.SparseTensor([[0, 1], [1, 0], [1, 2]], tf.constant(values), [2, 3])


def dense(x):
    return tf.sparse.to_dense(x).numpy().tolist()


def test_it_is_what_it_is_made_of():
    s = sparse()
    assert s.shape.as_list() == [2, 3] and s.dtype is tf.float32
    assert s.indices.dtype is tf.int64 and s.dense_shape.numpy().tolist() == [2, 3]
    assert tf.nest.flatten(s, expand_composites=True)[1] is s.values
    assert s._type_spec == tf.SparseTensorSpec([2, 3], tf.float32)


@pytest.mark.parametrize(
    "parts", [([[0, 1]], [1.0, 2.0], [2, 2]), ([0], [1.0], [1]), ([[0, 1]], [1.0], [2])]
)
def test_parts_that_do_not_fit(parts):
    with pytest.raises(ValueError):
        tf.SparseTensor(*parts)


def test_plain_ops_that_take_it():
    s = sparse((-3.0, 4.0, 5.0))
    assert tf.abs(s).values.numpy().tolist() == [3.0, 4.0, 5.0]
    assert tf.cast(s, tf.int32).dtype is tf.int32
    assert tf.shape(s).numpy().tolist() == [2, 3] and int(tf.size(s)) == 6
    with pytest.raises(ValueError, match="unsupported type"):
        tf.exp(s)


def test_to_and_from_dense():
    x = [[0.0, 3.0, 0.0], [4.0, 0.0, 5.0]]
    assert dense(sparse()) == x == dense(tf.sparse.from_dense(x))


def test_layout():
    s = sparse()
    x = np.array(dense(s))
    assert dense(tf.sparse.transpose(s)) == x.T.tolist()
    assert dense(tf.sparse.reshape(s, [3, 2])) == x.reshape(3, 2).tolist()
    assert dense(tf.sparse.concat(1, [s, s])) == np.concatenate([x, x], 1).tolist()
    assert dense(tf.sparse.slice(s, [0, 1], [2, 2])) == x[:, 1:].tolist()
    assert [dense(p) for p in tf.sparse.split(s, 3, 1)] == [
        x[:, i : i + 1].tolist() for i in range(3)
    ]
    assert dense(tf.sparse.expand_dims(s, 0)) == x[None].tolist()


def test_gradients():
    values = tf.constant([3.0, 4.0, 5.0])
    b = tf.Variable([[1.0], [2.0], [3.0]])
    with tf.GradientTape() as tape:
        tape.watch(values)
        s = tf.SparseTensor([[0, 1], [1, 0], [1, 2]], values, [2, 3])
        y = tf.sparse.sparse_dense_matmul(s, b)
    got = tape.gradient(y, [values, b])
    assert got[0].numpy().tolist() == [2.0, 1.0, 3.0]
    assert got[1].numpy().tolist() == [[4.0], [3.0], [5.0]]


def test_in_a_function():
    traces = []

    @tf.function
    def step(s, b):
        traces.append(s.shape)
        return tf.sparse.map_values(lambda v: v * 2.0, s), tf.sparse.sparse_dense_matmul(s, b)

    for _ in range(3):
        doubled, product = step(sparse(), tf.ones([3, 1]))
    assert len(traces) == 1 and traces[0].as_list() == [2, 3]
    assert isinstance(doubled, tf.SparseTensor)
    assert doubled.values.numpy().tolist() == [6.0, 8.0, 10.0]
    assert product.numpy().tolist() == [[3.0], [9.0]]


def test_in_a_function_that_needs_values():
    retained = tf.function(lambda s: tf.sparse.retain(s, s.values > 3.5))
    assert retained(sparse()).values.numpy().tolist() == [4.0, 5.0]


def test_while_loop_carries_one():
    out = tf.while_loop(
        lambda i, s: i < 3,
        lambda i, s: (i + 1, tf.sparse.map_values(tf.add, s, 1.0)),
        (tf.constant(0), sparse()),
    )
    assert out[1].values.numpy().tolist() == [6.0, 7.0, 8.0]


@pytest.mark.parametrize("combiner, want", [("sum", [4.0, 1.0]), ("mean", [2.0, 1.0])])
def test_embeddings(combiner, want):
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([1, 0, 0], tf.int64), [2, 2])
    table = tf.constant([[1.0], [3.0]])
    got = tf.nn.embedding_lookup_sparse(table, ids, None, combiner)
    assert got.numpy().ravel().tolist() == want


def test_sets():
    assert dense(tf.sets.intersection([[1, 2, 3]], [[3, 1, 9]])) == [[1, 3]]
    assert dense(tf.sets.difference([["a", "b"]], [["b", "c"]])) == [[b"a"]]


def test_as_an_input_signature():
    traces = []

    @tf.function(input_signature=[tf.SparseTensorSpec([None, 3], tf.float32)])
    def double(s):
        traces.append(s.shape.as_list())
        return tf.sparse.map_values(tf.multiply, s, 2.0)

    for rows in (2, 4):
        s = tf.SparseTensor([[0, 1]], [1.0], [rows, 3])
        assert double(s).shape.as_list() == [rows, 3]
    assert traces == [[None, 3]]
    assert double.get_concrete_function()(s).values.numpy().tolist() == [2.0]
    for wrong in (tf.ones([2, 3]), tf.SparseTensor([[0, 1]], [1.0], [2, 4])):
        with pytest.raises(TypeError):
            double(wrong)


def test_products_of_sparse_matrices():
    a, b = sparse(), tf.sparse.transpose(sparse())
    product = sparse_matrix_sparse_mat_mul(a, b, tf.float32)
    assert dense(product) == (np.array(dense(a)) @ np.array(dense(b))).tolist()


def test_rows_in_map_fn():
    found = tf.map_fn(tf.sparse.reduce_sum, sparse(), fn_output_signature=tf.float32)
    assert found.numpy().tolist() == [3.0, 9.0]


def test_order_is_recorded():
    traces = []

    @tf.function(input_signature=[tf.SparseTensorSpec([None, 3])])
    def ordered(s):
        turned, ordered = tf.sparse.transpose(s), tf.sparse.reorder(s)
        traces.append([turned.shape.as_list(), ordered.shape.as_list()])
        return turned, ordered

    s = tf.SparseTensor([[1, 2], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 3])
    for _ in range(2):
        turned, kept = ordered(s)
        assert turned.indices.numpy().tolist() == [[0, 1], [1, 0], [2, 1]]
        assert turned.values.numpy().tolist() == [3.0, 2.0, 1.0]
        assert kept.indices.numpy().tolist() == [[0, 1], [1, 0], [1, 2]]
        assert kept.values.numpy().tolist() == [2.0, 3.0, 1.0]
    assert traces == [[[3, None], [None, 3]]]


def test_gradient_of_a_recorded_order():
    v = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def weighted(indices):
        turned = tf.sparse.reorder(tf.SparseTensor(indices, v * v, [2, 3]))
        return tf.reduce_sum(turned.values * [1.0, 10.0, 100.0])

    with tf.GradientTape() as tape:
        y = weighted(tf.constant([[1, 2], [0, 1], [1, 0]], tf.int64))
    assert y.numpy() == 4.0 + 90.0 + 100.0
    assert tape.gradient(y, v).numpy().tolist() == [200.0, 4.0, 60.0]


def test_placeholders():
    with tf.Graph().as_default():
        x = tf.compat.v1.sparse_placeholder("float32", [None, 3, 3])
        assert isinstance(x, tf.SparseTensor)
        assert (x.shape.as_list(), x.indices.shape.as_list()) == ([None, 3, 3], [None, 3])
        assert tf.sparse.to_dense(x).shape.as_list() == [None, 3, 3]
        assert tf.sparse.transpose(x, [0, 2, 1]).shape.as_list() == [None, 3, 3]
        first = tf.SparseTensor(x.indices, x.values, [tf.shape(x)[0], 3, 4])
        assert first.shape.as_list() == [None, 3, 4]
        with pytest.raises(TypeError, match="of unknown rank"):
            tf.compat.v1.sparse_placeholder("float32")
    with pytest.raises(RuntimeError, match="not compatible with eager execution"):
        tf.compat.v1.sparse_placeholder("float32", [2])
