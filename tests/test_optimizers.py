"""Optimizers: equal to Keras's goldens step by step; state, rates, errors; and what they record."""

import copy
import json
import logging
import pathlib
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tape_compat as tf
from tape_compat._src.core.state import LOCAL
from tape_compat._src.run import executor

GOLDENS = json.loads((pathlib.Path(__file__).parent / "goldens/optimizers.json").read_text())
METHODS = tuple("SGD Adam RMSprop Adagrad AdamW Adamax Nadam Lamb Lion Adadelta Ftrl".split())
TOLERANCES = {"float32": 2e-6, "float64": 1e-12}


def row_name(row):
    settings = "-".join(f"{k}={v}" for k, v in row["settings"].items())
    return "-".join(filter(None, (row["method"], settings, row["dtype"], "rows" * row["rows"])))


# -- against Keras -------------------------------------------------------------------------------


def steps_of(row):
    optimizer = getattr(tf.optimizers, row["method"])(**row["settings"])
    variable = tf.Variable(np.array(GOLDENS["initial"], row["dtype"]))
    for values in GOLDENS["gradients"]:
        given = tf.constant(np.array(values, row["dtype"]))
        if row["rows"]:
            given = tf.IndexedSlices(given, tf.constant(GOLDENS["indices"]), tf.constant([3, 2]))
        optimizer.apply_gradients([(given, variable)])
    return optimizer, variable


@pytest.mark.part
@pytest.mark.parametrize("row", GOLDENS["steps"], ids=row_name)
def test_twenty_steps(row):
    optimizer, variable = steps_of(row)
    tolerance = TOLERANCES[row["dtype"]]
    np.testing.assert_allclose(variable.numpy(), row["value"], tolerance, tolerance)
    slots = {v.name.split("_0_")[1][:-2]: v for v in optimizer.variables if "_0_" in v.name}
    assert slots.keys() == row["slots"].keys()
    for name, slot in slots.items():
        assert slot.dtype is variable.dtype and not slot.trainable
        np.testing.assert_allclose(slot.numpy(), row["slots"][name], tolerance, tolerance)
    assert int(optimizer.iterations) == len(GOLDENS["gradients"])


def test_the_goldens_tell_settings_apart():
    """Rows of a method differ by far more than the tolerance, so each setting is seen to act."""
    for method in METHODS:
        for sparse in (False, True):
            values = [
                np.array(row["value"])
                for row in GOLDENS["steps"]
                if (row["method"], row["dtype"], row["rows"]) == (method, "float32", sparse)
            ]
            for i, a in enumerate(values):
                for b in values[:i]:
                    assert np.abs(a - b).max() > 100 * TOLERANCES["float32"]


@pytest.mark.parametrize(
    "row", GOLDENS["schedules"], ids=lambda r: f"{r['name']}-{r['arguments']}-{r['options']}"
)
def test_schedule(row):
    schedule = getattr(tf.optimizers.schedules, row["name"])(*row["arguments"], **row["options"])
    steps = range(len(row["values"]))
    one_by_one = [float(schedule(step)) for step in steps]
    np.testing.assert_allclose(one_by_one, row["values"], 2e-6, 1e-9)
    np.testing.assert_array_equal(schedule(tf.range(12)).numpy(), np.float32(one_by_one))
    assert schedule(tf.Variable(3, dtype=tf.int64)).numpy() == np.float32(one_by_one[3])
    again = type(schedule).from_config(schedule.get_config())
    assert [float(again(step)) for step in steps] == one_by_one


def test_schedules_refuse():
    schedules = tf.optimizers.schedules
    for name in ("ExponentialDecay", "InverseTimeDecay"):
        with pytest.raises(ValueError, match="Argument `decay_steps` must be > 0"):
            getattr(schedules, name)(0.1, 0, 0.5)
    for name in ("PolynomialDecay", "CosineDecay"):
        with pytest.raises(ValueError, match="Argument `decay_steps` must be > 0"):
            getattr(schedules, name)(0.1, 0)
    with pytest.raises(ValueError, match="The length of boundaries should be 1 less"):
        schedules.PiecewiseConstantDecay([1, 2], [0.1, 0.2])
    with pytest.raises(NotImplementedError, match="must override `__call__"):
        schedules.LearningRateSchedule()(0)
    with pytest.raises(NotImplementedError, match="must override `get_config"):
        schedules.LearningRateSchedule().get_config()
    with pytest.raises(ValueError, match="Unknown learning rate schedule: 'Mine'"):
        schedules.deserialize({"class_name": "Mine", "config": {}})


# -- what is recorded and compiled ---------------------------------------------------------------


def make_loop(optimizer):
    w = tf.Variable(np.full((3, 2), 0.5, np.float32))
    b = tf.Variable(np.zeros(2, np.float32))
    x = tf.constant(np.arange(12, dtype=np.float32).reshape(4, 3) / 12)

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x, w) + b)))
        optimizer.apply_gradients(zip(tape.gradient(loss, [w, b]), [w, b]))
        return loss.numpy()

    return step


@pytest.mark.usefixtures("deferred")
@pytest.mark.parametrize("method", METHODS)
def test_a_loop_with_a_changing_rate_compiles_once(method, counted):
    executor.forget_histories()  # as if no other method had run from this line
    schedule = tf.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)
    step = make_loop(getattr(tf.optimizers, method)(schedule))
    losses = [step() for _ in range(10)]
    assert losses[-1] < losses[0]
    assert counted()["compiles"] == 1
    assert counted()["op_compiles"] == 0
    assert counted()["dispatches"] == 10


@pytest.mark.usefixtures("deferred")
def test_assigning_the_rate_does_not_compile(counted):
    optimizer = tf.optimizers.SGD(0.5, momentum=0.9)
    step = make_loop(optimizer)
    step()
    before = counted()["compiles"]
    optimizer.learning_rate = 0.25
    step()
    optimizer.learning_rate.assign(optimizer.learning_rate * 0.5)
    step()
    optimizer.learning_rate = lambda: 0.01
    optimizer.iterations.assign(100)
    step()
    assert counted()["compiles"] == before
    assert float(optimizer.learning_rate) == 0.01


@pytest.mark.usefixtures("deferred")
def test_each_update_is_one_instruction():
    optimizer = tf.optimizers.Adam(0.1, clipnorm=1.0, weight_decay=0.1)
    pair = [tf.Variable([1.0, 2.0]), tf.Variable([[3.0]])]
    with tf.GradientTape(persistent=True) as tape:
        loss = tf.reduce_sum(pair[0]) * tf.reduce_sum(pair[1])
    gradients = tape.gradient(loss, pair)
    before = tf.counters.pending
    optimizer.apply(gradients, pair)
    assert tf.counters.pending == before + 2


def test_tapes_do_not_see_the_step():
    v = tf.Variable([1.0, 2.0])
    optimizer = tf.optimizers.SGD(0.5, momentum=0.9, global_clipnorm=10.0)
    with tf.GradientTape(persistent=True) as tape:
        before = v * v
        optimizer.apply_gradients([(tape.gradient(before, v), v)])
        after = v * v
    assert tape.gradient(before, v).numpy().tolist() == [2.0, 4.0]
    np.testing.assert_allclose(tape.gradient(after, v).numpy(), 2 * v.numpy())
    assert [w.name for w in tape.watched_variables()] == [v.name]


def table_sized(method, settings):
    """Primitives of a rows update on a table [1000, 4] whose results have the table's size."""
    optimizer = getattr(tf.optimizers, method)(0.1, **settings)
    numbers = optimizer._numbers()
    closure = optimizer._updates.rows.bind(numbers=tuple(numbers), **optimizer._settings())

    def primitives(jaxpr):
        for equation in jaxpr.eqns:
            inner = [p for p in equation.params.values() if hasattr(p, "eqns")]
            inner += [p.jaxpr for p in equation.params.values() if hasattr(p, "jaxpr")]
            for sub in inner if not equation.primitive.name.startswith("scatter") else ():
                yield from primitives(sub)
            if not inner or equation.primitive.name.startswith("scatter"):
                yield equation.primitive.name, max(v.aval.size for v in equation.outvars)

    with jax.enable_x64(True):
        table, rows, indices = jnp.zeros((1000, 4)), jnp.zeros((3, 4)), jnp.zeros(3, jnp.int32)
        scalars = [jnp.float32(0.1)]
        scalars += [jnp.array(list(numbers.values()))] if numbers else []
        scalars += [jnp.int64(1) for _ in optimizer._scalars(1)]
        slots = [table] * len(optimizer._slot_values())
        traced = jax.make_jaxpr(closure.fn)(table, rows, indices, *scalars, *slots)
        found = list(primitives(traced.jaxpr))
    return {name for name, size in found if size >= 4000}


@pytest.mark.parametrize("method", ["SGD", "Adagrad"])
def test_rows_cost_what_the_batch_costs(method):
    assert table_sized(method, {}) == {"scatter-add"}


def test_the_count_of_table_sized_work_sees_dense_updates():
    assert {"mul", "scatter-add"} < table_sized("SGD", {"momentum": 0.9})
    assert {"sqrt", "scatter-add"} < table_sized("Adam", {})


# -- rates and counts ----------------------------------------------------------------------------


def test_learning_rate_reads_and_assigns():
    optimizer = tf.optimizers.SGD(0.5)
    assert isinstance(optimizer.learning_rate, tf.Variable)
    assert optimizer.learning_rate.dtype is tf.float32 and not optimizer.learning_rate.trainable
    v = tf.Variable([8.0])
    one = [(tf.constant([1.0]), v)]
    optimizer.apply_gradients(one)
    optimizer.learning_rate = 0.25
    optimizer.apply_gradients(one)
    optimizer.learning_rate.assign(0.125)
    optimizer.apply_gradients(one)
    optimizer.learning_rate.assign_sub(0.0625)
    optimizer.apply_gradients(one)
    assert v.numpy().tolist() == [8.0 - 0.5 - 0.25 - 0.125 - 0.0625]


def test_a_schedule_replaces_a_rate_but_a_rate_no_schedule():
    schedule = tf.optimizers.schedules.PiecewiseConstantDecay([0, 1], [4.0, 2.0, 1.0])
    optimizer = tf.optimizers.SGD(0.5)
    assert len(optimizer.variables) == 2
    optimizer.learning_rate = schedule
    assert len(optimizer.variables) == 1
    v = tf.Variable([8.0])
    rates = []
    for _ in range(3):
        rates.append(float(optimizer.learning_rate))
        optimizer.apply_gradients([(tf.constant([1.0]), v)])
    assert rates == [4.0, 2.0, 1.0]
    assert v.numpy().tolist() == [1.0]
    with pytest.raises(TypeError, match="created with a `LearningRateSchedule` object"):
        optimizer.learning_rate = 0.5


def test_a_function_as_the_rate():
    rates = iter([0.5, tf.constant(0.25), np.float64(0.125), 1])
    optimizer = tf.optimizers.SGD(lambda: next(rates))
    v = tf.Variable([2.0])
    for expected in (1.5, 1.25, 1.125, 0.125):
        optimizer.apply_gradients([(tf.constant([1.0]), v)])
        assert v.numpy().tolist() == [expected]
    optimizer.learning_rate = 0.5
    assert isinstance(optimizer.learning_rate, tf.Variable)


def test_a_schedule_written_with_ops_works_inside_a_tape():
    class Inverse(tf.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            return 1.0 / (tf.cast(step, tf.float32) + 1.0)

    optimizer = tf.optimizers.SGD(Inverse())
    v = tf.Variable([4.0])
    for _ in range(2):
        with tf.GradientTape() as tape:
            tape.watch(v)
            optimizer.apply_gradients([(tf.constant([1.0]), v)])
    assert v.numpy().tolist() == [2.5]


def test_assigned_iterations_count():
    """Adam's first step is the rate times the sign; later ones, with empty slots, are not."""

    def after(start):
        optimizer = tf.optimizers.Adam(0.5)
        optimizer.iterations.assign(start)
        v = tf.Variable([1.0])
        optimizer.apply_gradients([(tf.constant([3.0]), v)])
        assert int(optimizer.iterations) == start + 1
        return v.numpy()[0]

    assert after(0) == pytest.approx(0.5, abs=1e-5)
    alpha = 0.5 * np.sqrt(1 - 0.999**10) / (1 - 0.9**10)
    assert after(9) == pytest.approx(1 - alpha * 0.3 / np.sqrt(9e-3), rel=1e-4)


def test_a_rate_that_is_no_scalar_is_refused():
    optimizer = tf.optimizers.SGD(lambda: tf.constant([0.1]))
    with pytest.raises(ValueError, match="The learning rate must be a scalar"):
        optimizer.apply_gradients([(tf.constant([1.0]), tf.Variable([1.0]))])


# -- which variables -----------------------------------------------------------------------------


def test_none_is_skipped_with_one_warning(caplog):
    v, w = tf.Variable([1.0], name="v"), tf.Variable([1.0], name="w")
    with caplog.at_level(logging.WARNING, "tape_compat"):
        for _ in range(2):
            first = tf.optimizers.SGD(0.5)
            for _ in range(3):
                first.apply_gradients([(tf.constant([1.0]), v), (None, w)])
    messages = [r.getMessage() for r in caplog.records]
    assert len(messages) == 2  # one for each optimizer
    for message in messages:
        assert message.startswith("Gradients do not exist for variables ['w:0'] at test_optim")
    assert v.numpy().tolist() == [-2.0] and w.numpy().tolist() == [1.0]


def test_all_none_is_refused_and_changes_nothing():
    optimizer = tf.optimizers.Adam(0.5)
    v = tf.Variable([1.0])
    for pairs in ([(None, v)], []):
        with pytest.raises(ValueError, match=r"^No gradients provided for any variable\."):
            optimizer.apply_gradients(pairs)
    assert int(optimizer.iterations) == 0 and len(optimizer.variables) == 2


def test_slots_are_made_when_first_needed_and_steps_take_any_subset():
    optimizer = tf.optimizers.SGD(1.0, momentum=0.5)
    v, w = tf.Variable([1.0], name="v"), tf.Variable([1.0], name="w")
    one = tf.constant([1.0])
    optimizer.build([v, w])
    assert len(optimizer.variables) == 2
    optimizer.apply_gradients([(one, w)])
    assert [s.name for s in optimizer.variables[2:]] == ["sgd/w_0_momentum:0"]
    optimizer.apply_gradients([(one, v)])
    optimizer.apply_gradients([(one, v), (one, w)])
    optimizer.apply([one, one])
    assert v.numpy().tolist() == w.numpy().tolist() == [1 - 1 - 1.5 - 1.75]
    assert int(optimizer.iterations) == 4


def test_an_unknown_variable_is_refused_until_built():
    optimizer = tf.optimizers.SGD(1.0)
    v, w = tf.Variable([1.0]), tf.Variable([1.0], name="later")
    one = tf.constant([1.0])
    optimizer.apply_gradients([(one, v)])
    with pytest.raises(ValueError, match=r"^Unknown variable: <tf.Variable 'later:0'"):
        optimizer.apply_gradients([(one, v), (one, w)])
    assert v.numpy().tolist() == [0.0]  # refused before anything changed
    optimizer.build([w])
    optimizer.apply_gradients([(one, w)])
    assert w.numpy().tolist() == [0.0]
    with pytest.raises(TypeError, match="An optimizer updates Variables"):
        optimizer.apply_gradients([(one, one)])


def test_apply_without_variables_needs_them_known():
    optimizer = tf.optimizers.SGD(1.0)
    assert optimizer.apply([]) is None
    with pytest.raises(ValueError, match="the optimizer must already be built"):
        optimizer.apply([tf.constant([1.0])])
    optimizer.build([tf.Variable([1.0])])
    with pytest.raises(ValueError, match="Received 2 gradients for 1 variables"):
        optimizer.apply([tf.constant([1.0])] * 2)


def test_one_variable_twice_takes_two_updates():
    optimizer = tf.optimizers.SGD(1.0, momentum=0.5)
    v = tf.Variable([1.0])
    one = tf.constant([1.0])
    assert optimizer.apply_gradients([(one, v), (one, v)]) is optimizer.iterations
    assert v.numpy().tolist() == [1 - 1 - 1.5]
    assert int(optimizer.iterations) == 1


def test_steps_are_planned_once_for_the_same_variables_and_settings(monkeypatch):
    optimizer = tf.optimizers.SGD(1.0, momentum=0.5)
    plans = []
    make = type(optimizer)._make_plan
    monkeypatch.setattr(
        type(optimizer), "_make_plan", lambda *args: plans.append(None) or make(*args)
    )
    v, w = tf.Variable([1.0]), tf.Variable([[1.0]])
    one, rows = tf.constant([1.0]), tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]))
    for _ in range(3):
        optimizer.apply_gradients([(one, v), (rows, w)])
    optimizer.learning_rate = 0.5
    optimizer.apply([one, rows], [v, w])
    assert len(plans) == 1
    optimizer.apply([one, tf.constant([[1.0]])], [v, w])
    optimizer.apply([tf.constant([[1.0]]), one], [w, v])
    assert len(plans) == 3


def changed(optimizer, **settings):
    for name, value in settings.items():
        setattr(optimizer, name, value)


CHANGES = {
    "momentum": lambda optimizer, v: changed(optimizer, momentum=0.0),
    "clip": lambda optimizer, v: changed(optimizer, clipvalue=0.5),
    "clip together": lambda optimizer, v: changed(optimizer, global_clipnorm=0.5),
    "decay": lambda optimizer, v: changed(optimizer, weight_decay=0.5),
    "excluded": lambda optimizer, v: optimizer.exclude_from_weight_decay([v]),
    "copied": lambda optimizer, v: copy.deepcopy((optimizer, v)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_setting_that_changes_is_seen_by_the_next_step(change):
    decay = 0.25 if change == "excluded" else None
    optimizer = tf.optimizers.SGD(1.0, momentum=0.5, nesterov=True, weight_decay=decay)
    v = tf.Variable([2.0])
    one = tf.constant([1.0])
    optimizer.apply([one], [v])
    before, velocity = v.numpy()[0], optimizer.variables[2].numpy()[0]
    optimizer, v = CHANGES[change](optimizer, v) or (optimizer, v)
    optimizer.apply([one], [v])
    momentum = optimizer.momentum
    gradient = 0.5 if change.startswith("clip") else 1.0
    start = before * 0.5 if change == "decay" else before
    velocity = momentum * velocity - gradient
    assert v.numpy()[0] == start + (momentum * velocity - gradient)


def test_a_decay_that_is_a_variable_is_read_at_each_step():
    decay = tf.Variable(0.5)
    optimizer = tf.optimizers.SGD(1.0, weight_decay=decay)
    v = tf.Variable([2.0])
    optimizer.apply([tf.constant([0.0])], [v])
    decay.assign(0.25)
    optimizer.apply([tf.constant([0.0])], [v])
    assert v.numpy()[0] == 2.0 * 0.5 * 0.75


# -- gradients -----------------------------------------------------------------------------------


@pytest.mark.parametrize("gradient", [[1.0, 2.0], np.array([1, 2]), tf.constant([1.0, 2.0])])
def test_gradients_are_anything_convertible(gradient):
    v = tf.Variable([1.0, 1.0])
    tf.optimizers.SGD(0.5).apply([gradient], [v])
    assert v.numpy().tolist() == [0.5, 0.0]


def test_a_gradient_of_another_dtype_is_cast():
    v = tf.Variable([1.0, 1.0], dtype=tf.float64)
    tf.optimizers.Adam(0.5).apply([tf.constant([1.0, 2.0], tf.float16)], [v])
    assert v.dtype is tf.float64
    np.testing.assert_allclose(v.numpy(), [0.5, 0.5], atol=1e-5)


def test_a_gradient_of_another_shape_is_refused():
    optimizer = tf.optimizers.SGD(0.5)
    v = tf.Variable([[1.0, 2.0]])
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match=r"Cannot update variable with shape \[1, 2\] using a Tensor with shape \[2\]",
    ):
        with tf.GradientTape():
            optimizer.apply([tf.constant([1.0, 2.0])], [v])
    slices = tf.IndexedSlices(tf.constant([1.0, 2.0]), tf.constant([0, 0]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"shape \[1, 2\]"):
        optimizer.apply([slices], [v])
    assert int(optimizer.iterations) == 0 and LOCAL.state.recorders == ()
    optimizer.apply([tf.constant([[1.0, 2.0]])], [v])  # still usable
    assert v.numpy().tolist() == [[0.5, 1.0]]


@pytest.mark.parametrize("method", METHODS)
def test_a_row_that_is_not_there_is_refused(method):
    v = tf.Variable([[1.0], [2.0]])
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([2]), tf.constant([2, 1]))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"indices\[0\] = 2 is not in \[0, 2\)"
    ):
        getattr(tf.optimizers, method)(0.5).apply([slices], [v])
    assert v.numpy().tolist() == [[1.0], [2.0]]


def test_rows_from_a_tape_change_only_their_rows():
    table = tf.Variable(np.ones((5, 2), np.float32))
    optimizer = tf.optimizers.SGD(0.5)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(table, [1, 3, 1]))
    gradient = tape.gradient(loss, table)
    assert isinstance(gradient, tf.IndexedSlices)
    optimizer.apply_gradients([(gradient, table)])
    assert table.numpy()[:, 0].tolist() == [1.0, 0.0, 1.0, 0.5, 1.0]


def test_global_clipping_takes_all_gradients_together():
    optimizer = tf.optimizers.SGD(1.0, global_clipnorm=1.0)
    v, table = tf.Variable([0.0]), tf.Variable([[0.0], [0.0]])
    rows = tf.IndexedSlices(tf.constant([[2.0], [2.0]]), tf.constant([1, 1]))
    optimizer.apply([tf.constant([1.0]), rows], [v, table])  # norm 3: rows count one by one
    np.testing.assert_allclose(v.numpy(), [-1 / 3], rtol=1e-6)
    np.testing.assert_allclose(table.numpy(), [[0.0], [-4 / 3]], rtol=1e-6)


# -- minimize ------------------------------------------------------------------------------------


def test_minimize_a_function():
    v, w = tf.Variable([3.0], trainable=False), tf.Variable([2.0])
    optimizer = tf.optimizers.SGD(0.25)
    assert optimizer.minimize(lambda: v * v * w, [v, w]) is optimizer.iterations
    assert v.numpy().tolist() == [3 - 0.25 * 12] and w.numpy().tolist() == [2 - 0.25 * 9]
    optimizer.minimize(lambda: w * w, lambda: [w])
    assert w.numpy().tolist() == [-0.25 + 0.25 * 0.5]


def test_minimize_a_tensor_takes_its_tape():
    v = tf.Variable([3.0])
    optimizer = tf.optimizers.SGD(0.5)
    with tf.GradientTape() as tape:
        loss = v * v
    with pytest.raises(ValueError, match="`tape` is required when a `Tensor` loss is passed"):
        optimizer.minimize(loss, [v])
    optimizer.minimize(loss, v, tape=tape)
    assert v.numpy().tolist() == [0.0]


# -- arguments, configuration, copies ------------------------------------------------------------


def test_arguments_are_checked():
    sgd = tf.optimizers.SGD
    with pytest.raises(ValueError, match="Only one of `clipnorm`, `clipvalue` and `global_clip"):
        sgd(clipnorm=1.0, clipvalue=1.0)
    with pytest.raises(ValueError, match=r"Argument\(s\) not recognized: {'colour': 1}"):
        sgd(colour=1)
    for momentum in (-0.1, 2.0, 0):
        with pytest.raises(ValueError, match="`momentum` must be a float between"):
            sgd(momentum=momentum)
    for rate in (1, None, "0.1"):
        with pytest.raises(ValueError, match="Argument `learning_rate` should be float"):
            sgd(rate)
    for refused in (
        {"use_ema": True},
        {"loss_scale_factor": 2.0},
        {"gradient_accumulation_steps": 2},
    ):
        with pytest.raises(NotImplementedError, match=f"SGD: `{next(iter(refused))}` is not supp"):
            sgd(**refused)
    with pytest.raises(NotImplementedError, match="Optimizer has no update rule"):
        tf.optimizers.Optimizer(0.1)


def test_names():
    names = [getattr(tf.optimizers, method)().name for method in METHODS]
    assert names[:5] == ["sgd", "adam", "rm_sprop", "adagrad", "adam_w"]
    assert names[5:] == ["adamax", "nadam", "lamb", "lion", "adadelta", "ftrl"]
    assert tf.optimizers.SGD(name="mine").iterations.name == "mine/iteration:0"


def test_optimizers_by_name():
    for method in METHODS:
        made = tf.optimizers.get(method.lower())
        assert type(made) is getattr(tf.optimizers, method) and tf.optimizers.get(made) is made
        saved = tf.optimizers.serialize(made)
        assert saved["module"] == "keras.optimizers" and saved["class_name"] == method
        for again in (tf.optimizers.get(saved), tf.optimizers.deserialize(saved)):
            assert type(again) is type(made) and again.get_config() == made.get_config()
    assert tf.optimizers.get(None) is None
    for wrong in ("nope", 3, tf.optimizers.Adam):
        with pytest.raises(ValueError, match="Could not interpret optimizer identifier"):
            tf.optimizers.get(wrong)
    with pytest.raises(ValueError, match="Unknown optimizer: 'Foo'"):
        tf.optimizers.deserialize({"class_name": "Foo", "config": {}})


@pytest.mark.parametrize(
    ("method", "settings", "words"),
    [
        ("AdamW", {"weight_decay": None}, "Argument `weight_decay` must be a float"),
        ("Lion", {"beta_1": 0.0}, "Argument `beta_1` must be in the"),
        ("Ftrl", {"initial_accumulator_value": -1.0}, "`initial_accumulator_value` needs to be"),
        ("Ftrl", {"learning_rate_power": 0.5}, "`learning_rate_power` needs to be negative"),
        ("Ftrl", {"l1_regularization_strength": -1.0}, "`l1_regularization_strength` needs to be"),
    ],
)
def test_numbers_out_of_range(method, settings, words):
    with pytest.raises(ValueError, match=words):
        getattr(tf.optimizers, method)(**settings)


@pytest.mark.parametrize("row", GOLDENS["steps"][::4], ids=row_name)
def test_config_makes_the_same_optimizer(row):
    first = getattr(tf.optimizers, row["method"])(**row["settings"])
    config = first.get_config()
    again = type(first).from_config(json.loads(json.dumps(config)))
    assert again.get_config() == config
    for name, value in row["settings"].items():
        assert config[name] == pytest.approx(value)


def test_config_holds_schedules_but_no_functions():
    class Half(tf.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            return 0.5

        def get_config(self):
            return {}

    decay = tf.optimizers.schedules.CosineDecay(0.1, 5)
    again = tf.optimizers.SGD.from_config(tf.optimizers.SGD(decay).get_config())
    assert float(again.learning_rate) == float(decay(0))
    config = tf.optimizers.SGD(Half()).get_config()
    assert tf.optimizers.SGD.from_config(config, {"Half": Half}).learning_rate == 0.5
    with pytest.raises(ValueError, match="Unknown learning rate schedule: 'Half'"):
        tf.optimizers.SGD.from_config(config)
    with pytest.raises(NotImplementedError, match="the learning rate is the function"):
        tf.optimizers.SGD(lambda: 0.5).get_config()


def test_constraints_hold_after_each_step():
    v = tf.Variable([1.0, 1.0], constraint=lambda x: tf.maximum(x, 0.0))
    tf.optimizers.SGD(1.0).apply([tf.constant([5.0, -1.0])], [v])
    assert v.numpy().tolist() == [0.0, 2.0]


def test_variables_can_be_left_undecayed():
    names = ("kernel", "bias", "other")
    variables = [tf.Variable([1.0], name=name) for name in names]
    optimizer = tf.optimizers.SGD(0.5, weight_decay=0.5)
    optimizer.exclude_from_weight_decay(var_list=variables[2:], var_names=["bias"])
    optimizer.apply([tf.constant([0.0])] * 3, variables)
    assert [v.numpy()[0] for v in variables] == [0.75, 1.0, 1.0]
    copied, kernel, other = copy.deepcopy((optimizer, variables[0], variables[2]))
    copied.apply([tf.constant([0.0])] * 2, [kernel, other])
    assert (kernel.numpy()[0], other.numpy()[0]) == (0.75 * 0.75, 1.0)


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["copy", "pickle"]
)
def test_a_copy_goes_on_from_the_same_state(duplicate):
    v = tf.Variable([1.0, 2.0])
    optimizer = tf.optimizers.Adam(0.1)
    for value in (1.0, -0.5):
        optimizer.apply([tf.constant([value, 1.0])], [v])
    other, w = duplicate((optimizer, v))
    last = tf.constant([0.3, 0.1])
    optimizer.apply([last], [v])
    before = w.numpy()
    other.apply([last], [w])
    assert (before != v.numpy()).all()
    np.testing.assert_array_equal(w.numpy(), v.numpy())
    assert int(other.iterations) == int(optimizer.iterations) == 3
