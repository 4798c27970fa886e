"""`tf.config`: devices, immediate mode, and settings that JAX takes before it starts."""

from ._src.library.config import (
    LogicalDevice as LogicalDevice,
    PhysicalDevice as PhysicalDevice,
    experimental as experimental,
    functions_run_eagerly as functions_run_eagerly,
    get_visible_devices as get_visible_devices,
    list_logical_devices as list_logical_devices,
    list_physical_devices as list_physical_devices,
    run_functions_eagerly as run_functions_eagerly,
    set_visible_devices as set_visible_devices,
    threading as threading,
)
