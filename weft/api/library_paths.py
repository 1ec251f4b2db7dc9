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
    "ops.summary_op_util": (
        "weft.ops.summary.own_summaries:clean_tag weft.ops.summary.own_summaries:collect "
        "weft.ops.summary.own_summaries:summary_scope"
    ),
    "framework.op_def_registry": ("weft.framework.op_protos:get_registered_ops weft.framework.op_protos:register_op_list"),
    "training.tracking.data_structures": "weft.framework.decorators:no_dependency=NoDependency",
    "keras.utils.generic_utils": "weft.models.layers.layer_names:snake_case=to_snake_case",
    "autograph.pyct.transformer": "weft.framework.source_translation:SourceTransformer=Base",
    "framework.common_shapes": "broadcast_static_shape=broadcast_shape",
    "framework.composite_tensor": "weft.framework.type_spec:CompositeTensor",
    "framework.tensor_spec": "weft.framework.tensor_spec:BoundedTensorSpec",
    "framework.type_spec": (
        "weft.framework.type_spec:TypeSpec weft.framework.type_spec:BatchableTypeSpec "
        "weft.framework.type_spec:register_type_spec_from_value_converter weft.framework.type_spec:type_spec_from_value"
    ),
    "ops.linalg.linear_operator_util": (
        "weft.models.linear_operators.with_broadcast:broadcast_matrix_batch_dims "
        "weft.models.linear_operators.with_broadcast:cholesky_solve_with_broadcast "
        "weft.models.linear_operators.with_broadcast:matrix_solve_with_broadcast "
        "weft.models.linear_operators.with_broadcast:matrix_triangular_solve_with_broadcast"
    ),
    "ops.unconnected_gradients": "UnconnectedGradients",
}
