"""slim's summaries: summaries of tensors under their own names."""

from __future__ import annotations

from collections.abc import Iterable

from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.ops.control_flow.assertion import print_values
from weft.ops.nn.norm import zero_fraction
from weft.ops.summary.nodes import histogram, image, scalar


def _name(tensor: Tensor, name: str | None, prefix: str | None) -> str:
    own = name or tensor.op.name
    return f"{prefix}/{own}" if prefix else own


def _printing(summary: Tensor, tensor: Tensor, name: str, print_summary: bool) -> Tensor:
    """The summary, which prints the tensor whenever it is made, if asked for; then it is in the collection of summaries."""
    if not print_summary:
        return summary
    printing = print_values(summary, [tensor], name)
    get_default_graph().add_to_collection(GraphKeys.SUMMARIES, printing)
    return printing


def add_histogram_summary(tensor: Tensor, name: str | None = None, prefix: str | None = None) -> Tensor:
    """A summary of how a tensor's values are spread.

    Args:
        tensor: the tensor.
        name: the summary's name, the tensor's when None.
        prefix: what stands before the name, with a slash.
    """
    return histogram(_name(tensor, name, prefix), tensor)


def add_image_summary(
    tensor: Tensor, name: str | None = None, prefix: str | None = None, print_summary: bool = False
) -> Tensor:
    """A summary of images, `[batch, height, width, channels]`.

    Args:
        tensor: the images.
        name: the summary's name, the tensor's when None.
        prefix: what stands before the name, with a slash.
        print_summary: whether to print the tensor, too.
    """
    own = _name(tensor, name, prefix)
    return _printing(image(own, tensor, collections=[] if print_summary else None), tensor, own, print_summary)


def add_scalar_summary(
    tensor: Tensor, name: str | None = None, prefix: str | None = None, print_summary: bool = False
) -> Tensor:
    """A summary of a number.

    Args:
        tensor: a [] number.
        name: the summary's name; the operation's when None.
        prefix: what stands before the name, with a slash; nothing when None.
        print_summary: whether to print the number, too, whenever the summary is run.

    Returns:
        A [] string tensor.
    """
    own = _name(tensor, name, prefix)
    return _printing(scalar(own, tensor, collections=[] if print_summary else None), tensor, own, print_summary)


def add_zero_fraction_summary(
    tensor: Tensor, name: str | None = None, prefix: str | None = None, print_summary: bool = False
) -> Tensor:
    """A scalar summary of which part of a tensor is zero, NAME/Fraction_of_Zero_Values.

    Args:
        tensor: a tensor of numbers.
        name: the summary's name; the operation's when None.
        prefix: what stands before the name, with a slash; nothing when None.
        print_summary: whether to print the number, too, whenever the summary is run.

    Returns:
        A [] string tensor.
    """
    own = f"{_name(tensor, name, prefix)}/Fraction_of_Zero_Values"
    return add_scalar_summary(zero_fraction(tensor), own, print_summary=print_summary)


def add_histogram_summaries(tensors: Iterable[Tensor], prefix: str | None = None) -> list[Tensor]:
    """The histogram summaries of tensors, each by the name of its operation.

    Args:
        tensors: the tensors, of numbers.
        prefix: what stands before each name, with a slash; nothing when None.

    Returns:
        A [] string tensor for each.
    """
    return [add_histogram_summary(each, prefix=prefix) for each in tensors]


def add_image_summaries(tensors: Iterable[Tensor], prefix: str | None = None) -> list[Tensor]:
    """The image summaries of tensors, each by the name of its operation.

    Args:
        tensors: images, `[batch, height, width, channels]` uint8 or float32 with 1, 3 or 4 channels.
        prefix: what stands before each name, with a slash; nothing when None.

    Returns:
        A [] string tensor for each.
    """
    return [add_image_summary(each, prefix=prefix) for each in tensors]


def add_scalar_summaries(tensors: Iterable[Tensor], prefix: str | None = None, print_summary: bool = False) -> list[Tensor]:
    """The scalar summaries of tensors, each by the name of its operation.

    Args:
        tensors: [] numbers.
        prefix: what stands before each name, with a slash; nothing when None.
        print_summary: whether to print each number, too, whenever its summary is run.

    Returns:
        A [] string tensor for each.
    """
    return [add_scalar_summary(each, prefix=prefix, print_summary=print_summary) for each in tensors]


def add_zero_fraction_summaries(tensors: Iterable[Tensor], prefix: str | None = None) -> list[Tensor]:
    """The summaries of which part of each tensor is zero.

    Args:
        tensors: the tensors, of numbers.
        prefix: what stands before each name, with a slash; nothing when None.

    Returns:
        A [] string tensor for each.
    """
    return [add_zero_fraction_summary(each, prefix=prefix) for each in tensors]
