"""Functions that change variables, saved by TensorFlow and loaded here: the same values."""

import pytest

import tape_compat
from tests.oracle import tensorflow
from tests.parity import saved_exchange, store, update_calls
from tests.parity.saved_exchange import assert_near, numbers

pytestmark = pytest.mark.skipif(
    not store.installed(), reason="tensorflow, the oracle, is not installed (extra `parity`)"
)
exchange = saved_exchange.exchange


def module(tf):
    """A module with a function that calls all ops which change variables by their handles, and one
    that assigns to slices."""
    made = tf.Module()
    made.cells, calls = [], []
    for vectors, shape in ((True, [2]), (False, [3, 2])):
        for name, cells, given in update_calls.calls(vectors):
            variables = [tf.Variable(tf.ones(shape)) for _ in cells]
            made.cells += variables
            given = {**given, **update_calls.ATTRIBUTES.get(name, {})}
            calls.append((getattr(tf.raw_ops, name), dict(zip(cells, variables)), given))
    made.table = tf.Variable(tf.zeros([3, 2]))
    spec = [tf.TensorSpec([])]

    def update(x):
        for op, variables, given in calls:
            op(**{name: v.handle for name, v in variables.items()}, **given)
        return x * 2.0

    def slices(x):
        made.table[0].assign([x, 2.0])
        made.table[1:, 1].assign(tf.fill([2], x))
        made.table[::2, 0].assign(tf.fill([2], x * 3.0))
        return tf.reduce_sum(made.table)

    made.update = tf.function(update, input_signature=spec, autograph=False)
    made.slices = tf.function(slices, input_signature=spec, autograph=False)
    return made


def use(tf, made):
    given = [f(tf.constant(x)) for x in (1.0, 2.0) for f in (made.update, made.slices)]
    return numbers([*given, *made.cells, made.table])


def test_ops_that_change_variables(tmp_path):
    made = module(tensorflow())
    tensorflow().saved_model.save(made, str(tmp_path))
    loaded = tape_compat.saved_model.load(str(tmp_path))
    assert_near(use(tape_compat, loaded), use(tensorflow(), made))


def test_variables_of_texts(exchange, tmp_path):
    writer, readers = exchange
    made = writer.Module()
    made.words = writer.Variable(["a", "b", "c d"])

    def put(text):
        made.words.assign(writer.stack([text, made.words[0], "last"]))
        return made.words + "!"

    def look(places):
        return writer.gather(made.words, places), writer.shape(made.words)

    for function, spec in ((put, ([], "string")), (look, ([None], "int32"))):
        specs = [writer.TensorSpec(*spec)]
        recorded = writer.function(function, input_signature=specs, autograph=False)
        setattr(made, function.__name__, recorded)
    writer.saved_model.save(made, str(tmp_path))
    found = []
    for tf, module in ((writer, made), *[(tf, None) for tf in readers]):
        module = module or tf.saved_model.load(str(tmp_path))
        results = module.look(tf.constant([2, 0])), module.put(tf.constant("new")), module.words
        found.append(numbers(results))
    assert all(each == found[0] for each in found)


def test_paths_of_assets(exchange, tmp_path):
    """A function that takes one takes that of the file which is saved with it."""
    writer, readers = exchange
    folder, again = tmp_path / "saved", tmp_path / "again"
    file = tmp_path / "words.txt"
    file.write_text("one two")
    made = writer.Module()
    made.words = writer.saved_model.Asset(str(file))
    text = writer.TensorSpec([], writer.string, "x")

    def told(x):
        after = writer.strings.join([x, made.words.asset_path])
        return {"path": made.words.asset_path, "after": after, "size": writer.strings.length(x)}

    made.told = writer.function(told, input_signature=[text], autograph=False)
    made.path = writer.function(lambda: made.words.asset_path, input_signature=[])
    read = lambda: writer.io.read_file(made.words.asset_path)
    made.read = writer.function(read, input_signature=[])
    assert made.read().numpy() == b"one two"
    file.write_text("one two three")
    assert made.read().numpy() == b"one two three"
    writer.saved_model.save(made, str(folder), signatures=made.told)
    file.unlink()
    for tf in readers:
        loaded = tf.saved_model.load(str(folder))
        path = loaded.path().numpy()
        assert tf.io.read_file(path).numpy() == loaded.read().numpy() == b"one two three"
        texts = {"path": tf.constant(path), "after": tf.constant(b"x" + path)}
        served, x = loaded.signatures["serving_default"], tf.constant("x")
        for found in (loaded.told(x), served(x=x)):
            assert numbers(found) == numbers({**texts, "size": tf.constant(1)})
    tape_compat.saved_model.save(loaded, str(again))
    path = tape_compat.saved_model.load(str(again)).path().numpy()
    assert path.decode().startswith(str(again))


def test_tables_that_may_change_and_signatures_that_need_values(tmp_path):
    """As Keras saves vocabularies that a layer has learned, and models that count words."""
    tf = tensorflow()
    made = tf.Module()
    made.table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    made.table.insert(["a", "b"], tf.constant([5, 7], tf.int64))
    made.scale, made.step = tf.Variable(2, dtype=tf.int64), tf.Variable(0, trainable=False)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def counted(x):
        found = tf.ragged.map_flat_values(made.table.lookup, tf.strings.split(x)).to_sparse()
        made.step.assign_add(1)
        return {"sums": tf.sparse.reduce_sum(found, 1) * made.scale, "of": found.dense_shape}

    made.counted = counted
    made.found = tf.function(made.table.lookup, input_signature=counted.input_signature)
    signatures = {"serving_default": counted, "found": made.found}
    tf.saved_model.save(made, str(tmp_path), signatures=signatures)
    loaded = tape_compat.saved_model.load(str(tmp_path))
    words, keys = ["a b a", "c"], ["b", "c", "a"]
    expected = numbers([made.counted(tf.constant(words)), made.found(tf.constant(keys))])
    served = loaded.signatures["serving_default"]
    given = [tape_compat.constant(x) for x in (words, keys)]
    assert_near(numbers([loaded.counted(given[0]), loaded.found(given[1])]), expected)
    assert_near(numbers(served(x=given[0])), expected[1])
    assert served.structured_outputs.keys() == {"sums", "of"}
    for function in (served, *loaded.counted.concrete_functions):  # as Keras' TFSMLayer asks
        assert {id(v) for v in function.variables} == {id(loaded.scale), id(loaded.step)}
        assert [v is loaded.scale for v in function.trainable_variables] == [True]
    (found,) = loaded.signatures["found"](tape_compat.constant(keys)).values()
    assert_near(numbers(found), expected[2])
    with pytest.raises(NotImplementedError, match=r"split_to_sparse.* cannot be written to"):
        tape_compat.saved_model.save(loaded, str(tmp_path / "again"), signatures=served)


def _with_tables(tf):
    made, tables = tf.Module(), tf.lookup.experimental
    made.words = tables.MutableHashTable(tf.string, tf.int64, -1)
    made.words.insert(tf.constant(["a"]), tf.constant([5], tf.int64))
    made.pairs = tables.MutableHashTable(tf.int64, tf.float32, [0.0, 1.0])
    made.pairs.insert(tf.constant([3], tf.int64), tf.constant([[2.0, 3.0]]))
    made.dense = tables.DenseHashTable(tf.int64, tf.float32, -1.0, empty_key=-1, deleted_key=-2)
    made.dense.insert(tf.constant([7], tf.int64), tf.constant([2.5]))
    words, keys = tf.TensorSpec([None], tf.string), tf.TensorSpec([None], tf.int64)

    @tf.function(input_signature=[words])
    def count(x):
        before = made.words.lookup(x)
        made.words.insert(x, before + 1)
        made.words.remove(tf.constant(["gone"]))
        made.dense.insert(tf.constant([1], tf.int64), tf.constant([4.0]))
        return before, made.words.lookup(x), made.words.size(), made.words.export()[1]

    @tf.function(input_signature=[keys])
    def find(x):
        return made.pairs.lookup(x) + made.dense.lookup(x)[:, None]

    made.count, made.find = count, find
    return made


def _uses(tf, made):
    keys = tf.constant([3, 7, 1], tf.int64)
    found = [made.find(keys)]
    for words in (["a", "gone"], ["b", "a", "gone"]):
        *results, values = made.count(tf.constant(words))
        found += [*results, tf.sort(values)]
    return numbers([*found, made.find(keys)])


def test_functions_that_change_tables(exchange, tmp_path):
    writer, readers = exchange
    expected = _uses(writer, _with_tables(writer))
    writer.saved_model.save(_with_tables(writer), str(tmp_path / "made"))
    for reader in readers:
        assert_near(_uses(reader, reader.saved_model.load(str(tmp_path / "made"))), expected)
    loaded = tape_compat.saved_model.load(str(tmp_path / "made"))
    tape_compat.saved_model.save(loaded, str(tmp_path / "again"), signatures={})
    for tf in (tensorflow(), tape_compat):
        assert_near(_uses(tf, tf.saved_model.load(str(tmp_path / "again"))), expected)


def test_beside_functions_of_iterators_and_datasets(tmp_path, caplog):
    """As Keras 2 saves layers that learned from a dataset: what is beside them is read."""
    tf, number = tensorflow(), tensorflow().TensorSpec([])
    made = tf.Module()
    made.total = tf.Variable(1.0)
    made.learn = tf.function(
        lambda x: made.total.assign_add(next(x)), input_signature=[tf.data.IteratorSpec(number)]
    )
    made.fold = tf.function(
        lambda x: x.reduce(0.0, lambda a, b: a + b), input_signature=[tf.data.DatasetSpec(number)]
    )
    made.add = tf.function(lambda x: x + made.total, input_signature=[number])
    tf.saved_model.save(made, str(tmp_path), signatures=made.add)
    loaded = tape_compat.saved_model.load(str(tmp_path))
    assert_near(numbers(loaded.add(2.0)), numbers(made.add(2.0)))
    data = tape_compat.data.Dataset.from_tensor_slices([1.0])
    for function, given in ((loaded.learn, iter(data)), (loaded.fold, data)):
        with pytest.raises(NotImplementedError, match=r"of the node '.*' is not here"):
            function(given)
        with pytest.raises(TypeError, match="Can not cast"):
            function(tape_compat.constant(1.0))
    again = str(tmp_path / "again")
    tape_compat.saved_model.save(loaded, again, signatures=loaded.signatures["serving_default"])
    assert "left out of the SavedModel: the kernel 'IteratorGetNext'" in caplog.text
    for reader in (tf, tape_compat):
        read = reader.saved_model.load(again)
        assert_near(numbers(read.add(reader.constant(2.0))), numbers(made.add(2.0)))
