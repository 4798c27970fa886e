"""Meta-learning (MAML): a Keras model that learns a new sine from ten points in one step.

The inner gradient step is taken on copies of the weights, with `stateless_call`; the outer tape
differentiates through it, and the optimizer moves the weights from which the inner step begins.

    python examples/keras_maml.py

It prints the error on new sines, before and after their one step, at the start and at the end.
"""

import numpy as np

import tape_compat as tf

keras, layers = tf.keras, tf.keras.layers
TASKS, POINTS, RATE = 8, 10, 0.05


def sines(rng):
    """Points of some sines: x and y [tasks, 2 * points, 1], the first half to learn from."""
    x = rng.uniform(-3, 3, (TASKS, 2 * POINTS, 1))
    height, shift = rng.uniform(0.5, 2, (TASKS, 1, 1)), rng.uniform(0, np.pi, (TASKS, 1, 1))
    return tf.constant(x, tf.float32), tf.constant(height * np.sin(x + shift), tf.float32)


def adapted_error(model, x, y):
    """The errors on the second half of the points, before and after one step on the first."""
    weights = [variable.value for variable in model.trainable_variables]

    def error(weights, x, y):
        made, _ = model.stateless_call(weights, [], x)
        return tf.reduce_mean((made - y) ** 2)

    with tf.GradientTape() as tape:
        tape.watch(weights)
        learned = error(weights, x[:POINTS], y[:POINTS])
    slopes = tape.gradient(learned, weights)
    moved = [w - RATE * slope for w, slope in zip(weights, slopes)]
    return error(weights, x[POINTS:], y[POINTS:]), error(moved, x[POINTS:], y[POINTS:])


def main():
    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    hidden = [layers.Dense(40, activation="relu") for _ in range(2)]
    model = keras.Sequential([keras.Input((1,)), *hidden, layers.Dense(1)])
    optimizer = keras.optimizers.Adam(3e-3)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            errors = [adapted_error(model, x[i], y[i]) for i in range(TASKS)]
            before, after = (tf.reduce_mean(part) for part in zip(*errors))
        gradients = tape.gradient(after, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return before, after

    seen = [[float(error) for error in step(*sines(rng))] for _ in range(600)]
    for name, part in (("first", seen[:50]), ("last", seen[-50:])):
        before, after = np.mean(part, axis=0)
        print(f"{name} 50 steps: error {before:.2f}, after one step on ten points {after:.2f}")
    assert after < 0.6 * before and after < 0.5 * np.mean(seen[:50], axis=0)[1]


if __name__ == "__main__":
    main()
