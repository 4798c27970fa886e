"""tf.debugging, tf.print and tf.config. Expected values are TensorFlow 2.21's."""

import collections
import contextlib
import io
import logging
import sys
import warnings

import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core import state
from tape_compat._src.library import config

d = tf.debugging
Error = tf.errors.InvalidArgumentError
NAN, INF = float("nan"), float("inf")

# Values.

HOLD = [
    (d.assert_equal, ([1, 2], [1, 2])),
    (d.assert_equal, ([[1.0, 1.0]], 1.0)),
    (d.assert_equal, (np.zeros(0), np.zeros(0))),
    (d.assert_equal, (["a"], ["a"])),
    (d.assert_none_equal, ([1, 2], [2, 1])),
    (d.assert_greater, ([1.0, 2.0], 0.0)),
    (d.assert_greater_equal, ([1, 2], [1, 1])),
    (d.assert_less, ([1, 2], 3)),
    (d.assert_less_equal, ([1, 2], 2)),
    (d.assert_positive, ([0.5, INF],)),
    (d.assert_positive, ([],)),
    (d.assert_negative, ([-1],)),
    (d.assert_non_negative, ([0, 1],)),
    (d.assert_non_positive, ([0, -1],)),
    (d.assert_near, ([1.0], [1.0 + 1e-7])),
    (d.assert_near, ([1.0], [1.5], 0.5)),
    (d.assert_near, ([1.0], [1.5], 0.0, 0.6)),
]
FAIL = [
    (d.assert_equal, ([1, 2], [1, 3]), "Condition x == y did not hold."),
    (d.assert_equal, (NAN, NAN), "Condition x == y did not hold."),
    (d.assert_equal, ("a", "b"), "Condition x == y did not hold."),
    (d.assert_none_equal, ([1, 2], [3, 2]), "Condition x != y did not hold."),
    (d.assert_greater, ([1.0, 2.0], 1.0), "Condition x > y did not hold."),
    (d.assert_greater_equal, (1, 2), "Condition x >= y did not hold."),
    (d.assert_less, ([1, 2], 2), "Condition x < y did not hold."),
    (d.assert_less_equal, (2, 1), "Condition x <= y did not hold."),
    (d.assert_positive, ([1, 0],), "\nCondition x > 0 did not hold element-wise:\n"),
    (d.assert_positive, (NAN,), "\nCondition x > 0 did not hold element-wise:\n"),
    (d.assert_negative, ([0],), "\nCondition x < 0 did not hold element-wise:\n"),
    (d.assert_non_negative, (-1.0,), "\nCondition x >= 0 did not hold element-wise:\n"),
    (d.assert_non_positive, ([1],), "\nCondition x <= 0 did not hold element-wise:"),
    (d.assert_near, (1.0, 2.0), "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true."),
    (d.assert_near, (NAN, NAN), "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true."),
]


def ids(value):
    return getattr(value, "__name__", None)


@pytest.mark.parametrize("check, values", HOLD, ids=ids)
def test_what_holds(check, values):
    assert check(*values) is None
    assert check(*[tf.Variable(v) for v in values[:2]], *values[2:]) is None


@pytest.mark.parametrize("check, values, words", FAIL, ids=ids)
def test_what_does_not_hold(check, values, words):
    with pytest.raises(Error) as caught:
        check(*values)
    assert str(caught.value).startswith(words)
    with pytest.raises(Error) as caught:
        check(*values, message="my words")
    assert str(caught.value).split("Summarized data: ")[-1].startswith(("my words", "b'my words"))


def test_the_text_of_assert_equal():
    with pytest.raises(Error) as caught:
        d.assert_equal(tf.range(10), tf.range(10) + 1, message="m", summarize=2)
    assert str(caught.value) == (
        "m\nCondition x == y did not hold.\nIndices of first 2 different values:\n[[0]\n [1]]\n"
        "Corresponding x values:\n[0 1]\nCorresponding y values:\n[1 2]\n"
        "First 2 elements of x:\n[0 1]\nFirst 2 elements of y:\n[1 2]"
    )
    with pytest.raises(Error) as caught:
        d.assert_equal([1.0, 2.0], 1.0)
    assert str(caught.value) == (
        "Condition x == y did not hold.\nFirst 2 elements of x:\n[1. 2.]\n"
        "First 1 elements of y:\n[1.]"
    )
    with pytest.raises(Error, match="First 10 elements of x"):
        d.assert_equal(tf.range(10), 1, summarize=-1)


def test_the_text_of_assert_positive():
    with pytest.raises(Error) as caught:
        d.assert_positive(tf.range(-5, 5), message="m")
    assert str(caught.value) == (
        "m.  \nCondition x > 0 did not hold element-wise:\n"
        "x (shape=(10,) dtype=int32) = \n['-5', '-4', '-3', '...']"
    )


def test_dtypes_and_shapes_must_fit():
    with pytest.raises(Error, match="cannot compute Equal as input #1"):
        d.assert_equal(tf.constant(1.0), tf.constant(1))
    with pytest.raises(Error, match="Incompatible shapes"):
        d.assert_equal([1, 2, 3], [1, 2])
    with pytest.raises(TypeError):
        d.assert_positive([True])
    with pytest.raises(ValueError, match=r"data type <class 'numpy\.int32'> not inexact"):
        d.assert_near(tf.constant(1), tf.constant(1))


def test_default_tolerance_follows_the_dtype():
    d.assert_near(tf.constant(1.0, tf.float16), tf.constant(1.005, tf.float16))
    d.assert_near(tf.constant(1.0, tf.bfloat16), tf.constant(1.03, tf.bfloat16))
    with pytest.raises(Error, match=r"rtol = tf.Tensor\(2.220446049250313e-15"):
        d.assert_near(tf.constant(1.0, tf.float64), tf.constant(1.0 + 1e-12, tf.float64))
    with pytest.raises(Error, match="x and y not equal to tolerance"):
        d.assert_near(tf.constant(1 + 1j), tf.constant(1 + 2j))


def test_assert():
    for condition in (True, 1, tf.constant(True), tf.constant(2), np.bool_(True)):
        assert d.Assert(condition, ["unused"]) is None
    with pytest.raises(Error) as caught:
        d.Assert(tf.constant(False), [tf.range(10), "text", [1.5]])
    assert str(caught.value) == (
        "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: "
        "0, 1, 2, ...\nb'text'\n1.5"
    )
    with pytest.raises(Error, match=r"0, 1, 2, 3, 4, \.\.\.$"):
        d.Assert(False, [tf.range(10)], summarize=5)
    with pytest.raises(TypeError, match=r"values must be a sequence\."):
        d.Assert(False, tf.range(3))
    with pytest.raises(ValueError, match="truth value of an array"):
        d.Assert(tf.constant([True, True]), [1])


def test_a_check_under_a_tape_raises_at_the_call_and_leaves_the_tape_usable():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
        with pytest.raises(Error):
            d.assert_less(y, 2.0)
        d.assert_positive(y)
        z = y * x
    assert tape.gradient(z, x).numpy().tolist() == [3.0, 12.0]


def test_a_check_in_a_function_says_where_it_stands():
    def check(x):
        d.assert_positive(x)
        return d.check_numerics(tf.math.log(x - 1.0), "log")

    file, line = __file__.rsplit("/")[-1], check.__code__.co_firstlineno
    f = tf.function(check)
    for value, offset in ((-1.0, 1), (0.5, 2)):
        with pytest.raises(Error) as caught:
            f(tf.constant(value))
        assert str(caught.value).endswith(f"\n(checked at {file}:{line + offset})")
    assert f(tf.constant(2.0)).numpy() == 0


# Finite values.


@pytest.mark.parametrize(
    "values, found",
    [
        ([1.0, NAN], "NaN"),
        ([1.0, INF], "Inf"),
        ([-INF, INF], "Inf"),
        ([NAN, -INF], "Inf and NaN"),
    ],
)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_values_that_are_not_finite(values, found, dtype):
    for check in (d.check_numerics, d.assert_all_finite):
        with pytest.raises(Error, match=f"^my words : Tensor had {found} values"):
            check(tf.constant(values, dtype), "my words")


def test_check_numerics_gives_its_tensor():
    for value in ([1.0, 2.0], tf.constant([1.0, 2.0]), tf.Variable([1.0, 2.0])):
        for check in (d.check_numerics, d.assert_all_finite):
            result = check(value, "m")
            assert isinstance(result, tf.Tensor)
            assert result.numpy().tolist() == [1.0, 2.0]


@pytest.mark.parametrize("value", [1, True, 1j])
def test_check_numerics_wants_floats(value):
    with pytest.raises(Error, match="is not in the list of allowed values"):
        d.check_numerics(tf.constant(value), "m")


def test_check_numerics_passes_tapes():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = d.check_numerics(x * x, "m")
        bad = d.check_numerics(x, "words of mine") * NAN
    assert tape.gradient(y, x).numpy().tolist() == [2.0, 4.0]
    assert tape.jacobian(y, x).numpy().tolist() == [[2.0, 0.0], [0.0, 4.0]]
    with pytest.raises(Error, match=r"^Not a number .* detected in gradient. words of mine"):
        tape.gradient(bad, x)


def test_check_numerics_of_second_order():
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = d.check_numerics(x**3, "m")
        g = inner.gradient(y, x)
    assert outer.gradient(g, x).numpy() == 18.0


# Shapes and dtypes.


def test_ranks():
    x = tf.ones(3)
    d.assert_rank(x, 1)
    d.assert_rank(x, tf.constant(1))
    d.assert_rank(3.0, 0)
    d.assert_rank_at_least(x, 0)
    d.assert_rank_in(x, (0, 1))
    d.assert_scalar(2)
    for check, rank, words in (
        (d.assert_rank, 2, "rank 2"),
        (d.assert_rank_at_least, 2, "rank at least 2"),
        (d.assert_rank_in, [0, 2], r"rank in \(0, 2\)"),
    ):
        text = rf"Tensor  must have {words}.  Received rank 1, shape \(3,\)$"
        with pytest.raises(ValueError, match=f"^{text}"):
            check(x, rank)
        with pytest.raises(ValueError, match=rf"^m\.  {text}"):
            check(x, rank, message="m")
    with pytest.raises(ValueError, match=r"Rank must be a scalar\."):
        d.assert_rank(x, [1])
    with pytest.raises(TypeError, match=r"tensor must be of type tf.int32; got tf.float32"):
        d.assert_rank(x, 1.5)
    with pytest.raises(ValueError, match=r"^m\.  Expected scalar shape, saw shape: \(3,\)\."):
        d.assert_scalar(x, message="m")


M, V, T = np.ones((2, 3)), np.ones(3), np.ones((2, 3, 4))


@pytest.mark.parametrize(
    "shapes",
    [
        [(V, ("N",)), (M, ("M", "N"))],
        [(M, "MN"), (V, "N")],
        [(V, (3,)), (M, (None, 3))],
        [(M, (".", "N")), (V, ("N",))],
        [(M, (..., "N")), (V, ("N",)), (T, ("*", 4))],
        [(1.0, ()), (1.0, (1,)), (np.ones(1), ()), (1.0, ("N",))],
        [(M, None), (M, tf.TensorShape([2, None]))],
        [(["a", "b"], (2,))],
        [],
    ],
    ids=repr,
)
def test_shapes_that_fit(shapes):
    assert d.assert_shapes(shapes) is None


X32, M32 = "shape=(3,) dtype=float64", "shape=(2, 3) dtype=float64"


@pytest.mark.parametrize(
    "shapes, text",
    [
        (
            [(V, ("N",)), (M, ("N", "N"))],
            f"Specified by tensor {X32} dimension 0.  Tensor {M32} dimension 0 must have size 3.  "
            "Received size 2, shape (2, 3)",
        ),
        (
            [(V, (4,))],
            f"Specified explicitly.  Tensor {X32} dimension 0 must have size 4.  "
            "Received size 3, shape (3,)",
        ),
        ([(V, (3, 1))], "Tensor  must have rank 2.  Received rank 1, shape (3,)"),
        ([(M, ())], "Tensor  must have rank in (0, 1).  Received rank 2, shape (2, 3)"),
        (
            [(V, (..., "A", "B"))],
            "Tensor  must have rank at least 2.  Received rank 1, shape (3,)",
        ),
        (
            [(M, (..., 4))],
            f"Specified explicitly.  Tensor {M32} dimension -1 must have size 4.  "
            "Received size 3, shape (2, 3)",
        ),
        ([(M, ("A", "B", 5)), (V, ("A", "B"))], "Tensor  must have rank 3.  Received rank 2, "),
        ([(V, ("A", "B")), (V, 5)], f"Tensor {X32}.  Specified shape must be an iterable."),
        (
            [(M, ("N", ...))],
            f"Tensor {M32} specified shape index 1.  Symbol `...` or `*` for a variable number",
        ),
    ],
    ids=repr,
)
def test_shapes_that_do_not_fit(shapes, text):
    with pytest.raises(ValueError) as caught:
        d.assert_shapes(shapes, message="mm")
    assert str(caught.value).removeprefix("mm.  ").startswith(text)


def test_assert_shapes_shows_data():
    with pytest.raises(ValueError, match=r"Summarized data: \n0, 1, \.\.\.$"):
        d.assert_shapes([(V, (4,))], data=[tf.range(5)], summarize=2)


def test_shape_of_indexed_slices():
    slices = tf.IndexedSlices(tf.ones((1, 2)), tf.constant([0]), tf.constant([10, 2]))
    d.assert_shapes([(slices, (10, 2))])
    with pytest.raises(ValueError, match=r"must have size 1.  Received size 10"):
        d.assert_shapes([(slices, (1, 2))])


def test_types():
    d.assert_type(1.0, "float32")
    d.assert_integer(tf.constant(1, tf.uint8))
    with pytest.raises(TypeError, match=r"^m\.  tensor must be of type tf.int32; got tf.float32"):
        d.assert_type(tf.Variable(1.0), tf.int32, message="m")
    for value in (1.0, True):
        with pytest.raises(TypeError, match=r'^Expected "x" to be integer type.  Found: tensor of'):
            d.assert_integer(value)
    tensors = [tf.constant(x) for x in (1.5, 1, 1j, True, "a")]
    assert [d.is_numeric_tensor(t) for t in tensors] == [True, True, True, False, False]
    assert not any(map(d.is_numeric_tensor, (1, np.ones(1), None, tf.Variable(1.0))))


def test_same_float_dtype():
    x, i, y = tf.constant(1.0), tf.constant(1), tf.constant(1.0, tf.float64)
    assert d.assert_same_float_dtype() is tf.float32
    assert d.assert_same_float_dtype([x, None, tf.Variable(1.0)]) is tf.float32
    assert d.assert_same_float_dtype([y], tf.float64) is tf.float64
    assert d.assert_same_float_dtype(None, "float16") is tf.float16
    for arguments in (([x, i],), ([x, y],), ([x], tf.float64)):
        with pytest.raises(ValueError, match=r"must be of the same type \(<dtype: 'float"):
            d.assert_same_float_dtype(*arguments)
    for arguments in (([i],), (None, tf.int32), ([tf.constant(1j)],)):
        with pytest.raises(ValueError, match="Expected floating point type, got <dtype: "):
            d.assert_same_float_dtype(*arguments)


def test_proper_iterables():
    for values in ([1], (1,), {1: 2}, iter([1])):
        d.assert_proper_iterable(values)
    for values in ("a", b"a", tf.constant([1]), np.ones(2)):
        with pytest.raises(TypeError, match=r'^Expected argument "values" to be a "proper" iter'):
            d.assert_proper_iterable(values)
    with pytest.raises(TypeError, match=r'^Expected argument "values" to be iterable.  Found: '):
        d.assert_proper_iterable(1)


# tf.print.

Pair = collections.namedtuple("Pair", "a b")
X = [[1, 2], [3, 4]]


def printed(*values, **options):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert tf.print(*values, output_stream=sys.stdout, **options) is None
    return out.getvalue()


def cube(*shape):
    return tf.constant(np.arange(np.prod(shape), dtype=np.int32).reshape(shape))


@pytest.mark.parametrize(
    "values, dtype, text",
    [
        (X, None, "[[1 2]\n [3 4]]"),
        (1.0, None, "1"),
        (list(range(6)), None, "[0 1 2 3 4 5]"),
        (list(range(7)), None, "[0 1 2 ... 4 5 6]"),
        ([], None, "[]"),
        (np.zeros((0, 3)), None, "[]"),
        (np.zeros((3, 0)), None, "[\n ...]"),
        ([0.1, 1 / 3, 1e10, 1e-10], None, "[0.1 0.333333343 1e+10 1e-10]"),
        ([123456789.0, 1e6, 1234567.0, 100000.5], None, "[123456792 1e+06 1234567 100000.5]"),
        ([0.1, 1 / 3, 1e16, 1e15], "float64", "[0.1 0.33333333333333331 1e+16 1e+15]"),
        ([12345678901234567.0, 123456.789], "float64", "[12345678901234568 123456.789]"),
        ([0.1, 65504.0, 1e-5], "float16", "[0.0999755859 65504 1.00135803e-05]"),
        ([0.1, 1e10], "bfloat16", "[0.100097656 9.99922074e+09]"),
        ([1.0, NAN, INF, -INF, -0.0], None, "[1 nan inf -inf -0]"),
        ([True, False], None, "[1 0]"),
        ([-5, 127], "int8", "[-5 127]"),
        ([65, 200], "uint8", "[65 200]"),
        (2**64 - 1, "uint64", "18446744073709551615"),
        ("hello", None, "hello"),
        (["a", "b'c", 'd"e', "\t\x01\\é"], None, '["a" "b\\\'c" "d\\"e" "\\t\\001\\\\é"]'),
        ([1 + 2j, -1.5 - 0.25j], None, "[1+2j -1.5-0.25j]"),  # TensorFlow prints [? ?]
    ],
    ids=repr,
)
def test_print_a_tensor(values, dtype, text):
    tensor = tf.constant(values, dtype)
    assert printed(tensor) == text + "\n"
    if tensor.dtype is not tf.string:
        assert printed(tf.Variable(tensor)) == text + "\n"


@pytest.mark.parametrize(
    "shape, summarize, text",
    [
        ((2, 3, 2), 3, "[[[0 1]\n  [2 3]\n  [4 5]]\n\n [[6 7]\n  [8 9]\n  [10 11]]]"),
        ((3, 3, 3), 1, "[[[0 ... 2]\n  ...\n  [6 ... 8]]\n\n ...\n\n [[18 ... 20]\n  ...\n  "
         "[24 ... 26]]]"),
        ((5, 12), 2, "[[0 1 ... 10 11]\n [12 13 ... 22 23]\n ...\n [36 37 ... 46 47]\n "
         "[48 49 ... 58 59]]"),
        ((1, 1, 1, 2), 3, "[[[[0 1]]]]"),
        ((2, 1, 2, 1), 3, "[[[[0]\n   [1]]]\n\n\n [[[2]\n   [3]]]]"),
        ((10,), -1, "[0 1 2 3 4 5 6 7 8 9]"),
        ((10,), 5, "[0 1 2 3 4 5 6 7 8 9]"),
        ((10,), 1, "[0 ... 9]"),
        ((10,), 0, "[ ...]"),
        ((10,), None, "[0 1 2 ... 7 8 9]"),
    ],
    ids=repr,
)  # fmt: skip
def test_print_summarizes(shape, summarize, text):
    assert printed(cube(*shape), summarize=summarize) == text + "\n"


@pytest.mark.parametrize(
    "value, text",
    [
        (1.0, "1.0"),
        ("it's", "it's"),
        (None, "None"),
        ([1, 2.5, "a", None, True], "[1, 2.5, 'a', None, True]"),
        (b"abc", "b'abc'"),
        ((1,), "(1,)"),
        ({}, "{}"),
        (range(3), "[0, 1, 2]"),
        ({1}, "{1}"),
        (tf.float32, "tf.float32"),
        (tf.TensorShape([1, None]), "TensorShape([1, None])"),
        (np.array([1.0, 2.0]), "array([1., 2.])"),
        (1 + 2j, "(1+2j)"),
        (["a" * 50, "b" * 50], f"['{'a' * 50}',\n '{'b' * 50}']"),
    ],
    ids=repr,
)
def test_print_other_values(value, text):
    assert printed(value) == text + "\n"


def test_print_structures():
    x, one = tf.constant(X), tf.constant(1.0)
    assert printed([x, "a"]) == "[[[1 2]\n [3 4]], 'a']\n"
    assert printed({"b": 1, "a": x}) == "{'a': [[1 2]\n [3 4]], 'b': 1}\n"
    assert printed(Pair(1, (one,))) == "Pair(a=1, b=(1,))\n"
    assert printed([tf.Variable(one), [one]]) == "[1, [1]]\n"
    assert printed([tf.constant("s"), "s"]) == "[\"s\", 's']\n"
    assert printed(collections.OrderedDict(b=one, a=2)) == f"{collections.OrderedDict(b=1, a=2)}\n"
    assert printed(["{}", "\ue000\ue000", one]) == "['{}', '\\ue000\\ue000', 1]\n"
    assert printed([tf.range(100)] * 5) == f"[{', '.join(['[0 1 2 ... 97 98 99]'] * 5)}]\n"
    slices = tf.IndexedSlices(tf.ones((1, 2)), tf.constant([0]), tf.constant([2, 2]))
    assert printed(slices) == "[[1 1]\n [0 0]]\n"


def test_print_order_of_an_ordered_dict_of_tensors():
    pairs = collections.OrderedDict(b=tf.constant(1), a=tf.constant(2))
    assert printed(pairs) == f"{collections.OrderedDict(b=1, a=2)}\n"


def test_print_sep_and_end():
    assert printed() == "\n"
    assert printed("a", tf.constant(1), sep="|", end="!") == "a|1!"
    assert printed("a", "b", sep="") == "ab\n"
    assert printed("a", end=None) == "a\n"
    with pytest.raises(ValueError, match=r"Unrecognized keyword arguments for tf.print: {'foo': 1"):
        tf.print("a", foo=1)
    with pytest.raises(TypeError, match="Expected int for argument 'summarize' not 'a'"):
        tf.print("a", summarize="a")


def test_print_streams(capsys, tmp_path, caplog):
    tf.print("err")
    tf.print("err", output_stream=sys.stderr)
    tf.print("out", output_stream=sys.stdout)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("out\n", "err\nerr\n")
    path = tmp_path / "file.txt"
    for line in "ab":
        tf.print(line, output_stream=f"file://{path}")
    assert path.read_text() == "a\nb\n"
    with pytest.raises(tf.errors.NotFoundError, match="No such file or directory"):
        tf.print("a", output_stream=f"file://{tmp_path}/none/file.txt")
    with caplog.at_level(logging.INFO, logger="tape_compat"):
        tf.print("logged", tf.constant(1), output_stream=logging.INFO)
    assert caplog.messages == ["logged 1"]
    for stream in ("foo", 5, None, io.StringIO(), "stdout", logging.DEBUG, True):
        with pytest.raises(ValueError, match="Unsupported output stream, logging level, or file"):
            tf.print("a", output_stream=stream)


def test_print_of_a_record_goes_to_the_stream_of_the_call():
    """Notebooks and pytest put another stream in the place of `sys.stderr`, and close it."""

    @tf.function
    def function(x):
        tf.print("x:", x)

    for number in (1, 2):
        with io.StringIO() as stream, contextlib.redirect_stderr(stream):
            function(tf.constant(number))
            assert stream.getvalue() == f"x: {number}\n"


def test_print_under_a_tape():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        assert printed("y:", y) == "y: 9\n"
        z = y * x
    assert tape.gradient(z, x).numpy() == 27.0


# tf.config.


def test_devices():
    cpu = tf.config.list_physical_devices("CPU")[0]
    assert cpu == tf.config.PhysicalDevice("/physical_device:CPU:0", "CPU")
    assert repr(cpu) == "PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')"
    assert tf.config.list_physical_devices("cpu") == []
    every = tf.config.list_physical_devices()
    assert every[0] == cpu and len(set(every)) == len(every)
    assert tf.config.get_visible_devices() == every
    logical = tf.config.list_logical_devices()
    assert logical[0] == tf.config.LogicalDevice("/device:CPU:0", "CPU")
    assert len(logical) == len(every)


def test_visible_devices_cannot_change():
    every = tf.config.list_physical_devices()
    cpus = tf.config.list_physical_devices("CPU")
    assert tf.config.set_visible_devices(every) is None
    assert tf.config.set_visible_devices(cpus, "CPU") is None
    assert tf.config.set_visible_devices([], "TPU v0") is None
    with pytest.raises(RuntimeError, match=r"cannot be modified after.*JAX_PLATFORMS"):
        tf.config.set_visible_devices([])
    with pytest.raises(ValueError, match="Unrecognized device: 'foo'"):
        tf.config.set_visible_devices("foo")
    with pytest.raises(ValueError, match="is no GPU"):
        tf.config.set_visible_devices(cpus, "GPU")


class FakeGpu:
    platform, device_kind = "gpu", "Fake"

    def memory_stats(self):
        return {"bytes_in_use": 5, "peak_bytes_in_use": 7}


@pytest.fixture
def gpu(monkeypatch):
    """A GPU in place of this machine's devices."""
    monkeypatch.setattr(config.jax, "local_devices", lambda backend=None: [FakeGpu()])
    (device,) = tf.config.list_physical_devices("GPU")[:1]
    return device


def test_memory_of_a_cpu():
    cpu = tf.config.list_physical_devices("CPU")[0]
    experimental = tf.config.experimental
    with pytest.raises(ValueError, match="Cannot set memory growth on non-GPU"):
        experimental.set_memory_growth(cpu, True)
    with pytest.raises(ValueError, match="non-GPU"):
        experimental.get_memory_growth(cpu)
    with pytest.raises(ValueError, match="Unrecognized device: 'foo'"):
        experimental.set_memory_growth("foo", True)
    assert experimental.get_memory_info("CPU:0") == {"current": 0, "peak": 0}
    with pytest.raises(ValueError, match="No matching devices found for 'TPU:77'"):
        experimental.get_memory_info("TPU:77")
    with pytest.raises(ValueError, match="Failed parsing device name: 'foo'"):
        experimental.get_memory_info("foo")
    assert experimental.get_device_details(cpu) == {}


def test_memory_of_a_gpu(gpu, monkeypatch):
    experimental = tf.config.experimental
    monkeypatch.delenv("XLA_PYTHON_CLIENT_PREALLOCATE", raising=False)
    monkeypatch.delenv("XLA_PYTHON_CLIENT_ALLOCATOR", raising=False)
    assert experimental.get_memory_growth(gpu) is False
    with pytest.warns(UserWarning, match="has no effect: set .*PREALLOCATE=false"):
        experimental.set_memory_growth(gpu, True)
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    assert experimental.get_memory_growth(gpu) is True
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        experimental.set_memory_growth(gpu, True)
    for name in ("GPU:0", "/device:GPU:0", "/job:localhost/replica:0/task:0/device:GPU:0"):
        assert experimental.get_memory_info(name) == {"current": 5, "peak": 7}
    assert experimental.get_device_details(gpu) == {"device_name": "Fake"}


def test_determinism(gpu, monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "")
    with pytest.raises(RuntimeError, match="xla_gpu_deterministic_ops"):
        tf.config.experimental.enable_op_determinism()
    monkeypatch.setenv("XLA_FLAGS", "--a=b --xla_gpu_deterministic_ops=true")
    assert tf.config.experimental.enable_op_determinism() is None
    assert config.is_op_determinism_enabled()
    config.disable_op_determinism()
    assert not config.is_op_determinism_enabled()


def test_threads(monkeypatch):
    monkeypatch.setattr(config, "_ASKED", {"inter": 0, "intra": 0})
    threading = tf.config.threading
    threading.set_inter_op_parallelism_threads(0)
    with pytest.warns(UserWarning, match=r"set_inter_op_parallelism_threads\(2\) has no effect"):
        threading.set_inter_op_parallelism_threads(2)
    with pytest.warns(UserWarning, match="`taskset`") as found:
        threading.set_intra_op_parallelism_threads(3)
    assert found[0].filename == __file__
    assert threading.get_inter_op_parallelism_threads() == 2
    assert threading.get_intra_op_parallelism_threads() == 3


def test_short_floats_by_options_of_the_optimizer_are_refused(monkeypatch):
    monkeypatch.setattr(config, "_OPTIONS", {})
    optimizer = tf.config.optimizer
    for name in ("auto_mixed_precision", "auto_mixed_precision_onednn_bfloat16"):
        with pytest.raises(NotImplementedError, match=name):
            optimizer.set_experimental_options({"remapping": True, name: True})
    assert "remapping" not in optimizer.get_experimental_options()


def test_immediate_mode(deferred):
    assert tf.config.functions_run_eagerly() is False
    tf.config.run_functions_eagerly(1)
    assert tf.config.functions_run_eagerly() is state.immediate() is True
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        assert tf.counters.snapshot()["pending"] == 0
    assert tape.gradient(y, x).numpy() == 6.0
    tf.config.run_functions_eagerly(False)
    assert tf.config.functions_run_eagerly() is False


@pytest.fixture
def check_numerics():
    d.enable_check_numerics()
    yield
    d.disable_check_numerics()


def test_the_op_that_gives_nan_first_is_named(check_numerics):
    with pytest.raises(Error) as caught:
        tf.math.log(tf.constant([1.0, 0.0, -1.0]))
    lines = str(caught.value).split("\n")
    assert lines[2] == (
        '!!! Detected Infinity or NaN in output 0 of eagerly-executing op "Log" '
        "(# of outputs: 1) !!!"
    )
    assert lines[3:7] == [
        "  dtype: <dtype: 'float32'>",
        "  shape: (3,)",
        "  # of -Inf elements: 1",
        "  # of +NaN elements: 1",
    ]
    assert lines[8] == "  Input tensor: tf.Tensor([ 1.  0. -1.], shape=(3,), dtype=float32)"
    assert "Tensor had -Inf and NaN values [Op:Log] (at test_debugging.py:" in lines[10]


def test_gradients_and_functions_are_checked(check_numerics):
    x = tf.Variable(0.0)
    with tf.GradientTape() as tape:
        y = tf.sqrt(x)
    with pytest.raises(Error, match=r'"SqrtGrad".*\(# of outputs: 1\)'):
        tape.gradient(y, x)

    @tf.function
    def f(x):
        return tf.reduce_sum(tf.stack([tf.math.log(x), x]))

    with pytest.raises(Error, match='op "Log"'):
        f(tf.constant([0.0, 1.0]))
    assert np.isfinite(f(tf.constant([1.0, 2.0])).numpy())


def test_what_only_moves_is_not_checked(check_numerics):
    bad = tf.constant([NAN, 1.0])
    assert np.isnan(tf.reshape(bad, [1, 2]).numpy()).any()
    assert tf.constant([1, 2]).numpy().tolist() == [1, 2]
    with pytest.raises(Error, match=r"Input tensors \(2\)"):
        bad + 1.0


def test_checks_are_taken_back():
    before = state.MODE.immediate, state.MODE.python
    d.enable_check_numerics()
    d.enable_check_numerics()
    d.disable_check_numerics()
    d.disable_check_numerics()
    assert (state.MODE.immediate, state.MODE.python) == before
    assert np.isnan(tf.math.log(tf.constant(-1.0)).numpy())


def test_settings_of_devices(caplog):
    precise = tf.config.experimental
    assert precise.tensor_float_32_execution_enabled()
    try:
        precise.enable_tensor_float_32_execution(False)
        assert not precise.tensor_float_32_execution_enabled()
        np.testing.assert_array_equal(tf.ones([2, 2]) @ tf.ones([2, 2]), np.full((2, 2), 2.0))
    finally:
        precise.enable_tensor_float_32_execution(True)
    with caplog.at_level(logging.WARNING, "tape_compat"):
        d.set_log_device_placement(True)
    assert "Ops run on" in caplog.text and d.get_log_device_placement()
    d.set_log_device_placement(False)
    assert precise.get_memory_usage("CPU:0") == 0
    assert precise.reset_memory_stats("CPU:0") is None
