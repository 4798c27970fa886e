"""`tf.compat.v1.ConfigProto` and what it is made of: settings that programs write for sessions.

Source: TensorFlow, config.proto and rewriter_config.proto. Fields that programs do not set are left
out.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ...data.io.fields import DOUBLE, FLOAT, INT, TEXT, Floats, Ints, Single
from ...data.io.messages import Message, SingleMap
from ..saved_model.messages import FLAG, Strings, several

_BOOL = FLAG._replace(shown=lambda value: str(value).lower())


def _choice(values: dict[str, int]) -> Single:
    """A field that holds one of these numbers, which have names."""
    names = {number: name for name, number in values.items()}

    def checked(value: Any) -> int:
        if isinstance(value, str):
            if value not in values:
                raise ValueError(f"unknown enum label {value!r}")
            return values[value]
        return INT.checked(value)

    return INT._replace(checked=checked, shown=lambda value: names.get(value, str(value)))


class _Counts(SingleMap):
    """A field that holds numbers by name."""

    KEY, VALUE = TEXT, INT


class _VirtualDevices(Message):
    FIELDS: ClassVar = {
        "memory_limit_mb": (1, Floats),
        "priority": (2, Ints),
        "device_ordinal": (3, Ints),
    }


class _GPUExperimental(Message):
    VirtualDevices = _VirtualDevices
    FIELDS: ClassVar = {
        "virtual_devices": (1, several(_VirtualDevices)),
        "use_unified_memory": (2, _BOOL),
        "num_dev_to_dev_copy_streams": (3, INT),
        "collective_ring_order": (4, TEXT),
        "timestamped_allocator": (5, _BOOL),
        "internal_fragmentation_fraction": (10, DOUBLE),
        "use_cuda_malloc_async": (11, _BOOL),
        "disallow_retry_on_allocation_failure": (12, _BOOL),
        "gpu_host_mem_limit_in_mb": (13, FLOAT),
        "gpu_host_mem_disallow_growth": (14, _BOOL),
        "num_virtual_devices_per_gpu": (15, INT),
    }


class GPUOptions(Message):
    """How GPUs are used: `allow_growth`, `per_process_gpu_memory_fraction` (a share of the memory,
    0 for TensorFlow's default), `visible_device_list` ("0,1").

    JAX decides at its start what memory it takes: see `tf.config.set_memory_growth`.

    >>> import tape_compat as tf
    >>> print(tf.compat.v1.GPUOptions(allow_growth=True))
    allow_growth: true
    <BLANKLINE>
    """

    Experimental = _GPUExperimental
    FIELDS: ClassVar = {
        "per_process_gpu_memory_fraction": (1, DOUBLE),
        "allow_growth": (4, _BOOL),
        "allocator_type": (2, TEXT),
        "deferred_deletion_bytes": (3, INT),
        "visible_device_list": (5, TEXT),
        "polling_active_delay_usecs": (6, INT),
        "polling_inactive_delay_msecs": (7, INT),
        "force_gpu_compatible": (8, _BOOL),
        "experimental": (9, _GPUExperimental),
    }


class OptimizerOptions(Message):
    """How graphs are optimized: nothing follows from it, XLA optimizes every program.

    >>> import tape_compat as tf
    >>> options = tf.compat.v1.OptimizerOptions()
    >>> options.global_jit_level = tf.compat.v1.OptimizerOptions.ON_1
    >>> print(options)
    global_jit_level: ON_1
    <BLANKLINE>
    """

    L1, L0 = 0, -1
    DEFAULT, OFF, ON_1, ON_2 = 0, -1, 1, 2
    FIELDS: ClassVar = {
        "do_common_subexpression_elimination": (1, _BOOL),
        "do_constant_folding": (2, _BOOL),
        "max_folded_constant_in_bytes": (6, INT),
        "do_function_inlining": (4, _BOOL),
        "opt_level": (3, _choice({"L1": L1, "L0": L0})),
        "global_jit_level": (5, _choice({"DEFAULT": 0, "OFF": OFF, "ON_1": ON_1, "ON_2": ON_2})),
        "cpu_global_jit": (7, _BOOL),
    }


_TOGGLES = {
    "DEFAULT": 0,
    "ON": 1,
    "OFF": 2,
    "AGGRESSIVE": 3,
    "EXPERIMENTAL_MLIR": 4,
    "EXPERIMENTAL_BOTH": 5,
}
_ITERATIONS = {"DEFAULT_NUM_ITERS": 0, "ONE": 1, "TWO": 2}
_MEMORY = {
    "DEFAULT_MEM_OPT": 0,
    "NO_MEM_OPT": 1,
    "MANUAL": 2,
    "SWAPPING_HEURISTICS": 4,
    "RECOMPUTATION_HEURISTICS": 5,
    "SCHEDULING_HEURISTICS": 6,
    "HEURISTICS": 3,
}


class RewriterConfig(Message):
    """What is rewritten in graphs: nothing follows from it, XLA optimizes every program."""

    DEFAULT, ON, OFF, AGGRESSIVE, EXPERIMENTAL_MLIR, EXPERIMENTAL_BOTH = _TOGGLES.values()
    DEFAULT_NUM_ITERS, ONE, TWO = _ITERATIONS.values()
    NO_MEM_OPT, MANUAL, HEURISTICS = 1, 2, 3
    FIELDS: ClassVar = {
        "layout_optimizer": (1, _choice(_TOGGLES)),
        "constant_folding": (3, _choice(_TOGGLES)),
        "shape_optimization": (13, _choice(_TOGGLES)),
        "remapping": (14, _choice(_TOGGLES)),
        "common_subgraph_elimination": (24, _choice(_TOGGLES)),
        "arithmetic_optimization": (7, _choice(_TOGGLES)),
        "dependency_optimization": (8, _choice(_TOGGLES)),
        "loop_optimization": (9, _choice(_TOGGLES)),
        "function_optimization": (10, _choice(_TOGGLES)),
        "debug_stripper": (11, _choice(_TOGGLES)),
        "disable_model_pruning": (2, _BOOL),
        "scoped_allocator_optimization": (15, _choice(_TOGGLES)),
        "pin_to_host_optimization": (18, _choice(_TOGGLES)),
        "implementation_selector": (22, _choice(_TOGGLES)),
        "auto_mixed_precision": (23, _choice(_TOGGLES)),
        "disable_meta_optimizer": (19, _BOOL),
        "meta_optimizer_iterations": (12, _choice(_ITERATIONS)),
        "min_graph_nodes": (17, INT),
        "memory_optimization": (4, _choice(_MEMORY)),
        "meta_optimizer_timeout_ms": (20, INT),
        "fail_on_optimizer_errors": (21, _BOOL),
        "optimizers": (100, Strings),
    }


class GraphOptions(Message):
    """How graphs are built: `optimizer_options` and others, of which nothing follows.

    >>> import tape_compat as tf
    >>> tf.compat.v1.GraphOptions().optimizer_options.global_jit_level
    0
    """

    FIELDS: ClassVar = {
        "enable_recv_scheduling": (2, _BOOL),
        "optimizer_options": (3, OptimizerOptions),
        "build_cost_model": (4, INT),
        "build_cost_model_after": (9, INT),
        "infer_shapes": (5, _BOOL),
        "place_pruned_graph": (6, _BOOL),
        "enable_bfloat16_sendrecv": (7, _BOOL),
        "timeline_step": (8, INT),
        "rewrite_options": (10, RewriterConfig),
    }


class _ThreadPool(Message):
    FIELDS: ClassVar = {"num_threads": (1, INT), "global_name": (2, TEXT)}


class _ConfigExperimental(Message):
    FIELDS: ClassVar = {
        "collective_group_leader": (1, TEXT),
        "executor_type": (3, TEXT),
        "recv_buf_max_chunk": (4, INT),
        "use_numa_affinity": (5, _BOOL),
        "collective_deterministic_sequential_execution": (6, _BOOL),
        "collective_nccl": (7, _BOOL),
        "share_session_state_in_clusterspec_propagation": (8, _BOOL),
        "disable_thread_spinning": (9, _BOOL),
        "share_cluster_devices_in_session": (10, _BOOL),
        "optimize_for_static_graph": (12, _BOOL),
        "enable_mlir_bridge": (13, _BOOL),
        "disable_output_partition_graphs": (14, _BOOL),
        "xla_fusion_autotuner_thresh": (15, INT),
        "enable_mlir_graph_optimization": (16, _BOOL),
        "use_tfrt": (18, _BOOL),
    }


class ConfigProto(Message):
    """Settings of a session, as programs write them before their eager code, too.

    >>> import tape_compat as tf
    >>> config = tf.compat.v1.ConfigProto(device_count={"GPU": 0}, allow_soft_placement=True)
    >>> config.gpu_options.allow_growth = True
    >>> config.gpu_options.allow_growth, config.device_count["GPU"]
    (True, 0)
    """

    Experimental = _ConfigExperimental
    FIELDS: ClassVar = {
        "device_count": (1, _Counts),
        "intra_op_parallelism_threads": (2, INT),
        "inter_op_parallelism_threads": (5, INT),
        "use_per_session_threads": (9, _BOOL),
        "session_inter_op_thread_pool": (12, several(_ThreadPool)),
        "placement_period": (3, INT),
        "device_filters": (4, Strings),
        "gpu_options": (6, GPUOptions),
        "pluggable_device_options": (18, GPUOptions),
        "allow_soft_placement": (7, _BOOL),
        "log_device_placement": (8, _BOOL),
        "graph_options": (10, GraphOptions),
        "operation_timeout_in_ms": (11, INT),
        "isolate_session_state": (15, _BOOL),
        "share_cluster_devices_in_session": (17, _BOOL),
        "experimental": (16, _ConfigExperimental),
    }


_TRACES = {"NO_TRACE": 0, "SOFTWARE_TRACE": 1, "HARDWARE_TRACE": 2, "FULL_TRACE": 3}


class RunOptions(Message):
    """What is asked of one run of a session.

    >>> import tape_compat as tf
    >>> tf.compat.v1.RunOptions(trace_level=tf.compat.v1.RunOptions.FULL_TRACE).trace_level
    3
    """

    NO_TRACE, SOFTWARE_TRACE, HARDWARE_TRACE, FULL_TRACE = _TRACES.values()
    FIELDS: ClassVar = {
        "trace_level": (1, _choice(_TRACES)),
        "timeout_in_ms": (2, INT),
        "inter_op_thread_pool": (3, INT),
        "output_partition_graphs": (5, _BOOL),
        "report_tensor_allocations_upon_oom": (7, _BOOL),
    }


for _class in (ConfigProto, GPUOptions, GraphOptions, OptimizerOptions, RunOptions):
    _class.__module__ = "tape_compat.compat.v1"
