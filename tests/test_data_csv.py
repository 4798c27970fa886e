"""Comma-separated values and databases as datasets."""

import contextlib
import gzip
import sqlite3
import zlib

import numpy as np
import pytest

import tape_compat as tf

experimental = tf.data.experimental


@pytest.fixture
def written(tmp_path):
    """Makes a file of a name with a text, and gives its path."""

    def write(name, text, compress=bytes):
        path = tmp_path / name
        path.write_bytes(compress(text.encode()))
        return str(path)

    return write


def records(*args, **options):
    return list(experimental.CsvDataset(*args, **options).as_numpy_iterator())


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_records_of_files(written, compression):
    compress = {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}[compression]
    text = 'n,x,t\n1,2.5,"a,b"\n,,\r\n3,-1e3,"say ""hi""\nthere"'
    paths = [written("a", text, compress), written("b", "n,x,t\n4,0,z", compress)]
    found = records(paths, [7, 0.5, ""], compression, header=True)
    assert found == [(1, 2.5, b"a,b"), (7, 0.5, b""), (3, -1e3, b'say "hi"\nthere'), (4, 0, b"z")]
    assert [x.dtype for x in found[0][:2]] == [np.int32, np.float32]


def test_columns_are_chosen(written):
    path = written("a", "1,2,3\n4,5,6\n")
    assert records(path, [0, 0], select_cols=[0, 2]) == [(1, 3), (4, 6)]
    assert records(path, [0, 0], exclude_cols=[0]) == [(2, 3), (5, 6)]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Only one"):
        records(path, [0, 0], exclude_cols=[0], select_cols=[0, 2])


def test_a_wrong_record_is_told_and_the_next_one_comes(written):
    iterator = iter(experimental.CsvDataset(written("a", "x\n1\n"), [tf.int32]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="not a valid int32: x"):
        next(iterator)
    assert int(next(iterator)[0]) == 1


def test_long_files_in_batches(written):
    lines = [f'{i},"{i / 2}"' if i % 7 else f"{i},{i / 2}" for i in range(30000)]
    dataset = experimental.CsvDataset(written("a", "\n".join(lines)), [tf.int64, tf.float64])
    numbers, halves = zip(*dataset.batch(4096).as_numpy_iterator())
    assert np.concatenate(numbers).tolist() == list(range(30000))
    np.testing.assert_array_equal(np.concatenate(halves), np.arange(30000) / 2)


def test_tables_with_inferred_dtypes(written):
    path = written("a.csv", "a,b,c,d\n1,99999999999,x,2.5\n2,,y,NA\n")
    dataset = experimental.make_csv_dataset(
        path, 2, label_name="c", na_value="NA", num_epochs=1, shuffle=False
    )
    ((features, label),) = dataset.as_numpy_iterator()
    assert list(features) == ["a", "b", "d"]
    assert {k: v.dtype.name for k, v in features.items()} == {
        "a": "int32",
        "b": "int64",
        "d": "float32",
    }
    assert label.tolist() == [b"x", b"y"] and features["d"].tolist() == [2.5, 0]
    endless = experimental.make_csv_dataset(path, 3)
    assert endless.element_spec["a"].shape == [3]
    assert sorted(np.concatenate([x["a"] for x in endless.take(2)]).tolist()) == [1, 1, 1, 2, 2, 2]


def test_columns_that_do_not_fit_are_refused(written):
    path = written("a", "a,b\n1,2\n")
    make = experimental.make_csv_dataset
    with pytest.raises(ValueError, match="No files match"):
        make(path + "none", 1)
    with pytest.raises(ValueError, match="must have the same length"):
        make(path, 1, select_columns=["a"], column_defaults=[0, 0])
    with pytest.raises(ValueError, match="Neither is provided"):
        make(path, 1, header=False)


def test_rows_of_a_database(tmp_path):
    path = str(tmp_path / "db")
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("create table t(a integer, b text, c real)")
        connection.executemany("insert into t values(?, ?, ?)", [(1, "x", 1.5), (2, None, None)])
    types = (tf.int64, tf.string, tf.float64)
    dataset = experimental.SqlDataset("sqlite", path, "select a, b, c from t", types)
    assert list(dataset.as_numpy_iterator()) == [(1, b"x", 1.5), (2, b"", 0.0)]
    assert len(list(dataset.prefetch(1).repeat(2))) == 4
    with pytest.raises(tf.errors.UnknownError, match="no such table"):
        list(experimental.SqlDataset("sqlite", path, "select a from u", (tf.int64,)))


@pytest.mark.parametrize("kind", ["GZIP", "ZLIB"])
def test_files_that_are_not_compressed_so_are_told(written, kind):
    path = written("a", "abcd\nef")
    for dataset in (
        tf.data.TextLineDataset(path, tf.constant(kind)),
        tf.data.FixedLengthRecordDataset(path, 2, compression_type=kind),
        experimental.CsvDataset(path, [""], kind),
    ):
        with pytest.raises(tf.errors.DataLossError, match="inflate"):
            list(dataset)


def test_columns_are_made_once_for_defaults_that_are_written_down():
    """Defaults that print alike are alike; 0.0 and -0.0, 1 and 1.0 and True are not."""
    for defaults, wanted in (
        ([0.0, ""], [0.0, b""]),
        ([-0.0, b"a"], [-0.0, b"a"]),
        ([1, "a"], [1, b"a"]),
        ([1.0, "a"], [1.0, b"a"]),
        ([[1], ["b"]], [1, b"b"]),
        ([tf.constant(2, tf.int64), "c"], [2, b"c"]),
    ):
        for _ in range(2):
            found = [x.numpy() for x in tf.io.decode_csv(",", defaults)]
            assert repr([x if isinstance(x, bytes) else x.item() for x in found]) == repr(wanted)
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="bool"):
            tf.io.decode_csv(",", [True, ""])
        with pytest.raises(tf.errors.InvalidArgumentError, match="required"):
            tf.io.decode_csv(",", [[], ""])
