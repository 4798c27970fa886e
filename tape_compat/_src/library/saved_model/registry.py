"""What the nodes of a graph compute: TensorFlow's kernels by their names.

A row is a function of the inputs of a node. The parameters that it takes by name only are the
attributes that it wants; those that a graph leaves out have TensorFlow's defaults.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Kernel = Callable[..., Any]

KERNELS: dict[str, Kernel] = {}

_NORMALIZED = (
    *("y", "batch_mean", "batch_variance"),
    *("reserve_space_1", "reserve_space_2", "reserve_space_3"),
)

#: The names of the outputs of kernels that have several, each one tensor.
OUTPUTS: dict[str, tuple[str, ...]] = {
    "FusedBatchNorm": _NORMALIZED,
    "FusedBatchNormV2": _NORMALIZED,
    "FusedBatchNormV3": _NORMALIZED,
    "Qr": ("q", "r"),
    "SelfAdjointEigV2": ("e", "v"),
    "SoftmaxCrossEntropyWithLogits": ("loss", "backprop"),
    "SparseSoftmaxCrossEntropyWithLogits": ("loss", "backprop"),
    "Svd": ("s", "u", "v"),
    "TopKV2": ("values", "indices"),
    "Unique": ("y", "idx"),
    "UniqueWithCounts": ("y", "idx", "count"),
}


def kernel(*names: str) -> Callable[[Kernel], Kernel]:
    """A decorator: the function is the row of these names."""

    def noted(function: Kernel) -> Kernel:
        KERNELS.update(dict.fromkeys(names, function))
        return function

    return noted
