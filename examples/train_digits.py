"""Trains a classifier of handwritten digits with a plain GradientTape loop.

The data are the 1,797 scans of 8 x 8 pixels that scikit-learn ships. The loop is ordinary
TensorFlow code without a `tf.function`: change `import tape_compat as tf` to `import tensorflow as
tf` and it runs there.

    python examples/train_digits.py

It prints the accuracy on digits that it was not trained on (96 % or more) and draws the learning
curve into `train_digits.png` beside this file.
"""

import time
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import tqdm

import tape_compat as tf

matplotlib.use("Agg")
import matplotlib.pyplot as plt

EPOCHS = 40
BATCH = 64
SIZES = (64, 128, 64, 10)


def make_weights(sizes, rng):
    """He-normal matrices and zero biases, one pair for each layer."""
    weights = []
    for i, (fan_in, fan_out) in enumerate(zip(sizes, sizes[1:])):
        matrix = rng.normal(0.0, np.sqrt(2.0 / fan_in), (fan_in, fan_out))
        weights.append(tf.Variable(matrix.astype("float32"), name=f"matrix_{i}"))
        weights.append(tf.Variable(tf.zeros([fan_out]), name=f"bias_{i}"))
    return weights


def logits_of(x, weights):
    """Scores of the ten digits, [batch, 10], for images x, [batch, 64]."""
    for i in range(0, len(weights), 2):
        x = tf.matmul(x, weights[i]) + weights[i + 1]
        if i + 2 < len(weights):
            x = tf.nn.relu(x)
    return x


def accuracy_of(x, labels, weights):
    """Share of the images that are recognized, a float."""
    guesses = tf.argmax(logits_of(tf.constant(x), weights), axis=1)
    return float(np.mean(guesses.numpy() == labels))


def draw(losses, accuracies, path):
    """Writes the learning curve: loss per step on the left, accuracy per epoch on the right."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    left.plot(losses, linewidth=0.6)
    left.set(xlabel="step", ylabel="cross entropy", yscale="log", title="training loss")
    epochs = range(1, len(accuracies) + 1)
    right.plot(epochs, [100 * train for train, _ in accuracies], label="training digits")
    right.plot(epochs, [100 * test for _, test in accuracies], label="unseen digits")
    right.set(xlabel="epoch", ylabel="accuracy, %", ylim=(80, 100.5), title="accuracy")
    right.legend()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main():
    images, labels = load_digits(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(
        np.asarray(images / 16.0, "float32"),
        np.asarray(labels, "int32"),
        test_size=0.25,
        random_state=0,
    )
    rng = np.random.default_rng(0)
    weights = make_weights(SIZES, rng)
    optimizer = tf.optimizers.Adam(learning_rate=2e-3)

    losses, accuracies = [], []
    started = time.perf_counter()
    progress = tqdm(range(EPOCHS), unit="epoch")
    for _ in progress:
        order = rng.permutation(len(x_train))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            batch = order[start : start + BATCH]
            with tf.GradientTape() as tape:
                logits = logits_of(x_train[batch], weights)
                loss = tf.reduce_mean(
                    tf.nn.sparse_softmax_cross_entropy_with_logits(
                        labels=y_train[batch], logits=logits
                    )
                )
            gradients = tape.gradient(loss, weights)
            optimizer.apply_gradients(zip(gradients, weights))
            losses.append(float(loss))
        accuracies.append(
            (accuracy_of(x_train, y_train, weights), accuracy_of(x_test, y_test, weights))
        )
        progress.set_postfix(loss=f"{losses[-1]:.4f}", accuracy=f"{accuracies[-1][1]:.3f}")
    seconds = time.perf_counter() - started

    picture = Path(__file__).with_suffix(".png")
    draw(losses, accuracies, picture)
    accuracy = accuracies[-1][1]
    print(f"{len(losses)} steps in {seconds:.1f} s")
    print(f"test accuracy {100 * accuracy:.2f} % on {len(x_test)} unseen digits")
    print(f"learning curve: {picture}")
    assert accuracy >= 0.96, accuracy


if __name__ == "__main__":
    main()
