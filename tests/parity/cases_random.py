"""`tf.random`: shapes, dtypes, ranges, seeds; the rules, since the numbers may differ."""

import numpy as np

from .harness import attempts

DRAWS = {
    "normal": lambda tf, shape, **kw: tf.random.normal(shape, **kw),
    "uniform": lambda tf, shape, **kw: tf.random.uniform(shape, **kw),
    "truncated_normal": lambda tf, shape, **kw: tf.random.truncated_normal(shape, **kw),
}


def _form(draw):
    def case(tf):
        return attempts(
            tf,
            {
                "vector": lambda tf: _head(draw(tf, [3])),
                "matrix": lambda tf: _head(draw(tf, (2, 3))),
                "scalar": lambda tf: _head(draw(tf, [])),
                "empty": lambda tf: _head(draw(tf, [0, 2])),
                "tensor shape": lambda tf: _head(draw(tf, tf.constant([2, 2]))),
                "tensorshape": lambda tf: _head(draw(tf, tf.TensorShape([4]))),
                "float64": lambda tf: _head(draw(tf, [2], dtype=tf.float64)),
                "float16": lambda tf: _head(draw(tf, [2], dtype=tf.float16)),
                "bfloat16": lambda tf: _head(draw(tf, [2], dtype=tf.bfloat16)),
                "negative": lambda tf: _head(draw(tf, [-1])),
                "string": lambda tf: _head(draw(tf, [1], dtype=tf.string)),
            },
            words=0,
        )

    return case


def _head(x):
    return x.shape, x.dtype


def _seeded(draw):
    def case(tf):
        def two():
            return draw(tf, [5]).numpy(), draw(tf, [5]).numpy()

        def same(a, b):
            return bool(np.array_equal(a, b))

        tf.random.set_seed(7)
        a, b = two()
        tf.random.set_seed(7)
        c, d = two()
        tf.random.set_seed(8)
        e, _ = two()
        tf.random.set_seed(7)
        f, g = draw(tf, [5], seed=1).numpy(), draw(tf, [5], seed=1).numpy()
        tf.random.set_seed(7)
        h = draw(tf, [5], seed=1).numpy()
        return {
            "restart repeats": same(a, c) and same(b, d),
            "calls differ": same(a, b),
            "other seed": same(a, e),
            "op seed differs": same(a, f),
            "op seed calls differ": same(f, g),
            "op seed restart": same(f, h),
        }

    return case


CASES = {}
for _name, _draw in DRAWS.items():
    CASES[f"{_name} shapes"] = _form(_draw)
    CASES[f"{_name} seeds"] = _seeded(_draw)


def _moments_of(program, expected_mean, expected_deviation):
    def case(tf):
        tf.random.set_seed(0)
        x = program(tf).numpy().astype(np.float64)
        return (
            bool(abs(x.mean() - expected_mean) < 0.05 * max(1.0, expected_deviation)),
            bool(abs(x.std() - expected_deviation) < 0.05 * max(1.0, expected_deviation)),
        )

    return case


CASES |= {
    "normal moments": _moments_of(lambda tf: tf.random.normal([20000], 2.0, 3.0), 2.0, 3.0),
    "uniform moments": _moments_of(
        lambda tf: tf.random.uniform([20000], -1.0, 3.0), 1.0, 4 / np.sqrt(12)
    ),
    "truncated moments": _moments_of(lambda tf: tf.random.truncated_normal([20000]), 0.0, 0.8796),
    "stateless moments": _moments_of(
        lambda tf: tf.random.stateless_normal([20000], [1, 2]), 0.0, 1.0
    ),
}


def case_uniform_ints(tf):
    x = tf.random.uniform([500], minval=2, maxval=5, dtype=tf.int32)
    return x.dtype, sorted(set(x.numpy().tolist()))


def case_uniform_errors(tf):
    return attempts(
        tf,
        {
            "int without maxval": lambda tf: tf.random.uniform([2], dtype=tf.int32),
            "int empty range": lambda tf: tf.random.uniform([2], 5, 5, dtype=tf.int32),
            "float seed": lambda tf: tf.random.uniform([2], dtype=tf.bool),
        },
        words=3,
    )


def case_uniform_bounds(tf):
    x = tf.random.uniform([2000], -2.0, 5.0).numpy()
    return bool(x.min() >= -2.0), bool(x.max() < 5.0)


def case_truncated_bounds(tf):
    x = tf.random.truncated_normal([5000], 1.0, 2.0).numpy()
    return bool(x.min() >= -3.0), bool(x.max() <= 5.0)


def case_stateless(tf):
    def same(a, b):
        return bool(np.array_equal(a.numpy(), b.numpy()))

    normal, uniform = tf.random.stateless_normal, tf.random.stateless_uniform
    return {
        "repeats": same(normal([4], [1, 2]), normal([4], [1, 2])),
        "seed matters": same(normal([4], [1, 2]), normal([4], [1, 3])),
        "uniform repeats": same(uniform([4], [1, 2]), uniform([4], [1, 2])),
        "tensor seed": same(uniform([4], tf.constant([1, 2])), uniform([4], [1, 2])),
        "dtype": normal([2], [0, 0], dtype=tf.float64).dtype,
        "ints": uniform([3], [1, 2], 0, 10, tf.int32).dtype,
        "mean": bool(abs(float(tf.reduce_mean(normal([5000], [3, 4], mean=5.0))) - 5.0) < 0.1),
        "global seed ignored": (
            tf.random.set_seed(3),
            same(normal([4], [1, 2]), normal([4], [1, 2])),
        )[1],
    }


def case_stateless_errors(tf):
    return attempts(
        tf,
        {
            "no seed": lambda tf: tf.random.stateless_normal([2]),
            "scalar seed": lambda tf: tf.random.stateless_normal([2], 1),
            "three": lambda tf: tf.random.stateless_normal([2], [1, 2, 3]),
            "int range": lambda tf: tf.random.stateless_uniform([2], [1, 2], dtype=tf.int32),
        },
        words=0,
    )


def case_shuffle(tf):
    x = tf.range(10)
    y = tf.random.shuffle(x)
    return y.dtype, y.shape, sorted(y.numpy().tolist())


def case_categorical(tf):
    x = tf.random.categorical(tf.constant([[0.0, -1e9], [-1e9, 0.0]]), 5)
    return x, tf.random.categorical(tf.constant([[0.0, 0.0]]), 3, dtype=tf.int32).dtype


def case_reparameterised_gradient(tf):
    mean, scale = tf.Variable(1.0), tf.Variable(2.0)
    tf.random.set_seed(1)
    with tf.GradientTape() as tape:
        noise = tf.random.normal([50])
        y = tf.reduce_sum(mean + scale * noise)
    dm, ds = tape.gradient(y, [mean, scale])
    return dm, tf.abs(ds - tf.reduce_sum(noise)) < 1e-3


def case_gradient_of_location(tf):
    mean, scale = tf.Variable([1.0, 2.0]), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.random.normal([3, 2], mean, scale)
    dm, ds = tape.gradient(y, [mean, scale])
    return dm, ds.shape


def case_uniform_gradient(tf):
    low = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = tf.random.uniform([3], low, 5.0)
    g = tape.gradient(y, low)
    return g.shape, bool(0.0 <= float(g) <= 3.0)


def case_gamma_poisson_shapes(tf):
    return attempts(
        tf,
        {
            "gamma": lambda tf: _head(tf.random.gamma([3], [0.5, 1.5])),
            "poisson": lambda tf: _head(tf.random.poisson([3], [0.5, 1.5])),
            "stateless_gamma": lambda tf: _head(
                tf.random.stateless_gamma([3, 2], [1, 2], [0.5, 1.5])
            ),
            "stateless_categorical": lambda tf: _head(
                tf.random.stateless_categorical([[0.0, 1.0]], 4, [1, 2])
            ),
            "stateless_truncated": lambda tf: _head(
                tf.random.stateless_truncated_normal([3], [1, 2])
            ),
        },
    )


def case_generator(tf):
    def same(a, b):
        return bool(np.array_equal(a.numpy(), b.numpy()))

    one, two = tf.random.Generator.from_seed(1), tf.random.Generator.from_seed(1)
    a, b = one.normal([4]), one.normal([4])
    c, d = two.normal([4]), two.uniform([4])
    return same(a, c), same(a, b), d.shape, one.normal([2], dtype=tf.float64).dtype


def case_split(tf):
    seeds = tf.random.split([1, 2], 3)
    return seeds.shape, seeds.dtype, tf.random.fold_in([1, 2], 5).shape
