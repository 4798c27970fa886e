"""What is connected to what: where a derivative is None, and where it is zeros."""

from collections.abc import Callable
from typing import Any

ONE: dict[str, Callable[[Any, Any], Any]] = {
    "abs": lambda tf, x: tf.abs(x),
    "sign": lambda tf, x: tf.sign(x),
    "floor": lambda tf, x: tf.floor(x) + x,
    "square": lambda tf, x: tf.square(x),
    "exp": lambda tf, x: tf.exp(x),
    "tanh": lambda tf, x: tf.tanh(x),
    "identity": lambda tf, x: tf.identity(x),
    "relu": lambda tf, x: tf.nn.relu(x),
    "relu6": lambda tf, x: tf.nn.relu6(x),
    "leaky_relu": lambda tf, x: tf.nn.leaky_relu(x),
    "crelu": lambda tf, x: tf.nn.crelu(x),
    "elu": lambda tf, x: tf.nn.elu(x),
    "selu": lambda tf, x: tf.nn.selu(x),
    "softplus": lambda tf, x: tf.nn.softplus(x),
    "maximum_of_number": lambda tf, x: tf.maximum(x, 0.5),
    "clip_by_value": lambda tf, x: tf.clip_by_value(x, 0.3, 0.6),
    "clip_by_norm": lambda tf, x: tf.clip_by_norm(x, 0.3),
    "where_mask": lambda tf, x: tf.where(x > 0.5, x * x, x),
    "where_linear": lambda tf, x: tf.where(x > 0.5, x, 2.0 * x),
    "reduce_sum": lambda tf, x: tf.reduce_sum(x),
    "reduce_max": lambda tf, x: tf.reduce_max(x),
    "reduce_min": lambda tf, x: tf.reduce_min(x),
    "reduce_prod": lambda tf, x: tf.reduce_prod(x),
    "sort": lambda tf, x: tf.sort(x),
    "top_k": lambda tf, x: tf.math.top_k(x, 1).values,
    "gather_argsort": lambda tf, x: tf.gather(x, tf.argsort(x)),
    "max_pool": lambda tf, x: tf.nn.max_pool2d(tf.reshape(x, [1, 2, 1, 1]), 2, 1, "SAME"),
    "cumsum": lambda tf, x: tf.cumsum(x),
    "mod_number": lambda tf, x: x % 0.3,
    "floordiv_number": lambda tf, x: x // 0.3 + x,
    "power_0": lambda tf, x: x**0,
    "power_1": lambda tf, x: x**1.0,
    "power_2": lambda tf, x: x**2,
    "unstack": lambda tf, x: tf.unstack(x)[0] * tf.unstack(x)[1],
    "cast": lambda tf, x: tf.cast(x, tf.float64),
    "boolean_mask": lambda tf, x: tf.boolean_mask(x, x > 0.5),
    "l2_normalize": lambda tf, x: tf.nn.l2_normalize(x),
    "segment_sum": lambda tf, x: tf.math.segment_sum(x, [0, 0]),
}

TWO: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda tf, x, y: x + y,
    "multiply": lambda tf, x, y: x * y,
    "divide": lambda tf, x, y: x / y,
    "divide_no_nan": lambda tf, x, y: tf.math.divide_no_nan(x, y),
    "multiply_no_nan": lambda tf, x, y: tf.math.multiply_no_nan(x, y),
    "power": lambda tf, x, y: x**y,
    "maximum": lambda tf, x, y: tf.maximum(x, y),
    "minimum": lambda tf, x, y: tf.minimum(x, y),
    "where": lambda tf, x, y: tf.where(x > y, x, y),
    "mod": lambda tf, x, y: x % y,
    "nextafter": lambda tf, x, y: tf.math.nextafter(x, y),
    "squared_difference": lambda tf, x, y: tf.math.squared_difference(x, y),
    "matmul": lambda tf, x, y: x[None] @ y[:, None],
    "tensordot": lambda tf, x, y: tf.tensordot(x, y, 1),
    "einsum": lambda tf, x, y: tf.einsum("i,j->ij", x, y),
    "conv": lambda tf, x, y: tf.nn.conv1d(
        tf.reshape(x, [1, 2, 1]), tf.reshape(y, [2, 1, 1]), 1, "SAME"
    ),
    "concat": lambda tf, x, y: tf.concat([x, y], 0),
    "stack_product": lambda tf, x, y: tf.stack([x, y]) * x,
    "gather_product": lambda tf, x, y: tf.gather(x, [0, 0]) * y,
    "xlogy": lambda tf, x, y: tf.math.xlogy(x, y),
    "xdivy": lambda tf, x, y: tf.math.xdivy(x, y),
    "xlog1py": lambda tf, x, y: tf.math.xlog1py(x, y),
    "sigmoid_cross_entropy": lambda tf, x, y: tf.nn.sigmoid_cross_entropy_with_logits(x, y),
    "softmax_cross_entropy": lambda tf, x, y: tf.nn.softmax_cross_entropy_with_logits(x, y),
    "scatter_max": lambda tf, x, y: tf.tensor_scatter_nd_max(x, [[0]], y[:1]),
    "scatter_update": lambda tf, x, y: tf.tensor_scatter_nd_update(x, [[0]], y[:1]),
}


def _of_each(op, *values):
    """First derivatives by each input, and of each of them its own by each input."""

    def case(tf):
        inputs = [tf.constant(v) for v in values]
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(inputs)
            with tf.GradientTape() as inner:
                inner.watch(inputs)
                z = op(tf, *inputs)
            first = inner.gradient(z, inputs)
            first = [g if g is None else tf.convert_to_tensor(g) for g in first]
        return first, [g if g is None else outer.gradient(g, inputs) for g in first]

    return case


X, Y = [0.3, 0.8], [0.5, 0.45]
CASES = {f"second_{name}": _of_each(op, X) for name, op in ONE.items()}
CASES |= {f"second_{name}_of_two": _of_each(op, X, Y) for name, op in TWO.items()}
CASES["second_of_relu_at_its_kink"] = _of_each(lambda tf, x: tf.nn.relu(x) * 2.0, [-1.0, 0.0, 0.5])


def case_second_by_jacobian(tf):
    x, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape(persistent=True) as inner:
            y = x * w
        gx, gw = inner.gradient(y, [x, w])
        jx, jw = inner.jacobian(y, [x, w])
    return (
        outer.jacobian(gx, [x, w]),
        outer.jacobian(gw, [x, w]),
        outer.gradient(jx, [x, w]),
        outer.gradient(jw, [x, w]),
    )


def case_some_cotangents_of_a_gradient(tf):
    """Of the two derivatives of a product only one goes on."""
    x, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            y = x * w
        gx, gw = inner.gradient(y, [x, w])
        used, both = tf.sin(gx), gx * gw
    return outer.gradient(used, [x, w]), outer.gradient(both, [x, w])


def case_jacobian_of_the_untracked_by_itself(tf):
    c = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.sin(c)
    return tape.jacobian(y, y), tape.jacobian(y, c), tape.gradient(y, y)


def case_batch_jacobian_of_the_untracked_by_itself(tf):
    c = tf.constant([[1.0, 2.0]])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.sin(c)
    return tape.batch_jacobian(y, y), tape.batch_jacobian(c, c)


def case_jacobian_by_tracked_and_untracked(tf):
    c, u, v = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]), tf.Variable([5.0, 6.0])
    fixed = tf.Variable([7.0, 8.0], trainable=False)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(c)
        y = c * u * v * fixed
    return (
        tape.jacobian(y, [c, u]),
        tape.jacobian(y, [u, v, fixed]),
        tape.jacobian(y, [u, fixed]),
        tape.jacobian(y, u),
        tape.jacobian(y, [u, c], unconnected_gradients="zero"),
    )


def case_jacobian_of_a_tracked_tensor_by_itself(tf):
    c = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(c)
        y = c * 2.0
    return tape.jacobian(y, [y, c]), tape.jacobian(c, c)


def case_cast_of_a_variable_to_its_dtype(tf):
    v = tf.Variable([1.0, 2.0])
    same, other = tf.cast(v, tf.float32), tf.cast(v, tf.float64)
    with tf.GradientTape(persistent=True) as tape:
        a, b = tf.sin(same), tf.sin(other)
    return same is v, tape.gradient(a, v), tape.gradient(b, v)


def _relu_layers(tf, x, w):
    return tf.nn.max_pool2d(
        tf.reshape(tf.nn.leaky_relu(tf.nn.relu(x @ w) - 0.5, 0.3), [1, 2, 2, 1]), 2, 1, "SAME"
    )


def case_second_through_layers_that_compare(tf):
    """Zeros by what is only compared, and what comes by other ways beside them."""
    x, w = tf.constant([[0.3, 0.8], [-0.5, 2.0]]), tf.Variable([[1.0, -1.0], [0.5, 2.0]])
    v = tf.Variable([[2.0, 1.0], [1.0, 3.0]])
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            hidden = _relu_layers(tf, x * v, w)
            y = tf.reduce_sum(hidden)
        g = inner.gradient(y, x)
        both = tf.reduce_sum(g * g) + tf.reduce_sum(hidden**2)
    return g, outer.gradient(g, [x, w, v]), outer.gradient(both, [x, w, v])


def case_second_only_compared_through_a_custom_gradient(tf):
    @tf.custom_gradient
    def twice(x):
        return 2.0 * x, lambda upstream: upstream + 1.0

    x = tf.constant([1.0, -1.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            h = twice(x)
            inner.watch(h)
            y = tf.nn.relu(h)
        g = inner.gradient(y, h)
    return g, outer.gradient(g, x)


def case_jacobian_of_layers_that_compare(tf):
    x = tf.constant([[0.3, 0.8], [-0.5, 2.0]])
    w = tf.Variable([[1.0, -1.0], [0.5, 2.0]])
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.nn.relu(x @ w)
        j = inner.jacobian(y, x)
    return j, outer.gradient(j, [x, w])


def case_gather_counted_from_the_end_gives_dense_gradients(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        last, first = tf.gather(x, [2, 0], axis=-1), tf.gather(x, [2, 0], axis=0)
    kinds = [isinstance(tape.gradient(y, x), tf.IndexedSlices) for y in (last, first)]
    return kinds, tape.gradient(last, x)


def case_zeros_through_a_custom_gradient_in_a_call(tf):
    """Its gradient makes something of the zeros that a comparison has for one."""

    @tf.custom_gradient
    def twice(x):
        return 2.0 * x, lambda upstream: upstream + 1.0

    inside = tf.function(lambda x: twice(x) * 1.0)
    branch = tf.function(lambda x: tf.cond(x[0] > 0.0, lambda: twice(x), lambda: x))

    def second(function):
        x = tf.constant([1.0, -1.0])
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                h = function(x)
                inner.watch(h)
                y = tf.nn.relu(h)
            g = inner.gradient(y, h)
        return g, outer.gradient(g, x)

    return {
        "eager": second(twice),
        "in a call": second(inside),
        "in a branch": second(branch),
        "recorded": tf.function(lambda: second(twice))(),
        "recorded call": tf.function(lambda: second(inside))(),
    }


def case_what_a_function_assigns_is_no_result(tf):
    """A result depends on what a variable held only where it was computed from it."""
    v, w = tf.Variable([0.5, -0.2]), tf.Variable(0.3)

    def assigns(x):
        v.assign(tf.tanh(v * x))
        return tf.cond(x > 0.0, lambda: x * 2.0, lambda: tf.sin(x))

    def of_two(x):
        w.assign_add(tf.reduce_sum(v) * x)
        return tf.sin(x), w * 2.0

    def in_an_inner_one(x):
        @tf.function
        def inner(y):
            w.assign(y * w)
            return tf.reduce_sum(v)

        return inner(x), tf.cos(x)

    def gradients(function, x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            results = tf.nest.flatten(tf.function(function)(x))
            after = tf.reduce_sum(v) * w
        return [tape.gradient(y, [x, v, w]) for y in (*results, after)]

    functions = assigns, of_two, in_an_inner_one
    x = tf.constant(-0.3)
    recorded = [tf.function(lambda x, f=f: gradients(f, x))(x) for f in functions]
    return [gradients(f, x) for f in functions], recorded


def case_by_what_a_loop_does_not_pass_on(tf):
    """A loop is one op: gradients by what it reads, to decide or to count, are zeros."""

    def derived(program):
        def f(x, z):
            with tf.GradientTape() as tape:
                tape.watch([x, z])
                y = program(x, z)
            return [tf.constant(-1.0) if g is None else g for g in tape.gradient(y, [x, z])]

        return tf.function(f, autograph=False)(tf.constant(3.0), tf.constant(2.0))

    def loop(test, body, *start):
        return tf.while_loop(test, body, start or (tf.constant(0.0), tf.constant(1.0)))[1]

    return [
        derived(lambda x, z: loop(lambda i, a: i < x, lambda i, a: (i + 1.0, a * z))),
        derived(lambda x, z: loop(lambda i, a: i < 5.0, lambda i, a: (i + x, a * z))),
        derived(lambda x, z: loop(lambda i, a: i < 5.0, lambda i, a: (i + 1.0, a * z), x, z)),
        derived(lambda x, z: tf.map_fn(lambda r: tf.where(x > 0.0, r * z, r), tf.ones([2]))),
    ]


def case_what_has_no_gradient_is_a_source_by_itself(tf):
    x = tf.constant([1.5, -2.5])
    functions = {
        "floor": tf.floor,
        "ceil": tf.math.ceil,
        "round": tf.round,
        "rint": tf.math.rint,
        "floordiv": lambda x: x // 0.7,
        "truncatediv": lambda x: tf.truncatediv(x, 0.7),
        "stop": tf.stop_gradient,
        "bools": lambda x: tf.cast(x > 0.0, tf.float32),
        "hsv": lambda x: tf.image.hsv_to_rgb(tf.stack([x[0], x[1], x[0]])),
        "imag": tf.math.imag,
        "angle": tf.math.angle,
        "function": tf.function(tf.floor),
    }

    def found(function):
        with tf.GradientTape(persistent=True) as outer, tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            outer.watch(x)
            y = function(x * 2.0)
            z = tf.cast(y, tf.float32) ** 2
        slope = tape.gradient(z, y)
        jacobian = tape.jacobian(z, y)
        return slope, jacobian, tape.gradient(z, x), outer.gradient([z, y], [y, x])

    return {name: found(function) for name, function in functions.items()}


def case_what_has_no_gradient_is_a_source_inside_functions(tf):
    @tf.function
    def steps(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.round(x * 2.0)
            z = y * y * x
        return tape.gradient(z, y), tape.gradient(z, x)

    x = tf.constant([1.5, -2.2])
    with tf.GradientTape() as tape:
        tape.watch(x)
        found = steps(x)
    return found, tape.gradient(found, x)


def _slope(tf, outer, function, x):
    """The gradient of a function by `x`, which an outer tape records and watches."""
    outer.watch(x)
    with tf.GradientTape() as inner:
        inner.watch(x)
        y = function(x)
    return inner.gradient(y, x)


def case_second_of_linear_functions(tf):
    """The gradient of a function reads what the function computed; then all its inputs count."""
    x, w = tf.constant([[0.3, -0.2], [1.0, 2.0]]), tf.Variable([[1.0, 2.0], [3.0, 5.0]])
    triple = tf.function(lambda x: 3.0 * x)
    functions = {
        "by a number": triple,
        "number added": tf.function(lambda x: x + 3.0),
        "divided": tf.function(lambda x: x / 4.0),
        "sum": tf.function(lambda x: tf.reduce_sum(x) - tf.reduce_mean(x)),
        "by a variable": tf.function(lambda x: x @ w),
        "with a variable": tf.function(lambda x: x + w),
        "both": tf.function(lambda x: tf.reduce_sum(x * 2.0) + tf.reduce_sum(w)),
        "chosen": tf.function(lambda x: tf.where(x > 0.5, x, 2.0 * x)),
        "masked": tf.function(lambda x: tf.where(x > 0.5, x, 0.0)),
        "moved": tf.function(lambda x: tf.transpose(tf.concat([x, x], 0))),
        "steps": tf.function(lambda x: tf.floor(x) * x),
        "of rows": tf.function(lambda x: tf.map_fn(lambda row: row * 2.0, x)),
        "inner": tf.function(lambda x: triple(triple(x)) + x),
        "inner of eager code": lambda x: 2.0 * triple(x),
        "two results": tf.function(lambda x: (3.0 * x, x + 1.0)),
    }

    def second(function):
        with tf.GradientTape(persistent=True) as outer:
            slope = _slope(tf, outer, function, x)
        return slope, outer.gradient(slope, [x, w]), outer.jacobian(slope, x)

    return {name: second(function) for name, function in functions.items()}


def case_second_of_no_elements(tf):
    """What is connected does not depend on how many elements there are."""
    ops = {
        "relu": tf.nn.relu,
        "abs": tf.abs,
        "sum": lambda x: 3.0 * tf.reduce_sum(x),
        "added": lambda x: x + 1.0,
        "square": tf.square,
        "reshape": lambda x: tf.reshape(x, [2, 3, 0]),
        "logsumexp": lambda x: tf.math.cumulative_logsumexp(x, axis=1),
        "filled": lambda x: tf.concat([x, tf.ones([0, 1])], 1),
    }

    def second(op):
        x = tf.zeros([0, 6])
        with tf.GradientTape() as outer:
            slope = _slope(tf, outer, op, x)
        return slope, outer.gradient(slope, x)

    return {name: second(op) for name, op in ops.items()}


def case_grids(tf):
    """Each is of one of the vectors only."""
    x, y, z = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0, 5.0]), tf.zeros([0])
    found = {}
    for indexing in ("xy", "ij"):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, y, z])
            grids = tf.meshgrid(x, y, indexing=indexing) + tf.meshgrid(y, z, x, indexing=indexing)
        found[indexing] = grids, [tape.gradient(g, [x, y, z]) for g in grids]
    return found, tf.meshgrid(x), tf.meshgrid([[1, 2]], 3)
