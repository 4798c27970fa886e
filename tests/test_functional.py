"""`functional`: TensorFlow-style steps as pure functions under JAX's transformations."""

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

import tape_compat as tf

X = jnp.asarray([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]])
Y = jnp.asarray([[1.0], [2.0], [0.0]])


class Model:
    """A linear model, its optimizer, and a step."""

    def __init__(self, noise=0.0):
        self.w = tf.Variable([[0.5], [-0.5]], name="w")
        self.b = tf.Variable([0.0], name="b")
        self.optimizer = tf.optimizers.Adam(0.1)
        self.noise = noise

    def step(self, x, y):
        if self.noise:
            x = x + self.noise * tf.random.normal(tf.shape(x))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ self.w + self.b - y) ** 2)
        gradients = tape.gradient(loss, [self.w, self.b])
        self.optimizer.apply_gradients(zip(gradients, [self.w, self.b]))
        return {"loss": loss}


def test_a_call_is_the_step_and_changes_no_variable():
    model, other = Model(), Model()
    pure = tf.functional(model.step)
    state = pure.init(X, Y)
    assert set(state["trainable"]) == {"w", "b"} and state["key"] is None
    assert state["non_trainable"]["adam/iteration"].dtype == jnp.int32
    for _ in range(3):
        expected = other.step(tf.constant(np.asarray(X)), tf.constant(np.asarray(Y)))
        out, state = pure(state, X, Y)
        np.testing.assert_allclose(out["loss"], expected["loss"].numpy(), rtol=1e-5)
    assert model.w.numpy().tolist() == [[0.5], [-0.5]] and int(model.optimizer.iterations) == 0
    np.testing.assert_allclose(state["trainable"]["w"], other.w.numpy(), rtol=1e-5)
    pure.restore(state)
    np.testing.assert_allclose(model.w.numpy(), other.w.numpy(), rtol=1e-5)
    assert int(model.optimizer.iterations) == 3
    assert model.optimizer.iterations.dtype is tf.int64


def test_scan_is_a_loop_of_calls():
    pure = tf.functional(tf.function(Model().step))
    state = pure.init(X, Y)
    scanned, losses = jax.lax.scan(lambda s, _: pure(s, X, Y)[::-1], state, length=5)
    step = jax.jit(pure)
    for i in range(5):
        out, state = step(state, X, Y)
        np.testing.assert_allclose(out["loss"], losses["loss"][i], rtol=1e-5)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5), scanned, state)


def test_vmap_trains_many():
    pure = tf.functional(Model().step)
    state = pure.init(X, Y)
    starts = jnp.stack([jnp.full((2, 1), float(i)) for i in range(4)])
    many = jax.tree.map(lambda a: jnp.stack([a] * 4), state)
    many["trainable"]["w"] = starts
    out, after = jax.jit(jax.vmap(pure, in_axes=(0, None, None)))(many, X, Y)
    for i in range(4):
        one = {**state, "trainable": {**state["trainable"], "w": starts[i]}}
        expected, single = pure(one, X, Y)
        np.testing.assert_allclose(out["loss"][i], expected["loss"], rtol=1e-5)
        np.testing.assert_allclose(after["trainable"]["w"][i], single["trainable"]["w"], rtol=1e-5)


def test_the_step_is_recorded_once():
    seen = []

    def step(x):
        seen.append(x.shape)
        return x * 2.0

    pure = tf.functional(step)
    state = pure.init(X)
    jax.vmap(lambda x: pure(state, x)[0])(jnp.stack([X, X]))
    jax.jit(pure)(state, X)
    assert seen == [(3, 2)]
    pure(state, X[:2])
    assert seen == [(3, 2), (2, 2)]


def test_gradients_by_what_goes_in():
    v = tf.Variable([2.0, 3.0], name="v")

    def step(x):
        v.assign(v * v * x)
        return tf.reduce_sum(v)

    pure = tf.functional(step)
    state = pure.init(X[0])

    def twice(v, x):
        _, after = pure({**state, "trainable": {"v": v}}, x)
        return pure(after, x)[0]  # v ** 4 * x ** 3

    value, (by_v, by_x) = jax.value_and_grad(twice, argnums=(0, 1))(
        jnp.asarray([2.0, 3.0]), jnp.asarray([1.0, 2.0])
    )
    np.testing.assert_allclose(value, 16.0 + 81.0 * 8.0)
    np.testing.assert_allclose(by_v, [32.0, 4 * 27.0 * 8.0])
    np.testing.assert_allclose(by_x, [48.0, 3 * 81.0 * 4.0])


def test_gradients_through_assignments_in_branches_and_loops():
    v = tf.Variable(2.0, name="v")

    @tf.function
    def grow(x):
        if x > 0.0:
            v.assign(v * x)
        else:
            v.assign(v - x)
        for _ in tf.range(3):
            v.assign_add(x)
            v.assign(v * 2.0)
        return v.read_value()

    pure = tf.functional(lambda x: grow(x) * 1.0)
    state = pure.init(X[0, 0])

    def by_hand(x):
        y = jnp.where(x > 0.0, 2.0 * x, 2.0 - x)
        for _ in range(3):
            y = (y + x) * 2.0
        return y

    for x in (3.0, -1.5):
        value, slope = jax.value_and_grad(lambda x: pure(state, x)[0])(x)
        assert (value, slope) == jax.value_and_grad(by_hand)(x)


def test_a_gradient_through_an_update_of_an_optimizer():
    pure = tf.functional(Model().step)
    state = pure.init(X, Y)

    def after_two(rate):
        others = {**state["non_trainable"], "adam/learning_rate": rate}
        _, after = pure({**state, "non_trainable": others}, X, Y)
        return pure(after, X, Y)[0]["loss"]

    slope = (after_two(0.101) - after_two(0.099)) / 0.002
    np.testing.assert_allclose(jax.grad(after_two)(0.1), slope, rtol=1e-2)


def test_draws_are_by_the_key():
    tf.random.set_seed(4)
    pure = tf.functional(lambda: tf.random.normal([2, 3]) + 0.0 * tf.random.normal([3], seed=1))
    state = pure.init()
    assert state["key"].dtype == jnp.uint32 and state["key"].shape == (2,)
    first, after = pure(state)
    again, _ = jax.jit(pure)(state)
    second, _ = pure(after)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, second) and not np.array_equal(first[0], first[1])
    keys = jax.random.split(state["key"], 50)
    noise = jax.vmap(lambda key: pure({**state, "key": key})[0])(keys)
    assert len(np.unique(noise)) == noise.size and abs(float(jnp.std(noise)) - 1) < 0.2
    tf.random.set_seed(4)
    np.testing.assert_array_equal(pure.init()["key"], state["key"])


def test_a_generator_is_state():
    generator = tf.random.Generator.from_seed(1, "philox")
    pure = tf.functional(lambda: generator.uniform([2]))
    state = pure.init()
    _, draws = jax.lax.scan(lambda s, _: pure(s)[::-1], state, length=3)
    assert len(np.unique(draws)) == 6


def test_export():
    pytest.importorskip("flatbuffers")  # jax.export writes with it, and does not ask for it
    pure = tf.functional(Model(noise=0.1).step)
    state = pure.init(X, Y)
    exported = jax.export.export(jax.jit(pure))(state, X, Y)
    loaded = jax.export.deserialize(exported.serialize())
    out, after = loaded.call(state, X, Y)
    expected, _ = pure(state, X, Y)
    np.testing.assert_allclose(out["loss"], expected["loss"], rtol=1e-5)
    assert jax.tree.structure(after) == jax.tree.structure(state)


def test_sizes_that_jax_does_not_know():
    """One program of a step, its optimizer and its noise for every number of rows."""
    model = Model(noise=0.5)
    pure = tf.functional(model.step)
    rows, columns = jax.export.symbolic_shape("2*n, 2")
    x = jax.ShapeDtypeStruct((rows, columns), jnp.float32)
    y = jax.ShapeDtypeStruct((rows, 1), jnp.float32)
    state = pure.init(x, y)
    exported = jax.export.export(jax.jit(pure))(state, x, y)
    for n in (2, 6):
        given = jnp.ones((n, 2)) * 0.25, jnp.ones((n, 1))
        expected, found = pure(state, *given), exported.call(state, *given)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5), found, expected)

    products = tf.functional(lambda a, b: (a @ tf.transpose(b), tf.range(tf.shape(b)[0])))
    a, b = (jax.ShapeDtypeStruct((n, 3), jnp.float32) for n in jax.export.symbolic_shape("a, b"))
    out, state = jax.eval_shape(products, products.init(a, b), a, b)
    assert [str(array.shape) for array in out] == ["(a, b)", "(b,)"]
    assert products(state, jnp.ones((2, 3)), jnp.ones((5, 3)))[0][0].shape == (2, 5)


def test_arguments_in_nests_and_by_name():
    def step(batch, scale=2.0, *, shift):
        return {"out": [batch["x"] * scale + shift, None], "y": batch["y"]}

    pure = tf.functional(step)
    batch = {"y": jnp.asarray(1), "x": np.float32([1.0, 2.0])}
    state = pure.init(batch, shift=jax.ShapeDtypeStruct((), np.float32))
    for call in (pure, jax.jit(pure)):
        out, _ = call(state, batch, shift=tf.constant(1.0))
        assert out["out"][0].tolist() == [3.0, 5.0] and out["out"][1] is None
        assert out["y"].dtype == jnp.int32
    out, _ = pure(state, batch, 3.0, shift=1.0)
    assert out["out"][0].tolist() == [4.0, 7.0]


def test_unknown_sizes_are_recorded_once():
    seen = []

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def step(x):
        seen.append(x.shape)
        return tf.reduce_sum(x, 1) * tf.cast(tf.shape(x)[0], tf.float32)

    pure = tf.functional(step)
    state = pure.init(X)
    assert pure(state, X)[0].tolist() == [9.0, 6.0, 3.0]
    assert pure(state, X[:2])[0].tolist() == [6.0, 4.0]
    assert len(seen) == 1


def test_a_variable_of_unknown_length():
    v = tf.Variable([1.0, 2.0], shape=[None], name="v")

    def step(x):
        v.assign(v * x)
        return tf.reduce_sum(v)

    pure = tf.functional(step)
    state = pure.init(X[0, 0])
    out, after = jax.jit(pure)({**state, "trainable": {"v": jnp.arange(4.0)}}, 2.0 * X[0, 0])
    assert float(out) == 12.0 and after["trainable"]["v"].tolist() == [0.0, 2.0, 4.0, 6.0]


def test_what_is_recorded_for_each_size():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def step(x):
        n = tf.cast(tf.shape(x)[0], tf.float32)
        return tf.zeros([tf.cast(n * 2.0, tf.int32)]) + x[0]

    pure = tf.functional(step)
    state = pure.init(X[0])
    assert pure(state, X[0])[0].tolist() == [1.0] * 4
    assert jax.jit(pure)(state, X[:, 0])[0].tolist() == [1.0] * 6
    ir = step.experimental_get_compiler_ir(tf.TensorSpec([3], tf.float32))
    assert "tensor<6xf32>" in ir(stage="stablehlo")


def test_variables_of_one_name_and_those_of_others():
    one, two = tf.Variable(1.0), tf.Variable(2.0)
    pure = tf.functional(lambda: one.assign_add(two * 2.0))
    state = pure.init()
    assert set(state["trainable"]) == {"Variable", "Variable_1"} == set(pure.variables)
    assert pure.variables["Variable_1"] is one or pure.variables["Variable_1"] is two
    _, after = pure({**state, "trainable": {**state["trainable"], "mine": 3.0}, "more": 1})
    assert after["trainable"]["mine"] == 3.0 and after["more"] == 1


def test_a_variable_made_by_the_step():
    class Counter(tf.Module):
        def __init__(self):
            self.count = None

        def __call__(self):
            if self.count is None:
                self.count = tf.Variable(0, name="count", trainable=False)
            return self.count.assign_add(2)

    counter = Counter()
    pure = tf.functional(counter.__call__)
    state, outs = jax.lax.scan(lambda s, _: pure(s)[::-1], pure.init(), length=3)
    assert outs.tolist() == [2, 4, 6] and int(state["non_trainable"]["count"]) == 6
    assert int(counter.count) == 0


def test_64_bits_follow_jax():
    v = tf.Variable(1.0, dtype=tf.float64, name="v")
    pure = tf.functional(lambda: v.assign(v / 3.0))
    out, state = pure(pure.init())
    assert out.dtype == np.float32 and state["trainable"]["v"].dtype == np.float32
    with jax.enable_x64(True):
        out, state = jax.jit(pure)(pure.init())
        assert out.dtype == np.float64 and float(out) == 1.0 / 3.0
        pure.restore(state)
    assert v.numpy() == 1.0 / 3.0


def test_refusals():
    v = tf.Variable(1.0, name="v")

    def step(flag):
        return v + tf.random.normal([]) if flag else tf.constant(1.0)

    pure = tf.functional(step)
    state = pure.init(False)
    pure.init(True)
    with pytest.raises(ValueError, match="the state lacks a key, which the step uses"):
        pure(state, True)
    with pytest.raises(ValueError, match="the state lacks the Variable 'v'"):
        pure({**state, "key": jnp.zeros(2, np.uint32)}, True)
    with pytest.raises(TypeError, match="Variables are part of the state"):
        pure.init(v)
    with pytest.raises(NotImplementedError, match="sizes that depend on values"):
        tf.functional(lambda x: tf.where(x > 0.0)).init(X)


def test_unknown_sizes_beside_constants():
    ones = tf.ones(4)
    step = tf.function(
        lambda x: tf.cond(tf.size(x) > 3, lambda: x[:4] * ones, lambda: tf.pad(x, [[0, 2]])),
        input_signature=[tf.TensorSpec([None])],
    )
    pure = tf.engine.functional(step)
    state = pure.init(tf.ones(2))
    for call in (pure, jax.jit(pure)):
        assert call(state, np.ones(2, np.float32))[0].tolist() == [1.0, 1.0, 0.0, 0.0]
        assert call(state, np.ones(5, np.float32))[0].tolist() == [1.0, 1.0, 1.0, 1.0]
    assert "f32[5]" in step.experimental_get_compiler_ir(tf.ones(5))(stage="hlo")
