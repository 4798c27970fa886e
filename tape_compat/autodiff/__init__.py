"""Derivatives of recorded closures: tapes, reverse and forward mode, Jacobians, custom rules."""

from .forward import ForwardAccumulator as ForwardAccumulator
from .tape import GradientTape as GradientTape
