"""The confusion matrix of a classifier, and labels and predictions of one rank."""

from __future__ import annotations

from weft.framework.building.aliases import DTypeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.filling import ones_like
from weft.ops.array.gather_scatter import scatter_nd
from weft.ops.array.shape_ops import rank, squeeze
from weft.ops.array.stacking import stack
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_less, assert_non_negative
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, maximum
from weft.ops.math.elementwise import add
from weft.ops.math.reduce_functions import reduce_max


def confusion_matrix(
    labels: object,
    predictions: object,
    num_classes: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
    weights: object = None,
) -> Tensor:
    """The matrix that counts, or weighs, how often label i (the row) was taken for j (the column).

    Args:
        labels, predictions: vectors of class numbers.
        num_classes: the number of classes; one more than the greatest number found when None.
        dtype: the type of the result.
        name: the name scope.
        weights: a weight per prediction.
    """
    with input_scope(name, "confusion_matrix", (predictions, labels, num_classes, weights)):
        labels, predictions = remove_squeezable_dimensions(
            convert_to_tensor(labels, name="labels"), convert_to_tensor(predictions, name="predictions")
        )
        predictions, labels = cast(predictions, dtypes.int64), cast(labels, dtypes.int64)
        labels = with_dependencies([assert_non_negative(labels, message="`labels` contains negative values")], labels)
        predictions = with_dependencies(
            [assert_non_negative(predictions, message="`predictions` contains negative values")], predictions
        )
        if num_classes is None:
            count = add(maximum(reduce_max(predictions), reduce_max(labels)), 1, name="add")
        else:
            count = cast(num_classes, dtypes.int64)
            labels = with_dependencies([assert_less(labels, count, message="`labels` out of bound")], labels)
            predictions = with_dependencies(
                [assert_less(predictions, count, message="`predictions` out of bound")], predictions
            )
        get_default_graph().node_count.total += 3  # TensorFlow adds a sparse matrix to zeros.
        if weights is None:
            values = ones_like(predictions, dtype)
        else:
            weights = convert_to_tensor(weights, name="weights")
            predictions.get_shape().assert_is_compatible_with(weights.get_shape())
            values = cast(weights, dtype)
        return scatter_nd(stack([labels, predictions], axis=1), values, stack([count, count]))


def remove_squeezable_dimensions(
    labels: object, predictions: object, expected_rank_diff: int = 0, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Drop the last dimension of one of the two when its rank is one more than expected and that dimension can be 1.

    Ranks that the graph does not tell are compared in the run.
    """
    with input_scope(name, "remove_squeezable_dimensions", (labels, predictions)):
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        if labels.dims is None or predictions.dims is None:
            difference = rank(predictions) - rank(labels)
            predictions = _squeezed_where(expected_rank_diff + 1, difference, predictions)
            return _squeezed_where(expected_rank_diff - 1, difference, labels), predictions
        known = len(predictions.dims) - len(labels.dims)
        if known == expected_rank_diff + 1 and _may_be_squeezed(predictions):
            predictions = squeeze(predictions, [-1])
        elif known == expected_rank_diff - 1 and _may_be_squeezed(labels):
            labels = squeeze(labels, [-1])
        return labels, predictions


def squeezed_weights(weights: Tensor, labels: Tensor) -> Tensor:
    """The weights without a last dimension that the labels have not; a run compares ranks that the graph does not tell."""
    if weights.dims is not None and labels.dims is not None:
        return squeeze(weights, [-1]) if len(weights.dims) - len(labels.dims) == 1 else weights
    return _squeezed_where(1, rank(weights) - rank(labels), weights)


def _may_be_squeezed(tensor: Tensor) -> bool:
    return tensor.dims is None or (tensor.dims != () and tensor.dims[-1] in (None, 1))


def _squeezed_where(difference_to_drop: int, difference: Tensor, tensor: Tensor) -> Tensor:
    if not _may_be_squeezed(tensor):
        return tensor
    squeezed: Tensor = cond(equal(difference_to_drop, difference), lambda: squeeze(tensor, [-1]), lambda: tensor)
    return squeezed
