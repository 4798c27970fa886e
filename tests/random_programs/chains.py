"""Writes chains of one subject (`subjects.py`): as they are, in functions, loops and branches."""

import contextlib
from collections.abc import Iterator
from typing import Any

from .program import Statement, compiled
from .steps import StepWriter
from .subjects import SUBJECTS, Subject

#: Heads of functions: the last knows the rank of `x` at most.
HEADS = ["", "@tf.function\n", "@tf.function(input_signature=[{spec}])\n"]

#: What a step may stand in, where it leaves `a` of one type and shape.
WRAPPED = [
    "for i in tf.range(n):\n    {step}",
    "if tf.size(a) > n:\n    {step}",
    "a = tf.cond(n > 1, lambda a=a: {value}, lambda a=a: a)",
    "a = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, {value}), (0, a))[1]",
]


class ChainWriter(StepWriter):
    """Writes a function of `x` and `n`, and calls of it."""

    def chain(self, subject: str) -> None:
        """A chain, what it gives and, of floats, its gradient. Steps that fail are left out, but
        for some, whose errors are compared."""
        of = SUBJECTS[subject]
        argument, start = self.rng.choice(of.starts)
        x, name = self.fresh("x"), self.fresh("f")
        self._run(f"{x} = {argument}")
        with self._narrow():
            statements = self._statements(of, self.scope[x], start)
        for head in self._heads(self.scope[x]):
            text = f"{head}def {name}(x, n):"
            self.block.append(Statement(text, [*statements, Statement("return a, kept")]))
            exec(compiled("\n".join(self.block[-1].lines(0))), self.scope)
            if head and not self._works(f"{name}({x}, 1)"):
                self.block.pop()  # TensorFlow knows less of shapes and refuses more
                continue
            self._look(f"{name}({x}, {self.rng.randint(1, 3)})")
            self._look(f"{name}({x}, tf.constant({self.rng.randint(0, 3)}))")
            if self.scope[x].dtype.is_floating or self.scope[x].dtype.is_complex:
                self._gradient_of(f"{name}({x}, {self.rng.randint(1, 2)})[0]", x)

    def _run(self, text: str) -> None:
        exec(text, self.scope)
        self.say(text)

    @contextlib.contextmanager
    def _narrow(self) -> Iterator[None]:
        before, self.scope = self.scope, dict(self.scope)
        try:
            yield
        finally:
            self.scope = before

    def _statements(self, of: Subject, x: Any, start: str) -> list[Statement]:
        """Steps that TensorFlow has done."""
        done = [Statement("kept = []"), Statement(f"a = {start}")]
        self.scope |= {"x": x, "n": self.rng.randint(1, 3)}
        exec("\n".join(s.text for s in done), self.scope)
        for _ in range(self.rng.randint(1, 6)):
            step = self.rng.choice(of.steps)
            if self.maybe(0.25):
                form = self.rng.choice(WRAPPED)
                step = form.format(step=step, value=step.partition(" = ")[2])
            before = self.scope["a"]
            try:
                exec(step, self.scope)
            except Exception:
                if self.maybe(0.05) and step.startswith("a = "):
                    done.append(Statement(f"kept.append(attempt(lambda: {step[4:]}))"))
                continue
            done.append(Statement(step, uses=("x",)))
            if self.maybe(0.3):
                done.append(Statement("kept.append(a)"))
            if not self._goes_on(before, self.scope["a"]):
                break
        return done

    def _goes_on(self, before: Any, value: Any) -> bool:
        """Whether another step can be taken of it."""
        tf = self.tf
        same = type(value) is type(before) or isinstance(value, tf.Tensor)
        return same and hasattr(value, "dtype")

    def _heads(self, x: Any) -> list[str]:
        shape = self.rng.choice([[None] * x.shape.rank, None])
        spec = f"tf.TensorSpec({shape}, tf.{x.dtype.name}), tf.TensorSpec([], tf.int32)"
        heads = self.rng.sample(HEADS, self.rng.choice([1, 1, 2]))
        return [head.format(spec=spec) for head in heads]

    def _works(self, text: str) -> bool:
        try:
            eval(text, self.scope)
        except Exception:
            return False
        return True

    def _look(self, text: str) -> None:
        name = self.fresh("y")
        self.say(f"{name} = attempt(lambda: {text})")
        self.say(f'out["{name}"] = {name}')

    def _gradient_of(self, text: str, x: str) -> None:
        tape, name = self.fresh("t"), self.fresh("g")
        with self.inside(f"with tf.GradientTape() as {tape}:"):
            self.say(f"{tape}.watch({x})")
            self.say(f"{name} = attempt(lambda: {text})")
        self.say(f'out["{name}"] = attempt(lambda: {tape}.gradient({name}, {x}))')
