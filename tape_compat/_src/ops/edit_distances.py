"""`tf.edit_distance`: how far sequences in sparse tensors are from each other. On the host."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..composites.sparse import SparseTensor
from ..core.refuse import check_dtype_of, invalid
from ..values.tensor import Tensor, concrete
from .arguments import known_value


def edit_distance(
    hypothesis: SparseTensor,
    truth: SparseTensor,
    normalize: bool = True,
    name: str = "edit_distance",
) -> Tensor:
    """The Levenshtein distance of each sequence of `hypothesis` to the one in the same place of
    `truth`.

    Args:
      hypothesis, truth: SparseTensors [..., length] of one dtype; the last axis is a sequence.
      normalize: whether distances are divided by the lengths in `truth`: inf if that is 0 and the
        other is not.
    Returns: float32 [...], as large as the larger of both along each axis.
    Raises: TypeError for what is no SparseTensor; InvalidArgumentError for other ranks or dtypes.

    >>> import tape_compat as tf
    >>> x, y = tf.sparse.from_dense([[1, 2, 3]]), tf.sparse.from_dense([[1, 3, 3]])
    >>> tf.edit_distance(x, y, normalize=False).numpy().tolist()
    [1.0]
    """
    kernel = "EditDistance"
    for value, what in ((hypothesis, "Hypothesis"), (truth, "Truth")):
        if not isinstance(value, SparseTensor):
            raise TypeError(f"{what} must be a SparseTensor.")
    check_dtype_of(truth.values._aval, 4, hypothesis.dtype, kernel)
    shapes = [known_value(x.dense_shape) for x in (hypothesis, truth)]
    for shape, what in zip(shapes, ("hypothesis_shape", "truth_shape"), strict=True):
        if len(shape) < 2:
            raise invalid(
                f"Input SparseTensors must have rank at least 2, but {what} rank is: {len(shape)}",
                kernel,
            )
    if len(shapes[0]) != len(shapes[1]):
        raise invalid(
            "Expected hypothesis_shape and truth_shape to have the same number of dimensions, got "
            f"{len(shapes[0])} and {len(shapes[1])}",
            kernel,
        )
    found = np.zeros(np.maximum(shapes[0], shapes[1])[:-1], np.float32)
    mine, theirs = _sequences(hypothesis), _sequences(truth)
    for place in {*mine, *theirs}:
        x, y = mine[place], theirs[place]
        distance = float(_levenshtein(x, y))
        if normalize:
            distance = distance / len(y) if y else np.inf
        found[place] = distance
    return concrete(found)


def _sequences(sparse: SparseTensor) -> dict[tuple[int, ...], list[Any]]:
    """The sequences by their places; an empty one elsewhere."""
    found: dict[tuple[int, ...], list[Any]] = defaultdict(list)
    places = known_value(sparse.indices)[:, :-1].tolist()
    values = np.asarray(sparse.values._value()).tolist()
    for place, value in zip(map(tuple, places), values, strict=True):
        found[place].append(value)
    return found


def _levenshtein(x: Sequence[Any], y: Sequence[Any]) -> int:
    """The least number of elements to put in, leave out or replace."""
    row = list(range(len(y) + 1))
    for i, mine in enumerate(x, 1):
        corner, row[0] = row[0], i
        for j, theirs in enumerate(y, 1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (mine != theirs))
    return row[-1]
