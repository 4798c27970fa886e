"""Jacobians by the tape and by differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...autodiff.tape import GradientTape
from ...core.dtypes import as_dtype
from ...values.convert import convert
from ...values.tensor import Tensor


def compute_gradient(
    f: Callable[..., Any], x: Any, delta: float | None = None
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """Jacobians of `f` by each argument, by reverse mode and by central differences.

    Args:
      f: function of as many tensors as `x` has, that gives one tensor.
      x: list or tuple of the arguments, floating or complex.
      delta: by how much an element is moved each way; 1 / 1024 if None.
    Returns: two tuples, with an array [elements of f, elements of x[i]] for each argument. A
      complex element counts as two, its real part and then its imaginary one.
    Raises: ValueError if `x` is no list or tuple; AssertionError for an argument of integers.

    >>> import tape_compat as tf
    >>> (by_tape,), (by_differences,) = tf.test.compute_gradient(tf.square, [[1.0, 3.0]])
    >>> by_tape.tolist()
    [[2.0, 0.0], [0.0, 6.0]]
    >>> bool(abs(by_tape - by_differences).max() < 1e-2)
    True
    """
    if not isinstance(x, (list, tuple)):
        raise ValueError(
            "`x` must be a list or tuple of values convertible to a Tensor (arguments to `f`), "
            f"not a {type(x)}"
        )
    arguments = [convert(value) for value in x]
    for place, argument in enumerate(arguments):
        dtype = as_dtype(argument.dtype)
        assert dtype.is_floating or dtype.is_complex, (
            f"Cannot compute gradient for unsupported type {dtype.name} of argument {place}"
        )
    step = 1.0 / 1024 if delta is None else delta
    places = range(len(arguments))
    by_tape = tuple(_by_tape(f, arguments, place) for place in places)
    return by_tape, tuple(_by_differences(f, arguments, place, step) for place in places)


def _real(array: Any) -> np.ndarray:
    """The elements as one row of real numbers, in the same memory."""
    flat = array.reshape(-1)
    return flat.view(flat.real.dtype) if np.iscomplexobj(flat) else flat


def _moved(like: np.ndarray, element: int, by: float) -> np.ndarray:
    """Zeros but for one of the real numbers."""
    zeros = np.zeros(like.shape, like.dtype)
    _real(zeros)[element] = by
    return zeros


def _by_tape(f: Callable[..., Any], arguments: list[Tensor], place: int) -> np.ndarray:
    source = arguments[place]
    with GradientTape(persistent=True) as tape:
        tape.watch(source)
        y = f(*arguments)
    like, rows = y.numpy(), []
    width = len(_real(source.numpy()))
    for element in range(len(_real(like))):
        seed = convert(_moved(like, element, 1.0), y.dtype)
        gradient = tape.gradient(y, source, output_gradients=seed)
        row = np.zeros(width) if gradient is None else _real(convert(gradient).numpy())
        rows.append(row)
    dtype = _real(source.numpy()).dtype
    return np.array(rows, dtype).reshape(len(rows), width)


def _by_differences(
    f: Callable[..., Any], arguments: list[Tensor], place: int, step: float
) -> np.ndarray:
    source = arguments[place]
    like = source.numpy()

    def moved(element: int, by: float) -> np.ndarray:
        shift = convert(_moved(like, element, by), source.dtype)
        return f(*arguments[:place], source + shift, *arguments[place + 1 :]).numpy()

    columns = []
    for element in range(len(_real(like))):
        difference = moved(element, step) - moved(element, -step)
        columns.append(_real(difference / np.asarray(2 * step, difference.dtype)))
    if not columns:
        return np.zeros((len(_real(f(*arguments).numpy())), 0), _real(like).dtype)
    return np.stack(columns, axis=1)
