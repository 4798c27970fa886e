"""`tf.keras`, of which the optimizers are here."""

from .._src.interop.names import face as _face
from ..optimizers import Optimizer as Optimizer
from . import optimizers as optimizers

_face(__name__)
