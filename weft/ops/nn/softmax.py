"""Softmax and log-softmax, and the cross-entropies that take logits.

A cross-entropy's node has two outputs, the loss and its derivative for the logits, so that the gradient computes nothing anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeGuard

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.node_errors import ShapeMisfit, described, naming
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, broadcast_dims, merge_dims
from weft.ops.array.filling import is_zeros
from weft.ops.array.identity import stop_gradient
from weft.ops.array.joining import concat
from weft.ops.array.padding import slice_of
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import INDEX, expand_dims, rank, reshape, shape_internal
from weft.ops.array.slicing import slice_helper
from weft.ops.array.transposing import transpose
from weft.ops.debugging.checks import assert_equal
from weft.ops.declaration import op
from weft.ops.gradient_nodes import always
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import FLOATS, neg, sub
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.unary import exp
from weft.platform.logs.deprecation import deprecated_argument_lookup

_HALVES = (dtypes.float16, dtypes.bfloat16)


# Softmax.

_LABEL_RANK: Final = (
    "Labels that are class numbers have no dimension for the classes: of one-hot labels tf.argmax(labels, 1) makes them."
)


def _shifted(xp: ArrayModule, logits: Array) -> Array:
    """The logits less their greatest, so that exponentials cannot overflow."""
    return logits - xp.max(logits, axis=-1, keepdims=True, initial=-np.inf)


def _at_least_vector(node: Operation) -> list[Dims]:
    dims = node.inputs[0].dims
    if dims is not None and len(dims) < 1:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    return [dims]


def _softmax_gradient(node: Operation, grad: Tensor) -> Gradients:
    made = node.outputs[0]
    total = reduce_sum(grad * made, -1, keepdims=True)
    return [(grad - total) * made]


@op("Softmax", "logits: T -> softmax: T", infer=_at_least_vector, gradient=_softmax_gradient, types={"T": FLOATS})
def softmax_node(xp: ArrayModule, logits: Array) -> Result:
    """Exponentials over their sum, along the last dimension: `[..., classes] -> [..., classes]`."""
    raised = xp.exp(_shifted(xp, logits))
    return raised / xp.sum(raised, axis=-1, keepdims=True)


def _log_softmax_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [grad - reduce_sum(grad, -1, keepdims=True) * exp(node.outputs[0])]


@op("LogSoftmax", "logits: T -> logsoftmax: T", infer=_at_least_vector, gradient=_log_softmax_gradient,
    types={"T": FLOATS})  # fmt: skip
def log_softmax_node(xp: ArrayModule, logits: Array) -> Result:
    """The logarithm of softmax, exact where softmax is near zero: `[..., classes] -> [..., classes]`."""
    shifted = _shifted(xp, logits)
    return shifted - xp.log(xp.sum(xp.exp(shifted), axis=-1, keepdims=True))


def softmax(logits: TensorLike, axis: int | Tensor | None = None, name: str | None = None, dim: int | None = None) -> Tensor:
    """Exponentials over their sum along `axis` (the last dimension when None); `dim` is the older name of `axis`.

    >>> print(sess.run(tf.nn.softmax([0.0, 0.0])))
    [0.5 0.5]

    Args:
        logits: [...] tensor of a floating dtype, of rank 1 or more.
        axis: the dimension whose elements belong together, an int; the last one when None.
        dim: the older name of `axis`.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: there is no dimension `axis`, or the logits are a scalar.
    """
    return _along(softmax_node, logits, deprecated_argument_lookup("axis", axis, "dim", dim), name)


def log_softmax(
    logits: TensorLike, axis: int | Tensor | None = None, name: str | None = None, dim: int | None = None
) -> Tensor:
    """The logarithm of softmax along `axis` (the last dimension when None); `dim` is the older name of `axis`.

    Args: those of `tf.math.softmax`.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: there is no dimension `axis`, or the logits are a scalar.
    """
    return _along(log_softmax_node, logits, deprecated_argument_lookup("axis", axis, "dim", dim), name)


def _along(node: Callable[..., Tensor], logits: TensorLike, axis: int | Tensor | None, name: str | None) -> Tensor:
    logits = convert_to_tensor(logits)
    count = logits.shape.ndims
    axis = -1 if axis is None else axis
    known = constant_value(axis) if isinstance(axis, Tensor) else axis
    if known is not None and (known == -1 or (count is not None and known == count - 1)):
        return node(logits, name=name)
    if known is not None and count is not None and not -count <= known < count:
        raise InvalidArgumentError.of(
            f"Dimension ({int(known)}) must be in the range [{-count}, {count}) where {count} is the number of dimensions in "
            f"the input.\n  logits: {described(logits)}"
        )
    dims = logits.dims
    order = _with_last(axis, rank(logits))
    # TensorFlow makes the order twice; later random nodes get seeds by the count.
    get_default_graph().node_count.total += 14 if isinstance(axis, Tensor) or axis >= 0 else 16
    made = transpose(node(transpose(logits, order)), order, name=name or "transpose")
    made.set_shape(dims)
    return made


def _with_last(axis: int | Tensor, count: Tensor) -> Tensor:
    """The permutation that exchanges dimension `axis` with the last one."""
    if not isinstance(axis, Tensor) and axis < 0:
        axis = count + axis
    last = sub(count, 1)
    return concat([range_of(axis), [last], range_of(axis + 1, last), [axis]], 0)


# Cross-entropy with probabilities as labels.


_PROBABILITIES: Final = (
    "Labels have a probability for each class, in as many columns as the logits; class numbers are for "
    "tf.nn.sparse_softmax_cross_entropy_with_logits."
)


def _cross_entropy_shapes(node: Operation) -> list[Dims]:
    features, labels = node.inputs[0].dims, node.inputs[1].dims
    try:
        dims = broadcast_dims(features, labels)
    except ValueError as error:
        raise ShapeMisfit(str(error), _PROBABILITIES) from error
    if dims is None:
        known = features or labels
        if known is not None and len(known) != 2:
            raise ValueError(f"Shape must be rank 2 but is rank {len(known)}")
        return [(None,), (None, None)]
    if len(dims) != 2:
        raise ValueError(f"Shape must be rank 2 but is rank {len(dims)}")
    return [dims[:1], dims]


def _times_rows(vector: Tensor, matrix: Tensor) -> Tensor:
    return expand_dims(vector, -1) * matrix


def _depends(gradient: Tensor | None) -> TypeGuard[Tensor]:
    """Whether there is a gradient that is more than zeros in the place of one."""
    return gradient is not None and not is_zeros(gradient)


def _logits_gradient(node: Operation, loss_grad: Tensor | None, backprop_grad: Tensor | None) -> Tensor | None:
    """The gradient for the logits, that through the second output included where something depends on it.

    What nothing depends on has zeros for a gradient, which no pass takes out again: 6 nodes, of them 5 as large as the logits.
    """
    grad = None if loss_grad is None else _times_rows(loss_grad, node.outputs[1])
    if _depends(backprop_grad):
        probabilities = softmax_node(node.inputs[0])
        inner = reduce_sum(backprop_grad * probabilities, -1, keepdims=True)
        second = (backprop_grad - inner) * probabilities
        grad = second if grad is None else grad + second
    return grad


def _cross_entropy_gradient(node: Operation, loss_grad: Tensor, backprop_grad: Tensor) -> Gradients:
    of_labels = None if loss_grad is None else _times_rows(loss_grad, neg(log_softmax_node(node.inputs[0])))
    if _depends(backprop_grad):
        of_labels = neg(backprop_grad) if of_labels is None else of_labels - backprop_grad
    return [_logits_gradient(node, loss_grad, backprop_grad), of_labels]


@op("SoftmaxCrossEntropyWithLogits", "features: T, labels: T -> loss: T, backprop: T", infer=_cross_entropy_shapes,
    gradient=_cross_entropy_gradient, gradient_nodes=always(8), types={"T": FLOATS})  # fmt: skip
def softmax_cross_entropy_node(xp: ArrayModule, features: Array, labels: Array) -> tuple[Result, Result]:
    """Per row the cross-entropy of softmax with `labels`, and its derivative for the logits.

    `[batch, classes], [batch, classes] -> [batch], [batch, classes]`
    """
    shifted = _shifted(xp, features)
    raised = xp.exp(shifted)
    total = xp.sum(raised, axis=-1, keepdims=True)
    # No label must not meet an infinite logarithm.
    terms = xp.where(labels == 0, 0, labels * (xp.log(total) - shifted))
    return xp.sum(terms, axis=-1), raised / total - labels


def check_entropy_args(function: str, sentinel: object, labels: TensorLike | None, logits: TensorLike | None) -> None:
    """Raise ValueError unless labels and logits were given, and by name."""
    if sentinel is not None:
        raise ValueError(f"Only call `{function}` with named arguments (labels=..., logits=..., ...)")
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")


def _flatten_outer(tensor: Tensor) -> Tensor:
    """All dimensions but the last made one."""
    count = rank(tensor)
    last = slice_of(shape_internal(tensor), [sub(count, 1)], [1])
    flat = reshape(tensor, concat([[-1], last], 0))
    dims = tensor.dims
    if dims is not None:
        outer = dims[:-1]
        flat.set_shape((None if None in outer else int(np.prod([int(size or 0) for size in outer])), dims[-1]))
    return flat


def softmax_cross_entropy_with_logits_v2(
    labels: TensorLike,
    logits: TensorLike,
    axis: int | None = None,
    name: str | None = None,
    dim: int | None = None,
) -> Tensor:
    """The cross-entropy of softmax along `axis` with labels that are probabilities; gradients go to the labels too.

    Args:
        labels: [..., classes] tensor of the dtype of `logits`, which sums to 1 along `axis`.
        logits: [..., classes] tensor of a floating dtype.
        axis: the dimension of the classes, the last one when None.
        dim: the older name of `axis`.

    Returns:
        [...] tensor of the dtype of `logits`.
    """
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    return _softmax_cross_entropy(labels, logits, -1 if axis is None else axis, name)


def _softmax_cross_entropy(given: TensorLike, logits: TensorLike | None, axis: int, name: str | None) -> Tensor:
    with input_scope(name, "softmax_cross_entropy_with_logits", (logits, given)) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(given, name="labels")
        precise = cast(logits, dtypes.float32) if logits.dtype.base_dtype in _HALVES else logits
        labels = cast(labels, precise.dtype.base_dtype)
        count = rank(precise)
        dims = logits.dims
        if axis != -1:
            precise, labels = (_moved_to_end(tensor, axis, count) for tensor in (precise, labels))
        sizes = shape_internal(precise)
        cost, _ = softmax_cross_entropy_node(_flatten_outer(precise), _flatten_outer(labels), name=scope)
        cost = reshape(cost, slice_of(sizes, [0], [sub(count, 1)]))
        if dims is not None:
            kept = list(dims)
            del kept[axis]
            cost.set_shape(kept)
        return cast(cost, logits.dtype.base_dtype)


def _moved_to_end(tensor: Tensor, axis: int, count: Tensor) -> Tensor:
    at = axis if axis >= 0 else count + axis
    return transpose(tensor, concat([range_of(at), range_of(at + 1, count), [at]], 0))


def softmax_cross_entropy_with_logits(
    _sentinel: object = None, labels: TensorLike | None = None, logits: TensorLike | None = None, dim: int | None = -1,
    name: str | None = None, axis: int | None = None,
) -> Tensor:  # fmt: skip
    """The cross-entropy of softmax along `dim` with labels that are probabilities; no gradient goes to the labels.

    Args:
        labels: [..., classes] tensor of the dtype of `logits`, which sums to 1 along `dim`.
        logits: [..., classes] tensor of a floating dtype.
        dim: the dimension of the classes, the last one by default.
        axis: another name of `dim`.

    Returns:
        [...] tensor of the dtype of `logits`.

    Raises:
        ValueError: an argument was given by position, or one is missing.

    >>> losses = tf.nn.softmax_cross_entropy_with_logits_v2(labels=[[0.0, 1.0]], logits=[[0.0, 0.0]])
    >>> print(sess.run(losses))
    [0.6931472]
    """
    # -1 is the default, not something that the caller asked for.
    dim = deprecated_argument_lookup("axis", axis, "dim", None if dim == -1 else dim)
    check_entropy_args("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with input_scope(name, "softmax_cross_entropy_with_logits_sg", (logits, labels)) as scope:
        labels = stop_gradient(labels, name="labels_stop_gradient")
    return _softmax_cross_entropy(labels, logits, -1 if dim is None else dim, scope)


# Cross-entropy with class numbers as labels.


def _sparse_shapes(node: Operation) -> list[Dims]:
    features, labels = node.inputs[0].dims, node.inputs[1].dims
    if features is not None and len(features) != 2:
        raise ValueError(f"Shape must be rank 2 but is rank {len(features)}")
    if labels is not None and len(labels) != 1:
        raise ValueError(f"Shape must be rank 1 but is rank {len(labels)}")
    rows = merge_dims(None if features is None else features[:1], labels) or (None,)
    return [rows, (*rows, None if features is None else features[1])]


@op("SparseSoftmaxCrossEntropyWithLogits", "features: T, labels: Tlabels -> loss: T, backprop: T", infer=_sparse_shapes,
    types={"T": FLOATS, "Tlabels": INDEX}, defaults={"Tlabels": dtypes.int64},
    gradient=lambda node, loss, backprop: [_logits_gradient(node, loss, backprop), None],
    gradient_nodes=always(4))  # fmt: skip
def sparse_softmax_cross_entropy_node(xp: ArrayModule, features: Array, labels: Array) -> tuple[Result, Result]:
    """Per row the cross-entropy of softmax with class `labels`, and its derivative for the logits.

    `[batch, classes], [batch] -> [batch], [batch, classes]`

    A label that is no class is InvalidArgumentError when interpreted, NaN when compiled.
    """
    classes = features.shape[1]
    wrong = (labels < 0) | (labels >= classes)
    if xp is np and wrong.any():
        raise InvalidArgumentError.of(
            f"Received a label value of {labels[wrong][0]} which is outside the valid range of [0, {classes}).  "
            f"Label values: {' '.join(map(str, labels.tolist()))}"
        )
    shifted = _shifted(xp, features)
    raised = xp.exp(shifted)
    total = xp.sum(raised, axis=-1)
    if xp is np:
        # Of each row one number alone has to do with the label.
        rows = np.arange(len(labels))
        loss = np.log(total) - shifted[rows, labels]
        raised /= total[:, None]
        raised[rows, labels] -= 1
        return loss, raised
    is_label = labels[:, None] == np.arange(classes, dtype=labels.dtype)
    loss = xp.log(total) - xp.sum(xp.where(is_label, shifted, 0), axis=-1)
    backprop = raised / total[:, None] - is_label.astype(features.dtype)
    return xp.where(wrong, np.nan, loss), xp.where(wrong[:, None], np.nan, backprop)


def sparse_softmax_cross_entropy_with_logits(
    _sentinel: object = None, labels: TensorLike | None = None, logits: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """The cross-entropy of softmax along the last dimension with labels that are class numbers.

    Args:
        labels: [...] tensor of int32 or int64, from 0 to `classes - 1`.
        logits: [..., classes] tensor of a floating dtype.

    Returns:
        [...] tensor of the dtype of `logits`.

    Raises:
        ValueError: an argument was given by position, one is missing, or the shapes of labels and logits don't fit.

    >>> losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=[[0.0, 0.0]])
    >>> print(sess.run(losses))
    [0.6931472]
    """
    check_entropy_args("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    default = "SparseSoftmaxCrossEntropyWithLogits"
    with input_scope(name, default, (labels, logits)):
        labels = convert_to_tensor(labels)
        logits = convert_to_tensor(logits)
        precise = cast(logits, dtypes.float32) if logits.dtype.base_dtype in _HALVES else logits
        labels_shape = shape_internal(labels)
        with naming(_LABEL_RANK, labels=labels, logits=logits):
            are_known = _check_label_shapes(labels, logits)
        if logits.shape.ndims == 2:
            cost, _ = sparse_softmax_cross_entropy_node(precise, labels, name=name)
        else:
            cost = _flat_sparse_cross_entropy(precise, labels, labels_shape, are_known, name)
        return cast(cost, logits.dtype.base_dtype)


def _check_label_shapes(labels: Tensor, logits: Tensor) -> bool:
    """Whether both shapes are known; ValueError when they don't fit."""
    of_labels, of_logits = labels.shape, logits.shape
    if of_logits.ndims == 0:
        raise ValueError(f"Logits cannot be scalars - received shape {of_logits}.")
    if of_logits.ndims is None or of_labels.ndims is None:
        return False
    if of_labels.ndims != of_logits.ndims - 1:
        raise ValueError(
            f"Rank mismatch: Rank of labels (received {of_labels.ndims}) should equal rank of logits minus 1 "
            f"(received {of_logits.ndims})."
        )
    are_known = of_labels.is_fully_defined() and of_logits[:-1].is_fully_defined()
    if are_known and labels.dims != logits.dims[:-1]:  # type: ignore[index]
        raise ValueError(
            f"Shape mismatch: The shape of labels (received {of_labels}) should equal the shape of logits except for "
            f"the last dimension (received {of_logits})."
        )
    return are_known


def _flat_sparse_cross_entropy(
    logits: Tensor, labels: Tensor, labels_shape: Tensor, are_known: bool, name: str | None
) -> Tensor:
    checks = [] if are_known else [assert_equal(shape_internal(labels), slice_helper(shape_internal(logits), slice(None, -1)))]
    with get_default_graph().control_dependencies(checks):
        classes = slice_helper(shape_internal(logits), sub(rank(logits), 1, name="sub"))
        flat = reshape(logits, [-1, classes])
        flat_labels = reshape(labels, [-1])
        cost, _ = sparse_softmax_cross_entropy_node(flat, flat_labels, name=name)
        cost = reshape(cost, labels_shape)
        cost.set_shape(labels.dims)
    return cost
