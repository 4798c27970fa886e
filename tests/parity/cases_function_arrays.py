"""TensorArrays as arguments of functions, and their specs."""

from .harness import attempt

NEEDS = ("function", "TensorArraySpec")


def _array(tf, rows=3):
    return tf.TensorArray(tf.float32, rows, element_shape=[2]).unstack(tf.ones([rows, 2]))


def case_specs(tf):
    spec = tf.TensorArraySpec
    one = spec([2], tf.float32)
    others = [spec([None]), spec([3]), spec([2], tf.int32), spec([2], dynamic_size=True), spec()]
    return (
        [repr(s) for s in (one, *others)],
        [one == s for s in (spec([2]), *others)],
        [one.is_compatible_with(s) for s in (*others, _array(tf), 3)],
        [one.is_subtype_of(s) for s in others],
        [repr(one.most_specific_common_supertype([s])) for s in others],
        repr(one.most_specific_compatible_type(others[0])),
        repr(spec.from_value(_array(tf))),
        repr(tf.type_spec_from_value(_array(tf))),
        spec().value_type.__name__,
        isinstance(one, tf.TypeSpec),
        attempt(lambda: spec.from_value(3), words=0),
        attempt(lambda: spec([2], "nonsense"), words=0),
        attempt(lambda: one.most_specific_compatible_type(others[1:3][1]), words=0),
    )


def case_arguments(tf):
    @tf.function
    def total(array):
        return tf.reduce_sum(array.stack() ** 2), array.size(), array.read(1)

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        array = tf.TensorArray(tf.float32, 2, clear_after_read=False).unstack(x)
        y = total(array)[0]
    return total(_array(tf)), total(_array(tf, 2)), y, tape.gradient(y, x), array.stack()


def case_in_structures(tf):
    @tf.function
    def f(parts, n):
        return n + 1, parts["a"].read(1), parts["a"].size()

    return f({"a": _array(tf)}, tf.constant(2))


def case_grows_by_a_copy(tf):
    @tf.function
    def f(array):
        return array.write(5, [1.0, 1.0]).stack()

    return f(tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[2]))
