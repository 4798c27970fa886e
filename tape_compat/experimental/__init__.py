"""`tf.experimental`: names that may still change in TensorFlow."""

from .._src.data.optional import Optional as Optional
from .._src.interop.names import face as _face
from . import numpy as numpy

_face(__name__)
