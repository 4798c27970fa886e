"""`tf.compat.v1.errors`: errors by their codes."""

from ..._src.interop.version1 import face as _face
from ..._src.library.version1.others import (
    error_code_from_exception_type as error_code_from_exception_type,
    exception_type_from_error_code as exception_type_from_error_code,
)

_face(__name__)
