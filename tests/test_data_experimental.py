"""What `tf.data.experimental` has beside other names of `tf.data.Dataset`'s methods."""

import pytest

import tape_compat as tf
from tape_compat._src.data.options import DEBUGGING

Dataset = tf.data.Dataset
experimental = tf.data.experimental


def test_elements_of_one_key_are_reduced_to_one():
    def ratio(total, count):
        return total / count

    reducer = experimental.Reducer(
        lambda key: (0.0, 0.0), lambda s, x: (s[0] + tf.cast(x, tf.float32), s[1] + 1.0), ratio
    )
    grouped = Dataset.range(10).apply(experimental.group_by_reducer(lambda x: -(x % 2), reducer))
    assert [float(x) for x in grouped] == [5.0, 4.0]
    assert grouped.element_spec == tf.TensorSpec([], tf.float32)
    assert [float(x) for x in grouped.repeat(2)] == [5.0, 4.0] * 2


def example(**features):
    made = {
        key: tf.train.Feature(int64_list=tf.train.Int64List(value=value))
        for key, value in features.items()
    }
    return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString()


def test_batches_of_examples_in_files(tmp_path):
    path = str(tmp_path / "examples")
    texts = Dataset.from_tensor_slices([example(a=[i, i], b=[i]) for i in range(5)])
    experimental.TFRecordWriter(path, "GZIP").write(texts)
    features = {
        "a": tf.io.FixedLenFeature([2], tf.int64),
        "b": tf.io.FixedLenFeature([], tf.int64),
        "c": tf.io.VarLenFeature(tf.int64),
    }
    dataset = experimental.make_batched_features_dataset(
        path, 2, features, label_key="b", reader_args=["GZIP"], num_epochs=1, shuffle=False
    )
    assert [labels.numpy().tolist() for _, labels in dataset] == [[0, 1], [2, 3], [4]]
    assert sorted(dataset.element_spec[0]) == ["a", "c"]
    endless = experimental.make_batched_features_dataset(path, 2, features, reader_args=["GZIP"])
    assert endless.element_spec["a"].shape == [2, 2] and endless.cardinality() == -1


def test_functions_run_as_python_where_they_are_to_be_debugged():
    seen = []
    try:
        experimental.enable_debug_mode()
        dataset = Dataset.range(3).map(lambda x: seen.append(x) or x + 1, 4).prefetch(2).batch(3)
        (batch,) = dataset
    finally:
        DEBUGGING.on = False
    assert batch.numpy().tolist() == [1, 2, 3]
    assert [x.numpy() for x in seen[-3:]] == [0, 1, 2]
    before = len(seen)
    list(Dataset.range(3).map(lambda x: seen.append(x) or x + 1))
    assert len(seen) == before + 1


def test_what_is_missing_says_why():
    for name in ("service", "to_variant", "make_saveable_from_iterator"):
        with pytest.raises(AttributeError, match=f"tf.data.experimental.{name} "):
            getattr(experimental, name)


def test_python_functions_give_no_optionals():
    spec = tf.OptionalSpec(tf.TensorSpec([], tf.float32))
    with pytest.raises(NotImplementedError, match="OptionalSpec"):
        tf.py_function(tf.experimental.Optional.from_value, [1.0], spec)
