"""Why a gradient is None: `GradientTape.why_none`, and what is said where all are."""

import logging

import numpy as np
import pytest

import tape_compat as tf

#: In immediate mode there is no record of ops without a gradient.
pytestmark = pytest.mark.usefixtures("deferred")


def why(function, source=None, **options):
    """The reason for a target that a function gives of a variable."""
    w = tf.Variable([1.0, 2.0], name="w")
    with tf.GradientTape(**options) as tape:
        target = function(w)
    return tape.why_none(target, w if source is None else source)


@tf.function
def rounded(x):
    return tf.round(x) * 2.0


@tf.custom_gradient
def refuses(x):
    return x * 2.0, lambda upstream: None


@pytest.mark.parametrize(
    "function, said",
    [
        (lambda w: tf.stop_gradient(w * 1.0) * 2.0, "`StopGradient`, which has no gradient"),
        (lambda w: tf.cast(tf.argmax(w), tf.float32), "`ArgMax`, which has no gradient"),
        (lambda w: tf.cast(tf.cast(w, tf.int32), tf.float32), "`Cast`, which gives int32"),
        (lambda w: tf.cast(w > 0.0, tf.float32), "`Greater`"),
        (lambda w: tf.floor(w) + tf.stop_gradient(w), "`Floor`, which has no gradient, `StopG"),
        (lambda w: tf.cast(w, tf.int32), "the target is of int32"),
        (rounded, "the function `rounded`, which gives no gradient"),
        (refuses, "the gradient of `refuses` gives None"),
        (lambda w: tf.reduce_sum(np.sin(w * 1.0)), "values of it were taken at test_why_none.py:"),
        (lambda w: tf.constant(float(w[0])), "values of it were taken at test_why_none.py:"),
    ],
)
def test_ways_that_are_cut(function, said):
    assert said in why(function)


def test_what_has_a_gradient_has_no_reason():
    assert why(lambda w: w * 2.0 + tf.stop_gradient(w)) is None


def test_what_is_not_tracked():
    w, x = tf.Variable(1.0), tf.constant(1.0)
    fixed = tf.Variable(1.0, trainable=False)
    count = tf.constant(1)
    with tf.GradientTape(persistent=True) as tape:
        y = fixed * x * tf.cast(count, tf.float32)
    found = tape.why_none(y, {"w": w, "x": x, "fixed": fixed, "count": count})
    assert "no op read it" in found["w"] and "`.numpy()` is none" in found["w"]
    assert "does not track it" in found["x"] and "tape.watch" in found["x"]
    assert "trainable=False" in found["fixed"]
    assert "it is of int32" in found["count"]
    assert "watch_accessed_variables=False" in why(
        lambda w: w * 2.0, watch_accessed_variables=False
    )


def test_what_was_computed_where_the_tape_did_not_record():
    w = tf.Variable(1.0)
    with tf.GradientTape(persistent=True) as tape:
        _ = w * 1.0
        with tape.stop_recording():
            inside = w * 2.0
    for target in (inside, w * 3.0):
        assert "where the tape did not record" in tape.why_none(target, w)
    early = w * 2.0
    with tf.GradientTape() as tape:
        late = early * 3.0
    assert "no op read it" in tape.why_none(late, w)


def test_second_derivatives_of_what_is_linear():
    x = tf.Variable(3.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = 3.0 * x
        slope = inner.gradient(y, x)
    assert "the derivative of what is linear in it" in outer.why_none(slope, x)


def test_a_target_that_was_looked_at():
    w = tf.Variable(1.5)
    with tf.GradientTape() as tape:
        y = tf.floor(w)
        y.numpy()
    assert "was looked at" in tape.why_none(y, w)


def test_composites_as_sources():
    w = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        ragged = tf.RaggedTensor.from_row_lengths(w * 1.0, [2, 1])
        used = tf.reduce_sum(ragged.values * 2.0)
        unused = tf.reduce_sum(tf.floor(ragged.values))
    assert tape.why_none(used, [ragged]) == [None]
    assert "`Floor`" in tape.why_none(unused, [ragged])[0]


def test_the_tape_is_not_used_up():
    w = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = w * w
    assert tape.why_none(y, w) is None
    assert float(tape.gradient(y, w)) == 4.0
    with pytest.raises(RuntimeError, match="used by gradient"):
        tape.why_none(y, w)
    with tf.GradientTape() as tape:
        y = w * w
    assert tape.why_none([], w) == "there is no target"
    with pytest.raises(TypeError, match="`target`"):
        with tf.GradientTape() as tape:
            tape.why_none(None, w)
    with pytest.raises(RuntimeError, match="never entered"):
        tf.GradientTape().why_none(y, w)


def test_a_place_is_told_once_where_all_gradients_are_none(caplog):
    w, u = tf.Variable(1.0, name="w"), tf.Variable(1.0, name="u")

    def asked(sources, **options):
        caplog.clear()
        for _ in range(3):
            with tf.GradientTape() as tape:
                y = tf.stop_gradient(w) * 2.0 + 0.0 * u
            tape.gradient(y, sources, **options)
        return [r for r in caplog.records if "gives None" in r.getMessage()]

    with caplog.at_level(logging.WARNING, "tape_compat"):
        assert not asked([w, u])
        assert not asked(w, unconnected_gradients="zero")
        (record,) = asked([w])
        assert not asked([w])
    text = record.getMessage()
    assert "GradientTape.gradient at test_why_none.py:" in text
    assert "variable 'w:0': every way from it to the target goes through `StopGradient`" in text


def test_many_sources_are_told_of_by_reason(caplog):
    variables = [tf.Variable(1.0, name=f"v{i}") for i in range(12)]
    with caplog.at_level(logging.WARNING, "tape_compat"):
        with tf.GradientTape() as tape:
            y = tf.constant(1.0) * 2.0
        assert tape.jacobian(y, variables) == [None] * 12
    (record,) = [r for r in caplog.records if "gives None" in r.getMessage()]
    assert record.getMessage().count("no op read it") == 1
    assert "and 4 more; see `tape.why_none`" in record.getMessage()


@tf.function
def traced(w):
    with tf.GradientTape() as tape:
        y = tf.floor(w) * 2.0
    traced.said = tape.why_none(y, w)
    return tape.gradient(y, w, unconnected_gradients="zero")


def test_inside_a_function():
    w = tf.Variable(1.5)
    assert float(traced(w)) == 0.0
    assert "goes through `Floor`" in traced.said
