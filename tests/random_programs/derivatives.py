"""Writes tapes and accumulators, what they record and what is taken from them."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .write import Rejected, Writer, _alike


class DerivativeWriter(Writer):
    """Writes the blocks of derivatives."""

    call: Callable[[], None]

    def tape(self) -> None:
        """A tape, what it records, and what is taken from it."""
        name, persistent = self.fresh("t"), self.maybe(0.35)
        options = ["persistent=True"] if persistent else []
        if self.maybe(0.12):
            options.append("watch_accessed_variables=False")
        head = f"tf.GradientTape({', '.join(options)})"
        sources = self._sources()
        tape = eval(head, self.scope)
        known = set(self.values)
        with self.inside(f"with {head} as {name}:"):
            self.scope[name] = tape
            with tape, self.deeper(sources):
                self._watch(name, [s for s in sources if self.maybe(0.9)])
                for _ in range(self.rng.randint(1, 6)):
                    self._recorded(name)
                if persistent and self.maybe(0.1):
                    self.derivative(name, sources, known)
        made = [n for n in self.values if n not in known]
        for n in made:
            if self.maybe(0.3):
                self.out(n)
        for _ in range(self.rng.randint(1, 3) if persistent else 1):
            self.derivative(name, sources, known)

    def _sources(self) -> list[str]:
        numbers = [n for n, v in self.values.items() if self._derivable(v) and n in self.leaves]
        if not numbers:
            raise Rejected
        return self.rng.sample(numbers, min(len(numbers), self.rng.randint(1, 3)))

    def _derivable(self, value: Any) -> bool:
        return _alike(value, None) and (value.dtype.is_floating or value.dtype.is_complex)

    def _watch(self, tape: str, names: list[str]) -> None:
        for name in names:
            if not isinstance(self.values[name], self.tf.Variable) or self.maybe(0.1):
                self.say(f"{tape}.watch({name})")
                self.scope[tape].watch(self.values[name])

    @contextlib.contextmanager
    def deeper(self, near: Sequence[str] = ()) -> Iterator[None]:
        """Inside of a block, whose expressions take rather what is of the block."""
        before, self.near = self.near, {*near} if near else {*self.near}
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
            self.near = before

    def _recorded(self, tape: str) -> None:
        """A statement inside of a tape."""
        roll = self.rng.random()
        if roll < 0.1 and self.depth < 3:
            self.attempted(self.tape)
        elif roll < 0.14:
            with self.inside(f"with {tape}.stop_recording():"), self.scope[tape].stop_recording():
                self.operation()
        elif roll < 0.2:
            self.assignment()
        elif roll < 0.24:
            late = [n for n in self.values if self._derivable(self.values[n])]
            late = [n for n in late if n not in self.derived]
            if late:
                self._watch(tape, [self.rng.choice(late)])
        elif roll < 0.3:
            self.attempted(self.call)
        elif roll < 0.33 and self.depth < 3:
            self.attempted(self.accumulator)
        else:
            self.operation()

    def derivative(self, tape: str, sources: list[str], known: set[str]) -> None:
        """What is taken from a tape: a gradient, most often."""
        targets = [n for n in self.values if n not in known and self._derivable(self.values[n])]
        if not targets:
            raise Rejected
        late = targets[-3:] if self.maybe(0.7) else targets
        target = self.rng.choice(late)
        wanted = self._wanted(target, sources)
        roll = self.rng.random()
        if roll < 0.14 and self._size(target) <= 16:
            self._one_of(tape, "jacobian", target, wanted)
        elif roll < 0.2 and self._size(target) <= 16:
            self._batch_jacobian(tape, target, wanted)
        else:
            self._gradient(tape, target, wanted, targets)

    def _size(self, name: str) -> int:
        return self.values[name].shape.num_elements()

    def _wanted(self, target: str, sources: list[str]) -> list[str]:
        """Sources of the tape, now and then others: all variables, or what came between."""
        others = [n for n, v in self.values.items() if isinstance(v, self.tf.Variable)]
        if target not in self.derived:
            others += [n for n in self.values if self._derivable(self.values[n])][-4:]
        wanted = [s for s in sources if self.maybe(0.8)] or sources[:1]
        if others and self.maybe(0.35):
            wanted.append(self.rng.choice(others))
        return list(dict.fromkeys(wanted))

    def _gradient(self, tape: str, target: str, wanted: list[str], targets: list[str]) -> None:
        options = self._unconnected()
        if self.maybe(0.15):
            like = [n for n in self.values if _alike(self.values[n], self.values[target])]
            options += f", output_gradients={self.rng.choice(like)}"
        elif self.maybe(0.12):
            target = f"[{target}, {self.rng.choice(targets)}]"
        names = [self.fresh("g") for _ in wanted]
        self._take(names, f"{tape}.gradient({target}, [{', '.join(wanted)}]{options})")

    def _unconnected(self) -> str:
        zero = ", unconnected_gradients=tf.UnconnectedGradients.ZERO"
        return zero if self.maybe(0.2) else ""

    def _one_of(self, tape: str, method: str, target: str, wanted: list[str]) -> None:
        options = self._unconnected()
        if self.maybe(0.15):
            options += ", experimental_use_pfor=False"
        source = self.rng.choice(wanted)
        if self._size(source) > 30:
            raise Rejected
        self._take([self.fresh("g")], f"{tape}.{method}({target}, {source}{options})")

    def _batch_jacobian(self, tape: str, target: str, wanted: list[str]) -> None:
        size = self.values[target].shape[:1].as_list()
        fit = [n for n in wanted if size and self.values[n].shape[:1].as_list() == size]
        fit = [n for n in fit if not isinstance(self.values[n], self.tf.Variable)]
        if not fit:
            raise Rejected
        self._one_of(tape, "batch_jacobian", target, fit)

    def _take(self, names: list[str], text: str) -> None:
        value = self.evaluate(text)
        several = isinstance(value, list)
        targets = ", ".join(names)
        self.say(f"[{targets}] = {text}" if several else f"{targets} = {text}")
        for name, part in zip(names, value if several else [value], strict=True):
            self.derived.add(name)
            self.keep(name, part)
            self.out(name)

    def accumulator(self) -> None:
        """Forward mode: by one tensor or several, with a tape inside now and then."""
        name, known = self.fresh("a"), set(self.values)
        primals = [n for n in self._sources() if self.values[n].dtype.is_floating][:2]
        primals = [n for n in primals if not isinstance(self.values[n], self.tf.Variable)]
        if not primals:
            raise Rejected
        primal = ", ".join(primals)
        tangent = ", ".join(f"tf.ones_like({n}) * {self.fill().number()}" for n in primals)
        if len(primals) > 1:
            primal, tangent = f"[{primal}]", f"[{tangent}]"
        head = f"tf.autodiff.ForwardAccumulator({primal}, {tangent})"
        with self.inside(f"with {head} as {name}:"):
            self.scope[name] = eval(head, self.scope)
            with self.scope[name], self.deeper(primals):
                for _ in range(self.rng.randint(1, 4)):
                    if self.maybe(0.15) and self.depth < 3:
                        self.attempted(self.tape)
                    elif self.maybe(0.2):
                        self.attempted(self.call)
                    else:
                        self.operation()
        made = [n for n in self.values if n not in known and self._derivable(self.values[n])]
        for _ in range(self.rng.randint(1, 2)):
            if made:
                target = self.rng.choice(made)
                self._take([self.fresh("g")], f"{name}.jvp({target}{self._unconnected()})")

    def _is_float(self, value: Any) -> bool:
        return _alike(value, None) and value.dtype.name == self.program.dtype
