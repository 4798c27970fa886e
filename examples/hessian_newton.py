"""Newton's method: the Hessian as the Jacobian of a gradient, by two tapes.

Finds the minimum of the Rosenbrock function in six dimensions, then checks the Hessian against
central differences of the gradient and against a Hessian-vector product.

    python examples/hessian_newton.py
"""

import numpy as np

import tape_compat as tf


def rosenbrock(x):
    """Sum of 100 (x[i+1] - x[i]^2)^2 + (1 - x[i])^2: a curved valley, lowest at (1, ..., 1)."""
    return tf.reduce_sum(100.0 * tf.square(x[1:] - tf.square(x[:-1])) + tf.square(1.0 - x[:-1]))


def gradient_and_hessian(f, x):
    """f(x), its gradient [n] and its Hessian [n, n] at the Variable x, [n]."""
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            value = f(x)
        gradient = inner.gradient(value, x)
    return value, gradient, outer.jacobian(gradient, x)


def hessian_vector(f, x, direction):
    """Hessian times direction, [n], without the Hessian: the gradient of an inner product."""
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            value = f(x)
        slope = tf.reduce_sum(inner.gradient(value, x) * direction)
    return outer.gradient(slope, x)


def main():
    start = [1.4, 0.6, 0.8, 1.5, 1.2, 0.3]
    x = tf.Variable(start, dtype=tf.float64)

    _, gradient, hessian = gradient_and_hessian(rosenbrock, x)
    direction = tf.constant([1.0, -2.0, 0.5, 0.0, 3.0, 1.0], dtype=tf.float64)
    product = hessian_vector(rosenbrock, x, direction)
    expected = hessian.numpy() @ direction.numpy()
    print("Hessian-vector product, largest error:", np.abs(product.numpy() - expected).max())
    assert np.allclose(product.numpy(), expected, rtol=1e-9)

    h = 1e-5
    for i in range(len(start)):
        nudge = h * tf.one_hot(i, len(start), dtype=tf.float64)
        sides = []
        for sign in (1.0, -1.0):
            moved = tf.Variable(x + sign * nudge)
            sides.append(gradient_and_hessian(rosenbrock, moved)[1].numpy())
        difference = (sides[0] - sides[1]) / (2 * h)
        assert np.allclose(difference, hessian.numpy()[i], rtol=1e-5, atol=1e-4)

    for step in range(100):
        value, gradient, hessian = gradient_and_hessian(rosenbrock, x)
        size = float(tf.norm(gradient))
        print(f"step {step:2d}  f {float(value):.3e}  |gradient| {size:.3e}")
        if size < 1e-10:
            break
        # Far from the minimum the Hessian may point uphill: lift its eigenvalues, halve long steps.
        lowest = np.linalg.eigvalsh(hessian.numpy()).min()
        lift = max(0.0, 1e-3 - lowest)
        matrix = hessian + lift * tf.eye(len(start), dtype=tf.float64)
        move = tf.linalg.solve(matrix, gradient[:, tf.newaxis])[:, 0]
        scale = 1.0
        while scale > 1e-8 and float(rosenbrock(x - scale * move)) > float(value):
            scale /= 2.0
        x.assign_sub(scale * move)

    print("minimum at", np.round(x.numpy(), 6))
    assert np.allclose(x.numpy(), 1.0, atol=1e-8)


if __name__ == "__main__":
    main()
