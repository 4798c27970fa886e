"""The names below `tensorflow` that libraries import and that are not among its public ones.

`{"python.eager.context.context": "standin.runtime:context"}`: `tensorflow.python.eager.context` is
a module with the function `context` of `_src/standin/runtime.py`. What stands here comes before the
public names; everything else below `tensorflow` is the module of ours with that name.
"""

from __future__ import annotations

#: TensorFlow whose public names and behaviour these are.
VERSION = "2.21.0"
GIT_VERSION = "v2.21.0"

NAMES = {
    "__internal__.CompositeTensor": "values.composite:CompositeTensor",
    "__internal__.EagerTensor": "values.tensor:Tensor",
    "__internal__.FuncGraph": "function.grouping:Graph",
    "__internal__.decorator.unwrap": "standin.runtime:unwrap",
    "__internal__.distribute.interim.maybe_merge_call": "standin.runtime:maybe_merge_call",
    "__internal__.distribute.strategy_supports_no_merge_call": "standin.runtime:true",
    "__internal__.eager_context.eager_mode": "values.context:init_scope",
    "__internal__.smart_cond.smart_cond": "standin.runtime:smart_cond",
    "__internal__.tf2.enabled": "standin.runtime:true",
    "__internal__.tracking.AutoTrackable": "values.trackable:AutoTrackable",
    "__internal__.tracking.Trackable": "values.trackable:Trackable",
    "__internal__.tracking.no_automatic_dependency_tracking": "values.trackable:untracked",
    "__internal__.types.Tensor": "values.composite:TensorType",
    "compiler.tf2xla.python.xla.dynamic_update_slice": "standin.runtime:dynamic_update_slice",
    "core.framework.summary_pb2.Summary": "diagnostics.summary.protos:Summary",
    "core.framework.summary_pb2.SummaryMetadata": "diagnostics.summary.protos:SummaryMetadata",
    "core.framework.tensor_pb2.TensorProto": "data.io.tensors:TensorProto",
    "core.framework.tensor_shape_pb2.TensorShapeProto": "data.io.tensors:TensorShapeProto",
    "core.util.event_pb2.Event": "diagnostics.summary.protos:Event",
    "experimental.dtensor.DTensorDevice": "standin.runtime:no_dtensor",
    "experimental.dtensor.Layout": "standin.runtime:no_dtensor",
    "experimental.dtensor.Mesh": "standin.runtime:no_dtensor",
    "experimental.dtensor.UNSHARDED": "standin.runtime:UNSHARDED",
    "experimental.dtensor.create_distributed_mesh": "standin.runtime:no_dtensor",
    "python.distribute.distribute_lib.get_strategy": "library.distribute:get_strategy",
    "python.eager.context._reset_context": "standin.runtime:nothing",
    "python.eager.context.async_wait": "standin.runtime:nothing",
    "python.eager.context.context": "standin.runtime:context",
    "python.eager.context.executing_eagerly": "values.context:executing_eagerly",
    "python.framework.config.disable_op_determinism": "library.config:disable_op_determinism",
    "python.framework.config.enable_op_determinism": "library.config:enable_op_determinism",
    "python.framework.config.is_op_determinism_enabled": (
        "library.config:is_op_determinism_enabled"
    ),
    "python.framework.ops.EagerTensor": "values.tensor:Tensor",
    "python.framework.ops.Tensor": "values.tensor:Tensor",
    "python.framework.ops.convert_to_tensor": "ops.creation:convert_to_tensor",
    "python.framework.tensor_util.constant_value": "ops.creation:get_static_value",
    "python.framework.type_spec_registry.get_name": "standin.runtime:spec_name",
    "python.framework.type_spec_registry.lookup": "standin.runtime:spec_named",
    "python.lib.io.tf_record.tf_record_iterator": "data.io.records:tf_record_iterator",
    "python.ops.linalg.sparse.sparse_csr_matrix_ops.csr_sparse_matrix_to_sparse_tensor": (
        "ops.sparse_products:csr_sparse_matrix_to_sparse_tensor"
    ),
    "python.ops.linalg.sparse.sparse_csr_matrix_ops.sparse_matrix_sparse_mat_mul": (
        "ops.sparse_products:sparse_matrix_sparse_mat_mul"
    ),
    "python.ops.linalg.sparse.sparse_csr_matrix_ops.sparse_tensor_to_csr_sparse_matrix": (
        "ops.sparse_products:sparse_tensor_to_csr_sparse_matrix"
    ),
    "python.ops.math_ops.is_nan": "ops.elementwise:is_nan",
    "python.ops.numpy_ops.np_config.enable_numpy_behavior": (
        "ops.numpy.behavior:experimental_enable_numpy_behavior"
    ),
    "python.summary.summary_iterator.summary_iterator": (
        "diagnostics.summary.iterate:summary_iterator"
    ),
    "python.trackable.data_structures.ListWrapper": "values.trackable:ListWrapper",
    "python.trackable.data_structures._DictWrapper": "values.trackable:_DictWrapper",
}

#: Classes that libraries know by the module and name that these have in TensorFlow.
RECOGNIZED = {
    "python.data.ops.dataset_ops.DatasetV2": "data.dataset:Dataset",
    "python.ops.ragged.ragged_tensor.RaggedTensor": "values.ragged:RaggedTensor",
    "python.framework.sparse_tensor.SparseTensor": "values.sparse:SparseTensor",
    "python.types.core.Tensor": "values.composite:TensorType",
}
NAMES.update(RECOGNIZED)
