"""SavedModels of TensorFlow 1, a graph without objects, read here."""

import numpy as np
import pytest

import tape_compat
from tests.oracle import tensorflow
from tests.parity import store

pytestmark = pytest.mark.skipif(
    not store.installed(), reason="tensorflow, the oracle, is not installed (extra `parity`)"
)


def layers(v1, resources):
    """A layer with a counter that each call of one output raises, and a variable in parts."""
    v1.get_variable_scope().set_use_resource(resources)
    x = v1.placeholder(v1.float32, [None, 3], name="x")
    w = v1.get_variable("w", initializer=v1.constant([[1.0, -1.0], [0.5, 2.0], [0.0, 3.0]]))
    parts = v1.get_variable(
        "b", [5, 2], partitioner=v1.fixed_size_partitioner(2), initializer=v1.ones_initializer()
    )
    count = v1.get_variable("n", initializer=0, trainable=False)
    y = v1.nn.relu(x @ w + v1.reduce_sum(v1.convert_to_tensor(parts), 0))
    with v1.control_dependencies([v1.assign_add(count, 2)]):
        counted = v1.identity(y) + v1.cast(count, v1.float32)
    scale = v1.placeholder_with_default(2.0, [], name="scale")
    local = [v1.GraphKeys.LOCAL_VARIABLES]
    y += v1.get_variable("local", initializer=4.0, trainable=False, collections=local)
    return {"x": x}, {"y": y * scale, "counted": counted}


def by_reference(v1):
    return layers(v1, False)


def by_resource(v1):
    return layers(v1, True)


def updated(v1):
    """A step of an optimizer and of moving means, for references."""
    v1.get_variable_scope().set_use_resource(False)
    x = v1.placeholder(v1.float32, [4, 2], name="x")
    w, mean = v1.get_variable("w", [2, 1]), v1.get_variable("mean", [2], trainable=False)
    loss = v1.reduce_mean((x @ w) ** 2)
    steps = [v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss)]
    steps.append(v1.scatter_add(mean, [1], v1.reduce_sum(x, keepdims=True)[0]))
    with v1.control_dependencies(steps):
        return {"x": x}, {"loss": v1.identity(loss), "w": w.read_value(), "mean": mean.read_value()}


def branches(v1):
    """Conditionals in a loop and a loop in a conditional, with assignments in branches."""
    x, n = v1.placeholder(v1.float32, [2], name="x"), v1.placeholder(v1.int32, [], name="n")
    w, held = v1.get_variable("w", initializer=1.5), v1.get_variable("held", initializer=1.0)

    def body(i, y, total):
        _, inner = v1.while_loop(
            lambda j, z: j < i, lambda j, z: (j + 1, z + x * v1.cast(j, v1.float32)), [0, y]
        )
        added = v1.cond(i > 1, lambda: total + v1.reduce_sum(inner), lambda: total - w)
        return i + 1, inner * w, added

    _, y, total = v1.while_loop(lambda i, y, total: i < n, body, [0, x, 0.0])
    several = v1.cond(
        n > 2,
        lambda: (v1.while_loop(lambda i: i < 10, lambda i: i + n, [n]), v1.assign_add(held, 1.0)),
        lambda: (v1.cond(v1.equal(n, 2), lambda: 100, lambda: 200), v1.identity(held)),
    )
    return {"x": x, "n": n}, {"y": y, "total": total, "several": several[0], "held": several[1]}


def arrays(v1):
    x = v1.placeholder(v1.float32, [None, 3], name="x")
    given = v1.TensorArray(v1.float32, v1.shape(x)[0]).unstack(x)
    made = v1.TensorArray(v1.float32, 0, dynamic_size=True, clear_after_read=False)

    def body(i, y, made):
        y = y * 0.5 + given.read(i)
        return i + 1, y, made.write(i, y)

    _, y, made = v1.while_loop(lambda i, *_: i < given.size(), body, [0, v1.zeros([3]), made])
    return {"x": x}, {"y": y, "rows": made.stack(), "first": made.gather([1, 0])}


def sparse(v1):
    x = v1.sparse_placeholder(v1.float32, [None, 4], name="x")
    w = v1.get_variable("w", initializer=v1.ones([4, 2]) * 3.0)
    return {"x": x}, {"y": v1.sparse.sparse_dense_matmul(x, w)}


ROWS = np.array([[1.0, 2.0, -3.0], [0.0, 1.5, 1.0]], np.float32)
#: What makes a graph, and the arguments of the calls that follow each other.
MODELS = {
    by_reference: [{"x": ROWS}] * 2,
    by_resource: [{"x": ROWS}] * 2,
    updated: [{"x": np.arange(8.0, dtype=np.float32).reshape(4, 2) / 4}] * 3,
    branches: [{"x": ROWS[0, :2], "n": np.int32(n)} for n in (1, 2, 4, 3)],
    arrays: [{"x": ROWS}],
}


def saved(build, folder, control=False):
    """Write a graph, and give what a session makes of calls that follow each other."""
    v1 = tensorflow().compat.v1
    if not control:
        v1.disable_control_flow_v2()
    try:
        with v1.Graph().as_default(), v1.Session() as session:
            v1.set_random_seed(1)
            inputs, outputs = build(v1)
            session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
            v1.saved_model.simple_save(session, folder, inputs, outputs)
            return [
                session.run(outputs, {inputs[name]: value for name, value in call.items()})
                for call in MODELS.get(build, ())
            ]
    finally:
        v1.enable_control_flow_v2()


def called(tf, model, call):
    function = model.signatures["serving_default"]
    return {
        k: v.numpy() for k, v in function(**{k: tf.constant(v) for k, v in call.items()}).items()
    }


def near(found, wanted):
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        assert found[name].dtype == np.asarray(value).dtype
        np.testing.assert_allclose(found[name], value, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("build", "control"), [*[(build, False) for build in MODELS], (branches, True)]
)
def test_signatures(build, control, tmp_path):
    """A signature gives what a session gave; so it does when the model was saved anew.
    control: whether conditionals and loops are those of functions."""
    expected = saved(build, str(tmp_path / "m"), control)
    loaded = tape_compat.saved_model.load(str(tmp_path / "m"))
    if build is not arrays:  # whose arrays grow
        signatures = dict(loaded.signatures)
        tape_compat.saved_model.save(loaded, str(tmp_path / "again"), signatures)
        again = tape_compat.saved_model.load(str(tmp_path / "again"))
        for call, wanted in zip(MODELS[build], expected, strict=True):
            near(called(tape_compat, again, call), wanted)
    for call, wanted in zip(MODELS[build], expected, strict=True):
        near(called(tape_compat, loaded, call), wanted)


def test_without_the_checkpoint(tmp_path):
    """Variables have their initial values; in TensorFlow they have none, and calls raise."""
    expected = saved(by_resource, str(tmp_path))
    options = tape_compat.saved_model.LoadOptions(experimental_skip_checkpoint=True)
    loaded = tape_compat.saved_model.load(str(tmp_path), options=options)
    near(called(tape_compat, loaded, {"x": ROWS}), expected[0])


def facts(tf, folder, call):
    """What a model says of itself, the derivatives of a signature, and what parts of it give."""
    model = tf.saved_model.load(folder)
    function = model.signatures["serving_default"]
    x = {name: tf.constant(value) for name, value in call.items()}
    reals = [value for value in x.values() if value.dtype.is_floating]
    with tf.GradientTape() as tape:
        tape.watch(reals)
        y = function(**x)["y"]
    sources = [v for v in model.variables if v.dtype.is_floating]
    gradients = tape.gradient(y, [reals, sources])
    return (
        [(v.name, v.dtype.name, v.shape.as_list(), v.trainable) for v in model.variables],
        [None if g is None else g.numpy().tolist() for g in tf.nest.flatten(gradients)],
        sorted(model.signatures),
        repr(function.structured_input_signature),
        sorted((k, x.shape.as_list()) for k, x in function.structured_outputs.items()),
        model.tensorflow_version,
    )


@pytest.mark.parametrize("resources", [False, True])
def test_what_tensorflow_2_makes_of_it(resources, tmp_path):
    folder = str(tmp_path / "m")
    saved(by_resource if resources else by_reference, folder)
    tf = tensorflow()
    assert facts(tape_compat, folder, {"x": ROWS}) == facts(tf, folder, {"x": ROWS})
    found = []
    for each in (tf, tape_compat):
        model = each.saved_model.load(folder)
        part = model.prune(["x:0", "scale:0"], "Relu:0")
        whole = model.prune("x:0", {"y": "mul:0"})
        x = each.constant(ROWS)
        found.append([part(x, each.constant(3.0)).numpy(), whole(x)["y"].numpy()])
        if resources:
            model.variables[0].assign_add(model.variables[0])
            found[-1].append(model.signatures["serving_default"](x)["y"].numpy())
        model.restore(folder + "/variables/variables")
        found[-1].append(model.signatures["serving_default"](x=x)["y"].numpy())
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize("collection", ["saved_model_main_op", "legacy_init_op", None])
def test_tables_and_assets(collection, tmp_path):
    """Tables of a file and of constants are filled; a model that is saved anew has them too."""
    words = tmp_path / "words.txt"
    words.write_text("a\nb\nc\n")
    v1 = tensorflow().compat.v1
    with v1.Graph().as_default(), v1.Session() as session:
        path = v1.constant(str(words))
        v1.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, path)
        whole, line = v1.lookup.TextFileIndex.WHOLE_LINE, v1.lookup.TextFileIndex.LINE_NUMBER
        file = v1.lookup.TextFileInitializer(path, v1.string, whole, v1.int64, line)
        known = v1.lookup.KeyValueTensorInitializer(["a", "b"], [10, 20])
        given = v1.placeholder(v1.string, [None], name="given")
        numbers = v1.lookup.StaticVocabularyTable(file, 2).lookup(given)
        rows = v1.get_variable("rows", initializer=v1.reshape(v1.range(10.0), [5, 2]))
        outputs = {
            "numbers": numbers,
            "rows": v1.nn.embedding_lookup(rows, numbers),
            "values": v1.lookup.StaticHashTable(known, -1).lookup(given),
        }
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        builder = v1.saved_model.Builder(str(tmp_path / "m"))
        fill = v1.tables_initializer()
        if collection == "legacy_init_op":
            v1.add_to_collection(collection, fill)
        builder.add_meta_graph_and_variables(
            session,
            ["serve", "other"],
            {"numbers": v1.saved_model.predict_signature_def({"given": given}, outputs)},
            assets_collection=v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS),
            main_op=fill if collection == "saved_model_main_op" else None,
        )
        builder.add_meta_graph(
            ["train"],
            {
                "f": v1.saved_model.predict_signature_def(
                    {"given": given}, {"values": outputs["values"]}
                )
            },
        )
        builder.save()
    words.unlink()
    expected = {"numbers": [0, 3, 2], "values": [10, -1, -1]}
    tags = ["other", "serve"]
    for tf in (tensorflow(), tape_compat):
        with pytest.raises(ValueError):
            tf.saved_model.load(str(tmp_path / "m"))
        model = tf.saved_model.load(str(tmp_path / "m"), tags=tags)
        assert [each.asset_path.numpy().endswith(b"assets/words.txt") for each in model.asset_paths]
        found = model.signatures["numbers"](tf.constant(["a", "zz", "c"]))
        assert {k: found[k].numpy().tolist() for k in expected} == expected
        assert found["rows"].numpy().tolist() == [[0, 1], [6, 7], [4, 5]]
        other = tf.saved_model.load(str(tmp_path / "m"), tags="train").signatures["f"]
        assert other(given=tf.constant(["b"]))["values"].numpy().tolist() == [20]
    tape_compat.saved_model.save(model, str(tmp_path / "again"), dict(model.signatures))
    for tf in (tensorflow(), tape_compat):
        again = tf.saved_model.load(str(tmp_path / "again")).signatures["numbers"]
        found = again(given=tf.constant(["a", "zz", "c"]))
        assert {k: found[k].numpy().tolist() for k in expected} == expected


def test_sparse_arguments(tmp_path):
    folder = str(tmp_path / "m")
    saved(sparse, folder)
    for tf in (tensorflow(), tape_compat):
        function = tf.saved_model.load(folder).signatures["serving_default"]
        y = function(
            x_indices=tf.constant([[0, 1], [1, 3]], tf.int64),
            x_values=tf.constant([1.0, 2.0]),
            x_dense_shape=tf.constant([2, 4], tf.int64),
        )["y"]
        assert y.numpy().tolist() == [[3.0, 3.0], [6.0, 6.0]]
