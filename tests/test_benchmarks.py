"""The benchmarks measure what they say: same losses, sound tables, targets that exist."""

import doctest
import math
import re

import numpy as np
import pytest

import tape_compat as tf
from benchmarks import __main__ as benchmarks, before, chart, clients, report, targets, worker
from benchmarks.workloads import (
    WORKLOADS,
    around,
    base,
    derivatives,
    embeddings,
    growth,
    images,
    networks,
    recurrent,
)

NAMES = [workload.name for workload in WORKLOADS]

#: Small brothers of the workloads: data, source for `tf`, source for JAX.
SMALL = {
    "mlp": (lambda: networks.mlp_data((5, 8, 3), 4), networks.mlp_tf, networks.mlp_jax),
    "batches": (
        lambda: networks.sliced_data((5, 8, 3)),
        networks.sliced_tf,
        networks.sliced_jax,
    ),
    "adam": (lambda: networks.mlp_data((5, 8, 3), 4), around.adam_tf, around.adam_jax),
    "unstacked": (lambda: around.unstacked_data(5), around.unstacked_tf, around.unstacked_jax),
    "conv_net": (
        lambda: images.conv_net_data(2, 6, (3, 4)),
        images.conv_net_tf,
        images.conv_net_jax,
    ),
    "resnet": (lambda: images.resnet_data(4, 6, (3, 4)), images.resnet_tf, images.resnet_jax),
    "unet": (lambda: images.unet_data(2, 8, 3), images.unet_tf, images.unet_jax),
    "chain": (lambda: growth.chain_data(20), growth.chain_tf, growth.chain_jax),
    "variables": (lambda: growth.variables_data(5), growth.variables_tf, growth.variables_jax),
    "embedding": (lambda: growth.embedding_data(50), growth.embedding_tf, growth.embedding_jax),
    "skip_gram": (
        lambda: embeddings.skip_gram_data(9, 4, 6),
        embeddings.skip_gram_tf,
        embeddings.skip_gram_jax,
    ),
    "texts": (
        lambda: embeddings.texts_data(9, 4, 3, 5),
        embeddings.texts_tf,
        embeddings.texts_jax,
    ),
    "gru": (lambda: recurrent.gru_data(steps=2), recurrent.gru_tf, recurrent.gru_jax),
    "hessian": (
        lambda: derivatives.hessian_data(features=4, batch=8),
        derivatives.hessian_tf,
        derivatives.hessian_jax,
    ),
    "batch_jacobian": (
        lambda: derivatives.batch_jacobian_data(batch=3, inputs=4, codes=2),
        derivatives.batch_jacobian_tf,
        derivatives.batch_jacobian_jax,
    ),
    "batch_jacobian_deep": (
        lambda: derivatives.smooth_data((3, 4, 4, 2), 5),
        derivatives.smooth_tf,
        derivatives.smooth_jax,
    ),
}


def losses(built, steps=2):
    step, batches = built
    return [float(step(*batches[i % len(batches)])) for i in range(steps)]


@pytest.mark.part
@pytest.mark.parametrize("name", SMALL)
def test_tape_and_jax_give_the_same_losses(name):
    data, with_tape, by_hand = SMALL[name]
    ours, expected = losses(with_tape(tf, data())), losses(by_hand(data()))
    assert benchmarks.same(ours, expected, relative=1e-4)
    assert ours[0] != ours[1]


def test_gans_agree_once_they_draw_the_same_noise(monkeypatch):
    import jax

    noise = np.random.default_rng(1).normal(size=(4, around.NOISE)).astype("float32")
    monkeypatch.setattr(tf.random, "normal", lambda shape: tf.reshape(tf.constant(noise), shape))
    monkeypatch.setattr(jax.random, "normal", lambda key, shape: noise.reshape(shape))
    data = around.gan_data(batch=4)
    ours, expected = losses(around.gan_tf(tf, data), 6), losses(around.gan_jax(data), 6)
    assert benchmarks.same(ours, expected, relative=1e-4)


def test_another_loss_is_noticed():
    assert benchmarks.same([1.0, None], [1.001, None], relative=2e-3)
    assert not benchmarks.same([1.0, 2.0], [1.0, 2.01], relative=2e-3)
    assert not benchmarks.same([1.0], [1.0, 1.0], relative=2e-3)
    assert not benchmarks.same([math.nan], [1.0], relative=2e-3)


def test_names_are_used_once():
    assert len(set(NAMES)) == len(NAMES)


def test_short_run_has_its_workloads_and_the_full_run_all_but_those_for_gpus():
    short = {w.name for w in WORKLOADS if benchmarks.usual(w, short=True)}
    full = {w.name for w in WORKLOADS if benchmarks.usual(w, short=False)}
    assert {"mlp_tiny", "gru", "pinn"} <= short < full
    assert {w.name for w in WORKLOADS if w.extra}.isdisjoint(full)


def test_cast_changes_floats_only():
    data = base.cast(networks.mlp_data((5, 8, 3), 4), "bfloat16")
    x, labels = data["batches"][0]
    assert str(x.dtype) == str(data["weights"][0].dtype) == "bfloat16"
    assert labels.dtype == np.int32


# -- the worker


def test_worker_prepares_and_times():
    step = worker.Worker("tape_compat")
    workload = next(w for w in WORKLOADS if w.name == "square")
    answer = step.prepare(workload)
    assert answer["applies"] and answer["losses"] == [6.0, 6.0]
    timed = step.time(3)
    assert timed["steps"] == 3 and timed["seconds"] > 0 and timed["loss"] == 6.0
    assert timed["compiles"] == timed["counters"]["compiles"] == 0


def test_a_loss_that_is_to_be_read_is_a_number_at_each_step():
    step = worker.Worker("tape_compat")
    step.prepare(next(w for w in WORKLOADS if w.name == "mlp_tiny_read"))
    assert type(step.step(*step.batches[0])) is float
    assert not isinstance(step.built(*step.batches[0]), float)


def test_what_cannot_be_a_function_is_left_out():
    workload = next(w for w in WORKLOADS if w.name == "square")
    assert worker.build("tape_compat_function", tf, workload) is None


def test_our_function_is_measured_once_there_is_one():
    class WithFunction:
        Variable, constant, function = tf.Variable, tf.constant, staticmethod(lambda step: [step])

    workload = next(w for w in WORKLOADS if w.name == "mlp_tiny")
    assert worker.build("tape_compat_function", object(), workload) is None
    wrapped, batches = worker.build("tape_compat_function", WithFunction, workload)
    assert isinstance(wrapped, list) and len(batches) == 8


def test_compiles_of_jax_are_counted():
    import jax

    compiles = worker.Compiles("jax")
    before = compiles.count(None)
    jax.block_until_ready(jax.jit(lambda x: x * 1.2345 + 6.789)(np.float32(1.0)))
    assert worker.subtract(compiles.count(None), before) == 1


# -- the rounds


FIRST = ("first_seconds", "first_megabytes", "counters", "verify_seconds", "compiles")


class Scripted:
    """Stands for a worker: notes in a list shared by all when it is asked to time."""

    def __init__(self, name, seconds, order):
        self.name, self.seconds, self.order = name, seconds, order

    def ask(self, do, **request):
        if do == "prepare":
            told = dict.fromkeys(FIRST, 0)
            return {"applies": True, "losses": [1.0], **told}
        self.order.append(self.name)
        figures = ("counters", "compiles", "peak_megabytes", "round_megabytes", "device_megabytes")
        seconds = self.seconds * request["steps"]
        return {"seconds": seconds, "steps": request["steps"], **dict.fromkeys(figures, 0)}


def test_rounds_go_forth_and_back_and_as_often_as_the_workload_asks():
    order = []
    seconds = {"tf_eager": 4.0, "tape_compat": 2.0, "jax": 1.0}
    clients = {name: Scripted(name, s, order) for name, s in seconds.items()}
    wide = next(w for w in WORKLOADS if w.name == "mlp_wide")
    found = benchmarks.measure(wide, clients, short=True, rounds=2)["runners"]
    calibrating, rounds = order[:3], order[3:]
    assert sorted(calibrating) == sorted(clients)
    forth = rounds[:3]
    assert wide.rounds == 3 and rounds == (forth + forth[::-1]) * 3
    assert found["tape_compat"]["faster_than"] == {"jax": 0.5, "tf_eager": 2.0}


# -- two checkouts


def compared(ratios):
    return before.Compared("mlp_tiny", ratios, after=[2e-3], before=[1e-3])


def test_verdict_needs_more_than_the_noise():
    assert compared([0.99, 1.0, 1.01, 1.0]).verdict == ""
    assert compared([1.09, 1.1, 1.11, 1.1]).verdict == "**slower**"
    assert compared([0.9, 1.0, 1.1, 1.0]).verdict == "not told"
    assert compared([0.7, 0.8, 1.0, 0.9]).verdict == "not told"  # a low ratio, but by chance
    line = compared([0.99, 1.0, 1.01, 1.0]).line()
    figures = ["1.00 ms", "2.00 ms", "1.000 ± 0.008", "0.990 to 1.010", "4"]
    assert line == ["`mlp_tiny`", *figures, ""]


@pytest.mark.parametrize("ratios, starts", [([1.0, 1.001] * 5, 4), ([0.9, 1.1] * 5, 10)])
def test_starts_go_on_until_it_is_told(monkeypatch, ratios, starts):
    def start(workload, other, turn, rounds, found):
        found.ratios.append(ratios[turn])

    monkeypatch.setattr(before, "start", start)
    assert len(before.compare(WORKLOADS[0], clients.ROOT, 1).ratios) == starts


def test_two_checkouts_are_compared_in_processes_of_their_own():
    square = next(w for w in WORKLOADS if w.name == "square")
    found = before.Compared("square")
    before.start(square, clients.ROOT, 0, 2, found)
    assert len(found.ratios) == 1 and len(found.after) == len(found.before) == 2


def test_a_checkout_without_the_library_is_refused(tmp_path):
    client = clients.Client("tape_compat", tmp_path)
    try:
        with pytest.raises(RuntimeError, match=re.escape(f"is not of {tmp_path.resolve()}")):
            client.require()
    finally:
        client.close()


# -- growth and targets


def test_doctests_of_the_targets():
    assert doctest.testmod(targets) == doctest.TestResults(failed=0, attempted=1)


@pytest.mark.parametrize("power", [0.0, 1.0, 1.5])
def test_exponent_of_a_power(power):
    sizes = [500, 2000, 5000]
    assert targets.exponent(sizes, [3e-6 * n**power for n in sizes]) == pytest.approx(power)


@pytest.mark.parametrize("sizes, values", [([5, 5], [1.0, 2.0]), ([1, 2], [1.0, 0.0])])
def test_exponent_refuses_what_does_not_grow(sizes, values):
    with pytest.raises(ValueError, match=re.escape(f"No growth to see: {values} at sizes")):
        targets.exponent(sizes, values)


def test_targets_read_workloads_that_exist():
    read = {name for target in targets.TARGETS for name in target.workloads}
    assert read <= set(NAMES)
    for family, names in targets.GROWING.items():
        assert names == tuple(w.name for w in WORKLOADS if w.family == family)


def result(seconds, **other):
    """What one runner answered, timed against runners that take a given multiple of it."""
    return {
        "seconds": seconds,
        "first_seconds": 10 * seconds,
        "verify_seconds": 12 * seconds,
        "losses": [1.0],
        "verified": True,
        "compiles_first": 1,
        "compiles_round": 0,
        "peak_megabytes": 20.0,
        "round_megabytes": 10.0,
        "steps_per_round": 4,
        "counters_first": {"traces": 1, "compiles": 1, "op_compiles": 0},
        "counters_round": {"compiles": 0, "dispatches": 4},
        **other,
    }


def row(name, seconds, family="", size=0, **faster_than):
    runners = {
        "tape_compat": result(seconds, faster_than=faster_than),
        "jax": result(seconds * faster_than.get("jax", 1.0)),
    }
    shared = {"name": name, "title": f"the {name}", "per": 1}
    return {**shared, "family": family or name, "size": size, "runners": runners}


def verdict(rows, text):
    (found,) = (target for target in targets.judged(rows) if target["text"] == text)
    return found["value"], found["met"]


def test_ratio_to_jax_is_met_or_missed():
    text = "`mlp_tiny`: time ÷ JAX by hand"
    assert verdict([row("mlp_tiny", 1.0, jax=0.5)], text) == (2.0, True)
    assert verdict([row("mlp_tiny", 1.0, jax=0.25)], text) == (4.0, False)
    assert verdict([], text) == (None, None)


def test_slowest_workload_decides_against_tensorflow():
    text = "times faster than TF eager, the slowest of the workloads but `cnn_large`"
    rows = [row("gru", 1.0, tf_eager=5.0), row("pinn", 1.0, tf_eager=0.9)]
    assert verdict(rows, text) == (0.9, False)
    rows = [rows[0], row("cnn_large", 1.0, tf_eager=0.5)]
    assert verdict(rows, text) == (5.0, True)


def test_a_family_counts_only_if_all_of_it_is_faster():
    text = "families of workloads that are faster than `tf.function`"
    rows = [row(f"w{i}", 1.0, tf_function=2.0) for i in range(10)]
    assert verdict(rows[:9], text) == (None, None)
    assert verdict(rows, text) == (10.0, True)
    slow = row("w0_large", 1.0, family="w0", tf_function=0.5)
    assert verdict([*rows, slow], text) == (9.0, False)


def test_growth_and_embedding_targets_read_sizes():
    chain = [row(f"chain_{n}", 1e-6 * n**2, family="chain", size=n) for n in (500, 5000)]
    value, met = verdict(chain, "chain: exponent of time of a step")
    assert value == pytest.approx(2.0) and met is False
    # Timed in turn: the machine was slow in the second round and while 5,000 were timed above.
    chain[0]["runners"]["tape_compat"]["in_turn"] = [1.0, 3.0, 1.0]
    chain[1]["runners"]["tape_compat"]["in_turn"] = [10.0, 30.0, 20.0]
    value, met = verdict(chain, "chain: exponent of time of a step")
    assert value == pytest.approx(1.0) and met is True
    tables = [row(str(n), s, family="embedding", size=n) for n, s in ((10, 1.0), (1000, 1.2))]
    assert verdict(tables, "embedding: slowest ÷ quickest table") == (1.2, True)
    for table, times in zip(tables, ([1.0, 2.0, 1.0], [1.1, 9.0, 1.1]), strict=True):
        table["runners"][targets.OURS]["in_turn"] = times
    assert verdict(tables, "embedding: slowest ÷ quickest table") == (1.1, True)


# -- the report


def test_durations_have_three_digits():
    assert [report.duration(s) for s in (1.234, 0.01234, 1.234e-5, None)] == [
        "1.23 s",
        "12.3 ms",
        "12.3 µs",
        "",
    ]


def full_report():
    rows = [
        row("mlp_tiny", 2e-4, jax=0.5, tf_eager=10.0),
        row("chain_500", 1e-3, family="chain", size=500, jax=0.1),
        row("chain_2000", 4e-3, family="chain", size=2000, jax=0.1),
    ]
    rows[0]["runners"]["torch"] = {"error": "RuntimeError: out of luck"}
    rows[1]["runners"]["jax"]["verified"] = False
    machine = {"cpu": "a CPU", "cores": 2, "system": "Linux", "python": "3.11"}
    fixed = {"machine": machine, "date": "today", "versions": {"jax": "0.10"}}
    return {**fixed, "rows": rows, "targets": targets.judged(rows)}


def test_markdown_says_what_was_found():
    text = report.markdown(full_report())
    tiny = next(line for line in text.splitlines() if line.startswith("| the mlp_tiny"))
    assert tiny == "| the mlp_tiny | failed | 100 µs | 200 µs | 2.00 | 10.0 |  |"
    assert "| the chain_500 |  | 100 µs (other losses) | 1.00 ms | 10.00 |  |  |" in text
    assert "| chain 500, 2000: a step |  | 1.00 (4.0 x) | 1.00 (4.0 x) |" in text
    assert "| the mlp_tiny |  | 1, then 0 | 1, then 0 |" in text
    assert "| the mlp_tiny |  | 20 (10) | 20 (10) |" in text
    assert "| `mlp_tiny`: time ÷ JAX by hand | ≤ 2.2 | 2.00 | met |" in text
    assert f"Targets: 5 of 5 met, {len(targets.TARGETS) - 5} not run." in text


def test_tables_are_rectangular():
    columns = {}
    for block in report.markdown(full_report()).split("\n\n"):
        if block.startswith("|"):
            columns[block] = {line.count(" | ") for line in block.splitlines()}
    assert len(columns) == 7
    assert all(len(counts) == 1 for counts in columns.values())


def test_chart_is_drawn_where_there_is_something_to_compare(tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "chart.svg"
    assert chart.draw(full_report(), path)
    assert path.read_text().count("<svg") == 1
    empty = tmp_path / "empty.svg"
    assert not chart.draw({"rows": []}, empty)
    assert not empty.exists()
