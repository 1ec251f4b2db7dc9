"""Forms of dilated convolutions: TensorFlow's kernels on CPUs have none, or leave the dilation out without a word.

As TensorFlow's own layers write them, the space is dealt out to the batch, so that the elements of a window are beside each
other; a plain convolution follows, and the space is put together again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.blocks import batch_to_space_nd_node, space_to_batch_nd_node
from weft.ops.array.constant import constant
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import shape
from weft.ops.array.stacking import stack
from weft.ops.math.division import floor_mod
from weft.ops.math.elementwise import add, neg
from weft.ops.nn.conv_op import (
    conv2d_backprop_filter,
    conv2d_backprop_input,
    conv2d_node,
    conv3d_backprop_filter,
    conv3d_backprop_input,
    conv3d_node,
    depthwise_conv2d_backprop_filter,
    depthwise_conv2d_backprop_input,
    depthwise_conv2d_node,
)
from weft.ops.tensorflow_forms.form import Form, form

_CHANNELS_LAST: Final = ("NHWC", "NDHWC")
_KEPT: Final = ("data_format", "use_cudnn_on_gpu")


class _Blocks(NamedTuple):
    """How the space is dealt out: by which rates, with how much before and behind it, and what goes from the result."""

    rates: Tensor
    paddings: Tensor
    crops: Tensor

    def dealt(self, images: Tensor) -> Tensor:
        """The images padded, their space in the batch."""
        return space_to_batch_nd_node(images, self.rates, self.paddings)

    def dealt_result(self, result: Tensor) -> Tensor:
        """What has the place of the convolution's result, its space in the batch."""
        return space_to_batch_nd_node(result, self.rates, self.crops)


def _blocks(node: Operation, sizes: Tensor, window: Sequence[int | None] | None) -> _Blocks | None:
    """The blocks for images of these sizes; None for a convolution that is written as it is."""
    attrs, rank = node.attrs, len(node.attrs["strides"]) - 2
    rates = [int(each) for each in attrs["dilations"][1:-1]]
    if set(rates) <= {1} or set(attrs["strides"]) != {1} or attrs["data_format"] not in _CHANNELS_LAST:
        return None
    if window is None or None in window[:rank] or attrs["padding"] not in ("SAME", "VALID"):
        return None
    wide = attrs["padding"] == "SAME"
    margins = [(int(size or 1) - 1) * rate if wide else 0 for size, rate in zip(window, rates, strict=False)]
    block = constant(rates, dtypes.int32)
    before, behind = [each // 2 for each in margins], [each - each // 2 for each in margins]
    whole = add(sizes[1:-1], constant(margins, dtypes.int32))
    filled = floor_mod(neg(whole), block)
    nothing = constant([0] * rank, dtypes.int32)
    paddings = stack([constant(before, dtypes.int32), add(constant(behind, dtypes.int32), filled)], 1)
    return _Blocks(block, paddings, stack([nothing, filled], 1))


def _plain(node: Operation) -> dict[str, object]:
    """The attributes of the convolution of what was dealt out."""
    kept: dict[str, object] = {key: node.attrs[key] for key in _KEPT if key in node.attrs}
    return kept | {"strides": [1] * len(node.attrs["strides"]), "padding": "VALID"}


def _forward(builder: Callable[..., Tensor]) -> Form:
    def rule(node: Operation, images: Tensor, filters: Tensor) -> Tensor | None:
        blocks = _blocks(node, shape(images), filters.dims)
        if blocks is None:
            return None
        made = builder(blocks.dealt(images), filters, **_plain(node))
        return batch_to_space_nd_node(made, blocks.rates, blocks.crops)

    return rule


def _to_images(builder: Callable[..., Tensor]) -> Form:
    def rule(node: Operation, sizes: Tensor, filters: Tensor, result: Tensor) -> Tensor | None:
        blocks = _blocks(node, sizes, filters.dims)
        if blocks is None:
            return None
        dealt = blocks.dealt_result(result)
        window = constant([int(each or 1) - 1 for each in (filters.dims or ())[: len(node.attrs["strides"]) - 2]], dtypes.int32)
        space = add(shape(dealt)[1:-1], window)
        made = builder(concat([shape(dealt)[:1], space, sizes[-1:]], 0), filters, dealt, **_plain(node))
        return batch_to_space_nd_node(made, blocks.rates, blocks.paddings)

    return rule


def _to_filters(builder: Callable[..., Tensor]) -> Form:
    def rule(node: Operation, images: Tensor, sizes: Tensor, result: Tensor) -> Tensor | None:
        blocks = _blocks(node, shape(images), node.outputs[0].dims)
        if blocks is None:
            return None
        return builder(blocks.dealt(images), sizes, blocks.dealt_result(result), **_plain(node))

    return rule


for _convolve, _back, _filter in (
    (conv2d_node, conv2d_backprop_input, conv2d_backprop_filter),
    (conv3d_node, conv3d_backprop_input, conv3d_backprop_filter),
    (depthwise_conv2d_node, depthwise_conv2d_backprop_input, depthwise_conv2d_backprop_filter),
):
    form(_convolve)(_forward(_convolve))
    form(_back)(_to_images(_back))
    form(_filter)(_to_filters(_filter))
