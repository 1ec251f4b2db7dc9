"""Metrics of rankings: how many of the best k predictions are labels, and how many labels are among them."""

from __future__ import annotations

from typing import Final

import numpy as np

from weft.framework.building.aliases import Collections, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor, SparseTensorValue, convert_to_tensor_or_sparse_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.metrics.mean import mean
from weft.models.metrics.state import Metric, as_float, metric_scope, metric_variable, published, so_far
from weft.models.weights_broadcast import broadcast_weights
from weft.ops.array.filling import ones_like
from weft.ops.array.ranges import range_of
from weft.ops.array.selection import where_v2
from weft.ops.array.shape_ops import expand_dims, size
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.topk import in_top_k, top_k
from weft.ops.control_flow.cond import cond
from weft.ops.declaration import rank_of
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, greater_equal, less, logical_and, logical_not, minimum, not_equal
from weft.ops.math.division import div_no_nan, truediv
from weft.ops.math.elementwise import add, mul
from weft.ops.math.reduce_functions import reduce_any, reduce_max, reduce_sum
from weft.ops.math.scans import cumsum
from weft.ops.sparse.tensors import sparse_tensor_to_dense
from weft.ops.variables.assign import assign_add
from weft.ops.variables.variable import Variable

Labels = TensorLike | SparseTensor | SparseTensorValue
# Of TensorFlow's operations on sets, by whether labels are sparse, and whether only one class is looked at.
_NODES_OF_SETS: Final = {(False, False): 3, (False, True): 45, (True, False): 3, (True, True): 34}
_NO_LABEL: Final = int(np.iinfo(np.int64).min)  # fills the rows of sparse labels


def _class_numbers(labels: Labels) -> Tensor | SparseTensor:
    """The labels as a tensor; TypeError unless they are of int64."""
    labels = convert_to_tensor_or_sparse_tensor(labels)
    if labels.dtype.base_dtype != dtypes.int64:
        dense = labels if isinstance(labels, Tensor) else labels.values
        raise TypeError(
            f"Types don't match, {dtypes.int64} vs {labels.dtype.base_dtype}: labels are {described(dense)}, and int64 is "
            "wanted: tf.cast(labels, tf.int64) converts them."
        )
    return labels


def _dense(labels: Labels) -> Tensor:
    """The labels of each example in a row; sparse ones are filled with what is no label."""
    labels = _class_numbers(labels)
    if isinstance(labels, Tensor):
        return labels
    whole = SparseTensor(labels.indices, labels.values, labels.dense_shape)
    # Elements of a row may stand in any order.
    return sparse_tensor_to_dense(whole, _NO_LABEL, validate_indices=False)


def _hits(labels: Labels, chosen: TensorLike, class_id: int | None) -> tuple[Tensor, Tensor, Tensor]:
    """For each example how many chosen classes are labels, how many are not, and how many labels were not chosen."""
    is_sparse = isinstance(labels, SparseTensor | SparseTensorValue)
    labels, chosen = _dense(labels), convert_to_tensor(chosen)
    rank, chosen_rank = rank_of(labels), rank_of(chosen)
    chosen = cast(chosen, dtypes.int64)
    if rank is not None and chosen_rank is not None and rank == chosen_rank - 1:
        labels = expand_dims(labels, -1)
    same = equal(expand_dims(chosen, -1), expand_dims(labels, -2))
    is_label, is_chosen, is_new = reduce_any(same, -1), reduce_any(same, -2), _is_first(chosen)
    is_label, wanted = logical_and(is_label, is_new), logical_and(logical_not(is_label), is_new)
    counted = logical_and(logical_not(is_chosen), _is_first(labels))
    if is_sparse:
        counted = logical_and(counted, not_equal(labels, _NO_LABEL))
    if class_id is not None:
        of_class = equal(chosen, class_id)
        is_label, wanted = logical_and(is_label, of_class), logical_and(wanted, of_class)
        counted = logical_and(counted, equal(labels, class_id))
    return tuple(  # type: ignore[return-value]
        reduce_sum(cast(each, dtypes.float64), -1) for each in (is_label, wanted, counted)
    )


def _is_first(labels: Tensor) -> Tensor:
    """Whether a class of an example is not there before: one that is there twice counts once."""
    places = range_of(shape_of(labels)[-1])
    is_before = less(expand_dims(places, 0), expand_dims(places, 1))
    same = equal(expand_dims(labels, -1), expand_dims(labels, -2))
    return logical_not(reduce_any(logical_and(same, is_before), -1))


def _nodes_of_rows(labels: Labels, chosen: Tensor) -> int:
    """How many nodes TensorFlow makes to have the labels of each example in a row, and the chosen classes as int64."""
    nodes = 0 if chosen.dtype.base_dtype is dtypes.int64 else 1
    if isinstance(labels, SparseTensor | SparseTensorValue):
        return nodes + 23
    rank, chosen_rank = rank_of(convert_to_tensor(labels)), rank_of(chosen)
    return nodes + 2 if rank is not None and chosen_rank == rank + 1 else nodes


def _total(values: Tensor, weights: TensorLike | None, name: str, nodes: int) -> tuple[Variable, Tensor]:
    """A variable of the weighted sum of values so far, and the operation that adds these.

    Args:
        values: `[...]` float64.
        weights: what each counts; 1 when None.
        name: the variable's.
        nodes: how many nodes TensorFlow makes of the sets that `values` are sizes of.
    """
    if weights is not None:
        is_cast = not isinstance(weights, Tensor) or weights.dtype.base_dtype is not dtypes.float64
        nodes += 64 + is_cast + 2 * (not isinstance(weights, Tensor))
    with get_default_graph().node_count.as_many_as(nodes + 10):
        if weights is not None:
            values = mul(values, broadcast_weights(cast(weights, dtypes.float64), values))
        variable = metric_variable([], dtypes.float64, name)
        return so_far(variable), assign_add(variable, reduce_sum(values))


def _place(k: int | None, class_id: int | None) -> str:
    return f"at_{'k' if k is None else k}" + ("" if class_id is None else f"_class{class_id}")


def _ranked(
    is_recall: bool, labels: Labels, chosen: TensorLike | None, predictions: TensorLike | None, k: int | None,
    class_id: int | None, weights: TensorLike | None, metrics_collections: Collections,
    updates_collections: Collections, name: str | None,
) -> Metric:  # fmt: skip
    place = _place(k, class_id)
    default = f"{'recall' if is_recall else 'precision'}_{place}"
    with metric_scope(name, default, (predictions, labels, weights)) as scope:  # type: ignore[arg-type]
        if chosen is None:
            assert predictions is not None
            assert k is not None
            chosen = top_k(predictions, k).indices
        chosen = convert_to_tensor(chosen)
        with get_default_graph().node_count.as_many_as(_nodes_of_rows(labels, chosen)):
            hits, wrong, missed = _hits(labels, chosen, class_id)
        nodes = _NODES_OF_SETS[isinstance(labels, SparseTensor | SparseTensorValue), class_id is not None]
        right, update_right = _total(hits, weights, f"true_positive_{place}", nodes)
        kind = "negative" if is_recall else "positive"
        other, update_other = _total(missed if is_recall else wrong, weights, f"false_{kind}_{place}", nodes)
        value = truediv(right, add(right, other), name=scope)
        update = truediv(update_right, add(update_right, update_other), name="update")
        return published(value, update, metrics_collections, updates_collections)


def recall_at_k(
    labels: Labels, predictions: TensorLike, k: int, class_id: int | None = None,
    weights: TensorLike | None = None, metrics_collections: Collections = None,
    updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The share of labels that are among the k classes with the greatest predictions.

    Args:
        labels: int64 class numbers, `[..., number of labels]`, sparse where examples have unlike numbers, or, for one label
            each, `[...]`.
        predictions: `[..., classes]` floats.
        k: how many classes are chosen.
        class_id: the only class to look at; all when None.
        weights: a tensor that broadcasts to `labels` without their last dimension.
        metrics_collections, updates_collections: where to add the value and the update operation.
        name: the variable scope.
    """
    return _ranked(True, labels, None, predictions, k, class_id, weights, metrics_collections, updates_collections, name)


def recall_at_top_k(
    labels: Labels, predictions_idx: TensorLike, k: int | None = None, class_id: int | None = None,
    weights: TensorLike | None = None, metrics_collections: Collections = None,
    updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The share of labels that are among the classes that were chosen before.

    Args:
        labels: int64 class numbers, `[..., number of labels]`, sparse where examples have unlike numbers, or, for one label
            each, `[...]`.
        predictions_idx: `[..., k]` int64, the classes that were chosen before, such as tf.nn.top_k's indices.
        k: how many they are, for the metric's name; the last dimension of `predictions_idx` when None.
        class_id: the only class to look at, an int; all when None.
        weights: a tensor that broadcasts to `labels` without their last dimension; each example counts once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        The value, a [] float64 tensor, and a tensor that takes in a batch whenever it is run and gives the value after it.
    """
    return _ranked(True, labels, predictions_idx, None, k, class_id, weights, metrics_collections, updates_collections, name)


def precision_at_k(
    labels: Labels, predictions: TensorLike, k: int, class_id: int | None = None,
    weights: TensorLike | None = None, metrics_collections: Collections = None,
    updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The share of the k classes with the greatest predictions that are labels.

    Args:
        labels: int64 class numbers, `[..., number of labels]`, sparse where examples have unlike numbers, or, for one label
            each, `[...]`.
        predictions: `[..., classes]` floats.
        k: how many classes are chosen.
        class_id: the only class to look at, an int; all when None.
        weights: a tensor that broadcasts to `labels` without their last dimension; each example counts once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        The value, a [] float64 tensor, and a tensor that takes in a batch whenever it is run and gives the value after it.
    """
    return _ranked(False, labels, None, predictions, k, class_id, weights, metrics_collections, updates_collections, name)


def precision_at_top_k(
    labels: Labels, predictions_idx: TensorLike, k: int | None = None, class_id: int | None = None,
    weights: TensorLike | None = None, metrics_collections: Collections = None,
    updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The share of classes that were chosen before that are labels.

    Args:
        labels: int64 class numbers, `[..., number of labels]`, sparse where examples have unlike numbers, or, for one label
            each, `[...]`.
        predictions_idx: `[..., k]` int64, the classes that were chosen before, such as tf.nn.top_k's indices.
        k: how many they are, for the metric's name; the last dimension of `predictions_idx` when None.
        class_id: the only class to look at, an int; all when None.
        weights: a tensor that broadcasts to `labels` without their last dimension; each example counts once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        The value, a [] float64 tensor, and a tensor that takes in a batch whenever it is run and gives the value after it.
    """
    return _ranked(False, labels, predictions_idx, None, k, class_id, weights, metrics_collections, updates_collections, name)


def average_precision_at_k(
    labels: Labels, predictions: TensorLike, k: int, weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The mean over examples of the average precision of the k classes with the greatest predictions.

    An example's average precision is the sum of the precisions among the best i classes, over the i whose class is a label,
    divided by the number of its labels, k at most.

    Args:
        labels: int64 class numbers, `[..., number of labels]`, sparse where examples have unlike numbers, or, for one label
            each, `[...]`; negative ones are none.
        predictions: `[..., classes]` floats.
        k: how many classes are chosen.
        weights: a tensor that broadcasts to `labels` without their last dimension.
        metrics_collections, updates_collections: where to add the value and the update operation.
        name: the name scope.

    Returns:
        The mean, a float64 scalar, and the operation that takes a batch in.

    Raises:
        ValueError: k is less than 1.
    """
    if k < 1:
        raise ValueError(f"Invalid k={k}.")
    with input_scope(name, f"average_precision_{_place(k, None)}", (predictions, labels, weights)) as scope:
        chosen = top_k(predictions, k).indices
        labels = _without_unknown(_class_numbers(labels), shape_of(predictions)[-1])
        return average_precision_at_top_k(chosen, labels, weights, metrics_collections, updates_collections, scope)


def _without_unknown(labels: Tensor | SparseTensor, classes: Tensor) -> Tensor | SparseTensor:
    """The labels with -1, which is none, in place of those that are no class."""
    if isinstance(labels, SparseTensor):
        return SparseTensor(labels.indices, _known(labels.values, classes, 25), labels.dense_shape)
    return _known(labels, classes, 19)


def _known(values: Tensor, classes: Tensor, nodes: int) -> Tensor:
    with get_default_graph().node_count.as_many_as(nodes):
        classes = cast(classes, dtypes.int64)
        is_any_beyond = greater_equal(reduce_max(values), classes)
        kept: Tensor = cond(is_any_beyond, lambda: where_v2(values >= classes, -ones_like(values), values), lambda: values)
    return kept


def average_precision_at_top_k(
    predictions_idx: TensorLike, labels: Labels, weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The mean over examples of the average precision of k classes that were chosen before, as `average_precision_at_k` defines
    it.

    Args:
        predictions_idx: `[..., k]` int64, the classes that were chosen before, the best one first.
        labels: int64 class numbers, `[..., number of labels]`, sparse where examples have unlike numbers, or, for one label
            each, `[...]`.
        weights: a tensor that broadcasts to `labels` without their last dimension; each example counts once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        The value, a [] float64 tensor, and a tensor that takes in a batch whenever it is run and gives the value after it.

    Raises:
        ValueError: k, the last dimension of `predictions_idx`, is not known.
    """
    with input_scope(name, "average_precision_at_top_k", (predictions_idx, labels, weights)) as scope:
        graph = get_default_graph()
        chosen = convert_to_tensor(predictions_idx)
        nodes = _nodes_of_rows(labels, chosen) + (36 if isinstance(labels, SparseTensor | SparseTensorValue) else 47)
        with graph.node_count.as_many_as(nodes):
            each = _average_precisions(labels, chosen)
        factors = None
        if weights is not None:
            is_cast = not isinstance(weights, Tensor) or weights.dtype.base_dtype is not dtypes.float64
            with graph.node_count.as_many_as(68 + is_cast + (not isinstance(weights, Tensor))):
                factors = broadcast_weights(cast(weights, dtypes.float64), each)
                each = mul(each, factors)
        with graph.name_scope("max") as part:
            most = metric_variable([], dtypes.float64, part)
            with graph.node_count.as_many_as(3 if factors is None else 6):
                number = cast(size(each), dtypes.float64) if factors is None else reduce_sum(factors)
                update_most = assign_add(most, number, name="update")
        with graph.name_scope("total") as part:
            total = metric_variable([], dtypes.float64, part)
            with graph.node_count.as_many_as(6):
                update_total = assign_add(total, reduce_sum(each, name="batch_total"), name="update")
        value = div_no_nan(so_far(total), so_far(most), name="mean")
        update = div_no_nan(update_total, update_most, name=scope)
        return published(value, update, metrics_collections, updates_collections)


def _average_precisions(labels: Labels, predictions_idx: TensorLike) -> Tensor:
    is_sparse = isinstance(labels, SparseTensor | SparseTensorValue)
    labels, chosen = _dense(labels), cast(predictions_idx, dtypes.int64)
    if not chosen.dims:
        raise ValueError("The rank of predictions_idx must be at least 1.")
    k = chosen.dims[-1]
    if k is None:
        raise ValueError("The last dimension of predictions_idx must be set.")
    if rank_of(labels) == len(chosen.dims) - 1:
        labels = expand_dims(labels, -1)
    is_label = cast(reduce_any(equal(expand_dims(chosen, -1), expand_dims(labels, -2)), -1), dtypes.float64)
    precisions = truediv(cumsum(is_label, axis=-1), range_of(1.0, k + 1.0, dtype=dtypes.float64))
    # As in TensorFlow, sparse labels count as sets, negative ones too, and dense ones each.
    is_relevant = logical_and(not_equal(labels, _NO_LABEL), _is_first(labels)) if is_sparse else greater_equal(labels, 0)
    relevant = minimum(reduce_sum(cast(is_relevant, dtypes.float64), -1), float(k))
    return truediv(reduce_sum(mul(precisions, is_label), -1), relevant)


def recall_of_one_at_k(
    predictions: TensorLike, labels: TensorLike, k: int, weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """How often the one label `[batch]` of an example is among the k classes with the greatest predictions.

    Args:
        predictions: `[batch, classes]` float32.
        labels: `[batch]` int32 or int64, the number of the right class.
        k: how many classes are chosen.
        weights: a tensor that broadcasts to `[batch]`; each example counts once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        The value, a [] float32 tensor, and a tensor that takes in a batch whenever it is run and gives the value after it.
        Their variables are local ones: `tf.local_variables_initializer()` sets them to 0.
    """
    hits = as_float(in_top_k(predictions, labels, k))
    return mean(hits, weights, metrics_collections, updates_collections, name or f"recall_{_place(k, None)}")
