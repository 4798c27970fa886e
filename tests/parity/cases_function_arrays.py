"""TensorArrays as arguments of functions, and their specs."""

import numpy as np

from .harness import attempt, attempts

NEEDS = ("function", "TensorArraySpec")


def _array(tf, rows=3):
    return tf.TensorArray(tf.float32, rows, element_shape=[2]).unstack(tf.ones([rows, 2]))


def case_specs(tf):
    spec = tf.TensorArraySpec
    one = spec([2], tf.float32)
    others = [spec([None]), spec([3]), spec([2], tf.int32), spec([2], dynamic_size=True), spec()]
    return (
        [repr(s) for s in (one, *others)],
        [one == s for s in (spec([2]), *others)],
        [one.is_compatible_with(s) for s in (*others, _array(tf), 3)],
        [one.is_subtype_of(s) for s in others],
        [repr(one.most_specific_common_supertype([s])) for s in others],
        repr(one.most_specific_compatible_type(others[0])),
        repr(spec.from_value(_array(tf))),
        repr(tf.type_spec_from_value(_array(tf))),
        spec().value_type.__name__,
        isinstance(one, tf.TypeSpec),
        attempt(lambda: spec.from_value(3), words=0),
        attempt(lambda: spec([2], "nonsense"), words=0),
        attempt(lambda: one.most_specific_compatible_type(others[1:3][1]), words=0),
    )


def case_arguments(tf):
    @tf.function
    def total(array):
        return tf.reduce_sum(array.stack() ** 2), array.size(), array.read(1)

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        array = tf.TensorArray(tf.float32, 2, clear_after_read=False).unstack(x)
        y = total(array)[0]
    return total(_array(tf)), total(_array(tf, 2)), y, tape.gradient(y, x), array.stack()


def case_in_structures(tf):
    @tf.function
    def f(parts, n):
        return n + 1, parts["a"].read(1), parts["a"].size()

    return f({"a": _array(tf)}, tf.constant(2))


def case_grows_by_a_copy(tf):
    @tf.function
    def f(array):
        return array.write(5, [1.0, 1.0]).stack()

    return f(tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[2]))


def case_elements_of_unknown_sizes(tf):
    @tf.function(input_signature=[tf.TensorSpec([3, None, 2])])
    def f(x):
        array = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x)
        sums = tf.TensorArray(tf.float32, 3).write(0, x[0])
        total = x[0]
        for i in tf.range(1, 3):
            total = total + array.read(i)
            sums = sums.write(i, total)
        again = tf.TensorArray(tf.float32, 4).write(0, total).write(1, total + 1.0)
        again = again.scatter([2, 3], x[:2])
        parts = tf.TensorArray(tf.float32, 3).split(tf.transpose(x, [0, 2, 1])[:, 0], [1, 1, 1])
        return sums.stack(), again.stack(), parts.read(1)

    before = f.experimental_get_tracing_count()
    found = [f(tf.reshape(tf.range(6.0 * n), [3, n, 2])) for n in (1, 2, 4)]
    found.append(f.get_concrete_function()(tf.ones([3, 2, 2])))
    return found, before, f.experimental_get_tracing_count()


def _rollout(tf, weights, runs):
    @tf.function
    def rollout(x, limit):
        runs.append(1)
        states = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        squares = tf.TensorArray(tf.int32, 0, dynamic_size=True)
        for step in tf.range(8):
            x = tf.linalg.matvec(weights, x)
            states, squares = states.write(step, x), squares.write(step, step * step)
            if tf.norm(x) < limit:
                break
        return states.stack(), squares.stack(), states.size()

    return rollout


def case_grows_until_a_loop_breaks(tf):
    weights, runs = tf.Variable([[0.5, 0.2], [-0.3, 0.9]]), []
    rollout, x = _rollout(tf, weights, runs), tf.constant([1.0, 2.0])
    found = [rollout(x, tf.constant(limit)) for limit in (0.5, 1.0, 0.0, 5.0, 0.9)]
    return found, len(runs)


def case_gradients_of_what_grows_until_a_loop_breaks(tf):
    weights = tf.Variable([[0.5, 0.2], [-0.3, 0.9]])
    rollout, x = _rollout(tf, weights, []), tf.constant([1.0, 2.0])

    def gradient(limit):
        with tf.GradientTape() as tape:
            states, _, count = rollout(x, limit)
            loss = tf.reduce_sum(states**2) / tf.cast(count, tf.float32)
        return loss, tape.gradient(loss, weights)

    limits = [tf.constant(limit) for limit in (0.5, 1.0, 0.0, 5.0)]
    recorded = tf.function(gradient)
    return [gradient(limit) for limit in limits], [recorded(limit) for limit in limits]


def case_grows_below_what_was_there_until_a_loop_breaks(tf):
    def run(x, limit, first, write_late):
        array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        if first:
            array = array.write(0, x)
        for step in tf.range(6):
            x = x * 0.7
            if write_late and tf.norm(x) < limit:
                break
            array = array.write(step + first, x)
            if tf.norm(x) < limit:
                break
        return array.stack()

    x, recorded = tf.constant([1.0, 2.0]), tf.function(run)
    options = [(0, False), (1, False), (0, True)]
    return [recorded(x, tf.constant(limit), *more) for more in options for limit in (1.0, 0.6)]


def case_array_wrong_rows_in_a_function(tf):
    def array(size=3):
        return tf.TensorArray(tf.float32, size, infer_shape=False)

    calls = [
        lambda: array(1).split(1.0, [1]).stack(),
        lambda: array().split([1.0, 2.0, 3.0], [1]).stack(),
        lambda: array().split([1.0, 2.0, 3.0], 1).stack(),
        lambda: array(2).unstack(1.0).stack(),
        lambda: array().scatter([0, 1], [1.0]).stack(),
        lambda: array().scatter([0], 1.0).stack(),
        lambda: array().unstack([1.0, 2.0, 3.0]).gather([5]),
        lambda: array().unstack([1.0, 2.0, 3.0]).gather([-1]),
        lambda: array().unstack([1.0, 2.0, 3.0]).gather([2, 0]),
        lambda: array().scatter([2, 0], [1.0, 2.0]).stack(),
    ]
    kinds = (ValueError, tf.errors.InvalidArgumentError)

    def given(call):
        try:
            return tf.function(call, autograph=False)()
        except kinds:
            return "refused"

    return [given(call) for call in calls]


def case_arrays_of_nothing_in_a_function(tf):
    def joined(shape, size=0):
        return lambda tf: tf.function(
            lambda: tf.TensorArray(tf.float32, size, element_shape=shape).concat()
        )()

    def stacked(shape):
        return lambda tf: tf.function(
            lambda: tf.TensorArray(tf.float32, 0, element_shape=shape).stack()
        )()

    shapes = {"unknown": None, "rows": [None, 2], "known": [3, 2], "columns": [2, None]}
    return (
        attempts(tf, {name: joined(shape) for name, shape in shapes.items()}),
        attempts(tf, {name: stacked(shape) for name, shape in shapes.items()}),
        attempt(joined([3, 2], size=2), tf),
    )


def case_elements_of_several_shapes_in_a_function(tf):
    x = tf.reshape(tf.range(12.0), [3, 4])

    def total(n, infer_shape):
        rows = tf.TensorArray(tf.float32, size=np.array(3)).unstack(x)
        parts = tf.TensorArray(tf.float32, size=0, dynamic_size=True, infer_shape=infer_shape)
        for i in tf.range(n):
            parts = parts.write(i, rows.read(i)[: i + 1])
        longer = parts.write(n, x[0])
        return parts.concat(), longer.concat(), parts.read(1), parts.size(), rows.gather([2, 0])

    def unwritten(n, infer_shape):
        array = tf.TensorArray(tf.float32, size=3, infer_shape=infer_shape, element_shape=[None])
        return array.write(0, x[0][:n]).write(n, x[1][:n]).stack()

    calls = {"total": tf.function(total), "without elements": tf.function(unwritten)}
    return attempts(
        tf,
        {
            f"{name}, {infer_shape}": lambda tf, call=call, infer=infer_shape: call(
                tf.constant(2), infer
            )
            for name, call in calls.items()
            for infer_shape in (True, False)
        },
    )


def case_sizes_that_arguments_tell(tf):
    traces = []

    def powers(x, n):
        traces.append(1)
        array = tf.TensorArray(tf.float32, n)
        for i in tf.range(n):
            row = tf.TensorArray(tf.float32, i + 1)
            for j in tf.range(i + 1):
                row = row.write(j, x ** tf.cast(j, tf.float32))
            array = array.write(i, tf.reduce_sum(row.stack()))
        return array.stack(), array.size()

    signature = [tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.int32)]
    f = tf.function(powers, input_signature=signature)
    found = []
    for n in (3, 1, 4):
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            sums, size = f(x, n)
        found.append((sums, size, tape.gradient(sums, x)))
    return found, len(traces)
