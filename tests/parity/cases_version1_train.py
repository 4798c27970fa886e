"""`tf.compat.v1.train` in eager code and in functions: optimizers, learning rates, step count."""

import os
import tempfile

from .harness import attempt, attempts

NEEDS = ("compat.v1.train.AdamOptimizer",)

OPTIMIZERS = {
    "descent": ("GradientDescentOptimizer", (0.1,), {}),
    "momentum": ("MomentumOptimizer", (0.1, 0.9), {}),
    "nesterov": ("MomentumOptimizer", (0.1, 0.9), {"use_nesterov": True}),
    "adam": ("AdamOptimizer", (), {}),
    "adam epsilon": ("AdamOptimizer", (0.1, 0.5, 0.8, 0.1), {}),
    "adagrad": ("AdagradOptimizer", (0.1,), {}),
    "adagrad initial": ("AdagradOptimizer", (0.1, 1.0), {}),
    "rmsprop": ("RMSPropOptimizer", (0.01,), {}),
    "rmsprop momentum": ("RMSPropOptimizer", (0.01, 0.8, 0.5, 0.01), {}),
    "rmsprop centered": ("RMSPropOptimizer", (0.01,), {"centered": True, "momentum": 0.3}),
    "adadelta": ("AdadeltaOptimizer", (1.0,), {}),
    "adadelta rho": ("AdadeltaOptimizer", (0.5, 0.5, 0.1), {}),
    "ftrl": ("FtrlOptimizer", (0.1,), {}),
    "ftrl penalties": (
        "FtrlOptimizer",
        (0.2, -0.6, 0.3),
        {"l1_regularization_strength": 0.05, "l2_regularization_strength": 0.1, "beta": 0.2},
    ),
    "ftrl shrinkage": ("FtrlOptimizer", (0.1,), {"l2_shrinkage_regularization_strength": 0.1}),
    "ftrl power": ("FtrlOptimizer", (0.1, 0.0), {}),
    "proximal": ("ProximalGradientDescentOptimizer", (0.1,), {}),
    "proximal penalties": ("ProximalGradientDescentOptimizer", (0.1, 0.3, 0.2), {}),
    "proximal adagrad": ("ProximalAdagradOptimizer", (0.1, 0.2, 0.3, 0.1), {}),
}


def _optimizer(tf, name):
    kind, arguments, more = OPTIMIZERS[name]
    return getattr(tf.compat.v1.train, kind)(*arguments, **more)


def _state(optimizer, variables):
    names = optimizer.get_slot_names()
    slots = {name: [optimizer.get_slot(v, name).numpy() for v in variables] for name in names}
    return [v.numpy() for v in variables], slots, len(optimizer.variables())


def _five_steps(name, in_function):
    def case(tf):
        optimizer = _optimizer(tf, name)
        w, b = tf.Variable([[1.0, -2.0], [0.5, 3.0]]), tf.Variable([0.3, -0.1])
        unused = tf.Variable(1.0)
        x = tf.constant([[1.0, 2.0], [0.5, -1.0], [2.0, 0.3]])
        count = tf.Variable(0)

        def loss():
            return tf.reduce_mean(tf.square(tf.tanh(x @ w + b) - 0.5))

        def step():
            pairs = optimizer.compute_gradients(loss, [w, b, unused])
            optimizer.apply_gradients(pairs, global_step=count)
            return pairs[0][0]

        if in_function:
            step = tf.function(step)
        return [step() for _ in range(5)], _state(optimizer, [w, b]), unused, count

    return case


def _five_steps_of_rows(name):
    def case(tf):
        optimizer = _optimizer(tf, name)
        table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [-1.0, 0.1]])

        def loss():
            return tf.reduce_sum(tf.nn.embedding_lookup(table, [2, 2, 0]) ** 2)

        for _ in range(3):
            optimizer.minimize(loss)
        optimizer.apply_gradients(
            [(tf.IndexedSlices(tf.constant([[0.5, -1.0]]), tf.constant([3], tf.int64)), table)]
        )
        tf.function(lambda: optimizer.minimize(loss) and None)()
        return _state(optimizer, [table])

    return case


CASES = {
    **{f"five steps {name}": _five_steps(name, False) for name in OPTIMIZERS},
    **{
        f"recorded {name}": _five_steps(name, True)
        for name in ("nesterov", "adam", "rmsprop centered", "ftrl penalties", "proximal adagrad")
    },
    **{f"rows {name}": _five_steps_of_rows(name) for name in OPTIMIZERS},
}
for _case in CASES.values():
    _case.parity = {"rtol": 1e-4, "atol": 1e-6}


def case_dual_averaging(tf):
    found = []
    for options in ({}, {"l1_regularization_strength": 0.3, "l2_regularization_strength": 0.1}):
        step = tf.Variable(0, dtype=tf.int64)
        optimizer = tf.compat.v1.train.AdagradDAOptimizer(0.1, step, **options)
        v = tf.Variable([[1.0, -2.0], [0.5, 0.1]])
        for _ in range(3):
            optimizer.minimize(lambda v=v: tf.reduce_sum(v * v), global_step=step)
        rows = tf.IndexedSlices(tf.constant([[1.0, 2.0]] * 2), tf.constant([1, 1]))
        optimizer.apply_gradients([(rows, v)], global_step=step)
        found.append((_state(optimizer, [v]), step))
    return found, attempt(tf.compat.v1.train.AdagradDAOptimizer, 0.1, step, 0.0)


def case_moving_average(tf):
    average, v = tf.train.ExponentialMovingAverage(0.5, zero_debias=True), tf.Variable(4.0)
    found = []
    for value in (4.0, 2.0, 1.0):
        v.assign(value)
        average.apply([v])
        found.append(average.average(v).numpy())
    return found


def case_dtypes(tf):
    found = []
    for dtype in (tf.float64, tf.float16):
        for name in OPTIMIZERS:
            if name.startswith("proximal"):  # for float32 alone in TensorFlow
                continue
            v = tf.Variable(tf.constant([1.0, -2.0], dtype))
            optimizer = _optimizer(tf, name)
            optimizer.apply_gradients([(tf.constant([0.5, 0.25], dtype), v)])
            found.append((v, [slot.dtype for slot in optimizer.variables()]))
    return found


def case_names(tf):
    tf.compat.v1.reset_default_graph()
    found = []
    for name in ("momentum", "adam", "rmsprop centered", "rmsprop", "ftrl", "descent"):
        pairs = [(tf.ones([]), tf.Variable(1.0, name=text)) for text in ("w", "w", "a/b")]
        optimizer = _optimizer(tf, name)
        optimizer.apply_gradients(pairs)
        found.append(
            (
                optimizer.get_name(),
                optimizer.get_slot_names(),
                [v.name for v in optimizer.variables()],
                [
                    [optimizer.get_slot(v, slot).name for _, v in pairs]
                    for slot in optimizer.get_slot_names()
                ],
                [
                    optimizer.get_slot(pairs[0][1], "none"),
                    optimizer.get_slot(tf.Variable(1.0), "m"),
                ],
                [v.trainable for v in optimizer.variables()],
            )
        )
    tf.compat.v1.reset_default_graph()
    return found


def case_rates(tf):
    """A rate as a number, a tensor, a variable, a function, a decay."""
    train = tf.compat.v1.train
    step, rate = tf.Variable(0, dtype=tf.int64), tf.Variable(0.5)
    rates = (
        tf.constant(0.25),
        rate,
        lambda: rate * 2.0,
        train.exponential_decay(0.5, step, 1, 0.5),
        1,
    )
    found = []
    for each in rates:
        v = tf.Variable([1.0, 2.0])
        optimizer = train.GradientDescentOptimizer(each)
        step.assign(0)
        for _ in range(3):
            optimizer.minimize(lambda v=v: tf.reduce_sum(v), global_step=step)
        found.append((v, step.numpy()))
    v = tf.Variable(1.0)
    optimizer = train.AdamOptimizer(lambda: rate, beta1=lambda: 0.5, epsilon=lambda: 0.1)
    optimizer.minimize(lambda: v * v)
    return found, v


def case_errors(tf):
    train = tf.compat.v1.train
    tf.compat.v1.get_collection_ref("trainable_variables").clear()  # of other cases
    v, w = tf.Variable(1.0), tf.Variable([1.0, 2.0], constraint=lambda x: tf.minimum(x, 1.0))
    optimizer = train.AdamOptimizer()
    slices = tf.IndexedSlices(tf.ones([1]), tf.constant([0]))
    found = attempts(
        tf,
        {
            "tensor": lambda tf: optimizer.minimize(v * v),
            "no pair": lambda tf: optimizer.apply_gradients([]),
            "all none": lambda tf: optimizer.apply_gradients([(None, v)]),
            "shape": lambda tf: optimizer.apply_gradients([(tf.ones([2]), v)]),
            "no gradient": lambda tf: optimizer.minimize(lambda: tf.constant(1.0), var_list=[v]),
            "no variable": lambda tf: optimizer.minimize(lambda: tf.constant(1.0)),
            "constraint": lambda tf: optimizer.apply_gradients([(tf.ones([2]), w)]),
            "constraint rows": lambda tf: optimizer.apply_gradients([(slices, w)]),
            "no name": lambda tf: train.Optimizer(False, ""),
            "base": lambda tf: train.Optimizer(False, "x").apply_gradients([(1.0, v)]),
            "adagrad": lambda tf: train.AdagradOptimizer(0.1, 0.0),
            "proximal adagrad": lambda tf: train.ProximalAdagradOptimizer(0.1, -1.0),
            "ftrl power": lambda tf: train.FtrlOptimizer(0.1, 1.0),
            "ftrl initial": lambda tf: train.FtrlOptimizer(0.1, initial_accumulator_value=-1.0),
            "ftrl l1": lambda tf: train.FtrlOptimizer(0.1, l1_regularization_strength=-1.0),
            "recorded": lambda tf: tf.function(lambda: optimizer.minimize(v * v) and None)(),
            "gate": lambda tf: tf.function(
                lambda: optimizer.minimize(v * v, var_list=[v], gate_gradients=7)
            )(),
            "gates": lambda tf: [train.Optimizer.GATE_NONE, train.Optimizer.GATE_GRAPH],
        },
        words=7,
    )
    return found, w


def case_tensor_in_a_function(tf):
    train = tf.compat.v1.train
    v, w = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    optimizer = train.MomentumOptimizer(0.1, 0.9)

    @tf.function
    def step():
        loss = tf.reduce_sum(v * v) * w
        pairs = optimizer.compute_gradients(loss, [v, w], grad_loss=tf.constant(2.0))
        optimizer.apply_gradients(pairs)
        return [gradient for gradient, _ in pairs]

    return [step(), step(), v, w, optimizer.get_slot(v, "momentum")]


def case_an_optimizer_of_ones_own(tf):
    """What programs that derive from `Optimizer` override."""
    base = tf.compat.v1.train.Optimizer

    class Signs(base):
        def __init__(self, rate):
            super().__init__(False, "Signs")
            self._rate = rate

        def _create_slots(self, var_list):
            for v in var_list:
                self._zeros_slot(v, "count", self._name)
                self._get_or_make_slot(v, tf.ones_like(v), "one", "One")
            self._create_non_slot_variable(0.0, "steps", var_list[0])

        def _prepare(self):
            self._rate_now = tf.convert_to_tensor(self._call_if_callable(self._rate))

        def _resource_apply_dense(self, grad, var):
            self.get_slot(var, "count").assign_add(tf.ones_like(grad))
            return var.assign_sub(self._rate_now * tf.sign(grad))

        def _resource_apply_sparse(self, grad, var, indices):
            return var.scatter_sub(tf.IndexedSlices(grad, indices))

        def _finish(self, update_ops, name_scope):
            steps = self._get_non_slot_variable("steps")
            return tf.group(*update_ops, steps.assign_add(1.0))

    optimizer = Signs(lambda: 0.5)
    v, table = tf.Variable([1.0, -1.0]), tf.Variable([1.0, 2.0, 3.0])
    rows = tf.IndexedSlices(tf.constant([1.0, 2.0]), tf.constant([1, 1]))
    for _ in range(2):
        optimizer.minimize(lambda: tf.reduce_sum(v * v))
        optimizer.apply_gradients([(rows, table)])
    kept = sorted(optimizer.variables(), key=lambda variable: variable.name)
    return v, table, [variable.numpy() for variable in kept]


def case_checkpoints(tf):
    def made():
        v, optimizer = tf.Variable([1.0, 2.0]), tf.compat.v1.train.AdamOptimizer(0.1)
        return v, optimizer, tf.train.Checkpoint(v=v, optimizer=optimizer)

    with tempfile.TemporaryDirectory() as folder:
        v, optimizer, checkpoint = made()
        for _ in range(3):
            optimizer.minimize(lambda: tf.reduce_sum(v * v))
        path = checkpoint.save(os.path.join(folder, "a"))
        names = sorted(name for name, _ in tf.train.list_variables(path))
        kept = _state(optimizer, [v])
        other, again, reader = made()
        status = reader.restore(path)
        again.minimize(lambda: tf.reduce_sum(other * other))
        status.assert_consumed()
        optimizer.minimize(lambda: tf.reduce_sum(v * v))
        return names, kept, _state(again, [other]), _state(optimizer, [v])


def case_decays(tf):
    train = tf.compat.v1.train
    decays = {
        "exponential": lambda s: train.exponential_decay(0.5, s, 3, 0.7),
        "exponential stairs": lambda s: train.exponential_decay(0.5, s, 3, 0.7, True),
        "natural": lambda s: train.natural_exp_decay(0.5, s, 3, 0.7),
        "natural stairs": lambda s: train.natural_exp_decay(0.5, s, 3, 0.7, staircase=True),
        "inverse": lambda s: train.inverse_time_decay(0.5, s, 3, 0.7),
        "inverse stairs": lambda s: train.inverse_time_decay(0.5, s, 3, 0.7, True),
        "piecewise": lambda s: train.piecewise_constant(s, [2, 4], [1.0, 0.5, 0.1]),
        "piecewise two": lambda s: train.piecewise_constant_decay(s, [3], [1, 2]),
        "polynomial": lambda s: train.polynomial_decay(0.5, s, 4),
        "polynomial power": lambda s: train.polynomial_decay(0.5, s, 4, 0.1, 2.0),
        "polynomial cycle": lambda s: train.polynomial_decay(0.5, s, 4, 0.1, 0.5, cycle=True),
        "cosine": lambda s: train.cosine_decay(0.5, s, 6),
        "cosine alpha": lambda s: train.cosine_decay(0.5, s, 6, 0.2),
        "restarts": lambda s: train.cosine_decay_restarts(0.5, s, 2),
        "restarts equal": lambda s: train.cosine_decay_restarts(0.5, s, 2, 1.0, 0.5, 0.1),
        "restarts low": lambda s: train.cosine_decay_restarts(0.5, s, 2, 1.5, 0.5),
        "linear cosine": lambda s: train.linear_cosine_decay(0.5, s, 6),
        "linear cosine more": lambda s: train.linear_cosine_decay(0.5, s, 6, 2.0, 0.1, 0.2),
        "noisy": lambda s: train.noisy_linear_cosine_decay(0.5, s, 6, initial_variance=0.0),
        "tensor": lambda s: train.exponential_decay(tf.constant(0.5, tf.float64), s, 3, 0.7),
    }
    step = tf.Variable(0, dtype=tf.int64)
    found = {}
    for name, decay in decays.items():
        later, rates = decay(step), []
        for number in range(8):
            step.assign(number)
            rates.append(later())
        found[name] = rates, tf.function(lambda decay=decay: decay(step))()
    return found, attempts(
        tf,
        {
            "boundaries": lambda tf: train.piecewise_constant(step, [1.0], [1.0, 2.0]),
            "values": lambda tf: train.piecewise_constant(step, [1], [1.0, 2]),
        },
    )


def case_global_step(tf):
    tf.compat.v1.reset_default_graph()
    train, v1 = tf.compat.v1.train, tf.compat.v1
    before = train.get_global_step()
    step = train.get_or_create_global_step()
    v = tf.Variable(1.0)
    for _ in range(3):
        train.GradientDescentOptimizer(0.1).minimize(lambda: v * v, global_step=step)
    inside = []
    tf.function(lambda: inside.append(train.get_global_step() is step))()
    found = [
        before,
        step,
        step.name,
        step.trainable,
        train.get_global_step() is step,
        train.get_or_create_global_step() is step,
        train.global_step(None, step),
        v1.get_collection(v1.GraphKeys.GLOBAL_STEP)[0] is step,
        inside,
        attempt(train.create_global_step),
        attempt(train.assert_global_step, step),
        attempt(train.assert_global_step, 3),
        attempt(train.assert_global_step, tf.constant(1.0)),
        attempt(train.assert_global_step, tf.constant([1])),
    ]
    v1.reset_default_graph()
    return found, train.get_global_step()


def case_saver(tf):
    train = tf.compat.v1.train
    v, w = tf.Variable([1.0, 2.0], name="v"), tf.Variable(3, name="a/w")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        saver = train.Saver([v, w], max_to_keep=2)
        paths = [saver.save(None, path, global_step=step) for step in range(4)]
        found = [
            [os.path.basename(each) for each in paths],
            sorted(os.listdir(folder)),
            [os.path.basename(each) for each in saver.last_checkpoints],
            os.path.basename(tf.train.latest_checkpoint(folder)),
            tf.train.list_variables(paths[-1]),
        ]
        v.assign([9.0, 9.0])
        saver.restore(None, paths[-1])
        found.append([v.numpy(), w.numpy()])
        padded = train.Saver({"x": v}, pad_step_number=True).save(None, path, tf.Variable(7))
        deep = train.Saver({"x": v}).save(None, os.path.join(folder, "deep", "model"))
        found += [os.path.basename(padded), tf.train.list_variables(deep)]
        saver.save(None, path, 7, latest_filename="newest")
        for name in (None, "newest"):
            found.append(os.path.basename(tf.train.latest_checkpoint(folder, name)))
        return found, attempts(
            tf,
            {
                "none": lambda tf: train.Saver(),
                "restore none": lambda tf: saver.restore(None, None),
                "no checkpoint": lambda tf: saver.restore(None, paths[0]),
                "name": lambda tf: train.Saver({"y": v}).restore(None, padded),
                "shape": lambda tf: train.Saver({"x": tf.Variable([1.0])}).restore(None, padded),
                "dtype": lambda tf: train.Saver({"x": tf.Variable([1, 2])}).restore(None, padded),
                "latest": lambda tf: saver.save(None, path, latest_filename="a/b"),
                "recorded": lambda tf: tf.function(lambda: saver.save(None, path))(),
            },
            words=7,
        )


def _state(found):
    return (
        found.model_checkpoint_path,
        list(found.all_model_checkpoint_paths),
        list(found.all_model_checkpoint_timestamps),
        found.last_preserved_timestamp,
    )


def case_states_of_checkpoints(tf):
    make = tf.compat.v1.train.generate_checkpoint_state_proto
    found = [
        make("a", "b", ["a/c", "d"], [1.0, 2.0, 3.0], 4.5),
        make("a/b", "a/b/x"),
        make("/a", "/a/x", None, [7.0]),
        make("/a", "/a/x", ["/a/x", "/a/y"]),
    ]
    return [_state(each) for each in found], attempts(
        tf, {"times": lambda tf: make("a", "b", ["c"], [1.0])}
    )


def case_files_of_checkpoints(tf):
    train = tf.compat.v1.train
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = tf.train.Checkpoint(v=tf.Variable([1.0]))
        one, two = [checkpoint.save(os.path.join(folder, "m")) for _ in range(2)]
        times = train.get_checkpoint_mtimes([one, two, f"{folder}/none"])
        train.update_checkpoint_state(folder, one, [one])
        latest = os.path.basename(tf.train.latest_checkpoint(folder))
        train.update_checkpoint_state(folder, two, [one], "other", [5.0, 6.0], 2.0)
        with open(os.path.join(folder, "other")) as file:
            text = file.read().replace(folder, "folder")
        train.remove_checkpoint(one)
        train.remove_checkpoint(os.path.join(folder, "none"))
        return len(times), times[0] <= times[1], latest, text, sorted(os.listdir(folder))


def case_variables_of_a_checkpoint(tf):
    init, name = tf.compat.v1.train.init_from_checkpoint, "v/.ATTRIBUTES/VARIABLE_VALUE"
    v, w = tf.Variable([0.0, 0.0]), tf.Variable([0.0, 0.0])
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as empty:
        path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).save(os.path.join(folder, "m"))
        init(folder, {name: v})
        init(path, [(name, w)])
        init(path, {"v/": "scope/"})
        return (
            v,
            w,
            attempts(
                tf,
                {
                    "name": lambda tf: init(path, {name: "s/w"}),
                    "shape": lambda tf: init(path, {name: tf.Variable([1.0])}),
                    "dtype": lambda tf: init(path, {name: tf.Variable([1, 2])}),
                    "none": lambda tf: init(path, {"x": v}),
                    "empty": lambda tf: init(empty, {name: v}),
                    "no file": lambda tf: init(os.path.join(folder, "none"), {name: v}),
                },
                words=3,
            ),
        )


def case_versions_of_graphs(tf):
    version = tf.version
    return (
        isinstance(version.COMPILER_VERSION, str),
        version.GRAPH_DEF_VERSION,
        version.GRAPH_DEF_VERSION_MIN_CONSUMER,
        version.GRAPH_DEF_VERSION_MIN_PRODUCER,
        tf.compat.v1.GRAPH_DEF_VERSION,
    )
