"""Losses of a batch: each is weighted, reduced to a scalar, and added to a collection that training sums up.

Labels and predictions (or logits) are of one shape, `[batch, ...]`, unless a loss says otherwise. Weights are a scalar, or of
the losses' rank with each dimension 1 or the losses' own. With `Reduction.NONE` the result has the losses' shape, else it is
a scalar.
"""

from __future__ import annotations

from typing import Final

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.node_errors import naming
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.weights_broadcast import assert_broadcastable, broadcast_weights
from weft.ops.array.constant import constant
from weft.ops.array.filling import ones_like, zeros_like
from weft.ops.array.ranges import range_of
from weft.ops.array.selection import select_node
from weft.ops.array.shape_ops import rank, size_internal
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal
from weft.ops.math.division import div_no_nan
from weft.ops.math.elementwise import add_n, mul
from weft.ops.math.reduce_functions import reduce_sum


class Reduction:
    """The ways in which the losses of the elements become one number."""

    NONE: Final = "none"
    SUM: Final = "weighted_sum"
    SUM_OVER_BATCH_SIZE: Final = "weighted_sum_over_batch_size"
    MEAN: Final = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS: Final = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS: Final = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All of them; the last two are names of one."""
        return (
            cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS, cls.SUM_BY_NONZERO_WEIGHTS,
        )  # fmt: skip

    @classmethod
    def validate(cls, key: str) -> None:
        """Check that a key is one of them.

        Args:
            key: a way of reducing losses.

        Raises:
            ValueError: it is none.
        """
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}. Keys are {', '.join(sorted(set(cls.all())))}.")


DEFAULT_REDUCTION: Final = Reduction.SUM_BY_NONZERO_WEIGHTS
# The key of a collection that is not exported: the reduction of the graph's last loss.
_LAST_REDUCTION: Final = ("weft last loss reduction",)


def last_reduction() -> str | None:
    """The reduction of the last loss that was made in the default graph; None before the first."""
    found = get_default_graph().get_collection(_LAST_REDUCTION)  # type: ignore[arg-type]
    return found[0] if found else None


# The collection.


def add_loss(loss: Tensor, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Add a loss to a collection, unless that is None.

    Args:
        loss: the loss, usually a [] float tensor; nothing checks it.
        loss_collection: the collection's name.
    """
    if loss_collection:
        get_default_graph().add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = GraphKeys.LOSSES) -> list[Tensor]:
    """The losses of the collection whose names begin with `scope`.

    Args:
        scope: a regular expression that names must match from their start; all losses when None.
        loss_collection: the collection's name.

    Returns:
        A new list, in the order in which the losses were added.
    """
    return get_default_graph().get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Tensor]:
    """The regularization losses whose names begin with `scope`.

    Args:
        scope: a regular expression that names must match from their start; all when None.

    Returns:
        A new list, in the order in which the losses were added.
    """
    return get_default_graph().get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope: str | None = None, name: str = "total_regularization_loss") -> Tensor:
    """The sum of the regularization losses, 0.0 when there are none.

    Args:
        scope: a regular expression that the losses' names must match from their start; all when None.
        name: the name of the sum.

    Returns:
        A [] tensor of the losses' type; float32 when there are none.
    """
    found = get_regularization_losses(scope)
    return add_n(found, name=name) if found else constant(0.0)


def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None) -> Tensor:
    """The sum of the losses in the collection and, if asked for, of the regularization losses.

    Args:
        add_regularization_losses: whether the losses in the collection REGULARIZATION_LOSSES are added too.
        name: the name of the sum.
        scope: a regular expression that the losses' names must match from their start; all when None.

    Returns:
        A [] tensor of the losses' type.

    Raises:
        ValueError: there are no losses.
    """
    found = get_losses(scope=scope)
    if add_regularization_losses:
        found += get_regularization_losses(scope=scope)
    if not found:
        raise ValueError(
            "inputs must be a list of at least one Tensor/IndexedSlices with the same dtype and shape; the graph has no "
            f"losses{f' in the scope {scope!r}' if scope else ''}: functions of tf.losses add theirs, tf.losses.add_loss "
            "any other."
        )
    return add_n(found, name=name)


# Weighting and reduction.


def _safe_mean(losses: Tensor, count: Tensor) -> Tensor:
    return div_no_nan(reduce_sum(losses), count, name="value")


def _num_elements(losses: Tensor) -> Tensor:
    with input_scope(None, "num_elements", (losses,)) as scope:
        return cast(size_internal(losses, name=scope), losses.dtype.base_dtype)


def num_present(losses: Tensor, weights: TensorLike, per_batch: bool = False) -> Tensor:
    """The number of elements with a weight that is not zero, in all or per example."""
    with input_scope(None, "num_present", (losses, weights)) as scope:
        weights = cast(weights, dtypes.float32)
        present = select_node(equal(weights, 0.0), zeros_like(weights), ones_like(weights))
        present = broadcast_weights(present, losses)
        if per_batch:
            return reduce_sum(present, range_of(1, rank(present)), keepdims=True, name=scope)
        return reduce_sum(present, name=scope)


def compute_weighted_loss(
    losses: TensorLike, weights: TensorLike = 1.0, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = DEFAULT_REDUCTION,
) -> Tensor:  # fmt: skip
    """The weighted losses, reduced.

    Args:
        losses: `[batch, ...]`, one loss per element.
        weights: a scalar, or a tensor of the same rank with each dimension 1 or that of the losses.
        scope: the name scope.
        loss_collection: where the result is added; nowhere when None.
        reduction: one of Reduction.

    Raises:
        ValueError: the reduction is unknown, or the weights cannot be broadcast to the losses.
    """
    Reduction.validate(reduction)
    with input_scope(scope, "weighted_loss", (losses, weights)):
        checked = assert_broadcastable(weights, losses)
        with get_default_graph().control_dependencies([checked]):
            losses = convert_to_tensor(losses)
            kind = losses.dtype.base_dtype
            values, factors = cast(losses, dtypes.float32), cast(weights, dtypes.float32)
            loss = _reduced(mul(values, factors), values, factors, reduction)
            loss = cast(loss, kind)
            add_loss(loss, loss_collection)
            get_default_graph().get_collection_ref(_LAST_REDUCTION)[:] = [reduction]  # type: ignore[arg-type]
            return loss


def _reduced(weighted: Tensor, losses: Tensor, weights: Tensor, reduction: str) -> Tensor:
    if reduction == Reduction.NONE:
        return weighted
    total = reduce_sum(weighted)
    if reduction == Reduction.MEAN:
        return _safe_mean(total, reduce_sum(ones_like(losses) * weights))
    if reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
        return _safe_mean(total, num_present(losses, weights))
    if reduction == Reduction.SUM_OVER_BATCH_SIZE:
        return _safe_mean(total, _num_elements(losses))
    return total


def check_given(**values: object) -> None:
    for name, value in values.items():
        if value is None:
            meant = (
                " An Estimator calls model_fn without labels to predict: make the loss after `if mode == "
                "tf.estimator.ModeKeys.PREDICT: return ...`, and let input_fn return them in the other modes."
                if name.endswith("labels")
                else ""
            )
            raise ValueError(f"{name} must not be None.{meant}")


ONE_SHAPE: Final = (
    "Both need one shape: a column [batch, 1] becomes a row by tf.squeeze(x, 1), and a row a column by tf.expand_dims(x, 1)."
)


def both_as_floats(predictions: TensorLike, labels: TensorLike) -> tuple[Tensor, Tensor]:
    """Both as float32, of compatible shapes."""
    first: Tensor = cast(predictions, dtypes.float32)
    second: Tensor = cast(labels, dtypes.float32)
    with naming(ONE_SHAPE, labels=labels, predictions=predictions):
        first.shape.assert_is_compatible_with(second.shape)
    return first, second
