"""`tf.compat.v2`: the names of `tf`."""

from .._src.standin.version2 import attribute as __getattr__, face as _face

_face(__name__)
