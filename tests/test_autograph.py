"""AutoGraph: Python's statements on tensors give in a traced function what they give on values."""

import functools
import inspect
import logging
import re

import numpy as np
import pytest
from malt.core.converter import ConversionOptions

import tape_compat as tf
from tape_compat._src.core import errors
from tape_compat._src.function.autograph import converted
from tape_compat._src.function.autograph.convert import convert_function
from tape_compat._src.function.autograph.rules import runs_as_it_is
from tape_compat._src.values import nest
from tape_compat._src.values.capture import capture
from tape_compat._src.values.convert import convert

Feature = tf.autograph.experimental.Feature


def traced(function, *args, options=None):
    """What the converted form of a function gives, traced with tensors in the place of `args`."""
    tensors = [convert(x) for x in args]

    def flatten(result):
        return [convert(x) for x in nest.flatten(result)]

    avals = [x._aval for x in tensors]
    found = capture(converted(function, options=options), avals, flatten, "traced")
    return nest.pack_sequence_as(found.result, found.call(tensors))


def numbers(structure):
    return nest.map_structure(lambda x: np.asarray(x).tolist(), structure)


# What follows runs as Python on numbers and as ops on tensors, with the same results.


def branches(x):
    if x > 5:
        y = x
    elif x > 0:
        y = 2 * x
    else:
        y = -x
    return y


def one_branch(x):
    y = 1
    if x > 0:
        y = x + y
    return y


def nested_branches(x):
    a, b = 0, 1
    if x > 0:
        if x > 3:
            a = x
        else:
            b = x
    return a, b


def early_returns(x):
    if x > 5:
        return 5
    if x < 0:
        return -x
    x += 1
    return x


def counted(x):
    i = 0
    while i < x:
        i += 2
    return i


def two_conditions(x):
    steps = 0
    while x > 0 and steps < 4:
        x -= 2
        steps += 1
    return x, steps


def over_range(x):
    total = 0
    for i in range(x):
        total += i * i
    return total


def over_range_from(x):
    total = 0
    for i in range(2, x):
        total += i
    return total


def over_range_back(x):
    total = 0
    for i in range(10, x, -3):
        total = 10 * total + i
    return total


def with_break(x):
    total = 0
    for i in range(x + 4):
        if i == 5:
            break
        if i % 2 == 0:
            continue
        total += i
    return total


def while_with_break(x):
    while x < 100:
        x += 7
        if x % 5 == 0:
            break
    return x


def while_true(x):
    n = x * 0
    while n < 10:
        n += 1
        if n < 3:
            continue
        if n > x:
            break
    return n


def loops_in_loops(x):
    total = 0
    for i in range(x):
        for j in range(i):
            if j > 2:
                break
            total += i * j
    return total


def logic(x):
    return x > 0 and x < 5, x > 0 or x < -5, not x > 0, 0 < x < 5, -3 < x <= 0 < x + 4


def ternaries(x):
    y = x if x > 0 else -x
    return y, 1 if y > 3 else 2, [0 if x < 0 else 3 * x]


def structures(x):
    pair, named = (x, 0), {"a": x, "b": [0, x]}
    for i in range(3):
        pair = (pair[0] + i, pair[1] + 1)
        named = {"a": named["a"] + 1, "b": [i, named["b"][1] + i]}
    return pair, named


def items(x):
    values = [x, x + 1]
    while values[0] < 10:
        values[0] = values[0] + 3
    return values


class Box:
    def __init__(self):
        self.content = 0


def attributes(x):
    box = Box()
    box.content = x
    if x > 0:
        box.content = x + 1
    while box.content < 4:
        box.content += 2
    return box.content


def nonlocals(x):
    count = 0

    def add(y):
        nonlocal count
        if y > 0:
            count += 1

    add(x)
    add(-x)
    add(x)
    return count


def recursive(x):
    def power(y, n):
        if n == 0:
            return y if y > 0 else -y
        return power(2 * y, n - 1)

    return power(x, 3)


def doubled(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return 2 * function(*args, **kwargs)

    return wrapper


@doubled
def decorated(x, y=1, *, z=2):
    if x > 0:
        return x + y + z
    return x


def keywords(x):
    return decorated(x), decorated(x, z=5), functools.partial(decorated, y=7)(x, z=1)


class Base:
    def scale(self, x):
        if x > 0:
            return 2 * x
        return x

    def __call__(self, x):
        return self.scale(x) + 1

    @staticmethod
    def plain(x):
        return x if x > 0 else -x

    @classmethod
    def of_class(cls, x):
        return cls.plain(x) + 1


class Derived(Base):
    def scale(self, x):
        return super().scale(x) + 10


def methods(x):
    derived = Derived()
    return derived(x), derived.scale(x), Derived.plain(x), derived.of_class(x)


def lambdas(x):
    sign = lambda y: 1 if y > 0 else -1
    return sign(x), [f(x) for f in (lambda v: v + 1, abs)]


def tries(x):
    try:
        if x > 0:
            y = 1
        else:
            y = 2
    except ValueError:
        y = 3
    finally:
        z = 4
    with np.errstate(all="ignore"):
        if x > 1:
            y += 1
    return y, z


def handlers(x):
    seen = []
    for kind in (KeyError, ValueError, None):
        try:
            if kind is not None:
                raise kind("it")
            seen.append(x)
        except (KeyError, IndexError) as error:
            seen.append(len(error.args))
        except ValueError as error:
            if x > 0:
                x = x + 1
            seen.append(type(error) is ValueError)
        else:
            seen.append(3)
    try:
        try:
            raise KeyError("first")
        except KeyError as first:
            raise TypeError("second") from first
    except TypeError as second:
        seen.append(type(second.__cause__) is KeyError)
    return seen, x


def looks_around(x):
    y = x + 1
    return eval("x + y"), locals()["y"], "Box" in globals()


def conversions(x):
    return int(x), float(x), abs(x)


def python_values(x):
    steps = []
    for i in range(3):
        steps.append(i)
        if i == 1:
            x += 10
    n = 0
    while True:
        n += 1
        if n > 3:
            break
    kind = "train"
    if kind == "train" and x is not None:
        x += n
    return x + len(steps)


PROGRAMS = [
    *(branches, one_branch, nested_branches, early_returns, counted, two_conditions, over_range),
    *(over_range_from, over_range_back, with_break, while_with_break, while_true, loops_in_loops),
    *(logic, ternaries, structures, items, attributes, nonlocals, recursive, keywords, methods),
    *(lambdas, tries, handlers, looks_around, conversions, python_values),
]
VALUES = [7, 3, 1, 0, -2]


@pytest.fixture(scope="module")
def results():
    """What each program gives on each value, traced: one program for each value."""

    def all_of_them(x):
        return [program(x) for program in PROGRAMS]

    return [numbers(traced(all_of_them, value)) for value in VALUES]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_the_same_on_tensors(results, program):
    found = [result[PROGRAMS.index(program)] for result in results]
    assert found == [numbers(program(value)) for value in VALUES]


# Tensors alone.


def rows(x):
    total = tf.zeros([2])
    for row in x:
        total += row
        for entry in row:
            if entry > 3.0:
                total += entry
    return total


def first_defined_inside(x):
    for i in tf.range(4):
        last = i
        for row in x:
            entry = row[0]
    return last, entry


def last_counter(x):
    for i in tf.range(3):
        x = x + tf.cast(i, tf.float32)
    return x, i


def float_range(x):
    total = 0.0
    for i in tf.range(0.0, tf.reduce_max(x), 0.5):
        total += i
    return total


def kept_range(x):
    numbers = tf.range(5)
    total = 0
    for i in numbers:
        total += i
    return total, numbers


def limited(x):
    n = 0
    for _ in tf.range(10):
        tf.autograph.experimental.set_loop_options(maximum_iterations=3)
        n += 1
    return n


def sizes(x):
    return len(x), len(x[0]) + 1


def condition_of_one(x):
    if x[:1, :1] > 0.0:
        return 1
    return 0


def sorted_rows(x):
    return sorted(x[0]), sorted(x[0], reverse=True), sorted(x[0], key=lambda v: -v)


ON_TENSORS = [
    (rows, [16.0, 15.0]),
    (first_defined_inside, (3, 3.0)),
    (last_counter, ([[7.0, 4.0], [6.0, 8.0]], 2)),
    (float_range, 22.5),
    (kept_range, (10, [0, 1, 2, 3, 4])),
    (limited, 3),
    (sizes, (2, 3)),
    (condition_of_one, 1),
    (sorted_rows, ([1.0, 4.0], [4.0, 1.0], [4.0, 1.0])),
]


@pytest.fixture(scope="module")
def of_tensors():
    def all_of_them(x):
        return [program(x) for program, _ in ON_TENSORS]

    return numbers(traced(all_of_them, [[4.0, 1.0], [3.0, 5.0]]))


@pytest.mark.parametrize("place", range(len(ON_TENSORS)), ids=lambda i: ON_TENSORS[i][0].__name__)
def test_on_tensors(of_tensors, place):
    assert of_tensors[place] == ON_TENSORS[place][1]


def test_unknown_sizes_are_traced_once():
    traces = []

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def program(x):
        traces.append(1)
        total = tf.zeros([2])
        for row in x:
            if row[0] > 1.0:
                total += row
        count = 0
        for i in tf.range(tf.shape(x)[0]):
            count += i
        for i in range(len(x)):
            count += i
        return total, count

    for size in (3, 1, 0):
        found = program(2.0 * tf.ones([size, 2]))
        assert numbers(found) == ([2.0 * size] * 2, size * (size - 1))
    assert traces == [1]


def test_first_defined_in_a_loop_with_an_unknown_size():
    @tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([], tf.int32)])
    def program(x, n):
        for i in tf.range(n):
            last = {"x": 2.0 * x, "i": [i, tf.reduce_sum(x)]}
        return last

    found = program(tf.ones([2]), tf.constant(3))
    assert numbers(found) == {"x": [2.0, 2.0], "i": [2, 2.0]}
    with pytest.raises(errors.InvalidArgumentError, match="at least once to initialize last"):
        program(tf.ones([2]), tf.constant(0))


def test_gradients():
    @tf.function
    def program(x):
        total = 0.0
        for row in x:
            for entry in row:
                if entry > 2.0:
                    total += entry * entry
                else:
                    total += entry
        while total < 1000.0:
            total = total * total
        return total

    x = tf.Variable([[0.0, 1.0], [2.0, 3.0]])
    with tf.GradientTape() as tape:
        y = program(x)
    assert y.numpy() == 12.0**4
    slope = 4 * 12.0**3
    assert tape.gradient(y, x).numpy().tolist() == [[slope, slope], [slope, 6 * slope]]


def test_arrays_that_grow_in_a_loop_let_python_run():
    @tf.function
    def program(x):
        array = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        for i in tf.range(4):
            if i % 2 == 0:
                array = array.write(array.size(), i * x)
        return array.stack()

    assert program(tf.constant(2)).numpy().tolist() == [0, 4]


@pytest.mark.compiled
def test_functions_of_integers_are_compiled(counted, deferred):
    """They do not run at once on the host, as ops on small integers of the host do."""

    @tf.function
    def program(n):
        count = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        return count

    assert [program(tf.constant(n)).numpy() for n in (27, 1, 6)] == [111, 0, 8]
    assert counted()["compiles"] == 1


@pytest.mark.interpreted
def test_long_loops_are_soon_compiled(counted, deferred):
    """An interpreted loop pays for the turns that it takes, not for those it is taken to take."""

    @tf.function
    def program(n):
        while n < 3000:
            n += 1
        return n

    for _ in range(90):
        assert program(tf.constant(0)).numpy() == 3000
    assert counted()["interpreted"] < 60


def test_over_nothing():
    @tf.function
    def program(x):
        total = 0.0
        for entry in x:
            total += entry
        return total

    assert program(tf.zeros([0])).numpy() == 0.0


def test_variables_are_tensors():
    flag, values = tf.Variable(True), tf.Variable([1.0, 2.0])

    def program(x):
        if flag:
            x += 1.0
        for value in values:
            x += value
        return x

    assert traced(program, 1.0).numpy() == 5.0


def test_constants_are_staged_as_in_tensorflow():
    """Also where the value of a tensor is known, both branches are traced."""
    seen = []

    def program(x):
        if tf.constant(3) > 2:
            seen.append("main")
            y = x
        else:
            seen.append("else")
            y = -x
        for _ in tf.range(3):
            seen.append("turn")
            y += x
        return y

    assert traced(program, 1.0).numpy() == 4.0
    assert seen.count("main") == seen.count("else") == 1
    assert 1 <= seen.count("turn") < 3


def test_outside_functions_tensors_have_values():
    program = tf.autograph.to_graph(with_break)
    assert program(tf.constant(5)).numpy() == 4
    with pytest.raises(ValueError, match=r"expected to be `tf\.bool` scalar"):
        tf.autograph.to_graph(not_bool)(tf.constant(1))


# Errors: TensorFlow's class and words, and the user's lines.


def not_bool(x):
    if x:
        return 1
    return 2


def many_values(x):
    if [x, x] > tf.constant([0, 0]):
        return 1
    return 2


def undefined_in_else(x):
    if x > 0:
        y = 1
    return y


def undefined_in_main(x):
    if x > 0:
        z = 1
    else:
        y = 1
        z = 2
    return y + z


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


def other_dtype(x):
    if x > 0:
        y = 1
    else:
        y = 1.0
    return y


def other_structure(x):
    if x > 0:
        y = (1, 2)
    else:
        y = 1
    return y


def ternary_dtype(x):
    return 1 if x > 0 else 1.0


def undefined_before_loop(x):
    for i in tf.range(x):
        y = y + i  # noqa: F821
    return y


def dtype_after_iteration(x):
    y = 0
    while x > 0:
        y = 1.0
        x -= 1
    return y


def shape_after_iteration(x):
    y = tf.zeros([1])
    while x > 0:
        y = tf.concat([y, y], 0)
        x -= 1
    return y


def structure_after_iteration(x):
    y = (1, 2)
    while x > 0:
        y = 1
        x -= 1
    return y


def none_after_iteration(x):
    y = 1
    while x > 0:
        y = None
        x -= 1
    return y


def returns_in_loop(x):
    while x > 0:
        x -= 1
        if x == 2:
            return x
    return x


def breaks_python_loop(x):
    for i in range(3):
        if x > i:
            break
    return x


def breaks_python_while(x):
    i = 0
    while i < 3:
        i += 1
        if x > i:
            break
    return x


def length_of_scalar(x):
    return len(x)


def over_scalar(x):
    for _ in x:
        pass


def deleted(x):
    del x
    return x  # noqa: F821


ERRORS = [
    (not_bool, ValueError, "condition of if statement expected to be `tf.bool` scalar, got "),
    (undefined_in_else, ValueError, "'y' must also be initialized in the else branch"),
    (undefined_in_main, ValueError, "'y' must also be initialized in the main branch"),
    (returns_in_main, ValueError, "the else branch must also have a return statement."),
    (none_in_else, ValueError, "'y' is None at the end of the else branch."),
    (none_in_main, ValueError, "'y' is None at the end of the main branch."),
    (
        other_dtype,
        TypeError,
        "'y' has dtype int32 in the main branch, but dtype float32 in the else branch",
    ),
    (
        other_structure,
        TypeError,
        "'y' must have the same nested structure in the main and else branches:",
    ),
    (
        ternary_dtype,
        TypeError,
        "'x > 0' has dtype int32 in the main branch, but dtype float32 in the else branch",
    ),
    (
        undefined_before_loop,
        ValueError,
        "'y' must be defined before the loop\n    Note: AutoGraph tried to define it "
        "automatically, but ran into a UnboundLocalError: 'y' is used before assignment",
    ),
    (
        dtype_after_iteration,
        TypeError,
        "'y' has dtype int32 before the loop, but dtype float32 after one iteration",
    ),
    (
        shape_after_iteration,
        ValueError,
        "'y' has shape (1,) before the loop, but shape (2,) after one iteration. Use "
        "tf.autograph.experimental.set_loop_options to set shape invariants.",
    ),
    (
        structure_after_iteration,
        TypeError,
        "'y' does not have the same nested structure after one iteration.",
    ),
    (none_after_iteration, ValueError, "'y' is None at the end of the iteration."),
    (
        returns_in_loop,
        NotImplementedError,
        "a return statement cannot be placed inside this TensorFlow loop; this may happen if a "
        "return statement depends on a static Python condition such as a hyperparameter",
    ),
    (
        breaks_python_loop,
        NotImplementedError,
        "break and return statements which depend on a TF condition are not supported in Python "
        "for loops. Did you intend to make it a TF loop?",
    ),
    (
        breaks_python_while,
        NotImplementedError,
        "The condition of while loop started as non-Tensor, then changed to Tensor.",
    ),
    (length_of_scalar, ValueError, "len requires a non-scalar tensor, got one of shape"),
    (over_scalar, ValueError, "len requires a non-scalar tensor, got one of shape"),
    (deleted, UnboundLocalError, "'x' is used before assignment"),
]


@pytest.mark.parametrize("program, kind, words", ERRORS, ids=lambda x: getattr(x, "__name__", ""))
def test_errors(program, kind, words):
    with pytest.raises(kind) as caught:
        traced(program, 3)
    assert type(caught.value) is kind
    message = str(caught.value)
    assert f"    {kind.__name__}: {words}" in message
    first = inspect.getsourcelines(program)[1]
    found = re.match(r'in user code:\n\n    File "(.+)", line (\d+), in (\w+)  \*\n', message)
    assert found and found[1] == __file__ and found[3] == program.__name__
    assert first <= int(found[2]) <= first + len(inspect.getsourcelines(program)[0])


class PlainError(Exception):
    pass


class OwnError(ValueError):
    pass


@pytest.mark.parametrize(
    "error, kind",
    [
        (ValueError("x"), ValueError),
        (KeyError("x"), KeyError),
        (PlainError("x"), PlainError),
        (errors.InvalidArgumentError(None, None, "x"), errors.InvalidArgumentError),
        (errors.OperatorNotAllowedInGraphError("x"), errors.OperatorNotAllowedInGraphError),
    ],
    ids=lambda x: type(x).__name__,
)
def test_errors_keep_their_class(error, kind):
    def fails(x):
        raise error

    def calls(x):
        if x > 0:
            y = fails(x)
        else:
            y = x
        return y

    with pytest.raises(kind, match="in user code:") as caught:
        traced(calls, 1)
    lines = [line.split(", in ")[1] for line in str(caught.value).splitlines() if "File" in line]
    assert lines == ["calls  *", "fails  *"]


def test_an_error_that_cannot_be_made_anew_is_a_staging_error():
    def fails(x):
        raise OwnError("mine")

    with pytest.raises(Exception, match="OwnError: mine") as caught:
        traced(fails, 1)
    assert type(caught.value).__name__ == "StagingError"


def test_messages_point_at_the_users_line():
    def program(x):
        if x > 0:
            place = errors.user_location()
            places.append(place)
        return x

    places = []
    traced(program, 1)
    line = program.__code__.co_firstlineno + 2
    assert places == [f"test_autograph.py:{line}"]


def test_tracebacks_show_the_users_code():
    def fails(x):
        raise ValueError("it")

    @tf.function
    def program(x):
        if x > 0:
            for _ in tf.range(3):
                x = fails(x)
        return x

    def ours():
        with pytest.raises(ValueError, match="in user code") as caught:
            program(tf.constant(1))
        files = [frame.path for frame in caught.traceback]
        assert not errors.is_users(str(files[1]))
        assert "__autograph_generated" in str(files[-1])
        return sum(not errors.is_users(str(file)) for file in files)

    assert ours() <= 2
    tf.debugging.disable_traceback_filtering()
    try:
        assert ours() > 10
    finally:
        tf.debugging.enable_traceback_filtering()
    assert tf.debugging.is_traceback_filtering_enabled()


def test_causes_of_errors_stay():
    def fails(x):
        try:
            raise KeyError("first")
        except KeyError as error:
            raise ValueError("second") from error

    with pytest.raises(ValueError, match="in user code") as caught:
        traced(fails, 1)
    assert isinstance(caught.value.__cause__, KeyError)


def test_what_leaves_a_loop_through_a_list_is_refused():
    @tf.function
    def program(x):
        kept = []
        for i in tf.range(3):
            kept.append(i * x)
        return tf.stack(kept)

    with pytest.raises(errors.InaccessibleTensorError, match="is out of scope"):
        program(tf.constant(2))


def test_texts_of_branches_let_python_run():
    @tf.function
    def program(x):
        if x > 0:
            return "positive", 1
        return "negative", 2

    text, one = program(tf.constant(2))
    assert (text.numpy(), one.numpy()) == (b"positive", 1)


# What is converted. Converted code has the variable `fscope`.


def test_which_functions_are_left_as_they_are():
    for function in (tf.add, np.sum, functools.reduce, re.compile, logging.info, Exception):
        assert runs_as_it_is(function), function
    assert runs_as_it_is(tf.Variable(1.0).assign_add)
    for function in (branches, Base().scale, Base(), Base):
        assert not runs_as_it_is(function), function


def test_do_not_convert():
    seen = []

    @tf.autograph.experimental.do_not_convert
    def left(x):
        seen.append("fscope" in locals())
        return helper(x)

    def helper(x):
        seen.append("fscope" in locals())
        return x

    traced(lambda x: left(x), 1)
    traced(lambda x: helper(x), 1)
    assert seen == [False, False, True]
    assert tf.autograph.experimental.do_not_convert()(helper)(2) == 2


def test_not_recursive():
    def helper(x):
        return "fscope" in locals()

    def program():
        return "fscope" in locals(), helper(1)

    assert converted(program)() == (True, True)
    assert converted(program, recursive=False)() == (True, False)


def test_constructors_and_generators_run_as_they_are():
    class Made:
        def __init__(self):
            self.converted = "fscope" in locals()

    def generated(x):
        yield x
        yield "fscope" in locals()

    def program(x):
        return Made().converted, list(generated(x))

    assert converted(program)(1) == (False, [1, False])


@pytest.fixture
def warnings(caplog):
    caplog.set_level(logging.WARNING, "tape_compat")
    return caplog


def without_source():
    scope = {}
    exec(compile("def program(x):\n    return x + 1", "<generated>", "exec"), scope)
    return scope["program"]


def for_else(x):
    for _ in range(2):
        x += 1
    else:
        x += 1
    return x


def walrus(x):
    if (y := x + 1) > 1:
        return y
    return x


def test_what_cannot_be_converted_runs_as_it_is(warnings):
    two = [lambda x: x + 1, lambda x: x + 2]
    for function, cause in [
        (without_source(), ""),
        (for_else, "for/else statement not yet supported"),
        (walrus, "not supported yet: (y := "),
        (two[0], "found multiple definitions with identical signatures"),
    ]:
        warnings.clear()
        assert converted(function)(1) in (2, 4)
        (record,) = warnings.records
        message = record.getMessage()
        assert message.startswith(f"AutoGraph could not transform {function} and will run it as-is")
        assert cause in message
        assert "@tf.autograph.experimental.do_not_convert" in message


def test_methods_in_a_name_scope_are_converted():
    class Layer(tf.Module):
        @tf.Module.with_name_scope
        def __call__(self, x):
            return "fscope" in locals()

        @tf.function
        def method(self, x):
            if x > 0:
                return self.scale * x
            return x

    layer = Layer()
    assert converted(lambda x: layer(x))(1)
    assert converted(layer)(1)
    assert not layer(1)
    layer.scale = tf.Variable(3)
    assert [layer.method(tf.constant(x)).numpy() for x in (2, -2)] == [6, -2]


def test_functions_given_to_map_fn_are_converted():
    seen = []

    def given(x):
        seen.append("fscope" in locals())
        return x

    def program(x):
        return tf.map_fn(given, x)

    x = tf.constant([1.0])
    tf.function(program)(x)
    tf.function(program, autograph=False)(x)
    tf.function(tf.autograph.experimental.do_not_convert(program))(x)
    program(x)
    assert seen == [True, True, False, False]


def test_functions_are_converted_once():
    def make(n):
        def inner(x):
            return x + n

        return inner

    options = ConversionOptions(recursive=True)
    first, second = (convert_function(make(n), options) for n in (1, 5))
    assert first.ag_module is second.ag_module
    assert (first(1), second(1)) == (2, 6)


# The public functions.


def test_to_code():
    code = tf.autograph.to_code(with_break)
    assert code.startswith("def tf__with_break(x):")
    assert "ag__.for_stmt(" in code and "ag__.if_stmt(" in code
    assert "ag__.eq(" not in code
    assert "ag__.eq(" in tf.autograph.to_code(
        with_break, experimental_optional_features=Feature.EQUALITY_OPERATORS
    )


def test_to_graph_refuses_what_is_no_function():
    for entity in (len, 3, Base):
        with pytest.raises(Exception, match="doesn't expose a __code__ object") as caught:
            tf.autograph.to_graph(entity)
        assert type(caught.value).__name__ == "ConversionError"
    assert tf.autograph.to_graph(Base().scale)(Base(), 3) == 6


def test_features():
    assert Feature.ALL in Feature.all() and Feature.LISTS not in Feature.all_but([Feature.LISTS])

    def lists(x):
        values = []
        values.append(x)
        values.append(2 * x)
        last = values.pop()
        x = tf.stack([x, x, x])
        x[1] = 5
        x[2] += 1
        return values[0], last, x, tf.Variable([1])[0]

    assert numbers(traced(lists, 2, options=Feature.LISTS)) == (2, 4, [2, 5, 3], 1)

    def equals(x):
        return x == [1, 2], x != [1, 2]

    found = traced(equals, [1, 3], options=(Feature.EQUALITY_OPERATORS, Feature.NAME_SCOPES))
    assert numbers(found) == ([True, False], [False, True])


def test_print(capsys):
    def program(x):
        print("x is", x, 3, sep=": ")
        return x

    plain = tf.function(program)
    late = tf.function(program, experimental_autograph_options=Feature.BUILTIN_FUNCTIONS)
    x = tf.constant([1.0, 2.5])
    plain(x), plain(x)
    assert capsys.readouterr().out == 'x is: Tensor("x:0", shape=(2,), dtype=float32): 3\n'
    late(x), late(x)
    assert capsys.readouterr().out == "x is: [1.  2.5]: 3\n" * 2
    late("one")
    assert capsys.readouterr().out == "x is: one: 3\n"
    with pytest.raises(ValueError, match="invalid keyword arguments"):
        converted(lambda: print(1, color=3), options=Feature.ALL)()


def test_directives_do_nothing_by_themselves(capsys):
    assert tf.autograph.experimental.set_loop_options(maximum_iterations=3) is None
    tf.autograph.trace("seen", 1)
    assert capsys.readouterr().out == "seen 1\n"
    tf.autograph.set_verbosity(0)
