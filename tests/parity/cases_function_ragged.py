"""Ragged tensors whose rows are known only when a function is called: its Python runs once."""


def _told(tf, value):
    if isinstance(value, tf.RaggedTensor):
        return [value.to_list(), value.row_splits]
    if isinstance(value, (list, tuple)):
        return [_told(tf, part) for part in value]
    return value


def _each(tf, functions, spec, inputs):
    """What each function gives of the inputs, and how often its Python ran."""
    return {name: _one(tf, body, spec, inputs) for name, body in functions.items()}


def _one(tf, body, spec, inputs):
    runs = []

    def traced(x):
        runs.append(None)
        return body(x)

    call = tf.function(traced, input_signature=[spec], autograph=False)
    return [_told(tf, call(x)) for x in inputs], len(runs)


def case_rows_of_words(tf):
    split, fill = tf.strings.split, tf.fill
    lengths = lambda s: tf.cast(tf.strings.length(split(s)), tf.float32)
    ends = lambda s, text: fill([tf.shape(s)[0], 1], text)
    functions = {
        "sums": lambda s: tf.reduce_sum(tf.strings.length(split(s)), 1),
        "means": lambda s: tf.reduce_mean(lengths(s), -1),
        "extremes": lambda s: (tf.reduce_max(lengths(s), 1), tf.reduce_min(lengths(s), 1)),
        "softmax": lambda s: tf.nn.softmax(lengths(s)),
        "joined": lambda s: tf.strings.reduce_join(split(s), axis=-1, separator="-"),
        "cut": lambda s: split(s)[:, :2],
        "last": lambda s: split(s)[:, -1:],
        "turned": lambda s: (split(s)[:, ::-1], split(s)[:, -2::-2]),
        "framed": lambda s: tf.concat([ends(s, "<"), split(s)[:, :2], ends(s, ">")], 1),
        "twice": lambda s: tf.concat([split(s), tf.strings.upper(split(s))], axis=1),
        "stacked": lambda s: tf.concat([split(s), ends(s, "<"), split(s)], 0),
        "pairs": lambda s: tf.strings.ngrams(split(s), 2),
        "of_one": lambda s: tf.strings.ngrams(tf.concat([s[:1]] * 3, 0), 2),
    }
    inputs = [tf.constant(["a bcd e", "", "fg h"]), tf.constant(["x y z u"])]
    return _each(tf, functions, tf.TensorSpec([None], tf.string), inputs)


def case_rows_of_tensors(tf):
    kept = lambda x: tf.RaggedTensor.from_tensor(x, lengths=tf.cast(x[:, 0] + 1.0, tf.int32))
    functions = {
        "masked": lambda x: tf.ragged.boolean_mask(x, x > 0.5),
        "lengths": kept,
        "padding": lambda x: tf.RaggedTensor.from_tensor(x, padding=0.0),
        "whole": lambda x: tf.RaggedTensor.from_tensor(x),
        "inner": lambda x: tf.RaggedTensor.from_tensor(tf.stack([x, x], 2), padding=[0.0, 0.0]),
        "sum": lambda x: tf.reduce_sum(tf.ragged.boolean_mask(x, x > 0.5), 1),
        "gradient": lambda x: tf.gradients(tf.reduce_max(kept(x), 1) ** 2.0, x),
    }
    inputs = [tf.constant([[1.0, 2.0, 0.0], [0.0, 0.25, 3.0]]), tf.constant([[2.0, 0.75, 1.0]])]
    return _each(tf, functions, tf.TensorSpec([None, 3]), inputs)


def case_rows_of_arguments(tf):
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    def gradient(r):
        with tf.GradientTape() as tape:
            mean = tf.reduce_mean(tf.gather(table, r)[:, :2], 1)
            loss = tf.reduce_sum(tf.where(tf.math.is_finite(mean), mean, 0.0) ** 2.0)
        return loss, tf.convert_to_tensor(tape.gradient(loss, table))

    functions = {
        "gradient": gradient,
        "means": lambda r: (tf.reduce_sum(r, 1), tf.reduce_mean(tf.gather(table, r), 1)),
        "inner": lambda r: tf.reduce_sum(tf.gather(table, r), 2),
    }
    inputs = [tf.ragged.constant(rows) for rows in ([[1, 2, 0], [0]], [[2], [1, 1]])]
    return _each(tf, functions, tf.RaggedTensorSpec([None, None], tf.int32), inputs)


def case_slices_of_rows_by_tensors(tf):
    """Bounds that are known only when the function is called."""
    rows = tf.ragged.constant([[1, 2, 3], [4], [5, 6]])
    slices = {
        "stop": lambda n: rows[:, :n],
        "start": lambda n: rows[:, n:],
        "last": lambda n: rows[:, -n:],
        "step": lambda n: rows[:, ::n],
        "rows": lambda n: rows[n - 1 :],
    }
    return {
        name: [tf.function(cut, autograph=False)(tf.constant(n)).to_list() for n in (1, 2)]
        for name, cut in slices.items()
    }


def case_partitions_of_tensors(tf):
    """Rows by numbers that are arguments; those that do not fit make the call fail."""
    values = tf.range(4.0)

    def of(make):
        def parts(x):
            rows = make(values, x)
            firsts = rows[0], rows[-1], rows[0 * x[0] + 1]
            places = rows.value_rowids(), rows.row_splits, rows.nrows()
            return rows, firsts, places, tf.reduce_sum(rows, 1), rows.to_tensor()

        return parts

    rows = tf.RaggedTensor
    partition = tf.experimental.RowPartition.from_row_lengths
    functions = {
        "lengths": (of(rows.from_row_lengths), ([1, 3], [2, 0, 2])),
        "limits": (of(rows.from_row_limits), ([1, 4], [2, 2, 4])),
        "starts": (of(rows.from_row_starts), ([0, 1], [0, 2, 2])),
        "rows": (of(rows.from_value_rowids), ([0, 0, 1, 1], [0, 2, 2, 2])),
        "slices": (lambda x: rows.from_row_lengths(values, x)[-1:], ([1, 3], [2, 0, 2])),
        "offsets": (lambda x: partition(x).offsets_in_rows(), ([1, 3], [2, 0, 2])),
    }
    wrong = {
        "lengths": (rows.from_row_lengths, [5, -1]),
        "too few": (rows.from_row_lengths, [1, 2]),
        "limits": (rows.from_row_limits, [3, 1, 4]),
        "starts": (rows.from_row_starts, [1, 2]),
        "rows": (rows.from_value_rowids, [0, 2, 1, 1]),
    }
    spec = tf.TensorSpec([None], tf.int32)

    def refused(make, given):
        try:
            tf.function(lambda x: make(values, x), input_signature=[spec], autograph=False)(given)
        except tf.errors.InvalidArgumentError:
            return True
        return False

    given = {name: _one(tf, call, spec, inputs) for name, (call, inputs) in functions.items()}
    return given, {name: refused(*each) for name, each in wrong.items()}


def case_map_fn_over_rows(tf):
    ragged = tf.RaggedTensorSpec([None], tf.float32)

    def gradient(r):
        with tf.GradientTape() as tape:
            tape.watch(r.flat_values)
            squares = tf.map_fn(lambda x: tf.reduce_sum(x * x), r, fn_output_signature=tf.float32)
            loss = tf.reduce_sum(squares**2.0)
        return loss, tape.gradient(loss, r.flat_values)

    two = tf.float32, ragged
    functions = {
        "same": lambda r: tf.map_fn(lambda x: x + 1.0, r),
        "sums": lambda r: tf.map_fn(tf.reduce_sum, r, fn_output_signature=tf.float32),
        "twice": lambda r: tf.map_fn(lambda x: tf.concat([x, x], 0), r, fn_output_signature=ragged),
        "two": lambda r: tf.map_fn(
            lambda x: (tf.reduce_sum(x), tf.sort(x)[:1]), r, fn_output_signature=two
        ),
        "with lengths": lambda r: tf.map_fn(
            lambda x: x[0] * x[1],
            (r, tf.cast(r.row_lengths(), tf.float32)),
            fn_output_signature=ragged,
        ),
        "gradient": gradient,
    }
    rows = [[1.0, 2.0], [3.0]], [[1.0]], [[4.0, 1.0], [], [2.0], [3.0, 5.0, 6.0]]
    inputs = [tf.ragged.constant(each) for each in rows]
    found = _each(tf, functions, tf.RaggedTensorSpec([None, None], tf.float32), inputs)
    counts = lambda n: tf.map_fn(
        tf.range, n, fn_output_signature=tf.RaggedTensorSpec([None], "int32")
    )
    found["counts"] = _one(tf, counts, tf.TensorSpec([None], tf.int32), [[2, 0, 1], [3]])
    return found
