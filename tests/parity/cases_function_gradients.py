"""Derivatives through `tf.function`: tapes outside, inside and around, of every order."""

import numpy as np

from .harness import attempt

NEEDS = ("function",)


def gradient(tf, f, *xs, persistent=False):
    """Value and gradients of `f(*xs)`."""
    with tf.GradientTape(persistent=persistent) as tape:
        tape.watch(xs)
        y = f(*xs)
    return y, tape.gradient(y, list(xs))


# --- a tape around the call


def case_outside_constant(tf):
    f = tf.function(lambda x: x * x * x)
    return gradient(tf, f, tf.constant(2.0))


def case_outside_variable(tf):
    v = tf.Variable(3.0)
    f = tf.function(lambda x: v * v * x)
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, [v, x])


def case_outside_captured_tensor(tf):
    k = tf.constant(3.0)
    f = tf.function(lambda x: x * k * k)
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch([x, k])
        y = f(x)
    return tape.gradient(y, [x, k])


def case_watched_variables(tf):
    a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b")
    c = tf.Variable(3.0, trainable=False, name="c")
    f = tf.function(lambda: b * a * c)
    with tf.GradientTape() as tape:
        f()
    return sorted(v.name for v in tape.watched_variables())


def case_variable_not_read(tf):
    a, b = tf.Variable(1.0), tf.Variable(2.0)

    @tf.function
    def f(x):
        b.assign(x)
        return a * x

    with tf.GradientTape() as tape:
        y = f(tf.constant(3.0))
    return tape.gradient(y, [a, b])


def case_several_results(tf):
    f = tf.function(lambda x: (x * x, {"cube": x * x * x}))
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        square, rest = f(x)
        total = square + rest["cube"]
    return [tape.gradient(t, x) for t in (square, rest["cube"], total)]


def case_result_not_used(tf):
    f = tf.function(lambda x, y: (x * y, y * y))
    x, y = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        a, _ = f(x, y)
    return tape.gradient(a, [x, y])


def case_argument_not_used(tf):
    f = tf.function(lambda x, y: x * 2.0)
    return gradient(tf, f, tf.constant(2.0), tf.constant(3.0))


def case_unconnected_as_zero(tf):
    f = tf.function(lambda x, y: x * 2.0)
    x, y = tf.constant(2.0), tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = f(x, y)
    return tape.gradient(z, [x, y], unconnected_gradients=tf.UnconnectedGradients.ZERO)


def case_argument_returned(tf):
    f = tf.function(lambda x: (x, x * 2.0))
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        a, b = f(x)
        y = a * b
    return tape.gradient(y, x)


def case_integer_argument(tf):
    f = tf.function(lambda x, n: x * tf.cast(n, tf.float32))
    return gradient(tf, f, tf.constant(2.0), tf.constant(3))


def case_integer_result(tf):
    f = tf.function(lambda x: (tf.cast(x, tf.int32), x * x))
    x = tf.constant(2.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        n, y = f(x)
    return n, tape.gradient(y, x)


def case_output_gradients(tf):
    f = tf.function(lambda x: x * x)
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x, output_gradients=tf.constant([10.0, 100.0]))


def case_persistent(tf):
    f = tf.function(lambda x: x * x)
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
        z = f(y)
    return tape.gradient(z, x), tape.gradient(y, x), tape.gradient(z, y)


def case_called_twice_under_one_tape(tf):
    f = tf.function(lambda x: x * x)
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x) * f(x + 1.0)
    return tape.gradient(y, x)


def case_called_in_a_python_loop(tf):
    w = tf.Variable(1.5)
    f = tf.function(lambda x: tf.sin(x * w))
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        for _ in range(10):
            x = f(x)
    return x, tape.gradient(x, w)


def case_python_runs_once_under_tapes(tf):
    traces = []

    @tf.function
    def f(x):
        traces.append(1)
        return x * x

    x = tf.constant(2.0)
    f(x)
    gradient(tf, f, x)
    gradient(tf, f, x)
    with tf.GradientTape() as outer:
        outer.watch(x)
        _, (g,) = gradient(tf, f, x)
    return outer.gradient(g, x), len(traces)


def case_stop_gradient_inside(tf):
    f = tf.function(lambda x: x * tf.stop_gradient(x))
    return gradient(tf, f, tf.constant(3.0))


def case_stop_recording_around(tf):
    f = tf.function(lambda x: x * x)
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tape.stop_recording():
            y = f(x)
        z = y * x
    return tape.gradient(z, x)


def case_complex(tf):
    f = tf.function(lambda z: tf.math.real(z * z * tf.math.conj(z)))
    return gradient(tf, f, tf.constant(1.0 + 2.0j))


def case_float64(tf):
    f = tf.function(lambda x: tf.exp(x) / x)
    return gradient(tf, f, tf.constant(0.7, tf.float64))


def case_nested_functions(tf):
    w = tf.Variable(2.0)
    g = tf.function(lambda x: x * w)
    h = tf.function(lambda x: tf.exp(g(x)))
    f = tf.function(lambda x: g(h(x)) + g(x))
    x = tf.constant(0.3)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, [x, w])


def case_methods_of_a_module(tf):
    class Dense(tf.Module):
        def __init__(self, n, m):
            super().__init__()
            self.w = tf.Variable(tf.reshape(tf.range(n * m, dtype=tf.float32), [n, m]) / 10.0)
            self.b = tf.Variable(tf.zeros([m]))

        @tf.function
        def __call__(self, x):
            return tf.tanh(x @ self.w + self.b)

    a, b = Dense(3, 2), Dense(2, 1)
    x = tf.constant([[1.0, 2.0, 3.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(b(a(x)))
    return y, tape.gradient(y, [*a.trainable_variables, *b.trainable_variables])


# --- effects under a tape


def case_assign_under_a_tape(tf):
    v = tf.Variable(2.0)

    @tf.function
    def f(x):
        y = v * x
        v.assign(10.0)
        return y * v

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, v, tape.gradient(y, [x, v])


def case_assigned_value_depends_on_the_source(tf):
    v = tf.Variable(2.0)

    @tf.function
    def f(x):
        v.assign(x * x)
        return v * 3.0

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, x)


def case_variable_changed_before_the_gradient(tf):
    v = tf.Variable(2.0)
    f = tf.function(lambda: v * v)
    with tf.GradientTape() as tape:
        y = f()
    v.assign(100.0)
    return tape.gradient(y, v)


def case_print_runs_once_under_a_tape(tf):
    from .harness import printed

    @tf.function
    def f(x):
        tf.print("x is", x)
        return x * x

    x = tf.constant(2.0)
    with printed() as lines:
        y, g = gradient(tf, f, x)
        float(y), float(g[0])
    return lines


def case_random_is_the_same_forward_and_backward(tf):
    f = tf.function(lambda x: x * tf.random.uniform([5]))
    x = tf.ones([5])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    g = tape.gradient(y, x)
    return bool(tf.reduce_all(tf.abs(g - y) < 1e-6))


# --- a tape inside the function


def case_inside(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x * x
        return tape.gradient(y, x)

    return f(tf.constant(2.0)), f(tf.constant(3.0))


def case_inside_with_variables(tf):
    w = tf.Variable([1.0, 2.0])

    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(w * w * x)
        return y, tape.gradient(y, w), [v is w for v in tape.watched_variables()]

    y, g, same = f(tf.constant(3.0))
    return y, g, [bool(s) for s in same]


def case_inside_none(tf):
    @tf.function
    def f(x, y):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = x * 2.0
        return tape.gradient(z, [x, y])

    return f(tf.constant(2.0), tf.constant(1.0))


def case_inside_persistent(tf):
    @tf.function
    def f(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
            z = y * y
        return tape.gradient(z, x), tape.gradient(y, x)

    return f(tf.constant(3.0))


def case_inside_second_order(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x * x * x
            g = inner.gradient(y, x)
        return g, outer.gradient(g, x)

    return f(tf.constant(2.0))


def case_inside_third_order(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as t3:
            t3.watch(x)
            with tf.GradientTape() as t2:
                t2.watch(x)
                with tf.GradientTape() as t1:
                    t1.watch(x)
                    y = tf.sin(x) * x
                a = t1.gradient(y, x)
            b = t2.gradient(a, x)
        return t3.gradient(b, x)

    return f(tf.constant(0.6))


def case_inside_jacobian(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x + tf.reduce_sum(x)
        return tape.jacobian(y, x)

    return f(tf.constant([1.0, 2.0, 3.0]))


def case_inside_batch_jacobian(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x[:, ::-1] * x
        return tape.batch_jacobian(y, x)

    return f(tf.constant([[1.0, 2.0], [3.0, 4.0]]))


def case_inside_jacobian_row_by_row(tf):
    """In eager code that needs a persistent tape, in a function it does not."""

    def program(name):
        def f(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x[:, ::-1] * x * 3.0
            return getattr(tape, name)(y, x, experimental_use_pfor=False)

        return attempt(tf.function(f), x), attempt(f, x)

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    return program("jacobian"), program("batch_jacobian")


def case_inside_second_gradient_raises(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        tape.gradient(y, x)
        return tape.gradient(y, x)

    return attempt(f, tf.constant(2.0), words=6)


def case_gradient_penalty(tf):
    w = tf.Variable([1.0, 2.0])

    @tf.function
    def step(x):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(tf.tanh(x * w))
            g = inner.gradient(y, x)
            loss = y + tf.reduce_sum(g * g)
        return loss, outer.gradient(loss, w)

    return step(tf.constant([0.5, -0.3]))


def case_hessian_vector_product(tf):
    @tf.function
    def hvp(x, v):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(x**3) + x[0] * x[1]
            g = inner.gradient(y, x)
        return outer.gradient(g, x, output_gradients=v)

    return hvp(tf.constant([1.0, 2.0]), tf.constant([1.0, -1.0]))


# --- tapes on both sides


def case_inside_and_outside(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x * x
        return tape.gradient(y, x)

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        g = f(x)
    return g, tape.gradient(g, x)


def case_second_order_outside(tf):
    f = tf.function(lambda x: tf.exp(x) * x)
    x = tf.constant(0.5)
    with tf.GradientTape() as outer:
        outer.watch(x)
        y, (g,) = gradient(tf, f, x)
    return y, g, outer.gradient(g, x)


def case_third_order_outside(tf):
    f = tf.function(lambda x: x**4)
    x = tf.constant(1.5)
    with tf.GradientTape() as t3:
        t3.watch(x)
        with tf.GradientTape() as t2:
            t2.watch(x)
            _, (a,) = gradient(tf, f, x)
        b = t2.gradient(a, x)
    return a, b, t3.gradient(b, x)


def case_second_order_of_variables(tf):
    w = tf.Variable([1.0, 2.0])
    f = tf.function(lambda: tf.reduce_sum(w**3))
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = f()
        g = inner.gradient(y, w)
    return g, outer.jacobian(g, w)


def case_tape_passed_in(tf):
    x = tf.constant(3.0)

    @tf.function
    def f(x, tape):
        tape.watch(x)
        return x * x

    def program():
        with tf.GradientTape() as tape:
            y = f(x, tape)
        return tape.gradient(y, x)

    return attempt(program, words=0)


def case_tape_opened_outside_and_asked_inside(tf):
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x

    @tf.function
    def f():
        return tape.gradient(y, x)

    return attempt(f, words=0)


def case_watch_inside_a_tape_from_outside(tf):
    with tf.GradientTape() as tape:
        x = tf.constant(3.0)

        @tf.function
        def f(x):
            tape.watch(x)
            return x * x

        y = f(x)
    return attempt(lambda: tape.gradient(y, x), words=0)


def case_variables_inside_a_tape_from_outside(tf):
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:

        @tf.function
        def f(x):
            return x * v * v

        y = f(tf.constant(3.0))
    return tape.gradient(y, v)


def case_whole_gradient_in_a_function_of_a_function(tf):
    f = tf.function(lambda x: tf.reduce_sum(tf.exp(x) * x))

    @tf.function
    def df(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    @tf.function
    def ddf(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            g = df(x)
        return tape.gradient(g, x)

    x = tf.constant([0.5, 1.0])
    return f(x), df(x), ddf(x)


# --- Jacobians around


def case_jacobian_outside(tf):
    f = tf.function(lambda x: tf.stack([x[0] * x[1], x[0] + x[1], x[1] ** 2]))
    x = tf.constant([2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.jacobian(y, x)


def case_jacobian_of_variables(tf):
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    f = tf.function(lambda x: tf.linalg.matvec(w, x))
    with tf.GradientTape() as tape:
        y = f(tf.constant([1.0, 10.0]))
    return tape.jacobian(y, w)


def case_batch_jacobian_outside(tf):
    f = tf.function(lambda x: tf.tanh(x) * x[:, ::-1])
    x = tf.constant([[0.1, 0.2], [0.3, 0.4]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.batch_jacobian(y, x)


def case_jacobian_of_a_gradient(tf):
    f = tf.function(lambda x: tf.reduce_sum(x**3) + x[0] * x[1])
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        _, (g,) = gradient(tf, f, x)
    return outer.jacobian(g, x)


def case_hessian_all_inside(tf):
    @tf.function
    def hessian(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(tf.sin(x)) * x[0]
            g = inner.gradient(y, x)
        return outer.jacobian(g, x)

    return hessian(tf.constant([0.3, 0.5, 0.7]))


# --- custom gradients


def case_custom_gradient_inside(tf):
    @tf.custom_gradient
    def triple(x):
        return x * 3.0, lambda dy: dy * 100.0

    f = tf.function(lambda x: triple(x) * x)
    return gradient(tf, f, tf.constant(2.0))


def case_custom_gradient_with_a_text(tf):
    @tf.custom_gradient
    def scaled(x, how):
        return x * 2.0, lambda dy: (dy * 7.0, None)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = scaled(x, "text")
        return tape.gradient(y, x)

    return attempt(step, tf.constant(3.0), words=0)


def case_custom_gradient_around(tf):
    inner = tf.function(lambda x: tf.exp(x))

    @tf.custom_gradient
    def f(x):
        return inner(x), lambda dy: dy * 7.0

    return gradient(tf, f, tf.constant(0.5))


def case_custom_gradient_of_a_function(tf):
    @tf.function
    @tf.custom_gradient
    def f(x):
        e = tf.exp(x)
        return tf.math.log(1.0 + e), lambda dy: dy * (1.0 - 1.0 / (1.0 + e))

    return gradient(tf, f, tf.constant([100.0, 0.0]))


def case_custom_gradient_whose_backward_is_a_function(tf):
    back = tf.function(lambda dy: dy * 5.0)

    @tf.custom_gradient
    def f(x):
        return x * 2.0, lambda dy: back(dy)

    return gradient(tf, tf.function(f), tf.constant(1.0))


def case_custom_gradient_clips_inside(tf):
    @tf.custom_gradient
    def clip(x):
        return tf.identity(x), lambda dy: tf.clip_by_norm(dy, 0.5)

    @tf.function
    def f(v):
        return clip(v * v)

    return gradient(tf, f, tf.constant(2.0))


def case_custom_gradient_with_variables(tf):
    w = tf.Variable(2.0)

    @tf.custom_gradient
    def scale(x):
        def grad(dy, variables=None):
            return dy * w, [dy * x * 10.0]

        return x * w, grad

    f = tf.function(lambda x: scale(x))
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return attempt(lambda: tape.gradient(y, [x, w]), words=0)


def case_custom_gradient_second_order(tf):
    @tf.custom_gradient
    def cube(x):
        return x**3, lambda dy: dy * 3.0 * x**2

    f = tf.function(lambda x: cube(x))
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        _, (g,) = gradient(tf, f, x)
    return g, outer.gradient(g, x)


def case_recompute_grad_inside(tf):
    f = tf.function(lambda x: tf.recompute_grad(lambda x: tf.sin(x) * x)(x) * 2.0)
    return gradient(tf, f, tf.constant(0.5))


def case_recompute_grad_around(tf):
    f = tf.recompute_grad(tf.function(lambda x: tf.sin(x) * x))
    return gradient(tf, f, tf.constant(0.5))


def case_recompute_grad_with_variables(tf):
    w = tf.Variable([1.0, 2.0])

    @tf.recompute_grad
    def block(x):
        return tf.tanh(x * w)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(block(block(x)))
        return loss, tape.gradient(loss, w)

    return step(tf.constant([0.5, 0.25]))


def case_grad_pass_through(tf):
    f = tf.function(lambda x: tf.grad_pass_through(tf.round)(x) * x)
    return gradient(tf, f, tf.constant(2.4))


# --- slices


def case_slices_through_the_boundary(tf):
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    f = tf.function(lambda i: tf.nn.embedding_lookup(table, i))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(f(tf.constant([2, 0, 2])))
    return tape.gradient(y, table)


def case_slices_out_of_the_function(tf):
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    @tf.function
    def step(i):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(table, i) ** 2)
        return tape.gradient(y, table)

    return step(tf.constant([2, 0, 2]))


def case_slices_applied_inside(tf):
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    optimizer = tf.optimizers.SGD(0.1)

    @tf.function
    def step(i):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(table, i) ** 2)
        optimizer.apply_gradients([(tape.gradient(y, table), table)])
        return y

    return step(tf.constant([2, 0, 2])), step(tf.constant([1])), table


def case_slices_argument(tf):
    @tf.function
    def f(s):
        return tf.reduce_sum(s.values) * 2.0, tf.convert_to_tensor(s)

    s = tf.IndexedSlices(tf.constant([1.0, 2.0]), tf.constant([0, 2]), tf.constant([3]))
    return f(s)


def case_slices_of_an_argument(tf):
    f = tf.function(lambda x, i: tf.gather(x, i) * 2.0)
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, tf.constant([1, 1]))
    return tf.convert_to_tensor(tape.gradient(y, x))


# --- forward mode


def case_forward_over_a_function(tf):
    f = tf.function(lambda x: tf.sin(x) * x)
    x = tf.constant([0.5, 1.0])
    with tf.autodiff.ForwardAccumulator(x, tf.ones([2])) as acc:
        y = f(x)
    return y, acc.jvp(y)


def case_forward_over_a_variable(tf):
    w = tf.Variable([1.0, 2.0])
    f = tf.function(lambda x: tf.reduce_sum(w * w * x))
    with tf.autodiff.ForwardAccumulator(w, tf.constant([1.0, 0.0])) as acc:
        y = f(tf.constant(3.0))
    return y, acc.jvp(y)


def case_forward_inside(tf):
    @tf.function
    def f(x, dx):
        with tf.autodiff.ForwardAccumulator(x, dx) as acc:
            y = tf.exp(x) * x
        return acc.jvp(y)

    return f(tf.constant(0.5), tf.constant(2.0))


def case_forward_over_reverse(tf):
    f = tf.function(lambda x: tf.reduce_sum(x**3))
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 1.0])) as acc:
        _, (g,) = gradient(tf, f, x)
    return g, acc.jvp(g)


def case_forward_over_reverse_inside(tf):
    @tf.function
    def hvp(x, v):
        with tf.autodiff.ForwardAccumulator(x, v) as acc:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(x**3) + x[0] * x[1]
            g = tape.gradient(y, x)
        return acc.jvp(g)

    return hvp(tf.constant([1.0, 2.0]), tf.constant([1.0, -1.0]))


def case_reverse_over_forward(tf):
    f = tf.function(lambda x: tf.sin(x) * x)
    x = tf.constant(0.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
            y = f(x)
        d = acc.jvp(y)
    return d, tape.gradient(d, x)


def case_forward_none(tf):
    f = tf.function(lambda x, y: (x * 2.0, y * 3.0))
    x, y = tf.constant(1.0), tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
        a, b = f(x, y)
    return acc.jvp(a), acc.jvp(b)


# --- with None dimensions, structures, concrete functions


def case_unknown_dimension(tf):
    f = tf.function(
        lambda x: tf.reduce_mean(x * x), input_signature=[tf.TensorSpec([None], tf.float32)]
    )
    return gradient(tf, f, tf.constant([1.0, 2.0])), gradient(tf, f, tf.constant([1.0, 2.0, 3.0]))


def case_broadcast_over_an_unknown_dimension(tf):
    f = tf.function(
        lambda x, y: x * y,
        input_signature=[tf.TensorSpec([None, 2], tf.float32), tf.TensorSpec([None], tf.float32)],
    )
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    return gradient(tf, f, x, tf.constant([1.0, 2.0])), gradient(tf, f, x, tf.constant([5.0]))


def case_concrete_function(tf):
    v = tf.Variable(3.0)
    c = tf.function(lambda x: x * x * v).get_concrete_function(tf.TensorSpec([], tf.float32))
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = c(x)
    return y, tape.gradient(y, [x, v])


def case_structure_of_sources(tf):
    w = {"a": tf.Variable(1.0), "b": [tf.Variable(2.0), tf.Variable(3.0)]}

    @tf.function
    def f(x):
        return x * w["a"] * w["b"][0] + w["b"][1]

    with tf.GradientTape() as tape:
        y = f(tf.constant(2.0))
    return tape.gradient(y, w)


def case_tf_gradients_inside(tf):
    @tf.function
    def f(x):
        y = x * x * x
        return tf.gradients(y, x)[0], tf.gradients([y, x * 2.0], [x])

    return f(tf.constant(2.0))


def case_tf_gradients_second_order(tf):
    @tf.function
    def f(x):
        g = tf.gradients(tf.sin(x) * x, x)[0]
        return tf.gradients(g, x)[0]

    return f(tf.constant(0.5))


def case_tf_gradients_options(tf):
    @tf.function
    def f(x, y):
        z = x * y + tf.stop_gradient(x)
        return (
            tf.gradients(z, [x, y], grad_ys=tf.constant(10.0)),
            tf.gradients(z, [x], stop_gradients=[y]),
            tf.gradients(x * 1.0, [y]),
            tf.gradients(x * 1.0, [y], unconnected_gradients="zero"),
        )

    return f(tf.constant(2.0), tf.constant(3.0))


def case_tf_gradients_outside(tf):
    x = tf.constant(2.0)
    return attempt(lambda: tf.gradients(x * x, x), words=6)


def case_jit_compile(tf):
    f = tf.function(lambda x: tf.reduce_sum(tf.tanh(x) ** 2), jit_compile=True)
    return gradient(tf, f, tf.constant([0.5, 1.0]))


def case_run_functions_eagerly(tf):
    w = tf.Variable(2.0)

    @tf.function
    def f(x):
        return x * w * w

    tf.config.run_functions_eagerly(True)
    try:
        with tf.GradientTape() as tape:
            y = f(tf.constant(3.0))
        return tape.gradient(y, w)
    finally:
        tf.config.run_functions_eagerly(False)


def case_gradient_of_a_lazily_created_variable(tf):
    class Scale(tf.Module):
        w = None

        @tf.function
        def __call__(self, x):
            if self.w is None:
                self.w = tf.Variable(2.0)
            return x * self.w * self.w

    s = Scale()
    with tf.GradientTape() as tape:
        y = s(tf.constant(3.0))
    first = tape.gradient(y, s.w)
    with tf.GradientTape() as tape:
        y = s(tf.constant(3.0))
    return first, tape.gradient(y, s.w)


def case_variable_as_an_argument(tf):
    f = tf.function(lambda v, x: v * v * x)
    v, x = tf.Variable(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(v, x)
    return tape.gradient(y, [v, x])


def case_unused_gradient_inside_a_recorded_function(tf):
    w = tf.Variable(2.0)

    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            y = w * w * x
        w.assign_sub(0.1 * tape.gradient(y, w))
        return y

    with tf.GradientTape() as outer:
        y = f(tf.constant(3.0))
    return y, w, outer.gradient(y, w)


def case_accumulate_over_batches(tf):
    w = tf.Variable([1.0, 2.0])

    @tf.function
    def grad(x):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum((w * x) ** 2)
        return tape.gradient(y, w)

    total = tf.zeros([2])
    for i in range(3):
        total += grad(tf.constant([float(i), 1.0]))
    return total


def case_exception_inside_a_tape(tf):
    f = tf.function(lambda x: tf.matmul(x, x))
    x = tf.ones([2, 3])
    with tf.GradientTape() as tape:
        tape.watch(x)
        try:
            f(x)
        except ValueError:
            y = x * x
    return tape.gradient(y, x)


def case_tf_hessians(tf):
    @tf.function
    def f(x, m):
        y = tf.reduce_sum(x**3) * tf.reduce_sum(m * m)
        return tf.hessians(y, [x, m]), tf.hessians([y, tf.reduce_sum(x**2)], x)

    return f(tf.constant([1.0, 2.0]), tf.constant([[1.0, 2.0]]))


def case_tf_hessians_of_scalars_and_vectors(tf):
    return (
        tf.function(lambda x: tf.hessians(x**3, x))(tf.constant(2.0)),
        tf.function(lambda x: tf.hessians(x**3, x))(tf.constant([1.0, 2.0])),
    )


def case_tf_hessians_refused(tf):
    x = tf.constant([1.0, 2.0])
    return (
        attempt(lambda: tf.hessians(x, x)),
        attempt(lambda: tf.function(lambda x: tf.hessians(tf.reduce_sum(x), x))(x), words=0),
        attempt(
            lambda: tf.function(lambda x: tf.hessians(tf.reduce_sum(x), [x, x * 2.0]))(x), words=0
        ),
    )


def case_tf_gradients_aggregation(tf):
    m = tf.AggregationMethod
    x = tf.constant([1.0, 2.0])
    given = [m.ADD_N, m.DEFAULT, m.EXPERIMENTAL_TREE, m.EXPERIMENTAL_ACCUMULATE_N]
    found = [
        tf.function(lambda x: tf.gradients(x * x + x, x, aggregation_method=k))(x) for k in given
    ]
    bad = tf.function(lambda x: tf.gradients(x * x, x, aggregation_method=7, gate_gradients=True))
    return given, found, attempt(lambda: bad(x), words=0)


def case_tf_gradients_weights(tf):
    x = tf.constant([1.0, 2.0])

    @tf.function
    def f(x):
        y = x * 2.0
        return (
            tf.gradients([x, y], x, grad_ys=[None, x]),
            tf.gradients(x + y, [x, y], stop_gradients=[x, y]),
            tf.gradients(x + y, [x, y], stop_gradients=y),
            tf.gradients(x + y, [x, y], stop_gradients=x),
            tf.gradients(x, [x, y], unconnected_gradients=tf.UnconnectedGradients.ZERO),
        )

    refused = [
        lambda x: tf.gradients([x, x], x, grad_ys=[x]),
        lambda x: tf.gradients(x * x, x, grad_ys=tf.constant([1, 2])),
        lambda x: tf.gradients(x, [x, x], unconnected_gradients="nonsense"),
        lambda x: tf.gradients([x * x], [[x], x]),
    ]
    return f(x), [attempt(lambda g=g: tf.function(g)(x), words=0) for g in refused]


def case_custom_gradient_that_fails(tf):
    """Where the gradient is asked for, not where the function's results are wanted."""

    @tf.custom_gradient
    def f(x):
        def grad(upstream):
            raise ZeroDivisionError("my own error")

        return x * 2.0, grad

    @tf.function
    def asks(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        try:
            return tape.gradient(y, x)
        except ZeroDivisionError:
            return y + 100.0

    @tf.function
    def asks_not(x):
        return f(x)

    return asks(tf.constant(1.0)), asks_not(tf.constant(1.0))


def case_angles_of_large_arrays(tf):
    """Called until it is compiled, where kernels of our own do it; with each of the rare sizes."""
    near = np.linspace(-0.99, 0.99, 600, dtype=np.float32)
    far = np.append(near * 40, [1e4, -3e7, 5e9, -1e30, 0.0, -0.0]).astype(np.float32)

    @tf.function
    def step(near, far):
        with tf.GradientTape() as tape:
            tape.watch((near, far))
            inverse = tf.asin(near), tf.acos(near), tf.atan(near * 9), tf.atan2(near, near[::-1])
            waves = tf.sin(far), tf.cos(far), tf.tan(far)
            total = tf.add_n(list(inverse)) * (waves[0] + waves[1])[:600]
        return inverse, waves, tape.gradient(total, (near, far))

    return [step(tf.constant(near), tf.constant(far)) for _ in range(5)][-1]


def case_running_logsumexp_of_long_axes(tf):
    """Called until it is compiled, where it is taken by steps, of blocks and of a whole axis."""
    long = np.cos(np.arange(900, dtype=np.float32)).reshape(300, 3) * 9
    of = {"plain": {}, "reverse": {"reverse": True}, "exclusive": {"exclusive": True}}

    @tf.function
    def step(x, name):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            down = tf.math.cumulative_logsumexp(x, **of[name])
            along = tf.math.cumulative_logsumexp(x, axis=1, reverse=True)
            total = tf.reduce_sum(tf.sin(down[2:-2])) + tf.reduce_sum(along**2)
        return down, along, tape.gradient(total, x)

    return {name: [step(tf.constant(long), name) for _ in range(5)][-1] for name in of}


def case_zeros_by_what_only_another_output_depends_on(tf):
    v, w = tf.Variable(4.0), tf.Variable(5.0)
    x, y = tf.constant(2.0), tf.constant(3.0)

    @tf.function
    def several(x, y):
        return x * y * v, x + 1.0, y * w

    def slopes(f):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, y])
            outputs = f(x, y)
        return [tape.gradient(out, [x, y, v, w]) for out in (*outputs, outputs[:2], outputs)]

    def first_only():
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            outputs = several(x, y)
        found = tape.gradient(outputs[1], [x, y, v])
        connected.append([g is not None for g in found])
        return outputs

    connected: list = []
    tf.function(first_only)()
    return slopes(several), slopes(several.python_function), connected


def case_results_that_do_not_depend_on_what_others_do(tf):
    """A call is one op: zeros where another result depends on a source, None where none does."""
    x, y, v = tf.constant(1.0), tf.constant(2.0), tf.Variable(3.0)

    @tf.function
    def f(x, y):
        return x * 2.0, tf.constant(3.0), tf.stop_gradient(x) * v, tf.cast(x, tf.int32)

    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        linear, constant, stopped, _ = f(x, y)
        later = constant * constant
    targets = {"linear": linear, "constant": constant, "stopped": stopped, "later": later}
    found = {name: tape.gradient(target, [x, y, v]) for name, target in targets.items()}
    return found, tape.gradient([linear, constant], x)


def case_a_call_in_a_function_that_gives_what_does_not_depend(tf):
    inner = tf.function(lambda x: (x * x, tf.constant(2.0)))
    outer = tf.function(lambda x: inner(x)[1] * 3.0)
    x = tf.constant(4.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = outer(x)

    @tf.function
    def within(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = inner(x)[1] * 3.0
        return tape.gradient(y, x)

    return tape.gradient(y, x), within(x)


def case_second_gradients_of_one_of_two_in_a_call(tf):
    f = tf.function(lambda x, y: x * y)
    x, y = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch([x, y])
        with tf.GradientTape() as inner:
            inner.watch([x, y])
            z = f(x, y)
        by_x, by_y = inner.gradient(z, [x, y])
    return outer.gradient(by_x, [x, y]), outer.gradient(by_y, [x, y])
