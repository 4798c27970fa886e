"""Gradients of the user's own making in SavedModels of TensorFlow, as it has them itself."""

import pytest

import tape_compat
from tests.oracle import tensorflow
from tests.parity import store

pytestmark = pytest.mark.skipif(
    not store.installed(), reason="tensorflow, the oracle, is not installed (extra `parity`)"
)


def model(tf):
    @tf.custom_gradient
    def reversed_(x):
        return x, lambda upstream: -2.0 * upstream

    @tf.custom_gradient
    def scaled(x, y):
        z = tf.exp(x) * y
        return z, lambda upstream: (upstream * z * 100.0, upstream * x)

    @tf.custom_gradient
    def two(x, n):
        def gradient(of_double, of_triple, _):
            return of_double * 10.0 + of_triple * 1000.0, None

        return (x * 2.0, x * 3.0, n + 1), gradient

    made = tf.Module()
    made.factor = tf.Variable(3.0)

    @tf.custom_gradient
    def with_variable(x):
        def gradient(upstream, variables=None):
            return upstream * made.factor * 7.0, [tf.constant(5.0) for _ in variables]

        return x * made.factor, gradient

    def of_two(x):
        double, triple, n = two(x, tf.size(x))
        return double + triple * tf.cast(n, x.dtype)

    inner = tf.function(lambda x: scaled(x * 2.0, x), autograph=False)
    functions = {
        "of_x": lambda x: reversed_(x * x),
        "of_tensors": lambda x: scaled(x * 2.0, x),
        "of_function": lambda x: inner(x) + x,
        "of_two": of_two,
        "of_variable": lambda x: with_variable(tf.reduce_sum(x)),
        "of_branch": lambda x: tf.cond(
            tf.reduce_sum(x) > 0.0, lambda: reversed_(x) * 3.0, lambda: x
        ),
        "of_turns": lambda x: tf.while_loop(
            lambda i, _: i < 3, lambda i, y: (i + 1, reversed_(y) * 2.0), [0, x]
        )[1],
    }
    spec = tf.TensorSpec([None], tf.float32)
    for name, function in functions.items():
        setattr(made, name, tf.function(function, input_signature=[spec], autograph=False))
    return made, list(functions)


def derivatives(tf, loaded, name, orders=2):
    """What a function gives, its gradients and the second one."""
    x = tf.constant([0.5, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = getattr(loaded, name)(x)
        first, of_factor = tape.gradient(y, [x, loaded.factor])
    zero = tf.UnconnectedGradients.ZERO
    second = outer.gradient(first, x, unconnected_gradients=zero) if orders == 2 else None
    found = [y, first, of_factor, second]
    return [None if part is None else part.numpy().tolist() for part in found]


def test_saved_gradients(tmp_path):
    tf = tensorflow()
    made, names = model(tf)
    saved, again = str(tmp_path / "saved"), str(tmp_path / "again")
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=True)
    tf.saved_model.save(made, saved, options=options)
    theirs, ours = tf.saved_model.load(saved), tape_compat.saved_model.load(saved)
    expected = {name: derivatives(tf, theirs, name) for name in names}
    tape_compat.saved_model.save(ours, again)
    anew = tape_compat.saved_model.load(again)
    for name in names:
        close = [_close(part) for part in expected[name]]
        assert derivatives(tape_compat, ours, name) == close, name
        assert derivatives(tape_compat, anew, name, 1)[:3] == close[:3], name


def _close(part):
    return part if part is None else pytest.approx(part, rel=1e-5)


def _partly_connected(tf):
    """Functions whose results depend on some of what they take, or on nothing."""
    made = tf.Module()
    made.v, made.w = tf.Variable(2.0), tf.Variable(3.0)
    functions = {
        "one": lambda x, y: tf.sin(x) * made.v,
        "several": lambda x, y: (tf.sin(x) * made.v, y * made.w, tf.cast(x, tf.int32)),
        "none": lambda x, y: (tf.ones_like(x), tf.round(y)),
        "stopped": lambda x, y: tf.stop_gradient(x) * y + tf.zeros_like(made.w),
    }
    for name, function in functions.items():
        specs = [tf.TensorSpec([None]), tf.TensorSpec([])]
        setattr(made, name, tf.function(function, input_signature=specs, autograph=False))
    return made, list(functions)


def _gradients_of_parts(tf, made, name):
    """The gradients of each result alone."""
    x, y = tf.constant([0.5, 2.0]), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        results = tf.nest.flatten(getattr(made, name)(x, y))
    found = [tape.gradient(result, [x, y, made.v, made.w]) for result in results[:2]]
    return [[None if g is None else g.numpy().tolist() for g in each] for each in found]


def test_gradients_by_what_results_do_not_depend_on(tmp_path):
    made, names = _partly_connected(tape_compat)
    tape_compat.saved_model.save(made, str(tmp_path))
    loaded = tape_compat.saved_model.load(str(tmp_path))
    theirs, _ = _partly_connected(tensorflow())
    for name in names:
        expected = _gradients_of_parts(tensorflow(), theirs, name)
        found = _gradients_of_parts(tape_compat, loaded, name)
        assert found == [[_close(part) for part in parts] for parts in expected], name


def test_gradients_that_were_not_saved(tmp_path):
    tf = tensorflow()
    made, names = model(tf)
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
    tf.saved_model.save(made, str(tmp_path), options=options)
    loaded = tape_compat.saved_model.load(str(tmp_path))
    x = tape_compat.constant([0.5, 2.0])
    for name in names:
        with tape_compat.GradientTape() as tape:
            tape.watch(x)
            y = getattr(loaded, name)(x)
        expected = getattr(made, name)(tf.constant([0.5, 2.0])).numpy().tolist()
        assert y.numpy().tolist() == _close(expected)
        with pytest.raises(LookupError, match=r"No gradient defined for operation'.*IdentityN"):
            tape.gradient(y, x)
