"""What heads take: labels, logits and weights, checked against each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from weft.estimators.aliases import Features
from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.compat.function_signatures import fn_args
from weft.framework.composites.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.node_errors import REMEDY, described
from weft.framework.nodes.operation import Tensor
from weft.models.feature_columns.numeric import NumericColumn, numeric_column
from weft.models.feature_columns.scope_state import ScopeStateManager
from weft.models.feature_columns.transformation_cache import FeatureTransformationCache
from weft.ops.array.identity import identity
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import expand_dims, shape
from weft.ops.control_flow.assertion import assert_that
from weft.ops.debugging.checks import assert_equal, assert_less_equal, assert_non_negative
from weft.ops.debugging.rank_checks import assert_rank_at_least
from weft.ops.math.casting import cast, to_float
from weft.ops.math.comparison import equal, logical_or
from weft.ops.math.reduce_functions import reduce_all

# Takes `labels`, `logits` and perhaps `features`; returns a loss for each example.
LossFn: TypeAlias = Callable[..., Tensor]


def checked_labels(labels: Nest, logits: Tensor, dimension: int) -> Tensor:
    """Labels of shape `[..., dimension]`, which logits have but for the last; rank one less gets a last dimension.

    Raises:
        ValueError: there are no labels, they are sparse, or have another shape.
    """
    if labels is None:
        raise ValueError(
            "You must provide a labels Tensor. Given: None. Suggested troubleshooting steps: Check that your data contain your "
            "label feature. Check that your input_fn properly parses and returns labels."
        )
    with get_default_graph().name_scope("labels") as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            raise ValueError(
                f"SparseTensor labels are not supported. labels must be a Tensor of shape [D0, D1, ..., DN, {dimension}], e.g. "
                f"[batch_size, {dimension}]. Suggested Fix (1): Check the label feature in your data. Each example must "
                f"contain {dimension} value(s). If not, your choice of label was probably incorrect. Suggested Fix (2): In "
                "your input_fn, use tf.sparse_tensor_to_dense() to turn labels into a Tensor."
            )
        given: Tensor = labels
        rank, logits_rank = labels.shape.ndims, logits.shape.ndims
        if rank is not None and logits_rank is not None and rank == logits_rank - 1:
            labels = expand_dims(labels, -1)
        _check_last_dimension(labels, dimension)
        wanted = concat([shape(logits)[:-1], [dimension]], axis=0)
        message = (
            f"labels shape must be [D0, D1, ... DN, {dimension}]. Suggested Fix: check your n_classes argument to the "
            f"estimator and/or the shape of your label.\n  labels: {described(given)}\n  logits: {described(logits)}"
        )
        checks = [
            assert_rank_at_least(labels, 2, message=message),
            assert_equal(
                wanted,
                shape(labels),
                data=["expected_labels_shape: ", wanted, "labels_shape: ", shape(labels)],
                message=message,
            ),
        ]
        with get_default_graph().control_dependencies(checks):
            return identity(labels, name=scope)


def _check_last_dimension(labels: Tensor, dimension: int) -> None:
    found = labels.dims[-1] if labels.dims else None
    if found is not None and found != dimension:
        raise ValueError(
            f"Mismatched label shape. Expected labels dimension={dimension}.  Received {found}. Suggested Fix:If your "
            "classifier expects one-hot encoding label,check your n_classes argument to the estimator and/or the shape of your "
            "label. Otherwise, check the shape of your label."
        )


def checked_logits(logits: TensorLike, dimension: int) -> Tensor:
    """Logits as float32 `[..., dimension]`.

    Raises:
        ValueError: the last dimension is another one.
    """
    message = "logits shape must be [D0, D1, ... DN, logits_dimension]"
    with get_default_graph().name_scope("logits") as scope:
        logits = to_float(logits)
        checks = [assert_rank_at_least(logits, 2, data=[shape(logits)], message=message)]
        found = logits.dims[-1] if logits.dims else None
        if found is not None and found != dimension:
            raise ValueError(f"{message}, got {logits.shape}.")
        if found is None:
            checks.append(assert_equal(dimension, shape(logits)[-1], data=[shape(logits)], message=message))
        with get_default_graph().control_dependencies(checks):
            return logits if found is not None else identity(logits, name=scope)


def checked_weights(
    features: Features, weight_column: str | NumericColumn | None, logits: Tensor, per_logit: bool = False
) -> Tensor | float:
    """The weight of each example, `[..., 1]` with the logits' other dimensions, or of each logit; 1.0 without a column.

    Raises:
        TypeError: the column is neither a name nor a numeric column.
    """
    if weight_column is None:
        return 1.0
    if isinstance(weight_column, str):
        weight_column = numeric_column(weight_column)
    if not isinstance(weight_column, NumericColumn):
        raise TypeError(f"Weight column must be either a string or _NumericColumn. Given type: {type(weight_column)}.")
    message = f"weights shape must be [D0, D1, ... DN]{',' if per_logit else ' or'} [D0, D1, ... DN, 1]"
    message += " or [D0, D1, ... DN, logits_dimension]" if per_logit else ""
    graph = get_default_graph()
    with graph.name_scope("weights") as scope:
        weights = weight_column.get_dense_tensor(FeatureTransformationCache(features), ScopeStateManager(None, False))
        weights = to_float(weights, name="weights")
        found, logits_shape = shape(weights, name="weights_shape"), shape(logits, name="logits_shape")
        data = ["logits_shape: ", logits_shape, "weights_shape: ", found]
        if weights.shape.ndims is not None and weights.shape.ndims == (logits.shape.ndims or 0) - 1:
            with graph.control_dependencies([assert_equal(logits_shape[:-1], found, data=data, message=message)]):
                return expand_dims(weights, -1, name=scope)
        one_each = concat([logits_shape[:-1], [1]], axis=0)
        if per_logit:
            fits = logical_or(reduce_all(equal(logits_shape, found)), reduce_all(equal(one_each, found)))
            check = assert_that(fits, [message, *data])
        else:
            check = assert_equal(one_each, found, data=data, message=message)
        with graph.control_dependencies([check]):
            return identity(weights, name=scope)


def checked_range(labels: Tensor, n_classes: int, vocabulary: Sequence[object] | None = None) -> Tensor:
    """Labels that are class numbers; a run with others fails.

    Args:
        labels: the numbers.
        n_classes: how many classes there are.
        vocabulary: the names that they have been found by, if they were names.
    """
    told = f"Labels are the numbers of {n_classes} classes, from 0 to {n_classes - 1}."
    if vocabulary:
        told = f"A label that label_vocabulary lacks is -1; it has {', '.join(map(repr, vocabulary))}."
    graph = get_default_graph()
    with graph.name_scope("assert_range"):
        most = convert_to_tensor(n_classes - 1, dtype=labels.dtype)
        checks = [
            assert_less_equal(labels, most, message="Labels must <= n_classes - 1"),
            assert_non_negative(labels, message="Labels must >= 0"),
        ]
        for check in checks:
            check._set_attr(REMEDY, told)
        with graph.control_dependencies(checks):
            return identity(labels)


def check_loss_fn(loss_fn: LossFn) -> None:
    """Raise ValueError unless a loss function takes labels and logits, and nothing else but features."""
    taken = fn_args(loss_fn)
    for name in ("labels", "logits"):
        if name not in taken:
            raise ValueError(f"loss_fn must contain argument: {name}. Given arguments: {taken}")
    others = sorted(set(taken) - {"labels", "logits", "features"})
    if others:
        raise ValueError(f"loss_fn has unexpected args: {others}")


def called_loss_fn(loss_fn: LossFn, labels: Tensor, logits: Tensor, features: Features, dimension: int = 1) -> Tensor:
    """The losses of a program's function, `[..., dimension]`; a run in which they have another shape fails."""
    graph = get_default_graph()
    with graph.name_scope("call_loss_fn"):
        further = {"features": features} if "features" in fn_args(loss_fn) else {}
        loss = loss_fn(labels=labels, logits=logits, **further)
        logits_shape = shape(logits, name="logits_shape")
        wanted = concat([logits_shape[:-1], [dimension]], axis=0, name="expected_loss_shape")
        found = shape(loss, name="loss_shape")
        message = f"loss_fn must return Tensor of shape [D0, D1, ... DN, {dimension}]. "
        check = assert_that(
            reduce_all(equal(found, wanted)), [message, "logits_shape: ", logits_shape, "loss_shape: ", found],
            name="check_loss_shape",
        )  # fmt: skip
        with graph.control_dependencies([check]):
            return identity(loss)


def as_floats(labels: Tensor) -> Tensor:
    """Labels as float32."""
    return cast(labels, "float32")
