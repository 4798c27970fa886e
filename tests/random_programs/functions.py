"""Writes functions, and loops and conditionals, which AutoGraph converts in them."""

from .derivatives import DerivativeWriter
from .fill import NothingFits
from .program import compiled
from .write import Rejected, _alike, _spaced


class FunctionWriter(DerivativeWriter):
    """Writes functions and calls of them."""

    def function(self) -> None:
        """A function of one or two tensors, and calls of it."""
        name = self.fresh("f")
        given = self._arguments()
        parameters = [self.fresh("p") for _ in given]
        head = self._decorator(given) + f"def {name}({', '.join(parameters)}):"
        outside = self.values, self.scope
        with self.inside(head), self.deeper(parameters):
            self.values, self.scope = dict(self.values), dict(self.scope)
            try:
                for parameter, argument in zip(parameters, given, strict=True):
                    self.keep(parameter, self.tf.convert_to_tensor(self.values[argument]))
                before = set(self.values) - set(parameters)
                for _ in range(self.rng.randint(1, 5)):
                    self._in_function()
                results = self._return([n for n in self.values if n not in before])
            finally:
                self.values, self.scope = outside
        self._define(name, given, results)
        self._call_or_drop(name, given)

    def _define(self, name: str, given: list[str], results: int) -> None:
        statement = self.block[-1]
        if "dynamic_size" in "\n".join(statement.lines(0)):  # TensorFlow's XLA has none
            statement.text = statement.text.replace("jit_compile=True", "jit_compile=False")
        exec(compiled("\n".join(statement.lines(0))), self.scope)
        if "reduce_retracing" in statement.text:  # no record is of any rank
            self.of_one_rank.add(name)
        self.functions[name] = (given, results)

    def _call_or_drop(self, name: str, given: list[str]) -> None:
        definition = self.block[-1]
        try:
            self._called(name, given)
        except Rejected:
            self.block.remove(definition)
            del self.functions[name]
            raise
        for _ in range(self.rng.choice([0, 0, 1, 2])):
            self.attempted(self.call)

    def _arguments(self) -> list[str]:
        floats = [n for n, v in self.values.items() if self._derivable(v)]
        if not floats:
            raise Rejected
        given = [self.rng.choice(floats)]
        if self.maybe(0.5):
            others = [n for n, v in self.values.items() if _alike(v, None)]
            given.append(self.rng.choice(others))
        return given

    def _decorator(self, given: list[str]) -> str:
        if self.maybe(0.2):
            return ""
        options = []
        if self.maybe(0.4):
            specs = ", ".join(map(self._spec, given))
            options.append(f"input_signature=[{specs}]")
        elif self.maybe(0.2):
            options.append("reduce_retracing=True")
        if self.maybe(0.05):
            options.append("jit_compile=True")
        return f"@tf.function({', '.join(options)})\n" if options else "@tf.function\n"

    def _spec(self, name: str) -> str:
        value = self.values[name]
        shape = None
        if value.shape.rank is not None and not self.maybe(0.06):
            shape = [None if self.maybe(0.5) else n for n in value.shape]
        return f"tf.TensorSpec({shape}, tf.{value.dtype.name})"

    def _return(self, names: list[str]) -> int:
        """The results of a function: how many there are."""
        names = [n for n in names if _alike(self.values[n], None)]
        count = min(len(names), self.rng.choice([1, 1, 2, 3]))
        results = self.rng.sample(names, count)
        if names[-1] not in results:
            results[0] = names[-1]
        like = [n for n in names if _alike(self.values[n], self.values[results[0]])]
        if count == 1 and len(like) > 1 and self.maybe(0.25):
            with self.inside(f"if {self._condition()}:"):
                self.say(f"return {self.rng.choice(like)}")
        self.say(f"return {', '.join(results)}")
        return count

    def call(self) -> None:
        """A call of a function that there is, often by what it was not written for."""
        names = [n for n in self.functions if n in self.scope]
        if not names:
            raise Rejected
        name = self.rng.choice(names)
        given, _ = self.functions[name]
        arguments = []
        for wanted in given:
            fit = [n for n, v in self.values.items() if _alike(v, None)]
            old = self.values.get(wanted)
            if old is not None:
                fit = [n for n in fit if self.values[n].dtype == old.dtype]
            if name in self.of_one_rank and old is not None:
                fit = [n for n in fit if self.values[n].shape.rank == old.shape.rank]
            if not fit:
                raise Rejected
            arguments.append(self.rng.choice(fit))
        self._called(name, arguments)

    def _called(self, name: str, arguments: list[str]) -> None:
        text = f"{name}({', '.join(arguments)})"
        value = self.evaluate(text)
        count = self.functions[name][1]
        names = [self.fresh("y") for _ in range(count)]
        self.say(f"{', '.join(names)} = {text}")
        for result, part in zip(names, [value] if count == 1 else value, strict=True):
            self.keep(result, part, arguments)
            self.out(result)

    def custom_gradient(self) -> None:
        """A function with a gradient of its own, and a call of it."""
        name = self.fresh("c")
        floats = [n for n, v in self.values.items() if self._is_float(v)]
        if not floats:
            raise Rejected
        given = self.rng.choice(floats)
        result = self.rng.choice(["tf.sin(a)", "a * a", "tf.exp(a * 0.3)", "tf.reduce_sum(a)"])
        factor = self.rng.choice(["a", "0.5", "tf.cos(a)", "y", "tf.ones_like(a)"])
        with self.inside(f"@tf.custom_gradient\ndef {name}(a):"):
            self.say(f"y = {result}")
            with self.inside("def grad(dy):"):
                self.say(f"return dy * {factor}")
            self.say("return y, grad")
        self._define(name, [given], 1)
        self._call_or_drop(name, [given])

    # -- What stands in functions.

    def _in_function(self) -> None:
        roll = self.rng.random()
        if roll < 0.12:
            self.attempted(self.conditional)
        elif roll < 0.26:
            self.attempted(self.loop)
        elif roll < 0.31:
            self.attempted(self.array)
        elif roll < 0.38:
            self.assignment()
        elif roll < 0.45 and self.depth < 3:
            self.attempted(self.tape)
        elif roll < 0.5:
            self.attempted(self.call)
        elif roll < 0.53 and self.depth < 3:
            self.attempted(self.custom_gradient)
        else:
            self.operation()

    def _condition(self) -> str:
        floats = [n for n, v in self.values.items() if self._is_float(v)]
        if not floats:
            raise Rejected
        name, number = self.rng.choice(floats), self.fill().number()
        forms = (f"tf.reduce_sum({name}) > {number}", f"tf.reduce_mean({name}) < {number}")
        return self.rng.choice(forms)

    def _start(self) -> str:
        """A new name for a tensor, to be assigned to."""
        floats = [n for n, v in self.values.items() if self._is_float(v)]
        if not floats:
            raise Rejected
        old, name = self.rng.choice(floats[-5:]), self.fresh("z")
        self.say(f"{name} = {old} * 1.0")
        self.keep(name, self.evaluate(f"{old} * 1.0"), [old])
        return name

    def _step(self, name: str) -> None:
        """Give the name another value of its shape."""
        self.say(f"{name} = {self._alike_expression(name)}")

    def _alike_expression(self, name: str) -> str:
        table = self.rng.choice(["UNARY", "BINARY", "SHAPES"])
        for _ in range(10):
            fill = self.fill()
            fill.first, fill.chosen["f"] = self.values[name], name
            try:
                text = _spaced(fill(self.rng.choice(self.tables[table])))
                value = self.evaluate(text)
            except (NothingFits, SyntaxError, Rejected):
                continue
            if _alike(value, self.values[name]):
                return f"({text}) * 0.5" if self.maybe(0.5) else text
        return f"{name} * 0.5 + tf.sin({name})"

    def _locally(self, count: int) -> None:
        """Some statements whose names are not known after the block."""
        for _ in range(count):
            self.operation()

    def conditional(self) -> None:
        name, condition = self._start(), self._condition()
        outside = self.values, self.scope
        for head in [f"if {condition}:", "else:"][: self.rng.choice([1, 2, 2])]:
            with self.inside(head), self.deeper():
                self.values, self.scope = dict(outside[0]), dict(outside[1])
                try:
                    self._locally(self.rng.choice([0, 0, 1]))
                    self._step(name)
                finally:
                    self.values, self.scope = outside

    def loop(self) -> None:
        name = self._start()
        ranked = [n for n, v in self.values.items() if self._is_float(v) and v.shape.rank]
        counter, times = self.fresh("i"), self.rng.randint(0, 4)
        form = self.rng.choice(["while", "while", "tensor", "tensor", "rows", "python"])
        if form == "while":
            self.say(f"{counter} = tf.constant(0)")
            bound = f" and tf.reduce_sum(tf.abs({name})) > 0.3" if self.maybe(0.3) else ""
            head = f"while {counter} < {times}{bound}:"
        elif form == "rows" and ranked:
            head = f"for {counter} in {self.rng.choice(ranked)}:"
        else:
            head = f"for {counter} in {'tf.' * (form == 'tensor')}range({times}):"
        outside = self.values, self.scope
        with self.inside(head), self.deeper():
            self.values, self.scope = dict(outside[0]), dict(outside[1])
            try:
                self._body(name, counter, form if form != "rows" or ranked else "python")
            finally:
                self.values, self.scope = outside

    def _body(self, name: str, counter: str, form: str) -> None:
        if form == "while":
            self.say(f"{counter} += 1")
        if self.maybe(0.2):
            with self.inside(f"if {self._condition()}:"):
                self.say(self.rng.choice(["break", "continue"]))
        self._locally(self.rng.choice([0, 0, 1]))
        self._step(name)
        if form == "rows":
            self.say(f"{name} = {name} * 0.5 + tf.reduce_sum({counter})")
        elif form == "tensor" and self.maybe(0.4):
            self.say(f"{name} += tf.cast({counter}, {name}.dtype)")
        if self.maybe(0.15):
            self.assignment()

    def array(self) -> None:
        """A TensorArray that a loop writes."""
        name, times = self._start(), self.rng.randint(1, 4)
        array, counter, result = self.fresh("w"), self.fresh("i"), self.fresh("x")
        size = self.rng.choice([f"size={times}", "size=0, dynamic_size=True"])
        self.say(f"{array} = tf.TensorArray({self.fill().type}, {size})")
        with self.inside(f"for {counter} in tf.range({times}):"):
            self.say(f"{name} = {self._alike_expression(name)}")
            self.say(f"{array} = {array}.write({counter}, {name})")
        like = self._read(name, array, result, times)
        self.keep(result, self.evaluate(like), [name])

    def _read(self, name: str, array: str, result: str, times: int) -> str:
        """Reads an array; what it gives is of the shape of the expression that is returned."""
        stacked = f"tf.stack([{name}] * {times})"
        forms = {
            "stack()": stacked,
            "read(0)": name,
            f"gather([0, {times - 1}])": f"tf.stack([{name}] * 2)",
        }
        if self.values[name].shape.rank:
            forms["concat()"] = f"tf.concat([{name}] * {times}, 0)"
        read = self.rng.choice(list(forms))
        self.say(f"{result} = {array}.{read}")
        return forms[read]
