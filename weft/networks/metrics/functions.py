"""The accuracies of tf.keras as functions of targets and predictions: one number for each example."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.networks.state.defaults import floatx
from weft.ops.array.shape_ops import squeeze
from weft.ops.array.topk import in_top_k
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, greater
from weft.ops.math.reduce_functions import argmax, reduce_mean


def accuracy(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """Where predictions equal targets."""
    wanted, predicted = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    predicted.shape.assert_is_compatible_with(wanted.shape)
    return cast(equal(wanted, cast(predicted, wanted.dtype)), floatx())


def binary_accuracy(y_true: TensorLike, y_pred: TensorLike, threshold: float = 0.5) -> Tensor:
    """The part of elements on the right side of the threshold.

    Args:
        y_true: the targets, `[batch, ..., size]` of zeros and ones.
        y_pred: the predictions, of the same shape.
        threshold: above it a prediction counts as 1.

    Returns:
        A tensor `[batch, ...]`: the part for each example.
    """
    predicted = convert_to_tensor(y_pred)
    is_above = cast(greater(predicted, cast(convert_to_tensor(threshold), predicted.dtype)), predicted.dtype)
    return reduce_mean(cast(equal(cast(convert_to_tensor(y_true), predicted.dtype), is_above), floatx()), axis=-1)


def categorical_accuracy(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """Where the likeliest class is that of the target's greatest element.

    Args:
        y_true: the targets, `[batch, ..., classes]`.
        y_pred: the predictions, of the same shape.

    Returns:
        A float tensor `[batch, ...]` of zeros and ones.
    """
    return cast(equal(argmax(y_true, axis=-1), argmax(y_pred, axis=-1)), floatx())


def _labels(y_true: TensorLike, y_pred: Tensor) -> Tensor:
    labels = convert_to_tensor(y_true)
    same = labels.shape.ndims is not None and labels.shape.ndims == y_pred.shape.ndims
    return squeeze(labels, [-1]) if same else labels


def sparse_categorical_accuracy(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """Where the likeliest class has the number that is the target.

    Args:
        y_true: the numbers of the right classes, `[batch, ...]`, or with a last size of 1.
        y_pred: the predictions, `[batch, ..., classes]`.

    Returns:
        A float tensor `[batch, ...]` of zeros and ones.
    """
    predicted = convert_to_tensor(y_pred)
    labels = _labels(y_true, predicted)
    return cast(equal(labels, cast(argmax(predicted, axis=-1), labels.dtype)), floatx())


def top_k_categorical_accuracy(y_true: TensorLike, y_pred: TensorLike, k: int = 5) -> Tensor:
    """Where the class of the target's greatest element is among the `k` likeliest.

    Args:
        y_true: the targets, `[batch, classes]`.
        y_pred: the predictions, of the same shape.
        k: how many of the likeliest classes count.

    Returns:
        A float tensor `[batch]` of zeros and ones.
    """
    return cast(in_top_k(y_pred, argmax(y_true, axis=-1), k), floatx())


def sparse_top_k_categorical_accuracy(y_true: TensorLike, y_pred: TensorLike, k: int = 5) -> Tensor:
    """Where the number that is the target is among the `k` likeliest classes.

    Args:
        y_true: the numbers of the right classes, `[batch]`.
        y_pred: the predictions, `[batch, classes]`.
        k: how many of the likeliest classes count.

    Returns:
        A float tensor `[batch]` of zeros and ones.
    """
    predicted = convert_to_tensor(y_pred)
    return cast(in_top_k(predicted, cast(_labels(y_true, predicted), dtypes.int32), k), floatx())
