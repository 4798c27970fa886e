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
