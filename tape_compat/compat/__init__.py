"""`tf.compat`: names of other versions of TensorFlow."""

from .._src.interop.names import face as _face
from .._src.library.version1.dimension import (
    dimension_at_index as dimension_at_index,
    dimension_value as dimension_value,
)
from .._src.library.version1.forward import (
    forward_compatibility_horizon as forward_compatibility_horizon,
    forward_compatible as forward_compatible,
)
from .._src.library.version1.text import (
    as_bytes as as_bytes,
    as_str as as_str,
    as_str_any as as_str_any,
    as_text as as_text,
    bytes_or_text_types as bytes_or_text_types,
    complex_types as complex_types,
    integral_types as integral_types,
    path_to_str as path_to_str,
    real_types as real_types,
)
from . import v1 as v1, v2 as v2

_face(__name__)
