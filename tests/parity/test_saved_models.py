"""SavedModels of TensorFlow read here, and ours read by TensorFlow."""

import importlib
import struct
import zlib

import numpy as np
import pytest

import tape_compat
from tape_compat._src.values import composite as composite_tensor, spec_registry
from tests.oracle import tensorflow
from tests.parity import saved_control, saved_exchange, store
from tests.parity.saved_exchange import assert_near, compare, numbers

ways, exchange = saved_exchange.ways, saved_exchange.exchange
pytestmark = pytest.mark.skipif(
    not store.installed(), reason="tensorflow, the oracle, is not installed (extra `parity`)"
)


def module(tf):
    """An object with variables in all kinds of places, and functions of all kinds."""

    class Inner(tf.Module):
        def __init__(self):
            super().__init__()
            self.scale = tf.Variable([2.0, 3.0], name="scale")

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
        def __call__(self, x):
            return x * self.scale

    class Outer(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
            self.count = tf.Variable(0, trainable=False, dtype=tf.int64)
            self.inner = Inner()
            self.parts = [tf.Variable(1.0), {"a": tf.Variable([True, False])}]
            self.pair = (tf.Variable(5.0), tf.Variable("text"))
            self.free = tf.Variable(tf.zeros([1]), shape=[None])

        @tf.function
        def step(self, x, scale=2.0, *, add=False):
            self.count.assign_add(1)
            y = self.inner(x @ self.w) * scale
            return {"y": y + 1.0 if add else y, "n": self.count.read_value()}

        @tf.function
        def nest(self, pair, named):
            one, (two,) = pair
            return [one + two, (named["b"] - named["a"], None)]

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def grow(self, x):
            self.free.assign(tf.concat([self.free, x], 0))
            return tf.shape(self.free)[0]

        @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float32)])
        def sizes(self, x):
            rows, columns = tf.shape(x)[0], tf.shape(x)[1]
            total = tf.reduce_sum(tf.reshape(x, [rows * columns]))
            return tf.zeros([rows, 2]) + total, tf.range(columns)

        @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
        def loop(self, n):
            total = tf.constant(0.0)
            for i in tf.range(n):
                if i % 2 == 0:
                    total += tf.reduce_sum(self.w)
                else:
                    total -= 1.0
            return total

    return Outer()


def use(tf, m):
    """What the functions give."""
    x = tf.constant([[1.0, -1.0], [0.5, 2.0], [0.0, 1.0]])
    found = [
        m.step(x),
        m.step(x, 2.0, add=True),
        m.step(x, scale=3.0),
        m.nest((x, [x]), {"a": x, "b": 2.0 * x}),
        m.grow(tf.ones([3])),
        m.grow(tf.ones([2])),
        m.sizes(x),
        m.sizes(tf.ones([1, 4])),
        m.loop(tf.constant(5)),
        m.inner(tf.ones([4, 2])),
        m.parts[0].read_value(),
        m.parts[1]["a"].read_value(),
        m.pair[0].read_value(),
        m.pair[1].read_value(),
        m.count.read_value(),
        m.free.read_value(),
    ]
    return list(map(numbers, found))


def test_objects_with_functions(ways, tmp_path):
    writer, reader = ways
    made = module(writer)
    use(writer, made)  # records
    made.count.assign(0)
    made.free.assign([0.0])
    writer.saved_model.save(made, str(tmp_path / "a"))
    loaded = reader.saved_model.load(str(tmp_path / "a"))
    expected = use(writer, made)
    found = use(reader, loaded)
    # A tuple of a SavedModel is a list when it is loaded by TensorFlow, and here.
    assert_near(found, expected)
    assert loaded.w.trainable and not loaded.count.trainable
    assert loaded.free.shape.as_list() == [None]
    assert loaded.w.name == "w:0"


def test_what_was_loaded_is_saved_again(ways, tmp_path):
    writer, reader = ways
    made = module(writer)
    expected = use(writer, made)
    made.count.assign(0)
    made.free.assign([0.0])
    writer.saved_model.save(made, str(tmp_path / "a"))
    loaded = tape_compat.saved_model.load(str(tmp_path / "a"))
    tape_compat.saved_model.save(loaded, str(tmp_path / "b"))
    again = reader.saved_model.load(str(tmp_path / "b"))
    assert_near(use(reader, again), expected)


def with_composites(tf, masked):
    made = tf.Module()
    made.scale = tf.Variable(2.0)
    spec = masked.Spec(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool), 3)

    @tf.function(input_signature=[spec])
    def of_types(m):
        kept = tf.where(m.mask, m.values, 0.0)
        return masked(m.values * made.scale, m.mask), [tf.reduce_sum(kept), m.n]

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)])
    def of_ragged(rows):
        return {"scaled": tf.ragged.map_flat_values(lambda x: x * made.scale, rows), "rows": rows}

    made.of_types, made.of_ragged = of_types, of_ragged
    made.of_any = tf.function(lambda pair: pair[1].values + pair[0])
    made.of_any((tf.constant([1.0, 2.0]), masked([1.0, 2.0], [True, False])))
    return made


def use_composites(tf, made, masked):
    types, (total, n) = made.of_types(masked([1.0, 2.0, 4.0], [True, False, True]))
    ragged = made.of_ragged(tf.ragged.constant([[1.0, 2.0], [], [3.0]]))
    either = made.of_any((tf.constant([3.0, 5.0]), masked([1.0, 2.0], [True, False])))
    assert type(types) is masked
    return [
        numbers([types.values, types.mask, total, either, n]),
        [types.n, {name: part.to_list() for name, part in ragged.items()}],
    ]


def test_composites(ways, tmp_path):
    """Extension types that have a name, and ragged tensors."""
    kinds = {}
    for tf in set(ways):

        class Masked(tf.experimental.ExtensionType):
            __name__ = f"parity.{tmp_path.name}"  # one for each test of a process
            values: tf.Tensor
            mask: tf.Tensor
            n: int = 3

        kinds[tf] = Masked
    writer, reader = ways
    made = with_composites(writer, kinds[writer])
    writer.saved_model.save(made, str(tmp_path / "a"))
    loaded = reader.saved_model.load(str(tmp_path / "a"))
    expected = use_composites(writer, made, kinds[writer])
    assert_near(use_composites(reader, loaded, kinds[reader]), expected)
    with pytest.raises((TypeError, ValueError)):
        loaded.of_types(reader.constant([1.0]))


def scaled(tf, name):
    """A composite as a library makes one: its spec is told by its tensor, and has a name."""
    if tf is tape_compat:
        composite, register = composite_tensor.CompositeTensor, spec_registry.register
    else:
        composite = tf.__internal__.CompositeTensor
        register = importlib.import_module(
            "tensorflow.python.framework.type_spec_registry"
        ).register

    class Scaled(composite):
        def __init__(self, x, factor):
            self.x, self.factor = x, factor

        @property
        def _type_spec(self):
            return Spec(tf.TensorSpec(self.x.shape, self.x.dtype), self.factor)

    @register(name)
    class Spec(tf.TypeSpec):
        value_type = property(lambda self: Scaled)

        def __init__(self, inner, factor):
            self.inner, self.factor = inner, factor

        def _serialize(self):
            return self.inner, self.factor

        @property
        def _component_specs(self):
            return [self.inner]

        def _to_components(self, value):
            return [value.x]

        def _from_components(self, components):
            return Scaled(*components, self.factor)

    return Scaled, Spec


@pytest.mark.filterwarnings("ignore:Encoding a StructuredValue")
def test_composites_of_libraries(ways, tmp_path):
    kinds = {tf: scaled(tf, f"parity.{tmp_path.name}.Spec") for tf in set(ways)}
    writer, reader = ways

    def doubled(given):
        return [type(given)(given.x * given.factor, given.factor), given.x]

    made = writer.Module()
    spec = kinds[writer][1](writer.TensorSpec([None], writer.float32), 3)
    made.doubled = writer.function(doubled, input_signature=[spec])
    writer.saved_model.save(made, str(tmp_path / "a"))
    loaded = reader.saved_model.load(str(tmp_path / "a"))
    found, x = loaded.doubled(kinds[reader][0](reader.constant([1.0, 2.0]), 3))
    assert type(found) is kinds[reader][0] and found.factor == 3
    assert found.x.numpy().tolist() == [3.0, 6.0] and x.numpy().tolist() == [1.0, 2.0]


def signatures_of(tf, made):
    concrete = made.step.get_concrete_function(tf.TensorSpec([None, 2], tf.float32, name="x"))
    several = tf.function(lambda a, b: (a + b, a - b))
    spec = tf.TensorSpec([2], tf.float32)
    return {
        "serving_default": concrete,
        "inner": made.inner.__call__,
        "several": several.get_concrete_function(spec, tf.TensorSpec([], tf.float32, name="bias")),
    }


def test_signatures(ways, tmp_path):
    writer, reader = ways
    made = module(writer)
    writer.saved_model.save(made, str(tmp_path), signatures=signatures_of(writer, made))
    loaded = reader.saved_model.load(str(tmp_path))
    assert sorted(loaded.signatures) == ["inner", "serving_default", "several"]
    served = loaded.signatures["serving_default"]
    x = reader.constant([[1.0, 2.0]])
    assert_near(numbers(served(x=x)), {"n": ("int64", 1), "y": ("float32", [[28.0, 60.0]])})
    assert_near(numbers(served(x)), {"n": ("int64", 2), "y": ("float32", [[28.0, 60.0]])})
    ((args, named)) = served.structured_input_signature
    assert args == () and named["x"].shape.as_list() == [None, 2]
    gives = served.structured_outputs
    assert {type(spec) for spec in gives.values()} == {reader.TensorSpec}
    assert gives["y"].shape.as_list() == [None, 2] and gives["n"].dtype == reader.int64
    assert {key: spec.name for key, spec in gives.items()} == {"y": "y", "n": "n"}
    assert repr(served).startswith("<ConcreteFunction (*, x: TensorSpec(shape=(None, 2), ")
    inner = loaded.signatures["inner"](x=x)
    assert_near(numbers(inner), {"output_0": ("float32", [[2.0, 6.0]])})
    several = loaded.signatures["several"](a=reader.ones([2]), bias=reader.constant(3.0))
    expected = {"output_0": ("float32", [4.0, 4.0]), "output_1": ("float32", [-2.0, -2.0])}
    assert_near(numbers(several), expected)
    with pytest.raises(TypeError):
        loaded.signatures["inner"](y=x)


def test_names_of_arguments_that_python_does_not_take(ways, tmp_path):
    writer, reader = ways

    @writer.function
    def f(*args):
        return {"o": args[0] * 2.0 + args[1]}

    specs = [writer.TensorSpec([2], name=name) for name in ("0/step_type", "0_reward")]
    concrete = f.get_concrete_function(*specs)
    obj = writer.Module()
    obj.f = f
    writer.saved_model.save(obj, str(tmp_path), signatures=concrete)
    served = reader.saved_model.load(str(tmp_path)).signatures["serving_default"]
    assert served.structured_input_signature == (
        (),
        {
            "arg_0_step_type": reader.TensorSpec([2], name="0/step_type"),
            "arg_0_reward": reader.TensorSpec([2], name="0_reward"),
        },
    )
    for function, tf in ((concrete, writer), (served, reader)):
        x = tf.constant([1.0, 2.0])
        found = function(**{"0/step_type": x, "0_reward": x + 1.0})
        assert numbers(found) == {"o": ("float32", [4.0, 7.0])}
    found = served(arg_0_step_type=x, arg_0_reward=x + 1.0)
    assert numbers(found) == {"o": ("float32", [4.0, 7.0])}


def test_names_of_results(ways, tmp_path):
    writer, reader = ways
    spec = [writer.TensorSpec([None, 2], writer.float32)]
    functions = {
        "one": lambda x: 2.0 * x,
        "several": lambda x: (x + 1.0, [2.0 * x]),
        "nested": lambda x: {"A.b c": (x, [x]), "1x": x, "_y": x},
    }
    made = writer.Module()
    for name, function in functions.items():
        setattr(made, name, writer.function(function, input_signature=spec))
    writer.saved_model.save(made, str(tmp_path))
    loaded = reader.saved_model.load(str(tmp_path))

    def names(name):
        (concrete,) = getattr(loaded, name).concrete_functions
        return reader.nest.map_structure(lambda x: x.name, concrete.structured_outputs)

    assert names("one") == "unknown"
    assert names("several") == ("tensor_0", ["tensor_1_0"])
    nested = {"A.b c": ("a_b_c_0", ["a_b_c_1_0"]), "1x": "tensor_1x", "_y": "tensor__y"}
    assert names("nested") == nested


def test_a_session_serves_ours(tmp_path):
    """As programs without Python do: by the graph, its placeholders and its saver."""
    tf = tensorflow()
    made = module(tape_compat)
    made.w.assign([[2.0, 0.0], [0.0, 2.0]])
    signatures = signatures_of(tape_compat, made)
    tape_compat.saved_model.save(made, str(tmp_path), signatures=signatures)
    with tf.compat.v1.Session(graph=tf.Graph()) as session:
        loaded = tf.compat.v1.saved_model.load(session, ["serve"], str(tmp_path))
        served = loaded.signature_def["serving_default"]
        fed = {served.inputs["x"].name: [[1.0, 2.0]]}
        for count in (1, 2):
            y, n = session.run([served.outputs["y"].name, served.outputs["n"].name], fed)
            assert y.tolist() == [[8.0, 24.0]] and n == count
        saver = tf.compat.v1.train.Saver(saver_def=loaded.saver_def)
        path = saver.save(session, str(tmp_path / "again"), write_meta_graph=False)
    kept = tape_compat.train.load_checkpoint(path)
    assert kept.get_tensor("count/.ATTRIBUTES/VARIABLE_VALUE") == 2


def test_derivatives(ways, tmp_path):
    """Ours have them when they are read here; TensorFlow cannot differentiate a program of XLA."""
    writer, reader = ways
    made = module(writer)
    x = [[1.0, -1.0], [0.5, 2.0]]
    expected = gradients(writer, made, writer.constant(x))
    writer.saved_model.save(made, str(tmp_path))
    loaded = reader.saved_model.load(str(tmp_path))
    if reader is not tape_compat:
        with pytest.raises(LookupError, match="XlaCallModule"):
            gradients(reader, loaded, reader.constant(x))
        return
    assert_near(gradients(reader, loaded, reader.constant(x)), expected)


def gradients(tf, m, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(m.step(x)["y"] ** 2)
    return list(map(numbers, tape.gradient(loss, [x, m.w, m.inner.scale])))


def test_checkpoints_read_saved_models(ways, tmp_path):
    writer, reader = ways
    made = module(writer)
    made.w.assign([[5.0, 6.0], [7.0, 8.0]])
    writer.saved_model.save(made, str(tmp_path))
    other = module(reader)
    reader.train.Checkpoint(other).restore(str(tmp_path)).expect_partial()
    assert other.w.numpy().tolist() == [[5.0, 6.0], [7.0, 8.0]]


def test_assets(ways, tmp_path):
    writer, reader = ways
    file = tmp_path / "words.txt"
    file.write_text("one two")
    made = writer.Module()
    made.words = writer.saved_model.Asset(str(file))
    writer.saved_model.save(made, str(tmp_path / "a"))
    file.unlink()
    loaded = reader.saved_model.load(str(tmp_path / "a"))
    path = loaded.words.asset_path.numpy().decode()
    assert reader.io.read_file(path).numpy() == b"one two"


def test_options(ways, tmp_path):
    writer, reader = ways
    made = module(writer)
    options = writer.saved_model.SaveOptions(
        function_aliases={"other": made.inner.__call__}, extra_tags=["more"]
    )
    writer.saved_model.save(made, str(tmp_path), options=options)
    options = reader.saved_model.LoadOptions(experimental_load_function_aliases=True)
    loaded = reader.saved_model.load(str(tmp_path), tags=["serve", "more"], options=options)
    assert loaded.function_aliases["other"](reader.ones([1, 2])).numpy().tolist() == [[2.0, 3.0]]
    with pytest.raises(ValueError, match="incompatible argument to `tags`: "):
        reader.saved_model.load(str(tmp_path), tags=["train"])


def loops_of_unknown_lengths(tf):
    """Functions of a vector."""

    def forward(x):
        rows = tf.TensorArray(tf.float32, size=tf.shape(x)[0])
        for i in tf.range(tf.shape(x)[0]):
            rows = rows.write(i, 2.0 * x[i])
        return rows.stack()

    def backward(x):
        count = tf.shape(x)[0]
        rows = tf.TensorArray(tf.float32, size=count)
        for i in tf.range(count - 1, -1, -1):
            rows = rows.write(i, 2.0 * x[i] + tf.cast(i, tf.float32))
        return rows.stack()

    def counted(x):
        total = tf.constant(0.0)
        for _ in tf.range(tf.shape(x)[0]):
            total = 0.5 * total + 1.0
        return total

    def scanned(x):
        return tf.scan(lambda a, b: a + b, x), tf.map_fn(lambda a: a * a, x)

    return {f.__name__: f for f in (forward, backward, counted, scanned)}


def test_loops_of_unknown_lengths(ways, tmp_path):
    writer, reader = ways
    made = writer.Module()
    for name, function in loops_of_unknown_lengths(writer).items():
        setattr(made, name, writer.function(function, input_signature=[writer.TensorSpec([None])]))
    writer.saved_model.save(made, str(tmp_path))
    loaded = reader.saved_model.load(str(tmp_path))
    for x in ([1.0, 2.0, 4.0], [3.0]):
        for name in loops_of_unknown_lengths(writer):
            expected = numbers(getattr(made, name)(writer.constant(x)))
            assert_near(numbers(getattr(loaded, name)(reader.constant(x))), expected)
            if name in ("forward", "backward") and reader is tape_compat:
                given, source = reader.constant(x), writer.constant(x)
                with reader.GradientTape() as tape:
                    tape.watch(given)
                    result = getattr(loaded, name)(given)
                with writer.GradientTape() as other:
                    other.watch(source)
                    wanted = getattr(made, name)(source)
                expected = numbers(other.gradient(wanted, source))
                assert_near(numbers(tape.gradient(result, given)), expected)


OF_SIZES = {
    "band_part": lambda tf, x: tf.linalg.band_part(tf.ones([tf.shape(x)[1]] * 2, tf.bool), 1, 0),
    "linspace": lambda tf, x: tf.linspace(-1.0, 1.0, tf.shape(x)[1]),
    "avg_pool": lambda tf, x: tf.nn.avg_pool1d(x[..., None], 2, 2, "SAME"),
    "frame": lambda tf, x: tf.signal.frame(x, 2, 1),
    "patches": lambda tf, x: tf.image.extract_patches(
        x[..., None, None], [1, 1, 1, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"
    ),
}


@pytest.mark.parametrize("name", OF_SIZES)
def test_ops_of_unknown_sizes(exchange, tmp_path, name):
    writer, _ = exchange
    made = writer.Module()
    made.f = writer.function(
        lambda x: OF_SIZES[name](writer, x), input_signature=[writer.TensorSpec([None, None])]
    )
    writer.saved_model.save(made, str(tmp_path))
    given = [np.arange(2.0 * size, dtype=np.float32).reshape(2, size) for size in (1, 2, 5)]
    compare(exchange, tmp_path, made, {"f": [[x] for x in given]})


def test_conditionals_and_loops_that_are_no_single_program(exchange, tmp_path):
    writer, _ = exchange
    made, calls = saved_control.module(writer)
    writer.saved_model.save(made, str(tmp_path))
    given = {}
    for name, several in calls.items():
        dtypes = [spec.dtype.as_numpy_dtype for spec in getattr(made, name).input_signature]
        given[name] = [[*map(np.asarray, call, dtypes)] for call in several]
    compare(exchange, tmp_path, made, given)


def of_images(tf, method, antialias=False):
    """Images at half and at one and a half of their size."""

    def resized(x):
        height, width = tf.shape(x)[1], tf.shape(x)[2]
        half = tf.image.resize(x, [height // 2, width // 2], method, antialias=antialias)
        more = tf.image.resize(x, [3 * height // 2, 2 * width - 1], method, antialias=antialias)
        return half, more

    return resized


def reshaped_by_halves(tf, x):
    height, width = tf.shape(x)[1], tf.shape(x)[2]
    return tf.reshape(x, [-1, height // 2, 2, width]), tf.reshape(x, [2, -1, width // 2, 2])


def down_and_up(tf, x):
    """A network of windows that goes to half the size and back, and to twice the size."""
    window = tf.reshape(tf.range(18.0), [3, 3, 1, 2]) / 10.0
    small = tf.nn.conv2d(tf.nn.max_pool2d(x[..., :1], 3, 2, "SAME"), window, 1, "SAME")
    back = tf.nn.conv2d_transpose(small[..., :1], window[..., :1], tf.shape(x[..., :1]), 2, "SAME")
    sizes = [tf.shape(x)[0], 2 * tf.shape(x)[1] + 1, 2 * tf.shape(x)[2] + 1, 1]
    pair = tf.concat([x, -x], -1)
    return back, tf.nn.conv2d_transpose(pair, window, sizes, 2, "VALID")


OF_IMAGES = {
    "windows": lambda tf: lambda x: down_and_up(tf, x),
    "nearest": lambda tf: of_images(tf, "nearest"),
    "bilinear": lambda tf: of_images(tf, "bilinear"),
    "bicubic": lambda tf: of_images(tf, "bicubic"),
    "area": lambda tf: of_images(tf, "area"),
    "bilinear that is wide": lambda tf: of_images(tf, "bilinear", antialias=True),
    "lanczos": lambda tf: of_images(tf, "lanczos3"),
    "reshape": lambda tf: lambda x: reshaped_by_halves(tf, x[..., 0]),
}


@pytest.mark.parametrize("name", OF_IMAGES)
def test_images_of_unknown_sizes(exchange, tmp_path, name):
    writer, _ = exchange
    made = writer.Module()
    signature = [writer.TensorSpec([None, None, None, 1])]
    made.f = writer.function(OF_IMAGES[name](writer), input_signature=signature)
    writer.saved_model.save(made, str(tmp_path))
    given = []
    for height, width in ((2, 2), (4, 6), (6, 4)):
        x = np.sin(np.arange(2.0 * height * width, dtype=np.float32))
        given.append([x.reshape(2, height, width, 1)])
    compare(exchange, tmp_path, made, {"f": given})


def sizes_by_values(tf):
    """Functions of a matrix, of integers and of a number."""
    return {
        "top": lambda x, lengths, k: tf.math.top_k(x, k),
        "mask": lambda x, lengths, k: tf.sequence_mask(lengths),
        "mask of rows": lambda x, lengths, k: tf.sequence_mask([lengths, lengths + k]),
    }


def test_sizes_that_are_values(exchange, tmp_path):
    writer, _ = exchange
    made = writer.Module()
    spec = writer.TensorSpec
    signature = [spec([None, None]), spec([None], writer.int32), spec([], writer.int32)]
    for name, function in sizes_by_values(writer).items():
        setattr(made, name, writer.function(function, input_signature=signature))
    writer.saved_model.save(made, str(tmp_path))
    x = np.float32([[1.0, 5.0, 2.0, 5.0], [0.0, -1.0, -np.inf, 3.0]])
    given = [
        (x, np.array(lengths, np.int32), np.int32(k)) for lengths, k in (([1, 3, 2], 2), ([0], 4))
    ]
    compare(exchange, tmp_path, made, dict.fromkeys(sizes_by_values(writer), given))


def test_boxes_of_unknown_number(exchange, tmp_path):
    writer, _ = exchange
    made, spec = writer.Module(), writer.TensorSpec
    made.f = writer.function(
        lambda boxes, scores: tuple(writer.image.combined_non_max_suppression(boxes, scores, 3, 5)),
        input_signature=[spec([None, None, 1, 4]), spec([None, None, None])],
    )
    writer.saved_model.save(made, str(tmp_path))
    random, given = np.random.default_rng(0), []
    for batch, count, classes in ((2, 12, 3), (1, 2, 1)):
        corners = np.sort(random.uniform(size=(batch, count, 1, 2, 2)), -2)
        boxes = corners.reshape(batch, count, 1, 4).astype(np.float32)
        scores = random.uniform(size=(batch, count, classes)).astype(np.float32)
        given.append((boxes, scores))
    compare(exchange, tmp_path, made, {"f": given})


def test_slices_of_a_table_of_positions(ways, tmp_path):
    writer, reader = ways
    made = writer.Module()
    made.scale = writer.Variable(2.0)
    table = writer.reshape(writer.range(24.0), [6, 4])
    made.f = writer.function(
        lambda x, y: x * made.scale + table[: writer.shape(x)[1]] + writer.reduce_sum(y),
        input_signature=[writer.TensorSpec([None, None, 4]), writer.TensorSpec([None, None])],
    )
    writer.saved_model.save(made, str(tmp_path))
    loaded = reader.saved_model.load(str(tmp_path))
    for size in (3, 6):
        shapes = [2, size, 4], [1, size]
        expected = numbers(made.f(*map(writer.ones, shapes)))
        assert_near(numbers(loaded.f(*map(reader.ones, shapes))), expected)
    if reader is tape_compat:
        with reader.GradientTape() as tape:
            result = loaded.f(*map(reader.ones, shapes))
        assert float(tape.gradient(result, loaded.scale)) == 48
    with pytest.raises(reader.errors.InvalidArgumentError):
        loaded.f(reader.ones([2, 7, 4]), reader.ones([1, 7]))


def test_texts_and_arguments_by_name(ways, tmp_path):
    writer, reader = ways
    made = writer.Module()
    made.f = writer.function(lambda x, state=None: (x + "!", 1.0 if state is None else state + 1.0))
    _, state = made.f(writer.constant(["a"]))
    made.f(writer.constant(["a"]), state=state)
    writer.saved_model.save(made, str(tmp_path))
    loaded = reader.saved_model.load(str(tmp_path))
    text, state = reader.constant(["b"]), None
    for count in (1.0, 2.0, 3.0):
        text, state = loaded.f(text, state=state)
        assert state.numpy() == count
    assert text.numpy().tolist() == [b"b!!!"]
    assert loaded.f(state=None, x=text)[1].numpy() == 1.0


def test_numbers_are_made_tensors(ways, tmp_path):
    """Where a loaded function wants a tensor, lists of numbers and arrays will do."""
    writer, reader = ways
    made = writer.Module()
    made.f = writer.function(lambda x: 2.0 * x)
    made.f(writer.constant([[1.0, 2.0]]))
    made.g = writer.function(lambda x: 2.0 * x["a"] + x["b"][0])
    made.g({"a": writer.ones([2]), "b": [writer.ones([2])]})
    writer.saved_model.save(made, str(tmp_path))
    loaded = reader.saved_model.load(str(tmp_path))
    for x in ([[1.0, 2.0]], [[1, 2]], np.float32([[1, 2]]), ((1.0, 2.0),)):
        assert loaded.f(x).numpy().tolist() == [[2.0, 4.0]]
    assert loaded.g({"a": [1.0, 2.0], "b": [[3.0, 4.0]]}).numpy().tolist() == [5.0, 8.0]
    for x in (np.ones([1, 2]), [[1.0, 2.0, 3.0]], 2.0, {"a": [1.0, 2.0]}, None):
        with pytest.raises(ValueError, match="Could not find matching concrete function"):
            loaded.f(x)
    for x in ({"a": [1.0, 2.0]}, {"a": [1.0, 2.0], "b": [3.0, 4.0]}, [1.0, 2.0]):
        with pytest.raises(ValueError, match="Could not find matching concrete function"):
            loaded.g(x)


def text_functions(tf, table):
    """Functions of a vector of texts."""
    split = tf.strings.split
    return {
        "cases": lambda x: (tf.strings.lower(x), tf.strings.upper(x, encoding="utf-8")),
        "strip": lambda x: tf.strings.strip(x),
        "sizes": lambda x: (tf.strings.length(x), tf.strings.length(x, unit="UTF8_CHAR")),
        "parts": lambda x: tf.strings.substr(x, 0, 2),
        "replace": lambda x: tf.strings.regex_replace(x, "[ab]", "<\\0>", replace_global=False),
        "match": lambda x: tf.strings.regex_full_match(x, "[ab ]*"),
        "join": lambda x: tf.strings.join([x, "!", x], separator="-"),
        "numbers": lambda x: tf.strings.to_number(tf.strings.as_string(tf.strings.length(x))),
        "buckets": lambda x: tf.strings.to_hash_bucket_fast(x, 1000),
        "strong": lambda x: tf.strings.to_hash_bucket_strong(x, 1000, [1, 2]),
        "equal": lambda x: (tf.equal(x, "a"), tf.not_equal(x, "a"), x + "b"),
        "words": lambda x: split(x).to_tensor("-"),
        "cut": lambda x: split(x, "b").to_tensor("", shape=[None, 2]),
        "characters": lambda x: tf.strings.unicode_split(x, "UTF-8").to_tensor("-"),
        "of one": lambda x: tf.strings.unicode_split(tf.strings.join(["é", x[0]]), "UTF-8"),
        "bytes": lambda x: (tf.strings.bytes_split(x).to_tensor("-"), tf.strings.bytes_split(x[0])),
        "codes": lambda x: tf.strings.unicode_decode(x, "UTF-8").to_tensor(-1),
        "codes of one": lambda x: tf.strings.unicode_decode(x[0], "UTF-8", "ignore"),
        "found": lambda x: table.lookup(split(x)).to_tensor(-7),
        "weights": lambda x: tf.reduce_sum(
            tf.cast(table.lookup(tf.expand_dims(x, 1)), tf.float32) * [1.0, 2.0], 1
        ),
        "where": lambda x: tf.where(tf.equal(x, "a"), "yes", x),
        "moved": lambda x: (x[::-1], tf.gather(x, [0, 0]), tf.reshape(x, [1, -1]), x[:1]),
        "several": lambda x: tf.concat([x, tf.strings.lower(x), ["end"]], 0),
        "pairs": lambda x: tf.strings.ngrams(split(x), 2, pad_values=("<", "")).to_tensor("-"),
        "neighbours": lambda x: tf.strings.ngrams(split(x), [1, 3], "_", "p", 1, True).values,
        "stacked": lambda x: tf.transpose(tf.stack([x, x + "!"])),
        "known": lambda x: ("text", tf.size(x)),
    }


def test_texts(exchange, tmp_path):
    writer, readers = exchange
    made = writer.Module()
    made.table = writer.lookup.StaticHashTable(
        writer.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), default_value=-1
    )
    made.w = writer.Variable(2.0)
    spec = [writer.TensorSpec([None], writer.string)]
    functions = text_functions(writer, made.table)
    for name, function in functions.items():
        setattr(made, name, writer.function(function, input_signature=spec, autograph=False))
    signatures = {"serving_default": made.found, "words": made.words}
    writer.saved_model.save(made, str(tmp_path), signatures=signatures)
    given = [[["A b", "a", "", " b b  A ", "ä"]], [["a"]]]
    compare(exchange, tmp_path, made, dict.fromkeys(functions, given))
    for reader in readers:
        loaded = reader.saved_model.load(str(tmp_path))
        served = loaded.signatures["serving_default"](x=reader.constant(["a b"]))
        assert served["output_0"].numpy().tolist() == [[1, 2]]


def file_functions(tf):
    """Functions of the bytes of a file, by what file they want."""
    io, image = tf.io, tf.image
    halves = lambda x: tf.cast(x, tf.float32) / 2.0
    return {
        "png": lambda x: halves(image.resize(io.decode_png(x, channels=3), [2, 2])),
        "png, gray": lambda x: io.decode_png(x, 1, tf.uint16),
        "png, any": lambda x: halves(io.decode_image(x, 3, expand_animations=False)),
        "png, float": lambda x: io.decode_image(x, dtype=tf.float32, expand_animations=False),
        "jpeg": lambda x: (image.resize(io.decode_jpeg(x, channels=3), [2, 2]), io.is_jpeg(x)),
        "jpeg, part": lambda x: halves(io.decode_and_crop_jpeg(x, [1, 2, 4, 5], channels=1)),
        "jpeg, shape": lambda x: io.extract_jpeg_shape(x, tf.int64) + 1,
        "bmp": lambda x: halves(io.decode_bmp(x, channels=3)),
        "gif": lambda x: halves(io.decode_gif(x)),
        "path": lambda x: io.read_file(x),
        "wav": lambda x: (lambda wav: (2.0 * wav.audio, wav.sample_rate))(
            tf.audio.decode_wav(x, 1)
        ),
        "raw": lambda x: halves(tf.reshape(io.decode_raw(x, tf.int16), [2, 2])),
        "raw, big end": lambda x: io.decode_raw(x, tf.int16, little_endian=False),
        "raw, padded": lambda x: io.decode_raw(x, tf.uint8, fixed_length=12),
        "raw, packed": lambda x: io.decode_compressed(x, "ZLIB"),
        "raw, base64": lambda x: io.decode_base64(io.encode_base64(x, pad=True)),
        "raw, message": lambda x: io.serialize_tensor(io.decode_raw(x, tf.uint8)),
        "raw, joined": lambda x: tf.strings.reduce_join(
            tf.stack([[x, x], [x, x]]), 1, separator="-"
        ),
        "csv": lambda x: io.decode_csv(
            x, [[1.5], [2], [""], tf.constant([], tf.int64)], ";", select_cols=[0, 1, 2, 4]
        ),
    }


def files(path):
    path.write_bytes(b"abc")
    pixels = tape_compat.fill([6, 8, 3], 100)
    odd = tape_compat.cast(tape_compat.reshape(tape_compat.range(36), [3, 4, 3]), "uint8")
    bmp = struct.pack("<2sIHHIIiiHHIIiiII", b"BM", 62, 0, 0, 54, 40, 1, 2, 1, 24, 0, 8, 0, 0, 0, 0)
    return {
        "png": tape_compat.io.encode_png(odd).numpy(),
        "jpeg": tape_compat.io.encode_jpeg(tape_compat.cast(pixels, "uint8")).numpy(),
        "bmp": bmp + bytes([1, 2, 3, 0, 4, 5, 6, 0]),
        "gif": b"GIF89a\1\0\1\0\x80\0\0\xff\x80\0\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0;",
        "path": str(path).encode(),
        "wav": tape_compat.audio.encode_wav([[0.5, 0.25], [-1.0, 0.0]], 8000).numpy(),
        "raw": bytes(range(8)),
        "packed": zlib.compress(b"text"),
        "csv": b"0.5;;a;b;7",
    }


def test_contents_of_files(ways, tmp_path):
    """Steps of the host that take files apart, alone and for each of several files."""
    writer, reader = ways
    made, contents = writer.Module(), files(tmp_path / "text")
    one, several = [[writer.TensorSpec(shape, writer.string)] for shape in ([], [None])]
    functions = file_functions(writer)
    for name, function in functions.items():
        setattr(made, name, writer.function(function, input_signature=one, autograph=False))

    def mapped(x):
        return writer.map_fn(functions["png"], x, fn_output_signature=writer.float32)

    made.mapped = writer.function(mapped, input_signature=several)
    writer.saved_model.save(made, str(tmp_path / "model"), signatures=made.mapped)
    loaded = reader.saved_model.load(str(tmp_path / "model"))
    for name in functions:
        kind, _, what = name.partition(", ")
        file = contents["packed" if what == "packed" else kind]
        expected = numbers(getattr(made, name)(writer.constant(file)))
        assert_near(numbers(getattr(loaded, name)(reader.constant(file))), expected)
    for count in (1, 3):
        given = [contents["png"]] * count
        expected = numbers(made.mapped(writer.constant(given)))
        served = loaded.signatures["serving_default"](x=reader.constant(given))["output_0"]
        assert_near(numbers(served), expected)


def test_a_session_serves_texts(tmp_path):
    tf = tensorflow()
    made = tape_compat.Module()
    made.table = tape_compat.lookup.StaticHashTable(
        tape_compat.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), default_value=-1
    )
    spec = [tape_compat.TensorSpec([None], tape_compat.string, name="texts")]
    made.f = tape_compat.function(
        lambda texts: made.table.lookup(tape_compat.strings.lower(texts)), input_signature=spec
    )
    tape_compat.saved_model.save(made, str(tmp_path))
    with tf.compat.v1.Session(graph=tf.Graph()) as session:
        loaded = tf.compat.v1.saved_model.load(session, ["serve"], str(tmp_path))
        served = loaded.signature_def["serving_default"]
        fed = {served.inputs["texts"].name: ["A", "c", "b"]}
        assert session.run(served.outputs["output_0"].name, fed).tolist() == [1, -1, 2]


def test_tables_and_words_of_tensorflow(tmp_path):
    tf = tensorflow()
    file = tmp_path / "words.txt"
    file.write_text("cat\ndog\n")

    class Words(tf.Module):
        def __init__(self):
            super().__init__()
            initializer = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
            self.table = tf.lookup.StaticHashTable(initializer, default_value=-1)
            self.scores = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer([1, 2], [0.5, 1.5]), default_value=9.0
            )
            self.lines = tf.lookup.StaticHashTable(
                tf.lookup.TextFileInitializer(
                    str(file),
                    tf.string,
                    tf.lookup.TextFileIndex.WHOLE_LINE,
                    tf.int64,
                    tf.lookup.TextFileIndex.LINE_NUMBER,
                ),
                default_value=7,
            )
            self.weights = tf.Variable([1.0, 2.0, 3.0, 4.0])

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def numbers(self, texts):
            words = tf.strings.split(tf.strings.lower(texts))
            found = tf.ragged.map_flat_values(self.table.lookup, words).to_tensor(0)
            scores = self.scores.lookup(tf.constant([1, 2, 3]))
            weights = tf.gather(self.weights, found + 1)
            return found, scores, weights, self.lines.lookup(texts), self.table.size()

    made = Words()
    tf.saved_model.save(made, str(tmp_path / "a"))
    file.unlink()
    loaded = tape_compat.saved_model.load(str(tmp_path / "a"))
    for texts in (["A b", "c", "b b A"], ["dog", "cat"], [""]):
        expected = numbers(made.numbers(tf.constant(texts)))
        assert_near(numbers(loaded.numbers(tape_compat.constant(texts))), expected)
    assert loaded.numbers.experimental_get_tracing_count() == 1
    served = loaded.signatures["serving_default"](texts=tape_compat.constant(["b"]))
    assert served["output_0"].numpy().tolist() == [[2]]


def raised(call):
    with pytest.raises(Exception) as error:
        call()
    return type(error.value).__name__, str(error.value)


def test_errors(tmp_path):
    """TensorFlow's classes and words."""
    found = []
    for tf in (tensorflow(), tape_compat):
        folder = str(tmp_path / tf.__name__)
        m = tf.Module()
        m.f = tf.function(lambda x, *, flag=True: [x] if flag else [x, x])
        m.never = tf.function(lambda x: x)
        for flag in (True, False):
            m.f(tf.ones([2]), flag=flag)
        tf.saved_model.save(m, folder)
        loaded = tf.saved_model.load(folder)
        untracked = tf.Variable(1.0)
        other = tf.Module()
        spec = [tf.TensorSpec([], tf.float32)]
        other.f = tf.function(lambda x: x + untracked, input_signature=spec)
        none = tf.function(lambda x: [x, None]).get_concrete_function(*spec)
        calls = [
            lambda: loaded.f(tf.ones([3])),
            lambda: loaded.f(tf.ones([2]), flag=3),
            lambda: loaded.f(tf.ones([2]), other=1),
            lambda: loaded.never(tf.ones([2])),
            lambda: tf.saved_model.load(folder + "x"),
            lambda: tf.saved_model.load(folder, tags="train"),
            lambda: tf.saved_model.save(3, folder),
            lambda: tf.saved_model.save(m, folder, signatures=m.never),
            lambda: tf.saved_model.save(m, folder, signatures=none),
            lambda: tf.saved_model.save(other, folder),
        ]
        kinds = [raised(call) for call in calls]
        found.append([(kind, words.replace(folder, "FOLDER")) for kind, words in kinds])
    for (kind, words), (ours, said) in zip(*found):
        assert ours == kind
        if words.startswith("in user code"):  # the frames, then the error
            words = words.split("ValueError: ")[-1]
        first = next(line for line in words.splitlines() if line.strip()).split("<")[0].strip()
        assert first.split("function __inference")[0][:120] in said, (words, said)


def test_generators_of_tensorflow(tmp_path):
    """Functions that draw by one have TensorFlow's numbers, and move its state on."""
    tf = tensorflow()
    made = tf.Module()
    made.generator = tf.random.Generator.from_state([2**63 - 1, -1, 7], alg="philox")

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def draw(n):
        numbers = made.generator.uniform([n], maxval=100, dtype=tf.int64)
        return made.generator.normal([n]), made.generator.uniform([2, 2]), numbers

    made.draw = draw
    tf.saved_model.save(made, str(tmp_path))
    loaded = tape_compat.saved_model.load(str(tmp_path))
    for n in (3, 5):
        assert_near(numbers(loaded.draw(tape_compat.constant(n))), numbers(draw(tf.constant(n))))
    state = loaded.generator._state_var
    assert state.numpy().tolist() == made.generator.state.numpy().tolist()


def with_functions_in_structures(tf):
    m = tf.Module()
    m.v = tf.Variable(2.0)
    m.losses = [tf.function(lambda: m.v**2), tf.function(lambda: m.v * 3.0)]
    m.named = {"a": tf.function(lambda x: x * m.v), "n": 1}
    m.pair = (tf.function(lambda: m.v - 1.0), 5)
    m.mixed, m.both = [tf.Variable(1.0), 1, tf.Variable(3.0)], (tf.Variable(1.0), 1, m.v)
    _ = m.losses[0](), m.losses[1](), m.named["a"](tf.constant(4.0)), m.pair[0]()
    m.named["concrete"] = m.named["a"].get_concrete_function(tf.TensorSpec([]))
    return m


def test_functions_in_lists_dicts_and_tuples(ways, tmp_path):
    """What is no part keeps its place in a list: there is None."""
    writer, reader = ways
    writer.saved_model.save(with_functions_in_structures(writer), str(tmp_path))
    m = reader.saved_model.load(str(tmp_path))
    m.v.assign(5.0)
    x = reader.constant(4.0)
    assert [float(loss()) for loss in m.losses] == [25.0, 15.0]
    assert float(m.named["a"](x)) == float(m.named["concrete"](x)) == 20.0
    assert sorted(m.named) == ["a", "concrete"] and float(m.pair[0]()) == 4.0
    for held, values in ((m.mixed, [1.0, 3.0]), (m.both, [1.0, 5.0])):
        assert len(held) == 3 and held[1] is None and [float(held[0]), float(held[2])] == values
    assert m.both[2] is m.v and m.tensorflow_git_version is not None


def test_composites_and_names_of_signatures(ways, tmp_path):
    """A signature gives composites, and takes arguments by names as files have them."""
    writer, reader = ways
    m = writer.Module()
    specs = [writer.TensorSpec([None], writer.float32, name) for name in ("A-b", "A/D")]

    @writer.function(input_signature=specs)
    def f(a, b):
        rows = writer.RaggedTensor.from_row_splits(a, writer.constant([0, 1, 3], writer.int64))
        return {"rows": rows * 2.0, "sum": a + b}

    m.f = f
    writer.saved_model.save(m, str(tmp_path), signatures=f)
    served = reader.saved_model.load(str(tmp_path)).signatures["serving_default"]
    names = sorted(served.structured_input_signature[1])
    assert names == ["A_D", "A_b"]
    found = served(**dict.fromkeys(names, reader.constant([1.0, 2.0, 3.0])))
    assert found["sum"].numpy().tolist() == [2.0, 4.0, 6.0]
    assert found["rows"].to_list() == [[2.0], [4.0, 6.0]]
    given = [x for x in served.inputs if x.dtype == reader.float32]
    assert [x.shape.as_list() for x in given] == [[None], [None]]
