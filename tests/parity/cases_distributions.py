"""`tf.compat.v1.distributions`: what each gives, draws and refuses, in eager code and functions."""

import numpy as np

from .harness import attempt, attempts

#: Each with values to look at.
MADE = {
    "normal": (lambda d, tf: d.Normal([[0.0], [1.0]], [1.0, 2.0, 3.0]), [-1.0, 0.0, 2.0]),
    "normal 64": (lambda d, tf: d.Normal(np.float64(1), np.float64(2)), np.array([-1.0, 0.3])),
    "laplace": (lambda d, tf: d.Laplace([0.0, 1.0], 2.0), [-0.5, 3.0]),
    "student": (lambda d, tf: d.StudentT([0.5, 1.5, 5.0], 0.0, 2.0), [-1.0, 0.5, 2.0]),
    "uniform": (lambda d, tf: d.Uniform([-1.0, 0.0], [2.0, 3.0]), [[0.5, 3.0], [-2.0, np.nan]]),
    "gamma": (lambda d, tf: d.Gamma([0.5, 3.0], 2.0), [0.2, 0.7]),
    "gamma at 0": (lambda d, tf: d.Gamma([1.0, 2.0], 2.0), [0.0, 30.0]),
    "exponential": (lambda d, tf: d.Exponential([1.0, 2.0]), [0.2, 0.7]),
    "beta": (lambda d, tf: d.Beta([0.5, 2.0], 3.0), [0.2, 0.7]),
    "beta at 1": (lambda d, tf: d.Beta(1.0, 2.0), [0.0, 0.5]),
    "bernoulli": (lambda d, tf: d.Bernoulli(probs=[0.2, 0.7]), [0, 1]),
    "bernoulli of odds": (
        lambda d, tf: d.Bernoulli(logits=[-2.0, 3.0], dtype=tf.float32),
        [1.0, 0.0],
    ),
    "categorical": (lambda d, tf: d.Categorical(probs=[0.1, 0.5, 0.4]), [0, 2, 1]),
    "categorical rows": (lambda d, tf: d.Categorical([[0.0, 1.0, 2.0], [3.0, -1.0, 0.0]]), [0, 2]),
    "categorical 64": (lambda d, tf: d.Categorical([0.0, 1.0], dtype=tf.int64), [[1], [0]]),
    "multinomial": (lambda d, tf: d.Multinomial(4.0, probs=[0.2, 0.3, 0.5]), [1.0, 2.0, 1.0]),
    "multinomial rows": (
        lambda d, tf: d.Multinomial([4.0, 3.0], [[0.0, 1.0, 2.0], [1.0, 0.0, 0.0]]),
        [[1.0, 2.0, 1.0], [0.0, 3.0, 0.0]],
    ),
    "dirichlet": (lambda d, tf: d.Dirichlet([0.5, 2.0, 3.0]), [0.2, 0.3, 0.5]),
    "dirichlet at 0": (lambda d, tf: d.Dirichlet([1.0, 2.0]), [0.0, 1.0]),
    "dirichlet multinomial": (
        lambda d, tf: d.DirichletMultinomial(4.0, [0.5, 2.0, 3.0]),
        [1.0, 2.0, 1.0],
    ),
}
OF_VALUES = "prob log_prob cdf log_cdf survival_function log_survival_function".split()
OF_ITSELF = (
    "mean mode variance stddev covariance entropy batch_shape_tensor event_shape_tensor "
    "is_scalar_batch is_scalar_event"
).split()
HELD = (
    "dtype allow_nan_stats validate_args batch_shape event_shape loc scale df low high "
    "concentration rate concentration1 concentration0 total_concentration logits probs event_size "
    "total_count"
).split()


def _statistics(name):
    make, values = MADE[name]

    def case(tf):
        made = make(tf.compat.v1.distributions, tf)
        return {
            **{each: attempt(lambda: getattr(made, each)(values)) for each in OF_VALUES},
            **{each: attempt(getattr(made, each)) for each in OF_ITSELF},
            **{each: getattr(made, each) for each in HELD if hasattr(made, each)},
            "divergence": attempt(lambda: made.kl_divergence(make(tf.compat.v1.distributions, tf))),
            "shapes": attempt(lambda: type(made).param_static_shapes([2, 3])),
            "again": made.copy(validate_args=True).validate_args,
            "repeats": repr(made.reparameterization_type),
        }

    return case


def _draws(name):
    make = MADE[name][0]

    def case(tf):
        made = make(tf.compat.v1.distributions, tf)
        tf.random.set_seed(3)
        found = [made.sample(seed=5), made.sample(3, seed=5), made.sample([2, 2], seed=5)]
        tf.random.set_seed(3)
        found.append(made.sample(2))
        tf.random.set_seed(3)
        if name != "multinomial rows":  # whose turns TensorFlow draws at once
            found.append(tf.function(lambda: made.sample(2, seed=7))())
        return found

    return case


def _gradients(name):
    make, values = MADE[name]

    def case(tf):
        given = make(tf.compat.v1.distributions, tf)
        numbers = {
            key: tf.Variable(tf.convert_to_tensor(value))
            for key, value in given.parameters.items()
            if isinstance(value, (float, list, np.floating))
        }
        with tf.GradientTape(persistent=True) as tape:
            made = given.copy(**numbers)
            density = tf.reduce_sum(made.log_prob(values))
            tf.random.set_seed(1)
            drawn = tf.reduce_sum(tf.cast(made.sample(2, seed=1), tf.float64) ** 2)
        return tape.gradient(density, numbers), tape.gradient(drawn, numbers)

    return case


for _name in MADE:
    _words = _name.replace(" ", "_")
    globals()[f"case_statistics_of_{_words}"] = _statistics(_name)
    globals()[f"case_draws_of_{_words}"] = _draws(_name)
    globals()[f"case_gradients_of_{_words}"] = _gradients(_name)


def case_normal_quantile(tf):
    return tf.compat.v1.distributions.Normal(1.0, [1.0, 2.0]).quantile([0.3, 0.7])


def case_divergences(tf):
    d = tf.compat.v1.distributions
    normal, exponential = d.Normal([0.0, 1.0], [1.0, 2.0]), d.Exponential([1.0, 2.0])
    return attempts(
        tf,
        {
            "normal": lambda _: d.kl_divergence(normal, d.Normal(0.5, 2.0)),
            "bernoulli": lambda _: d.kl_divergence(d.Bernoulli([-2.0, 3.0]), d.Bernoulli(0.3)),
            "categorical": lambda _: d.kl_divergence(
                d.Categorical([0.0, 2.0]), d.Categorical([1.0, 1.0])
            ),
            "beta": lambda _: d.kl_divergence(d.Beta([0.5, 2.0], 3.0), d.Beta(1.0, 1.0)),
            "gamma": lambda _: d.kl_divergence(d.Gamma([0.5, 3.0], 2.0), exponential),
            "exponential": lambda _: exponential.kl_divergence(d.Gamma([0.5, 3.0], 2.0)),
            "dirichlet": lambda _: d.kl_divergence(
                d.Dirichlet([1.0, 2.0]), d.Dirichlet([2.0, 2.0])
            ),
            "two kinds": lambda _: d.kl_divergence(normal, d.Laplace(0.0, 1.0)),
            "cross entropy": lambda _: normal.cross_entropy(d.Normal(0.5, 2.0)),
            "no entropy": lambda _: d.Multinomial(2.0, [0.0, 0.0]).cross_entropy(normal),
            "twice": lambda _: d.RegisterKL(d.Normal, d.Normal)(lambda a, b, name: 1.0),
        },
        words=6,
    )


def case_divergence_of_a_kind_of_ones_own(tf):
    d = tf.compat.v1.distributions

    class Point(d.Normal):
        pass

    before = d.kl_divergence(Point(0.0, 1.0), Point(2.0, 1.0))
    d.RegisterKL(Point, d.Normal)(lambda a, b, name=None: b.loc - a.loc)
    after = d.kl_divergence(Point(0.0, 1.0), Point(2.0, 1.0))
    return before, after, d.kl_divergence(d.Normal(0.0, 1.0), Point(2.0, 1.0))


def case_distribution_of_ones_own(tf):
    d = tf.compat.v1.distributions

    class Triangle(d.Distribution):
        def __init__(self):
            super().__init__(tf.float32, d.NOT_REPARAMETERIZED, False, True, name="Triangle")

        def _prob(self, x):
            return 2.0 * x

        def _cdf(self, x):
            return x * x

        def _variance(self):
            return tf.constant(0.25)

    made = Triangle()
    return [
        *(getattr(made, each)([0.25, 0.5]) for each in OF_VALUES),
        made.stddev(),
        attempt(made.mean),
        attempt(made.entropy),
        made.batch_shape.rank,
    ]


def case_distributions_that_are_refused(tf):
    d = tf.compat.v1.distributions
    return attempts(
        tf,
        {
            "scale": lambda _: d.Normal(0.0, -1.0, validate_args=True),
            "dtypes": lambda _: d.Normal(0.0, np.float64(1)),
            "integers": lambda _: d.Normal(0, 1),
            "both": lambda _: d.Bernoulli(probs=0.1, logits=0.1),
            "none": lambda _: d.Categorical(),
            "low": lambda _: d.Uniform(1.0, 0.0, validate_args=True),
            "beta": lambda _: d.Beta(-1.0, 1.0, validate_args=True),
            "dirichlet": lambda _: d.Dirichlet([-1.0, 1.0], validate_args=True),
            "number": lambda _: d.Dirichlet(1.0, validate_args=True),
            "one class": lambda _: d.Dirichlet([1.0], validate_args=True),
            "probability": lambda _: d.Bernoulli(probs=1.5, validate_args=True),
            "probabilities": lambda _: d.Categorical(probs=[0.5, 0.7], validate_args=True),
            "draws": lambda _: d.Normal(0.0, 1.0).sample([[1]]),
            "half a draw": lambda _: d.Normal(0.0, 1.0).sample(1.5),
            "half": lambda _: d.Bernoulli(probs=0.5, validate_args=True).log_prob(0.5),
            "large": lambda _: d.Beta(1.0, 1.0, validate_args=True).prob(2.0),
            "sum": lambda _: d.Dirichlet([1.0, 1.0], validate_args=True).prob([0.5, 0.7]),
            "counts": lambda _: d.Multinomial(3.0, [0.0, 0.0], validate_args=True).prob([1.0, 1.0]),
            "mean": lambda _: d.StudentT([0.5], 0.0, 1.0, allow_nan_stats=False).mean(),
            "mode": lambda _: d.Beta(1.0, 1.0, allow_nan_stats=False).mode(),
            "rows": lambda _: d.DirichletMultinomial([4.0, 2.0], [[1.0], [2.0]]).sample(),
        },
        words=0,
    )


def case_distributions_of_unknown_sizes(tf):
    d = tf.compat.v1.distributions

    @tf.function(input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([None])])
    def step(logits, loc):
        tf.random.set_seed(2)
        classes, normal = d.Categorical(logits), d.Normal(loc, 2.0)
        drawn, noise = classes.sample(4, seed=1), normal.sample([2, 3], seed=1)
        assert noise.shape.as_list() == [2, 3, None]
        return classes.log_prob(drawn), normal.log_prob(noise), normal.entropy()

    return step(tf.eye(3), tf.ones([5])), step(tf.eye(3), tf.zeros([5]))
