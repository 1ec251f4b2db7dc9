"""Losses per element: cross-entropies of logistic outputs, and log-Poisson loss."""

from __future__ import annotations

import math
from typing import Any

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Tensor
from weft.ops.array.constant import constant
from weft.ops.array.filling import ones_like, zeros_like
from weft.ops.array.selection import select_node
from weft.ops.input_scope import input_scope
from weft.ops.math.comparison import greater_equal, less_equal, logical_and
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.elementwise import add, neg
from weft.ops.math.unary import exp, log, log1p
from weft.ops.nn.activation import relu
from weft.ops.nn.softmax import check_entropy_args
from weft.platform.logs.deprecation import deprecated_argument_lookup


def _same_shape(first: Tensor, second: Tensor, names: str) -> None:
    try:
        second.shape.merge_with(first.shape)
    except ValueError:
        one, _, other = names.partition(" and ")
        lines = f"\n  {one}: {described(first)}\n  {other}: {described(second)}"
        raise ValueError(
            f"{names} must have the same shape ({first.shape} vs {second.shape}){lines}\n  tf.expand_dims, tf.squeeze and "
            "tf.reshape bring them together."
        ) from None


def sigmoid_cross_entropy_with_logits(
    _sentinel: object = None, labels: TensorLike | None = None, logits: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """The cross-entropy of sigmoid with labels between 0 and 1, per element.

    Args:
        labels: [...] tensor of the shape and dtype of `logits`.
        logits: [...] tensor of a floating dtype.

    Returns:
        [...] tensor of the dtype of `logits`.

    Raises:
        ValueError: an argument was given by position, one is missing, or the shapes differ.

    >>> print(sess.run(tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[0.0])))
    [0.6931472]
    """
    check_entropy_args("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
    with input_scope(name, "logistic_loss", (logits, labels)) as scope:
        x = convert_to_tensor(logits, name="logits")
        z = convert_to_tensor(labels, name="labels")
        _same_shape(x, z, "logits and labels")
        # max(x, 0) - x * z + log(1 + exp(-abs(x))), with a derivative at zero.
        zeros = zeros_like(x)
        is_positive = greater_equal(x, zeros)
        relu_logits = select_node(is_positive, x, zeros)
        neg_abs_logits = select_node(is_positive, neg(x), x)
        return add(relu_logits - x * z, log1p(exp(neg_abs_logits)), name=scope)


def weighted_cross_entropy_with_logits(
    labels: TensorLike | None = None,
    logits: TensorLike | None = None,
    pos_weight: float | Tensor | None = None,
    name: str | None = None,
    targets: TensorLike | None = None,
) -> Tensor:
    """The cross-entropy of sigmoid in which positive examples count `pos_weight` times.

    `targets` is the older name of `labels`.

    Args:
        labels: [...] tensor of the shape and dtype of `logits`.
        logits: [...] tensor of a floating dtype.
        pos_weight: a number or tensor that broadcasts to them.
        targets: the older name of `labels`.

    Returns:
        [...] tensor of the dtype of `logits`.

    Raises:
        ValueError: the shapes of logits and labels differ.
    """
    labels = deprecated_argument_lookup("labels", labels, "targets", targets)
    with input_scope(name, "logistic_loss", (logits, labels)) as scope:
        x = convert_to_tensor(logits, name="logits")
        z = convert_to_tensor(labels, name="labels")
        _same_shape(x, z, "logits and labels")
        factor: Any = pos_weight
        weight = 1 + (factor - 1) * z
        smooth = log1p(exp(neg(absolute(x)))) + relu(neg(x))
        return add((1 - z) * x, weight * smooth, name=scope)


def log_poisson_loss(
    targets: TensorLike, log_input: TensorLike, compute_full_loss: bool = False, name: str | None = None
) -> Tensor:
    """The negative log-likelihood of `targets` under Poisson distributions with mean `exp(log_input)`.

    Args:
        targets: the counts.
        log_input: the logarithms of the means, of the same shape.
        compute_full_loss: whether Stirling's approximation of the constant term is added.
        name: the name scope.

    Raises:
        ValueError: the shapes differ.
    """
    with input_scope(name, "log_poisson_loss", (log_input, targets)):
        x = convert_to_tensor(log_input, name="log_input")
        z = convert_to_tensor(targets, name="targets")
        _same_shape(x, z, "log_input and targets")
        result = exp(x) - x * z
        if compute_full_loss:
            kind = result.dtype
            half, two_pi = constant(0.5, kind), constant(2 * math.pi, kind)
            stirling = (z * log(z)) - z + (half * log(two_pi * z))
            zeros, ones = zeros_like(z), ones_like(z)
            # The approximation is poor between 0 and 1, where the true term is small.
            is_small = logical_and(greater_equal(z, zeros), less_equal(z, ones))
            result += select_node(is_small, zeros, stirling)
        return result
