"""Variables: construction, assignment, identity, text, errors."""

import copy
import pickle

import numpy as np

from .harness import attempt, attempts, options


def _errors(programs, words=None):
    def case(tf):
        return attempts(tf, programs, words)

    return case


CASES = {
    "new_from_values": _errors(
        {
            "float": lambda tf: tf.Variable(1.5),
            "int": lambda tf: tf.Variable(3),
            "bool": lambda tf: tf.Variable(True),
            "string": lambda tf: tf.Variable("abc"),
            "strings": lambda tf: tf.Variable(["a", "bc"]),
            "list": lambda tf: tf.Variable([[1.0, 2.0]]),
            "tuple": lambda tf: tf.Variable((1, 2)),
            "complex": lambda tf: tf.Variable(1 + 2j),
            "numpy float64": lambda tf: tf.Variable(np.array([1.0])),
            "numpy float32": lambda tf: tf.Variable(np.float32([1.0])),
            "numpy int8": lambda tf: tf.Variable(np.int8([1])),
            "tensor": lambda tf: tf.Variable(tf.constant([1.0])),
            "variable": lambda tf: tf.Variable(tf.Variable([1.0])),
            "callable": lambda tf: tf.Variable(lambda: tf.ones([2])),
            "empty": lambda tf: tf.Variable([]),
            "range": lambda tf: tf.Variable(range(3)),
        }
    ),
    "new_with_dtype": _errors(
        {
            "float to float64": lambda tf: tf.Variable(1.5, dtype=tf.float64),
            "int to float": lambda tf: tf.Variable([1, 2], dtype=tf.float32),
            "float to int": lambda tf: tf.Variable(1.5, dtype=tf.int32),
            "string dtype name": lambda tf: tf.Variable(1.5, dtype="float16"),
            "numpy dtype": lambda tf: tf.Variable(1.5, dtype=np.float64),
            "bfloat16": lambda tf: tf.Variable([1.5], dtype=tf.bfloat16),
            "tensor of other dtype": lambda tf: tf.Variable(tf.constant(1.0), dtype=tf.float64),
            "numpy of other dtype": lambda tf: tf.Variable(np.array([1.0]), dtype=tf.float32),
        },
        words=3,
    ),
    "new_with_shape": _errors(
        {
            "same": lambda tf: tf.Variable([1.0, 2.0], shape=[2]),
            "tensorshape": lambda tf: tf.Variable([1.0, 2.0], shape=tf.TensorShape([2])).shape,
            "unknown": lambda tf: tf.Variable([1.0, 2.0], shape=tf.TensorShape(None)).shape,
            "partial": lambda tf: tf.Variable([1.0, 2.0], shape=[None]).shape,
            "wrong": lambda tf: tf.Variable([1.0, 2.0], shape=[3]),
        },
        words=3,
    ),
    "new_errors": _errors(
        {
            "nothing": lambda tf: tf.Variable(),
            "none": lambda tf: tf.Variable(None),
            "ragged list": lambda tf: tf.Variable([[1.0], [1.0, 2.0]]),
            "object": lambda tf: tf.Variable(object()),
        },
        words=0,
    ),
    "new_options": _errors(
        {
            "synchronization": lambda tf: (
                tf.Variable(
                    1.0,
                    synchronization=tf.VariableSynchronization.AUTO,
                    aggregation=tf.VariableAggregation.NONE,
                ).aggregation.name
            ),
            "constraint": lambda tf: tf.Variable(1.0, constraint=tf.abs).constraint is tf.abs,
            "no constraint": lambda tf: tf.Variable(1.0).constraint,
            "constraint that is no function": lambda tf: tf.Variable(1.0, constraint=3),
            "trainable": lambda tf: [
                tf.Variable(1.0).trainable,
                tf.Variable(1).trainable,
                tf.Variable(1.0, trainable=False).trainable,
            ],
        }
    ),
    "assign_errors": _errors(
        {
            "shape": lambda tf: tf.Variable([1.0, 2.0]).assign([1.0, 2.0, 3.0]),
            "scalar to vector": lambda tf: tf.Variable([1.0, 2.0]).assign(1.0),
            "dtype": lambda tf: tf.Variable([1.0]).assign(tf.constant([1])),
            "float to int": lambda tf: tf.Variable(1).assign(1.5),
            "int to float": lambda tf: tf.Variable(1.0).assign(2),
            "string": lambda tf: tf.Variable(1.0).assign("abc"),
            "none": lambda tf: tf.Variable(1.0).assign(None),
            "numpy float64": lambda tf: tf.Variable([1.0]).assign(np.array([2.0])),
            "named": lambda tf: tf.Variable([1.0], name="w").assign([1.0, 2.0]),
        },
        words=4,
    ),
    "assign_add_errors": _errors(
        {
            "shape": lambda tf: tf.Variable([1.0, 2.0]).assign_add([1.0, 2.0, 3.0]),
            "scalar": lambda tf: tf.Variable([1.0, 2.0]).assign_add(1.0),
            "dtype": lambda tf: tf.Variable([1.0]).assign_sub(tf.constant([1])),
            "numpy float64": lambda tf: tf.Variable([1.0]).assign_sub(np.array([2.0])),
        },
        words=2,
    ),
    "text": _errors(
        {
            "scalar": lambda tf: repr(tf.Variable(1.0)),
            "vector": lambda tf: repr(tf.Variable([1.0, 2.0])),
            "matrix": lambda tf: repr(tf.Variable([[1, 2], [3, 4]])),
            "named": lambda tf: repr(tf.Variable(1.0, name="weight")),
            "bool": lambda tf: repr(tf.Variable([True, False])),
            "string": lambda tf: repr(tf.Variable("abc")),
            "strings": lambda tf: repr(tf.Variable(["a", "b"])),
            "bfloat16": lambda tf: repr(tf.Variable([1.5, 2.0], dtype=tf.bfloat16)),
            "float64": lambda tf: repr(tf.Variable(1.25, dtype=tf.float64)),
            "empty": lambda tf: repr(tf.Variable(tf.zeros([0, 2]))),
            "str": lambda tf: str(tf.Variable([1.0, 2.0])),
            "str scalar": lambda tf: str(tf.Variable(3)),
            "format": lambda tf: attempt(lambda: f"{tf.Variable(3.0):.2f}", words=0),
            "plain format": lambda tf: f"{tf.Variable(3.0)}",
            "assign result": lambda tf: repr(tf.Variable(1.0).assign(2.0)),
            "assign_add result": lambda tf: str(tf.Variable([1.0]).assign_add([2.0])),
            "unknown shape": lambda tf: repr(tf.Variable([1.0], shape=[None])),
        }
    ),
    "names": _errors(
        {
            "default": lambda tf: tf.Variable(1.0).name,
            "given": lambda tf: tf.Variable(1.0, name="w").name,
            "same twice": lambda tf: [tf.Variable(1.0, name="w").name for _ in range(2)],
            "scope": lambda tf: _in_scope(tf, "a"),
            "trailing slash": lambda tf: _in_scope(tf, "a/"),
            "slash inside": lambda tf: tf.Variable(1.0, name="a/b").name,
            "colon": lambda tf: attempt(lambda: tf.Variable(1.0, name="a:b").name, words=0),
            "space": lambda tf: attempt(lambda: tf.Variable(1.0, name="a b").name, words=0),
        }
    ),
    "operators": _errors(
        {
            "add": lambda tf: tf.Variable(1.0) + 2,
            "radd": lambda tf: 2 + tf.Variable(1.0),
            "variables": lambda tf: tf.Variable([1.0]) * tf.Variable([3.0]),
            "rsub": lambda tf: 5 - tf.Variable(1.0),
            "rtruediv": lambda tf: 1 / tf.Variable(4.0),
            "int truediv": lambda tf: tf.Variable(7) / 2,
            "floordiv": lambda tf: tf.Variable(7) // 2,
            "mod": lambda tf: tf.Variable(-7) % 3,
            "pow": lambda tf: tf.Variable(3.0) ** 2,
            "rpow": lambda tf: 2 ** tf.Variable(3.0),
            "matmul": lambda tf: tf.Variable([[1.0, 2.0]]) @ tf.Variable([[3.0], [4.0]]),
            "rmatmul": lambda tf: np.float32([[1.0, 2.0]]) @ tf.Variable([[3.0], [4.0]]),
            "negative": lambda tf: -tf.Variable([1.0]),
            "abs": lambda tf: abs(tf.Variable([-1.0])),
            "invert": lambda tf: ~tf.Variable([True]),
            "and": lambda tf: tf.Variable([True]) & tf.Variable([False]),
            "less": lambda tf: tf.Variable([1.0, 3.0]) < 2,
            "equal": lambda tf: tf.Variable([1.0, 3.0]) == tf.constant([1.0, 2.0]),
            "equal none": lambda tf: tf.Variable(1.0) == None,  # noqa: E711
            "not equal": lambda tf: tf.Variable([1.0, 3.0]) != 3.0,
            "mixed": lambda tf: tf.Variable(1.0) + tf.Variable(1),
            "index": lambda tf: tf.Variable([1.0, 2.0, 3.0])[1:],
            "mask": lambda tf: tf.Variable([1.0, 2.0])[tf.constant([True, False])],
            "numpy left": lambda tf: np.float32([1.0, 2.0]) + tf.Variable([1.0, 2.0]),
        },
        words=4,
    ),
    "conversions": _errors(
        {
            "float": lambda tf: float(tf.Variable(2.5)),
            "int": lambda tf: int(tf.Variable(2)),
            "bool": lambda tf: bool(tf.Variable(0.0)),
            "bool vector": lambda tf: bool(tf.Variable([1.0, 2.0])),
            "float vector": lambda tf: float(tf.Variable([1.0, 2.0])),
            "len": lambda tf: len(tf.Variable([1.0, 2.0])),
            "len scalar": lambda tf: len(tf.Variable(1.0)),
            "index": lambda tf: [10, 20][tf.Variable(1)],
            "iterate": lambda tf: list(tf.Variable([1.0, 2.0])),
            "iterate scalar": lambda tf: list(tf.Variable(1.0)),
            "array": lambda tf: np.asarray(tf.Variable([1.0, 2.0])),
            "array dtype": lambda tf: np.asarray(tf.Variable([1.0]), dtype=np.int64),
            "numpy": lambda tf: tf.Variable([[1.0]]).numpy(),
            "numpy scalar": lambda tf: tf.Variable(1.0).numpy(),
            "np.sum": lambda tf: np.sum(tf.Variable([1.0, 2.0])),
            "in": lambda tf: 1.0 in tf.Variable([1.0, 2.0]),
            "hash": lambda tf: hash(tf.Variable(1.0)),
            "tolist": lambda tf: tf.Variable([1.0]).numpy().tolist(),
        },
        words=3,
    ),
    "attributes": _errors(
        {
            "shape": lambda tf: tf.Variable([[1.0]]).shape,
            "dtype": lambda tf: tf.Variable([[1.0]]).dtype,
            "get_shape": lambda tf: tf.Variable([[1.0]]).get_shape(),
            "ndim": lambda tf: tf.Variable([[1.0]]).ndim,
            "set shape": lambda tf: setattr(tf.Variable(1.0), "shape", 3),
            "set_shape": lambda tf: tf.Variable([1.0]).set_shape([1]),
            "initial": lambda tf: tf.Variable([1.0]).initial_value,
            "is_initialized": lambda tf: tf.Variable([1.0]).is_initialized(),
            "device": lambda tf: tf.Variable(1.0).device,
            "value": lambda tf: tf.Variable(1.0).value(),
            "read_value": lambda tf: tf.Variable(1.0).read_value(),
            "is_tensor": lambda tf: tf.is_tensor(tf.Variable(1.0)),
            "isinstance tensor": lambda tf: isinstance(tf.Variable(1.0), tf.Tensor),
            "tf.shape": lambda tf: tf.shape(tf.Variable([[1.0]])),
            "tf.size": lambda tf: tf.size(tf.Variable([[1.0]])),
            "tf.rank": lambda tf: tf.rank(tf.Variable([[1.0]])),
            "unknown": lambda tf: tf.Variable(1.0).colour,
            "T": lambda tf: tf.Variable([[1.0]]).T,
        },
        words=0,
    ),
}


def _in_scope(tf, scope):
    with tf.name_scope(scope):
        return tf.Variable(1.0, name="w").name


def case_assign_returns(tf):
    v = tf.Variable([1.0, 2.0])
    a, b, c = v.assign([3.0, 4.0]), v.assign_add([1.0, 1.0]), v.assign_sub([2.0, 2.0])
    return a, b, c, v, isinstance(a, tf.Variable), a is v


def case_assign_without_reading(tf):
    v = tf.Variable([1.0, 2.0])
    return v.assign([3.0, 4.0], read_value=False), v


def case_assign_chain(tf):
    v = tf.Variable(1.0)
    v.assign(5.0).assign_add(2.0).assign_sub(1.0)
    return v


def case_assign_values(tf):
    v = tf.Variable([1.0, 2.0])
    found = []
    for value in ([3, 4], np.float32([5.0, 6.0]), tf.constant([7.0, 8.0]), tf.Variable([9.0, 1.0])):
        v.assign(value)
        found.append(v.numpy())
    return found


def case_assign_variable_copies(tf):
    a, b = tf.Variable([1.0]), tf.Variable([2.0])
    a.assign(b)
    b.assign([5.0])
    return a, b


def case_assign_self(tf):
    a = tf.Variable([1.0, 2.0])
    a.assign(a)
    a.assign_add(a)
    return a


def case_numpy_is_a_copy(tf):
    start = np.array([1.0, 2.0], np.float32)
    v = tf.Variable(start)
    start[0] = 100.0
    before = v.numpy()
    v.assign_add([1.0, 1.0])
    return v, before


def case_tensor_read_keeps_value(tf):
    v = tf.Variable([1.0, 2.0])
    before = v.read_value()
    identity = tf.identity(v)
    v.assign([5.0, 6.0])
    return before, identity, v


def case_add_creates_tensor(tf):
    v = tf.Variable(1.0)
    w = v
    v = v + 1.0
    return tf.is_tensor(v), isinstance(v, tf.Variable), w


def case_iadd_makes_tensor(tf):
    v = tf.Variable(1.0)
    w = v
    w += 1.0
    return isinstance(w, tf.Variable), w, v


def case_partial_shape_assign(tf):
    v = tf.Variable([1.0], shape=[None])
    v.assign([1.0, 2.0, 3.0])
    return v.shape, v.numpy(), attempt(lambda: v.assign([[1.0]]), words=3)


def case_slice_assign(tf):
    v = tf.Variable([1.0, 2.0, 3.0])
    v[1:].assign([7.0, 8.0])
    return v


def case_slice_assign_index(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    v[0].assign([7.0, 8.0])
    v[1, 1].assign(9.0)
    return v


def _counted(tf, shape=(3, 4)):
    return tf.Variable(tf.reshape(tf.range(12.0), shape))


SLICES = {
    "steps": lambda v: v[::-2, 1::2],
    "ellipsis": lambda v: v[..., -1],
    "newaxis": lambda v: v[None, 0],
    "whole": lambda v: v[...],
    "nothing": lambda v: v[2:2],
    "element": lambda v: v[-1, 2],
    "columns": lambda v: v[:, 1:3],
}


def _slice_assign(index):
    def case(tf):
        v = _counted(tf)
        part = index(v)
        return part.assign(-1.0 - tf.reshape(tf.range(float(tf.size(part))), part.shape)), v, part

    return case


def _tensor_index(tf):
    v, i = _counted(tf), tf.Variable(0)
    part = v[i]
    i.assign(2)
    part.assign([5.0, 6.0, 7.0, 8.0])
    v[tf.constant(1) : tf.constant(3), tf.constant(-1)].assign([3.0, 4.0])
    return v, part


def _broadcast(tf):
    v = _counted(tf)
    v[0].assign(5.0)
    v[1].assign([[6.0]])
    v[1:, :2].assign([7.0, 8.0])
    v[2:2].assign([1.0, 2.0, 3.0])
    return v


def _refused(tf):
    v = _counted(tf)
    return attempts(
        tf,
        {
            "shape": lambda tf: v[0].assign([1.0, 2.0]),
            "rank": lambda tf: v[0].assign(tf.zeros([2, 4])),
            "dtype": lambda tf: v[0].assign(tf.constant([1, 2, 3, 4])),
            "none": lambda tf: v[0].assign(None),
            "range": lambda tf: v[tf.constant(7)].assign(tf.zeros([4])),
        },
    )


def _assignable(tf):
    v = _counted(tf)
    values = [v[0], v[0][1], v.read_value()[0], tf.identity(v[0]), v[v > 3.0], next(iter(v)), v]
    return [(hasattr(x, "assign"), hasattr(x, "assign_add")) for x in values]


def _under_tape(tf):
    v, x = _counted(tf), tf.constant([3.0, 1.0, 1.0, 1.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        before = tf.reduce_sum(v * v)
        v[1].assign(x * 2.0)
        after = tf.reduce_sum(v**3) + before
    return v, tape.gradient([before, after], [v, x]), len(tape.watched_variables())


def _in_turn(tf):
    v = _counted(tf)
    part = v[1:]
    v.assign(tf.zeros([3, 4]))
    part.assign(part * 2.0)[0].assign([9.0, 8.0, 7.0, 6.0])
    return v, part


def _other_dtypes(tf):
    flags, words, half = tf.Variable([True, False]), tf.Variable(["a", "b"]), tf.Variable([1, 2])
    flags[0].assign(False)
    words[1:].assign(["c"])
    half[0].assign(7)
    scalar = tf.Variable(1.0)
    scalar[...].assign(2.0)
    return flags, words, half, scalar


CASES |= {
    **{f"slice_assign_{name}": _slice_assign(index) for name, index in SLICES.items()},
    "slice_assign_tensor_index": _tensor_index,
    "slice_assign_broadcast": _broadcast,
    "slice_assign_refused": _refused,
    "slice_assign_only_there": _assignable,
    "slice_assign_under_tape": _under_tape,
    "slice_assign_in_turn": _in_turn,
    "slice_assign_other_dtypes": _other_dtypes,
}


def case_item_assignment_refused(tf):
    v = tf.Variable([1.0, 2.0])

    def run():
        v[0] = 5.0

    return attempt(run)


def case_scatter_mixed(tf):
    v = tf.Variable([1.0, 2.0, 3.0])
    s = tf.IndexedSlices(tf.constant([10.0, 20.0]), tf.constant([0, 2]))
    v.scatter_add(s)
    v.scatter_update(tf.IndexedSlices(tf.constant([5.0]), tf.constant([1])))
    return v


def case_scatter_of_wrong_shapes(tf):
    """Updates are not broadcast, but for one number for all rows."""
    ones = tf.ones
    rows = {
        "number": ([0, 1], 1.0),
        "one row for two": ([0, 1], ones([1, 3])),
        "a row for rows": ([0, 1], ones([3])),
        "a number for a row": ([0, 1], ones([2])),
        "one index too many": ([[0], [1]], ones([2, 3])),
        "one axis too many": ([0, 1], ones([2, 3, 1])),
        "fits": ([[0], [1]], ones([2, 1, 3])),
        "no integer": ([0.0], ones([1, 3])),
    }
    places = {
        "one row for two": ([[0], [1]], ones([1, 3])),
        "a row for rows": ([[0], [1]], ones([3])),
        "number": ([[0, 1], [2, 2]], 2.0),
        "a number for a row": ([[0]], ones([1])),
        "shorter rows": ([[0]], ones([1, 2])),
        "one index too many": ([[0, 0, 0]], ones([1])),
        "one axis too many": ([[0, 1]], ones([1, 1])),
        "fits": ([[[0, 1]], [[2, 2]]], ones([2, 1])),
        "no integer": ([[0.0]], ones([1, 3])),
    }

    def by_rows(method, indices, updates):
        v = tf.Variable(ones([4, 3]))
        slices = tf.IndexedSlices(tf.constant(updates), tf.constant(indices))
        return getattr(v, "scatter_" + method)(slices).read_value()

    def by_places(method, indices, updates):
        v = tf.Variable(ones([4, 3]))
        return getattr(v, "scatter_nd_" + method)(indices, updates).read_value()

    return [
        {
            f"{name} {method}": attempt(scatter, method, *given, words=9)
            for name, given in table.items()
            for method in ("add", "sub", "max", "update")
        }
        for scatter, table in ((by_rows, rows), (by_places, places))
    ]


def case_identity_hash_equality(tf):
    v, w = tf.Variable(1.0), tf.Variable(1.0)
    return {
        "ref equal": v.ref() == v.ref(),
        "ref differs": v.ref() == w.ref(),
        "deref": v.ref().deref() is v,
        "in set": len({v.ref(), w.ref(), v.ref()}),
        "hash": attempt(lambda: hash(v)),
        "in list": attempt(lambda: v in [w, v]),
        "as key": attempt(lambda: {v: 1}),
        "ref type": type(v.ref()).__name__,
    }


def case_deepcopy(tf):
    v = tf.Variable([1.0, 2.0], name="w", trainable=False)
    twin = copy.deepcopy(v)
    v.assign([5.0, 6.0])
    return twin, twin.name, twin.trainable, twin is v


def case_shallow_copy(tf):
    v = tf.Variable([1.0, 2.0])
    twin = copy.copy(v)
    v.assign([5.0, 6.0])
    return twin, twin is v, type(twin) is type(v), copy.copy([v])[0] is v


@options(words=0)
def case_pickle(tf):
    v = tf.Variable([1.0, 2.0])
    return pickle.loads(pickle.dumps(v))


def case_deepcopy_in_nest(tf):
    v = tf.Variable([1.0])
    twin = copy.deepcopy({"a": [v, v]})
    v.assign([9.0])
    return twin["a"][0], twin["a"][0] is twin["a"][1]


def case_dtype_conversion(tf):
    v = tf.Variable([1.7, 2.2])
    return (
        tf.cast(v, tf.int32),
        tf.convert_to_tensor(v),
        attempt(lambda: tf.convert_to_tensor(v, dtype=tf.float64), words=4),
        tf.convert_to_tensor(v, dtype_hint=tf.float64),
    )


def case_deferred_callable(tf):
    calls = []

    def start():
        calls.append(1)
        return tf.constant([1.0, 2.0])

    v = tf.Variable(initial_value=start, dtype=tf.float32)
    return v, calls


def case_callable_with_dtype(tf):
    return tf.Variable(lambda: [1, 2], dtype=tf.float64)


def case_random_initial(tf):
    v = tf.Variable(tf.random.normal([3, 2]))
    return v.shape, v.dtype


def case_gradient_of_string_variable(tf):
    v, x = tf.Variable("abc"), tf.Variable(1.0)
    with tf.GradientTape() as tape:
        _ = tf.identity(v)
        y = x * x
    return tape.gradient(y, [v, x])


def case_trainable_changes_watching(tf):
    v = tf.Variable(2.0, trainable=False)
    with tf.GradientTape() as tape:
        y = v * v
    return tape.gradient(y, v)


def case_module_collects(tf):
    class Layer(tf.Module):
        def __init__(self):
            super().__init__(name="layer")
            self.b = tf.Variable(0.0, name="b")
            self.a = tf.Variable(1.0, name="a")
            self.frozen = tf.Variable(2.0, trainable=False, name="frozen")

    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.layers = [Layer(), Layer()]
            self.extra = {"w": tf.Variable([1.0], name="w")}

    model = Model()
    return (
        model.name,
        [v.name for v in model.trainable_variables],
        [v.name for v in model.variables],
        [v.name for v in model.non_trainable_variables],
        [m.name for m in model.submodules],
        type(model.variables),
    )


def case_module_name_scope(tf):
    class Layer(tf.Module):
        @tf.Module.with_name_scope
        def __call__(self):
            return tf.Variable(1.0, name="w").name

    layer = Layer(name="dense")
    with layer.name_scope:
        inside = tf.Variable(1.0, name="v").name
    return layer(), inside, layer.name, attempt(lambda: Layer(name="1 bad"), words=0)


def case_module_gradients(tf):
    class Dense(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([[1.0], [2.0]], name="w")
            self.b = tf.Variable([0.5], name="b")

        def __call__(self, x):
            return tf.nn.relu(x @ self.w + self.b)

    model = Dense()
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(tf.constant([[1.0, 2.0], [3.0, 4.0]])) ** 2)
    return tape.gradient(loss, model.trainable_variables)


READS = {
    "convert_to_tensor": lambda tf, v: tf.convert_to_tensor(v),
    "convert_to_tensor dtype": lambda tf, v: tf.convert_to_tensor(v, tf.float32),
    "convert_to_tensor hint": lambda tf, v: tf.convert_to_tensor(v, dtype_hint=tf.float64),
    "read_value": lambda tf, v: v.read_value(),
    "value": lambda tf, v: v.value(),
    "identity": lambda tf, v: tf.identity(v),
    "plus": lambda tf, v: v + 0,
    "slice": lambda tf, v: v[:],
    "ellipsis": lambda tf, v: v[...],
    "stack": lambda tf, v: tf.stack(v),
    "stack in list": lambda tf, v: tf.stack([v])[0],
    "in a list": lambda tf, v: tf.convert_to_tensor([v])[0],
    "reshape": lambda tf, v: tf.reshape(v, [2]),
    "saturate_cast": lambda tf, v: tf.saturate_cast(v, tf.float32),
    "map_structure": lambda tf, v: tf.nest.map_structure(tf.convert_to_tensor, {"v": v})["v"],
    "dropout": lambda tf, v: tf.nn.dropout(v, 0.0),
    "real": lambda tf, v: tf.math.real(v),
    "add_n": lambda tf, v: tf.add_n([v]),
    "pass_through": lambda tf, v: tf.grad_pass_through(lambda x: x)(v),
    "after assign": lambda tf, v: v.assign([3.0, 4.0]).read_value(),
    "assign": lambda tf, v: v.assign([3.0, 4.0]),
    "cast": lambda tf, v: tf.cast(v, tf.float32),
    "constant": lambda tf, v: tf.constant(v),
}


def _source_read_from_variable(read):
    def case(tf):
        v = tf.Variable([3.0, 5.0])
        with tf.GradientTape(persistent=True) as tape:
            r = read(tf, v)
            z = tf.reduce_sum(r * r) + tf.reduce_sum(v * 10.0)
        return [tape.gradient(z, s) for s in (r, v)], tape.gradient(z, [v, r]), tape.jacobian(z, r)

    return case


CASES |= {f"source read by {name}": _source_read_from_variable(f) for name, f in READS.items()}


def case_converted_before_the_tape(tf):
    v = tf.Variable([1.0, 2.0])
    a = tf.convert_to_tensor(v)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(a * a + v)
    with tf.GradientTape() as watching:
        watching.watch(a)
        z = tf.reduce_sum(a * a + v)
    return tape.gradient(y, [a, v]), watching.gradient(z, [a, v])


def case_converted_and_watched(tf):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        a, b = tf.convert_to_tensor(v), tf.convert_to_tensor(v)
        tape.watch(a)
        y = tf.reduce_sum(a * a + b + v)
    return tape.gradient(y, [a, b, v])


def case_converted_is_a_target(tf):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        a = tf.convert_to_tensor(v)
    return tape.gradient(a, v), tape.gradient(v, a), tape.gradient(a, a), tape.jacobian(a, v)


def case_converted_in_forward_mode(tf):
    v = tf.Variable([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0, 0.5])) as acc:
        a = tf.convert_to_tensor(v)
        y = a * v
    return acc.jvp([a, y, v])


def case_converted_keeps_its_value(tf):
    v = tf.Variable([1.0, 2.0])
    a = tf.convert_to_tensor(v)
    with tf.GradientTape() as tape:
        b = tf.convert_to_tensor(v)
        v.assign_add([1.0, 1.0])
        y = tf.reduce_sum(b * v)
    return a, b, v, tape.gradient(y, v)


def case_order_of_references(tf):
    x, v = tf.constant(1.0), tf.Variable(2.0)
    a, b = sorted([v.ref(), x.ref()]), sorted([x.ref(), v.ref()])
    return {
        "sorted": a == b,
        "one way": (x.ref() < v.ref()) != (v.ref() < x.ref()),
        "greater": (x.ref() > v.ref()) == (v.ref() < x.ref()),
        "itself": (x.ref() < x.ref(), x.ref() > x.ref()),
        "none": (x.ref() == None, x.ref() != None),  # noqa: E711
        "other": attempt(lambda: x.ref() == x),
        "differs from other": attempt(lambda: x.ref() != 1),
        "less than other": attempt(lambda: x.ref() < 1),
        "less or equal": attempt(lambda: x.ref() <= v.ref(), words=4),
        "flat": tf.nest.flatten({v.ref(): 1, x.ref(): 1}),
    }


def case_graph_attributes(tf):
    v = tf.Variable(1.0)
    names = ("initializer", "op", "graph", "create", "initial_value")
    values = {name: attempt(getattr, v, name) for name in names}
    return values, attempt(setattr, v, "initializer", 1, words=2)


def case_exponential_moving_average(tf):
    v, w = tf.Variable([1.0, 2.0], name="v"), tf.Variable(3.0, name="w")
    ema = tf.train.ExponentialMovingAverage(0.9)
    early = tf.train.ExponentialMovingAverage(0.9, num_updates=1, name="early")
    found = []
    for i in range(3):
        found.append((ema.apply([v, w]), ema.average(v).numpy(), ema.average(w).numpy()))
        early.apply([w])
        v.assign_add([1.0, float(i)])
        w.assign(w * 2.0)
    return (
        found,
        early.average(w),
        ema.average(v).name,
        ema.average_name(w),
        ema.name,
        ema.average(tf.Variable(1.0)),
        list(ema.variables_to_restore([v])),
        ema.apply(),
        attempt(ema.apply, [tf.Variable(1)]),
        attempt(ema.apply, [tf.constant(1.0)]),
    )


def case_exponential_moving_average_in_a_function(tf):
    v, ema = tf.Variable(1.0), tf.train.ExponentialMovingAverage(0.5)

    @tf.function
    def step():
        v.assign_add(1.0)
        ema.apply([v])
        return ema.average(v)

    return [float(step()) for _ in range(3)]


def case_wrapped_by_a_library(tf):
    class Halved(tf.Variable):
        def __init__(self, inner):
            self.inner = inner

        def __getattr__(self, name):
            return getattr(self.inner, name)

        def value(self):
            return self.inner.value() / 2.0

        def _dense_var_to_tensor(self, *args, **kwargs):
            return self.inner._dense_var_to_tensor(*args, **kwargs) / 2.0

    Halved._OverloadAllOperators()
    tf.register_tensor_conversion_function(Halved, Halved._dense_var_to_tensor)
    inner = tf.Variable([2.0, 4.0])
    halved = Halved(inner)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(halved * halved + 1.0) + tf.reduce_sum(tf.exp(halved))
    return (
        *(y, tape.gradient(y, inner), inner._dense_var_to_tensor(), halved + 1.0),
        attempt(inner._dense_var_to_tensor, tf.int32),
    )


def case_modes_and_names_are_checked(tf):
    one = tf.Variable(1.0, synchronization=None, aggregation=None)
    modes = one.synchronization.name, one.aggregation.name
    by_number = tf.Variable(1.0, synchronization=3, aggregation=1)
    wrong = [
        lambda: tf.Variable(1.0, aggregation="sum"),
        lambda: tf.Variable(1.0, synchronization="auto", name="a"),
        lambda: tf.Variable(1.0, aggregation=tf.VariableSynchronization.AUTO),
        lambda: tf.Variable(1.0, name=3),
    ]
    chosen = by_number.synchronization.name, by_number.aggregation.name
    return modes, chosen, [attempt(call) for call in wrong]


def case_texts_scattered(tf):
    v = tf.Variable(["a", "b", "c"])
    rows = tf.Variable([["a", "b"], ["c", "d"]])
    slices = tf.IndexedSlices(tf.constant(["z"]), tf.constant([2]))
    tables = [["p", "q"]], [1]
    calls = [
        lambda: v.scatter_update(slices).numpy(),
        lambda: v.scatter_nd_update([[0], [1]], ["x", "y"]).numpy(),
        lambda: rows.scatter_update(tf.IndexedSlices(*map(tf.constant, tables))).numpy(),
        lambda: rows.scatter_nd_update([[0, 1]], ["w"]).numpy(),
        lambda: v.scatter_update(tf.IndexedSlices(tf.constant(["z"]), tf.constant([3]))),
        lambda: v.scatter_nd_update([[0]], ["x", "y"]),
    ]

    @tf.function
    def inside():
        v.scatter_update(tf.IndexedSlices(tf.constant(["in"]), tf.constant([1])))
        return v.read_value()

    return [attempt(call, words=0) for call in calls], inside(), v.numpy(), rows.numpy()


def case_rows_divided(tf):
    def divided(dtype, rows, by):
        v = tf.Variable(tf.constant([[7, -7], [9, 100], [5, 6]], dtype))
        slices = tf.IndexedSlices(tf.constant(by, dtype), tf.constant(rows))
        v.scatter_div(slices)
        eager = v.numpy()

        @tf.function
        def again():
            v.scatter_div(slices)
            return v * 1

        return eager, again(), v.dtype

    calls = [
        lambda dtype=dtype, given=given: divided(dtype, *given)
        for dtype in (tf.int32, tf.int64, tf.float32, tf.float64)
        for given in (([0], [[2, 2]]), ([1, 1], [[2, -3], [2, 7]]))
    ]
    return [attempt(call, words=0) for call in calls]


def case_the_first_names_of_references(tf):
    v, x = tf.Variable(1.0, name=""), tf.constant(1.0)
    same = v.experimental_ref() == v.ref(), x.experimental_ref() == x.ref()
    return same, v.experimental_ref().deref() is v, v.name


def case_count_up_to(tf):
    v, wide, real = tf.Variable(1), tf.Variable(0, dtype=tf.int64), tf.Variable(1.0)
    counted = [attempt(lambda: v.count_up_to(3), words=4) for _ in range(3)]
    others = attempt(lambda: wide.count_up_to(5)), attempt(lambda: real.count_up_to(5))
    older = [attempt(lambda: tf.compat.v1.count_up_to(v, 4), words=4) for _ in range(2)]
    return counted, v, others, older


def case_count_up_to_in_a_function(tf):
    v = tf.Variable(1)
    count = tf.function(lambda: v.count_up_to(3) * 10)
    return [attempt(count, words=0) for _ in range(3)], v


def case_what_an_assignment_gives_has_the_id_of_the_variable(tf):
    v, other = tf.Variable([1.0]), tf.Variable([1.0])
    given = v.assign([2.0]), v.assign_add([2.0])
    return [x._unique_id == v._unique_id for x in (*given, other)]
