"""`tf.feature_column`: columns, what they make of features, and their variables."""

import tempfile
from pathlib import Path

import numpy as np

from .harness import attempts

NEEDS = ("feature_column.numeric_column",)


class Cache:
    """What holds the values of columns: here they are made each time."""

    def __init__(self, tf, features):
        self.tf, self.features = tf, features

    def get(self, key, manager, training=None):
        if isinstance(key, str):
            value = self.features[key]
            return value if len(value.shape) > 1 else self.tf.expand_dims(value, -1)
        return key.transform_feature(self, manager)


class Manager:
    """What holds variables and tables."""

    def __init__(self, tf):
        self.tf, self.variables, self.tables = tf, {}, {}

    def create_variable(self, column, name, shape, initializer=None, **options):
        value = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        self.variables[column.name, name] = self.tf.Variable(value)

    def get_variable(self, column, name):
        return self.variables[column.name, name]

    def has_resource(self, column, name):
        return (column.name, name) in self.tables

    def add_resource(self, column, name, table):
        self.tables[column.name, name] = table

    def get_resource(self, column, name):
        return self.tables[column.name, name]


def features(tf):
    return {
        "age": tf.constant([[10.0], [20.0], [70.0]]),
        "pair": tf.constant([[1, 2], [3, 4], [5, 6]]),
        "word": tf.constant(["a", "z", "b"]),
        "words": tf.constant([["a", "b"], ["b", ""], ["q", "a"]]),
        "day": tf.constant([[0, 3], [9, -1], [2, 2]], tf.int64),
        "weight": tf.constant([[0.5, 2.0], [1.5, 0.0], [3.0, 1.0]]),
        "sparse": tf.SparseTensor([[0, 0], [1, 1], [2, 0]], ["b", "a", "x"], [3, 2]),
    }


def columns(tf):
    fc = tf.feature_column
    age = fc.numeric_column("age", normalizer_fn=lambda x: x / 10.0)
    word = fc.categorical_column_with_vocabulary_list("word", ["a", "b"], num_oov_buckets=2)
    words = fc.categorical_column_with_vocabulary_list("words", ["a", "b", "c"])
    day = fc.categorical_column_with_identity("day", 7, default_value=6)
    weighted = fc.weighted_categorical_column(day, "weight")
    return {
        "numbers": age,
        "two": fc.numeric_column("pair", shape=2, dtype=tf.int32),
        "buckets": fc.bucketized_column(fc.numeric_column("pair", 2), [2, 5]),
        "indicator": fc.indicator_column(word),
        "counts": fc.indicator_column(words),
        "days": fc.indicator_column(day),
        "sums": fc.indicator_column(weighted),
        "of_buckets": fc.indicator_column(
            fc.bucketized_column(fc.numeric_column("pair", 2), [2, 5])
        ),
        "hashed": fc.indicator_column(fc.categorical_column_with_hash_bucket("words", 5)),
        "hashed_numbers": fc.indicator_column(
            fc.categorical_column_with_hash_bucket("day", 5, tf.int64)
        ),
        "sparse": fc.indicator_column(
            fc.categorical_column_with_vocabulary_list("sparse", ["a", "b"], default_value=0)
        ),
        "crossed": fc.indicator_column(fc.crossed_column(["word", "words"], 7)),
        "crossed_twice": fc.indicator_column(
            fc.crossed_column([fc.crossed_column(["word", "words"], 7), day], 6, hash_key=3)
        ),
        "embedding": fc.embedding_column(words, 3),
        "embedding_sum": fc.embedding_column(weighted, 2, combiner="sum"),
        "embedding_norm": fc.embedding_column(day, 2, combiner="sqrtn", max_norm=2.0),
        "unsafe": fc.embedding_column(day, 2, use_safe_embedding_lookup=False),
        "of_bucket": fc.embedding_column(fc.bucketized_column(age, [1.5, 3.0]), 2),
    }


def case_dense_tensors(tf):
    found, manager = {}, Manager(tf)
    cache = Cache(tf, features(tf))
    for name, column in columns(tf).items():
        column.create_state(manager)
        found[name] = column.get_dense_tensor(cache, manager)
    return found, sorted(manager.variables), sorted(manager.tables)


def case_descriptions(tf):
    return {
        name: [
            column.name,
            column.variable_shape.as_list(),
            sorted(column.parse_example_spec),
            [getattr(x, "name", x) for x in column.parents],
            getattr(column, "num_buckets", None),
        ]
        for name, column in columns(tf).items()
    }


def case_gradients(tf):
    fc, manager = tf.feature_column, Manager(tf)
    day = fc.categorical_column_with_identity("day", 7, default_value=6)
    column = fc.embedding_column(fc.weighted_categorical_column(day, "weight"), 2)
    column.create_state(manager)
    cache = Cache(tf, features(tf))
    table = manager.get_variable(column, "embedding_weights")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(column.get_dense_tensor(cache, manager) ** 2)
    return y, tf.convert_to_tensor(tape.gradient(y, table))


def case_equality(tf):
    fc = tf.feature_column
    one, other = fc.numeric_column("a"), fc.numeric_column("a")
    return one == other, hash(one) == hash(other), len({one, other}), one._fields


def case_parse_example_spec(tf):
    fc = tf.feature_column
    spec = fc.make_parse_example_spec([*columns(tf).values()][:-1][2:])
    example = tf.train.Example()
    example.features.feature["pair"].float_list.value.extend([1.0, 2.0])
    example.features.feature["words"].bytes_list.value.append(b"b")
    example.features.feature["day"].int64_list.value.append(3)
    parsed = tf.io.parse_example([example.SerializeToString()], spec)
    twice = [fc.numeric_column("a"), fc.numeric_column("a", 2)]
    return {k: parsed[k] for k in ("pair", "words", "day")}, attempts(
        tf,
        {
            "twice": lambda _: fc.make_parse_example_spec(twice),
            "none": lambda _: fc.make_parse_example_spec([3]),
        },
    )


def case_configurations(tf):
    fc = tf.feature_column
    day = fc.categorical_column_with_identity("day", 7, default_value=6)
    made = [
        fc.numeric_column("a", shape=2, default_value=1.5),
        fc.bucketized_column(fc.numeric_column("a"), [1, 2]),
        fc.embedding_column(fc.categorical_column_with_vocabulary_list("w", ["a"]), 4),
        fc.indicator_column(fc.weighted_categorical_column(day, "weight")),
        fc.categorical_column_with_hash_bucket("h", 5, tf.int64),
        fc.crossed_column(["a", day], 5),
    ]
    again = [type(c).from_config(c.get_config()) for c in made if not hasattr(c, "initializer")]
    return [c.get_config() for c in made], [a == c for a, c in zip(again, [*made[:2], *made[3:]])]


def case_vocabulary_files(tf):
    fc = tf.feature_column
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "words.txt")
        Path(file).write_text("a\nb\nz\n")
        made = [
            fc.categorical_column_with_vocabulary_file("words", file),
            fc.categorical_column_with_vocabulary_file("words", file, 2, num_oov_buckets=3),
            fc.categorical_column_with_vocabulary_file("words", file, default_value=1),
        ]
        manager, cache = Manager(tf), Cache(tf, features(tf))
        found = [
            fc.indicator_column(column).get_dense_tensor(cache, Manager(tf)) for column in made
        ]
        return found, [column.num_buckets for column in made], manager.tables


def case_defaults_of_numbers(tf):
    column = tf.feature_column.numeric_column
    return attempts(
        tf,
        {
            "number": lambda _: column("a", (2, 2), 3).default_value,
            "nest": lambda _: column("a", (2,), [1, 2.5]).default_value,
            "array": lambda _: column("a", (2,), np.array([1, 2])).default_value,
            "float_for_int": lambda _: column("a", 1, 1.5, tf.int32),
            "text": lambda _: column("a", 1, "x"),
            "shape": lambda _: column("a", 3, [1, 2]),
        },
    )


def case_refused(tf):
    fc = tf.feature_column
    number, two = fc.numeric_column("a"), fc.numeric_column("a", (2, 2))
    hashed = fc.categorical_column_with_hash_bucket("h", 5)
    listed, identity = (
        fc.categorical_column_with_vocabulary_list,
        fc.categorical_column_with_identity,
    )
    return attempts(
        tf,
        {
            "shape": lambda _: fc.numeric_column("a", 1.5),
            "size": lambda _: fc.numeric_column("a", 0),
            "dtype": lambda _: fc.numeric_column("a", dtype=tf.string),
            "function": lambda _: fc.numeric_column("a", normalizer_fn=3),
            "key": lambda _: fc.numeric_column(3),
            "source": lambda _: fc.bucketized_column(hashed, [1]),
            "axes": lambda _: fc.bucketized_column(two, [1]),
            "no_boundaries": lambda _: fc.bucketized_column(number, []),
            "order": lambda _: fc.bucketized_column(number, [2, 1]),
            "indicator": lambda _: fc.indicator_column(number),
            "dimension": lambda _: fc.embedding_column(hashed, 0),
            "checkpoint": lambda _: fc.embedding_column(hashed, 2, ckpt_to_load_from="x"),
            "initializer": lambda _: fc.embedding_column(hashed, 2, initializer=3),
            "hashes": lambda _: fc.categorical_column_with_hash_bucket("a", 0),
            "no_hashes": lambda _: fc.categorical_column_with_hash_bucket("a", None),
            "floats": lambda _: fc.categorical_column_with_hash_bucket("a", 2, tf.float32),
            "empty": lambda _: listed("a", []),
            "twice": lambda _: listed("a", ["x", "x"]),
            "both": lambda _: listed("a", ["x"], default_value=0, num_oov_buckets=1),
            "mixed": lambda _: listed("a", ["x"], dtype=tf.int32),
            "float_list": lambda _: listed("a", [1.5]),
            "below": lambda _: identity("a", 0),
            "range": lambda _: identity("a", 2, 2),
            "weights": lambda _: fc.weighted_categorical_column(hashed, "w", tf.string),
            "one_key": lambda _: fc.crossed_column(["a"], 5),
            "no_size": lambda _: fc.crossed_column(["a", "b"], 0),
            "hashed": lambda _: fc.crossed_column(["a", hashed], 5),
            "number": lambda _: fc.crossed_column(["a", number], 5),
            "no_file": lambda _: fc.categorical_column_with_vocabulary_file("a", "/none/there"),
            "file": lambda _: fc.categorical_column_with_vocabulary_file("a", ""),
        },
    )


def case_features_that_do_not_fit(tf):
    fc, cache = tf.feature_column, Cache(tf, features(tf))
    listed = fc.categorical_column_with_vocabulary_list
    day = fc.categorical_column_with_identity("day", 7)
    made = {
        "sparse": fc.numeric_column("sparse"),
        "text": fc.indicator_column(fc.categorical_column_with_identity("word", 3)),
        "numbers": fc.indicator_column(listed("day", ["a"])),
        "hashed": fc.indicator_column(fc.categorical_column_with_hash_bucket("day", 3)),
        "weights": fc.indicator_column(fc.weighted_categorical_column(day, "pair")),
        "crossed": fc.indicator_column(
            fc.crossed_column(["word", fc.weighted_categorical_column(day, "weight")], 3)
        ),
    }
    return attempts(
        tf,
        {
            name: lambda _, c=column: c.get_dense_tensor(cache, Manager(tf))
            for name, column in made.items()
        },
    )


def steps(tf):
    sparse = tf.SparseTensor
    return {
        "n": sparse([[0, 0], [0, 1], [0, 2], [2, 0]], [1.0, 2.0, 3.0, 4.0], [3, 4]),
        "m": sparse([[0, 0, 0], [0, 1, 0], [0, 1, 1], [1, 0, 0]], [1, 2, 3, 4], [3, 2, 2]),
        "w": sparse([[0, 0], [0, 1], [2, 0]], ["a", "b", "z"], [3, 3]),
        "words": sparse([[0, 0, 0], [0, 1, 0], [0, 1, 1], [1, 0, 0]], [*"abaz"], [2, 2, 2]),
        "day": sparse([[0, 0], [1, 1]], tf.constant([5, 9], tf.int64), [2, 2]),
    }


def sequences(tf):
    fc = tf.feature_column
    listed = fc.sequence_categorical_column_with_vocabulary_list
    words = listed("words", ["a", "b"], num_oov_buckets=1)
    day = fc.sequence_categorical_column_with_identity("day", 7, default_value=0)
    return {
        "numbers": fc.sequence_numeric_column("n"),
        "pairs": fc.sequence_numeric_column("n", [2], -1.0, normalizer_fn=lambda x: x * 2.0),
        "integers": fc.sequence_numeric_column("m", 2, dtype=tf.int32),
        "indicator": fc.indicator_column(listed("w", ["a", "b"])),
        "counts": fc.indicator_column(words),
        "embedding": fc.embedding_column(listed("w", ["a", "b"], default_value=1), 2),
        "sums": fc.embedding_column(words, 3, combiner="sum"),
        "days": fc.indicator_column(day),
        "hashed": fc.indicator_column(fc.sequence_categorical_column_with_hash_bucket("w", 5)),
    }


def case_sequences(tf):
    found, manager = {}, Manager(tf)
    cache = Cache(tf, steps(tf))
    for name, column in sequences(tf).items():
        column.create_state(manager)
        pair = column.get_sequence_dense_tensor(cache, manager)
        spec = {key: repr(value) for key, value in column.parse_example_spec.items()}
        found[name] = [*pair, pair._fields, column.name, column.variable_shape.as_list(), spec]
    return found


def case_categories_of_sequences(tf):
    fc, cache = tf.feature_column, Cache(tf, steps(tf))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "words.txt"
        file.write_text("a\nb\n")
        column = fc.sequence_categorical_column_with_vocabulary_file("w", str(file))
        ids, weights = column.get_sparse_tensors(cache, Manager(tf))
    again = type(column).from_config(column.get_config()) == column
    parents = [x.name for x in column.parents]
    return ids.indices, ids.values, ids.dense_shape, weights, column.num_buckets, again, parents


def case_sequences_refused(tf):
    fc, cache, manager = tf.feature_column, Cache(tf, steps(tf)), Manager(tf)
    one = fc.indicator_column(fc.categorical_column_with_identity("day", 7))
    several = fc.embedding_column(fc.sequence_categorical_column_with_identity("day", 7), 2)
    number = fc.sequence_numeric_column
    return attempts(
        tf,
        {
            "dense": lambda _: several.get_dense_tensor(cache, manager),
            "sequence": lambda _: one.get_sequence_dense_tensor(cache, manager),
            "size": lambda _: number("n", 0),
            "shape": lambda _: number("n", 1.5),
            "text": lambda _: number("n", dtype=tf.string),
            "function": lambda _: number("n", normalizer_fn=3),
            "buckets": lambda _: fc.bucketized_column(number("n"), [1.0]),
            "no_words": lambda _: fc.sequence_categorical_column_with_vocabulary_list("w", []),
            "no_hashes": lambda _: fc.sequence_categorical_column_with_hash_bucket("w", 0),
        },
    )
