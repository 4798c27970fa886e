"""Programs for sizes that are new: what NumPy does op by op is what programs of the sizes do."""

import contextlib
import io
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

import tape_compat as tf
from tape_compat._src.core.avals import Aval
from tape_compat._src.core.dimensions import Sizes
from tape_compat._src.core.op import _OPS
from tape_compat._src.core.steps import Step, Steps
from tape_compat._src.run import policy
from tape_compat._src.run.interpret import decompositions, plan as plans
from tape_compat._src.run.op_by_op import op_runner
from tape_compat._src.run.polymorphic import Polymorphic
from tape_compat._src.values.record import flush
from tests.test_interpret import sample

Image = pytest.importorskip("PIL.Image")


def calls():
    """Elementwise ops without attributes, each with the avals of inputs that it takes."""
    for op in sorted((op for op in list(_OPS) if op.broadcasts), key=lambda op: op.name):
        closure = op.bind()
        for kind in (tf.float32, tf.float16, tf.int32, tf.bool, tf.complex64):
            for shapes in (((3, 4),), ((3, 4), (4,)), ((3, 1), (3, 4), (1, 4))):
                avals = tuple([Aval.of(shape, kind) for shape in shapes])
                with contextlib.suppress(Exception):
                    closure.infer(avals)
                    yield closure, avals
                    break


@pytest.mark.interpreted
def test_elementwise_ops():
    """One plan serves all shapes, with the results of the plan that is made for these."""
    tried = 0
    for closure, avals in calls():
        count = len(avals)
        steps = Steps(count, (Step(closure, tuple(range(count)), count, count + 1),), (count,))
        arrays = [sample(aval) for aval in avals]
        (found,) = Polymorphic(steps).run(Sizes(), arrays)
        wanted = np.asarray(op_runner(closure, avals).now(*arrays)[0])
        assert found.dtype == wanted.dtype and found.shape == wanted.shape, closure
        np.testing.assert_array_equal(np.asarray(found), wanted, str(closure))
        tried += 1
    assert tried > 150
    served = [plan for plan in plans._PLANS.values() if plan is not False]
    assert len(served) > 0.7 * len(plans._PLANS)


@pytest.mark.interpreted
def test_ops_that_run_at_once_are_planned_once_for_all_sizes(monkeypatch):
    made, make = [], plans.Interpreted.__init__

    def counting(plan, *given):
        made.append(plan)
        make(plan, *given)

    tf.engine.clear_caches()
    monkeypatch.setattr(plans.Interpreted, "__init__", counting)
    limit = policy.NEW_SIZES
    for n in range(2, 2 * limit + 10):
        x = np.arange(4.0 * n, dtype=np.float32).reshape(n, 4)
        found = tf.maximum(tf.constant(x), tf.constant(x[0] + 5))
        np.testing.assert_array_equal(found, np.maximum(x, x[0] + 5))
    assert len(made) == limit + 3  # one for all, and two to estimate what they take
    runners = [r for op in list(_OPS) if op.name == "Maximum" for r in op.bind().runners.items()]
    for (aval, _), runner in runners[limit:]:
        alone = make_estimates(aval.shape)
        assert 0.5 * alone.seconds < runner.work < 2 * alone.seconds
        assert runner.moves == (alone.arithmetic <= policy.WITH_MOVES_SECONDS)


def make_estimates(shape):
    arrays = np.zeros(shape, np.float32), np.zeros(4, np.float32)
    return plans.Interpreted(jax.make_jaxpr(jnp.maximum)(*arrays))


def jpeg(height, width):
    pixels = np.random.default_rng(height).integers(0, 255, (4, 4, 3)).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).resize((width, height)).save(file, "JPEG")
    return file.getvalue()


SIZES = [(20 + 3 * i, 50 - 2 * i) for i in range(12)]


def scaled(content):
    image = tf.cast(tf.io.decode_jpeg(content, channels=3), tf.float32) / 255.0
    image = image - tf.constant([0.4, 0.5, 0.6])
    return tf.image.resize(image, [16, 16]), tf.shape(image)


def expected(content):
    flush()
    return [x.numpy() for x in scaled(tf.constant(content))]


@pytest.mark.interpreted
def test_images_of_new_sizes_need_no_trace_and_no_program(counted):
    files = [jpeg(*size) for size in SIZES]
    dataset = tf.data.Dataset.from_tensor_slices(files).map(scaled)
    elements = iter(dataset)
    for _ in range(3):
        next(elements)
    before = counted()
    found = [[x.numpy() for x in element] for element in elements]
    after = counted()
    assert after["traces"] == before["traces"] and after["compiles"] == before["compiles"]
    assert after["op_by_op"] == before["op_by_op"] and after["op_compiles"] == before["op_compiles"]
    assert after["interpreted"] - before["interpreted"] >= 4 * len(found)
    for (image, shape), file, size in zip(found, files[3:], SIZES[3:], strict=True):
        wanted, _ = expected(file)
        np.testing.assert_allclose(image, wanted, atol=1e-6)
        assert shape.tolist() == [*size, 3]


@pytest.mark.interpreted
def test_sizes_that_come_again_are_done_as_one(counted, deferred):
    files = [jpeg(20, 30)] * (policy.NEW_SIZES + 8)
    dataset = tf.data.Dataset.from_tensor_slices(files).map(scaled)
    found, counts = [], []
    for image, _ in dataset:
        found.append(image.numpy())
        counts.append(counted()["interpreted"])
    assert counts[-1] - counts[-2] < counts[1] - counts[0]
    for one, other in pairwise(found):
        np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.interpreted
@pytest.mark.skipif(decompositions._SUBSTITUTE is None, reason="XLA solves triangular systems")
def test_matrices_and_draws_of_new_sizes_are_not_compiled(counted):
    for n in range(3, 6):
        x = tf.eye(n) * 2 + 0.1
        roots = tf.linalg.sqrtm(x), tf.linalg.logm(tf.cast(x, tf.complex64))
        np.testing.assert_allclose(roots[0] @ roots[0], x, atol=1e-5)
        np.testing.assert_allclose(scipy.linalg.expm(roots[1].numpy()), x, atol=1e-5)
        band, ones = tf.linalg.band_part(x, 1, 1), tf.ones((n, 2))
        solved = tf.linalg.tridiagonal_solve(band, ones, diagonals_format="matrix")
        np.testing.assert_allclose(band @ solved, ones, atol=1e-5)
        assert tf.random.stateless_binomial((n,), (1, 2), 10.0, 0.4).shape == [n]
    assert counted()["op_compiles"] == 0 and counted()["compiles"] == 0


def test_what_does_not_fit_is_an_error_of_its_op():
    def wrong(content):
        image = tf.io.decode_jpeg(content, channels=3)
        return image + tf.zeros([2, 7, 3], tf.uint8)

    dataset = tf.data.Dataset.from_tensor_slices([jpeg(20, 30), jpeg(21, 30)]).map(wrong)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Incompatible shapes.*Op:AddV2"):
        list(dataset)


@pytest.mark.interpreted
def test_functions_are_served_too(counted):
    function = tf.function(scaled)
    function(tf.constant(jpeg(30, 31)))
    contents = [jpeg(32 + i, 40) for i in range(4)]
    before = counted()
    found = [function(tf.constant(content)) for content in contents]
    after = counted()
    assert function.experimental_get_tracing_count() == 1
    assert after["traces"] == before["traces"] and after["op_by_op"] == before["op_by_op"]
    for i, ((image, shape), content) in enumerate(zip(found, contents, strict=True)):
        np.testing.assert_allclose(image.numpy(), expected(content)[0], atol=1e-6)
        assert shape.numpy().tolist() == [32 + i, 40, 3]


def test_a_tape_sees_what_is_done_for_new_sizes():
    scale = tf.Variable(2.0)

    @tf.function
    def total(content):
        image = tf.cast(tf.io.decode_jpeg(content, channels=3), tf.float32)
        return tf.reduce_sum(tf.image.resize(image * scale, [4, 4]))

    for size in SIZES[:3]:
        content = tf.constant(jpeg(*size))
        with tf.GradientTape() as tape:
            loss = total(content)
        np.testing.assert_allclose(tape.gradient(loss, scale) * scale, loss, rtol=1e-5)


def test_what_an_op_checks_is_checked_for_each_size():
    def cut(content):
        image = tf.io.decode_jpeg(content, channels=3)
        return tf.image.random_crop(image, [24, 24, 3], seed=1)

    iterator = iter(tf.data.Dataset.from_tensor_slices([jpeg(30, 24), jpeg(20, 30)]).map(cut))
    assert next(iterator).shape == [24, 24, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Need value\.shape >= size"):
        next(iterator)
