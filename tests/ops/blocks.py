"""Rows of `ops/blocks.py`."""

from typing import Any

import numpy as np

from .row import Row, normal


def _depth_to_space(x: Any, block: int) -> Any:
    n, h, w, c = x.shape
    out = np.zeros((n, h * block, w * block, c // block**2))
    for i, j in np.ndindex(block, block):
        at = (i * block + j) * out.shape[-1]
        out[:, i::block, j::block] = x[..., at : at + out.shape[-1]]
    return out


def _space_to_depth(x: Any, block: int) -> Any:
    return np.concatenate([x[:, i::block, j::block] for i, j in np.ndindex(block, block)], axis=-1)


def _space_to_batch(x: Any, blocks: Any, paddings: Any) -> Any:
    x = np.pad(x, [(0, 0), *paddings, *[(0, 0)] * (x.ndim - 1 - len(blocks))])
    return np.concatenate([x[:, i :: blocks[0], j :: blocks[1]] for i, j in np.ndindex(*blocks)])


def _batch_to_space(x: Any, blocks: Any, crops: Any) -> Any:
    n = x.shape[0] // (blocks[0] * blocks[1])
    out = np.zeros((n, x.shape[1] * blocks[0], x.shape[2] * blocks[1], *x.shape[3:]))
    for k, (i, j) in enumerate(np.ndindex(*blocks)):
        out[:, i :: blocks[0], j :: blocks[1]] = x[k * n : (k + 1) * n]
    (a, b), (c, d) = crops
    return out[:, a : out.shape[1] - b, c : out.shape[2] - d]


#: Integers on the host: compared in tests/parity/cases_image.py.
WITHOUT_ROW = {"required_space_to_batch_paddings": "sizes of paddings, compared by parity"}

ROWS = [
    Row("nn.depth_to_space", [normal(2, 2, 1, 8), 2], _depth_to_space, orders=1),
    Row("nn.space_to_depth", [normal(2, 4, 2, 3), 2], _space_to_depth, orders=1),
    Row(
        "space_to_batch", [normal(2, 3, 4, 1), [2, 3], [[1, 0], [2, 0]]], _space_to_batch, orders=1
    ),
    Row(
        "batch_to_space", [normal(6, 2, 2, 1), [3, 1], [[1, 2], [0, 1]]], _batch_to_space, orders=1
    ),
]
