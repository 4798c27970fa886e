"""Jacobians, forward mode, custom gradients, recomputation, sparse gradients, JAX functions."""

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.run import kept

X = np.array([[0.1, -0.4, 0.7], [1.2, 0.3, -0.9]], np.float32)


def jacobian_of(f, x, **options):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.jacobian(y, x, **options)


def test_jacobian_gives_each_row():
    x = tf.Variable(5.0)
    with tf.GradientTape() as tape:
        y = tf.stack([x * 1.0, 2 * x * x])
    assert tape.jacobian(y, x).numpy().tolist() == [1.0, 20.0]


def test_jacobian_shape_and_values():
    got = jacobian_of(lambda x: tf.sin(x) * tf.reduce_sum(x), X).numpy()
    expected = jax.jacrev(lambda x: jnp.sin(x) * jnp.sum(x))(X)
    assert got.shape == (2, 3, 2, 3)
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("rows", [1, 2, 4, 100])
def test_parallel_iterations_change_nothing(rows):
    full = jacobian_of(tf.exp, X).numpy()
    np.testing.assert_allclose(jacobian_of(tf.exp, X, parallel_iterations=rows).numpy(), full)


def test_parallel_iterations_bound_the_memory(deferred):
    """Five rows at a time: nothing in the program has the size of the hidden layer for all rows."""

    def largest(rows):
        kept.KEPT.clear()
        x = np.linspace(0, 1, 10).astype(np.float32)
        up = tf.constant(np.full((10, 2_000), 1e-3, np.float32))

        def f(x):
            hidden = tf.tanh(tf.matmul(x[tf.newaxis], up))
            return tf.reduce_sum(tf.reshape(hidden, [100, 20]), axis=1)

        jacobian_of(f, x, parallel_iterations=rows).numpy()
        replayed, structs = replayed_program(list(kept.KEPT.order)[-1])
        with jax.enable_x64(True):
            jaxpr = jax.make_jaxpr(replayed)(*structs).jaxpr
        return max(v.aval.size for e in _equations(jaxpr) for v in e.outvars)

    assert largest(None) >= 100 * 2_000
    assert largest(5) <= 10 * 2_000  # the weights


def test_unconnected_jacobian():
    x, z = tf.Variable([1.0]), tf.Variable([2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
    assert tape.jacobian(y, z) is None
    zero = tape.jacobian(y, z, unconnected_gradients="zero")
    assert zero.numpy().tolist() == [[0.0, 0.0]]
    assert tape.batch_jacobian(
        tf.constant([[1.0]]), tf.constant([[2.0, 3.0]])
    ).numpy().tolist() == [[[0.0, 0.0]]]


def test_jacobian_without_pfor_needs_a_persistent_tape():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
    with pytest.raises(RuntimeError, match="must be created with persistent=True"):
        tape.jacobian(y, x, experimental_use_pfor=False)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
    got = tape.jacobian(y, x, experimental_use_pfor=False)
    assert got.numpy().tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_batch_jacobian():
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.stack([tf.reduce_sum(x * x, axis=1), tf.reduce_prod(x, axis=1)], axis=1)
    got = tape.batch_jacobian(y, x).numpy()
    expected = jax.vmap(jax.jacrev(lambda r: jnp.stack([jnp.sum(r * r), jnp.prod(r)])))(X)
    np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_batch_jacobian_errors():
    x = tf.Variable(np.ones((3, 2), np.float32))
    with tf.GradientTape() as tape:
        y = tf.concat([x, x], axis=0)
    with pytest.raises(ValueError, match=r"Need first dimension of target shape \(\(6, 2\)\)"):
        tape.batch_jacobian(y, x)
    assert tape.gradient(y, x).numpy().sum() == 12.0


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3)])
def test_empty_jacobians(shape):
    got = jacobian_of(lambda x: x * 2.0, np.zeros(shape, np.float32))
    assert got.shape == shape + shape


def test_hessian_by_jacobian_of_gradient():
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(x**3) + tf.reduce_prod(x)
        g = inner.gradient(y, x)
    expected = jax.hessian(lambda x: jnp.sum(x**3) + jnp.prod(x))(jnp.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(outer.jacobian(g, x).numpy(), expected, rtol=1e-5)


def test_jacobian_of_jacobian_and_its_gradient():
    x = tf.Variable([0.5, 1.5])
    with tf.GradientTape() as t3:
        with tf.GradientTape() as t2:
            with tf.GradientTape() as t1:
                y = tf.exp(x) * x
            first = t1.jacobian(y, x)
        second = t2.jacobian(first, x)
        total = tf.reduce_sum(second)
    third = t3.gradient(total, x)

    def f(x):
        return jnp.exp(x) * x

    v = jnp.array([0.5, 1.5])
    np.testing.assert_allclose(second.numpy(), jax.jacrev(jax.jacrev(f))(v), rtol=1e-5)
    expected = jax.grad(lambda x: jnp.sum(jax.jacrev(jax.jacrev(f))(x)))(v)
    np.testing.assert_allclose(third.numpy(), expected, rtol=1e-5)


def test_jacobian_wrt_an_intermediate_and_its_input():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        h = x * x
        y = h * h
    dh, dx = tape.jacobian(y, [h, x])
    np.testing.assert_allclose(dh.numpy(), np.diag([2.0, 8.0]))
    np.testing.assert_allclose(dx.numpy(), np.diag([4.0, 32.0]))


def _products(compiled_text):
    return len(re.findall(r" dot\(", compiled_text))


def test_second_derivatives_take_no_more_products_than_by_hand():
    """What is zero everywhere, as the second derivative of relu, is not multiplied; what a target
    and its Jacobian are made of is differentiated once."""
    rng = np.random.default_rng(0)
    sizes = [(5, 7), (7, 7), (7, 3)]
    weights = [tf.Variable(rng.normal(size=s).astype(np.float32)) for s in sizes]
    x = tf.constant(rng.normal(size=(4, 5)).astype(np.float32))

    def model(tanh, relu, x, weights):
        return relu(tanh(x @ weights[0]) @ weights[1]) @ weights[2]

    def smooth(tanh, x, weights):
        return tanh(tanh(x @ weights[0]) @ weights[1]) @ weights[2]

    @tf.function
    def penalty(x):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(model(tf.nn.relu, tf.nn.leaky_relu, x, weights))
            loss = tf.reduce_sum(inner.gradient(y, x) ** 2)
        return outer.gradient(loss, weights)

    @tf.function
    def slopes(x):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = smooth(tf.tanh, x, weights)
            loss = tf.reduce_sum(inner.batch_jacobian(y, x) ** 2) + tf.reduce_sum(y**3)
        return outer.gradient(loss, weights)

    def penalty_by_hand(weights, x):
        leaky = functools.partial(jax.nn.leaky_relu, negative_slope=0.2)
        y = functools.partial(model, jax.nn.relu, leaky)
        return jnp.sum(jax.grad(lambda x: jnp.sum(y(x, weights)))(x) ** 2)

    def slopes_by_hand(weights, x):
        def both(x):
            y = smooth(jnp.tanh, x[None], weights)[0]
            return y, y

        j, y = jax.vmap(jax.jacrev(both, has_aux=True))(x)
        return jnp.sum(j**2) + jnp.sum(y**3)

    for ours, by_hand in ((penalty, penalty_by_hand), (slopes, slopes_by_hand)):
        arrays = [jnp.asarray(w.numpy()) for w in weights], jnp.asarray(x.numpy())
        lowered = jax.jit(jax.grad(by_hand)).lower(*arrays)
        text = ours.experimental_get_compiler_ir(x)(stage="optimized_hlo")
        assert 0 < _products(text) <= _products(lowered.compile().as_text())
        for gradient, expected in zip(ours(x), lowered.compile()(*arrays), strict=True):
            atol = 1e-5 * np.max(np.abs(expected))
            np.testing.assert_allclose(gradient.numpy(), expected, rtol=1e-4, atol=atol)


# -- forward mode ---------------------------------------------------------------------------------


def test_jvp_agrees_with_the_gradient():
    x, t = tf.Variable(X), tf.constant(np.ones_like(X))
    with tf.autodiff.ForwardAccumulator(x, t) as acc, tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.sin(x) * x)
    np.testing.assert_allclose(acc.jvp(y).numpy(), np.sum(tape.gradient(y, x).numpy()), rtol=1e-5)


def test_forward_over_reverse():
    x, t = tf.Variable([1.0, 2.0]), tf.constant([1.0, -1.0])
    with tf.autodiff.ForwardAccumulator(x, t) as acc:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(x**3 * tf.reduce_sum(x))
        g = tape.gradient(y, x)
    expected = jax.jvp(
        jax.grad(lambda x: jnp.sum(x**3 * jnp.sum(x))), (jnp.array([1.0, 2.0]),), (t.numpy(),)
    )[1]
    np.testing.assert_allclose(acc.jvp(g).numpy(), expected, rtol=1e-5)


def test_reverse_over_forward():
    x, t = tf.Variable([1.0, 2.0]), tf.constant([1.0, -1.0])
    with tf.GradientTape() as tape:
        with tf.autodiff.ForwardAccumulator(x, t) as acc:
            y = tf.reduce_sum(x**3)
        forward = acc.jvp(y)
    np.testing.assert_allclose(tape.gradient(forward, x).numpy(), [6.0, -12.0], rtol=1e-6)


def test_nested_accumulators():
    x = tf.constant(2.0)
    one = tf.constant(1.0)
    with tf.autodiff.ForwardAccumulator(x, one) as outer:
        with tf.autodiff.ForwardAccumulator(x, one) as inner:
            y = x**3
        first = inner.jvp(y)
    assert (first.numpy(), outer.jvp(first).numpy()) == (12.0, 12.0)


def test_unconnected_jvp():
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
        y = tf.constant([1.0, 2.0]) * 2.0
    assert acc.jvp(y) is None
    assert acc.jvp(y, unconnected_gradients="zero").numpy().tolist() == [0.0, 0.0]


# -- custom gradients -----------------------------------------------------------------------------


def test_log1pexp():
    def plain(x):
        return tf.math.log(tf.exp(x) + 1.0)

    @tf.custom_gradient
    def stable(x):
        e = tf.exp(x)
        return tf.math.log(1.0 + e), lambda upstream: upstream * (1.0 - 1.0 / (1.0 + e))

    x = tf.constant(100.0)
    for f, expected in ((plain, np.nan), (stable, 1.0)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        np.testing.assert_equal(tape.gradient(y, x).numpy(), np.float32(expected))


def test_custom_gradient_second_order_and_nested():
    @tf.custom_gradient
    def cube(x):
        def grad(upstream):
            return upstream * 3.0 * square(x)

        return x * x * x, grad

    @tf.custom_gradient
    def square(x):
        return x * x, lambda upstream: upstream * 10.0 * x

    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = cube(x)
        g = inner.gradient(y, x)
    assert g.numpy() == 12.0
    assert outer.gradient(g, x).numpy() == 60.0


def test_custom_gradient_with_variables_and_keywords():
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def f(x, scale=1.0):
        def grad(upstream, variables=None):
            assert variables[0] is v
            return upstream * 5.0, [upstream * 7.0]

        return x * v * scale, grad

    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = f(x, scale=2.0)
    assert y.numpy() == 12.0
    assert [g.numpy() for g in tape.gradient(y, [x, v])] == [5.0, 7.0]

    @tf.custom_gradient
    def wrong(x):
        return x * v, lambda upstream: upstream

    with pytest.raises(TypeError, match="must accept keyword argument 'variables'"):
        wrong(x)


def test_custom_gradient_inside_a_jacobian():
    @tf.custom_gradient
    def f(x):
        return x * x, lambda upstream: upstream * 7.0 * x

    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = f(x) * 2.0
    np.testing.assert_allclose(tape.jacobian(y, x).numpy(), np.diag([14.0, 28.0]))


def test_custom_gradient_may_look_at_values():
    @tf.custom_gradient
    def f(x):
        def grad(upstream):
            return upstream * (10.0 if float(upstream) > 1.0 else 1.0)

        return x * 1.0, grad

    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        y = f(x)
        z = y * 3.0
    assert tape.gradient(y, x).numpy() == 1.0
    assert tape.gradient(z, x).numpy() == 30.0


# -- recomputation --------------------------------------------------------------------------------


def layers(x):
    for _ in range(12):
        x = tf.sin(x) * 1.1
    return x


def test_recompute_grad_agrees():
    w = tf.Variable([0.3, 0.6])

    @tf.recompute_grad
    def f(x):
        return layers(x * w)

    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        a = tf.reduce_sum(f(x))
    with tf.GradientTape() as plain:
        b = tf.reduce_sum(layers(x * w))
    for got, expected in zip(tape.gradient(a, [x, w]), plain.gradient(b, [x, w])):
        np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-6)


def test_recompute_grad_keeps_less():
    """What the backward pass keeps of the forward pass, by JAX's own count."""
    from tape_compat._src.core.avals import Aval
    from tape_compat._src.values.capture import capture, value_of

    known = Aval.of((1000,), tf.float32)
    found = capture(layers, [known], lambda y: [y], "layers")
    plain = found.closure.fn
    remat = jax.checkpoint(plain)

    def kept(f):
        x = jnp.ones(1000)
        _, pull = jax.vjp(lambda x: f(x, *[value_of(s)._value() for s in found.sources])[0], x)
        return sum(a.nbytes for a in jax.tree.leaves(pull) if hasattr(a, "nbytes"))

    assert kept(remat) <= kept(plain) / 5


# -- sparse gradients -----------------------------------------------------------------------------


def test_gather_gives_indexed_slices():
    table = tf.Variable(np.arange(12, dtype=np.float32).reshape(4, 3))
    with tf.GradientTape() as tape:
        rows = tf.gather(table, [1, 3, 1])
        loss = tf.reduce_sum(rows * rows)
    g = tape.gradient(loss, table)
    assert isinstance(g, tf.IndexedSlices)
    assert g.indices.numpy().tolist() == [1, 3, 1]
    assert g.dense_shape.numpy().tolist() == [4, 3]
    dense = tf.convert_to_tensor(g).numpy()
    np.testing.assert_allclose(dense[1], 4 * np.arange(3, 6))
    table.scatter_sub(tf.IndexedSlices(g.values * 0.5, g.indices, g.dense_shape))
    np.testing.assert_allclose(table.numpy()[1], np.arange(3, 6) * -1.0)
    np.testing.assert_allclose(table.numpy()[0], np.arange(3))


def test_a_dense_use_makes_it_dense():
    table = tf.Variable(np.ones((4, 3), np.float32))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(table, [1])) + tf.reduce_sum(table)
    g = tape.gradient(loss, table)
    assert isinstance(g, tf.Tensor) and g.numpy()[1, 0] == 2.0


@pytest.mark.compiled
def test_a_sparse_step_touches_only_its_rows(deferred):
    """The compiled step has no instruction as large as the table but the scatter itself."""
    from tape_compat._src.values.record import flush

    rows = 5_000
    table = tf.Variable(np.ones((rows, 8), np.float32))

    def step(ids):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.gather(table, ids)))
        g = tape.gradient(loss, table)
        table.scatter_sub(tf.IndexedSlices(0.1 * g.values, g.indices, g.dense_shape))

    ids = tf.constant(np.arange(40, dtype=np.int32) * 7)
    for _ in range(3):
        step(ids)
        flush()
    executable = list(kept.KEPT.order)[-1]
    assert executable.donate
    replayed, structs = replayed_program(executable)
    with jax.enable_x64(True):
        jaxpr = jax.make_jaxpr(replayed)(*structs)
    large = [
        e.primitive.name
        for e in _equations(jaxpr.jaxpr)
        if any(getattr(v.aval, "shape", ())[:1] == (rows,) for v in e.outvars)
    ]
    assert {n for n in large if not n.startswith(("scatter", "pjit", "jit"))} == set()


def replayed_program(executable):
    """A compiled program as a function of its array leaves, and what they look like."""
    from tape_compat._src.core.steps import Steps, leaf_layout, needed

    path = executable.node.path()
    slots, packed = leaf_layout(path)
    kinds = {s: leaf for n in path for s, leaf in enumerate(n.leaves, n.first_leaf)}

    scalars = {s: jnp.ones((), dtype) for dtype, group in packed.items() for s in group}
    live = executable.key[0]
    steps = Steps.numbered(needed(path, live), [*slots, *scalars], live)

    def replayed(*leaves):
        return steps.replay(*leaves, *scalars.values())

    return replayed, [kinds[s].struct for s in slots]


def _equations(jaxpr):
    """The equations of a jaxpr and of those inside it, calls themselves left out."""
    for e in jaxpr.eqns:
        inner = getattr(e.params.get("jaxpr"), "jaxpr", None)
        if inner is None:
            yield e
        else:
            yield from _equations(inner)


# -- JAX functions --------------------------------------------------------------------------------


def test_as_op_with_pytrees_and_static_arguments():
    @tf.as_op(static_argnames="power")
    def f(tree, *, power=2):
        return {"sum": tree["a"] ** power + tree["b"][0], "other": tree["b"][0] * 3}

    a, b = tf.Variable(2.0), tf.Variable(5.0)
    with tf.GradientTape() as tape:
        out = f({"a": a, "b": [b]}, power=3)
        y = out["sum"] * out["other"]
    assert out["sum"].numpy() == 13.0
    assert [g.numpy() for g in tape.gradient(y, [a, b])] == [180.0, 54.0]
    with pytest.raises(TypeError, match="`power` must be hashable"):
        f({"a": a, "b": [b]}, power=[3])


def test_as_op_honours_custom_vjp():
    @jax.custom_vjp
    def f(x):
        return x * x

    f.defvjp(lambda x: (x * x, x), lambda x, g: (g * 100.0 * x,))
    op = tf.as_op(f)
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = op(x)
    assert tape.gradient(y, x).numpy() == 300.0


def test_as_op_keeps_thirty_two_bits():
    op = tf.as_op(lambda x: x + jnp.zeros(2) + jnp.arange(2))
    assert op(tf.constant([1.0, 2.0])).dtype == tf.float32
    assert op(tf.constant([1.0, 2.0], tf.float64)).dtype == tf.float64


def test_a_jax_function_on_a_tensor_works_by_value():
    x = tf.constant([1.0, 4.0])
    assert jnp.sqrt(x).tolist() == [1.0, 2.0]
    np.testing.assert_array_equal(np.from_dlpack(x), [1.0, 4.0])


def test_a_value_looked_at_while_a_function_is_captured():
    """Reading a pending value runs the program that the capture interrupted."""
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        s = tf.square(x)

        @tf.recompute_grad
        def scaled(y):
            return y * float(s.numpy()[1])

        z = tf.reduce_sum(scaled(x) * s)
    assert z.numpy() == 4.0 * 9.0
    # s is a constant inside the function, for its value was taken.
    np.testing.assert_allclose(tape.gradient(z, x).numpy(), 4.0 * 3.0 * np.square([1.0, 2.0]))


@pytest.mark.parametrize("dtype", [tf.float16, tf.float32, tf.float64])
@pytest.mark.parametrize("f", [tf.sqrt, tf.math.rsqrt, tf.math.reciprocal])
def test_compiled_zero_gradients_stay_zero_and_others_do_not(f, dtype):
    x = tf.constant([-1.0, 0.0, np.nan, 4.0], dtype)

    @tf.function(jit_compile=True)
    def gradient(seed):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x, seed)

    for _ in range(3):  # interpreted at first
        assert not np.any(gradient(tf.zeros_like(x)).numpy())
        found = gradient(tf.ones_like(x)).numpy()
        assert np.isnan(found[2]) and np.isinf(found[1]) and np.isfinite(found[3])
        assert np.isnan(found[0]) == (f is not tf.math.reciprocal)
