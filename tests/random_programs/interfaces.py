"""Writes datasets, functions of nests and keywords, and modules that are saved and loaded again."""

from .functions import FunctionWriter
from .program import compiled
from .write import Rejected

#: What follows a dataset of the rows of a tensor, and what its elements are made into.
STEPS = [
    ".map(lambda r: r * 2.0)",
    ".map(lambda r: tf.sin(r) + tf.reduce_sum(r))",
    ".map(lambda r: tf.reduce_max(r))",
    ".map(lambda r: tf.concat([[tf.reduce_sum(r)], tf.reshape(r, [-1])], 0))",
    ".enumerate().map(lambda i, r: r * tf.cast(i, r.dtype))",
    ".map(lambda r: {'a': r, 'b': r + 1.0}).map(lambda d: d['a'] * d['b'])",
    ".map(lambda r: (r, -r)).map(lambda a, b: tf.maximum(a, b))",
    ".filter(lambda r: tf.reduce_sum(r) > 0.0)",
    ".scan(tf.constant(0), lambda i, r: (i + 1, r * tf.cast(i, r.dtype)))",
    ".flat_map(lambda r: tf.data.Dataset.from_tensors(r).repeat(2))",
    ".interleave(lambda r: tf.data.Dataset.from_tensors(r).repeat(2), cycle_length=2)",
    ".repeat(2)",
    ".skip(1)",
    ".take(2)",
    ".take_while(lambda r: tf.reduce_sum(r) < 1.0)",
    ".shard(2, 0)",
    ".batch(2)",
    ".batch(2, drop_remainder=True)",
    ".batch(2).unbatch()",
    ".padded_batch(2)",
    ".window(2, shift=1).flat_map(lambda w: w.batch(2))",
    ".cache()",
    ".prefetch(1)",
    ".rebatch(2)",
    ".map(lambda r: tf.cast(r, tf.int32)).map(lambda r: tf.cast(r, tf.float32))",
]

#: Functions of a nest, with what a keyword gives them: calls and the result as a tensor.
NESTED = """\
@tf.function
def {name}(a, *rest, scale=1.0, deep=None):
    made = {{"sum": a["x"] * scale, "pair": (a["y"][0], {expression})}}
    for r in rest:
        made["sum"] += tf.reduce_sum(r)
    if deep is not None:
        made["sum"] = made["sum"] * deep["k"][0]
    return made"""

NESTED_CALLS = [
    '{name}({{"x": {x}, "y": [{y}]}})',
    '{name}({{"x": {x}, "y": ({y}, 2.0)}}, scale=0.5)',
    '{name}({{"y": [{y}], "x": {x}}}, {y}, scale={n})',
    '{name}({{"x": {x}, "y": [{y}]}}, {y}, {x}, deep={{"k": [{n}]}})',
    '{name}({{"x": {x}, "y": [{y}]}}, scale=tf.constant({n}, {x}.dtype), deep=dict(k=({n}, None)))',
]


class InterfaceWriter(FunctionWriter):
    """Writes what goes in and out of programs."""

    def dataset(self) -> None:
        """Elements of a dataset. TensorFlow may crash where they are of size 0."""
        ranked = [n for n, v in self.values.items() if self._is_float(v) and v.shape.rank]
        ranked = [n for n in ranked if self._size(n)]
        if not ranked:
            raise Rejected
        name, given = self.fresh("d"), self.rng.choice(ranked)
        steps = "".join(self.rng.choices(STEPS, k=self.rng.randint(1, 4)))
        self._whole(f"{name} = list(tf.data.Dataset.from_tensor_slices({given}){steps})")

    def _whole(self, text: str) -> None:
        """A statement of eager code, whose result is looked at and not used."""
        name, _, expression = text.partition(" = ")
        self.scope[name] = self.evaluate(expression)
        self.program.eager = True
        self.say(text)
        self.say(f'out["{name}"] = {name}')

    def nested_call(self) -> None:
        """A function of a nest, and calls of it, under a tape too."""
        floats = [n for n, v in self.values.items() if self._is_float(v)]
        if not floats:
            raise Rejected
        x, y, name = self.rng.choice(floats), self.rng.choice(floats), self.fresh("f")
        inner = self.rng.choice(["tf.sin(a['x'])", "a['x'] * a['x']", "tf.reduce_sum(a['y'][0])"])
        text = NESTED.format(name=name, expression=inner)
        exec(compiled(text), self.scope)
        self.say(text)
        for _ in range(self.rng.randint(1, 3)):
            call = self.rng.choice(NESTED_CALLS)
            call = call.format(name=name, x=x, y=y, n=self.fill().number())
            part = self.rng.choice(["['sum']", "['pair'][0]", "['pair'][1]"])
            result = self.fresh("y")
            self.keep(result, self.evaluate(call + part), [x, y])
            self.say(f"{result} = {call}{part}")
            self.out(result)

    def saved_function(self) -> None:
        """A function, saved and loaded again: what it gives, and its gradient."""
        names = [n for n in self.functions if n in self.scope]
        names = [n for n in names if getattr(self.scope[n], "input_signature", ()) is None]
        if not names or self.depth:
            raise Rejected
        name = self.rng.choice(names)
        given = [n for n in self.functions[name][0] if n in self.values]
        if len(given) != len(self.functions[name][0]):
            raise Rejected
        arguments = ", ".join(f"tf.convert_to_tensor({n})" for n in given)
        call = f"reloaded({name}, tf, {arguments})"
        self._whole(f"{self.fresh('s')} = attempt(lambda: {call})")
