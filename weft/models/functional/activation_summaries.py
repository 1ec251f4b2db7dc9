"""Summaries of layers' outputs: their values, and how many of them are zero."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.declaration import definition_of
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, less
from weft.ops.math.reduce_functions import reduce_mean
from weft.ops.math.unary import sigmoid_node
from weft.ops.nn.activation import relu, relu6, softplus
from weft.ops.summary.nodes import histogram, scalar

_RELU6: Final = definition_of(relu6)
_SIGMOID: Final = definition_of(sigmoid_node)
_WITH_ZEROS: Final = (definition_of(relu), definition_of(softplus), _RELU6)

Summarizer = Callable[[Tensor], Tensor | None]


def _zero_fraction(tensor: Tensor) -> Tensor:
    return reduce_mean(cast(equal(tensor, cast(0, tensor.dtype.base_dtype)), dtypes.float32))


def summarize_tensor(tensor: Tensor, tag: str | None = None) -> Tensor | None:
    """A scalar summary of a scalar, a histogram of anything else; None for strings and bools, which have none.

    Args:
        tensor: a tensor of any dtype and shape.
        tag: the summary's name; the operation's when None.
    """
    kind = tensor.dtype.base_dtype
    if not (kind.is_floating or kind.is_integer):
        return None
    name = tag or f"{tensor.op.name}_summary"
    return scalar(name, tensor) if tensor.shape.ndims == 0 else histogram(name, tensor)


def summarize_activation(op: Tensor) -> Tensor:
    """Summaries of a layer's outputs: a histogram, and for Relu, Softplus, Relu6 and Sigmoid the shares at their ends.

    Args:
        op: the outputs, a float tensor of any shape; its operation's name is the summaries'.

    Returns:
        The histogram's [] string tensor; all are in the collection SUMMARIES.
    """
    name = op.op.name
    if op.op.op_def in _WITH_ZEROS:
        scalar(f"{name}/zeros", _zero_fraction(op))
    if op.op.op_def is _RELU6:
        scalar(f"{name}/sixes", reduce_mean(cast(equal(op, cast(6, op.dtype.base_dtype)), dtypes.float32)))
    if op.op.op_def is _SIGMOID:
        scalar(f"{name}/saturated", reduce_mean(cast(less(op, cast(0.01, op.dtype.base_dtype)), dtypes.float32)))
    return histogram(f"{name}/activation", op)


def summarize_tensors(tensors: Iterable[Tensor], summarizer: Summarizer = summarize_tensor) -> list[Tensor | None]:
    """The summaries of tensors.

    Args:
        tensors: the tensors.
        summarizer: a function from a tensor to its summary, or None.

    Returns:
        The [] string tensors, in the order of the tensors; None where the summarizer gave none.
    """
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(
    collection: str, name_filter: str | None = None, summarizer: Summarizer = summarize_tensor
) -> list[Tensor | None]:
    """The summaries of a collection's tensors.

    Args:
        collection: the collection's name.
        name_filter: a regular expression that the operations' names must match from their start; all when None.
        summarizer: a function from a tensor to its summary, or None.

    Returns:
        The [] string tensors, in the order of the tensors; None where the summarizer gave none.
    """
    found = []
    for item in get_default_graph().get_collection(collection):
        if name_filter is None or re.match(name_filter, item.op.name):
            found.append(summarizer(item))
    return found


def summarize_activations(name_filter: str | None = None, summarizer: Summarizer = summarize_activation) -> list[Tensor | None]:
    """The summaries of the tensors in the collection ACTIVATIONS.

    Args:
        name_filter: a regular expression that the operations' names must match from their start; all when None.
        summarizer: a function from a tensor to its summary, or None.

    Returns:
        The [] string tensors, in the order of the tensors; None where the summarizer gave none.
    """
    return summarize_collection(GraphKeys.ACTIVATIONS, name_filter, summarizer)
