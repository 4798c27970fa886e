"""What Keras' guides do, in small: prints the numbers as JSON, on us and on the real TensorFlow.

`guides.json` is what `python tests/keras_suite/guides.py` prints on TensorFlow.
"""

import gc
import json
import sys
import time
import warnings

import keras
import numpy as np
import tensorflow as tf
from keras import layers

RNG = np.random.RandomState(0)
VECTORS = RNG.randn(32, 4).astype("float32")
CLASSES = RNG.randint(0, 3, 32)
WORDS = RNG.randint(0, 20, (32, 5))


def fixed(model, seed=0):
    """The model with weights that are the same everywhere."""
    rng = np.random.RandomState(seed)
    model.set_weights(
        [np.asarray(abs(0.3 * rng.randn(*w.shape)), w.dtype) for w in model.get_weights()]
    )
    return model


def dense(sizes=(8, 3), activation="tanh", width=4, seed=0):
    hidden = [layers.Dense(size, activation=activation) for size in sizes[:-1]]
    return fixed(keras.Sequential([keras.Input((width,)), *hidden, layers.Dense(sizes[-1])]), seed)


def trained(model, x, y, **options):
    history = model.fit(x, y, epochs=2, batch_size=10, shuffle=False, verbose=0, **options).history
    return [value for key in sorted(history) for value in history[key]]


def two_outputs():
    """Masked words; the mean of each loss over batches of which the last is smaller."""
    words = keras.Input((None,), dtype="int32", name="words")
    hidden = layers.LSTM(4)(layers.Embedding(20, 4, mask_zero=True)(words))
    outputs = {
        "one": layers.Dense(1, name="one")(hidden),
        "two": layers.Dense(3, name="two")(hidden),
    }
    model = fixed(keras.Model(words, outputs))
    losses = {"one": "mse", "two": keras.losses.SparseCategoricalCrossentropy(from_logits=True)}
    model.compile("rmsprop", losses, loss_weights={"one": 1.0, "two": 0.2})
    return trained(model, WORDS, {"one": VECTORS[:, :1], "two": CLASSES})


def optimizers_of_embeddings():
    found = []
    for name in ("Adagrad", "Adadelta", "Adafactor"):
        model = [keras.Input((5,)), layers.Embedding(30, 4), layers.Flatten(), layers.Dense(1)]
        model = fixed(keras.Sequential(model))
        model.compile(getattr(keras.optimizers, name)(0.1), "mse")
        found += trained(model, WORDS, VECTORS[:, :1])
    return found


def accumulated_gradients():
    model = dense()
    optimizer = keras.optimizers.Adam(0.01, gradient_accumulation_steps=3, clipnorm=0.5)
    model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return trained(model, VECTORS, CLASSES, class_weight={0: 1.0, 1: 2.0, 2: 0.5})


def scaled_loss():
    model = dense()
    optimizer = keras.optimizers.LossScaleOptimizer(
        keras.optimizers.Adam(0.01), initial_scale=2.0**10, dynamic_growth_steps=2
    )
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = loss_of(CLASSES, model(VECTORS, training=True))
            scaled = optimizer.scale_loss(loss)
        gradients = tape.gradient(scaled, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        return loss

    return [float(v) for _ in range(4) for v in (step(), optimizer.dynamic_scale)]


def gradient_penalty():
    critic, real = dense((8, 1)), tf.constant(VECTORS)
    optimizer = keras.optimizers.RMSprop(0.01)

    def step():
        with tf.GradientTape() as tape:
            between = real + 0.3 * (real[::-1] - real)
            with tf.GradientTape() as inner:
                inner.watch(between)
                score = critic(between, training=True)
            slope = tf.norm(inner.gradient(score, between), axis=1)
            loss = tf.reduce_mean(critic(real)) + 10.0 * tf.reduce_mean((slope - 1.0) ** 2)
        gradients = tape.gradient(loss, critic.trainable_variables)
        optimizer.apply_gradients(zip(gradients, critic.trainable_variables))
        return loss

    plain = [float(step()) for _ in range(2)]
    decorated = tf.function(step, jit_compile=True)
    return plain + [float(decorated()) for _ in range(2)]


def meta_gradient():
    model = dense((6, 6, 1))
    variables = [v.value for v in model.trainable_variables]
    with tf.GradientTape() as outer:
        outer.watch(variables)
        with tf.GradientTape() as inner:
            inner.watch(variables)
            out, _ = model.stateless_call(variables, [], VECTORS)
            loss = tf.reduce_mean(out**2)
        gradients = inner.gradient(loss, variables)
        adapted = [v - 0.1 * g for v, g in zip(variables, gradients)]
        out, _ = model.stateless_call(adapted, [], VECTORS)
        loss = tf.reduce_mean((out - 1.0) ** 2)
    found = outer.gradient(loss, variables)
    return [float(loss), *(float(tf.norm(g)) for g in found)]


def old_ctc_loss():
    """The backend's loss that programs of Keras 2 give to `compile`."""

    @tf.function
    def loss(labels, rows):
        times, lengths = tf.constant([[8], [7], [8], [6]]), tf.constant([[3], [2], [1], [3]])
        return tf.keras.backend.ctc_batch_cost(labels, rows, times, lengths)

    rows = tf.nn.softmax(VECTORS.reshape(4, 8, 4))
    return tf.reshape(loss(tf.constant(WORDS[:4, :3] % 3), rows), [-1]).numpy().tolist()


def class_activation_map():
    image = keras.Input((8, 8, 3))
    seen = layers.Conv2D(4, 3, activation="relu", name="seen")(image)
    out = layers.Dense(3)(layers.GlobalAveragePooling2D()(seen))
    model = fixed(keras.Model([image], out))
    both = keras.Model(model.inputs, [model.get_layer("seen").output, model.output])
    with tf.GradientTape() as tape:
        features, scores = both([np.linspace(0, 1, 192).reshape(1, 8, 8, 3).astype("float32")])
        best = scores[:, tf.argmax(scores[0])]
    weights = tf.reduce_mean(tape.gradient(best, features), axis=(0, 1, 2))
    return tf.reshape(features[0] @ weights[:, None], [-1]).numpy().tolist()


def stateful_rnn():
    layer = layers.GRU(3, stateful=True, return_state=True)
    layer.build((4, 2, 4))
    fixed(layer)
    chunks = tf.constant(VECTORS[:16].reshape(2, 4, 2, 4))
    first, second = layer(chunks[0])[0], layer(chunks[1])[1]
    return np.concatenate([np.ravel(first), np.ravel(second)]).tolist()


class Wrong(layers.Layer):
    def call(self, x):
        return tf.matmul(x, tf.ones((9, 9)))


def refusals():
    """Whether what cannot be is refused by a ValueError, and what `jit_compile` is."""

    def refused(function):
        try:
            function()
        except ValueError:
            return 1.0
        return 0.0

    model = dense()
    model.compile("sgd", "mse", jit_compile=True)
    wrong_targets = refused(lambda: model.fit(VECTORS, np.ones((32, 7)), verbose=0))
    wrong_inputs = refused(lambda: model.fit(VECTORS[:, :2], np.ones((32, 3)), verbose=0))
    wrong_layer = refused(lambda: Wrong()(keras.Input((4,))))
    return [wrong_targets, wrong_inputs, wrong_layer, float(model.jit_compile)]


def memory_of_fit():
    """Whether objects or buffers are more after 600 more steps of `fit`, each of three times.

    What is compiled beside, of this model or of those before it, comes once.
    """
    model = dense()
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))

    def held():
        gc.collect()
        jax = sys.modules.get("jax")
        return np.array([len(gc.get_objects()), len(jax.live_arrays()) if jax else 0])

    def grown(before):
        more = held() - before
        for _ in range(20):  # a thread of Keras may still have the logs of the last step
            if all(more <= allowed):
                break
            time.sleep(0.1)
            more = held() - before
        return more > allowed

    allowed = (100, 0)
    model.fit(VECTORS, CLASSES, batch_size=4, epochs=25, verbose=0)
    found = []
    for _ in range(3):
        before = held()
        model.fit(VECTORS, CLASSES, batch_size=4, epochs=75, verbose=0)
        found.append(grown(before))
        if not any(found[-1]):
            break
    return [float(x) for x in np.all(found, axis=0)]


GUIDES = (
    two_outputs,
    optimizers_of_embeddings,
    accumulated_gradients,
    scaled_loss,
    gradient_penalty,
    meta_gradient,
    old_ctc_loss,
    class_activation_map,
    stateful_rnn,
    refusals,
    memory_of_fit,
)

if __name__ == "__main__":
    warnings.simplefilter("error")
    json.dump({guide.__name__: guide() for guide in GUIDES}, sys.stdout)
