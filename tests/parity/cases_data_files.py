"""`tf.data`: elements in files, and rows of ragged and sparse tensors."""

import os
import pathlib
import tempfile

import numpy as np

from .harness import attempt, attempts, options

NEEDS = ("data.Dataset.save", "data.Dataset.snapshot")


def plain(tf, value):
    return value.to_list() if isinstance(value, tf.RaggedTensor) else value


def elements(tf, dataset):
    """The elements, ragged ones as lists."""
    return [tf.nest.map_structure(lambda x: plain(tf, x), element) for element in dataset]


def shown(tf, dataset):
    """The elements, with what is said of them."""
    return elements(tf, dataset), repr(dataset.element_spec), int(dataset.cardinality())


def composites(tf):
    return (
        tf.ragged.constant([[1, 2], [], [3]]),
        tf.ragged.constant([[[1], [2, 3]], [], [[4]]]),
        tf.SparseTensor([[0, 1], [2, 0]], [5, 6], [3, 2]),
    )


def case_rows_of_composites(tf):
    made = tf.data.Dataset.from_tensor_slices
    values = composites(tf)
    return [shown(tf, made(x)) for x in values] + [shown(tf, made({"a": values, "b": [1, 2, 3]}))]


def case_batches_of_composites(tf):
    made = tf.data.Dataset.from_tensor_slices
    found = []
    for value in composites(tf):
        whole = tf.data.Dataset.from_tensors(value)
        found += [
            shown(tf, made(value).batch(2)),
            shown(tf, made(value).batch(2, drop_remainder=True)),
            shown(tf, whole.unbatch()),
            shown(tf, whole.batch(1)),
            shown(tf, made(value).shuffle(1).repeat(2).take(4)),
        ]
    return found


def case_composites_refused(tf):
    made = tf.data.Dataset.from_tensor_slices
    ragged, _, sparse = composites(tf)
    return [
        attempt(made, (sparse, [1, 2])),
        attempt(made(ragged).padded_batch, 2, words=8),
        attempt(made(sparse).padded_batch, 2, words=8),
    ]


def case_maps_of_ragged_rows(tf):
    ragged, inner, _ = composites(tf)
    made = tf.data.Dataset.from_tensor_slices
    return [
        elements(tf, made(ragged).map(lambda x: x + 1)),
        elements(tf, made(inner).map(lambda x: x + 1)),
        elements(tf, made(inner).map(lambda x: tf.reduce_sum(x, axis=1))),
        elements(tf, made(ragged).filter(lambda x: tf.size(x) > 0)),
    ]


def case_sparse_batch(tf):
    lines = tf.data.Dataset.range(4).map(lambda n: tf.fill([n], n))
    pairs = tf.data.Dataset.range(4).map(lambda n: (n, n))
    apply = tf.data.experimental.dense_to_sparse_batch
    return [
        shown(tf, lines.sparse_batch(2, [4])),
        shown(tf, lines.sparse_batch(3, [None])),
        shown(tf, tf.data.Dataset.from_tensor_slices(["a", "b"]).apply(apply(2, []))),
        attempt(pairs.sparse_batch, 2, [2], words=8),
        attempt(lines.sparse_batch, 0, [2], words=4),
    ]


@options(words=8)
def case_sparse_batch_refused(tf):
    lines = tf.data.Dataset.range(4).map(lambda n: tf.fill([n], n))
    return [attempt(list, lines.sparse_batch(2, shape)) for shape in ([2], [2, 2])]


def saved(tf, dataset, **options):
    with tempfile.TemporaryDirectory() as folder:
        dataset.save(folder, **options)
        options.pop("shard_func", None)
        return shown(tf, tf.data.Dataset.load(folder, **options))


def case_save(tf):
    data = tf.data.Dataset
    slices = data.from_tensor_slices
    kinds = (True, np.complex64(2j), tf.constant(2, tf.bfloat16), np.uint8(3), ["a", "bc"])
    return [
        saved(tf, data.range(3)),
        saved(tf, data.range(0)),
        saved(tf, slices(([1.5, 2], ["x", "y"], np.eye(2)))),
        saved(tf, slices(composites(tf))),
        saved(tf, data.from_tensors(composites(tf))),
        saved(tf, data.from_tensors(kinds), compression="GZIP"),
        sorted(map(int, saved(tf, data.range(7), shard_func=lambda x: x % 3)[0])),
    ]


def case_load_refused(tf):
    load, number = tf.data.Dataset.load, tf.TensorSpec([], tf.float32)
    with tempfile.TemporaryDirectory() as folder:
        tf.data.Dataset.range(3).save(folder)
        wider = tf.TensorSpec([None], tf.int64)
        return [
            attempt(load, "/there/is/none", words=6),
            attempt(load, "/there/is/none", number, words=5),
            attempt(list, load(folder, number), words=9),
            attempt(list, load(folder, wider), words=5),
            attempt(lambda: list(load(folder, compression="GZIP")), words=0),
        ]


def case_shards_refused(tf):
    with tempfile.TemporaryDirectory() as folder:
        numbers = tf.data.Dataset.range(3)
        programs = (lambda x: tf.cast(x, tf.float32), lambda x: (x, x))
        return [attempt(lambda f=f: numbers.save(folder, shard_func=f), words=7) for f in programs]


def case_cache_in_files(tf):
    with tempfile.TemporaryDirectory() as folder:
        seen = []

        def generate():
            seen.append(1)
            yield from range(3)

        spec = tf.TensorSpec([], tf.int32)
        dataset = tf.data.Dataset.from_generator(generate, output_signature=spec)
        dataset = dataset.cache(folder + "/kept")
        other = tf.data.Dataset.range(5).map(lambda x: tf.cast(x, tf.int32))
        texts = tf.data.Dataset.from_tensor_slices(["a"])
        nowhere = tf.data.Dataset.range(2).cache(folder + "/no/file")
        busy = iter(tf.data.Dataset.range(5).cache(folder + "/busy"))
        next(busy)
        return [
            shown(tf, dataset),
            shown(tf, dataset),
            len(seen),
            shown(tf, other.cache(folder + "/kept")),
            repr(dataset),
            attempt(list, texts.cache(folder + "/kept"), words=9),
            attempt(list, nowhere, words=0),
            attempt(list, tf.data.Dataset.range(5).cache(folder + "/busy"), words=12),
        ]


def case_snapshot(tf):
    with tempfile.TemporaryDirectory() as folder:
        numbers = tf.data.Dataset.range(5)
        by_parts = numbers.snapshot(
            folder + "/parts", shard_func=lambda x: x % 2, reader_func=lambda x: x.interleave(same)
        )
        found = [numbers.snapshot(folder), numbers.batch(2).snapshot(folder, "GZIP")]
        found.append(numbers.apply(tf.data.experimental.snapshot(folder, None)))
        return [shown(tf, x) for x in found * 2], [sorted(map(int, by_parts)) for _ in range(2)]


def same(x):
    return x


def case_fingerprints(tf):
    first, other = (tf.data.Dataset.range(n).fingerprint() for n in (3, 4))
    return first.dtype, first.shape, bool(first == other)


def case_iterators_saved(tf):
    dataset = tf.data.Dataset.range(10).shuffle(10, seed=3).repeat(2).batch(3)
    iterator = dataset.as_numpy_iterator()
    taken = [next(iterator) for _ in range(3)]
    state = iterator.save()
    rest = np.concatenate(list(iterator)).tolist()
    again = dataset.as_numpy_iterator()
    again.restore(state)
    return state.dtype, state.shape, len(taken), np.concatenate(list(again)).tolist() == rest


def case_match_filenames_once(tf):
    """A variable, which holds what was there."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("b.txt", "a.txt", "c.png"):
            pathlib.Path(folder, name).touch()
        found = tf.io.match_filenames_once(f"{folder}/*.txt")
        pathlib.Path(folder, "d.txt").touch()
        names = [pathlib.Path(name.decode()).name for name in found.numpy()]
    return names, found.trainable, found.shape, found.dtype


def _told(tf, make):
    """The texts that a dataset gives, and the class of its error."""
    found = []
    try:
        for text in make():
            found.append(text.numpy())
    except tf.errors.OpError as error:
        found.append(type(error).__name__)
    return found


def case_files_by_turns(tf):
    with tempfile.TemporaryDirectory() as folder:
        lines, records = [], []
        for name, count in (("a", 3), ("b", 1), ("c", 0), ("d", 4), ("e", 2)):
            texts = [f"{name}{i}" for i in range(count)]
            pathlib.Path(folder, name).write_text("".join(f"{text}\n" for text in texts))
            lines.append(f"{folder}/{name}")
            records.append(f"{folder}/{name}.records")
            with tf.io.TFRecordWriter(records[-1]) as writer:
                for text in texts:
                    writer.write(text.encode())
        data = tf.data
        reads = (None, 1, 2, 3, 8)
        return [
            [_told(tf, lambda n=n: data.TextLineDataset(lines, None, 0, n)) for n in reads],
            [_told(tf, lambda n=n: data.TFRecordDataset(records, "", 0, n)) for n in reads],
            _told(tf, lambda: data.FixedLengthRecordDataset(lines, 3, num_parallel_reads=2)),
            _told(tf, lambda: data.TextLineDataset(lines, num_parallel_reads=0)),
            _told(tf, lambda: data.TextLineDataset([])),
            _told(tf, lambda: data.TFRecordDataset([])),
            _told(tf, lambda: data.FixedLengthRecordDataset(lines[0], 0)),
            _told(tf, lambda: data.FixedLengthRecordDataset(lines[0], 2, -1)),
        ]


def case_damaged_records(tf):
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/records"
        with tf.io.TFRecordWriter(path) as writer:
            for i in range(4):
                writer.write(b"record %d" % i)
        data = pathlib.Path(path).read_bytes()
        found = []
        for at in (2, 14, 27, 40, 52, 70):
            pathlib.Path(path).write_bytes(data[:at] + b"?" + data[at + 1 :])
            found.append(_told(tf, lambda: tf.data.TFRecordDataset(path)))
        return found


def case_carriage_returns_and_places(tf):
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/a"
        pathlib.Path(path).write_bytes(b"a\r\nb\rc\n\r\n\rx\r")
        file = tf.io.gfile.GFile
        places = [(0, 5), (-5, 0), (3, 0)]
        return [
            _told(tf, lambda: tf.data.TextLineDataset(path)),
            list(file(path)),
            file(path, "rb").readlines(),
            file(path, "rb").read(),
            [attempt(file(path).seek, *place) for place in places],
            len(tf.io.matching_files([path, folder + "/*"])),
        ]


def case_records_that_are_no_bytes(tf):
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "records")
        with tf.io.TFRecordWriter(path) as writer:
            writer.write("text")
            refused = [
                attempt(lambda record=record: writer.write(record), words=4)
                for record in (5, 1.5, None, [1, 2], tf.constant("a"), {"a": b""})
            ]
            writer.write(b"bytes")
        return refused, list(tf.data.TFRecordDataset(path).as_numpy_iterator())


def case_urls_of_files(tf):
    """Files of this machine by URLs, which are given back as they were."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"file://{folder}"
        files = tf.io.gfile
        tf.io.write_file(f"{url}/a/b", "one\ntwo\n")
        with files.GFile(f"{url}/c", "w") as file:
            file.write("three\n")
        files.copy(f"{url}/c", f"{url}/a/d")
        found = [
            sorted(files.glob(f"{url}/a/*")),
            tf.io.matching_files(f"{url}/c").numpy().tolist(),
        ]
        found += [sorted(inside) for _, _, inside in files.walk(url)]
        found += [[where for where, _, _ in files.walk(url)], sorted(os.listdir(f"{folder}/a"))]
        found.append(list(tf.data.TextLineDataset(f"{url}/a/b").as_numpy_iterator()))
        with tf.io.TFRecordWriter(f"{url}/r") as writer:
            writer.write(b"record")
        found.append(list(tf.data.TFRecordDataset(f"{url}/r").as_numpy_iterator()))
        saved = tf.train.Checkpoint(v=tf.Variable(1.0)).save(f"{url}/saved")
        v = tf.Variable(0.0)
        tf.train.Checkpoint(v=v).restore(saved)
        found += [
            saved,
            tf.train.latest_checkpoint(url),
            v.numpy(),
            os.path.exists(f"{folder}/checkpoint"),
        ]
        tf.saved_model.save(tf.Module(), f"{url}/model")
        found += [os.path.exists(f"{folder}/model/saved_model.pb")]
        found += [tf.saved_model.contains_saved_model(f"{url}/model")]
        found += [list(tf.data.Dataset.range(2).cache(f"{url}/cache").as_numpy_iterator())]
        tf.data.Dataset.range(2).save(f"{url}/elements")
        found += [list(tf.data.Dataset.load(f"{url}/elements").as_numpy_iterator())]
        return [str(each).replace(folder, "") for each in found], attempt(files.exists, None)


def case_names_of_files_in_a_matrix(tf):
    with tempfile.TemporaryDirectory() as folder:
        names = [f"{folder}/{name}" for name in "abcd"]
        for name in names:
            tf.io.write_file(name, name[-1])
        read = tf.data.TextLineDataset([names[:2], names[2:]])
        return list(read.as_numpy_iterator()), repr(read.element_spec)


def case_what_the_file_system_refuses(tf):
    files = tf.io.gfile

    def write(path):
        with files.GFile(path, "w") as file:
            file.write("x")

    with tempfile.TemporaryDirectory() as folder:
        long, full, loop, empty = (f"{folder}/{x}" for x in ("n" * 300, "full", "loop", "empty"))
        os.mkdir(empty)
        os.symlink(loop, loop)
        files.mkdir(full)
        write(f"{full}/a")
        refused = attempts(
            tf,
            {
                "read": lambda tf: files.GFile(long).read(),
                "write": lambda tf: write(long),
                "make": lambda tf: files.makedirs(long),
                "delete": lambda tf: files.remove(long),
                "ask": lambda tf: files.stat(long),
                "copy": lambda tf: files.copy(f"{full}/a", long),
                "rename": lambda tf: files.rename(f"{full}/a", long),
                "records": lambda tf: list(tf.data.TFRecordDataset(long)),
                "writer": lambda tf: tf.io.TFRecordWriter(long),
                "whole file": lambda tf: tf.io.read_file(long),
                "onto a full folder": lambda tf: files.rename(empty, full, overwrite=True),
                "into itself": lambda tf: files.rename(full, f"{full}/b"),
                "in a circle": lambda tf: files.GFile(loop).read(),
            },
            words=0,
        )
        files.rmtree(f"{full}/a")
        return refused, files.listdir(full)


def case_files_that_are_closed_again(tf):
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for mode in ("w", "wb", "a", "w+", "a+"):
            path = f"{folder}/{mode}"
            file = tf.io.gfile.GFile(path, mode)
            file.close()
            found.append(os.path.exists(path))
            with file:
                file.write("one")
                file.close()
            file.flush()
            file.close()
            found += [pathlib.Path(path).read_text(), file.size()]
            file.write("two")
            file.close()
            found.append(pathlib.Path(path).read_text())
        return found


def case_files_to_read_and_write(tf):
    """A file that is written is a new one, or appended to; what is read begins at its beginning."""
    modes = ("r+", "w+", "a+")

    def there(folder, mode):
        path = pathlib.Path(folder, mode)
        path.write_text("abc\nd")
        with tf.io.gfile.GFile(path, mode) as file:
            first = file.readline()
            file.write("XY")
            file.flush()
            first += path.read_text()
        with tf.io.gfile.GFile(path, mode) as file:
            file.write("Z")
            file.flush()
            return first, file.read(), file.tell(), file.read(), path.read_text()

    def missing(folder, mode):
        file = tf.io.gfile.GFile(f"{folder}/no{mode}", mode)
        return attempts(tf, {"read": lambda tf: file.read()}, words=0), os.path.exists(file.name)

    with tempfile.TemporaryDirectory() as folder:
        written = tf.io.gfile.GFile(f"{folder}/w", "w")
        written.write("abc")
        refused = attempts(
            tf,
            {
                "seek": lambda tf: written.seek(0),
                "copy": lambda tf: tf.io.gfile.copy(folder, f"{folder}/b"),
            },
            words=0,
        )
        place = written.tell()
        written.close()
        return (
            [(there(folder, mode), missing(folder, mode)) for mode in modes],
            refused,
            place,
        )
