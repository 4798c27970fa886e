"""tf.config: devices, immediate mode, and settings that JAX takes before it starts.

JAX chooses devices, memory and threads when it starts, from environment variables. Settings that
come too late for that say so: they raise, or warn where programs commonly make them untested.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax

from ..core import state
from ..core.errors import user_location
from ..values import context


class PhysicalDevice(NamedTuple):
    """A device of this machine: name '/physical_device:GPU:0', device_type 'GPU'."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device that ops run on: name '/device:GPU:0', device_type 'GPU'."""

    name: str
    device_type: str


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Run every op at its call, and the Python of a `tf.function` too (True), or record under tapes
    and in functions and run later (False, the default).

    Both give the same results. Immediate mode is slower, and easier to debug: a failure in an op
    rises where the op is called. The environment variable TAPE_COMPAT_IMMEDIATE=1 starts with it.

    >>> import tape_compat as tf
    >>> mode = tf.config.functions_run_eagerly()
    >>> tf.config.run_functions_eagerly(True)
    >>> tf.config.functions_run_eagerly()
    True
    >>> tf.config.run_functions_eagerly(mode)
    """
    context.set_immediate(bool(run_eagerly) or state.IMMEDIATE)
    state.MODE.python = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Whether functions run their Python, and every op at its call: see `run_functions_eagerly`."""
    return state.MODE.python


def set_soft_device_placement(enabled: bool) -> None:
    """Whether `tf.device` takes another device for one that is not there (True at the start).

    >>> import tape_compat as tf
    >>> tf.config.set_soft_device_placement(False)
    >>> tf.config.get_soft_device_placement()
    False
    >>> tf.config.set_soft_device_placement(True)
    """
    context.PLACEMENT.soft = bool(enabled)


def get_soft_device_placement() -> bool:
    """Whether `tf.device` takes another device for one that is not there."""
    return context.PLACEMENT.soft


def get_logger() -> logging.Logger:
    """The logger of what this library has to say: `tape_compat`.

    >>> import tape_compat as tf
    >>> tf.get_logger().name
    'tape_compat'
    """
    return logging.getLogger("tape_compat")


def _jax_devices() -> dict[PhysicalDevice, Any]:
    """The devices of this process, CPUs first, each kind numbered from 0."""
    devices = list(jax.local_devices())
    if all(device.platform != "cpu" for device in devices):
        try:
            devices = [*jax.local_devices(backend="cpu"), *devices]
        except RuntimeError:  # the user's JAX_PLATFORMS leaves out the CPU
            pass
    counts: dict[str, int] = {}
    found = {}
    for device in devices:
        kind = device.platform.upper()
        number = counts.setdefault(kind, 0)
        counts[kind] += 1
        found[PhysicalDevice(f"/physical_device:{kind}:{number}", kind)] = device
    return found


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that JAX sees, of all types or of one: 'CPU', 'GPU', 'TPU'.

    >>> import tape_compat as tf
    >>> tf.config.list_physical_devices("CPU")[0]
    PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')
    """
    return [d for d in _jax_devices() if device_type in (None, d.device_type)]


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that ops run on, one for each physical device.

    >>> import tape_compat as tf
    >>> tf.config.list_logical_devices("CPU")[0]
    LogicalDevice(name='/device:CPU:0', device_type='CPU')
    """
    return [
        LogicalDevice(d.name.replace("/physical_device", "/device"), d.device_type)
        for d in list_physical_devices(device_type)
    ]


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices ops may run on: all that JAX sees."""
    return list_physical_devices(device_type)


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Check that `devices` are the devices that ops may run on; they cannot be changed here.

    Args:
      devices: a PhysicalDevice or a list of them.
      device_type: the type the list is about; None for all.
    Raises: ValueError for what is no device of this machine, or of another type; RuntimeError if
      the list is not what is visible now.

    >>> import tape_compat as tf
    >>> tf.config.set_visible_devices(tf.config.list_physical_devices())
    """
    wanted = list(devices) if isinstance(devices, (list, tuple)) else [devices]
    if isinstance(devices, PhysicalDevice):
        wanted = [devices]
    for device in wanted:
        _checked(device)
        if device_type not in (None, device.device_type):
            raise ValueError(f"Unrecognized device: {device!r} is no {device_type}.")
    if set(wanted) != set(list_physical_devices(device_type)):
        raise RuntimeError(
            "Visible devices cannot be modified after being initialized. Set the environment "
            "variable JAX_PLATFORMS (such as 'cpu') or CUDA_VISIBLE_DEVICES before the program "
            "starts."
        )


def _checked(device: Any) -> Any:
    """The JAX device of a PhysicalDevice; ValueError if it is none."""
    found = _jax_devices().get(device) if isinstance(device, PhysicalDevice) else None
    if found is None:
        raise ValueError(f"Unrecognized device: {device!r}")
    return found


def _named(device: str) -> Any:
    """The JAX device of a name such as 'GPU:0'."""
    kind, colon, number = str(device).rpartition(":")
    kind = kind.rpartition(":")[2].rpartition("/")[2]
    if not colon or not number.isdigit() or not kind:
        raise ValueError(
            f"Failed parsing device name: '{device}'. Note a valid device string should at least "
            'contain a device type and a device index, like "GPU:0".'
        )
    name = PhysicalDevice(f"/physical_device:{kind}:{number}", kind)
    found = _jax_devices().get(name)
    if found is None:
        raise ValueError(f"No matching devices found for '{device}'")
    return found


def _memory_grows() -> bool:
    """Whether JAX takes GPU memory as it is needed, not most of it at the start."""
    preallocates = os.environ.get("XLA_PYTHON_CLIENT_PREALLOCATE", "true").lower()
    allocator = os.environ.get("XLA_PYTHON_CLIENT_ALLOCATOR", "default").lower()
    return preallocates in ("0", "false") or allocator == "platform"


def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Warn unless GPU memory is taken as `enable` says; it cannot be changed here.

    JAX decides it at its start: XLA_PYTHON_CLIENT_PREALLOCATE=false makes memory grow.

    Raises: ValueError for a CPU, or what is no device of this machine.
    """
    if _checked(device).platform == "cpu":
        raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")
    if bool(enable) != _memory_grows():
        value = "false" if enable else "true"
        warnings.warn(
            f"set_memory_growth(..., {bool(enable)}) has no effect: set the environment "
            f"variable XLA_PYTHON_CLIENT_PREALLOCATE={value} before the program starts.",
            stacklevel=2,
        )


def get_memory_growth(device: PhysicalDevice) -> bool:
    """Whether memory of the GPU is taken as it is needed. ValueError for a CPU."""
    if _checked(device).platform == "cpu":
        raise ValueError("Cannot get memory growth of non-GPU and non-Pluggable devices")
    return _memory_grows()


class LogicalDeviceConfiguration(NamedTuple):
    """How a part of a device is set up. memory_limit: in MiB."""

    memory_limit: int | None = None
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


def set_logical_device_configuration(
    device: PhysicalDevice, logical_devices: Sequence[LogicalDeviceConfiguration] | None
) -> None:
    """Warn of a memory limit: it cannot be changed here.

    JAX decides it at its start: XLA_PYTHON_CLIENT_MEM_FRACTION=.5 gives half of a GPU's memory.

    Raises: ValueError for what is no device of this machine, and for a limit on a CPU;
      NotImplementedError for several parts of one device.
    """
    platform = _checked(device).platform
    configurations = list(logical_devices or ())
    if len(configurations) > 1:
        raise NotImplementedError(
            f"tf.config.set_logical_device_configuration: one device is not taken for several. JAX "
            "takes a CPU for N that is started with "
            "XLA_FLAGS=--xla_force_host_platform_device_count=N. "
            f"Received: {configurations} for {device.name} (at {user_location()})."
        )
    for limit, *_ in configurations:
        if limit is not None and platform == "cpu":
            raise ValueError(
                "Setting memory limit on CPU virtual devices is currently not supported"
            )
        if limit is not None:
            warnings.warn(
                f"memory_limit={limit} has no effect: set the environment variable "
                "XLA_PYTHON_CLIENT_MEM_FRACTION, the part of the GPU's memory that is taken, "
                "before the program starts.",
                stacklevel=2,
            )


def get_logical_device_configuration(
    device: PhysicalDevice,
) -> list[LogicalDeviceConfiguration] | None:
    """How a device is parted: None, for a device as it is. ValueError for what is no device."""
    _checked(device)
    return None


def get_memory_info(device: str) -> dict[str, int]:
    """Bytes in use on a device such as 'GPU:0': {'current': ..., 'peak': ...}.

    A CPU's memory is not counted: 0 and 0, as TensorFlow says.
    Raises: ValueError if there is no such device, or its memory is not counted.
    """
    found = _named(device)
    if found.platform == "cpu":
        return {"current": 0, "peak": 0}
    stats = found.memory_stats()
    if not stats or "bytes_in_use" not in stats:
        raise ValueError(f"Allocator stats not available for device '{device}'")
    current = stats["bytes_in_use"]
    return {"current": current, "peak": stats.get("peak_bytes_in_use", current)}


def get_memory_usage(device: str) -> int:
    """Bytes in use on a device such as 'GPU:0': see `get_memory_info`."""
    return get_memory_info(device)["current"]


def reset_memory_stats(device: str) -> None:
    """Begin to count the peak of `get_memory_info` anew. A CPU's is not counted.

    Raises: ValueError if there is no such device; NotImplementedError for a GPU or TPU, whose peak
      JAX counts from the start of the process.
    """
    if _named(device).platform != "cpu":
        raise NotImplementedError(
            f"reset_memory_stats: JAX counts the peak of '{device}' from the start of the process."
        )


def tensor_float_32_execution_enabled() -> bool:
    """Whether products of float32 may run with fewer bits, on GPUs that do so (True at first)."""
    return _ASKED["float32"] != "highest"


def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Let products of float32 run with fewer bits on GPUs that do so (True), or with all (False).

    It is JAX's setting `jax_default_matmul_precision`; CPUs use all bits.

    >>> import tape_compat as tf
    >>> tf.config.experimental.enable_tensor_float_32_execution(False)
    >>> tf.config.experimental.tensor_float_32_execution_enabled()
    False
    >>> tf.config.experimental.enable_tensor_float_32_execution(True)
    """
    _ASKED["float32"] = None if enabled else "highest"
    jax.config.update("jax_default_matmul_precision", _ASKED["float32"])


def get_device_details(device: PhysicalDevice) -> dict[str, Any]:
    """What is known of a device: {'device_name': ...} for a GPU, {} for a CPU."""
    found = _checked(device)
    return {} if found.platform == "cpu" else {"device_name": found.device_kind}


def enable_op_determinism() -> None:
    """Check that ops give the same bits each time they run on the same device.

    On CPUs they do. GPUs need XLA_FLAGS=--xla_gpu_deterministic_ops=true at the start.
    Random ops need `tf.random.set_seed`, as ever.

    Raises: RuntimeError on a GPU without that flag.
    """
    flags = os.environ.get("XLA_FLAGS", "").split()
    on = ("--xla_gpu_deterministic_ops", "--xla_gpu_deterministic_ops=true")
    if list_physical_devices("GPU") and not any(flag in on for flag in flags):
        raise RuntimeError(
            "Ops on GPUs are deterministic only if the program starts with the environment "
            "variable XLA_FLAGS=--xla_gpu_deterministic_ops=true."
        )
    _ASKED["determinism"] = True


#: What was asked for: bits of float32 products as JAX names them, and what changes no op.
_ASKED: dict[str, Any] = {
    "determinism": False,
    "float32": None,
    "placement": False,
    "inter": 0,
    "intra": 0,
    "jit": "",
    "synchronous": True,
}
_OPTIONS: dict[str, Any] = {}


def set_log_device_placement(enabled: bool) -> None:
    """Whether to say where ops run. What a step does is compiled as one program for one device, so
    that is said once, by `tf.get_logger()`; ops within `tf.device` run on the device that it
    names.

    >>> import tape_compat as tf
    >>> tf.debugging.set_log_device_placement(False)
    >>> tf.debugging.get_log_device_placement()
    False
    """
    _ASKED["placement"] = bool(enabled)
    if enabled:
        device = jax.devices()[0]
        get_logger().warning(
            "Ops run on %s %d, compiled together; those within tf.device on the device it names.",
            device.platform.upper(),
            device.id,
        )


def get_log_device_placement() -> bool:
    """Whether `set_log_device_placement` asked for it."""
    return bool(_ASKED["placement"])


def is_op_determinism_enabled() -> bool:
    """Whether `enable_op_determinism` was called. Keras asks, and has no `jit_compile` then."""
    return _ASKED["determinism"]


def disable_op_determinism() -> None:
    """Take `enable_op_determinism` back."""
    _ASKED["determinism"] = False


def get_inter_op_parallelism_threads() -> int:
    """What was asked for; 0, as at first, says that the system chooses."""
    return _ASKED["inter"]


def get_intra_op_parallelism_threads() -> int:
    """What was asked for; 0, as at first, says that the system chooses."""
    return _ASKED["intra"]


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Warn, unless it is 0, that the number has no effect: the system chooses."""
    _ASKED["inter"] = _unheeded("inter", num_threads)


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Warn, unless it is 0, that the number has no effect: the system chooses."""
    _ASKED["intra"] = _unheeded("intra", num_threads)


def _unheeded(kind: str, num_threads: int) -> int:
    if num_threads:
        warnings.warn(
            f"set_{kind}_op_parallelism_threads({num_threads}) has no effect: JAX uses the "
            "processors the process may run on. Restrict those, with `taskset` for one.",
            stacklevel=3,
        )
    return int(num_threads)


def get_jit() -> str:
    """What `set_jit` was given: "autoclustering" or "". XLA compiles functions either way."""
    return _ASKED["jit"]


def set_jit(enabled: bool | str) -> None:
    """Note whether XLA is asked for: it compiles functions either way."""
    _ASKED["jit"] = enabled if isinstance(enabled, str) else "autoclustering" if enabled else ""


def get_experimental_options() -> dict[str, Any]:
    """The options that `set_experimental_options` was given, and two that TensorFlow has."""
    return {"disable_model_pruning": False, "disable_meta_optimizer": False, **_OPTIONS}


def set_experimental_options(options: Mapping[str, Any]) -> None:
    """Note options of TensorFlow's optimizer of graphs: XLA optimizes here.

    Raises: NotImplementedError for one that computes in short floats, for that changes results.
    """
    for name, value in options.items():
        if name.startswith("auto_mixed_precision") and value:
            raise NotImplementedError(
                f"{name} is not supported: ask for short floats by the dtypes of layers and "
                "tensors, as `tf.keras.mixed_precision` does."
            )
    _OPTIONS.update(options)


def get_synchronous_execution() -> bool:
    """What `set_synchronous_execution` was given; True at first."""
    return bool(_ASKED["synchronous"])


def set_synchronous_execution(enable: bool) -> None:
    """Note whether ops are to be done at their calls. Values are the same either way: one that is
    looked at is waited for. `run_functions_eagerly` runs ops at their calls."""
    _ASKED["synchronous"] = bool(enable)


def get_device_policy() -> str:
    """What becomes of a tensor on another device than an op's: "silent", it is copied."""
    return "silent"


def set_device_policy(device_policy: str | None) -> None:
    """Ask for "silent", the only policy there is, as None does.

    Raises: NotImplementedError for TensorFlow's others; ValueError for anything else.
    """
    if device_policy in ("warn", "explicit", "silent_for_int32"):
        raise NotImplementedError(
            f"tf.config.experimental.set_device_policy({device_policy!r}): copies between devices "
            "are neither told nor refused here."
        )
    if device_policy not in (None, "silent"):
        raise ValueError(
            f"Invalid argument `device_policy`: {device_policy!r}. Please refer to "
            "https://www.tensorflow.org/api_docs/python/tf/config/experimental/set_device_policy "
            "for valid `device_policy` arguments."
        )
