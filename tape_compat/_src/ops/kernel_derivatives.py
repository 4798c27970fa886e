"""Derivatives of special functions by their parameters, as kernels of their own."""

from __future__ import annotations

from . import special_pairs
from .declare import binary

igamma_grad_a = binary(
    special_pairs.igamma_grad_a,
    "The derivative of `igamma` by its first argument.",
    kernel="IgammaGradA",
    dtypes="float",
    differentiable=False,
)
random_gamma_grad = binary(
    special_pairs.random_gamma_grad,
    "The derivative of a gamma random number by its shape parameter.",
    kernel="RandomGammaGrad",
    dtypes="float",
    differentiable=False,
)
