"""Labels made ready for the CTC loss: repeated ones removed, distinct ones numbered."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core import dtypes
from ..core.avals import Aval
from ..core.op import Op
from ..core.refuse import invalid
from ..values.convert import convert
from ..values.record import apply
from ..values.tensor import Tensor, concrete
from .arguments import known_value


def collapse_repeated(
    labels: Any, seq_length: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Rows of labels of which each that equals the one before is removed, and their lengths.

    How wide the result is depends on values, so it is computed now.

    Args:
      labels: [batch, n]. seq_length: integers [batch], how many of each row count.
    Returns: [batch, m], filled up with zeros, and the new lengths [batch].
    Raises: InvalidArgumentError if `labels` is no matrix; ValueError if the lengths do not fit.

    >>> import tape_compat as tf
    >>> [
    ...     x.numpy().tolist()
    ...     for x in tf.nn.collapse_repeated([[1, 1, 2, 2, 0], [3, 3, 3, 4, 4]], [5, 4])
    ... ]
    [[[1, 2, 0], [3, 4, 0]], [3, 2]]
    """
    rows, lengths = known_value(convert(labels)), known_value(convert(seq_length))
    if rows.ndim != 2:
        raise invalid(
            f"Index out of range using input dim {rows.ndim}; input has only {rows.ndim} dims",
            "StridedSlice",
        )
    batch, width = rows.shape
    kept = np.ones(rows.shape, bool)
    kept[:, 1:] = rows[:, 1:] != rows[:, :-1]
    kept = kept & (np.arange(width) < lengths[..., None])
    if kept.size != rows.size:
        raise ValueError(f"Shapes ({rows.size},) and ({kept.size},) are incompatible")
    counts = kept.sum(1)
    found = np.zeros((batch, int(counts.max(initial=0))), rows.dtype)
    found[np.arange(found.shape[1]) < counts[:, None]] = rows[kept]
    return concrete(found), concrete(counts.astype(lengths.dtype))


def _unique(labels: Any) -> tuple[Any, Any]:
    """Distinct labels in the order in which they appear, and the number of each."""
    batch, width = labels.shape
    same = labels[:, :, None] == labels[:, None, :]
    first = jnp.argmax(same, axis=2)
    new = first == np.arange(width)
    rank = jnp.cumsum(new, axis=1, dtype=np.int32) - 1
    number = jnp.take_along_axis(rank, first, 1)
    place = jnp.where(new, number, width)
    found = jnp.zeros((batch, width), np.int64)
    rows = np.arange(batch)[:, None]
    return found.at[rows, place].set(labels.astype(np.int64), mode="drop"), number


def _check(avals: tuple[Aval, ...]) -> None:
    if len(avals[0].shape) != 2:
        raise invalid("unique expects a 1D vector.", "Unique")


def _shapes(avals: tuple[Aval, ...]) -> tuple[Aval, Aval]:
    shape = avals[0].shape
    return Aval.of(shape, dtypes.int64), Aval.of(shape, dtypes.int32)


_UNIQUE = Op(_unique, "Unique", check=_check, shapes=_shapes, differentiable=False)


def ctc_unique_labels(labels: Any, name: str | None = None) -> list[Tensor]:
    """The distinct labels of each row of integers [batch, n], and which of them each is.

    Returns: int64 [batch, n], in the order in which they appear, filled up with zeros; int32
      [batch, n], the place of each label among them.
    Raises: InvalidArgumentError if `labels` is no matrix.

    >>> import tape_compat as tf
    >>> [x.numpy().tolist() for x in tf.nn.ctc_unique_labels([[3, 3, 4, 1]])]
    [[[3, 4, 1, 0]], [[0, 0, 1, 2]]]
    """
    return list(apply(_UNIQUE.bind(), (convert(labels),)))
