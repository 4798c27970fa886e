"""What the engine has in C does what its Python does."""

import ast
import copy
import functools
import gc
import inspect
import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
import tomllib
import types
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core.native import FASTPATH, TWINS
from tape_compat._src.core.op import Op
from tape_compat._src.core.state import LOCAL
from tape_compat._src.data.io import parsing, records
from tape_compat._src.ops import philox_host
from tape_compat._src.ops.images import resample, resize_weights
from tape_compat._src.run import executor
from tape_compat._src.run.interpret import plan
from tape_compat._src.values import bounds, record as dispatch

pytestmark = pytest.mark.compiled

PURE = os.environ.get("TAPE_COMPAT_PURE_PYTHON", "0") not in ("", "0")
COMPILER = (sysconfig.get_config_var("CC") or "cc").split()[0]

#: Records in every way that the fast paths know: leaves on either side and on both, scalars on
#: either side, two tapes, an accumulator, a variable read twice, an alias, a tensor used up.
SCRIPT = """
import numpy as np
import tape_compat as tf

v, w = tf.Variable([0.5, -1.0]), tf.Variable([[0.25, 0.5], [0.75, -0.5]])
c = tf.constant([2.0, 3.0]) * 1.0
lines = []
for _ in range(12):
    with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0, 0.0])) as accumulator:
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(c)
            with tf.GradientTape() as inner:
                y = tf.tanh(v * c + v) - 2.0 * v / 3.0 + tf.linalg.matvec(w, v)
                z = tf.reduce_sum(tf.square(y) * (c * c))
                z = z + tf.reduce_sum(tf.matmul(w, w)) + tf.floor(z)
            g = inner.gradient(z, [v, w])
            norm = tf.reduce_sum(g[0] * g[0]) + tf.reduce_sum(g[1] * g[1])
    again = outer.gradient(norm, [v, c, v])
    v.assign_sub(0.01 * g[0])
    w.assign(w - 0.01 * g[1])
    lines += [z.numpy(), *(a.numpy() for a in again), accumulator.jvp(z).numpy(), w.numpy()]

# The calls that C does at once, and their neighbours that it leaves to Python.
class Named(tf.Variable):
    pass

u, named, half = tf.Variable([1.0, 2.0]), Named([1.0, 2.0]), tf.Variable([0.5], dtype="float16")
n = tf.constant([1, 2])
words = tf.constant(["a", "b"])
for _ in range(3):
    with tf.GradientTape() as tape:
        x = c * 1
        terms = [x + u, u + x, u - u, x - named, named * x, 1 - x, x - 1, 2 / x, x / 2, x**2, 2**x]
        terms += [x * True, x * np.float32(2), np.float32(2) * x, x + [1.0, 2.0], [1.0, 2.0] * x]
        terms += [-x, abs(-x), x % 2.0, x // 2.0, u * -0.0, x * 0.0, x * -0.0, 0.0 / x]
        terms += [tf.add(x, u, name="sum"), tf.add(x=x, y=u), tf.square(x, None), tf.nn.relu(u)]
        terms += [tf.reduce_sum(x, axis=0), tf.reduce_sum(x, 0), tf.reduce_sum(x, axis=[0])]
        terms += [tf.reduce_sum(w, axis=1, keepdims=True), tf.reduce_sum(w, axis=True)]
        terms += [tf.reduce_sum(w, 1, True), tf.reduce_sum(w, True), tf.reduce_sum(w, 0, name="")]
        terms += [2.0 * u, u * 2, 1 - u, u / 3.0, u * 1e30, 2**60 * u, u - True, half * 2.0]
        terms += [tf.reduce_sum(w, axis=tf.constant(1)), tf.reduce_mean(w, keepdims=1)]
        terms += [tf.matmul(w, w, transpose_b=True), w @ w, tf.matmul(w, b=w), tf.matmul(a=w, b=w)]
        total = tf.add_n([tf.cast(tf.reduce_sum(t), tf.float32) for t in terms])
    g = tape.gradient(total, u)
    lines += [t.numpy() for t in terms] + [g.numpy(), total.numpy()]
    lines += [(half + 1.0).numpy(), (1 + half).numpy(), (n + 1).numpy(), (2 * n).numpy()]
    lines += [(x == x).numpy(), (x != u).numpy(), (x < 2.5).numpy(), (2.5 > x).numpy(), x == None]
    lines += [(words + words).numpy().astype(str), (words == words).numpy(), (words != "a").numpy()]
    for change in (u.assign_add, u.assign_sub):
        change(g)
        change([0.5, 0.5])
        change(tf.constant([1.0, 1.0]), read_value=False)
        lines.append(change(delta=g).assign_sub(g).numpy())
    for bad in (
        lambda: x + n,
        lambda: x + tf.constant([1.0, 2.0, 3.0]),
        lambda: tf.matmul(x, x),
        lambda: tf.add(x),
        lambda: tf.square(x, x=x),
        lambda: tf.reduce_sum(x, axes=1),
        lambda: tf.reduce_sum(x, axis=3),
        lambda: tf.reduce_sum(x, 0, axis=0),
        lambda: tf.reduce_sum(x, 0, False, "", 1),
        lambda: u * 10**400,
        lambda: u * 1j,
        lambda: x + "a",
        lambda: words * words,
        lambda: u.assign_add(tf.constant([1.0])),
        lambda: u.assign_add(n),
        lambda: u.assign_sub(),
        lambda: tape.gradient(total, u),
        lambda: tape.gradient(None, u),
        lambda: tape.gradient(),
        lambda: tf.GradientTape().gradient(total, u),
        lambda: tf.GradientTape(1, 2, 3),
    ):
        try:
            bad()
            lines.append("no error")
        except Exception as error:
            lines.append(type(error).__name__ + str(error).partition("; at")[0])

# Functions, whose commonest calls C does at once.
p, q = tf.Variable([1.0, 2.0]), tf.Variable(3)
step = tf.function(lambda x, s=2.0, flag=True: (p.assign_add(s * x), x * s if flag else x))
several = tf.function(lambda x, y: {"b": x + y, "a": (y - x, None)})
pair = tf.function(lambda x: [x + 1.0, q])
nothing = tf.function(lambda: (q.assign_add(1), None)[1])
of_words = tf.function(lambda x, name: x + float(len(name)))
of_any = tf.function(lambda *xs: tf.add_n(xs))
failing = tf.function(lambda x: (p.assign(-x), tf.debugging.assert_positive(x), x)[2])

class Model:
    @tf.function
    def call(self, x):
        return x * p

model = Model()
for i in range(40):
    x = tf.constant([float(i), 1.0])
    found = [step(x), step(x, 3.0), step(x, flag=False), step(x, 1, False), several(x, x * 2.0)]
    found += [pair(x), nothing(), of_words(x, "abc"), of_words(x, "ab"), model.call(x), step(p)]
    found += [of_any(x), of_any(x, x), of_any(x, x, x)]
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(step(p)[1]) * 2.0
    found.append(tape.gradient(loss, p))
    for bad in (lambda: step(), lambda: step(x, y=1), lambda: several(x), lambda: failing(-x)):
        try:
            bad()
            found.append("no error")
        except Exception as error:
            found.append(type(error).__name__)
    p.assign(p / 2.0 ** i)
    lines += [np.round(x, 3) if isinstance(x, np.ndarray) else x for x in tf.nest.flatten(
        tf.nest.map_structure(lambda x: x.numpy() if isinstance(x, tf.Tensor) else x, found))]
lines += [x.experimental_get_tracing_count() for x in (step, several, pair, nothing, of_words)]
print([np.round(x, 4).tolist() if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "fi"
       else str(x) for x in lines])
counts = tf.counters.snapshot()
print({k: counts[k] for k in ("traces", "compiles", "dispatches", "fused", "instructions")})
"""


def printed(pure):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "TAPE_COMPAT_PURE_PYTHON": pure},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(PURE or not shutil.which(COMPILER), reason="it could not have been built")
def test_it_was_built():
    assert FASTPATH is not None, "install the package anew: pip install -e ."


@pytest.mark.skipif(FASTPATH is None, reason="not built")
def test_the_same_is_recorded_and_computed():
    assert printed("0") == printed("1")


@pytest.mark.skipif(FASTPATH is None, reason="not built")
def test_arguments_are_checked():
    closure = tf.square.op.bind()
    for call in (
        lambda: dispatch.apply(closure, (1.0,)),
        lambda: dispatch.apply(closure),
        lambda: dispatch.apply(closure, [tf.constant(1.0)]),
        lambda: dispatch.apply_scalar(closure, 1.0, 1.0, False),
        lambda: dispatch.splice_outputs(None, ()),
        lambda: executor.waiting(()),
        lambda: executor.gather(()),
        lambda: executor.run(()),
        lambda: FASTPATH.provide(tensor=tf.Tensor),
        lambda: FASTPATH.provide(tf.Tensor),
        lambda: FASTPATH.Function("unary", abs),
    ):
        with pytest.raises((TypeError, ValueError)):
            call()
    with pytest.raises(AttributeError, match="_aval"):
        FASTPATH.provide(Tensor=object)


@pytest.mark.skipif(FASTPATH is None, reason="not built")
@pytest.mark.usefixtures("deferred")
def test_calls_of_a_settled_function_run_no_python_of_ours():
    v = tf.Variable([1.0, 2.0])

    @tf.function(jit_compile=True)
    def step(x):
        v.assign_sub(0.1 * x)
        return tf.reduce_sum(v)

    x = tf.constant([0.5, 0.25])
    for _ in range(30):
        step(x)
    called = []
    sys.setprofile(lambda frame, event, _: event == "call" and called.append(frame.f_code))
    try:
        step(x)
    finally:
        sys.setprofile(None)
    entered = {code.co_name for code in called}
    assert entered <= {"__enter__", "__exit__"}, called  # of JAX's 64-bit mode


@pytest.mark.skipif(FASTPATH is None, reason="not built")
@pytest.mark.usefixtures("deferred")
@pytest.mark.parametrize("kind", [list, tuple])
def test_remembered_gradients_are_found_in_c(kind):
    """Of the variables of a tf.Module, which are a tuple, as of those in a list."""
    w, b, called = tf.Variable([1.0, 2.0]), tf.Variable(3.0), []

    def gradients(profile=None):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w * w * b)
        sys.setprofile(profile)
        try:
            return tape.gradient(loss, kind([w, b]))
        finally:
            sys.setprofile(None)

    for _ in range(3):
        gradients()
    found = gradients(lambda frame, event, _: event == "call" and called.append(frame.f_code))
    assert not called and type(found) is kind
    np.testing.assert_array_equal(found[0], [6.0, 12.0])
    assert found[1].numpy() == 5.0


@pytest.mark.skipif(FASTPATH is None, reason="not built")
@pytest.mark.usefixtures("deferred")
def test_remembered_gradients_of_rows_are_found_in_c():
    """Of Python it takes what joins the derivatives of rows and their indices."""
    table, ids = tf.Variable([[1.0, 2.0], [3.0, 4.0]]), tf.constant([1, 1])

    def gradient(profile=None):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, ids)))
        sys.setprofile(profile)
        try:
            return tape.gradient(loss, [table])
        finally:
            sys.setprofile(None)

    called, held = [], []
    for _ in range(3):
        gradient()
    for _ in range(50):
        (found,) = gradient(lambda frame, event, _: event == "call" and called.append(frame.f_code))
        held.append(sys.getrefcount(ids))
    names = {code.co_name for code in called}
    assert "answers" in names and held[0] == held[-1]
    assert names <= {"answers", "<listcomp>", "part", "as_tuple", "__init__"}
    np.testing.assert_array_equal(found.values, [[6.0, 8.0], [6.0, 8.0]])
    np.testing.assert_array_equal(found.indices, [1, 1])


@pytest.mark.skipif(FASTPATH is None, reason="not built")
@pytest.mark.usefixtures("deferred")
def test_what_python_knows_of_functions_holds_for_their_calls_in_c():
    step = tf.function(lambda x: x + 1.0)
    x = tf.constant(1.0)
    for _ in range(3):
        step(x)
    tf.config.run_functions_eagerly(True)
    try:
        assert step(x).numpy() == 2.0
    finally:
        tf.config.run_functions_eagerly(False)
    calls = step._retracing.calls
    step(x)
    assert step._retracing.calls == calls + 1 and step.experimental_get_tracing_count() == 1


def parameters(function):
    return list(inspect.signature(function).parameters)


@pytest.mark.skipif(FASTPATH is None, reason="not built")
def test_twins_c_and_stub_agree():
    """The same names and parameters stand in Python, in C and in what type checkers see of C."""
    stub = ast.parse(pathlib.Path(FASTPATH.__file__).with_name("_fastpath.pyi").read_text())
    functions = [node for node in stub.body if isinstance(node, ast.FunctionDef)]
    in_stub = {f.name: [a.arg for a in f.args.posonlyargs + f.args.args] for f in functions}
    in_c = {n: parameters(f) for n, f in vars(FASTPATH).items() if inspect.isbuiltin(f)}
    assert in_stub.pop("provide") == [] and in_c.pop("provide") == ["objects"]
    in_python = {n: parameters(f) for n, f in TWINS.items() if inspect.isfunction(f)}
    assert in_python == in_c == in_stub
    assert "apply" in in_python

    classes = {node.name for node in stub.body if isinstance(node, ast.ClassDef)}
    assert classes == {n for n, c in vars(FASTPATH).items() if inspect.isclass(c)}
    assert classes - set(TWINS) == {"Function"}


@pytest.mark.skipif(FASTPATH is None, reason="not built")
def test_c_is_given_all_that_it_reads():
    assert FASTPATH.provide() == []
    layout = pathlib.Path(FASTPATH.__file__).with_name("layout.c").read_text()
    read = set(re.findall(r"CLASS\((\w+),", layout.split("/* Objects that", 1)[0]))
    marked = {name for name, twin in TWINS.items() if inspect.isclass(twin)}
    assert marked - read == {"Donated", "Placed", "References"} and read <= marked


def test_an_edit_of_a_part_builds_the_extension_anew():
    root = pathlib.Path(__file__).parent.parent
    settings = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]
    extensions = settings["ext-modules"]
    folder = root / "tape_compat" / "_src" / "native"
    parts = {f"tape_compat/_src/native/{path.name}" for path in folder.glob("*.[ch]")}
    named = [
        part for extension in extensions for part in extension["sources"] + extension["depends"]
    ]
    assert set(named) == parts
    for extension in extensions:
        texts = [(root / part).read_text() for part in extension["sources"] + extension["depends"]]
        included = {name for text in texts for name in re.findall(r'#include "(.*)"', text)}
        assert {pathlib.Path(part).name for part in extension["depends"]} == included


@pytest.mark.skipif(FASTPATH is None, reason="not built")
def test_each_slot_of_c_is_read():
    """None is looked up in vain."""
    folder = pathlib.Path(FASTPATH.__file__).parent
    layout = (folder / "layout.c").read_text().split("/* Objects that", 1)[0]
    others = "".join(part.read_text() for part in folder.glob("*.c") if part.name != "layout.c")
    slots = [
        f"{name}.{slot}"
        for name, fields in re.findall(r"CLASS\((\w+),((?:[\s\\\\]*X\(\w+\))+)\)", layout)
        for slot in re.findall(r"X\((\w+)\)", fields)
    ]
    assert len(slots) > 60
    assert [slot for slot in slots if slot not in others] == []


def test_what_is_not_initialized_is_refused():
    class Early(tf.Variable):
        def __init__(self, value):
            self.twice = self._as_tensor() * 2.0
            super().__init__(value)

    with pytest.raises(AttributeError, match="_handle"):
        Early(1.0)
    empty = tf.Tensor.__new__(tf.Tensor)
    x = tf.constant(1.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        with pytest.raises((AttributeError, TypeError)):
            empty * empty
    for source in (empty, tf.Variable.__new__(tf.Variable)):
        with pytest.raises(AttributeError):
            tape.gradient(y, source)


def test_sources_of_another_class_are_told_apart():
    class Other(tf.Tensor):
        __slots__ = ()

    def other(x):
        copied = Other.__new__(Other)
        for name in ("_aval", "_array", "_at", "_id"):
            setattr(copied, name, getattr(x, name))
        return copied

    x, y = tf.constant(2.0) * 1.0, tf.constant(3.0) * 1.0
    for first, expected in ((True, 9.0), (False, 4.0)):
        with tf.GradientTape() as tape:
            a, b = tf.square(x), tf.square(y)
            tape.watch([a, b])
            product = a * b
        (gradient,) = tape.gradient(product, [other(a if first else b)])
        assert gradient.numpy() == expected


def test_an_error_in_an_option_of_the_tape_is_raised():
    class Unknown:
        def __bool__(self):
            raise ValueError("unknown")

    v = tf.Variable(1.0)
    with (
        tf.GradientTape(watch_accessed_variables=Unknown()),
        pytest.raises(ValueError, match="unknown"),
    ):
        v * 2.0
    with tf.GradientTape(watch_accessed_variables=1) as tape:
        y = v * 2.0
    assert tape.gradient(y, v).numpy() == 2.0


def test_several_outputs_come_alike_each_time(deferred):
    """The general way takes a structure for the first time, the fast path after that."""
    two = Op(lambda x, y: (x + y, x - y), "Two").bind()
    signs = Op(lambda x: (x > 0, x < 0), "Signs").bind()
    x = tf.constant([1.0, 2.0]) * 1.0
    entries = []
    for _ in range(2):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.square(x)
            total, difference = dispatch.apply_scalar(two, y, 1.0, False)
            dispatch.apply(signs, (y,))
            entries.append(len(tape._record.calls))
        np.testing.assert_allclose(total, [2.0, 5.0])
        np.testing.assert_allclose(difference, [0.0, 3.0])
    assert entries[0] == entries[1]


@pytest.mark.skipif(FASTPATH is None, reason="not built")
@pytest.mark.parametrize(("count", "in_c"), [(2000, True), (4096, True), (4097, False)])
def test_ops_of_many_inputs_are_recorded_in_c(deferred, count, in_c):
    """A sum of as many losses as a large model has variables; one of more goes the general way."""
    asked = []

    def general(closure, inputs):
        asked.append(len(inputs))
        return TWINS["apply"](closure, inputs)

    def record():
        """Nothing is computed: nobody has the sum when the record ends."""
        asked.clear()
        with tf.GradientTape() as tape:
            tape.watch(x)
            tf.add_n([x * 2.0] * count)
        return count in asked

    x = tf.constant([1.0, 2.0]) * 1.0
    FASTPATH.provide(apply=general)
    try:
        assert record()  # a structure that is new
        assert record() != in_c
    finally:
        FASTPATH.provide(apply=TWINS["apply"])


OPS = (tf.add, tf.square, tf.reduce_sum, tf.matmul, tf.equal, tf.nn.relu)


@pytest.mark.skipif(FASTPATH is None, reason="not built")
def test_integers_of_the_host_are_recorded_in_c(deferred):
    logits = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    calls = []

    def counting(closure, inputs):
        calls.append(closure.name)
        return TWINS["apply"](closure, inputs)

    def step(labels):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            picked = tf.gather(tf.where([True, False], losses, 0.0), labels)
        return tape.gradient(picked, logits).numpy().tolist()

    wanted = [step(np.array(labels)) for labels in ([0, 1], [1, 0])]
    FASTPATH.provide(apply=counting)
    try:
        assert [step(np.array(labels)) for labels in ([0, 1], [1, 0])] == wanted
    finally:
        FASTPATH.provide(apply=TWINS["apply"])
    assert not calls


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.__name__)
def test_an_op_passes_for_a_function(op):
    assert inspect.isfunction(op) and inspect.isroutine(op)
    assert op.__name__ == op.__qualname__ in repr(op)
    assert op.__module__.startswith("tape_compat._src.ops.") and len(op.__doc__) > 5
    assert list(inspect.signature(op).parameters)[-1] == "name"
    assert op.__code__.co_filename.endswith(".py") and op.__defaults__ != ()
    assert pickle.loads(pickle.dumps(op)) is op
    assert copy.copy(op) is op and copy.deepcopy(op) is op
    assert weakref.ref(op)() is op and {op: 1}[op] == 1 and op == op

    @functools.wraps(op)
    def wrapped(*args, **kwargs):
        return op(*args, **kwargs)

    assert wrapped.__wrapped__ is op and wrapped.__doc__ == op.__doc__
    assert inspect.signature(wrapped) == inspect.signature(op)
    op.mark = 1
    assert op.mark == 1
    del op.mark
    assert not hasattr(op, "mark")


def test_an_op_binds_to_an_instance():
    class Other:
        plus = tf.add

        def __init__(self, tensor):
            self._as_tensor, self.dtype = lambda: tensor, tensor.dtype

    other = Other(tf.constant(1.0))
    assert other.plus(2.0).numpy() == 3.0
    assert Other.plus is tf.add
    assert isinstance(tf.Variable(0.0).assign_add, types.MethodType)


def test_a_subclass_has_its_own_methods():
    class Doubling(tf.Variable):
        def assign_add(self, delta, use_locking=False, name=None, read_value=True):
            return super().assign_add(2.0 * delta)

        def __add__(self, other):
            return "mine"

    class Counting(tf.GradientTape):
        gradients = 0

        def gradient(self, *args, **kwargs):
            self.gradients += 1
            return super().gradient(*args, **kwargs)

    v = Doubling(1.0)
    v.assign_add(tf.constant(1.0))
    assert v.numpy() == 3.0 and v + tf.constant(1.0) == "mine"
    for _ in range(3):
        with Counting() as tape:
            y = v * v
        assert tape.gradient(y, v).numpy() == 6.0 and tape.gradients == 1


def test_tapes_are_left_in_any_order():
    x = tf.constant(2.0)
    for _ in range(2):
        first, second = tf.GradientTape(), tf.GradientTape()
        first.__enter__()
        second.__enter__()
        with pytest.raises(ValueError, match="still recording"):
            second.__enter__()
        first.watch(x)
        second.watch(x)
        y = x * x
        first.__exit__(None, None, None)
        z = y * x
        second.__exit__(None, None, None)
        second.__exit__(None, None, None)
        assert first.gradient(y, x).numpy() == 4.0
        assert second.gradient(z, x).numpy() == 12.0
        assert LOCAL.state.recorders == () and not LOCAL.state.deferring


def test_signed_zeros_are_not_mixed_up(deferred):
    x = tf.constant([1.0, 2.0])
    for _ in range(3):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * 1.0
            plus, minus = y * 0.0, y * -0.0
        gradients = tape.gradient(plus, x).numpy(), tape.gradient(minus, x).numpy()
        assert [bool(np.signbit(g).all()) for g in gradients] == [False, True]


def test_a_slice_that_its_variable_leads_to_is_collected():
    def make():
        v = tf.Variable([1.0, 2.0])
        for _ in range(3):
            with tf.GradientTape():
                v.kept = v[0:1]
        dispatch.flush()
        return weakref.ref(v)

    refs = [make() for _ in range(3)]
    gc.collect()
    assert [ref() for ref in refs] == [None] * 3


@pytest.mark.skipif(FASTPATH is None, reason="not built")
def test_collections_need_not_look_at_what_is_recorded(deferred):
    v = tf.Variable(np.ones((4, 4), np.float32))

    def objects(steps):
        with tf.GradientTape():
            y = v * 1.0
            before = len(gc.get_objects())
            for _ in range(steps):
                y = tf.tanh(y @ v) + y * 0.5
            return len(gc.get_objects()) - before

    for _ in range(4):
        objects(100)
    gc.collect()
    gc.disable()
    try:
        assert objects(100) < 20
    finally:
        gc.enable()


@pytest.mark.skipif(FASTPATH is None, reason="not built")
def test_the_state_is_that_of_the_thread(deferred):
    """Threads that take turns each record for themselves, and a state ends with its thread."""
    v = tf.Variable(2.0)
    barrier = threading.Barrier(2)
    found, states = [], []

    def work(factor):
        with tf.GradientTape() as tape:
            y = v * factor
            for _ in range(20):
                barrier.wait()
                y = y * 1.0
                assert len(LOCAL.state.recorders) == 1
        found.append((factor, tape.gradient(y, v).numpy()))
        states.append(weakref.ref(tape))

    for _ in range(3):
        threads = [threading.Thread(target=work, args=(f,)) for f in (3.0, 5.0)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(found) == [(3.0, 3.0)] * 3 + [(5.0, 5.0)] * 3
    assert LOCAL.state.recorders == ()
    (tf.constant(1.0) * 2.0).numpy()
    gc.collect()
    assert all(state() is None for state in states)


@pytest.mark.skipif(FASTPATH is None, reason="not built")
def test_a_finalizer_may_record_ops(deferred):
    """Garbage is collected while a call is recorded, and its finalizer makes another call."""
    kept = []

    class Garbage:
        def __init__(self, x):
            self.itself, self.x = self, x

        def __del__(self):
            kept.append(self.x * (tf.constant([float(len(kept)), 1.0])))

    def step(x, collects):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.square(x)
            if collects:
                Garbage(y)
            for _ in range(10):
                y = tf.tanh(y * x) + 0.5
        return tape.gradient(y, x).numpy()

    x = tf.constant([0.5, 0.9]) * 1.0
    before = gc.get_threshold()
    for _ in range(3):
        expected = step(x, False)
    try:
        for i in range(30):
            gc.set_threshold(20 + i, 1, 1)
            np.testing.assert_allclose(step(x, True), expected, rtol=1e-5)
    finally:
        gc.set_threshold(*before)
    gc.collect()
    for i, product in enumerate(kept):
        np.testing.assert_allclose(product, np.square([0.5, 0.9]) * [i, 1.0], rtol=1e-5)


def test_references_are_given_back():
    """Nothing that a step touches is held by more references after it than before."""
    x, shift, v = tf.constant([1.0, 2.0]) * 1.0, tf.constant([0.5, 0.5]) * 1.0, tf.Variable(0.5)
    closure = tf.square.op.bind()

    def step():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.square(x + shift) * v
            z = tf.reduce_sum(2.0 * (y - shift) * (x * x))
        g = tape.gradient(z, [x, v])
        v.assign_sub(0.001 * g[1])
        dispatch.flush()

    def count():
        gc.collect()
        held = [closure, x, shift, v, x._aval, LOCAL.state, None, (), 0, dispatch.apply]
        return len(gc.get_objects()), [sys.getrefcount(o) for o in held[:6]]

    for _ in range(10):
        step()
    objects, references = count()
    for _ in range(200):
        step()
    more_objects, more_references = count()
    assert more_objects - objects < 50
    np.testing.assert_array_less(np.subtract(more_references, references), 20)


def test_a_gradient_within_a_capture_is_remembered():
    """A custom gradient that asks a tape, seen by `jacobian` more than once."""

    @tf.custom_gradient
    def cube(x):
        def grad(dy):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.square(x) * x
            return dy * tape.gradient(y, x)

        return tf.square(x) * x, grad

    x = tf.constant([1.0, 2.0]) * 1.0
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = cube(x)
        np.testing.assert_allclose(tape.jacobian(y, x), [[3.0, 0.0], [0.0, 12.0]])


# What refers to the outputs of a program.


def referred(program):
    return executor.waiting(program.refs)[1]


def test_outputs_that_nobody_has_are_not_waiting(deferred):
    with tf.GradientTape():
        x = tf.square(tf.constant([1.0, 2.0]))
        y, z = x + 1.0, x + 2.0
        program = LOCAL.state.program
        assert [t is o for t, o in zip(referred(program), (x, y, z), strict=True)] == [True] * 3
        del y
        assert len(referred(program)) == 2
        cycle = [z]
        cycle.append(cycle)
        del z, cycle
        gc.collect()
        assert len(referred(program)) == 1 and referred(program)[0] is x
        np.testing.assert_allclose(x, [1.0, 4.0])
        assert referred(program) == []


@pytest.mark.skipif(FASTPATH is None, reason="weak references to it are gone")
def test_an_output_that_comes_back_is_computed(deferred):
    kept = []

    class Returning(tf.Tensor):
        __slots__ = ()

        def __del__(self):
            kept.append(self)

    with tf.GradientTape():
        x = tf.square(tf.constant([1.0, 2.0]))
        program = LOCAL.state.program
        y = Returning.__new__(Returning)
        for name in ("_aval", "_array", "_at", "_id"):
            setattr(y, name, getattr(x, name))
        program.refs.append(dispatch.refer(y))
        del x, y
        (back,) = kept
        assert referred(program)[0] is back
        np.testing.assert_allclose(back, [1.0, 4.0])


def test_a_tensor_outlives_what_refers_to_it(deferred):
    with tf.GradientTape():
        x = tf.square(tf.constant([1.0, 2.0]))
        y = x + 1.0
        program = LOCAL.state.program
        program.refs = type(program.refs)()
        assert referred(program) == []
        program.refs.append(dispatch.refer(y))
        del x
        np.testing.assert_allclose(y, [2.0, 5.0])


@pytest.mark.skipif(FASTPATH is None, reason="not built")
def test_places_are_checked():
    empty = tf.Tensor.__new__(tf.Tensor)
    for at in (None, (), (None, "1"), (None, 1, 2)):
        with pytest.raises(TypeError):
            empty._at = at
    with pytest.raises(TypeError):
        del empty._at
    with pytest.raises(AttributeError):
        empty._at
    empty._at = (None, 3)
    assert empty._at == (None, 3)
    references = executor.Program(None).refs
    for bad in (lambda: type(references)(1), lambda: references.append(1.0)):
        with pytest.raises(TypeError):
            bad()


def test_checksums_are_those_of_python():
    twin = TWINS["crc32c"]
    assert records.crc32c(b"123456789") == twin(b"123456789") == 0xE3069283
    data = np.random.default_rng(0).integers(0, 256, 5000, np.uint8).tobytes()
    for size in (0, 1, 3, 7, 8, 9, 63, 64, 65, 256, 257, 5000):
        assert records.crc32c(memoryview(data)[:size]) == twin(data[:size])


PLACES = [
    ([], (3,)),
    (2, (3,)),
    ([0, 2, 1] * 99, (3,)),
    ([0, 2, 3], (3,)),
    ([0, -1], (3,)),
    ([[0, 4], [2, 3]], (3, 5)),
    ([[0, 4], [3, 3]], (3, 5)),
    ([[0, -1]], (3, 5)),
    ([0], (0,)),
    ([2**31 - 1], (2**31 - 1,)),
    ([2**31 - 1], (2**40,)),
    ([[1] * 9], (2,) * 9),
]


@pytest.mark.parametrize(("numbers", "sizes"), PLACES)
def test_places_are_checked_as_in_python(numbers, sizes):
    for dtype in ("int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", ">i4"):
        array = np.array(numbers).astype(dtype)
        for given in (array, np.repeat(array[..., None], 2, -1)[..., 0]):  # one with gaps
            assert bounds.within(given, sizes) == TWINS["within"](given, sizes)
    for dtype in ("int32", "int64"):
        with jax.enable_x64(True):
            array = jnp.asarray(np.array(numbers, dtype))
        assert bounds.within(array, sizes) == TWINS["within"](np.asarray(array), sizes)


@pytest.mark.skipif(FASTPATH is None, reason="not built")
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_places_of_arrays_of_jax_are_checked_in_c(dtype):
    with jax.enable_x64(True):
        array = jnp.arange(4, dtype=dtype)
    FASTPATH.provide(within=None)  # which cannot be called
    try:
        assert bounds.within(array, (4,)) and not bounds.within(array, (3,))
    finally:
        FASTPATH.provide(within=TWINS["within"])


def python_code(function):
    """The code that Python runs in a call of a function."""
    codes = set()
    sys.setprofile(lambda frame, event, _: codes.add(frame.f_code))
    try:
        function()
    finally:
        sys.setprofile(None)
    return codes


@pytest.mark.skipif(FASTPATH is None, reason="not built")
@pytest.mark.parametrize("make", [np.array, jnp.array, lambda ids: tf.constant(ids) + 0])
def test_rows_are_looked_up_and_updated_in_c(deferred, make):
    ids = tf.constant(make([2, 0, 2]))
    table = tf.Variable(np.arange(6.0, dtype=np.float32).reshape(3, 2))
    _ = table.assign_add(table), table.scatter_sub(tf.IndexedSlices(tf.ones([3, 2]), ids))
    rows = []

    def step():
        with tf.GradientTape():
            rows.append(tf.gather(table, ids))
        table.scatter_sub(tf.IndexedSlices(rows[-1], ids))

    step()
    assert bounds.refuse_rows.__code__ not in python_code(step)
    x = 2 * np.arange(6.0).reshape(3, 2)
    np.subtract.at(x, [2, 0, 2], 1.0)
    for found in rows:
        np.testing.assert_array_equal(found.numpy(), x[[2, 0, 2]])
        np.subtract.at(x, [2, 0, 2], found.numpy())
    np.testing.assert_array_equal(table.numpy(), x)


@pytest.mark.parametrize("bad", [[0, 3], [-1]])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_a_row_that_is_not_there_leaves_a_variable_as_it_was(bad, dtype):
    ids, table = tf.constant(np.array(bad, dtype)), tf.Variable(tf.ones([3, 2]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"is not in \[0, 3\)"):
        tf.gather(table, ids)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"is not in \[0, 3\)"):
        table.scatter_add(tf.IndexedSlices(tf.ones([len(bad), 2]), ids))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Must have updates"):
        table.scatter_add(tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 1])))
    with pytest.raises(TypeError, match="Argument `sparse_delta` must be"):
        table.scatter_add(bad)
    np.testing.assert_array_equal(table.numpy(), np.ones([3, 2]))


def example_bytes(rng):
    """A serialized example with features of each kind."""
    train = tf.train
    features = {
        "texts": train.Feature(bytes_list=train.BytesList(value=[b"", b"ab", b"c" * 200])),
        "floats": train.Feature(float_list=train.FloatList(value=rng.normal(size=3))),
        "integers": train.Feature(int64_list=train.Int64List(value=[0, -1, 1 << 62, 300])),
        "none": train.Feature(int64_list=train.Int64List(value=[])),
        "\u00e4": train.Feature(),
    }
    return train.Example(features=train.Features(feature=features)).SerializeToString()


def parsed_or_refused(function, message):
    try:
        return function(message)
    except ValueError:
        return "refused"


def test_examples_are_taken_apart_as_in_python():
    twin = TWINS["features_of"]
    rng = np.random.default_rng(0)
    message = example_bytes(rng)
    found = parsing.features_of(message)
    assert found == twin(message)
    assert found["texts"] == (1, [b"", b"ab", b"c" * 200])
    assert np.frombuffer(found["integers"][1], np.int64).tolist() == [0, -1, 1 << 62, 300]
    refused = 0
    for _ in range(4000):  # of bytes that are wrong somewhere, both make the same
        size = rng.integers(1, len(message)) if rng.random() < 0.1 else len(message)
        wrong = bytearray(message[:size])
        for place in rng.integers(0, len(wrong), rng.integers(0, 4)):
            wrong[place] = rng.integers(0, 256)
        theirs = parsed_or_refused(twin, bytes(wrong))
        assert parsed_or_refused(parsing.features_of, bytes(wrong)) == theirs
        refused += theirs == "refused"
    assert 500 < refused < 3900


@pytest.mark.parametrize("kind", ["uint8", "float32"])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_pixels_between_pixels_are_those_of_python(kind, channels):
    rng = np.random.default_rng(channels)
    for old, new in (((35, 38), (22, 24)), ((5, 7), (11, 3)), ((4, 4), (4, 4)), ((1, 9), (6, 1))):
        images = rng.integers(0, 255, (2, *old, channels)).astype(kind)
        between = [resize_weights.bilinear(n, m) for n, m in zip(new, old, strict=True)]
        found = np.empty((2, *new, channels), np.float32)
        others = np.empty_like(found)
        resample.resample(images, found, *between[0], *between[1])
        TWINS["resample"](images, others, *between[0], *between[1])
        np.testing.assert_array_equal(found, others)


def test_pixels_are_taken_from_inside_of_images():
    images, found = np.zeros((1, 4, 4, 3), np.uint8), np.zeros((1, 2, 2, 3), np.float32)
    (low, high, share), whole = resize_weights.bilinear(2, 4), resize_weights.bilinear(2, 4)
    for wrong in (
        (low + 9, high, share, *whole),
        (low, high - 9, share, *whole),
        (low[:1], high, share, *whole),
        (low, high, share.astype(np.float64), *whole),
        (*whole, low, high, share[:1]),
    ):
        if FASTPATH is not None:
            with pytest.raises(ValueError, match="do not fit together"):
                resample.resample(images, found, *wrong)
    with pytest.raises((BufferError, ValueError)):
        found.flags.writeable = False
        resample.resample(images, found, *whole, *whole)


def test_random_words_are_those_of_python():
    most = (1 << 64) - 1
    for generator in ((0, 5, 7, 1, 1), (most - 2, 5, 1 << 63 | 7, 4, 256), (3, most, 1, 2, 128)):
        for size in (0, 4, 12, 32, 100, 400):
            words, others = np.empty(size, np.uint32), np.empty(size, np.uint32)
            philox_host.fill(words, *generator)
            TWINS["fill"](others, *generator)
            assert np.array_equal(words, others)
    # the vectors of the paper's library: all words zero, all words full
    for word, expected in (
        (0, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        (most, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ):
        words = np.empty(4, np.uint32)
        philox_host.fill(words, word, word, word, 1, 1)
        assert " ".join(f"{each:08x}" for each in words) == expected


@pytest.mark.parametrize("most", [None, 3e38, 60.0])
def test_numbers_that_are_looked_for_are_those_of_python(most):
    parameters = np.array([0.3, 1.0, 2.0, 7.5, 9.99, 10.0, 40.0, 1e5, 0.0, np.inf, np.nan, -1.0])
    found, others = np.empty((30, 12)), np.empty((30, 12))
    for generator in ((5, 6, 7), ((1 << 64) - 300, 6, 1 << 63)):
        philox_host.look_for(found, parameters, *generator, most)
        TWINS["look_for"](others, parameters, *generator, most)
        np.testing.assert_allclose(found, others, rtol=1e-14)
        assert most is None or np.nanmax(found[:, :9]) <= most


def test_orders_are_those_of_python():
    for size in (0, 1, 2, 50):
        words = np.random.default_rng(0).integers(0, 1 << 32, size, np.uint32)
        order, other = np.arange(size), np.arange(size)
        philox_host.swap(order, words)
        TWINS["swap"](other, words)
        assert np.array_equal(order, other) and sorted(order.tolist()) == list(range(size))


def test_the_steps_of_a_plan_are_those_of_python():
    steps = [
        plan.Step(np.add, (0, 1), 2, (2,), (1,)),
        plan.Step(lambda x: [x, x * 2], (2,), None, (3, 4), (2,)),
        plan.Step(lambda *all: np.stack(all), (0, *[3] * 20), 5, (5,), ()),
    ]
    start = [np.float32(2), np.float32(3), None, None, None, None]
    found, others = plan.take_steps(start.copy(), steps), TWINS["take_steps"](start.copy(), steps)
    assert found[1:5] == others[1:5] == [None, None, 5.0, 10.0]
    assert found[5].tolist() == others[5].tolist() == [2.0, *[5.0] * 20]

    kept = object()
    for function in (plan.take_steps, TWINS["take_steps"]):
        with pytest.raises(ZeroDivisionError):
            function([0.0], [plan.Step(lambda x: 1 / x, (0,), 0, (0,), ())])
        with pytest.raises(IndexError):
            function([0.0], [plan.Step(lambda x: x, (1,), 0, (0,), ())])
        before = sys.getrefcount(kept)
        found = function([kept, None], [plan.Step(lambda x: (x,), (0,), None, (1,), (0,))])
        counts = sys.getrefcount(kept) - before
        assert found == [None, kept] and counts == 1
        found.clear()
        counts = sys.getrefcount(kept) - before
        assert counts == 0
