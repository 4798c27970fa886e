"""Tables: `tf.lookup`."""

import pytest

import tape_compat as tf

L = tf.lookup


def static(default=-1):
    init = L.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64))
    return L.StaticHashTable(init, default)


def test_static_table():
    table = static()
    assert table.lookup(tf.constant(["b", "z"])).numpy().tolist() == [2, -1]
    assert int(table[tf.constant("a")]) == 1 and int(table.size()) == 2
    assert sorted(table.export()[0].numpy().tolist()) == [b"a", b"b"]
    with pytest.raises(TypeError, match="Dtype"):
        table.lookup(tf.constant([1]))


def test_composite_keys():
    table = static()
    assert table.lookup(tf.ragged.constant([["a"], ["b", "q"]])).to_list() == [[1], [2, -1]]
    sparse = table.lookup(tf.SparseTensor([[0, 1]], ["b"], [1, 2]))
    assert tf.sparse.to_dense(sparse).numpy().tolist() == [[0, 2]]


def test_text_values():
    init = L.KeyValueTensorInitializer(tf.constant([5, 6], tf.int64), ["x", "y"])
    found = L.StaticHashTable(init, "?").lookup(tf.constant([6, 1], tf.int64))
    assert found.numpy().tolist() == [b"y", b"?"]


def test_a_key_with_two_values():
    with pytest.raises(tf.errors.FailedPreconditionError, match="different value"):
        L.StaticHashTable(L.KeyValueTensorInitializer(["a", "a"], [1, 2]), 0)


def test_an_initializer_of_ones_own():
    class Nothing(L.KeyValueTensorInitializer):
        def __init__(self):
            pass

        key_dtype, value_dtype = tf.string, tf.int64

        def initialize(self, table):
            pass

    assert int(L.StaticHashTable(Nothing(), -1).size()) == 0


def test_files(tmp_path):
    file = tmp_path / "words.txt"
    file.write_text("a\nb\n")
    index = L.TextFileIndex
    init = L.TextFileInitializer(
        str(file), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER, value_index_offset=2
    )
    assert L.StaticHashTable(init, -1).lookup(tf.constant(["b", "q"])).numpy().tolist() == [3, -1]
    missing = L.TextFileInitializer("/none", tf.string, -2, tf.int64, -1)
    with pytest.raises(tf.errors.NotFoundError):
        L.StaticHashTable(missing, -1)


def test_vocabulary():
    init = L.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64))
    table = L.StaticVocabularyTable(init, 3)
    assert table.lookup(tf.constant(["a", "q", "zz", "b"])).numpy().tolist() == [0, 4, 3, 1]
    assert int(table.size()) == 5


def test_mutable_table():
    table = L.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(tf.constant(["a", "b"]), tf.constant([1, 2], tf.int64))
    table.remove(tf.constant(["a"]))
    assert table.lookup(tf.constant(["a", "b"])).numpy().tolist() == [-1, 2]
    rows = L.experimental.MutableHashTable(tf.int64, tf.float32, [0.0, 0.0])
    rows.insert(tf.constant([7], tf.int64), [[1.0, 2.0]])
    assert rows.lookup(tf.constant([7, 8], tf.int64)).numpy().tolist() == [[1.0, 2.0], [0.0, 0.0]]


def test_reserved_keys():
    table = L.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=0, deleted_key=-1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="empty_key"):
        table.insert(tf.constant([0], tf.int64), tf.constant([1], tf.int64))


def test_numbers_in_a_function():
    traces = []
    keys, values = tf.constant([5, 3, 9], tf.int64), tf.constant([1.0, 2.0, 3.0])
    table = L.StaticHashTable(L.KeyValueTensorInitializer(keys, values), -1.0)

    @tf.function
    def look_up(x):
        traces.append(x)
        return table.lookup(x)

    assert look_up(tf.constant([3, 4], tf.int64)).numpy().tolist() == [2.0, -1.0]
    assert look_up(tf.constant([9, 5], tf.int64)).numpy().tolist() == [3.0, 1.0]
    assert len(traces) == 1


def test_changes_are_seen_by_a_function():
    table = L.experimental.MutableHashTable(tf.string, tf.int64, -1)
    look_up = tf.function(lambda: table.lookup(tf.constant(["a"])))
    assert look_up().numpy().tolist() == [-1]
    table.insert(tf.constant(["a"]), tf.constant([4], tf.int64))
    assert look_up().numpy().tolist() == [4]
