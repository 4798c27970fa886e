"""SavedModels, without TensorFlow; `tests/parity/test_saved_models.py` exchanges them with it."""

import logging
import os
import re

import jax
import numpy as np
import pytest
import scipy.special

import tape_compat as tf
from tape_compat._src.core.avals import Aval
from tape_compat._src.core.call import Call
from tape_compat._src.core.dimensions import parsed, variable, variables
from tape_compat._src.core.dtypes import float32
from tape_compat._src.core.steps import Steps
from tape_compat._src.core.x64 import enable_x64
from tape_compat._src.library.saved_model.broadcasts import broadcasting
from tape_compat._src.library.saved_model.messages import SavedModel
from tape_compat._src.library.saved_model.plain import FORMULAS
from tape_compat._src.values import spec_registry


@pytest.fixture
def saved(tmp_path):
    """Saves an object, and gives what is loaded."""

    def again(obj, *args, **kwargs):
        tf.saved_model.save(obj, str(tmp_path), *args, **kwargs)
        return tf.saved_model.load(str(tmp_path))

    return again


def with_function(function, *variables, **options):
    made = tf.Module()
    made.variables_ = list(variables)
    made.f = tf.function(function, **options)
    return made


def test_a_loaded_function_is_recorded_once_for_all_sizes(saved):
    spec = [tf.TensorSpec([None, None], tf.float32)]
    w = tf.Variable(2.0)
    loaded = saved(with_function(lambda x: tf.nn.softmax(x * w), w, input_signature=spec))
    for shape in ((2, 3), (4, 1), (1, 7)):
        x = tf.random.normal(shape)
        np.testing.assert_allclose(loaded.f(x), tf.nn.softmax(x * 2.0), 1e-6)
    assert loaded.f.experimental_get_tracing_count() == 1


def test_a_loaded_model_is_trained_on(saved):
    tf.random.set_seed(3)
    w, b = tf.Variable(tf.random.normal([3, 1])), tf.Variable([0.0])
    made = with_function(lambda x: tf.tanh(x) @ w + b, w, b)
    x, y = tf.random.normal([16, 3]), tf.random.normal([16, 1])
    made.f(x)

    def trained(function, variables):
        optimizer, losses = tf.optimizers.SGD(0.1), []

        @tf.function
        def step():
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((function(x) - y) ** 2)
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            return loss

        for _ in range(5):
            losses.append(float(step()))
        return losses

    loaded = saved(made)
    found = trained(loaded.f, loaded.variables_)
    np.testing.assert_allclose(found, trained(made.f, [w, b]), 1e-5)
    assert found[-1] < found[0]


def test_draws_are_others_at_each_call(saved):
    made = with_function(lambda: (tf.random.normal([4]), tf.random.uniform([], 0, 10, tf.int32)))
    made.f()
    loaded = saved(made)
    one, other = loaded.f()[0].numpy(), loaded.f()[0].numpy()
    assert (one != other).all() and np.isfinite(one).all()
    tf.random.set_seed(5)
    first = loaded.f()[0].numpy()
    tf.random.set_seed(5)
    assert (loaded.f()[0].numpy() == first).all()


@pytest.mark.part
def test_draws_of_unknown_sizes_are_those_of_their_keys(saved):
    def draws(x):
        shape = tf.shape(x)
        seed = [3, 4]
        return (
            tf.random.stateless_uniform(shape, seed),
            tf.random.stateless_uniform(shape, seed, 0, 100, tf.int64),
            tf.random.stateless_normal(shape, seed),
            tf.random.stateless_normal(shape, seed, dtype=tf.float64),
            tf.random.stateless_truncated_normal(shape, seed),
            tf.nn.dropout(x, 0.5),
        )

    made = with_function(draws, input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    loaded = saved(made)
    for rows in (1, 2, 5):
        x = tf.ones([rows, 3])
        for one, other in zip(loaded.f(x)[:-1], made.f(x)[:-1], strict=True):
            np.testing.assert_allclose(one.numpy(), other.numpy(), 1e-6)
        assert set(loaded.f(x)[-1].numpy().ravel()) <= {0.0, 2.0}
    tf.engine.clear_caches()  # an op at sizes that are unknown themselves is derived from itself
    assert loaded.f(x)[0].shape == [5, 3]


@pytest.mark.part
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_formulas_are_near_the_functions(dtype):
    """On as many points for each: what JAX compiles for one serves others."""
    wide = np.concatenate([np.linspace(-6, 6, 1001), [0.0, 1e-6, -1e-6, 1e-30, 60.0, -60.0]])
    inside = np.linspace(-1, 1, 1007)
    points = {"acos": inside, "asin": inside, "atanh": np.linspace(-1, 1, 1009)[1:-1]}
    points |= {"acosh": 1 + np.abs(wide), "erfc": np.linspace(-5, 5, 1007)}
    exact = {name: getattr(np, name) for name in ("cosh", "sinh")}
    exact |= {f"a{name}": getattr(np, f"arc{name}") for name in "cos cosh sin sinh tanh".split()}
    exact |= {"erf": scipy.special.erf, "erfc": scipy.special.erfc}
    assert exact.keys() == FORMULAS.keys() - {"top_k"}
    near = 2e-6 if dtype == "float32" else 1e-12
    for name, function in exact.items():
        x = np.append(points.get(name, wide), [np.inf, -np.inf, np.nan]).astype(dtype)
        with enable_x64(True):
            found = FORMULAS[name](jax.numpy.asarray(x))
        assert found.dtype == dtype
        with np.errstate(invalid="ignore"):
            wanted = function(x.astype(float))
        np.testing.assert_allclose(found, wanted, near, near / 10, err_msg=name)


def test_the_largest_by_sorting():
    for x in (
        np.array([[1, 3, 3, 2], [0, 0, 0, 0], [-5, -1, -5, -1]], np.int32),
        np.array([[1.0, -np.inf, 2.0, 2.0]], np.float32),
        np.array([[3, 255, 0, 255]], np.uint8),
    ):
        for k in (1, 3, 4):
            expected = jax.lax.top_k(x, k)
            for one, other in zip(
                FORMULAS["top_k"](jax.numpy.asarray(x), k), expected, strict=True
            ):
                np.testing.assert_array_equal(one, other)


def test_no_composite_is_written_wherever_it_stands(tmp_path):
    """In branches, loops, scans, and functions with derivatives of their own."""

    def function(x):
        x = tf.cond(x[0, 0] > 0.0, lambda: tf.nn.gelu(x), lambda: tf.sinh(x))
        x = tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, tf.math.erf(y)), [0, x])[1]
        x = tf.map_fn(tf.acosh, x + 2.0)
        return tf.scan(lambda a, b: a + tf.asin(b / 100.0), x), tf.math.top_k(x, 2).values

    made = with_function(function, input_signature=[tf.TensorSpec([4, 3], tf.float32)])
    tf.saved_model.save(made, str(tmp_path))
    data = (tmp_path / "saved_model.pb").read_bytes()
    assert b"XlaCallModule" in data and b"chlo." not in data
    loaded = tf.saved_model.load(str(tmp_path))
    for sign in (1.0, -1.0):
        x = sign * tf.abs(tf.random.normal([4, 3], seed=3))
        for one, other in zip(loaded.f(x), made.f(x), strict=True):
            np.testing.assert_allclose(one, other, 1e-5, 1e-6)


def test_dtypes(saved):
    names = "bfloat16 float16 float32 float64 int8 uint8 int16 uint16 int32 uint32 int64 uint64"
    made = tf.Module()
    made.parts = {name: tf.Variable(tf.cast([0, 1, 2], name)) for name in names.split()}
    made.parts |= {
        "bool": tf.Variable([True]),
        "complex64": tf.Variable([1 + 2j], dtype="complex64"),
    }
    made.f = tf.function(lambda: {name: tf.stack([v, v]) for name, v in made.parts.items()})
    expected = made.f()
    found = saved(made).f()
    for name, value in expected.items():
        assert found[name].dtype is value.dtype
        np.testing.assert_array_equal(found[name].numpy(), value.numpy())


def test_what_cannot_be_one_program_is_left_out_or_refused(saved, tmp_path, caplog):
    def calls(x):
        def longer(y):
            tf.py_function(lambda y: None, [y], [])
            return [y * 2.0]

        return tf.while_loop(lambda y: y[0] < 9.0, longer, [x])[0]

    made = with_function(calls)
    made.g = tf.function(lambda x: x + 1.0)
    made.f(tf.ones([1]))
    made.g(tf.ones([1]))
    with caplog.at_level(logging.WARNING, "tape_compat"):
        loaded = saved(made)
    assert "calls is left out of the SavedModel: " in caplog.text
    assert "test_saved_model.py:" in caplog.text
    assert loaded.g(tf.ones([1])).numpy().tolist() == [2.0]
    with pytest.raises(ValueError, match="Found zero restored functions for caller function"):
        loaded.f(tf.ones([1]))
    concrete = made.f.get_concrete_function(tf.ones([1]))
    with pytest.raises(NotImplementedError, match=r"EagerPyFunc of .* cannot be written"):
        tf.saved_model.save(made, str(tmp_path), signatures=concrete)


def test_what_only_runs_here_is_told(saved, caplog):
    square = tf.TensorSpec([None, None])
    made = with_function(lambda x: tf.linalg.expm(x), input_signature=[square])
    x = tf.constant([[4.0, 1.0], [1.0, 3.0]])
    with caplog.at_level(logging.WARNING, "tape_compat"):
        loaded = saved(made)
    assert "calls LAPACK's getrf: " in caplog.text and "not in TensorFlow" in caplog.text
    np.testing.assert_allclose(loaded.f(x), made.f(x), 1e-5)
    caplog.clear()
    for function in (tf.linalg.eigvalsh, tf.linalg.sqrtm):
        made = with_function(lambda x, function=function: function(x))
        made.f(x)
        with caplog.at_level(logging.WARNING, "tape_compat"):
            saved(made)
    assert "LAPACK" not in caplog.text


_SLOPES = {
    "spectrum": lambda x: tf.abs(tf.signal.rfft(x)),
    "products": lambda x: tf.math.cumprod(x, 1) * tf.reduce_prod(x, 1, keepdims=True),
    "solution": lambda x: tf.linalg.solve(x @ tf.transpose(x), x) + tf.linalg.det(x),
    "masked": lambda x: tf.reduce_prod(tf.boolean_mask(x, x[:, 0] > 0.0), 0),
}


@pytest.mark.parametrize("name", _SLOPES)
def test_slopes_of_what_kernels_do_for_unknown_sizes(saved, caplog, name):
    function = _SLOPES[name]
    loaded = saved(with_function(function, input_signature=[tf.TensorSpec([None, None])]))
    assert "without its derivative" not in caplog.text
    for size in (2, 3):
        x = tf.random.stateless_normal([size, size], [1, 2])
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            found, wanted = loaded.f(x), function(x)
        np.testing.assert_allclose(found, wanted, 1e-4)
        np.testing.assert_allclose(tape.gradient(found, x), tape.gradient(wanted, x), 1e-4, 1e-6)


def test_effects_and_gradients_of_the_host_are_refused(tmp_path):
    def calls(x):
        if x[0] > 0:
            tf.py_function(lambda x: None, [x], [])
            return tf.boolean_mask(x, x > 1)
        return x

    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.boolean_mask(x * x, x > 1) if x[0] > 0 else x
        return tape.gradient(y, x)

    for function, match in ((calls, "EagerPyFunc"), (slope, "calls Python")):
        concrete = tf.function(function).get_concrete_function(tf.ones([2]))
        with pytest.raises(NotImplementedError, match=match):
            tf.saved_model.save(tf.Module(), str(tmp_path), signatures=concrete)


def test_a_function_that_takes_variables_is_left_out(saved, caplog):
    v = tf.Variable(1.0)
    made = with_function(lambda x: x * 2.0, v)
    made.f(v)
    made.f(tf.constant(3.0))
    with caplog.at_level(logging.WARNING, "tape_compat"):
        loaded = saved(made)
    assert "takes Variables as arguments" in caplog.text
    assert float(loaded.f(tf.constant(3.0))) == 6.0


def test_saving_leaves_everything_usable_after_an_error(tmp_path):
    outside, w = tf.Variable(1.0), tf.Variable(2.0)
    spec = [tf.TensorSpec([], tf.float32)]
    made = with_function(lambda x: x * w + outside, w, input_signature=spec)
    with pytest.raises(AssertionError, match="'untracked' resource"):
        tf.saved_model.save(made, str(tmp_path))
    assert not os.listdir(tmp_path)
    assert float(made.f(tf.constant(3.0))) == 7.0
    made.outside = outside
    tf.saved_model.save(made, str(tmp_path))
    assert float(tf.saved_model.load(str(tmp_path)).f(tf.constant(3.0))) == 7.0


def test_without_derivatives(tmp_path):
    w = tf.Variable(2.0)
    made = with_function(lambda x: tf.sin(x * w), w)
    made.f(tf.constant(1.0))
    sizes = []
    for differentiable in (True, False):
        options = tf.saved_model.SaveOptions(experimental_custom_gradients=differentiable)
        tf.saved_model.save(made, str(tmp_path), options=options)
        sizes.append((tmp_path / "saved_model.pb").stat().st_size)
    assert sizes[0] > sizes[1]
    loaded = tf.saved_model.load(str(tmp_path))
    x = tf.constant(1.0)
    assert float(loaded.f(x)) == pytest.approx(np.sin(2.0))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = loaded.f(x)
    with pytest.raises(NotImplementedError, match="of a SavedModel has no such derivative"):
        print(tape.gradient(y, x))


def test_derivatives_of_the_first_order_and_of_reverse_mode_are_there(saved):
    w = tf.Variable(2.0)
    made = with_function(lambda x: tf.sin(x * w), w)
    x = tf.constant(1.0)
    made.f(x)
    loaded = saved(made)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = loaded.f(x)
        slope = tape.gradient(y, x)
    assert float(slope) == pytest.approx(2.0 * np.cos(2.0))
    with pytest.raises(NotImplementedError, match="of a SavedModel has no such derivative"):
        print(outer.gradient(slope, x))
    with pytest.raises(NotImplementedError, match="of a SavedModel has no such derivative"):
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as forward:
            y = loaded.f(x)
        print(forward.jvp(y))


def test_a_program_is_written_for_all_platforms(tmp_path):
    made = with_function(
        lambda x: tf.linalg.matvec(x, x[0]), input_signature=[tf.TensorSpec([3, 3])]
    )
    tf.saved_model.save(made, str(tmp_path))
    model = SavedModel.FromString((tmp_path / "saved_model.pb").read_bytes())
    functions = model.meta_graphs[0].graph_def.library.function
    nodes = [n for f in functions for n in f.node_def if n.op == "XlaCallModule"]
    assert nodes
    for node in nodes:
        assert list(node.attr["platforms"].list.s) == [b"CPU", b"CUDA", b"TPU"]
    assert jax.default_backend().upper().encode() in (b"CPU", b"GPU", b"TPU")


def test_parts_of_the_checkpoint_may_be_missing(tmp_path):
    made = with_function(lambda x: x, tf.Variable([1.0, 2.0]))
    tf.saved_model.save(made, str(tmp_path))
    options = tf.saved_model.LoadOptions(experimental_skip_checkpoint=True)
    loaded = tf.saved_model.load(str(tmp_path), options=options)
    assert loaded.variables_[0].numpy().tolist() == [0.0, 0.0]


def test_a_damaged_file(tmp_path):
    (tmp_path / "saved_model.pb").write_bytes(b"\xff\xff no message")
    with pytest.raises(OSError, match="Cannot parse file"):
        tf.saved_model.load(str(tmp_path))


def test_a_graph_without_objects_may_be_empty(tmp_path):
    model = SavedModel()
    model.meta_graphs.add().meta_info_def.tags.append("serve")
    (tmp_path / "saved_model.pb").write_bytes(model.SerializeToString())
    loaded = tf.saved_model.load(str(tmp_path))
    assert not loaded.signatures
    assert loaded.variables == []


def test_an_unknown_kernel_is_named_when_it_is_called(tmp_path):
    made = with_function(lambda x: x + 1.0, input_signature=[tf.TensorSpec([], tf.float32)])
    tf.saved_model.save(made, str(tmp_path))
    file = tmp_path / "saved_model.pb"
    model = SavedModel.FromString(file.read_bytes())
    for function in model.meta_graphs[0].graph_def.library.function:
        for node in function.node_def:
            if node.op == "XlaCallModule":
                node.op = "NoSuchKernel"
    file.write_bytes(model.SerializeToString())
    loaded = tf.saved_model.load(str(tmp_path))
    with pytest.raises(
        NotImplementedError, match="the kernel 'NoSuchKernel' of the node 'program'"
    ):
        loaded.f(tf.constant(1.0))


def test_save_in_a_function_is_refused(tmp_path):
    made = tf.Module()

    @tf.function
    def save():
        tf.saved_model.save(made, str(tmp_path))

    with pytest.raises(AssertionError, match="not supported inside a traced"):
        save()


def test_extension_types_need_a_name_to_be_saved(tmp_path):
    class Unnamed(tf.experimental.ExtensionType):
        x: tf.Tensor

    made = with_function(lambda v: v.x + 1.0, input_signature=[Unnamed.Spec(tf.TensorSpec([]))])
    with pytest.raises(NotImplementedError, match=r"needs a `__name__` to be saved"):
        tf.saved_model.save(made, str(tmp_path))


def test_extension_types_are_defined_before_they_are_loaded(tmp_path):
    class Named(tf.experimental.ExtensionType):
        __name__ = "tests.saved.Named"
        x: tf.Tensor

    made = with_function(lambda v: v, input_signature=[Named.Spec(tf.TensorSpec([]))])
    tf.saved_model.save(made, str(tmp_path))
    assert tf.saved_model.load(str(tmp_path)).f(Named(2.0)).x.numpy() == 2.0
    del spec_registry.NAME_TO_SPEC["tests.saved.Named.Spec"]
    with pytest.raises(NotImplementedError, match=r"'tests\.saved\.Named\.Spec': import"):
        tf.saved_model.load(str(tmp_path))


def test_an_object_that_had_no_call_is_not_callable(saved):
    with pytest.raises(TypeError, match="is not callable"):
        saved(tf.Module())(1)


def test_batches_of_several_inputs_are_of_one_size(saved):
    specs = [tf.TensorSpec([None, 2]), tf.TensorSpec([None, 3])]
    made = with_function(lambda a, b: tf.concat([a, b], 1), input_signature=specs)
    loaded = saved(made)
    for size in (1, 4):
        found = loaded.f(tf.ones([size, 2]), tf.zeros([size, 3]))
        assert found.shape.as_list() == [size, 5]


def test_saved_with_sizes_that_may_be_none(tmp_path):
    made = tf.Module()
    made.scale = tf.Variable(2.0)
    vector, number = tf.TensorSpec([None]), tf.TensorSpec([], tf.int32)
    made.f = tf.function(
        lambda x, n: (made.scale * tf.boolean_mask(x, x > 1), x[:n], tf.zeros([n])),
        input_signature=[vector, number],
    )
    made.g = tf.function(
        lambda x, r: tf.repeat(x, r) * 3,
        input_signature=[vector, tf.TensorSpec([None], tf.int32)],
    )
    tf.saved_model.save(made, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    for x, n in ((tf.range(4.0), 3), (tf.zeros([3]), 0), (tf.range(9.0), 20)):
        for a, b in zip(loaded.f(x, n), made.f(x, n), strict=True):
            assert a.numpy().tolist() == b.numpy().tolist()
    for times in ([1, 0, 2], [0, 0, 0]):
        got, want = (m.g(tf.range(3.0), tf.constant(times)) for m in (loaded, made))
        assert got.numpy().tolist() == want.numpy().tolist()


def test_two_batches_of_no_row_and_their_derivative(saved):
    """What masks leave has a derivative too, though its arguments cannot be empty then."""
    rows = tf.TensorSpec([None, 2], tf.float32)
    both = saved(with_function(lambda x, y: tf.nn.relu(x * y), input_signature=[rows, rows]))
    masked = lambda x: tf.reduce_sum(tf.boolean_mask(x, x[:, 0] > 0.0) ** 2)
    kept = saved(with_function(masked, input_signature=[rows]))
    x, y = tf.constant([[1.0, 2.0], [-3.0, 4.0]]), tf.ones([2, 2])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        results = both.f(x, y), kept.f(x)
    assert [tape.gradient(z, x).numpy().tolist() for z in results] == [
        [[1.0, 1.0], [0.0, 1.0]],
        [[2.0, 4.0], [0.0, 0.0]],
    ]
    assert both.f(x[:0], y[:0]).shape == (0, 2)


@pytest.mark.parametrize("rule", ["max", "avg", "places"])
def test_windows_of_images_of_unknown_sizes(saved, rule):
    pools = {
        "max": lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID"),
        "avg": lambda x: tf.nn.avg_pool2d(x, 3, 2, "SAME"),
        "places": lambda x: tf.nn.max_pool_with_argmax(x, 3, 2, "SAME"),
    }
    function = lambda x: tf.nest.flatten(pools[rule](x))
    loaded = saved(with_function(function, input_signature=[tf.TensorSpec([None] * 4)]))
    for shape in ((2, 4, 6, 1), (1, 5, 7, 2)):
        x = tf.random.stateless_normal(shape, [1, 2])
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            found, wanted = loaded.f(x), function(x)
            squares = [tf.reduce_sum(result[0] ** 2) for result in (found, wanted)]
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, 1e-6)
        slopes = [tape.gradient(square, x) for square in squares]
        np.testing.assert_allclose(*slopes, 1e-6)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean"])
def test_slopes_of_as_many_segments_as_ids_tell(saved, name):
    function = getattr(tf.math, f"segment_{name}")
    specs = [tf.TensorSpec([None, None]), tf.TensorSpec([None], tf.int32)]
    loaded = saved(with_function(function, input_signature=specs))
    for ids in ([0, 0, 2, 2], [0, 1]):
        x = tf.random.stateless_normal([len(ids), 2], [1, 2])
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            found, wanted = loaded.f(x, ids), function(x, ids)
        np.testing.assert_allclose(found, wanted, 1e-6)
        np.testing.assert_allclose(tape.gradient(found, x), tape.gradient(wanted, x), 1e-6)
    assert loaded.f(tf.zeros([0, 2]), tf.zeros([0], tf.int32)).shape == (0, 2)


def test_a_function_and_its_signature_are_one_program(tmp_path, monkeypatch):
    """And the same model saved again has none to write."""
    exported = []
    export = jax.export.export
    monkeypatch.setattr(jax.export, "export", lambda *a, **k: exported.append(1) or export(*a, **k))
    made = tf.Module()
    made.scaled = tf.function(
        lambda x: {"scaled": tf.sin(x) * 2.0}, input_signature=[tf.TensorSpec([None, 3])]
    )
    tf.saved_model.save(made, str(tmp_path / "first"))
    assert len(exported) == 2  # with its derivative
    tf.saved_model.save(made, str(tmp_path / "second"))
    assert len(exported) == 2
    tf.saved_model.save(
        made,
        str(tmp_path / "third"),
        options=tf.saved_model.SaveOptions(experimental_custom_gradients=False),
    )
    for name in ("first", "second", "third"):
        loaded = tf.saved_model.load(str(tmp_path / name))
        x = tf.constant([[0.5, -0.25, 2.0]])
        for call in (loaded.scaled, loaded.signatures["serving_default"]):
            assert call(x)["scaled"].numpy().tolist() == (tf.sin(x) * 2.0).numpy().tolist()


def test_a_program_and_its_derivative_are_traced_once(tmp_path, monkeypatch):
    traces = []
    for owner, name in ((Steps, "replay"), (Call, "pure")):
        traced = lambda *a, name=name, done=getattr(owner, name): traces.append(name) or done(*a)
        monkeypatch.setattr(owner, name, traced)
    spec = [tf.TensorSpec([None, 7])]
    made = with_function(lambda x: tf.cos(x) * tf.exp(x), input_signature=spec)
    made.f.get_concrete_function()
    traces.clear()
    tf.saved_model.save(made, str(tmp_path))
    assert traces == ["replay", "pure"]


def test_programs_are_read_without_exporting_any_like_them(saved, monkeypatch):
    made, spec = tf.Module(), [tf.TensorSpec([None, None])]
    for name, function in (("a", tf.sin), ("b", lambda x: tf.exp(x[1:])), ("c", tf.transpose)):
        setattr(made, name, tf.function(function, input_signature=spec))
    loaded, exported, export = saved(made), [], jax.export.export
    monkeypatch.setattr(jax.export, "export", lambda *a, **k: exported.append(1) or export(*a, **k))
    tf.engine.clear_caches()
    x = tf.constant([[0.5, 1.0], [-1.0, 2.0]])
    for name in "abc":
        np.testing.assert_allclose(getattr(loaded, name)(x), getattr(made, name)(x), 1e-6)
    assert len(exported) == 1  # for what takes and gives one array


def functions_in(folder):
    """The functions in the graph of a SavedModel, with the kernels of their nodes."""
    model = SavedModel()
    model.ParseFromString((folder / "saved_model.pb").read_bytes())
    library = model.meta_graphs[0].graph_def.library.function
    return {f.signature.name: {node.op for node in f.node_def} for f in library}


def test_a_signature_calls_its_function(tmp_path):
    """With its arguments in the order of their names, and a dict for what it gives."""
    made = tf.Module()
    made.total = tf.Variable(0.0)

    @tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([None, 1], name="given")])
    def added(x, y):
        made.total.assign_add(tf.reduce_sum(x))
        return x + y, tf.RaggedTensor.from_tensor(y), tf.constant(3)

    made.added = added
    other = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([])])  # of no object
    tf.saved_model.save(made, str(tmp_path), {"added": added, "other": other})
    found = functions_in(tmp_path)
    programs = [name for name, kernels in found.items() if "XlaCallModule" in kernels]
    calls = {name: k for name, k in found.items() if any("PartitionedCall" in x for x in k)}
    assert len(programs) == 2 and len(found) == 4
    assert list(calls.values()) == [
        {x, "Identity"} for x in ("StatefulPartitionedCall", "PartitionedCall")
    ]
    loaded = tf.saved_model.load(str(tmp_path))
    x, y = tf.Variable([1.0, 2.0]), tf.Variable([[3.0], [4.0]])
    with tf.GradientTape() as tape:
        found = loaded.signatures["added"](given=y, x=x)
    assert tape.gradient(found["output_0"], [x, y])[0].numpy().tolist() == [2.0, 2.0]
    assert found["output_0"].numpy().tolist() == [[4.0, 5.0], [5.0, 6.0]]
    assert found["output_1"].to_list() == [[3.0], [4.0]] and int(found["output_2"]) == 3
    assert float(loaded.total) == 3.0
    assert float(loaded.signatures["other"](tf.constant(2.0))["output_0"]) == 4.0


def test_a_function_of_unknown_rank_has_the_ranks_once(tmp_path):
    """However it was called before, and if it is saved again."""
    made = with_function(lambda x: x * 2.0, input_signature=[tf.TensorSpec(None)])
    made.f(tf.ones([2]))
    saved = []
    for name in ("first", "second"):
        tf.saved_model.save(made, str(tmp_path / name))
        saved.append(functions_in(tmp_path / name))
    assert saved[0] == saved[1]
    assert sum("XlaCallModule" in kernels for kernels in saved[0].values()) == 7


def test_bounds_are_those_of_the_sizes_of_arguments():
    """Not those of what was broadcast, too: JAX takes the longer, the more there are. One for each
    pair that has no more to do with each other."""
    avals = [Aval.of((variable(i),), float32) for i in range(3)]
    recorded = tf.function(
        lambda x, y, z: tf.where(z > 0.0, x * y + z, y) - x * y,
        input_signature=[tf.TensorSpec([None])] * 3,
    )
    closure = recorded.get_concrete_function()._trace.captured.closure
    _, bounds = broadcasting(closure, [*avals, Aval.of((), float32)])
    pairs = {tuple(sorted(variables(tuple(map(parsed, re.split("[<>=]=", b)))))) for b in bounds}
    assert pairs == {("d0", "d1"), ("d0", "d2"), ("d1", "d2")} and len(bounds) == 3
    pair = [Aval.of((parsed(size),), float32) for size in ("d0", "2*d1")]
    added = tf.function(lambda x, y: x + y, input_signature=[tf.TensorSpec([None])] * 2)
    closure = added.get_concrete_function()._trace.captured.closure
    assert len(broadcasting(closure, pair)[1]) == 2
