"""`tf.function`: when Python runs again, signatures, concrete functions, names, what is symbolic.

`traces` counts: the Python body appends to it, so its length is how often Python ran.
"""

import collections
import enum
import functools
import gc
import inspect
import weakref

import numpy as np

from .harness import attempt, attempts, messages, options

NEEDS = ("function",)


def counting(tf, *inputs, **settings):
    """Calls a function with each of `inputs` (tuples of arguments): how often Python has run."""
    traces, counts = [], []

    @tf.function(**settings)
    def f(*args, **kwargs):
        traces.append(1)
        return tf.constant(0)

    for args in inputs:
        args = args if isinstance(args, tuple) else (args,)
        f(*args)
        counts.append(len(traces))
    return counts


def keywords(tf, *inputs, **settings):
    """The same, with keyword arguments `x` and `y`."""
    traces, counts = [], []

    @tf.function(**settings)
    def f(x=None, y=2):
        traces.append(1)
        return tf.constant(0)

    for kwargs in inputs:
        f(**kwargs)
        counts.append(len(traces))
    return counts


# --- how it is made


def case_decorator(tf):
    @tf.function
    def f(x, y):
        return x + y

    return f(tf.constant(1.0), tf.constant(2.0)), f(1.0, 2.0)


def case_decorator_with_arguments(tf):
    @tf.function(autograph=False)
    def f(x):
        return x * 2

    return f(tf.constant([1, 2]))


def case_called_on_a_function(tf):
    def square(x):
        return x * x

    f = tf.function(square)
    return f(tf.constant(3.0)), f.python_function is square


def case_lambda(tf):
    return tf.function(lambda x: x + 1)(tf.constant(1))


def case_op_itself(tf):
    return tf.function(tf.matmul)(tf.ones([2, 3]), tf.ones([3, 1]))


def case_partial(tf):
    def power(x, n, scale=1.0):
        return scale * x**n

    f = tf.function(functools.partial(power, n=2, scale=3.0))
    return f(tf.constant(3.0)), f(tf.constant(3.0), n=3)


def case_partial_of_a_function(tf):
    f = tf.function(lambda x, y: x - y)
    return functools.partial(f, tf.constant(5.0))(tf.constant(2.0))


def case_callable_object(tf):
    class Scale:
        def __init__(self):
            self.k = tf.constant(3.0)

        def __call__(self, x):
            return x * self.k

    return tf.function(Scale())(tf.constant(2.0))


def case_attributes_of_what_is_recorded(tf):
    class Scale(tf.Module):
        def __init__(self):
            super().__init__()
            self.factor = tf.Variable(2.0)

        def __call__(self, x):
            return self.factor * x

    def tagged(x):
        return x

    scale, tagged.tag = Scale(), "of the Python function"
    recorded, other = tf.function(scale), tf.function(tagged)
    other.tag += ", changed"
    return recorded.factor is scale.factor, recorded(3.0), tagged.tag, other.tag


def case_decorated_before_it_is_recorded(tf):
    class Adder(tf.Module):
        @tf.function
        def __call__(self, x):
            return x + 1.0

        __call__._decorate(lambda method: lambda self, x: 10.0 * method(self, x))

    double = tf.function(lambda x: x * 2.0)
    double._decorate(lambda function: lambda x: function(x) + 0.5)
    results = Adder()(tf.constant(1.0)), double(tf.constant(1.0))
    return results, attempts(tf, {"late": lambda tf: double._decorate(lambda function: function)})


def case_decorated_call(tf):
    class Scale:
        @tf.function
        def __call__(self, x):
            return x * 3

    return Scale()(tf.constant(2))


def case_function_of_a_function(tf):
    f = tf.function(lambda x: x + 1)
    return tf.function(f)(tf.constant(1)), attempt(lambda: tf.function(f).python_function is f)


def case_wrapped_by_functools(tf):
    def double(g):
        @functools.wraps(g)
        def wrapper(*args):
            return 2 * g(*args)

        return wrapper

    @tf.function
    @double
    def f(x):
        return x + 1

    return f(tf.constant(1.0)), f.__name__


def case_coroutine_is_refused(tf):
    def program():
        @tf.function
        async def never_awaited(x):
            return x

        return never_awaited(tf.constant(1))

    refused = attempt(program, words=0)
    for made in gc.get_objects():  # nobody awaited it
        if inspect.iscoroutine(made) and made.cr_code.co_name == "never_awaited":
            made.close()
    return refused


def case_not_callable(tf):
    return attempt(lambda: tf.function(3)(tf.constant(1)), words=0)


def case_generator_function(tf):
    @tf.function
    def f(x):
        yield x

    return attempt(lambda: f(tf.constant(1)), words=0)


def case_unknown_argument(tf):
    return attempt(lambda: tf.function(lambda x: x, unknown=1), words=0)


def case_settings_are_accepted(tf):
    x = tf.constant([1.0, 2.0])
    return attempts(
        tf,
        {
            "jit_compile": lambda tf: tf.function(lambda x: x * 2, jit_compile=True)(x),
            "no jit_compile": lambda tf: tf.function(lambda x: x * 2, jit_compile=False)(x),
            "reduce_retracing": lambda tf: tf.function(lambda x: x * 2, reduce_retracing=True)(x),
            "autograph": lambda tf: tf.function(lambda x: x * 2, autograph=True)(x),
            "implements": lambda tf: tf.function(lambda x: x, experimental_implements="me")(x),
            "follow": lambda tf: tf.function(lambda x: x, experimental_follow_type_hints=False)(x),
        },
        words=0,
    )


# --- metadata


def case_keeps_name_and_doc(tf):
    @tf.function
    def f(x):
        """What f does."""
        return x

    return f.__name__, f.__doc__, f.__module__.split(".")[-1], callable(f)


def case_signature_of_inspect(tf):
    @tf.function
    def f(x, y=2, *rest, z: int = 3, **more):
        return x

    return str(inspect.signature(f))


def case_wrapped(tf):
    def g(x):
        return x

    f = tf.function(g)
    return f.__wrapped__ is g, f.python_function is g, inspect.unwrap(f) is g


def case_input_signature_attribute(tf):
    f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([None], tf.float32)])
    g = tf.function(lambda x: x)
    return f.input_signature, g.input_signature


def case_argument_names(tf):
    @tf.function
    def f(x, y=1, *, z=2):
        return x

    return list(f.function_spec.arg_names), f.function_spec.fullargspec.args


# --- one trace a signature


def case_same_signature_traces_once(tf):
    return counting(tf, tf.constant(1.0), tf.constant(2.0), tf.constant(3.0))


def case_new_dtype(tf):
    return counting(tf, tf.constant(1.0), tf.constant(1), tf.constant(1.0), tf.constant(True))


def case_new_shape(tf):
    return counting(tf, tf.ones([2]), tf.ones([3]), tf.ones([2]), tf.ones([2, 1]), tf.ones([]))


def case_new_shapes_stay_exact(tf):
    shapes = []

    @tf.function
    def f(x):
        shapes.append(x.shape)
        return tf.shape(x)[0]

    results = [f(tf.ones([n])) for n in (1, 2, 3, 4, 1)]
    return results, shapes


def case_python_int_by_value(tf):
    return counting(tf, 1, 2, 1, 3, 2)


def case_python_float_by_value(tf):
    return counting(tf, 1.0, 2.0, 1.0, float("nan"), float("inf"))


def case_int_float_and_bool_are_apart(tf):
    return counting(tf, 1, 1.0, True, 1, 1.0, True)


def case_zero_and_false(tf):
    return counting(tf, 0, False, 0.0, None)


def case_strings_by_value(tf):
    return counting(tf, "a", "b", "a", "a" + "", b"a")


def case_none(tf):
    return counting(tf, (None,), 1, (None,))


def case_python_number_or_tensor(tf):
    return counting(tf, 1, tf.constant(1), tf.constant(2), 1)


def case_complex_number(tf):
    return attempt(lambda: counting(tf, 1j, 2j, 1j), words=0)


def case_python_value_is_baked_in(tf):
    @tf.function
    def f(x, n):
        return x * n

    x = tf.constant(2.0)
    return f(x, 3), f(x, 4), f(x, 3)


def case_big_integer(tf):
    return counting(tf, 2**40, 2**40, 2**70)


def case_enum_member(tf):
    class Color(enum.Enum):
        RED = 1
        BLUE = 2

    return counting(tf, Color.RED, Color.BLUE, Color.RED)


def case_dtype_as_argument(tf):
    @tf.function
    def f(dtype):
        return tf.zeros([2], dtype)

    return f(tf.float32), f(tf.int32), counting(tf, tf.float32, tf.int32, tf.float32)


def case_shape_as_argument(tf):
    return counting(tf, tf.TensorShape([1]), tf.TensorShape([2]), tf.TensorShape([1]))


def case_type_as_argument(tf):
    return counting(tf, int, float, int)


def case_function_as_argument(tf):
    def a():
        return 1

    def b():
        return 1

    return counting(tf, a, b, a)


def case_lambda_as_argument(tf):
    @tf.function
    def f(g, x):
        return g(x)

    x = tf.constant(3.0)
    return f(tf.square, x), f(lambda x: x + 1, x), f(tf.square, x)


def case_tf_function_as_argument(tf):
    g = tf.function(lambda x: x * 2)
    h = tf.function(lambda x: x * 3)

    @tf.function
    def f(g, x):
        return g(x) + 1

    x = tf.constant(1)
    return f(g, x), f(h, x), f(g, x), counting(tf, g, h, g)


def case_object_by_identity(tf):
    class Thing:
        pass

    a, b = Thing(), Thing()
    return counting(tf, a, b, a, b)


def case_object_with_equality(tf):
    class Thing:
        def __init__(self, n):
            self.n = n

        def __eq__(self, other):
            return isinstance(other, Thing) and self.n == other.n

        def __hash__(self):
            return hash(self.n)

    a, b, c = Thing(1), Thing(1), Thing(2)
    return counting(tf, a, b, c, a)


def case_object_without_hash(tf):
    class Thing:
        def __eq__(self, other):
            return True

        __hash__ = None

    a, b = Thing(), Thing()
    return attempt(lambda: counting(tf, a, b, a), words=0)


def case_object_whose_state_changes(tf):
    class Thing:
        n = 1

    thing, seen = Thing(), []

    @tf.function
    def f(thing):
        seen.append(thing.n)
        return tf.constant(thing.n)

    first = f(thing)
    thing.n = 2
    return first, f(thing), seen


def case_object_is_held_weakly(tf):
    class Thing:
        pass

    traces = []

    @tf.function
    def f(thing):
        traces.append(1)
        return tf.constant(0)

    for _ in range(3):
        thing = Thing()
        f(thing)
        del thing
    return len(traces)


def case_numpy_array_is_a_tensor(tf):
    a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    return counting(tf, a, b, tf.constant([1.0, 2.0], tf.float64), np.ones(3))


def case_numpy_argument_inside(tf):
    kinds = []

    @tf.function
    def f(x):
        kinds.append((tf.is_tensor(x), x.dtype, x.shape))
        return x + 1

    return f(np.array([1, 2])), f(np.array([3, 4])), kinds


def case_numpy_scalar(tf):
    return counting(tf, np.float32(1), np.float32(2), tf.constant(3.0), np.int64(1))


def case_numpy_scalar_inside(tf):
    kinds = []

    @tf.function
    def f(x):
        kinds.append((tf.is_tensor(x), x.dtype.name))
        return x + 1

    return f(np.float64(1)), f(np.float64(5)), kinds


# --- structures


def case_list_of_tensors(tf):
    x = tf.constant(1.0)
    return counting(tf, ([x, x],), ([x + 1, x],), ([x],), ([x, x, x],), ((x, x),))


def case_list_of_numbers(tf):
    return counting(tf, ([1, 2],), ([1, 2],), ([1, 3],), ((1, 2),))


def case_tuple_of_numbers(tf):
    return counting(tf, ((1, 2),), ((1, 2),), ((2, 1),), ((),), ((1,),))


def case_dict(tf):
    x = tf.constant(1.0)
    return counting(
        tf, {"a": x, "b": x}, {"b": x, "a": x}, {"a": x}, {"a": x, "c": x}, {"a": x, "b": 1}
    )


def case_dict_kinds(tf):
    x = tf.constant(1.0)
    return counting(
        tf, {"a": x}, collections.OrderedDict(a=x), collections.defaultdict(int, a=x), {"a": x}
    )


def case_namedtuple(tf):
    pair = collections.namedtuple("pair", "a b")
    other = collections.namedtuple("other", "a b")
    x = tf.constant(1.0)
    return counting(tf, (pair(x, x),), (pair(x, x),), (other(x, x),), ((x, x),))


def case_nested_structure(tf):
    x = tf.constant(1.0)

    @tf.function
    def f(nest):
        a, b = nest["pair"]
        return {"sum": a + b, "rest": [nest["rest"][0] * 2]}

    return f({"pair": (x, x * 3), "rest": [x]})


def case_structure_arrives_as_it_is(tf):
    pair = collections.namedtuple("pair", "a b")
    kinds = []

    @tf.function
    def f(*args):
        kinds.append([type(a).__name__ for a in args])
        return tf.constant(0)

    x = tf.constant(1.0)
    f([x], (x,), {"a": x}, pair(x, x), None, "s", 1, 1.5, True)
    return kinds


def case_set_as_argument(tf):
    return attempts(
        tf,
        {
            "set": lambda tf: counting(tf, {1, 2}, {2, 1}, {1}),
            "frozenset": lambda tf: counting(tf, frozenset({1}), frozenset({1})),
            "range": lambda tf: counting(tf, range(3), range(3), range(4)),
            "slice": lambda tf: counting(tf, slice(1, 2), slice(1, 2)),
            "ellipsis": lambda tf: counting(tf, ..., ...),
            "bytes": lambda tf: counting(tf, b"a", b"b", b"a"),
            "module": lambda tf: counting(tf, np, np, functools),
        },
        words=0,
    )


def case_list_argument_changed_inside(tf):
    @tf.function
    def f(items):
        items.append(tf.constant(2))
        return len(items)

    items = [tf.constant(1)]
    return f(items), len(items)


# --- keywords, defaults, *args


def case_keyword_or_position(tf):
    traces = []

    @tf.function
    def f(x, y):
        traces.append(1)
        return x - y

    a, b = tf.constant(5), tf.constant(3)
    return f(a, b), f(a, y=b), f(x=a, y=b), f(y=b, x=a), len(traces)


def case_default_given_explicitly(tf):
    return keywords(tf, {}, {"y": 2}, {"x": None}, {"y": 3}, {"y": 2.0})


def case_default_argument_value(tf):
    @tf.function
    def f(x, y=10):
        return x + y

    return f(1), f(1, 2), f(1, y=3), f(tf.constant(1))


def case_tensor_default(tf):
    @tf.function
    def f(x, y=tf.constant(10)):
        return x + y

    return f(tf.constant(1)), f(tf.constant(1), tf.constant(2))


def case_keyword_only(tf):
    @tf.function
    def f(x, *, factor):
        return x * factor

    return f(tf.constant(2), factor=3), attempt(lambda: f(tf.constant(2)), words=0)


def case_positional_only(tf):
    @tf.function
    def f(x, /, y):
        return x * y

    return f(tf.constant(2), 3), attempt(lambda: f(x=tf.constant(2), y=3), words=0)


def case_variable_number_of_arguments(tf):
    traces = []

    @tf.function
    def f(*args, **kwargs):
        traces.append(sorted(kwargs))
        return tf.add_n(list(args) + list(kwargs.values()))

    x = tf.constant(1)
    return f(x), f(x, x), f(x, y=x), f(x, z=x, y=x), f(x, y=x, z=x), traces


def case_wrong_arguments(tf):
    @tf.function
    def f(x, y):
        return x + y

    return attempts(
        tf,
        {
            "missing": lambda tf: f(1),
            "too many": lambda tf: f(1, 2, 3),
            "unknown": lambda tf: f(1, 2, z=3),
            "twice": lambda tf: f(1, 2, x=3),
            "none": lambda tf: f(),
        },
        words=0,
    )


# --- what comes back


def case_results(tf):
    x = tf.constant(1.0)

    def give(value):
        return tf.function(lambda: value() if callable(value) else value)()

    return {
        "none": give(None),
        "int": give(3),
        "float": give(2.5),
        "bool": give(True),
        "string": give("text"),
        "list": give([1, 2]),
        "numpy": give(np.array([1, 2])),
        "empty tuple": give(()),
        "dict": give(lambda: {"a": x, "b": None, "c": (1, [2.0])}),
        "tensor outside": give(x),
        "tensor inside": give(lambda: x + 1),
        "twice": give(lambda: (x, x)),
    }


def case_result_is_an_argument(tf):
    x = tf.constant([1.0, 2.0])
    f = tf.function(lambda x: x)
    y = f(x)
    return y, y is x


def case_result_is_a_variable(tf):
    v = tf.Variable(1.0)
    f = tf.function(lambda: v)
    return f(), f() is v


def case_result_namedtuple(tf):
    pair = collections.namedtuple("pair", "a b")
    f = tf.function(lambda x: pair(x, x + 1))
    result = f(tf.constant(1))
    return type(result).__name__, result.a, result.b


def case_result_of_no_kind(tf):
    class Thing:
        pass

    f = tf.function(lambda: Thing())
    return attempt(lambda: type(f()).__name__, words=0)


def case_result_is_indexed_slices(tf):
    @tf.function
    def f(x):
        return tf.IndexedSlices(x, tf.constant([0, 2]), tf.constant([4]))

    return f(tf.constant([1.0, 2.0]))


def case_result_is_a_function(tf):
    f = tf.function(lambda x: lambda: x)
    return attempt(lambda: callable(f(tf.constant(1))), words=0)


def case_results_of_two_types(tf):
    @tf.function
    def f(flag):
        return tf.constant(1) if flag else "text"

    return f(True), f(False), f(True)


# --- input_signature


def case_input_signature(tf):
    f = tf.function(lambda x: x * 2, input_signature=[tf.TensorSpec([2], tf.float32)])
    return attempts(
        tf,
        {
            "right": lambda tf: f(tf.constant([1.0, 2.0])),
            "list": lambda tf: f([1.0, 2.0]),
            "ints": lambda tf: f([1, 2]),
            "numpy": lambda tf: f(np.array([1.0, 2.0], np.float32)),
            "numpy float64": lambda tf: f(np.array([1.0, 2.0])),
            "keyword": lambda tf: f(x=tf.constant([1.0, 2.0])),
            "wrong dtype": lambda tf: f(tf.constant([1, 2])),
            "wrong shape": lambda tf: f(tf.constant([1.0])),
            "wrong rank": lambda tf: f(tf.constant(1.0)),
            "none": lambda tf: f(None),
            "two": lambda tf: f(tf.constant([1.0, 2.0]), 1),
            "missing": lambda tf: f(),
        },
        words=0,
    )


def case_input_signature_mismatch_message(tf):
    f = tf.function(lambda x: x * 2, input_signature=[tf.TensorSpec([2], tf.float32)])
    return (
        attempt(lambda: f(tf.constant([1, 2])), words=4),
        attempt(lambda: f(tf.constant(["a"])), words=4),
    )


def case_input_signature_traces_once(tf):
    return counting(
        tf,
        tf.ones([1, 3]),
        tf.ones([2, 3]),
        np.ones([5, 3], np.float32),
        tf.zeros([0, 3]),
        input_signature=[tf.TensorSpec([None, 3], tf.float32)],
    )


def case_input_signature_of_any_rank(tf):
    shapes = []

    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
    def f(x):
        shapes.append(x.shape)
        return x + 1.0, tf.rank(x)

    return f(tf.constant(1.0)), f(tf.ones([2])), f(tf.ones([1, 2])), shapes


def case_input_signature_two_arguments(tf):
    spec = tf.TensorSpec([None], tf.float32)
    f = tf.function(lambda x, y: x - y, input_signature=(spec, spec))
    x, y = tf.constant([3.0]), tf.constant([1.0])
    return f(x, y), f(y=x, x=y), attempt(lambda: f(x), words=0)


def case_input_signature_with_default(tf):
    spec = tf.TensorSpec([], tf.float32)

    @tf.function(input_signature=[spec])
    def f(x, n=2):
        return x * n

    return f(1.0), attempt(lambda: f(1.0, 3), words=0), attempt(lambda: f(1.0, n=2), words=0)


def case_input_signature_covers_default(tf):
    spec = tf.TensorSpec([], tf.float32)

    @tf.function(input_signature=[spec, spec])
    def f(x, y=5.0):
        return x * y

    return f(2.0, 3.0), attempt(lambda: f(2.0), words=0)


def case_input_signature_too_long(tf):
    spec = tf.TensorSpec([], tf.float32)

    def program():
        f = tf.function(lambda x: x, input_signature=[spec, spec])
        return f(1.0)

    return attempt(program, words=0)


def case_input_signature_too_short(tf):
    def program():
        f = tf.function(lambda x, y: x, input_signature=[tf.TensorSpec([], tf.float32)])
        return f(1.0, 2.0)

    return attempt(program, words=0)


def case_input_signature_empty(tf):
    f = tf.function(lambda: tf.constant(1), input_signature=[])
    return f(), attempt(lambda: f(1), words=0)


def case_input_signature_nested(tf):
    spec = tf.TensorSpec([None], tf.float32)
    f = tf.function(lambda d: d["a"] + d["b"][0], input_signature=[{"a": spec, "b": [spec]}])
    x = tf.constant([1.0, 2.0])
    return f({"a": x, "b": [x]}), attempt(lambda: f({"a": x}), words=0)


def _calls_of_structures(tf, make):
    """What `make` of a signature gives for structures that fit it, and for others."""
    Pair = collections.namedtuple("Pair", "p q")
    Swapped = collections.namedtuple("Swapped", "q p")
    One = collections.namedtuple("One", "p")
    x, y = tf.constant(1.0), tf.constant(2.0)
    spec = tf.TensorSpec([])
    wanted = {
        "list": [spec],
        "tuple": (spec, spec),
        "dict": {"a": spec},
        "named": Pair(spec, spec),
        "ordered": collections.OrderedDict(a=spec),
    }
    given = {
        "list": [x],
        "tuple": (x, y),
        "short": (x,),
        "dict": {"a": x},
        "keys": {"a": x, "b": y},
        "named": Pair(x, y),
        "swapped": Swapped(x, y),
        "one": One(x),
        "ordered": collections.OrderedDict(a=x),
        "none": None,
        "tensor": x,
    }

    def call(key, value):
        result = make(tf.function, [wanted[key]])(value)
        return type(result).__name__, result

    return {f"{k} {v}": attempt(call, k, given[v], words=12) for k in wanted for v in given}


def case_input_signature_of_structures(tf):
    return _calls_of_structures(tf, lambda make, s: make(lambda x: x, input_signature=s))


def case_concrete_of_structures(tf):
    return _calls_of_structures(tf, lambda make, s: make(lambda x: x).get_concrete_function(*s))


def case_input_signature_of_no_spec(tf):
    return attempt(lambda: tf.function(lambda x: x, input_signature=[3])(3), words=0)


def case_input_signature_on_a_method(tf):
    class Model:
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def double(self, x):
            return x * 2

    m = Model()
    return m.double(tf.constant([1.0])), m.double([1.0, 2.0])


def case_input_signature_and_varargs(tf):
    spec = tf.TensorSpec([], tf.float32)
    f = tf.function(lambda *args: tf.add_n(list(args)), input_signature=[spec, spec])
    return attempt(lambda: f(1.0, 2.0), words=0), attempt(lambda: f(1.0), words=0)


def case_input_signature_variable_argument(tf):
    f = tf.function(lambda x: x * 2, input_signature=[tf.TensorSpec([], tf.float32)])
    return attempt(lambda: f(tf.Variable(3.0)), words=0)


# --- fewer traces


def case_reduce_retracing(tf):
    shapes = []

    @tf.function(reduce_retracing=True)
    def f(x):
        shapes.append(x.shape)
        return x + 1

    for n in (1, 2, 3, 7):
        f(tf.ones([n, 2]))
    return shapes


def case_reduce_retracing_rank(tf):
    shapes = []

    @tf.function(reduce_retracing=True)
    def f(x):
        shapes.append(str(x.shape))
        return x + 1

    return [f(tf.ones(shape)) for shape in ([2], [3], [2, 2], [4, 4], [5])], shapes


def case_reduce_retracing_results(tf):
    f = tf.function(lambda x: tf.reduce_sum(x) / tf.cast(tf.size(x), tf.float32))
    g = tf.function(lambda x: tf.reduce_sum(x * x), reduce_retracing=True)
    return [f(tf.ones([n])) for n in (1, 2)], [g(tf.ones([n])) for n in (1, 2, 3, 5)]


def case_reduce_retracing_two_dimensions(tf):
    shapes = []

    @tf.function(reduce_retracing=True)
    def f(x):
        shapes.append(x.shape)
        return tf.reduce_sum(x)

    for shape in ([2, 3], [4, 3], [4, 5], [6, 7]):
        f(tf.ones(shape))
    return shapes


def case_reduce_retracing_composites(tf):
    """Rows of ragged tensors, of sparse ones and of slices are of any number from the second on."""
    seen = []

    @tf.function(reduce_retracing=True)
    def f(x):
        shown = x["a"] if isinstance(x, dict) else x
        seen.append((type(x).__name__, str(shown.shape)))
        return tf.nest.flatten(x, expand_composites=True)[0]

    rows = [[[1], [2, 3]], [[1], [2], [3, 4]], [[1]] * 4, [[2] * 3] * 5]
    ragged = [f(tf.ragged.constant(x)) for x in (*rows, [[[1]]], [[[1]], [[2]]], [[[3]]] * 3)]
    sparse = [f(tf.sparse.from_dense(tf.ones([n, 2]))) for n in (1, 2, 3, 4)]
    slices = [f(tf.IndexedSlices(tf.ones([n, 2]), tf.range(n))) for n in (1, 2, 3, 4)]
    pairs = [f({"a": tf.ragged.constant(x), "b": tf.ones([n])}) for n, x in enumerate(rows, 1)]
    return seen, ragged, sparse, slices, pairs


def case_reduce_retracing_python_values(tf):
    return counting(tf, 1, 2, 3, 1, reduce_retracing=True)


def case_retracing_warning(tf):
    @tf.function
    def f(x):
        return tf.constant(0)

    with messages(words=40) as lines:
        for n in range(12):
            f(n)
    return ["triggered tf.function retracing" in line for line in lines][:1]


def case_tracing_count(tf):
    f = tf.function(lambda x: x)
    counts = [f.experimental_get_tracing_count()]
    for value in (tf.constant(1), tf.constant(2), tf.constant(1.0), 1, 1):
        f(value)
        counts.append(f.experimental_get_tracing_count())
    return counts


def case_first_call_traces_once(tf):
    traces = []

    @tf.function
    def f(x):
        traces.append(1)
        return x

    f(tf.constant(1))
    return traces


# --- variables as arguments


def case_variable_argument(tf):
    kinds = []

    @tf.function
    def f(v, x):
        kinds.append(isinstance(v, tf.Variable))
        v.assign_add(x)
        return v + 1.0

    v = tf.Variable(1.0)
    return f(v, tf.constant(2.0)), f(v, tf.constant(3.0)), v, kinds


def case_variables_of_equal_shape_share_a_trace(tf):
    a, b, c = tf.Variable(1.0), tf.Variable(2.0), tf.Variable([1.0])
    return counting(tf, a, b, a, c, b)


def case_variable_or_tensor(tf):
    return counting(tf, tf.Variable(1.0), tf.constant(1.0))


def case_the_same_variable_twice(tf):
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    return counting(tf, (a, a), (a, b), (b, b), (b, a))


def case_alias_results(tf):
    @tf.function
    def f(v, w):
        v.assign(w + 1.0)
        return w * 10.0

    a, b = tf.Variable(1.0), tf.Variable(5.0)
    return f(a, b), f(a, a), f(b, b), a, b


def case_variables_in_a_list(tf):
    @tf.function
    def f(vs):
        for v in vs:
            v.assign(v * 2.0)
        return tf.add_n([v.read_value() for v in vs])

    vs = [tf.Variable(1.0), tf.Variable(2.0)]
    return f(vs), f(vs), vs


def case_trainable_or_not(tf):
    return counting(tf, tf.Variable(1.0), tf.Variable(1.0, trainable=False))


# --- methods and classes


def case_method(tf):
    class Model:
        def __init__(self, k):
            self.k = k
            self.traces = 0

        @tf.function
        def scale(self, x):
            self.traces += 1
            return x * self.k

    a, b = Model(2.0), Model(3.0)
    x = tf.constant(1.0)
    results = [a.scale(x), a.scale(x), b.scale(x), b.scale(x), a.scale(tf.constant([1.0]))]
    return results, a.traces, b.traces


def case_method_per_instance(tf):
    class Model:
        @tf.function
        def call(self, x):
            return x

    a, b = Model(), Model()
    return a.call is a.call, a.call is b.call, a.call is Model.call


def case_method_through_the_class(tf):
    class Model:
        k = 4

        @tf.function
        def scale(self, x):
            return x * self.k

    return Model.scale(Model(), tf.constant(2))


def case_method_counts_per_instance(tf):
    class Model:
        @tf.function
        def call(self, x):
            return x

    a, b = Model(), Model()
    a.call(tf.constant(1))
    a.call(tf.constant(1.0))
    b.call(tf.constant(1))
    return a.call.experimental_get_tracing_count(), b.call.experimental_get_tracing_count()


def case_static_and_class_method(tf):
    class Model:
        k = 3

        @staticmethod
        @tf.function
        def double(x):
            return x * 2

        @classmethod
        def scale(cls, x):
            return tf.function(lambda x: x * cls.k)(x)

    x = tf.constant(2)
    return Model.double(x), Model().double(x), Model.scale(x)


def case_inherited_method(tf):
    class Base:
        @tf.function
        def call(self, x):
            return self.inner(x) + 1

        def inner(self, x):
            return x

    class Derived(Base):
        def inner(self, x):
            return x * 10

    x = tf.constant(2)
    base, derived = Base(), Derived()
    return base.call(x), derived.call(x)


def case_overridden_method_calls_super(tf):
    class Base:
        @tf.function
        def call(self, x):
            return x + 1

    class Derived(Base):
        @tf.function
        def call(self, x):
            return super().call(x) * 10

    derived = Derived()
    return attempt(derived.call, tf.constant(2), words=0)


def case_bound_method_made_a_function(tf):
    class Model:
        def __init__(self):
            self.k = 2
            self.fast = tf.function(self.slow)

        def slow(self, x):
            return x * self.k

    return Model().fast(tf.constant(4))


def case_property(tf):
    class Model:
        @property
        @tf.function
        def value(self):
            return tf.constant(7)

    return Model().value


def case_instance_with_slots(tf):
    class Model:
        __slots__ = ("k",)

        def __init__(self):
            self.k = 2

        @tf.function
        def call(self, x):
            return x * self.k

    return attempt(lambda: Model().call(tf.constant(1)), words=0)


def case_instance_that_compares_equal(tf):
    class Model:
        def __init__(self, k):
            self.k = k

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 1

        @tf.function
        def call(self, x):
            return x * self.k

    x = tf.constant(1)
    a, b = Model(2), Model(3)
    return a.call(x), b.call(x)


# --- functions that call functions


def case_inner_function(tf):
    outer, inner = [], []

    @tf.function
    def g(x):
        inner.append(1)
        return x * 2

    @tf.function
    def f(x):
        outer.append(1)
        return g(x) + g(x + 1)

    x = tf.constant(1)
    return f(x), f(x), g(x), len(outer), len(inner)


def case_function_defined_inside(tf):
    @tf.function
    def f(x):
        @tf.function
        def g(y):
            return y * x

        return g(tf.constant(3)) + g(tf.constant(4))

    return f(tf.constant(2)), f(tf.constant(5))


def case_function_that_returns_a_function_result_twice(tf):
    g = tf.function(lambda x: (x, x + 1))

    @tf.function
    def f(x):
        a, b = g(x)
        return g(a + b)

    return f(tf.constant(1))


def case_recursion_over_python(tf):
    @tf.function
    def f(x, n):
        return x if n == 0 else f(x * 2, n - 1)

    x = tf.constant(1)
    return f(x, 0), f(x, 3), f.experimental_get_tracing_count()


def case_recursion_over_tensors(tf):
    @tf.function
    def f(n):
        if n <= 0:
            return n
        return f(n - 1)

    return attempt(lambda: type(f(tf.constant(3))).__name__ and None, words=0)


def case_mutual_recursion(tf):
    @tf.function
    def even(x, n):
        return x if n == 0 else odd(x + 1, n - 1)

    @tf.function
    def odd(x, n):
        return -x if n == 0 else even(x + 10, n - 1)

    return even(tf.constant(0), 3), even(tf.constant(0), 2)


# --- errors while tracing


def case_error_while_tracing(tf):
    traces = []

    @tf.function
    def f(x):
        traces.append(1)
        raise KeyError("mine")

    return attempt(lambda: f(tf.constant(1)), words=0), attempt(f, tf.constant(1), words=0), traces


def case_error_then_success(tf):
    fail = [True]
    traces = []

    @tf.function
    def f(x):
        traces.append(1)
        if fail[0]:
            raise ValueError("first time")
        return x * 2

    first = attempt(f, tf.constant(1), words=0)
    fail[0] = False
    return first, f(tf.constant(1)), f(tf.constant(2)), len(traces)


def case_own_exception_class(tf):
    class Mine(Exception):
        def __init__(self, a, b):
            super().__init__(f"{a} {b}")
            self.a = a

    @tf.function
    def f(x):
        raise Mine(1, 2)

    def program():
        try:
            f(tf.constant(1))
        except Mine as error:
            return type(error).__name__, getattr(error, "a", None)

    return attempt(program, words=0)


def case_shape_error_while_tracing(tf):
    f = tf.function(lambda x, y: tf.matmul(x, y))
    try:
        f(tf.ones([2, 3]), tf.ones([2, 3]))
    except ValueError:
        return "ValueError"


def case_error_names_the_users_line(tf):
    @tf.function
    def f(x):
        y = x + 1
        raise ValueError("the words")
        return y

    try:
        f(tf.constant(1))
    except ValueError as error:
        text = str(error)
        return "in user code:" in text, "cases_function_tracing.py" in text, "the words" in text


def case_error_without_autograph(tf):
    @tf.function(autograph=False)
    def f(x):
        raise ValueError("the words are these")

    return attempt(lambda: f(tf.constant(1)))


def case_caught_inside(tf):
    @tf.function
    def f(x):
        try:
            return tf.matmul(x, x)
        except ValueError:
            return x + 1

    return f(tf.ones([2, 3]))


def case_error_at_run_time(tf):
    @tf.function
    def f(x, i):
        return tf.gather(x, i)

    x = tf.constant([1.0, 2.0])
    return f(x, tf.constant(1)), attempt(lambda: f(x, tf.constant(5)).shape, words=0)


# --- where am I


def case_executing_eagerly(tf):
    seen = []

    @tf.function
    def f():
        seen.append(tf.executing_eagerly())
        with tf.init_scope():
            seen.append(tf.executing_eagerly())
        return tf.constant(0)

    f()
    return tf.executing_eagerly(), seen


def case_inside_function(tf):
    seen = []

    @tf.function
    def f():
        seen.append(tf.inside_function())
        return tf.constant(0)

    f()
    return tf.inside_function(), seen


def case_inside_function_in_an_init_scope(tf):
    seen = []

    @tf.function
    def f():
        with tf.init_scope():
            seen.append(tf.inside_function())
        return tf.constant(0)

    f()
    return seen


def case_init_scope_values(tf):
    @tf.function
    def f(x):
        with tf.init_scope():
            made = tf.constant(2) * 3
            value = int(made.numpy())
        return x * value + made

    return f(tf.constant(1))


def case_init_scope_with_a_symbol(tf):
    @tf.function
    def f(x):
        with tf.init_scope():
            return x * 2

    return attempt(lambda: f(tf.constant(1)), words=0)


def case_run_functions_eagerly(tf):
    runs = []

    @tf.function
    def f(x):
        runs.append(tf.executing_eagerly())
        return x * 2

    x = tf.constant(1)
    f(x)
    tf.config.run_functions_eagerly(True)
    try:
        results = [f(x), f(x)]
        inside = tf.config.functions_run_eagerly()
    finally:
        tf.config.run_functions_eagerly(False)
    return results, f(x), runs, inside, tf.config.functions_run_eagerly()


def case_run_functions_eagerly_sees_values(tf):
    @tf.function
    def f(x):
        return float(x) + 1.0 if x > 0 else -1.0

    tf.config.run_functions_eagerly(True)
    try:
        return f(tf.constant(2.0)), f(tf.constant(-2.0))
    finally:
        tf.config.run_functions_eagerly(False)


def case_default_graph(tf):
    seen = []

    @tf.function
    def f(x):
        graph = tf.compat.v1.get_default_graph()
        seen.append((type(graph).__name__, graph.building_function, x.graph is graph))
        return x

    f(tf.constant(1))
    return seen


def case_graph_name(tf):
    @tf.function
    def my_step(x):
        return x

    return my_step.get_concrete_function(tf.constant(1)).graph.name


# --- symbolic tensors


def symbolic(tf, use, *args, **settings):
    """What `use(x)` gives or raises inside a function, of a float32 vector of two by default."""
    seen = []

    @tf.function(autograph=False, **settings)
    def f(x):
        seen.append(attempt(use, x, words=0))
        return tf.constant(0)

    f(*(args or (tf.constant([1.0, 2.0]),)))
    return seen[0]


def case_names_of_arguments(tf):
    seen = []

    @tf.function
    def f(x, y, *rest, k=None):
        seen.append([t.name for t in (x, y, *rest, k)])
        return x

    one = tf.constant(1)
    f(one, one, one, k=one)
    f(x=one, y=one, k=one)
    return seen


def case_names_in_structures(tf):
    seen = []

    @tf.function
    def f(d, pair):
        seen.append([d["b"].name, d["a"].name, pair[0].name, pair[1].name])
        return tf.constant(0)

    one = tf.constant(1)
    f({"a": one, "b": one}, (one, one))
    return seen


def case_name_from_the_spec(tf):
    seen = []

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32, name="mine")])
    def f(x):
        seen.append(x.name)
        return x

    f(1)
    return seen


def case_names_of_ops(tf):
    seen = []

    @tf.function
    def f(x):
        a = x + 1.0
        b = x + 2.0
        c = tf.matmul(x, x, name="product")
        with tf.name_scope("scope"):
            d = tf.exp(x)
            e = tf.exp(x, name="other")
        seen.extend(t.name for t in (a, b, c, d, e, tf.identity(x)))
        return x

    f(tf.ones([2, 2]))
    return seen


def case_repr_of_a_symbol(tf):
    seen = []

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def f(x):
        seen.extend([repr(x), str(x), f"{x}", repr(x + 1.0), repr(tf.shape(x))])
        return x

    f(tf.ones([2, 3]))
    return seen


def case_print_while_tracing(tf):
    seen = []

    @tf.function
    def f(x):
        seen.append(f"tracing with {x}")
        return x

    f(tf.constant(1))
    f(3)
    return seen


def case_string_tensor_while_tracing(tf):
    traces = []

    @tf.function
    def f(x):
        traces.append(1)
        return x

    return f(tf.constant("a")), f(tf.constant("b")), f(tf.constant("a")), len(traces)


def case_symbol_as_bool(tf):
    return (
        symbolic(tf, lambda x: bool(x[0] > 0)),
        symbolic(tf, lambda x: 1 if x[0] > 0 else 2),
        symbolic(tf, lambda x: not x),
        symbolic(tf, lambda x: x[0] > 0 and x[1] > 0),
    )


@options(words=6)
def case_symbol_as_bool_message(tf):
    @tf.function(autograph=False)
    def f(x):
        return x if x > 0 else -x

    return f(tf.constant(1.0))


def case_symbol_has_no_value(tf):
    return {
        "numpy()": symbolic(tf, lambda x: x.numpy()),
        "np.array": symbolic(tf, lambda x: np.array(x)),
        "np.sum": symbolic(tf, lambda x: np.sum(x)),
        "float": symbolic(tf, lambda x: float(x[0])),
        "int": symbolic(tf, lambda x: int(x[0])),
        "hash": symbolic(tf, lambda x: hash(x)),
        "format": symbolic(tf, lambda x: f"{x:.2f}"),
        "set": symbolic(tf, lambda x: len({x})),
        "tolist": symbolic(tf, lambda x: x.numpy().tolist()),
    }


def case_symbol_as_an_index(tf):
    return symbolic(tf, lambda x: [1, 2][x]), symbolic(tf, lambda x: list(range(x)))


def case_symbol_as_a_sequence(tf):
    return {
        "iterate": symbolic(tf, lambda x: list(x)),
        "in": symbolic(tf, lambda x: 1.0 in x),
        "len": symbolic(tf, lambda x: len(x)),
    }


def case_symbol_numpy_message(tf):
    @tf.function
    def f(x):
        return x.numpy()

    return attempt(lambda: f(tf.constant(1.0)), words=3)


def case_symbol_attributes(tf):
    seen = []

    @tf.function
    def f(x):
        seen.extend([x.shape, x.dtype, x.shape.rank, tf.is_tensor(x), isinstance(x, tf.Tensor)])
        seen.append([hasattr(x, name) for name in ("name", "graph", "device")])
        return x

    f(tf.ones([2, 3]))
    return seen


def case_symbol_op(tf):
    seen = []

    @tf.function
    def f(x):
        seen.append((x.op.type, x.op.name, x.value_index))
        return x

    f(tf.ones([2, 3]))
    return seen


def case_symbol_has_the_attribute_numpy(tf):
    return symbolic(tf, lambda x: hasattr(x, "numpy"))


def case_symbol_compared_with_none(tf):
    return symbolic(tf, lambda x: (x is None, type(x == None).__name__))  # noqa: E711


def case_symbol_equality_is_an_op(tf):
    @tf.function
    def f(x, y):
        return x == y, x != y

    return f(tf.constant([1, 2]), tf.constant([1, 3]))


def case_symbol_ref(tf):
    return symbolic(tf, lambda x: (len({x.ref()}), x.ref().deref() is x))


def case_symbol_static_value(tf):
    @tf.function
    def f(x):
        known = [tf.get_static_value(t) for t in (x, tf.constant(3), tf.shape(x), tf.constant([1]))]
        return [-1 if k is None else k for k in known]

    return f(tf.ones([2, 3]))


def case_symbol_leaks(tf):
    leaked = []

    @tf.function
    def f(x):
        leaked.append(x + 1)
        return x

    f(tf.constant(1))
    y = leaked[0]
    return attempts(
        tf,
        {
            "op": lambda tf: y + 1,
            "numpy": lambda tf: y.numpy(),
            "bool": lambda tf: bool(y),
            "shape": lambda tf: y.shape,
            "dtype": lambda tf: y.dtype,
            "repr": lambda tf: repr(y),
            "tf.print": lambda tf: tf.add(y, y),
            "assign": lambda tf: tf.Variable(1).assign(y),
            "convert": lambda tf: tf.convert_to_tensor(y) is y,
        },
        words=0,
    )


def case_symbol_leaks_into_another_function(tf):
    leaked = []

    @tf.function
    def f(x):
        leaked.append(x + 1)
        return x

    @tf.function
    def g(x):
        return x + leaked[0]

    f(tf.constant(1))
    return attempt(lambda: g(tf.constant(1)), words=0)


def case_symbol_leaks_through_an_attribute(tf):
    class Model:
        last = None

        @tf.function
        def call(self, x):
            self.last = x * 2
            return x

    m = Model()
    m.call(tf.constant(1))
    return attempt(lambda: m.last + 1, words=0), m.last.shape


def case_numpy_function_on_a_symbol(tf):
    return symbolic(tf, lambda x: np.exp(x)), symbolic(tf, lambda x: np.mean(np.asarray(x)))


def case_static_shape_as_python(tf):
    @tf.function
    def f(x):
        n, m = x.shape
        total = tf.zeros([])
        for i in range(n):
            total += tf.reduce_sum(x[i]) * i
        return total, n * m, len(x.shape), x.shape[-1], x.shape.as_list()

    return f(tf.ones([3, 2]))


def case_len_of_a_symbol(tf):
    f = tf.function(lambda x: len(x))
    return f(tf.ones([3, 2]))


def case_unpack_a_symbol(tf):
    @tf.function
    def f(x):
        a, b = x
        return a * 10 + b

    return attempt(lambda: f(tf.constant([1, 2])), words=0)


def case_unstack_a_symbol(tf):
    @tf.function
    def f(x):
        a, b = tf.unstack(x)
        return a * 10 + b

    return f(tf.constant([1, 2]))


# --- concrete functions


def case_concrete_with_a_value(tf):
    f = tf.function(lambda x: x * 2)
    c = f.get_concrete_function(tf.constant(1.0))
    return c(tf.constant(3.0)), attempt(lambda: c(tf.constant(3)), words=0)


def case_concrete_with_a_spec(tf):
    f = tf.function(lambda x: x * 2)
    c = f.get_concrete_function(tf.TensorSpec([None], tf.float32))
    return c(tf.constant([3.0])), c(tf.constant([1.0, 2.0]))


def case_concrete_is_found_again(tf):
    f = tf.function(lambda x: x * 2)
    spec = tf.TensorSpec([], tf.float32)
    a = f.get_concrete_function(spec)
    f(tf.constant(1.0))
    b = f.get_concrete_function(tf.constant(1.0))
    return a is f.get_concrete_function(spec), a is b, f.experimental_get_tracing_count()


def case_concrete_serves_later_calls(tf):
    traces = []

    @tf.function
    def f(x):
        traces.append(x.shape)
        return x * 2

    f.get_concrete_function(tf.TensorSpec([None], tf.float32))
    return f(tf.constant([1.0])), f(tf.constant([1.0, 2.0])), f(tf.constant(1.0)), traces


def case_concrete_of_a_signature(tf):
    f = tf.function(lambda x: x * 2, input_signature=[tf.TensorSpec([None], tf.float32)])
    c = f.get_concrete_function()
    return c(tf.constant([1.0, 2.0])), c.structured_input_signature[0]


def case_concrete_by_name(tf):
    f = tf.function(lambda x, y: x - y)
    c = f.get_concrete_function(tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.int32))
    a, b = tf.constant(5), tf.constant(3)
    return c(a, b), c(x=a, y=b), c(y=a, x=b), c(a, y=b)


def case_concrete_by_the_names_of_specs(tf):
    f = tf.function(lambda x, y: x - y)
    c = f.get_concrete_function(
        tf.TensorSpec([], tf.int32, name="a"), tf.TensorSpec([], tf.int32, name="b")
    )
    a, b = tf.constant(5), tf.constant(3)
    return attempt(lambda: c(a, b), words=0), attempt(lambda: c(a=a, b=b), words=0)


def case_concrete_wrong_calls(tf):
    f = tf.function(lambda x, y: x - y)
    c = f.get_concrete_function(tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.int32))
    a = tf.constant(5)
    return attempts(
        tf,
        {
            "missing": lambda tf: c(a),
            "too many": lambda tf: c(a, a, a),
            "unknown": lambda tf: c(a, a, z=a),
            "dtype": lambda tf: c(a, tf.constant(1.0)),
            "shape": lambda tf: c(a, tf.constant([1])),
            "python": lambda tf: c(a, 1),
            "twice": lambda tf: c(a, a, x=a),
        },
        words=0,
    )


def case_concrete_python_value_is_bound(tf):
    @tf.function
    def f(x, n):
        return x * n

    c = f.get_concrete_function(tf.TensorSpec([], tf.int32), 3)
    x = tf.constant(2)
    return attempts(
        tf,
        {
            "left out": lambda tf: c(x),
            "equal": lambda tf: c(x, 3),
            "other": lambda tf: c(x, 4),
            "tensor": lambda tf: c(x, tf.constant(3)),
            "by name": lambda tf: c(x=x, n=3),
        },
        words=0,
    )


def case_concrete_python_value_before_tensors(tf):
    f = tf.function(lambda x, y: (x["a"] + x["b"], y[0] * y[1]))
    x, y = {"a": 3, "b": 2}, (tf.constant(5), 7)
    c = f.get_concrete_function(x, y)
    other = (tf.constant(6), 7)
    calls = [
        lambda: c(x, other),
        lambda: c(x, y=other),
        lambda: c(x=x, y=other),
        lambda: c(other[0]),
        lambda: c({"a": 3, "b": 4}, other),
        lambda: c(x, (tf.constant(6), 8)),
        lambda: c(x),
    ]
    return [attempt(call, words=0) for call in calls]


def case_concrete_structures(tf):
    f = tf.function(lambda d: {"sum": d["a"] + d["b"], "pair": (d["a"], None)})
    spec = tf.TensorSpec([], tf.int32)
    c = f.get_concrete_function({"a": spec, "b": spec})
    return c({"a": tf.constant(1), "b": tf.constant(2)}), c.structured_outputs


def case_concrete_signature(tf):
    @tf.function
    def f(x, n, *, k=None):
        return x, x + 1

    c = f.get_concrete_function(
        tf.TensorSpec([None, 2], tf.float32), 3, k=tf.TensorSpec([], "int32")
    )
    return c.structured_input_signature, c.structured_outputs


def case_concrete_inputs_and_outputs(tf):
    v, k = tf.Variable(1.0), tf.constant(2.0)
    f = tf.function(lambda x: (x * v, x + k))
    c = f.get_concrete_function(tf.TensorSpec([], tf.float32))
    return {
        "inputs": [(t.dtype, t.shape) for t in c.inputs if t.dtype != tf.resource],
        "outputs": [(t.dtype, t.shape) for t in c.outputs],
        "variables": [x is v for x in c.variables],
        "trainable": [x is v for x in c.trainable_variables],
        "captured": [x is k for x in c.captured_inputs if x.dtype != tf.resource],
        "output_shapes": c.output_shapes,
        "output_dtypes": c.output_dtypes,
        "count": (len(c.inputs), len(c.outputs), len(c.captured_inputs)),
    }


def case_concrete_names_of_inputs(tf):
    f = tf.function(lambda x, y: x - y)
    spec = tf.TensorSpec([], tf.int32)
    c = f.get_concrete_function(spec, y=spec)
    return [t.name for t in c.inputs]


def case_concrete_repr(tf):
    @tf.function
    def f(x, n):
        return x * n

    c = f.get_concrete_function(tf.TensorSpec([None], tf.float32), 2)
    shown = (
        repr(c).split(" at 0x")[0],
        c.pretty_printed_signature(),
        c.pretty_printed_signature(False),
    )
    return str(c).splitlines()[0], shown


def case_repr_of_parameters_by_name(tf):
    f = tf.function(lambda x, *, scale: {"y": (x, scale)})
    c = f.get_concrete_function(tf.TensorSpec([None]), scale=tf.TensorSpec([], tf.int32))
    return repr(c).split(" at 0x")[0]


def case_pretty_printed_signatures(tf):
    @tf.function
    def power(a, b):
        return a**b

    power(tf.constant(2.0), 3)
    power(tf.constant([2.0, 1.0]), tf.constant(2.0))
    return power.pretty_printed_concrete_signatures()


def case_concrete_function_of_texts(tf):
    @tf.function
    def f(text, x=None):
        return text + text if x is None else tf.strings.length(text) + x

    f(tf.constant(["a", "b"]))
    one = f.get_concrete_function(tf.constant("a"))
    two = f.get_concrete_function(tf.constant("abc"), tf.TensorSpec([], tf.int32))
    return (
        f.pretty_printed_concrete_signatures(),
        one.structured_input_signature,
        two.structured_input_signature,
        one(tf.constant("a")),
        one(text=tf.constant("a")),
        two(tf.constant("abc"), tf.constant(2)),
        attempt(lambda: one(tf.constant(1)))[0],
    )


def case_pretty_printed_signature_of_structures(tf):
    @tf.function
    def f(d, flag=True, name="n"):
        return {"out": d["a"], "rest": (d["b"], None)}

    f({"a": tf.constant(1.0), "b": tf.ones([2], tf.int32)})
    return f.pretty_printed_concrete_signatures()


def case_concrete_of_a_method(tf):
    class Model:
        def __init__(self):
            self.v = tf.Variable(3.0)

        @tf.function
        def call(self, x):
            return self.v * x

    m = Model()
    c = m.call.get_concrete_function(tf.TensorSpec([], tf.float32))
    return c(tf.constant(2.0)), [v is m.v for v in c.variables]


def case_concrete_inside_a_function(tf):
    g = tf.function(lambda x: x * 2)
    c = g.get_concrete_function(tf.TensorSpec([], tf.int32))

    @tf.function
    def f(x):
        return c(x) + 1

    return f(tf.constant(3))


def case_concrete_graph(tf):
    f = tf.function(lambda x: tf.exp(x) + 1.0)
    graph = f.get_concrete_function(tf.TensorSpec([], tf.float32)).graph
    types = [op.type for op in graph.get_operations()]
    return "Exp" in types, "Placeholder" in types, types.count("Exp")


def case_concrete_missing_arguments(tf):
    f = tf.function(lambda x, y: x + y)
    return attempt(lambda: f.get_concrete_function(tf.TensorSpec([], tf.int32)), words=0)


def case_spec_given_to_a_call(tf):
    f = tf.function(lambda x: x)
    return attempt(lambda: f(tf.TensorSpec([], tf.int32)), words=0)


def case_compiler_ir(tf):
    f = tf.function(lambda x: tf.exp(x) + 1.0, jit_compile=True)
    text = f.experimental_get_compiler_ir(tf.constant([1.0, 2.0]))
    hlo, mlir = text(stage="hlo"), text(stage="stablehlo")
    return "HloModule" in str(hlo), "exponential" in str(hlo), "stablehlo.exponential" in str(mlir)


def case_copies(tf):
    import copy

    calls = []

    @tf.function
    def f(x):
        calls.append(1)
        return x * 2

    f(tf.constant(1))
    return attempt(lambda: copy.deepcopy(f) and None, words=0)


def case_experimental_attributes(tf):
    f = tf.function(lambda x: x)
    names = (
        "python_function",
        "input_signature",
        "function_spec",
        "get_concrete_function",
        "experimental_get_tracing_count",
        "experimental_get_compiler_ir",
        "pretty_printed_concrete_signatures",
    )
    return [hasattr(f, name) for name in names]


def case_pickled_or_not(tf):
    import pickle

    f = tf.function(lambda x: x)
    return attempt(lambda: type(pickle.loads(pickle.dumps(f))).__name__, words=0)


def case_two_threads_trace_once(tf):
    import threading
    import time

    traces, results = [], []

    @tf.function
    def f(x):
        traces.append(1)
        time.sleep(0.02)
        return x * 2

    def call(n):
        results.append(int(f(tf.constant(n))))

    threads = [threading.Thread(target=call, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(traces), sorted(results)


def case_a_signature_leaves_a_parameter_out(tf):
    return tf.function(lambda x, y: x, input_signature=[tf.TensorSpec([])])


def case_an_empty_signature_leaves_a_parameter_out(tf):
    return tf.function(lambda inputs: inputs, input_signature=())


def case_a_signature_and_a_parameter_by_name_without_default(tf):
    return tf.function(lambda x, *, k: x, input_signature=[tf.TensorSpec([])])


def case_a_signature_leaves_defaults_out(tf):
    f = tf.function(
        lambda x, y=2.0, *more, k=3.0: x * y + k,
        input_signature=[tf.TensorSpec([])],
        autograph=False,
    )
    return f(tf.constant(5.0))


def case_slices_as_arguments(tf):
    @tf.function
    def halve(slices, variables):
        for each, variable in zip(slices, variables):
            variable.scatter_sub(tf.IndexedSlices(each.values * 0.5, each.indices))

    variable, found = tf.Variable(tf.ones([3, 2])), []
    for row in (1, 2):
        for sizes in (None, tf.constant([3, 2])):
            halve([tf.IndexedSlices(tf.ones([1, 2]), tf.constant([row]), sizes)], [variable])
            found.append(variable.numpy())
    return found, halve.experimental_get_tracing_count()


def case_dtypes_that_are_refused_while_recorded(tf):
    """TypeErrors, by which programs tell them from shapes, which are ValueErrors."""
    x, k = tf.constant([[1.0, 2.0]]), tf.constant([[1, 2]])

    def kinds(function):
        try:
            tf.function(function, autograph=False)(x, k)
        except Exception as error:
            return isinstance(error, TypeError), isinstance(error, ValueError)

    return [
        kinds(lambda x, k: x * k),
        kinds(lambda x, k: x < k),
        kinds(lambda x, k: tf.where(x > 0, x, k)),
        kinds(lambda x, k: tf.matmul(x, k, transpose_b=True)),
        kinds(lambda x, k: tf.linalg.cholesky(k)),
        kinds(lambda x, k: tf.nn.relu(tf.cast(x, tf.complex64))),
        kinds(lambda x, k: tf.tensor_scatter_nd_add(x, k, k[0])),
        kinds(lambda x, k: tf.random.log_uniform_candidate_sampler(k, 2, 1, True, 9)),
        kinds(lambda x, k: tf.matmul(x, x)),
        kinds(lambda x, k: x + tf.ones([3])),
        kinds(lambda x, k: tf.reshape(x, [3])),
    ]


def case_assertions_that_are_known_to_fail(tf):
    """They fail where they are come to, not where they are recorded."""

    @tf.function
    def fails(x):
        tf.debugging.Assert(False, ["never", x])
        return x

    @tf.function
    def by_branch(x):
        return tf.cond(x > 0, lambda: x, lambda: (tf.debugging.Assert(False, ["negative"]), -x)[1])

    @tf.function
    def by_statement(x):
        if x > 0:
            y = x
        else:
            tf.debugging.Assert(tf.constant(False), ["negative", x])
            y = -x
        return y

    recorded = fails.get_concrete_function(tf.TensorSpec([])) is not None
    calls = [(fails, 1.0), (by_branch, 1.0), (by_branch, -1.0), (by_statement, 2.0)]
    calls += [(by_statement, -2.0)]
    kinds = []
    for function, x in calls:
        try:
            kinds.append(function(tf.constant(x)))
        except tf.errors.InvalidArgumentError:
            kinds.append("refused")
    return recorded, kinds


def case_ragged_and_sparse_tensors_of_any_count(tf):
    seen = []

    @tf.function
    def f(x):
        values = x["x"].values
        seen.append(values.shape.as_list())
        return tf.reduce_sum(values * 2.0)

    def sparse(count):
        places = [[i, i] for i in range(count)]
        return tf.SparseTensor(places, tf.range(1.0, count + 1.0), [4, 4])

    rows = [[1, 2], [2, 2], [0, 1], [1, 1, 1], [2, 0, 4]]
    ragged = [tf.RaggedTensor.from_row_lengths(tf.ones([sum(n)]), n) for n in rows]
    given = [*map(sparse, (1, 2, 4, 2)), *ragged]
    results = [(f({"x": x}), f.experimental_get_tracing_count()) for x in given]
    concrete = f.get_concrete_function({"x": sparse(3)})
    return results, seen, concrete({"x": sparse(2)}), f.experimental_get_tracing_count()


def case_gradients_by_ragged_and_sparse_tensors_of_any_count(tf):
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    @tf.function
    def loss(x, rows):
        first = tf.sparse.sparse_dense_matmul(x, w)
        return tf.reduce_sum(first * first) + tf.reduce_sum(rows.values * w[0, 1])

    found = []
    for count in (1, 3, 2):
        places = [[i, i] for i in range(count)]
        x = tf.SparseTensor(places, tf.range(1.0, count + 1.0), [3, 3])
        rows = tf.RaggedTensor.from_row_lengths(tf.range(1.0, count + 2.0), [1, count])
        with tf.GradientTape() as tape:
            y = loss(x, rows)
        found.append((y, tape.gradient(y, w)))
    return found, loss.experimental_get_tracing_count()


def case_functions_made_anew_are_warned_of(tf):
    def warned(call, times):
        with messages(words=8) as lines:
            for i in range(times):
                call(i)
        return lines

    def anew(i):
        return tf.function(lambda x: x * 2)(i)

    class Model:
        @tf.function
        def call(self, x):
            return x + 1

    models = [Model() for _ in range(5)]
    inner = tf.function(lambda x: x - 1)

    @tf.function
    def outer(x):
        return inner(x) + inner(x + 1)

    return {
        "four": warned(lambda i: tf.function(lambda x: x * 3)(i), 4),
        "loop": warned(anew, 6),
        "methods": warned(lambda i: models[i].call(i), 5),
        "inside": warned(outer, 4),
    }


def case_a_weak_reference_is_refused(tf):
    class Thing:
        pass

    thing = Thing()
    f = tf.function(lambda x: tf.constant(1.0))
    return attempt(lambda: f(weakref.ref(thing)), words=2)


def case_concrete_shapes_of_none(tf):
    f = tf.function(lambda x: (x, None, {"a": None}))
    c = f.get_concrete_function(tf.constant([1.0]))
    g = tf.function(lambda: None).get_concrete_function()
    return c.output_shapes, c.output_dtypes, g.output_shapes, g.output_dtypes, g()


def case_concrete_names_and_dtypes_of_structures(tf):
    spec, named = tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.float32, name="own")
    f = tf.function(lambda x, *rest, **others: x)
    given = [
        lambda: f.get_concrete_function({"a": spec, "b": [spec, spec]}),
        lambda: f.get_concrete_function([{"a b": spec}, (named,)], {"x": spec}),
        lambda: f.get_concrete_function(spec, {1: spec}, z={"q": spec}, w=[spec]),
        lambda: f.get_concrete_function({"a": tf.constant(1.0)}),
    ]
    concrete = f.get_concrete_function({"a": spec})
    flat = f.get_concrete_function(spec)
    calls = [
        lambda: concrete({"a": tf.constant(2.0)}),
        lambda: concrete({"a": tf.constant(2)}),
        lambda: concrete({"a": 3.0}),
        lambda: flat(tf.constant(2)),
    ]
    signatures = [c().structured_input_signature for c in given]
    return (
        signatures,
        [[x.name for x in c().inputs] for c in given],
        [attempt(c, words=2) for c in calls],
    )


def case_concrete_of_any_rank(tf):
    v = tf.Variable(2.0)

    @tf.function
    def f(x, y):
        return {"sum": x["a"] + y * v, "rank": tf.rank(y)}

    spec = tf.TensorSpec(None, tf.float32)
    c = f.get_concrete_function({"a": spec}, tf.TensorSpec(None, tf.float32, name="z"))
    one, row = tf.constant(1.0), tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(c({"a": row}, row)["sum"])
    calls = [
        lambda: c({"a": one}, one),
        lambda: c({"a": row}, y=row),
        lambda: c(one, row),
        lambda: c(one, z=row),
        lambda: c({"a": one}),
        lambda: c({"a": tf.constant(1)}, one),
        lambda: c(one, row, row),
    ]
    square = tf.function(lambda x: x * x, input_signature=[spec])
    of_signature = square.get_concrete_function()
    inside = tf.function(lambda x: of_signature(x) + 1.0)
    return {
        "calls": [attempt(call, words=0) for call in calls],
        "gradient": (total, tape.gradient(total, v)),
        "signature": c.structured_input_signature,
        "of a signature": [of_signature(x) for x in (one, row, [[2.0]])],
        "inside": (inside(row), inside(one)),
        "shapes": of_signature.output_shapes,
    }


def case_names_of_specs_for_a_function_that_was_recorded(tf):
    @tf.function
    def add(Upper, _under):
        return Upper + _under

    spec, x, y = tf.TensorSpec([]), tf.constant(1.0), tf.constant(2.0)
    add(x, y)
    plain = add.get_concrete_function(spec, spec)
    named = add.get_concrete_function(tf.TensorSpec([], name="p"), tf.TensorSpec([], name="Q"))
    again = add.get_concrete_function(tf.TensorSpec([], name="p"), tf.TensorSpec([], name="Q"))
    add(x, y)
    return (
        named is again,
        plain is named,
        plain is add.get_concrete_function(spec, spec),
        add.experimental_get_tracing_count(),
        [c.structured_input_signature for c in (plain, named)],
        [x.name for x in named.inputs],
        named(p=x, Q=y),
        attempt(lambda: plain(p=x, Q=y), words=0),
        plain(Upper=x, _under=y),
    )


def case_names_of_specs_that_come_first(tf):
    add = tf.function(lambda a, b: a + b)
    named = add.get_concrete_function(tf.TensorSpec([], name="b"), tf.TensorSpec([], name="a"))
    plain = add.get_concrete_function(tf.TensorSpec([]), tf.TensorSpec([]))
    return [(c.structured_input_signature, [x.name for x in c.inputs]) for c in (named, plain)]


def case_concrete_of_any_number_of_arguments(tf):
    """Calls with more and fewer arguments than it was recorded for."""
    f = tf.function(lambda x, y=5, *rest, **named: x)
    one = tf.constant(1.0)
    fewer = f.get_concrete_function(1, 2, one)
    two = f.get_concrete_function(1, 2)
    by_name = f.get_concrete_function(1, 2, c=one)
    calls = [
        lambda: fewer(1, 2),
        lambda: fewer(1, 2, one),
        lambda: two(1, 2, 3),
        lambda: two(1, 2, c=one),
        lambda: two(1, 2),
        lambda: by_name(1, 2),
        lambda: by_name(1, 2, c=one),
    ]
    return [attempt(call, words=13) for call in calls]


class _Masked:
    """A structure of a user's class."""

    def __init__(self, mask, value):
        self.mask, self.value = mask, value

    def __tf_flatten__(self):
        return (self.mask,), (self.value,)

    @classmethod
    def __tf_unflatten__(cls, metadata, leaves):
        return cls(metadata[0], leaves[0])


def case_structures_of_users_classes(tf):
    """They count with what is no component of them, which need not have a hash."""
    traces, sizes = [], []

    @tf.function
    def f(m):
        traces.append(m.mask)
        return _Masked(m.mask, m.value + 1.0)

    @tf.function(reduce_retracing=True)
    def relaxed(m):
        sizes.append((m.mask, m.value.shape.as_list()))
        return m.value

    found = []
    for mask in (1, 2, 1, True, [1], [1], [2], {"a": 1}, None, "x"):
        result = f(_Masked(mask, tf.constant(1.0)))
        found.append((result.mask, result.value, len(traces)))
    for mask, size in ((1, 1), (1, 2), (1, 3), (2, 3)):
        relaxed(_Masked(mask, tf.ones([size])))
    concrete = f.get_concrete_function(_Masked(1, tf.constant(1.0)))
    calls = {
        "same": lambda tf: concrete(_Masked(1, tf.constant(2.0))).value,
        "flat": lambda tf: concrete(tf.constant(2.0)).value,
        "other": lambda tf: concrete(_Masked(2, tf.constant(2.0))),
    }
    return found, sizes, attempts(tf, calls, words=9)


class _Convertible:
    """What becomes a tensor; the class itself does not."""

    def __array__(self, dtype=None, copy=None):
        return np.array([1.0, 2.0], dtype)


def case_classes_as_arguments(tf):
    traces = []

    @tf.function
    def f(x, kind):
        traces.append(kind)
        return x if kind is _Convertible else tf.zeros([2], kind)

    x = tf.constant(1.0)
    kinds = (np.float32, np.float64, np.float32, _Convertible, tf.int32, np.int64, tf.int32)
    results = [f(x, kind) for kind in kinds]
    return results, len(traces), tf.function(lambda x: x + 1.0)(_Convertible())


def case_order_of_keyword_only_arguments(tf):
    spec = tf.TensorSpec([], tf.float32)
    f = tf.function(lambda b, a, *, d, c=1, **more: b + a + d + c)
    concrete = f.get_concrete_function(spec, spec, d=spec, c=spec, z=spec, y=spec)
    inputs = [x.name for x in concrete.inputs]
    return list(concrete.structured_input_signature[1]), inputs, str(concrete.function_type)
