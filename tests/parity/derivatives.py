"""Value, first and second derivatives of an op at given points, as one outcome."""

from typing import Any

import numpy as np

from .harness import attempt


def derivatives(tf: Any, op: Any, values: Any, order: int = 2, words: int | None = None) -> Any:
    """`op(tf, *inputs)` with its first and second derivatives by each floating or complex input.

    The first derivatives are of the outputs weighted by fixed unequal numbers, the second of the
    first weighted so again; what is not connected is None.
    """
    inputs = [tf.constant(value) for value in values]
    sources = [x for x in inputs if _continuous(x)]
    with tf.GradientTape() as outer:
        outer.watch(sources)
        with tf.GradientTape() as inner:
            inner.watch(sources)
            result = attempt(lambda: op(tf, *inputs), words=words)
        outputs = [y for y in _flat(result) if tf.is_tensor(y) and _continuous(y)]
        if not order or not sources or not outputs:
            return result
        first = attempt(
            lambda: inner.gradient(outputs, sources, [_weights(tf, y) for y in outputs])
        )
    found = {"value": result, "first": first}
    if order > 1 and isinstance(first, list):
        known = [g for g in first if g is not None and not isinstance(g, tf.IndexedSlices)]
        if known:
            seeds = [_weights(tf, g) for g in known]
            found["second"] = attempt(lambda: outer.gradient(known, sources, seeds))
    return found


def points(op: Any, *values: Any, order: int = 2, words: int | None = None) -> Any:
    """A case: `derivatives` of `op` at `values`; Python numbers become float32."""
    arrays = [np.float32(v) if _python(v) else v for v in values]
    return lambda tf: derivatives(tf, op, arrays, order, words)


def _python(value: Any) -> bool:
    array = np.asarray(value)
    return isinstance(value, float | list) and array.dtype == np.float64


def _continuous(x: Any) -> bool:
    return x.dtype.is_floating or x.dtype.is_complex


def _flat(nest: Any) -> list[Any]:
    if isinstance(nest, list | tuple):
        return [leaf for item in nest for leaf in _flat(item)]
    return [nest]


def _weights(tf: Any, y: Any) -> Any:
    shape = tuple(y.shape)
    count = int(np.prod(shape))
    weights = np.linspace(0.5, 1.5, count).reshape(shape) if count else np.zeros(shape)
    if y.dtype.is_complex:
        weights = weights * (1 - 0.5j)
    return tf.cast(tf.constant(weights), y.dtype)
