"""Weights of losses and metrics: scalars, or tensors of the values' rank with each dimension 1 or the values' own."""

from __future__ import annotations

from typing import Final

import numpy as np

from weft.framework.building.aliases import Array, ArrayModule, Nest, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.node_errors import naming
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.array.filling import ones_like
from weft.ops.array.padding import pad_v2
from weft.ops.array.shape_ops import expand_dims, rank, shape, size, squeeze
from weft.ops.control_flow.assertion import assert_that
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.ordering import no_op
from weft.ops.declaration import not_differentiable, op, scalar_shape
from weft.ops.input_scope import input_scope
from weft.ops.math.comparison import equal, logical_or, maximum
from weft.ops.math.elementwise import mul
from weft.ops.math.reduce_functions import reduce_all
from weft.ops.tensorflow_forms.form import form

_PREFIX: Final = "weights can not be broadcast to values."
_WEIGHTS_FIT: Final = "Weights are a scalar, or have the rank of the values and in each dimension their size or 1."

# Of TensorFlow's check in the step, inside of conditions, beside shapes and ranks: later seeds go by the count.
_CHECKED: Final = 59


@op("WeightsFit", "weights_shape: int32, values_shape: int32 -> fits: bool", infer=scalar_shape, gradient=not_differentiable)
def weights_fit(xp: ArrayModule, weights_shape: Array, values_shape: Array) -> Result:
    """Whether weights of a shape can be broadcast to values of another, for ranks that are not known before.

    `[rank] int32, [values_rank] int32 -> scalar bool`
    """
    if weights_shape.shape[0] == 0:
        return np.True_
    if weights_shape.shape != values_shape.shape:
        return np.False_
    return xp.all((weights_shape == 1) | (weights_shape == values_shape))


@form(weights_fit)
def _fit_in_tensorflow(node: Operation, weights_shape: Tensor, values_shape: Tensor) -> Tensor:
    ranks = [size(weights_shape), size(values_shape)]
    # What is put behind the shorter one fits nothing.
    longer = maximum(*ranks)
    mine = pad_v2(weights_shape, [[0, longer - ranks[0]]], -1)
    theirs = pad_v2(values_shape, [[0, longer - ranks[1]]], -2)
    all_fit = reduce_all(logical_or(equal(mine, 1), equal(mine, theirs)))
    return logical_or(equal(ranks[0], 0), all_fit)


def assert_broadcastable(weights: TensorLike, values: TensorLike) -> Operation:
    """An operation that fails unless the weights can be broadcast to the values; one that does nothing when it is known.

    Raises:
        ValueError: the shapes are known not to fit.
    """
    with input_scope(None, "assert_broadcastable", (weights, values)) as scope:
        with input_scope(None, "weights", (weights,)) as part:
            weights = convert_to_tensor(weights, name=part)
            weights_shape = shape(weights, name="shape")
            rank(weights, name="rank")
        with input_scope(None, "values", (values,)) as part:
            values = convert_to_tensor(values, name=part)
            values_shape = shape(values, name="shape")
            rank(values, name="rank")
        of_weights, of_values = weights.dims, values.dims
        before = get_default_graph().node_count.total
        if of_weights == ():
            return no_op(name="static_scalar_check_success")
        if of_weights is None or of_values is None:
            fits = weights_fit(weights_shape, values_shape, name="is_valid_shape")
        else:
            with naming(_WEIGHTS_FIT, weights=weights, values=values):
                _check_ranks(weights, values)
            if constant_value(weights_shape) is not None and constant_value(values_shape) is not None:
                with naming(_WEIGHTS_FIT, weights=weights, values=values):
                    _check_sizes(of_weights, of_values)
                return no_op(name="static_dims_check_success")
            fits = reduce_all(logical_or(equal(weights_shape, 1), equal(weights_shape, values_shape)), name="is_valid_shape")
        data = [_PREFIX, "weights.shape=", weights.name, weights_shape, "values.shape=", values.name, values_shape]
        made = assert_that(fits, data, name=scope)
        get_default_graph().node_count.total = before + _CHECKED
        return made


def _check_ranks(weights: Tensor, values: Tensor) -> None:
    if len(weights.dims) != len(values.dims):  # type: ignore[arg-type]
        raise ValueError(
            f"{_PREFIX} values.rank={values.shape.ndims}. weights.rank={weights.shape.ndims}. "
            f"values.shape={values.shape}. weights.shape={weights.shape}."
        )


def _check_sizes(weights: tuple[int | None, ...], values: tuple[int | None, ...]) -> None:
    for index, (mine, whole) in enumerate(zip(weights, values, strict=True)):
        if mine not in (1, whole):
            raise ValueError(
                f"{_PREFIX} Mismatch at dim {index}. values.shape={np.array(values)} weights.shape={np.array(weights)}."
            )


def broadcast_weights(weights: TensorLike, values: TensorLike) -> Tensor:
    """The weights in the shape of the values, after `assert_broadcastable`."""
    with input_scope(None, "broadcast_weights", (weights, values)) as scope:
        values = convert_to_tensor(values, name="values")
        weights = convert_to_tensor(weights, values.dtype.base_dtype, name="weights")
        if weights.shape.is_fully_defined() and weights.dims == values.dims:
            return weights
        with get_default_graph().control_dependencies([assert_broadcastable(weights, values)]):
            return mul(weights, ones_like(values), name=scope)


def aligned_weights(weights: TensorLike, values: Tensor) -> Tensor:
    """Weights of the values' rank where one dimension, of size 1, tells them apart."""
    weights = convert_to_tensor(weights)
    if weights.dims == ():
        return weights
    if weights.dims is None or values.dims is None:
        return _aligned_when_run(weights, values)
    difference = len(weights.dims) - len(values.dims)
    if difference == 1 and weights.dims[-1] in (None, 1):
        return squeeze(weights, [-1])
    return expand_dims(weights, -1) if difference == -1 else weights


def _aligned_when_run(weights: Tensor, values: Tensor) -> Tensor:
    """As `aligned_weights`, of ranks that only a run knows."""
    weights_rank = rank(weights)
    difference = weights_rank - rank(values)

    def of_some_rank() -> Nest:
        return cond(equal(difference, 1), one_more, one_less)

    def one_more() -> Tensor:
        # What cannot be dropped stays, for the check of the shapes to tell.
        return weights if weights.dims is not None and weights.dims[-1] not in (None, 1) else squeeze(weights, [-1])

    def one_less() -> Nest:
        return cond(equal(difference, -1), lambda: expand_dims(weights, -1), lambda: weights)

    same_rank: Tensor = cond(equal(weights_rank, 0), lambda: weights, of_some_rank)
    return same_rank
