"""What a user's settings of JAX leave as it is."""

import jax
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core.caches import clear_caches


def mixed(x):
    """Ops that mix dtypes and ranks inside."""
    image = tf.reshape(x, (1, 4, 4, 1))
    pooled = tf.nn.avg_pool(image, 2, (1, 2, 1, 1), "SAME")
    mask = tf.sequence_mask([1, 3], 4, tf.float32)
    values, _ = tf.linalg.eig(tf.reshape(x, (4, 4)) + tf.eye(4) * [1.0, 2.0, 3.0, 4.0])
    drawn = tf.random.stateless_normal((3,), tf.random.experimental.stateless_fold_in([1, 2], 3))
    parts = [tf.reduce_sum(y * y) for y in (pooled, mask, tf.math.real(values), drawn)]
    return tf.math.add_n(parts) + tf.reduce_mean(tf.nn.softmax(tf.reshape(x, (4, 4))) * x[:4])


def step(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = mixed(x)
    return y, tape.gradient(y, x)


X = np.linspace(-1.0, 2.0, 16).astype(np.float32) ** 3


def test_promotion_in_jax_is_the_users_own():
    wanted = [x.numpy() for x in step(tf.constant(X))]
    for way in (step, tf.function(step)):
        clear_caches()  # what is traced is traced anew
        with jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"):
            found = [x.numpy() for x in way(tf.constant(X))]
            with pytest.raises(ValueError):  # it is as it was
                jax.numpy.add(np.ones((2, 2)), np.ones(2, np.int32))
        for got, known in zip(found, wanted, strict=True):
            np.testing.assert_allclose(got, known, rtol=1e-5)


def test_programs_run_where_nothing_is_compiled():
    v = tf.Variable([1.0, 2.0])

    def train():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v)
        v.assign_sub(0.25 * tape.gradient(loss, v))
        return loss

    with jax.disable_jit():
        losses = [float(train()) for _ in range(3)]
    assert losses == [5.0, 1.25, 0.3125]
    np.testing.assert_array_equal(v.numpy(), [0.125, 0.25])
