"""`tf.experimental`: a part of NumPy's names."""

from .._src.interop.names import face as _face
from . import numpy as numpy

_face(__name__)
