"""`tf.autodiff.ForwardAccumulator`: products of the Jacobian with a vector."""

import gc
import weakref

import numpy as np

from .harness import attempt, options


def _jvp(program, primal, tangent, **settings):
    def case(tf):
        x = tf.constant(primal)
        with tf.autodiff.ForwardAccumulator(x, tf.constant(tangent)) as acc:
            y = program(tf, x)
        return y, acc.jvp(y, **settings)

    return case


VECTOR = ([1.0, 2.0, 3.0], [1.0, 0.5, -1.0])
MATRIX = ([[1.0, 2.0], [3.0, 5.0]], [[1.0, 0.0], [0.5, -1.0]])

CASES = {
    name: _jvp(program, *data)
    for name, program, data in [
        ("scalar", lambda tf, x: x**3, (2.0, 1.0)),
        ("vector", lambda tf, x: x * x, VECTOR),
        ("sum", lambda tf, x: tf.reduce_sum(x * x), VECTOR),
        ("prod", lambda tf, x: tf.reduce_prod(x), VECTOR),
        ("max", lambda tf, x: tf.reduce_max(x), VECTOR),
        ("matmul", lambda tf, x: x @ x, MATRIX),
        ("softmax", lambda tf, x: tf.nn.softmax(x), MATRIX),
        ("log_softmax", lambda tf, x: tf.nn.log_softmax(x), MATRIX),
        ("sigmoid_tanh", lambda tf, x: tf.sigmoid(x) * tf.tanh(x), VECTOR),
        ("where", lambda tf, x: tf.where(x > 1.5, x * x, -x), VECTOR),
        ("concat_slice", lambda tf, x: tf.concat([x[1:], x * 2.0], 0), VECTOR),
        ("gather", lambda tf, x: tf.gather(x, [2, 0, 2]), VECTOR),
        ("inverse", lambda tf, x: tf.linalg.inv(x), MATRIX),
        ("det", lambda tf, x: tf.linalg.det(x), MATRIX),
        ("maximum", lambda tf, x: tf.maximum(x, 2.0), VECTOR),
        ("abs", lambda tf, x: tf.abs(x), ([0.0, -1.0, 2.0], [1.0, 1.0, 1.0])),
        ("relu", lambda tf, x: tf.nn.relu(x), ([0.0, -1.0, 2.0], [1.0, 1.0, 1.0])),
        ("cumsum", lambda tf, x: tf.cumsum(x), VECTOR),
        ("stack", lambda tf, x: tf.stack([x, x * x], 1), VECTOR),
        ("stop_gradient", lambda tf, x: tf.stop_gradient(x) * x, VECTOR),
        ("cast", lambda tf, x: tf.cast(x, tf.float64) ** 2, VECTOR),
        ("l2_loss", lambda tf, x: tf.nn.l2_loss(x), MATRIX),
        ("einsum", lambda tf, x: tf.einsum("ij,jk->ik", x, x), MATRIX),
        ("chain", lambda tf, x: tf.exp(tf.sin(tf.square(x))), VECTOR),
        ("unconnected", lambda tf, x: tf.constant([1.0]), VECTOR),
        ("empty", lambda tf, x: x * 2.0, (np.zeros([0], "float32"), np.zeros([0], "float32"))),
        ("float64", lambda tf, x: tf.exp(x), (np.array([0.5]), np.array([2.0]))),
        ("int_result", lambda tf, x: tf.cast(x, tf.int32), VECTOR),
    ]
}
CASES |= {
    "unconnected_zero": _jvp(lambda tf, x: tf.ones([2]), *VECTOR, unconnected_gradients="zero"),
    "unconnected_bad": _jvp(lambda tf, x: tf.ones([2]), *VECTOR, unconnected_gradients="bad"),
}


def case_variable(tf):
    v = tf.Variable([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0, 0.0])) as acc:
        y = tf.reduce_sum(v * v)
    return acc.jvp(y)


def case_linear_regression_column(tf):
    x = tf.constant([[2.0, 3.0], [1.0, 4.0]])
    targets = tf.constant([[1.0], [-1.0]])
    w = tf.Variable([[0.5], [0.25]])
    with tf.autodiff.ForwardAccumulator(w, tf.constant([[0.0], [1.0]])) as acc:
        loss = tf.reduce_sum((x @ w - targets) ** 2.0)
    return loss, acc.jvp(loss)


def case_several_primals(tf):
    a, b = tf.constant(2.0), tf.constant(3.0)
    with tf.autodiff.ForwardAccumulator([a, b], [tf.constant(1.0), tf.constant(10.0)]) as acc:
        y = a * a * b
    return acc.jvp(y)


def case_nest_of_primals(tf):
    a, b = tf.constant(2.0), tf.constant(3.0)
    tangents = {"a": tf.constant(1.0), "b": tf.constant(10.0)}
    with tf.autodiff.ForwardAccumulator({"a": a, "b": b}, tangents) as acc:
        y = a * a * b
    return acc.jvp(y)


def case_nest_of_results(tf):
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
        y, z = x * x, x + 1.0
    return acc.jvp({"y": y, "z": [z, tf.constant(1.0)]})


def case_jvp_of_primal(tf):
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(5.0)) as acc:
        pass
    return acc.jvp(x)


def case_jvp_inside(tf):
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
        y = x * x
        t = acc.jvp(y)
        z = y * x
    return t, acc.jvp(z), acc.jvp(t)


def case_op_before_accumulator(tf):
    x = tf.constant(2.0)
    y = x * x
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
        z = y * 2.0
    return acc.jvp(y), acc.jvp(z)


def case_op_after_accumulator(tf):
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
        y = x * x
    z = y * x
    return acc.jvp(y), acc.jvp(z)


def case_forward_over_reverse(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.5, -1.0])) as acc:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_prod(x) + tf.reduce_sum(x**3)
        g = tape.gradient(y, x)
    return g, acc.jvp(g), acc.jvp(y)


def case_forward_over_reverse_layer(tf):
    w = tf.Variable([[0.1, 0.2], [-0.1, 0.4]])
    tangent = tf.constant([[1.0, 0.0], [0.0, 2.0]])
    with tf.autodiff.ForwardAccumulator(w, tangent) as acc:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sigmoid(tf.constant([[0.5, -1.0]]) @ w) ** 2)
        g = tape.gradient(loss, w)
    return acc.jvp(g)


def case_reverse_over_forward(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 3.0])) as acc:
            y = x**3
        t = acc.jvp(y)
    return t, tape.gradient(t, x)


def case_nested_forward(tf):
    x = tf.constant(1.5)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as outer:
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as inner:
            y = x**4
        first = inner.jvp(y)
    return first, outer.jvp(y), outer.jvp(first)


def case_two_accumulators_same_level(tf):
    x = tf.constant([1.0, 2.0])
    with (
        tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as a,
        tf.autodiff.ForwardAccumulator(x, tf.constant([0.0, 1.0])) as b,
    ):
        y = x[0] * x[1] ** 2
    return a.jvp(y), b.jvp(y)


def case_custom_gradient(tf):
    @tf.custom_gradient
    def f(x):
        return x * x, lambda dy: dy * 7.0 * x

    x = tf.constant(3.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(2.0)) as acc:
        y = f(x)
    return acc.jvp(y)


@options(words=4)
def case_wrong_tangent_shape(tf):
    with tf.autodiff.ForwardAccumulator(tf.constant([1.0, 2.0]), tf.constant([1.0])):
        pass


def case_wrong_tangent_dtype(tf):
    def run():
        with tf.autodiff.ForwardAccumulator(tf.constant([1.0]), tf.constant([1])):
            return 1

    return attempt(run, words=3)


def case_wrong_structure(tf):
    def run():
        with tf.autodiff.ForwardAccumulator([tf.constant(1.0)], tf.constant(1.0)):
            return 1

    return attempt(run, words=4)


def case_int_primal(tf):
    def run():
        x = tf.constant(1)
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1)) as acc:
            y = x * 2
        return acc.jvp(y)

    return attempt(run, words=4)


def case_reentry(tf):
    x = tf.constant(1.0)
    acc = tf.autodiff.ForwardAccumulator(x, tf.constant(1.0))

    def run():
        with acc, acc:
            return 1

    return attempt(run, words=4)


def case_enter_twice_in_turn(tf):
    x = tf.constant(2.0)
    acc = tf.autodiff.ForwardAccumulator(x, tf.constant(1.0))
    with acc:
        y = x * x
    with acc:
        z = y * x
    return acc.jvp(y), acc.jvp(z)


def case_jvp_of_python_value(tf):
    x = tf.constant(1.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
        _ = x * 2.0
    return attempt(lambda: acc.jvp(3.0), words=0)


def case_jvp_equals_gradient_product(tf):
    x, t = tf.constant([0.3, -0.7]), tf.constant([2.0, 1.0])
    with tf.autodiff.ForwardAccumulator(x, t) as acc:
        y = tf.reduce_sum(tf.sin(x) * tf.exp(x))
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = tf.reduce_sum(tf.sin(x) * tf.exp(x))
    return acc.jvp(y), tf.reduce_sum(tape.gradient(z, x) * t)


def case_broadcast_operands(tf):
    a, b = tf.constant([[1.0], [2.0]]), tf.constant([3.0, 4.0, 5.0])
    tangents = [tf.constant([[1.0], [0.5]]), tf.constant([0.1, 0.2, 0.3])]
    with tf.autodiff.ForwardAccumulator([a, b], tangents) as acc:
        y = a * b + a / b
    return acc.jvp(y)


def case_tape_result_types(tf):
    x = tf.constant(1.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
        y = x * 2.0
    t = acc.jvp(y)
    return tf.is_tensor(t), t.dtype, t.shape


def _custom(gradient):
    """What forward mode gives of a function with this gradient, and after an error in it."""

    def case(tf):
        calls = []

        @tf.custom_gradient
        def f(x):
            def grad(dy):
                calls.append(1)
                return gradient(tf, x, dy)

            return x * 2.0, grad

        x, unrelated = tf.constant(3.0), tf.constant(4.0)
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
            f(unrelated)
            before = len(calls)
            y = attempt(lambda: acc.jvp(f(x)))
            z = x * 5.0
        return before, len(calls), y, acc.jvp(z)

    return case


def _fails(tf, x, dy):
    raise ZeroDivisionError("my own error")


CASES |= {
    "custom gradient that fails": _custom(_fails),
    "custom gradient of two": _custom(lambda tf, x, dy: (dy, dy)),
    "custom gradient of wrong dtypes": _custom(lambda tf, x, dy: dy * tf.constant(1)),
    "custom gradient that looks": _custom(lambda tf, x, dy: dy if float(dy) > 0 else -dy),
    "custom gradient of None": _custom(lambda tf, x, dy: None),
    "custom gradient that works": _custom(lambda tf, x, dy: dy * 7.0),
}


def case_custom_gradient_that_fails_under_a_tape(tf):
    @tf.custom_gradient
    def f(x, k):
        def grad(dy, variables=None):
            raise KeyError("mine")

        return x * k * v, grad

    v, x = tf.Variable(2.0), tf.constant(3.0)

    def run():
        with tf.GradientTape() as tape:
            with tf.autodiff.ForwardAccumulator(v, tf.constant(1.0)) as acc:
                y = f(x, 4.0)
        return acc.jvp(y), tape.gradient(y, v)

    return attempt(run)


def _is_dropped(primal, tangent):
    """Whether a tangent goes with the one reference to its primal, which are in these lists."""
    referred = weakref.ref(tangent.pop())
    alive = referred() is not None
    primal.clear()
    gc.collect()
    return alive, referred() is None


def case_dead_tensors_tangents(tf):
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(3.0)) as acc:
        y = [tf.ones([10]) * x]
        z = tf.reduce_sum(y[0])
        dropped = _is_dropped(y, [acc.jvp(y[0])])
        w = z * x
    return dropped, acc.jvp([x, z, w])


def case_dead_primals_tangents(tf):
    answers = []
    for make in (tf.constant, tf.Variable):
        x, tangent = [make(2.0)], [tf.constant(3.0)]
        with tf.autodiff.ForwardAccumulator(x[0], tangent[0]) as acc:
            y = x[0] * x[0]
            dropped = _is_dropped(x, tangent)
            z = y * y
        answers.append((dropped, acc.jvp([y, z])))
    return answers


def case_tangent_of_a_views_variable(tf):
    v = tf.Variable(2.0)
    with tf.autodiff.ForwardAccumulator(v, tf.constant(3.0)) as acc:
        view = v.assign(5.0)
        del v
        gc.collect()
        y = view * view
    return acc.jvp([view, y])


def case_tangents_of_what_a_tape_keeps(tf):
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(3.0)) as acc:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.exp(tf.sin(x * x))
        gc.collect()
        g = tape.gradient(y, x)
    return acc.jvp([y, g])


def case_custom_gradients_in_functions(tf):
    """In a function forward mode goes by the gradient function, else by what is done."""

    @tf.custom_gradient
    def square(x):
        return x * x, lambda upstream: upstream * 20.0 * x

    @tf.custom_gradient
    def both(x, y):
        return (x * x, x + y), lambda dx, dy: (dx * 20.0 * x + dy, dx + dy * y)

    v = tf.Variable(2.0)

    def loop(x):
        for _ in tf.range(2):
            x = square(x)
        return x

    inner = tf.function(square)
    bodies = [
        lambda x: square(x) + square(x * 2.0),
        lambda x: both(x, x * 2.0),
        loop,
        lambda x: square(x * v),
        lambda x: inner(x) * 2.0,
    ]
    x = tf.constant(3.0)
    found = []
    for body in [*map(tf.function, bodies), bodies[0]]:
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
            y = body(x)
        found.append((y, accumulator.jvp(y)))
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as outer:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = inner(x)
        slope = tape.gradient(y, x)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as second:
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as first:
            y = inner(x)
        speed = first.jvp(y)
    return found, slope, outer.jvp(slope), speed, second.jvp(speed)


def case_custom_gradient_of_what_ops_do_not_show(tf):
    """Where the function's own ops lead from inputs to results, they count; else its gradient."""

    def with_gradient(values):
        return tf.custom_gradient(lambda *x: (values(*x), lambda *dy: [100.0 * dy[0]] * len(x)))

    programs = {
        "ops": with_gradient(lambda x: x * x),
        "numpy": with_gradient(lambda x: x.numpy() ** 2),
        "number": with_gradient(lambda x: 4.0),
        "one of two": with_gradient(lambda x: (x * x, x.numpy())),
        "of two": with_gradient(lambda x, y: x.numpy() * y.numpy()),
    }
    found = {}
    x, v = tf.constant(3.0), tf.Variable(2.0)
    for name, program in programs.items():
        given = (x, v) if name == "of two" else (x,)
        with tf.GradientTape() as tape:
            tape.watch(x)
            with tf.autodiff.ForwardAccumulator(given, tuple(map(tf.ones_like, given))) as acc:
                y = program(*given)
            speed = acc.jvp(y)
        found[name] = speed, tape.gradient(y, x)
    sine = tf.custom_gradient(lambda x: (np.sin(x.numpy()), lambda dy: dy * tf.cos(x)))
    partly = tf.custom_gradient(lambda x, y: (x.numpy() * y.numpy(), lambda dy: (dy * 5.0, None)))
    with tf.autodiff.ForwardAccumulator(x, tf.constant(2.0)) as outer:
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as inner:
            y = sine(x)
        speed = inner.jvp(y)
        z = partly(x, v)
    with tf.autodiff.ForwardAccumulator(v, tf.constant(2.0)) as of_none:
        w = partly(x, v)
    return found, speed, outer.jvp(speed), outer.jvp(y), outer.jvp(z), of_none.jvp(w)


def case_tape_inside_of_an_accumulator(tf):
    """The tangents are the accumulator's work, which a tape sees that was entered before."""
    found = []
    for outside in (True, False):
        x = tf.constant(1.0)
        accumulator = tf.autodiff.ForwardAccumulator(x, tf.constant(0.1))
        tape = tf.GradientTape()
        with tape if outside else accumulator:
            with accumulator if outside else tape:
                tape.watch(x)
                y = tf.cos(x)
                speed = accumulator.jvp(y)
        found.append((speed, tape.gradient(speed, x)))
    return found


def _of_two(tf, w):
    """Functions of one tensor, and of another one that has no tangent."""
    return {
        "times a number": lambda x: x * 0.5,
        "times": lambda x: x * w,
        "by": lambda x: x / w,
        "plus": lambda x: x + w,
        "matmul": lambda x: x @ w,
        "larger": lambda x: tf.maximum(x, w),
        "power": lambda x: w**x,
        "sum": tf.reduce_sum,
        "reshaped": lambda x: tf.reshape(x, [-1]),
        "joined": lambda x: tf.concat([x, w], 0),
        "solved": lambda x: tf.linalg.solve(w, x),
        "segments": lambda x: tf.math.segment_mean(x, [0, 0]),
        "relu": lambda x: tf.nn.relu(x - w),
        "twice": lambda x: tf.sin(x) * w,
    }


def case_tangents_of_gradients_that_depend_on_nothing(tf):
    """None, not zeros, for the gradient of something linear."""
    x, w = tf.constant([[1.0, 2.0], [3.0, 0.5]]), tf.constant([[3.0, 4.0], [1.0, 2.0]])
    found = {}
    for name, function in _of_two(tf, w).items():
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
            with tf.GradientTape() as tape:
                tape.watch([x, w])
                y = function(x)
            gradients = tape.gradient(y, [x, w])
        found[name] = [None if g is None else accumulator.jvp(g) for g in gradients]
    return found


def case_gradients_of_tangents_by_what_they_may_depend_on(tf):
    """Zeros where the gradient by an input without a tangent is made of the other input."""
    x, w = tf.constant([[1.0, 2.0], [3.0, 0.5]]), tf.constant([[3.0, 4.0], [1.0, 2.0]])
    found = {}
    for name, function in _of_two(tf, w).items():
        if name == "segments":  # IndexedSlices by the tangent
            continue
        tangent = tf.ones_like(x)
        with tf.GradientTape() as tape:
            tape.watch([x, w, tangent])
            with tf.autodiff.ForwardAccumulator(x, tangent) as accumulator:
                y = function(x)
            pushed = accumulator.jvp(y)
        found[name] = tape.gradient(pushed, [x, w, tangent])
    return found


def case_tangents_of_gathered_gradients(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 0.5]])
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.gather(x, [0, 0]) ** 2
        gradient = tape.gradient(y, x)
    return gradient.values, accumulator.jvp(gradient.values)
