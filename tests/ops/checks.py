"""What is computed of a row, on either module, and what must hold of it.

Most of a test run's time goes into compiling. So the rows of a group are recorded under one tape,
with their derivatives and special points, and the first value that is read runs all of them as one
program. If that fails, each row of the group runs by itself, and the guilty one is named.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

import tape_compat
from tape_compat._src.core import state
from tape_compat._src.run import executor
from tape_compat._src.values.record import flush

from . import TABLES
from .row import Row, leaves

#: Rows in one program. XLA's time for a row grows with what is in the program beside it.
GROUP = 8
#: The ids of the rows that this run asks for, which `tests/conftest.py` sets; all if it is empty.
ASKED: frozenset[str] = frozenset()


@dataclasses.dataclass
class Found:
    """Of one row: its outputs, and derivatives of the outputs weighted by `weights`.

    Attributes:
      values: the outputs, as they are recorded under a tape.
      gradients: by each source; None where there is none.
      tangents: of the outputs, along `directions`.
      second: derivatives of the gradients weighted by `weights`.
      special: the value at the special points, and its gradients.
    """

    values: list[Any]
    gradients: list[Any] | None = None
    tangents: list[Any] | None = None
    second: list[Any] | None = None
    special: list[Any] | None = None


def weights(shape: Sequence[int], number: int) -> np.ndarray:
    """Fixed unequal numbers, so that no two outputs are summed alike."""
    return np.cos(np.arange(int(np.prod(shape)), dtype=np.float64) + number).reshape(shape) + 0.2


def directions(row: Row) -> list[np.ndarray]:
    """A random direction for each source, of its dtype, the same in each run."""
    random = np.random.default_rng(row.number)
    return [random.normal(size=x.shape).astype(x.dtype) for x in row.sources()]


def continuous(y: Any) -> bool:
    return y.dtype.is_floating or y.dtype.is_complex


def seeds(tf: Any, outputs: Sequence[Any]) -> list[Any]:
    """Weights of the outputs as tensors; w + iw weights the real and the imaginary part by w."""
    found = []
    for i, y in enumerate(outputs):
        w = weights(tuple(y.shape), i)
        found.append(tf.constant(w * (1 + 1j) if y.dtype.is_complex else w, y.dtype))
    return found


def total(arrays: Sequence[np.ndarray]) -> float:
    """The weighted sum of outputs whose gradient `seeds` begins."""
    found = 0.0
    for i, y in enumerate(arrays):
        w = weights(y.shape, i)
        found += float(np.sum(w * y.real) + (np.sum(w * y.imag) if y.dtype.kind == "c" else 0.0))
    return found


def record(tf: Any, row: Row, forward: bool = True, inputs: list[Any] | None = None) -> Found:
    """All that is asked of a row, on a module; nothing is read, so nothing has to run yet.

    inputs: tensors of its sources, of the row's own numbers if none are given.
    """
    if inputs is None:
        inputs = [tf.constant(x) for x in row.sources()]
    if not row.differentiable:
        found = _without_derivatives(tf, row, inputs)
    else:
        found = _with_derivatives(tf, row, inputs, forward)
    if row.special:
        found.special = _special(tf, row)
    return found


def _without_derivatives(tf: Any, row: Row, inputs: list[Any]) -> Found:
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        values = leaves(row.call(tf, inputs))
        targets = [y if continuous(y) else tf.cast(y, tf.float64) for y in values]
    if row.gradient or not inputs:
        return Found(values)
    return Found(values, tape.gradient(targets, inputs))


def _with_derivatives(tf: Any, row: Row, inputs: list[Any], forward: bool) -> Found:
    with tf.GradientTape() as outer:
        outer.watch(inputs)
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            if forward:
                tangents = [tf.constant(u) for u in directions(row)]
                with tf.autodiff.ForwardAccumulator(inputs, tangents) as accumulator:
                    values = leaves(row.call(tf, inputs))
            else:
                values = leaves(row.call(tf, inputs))
        outputs = [y for y in values if continuous(y)]
        gradients = tape.gradient(outputs, inputs, seeds(tf, outputs))
    found = Found(values, gradients)
    if forward:
        found.tangents = [accumulator.jvp(y, unconnected_gradients="zero") for y in outputs]
    if row.orders > 1:
        known = [g for g in gradients if g is not None]
        found.second = outer.gradient(known, inputs, seeds(tf, known), unconnected_gradients="zero")
    return found


def _special(tf: Any, row: Row) -> list[Any]:
    inputs = [tf.constant(x) for x in row.points()]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        value = row.at_points(tf, inputs)
    return [value, *tape.gradient(value, inputs)]


def read(found: Found) -> Found:
    """The same as NumPy arrays."""

    def arrays(tensors: list[Any] | None) -> list[Any] | None:
        return None if tensors is None else [t if t is None else np.asarray(t) for t in tensors]

    return Found(**{f.name: arrays(getattr(found, f.name)) for f in dataclasses.fields(Found)})


# -- groups ----------------------------------------------------------------------------------------


@cache
def groups(asked: frozenset[str] = frozenset()) -> dict[str, tuple[Row, ...]]:
    """The group of each row, by its id: so many of its table that stand together.

    asked: the ids of the rows that are in groups; all if it is empty.
    """
    tables = [
        [row for row in getattr(table, "ROWS", []) if not asked or row.id in asked]
        for table in TABLES.values()
    ]
    parts = [tuple(rows[i : i + GROUP]) for rows in tables for i in range(0, len(rows), GROUP)]
    return {row.id: part for part in parts for row in part}


_FOUND: dict[tuple[str, bool], Found | Exception] = {}


def found(row: Row) -> Found:
    """What is found of a row, together with its group; in immediate mode alone."""
    key = row.id, state.immediate()
    if key not in _FOUND:
        rows = (row,) if state.immediate() else groups(ASKED).get(row.id, (row,))
        for one, outcome in zip(rows, together(rows), strict=True):
            _FOUND[one.id, state.immediate()] = outcome
    outcome = _FOUND[key]
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def together(rows: Sequence[Row]) -> list[Found | Exception]:
    """What is found of rows recorded in one program; of each alone where that raises."""
    try:
        return _one_program(rows)
    except Exception as error:
        flush()
        if len(rows) == 1:
            return [error]
        return [outcome for row in rows for outcome in together([row])]


def _one_program(rows: Sequence[Row]) -> list[Found | Exception]:
    executor.forget_histories()
    with tape_compat.GradientTape():  # entering an outermost tape would run what is pending
        recorded = [record(tape_compat, row) for row in rows]
    return [read(one) for one in recorded]


# -- checks ----------------------------------------------------------------------------------------


def values_at(row: Row, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The outputs where the op is called without a tape."""
    return [y.numpy() for y in leaves(row.call(tape_compat, arrays))]


def moved(row: Row, *steps: tuple[float, Sequence[np.ndarray]]) -> float:
    """The weighted sum of the continuous outputs, so many steps along directions away."""
    arrays = row.sources()
    for step, direction in steps:
        arrays = [x + step * u for x, u in zip(arrays, direction, strict=True)]
    return total([y for y in values_at(row, arrays) if y.dtype.kind in "fcV"])


def inner(xs: Sequence[np.ndarray], ys: Sequence[np.ndarray]) -> float:
    return float(sum(np.sum(x * y) for x, y in zip(xs, ys, strict=True)))


def check_value(row: Row) -> None:
    """The op without and under a tape against NumPy."""
    assert callable(row.reference)
    expected = leaves(row.reference(*row.args, **row.options))
    called = leaves(row._apply(tape_compat, row.args))
    for got in ([y.numpy() for y in called], found(row).values):
        assert len(got) == len(expected)
        for y, tensor, reference in zip(got, called, expected, strict=True):
            assert tuple(tensor.shape) == y.shape == np.shape(reference)
            rtol = 1e-6 if y.dtype == np.float32 else 1e-9
            np.testing.assert_allclose(y, reference, rtol=rtol, atol=1e-12)


def check_gradient(row: Row) -> None:
    """The slope along a random direction against a central difference of values."""
    gradients, u, h = found(row).gradients, directions(row), 1e-5
    assert gradients is not None
    assert [g.shape for g in gradients] == [x.shape for x in row.sources()]
    slope = (moved(row, (h, u)) - moved(row, (-h, u))) / (2 * h)
    np.testing.assert_allclose(inner(gradients, u), slope, rtol=1e-5, atol=1e-7)


def check_second(row: Row) -> None:
    """The second derivative along two directions against differences of values.

    Its first direction is that of the weights of the gradients, its second a random one. Two steps
    are taken, so that the error is of the fourth order (Richardson).
    """
    second, u, h = found(row).second, directions(row), 5e-4
    assert second is not None
    assert [g.shape for g in second] == [x.shape for x in row.sources()]
    w = [weights(x.shape, i) for i, x in enumerate(row.sources())]
    slope = (4 * mixed_difference(row, u, w, h) - mixed_difference(row, u, w, 2 * h)) / 3
    np.testing.assert_allclose(inner(second, u), slope, rtol=1e-4, atol=1e-6)


def mixed_difference(row: Row, u: Sequence[np.ndarray], w: Sequence[np.ndarray], h: float) -> float:
    """u' H w of the weighted sum, to the second order in the step."""
    corners = [(a, b) for a in (1, -1) for b in (1, -1)]
    return sum(a * b * moved(row, (a * h, u), (b * h, w)) for a, b in corners) / (4 * h * h)


def check_forward(row: Row) -> None:
    """<w, J u> by forward mode equals <J' w, u> by reverse mode."""
    one = found(row)
    assert one.tangents is not None and one.gradients is not None
    backward = inner(one.gradients, directions(row))
    np.testing.assert_allclose(total(one.tangents), backward, rtol=1e-9, atol=1e-12)


def check_none(row: Row) -> None:
    """No gradient, as in TensorFlow."""
    gradients = found(row).gradients
    assert gradients and all(g is None for g in gradients)


def checks_of(row: Row) -> Iterator[tuple[str, Callable[[Row], None]]]:
    """The checks that apply to a row, by name; that of the special points is in test_ops.py."""
    if callable(row.reference):
        yield "value", check_value
    if row.differentiable:
        yield "gradient", check_gradient
        yield "forward", check_forward
        if row.orders > 1:
            yield "second", check_second
    elif not row.gradient and row.sources():
        yield "none", check_none
