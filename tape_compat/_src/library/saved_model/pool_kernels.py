"""Kernels of derivatives of pooling: of the second order, and of windows that are told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.dtypes import float64
from ...ops import casting, creation, fractional_pooling, pooling, shapes
from ...ops.arguments import known_value
from ...values.tensor import Tensor
from .gradient_kernels import pulled, pulled_at_zeros, sizes_by_inputs
from .registry import KERNELS, Kernel, kernel


def _chosen(pool: Kernel) -> Kernel:
    """What a second gradient takes back: the elements of `gradient` that are where the largest
    elements of the images are. It is the transpose of the gradient, which is linear."""

    def back(
        x: Any,
        y: Any,
        gradient: Any,
        *,
        ksize: Sequence[int],
        strides: Sequence[int],
        padding: str,
        data_format: str,
    ) -> Tensor:
        rest = (list(ksize), list(strides), padding, data_format)
        if not x.dtype.is_floating:  # which has no derivatives of its own
            wide = [casting.cast(each, float64) for each in (x, y, gradient)]
            sizes = {"ksize": ksize, "strides": strides}
            found = back(*wide, **sizes, padding=padding, data_format=data_format)
            return casting.cast(found, x.dtype)
        first = lambda slope: pulled(lambda x: pool(x, *rest), x, slope)  # noqa: E731
        return pulled(first, creation.zeros_like(y), gradient)

    return back


KERNELS |= {
    "MaxPoolGradGrad": _chosen(pooling.max_pool2d),
    "MaxPoolGradGradV2": sizes_by_inputs("MaxPoolGradGrad"),
    "MaxPool3DGradGrad": _chosen(pooling.max_pool3d),
}


@kernel("FractionalAvgPoolGrad")
def _fractional_averages(
    shape: Any, gradient: Any, rows: Any, columns: Any, *, overlapping: bool
) -> Tensor:
    rows, columns = known_value(rows), known_value(columns)
    return pulled_at_zeros(
        lambda x: fractional_pooling.average_between(x, rows, columns, overlapping), shape, gradient
    )


@kernel("FractionalMaxPoolGrad")
def _fractional_largest(
    x: Any, y: Any, gradient: Any, rows: Any, columns: Any, *, overlapping: bool
) -> Tensor:
    rows, columns = known_value(rows), known_value(columns)
    gradient = shapes.reshape(gradient, shapes.shape(y))
    return pulled(
        lambda x: fractional_pooling.largest_between(x, rows, columns, overlapping), x, gradient
    )
