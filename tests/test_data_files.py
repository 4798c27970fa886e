"""Elements of datasets in files: save and load, cache(filename), snapshot; fingerprints."""

import collections
import os

import numpy as np
import pytest

import tape_compat as tf
from tests.processes import run

Dataset = tf.data.Dataset
Pair = collections.namedtuple("Pair", "x y")


def plain(value):
    if isinstance(value, tf.RaggedTensor):
        return value.to_list()
    if isinstance(value, tf.SparseTensor):
        return tf.sparse.to_dense(value).numpy().tolist()
    return None if value is None else value.numpy()


def elements(dataset):
    return [tf.nest.map_structure(plain, x) for x in dataset]


def all_kinds():
    ragged = tf.ragged.constant([[[1], [2, 3]], [], [[4]]])
    sparse = tf.SparseTensor([[0, 1], [2, 0]], [5, 6], [3, 2])
    datasets = [
        Dataset.range(5),
        Dataset.from_tensor_slices({"a": [1.5, 2], "b": (["x", "yé"], np.eye(2))}),
        Dataset.from_tensor_slices(Pair([True, False], tf.constant([1, 2], tf.bfloat16))),
        Dataset.from_tensors((1, None, np.complex64(1 + 2j), tf.zeros([0, 3]))),
        Dataset.from_tensor_slices((ragged, sparse)),
        Dataset.from_tensors((ragged, sparse)),
        Dataset.from_tensor_slices((ragged, sparse)).batch(2),
        Dataset.range(1, 4).map(lambda n: tf.fill([n], n)),
        Dataset.range(0),
    ]
    return [pytest.param(dataset, id=str(i)) for i, dataset in enumerate(datasets)]


@pytest.mark.parametrize("dataset", all_kinds())
def test_all_kinds_of_elements_come_back(dataset, tmp_path):
    expected = elements(dataset)
    dataset.save(str(tmp_path / "saved"), "GZIP")
    loaded = Dataset.load(tmp_path / "saved", compression="GZIP")
    assert repr(loaded.element_spec) == repr(dataset.element_spec)
    assert int(loaded.cardinality()) == len(expected)
    cached = dataset.cache(str(tmp_path / "cached"))
    for found in (loaded, loaded, cached, cached):
        np.testing.assert_equal(elements(found), expected)


def test_another_process_reads_them(tmp_path):
    Dataset.from_tensor_slices({"a": ["x", "y"]}).save(str(tmp_path))
    program = (
        "import sys, tape_compat as tf; "
        "print([bytes(x['a']) for x in tf.data.Dataset.load(sys.argv[1]).as_numpy_iterator()])"
    )
    found = run("-c", program, tmp_path, after="tape_compat")
    assert found.stdout.strip() == "[b'x', b'y']"


def test_a_file_cut_short_is_told(tmp_path):
    Dataset.range(100).save(str(tmp_path))
    (path,) = tmp_path.glob("*/*.elements")
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(tf.errors.DataLossError, match="ends too early"):
        list(Dataset.load(str(tmp_path)))
    path.write_bytes(b"something else\n")
    with pytest.raises(tf.errors.DataLossError, match="another format"):
        list(Dataset.load(str(tmp_path)))


def test_a_run_that_fails_saves_nothing(tmp_path):
    failing = Dataset.from_tensor_slices([1.0, 0.0]).map(
        lambda x: tf.debugging.check_numerics(1.0 / x, "no number")
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="element 1"):
        failing.save(str(tmp_path))
    with pytest.raises(tf.errors.NotFoundError):
        Dataset.load(str(tmp_path))


def test_what_files_cannot_hold_is_refused(tmp_path):
    path = str(tmp_path)
    with pytest.raises(NotImplementedError, match="DatasetSpec"):
        Dataset.range(4).window(2).save(path)
    with pytest.raises(NotImplementedError, match="SNAPPY"):
        Dataset.range(4).save(path, compression="SNAPPY")
    with pytest.raises(NotImplementedError, match="checkpoint_args"):
        Dataset.range(4).save(path, checkpoint_args={})
    (tmp_path / "dataset_spec.pb").touch()
    with pytest.raises(NotImplementedError, match="saved by TensorFlow"):
        Dataset.load(path)


def generated(seen):
    def generate():
        seen.append(1)
        yield from range(4)

    return Dataset.from_generator(generate, output_signature=tf.TensorSpec([], tf.int64))


@pytest.mark.parametrize("keep", ["cache", "snapshot"])
def test_the_first_whole_run_is_kept(keep, tmp_path):
    seen = []
    dataset = getattr(generated(seen), keep)(str(tmp_path / "kept"))
    iterator = iter(dataset)
    next(iterator)
    del iterator
    assert [int(x) for x in dataset] == [0, 1, 2, 3] and len(seen) == 2
    assert [int(x) for x in dataset.repeat(2)] == [0, 1, 2, 3] * 2 and len(seen) == 2
    assert not [x for x in os.listdir(tmp_path) if "lock" in x or "part" in x]


def test_two_runs_do_not_write_one_cache(tmp_path):
    dataset = Dataset.range(5).cache(str(tmp_path / "c"))
    first, second = iter(dataset), iter(dataset)
    next(first)
    with pytest.raises(tf.errors.AlreadyExistsError, match="concurrent caching iterator"):
        next(second)
    assert [int(x) for x in first] == [1, 2, 3, 4]
    assert [int(x) for x in second] == [0, 1, 2, 3, 4]


def test_runs_that_are_left_let_others_write(tmp_path):
    dataset = Dataset.range(5).cache(str(tmp_path / "c")).map(lambda x: x + 1).prefetch(1)
    for _ in range(3):
        next(iter(dataset.take(2)))
    assert [int(x) for x in dataset] == [1, 2, 3, 4, 5]


def test_a_snapshot_of_another_dataset_is_written_anew(tmp_path):
    def numbers(n, more):
        return Dataset.range(n).map(lambda x: x + more).snapshot(str(tmp_path))

    assert [[int(x) for x in numbers(*a)] for a in ((3, 1), (3, 2), (2, 1), (3, 1))] == [
        [1, 2, 3],
        [2, 3, 4],
        [1, 2],
        [1, 2, 3],
    ]
    assert len(os.listdir(tmp_path)) == 3


def test_fingerprints_tell_datasets_apart():
    def scaled(x, by=2):
        return x * by

    make = Dataset.from_tensor_slices
    datasets = [
        lambda: Dataset.range(3),
        lambda: Dataset.range(4),
        lambda: Dataset.range(3).batch(2),
        lambda: Dataset.range(3).map(scaled),
        lambda: Dataset.range(3).map(lambda x: scaled(x, 3)),
        lambda: make([1, 2]),
        lambda: make([1, 3]),
        lambda: make(["a"]),
        lambda: make({"a": [1, 2]}),
        lambda: make([1, 2]).shuffle(2),
    ]
    found = [[int(make().fingerprint()) for make in datasets] for _ in range(2)]
    assert found[0] == found[1] and len(set(found[0])) == len(datasets)


# --- rows of ragged and sparse tensors


def test_rows_of_ragged_tensors_keep_their_inner_rows():
    ragged = tf.ragged.constant([[[1], [2, 3]], [], [[4]], [[], [5]]])
    dataset = Dataset.from_tensor_slices(ragged)
    assert elements(dataset) == ragged.to_list()
    shuffled = dataset.shuffle(4, seed=1).batch(3)
    rows = [row for batch in elements(shuffled) for row in batch]
    assert sorted(rows) == sorted(ragged.to_list())
    assert elements(dataset.batch(4)) == [ragged.to_list()]
    assert elements(dataset.batch(3).rebatch(2)) == [ragged.to_list()[:2], ragged.to_list()[2:]]
    assert elements(dataset.batch(4).unbatch()) == ragged.to_list()


def test_rows_of_sparse_tensors_in_any_order():
    sparse = tf.SparseTensor([[2, 0], [0, 1], [2, 1]], [6, 5, 7], [3, 2])
    expected = [[0, 5], [0, 0], [6, 7]]
    assert elements(Dataset.from_tensor_slices(sparse)) == expected
    assert elements(Dataset.from_tensors(sparse).unbatch().batch(3)) == [expected]


def test_sparse_batches_of_texts():
    dataset = Dataset.from_tensor_slices(["a", "bc"]).map(lambda x: tf.stack([x, x]))
    (batch,) = dataset.sparse_batch(2, [None])
    assert batch.values.numpy().tolist() == [b"a", b"a", b"bc", b"bc"]
    assert batch.shape == [2, 2]


def test_a_url_without_a_path_names_no_file(tmp_path, monkeypatch):
    """Its last letter was taken for one."""
    monkeypatch.chdir(tmp_path)
    for call in (lambda: tf.io.write_file("file://abc", "x"), lambda: tf.io.read_file("file://c")):
        with pytest.raises(tf.errors.NotFoundError):
            call()
    assert not os.listdir()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("options", [None, "GZIP"])
def test_a_full_device_is_told_by_what_writes(options):
    file = tf.io.gfile.GFile("/dev/full", "w")
    file.write("x")
    writer = tf.io.TFRecordWriter("/dev/full", options)
    writer.write("x")
    for each in (file, writer):
        for way in (each.flush, each.close):
            with pytest.raises(tf.errors.ResourceExhaustedError, match="No space left"):
                way()
        each.close()
