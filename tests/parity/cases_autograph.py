"""AutoGraph's finer points: whole error messages, what is converted, ranges, its features.

The rules of the guide are in `cases_function_autograph`.
"""

import collections
import contextlib
import functools
import re

import numpy as np

from .harness import attempt, options, printed

NEEDS = ("function", "autograph")
WHOLE = 200  # words: whole messages


def told(tf, function, *values):
    """What a traced function gives, or all that its error says."""
    return attempt(tf.function(function), *map(tf.constant, values), words=WHOLE)


# --- Messages, with the user's lines.


def case_messages_of_conditionals(tf):
    def undefined_in_main(x):
        if x > 0:
            z = 1
        else:
            y = 1
            z = 2
        return y + z

    def undefined_item(x):
        d = {}
        if x > 0:
            d["a"] = 1
        return d

    def undefined_attribute(x):
        place = collections.Counter()
        if x > 0:
            place.v = 1
        return place.v

    def returns_in_main(x):
        if x > 0:
            return 1

    def none_in_else(x):
        y = None
        if x > 0:
            y = 1
        return y

    def none_in_main(x):
        y = 1
        if x > 0:
            y = None
        return y

    def bool_and_int(x):
        if x > 0:
            y = 1
        else:
            y = True
        return y

    def ternary(x):
        return 1 if x > 0 else 2.0

    def ternary_of_none(x):
        seen = []
        seen.append(1) if x > 0 else seen.append(2)
        return x

    programs = [undefined_in_main, undefined_item, undefined_attribute, returns_in_main]
    programs += [none_in_else, none_in_main, bool_and_int, ternary, ternary_of_none]
    return {program.__name__: told(tf, program, 3) for program in programs}


def case_messages_of_loops(tf):
    def read_first(x):
        for i in tf.range(x):
            y = y + i  # noqa: F821
        return y

    def dtype(x):
        y = 0
        while x > 0:
            y = 1.0
            x -= 1
        return y

    def shape(x):
        y = tf.zeros([1])
        while x > 0:
            y = tf.concat([y, y], 0)
            x -= 1
        return y

    def none_after(x):
        y = 1
        while x > 0:
            y = None
            x -= 1
        return y

    def returns(x):
        while x > 0:
            x -= 1
            if x == 2:
                return x
        return x

    def python_for(x):
        for i in range(3):
            if x > i:
                break
        return x

    def python_while(x):
        i = 0
        while i < 3:
            i += 1
            if x > i:
                break
        return x

    def becomes_a_tensor(x):
        done = False
        while not done:
            x += 1
            done = x > 5
        return x

    programs = [read_first, dtype, shape, none_after, returns, python_for, python_while]
    programs += [becomes_a_tensor]
    return {program.__name__: told(tf, program, 3) for program in programs}


def case_message_of_nested_calls(tf):
    def innermost(x):
        raise ValueError("innermost")

    def middle(x):
        y = innermost(x)
        return y

    def outer(x):
        if x > 0:
            y = middle(x)
        else:
            y = x
        return y

    @tf.autograph.experimental.do_not_convert
    def left(x):
        return innermost(x)

    def calls_left(x):
        return left(x)

    return told(tf, outer, 1), told(tf, calls_left, 1)


def case_wrong_calls(tf):
    def helper(x):
        return x

    def many(x):
        return helper(x, 2)

    def unknown(x):
        return no_such_name  # noqa: F821

    def deleted(x):
        y = x
        del y
        return y  # noqa: F821

    return [told(tf, program, 1) for program in (many, unknown, deleted)]


class Plain(Exception):
    pass


class Derived(ValueError):
    pass


def case_classes_of_errors(tf):
    def raising(error):
        def fails(x):
            raise error

        return told(tf, fails, 1)

    errors = [Plain("p"), Derived("d"), KeyError("k"), OSError("o"), ZeroDivisionError("z")]
    errors += [StopIteration("s"), NotImplementedError("n"), AssertionError("a"), IndexError("i")]
    return [raising(error) for error in errors]


def case_error_of_an_op_class(tf):
    def fails(x):
        raise tf.errors.InvalidArgumentError(None, None, "wrong")

    return told(tf, fails, 1)


def case_error_caught_in_the_function(tf):
    def helper(x):
        raise ValueError("helper")

    @tf.function
    def f(x):
        try:
            return helper(x)
        except ValueError as error:
            return x + len(str(error))

    return f(tf.constant(1))


# --- What is converted.


def case_callables(tf):
    def sign(x):
        if x > 0:
            return 1
        return -1

    class Callable:
        def __init__(self, factor):
            self.factor = factor

        def __call__(self, x, *, scale=1):
            return self.factor * scale * sign(x)

        @staticmethod
        def static(x):
            return sign(x) + 1

        @classmethod
        def of_class(cls, x):
            return cls.static(x) + 1

        @property
        def kind(self):
            return "callable"

    class Derived(Callable):
        def __call__(self, x, **options):
            return super().__call__(x, **options) + 10

    @tf.function
    def f(x):
        instance = Derived(3)
        bound = functools.partial(instance, scale=2)
        first = bound(x), Callable.static(x), instance.of_class(x)
        return first, len(instance.kind), [g(x) for g in (sign, lambda v: sign(-v))]

    return f(tf.constant(2)), tf.function(Callable(5))(tf.constant(-2))


def case_wrappers(tf):
    def doubled(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return 2 * function(*args, **kwargs)

        return wrapper

    @doubled
    def decorated(x, y=1):
        if x > 0:
            return x + y
        return x

    @functools.lru_cache
    def cached(n):
        return n + 1

    @functools.singledispatch
    def dispatched(x):
        if x > 0:
            return x
        return -x

    @contextlib.contextmanager
    def context(x):
        yield x + 1

    @tf.function
    def f(x):
        with context(x) as y:
            if y > 0:
                z = y
            else:
                z = -y
        return decorated(x), decorated(x, y=3), cached(4), dispatched(x), z

    return f(tf.constant(-2)), f(tf.constant(2))


def case_method_in_a_name_scope(tf):
    class Model(tf.Module):
        def __init__(self):
            super().__init__(name="model")
            self.w = tf.Variable(2.0)

        @tf.Module.with_name_scope
        def __call__(self, x):
            if x > 0:
                return x * self.w
            return -x

    model = Model()
    f = tf.function(lambda x: model(x) + 1.0)
    return f(tf.constant(2.0)), f(tf.constant(-2.0)), tf.function(model)(tf.constant(3.0))


def case_not_recursive(tf):
    def helper(x):
        if x > 0:
            return x
        return -x

    def program(x):
        return helper(x)

    one = tf.function(tf.autograph.to_graph(program, recursive=False), autograph=False)
    all_of_them = tf.function(tf.autograph.to_graph(program), autograph=False)
    return attempt(one, tf.constant(-2), words=5), all_of_them(tf.constant(-2))


def case_autograph_off_inside(tf):
    def helper(x):
        if x > 0:
            return x
        return -x

    off = tf.function(helper, autograph=False)
    on = tf.function(helper)
    calls_off = tf.function(lambda x: off(x))
    calls_on = tf.function(lambda x: on(x), autograph=False)
    return attempt(calls_off, tf.constant(-2), words=0), calls_on(tf.constant(-2))


def case_custom_gradients_are_left(tf):
    @tf.custom_gradient
    def f(x):
        if x > 0:
            y = x
        else:
            y = -x
        return y, lambda dy: dy

    @tf.custom_gradient
    def of_cond(x):
        return tf.cond(x > 0, lambda: x, lambda: -x), lambda dy: 3.0 * dy

    return (
        attempt(tf.function(lambda x: f(x)), tf.constant(-2.0), words=0),
        tf.function(lambda x: of_cond(x))(tf.constant(-2.0)),
    )


def case_lambdas_of_one_line(tf):
    two = [lambda x: x if x > 0 else -x, lambda x: 2 * x if x > 0 else -x]
    return attempt(tf.function(two[0]), tf.constant(-2), words=0)


def case_given_functions(tf):
    def helper(x):
        if x > 0:
            return x
        return -x

    def f(x):
        y = tf.cond(x > 5, lambda: x, lambda: helper(x))
        (z,) = tf.while_loop(lambda v: v < 5, lambda v: [helper(v) + 2], [x])
        return y, z

    return tf.function(f)(tf.constant(-2))


def case_python_runs_it_before(tf):
    seen = []

    @tf.function
    def f(x):
        for i in range(3):
            seen.append(i)
            if x > i:
                x += 1
        while len(seen) < 5:
            seen.append("w")
        for i in tf.range(2):
            seen.append("t")
            x += i
        return x

    return f(tf.constant(1)), seen


# --- Ranges and sizes.


def case_ranges(tf):
    @tf.function
    def f(n, low, x):
        total = 0
        for i in range(n):
            total += i
        for i in range(low, n):
            total += 10 * i
        for i in range(n, low, -2):
            total += 100 * i
        for i in tf.range(n, dtype=tf.int32):
            total += 1000 * i
        size = 0.0
        for v in tf.range(0.0, x, 0.5):
            size += v
        return total, size

    return f(4, tf.constant(1), tf.constant(2.0)), f(tf.constant(4), 1, tf.constant(1.1))


def case_ranges_of_nothing(tf):
    @tf.function
    def f(n):
        total = 5
        for i in range(n):
            total += i
        for i in range(3, n):
            total += i
        for i in tf.range(n):
            total += i
        for i in tf.range(0):
            total += i
        return total

    return f(tf.constant(-3)), f(tf.constant(0))


def case_range_of_int64(tf):
    @tf.function
    def f(n):
        total = tf.constant(0, tf.int64)
        for i in tf.range(n):
            total += i
        return total, i

    return f(tf.constant(3, tf.int64))


def case_range_kept(tf):
    @tf.function
    def f(x):
        numbers = tf.range(5)
        total = 0
        for i in numbers:
            total += i * x
        for i in numbers[2:]:
            total += i
        return total, numbers

    return f(tf.constant(2))


def case_loops_over_nothing(tf):
    @tf.function
    def f(x):
        total = 0.0
        for row in x:
            total += tf.reduce_sum(row)
        return total

    @tf.function
    def late(n):
        for i in tf.range(n):
            last = i
        return last

    return f(tf.zeros([0, 2])), late(tf.constant(2)), attempt(late, tf.constant(0), words=0)


def case_lengths(tf):
    @tf.function
    def f(x):
        array = tf.TensorArray(tf.int32, size=3)
        return len(x), len(x[0]), len([1, 2]), len(array)

    scalar = attempt(tf.function(lambda x: len(x)), tf.constant(1), words=8)
    return f(tf.zeros([2, 4])), scalar


def case_sorted(tf):
    @tf.function
    def f(x):
        by = sorted(x, key=lambda v: -v)
        return sorted(x), sorted(x, reverse=True), by, sorted([3, 1], reverse=False)

    return f(tf.constant([2, 3, 1]))


def case_sorted_of_unknown_length(tf):
    def by(x):
        return sorted(x, key=lambda v: -v), sorted(x, key=lambda v: 1.0 / tf.cast(v, tf.float32))

    f = tf.function(by, input_signature=[tf.TensorSpec([None], tf.int32)])
    return f(tf.constant([2, 3, 1])), f(tf.constant([5, 4]))


def case_casts_of_texts(tf):
    @tf.function
    def f(x):
        return int(x), float(x), int(x, 10)

    wrong = [attempt(f, tf.constant(text), words=0) for text in ("x", "", "1.5")]
    return f(tf.constant("12")), f(tf.constant(["3", "-4"])), wrong


def case_casts(tf):
    @tf.function
    def f(x):
        return int(x), float(x), abs(x), int("7", 8), float("2.5"), abs(-2)

    bases = attempt(tf.function(lambda x: int(x, 8)), tf.constant(3.5), words=6)
    return f(tf.constant(-2.5)), bases


# --- State that loops carry.


Pair = collections.namedtuple("Pair", "a b")


def case_structures(tf):
    @tf.function
    def f(x):
        pair, d, values = Pair(x, 0), {"a": x, "b": [0, x]}, [x, x]
        for i in tf.range(3):
            pair = Pair(pair.a + i, pair.b + 1)
            d = {"a": d["a"] + 1, "b": [i, d["b"][1] + i]}
            values[0] = values[0] + i
        if x > 0:
            pair = pair._replace(a=x)
        return pair, d, values

    return f(tf.constant(2))


def case_defined_inside(tf):
    @tf.function
    def f(x):
        for i in tf.range(3):
            last = {"i": i, "x": [x * i, 2]}
            done = i > 1
        return last, done

    return f(tf.constant(2))


def case_none_until_the_loop(tf):
    @tf.function
    def f(x):
        best = None
        for i in tf.range(3):
            best = x + i
        return best

    return f(tf.constant(2))


def case_numpy_and_variables(tf):
    v = tf.Variable(3)
    flag = tf.Variable(True)

    @tf.function
    def f(x):
        count, y = np.int64(0), v
        for i in tf.range(2):
            count = count + 1
            y = y + i
        if flag:
            y += 100
        if v > 2:
            v.assign_add(10)
        return count, y, v.read_value()

    return f(tf.constant(1)), v.numpy()


def case_fibonacci(tf):
    @tf.function
    def f(n):
        a, b = 0, 1
        while a < n and b > 0:
            a, b = b, a + b
        return a, b

    return f(tf.constant(50))


# --- Features.


def featured(tf, function, feature, *values):
    features = tf.autograph.experimental.Feature
    chosen = getattr(features, feature)
    traced = tf.function(function, experimental_autograph_options=chosen)
    return attempt(traced, *map(tf.constant, values), words=0)


def case_equality_operators(tf):
    def f(x):
        return x == [1, 2], x != [1, 2]

    return featured(tf, f, "EQUALITY_OPERATORS", [1, 3])


def case_asserts(tf):
    def f(x):
        assert x > 0, "not positive"
        return x

    held = [featured(tf, f, feature, 1) for feature in ("ASSERT_STATEMENTS", "ALL")]
    plain = attempt(tf.function(f), tf.constant(1), words=20)
    return held, featured(tf, f, "ASSERT_STATEMENTS", -1), plain


def case_set_items(tf):
    def f(x):
        x[1] = 5
        return x

    def pops(x):
        values = [x, 2 * x]
        last = values.pop()
        values.append(last + 1)
        return values

    plain = attempt(tf.function(f), tf.constant([1]), words=0)
    return featured(tf, f, "LISTS", [1, 2, 3]), featured(tf, pops, "LISTS", 2), plain


def case_all_features(tf):
    features = tf.autograph.experimental.Feature
    some = features.all_but([features.LISTS, features.NAME_SCOPES])
    return [f.name for f in features.all()], sorted(f.name for f in some)


@options(words=20)
def case_to_graph_refuses(tf):
    class Model:
        def method(self, x):
            if x > 0:
                return x
            return -x

    def generator(x):
        yield x

    refused = [attempt(tf.autograph.to_graph, entity, words=0) for entity in (len, 3, Model)]
    method = tf.autograph.to_graph(Model().method)(Model(), tf.constant(-2))
    return refused, method, attempt(tf.autograph.to_graph, generator, words=20)


def case_generated_code(tf):
    def program(x):
        while x > 0:
            if x == 3:
                break
            x -= 1
        return x if x > 1 else -x

    return sorted(re.findall(r"\w+", tf.autograph.to_code(program)))


def case_loop_options_do_nothing_outside(tf):
    with printed() as lines:
        tf.autograph.trace("a", 1)
    return tf.autograph.experimental.set_loop_options(maximum_iterations=1), list(lines)
