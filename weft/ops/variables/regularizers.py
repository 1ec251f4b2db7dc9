"""Penalties on the size of weights, as functions that `get_variable` and variable scopes take as regularizers."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence

from weft.framework.building.aliases import Regularizer, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.ops.array.constant import constant
from weft.ops.input_scope import input_scope
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.elementwise import add_n, mul
from weft.ops.math.norms import l2_loss
from weft.ops.math.reduce_functions import reduce_sum
from weft.platform.logs import tf_logging


def l1_regularizer(scale: float, scope: str | None = None) -> Regularizer:
    """`scale` times the sum of the weights' magnitudes; it makes weights zero.

    Args:
        scale: a float, zero or greater; zero disables the penalty.
        scope: the name scope.

    Raises:
        ValueError: `scale` is negative or an integer.
    """
    return _scaled("l1", scale, lambda weights: reduce_sum(absolute(weights)), scope)


def l2_regularizer(scale: float, scope: str | None = None) -> Regularizer:
    """`scale` times half the sum of the weights' squares; it keeps weights small. See `l1_regularizer`.

    Args:
        scale: a number that is not negative; with 0.0 there is no penalty.
        scope: the name scope of the penalty.

    Returns:
        A function of the weights, which returns a scalar tensor or None.

    Raises:
        ValueError: the scale is negative or no number.
    """
    return _scaled("l2", scale, l2_loss, scope)


def _scaled(kind: str, scale: float, penalty: Callable[[VariableLike], Tensor], scope: str | None) -> Regularizer:
    if isinstance(scale, str | bytes):
        raise TypeError(f"{kind}_regularizer: scale is {scale!r}, a text; it takes a number.")
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"scale cannot be an integer: {scale}")
    if isinstance(scale, numbers.Real) and float(scale) < 0.0:
        raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale:g}")
    if isinstance(scale, numbers.Real) and float(scale) == 0.0:
        tf_logging.info("Scale of 0 disables regularizer.")
        return lambda weights: None

    def regularizer(weights: VariableLike, name: str | None = None) -> Tensor | None:
        with input_scope(scope, f"{kind}_regularizer", (weights,)) as full_name:
            factor = convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return mul(factor, penalty(weights), name=full_name)

    return regularizer


def l1_l2_regularizer(scale_l1: float = 1.0, scale_l2: float = 1.0, scope: str | None = None) -> Regularizer | None:
    """The sum of both penalties; one alone where the other's scale is 0.

    Args:
        scale_l1, scale_l2: numbers that are not negative.
        scope: the name scope of the penalty.

    Raises:
        ValueError: a scale is an int, or it is negative.
    """
    for scale in (scale_l1, scale_l2):
        if isinstance(scale, numbers.Integral):
            raise ValueError(f"scale cannot be an integer: {scale}")
    scope = scope or "l1_l2_regularizer"
    if scale_l1 == 0.0:
        return l2_regularizer(scale_l2, scope)
    if scale_l2 == 0.0:
        return l1_regularizer(scale_l1, scope)
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope=scope)


def sum_regularizer(regularizer_list: Sequence[Regularizer | None], scope: str | None = None) -> Regularizer | None:
    """The sum of several penalties; None when there is none.

    Args:
        regularizer_list: functions of a variable's value that return a scalar, and None, which is passed over.
        scope: the name scope of the penalty.
    """
    given = [each for each in regularizer_list if each is not None]
    if not given:
        return None

    def regularizer(weights: VariableLike) -> Tensor | None:
        with input_scope(scope, "sum_regularizer", (weights,)) as name:
            penalties = [penalty for penalty in (each(weights) for each in given) if penalty is not None]
            return add_n(penalties, name=name) if penalties else None

    return regularizer


def apply_regularization(regularizer: Regularizer, weights_list: Sequence[VariableLike] | None = None) -> Tensor:
    """The sum of the penalties of some weights, added to the collection REGULARIZATION_LOSSES.

    Args:
        regularizer: gives a scalar or None for each.
        weights_list: the weights; those of the collection WEIGHTS when None.

    Raises:
        ValueError: there are no weights, or a penalty is no scalar.
    """
    graph = get_default_graph()
    weights = graph.get_collection(GraphKeys.WEIGHTS) if weights_list is None else list(weights_list)
    if not weights:
        raise ValueError("No weights to regularize.")
    with input_scope(None, "get_regularization_penalty", weights) as scope:
        penalties = [constant(0.0) if penalty is None else penalty for penalty in map(regularizer, weights)]
        for penalty in penalties:
            if penalty.get_shape().ndims != 0:
                raise ValueError(
                    f"regularizer must return a scalar Tensor instead of a Tensor with rank {penalty.get_shape().ndims}."
                )
        total: Tensor = add_n(penalties, name=scope)
    graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
    return total
