"""The parts of metrics: local variables that sum up over runs, a value computed of them, and an update operation.

A metric function returns `(value, update_op)`: running `update_op` takes another batch in and gives the value with it, `value`
is the value of the batches taken in so far, both scalars unless the metric says otherwise. The variables are local ones:
`local_variables_initializer` sets them to zero.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from weft.framework.building.aliases import Collections, DTypeLike, TensorLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.context import replication
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.node_errors import naming
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.metrics.confusion_matrix import remove_squeezable_dimensions
from weft.models.weights_broadcast import aligned_weights, broadcast_weights
from weft.ops.array.filling import zeros
from weft.ops.math.casting import cast
from weft.ops.variables.options import VariableAggregation, VariableSynchronization
from weft.ops.variables.variable import Variable
from weft.ops.variables.variable_scope import variable_scope

Metric = tuple[Tensor, Tensor]


@contextlib.contextmanager
def metric_scope(name: str | None, default: str, inputs: Sequence[TensorLike | None]) -> Iterator[str]:
    """The variable scope of a metric, in its inputs' graph; gives the name scope."""
    with variable_scope(name, default, [each for each in inputs if each is not None]) as scope:
        yield scope.original_name_scope


def metric_variable(shape: Sequence[int | None], dtype: DTypeLike, name: str | None, validate_shape: bool = True) -> Variable:
    """A local variable of zeros that a metric sums up in; replicas have one each, and their values are sums too."""
    return Variable(
        lambda: zeros(shape, dtype), trainable=False, validate_shape=validate_shape, name=name, dtype=dtype,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        synchronization=VariableSynchronization.ON_READ, aggregation=VariableAggregation.SUM,
    )  # fmt: skip


def so_far(variable: VariableLike) -> VariableLike:
    """What a metric's variable has summed up, over all replicas where a strategy builds several; else the variable."""
    replica = replication.current_replica()
    if replica is None:
        return variable
    return replica.merge_call(lambda strategy, whole: convert_to_tensor(whole), args=(variable,))


def _of_all_replicas(value: Tensor) -> Tensor:
    """The value of the first replica, where a strategy builds several of one value."""
    replica = replication.current_replica()
    if replica is None:
        return value
    first: Tensor = replica.merge_call(lambda strategy, values: strategy.unwrap(values)[0], args=(value,))
    return first


def published(value: Tensor, update: Tensor, metrics_collections: Collections, updates_collections: Collections) -> Metric:
    """The metric, after its parts were added to the collections named."""
    value, graph = _of_all_replicas(value), get_default_graph()
    for names, item in ((metrics_collections, value), (updates_collections, update)):
        if names:
            graph.add_to_collections(names, item)
    return value, update


def as_float(value: TensorLike) -> Tensor:
    """The value as float32."""
    return cast(value, dtypes.float32)


def aligned(predictions: TensorLike, labels: TensorLike, weights: TensorLike | None) -> tuple[Tensor, Tensor, Tensor | None]:
    """Predictions, labels and weights, the last dimension dropped where one has it, of size 1, and the others have not."""
    predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
    labels, predictions = remove_squeezable_dimensions(labels, predictions)
    with naming(
        "Both need one shape: tf.expand_dims, tf.squeeze and tf.reshape bring them together.",
        labels=labels,
        predictions=predictions,
    ):
        predictions.shape.assert_is_compatible_with(labels.shape)
    return predictions, labels, None if weights is None else aligned_weights(weights, predictions)


def float_weights(weights: TensorLike, values: Tensor) -> Tensor:
    """The weights as float32, in the shape of the values."""
    return broadcast_weights(as_float(aligned_weights(weights, values)), values)
