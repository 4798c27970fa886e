"""Derivatives of recorded closures: tapes, reverse and forward mode, Jacobians, custom rules."""

from ._src.autodiff.forward import ForwardAccumulator as ForwardAccumulator
from ._src.autodiff.tape import GradientTape as GradientTape
from ._src.interop.names import face as _face

_face(__name__)
