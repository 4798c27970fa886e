"""`tf.compat.v1.initializers`: functions from a shape to the first value of a variable."""

from ..._src.interop.version1 import face as _face
from ..._src.library.version1.initializers import (
    Constant as constant,
    GlorotNormal as glorot_normal,
    GlorotUniform as glorot_uniform,
    Identity as identity,
    Ones as ones,
    Orthogonal as orthogonal,
    RandomNormal as random_normal,
    RandomUniform as random_uniform,
    TruncatedNormal as truncated_normal,
    UniformUnitScaling as uniform_unit_scaling,
    VarianceScaling as variance_scaling,
    Zeros as zeros,
    he_normal as he_normal,
    he_uniform as he_uniform,
    lecun_normal as lecun_normal,
    lecun_uniform as lecun_uniform,
)
from ..._src.library.version1.switches import (
    global_variables_initializer as global_variables,
    local_variables_initializer as local_variables,
    tables_initializer as tables_initializer,
    variables_initializer as variables,
)

_face(__name__)
