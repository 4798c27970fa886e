"""`watch` after a tensor has been used: which uses reach the gradient."""


def _values(tf):
    return tf.Variable(2.0), tf.Variable(3.0), tf.constant(5.0)


def case_watch_between_uses(tf):
    """The earlier use counts: the product was recorded for the variable's sake."""
    w, _, c = _values(tf)
    with tf.GradientTape() as tape:
        y = w * c
        tape.watch(c)
        z = y * c
    return tape.gradient(z, [w, c])


def case_watch_after_all_uses(tf):
    w, _, c = _values(tf)
    with tf.GradientTape() as tape:
        z = w * c * c
        tape.watch(c)
    return tape.gradient(z, [w, c])


def case_watch_after_the_only_use(tf):
    w, v, c = _values(tf)
    with tf.GradientTape() as tape:
        y = w * c
        tape.watch(c)
        z = y * v
    return tape.gradient(z, [w, v, c])


def case_watch_after_unrecorded_use(tf):
    """Nothing watched went into the square, so no tape knows it."""
    w, _, c = _values(tf)
    with tf.GradientTape() as tape:
        square = c * c
        tape.watch(c)
        z = square * c * w
    return tape.gradient(z, [w, c, square])


def case_watch_result_of_unrecorded_op(tf):
    w, _, c = _values(tf)
    with tf.GradientTape() as tape:
        square = c * c
        y = w * square
        tape.watch([c, square])
        z = y * square * c
    return tape.gradient(z, [w, square, c])


def case_watch_intermediate_later(tf):
    w, _, c = _values(tf)
    with tf.GradientTape() as tape:
        double = c * 2.0
        y = double * w
        tape.watch(double)
        z = y * double + double
    return tape.gradient(z, [double, w])


def case_watch_between_gradients(tf):
    w, _, c = _values(tf)
    with tf.GradientTape(persistent=True) as tape:
        y = w * c
    before = tape.gradient(y, [w, c])
    with tape:
        tape.watch(c)
        z = y * c
    return before, tape.gradient(z, [w, c]), tape.gradient(y, c)


def case_watch_early_or_late_by_turns(tf):
    """The same ops, watched at another moment each time."""
    found = []
    for early in (True, False, True, False):
        w, _, c = _values(tf)
        with tf.GradientTape() as tape:
            if early:
                tape.watch(c)
            y = tf.stack([w * c, c])
            tape.watch(c)
            z = tf.reduce_sum(tf.stack([y[0] * c, y[1]]))
        found.append(tape.gradient(z, [w, c]))
    return found


def case_watch_twice(tf):
    w, _, c = _values(tf)
    with tf.GradientTape() as tape:
        y = w * c
        tape.watch(c)
        y = y * c
        tape.watch(c)
        z = y * c
    return tape.gradient(z, [w, c])


def case_watch_after_stop_recording(tf):
    w, _, c = _values(tf)
    with tf.GradientTape() as tape:
        with tape.stop_recording():
            y = w * c
        tape.watch(c)
        z = y * c * w
    return tape.gradient(z, [w, c])


def case_watch_between_uses_jacobian(tf):
    w, _, c = _values(tf)
    with tf.GradientTape(persistent=True) as tape:
        y = w * c
        tape.watch(c)
        z = tf.stack([y * c, y])
    return tape.jacobian(z, w), tape.jacobian(z, c), tape.jacobian(y, c)


def case_watch_variable_between_uses(tf):
    """Unlike a tensor's, a variable's earlier uses do not count: each read is another tensor."""
    w, v, _ = _values(tf)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(v)
        y = w * v
        tape.watch(w)
        z = y * w
    return tape.gradient(z, [w, v])


def case_watch_untrainable_variable_between_uses(tf):
    w, v = tf.Variable(2.0, trainable=False), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = w * v
        tape.watch(w)
        z = y * w
    return tape.gradient(z, [w, v])


def case_watch_between_uses_of_a_gradient(tf):
    w, _, c = _values(tf)
    with tf.GradientTape() as outer:
        y = w * c
        with tf.GradientTape() as inner:
            inner.watch(c)
            z = y * c * c
        g = inner.gradient(z, c)
        outer.watch(c)
        target = g * c
    return outer.gradient(target, [w, c])


def case_watch_while_stopped(tf):
    """No tape is recording: it is not watched."""
    w, _, c = _values(tf)
    fixed = tf.Variable(7.0, trainable=False)
    with tf.GradientTape() as tape:
        with tape.stop_recording():
            tape.watch([c, fixed])
        z = w * c * fixed
    return tape.gradient(z, [w, c, fixed]), len(tape.watched_variables())


def case_watch_while_stopped_within_another_tape(tf):
    w, _, c = _values(tf)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            with tape.stop_recording():
                tape.watch(c)
            z = w * c
        g = tape.gradient(z, [w, c])
    return g, outer.gradient(z, [w, c])


def case_watch_while_stopped_within_an_accumulator(tf):
    w, _, c = _values(tf)
    with tf.autodiff.ForwardAccumulator(w, tf.constant(1.0)):
        with tf.GradientTape() as tape:
            with tape.stop_recording():
                tape.watch(c)
            z = w * c
        return tape.gradient(z, [w, c])


def case_watch_after_the_block(tf):
    w, _, c = _values(tf)
    with tf.GradientTape(persistent=True) as tape:
        z = w * c
    tape.watch(c)
    with tape:
        z = z * c
    return tape.gradient(z, [w, c])
