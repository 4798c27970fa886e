"""Four trained Keras models in files, saved or loaded: prints what came out as JSON.

`python tests/keras_suite/exchange.py save FOLDER` builds and trains them, writes `NAME.keras`,
`NAME.weights.h5` and a checkpoint with the optimizer, `NAME.index`, and says what they predict,
what their optimizers hold and how they train on. With `load` it reads the files that another run
wrote, and says the same; `load ONE save OTHER` does both. `exchange.zip` is what Keras 3.10 on
TensorFlow 2.21 saved, with what it said as `outcomes.json`, by `exchange.store`.
"""

import json
import sys
import zipfile
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

RNG = np.random.RandomState(0)
VECTORS = RNG.randn(24, 5).astype("float32")
SERIES = RNG.randn(24, 4, 3).astype("float32")
TARGETS = RNG.randn(24, 2).astype("float32")


@keras.saving.register_keras_serializable(package="exchange")
class Scaled(keras.layers.Layer):
    """A dense layer of `units`, times a factor that is counted up while training."""

    def __init__(self, units, **options):
        super().__init__(**options)
        self.units = units

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), name="kernel")
        self.count = self.add_weight(shape=(), initializer="zeros", trainable=False, name="count")

    def call(self, x, training=False):
        if training:
            self.count.assign_add(1.0)
        return tf.tanh(tf.matmul(x, self.kernel)) * (1.0 + 0.01 * self.count)

    def get_config(self):
        return {**super().get_config(), "units": self.units}


@keras.saving.register_keras_serializable(package="exchange")
class Subclassed(keras.Model):
    """A model of its own class with layers in a list."""

    def __init__(self, sizes, **options):
        super().__init__(**options)
        self.sizes = sizes
        self.hidden = [Scaled(size) for size in sizes]
        self.out = keras.layers.Dense(2)

    def call(self, x, training=False):
        for layer in self.hidden:
            x = layer(x, training=training)
        return self.out(x)

    def get_config(self):
        return {**super().get_config(), "sizes": list(self.sizes)}


def functional():
    x = keras.Input((5,))
    y = keras.layers.Dense(4, activation="relu")(x)
    y = keras.layers.BatchNormalization()(y)
    y = keras.layers.Concatenate()([x, y])
    return keras.Model(x, keras.layers.Dense(2)(y)), VECTORS, keras.optimizers.Adam(0.01)


def recurrent():
    layers = [
        keras.Input((4, 3)),
        keras.layers.LSTM(4, return_sequences=True),
        keras.layers.Bidirectional(keras.layers.GRU(2)),
        keras.layers.Dense(2),
    ]
    rate = keras.optimizers.schedules.ExponentialDecay(0.05, 2, 0.9)
    return keras.Sequential(layers), SERIES, keras.optimizers.SGD(rate, momentum=0.9)


def subclassed():
    model = Subclassed([4, 3])
    model(VECTORS[:1])
    return model, VECTORS, keras.optimizers.RMSprop(0.01, centered=True)


def mixed():
    x = keras.Input((5,))
    y = keras.layers.Dense(4, activation="relu", dtype="mixed_float16")(x)
    y = keras.layers.Dense(2, dtype="float32")(y)
    optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(0.01), initial_scale=8.0)
    return keras.Model(x, y), VECTORS, optimizer


def lists(tensors):
    return [np.asarray(tensor, "float64").ravel().tolist() for tensor in tensors]


def outcome(model, x):
    """What a model predicts, what its optimizer holds, and both after training on."""
    found = {"predicts": lists([model.predict(x, verbose=0)])}
    found["optimizer"] = lists(v.numpy() for v in model.optimizer.variables)
    history = model.fit(x, TARGETS, batch_size=10, shuffle=False, epochs=2, verbose=0).history
    found["trains on"] = lists([history["loss"], model.predict(x, verbose=0)])
    return found


def held(model, x):
    """What a model predicts, and what its optimizer holds, for a checkpoint of both."""
    found = {"checkpoint": lists([model.predict(x, verbose=0)])}
    found["checkpoint optimizer"] = lists(v.numpy() for v in model.optimizer.variables)
    return found


def checkpoint_of(model):
    """Keras shows TensorFlow no layers that are in lists: they are given here."""
    hidden = {"hidden": list(model.hidden)} if hasattr(model, "hidden") else {}
    return tf.train.Checkpoint(model=model, optimizer=model.optimizer, **hidden)


def restored(make, folder):
    """Another model, with an optimizer, that took the values of a checkpoint."""
    model, x, optimizer = make()
    model.compile(optimizer, "mse")
    optimizer.build(model.trainable_variables)
    checkpoint_of(model).read(str(folder / make.__name__)).assert_consumed()
    return held(model, x)


def saved(make, folder):
    """Files of a model that was trained, and its outcome."""
    model, x, optimizer = make()
    rng = np.random.RandomState(1)
    model.set_weights(
        [np.asarray(abs(0.3 * rng.randn(*w.shape)), w.dtype) for w in model.get_weights()]
    )
    model.compile(optimizer, "mse")
    model.fit(x, TARGETS, batch_size=10, shuffle=False, verbose=0)
    model.save(folder / f"{make.__name__}.keras")
    model.save_weights(folder / f"{make.__name__}.weights.h5")
    checkpoint_of(model).write(str(folder / make.__name__))
    found = {"weights": lists([model.predict(x, verbose=0)]), **held(model, x)}
    return {**outcome(model, x), **found}


def loaded(make, folder):
    """The outcome of the model that a file holds; and the predictions of another with its
    weights."""
    model, x, _ = make()
    model.load_weights(folder / f"{make.__name__}.weights.h5")
    weights = lists([model.predict(x, verbose=0)])
    return {
        **outcome(keras.models.load_model(folder / f"{make.__name__}.keras"), x),
        "weights": weights,
        **restored(make, folder),
    }


def store(archive, folder):
    """Put what was saved in a folder into an archive."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as files:
        for path in sorted(Path(folder).iterdir()):
            files.write(path, path.name)


def main(*actions):
    run = {"save": saved, "load": loaded}
    makers = (functional, recurrent, subclassed, mixed)
    for action, folder in zip(actions[::2], actions[1::2]):
        found = {make.__name__: run[action](make, Path(folder)) for make in makers}
        print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
