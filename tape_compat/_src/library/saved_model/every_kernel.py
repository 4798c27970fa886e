"""The modules that put their rows into the table of kernels."""

from __future__ import annotations

from . import (
    array_kernels,
    count_kernels,
    example_kernels,
    gradient_kernels,
    image_kernels,
    layer_kernels,
    node_kernels,
    pool_kernels,
    random_kernels,
    recurrent_gradient_kernels,
    recurrent_kernels,
    signal_kernels,
    sparse_kernels,
    special_kernels,
    table_kernels,
    text_kernels,
)

TABLES = (
    array_kernels,
    count_kernels,
    example_kernels,
    gradient_kernels,
    image_kernels,
    layer_kernels,
    node_kernels,
    pool_kernels,
    random_kernels,
    recurrent_gradient_kernels,
    recurrent_kernels,
    signal_kernels,
    sparse_kernels,
    special_kernels,
    table_kernels,
    text_kernels,
)
