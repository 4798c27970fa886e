"""A physics-informed network that solves Burgers' equation, by three nested tapes.

Solves u_t + u u_x = nu u_xx on -1 < x < 1, 0 < t < 1 with u(x, 0) = -sin(pi x) and u = 0 at both
ends. The derivatives of the network by its inputs come from tapes inside the tape that trains it: a
persistent tape gives u_t and u_x, the tape around it u_xx, the outermost one the gradients.

    python examples/pinn_burgers.py

It compares the network with a finite-difference solution at t = 1 and asserts an error below 5 %.
"""

import time

import numpy as np

import tape_compat as tf

NU = 0.1
SIZES = (2, 20, 20, 20, 1)
STEPS = 1200
POINTS = 400


def make_weights(sizes, rng):
    """Glorot-normal matrices and zero biases."""
    weights = []
    for fan_in, fan_out in zip(sizes, sizes[1:]):
        matrix = rng.normal(0.0, np.sqrt(2.0 / (fan_in + fan_out)), (fan_in, fan_out))
        weights += [tf.Variable(matrix.astype("float32")), tf.Variable(tf.zeros([fan_out]))]
    return weights


def network(t, x, weights):
    """u at the points (t, x), each [n, 1]."""
    hidden = tf.concat([t, x], axis=1)
    for i in range(0, len(weights) - 2, 2):
        hidden = tf.tanh(tf.matmul(hidden, weights[i]) + weights[i + 1])
    return tf.matmul(hidden, weights[-2]) + weights[-1]


def residual(t, x, weights):
    """What is left of u_t + u u_x - nu u_xx, [n, 1]: zero where the network solves the equation."""
    with tf.GradientTape() as second:
        second.watch(x)
        with tf.GradientTape(persistent=True) as first:
            first.watch([t, x])
            u = network(t, x, weights)
        u_t = first.gradient(u, t)
        u_x = first.gradient(u, x)
    u_xx = second.gradient(u_x, x)
    return u_t + u * u_x - NU * u_xx


def reference(cells=200):
    """The solution at t = 1 on a grid, by central differences and small explicit steps."""
    x = np.linspace(-1.0, 1.0, cells + 1)
    dx = x[1] - x[0]
    steps = int(np.ceil(1.0 / (0.4 * dx * dx / (2 * NU))))
    u = -np.sin(np.pi * x)
    for _ in range(steps):
        u_x = (u[2:] - u[:-2]) / (2 * dx)
        u_xx = (u[2:] - 2 * u[1:-1] + u[:-2]) / dx**2
        u[1:-1] += (NU * u_xx - u[1:-1] * u_x) / steps
    return x, u


def main():
    rng = np.random.default_rng(0)
    column = lambda values: tf.constant(np.asarray(values, "float32").reshape(-1, 1))  # noqa: E731
    t_inside = column(rng.uniform(0, 1, POINTS))
    x_inside = column(rng.uniform(-1, 1, POINTS))
    x_known = np.concatenate([np.linspace(-1, 1, 100), -np.ones(50), np.ones(50)])
    t_known = np.concatenate([np.zeros(100), np.linspace(0, 1, 50), np.linspace(0, 1, 50)])
    u_known = column(np.where(t_known == 0, -np.sin(np.pi * x_known), 0.0))
    t_known, x_known = column(t_known), column(x_known)

    weights = make_weights(SIZES, rng)
    optimizer = tf.optimizers.Adam(learning_rate=5e-3)
    started = time.perf_counter()
    for step in range(STEPS + 1):
        if step == 2 * STEPS // 3:
            optimizer.learning_rate = 1e-3
        with tf.GradientTape() as tape:
            inside = tf.reduce_mean(tf.square(residual(t_inside, x_inside, weights)))
            known = tf.reduce_mean(tf.square(network(t_known, x_known, weights) - u_known))
            loss = inside + 10.0 * known
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        if step % 200 == 0:
            print(f"step {step:5d}  loss {float(loss):.5f}")
    print(f"in {time.perf_counter() - started:.1f} s")

    x, u = reference()
    predicted = network(tf.ones([len(x), 1]), column(x), weights).numpy()[:, 0]
    error = np.linalg.norm(predicted - u) / np.linalg.norm(u)
    print(f"error at t = 1 against finite differences: {100 * error:.2f} %")
    assert error < 0.05, error


if __name__ == "__main__":
    main()
