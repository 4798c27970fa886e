"""`tf.config.experimental`: devices, their memory, and whether ops repeat themselves."""

from .._src.interop.names import face as _face
from .._src.library.config import (
    enable_op_determinism as enable_op_determinism,
    get_device_details as get_device_details,
    get_memory_growth as get_memory_growth,
    get_memory_info as get_memory_info,
    get_visible_devices as get_visible_devices,
    list_logical_devices as list_logical_devices,
    list_physical_devices as list_physical_devices,
    set_memory_growth as set_memory_growth,
    set_visible_devices as set_visible_devices,
)

_face(__name__)
