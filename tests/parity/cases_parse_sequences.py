"""tf.io: sequence examples."""

from .cases_parse_features import floats, ints, parts
from .harness import attempt


def sequence(tf, context=None, **lists):
    lists = {name: tf.train.FeatureList(feature=steps) for name, steps in lists.items()}
    example = tf.train.SequenceExample(
        context=tf.train.Features(feature=context or {}),
        feature_lists=tf.train.FeatureLists(feature_list=lists),
    )
    return example.SerializeToString()


def three(tf):
    dense = [floats(tf, 1, 2), floats(tf, 3, 4), floats(tf, 5, 6)]
    varying = [ints(tf, 1, 2), ints(tf), ints(tf, 3)]
    words = [tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"a"]))]
    context = {"n": ints(tf, 3), "w": floats(tf, 1, 2)}
    first = sequence(tf, context, d=dense, v=varying, t=words, s=[ints(tf, 0, 1, 2)])
    second = sequence(tf, {"n": ints(tf, 5)}, d=[floats(tf, 7, 8)], v=[ints(tf, 9)])
    return [first, second, sequence(tf)]


def plain(found):
    return [{key: parts(each[key]) for key in sorted(each)} for each in found]


def case_one(tf):
    context = {"n": tf.io.FixedLenFeature([], tf.int64), "w": tf.io.VarLenFeature(tf.float32)}
    sequences = {
        "d": tf.io.FixedLenSequenceFeature([2], tf.float32),
        "v": tf.io.VarLenFeature(tf.int64),
        "t": tf.io.FixedLenSequenceFeature([1], tf.string, allow_missing=True),
    }
    first = three(tf)[0]
    return [
        plain(tf.io.parse_single_sequence_example(first, context, sequences)),
        plain(tf.io.parse_sequence_example(first, context, sequences)),
    ]


def case_batch(tf):
    context = {
        "n": tf.io.FixedLenFeature([], tf.int64, default_value=7),
        "w": tf.io.VarLenFeature(tf.float32),
    }
    sequences = {
        "d": tf.io.FixedLenSequenceFeature([2], tf.float32, allow_missing=True),
        "v": tf.io.VarLenFeature(tf.int64),
        "t": tf.io.FixedLenSequenceFeature([1], tf.string, allow_missing=True),
    }
    return plain(tf.io.parse_sequence_example(three(tf), context, sequences))


def case_ragged(tf):
    ragged, examples = tf.io.RaggedFeature, three(tf)
    rows = {"v": ragged(tf.int64), "u": ragged(tf.int64, "v", row_splits_dtype=tf.int32)}
    steps = [floats(tf, 1, 2), floats(tf, 3)]
    lengths = sequence(tf, v=steps, s=[ints(tf, 1, 1), ints(tf, 1)])
    within = {"v": ragged(tf.float32, "v", [ragged.RowLengths("s")])}
    return [
        plain(tf.io.parse_single_sequence_example(examples[0], {"w": ragged(tf.float32)}, rows)),
        plain(tf.io.parse_sequence_example(examples, {"w": ragged(tf.float32)}, rows)),
        plain(tf.io.parse_sequence_example([lengths, examples[2]], None, within)),
    ]


def case_missing_lists(tf):
    one, fixed = three(tf)[2], tf.io.FixedLenSequenceFeature
    return [
        plain(tf.io.parse_single_sequence_example(one, None, {"d": feature}))
        for feature in (fixed([2], tf.float32, True), tf.io.VarLenFeature(tf.float32))
    ]


def case_what_does_not_fit(tf):
    first, _, empty = three(tf)
    fixed, dense = tf.io.FixedLenFeature, tf.io.FixedLenSequenceFeature
    found = []
    for message, context, sequences in (
        (empty, None, {"d": dense([2], tf.float32)}),
        (first, None, {"d": dense([3], tf.float32)}),
        (first, None, {"d": dense([2], tf.int64)}),
        (first, None, {"d": tf.io.VarLenFeature(tf.int64)}),
        (first, None, {"d": dense([2], tf.float32, True, -1.0)}),
        (first, None, {"d": fixed([2], tf.float32)}),
        (empty, {"n": fixed([], tf.int64)}, None),
        (first, {"n": fixed([], tf.float32)}, None),
        (first, {"w": fixed([3], tf.float32)}, None),
        (first, {"n": dense([], tf.int64, True)}, None),
        (first, None, None),
        (first, {}, {}),
    ):
        parse = tf.io.parse_single_sequence_example
        found.append(attempt(lambda: parse(message, context, sequences), words=0))
        parse = tf.io.parse_sequence_example
        found.append(attempt(lambda: parse([message], context, sequences), words=0))
    return found


def case_named(tf):
    feature = tf.io.FixedLenSequenceFeature([2], tf.float32)
    try:
        tf.io.parse_sequence_example([three(tf)[2]], None, {"d": feature}, ["me"])
    except tf.errors.InvalidArgumentError as error:
        return str(error).rpartition("}} ")[2][:60]


def case_shapes(tf):
    batch = [[three(tf)[0]]]
    parse, feature = tf.io.parse_sequence_example, {"v": tf.io.VarLenFeature(tf.int64)}
    return attempt(lambda: parse(batch, None, feature), words=0)


def case_in_a_dataset(tf):
    features = {"d": tf.io.FixedLenSequenceFeature([2], tf.float32)}
    data = tf.data.Dataset.from_tensor_slices(three(tf)[:2])
    return list(data.map(lambda x: tf.io.parse_single_sequence_example(x, None, features)[1]["d"]))


def case_context_that_is_missing(tf):
    whole, empty = sequence(tf, {"w": floats(tf, 1, 2)}), sequence(tf)
    features = {"w": tf.io.FixedLenFeature([2], tf.float32)}
    return [
        attempt(lambda: tf.io.parse_sequence_example([whole, empty], features), words=10),
        attempt(lambda: tf.io.parse_single_sequence_example(empty, features), words=10),
    ]
