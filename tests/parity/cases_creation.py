"""How variables and tensors are made: by functions of the user, of sequences; critical sections."""

import array
import collections
import threading

import numpy as np

from .harness import attempt, attempts

NEEDS = ("variable_creator_scope", "register_tensor_conversion_function", "CriticalSection")


def case_creators(tf):
    seen = []

    def rename(next_creator, **kwargs):
        seen.append(sorted(kwargs))
        seen.append([kwargs[name] for name in ("initial_value", "trainable", "dtype", "shape")])
        return next_creator(**{**kwargs, "name": "new"})

    def order(number):
        def creator(next_creator, **kwargs):
            seen.append(number)
            return next_creator(**kwargs)

        return creator

    with tf.variable_creator_scope(rename):
        v = tf.Variable(1.0, False)
        with tf.variable_creator_scope(order(1)), tf.variable_creator_scope(order(2)):
            w = tf.Variable([2.0], dtype=tf.float64)
    with tf.variable_creator_scope(lambda next_creator, **kwargs: "other"):
        other = tf.Variable(1.0)
    try:
        with tf.variable_creator_scope(rename):
            raise KeyError
    except KeyError:
        after = tf.Variable(1.0, name="after")
    return seen, v.name, v.trainable, w.name, w, other, after.name


def case_creators_in_functions(tf):
    made, seen = [], []

    def creator(next_creator, **kwargs):
        seen.append("made")
        return next_creator(**{**kwargs, "trainable": False})

    @tf.function
    def f(x):
        if not made:
            with tf.variable_creator_scope(creator):
                made.append(tf.Variable(3.0))
        return made[0] * x

    return f(tf.constant(2.0)), f(tf.constant(3.0)), seen, made[0].trainable


class _Held:
    def __init__(self, x):
        self.x = x


def case_conversions(tf):
    class Held(_Held):
        pass

    class Derived(Held):
        pass

    class Wrong(_Held):
        pass

    def convert(value, dtype=None, name=None, as_ref=False):
        return NotImplemented if dtype == tf.int64 else tf.constant(value.x, dtype)

    register = tf.register_tensor_conversion_function
    register(Held, convert)
    register(Wrong, lambda value, dtype=None, name=None, as_ref=False: "no tensor")
    found = [
        tf.convert_to_tensor(Held(1.0)),
        tf.constant(1.0) + Held(2.0),
        tf.add(Held(1.0), Held(2.0)),
        tf.stack([Held(1.0), Held(2.0)]),
        tf.convert_to_tensor(Held(1), tf.float32),
        tf.convert_to_tensor(Derived(4.0)),
        tf.function(lambda: tf.convert_to_tensor(Held(3.0)) * 2.0)(),
        tf.function(lambda held: held.x * 2.0)(Held(3.0)),
    ]
    register(Held, lambda value, dtype=None, name=None, as_ref=False: tf.constant(7.0), priority=9)
    refused = [
        lambda: tf.convert_to_tensor(Wrong(1)),
        lambda: register("x", convert),
        lambda: register(Held, 3),
        lambda: register(int, convert),
        lambda: register((Held, np.ndarray), convert),
    ]
    return found, tf.convert_to_tensor(Held(1.0)), [attempt(call, words=2) for call in refused]


def case_critical_sections(tf):
    section, v = tf.CriticalSection(), tf.Variable(0)

    @tf.function
    def f():
        return section.execute(lambda: v.assign_add(2))

    def count():
        for _ in range(20):
            section.execute(lambda: v.assign(v + 1))

    threads = [threading.Thread(target=count) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return (
        section.execute(lambda: v.assign_add(1)),
        f(),
        section.execute(lambda: (1, {"a": tf.constant(2)}, None)),
        section.execute(lambda: None),
        attempt(lambda: section.execute(3), words=0),
        v,
    )


def case_sequences_of_arrays(tf):
    kinds = "int8 uint8 int32 int64 uint64 float16 float32 float64 bool complex64".split()
    found = []
    for kind in kinds:
        one, row = getattr(np, kind if kind != "bool" else "bool_")(1), np.ones(2, kind)
        for value in (
            [one, one],
            [row, row],
            (row,),
            [[row]],
            [one, 2],
            [2, one],
            [one, 1.5],
            [1.5, one],
            [row, [1, 2]],
            [row, np.ones(2, np.float32)],
            [np.zeros(0, kind)],
        ):
            found.append(attempt(lambda: tf.constant(value).dtype))
    return (
        found,
        tf.constant([np.int64(2**40), 1]),
        tf.stack([np.int64(1), np.int64(2)]),
        tf.reduce_mean([np.float32(1), 2.0]),
        tf.Variable([np.arange(2)]).dtype,
        tf.ragged.constant([[np.int64(1)], [2]]).dtype,
        tf.constant(np.array([b"a"])).numpy().tolist(),
        str(tf.constant(np.arange(3, dtype=">i4")).numpy().dtype),
    )


def case_literals_of_two_dtypes(tf):
    ops = [
        tf.maximum,
        tf.multiply,
        tf.greater,
        tf.subtract,
        tf.add,
        lambda x, y: tf.where(True, x, y),
    ]
    pairs = [(1, 2.5), (1.5, 2), ([1], [2.5]), (1, "a"), (1.0, 1j)]
    found = [attempt(op, x, y) for op in ops for x, y in pairs]
    sums = [[1, 2.5], [tf.constant(1.0), 2], [1, 2**40], [[1], np.array([2.5])], [1.5, 2.5]]
    return found, [attempt(tf.add_n, values) for values in sums]


def case_shapes_not_known(tf):
    makers = [
        tf.zeros,
        lambda s: tf.fill(s, 1.0),
        lambda s: tf.reshape(tf.ones([4]), s),
        lambda s: tf.broadcast_to(1.0, s),
        tf.random.normal,
        tf.convert_to_tensor,
    ]
    shapes = [tf.TensorShape(None), tf.TensorShape([None, 2])]
    unwritten = tf.TensorArray(tf.float32, 2)
    return [attempt(make, shape) for make in makers for shape in shapes], attempt(unwritten.read, 0)


def case_filled_with_one_number_in_a_list(tf):
    calls = (
        lambda: tf.fill([2], tf.ones([1])),
        lambda: tf.fill([2], [3]),
        lambda: tf.fill([2], ["a"]),
        lambda: tf.fill([2], tf.ones([1, 1])),
    )
    return [attempt(call) for call in calls]


def case_sizes_that_are_none(tf):
    """In eager code and in functions: errors and their first words."""
    sizes = {"texts": ["a", "b"], "text": "a", "floats": [1.5], "matrix": [[1]]}
    calls = {
        "fill": lambda given: tf.fill(given, 1.0),
        "tile": lambda given: tf.tile([1.0], given),
        "broadcast": lambda given: tf.broadcast_to([1.0], given),
    }
    found = {}
    for name, call in calls.items():
        for kind, given in sizes.items():
            if (name, kind) in (("tile", "text"), ("broadcast", "text"), ("tile", "matrix")):
                continue
            found[name, kind] = lambda _, call=call, given=given: call(given)
    refused = {}
    for name, kind in found:
        if name == "fill" or kind in ("texts", "floats"):
            try:
                tf.function(lambda call=calls[name], given=sizes[kind]: call(given))()
            except Exception as error:
                refused[name, kind] = isinstance(error, TypeError), isinstance(error, ValueError)
    return attempts(tf, {" ".join(key): call for key, call in found.items()}), list(refused.items())


def case_bools_among_sizes(tf):
    """A list is of numbers if its first element is one; where it becomes int32, it always is."""
    strict = {
        "uniform": lambda tf: tf.random.uniform([2, True]).shape,
        "alone": lambda tf: tf.random.uniform([True]).shape,
        "stateless": lambda tf: tf.random.stateless_normal([2, True], [1, 2]).shape,
        "reshape": lambda tf: tf.reshape([1.0, 2.0], [2, True]),
        "broadcast": lambda tf: tf.broadcast_to(1.0, [2, True]),
        "tile": lambda tf: tf.tile([[1]], [2, True]),
        "array": lambda tf: tf.random.uniform(np.array([True])).shape,
    }
    lenient = [
        [tf.zeros(sizes), tf.ones(sizes), tf.fill(sizes, 2.0), tf.constant(1.0, shape=sizes)]
        for sizes in ([True], (True, False), [3, True])
    ]
    return attempts(tf, strict, words=4), lenient, tf.zeros([True, 2])


def case_range_of_numbers_among_tensors(tf):
    wide = tf.constant(1.0, tf.float64)
    calls = [
        lambda: tf.range(0.0, wide, 0.1, dtype=tf.float64),
        lambda: tf.range(0.0, wide, 0.1),
        lambda: tf.range(0.1, 0.7, 0.1, dtype=tf.float64),
        lambda: tf.range(0.1, wide, dtype=tf.float64),
        lambda: tf.range(np.float32(0.1), wide, np.float64(0.1), dtype=tf.float64),
        lambda: tf.range(tf.constant(0.1), wide, 0.1, dtype=tf.float64),
        lambda: tf.range(tf.Variable(0.1), wide, 0.1, dtype=tf.float64),
        lambda: tf.range(0, 2.5, dtype=tf.int32),
        lambda: tf.range(2.5, dtype=tf.int64),
        lambda: tf.range(np.array(2.5), dtype=tf.int32),
        lambda: tf.range(True, 3, dtype=tf.int32),
        lambda: tf.range(3, dtype=tf.float64),
    ]
    exact = lambda call: [float(x).hex() for x in call()]
    return [attempt(exact, call, words=0) for call in calls]


def case_numbers_of_several_kinds(tf):
    """Items are converted one by one to the dtypes that TensorFlow converts to itself."""
    numbers = {
        "int": [True, 2],
        "float": [True, 1.5],
        "complex": [1, 2j],
        "large": [2, 2**64 - 1],
        "other": [True, 2, 1.5],
    }
    kinds = ("int8", "int32", "uint64", "float16", "float64", "complex64", "complex128")
    found = {
        f"{name} {kind}": attempt(lambda x=x, kind=kind: tf.constant(x, kind), words=4)
        for name, x in numbers.items()
        for kind in kinds
        # TensorFlow makes an error of its own for numbers that an integer dtype cannot hold.
        if name != "large" or kind in ("uint64", "float64", "complex128")
    }
    return found, tf.constant(-3, tf.uint8), tf.constant(2**64 - 1, tf.uint64)


def case_numbers_too_large_for_float32(tf):
    """Infinite where somebody names the dtype, and in functions."""
    ones = tf.ones([2])

    def recorded():
        with tf.init_scope():
            outside = attempt(tf.constant, 1e40)
        return tf.constant(1e40), tf.convert_to_tensor([1.0, -1e40]), tf.fill([2], 1e40), outside

    def in_a_function():
        found = []
        function = tf.function(lambda: found.append(recorded()) or found[0][:3], autograph=False)
        return function(), found[0][3]

    calls = {
        "named": lambda: tf.constant(1e40, tf.float32),
        "list": lambda: tf.constant([1.0, -1e40], tf.float32),
        "converted": lambda: tf.convert_to_tensor(1e40, "float32"),
        "beside a tensor": lambda: (ones * 1e40, tf.maximum(-1e40, ones)),
        "chosen": lambda: tf.where([True, False], 1e40, ones),
        "half": lambda: tf.constant(1e6, tf.float16),
        "in a function": in_a_function,
    }
    return {name: attempt(call) for name, call in calls.items()}


def case_sequences_of_other_kinds(tf):
    class Pair:
        def __len__(self):
            return 2

        def __getitem__(self, i):
            return [5, 6][i]

    values = (
        collections.UserList([1, 2]),
        collections.deque([1.0, 2.0]),
        array.array("d", [1, 2]),
        array.array("b", [1]),
        memoryview(b"ab"),
        Pair(),
        [collections.deque([1]), [2]],
    )
    return [tf.constant(value) for value in values], [
        tf.convert_to_tensor(value, tf.float64) for value in values
    ]


def case_shapes_as_tensors(tf):
    shape = tf.TensorShape
    made = tf.convert_to_tensor
    return [made(shape(sizes)) for sizes in ([], [2], [2**31 - 1], [2**31, 1])], attempts(
        tf,
        {
            "too large": lambda tf: made(shape([2**40]), tf.int32),
            "float": lambda tf: made(shape([2]), tf.float32),
            "unknown": lambda tf: made(shape([2, None])),
            "of int64": lambda tf: made(shape([2]), tf.int64),
            "list": lambda tf: made([shape([2, 1]), [3, 4]]),
            "nested": lambda tf: made([[shape([2])]], tf.float32),
            "constant": lambda tf: tf.constant(shape([2]), tf.float32),
            "constant of no sizes": lambda tf: tf.constant(shape([])),
        },
    )


def case_sizes_of_floats(tf):
    """NumPy's floats and bools are cast where a kernel has a default dtype for sizes."""
    size, flags, lists = np.array([2.7, 3.2]), np.array([True, True]), np.array([2.0])
    images = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    boxes = [[0.0, 0.0, 1.0, 1.0]]

    def recorded():
        return tf.fill(size, 1), tf.image.resize(images, size), tf.pad([1], np.array([[1.0, 0.0]]))

    return attempts(
        tf,
        {
            "fill": lambda tf: tf.fill(size, 1),
            "zeros": lambda tf: tf.zeros(size),
            "ones of flags": lambda tf: tf.ones(flags),
            "reshape": lambda tf: tf.reshape(tf.range(6), size),
            "tile": lambda tf: tf.tile([[1, 2]], size),
            "broadcast_to": lambda tf: tf.broadcast_to([1, 2, 3], size),
            "transpose": lambda tf: tf.transpose([[1, 2]], np.array([1.0, 0.0])),
            "pad": lambda tf: tf.pad([1, 2], np.array([[1.0, 2.9]])),
            "pad by flags": lambda tf: tf.pad([1, 2], np.array([[True, False]]), "REFLECT"),
            "one_hot": lambda tf: tf.one_hot(np.array([1.9, 0.0, -1.0]), 3),
            "one_hot of flags": lambda tf: tf.one_hot(flags, 2),
            "resize": lambda tf: tf.image.resize(images, size),
            "resize in proportion": lambda tf: tf.image.resize(
                images, size, "nearest", preserve_aspect_ratio=True
            ),
            "crop": lambda tf: tf.image.crop_and_resize(images, boxes, [0], size),
            "random_crop": lambda tf: tf.image.random_crop([[1.0]], np.array([1.0, 1.0])),
            "recorded": lambda tf: tf.function(recorded)(),
            "lists": lambda tf: tf.fill([2.0, 3.0], 1),
            "tensors": lambda tf: tf.fill(tf.constant(lists), 1),
            "draws": lambda tf: tf.random.normal(lists),
            "slice": lambda tf: tf.slice([1, 2, 3], [1], lists),
            "begin": lambda tf: tf.slice([1, 2, 3], lists, [1]),
        },
    )


def case_dtypes_do_not_change(tf):
    def added(tf):
        tf.int32.of_a_program = 1
        found = tf.as_dtype("int32").of_a_program
        del tf.int32.of_a_program
        return found, hasattr(tf.int32, "of_a_program")

    found = attempts(
        tf,
        {
            "name": lambda tf: setattr(tf.int32, "name", "int64"),
            "kind": lambda tf: setattr(tf.int32, "is_floating", True),
            "size": lambda tf: setattr(tf.int32, "size", 8),
            "deleted": lambda tf: delattr(tf.int32, "name"),
            "added": added,
        },
    )
    return found, tf.int32.name, tf.int32.is_floating, tf.int32.size


def case_empty_lists_for_other_kinds(tf):
    none = tf.zeros([0, 3])
    return attempts(
        tf,
        {
            "permutation": lambda tf: tf.math.invert_permutation([]),
            "permutation of floats": lambda tf: tf.math.invert_permutation(np.array([1.0, 0.0])),
            "of Python": lambda tf: tf.math.invert_permutation([1.0, 0.0]),
            "targets": lambda tf: tf.math.in_top_k((), none, 1),
            "targets that are floats": lambda tf: tf.math.in_top_k(
                np.array([1.0]), tf.ones([1, 3]), 3
            ),
            "raw": lambda tf: tf.io.decode_raw([], tf.int32),
            "raw of a length": lambda tf: tf.io.decode_raw([], tf.int16, fixed_length=8),
            "raw numbers": lambda tf: tf.io.decode_raw([1], tf.int32),
            "classes": lambda tf: tf.one_hot([], 2),
        },
        words=0,
    )
