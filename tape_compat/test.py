"""`tf.test`: what programs ask about the machine they run on."""

from ._src.interop.names import face as _face
from ._src.library.machine import (
    gpu_device_name as gpu_device_name,
    is_built_with_cuda as is_built_with_cuda,
    is_built_with_gpu_support as is_built_with_gpu_support,
    is_built_with_rocm as is_built_with_rocm,
    is_built_with_xla as is_built_with_xla,
    is_gpu_available as is_gpu_available,
)

_face(__name__)
