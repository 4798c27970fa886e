"""`tf.data.experimental`: reducers, examples, tables, and elements on devices."""

import tempfile

from .harness import attempt, attempts

NEEDS = ("data.experimental.Reducer", "data.experimental.TFRecordWriter")


def shown(dataset):
    return list(dataset), repr(dataset.element_spec), int(dataset.cardinality())


def case_reducers(tf):
    experimental = tf.data.experimental
    numbers, zero = tf.data.Dataset.range(6), tf.constant(0, tf.int64)
    total = experimental.Reducer(lambda key: zero, lambda s, x: s + x, lambda s: s)
    keyed = experimental.Reducer(
        lambda key: (key, tf.constant(0.0)),
        lambda s, x: (s[0], s[1] + tf.cast(x, tf.float32)),
        lambda key, s: (s, key),
    )
    by = experimental.group_by_reducer
    return [
        shown(numbers.apply(by(lambda x: x % 2, total))),
        shown(numbers.apply(by(lambda x: -(x % 3), keyed))),
        shown(numbers.filter(lambda x: x > 9).apply(by(lambda x: x, total))),
        attempt(lambda: numbers.apply(by(lambda x: tf.cast(x, tf.int32), total)), words=9),
    ]


def case_devices(tf):
    numbers = tf.data.Dataset.range(3)
    experimental = tf.data.experimental
    made = (experimental.copy_to_device, experimental.prefetch_to_device)
    return [(list(x), repr(x.element_spec)) for x in (numbers.apply(f("/cpu:0")) for f in made)]


def case_writer(tf):
    data = tf.data.Dataset
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/records"

        def written(dataset, kind=None):
            tf.data.experimental.TFRecordWriter(path, kind).write(dataset)
            return list(tf.data.TFRecordDataset(path, kind))

        programs = {
            "numbers": lambda tf: written(data.range(3)),
            "vectors": lambda tf: written(data.from_tensors(["a"])),
            "no dataset": lambda tf: written(3),
        }
        texts = data.from_tensor_slices(["a", "bc"])
        return written(texts), written(texts, "GZIP"), attempts(tf, programs, words=12)


def example(tf, **features):
    made = {}
    for key, value in features.items():
        if isinstance(value[0], int):
            made[key] = tf.train.Feature(int64_list=tf.train.Int64List(value=value))
        else:
            made[key] = tf.train.Feature(bytes_list=tf.train.BytesList(value=value))
    return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString()


def plain(tf, features):
    """Features by name, sparse ones as parts."""
    if isinstance(features, tuple):
        return tuple(plain(tf, x) for x in features)
    if isinstance(features, tf.SparseTensor):
        return features.indices, features.values, features.dense_shape
    if isinstance(features, dict):
        return {key: plain(tf, features[key]) for key in sorted(features)}
    return features


def specs(dataset):
    found = dataset.element_spec
    parts = found if isinstance(found, tuple) else (found,)
    return [
        {key: repr(part[key]) for key in sorted(part)} if isinstance(part, dict) else repr(part)
        for part in parts
    ]


def case_examples(tf):
    experimental = tf.data.experimental
    texts = [
        example(tf, a=[1, 2], b=[b"x"]),
        example(tf, a=[3, 4], b=[b"y"]),
        example(tf, a=[5, 6], b=[b"z", b"w"]),
    ]
    whole, parts = tf.io.FixedLenFeature([2], tf.int64), tf.io.VarLenFeature(tf.string)
    features = {"a": whole, "b": parts}
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/examples"
        with tf.io.TFRecordWriter(path) as writer:
            for text in texts:
                writer.write(text)
        read = experimental.make_batched_features_dataset
        once = {"num_epochs": 1, "shuffle": False}
        single = tf.data.Dataset.from_tensor_slices(texts)
        parse = experimental.parse_example_dataset
        datasets = [
            single.batch(2).apply(parse(features)),
            read(path, 2, features, **once),
            read(path, 2, features, label_key="a", **once),
            read([path], 2, {"a": whole}, drop_final_batch=True, **once),
        ]
        endless = read(path, 2, {"a": whole})
        return [
            [([plain(tf, x) for x in dataset], specs(dataset)) for dataset in datasets],
            specs(endless),
            int(endless.cardinality()),
            attempt(lambda: single.apply(parse(features)), words=9),
            attempt(parse, None),
            attempt(lambda: read(path, 2, features, label_key="z", num_epochs=1)),
            attempt(lambda: read(folder + "/none", 2, features)),
        ]


def case_tables(tf):
    made = tf.data.experimental.table_from_dataset
    numbered = tf.data.experimental.index_table_from_dataset
    data = tf.data.Dataset
    pairs = data.from_tensor_slices((["x", "y"], tf.constant([3, 4], tf.int64)))
    names = data.from_tensor_slices((tf.constant([0, 1], tf.int64), ["x", "y"]))
    words = data.from_tensor_slices(["a", "b", "c"])
    return [
        made(pairs).lookup(tf.constant(["y", "q"])),
        made(pairs, num_oov_buckets=1).lookup(tf.constant(["y", "q"])),
        made(names, default_value="?", key_dtype=tf.int64).lookup(tf.constant([1, 5], tf.int64)),
        numbered(words).lookup(tf.constant(["c", "q"])),
        numbered(words, num_oov_buckets=1).lookup(tf.constant(["c", "q"])),
        numbered(data.range(5, 8), key_dtype=tf.int64).lookup(tf.constant([6, 1], tf.int64)),
        numbered(words, vocab_size=2).size(),
    ]


def case_lists(tf):
    made = tf.data.experimental.from_list
    lists = ([[1], [1, 2]], [{"a": [1]}, {"a": [1, 2]}])
    refused = ([], 3, (1, 2), [(1,), (2, 3)], [{"a": 1}, {"b": 1}])
    return [shown(made(each)) for each in lists], [attempt(made, each, words=5) for each in refused]


def case_options_of_datasets_stay(tf):
    dataset = tf.data.Dataset.range(3)

    def later(tf):
        given = tf.data.Options()
        found = dataset.with_options(given)
        given.deterministic = True
        return found.options().deterministic

    return attempts(
        tf,
        {
            "set": lambda tf: setattr(dataset.options(), "deterministic", True),
            "set within": lambda tf: setattr(
                dataset.options().threading, "private_threadpool_size", 3
            ),
            "set what was given": later,
            "merge": lambda tf: tf.data.Options().merge(dataset.options()).deterministic,
            "merge another thing": lambda tf: attempt(tf.data.Options().merge, 3, words=6),
        },
    )
