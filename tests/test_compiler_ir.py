"""`experimental_get_compiler_ir` and `function_spec`."""

import numpy as np
import pytest

import tape_compat as tf


def step():
    v = tf.Variable(2.0)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def add_noise(x):
        return v.assign_add(tf.reduce_sum(tf.exp(x)) + tf.random.normal([]))

    return v, add_noise


def test_stages():
    v, f = step()
    tf.random.set_seed(1)
    ir = f.experimental_get_compiler_ir(tf.constant([1.0, 2.0, 3.0]))
    assert "stablehlo.exponential" in ir(stage="stablehlo") and "tensor<3xf32>" in ir("stablehlo")
    assert ir().startswith("HloModule jit_add_noise") and "exponential" in ir(stage="hlo")
    assert "is_scheduled=true" in ir(stage="optimized_hlo")
    assert ir(stage="stablehlo_serialized").startswith(b"ML") and ir(stage="hlo_serialized")
    assert "f32" in ir(stage="stablehlo", platform_name="TPU")
    with pytest.warns(UserWarning, match="device_name is being deprecated"):
        assert "f32" in ir(stage="stablehlo", device_name="/device:CPU:0")
    assert v.numpy() == 2.0  # nothing ran, and nothing was drawn
    drawn = tf.random.normal([])
    tf.random.set_seed(1)
    assert drawn.numpy() == tf.random.normal([]).numpy()


def test_refusals():
    _, f = step()
    with pytest.raises(ValueError, match=r"^Only support static input shape but got inputs"):
        f.experimental_get_compiler_ir(tf.TensorSpec([None], tf.float32))
    ir = f.experimental_get_compiler_ir(tf.TensorSpec([2], tf.float32))
    with pytest.raises(ValueError, match=r"^Invalid stage selected: 'mlir'. Valid values are"):
        ir(stage="mlir")
    with pytest.raises(NotImplementedError, match="stage 'optimized_hlo_dot' is not here"):
        ir(stage="optimized_hlo_dot")
    with pytest.raises(ValueError, match="device_name and platform_name cannot"):
        ir(device_name="/device:CPU:0", platform_name="CPU")


def test_function_spec():
    _, f = step()
    assert f.function_spec.input_signature == (tf.TensorSpec([None], tf.float32),)
    assert f.function_spec.flat_input_signature == f.function_spec.input_signature

    spec = tf.function(lambda x, y=1, *rest, z, w=2, **named: x, jit_compile=True).function_spec
    assert spec.arg_names == ["x", "y"] and spec.default_values == {"y": 1, "w": 2}
    assert spec.jit_compile and not spec.is_pure
    full = spec.fullargspec
    assert (full.varargs, full.varkw, full.defaults) == ("rest", "named", (1,))
    assert (full.kwonlyargs, full.kwonlydefaults) == (["z", "w"], {"w": 2})


def test_equal_numbers_are_one_input():
    """What an optimizer computes of its numbers for each variable is computed once."""
    step = tf.Variable(1.0)
    variables = [tf.Variable([1.0, 2.0]) for _ in range(3)]

    @tf.function
    def update():
        for v in variables:
            v.assign_sub(v * tf.sqrt(1.0 - tf.pow(0.9, step)) / (1.0 - tf.pow(0.9, step)))

    ir = update.experimental_get_compiler_ir()(stage="stablehlo")
    assert ir.count("stablehlo.power") == 1
    update()
    np.testing.assert_allclose(variables[2], [1 - 0.1**-0.5, 2 - 2 * 0.1**-0.5], rtol=1e-6)


def test_equal_constants_that_are_held_are_apart():
    one, two = tf.constant(2.0), tf.constant(2.0)
    f = tf.function(lambda x: x * one + tf.square(x) * two * 2.0)
    with tf.GradientTape() as tape:
        tape.watch([one, two])
        y = f(tf.constant(3.0))
    assert [g.numpy() for g in tape.gradient(y, [one, two])] == [3.0, 18.0]


@pytest.mark.parametrize("reduced", [tf.reduce_sum, tf.reduce_mean, lambda y: y])
def test_the_gradient_of_ones_is_not_worked_out(reduced):
    """XLA would take seconds to do so when it compiles."""

    @tf.function
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = reduced(tf.cumsum(x, 1))
        return tape.gradient(y, x)

    text = gradient.experimental_get_compiler_ir(tf.zeros([64, 1024]))(stage="optimized_hlo")
    assert "reduce-window" in text


def test_compile_refuses_operations_in_front_of_tensors():
    with pytest.raises(ValueError, match=r"zero or more Tensor values followed by zero or more Op"):
        tf.xla.experimental.compile(lambda: [tf.no_op(), tf.constant(1.0)])
