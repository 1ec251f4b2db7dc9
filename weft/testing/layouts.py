"""Shapes and tensors of images, from the order of dimensions that one kernel takes to that of another."""

from __future__ import annotations

from typing import TypeVar

from weft.framework.nodes.operation import Tensor
from weft.ops.array.transposing import transpose

Image = TypeVar("Image", Tensor, list[int])


def nhwc_to_nchw(input_tensor: Image) -> Image:
    """Images with the channels behind the batch.

    Args:
        input_tensor: a tensor of rank 4 or 5 with the channels last, or its shape as a list.
    """
    return _in_order(input_tensor, {4: [0, 3, 1, 2], 5: [0, 4, 1, 2, 3]})


def nchw_to_nhwc(input_tensor: Image) -> Image:
    """Images with the channels last.

    Args:
        input_tensor: a tensor of rank 4 or 5 with the channels behind the batch, or its shape as a list.
    """
    return _in_order(input_tensor, {4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1]})


def _in_order(image: Image, orders: dict[int, list[int]]) -> Image:
    if isinstance(image, Tensor):
        return transpose(image, orders[len(image.shape)])
    return [image[axis] for axis in orders[len(image)]]
