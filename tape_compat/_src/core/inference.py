"""The shapes and dtypes that a closure gives where sizes are unknown.

JAX infers them over dimension expressions. Where two sizes have to be equal and are not the same
expression, such as those of two None, they are taken for equal and it is tried again; when the
sizes are known the op is checked again.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from . import errors, limits
from .avals import Aval
from .dimensions import (
    INCONCLUSIVE,
    Shape,
    Size,
    Sizes,
    broadcast,
    is_symbolic,
    maximum,
    minimum,
    variables,
)
from .refuse import invalid, shown

Avals = tuple[Aval, ...]
#: Known sizes, and what a closure gives for them.
Samples = list[tuple[Sizes, Avals]]


class Closure(Protocol):
    """What is asked of a closure; see `op.py`."""

    name: str
    op: Any
    attributes: dict[str, Any]

    def trace(self, avals: Sequence[Aval]) -> Any: ...
    def at(self, sizes: Sizes) -> Any: ...
    def primal(self, avals: Avals) -> tuple[Closure, Avals]: ...


def infer_unknown(closure: Closure, avals: Avals) -> tuple[Avals, bool]:
    """Output avals, and whether there is one array rather than a tuple of them."""
    op = closure.op
    if op.broadcasts:
        return (_broadcast(closure, avals),), True
    if op.shapes is not None:
        _check(closure, avals)
        found = op.shapes(avals, **closure.attributes)
        return (found, False) if isinstance(found, tuple) else ((found,), True)
    try:
        return _traced(closure, avals)
    except errors.NeedsValue:
        raise
    except Exception as error:  # JAX's, NumPy's and Python's for what is no number
        if errors.is_of_dtypes(error):
            raise
        first = error
    samples, single = _samples(closure, avals)
    found = _from_examples(closure, avals, samples, single) or _unified(closure, avals, samples)
    if found is not None:
        return found
    if isinstance(first, errors.OpError) or example(closure, avals) is None:
        raise first
    raise errors.NeedsValue(
        f"{closure.name} of {', '.join(map(repr, avals)) or 'nothing'} needs sizes that are not "
        f"known (at {errors.user_location()}): {first}"
    ) from first


def _traced(closure: Closure, avals: Avals) -> tuple[Avals, bool]:
    _check(closure, avals)
    trace = closure.trace(avals)
    return trace.outputs, trace.single


def _check(closure: Closure, avals: Avals) -> None:
    if closure.op.check is not None:
        with contextlib.suppress(INCONCLUSIVE):
            closure.op.check(avals, **closure.attributes)


def _broadcast(closure: Closure, avals: Avals) -> Aval:
    """What an elementwise op gives: its dtype does not depend on shapes."""
    scalars = tuple([aval.scalar for aval in avals])
    _check(closure, scalars)
    shape = broadcast([aval.shape for aval in avals])
    if shape is None:
        texts = " vs. ".join(shown(aval.shape) for aval in avals)
        raise invalid(f"Incompatible shapes: {texts}", closure.name)
    return Aval.of(shape, closure.trace(scalars).outputs[0].dtype)


def _unified(closure: Closure, avals: Avals, samples: Samples) -> tuple[Avals, bool] | None:
    """What it gives if some unknown sizes are taken for others, or for numbers; None if that does
    not help, or is not what it gives for sizes that it takes though they differ."""
    for equal in itertools.islice(_guessed_equal(closure, avals), limits.MAX_UNIFICATIONS):
        found = _tried(closure, _replaced(avals, equal))
        if found is not None:
            outputs = _replaced(found[0], _larger(closure, avals, equal))
            if all(_shapes([x.at(sizes) for x in outputs]) == _shapes(y) for sizes, y in samples):
                return outputs, found[1]
    return None


def _tried(closure: Closure, avals: Avals) -> tuple[Avals, bool] | None:
    with contextlib.suppress(Exception):
        return _traced(closure, avals)
    return _from_examples(closure, avals, *_samples(closure, avals))


def _larger(closure: Closure, avals: Avals, equal: dict[Size, Size]) -> dict[Size, Size]:
    """What to put for sizes that others were taken for: one of the two may be 1 and broadcast."""
    larger: dict[Size, Size] = {}
    for a, b in equal.items():
        others = {n: whole for n, whole in equal.items() if n is not a}
        if is_symbolic(b) and _takes(closure, _replaced(avals, {**others, a: 1})):
            either = _takes(closure, _replaced(avals, {**others, b: 1}))
            larger[b] = maximum(a, larger.get(b, b)) if either else b
    return larger


def _takes(closure: Closure, avals: Avals) -> bool:
    try:
        _traced(closure, avals)
    except Exception:
        return False
    return True


def _guessed_equal(closure: Closure, avals: Avals) -> Iterator[dict[Size, Size]]:
    """What unknown sizes may have to be equal to, the likeliest first: those at the same place."""
    shapes = [aval.shape for aval in avals]
    sizes = [n for shape in shapes for n in shape]
    others = _numbers(v for v in closure.attributes.values() if isinstance(v, tuple))
    near = [pair for x, y in itertools.combinations(shapes, 2) for pair in _beside(x, y)]
    near.sort(key=lambda pair: not is_symbolic(pair[1]))
    near = list(dict.fromkeys(pair for pair in near if pair[0] != pair[1]))
    unknown = dict.fromkeys(n for n in sizes if is_symbolic(n))
    known = dict.fromkeys(n for n in (*sizes, *others) if not is_symbolic(n) and n > 1)
    both = list(itertools.combinations(unknown, 2))
    far = [pair for pair in (*both, *itertools.product(unknown, known)) if pair not in near]
    for count in (1, 2):
        yield from map(dict, itertools.combinations(near, count))
    yield from map(dict, itertools.islice(itertools.combinations(near, 3), 20))
    yield _beside_all(shapes)
    yield _beside_all([shape[::-1] for shape in shapes])
    yield from ({a: b} for a, b in far)
    yield from (dict(two) for two in itertools.combinations(both, 2))
    yield from (dict(two) for two in itertools.combinations([*near, *far], 2))


def _beside(x: Shape, y: Shape) -> Iterator[tuple[Size, Size]]:
    """Pairs of sizes at the same place, counted from either end, an unknown one first."""
    for a, b in (*zip(x, y), *zip(reversed(x), reversed(y))):
        if is_symbolic(a) or is_symbolic(b):
            yield (a, b) if is_symbolic(a) else (b, a)


def _beside_all(shapes: list[Shape]) -> dict[Size, Size]:
    """All unknown sizes at one place taken for one of them, or for the number there."""
    equal: dict[Size, Size] = {}
    for place in itertools.zip_longest(*shapes):
        here = [n for n in place if n is not None and n != 1]
        if here:
            whole = next((n for n in here if not is_symbolic(n)), here[0])
            equal.update((n, whole) for n in here if is_symbolic(n) and n != whole)
    return equal


def _numbers(values: Iterable[Any]) -> Iterator[Size]:
    """The sizes, known or not, in attributes."""
    for value in values:
        if isinstance(value, tuple):
            yield from _numbers(value)
        elif is_symbolic(value) or (type(value) is int and value >= 0):
            yield value


def _replaced(avals: Avals, sizes: dict[Size, Size]) -> Avals:
    """The avals with other sizes for some."""
    return tuple(
        [
            Aval.of(tuple([sizes.get(n, n) for n in aval.shape]), aval.dtype)
            if aval.unknown
            else aval
            for aval in avals
        ]
    )


# ---------------------------------------------------------------------------------------------
# By examples: for what asks how large an axis is, which JAX cannot answer for an unknown size.


def _names(closure: Closure, avals: Sequence[Aval]) -> list[str]:
    return list(variables((*[aval.shape for aval in avals], *closure.attributes.values())))


def example(closure: Closure, avals: Avals) -> tuple[Any, Avals] | None:
    """The closure, and its inputs, with known sizes that it takes; None if none were found."""
    base, given = closure.primal(avals)
    guesses = itertools.chain([{}], _guessed_equal(base, given))
    names = _names(closure, avals)
    for equal in itertools.islice(guesses, limits.MAX_UNIFICATIONS):
        for size in (*limits.EXAMPLE_SIZES, 1, 4, 6):
            values: dict[str, Size] = dict.fromkeys(names, size)
            for a, b in equal.items():
                if str(a) in values:
                    values[str(a)] = Sizes(**values).of(b)
            with contextlib.suppress(Exception):
                return _filled(closure, avals, Sizes(**values))
    return None


def _filled(closure: Closure, avals: Avals, sizes: Sizes) -> tuple[Any, Avals]:
    """The closure and its inputs with these sizes. Raises if it does not take them, or if what it
    is a derivative of is empty then."""
    known, inputs = closure.at(sizes), tuple([aval.at(sizes) for aval in avals])
    primal, primals = known.primal(inputs)
    if not any(aval.size for aval in primal.infer(primals)[0]):
        raise ValueError("empty")
    known.trace(inputs)
    return known, inputs


def _from_examples(
    closure: Closure, avals: Avals, samples: Samples, single: bool
) -> tuple[Avals, bool] | None:
    """What it gives, as what it gives for some sizes tells; None if it does not take sizes that
    differ, or what it gives is no simple function of them."""
    if len(samples) < len(limits.EXAMPLE_SIZES) - 3:
        return None
    pool = list(dict.fromkeys(n for aval in avals for n in aval.shape if is_symbolic(n)))
    pool += [n for n in _numbers(closure.attributes.values()) if is_symbolic(n)]
    kinds = zip(*[outputs for _, outputs in samples], strict=True)
    outputs = []
    for kind in kinds:
        if len({len(aval.shape) for aval in kind}) > 1:
            return None
        shape = tuple(
            [_fitted(found, [s for s, _ in samples], pool) for found in zip(*_shapes(kind))]
        )
        if None in shape:
            return None
        outputs.append(Aval.of(shape, kind[0].dtype))
    return tuple(outputs), single


def _samples(closure: Closure, avals: Avals) -> tuple[Samples, bool]:
    """What it gives for sizes that differ, as far as it takes them, and whether that is one array;
    nothing if it takes none of the first two."""
    names = _names(closure, avals)
    values = limits.EXAMPLE_SIZES
    samples: Samples = []
    single = True
    for k in range(len(values)):
        chosen = [values[(k + i) % len(values)] for i in range(len(names))]
        sizes = Sizes(**dict(zip(names, chosen, strict=True)))
        try:
            outputs, single = closure.at(sizes).infer(tuple([aval.at(sizes) for aval in avals]))
            samples.append((sizes, outputs))
        except Exception as error:
            if errors.is_of_dtypes(error):
                raise
        if k == 1 and not samples:
            break
    return samples, single


def _shapes(avals: Iterable[Aval]) -> list[Shape]:
    return [aval.shape for aval in avals]


def _fitted(found: Sequence[int], samples: list[Sizes], pool: list[Size]) -> Size | None:
    """The size that is what was found in each sample."""
    if len(set(found)) == 1:
        return found[0]
    for guess in _guesses(found, samples, pool):
        if all(sizes.of(guess) == n for sizes, n in zip(samples, found, strict=True)):
            return guess
    return None


def _guesses(found: Sequence[int], samples: list[Sizes], pool: list[Size]) -> Iterator[Size]:
    for size in pool:
        (a, m), (b, n) = [(s.of(size), n) for s, n in zip(samples[:2], found[:2], strict=True)]
        slope, rest = divmod(n - m, b - a) if a != b else (0, 1)
        if slope and not rest:
            yield slope * size + (m - slope * a)
    yield from (minimum(size, n) for size in pool for n in {max(found)})
    yield from (maximum(size, n) for size in pool for n in {min(found)})
    for a, b in itertools.combinations(pool, 2):
        yield from (minimum(a, b), maximum(a, b), a * b, a + b)
        for x, y in ((a, b), (b, a)):  # elements of a diagonal beside the main one
            shifts = {n - sizes.of(y) for sizes, n in zip(samples, found, strict=True)}
            yield from (minimum(x, y + shift) for shift in shifts if shift)
