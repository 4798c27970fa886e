"""Writes a random program, running on TensorFlow what it has so far.

Every statement is tried first: one that raises, or that gives infinities or large numbers, is left
out, but for a few. So most of a program works, whatever shapes have come about.
"""

import ast
import contextlib
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .expressions import BINARY, SHAPES, UNARY
from .fill import COMPLEX, Fill, NothingFits
from .keywords import TABLES
from .program import HELPERS, Program, Statement

DTYPES = (["float32"] * 10) + (["float64"] * 9) + ["float16", "bfloat16"]
LARGEST = {"float16": 30.0, "bfloat16": 30.0}
SIZES = [1, 2, 2, 2, 3, 3, 3, 4, 0]
COMMON_SHAPES = [
    *([], [3], [2], [2, 3], [3, 3], [2, 2], [1, 3], [3, 1]),
    *([2, 3, 4], [1, 4, 4, 2], [2, 4, 3, 1]),
]


class Rejected(Exception):
    """A statement is left out."""


class Writer:
    """A program that is being written.

    values: what TensorFlow has for the names that can be used at this place.
    scope: the same and all else that the program knows (functions, tapes), for `exec`.
    near: names that expressions take rather than others, those of the block that is written.
    derived: names that a gradient went into, by whose intermediate results no other is taken.
    """

    def __init__(self, tf: Any, seed: int):
        self.tf, self.rng = tf, random.Random(seed)
        self.program = Program(dtype=self.rng.choice(DTYPES), calls=self.rng.choice([1, 1, 2, 3]))
        self.block = self.program.setup
        self.values: dict[str, Any] = {}
        self.scope: dict[str, Any] = {"tf": tf} | {f.__name__: f for f in HELPERS}
        self.derived: set[str] = set()
        self.near: set[str] = set()
        self.functions: dict[str, Any] = {}  # what each was written for, its number of results
        self.of_one_rank: set[str] = set()
        self.leaves: list[str] = []
        self.count = 0
        self.depth = 0  # of blocks, at whose ends names may be forgotten

    tables = {"UNARY": UNARY, "BINARY": BINARY, "SHAPES": SHAPES}

    # -- Names, statements and what they give.

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def fill(self) -> Fill:
        fill = Fill(self.rng, self.tf, dict(self.values), self.program.dtype)
        fill.near = self.near
        return fill

    def maybe(self, chance: float) -> bool:
        return self.rng.random() < chance

    def say(self, text: str, uses: tuple[str, ...] = ()) -> None:
        self.block.append(Statement(text, uses=uses))

    def out(self, name: str) -> None:
        """The result of the program has this value."""
        if self.depth == 0 and self.block is not self.program.setup:
            self.say(f'out["{name}"] = {name}')

    @contextlib.contextmanager
    def inside(self, head: str) -> Iterator[None]:
        """What is written inside stands in the block below this line."""
        statement = Statement(head, [])
        before, self.block = self.block, statement.body or []
        statement.body = self.block
        before.append(statement)
        try:
            yield
        except Rejected:
            before.remove(statement)
            raise
        finally:
            self.block = before

    def attempted(self, write: Callable[[], None]) -> None:
        """Write something, or nothing if it does not work out; then another operation."""
        try:
            write()
        except Rejected:
            self.operation()

    def evaluate(self, text: str) -> Any:
        """The value of an expression on TensorFlow. Raises Rejected for one that is not wanted."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = eval(text, self.scope)
        except Exception as error:
            raise Rejected(text) from error
        self.check(value)
        return value

    def check(self, value: Any) -> None:
        for part in self.tf.nest.flatten(value, expand_composites=True):
            if not self._tame(part):
                raise Rejected(part)

    def _tame(self, value: Any) -> bool:
        if not isinstance(value, self.tf.Tensor | self.tf.Variable):
            return True
        if value.dtype.name in ("bool", "string") or value.shape.num_elements() == 0:
            return value.dtype.name != "string"
        if not hasattr(value, "numpy"):
            return False  # a symbolic one, of a function that left it somewhere
        size = np.abs(value.numpy().astype(np.complex128))
        if not np.isfinite(size).all():
            return self.maybe(0.02)
        return bool(size.max() <= LARGEST.get(self.program.dtype, 1e3))

    def keep(self, name: str, value: Any, uses: list[str] | tuple[str, ...] = ()) -> None:
        self.scope[name] = value
        if isinstance(value, self._usable) and value.shape.rank is not None:
            self.values[name] = value
            if self.depth:
                self.near.add(name)
        if self.derived.intersection(uses):
            self.derived.add(name)

    @property
    def _usable(self) -> tuple[type, ...]:
        tf = self.tf
        return (tf.Tensor, tf.Variable, tf.RaggedTensor, tf.SparseTensor)

    # -- The simplest statements.

    def constant(self) -> None:
        rng = self.rng
        shape = rng.choice(COMMON_SHAPES)
        if self.maybe(0.3):
            shape = [rng.choice(SIZES) for _ in range(rng.randint(1, 3))]
        kind = rng.choices("ficb", [14, 3, 2, 1])[0]
        text = f"tf.constant({self._numbers(kind, shape)}, {self._dtype(kind)})"
        if int(np.prod(shape)) > 24:
            text = self.fill().tensor_of(*shape)
        if 0 in shape:
            text = f"tf.zeros({shape}, {self._dtype(kind)})"
        name = self.fresh("x")
        text = f"{name} = {_spaced(text)}"
        exec(text, self.scope)
        self.keep(name, self.scope[name])
        self.leaves.append(name)
        self.say(text)

    def _dtype(self, kind: str) -> str:
        own = self.program.dtype
        if kind == "i":
            return self.rng.choice(["tf.int32", "tf.int32", "tf.int64"])
        return {"f": f"tf.{own}", "b": "tf.bool", "c": f"tf.{COMPLEX.get(own, 'complex64')}"}[kind]

    def _numbers(self, kind: str, shape: list[int]) -> Any:
        if shape:
            return [self._numbers(kind, shape[1:]) for _ in range(shape[0])]
        rng = self.rng
        if kind == "i":
            return rng.randint(-3, 4)
        if kind == "b":
            return rng.random() < 0.5
        number = 0.0 if rng.random() < 0.05 else rng.randint(-20, 20) / 10
        return number if kind == "f" else complex(number, rng.randint(-9, 9) / 10)

    def variable(self) -> None:
        floats = [n for n in self.values if self.values[n].dtype.name == self.program.dtype]
        if not floats:
            return
        name, of = self.fresh("v"), self.rng.choice(floats)
        trainable = ", trainable=False" if self.maybe(0.12) else ""
        text = f"{name} = tf.Variable({of}{trainable})"
        exec(text, self.scope)
        self.keep(name, self.scope[name])
        self.leaves.append(name)
        self.say(text)

    def expression(self) -> tuple[str, Any, list[str]]:
        """An expression that works, its value, and the names in it."""
        for _ in range(12):
            table = self.rng.choices(*zip(*TABLES, strict=True))[0]
            fill = self.fill()
            try:
                text = _spaced(fill(self.rng.choice(table)))
            except (NothingFits, SyntaxError):
                continue
            with contextlib.suppress(Rejected):
                return text, self.evaluate(text), fill.used
            if self.maybe(0.01) and not self.depth:
                self.say(f'out["{self.fresh("e")}"] = attempt(lambda: {text})')
        raise Rejected

    def operation(self) -> None:
        text, value, used = self.expression()
        name = self.fresh("x")
        self.say(f"{name} = {text}", tuple(used))
        self.keep(name, value, used)
        if self.maybe(0.6):
            self.out(name)

    def assignment(self) -> None:
        """`assign` or the like, of a variable or a part of it, with what fits."""
        variables = [n for n, v in self.values.items() if isinstance(v, self.tf.Variable)]
        if not variables:
            return
        name = self.rng.choice(variables)
        variable = self.values[name]
        like = [n for n, v in self.values.items() if _alike(v, variable) and n != name]
        text = self._assigning(name, self.rng.choice(like) if like else f"({name} * 0.5)")
        before = variable.numpy()
        try:
            self.evaluate(text)
            self.check(variable)
        except Rejected:
            variable.assign(before)
            return
        self.say(text)

    def _assigning(self, name: str, value: str) -> str:
        shape = self.values[name].shape.as_list()
        if shape and shape[0] and self.maybe(0.4):
            at, last = self.rng.randrange(shape[0]), shape[0] - 1
            return self.rng.choice(
                [
                    f"{name}[{at}].assign({value}[{at}])",
                    f"{name}[{at}:].assign({value}[{at}:])",
                    f"{name}.scatter_nd_add([[0], [{last}]], tf.stack([{value}[0]] * 2))",
                    f"{name}[::-1].assign({value})",
                    f"{name}[..., :1].assign({value}[..., :1] * 2.0)",
                    f"{name}[{at}:{at} + 1].assign_add({value}[:1])",
                    f"{name}[{at}].assign_sub({value}[{last}])",
                    f"{name}.scatter_nd_update([[{at}]], {value}[:1])",
                    f"{name}.scatter_nd_sub([[{at}], [{at}]], tf.stack([{value}[0]] * 2))",
                    f"{name}.scatter_max(tf.IndexedSlices({value}[:1], [{at}]))",
                    f"{name}.scatter_mul(tf.IndexedSlices({value}[:1], [{at}]))",
                    f"{name}.scatter_update(tf.IndexedSlices({value}[:1], [{at}]))",
                ]
            )
        if self.maybe(0.15):
            return f"{name}.assign({name} * 0.5 + {value})"
        return f"{name}.{self.rng.choice(['assign', 'assign_add', 'assign_sub'])}({value})"

    def observation(self) -> None:
        """Look at a value in the midst of it all."""
        floats = [n for n, v in self.values.items() if _alike(v, None)]
        if floats:
            self.program.eager = True
            self.say(f'out["{self.fresh("o")}"] = {self.rng.choice(floats)}.numpy()')


def _alike(value: Any, other: Any) -> bool:
    """Whether it is a dense tensor, and one of the dtype and shape of the other."""
    if not hasattr(value, "shape") or value.shape.num_elements() is None:
        return False
    if not hasattr(value, "numpy") or not hasattr(value, "device"):
        return False
    return other is None or (value.dtype == other.dtype and value.shape == other.shape)


def _spaced(text: str) -> str:
    """The expression as it is usually printed."""
    return ast.unparse(ast.parse(text, mode="eval"))
