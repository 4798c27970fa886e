"""Fills the fields of an expression with names and attributes that fit each other.

The values that TensorFlow has for the names so far say what fits. What does not fit after all is
left out by whoever asked, since TensorFlow raises for it.
"""

import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from .expressions import ROWS

FIELD = re.compile(r"\{(\w+)(?::(\w+))?\}")
COMPLEX = {"float64": "complex128"}
LARGEST = 200  # elements of a tensor that is worth handing on


class NothingFits(Exception):
    """No name has what a field asks for."""


class Fill:
    """Fields of one expression. The first tensor chosen says which axes and sizes there are."""

    def __init__(self, rng: random.Random, tf: Any, values: dict[str, Any], dtype: str):
        self.rng, self.tf, self.values, self.dtype = rng, tf, values, dtype
        self.near: set[str] = set()
        self.first: Any = None
        self.chosen: dict[str, str] = {}
        self.used: list[str] = []

    def __call__(self, expression: str) -> str:
        return FIELD.sub(lambda found: self._field(found[1], found[2]), expression)

    def _field(self, kind: str, wanted: str | None) -> str:
        if kind in TENSORS:
            if not wanted and kind in self.chosen:
                return self.chosen[kind]
            return self._tensor(kind, wanted)
        try:
            return str(ATTRIBUTES[kind](self))
        except (IndexError, ValueError) as error:  # of what has no elements
            raise NothingFits(kind) from error

    def _tensor(self, kind: str, wanted: str | None) -> str:
        names = [n for n, v in self.values.items() if _is_kind(self, kind, v)]
        if wanted:
            names = [n for n in names if WISHES[wanted](self, self.values[n])]
        if not names:
            raise NothingFits(kind, wanted)
        near = [n for n in names if n in self.near]
        late = names[-4:] if self.rng.random() < 0.6 else names
        name = self.rng.choice(near if near and self.rng.random() < 0.65 else late)
        self.used.append(name)
        if self.first is None:
            self.first = self.values[name]
        if wanted not in ("like", "fit") or kind not in self.chosen:
            self.chosen.setdefault(kind, name)
        return name

    # -- What attributes are made of.

    @property
    def shape(self) -> list[int]:
        return self.first.shape.as_list() if self.first is not None else []

    @property
    def rank(self) -> int:
        return len(self.shape)

    def axis(self) -> int:
        if not self.rank:
            raise NothingFits("axis")
        axis = self.rng.randrange(self.rank)
        return axis - self.rank if self.rng.random() < 0.4 else axis

    def axes(self) -> Any:
        if not self.rank or self.rng.random() < 0.2:
            return self.rng.choice([None, []]) if self.rng.random() < 0.3 else None
        if self.rng.random() < 0.6:
            return self.axis()
        return self.rng.sample(range(self.rank), self.rng.randint(1, self.rank))

    def size(self, axis: int = 0) -> int:
        if self.rank <= axis:
            raise NothingFits("size")
        return self.shape[axis]

    def tensor_of(self, *shape: int) -> str:
        """A constant of the dtype of the program's floats."""
        count = int(np.prod(shape))
        step = self.rng.choice([3, 5, 7])
        return f"tf.reshape(tf.cast(tf.range({count})*{step}%11-5,{self.type})*0.1,{list(shape)})"

    @property
    def type(self) -> str:
        return f"tf.{self.dtype}"

    def number(self) -> float:
        return self.rng.randint(1, 18) / 10

    def indices(self, size: int) -> list[int]:
        if not size:
            return []
        return [self.rng.randrange(size) for _ in range(self.rng.randint(1, 3))]

    def index(self) -> str:
        """What stands in the brackets of a tensor."""
        parts = [self._one_index(n) for n in self.shape[: self.rng.randint(1, self.rank)]]
        if self.rng.random() < 0.15:
            parts.insert(self.rng.randint(0, len(parts)), "tf.newaxis")
        if self.rng.random() < 0.15:
            parts.append("...")
        return ",".join(parts)

    def _one_index(self, size: int) -> str:
        at = self.rng.randint(-size, size - 1) if size else 0
        return self.rng.choice(
            [":", f"{at}", f"{at}:", f":{at}", "::2", "::-1", "1:", f"{max(at, 0)}:{size}", ":-1"]
        )


TENSORS = ("f", "x", "i", "j", "b", "c", "R", "S")


def _large(shape: Any) -> bool:
    """Whether of more elements than are handed on, or of an unknown number."""
    count = shape.num_elements()
    return count is None or count > LARGEST


def _is_kind(fill: Fill, kind: str, value: Any) -> bool:
    tf = fill.tf
    if kind == "R":
        return isinstance(value, tf.RaggedTensor)
    if kind == "S":
        return isinstance(value, tf.SparseTensor)
    if not isinstance(value, tf.Tensor | tf.Variable) or _large(value.shape):
        return False
    dtype = value.dtype
    if kind == "f":
        return dtype.name == fill.dtype
    if kind in ("i", "j"):
        same = kind == "i" or fill.first is None or dtype == fill.first.dtype
        return dtype.is_integer and dtype.size >= 4 and same
    if kind == "b":
        fits = fill.first is None or _fits(fill, value)
        return dtype.is_bool and fits
    if kind == "c":
        return dtype.name == COMPLEX.get(fill.dtype, "complex64")
    return dtype.name != "string"


def _fits(fill: Fill, value: Any) -> bool:
    if fill.first is None:
        return True
    try:
        np.broadcast_shapes(fill.shape, value.shape.as_list())
    except ValueError:
        return fill.rng.random() < 0.02
    return True


def _rank(least: int, most: int = 9) -> Callable[[Fill, Any], bool]:
    return lambda fill, value: least <= value.shape.rank <= most


WISHES: dict[str, Callable[[Fill, Any], bool]] = {
    "like": lambda fill, v: fill.first is None or v.shape == fill.first.shape,
    "fit": _fits,
    "ranked": _rank(1),
    "vector": _rank(1, 1),
    "matrix": _rank(2, 2),
    "three_axes": _rank(3, 3),
    "image": _rank(4, 4),
    "image4": lambda fill, v: v.shape.rank == 4 and v.shape[3] % 4 == 0,
    "square": lambda fill, v: v.shape.rank >= 2 and v.shape[-1] == v.shape[-2],
    "ends3": lambda fill, v: v.shape.rank >= 1 and v.shape[-1] == 3,
    "three": lambda fill, v: v.shape.rank >= 1 and v.shape[0] == 3,
}


def _shape(fill: Fill) -> list[int]:
    count = int(np.prod(fill.shape))
    divisors = [d for d in range(1, count + 1) if count % d == 0] or [1]
    first = fill.rng.choice(divisors)
    rest = count // first
    second = fill.rng.choice([d for d in range(1, rest + 1) if rest % d == 0] or [1])
    shapes = [[first, rest], [first, -1], [-1], [first, second, rest // second], [1, count]]
    return fill.rng.choice(shapes)


def _perm(fill: Fill) -> list[int]:
    return fill.rng.sample(range(fill.rank), fill.rank)


def _paddings(fill: Fill) -> list[list[int]]:
    return [[fill.rng.randint(0, 1), fill.rng.randint(0, 2)] for _ in fill.shape]


def _begin(fill: Fill) -> list[int]:
    return [fill.rng.randint(0, max(n - 1, 0)) for n in fill.shape]


def _segments(fill: Fill) -> list[int]:
    return sorted(fill.rng.randint(0, 2) for _ in range(fill.size()))


def _ids(fill: Fill) -> list[int]:
    return [fill.rng.randint(0, 1) for _ in range(fill.size())]


def _lengths_of_rows(fill: Fill) -> list[int]:
    cut = fill.rng.randint(0, fill.size())
    return fill.rng.choice([[cut, fill.size() - cut], [0, cut, fill.size() - cut]])


def _row(fill: Fill) -> str:
    """An expression of `r`, the row of what comes after it in the expression."""
    inner = Fill(fill.rng, fill.tf, dict(fill.values), fill.dtype)
    names = [n for n, v in fill.values.items() if _is_kind(fill, "f", v) and v.shape.rank]
    if not names:
        raise NothingFits("row")
    name = fill.rng.choice(names)
    if not fill.values[name].shape[0]:
        raise NothingFits("row")
    row = fill.values[name][0]
    inner.values["r"] = inner.first = row
    inner.chosen["f"] = "r"
    text = inner(fill.rng.choice(ROWS).replace("{f:ranked}", "{f}"))
    fill.values = {name: fill.values[name]}
    return text


def _value(fill: Fill) -> str:
    """What a branch gives: of the first tensor's shape."""
    inner = Fill(fill.rng, fill.tf, fill.values, fill.dtype)
    inner.first = fill.first
    like = [n for n, v in fill.values.items() if v is fill.first]
    inner.chosen["f"] = fill.rng.choice(like)
    return inner(fill.rng.choice(ROWS))


ATTRIBUTES: dict[str, Callable[[Fill], Any]] = {
    "n": lambda f: f.number(),
    "k": lambda f: f.rng.randint(0, 4),
    "bit": lambda f: f.rng.randint(0, 1),
    "bool": lambda f: f.rng.random() < 0.5,
    "dtype": lambda f: f.type,
    "complex": lambda f: f"tf.{COMPLEX.get(f.dtype, 'complex64')}",
    "ints": lambda f: f.rng.choice(["tf.int32", "tf.int64"]),
    "axis": Fill.axis,
    "axes": Fill.axes,
    "axes0": lambda f: None,
    "newaxis": lambda f: f.rng.randint(-f.rank - 1, f.rank),
    "shape": _shape,
    "perm": _perm,
    "index": Fill.index,
    "multiples": lambda f: [f.rng.randint(1, 2) for _ in f.shape],
    "paddings": _paddings,
    "padmode": lambda f: f.rng.choice(["REFLECT", "SYMMETRIC"]),
    "padding": lambda f: f.rng.choice(["SAME", "VALID"]),
    "stride": lambda f: f.rng.randint(1, 2),
    "stride1": lambda f: f.rng.randint(1, 2),
    "counts": lambda f: [f.rng.randint(0, 2) for _ in range(f.size())],
    "broader": lambda f: [f.rng.randint(1, 3), *f.shape],
    "indices": lambda f: f.indices(f.size()),
    "indices_axis": lambda f: f.indices(min(f.shape)),
    "points": lambda f: [[i] for i in f.indices(f.size())],
    "begin": _begin,
    "size": lambda f: [-1] * f.rank,
    "end": lambda f: f.shape,
    "mask": lambda f: [f.rng.random() < 0.6 for _ in range(f.size())],
    "dim0": lambda f: f.size(),
    "segments": _segments,
    "ids": _ids,
    "lengths": lambda f: [f.rng.randint(0, f.size(1)) for _ in range(f.size())],
    "lengths_of_rows": _lengths_of_rows,
    "right": lambda f: f.tensor_of(f.shape[-1], f.rng.randint(1, 3)),
    "rightvector": lambda f: f.tensor_of(f.shape[-1]),
    "columns_of_sparse": lambda f: f.tensor_of(f.shape[-1], 2),
    "regular": lambda f: _square(f, "{0}*0.3+2.0*tf.eye({1},dtype={2})"),
    "definite": lambda f: _square(f, "tf.matmul({0},{0},transpose_b=True)+tf.eye({1},dtype={2})"),
    "filters1": lambda f: f.tensor_of(2, f.shape[-1], 2),
    "filters2": lambda f: f.tensor_of(2, 2, f.shape[-1], f.rng.randint(1, 3)),
    "depthwise": lambda f: f.tensor_of(2, 2, f.shape[-1], f.rng.randint(1, 2)),
    "filters_back": lambda f: f.tensor_of(2, 2, 2, f.shape[-1]),
    "backshape": lambda f: [f.shape[0], f.shape[1] * 2, f.shape[2] * 2, 2],
    "erosion": lambda f: f.tensor_of(2, 2, f.shape[-1]),
    "numbers": lambda f: f.rng.choice(["tf.int32", "tf.int64", "tf.float32"]),
    "row": _row,
    "value": _value,
}


def _square(fill: Fill, text: str) -> str:
    name = fill._tensor("f", "square")
    fill.chosen["f"] = name
    return "(" + text.format(name, fill.values[name].shape[-1], fill.type) + ")"
