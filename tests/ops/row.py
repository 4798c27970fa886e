"""What a row says of one op, and numbers to call it with.

    Row("math.acosh", [uniform(1.1, 4.0)], np.acosh, special=[(1.0, 0.5, INF)])

Arguments are float64 so that derivatives can be compared with differences. `special` lists points
whose values and gradients TensorFlow has written down in `tests/goldens/special.json`.
"""

import dataclasses
import itertools
import zlib
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

INF, NAN = np.inf, np.nan

#: Special points of functions of one argument.
POINTS = (-INF, -2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, 6.0, INF, NAN)
#: Special points of functions of two: all pairs.
PAIRS = tuple(itertools.product((-2.0, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, INF, NAN), repeat=2))
FINITE = tuple(p for p in POINTS if np.isfinite(p))
FINITE_PAIRS = tuple(p for p in PAIRS if np.isfinite(p).all())


def leaves(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def rebuilt(value: Any, new: Any) -> Any:
    """`value` with its leaves taken from the iterator `new`."""
    if isinstance(value, list | tuple):
        return type(value)(rebuilt(item, new) for item in value)
    return next(new)


def is_source(x: Any) -> bool:
    return isinstance(x, np.ndarray | np.generic) and x.dtype.kind in "fc"


def find(tf: Any, path: str) -> Callable[..., Any]:
    """The function that a module has at a path: math.sin, nn.relu, clip_by_value."""
    return reduce(getattr, path.split("."), tf)


@dataclasses.dataclass(frozen=True, eq=False)
class Row:
    """What is known of one op.

    Attributes:
      path: where the op is found below `tf`: math.sin, nn.relu, clip_by_value.
      args: what to call it with; arrays of float64 or complex128 are differentiated.
      reference: a NumPy function of the same arguments and options, or "tf": TensorFlow alone, in
        tests/parity.
      options: keyword arguments.
      gradient: whether it has one; False means that TensorFlow's is None.
      special: points for the goldens, one tuple of arguments each (numbers for one argument).
      orders: how many derivatives are compared with differences.
      label: tells rows of one op apart.
      program: a function of the module and the arguments, where a plain call is not enough.
      differs: why TensorFlow gives something else.
    """

    path: str
    args: Sequence[Any]
    reference: Callable[..., Any] | str
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    gradient: bool = True
    special: Sequence[Any] = ()
    orders: int = 2
    label: str = ""
    program: Callable[..., Any] | None = None
    differs: str = ""

    @property
    def id(self) -> str:
        return f"{self.path}-{self.label}" if self.label else self.path

    @property
    def number(self) -> int:
        """A number of its own, the same in every process: for a seed, for a place in a sample."""
        return zlib.crc32(self.id.encode())

    def sources(self) -> list[np.ndarray]:
        """The arguments by which it is differentiated."""
        return [np.asarray(x) for x in leaves(list(self.args)) if is_source(x)]

    @property
    def differentiable(self) -> bool:
        return self.gradient and self.orders > 0 and bool(self.sources())

    def call(self, tf: Any, sources: Sequence[Any]) -> Any:
        """What it gives on a module, with `sources` in the place of its own."""
        given = iter(sources)
        flat = [next(given) if is_source(x) else x for x in leaves(list(self.args))]
        return self._apply(tf, rebuilt(list(self.args), iter(flat)))

    def at_points(self, tf: Any, inputs: Sequence[Any]) -> Any:
        return self._apply(tf, inputs)

    def _apply(self, tf: Any, arguments: Sequence[Any]) -> Any:
        if self.program is not None:
            return self.program(tf, *arguments)
        return find(tf, self.path)(*arguments, **self.options)

    def points(self) -> list[np.ndarray]:
        """The special points, one array an argument."""
        rows = [p if isinstance(p, tuple) else (p,) for p in self.special]
        return [np.array(column, np.float64) for column in zip(*rows, strict=True)]


_RANDOM = np.random.default_rng(7)


def uniform(low: float, high: float, shape: tuple[int, ...] = (2, 3)) -> np.ndarray:
    """Numbers in (low, high)."""
    return _RANDOM.uniform(low, high, shape)


def normal(*shape: int) -> np.ndarray:
    """Numbers on both sides of 0, none of them close to it."""
    values = _RANDOM.normal(size=shape)
    return values + np.copysign(0.1, values)


def distinct(*shape: int) -> np.ndarray:
    """Numbers that differ by at least 0.1, so that maxima are not near ties."""
    size = int(np.prod(shape))
    return (_RANDOM.permutation(size) * 0.3 - 0.11 * size).reshape(shape)


def unary(path: str, reference: Callable[..., Any], args: Any = None, **more: Any) -> Row:
    more.setdefault("special", POINTS)
    return Row(path, [normal(2, 3) if args is None else args], reference, **more)


def binary(path: str, reference: Callable[..., Any], *args: Any, **more: Any) -> Row:
    return Row(path, args or [normal(3, 1), normal(1, 4)], reference, **more)
