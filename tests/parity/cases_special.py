"""Special functions at hard places: far below zero, near poles, where series end."""

import numpy as np

LEFT = np.array([-0.3, -8.7, -10.3, -20.25, -20.75, -1000.3, -3.0001])


def _by_second(tf, function, first, second):
    """A function of a pair, and its derivative by the second."""
    first, second = tf.constant(first), tf.constant(second)
    with tf.GradientTape() as tape:
        tape.watch(second)
        y = function(first, second)
    return y, tape.gradient(y, second)


def case_zeta_and_polygamma_below_zero(tf):
    """Of few numbers and of many, which have other kernels. Middles between poles are left out:
    what is left of odd sums there is rounding."""
    found = []
    for times in (1, 20):
        first, second = (
            np.tile(x.ravel(), times) for x in np.meshgrid([1.0, 2.0, 3.0, 10.0], LEFT)
        )
        found.append(_by_second(tf, tf.math.polygamma, first, second))
        found.append(_by_second(tf, tf.math.zeta, first + 1, second))
    return found


def case_polygamma_derives_at_poles_and_ends(tf):
    """By the next order, whatever the order is: what is chosen between has no part in it."""
    pairs = np.meshgrid([0.0, -1.0, -3.3, 1.0, 3.0, 50.0], [0.0, -2.0, 0.5, np.inf])
    first, second = (x.ravel() for x in pairs)
    return _by_second(tf, tf.math.polygamma, first, second)


def case_igamma_derives_by_small_orders(tf):
    orders = [1e-20, 1e-6, 1e-3, 0.05, 0.2]
    found = []
    for dtype, times in ((tf.float32, 1), (tf.float64, 1), (tf.float64, 20)):
        pairs = np.meshgrid(orders, [1e-6, 0.1, 0.5, 1.0])
        x, a = (tf.constant(np.tile(v.ravel(), times), dtype) for v in reversed(pairs))
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = tf.math.igamma(a, x)
        found.append(tape.gradient(y, a))
    return found


def case_derivatives_far_from_zero(tf):
    """Where 1 + y has no digits left, and at NaN."""
    found = {}
    for name, points in {
        "expm1": [-100.0, -40.0, -25.0, -1.0, 0.0, 1.0, 700.0, -np.inf, np.nan],
        "bessel_i1e": [-300.0, -1.0, -1e-6, 0.0, 1e-300, 2.0, 700.0, np.inf, np.nan],
    }.items():
        x = tf.constant(points, tf.float64)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = getattr(tf.math, name)(x)
            slope = tape.gradient(y, x)
        found[name] = y, slope, outer.gradient(slope, x) if name == "expm1" else None
    z = tf.constant([-40.0 + 1.0j, 0.5 - 2.0j], tf.complex128)
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = tf.math.expm1(z)
    return found, tape.gradient(y, z)


def case_dawsn_of_large_numbers(tf):
    """Times x, which is near 1/2. Negative ones beyond 1e9 are positive in TensorFlow."""
    found = []
    for dtype in ("float32", "float64"):
        x = tf.constant([150.0, 199.0, 201.0, 1e4, 1e7, 1e15, 1e30, -201.0, -1e4], dtype)
        found.append(tf.math.special.dawsn(x) * x)
        found.append(tf.math.special.dawsn(tf.constant([np.inf, np.nan], dtype)))
    return found


def case_incomplete_gammas_far_from_their_order(tf):
    """x well below and above an order that has no digit left for it."""
    found = {}
    for dtype, orders in (("float32", [1e7, 1e10, 3e38]), ("float64", [1e7, 1e17, 1e300])):
        for times in (1, 40):
            a = tf.constant(orders * times, dtype)
            for name, x in {"one": tf.ones_like(a), "half": a / 2, "twice": 1.5 * a}.items():
                found[dtype, times, name] = tf.math.igamma(a, x), tf.math.igammac(a, x)
    return list(found.items())


def case_segments_of_infinities(tf):
    """Largest and smallest of nothing but one infinity, and their gradients."""
    found = []
    for function in (tf.math.segment_max, tf.math.segment_min):
        for end in (np.inf, -np.inf):
            x = tf.constant([end, end, end, 1.0])
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = function(x, [0, 0, 2, 2])
            found.append((y, tape.gradient(y, x)))
    return found


def case_losses_and_clips_at_ends(tf):
    """Of counts below 0, of a norm that is the limit."""
    counts = tf.constant([-2.0, -0.5, 0.5, 1.0, 3.0, np.nan])
    x, limit = tf.constant([3.0, 4.0]), tf.constant(5.0)
    with tf.GradientTape() as tape:
        tape.watch((x, limit))
        (y,), _ = tf.clip_by_global_norm([x], limit)
    return tf.nn.log_poisson_loss(counts, tf.zeros(6), True), tape.gradient(y, (x, limit))
