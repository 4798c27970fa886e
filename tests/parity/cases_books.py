"""Constructs of the pages of tutorials and books that other cases do not have."""

import os
import re
import tempfile

from .harness import attempt, attempts


def parts(tf, value):
    """A nest of gradients with the parts of the ragged ones."""
    if isinstance(value, (list, tuple)):
        return [parts(tf, part) for part in value]
    if isinstance(value, dict):
        return {key: parts(tf, part) for key, part in value.items()}
    if isinstance(value, tf.RaggedTensor):
        return value.flat_values, value.nested_row_splits
    return value


def ragged_sources(tf):
    x = tf.ragged.constant([[1.0, 2.0], [3.0]])
    deep = tf.ragged.constant([[[1.0], [2.0, 3.0]], []])
    table, w = tf.Variable(tf.ones([4, 2])), tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x.flat_values, deep.flat_values])
        total, squares, three = tf.reduce_sum(x * x), deep * deep, x * 3.0
        rows = tf.RaggedTensor.from_row_lengths(w * w, [2, 1])
        taken = tf.gather(x, [1, 1])
        found = tf.nn.embedding_lookup(table, tf.ragged.constant([[0, 1], [1]]))
        operator = tf.linalg.LinearOperatorDiag(w * w)
    weights = tf.ragged.constant([[1.0, 10.0], [100.0]])
    by_table = tf.convert_to_tensor(tape.gradient(found, table))
    return {
        "of_a_scalar": tape.gradient(total, x),
        "in_a_nest": tape.gradient({"a": total, "b": squares}, {"x": [x], "deep": deep}),
        "none": tape.gradient(total, [deep, x]),
        "targets": (tape.gradient(rows, w), by_table, tape.gradient(taken, x)),
        "weighted": tape.gradient(three, x, output_gradients=weights),
        "operator": tape.gradient([operator, rows], w),
        "sparse": attempt(lambda: tape.gradient(total, tf.sparse.eye(2)), words=8),
    }


def case_gradients_by_ragged_tensors(tf):
    @tf.function
    def inside(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                cubes = x * x * x
            slope = tape.gradient(cubes, x)
        return slope, outer.gradient(slope, x)

    found = ragged_sources(tf), inside(tf.ragged.constant([[1.0, 2.0], [3.0]]))
    return parts(tf, found)


def case_batches_of_shapes_in_extension_types(tf):
    class Network(tf.experimental.BatchableExtensionType):
        shape: tf.TensorShape
        work: tf.Tensor
        nested: tuple[tf.TensorShape, ...]

        def __init__(self, work):
            self.work = tf.convert_to_tensor(work)
            self.shape = self.work.shape[:-1]
            self.nested = (self.shape, self.work.shape)

    def shown(network):
        return network.shape, network.work, network.nested

    def unannotated():
        class Bad(tf.experimental.ExtensionType):
            x: tf.Tensor
            y = 3

    batch = Network([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    dataset = tf.data.Dataset.from_tensor_slices(batch)
    doubled = tf.map_fn(lambda network: Network(network.work * 2.0), batch)
    return (
        [shown(network) for network in dataset],
        [shown(network) for network in dataset.batch(2, drop_remainder=True)],
        [shown(network) for network in dataset.batch(2).unbatch()],
        shown(doubled),
        repr(dataset.element_spec),
        attempt(unannotated, words=8),
    )


def case_shown_concrete_functions(tf):
    class Pair(tf.experimental.ExtensionType):
        a: tf.Tensor
        b: tf.Tensor

    def shown(function, *args, **kwargs):
        concrete = function.get_concrete_function(*args, **kwargs)
        known = [concrete.pretty_printed_signature(), concrete.pretty_printed_signature(False)]
        return [re.sub(r"\d{9,}", "id", text) for text in known]

    nest = tf.function(lambda x: {"a": x, "b": [x, (x, 1)]})
    first = tf.function(lambda *args, **kwargs: args[0] + kwargs["z"])
    ragged, variable = tf.ragged.constant([[1, 2], [3]]), tf.Variable(1.0)
    named = tf.TensorSpec([None], tf.float32, name="q")
    signed = tf.function(lambda x, y: x, input_signature=[named, tf.TensorSpec([])])
    concrete = nest.get_concrete_function(tf.constant(1))
    return (
        shown(nest, ragged),
        shown(nest, tf.sparse.eye(2)),
        shown(nest, Pair(1.0, [2.0])),
        shown(nest, named),
        shown(nest, [named, tf.TensorSpec([])]),
        shown(signed),
        shown(first, tf.constant(1), z=tf.constant(2)),
        shown(tf.function(lambda v: v + 1.0), variable),
        shown(tf.function(lambda: variable + 1.0)),
        attempts(
            tf,
            {
                "too_few": lambda _: concrete(),
                "too_many": lambda _: concrete(tf.constant(1), tf.constant(2)),
            },
            words=40,
        ),
    )


def case_parameters_of_any_rank_shown(tf):
    function = tf.function(lambda x, n=2, *, k=1.0: x * n)
    concrete = function.get_concrete_function(tf.TensorSpec(None, tf.int32), k=3.0)
    lines = concrete.pretty_printed_signature().splitlines()[:4]
    return lines, concrete.pretty_printed_signature(False).split(" -> ")[0]


def case_names_of_datasets(tf):
    numbers, auto = tf.data.Dataset.range(6), tf.data.AUTOTUNE

    def rows(x):
        return tf.data.Dataset.range(x)

    return [
        repr(dataset).split()[0]
        for dataset in (
            next(iter(numbers.window(2))),
            numbers.map(tf.negative),
            numbers.map(tf.negative, num_parallel_calls=auto),
            numbers.interleave(rows),
            numbers.interleave(rows, num_parallel_calls=auto),
            numbers.batch(2),
            numbers.batch(2, num_parallel_calls=2),
            numbers.padded_batch(2),
            numbers.rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [0.5, 0.5]),
            tf.data.Dataset.counter(),
        )
    ]


def case_files_of_the_current_folder(tf):
    patterns = ["*.txt", "./*.txt", "a.txt", "*/*.txt", "[ab].txt", "?.txt", "sub/*.txt", "no*"]
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "sub"))
        for name in ("a.txt", "b.txt", "sub/c.txt"):
            tf.io.write_file(os.path.join(folder, name), "text")
        os.chdir(folder)
        try:
            found = [sorted(tf.io.gfile.glob(pattern)) for pattern in patterns]
            matching = [tf.io.matching_files(pattern) for pattern in patterns]
            listed = list(tf.data.Dataset.list_files("*.txt", shuffle=False).as_numpy_iterator())
        finally:
            os.chdir(before)
    return found, matching, listed


def case_words_of_conversions(tf):
    variable = tf.Variable([1.0, 2.0])
    values = {
        "int32": ([1.5, 2], [[1, 2], [3, 4.5]], (1.5,), [True, 1.5], "a", 1.5),
        "float32": ("a", ["a", "b"], [1j]),
        "float64": ("a",),
        "float16": ("a",),
        "string": ([1], 1, [[2.5]]),
    }

    def words(function):
        return attempt(function, words=12)

    return (
        {
            name: [words(lambda x=x, name=name: tf.constant(x, dtype=name)) for x in several]
            for name, several in values.items()
        },
        words(lambda: variable.assign(["a", "b"])),
        words(lambda: variable * "a"),
        words(lambda: hash(variable)),
    )
