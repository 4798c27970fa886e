"""`stop_gradient`, `custom_gradient`, `recompute_grad`, `grad_pass_through`."""

import inspect

from .harness import attempt, attempts, options, printed


def case_stop_gradient_cuts(tf):
    x, y = tf.Variable(5.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        z = 3 * x**2 + tf.stop_gradient(2 * x * y)
    return z, tape.gradient(z, [x, y])


def case_stop_gradient_whole(tf):
    x = tf.Variable(5.0)
    with tf.GradientTape() as tape:
        z = tf.stop_gradient(x * x)
    return tape.gradient(z, x)


def case_stop_gradient_of_source(tf):
    x = tf.constant(5.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        s = tf.stop_gradient(x)
        z = s * s * x
    return tape.gradient(z, [x, s])


def case_stop_gradient_python_value(tf):
    return tf.stop_gradient(3.0), tf.stop_gradient([1, 2])


def case_stop_gradient_variable(tf):
    v = tf.Variable([1.0, 2.0])
    return tf.stop_gradient(v)


def case_stop_gradient_second_order(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**3
        g = tf.stop_gradient(inner.gradient(y, x))
        z = g * x
    return outer.gradient(z, x)


def case_straight_through(tf):
    x = tf.Variable([0.4, 1.6])
    with tf.GradientTape() as tape:
        y = x + tf.stop_gradient(tf.round(x) - x)
        z = y * y
    return z, tape.gradient(z, x)


def case_log1pexp(tf):
    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)

        def grad(upstream):
            return upstream * (1 - 1 / (1 + e))

        return tf.math.log(1 + e), grad

    x = tf.constant([100.0, 0.0, -3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = log1pexp(x)
    return y, tape.gradient(y, x)


def case_clipping_identity(tf):
    @tf.custom_gradient
    def clip_gradients(y):
        def backward(dy):
            return tf.clip_by_norm(dy, 0.5)

        return y, backward

    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        output = clip_gradients(v * v)
    return output, tape.gradient(output, v)


def case_custom_two_inputs(tf):
    @tf.custom_gradient
    def scaled(a, b):
        return a * b, lambda dy: (dy * 100.0, dy * 200.0)

    a, b = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = scaled(a, b) * 2.0
    return y, tape.gradient(y, [a, b])


def case_custom_two_outputs(tf):
    @tf.custom_gradient
    def pair(a, b):
        def grad(da, db):
            return da * 10.0 + db, da + db * 100.0

        return (a * b, a + b), grad

    a, b = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([a, b])
        p, s = pair(a, b)
    return p, s, tape.gradient(p, [a, b]), tape.gradient(s, [a, b]), tape.gradient([p, s], [a, b])


def case_custom_none_gradient(tf):
    @tf.custom_gradient
    def first(a, b):
        return a * b, lambda dy: (dy, None)

    a, b = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = first(a, b)
    return tape.gradient(y, [a, b])


def case_custom_keyword_arguments(tf):
    @tf.custom_gradient
    def power(x, *, n=2):
        return x**n, lambda dy: dy * float(n) * 1000.0

    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = power(x, n=3)
    return y, tape.gradient(y, x)


def case_custom_tensor_in_keyword(tf):
    @tf.custom_gradient
    def scale(x, factor=None):
        return x * factor, lambda dy: dy * factor

    x, k = tf.Variable(3.0), tf.constant(4.0)
    with tf.GradientTape() as tape:
        tape.watch(k)
        y = scale(x, factor=k)
    return y, tape.gradient(y, [x, k])


def case_custom_python_argument(tf):
    @tf.custom_gradient
    def scale(x, factor):
        return x * factor, lambda dy: (dy * factor * 10.0, None)

    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = scale(x, 2.0)
    return y, tape.gradient(y, x)


def case_custom_second_order(tf):
    @tf.custom_gradient
    def cube(x):
        return x**3, lambda dy: dy * 3.0 * x**2

    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = cube(x)
        g = inner.gradient(y, x)
    return y, g, outer.gradient(g, x)


def case_custom_nested_second_order(tf):
    @tf.custom_gradient
    def op(x):
        y = x * x

        @tf.custom_gradient
        def first_grad(dy):
            return dy * 7.0 * x, lambda ddy: ddy * 11.0 * x

        return y, first_grad

    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = op(x) * x
        g = inner.gradient(y, x)
    return g, outer.gradient(g, x)


def case_custom_third_order(tf):
    @tf.custom_gradient
    def quartic(x):
        return x**4, lambda dy: dy * 4.0 * x**3

    x = tf.constant(2.0)
    with tf.GradientTape() as t3:
        t3.watch(x)
        with tf.GradientTape() as t2:
            t2.watch(x)
            with tf.GradientTape() as t1:
                t1.watch(x)
                y = quartic(x)
            d1 = t1.gradient(y, x)
        d2 = t2.gradient(d1, x)
    return d1, d2, t3.gradient(d2, x)


def case_custom_calls_custom(tf):
    @tf.custom_gradient
    def double(x):
        return 2.0 * x, lambda dy: dy * 20.0

    @tf.custom_gradient
    def outer(x):
        return double(x) * 3.0, lambda dy: dy * 300.0

    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = outer(double(x))
    return y, tape.gradient(y, x)


def case_custom_upstream_shape(tf):
    shapes = []

    @tf.custom_gradient
    def total(x):
        def grad(dy):
            shapes.append(dy.shape)
            return dy * tf.ones_like(x) * 5.0

        return tf.reduce_sum(x), grad

    x = tf.Variable([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        y = total(x) * 3.0
    return tape.gradient(y, x), shapes


def case_custom_with_variables(tf):
    w = tf.Variable(3.0)

    @tf.custom_gradient
    def layer(x):
        def grad(dy, variables=None):
            return dy * w * 10.0, [dy * x * 100.0 for _ in variables]

        return x * w, grad

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = layer(x)
    return y, tape.gradient(y, [x, w])


@options(words=6)
def case_custom_variable_without_argument(tf):
    w = tf.Variable(3.0)

    @tf.custom_gradient
    def layer(x):
        return x * w, lambda dy: dy * w

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = layer(x)
    return y, tape.gradient(y, [x, w])


@options(words=6)
def case_custom_variables_argument_unused(tf):
    @tf.custom_gradient
    def layer(x):
        def grad(dy, variables=None):
            return dy * 7.0

        return x * 2.0, grad

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = layer(x)
    return y, tape.gradient(y, x)


def case_custom_variable_as_argument(tf):
    @tf.custom_gradient
    def layer(x):
        return x * 2.0, lambda dy: dy * 7.0

    w = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = layer(w)
    return y, tape.gradient(y, w)


def case_custom_wrong_number_of_gradients(tf):
    @tf.custom_gradient
    def bad(a, b):
        return a * b, lambda dy: dy

    a, b = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = bad(a, b)
    return attempt(lambda: tape.gradient(y, [a, b]), words=4)


@options(words=0)
def case_custom_no_gradient_function(tf):
    @tf.custom_gradient
    def bad(a):
        return a * 2.0

    return bad(tf.constant(1.0))


def case_custom_outside_tape(tf):
    calls = []

    @tf.custom_gradient
    def f(x):
        def grad(dy):
            calls.append("grad")
            return dy

        calls.append("forward")
        return x * 2.0, grad

    return f(tf.constant(3.0)), calls


def case_custom_backward_called_once_each(tf):
    calls = []

    @tf.custom_gradient
    def f(x):
        def grad(dy):
            calls.append("grad")
            return dy * 2.0

        calls.append("forward")
        return x * 2.0, grad

    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = f(x)
        z = f(y)
    first = tape.gradient(y, x)
    second = tape.gradient(z, x)
    return first, second, calls


def case_custom_unused_output(tf):
    @tf.custom_gradient
    def pair(a):
        def grad(da, db):
            return da + db * 100.0

        return (a * 2.0, a * 3.0), grad

    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y, _ = pair(x)
    return tape.gradient(y, x)


def case_custom_list_output(tf):
    @tf.custom_gradient
    def pair(a):
        return [a * 2.0, a * 3.0], lambda da, db: da * 10.0 + db

    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        out = pair(x)
        y = out[0] + out[1]
    return out, tape.gradient(y, x)


def case_custom_nest_argument(tf):
    @tf.custom_gradient
    def total(parts):
        def grad(dy):
            return {"a": dy * 10.0, "b": dy * 20.0}

        return parts["a"] + parts["b"], grad

    a, b = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = total({"a": a * 1.0, "b": b * 1.0})
    return attempt(lambda: (y, tape.gradient(y, [a, b])), words=0)


def case_custom_exception_in_backward(tf):
    @tf.custom_gradient
    def f(x):
        def grad(dy):
            raise ZeroDivisionError("in the backward pass")

        return x * 2.0, grad

    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = f(x)
        z = x * x
    return attempt(lambda: tape.gradient(y, x)), tape.gradient(z, x)


def case_custom_name_and_doc_kept(tf):
    @tf.custom_gradient
    def halve(x):
        """Half of x."""
        return x / 2.0, lambda dy: dy / 2.0

    return halve.__name__, halve.__doc__


def case_custom_jacobian(tf):
    @tf.custom_gradient
    def f(x):
        return x * x, lambda dy: dy * 7.0 * x

    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.jacobian(y, x)


def case_custom_reversed_gradient(tf):
    @tf.custom_gradient
    def flip(x):
        return tf.identity(x), lambda dy: -dy

    w, u = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        h = w * 4.0
        loss = u * flip(h) ** 2
    return loss, tape.gradient(loss, [w, u])


def case_custom_gradient_cast(tf):
    @tf.custom_gradient
    def f(x):
        return tf.cast(x, tf.float64) * 2.0, lambda dy: tf.cast(dy, tf.float32) * 5.0

    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = f(x)
    return y, tape.gradient(y, x)


def case_custom_int_input(tf):
    @tf.custom_gradient
    def pick(x, i):
        return tf.gather(x, i), lambda dy: (tf.one_hot(i, 3) * dy * 9.0, None)

    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = pick(x, tf.constant(1))
    return y, tape.gradient(y, x)


def case_recompute_grad(tf):
    w = tf.Variable([[0.5, -0.2], [0.1, 0.3]])

    def block(x):
        return tf.tanh(x @ tf.constant([[1.0, 2.0], [3.0, 4.0]]))

    x = tf.constant([[0.1, 0.2]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.recompute_grad(block)(x) @ w)
    return y, tape.gradient(y, [x, w])


def case_recompute_grad_variables(tf):
    w = tf.Variable([[0.5, -0.2], [0.1, 0.3]])

    @tf.recompute_grad
    def block(x):
        return tf.tanh(x @ w)

    x = tf.constant([[0.1, 0.2]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(block(block(x)) ** 2)
    return y, tape.gradient(y, [x, w])


def _recompute_grad_twice(after):
    def case(tf):
        x = tf.constant(0.5)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = after(tf.recompute_grad(lambda x: x * x * x)(x))
            g = tape.gradient(y, x)
        return g, outer.gradient(g, x)

    return case


CASES = {
    "recompute_grad_twice": _recompute_grad_twice(lambda y: y * 2.0),
    "recompute_grad_twice_and_an_op": _recompute_grad_twice(lambda y: y * y),
}


def case_recompute_grad_looks_at_a_value(tf):
    x = tf.constant(0.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.recompute_grad(lambda x: x * x if x > 0 else x)(x)
    return y, tape.gradient(y, x)


def case_recompute_grad_of_sizes_by_value(tf):
    """Inside of a function, whose Python runs where the host cannot do it."""
    w = tf.Variable([2.0, 3.0])

    def masked(x):
        if tf.reduce_sum(x) > 0:
            return tf.reduce_sum(tf.boolean_mask(x * w, x > 1.0))
        return tf.reduce_sum(x)

    def grown(x):
        rows = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        for i in tf.range(2):
            if x[0] > 0:
                rows = rows.write((i + 1) % 2, x[i] * w[1])
        return tf.reduce_sum(rows.stack())

    def gradients(block):
        @tf.function
        def run(x):
            @tf.recompute_grad
            def inner(x):
                return block(x)

            with tf.GradientTape() as tape:
                y = inner(x)
            return y, tape.gradient(y, w)

        return [run(tf.constant(x)) for x in ([1.5, 2.0], [0.5, 3.0], [-1.0, 0.5])]

    return attempts(tf, {f.__name__: lambda tf, f=f: gradients(f) for f in (masked, grown)})


def case_recompute_grad_counts(tf):
    calls = []

    @tf.recompute_grad
    def block(x):
        calls.append(1)
        return tf.sin(x) * 2.0

    x = tf.Variable(0.5)
    with tf.GradientTape() as tape:
        y = block(x)
    return y, tape.gradient(y, x)


def case_grad_pass_through(tf):
    x = tf.Variable([0.4, 1.6])
    with tf.GradientTape() as tape:
        y = tf.grad_pass_through(tf.round)(x) * 3.0
    return y, tape.gradient(y, x)


def case_custom_gradient_of_a_method(tf):
    class Layer:
        scale = 10.0

        @tf.custom_gradient
        def double(self, x):
            return x * 2.0, lambda dy: dy * self.scale

        @tf.custom_gradient
        def with_variables(self, x, y, k=1.0):
            def grad(dy, variables=None):
                return (dy * k, dy * y), [dy * 7.0 for _ in variables]

            return x * y * self.v * k, grad

        @classmethod
        @tf.custom_gradient
        def of_class(cls, x):
            return x * 2.0, lambda dy: dy * cls.scale * 3.0

        @staticmethod
        @tf.custom_gradient
        def of_none(x):
            return x * 2.0, lambda dy: dy * 5.0

        @tf.grad_pass_through
        def rounded(self, x):
            return tf.round(x) * self.scale

        @tf.custom_gradient
        def wrong(self, x):
            return x * 2.0, lambda dy: (None, dy)

    layer = Layer()
    layer.v = tf.Variable(4.0)
    x, y = tf.Variable(3.2), tf.Variable(2.0)

    def both(program):
        with tf.GradientTape() as tape:
            z = program() * x
        return z, tape.gradient(z, [x, y, layer.v])

    bound = layer.double
    return {
        "double": both(lambda: layer.double(x)),
        "bound": both(lambda: bound(x)),
        "twice": both(lambda: layer.double(layer.double(x))),
        "variables": both(lambda: layer.with_variables(x, y)),
        "keyword": both(lambda: layer.with_variables(x, y, k=3.0)),
        "static": both(lambda: layer.of_none(x)),
        "static of class": both(lambda: Layer.of_none(x)),
        "pass through": both(lambda: layer.rounded(x)),
        "wrong": attempt(both, lambda: layer.wrong(x)),
        "unbound": attempt(both, lambda: Layer.double(layer, x), words=4),
        "name": (Layer.double.__name__, layer.double.__name__),
    }


def case_custom_gradient_of_objects(tf):
    @tf.custom_gradient
    def f(a, x):
        return x * 2.0, lambda dy: (None, dy * 7.0)

    def run(a):
        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = f(a, x)
        return y, tape.gradient(y, x)

    given = {
        "text": "abc",
        "array": [1.0, 2.0],
        "none": None,
        "object": object(),
        "mixed": [1, "a"],
    }
    return {name: attempt(run, a, words=5) for name, a in given.items()}


def case_custom_gradient_method_of_module(tf):
    class Layer(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([1.0, 2.0])

        @tf.custom_gradient
        def __call__(self, x):
            def grad(dy, variables):
                return dy * 100.0, [dy * 10.0 for _ in variables]

            return self.w * x, grad

    layer = Layer()
    x = tf.constant([3.0, 4.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x) * x
        g, of_w = tape.gradient(y, [x, layer.w])
    return y, g, of_w, outer.gradient(g, x)


def case_recompute_grad_of_a_dict_of_references(tf):
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    block = tf.recompute_grad(lambda x, scales: [tf.reduce_sum(x * s) for s in scales.values()])
    answers = []
    for n in (1, 2, 3):
        x = tf.ones([n, 2])
        with tf.GradientTape() as tape:
            tape.watch(x)
            a, b = block(x, {w.ref(): w * 2.0, v.ref(): v * 3.0})
        answers.append((a + b, tape.gradient(a * b, [x, v, w])))
    return answers


def case_recompute_grad_of_changing_shapes(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    block = tf.recompute_grad(lambda x: tf.sin(x @ v))
    x = [tf.ones([n, 2]) * 0.1 for n in (1, 3, 2, 3, 1)]
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = sum(tf.reduce_sum(block(part)) for part in x)
    return y, tape.gradient(y, [*x, v])


def case_gradient_that_calls_its_own_function(tf):
    @tf.custom_gradient
    def exp(x):
        return tf.exp(x), lambda dy: dy * exp(x)

    @tf.function
    def derivatives(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = exp(x)
            first = tape.gradient(y, x)
        return y, first, outer.gradient(first, x)

    x = tf.constant([0.5, 1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        found = derivatives(x)
    return found, tape.gradient(found[2], x)


def case_gradient_that_raises_unless_asked_for(tf):
    @tf.custom_gradient
    def square(x):
        def grad(dy):
            raise LookupError("no gradient")

        return x * x, grad

    f = tf.function(square)
    x = tf.constant(3.0)
    assert f(x) == 9.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(lambda x: square(x))(x)
    return attempt(lambda: tape.gradient(y, x), words=2)


def case_nested_gradients_read_what_is_outside(tf):
    w = tf.Variable(2.0)

    @tf.custom_gradient
    def inner(x, scale):
        return x * x, lambda dy: (dy * 2.0 * x * scale, None)

    @tf.custom_gradient
    def outer(x, scale):
        return x**3, lambda dy: (dy * 3.0 * inner(x, scale), None)

    @tf.function
    def second(x):
        scale = tf.reduce_sum(x) + w
        with tf.GradientTape() as tape:
            tape.watch(x)
            with tf.GradientTape() as first:
                first.watch(x)
                y = outer(x, scale)
            g = first.gradient(y, x)
        return g, tape.gradient(g, x)

    return second(tf.constant([1.0, 2.0]))


def case_function_under_custom_gradient_runs_once(tf):
    calls = []

    @tf.custom_gradient
    def double(x):
        calls.append(1)
        return 2.0 * x, lambda dy: 2.0 * dy

    return tf.function(lambda x: double(x))(tf.constant(1.0)), len(calls)


def case_signature_of_a_function_under_custom_gradient(tf):
    @tf.custom_gradient
    def f(x, *others, scale=2.0):
        return x * scale, lambda dy: dy

    found = inspect.getfullargspec(f)
    return found.args, found.varargs, found.kwonlyargs


def case_gradient_function_is_a_tf_function(tf):
    w = tf.Variable(2.0)

    @tf.custom_gradient
    def scale(x):
        @tf.function
        def grad(dy, variables=None):
            return dy * 3.0, [dy * 5.0]

        return x * w, grad

    def derivatives(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = scale(x)
        return y, tape.gradient(y, [x, w])

    return derivatives(tf.constant(3.0)), tf.function(derivatives)(tf.constant(3.0))


def case_second_gradient_given_by_a_constant_function(tf):
    @tf.custom_gradient
    def slope(x):
        return tf.constant(-1.1), lambda dy: -2.1 * dy

    @tf.custom_gradient
    def shifted(x):
        return x + 10.0, lambda dy: dy * slope(x)

    def derivatives(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = shifted(x) ** 4.0
            first = inner.gradient(y, x)
        return first, outer.gradient(first, x)

    return derivatives(tf.constant(1.0)), tf.function(derivatives)(tf.constant(1.0))


def case_gradients_that_are_none_in_a_function(tf):
    w, u = tf.Variable(3.0), tf.Variable(2.0)

    @tf.custom_gradient
    def scaled(x, y):
        def grad(dy, variables=None):
            return (dy * y, None), [None if v is u else 7.0 * dy for v in variables]

        return x * y * w * u, grad

    def program(x, y):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = scaled(x, y) * 1.0
        found = tape.gradient(z, [x, y, w, u])
        connected.append([g is not None for g in found])
        return [g for g in found if g is not None]

    x, y = tf.constant(2.0), tf.constant(5.0)
    connected: list = []
    results = [program(x, y), tf.function(program)(x, y)]
    recorded = tf.function(lambda x, y: scaled(x, y))
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = recorded(x, y) * 1.0
    return results, connected, tape.gradient(z, [x, y, w, u])


def case_captured_tensors_are_not_connected(tf):
    c = tf.constant(4.0)

    def program(x):
        with tf.GradientTape() as tape:
            tape.watch([x, c])
            k = c * 1.0
            y = tf.custom_gradient(lambda x: (x * k, lambda dy: dy * k))(x)
        connected.append(tape.gradient(y, c) is not None)
        return y

    connected: list = []
    return program(tf.constant(2.0)), tf.function(program)(tf.constant(2.0)), connected


def case_a_gradient_of_one_number_for_a_vector(tf):
    half = tf.custom_gradient(lambda x: (x * x, lambda dy: tf.constant(0.5)))

    def program(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = half(x)
        return tape.gradient(y, x) * x

    x = tf.constant([1.0, 2.0])
    return program(x), tf.function(program)(x)


def case_checks_in_gradient_functions(tf):
    """They are no part of the call: there is no gradient then."""

    @tf.custom_gradient
    def square(x):
        def grad(dy):
            tf.print("gradient", dy)
            tf.debugging.assert_greater(dy, 0.0)
            return dy * 2.0

        return x * x, grad

    inner = tf.function(lambda x: square(x) + 1.0)
    with printed() as lines:
        values = [tf.function(f)(tf.constant(3.0)) for f in (square, lambda x: inner(x) * 2.0)]
    return values, lines
