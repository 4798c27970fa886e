"""`tf.function` of texts: recorded once, with steps of the host between its programs."""

import contextlib
import io

import numpy as np

from . import harness

NEEDS = ("function", "strings.split")


def traced(tf, function, *calls):
    """The same as `harness.traced`, with ragged tensors as lists."""
    found, runs = harness.traced(tf, function, *calls)
    return [x.to_list() if hasattr(x, "to_list") else x for x in found], runs


def case_ops(tf):
    strings, c = tf.strings, tf.constant
    one, two = c("ab 1"), c("c 22")
    several, others = c(["a b", "c"]), c(["x y", "z"])
    return [
        traced(tf, lambda s: s, (one,), (two,)),
        traced(tf, lambda s: (s + s, [s], {"a": s}), (one,), (two,)),
        traced(tf, strings.length, (one,), (two,), (one,)),
        traced(tf, strings.upper, (one,), (several,), (others,)),
        traced(tf, lambda s: strings.split(s)[0], (one,), (two,)),
        traced(tf, strings.split, (several,), (others,)),
        traced(tf, lambda s: strings.split(s).to_tensor("-"), (several,), (others,)),
        traced(tf, lambda s: strings.to_number(strings.split(s)[1]) * 2.0, (one,), (two,)),
        traced(tf, lambda s, x: strings.to_number(s) + x, (c("2"), c(1.0)), (c("5"), c(2.0))),
        traced(tf, lambda s, k: strings.join([s, k]), (one, "x"), (two, "x"), (one, "y")),
        traced(tf, lambda s: tf.where(tf.equal(s, "c 22"), 1, 2), (one,), (two,)),
        traced(tf, lambda s: tf.where(strings.length(s) > 4, s, "short"), (one,), (c("abcde"),)),
        traced(tf, lambda s: tf.reverse(s, [0]), (several,), (others,)),
        traced(tf, lambda d: strings.length(d["t"]) * d["k"], ({"t": one, "k": c(2)},),
               ({"t": two, "k": c(3)},)),
        traced(tf, strings.length, (np.array(["abc", "d"]),), (np.array(["ab", "d"]),)),
        traced(tf, lambda x: strings.length(strings.as_string(x)), (c(12),), (c(345),))[0],
        traced(tf, lambda s: tf.io.decode_csv(s, [0, ""]), (c("1,a"),), (c("2,b"),)),
    ]  # fmt: skip


def case_crosses_of_dense_features(tf):
    def hashed(a, b):
        crossed = tf.sparse.cross_hashed([a, b], 100)
        return crossed.indices, crossed.values, crossed.dense_shape, tf.sparse.to_dense(crossed)

    def joined(a, b):
        crossed = tf.sparse.cross([a, b, a], separator="-")
        return crossed.indices, tf.strings.length(crossed.values), crossed.values

    def of_any_number(function):
        specs = [tf.TensorSpec([None, 2], tf.string), tf.TensorSpec([None, 1], tf.int64)]
        called = tf.function(function, input_signature=specs)
        return [called(*one), called(*two), called(*three)], called.experimental_get_tracing_count()

    one = tf.constant([["a", "b"], ["c", "d"]]), tf.constant([[1], [2]], tf.int64)
    two = tf.constant([["x", "b"], ["c", "y"]]), tf.constant([[7], [2]], tf.int64)
    three = tf.constant([["p", "q"]]), tf.constant([[3]], tf.int64)
    return [
        traced(tf, hashed, one, two, three),
        traced(tf, joined, one, two, three),
        of_any_number(hashed),
        of_any_number(joined),
    ]


def case_texts_in_branches_and_loops(tf):
    def loop(s):
        total = 0
        for word in tf.strings.split(s):
            total += tf.strings.length(word)
        return total

    def branch(s):
        if tf.strings.length(s) > 3:
            return tf.strings.length(s)
        return -1

    choose = lambda s: tf.cond(tf.strings.length(s) > 3, lambda: s, lambda: "short")
    calls = [(tf.constant(text),) for text in ("ab c", "d", "d", "ab c")]
    return [traced(tf, function, *calls)[0] for function in (loop, branch, choose)]


def case_signatures(tf):
    c, text = tf.constant, tf.TensorSpec([None], tf.string, "names")
    runs = []

    @tf.function(input_signature=[text])
    def upper(s):
        runs.append(1)
        return tf.strings.upper(s), tf.strings.length(s)

    of_any = tf.function(lambda s: tf.strings.length(s) * 2).get_concrete_function(text)
    of_one = tf.function(lambda s: tf.strings.length(s)).get_concrete_function(c("a"))
    return [
        upper(c(["a", "b"])),
        upper(c(["cde"])),
        len(runs),
        of_any(c(["a", "bcd"])),
        of_any(names=c(["xy"])),
        repr(of_any.structured_input_signature),
        of_one(c("a longer one")),
        repr(of_any.structured_outputs.shape),
    ]


def case_state(tf):
    v = tf.Variable(1.0)

    def add(s):
        v.assign_add(tf.strings.to_number(s))
        return v * 2.0

    found = traced(tf, add, (tf.constant("2"),), (tf.constant("5"),))
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)  # fmt: skip
    looked_up = traced(tf, lambda s: table.lookup(s) + 1, (tf.constant(["a", "z"]),),
                       (tf.constant(["b", "b"]),))  # fmt: skip
    return found, v, looked_up


def case_gradients(tf):
    x, w = tf.Variable([1.0, 2.0, 4.0]), tf.constant(3.0)

    @tf.function
    def loss(names, w):
        rows = tf.gather(x, tf.strings.length(names))
        return tf.reduce_sum(rows * rows * w)

    @tf.function
    def inside(names):
        with tf.GradientTape() as tape:
            y = loss(names, w)
        return tape.gradient(y, [x])

    found = []
    for names in (["a", ""], ["", "xx"]):
        with tf.GradientTape() as tape:
            tape.watch(w)
            y = loss(tf.constant(names), w)
        found += [y, *map(tf.convert_to_tensor, tape.gradient(y, [x, w]))]
        found += list(map(tf.convert_to_tensor, inside(tf.constant(names))))
    return found


def case_functions_in_functions(tf):
    runs = []

    @tf.function
    def inner(s):
        runs.append(1)
        return tf.strings.length(s) * 2

    outer = traced(
        tf, lambda s: inner(s) + inner(s + "x"), (tf.constant("a"),), (tf.constant("bcd"),)
    )
    constant = traced(tf, lambda x: inner(tf.constant("abc")) + x, (tf.constant(1),))
    mapped = list(tf.data.Dataset.from_tensor_slices(["a", "bc"]).map(inner))
    return outer, constant, mapped


def case_python_and_prints(tf):
    out = io.StringIO()
    calls = [(tf.constant(text),) for text in ("ab", "c", "ab")]

    def printed(s):
        tf.print("text", s, tf.strings.length(s), [s], output_stream="file:///dev/null")
        return tf.strings.length(s)

    def counted(s):
        return tf.py_function(lambda t: len(t.numpy()), [s], tf.int32)

    with contextlib.redirect_stdout(out):
        found = traced(tf, printed, *calls)
    return found, traced(tf, counted, *calls)[0]


def case_errors(tf):
    number = tf.function(tf.strings.to_number)
    found = []
    for text in ("1", "x", "3"):
        try:
            found.append(number(tf.constant(text)))
        except tf.errors.InvalidArgumentError as error:
            found.append("could not correctly convert string: x" in str(error))

    @tf.function
    def checked(s):
        tf.debugging.assert_equal(tf.strings.length(s), 1, message="one letter")
        return tf.strings.upper(s)

    for text in ("a", "bc"):
        try:
            found.append(checked(tf.constant(text)))
        except tf.errors.InvalidArgumentError as error:
            found.append("one letter" in str(error))
    return found


def case_prints_of_texts(tf):
    import os
    import tempfile

    def written(*args, **options):
        handle, path = tempfile.mkstemp()
        os.close(handle)
        try:
            tf.print(*args, output_stream=f"file://{path}", **options)
            with open(path, encoding="utf-8") as file:
                return file.read()
        finally:
            os.remove(path)

    c = tf.constant
    return [
        written(c("a")),
        written("a", c("b")),
        written(c("a"), c(1)),
        written([c("a")]),
        written(c(["a", "b"]), c("x"), sep=","),
        written(tf.strings.join(["a", "b"])),
    ]


def case_format_of_what_is_computed(tf):
    @tf.function
    def written(x):
        return tf.strings.format("{} of {}", [x * 2, tf.constant("a")])

    return written(tf.constant([1, 2])), written(tf.constant([3, 4]))


def case_crosses_of_rows(tf):
    def crossed(x, y):
        sparse = tf.sparse.from_dense(y)
        pair = tf.sparse.cross([x, sparse]), tf.sparse.cross_hashed([x, x, sparse], 50)
        return [tf.sparse.to_dense(pair[0], "-"), tf.sparse.to_dense(pair[1]), pair[1].shape.rank]

    spec = [tf.TensorSpec([None, None], tf.string), tf.TensorSpec([None, None], tf.int64)]
    recorded = tf.function(crossed, input_signature=spec)
    one = recorded(tf.constant([["a", "b"], ["c", ""]]), tf.constant([[1, 0], [2, 3]], tf.int64))
    other = recorded(tf.constant([["a"]]), tf.constant([[0]], tf.int64))
    return one, other, recorded.experimental_get_tracing_count()


def case_tensors_of_messages(tf):
    """Of other sizes and ranks at each call, with a signature and without one, in a function."""
    message = tf.io.serialize_tensor
    given = [message(x) for x in ([1, 2], [1, 2], [[3]], [1, 2, 3], 4, [5])]
    spec = [tf.TensorSpec([], tf.string)]
    inner = tf.function(lambda text: 2 * tf.io.parse_tensor(text, tf.int32), input_signature=spec)
    functions = [
        tf.function(lambda text: tf.io.parse_tensor(text, tf.int32), input_signature=spec),
        tf.function(lambda text: tf.io.parse_tensor(text, tf.int32) + 1),
        tf.function(lambda text: inner(text) + 1, input_signature=spec),
        tf.function(lambda text: tf.reshape(tf.io.parse_tensor(text, tf.int32), [-1])),
    ]
    return [[function(text) for text in given] for function in functions]


def case_sizes_of_texts_of_known_shapes(tf):
    """What is read of a text that is an argument is told by a step; the text itself is none."""
    one, two, several = ["3"], ["12"], ["5", "abc"]

    def called(function):
        return [traced(tf, function, (tf.constant(text),)) for text in (one, two, several)]

    return [
        called(lambda s: tf.zeros([tf.strings.length(s)[0]])),
        called(lambda s: tf.math.bincount(tf.strings.length(s))),
        called(lambda s: tf.range(tf.strings.to_number(s[:1], tf.int32)[0])),
        traced(tf, lambda s: tf.zeros(tf.strings.length(s)), (tf.constant("ab"),))[0],
    ]


def case_counts_of_words_by_row(tf):
    """What `TextVectorization` gives: "count", "multi_hot", "tf_idf"; 9 and more do not count."""
    shares = tf.constant([0.5, 0.25, 0.125, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    settings = {"minlength": 9, "maxlength": 9, "axis": -1}

    def counts(texts):
        ids = tf.ragged.map_flat_values(
            lambda words: tf.strings.to_hash_bucket_fast(words, 11), tf.strings.split(texts)
        )
        weights = tf.ragged.map_flat_values(lambda ids: tf.gather(shares, ids), ids)
        return [
            tf.math.bincount(ids, dtype=tf.float32, **settings),
            tf.math.bincount(ids, binary_output=True, **settings),
            tf.math.bincount(ids, weights=weights, **settings),
        ]

    batches = [tf.constant(texts) for texts in (["a b a", "", "c d e f"], ["b"], ["g g", "h i"])]
    recorded = tf.function(counts, input_signature=[tf.TensorSpec([None], tf.string)])
    concrete = recorded.get_concrete_function()
    return [counts(x) for x in batches], [concrete(x) for x in batches]


def case_scatter_into_variables(tf):
    """Elements and rows of a variable of texts, replaced at indices that are arguments."""
    traces, v = [], tf.Variable([["a", "b"], ["c", "d"], ["e", "f"]])

    def f(places, rows, texts):
        traces.append(1)
        v.scatter_nd_update(places, texts)
        v.scatter_update(tf.IndexedSlices(tf.stack([texts, texts], 1), rows))
        return v + "!", v.read_value()

    kinds = ([None, 2], tf.int32), ([None], tf.int32), ([None], tf.string)
    g = tf.function(f, input_signature=[tf.TensorSpec(*kind) for kind in kinds])
    one = g([[0, 1]], [2], ["x"])
    return one, g([[1, 1], [2, 0]], [0, 1], ["y", "z"]), v.read_value(), len(traces)
