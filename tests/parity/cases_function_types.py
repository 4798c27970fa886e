"""The types of functions, and what their graphs tell of arguments, captures and results."""

import inspect

from .harness import attempt, attempts

NEEDS = ("function", "TensorSpec")


def concrete(tf):
    f = tf.function(lambda x, y=2.0, *, k=None: x * y)
    return f.get_concrete_function(tf.TensorSpec([None, 2], tf.float32))


def case_parameters_of_a_function_type(tf):
    kind = concrete(tf).function_type
    shown = [
        (p.name, p.kind.name, p.optional, str(p.type_constraint)) for p in kind.parameters.values()
    ]
    return shown, str(kind), repr(kind.output), repr(kind.parameters["k"])


def case_function_type_of_structures(tf):
    f = tf.function(lambda d: {"s": d["a"], "t": (d["b"][0], d["b"][0])})
    given = {"a": tf.TensorSpec([2]), "b": [tf.TensorSpec([])]}
    kind = f.get_concrete_function(given).function_type
    return repr(kind), repr(kind.flat_inputs), repr(kind.flat_outputs)


def case_function_type_of_captures(tf):
    v, k = tf.Variable(1.0), tf.constant([1.0, 2.0])
    kind = tf.function(lambda x: x * v + k).get_concrete_function(tf.TensorSpec([2])).function_type
    return len(kind.captures), repr(kind.captures[id(k)]), repr(kind.flat_captures)


def case_function_type_of_variables(tf):
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    f = tf.function(lambda a, b, c: a + b + c)
    found = f.get_concrete_function(v, w, v)
    specs, graph_specs = found.structured_input_signature, found.graph.structured_input_signature
    return repr(found.function_type), repr(specs), repr(graph_specs)


def case_function_type_of_varargs(tf):
    f = tf.function(lambda x, *rest, **named: x)
    return repr(f.get_concrete_function(1.0, 2.0, tf.constant(3.0), z=4.0).function_type)


def case_function_types_compared(tf):
    f, g = tf.function(lambda x: x), tf.function(lambda x: x)
    kinds = [
        h.get_concrete_function(tf.TensorSpec(shape)).function_type
        for h, shape in ((f, [2]), (g, [2]), (g, [3]), (g, [None]))
    ]
    a, b, c, d = kinds
    return a == b, a == c, d.is_supertype_of(c), c.is_supertype_of(d)


def case_function_type_as_a_signature(tf):
    kind = concrete(tf).function_type
    public = tf.types.experimental.FunctionType
    return (
        isinstance(kind, inspect.Signature),
        isinstance(kind, public),
        kind.bind(1, y=2, k=3).arguments,
        attempt(kind.bind),
    )


def case_function_type_before_a_call(tf):
    kind = tf.function(lambda x, y=1, *rest: x).function_type
    return repr(kind), kind.output, [p.optional for p in kind.parameters.values()]


def case_captures_of_a_graph(tf):
    v, k = tf.Variable(1.0), tf.constant([1.0, 2.0])
    graph = tf.function(lambda x: x * v + k).get_concrete_function(tf.TensorSpec([2])).graph
    return (
        [type(pair).__name__ for pair in graph.captures],
        [outside is v.handle or outside is k for outside in graph.external_captures],
        len(graph.internal_captures),
        graph.deferred_external_captures,
        graph.deferred_internal_captures,
    )


def case_captures_while_it_is_recorded(tf):
    v, k = tf.Variable(1.0), tf.constant([1.0, 2.0])
    counts = []

    @tf.function(autograph=False)
    def f(x):
        graph = tf.compat.v1.get_default_graph()
        counts.append(len(graph.captures))
        y = x * graph.capture(k)
        counts.append(len(graph.captures))
        y = y * v
        counts.append(len(graph.captures))
        return y

    return f(k), counts


def case_variables_of_a_graph(tf):
    v, w = tf.Variable(1.0), tf.Variable(2.0, trainable=False)
    found = tf.function(lambda x: x * v + w).get_concrete_function(tf.TensorSpec([2]))
    graph = found.graph
    return (
        isinstance(graph.variables, tuple),
        len(graph.variables),
        graph.trainable_variables[0] is v,
        len(graph.trainable_variables),
    )


def case_results_of_a_graph(tf):
    f = tf.function(lambda x, n=3: {"a": x, "b": (x * 2, None)})
    graph = f.get_concrete_function(tf.TensorSpec([2])).graph
    found = graph.structured_outputs
    return (
        sorted(found),
        str(found["a"].shape),
        found["b"][1],
        repr(graph.structured_input_signature),
        repr(graph.output_shapes),
    )


def case_names_in_a_graph(tf):
    f = tf.function(lambda x: x * x * x)
    graph = f.get_concrete_function(tf.TensorSpec([2])).graph
    return attempts(
        graph,
        {
            "operation": lambda graph: graph.as_graph_element("mul").name,
            "tensor": lambda graph: graph.as_graph_element("mul:0").name,
            "neither": lambda graph: graph.as_graph_element(3),
            "an operation's": lambda graph: graph.get_tensor_by_name("mul"),
            "finalized": lambda graph: graph.finalized,
        },
        words=4,
    )


def case_name_scopes_of_a_graph(tf):
    seen = []

    @tf.function(autograph=False)
    def f(x):
        graph = tf.compat.v1.get_default_graph()
        seen.append(graph.get_name_scope())
        with graph.name_scope("outer"):
            seen.append(graph.get_name_scope())
        return x

    return f(tf.constant(1.0)), seen
