"""`tf.function`: effects in Python and in TensorFlow, variables, captured values, random state."""

import numpy as np

from .harness import attempt, attempts, options, printed

NEEDS = ("function",)

# --- effects of Python happen while tracing, effects of ops at every call


def case_python_effect_once_a_trace(tf):
    seen = []

    @tf.function
    def f(x):
        seen.append("traced")
        tf.print("executed", x)
        return x

    with printed() as lines:
        f(1)
        f(1)
        f(2)
    return seen, lines


def case_python_list_appended(tf):
    external = []

    @tf.function
    def f(x):
        external.append(x.dtype)
        return x

    for value in (1.0, 2.0, 3.0):
        f(tf.constant(value))
    return external


def case_python_counter(tf):
    count = {"n": 0}

    @tf.function
    def f(x):
        count["n"] += 1
        return x + count["n"]

    return f(tf.constant(10)), f(tf.constant(10)), f(tf.constant(10.0)), count["n"]


def case_nonlocal(tf):
    n = 0

    @tf.function
    def f(x):
        nonlocal n
        n += 1
        return x * n

    return f(tf.constant(5)), f(tf.constant(5)), n


def case_iterator_advances_while_tracing(tf):
    @tf.function
    def f(iterator):
        return tf.constant(next(iterator))

    iterator = iter([0, 1, 2, 3])
    return [attempt(f, iterator, words=0) for _ in range(3)]


def case_generator_is_drained_while_tracing(tf):
    numbers = (n for n in (1, 2, 3))

    @tf.function
    def f(x):
        return x + sum(numbers)

    return f(tf.constant(0)), f(tf.constant(0)), f(tf.constant(0.0))


def case_python_random_is_baked_in(tf):
    numbers = iter([3.0, 4.0, 5.0])

    @tf.function
    def f(x):
        return x * next(numbers)

    return f(tf.constant(1.0)), f(tf.constant(1.0)), f(tf.constant([1.0])), f(tf.constant(1.0))


def case_object_changed_inside(tf):
    class Thing:
        last = 0

    thing = Thing()

    @tf.function
    def f(x):
        thing.last = thing.last + 1
        return x * thing.last

    return f(tf.constant(1)), f(tf.constant(1)), thing.last


# --- tf.print, Assert, py_function: in the order of the program


def case_print_order(tf):
    v = tf.Variable(1)

    @tf.function
    def f():
        tf.print("before", v)
        v.assign_add(1)
        tf.print("between", v)
        v.assign(v * 10)
        tf.print("after", v)

    with printed() as lines:
        f()
        f()
    return lines


def case_print_forms(tf):
    @tf.function
    def f(x):
        tf.print("a", x, [x, 2], sep=", ")
        tf.print({"k": x}, end="!\n")
        tf.print(x, x.shape, x.dtype, 1.5, None, True)

    with printed() as lines:
        f(tf.constant([1.0, 2.0]))
    return lines


def case_print_summarize(tf):
    @tf.function
    def f(x):
        tf.print(x)
        tf.print(x, summarize=1)
        tf.print(x, summarize=-1)

    with printed() as lines:
        f(tf.range(8))
    return lines


def case_print_without_results(tf):
    @tf.function
    def f(x):
        tf.print("called with", x)

    with printed() as lines:
        result = [f(tf.constant(n)) for n in (1, 2)]
    return result, lines


def case_print_in_a_nested_function(tf):
    @tf.function
    def g(x):
        tf.print("g", x)
        return x + 1

    @tf.function
    def f(x):
        tf.print("f", x)
        y = g(x)
        tf.print("f again", y)
        return g(y)

    with printed() as lines:
        y = f(tf.constant(1))
    return y, lines


def case_assert_holds(tf):
    @tf.function
    def f(x):
        tf.debugging.Assert(x > 0, [x])
        return x * 2

    return f(tf.constant(1)), attempt(lambda: f(tf.constant(-1)).shape, words=0)


def case_assert_equal(tf):
    @tf.function
    def f(x, y):
        tf.debugging.assert_equal(x, y, message="they differ")
        return x

    one, two = tf.constant(1), tf.constant(2)
    return f(one, one), attempt(lambda: f(one, two).numpy(), words=0)


def case_assert_message(tf):
    @tf.function
    def f(x):
        tf.debugging.assert_positive(x, message="my words")
        return x

    try:
        f(tf.constant(-1)).numpy()
    except tf.errors.InvalidArgumentError as error:
        return "my words" in str(error)


def case_assert_without_results(tf):
    @tf.function
    def f(x):
        tf.debugging.assert_non_negative(x)

    return f(tf.constant(1)), attempt(f, tf.constant(-1), words=0)


def case_assert_static(tf):
    @tf.function
    def f(x):
        tf.debugging.assert_equal(tf.constant(1), tf.constant(2))
        return x

    @tf.function
    def goes_on(x):
        found = [attempt(check, words=0).error == "InvalidArgumentError" for check in checks]
        return x + len(checks) if all(found) else x

    checks = [
        lambda: tf.debugging.assert_equal(1, 2),
        lambda: tf.debugging.assert_less(tf.constant([1.0, 2.0]), 2.0),
        lambda: tf.debugging.assert_positive(tf.constant([1.0, -2.0])),
    ]
    return attempt(lambda: f(tf.constant(1)).numpy(), words=0), goes_on(tf.constant(1))


def case_assert_rank_while_tracing(tf):
    @tf.function
    def f(x):
        tf.debugging.assert_rank(x, 2)
        return x

    return f(tf.ones([1, 1])), attempt(f, tf.ones([1]), words=0)


def case_assert_shapes(tf):
    @tf.function
    def f(x, y):
        tf.debugging.assert_shapes([(x, ("n", "m")), (y, ("m",))])
        return tf.linalg.matvec(x, y)

    return f(tf.ones([2, 3]), tf.ones([3])), attempt(f, tf.ones([2, 3]), tf.ones([2]), words=0)


def case_check_numerics(tf):
    f = tf.function(lambda x: tf.debugging.check_numerics(tf.math.log(x), "log"))
    return f(tf.constant(1.0)), attempt(lambda: f(tf.constant(-1.0)).numpy(), words=0)


def case_failed_assert_keeps_earlier_effects(tf):
    v = tf.Variable(0)

    @tf.function
    def f(x):
        with tf.control_dependencies([v.assign_add(1)]):
            tf.debugging.assert_positive(x)
        return v.read_value()

    return f(tf.constant(1)), attempt(lambda: f(tf.constant(-1)).numpy(), words=0), v


def case_py_function(tf):
    seen = []

    def look(x):
        seen.append(float(x))
        return x * 2

    @tf.function
    def f(x):
        return tf.py_function(look, [x], tf.float32) + 1.0

    return f(tf.constant(1.0)), f(tf.constant(5.0)), seen


def case_py_function_kinds(tf):
    kinds = []

    def look(x, y):
        kinds.append((tf.is_tensor(x), x.dtype.name, tf.executing_eagerly(), hasattr(y, "numpy")))
        return x, y

    @tf.function
    def f(x, y):
        a, b = tf.py_function(look, [x, y], [tf.float32, tf.int32])
        a.set_shape([2])
        return a, b

    return f(tf.constant([1.0, 2.0]), tf.constant(3)), kinds


def case_py_function_gradient(tf):
    def cube(x):
        return x * x * x

    @tf.function
    def f(x):
        return tf.py_function(cube, [x], tf.float32)

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, x)


def case_py_function_without_results(tf):
    seen = []

    @tf.function
    def f(x):
        tf.py_function(lambda x: seen.append(int(x)), [x], [])
        return x + 1

    return f(tf.constant(1)), f(tf.constant(2)), seen


def case_py_function_order(tf):
    seen = []
    v = tf.Variable(1)

    @tf.function
    def f():
        tf.py_function(lambda x: seen.append(int(x)), [v], [])
        v.assign_add(1)
        tf.py_function(lambda x: seen.append(int(x)), [v], [])
        v.assign_add(10)
        tf.py_function(lambda x: seen.append(int(x)), [v], [])

    f()
    f()
    return seen


def case_py_function_raises(tf):
    def fail(x):
        raise ValueError("in the function")

    @tf.function
    def f(x):
        return tf.py_function(fail, [x], tf.float32)

    def program():
        try:
            return f(tf.constant(1.0)).numpy()
        except Exception as error:
            return type(error).__name__, "in the function" in str(error)

    return program()


def case_numpy_function(tf):
    def mean(x):
        return np.mean(x, dtype=np.float32)

    @tf.function
    def f(x):
        y = tf.numpy_function(mean, [x], tf.float32)
        return y, y.shape.rank

    return f(tf.constant([1.0, 3.0]))


def case_numpy_function_two_results(tf):
    @tf.function
    def f(x):
        return tf.numpy_function(lambda x: (x + 1, x.astype(np.int32)), [x], [tf.float32, tf.int32])

    return f(tf.constant([1.5, 2.5]))


def case_numpy_function_wrong_dtype(tf):
    @tf.function
    def f(x):
        return tf.numpy_function(lambda x: x.astype(np.int32), [x], tf.float32)

    return attempt(lambda: f(tf.constant([1.5])).numpy(), words=0)


def case_numpy_function_no_gradient(tf):
    @tf.function
    def f(x):
        return tf.numpy_function(lambda x: x * 2, [x], tf.float32) + x

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return attempt(lambda: tape.gradient(y, x), words=0)


def case_py_function_eager(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.py_function(lambda x: x * x, [x], tf.float32)
    return y, tape.gradient(y, x), tf.numpy_function(np.sum, [[1.0, 2.0]], tf.float64)


# --- variables


def case_counter(tf):
    class Count(tf.Module):
        def __init__(self):
            self.count = None

        @tf.function
        def __call__(self):
            if self.count is None:
                self.count = tf.Variable(0)
            return self.count.assign_add(1)

    c = Count()
    return c(), c(), c(), c.count


def case_variable_outside(tf):
    v = tf.Variable(1.0)
    f = tf.function(lambda x: v.assign_add(x))
    return f(tf.constant(2.0)), f(tf.constant(3.0)), v


def case_variable_created_every_call(tf):
    @tf.function
    def f(x):
        v = tf.Variable(1.0)
        v.assign_add(x)
        return v

    return attempt(lambda: f(tf.constant(1.0)), words=11)


def case_variable_created_on_a_later_trace(tf):
    made = []

    @tf.function
    def f(x):
        if len(made) < 2:
            made.append(tf.Variable(1.0))
        return x + made[-1]

    first = attempt(f, tf.constant(1.0), words=0)
    return first, attempt(f, tf.constant([1.0, 2.0]), words=0)


def case_variable_created_once_in_a_list(tf):
    made = []

    @tf.function
    def f(x):
        if not made:
            made.append(tf.Variable(2.0))
        return x * made[0]

    return f(tf.constant(3.0)), f(tf.constant([4.0])), len(made), made[0]


def case_variable_lifted(tf):
    made = []

    @tf.function
    def f(x):
        if not made:
            made.append(tf.Variable(tf.ones([2]) * 3.0))
        made[0].assign_add(x)
        return made[0] * 1.0

    x = tf.constant([1.0, 2.0])
    return f(x), f(x), made[0]


def case_variable_initial_value_from_an_argument(tf):
    made = []

    @tf.function
    def f(x):
        if not made:
            made.append(tf.Variable(x * 2.0))
        return made[0] + x

    return attempt(lambda: (f(tf.constant(1.0)), f(tf.constant(5.0)), made[0]), words=0)


def case_variable_initial_value_from_the_shape_of_an_argument(tf):
    class Dense:
        w = None

        @tf.function
        def __call__(self, x):
            if self.w is None:
                self.w = tf.Variable(tf.ones([x.shape[-1], 2]))
            return x @ self.w

    dense = Dense()
    return dense(tf.ones([1, 3])), dense(tf.ones([2, 3])), dense.w.shape


def case_variable_initial_value_is_a_function(tf):
    calls, made = [], []

    def initial():
        calls.append(tf.executing_eagerly())
        return tf.zeros([2])

    @tf.function
    def f(x):
        if not made:
            made.append(tf.Variable(initial))
        return made[0] + x

    return f(tf.constant(1.0)), f(tf.constant(2.0)), made[0]


def case_variable_created_inside_init_scope(tf):
    made = []

    @tf.function
    def f(x):
        if not made:
            with tf.init_scope():
                made.append(tf.Variable(4.0))
        return made[0] * x

    return f(tf.constant(2.0)), f(tf.constant(3.0)), made[0]


def case_variable_created_in_a_called_function(tf):
    class Layer(tf.Module):
        w = None

        @tf.function
        def __call__(self, x):
            if self.w is None:
                self.w = tf.Variable(2.0, name="w")
            return x * self.w

    layer = Layer()

    @tf.function
    def f(x):
        return layer(x) + layer(x)

    return attempt(lambda: (f(tf.constant(3.0)), f(tf.constant(3.0)), layer.w), words=0)


def case_one_variable_per_instance(tf):
    class Scale(tf.Module):
        w = None

        @tf.function
        def __call__(self, x):
            if self.w is None:
                self.w = tf.Variable(1.0)
            self.w.assign_add(1.0)
            return self.w * x

    a, b = Scale(), Scale()
    x = tf.constant(1.0)
    return a(x), a(x), b(x), a.w, b.w, a.w is b.w


def case_module_variables_after_lazy_creation(tf):
    class Dense(tf.Module):
        def __init__(self):
            super().__init__()
            self.built = False

        @tf.function
        def __call__(self, x):
            if not self.built:
                self.w = tf.Variable(tf.ones([2, 1]), name="w")
                self.b = tf.Variable(tf.zeros([1]), name="b", trainable=False)
                self.built = True
            return x @ self.w + self.b

    d = Dense()
    y = d(tf.ones([1, 2]))
    names = [v.name for v in d.variables]
    return y, names, len(d.trainable_variables), [v.shape for v in d.trainable_variables]


def case_two_functions_share_a_variable(tf):
    v = tf.Variable(1.0)
    double = tf.function(lambda: v.assign(v * 2.0))
    add = tf.function(lambda x: v.assign_add(x))
    return double(), add(tf.constant(1.0)), double(), v


def case_variable_changed_between_calls(tf):
    v = tf.Variable(1.0)
    f = tf.function(lambda x: x * v)
    x = tf.constant(2.0)
    results = [f(x)]
    v.assign(5.0)
    results.append(f(x))
    v.assign_sub(1.0)
    return results, f(x)


def case_variable_collected(tf):
    v = tf.Variable(1.0)
    box = [v]

    @tf.function
    def f(x):
        return x * box[0]

    first = f(tf.constant(2.0))
    box[0] = tf.Variable(100.0)
    return first, f(tf.constant(2.0)), f(tf.constant([2.0]))


def case_variable_gone(tf):
    def make():
        external = tf.Variable(3.0)

        @tf.function
        def f(x):
            return x * external

        return f

    f = make()
    return f(tf.constant(2.0)), f(tf.constant(3.0))


def case_variable_gone_after_the_trace(tf):
    class Holder:
        def __init__(self):
            self.v = tf.Variable(3.0)

    holder = Holder()

    @tf.function
    def f(x):
        return x * holder.v

    c = f.get_concrete_function(tf.TensorSpec([], tf.float32))
    first = c(tf.constant(1.0))
    holder.v = None
    return first, attempt(lambda: c(tf.constant(2.0)).numpy(), words=0)


def case_variable_deleted_while_the_function_lives(tf):
    box = {"v": tf.Variable(3.0)}

    @tf.function
    def f(x):
        return x + box["v"]

    first = f(tf.constant(1.0))
    del box["v"]
    return first, attempt(lambda: f(tf.constant(2.0)).numpy(), words=0)


def case_read_and_assign_order(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f():
        a = v.read_value()
        v.assign(10.0)
        b = v.read_value()
        v.assign_add(5.0)
        return a, b, v.read_value()

    return f(), f(), v


def case_read_through_an_op(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f():
        a = v + 0.0
        v.assign(10.0)
        b = v + 0.0
        return a, b

    return f(), f()


def case_result_is_the_variable_that_changes_later(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f():
        before = tf.identity(v)
        v.assign(2.0)
        return before, v

    return f(), f()


def case_assign_results(tf):
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def f(x):
        a = v.assign(x)
        b = v.assign_add(x)
        c = v.assign_sub(x * 0.5)
        return a, b, c, v

    return f(tf.constant([3.0, 4.0])), v


def case_assign_read_value_false(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign(x, read_value=False)
        v.assign_add(x, read_value=False)
        return v * 1.0

    return f(tf.constant(3.0)), v


def case_assign_without_result(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f():
        v.assign_add(1.0)

    return f(), f(), v


def case_assign_not_in_the_results_path(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign(x * 3.0)
        return x

    return f(tf.constant(2.0)), v


def case_assign_a_slice(tf):
    v = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def f(x):
        v[1].assign(x)
        v[2:].assign([x * 2])
        return v * 1.0

    return f(tf.constant(9.0)), v


def case_assign_element_by_tensor_index(tf):
    v = tf.Variable(tf.zeros([4]))

    @tf.function
    def f(i, x):
        v[i].assign(x)

    for i in range(3):
        f(tf.constant(i), tf.constant(float(i + 1)))
    return v


def case_scatter_updates(tf):
    v = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def f(i):
        v.scatter_add(tf.IndexedSlices(tf.constant([10.0]), i))
        v.scatter_nd_update([[0]], [5.0])
        return v.read_value()

    return f(tf.constant([2])), f(tf.constant([1])), v


def case_assign_of_the_wrong_shape(tf):
    v = tf.Variable([1.0, 2.0])
    f = tf.function(lambda x: v.assign(x))
    return attempt(f, tf.ones([3]), words=0), v


def case_assign_of_the_wrong_dtype(tf):
    v = tf.Variable([1.0, 2.0])
    f = tf.function(lambda x: v.assign(x))
    return attempt(f, tf.constant([1, 2]), words=0), v


def case_variable_of_unknown_shape(tf):
    v = tf.Variable(tf.zeros([1]), shape=tf.TensorShape([None]))
    shapes = []

    @tf.function
    def f(x):
        v.assign(x)
        shapes.append(v.shape)
        return tf.reduce_sum(v) + tf.cast(tf.size(v), tf.float32)

    return f(tf.ones([2])), f(tf.ones([3])), v, shapes


def case_variable_attributes_inside(tf):
    v = tf.Variable([1.0, 2.0], name="mine", trainable=False)
    seen = []

    @tf.function
    def f():
        seen.extend([v.name, v.shape, v.dtype, v.trainable, isinstance(v, tf.Variable)])
        return v.value()

    return f(), seen


def case_symbolic_value_of_a_variable(tf):
    v = tf.Variable(1.0)
    f = tf.function(lambda: v.numpy())
    return attempt(f, words=0)


def case_assign_a_symbol_to_an_attribute(tf):
    class Model:
        def __init__(self):
            self.v = tf.Variable(0.0)

        @tf.function
        def call(self, x):
            self.v.assign(x)
            return self.v + 1.0

    m = Model()
    return m.call(tf.constant(3.0)), m.v


def case_swap_two_variables(tf):
    a, b = tf.Variable(1.0), tf.Variable(2.0)

    @tf.function
    def swap():
        x, y = a.read_value(), b.read_value()
        a.assign(y)
        b.assign(x)

    swap()
    once = a.numpy(), b.numpy()
    swap()
    return once, a, b


def case_many_variables(tf):
    vs = [tf.Variable(float(i)) for i in range(10)]

    @tf.function
    def f(x):
        for v in vs:
            v.assign_add(x)
        return tf.add_n([v.read_value() for v in vs])

    return f(tf.constant(1.0)), f(tf.constant(2.0)), [v.numpy() for v in vs]


def case_variable_in_a_nested_function(tf):
    v = tf.Variable(1.0)

    @tf.function
    def add(x):
        v.assign_add(x)

    @tf.function
    def f(x):
        before = v.read_value()
        add(x)
        middle = v.read_value()
        add(x * 10.0)
        return before, middle, v.read_value()

    return f(tf.constant(1.0)), f(tf.constant(1.0)), v


def case_exception_while_tracing_leaves_variables(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign(x)
        raise ValueError("no")

    return attempt(f, tf.constant(5.0), words=0), v


def case_variable_created_then_exception(tf):
    made = []

    @tf.function
    def f(x):
        if not made:
            made.append(tf.Variable(1.0))
            raise ValueError("once")
        return x + made[0]

    return attempt(f, tf.constant(1.0), words=0), len(made)


def case_int_and_bool_variables(tf):
    n, flag = tf.Variable(0), tf.Variable(False)

    @tf.function
    def f():
        n.assign_add(1)
        flag.assign(n > 1)
        return n.read_value(), flag.read_value()

    return f(), f(), n, flag


def case_string_variable(tf):
    v = tf.Variable("a")
    f = tf.function(lambda: tf.identity(v))
    first = f()
    v.assign("b")
    return first, f()


def case_variable_and_eager_ops_between(tf):
    v = tf.Variable([1.0, 2.0])
    f = tf.function(lambda: v.assign(v * 2.0))
    results = []
    for _ in range(3):
        f()
        v.assign_add([0.5, 0.5])
        results.append(tf.reduce_sum(v))
    return results, v


def case_control_dependencies(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        with tf.control_dependencies([v.assign(x)]):
            return tf.identity(v) + 1.0

    return f(tf.constant(5.0)), v


def case_group_and_no_op(tf):
    v, w = tf.Variable(1.0), tf.Variable(2.0)

    @tf.function
    def f():
        tf.group(v.assign_add(1.0), w.assign_add(1.0))
        tf.no_op()
        return v * w

    return f(), v, w


def case_initialized_value_semantics(tf):
    """A value read eagerly is no longer the variable's."""
    v = tf.Variable(1.0)
    kept = v.read_value()
    f = tf.function(lambda: kept + v)
    v.assign(10.0)
    return f()


# --- what is captured from outside


def case_tensor_captured(tf):
    k = tf.constant(3.0)
    f = tf.function(lambda x: x * k)
    return f(tf.constant(2.0))


def case_tensor_captured_is_late_bound_at_the_trace(tf):
    k = tf.constant(3.0)

    @tf.function
    def f(x):
        return x * k

    first = f(tf.constant(2.0))
    k = tf.constant(5.0)
    return first, f(tf.constant(2.0)), f(tf.constant([2.0]))


def case_python_number_captured(tf):
    k = 3.0

    @tf.function
    def f(x):
        return x * k

    first = f(tf.constant(2.0))
    k = 5.0
    return first, f(tf.constant(2.0)), f(tf.constant([2.0]))


GLOBAL = {"k": 1}


def case_global_dict_captured(tf):
    @tf.function
    def f(x):
        return x + GLOBAL["k"]

    GLOBAL["k"] = 1
    first = f(tf.constant(0))
    GLOBAL["k"] = 100
    return first, f(tf.constant(0)), f(tf.constant(0.0))


def case_attribute_captured(tf):
    class Model:
        bias = 0

    model = Model()

    @tf.function
    def evaluate(x):
        return x + model.bias

    x = tf.constant(10)
    first = evaluate(x)
    model.bias = 5
    return first, evaluate(x)


def case_fresh_function_sees_the_change(tf):
    class Model:
        bias = 0

    model = Model()

    def evaluate(x):
        return x + model.bias

    x = tf.constant(10)
    first = tf.function(evaluate)(x)
    model.bias = 5
    return first, tf.function(evaluate)(x)


def case_variable_attribute_sees_the_change(tf):
    class Model:
        def __init__(self):
            self.bias = tf.Variable(0)

    model = Model()

    @tf.function
    def evaluate(x):
        return x + model.bias

    first = evaluate(tf.constant(10))
    model.bias.assign(5)
    return first, evaluate(tf.constant(10))


def case_list_captured(tf):
    items = [1, 2]

    @tf.function
    def f(x):
        return x + sum(items)

    first = f(tf.constant(0))
    items.append(10)
    return first, f(tf.constant(0)), f(tf.constant(0.0))


def case_numpy_captured(tf):
    a = np.array([1.0, 2.0], np.float32)
    f = tf.function(lambda x: x + a)
    first = f(tf.constant(0.0))
    a[0] = 100.0
    return first, f(tf.constant(0.0))


def case_free_variable_bound_later(tf):
    @tf.function
    def f(x):
        return x * later

    later = 7
    return f(tf.constant(2))


def case_free_variable_never_bound(tf):
    @tf.function
    def f(x):
        return x * never  # noqa: F821

    return attempt(f, tf.constant(2), words=0)


def case_loop_variable_captured_late(tf):
    fs = [tf.function(lambda x: x * i) for i in (1, 2, 3)]
    return [f(tf.constant(1)) for f in fs]


def case_loop_variable_as_a_default(tf):
    fs = [tf.function(lambda x, i=i: x * i) for i in (1, 2, 3)]
    return [f(tf.constant(1)) for f in fs]


def case_closure_over_an_argument_of_the_outer_function(tf):
    def make(k):
        return tf.function(lambda x: x + k)

    return make(1)(tf.constant(1)), make(tf.constant(2))(tf.constant(1))


def case_large_capture(tf):
    table = tf.reshape(tf.range(10000, dtype=tf.float32), [100, 100])
    f = tf.function(lambda i: table[i, i])
    return f(tf.constant(3)), f(tf.constant(99))


def case_capture_of_a_pending_result(tf):
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        f = tf.function(lambda z: z * y)
        w = f(tf.constant(3.0))
    return w, tape.gradient(w, x)


def case_symbolic_capture_of_the_outer_function(tf):
    @tf.function
    def f(x):
        y = x * 2

        @tf.function
        def g():
            return y + 1

        return g() + g()

    return f(tf.constant(1)), f(tf.constant(10))


def case_captures_by_reference_or_not(tf):
    v = tf.Variable(1.0)
    value = v.value()
    f = tf.function(lambda: (v + 0.0, value + 0.0))
    v.assign(2.0)
    return f()


def case_variables_and_captures_listed(tf):
    v, w, k = tf.Variable(1.0), tf.Variable(2.0, trainable=False), tf.constant(3.0)
    c = tf.function(lambda: v * w + k).get_concrete_function()
    return len(c.variables), len(c.trainable_variables), len(c.captured_inputs)


# --- random state


def varies(results):
    return len({float(x) for x in results}) == len(results)


def case_random_draws_anew(tf):
    f = tf.function(lambda: tf.random.uniform([]))
    return varies([f() for _ in range(4)])


def case_random_draws_differ_inside(tf):
    f = tf.function(lambda: (tf.random.uniform([]), tf.random.uniform([])))
    a, b = f()
    c, d = f()
    return varies([a, b, c, d])


def case_set_seed_repeats(tf):
    @tf.function
    def f():
        return tf.random.normal([3])

    tf.random.set_seed(1)
    a, b = f(), f()

    @tf.function
    def g():
        return tf.random.normal([3])

    tf.random.set_seed(1)
    c, d = g(), g()
    return bool(np.array_equal(a, c)), bool(np.array_equal(b, d)), bool(np.array_equal(a, b))


def case_op_seed_repeats_between_functions(tf):
    def f():
        return tf.random.uniform([2], seed=5)

    tf.random.set_seed(3)
    one, two = tf.function(f), tf.function(f)
    a, b, c, d = one(), one(), two(), two()
    same = lambda x, y: bool(np.array_equal(x, y))
    return same(a, c), same(b, d), same(a, b)


def case_random_generator(tf):
    g = tf.random.Generator.from_seed(1)
    h = tf.random.Generator.from_seed(1)
    f = tf.function(lambda: g.normal([2]))
    a, b = f(), f()
    c, d = h.normal([2]), h.normal([2])
    return bool(np.allclose(a, c)), bool(np.allclose(b, d)), bool(np.allclose(a, b))


def case_random_generator_made_inside(tf):
    class Model:
        g = None

        @tf.function
        def __call__(self):
            if self.g is None:
                self.g = tf.random.Generator.from_seed(7)
            return self.g.uniform([])

    m = Model()
    return varies([m(), m(), m()])


def case_random_generator_as_argument(tf):
    @tf.function
    def f(g):
        return g.uniform([])

    g = tf.random.Generator.from_seed(7)
    h = tf.random.Generator.from_seed(7)
    return attempt(lambda: bool(f(g) == h.uniform([])), words=0)


def case_stateless_random(tf):
    @tf.function
    def f(seed):
        return tf.random.stateless_uniform([3], seed=seed)

    a, b, c = f(tf.constant([1, 2])), f(tf.constant([1, 2])), f(tf.constant([1, 3]))
    eager = tf.random.stateless_uniform([3], seed=[1, 2])
    same = lambda x, y: bool(np.array_equal(x, y))
    return same(a, b), same(a, c), same(a, eager)


def case_dropout(tf):
    f = tf.function(lambda x: tf.nn.dropout(x, 0.5))
    x = tf.ones([64])
    a, b = f(x), f(x)
    return bool(np.array_equal(a, b)), sorted({float(v) for v in a.numpy()})


def case_shuffle(tf):
    f = tf.function(lambda x: tf.random.shuffle(x))
    a, b = f(tf.range(50)), f(tf.range(50))
    return sorted(a.numpy().tolist()) == list(range(50)), bool(np.array_equal(a, b))


# --- optimizers and training steps


def train(tf, make, steps=3):
    w = tf.Variable([1.0, 2.0])
    optimizer = make(tf)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((w * x - 1.0) ** 2)
        grads = tape.gradient(loss, [w])
        optimizer.apply_gradients(zip(grads, [w]))
        return loss

    return (
        [step(tf.constant([1.0, -1.0])) for _ in range(steps)],
        w,
        int(optimizer.iterations.numpy()),
    )


CASES = {
    f"optimizer {name}": lambda tf, make=make: train(tf, make)
    for name, make in {
        "sgd": lambda tf: tf.optimizers.SGD(0.1),
        "momentum": lambda tf: tf.optimizers.SGD(0.1, momentum=0.9),
        "nesterov": lambda tf: tf.optimizers.SGD(0.1, momentum=0.9, nesterov=True),
        "adam": lambda tf: tf.optimizers.Adam(0.1),
        "rmsprop": lambda tf: tf.optimizers.RMSprop(0.1),
        "adagrad": lambda tf: tf.optimizers.Adagrad(0.1),
        "clipped": lambda tf: tf.optimizers.SGD(0.1, global_clipnorm=1.0),
        "schedule": lambda tf: tf.optimizers.SGD(
            tf.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)
        ),
    }.items()
}


def case_optimizer_built_first(tf):
    w = tf.Variable(1.0)
    optimizer = tf.optimizers.Adam(0.1)
    optimizer.build([w])

    @tf.function
    def step():
        optimizer.apply_gradients([(w * 2.0, w)])

    step()
    step()
    return w, int(optimizer.iterations.numpy())


def case_learning_rate_changed_between_steps(tf):
    w = tf.Variable(10.0)
    optimizer = tf.optimizers.SGD(1.0)

    @tf.function
    def step():
        optimizer.apply_gradients([(tf.constant(1.0), w)])
        return w.read_value()

    first = step()
    optimizer.learning_rate = 0.1
    return first, step()


def case_two_optimizers_in_one_function(tf):
    a, b = tf.Variable(1.0), tf.Variable(1.0)
    fast, slow = tf.optimizers.SGD(1.0), tf.optimizers.SGD(0.1)

    @tf.function
    def step():
        with tf.GradientTape(persistent=True) as tape:
            loss = a * a + b * b
        fast.apply_gradients([(tape.gradient(loss, a), a)])
        slow.apply_gradients([(tape.gradient(loss, b), b)])
        return loss

    return [step() for _ in range(2)], a, b


def case_manual_step(tf):
    w, b = tf.Variable(0.0), tf.Variable(0.0)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((w * x + b - y) ** 2)
        dw, db = tape.gradient(loss, [w, b])
        w.assign_sub(0.1 * dw)
        b.assign_sub(0.1 * db)
        return loss

    x, y = tf.constant([0.0, 1.0, 2.0]), tf.constant([1.0, 3.0, 5.0])
    return [step(x, y) for _ in range(5)], w, b


def case_step_called_on_two_batches_sizes(tf):
    w = tf.Variable([[1.0], [1.0]])
    shapes = []

    @tf.function
    def step(x):
        shapes.append(x.shape)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ w) ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    return step(tf.ones([4, 2])), step(tf.ones([3, 2])), step(tf.ones([4, 2])), w, shapes


def case_exponential_moving_average(tf):
    class Average(tf.Module):
        def __init__(self):
            self.mean = tf.Variable(0.0, trainable=False)

        @tf.function
        def __call__(self, x, training=True):
            if training:
                self.mean.assign(0.9 * self.mean + 0.1 * tf.reduce_mean(x))
            return x - self.mean

    a = Average()
    x = tf.constant([1.0, 3.0])
    return a(x), a(x, training=False), a(x), a.mean


@options(words=3)
def case_non_trainable_state_of_any_dtype(tf):
    history = tf.Variable(tf.zeros([3], tf.int64))
    place = tf.Variable(0)

    @tf.function
    def push(x):
        history[place.read_value() % 3].assign(x)
        place.assign_add(1)

    for n in range(5):
        push(tf.constant(n, tf.int64))
    return history, place


def case_attempts_in_one_function(tf):
    return attempts(
        tf,
        {
            "tuple": lambda tf: tf.function(lambda x: tf.tuple([x, x]))(tf.constant(1)),
            "identity_n": lambda tf: tf.function(lambda x: tf.identity_n([x, x]))(tf.constant(1)),
        },
        words=0,
    )


def case_numpy_function_gives_a_list(tf):
    def filled(x):
        return np.full((2, 2), x, np.float32)

    def first(x):
        return tf.numpy_function(filled, [x], [tf.float32])[0]

    def unpacked(x):
        (y,) = tf.numpy_function(filled, [x], [tf.float32])
        return y + 1.0

    def single(x):
        return tf.numpy_function(filled, [x], tf.float32)

    found = []
    for function in (first, unpacked, single):
        traced = tf.function(function)
        found.append([traced(tf.constant(x)) for x in (1.0, 2.0, 3.0)])
        found.append(list(tf.data.Dataset.from_tensor_slices([1.0, 2.0]).map(function)))
        found.append(attempt(function, tf.constant(1.0)))
    return found


def case_numpy_function_fails(tf):
    def failing(error):
        def fails(x):
            raise error

        traced = tf.function(lambda x: tf.numpy_function(fails, [x], tf.float32))
        return attempt(traced, tf.constant(1.0), words=0)

    errors = ValueError("v"), TypeError("t"), KeyError("k"), NotImplementedError("n"), MemoryError()
    several = tf.function(lambda x: tf.numpy_function(lambda x: (x, x), [x], tf.float32))
    wrong = tf.function(lambda x: tf.numpy_function(3, [x], tf.float32))
    calls = [attempt(f, tf.constant(1.0), words=0) for f in (several, wrong)]
    return [failing(error) for error in errors], calls


def case_py_function_of_composites(tf):
    ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
    sparse = tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])
    rows = tf.RaggedTensorSpec([None, None], tf.float32)

    def total(x):
        return tf.py_function(tf.reduce_sum, [x], tf.float32)

    def scaled(x):
        return tf.py_function(lambda x, k: (x * k, k), [x, 3.0], [rows, tf.float32])

    def doubled(x):
        spec = tf.SparseTensorSpec([2, 2], tf.float32)
        return tf.py_function(lambda x: tf.sparse.map_values(tf.add, x, 1.0), [x], spec)

    def made(x):
        lengths = tf.constant([2, 0], tf.int64)
        return tf.py_function(
            lambda v, n: tf.RaggedTensor.from_row_lengths(v, n), [[1.0, 2.0], lengths], rows
        )

    found = []
    for function, x in ((total, ragged), (scaled, ragged), (doubled, sparse), (made, ragged)):
        traced = tf.function(function)
        values = [function(x), *[traced(x) for _ in range(3)]]
        found.append([tf.nest.flatten(value, expand_composites=True) for value in values])
    return found


def case_checks_in_what_a_function_differentiates(tf):
    @tf.function
    def branched(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x)
            if y > 0.0:
                tf.debugging.Assert(y > 100.0, [x])
                y = y * y
        return tape.gradient(y, x)

    @tf.function
    def looped(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            while tf.reduce_sum(y) < 10.0:
                tf.debugging.Assert(tf.reduce_all(y > 0.0), [y])
                y = y * 2.0
        return tape.gradient(y, x)

    given = [tf.constant(x) for x in ([1.0, 2.0], [200.0, 1.0], [-5.0, 1.0])]
    return [attempt(f, x, words=0) for _ in range(6) for f in (branched, looped) for x in given]


def case_variables_made_in_a_function_that_a_function_calls(tf):
    """Their first values are worked out of what the outer calls were given."""

    def calling(initial, depth, scale):
        made = []

        @tf.function
        def inner(x):
            if not made:
                made.append(tf.Variable(initial(x), name="w"))
            return tf.reduce_sum(made[0] * x)

        outer = inner
        for _ in range(depth):
            outer = tf.function(lambda x, f=outer: f(x * scale) + 1.0)
        return outer(tf.constant(2.0)), outer(tf.constant(3.0)), made[0].numpy()

    initials = {
        "constants": lambda x: tf.zeros([2]) + 1.0,
        "random": lambda x: tf.random.stateless_uniform([2], [1, 2]),
        "argument": lambda x: tf.stack([x, 2.0 * x]),
        "shape": lambda x: tf.zeros_like(x) + 5.0,
        "branches": lambda x: tf.cond(x > 3.0, lambda: x * 2.0, lambda: x * 3.0),
        "function": lambda x: lambda: tf.ones([2]) * 2.0,
    }
    found = {}
    for name, initial in initials.items():
        for depth, scale in ((1, 1.0), (1, 10.0), (2, 10.0)):
            found[name, depth, scale] = calling(initial, depth, scale)
    return found


def case_variables_made_of_what_an_outer_function_has(tf):
    made, counter = [], tf.Variable(1.0)

    @tf.function
    def outer(x):
        y, draw = x * 2.0, tf.random.uniform([])

        @tf.function
        def inner():
            z = y + 1.0
            counter.assign_add(1.0)
            if not made:
                values = (tf.zeros([2]) + 1.0, y * 3.0, counter * 10.0)
                made.extend(tf.Variable(value) for value in values)
            return made[0] * z + draw * 0.0

        return inner()

    results = [outer(tf.constant(x)) for x in (2.0, 5.0)]
    return results, [v.numpy() for v in made], counter.numpy()


def case_effects_before_a_variable_is_made(tf):
    """They are no part of its first value."""
    made = []

    @tf.function
    def f(x):
        tf.print("called with", x)
        if not made:
            made.append(tf.Variable(tf.zeros([2]) + x))
        return made[0] * x

    with printed() as lines:
        results = [f(tf.constant(x)) for x in (2.0, 3.0)]
    return results, lines


def case_recompute_grad_of_checks(tf):
    @tf.recompute_grad
    def block(x):
        tf.debugging.assert_less(x, 5.0)
        return x * x

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = block(x)
        return y, tape.gradient(y, x)

    functions = (block, gradient, tf.function(block), tf.function(gradient))
    return [attempt(f, tf.constant(x), words=0) for f in functions for x in (2.0, 7.0)]
