"""Graph-like functions inside `tf.function`: gradients, group, tuple, operations."""

import numpy as np

from tests.parity.harness import attempt, attempts

NEEDS = ("function", "gradients", "group")


def inside(tf, program, *args):
    return tf.function(program, autograph=False)(*args)


def vector(tf):
    return tf.constant([1.0, 2.0])


def case_gradients_of_a_variable(tf):
    v, w = tf.Variable(3.0), tf.Variable(1.0)
    return inside(tf, lambda: tf.gradients(v * v * w, [v, w]))


def case_gradients_of_a_variable_assigned_between(tf):
    v = tf.Variable(3.0)

    def program():
        y = v * v
        v.assign(5.0)
        return tf.gradients(y + v * v, v)

    return inside(tf, program), v


def case_gradients_by_what_lies_between(tf):
    def program(x):
        y = x * 2.0
        return tf.gradients(y * y, [x, y]), tf.gradients([y, y * x], [y, x])

    return inside(tf, program, vector(tf))


def case_gradients_stopped(tf):
    def program(x):
        y = x * 2.0
        z = y * y + x
        return (
            tf.gradients(z, [x, y], stop_gradients=[y]),
            tf.gradients(z, [x, y], stop_gradients=[x]),
            tf.gradients(z, x, stop_gradients=y),
        )

    return inside(tf, program, vector(tf))


def case_gradients_of_rows(tf):
    def program(p):
        g = tf.gradients(tf.gather(p, [0, 0, 1]), p)[0]
        return isinstance(g, tf.IndexedSlices), tf.convert_to_tensor(g)

    return inside(tf, program, tf.constant([[1.0], [2.0]]))


def case_gradients_unconnected(tf):
    v = tf.Variable(2.0)

    def program(x):
        found = tf.gradients(tf.constant(1.0), [x, v])
        n = tf.gradients(x * x, tf.constant(2))
        zeros = tf.gradients(x, [v, x], unconnected_gradients=tf.UnconnectedGradients.ZERO)
        return [g is None for g in (*found, *n)], zeros

    return inside(tf, program, vector(tf))


def case_gradients_of_itself(tf):
    return inside(tf, lambda x: tf.gradients(x, x), vector(tf))


def case_gradients_by_a_constant_outside(tf):
    x = vector(tf)
    return inside(tf, lambda: tf.gradients(x * x, x))


def case_gradients_weighted(tf):
    def program(x):
        return (
            tf.gradients([x * x, x], x, grad_ys=[None, x]),
            tf.gradients(x * x, x, grad_ys=x),
            tf.gradients([[x * x], x], [x]),
        )

    return inside(tf, program, vector(tf))


def case_gradients_weights_too_few(tf):
    return attempt(
        lambda: inside(tf, lambda x: tf.gradients([x * x, x], x, grad_ys=[x]), vector(tf)), words=6
    )


def case_gradients_unknown_option(tf):
    return attempt(
        lambda: inside(tf, lambda x: tf.gradients(x, x, unconnected_gradients="n"), vector(tf)),
        words=4,
    )


def case_gradients_in_a_branch(tf):
    def program(x):
        return tf.cond(x[0] > 0, lambda: tf.gradients(x * x * x, x)[0], lambda: x)

    return inside(tf, program, vector(tf))


def case_gradients_through_a_branch_and_a_call(tf):
    cube = tf.function(lambda x: x * x * x)

    def program(x):
        y = tf.cond(x[0] > 0, lambda: x * x, lambda: x)
        return tf.gradients(y + cube(x), x)

    return inside(tf, program, vector(tf))


def case_gradients_under_a_tape(tf):
    def program(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.gradients(x * x * x, x)[0]
        return tape.gradient(y, x)

    return inside(tf, program, vector(tf))


def case_gradients_of_a_call_that_takes_them(tf):
    x = vector(tf)
    slope = tf.function(lambda x: tf.gradients(tf.sin(x), x)[0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = slope(x)
    return y, tape.gradient(y, x)


def case_gradients_of_a_step(tf):
    v = tf.Variable([1.0, -1.0])

    @tf.function
    def step(x):
        loss = tf.reduce_sum((v * x - 1.0) ** 2)
        v.assign_sub(0.1 * tf.gradients(loss, v)[0])
        return loss

    return [step(vector(tf)) for _ in range(3)], v


def case_gradients_with_unknown_sizes(tf):
    f = tf.function(
        lambda x: tf.gradients(tf.reduce_sum(tf.nn.softmax(x) ** 2), x)[0],
        input_signature=[tf.TensorSpec([None, 2])],
        autograph=False,
    )
    return f(tf.constant([[1.0, 2.0], [3.0, 5.0]])), f(tf.constant([[1.0, 2.0]]))


def case_gradients_through_a_loop(tf):
    def program(x):
        y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x])[1]
        return tf.gradients(y, x)

    return inside(tf, program, tf.constant(2.0))


def case_gradients_through_rules_of_ones_own(tf):
    @tf.custom_gradient
    def square(x):
        return x * x, lambda g: g * 100.0

    def program(x):
        cube = tf.recompute_grad(lambda z: z * z * z)
        return tf.gradients(square(x) * x, x), tf.gradients(cube(x), x)

    return inside(tf, program, tf.constant(2.0))


def case_gradients_of_ops_with_several_results(tf):
    def program(x):
        a, b, c = tf.unstack(x)
        q, r = tf.linalg.qr(tf.reshape(tf.stack([a, b, c, a * b]), [2, 2]))
        return tf.gradients([q, r], [a, b, x])

    return inside(tf, program, tf.constant([1.0, 2.0, 3.0]))


def case_gradients_of_an_embedding(tf):
    v = tf.Variable([[1.0], [2.0]])

    def program(ids):
        g = tf.gradients(tf.reduce_sum(tf.nn.embedding_lookup(v, ids) ** 2), v)[0]
        v.scatter_sub(tf.IndexedSlices(0.1 * g.values, g.indices))
        return g.values

    return inside(tf, program, tf.constant([0, 0])), v


def case_group_refusals(tf):
    x = vector(tf)
    return attempts(
        tf,
        {
            "number": lambda tf: inside(tf, lambda: [tf.group(3), x][1]),
            "keyword": lambda tf: inside(tf, lambda: [tf.group(x, foo=3), x][1]),
            "returned": lambda tf: inside(tf, lambda: tf.group(x)),
            "eager": lambda tf: (tf.group(3, foo=3), tf.no_op(), tf.group()),
            "nested": lambda tf: inside(tf, lambda: [tf.group([x, [x]], name="all"), x][1]),
        },
    )


def case_tuple(tf):
    x = vector(tf)
    return attempts(
        tf,
        {
            "eager": lambda tf: tf.tuple([x, 3, None], control_inputs=[x]),
            "inside": lambda tf: inside(tf, lambda x: tf.tuple([x, x * 2.0, None, 3]), x),
            "none": lambda tf: inside(tf, lambda: tf.tuple([None])),
            "order": lambda tf: inside(tf, lambda x: tf.tuple((x,))[0], x),
        },
    )


def case_operations(tf):
    seen = []

    def program(x):
        y = tf.exp(x)
        a, b = tf.split(y, 2)
        graph = x.graph
        seen.append((y.op.type, y.op.name, [t.name for t in y.op.inputs], b.value_index))
        seen.append((y.op.outputs[0].name, y.op.graph is graph, isinstance(y.op, tf.Operation)))
        seen.append((isinstance(graph, tf.Graph), graph.building_function))
        seen.append(graph.get_operation_by_name("Exp").type)
        seen.append(graph.get_tensor_by_name("Exp:0").name)
        with graph.as_default():
            z = tf.exp(a)
        return z + b

    f = tf.function(program, autograph=False)
    concrete = f.get_concrete_function(tf.TensorSpec([2], tf.float32))
    graph = concrete.graph
    names = [op.name for op in graph.get_operations()]
    seen.append([t.name for t in graph.inputs])
    seen.append((len(graph.outputs), "Exp" in names, "x" in names, "split" in names))
    return concrete(tf.constant(np.float32([0.0, 1.0]))), seen


def case_gradients_by_tensors_of_operations(tf):
    weights = tf.Variable([1.0, 2.0])

    def program(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            logits = x * weights + 1.0
            y = tf.sigmoid(logits)
            given = y.op.inputs[0]
            squares = [
                tf.square(t)
                for t in (
                    given,
                    given.op.inputs[0].op.inputs[0],
                    given.op.inputs[0].op.inputs[1],
                    y.op.outputs[0],
                    x.graph.get_tensor_by_name("Sigmoid:0"),
                    x.graph.get_operation_by_name("Sigmoid").inputs[0],
                )
            ]
        same = (given is logits, y.op.outputs[0] is y, logits.op.inputs[0].op.inputs[0] is x)
        sources = [x, weights, logits, y]
        return [tape.gradient(square, sources) for square in squares], same

    return tf.function(program, autograph=False)(tf.constant([0.3, 0.4]))


def case_gradient_through_a_graph_as_default(tf):
    weights = tf.Variable([1.0, 2.0])

    @tf.function(autograph=False)
    def program(x):
        with tf.GradientTape() as tape:
            y = x * weights
            with x.graph.as_default():
                z = tf.square(y)
        return tape.gradient(z, weights)

    return program(tf.constant([0.3, 0.4]))


def case_operation_not_there(tf):
    seen = []

    def program(x):
        try:
            x.graph.get_operation_by_name("Nothing")
        except KeyError as error:
            seen.append(str(error))
        return x

    inside(tf, program, vector(tf))
    return seen


def case_graph_def(tf):
    three, many = tf.constant([3.0, 4.0]), tf.zeros([200])
    functions = [
        tf.function(lambda x: tf.exp(x) * 2.0 + three),
        tf.function(lambda x: (tf.exp(x), x)),
        tf.function(lambda x: None),
        tf.function(lambda x: tf.exp(tf.exp(x + 1.0) + 2.0)),
    ]
    found = []
    for f in functions:
        graph = f.get_concrete_function(tf.TensorSpec([2], tf.float32)).graph
        nodes = graph.as_graph_def().node
        found.append([(node.name, node.op, list(node.input)) for node in nodes])
        found.append([(op.name, op.type) for op in graph.get_operations()])
    graph = functions[0].get_concrete_function(tf.TensorSpec([2], tf.float32)).graph
    last = graph.get_operation_by_name("Identity")
    found.append((last.type, [x.name for x in last.inputs], last.outputs[0].shape))
    large = tf.function(lambda x: x + many).get_concrete_function(tf.TensorSpec([], tf.float32))
    found.append([node.op for node in large.graph.as_graph_def().node])
    return found


def case_graph_of_a_constant(tf):
    @tf.function
    def f(x):
        assert tf.constant(1.0).graph is x.graph
        return x

    return f(tf.constant(1.0)), hasattr(tf.constant(1.0), "graph")


def case_operations_in_branches(tf):
    @tf.function
    def f(x):
        tf.cond(x > 0, tf.no_op, tf.no_op)
        tf.cond(x > 0, lambda: tf.print("", end=""), tf.no_op)
        return tf.cond(x > 0, lambda: (tf.no_op(), x), lambda: (tf.no_op(), -x))[1]

    return f(tf.constant(-1.0))


def case_operations_of_assignments(tf):
    v, found = tf.Variable([1.0, 2.0]), []

    def step(x):
        ops = [v.assign_add(x).op, v.assign(x).op, v.scatter_nd_update([[0]], [7.0]).op]
        found.extend([op if op is None else op.type for op in ops])
        with tf.control_dependencies([v.assign_sub(x).op] if tf.inside_function() else []):
            return v * 2.0

    results = [step(tf.constant([1.0, 2.0])), tf.function(step)(tf.constant([3.0, 4.0]))]
    return results, found, v, attempt(lambda: v.op)


def case_creators_of_graphs(tf):
    def seen():
        return bool(tf.compat.v1.get_default_graph()._variable_creator_stack)

    with tf.variable_creator_scope(lambda make, **kwargs: make(**kwargs)):
        inside = seen()
    return seen(), inside


def case_checks_are_operations(tf):
    """So that they can be grouped, and ops can depend on them; in eager code they are None."""
    v1, found = tf.compat.v1, []

    def checked(x, y):
        debugging, sizes = tf.debugging, tf.shape(x)
        checks = [
            debugging.Assert(tf.reduce_all(x > 0), [x]),
            debugging.assert_equal(sizes, tf.shape(y)),
            debugging.assert_equal(2, 2),
            debugging.assert_none_equal(x, y + 1),
            debugging.assert_less(x, y + 1),
            debugging.assert_less_equal(x, y),
            debugging.assert_greater(y + 1, x),
            debugging.assert_greater_equal(x, y),
            debugging.assert_positive(x),
            debugging.assert_negative(-x),
            debugging.assert_non_negative(x),
            debugging.assert_non_positive(-x),
            debugging.assert_near(x, y),
            debugging.assert_rank(x, 1),
            debugging.assert_rank_at_least(x, 1),
            debugging.assert_rank_in(x, [1, 2]),
            v1.assert_equal(x, y),
            v1.assert_rank(x, 1),
            v1.assert_type(x, tf.float32),
            v1.assert_integer(sizes),
            v1.debugging.assert_shapes([(x, ("N",))]),
        ]
        others = [
            debugging.assert_shapes([(x, ("N",))]),
            debugging.assert_type(x, tf.float32),
            debugging.assert_scalar(x[0]),
            debugging.assert_integer(sizes),
        ]
        found.append([None if check is None else type(check).__name__ for check in checks])
        found.append(others)
        with tf.control_dependencies([tf.group(*checks), *checks]):
            return x + v1.assert_scalar(y[0])

    x = tf.ones(3)
    fixed, unknown = tf.function(checked), tf.function(checked)
    unknown.get_concrete_function(*[tf.TensorSpec([None])] * 2)
    return checked(x, x), fixed(x, x), found, attempts(tf, {"alone": _returning_a_check})


def case_what_has_no_result_is_an_operation(tf):
    """In functions, so that it can be grouped; in eager code it is None."""
    v, found = tf.Variable([1.0, 2.0]), []
    slots = [tf.Variable([0.0, 0.0]) for _ in range(2)]

    def update(x):
        raw, handle = tf.raw_ops, v.handle
        done = [
            v.assign(x, read_value=False),
            v.assign_add(x, read_value=False),
            v.assign_sub(x, read_value=False),
            v.assign(x).assign_add(x, read_value=False),
            raw.AssignAddVariableOp(resource=handle, value=x),
            raw.ResourceApplyGradientDescent(var=handle, alpha=0.5, delta=x),
            raw.ResourceApplyAdagradV2(
                var=handle, accum=slots[0].handle, lr=0.1, epsilon=0.1, grad=x
            ),
            raw.ResourceScatterAdd(resource=handle, indices=[0], updates=[1.0]),
            raw.ResourceScatterNdUpdate(ref=handle, indices=[[1]], updates=[1.0]),
            raw.NoOp(),
            tf.print("done", output_stream="file:///dev/null"),
            tf.py_function(lambda: None, [], []),
            tf.numpy_function(lambda: None, [], []),
        ]
        found.append([(type(x).__name__, x and x.type) for x in done])
        with tf.control_dependencies([tf.group(*done), *done]):
            return v + 0.0

    x = tf.constant([3.0, 4.0])
    update(x)
    return tf.function(update)(x), found, slots


def case_branches_that_give_operations(tf):
    """A conditional of them gives a tensor, which can be grouped too."""
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def update(x, c):
        chosen = tf.cond(c, lambda: v.assign(x, read_value=False), lambda: tf.no_op())
        with tf.control_dependencies([chosen]):
            several = tf.cond(c, lambda: [tf.group(v), x], lambda: [v.assign(x).op, x + 1.0])
        which = tf.switch_case(
            tf.cast(c, "int32"), [lambda: tf.no_op(), lambda: v.assign_add(x, read_value=False)]
        )
        with tf.control_dependencies([tf.group(chosen, several, which)]):
            return v + 0.0, chosen, several, which

    return [update(tf.constant([3.0, 4.0]), tf.constant(c)) for c in (True, False)], v


def _returning_a_check(tf):
    return tf.function(lambda x: tf.debugging.assert_equal(x, x))(1.0)
