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


def _gradient_of_an_earlier_read(inner, outer):
    """`inner` reads a variable and gives a tape and a target, `outer` uses the gradient."""

    def case(tf):
        x = tf.Variable(2.0)
        a, y = inner(tf, x)
        with tf.GradientTape(persistent=True) as b:
            z = outer(tf, a, y, x, b)
        return z, b.gradient(z, x), b.jacobian(z, x)

    return case


def _before(tf, x):
    with tf.GradientTape(persistent=True) as a:
        y = x * x * x
    return a, y


def _assigned_between(tf, x):
    with tf.GradientTape(persistent=True) as a:
        y = x * x
        x.assign(5.0)
        y = y * x
    return a, y


def _watched(tf, a, y, x, b):
    b.watch(x)
    return a.gradient(y, x) * x


def _read(tf, a, y, x, b):
    w = x * 1.0
    return a.gradient(y, x) * w


def _of_a_mixture(tf, a, y, x, b):
    with a:
        y = y * x
    return a.gradient(y, x) * x


def _with_output_gradients(tf, a, y, x, b):
    w = x * 1.0
    return a.gradient(y, x, output_gradients=w) * x


def _jacobian(tf, a, y, x, b):
    w = x * 1.0
    return a.jacobian(y, x) * w


def _second(tf, a, y, x, b):
    w = x * 1.0
    with a:
        g = a.gradient(y, x)
    return a.gradient(g, x) * w


def _while_stopped(tf, a, y, x, b):
    w = x * 5.0
    with b.stop_recording(), tf.GradientTape(persistent=True) as c:
        u = x * x * x
    return c.gradient(u, x) * w


def _two_outer(tf, a, y, x, b):
    with tf.GradientTape(persistent=True) as c:
        u = x * x * x
        with tf.GradientTape() as d:
            v = c.gradient(u, x) * x
    return d.gradient(v, x) * x + v


def _inside_each_other(tf, a, y, x, b):
    with tf.GradientTape(persistent=True) as c:
        u = x * x * x
        with tf.GradientTape() as d:
            w = x * 1.0
            g = c.gradient(u, x)
            v = g * w
    return d.gradient(v, x) + c.gradient(g, x)


CASES = {
    f"earlier read {inner.__name__} {outer.__name__}": _gradient_of_an_earlier_read(inner, outer)
    for inner in (_before, _assigned_between)
    for outer in (
        *(_watched, _read, _of_a_mixture, _with_output_gradients, _jacobian, _second),
        *(_while_stopped, _two_outer, _inside_each_other),
    )
}


def case_earlier_read_in_forward_mode(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as a:
        y = x * x * x
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
        z = a.gradient(y, x) * x
        with tf.GradientTape() as b:
            u = x * x * x
        w = b.gradient(u, x)
    return acc.jvp([z, w])


def case_earlier_read_of_a_mixed_op(tf):
    x, c = tf.Variable(2.0), tf.constant(3.0)
    with tf.GradientTape(persistent=True, watch_accessed_variables=False) as b:
        b.watch(c)
        with tf.GradientTape(persistent=True) as a:
            y = c * x * x
        b.watch(x)
        z = a.gradient(y, x) * x
    return b.gradient(z, [x, c])


def case_earlier_read_batch_jacobian(tf):
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as a:
        y = x * x * x
    with tf.GradientTape() as b:
        w = x * 1.0
        z = tf.reduce_sum(a.batch_jacobian(y, x)) * w
    return b.gradient(z, x)


def case_earlier_read_repeated(tf):
    x = tf.Variable(2.0)
    answers = []
    for _ in range(4):
        with tf.GradientTape() as a:
            y = x * x * x
        with tf.GradientTape() as b:
            w = x * 1.0
            z = a.gradient(y, x) * w
        answers.append(b.gradient(z, x))
    return answers
