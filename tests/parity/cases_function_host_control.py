"""Conditionals and loops that XLA has no form of, in `tf.function`: recorded once, as TensorFlow's.

Shapes that differ by branch, loop variables and arrays that grow, masks and texts inside.
"""

from .harness import attempt, traced

NEEDS = ("function", "cond", "while_loop", "TensorArray", "boolean_mask")


def _vectors(tf, *rows):
    return [(tf.constant(row),) for row in rows]


VECTORS = ([1.0, 2.0, 3.0, 7.0], [-1.0, -2.0, -3.0, 0.5], [1.0, 2.0, 4.0, 8.0])


def _shapes_of_branches(tf, x):
    if tf.reduce_sum(x) > 0:
        y = x[:2]
    else:
        y = x * 2
    return y + 1, tf.shape(y)


def _mask_in_a_branch(tf, x):
    if tf.reduce_sum(x) > 0:
        return tf.reduce_sum(tf.boolean_mask(x, x > 1))
    return tf.reduce_sum(x)


def _one_of_several(tf, x):
    return tf.switch_case(tf.cast(x[0], tf.int32), [lambda: x[:1], lambda: x[:2], lambda: x])


def _early_return(tf, x):
    if tf.reduce_any(x < 0):
        return x[x >= 0]
    return x


def _ternary(tf, x):
    y = tf.unique(x)[0] if x[0] > 0 else tf.concat([x, x], 0)
    return tf.reduce_sum(y), tf.size(y)


def _loop_that_grows(tf, x):
    y = x
    while tf.reduce_sum(y) > -20.0 and tf.size(y) < 9:
        tf.autograph.experimental.set_loop_options(shape_invariants=[(y, tf.TensorShape([None]))])
        y = tf.concat([y, y[:1] * 2.0], 0)
    return y


def _loop_that_shrinks(tf, x):
    return tf.while_loop(
        lambda i, y: i < 4,
        lambda i, y: (i + 1, tf.boolean_mask(y, y > tf.cast(i, tf.float32))),
        (0, x),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])),
    )


def _mask_in_a_loop(tf, x):
    total = 0.0
    for i in tf.range(4):
        total += tf.reduce_sum(tf.boolean_mask(x, x > tf.cast(i, tf.float32)))
    return total


def _loops_and_branches(tf, x):
    total = tf.constant(0.0)
    for i in tf.range(2):
        for j in tf.range(3):
            kept = tf.boolean_mask(x, x > tf.cast(i + j, tf.float32))
            if tf.size(kept) > 1:
                total += tf.reduce_sum(kept[1:])
            else:
                total -= 1.0
    return total


def _array_written_now_and_then(tf, x):
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    i = 0
    for v in x:
        if v > 0:
            array = array.write(i, v * 2)
            i += 1
    return array.stack(), array.size()


def _array_that_is_appended_to(tf, x):
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    while tf.reduce_max(x) < 100.0:
        x = x * 2
        array = array.write(array.size(), x)
    return array.stack()


def _array_written_in_a_branch(tf, x):
    array = tf.TensorArray(tf.float32, size=1, dynamic_size=True, element_shape=[4])
    if x[0] > 0:
        array = array.write(2, x)
    return array.size(), array.stack()


def _rows(tf, x):
    rows = tf.stack([x, -x])
    return (
        tf.map_fn(lambda row: tf.reduce_sum(tf.boolean_mask(row, row > 1)), rows),
        tf.scan(lambda a, row: a + tf.size(tf.boolean_mask(row, row > 1)), rows, 0),
        tf.foldl(lambda a, row: a + tf.reduce_sum(tf.unique(row)[0]), rows, 0.0),
    )


def _draws(tf, x):
    for _ in tf.range(3):
        x += tf.reduce_sum(tf.boolean_mask(x, x > 1)) * 0.5 + tf.random.normal([4]) * 0
    return x


def _function_in_a_branch(tf, x):
    inner = tf.function(lambda x: tf.boolean_mask(x, x > 1))
    if x[0] > 0:
        return tf.reduce_sum(inner(x))
    return tf.reduce_sum(inner(-x))


BODIES = (
    _shapes_of_branches,
    _mask_in_a_branch,
    _one_of_several,
    _early_return,
    _ternary,
    _loop_that_grows,
    _loop_that_shrinks,
    _mask_in_a_loop,
    _loops_and_branches,
    _array_written_now_and_then,
    _array_that_is_appended_to,
    _array_written_in_a_branch,
    _rows,
    _draws,
    _function_in_a_branch,
)


def _by_vectors(body):
    return lambda tf: traced(tf, lambda x: body(tf, x), *_vectors(tf, *VECTORS))


CASES = {body.__name__[1:]: _by_vectors(body) for body in BODIES}


def _gradient(body):
    """First and second derivatives inside of a function, and of one outside of it."""

    def case(tf):
        def loss(x):
            return tf.add_n([tf.reduce_sum(tf.cast(y, tf.float32) ** 2) for y in body(tf, x)])

        def slopes(x):
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    value = loss(x)
                first = tape.gradient(value, x)
            return value, first, outer.gradient(first, x)

        calls = _vectors(tf, *VECTORS)
        outside, f = [], tf.function(loss)
        for (x,) in calls:
            with tf.GradientTape() as tape:
                tape.watch(x)
                value = f(x)
            outside.append(tape.gradient(value, x))
        return traced(tf, slopes, *calls), outside

    return case


CASES |= {
    f"gradient of {name}": _gradient(body)
    for name, body in {
        "shapes_of_branches": _shapes_of_branches,
        "mask_in_a_branch": lambda tf, x: [_mask_in_a_branch(tf, x)],
        "loop_that_grows": lambda tf, x: [_loop_that_grows(tf, x)],
        "mask_in_a_loop": lambda tf, x: [_mask_in_a_loop(tf, x)],
        "array_written_now_and_then": lambda tf, x: _array_written_now_and_then(tf, x)[:1],
    }.items()
}


def _symbolic_gradients(tf, x):
    """First and second ones, and by what lies between."""
    y = _shapes_of_branches(tf, x)[0] ** 3
    (first,) = tf.gradients(y, x)
    (second,) = tf.gradients(first, x)
    weighted = tf.gradients(tf.reduce_sum(y**2) + tf.reduce_sum(x), [y, x], grad_ys=[3.0])
    return first, second, weighted, tf.gradients(tf.reduce_sum(y) * x[0], x, stop_gradients=[y])


def _symbolic_gradients_of_two(tf, x):
    y = _shapes_of_branches(tf, x)[0]
    if tf.size(y) > 2:
        z = y[:1] ** 2
    else:
        z = tf.concat([y, y * x[0]], 0)
    return tf.gradients(z, [x, y])


def _hessians(tf, x):
    y = _shapes_of_branches(tf, x)[0]
    return tf.hessians(tf.reduce_sum(y**2) ** 2, x), tf.hessians(tf.reduce_sum(x**3), x)


def _symbolic_gradients_of_a_loop(tf, x):
    y = _loop_that_grows(tf, x)
    return tf.gradients(tf.reduce_sum(y**2), x)


def _symbolic_gradients_of_masks(tf, x):
    y = x * 2.0
    z = tf.boolean_mask(y, y > 4.0) ** 2
    counted = tf.cast(tf.size(tf.unique(x)[0]), tf.float32)
    return tf.gradients(tf.reduce_sum(z) * counted, [x, y])


CASES |= {
    body.__name__[1:]: _by_vectors(body)
    for body in (
        _symbolic_gradients,
        _symbolic_gradients_of_two,
        _hessians,
        _symbolic_gradients_of_a_loop,
        _symbolic_gradients_of_masks,
    )
}


def case_gradients_of_variables(tf):
    v = tf.Variable(2.0)

    def slopes(x):
        with tf.GradientTape() as tape:
            if x[0] > 0:
                y = tf.boolean_mask(x, x > 1) * v
            else:
                y = x * x * v * v
            loss = tf.reduce_sum(y * y)
        return tape.gradient(loss, v)

    return traced(tf, slopes, *_vectors(tf, *VECTORS))


def case_variables_are_assigned_to(tf):
    total, last = tf.Variable(0.0), tf.Variable([0.0], shape=[None])

    def step(x):
        for i in tf.range(3):
            kept = tf.boolean_mask(x, x > tf.cast(i, tf.float32))
            total.assign_add(tf.reduce_sum(kept))
        if x[0] > 0:
            last.assign(tf.boolean_mask(x, x > 2))
            return total.read_value()
        return total * 2.0

    return traced(tf, step, *_vectors(tf, *VECTORS)), total.read_value(), last.read_value()


def case_unknown_sizes(tf):
    runs = []

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def halved(x):
        runs.append(1)
        while tf.shape(x)[0] > 2:
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(x, tf.TensorShape([None, 2]))]
            )
            x = x[::2] + 1.0
        return x

    @tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([], tf.int32)])
    def without_last(x, n):
        runs.append(1)
        i = 0
        while i < n:
            x = x[:-1]
            i += 1
        return x

    found = [halved(tf.ones([n, 2])) for n in (5, 9, 2, 5)]
    return found, [without_last(tf.range(4.0), n) for n in (2, 0, 4)], runs


def case_a_shape_that_changes_and_may_not(tf):
    def grown(x):
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.concat([y, y], 0)), (0, x))

    return attempt(lambda: tf.function(grown)(tf.ones([2])))


def case_invariants_that_are_not_needed(tf):
    def doubled(x, n):
        return tf.while_loop(
            lambda i, y: i < n,
            lambda i, y: (i + 1, y * 2),
            (0, x),
            shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])),
        )

    return traced(tf, doubled, *[(tf.range(3.0), tf.constant(n)) for n in (2, 0)])


def case_order_of_effects(tf):
    seen = []

    @tf.function
    def step(x):
        for i in tf.range(3):
            kept = tf.boolean_mask(x, x > tf.cast(i, tf.float32))
            tf.py_function(lambda i, n: seen.append((int(i), int(n))), [i, tf.size(kept)], [])
            if tf.size(kept) > 2:
                tf.py_function(lambda n: seen.append(int(n)), [tf.size(kept)], [])
        return tf.reduce_sum(x)

    return [step(x) for (x,) in _vectors(tf, *VECTORS)], seen


#: Functions of texts and a number.
TEXTS = {
    "branch": lambda tf, s, n: tf.cond(n > 1, lambda: s, lambda: tf.constant(["short"])),
    "constants": lambda tf, s, n: tf.strings.join(
        [tf.cond(n > 1, lambda: "many", lambda: "few"), tf.strings.as_string(n)]
    ),
    "loop": lambda tf, s, n: tf.while_loop(
        lambda i, t: i < n, lambda i, t: (i + 1, t + "x"), (tf.constant(0), s)
    ),
    "map": lambda tf, s, n: tf.map_fn(lambda w: w + "!", s),
    "lengths": lambda tf, s, n: tf.map_fn(tf.strings.length, s, fn_output_signature=tf.int32),
    "fold": lambda tf, s, n: tf.foldl(lambda a, w: a + w, s, tf.constant("")),
}


def _by_texts(body):
    def case(tf):
        calls = [(tf.constant(["ab", "c", "dd"]), tf.constant(n)) for n in (1, 2, 3)]
        return traced(tf, lambda s, n: body(tf, s, n), *calls)

    return case


CASES |= {f"texts {name}": _by_texts(body) for name, body in TEXTS.items()}


def case_texts_written_by_a_loop(tf):
    def generated(start, n):
        words = tf.TensorArray(tf.string, size=0, dynamic_size=True)
        s = start
        for i in tf.range(n):
            s = tf.strings.substr(s, 1, 10) + tf.strings.as_string(i)
            words = words.write(i, s)
        return tf.strings.join([start, tf.strings.reduce_join(words.stack(), separator=" ")])

    calls = [(tf.constant(s), tf.constant(n)) for s, n in (("abc", 3), ("zz", 2), ("q", 1))]
    return traced(tf, generated, *calls)


def case_words_of_a_loop(tf):
    def joined(words):
        found = ""
        for word in words:
            if tf.strings.length(word) > 1:
                found = tf.strings.join([found, word], "-")
        return found

    return traced(tf, joined, *[(tf.constant(w),) for w in (["ab", "c", "dd"], ["a", "b", "cc"])])


def case_gradient_of_what_was_not_run(tf):
    vector = tf.TensorSpec([None], tf.float32)

    @tf.function(input_signature=[tf.TensorSpec([], tf.bool), vector, vector])
    def branch(p, x, y):
        return tf.cond(p, lambda: (x * y, y), lambda: (tf.concat([y, y], 0), y * 2.0))

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32), vector, vector])
    def loop(n, x, y):
        shapes = (tf.TensorShape([]), tf.TensorShape([None]))
        return tf.while_loop(
            lambda i, _: i < n, lambda i, y: (i + 1, tf.concat([y, x * 2.0], 0)), (0, y), shapes
        )[1]

    def gradients(function, first):
        x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = function(tf.constant(first), x, y)
        return z, tape.gradient(z, [x, y])

    calls = [(branch, True), (branch, False), (loop, 0), (loop, 2)]
    return [gradients(function, first) for function, first in calls]


def case_signatures_of_functions_inside_of_others(tf):
    """A number becomes the tensor that the signature says."""
    signature = [tf.TensorSpec([None]), tf.TensorSpec([], tf.int32)]

    @tf.function(input_signature=signature)
    def choose(x, n):
        return tf.cond(n > 1, lambda: tf.constant([1.0, 2.5]), lambda: x)

    outer = tf.function(lambda x, n: choose(x, n), autograph=False)
    x = tf.constant([1.0, -2.0, 3.0])
    return [outer(x, 1), outer(x, 2)]


def _growing(tf, scale, turns):
    """Recorded for a vector of any size; counts its turns."""

    @tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([], tf.int32)])
    def grown(x, n):
        kept = x if turns is None else tf.boolean_mask(x, x > -10.0)
        y = x * scale
        for _ in tf.range(n):
            y = tf.concat([y, x * y[0] * scale], 0)
            if turns is not None:
                turns.assign_add(1)
        return y, tf.reduce_sum(y), kept

    return grown


def case_growth_inside_of_another_function(tf):
    """The sizes that a caller knows are not those that its loop goes by, before and after it was
    called by itself."""
    x, scale, turns = tf.constant([1.0, 2.0, 3.0]), tf.Variable(2.0), tf.Variable(0)
    found = []
    for calls, first in ((None, True), (turns, False)):
        grown = _growing(tf, scale, calls)
        nested = tf.function(lambda x, n, f=grown: [*f(x, n), f(x[:2], n + 1)[0]])
        if not first:
            found.append(grown(x, 1))
        found += [nested(x, tf.constant(n)) for n in (2, 0)]
        found.append(grown(x, 1))
    return found, turns


def case_gradients_of_growth_inside_of_another_function(tf):
    scale, turns = tf.Variable(2.0), tf.Variable(0)
    grown = _growing(tf, scale, turns)

    @tf.function
    def inside(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y, total, _ = grown(x, n)
            loss = tf.reduce_sum(y * y) + total
        return tape.gradient(loss, [x, scale])

    @tf.function
    def summed(x, n):
        total = tf.constant(0.0)
        for i in tf.range(n):
            total += grown(x, i)[1]
        return total

    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = summed(x, tf.constant(3))
    found = [inside(x, tf.constant(n)) for n in (2, 0)]
    return found, total, tape.gradient(total, [x, scale]), turns


def case_texts_that_grow(tf):
    signature = [tf.TensorSpec([None], tf.string), tf.TensorSpec([], tf.int32)]

    @tf.function(input_signature=signature)
    def grown(x, n):
        y = x
        for _ in tf.range(n):
            y = tf.concat([y, x + "!"], 0)
        return y, tf.size(y)

    @tf.function
    def nested(n):
        return grown(tf.strings.split("a b c"), n), grown(["d"], n)

    by_itself = [grown(tf.constant(["a", "b"]), n) for n in (2, 0)]
    return by_itself, [nested(tf.constant(n)) for n in (1, 0)]
