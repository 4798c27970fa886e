"""Operators and indexing: every operand type, reversed forms, and the errors."""

import operator

import numpy as np

from .derivatives import points
from .harness import attempt, attempts, options

BINARY = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
}
BITWISE = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}
DTYPES = (
    "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
)
OPERANDS = {
    "int": 2,
    "float": 1.5,
    "bool": True,
    "complex": 1 + 1j,
    "none": None,
    "string": "a",
    "list": [1, 2],
    "float list": [1.0, 2.0],
    "numpy float32": np.float32([1, 2]),
    "numpy float64": np.float64([1, 2]),
    "numpy int64": np.int64([1, 2]),
    "numpy scalar float64": np.float64(1.5),
    "numpy scalar int32": np.int32(2),
}

CASES = {}


def _each_dtype(apply, names):
    def case(tf):
        def of(name):
            return apply(tf.cast([7, 3], name), tf.cast([2, 5], name))

        return {name: attempt(of, name, words=2) for name in names}

    return case


for _operator, _apply in BINARY.items():
    CASES[f"{_operator} of each dtype"] = _each_dtype(_apply, DTYPES)
    if _operator != "floordiv":
        CASES[f"{_operator} of complex"] = _each_dtype(_apply, ["complex64", "complex128"])
    CASES[f"{_operator} of bool"] = _each_dtype(_apply, ["bool"])
for _operator, _apply in BITWISE.items():
    CASES[f"{_operator} of each dtype"] = _each_dtype(_apply, ["bool", "float32", *DTYPES[4:]])


def _operands(apply, swapped):
    def case(tf):
        def with_operand(tensor, other):
            return apply(other, tensor) if swapped else apply(tensor, other)

        found = {}
        for dtype in ("float32", "int32", "float64"):
            x = tf.cast([4, 3], dtype)
            for name, operand in OPERANDS.items():
                if _numpy_decides(operand, swapped):
                    continue
                found[f"{dtype} {name}"] = attempt(with_operand, x, operand, words=2)
        return found

    return case


def _numpy_decides(operand, swapped):
    """A NumPy value on the left: NumPy may answer before the tensor is asked."""
    return swapped and isinstance(operand, np.ndarray | np.generic)


for _operator in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "less", "equal"):
    for _swapped in (False, True):
        _name = f"{_operator} with {'left' if _swapped else 'right'} operands"
        CASES[_name] = _operands(BINARY[_operator], _swapped)


def _mixed(apply):
    def case(tf):
        pairs = [("float32", "int32"), ("int32", "int64"), ("float32", "float64")]
        pairs += [("float16", "bfloat16"), ("int64", "float64")]
        return {
            f"{a} {b}": attempt(lambda a=a, b=b: apply(tf.cast(1, a), tf.cast(1, b)), words=3)
            for a, b in pairs
        }

    return case


for _operator in ("add", "mul", "truediv", "floordiv", "mod", "pow", "less", "equal"):
    CASES[f"{_operator} of mixed dtypes"] = _mixed(BINARY[_operator])


def _signs(apply):
    x, y = np.float32([7, -7, 7, -7, 0, 5.5]), np.float32([3, 3, -3, -3, 2, -2])
    return points(lambda tf, x, y: apply(x, y), x, y)


for _operator in ("add", "sub", "mul", "truediv", "floordiv", "mod"):
    CASES[f"{_operator} signs"] = _signs(BINARY[_operator])


def _table(programs, words=None):
    def case(tf):
        return attempts(tf, programs, words)

    return case


CASES |= {
    "int signs": _table(
        {
            "floordiv": lambda tf: tf.constant([7, -7, 7, -7]) // tf.constant([3, 3, -3, -3]),
            "mod": lambda tf: tf.constant([7, -7, 7, -7]) % tf.constant([3, 3, -3, -3]),
            "truediv": lambda tf: tf.constant([7, -7]) / tf.constant([2, 2]),
            "pow": lambda tf: tf.constant([2, -3]) ** tf.constant([3, 2]),
            "negative pow": lambda tf: tf.constant(2) ** tf.constant(-1),
            "division by zero": lambda tf: tf.constant(1) // tf.constant(0),
            "mod by zero": lambda tf: tf.constant(1) % tf.constant(0),
            "truediv by zero": lambda tf: tf.constant([1, 0]) / tf.constant([0, 0]),
            "overflow": lambda tf: tf.constant(2**31 - 1) + tf.constant(1),
            "int8 overflow": lambda tf: tf.constant(127, tf.int8) + tf.constant(1, tf.int8),
            "uint8 underflow": lambda tf: tf.constant(0, tf.uint8) - tf.constant(1, tf.uint8),
        },
        words=2,
    ),
    "float special": _table(
        {
            "division by zero": lambda tf: tf.constant([1.0, -1.0, 0.0]) / tf.constant(0.0),
            "floordiv by zero": lambda tf: tf.constant([1.0, -1.0]) // tf.constant(0.0),
            "mod by zero": lambda tf: tf.constant([1.0, -1.0]) % tf.constant(0.0),
            "nan compare": lambda tf: [
                f(tf.constant(np.nan), tf.constant(np.nan)) for f in BINARY.values()
            ],
            "inf minus inf": lambda tf: tf.constant(np.inf) - tf.constant(np.inf),
            "pow zero zero": lambda tf: tf.constant(0.0) ** tf.constant(0.0),
            "pow negative": lambda tf: tf.constant([-8.0, -2.0]) ** tf.constant([1 / 3, 2.0]),
        }
    ),
    "unary": _table(
        {
            "negative": lambda tf: -tf.constant([1.0, -2.0]),
            "negative int": lambda tf: -tf.constant([1, -2]),
            "negative uint8": lambda tf: -tf.constant([1], tf.uint8),
            "negative bool": lambda tf: -tf.constant([True]),
            "abs": lambda tf: abs(tf.constant([1.0, -2.0])),
            "abs int": lambda tf: abs(tf.constant([1, -2])),
            "abs complex": lambda tf: abs(tf.constant([3 + 4j])),
            "invert": lambda tf: ~tf.constant([True, False]),
            "invert int": lambda tf: ~tf.constant([1, 2]),
            "invert float": lambda tf: ~tf.constant([1.0]),
            "invert string": lambda tf: ~tf.constant("a"),
        },
        words=0,
    ),
    "bitwise operands": _table(
        {
            "bool and python": lambda tf: tf.constant([True, False]) & True,
            "python and bool": lambda tf: True | tf.constant([True, False]),
            "bool xor list": lambda tf: tf.constant([True, False]) ^ [True, True],
            "int and python": lambda tf: tf.constant([6, 5]) & 3,
            "int and numpy": lambda tf: tf.constant([6, 5]) | np.int32([1, 2]),
            "bool and int": lambda tf: tf.constant([True]) & tf.constant([1]),
            "int and bool": lambda tf: tf.constant([1]) & True,
            "float and float": lambda tf: tf.constant([1.0]) & tf.constant([1.0]),
            "shift": lambda tf: tf.constant(1) << 2,
        },
        words=1,
    ),
    "equality": _table(
        {
            "shapes differ": lambda tf: tf.constant([1, 2]) == tf.constant([1, 2, 3]),
            "shapes differ not": lambda tf: tf.constant([1, 2]) != tf.constant([1, 2, 3]),
            "broadcast": lambda tf: tf.constant([[1], [2]]) == tf.constant([1, 2]),
            "none": lambda tf: tf.constant(1) == None,  # noqa: E711
            "not none": lambda tf: tf.constant(1) != None,  # noqa: E711
            "string": lambda tf: tf.constant(1) == "a",
            "float of int": lambda tf: tf.constant(1) == 1.0,
            "half of int": lambda tf: tf.constant(1) == 1.5,
            "list": lambda tf: tf.constant([1, 2]) == [1, 3],
            "numpy": lambda tf: tf.constant([1, 2]) == np.array([1, 3]),
            "object": lambda tf: tf.constant(1) == object(),
            "dtypes": lambda tf: tf.constant(1) == tf.constant(1.0),
            "empty": lambda tf: tf.constant([]) == tf.constant([]),
            "identity": lambda tf: (lambda x: x is x)(tf.constant(1)),
            "strings": lambda tf: tf.constant(["a", "b"]) == tf.constant("a"),
            "function": lambda tf: tf.equal([1, 2], [1, 3]),
            "function shapes": lambda tf: tf.equal(tf.constant([1, 2]), tf.constant([1, 2, 3])),
        },
        words=2,
    ),
    "in": _table(
        {
            "present": lambda tf: 2 in tf.constant([1, 2]),
            "absent": lambda tf: 5 in tf.constant([1, 2]),
            "tensor": lambda tf: tf.constant(2) in tf.constant([1, 2]),
            "row": lambda tf: tf.constant([1, 2]) in tf.constant([[1, 2]]),
            "scalar": lambda tf: 2 in tf.constant(2),
        },
        words=4,
    ),
    "shape errors": _table(
        {
            "add": lambda tf: tf.ones([2, 3]) + tf.ones([2]),
            "sub": lambda tf: tf.ones([2]) - tf.ones([3]),
            "mul": lambda tf: tf.ones([2]) * tf.ones([3]),
            "div": lambda tf: tf.ones([2]) / tf.ones([3]),
            "pow": lambda tf: tf.ones([2]) ** tf.ones([3]),
            "less": lambda tf: tf.ones([2]) < tf.ones([3]),
            "and": lambda tf: tf.constant([True, False]) & tf.constant([True] * 3),
            "list": lambda tf: tf.ones([2]) + [1.0, 2.0, 3.0],
            "maximum": lambda tf: tf.maximum(tf.ones([2]), tf.ones([3])),
        },
        words=6,
    ),
    "matmul operator": _table(
        {
            "matrices": lambda tf: tf.ones([2, 3]) @ tf.ones([3, 2]),
            "numpy right": lambda tf: tf.ones([2, 3]) @ np.ones([3, 2], np.float32),
            "list right": lambda tf: tf.ones([1, 2]) @ [[1.0], [2.0]],
            "list left": lambda tf: [[1.0, 2.0]] @ tf.ones([2, 1]),
            "ints": lambda tf: tf.constant([[1, 2]]) @ tf.constant([[3], [4]]),
            "vectors": lambda tf: tf.ones([2]) @ tf.ones([2]),
            "matrix vector": lambda tf: tf.ones([2, 2]) @ tf.ones([2]),
            "scalar": lambda tf: tf.ones([2, 2]) @ 2.0,
            "wrong inner": lambda tf: tf.ones([2, 3]) @ tf.ones([2, 3]),
            "mixed": lambda tf: tf.ones([2, 2]) @ tf.ones([2, 2], tf.int32),
            "batch": lambda tf: tf.ones([4, 2, 3]) @ tf.ones([3, 2]),
            "batch broadcast": lambda tf: tf.ones([4, 1, 2, 3]) @ tf.ones([5, 3, 2]),
        },
        words=3,
    ),
    "comparison chain": _table(
        {
            "chain": lambda tf: 1.0 < tf.constant(2.0) < 3.0,
            "sort": lambda tf: max(tf.constant(1), 2),
        }
    ),
}


CUBE = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
INDICES = {
    "int": lambda tf, x: x[1],
    "negative": lambda tf, x: x[-1],
    "two ints": lambda tf, x: x[1, 2],
    "three ints": lambda tf, x: x[1, 2, 3],
    "slice": lambda tf, x: x[0:1],
    "open slice": lambda tf, x: x[:, 1:],
    "step": lambda tf, x: x[..., ::2],
    "negative step": lambda tf, x: x[..., ::-1],
    "negative step bounds": lambda tf, x: x[:, 2:0:-1],
    "negative bounds": lambda tf, x: x[:, -2:, -3:-1],
    "past the end": lambda tf, x: x[:, 1:100],
    "empty slice": lambda tf, x: x[:, 2:1],
    "ellipsis": lambda tf, x: x[..., 1],
    "middle ellipsis": lambda tf, x: x[0, ..., 1],
    "only ellipsis": lambda tf, x: x[...],
    "newaxis": lambda tf, x: x[:, tf.newaxis],
    "none": lambda tf, x: x[None],
    "newaxis ellipsis": lambda tf, x: x[..., tf.newaxis, 0],
    "everything": lambda tf, x: x[0:2:1, None, ..., ::-2],
    "tensor index": lambda tf, x: x[tf.constant(1)],
    "tensor in slice": lambda tf, x: x[:, tf.constant(1) : tf.constant(3)],
    "numpy index": lambda tf, x: x[np.int64(1)],
    "numpy in slice": lambda tf, x: x[:, : np.int32(2)],
    "int64 tensor": lambda tf, x: x[tf.constant(1, tf.int64)],
    "mixed int tensors": lambda tf, x: x[tf.constant(1, tf.int64), tf.constant(2)],
    "tuple": lambda tf, x: x[(0, 1)],
    "variable index": lambda tf, x: x[tf.Variable(1)],
    "boolean mask": lambda tf, x: x[tf.constant([True, False])],
    "boolean matrix mask": lambda tf, x: x[x > 10.0],
    "boolean numpy mask": lambda tf, x: x[np.array([False, True])],
    "true": lambda tf, x: x[True],
    "list": lambda tf, x: x[[0, 1]],
    "numpy vector": lambda tf, x: x[np.array([0, 1])],
    "vector tensor": lambda tf, x: x[tf.constant([0, 1])],
    "out of range": lambda tf, x: x[5],
    "negative out of range": lambda tf, x: x[-3],
    "inner out of range": lambda tf, x: x[0, 7],
    "too many": lambda tf, x: x[0, 0, 0, 0],
    "float": lambda tf, x: x[1.0],
    "string": lambda tf, x: x["a"],
    "float tensor": lambda tf, x: x[tf.constant(1.0)],
    "float slice": lambda tf, x: x[0:1.5],
    "zero step": lambda tf, x: x[::0],
    "two ellipses": lambda tf, x: x[..., 0, ...],
    "empty tuple": lambda tf, x: x[()],
}
CASES |= {f"index {name}": points(program, CUBE, words=3) for name, program in INDICES.items()}


@options(words=3)
def case_index_scalar(tf):
    return attempts(
        tf,
        {
            "int": lambda tf: tf.constant(1.0)[0],
            "ellipsis": lambda tf: tf.constant(1.0)[...],
            "none": lambda tf: tf.constant(1.0)[None],
            "slice": lambda tf: tf.constant(1.0)[:],
        },
        words=3,
    )


def case_index_dtypes(tf):
    return [tf.cast([1, 2, 0], n)[::-1] for n in ("int8", "uint8", "bool", "float16", "complex64")]


def case_slice_matches_strided_slice(tf):
    x = tf.constant(CUBE)
    return tf.strided_slice(x, [0, 0, 3], [2, 3, 0], [1, 2, -1]), tf.slice(x, [0, 1, 1], [2, 2, -1])


def case_operator_type_of_result(tf):
    x = tf.constant([1, 2])
    return (x + 1).dtype, (x / 2).dtype, (x // 2).dtype, (x < 2).dtype, (x**2).dtype


#: What logical functions take for booleans, and what they refuse.
TRUTHS = {
    "int64": np.array([1, 0]),
    "float64": np.array([1.5, 0.0]),
    "uint8": np.array([1, 0], np.uint8),
    "complex": np.array([1j, 0]),
    "bool": np.array([True, False]),
    "scalar": np.int64(1),
    "list of bools": [True, False],
    "list": [1, 0],
    "float": 1.0,
    "text": "a",
}


def case_truth_of_arrays(tf):
    def each(value):
        programs = {
            "all": lambda: tf.reduce_all(value),
            "any": lambda: tf.reduce_any(value, axis=0),
            "not": lambda: tf.logical_not(value),
            "and": lambda: tf.logical_and(value, value),
            "or": lambda: tf.logical_or(tf.constant([False, True]), value),
            "xor": lambda: tf.math.logical_xor(value, tf.constant(True)),
        }
        return {name: attempt(program, words=3) for name, program in programs.items()}

    found = {name: each(value) for name, value in TRUTHS.items()}
    return found, each(tf.constant([1, 0]))


def case_shifts_beyond_the_width(tf):
    def shifted(dtype):
        kind = tf.as_dtype(dtype)
        by = [0, 1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 100] + ([-1, -8] if kind.min < 0 else [])
        x = tf.constant([[1], [5], [100]] + ([[-1], [-100]] if kind.min < 0 else []), dtype)
        y = tf.constant(by, dtype)
        return tf.bitwise.left_shift(x, y), tf.bitwise.right_shift(x, y)

    names = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
    return {name: shifted(name) for name in names}


class Foreign:
    """No tensor is made of it. It has the operators of a right operand, some of which refuse."""

    def __radd__(self, other):
        return "radd", getattr(other, "shape", None)

    def __rmul__(self, other):
        return "rmul", getattr(other, "shape", None)

    def __rmatmul__(self, other):
        return NotImplemented

    def __rsub__(self, other):
        raise TypeError("another message")

    def __rtruediv__(self, other):
        raise KeyError("a key")

    def __rand__(self, other):
        return "rand"

    def __gt__(self, other):
        return "gt"


def case_operands_that_are_foreign(tf):
    signs = {**BINARY, **BITWISE, "matmul": operator.matmul, "function": lambda x, y: x.__add__(y)}

    def each(x):
        found = {
            sign: attempt(apply, x, Foreign(), words=6)
            for sign, apply in signs.items()
            if "equal" not in sign
        }
        return found, attempt(tf.multiply, x, Foreign(), words=6)

    functions = {
        "a list": lambda tf: tf.constant(2) * ["a"],
        "a text": lambda tf: tf.constant(2) * "a",
        "a text that is not taken": lambda tf: x * "a",
        "a tuple": lambda tf: tf.constant([1, 2]) + (None,),
    }
    x = tf.constant([2.0])
    recorded = []
    tf.function(lambda: recorded.append(x * Foreign()), autograph=False)()
    return each(x), each(tf.Variable([2.0])), recorded, attempts(tf, functions, words=4)


def case_bools_times_numbers(tf):
    b, f = tf.constant([True, False, True]), tf.constant([2.0, 3.0, 0.5])
    variable = tf.Variable([1.0, 0.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(f)
        products = [b * f, f * b, b * variable, variable * b]
    programs = {
        "numbers": lambda: (b * 2, b * 2.5, b * 0, b * True, b * np.array([1, 0, 0])),
        "integers": lambda: (b * tf.constant([2, 0, 1]), tf.constant([2], tf.int64) * b),
        "complex": lambda: b * tf.constant([1j, 1.0, 2j]),
        "wide": lambda: b[:, None] * f,
        "number first": lambda: 2 * b,
        "shapes": lambda: b * f[:2],
        "by name": lambda: tf.multiply(b, f),
        "numbers of two": lambda: f * tf.constant([1, 2, 3]),
        "grid": lambda: (tf.meshgrid([True, False], [True]), tf.meshgrid([2.0], [True, False])),
    }
    slopes = [tape.gradient(x, [f, variable]) for x in products]
    return products, slopes, attempts(tf, {k: lambda _, f=f: f() for k, f in programs.items()}, 0)
