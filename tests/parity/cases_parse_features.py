"""tf.io: ragged and sparse features of examples."""

from .harness import attempt


def ints(tf, *values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def floats(tf, *values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def example(tf, **features):
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def three(tf):
    """The values, their rows by splits and lengths, and indices."""
    parts = {"s": ints(tf, 0, 1, 3), "l": ints(tf, 1, 2)}
    first = example(tf, v=floats(tf, 1, 2, 3), i=ints(tf, 5, 2, 0), j=ints(tf, 1, 1, 1), **parts)
    second = example(
        tf, v=floats(tf, 4), s=ints(tf, 0, 1), l=ints(tf, 1), i=ints(tf, 3), j=ints(tf, 0)
    )
    return [first, second, example(tf)]


def parts(tensor):
    """A tensor; the rows of a ragged one."""
    if not hasattr(tensor, "row_splits"):
        return tensor
    return tensor.to_list(), tensor.shape.rank, tensor.row_splits.dtype, tensor.flat_values


def parsed(tf, examples, feature):
    """The tensor of a batch, and that of the first alone."""
    batch = tf.io.parse_example(examples, {"x": feature})["x"]
    single = tf.io.parse_single_example(examples[0], {"x": feature})["x"]
    return parts(batch), parts(single)


def case_ragged(tf):
    ragged, examples = tf.io.RaggedFeature, three(tf)
    return [
        parsed(tf, examples, ragged(tf.float32, "v")),
        parsed(tf, examples, ragged(tf.float32, "v", row_splits_dtype=tf.int64)),
        parsed(tf, examples, ragged(tf.float32, "v", [ragged.RowSplits("s")])),
        parsed(tf, examples, ragged(tf.float32, "v", [ragged.RowLengths("l")])),
        parts(tf.io.parse_example(examples, {"v": ragged(tf.float32)})["v"]),
        ragged(tf.int64),
    ]


def case_ragged_by_other_partitions(tf):
    ragged = tf.io.RaggedFeature
    one = example(
        tf, v=floats(tf, 1, 2, 3), i=ints(tf, 0, 0, 2), s=ints(tf, 0, 1), e=ints(tf, 1, 3)
    )
    two = example(tf, v=floats(tf, 4), i=ints(tf, 1), s=ints(tf, 0), e=ints(tf, 1))
    return [
        parsed(tf, [one, two], ragged(tf.float32, "v", [ragged.ValueRowIds("i")])),
        parsed(tf, [one, two], ragged(tf.float32, "v", [ragged.RowStarts("s")])),
        parsed(tf, [one, two], ragged(tf.float32, "v", [ragged.RowLimits("e")])),
    ]


def case_ragged_of_several_partitions(tf):
    ragged = tf.io.RaggedFeature
    one = example(tf, v=floats(tf, 1, 2, 3, 4), a=ints(tf, 1, 1), b=ints(tf, 1, 3), c=ints(tf, 2))
    none = example(tf)
    rows = [ragged.RowLengths("a"), ragged.RowLengths("b")]
    return [
        parsed(tf, [one, none], ragged(tf.float32, "v", rows)),
        parsed(tf, [one, none], ragged(tf.float32, "v", [ragged.UniformRowLength(2)])),
        parsed(
            tf,
            [one, none],
            ragged(tf.float32, "v", [ragged.UniformRowLength(2), ragged.RowLengths("b")]),
        ),
        parsed(
            tf,
            [one, none],
            ragged(tf.float32, "v", [ragged.RowLengths("c"), ragged.UniformRowLength(2)]),
        ),
        parsed(
            tf,
            [one, none],
            ragged(tf.float32, "v", [ragged.UniformRowLength(2), ragged.UniformRowLength(1)]),
        ),
    ]


def case_ragged_of_texts(tf):
    words = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"a", b"bc"]))
    return parsed(tf, [example(tf, v=words), example(tf)], tf.io.RaggedFeature(tf.string, "v"))


def case_ragged_of_another_dtype(tf):
    return tf.io.RaggedFeature(tf.int32, "v")


def case_sparse(tf):
    sparse, examples = tf.io.SparseFeature, three(tf)
    return [
        parsed(tf, examples, sparse("i", "v", tf.float32, 6)),
        parsed(tf, examples, sparse("i", "v", tf.float32, 6, already_sorted=True)),
        parsed(tf, examples, sparse(["i", "j"], "v", tf.float32, [6, 2])),
        parsed(tf, examples, sparse(["i"], "v", tf.float32, [6])),
        sparse("i", "v", tf.float32, 6),
    ]


def case_sparse_of_other_lengths(tf):
    one = example(tf, i=ints(tf, 1, 2), v=floats(tf, 1))
    return tf.io.parse_example([one], {"x": tf.io.SparseFeature("i", "v", tf.float32, 6)})


def case_sparse_without_key(tf):
    return tf.io.parse_example(three(tf), {"x": tf.io.SparseFeature("", "v", tf.float32, 6)})


def case_in_a_dataset(tf):
    data, found = tf.data.Dataset.from_tensor_slices(three(tf)).batch(2), []
    for feature in (
        tf.io.RaggedFeature(tf.float32, "v"),
        tf.io.SparseFeature("i", "v", tf.float32, 6),
    ):
        mapped = data.map(lambda batch: tf.io.parse_example(batch, {"x": feature})["x"])
        found += [parts(tensor) for tensor in mapped]
    return found


def case_keys_of_two_kinds(tf):
    dense, ragged = tf.io.FixedLenFeature([3], tf.float32), tf.io.RaggedFeature(tf.float32, "v")
    sparse = tf.io.SparseFeature("i", "v", tf.float32, 6)
    pairs = [(dense, sparse), (dense, ragged), (sparse, ragged)]
    found = []
    for one, other in pairs:
        try:
            tf.io.parse_example(three(tf), {"v": one, "x": other})
        except ValueError as error:
            found.append(str(error).strip("('")[:44])  # TensorFlow's second is two texts
    return found


def _of_all_kinds(tf):
    io, ragged = tf.io, tf.io.RaggedFeature
    return {
        "z": io.SparseFeature("i", "w", tf.float32, 6),
        "y": io.FixedLenFeature([1], tf.int64),
        "x": io.VarLenFeature(tf.float32),
        "s": ragged(tf.int64),
        "c": io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
        "a": ragged(tf.float32, "v"),
        "d": ragged(tf.int64, "l", [ragged.UniformRowLength(1)]),
        "e": ragged(tf.float32, "v", [ragged.RowSplits("s")]),
        "f": ragged(tf.float32, "v", [ragged.RowSplits("s"), ragged.UniformRowLength(1)]),
    }


def _examples(tf):
    more = {"y": ints(tf, 1), "x": floats(tf, 2), "c": ints(tf, 4, 5), "l": ints(tf, 7, 8)}
    one = {"v": floats(tf, 1, 2, 3), "i": ints(tf, 5, 2, 0), "s": ints(tf, 0, 1, 3)}
    two = {"v": floats(tf, 4), "i": ints(tf, 3), "s": ints(tf, 0, 1)}
    one["w"], two["w"] = one["v"], two["v"]
    return [example(tf, **one, **more), example(tf, **two, **more)]


def case_order_of_features(tf):
    examples, features = _examples(tf), _of_all_kinds(tf)
    single, several = tf.io.parse_single_example, tf.io.parse_example
    recorded = tf.function(lambda text: single(text, features))
    dense = {name: features[name] for name in "ycxz"}
    mapped = tf.data.Dataset.from_tensors(examples[0]).map(lambda text: single(text, dense))
    found = [single(examples[0], features), several(examples, features), recorded(examples[0])]
    return [list(x) for x in (*found, next(iter(mapped)), mapped.element_spec)]


def case_all_kinds_in_a_function(tf):
    examples, features = _examples(tf), _of_all_kinds(tf)
    one, several = tf.io.parse_single_example, tf.io.parse_example
    kinds = ([several, [None], examples], [several, [1], examples[:1]], [one, [], examples[0]])
    found = []
    for call, shape, given in kinds:
        spec = [tf.TensorSpec(shape, tf.string)]
        recorded = tf.function(lambda text: call(text, features), input_signature=spec)
        for name, value in recorded(tf.constant(given)).items():
            sparse = isinstance(value, tf.SparseTensor)
            found.append((name, tf.sparse.to_dense(value) if sparse else parts(value)))
    return found


def case_order_of_sequences(tf):
    io, ragged = tf.io, tf.io.RaggedFeature
    lists = tf.train.FeatureList
    sequence = tf.train.SequenceExample(
        context=tf.train.Features(feature={"y": ints(tf, 1)}),
        feature_lists=tf.train.FeatureLists(
            feature_list={"q": lists(feature=[floats(tf, 1)]), "r": lists(feature=[ints(tf, 1)])}
        ),
    ).SerializeToString()
    context = {"y": io.FixedLenFeature([], tf.int64), "x": io.VarLenFeature(tf.float32)}
    sequences = {
        "a": ragged(tf.int64),
        "q": io.FixedLenSequenceFeature([], tf.float32),
        "r": io.VarLenFeature(tf.int64),
    }
    one = tf.io.parse_single_sequence_example(sequence, context, sequences)
    several = tf.io.parse_sequence_example([sequence], context, sequences)
    return [list(x) for x in (*one, *several)]


def case_dataset_of_ragged_and_sparse_features(tf):
    found = []
    for name, feature in _of_all_kinds(tf).items():
        dataset = tf.data.Dataset.from_tensor_slices(_examples(tf)).batch(2)
        dataset = dataset.apply(tf.data.experimental.parse_example_dataset({name: feature}))
        value = next(iter(dataset))[name]
        found += [str(dataset.element_spec), parts(value) if hasattr(value, "row_splits") else ""]
        found += [tf.sparse.to_dense(value)] if name in "xz" else []
    return found


def case_defaults_of_other_sizes(tf):
    """One number is no default for several, not even where none is missing."""
    whole = tf.train.Example(features=tf.train.Features(feature={"a": ints(tf, 1, 2, 3)}))
    empty = tf.train.Example(features=tf.train.Features())
    batches = [[x.SerializeToString() for x in given] for given in ([whole], [whole, empty])]

    def parsed(batch, shape, default):
        feature = tf.io.FixedLenFeature(shape, tf.int64, default_value=default)
        return tf.io.parse_example(batch, {"a": feature})["a"]

    defaults = (7, [7], [4, 5, 6], [[4, 5, 6]], [1, 2])
    return [
        attempt(lambda: parsed(batch, shape, default), words=14)
        for batch in batches
        for shape in ([3], [1, 3])
        for default in defaults
    ]


def case_rows_of_values_that_decrease(tf):
    ragged = tf.io.RaggedFeature
    feature = ragged(tf.float32, "v", [ragged.ValueRowIds("i")], validate=True)
    return parsed(tf, [example(tf, v=floats(tf, 1, 2, 3), i=ints(tf, 1, 0, 0))], feature)


def case_messages_that_are_no_examples(tf):
    """The message is shown as a text; of a sequence the name is."""
    fixed = {"a": tf.io.FixedLenFeature([], tf.int64)}
    steps = {"a": tf.io.FixedLenSequenceFeature([], tf.int64)}
    several = tf.io.parse_sequence_example
    return [
        attempt(lambda: tf.io.parse_single_example(b"xyz", fixed), words=7),
        attempt(lambda: tf.io.parse_example([b"xyz"], fixed, example_names=["one"]), words=7),
        attempt(
            lambda: tf.io.parse_single_sequence_example(b"xyz", sequence_features=steps), words=7
        ),
        attempt(lambda: several([b"xyz"], sequence_features=steps, example_names=["one"]), words=7),
    ]
