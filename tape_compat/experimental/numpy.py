"""`tf.experimental.numpy`: `select` and what is known of dtypes."""

from .._src.interop.names import face as _face
from .._src.ops.numpy_names import (
    experimental_enable_numpy_behavior as experimental_enable_numpy_behavior,
    finfo as finfo,
    iinfo as iinfo,
    select as select,
)

_face(__name__)
