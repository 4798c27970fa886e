"""Optimizers on plain variables: twenty steps, slots, schedules, clipping, errors.

TensorFlow's are Keras 3's.
"""

from .harness import attempt, attempts, messages

SETTINGS = {
    "SGD": {},
    "SGD momentum": {"momentum": 0.9},
    "SGD nesterov": {"momentum": 0.9, "nesterov": True},
    "SGD rate": {"learning_rate": 0.2},
    "SGD clipnorm": {"clipnorm": 0.02},
    "SGD clipvalue": {"clipvalue": 0.01},
    "SGD global_clipnorm": {"global_clipnorm": 0.03},
    "Adam": {},
    "Adam rate": {"learning_rate": 0.1},
    "Adam betas": {"beta_1": 0.5, "beta_2": 0.9, "epsilon": 1e-3},
    "Adam amsgrad": {"learning_rate": 0.1, "amsgrad": True},
    "Adam clipnorm": {"learning_rate": 0.1, "clipnorm": 0.1},
    "RMSprop": {},
    "RMSprop momentum": {"learning_rate": 0.01, "rho": 0.8, "momentum": 0.9},
    "RMSprop centered": {"learning_rate": 0.01, "centered": True},
    "Adagrad": {},
    "Adagrad rate": {"learning_rate": 0.5, "initial_accumulator_value": 0.2},
}


def _twenty_steps(name, settings):
    def case(tf):
        optimizer = getattr(tf.optimizers, name)(**settings)
        w, b = tf.Variable([[1.0, -2.0], [0.5, 3.0]]), tf.Variable([0.3, -0.1])
        x = tf.constant([[1.0, 2.0], [0.5, -1.0], [2.0, 0.3]])
        for _ in range(20):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(tf.tanh(x @ w + b) - 0.5))
            gradients = tape.gradient(loss, [w, b])
            optimizer.apply_gradients(zip(gradients, [w, b], strict=True))
        return loss, w, b, int(optimizer.iterations)

    return case


CASES = {
    f"twenty steps {name}": _twenty_steps(name.split()[0], settings)
    for name, settings in SETTINGS.items()
}
for _case in CASES.values():  # rounding grows over the steps
    _case.parity = {"rtol": 1e-3, "atol": 1e-5}


def _slices_step(name):
    def case(tf):
        optimizer = getattr(tf.optimizers, name)(learning_rate=0.1)
        table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        for _ in range(3):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [2, 2, 0]) ** 2)
            optimizer.apply_gradients([(tape.gradient(loss, table), table)])
        return table

    return case


CASES |= {f"slices {name}": _slices_step(name) for name in ("SGD", "Adam", "RMSprop", "Adagrad")}


def case_learning_rate(tf):
    optimizer = tf.optimizers.SGD(0.5)
    before = float(optimizer.learning_rate)
    optimizer.learning_rate = 0.25
    v = tf.Variable(1.0)
    optimizer.apply_gradients([(tf.constant(1.0), v)])
    return before, float(optimizer.learning_rate), v


def case_schedule(tf):
    schedule = tf.optimizers.schedules.ExponentialDecay(0.1, decay_steps=2, decay_rate=0.5)
    optimizer = tf.optimizers.SGD(schedule)
    v = tf.Variable(1.0)
    for _ in range(5):
        optimizer.apply_gradients([(tf.constant(1.0), v)])
    return v, [float(schedule(i)) for i in range(4)]


def case_none_gradients(tf):
    def run(gradients):
        def program(tf):
            optimizer = tf.optimizers.SGD(0.5)
            pair = [tf.Variable(1.0), tf.Variable(2.0)]
            with messages(words=3) as seen:
                values = [None if g is None else tf.constant(g) for g in gradients]
                optimizer.apply_gradients(zip(values, pair, strict=True))
            return pair, len(seen)

        return program

    return attempts(
        tf, {"all": run([None, None]), "some": run([None, 1.0]), "none": run([1.0, 1.0])}
    )


def case_no_variables(tf):
    return attempt(lambda: tf.optimizers.SGD().apply_gradients([]), words=0)


def case_variable_added_later(tf):
    optimizer = tf.optimizers.Adam(0.1)
    v, w = tf.Variable(1.0), tf.Variable(1.0)
    optimizer.apply_gradients([(tf.constant(1.0), v)])
    return attempt(lambda: optimizer.apply_gradients([(tf.constant(1.0), w)]), words=2)


def case_subset_later(tf):
    optimizer = tf.optimizers.Adam(0.1)
    v, w = tf.Variable(1.0), tf.Variable(1.0)
    optimizer.apply_gradients([(tf.constant(1.0), v), (tf.constant(1.0), w)])
    optimizer.apply_gradients([(tf.constant(1.0), v)])
    return v, w


def case_bad_arguments(tf):
    o = tf.optimizers
    return attempts(
        tf,
        {
            "negative clipnorm": lambda tf: o.SGD(clipnorm=-1.0),
            "two clips": lambda tf: o.SGD(clipnorm=1.0, clipvalue=1.0),
            "momentum": lambda tf: o.SGD(momentum=2.0),
            "unknown": lambda tf: o.SGD(colour=1),
        },
        words=0,
    )
