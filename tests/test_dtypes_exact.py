"""TF's dtypes are exact while the user's JAX configuration stays as it is."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tape_compat as tf

NUMERIC = (
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)


@pytest.mark.parametrize("name", NUMERIC)
def test_every_dtype_stays_under_a_tape(name):
    x = tf.constant([1, 2, 3], dtype=name)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x + x
    assert y.dtype == name
    assert y.numpy().dtype == tf.as_dtype(name).as_numpy_dtype
    if tf.as_dtype(name).is_floating or tf.as_dtype(name).is_complex:
        g = tape.gradient(y, x)
        assert g.dtype == name
        assert [complex(v) for v in g.numpy()] == [3, 5, 7]


def test_sixty_four_bits_are_kept():
    big = 2**53 + 1
    assert (tf.constant(big) + 0).numpy() == big
    assert tf.constant(big).dtype == tf.int64
    third = tf.constant(1.0, tf.float64) / 3.0
    assert third.numpy() == 1.0 / 3.0
    assert (tf.constant(2**63 + 5, tf.uint64) + 1).numpy() == 2**63 + 6


def test_jax_keeps_its_own_defaults():
    before = jax.config.jax_enable_x64
    v = tf.Variable(1.0, dtype=tf.float64)
    with tf.GradientTape() as tape:
        y = tf.exp(v)
        assert jnp.ones(3).dtype == (jnp.float64 if before else jnp.float32)
        assert jnp.arange(3).dtype == (jnp.int64 if before else jnp.int32)
    assert abs(tape.gradient(y, v).numpy() - np.exp(1.0)) < 1e-14
    assert jax.jit(lambda x: x * 2.5)(1.0).dtype == (jnp.float64 if before else jnp.float32)
    assert jax.config.jax_enable_x64 == before


def test_python_numbers_adopt_the_tensors_dtype():
    for name in ("float16", "bfloat16", "float64"):
        x = tf.constant(2.0, name)
        assert (x * 3).dtype == name and (3 * x).dtype == name
        assert (x + np.float64(1.5)).dtype == name
    assert tf.constant(1.5).dtype == tf.float32
    assert tf.constant(np.float64(1.5)).dtype == tf.float64
    assert tf.constant(1).dtype == tf.int32


def test_different_dtypes_raise():
    with pytest.raises(tf.errors.InvalidArgumentError, match="was expected to be a float tensor"):
        tf.constant(1.0) + tf.constant(1.0, tf.float64)
    with pytest.raises(tf.errors.InvalidArgumentError, match="was expected to be a int32 tensor"):
        tf.constant(1) + 1.5


def test_negative_zero_scalars_are_not_mixed_up():
    def at(zero):
        x = tf.Variable([1.0, -1.0])
        with tf.GradientTape() as tape:
            y = tf.atan2(x * zero, x)
        tape.gradient(y, x)
        return np.signbit((tf.constant([1.0]) * 1.0).numpy()[0]), y.numpy()

    for _ in range(3):
        plus, minus = at(0.0)[1], at(-0.0)[1]
    assert np.signbit(plus[0]) != np.signbit(minus[0])


def test_strings_pass_by_unharmed():
    s = tf.constant(["a", "bc"])
    assert s.dtype == tf.string and s.shape == (2,)
    assert s.numpy().tolist() == [b"a", b"bc"]
    assert (s == "a").numpy().tolist() == [True, False]
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        label = tf.constant("loss")
        y = x * x
    assert tape.gradient(y, x).numpy() == 4.0
    assert label.numpy() == b"loss"
    assert str(label) == "tf.Tensor(b'loss', shape=(), dtype=string)"
