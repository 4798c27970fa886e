"""`tf.cond`, `case`, `switch_case`, `while_loop`, `map_fn`, `scan`, folds, `TensorArray`.

Each in eager code and in a `tf.function`; derivatives of every order through them.
"""

import collections
import itertools

import numpy as np

from .harness import attempt, attempts, options, printed

NEEDS = ("function", "cond", "while_loop", "TensorArray", "map_fn")


def both(tf, program, *args):
    """What `program(*args)` gives in eager code and in a function, an error as a value."""
    traced = tf.function(program, autograph=False)
    return attempt(program, *args, words=0), attempt(traced, *args, words=0)


def derivatives(tf, program, x):
    """Value, first and second derivative at `x`, in eager code and through a function."""

    def all_of(f):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            g = inner.gradient(y, x)
        return y, g, None if g is None else outer.gradient(g, x)

    return all_of(program), all_of(tf.function(program, autograph=False))


def inside(tf, program, x):
    """The derivative taken inside a function."""

    @tf.function(autograph=False)
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = program(x)
        return y, tape.gradient(y, x)

    return f(x)


# --- cond


def case_cond(tf):
    def f(x):
        return tf.cond(x > 0.0, lambda: x * 2.0, lambda: -x)

    return both(tf, f, tf.constant(3.0)), both(tf, f, tf.constant(-3.0))


def case_cond_structures(tf):
    def f(x):
        return tf.cond(x > 0, lambda: {"a": (x, [x + 1])}, lambda: {"a": (-x, [x - 1])})

    return both(tf, f, tf.constant(3)), both(tf, f, tf.constant(-3))


def case_cond_of_a_python_bool(tf):
    def f(x):
        return tf.cond(True, lambda: x, lambda: -x), tf.cond(False, lambda: x, lambda: -x)

    return both(tf, f, tf.constant(1))


def case_cond_python_numbers(tf):
    def f(x):
        return tf.cond(x > 0, lambda: 1, lambda: 2)

    return both(tf, f, tf.constant(1)), both(tf, f, tf.constant(-1))


def case_cond_none(tf):
    def f(x):
        return tf.cond(x > 0, lambda: None, lambda: None)

    return both(tf, f, tf.constant(1))


def case_cond_mismatches(tf):
    x = tf.constant(1.0)
    return attempts(
        tf,
        {
            "dtype": lambda tf: both(tf, lambda x: tf.cond(x > 0, lambda: 1, lambda: 2.0), x),
            "structure": lambda tf: both(
                tf, lambda x: tf.cond(x > 0, lambda: (x, x), lambda: [x, x]), x
            ),
            "count": lambda tf: both(tf, lambda x: tf.cond(x > 0, lambda: (x, x), lambda: x), x),
            "keys": lambda tf: both(
                tf, lambda x: tf.cond(x > 0, lambda: {"a": x}, lambda: {"b": x}), x
            ),
            "one is none": lambda tf: both(
                tf, lambda x: tf.cond(x > 0, lambda: x, lambda: None), x
            ),
            "not callable": lambda tf: both(tf, lambda x: tf.cond(x > 0, x, x), x),
            "vector": lambda tf: both(
                tf, lambda x: tf.cond(tf.stack([x, x]) > 0, lambda: x, lambda: x), x
            ),
            "number": lambda tf: both(tf, lambda x: tf.cond(x, lambda: x, lambda: -x), x),
        },
    )


def case_cond_of_two_shapes(tf):
    def f(x):
        return tf.cond(x > 0, lambda: tf.ones([2]), lambda: tf.ones([3]))

    return both(tf, f, tf.constant(1)), both(tf, f, tf.constant(-1))


def case_cond_only_one_branch_runs(tf):
    def f(x):
        return tf.cond(
            x > 0,
            lambda: (tf.print("positive"), x)[1],
            lambda: (tf.print("negative"), -x)[1],
        )

    with printed() as lines:
        results = both(tf, f, tf.constant(1)), both(tf, f, tf.constant(-1))
    return results, lines


def case_cond_traces_both_branches(tf):
    seen = []

    @tf.function(autograph=False)
    def f(x):
        return tf.cond(x > 0, lambda: seen.append("a") or x, lambda: seen.append("b") or -x)

    f(tf.constant(1))
    f(tf.constant(-1))
    return seen


def case_cond_assigns(tf):
    v = tf.Variable(1.0)

    def f(x):
        return tf.cond(x > 0, lambda: v.assign_add(10.0), lambda: v.assign(0.0))

    return both(tf, f, tf.constant(1)), v.numpy(), both(tf, f, tf.constant(-1)), v.numpy()


def case_cond_assigns_in_one_branch(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        def yes():
            v.assign_add(x)
            return v + 0.0

        y = tf.cond(x > 0, yes, lambda: tf.constant(-1.0))
        return y, v + 0.0

    return f(tf.constant(5.0)), f(tf.constant(-5.0)), v


def case_cond_gradient(tf):
    def f(x):
        return tf.cond(x > 0.0, lambda: x**3, lambda: tf.exp(x))

    return derivatives(tf, f, tf.constant(2.0)), derivatives(tf, f, tf.constant(-1.0))


def case_cond_gradient_inside(tf):
    def f(x):
        return tf.cond(x > 0.0, lambda: x**3, lambda: tf.exp(x))

    return inside(tf, f, tf.constant(2.0)), inside(tf, f, tf.constant(-1.0))


def case_cond_gradient_of_what_one_branch_reads(tf):
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    f = tf.function(lambda x: tf.cond(x > 0.0, lambda: a * x, lambda: b * b * x))
    results = []
    for value in (1.0, -1.0):
        with tf.GradientTape() as tape:
            y = f(tf.constant(value))
        results.append(tape.gradient(y, [a, b]))
    return results


def case_cond_safe_gradient(tf):
    def f(x):
        return tf.cond(x > 0.0, lambda: tf.sqrt(x), lambda: 0.0 * x)

    return derivatives(tf, f, tf.constant(0.0)), inside(tf, f, tf.constant(4.0))


def case_cond_nested(tf):
    def f(x):
        return tf.cond(
            x > 0,
            lambda: tf.cond(x > 10, lambda: x * 100, lambda: x * 10),
            lambda: tf.cond(x < -10, lambda: -x * 100, lambda: -x * 10),
        )

    return [both(tf, f, tf.constant(n)) for n in (20, 2, -2, -20)]


def case_cond_variable_as_predicate(tf):
    flag = tf.Variable(True)
    f = tf.function(lambda: tf.cond(flag, lambda: 1, lambda: 2))
    first = f()
    flag.assign(False)
    return first, f()


def case_cond_forward_mode(tf):
    @tf.function
    def f(x):
        return tf.cond(x > 0.0, lambda: x * x, lambda: x)

    x = tf.constant(3.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
        y = f(x)
    return y, acc.jvp(y)


def case_cond_jacobian(tf):
    f = tf.function(lambda x: tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * x, lambda: x[::-1]))
    results = []
    for value in ([1.0, 2.0], [-1.0, -2.0]):
        x = tf.constant(value)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        results.append(tape.jacobian(y, x))
    return results


def case_cond_in_eager_code_under_a_tape(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.cond(x > 0.0, lambda: x * x, lambda: x)
    return y, tape.gradient(y, x)


# --- case, switch_case


def case_case(tf):
    def f(x):
        return tf.case(
            [(x < 0, lambda: tf.constant(-1)), (x > 10, lambda: tf.constant(10))],
            default=lambda: tf.constant(0),
        )

    return [both(tf, f, tf.constant(n)) for n in (-5, 5, 50)]


def case_case_without_default(tf):
    def f(x):
        return tf.case([(x < 0, lambda: -x), (x < 10, lambda: x * 2)])

    return [both(tf, f, tf.constant(n)) for n in (-5, 5)]


def case_case_none_holds(tf):
    f = tf.function(lambda x: tf.case([(x < 0, lambda: -x), (x > 10, lambda: x * 2)]))
    return attempt(lambda: f(tf.constant(5)).numpy(), words=0)


def case_case_order(tf):
    def f(x):
        return tf.case(
            [(x > 0, lambda: tf.constant(1)), (x > 5, lambda: tf.constant(2))],
            default=lambda: tf.constant(3),
        )

    return both(tf, f, tf.constant(7))


def case_case_exclusive(tf):
    f = tf.function(
        lambda x: tf.case(
            [(x > 0, lambda: tf.constant(1)), (x > 5, lambda: tf.constant(2))], exclusive=True
        )
    )
    return f(tf.constant(3)), attempt(lambda: f(tf.constant(7)).numpy(), words=0)


def case_switch_case(tf):
    def f(i, x):
        return tf.switch_case(i, [lambda: x, lambda: x * 10, lambda: x * 100])

    return [both(tf, f, tf.constant(i), tf.constant(2)) for i in (0, 1, 2, 5, -1)]


def case_switch_case_default(tf):
    def f(i):
        return tf.switch_case(
            i, {1: lambda: tf.constant(10), 0: lambda: tf.constant(40)}, lambda: tf.constant(-1)
        )

    return [both(tf, f, tf.constant(i)) for i in (0, 1, 4, -1)]


def case_switch_case_gradient(tf):
    i = tf.constant(1)

    def f(x):
        return tf.switch_case(i, [lambda: x, lambda: x**3, lambda: tf.exp(x)])

    return derivatives(tf, f, tf.constant(2.0)), inside(tf, f, tf.constant(2.0))


def case_switch_case_wrong(tf):
    return attempts(
        tf,
        {
            "float index": lambda tf: tf.switch_case(tf.constant(1.0), [lambda: 1, lambda: 2]),
            "empty": lambda tf: tf.switch_case(tf.constant(0), []),
            "not callable": lambda tf: tf.switch_case(tf.constant(0), [1, 2]),
            "a vector": lambda tf: tf.switch_case(tf.constant([1]), [lambda: 1, lambda: 2]),
            "a vector in a function": lambda tf: tf.function(
                lambda i: tf.switch_case(i, [lambda: 1, lambda: 2])
            )(tf.constant([1])),
        },
        words=0,
    )


# --- while_loop


def power(tf, n):
    """x to the n-th, by a loop."""

    def f(x):
        return tf.while_loop(
            lambda i, y: i < n, lambda i, y: (i + 1, y * x), (tf.constant(0), tf.ones_like(x))
        )[1]

    return f


def case_while(tf):
    def f(n):
        return tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), (0, 0))

    return both(tf, f, tf.constant(5)), both(tf, f, tf.constant(0))


def case_while_one_variable(tf):
    def f(n):
        return tf.while_loop(lambda i: i < n, lambda i: i * 2, [tf.constant(1)])

    def g(n):
        return tf.while_loop(lambda i: i < n, lambda i: [i * 2], tf.constant([1]))

    return both(tf, f, tf.constant(100)), attempts(tf, {"tensor": lambda tf: g(50)}, words=0)


def case_while_structures(tf):
    def f(n):
        return tf.while_loop(
            lambda i, d: i < n,
            lambda i, d: (i + 1, {"a": d["a"] * 2, "b": (d["b"][0] + i,)}),
            (tf.constant(0), {"a": tf.constant(1), "b": (tf.constant(0),)}),
        )

    return both(tf, f, tf.constant(4))


def case_while_maximum_iterations(tf):
    def f(n):
        return tf.while_loop(
            lambda i: True, lambda i: i + 1, [tf.constant(0)], maximum_iterations=n
        )

    return both(tf, f, 7), both(tf, f, tf.constant(3)), both(tf, f, 0)


def case_while_condition_first(tf):
    def f(x):
        return tf.while_loop(lambda x: x < 0, lambda x: x + 1, [x])

    return both(tf, f, tf.constant(5))


def case_while_shape_changes(tf):
    def f(x):
        return tf.while_loop(
            lambda i, x: i < 3, lambda i, x: (i + 1, tf.concat([x, x], 0)), (tf.constant(0), x)
        )

    return both(tf, f, tf.ones([1]))


def case_while_shape_invariants(tf):
    def f(x):
        return tf.while_loop(
            lambda i, x: i < 3,
            lambda i, x: (i + 1, tf.concat([x, x], 0)),
            (tf.constant(0), x),
            shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])),
        )

    return both(tf, f, tf.ones([1]))


def case_tuple_in_eager_code_gives_what_it_is_given(tf):
    x = tf.ones([2, 3])
    kinds = x, [x, None], (x, x), {"a": x}, 5, None
    return [tf.tuple(kind) is kind for kind in kinds]


def case_while_invariants_of_another_structure(tf):
    shape, any_length = tf.TensorShape([]), tf.TensorShape([None])

    def attempted(loop_vars, invariants):
        def f():
            return tf.while_loop(lambda *_: False, lambda *x: x, loop_vars, invariants)

        return both(tf, f)

    two, nested = (0, tf.ones([2])), (0, (tf.ones([2]), tf.ones([1])))
    return [
        attempted(two, [shape, any_length]),
        attempted(two, (shape,)),
        attempted(two, (shape, any_length, shape)),
        attempted(two, (shape, [any_length])),
        attempted(two, (shape, None)),
        attempted(two, 3),
        attempted(nested, (shape, any_length)),
        attempted(nested, (shape, [any_length, any_length])),
        attempted(nested, (shape, {"a": any_length, "b": any_length})),
        attempted(nested, (shape, (any_length, any_length))),
        attempted([tf.ones([2])], any_length),
        attempted(({"a": 0.0},), ({"b": shape},)),
    ]


def case_while_invariants_of_composites(tf):
    ragged = tf.ragged.constant([[1.0], [2.0, 3.0]])
    sparse = tf.sparse.from_dense([[1.0, 0.0]])

    def attempted(x, invariant):
        def body(i, x, y):
            return i + 1, tf.concat([x, x], 1) if x is ragged else x, tf.concat([y, y], 0)

        def f():
            invariants = tf.TensorShape([]), invariant, tf.TensorShape([None])
            first = 0, x, tf.ones([1])
            found = tf.while_loop(lambda i, *_: i < 2, body, first, invariants)[1]
            return found.flat_values if x is ragged else found.values

        return attempt(tf.function(f, autograph=False), words=0)

    return [
        attempted(ragged, tf.RaggedTensorSpec([2, None], tf.float32)),
        attempted(ragged, tf.TensorShape([2, None])),
        attempted(ragged, tf.RaggedTensorSpec([3, None], tf.float32)),
        attempted(ragged, tf.RaggedTensorSpec([2, None], tf.int32)),
        attempted(sparse, tf.SparseTensorSpec([1, 2], tf.float32)),
        attempted(sparse, None),
        attempted(sparse, tf.TensorShape([1, 2])),
    ]


def case_while_static_shape_after_invariants(tf):
    seen = []

    @tf.function
    def f(x):
        _, y = tf.while_loop(
            lambda i, x: i < 3,
            lambda i, x: (i + 1, tf.concat([x, x], 0)),
            (tf.constant(0), x),
            shape_invariants=(tf.TensorShape([]), tf.TensorShape([None, 2])),
        )
        seen.append(str(y.shape))
        return y

    return tf.shape(f(tf.ones([1, 2]))), seen


def case_while_shape_invariants_of_composites(tf):
    scalar = tf.TensorShape([])
    sparse = tf.sparse.from_dense([0.0, 2.0, 0.0, 4.0])
    ragged = tf.ragged.constant([[1, 2], [3]])
    slices = tf.IndexedSlices(tf.ones([2, 2]), tf.constant([0, 3]), tf.constant([5, 2]))

    def doubled(x):
        return tf.sparse.map_values(lambda v: v * 2.0, x)

    def joined(axis):
        return lambda x: tf.concat([x, x], axis)

    def of_slices(x):
        return tf.IndexedSlices(x.values * 3.0, x.indices, x.dense_shape)

    def run(step, x, shape):
        def f(n):
            shapes = (scalar, shape)
            return tf.while_loop(lambda i, _: i < n, lambda i, x: (i + 1, step(x)), (0, x), shapes)

        def parts(function):
            return tf.nest.flatten(function(tf.constant(2)), expand_composites=True)

        return attempt(parts, f), attempt(parts, tf.function(f, autograph=False), words=0)

    shapes = tf.TensorShape([None]), tf.TensorShape(None), tf.TensorShape([1])
    sparse_shapes = [*shapes, tf.SparseTensorSpec([None], tf.float32), tf.TensorShape([5])]
    rows = tf.RaggedTensorSpec([None, None], tf.int32)
    return (
        [run(doubled, sparse, shape) for shape in sparse_shapes],
        run(tf.sparse.expand_dims, sparse, shapes[1]),
        [run(joined(1), ragged, s) for s in (tf.TensorShape([None, None]), rows)],
        run(joined(0), ragged, rows),
        [run(of_slices, slices, tf.TensorShape(s)) for s in ([None, 2], [2, 2])],
    )


def case_autograph_shape_invariants_of_composites(tf):
    @tf.function
    def f(n):
        x = tf.sparse.from_dense([[1, 0], [0, 2]])
        for _ in tf.range(n):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(x, tf.TensorShape(None))])
            x = tf.sparse.expand_dims(x)
        return x

    return [f(tf.constant(n)) for n in (0, 2)]


def case_while_without_back_prop(tf):
    def loop(x, **options):
        return tf.while_loop(
            lambda i, y, _: i < 3,
            lambda i, y, ta: (i + 1, y * x, ta.write(i, y)),
            (0, x, tf.TensorArray(tf.float32, 3)),
            back_prop=False,
            **options,
        )

    programs = [
        lambda x: loop(x)[1] + x,
        lambda x: loop(x, maximum_iterations=2)[1],
        lambda x: loop(x)[2].stack() * x,
        lambda x: tf.map_fn(lambda v: v * v, x, back_prop=False) + x,
        lambda x: tf.scan(lambda a, v: a * v, x, back_prop=False) + x,
        lambda x: tf.foldl(lambda a, v: a * v, x, back_prop=False) + x,
        lambda x: tf.foldr(lambda a, v: a * v, x, back_prop=False) + x,
    ]
    x = tf.constant([2.0, 3.0])
    return [(inside(tf, program, x), attempt(program, x)) for program in programs]


def case_while_gives_what_it_was_given(tf):
    text = tf.Variable("")

    def f(n):
        def body(i, x):
            text.assign(text + "a")
            return i + 1, x

        return tf.while_loop(lambda i, _: i < n, body, [0, n])

    return type(tf.function(f)(tf.constant(2))).__name__, type(f(tf.constant(2))).__name__, text


def case_map_fn_of_rows_of_unknown_sizes(tf):
    numbers = tf.constant([1, 2, 3, 4])
    programs = [
        lambda x: tf.map_fn(tf.range, x),
        lambda x: tf.map_fn(lambda n: tf.zeros([n]), x, fn_output_signature=tf.float32),
        lambda x: tf.map_fn(lambda n: tf.boolean_mask(numbers, numbers > n), x),
        lambda x: tf.map_fn(tf.range, x, fn_output_signature=tf.TensorSpec([None], tf.int32)),
    ]
    found = []
    for program in programs:
        traced = tf.function(program, autograph=False)
        found.append([traced(tf.constant([n, n])) for n in (3, 2, 3)])
    return found


def case_map_fn_of_sparse_rows(tf):
    sparse = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 3])
    nothing = tf.SparseTensor(tf.zeros([0, 2], tf.int64), tf.zeros([0]), [2, 3])
    rows = tf.SparseTensorSpec([None], tf.int32)

    def doubled(x):
        return tf.map_fn(lambda row: tf.sparse.map_values(tf.multiply, row, 2.0), x)

    def both_kinds(x):
        kinds = (tf.SparseTensorSpec([3], tf.float32), tf.float32)
        return tf.map_fn(lambda r: (r, tf.sparse.to_dense(r)), x, fn_output_signature=kinds)

    def made(x):
        return tf.map_fn(lambda n: tf.sparse.from_dense(tf.range(n)), x, fn_output_signature=rows)

    calls = [(doubled, sparse), (doubled, nothing), (both_kinds, sparse), (made, tf.range(1, 4))]
    return [both(tf, function, x) for function, x in calls]


def case_case_whose_default_is_no_function(tf):
    def f(p):
        return tf.case([(p, lambda: tf.constant(1))], default=4)

    return both(tf, f, tf.constant(True)), both(tf, f, tf.constant(False))


def case_tuple(tf):
    x = tf.constant(1)
    calls = [
        lambda x: tf.tuple((x,)),
        lambda x: tf.tuple([x, None]),
        lambda x: tf.tuple([x], control_inputs=[3]),
        lambda x: tf.tuple([x], control_inputs=[x]),
        lambda x: tf.tuple([None]),
    ]
    kinds = [type(tf.tuple(given)).__name__ for given in ([x], (x,))]
    return [(attempt(c, x), attempt(tf.function(c, autograph=False), x)) for c in calls], kinds


def case_while_dtype_changes(tf):
    def f(x):
        return tf.while_loop(lambda x: x < 3, lambda x: tf.cast(x, tf.float64) + 1.0, [x])

    return both(tf, f, tf.constant(0.0))[1]


def case_while_dtype_and_shape_change(tf):
    def f(x):
        return tf.while_loop(lambda i, _: i < 2, lambda i, _: (i + 1, 4), (0, x))[1]

    return both(tf, f, tf.constant([1.0, 2.0]))[1]


def case_while_structure_changes(tf):
    def f(x):
        return tf.while_loop(lambda x, y: x < 3, lambda x, y: x + 1, (x, x))

    return both(tf, f, tf.constant(0))


def case_while_condition_not_scalar(tf):
    def f(x):
        return tf.while_loop(lambda x: x < 3, lambda x: (x + 1,), (x,))

    return both(tf, f, tf.constant([0, 1]))


def case_while_gradient(tf):
    return derivatives(tf, power(tf, 4), tf.constant(1.5)), inside(
        tf, power(tf, 4), tf.constant(1.5)
    )


def case_while_gradient_of_dynamic_count(tf):
    def f(x):
        return tf.while_loop(lambda y: y < 100.0, lambda y: (y * x,), (x,))

    def g(x):
        return tf.nest.flatten(f(x))[0]

    return derivatives(tf, g, tf.constant(2.0)), inside(tf, g, tf.constant(3.0))


def case_while_gradient_count_from_an_argument(tf):
    @tf.function
    def f(x, n):
        return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf.sin(y * x)), (0, x))[1]

    results = []
    for n in (0, 1, 3, 6):
        x = tf.constant(0.7)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, tf.constant(n))
        results.append((y, tape.gradient(y, x)))
    return results, f.experimental_get_tracing_count()


def case_while_gradient_of_variables(tf):
    w = tf.Variable(0.5)

    @tf.function
    def f(x):
        return tf.while_loop(
            lambda i, y: i < 5, lambda i, y: (i + 1, tf.tanh(y * w) + x), (tf.constant(0), x)
        )[1]

    x = tf.constant(0.3)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, [x, w])


def case_while_gradient_with_maximum_iterations(tf):
    def f(x):
        return tf.while_loop(
            lambda y: y < 1000.0, lambda y: (y * x,), (tf.ones_like(x),), maximum_iterations=3
        )[0]

    return derivatives(tf, f, tf.constant(2.0))


def case_while_gradient_of_vectors(tf):
    w = tf.constant([[0.5, 0.1], [-0.2, 0.3]])

    def f(x):
        return tf.reduce_sum(
            tf.while_loop(
                lambda i, h: i < 3,
                lambda i, h: (i + 1, tf.tanh(tf.linalg.matvec(w, h))),
                (tf.constant(0), x),
            )[1]
        )

    return derivatives(tf, f, tf.constant([1.0, -1.0]))


def case_while_gradient_none(tf):
    def f(x):
        return tf.while_loop(
            lambda i, y: i < 3, lambda i, y: (i + 1, y * 2.0), (tf.constant(0), tf.constant(1.0))
        )[1]

    x = tf.constant(2.0)
    results = []
    for g in (f, tf.function(f)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = g(x)
        results.append(tape.gradient(y, x))
    return results


def case_while_third_order(tf):
    f = tf.function(power(tf, 5))
    x = tf.constant(1.2)
    with tf.GradientTape() as t3:
        t3.watch(x)
        with tf.GradientTape() as t2:
            t2.watch(x)
            with tf.GradientTape() as t1:
                t1.watch(x)
                y = f(x)
            a = t1.gradient(y, x)
        b = t2.gradient(a, x)
    return y, a, b, attempt(lambda: t3.gradient(b, x), words=0)


def case_while_jacobian(tf):
    @tf.function
    def f(x):
        return tf.while_loop(
            lambda i, y: i < 3, lambda i, y: (i + 1, y * x[::-1]), (tf.constant(0), x)
        )[1]

    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return attempt(lambda: tape.jacobian(y, x), words=0)


def case_while_forward_mode(tf):
    f = tf.function(power(tf, 3))
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
        y = f(x)
    return y, acc.jvp(y)


def case_while_nested(tf):
    def f(n):
        def outer(i, total):
            inner = tf.while_loop(lambda j, s: j < i, lambda j, s: (j + 1, s + j), (0, 0))[1]
            return i + 1, total + inner

        return tf.while_loop(lambda i, t: i < n, outer, (0, 0))[1]

    return both(tf, f, tf.constant(5))


def case_while_nested_gradient(tf):
    def f(x):
        def outer(i, y):
            z = tf.while_loop(lambda j, z: j < 2, lambda j, z: (j + 1, z * x), (tf.constant(0), y))[
                1
            ]
            return i + 1, z + x

        return tf.while_loop(lambda i, y: i < 2, outer, (tf.constant(0), x))[1]

    return derivatives(tf, f, tf.constant(1.3))


def case_cond_inside_while_gradient(tf):
    def f(x):
        def body(i, y):
            return i + 1, tf.cond(y > 2.0, lambda: y * 0.5, lambda: y * x)

        return tf.while_loop(lambda i, y: i < 6, body, (tf.constant(0), x))[1]

    return derivatives(tf, f, tf.constant(1.5))


def case_while_inside_cond_gradient(tf):
    def f(x):
        return tf.cond(x > 0.0, lambda: power(tf, 3)(x), lambda: -x)

    return derivatives(tf, f, tf.constant(2.0)), derivatives(tf, f, tf.constant(-2.0))


def case_while_assigns(tf):
    v = tf.Variable(0)

    @tf.function
    def f(n):
        def body(i):
            v.assign_add(i)
            return i + 1

        tf.while_loop(lambda i: i < n, body, [tf.constant(0)])
        return v.read_value()

    return f(tf.constant(4)), f(tf.constant(4)), v


def case_while_reads_a_variable_in_the_condition(tf):
    v = tf.Variable(3)

    @tf.function
    def f():
        def body(i):
            v.assign_sub(1)
            return i + 1

        return tf.while_loop(lambda i: v > 0, body, [tf.constant(0)])

    return f(), v


def case_while_prints(tf):
    def f(n):
        def body(i):
            tf.print("turn", i)
            return i + 1

        return tf.while_loop(lambda i: i < n, body, [tf.constant(0)])

    with printed() as lines:
        both(tf, f, tf.constant(3))
    return lines


def case_while_python_runs_once(tf):
    seen = []

    @tf.function
    def f(n):
        return tf.while_loop(lambda i: i < n, lambda i: seen.append(1) or i + 1, [0])

    f(tf.constant(5))
    return len(seen) <= 2


def case_while_captures(tf):
    k = tf.constant([1.0, 2.0])

    def f(x):
        return tf.while_loop(
            lambda i, y: i < 2, lambda i, y: (i + 1, y + k * x), (0, tf.zeros([2]))
        )

    return both(tf, f, tf.constant(3.0))


def case_while_parallel_iterations(tf):
    def f(x):
        return tf.while_loop(
            lambda i: i < 3, lambda i: i + 1, [x], parallel_iterations=1, swap_memory=True
        )

    return both(tf, f, tf.constant(0))


def case_while_random(tf):
    @tf.function
    def f():
        return tf.while_loop(
            lambda i, a, b: i < 5,
            lambda i, a, b: (i + 1, b, tf.random.uniform([])),
            (tf.constant(0), tf.constant(-1.0), tf.constant(-2.0)),
        )[1:]

    a, b = f()
    return bool(a == b)


def case_while_string(tf):
    def f(n):
        return tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s), (0, tf.constant("a")))

    return both(tf, f, tf.constant(2))


def case_while_wrong_arguments(tf):
    x = tf.constant(0)
    return attempts(
        tf,
        {
            "no variables": lambda tf: tf.while_loop(lambda: True, lambda: (), []),
            "cond no callable": lambda tf: tf.while_loop(True, lambda i: i, [x]),
            "body no callable": lambda tf: tf.while_loop(lambda i: True, x, [x]),
            "parallel": lambda tf: tf.function(
                lambda: tf.while_loop(lambda i: i < 1, lambda i: i + 1, [x], parallel_iterations=0)
            )(),
        },
        words=0,
    )


def case_while_error_in_the_body(tf):
    def f(x):
        return tf.while_loop(lambda x: x < 3, lambda x: tf.matmul(x, x), [x])

    try:
        tf.function(f)(tf.constant(1))
    except ValueError:
        return both(tf, f, tf.constant(1))[0]


# --- map_fn, vectorized_map


def case_map_fn(tf):
    def f(x):
        return tf.map_fn(lambda row: tf.reduce_sum(row * row), x)

    return both(tf, f, tf.constant([[1.0, 2.0], [3.0, 4.0]])), derivatives(
        tf, lambda x: tf.reduce_sum(f(x) ** 2), tf.constant([[1.0, 2.0], [3.0, 4.0]])
    )


def case_map_fn_structures(tf):
    def f(x, y):
        return tf.map_fn(
            lambda p: {"sum": p[0] + p[1], "product": p[0] * p[1]},
            (x, y),
            fn_output_signature={"sum": tf.float32, "product": tf.float32},
        )

    return both(tf, f, tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]))


def case_map_fn_dtype(tf):
    x = tf.constant([1, 2, 3])
    return (
        both(tf, lambda x: tf.map_fn(lambda i: tf.cast(i, tf.float32) / 2.0, x, tf.float32), x),
        both(
            tf,
            lambda x: tf.map_fn(
                lambda i: tf.cast(i, tf.float32), x, fn_output_signature=tf.float32
            ),
            x,
        ),
        both(tf, lambda x: tf.map_fn(lambda i: tf.cast(i, tf.float32), x), x),
    )


def case_map_fn_signature_spec(tf):
    def f(x):
        return tf.map_fn(
            lambda i: tf.fill([2], i), x, fn_output_signature=tf.TensorSpec([2], tf.int32)
        )

    return both(tf, f, tf.constant([1, 2]))


def case_map_fn_empty(tf):
    def f(x):
        return tf.map_fn(lambda row: row * 2.0, x)

    return both(tf, f, tf.zeros([0, 2]))


def case_map_fn_captures(tf):
    w = tf.Variable(2.0)
    f = tf.function(lambda x: tf.reduce_sum(tf.map_fn(lambda i: i * i * w, x)))
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, [x, w])


def case_map_fn_nested(tf):
    def f(x):
        return tf.map_fn(lambda row: tf.map_fn(lambda i: i * i, row), x)

    return both(tf, f, tf.constant([[1, 2], [3, 4]]))


def case_map_fn_wrong(tf):
    return attempts(
        tf,
        {
            "scalar": lambda tf: tf.map_fn(lambda i: i, tf.constant(1)),
            "lengths": lambda tf: tf.map_fn(
                lambda p: p[0] + p[1], (tf.constant([1, 2]), tf.constant([1]))
            ),
            "empty": lambda tf: tf.map_fn(lambda i: i, []),
        },
        words=0,
    )


def case_map_fn_effects(tf):
    v = tf.Variable(0)

    @tf.function
    def f(x):
        return tf.map_fn(lambda i: v.assign_add(i), x)

    return f(tf.constant([1, 2, 3])), v


def case_vectorized_map(tf):
    def f(x):
        return tf.vectorized_map(lambda row: tf.reduce_sum(row * row), x)

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    return both(tf, f, x), derivatives(tf, lambda x: tf.reduce_sum(f(x) ** 2), x)


def case_vectorized_map_structures(tf):
    def f(x, y):
        return tf.vectorized_map(lambda p: (p[0] @ p[1], tf.linalg.trace(p[0])), (x, y))

    x = tf.reshape(tf.range(8.0), [2, 2, 2])
    return both(tf, f, x, x[:, :, :1])


def case_vectorized_map_of_unequal_numbers_of_rows(tf):
    rows = (tf.ones([2, 3]), tf.ones([3]))
    summed = lambda: tf.vectorized_map(lambda row: row[0] + row[1], rows)
    return [attempt(summed, words=0), attempt(tf.function(summed, autograph=False), words=0)]


@options(atol=1e-5)
def case_vectorized_map_depends_on_values(tf):
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    i = tf.constant([2, 0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.vectorized_map(lambda p: p[0][p[1] : p[1] + 1], (x, i), warn=False)
    return {
        "slices": (y, tape.gradient(y, x)),
        "texts": tf.vectorized_map(tf.strings.as_string, i, warn=False),
        "lengths": tf.vectorized_map(tf.strings.length, tf.constant(["a", "bc"]), warn=False),
        "python": tf.vectorized_map(
            lambda row: tf.py_function(lambda a: a * 2.0, [row], tf.float32), x, warn=False
        ),
        "structures": tf.vectorized_map(
            lambda row: {"n": tf.strings.as_string(row), "rest": (row, row[:1])}, x, warn=False
        ),
    }


def case_vectorized_map_of_segments(tf):
    x = tf.constant([[1.0, 3.0, 3.0], [4.0, 0.0, 6.0]])
    ids = tf.constant([[0, 1, 1], [1, 1, 0]])
    found = {}
    for kind in ("sum", "mean", "max", "min", "prod", "sqrt_n"):
        op = getattr(tf.math, f"unsorted_segment_{kind}")
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.vectorized_map(lambda p, op=op: op(p[0], p[1], 2), (x, ids))
        found[kind] = y, tape.gradient(y, x)
    return found


def case_vectorized_map_captures(tf):
    w = tf.Variable([1.0, 2.0])
    x = tf.constant([[0.1, 0.2], [0.3, 0.4]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.vectorized_map(lambda row: tf.tanh(row * w), x))
    return y, tape.gradient(y, w)


def case_per_example_gradients(tf):
    w = tf.Variable([1.0, 2.0])

    @tf.function
    def grads(x):
        def one(row):
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(tf.tanh(row * w))
            return tape.gradient(y, w)

        return tf.vectorized_map(one, x)

    return attempt(grads, tf.constant([[0.1, 0.2], [0.3, 0.4]]), words=0)


# --- scan and folds


def case_foldl_foldr(tf):
    x = tf.constant([1, 2, 3, 4])
    return {
        "foldl": both(tf, lambda x: tf.foldl(lambda a, i: a * 10 + i, x), x),
        "foldr": both(tf, lambda x: tf.foldr(lambda a, i: a * 10 + i, x), x),
        "initial": both(tf, lambda x: tf.foldl(lambda a, i: a - i, x, initializer=100), x),
        "foldr initial": both(tf, lambda x: tf.foldr(lambda a, i: a - i, x, initializer=100), x),
    }


def case_fold_structures(tf):
    x = tf.constant([1.0, 2.0, 3.0])

    def f(x):
        return tf.foldl(
            lambda a, i: (a[0] + i[0], a[1] * i[1]),
            (x, x),
            initializer=(tf.constant(0.0), tf.constant(1.0)),
        )

    return both(tf, f, x)


def case_fold_gradient(tf):
    def f(x):
        return tf.foldl(lambda a, i: tf.sin(a) * i, x)

    return derivatives(tf, f, tf.constant([0.5, 1.0, 2.0]))


def case_scan(tf):
    x = tf.constant([1, 2, 3, 4])
    return {
        "sum": both(tf, lambda x: tf.scan(lambda a, i: a + i, x), x),
        "initial": both(tf, lambda x: tf.scan(lambda a, i: a + i, x, initializer=10), x),
        "reverse": both(tf, lambda x: tf.scan(lambda a, i: a + i, x, reverse=True), x),
    }


def case_scan_structures(tf):
    def f(x):
        return tf.scan(
            lambda a, i: (a[0] + i, a[0] * i),
            x,
            initializer=(tf.constant(0.0), tf.constant(1.0)),
        )

    return both(tf, f, tf.constant([1.0, 2.0, 3.0]))


def case_scan_gradient(tf):
    def f(x):
        return tf.reduce_sum(tf.scan(lambda a, i: tf.tanh(a + i), x, initializer=tf.constant(0.1)))

    return derivatives(tf, f, tf.constant([0.5, 1.0, 2.0]))


def case_scan_rnn(tf):
    w = tf.Variable([[0.5, 0.1], [-0.2, 0.3]])

    @tf.function
    def f(x):
        states = tf.scan(
            lambda h, x: tf.tanh(tf.linalg.matvec(w, h) + x), x, initializer=tf.zeros([2])
        )
        return tf.reduce_sum(states**2)

    x = tf.reshape(tf.range(6.0), [3, 2]) / 10.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, [x, w])


def case_scan_infer_shape(tf):
    def f(x):
        return tf.scan(lambda a, i: a + i, x, infer_shape=False)

    return both(tf, f, tf.constant([1, 2, 3]))


def case_folds_of_nothing(tf):
    return attempts(
        tf,
        {
            "foldl": lambda tf: tf.foldl(lambda a, i: a + i, tf.zeros([0])),
            "foldl initial": lambda tf: tf.foldl(
                lambda a, i: a + i, tf.zeros([0]), initializer=tf.constant(5.0)
            ),
            "scan initial": lambda tf: tf.scan(
                lambda a, i: a + i, tf.zeros([0]), initializer=tf.constant(5.0)
            ),
        },
        words=0,
    )


# --- TensorArray


def case_array_write_and_stack(tf):
    def f(x):
        a = tf.TensorArray(tf.float32, size=3)
        for i in range(3):
            a = a.write(i, x * float(i))
        return a.stack(), a.size()

    return both(tf, f, tf.constant([1.0, 2.0]))


def case_array_read(tf):
    def f(x):
        a = tf.TensorArray(tf.float32, size=2, clear_after_read=False)
        a = a.write(0, x).write(1, x + 1.0)
        return a.read(1), a.read(0), a.read(0)

    return both(tf, f, tf.constant(5.0))


def case_array_cleared_after_read(tf):
    def f(x):
        a = tf.TensorArray(tf.float32, size=2)
        a = a.write(0, x).write(1, x)
        return a.read(0), a.read(0)

    return attempt(lambda: f(tf.constant(1.0)), words=0)


def case_array_unstack(tf):
    def f(x):
        a = tf.TensorArray(tf.float32, size=2).unstack(x)
        return a.read(1), a.read(0), a.size()

    return both(tf, f, tf.constant([[1.0, 2.0], [3.0, 4.0]]))


def case_array_concat_split(tf):
    def f(x):
        a = tf.TensorArray(tf.float32, size=2, infer_shape=False)
        b = a.split(x, [1, 3])
        return b.concat(), b.read(0), b.read(1)

    return both(tf, f, tf.constant([1.0, 2.0, 3.0, 4.0]))


def case_array_scatter_gather(tf):
    def f(x):
        a = tf.TensorArray(tf.float32, size=4, clear_after_read=False)
        a = a.scatter([3, 1], x)
        return a.gather([1, 3]), a.gather([3])

    return both(tf, f, tf.constant([[1.0], [2.0]]))


def case_array_dynamic_size(tf):
    def f(x):
        a = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        a = a.write(0, x)
        a = a.write(3, x * 3)
        return a.size(), a.read(3)

    return both(tf, f, tf.constant(2))


def case_array_dynamic_size_in_a_loop(tf):
    @tf.function
    def f(n):
        a = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        for i in tf.range(n):
            a = a.write(i, i * i)
        return a.stack(), a.size()

    return f(tf.constant(4)), f(tf.constant(0)), f(tf.constant(6))


def case_array_unwritten(tf):
    def f(x):
        a = tf.TensorArray(tf.float32, size=3, element_shape=[])
        return a.write(1, x).stack()

    return both(tf, f, tf.constant(2.0))


def case_array_of_nothing(tf):
    return attempts(
        tf,
        {
            "stack": lambda tf: tf.TensorArray(tf.float32, size=0, element_shape=[2]).stack(),
            "unknown": lambda tf: tf.TensorArray(tf.float32, size=0).stack(),
            "read": lambda tf: tf.TensorArray(tf.float32, size=1).read(0),
        },
        words=0,
    )


def case_array_wrong(tf):
    a = tf.TensorArray(tf.float32, size=2)
    one = tf.constant(1.0)
    return attempts(
        tf,
        {
            "index": lambda tf: a.write(5, one),
            "negative": lambda tf: a.write(-1, one),
            "dtype": lambda tf: a.write(0, tf.constant(1)),
            "shape": lambda tf: tf.TensorArray(tf.float32, 2).write(0, one).write(1, [1.0, 2.0]),
            "element_shape": lambda tf: tf.TensorArray(tf.float32, 2, element_shape=[3]).write(
                0, one
            ),
            "twice": lambda tf: tf.TensorArray(tf.float32, 2).write(0, one).write(0, one).stack(),
            "unstack": lambda tf: tf.TensorArray(tf.float32, 2).unstack(tf.ones([3])).size(),
            "no size": lambda tf: tf.TensorArray(tf.float32).size(),
            "bool": lambda tf: bool(a),
        },
        words=0,
    )


def case_array_wrong_in_a_function(tf):
    def make(write):
        return tf.function(lambda x: write(tf.TensorArray(tf.float32, size=2), x), autograph=False)

    one = tf.constant(1.0)
    return attempts(
        tf,
        {
            "dtype": lambda tf: make(lambda a, x: a.write(0, tf.constant(1)).stack())(one),
            "shape": lambda tf: make(lambda a, x: a.write(0, x).write(1, [x, x]).stack())(one),
            "index": lambda tf: make(lambda a, x: a.write(5, x).stack())(one).numpy(),
        },
        words=0,
    )


def case_array_attributes(tf):
    a = tf.TensorArray(tf.float32, size=3, dynamic_size=True, element_shape=[2])
    return a.dtype, a.element_shape, a.dynamic_size, a.size()


def case_array_attributes_inside(tf):
    seen = []

    @tf.function
    def f(x):
        a = tf.TensorArray(tf.float32, size=2)
        a = a.write(0, x)
        seen.extend([a.dtype, str(a.element_shape), bool(a.dynamic_size)])
        a = a.write(1, x)
        seen.append(str(a.stack().shape))
        return a.stack()

    return f(tf.constant([1.0, 2.0])), seen


def case_array_identity_and_grad(tf):
    def f(x):
        a = tf.TensorArray(tf.float32, size=2).unstack(x)
        return a.identity().stack() * 2.0

    return both(tf, f, tf.constant([1.0, 2.0]))


def case_array_gradient(tf):
    def f(x):
        a = tf.TensorArray(tf.float32, size=3)
        a = a.write(0, x * x).write(1, x).write(2, tf.sin(x))
        return tf.reduce_sum(a.stack() * tf.constant([1.0, 2.0, 3.0]))

    return derivatives(tf, f, tf.constant(0.7)), inside(tf, f, tf.constant(0.7))


def case_array_gradient_of_unstack(tf):
    def f(x):
        a = tf.TensorArray(tf.float32, size=3, clear_after_read=False).unstack(x)
        return a.read(0) * a.read(2) + a.read(0) ** 2

    return derivatives(tf, f, tf.constant([1.0, 2.0, 3.0]))


def case_array_gradient_of_concat(tf):
    def f(x):
        a = tf.TensorArray(tf.float32, size=2, infer_shape=False)
        a = a.write(0, x[:1]).write(1, x[1:] * 2.0)
        return tf.reduce_sum(a.concat() ** 2)

    return derivatives(tf, f, tf.constant([1.0, 2.0, 3.0]))


def case_array_in_while(tf):
    def f(x):
        n = tf.shape(x)[0]
        a = tf.TensorArray(tf.float32, size=n)
        _, a = tf.while_loop(
            lambda i, a: i < n, lambda i, a: (i + 1, a.write(i, x[i] * 2.0)), (tf.constant(0), a)
        )
        return a.stack()

    x = tf.constant([1.0, 2.0, 3.0])
    return both(tf, f, x), derivatives(tf, lambda x: tf.reduce_sum(f(x) ** 2), x)


def case_array_rnn(tf):
    w = tf.Variable([[0.5, 0.1], [-0.2, 0.3]])

    @tf.function
    def f(x):
        n = tf.shape(x)[0]
        inputs = tf.TensorArray(tf.float32, size=n).unstack(x)
        outputs = tf.TensorArray(tf.float32, size=n)

        def body(i, h, outputs):
            h = tf.tanh(tf.linalg.matvec(w, h) + inputs.read(i))
            return i + 1, h, outputs.write(i, h)

        _, h, outputs = tf.while_loop(
            lambda i, h, o: i < n, body, (tf.constant(0), tf.zeros([2]), outputs)
        )
        return tf.reduce_sum(outputs.stack() ** 2) + tf.reduce_sum(h)

    x = tf.reshape(tf.range(8.0), [4, 2]) / 10.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, [x, w])


def case_array_in_cond(tf):
    @tf.function
    def f(x):
        a = tf.TensorArray(tf.float32, size=2).write(0, x)
        a = tf.cond(x > 0.0, lambda: a.write(1, x * 10.0), lambda: a.write(1, -x))
        return a.stack()

    return f(tf.constant(1.0)), f(tf.constant(-1.0))


def case_array_returned(tf):
    @tf.function
    def f(x):
        return tf.TensorArray(tf.float32, size=2).unstack(x)

    return attempt(lambda: f(tf.constant([1.0, 2.0])).stack(), words=0)


def case_array_old_value_kept(tf):
    """In a function a write gives a new array and leaves the old one as it was."""

    @tf.function
    def f(x):
        a = tf.TensorArray(tf.float32, size=2, clear_after_read=False).write(0, x)
        b = a.write(1, x)
        c = a.write(1, x * 5.0)
        return b.stack(), c.stack()

    return f(tf.constant(1.0))


def case_array_strings_and_bools(tf):
    def f(x):
        a = tf.TensorArray(tf.bool, size=2).write(0, x > 0).write(1, x < 0)
        return a.stack()

    return both(tf, f, tf.constant(1))


def case_array_second_order_in_a_loop(tf):
    def f(x):
        a = tf.TensorArray(tf.float32, size=3)
        _, _, a = tf.while_loop(
            lambda i, y, a: i < 3,
            lambda i, y, a: (i + 1, y * x, a.write(i, y)),
            (tf.constant(0), x, a),
        )
        return tf.reduce_sum(a.stack())

    return derivatives(tf, f, tf.constant(1.5))


def case_array_written_with_a_tensor_index(tf):
    @tf.function
    def f(order):
        a = tf.TensorArray(tf.int32, size=3)
        for i in tf.range(3):
            a = a.write(order[i], i)
        return a.stack()

    return f(tf.constant([2, 0, 1]))


# --- the engine's own edges


def case_loops_of_two_lengths(tf):
    f = tf.function(
        lambda x, n: tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y + x), (0, x))[1]
    )
    x = tf.constant(1.0)
    return [f(x, tf.constant(n)) for n in (3, 5, 0, 100)], f.experimental_get_tracing_count()


def case_fibonacci(tf):
    @tf.function
    def fib(n):
        return tf.while_loop(lambda i, a, b: i < n, lambda i, a, b: (i + 1, b, a + b), (0, 0, 1))[1]

    return [fib(tf.constant(n)) for n in (0, 1, 2, 10)]


def case_newton(tf):
    @tf.function
    def root(a):
        return tf.while_loop(
            lambda x: tf.abs(x * x - a) > 1e-4,
            lambda x: 0.5 * (x + a / x),
            [a],
            maximum_iterations=50,
        )[0]

    a = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(a)
        x = root(a)
    return x, tape.gradient(x, a)


def case_collatz(tf):
    @tf.function
    def steps(n):
        return tf.while_loop(
            lambda n, k: n > 1,
            lambda n, k: (tf.cond(n % 2 == 0, lambda: n // 2, lambda: 3 * n + 1), k + 1),
            (n, 0),
        )[1]

    return [steps(tf.constant(n)) for n in (1, 6, 7, 27)]


def case_eager_loop_under_a_tape(tf):
    w = tf.Variable(1.1)
    with tf.GradientTape() as tape:
        y = tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * w), (0, tf.constant(1.0)))[1]
    return y, tape.gradient(y, w)


def case_numpy_in_eager_loops(tf):
    y = tf.while_loop(lambda i: i < np.int32(3), lambda i: i + np.int32(1), [np.int32(0)])
    return y


def case_while_condition_assigns(tf):
    asked, total = tf.Variable(0), tf.Variable(0.0)

    @tf.function
    def f(n, x):
        def goes_on(i, pair):
            asked.assign_add(1)
            total.assign_add(pair["a"])
            return i < n

        def body(i, pair):
            total.assign(total * 2.0)
            return i + 1, {"a": pair["a"] * x, "b": pair["b"]}

        found = tf.while_loop(goes_on, body, (0, {"a": x, "b": tf.zeros([2])}))
        few = tf.while_loop(
            lambda i: asked.assign_add(1) > 0, lambda i: [i + 1], [0], maximum_iterations=2
        )
        return found, few, asked.read_value()

    x = tf.constant(2.0)
    return f(3, x), f(0, x), asked, total


def case_autograph_condition_assigns(tf):
    asked = tf.Variable(0)

    @tf.function
    def f(x):
        while asked.assign_add(1) < 4 and tf.reduce_sum(x) < 100.0:
            x = x * 2.0
        return x

    with tf.GradientTape() as tape:
        x = tf.constant([1.0, 2.0])
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, x), asked, f(x), asked


def case_most_iterations_that_are_no_integer(tf):
    def count(most):
        return tf.while_loop(
            lambda i: i < 5, lambda i: i + 1, [tf.constant(0)], maximum_iterations=most
        )[0]

    return [
        attempt(tf.function(lambda most=most: count(most)), words=0)
        for most in (2, 2.0, 2.5, "2", True, -1)
    ]


def case_slices_of_two_index_dtypes_from_branches(tf):
    def slices(index_dtype):
        indices = tf.constant([1], index_dtype)
        return tf.IndexedSlices(tf.constant([1.0]), indices, tf.constant([3]))

    @tf.function
    def chosen(one):
        found = tf.cond(one, lambda: slices(tf.int32), lambda: slices(tf.int64))
        other = tf.switch_case(
            tf.cast(one, tf.int32), [lambda: [slices(tf.int64)], lambda: [slices(tf.int32)]]
        )[0]
        return found.indices, other.indices, tf.convert_to_tensor(found)

    return chosen(tf.constant(True)), chosen(tf.constant(False))


class _Attrs:
    """As `attr.s` makes it, with the length and the parts that a loop asks for."""

    class _Field:
        def __init__(self, name):
            self.name = name

    __attrs_attrs__ = (_Field("i"), _Field("x"))

    def __init__(self, i, x):
        self.i, self.x = i, x

    def __len__(self):
        return 2

    def __iter__(self):
        return iter((self.i, self.x))


def case_while_with_variables_in_several_kinds_of_nests(tf):
    pair = collections.namedtuple("pair", "i x")
    kinds = {
        "list": lambda i, x: [i, x],
        "tuple": lambda i, x: (i, x),
        "named": pair,
        "attrs": _Attrs,
    }
    found = {}
    for (given, start), (name, made) in itertools.product(kinds.items(), repeat=2):
        for most in (None, 3):

            def loop(x, start=start, made=made, most=most):
                result = tf.while_loop(
                    lambda i, x: i < 5,
                    lambda i, x: made(i + 1, x * 2.0),
                    start(tf.constant(0), x),
                    maximum_iterations=most,
                )
                return list(result)

            found[given, name, most] = both(tf, loop, tf.constant(1.0))
    return found


class _Marked:
    """A structure that tells which branch made it."""

    def __init__(self, mark, value):
        self.mark, self.value = mark, value

    def __tf_flatten__(self):
        return self.mark, (self.value,)

    @classmethod
    def __tf_unflatten__(cls, mark, leaves):
        return cls(mark, leaves[0])


def case_branches_of_unlike_structures(tf):
    """The result is like what the function for true gives, or the first function."""

    def choose(p):
        return tf.cond(p, lambda: {"a": 1, "b": 2}, lambda: {"b": 3, "a": 4})

    def mark(p):
        return tf.cond(p, lambda: _Marked("true", 1.0), lambda: _Marked("false", 2.0))

    def switch(i):
        functions = [lambda n=n: _Marked(n, float(n)) for n in range(3)]
        return tf.switch_case(i, functions)

    found = []
    for p in (True, False):
        result = tf.function(mark)(tf.constant(p))
        found.append((list(tf.function(choose)(tf.constant(p)).items()), result.mark, result.value))
    result = tf.function(switch)(tf.constant(2))
    return found, result.mark, result.value


def case_case_of_few_pairs(tf):
    yes, no = tf.constant(True), tf.constant(False)
    programs = {
        "none": lambda: tf.case([]),
        "none, exclusive": lambda: tf.case([], exclusive=True),
        "none, a default": lambda: tf.case([], default=lambda: tf.constant(1)),
        "one": lambda: tf.case([(yes, lambda: [tf.constant(1)])]),
        "one, a default": lambda: tf.case([(no, lambda: [1])], default=lambda: [tf.constant(2)]),
        "two": lambda: tf.case([(no, lambda: [tf.constant(1)]), (yes, lambda: [tf.constant(2)])]),
    }
    return {name: both(tf, program) for name, program in programs.items()}


@options(words=22)
def case_dtype_of_a_loop_variable_changes(tf):
    step = lambda x: tf.cast(x, tf.float16) + 1
    loop = tf.function(lambda x: tf.while_loop(lambda x: x < 9, step, [x]), autograph=False)
    return loop(tf.constant(1.0))


def case_conditions_of_loops_with_effects(tf):
    def asking(n):
        def goes_on(i, _):
            tf.print("asked", i)
            tf.debugging.assert_less(i, 4)
            return i < n

        step = lambda i, x: (i + 1, x * x)
        return goes_on, step

    @tf.function
    def loop(n, x):
        goes_on, step = asking(n)
        return tf.while_loop(goes_on, step, [0, x])[1]

    @tf.function
    def most(n, x):
        goes_on, step = asking(n)
        return tf.while_loop(goes_on, step, [0, x], maximum_iterations=1)[1]

    @tf.function
    def statement(n, x):
        i = 0
        goes_on, step = asking(n)
        while goes_on(i, x):
            i, x = step(i, x)
        return x

    found = []
    for function in (loop, most, statement):
        x = tf.constant(3.0)
        with printed() as lines, tf.GradientTape() as tape:
            tape.watch(x)
            y = function(tf.constant(2), x)
        found.append((y, tape.gradient(y, x), lines))
    with printed():
        return found, attempt(loop, tf.constant(9), tf.constant(1.0), words=0)


def case_python_in_a_vectorized_map(tf):
    def of_python(x):
        return tf.py_function(lambda y: y + 1, [x], tf.int32)

    x = tf.constant([1, 2])
    mapped = tf.vectorized_map(of_python, x, warn=False)
    alone = attempt(tf.vectorized_map, of_python, x, False, words=0)
    return mapped, alone


def case_tensors_of_another_branch_or_body(tf):
    def leaking(tf, use):
        @tf.function(autograph=False)
        def f(x):
            kept = []

            def keep(y):
                kept.append(y * 2)
                return y + 1

            tf.cond(x > 0, lambda: keep(x), lambda: x)
            return use(tf, x, kept[0])

        return f(tf.constant(1))

    def of_loop(tf, x, y):
        return tf.while_loop(lambda i: i < 3, lambda i: i + y, [x])

    uses = {
        "function": lambda tf, x, y: x + y,
        "branch": lambda tf, x, y: tf.cond(x > 0, lambda: y + 1, lambda: x),
        "body": of_loop,
        "inner function": lambda tf, x, y: tf.function(lambda z: z + y, autograph=False)(x),
    }
    return [attempt(leaking, tf, use, words=0) for use in uses.values()]
