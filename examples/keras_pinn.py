"""A differential equation solved by a Keras model: u'' = -pi^2 sin(pi x), u(0) = u(1) = 0.

The second derivative by the input stands inside the loss, by a tape in a tape in the tape that
trains; the whole step is one `tf.function`. At the end `batch_jacobian` gives the slope at each
point.

    python examples/keras_pinn.py

It prints the loss on the way and the errors of the solution sin(pi x) and of its slope.
"""

import numpy as np

import tape_compat as tf

keras, layers = tf.keras, tf.keras.layers


def second_derivative(model, x):
    """u and u'' at each point, both [n, 1]."""
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            u = model(x)
        slope = inner.gradient(u, x)
    return u, outer.gradient(slope, x)


def main():
    keras.utils.set_random_seed(0)
    hidden = [layers.Dense(20, activation="tanh") for _ in range(2)]
    model = keras.Sequential([keras.Input((1,)), *hidden, layers.Dense(1)])
    rate = keras.optimizers.schedules.CosineDecay(1e-2, 1500)
    optimizer = keras.optimizers.Adam(rate)
    inside = tf.reshape(tf.linspace(0.0, 1.0, 64), [-1, 1])
    ends = tf.constant([[0.0], [1.0]])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            _, curvature = second_derivative(model, inside)
            residual = curvature + np.pi**2 * tf.sin(np.pi * inside)
            loss = tf.reduce_mean(residual**2) + 100.0 * tf.reduce_mean(model(ends) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    for i in range(1, 1501):
        loss = step()
        if i % 500 == 0:
            print(f"step {i}  loss {float(loss):.5f}")

    with tf.GradientTape() as tape:
        tape.watch(inside)
        u = model(inside)
    slope = tape.batch_jacobian(u, inside)[:, 0]
    error = float(tf.reduce_max(tf.abs(u - tf.sin(np.pi * inside))))
    slope_error = float(tf.reduce_max(tf.abs(slope - np.pi * tf.cos(np.pi * inside))))
    print(f"largest error {error:.4f}, of the slope {slope_error:.4f}")
    assert error < 0.02 and slope_error < 0.1


if __name__ == "__main__":
    main()
