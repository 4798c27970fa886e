"""Keras models whose weights, dropout and noise come from a seed: prints what came out as JSON.

Run by `test_models.py` on us and on the real TensorFlow.
"""

import json

import numpy as np
import tensorflow as tf
from tensorflow import keras

layers = keras.layers


def dropped():
    hidden = layers.Dense(16, activation="relu", kernel_initializer="he_normal")
    x = np.random.rand(48, 6).astype("float32")
    return keras.Sequential([keras.Input((6,)), hidden, layers.Dropout(0.4), layers.Dense(1)]), x


def noisy_images():
    x = keras.Input((6, 6, 2))
    y = layers.GaussianNoise(0.1)(layers.Conv2D(4, 3, kernel_initializer="random_normal")(x))
    y = layers.SpatialDropout2D(0.3)(y)
    y = layers.Dense(1, kernel_initializer="truncated_normal")(layers.Flatten()(y))
    return keras.Model(x, y), np.random.rand(48, 6, 6, 2).astype("float32")


def recurrent():
    model = keras.Sequential(
        [
            keras.Input((5,)),
            layers.Embedding(20, 4),
            layers.LSTM(6, dropout=0.2, recurrent_initializer="orthogonal"),
            layers.Dense(1),
        ]
    )
    return model, np.random.randint(0, 20, (48, 5))


def own_loop():
    """A generator network trained in a loop of one's own: data shuffled, noise drawn."""
    tf.random.set_seed(11)
    rows = tf.data.Dataset.from_tensor_slices(tf.random.normal([64, 3])).shuffle(20).batch(16)
    weights = tf.Variable(tf.random.truncated_normal([3, 3], stddev=0.5))
    losses = []

    @tf.function
    def step(x):
        noise = tf.random.uniform(tf.shape(x), -0.1, 0.1)
        with tf.GradientTape() as tape:
            y = tf.nn.dropout(tf.tanh((x + noise) @ weights), 0.2)
            loss = tf.reduce_mean((y - x) ** 2)
        weights.assign_sub(0.5 * tape.gradient(loss, weights))
        return loss

    for _ in range(2):
        losses += [float(step(x)) for x in rows]
    return losses + np.ravel(tf.random.shuffle(weights, seed=3)).tolist()


def main():
    out = {}
    for make in (dropped, noisy_images, recurrent):
        keras.utils.set_random_seed(7)
        model, x = make()
        out[f"{make.__name__} weights"] = [float(np.sum(w**2)) for w in model.get_weights()]
        model.compile("adam", "mse")
        history = model.fit(x, np.linspace(0, 1, 48), epochs=3, batch_size=16, verbose=0)
        out[f"{make.__name__} losses"] = history.history["loss"]
        out[f"{make.__name__} answers"] = model.predict(x[:4], verbose=0).ravel().tolist()
    seed = keras.random.SeedGenerator(3)
    draws = [
        keras.random.normal((3,), seed=seed),
        keras.random.uniform((3,), seed=seed),
        keras.random.truncated_normal((3,), seed=seed),
        keras.random.randint((3,), 0, 100, seed=seed),
        keras.random.categorical(tf.math.log([[0.2, 0.8]]), 5, seed=seed),
        keras.random.dropout(np.ones(5, "float32"), 0.5, seed=seed),
        keras.random.shuffle(np.arange(5), seed=seed),
    ]
    out["draws"] = [float(x) for draw in draws for x in np.ravel(draw)]
    out["own loop"] = own_loop()
    print(json.dumps(out))


main()
