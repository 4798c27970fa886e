"""Rows of `ops/losses.py`."""

import itertools
from typing import Any

import numpy as np
import scipy.special as sp

from .references import np_softmax
from .row import FINITE, Row, binary, normal, uniform


def _weighted_loss(labels: Any, logits: Any, weight: float) -> Any:
    p = sp.expit(logits)
    return -weight * labels * np.log(p) - (1 - labels) * np.log(1 - p)


LABELS = np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]])

ROWS = [
    Row("nn.scale_regularization_loss", [normal(3)], np.sum),
    Row(
        "nn.softmax_cross_entropy_with_logits",
        [LABELS, normal(2, 3)],
        lambda labels, x: -np.sum(labels * np.log(np_softmax(x)), -1),
        orders=1,
    ),
    Row(
        "nn.sparse_softmax_cross_entropy_with_logits",
        [np.array([0, 2], np.int32), normal(2, 3)],
        lambda labels, x: -np.log(np_softmax(x))[np.arange(2), labels],
    ),
    Row(
        "nn.sigmoid_cross_entropy_with_logits",
        [LABELS, normal(2, 3)],
        lambda labels, x: _weighted_loss(labels, x, 1.0),
        special=tuple(itertools.product((0.0, 0.5, 1.0), FINITE)),
    ),
    Row(
        "nn.weighted_cross_entropy_with_logits",
        [LABELS, normal(2, 3)],
        lambda labels, x, pos_weight: _weighted_loss(labels, x, pos_weight),
        {"pos_weight": 3.0},
    ),
    binary("nn.log_poisson_loss", lambda z, c: np.exp(c) - c * z, uniform(0.5, 3, (4,)), normal(4)),
    Row("nn.l2_loss", [normal(2, 3)], lambda x: np.sum(x * x) / 2),
    Row("nn.compute_average_loss", [normal(4)], np.mean),
]
