"""A step on several devices: CPUs that JAX makes of one, in processes of their own."""

import json

import pytest

import tape_compat as tf
from tests import processes

FOUR = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4"}

LOOPS = """
import json, os, tempfile
import jax, numpy as np
import tape_compat as tf

rng = np.random.default_rng(0)
x, y = rng.normal(size=(30, 4)).astype("f"), rng.normal(size=(30, 3)).astype("f")
start = rng.normal(size=(4, 3)).astype("f")

def steps(strategy, decorate):
    with strategy.scope():
        w = tf.Variable(start)
        optimizer = tf.optimizers.Adam(0.1)
        names = tf.Variable(["a", "b"])  # which lies on the host
    def step(x, y):
        with tf.GradientTape() as tape:
            made = tf.tanh(tf.matmul(x, w))
            loss = tf.reduce_mean(tf.square(made - y))
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])
        return loss, made
    step = tf.function(step) if decorate else step
    batches = tf.data.Dataset.from_tensor_slices((x, y)).batch(8).repeat(6)
    losses, spread = [], set()
    for batch in strategy.experimental_distribute_dataset(batches):
        loss, made = strategy.run(step, args=batch)
        losses.append(float(strategy.reduce("SUM", loss, axis=None)))
        spread.add((made.shape[0], len({str(s.index) for s in made._value().addressable_shards})))
    w.assign(w.numpy())  # which lies nowhere in particular
    strategy.run(step, args=batch)
    return losses + w.numpy().ravel().tolist(), sorted(spread)

one = tf.distribute.get_strategy()
found = {}
expected, _ = steps(one, True)
for name, devices, decorate in (("four", None, True), ("two", ["CPU:1", "CPU:3"], False)):
    got, spread = steps(tf.distribute.MirroredStrategy(devices), decorate)
    found[name] = [float(np.max(np.abs(np.array(got) - expected))), spread]

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    v = tf.Variable(tf.ones([3]))
    saved = tf.train.Checkpoint(v=v).save(os.path.join(tempfile.mkdtemp(), "c"))
    v.assign_add([1.0, 1.0, 1.0])
    tf.train.Checkpoint(v=v).restore(saved)
    mixed = tf.data.Dataset.from_tensors({"n": tf.range(8), "t": ["x"] * 8, "s": 1.0})
    element, = strategy.distribute_datasets_from_function(lambda context: mixed)
found["restored"] = v.numpy().tolist()
found["element"] = [
    sorted(element), element["t"].numpy()[0].decode(),
    len({str(s.index) for s in element["n"]._value().addressable_shards}),
]
from tape_compat._src.library import tpus

tpus.tpus = lambda: jax.devices()[2:]
resolver = tf.distribute.cluster_resolver.TPUClusterResolver("local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
got, spread = steps(tf.distribute.TPUStrategy(resolver), True)
found["tpus"] = [float(np.max(np.abs(np.array(got) - expected))), spread]
try:
    strategy.experimental_distribute_dataset([1.0])
except TypeError as error:
    found["refused"] = str(error)
print(json.dumps(found))
"""

FIT = """
import json
import numpy as np
import tape_compat as tf

keras, rng = tf.keras, np.random.default_rng(0)
x, y = rng.normal(size=(36, 3, 2)).astype("f"), rng.integers(0, 3, 36)

def history():
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [
            keras.layers.Flatten(),
            keras.layers.BatchNormalization(),
            keras.layers.Dense(3),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"])
    found = model.fit(x, y, batch_size=8, epochs=2, shuffle=False, verbose=0)
    return [*found.history["loss"], float(np.abs(model.predict(x, verbose=0)).sum())]

expected = history()
with tf.distribute.MirroredStrategy().scope():
    got = history()
print(json.dumps([expected, got]))
"""


def test_loops():
    found = json.loads(processes.run("-c", LOOPS, **FOUR).stdout)
    for name, devices in (("four", 4), ("two", 2), ("tpus", 2)):
        error, spread = found[name]
        assert error < 1e-5
        # a batch of eight rows is divided, and the last one of six where it can be
        assert spread == [[6, 2 if devices == 2 else 1], [8, devices]]
    assert found["restored"] == [1.0, 1.0, 1.0]
    assert found["element"] == [["n", "s", "t"], "x", 4]
    assert "must be a `Dataset`" in found["refused"]


def test_fit():
    expected, got = json.loads(processes.run("-c", FIT, after="keras", **FOUR).stdout)
    assert got == pytest.approx(expected, rel=1e-5)


def test_devices():
    with pytest.raises(AssertionError, match="No duplicates allowed"):
        tf.distribute.MirroredStrategy(["CPU:0", "CPU:0"])
    with pytest.raises(ValueError, match="Unknown attribute 'XPU'"):
        tf.distribute.MirroredStrategy(["XPU:0"])
    # devices that are not there: the one that there is
    strategy = tf.distribute.MirroredStrategy(["GPU:0", "GPU:1"])
    with strategy.scope():
        v = tf.Variable(2.0)
    assert float(strategy.run(lambda: v * 2.0)) == 4.0
    assert strategy.num_replicas_in_sync == 1


def test_tpus_that_there_are_not(monkeypatch):
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver
    with pytest.raises(ValueError, match="Please provide a TPU Name"):
        resolver()
    with pytest.raises(NotImplementedError, match="JAX finds 0 TPUs on this one"):
        resolver("local")
    monkeypatch.setenv("TPU_NAME", "grpc://there:8470")
    with pytest.raises(NotImplementedError, match="several machines"):
        resolver.connect()
    for call in (tf.distribute.TPUStrategy, tf.tpu.experimental.initialize_tpu_system):
        with pytest.raises(tf.errors.NotFoundError, match="TPUs not found in the cluster"):
            call()
    with pytest.raises(NotImplementedError, match="device_assignment"):
        tf.distribute.TPUStrategy(None, "cores")
    cluster = tf.train.ClusterSpec({"worker": ["a:1", "b:2"]})
    with pytest.raises(NotImplementedError, match="several machines"):
        tf.config.experimental_connect_to_cluster(cluster)
    with pytest.raises(ValueError, match="cluster_spec_or_resolver"):
        tf.config.experimental_connect_to_cluster(None)
