"""Names of TensorFlow's inner modules that libraries on top of it use, such as tensorflow_probability: specs of values, shapes
and solvers. They are written as in `python_paths.NAMES`.
"""

from __future__ import annotations

from typing import Final

NAMES: Final = {
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
