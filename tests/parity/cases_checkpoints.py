"""Checkpoints: what matches, what is missing, what waits, and what a manager keeps."""

import collections
import os
import tempfile

from .harness import attempt

NEEDS = ("train.Checkpoint",)


def module(tf, *names):
    found = tf.Module()
    for i, name in enumerate(names):
        setattr(found, name, tf.Variable([1.0 + i, 2.0]))
    return found


def names(tf, path):
    return sorted((name, list(shape)) for name, shape in tf.train.list_variables(path))


def in_folder(run):
    """A case of a program that is given the module and a folder."""

    def case(tf):
        with tempfile.TemporaryDirectory() as folder:
            return run(tf, os.path.join(folder, "c"))

    return case


def names_of_parts(tf, path):
    v = tf.Variable
    pair = collections.namedtuple("pair", "x y")(v(1.0), v(2.0))
    one, other = module(tf, "a", "b"), module(tf, "c")
    other.inner = one
    other.parts = [one, (v(1.0), 3), {"k": v(2.0), "n": 1}, []]
    parts = {"pair": pair, "l": [v(1.0), [v(2.0)]], "d": {"a/b.c": v(1.0)}, "m": other, "s": one.a}
    return names(tf, tf.train.Checkpoint(**parts).save(path))


def names_with_a_root(tf, path):
    one = module(tf, "a")
    found = [names(tf, tf.train.Checkpoint(one, step=tf.Variable(3)).save(path))]
    found.append(names(tf, tf.train.Checkpoint(tf.Variable(3)).save(path + "v")))
    return found, names(tf, tf.train.Checkpoint(tf.train.Checkpoint(a=one)).save(path + "c"))


def restored(tf, path):
    checkpoint = tf.train.Checkpoint(m=module(tf, "a", "b"), text=tf.Variable("x"))
    saved = os.path.basename(checkpoint.save(path)), os.path.basename(checkpoint.save(path))
    checkpoint.m.a.assign([5.0, 6.0])
    status = checkpoint.restore(tf.train.latest_checkpoint(os.path.dirname(path)))
    status.assert_consumed().assert_existing_objects_matched().assert_nontrivial_match()
    return saved, checkpoint.m.a, checkpoint.save_counter, sorted(os.listdir(path[:-1]))


def status_of(status):
    names = "assert_consumed", "assert_existing_objects_matched", "assert_nontrivial_match"
    found = [attempt(lambda method=method: bool(getattr(status, method)())) for method in names]
    status.expect_partial()
    return found, attempt(status.run_restore_ops), attempt(status.initialize_or_restore)


def statuses(tf, path):
    written = tf.train.Checkpoint(m=module(tf, "a", "b")).write(path)
    found = []
    for parts in ({"m": module(tf, "a")}, {"m": module(tf, "a", "b", "c")}, {"q": module(tf, "a")}):
        found.append(status_of(tf.train.Checkpoint(**parts).read(written)))
    found.append(status_of(tf.train.Checkpoint().read(written)))
    found.append(status_of(tf.train.Checkpoint(m=module(tf, "a", "b")).restore(written)))
    none = tf.train.Checkpoint(m=module(tf, "a")).restore(None)
    return found, attempt(none.assert_consumed), attempt(none.run_restore_ops)


def waiting(tf, path):
    net = module(tf, "a")
    net.parts = [tf.Variable(3.0), {"k": tf.Variable(4.0)}]
    written = tf.train.Checkpoint(net=net).write(path)
    late = tf.Module()
    checkpoint = tf.train.Checkpoint(net=late)
    status = checkpoint.read(written)
    late.parts = []
    late.parts.append(tf.Variable(0.0))
    late.parts.append({})
    late.parts[1]["k"] = tf.Variable(0.0)
    early = attempt(lambda: bool(status.assert_consumed()))
    late.a = tf.Variable([0.0, 0.0])
    status.assert_consumed()
    later = tf.train.Checkpoint()
    later.read(written).expect_partial()
    later.net = module(tf, "a")
    return early, late.a, late.parts[0], late.parts[1]["k"], later.net.a


def newest_first(tf, path):
    one = tf.train.Checkpoint(x=tf.Variable(1.0)).write(path + "1")
    two = tf.train.Checkpoint(x=tf.Variable(2.0), y=tf.Variable(3.0)).write(path + "2")
    late = tf.train.Checkpoint()
    late.read(two).expect_partial()
    late.read(one).expect_partial()
    late.x, late.y = tf.Variable(0.0), tf.Variable(0.0)
    return late.x, late.y


def shared(tf, path):
    v = tf.Variable(1.0)
    written = tf.train.Checkpoint(a=v, b=v).write(path)
    apart = tf.train.Checkpoint(a=tf.Variable(0.0), b=tf.Variable(0.0))
    apart.read(written).expect_partial()
    two = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable(2.0)).write(path + "2")
    tf.train.Checkpoint(a=v, b=v).read(two).expect_partial()
    return names(tf, written), apart.a, apart.b, v


def misfits(tf, path):
    v = tf.Variable([1.0, 2.0])
    written = tf.train.Checkpoint(v=v).write(path)

    def read(other):
        tf.train.Checkpoint(v=other).read(written).assert_consumed()
        return other

    others = [
        tf.Variable([1.0]),
        tf.Variable([1, 2]),
        tf.Variable([["a"]]),
        tf.Variable([0.0], shape=[None]),
        tf.Variable([0.0], shape=tf.TensorShape(None)),
        tf.Variable([[0.0]], shape=[None, 1]),
    ]
    return [attempt(lambda other=other: read(other)) for other in others]


def refused(tf, path):
    c, net = tf.train.Checkpoint, module(tf, "a")
    given = [3, "x", None, tf.constant(1.0), (1, 2), 2.5]
    found = [attempt(lambda value=value: c(a=value)) for value in given]
    found.append(attempt(lambda: c(3)))
    found.append(attempt(lambda: c([tf.Variable(1.0)])))
    net.step = tf.Variable(1.0)
    found.append(attempt(lambda: c(net, step=tf.Variable(2.0))))
    found.append(attempt(lambda: c(d={1: tf.Variable(1.0)}).write(path)))
    found.append(attempt(lambda: c(d={1: 2}, l=[1, "a"]).write(path) == path))
    found.append(attempt(lambda: c().restore("/there/is/none")))
    found.append(attempt(lambda: c().read("/there/is/none")))
    return found


def reader(tf, path):
    v = tf.Variable([[1.5, 2.0]])
    written = tf.train.Checkpoint(v=v, t=tf.Variable(["a", "bc"]), s=tf.Variable(3)).save(path)
    opened = tf.train.load_checkpoint(os.path.dirname(path))
    key = "{}/.ATTRIBUTES/VARIABLE_VALUE".format
    return (
        sorted(opened.get_variable_to_shape_map().items()),
        sorted((k, d.name) for k, d in opened.get_variable_to_dtype_map().items()),
        [opened.get_tensor(key(name)) for name in "vts"],
        [opened.has_tensor(name) for name in (key("v"), "v")],
        tf.train.load_variable(written, key("v") + ":0"),
        sorted(opened.debug_string().decode().splitlines()),
        attempt(lambda: opened.get_tensor("none")),
        attempt(lambda: tf.train.load_checkpoint(path + "none")),
        attempt(lambda: tf.train.load_checkpoint(os.path.dirname(os.path.dirname(path)))),
        attempt(lambda: tf.train.load_variable(written, "none")),
    )


def manager(tf, path):
    step = tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(step=step)
    options = {"max_to_keep": 2, "step_counter": step, "checkpoint_interval": 2}
    kept, found = tf.train.CheckpointManager(checkpoint, path, **options), []
    found.append((kept.latest_checkpoint, kept.restore_or_initialize(), kept.checkpoints))
    for _ in range(6):
        step.assign_add(1)
        found.append(os.path.basename(kept.save() or "none"))
    found.append(sorted(os.listdir(path)))
    step.assign(0)
    again = tf.train.CheckpointManager(checkpoint, path, checkpoint_name="x", **options)
    found.append([os.path.basename(each) for each in again.checkpoints])
    found.append((os.path.basename(again.restore_or_initialize()), step, again.save()))
    found.append(os.path.basename(again.save(checkpoint_number=tf.Variable(70)) or "none"))
    step.assign_add(1)
    found.append(os.path.basename(again.save(77, check_interval=False)))
    found.append((sorted(os.listdir(path)), checkpoint.save_counter))
    with open(os.path.join(path, "checkpoint")) as file:
        found.append([line for line in file if "timestamp" not in line])
    for wrong in ({"max_to_keep": 0}, {"max_to_keep": None, "checkpoint_interval": 1}):
        found.append(attempt(lambda: tf.train.CheckpointManager(checkpoint, path, **wrong)))
    found.append(kept._checkpoint_prefix == f"{path}/ckpt")  # subclasses in TF Models ask it
    return found


def folders(tf, path):
    checkpoint, folder = tf.train.Checkpoint(v=tf.Variable(1.0)), os.path.dirname(path)
    found = [tf.train.latest_checkpoint(folder), tf.train.get_checkpoint_state(folder)]
    checkpoint.save(path)
    with open(os.path.join(folder, "checkpoint")) as file:
        found.append(file.read())
    state = tf.train.get_checkpoint_state(folder)
    found.append(os.path.basename(state.model_checkpoint_path))
    found.append([os.path.basename(each) for each in state.all_model_checkpoint_paths])
    for text in ("garbage", "", 'model_checkpoint_path: "gone-1"\n'):
        with open(os.path.join(folder, "checkpoint"), "w") as file:
            file.write(text)
        found.append(attempt(lambda: tf.train.latest_checkpoint(folder)))
    iterator = tf.train.checkpoints_iterator(folder, timeout=0)
    return found, list(iterator)


def views(tf, path):
    written = tf.train.Checkpoint(net=module(tf, "a", "b")).write(path)
    net = module(tf, "b", "c")
    checkpoint = tf.train.Checkpoint(net=net)
    view = tf.train.CheckpointView(written)
    matched, only_there, only_here = view.diff(checkpoint)
    here = tf.train.TrackableView(checkpoint)
    return (
        (view.children(0), view.children(1), view.descendants()),
        (sorted(matched), only_there, len(only_here)),
        (sorted(here.children(net)), len(here.descendants()), here.root is checkpoint),
        attempt(lambda: view.match(3)),
    )


def kinds(tf, path):
    generator = tf.random.Generator.from_seed(7)
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(tf.constant(["a"]), tf.constant([1], tf.int64))
    static = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), 0)
    parts = {"g": generator, "t": table, "s": static, "d": tf.data.Dataset.range(3)}
    checkpoint = tf.train.Checkpoint(**parts)
    written = checkpoint.save(path)
    generator.skip(10)
    table.insert(tf.constant(["b"]), tf.constant([2], tf.int64))
    checkpoint.restore(written).assert_consumed()
    return names(tf, written), generator.state, table.size(), table.lookup(tf.constant(["a"]))


def iterators(tf, path):
    iterator = iter(tf.data.Dataset.range(9).batch(2))
    checkpoint = tf.train.Checkpoint(i=iterator)
    first = next(iterator)
    written = checkpoint.save(path)
    second = next(iterator)
    checkpoint.restore(written).assert_consumed()
    return first, second, next(iterator), next(iterator)


def python_state(tf, path):
    class State(tf.train.experimental.PythonState):
        value = "first"

        def serialize(self):
            return self.value

        def deserialize(self, string_value):
            self.value = string_value

    state = State()
    checkpoint = tf.train.Checkpoint(s=state)
    written = checkpoint.save(path)
    state.value = "other"
    checkpoint.restore(written).assert_consumed()
    return names(tf, written), state.value


def under_a_tape(tf, path):
    v = tf.Variable(3.0)
    checkpoint = tf.train.Checkpoint(v=v)
    with tf.GradientTape() as tape:
        y = v * v
        written = checkpoint.save(path)
        v.assign(5.0)
        checkpoint.restore(written)
        z = y * v
    return v, tape.gradient(z, v)


def options(tf, path):
    called = []
    given = tf.train.CheckpointOptions(
        experimental_write_callbacks=[lambda: called.append("a"), lambda p: called.append(p[-3:])]
    )
    tf.train.Checkpoint(v=tf.Variable(1.0)).save(path, options=given)
    return called, len(given.experimental_write_callbacks), given.enable_async


def in_a_function(tf, path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    return attempt(tf.function(lambda: checkpoint.save(path)))


PROGRAMS = (
    names_of_parts,
    names_with_a_root,
    restored,
    statuses,
    waiting,
    newest_first,
    shared,
    misfits,
    refused,
    reader,
    manager,
    folders,
    views,
    kinds,
    iterators,
    python_state,
    under_a_tape,
    options,
    in_a_function,
)

CASES = {program.__name__: in_folder(program) for program in PROGRAMS}


def _slots(tf, deferred):
    """An optimizer of a library's own, which makes its slots when it is asked, or later."""

    class Momentum(tf.Module):
        def __init__(self):
            self.slots, self.waiting, self.seen = {}, [], []

        def get_slot_names(self):
            return ["momentum"]

        def get_slot(self, variable, name):
            return self.slots.get(variable.ref())

        def make(self, variable, value):
            self.slots[variable.ref()] = tf.Variable(value, trainable=False)
            for position in self.waiting:
                position.restore(self.slots[variable.ref()])
            return self.slots[variable.ref()]

        def _create_or_restore_slot_variable(
            self, slot_variable_position, slot_name, variable, slot_variable_shape=None
        ):
            position = slot_variable_position
            self.seen += [slot_name, position.is_simple_variable(), position.value_shape()]
            if deferred:
                self.waiting.append(position)
                return None
            return self.make(variable, [0.0, 0.0])

    return Momentum()


@in_folder
def case_slots_of_libraries(tf, folder):
    v, optimizer = tf.Variable([1.0, 2.0]), _slots(tf, False)
    optimizer.make(v, [3.0, 4.0])
    path = tf.train.Checkpoint(v=v, optimizer=optimizer).save(folder)
    found = [names(tf, path)]
    for deferred in (False, True):
        v, optimizer = tf.Variable([0.0, 0.0]), _slots(tf, deferred)
        tf.train.Checkpoint(v=v, optimizer=optimizer).restore(path)
        if deferred:
            optimizer.make(v, [7.0, 7.0])
        found.append((v, optimizer.get_slot(v, "momentum"), optimizer.seen))
    return found


@in_folder
def case_parts_that_a_class_remembers(tf, folder):
    """Optimizers of Keras 2 work out their parts once: those that are made later are found too."""

    class Remembering(tf.Module):
        remembered = None

        def _trackable_children(self, save_type="checkpoint", **kwargs):
            if self.remembered is None:
                found = super()._trackable_children(save_type, **kwargs)
                object.__setattr__(self, "remembered", found)  # it is no part itself
            return self.remembered

        def build(self, value):
            self.product, self.slots = tf.Variable(value), []
            self.slots.append(tf.Variable(value))
            return self

    path = tf.train.Checkpoint(one=Remembering().build(3.0)).write(folder)
    one = Remembering()
    status = tf.train.Checkpoint(one=one).read(path)
    one.build(1.0)
    status.assert_consumed()
    return one.product, list(one.slots)
