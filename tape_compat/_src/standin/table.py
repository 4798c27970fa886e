"""The names below `tensorflow` that libraries import and that are not among its public ones.

`{"python.eager.context.context": "standin.runtime:context"}`: `tensorflow.python.eager.context` is
a module with the function `context` of `_src/standin/runtime.py`. What stands here comes before the
public names; everything else below `tensorflow` is the module of ours with that name.

Where a private module of TensorFlow is another way to public names, MODULES says which modules
these are in: `{"python.ops.nn_ops": (".nn",)}`, those of other packages by their whole names.
"""

from __future__ import annotations

#: TensorFlow whose public names and behaviour these are.
VERSION = "2.21.0"
GIT_VERSION = "v2.21.0"
#: The compiler that an extension would be built with: there are none to build.
COMPILER_VERSION = ""
#: The version of TensorFlow's graphs, and the oldest ones that it reads and that read it.
GRAPH_DEF_VERSION = 2474
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0

NAMES = {
    "__internal__.CompositeTensor": "values.composite:CompositeTensor",
    "__internal__.EagerTensor": "values.tensor:Tensor",
    "__internal__.FuncGraph": "function.grouping:FunctionGraph",
    "__internal__.distribute.ShardedVariable": "standin.keras2:DistributedVariable",
    "python.distribute.ps_values.AggregatingVariable": "standin.keras2:DistributedVariable",
    "python.distribute.sharded_variable.ShardedVariable": "standin.keras2:DistributedVariable",
    "python.distribute.values.DistributedVariable": "standin.keras2:DistributedVariable",
    "python.ops.nn_ops.Convolution": "standin.framework:Convolution",
    "python.ops.nn_ops._get_strides_and_dilation_rate": "standin.framework:steps_of_windows",
    "python.ops.tensor_getitem_override._slice_helper": "ops.indexing:getitem",
    "python.ops.tensor_getitem_override._slice_helper_var": "standin.framework:slice_helper_var",
    "python.types.core.TensorLike": "ops.declare:TensorLike",
    "__internal__.distribute.variable_sync_on_read_context": (
        "standin.keras2:variable_sync_on_read_context"
    ),
    "__internal__.distribute.interim.maybe_merge_call": "standin.runtime:maybe_merge_call",
    "__internal__.distribute.strategy_supports_no_merge_call": "standin.runtime:true",
    "__internal__.eager_context.eager_mode": "values.context:init_scope",
    "__internal__.ops.broadcast_weights": "library.version1.losses:broadcast_weights",
    "__internal__.tracking.TrackableDataStructure": "standin.keras2:TrackableDataStructure",
    "__internal__.register_call_context_function": "standin.runtime:nothing",
    "__internal__.register_clear_session_function": "standin.runtime:nothing",
    "__internal__.register_get_session_function": "standin.runtime:nothing",
    "__internal__.register_load_model_function": "standin.runtime:nothing",
    "__internal__.saved_model.load_partial": "standin.keras2_models:load_partial",
    "__internal__.saved_model.parse_saved_model": "standin.keras2_models:parse_saved_model",
    "__internal__.saved_model.decode_proto": "library.saved_model.structured:decoded",
    "__internal__.saved_model.load.registered_identifiers": (
        "standin.keras2_models:registered_identifiers"
    ),
    "__internal__.saved_model.load.VersionedTypeRegistration": "standin.runtime:nothing",
    "__internal__.saved_model.load.register_revived_type": "standin.runtime:nothing",
    "__internal__.smart_cond.smart_cond": "standin.runtime:smart_cond",
    "__internal__.tf2.enabled": "standin.runtime:true",
    "__internal__.tracking.CheckpointInitialValueCallable": (
        "standin.keras2:CheckpointInitialValueCallable"
    ),
    "__internal__.tracking.DelegatingTrackableMixin": "standin.keras2:DelegatingTrackableMixin",
    "__internal__.tracking.AutoTrackable": "checkpoint.tracking:AutoTrackable",
    "__internal__.tracking.Trackable": "values.trackable:Trackable",
    "__internal__.load_context": "standin.keras2:load_context",
    "__internal__.mixed_precision.register_loss_scale_wrapper": "standin.runtime:nothing",
    "__internal__.tracking.register_session_provider": "standin.runtime:nothing",
    "python.trackable.data_structures.sticky_attribute_assignment": (
        "standin.keras2:sticky_attribute_assignment"
    ),
    "__internal__.tracking.sticky_attribute_assignment": (
        "standin.keras2:sticky_attribute_assignment"
    ),
    "__internal__.tracking.wrap": "standin.keras2:wrap",
    "__internal__.function.Function": "function.function:Function",
    "__internal__.get_name_scope": "values.names:get_current_name_scope",
    "__internal__.tracking.no_automatic_dependency_tracking": "checkpoint.tracking:untracked",
    "__internal__.execute_fn_for_device": "standin.keras2:execute_fn_for_device",
    "__internal__.train.is_mixed_precision_graph_rewrite_enabled": "standin.runtime:nothing",
    "__internal__.train.set_using_mixed_precision_policy": "standin.runtime:nothing",
    "__internal__.train.update_checkpoint_state": "standin.keras2:update_checkpoint_state",
    "__internal__.types.Tensor": "values.composite:TensorType",
    "__operators__.add": "standin.runtime:add",
    "__operators__.eq": "standin.runtime:eq",
    "__operators__.getitem": "standin.runtime:getitem",
    "__operators__.ne": "standin.runtime:ne",
    "__operators__.ragged_getitem": "standin.runtime:ragged_getitem",
    "compiler.tf2xla.python.xla.dynamic_slice": "standin.runtime:dynamic_slice",
    "compiler.tf2xla.python.xla.dynamic_update_slice": "standin.runtime:dynamic_update_slice",
    "core.framework.summary_pb2.Summary": "diagnostics.summary.protos:Summary",
    "core.framework.summary_pb2.SummaryMetadata": "diagnostics.summary.protos:SummaryMetadata",
    "core.framework.tensor_pb2.TensorProto": "data.io.tensors:TensorProto",
    "core.framework.tensor_shape_pb2.TensorShapeProto": "data.io.tensors:TensorShapeProto",
    "core.util.event_pb2.Event": "diagnostics.summary.protos:Event",
    "distribute.ParameterServerStrategy": "standin.keras2:SeveralDevices",
    "distribute.experimental.ParameterServerStrategy": "standin.keras2:SeveralDevices",
    "distribute.experimental.coordinator.ClusterCoordinator": "standin.keras2:SeveralDevices",
    "distribute.experimental.coordinator.RemoteValue": "standin.keras2:SeveralDevices",
    "experimental.dtensor.DTensorDevice": "standin.runtime:no_dtensor",
    "experimental.dtensor.DTensorDataset": "standin.keras2:DistributedDataset",
    "experimental.dtensor.DVariable": "standin.keras2:DistributedDataset",
    "experimental.dtensor.Layout": "standin.runtime:no_dtensor",
    "experimental.dtensor.Mesh": "standin.runtime:no_dtensor",
    "experimental.dtensor.UNSHARDED": "standin.runtime:UNSHARDED",
    "experimental.dtensor.create_distributed_mesh": "standin.runtime:no_dtensor",
    "python.data.experimental.ops.distribute.compute_batch_size": (
        "data.batch_sizes:compute_batch_size"
    ),
    "python.data.ops.iterator_ops.OwnedIterator": "data.iterator:OwnedIterator",
    "python.distribute.distribute_lib.get_strategy": "library.distribute:get_strategy",
    "python.eager.context._reset_context": "standin.runtime:nothing",
    "python.eager.context.async_wait": "standin.runtime:nothing",
    "python.eager.context.context": "standin.runtime:context",
    "python.eager.context.executing_eagerly": "values.context:executing_eagerly",
    "python.eager.context.get_config": "standin.runtime:nothing",
    "python.eager.context.get_device_name": "standin.runtime:nothing",
    "python.eager.record.should_record_backprop": "standin.runtime:should_record_backprop",
    "python.eager.tape.should_record_backprop": "standin.runtime:should_record_backprop",
    "python.eager.def_function.Function": "function.function:Function",
    "python.eager.def_function.function": "function.function:function",
    "python.eager.polymorphic_function.polymorphic_function.Function": (
        "function.function:Function"
    ),
    "python.eager.context.eager_mode": "values.context:init_scope",
    "python.eager.context.ensure_initialized": "standin.runtime:nothing",
    "python.eager.context.global_seed": "ops.random_keys:global_seed",
    "python.eager.context.graph_mode": "standin.runtime:graph_mode",
    "python.eager.context.num_gpus": "standin.runtime:no_gpus",
    "python.eager.context.set_global_seed": "ops.random_keys:set_seed",
    "python.framework.common_shapes.broadcast_shape": "ops.shapes:broadcast_static_shape",
    "python.framework.common_shapes.is_broadcast_compatible": (
        "standin.framework:is_broadcast_compatible"
    ),
    "python.framework.config.disable_op_determinism": "library.config:disable_op_determinism",
    "python.framework.config.enable_op_determinism": "library.config:enable_op_determinism",
    "python.framework.config.is_op_determinism_enabled": (
        "library.config:is_op_determinism_enabled"
    ),
    "python.framework.convert_to_constants.convert_variables_to_constants_v2": (
        "standin.freezing:convert_variables_to_constants_v2"
    ),
    "python.framework.convert_to_constants.convert_variables_to_constants_v2_as_graph": (
        "standin.freezing:convert_variables_to_constants_v2_as_graph"
    ),
    "python.framework.ops.EagerTensor": "standin.framework:EagerTensor",
    "python.framework.ops.convert_to_tensor": "ops.creation:convert_to_tensor",
    "python.framework.tensor_util.MakeNdarray": "data.io.tensors:make_ndarray",
    "python.framework.tensor_util.constant_value": "ops.creation:get_static_value",
    "python.framework.smart_cond.smart_cond": "standin.runtime:smart_cond",
    "python.framework.smart_cond.smart_constant_value": "standin.framework:smart_constant_value",
    "python.framework.type_spec_registry._NAME_TO_TYPE_SPEC": "values.spec_registry:NAME_TO_SPEC",
    "python.framework.type_spec_registry._TYPE_SPEC_TO_NAME": "values.spec_registry:SPEC_TO_NAME",
    "__internal__.train.assign_moving_average": "library.moving_average:assign_moving_average",
    "python.keras.layers.core.TFOpLambda": "standin.legacy_keras:TFOpLambda",
    "python.training.moving_averages.assign_moving_average": (
        "library.moving_average:assign_moving_average"
    ),
    "python.lib.io.tf_record.tf_record_iterator": "data.io.records:tf_record_iterator",
    "python.pywrap_tfe.TF_ListPluggablePhysicalDevices": "standin.runtime:nothing",
    "tpu.experimental.HardwareFeature": "standin.tpu:HardwareFeature",
    "sysconfig.get_build_info": "standin.keras2:get_build_info",
    "python.saved_model.save.save_and_return_nodes": "standin.keras2_models:save_and_return_nodes",
    "python.saved_model.nested_structure_coder.decode_proto": (
        "library.saved_model.structured:decoded"
    ),
    "python.saved_model.nested_structure_coder.encode_structure": (
        "library.saved_model.structured:encoded"
    ),
    "python.tf2.enabled": "standin.runtime:true",
    "python.ops.linalg.sparse.sparse_csr_matrix_ops.csr_sparse_matrix_to_sparse_tensor": (
        "ops.sparse_products:csr_sparse_matrix_to_sparse_tensor"
    ),
    "python.ops.linalg.sparse.sparse_csr_matrix_ops.sparse_matrix_sparse_mat_mul": (
        "ops.sparse_products:sparse_matrix_sparse_mat_mul"
    ),
    "python.ops.linalg.sparse.sparse_csr_matrix_ops.sparse_tensor_to_csr_sparse_matrix": (
        "ops.sparse_products:sparse_tensor_to_csr_sparse_matrix"
    ),
    "python.ops.lookup_ops.LookupInterface": "standin.keras2_models:LookupInterface",
    "python.ops.init_ops._compute_fans": "library.version1.initializers:fans",
    "python.ops.init_ops_v2._compute_fans": "library.version1.initializers:fans",
    "python.ops.math_ops.is_nan": "ops.elementwise:is_nan",
    "python.ops.numpy_ops.np_config.enable_numpy_behavior": (
        "ops.numpy.behavior:experimental_enable_numpy_behavior"
    ),
    "enable_v2_behavior": "library.version1.switches:enable_v2_behavior",
    "python.summary.summary_iterator.summary_iterator": (
        "diagnostics.summary.iterate:summary_iterator"
    ),
    "python.tpu.datasets.StreamingFilesDataset": "standin.tpu:OfTPU",
    "python.tpu.embedding_context_utils.SequentialEmbeddingContext": (
        "standin.tpu:SequentialEmbeddingContext"
    ),
    "python.tpu.tpu_function.get_tpu_context": "standin.tpu:get_tpu_context",
    "python.trackable.resource.RestoredResource": "standin.keras2_models:RestoredResource",
    "python.trackable.resource.TrackableResource": "library.lookup.resources:TrackableResource",
    "python.trackable.data_structures.ListWrapper": "checkpoint.tracking:ListWrapper",
    "python.trackable.data_structures.NoDependency": "checkpoint.tracking:NoDependency",
    "python.trackable.data_structures._DictWrapper": "checkpoint.tracking:_DictWrapper",
}

#: Classes that libraries know by the module and name that these have in TensorFlow.
RECOGNIZED = {
    "python.data.ops.dataset_ops.DatasetV2": "data.dataset:Dataset",
    "python.framework.ops.Tensor": "values.tensor:Tensor",
    "python.ops.ragged.ragged_tensor.RaggedTensor": "composites.ragged:RaggedTensor",
    "python.ops.resource_variable_ops.ResourceVariable": "values.variable:Variable",
    "python.framework.sparse_tensor.SparseTensor": "composites.sparse:SparseTensor",
    "python.types.core.Tensor": "values.composite:TensorType",
}
NAMES.update(RECOGNIZED)

_OPS = ("", ".math", ".nn", ".linalg", ".random", ".debugging")
#: Modules of `tensorflow.python.training` whose names are those of `tf.compat.v1.train`.
_TRAINING = (
    "adadelta adagrad adagrad_da adam ftrl gradient_descent learning_rate_decay momentum optimizer "
    "proximal_adagrad proximal_gradient_descent rmsprop saver training training_util".split()
)
_KERAS_LAYERS = "convolutional core embeddings merge pooling recurrent".split()
#: Modules of `tensorflow.python.keras`, a copy of Keras 2, and where `tf.keras` has their names.
_KERAS = {
    **{f"layers.{name}": "layers" for name in _KERAS_LAYERS},
    **{f"optimizer_v2.{name}": "optimizers" for name in "adam gradient_descent rmsprop".split()},
    **{f"utils.{name}": "utils" for name in "data_utils generic_utils np_utils vis_utils".split()},
    "activations": "activations",
    "backend": "backend",
    "backend_config": "backend",
    "callbacks": "callbacks",
    "constraints": "constraints",
    "engine.base_layer": "layers",
    "engine.input_spec": "layers",
    "engine.sequential": "models",
    "engine.training": "models",
    "initializers": "initializers",
    "layers": "layers",
    "losses": "losses",
    "metrics": "metrics",
    "models": "models",
    "optimizer_v2.learning_rate_schedule": "optimizers.schedules",
    "optimizers": "optimizers",
    "regularizers": "regularizers",
    "utils": "utils",
}
#: Of modules that TensorFlow writes from the definitions of its ops.
_RAW = ("._src.standin.generated", *_OPS, ".raw_ops")
_GENERATED = (
    "audio batch bitwise candidate_sampling checkpoint clustering composite_tensor control_flow "
    "count ctc cudnn_rnn data_flow dataset debug decode_proto encode_proto experimental_dataset "
    "filesystem functional image io linalg list logging lookup manip map math nn optional parsing "
    "ragged_array ragged_conversion ragged_math random random_index_shuffle resource_variable rnn "
    "script sdca set sparse special_math spectral state stateful_random stateless_random string "
    "summary sync training uniform_quant"
).split()
_MESSAGES = "._src.library.saved_model.messages"

MODULES = {
    "__internal__.autograph": ("._src.standin.keras2",),
    "__internal__.decorator": ("._src.standin.utilities",),
    "__internal__.dispatch": ("._src.standin.utilities",),
    "__internal__.feature_column": ("._src.library.feature_columns.base",),
    "__internal__.monitoring": ("._src.standin.monitoring",),
    "__internal__.nest": ("._src.standin.nests", ".nest"),
    "__internal__.ops": ("._src.standin.framework",),
    "core.framework.attr_value_pb2": (_MESSAGES,),
    "core.framework.graph_pb2": (_MESSAGES,),
    "core.framework.node_def_pb2": (_MESSAGES,),
    "core.protobuf.cluster_pb2": (),
    "core.protobuf.config_pb2": ("._src.library.version1.session_config",),
    "core.protobuf.meta_graph_pb2": (_MESSAGES,),
    "core.protobuf.rewriter_config_pb2": ("._src.library.version1.session_config",),
    "core.protobuf.saved_model_pb2": (_MESSAGES,),
    "core.protobuf.saver_pb2": (),
    "core.protobuf.struct_pb2": (_MESSAGES,),
    "python.autograph.converters.break_statements": ("malt.converters.break_statements",),
    "python.autograph.converters.continue_statements": ("malt.converters.continue_statements",),
    "python.autograph.converters.return_statements": ("malt.converters.return_statements",),
    "python.autograph.core.converter": ("malt.core.converter",),
    "python.autograph.pyct.anno": ("malt.pyct.anno",),
    "python.autograph.pyct.common_transformers.anf": ("malt.pyct.common_transformers.anf",),
    "python.autograph.pyct.inspect_utils": ("malt.pyct.inspect_utils",),
    "python.autograph.pyct.loader": ("malt.pyct.loader",),
    "python.autograph.pyct.naming": ("malt.pyct.naming",),
    "python.autograph.pyct.parser": ("malt.pyct.parser",),
    "python.autograph.pyct.qual_names": ("malt.pyct.qual_names",),
    "python.autograph.pyct.static_analysis.activity": ("malt.pyct.static_analysis.activity",),
    "python.autograph.pyct.templates": ("malt.pyct.templates",),
    "python.autograph.pyct.transformer": ("malt.pyct.transformer",),
    "python.client.timeline": (),
    "python.client.device_lib": ("._src.standin.devices",),
    "python.data.ops.from_generator_op": ("._src.standin.keras2",),
    "python.data.ops.from_sparse_tensor_slices_op": ("._src.standin.keras2",),
    "python.data.ops.from_tensor_slices_op": ("._src.standin.keras2",),
    "python.data.ops.from_tensors_op": ("._src.standin.keras2",),
    "python.data.ops.range_op": ("._src.standin.keras2",),
    "python.data.util": (),
    "python.data.util.nest": ("._src.standin.nests", ".nest"),
    "python.data.util.structure": ("", "._src.data.specs"),
    "python.distribute.distribute_utils": (),
    "python.distribute.input_lib": ("._src.standin.keras2",),
    "python.distribute.input_ops": (),
    "python.eager.backprop": ("",),
    "python.eager.monitoring": ("._src.standin.monitoring",),
    **{
        f"python.feature_column.{name}": (
            ".feature_column",
            "._src.library.feature_columns.base",
            "._src.library.feature_columns.dense",
            "._src.library.feature_columns.categorical",
            "._src.library.feature_columns.sequences",
        )
        for name in (
            "feature_column",
            "feature_column_lib",
            "feature_column_v2",
            "sequence_feature_column",
            "serialization",
        )
    },
    "python.feature_column.utils": (),
    "python.framework.composite_tensor": ("._src.values.composite",),
    "python.framework.constant_op": ("",),
    "python.framework.dtypes": (".dtypes", ""),
    "python.framework.errors": (".errors",),
    "python.framework.errors_impl": (".errors",),
    "python.framework.indexed_slices": ("",),
    "python.framework.ops": ("", "._src.standin.framework", ".compat.v1"),
    "python.framework.random_seed": ("._src.standin.framework", ".random", ".compat.v1"),
    "python.framework.sparse_tensor": ("", ".sparse"),
    "python.framework.tensor": ("", "._src.standin.framework"),
    "python.framework.tensor_conversion": ("", "._src.standin.framework"),
    "python.framework.tensor_conversion_registry": ("", "._src.standin.framework"),
    "python.framework.tensor_shape": ("", "._src.standin.framework"),
    "python.framework.tensor_spec": ("._src.standin.bounded_spec", "", "._src.standin.framework"),
    "python.framework.tensor_util": ("", "._src.standin.framework", ".compat.v1"),
    "python.framework.test_util": ("._src.standin.testing", ".test"),
    "python.framework.type_spec": ("", "._src.standin.framework"),
    "python.framework.type_spec_registry": ("._src.values.spec_registry",),
    "python.keras": (".keras",),
    **{f"python.keras.{name}": (f".keras.{place}",) for name, place in _KERAS.items()},
    "python.keras.engine.compile_utils": ("._src.standin.legacy_keras",),
    "python.keras.engine.data_adapter": ("._src.standin.legacy_keras", ".keras.utils"),
    "python.keras.utils.conv_utils": ("._src.standin.legacy_keras",),
    "python.layers.utils": ("._src.standin.runtime",),
    "python.lib.io.file_io": ("._src.standin.file_io",),
    "python.module.module": ("",),
    "python.ops.array_ops": ("._src.standin.framework", "", ".math", ".nn", ".linalg"),
    "python.ops.array_ops_stack": _OPS,
    "python.ops.bitwise_ops": (".bitwise",),
    "python.ops.check_ops": (".debugging", ""),
    "python.ops.clip_ops": _OPS,
    "python.ops.clustering_ops": (),
    "python.ops.control_flow_assert": (".debugging",),
    "python.ops.control_flow_case": ("", "._src.standin.framework"),
    "python.ops.control_flow_ops": ("", "._src.standin.framework"),
    "python.ops.control_flow_util": ("._src.standin.framework",),
    "python.ops.custom_gradient": ("",),
    "python.ops.functional_ops": ("",),
    "python.ops.gen_array_ops": ("._src.standin.framework", *_RAW),
    **{f"python.ops.gen_{name}_ops": _RAW for name in _GENERATED},
    "python.ops.gen_stateless_random_ops_v2": _RAW,
    "python.ops.gradients_impl": ("",),
    "python.ops.image_ops": (".image",),
    "python.ops.init_ops": (".compat.v1", ".initializers", ""),
    "python.ops.init_ops_v2": (".initializers", ""),
    "python.ops.linalg.linalg": (".linalg", ""),
    "python.ops.linalg.linear_operator": (".linalg", "._src.standin.framework"),
    "python.ops.linalg.linear_operator_addition": (),
    "python.ops.linalg.sparse.sparse": (".linalg",),
    "python.ops.linalg_ops": _OPS,
    "python.ops.lookup_ops": (".lookup", ".compat.v1"),
    "python.ops.losses.losses": (".compat.v1.losses",),
    "python.ops.losses.losses_impl": (".compat.v1.losses",),
    "python.ops.map_fn": ("",),
    "python.ops.math_ops": (".math", *_OPS, ".compat.v1"),
    "python.ops.nn": (".nn", ".math", ""),
    "python.ops.nn_impl": (".nn", ".math"),
    "python.ops.nn_ops": (".nn", ".math"),
    "python.ops.numpy_ops": (".experimental.numpy",),
    "python.ops.parallel_for.control_flow_ops": ("._src.standin.framework", ""),
    "python.ops.parsing_ops": (".io",),
    "python.ops.ragged.ragged_factory_ops": (".ragged",),
    "python.ops.ragged.ragged_map_ops": (),
    "python.ops.ragged.ragged_util": (),
    "python.ops.random_ops": (".random", "._src.standin.framework", ".compat.v1"),
    "python.ops.resource_variable_ops": ("._src.standin.framework", ""),
    "python.ops.sparse_ops": (".sparse", ".compat.v1"),
    "python.ops.special_math_ops": (".math.special", ".math", ""),
    "python.ops.standard_ops": _OPS,
    "python.ops.weights_broadcast_ops": ("._src.library.version1.losses",),
    "python.ops.script_ops": ("", ".compat.v1"),
    "python.ops.confusion_matrix": (".math",),
    "python.ops.state_ops": ("._src.standin.framework", ".compat.v1"),
    "python.ops.stateless_random_ops": (".random",),
    "python.ops.string_ops": (".strings",),
    "python.ops.template": (".compat.v1",),
    "python.ops.tensor_array_ops": ("",),
    "python.ops.variable_scope": (".compat.v1", ""),
    "python.ops.variables": ("", ".compat.v1"),
    "python.ops.while_loop": ("",),
    "python.platform.gfile": (".io.gfile", ".compat.v1.gfile"),
    "python.platform.test": (".test",),
    "python.platform.tf_logging": (".compat.v1.logging", "._src.standin.utilities"),
    "python.profiler.model_analyzer": (".compat.v1.profiler",),
    "python.profiler.option_builder": (".compat.v1.profiler",),
    "python.pywrap_tfe": (),
    **{
        f"python.saved_model.{name}": ("._src.library.saved_model.constants",)
        for name in ("constants", "signature_constants", "tag_constants")
    },
    "python.saved_model.model_utils.mode_keys": ("._src.standin.keras2",),
    "python.saved_model.save": (),
    "python.trackable.base": (
        "._src.values.trackable",
        "._src.checkpoint.tracking",
        "._src.standin.keras2",
    ),
    "python.tpu.tensor_tracer": (),
    **{f"python.training.{name}": (".compat.v1.train",) for name in _TRAINING},
    "python.training.moving_averages": (".train",),
    "python.util.all_util": ("._src.standin.utilities",),
    "python.util.compat": (".compat",),
    "python.util.deprecation": ("._src.standin.utilities",),
    "python.util.function_utils": ("._src.standin.function_utils",),
    "python.util.object_identity": ("._src.standin.object_identity",),
    "python.util.dispatch": ("._src.standin.utilities",),
    "python.util.nest": ("._src.standin.nests", ".nest", "._src.values.nest"),
    "python.util.tf_contextlib": ("._src.standin.utilities",),
    "python.util.tf_decorator": ("._src.standin.utilities",),
    "python.util.tf_export": ("._src.standin.utilities",),
    "python.util.tf_inspect": ("._src.standin.utilities", "inspect"),
    "python.util.variable_utils": ("._src.standin.framework",),
    "tools.docs.doc_controls": ("._src.standin.utilities",),
    "tpu.experimental.embedding": ("._src.standin.tpu",),
}

#: What is called with a module of a library once it is loaded on us.
ADAPTED = {
    "keras.src.backend.tensorflow.core": "standin.adapted:read_beside",
    "keras.src.backend.tensorflow.numpy": "standin.adapted:counting",
    "keras.src.backend.tensorflow.sparse": "standin.adapted:dividing_slices",
    "keras.src.legacy.backend": "standin.adapted:of_dense_labels",
    "sonnet.src.recurrent": "standin.adapted:one_unrolled_lstm",
    "tf_keras.src.layers.core.tf_op_layer": "standin.op_layers:as_layers",
    "tf_keras.src.saving.legacy.saved_model.save_impl": "standin.keras2_models:of_known_rank",
    "tf_keras.src.layers.rnn.gru_lstm_utils": "standin.adapted:of_one_kind",
    "tensorflow_probability.python.internal.implementation_selection": "standin.adapted:of_cpus",
}
