"""Extension types: what TensorFlow has not, or is not seen from outside."""

from __future__ import annotations

import numpy as np
import pytest

import tape_compat as tf
from tape_compat import expand_dims, image
from tape_compat._src.values.targets import TARGETS


def masked():
    class Masked(tf.experimental.BatchableExtensionType):
        values: tf.Tensor
        mask: tf.Tensor
        other: Masked | None = None

    return Masked


def test_annotations_written_as_texts_know_the_function_they_stand_in():
    Masked = masked()
    inner = Masked([1, 2], [True, False])
    outer = Masked([1.0], [True], inner)
    assert outer.other is inner
    with pytest.raises(TypeError, match=r"other: expected .*, got 'int'"):
        Masked([1], [True], 3)


def test_a_class_that_is_defined_later():
    class First(tf.experimental.ExtensionType):
        second: Second

    with pytest.raises(NameError, match="Second"):
        First(3)

    class Second(tf.experimental.ExtensionType):
        x: tf.Tensor

    globals()["Second"] = Second
    try:
        assert First(Second(1)).second.x.numpy() == 1
    finally:
        del globals()["Second"]


def test_a_constructor_that_raises_leaves_nothing_open():
    kept = []

    class Picky(tf.experimental.ExtensionType):
        x: tf.Tensor

        def __init__(self, x):
            kept.append(self)
            self.x = x
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        Picky(1)
    with pytest.raises(AttributeError, match="Cannot mutate attribute `x`"):
        kept[0].x = 2


def test_values_without_tensors_are_equal():
    class Nothing(tf.experimental.ExtensionType):
        n: int = 3

    assert bool(Nothing() == Nothing()) and bool(Nothing(2) != Nothing())


def test_a_step_with_extension_types_is_one_program(counted, deferred):
    Masked = masked()
    w = tf.Variable([1.0, 2.0])

    def step():
        with tf.GradientTape() as tape:
            m = Masked(w * 2.0, [True, False])
            loss = tf.reduce_sum(tf.where(m.mask, m.values, 0.0))
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    for _ in range(12):
        loss = float(step())
    before = counted()
    for _ in range(10):
        loss = float(step())
    after = counted()
    assert after["compiles"] == before["compiles"] and np.isfinite(loss)
    assert after["dispatches"] - before["dispatches"] <= 10


def test_functions_are_traced_once_for_a_spec():
    Masked = masked()

    @tf.function
    def double(m):
        return Masked(m.values * 2, m.mask)

    for k in range(4):
        assert double(Masked([k, 1], [True, False])).values.numpy().tolist() == [2 * k, 2]
    assert double.experimental_get_tracing_count() == 1
    double(Masked([1, 2, 3], [True] * 3))
    double(Masked([1, 2, 3, 4], [True] * 4))
    assert double.experimental_get_tracing_count() == 3
    relaxed = tf.function(lambda m: tf.shape(m.values)[0], reduce_retracing=True)
    assert [relaxed(Masked([1] * n, [True] * n)).numpy() for n in (1, 2, 3, 4)] == [1, 2, 3, 4]
    assert relaxed.experimental_get_tracing_count() == 2


def test_batches_of_different_sizes_are_refused():
    Masked = masked()
    dataset = tf.data.Dataset.from_generator(
        lambda: (Masked([1] * n, [True] * n) for n in (1, 2)),
        output_signature=Masked.Spec(
            tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], "bool"), None
        ),
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="different shapes"):
        list(dataset.batch(2))
    with pytest.raises(ValueError, match="rank >= 1"):
        tf.data.Dataset.from_tensor_slices(Masked(1, True))


def test_ops_that_were_imported_before_look_for_functions_too():
    Masked = masked()

    @tf.experimental.dispatch_for_api(tf.expand_dims, {"input": Masked})
    def expanded(input, axis, name=None):
        return "expanded"

    @tf.experimental.dispatch_for_api(image.resize, {"images": Masked})
    def resized(*args, **kwargs):
        return "resized"

    m = Masked([1], [True])
    try:
        assert expand_dims(m, 0) == tf.expand_dims(m, 0) == "expanded"
        assert tf.image.resize(m, [2, 2]) == image.resize(m, [2, 2]) == "resized"
        assert tf.image.resize(tf.ones([2, 2, 1]), [1, 1]).shape == [1, 1, 1]
    finally:
        tf.experimental.unregister_dispatch_for(expanded)
        tf.experimental.unregister_dispatch_for(resized)
    assert not any(t.function in (expanded, resized) for known in TARGETS.values() for t in known)
    with pytest.raises(ValueError, match="unsupported type"):
        tf.expand_dims(m, 0)


def test_a_tensor_beside_an_extension_type_in_an_operator():
    Masked = masked()

    @tf.experimental.dispatch_for_binary_elementwise_apis(tf.Tensor, Masked)
    def handler(api_func, x, y):
        return Masked(api_func(x, y.values), y.mask)

    m, t = Masked([1.0, 2.0], [True, False]), tf.constant(3.0)
    try:
        for found, values in ((t + m, [4, 5]), (t - m, [2, 1]), (t * m, [3, 6]), (t / m, [3, 1.5])):
            assert found.values.numpy().tolist() == values
    finally:
        tf.experimental.unregister_dispatch_for(handler)


def test_registered_names_are_unique():
    def declare():
        class Named(tf.experimental.ExtensionType):
            __name__ = "tests.Named"
            x: tf.Tensor

        return Named

    declare()
    with pytest.raises(ValueError, match=r"tests\.Named\.Spec has already been registered"):
        declare()


def test_gradients_of_extension_types_are_refused_with_a_place():
    Masked = masked()
    x = tf.Variable([1.0])
    with tf.GradientTape(persistent=True) as tape:
        m = Masked(x * 2.0, [True])
        loss = tf.reduce_sum(m.values)
    with pytest.raises(ValueError, match=r"Type Masked is not supported.*test_extension_types\.py"):
        tape.gradient(loss, m)
    assert tape.gradient(loss, [m.values, x])[1].numpy().tolist() == [2.0]
