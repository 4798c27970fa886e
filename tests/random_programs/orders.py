"""Writes derivatives of derivatives, what happens to tapes, and gradients by rows."""

from collections.abc import Callable
from typing import Any

from .control import ControlWriter
from .program import compiled
from .write import Rejected

#: What a tape or an accumulator over another one gives: `{y}` is the function's value for `x`.
ORDERS = [
    """\
with tf.autodiff.ForwardAccumulator({x}, {tangent}) as {t}:
    with tf.GradientTape() as {u}:
        {u}.watch({x})
        {r} = {y}
    {g} = {u}.gradient({r}, {x}{zero})
{h} = {t}.jvp({g}{zero})""",
    """\
with tf.GradientTape() as {t}:
    {t}.watch({x})
    with tf.autodiff.ForwardAccumulator({x}, {tangent}) as {u}:
        {r} = {y}
    {g} = {u}.jvp({r}{zero})
{h} = {t}.gradient({g}, {x}{zero})""",
    """\
with tf.GradientTape(persistent=True) as {t}:
    {t}.watch({x})
    with tf.GradientTape() as {u}:
        {u}.watch({x})
        {r} = {y}
    {g} = {u}.gradient({r}, {x}{zero})
{h} = {t}.gradient({g}, {x}{zero}, output_gradients={tangent})
{k} = {t}.gradient([{g}, {r}], {x}{zero})""",
    """\
with tf.GradientTape() as {t}:
    {t}.watch({x})
    with tf.GradientTape() as {u}:
        {u}.watch({x})
        {r} = {y}
    {g} = {u}.gradient({r}, {x}{zero})
{h} = {t}.jacobian({g}, {x}{zero})""",
    """\
with tf.GradientTape() as {t}:
    {t}.watch({x})
    with tf.GradientTape() as {u}:
        {u}.watch({x})
        {r} = {y}
    {g} = {u}.jacobian({r}, {x}{zero})
{h} = {t}.gradient({g}, {x}{zero})""",
    """\
with tf.autodiff.ForwardAccumulator({x}, {tangent}) as {t}:
    with tf.autodiff.ForwardAccumulator({x}, {tangent} * 0.5) as {u}:
        {r} = {y}
    {g} = {u}.jvp({r}{zero})
{h} = {t}.jvp({g}{zero})""",
    """\
with tf.GradientTape() as {t}:
    {t}.watch({x})
    with tf.GradientTape() as {u}:
        {u}.watch({x})
        with tf.GradientTape() as t0:
            t0.watch({x})
            {r} = {y}
        {g} = t0.gradient({r}, {x}{zero})
    {k} = {u}.gradient({g}, {x}{zero})
{h} = {t}.gradient({k}, {x}{zero})""",
    """\
with tf.GradientTape() as {t}:
    {t}.watch({x})
    {r} = tf.vectorized_map(lambda r: r * 0.5 + tf.reduce_sum({y}) * 0.1, tf.stack([{x}, {x}]))
{g} = {t}.gradient({r}, {x}{zero})""",
    """\
with tf.GradientTape() as {t}:
    {t}.watch({x})
    {r} = tf.recompute_grad(lambda {x}: {y})({x})
{g} = {t}.gradient({r}, {x}{zero})""",
    """\
with tf.GradientTape() as {t}:
    {t}.watch({x})
    {r} = tf.map_fn(lambda {x}: {y}, tf.stack([{x}, {x} * 0.5]))
{g} = {t}.gradient({r}, {x}{zero})""",
]

#: What happens to tapes. `{bad}` raises; `{v}` is a variable of the shape of `x`, as its value is.
HAPPENINGS = [
    """\
try:
    with tf.GradientTape(persistent=True) as {t}:
        {t}.watch({x})
        {r} = {y}
        {v}.assign({x} * 0.5)
        {g} = {v} * {x}
        {bad}
except Exception:
    {h} = {v} + 1.0
{k} = {t}.gradient({r}, {x}{zero})
{m} = {t}.gradient({g}, [{v}, {x}])[1]""",
    """\
with tf.GradientTape(persistent=True) as {t}:
    {t}.watch({x})
    {r} = {y}
    {t}.reset()
    {t}.watch({x})
    {g} = tf.sin({x}) * {v}
{h} = {t}.gradient({g}, {x})
{k} = {t}.gradient({r}, {x}{zero})""",
    """\
{t} = tf.GradientTape(persistent=True)
with {t}:
    {t}.watch({x})
    {r} = {y}
with {t}:
    {g} = tf.reduce_sum({r}) * {v} + {x}
    with {t}.stop_recording():
        {h} = {t}.gradient({g}, {x}{zero})
    {k} = {h} * {x}
{m} = {t}.gradient({k}, {x}{zero})
del {t}""",
    """\
with tf.GradientTape(watch_accessed_variables=False) as {t}:
    {t}.watch({x})
    {r} = {y}
    {g} = {v} * {x} * tf.reduce_sum({r})
{h} = {t}.gradient({g}, [{x}, {v}], unconnected_gradients="zero")[1]""",
    """\
with tf.GradientTape(persistent=True) as {t}:
    {g} = {v} * 2.0
    {v}.assign({v} * {v})
    {h} = {v} * {v}
    {v}.assign_sub({h} * 0.1)
    {v}.assign({v})
    {k} = {g} * {h} * {v}
{m} = {t}.gradient({k}, {v})
{r} = {t}.gradient({h}, {v})""",
    """\
with tf.GradientTape(persistent=True) as {t}:
    {t}.watch({x})
    @tf.function
    def {u}(a):
        {v}.assign(a * 0.5)
        return {v} * a * tf.reduce_sum({v})
    {r} = {u}({x})
    {g} = {u}({r}) + {v}
{h} = {t}.gradient({g}, {x})
{k} = {t}.gradient({g}, {v})""",
    """\
@tf.function
def {u}(a, b):
    with tf.GradientTape() as inner:
        inner.watch(b)
        c = tf.sin(a) * b * {v}
    return c, inner.gradient(c, [b, {v}])
with tf.GradientTape(persistent=True) as {t}:
    {t}.watch({x})
    {r}, [{g}, {h}] = {u}({x}, {x} * 2.0)
    {k} = {g} * {h} + {r}
{m} = {t}.gradient({k}, {x})
{w} = {t}.gradient({g}, {v})""",
    """\
@tf.custom_gradient
def {u}(a):
    b = a * {v}
    def back(d, variables=None):
        return d * a * 0.3, [d * tf.cos(w) for w in variables]
    return b, back
with tf.GradientTape(persistent=True) as {t}:
    {t}.watch({x})
    {r} = {x}
    for i in range({n}):
        {r} = tf.sin({u}({r})) + {x}
{g} = {t}.gradient({r}, {x})
{h} = {t}.gradient({r}, {v})""",
    """\
@tf.custom_gradient
def {u}(a):
    def back(d):
        return d * a * 0.3
    return tf.sin(a) * 2.0, back
@tf.function
def {w}(a):
    for i in tf.range({n}):
        if tf.reduce_sum(a) > 0.5:
            a = {u}(a) * 0.5
        else:
            a = a + {u}(a * {v})
    return a
with tf.GradientTape(persistent=True) as {t}:
    {t}.watch({x})
    {r} = {w}({x})
    {g} = {t}.gradient({r}, {x})
{h} = {t}.gradient({r}, {v}{zero})
{k} = {t}.gradient({g}, {x}{zero})""",
]

#: Gradients of rows of a variable: `{at}` are some of its rows.
ROWS = [
    """\
with tf.GradientTape() as {t}:
    {r} = tf.gather({v}, {at}) * {n}
    {g} = tf.reduce_sum({r} * {r})
{h} = {t}.gradient({g}, {v})
{v}.assign_sub(tf.convert_to_tensor({h}) * 0.1)""",
    """\
with tf.GradientTape() as {t}:
    {r} = tf.nn.embedding_lookup({v}, {at}, max_norm={n})
    {g} = tf.reduce_sum({r} * {r}) + tf.reduce_sum(tf.gather({v}, [0, 0]))
{h} = {t}.gradient({g}, {v})
{v}.scatter_sub({h})""",
    """\
with tf.GradientTape() as {t}:
    {r} = {v}.sparse_read({at}) + {v}.gather_nd([[0]])
    {g} = tf.sin({r}) * {v}[0]
[{h}], {k} = tf.clip_by_global_norm([{t}.gradient({g}, {v})], {n})
{v}.scatter_nd_add([[0]], tf.convert_to_tensor({h})[:1])""",
    """\
with tf.GradientTape() as {t}:
    {r} = tf.gather(tf.gather({v}, {at}), [0, 0])
    {g} = tf.math.segment_sum({r} * {r}, [0, 0])
{h} = {t}.gradient({g}, {v})
{k} = {h}.values * {n} if isinstance({h}, tf.IndexedSlices) else {h} * {n}
{v}.scatter_update(tf.IndexedSlices({v}[:1] * 0.5, [0]))
{m} = {v} + 1.0""",
    """\
@tf.function
def {u}():
    with tf.GradientTape() as {t}:
        {r} = tf.gather({v}, {at})
        {g} = tf.reduce_sum({r} * {r} * {n})
    {h} = {t}.gradient({g}, {v})
    {v}.scatter_add(tf.IndexedSlices({h}.values * 0.1, {h}.indices))
    return {h}, {v} * 2.0
{k}, {m} = {u}()""",
    """\
with tf.GradientTape() as {t}:
    {t}.watch({v})
    with tf.GradientTape() as {u}:
        {r} = tf.gather({v}, {at}, axis=0)
        {g} = tf.reduce_sum(tf.sin({r}) * {r})
    {h} = tf.convert_to_tensor({u}.gradient({g}, {v})) * {v}
{k} = {t}.gradient({h}, {v})""",
    """\
with tf.GradientTape() as {t}:
    {r} = tf.gather({v}, {at})
    {u} = lambda i, a: (i + 1, a * tf.gather({v}, {at}))
    {g} = tf.while_loop(lambda i, a: i < 2, {u}, [0, {r}])[1]
{h} = {t}.gradient({g}, {v})
{k} = tf.add_n([{h}, {h}])""",
    """\
with tf.autodiff.ForwardAccumulator({v}, tf.ones_like({v}) * {n}) as {t}:
    {r} = tf.gather({v}, {at})
    with tf.GradientTape() as {u}:
        {g} = tf.reduce_sum(tf.gather({v}, {at}) ** 3)
    {h} = {u}.gradient({g}, {v})
{k} = {t}.jvp({r})
{m} = {t}.jvp({h}.values)""",
]

BAD = [
    "tf.reshape({x}, [7, 11, 13])",
    "tf.matmul({x}, tf.zeros([17, 19, 23], {x}.dtype))",
    "raise KeyError('x')",
    "{v}.assign(tf.zeros([7, 11], {x}.dtype))",
    "tf.concat([{x}[tf.newaxis], tf.zeros([5], {x}.dtype)], 0)",
    "tf.debugging.assert_equal(1, 2)",
]


class OrderWriter(ControlWriter):
    """Writes whole blocks of such programs."""

    def ordered(self) -> None:
        """A derivative of a derivative of a function that there is, or of an expression."""
        x = self._small(lambda v: True)
        y = self._of(x)
        zero = ", unconnected_gradients='zero'"  # for None, see docs/differences.md
        tangent = f"(tf.ones_like({x}) * {self.fill().number()})"
        self._block(self.rng.choice(ORDERS), x=x, y=y, zero=zero, tangent=tangent)

    def happening(self) -> None:
        x = self._small(lambda v: True)
        v = self._new_variable(x)
        bad = self.rng.choice(BAD).format(x=x, v=v)
        zero = self.rng.choice(["", ", unconnected_gradients='zero'"])
        n = self.rng.randint(0, 3)
        text = self.rng.choice(HAPPENINGS)
        self._block(text, x=x, y=self._of(x), v=v, bad=bad, zero=zero, n=n)

    def rows(self) -> None:
        """Gradients of rows of a variable, and what is done with them."""
        x = self._small(lambda v: v.shape.rank and v.shape[0])
        v = self._new_variable(x)
        size = self.values[x].shape[0]
        at = [self.rng.randrange(size) for _ in range(self.rng.randint(1, 3))]
        self._block(self.rng.choice(ROWS), v=v, at=at, n=self.fill().number())

    def _small(self, fits: Callable[[Any], Any]) -> str:
        """A constant of the program, of few elements."""
        names = [n for n in self.leaves if n in self.values and self._is_float(self.values[n])]
        names = [n for n in names if not self._is_var(n) and self._size(n) <= 12]
        names = [n for n in names if fits(self.values[n])]
        if not names or self.depth:
            raise Rejected
        return self.rng.choice(names)

    def _of(self, x: str) -> str:
        """An expression of `x`: a call of a function, now and then."""
        names = [n for n, (given, _) in self.functions.items() if n in self.scope]
        if names and self.maybe(0.4):
            name = self.rng.choice(names)
            given, count = self.functions[name]
            others = [n for n in given[1:] if n in self.values]
            if len(others) == len(given) - 1:
                return f"{name}({', '.join([x, *others])})" + ("[0]" if count > 1 else "")
        return f"tf.sin({x}) * ({self._alike_expression(x)})"

    def _block(self, text: str, **given: Any) -> None:
        """The text, its names filled in, if TensorFlow runs it; its results are looked at."""
        names = {letter: self.fresh(letter) for letter in "tuwrghkm"}
        text = text.format(**names, **given)
        scope = dict(self.scope)
        variables = [v for v in scope.values() if isinstance(v, self.tf.Variable)]
        before = [v.numpy() for v in variables]
        try:
            exec(compiled(text), scope)
            values = {
                n: scope[n] for letter, n in names.items() if letter not in "tu" and n in scope
            }
            self.check([variables, [v for v in values.values() if v is not None]])
        except Exception as error:
            for variable, value in zip(variables, before, strict=True):
                variable.assign(value)
            raise Rejected from error
        self.say(text)
        for name, value in values.items():
            slices = isinstance(value, self.tf.IndexedSlices)  # whose order means nothing
            self.say(f'out["{name}"] = ' + (f"tf.convert_to_tensor({name})" if slices else name))
