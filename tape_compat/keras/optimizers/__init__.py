"""`tf.keras.optimizers`: what is in `tf.optimizers`."""

from ..._src.interop.names import face as _face
from ...optimizers import (
    SGD as SGD,
    Adagrad as Adagrad,
    Adam as Adam,
    Optimizer as Optimizer,
    RMSprop as RMSprop,
)
from . import schedules as schedules

_face(__name__)
