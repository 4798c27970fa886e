"""`tf.random`: shapes, dtypes, ranges, seeds; the rules, since the numbers may differ."""

import collections
import itertools

import numpy as np

from .harness import attempt, attempts

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


# -- numbers of a stateless seed ------------------------------------------------------------------


def _stateless(draw, **changes):
    """A draw for seeds of all kinds, in shapes whose sizes are no multiples of four, too."""

    def case(tf):
        seeds = [1, 2], [-5, 7], tf.constant([1 << 40, -(1 << 35)], tf.int64)
        return [draw(tf, shape, seed) for seed in seeds for shape in ([], [0], [3], [2, 5], [257])]

    case.parity = changes
    return case


def _draw(name, dtype):
    return _stateless(
        lambda tf, shape, seed: getattr(tf.random, name)(shape, seed, dtype=dtype),
        rtol=2e-3 if "float16" in dtype else 1e-5,
        atol=2e-3 if "float16" in dtype else 1e-5,
    )


CASES |= {
    f"{name}_{dtype}": _draw(name, dtype)
    for name in ("stateless_uniform", "stateless_normal", "stateless_truncated_normal")
    for dtype in ("float32", "float64", "float16")
}
CASES |= {
    "stateless_integers": _stateless(
        lambda tf, shape, seed: [
            tf.random.stateless_uniform(shape, seed, -7, 1000, tf.int32),
            tf.random.stateless_uniform(shape, seed, -(1 << 40), 1 << 41, tf.int64),
            tf.random.stateless_uniform(shape, seed, None, None, tf.int32),
            tf.random.stateless_uniform(shape, seed, None, None, tf.uint64),
        ]
    ),
    "stateless_of_moments": _stateless(
        lambda tf, shape, seed: [
            tf.random.stateless_uniform(shape, seed, -2.0, 5.0),
            tf.random.stateless_normal(shape, seed, 3.0, 0.5),
            tf.random.stateless_truncated_normal(shape, seed, 3.0, 0.5),
        ]
    ),
}


def case_stateless_categories(tf):
    odds = tf.math.log([[0.2, 0.3, 0.5], [0.6, 0.2, 0.2]])
    return [tf.random.stateless_categorical(odds, 7, seed) for seed in ([1, 2], [3, 4])]


def case_stateless_seeds_from_seeds(tf):
    pieces = tf.random.split([1, 2], 3), tf.random.fold_in([3, 4], 7)
    return pieces, tf.random.stateless_uniform([2], pieces[0][1])


def case_stateless_dropout(tf):
    drop = tf.nn.experimental.stateless_dropout
    return drop(tf.ones([3, 5]), 0.4, [1, 2]), drop(
        tf.ones([4, 6]), 0.5, [3, 4], noise_shape=[4, 1]
    )


def case_stateless_in_functions(tf):
    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def noisy(x):
        return x + tf.random.stateless_normal(tf.shape(x), [1, 2])

    draw = tf.random.stateless_uniform
    each = tf.map_fn(lambda n: draw([2], [n, 1]), tf.range(3), fn_output_signature=tf.float32)
    return noisy(tf.zeros([2, 3])), noisy(tf.zeros([5, 3])), each


def case_stateless_moments_have_gradients(tf):
    mean, stddev = tf.Variable([1.0, 2.0]), tf.Variable(0.5)
    with tf.GradientTape() as tape:
        x = tf.random.stateless_normal([3, 2], [1, 2], mean, stddev)
    return x, tape.gradient(x, [mean, stddev])


# -- numbers of the global seed and of op seeds ---------------------------------------------------


def _stateful(name, dtype):
    def case(tf):
        draw = getattr(tf.random, name)
        tf.random.set_seed(42)
        free = [draw(shape, dtype=dtype) for shape in ([], [0], [3], [2, 5], [257])]
        own = [draw([n], dtype=dtype, seed=3) for n in (5, 1, 70)]
        tf.random.set_seed(43)
        again = draw([3], dtype=dtype, seed=3), draw([3], dtype=dtype, seed=4)
        return free, own, again, draw([2], dtype=dtype)

    case.parity = {"rtol": 2e-3, "atol": 2e-3} if "float16" in dtype else {"atol": 1e-5}
    return case


CASES |= {
    f"stateful_{name}_{dtype}": _stateful(name, dtype)
    for name in ("uniform", "normal", "truncated_normal")
    for dtype in ("float32", "float64", "float16")
}


def case_stateful_integers(tf):
    tf.random.set_seed(-5)
    draw = tf.random.uniform
    free = draw([7], 0, 100, tf.int32), draw([3], -(1 << 40), 1 << 41, tf.int64)
    return free, [draw([2], 0, 9, dtype, seed=1) for dtype in ("int32", "int64", "int32")]


def case_stateful_seeds(tf):
    found = []
    for seed in (0, 1 << 40, -1, True, np.int64(3)):
        tf.random.set_seed(seed)
        found.append([tf.random.uniform([2], seed=own) for own in (None, 0, 1 << 35, -2)])
    return found


def case_stateful_choices(tf):
    tf.random.set_seed(9)
    odds = tf.math.log([[0.2, 0.3, 0.5], [0.6, 0.2, 0.2]])
    shuffle = tf.random.shuffle
    return {
        "categories": [tf.random.categorical(odds, n, seed=1) for n in (5, 5, 1)],
        "category": tf.random.categorical(odds[:1], 1, tf.int32),
        "orders": [shuffle(tf.range(n), seed=2) for n in (10, 9, 1, 0, 5)],
        "rows": shuffle(tf.reshape(tf.range(12), [6, 2])),
        "texts": shuffle(["a", "b", "c", "d"]),
        "dropout": [tf.nn.dropout(tf.ones([2, 5]), 0.3, seed=4) for _ in range(2)],
        "next": tf.random.uniform([2]),
    }


def case_stateful_images(tf):
    tf.random.set_seed(5)
    x = tf.reshape(tf.range(48.0), [1, 4, 4, 3]) / 48
    image = tf.image
    return [
        image.random_flip_left_right(x),
        image.random_flip_up_down(tf.tile(x, [5, 1, 1, 1])),
        image.random_brightness(x, 0.5),
        image.random_contrast(x, 0.5, 1.5),
        image.random_saturation(x, 0.5, 1.5),
        image.random_hue(x, 0.3),
        image.random_crop(x[0], [2, 2, 3]),
    ]


case_stateful_images.parity = {"atol": 1e-5}


def case_stateful_functions(tf):
    tf.random.set_seed(42)

    @tf.function
    def two():
        return tf.random.uniform([2]), tf.random.normal([3]), tf.random.uniform([2], seed=7)

    @tf.function
    def calls():
        return two(), tf.random.uniform([]), two()

    @tf.function
    def parts(n):
        x, total = tf.random.uniform([]), 0.0
        for _ in tf.range(3):
            total += tf.random.uniform([])
        y = tf.random.uniform([]) if n > 0 else tf.random.uniform([]) + 1.0
        return x, total, y, tf.random.uniform([])

    found = [two(), two(), calls(), calls(), parts(tf.constant(1)), tf.random.uniform([2])]
    tf.random.set_seed(43)  # functions begin anew, with the seed they were recorded with
    return found, two(), two(), tf.random.uniform([2])


case_stateful_functions.parity = {"atol": 1e-5}


def case_generator_numbers(tf):
    gen = tf.random.Generator.from_seed(7)
    found = [
        gen.normal([3]),
        gen.uniform([2], dtype=tf.float64),
        gen.uniform_full_int([2]),
        gen.uniform([2], 0, 10, tf.int32),
        gen.truncated_normal([5]),
        gen.make_seeds(2),
        gen.split(2)[1].normal([2]),
    ]
    for shape in ([2], [], [3], [2, 4]):
        gen.binomial(shape, 10.0, 0.5)
    crowded = tf.random.Generator.from_state([-2, 3, 4], "philox")

    @tf.function
    def step():
        return crowded.normal([5]), gen.uniform([3]), gen.make_seeds(2)

    return found, gen.state, step(), step(), crowded.state


case_generator_numbers.parity = {"atol": 1e-5}


def case_random_datasets(tf):
    data, ints = tf.data.Dataset, lambda dataset: [int(x) for x in dataset]
    tf.random.set_seed(5)
    free, fixed = data.range(20).shuffle(6), data.range(9).shuffle(20, 3, False)
    pairs = data.from_tensor_slices((np.arange(12), np.arange(12) * 2)).shuffle(5, seed=1)
    sampled = data.sample_from_datasets(
        [data.range(5), data.range(10, 15), data.range(20, 40)], weights=[0.3, 0.5, 0.2]
    )
    unsized = data.range(30).filter(lambda x: x % 3 > 0).shuffle(8, seed=2)
    return {
        "shuffled": [ints(free), ints(free), ints(free.take(3)), ints(free)],
        "fixed": [ints(fixed), ints(fixed)],
        "repeated": ints(data.range(4).shuffle(4).repeat(3)),
        "pairs": [[x for x, _ in pairs.batch(4)] for _ in range(2)],
        "unsized": [ints(unsized), ints(unsized)],
        "drawn": ints(data.random(seed=4).take(3)),
        "drawn anew": [ints(d.take(2)) for d in [data.random(4, True)] for _ in range(2)],
        "sampled": [ints(sampled), ints(sampled)],
        "next": tf.random.uniform([2]),
    }


def case_draws_in_datasets(tf):
    tf.random.set_seed(5)
    draws = tf.data.Dataset.range(40).map(lambda x: tf.random.uniform([]))
    orders = tf.data.Dataset.range(3).map(lambda x: tf.random.shuffle(tf.range(5)))

    def column(dataset):
        return np.array(list(dataset.as_numpy_iterator()))

    first, again = column(draws), column(draws)
    batches = np.concatenate(list(draws.repeat(2).batch(7).as_numpy_iterator()))
    return first, again, batches, column(orders)


def case_gamma_and_poisson_numbers(tf):
    tf.random.set_seed(5)
    alpha, rates = [0.3, 1.0, 2.0, 7.5], [0.5, 3.0, 9.9, 10.0, 40.0, 1e4]
    gamma, poisson = tf.random.gamma, tf.random.poisson
    found = [gamma([9], alpha, seed=3, dtype=dtype) for dtype in ("float32", "float64", "float64")]
    found += [poisson([9], rates, seed=4, dtype=dtype) for dtype in ("float32", "int32", "float32")]
    found += [gamma([3, 2], [[0.5], [2.0]], [1.0, 4.0]), poisson([], 3.0), gamma([0], 2.0)]
    found += [tf.random.stateless_gamma([9, 2, 4], [1, 2], alpha, dtype=tf.float64)]
    found += [tf.random.stateless_gamma([5, 2, 3], [1, 2], [[0.5], [2.0]], [1.0, 2.0, 4.0])]
    found += [tf.random.stateless_poisson([9, 6], [1, 2], rates, tf.int64)]
    return found, tf.random.uniform([2])


case_gamma_and_poisson_numbers.parity = {"atol": 1e-5}


def case_gamma_has_a_derivative(tf):
    alpha, beta = tf.Variable([0.5, 1.0, 3.0]), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        x = tf.random.stateless_gamma([4, 3], [1, 2], alpha, beta)
    return x, tape.gradient(x, [alpha, beta])


case_gamma_has_a_derivative.parity = {"rtol": 1e-4}


def case_stateless_orders(tf):
    shuffle = tf.random.experimental.stateless_shuffle
    return [shuffle(tf.range(n), [1, 2]) for n in (10, 6, 1, 0)], shuffle(["a", "b", "c"], [3, 4])


def case_places_in_an_order_that_is_not_made(tf):
    shuffle = tf.random.experimental.index_shuffle
    index = tf.constant([0, 5, 70000, 69999])
    inside = tf.function(lambda x: shuffle(x, [5, 9], 70000))(index)
    several = tf.random_index_shuffle(index, [[1, 2, 3]] * 3 + [[-4, 5, 6]], 65537)
    words = tf.random_index_shuffle(tf.constant(2**33, tf.int64), [1, 2, 3], 2**40 + 5, rounds=8)
    data = tf.data.Dataset.range(10).map(lambda i: shuffle(i, [5, 8], 9))
    return (
        shuffle(tf.range(10), [5, 8], 9),
        inside,
        several,
        words,
        list(data),
        shuffle(0, [1, 2], 0),
    )


def case_places_outside(tf):
    return tf.random_index_shuffle([1, 9], [1, 2, 3], [3, 3])


def case_places_by_a_seed_of_two(tf):
    return tf.random_index_shuffle([1, 2], [1, 2], 3)


def case_points_of_sobol(tf):
    few = tf.math.sobol_sample(3, 7, 2)
    return few, tf.math.sobol_sample(tf.constant(40), 3, skip=1000, dtype=tf.float64)


def case_no_points_of_sobol(tf):
    return tf.math.sobol_sample(2, 0)


def case_generators_share_a_variable(tf):
    gen = tf.random.Generator.from_seed(3)
    other = tf.random.Generator.from_state(gen.state, alg="philox")
    copy = tf.random.Generator.from_state(gen.state.numpy(), alg="philox")
    drawn = gen.normal([2]), other.normal([2]), gen.normal([2]), copy.normal([2])
    states = {
        "short": lambda tf: tf.Variable([1, 2], dtype=tf.int64),
        "int32": lambda tf: tf.Variable([1, 2, 3]),
        "float": lambda tf: tf.Variable([1.0, 2.0, 3.0]),
    }
    wrong = {
        name: lambda tf, made=made: tf.random.Generator.from_state(made(tf), 1).normal([1])
        for name, made in states.items()
    }
    return drawn, attempts(tf, wrong, words=0)


case_generators_share_a_variable.parity = {"atol": 1e-5}


def case_draws_in_datasets_of_datasets(tf):
    """Each run of the outer function makes a dataset, whose draws go on."""
    tf.random.set_seed(7)

    def inner(i):
        rows = tf.data.Dataset.range(5)
        return rows.map(lambda j: tf.cast(10 * i + j, tf.float32) + tf.random.uniform([]))

    turns = tf.data.Dataset.range(4).interleave(inner, cycle_length=2)
    flat = tf.data.Dataset.range(3).flat_map(inner)
    return [[list(d.as_numpy_iterator()) for _ in range(2)] for d in (turns, flat)]


RUNS = {
    "plain": lambda d: d,
    "batch": lambda d: d.batch(3),
    "prefetch": lambda d: d.batch(3).prefetch(2),
    "repeat": lambda d: d.repeat(2),
    "repeat endlessly": lambda d: d.repeat().take(20),
    "take": lambda d: d.take(5),
    "take none": lambda d: d.take(0).concatenate(d),
    "skip": lambda d: d.skip(2),
    "shard": lambda d: d.shard(2, 1),
    "map": lambda d: d.map(lambda x: x + 1),
    "filter": lambda d: d.filter(lambda x: x % 2 == 0),
    "cache": lambda d: d.cache(),
    "cache endlessly": lambda d: d.cache().repeat().take(20),
    "concatenate": lambda d: d.concatenate(d),
    "shuffle": lambda d: d.shuffle(4, seed=2),
    "enumerate": lambda d: d.enumerate().map(lambda i, x: x),
    "flat_map": lambda d: d.batch(3).flat_map(lambda x: type(d).from_tensor_slices(x)),
    "window": lambda d: d.window(3).flat_map(lambda x: x),
    "unbatch": lambda d: d.batch(3).unbatch(),
    "scan": lambda d: d.scan(np.int64(0), lambda total, x: (total + x, total)),
    "interleave": lambda d: d.batch(3).interleave(
        lambda x: type(d).from_tensor_slices(x), cycle_length=2
    ),
}


def _run(change):
    """Iterators that are made begin a run, whether they are used or not."""

    def case(tf):
        tf.random.set_seed(3)
        found = []
        for source in (
            tf.data.Dataset.range(10),
            tf.data.Dataset.range(14).filter(lambda x: x > 3),
        ):
            dataset = change(source.shuffle(10, seed=4))
            kept = iter(dataset)
            iter(dataset)
            found += [list(dataset.as_numpy_iterator()), next(kept), next(iter(dataset))]
        return found

    return case


CASES |= {f"runs of {name}": _run(change) for name, change in RUNS.items()}


def case_draws_of_initial_values(tf):
    def outside(value):
        with tf.init_scope():
            return tf.Variable(value)

    def made(how):
        class Module(tf.Module):
            held = None

            @tf.function
            def __call__(self):
                if self.held is None:
                    self.held = how(lambda: tf.random.normal([2]))
                    self.other = how(lambda: tf.random.uniform([2], seed=3))
                    self.third = how(lambda: tf.random.uniform([2]))
                return [self.held + 0.0, self.other + 0.0, self.third + 0.0, tf.random.normal([2])]

        module = Module()
        return module(), module(), tf.random.normal([1])

    tf.random.set_seed(4)
    ways = (tf.Variable, lambda value: tf.Variable(value()), outside)
    return [made(how) for how in ways]


def case_draws_where_python_runs(tf):
    """In loops over datasets, of iterators and of texts, in maps of texts, in py_function."""
    tf.random.set_seed(1)
    data = tf.data.Dataset
    numbers = data.range(6).batch(2)
    noisy = data.range(6).map(lambda x: tf.cast(x, tf.float32) + tf.random.uniform([]))
    weight = tf.Variable(tf.random.normal([3]))

    @tf.function
    def dropped(x):
        return tf.reduce_sum(tf.nn.dropout(tf.cast(x, tf.float32), 0.3) * weight[0])

    @tf.function
    def epoch(dataset):
        total = tf.random.uniform([])
        for x in dataset:
            total += tf.reduce_sum(tf.random.normal([2]) * tf.cast(x, tf.float32)) + dropped(x)
        return total, tf.random.uniform([])

    made = []

    @tf.function
    def of_iterator(iterator):
        first = next(iterator) + tf.random.normal([])
        if not made:
            with tf.init_scope():
                made.append(tf.random.normal([2]))
        return first, next(iterator), dropped(tf.ones([3]))

    @tf.function
    def of_text(text):
        if tf.strings.length(text) > 2:
            return tf.random.uniform([])
        return tf.random.uniform([], seed=4)

    texts = data.from_tensor_slices(["a", "bb", "ccc"]).map(
        lambda s: (tf.strings.length(s), tf.random.uniform([]), tf.random.normal([2]))
    )
    eager = data.range(3).map(
        lambda x: tf.py_function(lambda v: tf.random.uniform([]) + float(v), [x], tf.float32)
    )
    iterator = iter(noisy)
    return {
        "loops": [epoch(numbers), epoch(numbers.take(2)), epoch(numbers)],
        "iterators": [of_iterator(iterator), of_iterator(iterator), made],
        "texts": [of_text(text) for text in ("abc", "a", "abcd", "b")],
        "maps": [list(texts), list(texts)],
        "py_function": list(eager),
        "next": tf.random.uniform([2]),
    }


case_draws_where_python_runs.parity = {"atol": 1e-5}


def case_numbers_of_classes_that_the_call_shows(tf):
    tf.random.set_seed(7)
    logits = tf.constant([[0.0, 1.0], [1.0, 0.0]])
    signature = [tf.TensorSpec([None, 2]), tf.TensorSpec([2], tf.int32)]

    @tf.function(input_signature=signature)
    def by_value(logits, sizes):
        return tf.random.categorical(logits, tf.reduce_prod(sizes), seed=3)

    @tf.function(input_signature=signature[:1])
    def by_size(x):
        rows = tf.shape(x)[0]
        once = tf.random.stateless_categorical(x, rows + 1, seed=[1, 2])
        return tf.random.categorical(logits, 2 * rows, tf.int32), once

    found = [by_value(logits, [2, 3]), by_value(logits, [2, 3])]
    shapes = [x.shape for x in by_size.get_concrete_function().structured_outputs]
    return found, by_size(logits), by_size(logits), shapes


def case_rows_of_unknown_number_chosen_by_a_vector(tf):
    signature = [tf.TensorSpec([None], tf.bool), *[tf.TensorSpec([None, 2])] * 2]
    chosen = tf.function(tf.compat.v1.where, input_signature=signature)
    rows = tf.reshape(tf.range(6.0), [3, 2])
    found = chosen([True, False, True], rows, -rows)
    return found, chosen([False], rows[:1], -rows[:1]), chosen.get_concrete_function().output_shapes


def case_numbers_of_classes_to_draw(tf):
    def drawn(count):
        return {
            "stateful": attempt(lambda: tf.random.categorical([[0.0, 1.0]], count).shape, words=0),
            "stateless": attempt(
                lambda: tf.random.stateless_categorical([[0.0, 1.0]], count, [1, 2]).shape, words=0
            ),
        }

    return [drawn(count) for count in (2, tf.constant(2), [1, 2], [2], 1.5, -1, "a")]


class _Sizes(list):
    """A list as layers keep it in their attributes."""


def case_shapes_in_other_sequences(tf):
    pair = collections.namedtuple("pair", "h w")
    draws = {
        "uniform": lambda shape: tf.random.uniform(shape),
        "normal": lambda shape: tf.random.normal(shape),
        "stateless": lambda shape: tf.random.stateless_uniform(shape, [1, 2]),
        "integers": lambda shape: tf.random.stateless_uniform(shape, [1, 2], 0, 5, tf.int32),
        "gamma": lambda shape: tf.random.stateless_gamma(shape, [1, 2], 1.0),
        "generator": lambda shape: tf.random.Generator.from_seed(1).normal(shape),
        "zeros": tf.zeros,
        "fill": lambda shape: tf.fill(shape, 1.0),
        "reshape": lambda shape: tf.reshape(tf.ones([6]), shape),
        "broadcast": lambda shape: tf.broadcast_to(1.0, shape),
    }
    made = {"list": _Sizes, "named": lambda sizes: pair(*sizes)}
    found = {}
    for (name, draw), (kind, make) in itertools.product(draws.items(), made.items()):
        found[name, kind] = attempt(lambda: draw(make([2, 3])).shape, words=0)
        if name != "generator":
            spec = [tf.TensorSpec([None, 3])]
            of_sizes = lambda x: draw(make([tf.shape(x)[0], x.shape[1]]))
            recorded = tf.function(of_sizes, input_signature=spec, autograph=False)
            found[name, kind, "recorded"] = attempt(lambda: recorded(tf.ones([2, 3])).shape)
    return found


def case_draws_in_a_loop_that_python_ends(tf):
    """A loop with a `break` by what Python gives: all turns draw from one op."""
    tf.random.set_seed(7)
    v = tf.Variable(0.5)

    def drawn():
        return tf.random.uniform([], seed=3), tf.random.normal([])

    def loop(n, of_function):
        found = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        for i in tf.range(n):
            x, y = of_function()
            x = tf.numpy_function(lambda x: x, [x * v], tf.float32)
            x.set_shape([])
            found = found.write(i, x + y)
            if x > 2.0:
                break
        return found.stack(), tf.random.uniform([])

    functions = [tf.function(loop), tf.function(loop)]
    return functions[0](4, drawn), functions[1](tf.constant(3), tf.function(drawn))
