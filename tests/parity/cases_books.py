"""Constructs of the pages of tutorials and books that other cases do not have."""

from .harness import attempt


def parts(tf, value):
    """A nest of gradients with the parts of the ragged ones."""
    if isinstance(value, (list, tuple)):
        return [parts(tf, part) for part in value]
    if isinstance(value, dict):
        return {key: parts(tf, part) for key, part in value.items()}
    return (value.flat_values, value.nested_row_splits) if isinstance(value, tf.RaggedTensor) else value


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
