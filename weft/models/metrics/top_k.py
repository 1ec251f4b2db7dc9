"""Metrics of rankings: how many of the best k predictions are labels, and how many labels are among them."""

from __future__ import annotations

from weft.framework import dtypes
from weft.framework.aliases import Collections, TensorLike
from weft.framework.operation import Tensor
from weft.framework.tensor_conversion import convert_to_tensor
from weft.models.metrics.state import Metric, as_float, float_weights, metric_scope, metric_variable, published, so_far
from weft.ops.array.shape_ops import expand_dims
from weft.ops.array.topk import top_k
from weft.ops.declaration import rank_of
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, logical_and, logical_not
from weft.ops.math.division import div_no_nan
from weft.ops.math.elementwise import add, mul
from weft.ops.math.reduce_functions import reduce_any, reduce_sum
from weft.ops.variables.assign import assign_add
from weft.ops.variables.variable import Variable


def _hits(labels: TensorLike, chosen: TensorLike, class_id: int | None) -> tuple[Tensor, Tensor, Tensor]:
    """For each example how many chosen classes are labels, how many are not, and how many labels were not chosen."""
    labels, chosen = convert_to_tensor(labels), convert_to_tensor(chosen)
    rank, chosen_rank = rank_of(labels), rank_of(chosen)
    labels, chosen = cast(labels, dtypes.int64), cast(chosen, dtypes.int64)
    if rank is not None and chosen_rank is not None and rank == chosen_rank - 1:
        labels = expand_dims(labels, -1)
    same = equal(expand_dims(chosen, -1), expand_dims(labels, -2))
    is_label, is_chosen = reduce_any(same, -1), reduce_any(same, -2)
    wanted, counted = logical_not(is_label), logical_not(is_chosen)
    if class_id is not None:
        of_class = equal(chosen, class_id)
        is_label, wanted = logical_and(is_label, of_class), logical_and(wanted, of_class)
        counted = logical_and(counted, equal(labels, class_id))
    return tuple(reduce_sum(as_float(each), -1) for each in (is_label, wanted, counted))  # type: ignore[return-value]


def _total(values: Tensor, weights: TensorLike | None, name: str) -> tuple[Variable, Tensor]:
    """A variable of the weighted sum of values so far, and the operation that adds these."""
    if weights is not None:
        values = mul(values, float_weights(weights, values))
    variable = metric_variable([], dtypes.float32, name)
    return so_far(variable), assign_add(variable, reduce_sum(values))


def _place(k: int | None, class_id: int | None) -> str:
    return f"at_{'k' if k is None else k}" + ("" if class_id is None else f"_class{class_id}")


def _ranked(
    is_recall: bool, labels: TensorLike, chosen: TensorLike | None, predictions: TensorLike | None, k: int | None,
    class_id: int | None, weights: TensorLike | None, metrics_collections: Collections,
    updates_collections: Collections, name: str | None,
) -> Metric:  # fmt: skip
    place = _place(k, class_id)
    default = f"{'recall' if is_recall else 'precision'}_{place}"
    with metric_scope(name, default, (predictions, labels, weights)) as scope:
        if chosen is None:
            assert predictions is not None
            assert k is not None
            chosen = top_k(predictions, k).indices
        hits, wrong, missed = _hits(labels, chosen, class_id)
        right, update_right = _total(hits, weights, f"true_positive_{place}")
        kind = "negative" if is_recall else "positive"
        other, update_other = _total(missed if is_recall else wrong, weights, f"false_{kind}_{place}")
        value = div_no_nan(right, add(right, other), name=scope)
        update = div_no_nan(update_right, add(update_right, update_other), name="update")
        return published(value, update, metrics_collections, updates_collections)


def recall_at_k(
    labels: TensorLike, predictions: TensorLike, k: int, class_id: int | None = None,
    weights: TensorLike | None = None, metrics_collections: Collections = None,
    updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The share of labels that are among the k classes with the greatest predictions.

    Args:
        labels: int64 class numbers, `[..., number of labels]` or, for one label each, `[...]`.
        predictions: `[..., classes]` floats.
        k: how many classes are chosen.
        class_id: the only class to look at; all when None.
        weights: a tensor that broadcasts to `labels` without their last dimension.
        metrics_collections, updates_collections: where to add the value and the update operation.
        name: the variable scope.
    """
    return _ranked(True, labels, None, predictions, k, class_id, weights, metrics_collections, updates_collections, name)


def recall_at_top_k(
    labels: TensorLike, predictions_idx: TensorLike, k: int | None = None, class_id: int | None = None,
    weights: TensorLike | None = None, metrics_collections: Collections = None,
    updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """`recall_at_k` of classes `[..., k]` that were chosen before."""
    return _ranked(True, labels, predictions_idx, None, k, class_id, weights, metrics_collections, updates_collections, name)


def precision_at_k(
    labels: TensorLike, predictions: TensorLike, k: int, class_id: int | None = None,
    weights: TensorLike | None = None, metrics_collections: Collections = None,
    updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The share of the k classes with the greatest predictions that are labels; arguments as of `recall_at_k`."""
    return _ranked(False, labels, None, predictions, k, class_id, weights, metrics_collections, updates_collections, name)


def precision_at_top_k(
    labels: TensorLike, predictions_idx: TensorLike, k: int | None = None, class_id: int | None = None,
    weights: TensorLike | None = None, metrics_collections: Collections = None,
    updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """`precision_at_k` of classes `[..., k]` that were chosen before."""
    return _ranked(False, labels, predictions_idx, None, k, class_id, weights, metrics_collections, updates_collections, name)
