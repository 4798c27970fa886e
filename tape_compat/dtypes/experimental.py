"""`tf.dtypes.experimental`: floats of 8 bits and integers of 4."""

from .._src.core.dtypes import (
    float8_e4m3b11fnuz as float8_e4m3b11fnuz,
    float8_e4m3fn as float8_e4m3fn,
    float8_e4m3fnuz as float8_e4m3fnuz,
    float8_e5m2 as float8_e5m2,
    float8_e5m2fnuz as float8_e5m2fnuz,
    int4 as int4,
    uint4 as uint4,
)
from .._src.interop.names import face as _face

_face(__name__)
