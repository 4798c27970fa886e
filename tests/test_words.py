"""Random words and numbers by kernels in C: XLA's, in batches, and where they are not called."""

import jax
import jax.export
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core import dtypes
from tape_compat._src.core.kernels import tracing
from tape_compat._src.core.x64 import in_x64
from tape_compat._src.ops import philox
from tests.draw_keys import of_draw

TARGET, SEARCH = "tape_compat_words", "tape_compat_search"
pytestmark = pytest.mark.skipif(not philox.by_kernels(), reason="not built")
#: Seeds, and counters and keys of draws, with carries.
KEYS = [np.array(seed, np.int64) for seed in ([3, 5], [-1, 2**62], [0, 0])]
KEYS += [
    np.array(key, np.uint64)
    for key in ([1, 2, 3, 4], [2**64 - 5, 7, 2**63, 1], [2**64 - 5, 2**64 - 1, 9, 2**60])
]


def both(draw):
    """As programs of this process draw, and as exported ones do."""
    return [jax.jit(tracing(own, draw)) for own in (True, False)]


def made(programs, *given):
    """What programs are as texts, and the compiled ones."""
    lowered = [in_x64(program.lower, *given) for program in programs]
    return [one.as_text() for one in lowered], [in_x64(one.compile) for one in lowered]


#: Parts, the blocks of each, the blocks between their beginnings, and the parts left out: of what
#: is uniform and normal, and of truncated normal numbers.
RUNS = [
    *[(parts, 1, 1, 0) for parts in (1, 2, 9, 10_000)],
    *[(parts, 4, philox.RESERVED, begin) for parts, begin in ((1, 0), (9, 4096), (2_500, 0))],
    *[(parts, 8, philox.RESERVED // 2, begin) for parts, begin in ((1, 0), (17, 4096))],
]


def test_words_are_those_of_xla():
    def draw(key):
        return [
            philox._runs(key, parts, philox.RESERVED * parts, length, apart, begin)
            for parts, length, apart, begin in RUNS
        ]

    texts, (by_kernel, by_xla) = made(both(draw), of_draw(KEYS[0]))
    assert [text.count(TARGET) > 0 for text in texts] == [True, False]
    for key in map(of_draw, KEYS):
        for run, found, wanted in zip(RUNS, in_x64(by_kernel, key), in_x64(by_xla, key)):
            assert found.shape == (run[0], run[1], 4)
            np.testing.assert_array_equal(found, wanted)


COUNTS = (0, 33)


@pytest.mark.part
@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64], ids=lambda d: d.name)
@pytest.mark.parametrize("kind", ["uniform", "normal", "truncated_normal"])
def test_numbers_are_those_of_xla(kind, dtype):
    """Those with sines to the last bits: another kernel takes these. All counts are one program."""
    draw = lambda key: [getattr(philox, kind)(key, (count,), dtype) for count in COUNTS]
    by_kernel, by_xla = both(draw)
    last = 0 if kind == "uniform" else np.finfo(dtype.np_dtype).eps
    for key in map(of_draw, KEYS):
        for count, found, wanted in zip(COUNTS, in_x64(by_kernel, key), in_x64(by_xla, key)):
            assert found.shape == (count,)
            np.testing.assert_allclose(found, wanted, rtol=4 * last, atol=8 * last)


@pytest.mark.part
@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64], ids=lambda d: d.name)
def test_groups_that_are_made_at_a_time_are_those_of_all(dtype, monkeypatch):
    """By the kernel and by XLA, where the counter carries too."""

    def draws():
        programs = both(lambda key: philox.truncated_normal(key, (9_999,), dtype))
        texts, programs = made(programs, KEYS[3])
        found = [[in_x64(program, of_draw(key)) for program in programs] for key in KEYS]
        return [text.count("stablehlo.while") for text in texts], found

    loops, at_once = draws()
    monkeypatch.setattr(philox, "GROUPS", 1 << 6)
    more, in_parts = draws()
    assert [n - 1 for n in more] == loops
    last = np.finfo(dtype.np_dtype).eps
    for found, wanted in zip(in_parts, at_once, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=4 * last, atol=8 * last)


#: How numbers are looked for, and their parameters: in each way that there is.
SEARCHES = {
    "gamma": (philox.gamma, [0.3, 1.0, 2.5, 70.0]),
    "poisson": (lambda *given: philox.poisson(*given, 1e9), [0.5, 9.0, 10.0, 200.0, 2e9, np.nan]),
}


@pytest.mark.part
@pytest.mark.parametrize("samples", [0, 1500])
@pytest.mark.parametrize("kind", SEARCHES)
def test_numbers_that_are_looked_for_are_those_of_xla(kind, samples):
    draw, parameters = SEARCHES[kind]
    parameters = np.array(parameters)
    shape = (samples, *parameters.shape)
    programs = both(lambda key: draw(key, jax.numpy.asarray(parameters), shape))
    texts, (by_kernel, by_xla) = made(programs, KEYS[3])
    assert [SEARCH in text for text in texts] == [True, False]
    for key in map(of_draw, KEYS):
        found, expected = in_x64(by_kernel, key), in_x64(by_xla, key)
        np.testing.assert_allclose(found, expected, 1e-12)


@pytest.mark.part
@pytest.mark.parametrize("axes", [(0, 0), (0, None), (None, 0)])
def test_batches_of_searches(axes):
    """Keys and parameters each, and one of them alone."""
    both_given = np.stack(KEYS[3:]), np.array([[0.5, 3.0], [1.0, 20.0], [7.0, 0.1]])
    given = [x if axis == 0 else x[0] for x, axis in zip(both_given, axes)]
    by_kernel, by_xla = both(jax.vmap(lambda *x: philox.gamma(*x, (5, 2)), axes))
    np.testing.assert_allclose(in_x64(by_kernel, *given), in_x64(by_xla, *given), 1e-12)


def test_batches_of_keys():
    for keys in (np.stack(KEYS[:3]), np.stack(KEYS[3:])):
        by_kernel, by_xla = both(jax.vmap(lambda key: philox.bits(key, (7, 3), np.uint64)))
        np.testing.assert_array_equal(in_x64(by_kernel, keys), in_x64(by_xla, keys))


def test_programs_call_it_and_exports_do_not():
    def noisy(x):
        return tf.nn.dropout(x, 0.5, seed=3) + tf.random.stateless_normal(x.shape, [1, 2])

    pure = tf.engine.functional(noisy)
    x = np.ones((3, 50), np.float32)
    state = pure.init(x)
    exported = jax.export.export(jax.jit(pure))(state, x).mlir_module()
    assert TARGET not in exported
    own, other = both(lambda key: philox.uniform(key, (50,), dtypes.float32))
    assert TARGET in in_x64(own.lower, KEYS[0]).as_text()
    assert TARGET not in in_x64(other.lower, KEYS[0]).as_text()
