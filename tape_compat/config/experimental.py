"""`tf.config.experimental`: devices, their memory, and whether ops repeat themselves."""

from .._src.interop.names import face as _face
from .._src.library.config import (
    LogicalDeviceConfiguration as VirtualDeviceConfiguration,
    enable_op_determinism as enable_op_determinism,
    enable_tensor_float_32_execution as enable_tensor_float_32_execution,
    get_device_details as get_device_details,
    get_device_policy as get_device_policy,
    get_logical_device_configuration as get_virtual_device_configuration,
    get_memory_growth as get_memory_growth,
    get_memory_info as get_memory_info,
    get_memory_usage as get_memory_usage,
    get_synchronous_execution as get_synchronous_execution,
    get_visible_devices as get_visible_devices,
    list_logical_devices as list_logical_devices,
    list_physical_devices as list_physical_devices,
    reset_memory_stats as reset_memory_stats,
    set_device_policy as set_device_policy,
    set_logical_device_configuration as set_virtual_device_configuration,
    set_memory_growth as set_memory_growth,
    set_synchronous_execution as set_synchronous_execution,
    set_visible_devices as set_visible_devices,
    tensor_float_32_execution_enabled as tensor_float_32_execution_enabled,
)

_face(__name__)
