"""Copies of products and convolutions with other weights, which a batch norm was folded into."""

from __future__ import annotations

from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.array.blocks import batch_to_space_nd
from weft.ops.math.products import matmul
from weft.ops.nn.conv import conv2d
from weft.ops.nn.separable_conv import depthwise_conv2d


def folded_layer(op: Operation, inputs: Tensor, weights: Tensor, name: str) -> Tensor:
    """A layer as another is, with inputs and weights of its own.

    Args:
        op: the layer that it is like.
        inputs: what it takes.
        weights: its weights.
        name: its name.

    Raises:
        ValueError: the layer is none that is folded, or inputs and weights do not fit.
    """
    attrs = op.attrs
    match op.type:
        case "Conv2D":
            return conv2d(
                inputs, weights, strides=attrs["strides"], padding=attrs["padding"],
                use_cudnn_on_gpu=attrs["use_cudnn_on_gpu"], data_format=attrs["data_format"], name=name,
            )  # fmt: skip
        case "MatMul":
            return matmul(inputs, weights, attrs["transpose_a"], attrs["transpose_b"], name=name)
        case "DepthwiseConv2dNative":
            return depthwise_conv2d(inputs, weights, strides=attrs["strides"], padding=attrs["padding"], name=name)
    raise ValueError(f"Cannot handle operation of type: {op.type}. {op.name!r} is before a batch norm that is to be folded.")


def to_space(op: Operation, layer: Tensor, name: str) -> Tensor:
    """The outputs of a layer put together as another's are.

    Args:
        op: what puts the other's together, a BatchToSpaceND.
        layer: the outputs.
        name: the new node's name.
    """
    return batch_to_space_nd(layer, op.inputs[1], op.inputs[2], name=name)


def channel_shape(op: Operation, weights: Tensor) -> list[int | None] | None:
    """The shape that a number for each channel takes to scale the weights of a layer; None where it fits as it is.

    Args:
        op: the layer.
        weights: its weights.
    """
    return weights.shape.as_list()[2:4] if op.type == "DepthwiseConv2dNative" else None
