"""`tf.test`: test cases that compare tensors, and what programs ask about their machine."""

from .._src.interop.names import face as _face
from .._src.library.machine import (
    gpu_device_name as gpu_device_name,
    is_built_with_cuda as is_built_with_cuda,
    is_built_with_gpu_support as is_built_with_gpu_support,
    is_built_with_rocm as is_built_with_rocm,
    is_built_with_xla as is_built_with_xla,
    is_gpu_available as is_gpu_available,
)
from .._src.library.testing.cases import TestCase as TestCase
from .._src.library.testing.gradients import compute_gradient as compute_gradient
from .._src.library.testing.running import (
    create_local_cluster as create_local_cluster,
    disable_with_predicate as disable_with_predicate,
    is_cpu_target_available as is_cpu_target_available,
    main as main,
    with_eager_op_as_function as with_eager_op_as_function,
)
from . import experimental as experimental

_face(__name__)
