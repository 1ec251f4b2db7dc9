"""tf.contrib.framework: scopes of arguments, variables of models, the global step, shapes and choices while building."""

from __future__ import annotations

from collections.abc import Callable

from weft.api.contrib import nest as nest
from weft.checkpoint.checkpoint_contents import list_variables as list_variables
from weft.checkpoint.checkpoint_contents import load_checkpoint as load_checkpoint
from weft.checkpoint.checkpoint_contents import load_variable as load_variable
from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import is_tensor as is_tensor
from weft.framework.composites.sparse_tensor import convert_to_tensor_or_sparse_tensor as convert_to_tensor_or_sparse_tensor
from weft.framework.composites.tensor_spec import BoundedTensorSpec as BoundedTensorSpec
from weft.framework.composites.tensor_spec import TensorSpec as TensorSpec
from weft.framework.importing.name_prefix import prepend_name_scope as prepend_name_scope
from weft.framework.importing.name_prefix import strip_name_scope as strip_name_scope
from weft.framework.nodes.operation import Tensor
from weft.models.functional import static_choices
from weft.models.functional.graph_helpers import VariableDeviceChooser as VariableDeviceChooser
from weft.models.functional.graph_helpers import assert_scalar_int as assert_scalar_int
from weft.models.functional.graph_helpers import get_graph_from_inputs as get_graph_from_inputs
from weft.models.functional.graph_helpers import get_name_scope as get_name_scope
from weft.models.functional.graph_helpers import get_placeholders as get_placeholders
from weft.models.functional.graph_helpers import py_func as py_func
from weft.models.functional.graph_helpers import zero_initializer as zero_initializer
from weft.models.functional.shape_checks import reduce_sum_n as reduce_sum_n
from weft.models.functional.shape_checks import with_same_shape as with_same_shape
from weft.models.functional.shape_checks import with_shape as with_shape
from weft.models.functional.static_choices import smart_case as smart_case
from weft.models.metrics.confusion_matrix import remove_squeezable_dimensions as _without_last
from weft.ops.arg_scope import add_arg_scope as add_arg_scope
from weft.ops.arg_scope import arg_scope as arg_scope
from weft.ops.arg_scope import arg_scoped_arguments as arg_scoped_arguments
from weft.ops.arg_scope import current_arg_scope as current_arg_scope
from weft.ops.arg_scope import has_arg_scope as has_arg_scope
from weft.ops.array.sequences import argsort as argsort
from weft.ops.array.sequences import sort as sort
from weft.ops.data_flow.critical_section import CriticalSection as CriticalSection
from weft.ops.debugging.checks import assert_same_float_dtype as assert_same_float_dtype
from weft.ops.debugging.checks import is_strictly_increasing as is_strictly_increasing
from weft.ops.debugging.rank_checks import assert_scalar as assert_scalar
from weft.ops.io.checkpoint_initializer import init_from_checkpoint as init_from_checkpoint
from weft.ops.io.record_input import RecordInput as RecordInput
from weft.ops.variables.matrix_initializers import ConvolutionDeltaOrthogonal as _ConvolutionDeltaOrthogonal
from weft.ops.variables.model_variables import add_model_variable as add_model_variable
from weft.ops.variables.model_variables import filter_variables as filter_variables
from weft.ops.variables.model_variables import get_local_variables as get_local_variables
from weft.ops.variables.model_variables import get_model_variables as get_model_variables
from weft.ops.variables.model_variables import get_trainable_variables as get_trainable_variables
from weft.ops.variables.model_variables import get_unique_variable as get_unique_variable
from weft.ops.variables.model_variables import get_variables as get_variables
from weft.ops.variables.model_variables import get_variables_by_name as get_variables_by_name
from weft.ops.variables.model_variables import get_variables_by_suffix as get_variables_by_suffix
from weft.ops.variables.model_variables import get_variables_to_restore as get_variables_to_restore
from weft.ops.variables.model_variables import global_variable as global_variable
from weft.ops.variables.model_variables import local_variable as local_variable
from weft.ops.variables.model_variables import model_variable as model_variable
from weft.ops.variables.model_variables import variable as variable
from weft.ops.variables.orthogonal_kernels import ConvolutionOrthogonal1D as _ConvolutionOrthogonal1D
from weft.ops.variables.orthogonal_kernels import ConvolutionOrthogonal2D as _ConvolutionOrthogonal2D
from weft.ops.variables.orthogonal_kernels import ConvolutionOrthogonal3D as _ConvolutionOrthogonal3D
from weft.platform.logs.deprecation import deprecated as deprecated
from weft.platform.logs.deprecation import deprecated_arg_values as deprecated_arg_values
from weft.platform.logs.deprecation import deprecated_args as deprecated_args
from weft.training.saving.model_assignments import assign_from_checkpoint as assign_from_checkpoint
from weft.training.saving.model_assignments import assign_from_checkpoint_fn as assign_from_checkpoint_fn
from weft.training.saving.model_assignments import assign_from_values as assign_from_values
from weft.training.saving.model_assignments import assign_from_values_fn as assign_from_values_fn
from weft.training.saving.model_assignments import get_variable_full_name as get_variable_full_name
from weft.training.training_util import assert_global_step as assert_global_step
from weft.training.training_util import assert_or_get_global_step as assert_or_get_global_step
from weft.training.training_util import create_global_step as create_global_step
from weft.training.training_util import get_global_step as get_global_step
from weft.training.training_util import get_or_create_global_step as get_or_create_global_step

# Under a name of its own: type checkers take a renamed import for the module's private business.
convolutional_delta_orthogonal = _ConvolutionDeltaOrthogonal
convolutional_orthogonal_1d = _ConvolutionOrthogonal1D
convolutional_orthogonal_2d = _ConvolutionOrthogonal2D
convolutional_orthogonal_3d = _ConvolutionOrthogonal3D


def remove_squeezable_dimensions(predictions: TensorLike, labels: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Drop the last dimension, of size 1, of predictions or labels where the other has one less.

    Args:
        predictions, labels: tensors of ranks that differ by one at most.
        name: the name scope.

    Returns:
        Predictions and labels.
    """
    labels, predictions = _without_last(labels, predictions, name=name)
    return predictions, labels


def smart_constant_value(pred: TensorLike) -> bool | None:
    """The value of a Python bool, of 0 or 1, or of a constant tensor; None where only a run tells; TypeError for others.

    Args:
        pred: a bool, 0 or 1, or a tensor.
    """
    if not isinstance(pred, Tensor) and pred not in (0, 1):
        raise TypeError(f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {type(pred)}")
    known = static_choices.constant_value(pred)
    return None if known is None else bool(known)


def smart_cond(
    pred: TensorLike, true_fn: Callable[[], Nest] | None = None, false_fn: Callable[[], Nest] | None = None,
    name: str | None = None,
) -> Nest:  # fmt: skip
    """What one of two functions returns, chosen while building where the predicate is known, by `tf.cond` otherwise.

    Args:
        pred: a bool, 0 or 1, or a [] bool tensor.
        true_fn, false_fn: functions without arguments, both needed; they return tensors of one structure and of the same
            dtypes.
        name: not looked at.

    Raises:
        TypeError: one of them is no function.
    """
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError("`true_fn` and `false_fn` must be callable.")
    return static_choices.smart_cond(pred, true_fn, false_fn, name)
