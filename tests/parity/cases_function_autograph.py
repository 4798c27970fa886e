"""AutoGraph: `if`, `while`, `for` over tensors in a `tf.function`, its rules and its limits."""

import functools

import numpy as np

from .harness import attempt, attempts, messages, printed

NEEDS = ("function", "autograph")


def calls(f, *values):
    return [f(value) for value in values]


# --- if


def case_if(tf):
    @tf.function
    def f(x):
        if x > 0:
            y = x * 2
        else:
            y = -x
        return y

    return calls(f, tf.constant(3), tf.constant(-3)), f.experimental_get_tracing_count()


def case_if_without_else(tf):
    @tf.function
    def f(x):
        y = x
        if x > 0:
            y = y * 10
        return y

    return calls(f, tf.constant(3), tf.constant(-3))


def case_elif(tf):
    @tf.function
    def fizzbuzz(n):
        if n % 15 == 0:
            y = tf.constant(15)
        elif n % 5 == 0:
            y = tf.constant(5)
        elif n % 3 == 0:
            y = tf.constant(3)
        else:
            y = n
        return y

    return calls(fizzbuzz, *[tf.constant(n) for n in (30, 10, 9, 7)])


def case_if_of_python(tf):
    traced = []

    @tf.function
    def f(x, flag):
        if flag:
            traced.append("yes")
            return x
        traced.append("no")
        return -x

    x = tf.constant(1)
    return f(x, True), f(x, False), f(x, True), traced


def case_if_traces_both_branches(tf):
    traced = []

    @tf.function
    def f(x):
        if x > 0:
            traced.append("yes")
        else:
            traced.append("no")
        return x

    f(tf.constant(1))
    f(tf.constant(-1))
    return traced


def case_if_runs_one_branch(tf):
    @tf.function
    def f(x):
        if x > 0:
            tf.print("yes")
        else:
            tf.print("no")

    with printed() as lines:
        calls(f, tf.constant(1), tf.constant(-1))
    return lines


def case_return_in_branches(tf):
    @tf.function
    def f(x):
        if x > 10:
            return x * 100
        if x > 0:
            return x * 10
        return x

    return calls(f, tf.constant(20), tf.constant(5), tf.constant(-5))


def case_return_in_one_branch_only(tf):
    @tf.function
    def f(x):
        if x > 0:
            return x

    return attempt(f, tf.constant(1), words=0)


def case_return_none_in_branches(tf):
    v = tf.Variable(0)

    @tf.function
    def f(x):
        if x > 0:
            v.assign(1)
            return
        v.assign(-1)

    return f(tf.constant(1)), v.numpy(), f(tf.constant(-1)), v.numpy()


def case_if_nested(tf):
    @tf.function
    def f(x, y):
        if x > 0:
            if y > 0:
                z = x + y
            else:
                z = x - y
        else:
            z = y
        return z

    one, minus = tf.constant(1), tf.constant(-1)
    return f(one, one), f(one, minus), f(minus, one)


def case_undefined_in_one_branch(tf):
    @tf.function
    def f(x):
        if x > 0:
            y = x * 2
        return y

    return attempt(f, tf.constant(1), words=0)


def case_undefined_but_not_used(tf):
    @tf.function
    def f(x):
        z = x
        if x > 0:
            y = x * 2
            z = y + 1
        return z

    return calls(f, tf.constant(1), tf.constant(-1))


def case_undefined_message(tf):
    @tf.function
    def f(x):
        if x > 0:
            value = x * 2
        return value

    try:
        f(tf.constant(1))
    except Exception as error:
        return type(error).__name__, "'value'" in str(error), "else" in str(error)


def case_dtypes_of_branches_differ(tf):
    @tf.function
    def f(x):
        if x > 0:
            y = tf.constant(1)
        else:
            y = tf.constant(1.0)
        return y

    return attempt(f, tf.constant(1), words=0)


def case_dtypes_of_branches_message(tf):
    @tf.function
    def f(x):
        if x > 0:
            value = tf.constant(1)
        else:
            value = tf.constant(1.0)
        return value

    try:
        f(tf.constant(1))
    except TypeError as error:
        text = str(error)
        return [part in text for part in ("value", "int32", "float32", "cases_function_autograph")]


def case_shapes_of_branches_differ(tf):
    seen = []

    @tf.function
    def f(x):
        if x > 0:
            y = tf.ones([2])
        else:
            y = tf.ones([3])
        seen.append(str(y.shape))
        return y

    return calls(f, tf.constant(1), tf.constant(-1)), seen


def case_structures_of_branches_differ(tf):
    @tf.function
    def f(x):
        if x > 0:
            y = (x, x)
        else:
            y = x
        return y

    return attempt(f, tf.constant(1), words=0)


def case_python_values_in_branches(tf):
    @tf.function
    def f(x):
        if x > 0:
            n = 1
        else:
            n = 2
        return x * n, n

    return calls(f, tf.constant(10), tf.constant(-10))


def case_python_strings_in_branches(tf):
    @tf.function
    def f(x):
        if x > 0:
            s = "positive"
        else:
            s = "negative"
        return s

    return attempt(lambda: calls(f, tf.constant(1), tf.constant(-1)), words=0)


def case_none_in_one_branch(tf):
    @tf.function
    def f(x):
        y = None
        if x > 0:
            y = x
        return y

    return attempt(f, tf.constant(1), words=0)


def case_attribute_set_in_a_branch(tf):
    class Box:
        pass

    @tf.function
    def f(x):
        box = Box()
        box.value = x
        if x > 0:
            box.value = x * 10
        return box.value

    return calls(f, tf.constant(1), tf.constant(-1))


def case_dict_item_set_in_a_branch(tf):
    @tf.function
    def f(x):
        d = {"a": x}
        if x > 0:
            d["a"] = x * 10
        return d["a"]

    return calls(f, tf.constant(1), tf.constant(-1))


def case_assign_in_a_branch(tf):
    v = tf.Variable(0)

    @tf.function
    def f(x):
        if x > 0:
            v.assign_add(x)
        return v.read_value()

    return calls(f, tf.constant(5), tf.constant(-5), tf.constant(1)), v


def case_if_gradient(tf):
    @tf.function
    def f(x):
        if x > 0.0:
            return x * x
        return tf.exp(x)

    results = []
    for value in (3.0, -1.0):
        x = tf.constant(value)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        results.append((y, tape.gradient(y, x)))
    return results


def case_if_vector_condition(tf):
    @tf.function
    def f(x):
        if x > 0:
            return x
        return -x

    return attempt(f, tf.constant([1, 2]), words=0)


def case_if_of_a_number(tf):
    @tf.function
    def f(x):
        if x:
            return tf.constant("true")
        return tf.constant("false")

    return attempt(lambda: calls(f, tf.constant(1), tf.constant(0)), words=0)


def case_ternary(tf):
    @tf.function
    def f(x):
        return x * 2 if x > 0 else -x

    return calls(f, tf.constant(3), tf.constant(-3))


def case_ternary_in_a_lambda(tf):
    f = tf.function(lambda x: x * 2 if x > 0 else -x)
    return calls(f, tf.constant(3), tf.constant(-3))


def case_ternary_nested(tf):
    @tf.function
    def f(x):
        return tf.constant(1) if x > 0 else (tf.constant(0) if x == 0 else tf.constant(-1))

    return calls(f, tf.constant(3), tf.constant(0), tf.constant(-3))


# --- and, or, not, comparisons


def case_and_or_not(tf):
    @tf.function
    def f(x):
        return x > 0 and x < 10, x < 0 or x > 10, not x > 0

    return calls(f, tf.constant(5), tf.constant(50), tf.constant(-5))


def case_and_is_lazy(tf):
    @tf.function
    def f(x):
        if tf.size(x) > 0 and x[0] > 0:
            return tf.constant(1)
        return tf.constant(0)

    return calls(f, tf.constant([1]), tf.constant([-1]))


def case_chained_comparison(tf):
    @tf.function
    def f(x):
        if 0 < x < 10:
            return tf.constant(True)
        return tf.constant(False)

    return calls(f, tf.constant(5), tf.constant(50), tf.constant(-5))


def case_equality(tf):
    @tf.function
    def f(x, y):
        if x == y:
            return tf.constant("equal")
        if x != y:
            return tf.constant("different")
        return tf.constant("never")

    return f(tf.constant(1), tf.constant(1)), f(tf.constant(1), tf.constant(2))


def case_is_and_in(tf):
    @tf.function
    def f(x, y):
        if y is None:
            return x
        if "a" in {"a": 1}:
            return x + y
        return x

    return f(tf.constant(1), None), f(tf.constant(1), tf.constant(2))


def case_mixed_python_and_tensor_conditions(tf):
    @tf.function
    def f(x, flag):
        if flag and x > 0:
            return x * 2
        return x

    return [f(tf.constant(n), flag) for n in (1, -1) for flag in (True, False)]


# --- while


def case_while(tf):
    @tf.function
    def f(x):
        while tf.reduce_sum(x) > 1:
            x = x / 2.0
        return x

    return f(tf.constant([5.0, 3.0])), f(tf.constant([0.1]))


def case_while_counts(tf):
    @tf.function
    def f(n):
        i, total = 0, 0
        while i < n:
            total += i
            i += 1
        return i, total

    return calls(f, tf.constant(5), tf.constant(0), 4)


def case_while_of_python(tf):
    @tf.function
    def f(x):
        n = 0
        while n < 3:
            x = x * 2
            n += 1
        return x, n

    return f(tf.constant(1))


def case_while_true_break(tf):
    @tf.function
    def f(x):
        while True:
            x = x * 2
            if x > 50:
                break
        return x

    return attempt(lambda: calls(f, tf.constant(3), tf.constant(100)), words=0)


def case_break(tf):
    @tf.function
    def f(n):
        i = tf.constant(0)
        while i < n:
            if i * i > 10:
                break
            i += 1
        return i

    return calls(f, tf.constant(2), tf.constant(100))


def case_continue(tf):
    @tf.function
    def f(n):
        total = tf.constant(0)
        for i in tf.range(n):
            if i % 2 == 0:
                continue
            total += i
        return total

    return calls(f, tf.constant(6), tf.constant(0))


def case_break_and_continue(tf):
    @tf.function
    def f(n):
        total = tf.constant(0)
        i = tf.constant(0)
        while i < n:
            i += 1
            if i % 3 == 0:
                continue
            if i > 7:
                break
            total += i
        return total, i

    return calls(f, tf.constant(5), tf.constant(100))


def case_while_else(tf):
    @tf.function
    def f(n):
        i = 0
        while i < n:
            i += 1
        else:
            i = -1
        return i

    return attempt(f, tf.constant(3), words=0)


def case_return_in_a_loop(tf):
    @tf.function
    def f(x):
        for i in tf.range(10):
            if i * i > x:
                return i
        return tf.constant(-1)

    return calls(f, tf.constant(10), tf.constant(1000))


def case_return_in_a_while(tf):
    @tf.function
    def f(x):
        i = tf.constant(0)
        while i < 10:
            if i * i > x:
                return i, x
            i += 1
        return i, -x

    return calls(f, tf.constant(10), tf.constant(1000))


def case_while_gradient(tf):
    @tf.function
    def f(x):
        y = x
        while y < 100.0:
            y = y * x
        return y

    results = []
    for value in (2.0, 3.0, 200.0):
        x = tf.constant(value)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        results.append((y, tape.gradient(y, x)))
    return results


def case_while_dtype_changes(tf):
    @tf.function
    def f(n):
        x = 0
        while x < n:
            x = x + 0.5
        return x

    return attempt(f, tf.constant(3.0), words=0), attempt(f, tf.constant(3), words=0)


def case_while_dtype_change_message(tf):
    @tf.function
    def f(n):
        total = tf.constant(0)
        while tf.cast(total, tf.float32) < n:
            total = tf.cast(total, tf.float32) + 0.5
        return total

    try:
        f(tf.constant(3.0))
    except TypeError as error:
        text = str(error)
        return [part in text for part in ("total", "int32", "float32", "dtype")]


def case_while_shape_changes(tf):
    @tf.function
    def f(x):
        while tf.size(x) < 10:
            x = tf.concat([x, x], 0)
        return x

    return attempt(f, tf.ones([1]), words=0)


def case_while_shape_change_message(tf):
    @tf.function
    def f(rows):
        while tf.size(rows) < 10:
            rows = tf.concat([rows, rows], 0)
        return rows

    try:
        f(tf.ones([1]))
    except ValueError as error:
        text = str(error)
        return [part in text for part in ("rows", "(1,)", "(2,)", "shape_invariants")]


def case_while_shape_invariants(tf):
    @tf.function
    def f(x):
        while tf.size(x) < 10:
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(x, tf.TensorShape([None]))]
            )
            x = tf.concat([x, x], 0)
        return x

    return f(tf.ones([1])), f(tf.ones([3]))


def case_loop_options(tf):
    @tf.function
    def f(n):
        total = tf.constant(0)
        for i in tf.range(n):
            tf.autograph.experimental.set_loop_options(
                parallel_iterations=1, swap_memory=True, maximum_iterations=3
            )
            total += i
        return total

    return calls(f, tf.constant(2), tf.constant(10))


def case_undefined_before_a_loop(tf):
    @tf.function
    def f(n):
        for i in tf.range(n):
            y = i * 2
        return y

    return attempt(f, tf.constant(3), words=0)


def case_undefined_before_a_while(tf):
    @tf.function
    def f(n):
        i = tf.constant(0)
        while i < n:
            y = i * 2
            i += 1
        return y

    return attempt(f, tf.constant(3), words=0)


def case_for_over_ragged_rows(tf):
    @tf.function
    def totals(x):
        total = 0
        for row in x:
            if tf.size(row) > 2:
                break
            total = total * 10 + tf.reduce_sum(row)
        return total

    @tf.function
    def lengths(x):
        found = tf.TensorArray(tf.int32, tf.cast(x.nrows(), tf.int32))
        i = 0
        for row in x:
            found = found.write(i, tf.size(row))
            i += 1
        return found.stack()

    rows = [tf.ragged.constant(x) for x in ([[1, 2], [3], []], [[1], [1, 2, 3], [4]])]
    return [(totals(x), lengths(x)) for x in rows]


def case_undefined_before_a_loop_of_unknown_sizes(tf):
    @tf.function
    def f(n):
        for i in tf.range(n):
            rows = {"a": tf.zeros([1, i]), "b": [tf.range(i), tf.ones([2, 3])]}
        return rows

    @tf.function
    def g(n):
        i = 0
        while i < n:
            rows = tf.zeros([1, i, 2])
            i += 1
        return rows, i

    return f(tf.constant(3)), f(tf.constant(1)), g(tf.constant(4)), attempt(g, 3), g(tf.constant(2))


def case_local_to_the_loop(tf):
    @tf.function
    def f(n):
        total = tf.constant(0)
        for i in tf.range(n):
            square = i * i
            total += square
        return total

    return f(tf.constant(4))


def case_none_before_a_loop(tf):
    @tf.function
    def f(n):
        y = None
        for i in tf.range(n):
            y = i
        return y

    return attempt(f, tf.constant(3), words=0)


def case_structure_in_a_loop(tf):
    @tf.function
    def f(n):
        state = {"a": tf.constant(0), "b": (tf.constant(1), tf.constant(2))}
        for i in tf.range(n):
            state = {"a": state["a"] + i, "b": (state["b"][1], state["b"][0])}
        return state

    return calls(f, tf.constant(3), tf.constant(0))


def case_structure_changes_in_a_loop(tf):
    @tf.function
    def f(n):
        state = (tf.constant(0),)
        for i in tf.range(n):
            state = (i, i)
        return state

    return attempt(f, tf.constant(3), words=0)


def case_attribute_in_a_loop(tf):
    class Box:
        def __init__(self):
            self.total = tf.constant(0)

    @tf.function
    def f(n):
        box = Box()
        for i in tf.range(n):
            box.total += i
        return box.total

    return calls(f, tf.constant(4), tf.constant(0))


def case_assign_in_a_loop(tf):
    v = tf.Variable(0)

    @tf.function
    def f(n):
        for i in tf.range(n):
            v.assign_add(i)
        return v.read_value()

    return calls(f, tf.constant(4), tf.constant(4)), v


def case_print_in_a_loop(tf):
    @tf.function
    def f(n):
        for i in tf.range(n):
            tf.print("turn", i)

    with printed() as lines:
        f(tf.constant(3))
    return lines


# --- for


def case_for_over_a_tensor(tf):
    @tf.function
    def f(x):
        total = tf.zeros([2])
        for row in x:
            total = total * 2.0 + row
        return total

    return f(tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))


def case_for_over_range(tf):
    @tf.function
    def f(a, b, c):
        total = tf.constant(0)
        for i in tf.range(a, b, c):
            total = total * 10 + i
        return total

    ints = [tf.constant(n) for n in (1, 6, 2, 5, 0, -2)]
    return f(*ints[:3]), f(*ints[3:])


def case_for_over_a_float_range(tf):
    @tf.function
    def f(n):
        total = 0.0
        for x in tf.range(0.0, n, 0.5):
            total += x
        return total

    return f(tf.constant(2.0))


def case_for_over_python_range_unrolls(tf):
    traced = []

    @tf.function
    def f(x, n):
        for i in range(n):
            traced.append(i)
            x += i
        return x

    return f(tf.constant(0), 3), f(tf.constant(0), 3), traced


def case_for_over_tf_range_traces_once(tf):
    traced = []

    @tf.function
    def f(n):
        total = tf.constant(0)
        for i in tf.range(n):
            traced.append(1)
            total += i
        return total

    return f(tf.constant(5)), f(tf.constant(3)), len(traced)


def case_for_over_a_list_of_tensors(tf):
    @tf.function
    def f(items):
        total = tf.constant(0)
        for x in items:
            if x > 0:
                total += x
        return total

    return f([tf.constant(1), tf.constant(-2), tf.constant(3)])


def case_for_over_dict_zip_enumerate(tf):
    @tf.function
    def f(d, x):
        total = tf.constant(0)
        for key, value in d.items():
            total += value * len(key)
        for i, (a, b) in enumerate(zip([1, 2], [3, 4])):
            total += i * a * b
        return total + x

    return f({"a": tf.constant(1), "bb": tf.constant(2)}, tf.constant(0))


def case_for_enumerate_a_tensor(tf):
    @tf.function
    def f(x):
        total = tf.constant(0)
        for i, value in enumerate(x):
            total += i * value
        return total

    return attempt(f, tf.constant([1, 2, 3]), words=0)


def case_for_zip_tensors(tf):
    @tf.function
    def f(x, y):
        total = tf.constant(0)
        for a, b in zip(x, y):
            total += a * b
        return total

    return attempt(f, tf.constant([1, 2]), tf.constant([3, 4]), words=0)


def case_for_unpacks_rows(tf):
    @tf.function
    def f(x):
        total = tf.constant(0)
        for a, b in x:
            total += a * b
        return total

    return attempt(f, tf.constant([[1, 2], [3, 4]]), words=0)


def case_for_over_an_unknown_size(tf):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def f(x):
        total = tf.constant(0)
        for value in x:
            total = total * 10 + value
        return total

    return calls(f, tf.constant([1, 2]), tf.constant([3, 4, 5]), tf.zeros([0], tf.int32))


def case_for_over_a_scalar(tf):
    @tf.function
    def f(x):
        for i in x:
            tf.print(i)

    return attempt(f, tf.constant(1), words=0)


def case_for_over_a_tensor_array(tf):
    @tf.function
    def f(x):
        a = tf.TensorArray(tf.float32, size=3).unstack(x)
        total = tf.constant(0.0)
        for value in a:
            total = total * 10.0 + value
        return total

    return attempt(f, tf.constant([1.0, 2.0, 3.0]), words=0)


def case_for_break(tf):
    @tf.function
    def f(x):
        found = tf.constant(-1)
        for i in tf.range(tf.size(x)):
            if x[i] > 2:
                found = i
                break
        return found

    return calls(f, tf.constant([1, 2, 3, 4]), tf.constant([1, 1, 1, 1]))


def case_for_python_break_on_a_tensor(tf):
    @tf.function
    def f(x):
        total = tf.constant(0)
        for i in range(5):
            if x < i:
                break
            total += i
        return total

    return attempt(lambda: calls(f, tf.constant(2), tf.constant(10)), words=0)


def case_for_else(tf):
    @tf.function
    def f(x):
        for i in tf.range(3):
            x += i
        else:
            x *= 10
        return x

    return attempt(f, tf.constant(1), words=0)


def case_nested_loops(tf):
    @tf.function
    def f(n):
        total = tf.constant(0)
        for i in tf.range(n):
            for j in tf.range(i):
                if (i + j) % 2 == 0:
                    continue
                total += i * j
        return total

    return calls(f, tf.constant(5), tf.constant(0))


def case_loop_variable_after_the_loop(tf):
    @tf.function
    def f(n):
        i = -1
        for i in tf.range(n):
            tf.identity(i)
        return i

    return attempt(lambda: calls(f, tf.constant(3), tf.constant(0)), words=0)


def case_for_gradient(tf):
    w = tf.Variable(0.5)

    @tf.function
    def f(x):
        h = tf.constant(0.0)
        for value in x:
            h = tf.tanh(h * w + value)
        return h

    x = tf.constant([0.1, 0.2, 0.3])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, [x, w])


def case_tape_inside_a_loop(tf):
    w = tf.Variable(4.0)

    @tf.function
    def fit(n):
        loss = tf.constant(0.0)
        for _ in tf.range(n):
            with tf.GradientTape() as tape:
                loss = (w - 1.0) ** 2
            w.assign_sub(0.25 * tape.gradient(loss, w))
        return loss

    return fit(tf.constant(3)), w


def case_loop_inside_a_tape_inside(tf):
    @tf.function
    def f(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.constant(1.0)
            for _ in tf.range(n):
                y *= x
        return tape.gradient(y, x)

    return f(tf.constant(2.0), tf.constant(3)), f(tf.constant(2.0), tf.constant(0))


# --- lists


def case_list_appended_in_a_python_loop(tf):
    @tf.function
    def f(x):
        rows = []
        for i in range(3):
            rows.append(x * i)
        return tf.stack(rows)

    return f(tf.constant([1, 2]))


def case_list_appended_in_a_tensor_loop(tf):
    @tf.function
    def f(n):
        rows = []
        for i in tf.range(n):
            rows.append(i)
        return tf.stack(rows)

    return attempt(f, tf.constant(3), words=0)


def case_list_appended_in_a_branch(tf):
    @tf.function
    def f(x):
        rows = [x]
        if x > 0:
            rows.append(x * 2)
        else:
            rows.append(-x)
        return tf.stack(rows)

    return attempt(lambda: calls(f, tf.constant(1), tf.constant(-1)), words=0)


def case_list_comprehension(tf):
    @tf.function
    def f(x):
        return tf.stack([x * i for i in range(3) if i != 1]), {k: x * ord(k) for k in "ab"}

    return f(tf.constant(2))


def case_tensor_array_in_a_loop(tf):
    @tf.function
    def f(n):
        rows = tf.TensorArray(tf.int32, size=n)
        for i in tf.range(n):
            rows = rows.write(i, i * i)
        return rows.stack()

    return calls(f, tf.constant(4), tf.constant(1))


def case_tensor_array_in_a_branch(tf):
    @tf.function
    def f(x):
        a = tf.TensorArray(tf.float32, size=1)
        if x > 0.0:
            a = a.write(0, x)
        else:
            a = a.write(0, -x)
        return a.stack()

    return calls(f, tf.constant(1.0), tf.constant(-2.0))


def case_tensor_list_grows_by_concat(tf):
    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def f(n):
        x = tf.zeros([0], tf.int32)
        for i in tf.range(n):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(x, tf.TensorShape([None]))]
            )
            x = tf.concat([x, [i * 2]], 0)
        return x

    return calls(f, tf.constant(3), tf.constant(0))


# --- assert, print, builtins


def case_assert(tf):
    @tf.function
    def f(x):
        assert x > 0, "must be positive"
        return x * 2

    return f(tf.constant(1)), attempt(lambda: f(tf.constant(-1)).numpy(), words=0)


def case_assert_of_python(tf):
    @tf.function
    def f(x, n):
        assert n > 0, "n must be positive"
        return x * n

    return f(tf.constant(1), 2), attempt(f, tf.constant(1), -2, words=0)


def case_python_print_runs_while_tracing(tf):
    import contextlib
    import io

    text = io.StringIO()

    @tf.function
    def f(x):
        print("tracing", x.dtype.name)
        return x

    with contextlib.redirect_stdout(text):
        f(tf.constant(1))
        f(tf.constant(1))
        f(tf.constant(1.0))
    return text.getvalue()


def case_builtins(tf):
    @tf.function
    def f(x):
        return {
            "len": len(x),
            "abs": abs(x),
            "max": max(1, 2),
            "sum": sum([1, 2, 3]),
            "int": int(2.5),
            "float": float(2),
            "any": any([False, True]),
            "all": all([True, True]),
            "sorted": sorted([3, 1, 2]),
            "map": list(map(str, [1, 2])),
            "filter": list(filter(lambda i: i > 1, [1, 2])),
            "enumerate": list(enumerate("ab")),
        }

    return f(tf.constant([-1, 2]))


def case_builtins_of_tensors(tf):
    def run(body):
        return tf.function(body)

    x, y = tf.constant(3), tf.constant(5)
    return attempts(
        tf,
        {
            "abs": lambda tf: run(lambda x: abs(x))(-x),
            "int": lambda tf: run(lambda x: int(x))(tf.constant(2.7)),
            "float": lambda tf: run(lambda x: float(x))(x),
            "max": lambda tf: run(lambda x, y: max(x, y))(x, y),
            "min": lambda tf: run(lambda x, y: min(x, y))(x, y),
            "sum": lambda tf: run(lambda x, y: sum([x, y]))(x, y),
            "range": lambda tf: run(lambda n: tf.reduce_sum([i + 1 for i in range(n)]))(x),
            "any": lambda tf: run(lambda x: any(x))(tf.constant([True, False])),
            "all": lambda tf: run(lambda x: all(x))(tf.constant([True, False])),
            "sorted": lambda tf: run(lambda x: sorted(x))(tf.constant([3, 1])),
            "map": lambda tf: run(lambda x: list(map(tf.square, x)))(tf.constant([3, 1])),
            "round": lambda tf: run(lambda x: round(x))(tf.constant(2.7)),
            "pow": lambda tf: run(lambda x: pow(x, 2))(x),
            "bool": lambda tf: run(lambda x: bool(x > 1))(x),
            "str": lambda tf: run(lambda x: tf.constant(str(x)))(x),
            "divmod": lambda tf: run(lambda x: divmod(x, 2))(x),
        },
        words=0,
    )


def case_range_of_a_tensor(tf):
    @tf.function
    def f(n):
        total = 0
        for i in range(n):
            total += i
        return total

    return attempt(lambda: calls(f, tf.constant(4), tf.constant(0)), words=0)


# --- what is converted


def case_called_functions_are_converted(tf):
    def sign(x):
        if x > 0:
            return tf.constant(1)
        return tf.constant(-1)

    @tf.function
    def f(x):
        return sign(x) * 10

    return calls(f, tf.constant(3), tf.constant(-3))


def case_called_methods_are_converted(tf):
    class Model:
        def __call__(self, x):
            if x > 0:
                return self.positive(x)
            return -x

        def positive(self, x):
            while x < 100:
                x *= 2
            return x

    f = tf.function(Model())
    return calls(f, tf.constant(3), tf.constant(-3))


def case_lambda_and_partial_are_converted(tf):
    def clip(x, limit):
        return x if x < limit else limit

    f = tf.function(functools.partial(clip, limit=tf.constant(5)))
    g = tf.function(lambda x: clip(x, 3))
    return f(tf.constant(9)), f(tf.constant(1)), g(tf.constant(9))


def case_decorated_function_is_converted(tf):
    def twice(g):
        @functools.wraps(g)
        def wrapper(x):
            return g(g(x))

        return wrapper

    @twice
    def halve_or_add(x):
        if x % 2 == 0:
            return x // 2
        return x + 1

    return calls(tf.function(halve_or_add), tf.constant(8), tf.constant(7))


def case_nested_function_is_converted(tf):
    @tf.function
    def f(x):
        def inner(y):
            if y > 0:
                return y
            return -y

        return inner(x) + inner(-x)

    return f(tf.constant(-4))


def case_autograph_off(tf):
    @tf.function(autograph=False)
    def f(x):
        if x > 0:
            return x
        return -x

    return attempt(f, tf.constant(1), words=0)


def case_autograph_off_loop(tf):
    @tf.function(autograph=False)
    def f(x):
        for row in x:
            tf.print(row)

    return attempt(f, tf.constant([1, 2]), words=0)


def case_do_not_convert(tf):
    @tf.autograph.experimental.do_not_convert
    def sign(x):
        if x > 0:
            return 1
        return -1

    @tf.function
    def f(x):
        return sign(x)

    return attempt(f, tf.constant(1), words=0), sign(tf.constant(3))


def case_do_not_convert_python_code(tf):
    @tf.autograph.experimental.do_not_convert
    def double(x):
        return x * 2 if isinstance(x, tf.Tensor) else x

    return tf.function(lambda x: double(x))(tf.constant(4))


def case_no_source(tf):
    space = {}
    exec("def f(x):\n    return x + 1", space)
    with messages(words=4) as lines:
        y = tf.function(space["f"])(tf.constant(1))
    return y, ["could not" in line or "AutoGraph" in line for line in lines]


def case_no_source_with_control_flow(tf):
    space = {}
    exec("def f(x):\n    if x > 0:\n        return x\n    return -x", space)
    return attempt(tf.function(space["f"]), tf.constant(1), words=0)


def case_generator_inside(tf):
    def numbers(n):
        for i in range(n):
            yield i * 2

    @tf.function
    def f(x):
        for i in numbers(3):
            x += i
        return x

    return f(tf.constant(0))


def case_try_except(tf):
    @tf.function
    def f(x):
        try:
            if x.shape[0] == 2:
                raise ValueError("two")
            return x
        except ValueError:
            return x * 10

    return f(tf.constant([1, 2])), f(tf.constant([1, 2, 3]))


def case_with_statement(tf):
    @tf.function
    def f(x):
        with tf.name_scope("part"):
            if x > 0:
                x = x * 2
        return x

    return calls(f, tf.constant(1), tf.constant(-1))


def case_global_statement(tf):
    @tf.function
    def f(x):
        global _COUNT
        _COUNT = 5
        if x > 0:
            x += _COUNT
        return x

    return calls(f, tf.constant(1), tf.constant(-1)), _COUNT


_COUNT = 0


def case_default_arguments(tf):
    def f(x, n=3, *, k=tf.constant(2)):
        if x > 0:
            return x * n * k
        return x

    return calls(tf.function(f), tf.constant(1), tf.constant(-1))


def case_star_arguments(tf):
    @tf.function
    def f(*xs, **named):
        total = tf.constant(0)
        for x in xs:
            if x > 0:
                total += x
        for value in named.values():
            total += value
        return total

    return f(tf.constant(1), tf.constant(-1), k=tf.constant(10))


def case_recursive_python(tf):
    @tf.function
    def f(x, depth):
        if depth == 0:
            return x
        if x > 0:
            x = x * 2
        return f(x, depth - 1)

    return f(tf.constant(1), 3), f(tf.constant(-1), 3)


def case_walrus_and_fstrings(tf):
    @tf.function
    def f(x):
        name = f"{x.dtype.name}"
        if (y := x * 2) > 4:
            y = y + len(name)
        return y

    return attempt(lambda: calls(f, tf.constant(1), tf.constant(3)), words=0)


def case_tuple_swap(tf):
    @tf.function
    def f(n):
        a, b = tf.constant(0), tf.constant(1)
        for _ in tf.range(n):
            a, b = b, a + b
        return a

    return calls(f, tf.constant(10), tf.constant(0))


def case_augmented_assignments(tf):
    @tf.function
    def f(x):
        for i in tf.range(1, 4):
            x += i
            x *= 2
            x -= 1
            x //= 2
        return x

    return f(tf.constant(1))


def case_slice_assignment_is_refused(tf):
    @tf.function
    def f(x):
        x[0] = 1
        return x

    return attempt(f, tf.constant([0, 0]), words=0)


def case_delete_in_a_branch(tf):
    @tf.function
    def f(x):
        y = x * 2
        if x > 0:
            z = y
            del z
        return y

    return attempt(f, tf.constant(1), words=0)


def case_super_and_class_cell(tf):
    class Base:
        def call(self, x):
            return x if x > 0 else -x

    class Derived(Base):
        @tf.function
        def call(self, x):
            return super().call(x) * 10

    d = Derived()
    return attempt(lambda: calls(d.call, tf.constant(2), tf.constant(-2)), words=0)


def case_to_graph(tf):
    def f(x):
        if x > 0:
            return x * 2
        return -x

    g = tf.autograph.to_graph(f)
    return g(tf.constant(3)), g(tf.constant(-3)), tf.function(g, autograph=False)(tf.constant(3))


def case_to_code(tf):
    def f(x):
        if x > 0:
            x = x * 2
        return x

    code = tf.autograph.to_code(f)
    return "def tf__f(x):" in code, "if_stmt" in code


def case_trace(tf):
    import contextlib
    import io

    text = io.StringIO()

    @tf.function
    def f(x):
        tf.autograph.trace("seen", x.shape)
        return x

    with contextlib.redirect_stdout(text):
        f(tf.constant(1))
        f(tf.constant(2))
    return text.getvalue()


def case_error_points_to_the_users_line(tf):
    def helper(x):
        raise RuntimeError("deep inside")

    @tf.function
    def f(x):
        if x > 0:
            y = helper(x)
        else:
            y = x
        return y

    try:
        f(tf.constant(1))
    except RuntimeError as error:
        text = str(error)
        return ["in helper" in text, "in f" in text, "y = helper(x)" in text, "deep inside" in text]


def case_error_in_a_loop_body(tf):
    @tf.function
    def f(x):
        for _ in tf.range(3):
            x = tf.matmul(x, x)
        return x

    try:
        f(tf.ones([2, 3]))
    except ValueError as error:
        return "cases_function_autograph.py" in str(error)


def case_error_in_the_condition(tf):
    @tf.function
    def f(x):
        while missing > 0:  # noqa: F821
            x += 1
        return x

    return attempt(f, tf.constant(1), words=0)


def case_parameters_named_as_outer_variables(tf):
    """What a lambda or an inner function calls its parameters is nothing that a branch sets."""

    @tf.function
    def f(x, v):
        def inner(y):
            if y > 0:
                z = tf.foldl(lambda i, x: x + i, v, 0.5 * x)
            else:
                z = x
            for _ in tf.range(2):

                def twice(x, *v, k=2.0):
                    return k * x

                z += twice(x) + v[0]
            return z

        return inner(x) + inner(-x)

    return calls(
        functools.partial(f, v=tf.constant([1.0, 2.0])), tf.constant(1.0), tf.constant(-2.0)
    )


# --- whole programs


def case_bisection(tf):
    @tf.function
    def root(a, b):
        for _ in tf.range(30):
            m = (a + b) / 2.0
            if m**3 - 2.0 > 0.0:
                b = m
            else:
                a = m
        return (a + b) / 2.0

    return root(tf.constant(0.0), tf.constant(2.0))


def case_bubble_sort(tf):
    @tf.function
    def sort(x):
        n = tf.size(x)
        for i in tf.range(n):
            for j in tf.range(n - i - 1):
                if x[j] > x[j + 1]:
                    x = tf.tensor_scatter_nd_update(x, [[j], [j + 1]], [x[j + 1], x[j]])
        return x

    return sort(tf.constant([5, 2, 9, 1, 3]))


def case_primes(tf):
    @tf.function
    def count(n):
        primes = tf.constant(0)
        for i in tf.range(2, n):
            prime = tf.constant(True)
            for j in tf.range(2, i):
                if i % j == 0:
                    prime = tf.constant(False)
                    break
            if prime:
                primes += 1
        return primes

    return count(tf.constant(20))


def case_rnn(tf):
    class Cell(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([[0.5, 0.1], [-0.2, 0.3]])

        @tf.function
        def __call__(self, x):
            state = tf.zeros([2])
            outputs = tf.TensorArray(tf.float32, size=tf.shape(x)[0])
            for i in tf.range(tf.shape(x)[0]):
                state = tf.tanh(tf.linalg.matvec(self.w, state) + x[i])
                outputs = outputs.write(i, state)
            return outputs.stack(), state

    cell = Cell()
    x = tf.reshape(tf.range(6.0), [3, 2]) / 10.0
    with tf.GradientTape() as tape:
        outputs, state = cell(x)
        loss = tf.reduce_sum(outputs**2) + tf.reduce_sum(state)
    return outputs, state, tape.gradient(loss, cell.w)


def case_training_loop_in_the_graph(tf):
    w, b = tf.Variable(0.0), tf.Variable(0.0)

    @tf.function
    def train(x, y, steps):
        loss = tf.constant(0.0)
        for step in tf.range(steps):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((w * x + b - y) ** 2)
            dw, db = tape.gradient(loss, [w, b])
            w.assign_sub(0.1 * dw)
            b.assign_sub(0.1 * db)
            if loss < 1e-3 and step > 2:
                break
        return loss

    x, y = tf.constant([0.0, 1.0, 2.0]), tf.constant([1.0, 3.0, 5.0])
    return attempt(train, x, y, tf.constant(20), words=0)


def case_early_stopping(tf):
    @tf.function
    def f(losses):
        best = tf.constant(np.inf, tf.float32)
        wait = tf.constant(0)
        for i in tf.range(tf.size(losses)):
            if losses[i] < best:
                best = losses[i]
                wait = 0
            else:
                wait += 1
                if wait >= 2:
                    return i
        return tf.constant(-1)

    return f(tf.constant([3.0, 2.0, 2.5, 2.6, 1.0])), f(tf.constant([3.0, 2.0, 1.0]))


def case_dynamic_programming(tf):
    @tf.function
    def longest(x):
        n = tf.size(x)
        best = tf.ones([n], tf.int32)
        for i in tf.range(1, n):
            for j in tf.range(i):
                if x[j] < x[i] and best[j] + 1 > best[i]:
                    best = tf.tensor_scatter_nd_update(best, [[i]], [best[j] + 1])
        return tf.reduce_max(best)

    return longest(tf.constant([3, 1, 4, 1, 5, 9, 2, 6]))
