"""Five Keras models from fixed weights, trained each way: prints what came out as JSON.

Run by `test_models.py` on us and on the real TensorFlow.
"""

import json
import sys

import numpy as np
import tensorflow as tf
from tensorflow import keras

STEPS, BATCH = 20, 16
RNG = np.random.RandomState(0)


def images():
    return RNG.randn(STEPS * BATCH, 10, 10, 3).astype("float32")


def series():
    return RNG.randn(STEPS * BATCH, 6, 8).astype("float32")


def mlp():
    hidden = keras.layers.Dense(16, activation="relu", kernel_regularizer="l2")
    layers = [keras.Input((8,)), hidden, keras.layers.Dense(3)]
    return keras.Sequential(layers), RNG.randn(STEPS * BATCH, 8).astype("float32")


def cnn():
    layers = [
        keras.Input((10, 10, 3)),
        keras.layers.Conv2D(6, 3, activation="relu"),
        keras.layers.BatchNormalization(),
        keras.layers.MaxPooling2D(),
        keras.layers.Flatten(),
        keras.layers.Dense(3),
    ]
    return keras.Sequential(layers), images()


def lstm():
    layers = [
        keras.Input((6, 8)),
        keras.layers.LSTM(5, return_sequences=True),
        keras.layers.Bidirectional(keras.layers.GRU(4)),
        keras.layers.Dense(3),
    ]
    return keras.Sequential(layers), series()


def attention():
    x = keras.Input((6, 8))
    y = keras.layers.MultiHeadAttention(2, 4)(x, x)
    y = keras.layers.LayerNormalization()(x + y)
    y = keras.layers.GlobalAveragePooling1D()(y)
    return keras.Model(x, keras.layers.Dense(3)(y)), series()


class Subclassed(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(7, activation="tanh")
        self.drop = keras.layers.Dropout(0.5)
        self.out = keras.layers.Dense(3)

    def call(self, x, training=False):
        h = self.hidden(x)
        self.add_loss(0.01 * tf.reduce_mean(h**2))
        return self.out(self.drop(h, training=False) if training else h)


def subclassed():
    x = RNG.randn(STEPS * BATCH, 8).astype("float32")
    model = Subclassed()
    model(x[:1])
    return model, x


def with_fixed_weights(make):
    """A model with its data, and labels."""
    model, x = make()
    rng = np.random.RandomState(1)
    model.set_weights(
        [np.abs(rng.randn(*w.shape).astype("float32")) * 0.2 for w in model.get_weights()]
    )
    return model, x, rng.randint(0, 3, len(x))


def loop(make, decorated):
    model, x, y = with_fixed_weights(make)
    optimizer = keras.optimizers.Adam(0.01)
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    accuracy = keras.metrics.SparseCategoricalAccuracy()

    def step(x, y):
        with tf.GradientTape() as tape:
            out = model(x, training=True)
            loss = loss_of(y, out) + sum(model.losses)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        accuracy.update_state(y, out)
        return loss

    step = tf.function(step) if decorated else step
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH)
    return [float(step(*batch)) for batch in data] + [float(accuracy.result())]


def fit(make):
    model, x, y = with_fixed_weights(make)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.05, momentum=0.9), loss, metrics=["accuracy"])
    options = {"batch_size": 48, "shuffle": False, "verbose": 0}  # the last batch is smaller
    history = model.fit(x, y, epochs=2, validation_split=0.1, **options).history
    found = [value for key in sorted(history) for value in history[key]]
    found += model.fit(x, y, class_weight={0: 1.0, 1: 2.0, 2: 0.5}, **options).history["loss"]
    found += model.evaluate(x, y, verbose=0, batch_size=48)
    return [*found, *model.predict(x[:50], verbose=0).ravel().tolist()]


def main():
    results = {}
    for make in (mlp, cnn, lstm, attention, subclassed):
        results[f"{make.__name__} loop"] = loop(make, decorated=False)
        results[f"{make.__name__} function"] = loop(make, decorated=True)
        results[f"{make.__name__} fit"] = fit(make)
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
