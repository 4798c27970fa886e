"""`tf.xla.experimental`: functions that are recorded for one call, and scopes."""

import collections
import functools

from .harness import attempts

NEEDS = ("xla.experimental.compile",)


def given(tf, **computations):
    """What the computations give, of pairs of a function and its inputs."""
    build = tf.xla.experimental.compile
    return attempts(
        tf, {name: lambda _, c=c: build(c[0], *c[1:]) for name, c in computations.items()}
    )


def case_results(tf):
    x = tf.constant([1.0, 2.0])
    pair = collections.namedtuple("Pair", "a b")
    return given(
        tf,
        single=(lambda a: a + 1.0, [x]),
        several=(lambda a, b: (a + b, a), (x, 2.0)),
        nested=(lambda a: {"p": a["q"][0] + 1.0}, [{"q": [x]}]),
        nested_list=(lambda: [[x], x],),
        mapping=(lambda: [{"a": x}],),
        named=(lambda: pair(x, x),),
        number=(lambda: 3,),
        numbers=(lambda: [3, 2.5],),
        numbers_in=(lambda a, b: [a, b], [[1, 2], x]),
        defaults=(lambda a, b=2.0: a + b, [x]),
        partial=(functools.partial(lambda a, b: a + b, x), [x]),
    )


def case_refused(tf):
    x = tf.constant([1.0, 2.0])
    return given(
        tf,
        nothing=(lambda: None,),
        empty=(lambda: [],),
        no_tensor=(lambda: [x, object()],),
        no_list=(lambda a: a, x),
        a_dict=(lambda a: a, {"a": x}),
        too_few=(lambda a: a,),
        ragged=(lambda: tf.ragged.constant([[1], [2, 3]]),),
    )


def case_variables(tf):
    v = tf.Variable(2.0)
    found = tf.xla.experimental.compile(lambda x: [x * v, v.assign_add(x)], [tf.constant(3.0)])
    return found, v


def case_condition_is_not_converted(tf):
    def f(x):
        return x if x > 0.0 else -x

    return given(tf, condition=(f, [tf.constant(1.0)]))


def case_in_a_function(tf):
    v = tf.Variable(2.0)
    seen = []

    @tf.function
    def f(x):
        seen.append(type(tf.xla.experimental.compile(lambda: None)).__name__)
        (y,) = tf.xla.experimental.compile(lambda a: a * v, [x])
        tf.xla.experimental.compile(lambda a: [v.assign_add(a), tf.no_op()], [x])
        return y

    return f(tf.constant(3.0)), v, seen


def case_operation_inside_of_a_structure(tf):
    return given(tf, inside=(lambda: {"a": tf.constant(1.0), "b": tf.no_op()},))


def case_gradient_inside(tf):
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.gradient(y, x)

    return tf.xla.experimental.compile(f, [tf.constant(3.0)])


def case_gradient_outside(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        (y,) = tf.xla.experimental.compile(lambda a: a * a, [x])
    return tape.gradient(y, x)


def case_scope(tf):
    scope = tf.xla.experimental.jit_scope

    @tf.function
    def f(x):
        with scope() as given:
            x = x + 1.0
        with scope(compile_ops=lambda node: True, separate_compiled_gradients=True):
            x = x * 2.0
        return x, given is None

    def outside(_):
        with scope():
            pass

    return f(tf.constant(1.0)), attempts(tf, {"outside": outside})
