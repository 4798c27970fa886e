"""Boxes chosen one after the other by their scores, without those that overlap; on the host.

How many are chosen depends on values, so they are computed when they are asked for.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.refuse import invalid, shown
from ...values.convert import convert
from ...values.host_steps import by_host
from ...values.tensor import Tensor, concrete
from ..arguments import known_value, sketched
from .boxes import how_many, overlap, without_overlaps


def _check_scores(scores: np.ndarray, count: int, kernel: str) -> None:
    if scores.ndim != 1:
        raise invalid(
            f"scores must be 1-D{shown(scores.shape)} "
            f"(Shape must be rank 1 but is rank {scores.ndim})",
            kernel,
        )
    if len(scores) != count:
        raise invalid(
            f"scores has incompatible shape (Dimensions must be equal, but are {count} and "
            f"{len(scores)})",
            kernel,
        )


def _choose(
    scores: np.ndarray,
    similar: Callable[[int, list[int]], np.ndarray],
    most: int,
    limit: Any,
    least: Any,
    sigma: Any = 0.0,
) -> tuple[list[int], list[Any]]:
    """Places and scores of at most `most` that are chosen, the highest score first.

    What is as similar as `limit` to one that is chosen is left out; with `sigma` the scores of
    those that are similar are lowered instead. Source: Bodla et al., "Soft-NMS" (2017).
    """
    kind, soft = scores.dtype.type, sigma > 0
    scale = kind(-0.5) / kind(sigma) if soft else kind(0)
    # (-score, place, how many were chosen when the score was last lowered)
    waiting = [(-score, place, 0) for place, score in enumerate(scores) if score > least]
    heapq.heapify(waiting)
    chosen: list[int] = []
    found: list[Any] = []
    while waiting and len(chosen) < most:
        negative, place, seen = heapq.heappop(waiting)
        score = original = -negative
        near = similar(place, chosen[seen:])[::-1] if len(chosen) > seen else ()
        if not soft:
            if len(near) and np.max(near) > limit:
                continue
        else:
            for value in near:
                score = score * np.exp(scale * value * value)
                if score <= least:
                    break
        if score == original:
            chosen.append(place)
            found.append(score)
        elif score > least:
            heapq.heappush(waiting, (-score, place, len(chosen)))
    return chosen, found


@by_host()
def non_max_suppression_with_scores(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: float = 0.5,
    score_threshold: float = float("-inf"),
    soft_nms_sigma: float = 0.0,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The boxes of the highest scores, int32 [m], and their scores [m].

    Args:
      boxes: [n, 4]: two opposite corners each. scores: [n].
      iou_threshold: the share of their joint area, in [0, 1], above which boxes overlap.
      score_threshold: boxes of at most this score are left out.
      soft_nms_sigma: above 0, a box that shares s of the area with one chosen has its score
        multiplied by exp(-s^2 / (2 sigma)), and is not left out for it, whatever `iou_threshold`.
    Raises: InvalidArgumentError if the shapes do not fit or a threshold is outside.

    >>> import tape_compat as tf
    >>> boxes = [[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 2.0]]
    >>> found = tf.image.non_max_suppression_with_scores(boxes, [1.0, 0.5], 2, 1.0, 0.0, 0.5)
    >>> found[0].numpy().tolist(), round(float(found[1][1]), 3)
    ([0, 1], 0.184)
    """
    sketch = sketched(boxes, scores, max_output_size, iou_threshold, score_threshold)
    if sketch is not None:
        count, kind = sketch.size(), convert(scores).dtype
        return sketch.tensor((count,), dtypes.int32), sketch.tensor((count,), kind)
    kernel = "NonMaxSuppressionV5"
    corners, values = (known_value(convert(x)) for x in (boxes, scores))
    if corners.dtype.kind != "f" or corners.dtype.itemsize != 2:
        corners, values = corners.astype(np.float32), values.astype(np.float32)
    limit, least, sigma = map(known_value, (iou_threshold, score_threshold, soft_nms_sigma))
    if not 0 <= limit <= 1:
        raise invalid("iou_threshold must be in [0, 1]", kernel)
    if sigma < 0:
        raise invalid("soft_nms_sigma_val must be >= 0", kernel)
    most = how_many(max_output_size, kernel)
    if corners.ndim != 2:
        raise invalid(
            f"boxes must be 2-D{shown(corners.shape)} "
            f"(Shape must be rank 2 but is rank {corners.ndim})",
            kernel,
        )
    if corners.shape[1] != 4:
        raise invalid(
            f"boxes must have 4 columns (Dimension must be 4 but is {corners.shape[1]})", kernel
        )
    _check_scores(values, len(corners), kernel)
    kind = values.dtype.type
    limit, least, sigma = np.float32(limit), np.float32(least), kind(sigma)
    if sigma == 0:
        chosen = without_overlaps(corners, values, most, limit, least)
        return concrete(np.asarray(chosen, np.int32)), concrete(values[chosen])
    chosen, found = _choose(
        values,
        lambda place, others: overlap(corners[place], corners[others]),
        most,
        *(limit, least, sigma),
    )
    return concrete(np.asarray(chosen, np.int32)), concrete(np.asarray(found, kind))


@by_host()
def non_max_suppression_overlaps(
    overlaps: Any,
    scores: Any,
    max_output_size: Any,
    overlap_threshold: float = 0.5,
    score_threshold: float = float("-inf"),
    name: str | None = None,
) -> Tensor:
    """The places of the highest scores that overlap with none chosen before; int32 [m].

    Args:
      overlaps: [n, n], how much each overlaps with each: row i is asked when i is to be chosen.
      scores: [n].
      overlap_threshold: above which they overlap too much.
      score_threshold: what has at most this score is left out.
    Raises: InvalidArgumentError if the shapes do not fit.

    >>> import tape_compat as tf
    >>> overlaps = [[1.0, 0.9, 0.1], [0.9, 1.0, 0.2], [0.1, 0.2, 1.0]]
    >>> tf.image.non_max_suppression_overlaps(overlaps, [0.5, 0.9, 0.3], 3).numpy().tolist()
    [1, 2]
    """
    sketch = sketched(overlaps, scores, max_output_size, overlap_threshold, score_threshold)
    if sketch is not None:
        return sketch.tensor((None,), dtypes.int32)
    kernel = "NonMaxSuppressionWithOverlaps"
    table, values = (known_value(convert(x, "float32")) for x in (overlaps, scores))
    if table.ndim != 2:
        raise invalid(f"overlaps must be 2-D{shown(table.shape)}", kernel)
    if table.shape[0] != table.shape[1]:
        raise invalid(f"overlaps must be square{shown(table.shape)}", kernel)
    _check_scores(values, len(table), kernel)
    most = how_many(max_output_size, kernel)
    limit, least = (np.float32(known_value(x)) for x in (overlap_threshold, score_threshold))
    chosen, _ = _choose(values, lambda place, others: table[place, others], most, limit, least)
    return concrete(np.asarray(chosen, np.int32))
