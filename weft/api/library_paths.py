"""Names of TensorFlow's inner modules that libraries on top of it use, such as tensorflow_probability: specs of values, shapes
and solvers. They are written as in `python_paths.NAMES`.
"""

from __future__ import annotations

from typing import Final

NAMES: Final = {
    "ops.metrics_impl": (
        "weft.models.metrics.own_metrics:metric_variable weft.models.metrics.state:aligned=_remove_squeezable_dimensions "
        "weft.models.metrics.counts:streaming_confusion_matrix=_streaming_confusion_matrix "
        "weft.models.metrics.own_metrics:aggregate_across_replicas=_aggregate_across_replicas "
        "weft.models.metrics.own_metrics:aggregate_variable=_aggregate_variable "
        "weft.models.metrics.own_metrics:safe_scalar_div=_safe_scalar_div "
        "weft.models.metrics.own_metrics:confusion_matrix_at_thresholds=_confusion_matrix_at_thresholds "
        "weft.models.metrics.own_metrics:streaming_sparse_average_precision_at_top_k="
        "_streaming_sparse_average_precision_at_top_k"
    ),
    "ops.functional_ops": (
        "weft.autodiff.functional_calls:call_if=If weft.autodiff.functional_calls:call_while=While "
        "weft.autodiff.functional_calls:call_for=For weft.autodiff.functional_calls:gradient_of=Gradient "
        "weft.autodiff.functional_calls:remote_call weft.autodiff.functional_calls:partitioned_call "
        "weft.autodiff.functional_calls:symbolic_gradient"
    ),
    "autograph.impl.api": "weft.translation.convert:do_not_convert",
    # In elements of datasets lists are leaves.
    "data.util.nest": (
        "weft.datasets.nest:assert_same_structure weft.datasets.nest:flatten weft.datasets.nest:flatten_up_to "
        "weft.datasets.nest:is_nested=is_sequence weft.datasets.nest:is_nested weft.datasets.nest:map_structure "
        "weft.datasets.nest:map_structure_up_to weft.datasets.nest:pack_sequence_as"
    ),
    "profiler.tfprof_logger": ("weft.client.analysis.op_log:merge_default_with_oplog weft.client.analysis.op_log:write_op_log"),
    "estimator.canned.dnn": "weft.estimators.canned.dnn:summarize=_add_hidden_layer_summary",
    "estimator.estimator": (
        "estimator.Estimator=EstimatorV2 weft.estimators.model_function:verify_model_fn_args=_verify_model_fn_args"
    ),
    "pywrap_tensorflow": (
        "train.NewCheckpointReader weft.events.events_writer:EventsWriter "
        "weft.framework.nodes.constant_value:evaluated_constant=TF_TryEvaluateConstant_wrapper"
    ),
    "keras.utils.tf_utils": (
        "weft.framework.building.reachable:get_reachable_from_inputs "
        "weft.ops.variables.tensor_kinds:register_symbolic_tensor_type "
        "weft.models.functional.call_choices:smart_cond"
    ),
    "keras.saving.hdf5_format": "keras.models.load_model=load_model_from_hdf5 keras.models.save_model=save_model_to_hdf5",
    "keras.optimizer_v2.optimizer_v2": "keras.optimizers.Optimizer=OptimizerV2",
    "keras.utils.losses_utils": "weft.networks.losses:Reduction=ReductionV2",
    "ops.resources": (
        "weft.training.resources:initialize_resources weft.training.resources:local_resources "
        "weft.training.resources:register_resource weft.training.resources:report_uninitialized_resources "
        "weft.training.resources:shared_resources"
    ),
    "ops.summary_ops_v2": (
        "contrib.summary.all_summary_ops=all_v2_summary_ops "
        "weft.ops.summary.own_summaries:INVALID_SCOPE_CHARACTERS=_INVALID_SCOPE_CHARACTERS"
    ),
    "ops.summary_op_util": (
        "weft.ops.summary.own_summaries:clean_tag weft.ops.summary.own_summaries:collect "
        "weft.ops.summary.own_summaries:summary_scope"
    ),
    "framework.op_def_registry": (
        "weft.framework.registry.op_protos:get_registered_ops weft.framework.registry.op_protos:register_op_list"
    ),
    "training.tracking.base": (
        "weft.framework.attribute_tracking:no_automatic_dependency_tracking "
        "weft.framework.attribute_tracking:no_automatic_dependency_tracking_scope "
        "weft.training.tracking.autotracking:TrackableBase=Trackable weft.training.tracking.autotracking:TrackableReference"
    ),
    "training.tracking.data_structures": (
        "weft.framework.attribute_tracking:NoDependency weft.training.tracking.containers:List "
        "weft.training.tracking.containers:Mapping"
    ),
    "training.tracking.python_state": "weft.training.tracking.python_state:PythonState",
    "training.tracking.tracking": "weft.training.tracking.autotracking:AutoTrackable",
    "keras.utils.generic_utils": "weft.models.layers.layer_names:snake_case=to_snake_case",
    "autograph.pyct.transformer": "weft.framework.compat.source_translation:SourceTransformer=Base",
    "training.checkpoint_utils": (
        "weft.training.saving.checkpoint_wait:checkpoints_iterator weft.training.saving.checkpoint_wait:wait_for_new_checkpoint"
    ),
    "training.saver": "weft.training.saving.saver:get_saver_or_default=_get_saver_or_default",
    "framework.random_seed": "weft.ops.random.seed:DEFAULT_GRAPH_SEED",
    "framework.smart_cond": (
        "weft.models.functional.call_choices:smart_cond weft.models.functional.static_choices:smart_case "
        "contrib.framework.smart_constant_value"
    ),
    "framework.common_shapes": "broadcast_static_shape=broadcast_shape",
    "framework.composite_tensor": "weft.framework.types.type_spec:CompositeTensor",
    "framework.tensor_spec": "weft.framework.composites.tensor_spec:BoundedTensorSpec",
    "framework.type_spec": (
        "weft.framework.types.type_spec:TypeSpec weft.framework.types.type_spec:BatchableTypeSpec "
        "weft.framework.types.type_spec:register_type_spec_from_value_converter "
        "weft.framework.types.type_spec:type_spec_from_value"
    ),
    "ops.linalg.linear_operator_util": (
        "weft.models.linear_operators.with_broadcast:broadcast_matrix_batch_dims "
        "weft.models.linear_operators.with_broadcast:cholesky_solve_with_broadcast "
        "weft.models.linear_operators.with_broadcast:matrix_solve_with_broadcast "
        "weft.models.linear_operators.with_broadcast:matrix_triangular_solve_with_broadcast"
    ),
    "ops.unconnected_gradients": "UnconnectedGradients",
}

# The modules that also have the functions of op types, which TensorFlow generates for them.
_HOSTS: Final = (
    "array_ops bitwise_ops candidate_sampling_ops control_flow_ops ctc_ops data_flow_ops image_ops io_ops linalg_ops "
    "logging_ops lookup_ops manip_ops math_ops nn nn_ops parsing_ops random_ops resource_variable_ops sparse_ops "
    "standard_ops state_ops string_ops"
)
WITH_OP_TYPES: Final = frozenset(f"ops.{host}" for host in _HOSTS.split())
