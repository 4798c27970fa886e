"""Writes functions of nested control flow, with tapes inside and gradients outside."""

from .interfaces import InterfaceWriter
from .program import compiled
from .write import Rejected

#: What `a` and `s` of a function become: `a` keeps its shape, `s` is a scalar, `n` counts.
STEPS = [
    "a = tf.sin(a) + b * 0.3",
    "a = a * 0.5 - b",
    "a = tf.where(a > s, a * 0.7, b)",
    "a = tf.maximum(a, b) * 0.6",
    "a += tf.cast(n, a.dtype) * 0.1",
    "a *= tf.tanh(s)",
    "a, b = b, a",
    "b = tf.tanh(b * a)",
    "b = b * v * 0.5",
    "s += tf.reduce_sum(a) * 0.2",
    "s = tf.cos(s) * 0.8",
    "s = tf.reduce_mean(tf.abs(a)) + 0.1 * s",
    "n += 1",
    "n = n + tf.cast(s > 0.5, tf.int32)",
    "v.assign(v * 0.5 + 0.2)",
    "v.assign_add(tf.tanh(s) * 0.1)",
    "a = tf.cond(s > 0.1, lambda: a * 0.5, lambda: tf.sin(b))",
    "a = tf.switch_case(n % 3, [lambda: a * 0.5, lambda: tf.cos(a), lambda: b * 0.7])",
    "a = tf.while_loop(lambda i, z: i < n, lambda i, z: (i + 2, z * 0.7), (0, a))[1]",
    "a = a + tf.recompute_grad(lambda z: tf.sin(z) * v)(b)",
    "a = tf.custom_gradient(lambda z: (z * z * 0.3, lambda d: d * 0.7 * z))(a)",
    "a = tf.map_fn(lambda r: tf.sin(r) * s, tf.stack([a, b]))[1]",
    "a = tf.vectorized_map(lambda r: r * 0.5 + tf.reduce_sum(r) * 0.1, tf.stack([a, b]))[0]",
    "a = tf.scan(lambda c, r: c * 0.5 + r, tf.stack([a, b, a]))[-1]",
    "s = tf.foldl(lambda c, r: tf.sin(c) + r * 0.2, tf.stack([s, s * 0.5]), s)",
    "kept.append(a * 0.5)",
    "a = sum(kept, a) * 0.5",
    "pair = (pair[1], a * 0.3)",
    "a = a + pair[0] * 0.4",
    "named = {'x': named['x'] * 0.5 + s}",
    "s = s * 0.5 + named['x'] * 0.1",
]

CONDITIONS = [
    "s > 0.3",
    "tf.reduce_sum(a) < 0.5",
    "n % 2 == 0",
    "s > 0.2 and n < 3",
    "not n > 2",
    "tf.reduce_mean(b) > 0.1 or s < 0.0",
    "0.1 < s < 0.9",
]

LOOPS = [
    "for {i} in tf.range({k}):",
    "for {i} in tf.range({k}, -1, -1):",
    "for {i} in range({k}):",
    "for {i} in tf.range(n):",
    "for {i}, r in enumerate(tf.stack([a, b])):",
]

DERIVATIVES = [
    "a = {t}.gradient(a, {x})",
    "s = tf.reduce_sum({t}.gradient(s, {x}))",
    "a = {t}.gradient([a, s], {x}) * 0.3",
    "s = {t}.gradient(s, v)",
    "a = a + tf.reduce_sum({t}.jacobian(s, {x})) * 0.2",
]

ZERO = ", unconnected_gradients='zero'"


class ControlWriter(InterfaceWriter):
    """Writes functions of `a`, `b`, `v` (a variable), with locals `s`, `n` and some of Python's."""

    def controlled(self) -> None:
        """A function of random control flow, its results and their gradients."""
        floats = [n for n, v in self.values.items() if self._is_float(v) and not self._is_var(n)]
        if not floats or self.depth:
            raise Rejected
        x = self.rng.choice(floats)
        like = [n for n in floats if self.values[n].shape == self.values[x].shape]
        scalars = [n for n, v in self.values.items() if self._is_var(n) and v.shape == []]
        y, name = self.rng.choice(like), self.fresh("f")
        variable = self.rng.choice(scalars) if scalars else self._scalar()
        decorator = self.rng.choice(["@tf.function\n"] * 4 + ["", "@tf.function(autograph=True)\n"])
        with self.inside(f"{decorator}def {name}(a, b, v):"):
            self.say("s = tf.reduce_sum(b) * 0.3")
            self.say("n = tf.constant(1)")
            self.say("kept, pair, named = [], (b, a), {'x': s}")
            for _ in range(self.rng.randint(2, 5)):
                self._controlled_statement(0, False)
            self.say("return a, s, n")
        text = "\n".join(self.block[-1].lines(0))
        exec(compiled(text), self.scope)
        self._differentiated(name, x, y, variable)

    def _scalar(self) -> str:
        """A new variable, made where the program begins."""
        return self._new_variable(f"tf.constant({self.fill().number()}, {self.fill().type})")

    def _new_variable(self, value: str) -> str:
        name = self.fresh("v")
        text = f"{name} = tf.Variable({value})"
        before, self.block = self.block, self.program.setup
        self.say(text)
        self.block = before
        exec(text, self.scope)
        self.keep(name, self.scope[name])
        return name

    def _is_var(self, name: str) -> bool:
        return isinstance(self.values[name], self.tf.Variable) and self._is_float(self.values[name])

    def _differentiated(self, name: str, x: str, y: str, variable: str) -> None:
        """Calls the function under a tape, and takes what it gives apart."""
        tape, results = self.fresh("t"), [self.fresh("y") for _ in range(3)]
        text = f"{name}({x}, {y}, {variable})"
        before = self.scope[variable].numpy()
        with self.tf.GradientTape(persistent=True) as recorded:
            recorded.watch([self.scope[x], self.scope[y]])
            try:
                value = self.evaluate(text)
                self.check(self.scope[variable])
            except Rejected:
                self.scope[variable].assign(before)
                self.block.pop()
                raise
        with self.inside(f"with tf.GradientTape(persistent=True) as {tape}:"):
            self.say(f"{tape}.watch([{x}, {y}])")
            self.say(f"{', '.join(results)} = {text}")
        for result, part in zip(results, value, strict=True):
            self.keep(result, part)
            self.derived.add(result)
            self.out(result)
        self.scope[tape] = recorded
        wanted = f"[{x}, {y}, {variable}]"
        for target in results[:2]:
            names = [self.fresh("g") for _ in range(3)]
            end = self.rng.choice(["", "", ZERO])
            self._take(names, f"{tape}.gradient({target}, {wanted}{end})")

    def _controlled_statement(self, depth: int, loops: bool) -> None:
        roll = self.rng.random()
        if depth < 3 and roll < 0.2:
            self._branch(depth, loops)
        elif depth < 3 and roll < 0.36:
            self._cycle(depth)
        elif depth < 3 and roll < 0.44:
            self._taped(depth)
        elif depth < 3 and roll < 0.5:
            self._array()
        elif loops and roll < 0.6:
            with self.inside(f"if {self.rng.choice(CONDITIONS)}:"):
                self.say(self.rng.choice(["break", "continue"]))
        elif roll < 0.63:
            with self.inside(f"if {self.rng.choice(CONDITIONS)}:"):
                self.say(self.rng.choice(["return a, s, n", "return b * 0.5, s, n + 1"]))
        else:
            self.say(self.rng.choice(STEPS))

    def _several(self, depth: int, loops: bool) -> None:
        for _ in range(self.rng.randint(1, 3)):
            self._controlled_statement(depth + 1, loops)

    def _branch(self, depth: int, loops: bool) -> None:
        with self.inside(f"if {self.rng.choice(CONDITIONS)}:"):
            self._several(depth, loops)
        if self.maybe(0.3):
            with self.inside(f"elif {self.rng.choice(CONDITIONS)}:"):
                self._several(depth, loops)
        if self.maybe(0.6):
            with self.inside("else:"):
                self._several(depth, loops)

    def _cycle(self, depth: int) -> None:
        counter = self.fresh("i")
        if self.maybe(0.4):
            self.say(f"{counter} = tf.constant(0)")
            bound = self.rng.choice(["", " and s < 2.0", " and tf.reduce_sum(tf.abs(a)) > 0.1"])
            with self.inside(f"while {counter} < {self.rng.randint(0, 4)}{bound}:"):
                self.say(f"{counter} += 1")
                self._several(depth, True)
            return
        head = self.rng.choice(LOOPS).format(i=counter, k=self.rng.randint(0, 3))
        with self.inside(head):
            self._several(depth, True)
            if self.maybe(0.4):
                self.say(f"s += tf.cast({counter}, s.dtype) * 0.1")
            if ", r in" in head:
                self.say("a = a * 0.5 + r * 0.3")

    def _taped(self, depth: int) -> None:
        tape, source = self.fresh("t"), self.rng.choice(["a", "b"])
        kept = self.fresh("z")
        self.say(f"{kept} = {source}")
        with self.inside(f"with tf.GradientTape(persistent=True) as {tape}:"):
            self.say(f"{tape}.watch({kept})")
            self.say(f"{source} = {kept} * {kept} * 0.4 + {source} * 0.1")
            self.say("s = s * 0.5 + tf.reduce_sum(a * b) * 0.2")
            self._several(depth, False)
            self.say(f"s = s * v * 0.5 + tf.reduce_sum({kept}) * 0.1")
        text = self.rng.choice(DERIVATIVES).format(t=tape, x=kept)
        if "gradient(" in text:
            text = text.replace(f", {kept})", f", {kept}{ZERO})").replace(", v)", f", v{ZERO})")
        self.say(text)

    def _array(self) -> None:
        array, counter, times = self.fresh("w"), self.fresh("i"), self.rng.randint(1, 3)
        size = self.rng.choice(
            [f"{times}", "0, dynamic_size=True", f"{times}, clear_after_read=False"]
        )
        self.say(f"{array} = tf.TensorArray(a.dtype, {size})")
        with self.inside(f"for {counter} in tf.range({times}):"):
            self.say(self.rng.choice(STEPS[:16]))
            self.say(f"{array} = {array}.write({counter}, a * tf.cast({counter} + 1, a.dtype))")
        self.say(f"a = tf.reduce_sum({array}.stack(), 0) * 0.3")
        if self.maybe(0.3):
            self.say(f"a = a + {array}.read({times - 1}) * 0.2")
