"""Convolutions by kernels in C: values, derivatives, threads, and where they must not be called."""

import functools
import pathlib
import shutil
import subprocess
from functools import partial

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core.kernels import tracing, width_of
from tape_compat._src.core.native import KERNELS
from tape_compat._src.core.x64 import in_x64
from tape_compat._src.ops import convolution_kernels as kernels, depthwise
from tape_compat._src.ops.convolutions import convolve, convolve_back, xla_convolution
from tape_compat._src.ops.kernel_gradient import kernel_gradient
from tests.processes import run
from tests.threads import in_threads

TARGET = "tape_compat_convolution"

pytestmark = pytest.mark.skipif(
    KERNELS is None or not kernels.available(), reason="not built, or for another processor"
)

#: n, height, width, channels; kernel; strides; dilations; padding.
CASES = {
    "same": ((3, 9, 8, 3), (3, 3, 3, 16), (1, 1), (1, 1), "SAME"),
    "valid": ((2, 9, 8, 17), (2, 3, 17, 31), (1, 1), (1, 1), "VALID"),
    "strides": ((5, 11, 8, 2), (3, 5, 2, 65), (3, 2), (1, 1), "SAME"),
    "dilated": ((4, 11, 12, 1), (3, 2, 1, 48), (1, 1), (2, 3), "SAME"),
    "explicit": ((4, 6, 5, 2), (3, 3, 2, 8), (2, 1), (1, 1), ((2, 0), (1, 2))),
    "more than the window": ((4, 6, 5, 2), (3, 3, 2, 8), (1, 1), (1, 1), ((2, 0), (3, 4))),
    "many features": ((1, 7, 7, 3), (3, 3, 3, 130), (1, 1), (1, 1), "SAME"),
    "deep": ((2, 5, 5, 65), (3, 3, 65, 24), (1, 1), (1, 1), "SAME"),
    "many small images": ((70, 3, 2, 4), (2, 2, 4, 9), (1, 1), (1, 1), "SAME"),
    "large image": ((1, 40, 70, 9), (3, 3, 9, 8), (1, 1), (1, 1), "SAME"),
    "one place": ((1, 3, 3, 4), (3, 3, 4, 8), (1, 1), (1, 1), "VALID"),
    "no images": ((0, 6, 5, 2), (3, 3, 2, 8), (1, 1), (1, 1), "SAME"),
    "strides beyond the window": ((2, 9, 11, 9), (2, 2, 9, 8), (3, 4), (1, 1), "SAME"),
    "strides and dilations": ((2, 12, 13, 17), (3, 2, 17, 8), (2, 3), (3, 2), ((1, 2), (0, 1))),
    "strides, deep": ((9, 8, 8, 40), (3, 3, 40, 24), (2, 2), (1, 1), "SAME"),
    "3d": ((2, 5, 6, 7, 3), (3, 2, 3, 3, 10), (1, 1, 1), (1, 1, 1), "SAME"),
    "3d strides": ((3, 5, 6, 9, 9), (3, 3, 2, 9, 8), (2, 2, 3), (1, 1, 1), "SAME"),
    "3d dilated": ((1, 7, 6, 9, 4), (3, 2, 3, 4, 33), (1, 1, 1), (2, 1, 3), "VALID"),
    "3d large": (
        (1, 6, 50, 60, 5),
        (3, 3, 3, 5, 9),
        (1, 1, 1),
        (1, 1, 1),
        ((0, 2), (1, 1), (2, 0)),
    ),
    "groups, 3d": ((2, 5, 6, 7, 6), (3, 2, 3, 2, 12), (2, 1, 2), (1, 1, 1), "SAME"),
    "1d": ((5, 13, 3), (4, 3, 10), (2,), (1,), "SAME"),
    "1d dilated": ((2, 13, 3), (3, 3, 10), (1,), (3,), ((4, 0),)),
    "groups": ((3, 9, 8, 12), (3, 3, 4, 18), (1, 1), (1, 1), "SAME"),
    "groups, strides": ((3, 9, 8, 40), (3, 2, 20, 34), (2, 2), (1, 1), "SAME"),
    "groups, many": ((5, 6, 5, 32), (3, 3, 2, 64), (1, 1), (1, 1), "SAME"),
    "groups, large": ((2, 9, 8, 160), (3, 3, 80, 140), (1, 1), (1, 1), "SAME"),
    "groups, one pixel": ((2, 5, 6, 16), (1, 1, 4, 8), (1, 1), (1, 1), "VALID"),
    "groups, few": ((2, 5, 6, 4), (3, 3, 2, 4), (2, 1), (1, 1), "SAME"),
    # All groups together fill one vector, of 16 or of 8 numbers.
    "groups in a vector": ((2, 8, 7, 16), (3, 3, 8, 16), (2, 2), (1, 1), "SAME"),
    "groups in a short vector": ((2, 8, 7, 4), (3, 3, 2, 8), (1, 1), (1, 1), "SAME"),
    "groups in two vectors": ((2, 8, 7, 8), (3, 3, 2, 32), (1, 1), (1, 1), "SAME"),
    "groups of one": ((2, 5, 6, 24), (3, 3, 1, 48), (2, 2), (1, 1), "SAME"),
    "groups, 1d": ((5, 13, 12), (4, 3, 20), (2,), (1,), "SAME"),
    "groups of one, 1d": ((5, 13, 18), (4, 1, 18), (2,), (1,), "SAME"),
    "depthwise": ((3, 9, 8, 37), (3, 3, 37, 1), (1, 1), (1, 1), "SAME"),
    "depthwise, strides": ((5, 11, 8, 16), (3, 5, 16, 1), (2, 2), (1, 1), "SAME"),
    "depthwise, dilated": ((2, 11, 12, 33), (3, 2, 33, 1), (1, 1), (2, 3), "VALID"),
    "depthwise, explicit": ((2, 6, 5, 48), (3, 3, 48, 1), (2, 2), (1, 1), ((2, 0), (1, 2))),
    "depthwise, more of each": ((3, 7, 6, 9), (3, 3, 9, 4), (2, 2), (1, 1), "SAME"),
    "depthwise, few": ((3, 7, 6, 3), (3, 3, 3, 2), (2, 2), (1, 1), "SAME"),
    "depthwise, small images": ((70, 3, 2, 20), (2, 2, 20, 1), (1, 1), (1, 1), "SAME"),
    "depthwise, large image": ((1, 40, 70, 24), (7, 7, 24, 1), (1, 1), (1, 1), "SAME"),
    "depthwise, one pixel": ((2, 5, 4, 32), (1, 1, 32, 1), (2, 2), (1, 1), "VALID"),
    "depthwise, no images": ((0, 6, 5, 32), (3, 3, 32, 1), (1, 1), (1, 1), "SAME"),
}


#: Those that are tried in float64 too.
WIDE = [
    *("same", "strides", "explicit", "many features", "deep", "large image", "1d dilated"),
    *("strides and dilations", "3d strides", "groups, strides", "groups in a short vector"),
    *("depthwise", "depthwise, more of each", "depthwise, few", "depthwise, small images"),
]


class Case:
    """The arrays of one case, and what is computed of them."""

    def __init__(self, name, dtype="float32"):
        shape, self.window, *others = CASES[name]
        self.grouped = name.startswith("groups")
        self.depthwise = name.startswith("depthwise")
        self.attributes = dict(zip(("strides", "dilations", "padding"), others), last=True)
        rng = np.random.default_rng(0)
        self.dtype = np.dtype(dtype)
        self.x, self.kernel = (rng.normal(size=s).astype(dtype) for s in (shape, self.window))
        out = jax.eval_shape(self.convolve, self.x, self.kernel)
        self.dy = rng.normal(size=out.shape).astype(dtype)

    def convolve(self, x, kernel):
        function = depthwise._convolve if self.depthwise else convolve
        return function(x, kernel, **self.attributes)

    def back(self, dy, kernel):
        if self.depthwise:
            return depthwise._to_input(kernel, dy, self.x.shape, **self.attributes)
        return convolve_back(dy, kernel, self.x.shape, **self.attributes)

    def derivative(self, x, dy):
        if self.depthwise:
            return depthwise._to_filter(x, dy, self.window, **self.attributes)

        def by_xla(x, kernel):
            return xla_convolution(x, kernel, **self.attributes)

        return kernel_gradient(by_xla, x, dy, self.window, **self.attributes)

    @functools.cached_property
    def calls(self):
        """Each of its functions, and the arrays that it takes."""
        return (
            (self.convolve, (self.x, self.kernel)),
            (self.back, (self.dy, self.kernel)),
            (self.derivative, (self.x, self.dy)),
        )

    @functools.cached_property
    def lowered(self):
        """Each function as this library lowers its programs."""
        return [in_x64(own(function).lower, *arrays) for function, arrays in self.calls]

    @functools.cached_property
    def programs(self):
        """Each function compiled, and the arrays that it takes."""
        compiled = [in_x64(low.compile) for low in self.lowered]
        return [(partial(in_x64, run), a) for run, (_, a) in zip(compiled, self.calls)]

    def reference(self):
        """By sums of products of float64, one element of the window at a time."""
        x, kernel, dy = (a.astype("float64") for a in (self.x, self.kernel, self.dy))
        strides, dilations, padding, _ = self.attributes.values()
        pads = kernels.padding_pairs(x.shape[1:-1], kernel.shape[:-2], strides, padding, dilations)
        padded = np.pad(x, ((0, 0), *pads, (0, 0)))
        y, dx, dk = np.zeros(dy.shape), np.zeros(padded.shape), np.zeros(kernel.shape)
        for offset in np.ndindex(*kernel.shape[:-2]):
            under = (
                slice(None),
                *[
                    slice(i * d, i * d + (n - 1) * s + 1, s)
                    for i, d, n, s in zip(offset, dilations, dy.shape[1:-1], strides)
                ],
            )
            if self.grouped:
                groups = x.shape[-1] // kernel.shape[-2]
                inside = padded[under].reshape(*dy.shape[:-1], groups, -1)
                outside, part = dy.reshape(*dy.shape[:-1], groups, -1), kernel[offset]
                part = part.reshape(-1, groups, dy.shape[-1] // groups)
                y += np.einsum("...gc,cgf->...gf", inside, part).reshape(dy.shape)
                dx[under] += np.einsum("...gf,cgf->...gc", outside, part).reshape(
                    padded[under].shape
                )
                found = np.einsum("...gc,...gf->...cgf", inside, outside)
                dk[offset] = found.sum(tuple(range(x.ndim - 1))).reshape(kernel[offset].shape)
                continue
            if self.depthwise:
                each = dy.reshape(*dy.shape[:-1], *kernel.shape[-2:])
                y += (padded[under][..., None] * kernel[offset]).reshape(dy.shape)
                dx[under] += (each * kernel[offset]).sum(-1)
                dk[offset] = (padded[under][..., None] * each).sum((0, 1, 2))
                continue
            y += padded[under] @ kernel[offset]
            dx[under] += dy @ kernel[offset].T
            dk[offset] = np.tensordot(padded[under], dy, [range(x.ndim - 1)] * 2)
        inside = [slice(low, low + n) for (low, _), n in zip(pads, x.shape[1:-1])]
        return y, dx[(slice(None), *inside)], dk


#: A case with its programs, which several tests run.
kept_case = functools.cache(Case)


@pytest.fixture(params=[*CASES, *[f"float64: {name}" for name in WIDE]])
def case(request):
    *wide, name = request.param.split(": ")
    return kept_case(name, *wide)


def own(function):
    """A function compiled as this library compiles its programs."""
    return jax.jit(tracing(True, function))


def close(found, wanted):
    scale = max(1.0, np.abs(wanted).max(initial=0))
    rounding = float(np.finfo(found.dtype).eps) * 200
    np.testing.assert_allclose(found, wanted, rtol=5 * rounding, atol=rounding * scale)


def calls(function, *arrays):
    return TARGET in jax.jit(function).lower(*arrays).as_text()


@pytest.mark.part
def test_values_and_derivatives(case):
    least = kernels.LEAST_FEATURES
    if max(case.attributes["strides"]) > 1:
        least = kernels.LEAST_FEATURES_APART
    many = case.grouped or case.depthwise or case.x.ndim == 5 or case.dtype == "float64"
    many = many or case.x.shape[-1] >= least or case.dy.shape[-1] <= kernels.FEW_CHANNELS
    assert [TARGET in low.as_text() for low in case.lowered] == [True, many, True]
    for (program, arrays), wanted in zip(case.programs, case.reference(), strict=True):
        found = np.asarray(program(*arrays))
        assert found.dtype == case.dtype
        close(found, wanted)


def test_xla_pads_by_more_than_the_window():
    """Of such padding XLA's own derivative is wrong on the CPU (jaxlib 0.8 to 0.10)."""
    case = Case("more than the window")
    close(jax.jit(case.back)(case.dy, case.kernel), case.reference()[1])


@pytest.mark.part
@pytest.mark.parametrize(
    "name",
    ["same", "strides", "1d", "3d", "groups, strides", "groups of one", "depthwise, more of each"],
)
def test_derivatives_of_every_order_are_those_of_xla(name):
    calls = kept_case(name).calls

    def derived(function, a, b):
        """Second derivatives, and those along a direction."""

        def loss(a, b):
            return jnp.sum(jnp.sin(0.1 * function(a, b)))

        second = jax.grad(lambda a, b: jnp.sum(jax.grad(loss)(a, b) ** 2), (0, 1))(a, b)
        return second, jax.jvp(function, (a, b), (0.5 * a, b[::-1]))[1]

    def of_each(given):
        return [derived(function, *arrays) for (function, _), arrays in zip(calls, given)]

    given = [arrays for _, arrays in calls]
    found, wanted = own(of_each)(given), jax.jit(of_each)(given)
    jax.tree.map(close, found, jax.tree.map(np.asarray, wanted))


@pytest.mark.part
@pytest.mark.parametrize("name", ["same", "groups", "depthwise, more of each"])
@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0)])
def test_batched(axes, name):
    calls = kept_case(name).calls

    def twice(a, axis):
        rows = None if axis is None else np.stack([a, 2 * a, -a])
        return a if rows is None else np.stack([rows, rows + 1])

    def of_each(given):
        return [
            jax.vmap(jax.vmap(function, axes), axes)(*arrays)
            for (function, _), arrays in zip(calls, given)
        ]

    given = [list(map(twice, arrays, axes)) for _, arrays in calls]
    found, wanted = own(of_each)(given), jax.jit(of_each)(given)
    jax.tree.map(close, found, jax.tree.map(np.asarray, wanted))


def numbers(case):
    """What `compute` takes beside the arrays of a case."""
    attributes = case.attributes
    windows = kernels.Windows.of(
        case.x.shape[1:-1],
        case.window[:-2],
        *(attributes[name] for name in ("strides", "padding", "dilations")),
    )
    return tuple(windows.numbers(case.depthwise).tolist())


def compute(derivative, x, other, out, given):
    """With images of three axes."""

    def wide(array, kernel):
        lacking = range(5 - array.ndim)
        return np.expand_dims(array, [*lacking] if kernel else [i + 1 for i in lacking])

    KERNELS.compute(
        derivative, wide(x, False), wide(other, not derivative), wide(out, derivative), given
    )


@pytest.mark.part
def test_for_arrays_of_numpy(case):
    """What the interpreter calls gives the same bits as programs do, whatever the threads."""
    *window, channels, more = case.window
    x, kernel, shape, given = case.x, case.kernel, case.window, numbers(case)
    if case.depthwise and channels * more < width_of(case.dtype):
        shape, given = (*window, 1, channels * more), (*given[:-1], False)
    elif case.depthwise:
        x, shape = np.repeat(x, more, -1), (*window, channels * more, 1)
    y, dk = np.empty_like(case.dy), np.empty(shape, case.dtype)
    compute(False, x, kernel.reshape(shape), y, given)
    compute(True, x, case.dy, dk, given)
    convolved, _, derived = (program(*arrays) for program, arrays in case.programs)
    np.testing.assert_array_equal(y, convolved)
    np.testing.assert_array_equal(dk.reshape(case.window), derived)


def test_wrong_arrays_are_refused():
    case = Case("same")
    x, kernel, y = case.x[:, None], case.kernel[None], np.empty_like(case.dy[:, None])
    given = numbers(case)
    for arguments, error in (
        ((x, kernel, y), TypeError),
        ((x, kernel, y[:1], given), ValueError),
        ((x, kernel[..., :8], y, given), ValueError),
        ((x[0], kernel, y, given), ValueError),
        ((x.astype("float64"), kernel, y, given), ValueError),
        ((x, kernel, y, given[:-1]), ValueError),
        ((x, kernel, y, (2.5, *given[1:])), TypeError),
        ((x, kernel, y, (0, *given[1:])), ValueError),
        ((x, kernel, y, [*given]), ValueError),
        ((x.swapaxes(2, 3), kernel, y, given), (BufferError, ValueError)),
        ((x, kernel, b"", given), (BufferError, ValueError)),
        (("x", kernel, y, given), TypeError),
    ):
        with pytest.raises(error):
            KERNELS.compute(False, *arguments)
    y.flags.writeable = False
    with pytest.raises((BufferError, ValueError)):
        KERNELS.compute(False, x, kernel, y, given)
    apart = Case("strides, deep")
    apart_numbers = kernels.Windows.of((8, 8), (3, 3), (2, 2), "SAME", (1, 1))
    back = apart_numbers.transposed((8, 8), (3, 3)).numbers(False).tolist()
    with pytest.raises(ValueError, match="not a convolution"):
        compute(True, apart.dy, apart.x, apart.kernel, tuple(back))


def test_rows_are_folded():
    """A batch of images for one kernel is one call."""
    case = Case("same")
    given = np.stack([case.x] * 3), case.kernel
    text = jax.jit(tracing(True, jax.vmap(case.convolve, (0, None)))).lower(*given).as_text()
    assert TARGET in text and "stablehlo.convolution" not in text


@pytest.mark.part
def test_is_deterministic_in_threads(case):
    """Bit for bit, in four threads at once, as often as one calls it."""
    functions = case.programs
    wanted = [np.asarray(f(*a)) for f, a in functions]
    wrong = []

    def check():
        for _ in range(8):
            for (f, a), w in zip(functions, wanted):
                if not np.array_equal(np.asarray(f(*a)), w):
                    wrong.append(f)

    in_threads(4, check)
    assert not wrong


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["same", "depthwise, more of each"])
def test_halves_are_done_in_float32(name, dtype):
    """A convolution and its two derivatives, rounded once."""
    for function, arrays in kept_case(name).calls:
        halves = [jnp.asarray(a).astype(dtype) for a in arrays]
        assert calls(tracing(True, function), *halves)
        wanted = own(function)(*[half.astype("float32") for half in halves])
        np.testing.assert_array_equal(own(function)(*halves), wanted.astype(dtype))


def test_without_kernels_in_a_users_trace():
    case = Case("same")
    assert not calls(case.convolve, case.x, case.kernel)


# -- programs that are exported, before and after this library has run the same


@pytest.fixture
def noted(monkeypatch):
    """The kernels whose calls were traced."""
    found = []
    call = kernels._call

    def noting(target, *others):
        found.append(target)
        return call(target, *others)

    monkeypatch.setattr(kernels, "_call", noting)
    return found


def _network(k):
    def plain(x):
        return tf.nn.relu(tf.nn.conv2d(x, k, 1, "SAME"))

    def branches(x):
        return tf.cond(tf.reduce_sum(x) > 0, lambda: plain(x), lambda: -plain(x))

    def loop(x):
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, plain(y)), (0, x))[1]

    def mapped(x):
        return tf.map_fn(lambda row: plain(row[None])[0], x)

    def vectorized(x):
        return tf.vectorized_map(lambda row: plain(row[None])[0], x)

    return [plain, branches, loop, mapped, vectorized, tf.recompute_grad(plain)]


def _step(network, k):
    @tf.function(jit_compile=True)
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(network(x) ** 2)
        gradients = tape.gradient(loss, [x, k])
        return loss, *gradients

    return step


@pytest.mark.part
@pytest.mark.parametrize("first", ["run", "export"])
@pytest.mark.parametrize("number", range(6))
def test_exports_call_none(number, first, noted):
    k = tf.Variable(np.random.default_rng(0).normal(size=(3, 3, 4, 4)).astype("float32"))
    step = _step(_network(k)[number], k)
    shape = (2 + number, 6, 6 + (first == "run"), 4)  # no other case has compiled it
    x = np.random.default_rng(1).normal(size=shape).astype("float32")
    pure = tf.engine.functional(step)
    state = pure.init(x)

    def runs():
        for _ in range(5):
            found = step(tf.constant(x))
        assert noted
        return [a.numpy() for a in found]

    wanted = runs() if first == "run" else None
    exported = jax.export.export(jax.jit(pure))(state, x)
    assert TARGET not in exported.mlir_module()
    assert TARGET not in step.experimental_get_compiler_ir(tf.constant(x))(stage="stablehlo")
    found = exported.call(state, x)[0]
    for one, other in zip(found, wanted or runs(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def test_saved_models_call_none(tmp_path):
    module = tf.Module()
    module.k = tf.Variable(np.ones((3, 3, 4, 8), "float32"))
    module.call = tf.function(
        lambda x: tf.nn.conv2d(x, module.k, 1, "SAME"),
        input_signature=[tf.TensorSpec([2, 6, 6, 4])],
    )
    x = tf.ones([2, 6, 6, 4])
    wanted = [module.call(x).numpy() for _ in range(4)][-1]
    tf.saved_model.save(module, str(tmp_path / "model"))
    for path in (tmp_path / "model").rglob("*"):
        assert not path.is_file() or TARGET.encode() not in path.read_bytes()
    found = tf.saved_model.load(str(tmp_path / "model")).call(x)
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-5)


def test_programs_call_them(noted):
    """A step with a tape: the convolution, and both of its derivatives."""
    k = tf.Variable(np.ones((3, 3, 4, 8), "float32"))
    up = tf.Variable(np.ones((3, 3, 8, 8), "float32"))
    x = tf.constant(np.ones((2, 7, 6, 4), "float32"))

    @tf.function(jit_compile=True)
    def step(x):
        with tf.GradientTape() as tape:
            y = tf.nn.conv2d(tf.nn.conv2d(x, k, 1, "SAME"), up, 1, "SAME")
            loss = tf.reduce_sum(y**2)
        return tape.gradient(loss, [k, up])

    for _ in range(4):
        step(x)[0].numpy()
    assert sorted(noted) == 3 * [TARGET] + 2 * [f"{TARGET}_derivative"]


@pytest.mark.parametrize("kind", ["loop", "while", "call"])
def test_derivatives_that_jax_takes_call_them(kind, noted):
    """Of loops and of calls under a tape."""
    size = 5 + ["loop", "while", "call"].index(kind)  # no other case has compiled it
    x = np.random.default_rng(0).normal(size=(2, size, 6, 8)).astype("float32")
    k = tf.Variable(np.random.default_rng(1).normal(size=(3, 3, 8, 8)).astype("float32") / 8)

    def turn(x):
        return tf.tanh(tf.nn.conv2d(x, k, 1, "SAME"))

    def turns(x):
        return turn(turn(turn(x)))

    def loop(x):
        return tf.foldl(lambda y, _: turn(y), tf.range(3), x)

    def goes_on(x):
        holds = lambda i, y: i < 3 and tf.reduce_sum(y) < 1e9
        return tf.while_loop(holds, lambda i, y: (i + 1, turn(y)), (0, x))[1]

    def gradients(network, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(network(x) ** 2)
        return tape.gradient(loss, k)

    network = {"loop": loop, "while": goes_on, "call": tf.function(turns)}[kind]
    step = tf.function(lambda x: gradients(network, x), jit_compile=True)
    wanted = gradients(turns, tf.constant(x)).numpy()
    noted.clear()
    for _ in range(3):
        found = step(tf.constant(x)).numpy()
    assert f"{TARGET}_derivative" in noted
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5 * np.abs(wanted).max())


# -- processes of their own

CACHED = """
import jax, sys
jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
import numpy as np, tape_compat as tf
from tape_compat._src.core import kernels
from tape_compat._src.run import policy
policy.INTERPRETS = False
k, x = tf.Variable(tf.ones([3, 3, 8, 32])), tf.ones([8, 28, 28, 8])
@tf.function(jit_compile=True)
def step(x):
    with tf.GradientTape() as tape:
        y = tf.nn.conv2d(x, k, 1, "SAME")
    return tape.gradient(y, k)
print([step(x).numpy().sum().item() for _ in range(4)][-1])
print(kernels.available.cache_info().currsize)
"""


def test_programs_in_the_cache_on_disk(tmp_path):
    first, second = (run("-c", CACHED, str(tmp_path)).stdout for _ in range(2))
    assert first == second and first.endswith("\n1\n")
    assert any(tmp_path.iterdir())


def test_pure_python_has_none():
    program = "from tape_compat._src.ops import convolution_kernels as k; print(k.available())"
    assert run("-c", program, TAPE_COMPAT_PURE_PYTHON="1").stdout == "False\n"


# -- the interface of XLA, as it is written down and as jaxlib has it

LAYOUT = """
#include <stdio.h>
#define SHOW(type, field) printf(#type " " #field " %zu %zu\\n", \\
                                 offsetof(type, field), sizeof(((type *)0)->field));
#define NUMBER(name) printf(#name " %d\\n", (int)name);
int main(void) {
SHOW(XLA_FFI_Extension_Base, type) SHOW(XLA_FFI_Extension_Base, next)
SHOW(XLA_FFI_Api_Version, major_version) SHOW(XLA_FFI_Api_Version, minor_version)
SHOW(XLA_FFI_Error_Create_Args, message) SHOW(XLA_FFI_Error_Create_Args, errc)
SHOW(XLA_FFI_Error_Destroy_Args, error)
SHOW(XLA_FFI_ThreadPool_Schedule_Args, ctx) SHOW(XLA_FFI_ThreadPool_Schedule_Args, task)
SHOW(XLA_FFI_ThreadPool_Schedule_Args, data)
SHOW(XLA_FFI_ThreadPool_NumThreads_Args, ctx) SHOW(XLA_FFI_ThreadPool_NumThreads_Args, num_threads)
SHOW(XLA_FFI_Api, XLA_FFI_Error_Create) SHOW(XLA_FFI_Api, XLA_FFI_Error_Destroy)
SHOW(XLA_FFI_Api, XLA_FFI_ThreadPool_Schedule) SHOW(XLA_FFI_Api, XLA_FFI_ThreadPool_NumThreads)
SHOW(XLA_FFI_Buffer, dtype) SHOW(XLA_FFI_Buffer, data) SHOW(XLA_FFI_Buffer, rank)
SHOW(XLA_FFI_Buffer, dims)
SHOW(XLA_FFI_Array, dtype) SHOW(XLA_FFI_Array, size) SHOW(XLA_FFI_Array, data)
SHOW(XLA_FFI_CallFrame, extension_start) SHOW(XLA_FFI_CallFrame, api) SHOW(XLA_FFI_CallFrame, ctx)
SHOW(XLA_FFI_CallFrame, args.size) SHOW(XLA_FFI_CallFrame, args.args)
SHOW(XLA_FFI_CallFrame, rets.size) SHOW(XLA_FFI_CallFrame, rets.RETS)
SHOW(XLA_FFI_CallFrame, attrs.size) SHOW(XLA_FFI_CallFrame, attrs.types)
SHOW(XLA_FFI_CallFrame, attrs.attrs)
SHOW(XLA_FFI_Metadata, api_version) SHOW(XLA_FFI_Metadata, traits)
SHOW(XLA_FFI_Metadata_Extension, metadata)
NUMBER(XLA_FFI_Extension_Metadata) NUMBER(XLA_FFI_Error_Code_INVALID_ARGUMENT)
NUMBER(XLA_FFI_Error_Code_RESOURCE_EXHAUSTED) NUMBER(XLA_FFI_DataType_S64)
NUMBER(XLA_FFI_DataType_U32) NUMBER(XLA_FFI_DataType_U64)
NUMBER(XLA_FFI_DataType_S32) NUMBER(XLA_FFI_DataType_F32) NUMBER(XLA_FFI_DataType_F64)
NUMBER(XLA_FFI_AttrType_ARRAY)
}
"""


RENAMED = {
    "XLA_FFI_Extension_Base": "XLA_FFI_InternalExtension",
    "XLA_FFI_Extension_Metadata": "XLA_FFI_InternalExtension_Metadata",
}


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_interface_is_that_of_jaxlib(tmp_path):
    found = []
    native = KERNELS.__file__.rpartition("/")[0]
    theirs = f"{jax.ffi.include_dir()}/xla/ffi/api/c_api.h"
    for header, results in ((f"{native}/xla.h", "args"), (theirs, "rets")):
        source = tmp_path / "layout.c"
        layout = LAYOUT.replace("RETS", results)
        with open(header) as file:  # jaxlib 0.12 gave some things other names
            text = file.read()
            for name, later in RENAMED.items():
                if later in text:
                    layout = layout.replace(f"({name}", f"({later}")
        source.write_text(f'#include "{header}"\n{layout}')
        program = str(tmp_path / results)
        subprocess.run(["cc", str(source), "-o", program], check=True)
        output = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        for name, later in RENAMED.items():
            output = output.replace(later, name)
        found.append(output.replace("rets.rets", "rets.args"))
    assert found[0] == found[1]


# -- each set of instructions that this processor has

SETS = """
#include <math.h>
#include <stdio.h>
#include "convolution.c"

static int alone(void *threads, const Job *job)
{
    Memory *scratch = take_memory(FOR_SCRATCH, job->scratch);
    for (long i = 0; i < job->tasks; i++)
        job->task(job, i, scratch->floats);
    give_memory(FOR_SCRATCH, scratch);
    return 1;
}

static REAL *drawn(long n)
{
    REAL *found = malloc(n * sizeof(REAL));
    for (long i = 0; i < n; i++)
        found[i] = rand() / (REAL)RAND_MAX - 0.5f;
    return found;
}

/* The largest error of a convolution and of its derivative, by plain loops. */
static double error(const Convolution *c, const Instructions *cpu)
{
    long images = c->batch * c->size[1] * c->size[2], pixel = c->features;
    long places = c->batch * c->places[1] * c->places[2];
    long elements = c->window[1] * c->window[2] * c->channels, own = c->depthwise ? 1 : pixel;
    REAL *x = drawn(images * c->channels), *kernel = drawn(elements * pixel);
    REAL *dy = drawn(places * pixel), *y = drawn(places * pixel), *dk = drawn(elements * pixel);
    double *sums = calloc(places * pixel + elements * pixel, sizeof(double)), most = 0;
    double *gains = sums + places * pixel;
    OWN(convolve)(c, cpu, x, kernel, y, alone, NULL);
    OWN(derive)(c, cpu, x, dy, dk, alone, NULL);
    for (long p = 0; p < places; p++)
        for (long k = 0; k < elements; k++) {
            long n = p / (c->places[1] * c->places[2]), m = k % c->channels;
            long i = p / c->places[2] % c->places[1] * c->stride[1] - c->low[1] +
                     k / c->channels / c->window[2] * c->dilation[1];
            long j = p % c->places[2] * c->stride[2] - c->low[2] +
                     k / c->channels % c->window[2] * c->dilation[2];
            if (i < 0 || j < 0 || i >= c->size[1] || j >= c->size[2])
                continue;
            double value = x[((n * c->size[1] + i) * c->size[2] + j) * c->channels + m];
            for (long f = 0; f < own; f++) {
                long to = p * pixel + (c->depthwise ? m : f);
                sums[to] += value * kernel[k * own + f];
                gains[k * own + f] += value * dy[to];
            }
        }
    for (long i = 0; i < places * pixel; i++)
        most = fmax(most, fabs(sums[i] - y[i]));
    for (long i = 0; i < elements * own; i++)
        most = fmax(most, fabs(gains[i] - dk[i]));
    free(x), free(kernel), free(dy), free(y), free(dk), free(sums);
    return most;
}

int main(void)
{
    const Instructions *sets[] = {&OWN(plain_instructions), NULL, NULL};
#ifdef __x86_64__
    sets[1] = __builtin_cpu_supports("avx2") ? &OWN(avx2_instructions) : NULL;
    sets[2] = __builtin_cpu_supports("avx512f") ? &OWN(avx512_instructions) : NULL;
#endif
    for (int s = 0; s < 3; s++)
        for (long features = 1; sets[s] && features < 140; features += 9) {
            Convolution c = {3, features % 5 + 1, features, 1, {1, 9, 11}, {1, 5, 8}, {1, 3, 2},
                             {1, 2, 1}, {1, 1, 3}, {0, 1, 0}, {1, 1, 1}};
            printf("%d %ld %g\\n", s, features, error(&c, sets[s]));
            if (features < sets[s]->width)
                continue;
            c.channels = features;
            c.depthwise = 1;
            printf("%d %ld %g\\n", s, features, error(&c, sets[s]));
        }
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize(
    "real, kind, least", [("float", "single", 1e-4), ("double", "double", 1e-12)]
)
def test_each_set_of_instructions(real, kind, least, tmp_path):
    (tmp_path / "sets.c").write_text(SETS)
    native = f"-I{pathlib.Path(KERNELS.__file__).parent}"
    given = [native, f"-DREAL={real}", f"-DOWN(name)={kind}_##name", "-O2"]
    command = ["cc", *given, str(tmp_path / "sets.c"), "-lm", "-o", str(tmp_path / "sets")]
    subprocess.run(command, check=True)
    done = subprocess.run([tmp_path / "sets"], capture_output=True, text=True, check=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    assert len(rows) >= 16
    assert all(float(error) < least for *_, error in rows), rows
