"""What can be said of GPUs and TPUs without one: that every op has a form for them."""

import jax
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core.kernels import tracing
from tape_compat._src.ops import host_decompositions
from tests.ops import ROWS, checks
from tests.ops.row import leaves

#: What calls the host from a program, which JAX writes for the devices that there are.
CALLING = {"unravel_index", "linalg.eig", "linalg.eigvals", "linalg.sqrtm", "linalg.logm"}


@pytest.fixture
def accelerator(monkeypatch):
    """JAX says that it is on a GPU."""
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")


def step_of(row):
    """A function of the row's sources: what it gives, and its derivatives."""

    def step(*sources):
        inputs = [tf.convert_to_tensor(x) for x in sources]
        if not row.differentiable:
            return [y for y in leaves(row.call(tf, inputs)) if isinstance(y, tf.Tensor)]
        found = checks.record(tf, row, forward=False, inputs=inputs)
        return [x for x in [*found.values, *(found.gradients or [])] if x is not None]

    return step


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=row.id, marks=pytest.mark.part(row.id))
        for row in ROWS
        if row.id not in CALLING
    ],
)
def test_an_op_is_lowered_for_gpus_and_tpus(row):
    sources = row.sources()
    with jax.enable_x64(True):
        pure = tf.engine.functional(step_of(row))
        state = pure.init(*sources)
        lowered = jax.jit(tracing(True, lambda *given: pure(*given))).trace(state, *sources)
        assert lowered.lower(lowering_platforms=("cuda", "tpu")).as_text()


MATRICES = np.array([[[2.0, 1.0], [0.5, 3.0]], [[0.0, -1.0], [1.0, 0.0]], [[np.nan, 1], [1, 1]]])


@pytest.mark.parametrize("name", ["eig", "eigvals", "sqrtm", "logm"])
def test_decompositions_of_cpus_are_left_to_the_host(accelerator, name):
    with jax.enable_x64(True):
        pure = tf.engine.functional(getattr(tf.linalg, name))
        x = tf.constant(MATRICES, tf.complex128)
        traced = jax.make_jaxpr(pure)(pure.init(x), x.numpy())
    assert "pure_callback" in str(traced)
    assert "= eig[" not in str(traced) and "= schur[" not in str(traced)


def test_the_host_has_the_eigenvalues_that_xla_has(accelerator):
    with jax.enable_x64(True):
        values, vectors = jax.jit(host_decompositions.eig)(MATRICES)
    by_xla = np.linalg.eig(MATRICES[:2])
    np.testing.assert_allclose(values[:2], by_xla[0], atol=1e-12)
    np.testing.assert_allclose(vectors[:2], by_xla[1], atol=1e-12)
    assert np.isnan(values[2]).all() and np.isnan(vectors[2]).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_the_host_has_roots_of_each_matrix(accelerator, dtype):
    with jax.enable_x64(True):
        given = MATRICES.astype(dtype)
        roots = np.asarray(jax.jit(jax.vmap(host_decompositions.root))(given))
    assert roots.dtype == ("complex128" if dtype == "float64" else "complex64")
    np.testing.assert_allclose((roots @ roots)[:2], MATRICES[:2], atol=1e-5)
    assert np.isnan(roots[2]).all()
