"""Functions of one tensor, saved by one library and loaded by the other: the same results."""

import numpy as np
import pytest

import tape_compat
from tests.parity import saved_exchange, store
from tests.parity.cases_feature_column import Cache
from tests.parity.cases_parse_features import example, floats, ints
from tests.parity.saved_exchange import assert_near, compare, numbers

ways, exchange = saved_exchange.ways, saved_exchange.exchange
pytestmark = pytest.mark.skipif(
    not store.installed(), reason="tensorflow, the oracle, is not installed (extra `parity`)"
)


def check(exchange, tmp_path, functions, inputs, spec, before=()):
    """Save functions of one tensor as one module, and compare what they give of some inputs.
    before: what they are called with before they are saved."""
    writer, _ = exchange
    made = writer.Module()
    for name, function in functions(writer).items():
        call = writer.function(function, input_signature=[spec(writer)], autograph=False)
        setattr(made, name, call)
        for given in before:
            call(writer.constant(given))
    writer.saved_model.save(made, str(tmp_path))
    compare(exchange, tmp_path, made, {name: [[x] for x in inputs] for name in functions(writer)})


def examples():
    tf = tape_compat
    text = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"x", b"y"]))
    one = {"a": floats(tf, 1, 2), "i": ints(tf, 3, 4, 5), "k": ints(tf, 7, 1)}
    more = {"v": floats(tf, 0.5, 0.25), "j": ints(tf, 0, 2)}
    return [example(tf, s=text, **one, **more), example(tf, a=floats(tf, 5, 6))]


def parsers(tf):
    io = tf.io
    features = {
        "a": io.FixedLenFeature([2], tf.float32),
        "d": io.FixedLenFeature([1, 2], tf.int64, default_value=[[9, 8]]),
        "i": io.VarLenFeature(tf.int64),
        "s": io.RaggedFeature(tf.string, row_splits_dtype=tf.int64),
        "places": io.SparseFeature("k", "v", tf.float32, 10),
    }
    steps = io.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=-1)
    other = io.SparseFeature(["j", "k"], "v", tf.float32, [3, 9], already_sorted=True)
    return {
        "all": lambda x: io.parse_example(x, features),
        "steps": lambda x: io.parse_example(x, {"i": steps, "of_two": other}),
        "named": lambda x: io.parse_example(x, features, example_names=x)["a"] * 2.0,
        "one": lambda x: io.parse_single_example(x[0], features),
        "mapped": lambda x: tf.map_fn(
            lambda one: io.parse_single_example(one, features)["a"],
            x,
            fn_output_signature=tf.float32,
        ),
    }


def test_examples(exchange, tmp_path):
    given = examples()
    spec = lambda tf: tf.TensorSpec([None], tf.string)
    check(exchange, tmp_path, parsers, [given, given[:1]], spec)


def test_texts_of_numbers(exchange, tmp_path):
    functions = lambda tf: {
        "texts": lambda x: tf.strings.format("a {} b {}", (x, [1, 2])),
        "short": lambda x: tf.strings.format("%", x, placeholder="%", summarize=1),
        "fingerprints": lambda x: tf.fingerprint(x),
        "of_texts": lambda x: tf.fingerprint(tf.as_string(x[:, 0])),
    }
    given = [[[1.0, 2.0], [3.5, -4.0]], [[0.25, 0.0]] * 8]
    check(exchange, tmp_path, functions, given, lambda tf: tf.TensorSpec([None, 2], tf.float32))


def crosses(tf):
    fc, first = tf.feature_column, lambda x: {"a": x[:, :1], "b": x[:, 1:]}
    number = lambda x: {**first(x), "n": tf.strings.length(x), "f": tf.ones([tf.shape(x)[0], 1])}
    days = fc.categorical_column_with_identity("n", 9)
    buckets = fc.bucketized_column(fc.numeric_column("f"), [0.0, 2.0])

    def shown(features, *keys, **options):
        column = fc.indicator_column(fc.crossed_column([*keys], 10, **options))
        return column.get_dense_tensor(Cache(tf, features), None)

    sparse = lambda x: tf.sparse.from_dense(tf.cast(tf.strings.length(x), tf.int64))
    return {
        "dense": lambda x: shown(first(x), "a", "b"),
        "keyed": lambda x: shown(first(x), "a", "b", hash_key=3),
        "categories": lambda x: shown(number(x), "a", days),
        "buckets": lambda x: shown(number(x), "a", buckets),
        "texts": lambda x: tf.sparse.cross([x, x]),
        "of_sparse": lambda x: tf.sparse.cross([sparse(x), x], separator="-"),
        "whole": lambda x: tf.sparse.to_dense(tf.sparse.from_dense(x), "-"),
        "hashes": lambda x: tf.sparse.cross_hashed([sparse(x), x], num_buckets=100),
    }


def test_crosses(exchange, tmp_path):
    given = [[["a", "bc", ""], ["", "d", "e"]], [["a", "b", "c"]]]
    check(exchange, tmp_path, crosses, given, lambda tf: tf.TensorSpec([None, 3], tf.string))


def labels_of_times(tf):
    times = lambda x: tf.fill([tf.shape(x)[1]], tf.shape(x)[0])
    dense = lambda found: [tf.sparse.to_dense(x, default_value=-1) for x in found[0]]
    greedy, beams = tf.nn.ctc_greedy_decoder, tf.nn.ctc_beam_search_decoder
    return {
        "greedy": lambda x: dense(greedy(x, times(x), merge_repeated=False)),
        "costs": lambda x: greedy(x, times(x), blank_index=1)[1],
        "beams": lambda x: dense(beams(x, times(x), 5, 2)),
        "scores": lambda x: beams(x, times(x), 5, 2)[1],
    }


def test_labels_of_times(exchange, tmp_path):
    given = [np.random.default_rng(5).normal(size=(n, 2, 4)).astype("f").tolist() for n in (5, 3)]
    spec = lambda tf: tf.TensorSpec([None, None, 4], tf.float32)
    check(exchange, tmp_path, labels_of_times, given, spec)


def test_rows_of_sizes_by_value(exchange, tmp_path):
    """Rows that have none of their elements left, too."""
    summed = lambda tf, row: tf.reduce_sum(tf.boolean_mask(row, row > 1.0))
    counted = lambda tf, row: tf.size(tf.strings.split(tf.as_string(row[0], precision=1), "0"))
    functions = lambda tf: {
        "kept": lambda x: tf.map_fn(lambda row: summed(tf, row), x),
        "of kept": lambda x: tf.map_fn(lambda row: 2.0 * row, tf.boolean_mask(x, x[:, 0] > 1.0)),
        "counted": lambda x: tf.map_fn(
            lambda row: tf.reduce_sum(tf.range(tf.cast(row[0], tf.int32))), x, tf.int32
        ),
        "words": lambda x: tf.map_fn(lambda row: counted(tf, row), x, fn_output_signature=tf.int32),
    }
    given = [[[1.0, 2.0], [0.0, -4.0]], [[0.0, 0.0]], [[3.0, 5.0]]]
    check(exchange, tmp_path, functions, given, lambda tf: tf.TensorSpec([None, 2], tf.float32))


def test_tensors_of_messages(exchange, tmp_path):
    """Of any sizes, once a call has shown the rank."""
    parsed = lambda tf, text: tf.io.parse_tensor(text, tf.float32)
    functions = lambda tf: {
        "plain": lambda x: parsed(tf, x[0]),
        "doubled": lambda x: 2.0 * parsed(tf, x[0]),
        "reshaped": lambda x: tf.reshape(parsed(tf, x[0]), [2, -1]),
        "ensured": lambda x: tf.ensure_shape(parsed(tf, x[0]), [None, 2]) @ tf.ones([2, 3]),
        "mapped": lambda x: tf.map_fn(
            lambda text: tf.ensure_shape(parsed(tf, text), [None, 2])[0],
            x,
            fn_output_signature=tf.float32,
        ),
    }
    tf = tape_compat
    messages = [tf.io.serialize_tensor(tf.ones([n, 2])).numpy() for n in (1, 2, 3)]
    spec = lambda tf: tf.TensorSpec([None], tf.string)
    given = [messages[1:], messages[2:]]
    check(exchange, tmp_path, functions, given, spec, before=[messages[:1]])


def test_sizes_that_are_ensured(exchange, tmp_path):
    functions = lambda tf: {
        "product": lambda x: tf.ensure_shape(x, [None, 2]) @ tf.ones([2, 3]),
        "kept": lambda x: tf.reshape(tf.ensure_shape(tf.boolean_mask(x, x[:, 0] > 0), [2, 2]), [4]),
    }
    given = [[[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [0.0, 4.0], [1.0, 1.0]]]
    check(exchange, tmp_path, functions, given, lambda tf: tf.TensorSpec([None, None], tf.float32))


def test_slices(exchange, tmp_path):
    slices = lambda tf, x, *shape: tf.IndexedSlices(x, tf.range(tf.shape(x)[0]), *shape)
    functions = lambda tf: {
        "plain": lambda x: slices(tf, x),
        "shaped": lambda x: [slices(tf, 2.0 * x, tf.constant([7, 2]))],
    }
    given = [[[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0]]]
    check(exchange, tmp_path, functions, given, lambda tf: tf.TensorSpec([None, 2], tf.float32))


def test_partitions_of_ragged_features_are_left_out_and_not_served(tmp_path, caplog):
    tf = tape_compat
    ragged = tf.io.RaggedFeature
    features = {"r": ragged(tf.int64, "v", [ragged.RowLengths("l")])}
    made = tf.Module()
    spec = [tf.TensorSpec([None], tf.string)]
    made.f = tf.function(lambda x: tf.io.parse_example(x, features), input_signature=spec)
    with pytest.raises(NotImplementedError, match="a RaggedFeature with partitions"):
        tf.saved_model.save(made, str(tmp_path))
    tf.saved_model.save(made, str(tmp_path), signatures={})
    assert "left out of the SavedModel: a RaggedFeature with partitions" in caplog.text


def effects(path):
    def functions(tf):
        v = tf.Variable(0.0)

        def prints(x):
            tf.print("x is", x, {"sum": tf.reduce_sum(x)}, "{}", output_stream=f"file://{path}")
            tf.print("done", output_stream=f"file://{path}", end="!")
            return x * 2.0

        def checks(x):
            tf.debugging.assert_positive(x, message="positive, please")
            tf.debugging.Assert(tf.reduce_sum(x) < 10.0, ["too much", x])
            v.assign_add(tf.reduce_sum(x))
            return x + v

        def parts(x):
            return tf.dynamic_partition(x, tf.range(tf.shape(x)[0]) % 2, 2)

        return v, {"prints": prints, "checks": checks, "parts": parts}

    return functions


def test_what_prints_and_checks(ways, tmp_path):
    writer, reader = ways
    path = tmp_path / "printed"
    made = writer.Module()
    made.state, functions = effects(path)(writer)
    for name, function in functions.items():
        spec = [writer.TensorSpec([None])]
        setattr(made, name, writer.function(function, input_signature=spec, autograph=False))
    writer.saved_model.save(made, str(tmp_path / "model"))
    loaded = reader.saved_model.load(str(tmp_path / "model"))
    x = reader.constant([1.0, 2.0, 3.0])
    assert loaded.prints(x).numpy().tolist() == [2.0, 4.0, 6.0]
    assert path.read_text() == "x is [1 2 3] {'sum': 6} {}\ndone!"
    assert loaded.checks(x).numpy().tolist() == [7.0, 8.0, 9.0]
    for refused in ([-1.0, 2.0], [5.0, 6.0]):
        with pytest.raises(reader.errors.InvalidArgumentError):
            loaded.checks(reader.constant(refused))
    assert loaded.checks(x).numpy().tolist() == [13.0, 14.0, 15.0]  # what failed changed nothing
    assert [part.numpy().tolist() for part in loaded.parts(x)] == [[1.0, 3.0], [2.0]]


def test_empty_arguments_and_sparse_ids(exchange, tmp_path):
    """Batches of no row, and as many rows as the last of sparse ids."""
    table = [[1.0, 2.0], [3.0, 4.0]]

    def embedded(tf, x):
        ids = tf.sparse.from_dense(tf.cast(x[:, :1], tf.int64))
        return tf.nn.embedding_lookup_sparse(tf.constant(table), ids, None)

    functions = lambda tf: {
        "dense": lambda x: tf.nn.relu(x @ tf.constant(table)) + 1.0,
        "reshaped": lambda x: tf.nn.softmax(tf.reshape(x, [tf.shape(x)[0], 2, 1]), 1)[:, 0],
        "first": lambda x: tf.concat([x, x], 0)[:, 1],
        "embedded": lambda x: embedded(tf, tf.concat([tf.ones([1, 2]), x], 0)),
        "reduced": lambda x: (tf.reduce_max(x, 0), tf.reduce_min(x, [0]), tf.reduce_prod(x, 0)),
        "sorted": lambda x: (tf.sort(x, 0), tf.sort(x, -1, "DESCENDING"), tf.math.top_k(x, 1)),
        "counted": lambda x: tf.math.bincount(
            tf.cast(x * x, tf.int32), axis=-1, minlength=5, maxlength=5
        ),
        "gathered": lambda x: tf.gather(x, tf.zeros([tf.shape(x)[0], 3], tf.int32), batch_dims=1),
    }
    given = [[[1.0, -2.0], [0.0, 4.0]], np.zeros([0, 2], np.float32), [[0.0, 0.0]]]
    check(exchange, tmp_path, functions, given, lambda tf: tf.TensorSpec([None, 2], tf.float32))


def test_counts_of_sizes_by_value(exchange, tmp_path):
    functions = lambda tf: {
        "counts": lambda x: tf.math.bincount(x),
        "weighed": lambda x: tf.math.bincount(x, tf.cast(x, tf.float32), minlength=2),
        "by_row": lambda x: tf.math.bincount(tf.stack([x, x + 1]), axis=-1, maxlength=5),
        "confused": lambda x: tf.math.confusion_matrix(x, x // 2),
        "sums": lambda x: tf.math.segment_sum(2.0 * tf.cast(x, tf.float32), x),
        "means": lambda x: tf.math.segment_mean(tf.ones([tf.size(x), 2]), tf.cast(x, tf.int64)),
        "picked": lambda x: tf.sparse.segment_sum(tf.ones([9, 2]), x, x),
    }
    given = [[0, 1, 1, 4], [2], [0, 0]]
    check(exchange, tmp_path, functions, given, lambda tf: tf.TensorSpec([None], tf.int32))


def test_vocabularies_with_buckets(ways, tmp_path):
    """Of texts and numbers, and without known keys."""
    writer, reader = ways
    table = lambda keys, *args: writer.lookup.StaticVocabularyTable(
        writer.lookup.KeyValueTensorInitializer(keys, writer.range(2, dtype=writer.int64)), *args
    )
    made = writer.Module()
    made.texts, made.none = table(["a", "b"], 3), writer.lookup.StaticVocabularyTable(None, 4)
    made.numbers = table(writer.constant([7, 5], writer.int64), 2, writer.int32)
    spec = lambda dtype: [writer.TensorSpec([None], dtype)]
    both = lambda x: (made.texts.lookup(x), made.none.lookup(x) + 1)
    made.of_texts = writer.function(both, input_signature=spec(writer.string))
    made.of_numbers = writer.function(made.numbers.lookup, input_signature=spec(writer.int32))
    writer.saved_model.save(made, str(tmp_path), signatures=made.of_texts)
    loaded = reader.saved_model.load(str(tmp_path))
    for name, given in (("of_texts", ["z", "a", "q", "b"]), ("of_numbers", [5, 6, 7, 1])):
        expected = numbers(getattr(made, name)(writer.constant(given)))
        assert_near(numbers(getattr(loaded, name)(reader.constant(given))), expected)
    served = loaded.signatures["serving_default"]
    (key,) = served.structured_input_signature[1]
    found = served(**{key: reader.constant(["b", "c"])})
    expected = made.texts.lookup(writer.constant(["b", "c"]))
    assert_near(numbers(found["output_0"]), numbers(expected))


def test_sizes_that_ops_can_only_do_with(exchange, tmp_path):
    """A None that must be another size, by what stands beside it."""
    matrix = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    functions = lambda tf: {
        "multiplied": lambda x: tf.nn.relu(x @ tf.constant(matrix)) @ tf.ones([2, 1]),
        "added": lambda x: x + tf.constant([1.0, 2.0, 3.0]),
        "square": lambda x: tf.linalg.matmul(x, x, transpose_b=True) + x,
    }
    given = [[[1.0, 2.0, 3.0], [0.5, -1.0, 2.0], [0.0, 1.0, 4.0]]]
    check(exchange, tmp_path, functions, given, lambda tf: tf.TensorSpec([None, None], tf.float32))


def decompositions(tf):
    linalg = tf.linalg
    positive = lambda x: tf.matmul(x, x, transpose_b=True) + tf.eye(3)
    return {
        "inverse": lambda x: (linalg.inv(x), linalg.det(x)),
        "factors": lambda x: (linalg.cholesky(positive(x)), *linalg.lu(x), *linalg.qr(x)),
        "values": lambda x: (linalg.eigvalsh(positive(x)), linalg.svd(x, compute_uv=False)),
        "triangular": lambda x: linalg.triangular_solve(positive(x), x, adjoint=True),
    }


def test_decompositions_of_matrices(exchange, tmp_path):
    given = [[[2.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, -1.0, 1.5]]]
    spec = lambda tf: tf.TensorSpec([3, 3], tf.float32)
    check(exchange, tmp_path, decompositions, given, spec)


def test_a_loss_of_a_loop_with_wrapped_functions(exchange, tmp_path):
    """TensorFlow's loop calls functions by their names, as kernels, and takes results by theirs."""
    loss = lambda tf, x: tf.nn.ctc_loss(
        tf.constant([[1], [2]]), x, tf.constant([1, 1]), tf.constant([2, 2]), blank_index=0
    )
    given = [[[[0.5, 1.0, -1.0], [0.0, 0.25, 2.0]], [[1.0, 0.0, 0.5], [2.0, 1.0, 0.0]]]]
    spec = lambda tf: tf.TensorSpec([2, 2, 3], tf.float32)
    check(exchange, tmp_path, lambda tf: {"loss": lambda x: loss(tf, x)}, given, spec)


def test_objects_that_can_be_called(ways, tmp_path):
    writer, reader = ways

    class Double(writer.Module):
        @writer.function(input_signature=[writer.TensorSpec([], writer.float32)])
        def __call__(self, x):
            return 2.0 * x

    made = writer.Module()
    made.double, made.other = Double(), writer.Module()
    writer.saved_model.save(made, str(tmp_path))
    loaded = reader.saved_model.load(str(tmp_path))
    assert [callable(x) for x in (loaded, loaded.double, loaded.other)] == [False, True, False]
    assert float(loaded.double(reader.constant(3.0))) == 6.0


def test_batches_of_matrices_and_orders(exchange, tmp_path):
    """Of unknown sizes."""
    bands = lambda x: x * [[1.0, 0.0], [1.0, 1.0]]
    functions = lambda tf: {
        "solved": lambda x: tf.linalg.triangular_solve(bands(x), x),
        "positive": lambda x: tf.linalg.cholesky_solve(bands(x), x),
        "order": lambda x: tf.sort(tf.reshape(tf.random.shuffle(x), [-1])),
        "least": lambda x: tf.linalg.lstsq(x, x, fast=False),
    }
    given = [[[[2.0, 1.0], [1.0, 3.0]]] * n for n in (1, 3)]
    check(exchange, tmp_path, functions, given, lambda tf: tf.TensorSpec([None, 2, 2], tf.float32))


def test_how_variables_are_distributed(ways, tmp_path):
    writer, reader = ways
    made = writer.Module()
    made.plain = writer.Variable(1.0)
    made.read = writer.Variable(
        2.0,
        synchronization=writer.VariableSynchronization.ON_READ,
        aggregation=writer.VariableAggregation.ONLY_FIRST_REPLICA,
        name="read",
    )
    writer.saved_model.save(made, str(tmp_path))
    loaded = reader.saved_model.load(str(tmp_path))
    for name in ("plain", "read"):
        one, other = getattr(made, name), getattr(loaded, name)
        assert one.trainable == other.trainable and one.name == other.name
        for attribute in ("synchronization", "aggregation"):
            assert getattr(one, attribute).name == getattr(other, attribute).name


def test_batches_of_one_size_with_texts(exchange, tmp_path):
    """A function of several parts that works only where its batches are the same size."""
    writer, _ = exchange

    def f(x, y, s):
        lengths = writer.cast(writer.strings.length(writer.strings.upper(s)), writer.float32)
        joined = writer.concat([x, y[:, None], lengths[:, None]], 1)  # three at once
        kept = writer.boolean_mask(x, x[:, 0] > -100.0)
        both = writer.ones_like(x * y[:, None]) * y[:, None]
        total = writer.cond(
            writer.reduce_sum(y) > 0.0, lambda: both + lengths[:, None], lambda: kept * both
        )
        return {"total": total + kept, "words": writer.strings.join([s, s]), "joined": joined}

    specs = [writer.TensorSpec([None, 2]), writer.TensorSpec([None])]
    specs.append(writer.TensorSpec([None], writer.string))
    made = writer.Module()
    made.f = writer.function(f, input_signature=specs, autograph=False)
    writer.saved_model.save(made, str(tmp_path))
    calls = []
    for sign, words in ((1.0, ["a", "bc"]), (-1.0, ["d"]), (1.0, ["", "e", "fg", "h"])):
        y = [sign * (i + 1.0) for i in range(len(words))]
        calls.append(([[a, a * a] for a in y], y, words))
    compare(exchange, tmp_path, made, {"f": calls})


def test_searches_of_unknown_sizes(exchange, tmp_path):
    rows = lambda tf, x: tf.sort(tf.where(tf.math.is_nan(x), 1.0, x))
    functions = lambda tf: {
        "left": lambda x: tf.searchsorted(rows(tf, x), x),
        "right": lambda x: tf.searchsorted(rows(tf, x)[1:], x, side="right"),
    }
    given = [[2.0, 1.0, 2.0], [0.5, float("nan")], [3.0, 1.5, 4.0, 1.5, 2.0]]
    check(exchange, tmp_path, functions, given, lambda tf: tf.TensorSpec([None], tf.float32))


def test_slopes_of_products_of_unknown_sizes(exchange, tmp_path):
    functions = lambda tf: {
        "rows": lambda x: tf.gradients(tf.reduce_prod(x, 0), x)[0],
        "all": lambda x: tf.gradients(tf.reduce_prod(x), x)[0],
    }
    given = [[[1.0, -2.0], [0.0, 4.0], [3.0, 0.0]], [[2.0, 3.0]]]
    check(exchange, tmp_path, functions, given, lambda tf: tf.TensorSpec([None, 2], tf.float32))


def test_loops_of_unknown_length_and_formulas(ways, tmp_path):
    """A function that is rewritten for TensorFlow's XLA, in a loop over rows and beside one."""
    writer, reader = ways

    def f(x, y):
        for row in y:
            x = writer.nn.gelu(x + row)
        for _ in writer.range(writer.shape(y)[0]):
            x = 0.5 * x
        return x

    specs = [writer.TensorSpec([None, 2]), writer.TensorSpec([None])]
    made = writer.Module()
    made.f = writer.function(f, input_signature=specs)
    writer.saved_model.save(made, str(tmp_path))
    loaded = reader.saved_model.load(str(tmp_path))
    for y in ([1.0], [-0.5, 2.0, 0.25]):
        x = [[0.5, -1.0], [2.0, 0.0]]
        with writer.GradientTape() as tape:
            given = writer.constant(x)
            tape.watch(given)
            expected = made.f(given, writer.constant(y))
        gradient = numbers(tape.gradient(expected, given))
        assert_near(numbers(loaded.f(reader.constant(x), reader.constant(y))), numbers(expected))
        if reader is tape_compat:
            with reader.GradientTape() as tape:
                given = reader.constant(x)
                tape.watch(given)
                found = loaded.f(given, reader.constant(y))
            assert_near(numbers(tape.gradient(found, given)), gradient)


def test_lengths_of_rows_of_texts(exchange, tmp_path):
    """Slices from a known place to an end that only a call tells."""
    functions = lambda tf: {
        "lengths": lambda x: tf.strings.split(x, " ").row_lengths(),
        "reversed": lambda x: tf.strings.split(tf.reverse(x, [0]), " ").row_lengths(),
        "limits": lambda x: tf.cast(tf.strings.split(x, " ").row_limits(), tf.float32),
    }
    given = [["a b", "c", "d"], ["x"], ["a b c", "", "d e", "f g"]]
    check(exchange, tmp_path, functions, given, lambda tf: tf.TensorSpec([None], tf.string))


def test_functions_without_parameters_that_were_not_called(ways, tmp_path):
    writer, reader = ways

    class Model(writer.Module):
        @writer.function
        def method(self):
            return writer.constant(1)

        @writer.function
        def default(self, x=3):
            return x

    model = Model()
    model.free = writer.function(lambda: 5.0)
    writer.saved_model.save(model, str(tmp_path))
    loaded = reader.saved_model.load(str(tmp_path))
    assert [int(loaded.method()), float(loaded.free())] == [1, 5.0]
    with pytest.raises(ValueError, match="Found zero restored functions"):
        loaded.default()


def test_functions_of_unknown_rank(ways, tmp_path, caplog):
    writer, reader = ways

    @writer.custom_gradient
    def clipped(x):
        return x, lambda upstream: writer.clip_by_norm(upstream, 0.5)

    class Model(writer.Module):
        def __init__(self):
            super().__init__()
            self.scale, self.calls = writer.Variable(2.0), writer.Variable(0)

        @writer.function
        def __call__(self, x):
            return x * self.scale

        @writer.function(input_signature=[writer.TensorSpec(None, name="given")])
        def rows(self, x):
            self.calls.assign_add(1)
            return {"sum": writer.reduce_sum(clipped(x), axis=-1), "shape": writer.shape(x)}

    model = Model()
    called = model.__call__.get_concrete_function(writer.TensorSpec(None, writer.float32))
    options = writer.saved_model.SaveOptions(experimental_custom_gradients=True)
    signatures = {"call": called, "rows": model.rows}
    writer.saved_model.save(model, str(tmp_path), signatures, options)
    assert "without its derivative" not in caplog.text
    loaded = reader.saved_model.load(str(tmp_path))
    for value in (2.0, [3.0], [[1.0, 2.0], [3.0, 4.0]], [[[[1.0]]]]):
        expected = np.multiply(value, 2.0).tolist()
        assert loaded(reader.constant(value)).numpy().tolist() == expected
        found = loaded.signatures["call"](reader.constant(value))
        assert found["output_0"].numpy().tolist() == expected
    for call in (loaded.rows, loaded.signatures["rows"]):
        found = call(reader.ones([2, 3]))
        assert [found[key].numpy().tolist() for key in ("shape", "sum")] == [[2, 3], [3.0, 3.0]]
        with pytest.raises(reader.errors.InvalidArgumentError):
            call(reader.constant(1.0))
    assert int(loaded.calls) == 2
    spec = loaded.signatures["call"].structured_input_signature[1]["x"]
    assert spec.shape.rank is None
    assert "TensorSpec(shape=<unknown>, dtype=tf.float32, name='output_0')" in repr(
        loaded.signatures["call"]
    )
    x = reader.Variable([3.0, 4.0])
    if writer is reader:
        with reader.GradientTape() as tape:
            total = reader.reduce_sum(loaded.rows(reader.identity(x))["sum"] * 10.0)
        np.testing.assert_allclose(tape.gradient(total, x), [0.125**0.5] * 2, rtol=1e-6)
