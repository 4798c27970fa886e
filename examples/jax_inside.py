"""A JAX function as an op of a tape: a differential equation, solved by `jax.lax.scan` and fitted.

`tape_compat.as_op` makes any JAX function a recorded op. Here it is a Runge-Kutta solver of a
damped pendulum, a compiled loop with a static number of steps; the tape differentiates through it,
and plain tape code around it fits frequency and damping to noisy measurements.

    python examples/jax_inside.py
"""

import time

import jax
import jax.numpy as jnp
import numpy as np

import tape_compat as tf

FREQUENCY, DAMPING = 2.0, 0.3
STEPS = 200
SECONDS = 6.0


def pendulum(frequency, damping, start, steps):
    """Angles [steps] of a pendulum that starts at `start` = (angle, speed), by Runge-Kutta 4."""
    dt = SECONDS / steps

    def slope(state):
        angle, speed = state
        return jnp.stack([speed, -(frequency**2) * jnp.sin(angle) - damping * speed])

    def advance(state, _):
        k1 = slope(state)
        k2 = slope(state + dt / 2 * k1)
        k3 = slope(state + dt / 2 * k2)
        k4 = slope(state + dt * k3)
        state = state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return state, state[0]

    return jax.lax.scan(advance, start, length=steps)[1]


solve = tf.as_op(pendulum, static_argnames=("steps",))


def main():
    start = tf.constant([1.0, 0.0])
    rng = np.random.default_rng(0)
    truth = solve(tf.constant(FREQUENCY), tf.constant(DAMPING), start, steps=STEPS)
    measured = tf.constant(truth.numpy() + rng.normal(0, 0.02, STEPS).astype("float32"))

    frequency, damping = tf.Variable(1.7), tf.Variable(0.0)
    optimizer = tf.optimizers.Adam(learning_rate=0.02)
    started = time.perf_counter()
    for step in range(301):
        with tf.GradientTape() as tape:
            angles = solve(frequency, damping, start, steps=STEPS)
            loss = tf.reduce_mean(tf.square(angles - measured))
        gradients = tape.gradient(loss, [frequency, damping])
        if step == 0:
            # The same gradients from JAX alone.
            def by_hand(f, d):
                angles = pendulum(f, d, jnp.asarray([1.0, 0.0]), STEPS)
                return jnp.mean((angles - measured.numpy()) ** 2)

            expected = jax.jit(jax.grad(by_hand, argnums=(0, 1)))(1.7, 0.0)
            assert np.allclose([float(g) for g in gradients], expected, rtol=1e-3), expected
        optimizer.apply_gradients(zip(gradients, [frequency, damping]))
        if step % 50 == 0:
            print(
                f"step {step:4d}  loss {float(loss):.6f}"
                f"  frequency {float(frequency):.4f}  damping {float(damping):.4f}"
            )
    print(f"in {time.perf_counter() - started:.1f} s; real values {FREQUENCY}, {DAMPING}")
    assert abs(float(frequency) - FREQUENCY) < 0.02
    assert abs(float(damping) - DAMPING) < 0.02


if __name__ == "__main__":
    main()
