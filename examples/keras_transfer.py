"""Transfer learning with Keras: trained, saved, loaded, frozen, trained on; and Grad-CAM.

A small CNN learns to tell bright squares from discs. Loaded from its file, with its features
frozen, it gets a new head for another question: is the shape in the left half? At last a tape to
an intermediate output shows where the CNN looks.

    python examples/keras_transfer.py
"""

import tempfile
from pathlib import Path

import numpy as np

import tape_compat as tf

keras, layers = tf.keras, tf.keras.layers
SIZE = 16


def shapes(count, seed):
    """Pictures of one shape each, which shape it is, and its centre."""
    rng = np.random.default_rng(seed)
    centre, disc = rng.integers(4, SIZE - 4, (count, 2)), rng.integers(0, 2, count)
    grid = np.stack(np.meshgrid(*2 * [np.arange(SIZE)], indexing="ij"), -1)
    away = grid[None] - centre[:, None, None]
    square = np.abs(away).max(-1) <= 3
    picture = np.where(disc[:, None, None] == 1, (away**2).sum(-1) <= 9, square)
    noisy = picture + 0.1 * rng.normal(size=picture.shape)
    return noisy[..., None].astype("float32"), disc, centre


def main():
    keras.utils.set_random_seed(0)
    pictures, disc, centre = shapes(1024, 0)
    convolutions = [layers.Conv2D(n, 3, activation="relu", padding="same") for n in (6, 12)]
    pooled = [layers.MaxPooling2D(), layers.BatchNormalization()]
    features = keras.Sequential([keras.Input((SIZE, SIZE, 1)), *convolutions, *pooled])
    model = keras.Sequential([features, layers.GlobalMaxPooling2D(), layers.Dense(1)])
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.01), loss, metrics=["accuracy"])
    stop = keras.callbacks.EarlyStopping(patience=3, restore_best_weights=True)
    model.fit(pictures, disc, epochs=8, validation_split=0.2, callbacks=[stop], verbose=0)
    print(f"square or disc: accuracy {model.evaluate(pictures, disc, verbose=0)[1]:.2f}")

    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "shapes.keras")
        kept = keras.models.load_model(Path(folder) / "shapes.keras").layers[0]
    kept.trainable = False
    picture = keras.Input((SIZE, SIZE, 1))
    head = layers.Dense(1)(layers.Flatten()(kept(picture, training=False)))
    placed = keras.Model(picture, head)
    placed.compile(keras.optimizers.Adam(0.01), loss, metrics=["accuracy"])
    left = centre[:, 1] < SIZE // 2
    placed.fit(pictures, left, epochs=3, verbose=0)
    accuracy = placed.evaluate(pictures, left, verbose=0)[1]
    print(f"left or right, {len(placed.trainable_weights)} new weights: accuracy {accuracy:.2f}")

    with tf.GradientTape() as tape:
        seen = features(pictures[:64])
        tape.watch(seen)
        score = model.layers[2](model.layers[1](seen))
    weights = tf.reduce_mean(tf.abs(tape.gradient(score, seen)), axis=(1, 2), keepdims=True)
    places = tf.argmax(tf.reshape(tf.reduce_sum(weights * seen, -1), [64, -1]), 1).numpy()
    found = 2 * np.stack([places // (SIZE // 2), places % (SIZE // 2)], -1)
    off = np.abs(found - centre[:64]).max(-1)
    print(f"it looks at the shape in {np.mean(off <= 4):.0%} of the pictures")
    assert accuracy > 0.9 and np.mean(off <= 4) > 0.8


if __name__ == "__main__":
    main()
