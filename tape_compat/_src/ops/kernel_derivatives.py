"""Derivatives of special functions by their parameters, as kernels of their own."""

from __future__ import annotations

from . import far_gamma
from .declare import binary

igamma_grad_a = binary(
    far_gamma.igamma_grad_a,
    "The derivative of `igamma` by its first argument.",
    kernel="IgammaGradA",
    dtypes="float",
    differentiable=False,
)
random_gamma_grad = binary(
    far_gamma.random_gamma_grad,
    "The derivative of a gamma random number by its shape parameter.",
    kernel="RandomGammaGrad",
    dtypes="float",
    differentiable=False,
)
