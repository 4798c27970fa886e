"""`tf.raw_ops`, each op beside TensorFlow's."""

import functools
import inspect

import numpy as np
import pytest

import tape_compat
from tape_compat._src.library.raw.definitions import names
from tests.oracle import tensorflow
from tests.parity import further_calls, recurrent_calls, seldom_calls, store, update_calls
from tests.parity.further_calls import COMPILED
from tests.parity.harness import Array, Case, Raised, attempt, describe, differences
from tests.parity.kernel_inputs import IMAGES
from tests.parity.sparse_calls import OF_FILES
from tests.parity.test_graph_kernels import kernel_calls, narrow

pytestmark = pytest.mark.skipif(
    not store.installed(), reason="tensorflow, the oracle, is not installed (extra `parity`)"
)

CALLS = kernel_calls()
#: TensorFlow has this one within functions only.
OF_FUNCTIONS = {"AccumulateNV2"}
#: Of these only dtypes and shapes are compared: they draw other numbers.
DRAWN = {
    **further_calls.DRAWN,
    **recurrent_calls.DRAWN,
    **seldom_calls.DRAWN,
    "Multinomial": lambda r, c: r.Multinomial(logits=c([[0.5, 0.5]]), num_samples=3),
    "RandomStandardNormal": lambda r, c: r.RandomStandardNormal(shape=[2], dtype=np.float64),
    "RandomUniform": lambda r, c: r.RandomUniform(shape=[2, 3], dtype=np.float32, seed=1),
    "RandomUniformInt": lambda r, c: r.RandomUniformInt(shape=[2], minval=c(1), maxval=c(5)),
    "TruncatedNormal": lambda r, c: r.TruncatedNormal(shape=[2], dtype=np.float32),
}
#: Kernels that SavedModels do not have as nodes with a result to compare.
SILENT = {
    "Assert": lambda r, c: r.Assert(condition=True, data=[c([1.0])]),
    "NoOp": lambda r, c: r.NoOp(),
    "PrintV2": lambda r, c: r.PrintV2(input=c(b""), end=""),
}


def outcome(tf, call):
    """What a call gives, described, or the error that it raises."""
    found = attempt(call, tf.raw_ops, lambda value: narrow(tf, value))
    if isinstance(found, Raised):
        return found
    return {"fields": list(getattr(found, "_fields", ())), "value": describe(tf, found)}


@functools.cache
def real(call):
    """What a call gives on TensorFlow."""
    return outcome(tensorflow(), call)


def compared(calls, close=1e-5):
    case = Case("raw", print, words=6, rtol=close, atol=1e-6)
    wrong = {}
    for name, call in calls.items():
        expected, found = real(call), outcome(tape_compat, call)
        if lines := differences(expected, found, case):
            wrong[name] = lines
    return wrong


def test_every_op():
    missing = (
        set(names()) - CALLS.keys() - DRAWN.keys() - SILENT.keys() - COMPILED.keys() - OF_FILES
    ) - update_calls.NAMES
    assert not missing, sorted(missing)
    failed = [
        name for name, call in CALLS.items() if isinstance(outcome(tensorflow(), call), Raised)
    ]
    assert set(failed) == OF_FUNCTIONS
    assert not compared({n: call for n, call in (CALLS | SILENT).items() if n not in OF_FUNCTIONS})


def test_files(tmp_path):
    for tf in (tensorflow(), tape_compat):
        file = str(tmp_path / tf.__name__)
        assert tf.raw_ops.WriteFile(filename=file, contents="abc") is None
        assert tf.raw_ops.ReadFile(filename=file).numpy() == b"abc"


def test_compiled():
    case = Case("raw", print, rtol=1e-4, atol=1e-5)
    for name, call in COMPILED.items():
        expected = within(tensorflow(), call, jit_compile=True)
        assert not differences(expected, outcome(tape_compat, call), case), name


def test_draws():
    for name, call in DRAWN.items():
        expected, found = [shapes(outcome(tf, call)) for tf in (tensorflow(), tape_compat)]
        assert expected == found, name


#: Draws of seeds, which are TensorFlow's and go on from call to call.
SEEDED = {
    "Multinomial": lambda r, c: r.Multinomial(
        logits=c([[0.1, 0.2, 0.3]]), num_samples=3, seed=11, seed2=12
    ),
    "RandomShuffle": lambda r, c: r.RandomShuffle(value=c([1, 2, 3, 4, 5]), seed=11, seed2=12),
    "RandomStandardNormal": lambda r, c: r.RandomStandardNormal(
        shape=[3], dtype=np.float32, seed=11
    ),
    "RandomUniform": lambda r, c: r.RandomUniform(shape=[3], dtype=np.float32, seed2=12),
    "RandomUniformInt": lambda r, c: r.RandomUniformInt(
        shape=[3], minval=c(0), maxval=c(100), seed=11, seed2=12
    ),
}


def test_draws_of_seeds():
    case = Case("raw", print)
    for _ in range(2):
        for name, call in SEEDED.items():
            expected, found = [outcome(tf, call) for tf in (tensorflow(), tape_compat)]
            assert not differences(expected, found, case), name


def shapes(found):
    """What was given, without the values."""
    if isinstance(found, dict):
        return {key: shapes(part) for key, part in found.items()}
    return (found.kind, found.dtype, found.shape) if isinstance(found, Array) else found


#: Kernels that do another thing with these dtypes than TensorFlow's.
OTHER_DTYPES = {
    "AsString string": "TensorFlow takes the precision for the most letters",
    "Conv2DBackpropInput int32": "integers have no derivative here",
    "Dilation2DBackpropFilter int32": "as above",
    "Dilation2DBackpropInput int32": "as above",
    "Round int32": "TensorFlow gives zeros",
    "StridedSliceGrad string": "texts have no derivative here",
}


@pytest.mark.parametrize("dtype", ["int32", "string"])
def test_other_dtypes(dtype):
    """Each op of tensors of another dtype in the place of float32, where TensorFlow takes it."""

    def made(tf):
        def constant(value):
            x = narrow(tf, value)
            if x.dtype != tf.float32:
                return x
            return tf.strings.as_string(x) if dtype == "string" else tf.cast(x, dtype)

        return constant

    case, wrong = Case("raw", print), {}
    for name, call in CALLS.items():
        expected = attempt(call, tensorflow().raw_ops, made(tensorflow()))
        if not isinstance(expected, Raised) and f"{name} {dtype}" not in OTHER_DTYPES:
            found = attempt(call, tape_compat.raw_ops, made(tape_compat))
            both = describe(tensorflow(), expected), describe(tape_compat, found)
            wrong[name] = differences(*both, case)
    assert not {name: lines for name, lines in wrong.items() if lines}


#: Other attributes.
VARIANTS = {
    **seldom_calls.VARIANTS,
    **{
        f"{op} {corners} {centers} {size}": lambda r, c, op=op, a=corners, h=centers, s=size: (
            getattr(r, op)(images=IMAGES(c), size=s, align_corners=a, half_pixel_centers=h)
        )
        for op in ("ResizeBilinear", "ResizeBicubic", "ResizeNearestNeighbor")
        for corners, centers in ((False, False), (True, False), (True, True))
        for size in ([6, 3], [4, 4], [1, 7])
    },
    **{
        f"ResizeArea {size}": lambda r, c, s=size: r.ResizeArea(
            images=IMAGES(c), size=s, align_corners=True
        )
        for size in ([6, 3], [4, 4], [1, 7])
    },
    "ResizeNearestNeighbor of integers": lambda r, c: r.ResizeNearestNeighbor(
        images=c(np.arange(8).reshape(1, 2, 2, 2)), size=[3, 3]
    ),
}


def test_variants():
    assert not compared(VARIANTS)


#: Calls that are refused, and a few that are taken.
REFUSED = {
    "positional": lambda r, c: r.AddV2(c(1.0), c(2.0)),
    "unknown": lambda r, c: r.AddV2(x=c(1.0), y=c(2.0), z=3),
    "derived": lambda r, c: r.AddV2(x=c(1.0), y=c(2.0), T=np.float32),
    "missing": lambda r, c: r.AddV2(x=c(1.0)),
    "two missing": lambda r, c: r.AddV2(),
    "many missing": lambda r, c: r.StridedSlice(),
    "attribute missing": lambda r, c: r.Cast(x=c(1.0)),
    "dtypes": lambda r, c: r.AddV2(x=c(1.0), y=c(2)),
    "dtypes in a list": lambda r, c: r.ConcatV2(values=[c([1.0]), c([2])], axis=0),
    "dtype": lambda r, c: r.Sin(x=c(1)),
    "fixed dtype": lambda r, c: r.StringLower(input=c(1.0)),
    "texts": lambda r, c: r.AddV2(x=c([b"a"]), y=c([b"b"])),
    "bool": lambda r, c: r.Sum(input=c([1.0]), axis=0, keep_dims=1),
    "int": lambda r, c: r.Unpack(value=c([1.0]), num="a"),
    "float": lambda r, c: r.LeakyRelu(features=c(1.0), alpha="a"),
    "string": lambda r, c: r.MirrorPad(input=c([1.0]), paddings=[[1, 1]], mode=3),
    "one of": lambda r, c: r.MirrorPad(input=c([1.0]), paddings=[[1, 1]], mode="FOO"),
    "list": lambda r, c: r.AvgPool(value=IMAGES(c), ksize=2, strides=[1, 1, 1, 1], padding="SAME"),
    "length": lambda r, c: r.AvgPool(
        value=IMAGES(c), ksize=[2], strides=[1, 1, 1, 1], padding="SAME"
    ),
    "type": lambda r, c: r.Cast(x=c(1.0), DstT="foo"),
    "dtype of an attribute": lambda r, c: r.ArgMax(
        input=c([1.0]), dimension=0, output_type=np.float32
    ),
    "shape": lambda r, c: r.EnsureShape(input=c([1.0]), shape="ab"),
    "one of a list": lambda r, c: r.AddN(inputs=1),
    "too few": lambda r, c: r.ConcatV2(values=[c([1.0])], axis=0),
    "counts": lambda r, c: r.DynamicStitch(indices=[[0], [1]], data=[[1.0]]),
    "minimum": lambda r, c: r.Split(axis=0, value=c([1.0]), num_split=0),
    "no attribute": lambda r, c: r.DynamicPartition(
        data=c([1.0]), partitions=[0], num_partitions=None
    ),
    "default": lambda r, c: r.Sum(input=c([1.0]), axis=0, keep_dims=None),
    "name": lambda r, c: r.AddV2(x=c(1.0), y=c(2.0), name="sum"),
}
#: What numbers, lists and arrays become, which a function does another way.
CONVERTED = {
    "number": lambda r, c: r.AddV2(x=1, y=c(2.0)),
    "number that does not fit": lambda r, c: r.AddV2(x=1.5, y=c(2)),
    "first": lambda r, c: r.AddV2(x=1, y=2.5),
    "first float": lambda r, c: r.AddV2(x=2.5, y=1),
    "array": lambda r, c: r.AddV2(x=np.array([1.5, 2.0]), y=c(1)),
    "array first": lambda r, c: r.AddV2(x=np.array([1.5]), y=1),
    "list": lambda r, c: r.ConcatV2(values=[[1, 2], c([1.0])], axis=0),
    "tensor as list": lambda r, c: r.IdentityN(input=c([1.0, 2.0])),
    "lists of any": lambda r, c: r.IdentityN(input=[1.0, 2, "a"]),
    "preferred": lambda r, c: r.Sum(input=c([1.0]), axis=0.0),
    "preferred of a list": lambda r, c: r.Sum(input=c([1.0]), axis=[0.0]),
    "preferred of an array": lambda r, c: r.Sum(input=c([1.0]), axis=np.array([0.0])),
    "not preferred": lambda r, c: r.Range(start=np.int64(1), limit=3, delta=1),
    "large": lambda r, c: r.Range(start=2**40, limit=2**40 + 2, delta=1),
    "float": lambda r, c: r.Unpack(value=c([1.0, 2.0]), num=2.5),
    "dtype": lambda r, c: r.Cast(x=c(1.5), DstT="int32"),
    "bytes": lambda r, c: r.StringJoin(inputs=["a", b"b"], separator=b"x"),
    "None": lambda r, c: r.Sin(x=None),
}


def test_refused():
    assert not compared(REFUSED | CONVERTED)


def within(tf, call, **options):
    """A call inside a function."""

    def traced(raw, constant):
        return tf.function(lambda: call(raw, constant), autograph=False, **options)()

    return outcome(tf, traced)


def test_refused_within_functions():
    case = Case("raw", print, words=6)
    for name, call in REFUSED.items():
        expected, found = within(tensorflow(), call), within(tape_compat, call)
        assert not differences(expected, found, case), name


def test_in_functions():
    """Each op gives in a function what it gives outside of one."""
    wrong = {}
    case = Case("raw", print, rtol=1e-5, atol=1e-6)
    for name, call in CALLS.items():
        expected, found = outcome(tape_compat, call), within(tape_compat, call)
        if lines := differences(expected, found, case):
            wrong[name] = lines
    assert not wrong


def test_signatures():
    for name in names():
        ours, theirs = [getattr(tf.raw_ops, name) for tf in (tape_compat, tensorflow())]
        assert ours.__name__ == theirs.__name__
        one, other = [inspect.signature(f).parameters.values() for f in (ours, theirs)]
        assert [p.name for p in one] == [p.name for p in other], name
        required = [[p.default is p.empty for p in parameters] for parameters in (one, other)]
        assert required[0] == required[1], name


#: Whose gradients are others, on purpose.
OTHER_GRADIENTS = {
    "BlockLSTMV2": "TensorFlow takes the gates in the order that BlockLSTM has them",
    "BesselI1": "TensorFlow has 1 for the derivative at 0, which is 1/2",
    "Cumprod": "see docs/differences.md",
    "RaggedTensorToTensor": "there is none by the default value",
    "RGBToHSV": "TensorFlow has 0 for the derivative by a channel that is 0",
}


def gradients(tf, call):
    """The gradients of what a call gives, of float32, by each tensor that it was made for."""
    made = []

    def constant(value):
        x = narrow(tf, value)
        if x.dtype == tf.float32:
            tape.watch(x)
            made.append(x)
        return x

    with tf.GradientTape() as tape:
        outputs = tf.nest.flatten(call(tf.raw_ops, constant))
    outputs = [y for y in outputs if tf.is_tensor(y) and y.dtype == tf.float32]
    weights = [np.cos(1.3 * np.arange(float(tf.size(y)))).reshape(y.shape) for y in outputs]
    weights = [tf.constant(w, tf.float32) for w in weights]
    found = tape.gradient(outputs, made, weights) if outputs and made else []
    return [None if x is None else tf.convert_to_tensor(x) for x in found]


def test_gradients():
    """They are TensorFlow's where it has some; ours may go where it has none."""
    case = Case("raw", print, rtol=1e-4, atol=1e-5)
    wrong = {}
    for name, call in CALLS.items():
        expected = attempt(gradients, tensorflow(), call)
        if isinstance(expected, Raised) or name in OTHER_GRADIENTS:
            continue
        for one, other in zip(expected, gradients(tape_compat, call), strict=True):
            if one is not None and (other is not None or np.any(one)):
                one, other = describe(tensorflow(), one), describe(tape_compat, other)
                wrong.setdefault(name, []).extend(differences(one, other, case))
    assert not {name: lines for name, lines in wrong.items() if lines}
