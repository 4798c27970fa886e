"""`tf.image.combined_non_max_suppression`: boxes chosen class by class, in images of a batch."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...core import dtypes
from ...core.avals import Aval
from ...core.dimensions import differ, minimum
from ...core.op import Op
from ...core.refuse import check_dtype_of, invalid
from ...values.convert import convert
from ...values.record import apply
from ...values.tensor import Tensor
from ..arguments import as_int
from .boxes import overlap
from .suppression_padded import greedy

_COMBINED = "CombinedNonMaxSuppression"


class CombinedNonMaxSuppression(NamedTuple):
    """Boxes, scores and classes, filled up with zeros, and how many of each image are not."""

    nmsed_boxes: Tensor
    nmsed_scores: Tensor
    nmsed_classes: Tensor
    valid_detections: Tensor


def _combined(
    boxes: Any, scores: Any, limit: Any, least: Any, each: int, total: int, clip: bool
) -> tuple[Any, ...]:
    for axis in (0, 1):
        if boxes.shape[axis] != scores.shape[axis]:  # unknown sizes of two names, which are one
            numbers = jnp.arange(boxes.shape[axis])
            scores = jnp.take(scores, numbers, axis, mode="clip")
    classes = scores.shape[2]

    def suppresses(box: Any, others: Any) -> Any:
        return overlap(box, others, jnp) > limit

    def of_class(boxes: Any, scores: Any) -> tuple[Any, Any, Any]:
        order = jnp.argsort(scores, stable=True, descending=True)
        boxes, scores = boxes[order], scores[order]
        usable = scores > least
        places, found = greedy(boxes, usable, usable, suppresses, each)
        if scores.shape[0] == 0:
            return jnp.zeros((each, 4), np.float32), places.astype(np.float32), places > 0
        return boxes[places], scores[places], jnp.arange(each) < found

    def of_image(boxes: Any, scores: Any) -> tuple[Any, ...]:
        boxes = jnp.broadcast_to(boxes, (boxes.shape[0], classes, 4))
        chosen, values, valid = jax.vmap(of_class, 1)(boxes, scores)
        kinds = jnp.broadcast_to(jnp.arange(classes, dtype=np.float32)[:, None], (classes, each))
        keys = jnp.where(valid.ravel(), values.ravel(), -jnp.inf)
        order = jnp.lexsort((-keys, ~valid.ravel()))[:total]
        valid = valid.ravel()[order]

        def first(array: Any) -> Any:
            taken = array.reshape(classes * each, *array.shape[2:])[order]
            mask = valid.reshape(-1, *(1,) * (taken.ndim - 1))
            missing = [(0, total - taken.shape[0]), *[(0, 0)] * (taken.ndim - 1)]
            return jnp.pad(jnp.where(mask, taken, 0), missing)

        chosen = jnp.clip(chosen, 0, 1) if clip else chosen
        return first(chosen), first(values), first(kinds), jnp.sum(valid, dtype=np.int32)

    return jax.vmap(of_image)(boxes, scores)


def _check_combined(avals: tuple[Aval, ...], each: int, total: int, clip: bool) -> None:
    boxes, scores, *_ = avals
    for i, aval in enumerate((boxes, scores)):
        check_dtype_of(aval, i, dtypes.float32, _COMBINED)
    if boxes.shape and scores.shape and differ(boxes.shape[0], scores.shape[0]):
        raise invalid("boxes and scores must have same batch size", _COMBINED)
    for aval, rank, what in ((boxes, 4, "boxes"), (scores, 3, "scores")):
        if len(aval.shape) != rank:
            raise invalid(f"{what} must be {rank}-D", _COMBINED)
    if differ(boxes.shape[1], scores.shape[1]):
        raise invalid("scores has incompatible shape", _COMBINED)
    if differ(boxes.shape[2], 1) and differ(boxes.shape[2], scores.shape[2]):
        raise invalid("third dimension of boxes must be either 1 or num classes", _COMBINED)
    if differ(boxes.shape[3], 4):
        raise invalid("boxes must have 4 columns", _COMBINED)


def _combined_shape(avals: tuple[Aval, ...], each: int, total: int, clip: bool) -> tuple[Aval, ...]:
    batch, kind = avals[0].shape[0], dtypes.float32
    shapes = ((batch, total, 4), (batch, total), (batch, total))
    return (*(Aval.of(shape, kind) for shape in shapes), Aval.of((batch,), dtypes.int32))


_OF_CLASSES = Op(
    _combined, _COMBINED, check=_check_combined, shapes=_combined_shape, differentiable=False
)


def combined_non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size_per_class: Any,
    max_total_size: Any,
    iou_threshold: float = 0.5,
    score_threshold: float = float("-inf"),
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> CombinedNonMaxSuppression:
    """Boxes of the highest scores that overlap with none chosen before of their class and image.

    Args:
      boxes: float32 [batch, n, q, 4], two opposite corners each; q is 1 or the number of classes.
      scores: float32 [batch, n, classes].
      max_output_size_per_class, max_total_size: how many are chosen; both must be known.
      iou_threshold: the share of their joint area, in [0, 1], above which boxes overlap.
      score_threshold: boxes of at most this score are left out.
      pad_per_class: whether no more are given than all the classes can have.
      clip_boxes: whether the coordinates of the result are kept in [0, 1].
    Returns: float32 [batch, m, 4], [batch, m], [batch, m], the highest scores first, and int32
      [batch]: how many of each image are not filled up.
    Raises: InvalidArgumentError if the shapes do not fit or a number is outside.

    >>> import tape_compat as tf
    >>> boxes = tf.constant([[[[0.0, 0.0, 0.5, 0.5]], [[0.0, 0.0, 0.5, 0.6]]]])
    >>> found = tf.image.combined_non_max_suppression(boxes, tf.constant([[[0.2], [0.7]]]), 2, 3)
    >>> found.nmsed_scores.numpy().round(1).tolist(), found.valid_detections.numpy().tolist()
    ([[0.699999988079071, 0.0, 0.0]], [1])
    """
    limit, least = (convert(x, "float32") for x in (iou_threshold, score_threshold))
    each, total = as_int(max_output_size_per_class), as_int(max_total_size)
    if total >= 2**31:
        check_dtype_of(Aval.of((), dtypes.int64), 3, dtypes.int32, _COMBINED)
    if each <= 0:
        raise invalid("max_size_per_class must be positive", _COMBINED)
    if total <= 0:
        raise invalid("max_total_size must be > 0", _COMBINED)
    if not isinstance(iou_threshold, Tensor) and not 0 <= iou_threshold <= 1:
        raise invalid("iou_threshold must be in [0, 1]", _COMBINED)
    x, values = convert(boxes), convert(scores)
    if pad_per_class:
        total = as_int(minimum(total, each * values._aval.shape[-1]))
    closure = _OF_CLASSES.bind(each=each, total=total, clip=bool(clip_boxes))
    return CombinedNonMaxSuppression(*apply(closure, (x, values, limit, least)))
