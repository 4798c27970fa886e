"""A GAN of two Keras models, trained by `fit` through a `train_step` of its own.

Points on a ring are to be imitated. The data come from a `tf.data` pipeline; each step has a tape
and an optimizer for either model.

    python examples/keras_gan.py

It prints the losses of some epochs and how far from the centre the points that were made are.
"""

import numpy as np

import tape_compat as tf

keras, layers = tf.keras, tf.keras.layers
NOISE, RADIUS = 8, 2.0


class GAN(keras.Model):
    def __init__(self, discriminator, generator):
        super().__init__()
        self.discriminator, self.generator = discriminator, generator
        self.loss_of = keras.losses.BinaryCrossentropy(from_logits=True)
        self.optimizers = [keras.optimizers.Adam(2e-3, beta_1=0.5) for _ in range(2)]
        self.trackers = [keras.metrics.Mean(name=name) for name in ("d_loss", "g_loss")]

    @property
    def metrics(self):
        return self.trackers

    def train_step(self, real):
        rows = tf.shape(real)[0]
        made = self.generator(tf.random.normal([rows, NOISE]))
        points = tf.concat([real, made], axis=0)
        labels = tf.concat([0.9 * tf.ones([rows, 1]), tf.zeros([rows, 1])], axis=0)
        with tf.GradientTape() as tape:
            d_loss = self.loss_of(labels, self.discriminator(points))
        weights = self.discriminator.trainable_weights
        self.optimizers[0].apply_gradients(zip(tape.gradient(d_loss, weights), weights))

        noise = tf.random.normal([rows, NOISE])
        with tf.GradientTape() as tape:
            score = self.discriminator(self.generator(noise))
            g_loss = self.loss_of(tf.ones([rows, 1]), score)
        weights = self.generator.trainable_weights
        self.optimizers[1].apply_gradients(zip(tape.gradient(g_loss, weights), weights))
        for tracker, loss in zip(self.trackers, (d_loss, g_loss)):
            tracker.update_state(loss)
        return {tracker.name: tracker.result() for tracker in self.trackers}


def network(inputs, outputs):
    hidden = [layers.Dense(32, activation="relu") for _ in range(2)]
    return keras.Sequential([keras.Input((inputs,)), *hidden, layers.Dense(outputs)])


def main():
    keras.utils.set_random_seed(0)
    angles = np.random.default_rng(0).uniform(0, 2 * np.pi, 4096)
    ring = RADIUS * np.stack([np.cos(angles), np.sin(angles)], axis=1).astype("float32")
    data = tf.data.Dataset.from_tensor_slices(ring).shuffle(4096).batch(128).prefetch(2)
    gan = GAN(network(2, 1), network(NOISE, 2))
    gan.compile()
    for epoch in (10, 20, 30, 40):
        history = gan.fit(data, epochs=epoch, initial_epoch=epoch - 10, shuffle=False, verbose=0)
        print(
            f"epoch {epoch}  " + "  ".join(f"{k} {v[-1]:.3f}" for k, v in history.history.items())
        )
    made = gan.generator.predict(np.random.default_rng(1).normal(size=(2000, NOISE)), verbose=0)
    distance = np.linalg.norm(made, axis=1)
    mean, deviation = distance.mean(), distance.std()
    print(f"distance from the centre {mean:.2f} (real {RADIUS}), deviation {deviation:.2f}")
    assert abs(mean - RADIUS) < 0.3 and deviation < 0.6


if __name__ == "__main__":
    main()
