"""What programs make metrics of their own of: the helpers of TensorFlow's metrics, with its arguments and their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.framework.building.aliases import Collections, DTypeLike, TensorLike, VariableLike
from weft.framework.context import replication
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.models.metrics import state
from weft.models.metrics.state import Metric
from weft.models.metrics.thresholds import Counts, counts_at
from weft.models.metrics.top_k import Labels, average_precision_at_top_k
from weft.ops.math.division import div_no_nan
from weft.ops.variables.variable import Variable


def metric_variable(
    shape: Sequence[int | None], dtype: DTypeLike, validate_shape: bool = True, name: str | None = None
) -> Variable:
    """A local variable of zeros that a metric sums up in.

    Args:
        shape: its shape.
        dtype: its type.
        validate_shape: whether values of other shapes are refused.
        name: its name.
    """
    return state.metric_variable(shape, dtype, name, validate_shape)


def aggregate_across_replicas(
    metrics_collections: Collections, metric_value_fn: Callable[..., Tensor], *args: VariableLike
) -> Tensor:
    """The value of a metric over all replicas where a strategy builds several, added to collections.

    Args:
        metrics_collections: the collections; none when None.
        metric_value_fn: makes the value, of a strategy and `args`.
        args: what the metric has summed up.
    """
    replica = replication.current_replica()
    value = metric_value_fn(None, *args) if replica is None else replica.merge_call(metric_value_fn, args=args)
    if metrics_collections:
        get_default_graph().add_to_collections(metrics_collections, value)
    return value


def aggregate_variable(v: VariableLike, collections: Collections) -> VariableLike:
    """What a metric's variable has summed up over all replicas, added to collections.

    Args:
        v: the variable.
        collections: the collections; none when None.
    """
    value = state.so_far(v)
    if collections:
        get_default_graph().add_to_collections(collections, value)
    return value


def safe_scalar_div(numerator: TensorLike, denominator: TensorLike, name: str) -> Tensor:
    """The quotient, 0 where the denominator is 0.

    Args:
        numerator: the dividend.
        denominator: the divisor.
        name: the node's name.
    """
    return div_no_nan(numerator, denominator, name=name)


def confusion_matrix_at_thresholds(
    labels: TensorLike, predictions: TensorLike, thresholds: Sequence[float], weights: TensorLike | None = None,
    includes: Sequence[str] | None = None,
) -> tuple[Counts, Counts]:  # fmt: skip
    """The numbers of right and wrong decisions at each threshold.

    Args:
        labels: booleans, or numbers that are true unless they are 0.
        predictions: floats from 0 to 1, of the labels' shape.
        thresholds: what a prediction must exceed to be positive.
        weights: what each prediction counts; 1 when None.
        includes: which of "tp", "fn", "tn" and "fp" are wanted; all when None.

    Returns:
        The counts so far by kind, and the operations that take the batch in.

    Raises:
        ValueError: an unknown kind.
    """
    kinds = ("tp", "fn", "tn", "fp")
    for each in includes or ():
        if each not in kinds:
            raise ValueError(f"Invalid key: {each}.")
    return counts_at(labels, predictions, thresholds, weights, tuple(includes) if includes else kinds)  # type: ignore[arg-type]


def streaming_sparse_average_precision_at_top_k(
    labels: Labels, predictions_idx: TensorLike, weights: TensorLike | None = None, metrics_collections: Collections = None,
    updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """As `average_precision_at_top_k`, with the labels first.

    Args:
        labels: int64 class numbers, `[..., number of labels]`.
        predictions_idx: `[..., k]` int64 classes, the best one first.
        weights: what each example counts; 1 when None.
        metrics_collections, updates_collections: where to add the value and the update operation.
        name: the variable scope.
    """
    return average_precision_at_top_k(predictions_idx, labels, weights, metrics_collections, updates_collections, name)
