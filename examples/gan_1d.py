"""A generative adversarial network on a bell curve: two models trained in one step from two tapes.

The generator turns noise into numbers that should look drawn from a normal distribution of mean 1
and deviation 0.5; the discriminator learns to tell them from real draws. Both losses stand on the
same forward pass, recorded by two tapes at once.

    python examples/gan_1d.py

It prints mean and deviation of what the generator makes and asserts that they are near.
"""

import time

import numpy as np

import tape_compat as tf

MEAN, DEVIATION = 1.0, 0.5
NOISE = 4
BATCH = 256
STEPS = 1000


def make_weights(sizes, rng):
    """Glorot-normal matrices and zero biases."""
    weights = []
    for fan_in, fan_out in zip(sizes, sizes[1:]):
        matrix = rng.normal(0.0, np.sqrt(2.0 / (fan_in + fan_out)), (fan_in, fan_out))
        weights += [tf.Variable(matrix.astype("float32")), tf.Variable(tf.zeros([fan_out]))]
    return weights


def network(x, weights):
    """A tanh network with a linear last layer."""
    for i in range(0, len(weights) - 2, 2):
        x = tf.tanh(tf.matmul(x, weights[i]) + weights[i + 1])
    return tf.matmul(x, weights[-2]) + weights[-1]


def cross_entropy(logits, real):
    """Mean cost of calling every row real (1.0) or made (0.0)."""
    labels = tf.fill(tf.shape(logits), real)
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))


def features(x):
    """The discriminator sees each number and its square, which steadies a GAN this small."""
    return tf.concat([x, tf.square(x)], axis=1)


def main():
    rng = np.random.default_rng(0)
    generator = make_weights((NOISE, 16, 1), rng)
    discriminator = make_weights((2, 16, 1), rng)
    generator_optimizer = tf.optimizers.Adam(learning_rate=2e-3, beta_1=0.5)
    discriminator_optimizer = tf.optimizers.Adam(learning_rate=4e-3, beta_1=0.5)

    average = [tf.Variable(w) for w in generator]  # a slow copy of the generator, steadier than it
    started = time.perf_counter()
    for step in range(STEPS):
        noise = rng.normal(size=(BATCH, NOISE)).astype("float32")
        real = rng.normal(MEAN, DEVIATION, size=(BATCH, 1)).astype("float32")
        with tf.GradientTape() as generator_tape, tf.GradientTape() as discriminator_tape:
            made = network(noise, generator)
            made_logits = network(features(made), discriminator)
            real_logits = network(features(tf.constant(real)), discriminator)
            generator_loss = cross_entropy(made_logits, 1.0)
            discriminator_loss = cross_entropy(real_logits, 0.9) + cross_entropy(made_logits, 0.0)
        for tape, loss, weights, optimizer in (
            (generator_tape, generator_loss, generator, generator_optimizer),
            (discriminator_tape, discriminator_loss, discriminator, discriminator_optimizer),
        ):
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        for slow, w in zip(average, generator):
            slow.assign_add(0.01 * (w - slow))
        if step % 200 == 0:
            print(
                f"step {step:5d}  generator {float(generator_loss):.3f}"
                f"  discriminator {float(discriminator_loss):.3f}"
            )
    seconds = time.perf_counter() - started

    noise = rng.normal(size=(20_000, NOISE)).astype("float32")
    made = network(tf.constant(noise), average).numpy()
    print(f"{STEPS} steps in {seconds:.1f} s")
    print(f"mean {made.mean():.2f} (real {MEAN}), deviation {made.std():.2f} (real {DEVIATION})")
    assert abs(made.mean() - MEAN) < 0.15, made.mean()
    assert abs(made.std() - DEVIATION) < 0.15, made.std()


if __name__ == "__main__":
    main()
