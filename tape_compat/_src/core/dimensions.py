"""Unknown sizes: the expressions that stand for them, and the numbers put in their place.

A size that is not known yet is a dimension expression of `jax.export`: `d0`, `2*d0 + 1`. All are of
one scope, and are numbered by where a signature has its None, so that equal structures are equal
keys. A comparison with such a size may have no answer; what is here asks only what is certain.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Container, Iterable, Sequence
from functools import lru_cache, reduce
from typing import Any, TypeAlias

import jax.export
import numpy as np

from . import errors

#: An int, or a dimension expression.
Size: TypeAlias = Any
Shape: TypeAlias = "tuple[Size, ...]"

_SCOPE = jax.export.SymbolicScope()

#: Sizes with numbers above it stand for what steps tell at each call, and may be 0.
TOLD = 1_000_000

is_symbolic: Callable[[Any], bool] = jax.export.is_symbolic_dim


@lru_cache(maxsize=4096)
def parsed(text: str) -> Size:
    """The dimension that a text writes.

    >>> parsed("max(d0, 3)"), parsed("d0 + d0")
    (max(d0, 3), 2*d0)
    """
    return jax.export.symbolic_shape(text, scope=_SCOPE)[0]


def _parsed_of(text: str, a: Size, b: Size) -> Size:
    """The dimension that a text writes of two sizes, of their scope."""
    scope = (a if is_symbolic(a) else b).scope
    return parsed(text) if scope is _SCOPE else jax.export.symbolic_shape(text, scope=scope)[0]


def variable(number: int) -> Size:
    """The unknown size of this number.

    >>> variable(0) * variable(1)
    d0*d1
    """
    return parsed(f"d{number}")


def numbered(shapes: Iterable[Sequence[int | None]]) -> list[Shape]:
    """Shapes with the unknown size of its number for each None, counted through all of them.

    >>> numbered([(None, 3), (2,), (None, None)])
    [(d0, 3), (2,), (d1, d2)]
    """
    count = 0
    found = []
    for shape in shapes:
        sizes = []
        for size in shape:
            sizes.append(variable(count) if size is None else size)
            count += size is None
        found.append(tuple(sizes))
    return found


def is_unknown(shape: Iterable[Size]) -> bool:
    """Whether a size of it is an expression."""
    return any(type(size) is not int and is_symbolic(size) for size in shape)


# ---------------------------------------------------------------------------------------------
# What is certain.


def _inconclusive() -> type[Exception]:
    try:
        bool(variable(0) < 3)
    except Exception as error:
        return type(error)
    raise AssertionError("JAX compares an unknown size with a number")


#: What JAX raises for a comparison without an answer; its public name differs between versions.
INCONCLUSIVE = _inconclusive()


def differ(a: Size, b: Size) -> bool:
    """Whether two sizes are certainly not equal.

    >>> d = variable(0)
    >>> differ(2, 3), differ(d, 3), differ(d, d + 1)
    (True, False, True)
    """
    if type(a) is int and type(b) is int:
        return a != b
    difference = a - b
    return not is_symbolic(difference) and bool(difference)


def less(a: Size, b: Size) -> bool:
    """Whether a size is certainly below another.

    >>> d = variable(0)
    >>> less(2, 3), less(d, 3), less(d - 1, d)
    (True, False, True)
    """
    return _certain(operator.lt, a, b)


def _certain(compare: Callable[[Any, Any], Any], a: Size, b: Size) -> bool:
    try:
        return bool(compare(a, b))
    except INCONCLUSIVE:
        return False


def fit(x: Sequence[Size], y: Sequence[Size]) -> bool:
    """Whether two shapes may be equal."""
    return len(x) == len(y) and not any(map(differ, x, y))


def divides(divisor: Size, size: Size) -> bool:
    """Whether a size may be a multiple of another, not 0.

    >>> d = variable(0)
    >>> divides(3, 4), divides(3, d), divides(2, 2 * d), divides(2, 2 * d + 1)
    (False, True, True, False)
    """
    return not differ(size % divisor, 0)


def _is_told(name: str) -> bool:
    return name[1:].isdecimal() and int(name[1:]) > TOLD


# ---------------------------------------------------------------------------------------------
# Arithmetic.


def product(sizes: Iterable[Size]) -> Size:
    return reduce(lambda a, b: a * b, sizes, 1)


def maximum(a: Size, b: Size) -> Size:
    """The larger of two sizes.

    >>> d = variable(0)
    >>> maximum(2, 3), maximum(d, d + 1), maximum(d, 3)
    (3, d0 + 1, max(d0, 3))
    """
    if _certain(operator.ge, a, b):
        return a
    return b if _certain(operator.ge, b, a) else _parsed_of(f"max({a}, {b})", a, b)


def minimum(a: Size, b: Size) -> Size:
    """The smaller of two sizes."""
    if _certain(operator.le, a, b):
        return a
    return b if _certain(operator.le, b, a) else _parsed_of(f"min({a}, {b})", a, b)


def told_minimum(a: Size, b: Size) -> Size:
    """The smaller of two sizes, of which one that a step tells may be 0: JAX takes it that none is.

    >>> told = variable(TOLD + 1)
    >>> [Sizes(**{str(told): n}).of(told_minimum(told, 1)) for n in (0, 1, 5)]
    [0, 1, 1]
    """
    found = minimum(a, b)
    return _at_most(found, b if found is a else a) if type(found) is int else found


def _told_maximum(a: Size, b: Size) -> Size:
    """The larger of such sizes."""
    found = maximum(a, b)
    other = b if found is a else a
    return found + other - _at_most(other, found) if type(other) is int else found


def _at_most(number: int, size: Size) -> Size:
    """The smaller of a number and a size that JAX takes not to be below it: min(1, d) is then
    2*d // (d + 1), if a step tells d."""
    names = list(variables((size,))) if is_symbolic(size) else []
    if len(names) != 1 or not _is_told(names[0]):
        return number
    at_none = Sizes(**{names[0]: 0}).of(size)
    told = _parsed_of(names[0], size, size)
    return number if at_none >= number else at_none + (number - at_none) * (2 * told // (told + 1))


def exact_maximum(a: Size, b: Size) -> Size:
    """`maximum`, refused where it would be another one if sizes were 0: JAX takes it that they are
    not.

    Raises: NeedsValue if so.

    >>> exact_maximum(variable(0), 0)
    d0
    """
    return _exact(maximum(a, b), max, a, b)


def exact_minimum(a: Size, b: Size) -> Size:
    """`minimum` likewise."""
    return _exact(minimum(a, b), min, a, b)


def _exact(found: Size, function: Callable[..., Any], a: Size, b: Size) -> Size:
    empty = Sizes(**dict.fromkeys(variables((a, b, found)), 0))
    if is_symbolic(found) or is_symbolic(a) or is_symbolic(b):
        if empty.of(found) != function(empty.of(a), empty.of(b)):
            raise errors.NeedsValue(
                f"the {function.__name__}imum of the sizes {a} and {b} depends on whether one is 0"
            )
    return found


def broadcast(shapes: Sequence[Shape]) -> Shape | None:
    """What shapes broadcast to, None if they do not. Of two unknown sizes one may be 1: the
    result is the larger.

    >>> d, e = variable(0), variable(1)
    >>> broadcast([(d, 3), (1,)]), broadcast([(d,), (3,)]), broadcast([(d,), (e,)])
    ((d0, 3), (3,), (max(d0, d1),))
    """
    rank = max(map(len, shapes))
    full = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    out: list[Size] = []
    for sizes in zip(*full, strict=True):
        found = 1
        for size in sizes:
            if (type(size) is int and size == 1) or size == found:
                continue
            if type(found) is int and found == 1:
                found = size
            elif differ(size, found):
                return None
            elif not is_symbolic(size) or not is_symbolic(found):
                found = found if is_symbolic(size) else size
            else:
                found = maximum(found, size)
        out.append(found)
    return tuple(out)


# ---------------------------------------------------------------------------------------------
# Numbers for unknown sizes.


#: What the text of a dimension consists of, beside numbers, variables and operators.
_OPERATIONS: dict[str, Callable[..., Size]] = {
    "floordiv": lambda a, b: a // b if is_symbolic(b) or b else 0,
    "mod": lambda a, b: a % b,
    "max": lambda *sizes: reduce(_told_maximum, sizes),
    "min": lambda *sizes: reduce(told_minimum, sizes),
}


@lru_cache(maxsize=4096)
def _expression(dimension: Any) -> Any:
    """Python code of an expression: JAX has no public way to work one out, but its text."""
    return compile(str(dimension).replace("^", "**"), "<dimension>", "eval")


class _Values(dict[str, Any]):
    """What the names in the text of a dimension are. Variables without a number stay."""

    def __missing__(self, name: str) -> Any:
        return _OPERATIONS.get(name) or parsed(name)


class Sizes:
    """What unknown sizes are."""

    def __init__(self, **values: Size):
        self._values = _Values(values)
        self._hash: int | None = None

    @staticmethod
    def between(shapes: Iterable[Sequence[Size]], known: Iterable[Sequence[int]]) -> Sizes | None:
        """The sizes with which `shapes`, whose unknown sizes are variables, are the `known` ones;
        None if there are none.

        >>> Sizes.between([(variable(0), 3)], [(5, 3)])
        Sizes(d0=5)
        >>> Sizes.between([(variable(0), 3)], [(5, 4)])
        """
        values: dict[str, int] = {}
        for shape, sizes in zip(shapes, known, strict=True):
            if len(shape) != len(sizes):
                return None
            for size, number in zip(shape, sizes, strict=True):
                if is_symbolic(size):
                    size = values.setdefault(str(size), number)
                if size != number:
                    return None
        return Sizes(**values)

    def of(self, dimension: Size) -> Size:
        """The size that a dimension stands for.

        >>> (a,) = jax.export.symbolic_shape("a")
        >>> Sizes(a=3).of(2 * a + 1), Sizes(a=3).of(a // 2), Sizes().of(7)
        (7, 1, 7)
        """
        if isinstance(dimension, (int, np.integer)):
            return int(dimension)
        if not self._values:
            return dimension
        return eval(_expression(dimension), {"__builtins__": {}}, self._values)

    def shape(self, shape: Sequence[Size]) -> Shape:
        return tuple([self.of(dimension) for dimension in shape])

    def fill(self, value: Any) -> Any:
        """A value, or a nest of tuples, with sizes for the dimensions in it; itself if there are
        none. What has an `at`, as closures do, is asked for it.

        >>> Sizes(d0=2).fill(((variable(0), 3), "same", 1.5))
        ((2, 3), 'same', 1.5)
        """
        if value is None or value.__class__ in _PLAIN:
            return value
        at = getattr(value, "at", None)
        if at is not None and not isinstance(value, np.ndarray):
            return at(self)
        if isinstance(value, tuple):
            filled = [self.fill(item) for item in value]
            if all(map(operator.is_, filled, value)):
                return value
            return type(value)(*filled) if hasattr(value, "_fields") else type(value)(filled)
        return self.of(value) if is_symbolic(value) else value

    def and_those(self, others: Sizes) -> Sizes:
        """These sizes and others.

        >>> Sizes(d0=2).and_those(Sizes(d1=3))
        Sizes(d0=2, d1=3)
        """
        return Sizes(**{**self._values, **others._values})

    def __bool__(self) -> bool:
        return bool(self._values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sizes) and self._values == other._values

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._values.items()))
        return self._hash

    def __repr__(self) -> str:
        return f"Sizes({', '.join(f'{k}={v}' for k, v in self._values.items())})"


_PLAIN = frozenset((int, bool, float, str, bytes, complex, type))


def are_free(shapes: Iterable[Sequence[Size]]) -> bool:
    """Whether the unknown sizes may be any: each is a variable that stands nowhere else.

    >>> d, e = variable(0), variable(1)
    >>> are_free([(d, 3), (e,)]), are_free([(d,), (d,)]), are_free([(d + 1,)])
    (True, False, False)
    """
    sizes = [str(size) for shape in shapes for size in shape if is_symbolic(size)]
    return sorted(sizes) == sorted(variables(tuple(map(tuple, shapes))))


def bounds_in(sizes: Iterable[Size], lengths: Container[Size]) -> tuple[str, ...]:
    """Which is the smaller, where a size is that of an expression and a number: the expression, if
    the number is one of these lengths, of which a part is taken, else the number.

    >>> bounds_in([parsed("d0"), 3, parsed("min(d1 + 2, 20)"), parsed("min(1, d1 - 1)")], {20})
    ('d1 + 2 <= 20', 'd1 - 1 >= 1')
    """
    found = [_SMALLER.findall(str(size)) for size in sizes if is_symbolic(size)]
    pairs = [(a or d, b or c) for each in found for a, b, c, d in each]
    relation = {True: "<=", False: ">="}
    return tuple(dict.fromkeys([f"{x} {relation[int(n) in lengths]} {n}" for x, n in pairs]))


def bounded(names: Iterable[str], bounds: Sequence[str]) -> Sizes:
    """Sizes of these names, of which the bounds are certain.

    >>> sizes = bounded(["d0"], ["d0 <= 20"])
    >>> minimum(sizes.of(parsed("d0")), 30), sizes.of(parsed("min(d0, 9)"))
    (d0, min(d0, 9))
    """
    scope = jax.export.SymbolicScope(tuple(bounds))
    return Sizes(**{name: jax.export.symbolic_shape(name, scope=scope)[0] for name in names})


#: The smaller of an expression and a number, or of a number and an expression.
_SMALLER = re.compile(r"min\((?:([^(),]+), (\d+)|(\d+), ([^(),]+))\)")


def variables(values: Any) -> dict[str, None]:
    """The names of the variables in a value, or a nest of tuples.

    >>> list(variables((variable(1), (2, variable(0) * 3))))
    ['d1', 'd0']
    >>> list(variables(parsed("max(batch, floordiv(d0, 2))")))
    ['batch', 'd0']
    """
    found = _Noted()
    found.fill(values)
    return found.names


class _Noted(Sizes):
    """Notes the variables that it meets."""

    def __init__(self) -> None:
        super().__init__()
        self.names: dict[str, None] = {}

    def of(self, dimension: Size) -> Size:
        if is_symbolic(dimension):
            names = re.findall(r"[A-Za-z_]\w*", str(dimension))
            self.names.update(dict.fromkeys(n for n in names if n not in _OPERATIONS))
        return dimension
