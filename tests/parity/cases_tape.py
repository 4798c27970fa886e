"""GradientTape: every documented behaviour, and the edges of each."""

import numpy as np

from .harness import attempt, attempts, messages, options

# --- the first page of every tutorial


def case_two_weights(tf):
    w1, w2 = tf.Variable(5.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        z = 3 * w1**2 + 2 * w1 * w2
    return z, tape.gradient(z, [w1, w2])


def case_constant_gives_none(tf):
    c1, c2 = tf.constant(5.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        z = 3 * c1**2 + 2 * c1 * c2
    return tape.gradient(z, [c1, c2])


def case_watched_constant(tf):
    c1, c2 = tf.constant(5.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(c1)
        tape.watch(c2)
        z = 3 * c1**2 + 2 * c1 * c2
    return tape.gradient(z, [c1, c2])


def case_watch_only_one(tf):
    c1, c2 = tf.constant(5.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(c2)
        z = c1 * c2
    return tape.gradient(z, [c1, c2])


def case_watch_after_op(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.watch(x)
        z = y * x
    return tape.gradient(z, x)


def case_watch_intermediate(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.watch(y)
        z = y * y
    return tape.gradient(z, [x, y])


def case_watch_twice(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        tape.watch(x)
        y = x * x
    return tape.gradient(y, x)


def case_vector_target_sums(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * tf.constant([3.0, 4.0])
    return tape.gradient(y, x)


def case_two_branches(tf):
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(x * x) + tf.reduce_sum(x) * 2.0
    return tape.gradient(y, x)


def case_control_flow(tf):
    v0, v1, x = tf.Variable(2.0), tf.Variable(2.0), tf.constant(1.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        result = v0 if x > 0.0 else v1**2
    return tape.gradient(result, [v0, v1]), tape.gradient(result, x)


def case_variable_itself_as_target(tf):
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        pass
    return attempt(lambda: tape.gradient(v, v))


def case_variable_target_inside(tf):
    v = tf.Variable([2.0, 3.0])
    with tf.GradientTape() as tape:
        y = v + 0.0
    return tape.gradient([v, y], v)


# --- persistence, release, use without context


def case_second_gradient_raises(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x), attempt(lambda: tape.gradient(y, x), words=15)


def case_jacobian_after_gradient_raises(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x), attempt(lambda: tape.jacobian(y, x), words=15)


def case_batch_jacobian_after_gradient_raises(tf):
    x = tf.constant([[3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.gradient(y, x), attempt(lambda: tape.batch_jacobian(y, x), words=7)


def case_persistent_twice(tf):
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    return tape.gradient(z, x), tape.gradient(y, x), tape.gradient(z, y), tape.gradient(z, x)


def case_persistent_deleted(tf):
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    grads = [tape.gradient(y, x) for _ in range(3)]
    del tape
    return grads


def case_never_entered(tf):
    x = tf.Variable(3.0)
    return attempts(
        tf,
        {
            "gradient": lambda tf: tf.GradientTape().gradient(x * x, x),
            "persistent": lambda tf: tf.GradientTape(persistent=True).gradient(x * x, x),
            "jacobian": lambda tf: tf.GradientTape().jacobian(x * x, x),
            "watched": lambda tf: tf.GradientTape().watched_variables(),
        },
    )


@options(words=0)
def case_never_entered_attributes(tf):
    return attempts(
        tf,
        {
            "watch": lambda tf: tf.GradientTape().watch(tf.constant(1.0)),
            "reset": lambda tf: tf.GradientTape().reset(),
        },
    )


def case_never_entered_stop_recording(tf):
    tape = tf.GradientTape()

    def stop():
        with tape.stop_recording():
            return 1

    return attempt(stop)


def case_empty_tape(tf):
    x = tf.Variable(3.0)
    y = x * x
    with tf.GradientTape() as tape:
        pass
    return tape.gradient(y, x), tape.watched_variables()


def case_reentry_while_active(tf):
    tape = tf.GradientTape()

    def enter_twice():
        with tape, tape:
            return 1

    return attempt(enter_twice, words=14)


def case_enter_again_after_exit(tf):
    x = tf.Variable(3.0)
    tape = tf.GradientTape()
    with tape:
        y = x * x
    with tape:
        z = y * x
    return tape.gradient(z, x)


def case_enter_again_persistent(tf):
    x = tf.Variable(3.0)
    tape = tf.GradientTape(persistent=True)
    with tape:
        y = x * x
    with tape:
        z = y * x
    return tape.gradient(z, x), tape.gradient(y, x)


def case_enter_again_after_gradient(tf):
    x = tf.Variable(3.0)
    tape = tf.GradientTape()
    with tape:
        y = x * x
    first = tape.gradient(y, x)
    with tape:
        z = x * 2.0
    return first, attempt(lambda: tape.gradient(z, x))


def case_exit_without_enter(tf):
    tape = tf.GradientTape()
    return attempt(lambda: tape.__exit__(None, None, None))


def case_enter_returns_tape(tf):
    tape = tf.GradientTape()
    with tape as inner:
        return inner is tape


def case_recording_outside_context(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
    z = y * x
    return tape.gradient(y, x), tape.gradient(z, x), tape.gradient(z, y)


def case_constructor_keywords(tf):
    tape = tf.GradientTape(True, False)
    x = tf.Variable(2.0)
    with tape:
        y = x * x
    bad = attempt(lambda: tf.GradientTape(persistant=True), words=0)
    return tape.gradient(y, x), tape.gradient(y, x), bad


# --- inside its own context


def case_gradient_inside_context(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        g = tape.gradient(y, x)
        z = x * x * x
    return g, attempt(lambda: tape.gradient(z, x))


def case_persistent_gradient_inside_context(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x * x
        g = tape.gradient(y, x)
    return g, tape.gradient(g, x)


def case_persistent_inside_warns(tf):
    x = tf.Variable(3.0)
    with messages() as seen, tf.GradientTape(persistent=True) as tape:
        y = x * x * x
        g = tape.gradient(y, x)
        h = tape.gradient(g, x)
    return seen, g, h, tape.gradient(h, x)


def case_nonpersistent_inside_does_not_warn(tf):
    x = tf.Variable(3.0)
    with messages() as seen, tf.GradientTape() as tape:
        g = tape.gradient(x * x, x)
    return seen, g


def case_jacobian_inside_context(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
        j = tape.jacobian(y, x)
    return j


def case_value_read_inside(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        seen = float(y)
        z = y * seen
    return seen, tape.gradient(z, x)


def case_numpy_inside_cuts(tf):
    x = tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        y = x * x
        z = tf.reduce_sum(y.numpy() * 2.0)
    return z, tape.gradient(z, x)


def case_assign_inside(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        x.assign(10.0)
        z = y + x * 2.0
    return z, tape.gradient(z, x)


def case_assigned_between_reads(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x
        x.assign_add(1.0)
        z = y * x
    return z, tape.gradient(z, x)


def case_assign_from_tracked(tf):
    x, w = tf.Variable(2.0), tf.Variable(1.0)
    with tf.GradientTape() as tape:
        w.assign(x * 3.0)
        y = w * w
    return y, tape.gradient(y, [x, w])


def case_assign_result_used(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x.assign_add(1.0) * 3.0
    return y, tape.gradient(y, x)


def case_assign_after_tape(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x * x
    x.assign(100.0)
    return tape.gradient(y, x), x


def case_read_value(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x.read_value() * x.value()
    return tape.gradient(y, x)


def case_read_before_tape(tf):
    x = tf.Variable(2.0)
    before = x.read_value()
    with tf.GradientTape() as tape:
        y = before * before
    return tape.gradient(y, x)


def case_converted_inside(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.convert_to_tensor(x) * tf.identity(x)
    return tape.gradient(y, x)


# --- exceptions inside


def case_exception_inside(tf):
    x = tf.Variable(3.0)
    try:
        with tf.GradientTape() as tape:
            y = x * x
            raise KeyError("stop")
    except KeyError:
        pass
    return tape.gradient(y, x)


def case_shape_error_inside(tf):
    x = tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        y = x * x
        bad = attempt(lambda: x + tf.constant([1.0, 2.0, 3.0]))
        z = tf.reduce_sum(y)
    return bad, tape.gradient(z, x)


def case_error_leaves_tape_usable(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
    bad = attempt(lambda: tape.gradient(y, x, unconnected_gradients="nonsense"))
    return bad, tape.gradient(y, x)


def case_failed_gradient_spends_tape(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    bad = attempt(lambda: tape.gradient(y, x, unconnected_gradients="nonsense"), words=1)
    return bad, attempt(lambda: tape.gradient(y, x))


def case_failed_python_source_spends_tape(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    bad = attempt(lambda: tape.gradient(y, 3.0), words=0)
    return bad, attempt(lambda: tape.gradient(y, x))


# --- watch


def case_watch_nest(tf):
    a, b, c = tf.constant(1.0), tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch({"a": a, "bc": [b, (c,)]})
        y = a * b * c
    return tape.gradient(y, {"c": c, "ab": (a, [b])})


def case_watch_variable(tf):
    v = tf.Variable(2.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(v)
        y = v * v
    return tape.gradient(y, v), [w is v for w in tape.watched_variables()]


def case_watch_untrainable_variable(tf):
    v = tf.Variable(2.0, trainable=False)
    with tf.GradientTape() as tape:
        y = v * v
    with tf.GradientTape() as watching:
        watching.watch(v)
        z = v * v
    return (
        tape.gradient(y, v),
        len(tape.watched_variables()),
        watching.gradient(z, v),
        len(watching.watched_variables()),
    )


def case_watch_int_tensor_warns(tf):
    x = tf.constant(3)
    with messages(words=9) as seen, tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        g = tape.gradient(y, x)
    return seen[:1], g


def case_watch_bool_tensor_warns(tf):
    with messages(words=12) as seen, tf.GradientTape() as tape:
        tape.watch(tf.constant([True]))
    return seen


def case_watch_string_tensor_warns(tf):
    with messages(words=12) as seen, tf.GradientTape() as tape:
        tape.watch(tf.constant("abc"))
    return seen


def case_int_variable_silent(tf):
    v = tf.Variable(3)
    with messages() as seen, tf.GradientTape() as tape:
        y = v * v
    g = tape.gradient(tf.cast(y, tf.float32), v)
    return seen, g, len(tape.watched_variables())


def case_watch_garbage(tf):
    def watch(value):
        def run(tf):
            with tf.GradientTape() as tape:
                return tape.watch(value)

        return run

    return attempts(
        tf,
        {
            "string": watch("abc"),
            "float": watch(3.0),
            "none": watch(None),
            "numpy": watch(np.ones(2)),
            "object": watch(object()),
            "nest of floats": watch([1.0, 2.0]),
            "nest with none": watch([tf.constant(1.0), None]),
            "empty": watch([]),
        },
        words=4,
    )


def case_watch_returns_none(tf):
    with tf.GradientTape() as tape:
        return tape.watch(tf.constant(1.0))


def case_watch_accessed_off(tf):
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(w)
        y = v * w
    return tape.gradient(y, [v, w]), [u is w for u in tape.watched_variables()]


def case_watched_variables_order(tf):
    variables = [tf.Variable(float(i), name=f"v{i}") for i in range(4)]
    with tf.GradientTape() as tape:
        y = variables[2] * variables[0] + variables[3]
    watched = tape.watched_variables()
    grads = tape.gradient(y, variables)
    return type(watched), [w.name for w in watched], grads


def case_watched_variables_inside_and_after(tf):
    v, w = tf.Variable(2.0, name="v"), tf.Variable(3.0, name="w")
    counts = []
    with tf.GradientTape() as tape:
        counts.append(len(tape.watched_variables()))
        y = w * 2.0
        counts.append(len(tape.watched_variables()))
        y = y * v
        counts.append(len(tape.watched_variables()))
    tape.gradient(y, v)
    return counts, [u.name for u in tape.watched_variables()]


def case_watched_variables_excludes_untrainable(tf):
    v = tf.Variable(1.0, trainable=False, name="frozen")
    w = tf.Variable(1.0, name="free")
    with tf.GradientTape() as tape:
        _ = v * w
    return [u.name for u in tape.watched_variables()]


def case_watched_variables_after_reset(tf):
    v, w = tf.Variable(1.0, name="v"), tf.Variable(1.0, name="w")
    with tf.GradientTape() as tape:
        _ = v * 2.0
        tape.reset()
        _ = w * 2.0
    return [u.name for u in tape.watched_variables()]


def case_watched_tensors_do_not_count(tf):
    with tf.GradientTape() as tape:
        tape.watch(tf.constant(1.0))
    return tape.watched_variables()


# --- stop_recording, reset


def case_stop_recording(tf):
    x, y = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        a = x * x
        with tape.stop_recording():
            b = y * y
        z = a + b
    return tape.gradient(z, [x, y])


def case_stop_recording_gradient_inside(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x**3
        with tape.stop_recording():
            g = tape.gradient(y, x)
        h = x * 2.0
    return g, tape.gradient(g, x), tape.gradient(h, x)


def case_stop_recording_keeps_outer_tape(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        with inner.stop_recording():
            y = x * x
        z = y * x
    return inner.gradient(z, x), outer.gradient(z, x)


def case_stop_recording_twice(tf):
    x = tf.Variable(3.0)

    def program():
        with tf.GradientTape() as tape, tape.stop_recording(), tape.stop_recording():
            return x * x

    return attempt(program, words=3)


def case_stop_recording_after_exit(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x

    def stop():
        with tape.stop_recording():
            return tape.gradient(y, x)

    return attempt(stop)


def case_stop_recording_exception(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        try:
            with tape.stop_recording():
                raise KeyError("inside")
        except KeyError:
            pass
        y = x * x
    return tape.gradient(y, x)


def case_stop_recording_other_variable_watch(tf):
    x = tf.Variable(3.0, name="x")
    with tf.GradientTape() as tape:
        with tape.stop_recording():
            _ = x * x
        names = [v.name for v in tape.watched_variables()]
    return names


def case_reset(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        a = x * x
        tape.reset()
        tape.watch(x)
        b = a + x
    return tape.gradient(b, x)


def case_reset_without_watch(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        tape.reset()
        y = x * x
    return tape.gradient(y, x)


def case_reset_persistent(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        tape.reset()
        z = x * 5.0
    return tape.gradient(y, x), tape.gradient(z, x)


def case_reset_after_exit(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    attempted = attempt(tape.reset, words=0)
    return attempted, attempt(lambda: tape.gradient(y, x))


# --- targets and sources


def case_source_structures(tf):
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = a * b
    return {
        "dict": tape.gradient(y, {"x": a, "a": b}),
        "tuple": tape.gradient(y, (a, b)),
        "nested": tape.gradient(y, [a, (b, {"k": a})]),
        "empty": tape.gradient(y, []),
        "empty dict": tape.gradient(y, {}),
        "one": tape.gradient(y, [a]),
    }


def case_dict_sources_sorted(tf):
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = a * a * b
    return tape.gradient(y, {"z": a, "b": b})


def case_named_tuple_sources(tf):
    import collections

    pair = collections.namedtuple("Pair", "left right")
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = a * a * b
    return tape.gradient(y, pair(left=b, right=a))


def case_several_targets(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        y0, y1 = x**2, 1 / x
    return (
        tape.gradient({"y0": y0, "y1": y1}, x),
        tape.gradient([y0, y1], x),
        tape.gradient((y0, [y1, y0]), x),
        tape.gradient([], x),
    )


def case_several_targets_other_shapes(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        a, b = tf.reduce_sum(x), x * x
    return tape.gradient([a, b], x)


def case_repeated_sources(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, [x, x, x])


def case_repeated_targets(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient([y, y], x)


def case_target_is_source(tf):
    x = tf.constant([3.0, 4.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * 2.0
    return tape.gradient(x, x), tape.gradient([x, y], x), tape.gradient(y, [x, y])


def case_unwatched_target_is_source(tf):
    x = tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        pass
    return tape.gradient(x, x)


def case_intermediate_sources(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = y * y + y * x
    return tape.gradient(z, [x, y, z])


def case_source_upstream_of_source(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        a = x * 3.0
        b = a * a
        c = b * x
    return tape.gradient(c, [b, a, x])


def case_source_does_not_lead_to_target(tf):
    x, y = tf.Variable(2.0), tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        z = x * x
        _ = y * y
    return tape.gradient(z, [x, y])


def case_target_before_source(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x
        z = y * y
    return tape.gradient(y, z)


def case_none_target(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        _ = x * x
    return attempt(lambda: tape.gradient(None, x))


def case_none_source(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x
    return attempt(lambda: tape.gradient(y, None), words=4)


def case_python_targets_and_sources(tf):
    x = tf.Variable(2.0)

    def gradient(target, source):
        def run(tf):
            with tf.GradientTape() as tape:
                y = x * x
            return tape.gradient(y if target is None else target, x if source is None else source)

        return run

    return attempts(
        tf,
        {
            "sum of nothing": gradient(0, None),
            "half as target": gradient(1.5, None),
            "half as source": gradient(None, 1.5),
            "float target": gradient(3.0, None),
            "float source": gradient(None, 3.0),
            "int source": gradient(None, 3),
            "string source": gradient(None, "x"),
            "list with float source": gradient(None, [x, 1.0]),
            "list with float target": gradient([1.0], None),
        },
        words=4,
    )


def case_numpy_source(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x
    return attempt(lambda: tape.gradient(y, np.float32(2.0)), words=0)


def case_unrelated_target(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        _ = x * x
    return tape.gradient(tf.constant(5.0), x)


def case_int_target(tf):
    x = tf.Variable(2.0)
    with messages(words=7) as seen, tf.GradientTape() as tape:
        y = tf.cast(x * x, tf.int32)
        g = tape.gradient(y, x)
    return seen, g


def case_int_source(tf):
    x = tf.Variable(2)
    with messages(words=7) as seen:
        with tf.GradientTape() as tape:
            y = tf.cast(x, tf.float32) * 2.0
        g = tape.gradient(y, x)
    return seen, g


def case_int_watched_source_through_cast(tf):
    x = tf.constant(2)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.cast(x, tf.float32) * 2.0
    return tape.gradient(y, x)


def case_string_target(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        _ = x * x
    return tape.gradient(tf.constant("abc"), x)


def case_string_source(tf):
    x = tf.constant("abc")
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.identity(x)
    return tape.gradient(y, x)


def case_bool_path(tf):
    x = tf.Variable([1.0, -1.0])
    with tf.GradientTape() as tape:
        y = tf.cast(x > 0.0, tf.float32)
    return tape.gradient(y, x)


def case_cast_path(tf):
    x = tf.Variable([1.5, -1.5])
    with tf.GradientTape(persistent=True) as tape:
        doubled = tf.cast(x, tf.float64) * 2.0
        half = tf.cast(x, tf.float16) * 2.0
        integer = tf.cast(tf.cast(x, tf.int32), tf.float32)
    return [tape.gradient(y, x) for y in (doubled, half, integer)]


def case_sources_dtype_kept(tf):
    names = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
    variables = [tf.Variable(tf.cast([1.0, 2.0], name)) for name in names]
    with tf.GradientTape(persistent=True) as tape:
        squares = [v * v for v in variables]
    return [tape.gradient(y, v) for y, v in zip(squares, variables, strict=True)]


# --- output_gradients


def _outputs(**given):
    def case(tf):
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape(persistent=True) as tape:
            y, z = x * x, x * 3.0
        return attempts(
            tf, {k: lambda tf, f=f: tape.gradient([y, z], x, f(tf)) for k, f in given.items()}
        )

    return case


CASES = {
    "output_gradients_given": _outputs(
        both=lambda tf: [tf.constant([1.0, 10.0]), tf.constant([5.0, 7.0])],
        none_first=lambda tf: [None, tf.constant([5.0, 7.0])],
        none_last=lambda tf: [tf.constant([1.0, 10.0]), None],
        both_none=lambda tf: [None, None],
        tuple_for_list=lambda tf: (tf.constant([1.0, 10.0]), tf.constant([5.0, 7.0])),
        numpy=lambda tf: [np.float32([1.0, 10.0]), np.float32([2.0, 3.0])],
    ),
}


def case_output_gradients_single(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
    return (
        tape.gradient(y, x, output_gradients=tf.constant([1.0, 10.0])),
        tape.gradient(y, x, output_gradients=[tf.constant([1.0, 10.0])]),
        tape.gradient([y], x, output_gradients=[tf.constant([1.0, 10.0])]),
        tape.gradient(y, x, output_gradients=None),
    )


@options(words=2)
def case_output_gradients_wrong_shape(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
    return attempt(lambda: tape.gradient(y, x, output_gradients=tf.constant([1.0, 1.0, 1.0])))


def case_output_gradients_broadcastable(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
    return attempt(lambda: tape.gradient(y, x, output_gradients=tf.constant(3.0)))


def case_output_gradients_of_another_dtype(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
    given = [
        lambda: tape.gradient(y, x, output_gradients=[1, 2]),
        lambda: tape.gradient(y, x, output_gradients=tf.constant([1.0, 2.0], tf.float64)),
    ]
    return [attempt(call) for call in given], tape.gradient(y, x)


def case_output_gradients_nest(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y, z = x * x, x * 3.0
    seeds = {"b": tf.constant([1.0, 0.0]), "a": tf.constant([0.0, 1.0])}
    return tape.gradient({"b": y, "a": z}, x, output_gradients=seeds)


def case_output_gradients_variable(tf):
    x, seed = tf.Variable([1.0, 2.0]), tf.Variable([2.0, 3.0])
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x, output_gradients=seed)


def case_output_gradients_differentiated(tf):
    x, seed = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    with tf.GradientTape() as outer:
        outer.watch([x, seed])
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        g = inner.gradient(y, x, output_gradients=seed)
    return g, outer.gradient(g, [x, seed])


def case_output_gradients_target_is_source(tf):
    x, seed = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * 2.0
    return tape.gradient([x, y], x, output_gradients=[seed, seed])


# --- unconnected_gradients


def _unconnected(choice):
    def case(tf):
        x, y = tf.Variable([[1.0, 2.0]]), tf.Variable(3.0)
        with tf.GradientTape() as tape:
            z = y * y
        return tape.gradient(z, [x, y], unconnected_gradients=choice(tf))

    return case


CASES |= {
    "unconnected_none": _unconnected(lambda tf: tf.UnconnectedGradients.NONE),
    "unconnected_zero": _unconnected(lambda tf: tf.UnconnectedGradients.ZERO),
    "unconnected_string_none": _unconnected(lambda tf: "none"),
    "unconnected_string_zero": _unconnected(lambda tf: "zero"),
    "unconnected_string_upper": _unconnected(lambda tf: "ZERO"),
    "unconnected_bad": _unconnected(lambda tf: "nonsense"),
    "unconnected_python_none": _unconnected(lambda tf: None),
    "unconnected_number": _unconnected(lambda tf: 0),
}


def case_unconnected_zero_dtypes(tf):
    sources = [tf.Variable(tf.cast([1, 0], n)) for n in ("float64", "float16", "int32", "bool")]
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, sources, unconnected_gradients="zero")


def case_unconnected_zero_unwatched_constant(tf):
    x, c = tf.Variable(2.0), tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, [c, x], unconnected_gradients=tf.UnconnectedGradients.ZERO)


def case_unconnected_enum_members(tf):
    members = tf.UnconnectedGradients
    return [m.name for m in members], [m.value for m in members]


def case_unconnected_zero_no_targets(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        _ = x * x
    return tape.gradient([], x, unconnected_gradients="zero")


def case_unconnected_stop_gradient(tf):
    x, y = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        z = tf.stop_gradient(x * 2.0) * y
    return tape.gradient(z, [x, y]), tape.gradient(z, [x, y], unconnected_gradients="zero")


# --- several tapes


def case_tapes_in_one_with(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as a, tf.GradientTape() as b:
        a.watch(x)
        b.watch(x)
        y = x * x
        z = y * x
    return a.gradient(y, x), b.gradient(z, x)


def case_tapes_watch_different(tf):
    x0, x1 = tf.constant(0.0), tf.constant(0.5)
    with tf.GradientTape() as a, tf.GradientTape() as b:
        a.watch(x0)
        b.watch(x1)
        ys = tf.math.sin(x0) + tf.nn.sigmoid(x1)
    return a.gradient(ys, [x0, x1]), b.gradient(ys, [x0, x1])


def case_tapes_crossing(tf):
    x = tf.Variable(3.0)
    a, b = tf.GradientTape(), tf.GradientTape()
    a.__enter__()
    y = x * x
    b.__enter__()
    z = y * x
    a.__exit__(None, None, None)
    w = z * x
    b.__exit__(None, None, None)
    return a.gradient(z, x), b.gradient(w, x)


def case_tapes_crossing_intermediate(tf):
    x = tf.constant(3.0)
    a, b = tf.GradientTape(persistent=True), tf.GradientTape(persistent=True)
    a.__enter__()
    a.watch(x)
    y = x * x
    b.__enter__()
    b.watch(y)
    z = y * y
    a.__exit__(None, None, None)
    w = z * y
    b.__exit__(None, None, None)
    return a.gradient(z, x), a.gradient(w, x), b.gradient(w, y), b.gradient(w, x)


def case_tapes_sequential(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as a:
        y = x * x
    with tf.GradientTape() as b:
        z = y * x
    return a.gradient(y, x), b.gradient(z, x), b.watched_variables()[0] is x


def case_tapes_inner_does_not_see_outer_ops(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as outer:
        y = x * x
        with tf.GradientTape() as inner:
            z = y * 2.0
        g = inner.gradient(z, x)
    return g, outer.gradient(z, x)


def case_inner_gradient_outside_outer(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        y = x * x
    g = inner.gradient(y, x)
    return g, outer.gradient(g, x)


def case_two_models_one_step(tf):
    a, b, x = tf.Variable(2.0), tf.Variable(3.0), tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        first = tf.reduce_mean((a * x - 1.0) ** 2)
        second = tf.reduce_mean((b * a * x - 2.0) ** 2)
    return tape.gradient(first, [a, b]), tape.gradient(second, [a, b])


# --- higher orders


def case_third_derivative(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as t3:
        with tf.GradientTape() as t2:
            with tf.GradientTape() as t1:
                y = x**3
            d1 = t1.gradient(y, x)
        d2 = t2.gradient(d1, x)
    return d1, d2, t3.gradient(d2, x)


def case_fourth_derivative(tf):
    x = tf.constant(0.7)
    with tf.GradientTape() as t4:
        t4.watch(x)
        with tf.GradientTape() as t3:
            t3.watch(x)
            with tf.GradientTape() as t2:
                t2.watch(x)
                with tf.GradientTape() as t1:
                    t1.watch(x)
                    y = tf.sin(x) * tf.exp(x)
                d1 = t1.gradient(y, x)
            d2 = t2.gradient(d1, x)
        d3 = t3.gradient(d2, x)
    return y, d1, d2, d3, t4.gradient(d3, x)


def case_fifth_by_loop(tf):
    x = tf.constant(1.3)
    tapes = [tf.GradientTape() for _ in range(5)]
    for tape in tapes:
        tape.__enter__()
        tape.watch(x)
    y = x**6
    found = []
    for tape in reversed(tapes):
        tape.__exit__(None, None, None)
        y = tape.gradient(y, x)
        found.append(y)
    return found


def case_persistent_all_orders(tf):
    x = tf.Variable(1.5)
    with tf.GradientTape(persistent=True) as tape:
        y = x**4
        d1 = tape.gradient(y, x)
        d2 = tape.gradient(d1, x)
        d3 = tape.gradient(d2, x)
    return d1, d2, d3, tape.gradient(d3, x), tape.gradient(d1, x)


def case_gradient_of_gradient_norm(tf):
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    w = tf.Variable([[0.5], [-0.3]])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = tf.reduce_sum(tf.tanh(x @ w))
        g = inner.gradient(loss, x)
        penalty = tf.reduce_sum(tf.sqrt(tf.reduce_sum(g * g, axis=1)))
    return penalty, outer.gradient(penalty, [x, w])


def case_mixed_second_derivatives(tf):
    x, y = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            z = x * x * y + y**3
        dx, dy = inner.gradient(z, [x, y])
    return dx, dy, outer.gradient(dx, [x, y]), outer.gradient(dy, [x, y])


def case_second_of_linear_is_none(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = 3.0 * x
        g = inner.gradient(y, x)
    return g, outer.gradient(g, x)


def case_second_of_sum_is_none(tf):
    x = tf.Variable([2.0, 3.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(x) + 1.0
        g = inner.gradient(y, x)
    return g, outer.gradient(g, x)


def case_second_of_matmul_by_constant_is_none(tf):
    x = tf.Variable([[2.0, 3.0]])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x @ tf.constant([[1.0], [2.0]])
        g = inner.gradient(y, x)
    return g, outer.gradient(g, x)


def case_second_of_reshape_is_none(tf):
    x = tf.Variable([[2.0, 3.0]])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.concat([tf.reshape(x, [2]), tf.transpose(x)[:, 0]], 0)
        g = inner.gradient(y, x)
    return g, outer.gradient(g, x)


def case_second_of_square_is_zero_beyond(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as t3:
        with tf.GradientTape() as t2:
            with tf.GradientTape() as t1:
                y = x * x
            d1 = t1.gradient(y, x)
        d2 = t2.gradient(d1, x)
    return d2, t3.gradient(d2, x)


def case_second_of_exp_of_other(tf):
    x, y = tf.Variable(2.0), tf.Variable(0.5)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            z = x * tf.exp(y)
        g = inner.gradient(z, x)
    return g, outer.gradient(g, [x, y])


def case_learned_update(tf):
    x, rate = tf.Variable(1.0), tf.Variable(0.1)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**3
        g = inner.gradient(y, x)
        moved = x - rate * g
        after = moved**2
    return after, outer.gradient(after, [x, rate])


def case_hessian_vector_product(tf):
    x, v = tf.constant([1.0, 2.0, 3.0]), tf.constant([1.0, 0.5, -1.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_prod(x) + tf.reduce_sum(x**3)
        g = inner.gradient(y, x)
    return outer.gradient(g, x, output_gradients=v)


def case_gradient_of_none_raises(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.constant(1.0)
        g = inner.gradient(y, x)
    return g, attempt(lambda: outer.gradient(g, x), words=3)


# --- what a gradient is made of


def case_gradient_result_types(tf):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * 2.0
    g = tape.gradient(y, v)
    return tf.is_tensor(g), isinstance(g, tf.Tensor), isinstance(g, tf.Variable), g.shape, g.dtype


def case_gradient_through_python_loop(tf):
    x, total = tf.Variable(1.1), 0.0
    with tf.GradientTape() as tape:
        for i in range(1, 6):
            total = total + x**i / float(i)
    return total, tape.gradient(total, x)


def case_gradient_through_iteration(tf):
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        total = 0.0
        for row in tf.convert_to_tensor(x):
            total += tf.reduce_prod(row)
    return total, tape.gradient(total, x)


def case_gradient_through_unpacking(tf):
    x = tf.constant([2.0, 5.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        a, b = x
        y = a * a * b
    return tape.gradient(y, x)


def case_gradient_of_aggregated_losses(tf):
    w = tf.Variable([[0.1, -0.2], [0.3, 0.4]])
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    labels = tf.constant([0, 1, 1])
    with tf.GradientTape() as tape:
        logits = tf.nn.relu(x @ w) @ w
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        loss = tf.reduce_mean(losses) + 0.01 * tf.nn.l2_loss(w)
    return loss, tape.gradient(loss, w)


def case_training_loop(tf):
    x = tf.constant([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.5, 0.2]])
    y = tf.constant([[1.0], [2.0], [3.0], [1.2]])
    w, b = tf.Variable([[0.1], [0.2]]), tf.Variable([0.0])
    losses = []
    for _ in range(10):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(x @ w + b - y))
        dw, db = tape.gradient(loss, [w, b])
        w.assign_sub(0.1 * dw)
        b.assign_sub(0.1 * db)
        losses.append(loss)
    return losses, w, b


def case_clipped_training_step(tf):
    w = tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w**3)
    g = tape.gradient(loss, [w])
    clipped, norm = tf.clip_by_global_norm(g, 1.0)
    w.assign_sub(clipped[0])
    return norm, clipped, w


def case_log_one_plus_exp_overflow(tf):
    x = tf.constant(100.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.math.log(1 + tf.exp(x))
    return y, tape.gradient(y, x)


def case_threads_do_not_share(tf):
    import threading

    x, seen = tf.Variable(3.0), []

    def other():
        seen.append(len(tape.watched_variables()))
        result = x * x
        with tf.GradientTape() as own:
            z = x * 5.0
        seen.append(own.gradient(z, x))
        seen.append(result)

    with tf.GradientTape() as tape:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        y = x * x
    return seen, tape.gradient([seen[2], y], x)


def case_nested_python_functions(tf):
    x = tf.Variable(2.0)

    def program(a):
        return a * x

    with tf.GradientTape() as tape:
        y = program(program(x))
    return y, tape.gradient(y, x)


def case_graph_of_deleted_tensors(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * 3.0
        z = y * y
        del y
    return tape.gradient(z, x)


def case_long_chain(tf):
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x
        for _ in range(200):
            y = y * 1.01
    return y, tape.gradient(y, x)


def case_inplace_operators(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * 1.0
        y += x
        y *= x
        y -= 1.0
        y /= 2.0
        y **= 2
    return y, tape.gradient(y, x)


def case_init_scope_pauses(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as outer, tf.GradientTape() as tape:
        with tf.init_scope():
            y = x * x
        z = y * x
    first = tape.watched_variables() == (x,)
    return y, z, tape.gradient(z, x), outer.gradient(z, x), first


def case_init_scope_reads_are_not_watched(tf):
    x, c = tf.Variable(3.0), tf.constant(2.0)
    with tf.GradientTape() as tape:
        with tf.init_scope():
            tape.watch(c)
            y = x * c
        z = y * c
    return len(tape.watched_variables()), tape.gradient(z, [x, c])


def case_init_scope_creates_variables(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        with tf.init_scope():
            v = tf.Variable(x * 2.0)
        z = v * x
    return tape.gradient(z, [v, x])


def case_init_scope_in_forward_mode(tf):
    x = tf.constant(3.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
        with tf.init_scope():
            y = x * x
        z = y * x
    return acc.jvp([y, z])


def case_init_scope_gradient_inside(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        with tf.init_scope():
            g = tape.gradient(y, x)
    with tf.GradientTape() as after:
        z = x * g
    return g, after.gradient(z, x)


def case_init_scope_stop_and_reset_inside(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        with tf.init_scope():
            with tape.stop_recording():
                a = x * 1.0
            b = x * 2.0
        y = a * x
        z = b * x
    with tf.GradientTape() as again:
        u = x * x
        with tf.init_scope():
            again.reset()
            c = x * 5.0
        w = u * x + c
    return tape.gradient([y, z], x), again.gradient(w, x)


def case_init_scope_after_an_error(tf):
    x = tf.Variable(3.0)

    def fail():
        with tf.init_scope():
            raise KeyError("k")

    with tf.GradientTape() as tape:
        failed = attempt(fail)
        y = x * x
    return failed, tape.gradient(y, x)


def case_init_scope_nested(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        with tf.init_scope():
            with tf.init_scope():
                a = x * x
            b = x * x
        y = (a + b) * x
    return tape.gradient(y, x)


def case_unconnected_texts_and_integers(tf):
    sources = [tf.constant(1), tf.constant(["a", "b"]), tf.constant(True)]
    y = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(y)
        z = y * y
    programs = {
        str(i): lambda tf, s=s: tape.gradient(z, s, unconnected_gradients="zero")
        for i, s in enumerate(sources)
    }
    return attempts(tf, programs), tape.gradient(z, sources)
