"""Kernels of images: resizing, cutting out, colours and boxes."""

from __future__ import annotations

from typing import Any

from ...ops.images.projective import project
from ...values.tensor import Tensor
from .registry import kernel


@kernel("ImageProjectiveTransformV3")
def _projected(
    images: Any,
    transforms: Any,
    shape: Any,
    fill: Any,
    *,
    interpolation: str,
    fill_mode: str = "CONSTANT",
) -> Tensor:
    return project(images, transforms, shape, fill, interpolation, fill_mode)


@kernel("ImageProjectiveTransformV2")
def _projected_on_zeros(
    images: Any, transforms: Any, shape: Any, *, interpolation: str, fill_mode: str = "CONSTANT"
) -> Tensor:
    return project(images, transforms, shape, 0.0, interpolation, fill_mode)
