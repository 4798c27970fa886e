"""tf.random: the rules of seeding, what the draws are like, and what the engine does with them."""

import concurrent.futures

import jax
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core.x64 import in_x64
from tape_compat._src.ops import philox, philox_host
from tests.draw_keys import of_draw
from tests.processes import run

SIZE = 20_000
#: Every stateful draw as a function of an op seed.
STATEFUL = {
    "normal": lambda seed: tf.random.normal([8], seed=seed),
    "truncated_normal": lambda seed: tf.random.truncated_normal([8], seed=seed),
    "uniform": lambda seed: tf.random.uniform([8], seed=seed),
    "integers": lambda seed: tf.random.uniform([8], 0, 1 << 30, tf.int32, seed=seed),
    "gamma": lambda seed: tf.random.gamma([8], 2.0, seed=seed),
    "poisson": lambda seed: tf.random.poisson([8], 1000.0, seed=seed),
    "categorical": lambda seed: tf.random.categorical(tf.zeros([1, 1000]), 8, seed=seed),
    "shuffle": lambda seed: tf.random.shuffle(tf.range(100), seed=seed),
}
STATELESS = {
    "normal": lambda seed: tf.random.stateless_normal([8], seed),
    "truncated_normal": lambda seed: tf.random.stateless_truncated_normal([8], seed),
    "between": lambda seed: tf.random.stateless_parameterized_truncated_normal([8], seed),
    "uniform": lambda seed: tf.random.stateless_uniform([8], seed),
    "integers": lambda seed: tf.random.stateless_uniform([8], seed, 0, 1 << 30, tf.int32),
    "bits": lambda seed: tf.random.stateless_uniform([8], seed, None, None, tf.uint64),
    "gamma": lambda seed: tf.random.stateless_gamma([8], seed, 2.0),
    "poisson": lambda seed: tf.random.stateless_poisson([8], seed, 1000.0),
    "binomial": lambda seed: tf.random.stateless_binomial([8], seed, 1000.0, 0.5),
    "categorical": lambda seed: tf.random.stateless_categorical(tf.zeros([1, 1000]), 8, seed),
    "shuffle": lambda seed: tf.random.experimental.stateless_shuffle(tf.range(100), seed),
    "split": lambda seed: tf.random.split(seed),
    "fold_in": lambda seed: tf.random.fold_in(seed, 7),
}


@pytest.fixture(autouse=True)
def seeded():
    tf.random.set_seed(42)
    yield
    tf.random.set_seed(None)


def same(a, b):
    return np.array_equal(a.numpy(), b.numpy())


# ---------------------------------------------------------------------------------------------
# Seeds.


@pytest.mark.parametrize("seed", [None, 5])
@pytest.mark.parametrize("name", STATEFUL)
def test_set_seed_starts_anew(name, seed):
    draw = STATEFUL[name]
    first, second = draw(seed), draw(seed)
    assert not same(first, second)
    tf.random.set_seed(42)
    assert same(draw(seed), first)
    assert same(draw(seed), second)
    tf.random.set_seed(43)
    assert not same(draw(seed), first)


@pytest.mark.parametrize("name", STATEFUL)
def test_op_seeds_differ(name):
    draw = STATEFUL[name]
    a, b, c = draw(1), draw(2), draw(None)
    assert not same(a, b) and not same(a, c)


def test_a_seeded_op_does_not_depend_on_the_draws_of_others():
    a = tf.random.normal([4], seed=1)
    tf.random.set_seed(42)
    tf.random.normal([4])
    tf.random.normal([4], seed=2)
    tf.random.uniform([4], seed=1)
    assert same(tf.random.normal([4], seed=1), a)


def test_draws_without_op_seed_do_not_repeat_each_other():
    draws = [tf.random.uniform([4]).numpy().tobytes() for _ in range(200)]
    assert len(set(draws)) == 200


def test_a_seed_is_its_value():
    for seed in (7, np.int64(7), tf.constant(7), tf.Variable(7)):
        tf.random.set_seed(seed)
        if seed.__class__ is int:
            first = tf.random.normal([3])
        else:
            assert same(tf.random.normal([3]), first)
    for other in (-7, 7 + 2**64, 7.5):
        tf.random.set_seed(other)
        assert not same(tf.random.normal([3]), first)
    for call in (tf.random.set_seed, lambda seed: tf.random.normal([3], seed=seed)):
        with pytest.raises(TypeError, match=r"must be an integer, not '7' \(at test_random.py"):
            call("7")


def test_processes_agree_only_when_seeded():
    code = """
import tape_compat as tf
print(tf.random.normal([2]).numpy().tolist())
tf.random.set_seed(1)
print(tf.random.normal([2]).numpy().tolist())
"""
    (free, seeded), (other_free, other_seeded) = (
        run("-c", code, after="tape_compat").stdout.splitlines() for _ in range(2)
    )
    assert seeded == other_seeded
    assert free != other_free


@pytest.mark.part
@pytest.mark.parametrize("name", STATELESS)
def test_stateless(name):
    draw = STATELESS[name]
    first = draw([1, 2])
    tf.random.set_seed(9)
    assert same(draw(tf.constant([1, 2])), first)
    assert same(draw(np.array([1, 2])), first) or name == "split"  # int64 seeds split into int64
    for other in ([1, 3], [0, 2], [2, 1], np.array([1, 2 + (1 << 32)])):
        assert not same(draw(other), first)


def test_split_and_fold_in_take_the_dtype_along():
    assert tf.random.split(np.array([1, 2]), 3).dtype == tf.int64
    assert tf.random.split([1, 2], 3).shape == (3, 2)
    assert len(np.unique(tf.random.split([1, 2], 50).numpy())) == 100
    assert tf.random.fold_in([1, 2], np.int64(5)).dtype == tf.int64
    assert not same(tf.random.fold_in([1, 2], 5), tf.random.fold_in([1, 2], 6))


# ---------------------------------------------------------------------------------------------
# What is drawn. Bounds are five standard errors or more.


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32, tf.float64])
@pytest.mark.parametrize(
    ("draw", "mean", "deviation"),
    [
        (tf.random.normal, 0.0, 1.0),
        (tf.random.truncated_normal, 0.0, 0.8796),
        (tf.random.uniform, 0.5, 12**-0.5),
    ],
)
def test_moments_of_floats(draw, mean, deviation, dtype):
    x = draw([SIZE], dtype=dtype)
    assert x.dtype == dtype and x.shape == (SIZE,)
    values = x.numpy().astype(np.float64)
    assert abs(values.mean() - mean) < 0.04
    assert abs(values.std() - deviation) < 0.04


@pytest.mark.parametrize(
    ("draw", "mean", "variance"),
    [
        (lambda: tf.random.normal([SIZE], 3.0, 2.0), 3, 4),
        (lambda: tf.random.uniform([SIZE], -1.0, 3.0), 1, 16 / 12),
        (lambda: tf.random.uniform([SIZE], -3, 4, tf.int64), 0, 4),
        (lambda: tf.random.gamma([SIZE], 4.0, 2.0), 2, 1),
        (lambda: tf.random.gamma([SIZE], 0.5, dtype=tf.float64), 0.5, 0.5),
        (lambda: tf.random.poisson([SIZE], 3.0), 3, 3),
        (lambda: tf.random.poisson([SIZE], 100.0, tf.int32), 100, 100),
        (lambda: tf.random.stateless_binomial([SIZE], [1, 2], 40.0, 0.25), 10, 7.5),
        (lambda: tf.random.categorical(tf.math.log([[1.0, 2.0, 1.0]]), SIZE), 1, 0.5),
    ],
)
def test_moments_of_distributions(draw, mean, variance):
    values = draw().numpy().astype(np.float64)
    assert abs(values.mean() - mean) < 6 * (variance / SIZE) ** 0.5
    assert abs(values.var() / variance - 1) < 0.15


def test_bounds():
    x = tf.random.truncated_normal([SIZE], 1.0, 2.0).numpy()
    assert x.min() >= -3 and x.max() <= 5
    x = tf.random.uniform([SIZE], dtype=tf.float16).numpy()
    assert x.min() >= 0 and x.max() < 1
    x = tf.random.stateless_parameterized_truncated_normal([SIZE], [1, 2], 5.0, 3.0, 5.5, 6.0)
    assert x.numpy().min() >= 5.5 and x.numpy().max() <= 6


def test_integers_fill_their_range():
    x = tf.random.uniform([2000], -2, 3, tf.int64)
    assert x.dtype == tf.int64 and set(x.numpy().tolist()) == {-2, -1, 0, 1, 2}
    low, high = np.iinfo(np.int32).min, np.iinfo(np.int32).max
    x = tf.random.uniform([2000], low, high, tf.int32).numpy()
    assert x.min() < low / 2 and x.max() > high / 2
    x = tf.random.stateless_uniform([2000], [1, 2], None, None, tf.int64).numpy()
    assert abs(np.mean(x < 0) - 0.5) < 0.1


def test_shapes_join_those_of_parameters():
    assert tf.random.normal([3, 2], [1.0, 2.0], tf.ones([4, 3, 1])).shape == (4, 3, 2)
    assert tf.random.gamma([5], tf.ones([2]), tf.ones([3, 1])).shape == (5, 3, 2)
    assert tf.random.poisson([5], [[1.0, 2.0]]).shape == (5, 1, 2)
    assert tf.random.poisson([], [1, 2], tf.int64).dtype == tf.int64
    assert tf.random.normal([0, 3]).shape == (0, 3)
    assert tf.random.normal(tf.constant([2, 3], tf.int64)).shape == (2, 3)


def test_extreme_parameters():
    assert tf.random.gamma([2], 0.0).numpy().min() == np.finfo(np.float32).tiny
    assert np.isnan(tf.random.gamma([2], -1.0).numpy()).all()
    assert tf.random.poisson([2], [0.0, -1.0]).numpy().max() == 0
    drawn = tf.random.stateless_binomial([4], [1, 2], 7.0, [0.0, 1.0, 2.0, -1.0])
    assert drawn.numpy().tolist() == [0, 7, 7, 0]
    drawn = tf.random.categorical([[-np.inf, 0.0, -np.inf], [1e30, 0.0, np.nan]], 50)
    assert drawn.numpy().tolist() == [[1] * 50, [0] * 50]


def test_shuffle_moves_rows():
    x = np.arange(200).reshape(100, 2)
    y = tf.random.shuffle(x).numpy()
    assert y.shape == (100, 2) and not np.array_equal(x, y)
    assert np.array_equal(y[np.argsort(y[:, 0])], x)
    words = tf.random.shuffle(["a", "b", "c"])
    assert sorted(words.numpy().tolist()) == [b"a", b"b", b"c"]
    assert tf.random.shuffle(3).numpy() == 3
    assert tf.random.shuffle(tf.zeros([0, 2])).shape == (0, 2)


def test_shuffles_are_uniform():
    orders = [tuple(tf.random.shuffle([0, 1, 2]).numpy().tolist()) for _ in range(600)]
    counts = [orders.count(order) for order in set(orders)]
    assert len(counts) == 6 and min(counts) > 50 and max(counts) < 160


@pytest.mark.parametrize(
    ("draw", "error", "message"),
    [
        (lambda: tf.random.normal([-1]), tf.errors.InvalidArgumentError, "must be >= 0"),
        (lambda: tf.random.normal(3), tf.errors.InvalidArgumentError, "must be a vector"),
        (lambda: tf.random.normal([1.5]), tf.errors.InvalidArgumentError, "attr 'T'"),
        (lambda: tf.random.normal([1], dtype=tf.int32), TypeError, "Cannot convert 0.0"),
        (lambda: tf.random.normal([3], tf.zeros([2])), tf.errors.InvalidArgumentError, "Incomp"),
        (lambda: tf.random.uniform([1], dtype=tf.bool), ValueError, "Accepted dtypes"),
        (lambda: tf.random.uniform([1], dtype=tf.int32), ValueError, "Must specify maxval"),
        (lambda: tf.random.uniform([1], 5, 5, tf.int32), tf.errors.InvalidArgumentError, "5 >= 5"),
        (
            lambda: tf.random.uniform([2], [1, 2], 5, tf.int32),
            tf.errors.InvalidArgumentError,
            "minval must be 0-D",
        ),
        (
            lambda: tf.random.stateless_normal([2], [1, 2, 3]),
            tf.errors.InvalidArgumentError,
            r"shape \[2\], not \[3\]",
        ),
        (
            lambda: tf.random.stateless_normal([2], [1.0, 2.0]),
            tf.errors.InvalidArgumentError,
            "Tseed",
        ),
        (
            lambda: tf.random.stateless_uniform([2], [1, 2], 0, 5, tf.uint32),
            ValueError,
            "unsigned",
        ),
        (
            lambda: tf.random.stateless_gamma([3], [1, 2], [1.0, 2.0]),
            tf.errors.InvalidArgumentError,
            "must end with",
        ),
        (lambda: tf.random.gamma([1], 1, dtype=tf.int32), ValueError, "int32"),
        (
            lambda: tf.random.poisson([1], 1.0, tf.uint8),
            tf.errors.InvalidArgumentError,
            "attr 'dtype'",
        ),
        (lambda: tf.random.categorical([1.0], 2), tf.errors.InvalidArgumentError, "matrix"),
        (lambda: tf.random.categorical([[1.0]], -1), tf.errors.InvalidArgumentError, "negative"),
        (lambda: tf.random.categorical([[1.0]], 1, tf.uint8), ValueError, "Accepted dtypes"),
        (lambda: tf.random.stateless_normal([1], [1, 2], alg="x"), ValueError, "unsupported"),
    ],
)
def test_errors(draw, error, message):
    with pytest.raises(error, match=message):
        draw()


# ---------------------------------------------------------------------------------------------
# Under tapes.


def test_gradients_of_location_and_scale():
    mean, scale = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    for draw in (tf.random.normal, tf.random.truncated_normal):
        with tf.GradientTape() as tape:
            x = draw([4, 2], mean, scale)
        by_mean, by_scale = tape.gradient(x, [mean, scale])
        assert by_mean.numpy().tolist() == [4.0, 4.0]
        noise = (x.numpy() - mean.numpy()) / 3.0
        np.testing.assert_allclose(by_scale.numpy(), noise.sum(), rtol=1e-4, atol=1e-4)


def test_gradients_of_bounds():
    low, high = tf.Variable(1.0), tf.Variable(5.0)
    with tf.GradientTape() as tape:
        x = tf.random.uniform([6], low, high)
    by_low, by_high = tape.gradient(x, [low, high])
    share = (x.numpy() - 1.0) / 4.0
    np.testing.assert_allclose(by_high.numpy(), share.sum(), rtol=1e-5)
    np.testing.assert_allclose(by_low.numpy(), (1 - share).sum(), rtol=1e-5)


def test_gradients_of_gamma():
    alpha, beta = tf.Variable(3.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        x = tf.random.gamma([SIZE], alpha, beta)
        mean = tf.reduce_mean(x)
    by_alpha, by_beta = tape.gradient(mean, [alpha, beta])
    # The mean is alpha / beta; `x` scales with 1 / beta exactly.
    np.testing.assert_allclose(by_alpha.numpy(), 0.5, rtol=0.05)
    np.testing.assert_allclose(by_beta.numpy(), -mean.numpy() / 2.0, rtol=1e-4)


def test_gradients_between_bounds_are_tensorflows():
    mean, scale, low, high = (tf.Variable(x) for x in (1.0, 1.5, -2.0, 2.0))
    with tf.GradientTape() as tape:
        x = tf.random.stateless_parameterized_truncated_normal([1], [1, 2], mean, scale, low, high)
    by = [g.numpy() for g in tape.gradient(x, [mean, scale, low, high])]
    assert by[0] == 1.0
    np.testing.assert_allclose(by[1], (x.numpy()[0] - 1.0) / 1.5, rtol=1e-5)
    assert 0 < by[2] < 1 and 0 < by[3] < 1


@pytest.mark.parametrize(
    "draw",
    [
        lambda v: tf.random.poisson([2], v),
        lambda v: tf.random.shuffle(v),
        lambda v: tf.random.stateless_binomial([2], [1, 2], 5.0, v, tf.float32),
        lambda v: tf.cast(tf.random.categorical([v], 2), tf.float32),
    ],
)
def test_no_gradient(draw):
    v = tf.Variable([0.25, 0.5])
    with tf.GradientTape() as tape:
        y = draw(v)
    assert tape.gradient(y, v) is None


def test_draws_wait_under_a_tape(deferred):
    with tf.GradientTape():
        draws = [draw(None) for draw in STATEFUL.values()]
        draws += [draw([1, 2]) for draw in STATELESS.values()]
        assert all(x._array is None for x in draws)


@pytest.mark.parametrize("mode", ["deferred", "immediate"])
def test_a_program_draws_the_same_under_a_tape_and_without(mode, request):
    request.getfixturevalue(mode)
    plain = [draw(None).numpy() for draw in STATEFUL.values()]
    tf.random.set_seed(42)
    with tf.GradientTape():
        taped = [draw(None) for draw in STATEFUL.values()]
    for a, b in zip(plain, taped, strict=True):
        np.testing.assert_allclose(a, b.numpy(), rtol=1e-5, atol=1e-6)


def test_many_draws_compile_once(counted, deferred):
    for _ in range(20):
        tf.random.normal([11, 3])
        tf.random.stateless_normal([11, 3], [3, np.random.default_rng(0).integers(9)])
    assert counted()["op_compiles"] <= 2
    v = tf.Variable(tf.ones([11, 3]))
    losses = set()
    for _ in range(20):
        with tf.GradientTape() as tape:
            noise = tf.random.normal([11, 3])
            loss = tf.reduce_sum(v * noise) + tf.reduce_sum(tf.random.uniform([2]))
        assert same(tape.gradient(loss, v), noise)
        losses.add(float(loss))
    assert len(losses) == 20
    assert counted()["compiles"] <= 3


def test_a_value_does_not_change_when_observed_late():
    v = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        noise = tf.random.normal([3])
        y = v * tf.random.normal([3], v) * noise
    first = tape.gradient(y, v).numpy()
    tf.random.normal([3])
    np.testing.assert_allclose(tape.gradient(y, v).numpy(), first, rtol=1e-6)


def test_dropout_draws_by_the_rules():
    x = tf.ones([50, 20])
    a = tf.nn.dropout(x, 0.25, seed=3)
    tf.random.set_seed(42)
    assert same(tf.nn.dropout(x, 0.25, seed=3), a)
    assert not same(tf.nn.dropout(x, 0.25, seed=3), a)
    kept = a.numpy() != 0
    assert abs(kept.mean() - 0.75) < 0.08
    np.testing.assert_allclose(a.numpy()[kept], 1 / 0.75, rtol=1e-6)
    rows = tf.nn.dropout(x, 0.5, noise_shape=[None, 1]).numpy()
    assert (rows == rows[:, :1]).all() and {*rows.ravel().tolist()} == {0.0, 2.0}
    v = tf.Variable(x)
    with tf.GradientTape() as tape:
        y = tf.nn.dropout(v, 0.25)
    assert same(tape.gradient(y, v), y)


# ---------------------------------------------------------------------------------------------
# Generators.


def test_generators_repeat_and_differ():
    one, two, other = (tf.random.Generator.from_seed(s) for s in (1, 1, 257))
    a, b = one.normal([4]), one.normal([4])
    assert same(two.normal([4]), a) and same(two.normal([4]), b) and not same(a, b)
    assert not same(other.normal([4]), b)
    one.reset_from_seed(1)
    assert same(one.normal([4]), a)
    tf.random.set_seed(5)
    two.reset_from_seed(1)
    assert same(two.normal([4]), a)
    free = [tf.random.Generator.from_non_deterministic_state() for _ in range(2)]
    assert not same(free[0].normal([4]), free[1].normal([4]))


def test_states_move_as_tensorflows():
    g = tf.random.Generator.from_seed(1)
    assert (g.state.numpy().tolist(), g.algorithm, g.key.numpy()) == ([1, 0, 0], 1, 0)
    g.normal([4])
    assert g.state.numpy().tolist() == [1025, 0, 0]
    g.uniform([3], dtype=tf.float64)
    g.normal([0])
    g.split(2)
    assert g.state.numpy().tolist() == [2305, 0, 0]
    assert g.skip(3).numpy().tolist() == [2305, 0, 0]
    assert g.state.numpy().tolist() == [3073, 0, 0]
    g.reset([-1, 5, 9])
    g.normal([1])
    assert g.state.numpy().tolist() == [255, 6, 9]  # the counter carries


@pytest.mark.parametrize(
    ("seed", "alg", "state"),
    [
        (-5, None, [-5, -1, -1]),
        (2**63 + 4, None, [-(2**63) + 4, 0, 0]),
        ([1, 2], None, [0, 1, 2]),
        ([1, 2, 3, 4], None, [1, 2, 3]),
        (1, "threefry", [1, 0]),
        (1, tf.random.Algorithm.AUTO_SELECT, [1, 0, 0]),
    ],
)
def test_states_from_seeds(seed, alg, state):
    assert tf.random.Generator.from_seed(seed, alg).state.numpy().tolist() == state


def test_generators_from_states():
    g = tf.random.Generator.from_key_counter(7, [1, 2], "philox")
    assert g.state.numpy().tolist() == [1, 2, 7]
    h = tf.random.Generator.from_state(g.state.numpy(), "philox")
    k = tf.random.Generator(copy_from=g)
    a = g.normal([3])
    assert same(h.normal([3]), a) and same(k.normal([3]), a)
    g.state.assign([1, 2, 7])
    assert same(g.normal([3]), a)
    with pytest.raises(ValueError, match="incompatible"):
        g.reset([1, 2])
    with pytest.raises(ValueError, match="unsupported"):
        tf.random.Generator.from_seed(1, alg="other")
    assert tf.random.Generator.from_seed(1, "threefry").normal([2]).shape == (2,)


def test_draws_of_generators():
    g = tf.random.Generator.from_seed(3)
    x = g.normal([SIZE], 1.0, 2.0).numpy()
    assert abs(x.mean() - 1) < 0.1 and abs(x.std() - 2) < 0.1
    assert np.abs(g.truncated_normal([SIZE]).numpy()).max() <= 2
    assert set(g.uniform([200], 1, 4, tf.int64).numpy().tolist()) == {1, 2, 3}
    assert g.uniform([2], None, None, tf.int32).dtype == tf.int32
    assert g.uniform_full_int([3]).dtype == tf.uint64
    assert g.binomial([3], 5.0, 1.0).numpy().tolist() == [5, 5, 5]
    assert g.make_seeds(4).shape == (2, 4)
    parts = g.split(3)
    assert len({p.normal([4]).numpy().tobytes() for p in parts}) == 3
    with pytest.raises(ValueError, match="both"):
        g.uniform([2], dtype=tf.int32)


def test_the_global_generator():
    tf.random.set_global_generator(tf.random.Generator.from_seed(4))
    a = tf.random.get_global_generator().normal([3])
    assert same(tf.random.Generator.from_seed(4).normal([3]), a)
    assert tf.random.experimental.get_global_generator().state.numpy()[0] == 4 + 3 * 256


def test_generators_under_a_tape(deferred):
    g, v = tf.random.Generator.from_seed(1), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        x = g.normal([3])
        y = v * x
    assert x._array is None
    np.testing.assert_allclose(tape.gradient(y, v).numpy(), x.numpy().sum(), rtol=1e-5)
    assert same(tf.random.Generator.from_seed(1).normal([3]), x)


def test_candidates_come_as_often_as_expected():
    """Without repetition, in a function that draws others at each call."""

    @tf.function
    def sample(true):
        return tf.random.log_uniform_candidate_sampler(true, 1, 3, True, 6)

    count, true = np.zeros(6), tf.zeros([1, 1], tf.int64)
    for _ in range(300):
        found = sample(true)[0].numpy()
        assert len(set(found.tolist())) == 3
        count[found] += 1 / 300
    p = np.log1p(1 / np.arange(1, 7)) / np.log(7)
    draw = np.random.default_rng(0).choice
    expected = np.bincount(np.ravel([draw(6, 3, False, p) for _ in range(2000)])) / 2000
    np.testing.assert_allclose(count, expected, atol=0.1)


def test_candidates_by_weights():
    weights = [1.0, 0.0, 3.0]
    sample = tf.random.fixed_unigram_candidate_sampler
    found = sample([[0]], 1, 2000, False, 3, unigrams=weights, seed=1).sampled_candidates
    np.testing.assert_allclose(np.bincount(found) / 2000, [0.25, 0.0, 0.75], atol=0.05)
    with pytest.raises(tf.errors.InvalidArgumentError, match="range is too small"):
        sample([[0]], 1, 3, True, 3, unigrams=weights)


KEYS = {
    "draw": np.array([(1 << 64) - 5, 3, 1, 2], np.uint64),
    "seed": np.array([5, -7], np.int64),
    "short seed": np.array([5, 7], np.int32),
}
NUMBERS = {tf.float16: 2e-3, tf.bfloat16: 1.6e-2, tf.float32: 2e-6, tf.float64: 1e-14}


def draws(shape):
    """What NumPy and what XLA draws."""
    for dtype, error in NUMBERS.items():
        for name in ("uniform", "normal", "truncated_normal"):
            exact = 0.0 if name == "uniform" else error
            yield name, exact, getattr(philox_host, name), getattr(philox, name), (shape, dtype)
    for kind in (np.uint32, np.uint64):
        yield "bits", 0.0, philox_host.bits, philox.bits, (shape, kind)


@pytest.mark.part
@pytest.mark.parametrize("shape", [(), (0,), (3,), (7, 5), (1001,)])
def test_the_host_draws_what_xla_draws(shape):
    cases, count = list(draws(shape)), int(np.prod(shape))

    @jax.jit
    def by_xla(key):
        return [case[3](key, *case[4]) for case in cases], philox.order(key, count)

    for key in KEYS.values():
        compiled, order = in_x64(by_xla, of_draw(key))
        for (name, error, host, _, arguments), other in zip(cases, compiled, strict=True):
            found, other = host(key, *arguments), np.asarray(other)
            assert found.dtype == other.dtype and found.shape == other.shape == shape, name
            wide = found.astype(np.float64), other.astype(np.float64)
            np.testing.assert_allclose(*wide, rtol=0, atol=error, err_msg=str((name, arguments)))
        assert np.array_equal(philox_host.order(key, count), order)


def test_the_host_looks_for_what_xla_looks_for():
    alpha = np.array([0.3, 1.0, 2.0, 7.5, 0.01, 1e3, 0.0, np.inf, np.nan, -1.0])
    rates = np.array([0.5, 3.0, 9.9, 10.0, 40.0, 1e4, 0.0, -1.0, 1e7, np.inf, np.nan])
    shapes = (20, 10), (20, 11)

    @jax.jit
    def by_xla(key, alpha, rates):
        return philox.gamma(key, alpha, shapes[0]), philox.poisson(key, rates, shapes[1], 3e38)

    for key in KEYS.values():
        gammas, counts = in_x64(by_xla, of_draw(key), alpha, rates)
        np.testing.assert_allclose(philox_host.gamma(key, alpha, shapes[0]), gammas, rtol=1e-9)
        found = philox_host.poisson(key, rates, shapes[1], 3e38)
        assert np.array_equal(found, counts, equal_nan=True)
    for shape in ((0, 3), (3,)):
        assert philox_host.gamma(key, alpha[:3], shape).shape == shape
        assert (
            in_x64(jax.eval_shape, lambda k: philox.gamma(k, alpha[:3], shape), key).shape == shape
        )


def test_more_numbers_than_fit_the_cache_at_once():
    numbers = philox_host.truncated_normal(KEYS["seed"], (40_000,), tf.float32)
    few = philox_host.truncated_normal(KEYS["seed"], (33_000,), tf.float32)
    assert np.abs(numbers).max() < 2.0 and len(np.unique(numbers)) > 39_900
    assert np.array_equal(numbers[:33_000], few)


@pytest.mark.interpreted
def test_draws_are_not_compiled_while_ops_are_interpreted(counted):
    tf.random.set_seed(1)
    for n in range(5, 15):
        for _ in range(20):
            x = tf.random.normal([n, 3]), tf.random.shuffle(tf.range(n * 100))
            assert [float(tf.reduce_sum(y)) for y in x]
    assert counted()["op_compiles"] == counted()["compiles"] == 0


def test_draws_in_functions_go_on_where_others_stopped():
    """Rows at once, and one by one, draw the same numbers."""
    tf.random.set_seed(3)

    @tf.function
    def one():
        return tf.random.normal([2])

    @tf.function
    def several(n):
        return tf.vectorized_map(lambda x: x + tf.random.normal([2]), tf.zeros([n, 2]))

    each = [one().numpy() for _ in range(5)]
    assert np.array_equal(several(5), each)
    assert not np.array_equal(several(5), each)

    @tf.function
    def nested(n):
        found = tf.zeros([2])
        for _ in tf.range(2):
            for _ in tf.range(n):
                found += one()
        return found, one()

    total, last = nested(2)
    np.testing.assert_allclose(total, sum(each[:4]), rtol=1e-5)
    assert np.array_equal(last, each[0])  # each call that is recorded has a generator of its own


def test_threads_that_call_one_function_draw_other_numbers():
    @tf.function
    def draw():
        return tf.random.uniform([])

    draw()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(lambda _: float(draw()), range(400)))
    assert len(set(numbers)) > 395


def test_a_loop_of_unknown_length_never_draws_twice_the_same():
    tf.random.set_seed(3)

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def drawn(n):
        found = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        i = 0
        while i < n:
            found = found.write(i, tf.random.uniform([]))
            i += 1
        return found.stack()

    numbers = [x for _ in range(3) for x in drawn(4).numpy().tolist()]
    assert len(set(numbers)) == 12
