"""`tf.compat.v1.wrap_function`, `prune`, and graphs of GraphDefs in functions."""

import numpy as np

from tests.parity.harness import attempt, attempts

NEEDS = ("compat.v1.wrap_function", "graph_util.import_graph_def")


def node(graph, name, op, inputs=(), **attributes):
    """Add a node. attributes: dtypes, shapes and tensors by their names."""
    made = graph.node.add(name=name, op=op, input=inputs)
    for key, value in attributes.items():
        attr = made.attr[key]
        if isinstance(value, bool):
            attr.b = value
        elif isinstance(value, int):
            attr.type = value
        elif isinstance(value, list):
            for size in value:
                attr.shape.dim.add(size=size)
        else:
            attr.tensor.CopyFrom(value)


def layers(tf):
    """A graph of two layers and of the larger half of what they give."""
    graph = tf.compat.v1.GraphDef()
    real, whole = tf.float32.as_datatype_enum, tf.int32.as_datatype_enum
    weights = np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(3, 4)
    node(graph, "x", "Placeholder", dtype=real, shape=[-1, 3])
    node(graph, "w", "Const", dtype=real, value=tf.make_tensor_proto(weights))
    node(graph, "one", "Const", dtype=whole, value=tf.make_tensor_proto(1))
    node(graph, "product", "MatMul", ["x", "w"], T=real, transpose_a=False, transpose_b=False)
    node(graph, "hidden", "Relu", ["product"], T=real)
    node(graph, "halves", "Split", ["one", "hidden"], T=real)
    graph.node[-1].attr["num_split"].i = 2
    node(graph, "out", "Maximum", ["halves", "halves:1"], T=real)
    return tf.compat.v1.GraphDef.FromString(graph.SerializeToString())


def imported(tf, name=""):
    graph = layers(tf)
    return tf.compat.v1.wrap_function(lambda: tf.import_graph_def(graph, name=name), [])


def rows(tf):
    return tf.constant([[1.0, 2.0, 3.0], [-1.0, 0.5, 2.0]])


def case_prune_an_imported_graph(tf):
    whole, x = imported(tf), rows(tf)
    graph = whole.graph
    found, out = graph.as_graph_element("x:0"), graph.get_tensor_by_name("out:0")
    part = whole.prune(found, out)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = part(x)
    halves = graph.get_operation_by_name("halves")
    return (
        (whole(), y, tape.gradient(y, x), part(x=x[:1]), y.shape),
        whole.prune(["x:0"], {"a": "out:0", "b": ["halves:1", "hidden"]})(x),
        whole.prune("hidden:0", "out:0")(tf.constant([[1.0, 2.0, 3.0, 0.0]])),
        [operation.name for operation in graph.get_operations()],
        (found.name, found.dtype, found.shape.as_list(), found.op.type, out.shape.as_list()),
        (len(halves.outputs), halves.outputs[1].name, [t.name for t in out.op.inputs]),
    )


def case_prune_an_imported_graph_saved(tf, tmp_path):
    module = tf.Module()
    module.f = imported(tf).prune("x:0", "out:0")
    tf.saved_model.save(module, str(tmp_path / "m"))
    return tf.saved_model.load(str(tmp_path / "m")).f(rows(tf))


def case_import_with_a_map(tf):
    graph, names = layers(tf), []

    def f(x):
        y, operation = tf.graph_util.import_graph_def(graph, {"x:0": x * 2.0}, ["out:0", "hidden"])
        tf.import_graph_def(graph, name="a/b")
        tf.import_graph_def(graph, {"halves:1": x[:, :2]}, ["out:0"])
        names.append([operation.name, operation.type, y.name, y.op.name])
        return y + 1.0

    wrapped = tf.compat.v1.wrap_function(f, [tf.TensorSpec([None, 3])])
    all_names = [operation.name for operation in wrapped.graph.get_operations()]
    ends = [name for name in all_names if name.endswith("out")]
    both = wrapped.prune([wrapped.inputs[0], "a/b/x:0"], ["import/hidden:0", "a/b/out:0"])
    recorded = tf.function(lambda x: tf.import_graph_def(graph, {"x": x}, ["halves:1"])[0])
    return wrapped(rows(tf)), names, ends, both(rows(tf), -rows(tf)), recorded(rows(tf))


def case_import_refused(tf):
    graph = layers(tf)

    def importing(*args, **kwargs):
        def program(tf):
            return tf.compat.v1.wrap_function(lambda: tf.import_graph_def(*args, **kwargs), [])

        return program

    def mapping(tf):  # TensorFlow sees that the name is wrong if the tensor is of a graph
        return tf.import_graph_def(graph, {"nope:0": tf.constant(1.0)})

    programs = {
        "map": lambda tf: tf.compat.v1.wrap_function(lambda: mapping(tf), []),
        "wanted": importing(graph, return_elements=["nope:0"]),
        "message": importing(3),
        "list": importing(graph, [1]),
        "tensor": lambda tf: imported(tf).prune("zz:0", "out:0"),
        "operation": lambda tf: imported(tf).prune("x:0", "zz"),
        "fed": lambda tf: imported(tf).prune("x", "out:0"),
        "named": lambda tf: imported(tf, "a").prune("x:0", "a/out:0"),
    }

    def foreign():  # the message shows a tensor, of which each library has its own text
        return imported(tf).prune(imported(tf).graph.as_graph_element("x:0"), [])

    return tf.import_graph_def(graph), attempts(tf, programs, words=6), attempt(foreign, words=1)


def case_wrap_function_keeps_variables(tf):
    def f(x, adds):
        v = tf.Variable(5.0)
        changed = v.assign_add(x) if adds else v.assign_sub(x)
        with tf.control_dependencies([changed]):
            return v.read_value()

    spec = tf.TensorSpec((), tf.float32)
    adding, less = [tf.compat.v1.wrap_function(f, [spec, adds]) for adds in (True, False)]
    refused = attempt(lambda: adding(x=1.0))
    again = adding.prune(adding.inputs, adding.outputs)
    return (
        (adding(1.0), adding(1.0), less(1.0), again(tf.constant(2.0)), adding(0.0)),
        [v.name for v in adding.variables],
        len(adding.graph.variables),
        adding.graph.name,
        refused,
    )


def case_wrap_function_with_scopes(tf):
    v1 = tf.compat.v1

    def layer(x, reuse):
        with v1.variable_scope("m", reuse=reuse):
            w = v1.get_variable("w", [3, 2], initializer=v1.ones_initializer())
            b = v1.get_variable("b", [2], initializer=v1.zeros_initializer(), trainable=False)
            return tf.matmul(x, w) + b

    def wrapped(*reuse):
        def f(x):
            return sum(layer(x, each) for each in reuse)

        return v1.wrap_function(f, [tf.TensorSpec([None, 3], tf.float32)], name="m")

    both = wrapped(None, True)
    with tf.GradientTape() as tape:
        y = both(rows(tf))
    names = sorted(v.name for v in both.variables)
    reuses = {"twice": (None, None), "none": (True,), "any": (v1.AUTO_REUSE,) * 2}
    return (
        (y, names, tape.gradient(y, list(both.trainable_variables)), both.graph.name),
        [len(both.graph.get_collection(key)) for key in ("variables", "trainable_variables")],
        {key: attempt(lambda r=r: len(wrapped(*r).variables)) for key, r in reuses.items()},
        both.prune(both.inputs, both.outputs[0])(rows(tf)),
    )


def case_wrap_function_with_placeholders(tf):
    def f():
        x = tf.compat.v1.placeholder(tf.float32, [None, 2], name="x")
        tf.reduce_sum(x, axis=1)
        return x * 2.0

    wrapped = tf.compat.v1.wrap_function(f, [])
    function = tf.function(lambda: tf.compat.v1.placeholder("float32", []))
    return (
        wrapped.prune("x:0", ["Sum:0", "mul:0"])(tf.ones([3, 2])),
        attempt(wrapped, words=0),  # TensorFlow's begins with the lines that made the placeholder
        attempt(function),
    )
